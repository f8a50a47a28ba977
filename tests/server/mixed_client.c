/* tests/server/mixed_client.c - everything at once, through real connections, with answers that are known.
 *
 *     mixed_client THREADS OPERATIONS SEED [turn]
 *
 * Each thread has a connection and does OPERATIONS things by its seed: moves money between accounts (savepoints, rollbacks, deadlocks), sums
 * it, asks parallel queries, writes a ledger of its own by INSERT, UPDATE, DELETE and COPY, reads it back, makes and drops tables and
 * indexes, vacuums, walks a cursor, cancels its own statements, and hangs up in the middle of a transaction, of a COPY, of a long answer. With
 * `turn`, one more thread SETs a latch switch (crab.*) at random every few milliseconds.
 *
 * What must hold: the money is the same in every snapshot; every query on the table that nobody changes gives the bytes that it gave
 * first, and those agree with arithmetic; a thread's ledger is what its model says, where a COMMIT whose answer was awaited counts, and what
 * was hung up on does not; nothing fails but as victim of a deadlock or of its own cancel. At the end every table and index is checked.
 *
 * (It stands outside the house, as a user's program: its threads are not base's.) */
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "tests/verdict.h"

#define THREADS_MAX 64
#define ACCOUNTS    60
#define MONEY       1000
#define FACTS       20000
#define LEDGER      512              /* numbers that a thread's rows may have */
#define QUERIES     (int)(sizeof queries / sizeof *queries)

static _Atomic int failures;
static _Atomic bool over;
static _Atomic uint64_t done, deadlocks, cancels, hang_ups, turns;

struct worker { pthread_t id; PGconn *conn; int number, operations; uint64_t random; int amount[LEDGER]; /* 0: no such row */ };

static const char *const queries[] = {
    "SELECT count(*), sum(v), min(id), max(id) FROM facts", "SELECT k, count(*), sum(f), min(t), max(t) FROM facts GROUP BY k", "SELECT sum(f), avg(f), variance(f) FROM facts WHERE v % 3 = 0",
    "SELECT id, v FROM facts WHERE v = 77 ORDER BY t, id LIMIT 40", "SELECT count(*), sum(a.f) FROM facts a JOIN facts b ON a.id = b.v WHERE b.k = 3", "SELECT id FROM facts WHERE id % 4999 = 0",
    "SELECT t, count(DISTINCT v), sum(f * v) FROM facts GROUP BY t ORDER BY t", "SELECT string_agg(t, ',') FROM facts WHERE id % 1000 = 1", "SELECT id FROM facts WHERE f > 100 LIMIT 30 OFFSET 100"};
static char *answers[sizeof queries / sizeof *queries];

static const char *const switches[] = {"crab.engine_latch = on", "crab.engine_latch = off", "crab.btree_latching = tree", "crab.btree_latching = crab", "crab.btree_latching = optimistic",
    "crab.pool_io = latched", "crab.pool_io = outside", "crab.pool_partitions = 1", "crab.pool_partitions = 8", "crab.pool_partitions = 128", "crab.worker_start = spawn", "crab.worker_start = pool",
    "crab.group_commit = off", "crab.group_commit = on", "crab.agg = collect", "crab.agg = partial", "crab.io_delay = 50", "crab.io_delay = 0"};

static void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (atomic_fetch_add(&failures, 1) < 20) {
        char text[600];
        vsnprintf(text, sizeof text, format, list);
        fprintf(stderr, "mixed_client: %s\n", text);
    }
    va_end(list);
}

static uint64_t dice(struct worker *w)            /* splitmix64 */
{
    uint64_t z = (w->random += 0x9e3779b97f4a7c15ULL);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static PGconn *connect_once(void)
{
    PGconn *conn = PQconnectdb("");
    for (int tries = 0; PQstatus(conn) != CONNECTION_OK && tries < 200; tries++) {        /* those just hung up on may still have their places */
        PQfinish(conn);
        usleep(20000);
        conn = PQconnectdb("");
    }
    if (PQstatus(conn) != CONNECTION_OK)
        fail("no connection: %s", PQerrorMessage(conn));
    return conn;
}

/* NULL when it went well; else the SQLSTATE. */
static const char *state_of(const PGresult *result, char state[6])
{
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN || status == PGRES_COPY_OUT)
        return NULL;
    const char *text = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(state, 6, "%s", text ? text : "?????");
    return state;
}

