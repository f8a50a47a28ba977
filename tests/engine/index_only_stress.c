/* tests/engine/index_only_stress.c - index-only scans beside updates, deletes, roll-backs and vacuum: in one snapshot the index alone and
 * the table say the same.
 *
 * Writers move rows to other keys, delete and insert them anew in one transaction, change what no index has, and roll back one time in
 * four: so the number of rows and the sum of their ids never change. Vacuum runs all the time. A reader asks in one snapshot by the index
 * alone, then the table; and heap_check (crab_heap_check) holds the pages against the visibility map meanwhile.
 *
 *     index_only_stress [readers [rounds [seed]]] */
#include "base/latch.h"
#include "tests/engine/in_process.h"
#include "tests/switches.h"
#include "tests/verdict.h"

#define ROWS 1200
#define WRITERS 2

static struct engine *engine;
static _Atomic int failures;
static _Atomic bool done;
static _Atomic uint64_t statements, fetched, by_index_alone;
static uint64_t seed = 5;

struct asker { struct peer peer; int number, rounds; };

static void asker_open(struct asker *p)
{
    if (peer_open(&p->peer, engine, p->number)) {
        fprintf(stderr, "session: %s\n", error_current()->message);
        exit(1);
    }
}

static enum status run(struct asker *p, const char *sql)
{
    atomic_fetch_add_explicit(&statements, 1, memory_order_relaxed);
    return peer_run(&p->peer, sql);
}

static void must(struct asker *p, const char *sql)
{
    if (run(p, sql)) {
        fprintf(stderr, "%s: %s\n", sql, error_current()->message);
        failures++;
    }
}

#define BY_INDEX "set enable_seqscan = off; set enable_bitmapscan = off; set enable_indexscan = on; set enable_indexonlyscan = on"
#define BY_TABLE "set enable_seqscan = on; set enable_bitmapscan = off; set enable_indexscan = off; set enable_indexonlyscan = off"

/* %d: a key. What an index gives back has to be the table's, to the byte. */
static const char *const questions[] = {
    "select count(*), sum(k), sum(k * id), sum(id) from t where k >= 0",
    "select count(*), sum(id) from t where k between %d and %d + 40",
    "select k, id from t where k > %d order by k, id limit 30",
    "select k, id from t where k < %d order by k desc, id desc limit 30",
    "select id from t where id = %d",
    "select count(*) from t where s >= 'r' and s < 's'",
    "select s, n from t where s > 'row 5' order by s, n limit 20",
    "select count(n), count(*), min(s), max(s) from t where s > 'row 11%d'",
    "select count(*), sum(a.id) from (values (%d), (17), (99)) v(x) join t a on a.k = v.x",
};

/* How the explained question fetched: "Heap Fetches: N" follows "Index Only Scan". */
static void count_fetches(struct asker *p)
{
    const char *at = strstr(p->peer.answer, "Heap Fetches: ");
    if (!at)
        return;
    uint64_t n = strtoull(at + 14, NULL, 10);
    atomic_fetch_add_explicit(&fetched, n, memory_order_relaxed);
    atomic_fetch_add_explicit(&by_index_alone, n < ROWS, memory_order_relaxed);
}

static void reader_main(void *argument)
{
    struct asker *p = argument;
    uint64_t random = seed + (uint64_t)p->number;
    char sql[512], *alone = NULL;
    asker_open(p);
    for (int round = 0; round < p->rounds; round++) {
        int key = (int)(random_next(&random) % 1000);
        must(p, "begin isolation level repeatable read");
        for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
            snprintf(sql, sizeof sql, questions[q], key, key);
            must(p, BY_INDEX);
            must(p, sql);
            free(alone);
            alone = strdup(p->peer.answer);
            must(p, BY_TABLE);
            must(p, sql);
            if (strcmp(alone, p->peer.answer) != 0) {
                fprintf(stderr, "round %d: %s\n  by the index: %.300s\n  by the table: %.300s\n", round, sql, alone, p->peer.answer);
                failures++;
            }
        }
        must(p, BY_INDEX);
        must(p, "explain (analyze, costs off, timing off) select count(*), sum(k) from t where k >= 0");
        count_fetches(p);
        must(p, "rollback");
        must(p, "select count(*), sum(id) from t where k >= 0");
        char right[64];
        snprintf(right, sizeof right, "%d|%d|", ROWS, ROWS * (ROWS + 1) / 2);
        if (strcmp(p->peer.answer, right) != 0) {
            fprintf(stderr, "round %d: %s instead of %s\n", round, p->peer.answer, right);
            failures++;
        }
    }
    peer_close(&p->peer);
}

