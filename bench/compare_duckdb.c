/* bench/compare_duckdb.c - DuckDB through npm's @duckdb/node-api: a child that runs compare_duckdb.mjs, one statement a line.
 *
 * where: a folder; node_modules is looked for there, the database is the file duck.db in it. The child measures wall time itself; processor time is that
 * of its process. */
#include "bench/compare.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct child { pid_t pid; FILE *to, *from; };

static bool duck_run(struct system *s, const char *sql, struct answer *a, char *error, size_t bytes);

static bool duck_open(struct system *s, const char *where, int workers, char *error, size_t bytes)
{
    struct child *c = calloc(1, sizeof *c);
    int in[2], out[2];
    s->state = c;
    if (pipe(in) || pipe(out) || (c->pid = fork()) < 0) {
        snprintf(error, bytes, "cannot start node");
        return false;
    }
    if (c->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        if (chdir(where) == 0)
            execlp("node", "node", "compare_duckdb.mjs", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    signal(SIGPIPE, SIG_IGN);
    c->to = fdopen(in[1], "w");
    c->from = fdopen(out[0], "r");
    char set[64];
    struct answer a = {0};
    snprintf(set, sizeof set, "SET threads = %d", workers);
    bool good = duck_run(s, set, &a, error, bytes) && duck_run(s, "SET memory_limit = '8GB'", &a, error, bytes);
    free(a.text);
    return good;
}

/* The child answers lines of rows, then "\1ok MILLISECONDS" or "\1error TEXT". */
static bool duck_run(struct system *s, const char *sql, struct answer *a, char *error, size_t bytes)
{
    struct child *c = s->state;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool good = false;
    a->length = 0;
    answer_add(a, "", 0);
    double cpu = process_cpu_ms(c->pid);
    for (const char *at = sql; *at; at++)
        fputc(*at == '\n' ? ' ' : *at, c->to);
    fputc('\n', c->to);
    fflush(c->to);
    snprintf(error, bytes, "node is gone");
    while ((length = getline(&line, &capacity, c->from)) > 0) {
        if (line[0] != 1) {
            answer_add(a, line, (size_t)length);
            continue;
        }
        line[length - 1] = 0;
        good = strncmp(line + 1, "ok ", 3) == 0;
        a->wall_ms = good ? atof(line + 4) : 0;
        if (!good)
            snprintf(error, bytes, "%s", line + 7);
        break;
    }
    a->cpu_ms = process_cpu_ms(c->pid) - cpu;
    free(line);
    return good;
}

static bool duck_load(struct system *s, const char *table, const char *path, struct answer *a, char *error, size_t bytes)
{
    char sql[512];
    snprintf(sql, sizeof sql, "COPY %s FROM '%s' (FORMAT csv, DELIMITER '\t', HEADER false, QUOTE '', ESCAPE '')", table, path);
    bool good = duck_run(s, sql, a, error, bytes);
    a->length = 0;                       /* it answers the count */
    answer_add(a, "", 0);
    return good;
}

static void duck_close(struct system *s)
{
    struct child *c = s->state;
    if (!c)
        return;
    if (c->to)
        fclose(c->to);
    if (c->from)
        fclose(c->from);
    waitpid(c->pid, NULL, 0);
    free(c);
}

const struct system system_duckdb = { .name = "DuckDB", .open = duck_open, .run = duck_run, .load = duck_load, .close = duck_close };
