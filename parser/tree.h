/* parser/tree.h - the syntax tree: what a statement says, before anyone knows what its names mean.
 *
 *     struct statement_list list;
 *     status = parse_sql(arena, sql, strlen(sql), &list);          (parser/parser.h)
 *     for (int i = 0; i < list.count; i++)
 *         switch (list.items[i]->kind) { case STATEMENT_SELECT: ... list.items[i]->select ... }
 *
 * Every node is a plain struct in the arena given to the parser, zeroed first: a pointer that is NULL, a count of 0,
 * a flag that is false means "not written". Nodes of several shapes carry `kind`; which member of the union
 * counts stands beside each kind. Nothing points back up, so a debugger prints a tree from any node down.
 *
 * Positions are byte offsets into the whole query string, counted from 1, as error_position() takes them;
 * 0 means unknown. Names are folded to lower case unless quoted, and cut to 63 bytes.
 *
 * Lists are arrays of pointers with a count. AND and OR are lists, so long conditions are flat. Other operators lean
 * to the left (a + b + c is (a + b) + c), as do UNION and JOIN: such a spine can be up to TREE_MAX_HEIGHT tall, all
 * else no deeper than TREE_MAX_DEPTH; a walk that recurses needs stack for that or asks stack_is_deep() (base/stack.h). */
#ifndef PARSER_TREE_H
#define PARSER_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define TREE_MAX_DEPTH  1500      /* parentheses, subqueries, calls inside each other */
#define TREE_MAX_HEIGHT 16000     /* nodes on a path from the root of an expression down */
#define NAME_MAX_BYTES  63

struct expr;
struct select;
struct statement;

/* ---- small parts ---- */

struct name_list { char **items; int *positions; int count; };
struct expr_list { struct expr **items; int count; };

/* [catalog.][schema.]name. ONLY t sets only; t and t * don't. */
struct relation_name {
    char *catalog, *schema, *name;
    bool  only;
    int   position;
};
struct relation_list { struct relation_name **items; int count; };

/* A type as written. Names that SQL itself spells (int, double precision, timestamp with time zone) come as
 * PostgreSQL's internal name with schema "pg_catalog": int4, float8, timestamptz, bpchar, varchar, ... */
enum interval_fields {
    FIELDS_ANY, FIELDS_YEAR, FIELDS_MONTH, FIELDS_DAY, FIELDS_HOUR, FIELDS_MINUTE, FIELDS_SECOND,
    FIELDS_YEAR_TO_MONTH, FIELDS_DAY_TO_HOUR, FIELDS_DAY_TO_MINUTE, FIELDS_DAY_TO_SECOND,
    FIELDS_HOUR_TO_MINUTE, FIELDS_HOUR_TO_SECOND, FIELDS_MINUTE_TO_SECOND
};
struct type_name {
    char *schema, *name;
    struct expr_list modifiers;          /* numeric(10,2): 10 and 2. char: 1. timestamp(3): 3. interval second(3): 3 */
    enum interval_fields fields;         /* of interval */
    int   dimensions;                    /* int[][]: 2 */
    bool  is_setof;
    int   position;
};

/* One name = value of WITH (...), COPY, EXPLAIN, VACUUM, sequence options. */
enum option_kind {
    OPTION_NONE,      /* just the name */
    OPTION_WORD,      /* identifier or keyword, folded: on, true, csv */
    OPTION_STRING,    /* 'text' */
    OPTION_NUMBER,    /* text, with its sign */
    OPTION_LIST,      /* (a, b): names */
    OPTION_STAR       /* * */
};
struct option {
    char *name_space, *name;             /* name_space: toast in toast.autovacuum_enabled */
    enum option_kind kind;
    char *text;
    struct name_list names;
    int   position;                      /* of the name */
    int   value_position;
};
struct option_list { struct option **items; int count; };

/* ---- expressions ---- */

