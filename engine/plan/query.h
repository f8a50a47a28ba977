/* engine/plan/query.h - a bound query: names and types are known, nothing is decided about how to run it. Private to plan/.
 *
 *     parse tree --analyze_*.c--> struct query --unnest.c--> struct query --joins.c, physical.c--> struct plan
 *
 * Every relation that any query of the statement reads (range table) is a struct rel with a number of its own in the
 * whole statement. A column is SCALAR_VAR (rel, column); so a correlated reference looks like any other: its rel just
 * isn't one of the query's own. Grouping, windows and set-returning functions make pseudo relations (REL_MADE): after
 * analysis, what stands above GROUP BY refers to them.
 *
 * Scalars are shared freely and never changed once they're made, with one exception: parameters whose type is still
 * being inferred ($n is one node for the whole statement). Queries are changed in place until they're planned. */
#ifndef ENGINE_PLAN_QUERY_H
#define ENGINE_PLAN_QUERY_H

#include "engine/plan/modify.h"
#include "engine/plan/plan.h"
#include "engine/session.h"
#include "parser/parser.h"

#define ROW_ID_COLUMN 0xFFFF
#define NO_SLOT 0xFFFF

struct query;
struct planner;

enum rel_kind { REL_TABLE, REL_VIRTUAL, REL_SUBQUERY, REL_FUNCTION, REL_CTE, REL_MADE };
enum column_need { NEED_ABOVE = 1, NEED_JOIN = 2 };   /* by what stands above the FROM clause; by its joins' conditions */
struct rel {
    uint16_t id;
    enum rel_kind kind;
    uint16_t level;                      /* how many queries enclose the one it stands in */
    const char *name;                    /* as the query calls it */
    uint16_t column_count;
    const char **names;
    struct sql_type *types;
    const struct table *table;           /* TABLE, VIRTUAL */
    struct query *query;                 /* SUBQUERY */
    struct cte_query *cte; bool working_table;
    const struct function *function; struct scalar **args; uint16_t arg_count; bool ordinality;   /* FUNCTION */
    bool lateral;
    uint32_t origin;                     /* oid of the table for RowDescription; 0 */
    uint8_t *needed;                     /* planner: by column, and one for the row id: enum column_need; NULL: not known */
    double rows, pages;                  /* planner: of a TABLE, before conditions */
    bool sized;
};

struct scalars { uint32_t count, capacity; struct scalar **items; };
void scalars_add(struct arena *, struct scalars *, struct scalar *);

/* FROM. The top is a list of nodes under INNER; ON conditions are conjuncts. */
struct from_node {
    struct rel *rel;                     /* NULL: a join */
    enum plan_join join;                 /* INNER LEFT RIGHT FULL; after unnesting SEMI ANTI ANTI_NULL */
    struct from_node *left, *right;
    struct scalars on;
};
struct from_nodes { uint32_t count, capacity; struct from_node **items; };

struct order_item { uint16_t target; bool descending, nulls_first; };
struct window_spec {                     /* one distinct OVER (...) */
    const struct window_definition *definition;   /* for the frame */
    uint16_t partition_count; struct scalar **partition;
    uint16_t order_count; struct scalar **order; bool *descending, *nulls_first;
    struct scalar *start_offset, *end_offset;
    const char *name;
};
struct window_call { struct window_item item; uint16_t spec; uint16_t level; };
struct conflict_clause { enum conflict_action action; const struct index *index; struct scalar **set; struct scalar *where; bool *assigned; };
struct lock_clause { struct rel *rel; enum row_lock strength; enum lock_wait wait; };

struct query {
    enum statement_kind kind;
    uint16_t level;
    uint16_t rel_count; struct rel **rels;         /* its own, in the order of FROM */
    struct from_nodes from;
    struct scalars where;

    bool grouped;
    uint16_t group_count; struct scalar **groups;
    uint16_t set_count; uint16_t *sets_offsets, *sets;
    struct rel *group_rel;               /* REL_MADE: group keys, then aggregates; NULL before finish */
    uint16_t aggregate_count, aggregate_capacity; struct aggregate_item **aggregates;
    struct scalars having;

    uint16_t window_spec_count; struct window_spec **window_specs;
    uint16_t window_count, window_capacity; struct window_call **windows;
    struct rel *window_rel;

    uint16_t set_function_count; struct scalar **set_functions;   /* in the select list */
    struct rel *set_rel;

    uint16_t target_count, visible_count;          /* the visible ones first, then what ORDER BY needs */
    struct scalar **targets; const char **names;
    uint32_t *origin_tables; int16_t *origin_columns;

