/* parser/modify.c - INSERT, UPDATE, DELETE, and the choice among all that may follow WITH. */
#include "parser/internal.h"

static void parse_returning(struct parser *p, struct target_list *list)
{
    if (accept_word(p, KEYWORD_RETURNING))
        parse_targets(p, list);
}

static void parse_assignment_target(struct parser *p, struct assignment_target *target)
{
    *target = (struct assignment_target){.position = position(p)};
    target->column = parse_name(p);
    target->indirection = parse_indirection(p, NULL);
}

static void parse_assignments(struct parser *p, struct assignment_list *list)
{
    do {
        struct assignment *assignment = arena_new(p->arena, struct assignment);
        struct { struct assignment_target *items; int count; } targets = {0};
        struct assignment_target target;

        assignment->position = position(p);
        assignment->is_row = accept(p, '(');
        do {
            parse_assignment_target(p, &target);
            LIST_ADD(p, targets, target);
        } while (assignment->is_row && accept(p, ','));
        if (assignment->is_row)
            expect(p, ')');
        expect(p, '=');
        assignment->value = parse_expr(p);
        assignment->targets = targets.items;
        assignment->count = targets.count;
        if (assignment->is_row && assignment->value->kind == EXPR_ROW &&
            assignment->value->row.list.count != assignment->count)
            syntax_fail_at(p, assignment->value->position, STATUS_SYNTAX,
                    "number of columns does not match number of values");
        LIST_ADD(p, *list, assignment);
    } while (accept(p, ','));
}

static struct on_conflict *parse_on_conflict(struct parser *p)
{
    struct on_conflict *conflict = arena_new(p->arena, struct on_conflict);

    conflict->position = position(p);
    expect_word(p, KEYWORD_ON);
    expect_word(p, KEYWORD_CONFLICT);
    if (next_is(p, '(')) {
        parse_index_columns(p, &conflict->columns, &conflict->column_count);
        if (accept_word(p, KEYWORD_WHERE))
            conflict->target_where = parse_expr(p);
    } else if (accept_word(p, KEYWORD_ON)) {
        expect_word(p, KEYWORD_CONSTRAINT);
        conflict->constraint = parse_name(p);
    }
    expect_word(p, KEYWORD_DO);
    if (accept_word(p, KEYWORD_NOTHING)) {
        conflict->action = CONFLICT_NOTHING;
        return conflict;
    }
    conflict->action = CONFLICT_UPDATE;
    expect_word(p, KEYWORD_UPDATE);
    expect_word(p, KEYWORD_SET);
    parse_assignments(p, &conflict->set);
    if (accept_word(p, KEYWORD_WHERE))
        conflict->where = parse_expr(p);
    return conflict;
}

struct statement *parse_insert(struct parser *p, struct with *with)
{
    struct statement *statement = statement_new(p, STATEMENT_INSERT, sizeof(struct insert_statement));
    struct insert_statement *insert = statement->insert;

    expect_word(p, KEYWORD_INSERT);
    expect_word(p, KEYWORD_INTO);
    insert->with = with;
    insert->relation = parse_relation_name(p);
    if (accept_word(p, KEYWORD_AS))
        insert->alias = parse_name(p);
    if (next_is(p, '(') && peek_at(p, 1)->kind != '(' && peek_at(p, 1)->keyword != KEYWORD_SELECT &&
        peek_at(p, 1)->keyword != KEYWORD_WITH && peek_at(p, 1)->keyword != KEYWORD_TABLE &&
        !(peek_at(p, 1)->keyword == KEYWORD_VALUES && peek_at(p, 2)->kind == '(')) {
        struct { struct assignment_target *items; int count; } columns = {0};
        struct assignment_target target;
        advance(p);
        do {
            parse_assignment_target(p, &target);
            LIST_ADD(p, columns, target);
        } while (accept(p, ','));
        expect(p, ')');
        insert->columns = columns.items;
        insert->column_count = columns.count;
    }
    if (accept_word(p, KEYWORD_OVERRIDING)) {
        insert->overriding = next_is_word(p, KEYWORD_SYSTEM) ? OVERRIDING_SYSTEM : OVERRIDING_USER;
        if (!accept_word(p, KEYWORD_SYSTEM))
            expect_word(p, KEYWORD_USER);
        expect_word(p, KEYWORD_VALUE);
    }
    if (next_is_word(p, KEYWORD_DEFAULT) && insert->column_count == 0 && !insert->overriding) {
        advance(p);
        expect_word(p, KEYWORD_VALUES);
    } else if (next_is(p, '(') || select_is_ahead(p)) {
        insert->source = parse_select(p);
    } else {
        fail_syntax(p);
    }
    if (next_is_word(p, KEYWORD_ON))
        insert->on_conflict = parse_on_conflict(p);
    parse_returning(p, &insert->returning);
    return statement;
}