enum expr_kind {
    EXPR_LITERAL,        /* literal */
    EXPR_PARAMETER,      /* parameter: $n */
    EXPR_COLUMN,         /* column: a, t.a, s.t.a, *, t.* */
    EXPR_OPERATOR,       /* op: left may be NULL (prefix) */
    EXPR_AND,            /* list, 2 or more */
    EXPR_OR,             /* list, 2 or more */
    EXPR_NOT,            /* unary.operand */
    EXPR_IS,             /* is: IS [NOT] NULL, TRUE, FALSE, UNKNOWN */
    EXPR_DISTINCT,       /* distinct: IS [NOT] DISTINCT FROM */
    EXPR_LIKE,           /* like: LIKE, ILIKE, SIMILAR TO */
    EXPR_BETWEEN,        /* between */
    EXPR_IN,             /* in */
    EXPR_ANY,            /* any: left op ANY (array or subquery) */
    EXPR_ALL,            /* any: left op ALL (array or subquery) */
    EXPR_SUBQUERY,       /* select: (SELECT ...), one row */
    EXPR_EXISTS,         /* select */
    EXPR_ARRAY_SUBQUERY, /* select: ARRAY(SELECT ...) */
    EXPR_CAST,           /* cast: CAST(x AS t), x::t, and t 'literal' */
    EXPR_COLLATE,        /* collate */
    EXPR_CASE,           /* case_ */
    EXPR_COALESCE,       /* list */
    EXPR_GREATEST,       /* list */
    EXPR_LEAST,          /* list */
    EXPR_NULLIF,         /* list, of 2 */
    EXPR_FUNCTION,       /* function */
    EXPR_ARRAY,          /* list: ARRAY[...]; a nested [...] inside is an EXPR_ARRAY too */
    EXPR_SUBSCRIPT,      /* subscript */
    EXPR_FIELD,          /* field: (x).f, (x).* */
    EXPR_ROW,            /* row: ROW(...), (a, b) */
    EXPR_SQL_VALUE,      /* sql_value: CURRENT_DATE, CURRENT_USER, ... */
    EXPR_GROUPING,       /* list: GROUPING(a, b) */
    EXPR_GROUPING_SET,   /* grouping_set: in GROUP BY only */
    EXPR_DEFAULT,        /* DEFAULT, in VALUES rows of INSERT and in SET only */
    EXPR_CURRENT_OF      /* current_of: WHERE CURRENT OF cursor */
};

enum literal_kind {
    LITERAL_NULL,
    LITERAL_BOOLEAN,     /* boolean */
    LITERAL_INTEGER,     /* integer: whole number that fits in 64 bits (int4 if it fits, else int8); text too */
    LITERAL_NUMERIC,     /* text: any other number, 1.5, 1e5, 99999999999999999999 */
    LITERAL_STRING,      /* text, length: of unknown type */
    LITERAL_BITS,        /* text: the digits of B'01' */
    LITERAL_HEX          /* text: the digits of X'1F' */
};

enum is_test {
    IS_NULL, IS_NOT_NULL, IS_TRUE, IS_NOT_TRUE, IS_FALSE, IS_NOT_FALSE, IS_UNKNOWN, IS_NOT_UNKNOWN
};

enum like_kind { LIKE_LIKE, LIKE_ILIKE, LIKE_SIMILAR };

enum sql_value {
    SQL_CURRENT_DATE, SQL_CURRENT_TIME, SQL_CURRENT_TIMESTAMP, SQL_LOCALTIME, SQL_LOCALTIMESTAMP,
    SQL_CURRENT_ROLE, SQL_CURRENT_USER, SQL_USER, SQL_SESSION_USER, SQL_CURRENT_CATALOG, SQL_CURRENT_SCHEMA
};

enum grouping_kind { GROUPING_EMPTY, GROUPING_ROLLUP, GROUPING_CUBE, GROUPING_SETS };

enum sort_direction { SORT_DEFAULT, SORT_ASC, SORT_DESC, SORT_USING };
enum sort_nulls { NULLS_DEFAULT, NULLS_FIRST, NULLS_LAST };
struct sort_key {
    struct expr *expr;
    enum sort_direction direction;
    enum sort_nulls nulls;
    char *using_schema, *using_operator; /* ORDER BY x USING < */
    int position;
};
struct sort_list { struct sort_key **items; int count; };