    bool distinct; uint16_t distinct_on_count; uint16_t *distinct_on;     /* target numbers */
    uint16_t order_count; struct order_item *order;
    struct scalar *limit, *offset; bool with_ties;

    enum set_operation set; bool set_all; struct query *left, *right;     /* targets: VARs of set_op_rel */
    struct rel *set_op_rel;
    uint32_t row_count; struct scalar ***rows; struct rel *values_rel;    /* VALUES: targets are VARs of values_rel */

    uint16_t lock_count; struct lock_clause *locks;

    /* INSERT, UPDATE, DELETE */
    struct rel *target_rel;
    const struct table *table;
    struct query *source;                          /* INSERT */
    uint16_t insert_count; uint16_t *insert_columns;
    struct scalar **assigned;                      /* UPDATE: by column, NULL: not set */
    struct scalars returning; const char **returning_names; uint32_t *returning_tables; int16_t *returning_columns;
    struct rel *excluded_rel;
    struct conflict_clause *conflict;
    struct table_writes *writes;

    bool rewritten;
    bool pulled;                         /* plain enough to be taken into its parent: looked at already */
};

/* WITH: one definition. */
struct cte_query {
    const char *name;
    const struct cte *syntax;
    struct query *query;                 /* NULL while it is being analyzed */
    uint16_t column_count; const char **names; struct sql_type *types;
    uint32_t references;
    bool recursive, inlined, correlated;
    int index;                           /* in the prepared plan; -1 not yet */
    struct scope *scope;                 /* where it was defined */
    double rows;
    uint16_t level;
    const struct with *list;             /* the clause that it stands in */
    bool begun;                          /* its analysis: in a recursive clause the first mention may begin it */
    struct cte_query *around;            /* whose analysis it began in */
    struct query *initial, *step;        /* recursive */
    bool all;
    bool planned;
    struct frame *frame;
};

/* ---- one statement's planning ---- */
struct frame;
struct parameter { struct scalar *node; };
struct planner {
    struct session *session;
    struct arena *arena;
    const char *sql;
    uint32_t *parameter_types;           /* NULL: no parameters allowed */
    const struct value *parameter_values;   /* for estimates; NULL: not known */
    uint16_t parameter_count, parameter_capacity;
    struct parameter *parameters;
    uint16_t rel_count; uint32_t rel_capacity; struct rel **rels;      /* by id; at most RELS_MAX when a query is begun, unnesting makes one more of each */
    uint32_t node_count, slot_count;     /* a plan holds 65,535 of each */
    struct frame *frame;
    struct prepared_plan *out;
    uint16_t cte_count; struct cte_query **ctes;
    uint32_t table_count, table_capacity; struct planned_table *tables;
    bool has_volatile, parallel_unsafe, writes;
    const char *unsafe_function;         /* a parallel unsafe one, for EXPLAIN */
    struct tried { const struct scalar *s; double selectivity, distinct; } *tried; uint32_t tried_count, tried_capacity;   /* selectivity.c: what was tried already; below -1: not yet */
    uint16_t modifying_count; struct cte_query **modifying;   /* INSERT, UPDATE, DELETE in WITH */
    const struct settings *settings;
    struct cte_query *analyzing;         /* the innermost WITH query being analyzed */
    const char *self_place;              /* where it may not mention itself: "a subquery"; NULL: it may */
    int depth;                           /* of views inside views */
    bool bare;                           /* bind_expression: no frames, columns by position */
};

void planner_open(struct planner *, struct session *, struct arena *, const char *sql);   /* planner.c */

