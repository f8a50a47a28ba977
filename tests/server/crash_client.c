/* tests/server/crash_client.c - transactions whose fate is written down, and the check afterwards that the server kept its word.
 *
 *     crash_client setup BRANCHES ACCOUNTS       makes the tables
 *     crash_client run FILE THREADS SECONDS      works until the server goes away (status 0) or the seconds are over (status 0)
 *     crash_client verify FILE...                what the files say against what is there; then the files say what is there
 *
 * A transaction is pgbench's (an account, its teller, its branch, history) and three rows in a ledger under a token of its own; a
 * fourth ledger row is written after a savepoint and rolled back. Some tokens are erased again by a later transaction, some
 * transactions roll back on purpose. FILE holds a byte a token, shared memory in effect, so it says at each moment what the client knew:
 *
 *     NONE -> OPEN -> TRIED -> KEPT -> ERASING -> ERASED        OPEN: nothing asked for yet, so nothing may be there
 *                \-> UNDONE                                    TRIED, ERASING: the answer to COMMIT is not known: all or nothing
 *
 * verify demands: a KEPT token has its three rows with their bytes, an OPEN, UNDONE or ERASED one has none, TRIED and ERASING three or
 * none; no ledger row without a token, none of a rolled back savepoint; the four sums of pgbench equal each other and the ledger's;
 * every index walks well (crab_btree_check) and gives what the heap gives. */
#include <libpq-fe.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 32
#define TOKENS_MAX (1 << 18)                  /* a thread, in one file */

enum fate { NONE, OPEN, TRIED, KEPT, ERASING, ERASED, UNDONE };
static const char *const fate_names[] = {"NONE", "OPEN", "TRIED", "KEPT", "ERASING", "ERASED", "UNDONE"};

struct record { uint32_t magic, number, threads, used[THREADS_MAX]; _Atomic uint8_t fate[THREADS_MAX][TOKENS_MAX]; };
#define MAGIC 0xc4ab0001u

static struct record *record;
static int branches, accounts;
static time_t deadline;
static _Atomic int bad;

static int64_t token_of(uint32_t number, int thread, uint32_t i) { return (int64_t)number << 32 | (int64_t)thread << 24 | i; }

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33; x *= 0xff51afd7ed558ccdULL; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL; x ^= x >> 33;
    return x;
}

/* Now and then long enough to live outside its page; from the token, so that verify knows it. */
static int payload_length(int64_t token, int part) { uint64_t h = mix((uint64_t)token * 4 + (uint64_t)part); return h % 50 == 0 ? 20000 + (int)((h >> 32) % 20000) : (int)((h >> 32) % 60); }
static int payload_letter(int64_t token, int part) { return 'a' + (int)(mix((uint64_t)token * 4 + (uint64_t)part + 77) % 26); }

static struct record *map(const char *path, bool make)
{
    int fd = open(path, make ? O_RDWR | O_CREAT : O_RDWR, 0644);
    if (fd < 0 || (make && ftruncate(fd, sizeof(struct record)))) {
        perror(path);
        exit(2);
    }
    struct record *r = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    close(fd);
    return r;
}

/* True when it went well. A lost connection is no fault; any other error is. */
static bool run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good && PQstatus(conn) == CONNECTION_OK) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (!state || (strcmp(state, "57P01") && strcmp(state, "57P02") && strcmp(state, "57P03"))) {
            fprintf(stderr, "crash_client: %.80s: %s", sql, PQresultErrorMessage(result));
            bad = 1;
        }
    }
    PQclear(result);
    return good;
}

