/* parser/statement.c - tells statements apart by their first word, and skips those that Crabtree doesn't have.
 *
 * A statement that PostgreSQL has and we don't is recognised by its first words and read to its semicolon without being
 * understood; the engine answers 0A000 with its name. Anything else is a syntax error at its first word. */
#include "parser/internal.h"


struct statement *statement_new(struct parser *p, enum statement_kind kind, size_t bytes)
{
    struct statement *statement = arena_new(p->arena, struct statement);
    statement->kind = kind;
    if (bytes)                           /* every member of the union is a pointer: one stands for all */
        statement->select = arena_zero(p->arena, bytes);
    return statement;
}

void skip_statement(struct parser *p)
{
    int parentheses = 0;

    while (!next_is(p, TOKEN_END) && !(next_is(p, ';') && parentheses <= 0)) {
        if (next_is(p, '('))
            parentheses++;
        else if (next_is(p, ')'))
            parentheses--;
        advance(p);
    }
}

struct statement *statement_unsupported(struct parser *p, const char *feature)
{
    struct statement *statement =
        statement_new(p, STATEMENT_UNSUPPORTED, sizeof(struct unsupported_statement));
    statement->unsupported->feature = feature;
    skip_statement(p);
    return statement;
}

/* SELECT, INSERT, UPDATE, DELETE, VALUES, TABLE, with or without WITH. */
struct statement *parse_preparable(struct parser *p)
{
    bool into_allowed = p->into_allowed;
    p->into_allowed = false;
    struct statement *statement;
    int start = position(p);

    switch ((int)peek(p)->keyword) {
    case KEYWORD_SELECT: case KEYWORD_VALUES: case KEYWORD_TABLE: case KEYWORD_WITH: case KEYWORD_INSERT:
    case KEYWORD_UPDATE: case KEYWORD_DELETE: case KEYWORD_MERGE:
        statement = parse_query_statement(p, NULL);
        break;
    default:
        if (!next_is(p, '('))
            fail_syntax(p);
        statement = parse_query_statement(p, NULL);
        break;
    }
    statement->start = start;
    statement->length = p->last_end + 1 - start;
    p->into_allowed = into_allowed;
    return statement;
}

struct statement *parse_statement(struct parser *p)
{
    p->into_allowed = true;
    p->into = NULL;
    p->height = 0;
    if (next_is(p, '('))
        return parse_query_statement(p, NULL);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_SELECT: case KEYWORD_VALUES: case KEYWORD_TABLE: case KEYWORD_WITH: case KEYWORD_INSERT:
    case KEYWORD_UPDATE: case KEYWORD_DELETE: case KEYWORD_MERGE:
        return parse_query_statement(p, NULL);
    case KEYWORD_BEGIN: case KEYWORD_START: case KEYWORD_COMMIT: case KEYWORD_END: case KEYWORD_ROLLBACK:
    case KEYWORD_ABORT: case KEYWORD_SAVEPOINT: case KEYWORD_RELEASE:
        return parse_transaction(p);
    case KEYWORD_CREATE: return parse_create(p);
    case KEYWORD_ALTER: return parse_alter(p);
    case KEYWORD_DROP: return parse_drop(p);
    case KEYWORD_TRUNCATE: return parse_truncate(p);
    case KEYWORD_COMMENT: return parse_comment(p);
    case KEYWORD_SET: return parse_set(p);
    case KEYWORD_RESET: return parse_reset(p);
    case KEYWORD_SHOW: return parse_show(p);
    case KEYWORD_COPY: return parse_copy(p);
    case KEYWORD_CALL: return statement_unsupported(p, "CALL");
    case KEYWORD_DO: return statement_unsupported(p, "DO");
    case KEYWORD_GRANT: return statement_unsupported(p, "GRANT");
    case KEYWORD_IMPORT: return statement_unsupported(p, "IMPORT FOREIGN SCHEMA");
    case KEYWORD_LOAD: return statement_unsupported(p, "LOAD");
    case KEYWORD_REASSIGN: return statement_unsupported(p, "REASSIGN OWNED");
    case KEYWORD_REFRESH: return statement_unsupported(p, "REFRESH MATERIALIZED VIEW");
    case KEYWORD_REVOKE: return statement_unsupported(p, "REVOKE");
    case KEYWORD_SECURITY: return statement_unsupported(p, "SECURITY LABEL");
    default: return parse_utility(p);
    }
}

