/* parser/expr.c - expressions, by precedence climbing (Pratt).
 *
 * operand() reads what can start an expression: a prefix operator with its operand, or a primary. operators() then
 * takes operators as long as they bind at least as tightly as its caller asks, looping rather than recursing, so
 * that a + b + c + ... of any length needs no stack. PostgreSQL's table, loosest first:
 *
 *   OR | AND | NOT | IS ISNULL NOTNULL | < > = <= >= <> | BETWEEN IN LIKE ILIKE SIMILAR | any other operator
 *   | + - | * / % | ^ | AT TIME ZONE | COLLATE | unary + - | ::
 *
 * Comparisons, IS DISTINCT FROM, BETWEEN and LIKE don't associate: a < b < c is a syntax error.
 *
 * The restricted form (PostgreSQL's b_expr) knows none of the operators spelled as words; it stands where such a word
 * ends the expression: BETWEEN's lower bound, a column's DEFAULT, POSITION. */
#include "parser/internal.h"

#include <string.h>

enum precedence {
    PRECEDENCE_ANY, PRECEDENCE_OR, PRECEDENCE_AND, PRECEDENCE_NOT, PRECEDENCE_IS, PRECEDENCE_COMPARE, PRECEDENCE_LIKE,
    PRECEDENCE_OPERATOR, PRECEDENCE_ADD, PRECEDENCE_MULTIPLY, PRECEDENCE_POWER, PRECEDENCE_AT, PRECEDENCE_COLLATE,
    PRECEDENCE_SIGN, PRECEDENCE_CAST
};

static struct expr *expr_level(struct parser *, int least, bool restricted);
static struct expr *operators(struct parser *, struct expr *left, int least, bool restricted);

struct expr *expr_new(struct parser *p, enum expr_kind kind, int position)
{
    struct expr *expr = arena_new(p->arena, struct expr);
    expr->kind = kind;
    expr->position = position;
    return expr;
}

struct expr *literal_string(struct parser *p, char *text, int position)
{
    struct expr *expr = expr_new(p, EXPR_LITERAL, position);
    expr->literal.kind = LITERAL_STRING;
    expr->literal.text = text;
    expr->literal.length = (int)strlen(text);
    return expr;
}

struct expr *literal_integer(struct parser *p, int64_t value, int position)
{
    struct expr *expr = expr_new(p, EXPR_LITERAL, position);
    expr->literal.kind = LITERAL_INTEGER;
    expr->literal.integer = value;
    expr->literal.text = arena_printf(p->arena, "%lld", (long long)value);
    expr->literal.length = (int)strlen(expr->literal.text);
    return expr;
}

static struct expr *literal_plain(struct parser *p, enum literal_kind kind, bool boolean)
{
    struct expr *expr = expr_new(p, EXPR_LITERAL, position(p));
    expr->literal.kind = kind;
    expr->literal.boolean = boolean;
    advance(p);
    return expr;
}

/* The literal that the current token is. */
static struct expr *literal_token(struct parser *p, enum literal_kind kind)
{
    const struct token *token = peek(p);
    struct expr *expr = expr_new(p, EXPR_LITERAL, token->start + 1);
    expr->literal.kind = kind;
    expr->literal.integer = token->integer;
    expr->literal.text = token->text;
    expr->literal.length = token->text_length;
    advance(p);
    return expr;
}

static struct expr *operator_new(struct parser *p, char *schema, char *name, struct expr *left, struct expr *right,
                                 int position)
{
    struct expr *expr = expr_new(p, EXPR_OPERATOR, position);
    expr->op.schema = schema;
    expr->op.name = name;
    expr->op.left = left;
    expr->op.right = right;
    return expr;
}

static struct expr *subquery_new(struct parser *p, struct select *select, int position)
{
    struct expr *expr = expr_new(p, EXPR_SUBQUERY, position);
    expr->select = select;
    return expr;
}

/* ---- operators ---- */

/* The text of an operator token; NULL: it's none. */
static char *operator_text(const struct token *token)
{
    switch (token->kind) {
    case '+': case '-': case '*': case '/': case '%': case '^': case '<': case '>': case '=':
    case TOKEN_OPERATOR: case TOKEN_LESS_EQUALS: case TOKEN_GREATER_EQUALS: case TOKEN_NOT_EQUALS:
        return token->text;
    default:
        return NULL;
    }
}

