/* tests/oracle/oracle.c - random statements whose answers are known: from SQLite, or from Crabtree asked in another way.
 *
 *     oracle [SEED=1] [N=6000] [ROUND=0] [FAULTS=1] [CHECKS=some|all] [SHRINK=yes|no] [PATIENCE=6 seconds]
 *
 * Rounds of 80 statements, each over tables of its own; everything about a round is a function of SEED and its number, so ROUND=r
 * begins with that one. A statement is a change, a condition to be partitioned, or a query. Each query is compared with SQLite where
 * SQLite understands it, at another number of workers, and in one of the other ways; with CHECKS=all in each of them and at 2, 3, 4, 8
 * and 16 workers. The first fault (FAULTS=n: the nth) is cut smaller, printed as a script, and ends the run with status 1. */
#include "tests/oracle/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_STATEMENTS 80

static unsigned long seed = 1, round_number, wanted = 6000;
static int faults_wanted = 1, faults;
static bool all_checks, shrinks = true;
static unsigned long made, changes, queries, partitions;

static const char *origin(int n) { return node_text("oracle: SEED=%lu ROUND=%lu, statement %d (the %luth)", seed, round_number, n, made); }

/* true: the round goes on. */
static bool holds(struct check check, struct statement *s, int n, bool rebuildable)
{
    struct text report = {0};
    const char *fault = check_run(check, s, &report);
    if (fault && shrinks)
        shrink_and_print(check, s, fault, rebuildable, origin(n), report.bytes);
    else if (fault)
        printf("%s: %s: %s\n%s\n", origin(n), check_name(check), fault, report.bytes);
    text_clear(&report);
    if (!fault)
        return true;
    if (++faults >= faults_wanted)
        exit(1);
    return false;
}

static bool query_holds(int n)
{
    struct statement s;
    query_make(&s);
    queries++;
    /* What is drawn is drawn whatever the outcome, so that a round can be made again. */
    enum asked workers = (enum asked)(WORKERS_2 + below(5));
    int other = below(10);
    if (s.common && !holds((struct check){.kind = AGAINST_SQLITE}, &s, n, true))
        return false;
    for (enum asked w = WORKERS_2; w <= WORKERS_16; w++)
        if ((all_checks || w == workers) && !holds((struct check){.kind = AT_WORKERS, .workers = w}, &s, n, true))
            return false;
    static const enum check_kind others[] = {IN_SMALL_MEMORY, IN_SMALL_MEMORY, IN_LARGE_MEMORY, WITH_OTHER_PLAN, WITH_OTHER_PLAN, WITH_OTHER_PLAN, COLLECTED, PREPARED, PREPARED, CHECKS};
    for (int i = 0; i < 10; i++)
        if ((i == other || (all_checks && (i == 0 || others[i] != others[i - 1]))) && others[i] != CHECKS && !holds((struct check){.kind = others[i], .workers = workers}, &s, n, true))
            return false;
    return true;
}

static bool partition_holds(int n)
{
    struct statement s;
    partition_make(&s);
    partitions++;
    enum asked workers = (enum asked)(BASE + below(6));
    return holds((struct check){.kind = PARTITIONED, .workers = workers}, &s, n, true) && holds((struct check){.kind = COUNTED_PLAINLY, .workers = workers}, &s, n, true);
}

/* One to four changes in a transaction, some of which is thrown away. */
static bool changes_hold(int n)
{
    bool good = true, commit = chance(75);
    must_both("BEGIN", "BEGIN");
    for (int more = 1 + below(4); more > 0 && good; more--) {
        struct statement s;
        change_make(&s);
        changes++;
        good = holds((struct check){.kind = CHANGED}, &s, n, false);
        if (good && chance(40)) {            /* what isn't committed is seen by who made it */
            query_make(&s);
            queries++;
            must_both("SAVEPOINT q", "SAVEPOINT q");
            good = !s.common || holds((struct check){.kind = AGAINST_SQLITE}, &s, n, false);
            must_both("ROLLBACK TO q", "ROLLBACK TO q");
        }
    }
    must_both(commit ? "COMMIT" : "ROLLBACK", commit ? "COMMIT" : "ROLLBACK");
    return good;
}

