/* tests/engine/plan_shape_test.c - What EXPLAIN shows: joins, indexes, unnested subqueries, filters where they belong. */
#include <criterion/criterion.h>
#include "tests/engine/in_process.h"

static struct peer peer = { .line_ends = true };
static struct engine *engine;
static char directory[] = "/tmp/crab-plan-XXXXXX";
#define output (peer.answer)

static void run(const char *sql)
{
    enum status status = peer_run(&peer, sql);
    cr_assert_eq(status, STATUS_OK, "%s: %s", sql, error_current()->message);
}

static void open_all(void)
{
    cr_assert(scratch_engine_open(directory, &engine));
    cr_assert_eq(peer_open(&peer, engine, 0), STATUS_OK);
    run("create table big (id int primary key, k int, v text); create table small (id int primary key, name text);"
        "insert into big select g, g % 100, 'v' || g from generate_series(1, 20000) g; insert into small select g, 'n' || g from generate_series(1, 10) g;"
        "create index big_k on big (k); analyze big; analyze small;");
}

static void close_all(void)
{
    peer_close(&peer);
    if (!scratch_engine_close(directory, engine)) cr_log_warn("scratch directory stays");
}

TestSuite(plan_shape, .init = open_all, .fini = close_all);

static void explains(const char *sql, const char *wanted)
{
    char text[4096];
    snprintf(text, sizeof text, "explain (costs off) %s", sql);
    run(text);
    cr_assert_str_eq(output, wanted, "%s\n-- got:\n%s-- wanted:\n%s", sql, output, wanted);
}

Test(plan_shape, a_row_by_its_key_is_one_index_scan)
{
    explains("select v from big where id = 7", "Index Scan using big_pkey on big\n  Index Cond: (id = 7)\n");
}

Test(plan_shape, a_range_bounds_the_index_and_the_rest_filters)
{
    explains("select v from big where id > 10 and id <= 20 and v <> 'x'",
             "Index Scan using big_pkey on big\n  Index Cond: ((id > 10) AND (id <= 20))\n  Filter: (v <> 'x'::text)\n");
}

Test(plan_shape, order_and_limit_are_read_off_the_index)
{
    explains("select id from big order by id desc limit 3", "Limit\n  ->  Index Only Scan Backward using big_pkey on big\n");
}

Test(plan_shape, few_rows_find_their_partners_by_index)
{
    explains("select s.name, b.v from small s join big b on b.id = s.id where s.name = 'n3'",
             "Nested Loop\n  ->  Seq Scan on small s\n        Filter: (name = 'n3'::text)\n  ->  Index Scan using big_pkey on big b\n        Index Cond: (id = s.id)\n");
}

/* What the scan by big_pkey is thought to cost. */
static double cost_by_key(const char *sql)
{
    char text[1024];
    snprintf(text, sizeof text, "explain %s", sql);
    run(text);
    const char *scan = strstr(output, "Index Scan using big_pkey on big b"), *end = scan ? strstr(scan, "..") : NULL;
    cr_assert(end, "%s", output);
    return atof(end + 2);
}

Test(plan_shape, what_another_join_needs_makes_an_index_no_cover)
{
    const char *sql = "select count(*) from (select id from small where name = 'n3' offset 0) s join big b on b.id = s.id left join small t on t.name = b.v::text";
    run("vacuum analyze big");
    double with = cost_by_key(sql);
    run("set enable_indexonlyscan = off");
    double without = cost_by_key(sql);
    run("reset enable_indexonlyscan");
    cr_assert_float_eq(with, without, 1e-9, "%f %f", with, without);
}

Test(plan_shape, an_outer_join_whose_nulls_go_is_an_inner_one)
{
    explains("select count(*) from big b left join small s on s.id = b.k where s.name <> 'a'",
             "Aggregate\n  ->  Hash Join\n        Hash Cond: (b.k = s.id)\n        ->  Seq Scan on big b\n        ->  Hash\n              ->  Seq Scan on small s\n                    Filter: (name <> 'a'::text)\n");
}

Test(plan_shape, not_exists_is_an_anti_join)
{
    explains("select count(*) from big b where not exists (select 1 from small s where s.id = b.k)",
             "Aggregate\n  ->  Hash Anti Join\n        Hash Cond: (b.k = s.id)\n        ->  Seq Scan on big b\n        ->  Hash\n              ->  Seq Scan on small s\n");
}

