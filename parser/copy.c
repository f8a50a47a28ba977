/* parser/copy.c - COPY, in today's syntax and in the ones of 9.0 and 7.3; the old words become today's options. */
#include "parser/internal.h"

static void add_option(struct parser *p, struct copy_statement *copy, char *name, enum option_kind kind, char *text)
{
    struct option *option = option_new(p, name, kind, text);
    LIST_ADD(p, copy->options, option);
}

/* AS is noise before a string of the old syntax. */
static char *parse_as_string(struct parser *p)
{
    accept_word(p, KEYWORD_AS);
    return parse_string(p);
}

static void add_columns(struct parser *p, struct copy_statement *copy, char *name)
{
    struct option *option = option_new(p, name, OPTION_LIST, NULL);
    if (accept(p, '*'))
        option->kind = OPTION_STAR;
    else
        parse_names(p, &option->names);
    LIST_ADD(p, copy->options, option);
}

static void parse_old_options(struct parser *p, struct copy_statement *copy)
{
    for (;;) {
        if (accept_word(p, KEYWORD_BINARY))
            add_option(p, copy, "format", OPTION_WORD, "binary");
        else if (accept_word(p, KEYWORD_CSV))
            add_option(p, copy, "format", OPTION_WORD, "csv");
        else if (accept_word(p, KEYWORD_FREEZE))
            add_option(p, copy, "freeze", OPTION_WORD, "true");
        else if (accept_word(p, KEYWORD_HEADER))
            add_option(p, copy, "header", OPTION_WORD, "true");
        else if (accept_word(p, KEYWORD_DELIMITER))
            add_option(p, copy, "delimiter", OPTION_STRING, parse_as_string(p));
        else if (accept_word(p, KEYWORD_NULL))
            add_option(p, copy, "null", OPTION_STRING, parse_as_string(p));
        else if (accept_word(p, KEYWORD_QUOTE))
            add_option(p, copy, "quote", OPTION_STRING, parse_as_string(p));
        else if (accept_word(p, KEYWORD_ESCAPE))
            add_option(p, copy, "escape", OPTION_STRING, parse_as_string(p));
        else if (accept_word(p, KEYWORD_ENCODING))
            add_option(p, copy, "encoding", OPTION_STRING, parse_string(p));
        else if (accept_word(p, KEYWORD_FORCE)) {
            if (accept_word(p, KEYWORD_QUOTE)) {
                add_columns(p, copy, "force_quote");
            } else if (accept_word(p, KEYWORD_NULL)) {
                add_columns(p, copy, "force_null");
            } else {
                expect_word(p, KEYWORD_NOT);
                expect_word(p, KEYWORD_NULL);
                add_columns(p, copy, "force_not_null");
            }
        } else {
            return;
        }
    }
}

struct statement *parse_copy(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_COPY, sizeof(struct copy_statement));
    struct copy_statement *copy = statement->copy;

    expect_word(p, KEYWORD_COPY);
    copy->position = position(p);
    if (next_is(p, '(')) {
        advance(p);
        copy->query = parse_preparable(p);
        expect(p, ')');
        expect_word(p, KEYWORD_TO);
    } else {
        if (accept_word(p, KEYWORD_BINARY))
            add_option(p, copy, "format", OPTION_WORD, "binary");
        copy->relation = parse_relation_name(p);
        if (next_is(p, '('))
            parse_names_in_parentheses(p, &copy->columns);
        copy->is_from = accept_word(p, KEYWORD_FROM);
        if (!copy->is_from)
            expect_word(p, KEYWORD_TO);
    }
    copy->is_program = accept_word(p, KEYWORD_PROGRAM);
    if (next_is_word(p, KEYWORD_STDIN) || next_is_word(p, KEYWORD_STDOUT)) {
        if (copy->is_program)
            syntax_fail_at(p, 0, STATUS_SYNTAX, "STDIN/STDOUT not allowed with PROGRAM");
        advance(p);
    } else {
        copy->file = parse_string(p);
    }
    if (next_is_word(p, KEYWORD_USING) || next_is_word(p, KEYWORD_DELIMITERS)) {
        accept_word(p, KEYWORD_USING);
        expect_word(p, KEYWORD_DELIMITERS);
        add_option(p, copy, "delimiter", OPTION_STRING, parse_string(p));
    }
    accept_word(p, KEYWORD_WITH);
    if (next_is(p, '('))
        parse_generic_options(p, &copy->options);
    else
        parse_old_options(p, copy);
    if (next_is_word(p, KEYWORD_WHERE)) {
        if (!copy->is_from)
            syntax_fail_at(p, position(p), STATUS_SYNTAX, "WHERE clause not allowed with COPY TO");
        advance(p);
        copy->where = parse_expr(p);
    }
    return statement;
}
