/* engine/plan/show.h - expressions and queries as text for people and dumps, in PostgreSQL's words.
 *
 * The catalog keeps SQL as it was written (names resolved, nothing else). What pg_get_expr, pg_get_viewdef and their kin show has more in it:
 * every column with its table, every cast that types asked for, IN as = ANY, LIKE as ~~, ordinals as what they stand for. So the text is
 * bound again and printed from its tree, with the binder asked for the types. pretty: fewer parentheses, as psql's \d wants them. */
#ifndef ENGINE_PLAN_SHOW_H
#define ENGINE_PLAN_SHOW_H

#include "engine/catalog/catalog.h"

/* An expression over one table (NULL: over none). want: the type it is assigned to, for a default; oid 0: none. */
enum status show_expression(struct session *, struct arena *, const struct table *, const struct expr *, struct sql_type want, bool pretty, char **out) MUST_CHECK;
/* A query; names: those of its columns (NULL: its own). */
enum status show_query(struct session *, struct arena *, const struct select *, const char *const *names, bool pretty, char **out) MUST_CHECK;

#endif
