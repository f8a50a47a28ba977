/* parser/utility.c - the small statements: VACUUM, ANALYZE, EXPLAIN, PREPARE, cursors, LOCK, REINDEX and their kin. */
#include "parser/internal.h"

static void add_flag(struct parser *p, struct option_list *list, char *name)
{
    struct option *option = option_new(p, name, OPTION_NONE, NULL);
    LIST_ADD(p, *list, option);
}

static bool accept_analyze(struct parser *p)
{
    return accept_word(p, KEYWORD_ANALYZE) || accept_word(p, KEYWORD_ANALYSE);
}

static struct statement *parse_vacuum(struct parser *p)
{
    bool analyze = !next_is_word(p, KEYWORD_VACUUM);
    struct statement *statement =
        statement_new(p, analyze ? STATEMENT_ANALYZE : STATEMENT_VACUUM, sizeof(struct vacuum_statement));
    struct vacuum_statement *vacuum = statement->vacuum;
    struct { struct vacuum_relation *items; int count; } list = {0};

    advance(p);
    if (next_is(p, '(')) {
        parse_generic_options(p, &vacuum->options);
    } else {
        if (!analyze && accept_word(p, KEYWORD_FULL))
            add_flag(p, &vacuum->options, "full");
        if (!analyze && accept_word(p, KEYWORD_FREEZE))
            add_flag(p, &vacuum->options, "freeze");
        if (accept_word(p, KEYWORD_VERBOSE))
            add_flag(p, &vacuum->options, "verbose");
        if (!analyze && accept_analyze(p))
            add_flag(p, &vacuum->options, "analyze");
    }
    if (next_is(p, ';') || next_is(p, TOKEN_END))
        return statement;
    do {
        struct vacuum_relation relation = {0};
        relation.relation = parse_relation_name(p);
        if (next_is(p, '('))
            parse_names_in_parentheses(p, &relation.columns);
        LIST_ADD(p, list, relation);
    } while (accept(p, ','));
    vacuum->relations = list.items;
    vacuum->relation_count = list.count;
    return statement;
}

/* What EXPLAIN takes. */
static struct statement *parse_explainable(struct parser *p)
{
    int start = position(p);
    struct statement *statement;

    switch ((int)peek(p)->keyword) {
    case KEYWORD_EXECUTE: case KEYWORD_DECLARE:
        statement = parse_utility(p);
        break;
    case KEYWORD_CREATE:
        statement = parse_create(p);
        if (statement->kind != STATEMENT_CREATE_TABLE_AS && statement->kind != STATEMENT_UNSUPPORTED)
            syntax_fail_at(p, start, STATUS_SYNTAX, "EXPLAIN cannot be used with this statement");
        break;
    case KEYWORD_REFRESH:
        statement = statement_unsupported(p, "REFRESH MATERIALIZED VIEW");
        break;
    default:
        if (next_is(p, '(') || select_is_ahead(p) || next_is_word(p, KEYWORD_INSERT) ||
            next_is_word(p, KEYWORD_UPDATE) || next_is_word(p, KEYWORD_DELETE) || next_is_word(p, KEYWORD_MERGE)) {
            p->into_allowed = true;      /* EXPLAIN SELECT ... INTO */
            statement = parse_query_statement(p, NULL);
        } else {
            fail_syntax(p);
            statement = statement_new(p, STATEMENT_SELECT, sizeof(struct select));
        }
    }
    statement->start = start;
    statement->length = p->last_end + 1 - start;
    return statement;
}

static struct statement *parse_explain(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_EXPLAIN, sizeof(struct explain_statement));
    struct explain_statement *explain = statement->explain;

    advance(p);
    const struct token *after = peek_at(p, 1);
    if (next_is(p, '(') && after->kind != '(' && after->keyword != KEYWORD_SELECT && after->keyword != KEYWORD_WITH &&
        after->keyword != KEYWORD_VALUES && after->keyword != KEYWORD_TABLE) {
        parse_generic_options(p, &explain->options);
    } else {
        if (accept_analyze(p))
            add_flag(p, &explain->options, "analyze");
        if (accept_word(p, KEYWORD_VERBOSE))
            add_flag(p, &explain->options, "verbose");
    }
    explain->statement = parse_explainable(p);
    return statement;
}

