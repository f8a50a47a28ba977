/* engine/describe.h - what is defined, as SQL text: pg_get_indexdef, pg_get_constraintdef, pg_get_viewdef, pg_get_expr and the lists
 * that show them. Texts are PostgreSQL's where the deparser can tell; relations that the search path finds go without their schema. */
#ifndef ENGINE_DESCRIBE_H
#define ENGINE_DESCRIBE_H

#include "engine/catalog/rows.h"

/* *out NULL: there is no such thing. */
enum status describe_index(struct session *, struct arena *, uint32_t oid, int column, bool pretty, char **out) MUST_CHECK;
enum status describe_constraint(struct session *, struct arena *, uint32_t oid, bool pretty, char **out) MUST_CHECK;
enum status describe_view(struct session *, struct arena *, uint32_t oid, bool pretty, char **out) MUST_CHECK;
/* An expression of the catalog over that table (may be NULL); want: the type that a default is for, oid 0 for all else. */
char       *describe_expr(struct session *, struct arena *, const struct table *, struct sql_type want, const char *text, bool pretty);
/* "t", or "s.t" when the search path doesn't find it; quoted as needed. */
char       *describe_relation_name(struct session *, struct arena *, const char *schema, const char *name, uint32_t oid);
/* Any relation's name by oid, indexes included; false: none. */
enum status describe_relation(struct session *, struct arena *, uint32_t oid, const char **schema, const char **name, char *kind) MUST_CHECK;
/* Would the bare name find this relation? */
enum status relation_visible(struct session *, uint32_t schema, const char *name, bool *out) MUST_CHECK;
enum status relation_by_name(struct session *, const char *schema, const char *name, uint32_t *oid) MUST_CHECK;   /* indexes too; 0 none */
/* Sequence that a DEFAULT's text calls, 0 none; relations that a view reads. */
enum status describe_default_sequence(struct session *, struct arena *, const char *text, uint32_t *oid) MUST_CHECK;
/* Does the view group by the table's primary key and show more of it than what it groups by? Then it needs that key. By names (ddl_depend.c). */
bool        view_needs_key(const struct table *view, const struct table *of);
enum status describe_view_relations(struct session *, struct arena *, const struct table *view, uint32_t **oids, uint32_t *count) MUST_CHECK;

#endif