/* OPERATOR(s.+), or the operator itself. */
void parse_operator(struct parser *p, char **schema, char **name)
{
    *schema = NULL;
    *name = "";
    if (next_is_word(p, KEYWORD_OPERATOR)) {
        advance(p);
        expect(p, '(');
        while (next_is_column_name(p)) {
            *schema = parse_name(p);
            expect(p, '.');
        }
        char *text = operator_text(peek(p));
        if (text) {
            *name = text;
            advance(p);
        } else {
            fail_syntax(p);
        }
        expect(p, ')');
        return;
    }
    char *text = operator_text(peek(p));
    if (text) {
        *name = text;
        advance(p);
    } else {
        fail_syntax(p);
    }
}

static int operator_precedence(struct parser *p, bool restricted)
{
    const struct token *token = peek(p);

    switch (token->kind) {
    case '<': case '>': case '=': case TOKEN_LESS_EQUALS: case TOKEN_GREATER_EQUALS: case TOKEN_NOT_EQUALS:
        return PRECEDENCE_COMPARE;
    case '+': case '-': return PRECEDENCE_ADD;
    case '*': case '/': case '%': return PRECEDENCE_MULTIPLY;
    case '^': return PRECEDENCE_POWER;
    case TOKEN_OPERATOR: return PRECEDENCE_OPERATOR;
    case TOKEN_CAST: return PRECEDENCE_CAST;
    case TOKEN_KEYWORD: break;
    default: return PRECEDENCE_ANY;
    }
    switch ((int)token->keyword) {
    case KEYWORD_OPERATOR: return peek_at(p, 1)->kind == '(' ? PRECEDENCE_OPERATOR : PRECEDENCE_ANY;
    case KEYWORD_IS:
        if (restricted && !after_is_word(p, KEYWORD_DISTINCT) && !after_is_word(p, KEYWORD_NOT))
            return PRECEDENCE_ANY;
        return PRECEDENCE_IS;
    default: break;
    }
    if (restricted)
        return PRECEDENCE_ANY;
    switch ((int)token->keyword) {
    case KEYWORD_OR: return PRECEDENCE_OR;
    case KEYWORD_AND: return PRECEDENCE_AND;
    case KEYWORD_ISNULL: case KEYWORD_NOTNULL: return PRECEDENCE_IS;
    case KEYWORD_BETWEEN: case KEYWORD_IN: case KEYWORD_LIKE: case KEYWORD_ILIKE: case KEYWORD_OVERLAPS:
        return PRECEDENCE_LIKE;
    case KEYWORD_SIMILAR:                /* without TO it belongs to SUBSTRING */
        return after_is_word(p, KEYWORD_TO) ? PRECEDENCE_LIKE : PRECEDENCE_ANY;
    case KEYWORD_NOT:
        switch ((int)peek_at(p, 1)->keyword) {
        case KEYWORD_BETWEEN: case KEYWORD_IN: case KEYWORD_LIKE: case KEYWORD_ILIKE: case KEYWORD_SIMILAR:
            return PRECEDENCE_LIKE;
        default: return PRECEDENCE_ANY;
        }
    case KEYWORD_AT: return after_is_word(p, KEYWORD_TIME) ? PRECEDENCE_AT : PRECEDENCE_ANY;
    case KEYWORD_COLLATE: return PRECEDENCE_COLLATE;
    default: return PRECEDENCE_ANY;
    }
}

/* ( ... ): a query, or expressions; one expression unless `many`. */
static struct select *query_or_list(struct parser *p, struct expr_list *list, bool many)
{
    struct select *select = NULL;
    struct expr *first;

