/* bench/compare.c - one list of statements on several systems, in one interleaved run: times, processor time, ratios, and the same answers.
 *
 *     compare [-r ROUNDS] [-w WORKERS] [-v NAME=VALUE]... [-o OUT] [-n] [-c] -s SYSTEM=WHERE... SCRIPT...
 *
 *     SYSTEM     Crabtree, PostgreSQL, SQLite or DuckDB; WHERE as the system's file says
 *     SCRIPT     compare_script.c says what it looks like. A statement with a label is timed in ROUNDS rounds, in which the systems take turns:
 *                A B A B, the next round B A B A; its heading is "label | at least | far mark": "at least" is what PostgreSQL's time over Crabtree's
 *                should be, "far mark" any other figure to stand beside it. COPY table FROM 'path' sends the file as the system likes it.
 *     -o OUT     OUT.dat gets the ratios, for gnuplot
 *     -n         a system that cannot run a statement, or answers otherwise, is left out of that line; without it, that ends the run with 1
 *     -c         figures are processor times throughout: for a machine that others use, too
 *
 * Ratios are PostgreSQL's figure over Crabtree's, and DuckDB's over Crabtree's: above 1, Crabtree is the faster. The figure is the median of wall times;
 * where the processor worked for more than 1.1 of the wall time, it is the median of processor times (so workers hide nothing). */
#include "bench/compare.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEMS 4
#define ROUNDS_MOST 100

static struct system systems[SYSTEMS];
static const char *where[SYSTEMS];
static int system_count, rounds = 5, workers = 1;
static bool lenient, by_cpu;
static FILE *plot;
static double log_sum[SYSTEMS];
static int log_count[SYSTEMS], missed, wrong;

static int find(const char *name)
{
    for (int i = 0; i < system_count; i++)
        if (strcmp(systems[i].name, name) == 0)
            return i;
    return -1;
}

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

struct line { char label[80]; double at_least, far; double wall[SYSTEMS], cpu[SYSTEMS], figure[SYSTEMS]; bool good[SYSTEMS]; };

static void header(void)
{
    printf("%-34s", "(milliseconds; c: by processor time)");
    for (int i = 0; i < system_count; i++)
        printf(" %11s %8s ", systems[i].name, "cpu");
    if (find("PostgreSQL") > 0)
        printf(" %8s %8s %9s", "PG/ours", "at least", "far mark");
    if (find("DuckDB") > 0)
        printf(" %9s", "Duck/ours");
    putchar('\n');
}

static void report(const struct line *l)
{
    int pg = find("PostgreSQL"), duck = find("DuckDB");
    printf("%-34s", l->label);
    for (int i = 0; i < system_count; i++)
        if (l->good[i])
            printf(" %11.2f %8.2f%c", l->wall[i], l->cpu[i], l->figure[i] == l->wall[i] ? ' ' : 'c');
        else
            printf(" %11s %8s ", "-", "-");
    for (int i = 1; i < system_count; i++)
        if (l->good[0] && l->good[i]) {
            log_sum[i] += log(l->figure[i] / l->figure[0]);
            log_count[i]++;
        }
    double ratio = pg > 0 && l->good[0] && l->good[pg] ? l->figure[pg] / l->figure[0] : 0;
    if (pg > 0) {
        char least[16] = "", far[16] = "";
        if (l->at_least > 0)
            snprintf(least, sizeof least, "%g%s", l->at_least, ratio < l->at_least ? " !" : "");
        if (l->far > 0)
            snprintf(far, sizeof far, "%g", l->far);
        printf(" %8.2f %8s %9s", ratio, least, far);
        missed += l->at_least > 0 && ratio < l->at_least;
    }
    if (duck > 0)
        l->good[duck] ? printf(" %9.2f", l->figure[duck] / l->figure[0]) : printf(" %9s", "-");
    putchar('\n');
    fflush(stdout);
    if (plot)
        fprintf(plot, "\"%s\" %g %g %g\n", l->label, ratio, l->at_least, pg > 0 && duck > 0 && l->good[duck] ? l->figure[pg] / l->figure[duck] : NAN);
}

static void measure(const char *heading, const char *sql, const char *after)
{
    static struct answer answers[SYSTEMS];
    static double wall[SYSTEMS][ROUNDS_MOST], cpu[SYSTEMS][ROUNDS_MOST];
    struct line l = {0};
    char error[512] = "";
    sscanf(heading, " %79[^|]| %lf | %lf", l.label, &l.at_least, &l.far);
    for (size_t n = strlen(l.label); n && isspace((unsigned char)l.label[n - 1]); n--)
        l.label[n - 1] = 0;
    /* warm, and the same answers */
    for (int i = 0; i < system_count; i++) {
        l.good[i] = run(i, sql, &answers[i], error, sizeof error);
        if (!l.good[i])
            complain(i, l.label, error);
        else if (after && !run(i, after, &answers[SYSTEMS - 1], error, sizeof error))
            complain(i, l.label, error);
        if (i && l.good[i] && l.good[0] && !after && !answers_agree(answers[0].text, answers[i].text)) {
            complain(i, l.label, "another answer");
            l.good[i] = false;
        }
    }
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < system_count; k++) {
            int i = round % 2 ? system_count - 1 - k : k;
            struct answer a = {0};
            if (!l.good[i])
                continue;
            l.good[i] = run(i, sql, &a, error, sizeof error);
            wall[i][round] = a.wall_ms;
            cpu[i][round] = a.cpu_ms;
            if (l.good[i] && after)
                l.good[i] = run(i, after, &a, error, sizeof error);
            if (!l.good[i])
                complain(i, l.label, error);
            free(a.text);
        }
    for (int i = 0; i < system_count; i++) {
        l.wall[i] = median(wall[i], (size_t)rounds);
        l.cpu[i] = median(cpu[i], (size_t)rounds);
        l.figure[i] = by_cpu || l.cpu[i] > 1.1 * l.wall[i] ? l.cpu[i] : l.wall[i];
    }
    report(&l);
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
            measure(s->heading, s->sql, s->after);
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
            char path[512];
            snprintf(path, sizeof path, "%s.dat", value);
            plot = fopen(path, "w");
        } else if (option == 's' && equals && system_count < SYSTEMS) {
            *equals = 0;
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                if (strcmp(known[k]->name, value) == 0) {
                    systems[system_count] = *known[k];
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
    header();
    for (; arg < argc; arg++)
        script(argv[arg]);
    for (int i = 1; i < system_count; i++)
        if (log_count[i])
            printf("geometric mean of %d: %s / ours %.2f\n", log_count[i], systems[i].name, exp(log_sum[i] / log_count[i]));
    if (missed)
        printf("%d lines stay under what they should reach (!)\n", missed);
    for (int i = 0; i < system_count; i++)
        systems[i].close(&systems[i]);
    if (plot)
        fclose(plot);
    return wrong ? 1 : 0;
}