static bool transaction(PGconn *conn, int thread, uint32_t i, uint64_t random)
{
    char sql[1024];
    int64_t token = token_of(record->number, thread, i);
    _Atomic uint8_t *fate = &record->fate[thread][i];
    int aid = (int)(random % (uint64_t)accounts) + 1, bid = (int)((random >> 20) % (uint64_t)branches) + 1, tid = (bid - 1) * 10 + (int)((random >> 40) % 10) + 1;
    int delta = (int)((random >> 8) % 10001) - 5000;

    *fate = OPEN;
    snprintf(sql, sizeof(sql), "BEGIN; UPDATE pgbench_accounts SET abalance = abalance + %d WHERE aid = %d; SELECT abalance FROM pgbench_accounts WHERE aid = %d;"
             "INSERT INTO ledger VALUES (%lld, 1, %d, %d, repeat('%c', %d))", delta, aid, aid, (long long)token, aid, delta, payload_letter(token, 1), payload_length(token, 1));
    if (!run(conn, sql))
        return false;
    if (random % 3 == 0) {
        snprintf(sql, sizeof(sql), "SAVEPOINT s; INSERT INTO ledger VALUES (%lld, 4, %d, %d, 'never'); UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = %d; ROLLBACK TO s", (long long)token, aid,
                 delta, aid);
        if (!run(conn, sql))
            return false;
    }
    snprintf(sql, sizeof(sql), "INSERT INTO ledger VALUES (%lld, 2, %d, 0, repeat('%c', %d)), (%lld, 3, %d, 0, repeat('%c', %d)); UPDATE pgbench_tellers SET tbalance = tbalance + %d WHERE tid = %d;"
             "UPDATE pgbench_branches SET bbalance = bbalance + %d WHERE bid = %d; INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (%d, %d, %d, %d, CURRENT_TIMESTAMP)",
             (long long)token, aid, payload_letter(token, 2), payload_length(token, 2), (long long)token, aid, payload_letter(token, 3), payload_length(token, 3), delta, tid, delta, bid, tid, bid, aid, delta);
    if (!run(conn, sql))
        return false;
    if (random % 16 == 1) {
        *fate = UNDONE;
        return run(conn, "ROLLBACK");
    }
    *fate = TRIED;
    if (!run(conn, "COMMIT"))
        return false;
    *fate = KEPT;
    return true;
}

/* An earlier one goes, with what it did to the sums of the ledger: history keeps its delta, so the ledger keeps a row that stands for it. */
static bool erase(PGconn *conn, int thread, uint32_t i)
{
    char sql[512];
    long long token = token_of(record->number, thread, i);
    _Atomic uint8_t *fate = &record->fate[thread][i];
    snprintf(sql, sizeof(sql), "BEGIN; UPDATE erased SET delta = delta + (SELECT sum(l.delta) FROM ledger l WHERE l.token = %lld) WHERE id = %d; DELETE FROM ledger WHERE token = %lld", token, thread, token);
    if (!run(conn, sql))
        return false;
    *fate = ERASING;
    if (!run(conn, "COMMIT"))
        return false;
    *fate = ERASED;
    return true;
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument;
    PGconn *conn = PQconnectdb("");
    uint64_t random = mix(record->number * 1000u + (uint64_t)thread + 1);
    if (PQstatus(conn) == CONNECTION_OK) {
        for (uint32_t i = 0; i < TOKENS_MAX && time(NULL) < deadline && !bad; i++) {
            random = mix(random + i + 0x9e3779b97f4a7c15ULL);
            record->used[thread] = i + 1;
            if (!transaction(conn, thread, i, random))
                break;
            if (random % 5 == 0) {
                uint32_t j = (uint32_t)((random >> 16) % (i + 1));
                if (record->fate[thread][j] == KEPT && !erase(conn, thread, j))
                    break;
            }
        }
    }
    PQfinish(conn);
    return NULL;
}

/* ---- What the server says ---- */

static PGconn *conn;

static PGresult *ask(const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK) {
        printf("crash_client: %s\n    %s", sql, PQresultErrorMessage(result));
        bad = 1;
    }
    return result;
}

static long long ask_number(const char *sql)
{
    PGresult *result = ask(sql);
    long long n = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) ? atoll(PQgetvalue(result, 0, 0)) : -1;
    PQclear(result);
    return n;
}

static void complain(const char *format, long long a, long long b)
{
    if (bad < 20) {
        printf(format, a, b);
        putchar('\n');
    }
    bad++;
}

static void same(const char *what, long long a, long long b)
{
    if (a != b) {
        printf("%s: %lld and %lld\n", what, a, b);
        bad++;
    }
}

struct seen { uint8_t parts; };