/* OVER (...), and WINDOW name AS (...). */
enum frame_mode { FRAME_RANGE, FRAME_ROWS, FRAME_GROUPS };
enum frame_bound {
    BOUND_UNBOUNDED_PRECEDING, BOUND_PRECEDING, BOUND_CURRENT_ROW, BOUND_FOLLOWING, BOUND_UNBOUNDED_FOLLOWING
};
enum frame_exclusion { EXCLUDE_NO_OTHERS, EXCLUDE_CURRENT_ROW, EXCLUDE_GROUP, EXCLUDE_TIES };
struct window_definition {
    char *name;                          /* in a WINDOW clause: what it defines */
    char *refers_to;                     /* OVER w, OVER (w ...), WINDOW x AS (w ...) */
    bool  is_reference;                  /* OVER w, without parentheses: exactly that window */
    struct expr_list partition_by;
    struct sort_list order_by;
    bool  has_frame;                     /* else RANGE UNBOUNDED PRECEDING .. CURRENT ROW */
    enum frame_mode mode;
    enum frame_bound start, end;
    struct expr *start_offset, *end_offset;
    enum frame_exclusion exclusion;
    int   position;
};
struct window_list { struct window_definition **items; int count; };

struct case_when { struct expr *condition, *result; int position; };
struct subscript { bool is_slice; struct expr *lower, *upper; };   /* [upper], [lower:upper]; slice ends may be NULL */

struct expr {
    enum expr_kind kind;
    int position;                        /* of an operator: of its symbol, as PostgreSQL reports it */
    union {
        struct { enum literal_kind kind; bool boolean; int64_t integer; char *text; int length; } literal;
        int parameter;
        struct { char **names; int count; bool star; } column;    /* star: names (may be none) then .* */
        struct { char *schema, *name; struct expr *left, *right; } op;   /* != comes as <> */
        struct expr_list list;
        struct { struct expr *operand; } unary;
        struct { enum is_test test; struct expr *operand; } is;
        struct { bool negated; struct expr *left, *right; } distinct;
        struct { enum like_kind kind; bool negated; struct expr *left, *pattern, *escape; } like;
        struct { bool negated, symmetric; struct expr *operand, *low, *high; } between;
        struct { bool negated; struct expr *left; struct expr_list list; struct select *select; } in; /* select or list */
        struct { char *schema, *name; struct expr *left, *array; struct select *select; } any;  /* select or array;
                                            name may be an operator, also ~~, !~~, ~~*, !~~* for LIKE ANY etc. */
        struct select *select;
        struct { struct expr *operand; struct type_name *type; } cast;
        struct { struct expr *operand; char *schema, *name; } collate;
        struct { struct expr *operand; struct case_when **whens; int count; struct expr *otherwise; } case_;
        struct {
            char *schema, *name;
            struct expr_list arguments;
            char **argument_names;       /* NULL, or one a position: NULL for unnamed */
            bool sql_syntax;             /* EXTRACT, POSITION, SUBSTRING FROM, OVERLAY, TRIM, AT TIME ZONE, NORMALIZE:
                                            pg_catalog functions whose arguments stand in the function's own order */
            bool star;                   /* count(*) */
            bool distinct, variadic, within_group;
            struct sort_list order_by;
            struct expr *filter;
            struct window_definition *over;
        } function;
        struct { struct expr *operand; struct subscript *items; int count; } subscript;
        struct { struct expr *operand; char *name; bool star; } field;
        struct { struct expr_list list; bool explicit_row; } row;
        struct { enum sql_value value; int precision; } sql_value;           /* precision -1: none written */
        struct { enum grouping_kind kind; struct expr_list list; } grouping_set;
        struct { char *cursor; int parameter; } current_of;
    };
};

/* ---- SELECT ---- */

struct target {                          /* one of a select list or RETURNING list */
    struct expr *expr;                   /* EXPR_COLUMN with star for *, t.* */
    char *name;                          /* AS name; NULL: the engine names it (tree_column_name in parser.h) */
    int   position;
};
struct target_list { struct target **items; int count; };

struct column_definition;

enum from_kind { FROM_TABLE, FROM_SUBQUERY, FROM_FUNCTION, FROM_JOIN };
enum join_type { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL, JOIN_CROSS };
struct from_item {
    enum from_kind kind;
    int   position;
    char *alias;                         /* NULL: none */
    struct name_list columns;            /* alias(a, b, c) */
    bool  lateral;
    /* FROM_TABLE */
    struct relation_name *relation;
    char *sample_method;                 /* TABLESAMPLE method (arguments) REPEATABLE (seed) */
    struct expr_list sample_arguments;
    struct expr *sample_seed;
    /* FROM_SUBQUERY, VALUES included */
    struct select *select;
    /* FROM_FUNCTION: one, or several in ROWS FROM (...) */
    struct expr_list functions;
    bool  rows_from, with_ordinality;
    struct column_definition **definitions;  /* f() AS (a int, b text) */
    int   definition_count;
    /* FROM_JOIN */
    enum join_type join;
    bool  natural;
    struct from_item *left, *right;
    struct expr *on;
    struct name_list using_columns;      /* USING (a, b) [AS using_alias] */
    char *using_alias;
};
struct from_list { struct from_item **items; int count; };

