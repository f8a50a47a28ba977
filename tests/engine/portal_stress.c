/* tests/engine/portal_stress.c - queries that are left half-way: many portals and cursors of a transaction, read in pieces of any length, beside
 * the session's own changes, savepoints, DDL, other sessions' updates and vacuum.
 *
 * A query run at once says what its portal must give, piece by piece, whatever happens meanwhile: the rows of the snapshot it began with. Workers
 * and their number, the pieces, and what is done in between are drawn from the seed.
 *
 *     portal_stress [sessions [rounds [seed]]] */
#include <unistd.h>
#include "base/latch.h"
#include "tests/engine/in_process.h"
#include "tests/switches.h"
#include "tests/verdict.h"

#define PORTALS 4

static struct engine *engine;
static _Atomic int failures;
static _Atomic bool done;
static _Atomic uint64_t statements;
static uint64_t seed = 7;

struct reader { struct peer peer; uint64_t random; int number, rounds; };

/* What one portal or cursor still owes. */
struct reading { bool open, by_protocol; int level; char name[24]; char *wanted; size_t length, at; uint64_t rows; };

static const char *const queries[] = {
    "select id, v, s from t",
    "select id, v from t where v % 3 = 1",
    "select id, s from t order by s, id",
    "select k, count(*), sum(v), sum(f) from t group by k",
    "select id, count(*), sum(f) from t group by id",
    "select t.id, u.name from t join u on t.k = u.k where t.v % 5 = 0",
    "select id, (select max(w.k) from u w where w.k <= t.k) from t where v % 7 = 1",
    "select id, rank() over (partition by k order by v, id) from t",
    "select id, v from t where id > 100 order by id",
    "with recursive r (n) as (select 1 union all select n + 1 from r where n < 3000) select n from r",
    "select distinct v % 100, s from t",
    "select id from t where v > 500 union all select k from u",
};

static int draw(struct reader *r, int below) { return (int)(random_next(&r->random) % (uint64_t)below); }

static enum status run(struct reader *r, const char *sql)
{
    atomic_fetch_add_explicit(&statements, 1, memory_order_relaxed);
    return peer_run(&r->peer, sql);
}

static void wrong(const char *what, const char *detail)
{
    fprintf(stderr, "%s: %.300s\n", what, detail);
    failures++;
}

static void must(struct reader *r, const char *sql)
{
    if (run(r, sql))
        wrong(sql, error_current()->message);
}

static void reading_begin(struct reader *r, struct reading *a, int number, int level)
{
    char sql[512];
    const char *query = queries[draw(r, (int)(sizeof queries / sizeof *queries))];
    must(r, query);
    *a = (struct reading){ .open = true, .by_protocol = draw(r, 2), .level = level, .length = r->peer.length, .rows = r->peer.rows };
    a->wanted = malloc(a->length + 1);
    memcpy(a->wanted, r->peer.answer, a->length);
    snprintf(a->name, sizeof a->name, "p%d", number);
    if (!a->by_protocol) {
        snprintf(sql, sizeof sql, "declare %s cursor for %s", a->name, query);
        must(r, sql);
        return;
    }
    struct bind_values none = { 0 };
    enum status status = session_parse(r->peer.session, "", query, strlen(query), NULL, 0);
    if (!status)
        status = session_bind(r->peer.session, a->name, "", &none);
    if (!status) {                       /* it begins with the first piece: what comes in between would be seen */
        peer_forget(&r->peer);
        status = session_execute(r->peer.session, a->name, 1);
        a->at = r->peer.length;
        if (r->peer.length > a->length || memcmp(a->wanted, r->peer.answer, r->peer.length))
            wrong(query, "begins with other rows");
    }
    if (status)
        wrong(query, error_current()->message);
}

static void reading_end(struct reading *a)
{
    free(a->wanted);
    *a = (struct reading){ 0 };
}

static void reading_close(struct reader *r, struct reading *a)
{
    char sql[64];
    snprintf(sql, sizeof sql, "close %s", a->name);
    if (!a->by_protocol)
        must(r, sql);
    else if (session_close_portal(r->peer.session, a->name))
        wrong("close", error_current()->message);
    reading_end(a);
}

static void reading_go_on(struct reader *r, struct reading *a)
{
    static const int lengths[] = { 1, 2, 7, 100, 1023, 1024, 1025, 5000, 20000, 100000 };
    int rows = lengths[draw(r, (int)(sizeof lengths / sizeof *lengths))];
    char sql[64];
    snprintf(sql, sizeof sql, "fetch %d from %s", rows, a->name);
    peer_forget(&r->peer);
    atomic_fetch_add_explicit(&statements, 1, memory_order_relaxed);
    if (a->by_protocol ? session_execute(r->peer.session, a->name, (uint64_t)rows) : session_query(r->peer.session, sql, strlen(sql))) {
        wrong(a->name, error_current()->message);
        return;
    }
    if (a->at + r->peer.length > a->length || memcmp(a->wanted + a->at, r->peer.answer, r->peer.length))
        wrong("other rows", r->peer.answer);
    a->at += r->peer.length;
    if (r->peer.rows < (uint64_t)rows) {
        if (a->at != a->length)
            wrong("ends early", r->peer.tag);
        reading_close(r, a);
    }
}

