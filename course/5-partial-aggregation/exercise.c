/* course/5-partial-aggregation/exercise.c - yours to change: see aggregate.h and README.md.
 *
 * Workers that add to one total. Wrong in two ways: only one worker adds up at a time, and the sum hangs on who came first, since
 * floats don't associate. */
#include "course/5-partial-aggregation/aggregate.h"
#include "base/atomic.h"

void aggregate_open(struct aggregate *aggregate, int grains, int workers)
{
    *aggregate = (struct aggregate){.grains = grains, .morsel_grains = workers == 1 ? 4 : workers == 2 ? 2 : 1};
    latch_init(&aggregate->latch, RANK_OPERATOR, 0, 0, 0);
}

/* The next morsel: grains *first .. *end - 1; false: there is none left. */
static bool morsel_claim(struct aggregate *aggregate, int *first, int *end)
{
    *first = atom_add(&aggregate->next, aggregate->morsel_grains);
    *end = *first + aggregate->morsel_grains < aggregate->grains ? *first + aggregate->morsel_grains : aggregate->grains;
    return *first < aggregate->grains;
}

/* ---- From here on: yours ---- */

void aggregate_work(struct aggregate *aggregate)
{
    int first, end;
    while (morsel_claim(aggregate, &first, &end))
        for (int grain = first; grain < end; grain++) {
            latch_acquire(&aggregate->latch, LATCH_EXCLUSIVE);
            aggregate->total += grain_sum(grain);
            latch_release(&aggregate->latch);
        }
}

double aggregate_finish(struct aggregate *aggregate) { return aggregate->total; }
