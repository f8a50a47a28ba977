/* tests/parser/parse.h - what the parser's tests share: parse, and say the outcome as one short string. */
#ifndef TESTS_PARSER_PARSE_H
#define TESTS_PARSER_PARSE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "parser/parser.h"

/* The text's expression, printed with every parenthesis; or "SQLSTATE message @position". */
static inline char *shape(struct arena *arena, const char *sql)
{
    struct expr *expr;
    if (parse_expression(arena, sql, strlen(sql), &expr) == STATUS_OK)
        return deparse_expr(arena, expr);
    struct error *error = error_current();
    return arena_printf(arena, "%s %s @%d", error->sqlstate, error->message, error->position);
}

/* The statements' tags joined by ", "; or the error as above. */
static inline char *tags(struct arena *arena, const char *sql)
{
    struct statement_list list;
    if (parse_sql(arena, sql, strlen(sql), &list) != STATUS_OK) {
        struct error *error = error_current();
        return arena_printf(arena, "%s %s @%d", error->sqlstate, error->message, error->position);
    }
    char *text = "";
    for (int i = 0; i < list.count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", statement_tag(list.items[i]));
    return text;
}

/* Pairs of text and what is expected of it. */
struct pair { const char *sql, *expected; };

static inline void check_pairs(const struct pair *pairs, size_t count, char *(*outcome)(struct arena *, const char *))
{
    struct arena *arena = arena_open(NULL, "test");
    for (size_t i = 0; i < count; i++) {
        char *got = outcome(arena, pairs[i].sql);
        cr_expect_str_eq(got, pairs[i].expected, "%s\n      got: %s\n expected: %s", pairs[i].sql, got,
                         pairs[i].expected);
    }
    arena_close(arena);
}
#define CHECK_PAIRS(pairs, outcome) check_pairs(pairs, sizeof pairs / sizeof *pairs, outcome)

/* The only statement of the text. */
static inline struct statement *parse_one(struct arena *arena, const char *sql)
{
    struct statement_list list;
    enum status status = parse_sql(arena, sql, strlen(sql), &list);
    cr_assert_eq(status, STATUS_OK, "%s: %s", sql, error_current()->message);
    cr_assert_eq(list.count, 1);
    return list.items[0];
}

#endif
