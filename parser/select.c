/* parser/select.c - queries: WITH, SELECT, VALUES, TABLE, and what joins and orders them.
 *
 * A query is operands (a plain select, VALUES, TABLE, or a query in parentheses) under UNION, INTERSECT and EXCEPT,
 * then ORDER BY, LIMIT and locking for the whole. INTERSECT binds tighter; chains lean left and are built by a loop.
 *
 * ORDER BY and the rest may also come outside the parentheses of a query that has none: (SELECT 1 ORDER BY 1) LIMIT 1
 * is one node; the same clause twice is an error. */
#include "parser/internal.h"

static struct select *set_operations(struct parser *, struct select *left, int least);

bool select_is_ahead(struct parser *p)
{
    return next_is_word(p, KEYWORD_SELECT) || next_is_word(p, KEYWORD_VALUES) || next_is_word(p, KEYWORD_WITH) ||
           next_is_word(p, KEYWORD_TABLE);
}

bool select_goes_on(struct parser *p)
{
    switch ((int)peek(p)->keyword) {
    case KEYWORD_UNION: case KEYWORD_INTERSECT: case KEYWORD_EXCEPT: case KEYWORD_ORDER: case KEYWORD_LIMIT:
    case KEYWORD_OFFSET: case KEYWORD_FETCH: case KEYWORD_FOR:
        return true;
    default:
        return false;
    }
}

struct with *parse_with(struct parser *p)
{
    struct with *with = arena_new(p->arena, struct with);

    with->position = position(p);
    expect_word(p, KEYWORD_WITH);
    with->recursive = accept_word(p, KEYWORD_RECURSIVE);
    do {
        struct cte *cte = arena_new(p->arena, struct cte);
        cte->position = position(p);
        cte->name = parse_name(p);
        if (next_is(p, '('))
            parse_names_in_parentheses(p, &cte->columns);
        expect_word(p, KEYWORD_AS);
        if (accept_word(p, KEYWORD_MATERIALIZED))
            cte->materialized = MATERIALIZED_ALWAYS;
        else if (accept_words(p, KEYWORD_NOT, KEYWORD_MATERIALIZED))
            cte->materialized = MATERIALIZED_NEVER;
        expect(p, '(');
        int start = position(p);
        if (depth_enter(p)) {
            cte->statement = parse_preparable(p);
            depth_leave(p);
        } else {
            cte->statement = statement_new(p, STATEMENT_SELECT, sizeof(struct select));
        }
        cte->statement->start = start;
        cte->statement->length = p->last_end + 1 - start;
        expect(p, ')');
        if (next_is_word(p, KEYWORD_SEARCH) || next_is_word(p, KEYWORD_CYCLE))
            syntax_fail_at(p, position(p), STATUS_FEATURE_NOT_SUPPORTED, "SEARCH and CYCLE clauses are not supported");
        LIST_ADD(p, *with, cte);
    } while (accept(p, ','));
    return with;
}

/* ---- the plain select ---- */

void parse_targets(struct parser *p, struct target_list *list)
{
    do {
        struct target *target = arena_new(p->arena, struct target);
        target->position = position(p);
        if (next_is(p, '*')) {
            target->expr = expr_new(p, EXPR_COLUMN, position(p));
            target->expr->column.star = true;
            advance(p);
        } else {
            target->expr = parse_expr(p);
            if (accept_word(p, KEYWORD_AS))
                target->name = parse_label(p);
            else if (token_is_bare_label(peek(p)))
                target->name = parse_label(p);
        }
        LIST_ADD(p, *list, target);
    } while (accept(p, ','));
}

static struct expr *parse_group_item(struct parser *p)
{
    int at = position(p);
    enum grouping_kind kind;
    const struct token *after = peek_at(p, 1);

    if (next_is(p, '(') && after->kind == ')') {
        advance(p);
        advance(p);
        return expr_new(p, EXPR_GROUPING_SET, at);
    }
    if (next_is_word(p, KEYWORD_ROLLUP) && after->kind == '(')
        kind = GROUPING_ROLLUP;
    else if (next_is_word(p, KEYWORD_CUBE) && after->kind == '(')
        kind = GROUPING_CUBE;
    else if (next_is_word(p, KEYWORD_GROUPING) && after->keyword == KEYWORD_SETS)
        kind = GROUPING_SETS;
    else
        return parse_expr(p);

