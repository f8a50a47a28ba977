/* bench/parallel.c - what workers bring: each statement with 1, 2, 4, 8 and 16 of them, in one interleaved run.
 *
 *     parallel [-r ROUNDS] [-v NAME=VALUE]... [-o OUT] -s "CONNECTION|PID" [-l LOADSCRIPT]... SCRIPT...
 *
 * A statement that takes less than 50 ms gets 30 rounds. Printed for each: milliseconds with one worker; speed-up with so many; the *ceiling*, which is the
 * joint throughput of two copies with one worker each, run at once, over that of one alone (what the machine's second processor is good for); the speed-up
 * of two workers as a part of that; the serial share s that fits best, speed-up(n) = 1 / (s + (1 - s) / n) over counts that have a processor each; and with two
 * workers, where EXPLAIN ANALYZE saw the time go: while workers scanned, while the leader merged what they brought, while workers finished it by partition,
 * while the client took rows, and the rest, the leader's own work. Answers must be the same bytes at every count. -o: OUT.md gets the table, OUT.dat the
 * speed-ups, for gnuplot. */
#include "bench/compare.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNTS 5
#define SMALL_MS 50
#define SMALL_ROUNDS 30
static const int counts[COUNTS] = {1, 2, 4, 8, 16};
static struct system one, other;
static int rounds = 5, wrong, small, small_lost, measured;
static double log_sum[COUNTS], log_part;
static FILE *plot, *table;

static double timed(struct system *s, int workers, const char *sql, struct answer *a)
{
    char set[64], error[512] = "";
    snprintf(set, sizeof set, "SET max_parallel_workers_per_gather = %d", workers);
    if (!s->run(s, set, a, error, sizeof error) || !s->run(s, sql, a, error, sizeof error)) {
        fprintf(stderr, "parallel: %s\n%.200s\n", error, sql);
        exit(1);
    }
    return a->wall_ms;
}

struct copy { pthread_t thread; struct system *system; const char *sql; struct answer answer; double ms; pthread_barrier_t *start; };

static void *copy_run(void *argument)
{
    struct copy *copy = argument;
    pthread_barrier_wait(copy->start);
    copy->ms = timed(copy->system, 1, copy->sql, &copy->answer);
    return NULL;
}

/* Milliseconds that each of two copies takes when both run. */
static void both(const char *sql, double *first, double *second)
{
    pthread_barrier_t start;
    struct copy copies[2] = {{.system = &one, .sql = sql, .start = &start}, {.system = &other, .sql = sql, .start = &start}};
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&copies[i].thread, NULL, copy_run, &copies[i]))
            abort();
    for (int i = 0; i < 2; i++) {
        pthread_join(copies[i].thread, NULL);
        free(copies[i].answer.text);
    }
    pthread_barrier_destroy(&start);
    *first = copies[0].ms;
    *second = copies[1].ms;
}

/* 1 / speed-up = s + (1 - s) / n: least squares over the counts that have a processor each. */
static double serial_share(const double *speedup)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double xy = 0, xx = 0;
    for (int i = 1; i < COUNTS && counts[i] <= processors; i++) {
        double x = 1 - 1.0 / counts[i], y = 1 / speedup[i] - 1.0 / counts[i];
        xy += x * y;
        xx += x * x;
    }
    return xx > 0 ? fmax(0, xy / xx) : 0;
}

static void phases(const char *sql)
{
    static struct answer a;
    struct answer explain = {0};
    double scan, merge, finalise, print, rest;
    answer_add(&explain, "EXPLAIN (ANALYZE, TIMING OFF) ", 30);
    answer_add(&explain, sql, strlen(sql));
    timed(&one, 2, explain.text, &a);
    free(explain.text);
    const char *at = a.text ? strstr(a.text, "Phases:") : NULL;
    bool found = at && sscanf(at, "Phases: scan=%lf merge=%lf finalise=%lf print=%lf leader=%lf", &scan, &merge, &finalise, &print, &rest) == 5;
    if (found)
        printf(" %8.2f %7.2f %8.2f %7.2f %7.2f\n", scan, merge, finalise, print, rest);
    else
        printf(" %s\n", " one worker only");
    if (table && found)
        fprintf(table, " %.2f | %.2f | %.2f | %.2f | %.2f |\n", scan, merge, finalise, print, rest);
    else if (table)
        fprintf(table, " | | | | |\n");
}