/* Rows of the upper half are left alone, so that some pages stay visible to everybody, however slow vacuum is. */
static void change(struct asker *p, uint64_t *random)
{
    char sql[600];
    int id = (int)(random_next(random) % (ROWS / 2)) + 1, key = (int)(random_next(random) % 1000);
    switch (random_next(random) % 5) {
    case 0:
        snprintf(sql, sizeof sql, "delete from t where id = %d; insert into t values (%d, %d, 'row %d', %d, 0, repeat('x', 200))", id, id, key, key, key % 7);
        break;
    case 1:
        snprintf(sql, sizeof sql, "update t set v = v + 1 where id between %d and %d + 3", id, id);
        break;
    case 2:
        snprintf(sql, sizeof sql, "update t set k = %d, v = v + 1 where id = %d; savepoint a; update t set k = -5 where id = %d; rollback to a; update t set s = 'row %d' where id = %d", key, id, id, key, id);
        break;
    case 3:
        snprintf(sql, sizeof sql, "update t set n = case when n is null then 3 end where id = %d", id);
        break;
    default:
        snprintf(sql, sizeof sql, "update t set k = %d, s = 'row ' || %d where id = %d", key, key, id);
        break;
    }
    must(p, "begin");
    if (run(p, sql)) {                       /* another writer's row, in the other order; or it deleted and made the row anew before us */
        if (error_current()->status != STATUS_DEADLOCK && error_current()->status != STATUS_UNIQUE_VIOLATION) {
            fprintf(stderr, "%s: %s\n", sql, error_current()->message);
            failures++;
        }
        must(p, "rollback");
        return;
    }
    must(p, random_next(random) % 4 ? "commit" : "rollback");
}

static void writer_main(void *argument)
{
    struct asker *p = argument;
    uint64_t random = seed * 31 + (uint64_t)p->number;
    asker_open(p);
    while (!atomic_load(&done)) {
        change(p, &random);
        if (random_next(&random) % 8 == 0)
            sleep_us(2000);           /* so that some pages are left alone for a while */
    }
    peer_close(&p->peer);
}

static void vacuum_main(void *argument)
{
    struct asker *p = argument;
    asker_open(p);
    for (int i = 0; !atomic_load(&done); i++) {
        must(p, i % 8 ? "vacuum t" : "vacuum analyze t");
        if (i % 4 == 0) {
            must(p, "select crab_heap_check('t')");
            if (strcmp(p->peer.answer, "ok|") != 0) {
                fprintf(stderr, "heap: %s\n", p->peer.answer);
                failures++;
            }
        }
        sleep_us(1000);
    }
    peer_close(&p->peer);
}

int main(int argc, char **argv)
{
    int readers = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 60;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : seed;
    char directory[] = "/tmp/crab-only-XXXXXX", sql[256];
    if (!scratch_engine_open(directory, &engine))
        return 1;
    struct asker main_peer = { .number = 0 }, peers[readers + WRITERS + 1];
    struct thread *threads[readers + WRITERS + 1];
    asker_open(&main_peer);
    must(&main_peer, "create table t (id int primary key, k int not null, s text, n numeric(6,2), v int, pad text)");
    snprintf(sql, sizeof sql, "insert into t select g, g * 7 %% 1000, 'row ' || g * 7 %% 1000, case when g %% 3 > 0 then g %% 7 end, 0, repeat('x', 200) from generate_series(1, %d) g", ROWS);
    must(&main_peer, sql);
    must(&main_peer, "create index t_k on t (k, id)");
    must(&main_peer, "create index t_s on t (s, n)");
    must(&main_peer, "vacuum analyze t");
    for (int i = 0; i < readers + WRITERS + 1; i++) {
        peers[i] = (struct asker){ .number = i + 1, .rounds = rounds };
        threads[i] = thread_start("peer", i < readers ? reader_main : i < readers + WRITERS ? writer_main : vacuum_main, &peers[i]);
    }
    for (int i = 0; i < readers; i++)
        thread_join(threads[i]);
    atomic_store(&done, true);
    for (int i = readers; i < readers + WRITERS + 1; i++)
        thread_join(threads[i]);
    must(&main_peer, "vacuum analyze t");
    must(&main_peer, BY_INDEX);
    must(&main_peer, "explain (analyze, costs off, timing off) select count(*), sum(k) from t where k >= 0");
    if (!strstr(main_peer.peer.answer, "Index Only Scan using t_k") || !strstr(main_peer.peer.answer, "Heap Fetches: 0|") || !by_index_alone || !fetched) {
        fprintf(stderr, "%llu rows fetched, %llu scans that fetched less than all; after all: %s\n", (unsigned long long)fetched, (unsigned long long)by_index_alone, main_peer.peer.answer);
        failures++;
    }
    must(&main_peer, "select crab_heap_check('t'), crab_btree_check('t_k'), crab_btree_check('t_s')");
    if (strcmp(main_peer.peer.answer, "ok|ok|ok|") != 0) {
        fprintf(stderr, "%s\n", main_peer.peer.answer);
        failures++;
    }
    peer_close(&main_peer.peer);
    if (!scratch_engine_close(directory, engine))
        failures++;
    return verdict("index_only_stress", (uint32_t)(readers + WRITERS + 1), statements, seed, (uint64_t)failures);
}
