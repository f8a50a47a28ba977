/* parser/setting.c - SET, RESET, SHOW. Special spellings become the setting they stand for: SET TIME ZONE is
 * timezone, SET NAMES client_encoding, SET SCHEMA search_path, SET ROLE role. */
#include "parser/internal.h"


/* a, or a.b.c as one string */
static char *parse_setting_name(struct parser *p)
{
    char *name = parse_name(p);
    while (accept(p, '.'))
        name = arena_printf(p->arena, "%s.%s", name, parse_name(p));
    return name;
}

/* A word, a string or a number. Words come as strings. */
static struct expr *parse_setting_value(struct parser *p)
{
    const struct token *token = peek(p);
    int at = token->start + 1;

    if (token->kind == TOKEN_STRING)
        return literal_string(p, parse_string(p), at);
    if (token->kind == TOKEN_IDENTIFIER || token->keyword == KEYWORD_TRUE || token->keyword == KEYWORD_FALSE ||
        token->keyword == KEYWORD_ON ||
        (token->kind == TOKEN_KEYWORD && keyword_table[token->keyword].class != CLASS_RESERVED))
        return literal_string(p, parse_label(p), at);

    bool minus = accept(p, '-');
    if (!minus)
        accept(p, '+');
    if (!next_is(p, TOKEN_INTEGER) && !next_is(p, TOKEN_NUMERIC)) {
        fail_syntax(p);
        return literal_integer(p, 0, at);
    }
    struct expr *value = parse_primary(p);
    if (minus) {
        value->literal.integer = -value->literal.integer;
        value->literal.text = arena_printf(p->arena, "-%s", value->literal.text);
        value->literal.length++;
    }
    value->position = at;
    return value;
}

/* What follows SET TIME ZONE. */
static void parse_time_zone_value(struct parser *p, struct set_statement *set)
{
    set->name = "timezone";
    if (accept_word(p, KEYWORD_DEFAULT) || accept_word(p, KEYWORD_LOCAL)) {
        set->kind = VARIABLE_SET_DEFAULT;
        return;
    }
    if (next_is_word(p, KEYWORD_INTERVAL))
        LIST_ADD(p, set->values, parse_primary(p));
    else {
        if (next_is(p, TOKEN_KEYWORD))
            fail_syntax(p);
        LIST_ADD(p, set->values, parse_setting_value(p));
    }
}

static struct statement *parse_set_constraints(struct parser *p)
{
    struct statement *statement =
        statement_new(p, STATEMENT_SET_CONSTRAINTS, sizeof(struct set_constraints_statement));
    struct set_constraints_statement *set = statement->set_constraints;

    if (accept_word(p, KEYWORD_ALL)) {
        set->all = true;
    } else {
        parse_relations(p, &set->names);
    }
    set->deferred = next_is_word(p, KEYWORD_DEFERRED);
    if (!accept_word(p, KEYWORD_DEFERRED))
        expect_word(p, KEYWORD_IMMEDIATE);
    return statement;
}

