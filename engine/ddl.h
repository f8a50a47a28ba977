/* engine/ddl.h - what the files of DDL share. Private to engine/ddl*.c.
 *
 *   ddl.c            dispatch, schemas, comments, REINDEX          ddl_drop.c      DROP of anything, and what hangs on it
 *   ddl_rows.c       catalog rows of relations; names; types       ddl_alter.c     ALTER TABLE and its kin
 *   ddl_table.c      CREATE TABLE, AS, LIKE                        ddl_rewrite.c   new files: TRUNCATE, rewriting a table
 *   ddl_constraint.c checks, keys, foreign keys                    ddl_depend.c    who uses what: walks views and expressions
 *   ddl_index.c      CREATE INDEX                                  ddl_view.c, ddl_sequence.c
 *
 * Rules
 * 1. Lock first, then look: every relation a statement changes is opened with its lock (catalog_open, ddl_lock), and
 *    descriptors are looked up anew after catalog rows changed (ddl_changed, then ddl_table).
 * 2. What existing rows must satisfy is asked with a query (ddl_query): DDL has no scan of its own.
 * 3. Files are made new, never changed in place: the old ones go at commit, the new ones at abort (storage/store.h). */
#ifndef ENGINE_DDL_H
#define ENGINE_DDL_H

#include "engine/catalog/cache.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/rows.h"
#include "engine/catalog/schema.h"
#include "engine/exec/exec.h"
#include "engine/plan/plan.h"
#include "engine/session.h"
#include "parser/parser.h"

#define OWNER_OID 10
#define CLASS_RELATION 1259              /* pg_class, as classoid of descriptions and dependencies */

struct ddl {
    struct session *session;
    struct arena *arena;                 /* of the statement */
    struct catalog_access access;
    const char *sql;                     /* the text that positions refer to */
    const char *command;                 /* its name, for messages */
    bool explains; struct exec_counters *counters; struct prepared_plan *plan;       /* ddl_explain */
    bool altering;                       /* ALTER TABLE: PostgreSQL points at no place in constraints then */
};

/* ---- ddl_rows.c ---- */
enum status ddl_fail(int position, enum status, const char *format, ...) PRINTF_LIKE(3, 4);
enum status ddl_unsupported(const char *format, ...) PRINTF_LIKE(1, 2);
void        ddl_changed(struct ddl *);                        /* catalog rows were changed: descriptors are stale */
enum status ddl_table(struct ddl *, uint32_t oid, const struct table **out) MUST_CHECK;   /* must be there */
enum status ddl_lock(struct ddl *, uint32_t oid, enum table_lock) MUST_CHECK;
/* Opens for changing: locks, refuses system catalogs. */
enum status ddl_open(struct ddl *, const struct relation_name *, enum table_lock, const struct table **out) MUST_CHECK;
enum status ddl_refuse_system(const struct table *) MUST_CHECK;

enum status ddl_target_schema(struct ddl *, const struct relation_name *, uint32_t *oid, const char **name) MUST_CHECK;
enum status ddl_schema_name(struct ddl *, uint32_t oid, const char **out) MUST_CHECK;
enum status ddl_relation_oid(struct ddl *, uint32_t schema, const char *name, uint32_t *oid, char *kind) MUST_CHECK;   /* indexes too; 0 none */
/* PostgreSQL's way to make names: t_a_idx, cut to fit, then t_a_idx1 … name2, label may be NULL. */
enum status ddl_choose_name(struct ddl *, const char *name1, const char *name2, const char *label, uint32_t schema, bool relation, bool constraint, char **out) MUST_CHECK;
enum status ddl_constraint_exists(struct ddl *, uint32_t schema, uint32_t table, const char *name, bool *out) MUST_CHECK;   /* table 0: any of the schema */

enum status ddl_type(struct ddl *, const struct type_name *, struct sql_type *out) MUST_CHECK;

struct class_row {
    uint32_t oid, schema; const char *name; char kind;
    uint16_t columns; uint32_t file, overflow_file, space_file;
    const struct option_list *options;
};
enum status ddl_class_insert(struct ddl *, const struct class_row *) MUST_CHECK;
enum status ddl_class_get(struct ddl *, uint32_t oid, struct catalog_row *out, struct value **values) MUST_CHECK;   /* values: a copy to change */
enum status ddl_class_update(struct ddl *, const struct catalog_row *, const struct value *values) MUST_CHECK;
enum status ddl_class_flags(struct ddl *, uint32_t oid, int check_delta, bool has_index, bool has_triggers) MUST_CHECK; /* sets flags that are true */
struct attribute_row { const char *name; struct sql_type type; int16_t number; int dimensions; bool not_null, nullable, has_default; char identity, generated; uint32_t sequence; const struct value *missing; };
enum status ddl_attribute_insert(struct ddl *, uint32_t relation, const struct attribute_row *) MUST_CHECK;
enum status ddl_attribute_get(struct ddl *, uint32_t relation, int16_t number, struct catalog_row *out, struct value **values) MUST_CHECK;
enum status ddl_default_insert(struct ddl *, uint32_t relation, int16_t number, const char *text) MUST_CHECK;
enum status ddl_default_delete(struct ddl *, uint32_t relation, int16_t number) MUST_CHECK;
/* '{1,2}' or '1 2' as a value of an array type. */
enum status ddl_array(struct ddl *, uint32_t type, const char *text, struct value *out) MUST_CHECK;
enum status ddl_numbers(struct ddl *, uint32_t type, const int16_t *numbers, uint16_t count, struct value *out) MUST_CHECK;
enum status ddl_options(struct ddl *, const struct option_list *, const char *const *old, uint16_t old_count, bool reset, struct value *out) MUST_CHECK;
enum status ddl_check_options(const struct option_list *, char kind) MUST_CHECK;
enum status ddl_description_delete(struct ddl *, uint32_t object, uint32_t class) MUST_CHECK;
char       *ddl_qualified(struct arena *, const char *schema, const char *name);   /* quoted as needed */

