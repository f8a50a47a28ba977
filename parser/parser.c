/* parser/parser.c - the ways in, the window of tokens, names, and how a rule fails. See internal.h for the rules. */
#include "parser/internal.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX_BYTES ((size_t)1 << 30)

/* ---- stack ---- */

enum status stack_too_deep(void)
{
    enum status status = error_set(STATUS_TOO_COMPLEX, "stack depth limit exceeded");
    error_hint("Make the statement less deeply nested.");
    return status;
}

bool depth_enter(struct parser *p)
{
    if (failed(p))
        return false;
    if (p->depth >= TREE_MAX_DEPTH || stack_is_deep()) {
        int at = position(p);
        if (!failed(p)) {
            p->status = stack_too_deep();
            error_position(at);
            p->filled = 0;
        }
        return false;
    }
    p->depth++;
    return true;
}

void height_raise(struct parser *p, int height)
{
    if (height <= p->height)
        return;
    p->height = height;
    if (height > TREE_MAX_HEIGHT && !failed(p)) {
        p->status = stack_too_deep();
        p->filled = 0;
    }
}

/* ---- tokens and errors ---- */

const struct token *peek_slow(struct parser *p, int ahead)
{
    while (p->filled <= ahead) {
        int filled = p->filled;          /* a failure in the lexer leaves the tokens before it as they are */
        p->tokens[(p->first + filled) & (LOOKAHEAD - 1)] = lexer_next(p);
        p->filled = filled + 1;
    }
    return &p->tokens[(p->first + ahead) & (LOOKAHEAD - 1)];
}

void syntax_fail_at(struct parser *p, int position, enum status status, const char *format, ...)
{
    if (failed(p)) {
        p->filled = 0;                   /* tokens read before the lexer failed end here at the latest */
        return;
    }
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    p->status = error_set(status, "%s", message);
    error_position(position);
    p->filled = 0;                       /* from here on the lexer gives TOKEN_END */
}

void fail_syntax(struct parser *p)
{
    const struct token *token = peek(p);
    if (failed(p)) {
        p->filled = 0;
        return;
    }
    int start = token->start, end = token->end;
    if (token->kind == TOKEN_END) {
        syntax_fail_at(p, p->length + 1, STATUS_SYNTAX, "syntax error at end of input");
        return;
    }
    p->status = error_set(STATUS_SYNTAX, "syntax error at or near \"%.*s\"", end - start, p->sql + start);
    error_position(start + 1);
    p->filled = 0;
}

void expect(struct parser *p, int kind)
{
    if (!accept(p, kind))
        fail_syntax(p);
}

void expect_word(struct parser *p, enum keyword keyword)
{
    if (!accept_word(p, keyword))
        fail_syntax(p);
}

void *list_room(struct parser *p, void *items, int count, size_t item_bytes)
{
    if (count == 0)
        return arena_alloc(p->arena, 4 * item_bytes);
    if (count >= 4 && (count & (count - 1)) == 0)
        return arena_grow(p->arena, items, (size_t)count * item_bytes, (size_t)count * 2 * item_bytes);
    return items;
}

/* ---- names ---- */

static bool token_is_column_name(const struct token *token)
{
    if (token->kind == TOKEN_IDENTIFIER)
        return true;
    return token->kind == TOKEN_KEYWORD && (keyword_table[token->keyword].class == CLASS_UNRESERVED ||
                                            keyword_table[token->keyword].class == CLASS_COLUMN_NAME);
}

/* NULLS before FIRST or LAST is no name. */
bool next_is_column_name(struct parser *p)
{
    if (next_is_word(p, KEYWORD_NULLS) && (after_is_word(p, KEYWORD_FIRST) || after_is_word(p, KEYWORD_LAST)))
        return false;
    return token_is_column_name(peek(p));
}

bool next_is_function_name(struct parser *p)
{
    const struct token *token = peek(p);
    if (token->kind == TOKEN_IDENTIFIER)
        return true;
    return token->kind == TOKEN_KEYWORD && (keyword_table[token->keyword].class == CLASS_UNRESERVED ||
                                            keyword_table[token->keyword].class == CLASS_FUNCTION_NAME);
}

bool token_is_label(const struct token *token)
{
    return token->kind == TOKEN_IDENTIFIER || token->kind == TOKEN_KEYWORD;
}

bool token_is_bare_label(const struct token *token)
{
    return token->kind == TOKEN_IDENTIFIER || (token->kind == TOKEN_KEYWORD && keyword_table[token->keyword].bare);
}

char *parse_name(struct parser *p)
{
    if (!next_is_column_name(p)) {
        fail_syntax(p);
        return "";
    }
    char *name = peek(p)->text;
    advance(p);
    return name;
}

char *parse_label(struct parser *p)
{
    if (!token_is_label(peek(p))) {
        fail_syntax(p);
        return "";
    }
    char *name = peek(p)->text;
    advance(p);
    return name;
}

/* Who owns: any word that isn't reserved, or CURRENT_USER and its kin. */
char *parse_role(struct parser *p)
{
    const struct token *token = peek(p);
    if (token->kind == TOKEN_KEYWORD && keyword_table[token->keyword].class == CLASS_RESERVED &&
        token->keyword != KEYWORD_CURRENT_USER && token->keyword != KEYWORD_CURRENT_ROLE &&
        token->keyword != KEYWORD_SESSION_USER)
        fail_syntax(p);
    return parse_label(p);
}

char *parse_string(struct parser *p)
{
    if (!next_is(p, TOKEN_STRING)) {
        fail_syntax(p);
        return "";
    }
    char *text = peek(p)->text;
    advance(p);
    return text;
}