    struct expr *set = expr_new(p, EXPR_GROUPING_SET, at);
    set->grouping_set.kind = kind;
    advance(p);
    if (kind == GROUPING_SETS)
        advance(p);
    expect(p, '(');
    if (!depth_enter(p))
        return set;
    do {
        LIST_ADD(p, set->grouping_set.list, kind == GROUPING_SETS ? parse_group_item(p) : parse_expr(p));
    } while (accept(p, ','));
    expect(p, ')');
    depth_leave(p);
    return set;
}

/* SELECT ... INTO makes a table; the statement takes it from here (see parse_query_statement). */
static void parse_into(struct parser *p)
{
    int at = position(p);
    struct create_table_as_statement *into = arena_new(p->arena, struct create_table_as_statement);

    if (accept_word(p, KEYWORD_TEMPORARY) || accept_word(p, KEYWORD_TEMP))
        into->persistence = PERSISTENCE_TEMPORARY;
    else if (accept_word(p, KEYWORD_UNLOGGED))
        into->persistence = PERSISTENCE_UNLOGGED;
    accept_word(p, KEYWORD_TABLE);
    into->select_into = true;
    into->relation = parse_relation_name(p);
    if (!p->into_allowed || p->into)
        syntax_fail_at(p, at, STATUS_SYNTAX, "SELECT ... INTO is not allowed here");
    p->into = into;
}

static struct select *parse_plain(struct parser *p)
{
    struct select *select = arena_new(p->arena, struct select);

    select->position = position(p);
    expect_word(p, KEYWORD_SELECT);
    bool into_allowed = p->into_allowed;
    p->into_allowed = false;             /* not in the subqueries of this select */
    if (accept_word(p, KEYWORD_DISTINCT)) {
        select->distinct = true;
        if (accept_word(p, KEYWORD_ON)) {
            expect(p, '(');
            parse_exprs(p, &select->distinct_on);
            expect(p, ')');
        }
    } else {
        accept_word(p, KEYWORD_ALL);
    }
    bool empty = next_is(p, ')') || next_is(p, ';') || next_is(p, TOKEN_END);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_FROM: case KEYWORD_WHERE: case KEYWORD_GROUP: case KEYWORD_HAVING: case KEYWORD_WINDOW:
    case KEYWORD_UNION: case KEYWORD_INTERSECT: case KEYWORD_EXCEPT: case KEYWORD_ORDER: case KEYWORD_LIMIT:
    case KEYWORD_OFFSET: case KEYWORD_FETCH: case KEYWORD_FOR: case KEYWORD_INTO: case KEYWORD_ON:
    case KEYWORD_RETURNING: case KEYWORD_WITH:
        empty = true;
        break;
    default:
        break;
    }
    if (!empty)
        parse_targets(p, &select->targets);
    else if (select->distinct)
        fail_syntax(p);                  /* DISTINCT wants columns, a plain SELECT doesn't */
    if (accept_word(p, KEYWORD_INTO)) {
        p->into_allowed = into_allowed;
        parse_into(p);
        p->into_allowed = false;
    }
    if (accept_word(p, KEYWORD_FROM))
        parse_from(p, &select->from);
    if (accept_word(p, KEYWORD_WHERE))
        select->where = parse_expr(p);
    if (accept_word(p, KEYWORD_GROUP)) {
        expect_word(p, KEYWORD_BY);
        select->has_group_by = true;
        if (accept_word(p, KEYWORD_DISTINCT))
            select->group_distinct = true;
        else
            accept_word(p, KEYWORD_ALL);
        do {
            LIST_ADD(p, select->group_by, parse_group_item(p));
        } while (accept(p, ','));
    }
    if (accept_word(p, KEYWORD_HAVING))
        select->having = parse_expr(p);
    if (accept_word(p, KEYWORD_WINDOW)) {
        do {
            char *name = parse_name(p);
            expect_word(p, KEYWORD_AS);
            struct window_definition *window = parse_window(p);
            window->name = name;
            LIST_ADD(p, select->windows, window);
        } while (accept(p, ','));
    }
    p->into_allowed = into_allowed;
    return select;
}

static struct select *parse_values(struct parser *p)
{
    struct select *select = arena_new(p->arena, struct select);
    struct { struct expr_list *items; int count; } rows = {0};

    select->position = position(p);
    expect_word(p, KEYWORD_VALUES);
    do {
        struct expr_list row = {0};
        expect(p, '(');
        parse_exprs(p, &row);
        expect(p, ')');
        LIST_ADD(p, rows, row);
    } while (accept(p, ','));
    select->rows = rows.items;
    select->row_count = rows.count;
    return select;
}