/* Runs statements; true when all went well. A deadlock's victim (or who came late under REPEATABLE READ) rolls back; everything else is a fault. */
static bool run(struct worker *w, const char *format, ...)
{
    char sql[2048], state[6];
    va_list list;
    va_start(list, format);
    vsnprintf(sql, sizeof sql, format, list);
    va_end(list);
    PGresult *result = PQexec(w->conn, sql);
    const char *error = state_of(result, state);
    if (error) {
        if (!strcmp(error, "40P01") || !strcmp(error, "40001"))
            atomic_fetch_add(&deadlocks, 1);
        else
            fail("%.200s: %s", sql, PQresultErrorMessage(result));
        PQclear(PQexec(w->conn, "ROLLBACK"));
    }
    PQclear(result);
    return !error;
}

/* The answer as text, rows and columns apart; NULL after a fault. To be freed. */
static char *ask(PGconn *conn, const char *sql)
{
    char state[6];
    PGresult *result = PQexec(conn, sql);
    if (state_of(result, state)) {
        fail("%.200s: %s", sql, PQresultErrorMessage(result));
        PQclear(result);
        return NULL;
    }
    size_t length = 1;
    for (int r = 0; r < PQntuples(result); r++)
        for (int c = 0; c < PQnfields(result); c++)
            length += (size_t)PQgetlength(result, r, c) + 1;
    char *text = malloc(length), *at = text;
    for (int r = 0; r < PQntuples(result); r++)
        for (int c = 0; c < PQnfields(result); c++)
            at += sprintf(at, "%s%c", PQgetvalue(result, r, c), c + 1 < PQnfields(result) ? '|' : '\n');
    *at = 0;
    PQclear(result);
    return text;
}

static void must_answer(PGconn *conn, const char *sql, const char *expected)
{
    char *got = ask(conn, sql);
    if (got && strcmp(got, expected))
        fail("%.100s: %.200s instead of %.200s", sql, got, expected);
    free(got);
}

static void must_have_the_money(PGconn *conn)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%d|%d\n", ACCOUNTS, ACCOUNTS * MONEY);
    must_answer(conn, "SELECT count(*), sum(balance) FROM accounts", expected);
}

static void must_have_ledger(struct worker *w, PGconn *conn)
{
    char sql[128], expected[64];
    long long count = 0, sum = 0;
    for (int i = 0; i < LEDGER; i++)
        count += w->amount[i] != 0, sum += w->amount[i];
    snprintf(sql, sizeof sql, "SELECT count(*), coalesce(sum(amount), 0) FROM ledger WHERE owner = %d", w->number);
    snprintf(expected, sizeof expected, "%lld|%lld\n", count, sum);
    must_answer(conn, sql, expected);
}

/* ------------------------------------------------------------------ things to do */

