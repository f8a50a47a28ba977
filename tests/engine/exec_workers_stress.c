/* tests/engine/exec_workers_stress.c - sessions that use workers at once, while another moves values from row to row.
 *
 * In one snapshot every query must give the same bytes with 0, 2 and 4 workers, started from the pool and spawned, aggregated in part or
 * after gathering; the sum over all rows never changes. Also: a LIMIT that stops workers early, an error in the middle, a sort.
 *
 *     exec_workers_stress [readers [rounds [seed]]] */
#include <unistd.h>
#include "base/latch.h"
#include "tests/engine/in_process.h"
#include "tests/switches.h"
#include "tests/verdict.h"

static struct engine *engine;
static _Atomic int failures;
static _Atomic bool done;
static _Atomic uint64_t statements;
static uint64_t seed = 3;

struct reader { struct peer peer; int number, rounds; };

static void reader_open(struct reader *r, int number)
{
    r->number = number;
    if (peer_open(&r->peer, engine, number)) {
        fprintf(stderr, "session: %s\n", error_current()->message);
        exit(1);
    }
}

static enum status run(struct reader *r, const char *sql)
{
    atomic_fetch_add_explicit(&statements, 1, memory_order_relaxed);
    return peer_run(&r->peer, sql);
}

static void must(struct reader *r, const char *sql)
{
    if (run(r, sql)) {
        fprintf(stderr, "%s: %s\n", sql, error_current()->message);
        failures++;
    }
}

static const char *const queries[] = {
    "select count(*), sum(v), sum(f) from t",
    "select k, count(*), sum(v), sum(f), min(s), max(s) from t group by k",
    "select id, v from t where v % 7 = 3 order by v, s",
    "select id, s from t where k = 5 limit 40",
    "select t.id, u.name from t join u on t.k = u.k where t.v % 50 = 0",
    "select s, sum(f) from t group by s",
    "select id, 100 / (id - 9000) from t where id > 10",
    "select string_agg(s, ',') from t where id % 500 = 0",
    "select id, (select w.f from t w where w.id = t.k * 3) from t where v % 11 = 1",
    "select count(*), sum(f) from t where f > (select avg(f) from t where v % 2 = 0)",
    "select sum(t.f), count(*) from t cross join lateral (select w.v from t w where w.id = t.id + 1 limit 1) n where n.v > t.v",
    "select id, count(*), sum(v) from t group by id",
    "select count(distinct v), count(distinct id), sum(f) from t",
    "select id, count(distinct (select max(w.k) from u w where w.k > t.k)), sum(f) from t group by id",
    "select id % 4000, count(distinct t.k + (select min(k) from u)) filter (where v > (select min(w.k) from u w where w.k <= t.k)), sum(f) from t group by 1",
    "select sum(f), count(*), sum(v) from t where id >= 5 -- by index",
    "select id, v from t where id > 3 and v % 9 = 2 order by id desc -- by index",
};

static void reader_main(void *argument)
{
    struct reader *r = argument;
    reader_open(r, r->number);
    must(r, "set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0");
    for (int round = 0; round < r->rounds; round++) {
        const char *sql = queries[(round + r->number) % (int)(sizeof queries / sizeof *queries)];
        bool fails = strstr(sql, "9000") != NULL;
        uint64_t hash = 0, rows = 0;
        const struct peer *p = &r->peer;
        must(r, strstr(sql, "by index") ? "set enable_seqscan = off; set enable_bitmapscan = off" : "reset enable_seqscan; reset enable_bitmapscan");
        must(r, "begin isolation level repeatable read");
        for (int workers = 0; workers <= 4; workers += 2) {
            char set[64];
            snprintf(set, sizeof set, "set max_parallel_workers_per_gather = %d", workers);
            must(r, set);
            enum status status = run(r, sql);
            if ((status != STATUS_OK) != fails) {
                fprintf(stderr, "%s: %s\n", sql, status ? error_current()->message : "should have failed");
                failures++;
            }
            if (fails) {                 /* the transaction is over: a new one for the next try */
                must(r, "rollback");
                must(r, "begin isolation level repeatable read");
                continue;
            }
            uint64_t now = hash_bytes(p->answer, p->length, 0);
            if (workers && (now != hash || p->rows != rows)) {
                fprintf(stderr, "%s: %lu rows, with %d workers %lu (%.200s)\n", sql, (unsigned long)rows, workers, (unsigned long)p->rows, p->answer);
                failures++;
            }
            hash = now;
            rows = p->rows;
        }
        must(r, "rollback");
        run(r, "select sum(v) from t");
        if (strcmp(p->answer, "12000000|") != 0) {
            fprintf(stderr, "the sum is %s\n", p->answer);
            failures++;
        }
    }
    peer_close(&r->peer);
}

static void writer_main(void *argument)
{
    struct reader *w = argument;
    uint64_t random = seed;
    reader_open(w, w->number);
    while (!atomic_load(&done)) {
        char sql[256];
        unsigned a = (unsigned)(random_next(&random) % 12000), b = (unsigned)(random_next(&random) % 12000);
        if (a == b)
            continue;
        snprintf(sql, sizeof sql, "begin; update t set v = v + 5, f = f + 0.1 where id = %u; update t set v = v - 5, s = 'row ' || v where id = %u; %s", a, b, a % 5 ? "commit" : "rollback");
        must(w, sql);
    }
    peer_close(&w->peer);
}

static void switcher_main(void *argument)
{
    (void)argument;
    for (unsigned n = 0; !atomic_load(&done); n++) {
        if (!switch_given("crab.worker_start"))
            atomic_store(&exec_worker_start, n % 2);
        if (!switch_given("crab.agg"))
            atomic_store(&exec_agg_collect, n / 2 % 2);
        sleep_us(3000);
    }
}

int main(int argc, char **argv)
{
    int readers = argc > 1 ? atoi(argv[1]) : 3, rounds = argc > 2 ? atoi(argv[2]) : 16;
    if (argc > 3)
        seed = strtoull(argv[3], NULL, 10);
    char directory[] = "/tmp/crab-exec-XXXXXX";
    if (!scratch_engine_open(directory, &engine))
        return 1;
    struct reader setup = {0}, writer = { .number = 90 };
    struct reader *all = calloc((size_t)readers, sizeof *all);
    struct thread **threads = calloc((size_t)readers + 2, sizeof *threads);
    reader_open(&setup, 99);
    must(&setup, "create table t (id int primary key, k int, v int, f float8, s text)");
    must(&setup, "insert into t select g, g % 12, 1000, g * 0.1, 'row ' || g % 300 from generate_series(0, 11999) g");
    must(&setup, "create table u (k int, name text)");
    must(&setup, "insert into u select g, 'name ' || g from generate_series(0, 5) g");
    must(&setup, "analyze");
    peer_close(&setup.peer);
    for (int i = 0; i < readers; i++) {
        all[i].number = i;
        all[i].rounds = rounds;
        threads[i] = thread_start("reader", reader_main, &all[i]);
    }
    threads[readers] = thread_start("writer", writer_main, &writer);
    threads[readers + 1] = thread_start("switcher", switcher_main, NULL);
    for (int i = 0; i < readers; i++)
        thread_join(threads[i]);
    atomic_store(&done, true);
    thread_join(threads[readers]);
    thread_join(threads[readers + 1]);
    free(all);
    free(threads);
    if (!scratch_engine_close(directory, engine))
        failures++;
    return verdict("exec_workers_stress", (uint32_t)readers + 1, statements, seed, (uint64_t)failures);
}
