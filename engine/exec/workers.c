/* engine/exec/workers.c - the pool of worker threads, and what one of them does of a query.
 *
 *     submit: tasks into the queue under one latch, one broadcast
 *     worker: take a task, run it as the leader's hand (its pid, time zone, clock), look for the next
 *
 * Tasks never wait for a client or for another task: one that can't go on ends, and its query submits it again. So a
 * queue that is longer than the pool only means waiting. Threads are started when there are more tasks than idle threads,
 * up to max_parallel_workers, and live as long as the server. crab.worker_start = spawn starts a thread for each task
 * instead. */
#include <stdlib.h>
#include "base/latch.h"
#include "base/mutant.h"
#include "engine/exec/operator.h"

_Atomic uint32_t exec_worker_start;
_Atomic uint32_t exec_agg_collect;

static struct {
    struct latch latch;                  /* WORKERS: guards all that follows */
    struct condition work;
    struct task *first, *last;
    uint32_t threads, idle, limit, queued;
    bool stopping, ready;
    struct thread **all;
    struct condition gone;
    uint32_t spawned;                    /* threads of spawn that still run */
} pool = { .latch = { .rank = RANK_WORKERS } };

static void task_run(struct task *task)
{
    struct thread *self = thread_self();
    thread_set_pid(self, task->pid);
    type_env = task->env;
    task->run(task);                     /* the task may be gone afterwards */
    type_env = type_env_default();
    thread_set_pid(self, 0);
}

static void worker_main(void *argument)
{
    (void)argument;
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    for (;;) {
        while (!pool.first && !pool.stopping) {
            pool.idle++;
            if (MUTANT(TASK_MISSED)) {
                latch_release(&pool.latch);
                latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
            }
            condition_wait(&pool.work, &pool.latch);
            pool.idle--;
        }
        struct task *task = pool.first;
        if (!task)
            break;
        pool.first = task->next;
        pool.queued--;
        if (!pool.first)
            pool.last = NULL;
        latch_release(&pool.latch);
        task_run(task);
        latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    }
    latch_release(&pool.latch);
}

static void spawn_main(void *argument)
{
    task_run(argument);
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    if (--pool.spawned == 0)
        condition_wake_all(&pool.gone);
    latch_release(&pool.latch);
}

enum status workers_start(uint32_t count)
{
    condition_init(&pool.work, "workers.work");
    condition_init(&pool.gone, "workers.gone");
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    pool.limit = count;
    pool.stopping = false;
    pool.ready = true;
    pool.all = calloc(count + 1, sizeof *pool.all);
    latch_release(&pool.latch);
    if (!pool.all)
        panic("out of memory");
    return STATUS_OK;
}

void workers_stop(void)
{
    if (!pool.ready)
        return;
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    pool.stopping = true;
    condition_wake_all(&pool.work);
    while (pool.spawned)
        condition_wait(&pool.gone, &pool.latch);
    uint32_t threads = pool.threads;
    latch_release(&pool.latch);
    for (uint32_t i = 0; i < threads; i++)
        thread_join(pool.all[i]);
    free(pool.all);
    pool.all = NULL;
    pool.threads = pool.idle = 0;
    pool.ready = false;
}

bool workers_available(void)
{
    return pool.ready && pool.limit > 0;
}

static void submit_pool(struct task *const *tasks, uint16_t count)
{
    uint32_t start = 0, first_new;
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    for (uint16_t i = 0; i < count; i++) {
        tasks[i]->next = NULL;
        if (pool.last)
            pool.last->next = tasks[i];
        else
            pool.first = tasks[i];
        pool.last = tasks[i];
    }
    pool.queued += count;
    first_new = pool.threads;
    while (pool.threads < pool.limit && pool.queued > pool.idle + start) {
        pool.threads++;
        start++;
    }
    condition_wake_all(&pool.work);
    latch_release(&pool.latch);
    for (uint32_t i = 0; i < start; i++) {
        struct thread *thread = thread_start("worker", worker_main, NULL);
        if (!thread) {                   /* the system has none left: those we have do the work */
            if (first_new + i == 0)
                panic("could not start a worker thread");
            latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
            pool.threads -= start - i;
            pool.limit = pool.threads;
            latch_release(&pool.latch);
            break;
        }
        pool.all[first_new + i] = thread;
    }
}

static void submit_spawn(struct task *const *tasks, uint16_t count)
{
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    pool.spawned += count;
    latch_release(&pool.latch);
    for (uint16_t i = 0; i < count; i++) {
        struct thread *thread = thread_start("worker", spawn_main, tasks[i]);
        if (thread) {
            thread_detach(thread);
            continue;
        }
        latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
        pool.spawned--;
        latch_release(&pool.latch);
        submit_pool(&tasks[i], 1);
    }
}

void workers_submit(struct task *const *tasks, uint16_t count)
{
    if (atomic_load_explicit(&exec_worker_start, memory_order_relaxed))
        submit_spawn(tasks, count);
    else
        submit_pool(tasks, count);
}
