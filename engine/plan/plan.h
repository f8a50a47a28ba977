/* engine/plan/plan.h - bound expressions and physical plans: the contract between the planner and the executor.
 *
 *     query text -> parser/tree.h -> analyze (names and types bound) -> struct plan -> engine/exec runs it
 *
 * Data flows from children to parents in batches (base/vector.h). A plan node's output is `column_count` columns, typed
 * by `types`. Expressions (struct scalar) read the columns of a node's input by position: for a scan, the columns the scan
 * lists; for a join, the left child's columns followed by the right's; for all else, its one child's columns. Plans
 * and expressions are immutable data in an arena: many threads may run one at once, and a prepared statement keeps it. */
#ifndef ENGINE_PLAN_PLAN_H
#define ENGINE_PLAN_PLAN_H

#include "engine/catalog/catalog.h"
#include "engine/types/function.h"

/* ---------------------------------------------------------------- expressions */
enum scalar_kind {
    SCALAR_CONST,        /* constant */
    SCALAR_COLUMN,       /* column: position in the input */
    SCALAR_PARAMETER,    /* parameter: $n from the client (index from 0) */
    SCALAR_OUTER,        /* parameter: slot set by an enclosing node (nested loop, subplan): struct plan's outer slots */
    SCALAR_CALL,         /* call: function, operator or cast */
    SCALAR_AND, SCALAR_OR, SCALAR_NOT,         /* args; three-valued; AND/OR evaluate left to right on the rows still undecided */
    SCALAR_CASE,         /* args: when1, then1, when2, then2 …, [else]; has_else. Only the rows that need it evaluate a branch */
    SCALAR_COALESCE,     /* args; lazily */
    SCALAR_NULLIF,       /* args[0], args[1], call = the equality function */
    SCALAR_GREATEST, SCALAR_LEAST,             /* args, one type */
    SCALAR_IS_NULL, SCALAR_IS_NOT_NULL,        /* args[0] */
    SCALAR_IS_BOOL,      /* args[0]; test: enum is_test of parser/tree.h (TRUE, NOT TRUE …) */
    SCALAR_DISTINCT,     /* args[0] IS DISTINCT FROM args[1]; negated: IS NOT DISTINCT FROM. Types are the same */
    SCALAR_IN_LIST,      /* args[0] IN (args[1..]) all of one type; negated. Constants become a hash set */
    SCALAR_ANY_ARRAY,    /* args[0] op ANY/ALL (args[1] array): call = operator function; all */
    SCALAR_ARRAY,        /* ARRAY[args]: type is an array */
    SCALAR_SUBSCRIPT,    /* args[0] [ args[1] ]  (args[2] for a slice's upper) */
    SCALAR_SUBQUERY,     /* subquery: scalar, EXISTS, op ANY/ALL, ARRAY(...) */
    SCALAR_ROW,          /* args: only as an operand that analyze resolves away, or for output as record text */
    SCALAR_CURRENT,      /* in no plan (current_user, now() … come as SCALAR_CALL); the planner's mark for GROUPING() */
    /* These three stand in trees only while the planner works; no plan holds them. */
    SCALAR_VAR,          /* var: a column of a relation of the query (plan/query.h) */
    SCALAR_AGGREGATE,    /* aggregate */
    SCALAR_WINDOW        /* window */
};
enum call_form { CALL_FUNCTION, CALL_OPERATOR, CALL_CAST, CALL_CAST_IMPLICIT };   /* how it was written; for EXPLAIN */
enum subquery_kind { SUBQUERY_SCALAR, SUBQUERY_EXISTS, SUBQUERY_ANY, SUBQUERY_ALL, SUBQUERY_ARRAY };

struct plan;
struct scalar {
    enum scalar_kind kind;
    struct sql_type type;
    int   position;                      /* in the SQL text, for errors; 0 none */
    int32_t arg_count;                   /* as many as memory holds: IN lists and ORs are long */
    struct scalar **args;
    uint8_t form;                        /* enum call_form of a CALL; ANY_ARRAY: see any */
    const struct operator *operator;     /* of a CALL with CALL_OPERATOR, of ANY_ARRAY; else NULL. For EXPLAIN */
    union {
        struct value constant;
        uint16_t column;
        uint16_t parameter;
        struct { const struct function *function; kernel_fn kernel; const void *data; int32_t relabelled; } call;   /* bound already; relabelled: see scalar_computes() */
        struct { bool has_else; } case_;
        int   test;
        struct { bool negated; } in;
        struct { const struct function *function; kernel_fn kernel; const void *data; bool all; } any;
        struct {
            enum subquery_kind kind; bool negated;
            struct plan *plan;           /* run for each row, or once when it has no outer slots */
            uint16_t outer_count; uint16_t *outer_slots;      /* slots it reads … */
            struct scalar **outer_values;                     /* … and their values over the current input */
            /* ANY/ALL: args[0..] compare with the subquery's columns by call.. (one function a column; row-wise AND for =) */
            const struct function **functions; kernel_fn *kernels; const void **datas;
            struct query *query;         /* the planner's own */
        } subquery;
        struct { uint16_t rel, column; } var;
        struct aggregate_item *aggregate;
        struct window_call *window;
    };
};

