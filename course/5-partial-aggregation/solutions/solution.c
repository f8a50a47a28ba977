/* course/5-partial-aggregation/solutions/solution.c - one way to do it: a partial a grain, and one walk along the tree at the end. */
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

static double sum_of(const struct aggregate *aggregate, int first, int count)
{
    int left = 1;
    if (count == 1)
        return aggregate->partials[first];
    while (left * 2 < count)
        left *= 2;
    return sum_of(aggregate, first, left) + sum_of(aggregate, first + left, count - left);
}

double aggregate_finish(struct aggregate *aggregate) { return sum_of(aggregate, 0, aggregate->grains); }