enum materialized { MATERIALIZED_DEFAULT, MATERIALIZED_ALWAYS, MATERIALIZED_NEVER };
struct cte {
    char *name;
    struct name_list columns;
    struct statement *statement;         /* SELECT, or INSERT, UPDATE, DELETE */
    enum materialized materialized;
    int   position;
};
struct with { bool recursive; struct cte **items; int count; int position; };

enum for_strength { FOR_KEY_SHARE, FOR_SHARE, FOR_NO_KEY_UPDATE, FOR_UPDATE };
enum for_wait { FOR_WAIT, FOR_SKIP_LOCKED, FOR_NOWAIT };
struct locking { enum for_strength strength; enum for_wait wait; struct relation_list of; int position; };

/* A SELECT has one of three bodies: a set operation over left and right, VALUES rows, or a plain select.
 * ORDER BY, LIMIT, locking and WITH stand at any of them. */
enum set_operation { SET_NONE, SET_UNION, SET_INTERSECT, SET_EXCEPT };
struct select {
    int position;
    struct with *with;
    /* a set operation */
    enum set_operation set;
    bool all;
    struct select *left, *right;
    /* VALUES (...), (...) */
    struct expr_list *rows;
    int row_count;
    /* a plain select */
    bool distinct;                       /* DISTINCT, and DISTINCT ON with distinct_on.count > 0 */
    struct expr_list distinct_on;
    struct target_list targets;          /* may be empty */
    struct from_list from;
    struct expr *where;
    struct expr_list group_by;           /* may hold EXPR_GROUPING_SET */
    bool has_group_by, group_distinct;
    struct expr *having;
    struct window_list windows;
    /* of all three */
    struct sort_list order_by;
    struct expr *limit, *offset;         /* LIMIT ALL and LIMIT NULL: a NULL literal */
    bool with_ties;
    struct locking **locking;
    int locking_count;
};

/* ---- INSERT, UPDATE, DELETE ---- */

struct assignment_target {               /* column, column.field, column[subscript] */
    char *column;
    struct expr *indirection;            /* NULL, or SUBSCRIPT/FIELD chain whose innermost operand is NULL */
    int   position;
};

enum overriding { OVERRIDING_NONE, OVERRIDING_USER, OVERRIDING_SYSTEM };
struct assignment {                      /* a = x: one target; (a, b) = row or (SELECT ...): several */
    struct assignment_target *targets;
    int   count;
    bool  is_row;                        /* written (a, b) = ..., even with one column */
    struct expr *value;                  /* may be EXPR_DEFAULT; is_row: EXPR_ROW, EXPR_SUBQUERY or another row expr */
    int   position;
};
struct assignment_list { struct assignment **items; int count; };

enum conflict_action { CONFLICT_NONE, CONFLICT_NOTHING, CONFLICT_UPDATE };
struct index_element;
struct on_conflict {
    enum conflict_action action;
    struct index_element **columns;       /* ON CONFLICT (a, (expr)) [WHERE target_where] */
    int   column_count;
    struct expr *target_where;
    char *constraint;                    /* ON CONFLICT ON CONSTRAINT name */
    struct assignment_list set;
    struct expr *where;
    int   position;
};

struct insert_statement {
    struct with *with;
    struct relation_name *relation;
    char *alias;
    struct assignment_target *columns;   /* column_count 0: none written */
    int   column_count;
    enum overriding overriding;
    struct select *source;               /* VALUES, SELECT; NULL: DEFAULT VALUES */
    struct on_conflict *on_conflict;     /* NULL: none */
    struct target_list returning;
};

struct update_statement {
    struct with *with;
    struct relation_name *relation;
    char *alias;
    struct assignment_list set;
    struct from_list from;
    struct expr *where;                  /* may be EXPR_CURRENT_OF */
    struct target_list returning;
};

struct delete_statement {
    struct with *with;
    struct relation_name *relation;
    char *alias;
    struct from_list using_;
    struct expr *where;
    struct target_list returning;
};

/* ---- tables ---- */