    expect(p, '(');
    if (!depth_enter(p)) {
        first = literal_integer(p, 0, 0);
        LIST_ADD(p, *list, first);
        return NULL;
    }
    if (select_is_ahead(p)) {
        select = parse_select(p);
        expect(p, ')');
        depth_leave(p);
        return select;
    }
    if (next_is(p, '(')) {
        /* ((SELECT 1) UNION SELECT 2), ((SELECT 1)) or ((SELECT 1) + 2): what follows the inner one tells. */
        int at = position(p), height = p->height;
        p->height = 0;
        struct expr *inner = parse_parenthesised(p, &select);
        if (select && (select_goes_on(p) || next_is(p, ')'))) {
            if (select_goes_on(p))
                select = parse_select_rest(p, select);
            expect(p, ')');
            depth_leave(p);
            height_raise(p, height);
            return select;
        }
        if (select)
            inner = subquery_new(p, select, at);
        first = operators(p, parse_indirection(p, inner), PRECEDENCE_ANY, false);
        height_raise(p, height);
    } else {
        first = parse_expr(p);
    }
    LIST_ADD(p, *list, first);
    while (many && accept(p, ','))
        LIST_ADD(p, *list, parse_expr(p));
    expect(p, ')');
    depth_leave(p);
    return NULL;
}

struct expr *parse_parenthesised(struct parser *p, struct select **select)
{
    struct expr_list list = {0};
    int at = position(p);

    *select = query_or_list(p, &list, true);
    if (*select)
        return NULL;
    if (list.count == 1)
        return list.items[0];
    struct expr *row = expr_new(p, EXPR_ROW, at);
    row->row.list = list;
    return row;
}

/* op ANY (...), op ALL (...); the operator is consumed, ANY, SOME or ALL is next. */
static struct expr *parse_any(struct parser *p, struct expr *left, char *schema, char *name, int at)
{
    struct expr *expr = expr_new(p, next_is_word(p, KEYWORD_ALL) ? EXPR_ALL : EXPR_ANY, at);
    struct expr_list list = {0};

    advance(p);
    expr->any.schema = schema;
    expr->any.name = name;
    expr->any.left = left;
    expr->any.select = query_or_list(p, &list, false);
    if (!expr->any.select)
        expr->any.array = list.items[0];
    return expr;
}

static bool any_is_ahead(struct parser *p)
{
    return next_is_word(p, KEYWORD_ANY) || next_is_word(p, KEYWORD_SOME) || next_is_word(p, KEYWORD_ALL);
}

static struct expr *parse_is(struct parser *p, struct expr *left, bool restricted, bool *distinct)
{
    int at = position(p);
    advance(p);
    bool negated = accept_word(p, KEYWORD_NOT);

    if (accept_word(p, KEYWORD_DISTINCT)) {
        expect_word(p, KEYWORD_FROM);
        struct expr *expr = expr_new(p, EXPR_DISTINCT, at);
        expr->distinct.negated = negated;
        expr->distinct.left = left;
        expr->distinct.right = expr_level(p, PRECEDENCE_IS + 1, restricted);
        *distinct = true;
        return expr;
    }
    struct expr *expr = expr_new(p, EXPR_IS, at);
    expr->is.operand = left;
    if (restricted)
        fail_syntax(p);
    else if (accept_word(p, KEYWORD_NULL))
        expr->is.test = negated ? IS_NOT_NULL : IS_NULL;
    else if (accept_word(p, KEYWORD_TRUE))
        expr->is.test = negated ? IS_NOT_TRUE : IS_TRUE;
    else if (accept_word(p, KEYWORD_FALSE))
        expr->is.test = negated ? IS_NOT_FALSE : IS_FALSE;
    else if (accept_word(p, KEYWORD_UNKNOWN))
        expr->is.test = negated ? IS_NOT_UNKNOWN : IS_UNKNOWN;
    else if (next_is_word(p, KEYWORD_DOCUMENT))
        syntax_fail_at(p, at, STATUS_FEATURE_NOT_SUPPORTED, "IS DOCUMENT is not supported");
    else if (next_is_word(p, KEYWORD_NORMALIZED) || next_is_word(p, KEYWORD_NFC) || next_is_word(p, KEYWORD_NFD) ||
             next_is_word(p, KEYWORD_NFKC) || next_is_word(p, KEYWORD_NFKD))
        syntax_fail_at(p, at, STATUS_FEATURE_NOT_SUPPORTED, "IS NORMALIZED is not supported");
    else
        fail_syntax(p);
    return expr;
}

