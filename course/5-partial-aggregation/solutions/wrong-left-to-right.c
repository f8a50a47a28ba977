/* course/5-partial-aggregation/solutions/wrong-left-to-right.c - planted: the same bits every time, and no tree: no worker could
 * fold a run of its own (trial: tree). */
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

void aggregate_work(struct aggregate *aggregate)
{
    int first, end;
    while (morsel_claim(aggregate, &first, &end))
        for (int grain = first; grain < end; grain++)
            aggregate->partials[grain] = grain_sum(grain);      /* nobody else's place: no latch */
}

double aggregate_finish(struct aggregate *aggregate)
{
    double sum = 0;
    for (int i = 0; i < aggregate->grains; i++)
        sum += aggregate->partials[i];
    return sum;
}