enum constraint_kind {
    CONSTRAINT_NOT_NULL, CONSTRAINT_NULL, CONSTRAINT_DEFAULT, CONSTRAINT_CHECK, CONSTRAINT_PRIMARY_KEY,
    CONSTRAINT_UNIQUE, CONSTRAINT_FOREIGN_KEY, CONSTRAINT_IDENTITY, CONSTRAINT_GENERATED, CONSTRAINT_EXCLUDE
};
enum foreign_action { ACTION_NO_ACTION, ACTION_RESTRICT, ACTION_CASCADE, ACTION_SET_NULL, ACTION_SET_DEFAULT };
enum foreign_match { MATCH_SIMPLE, MATCH_FULL, MATCH_PARTIAL };
struct constraint_definition {
    enum constraint_kind kind;
    char *name;                          /* CONSTRAINT name; NULL: the engine makes one */
    int   position;
    struct expr *expr;                   /* DEFAULT, CHECK, GENERATED ALWAYS AS (expr) STORED */
    struct name_list columns;            /* of a table constraint; a column constraint leaves it empty */
    struct name_list include;
    bool  nulls_not_distinct;
    struct option_list options;          /* WITH (...) of an index; sequence options of an identity */
    char *tablespace, *using_index;      /* PRIMARY KEY USING INDEX name */
    bool  identity_always;               /* GENERATED ALWAYS, against BY DEFAULT */
    struct relation_name *references;
    struct name_list referenced;         /* columns; empty: the primary key */
    enum foreign_match match;
    enum foreign_action on_update, on_delete;
    struct name_list delete_columns;     /* ON DELETE SET NULL (a, b) */
    bool  deferrable, initially_deferred, not_valid, no_inherit;
};
struct constraint_list { struct constraint_definition **items; int count; };

struct column_definition {
    char *name;
    struct type_name *type;
    char *collation_schema, *collation;
    char *compression;
    struct constraint_list constraints;
    int   position;
};

enum like_option {
    LIKE_COMMENTS = 1, LIKE_COMPRESSION = 2, LIKE_CONSTRAINTS = 4, LIKE_DEFAULTS = 8, LIKE_GENERATED = 16,
    LIKE_IDENTITY = 32, LIKE_INDEXES = 64, LIKE_STATISTICS = 128, LIKE_STORAGE = 256, LIKE_ALL = 0x7fff
};
enum element_kind { ELEMENT_COLUMN, ELEMENT_CONSTRAINT, ELEMENT_LIKE };
struct table_element {
    enum element_kind kind;
    struct column_definition *column;
    struct constraint_definition *constraint;
    struct relation_name *like;
    int like_options;
};

enum persistence { PERSISTENCE_PERMANENT, PERSISTENCE_TEMPORARY, PERSISTENCE_UNLOGGED };
enum on_commit { ON_COMMIT_DEFAULT, ON_COMMIT_PRESERVE, ON_COMMIT_DELETE, ON_COMMIT_DROP };
struct create_table_statement {
    struct relation_name *relation;
    enum persistence persistence;
    bool if_not_exists;
    struct table_element *elements;      /* in the order written */
    int  element_count;
    struct relation_list inherits;
    struct relation_name *partition_of;  /* recognised; the bounds aren't kept */
    char *partition_by;                  /* range, list, hash; the keys aren't kept */
    struct option_list options;
    enum on_commit on_commit;
    char *tablespace, *access_method;
};

struct create_table_as_statement {                 /* CREATE TABLE t AS query, SELECT ... INTO t */
    struct relation_name *relation;
    enum persistence persistence;
    bool if_not_exists, select_into, with_no_data;
    struct name_list columns;
    struct statement *query;             /* SELECT or EXECUTE */
    struct option_list options;
    enum on_commit on_commit;
    char *tablespace, *access_method;
};

struct index_element {
    char *column;                        /* a plain column name, or NULL and expr */
    struct expr *expr;
    char *collation_schema, *collation;
    char *opclass_schema, *opclass;
    enum sort_direction direction;
    enum sort_nulls nulls;
    int  position;
};

struct create_index_statement {
    char *name;                          /* NULL: the engine makes one */
    bool unique, concurrently, if_not_exists, nulls_not_distinct;
    struct relation_name *relation;
    char *method;                        /* NULL: btree */
    struct index_element **columns;
    int  column_count;
    struct name_list include;
    struct option_list options;
    char *tablespace;
    struct expr *where;
};