static void verify(int count, char **paths)
{
    struct record **records = calloc((size_t)count, sizeof(*records));
    struct seen (**seen)[TOKENS_MAX] = calloc((size_t)count, sizeof(*seen));
    long long kept = 0, open_ones = 0, settled = 0;

    for (int f = 0; f < count; f++) {
        records[f] = map(paths[f], false);
        seen[f] = calloc(THREADS_MAX, sizeof(struct seen[TOKENS_MAX]));
    }
    PGresult *rows = ask("SELECT token, part, length(payload), substr(payload, 1, 1), payload = repeat(substr(payload, 1, 1), length(payload)) FROM ledger");
    for (int r = 0; r < PQntuples(rows); r++) {
        long long token = atoll(PQgetvalue(rows, r, 0));
        int part = atoi(PQgetvalue(rows, r, 1)), length = atoi(PQgetvalue(rows, r, 2)), f;
        uint32_t number = (uint32_t)(token >> 32), thread = (uint32_t)(token >> 24) & 0xff, i = (uint32_t)token & 0xffffff;
        for (f = 0; f < count && records[f]->number != number; f++)
            ;
        if (f == count || thread >= THREADS_MAX || i >= TOKENS_MAX || part < 1 || part > 3) {
            complain("a ledger row that nobody wrote, or that was rolled back to a savepoint: token %lld, part %lld", token, part);
            continue;
        }
        if (seen[f][thread][i].parts & 1 << part)
            complain("a ledger row twice: token %lld, part %lld", token, part);
        seen[f][thread][i].parts |= (uint8_t)(1 << part);
        if (length != payload_length(token, part) || (length && PQgetvalue(rows, r, 3)[0] != payload_letter(token, part)) || PQgetvalue(rows, r, 4)[0] != 't')
            complain("a ledger row with other bytes: token %lld, part %lld", token, part);
    }
    PQclear(rows);
    for (int f = 0; f < count; f++)
        for (uint32_t t = 0; t < records[f]->threads; t++)
            for (uint32_t i = 0; i < records[f]->used[t]; i++) {
                int parts = seen[f][t][i].parts;
                enum fate fate = records[f]->fate[t][i];
                bool all = parts == 0xe, none = parts == 0;
                bool good = fate == KEPT ? all : fate == TRIED || fate == ERASING ? all || none : none;
                if (!good) {
                    if (bad < 20)
                        printf("token %lld was %s and has parts %#x (of 0xe)\n", (long long)token_of(records[f]->number, (int)t, i), fate_names[fate], parts);
                    bad++;
                }
                kept += all;
                open_ones += fate == OPEN;
                if (fate == TRIED || fate == ERASING) {
                    settled++;
                    records[f]->fate[t][i] = all ? KEPT : fate == TRIED ? UNDONE : ERASED;
                } else if (fate == OPEN) {
                    records[f]->fate[t][i] = UNDONE;
                }
            }

    long long a = ask_number("SELECT sum(abalance) FROM pgbench_accounts"), t = ask_number("SELECT sum(tbalance) FROM pgbench_tellers");
    long long b = ask_number("SELECT sum(bbalance) FROM pgbench_branches"), h = ask_number("SELECT coalesce(sum(delta), 0) FROM pgbench_history");
    same("sums of accounts and tellers", a, t);
    same("sums of tellers and branches", t, b);
    same("sums of branches and history", b, h);
    same("sums of history and ledger", h, ask_number("SELECT (SELECT coalesce(sum(delta), 0) FROM ledger) + (SELECT sum(delta) FROM erased)"));
    same("rows of accounts", ask_number("SELECT count(*) FROM pgbench_accounts"), ask_number("SELECT max(aid) FROM pgbench_accounts"));

    /* Tables and indexes: their own checks where there are such, and what indexes find against what the heap holds. */
    if (ask_number("SELECT count(*) FROM pg_proc WHERE proname IN ('crab_btree_check', 'crab_heap_check')") == 2) {
        PGresult *verdicts = ask("SELECT 'index ' || indexname, crab_btree_check(indexname) FROM pg_indexes WHERE schemaname = 'public' UNION ALL "
                                 "SELECT 'table ' || tablename, crab_heap_check(tablename) FROM pg_tables WHERE schemaname = 'public'");
        for (int i = 0; i < PQntuples(verdicts); i++)
            if (strcmp(PQgetvalue(verdicts, i, 1), "ok")) {
                printf("%s: %s\n", PQgetvalue(verdicts, i, 0), PQgetvalue(verdicts, i, 1));
                bad++;
            }
        if (PQntuples(verdicts) < 12)
            complain("only %lld of %lld tables and indexes were checked", PQntuples(verdicts), 12);
        PQclear(verdicts);
    }
    PQclear(ask("SET enable_seqscan = off"));
    same("ledger by its key and its heap", ask_number("SELECT count(*) FROM ledger WHERE token > 0"), kept * 3);
    same("ledger by account", ask_number("SELECT count(*) FROM ledger WHERE aid >= 0"), kept * 3);
    same("accounts by key", ask_number("SELECT sum(abalance) FROM pgbench_accounts WHERE aid > 0"), a);
    PQclear(ask("RESET enable_seqscan"));
    printf("%lld transactions kept, %lld commits with an unknown end, %lld open when the server went; %d faults\n", kept, settled, open_ones, bad);
    for (int f = 0; f < count; f++)
        free(seen[f]);
    free(seen);
    free(records);
}