/* [NOT] LIKE, ILIKE, SIMILAR TO, with ANY/ALL or a pattern. */
static struct expr *parse_like(struct parser *p, struct expr *left, bool negated, int at, bool *associates)
{
    enum like_kind kind = next_is_word(p, KEYWORD_LIKE)    ? LIKE_LIKE
                          : next_is_word(p, KEYWORD_ILIKE) ? LIKE_ILIKE
                                                           : LIKE_SIMILAR;
    advance(p);
    if (kind == LIKE_SIMILAR) {
        expect_word(p, KEYWORD_TO);
    } else if (any_is_ahead(p)) {
        *associates = true;
        char *name = kind == LIKE_LIKE ? (negated ? "!~~" : "~~") : (negated ? "!~~*" : "~~*");
        return parse_any(p, left, NULL, name, at);
    }
    struct expr *expr = expr_new(p, EXPR_LIKE, at);
    expr->like.kind = kind;
    expr->like.negated = negated;
    expr->like.left = left;
    expr->like.pattern = expr_level(p, PRECEDENCE_LIKE + 1, false);
    if (accept_word(p, KEYWORD_ESCAPE))
        expr->like.escape = expr_level(p, PRECEDENCE_LIKE + 1, false);
    return expr;
}

/* BETWEEN, IN, LIKE, ILIKE, SIMILAR, each with or without NOT. Sets *associates where another may follow. */
static struct expr *parse_range(struct parser *p, struct expr *left, bool *associates)
{
    int at = position(p);
    bool negated = accept_word(p, KEYWORD_NOT);

    if (accept_word(p, KEYWORD_BETWEEN)) {
        struct expr *expr = expr_new(p, EXPR_BETWEEN, at);
        expr->between.negated = negated;
        expr->between.symmetric = accept_word(p, KEYWORD_SYMMETRIC);
        if (!expr->between.symmetric)
            accept_word(p, KEYWORD_ASYMMETRIC);
        expr->between.operand = left;
        expr->between.low = parse_restricted_expr(p);
        expect_word(p, KEYWORD_AND);
        expr->between.high = expr_level(p, PRECEDENCE_LIKE + 1, false);
        return expr;
    }
    if (accept_word(p, KEYWORD_IN)) {
        struct expr *expr = expr_new(p, EXPR_IN, at);
        *associates = true;
        expr->in.negated = negated;
        expr->in.left = left;
        expr->in.select = query_or_list(p, &expr->in.list, true);
        return expr;
    }
    return parse_like(p, left, negated, at, associates);
}

static struct expr *parse_overlaps(struct parser *p, struct expr *left)
{
    int at = position(p);
    struct expr *expr = expr_new(p, EXPR_FUNCTION, at);

    if (left->kind != EXPR_ROW) {
        fail_syntax(p);
        return left;
    }
    advance(p);
    struct expr *right = expr_level(p, PRECEDENCE_LIKE + 1, false);
    if (left->row.list.count != 2)
        syntax_fail_at(p, left->position, STATUS_SYNTAX, "wrong number of parameters on left side of OVERLAPS expression");
    if (right->kind != EXPR_ROW || right->row.list.count != 2)
        syntax_fail_at(p, right->position, STATUS_SYNTAX, "wrong number of parameters on right side of OVERLAPS expression");
    if (failed(p))
        return left;
    expr->function.schema = "pg_catalog";
    expr->function.name = "overlaps";
    expr->function.sql_syntax = true;
    for (int i = 0; i < 2; i++)
        LIST_ADD(p, expr->function.arguments, left->row.list.items[i]);
    for (int i = 0; i < 2; i++)
        LIST_ADD(p, expr->function.arguments, right->row.list.items[i]);
    return expr;
}

/* AND and OR: one node for a whole chain. */
static struct expr *parse_junction(struct parser *p, struct expr *left, enum expr_kind kind, int precedence)
{
    int at = position(p);
    struct expr *expr = left;

    advance(p);
    struct expr *right = expr_level(p, precedence + 1, false);
    if (left->kind != kind) {
        expr = expr_new(p, kind, at);
        LIST_ADD(p, expr->list, left);
    }
    LIST_ADD(p, expr->list, right);
    return expr;
}

