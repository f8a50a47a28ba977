/* parser/from.c - what stands in FROM: tables, subqueries, functions, and their joins.
 *
 * a JOIN b JOIN c ON x ON y: the join of b and c comes first, as its ON does. So after the right side of a join that
 * needs ON or USING, more joins belong to that right side until the ON is met. CROSS and NATURAL need none. */
#include "parser/internal.h"

static struct from_item *parse_item(struct parser *);
static struct from_item *parse_joins(struct parser *, struct from_item *left);

static struct from_item *item_new(struct parser *p, enum from_kind kind, int position)
{
    struct from_item *item = arena_new(p->arena, struct from_item);
    item->kind = kind;
    item->position = position;
    return item;
}

/* (a int, b text) of a function that returns record; behind the parenthesis. */
static void parse_definitions(struct parser *p, struct from_item *item)
{
    struct { struct column_definition **items; int count; } list = {0};
    do {
        struct column_definition *column = arena_new(p->arena, struct column_definition);
        column->position = position(p);
        column->name = parse_name(p);
        column->type = parse_type(p);
        if (accept_word(p, KEYWORD_COLLATE))
            parse_any_name(p, &column->collation_schema, &column->collation);
        LIST_ADD(p, list, column);
    } while (accept(p, ','));
    item->definitions = list.items;
    item->definition_count = list.count;
}

/* [AS] alias [(columns)]; for a function also AS (definitions) and AS alias (definitions). */
static void parse_alias(struct parser *p, struct from_item *item)
{
    bool as = accept_word(p, KEYWORD_AS);
    bool function = item->kind == FROM_FUNCTION;

    if (as && function && accept(p, '(')) {
        parse_definitions(p, item);
        expect(p, ')');
        return;
    }
    if (!as && !next_is_column_name(p))
        return;
    item->alias = parse_name(p);
    if (!accept(p, '('))
        return;
    int after = peek_at(p, 1)->kind;
    if (function && after != ',' && after != ')')
        parse_definitions(p, item);
    else
        parse_names(p, &item->columns);
    expect(p, ')');
}

static void parse_sample(struct parser *p, struct from_item *item)
{
    if (!accept_word(p, KEYWORD_TABLESAMPLE))
        return;
    item->sample_method = parse_label(p);
    while (accept(p, '.'))
        item->sample_method = parse_label(p);
    expect(p, '(');
    parse_exprs(p, &item->sample_arguments);
    expect(p, ')');
    if (accept_word(p, KEYWORD_REPEATABLE)) {
        expect(p, '(');
        item->sample_seed = parse_expr(p);
        expect(p, ')');
    }
}

static void parse_function_tail(struct parser *p, struct from_item *item)
{
    if (next_is_word(p, KEYWORD_WITH) && after_is_word(p, KEYWORD_ORDINALITY)) {
        advance(p);
        advance(p);
        item->with_ordinality = true;
    }
    parse_alias(p, item);
}

static struct from_item *parse_rows_from(struct parser *p)
{
    struct from_item *item = item_new(p, FROM_FUNCTION, position(p));

    advance(p);
    advance(p);
    item->rows_from = true;
    expect(p, '(');
    do {
        struct expr *call = parse_primary(p);
        if (next_is_word(p, KEYWORD_AS))
            syntax_fail_at(p, position(p), STATUS_FEATURE_NOT_SUPPORTED,
                    "column definitions inside ROWS FROM are not supported");
        LIST_ADD(p, item->functions, call);
    } while (accept(p, ','));
    expect(p, ')');
    parse_function_tail(p, item);
    return item;
}

/* A table, or a function that its parenthesis gives away. */
static struct from_item *parse_named_item(struct parser *p)
{
    int at = position(p);
    const struct token *first = peek(p);
    bool plain_name = next_is_column_name(p);

    if (first->kind == TOKEN_KEYWORD && keyword_table[first->keyword].class != CLASS_UNRESERVED &&
        (!plain_name || peek_at(p, 1)->kind == '(')) {           /* LEFT(...), CURRENT_DATE, COALESCE(...) */
        struct from_item *item = item_new(p, FROM_FUNCTION, at);
        struct expr *call = parse_special(p);
        if (!call && next_is_function_name(p) && peek_at(p, 1)->kind == '(')
            call = parse_primary(p);
        if (!call) {
            if (next_is_function_name(p))
                advance(p);
            fail_syntax(p);
            call = expr_new(p, EXPR_LITERAL, at);
        }
        LIST_ADD(p, item->functions, call);
        parse_function_tail(p, item);
        return item;
    }
    if (first->keyword == KEYWORD_ROWS && after_is_word(p, KEYWORD_FROM))
        return parse_rows_from(p);

    struct relation_name *relation = parse_relation_name(p);
    if (next_is(p, '(')) {
        struct from_item *item = item_new(p, FROM_FUNCTION, at);
        struct expr *call = parse_call(p, relation->schema, relation->name, at);
        if (call->function.over)
            syntax_fail_at(p, call->function.over->position, STATUS_SYNTAX, "syntax error at or near \"over\"");
        LIST_ADD(p, item->functions, call);
        parse_function_tail(p, item);
        return item;
    }
    struct from_item *item = item_new(p, FROM_TABLE, at);
    item->relation = relation;
    accept(p, '*');
    parse_alias(p, item);
    parse_sample(p, item);
    return item;
}