struct create_view_statement {
    struct relation_name *relation;
    bool or_replace, recursive;
    enum persistence persistence;
    struct name_list columns;
    struct option_list options;
    struct select *select;
    int  query_start, query_length;      /* the query's text: position (from 1) and bytes */
    enum { VIEW_CHECK_NONE, VIEW_CHECK_LOCAL, VIEW_CHECK_CASCADED } check;
};

/* CREATE and ALTER SEQUENCE. Options by name: increment, minvalue, maxvalue (kind NONE: NO MINVALUE), start,
 * restart (kind NONE: to START), cache, cycle (WORD true or false), as (WORD type name), owned_by (LIST: names; none). */
struct sequence_statement {
    struct relation_name *relation;
    enum persistence persistence;
    bool if_exists, if_not_exists;
    struct option_list options;
};

struct create_schema_statement { char *name; bool if_not_exists; char *owner; struct statement **elements; int element_count; };

enum object_kind {
    OBJECT_TABLE, OBJECT_INDEX, OBJECT_VIEW, OBJECT_SEQUENCE, OBJECT_SCHEMA, OBJECT_MATERIALIZED_VIEW,
    OBJECT_COLUMN, OBJECT_CONSTRAINT, OBJECT_DATABASE, OBJECT_TYPE, OBJECT_FUNCTION, OBJECT_ROLE, OBJECT_OTHER
};

struct drop_statement {
    enum object_kind object;
    bool if_exists, cascade, concurrently;
    struct relation_list names;          /* a schema's name stands in .name */
};

enum alter_kind {
    ALTER_ADD_COLUMN,            /* column, if_not_exists */
    ALTER_DROP_COLUMN,           /* name, if_exists, cascade */
    ALTER_ADD_CONSTRAINT,        /* constraint */
    ALTER_DROP_CONSTRAINT,       /* name, if_exists, cascade */
    ALTER_VALIDATE_CONSTRAINT,   /* name */
    ALTER_CONSTRAINT,            /* constraint: name and deferrability */
    ALTER_SET_DEFAULT,           /* name, expr */
    ALTER_DROP_DEFAULT,          /* name */
    ALTER_SET_NOT_NULL,          /* name */
    ALTER_DROP_NOT_NULL,         /* name */
    ALTER_DROP_EXPRESSION,       /* name, if_exists */
    ALTER_TYPE,                  /* name, type, collation, expr: USING */
    ALTER_ADD_IDENTITY,          /* name, constraint */
    ALTER_SET_IDENTITY,          /* name, options; generated: WORD always or by_default */
    ALTER_DROP_IDENTITY,         /* name, if_exists */
    ALTER_SET_STATISTICS,        /* name, number */
    ALTER_SET_STORAGE,           /* name, new_name: plain, external, extended, main */
    ALTER_SET_COMPRESSION,       /* name, new_name */
    ALTER_SET_COLUMN_OPTIONS,    /* name, options */
    ALTER_RENAME,                /* new_name: the relation's */
    ALTER_RENAME_COLUMN,         /* name, new_name */
    ALTER_RENAME_CONSTRAINT,     /* name, new_name */
    ALTER_SET_OPTIONS,           /* options */
    ALTER_RESET_OPTIONS,         /* options */
    ALTER_OWNER,                 /* new_name */
    ALTER_SET_SCHEMA,            /* new_name */
    ALTER_SET_TABLESPACE,        /* new_name */
    ALTER_SET_LOGGED,            /* enabled */
    ALTER_CLUSTER_ON,            /* name; NULL: SET WITHOUT CLUSTER */
    ALTER_TRIGGER,               /* name (all, user), enabled */
    ALTER_OTHER                  /* new_name: what it is, for the message: "INHERIT", "ATTACH PARTITION", ... */
};
struct alter_action {
    enum alter_kind kind;
    int   position;
    char *name, *new_name;
    bool  if_exists, if_not_exists, cascade, enabled;
    struct column_definition *column;
    struct constraint_definition *constraint;
    struct expr *expr;
    struct type_name *type;
    char *collation_schema, *collation;
    struct option_list options;
    int   number;
};
struct alter_statement {                           /* ALTER TABLE, INDEX, VIEW, SEQUENCE, SCHEMA */
    enum object_kind object;
    bool  if_exists;
    struct relation_name *relation;
    struct alter_action **actions;
    int   action_count;
};

struct truncate_statement { struct relation_list relations; bool restart_identity, cascade; };