/* ---- scalar.c: making, walking, comparing ---- */
struct scalar *scalar_new(struct arena *, enum scalar_kind, struct sql_type, int position);
struct scalar *scalar_copy(struct arena *, const struct scalar *);
struct scalar *scalar_relabel(struct arena *, const struct scalar *, struct sql_type);   /* the same value under another type's name; its bytes are the same */
struct scalar *scalar_null(struct arena *, struct sql_type, int position);
struct scalar *scalar_bool(struct arena *, bool);
struct scalar *scalar_int4(struct arena *, int32_t);
struct scalar *scalar_int8(struct arena *, int64_t);
struct scalar *scalar_text(struct arena *, const char *);
struct scalar *scalar_var(struct arena *, const struct rel *, uint16_t column, int position);
struct scalar *scalar_and(struct arena *, struct scalar **, uint32_t count);
bool scalar_is_const(const struct scalar *);
bool scalar_is_null_const(const struct scalar *);
bool scalar_is_true(const struct scalar *);
bool scalar_is_false(const struct scalar *);
bool scalar_equal(const struct scalar *, const struct scalar *);
bool value_equal(struct sql_type, const struct value *, const struct value *);
int  value_compare(struct sql_type, const struct value *, const struct value *);
/* Visits a tree, nested queries included; returns true at once when visit does. */
typedef bool scalar_visit(void *context, const struct scalar *);
bool scalar_walk(const struct scalar *, scalar_visit *, void *context);
bool query_walk(const struct query *, scalar_visit *, void *context);
/* Rebuilds a tree: swap answers the replacement, or NULL to go on into the arguments. Untouched parts are shared; nested queries are changed in place. */
typedef struct scalar *scalar_swap(void *context, struct scalar *);
struct scalar *scalar_map(struct arena *, struct scalar *, scalar_swap *, void *context);
void query_map(struct arena *, struct query *, scalar_swap *, void *context);
bool scalar_has_volatile(const struct scalar *);
bool scalar_has_subquery(const struct scalar *);
bool scalar_has_set_function(const struct scalar *);
/* failing.c: no row can make it raise an error. */
bool scalar_never_fails(const struct scalar *);
bool aggregate_never_fails(const struct aggregate_item *);
/* More nodes than that in the tree (what is shared counted each time)? Looks at no more of them. */
bool scalar_is_larger(const struct scalar *, uint32_t nodes);
/* Bits of the rel ids it mentions, nested queries included. */
struct relset { uint64_t *bits; uint32_t words; };
struct relset relset_new(struct planner *);
void relset_add(struct relset *, uint16_t);
bool relset_has(const struct relset *, uint16_t);
void relset_of(const struct scalar *, struct relset *);
void relset_of_query(const struct query *, struct relset *);

/* A call with its kernel bound; folded at once when everything about it is constant. */
enum status make_call(struct planner *, const struct function *, struct scalar **args, uint16_t count, enum call_form, const struct operator *,
                      struct sql_type result, int position, struct scalar **out) MUST_CHECK;
enum status make_and(struct planner *, struct scalar *, struct scalar *, struct scalar **out) MUST_CHECK;
/* Value of a constant expression, or of one with stable functions (for estimates). */
bool scalar_evaluate(struct planner *, const struct scalar *, bool stable_too, struct value *out);

/* ---- coerce.c: PostgreSQL's rules for types ---- */
enum status coerce(struct planner *, struct scalar *, struct sql_type want, enum cast_context, int position, struct scalar **out) MUST_CHECK;
bool can_coerce(uint32_t from, uint32_t to, enum cast_context);
/* The type that all of them become (CASE, UNION, VALUES, ARRAY, …). context: "CASE", "UNION"…, for the message. */
enum status common_type(struct planner *, struct scalar **, uint32_t count, const char *context, struct sql_type *out) MUST_CHECK;
enum status coerce_form(struct planner *, struct scalar *, struct sql_type want, struct scalar **out) MUST_CHECK;   /* numeric in another form */
enum status coerce_to_common(struct planner *, struct scalar **items, uint32_t count, const char *context) MUST_CHECK;
enum status coerce_boolean(struct planner *, struct scalar *, const char *context, struct scalar **out) MUST_CHECK;
enum status make_operator(struct planner *, const char *schema, const char *name, struct scalar *left, struct scalar *right, int position, struct scalar **out) MUST_CHECK;
/* NULL when there is none; types may hold OID_UNKNOWN. */
const struct operator *find_operator(const char *name, uint32_t left, uint32_t right, bool *ambiguous);
enum status resolve_unknown(struct planner *, struct scalar *, struct scalar **out) MUST_CHECK;   /* unknown becomes text */
const struct function *find_function(const char *name, char kind, uint32_t *types, uint16_t count, bool *ambiguous, bool *exists);
enum status coerce_arguments(struct planner *, const struct function *, struct scalar **args, uint16_t count, struct sql_type *result, int position) MUST_CHECK;
enum status type_name_resolve(struct planner *, const struct type_name *, struct sql_type *out) MUST_CHECK;
const char *type_text(struct planner *, struct sql_type);
/* Does a value of one type equal at most one value of the other? (Two local times may be one instant.) */
bool equals_one(uint32_t type, uint32_t other);
enum status equality_common(struct planner *, struct scalar **left, struct scalar **right, bool *ok) MUST_CHECK;  /* both to one type, for hashing */