static struct statement *parse_prepare(struct parser *p)
{
    advance(p);
    if (next_is_word(p, KEYWORD_TRANSACTION) && peek_at(p, 1)->kind == TOKEN_STRING) {
        struct statement *statement =
            statement_new(p, STATEMENT_TRANSACTION, sizeof(struct transaction_statement));
        advance(p);
        statement->transaction->kind = TRANSACTION_PREPARE;
        statement->transaction->position = position(p);
        statement->transaction->name = parse_string(p);
        return statement;
    }
    struct statement *statement = statement_new(p, STATEMENT_PREPARE, sizeof(struct prepare_statement));
    struct prepare_statement *prepare = statement->prepare;
    struct { struct type_name **items; int count; } types = {0};
    prepare->name = parse_name(p);
    if (accept(p, '(')) {
        do {
            LIST_ADD(p, types, parse_type(p));
        } while (accept(p, ','));
        expect(p, ')');
    }
    prepare->types = types.items;
    prepare->type_count = types.count;
    expect_word(p, KEYWORD_AS);
    prepare->statement = parse_preparable(p);
    return statement;
}

static struct statement *parse_execute(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_EXECUTE, sizeof(struct execute_statement));
    statement->start = position(p);
    advance(p);
    statement->execute->name = parse_name(p);
    if (accept(p, '(')) {
        parse_exprs(p, &statement->execute->arguments);
        expect(p, ')');
    }
    statement->length = p->last_end + 1 - statement->start;
    return statement;
}

static struct statement *parse_declare(struct parser *p)
{
    struct statement *statement =
        statement_new(p, STATEMENT_DECLARE_CURSOR, sizeof(struct declare_cursor_statement));
    struct declare_cursor_statement *declare = statement->declare_cursor;

    advance(p);
    declare->name = parse_name(p);
    for (;;) {
        if (accept_word(p, KEYWORD_BINARY))
            declare->binary = true;
        else if (accept_word(p, KEYWORD_INSENSITIVE))
            declare->insensitive = true;
        else if (accept_word(p, KEYWORD_NO)) {
            expect_word(p, KEYWORD_SCROLL);
            declare->scroll = CHOICE_NO;
        } else if (accept_word(p, KEYWORD_SCROLL))
            declare->scroll = CHOICE_YES;
        else if (!accept_word(p, KEYWORD_ASENSITIVE))
            break;
    }
    expect_word(p, KEYWORD_CURSOR);
    if (accept_words(p, KEYWORD_WITH, KEYWORD_HOLD))
        declare->hold = true;
    else
        accept_words(p, KEYWORD_WITHOUT, KEYWORD_HOLD);
    expect_word(p, KEYWORD_FOR);
    declare->query_start = position(p);
    if (!next_is(p, '(') && !select_is_ahead(p))
        fail_syntax(p);
    p->into_allowed = false;
    declare->select = parse_select(p);
    declare->query_length = p->last_end + 1 - declare->query_start;
    return statement;
}

/* [n | ALL] after FORWARD and BACKWARD, and alone. */
static int64_t parse_fetch_count(struct parser *p)
{
    if (accept_word(p, KEYWORD_ALL))
        return FETCH_ALL;
    if (next_is(p, TOKEN_INTEGER) || next_is(p, '-') || next_is(p, '+'))
        return parse_signed_integer(p);
    return 1;
}

