/* tests/parser/expr_test.c - precedence, special syntax, and texts that come back as the tree they were. */
#include "tests/parser/parse.h"

Test(expr, operators_bind_as_in_postgresql)
{
    static const struct pair pairs[] = {
        {"a + b * c", "(a + (b * c))"},
        {"a - b - c", "((a - b) - c)"},
        {"2 ^ 3 ^ 4", "((2 ^ 3) ^ 4)"},
        {"-2 ^ 2", "('-2'::integer ^ 2)"},
        {"-a::int", "(- (a)::integer)"},
        {"-a ^ b", "((- a) ^ b)"},
        {"@ -5 + 3", "(@ ('-5'::integer + 3))"},
        {"a || b + c", "(a || (b + c))"},
        {"a <-1", "(a < '-1'::integer)"},
        {"a@-1", "(a @- 1)"},
        {"a*-1", "(a * '-1'::integer)"},
        {"a or b and not c = d", "(a OR (b AND (NOT (c = d))))"},
        {"a and b and (c and d)", "(a AND b AND (c AND d))"},
        {"not not a", "(NOT (NOT a))"},
        {"true = not false", "(true = (NOT false))"},
        {"a = b is null", "((a = b) IS NULL)"},
        {"a is null < b", "((a IS NULL) < b)"},
        {"not a is null", "(NOT (a IS NULL))"},
        {"a isnull and b notnull", "((a IS NULL) AND (b IS NOT NULL))"},
        {"a is not distinct from b + 1", "(NOT (a IS DISTINCT FROM (b + 1)))"},
        {"a between 1 + 1 and 3 and b", "(((a >= (1 + 1)) AND (a <= 3)) AND b)"},
        {"a not between symmetric 1 and 2", "(a NOT BETWEEN SYMMETRIC (1) AND 2)"},
        {"a like b || c escape '!'", "(a LIKE (b || c) ESCAPE '!')"},
        {"a not ilike b", "(a !~~* b)"},
        {"a ~~ b", "(a ~~ b)"},
        {"a in (1, 2) in (true)", "((a = ANY (ARRAY[1, 2])) IN (true))"},
        {"a not in ('x')", "(a NOT IN ('x'))"},
        {"a = any (b) = c", "((a = ANY (b)) = c)"},
        {"a collate \"C\" || b", "((a COLLATE \"C\") || b)"},
        {"a + b at time zone 'x'", "(a + (b AT TIME ZONE 'x'))"},
        {"a operator(pg_catalog.+) b * c", "(a + (b * c))"},
        {"a = b = c", "42601 syntax error at or near \"=\" @7"},
        {"a like b like c", "42601 syntax error at or near \"like\" @10"},
    };
    CHECK_PAIRS(pairs, shape);
}

