/* bench/compare_postgres.c - Crabtree and PostgreSQL: both speak PostgreSQL's protocol, so one client drives both.
 *
 * where: a connection string, '|', and the id of the server's process: processor time is its and its children's. With N workers PostgreSQL gets N - 1,
 * as its leader works, too. */
#include "bench/compare.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection { PGconn *pg; int pid; };

static bool failed(struct connection *c, PGresult *result, char *error, size_t bytes)
{
    snprintf(error, bytes, "%s", result ? PQresultErrorMessage(result) : PQerrorMessage(c->pg));
    PQclear(result);
    return false;
}

static bool plain(struct connection *c, const char *sql, char *error, size_t bytes)
{
    PGresult *result = PQexec(c->pg, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return failed(c, result, error, bytes);
    PQclear(result);
    return true;
}

static bool pg_open(struct system *s, const char *where, int workers, char *error, size_t bytes)
{
    struct connection *c = calloc(1, sizeof *c);
    char text[512], set[128];
    s->state = c;
    snprintf(text, sizeof text, "%s", where);
    char *pid = strchr(text, '|');
    if (!pid) {
        snprintf(error, bytes, "%s: no process", where);
        return false;
    }
    *pid++ = 0;
    c->pg = PQconnectdb(text);
    if (PQstatus(c->pg) != CONNECTION_OK)
        return failed(c, NULL, error, bytes);
    c->pid = atoi(pid);
    snprintf(set, sizeof set, "SET max_parallel_workers_per_gather = %d", strcmp(s->name, "PostgreSQL") == 0 ? workers - 1 : workers);
    return plain(c, set, error, bytes) && plain(c, "SET client_min_messages = warning", error, bytes);
}

static bool pg_run(struct system *s, const char *sql, struct answer *a, char *error, size_t bytes)
{
    struct connection *c = s->state;
    double cpu = process_cpu_ms(c->pid), from = clock_ms();
    PGresult *result = PQexec(c->pg, sql);
    a->wall_ms = clock_ms() - from;
    a->cpu_ms = process_cpu_ms(c->pid) - cpu;
    a->length = 0;
    answer_add(a, "", 0);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return failed(c, result, error, bytes);
    for (int row = 0; row < PQntuples(result); row++)
        for (int column = 0; column < PQnfields(result); column++) {
            answer_add(a, PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column));
            answer_add(a, column + 1 == PQnfields(result) ? "\n" : "\t", 1);
        }
    PQclear(result);
    return true;
}

static bool pg_load(struct system *s, const char *table, const char *path, struct answer *a, char *error, size_t bytes)
{
    struct connection *c = s->state;
    static char buffer[1 << 17];
    char sql[256];
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, bytes, "%s: cannot be read", path);
        return false;
    }
    snprintf(sql, sizeof sql, "COPY %s FROM STDIN", table);
    double cpu = process_cpu_ms(c->pid), from = clock_ms();
    PGresult *result = PQexec(c->pg, sql);
    bool good = PQresultStatus(result) == PGRES_COPY_IN;
    size_t got;
    while (good && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
        good = PQputCopyData(c->pg, buffer, (int)got) == 1;
    fclose(file);
    if (good) {
        PQclear(result);
        good = PQputCopyEnd(c->pg, NULL) == 1;
        result = PQgetResult(c->pg);
        good = good && PQresultStatus(result) == PGRES_COMMAND_OK;
    }
    a->wall_ms = clock_ms() - from;
    a->cpu_ms = process_cpu_ms(c->pid) - cpu;
    a->length = 0;
    answer_add(a, "", 0);
    if (!good)
        return failed(c, result, error, bytes);
    PQclear(result);
    while ((result = PQgetResult(c->pg)))
        PQclear(result);
    return true;
}

static void pg_close(struct system *s)
{
    struct connection *c = s->state;
    if (c)
        PQfinish(c->pg);
    free(c);
}

const struct system system_crabtree = { .name = "Crabtree", .open = pg_open, .run = pg_run, .load = pg_load, .close = pg_close };
const struct system system_postgres = { .name = "PostgreSQL", .open = pg_open, .run = pg_run, .load = pg_load, .close = pg_close };
