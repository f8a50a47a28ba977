/* bench/compare_report.c - what bench/compare prints: a table for the eye, the same in Markdown, and ratios for gnuplot.
 *
 * A ratio is another system's time over Crabtree's: above 1, Crabtree is the faster. It is of wall times; where one of the two kept processors busy for
 * more than 1.1 of its wall time, it is of processor times, so that workers and background threads hide nothing ("c" stands behind it). Some
 * statements Crabtree answers from zone maps once it has read the pages: they are in the mean over all, left out of a second one, and the time of the
 * first run stands beside each. */
#include "bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *names[SYSTEMS];
static int count, missed;
static bool by_cpu;
static FILE *table, *plot;
struct mean { double sum; int count; };
static struct mean all[SYSTEMS], rows_read[SYSTEMS], first_runs[SYSTEMS];

static int find(const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static void mean_add(struct mean *m, double ratio)
{
    if (ratio > 0) {
        m->sum += log(ratio);
        m->count++;
    }
}

static double mean_of(const struct mean *m) { return m->count ? exp(m->sum / m->count) : 0; }

static bool counts_by_cpu(const struct result *r, int other)
{
    return by_cpu || r->cpu[0] > 1.1 * r->wall[0] || r->cpu[other] > 1.1 * r->wall[other];
}

/* 0: one of the two has no answer. */
static double ratio(const struct result *r, int other)
{
    if (other < 0 || !r->good[0] || !r->good[other])
        return 0;
    return counts_by_cpu(r, other) ? r->cpu[other] / r->cpu[0] : r->wall[other] / r->wall[0];
}

void report_open(const char *const *system_names, int system_count, const char *out, bool cpu)
{
    char path[512];
    count = system_count;
    by_cpu = cpu;
    memcpy(names, system_names, (size_t)count * sizeof *names);
    if (out) {
        snprintf(path, sizeof path, "%s.dat", out);
        plot = fopen(path, "w");
        snprintf(path, sizeof path, "%s.md", out);
        table = fopen(path, "w");
        if (!plot || !table) {
            fprintf(stderr, "compare: %s cannot be written\n", path);
            exit(2);
        }
    }
    printf("%-28s", "(milliseconds)");
    for (int i = 0; i < count; i++)
        printf(" %10s %9s", names[i], "cpu");
    for (int i = 1; i < count; i++)
        printf(" %.6s/ours", names[i]);
    printf(" at least far mark first: ours");
    if (find("PostgreSQL") > 0)
        printf(" PostgreSQL");
    putchar('\n');
    if (!table)
        return;
    fprintf(table, "| |");
    for (int i = 0; i < count; i++)
        fprintf(table, " %s | cpu |", names[i]);
    for (int i = 1; i < count; i++)
        fprintf(table, " %s / ours |", names[i]);
    fprintf(table, " at least | first run: ours | PostgreSQL |\n|");
    for (int i = 0; i < 3 * count + 3; i++)
        fprintf(table, " --- |");
    fprintf(table, "\n");
}

static void in_markdown(const struct result *r)
{
    fprintf(table, "| %s%s |", r->label, r->from_maps ? " *" : "");
    for (int i = 0; i < count; i++)
        if (r->good[i])
            fprintf(table, " %.2f | %.2f |", r->wall[i], r->cpu[i]);
        else
            fprintf(table, " | |");
    for (int i = 1; i < count; i++)
        if (ratio(r, i) > 0)
            fprintf(table, " %.2f%s |", ratio(r, i), counts_by_cpu(r, i) ? " c" : "");
        else
            fprintf(table, " |");
    if (r->at_least > 0)
        fprintf(table, " %g |", r->at_least);
    else
        fprintf(table, " |");
    int pg = find("PostgreSQL");
    fprintf(table, " %.2f |", r->first[0]);
    if (pg > 0)
        fprintf(table, " %.2f |\n", r->first[pg]);
    else
        fprintf(table, " |\n");
    fflush(table);
}

void report_line(const struct result *r)
{
    int pg = find("PostgreSQL"), duck = find("DuckDB");
    printf("%-27s%c", r->label, r->from_maps ? '*' : ' ');
    for (int i = 0; i < count; i++)
        if (r->good[i])
            printf(" %10.2f %9.2f", r->wall[i], r->cpu[i]);
        else
            printf(" %10s %9s", "-", "-");
    for (int i = 1; i < count; i++) {
        double x = ratio(r, i);
        if (x > 0)
            printf(" %10.2f%c", x, counts_by_cpu(r, i) ? 'c' : ' ');
        else
            printf(" %10s ", "-");
        mean_add(&all[i], x);
        if (!r->from_maps)
            mean_add(&rows_read[i], x);
        if (x > 0)
            mean_add(&first_runs[i], r->first[i] / r->first[0]);
    }
    char least[16] = "", far[16] = "";
    bool under = r->at_least > 0 && pg > 0 && ratio(r, pg) < r->at_least;
    if (r->at_least > 0)
        snprintf(least, sizeof least, "%g%s", r->at_least, under ? " !" : "");
    if (r->far > 0)
        snprintf(far, sizeof far, "%g", r->far);
    missed += under;
    printf(" %8s %8s %11.2f", least, far, r->first[0]);
    if (pg > 0)
        printf(" %10.2f", r->first[pg]);
    putchar('\n');
    fflush(stdout);
    if (table)
        in_markdown(r);
    if (plot) {
        double of_duck = ratio(r, duck);
        fprintf(plot, "\"%s\" %g %g %g\n", r->label, ratio(r, pg), r->at_least, of_duck > 0 ? ratio(r, pg) / of_duck : NAN);
    }
}

static void say(const char *text)
{
    printf("%s", text);
    if (table)
        fprintf(table, "%s", text);
}

void report_close(void)
{
    char text[300];
    if (table)
        fprintf(table, "\n");
    for (int i = 1; i < count; i++) {
        if (all[i].count == 0)
            continue;
        int used = snprintf(text, sizeof text, "Geometric mean of %d, %s / ours: %.2f", all[i].count, names[i], mean_of(&all[i]));
        if (rows_read[i].count < all[i].count)
            used += snprintf(text + used, sizeof text - (size_t)used, "; of the %d that read rows (without *): %.2f", rows_read[i].count, mean_of(&rows_read[i]));
        snprintf(text + used, sizeof text - (size_t)used, "; of first runs, by wall time: %.2f.\n", mean_of(&first_runs[i]));
        say(text);
    }
    if (missed) {
        snprintf(text, sizeof text, "Under what they should reach (!): %d.\n", missed);
        say(text);
    }
    if (table)
        fclose(table);
    if (plot)
        fclose(plot);
}
