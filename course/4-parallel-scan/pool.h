/* course/4-parallel-scan/pool.h - the exercise of lesson 4: workers that sleep between scans, and a leader that prints in order.
 *
 *     pool_open(&pool);
 *     pool_run(&pool, &scan);          morsels 0 .. count - 1 are judged by the workers and printed by the caller, in order
 *     pool_run(&pool, &another);
 *     pool_close(&pool);
 *
 * You write the three functions, in exercise.c. Scans come one after another; a scan is gone when pool_run has come back. Claim a
 * morsel with atom_add (base/atomic.h), so that the scheduler may switch there. */
#ifndef COURSE_POOL_H
#define COURSE_POOL_H

#include "base/latch.h"

#define WORKERS     2
#define MORSELS_MAX 6

struct scan {
    int count;                      /* of morsels; what follows is nought at first */
    _Atomic int next;               /* the next to claim */
    bool judged[MORSELS_MAX];
    int working;                    /* workers that are at this scan */
};
struct pool {
    struct latch latch;             /* rank WORKERS: guards what follows, and a scan's judged and working */
    struct condition work;          /* a scan has come, or the pool closes */
    struct condition progress;      /* a morsel is judged, or a worker has left the scan */
    struct thread *threads[WORKERS];
    struct scan *scan;
    uint64_t submitted;             /* scans so far */
    bool closing;
};

void pool_open(struct pool *);
void pool_close(struct pool *);

/* Every morsel is judged once, by a worker, and printed once, by the caller, as soon as it and all before it are judged. */
void pool_run(struct pool *, struct scan *);

/* The grader's. Both take their time: no latch may be held. */
void morsel_judge(struct scan *, int morsel);
void morsel_print(struct scan *, int morsel);

#endif