Test(plan_shape, a_view_like_subquery_leaves_no_trace)
{
    explains("select x.v from (select id, v from big) x where x.id = 5", "Index Scan using big_pkey on big\n  Index Cond: (id = 5)\n");
}

Test(plan_shape, conditions_on_a_group_key_move_below_the_grouping)
{
    explains("select * from (select k, count(*) c from big group by k) g where k = 3",
             "HashAggregate\n  Group Key: k\n  ->  Bitmap Heap Scan on big\n        Recheck Cond: (k = 3)\n        ->  Bitmap Index Scan on big_k\n              Index Cond: (k = 3)\n");
}

/* ---- equalities ---- */

Test(plan_shape, equal_columns_form_a_class_and_any_two_of_them_may_join)
{
    /* s1.id = b.id AND b.id = s2.id: the small ones join each other first */
    explains("select count(*) from small s1, big b, small s2 where s1.id = b.id and b.id = s2.id and s1.name <> s2.name",
             "Aggregate\n  ->  Nested Loop\n        ->  Hash Join\n              Hash Cond: (s2.id = s1.id)\n              Join Filter: (s1.name <> s2.name)\n              ->  Seq Scan on small s2\n"
             "              ->  Hash\n                    ->  Seq Scan on small s1\n        ->  Index Only Scan using big_pkey on big b\n              Index Cond: (id = s1.id)\n");
}

Test(plan_shape, a_constant_reaches_all_members_of_a_class)
{
    explains("select 1 from small s1, big b, small s2 where s1.id = b.id and b.id = s2.id and s2.id = 3",
             "Nested Loop\n  ->  Nested Loop\n        ->  Index Only Scan using small_pkey on small s2\n              Index Cond: (id = 3)\n        ->  Index Only Scan using big_pkey on big b\n              Index Cond: (id = 3)\n"
             "  ->  Index Only Scan using small_pkey on small s1\n        Index Cond: (id = 3)\n");
}

Test(plan_shape, what_an_outer_join_may_null_is_in_no_class)
{
    run("explain (costs off) select count(*) from small s left join big b on b.id = s.id, small t where t.id = coalesce(b.id, 1) and s.id = t.id");
    cr_assert(strstr(output, "Left Join") && strstr(output, "COALESCE"), "%s", output);
}

/* ---- estimates: that what is estimated is near what there is ---- */

static double estimated(const char *sql)
{
    char text[1024];
    snprintf(text, sizeof text, "explain %s", sql);
    run(text);
    const char *rows = strstr(output, "rows=");
    cr_assert(rows, "%s", output);
    return atof(rows + 5);
}