static void move_money(struct worker *w)
{
    uint64_t r = dice(w);
    int from = (int)(r % ACCOUNTS), to = (int)((r >> 16) % ACCOUNTS), amount = (int)((r >> 32) % 50);
    if (!run(w, (r >> 40) % 4 ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ"))
        return;
    if ((r >> 44) % 3 == 0 && !run(w, "SAVEPOINT s; UPDATE accounts SET balance = balance + 1000000 WHERE id = %d; ROLLBACK TO s", (int)((r >> 48) % ACCOUNTS)))
        return;
    if ((r >> 46) % 3 == 0 && !run(w, "SELECT balance FROM accounts WHERE id = %d FOR UPDATE", from))
        return;
    if (!run(w, "UPDATE accounts SET balance = balance - %d WHERE id = %d", amount, from) || !run(w, "UPDATE accounts SET balance = balance + %d, note = repeat('n', %d) WHERE id = %d", amount, (int)((r >> 52) % 60), to))
        return;
    run(w, (r >> 60) % 8 ? "COMMIT" : "ROLLBACK");
}

static void sum_money(struct worker *w)
{
    if (dice(w) % 2) {
        must_have_the_money(w->conn);
    } else if (run(w, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")) {
        must_have_the_money(w->conn);
        must_have_the_money(w->conn);
        run(w, "COMMIT");
    }
}

static void query_facts(struct worker *w)
{
    uint64_t r = dice(w);
    int q = (int)(r % (uint64_t)QUERIES);
    if (run(w, "SET max_parallel_workers_per_gather = %d", (int)((r >> 20) % 5)))
        must_answer(w->conn, queries[q], answers[q]);
}

static void write_ledger(struct worker *w)
{
    uint64_t r = dice(w);
    int i = (int)(r % LEDGER), amount = (int)((r >> 16) % 1000) + 1;
    if (!w->amount[i]) {
        if (run(w, "INSERT INTO ledger VALUES (%d, %d, %d, repeat('x', %d))", w->number, i, amount, (r >> 32) % 30 ? (int)((r >> 40) % 40) : 20000))
            w->amount[i] = amount;
    } else if ((r >> 36) % 2) {
        if (run(w, "UPDATE ledger SET amount = %d WHERE owner = %d AND number = %d", amount, w->number, i))
            w->amount[i] = amount;
    } else if (run(w, "DELETE FROM ledger WHERE owner = %d AND number = %d", w->number, i)) {
        w->amount[i] = 0;
    }
}

/* Rows for numbers that are free; commits, gives up, or has a row refused. */
static void copy_in(struct worker *w)
{
    char line[128], state[6];
    int put[LEDGER], count = 0, fate = (int)(dice(w) % 4);
    if (!run(w, "COPY ledger FROM STDIN"))
        return;
    for (int i = (int)(dice(w) % LEDGER), n = 0; n < 60; n++, i = (i + 1) % LEDGER) {
        if (w->amount[i])
            continue;
        put[count++] = i;
        if (PQputCopyData(w->conn, line, snprintf(line, sizeof line, "%d\t%d\t%d\tcopied\n", w->number, i, i + 1)) != 1)
            fail("COPY: %s", PQerrorMessage(w->conn));
    }
    if (fate == 1 && PQputCopyData(w->conn, "not a number\t1\t1\tx\n", 20) != 1)
        fail("COPY: %s", PQerrorMessage(w->conn));
    PQputCopyEnd(w->conn, fate == 2 ? "no more" : NULL);
    PGresult *result = PQgetResult(w->conn);
    const char *error = state_of(result, state);
    if (fate == 1 || fate == 2) {
        if (!error || strcmp(error, fate == 1 ? "22P02" : "57014"))
            fail("COPY that must fail: %s", error ? PQresultErrorMessage(result) : "it did not");
    } else if (error) {
        fail("COPY: %s", PQresultErrorMessage(result));
    } else {
        for (int n = 0; n < count; n++)
            w->amount[put[n]] = put[n] + 1;
    }
    PQclear(result);
    while ((result = PQgetResult(w->conn)) != NULL)
        PQclear(result);
}

static void copy_out(struct worker *w)
{
    long long count = 0, sum = 0, expected = 0, sum_expected = 0;
    char *line;
    if (!run(w, "COPY (SELECT number, amount FROM ledger WHERE owner = %d) TO STDOUT", w->number))
        return;
    while (PQgetCopyData(w->conn, &line, 0) > 0) {
        int number, amount;
        if (sscanf(line, "%d\t%d", &number, &amount) != 2 || number < 0 || number >= LEDGER || w->amount[number] != amount)
            fail("COPY TO: %s", line);
        count++;
        sum += amount;
        PQfreemem(line);
    }
    PGresult *result;
    while ((result = PQgetResult(w->conn)) != NULL)
        PQclear(result);
    for (int i = 0; i < LEDGER; i++)
        expected += w->amount[i] != 0, sum_expected += w->amount[i];
    if (count != expected || sum != sum_expected)
        fail("COPY TO gave %lld rows with %lld, not %lld with %lld", count, sum, expected, sum_expected);
}

static void change_schema(struct worker *w)
{
    char sql[128];
    int n = (int)(dice(w) % 300) + 1;
    if (w->number == 0 && dice(w) % 2) {         /* an index under everybody's feet */
        if (run(w, "CREATE INDEX accounts_balance ON accounts (balance, id)")) {
            must_have_the_money(w->conn);
            run(w, "DROP INDEX accounts_balance");
        }
        return;
    }
    bool stays = dice(w) % 3 != 0;
    if (!run(w, "BEGIN") || !run(w, "CREATE TABLE passing_%d (id serial PRIMARY KEY, v int, w text DEFAULT 'w')", w->number)
        || !run(w, "INSERT INTO passing_%d (v) SELECT g FROM generate_series(1, %d) g", w->number, n) || !run(w, "CREATE INDEX ON passing_%d (v DESC)", w->number))
        return;
    if (!run(w, stays ? "COMMIT" : "ROLLBACK") || !stays)
        return;
    if (run(w, "ALTER TABLE passing_%d ADD COLUMN more int DEFAULT 7", w->number) && run(w, "DELETE FROM passing_%d WHERE v %% 2 = 0", w->number)) {
        char expected[64];
        snprintf(sql, sizeof sql, "SELECT count(*), sum(v), sum(more) FROM passing_%d", w->number);
        snprintf(expected, sizeof expected, "%d|%d|%d\n", (n + 1) / 2, (n + 1) / 2 * ((n + 1) / 2), (n + 1) / 2 * 7);
        must_answer(w->conn, sql, expected);
    }
    run(w, "DROP TABLE passing_%d", w->number);
}

static void tidy(struct worker *w)
{
    static const char *const statements[] = {"VACUUM accounts", "VACUUM ledger", "ANALYZE accounts", "VACUUM ANALYZE ledger", "CHECKPOINT"};
    run(w, statements[dice(w) % 5]);
}

static void look(struct worker *w)
{
    static const char *const views[] = {"crab_latches", "crab_latch_stats", "pg_locks", "pg_stat_activity", "crab_pool", "crab_wal", "pg_settings", "pg_class"};
    run(w, "SELECT count(*) FROM %s", views[dice(w) % 8]);
}

static void walk_cursor(struct worker *w)
{
    int next = 1;
    if (!run(w, "BEGIN") || !run(w, "DECLARE c CURSOR FOR SELECT id FROM facts ORDER BY id"))
        return;
    for (int n = 0; n < 3; n++) {
        char expected[2048], *at = expected;
        for (int i = 0; i < 100; i++)
            at += sprintf(at, "%d\n", next++);
        must_answer(w->conn, "FETCH 100 FROM c", expected);
    }
    run(w, "COMMIT");
}

static void cancel(struct worker *w)
{
    char text[256], state[6];
    bool money = dice(w) % 2;
    if (money && (!run(w, "BEGIN") || !run(w, "UPDATE accounts SET balance = balance + 5000 WHERE id = %d", (int)(dice(w) % ACCOUNTS))))
        return;
    PGcancel *handle = PQgetCancel(w->conn);
    uint64_t r = dice(w);
    if (PQsendQuery(w->conn, r % 3 == 0 ? "SELECT pg_sleep(100)" : r % 3 == 1 ? "SELECT count(*) FROM facts a, facts b WHERE a.f + b.f < 0" : "SELECT a.id, b.t FROM facts a, facts b") != 1)
        fail("cannot send: %s", PQerrorMessage(w->conn));
    PQsetSingleRowMode(w->conn);
    usleep((useconds_t)((r >> 8) % 6000));
    const char *last = "?";
    for (int64_t asked = 0;;) {
        if (now_ms() - asked > 200) {            /* again and again: a request that comes before its statement is about nothing */
            if (!PQcancel(handle, text, sizeof text))
                fail("cannot cancel: %s", text);
            asked = now_ms();
        }
        if (PQisBusy(w->conn)) {
            struct pollfd polled = {PQsocket(w->conn), POLLIN, 0};
            if (poll(&polled, 1, 50) > 0 && !PQconsumeInput(w->conn))
                break;
            continue;
        }
        PGresult *result = PQgetResult(w->conn);
        if (!result)
            break;
        const char *error = PQresultStatus(result) == PGRES_SINGLE_TUPLE ? NULL : state_of(result, state);
        if (error)
            last = error;
        PQclear(result);
    }
    PQfreeCancel(handle);
    PQclear(PQexec(w->conn, "SELECT 1"));        /* the last of several requests may be about this */
    if (!strcmp(last, "57014"))
        atomic_fetch_add(&cancels, 1);
    else
        fail("a cancelled statement ended with %s", last);
    if (money)
        run(w, "ROLLBACK");
}

/* In the middle of something, politely or not; all of it must be undone. */
static void hang_up(struct worker *w)
{
    uint64_t r = dice(w);
    char line[64];
    switch (r % 4) {
    case 0:
        if (run(w, "BEGIN"))
            run(w, "UPDATE accounts SET balance = balance + 7000 WHERE id = %d", (int)((r >> 8) % ACCOUNTS));
        break;
    case 1:
        if (run(w, "COPY ledger FROM STDIN"))
            for (int i = 0; i < 300; i++)
                PQputCopyData(w->conn, line, snprintf(line, sizeof line, "%d\t%d\t5\tnever\n", w->number, LEDGER + i));
        break;
    case 2:
        PQsendQuery(w->conn, "SELECT a.id, b.t FROM facts a, facts b");
        break;
    case 3:
        if (run(w, "BEGIN"))
            PQsendQuery(w->conn, "INSERT INTO ledger SELECT 1000, g, 1, 'never' FROM generate_series(1, 100000) g");
        break;
    }
    if (r >> 32 & 1)
        shutdown(PQsocket(w->conn), SHUT_RDWR);
    PQfinish(w->conn);
    atomic_fetch_add(&hang_ups, 1);
    w->conn = connect_once();
}

static void *work(void *argument)
{
    struct worker *w = argument;
    static void (*const things[])(struct worker *) = {move_money, move_money, move_money, move_money, sum_money, sum_money, query_facts, query_facts, query_facts, write_ledger, write_ledger, write_ledger,
                                                      write_ledger, copy_in, copy_out, change_schema, tidy, look, walk_cursor, cancel, hang_up};
    w->conn = connect_once();
    for (int i = 0; i < w->operations && !failures && PQstatus(w->conn) == CONNECTION_OK; i++) {
        things[dice(w) % (sizeof things / sizeof *things)](w);
        if (i % 8 == 7)
            must_have_ledger(w, w->conn);
        if (PQtransactionStatus(w->conn) != PQTRANS_IDLE)
            fail("a transaction was left open");
        atomic_fetch_add(&done, 1);
    }
    if (PQstatus(w->conn) != CONNECTION_OK)
        fail("the connection is lost: %s", PQerrorMessage(w->conn));
    PQfinish(w->conn);
    return NULL;
}

static void *turn_switches(void *argument)
{
    struct worker *w = argument;
    w->conn = connect_once();
    while (!over && !failures) {
        run(w, "SET %s", switches[dice(w) % (sizeof switches / sizeof *switches)]);
        atomic_fetch_add(&turns, 1);
        usleep((useconds_t)(dice(w) % 5000));
    }
    static const char *const names[] = {"engine_latch", "btree_latching", "pool_io", "pool_partitions", "worker_start", "group_commit", "agg", "io_delay"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run(w, "RESET crab.%s", names[i]);
    PQfinish(w->conn);
    return NULL;
}

/* ------------------------------------------------------------------ before and after */

static void make_tables(struct worker *w)
{
    long long sum = 0;
    char expected[64];
    run(w, "SET client_min_messages = warning; DROP TABLE IF EXISTS accounts, facts, ledger");
    run(w, "CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL, note text)");
    run(w, "INSERT INTO accounts SELECT g, %d, NULL FROM generate_series(0, %d) g", MONEY, ACCOUNTS - 1);
    run(w, "CREATE TABLE ledger (owner int, number int, amount int NOT NULL, payload text, PRIMARY KEY (owner, number))");
    run(w, "CREATE TABLE facts AS SELECT g AS id, g %% 17 AS k, g * 7919 %% 1000 AS v, g::float8 / 3 AS f, 'text ' || g %% 50 AS t FROM generate_series(1, %d) g", FACTS);
    run(w, "CREATE INDEX facts_v ON facts (v); ANALYZE");
    run(w, "SET max_parallel_workers_per_gather = 0");
    for (int q = 0; q < QUERIES; q++)
        answers[q] = ask(w->conn, queries[q]);
    for (long long g = 1; g <= FACTS; g++)
        sum += g * 7919 % 1000;
    snprintf(expected, sizeof expected, "%d|%lld|1|%d\n", FACTS, sum, FACTS);
    if (!answers[0] || strcmp(answers[0], expected))
        fail("%s: %s instead of %s", queries[0], answers[0] ? answers[0] : "nothing", expected);
}

static void check_everything(PGconn *conn, struct worker *workers, int threads)
{
    must_have_the_money(conn);
    for (int t = 0; t < threads; t++)
        must_have_ledger(&workers[t], conn);
    must_answer(conn, "SELECT count(*) FROM ledger WHERE number >= 512 OR owner >= 1000", "0\n");
    for (int q = 0; q < QUERIES; q++)
        must_answer(conn, queries[q], answers[q]);
    must_answer(conn, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'passing%'", "0\n");
    must_answer(conn, "SELECT indexname, crab_btree_check(indexname) FROM pg_indexes WHERE tablename IN ('accounts', 'facts', 'ledger') ORDER BY 1", "accounts_pkey|ok\nfacts_v|ok\nledger_pkey|ok\n");
    must_answer(conn, "SELECT tablename, crab_heap_check(tablename) FROM pg_tables WHERE tablename IN ('accounts', 'facts', 'ledger') ORDER BY 1", "accounts|ok\nfacts|ok\nledger|ok\n");
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 0, operations = argc > 2 ? atoi(argv[2]) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    bool turn = argc > 4 && !strcmp(argv[4], "turn");
    if (threads < 1 || threads > THREADS_MAX || operations < 1) {
        fprintf(stderr, "usage: %s THREADS OPERATIONS SEED [turn]\n", argv[0]);
        return 2;
    }
    struct worker *workers = calloc((size_t)threads, sizeof *workers), turner = {.random = seed * 7};
    struct worker first = {.conn = connect_once()};
    if (!failures)
        make_tables(&first);
    for (int t = 0; t < threads && !failures; t++) {
        workers[t].number = t;
        workers[t].operations = operations;
        workers[t].random = seed * 1000 + (uint64_t)t;
        pthread_create(&workers[t].id, NULL, work, &workers[t]);
    }
    if (!failures || workers[0].id) {
        if (turn)
            pthread_create(&turner.id, NULL, turn_switches, &turner);
        for (int t = 0; t < threads; t++)
            if (workers[t].id)
                pthread_join(workers[t].id, NULL);
        over = true;
        if (turn)
            pthread_join(turner.id, NULL);
        if (!failures)
            check_everything(first.conn, workers, threads);
    }
    PQfinish(first.conn);
    fprintf(stderr, "%llu deadlocks, %llu cancels, %llu hang-ups, %llu turns of a switch\n", (unsigned long long)deadlocks, (unsigned long long)cancels, (unsigned long long)hang_ups, (unsigned long long)turns);
    return verdict(turn ? "mixed SQL, switches turning" : "mixed SQL", (uint32_t)threads, done, seed, (uint64_t)failures);
}
