/* engine/exec/workers.c - the pool of worker threads, and what one of them does of a query.
 *
 *     submit: tasks into the queue under one latch, then as many threads woken as there are tasks
 *     worker: take a task, run it as the leader's hand (its pid, time zone, clock), look for the next
 *
 * Tasks never wait for a client or for another task: one that can't go on ends, and its query submits it again. So a
 * queue that is longer than the pool only means waiting; and whoever finds its own tasks there still unbegun may take them back
 * (a query under load makes do with what is free).
 *
 * Threads are started when there are more tasks than idle threads, up to max_parallel_workers, and live as long as the server. That
 * setting may change at any time: no more tasks than it says run at once. crab.worker_start = spawn starts a thread for each
 * task instead.
 *
 * A worker that finds the queue empty spins for SPIN_US before it parks, since the next pipeline of the same query often
 * follows at once and waking an idle processor takes longer than that; but only while fewer workers are awake than there
 * are processors. Who spins is counted, and the submitter wakes so many fewer. */
#include <stdlib.h>
#include <unistd.h>
#include "base/latch.h"
#include "base/mutant.h"
#include "engine/exec/operator.h"

#ifndef SPIN_US
#define SPIN_US 40
#endif

_Atomic uint32_t exec_worker_start;
_Atomic uint32_t exec_agg_collect;
_Atomic uint32_t exec_worker_limit;

static struct {
    struct latch latch;                  /* WORKERS: guards all that follows */
    struct condition work;
    struct task *first, *last;
    uint32_t threads, idle, spinning;    /* idle: they look for a task, or will once they are woken; of those, so many spin */
    uint32_t queued, running, processors;
    _Atomic uint32_t waiting;            /* the same as queued, for those who spin */
    bool stopping, ready;
    struct thread *all[MAX_WORKERS];
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

static uint32_t limit_now(void)
{
    uint32_t limit = atomic_load_explicit(&exec_worker_limit, memory_order_relaxed);
    return limit < 1 ? 1 : limit < MAX_WORKERS ? limit : MAX_WORKERS;      /* what is queued is run, whatever is set meanwhile */
}

static void queue_changed(int by)
{
    pool.queued = (uint32_t)((int)pool.queued + by);
    atom_store(&pool.waiting, pool.queued);
}

static struct task *queue_take(void)
{
    struct task *task = pool.first;
    if (!task || pool.running >= limit_now())
        return NULL;
    pool.first = task->next;
    if (!pool.first)
        pool.last = NULL;
    queue_changed(-1);
    pool.running++;
    return task;
}

/* Without the latch: looks whether tasks come, for a moment. */
static void spin(void)
{
    uint64_t until = now_us() + SPIN_US;
    while (!atom_load(&pool.waiting) && now_us() < until)
        for (int i = 0; i < 16; i++)
            spin_pause();
}

/* Latched; until a task is there for this thread, or NULL when the server stops. */
static struct task *next_task(void)
{
    struct task *task;
    bool spun = spin_count(1) == 0;
    while (!(task = queue_take()) && (!pool.stopping || pool.first)) {
        pool.idle++;
        if (!spun && pool.threads - pool.idle + pool.spinning < pool.processors) {
            spun = true;
            pool.spinning++;
            latch_release(&pool.latch);
            spin();
            latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
            pool.spinning--;
        } else {
            if (MUTANT(TASK_MISSED)) {
                latch_release(&pool.latch);
                latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
            }
            condition_wait(&pool.work, &pool.latch);
        }
        pool.idle--;
    }
    return task;
}

static void worker_main(void *argument)
{
    (void)argument;
    struct task *task;
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    while ((task = next_task())) {
        latch_release(&pool.latch);
        task_run(task);
        latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
        pool.running--;
    }
    condition_wake_all(&pool.work);      /* stopping: whoever waited for its turn looks again */
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
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    atomic_store_explicit(&exec_worker_limit, count, memory_order_relaxed);
    pool.processors = processors > 0 ? (uint32_t)processors : 1;
    pool.stopping = false;
    pool.ready = true;
    latch_release(&pool.latch);
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
    pool.threads = pool.idle = 0;
    pool.ready = false;
}

bool workers_available(void)
{
    return pool.ready && atomic_load_explicit(&exec_worker_limit, memory_order_relaxed) > 0;
}

static void start_threads(uint32_t first_new, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = thread_start("worker", worker_main, NULL);
        if (!thread) {                   /* the system has none left: those we have do the work */
            if (first_new + i == 0)
                panic("could not start a worker thread");
            latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
            pool.threads -= count - i;
            latch_release(&pool.latch);
            break;
        }
        pool.all[first_new + i] = thread;
    }
}

static void submit_pool(struct task *const *tasks, uint16_t count)
{
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    for (uint16_t i = 0; i < count; i++) {
        tasks[i]->next = NULL;
        if (pool.last)
            pool.last->next = tasks[i];
        else
            pool.first = tasks[i];
        pool.last = tasks[i];
    }
    queue_changed(count);
    uint32_t start = 0, first_new = pool.threads, limit = limit_now();
    while (pool.threads < limit && pool.queued > pool.idle + start) {
        pool.threads++;
        start++;
    }
    uint32_t parked = pool.idle - pool.spinning, wanted = pool.queued > pool.spinning ? pool.queued - pool.spinning : 0;
    latch_release(&pool.latch);
    for (uint32_t i = 0; i < parked && i < wanted; i++)
        condition_wake_one(&pool.work);
    start_threads(first_new, start);
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

struct task *workers_withdraw(const void *owner)
{
    if (!atom_load(&pool.waiting))
        return NULL;
    latch_acquire(&pool.latch, LATCH_EXCLUSIVE);
    struct task *before = NULL, *task = pool.first;
    while (task && task->owner != owner) {
        before = task;
        task = task->next;
    }
    if (task) {
        if (before)
            before->next = task->next;
        else
            pool.first = task->next;
        if (pool.last == task)
            pool.last = before;
        queue_changed(-1);
    }
    latch_release(&pool.latch);
    return task;
}