/* ---- analyze.c: scopes ---- */
struct space_column { const char *name; struct scalar *value; uint32_t origin_table; int16_t origin_column; };
struct space {                           /* what one FROM item shows */
    const char *alias, *schema;          /* alias NULL: a join without a name */
    uint32_t column_count; struct space_column *columns;
    bool qualified, unqualified;         /* how its columns may be named */
    bool unreachable;                    /* on the side of a RIGHT or FULL JOIN that its other side may not refer to */
    struct rel *rel;                     /* for system columns and whole rows */
};
struct scope {
    struct scope *outer;
    const struct scope *hidden;          /* the same level's FROM items, which only LATERAL would show: for hints */
    struct query *query;
    uint32_t space_count, space_capacity; struct space **spaces;
    struct cte_query **ctes; uint32_t cte_count, cte_capacity;
    const struct with *with;             /* its clause: what of it isn't in ctes yet can't be mentioned */
    const struct window_list *windows;
    uint16_t level;
    bool barrier;                        /* names of outer scopes aren't seen (views) */
    const struct table *only_table;      /* bind_expression */
    const char *clause;                  /* what is being analyzed, for messages: "WHERE" … */
    bool aggregates_ok, windows_ok, sets_ok, no_subqueries;
    const char *no_sets;                 /* "CASE", "COALESCE": set-returning functions may not stand in one */
    bool in_aggregate, in_window;
    const char *what;                    /* bind_expression: "check constraint" … */
};
enum status fail_at(struct planner *, int position, enum status, const char *format, ...) PRINTF_LIKE(4, 5);
struct rel *planner_rel(struct planner *, enum rel_kind, const char *name, uint16_t columns, uint16_t level);
void query_add_rel(struct planner *, struct query *, struct rel *);
enum status scope_column(struct planner *, struct scope *, const struct expr *, struct scalar **out) MUST_CHECK;
/* Finds t in the scope chain for t.*; */
struct space *scope_space(struct scope *, const char *schema, const char *name, int *levels);
/* The errors, with hints at what may have been meant. table NULL: the column's name stood alone. */
enum status no_such_space(struct planner *, struct scope *, const char *name, int position) MUST_CHECK;
enum status no_such_column(struct planner *, const struct scope *, const char *table, const char *name, int position) MUST_CHECK;
void scope_add(struct planner *, struct scope *, struct space *);
struct space *space_of_rel(struct planner *, struct rel *, const char *alias, const char *schema);
enum status analyze_from(struct planner *, struct scope *, const struct from_list *, struct from_nodes *) MUST_CHECK;
enum status scope_with(struct planner *, struct scope *, const struct with *) MUST_CHECK;
void planner_lock_note(struct planner *, uint32_t table, enum table_lock);
enum status scope_open_target(struct planner *, struct scope *, const struct relation_name *, const char *alias, const char *verb, struct rel **out) MUST_CHECK;

/* ---- analyze_expr.c ---- */
enum status bind_node(struct planner *, struct scope *, const struct expr *, struct scalar **out) MUST_CHECK;
enum status bind_boolean(struct planner *, struct scope *, const struct expr *, const char *clause, struct scalars *conjuncts) MUST_CHECK;
enum status bind_row_or_scalar(struct planner *, struct scope *, const struct expr *, struct scalar ***items, uint16_t *count) MUST_CHECK;
enum status bind_set_function(struct planner *, struct scope *, const struct expr *, const struct function **f, struct scalar ***args, uint16_t *count, struct sql_type *result, struct scalar **plain) MUST_CHECK;
void conjuncts_add(struct arena *, struct scalars *, struct scalar *);
bool sort_flags(const struct sort_key *, bool *descending, bool *nulls_first);    /* false: USING with an operator that orders nothing */

/* ---- analyze_select.c ---- */
/* keep_unknown: literals of the select list stay unknown, for a UNION or INSERT above to decide. */
enum status analyze_select(struct planner *, struct scope *outer, const struct select *, bool keep_unknown, struct query **out) MUST_CHECK;
/* Casts the query's columns; wraps it where ORDER BY or DISTINCT hang on the columns as they are. */
enum status query_coerce(struct planner *, struct query **, const struct sql_type *wanted, enum cast_context, const char *context) MUST_CHECK;
struct query *query_new(struct planner *, enum statement_kind, uint16_t level);
/* SELECT * FROM (q): a query whose columns are the columns of q. */
struct query *query_wrap(struct planner *, struct query *, const char *name);
struct target_expansion { struct scalars values; const char **names; uint32_t *tables; int16_t *columns; uint32_t capacity; };
enum status expand_targets(struct planner *, struct scope *, const struct target_list *, bool keep_unknown, struct target_expansion *) MUST_CHECK;
enum status query_resolve_unknown(struct planner *, struct query *) MUST_CHECK;