/* The type that a CALL's kernel makes. A cast to a length reads it off its result's type; relabelled (x::varchar(3) where text is wanted) it keeps
 * it aside, plus one. */
static inline struct sql_type scalar_computes(const struct scalar *s)
{
    struct sql_type type = s->type;
    if (s->kind == SCALAR_CALL && s->call.relabelled)
        type.typmod = s->call.relabelled - 1;
    return type;
}

/* ---------------------------------------------------------------- plans */
enum plan_kind {
    PLAN_RESULT,         /* one row (or none, when filter is a false constant/parameter expression): project over nothing */
    PLAN_VALUES,         /* rows of expressions */
    PLAN_SEQ_SCAN,
    PLAN_INDEX_SCAN,
    PLAN_BITMAP_SCAN,    /* row ids by way of one or several indexes, then the rows in the order of the table */
    PLAN_VIRTUAL_SCAN,   /* struct virtual_table */
    PLAN_FUNCTION_SCAN,  /* generate_series, unnest, … : set functions */
    PLAN_CTE_SCAN,       /* a materialised WITH query, or the working table of a recursive one */
    PLAN_FILTER,
    PLAN_PROJECT,
    PLAN_PROJECT_SET,    /* set-returning functions in the select list */
    PLAN_HASH_JOIN, PLAN_MERGE_JOIN, PLAN_NESTED_LOOP,
    PLAN_AGGREGATE,      /* plain or hashed (also DISTINCT: keys and no aggregates) */
    PLAN_WINDOW,
    PLAN_SORT, PLAN_TOP_N, PLAN_LIMIT,
    PLAN_DISTINCT_ON,    /* over sorted input: first row of each run of equal keys */
    PLAN_APPEND,         /* UNION ALL */
    PLAN_SET_OP,         /* INTERSECT / EXCEPT [ALL] */
    PLAN_RECURSIVE_UNION,
    PLAN_MODIFY,         /* INSERT, UPDATE, DELETE */
    PLAN_LOCK_ROWS       /* FOR UPDATE … */
};
enum plan_join {
    PLAN_INNER, PLAN_LEFT, PLAN_RIGHT, PLAN_FULL, PLAN_SEMI, PLAN_ANTI,
    PLAN_ANTI_NULL,                      /* NOT IN: a null on the right answers nothing */
    PLAN_RIGHT_SEMI, PLAN_RIGHT_ANTI     /* hash joins whose built side, the right, is the one that is kept: its rows with (without) a match, in its order */
};

struct sort_item { uint16_t column; bool descending, nulls_first; };    /* over the input's columns */
struct aggregate_item {
    const struct aggregate *aggregate;
    const void *data;
    uint16_t arg_count; struct scalar **args;   /* over the input */
    struct scalar *filter;               /* NULL none */
    bool distinct;
    uint16_t sort_count; struct sort_item *sort;   /* ORDER BY inside: columns index args here; what it needs beyond the function's own arguments stands behind those in args */
    uint16_t own_arg_count;              /* of args: those that the aggregate itself takes */
    struct sql_type type;
};
struct window_item {                     /* one window function over the PLAN_WINDOW's partition and order */
    const struct function *function; const struct aggregate *aggregate;   /* one of them */
    uint16_t arg_count; struct scalar **args; struct scalar *filter; struct sql_type type;
    const struct window_definition *frame;   /* mode, bounds; offsets bound below */
    struct scalar *start_offset, *end_offset;
};
/* Conditions on the index's leading columns; those that it says in full aren't in the filter again. A null among the values
 * means: no row. low and high never match nulls. Values have the column's type oid; a numeric one may be in another form
 * than the column: build key bytes by the scalar's own type. */