/* ~~ and its kin are LIKE by another name (it's what deparse prints): one node for both. */
static struct expr *like_operator(struct parser *p, char *schema, char *name, struct expr *left, struct expr *right,
                                  int at)
{
    bool negated = name[0] == '!';
    const char *rest = name + negated;

    if (schema || (strcmp(rest, "~~") != 0 && strcmp(rest, "~~*") != 0))
        return operator_new(p, schema, name, left, right, at);
    struct expr *like = expr_new(p, EXPR_LIKE, at);
    like->like.kind = rest[2] ? LIKE_ILIKE : LIKE_LIKE;
    like->like.negated = negated;
    like->like.left = left;
    like->like.pattern = right;
    return like;
}

/* Takes operators that bind at least as tightly as `least`. On entry p->height is left's, on return the result's. */
static struct expr *operators(struct parser *p, struct expr *left, int least, bool restricted)
{
    int closed = -1;                     /* precedence at which another operator is an error: it doesn't associate */

    for (;;) {
        int precedence = operator_precedence(p, restricted);
        if (precedence == PRECEDENCE_ANY || precedence < least)
            return left;
        if (precedence == closed) {
            fail_syntax(p);
            return left;
        }
        int left_height = p->height, at = position(p);
        bool taller = true;
        p->height = 0;
        closed = -1;

        switch (precedence) {
        case PRECEDENCE_OR:
        case PRECEDENCE_AND: {
            enum expr_kind kind = precedence == PRECEDENCE_OR ? EXPR_OR : EXPR_AND;
            taller = left->kind != kind;
            left = parse_junction(p, left, kind, precedence);
            break;
        }
        case PRECEDENCE_IS:
            if (next_is_word(p, KEYWORD_IS)) {
                bool distinct = false;
                left = parse_is(p, left, restricted, &distinct);
                if (distinct)
                    closed = PRECEDENCE_IS;
            } else {
                struct expr *is = expr_new(p, EXPR_IS, at);
                is->is.test = next_is_word(p, KEYWORD_ISNULL) ? IS_NULL : IS_NOT_NULL;
                is->is.operand = left;
                advance(p);
                left = is;
            }
            break;
        case PRECEDENCE_LIKE: {
            bool associates = false;
            if (next_is_word(p, KEYWORD_OVERLAPS))
                left = parse_overlaps(p, left);
            else
                left = parse_range(p, left, &associates);
            if (!associates)
                closed = PRECEDENCE_LIKE;
            break;
        }
        case PRECEDENCE_AT: {
            struct expr *call = expr_new(p, EXPR_FUNCTION, at);
            advance(p);
            advance(p);
            expect_word(p, KEYWORD_ZONE);
            call->function.schema = "pg_catalog";
            call->function.name = "timezone";
            call->function.sql_syntax = true;
            LIST_ADD(p, call->function.arguments, expr_level(p, PRECEDENCE_AT + 1, restricted));
            LIST_ADD(p, call->function.arguments, left);
            left = call;
            break;
        }
        case PRECEDENCE_COLLATE: {
            struct expr *collate = expr_new(p, EXPR_COLLATE, at);
            advance(p);
            collate->collate.operand = left;
            parse_any_name(p, &collate->collate.schema, &collate->collate.name);
            left = collate;
            break;
        }
        case PRECEDENCE_CAST: {
            struct expr *cast = expr_new(p, EXPR_CAST, at);
            advance(p);
            cast->cast.operand = left;
            cast->cast.type = parse_type(p);
            left = cast;
            break;
        }
        default: {
            char *schema, *name;
            parse_operator(p, &schema, &name);
            if (any_is_ahead(p) && !restricted) {
                left = parse_any(p, left, schema, name, at);
                break;
            }
            struct expr *right = expr_level(p, precedence + 1, restricted);
            left = like_operator(p, schema, name, left, right, at);
            if (precedence == PRECEDENCE_COMPARE)
                closed = PRECEDENCE_COMPARE;
            break;
        }
        }
        if (failed(p))
            return left;
        int height = (p->height > left_height ? p->height : left_height) + taller;
        p->height = 0;
        height_raise(p, height);
    }
}

