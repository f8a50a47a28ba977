/* course/4-parallel-scan/solutions/solution.c - one way to do it: a worker notes which scan it has seen, and a scan counts the
 * workers that are in it. */
#include "course/4-parallel-scan/pool.h"
#include "base/atomic.h"

/* One scan, with the latch let go. */
static void scan_work(struct pool *pool, struct scan *scan)
{
    for (int morsel; (morsel = atom_add(&scan->next, 1)) < scan->count;) {
        morsel_judge(scan, morsel);
        latch_acquire(&pool->latch, LATCH_EXCLUSIVE);
        scan->judged[morsel] = true;
        condition_wake_all(&pool->progress);
        latch_release(&pool->latch);
    }
}

static void worker_run(void *argument)
{
    struct pool *pool = argument;
    uint64_t seen = 0;
    latch_acquire(&pool->latch, LATCH_EXCLUSIVE);
    for (;;) {
        while (!pool->closing && (!pool->scan || pool->submitted == seen))
            condition_wait(&pool->work, &pool->latch);
        if (pool->closing)
            break;
        struct scan *scan = pool->scan;
        seen = pool->submitted;
        scan->working++;
        latch_release(&pool->latch);
        scan_work(pool, scan);
        latch_acquire(&pool->latch, LATCH_EXCLUSIVE);
        scan->working--;
        condition_wake_all(&pool->progress);
    }
    latch_release(&pool->latch);
}

void pool_open(struct pool *pool)
{
    *pool = (struct pool){.scan = NULL};
    latch_init(&pool->latch, RANK_WORKERS, 0, 0, 0);
    condition_init(&pool->work, "work");
    condition_init(&pool->progress, "progress");
    for (int i = 0; i < WORKERS; i++)
        pool->threads[i] = thread_start("worker", worker_run, pool);
}

void pool_run(struct pool *pool, struct scan *scan)
{
    latch_acquire(&pool->latch, LATCH_EXCLUSIVE);
    pool->scan = scan;
    pool->submitted++;
    condition_wake_all(&pool->work);
    for (int morsel = 0; morsel < scan->count; morsel++) {
        while (!scan->judged[morsel])
            condition_wait(&pool->progress, &pool->latch);
        latch_release(&pool->latch);
        morsel_print(scan, morsel);
        latch_acquire(&pool->latch, LATCH_EXCLUSIVE);
    }
    pool->scan = NULL;                                          /* nobody new comes in */
    while (scan->working > 0)
        condition_wait(&pool->progress, &pool->latch);          /* and who is in goes out */
    latch_release(&pool->latch);
}

void pool_close(struct pool *pool)
{
    latch_acquire(&pool->latch, LATCH_EXCLUSIVE);
    pool->closing = true;
    condition_wake_all(&pool->work);
    latch_release(&pool->latch);
    for (int i = 0; i < WORKERS; i++)
        thread_join(pool->threads[i]);
}