/* [AS] alias; SET is no alias without AS. */
static char *parse_target_alias(struct parser *p)
{
    if (accept_word(p, KEYWORD_AS))
        return parse_name(p);
    if (next_is_column_name(p) && !next_is_word(p, KEYWORD_SET))
        return parse_name(p);
    return NULL;
}

static struct expr *parse_where_or_current_of(struct parser *p)
{
    if (!accept_word(p, KEYWORD_WHERE))
        return NULL;
    if (next_is_word(p, KEYWORD_CURRENT) && after_is_word(p, KEYWORD_OF)) {
        struct expr *expr = expr_new(p, EXPR_CURRENT_OF, position(p));
        advance(p);
        advance(p);
        expr->current_of.cursor = parse_name(p);
        return expr;
    }
    return parse_expr(p);
}

struct statement *parse_update(struct parser *p, struct with *with)
{
    struct statement *statement = statement_new(p, STATEMENT_UPDATE, sizeof(struct update_statement));
    struct update_statement *update = statement->update;

    expect_word(p, KEYWORD_UPDATE);
    update->with = with;
    update->relation = parse_relation_expr(p);
    update->alias = parse_target_alias(p);
    expect_word(p, KEYWORD_SET);
    parse_assignments(p, &update->set);
    if (accept_word(p, KEYWORD_FROM))
        parse_from(p, &update->from);
    update->where = parse_where_or_current_of(p);
    parse_returning(p, &update->returning);
    return statement;
}

struct statement *parse_delete(struct parser *p, struct with *with)
{
    struct statement *statement = statement_new(p, STATEMENT_DELETE, sizeof(struct delete_statement));
    struct delete_statement *delete_ = statement->delete_;

    expect_word(p, KEYWORD_DELETE);
    expect_word(p, KEYWORD_FROM);
    delete_->with = with;
    delete_->relation = parse_relation_expr(p);
    delete_->alias = parse_target_alias(p);
    if (accept_word(p, KEYWORD_USING))
        parse_from(p, &delete_->using_);
    delete_->where = parse_where_or_current_of(p);
    parse_returning(p, &delete_->returning);
    return statement;
}

struct statement *parse_query_statement(struct parser *p, struct with *with)
{
    if (next_is_word(p, KEYWORD_WITH) && !with) {
        bool into_allowed = p->into_allowed;
        p->into_allowed = false;
        with = parse_with(p);
        p->into_allowed = into_allowed;
    }
    switch ((int)peek(p)->keyword) {
    case KEYWORD_INSERT: return parse_insert(p, with);
    case KEYWORD_UPDATE: return parse_update(p, with);
    case KEYWORD_DELETE: return parse_delete(p, with);
    case KEYWORD_MERGE: return statement_unsupported(p, "MERGE");
    default: break;
    }
    struct statement *statement = statement_new(p, STATEMENT_SELECT, 0);
    struct create_table_as_statement *outer = p->into;
    p->into = NULL;
    if (!next_is(p, '(') && !select_is_ahead(p))
        fail_syntax(p);
    statement->select = parse_select_with(p, with);
    if (p->into) {
        struct statement *create = statement_new(p, STATEMENT_CREATE_TABLE_AS, 0);
        create->create_table_as = p->into;
        create->create_table_as->query = statement;
        statement = create;
    }
    p->into = outer;
    return statement;
}