const char *statement_tag(const struct statement *statement)
{
    static const char *const drops[] = {
        [OBJECT_TABLE] = "DROP TABLE", [OBJECT_INDEX] = "DROP INDEX", [OBJECT_VIEW] = "DROP VIEW",
        [OBJECT_SEQUENCE] = "DROP SEQUENCE", [OBJECT_SCHEMA] = "DROP SCHEMA",
        [OBJECT_MATERIALIZED_VIEW] = "DROP MATERIALIZED VIEW", [OBJECT_OTHER] = "DROP"};
    static const char *const alters[] = {
        [OBJECT_TABLE] = "ALTER TABLE", [OBJECT_INDEX] = "ALTER INDEX", [OBJECT_VIEW] = "ALTER VIEW",
        [OBJECT_SEQUENCE] = "ALTER SEQUENCE", [OBJECT_SCHEMA] = "ALTER SCHEMA",
        [OBJECT_MATERIALIZED_VIEW] = "ALTER MATERIALIZED VIEW", [OBJECT_OTHER] = "ALTER"};
    static const char *const transactions[] = {
        [TRANSACTION_BEGIN] = "BEGIN", [TRANSACTION_START] = "START TRANSACTION", [TRANSACTION_COMMIT] = "COMMIT",
        [TRANSACTION_ROLLBACK] = "ROLLBACK", [TRANSACTION_SAVEPOINT] = "SAVEPOINT",
        [TRANSACTION_RELEASE] = "RELEASE", [TRANSACTION_ROLLBACK_TO] = "ROLLBACK",
        [TRANSACTION_PREPARE] = "PREPARE TRANSACTION", [TRANSACTION_COMMIT_PREPARED] = "COMMIT PREPARED",
        [TRANSACTION_ROLLBACK_PREPARED] = "ROLLBACK PREPARED"};
    static const char *const discards[] = {"DISCARD ALL", "DISCARD PLANS", "DISCARD SEQUENCES", "DISCARD TEMP"};

    switch (statement->kind) {
    case STATEMENT_SELECT:
        if (statement->select && statement->select->locking_count)
            switch (statement->select->locking[0]->strength) {
            case FOR_KEY_SHARE: return "SELECT FOR KEY SHARE";
            case FOR_SHARE: return "SELECT FOR SHARE";
            case FOR_NO_KEY_UPDATE: return "SELECT FOR NO KEY UPDATE";
            case FOR_UPDATE: return "SELECT FOR UPDATE";
            }
        return "SELECT";
    case STATEMENT_INSERT: return "INSERT";
    case STATEMENT_UPDATE: return "UPDATE";
    case STATEMENT_DELETE: return "DELETE";
    case STATEMENT_CREATE_TABLE: return "CREATE TABLE";
    case STATEMENT_CREATE_TABLE_AS:
        return statement->create_table_as->select_into ? "SELECT INTO" : "CREATE TABLE AS";
    case STATEMENT_CREATE_INDEX: return "CREATE INDEX";
    case STATEMENT_CREATE_VIEW: return "CREATE VIEW";
    case STATEMENT_CREATE_SEQUENCE: return "CREATE SEQUENCE";
    case STATEMENT_ALTER_SEQUENCE: return "ALTER SEQUENCE";
    case STATEMENT_CREATE_SCHEMA: return "CREATE SCHEMA";
    case STATEMENT_DROP: return drops[statement->drop->object];
    case STATEMENT_ALTER: return alters[statement->alter->object];
    case STATEMENT_TRUNCATE: return "TRUNCATE TABLE";
    case STATEMENT_COMMENT: return "COMMENT";
    case STATEMENT_TRANSACTION: return transactions[statement->transaction->kind];
    case STATEMENT_SET:
        return statement->set->kind == VARIABLE_RESET || statement->set->kind == VARIABLE_RESET_ALL ? "RESET" : "SET";
    case STATEMENT_SHOW: return "SHOW";
    case STATEMENT_SET_CONSTRAINTS: return "SET CONSTRAINTS";
    case STATEMENT_COPY: return "COPY";
    case STATEMENT_VACUUM: return "VACUUM";
    case STATEMENT_ANALYZE: return "ANALYZE";
    case STATEMENT_EXPLAIN: return "EXPLAIN";
    case STATEMENT_PREPARE: return "PREPARE";
    case STATEMENT_EXECUTE: return "EXECUTE";
    case STATEMENT_DEALLOCATE: return statement->deallocate->name ? "DEALLOCATE" : "DEALLOCATE ALL";
    case STATEMENT_DECLARE_CURSOR: return "DECLARE CURSOR";
    case STATEMENT_FETCH: return statement->fetch->is_move ? "MOVE" : "FETCH";
    case STATEMENT_CLOSE_CURSOR: return statement->close_cursor->name ? "CLOSE CURSOR" : "CLOSE CURSOR ALL";
    case STATEMENT_LOCK: return "LOCK TABLE";
    case STATEMENT_REINDEX: return "REINDEX";
    case STATEMENT_CLUSTER: return "CLUSTER";
    case STATEMENT_DISCARD: return discards[statement->discard->kind];
    case STATEMENT_CHECKPOINT: return "CHECKPOINT";
    case STATEMENT_LISTEN: return "LISTEN";
    case STATEMENT_UNLISTEN: return "UNLISTEN";
    case STATEMENT_NOTIFY: return "NOTIFY";
    case STATEMENT_UNSUPPORTED: return statement->unsupported->feature;
    }
    return "???";
}
