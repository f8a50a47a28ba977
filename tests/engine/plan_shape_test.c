/* tests/engine/plan_shape_test.c - What EXPLAIN shows: joins, indexes, unnested subqueries, filters where they belong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session.h"

static char output[65536];

static enum status describe(struct client *c, const struct result_description *d, const uint16_t *f, uint16_t n) { (void)c, (void)d, (void)f, (void)n; return STATUS_OK; }
static enum status rows(struct client *c, const struct result_description *d, const uint16_t *f, uint16_t n, const struct batch *b)
{
    (void)c, (void)f, (void)n;
    struct arena *arena = arena_open(NULL, "rows");
    for (uint16_t k = 0; k < b->selected_count; k++) {
        uint16_t i = b->all_selected || !b->selection ? k : b->selection[k];
        struct text_buffer t;
        text_buffer_open(&t, arena);
        if (!vector_null(&b->columns[0], i)) type_out(d->types[0], &b->columns[0], vector_at(&b->columns[0], i), &t);
        snprintf(output + strlen(output), sizeof output - strlen(output), "%s\n", t.length ? t.bytes : "");
    }
    arena_close(arena);
    return STATUS_OK;
}
static enum status complete(struct client *c, const char *tag) { (void)c, (void)tag; return STATUS_OK; }
static enum status nothing(struct client *c) { (void)c; return STATUS_OK; }
static void notice(struct client *c, const char *severity, const struct error *e) { (void)c, (void)severity, (void)e; }
static void parameter(struct client *c, const char *name, const char *value) { (void)c, (void)name, (void)value; }

static struct client client = { .describe = describe, .rows = rows, .complete = complete, .empty = nothing, .suspended = nothing, .notice = notice, .parameter_status = parameter };
static struct engine *engine;
static struct session *session;
static char directory[] = "/tmp/crab-plan-XXXXXX";

static void run(const char *sql)
{
    output[0] = 0;
    enum status status = session_query(session, sql, strlen(sql));
    cr_assert_eq(status, STATUS_OK, "%s: %s", sql, error_current()->message);
}

static void open_all(void)
{
    cr_assert(mkdtemp(directory));
    char path[64];
    snprintf(path, sizeof path, "%s/data", directory);
    struct engine_options options = { .directory = path };
    cr_assert_eq(engine_open(&options, &engine), STATUS_OK);
    struct session_options so = { .engine = engine, .client = &client, .pid = 1, .user = "postgres", .database = "postgres", .application_name = "", .client_address = "" };
    cr_assert_eq(session_open(&so, &session), STATUS_OK);
    run("create table big (id int primary key, k int, v text); create table small (id int primary key, name text);"
        "insert into big select g, g % 100, 'v' || g from generate_series(1, 20000) g; insert into small select g, 'n' || g from generate_series(1, 10) g;"
        "create index big_k on big (k); analyze big; analyze small;");
}

static void close_all(void)
{
    session_close(session);
    engine_close(engine);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command)) cr_log_warn("scratch directory stays");
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
    explains("select id from big order by id desc limit 3", "Limit\n  ->  Index Scan Backward using big_pkey on big\n");
}

Test(plan_shape, few_rows_find_their_partners_by_index)
{
    explains("select s.name, b.v from small s join big b on b.id = s.id where s.name = 'n3'",
             "Nested Loop\n  ->  Seq Scan on small s\n        Filter: (name = 'n3'::text)\n  ->  Index Scan using big_pkey on big b\n        Index Cond: (id = s.id)\n");
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
        cr_assert_neq(session_query(session, cases[i][0], strlen(cases[i][0])), STATUS_OK);
        cr_assert_str_eq(error_current()->message, cases[i][1]);
    }
}
