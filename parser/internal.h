/* parser/internal.h - what the parser's files share: tokens, the parser's state, its small helpers.
 *
 * Errors. Rules return nodes, never NULL where a node is due, and not a status: the first error is kept in
 * parser.status (and in the thread's error record), and from then on every token is TOKEN_END, which no rule wants, so the
 * parse unwinds by itself with every node still readable. parse_sql() asks the status once, at the end. Hence a loop over
 * tokens must end when it meets TOKEN_END; `do ... while (accept(p, ','))` does.
 *
 * Depth. Rules that recurse enter through depth_enter(), which fails with 54001 past TREE_MAX_DEPTH levels or when the
 * thread's stack runs low. Chains that lean left are parsed by loops; height_raise() bounds them. */
#ifndef PARSER_INTERNAL_H
#define PARSER_INTERNAL_H

#include "parser/keyword.h"
#include "parser/parser.h"

/* ---- tokens ---- */

/* A single-character token is its own character: ( ) [ ] , ; . : + - * / % ^ < > = */
enum token_kind {
    TOKEN_END = 0,
    TOKEN_IDENTIFIER = 256,   /* text: folded, unquoted */
    TOKEN_KEYWORD,            /* keyword; text: as folded */
    TOKEN_INTEGER,            /* integer; text */
    TOKEN_NUMERIC,            /* text */
    TOKEN_STRING,             /* text, text_length */
    TOKEN_BITS,               /* text */
    TOKEN_HEX,                /* text */
    TOKEN_PARAMETER,          /* integer */
    TOKEN_OPERATOR,           /* text: any operator without a token of its own */
    TOKEN_CAST,               /* :: */
    TOKEN_DOT_DOT,            /* .. */
    TOKEN_COLON_EQUALS,       /* := */
    TOKEN_ARROW,              /* => */
    TOKEN_LESS_EQUALS,
    TOKEN_GREATER_EQUALS,
    TOKEN_NOT_EQUALS          /* <> and != */
};

struct token {
    int kind;
    enum keyword keyword;     /* NO_KEYWORD unless TOKEN_KEYWORD: so one compare asks for a keyword */
    int start, end;           /* bytes of the text, from 0 */
    bool quoted;              /* a quoted identifier */
    char *text;
    int text_length;
    int64_t integer;
};

#define LOOKAHEAD 4           /* a power of two */

struct parser {
    struct arena *arena;
    const char *sql;
    int length;
    int at;                   /* where the lexer goes on */
    enum status status;       /* the first error */

    struct token tokens[LOOKAHEAD];
    int first, filled;        /* tokens[first] is the current token once filled > 0 */
    int last_end;             /* end of the token consumed last */

    int depth;
    int height;               /* of what was parsed since somebody set it to 0 */
    int parameter_count;
    bool into_allowed;        /* SELECT ... INTO may stand here ... */
    struct create_table_as_statement *into;   /* ... and was met: parse_query_statement() takes it */
};

/* lexer.c */
enum status text_check(const char *sql, size_t length) MUST_CHECK;   /* valid UTF-8 without NUL, or 22021 */
struct token lexer_next(struct parser *);                            /* TOKEN_END with p->status set: an error */
char *identifier_fold(struct arena *, const char *word, size_t length); /* lower case, cut to NAME_MAX_BYTES */

/* parser.c: the token window */
const struct token *peek_slow(struct parser *, int ahead);
static inline const struct token *peek(struct parser *p)
{
    return p->filled > 0 ? &p->tokens[p->first] : peek_slow(p, 0);
}
static inline const struct token *peek_at(struct parser *p, int ahead)
{
    return p->filled > ahead ? &p->tokens[(p->first + ahead) & (LOOKAHEAD - 1)] : peek_slow(p, ahead);
}
static inline void advance(struct parser *p)
{
    p->last_end = peek(p)->end;
    p->first = (p->first + 1) & (LOOKAHEAD - 1);
    p->filled--;
}
static inline bool next_is(struct parser *p, int kind) { return peek(p)->kind == kind; }
static inline bool next_is_word(struct parser *p, enum keyword keyword) { return peek(p)->keyword == keyword; }
static inline bool after_is_word(struct parser *p, enum keyword keyword) { return peek_at(p, 1)->keyword == keyword; }
static inline bool accept(struct parser *p, int kind)
{
    if (peek(p)->kind != kind)
        return false;
    advance(p);
    return true;
}
static inline bool accept_word(struct parser *p, enum keyword keyword)
{
    if (peek(p)->keyword != keyword)
        return false;
    advance(p);
    return true;
}
/* Both words or neither. */
static inline bool accept_words(struct parser *p, enum keyword first, enum keyword second)
{
    if (peek(p)->keyword != first || peek_at(p, 1)->keyword != second)
        return false;
    advance(p);
    advance(p);
    return true;
}
static inline int position(struct parser *p) { return peek(p)->start + 1; }   /* of the current token */

void expect(struct parser *, int kind);
void expect_word(struct parser *, enum keyword);
void fail_syntax(struct parser *);                                   /* syntax error at or near the current token */
void syntax_fail_at(struct parser *, int position, enum status, const char *format, ...) PRINTF_LIKE(4, 5);
static inline bool failed(const struct parser *p) { return p->status != STATUS_OK; }

bool depth_enter(struct parser *);                                   /* false: failed; then don't leave either */
static inline void depth_leave(struct parser *p) { p->depth--; }
void height_raise(struct parser *, int height);                      /* p->height = max(p->height, height), checked */

void *list_room(struct parser *, void *items, int count, size_t item_bytes);
#define LIST_ADD(p, list, item)                                                                            \
    ((list).items = list_room((p), (list).items, (list).count, sizeof *(list).items),                      \
     (list).items[(list).count++] = (item))

