/* course/5-partial-aggregation/aggregate.h - the exercise of lesson 5: a sum of floats that is the same bits at any number of workers.
 *
 *     aggregate_open(&aggregate, grains, workers);     by the leader
 *     aggregate_work(&aggregate);                      by each worker, all at once
 *     sum = aggregate_finish(&aggregate);              by the leader, when all workers have come back
 *
 * You write the three functions, in exercise.c. The table has `grains` grains; a grain's rows are added up by grain_sum, which is
 * the grader's. Workers claim morsels, which are runs of grains: the more workers, the shorter. What you make of the grains' sums
 * must follow from the grains alone: the sum is taken along this tree, whoever came first and whoever added up what:
 *
 *     sum of grains first .. first + count - 1  =  grain_sum(first)                                      if count is 1
 *                                               =  (sum of the first `left`) + (sum of the rest)          otherwise,
 *                                                  where left is the largest power of two below count    */
#ifndef COURSE_AGGREGATE_H
#define COURSE_AGGREGATE_H

#include "base/latch.h"

#define GRAINS_MAX  13
#define WORKERS_MAX 4

struct aggregate {
    int grains;
    int morsel_grains;              /* grains a morsel: follows the number of workers */
    _Atomic int next;               /* the next grain to claim */
    struct latch latch;             /* rank OPERATOR: guards total */
    double total;
    double partials[GRAINS_MAX];    /* room for yours */
};

void   aggregate_open(struct aggregate *, int grains, int workers);
void   aggregate_work(struct aggregate *);
double aggregate_finish(struct aggregate *);

/* The grader's: the rows of one grain, added up. Takes its time: no latch may be held. Each grain is asked for once. */
double grain_sum(int grain);

#endif
