/* engine/functions.h - SQL functions that hang on the session or the catalog; names for the reg types. */
#ifndef ENGINE_FUNCTIONS_H
#define ENGINE_FUNCTIONS_H

#include "engine/types/function.h"

/* Adds them to the registry of functions and installs the lookup of names. Once, before any session opens. */
void functions_open(void);

/* ---- private to functions*.c and inspect.c ---- */
/* A function by rows: args and out are values; NULL arguments never come where the function is strict. */
struct row_call { struct session *session; struct arena *arena; const struct sql_type *arg_types; uint16_t arg_count; struct sql_type out_type; };
typedef enum status (*row_function)(const struct row_call *, const struct value *args, struct value *out);
enum status run_rows(struct kernel_call *, row_function) MUST_CHECK;
#define ROW_FUNCTION(name) \
    static enum status name##_row(const struct row_call *, const struct value *, struct value *); \
    enum status k_##name(struct kernel_call *call) { return run_rows(call, name##_row); } \
    static enum status name##_row(const struct row_call *c, const struct value *args, struct value *out)
char *text_argument(const struct row_call *, const struct value *);     /* with a final NUL */

/* step.c */
enum status k_crab_step(struct kernel_call *) MUST_CHECK;
enum status k_crab_run(struct kernel_call *) MUST_CHECK;
/* inspect.c */
enum status k_crab_btree_check(struct kernel_call *) MUST_CHECK;
enum status k_crab_btree(struct kernel_call *) MUST_CHECK;
enum status k_crab_heap_check(struct kernel_call *) MUST_CHECK;
/* functions_describe.c */
#define DESCRIBE_FUNCTIONS(X) \
    X(pg_get_expr) X(pg_get_constraintdef) X(pg_get_indexdef) X(pg_get_indexdef_column) X(pg_get_viewdef) X(pg_get_viewdef_name) X(pg_get_function_arguments) X(pg_get_function_result) \
    X(obj_description) X(obj_description_any) X(col_description) X(pg_get_serial_sequence) X(pg_relation_size) X(pg_table_size) X(pg_indexes_size) X(pg_total_relation_size) \
    X(pg_database_size) X(pg_table_is_visible) X(pg_relation_filenode) X(pg_relation_filepath) X(pg_describe_object)
#define X(name) enum status k_##name(struct kernel_call *) MUST_CHECK;
DESCRIBE_FUNCTIONS(X)
#undef X

#endif
