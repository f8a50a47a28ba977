/* course/5-partial-aggregation/solutions/wrong-by-morsel.c - planted: a partial a morsel, added up in order. Always the same with
 * two workers, and another with one (trial: workers). */
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
    while (morsel_claim(aggregate, &first, &end)) {
        double sum = 0;
        for (int grain = first; grain < end; grain++)
            sum += grain_sum(grain);
        aggregate->partials[first / aggregate->morsel_grains] = sum;
    }
}

double aggregate_finish(struct aggregate *aggregate)
{
    double sum = 0;
    for (int i = 0; i < (aggregate->grains + aggregate->morsel_grains - 1) / aggregate->morsel_grains; i++)
        sum += aggregate->partials[i];
    return sum;
}