/* What says nothing of the answers: statistics, all-visible pages, an index that goes and comes; other plans. */
static void upkeep(void)
{
    const struct table *t = &tables[below(table_count)];
    int pick = below(5);
    if (pick == 0 && t->index_count) {
        must(BASE, node_text("DROP INDEX %s_1", t->name));
        must(BASE, t->indexes[0].bytes);
    } else if (pick == 1)
        ask_change_settings();
    else
        must(BASE, (const char *[]){"ANALYZE", "VACUUM", "VACUUM ANALYZE"}[pick - 2 < 0 ? 0 : pick - 2]);
}

static void run_round(void)
{
    chance_seed(seed, round_number, 0);
    schema_make();
    ask_change_settings();
    database_make();
    if (chance(60))
        must(BASE, chance(50) ? "ANALYZE" : "VACUUM ANALYZE");   /* all-visible pages, zones, statistics; or none of it */
    bool good = true;
    for (int n = 1; n <= ROUND_STATEMENTS && made < wanted && good; n++) {
        chance_seed(seed, round_number, (uint64_t)n);
        made++;
        int pick = below(100);
        if (pick < 4)
            upkeep();
        else if (pick < 14)
            good = changes_hold(n);
        else if (pick < 24)
            good = partition_holds(n);
        else
            good = query_holds(n);
        nodes_end();
    }
    if (good)                                /* all tables, once more */
        for (int i = 0; i < table_count; i++) {
            struct statement s = {.tree = node_form(QUERY, node_text("SELECT count(*), count(%s), sum(%s) FROM %s", tables[i].columns[1].name, tables[i].columns[1].name, tables[i].name), NULL), .determined = true, .common = true};
            holds((struct check){.kind = AGAINST_SQLITE}, &s, ROUND_STATEMENTS + 1, true);
        }
    nodes_end();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        unsigned long number = value ? strtoul(value + 1, NULL, 10) : 0;
        if (value && !strncmp(argv[i], "SEED=", 5))
            seed = number;
        else if (value && !strncmp(argv[i], "N=", 2))
            wanted = number;
        else if (value && !strncmp(argv[i], "ROUND=", 6))
            round_number = number;
        else if (value && !strncmp(argv[i], "FAULTS=", 7))
            faults_wanted = (int)number;
        else if (value && !strncmp(argv[i], "PATIENCE=", 9))
            ask_patience_s = (int)number;
        else if (value && !strncmp(argv[i], "CHECKS=", 7))
            all_checks = !strcmp(value + 1, "all");
        else if (value && !strncmp(argv[i], "SHRINK=", 7))
            shrinks = strcmp(value + 1, "no");
        else {
            fprintf(stderr, "oracle: \"%s\" is not understood\n", argv[i]);
            return 2;
        }
    }
    ask_open();
    for (; made < wanted; round_number++)
        run_round();
    long comparisons = 0, silent = 0;
    for (int i = 0; i < CHECKS; i++) {
        comparisons += asked_count[i];
        silent += said_nothing[i];
    }
    printf("oracle: seed %lu: %lu statements (%lu queries, %lu partitions, %lu changes), %ld comparisons, %ld of them with SQLite, %ld at other workers, %ld with other plans or memory; %ld left out (overflow, division by zero, too slow); %d faults\n",
           seed, made, queries, partitions, changes, comparisons, asked_count[AGAINST_SQLITE] + asked_count[CHANGED], asked_count[AT_WORKERS],
           asked_count[IN_SMALL_MEMORY] + asked_count[IN_LARGE_MEMORY] + asked_count[WITH_OTHER_PLAN] + asked_count[COLLECTED] + asked_count[PREPARED], silent, faults);
    schema_free();
    ask_close();
    return faults != 0;
}