static void measure(const char *heading, const char *sql)
{
    static double ms[COUNTS][SMALL_ROUNDS + 100], first[SMALL_ROUNDS + 100], second[SMALL_ROUNDS + 100];
    static struct answer answer, again;
    char label[64] = "";
    sscanf(heading, " %63[^|]", label);
    double warm = timed(&one, 1, sql, &answer);
    warm = fmin(warm, timed(&one, 1, sql, &answer));
    for (int i = 1; i < COUNTS; i++) {
        timed(&one, counts[i], sql, &again);
        if (strcmp(answer.text, again.text) != 0) {
            printf("  %s: another answer with %d workers\n", label, counts[i]);
            wrong++;
        }
    }
    int times = warm < SMALL_MS && rounds < SMALL_ROUNDS ? SMALL_ROUNDS : rounds;
    for (int round = 0; round < times; round++) {
        for (int k = 0; k < COUNTS; k++) {
            int i = round % 2 ? COUNTS - 1 - k : k;
            ms[i][round] = timed(&one, counts[i], sql, &again);
        }
        both(sql, &first[round], &second[round]);
    }
    double speedup[COUNTS], t1 = median(ms[0], (size_t)times);
    for (int i = 0; i < COUNTS; i++) {
        speedup[i] = t1 / median(ms[i], (size_t)times);
        log_sum[i] += log(speedup[i]);
    }
    double ceiling = t1 / median(first, (size_t)times) + t1 / median(second, (size_t)times);
    measured++;
    log_part += log(speedup[1] / ceiling);
    if (t1 < SMALL_MS) {
        small++;
        small_lost += speedup[1] < 0.9;
    }
    printf("%-28s %9.2f  %5.2f %5.2f %5.2f %5.2f  %7.2f %6.2f %6.1f%%", label, t1, speedup[1], speedup[2], speedup[3], speedup[4], ceiling, speedup[1] / ceiling,
           100 * serial_share(speedup));
    if (table)
        fprintf(table, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f %% |", label, t1, speedup[1], speedup[2], speedup[3], speedup[4], ceiling, speedup[1] / ceiling,
                100 * serial_share(speedup));
    phases(sql);
    fflush(stdout);
    if (plot)
        fprintf(plot, "\"%s\" %g %g %g %g %g\n", label, speedup[1], speedup[2], speedup[3], speedup[4], ceiling);
}

static void script(const char *path, bool load)
{
    static struct answer a;
    const char *only = getenv("ONLY");
    struct script *script = script_open(path);
    if (!script) {
        fprintf(stderr, "parallel: %s cannot be read\n", path);
        exit(2);
    }
    for (struct statement *s; (s = script_next(script));) {
        char table[64], file[512], error[512] = "";
        if (s->heading && !load) {
            if (strncmp(s->sql, "SELECT", 6) == 0 || strncmp(s->sql, "WITH", 4) == 0)
                if (!only || !*only || strstr(s->heading, only))
                    measure(s->heading, s->sql);
        } else if (load && !s->heading) {
            bool good = sscanf(s->sql, " COPY %63s FROM '%511[^']'", table, file) == 2 ? one.load(&one, table, file, &a, error, sizeof error)
                                                                                 : one.run(&one, s->sql, &a, error, sizeof error);
            if (!good) {
                fprintf(stderr, "parallel: %s\n%.200s\n", error, s->sql);
                exit(1);
            }
        }
    }
    script_close(script);
}

static void out_open(const char *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s.dat", out);
    plot = fopen(path, "w");
    snprintf(path, sizeof path, "%s.md", out);
    table = fopen(path, "w");
    if (!plot || !table) {
        fprintf(stderr, "parallel: %s cannot be written\n", path);
        exit(2);
    }
    fprintf(table, "| | 1 worker, ms | 2 | 4 | 8 | 16 | ceiling for 2 | 2 of the ceiling | serial | scan, ms | merge | finalise | print | leader |\n|");
    for (int i = 0; i < 14; i++)
        fprintf(table, " --- |");
    fprintf(table, "\n");
}

static void means(FILE *to)
{
    fprintf(to, "Geometric mean of %d: speed-up", measured);
    for (int i = 1; i < COUNTS; i++)
        fprintf(to, " %.2f (%d)", exp(log_sum[i] / measured), counts[i]);
    fprintf(to, ", of the ceiling %.2f (at least 0.9).\n", exp(log_part / measured));
    fprintf(to, "Statements under %d ms: %d; slower than 0.9 with two workers: %d.\n", SMALL_MS, small, small_lost);
}

int main(int argc, char **argv)
{
    int arg = 1;
    char error[512] = "";
    for (; arg + 1 < argc && argv[arg][0] == '-'; arg += 2) {
        char *value = argv[arg + 1], *equals = strchr(value, '=');
        switch (argv[arg][1]) {
        case 'r': rounds = atoi(value); break;
        case 'v':
            if (equals) {
                *equals = 0;
                script_value(value, equals + 1);
            }
            break;
        case 'o': out_open(value); break;
        case 'l': script(value, true); break;
        case 's':
            one = other = system_crabtree;
            if (!one.open(&one, value, 1, error, sizeof error) || !other.open(&other, value, 1, error, sizeof error)) {
                fprintf(stderr, "parallel: %s\n", error);
                return 1;
            }
            break;
        default: arg = argc;
        }
    }
    if (arg >= argc || !one.run || rounds < 1 || rounds > 100) {
        fprintf(stderr, "usage: parallel [-r ROUNDS] [-v NAME=VALUE]... [-o OUT] -s \"CONNECTION|PID\" [-l LOADSCRIPT]... SCRIPT...\n");
        return 2;
    }
    printf("%-28s %9s  %5s %5s %5s %5s  %7s %6s %7s %8s %7s %8s %7s %7s\n", "", "1, ms", "2", "4", "8", "16", "ceiling", "2/ceil", "serial", "scan", "merge", "finalise", "print", "leader");
    for (; arg < argc; arg++)
        script(argv[arg], false);
    if (measured)
        means(stdout);
    if (measured && table) {
        fprintf(table, "\n");
        means(table);
    }
    one.close(&one);
    other.close(&other);
    if (plot) {
        fclose(plot);
        fclose(table);
    }
    return wrong ? 1 : 0;
}