struct comment_statement {
    enum object_kind object;
    char *object_name;                   /* how SQL calls it: TABLE, COLUMN, ... */
    struct relation_name *relation;      /* of a column or constraint: the table's */
    char *name;                          /* the column or constraint */
    char *text;                          /* NULL: IS NULL */
};

/* ---- transactions and settings ---- */

enum isolation_name { ISOLATION_UNSET, ISOLATION_READ_UNCOMMITTED, ISOLATION_READ_COMMITTED, ISOLATION_REPEATABLE_READ,
                 ISOLATION_SERIALIZABLE };
enum choice { CHOICE_UNSET, CHOICE_NO, CHOICE_YES };
struct transaction_modes { enum isolation_name isolation; enum choice read_only, deferrable; };

enum transaction_kind {
    TRANSACTION_BEGIN, TRANSACTION_START, TRANSACTION_COMMIT, TRANSACTION_ROLLBACK, TRANSACTION_SAVEPOINT,
    TRANSACTION_RELEASE, TRANSACTION_ROLLBACK_TO, TRANSACTION_PREPARE, TRANSACTION_COMMIT_PREPARED,
    TRANSACTION_ROLLBACK_PREPARED
};
struct transaction_statement {
    enum transaction_kind kind;
    struct transaction_modes modes;      /* BEGIN, START */
    bool  chain;                         /* COMMIT AND CHAIN */
    char *name;                          /* of a savepoint, or the prepared id */
    int   position;                      /* of the name */
};

enum set_kind {
    VARIABLE_SET,                        /* name, values */
    VARIABLE_SET_DEFAULT,                /* SET name TO DEFAULT */
    VARIABLE_SET_CURRENT,                /* SET name FROM CURRENT */
    VARIABLE_RESET,                      /* name */
    VARIABLE_RESET_ALL,
    VARIABLE_SET_TRANSACTION,            /* SET TRANSACTION modes (snapshot: name) */
    VARIABLE_SET_CHARACTERISTICS         /* SET SESSION CHARACTERISTICS AS TRANSACTION modes */
};
struct set_statement {
    enum set_kind kind;
    bool  local;                         /* SET LOCAL */
    char *name;                          /* "timezone" for SET TIME ZONE; may be a.b; as written, case folded */
    struct expr_list values;             /* literals: strings (identifiers too), numbers, booleans as strings;
                                            SET TIME ZONE INTERVAL '..': an EXPR_CAST */
    struct transaction_modes modes;
    char *snapshot;
};

struct show_statement { char *name; };             /* "all" for SHOW ALL */
struct set_constraints_statement { bool all; struct relation_list names; bool deferred; };

/* ---- the rest ---- */

struct copy_statement {
    struct relation_name *relation;      /* or query */
    struct name_list columns;
    struct statement *query;             /* SELECT, INSERT, UPDATE, DELETE */
    bool  is_from, is_program;
    char *file;                          /* NULL: STDIN, STDOUT */
    struct option_list options;          /* old syntax comes as the new one's names: format, delimiter, null, header,
                                            quote, escape, force_quote, force_not_null, force_null, encoding, freeze */
    struct expr *where;
    int   position;
};

struct vacuum_relation { struct relation_name *relation; struct name_list columns; };
struct vacuum_statement {                          /* VACUUM and ANALYZE; old words come as options: full, freeze, verbose, analyze */
    struct option_list options;
    struct vacuum_relation *relations;   /* none: all */
    int relation_count;
};

struct explain_statement { struct option_list options; struct statement *statement; };   /* analyze, verbose, costs, ... */

struct prepare_statement { char *name; struct type_name **types; int type_count; struct statement *statement; };
struct execute_statement { char *name; struct expr_list arguments; };
struct deallocate_statement { char *name; };       /* NULL: ALL */

struct declare_cursor_statement {
    char *name;
    bool  binary, insensitive, hold;
    enum choice scroll;                  /* SCROLL, NO SCROLL */
    struct select *select;
    int query_start, query_length;
};
enum fetch_direction { FETCH_FORWARD, FETCH_BACKWARD, FETCH_ABSOLUTE, FETCH_RELATIVE };
#define FETCH_ALL INT64_MAX
struct fetch_statement { bool is_move; enum fetch_direction direction; int64_t count; char *cursor; };
struct close_cursor_statement { char *name; };     /* NULL: ALL */