/* -5 is a literal, so that the smallest integers can be written. */
static struct expr *negate(struct parser *p, struct expr *operand, int at)
{
    if (operand->kind == EXPR_LITERAL &&
        (operand->literal.kind == LITERAL_INTEGER || operand->literal.kind == LITERAL_NUMERIC)) {
        char *text = operand->literal.text;
        text = text[0] == '-' ? text + 1 : arena_printf(p->arena, "-%s", text);
        operand->position = at;
        operand->literal.text = text;
        operand->literal.length = (int)strlen(text);
        if (operand->literal.kind == LITERAL_INTEGER) {
            if (__builtin_sub_overflow(0, operand->literal.integer, &operand->literal.integer))
                operand->literal.kind = LITERAL_NUMERIC;
        } else if (strcmp(text, "-9223372036854775808") == 0) {
            operand->literal.kind = LITERAL_INTEGER;
            operand->literal.integer = INT64_MIN;
        }
        return operand;
    }
    return operator_new(p, NULL, "-", NULL, operand, at);
}

static struct expr *operand(struct parser *p, bool restricted)
{
    const struct token *token = peek(p);
    int at = token->start + 1;

    switch (token->kind) {
    case '-':
        advance(p);
        return negate(p, expr_level(p, PRECEDENCE_SIGN, restricted), at);
    case '+':
        advance(p);
        return operator_new(p, NULL, "+", NULL, expr_level(p, PRECEDENCE_SIGN, restricted), at);
    case TOKEN_OPERATOR: {
        char *name = token->text;
        advance(p);
        return operator_new(p, NULL, name, NULL, expr_level(p, PRECEDENCE_OPERATOR + 1, restricted), at);
    }
    case TOKEN_KEYWORD:
        if (token->keyword == KEYWORD_NOT && !restricted) {
            struct expr *expr = expr_new(p, EXPR_NOT, at);
            advance(p);
            expr->unary.operand = expr_level(p, PRECEDENCE_NOT, false);
            return expr;
        }
        if (token->keyword == KEYWORD_DEFAULT && !restricted) {
            advance(p);
            return expr_new(p, EXPR_DEFAULT, at);
        }
        if (token->keyword == KEYWORD_OPERATOR && peek_at(p, 1)->kind == '(') {
            char *schema, *name;
            parse_operator(p, &schema, &name);
            return operator_new(p, schema, name, NULL, expr_level(p, PRECEDENCE_OPERATOR + 1, restricted), at);
        }
        break;
    default:
        break;
    }
    return parse_primary(p);
}

static struct expr *expr_level(struct parser *p, int least, bool restricted)
{
    int outer_height = p->height;

    if (!depth_enter(p))
        return literal_integer(p, 0, 0);
    p->height = 0;
    struct expr *expr = operand(p, restricted);
    expr = operators(p, expr, least, restricted);
    height_raise(p, p->height + 1);
    height_raise(p, outer_height);
    depth_leave(p);
    return expr;
}

struct expr *parse_expr(struct parser *p) { return expr_level(p, PRECEDENCE_ANY, false); }
struct expr *parse_restricted_expr(struct parser *p) { return expr_level(p, PRECEDENCE_ANY, true); }

void parse_exprs(struct parser *p, struct expr_list *list)
{
    do {
        LIST_ADD(p, *list, parse_expr(p));
    } while (accept(p, ','));
}

/* ---- primaries ---- */

/* .name, .*, [i], [i:j] after an operand, in any number. NULL as operand: of a column that is assigned to. */
struct expr *parse_indirection(struct parser *p, struct expr *operand)
{
    while (next_is(p, '.') || next_is(p, '[')) {
        int at = position(p);
        if (accept(p, '.')) {
            struct expr *field = expr_new(p, EXPR_FIELD, at);
            field->field.operand = operand;
            if (accept(p, '*')) {
                field->field.star = true;
                return field;
            }
            field->field.name = parse_label(p);
            operand = field;
        } else {
            struct expr *subscript = operand;
            if (!subscript || subscript->kind != EXPR_SUBSCRIPT) {   /* a[1][2] is one node with two subscripts */
                subscript = expr_new(p, EXPR_SUBSCRIPT, at);
                subscript->subscript.operand = operand;
            }
            advance(p);
            struct subscript one = {0};
            if (!next_is(p, ':'))
                one.upper = parse_expr(p);
            if (accept(p, ':')) {
                one.is_slice = true;
                one.lower = one.upper;
                one.upper = next_is(p, ']') ? NULL : parse_expr(p);
            }
            expect(p, ']');
            LIST_ADD(p, subscript->subscript, one);
            operand = subscript;
        }
        height_raise(p, p->height + 1);
    }
    return operand;
}