/* Runs a query of our own; sink NULL: rows are thrown away. *rows (may be NULL): how many. */
enum status ddl_query(struct ddl *, const char *sql, struct result_sink *, uint64_t *rows) MUST_CHECK;
enum status ddl_query_any(struct ddl *, const char *sql, bool *any) MUST_CHECK;
/* Its first row as text cells, for messages; *count 0: no row. */
enum status ddl_query_row(struct ddl *, const char *sql, char ***cells, uint16_t *count) MUST_CHECK;

/* ---- ddl_table.c ---- */
enum status create_table(struct ddl *, const struct create_table_statement *) MUST_CHECK;
enum status create_table_as(struct ddl *, const struct create_table_as_statement *, uint64_t *rows) MUST_CHECK;
/* One column's definition, from its type and constraints. Sequences are planned (serial, identity) and made by column_finish. */
struct new_column {
    const char *name; struct sql_type type; int position, dimensions;
    bool not_null, null_said, serial;
    char identity, generated;
    struct expr *default_expr; const char *default_text;
    const struct option_list *sequence_options; uint32_t sequence_type;
    uint32_t sequence;
};
/* Pulls column constraints apart: what a column is goes to *out, table-like constraints are appended to the list. */
struct new_constraints { struct constraint_definition **items; int count, capacity; };
enum status column_define(struct ddl *, const char *table, const struct column_definition *, struct new_column *out, struct new_constraints *) MUST_CHECK;
/* The DEFAULT or generation expression of a column, validated and as text. table: to bind generation expressions against. */
enum status column_default(struct ddl *, const struct table *, struct new_column *, struct scalar **bound) MUST_CHECK;
void constraints_add(struct ddl *, struct new_constraints *, struct constraint_definition *);
enum status name_reserved(const char *name) MUST_CHECK;  /* ctid, xmin … */

/* ---- ddl_constraint.c ---- */
/* existing: rows are there and are checked (ALTER TABLE). */
enum status constraint_add(struct ddl *, uint32_t table, const struct constraint_definition *, bool existing) MUST_CHECK;
enum status constraint_validate(struct ddl *, uint32_t table, const char *name) MUST_CHECK;
enum status constraint_drop(struct ddl *, const struct table *, const char *name, bool if_exists, bool cascade) MUST_CHECK;
enum status constraint_find(struct ddl *, uint32_t table, const char *name, struct catalog_row *out, bool *found) MUST_CHECK;
enum status check_not_null(struct ddl *, const struct table *, const char *column) MUST_CHECK;
enum status check_rows(struct ddl *, const struct table *, const char *name, const char *text) MUST_CHECK;
enum status foreign_key_check_rows(struct ddl *, uint32_t table, const char *name) MUST_CHECK;
char        scalar_volatility(const struct scalar *);          /* the worst of its functions: i, s, v */

/* ---- ddl_index.c ---- */
struct new_index {
    const char *name; uint32_t schema;
    const struct table *table;
    bool unique, primary, nulls_not_distinct, constraint;
    uint16_t column_count; struct index_element **columns;
    struct expr *where;
    const struct option_list *options;
};
enum status index_create(struct ddl *, const struct new_index *, bool build, uint32_t *oid) MUST_CHECK;
enum status create_index(struct ddl *, const struct create_index_statement *) MUST_CHECK;
enum status index_drop(struct ddl *, const struct table *, const struct index *) MUST_CHECK;
enum status index_rebuild(struct ddl *, uint32_t table, uint32_t index) MUST_CHECK;   /* into a new file */
enum status reindex(struct ddl *, const struct reindex_statement *) MUST_CHECK;