struct index_bound {
    uint16_t equal_count;                /* that many leading columns = values[i] */
    struct scalar **equal;               /* consts, parameters or outer slots, of the index column's type */
    struct scalar *low, *high;           /* on column equal_count; NULL none */
    bool low_inclusive, high_inclusive;
    struct scalar *any_array;            /* column equal_count IN (...): SCALAR_ARRAY or array value: one probe for each distinct value; then low/high unused */
    bool null_test;                      /* column equal_count IS NULL */
};
/* BITMAP_SCAN: which row ids. What an index doesn't know (versions that came since) the scan's filter says: it holds the whole condition. */
enum bitmap_kind { BITMAP_INDEX, BITMAP_AND, BITMAP_OR };
struct bitmap {
    enum bitmap_kind kind;
    const struct index *index; struct index_bound bound;      /* INDEX */
    struct scalar *condition;                                 /* INDEX: what the bounds say, over the scan's columns; for EXPLAIN */
    uint16_t count; struct bitmap **parts;                    /* AND, OR */
    double rows, cost;                   /* estimates */
};
enum modify_kind { MODIFY_INSERT, MODIFY_UPDATE, MODIFY_DELETE };

struct plan {
    enum plan_kind kind;
    uint16_t column_count;
    struct sql_type *types;
    const char **names;                  /* at the top of a query: the result's column names; else for EXPLAIN */
    uint32_t *origin_tables; int16_t *origin_columns;   /* at the top: RowDescription's table oid and attnum, 0 none */
    double   rows, width, startup_cost, total_cost;     /* estimates, as EXPLAIN shows them */
    struct plan *left, *right;           /* left: the only child */
    uint16_t id;                         /* number within the whole plan, from 0: the executor keeps its counters by it */

    /* scans */
    const struct table *table;
    const char *alias;
    uint16_t *columns;                   /* column_count table columns (attnum - 1) that the scan hands out; 0xFFFF: row id (ctid) as int8 */
    const struct index *index; struct index_bound bound; bool backward;
    bool in_grains;                      /* INDEX_SCAN: one range, large and read once: it is cut into grains, which workers may share */
    bool index_only;                     /* INDEX_SCAN: all of `columns` are the index's own, and key_exact: rows of pages visible to all come from the entries */
    struct bitmap *bitmap;               /* BITMAP_SCAN */
    const struct virtual_table *virtual_table;
    const struct function *set_function; struct scalar **set_args; uint16_t set_arg_count; bool with_ordinality;
    uint16_t cte;                        /* CTE_SCAN, RECURSIVE_UNION: index into the top's ctes */
    bool working_table;                  /* CTE_SCAN inside the recursive part of that very CTE: the rows of the last round */

    struct scalar *filter;               /* scans, FILTER, joins (non-hashed part of ON), RESULT, HAVING via a FILTER node */
    struct scalar **exprs;               /* PROJECT, RESULT: column_count; PROJECT_SET */
    uint32_t row_count; struct scalar ***rows_exprs;    /* VALUES: row_count rows of column_count */

    /* joins: output = outputs[] positions over left ++ right columns (semi/anti: left only) */
    enum plan_join join;
    uint16_t key_count; struct scalar **left_keys, **right_keys;   /* HASH_JOIN: equal keys, same type; right is the build side. MERGE_JOIN: both sides come sorted by them, ascending, nulls last */
    bool *null_safe;                     /* key compares IS NOT DISTINCT FROM */
    uint16_t *outputs;
    /* NESTED_LOOP: right is run again for each left row; outer slots get these values over the left row */
    uint16_t outer_count; uint16_t *outer_slots; struct scalar **outer_values;

    /* AGGREGATE: output = group keys, then aggregates. */
    uint16_t group_count; struct scalar **groups;
    uint16_t aggregate_count; struct aggregate_item *aggregates;
    double   group_estimate;
    uint16_t *sets_offsets; uint16_t set_count; uint16_t *sets;   /* GROUPING SETS: set_count lists of group indexes (0: just one, all) */

    uint16_t sort_count; struct sort_item *sort;        /* SORT, TOP_N, DISTINCT_ON, WINDOW order */
    uint16_t partition_count; uint16_t *partition;      /* WINDOW */
    uint16_t window_count; struct window_item *windows;
    struct scalar *limit, *offset;       /* LIMIT, TOP_N: int8 expressions without input; NULL none */
    bool with_ties;

    uint16_t child_count; struct plan **children;       /* APPEND */
    enum set_operation set_operation; bool set_all;     /* SET_OP over left, right */