enum table_lock_mode {
    TABLE_ACCESS_SHARE = 1, TABLE_ROW_SHARE, TABLE_ROW_EXCLUSIVE, TABLE_SHARE_UPDATE_EXCLUSIVE, TABLE_SHARE,
    TABLE_SHARE_ROW_EXCLUSIVE, TABLE_EXCLUSIVE, TABLE_ACCESS_EXCLUSIVE
};
struct lock_table_statement { struct relation_list relations; enum table_lock_mode mode; bool nowait; };

enum reindex_kind { REINDEX_INDEX, REINDEX_TABLE, REINDEX_SCHEMA, REINDEX_SYSTEM, REINDEX_DATABASE };
struct reindex_statement { enum reindex_kind kind; bool concurrently; struct option_list options; struct relation_name *relation; };
struct cluster_statement { struct relation_name *relation; char *index; struct option_list options; };
enum discard_kind { DISCARD_ALL, DISCARD_PLANS, DISCARD_SEQUENCES, DISCARD_TEMP };
struct discard_statement { enum discard_kind kind; };
struct notify_statement { char *channel, *payload; };                  /* LISTEN, UNLISTEN (NULL: *), NOTIFY */

/* A statement PostgreSQL has and Crabtree has not. Its text is skipped, not checked. */
struct unsupported_statement { const char *feature; };                 /* "CREATE FUNCTION" */

enum statement_kind {
    STATEMENT_SELECT, STATEMENT_INSERT, STATEMENT_UPDATE, STATEMENT_DELETE,
    STATEMENT_CREATE_TABLE, STATEMENT_CREATE_TABLE_AS, STATEMENT_CREATE_INDEX, STATEMENT_CREATE_VIEW,
    STATEMENT_CREATE_SEQUENCE, STATEMENT_ALTER_SEQUENCE, STATEMENT_CREATE_SCHEMA,
    STATEMENT_DROP, STATEMENT_ALTER, STATEMENT_TRUNCATE, STATEMENT_COMMENT,
    STATEMENT_TRANSACTION, STATEMENT_SET, STATEMENT_SHOW, STATEMENT_SET_CONSTRAINTS,
    STATEMENT_COPY, STATEMENT_VACUUM, STATEMENT_ANALYZE, STATEMENT_EXPLAIN,
    STATEMENT_PREPARE, STATEMENT_EXECUTE, STATEMENT_DEALLOCATE,
    STATEMENT_DECLARE_CURSOR, STATEMENT_FETCH, STATEMENT_CLOSE_CURSOR,
    STATEMENT_LOCK, STATEMENT_REINDEX, STATEMENT_CLUSTER, STATEMENT_DISCARD, STATEMENT_CHECKPOINT,
    STATEMENT_LISTEN, STATEMENT_UNLISTEN, STATEMENT_NOTIFY,
    STATEMENT_UNSUPPORTED
};

struct statement {
    enum statement_kind kind;
    int start, length;                   /* its text: sql + start - 1, for length bytes; no semicolon */
    union {
        struct select *select;
        struct insert_statement *insert;
        struct update_statement *update;
        struct delete_statement *delete_;
        struct create_table_statement *create_table;
        struct create_table_as_statement *create_table_as;
        struct create_index_statement *create_index;
        struct create_view_statement *create_view;
        struct sequence_statement *sequence;           /* CREATE_SEQUENCE, ALTER_SEQUENCE */
        struct create_schema_statement *create_schema;
        struct drop_statement *drop;
        struct alter_statement *alter;
        struct truncate_statement *truncate;
        struct comment_statement *comment;
        struct transaction_statement *transaction;
        struct set_statement *set;
        struct show_statement *show;
        struct set_constraints_statement *set_constraints;
        struct copy_statement *copy;
        struct vacuum_statement *vacuum;               /* VACUUM, ANALYZE */
        struct explain_statement *explain;
        struct prepare_statement *prepare;
        struct execute_statement *execute;
        struct deallocate_statement *deallocate;
        struct declare_cursor_statement *declare_cursor;
        struct fetch_statement *fetch;
        struct close_cursor_statement *close_cursor;
        struct lock_table_statement *lock_table;
        struct reindex_statement *reindex;
        struct cluster_statement *cluster;
        struct discard_statement *discard;
        struct notify_statement *notify;               /* LISTEN, UNLISTEN, NOTIFY */
        struct unsupported_statement *unsupported;
    };
};

struct statement_list { struct statement **items; int count; int parameter_count; /* highest $n */ };

#endif