static struct statement *parse_fetch(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_FETCH, sizeof(struct fetch_statement));
    struct fetch_statement *fetch = statement->fetch;

    fetch->is_move = next_is_word(p, KEYWORD_MOVE);
    fetch->count = 1;
    advance(p);
    /* FETCH next: a cursor of that name, if nothing follows. */
    bool name_only = peek_at(p, 1)->kind == TOKEN_END || peek_at(p, 1)->kind == ';';
    if (name_only && !accept_word(p, KEYWORD_FROM))
        accept_word(p, KEYWORD_IN);
    if (!name_only) {
        switch ((int)peek(p)->keyword) {
        case KEYWORD_NEXT: advance(p); break;
        case KEYWORD_PRIOR: advance(p); fetch->direction = FETCH_BACKWARD; break;
        case KEYWORD_FIRST: advance(p); fetch->direction = FETCH_ABSOLUTE; break;
        case KEYWORD_LAST: advance(p); fetch->direction = FETCH_ABSOLUTE; fetch->count = -1; break;
        case KEYWORD_ABSOLUTE: advance(p); fetch->direction = FETCH_ABSOLUTE; fetch->count = parse_signed_integer(p); break;
        case KEYWORD_RELATIVE: advance(p); fetch->direction = FETCH_RELATIVE; fetch->count = parse_signed_integer(p); break;
        case KEYWORD_FORWARD: advance(p); fetch->count = parse_fetch_count(p); break;
        case KEYWORD_BACKWARD: advance(p); fetch->direction = FETCH_BACKWARD; fetch->count = parse_fetch_count(p); break;
        default: fetch->count = parse_fetch_count(p); break;
        }
        if (!accept_word(p, KEYWORD_FROM))
            accept_word(p, KEYWORD_IN);
    }
    fetch->cursor = parse_name(p);
    return statement;
}

static struct statement *parse_lock(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_LOCK, sizeof(struct lock_table_statement));
    struct lock_table_statement *lock = statement->lock_table;

    advance(p);
    accept_word(p, KEYWORD_TABLE);
    do {
        LIST_ADD(p, lock->relations, parse_relation_expr(p));
    } while (accept(p, ','));
    lock->mode = TABLE_ACCESS_EXCLUSIVE;
    if (accept_word(p, KEYWORD_IN)) {
        if (accept_words(p, KEYWORD_ACCESS, KEYWORD_SHARE))
            lock->mode = TABLE_ACCESS_SHARE;
        else if (accept_words(p, KEYWORD_ROW, KEYWORD_SHARE))
            lock->mode = TABLE_ROW_SHARE;
        else if (accept_words(p, KEYWORD_ROW, KEYWORD_EXCLUSIVE))
            lock->mode = TABLE_ROW_EXCLUSIVE;
        else if (accept_words(p, KEYWORD_ACCESS, KEYWORD_EXCLUSIVE))
            lock->mode = TABLE_ACCESS_EXCLUSIVE;
        else if (accept_word(p, KEYWORD_EXCLUSIVE))
            lock->mode = TABLE_EXCLUSIVE;
        else if (accept_words(p, KEYWORD_SHARE, KEYWORD_UPDATE)) {
            expect_word(p, KEYWORD_EXCLUSIVE);
            lock->mode = TABLE_SHARE_UPDATE_EXCLUSIVE;
        } else if (accept_words(p, KEYWORD_SHARE, KEYWORD_ROW)) {
            expect_word(p, KEYWORD_EXCLUSIVE);
            lock->mode = TABLE_SHARE_ROW_EXCLUSIVE;
        } else {
            expect_word(p, KEYWORD_SHARE);
            lock->mode = TABLE_SHARE;
        }
        expect_word(p, KEYWORD_MODE);
    }
    lock->nowait = accept_word(p, KEYWORD_NOWAIT);
    return statement;
}

static struct statement *parse_reindex(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_REINDEX, sizeof(struct reindex_statement));
    struct reindex_statement *reindex = statement->reindex;

    advance(p);
    if (next_is(p, '('))
        parse_generic_options(p, &reindex->options);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_INDEX: reindex->kind = REINDEX_INDEX; break;
    case KEYWORD_TABLE: reindex->kind = REINDEX_TABLE; break;
    case KEYWORD_SCHEMA: reindex->kind = REINDEX_SCHEMA; break;
    case KEYWORD_SYSTEM: reindex->kind = REINDEX_SYSTEM; break;
    case KEYWORD_DATABASE: reindex->kind = REINDEX_DATABASE; break;
    default: fail_syntax(p); break;
    }
    advance(p);
    reindex->concurrently = accept_word(p, KEYWORD_CONCURRENTLY);
    reindex->relation = parse_relation_name(p);
    return statement;
}