static struct from_item *subquery_item(struct parser *p, struct select *select, int at)
{
    struct from_item *item = item_new(p, FROM_SUBQUERY, at);

    item->select = select;
    parse_alias(p, item);
    if (!item->alias && !failed(p)) {
        bool values = select->row_count > 0;
        syntax_fail_at(p, at, STATUS_SYNTAX, values ? "VALUES in FROM must have an alias"
                                             : "subquery in FROM must have an alias");
        error_hint("For example, FROM (%s ...) [AS] foo.", values ? "VALUES" : "SELECT");
    }
    return item;
}

/* ( query ) or ( join ): one of the two comes back. */
static struct from_item *parse_parentheses(struct parser *p, struct select **select)
{
    struct from_item *item = NULL;

    *select = NULL;
    expect(p, '(');
    if (select_is_ahead(p)) {
        *select = parse_select(p);
        expect(p, ')');
        return NULL;
    }
    if (!depth_enter(p))
        return item_new(p, FROM_TABLE, 0);
    if (next_is(p, '(')) {
        int at = position(p);
        item = parse_parentheses(p, select);
        if (*select && (select_goes_on(p) || next_is(p, ')'))) {
            if (select_goes_on(p))
                *select = parse_select_rest(p, *select);
            expect(p, ')');
            depth_leave(p);
            return NULL;
        }
        if (*select)
            item = subquery_item(p, *select, at);
        else
            parse_alias(p, item);
        *select = NULL;
    } else {
        item = parse_item(p);
    }
    struct from_item *join = parse_joins(p, item);
    if (join->kind != FROM_JOIN || (join == item && !join->alias))
        fail_syntax(p);                  /* FROM (t) is none */
    expect(p, ')');
    depth_leave(p);
    return join;
}

static struct from_item *parse_item(struct parser *p)
{
    int at = position(p);

    if (next_is(p, '(')) {
        struct select *select;
        struct from_item *item = parse_parentheses(p, &select);
        if (select)
            return subquery_item(p, select, at);
        parse_alias(p, item);
        return item;
    }
    if (accept_word(p, KEYWORD_LATERAL)) {
        struct from_item *item;
        if (next_is(p, '(')) {
            int query_at = position(p);
            struct select *select = parse_select_in_parentheses(p);
            item = subquery_item(p, select, query_at);
        } else {
            item = parse_named_item(p);
            if (item->kind != FROM_FUNCTION)
                fail_syntax(p);
        }
        item->lateral = true;
        return item;
    }
    if (next_is_word(p, KEYWORD_ONLY)) {
        struct from_item *item = item_new(p, FROM_TABLE, at);
        item->relation = parse_relation_expr(p);
        parse_alias(p, item);
        parse_sample(p, item);
        return item;
    }
    return parse_named_item(p);
}

static bool join_is_ahead(struct parser *p)
{
    switch ((int)peek(p)->keyword) {
    case KEYWORD_JOIN: case KEYWORD_CROSS: case KEYWORD_NATURAL: case KEYWORD_INNER: case KEYWORD_LEFT:
    case KEYWORD_RIGHT: case KEYWORD_FULL:
        return true;
    default:
        return false;
    }
}

/* One join onto left; a join word is next. */
static struct from_item *parse_join(struct parser *p, struct from_item *left)
{
    struct from_item *join = item_new(p, FROM_JOIN, left->position);
    int height = p->height;

    join->left = left;
    if (accept_word(p, KEYWORD_CROSS)) {
        join->join = JOIN_CROSS;
        expect_word(p, KEYWORD_JOIN);
        join->right = parse_item(p);
        height_raise(p, height + 1);
        return join;
    }
    join->natural = accept_word(p, KEYWORD_NATURAL);
    if (accept_word(p, KEYWORD_LEFT))
        join->join = JOIN_LEFT;
    else if (accept_word(p, KEYWORD_RIGHT))
        join->join = JOIN_RIGHT;
    else if (accept_word(p, KEYWORD_FULL))
        join->join = JOIN_FULL;
    else
        accept_word(p, KEYWORD_INNER);
    if (join->join != JOIN_INNER)
        accept_word(p, KEYWORD_OUTER);
    expect_word(p, KEYWORD_JOIN);
    join->right = parse_item(p);
    if (join->natural) {
        height_raise(p, height + 1);
        return join;
    }
    if (join_is_ahead(p) && depth_enter(p)) {
        while (join_is_ahead(p))
            join->right = parse_join(p, join->right);
        if (!failed(p))
            depth_leave(p);
    }
    if (accept_word(p, KEYWORD_ON)) {
        join->on = parse_expr(p);
    } else {
        expect_word(p, KEYWORD_USING);
        parse_names_in_parentheses(p, &join->using_columns);
        if (accept_word(p, KEYWORD_AS))
            join->using_alias = parse_name(p);
    }
    height_raise(p, height + 1);
    return join;
}

static struct from_item *parse_joins(struct parser *p, struct from_item *left)
{
    while (join_is_ahead(p))
        left = parse_join(p, left);
    return left;
}

void parse_from(struct parser *p, struct from_list *list)
{
    int height = p->height;

    do {
        p->height = 0;
        struct from_item *item = parse_item(p);
        LIST_ADD(p, *list, parse_joins(p, item));
        height_raise(p, height);
        height = p->height;
    } while (accept(p, ','));
}