/* ---- ddl_view.c, ddl_sequence.c ---- */
enum status create_view(struct ddl *, const struct create_view_statement *) MUST_CHECK;
enum status create_sequence(struct ddl *, const struct sequence_statement *) MUST_CHECK;
enum status alter_sequence(struct ddl *, const struct sequence_statement *) MUST_CHECK;
/* The name and schema of the sequence that a serial or identity column brings along: chosen, unless SEQUENCE NAME says it. */
enum status sequence_choose_name(struct ddl *, const char *table, const char *column, uint32_t table_schema, const struct option_list *, uint32_t *schema, char **name) MUST_CHECK;
enum status sequence_make(struct ddl *, uint32_t schema, const char *name, uint32_t type, const struct option_list *, uint32_t table, int16_t column, uint32_t *oid) MUST_CHECK;
enum status sequence_change(struct ddl *, uint32_t oid, const struct option_list *) MUST_CHECK;
enum status sequence_restart(struct ddl *, uint32_t oid) MUST_CHECK;          /* into a new file, undone by ROLLBACK */
enum status sequence_own(struct ddl *, uint32_t oid, uint32_t table, int16_t column) MUST_CHECK;
enum status sequence_owned(struct ddl *, uint32_t table, int16_t column, uint32_t **oids, uint32_t *count) MUST_CHECK;   /* column 0: any */

/* ---- ddl_drop.c ---- */
enum status drop_objects(struct ddl *, const struct drop_statement *) MUST_CHECK;
enum status drop_column(struct ddl *, const struct table *, const char *name, bool if_exists, bool cascade) MUST_CHECK;
/* Drops foreign keys that hang on a unique index, or says why not. what: how the dropped thing is called in the message. */
enum status drop_index_dependents(struct ddl *, const struct table *, const struct index *, const char *what, bool cascade) MUST_CHECK;
enum status drop_sequence_relation(struct ddl *, uint32_t oid) MUST_CHECK;

/* ---- ddl_alter.c, ddl_rewrite.c ---- */
enum status alter_relation(struct ddl *, const struct alter_statement *) MUST_CHECK;
enum status rename_relation(struct ddl *, uint32_t oid, char kind, uint32_t schema, const char *old_name, const char *new_name) MUST_CHECK;
enum status truncate_tables(struct ddl *, const struct truncate_statement *) MUST_CHECK;
/* Writes the table's rows anew into files of the layout given, one entry a column (the table's own in order, then new ones). Only
 * pg_class changes; the caller then makes pg_attribute fit and calls table_reindex. */
struct rewrite_column { const char *name; struct sql_type type; bool dropped, nullable, not_null; const char *expr; /* SQL over the old row; NULL: the column as it is */ };
void        rewrite_columns(struct ddl *, const struct table *, struct rewrite_column *out);     /* as they are now */
enum status table_rewrite(struct ddl *, const struct table *, const struct rewrite_column *, uint16_t count) MUST_CHECK;
enum status table_reindex(struct ddl *, uint32_t table) MUST_CHECK;

/* ---- ddl_depend.c ---- */
struct tree_walk {
    void *context;
    void (*expr)(struct tree_walk *, struct expr *);          /* each expression node, before its parts. May be NULL */
    void (*relation)(struct tree_walk *, struct from_item *); /* each FROM_TABLE that names no WITH query. May be NULL */
    void (*select)(struct tree_walk *, struct select *);      /* each query, after its parts. May be NULL */
    struct cte_scope { struct cte_scope *outer; const struct cte *cte; } *ctes;
};
void walk_select(struct tree_walk *, struct select *);
void walk_expr(struct tree_walk *, struct expr *);
enum status select_qualify(struct ddl *, struct select *) MUST_CHECK;          /* relations and sequences get their schemas */
enum status select_expand_stars(struct ddl *, struct select *) MUST_CHECK;
const char **select_names(struct ddl *, struct select *, uint16_t *count);     /* NULL: can't be told */
void        expr_qualify(struct ddl *, struct expr *);                         /* regclass constants get their schemas */
struct expr *expr_read(struct session *, struct arena *, const char *text);     /* the reverse, for people; NULL: it does not parse */
struct users { uint32_t *oids; uint32_t count, capacity; };
/* Views that read the relation; column not NULL: that may read this column of it. */
enum status views_using(struct ddl *, uint32_t relation, const char *column, struct users *out) MUST_CHECK;
void        users_add(struct ddl *, struct users *, uint32_t oid);
bool        users_has(const struct users *, uint32_t oid);
bool        expr_uses_column(struct expr *, const char *column);
int         expr_column_position(struct expr *, const char *column);
uint16_t    expr_columns(struct ddl *, struct expr *, const char ***names);    /* distinct plain column names */
/* Sequence oid whose name stands in the DEFAULT text; 0: none. */
enum status default_sequence(struct ddl *, const char *text, uint32_t *oid) MUST_CHECK;
/* Views read by position, so that a rename under them changes nothing that they show. */
enum status views_rename_relation(struct ddl *, uint32_t relation, const char *old_schema, const char *old_name, const char *new_schema, const char *new_name) MUST_CHECK;
enum status views_rename_column(struct ddl *, const struct table *, const char *old_name) MUST_CHECK;
enum status views_add_column(struct ddl *, const struct table *before, const char *name) MUST_CHECK;
enum status views_forget_column(struct ddl *, const struct table *, const char *name) MUST_CHECK;

#endif
