/* bench/compare.c - one list of statements on several systems, in one interleaved run: times, processor time, ratios, and the same answers.
 *
 *     compare [-r ROUNDS] [-w WORKERS] [-v NAME=VALUE]... [-o OUT] [-n] [-c] -s SYSTEM=WHERE... SCRIPT...
 *
 *     SYSTEM     Crabtree, PostgreSQL, SQLite or DuckDB; WHERE as the system's file says
 *     SCRIPT     compare_script.c says what it looks like. A statement with a label is timed in ROUNDS rounds, in which the systems take turns:
 *                A B A B, the next round B A B A; its heading is "label | at least | far mark | maps" (struct result). COPY table FROM 'path' sends the
 *                file as the system likes it.
 *     -o OUT     OUT.md gets the table, OUT.dat the ratios, for gnuplot
 *     -n         a system other than Crabtree and PostgreSQL that cannot run a statement, or answers otherwise, is left out of that line; without it,
 *                that ends the run with 1
 *     -c         ratios are of processor times throughout: for a machine that others use, too
 *
 * Answers are compared in each round, the check's, too. SQLite takes part in one round only where it is slow: it is beside the marks, and would take most of the time. */
#include "bench/compare.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST 100
#define SLOW_MS 3000                     /* of SQLite */

static struct system systems[SYSTEMS];
static const char *where[SYSTEMS];
static int system_count, rounds = 5, workers = 1;
static bool lenient, by_cpu;
static int wrong;

static bool run(int i, const char *sql, struct answer *a, char *error, size_t bytes)
{
    char table[64], path[512];
    if (sscanf(sql, " COPY %63s FROM '%511[^']'", table, path) == 2)
        return systems[i].load(&systems[i], table, path, a, error, bytes);
    return systems[i].run(&systems[i], sql, a, error, bytes);
}

static void complain(int i, const char *label, const char *error)
{
    printf("  %s, %s: %.200s\n", systems[i].name, label, error);
    if (!lenient || i < 1 || strcmp(systems[i].name, "PostgreSQL") == 0)
        wrong++;
}

static void prepare(const char *sql)
{
    static struct answer a;
    for (int i = 0; i < system_count; i++) {
        char error[512] = "";
        if (!run(i, sql, &a, error, sizeof error)) {
            fprintf(stderr, "compare: %s: %s\n%.200s\n", systems[i].name, error, sql);
            exit(1);
        }
    }
}

static void heading_read(const char *heading, struct result *r)
{
    char maps[8] = "";
    sscanf(heading, " %79[^|]| %lf | %lf | %7s", r->label, &r->at_least, &r->far, maps);
    r->from_maps = strcmp(maps, "maps") == 0;
    for (size_t n = strlen(r->label); n && isspace((unsigned char)r->label[n - 1]); n--)
        r->label[n - 1] = 0;
}

/* The statement once, what it left behind, and clearing up; `of_all` gets both answers. False, said: it failed. */
static bool run_once(int i, const struct statement *s, const char *label, struct answer *a, struct answer *of_all)
{
    static struct answer more;
    char error[512] = "";
    bool good = run(i, s->sql, a, error, sizeof error);
    of_all->length = 0;
    if (good)
        answer_add(of_all, a->text, a->length);
    if (good && s->check) {
        good = run(i, s->check, &more, error, sizeof error);
        answer_add(of_all, good ? more.text : "", good ? more.length : 0);
    }
    good = good && (!s->after || run(i, s->after, &more, error, sizeof error));
    if (!good)
        complain(i, label, error);
    return good;
}

static void measure(const struct statement *s)
{
    static struct answer answers[SYSTEMS], a, again;
    static double wall[SYSTEMS][ROUNDS_MOST], cpu[SYSTEMS][ROUNDS_MOST];
    struct result r = {0};
    size_t done[SYSTEMS] = {0};
    heading_read(s->heading, &r);
    for (int i = 0; i < system_count; i++) {
        r.good[i] = run_once(i, s, r.label, &a, &answers[i]);
        r.first[i] = a.wall_ms;
        if (i && r.good[i] && r.good[0] && !answers_agree(answers[0].text, answers[i].text)) {
            complain(i, r.label, "another answer");
            r.good[i] = false;
        }
    }
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < system_count; k++) {
            int i = round % 2 ? system_count - 1 - k : k;
            if (!r.good[i] || (round && r.first[i] > SLOW_MS && strcmp(systems[i].name, "SQLite") == 0))
                continue;
            r.good[i] = run_once(i, s, r.label, &a, &again);
            wall[i][done[i]] = a.wall_ms;
            cpu[i][done[i]++] = a.cpu_ms;
            if (r.good[i] && !answers_agree(answers[i].text, again.text)) {
                complain(i, r.label, "another answer than the first time");
                r.good[i] = false;
            }
        }
    for (int i = 0; i < system_count; i++) {
        r.wall[i] = median(wall[i], done[i]);
        r.cpu[i] = median(cpu[i], done[i]);
    }
    report_line(&r);
}

static void script(const char *path)
{
    const char *only = getenv("ONLY");
    struct script *script = script_open(path);
    if (!script) {
        fprintf(stderr, "compare: %s cannot be read\n", path);
        exit(2);
    }
    for (struct statement *s; (s = script_next(script));) {
        if (!s->heading)
            prepare(s->sql);
        else if (!only || !*only || strstr(s->heading, only))
            measure(s);
    }
    script_close(script);
}

static int usage(void)
{
    fprintf(stderr, "usage: compare [-r ROUNDS] [-w WORKERS] [-v NAME=VALUE]... [-o OUT] [-n] [-c] -s SYSTEM=WHERE... SCRIPT...\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct system *const known[] = {&system_crabtree, &system_postgres, &system_sqlite, &system_duckdb};
    const char *names[SYSTEMS], *out = NULL;
    int arg = 1;
    for (; arg < argc && argv[arg][0] == '-'; arg++) {
        char option = argv[arg][1];
        if (option == 'n' || option == 'c') {
            *(option == 'n' ? &lenient : &by_cpu) = true;
            continue;
        }
        if (arg + 1 == argc)
            return usage();
        char *value = argv[++arg], *equals = strchr(value, '=');
        if (option == 'r') {
            rounds = atoi(value);
        } else if (option == 'w') {
            workers = atoi(value);
        } else if (option == 'v' && equals) {
            *equals = 0;
            script_value(value, equals + 1);
        } else if (option == 'o') {
            out = value;
        } else if (option == 's' && equals && system_count < SYSTEMS) {
            *equals = 0;
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                if (strcmp(known[k]->name, value) == 0) {
                    systems[system_count] = *known[k];
                    names[system_count] = known[k]->name;
                    where[system_count++] = equals + 1;
                }
        } else
            return usage();
    }
    if (arg == argc || system_count == 0 || rounds < 1 || rounds > ROUNDS_MOST)
        return usage();
    for (int i = 0; i < system_count; i++) {
        char error[512] = "";
        if (!systems[i].open(&systems[i], where[i], workers, error, sizeof error)) {
            fprintf(stderr, "compare: %s: %s\n", systems[i].name, error);
            return 1;
        }
    }
    report_open(names, system_count, out, by_cpu);
    for (; arg < argc; arg++)
        script(argv[arg]);
    report_close();
    for (int i = 0; i < system_count; i++)
        systems[i].close(&systems[i]);
    return wrong ? 1 : 0;
}