static void setup(void)
{
    char sql[256];
    static const char *const statements[] = {
        "SET client_min_messages = warning", "DROP TABLE IF EXISTS pgbench_accounts, pgbench_tellers, pgbench_branches, pgbench_history, ledger, erased",
        "CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88))", "CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84))",
        "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
        "CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))",
        "CREATE TABLE ledger (token bigint, part int, aid int, delta int, payload text, PRIMARY KEY (token, part))", "CREATE INDEX ledger_aid ON ledger (aid)",
        "CREATE TABLE erased (id int PRIMARY KEY, delta bigint NOT NULL)"};
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        PQclear(ask(statements[i]));
    snprintf(sql, sizeof(sql), "INSERT INTO pgbench_branches SELECT g, 0, '' FROM generate_series(1, %d) g", branches);
    PQclear(ask(sql));
    snprintf(sql, sizeof(sql), "INSERT INTO pgbench_tellers SELECT g, (g - 1) / 10 + 1, 0, '' FROM generate_series(1, %d) g", branches * 10);
    PQclear(ask(sql));
    snprintf(sql, sizeof(sql), "INSERT INTO pgbench_accounts SELECT g, 1, 0, '' FROM generate_series(1, %d) g", accounts);
    PQclear(ask(sql));
    snprintf(sql, sizeof(sql), "INSERT INTO erased SELECT g, 0 FROM generate_series(0, %d) g", THREADS_MAX - 1);
    PQclear(ask(sql));
}

int main(int argc, char **argv)
{
    if (argc >= 2)
        conn = PQconnectdb("");
    if (argc == 4 && !strcmp(argv[1], "setup")) {
        branches = atoi(argv[2]);
        accounts = atoi(argv[3]);
        if (PQstatus(conn) != CONNECTION_OK) {
            fprintf(stderr, "%s", PQerrorMessage(conn));
            return 2;
        }
        setup();
    } else if (argc == 5 && !strcmp(argv[1], "run")) {
        pthread_t threads[THREADS_MAX];
        int count = atoi(argv[3]);
        if (count < 1 || count > THREADS_MAX)
            return 2;
        record = map(argv[2], true);
        if (record->magic)
            return 2;
        if (PQstatus(conn) != CONNECTION_OK)
            return 0;                        /* gone before anything began */
        record->magic = MAGIC;
        record->threads = (uint32_t)count;
        const char *digits = argv[2] + strlen(argv[2]);
        while (digits > argv[2] && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        record->number = (uint32_t)atoi(digits);       /* FILE ends in a number of its own */
        branches = (int)ask_number("SELECT count(*) FROM pgbench_branches");
        accounts = (int)ask_number("SELECT count(*) FROM pgbench_accounts");
        if (branches < 1 || accounts < 1)
            return PQstatus(conn) == CONNECTION_OK;
        deadline = time(NULL) + atoi(argv[4]);
        for (int t = 0; t < count; t++)
            pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
        for (int t = 0; t < count; t++)
            pthread_join(threads[t], NULL);
        long long acknowledged = 0;
        for (int t = 0; t < count; t++)
            for (uint32_t i = 0; i < record->used[t]; i++)
                acknowledged += record->fate[t][i] >= KEPT && record->fate[t][i] <= ERASED;
        printf("%lld transactions acknowledged\n", acknowledged);
    } else if (argc >= 2 && !strcmp(argv[1], "verify")) {
        if (PQstatus(conn) != CONNECTION_OK) {
            fprintf(stderr, "%s", PQerrorMessage(conn));
            return 2;
        }
        verify(argc - 2, argv + 2);
    } else {
        fprintf(stderr, "usage: crash_client setup BRANCHES ACCOUNTS | run FILE THREADS SECONDS | verify FILE...\n");
        return 2;
    }
    PQfinish(conn);
    return bad != 0;
}