Test(expr, special_forms_come_back)
{
    static const struct pair pairs[] = {
        {"case a when 1 then 2 else 3 end", "CASE a WHEN 1 THEN 2 ELSE 3 END"},
        {"coalesce(a, nullif(b, 1), greatest(1, 2))", "COALESCE(a, NULLIF(b, 1), GREATEST(1, 2))"},
        {"extract(year from d)", "EXTRACT(year FROM d)"},
        {"substring(a from 2 for 3)", "SUBSTRING(a FROM 2 FOR 3)"},
        {"substring(a for 3)", "SUBSTRING(a FROM 1 FOR (3)::integer)"},
        {"substring(a, 2)", "\"substring\"(a, 2)"},
        {"position('a' in b)", "POSITION(('a') IN (b))"},
        {"trim(leading 'x' from y)", "TRIM(LEADING 'x' FROM y)"},
        {"overlay(a placing b from 1)", "OVERLAY(a PLACING b FROM 1)"},
        {"(a, b) overlaps (c, d)", "((a, b) OVERLAPS (c, d))"},
        {"current_timestamp(3)", "CURRENT_TIMESTAMP(3)"},
        {"date '2020-01-01' + interval '1' day", "('2020-01-01'::date + '1'::interval day)"},
        {"timestamp(3) with time zone 'x'", "'x'::timestamp(3) with time zone"},
        {"array[[1, 2], [3]]", "ARRAY[ARRAY[1, 2], ARRAY[3]]"},
        {"a[1][2:3].f", "(a[1][2:3]).f"},
        {"((1, 2), (row(3)))", "ROW(ROW(1, 2), ROW(3))"},
        {"count(distinct a) filter (where b > 0)", "count(DISTINCT a) FILTER (WHERE (b > 0))"},
        {"sum(x) over (partition by a order by b desc rows 2 preceding)",
         "sum(x) OVER (PARTITION BY a ORDER BY b DESC ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"},
        {"f(1, a => 2)", "f(1, a => 2)"}, {"f(variadic b)", "f(VARIADIC b)"},
        {"exists (select 1 from t where x)", "(EXISTS ( SELECT 1 FROM t WHERE x))"},
        {"((select 1) + 2)", "(( SELECT 1) + 2)"},
        {"((select 1) union select 2) = 3", "(( (SELECT 1) UNION (SELECT 2)) = 3)"},
        {"x in ((select 1))", "(x IN ( SELECT 1))"},
        {"cast(a as numeric(10, 2)[])", "(a)::numeric(10,2)[]"},
        {"a::character varying(3)", "(a)::character varying(3)"},
        {"a::char", "(a)::character(1)"},
        {"a::\"char\"", "(a)::\"char\""},
        {"left(a, 1) || \"select\" || 'it''s' || E'\\x41\\n'", "(((\"left\"(a, 1) || \"select\") || 'it''s') || 'A\n')"},
        {"-9223372036854775808 + 9223372036854775808",
         "('-9223372036854775808'::bigint + 9223372036854775808)"},
        {"timestamp || interval || values", "((\"timestamp\" || \"interval\") || \"values\")"},
    };
    CHECK_PAIRS(pairs, shape);
}

Test(expr, printing_what_was_printed_changes_nothing)
{
    static const char *const texts[] = {
        "a between 1 and 2 or b not in (1, 2) and c like 'x%'",
        "case when a is distinct from b then -1 end + coalesce(a, 2)",
        ("exists (with q as (values (1, 'a')) select distinct on (a) q.* from q left join t using (a) where t.b = any (array[1]) "
        "group by a, rollup (b) having count(*) > 1 order by 1 desc nulls last limit 5 offset 1)"),
        "(select a from (select 1 union all select 2 except select 3) s(a), lateral f(a) with ordinality g(x, n))",
    };
    struct arena *arena = arena_open(NULL, "test");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *once = shape(arena, texts[i]), *twice = shape(arena, once);
        cr_expect_str_eq(twice, once);
        cr_expect_neq(once[0], '4', "%s", once);
    }
    arena_close(arena);
}

Test(expr, columns_without_as_are_named_as_postgresql_names_them)
{
    static const struct pair pairs[] = {
        {"a.b", "b"}, {"1 + 2", "?column?"}, {"now()", "now"}, {"'1'::int", "int4"}, {"a::int", "a"},
        {"case when a then 1 end", "case"}, {"case when a then 1 else b end", "b"}, {"coalesce(a, 1)", "coalesce"},
        {"current_user", "current_user"}, {"(select max(x) from t)", "max"}, {"exists (select 1)", "exists"},
        {"array[1]", "array"}, {"true", "?column?"}, {"a[1]", "a"}, {"(a).b", "b"}, {"extract(year from a)", "extract"},
        {"interval '1 day'", "interval"}, {"a at time zone 'x'", "timezone"},
    };
    struct arena *arena = arena_open(NULL, "test");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct expr *expr;
        cr_assert_eq(parse_expression(arena, pairs[i].sql, strlen(pairs[i].sql), &expr), STATUS_OK);
        cr_expect_str_eq(tree_column_name(expr), pairs[i].expected, "%s", pairs[i].sql);
    }
    arena_close(arena);
}