/* ---- names (parser.c) ---- */

bool next_is_column_name(struct parser *);                           /* ColId: identifier, UNRESERVED, COLUMN_NAME */
bool next_is_function_name(struct parser *);                         /* identifier, UNRESERVED, FUNCTION_NAME */
bool token_is_label(const struct token *);                           /* any word */
bool token_is_bare_label(const struct token *);
char *parse_name(struct parser *);                                   /* a ColId */
char *parse_label(struct parser *);                                  /* any word at all */
char *parse_role(struct parser *);
char *parse_string(struct parser *);
void parse_names(struct parser *, struct name_list *);               /* a, b, c */
void parse_names_in_parentheses(struct parser *, struct name_list *);
struct relation_name *parse_relation_name(struct parser *);          /* a, a.b, a.b.c */
struct relation_name *parse_relation_expr(struct parser *);          /* with ONLY, and * */
void parse_relations(struct parser *, struct relation_list *);
void parse_any_name(struct parser *, char **schema, char **name);    /* a or a.b: collations, operator classes */
int64_t parse_signed_integer(struct parser *);

/* ---- types (type.c) ---- */

struct type_name *parse_type(struct parser *);
bool type_is_ahead(struct parser *);                                 /* a built-in type's keyword that can start a constant */
struct type_name *parse_constant_type(struct parser *);              /* of int '1': no arrays, no SETOF */
enum interval_fields parse_interval_fields(struct parser *, struct type_name *);

/* ---- expressions (expr.c, function.c) ---- */

struct expr *expr_new(struct parser *, enum expr_kind, int position);
struct expr *parse_expr(struct parser *);                            /* a_expr */
struct expr *parse_restricted_expr(struct parser *);                 /* b_expr: no AND, OR, NOT, IS, IN, LIKE outside parentheses */
struct expr *parse_primary(struct parser *);                         /* c_expr */
void parse_exprs(struct parser *, struct expr_list *);               /* a, b, c */
struct expr *literal_string(struct parser *, char *text, int position);
struct expr *literal_integer(struct parser *, int64_t, int position);
void parse_operator(struct parser *, char **schema, char **name);    /* +, OPERATOR(s.+) */
void parse_sort(struct parser *, struct sort_list *);                /* after ORDER BY */
struct expr *parse_call(struct parser *, char *schema, char *name, int position);  /* at its ( */
struct expr *parse_special(struct parser *);                         /* COALESCE(...), EXTRACT(...), CURRENT_DATE; NULL: none */
struct expr *parse_indirection(struct parser *, struct expr *operand);  /* .f [i] after an operand, NULL allowed */
struct window_definition *parse_window(struct parser *);             /* at its ( */

/* What stands in parentheses where both may: a query or an expression. One of the two is set. */
struct expr *parse_parenthesised(struct parser *, struct select **select);

/* ---- queries (select.c, from.c, modify.c) ---- */

bool select_is_ahead(struct parser *);                               /* SELECT, VALUES, WITH, TABLE */
struct select *parse_select(struct parser *);                        /* with its WITH; may be in parentheses */
struct select *parse_select_with(struct parser *, struct with *);    /* WITH was read already, or NULL */
struct select *parse_select_rest(struct parser *, struct select *left);  /* UNION ..., ORDER BY ... after a query */
bool select_goes_on(struct parser *);                                /* UNION, ORDER, LIMIT, ... is next */
struct select *parse_select_in_parentheses(struct parser *);
struct with *parse_with(struct parser *);
void parse_from(struct parser *, struct from_list *);                /* after FROM */
void parse_targets(struct parser *, struct target_list *);
struct statement *parse_query_statement(struct parser *, struct with *);  /* SELECT, INSERT, UPDATE, DELETE, WITH ... */
struct statement *parse_insert(struct parser *, struct with *);
struct statement *parse_update(struct parser *, struct with *);
struct statement *parse_delete(struct parser *, struct with *);

/* ---- statements ---- */

struct statement *statement_new(struct parser *, enum statement_kind, size_t bytes);
struct statement *parse_statement(struct parser *);                  /* statement.c */
struct statement *parse_preparable(struct parser *);                 /* what EXPLAIN and PREPARE take */
struct statement *statement_unsupported(struct parser *, const char *feature);  /* skips to the semicolon */
void skip_statement(struct parser *);

void parse_options(struct parser *, struct option_list *);           /* (a = b, c): option.c */
void parse_generic_options(struct parser *, struct option_list *);   /* (a b, c): EXPLAIN, VACUUM, COPY */
void parse_sequence_options(struct parser *, struct option_list *);
struct option *option_new(struct parser *, char *name, enum option_kind, char *text);

struct statement *parse_create(struct parser *);                     /* create.c */
struct statement *parse_unsupported_object(struct parser *, const char *verb);
struct statement *parse_create_table(struct parser *, enum persistence);   /* table.c, after TABLE */
struct column_definition *parse_column_definition(struct parser *);
struct constraint_definition *parse_table_constraint(struct parser *);
void parse_index_columns(struct parser *, struct index_element ***, int *count);
struct statement *parse_alter(struct parser *);                      /* alter.c */
struct statement *parse_drop(struct parser *);                       /* create.c */
struct statement *parse_comment(struct parser *);
struct statement *parse_truncate(struct parser *);
struct statement *parse_transaction(struct parser *);                /* transaction.c */
void parse_transaction_modes(struct parser *, struct transaction_modes *);
struct statement *parse_set(struct parser *);                        /* setting.c */
struct statement *parse_reset(struct parser *);
struct statement *parse_show(struct parser *);
struct statement *parse_copy(struct parser *);                       /* copy.c */
struct statement *parse_utility(struct parser *);                    /* utility.c */

#endif