/* What the session itself does meanwhile. */
static void meddle(struct reader *r, int *level, struct reading *all)
{
    char sql[256];
    int own = r->number * 1000 + draw(r, 1000);
    switch (draw(r, 9)) {
    case 0: snprintf(sql, sizeof sql, "update t set v = v + 1, s = 'own' where id = %d", own); break;
    case 1: snprintf(sql, sizeof sql, "delete from t where id = %d", own); break;
    case 2: snprintf(sql, sizeof sql, "insert into t values (%d, 1, 2, 3, 'new') on conflict do nothing", 1000000 + r->number * 1000 + draw(r, 1000)); break;
    case 3: snprintf(sql, sizeof sql, "savepoint s%d", ++*level); break;
    case 4:
        if (*level == 0)
            return;
        for (int i = 0; i < PORTALS; i++)                     /* they go with the savepoint */
            if (all[i].open && all[i].level >= *level)
                reading_end(&all[i]);
        snprintf(sql, sizeof sql, "rollback to s%d; release s%d", *level, *level);
        --*level;
        break;
    case 5:
        if (*level == 0)
            return;
        for (int i = 0; i < PORTALS; i++)
            if (all[i].level >= *level)
                all[i].level = *level - 1;
        snprintf(sql, sizeof sql, "release s%d", (*level)--);
        break;
    case 6: snprintf(sql, sizeof sql, "set local max_parallel_workers_per_gather = %d", draw(r, 4)); break;
    case 7: snprintf(sql, sizeof sql, "create table own%d (a int); drop table own%d", r->number, r->number); break;
    default: snprintf(sql, sizeof sql, "select count(*), sum(f) from t where k = %d", draw(r, 12)); break;
    }
    must(r, sql);
}

static void reader_main(void *argument)
{
    struct reader *r = argument;
    r->random = seed + (uint64_t)r->number * 7919;
    if (peer_open(&r->peer, engine, r->number)) {
        wrong("session", error_current()->message);
        return;
    }
    must(r, "set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0");
    for (int round = 0; round < r->rounds; round++) {
        struct reading all[PORTALS] = { 0 };
        int level = 0;
        char sql[160];
        snprintf(sql, sizeof sql, "set work_mem = '%s'; begin isolation level repeatable read; set local max_parallel_workers_per_gather = %d", draw(r, 3) ? "4MB" : "64kB", draw(r, 4));
        must(r, sql);
        for (int step = 0; step < 40; step++) {
            struct reading *a = &all[draw(r, PORTALS)];
            if (!a->open)
                reading_begin(r, a, (int)(a - all), level);
            else if (draw(r, 12) == 0)
                reading_close(r, a);
            else if (draw(r, 3))
                reading_go_on(r, a);
            else
                meddle(r, &level, all);
        }
        for (int i = 0; i < PORTALS; i++)                     /* some are left open */
            reading_end(&all[i]);
        must(r, draw(r, 2) ? "commit" : "rollback");
    }
    peer_close(&r->peer);
}

/* Everybody else: updates, deletes and inserts of rows that no reader changes, vacuum, a column that comes and goes elsewhere. */
static void writer_main(void *argument)
{
    struct reader *w = argument;
    w->random = seed;
    if (peer_open(&w->peer, engine, w->number)) {
        wrong("session", error_current()->message);
        return;
    }
    for (int n = 0; !atomic_load(&done); n++) {
        char sql[256];
        int id = 6000 + draw(w, 6000);
        snprintf(sql, sizeof sql, "begin; update t set v = v + 5, f = f + 0.1 where id = %d; delete from t where id = %d; insert into t values (%d, 3, 4, 5, 'again') on conflict do nothing; %s",
                 id, id + 1, id + 1, n % 5 ? "commit" : "rollback");
        must(w, sql);
        if (n % 50 == 0)
            must(w, "vacuum t");
        if (n % 97 == 0)
            must(w, "alter table beside add column b int; alter table beside drop column b; analyze u");
        sleep_us(300);
    }
    peer_close(&w->peer);
}

int main(int argc, char **argv)
{
    int readers = argc > 1 ? atoi(argv[1]) : 3, rounds = argc > 2 ? atoi(argv[2]) : 12;
    if (argc > 3)
        seed = strtoull(argv[3], NULL, 10);
    char directory[] = "/tmp/crab-portal-XXXXXX";
    if (!scratch_engine_open(directory, &engine))
        return 1;
    struct reader setup = { .number = 99 }, writer = { .number = 90 };
    struct reader *all = calloc((size_t)readers, sizeof *all);
    struct thread **threads = calloc((size_t)readers + 1, sizeof *threads);
    if (peer_open(&setup.peer, engine, setup.number))
        return 1;
    must(&setup, "create table t (id int primary key, k int, v int, f float8, s text)");
    must(&setup, "insert into t select g, g % 12, g * 7 % 1000, g * 0.1, 'row ' || g % 300 from generate_series(0, 11999) g");
    must(&setup, "create table u (k int, name text); create table beside (a int)");
    must(&setup, "insert into u select g, 'name ' || g from generate_series(0, 11) g");
    must(&setup, "analyze");
    peer_close(&setup.peer);
    for (int i = 0; i < readers; i++) {
        all[i].number = i;
        all[i].rounds = rounds;
        threads[i] = thread_start("reader", reader_main, &all[i]);
    }
    threads[readers] = thread_start("writer", writer_main, &writer);
    for (int i = 0; i < readers; i++)
        thread_join(threads[i]);
    atomic_store(&done, true);
    thread_join(threads[readers]);
    free(all);
    free(threads);
    if (!scratch_engine_close(directory, engine))
        failures++;
    return verdict("portal_stress", (uint32_t)readers + 1, statements, seed, (uint64_t)failures);
}
