/* parser/option.c - lists of name = value: storage parameters, the options of COPY, EXPLAIN and VACUUM, sequences. */
#include "parser/internal.h"

struct option *option_new(struct parser *p, char *name, enum option_kind kind, char *text)
{
    struct option *option = arena_new(p->arena, struct option);
    option->name = name;
    option->kind = kind;
    option->text = text;
    option->position = option->value_position = position(p);
    return option;
}

/* One value: a word, a string, a number with its sign, and where a generic list allows it * or (a, b). */
static void parse_value(struct parser *p, struct option *option, bool generic)
{
    const struct token *token = peek(p);

    option->value_position = token->start + 1;
    if (token->kind == TOKEN_STRING) {
        option->kind = OPTION_STRING;
        option->text = token->text;
        advance(p);
    } else if (token_is_label(token)) {
        option->kind = OPTION_WORD;
        option->text = token->text;
        advance(p);
    } else if (generic && token->kind == '*') {
        option->kind = OPTION_STAR;
        advance(p);
    } else if (generic && token->kind == '(') {
        option->kind = OPTION_LIST;
        advance(p);
        do {
            option->names.positions = list_room(p, option->names.positions, option->names.count, sizeof(int));
            option->names.positions[option->names.count] = position(p);
            char *item = next_is(p, TOKEN_STRING) ? parse_string(p) : parse_label(p);
            LIST_ADD(p, option->names, item);
        } while (accept(p, ','));
        expect(p, ')');
    } else {
        bool minus = accept(p, '-');
        if (!minus)
            accept(p, '+');
        option->kind = OPTION_NUMBER;
        if (!next_is(p, TOKEN_INTEGER) && !next_is(p, TOKEN_NUMERIC)) {
            fail_syntax(p);
            option->text = "";
            return;
        }
        option->text = minus ? arena_printf(p->arena, "-%s", peek(p)->text) : peek(p)->text;
        advance(p);
    }
}

/* (a, b = 5, toast.c = on) of WITH. */
void parse_options(struct parser *p, struct option_list *list)
{
    expect(p, '(');
    do {
        struct option *option = option_new(p, NULL, OPTION_NONE, NULL);
        option->name = parse_label(p);
        if (accept(p, '.')) {
            option->name_space = option->name;
            option->name = parse_label(p);
        }
        if (accept(p, '='))
            parse_value(p, option, false);
        LIST_ADD(p, *list, option);
    } while (accept(p, ','));
    expect(p, ')');
}

/* (a, b on, c 'x', d (e, f), g *) */
void parse_generic_options(struct parser *p, struct option_list *list)
{
    expect(p, '(');
    do {
        struct option *option = option_new(p, NULL, OPTION_NONE, NULL);
        option->name = parse_label(p);
        if (!next_is(p, ',') && !next_is(p, ')'))
            parse_value(p, option, true);
        LIST_ADD(p, *list, option);
    } while (accept(p, ','));
    expect(p, ')');
}

static struct option *parse_sequence_option(struct parser *p)
{
    struct option *option = option_new(p, NULL, OPTION_NONE, NULL);
    bool no = accept_word(p, KEYWORD_NO);
    enum keyword keyword = peek(p)->keyword;

    if (no && keyword != KEYWORD_MINVALUE && keyword != KEYWORD_MAXVALUE && keyword != KEYWORD_CYCLE) {
        fail_syntax(p);
        option->name = "";
        return option;
    }
    option->name = (char *)(keyword == NO_KEYWORD ? "" : keyword_table[keyword].text);
    advance(p);
    switch ((int)keyword) {
    case KEYWORD_MINVALUE: case KEYWORD_MAXVALUE:
        if (!no)
            parse_value(p, option, false);
        break;
    case KEYWORD_CYCLE:
        option->kind = OPTION_WORD;
        option->text = no ? "false" : "true";
        break;
    case KEYWORD_INCREMENT:
        accept_word(p, KEYWORD_BY);
        parse_value(p, option, false);
        break;
    case KEYWORD_CACHE:
        parse_value(p, option, false);
        break;
    case KEYWORD_START:
        accept_word(p, KEYWORD_WITH);
        parse_value(p, option, false);
        break;
    case KEYWORD_RESTART:
        if (accept_word(p, KEYWORD_WITH) || next_is(p, TOKEN_INTEGER) || next_is(p, TOKEN_NUMERIC) ||
            next_is(p, '-') || next_is(p, '+'))
            parse_value(p, option, false);
        break;
    case KEYWORD_AS:
        option->kind = OPTION_WORD;
        option->value_position = position(p);
        option->text = parse_type(p)->name;
        break;
    case KEYWORD_OWNED: {
        option->name = "owned_by";
        option->kind = OPTION_LIST;
        expect_word(p, KEYWORD_BY);
        do {
            char *part = parse_label(p);
            LIST_ADD(p, option->names, part);
        } while (accept(p, '.'));
        break;
    }
    case KEYWORD_SEQUENCE:               /* of an identity column, as pg_dump writes it: SEQUENCE NAME s.t */
        option->name = "sequence_name";
        option->kind = OPTION_LIST;
        expect_word(p, KEYWORD_NAME);
        do {
            char *part = parse_label(p);
            LIST_ADD(p, option->names, part);
        } while (accept(p, '.'));
        break;
    default:
        break;
    }
    if (option->kind == OPTION_WORD && option->text == NULL)
        option->text = "";
    return option;
}

static bool sequence_option_is_ahead(struct parser *p)
{
    switch ((int)peek(p)->keyword) {
    case KEYWORD_NO: case KEYWORD_MINVALUE: case KEYWORD_MAXVALUE: case KEYWORD_CYCLE: case KEYWORD_INCREMENT:
    case KEYWORD_CACHE: case KEYWORD_START: case KEYWORD_RESTART: case KEYWORD_AS: case KEYWORD_OWNED: case KEYWORD_SEQUENCE:
        return true;
    default:
        return false;
    }
}

void parse_sequence_options(struct parser *p, struct option_list *list)
{
    while (sequence_option_is_ahead(p))
        LIST_ADD(p, *list, parse_sequence_option(p));
}
