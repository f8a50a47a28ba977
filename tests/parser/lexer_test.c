/* tests/parser/lexer_test.c - strings, names, numbers, and the bytes that are refused. */
#include "tests/parser/parse.h"

static struct expr *literal(struct arena *arena, const char *sql)
{
    struct expr *expr;
    enum status status = parse_expression(arena, sql, strlen(sql), &expr);
    cr_assert_eq(status, STATUS_OK, "%s: %s", sql, error_current()->message);
    cr_assert_eq(expr->kind, EXPR_LITERAL);
    return expr;
}

Test(lexer, strings_of_every_kind_hold_their_text)
{
    static const struct pair pairs[] = {
        {"'it''s'", "it's"}, {"'a'\n  -- comment\n 'b'", "ab"}, {"'a\\nb'", "a\\nb"}, {"$$a'b$$", "a'b"},
        {"$q$x$$y$q$", "x$$y"}, {"E'\\t\\101\\x42\\u0043\\'\\\\'", "\tABC'\\"}, {"E'\\U0001F600'", "\xF0\x9F\x98\x80"},
        {"E'\\ud83d\\ude00'", "\xF0\x9F\x98\x80"}, {"b'0101'", "0101"}, {"X'1f'", "1f"}, {"e'a''b'", "a'b"},
    };
    struct arena *arena = arena_open(NULL, "test");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct expr *expr = literal(arena, pairs[i].sql);
        cr_expect_str_eq(expr->literal.text, pairs[i].expected, "%s gave %s", pairs[i].sql, expr->literal.text);
        cr_expect_eq(expr->literal.length, (int)strlen(pairs[i].expected));
    }
    arena_close(arena);
}

Test(lexer, numbers_are_integers_only_where_they_fit)
{
    struct arena *arena = arena_open(NULL, "test");
    cr_expect_eq(literal(arena, "9223372036854775807")->literal.kind, LITERAL_INTEGER);
    cr_expect_eq(literal(arena, "9223372036854775807")->literal.integer, INT64_MAX);
    cr_expect_eq(literal(arena, "-9223372036854775808")->literal.integer, INT64_MIN);
    cr_expect_eq(literal(arena, "9223372036854775808")->literal.kind, LITERAL_NUMERIC);
    cr_expect_str_eq(literal(arena, "1.5e-3")->literal.text, "1.5e-3");
    cr_expect_str_eq(literal(arena, ".5")->literal.text, ".5");
    cr_expect_str_eq(literal(arena, "5.")->literal.text, "5.");
    arena_close(arena);
}

Test(lexer, names_fold_unless_quoted_and_are_cut_at_63_bytes)
{
    struct arena *arena = arena_open(NULL, "test");
    char sql[300], name[100];

    cr_expect_str_eq(shape(arena, "FooBar"), "foobar");
    cr_expect_str_eq(shape(arena, "\"Foo\"\"Bar\""), "\"Foo\"\"Bar\"");
    memset(name, 'a', 80);
    name[80] = '\0';
    snprintf(sql, sizeof sql, "%s", name);
    name[63] = '\0';
    cr_expect_str_eq(shape(arena, sql), name);
    memset(name, 'a', 62);                /* a two-byte letter across the limit goes altogether */
    name[62] = '\0';
    snprintf(sql, sizeof sql, "%s\xC3\xA9zzz", name);
    cr_expect_str_eq(shape(arena, sql), name);
    arena_close(arena);
}

Test(lexer, errors_say_what_postgresql_says)
{
    static const struct pair pairs[] = {
        {"select 'abc", "42601 unterminated quoted string at or near \"'abc\" @8"},
        {"select \"abc", "42601 unterminated quoted identifier at or near \"\"abc\" @8"},
        {"select \"\"", "42601 zero-length delimited identifier at or near \"\"\"\" @8"},
        {"select $a$ b", "42601 unterminated dollar-quoted string at or near \"$a$ b\" @8"},
        {"select /* x", "42601 unterminated /* comment at or near \"/* x\" @8"},
        {"select 123abc", "42601 trailing junk after numeric literal at or near \"123abc\" @8"},
        {"select $1a", "42601 trailing junk after parameter at or near \"$1a\" @8"},
        {"select E'\\u12'", "22025 invalid Unicode escape @10"},
        {"select E'\\u0000'", "42601 invalid Unicode escape value at or near \"\\u0000\" @10"},
        {"select E'\\xff'", "22021 invalid byte sequence for encoding \"UTF8\": 0xff @0"},
        {"select '\xff'", "22021 invalid byte sequence for encoding \"UTF8\": 0xff @0"},
        {"select '\xc3('", "22021 invalid byte sequence for encoding \"UTF8\": 0xc3 0x28 @0"},
        {"select b'12'", "22P02 \"2\" is not a valid binary digit @8"},
        {"select $ 1", "42601 syntax error at or near \"$\" @8"},
        {"select U&'x'", "0A000 U& Unicode escapes are not supported @8"},
    };
    CHECK_PAIRS(pairs, tags);
}

Test(lexer, a_nul_byte_is_refused)
{
    struct arena *arena = arena_open(NULL, "test");
    struct statement_list list;
    cr_expect_eq(parse_sql(arena, "select\0 1", 9, &list), STATUS_CHARACTER_NOT_IN_REPERTOIRE);
    arena_close(arena);
}

Test(lexer, comments_nest_and_operators_stop_at_them)
{
    static const struct pair pairs[] = {
        {"1 /* a /* b */ c */ + 2", "(1 + 2)"}, {"1 +-- x\n 2", "(1 + 2)"}, {"a*/* x */b", "(a * b)"},
    };
    CHECK_PAIRS(pairs, shape);
}
