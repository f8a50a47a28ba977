/* tests/parser/limits_test.c - deep nesting fails cleanly, long chains pass, garbage never crashes. */
#include "tests/parser/parse.h"

static enum status parse_repeated(const char *before, const char *unit, int count, const char *after, const char *closing)
{
    struct arena *arena = arena_open(NULL, "test");
    struct text_buffer text;
    struct statement_list list;

    text_buffer_open(&text, arena);
    text_buffer_puts(&text, before);
    for (int i = 0; i < count; i++)
        text_buffer_puts(&text, unit);
    text_buffer_puts(&text, after);
    for (int i = 0; closing && i < count; i++)
        text_buffer_puts(&text, closing);
    enum status status = parse_sql(arena, text.bytes, text.length, &list);
    if (status == STATUS_OK && list.items[0]->kind == STATEMENT_SELECT)
        cr_expect(strlen(deparse_select(arena, list.items[0]->select)) > 0);
    arena_close(arena);
    return status;
}

Test(limits, long_chains_pass)
{
    cr_expect_eq(parse_repeated("select 1", " + 1", 10000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select a", " and a", 100000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select a", " or a = 1", 100000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select a in (1", ", 1", 100000, ")", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select 'a'", " || 'a'", 10000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("insert into t values (1)", ", (1)", 100000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select 1", " union all select 1", 2000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select 1 from t", " join t using (a)", 2000, "", NULL), STATUS_OK);
    cr_expect_eq(parse_repeated("select ", "(", 400, "1", ")"), STATUS_OK);
}

Test(limits, deep_nesting_is_an_error_not_a_crash)
{
    static const struct { const char *before, *unit, *after, *closing; } cases[] = {
        {"select ", "(", "1", ")"},
        {"select ", "- ", "1", NULL},
        {"select ", "not ", "a", NULL},
        {"select ", "f(", "1", ")"},
        {"select ", "(select ", "1", ")"},
        {"", "(", "select 1", ")"},
        {"select * from ", "(", "a join b on true", ")"},
        {"select * from ", "(select * from ", "t", ") x"},
        {"select ", "array[", "1", "]"},
        {"select array", "[", "1", "]"},
        {"select ", "case when ", "a", " then 1 end"},
        {"select ", "a[", "1", "]"},
        {"select 1 from t group by ", "grouping sets (", "a", ")"},
        {"select 1 from ", "a join ", "b", " on true"},
        {"", "with x as (", "select 1", ") select 1"},
        {"select 1 ", "= any (array[", "2", "])"},
        {"select a", "::int", "", NULL},
        {"select a", " + 1", "", NULL},
        {"select a", " is null", "", NULL},
        {"select 1", " union select 1", "", NULL},
        {"select a", "[1].b", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum status status =
            parse_repeated(cases[i].before, cases[i].unit, 100000, cases[i].after, cases[i].closing);
        cr_expect(status == STATUS_TOO_COMPLEX || status == STATUS_SYNTAX, "%s: %s", cases[i].unit,
                  status_text(status));
    }
    cr_expect_eq(parse_repeated("select ", "(", 100000, "1", ")"), STATUS_TOO_COMPLEX);
    cr_expect_str_eq(error_current()->message, "stack depth limit exceeded");
    cr_expect_eq(parse_repeated("", "explain ", 100000, "select 1", NULL), STATUS_SYNTAX);
}

/* Bytes of good statements are changed, dropped, doubled: the outcome may be anything but a crash. */
Test(limits, twenty_thousand_broken_statements_crash_nothing)
{
    static const char *const samples[] = {
        "select distinct on (a) a.b, c as d, count(*) filter (where x > 1.5e3) over (partition by y order by z rows 2 "
        "preceding) from t as q (r) left join (select 1) s using (u), lateral f(a => 1) with ordinality where a in (1, 2) "
        "and b between 1 and 2 or c like 'x''y' group by rollup (a), () order by 1 desc nulls last limit 5 for update",
        "with recursive w(a) as (values (1) union all select a + 1 from w) insert into t (a, b) select a, E'\\u0041' from w "
        "on conflict (a) do update set (a, b) = (1, 2) returning *",
        "create table t (a int primary key, b numeric(10,2) default 1 + 2 not null check (b > 0), c text references u (x) "
        "on delete set null, foreign key (a, b) references v match full deferrable, like w including all) with (fillfactor = 70)",
        "alter table t add column a int, drop b cascade, alter c type int using c::int, add constraint x unique (a)",
        "copy t (a, b) from stdin with (format csv, header, force_quote (a, b)); explain (analyze, verbose) select $1; "
        "set time zone interval '1' hour; fetch 5 from c; lock t in share mode nowait; vacuum full t (a)",
        "select $$a$$, $q$b$q$, b'01', x'1f', \"Q\"\"q\", /* c /* d */ */ array[[1],[2]], (a).b[1:2].*, row(1), cast(x as bit(3)), "
        "extract(year from now()), case a when 1 then 2 else 3 end, interval '1' day to second(2) -- end",
    };
    static const char bytes[] = "()[],.;:'\"$\\/*-+<>=!~@#%^&|`? \n\tabcEeUuXx0123456789_\xC3\xA9\xFF\x80";
    const unsigned seed = 20150815;
    uint64_t state = seed;
    struct arena *arena = arena_open(NULL, "test");
    int accepted = 0;

    for (int round = 0; round < 20000; round++) {
        char text[2048];
        size_t length;
#define NEXT(n) ((state = state * UINT64_C(6364136223846793005) + 1442695040888963407u), (unsigned)(state >> 33) % (unsigned)(n))
        snprintf(text, sizeof text, "%s", samples[NEXT(sizeof samples / sizeof *samples)]);
        length = strlen(text);
        for (int changes = 1 + (int)NEXT(6); changes > 0 && length > 8; changes--) {
            size_t at = NEXT(length), count = 1 + NEXT(7);
            switch (NEXT(4)) {
            case 0: text[at] = bytes[NEXT(sizeof bytes)]; break;
            case 1:
                if (at + count < length) {
                    memmove(text + at, text + at + count, length - at - count);
                    length -= count;
                }
                break;
            case 2: length = at + 1; break;
            default:
                if (length + count < sizeof text && at + count < length) {
                    memmove(text + at + count, text + at, length - at);
                    length += count;
                }
                break;
            }
        }
        struct statement_list list;
        arena_reset(arena);
        char *exact = malloc(length);     /* so that a sanitizer sees a read past the end */
        memcpy(exact, text, length);
        enum status status = parse_sql(arena, exact, length, &list);
        free(exact);
        if (status == STATUS_OK) {
            accepted++;
            for (int i = 0; i < list.count; i++)
                if (list.items[i]->kind == STATEMENT_SELECT)
                    deparse_select(arena, list.items[i]->select);
        } else {
            cr_assert_not_null(error_current()->message, "seed %u round %d", seed, round);
        }
    }
    cr_expect(accepted > 100, "seed %u: only %d parsed", seed, accepted);
    arena_close(arena);
}