    /* MODIFY: left gives the rows. INSERT: its columns are table columns `insert_columns` in that order, missing ones come from
     * `exprs` (defaults, column_count of the table, over nothing). UPDATE: left's columns: row id first, then whole old row?
     * No: row id (int8), then every column of the table in its NEW value (old where not set), then what RETURNING needs of FROM.
     * DELETE: row id first, then every column of the table. Row ids come from scans that list column 0xFFFF. */
    enum modify_kind modify;
    uint16_t *insert_columns; uint16_t insert_column_count;   /* INSERT: see above; the same as set_columns */
    uint16_t *set_columns; uint16_t set_column_count;   /* UPDATE: table columns that are assigned */
    struct scalar **checks; const char **check_names; uint16_t check_count;     /* over the whole new row (table's columns in order) */
    struct scalar **index_exprs; /* bound expressions & predicates of indexes, see modify.h */
    struct modify_info *modify_info;     /* plan/modify.h: bound generated columns, index expressions, EPQ re-check plan, ON CONFLICT */
    uint16_t returning_count; struct scalar **returning;   /* over: table's columns (new row; old for DELETE), then left's extra columns. The node's output columns */

    enum row_lock row_lock; enum lock_wait lock_wait;   /* LOCK_ROWS: of the row id columns lock_columns[] of left, tables lock_tables[] */
    uint16_t lock_count; uint16_t *lock_columns; const struct table **lock_tables;
    struct lock_recheck *lock_recheck;   /* LOCK_ROWS: how to judge a newer version, see plan/modify.h */
    struct plan *recheck;                /* not used: UPDATE and DELETE are judged by modify_info */

    /* the gate (plan/physical.c): how many workers may judge this pipeline's source; 0: one worker. Never changes the shape. */
    uint16_t workers_planned;
    bool     parallel_safe;
};

/* A whole statement's plan. */
struct prepared_plan {
    struct plan *root;
    uint16_t node_count;
    uint16_t outer_slot_count;
    uint16_t parameter_count; struct sql_type *parameter_types;
    uint16_t cte_count; struct plan **ctes; bool *cte_recursive;     /* run once each, when first read */
    uint32_t *cte_scans;                 /* how many nodes read each; what one alone reads is made while it is read */
    const char **cte_names;
    enum statement_kind kind;            /* SELECT, INSERT, UPDATE, DELETE */
    bool     returns_rows, read_only, has_volatile;
    bool     guessed;                    /* an estimate hung on a parameter's value that was not known (or was peeked at) */
    uint32_t table_count; struct planned_table { uint32_t oid; enum table_lock mode; } *tables;   /* to lock (again) before each run of a kept plan */
    uint64_t catalog_version;
    const char *tag;                     /* "SELECT", "INSERT 0", … */
    const char *serial_reason;           /* why no part of it has workers; NULL: some has */
    struct arena *arena;                 /* lives as long as the plan and may be added to by whoever runs it: compiled expressions are kept there. NULL: not kept */
    void    *kept;                       /* engine/exec's own */
};

/* Analyze and plan. parameter_types: given (0 = infer), filled in on return. The tables get locked on the way. */
struct plan_request { struct session *session; struct arena *arena; const char *sql; const struct statement *statement;
                      uint16_t parameter_count; uint32_t *parameter_types; /* oids, in/out, room for 65535; NULL: the statement may have none */
                      const struct value *parameters;   /* values to estimate with, of these types; NULL: not known */ };
enum status plan_statement(struct plan_request *, struct prepared_plan **out) MUST_CHECK;
/* EXPLAIN's text lines from a plan; counters (may be NULL) from a run: engine/exec/exec.h. */
struct exec_counters;
struct explain_options {
    bool analyze, verbose, costs, buffers, wal, timing, summary, show_settings;
    int format;                          /* 0 text, 1 JSON, 2 XML, 3 YAML */
    uint64_t planning_us;                /* for "Planning Time" */
    int64_t planning_hit, planning_read; /* pages that planning looked at */
    struct { const char *name, *value; } *settings; int setting_count;     /* that differ from their defaults and mean something to the planner */
};
enum status explain_plan(const struct prepared_plan *, const struct explain_options *, const struct exec_counters *, struct arena *,
                         char ***lines, int *line_count) MUST_CHECK;
/* One expression on its own, over a table's columns in order (CHECK, DEFAULT, index expressions): aggregates, subqueries and windows are refused
 * with PostgreSQL's messages; `what` is for them ("check constraint", "DEFAULT expression"). want.oid 0: any type; else coerced by assignment. */
enum status bind_expression(struct session *, struct arena *, const char *sql, struct expr *, const struct table *, struct sql_type want, const char *what, struct scalar **out) MUST_CHECK;

#endif