/* ---- analyze_modify.c ---- */
enum status analyze_insert(struct planner *, struct scope *, const struct insert_statement *, struct query **out) MUST_CHECK;
enum status analyze_update(struct planner *, struct scope *, const struct update_statement *, struct query **out) MUST_CHECK;
enum status analyze_delete(struct planner *, struct scope *, const struct delete_statement *, struct query **out) MUST_CHECK;

/* ---- unnest.c ---- */
enum status rewrite_query(struct planner *, struct query *) MUST_CHECK;
bool query_is_free(struct planner *, const struct query *);   /* mentions it relations of queries further out? */

/* ---- layouts: what the columns of a plan node are, as VARs or expressions ---- */
struct layout { uint16_t count; struct scalar **items; };
#define RELS_MAX 30000
struct frame {                           /* a place where outer slots are filled: a subquery in an expression, a nested loop's right side */
    struct frame *outer;
    uint32_t count, capacity;
    struct frame_slot { uint16_t rel, column, slot; struct sql_type type; } *slots;
};
/* A slot made in an inner frame is filled by the frame around instead. */
enum status frame_adopt(struct planner *, const struct frame_slot *) MUST_CHECK;
/* An expression over VARs as one over positions; VARs that the layout hasn't become outer slots of the frame. */
enum status resolve(struct planner *, const struct layout *, struct scalar *, struct scalar **out) MUST_CHECK;
enum status resolve_all(struct planner *, const struct layout *, struct scalar **, uint32_t count, struct scalar ***out) MUST_CHECK;
struct plan *plan_new(struct planner *, enum plan_kind, uint16_t columns);
struct plan *node_sort(struct planner *, struct plan *child, struct sort_item *, uint16_t count);
/* Plans a whole query; columns are its visible targets. */
enum status plan_query(struct planner *, struct query *, double fraction, struct plan **out) MUST_CHECK;
enum status plan_modify(struct planner *, struct query *, struct plan **out) MUST_CHECK;
enum status plan_cte(struct planner *, struct cte_query *) MUST_CHECK;

/* Adds the VARs in it that aren't on the list yet: of one rel. */
void collect_vars(struct planner *, const struct scalar *, uint16_t rel, struct scalars *);

/* ---- joins.c ---- */
/* FROM and WHERE of a query: rows of the wanted columns (VARs). order: wished order, may be NULL; *ordered says whether it came true. */
struct wish { uint16_t count; struct scalar **exprs; bool *descending, *nulls_first; double limit; bool ordered; };
enum status plan_from(struct planner *, struct query *, const struct scalars *wanted, struct wish *, struct plan **out, struct layout *) MUST_CHECK;

/* ---- physical.c ---- */
struct bitmap_way { enum bitmap_kind kind; struct access *access; uint16_t count; struct bitmap_way *parts; double rows, cost; };
struct access {                          /* one way to read a relation */
    const struct index *index;           /* NULL: whole */
    struct scalars equal;                /* by column */
    struct scalar *low, *high, *any_array; bool low_inclusive, high_inclusive, null_test;
    bool backward, ordered;              /* satisfies the wish */
    bool index_only;                     /* the index has all that is needed of the relation */
    bool prefix; double prefix_selectivity;   /* low and high come from LIKE 'abc%', which stays in rest */
    struct bitmap_way *bitmap;           /* instead of index: row ids of several, then the rows in table order; all conditions are in rest */
    struct scalars used, rest;           /* conditions that the bounds say whole; the others */
    double rows, startup, total;
};
void rel_size(struct planner *, struct rel *);
/* Best access to a base relation under conditions. loops: how often it is run (what stays cached between runs makes the later ones cheaper);
 * 0: once, and a bitmap will do. */
void access_best(struct planner *, struct rel *, const struct scalars *conditions, double loops, const struct wish *, struct access *out);
enum status access_plan(struct planner *, struct rel *, const struct access *, const struct scalars *conditions, const struct scalars *wanted, struct plan **out, struct layout *) MUST_CHECK;
void plan_gate(struct planner *, struct plan *root);
double cost_sort(struct planner *, double rows, double width);
double width_of(const struct sql_type *, uint16_t count);

/* ---- selectivity (stats.c) ---- */
double selectivity(struct planner *, const struct scalar *);
double selectivity_all(struct planner *, const struct scalars *);
double selectivity_join(struct planner *, const struct scalar *);
/* How many of left_rows rows find a row with y = x among right_rows. */
double selectivity_semi(struct planner *, const struct scalar *x, double left_rows, const struct scalar *y, double right_rows);
double distinct_values(struct planner *, const struct scalar *, double rows);

#endif