static void add_name(struct parser *p, struct name_list *list, char *name, int position)
{
    list->positions = list_room(p, list->positions, list->count, sizeof *list->positions);
    list->positions[list->count] = position;
    LIST_ADD(p, *list, name);
}

void parse_names(struct parser *p, struct name_list *list)
{
    do {
        int at = position(p);
        add_name(p, list, parse_name(p), at);
    } while (accept(p, ','));
}

void parse_names_in_parentheses(struct parser *p, struct name_list *list)
{
    expect(p, '(');
    parse_names(p, list);
    expect(p, ')');
}

static void too_many_dots(struct parser *p, const struct relation_name *relation)
{
    struct text_buffer text;
    text_buffer_open(&text, p->arena);
    text_buffer_printf(&text, "%s.%s.%s", relation->catalog, relation->schema, relation->name);
    while (accept(p, '.')) text_buffer_printf(&text, ".%s", parse_label(p));
    syntax_fail_at(p, relation->position, STATUS_SYNTAX, "improper qualified name (too many dotted names): %s", text.bytes);
}

struct relation_name *parse_relation_name(struct parser *p)
{
    struct relation_name *relation = arena_new(p->arena, struct relation_name);

    relation->position = position(p);
    relation->name = parse_name(p);
    for (int i = 0; i < 2 && accept(p, '.'); i++) {
        relation->catalog = relation->schema;
        relation->schema = relation->name;
        relation->name = parse_label(p);
    }
    if (next_is(p, '.'))
        too_many_dots(p, relation);
    return relation;
}

struct relation_name *parse_relation_expr(struct parser *p)
{
    bool only = accept_word(p, KEYWORD_ONLY);
    bool parenthesised = only && accept(p, '(');
    struct relation_name *relation = parse_relation_name(p);

    relation->only = only;
    if (parenthesised)
        expect(p, ')');
    else if (!only)
        accept(p, '*');
    return relation;
}

void parse_relations(struct parser *p, struct relation_list *list)
{
    do {
        LIST_ADD(p, *list, parse_relation_name(p));
    } while (accept(p, ','));
}

void parse_any_name(struct parser *p, char **schema, char **name)
{
    struct relation_name *relation = parse_relation_name(p);
    *schema = relation->schema;
    *name = relation->name;
}

int64_t parse_signed_integer(struct parser *p)
{
    bool minus = accept(p, '-');
    if (!minus)
        accept(p, '+');
    if (!next_is(p, TOKEN_INTEGER)) {
        fail_syntax(p);
        return 0;
    }
    int64_t value = peek(p)->integer;
    advance(p);
    return minus ? -value : value;
}

/* ---- the ways in ---- */

static enum status parser_start(struct parser *p, struct arena *arena, const char *sql, size_t length)
{
    if (length > TEXT_MAX_BYTES)
        return error_set(STATUS_LIMIT_EXCEEDED, "query string is too long: %zu bytes, at most %zu are allowed", length,
                         TEXT_MAX_BYTES);
    enum status status = text_check(sql, length);
    if (status)
        return status;
    *p = (struct parser){.arena = arena, .sql = sql, .length = (int)length};
    return STATUS_OK;
}

enum status parse_sql(struct arena *arena, const char *sql, size_t length, struct statement_list *out)
{
    struct parser parser, *p = &parser;
    enum status status = parser_start(p, arena, sql, length);

    *out = (struct statement_list){0};
    if (status)
        return status;
    while (!next_is(p, TOKEN_END) && !failed(p)) {
        if (accept(p, ';'))
            continue;
        int start = position(p);
        struct statement *statement = parse_statement(p);
        if (!next_is(p, TOKEN_END) && !next_is(p, ';'))
            fail_syntax(p);
        statement->start = start;
        statement->length = p->last_end + 1 - start;
        LIST_ADD(p, *out, statement);
    }
    out->parameter_count = p->parameter_count;
    return p->status;
}

enum status parse_expression(struct arena *arena, const char *sql, size_t length, struct expr **out)
{
    struct parser parser, *p = &parser;
    enum status status = parser_start(p, arena, sql, length);

    *out = NULL;
    if (status)
        return status;
    *out = parse_expr(p);
    if (!next_is(p, TOKEN_END))
        fail_syntax(p);
    return p->status;
}

enum status parse_type_name(struct arena *arena, const char *sql, size_t length, struct type_name **out)
{
    struct parser parser, *p = &parser;
    enum status status = parser_start(p, arena, sql, length);

    *out = NULL;
    if (status)
        return status;
    *out = parse_type(p);
    if (!next_is(p, TOKEN_END))
        fail_syntax(p);
    return p->status;
}

/* Words in such a string are no keywords: nextval('table') names a relation called table. */
enum status parse_qualified_name(struct arena *arena, const char *text, struct relation_name *out)
{
    struct parser parser, *p = &parser;
    enum status status = parser_start(p, arena, text, strlen(text));
    char *parts[3];
    int count = 0;

    *out = (struct relation_name){0};
    if (status)
        return status;
    do {
        if (!token_is_label(peek(p)) || count == 3)
            return count == 3
                       ? error_set(STATUS_SYNTAX, "improper relation name (too many dotted names): %s", text)
                       : error_set(STATUS_INVALID_NAME, "invalid name syntax");
        parts[count++] = peek(p)->text;
        advance(p);
    } while (accept(p, '.'));
    if (!next_is(p, TOKEN_END) || failed(p))
        return error_set(STATUS_INVALID_NAME, "invalid name syntax");
    out->name = parts[count - 1];
    out->schema = count > 1 ? parts[count - 2] : NULL;
    out->catalog = count > 2 ? parts[count - 3] : NULL;
    return STATUS_OK;
}