static struct expr *cast_new(struct parser *p, struct expr *operand, struct type_name *type, int position)
{
    struct expr *cast = expr_new(p, EXPR_CAST, position);
    cast->cast.operand = operand;
    cast->cast.type = type;
    return cast;
}

/* A name with its dots: a column, a call, or the type of a literal. */
static struct expr *parse_named(struct parser *p, bool may_be_column)
{
    int at = position(p);
    struct expr *expr = expr_new(p, EXPR_COLUMN, at);
    char **names = arena_alloc(p->arena, 4 * sizeof *names);
    int count = 0;
    bool star = false;

    names[count++] = peek(p)->text;
    advance(p);
    while (next_is(p, '.')) {
        if (peek_at(p, 1)->kind != '*' && !token_is_label(peek_at(p, 1))) {
            advance(p);
            fail_syntax(p);
            break;
        }
        advance(p);
        if (accept(p, '*')) {
            star = true;
            break;
        }
        if (count == 4) {
            syntax_fail_at(p, at, STATUS_SYNTAX, "improper qualified name (too many dotted names): %s.%s.%s.%s.%s", names[0],
                    names[1], names[2], names[3], peek(p)->text);
            break;
        }
        names[count++] = parse_label(p);
    }
    char *name = names[count - 1], *schema = count > 1 ? names[count - 2] : NULL;
    if (!star && next_is(p, '(')) {
        struct expr *call = parse_call(p, schema, name, at);
        if (next_is(p, TOKEN_STRING) && !call->function.over && !call->function.filter && !call->function.star) {
            struct type_name *type = arena_new(p->arena, struct type_name);      /* money(2) '1.50' */
            *type = (struct type_name){.schema = schema, .name = name, .position = at};
            type->modifiers = call->function.arguments;
            return cast_new(p, literal_token(p, LITERAL_STRING), type, at);
        }
        return call;
    }
    if (!star && next_is(p, TOKEN_STRING)) {
        struct type_name *type = arena_new(p->arena, struct type_name);
        *type = (struct type_name){.schema = schema, .name = name, .position = at};
        return cast_new(p, literal_token(p, LITERAL_STRING), type, at);
    }
    if (!may_be_column && !star && count == 1)
        fail_syntax(p);
    expr->column.names = names;
    expr->column.count = count;
    expr->column.star = star;
    return star ? expr : parse_indirection(p, expr);
}

/* int '1', timestamp(3) '...', interval '1' day */
static struct expr *parse_typed_literal(struct parser *p)
{
    int at = position(p);
    struct type_name *type = parse_constant_type(p);
    if (!next_is(p, TOKEN_STRING)) {
        fail_syntax(p);
        return literal_integer(p, 0, at);
    }
    struct expr *literal = literal_token(p, LITERAL_STRING);
    if (strcmp(type->name, "interval") == 0 && type->modifiers.count == 0)
        parse_interval_fields(p, type);
    return cast_new(p, literal, type, at);
}

static struct expr *parse_case(struct parser *p)
{
    struct expr *expr = expr_new(p, EXPR_CASE, position(p));

    advance(p);
    if (!next_is_word(p, KEYWORD_WHEN))
        expr->case_.operand = parse_expr(p);
    struct { struct case_when **items; int count; } whens = {0};
    do {
        struct case_when *when = arena_new(p->arena, struct case_when);
        when->position = position(p);
        expect_word(p, KEYWORD_WHEN);
        when->condition = parse_expr(p);
        expect_word(p, KEYWORD_THEN);
        when->result = parse_expr(p);
        LIST_ADD(p, whens, when);
    } while (next_is_word(p, KEYWORD_WHEN));
    expr->case_.whens = whens.items;
    expr->case_.count = whens.count;
    if (accept_word(p, KEYWORD_ELSE))
        expr->case_.otherwise = parse_expr(p);
    expect_word(p, KEYWORD_END);
    return expr;
}

