/* course/5-partial-aggregation/grade.c - the grader of lesson 5: the same bits at any number of workers under any schedule, those of
 * the tree, with no grain left out, and workers seen adding up at once. */
#include "course/5-partial-aggregation/aggregate.h"
#include "base/hooks.h"
#include "course/grading.h"

/* Chosen so that nearly every other order of adding gives other bits. */
static const double values[GRAINS_MAX] = {0.1, 1e16, 3.3, -1e16, 1e8, 0.7, -2.9, 1e-3, 5e15, 1.1, -5e15, 0.3, 7e7};
static struct aggregate aggregate;
static int asked[GRAINS_MAX], grain_count, adding;
static bool strict;                 /* also complain about latches held while rows are added up */

double grain_sum(int grain)
{
    require(grain >= 0 && grain < grain_count, "the table has %d grains, and grain %d is asked for", grain_count, grain);
    require(asked[grain]++ == 0, "grain %d is added up twice", grain);
    require(!strict || latch_held_count() == 0, "grain %d is added up and a latch is held: one worker at a time", grain);
    if (++adding > 1)
        grade_seen();
    point("adds up");
    point("adds up");
    adding--;
    return values[grain];
}

static double tree_sum(int first, int count)
{
    int left = 1;
    if (count == 1)
        return values[first];
    while (left * 2 < count)
        left *= 2;
    return tree_sum(first, left) + tree_sum(first + left, count - left);
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void work_run(void *unused)
{
    (void)unused;
    aggregate_work(&aggregate);
}

static double sum_with(int workers, int grains)
{
    memset(asked, 0, sizeof asked);
    grain_count = grains;
    adding = 0;
    aggregate_open(&aggregate, grains, workers);
    for (int i = 0; i < workers; i++)
        begin("worker", work_run, NULL);
    join_all();
    scheduler_interleave(true);
    double sum = aggregate_finish(&aggregate);
    require(latch_held_count() == 0, "aggregate_finish came back and still holds a latch");
    scheduler_interleave(false);
    for (int grain = 0; grain < grains; grain++)
        require(asked[grain] == 1, "grain %d is left out", grain);
    return sum;
}

/* ---- Trials ---- */

static void same_as_one(int workers, int grains)
{
    strict = false;
    double one = sum_with(1, grains), many = sum_with(workers, grains);
    require(same_bits(one, many), "of %d grains, 1 worker makes %.17g and %d workers make %.17g", grains, one, workers, many);
}

static void two_workers(void) { same_as_one(2, 6); }
static void any_workers(void) { same_as_one(2 + (int)(scheduler_random() % (WORKERS_MAX - 1)), 1 + (int)(scheduler_random() % GRAINS_MAX)); }

static void along_the_tree(void)
{
    strict = false;
    int workers = 1 + (int)(scheduler_random() % WORKERS_MAX), grains = 1 + (int)(scheduler_random() % GRAINS_MAX);
    double sum = sum_with(workers, grains), tree = tree_sum(0, grains);
    require(same_bits(sum, tree), "of %d grains, %d worker(s) make %.17g, and along the tree it is %.17g", grains, workers, sum, tree);
}

static void at_once(void)
{
    strict = true;
    sum_with(3, 9);
}

const struct trial trials[] = {
    {.name = "repeat", .claim = "two workers make what one makes, whoever comes first", .run = two_workers, .preemptions = 1},
    {.name = "workers", .claim = "any number of workers makes what one makes, of any number of grains", .run = any_workers},
    {.name = "tree", .claim = "the sum is the one along the tree", .run = along_the_tree},
    {.name = "once", .claim = "workers add up grains at once, with no latch held", .run = at_once, .unseen = "two workers never added up at once: something keeps them apart"},
    {0},
};