/* TABLE t is SELECT * FROM t. */
static struct select *parse_table_query(struct parser *p)
{
    struct select *select = arena_new(p->arena, struct select);
    struct target *target = arena_new(p->arena, struct target);
    struct from_item *item = arena_new(p->arena, struct from_item);

    select->position = target->position = position(p);
    expect_word(p, KEYWORD_TABLE);
    target->expr = expr_new(p, EXPR_COLUMN, 0);
    target->expr->column.star = true;
    LIST_ADD(p, select->targets, target);
    item->kind = FROM_TABLE;
    item->position = position(p);
    item->relation = parse_relation_expr(p);
    LIST_ADD(p, select->from, item);
    return select;
}

/* ---- set operations, and what follows a query ---- */

static struct select *set_operand(struct parser *p)
{
    if (next_is(p, '('))
        return parse_select_in_parentheses(p);
    if (next_is_word(p, KEYWORD_VALUES))
        return parse_values(p);
    if (next_is_word(p, KEYWORD_TABLE))
        return parse_table_query(p);
    return parse_plain(p);
}

static struct select *set_operations(struct parser *p, struct select *left, int least)
{
    for (;;) {
        enum set_operation set = next_is_word(p, KEYWORD_UNION)       ? SET_UNION
                                 : next_is_word(p, KEYWORD_EXCEPT)    ? SET_EXCEPT
                                 : next_is_word(p, KEYWORD_INTERSECT) ? SET_INTERSECT
                                                                      : SET_NONE;
        int precedence = set == SET_INTERSECT ? 2 : 1;
        if (set == SET_NONE || precedence < least)
            return left;

        struct select *node = arena_new(p->arena, struct select);
        node->position = position(p);
        advance(p);
        node->set = set;
        node->all = accept_word(p, KEYWORD_ALL);
        if (!node->all)
            accept_word(p, KEYWORD_DISTINCT);
        bool into_allowed = p->into_allowed;
        p->into_allowed = false;
        node->left = left;
        node->right = set_operand(p);
        if (set != SET_INTERSECT)
            node->right = set_operations(p, node->right, 2);
        p->into_allowed = into_allowed;
        left = node;
        height_raise(p, p->height + 1);
        if (failed(p))
            return left;
    }
}

static void twice(struct parser *p, bool present, int at, const char *clause)
{
    if (present)
        syntax_fail_at(p, at, STATUS_SYNTAX, "multiple %s clauses not allowed", clause);
}

static void parse_limit(struct parser *p, struct select *select)
{
    int at = position(p);

    if (accept_word(p, KEYWORD_LIMIT)) {
        twice(p, select->limit != NULL, position(p), "LIMIT");
        if (next_is_word(p, KEYWORD_ALL)) {
            select->limit = expr_new(p, EXPR_LITERAL, position(p));
            advance(p);
        } else {
            select->limit = parse_expr(p);
        }
        if (accept(p, ',')) {
            parse_expr(p);
            bool reached = !failed(p);
            syntax_fail_at(p, at, STATUS_SYNTAX, "LIMIT #,# syntax is not supported");
            if (reached)
                error_hint("Use separate LIMIT and OFFSET clauses.");
        }
    } else if (accept_word(p, KEYWORD_OFFSET)) {
        twice(p, select->offset != NULL, position(p), "OFFSET");
        select->offset = parse_expr(p);
        if (!accept_word(p, KEYWORD_ROW))
            accept_word(p, KEYWORD_ROWS);
    } else {
        expect_word(p, KEYWORD_FETCH);
        if (!accept_word(p, KEYWORD_FIRST))
            expect_word(p, KEYWORD_NEXT);
        twice(p, select->limit != NULL, position(p), "LIMIT");
        if (next_is_word(p, KEYWORD_ROW) || next_is_word(p, KEYWORD_ROWS))
            select->limit = literal_integer(p, 1, position(p));
        else if (next_is(p, '+') || next_is(p, '-'))
            select->limit = literal_integer(p, parse_signed_integer(p), at);
        else
            select->limit = parse_primary(p);
        if (!accept_word(p, KEYWORD_ROW))
            expect_word(p, KEYWORD_ROWS);
        if (accept_word(p, KEYWORD_WITH)) {
            expect_word(p, KEYWORD_TIES);
            select->with_ties = true;
            if (select->order_by.count == 0)
                syntax_fail_at(p, 0, STATUS_SYNTAX, "WITH TIES cannot be specified without ORDER BY clause");
        } else {
            expect_word(p, KEYWORD_ONLY);
        }
    }
}