Test(plan_shape, estimates_are_near_the_truth)
{
    run("create table e (a int, k int, d date, t text); insert into e select g, g % 100, date '2020-01-01' + g % 1000, 'kind' || g % 10 || '-' || g from generate_series(1, 50000) g; analyze e");
    const struct { const char *sql; double truth; } cases[] = {
        { "select * from e where a % 7 = 3", 50000.0 / 7 },
        { "select * from e where extract(year from d) = 2021", 50000 * 0.365 },
        { "select * from e where t like '%9-%'", 5000 },
        { "select * from e where t like 'kind7%'", 5000 },
        { "select * from e where substr(t, 1, 5) in ('kind1', 'kind2')", 10000 },
        { "select * from e where a between 10001 and 20000", 10000 },
        { "select * from e where k = 5 or k = 6", 1000 },
        { "select substr(t, 1, 5) from e group by 1", 10 },
        { "select a % 12 from e group by 1", 12 },
        { "select extract(year from d) from e group by 1", 3 },
        { "select * from e x join e y on x.a = y.a", 50000 },
        { "select * from e x join e y on x.k = y.k and x.a < 501", 500 * 500 },
        { "select * from e x where exists (select 1 from e y where y.a = x.a and y.k < 50)", 25000 },
        { "select * from e x where not exists (select 1 from e y where y.k = x.k)", 1 },
        { "select * from e x where k in (select id from small)", 5000 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double rows = estimated(cases[i].sql);
        cr_assert(rows <= cases[i].truth * 3 + 100 && rows >= cases[i].truth / 3 - 100, "%s: %.0f rows, there are %.0f\n%s", cases[i].sql, rows, cases[i].truth, output);
    }
}

/* ---- several indexes ---- */

Test(plan_shape, an_or_of_indexed_columns_is_a_bitmap)
{
    explains("select v from big where id = 7 or k = 3",
             "Bitmap Heap Scan on big\n  Recheck Cond: ((id = 7) OR (k = 3))\n  ->  BitmapOr\n        ->  Bitmap Index Scan on big_pkey\n              Index Cond: (id = 7)\n"
             "        ->  Bitmap Index Scan on big_k\n              Index Cond: (k = 3)\n");
    run("set enable_bitmapscan = off");
    explains("select v from big where id = 7 or k = 3", "Seq Scan on big\n  Filter: ((id = 7) OR (k = 3))\n");
    run("reset enable_bitmapscan");
}

/* ---- long lists ---- */

Test(plan_shape, a_hundred_tables_are_planned_at_once)
{
    char *sql = malloc(20000);
    size_t n = (size_t)sprintf(sql, "explain select count(*) from small t0");
    for (int i = 1; i < 100; i++) n += (size_t)sprintf(sql + n, ", small t%d", i);
    for (int i = 1; i < 100; i++) n += (size_t)sprintf(sql + n, "%s t%d.id = t%d.id", i == 1 ? " where" : " and", i - 1, i);
    run(sql);
    int joins = 0;
    for (const char *at = output; (at = strstr(at, "Hash Join")); at++) joins++;
    cr_assert_eq(joins, 99, "%d joins\n%s", joins, output);
    n = (size_t)sprintf(sql, "select count(*) from small t0");
    for (int i = 1; i < 130; i++) n += (size_t)sprintf(sql + n, ", small t%d", i);
    cr_assert_neq(session_query(peer.session, sql, n), STATUS_OK);
    free(sql);
}

/* ---- prepared statements ---- */

Test(plan_shape, a_range_of_parameters_is_planned_for_their_values_five_times)
{
    run("prepare few as select count(v) from big where id between $1 and $2; execute few(1, 5)");
    run("explain (costs off) execute few(1, 5)");
    cr_assert(strstr(output, "Index Scan using big_pkey"), "%s", output);
    for (int i = 0; i < 4; i++) run("execute few(1, 20000)");
    run("explain (costs off) execute few(1, 5)");
    cr_assert(strstr(output, "Seq Scan on big"), "%s", output);
    run("execute few(1, 5)");            /* the sixth: the plan is kept */
    run("explain (costs off) execute few(1, 5)");
    cr_assert(strstr(output, "Seq Scan on big"), "%s", output);
    run("set plan_cache_mode = force_custom_plan; execute few(1, 5)");
    run("explain (costs off) execute few(1, 5)");
    cr_assert(strstr(output, "Index Scan using big_pkey"), "%s", output);
}

/* ---- EXPLAIN ---- */

Test(plan_shape, json_says_what_the_text_says)
{
    run("explain (costs off, format json) select s.name from small s left join big b on b.k = s.id where b.v > 'x' or b.v is null order by 1");
    const char *const parts[] = { "\"Node Type\": \"Sort\"", "\"Sort Key\": [\"s.name\"]", "\"Node Type\": \"Hash Join\"", "\"Join Type\": \"Right\"", "\"Hash Cond\": \"(b.k = s.id)\"",
                                  "\"Parent Relationship\": \"Inner\"", "\"Relation Name\": \"big\"", "\"Alias\": \"b\"" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) cr_assert(strstr(output, parts[i]), "no %s in\n%s", parts[i], output);
}

Test(plan_shape, a_serial_plan_says_why)
{
    run("explain (verbose) select count(*) from big");
    cr_assert(strstr(output, "Serial Reason: \"big\" is smaller than min_parallel_table_scan_size"), "%s", output);
    run("explain (verbose) delete from big");
    cr_assert(strstr(output, "Serial Reason: the statement does more than read"), "%s", output);
}

Test(plan_shape, errors_say_what_postgresql_says)
{
    const char *const cases[][2] = {
        { "select nope from big", "column \"nope\" does not exist" },
        { "select id from big, small", "column reference \"id\" is ambiguous" },
        { "select k, v from big group by k", "column \"big.v\" must appear in the GROUP BY clause or be used in an aggregate function" },
        { "select count(*) from big where count(*) > 1", "aggregate functions are not allowed in WHERE" },
        { "insert into big values ('x')", "invalid input syntax for type integer: \"x\"" },
        { "update big set k = v", "column \"k\" is of type integer but expression is of type text" },
        { "select 1 union select 1, 2", "each UNION query must have the same number of columns" },
        { "select $1 + 1", "there is no parameter $1" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_neq(session_query(peer.session, cases[i][0], strlen(cases[i][0])), STATUS_OK);
        cr_assert_str_eq(error_current()->message, cases[i][1]);
    }
}

/* ---- merge joins ---- */

static void merges_only(const char *sql, const char *wanted)
{
    run("set enable_hashjoin = off; set enable_nestloop = off");
    explains(sql, wanted);
    run("reset enable_hashjoin; reset enable_nestloop; reset enable_sort");
}

Test(plan_shape, sides_of_a_merge_join_are_sorted)
{
    merges_only("select b.v, s.name from big b left join small s on s.id = b.k and s.name > b.v",
                "Merge Left Join\n  Merge Cond: (b.k = s.id)\n  Join Filter: (s.name > b.v)\n  ->  Sort\n        Sort Key: b.k\n        ->  Seq Scan on big b\n"
                "  ->  Sort\n        Sort Key: s.id\n        ->  Seq Scan on small s\n");
    merges_only("select count(*) from big b where exists (select 1 from small s where s.id + 1 = b.k)",
                "Aggregate\n  ->  Merge Semi Join\n        Merge Cond: (b.k = (s.id + 1))\n        ->  Sort\n              Sort Key: b.k\n              ->  Seq Scan on big b\n"
                "        ->  Sort\n              Sort Key: (s.id + 1)\n              ->  Seq Scan on small s\n");
}

Test(plan_shape, a_full_join_is_merged_where_it_may_not_be_hashed)
{
    const char *sql = "select b.v, s.name from big b full join small s on s.id = b.k and s.name > b.v";
    explains(sql, "Hash Full Join\n  Hash Cond: (b.k = s.id)\n  Join Filter: (s.name > b.v)\n  ->  Seq Scan on big b\n  ->  Hash\n        ->  Seq Scan on small s\n");
    merges_only(sql, "Merge Full Join\n  Merge Cond: (b.k = s.id)\n  Join Filter: (s.name > b.v)\n  ->  Sort\n        Sort Key: b.k\n        ->  Seq Scan on big b\n"
                     "  ->  Sort\n        Sort Key: s.id\n        ->  Seq Scan on small s\n");
    run("set enable_mergejoin = off");
    merges_only(sql, "Hash Full Join\n  Hash Cond: (b.k = s.id)\n  Join Filter: (s.name > b.v)\n  ->  Seq Scan on big b\n  ->  Hash\n        ->  Seq Scan on small s\n");
    run("reset enable_mergejoin");
}

Test(plan_shape, what_a_merge_join_is_sorted_by_needs_no_other_sort)
{
    merges_only("select b.k from big b join small s on s.id = b.k join small t on t.id = s.id order by b.k",
                "Merge Join\n  Merge Cond: (b.k = s.id)\n  ->  Sort\n        Sort Key: b.k\n        ->  Seq Scan on big b\n  ->  Merge Join\n        Merge Cond: (t.id = s.id)\n        ->  Sort\n"
                "              Sort Key: t.id\n              ->  Seq Scan on small t\n        ->  Sort\n              Sort Key: s.id\n              ->  Seq Scan on small s\n");
    merges_only("select b.k from big b right join small s on s.id = b.k order by b.k",
                "Sort\n  Sort Key: b.k\n  ->  Merge Right Join\n        Merge Cond: (b.k = s.id)\n        ->  Sort\n              Sort Key: b.k\n              ->  Seq Scan on big b\n"
                "        ->  Sort\n              Sort Key: s.id\n              ->  Seq Scan on small s\n");
}

Test(plan_shape, an_index_gives_a_merge_join_its_order)
{
    run("set enable_sort = off");
    merges_only("select b.v, s.name from big b join small s on s.id = b.id",
                "Merge Join\n  Merge Cond: (b.id = s.id)\n  ->  Index Scan using big_pkey on big b\n  ->  Index Scan using small_pkey on small s\n");
}