static struct statement *parse_cluster(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_CLUSTER, sizeof(struct cluster_statement));
    struct cluster_statement *cluster = statement->cluster;

    advance(p);
    if (next_is(p, '('))
        parse_generic_options(p, &cluster->options);
    else if (accept_word(p, KEYWORD_VERBOSE))
        add_flag(p, &cluster->options, "verbose");
    if (next_is(p, ';') || next_is(p, TOKEN_END))
        return statement;
    cluster->relation = parse_relation_name(p);
    if (accept_word(p, KEYWORD_USING)) {
        cluster->index = parse_name(p);
    } else if (accept_word(p, KEYWORD_ON)) {
        cluster->index = cluster->relation->name;
        cluster->relation = parse_relation_name(p);
    }
    return statement;
}

static struct statement *parse_discard(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_DISCARD, sizeof(struct discard_statement));

    advance(p);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_ALL: statement->discard->kind = DISCARD_ALL; break;
    case KEYWORD_PLANS: statement->discard->kind = DISCARD_PLANS; break;
    case KEYWORD_SEQUENCES: statement->discard->kind = DISCARD_SEQUENCES; break;
    case KEYWORD_TEMP: case KEYWORD_TEMPORARY: statement->discard->kind = DISCARD_TEMP; break;
    default: fail_syntax(p); break;
    }
    advance(p);
    return statement;
}

static struct statement *parse_notify(struct parser *p, enum statement_kind kind)
{
    struct statement *statement = statement_new(p, kind, sizeof(struct notify_statement));

    advance(p);
    if (kind == STATEMENT_UNLISTEN && accept(p, '*'))
        return statement;
    statement->notify->channel = parse_name(p);
    if (kind == STATEMENT_NOTIFY && accept(p, ','))
        statement->notify->payload = parse_string(p);
    return statement;
}

struct statement *parse_utility(struct parser *p)
{
    struct statement *statement;

    switch ((int)peek(p)->keyword) {
    case KEYWORD_VACUUM: case KEYWORD_ANALYZE: case KEYWORD_ANALYSE: return parse_vacuum(p);
    case KEYWORD_EXPLAIN: return parse_explain(p);
    case KEYWORD_PREPARE: return parse_prepare(p);
    case KEYWORD_EXECUTE: return parse_execute(p);
    case KEYWORD_DEALLOCATE:
        statement = statement_new(p, STATEMENT_DEALLOCATE, sizeof(struct deallocate_statement));
        advance(p);
        if (next_is_word(p, KEYWORD_PREPARE) && peek_at(p, 1)->kind != ';' && peek_at(p, 1)->kind != TOKEN_END)
            advance(p);
        if (!accept_word(p, KEYWORD_ALL))
            statement->deallocate->name = parse_name(p);
        return statement;
    case KEYWORD_DECLARE: return parse_declare(p);
    case KEYWORD_FETCH: case KEYWORD_MOVE: return parse_fetch(p);
    case KEYWORD_CLOSE:
        statement = statement_new(p, STATEMENT_CLOSE_CURSOR, sizeof(struct close_cursor_statement));
        advance(p);
        if (!accept_word(p, KEYWORD_ALL))
            statement->close_cursor->name = parse_name(p);
        return statement;
    case KEYWORD_LOCK: return parse_lock(p);
    case KEYWORD_CHECKPOINT:
        advance(p);
        return statement_new(p, STATEMENT_CHECKPOINT, 0);
    case KEYWORD_REINDEX: return parse_reindex(p);
    case KEYWORD_CLUSTER: return parse_cluster(p);
    case KEYWORD_DISCARD: return parse_discard(p);
    case KEYWORD_LISTEN: return parse_notify(p, STATEMENT_LISTEN);
    case KEYWORD_UNLISTEN: return parse_notify(p, STATEMENT_UNLISTEN);
    case KEYWORD_NOTIFY: return parse_notify(p, STATEMENT_NOTIFY);
    default:
        fail_syntax(p);
        return statement_unsupported(p, "");
    }
}