/* [a, [b, c]] of ARRAY; at the bracket. */
static struct expr *parse_array(struct parser *p, int at)
{
    struct expr *expr = expr_new(p, EXPR_ARRAY, at);

    expect(p, '[');
    if (!depth_enter(p))
        return expr;
    if (!next_is(p, ']')) {
        bool nested = next_is(p, '[');
        do {
            LIST_ADD(p, expr->list, nested ? parse_array(p, position(p)) : parse_expr(p));
        } while (accept(p, ','));
    }
    expect(p, ']');
    depth_leave(p);
    return expr;
}

static struct expr *parse_keyword_primary(struct parser *p)
{
    const struct token *token = peek(p);
    int at = token->start + 1, after = peek_at(p, 1)->kind;
    token = peek(p);

    switch ((int)token->keyword) {
    case KEYWORD_NULL: return literal_plain(p, LITERAL_NULL, false);
    case KEYWORD_TRUE: return literal_plain(p, LITERAL_BOOLEAN, true);
    case KEYWORD_FALSE: return literal_plain(p, LITERAL_BOOLEAN, false);
    case KEYWORD_CASE: return parse_case(p);
    case KEYWORD_ARRAY:
        advance(p);
        if (next_is(p, '(')) {
            struct expr *expr = expr_new(p, EXPR_ARRAY_SUBQUERY, at);
            expr->select = parse_select_in_parentheses(p);
            return expr;
        }
        return parse_array(p, at);
    case KEYWORD_EXISTS:
        if (after == '(') {
            struct expr *expr = expr_new(p, EXPR_EXISTS, at);
            advance(p);
            expr->select = parse_select_in_parentheses(p);
            return expr;
        }
        break;
    case KEYWORD_ROW:
        if (after == '(') {
            struct expr *expr = expr_new(p, EXPR_ROW, at);
            advance(p);
            advance(p);
            expr->row.explicit_row = true;
            if (!next_is(p, ')'))
                parse_exprs(p, &expr->row.list);
            expect(p, ')');
            return expr;
        }
        break;
    default:
        break;
    }
    if (type_is_ahead(p))
        return parse_typed_literal(p);
    struct expr *special = parse_special(p);
    if (special)
        return special;

    switch (keyword_table[peek(p)->keyword].class) {
    case CLASS_UNRESERVED:
        return parse_named(p, true);
    case CLASS_COLUMN_NAME:
        if (after == '(') {
            advance(p);
            break;
        }
        return parse_named(p, true);
    case CLASS_FUNCTION_NAME:
        if (after == '(' || after == TOKEN_STRING)
            return parse_named(p, false);
        advance(p);                      /* a function's name: what follows is wrong */
        break;
    default:
        break;
    }
    fail_syntax(p);
    return literal_integer(p, 0, at);
}

struct expr *parse_primary(struct parser *p)
{
    const struct token *token = peek(p);
    int at = token->start + 1;

    switch (token->kind) {
    case TOKEN_IDENTIFIER: return parse_named(p, true);
    case TOKEN_INTEGER: return literal_token(p, LITERAL_INTEGER);
    case TOKEN_NUMERIC: return literal_token(p, LITERAL_NUMERIC);
    case TOKEN_STRING: return literal_token(p, LITERAL_STRING);
    case TOKEN_BITS: return literal_token(p, LITERAL_BITS);
    case TOKEN_HEX: return literal_token(p, LITERAL_HEX);
    case TOKEN_PARAMETER: {
        struct expr *expr = expr_new(p, EXPR_PARAMETER, at);
        if (token->integer < 1 || token->integer > 65535) {
            syntax_fail_at(p, at, STATUS_UNDEFINED_PARAMETER, "there is no parameter $%lld", (long long)token->integer);
            return expr;
        }
        expr->parameter = (int)token->integer;
        if (expr->parameter > p->parameter_count)
            p->parameter_count = expr->parameter;
        advance(p);
        return parse_indirection(p, expr);
    }
    case '(': {
        struct select *select;
        struct expr *expr = parse_parenthesised(p, &select);
        if (select)
            expr = subquery_new(p, select, at);
        return parse_indirection(p, expr);
    }
    case TOKEN_KEYWORD: return parse_keyword_primary(p);
    default:
        fail_syntax(p);
        return literal_integer(p, 0, at);
    }
}