struct statement *parse_set(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_SET, sizeof(struct set_statement));
    struct set_statement *set = statement->set;
    int at = 0;

    expect_word(p, KEYWORD_SET);
    if (next_is_word(p, KEYWORD_CONSTRAINTS) && peek_at(p, 1)->kind != '=' && !after_is_word(p, KEYWORD_TO)) {
        advance(p);
        return parse_set_constraints(p);
    }
    if (next_is_word(p, KEYWORD_LOCAL) && peek_at(p, 1)->kind != '=' && !after_is_word(p, KEYWORD_TO)) {
        advance(p);
        set->local = true;
    } else if (next_is_word(p, KEYWORD_SESSION) && peek_at(p, 1)->kind != '=' && !after_is_word(p, KEYWORD_TO)) {
        if (after_is_word(p, KEYWORD_CHARACTERISTICS)) {
            advance(p);
            advance(p);
            expect_word(p, KEYWORD_AS);
            expect_word(p, KEYWORD_TRANSACTION);
            set->kind = VARIABLE_SET_CHARACTERISTICS;
            at = position(p);
            parse_transaction_modes(p, &set->modes);
            if (position(p) == at)
                fail_syntax(p);
            return statement;
        }
        if (!after_is_word(p, KEYWORD_AUTHORIZATION))
            advance(p);
    }
    if (next_is_word(p, KEYWORD_TRANSACTION) && peek_at(p, 1)->kind != '=' && !after_is_word(p, KEYWORD_TO)) {
        advance(p);
        set->kind = VARIABLE_SET_TRANSACTION;
        if (accept_word(p, KEYWORD_SNAPSHOT)) {
            set->snapshot = parse_string(p);
            return statement;
        }
        at = position(p);
        parse_transaction_modes(p, &set->modes);
        if (position(p) == at)
            fail_syntax(p);
        return statement;
    }
    if (accept_words(p, KEYWORD_TIME, KEYWORD_ZONE)) {
        parse_time_zone_value(p, set);
        return statement;
    }
    if (accept_words(p, KEYWORD_SESSION, KEYWORD_AUTHORIZATION)) {
        set->name = "session_authorization";
        if (accept_word(p, KEYWORD_DEFAULT))
            set->kind = VARIABLE_SET_DEFAULT;
        else
            LIST_ADD(p, set->values, parse_setting_value(p));
        return statement;
    }
    bool assigned = peek_at(p, 1)->kind == '=' || after_is_word(p, KEYWORD_TO) || peek_at(p, 1)->kind == '.' ||
                    after_is_word(p, KEYWORD_FROM);
    if (!assigned) {
        if (accept_word(p, KEYWORD_NAMES)) {
            set->name = "client_encoding";
            if (accept_word(p, KEYWORD_DEFAULT) || next_is(p, ';') || next_is(p, TOKEN_END))
                set->kind = VARIABLE_SET_DEFAULT;
            else
                LIST_ADD(p, set->values, parse_setting_value(p));
            return statement;
        }
        if (next_is_word(p, KEYWORD_ROLE) || next_is_word(p, KEYWORD_SCHEMA)) {
            set->name = next_is_word(p, KEYWORD_ROLE) ? "role" : "search_path";
            bool schema = next_is_word(p, KEYWORD_SCHEMA);
            advance(p);
            if (schema && !next_is(p, TOKEN_STRING))
                fail_syntax(p);
            LIST_ADD(p, set->values, parse_setting_value(p));
            return statement;
        }
        if (next_is_word(p, KEYWORD_CATALOG) || next_is_word(p, KEYWORD_XML)) {
            bool catalog = next_is_word(p, KEYWORD_CATALOG);
            return statement_unsupported(p, catalog ? "SET CATALOG" : "SET XML OPTION");
        }
    }
    set->name = parse_setting_name(p);
    if (accept_words(p, KEYWORD_FROM, KEYWORD_CURRENT)) {
        set->kind = VARIABLE_SET_CURRENT;
        return statement;
    }
    if (!accept(p, '='))
        expect_word(p, KEYWORD_TO);
    if (accept_word(p, KEYWORD_DEFAULT)) {
        set->kind = VARIABLE_SET_DEFAULT;
        return statement;
    }
    do {
        LIST_ADD(p, set->values, parse_setting_value(p));
    } while (accept(p, ','));
    return statement;
}

/* RESET and SHOW name settings alike. */
static char *parse_setting_or_special(struct parser *p)
{
    if (accept_words(p, KEYWORD_TIME, KEYWORD_ZONE))
        return "timezone";
    if (accept_words(p, KEYWORD_SESSION, KEYWORD_AUTHORIZATION))
        return "session_authorization";
    if (accept_words(p, KEYWORD_TRANSACTION, KEYWORD_ISOLATION)) {
        expect_word(p, KEYWORD_LEVEL);
        return "transaction_isolation";
    }
    if (accept_word(p, KEYWORD_ALL))
        return "all";
    return parse_setting_name(p);
}

struct statement *parse_reset(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_SET, sizeof(struct set_statement));
    expect_word(p, KEYWORD_RESET);
    statement->set->kind = next_is_word(p, KEYWORD_ALL) ? VARIABLE_RESET_ALL : VARIABLE_RESET;
    statement->set->name = parse_setting_or_special(p);
    return statement;
}

struct statement *parse_show(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_SHOW, sizeof(struct show_statement));
    expect_word(p, KEYWORD_SHOW);
    statement->show->name = parse_setting_or_special(p);
    return statement;
}
