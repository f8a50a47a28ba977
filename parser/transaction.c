/* parser/transaction.c - BEGIN, COMMIT, ROLLBACK, savepoints, and the modes of a transaction. */
#include "parser/internal.h"

static bool mode_is_ahead(struct parser *p)
{
    return next_is_word(p, KEYWORD_ISOLATION) || next_is_word(p, KEYWORD_READ) ||
           next_is_word(p, KEYWORD_DEFERRABLE) || (next_is_word(p, KEYWORD_NOT) && after_is_word(p, KEYWORD_DEFERRABLE));
}

/* None, or some with or without commas between them. */
void parse_transaction_modes(struct parser *p, struct transaction_modes *modes)
{
    while (mode_is_ahead(p)) {
        if (accept_word(p, KEYWORD_ISOLATION)) {
            expect_word(p, KEYWORD_LEVEL);
            if (accept_words(p, KEYWORD_READ, KEYWORD_UNCOMMITTED))
                modes->isolation = ISOLATION_READ_UNCOMMITTED;
            else if (accept_words(p, KEYWORD_READ, KEYWORD_COMMITTED))
                modes->isolation = ISOLATION_READ_COMMITTED;
            else if (accept_words(p, KEYWORD_REPEATABLE, KEYWORD_READ))
                modes->isolation = ISOLATION_REPEATABLE_READ;
            else {
                expect_word(p, KEYWORD_SERIALIZABLE);
                modes->isolation = ISOLATION_SERIALIZABLE;
            }
        } else if (accept_word(p, KEYWORD_READ)) {
            modes->read_only = next_is_word(p, KEYWORD_ONLY) ? CHOICE_YES : CHOICE_NO;
            if (!accept_word(p, KEYWORD_ONLY))
                expect_word(p, KEYWORD_WRITE);
        } else {
            modes->deferrable = accept_word(p, KEYWORD_NOT) ? CHOICE_NO : CHOICE_YES;
            expect_word(p, KEYWORD_DEFERRABLE);
        }
        if (next_is(p, ',')) {
            advance(p);
            if (!mode_is_ahead(p))
                fail_syntax(p);
        }
    }
}

static void accept_work(struct parser *p)
{
    if (!accept_word(p, KEYWORD_WORK))
        accept_word(p, KEYWORD_TRANSACTION);
}

static void parse_chain(struct parser *p, struct transaction_statement *transaction)
{
    if (!accept_word(p, KEYWORD_AND))
        return;
    transaction->chain = !accept_word(p, KEYWORD_NO);
    expect_word(p, KEYWORD_CHAIN);
}

struct statement *parse_transaction(struct parser *p)
{
    struct statement *statement =
        statement_new(p, STATEMENT_TRANSACTION, sizeof(struct transaction_statement));
    struct transaction_statement *transaction = statement->transaction;
    enum keyword keyword = peek(p)->keyword;

    advance(p);
    switch ((int)keyword) {
    case KEYWORD_BEGIN:
        transaction->kind = TRANSACTION_BEGIN;
        accept_work(p);
        parse_transaction_modes(p, &transaction->modes);
        break;
    case KEYWORD_START:
        transaction->kind = TRANSACTION_START;
        expect_word(p, KEYWORD_TRANSACTION);
        parse_transaction_modes(p, &transaction->modes);
        break;
    case KEYWORD_COMMIT:
    case KEYWORD_END:
        if (keyword == KEYWORD_COMMIT && accept_word(p, KEYWORD_PREPARED)) {
            transaction->kind = TRANSACTION_COMMIT_PREPARED;
            transaction->name = parse_string(p);
            break;
        }
        transaction->kind = TRANSACTION_COMMIT;
        accept_work(p);
        parse_chain(p, transaction);
        break;
    case KEYWORD_ABORT:
        transaction->kind = TRANSACTION_ROLLBACK;
        accept_work(p);
        parse_chain(p, transaction);
        break;
    case KEYWORD_ROLLBACK:
        if (accept_word(p, KEYWORD_PREPARED)) {
            transaction->kind = TRANSACTION_ROLLBACK_PREPARED;
            transaction->name = parse_string(p);
            break;
        }
        transaction->kind = TRANSACTION_ROLLBACK;
        accept_work(p);
        if (accept_word(p, KEYWORD_TO)) {
            transaction->kind = TRANSACTION_ROLLBACK_TO;
            accept_word(p, KEYWORD_SAVEPOINT);
            transaction->position = position(p);
            transaction->name = parse_name(p);
        } else {
            parse_chain(p, transaction);
        }
        break;
    case KEYWORD_SAVEPOINT:
        transaction->kind = TRANSACTION_SAVEPOINT;
        transaction->position = position(p);
        transaction->name = parse_name(p);
        break;
    default:                             /* RELEASE */
        transaction->kind = TRANSACTION_RELEASE;
        accept_word(p, KEYWORD_SAVEPOINT);
        transaction->position = position(p);
        transaction->name = parse_name(p);
        break;
    }
    return statement;
}