static void parse_locking(struct parser *p, struct select *select)
{
    struct locking *locking = arena_new(p->arena, struct locking);
    struct { struct locking **items; int count; } all = {select->locking, select->locking_count};

    locking->position = position(p);
    expect_word(p, KEYWORD_FOR);
    if (accept_words(p, KEYWORD_READ, KEYWORD_ONLY))
        return;                          /* FOR READ ONLY says nothing */
    if (accept_word(p, KEYWORD_UPDATE))
        locking->strength = FOR_UPDATE;
    else if (accept_word(p, KEYWORD_SHARE))
        locking->strength = FOR_SHARE;
    else if (accept_word(p, KEYWORD_KEY)) {
        expect_word(p, KEYWORD_SHARE);
        locking->strength = FOR_KEY_SHARE;
    } else {
        expect_word(p, KEYWORD_NO);
        expect_word(p, KEYWORD_KEY);
        expect_word(p, KEYWORD_UPDATE);
        locking->strength = FOR_NO_KEY_UPDATE;
    }
    if (accept_word(p, KEYWORD_OF))
        parse_relations(p, &locking->of);
    if (accept_word(p, KEYWORD_NOWAIT))
        locking->wait = FOR_NOWAIT;
    else if (accept_words(p, KEYWORD_SKIP, KEYWORD_LOCKED))
        locking->wait = FOR_SKIP_LOCKED;
    LIST_ADD(p, all, locking);
    select->locking = all.items;
    select->locking_count = all.count;
}

static void select_tail(struct parser *p, struct select *select)
{
    if (next_is_word(p, KEYWORD_ORDER)) {
        struct sort_list order_by = {0};
        advance(p);
        expect_word(p, KEYWORD_BY);
        int at = position(p);
        parse_sort(p, &order_by);
        twice(p, select->order_by.count > 0, at, "ORDER BY");
        select->order_by = order_by;
    }
    /* Locking before or after LIMIT and OFFSET, those in either order and once each. */
    bool locked = next_is_word(p, KEYWORD_FOR);
    while (next_is_word(p, KEYWORD_FOR))
        parse_locking(p, select);
    bool offset_first = next_is_word(p, KEYWORD_OFFSET);
    if (offset_first)
        parse_limit(p, select);
    if (next_is_word(p, KEYWORD_LIMIT) || next_is_word(p, KEYWORD_FETCH)) {
        parse_limit(p, select);
        if (!offset_first && next_is_word(p, KEYWORD_OFFSET))
            parse_limit(p, select);
    }
    while (!locked && next_is_word(p, KEYWORD_FOR))
        parse_locking(p, select);
}

struct select *parse_select_rest(struct parser *p, struct select *left)
{
    int height = p->height;
    bool into_allowed = p->into_allowed;

    p->height = 0;
    struct select *select = set_operations(p, left, 1);
    p->into_allowed = false;
    select_tail(p, select);
    p->into_allowed = into_allowed;
    height_raise(p, height);
    return select;
}

struct select *parse_select_with(struct parser *p, struct with *with)
{
    struct select *select;

    if (!depth_enter(p))
        return arena_new(p->arena, struct select);
    select = parse_select_rest(p, set_operand(p));
    if (with) {
        twice(p, select->with != NULL, with->position, "WITH");
        select->with = with;
    }
    depth_leave(p);
    return select;
}

struct select *parse_select(struct parser *p)
{
    bool into_allowed = p->into_allowed;
    p->into_allowed = false;
    struct with *with = next_is_word(p, KEYWORD_WITH) ? parse_with(p) : NULL;
    struct select *select = parse_select_with(p, with);
    p->into_allowed = into_allowed;
    return select;
}

/* ( query ), in any number of parentheses. */
struct select *parse_select_in_parentheses(struct parser *p)
{
    struct select *select;
    int height = p->height;

    if (!next_is(p, '(')) {
        fail_syntax(p);
        return arena_new(p->arena, struct select);
    }
    if (peek_at(p, 1)->kind != '(') {
        advance(p);
        if (!select_is_ahead(p))
            fail_syntax(p);
        select = parse_select(p);
        expect(p, ')');
        return select;
    }
    if (!depth_enter(p))
        return arena_new(p->arena, struct select);
    advance(p);
    p->height = 0;
    select = parse_select_in_parentheses(p);
    if (select_goes_on(p))
        select = parse_select_rest(p, select);
    expect(p, ')');
    depth_leave(p);
    height_raise(p, height);
    return select;
}
