/* tests/base/latch_stress.c - latches, conditions and interrupts under many threads.
 *
 *     latch_stress [threads [operations]]
 *
 * Each function is one claim; the program's exit status is the verdict. Also built with -fsanitize=thread. */
#include "base/latch.h"
#include "base/hash.h"
#include "base/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int thread_count = 4;
static long operations = 200000;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define THREADS_MAX 64

static void run_all(const char *name, void (*run)(void *), void *argument)
{
    struct thread *threads[THREADS_MAX];
    for (int i = 0; i < thread_count; i++) {
        threads[i] = thread_start(name, run, argument);
        CHECK(threads[i]);
    }
    for (int i = 0; i < thread_count; i++)
        thread_join(threads[i]);
}

/* ---- Writers alter a pair, readers must see both halves alike ---- */

static struct {
    struct latch latch;
    long left, right, writes, tries;
} pair;

static _Atomic int pair_seed;

static void pair_run(void *argument)
{
    (void)argument;
    uint64_t random = (uint64_t)atomic_fetch_add(&pair_seed, 1);
    long sum = 0, wrote = 0, tried = 0;
    for (long i = 0; i < operations; i++) {
        uint64_t dice = random_next(&random) % 8;
        if (dice < 3) {
            latch_acquire(&pair.latch, LATCH_EXCLUSIVE);
            pair.left++;
            pair.right++;
            wrote++;
            latch_release(&pair.latch);
        } else if (dice == 3) {
            if (latch_try(&pair.latch, LATCH_EXCLUSIVE)) {
                pair.left++;
                pair.right++;
                pair.tries++;
                tried++;
                latch_release(&pair.latch);
            }
        } else {
            latch_acquire(&pair.latch, LATCH_SHARED);
            CHECK(pair.left == pair.right);
            sum += pair.left;
            latch_release(&pair.latch);
        }
    }
    latch_acquire(&pair.latch, LATCH_EXCLUSIVE);
    pair.writes += wrote + tried;
    CHECK(latch_held_exclusive(&pair.latch) && latch_held_count() == 1);
    latch_release(&pair.latch);
    CHECK(latch_held_count() == 0);
    if (sum == 42)
        fprintf(stderr, " ");
}

static void readers_see_whole_writes(void)
{
    latch_init(&pair.latch, RANK_LEAF, 0, 0, 0);
    run_all("pair", pair_run, NULL);
    CHECK(pair.left == pair.writes && pair.right == pair.writes);
    CHECK(atomic_load(&pair.latch.state) == 0 || (atomic_load(&pair.latch.state) & 0x9fffffffu) == 0);
}

/* ---- Crabbing down a chain of ordered latches keeps a token whole ---- */

#define CHAIN 5
static struct {
    struct latch latch;
    long visits;
} chain[CHAIN];

static void chain_run(void *argument)
{
    (void)argument;
    for (long i = 0; i < operations / CHAIN; i++) {
        latch_acquire(&chain[0].latch, LATCH_EXCLUSIVE);
        chain[0].visits++;
        for (int at = 1; at < CHAIN; at++) {
            latch_acquire(&chain[at].latch, LATCH_EXCLUSIVE);
            CHECK(chain[at].visits == chain[at - 1].visits - 1);
            chain[at].visits++;
            latch_release(&chain[at - 1].latch);
        }
        latch_release(&chain[CHAIN - 1].latch);
    }
}

static void nobody_overtakes_a_crab(void)
{
    for (int at = 0; at < CHAIN; at++)
        latch_init(&chain[at].latch, RANK_NODE, (uint16_t)at, 0, 0);
    run_all("chain", chain_run, NULL);
    CHECK(chain[CHAIN - 1].visits == thread_count * (operations / CHAIN));
}

/* ---- A bounded queue: every item is taken once, nobody sleeps forever ---- */

static struct {
    struct latch latch;
    struct condition filled, emptied;
    long count, put, taken, sum;
    bool done;
} queue;

static void producer_run(void *argument)
{
    (void)argument;
    for (long i = 0; i < operations / 8; i++) {
        latch_acquire(&queue.latch, LATCH_EXCLUSIVE);
        while (queue.count == 2)
            condition_wait(&queue.emptied, &queue.latch);
        queue.count++;
        queue.put++;
        condition_wake_one(&queue.filled);
        latch_release(&queue.latch);
    }
}

static void consumer_run(void *argument)
{
    (void)argument;
    latch_acquire(&queue.latch, LATCH_EXCLUSIVE);
    for (;;) {
        while (queue.count == 0 && !queue.done)
            condition_wait(&queue.filled, &queue.latch);
        if (queue.count == 0)
            break;
        queue.count--;
        queue.taken++;
        condition_wake_one(&queue.emptied);
    }
    latch_release(&queue.latch);
}

static void no_wake_up_is_lost(void)
{
    struct thread *producers[THREADS_MAX], *consumers[THREADS_MAX];
    latch_init(&queue.latch, RANK_LEAF, 0, 0, 0);
    condition_init(&queue.filled, "filled");
    condition_init(&queue.emptied, "emptied");
    for (int i = 0; i < thread_count; i++) {
        producers[i] = thread_start("producer", producer_run, NULL);
        consumers[i] = thread_start("consumer", consumer_run, NULL);
    }
    for (int i = 0; i < thread_count; i++)
        thread_join(producers[i]);
    latch_acquire(&queue.latch, LATCH_EXCLUSIVE);
    queue.done = true;
    condition_wake_all(&queue.filled);
    latch_release(&queue.latch);
    for (int i = 0; i < thread_count; i++)
        thread_join(consumers[i]);
    CHECK(queue.taken == queue.put && queue.put == thread_count * (operations / 8));
}

/* ---- Waits with deadlines and interrupts against wakers: each signal is consumed by one who reports it ---- */

static struct {
    struct latch latch;
    struct condition condition;
    _Atomic long signaled, timeouts, interrupted;
    long tokens;
    _Atomic int left;
} mixed;

static void mixed_run(void *argument)
{
    (void)argument;
    for (long i = 0; i < operations / 100; i++) {
        latch_acquire(&mixed.latch, LATCH_EXCLUSIVE);
        while (mixed.tokens == 0) {
            enum wake wake = condition_wait_until(&mixed.condition, &mixed.latch, now_us() + 50, true);
            if (wake == WAKE_SIGNALED)
                atomic_fetch_add(&mixed.signaled, 1);
            else if (wake == WAKE_TIMEOUT)
                atomic_fetch_add(&mixed.timeouts, 1);
            else {
                CHECK(thread_interrupts() == INTERRUPT_CANCEL);
                thread_interrupt_clear(INTERRUPT_CANCEL);
                atomic_fetch_add(&mixed.interrupted, 1);
            }
        }
        mixed.tokens--;
        latch_release(&mixed.latch);
    }
    atomic_fetch_sub(&mixed.left, 1);
}

static void deadlines_and_interrupts_lose_no_token(void)
{
    struct thread *threads[THREADS_MAX];
    latch_init(&mixed.latch, RANK_LEAF, 0, 0, 0);
    condition_init(&mixed.condition, "mixed");
    atomic_store(&mixed.left, thread_count);
    for (int i = 0; i < thread_count; i++)
        threads[i] = thread_start("mixed", mixed_run, NULL);
    long given = 0, wanted = thread_count * (operations / 100);
    uint64_t random = 1;
    while (atomic_load(&mixed.left) > 0) {
        latch_acquire(&mixed.latch, LATCH_EXCLUSIVE);
        if (given < wanted && mixed.tokens == 0) {
            mixed.tokens++;
            given++;
            condition_wake_one(&mixed.condition);
        }
        latch_release(&mixed.latch);
        if (random_next(&random) % 16 == 0)
            thread_interrupt(threads[random_next(&random) % (uint64_t)thread_count], INTERRUPT_CANCEL);
    }
    for (int i = 0; i < thread_count; i++)
        thread_join(threads[i]);
    CHECK(mixed.tokens == 0 && given == wanted);
}

/* ---- An interrupt wakes a wait without deadline; a wait that bears none sleeps on ---- */

static struct {
    struct latch latch;
    struct condition condition;
    bool go;
    enum wake wake;
} sleeper;

static void sleeper_run(void *argument)
{
    (void)argument;
    latch_acquire(&sleeper.latch, LATCH_EXCLUSIVE);
    sleeper.wake = condition_wait_until(&sleeper.condition, &sleeper.latch, 0, true);
    /* An interrupt that is still pending ends the next wait at once, and leaves the deaf one alone. */
    CHECK(condition_wait_until(&sleeper.condition, &sleeper.latch, 0, true) == WAKE_INTERRUPTED);
    while (!sleeper.go)
        CHECK(condition_wait_until(&sleeper.condition, &sleeper.latch, 0, false) == WAKE_SIGNALED);
    latch_release(&sleeper.latch);
    CHECK(thread_interrupts() == INTERRUPT_TERMINATE);
}

static void an_interrupt_wakes_its_thread(void)
{
    latch_init(&sleeper.latch, RANK_LEAF, 0, 0, 0);
    condition_init(&sleeper.condition, "sleeper");
    point_hold("condition.wait");
    struct thread *thread = thread_start("sleeper", sleeper_run, NULL);
    point_await("condition.wait"); /* in the queue, not asleep yet */
    thread_interrupt(thread, INTERRUPT_TERMINATE);
    point_release("condition.wait");
    latch_acquire(&sleeper.latch, LATCH_EXCLUSIVE);
    sleeper.go = true;
    condition_wake_all(&sleeper.condition);
    latch_release(&sleeper.latch);
    thread_join(thread);
    CHECK(sleeper.wake == WAKE_INTERRUPTED || sleeper.wake == WAKE_SIGNALED);
}

/* ---- A thread that waits for a descriptor is reached too ---- */

static int quiet[2];

static void reader_run(void *argument)
{
    (void)argument;
    CHECK(thread_wait_fd(quiet[0], false, now_us() + 1000, INTERRUPT_IDLE) == WAKE_TIMEOUT);
    for (long i = 0; i < operations / 1000; i++) {
        CHECK(thread_wait_fd(quiet[0], false, 0, INTERRUPT_CANCEL) == WAKE_INTERRUPTED);
        thread_interrupt_clear(INTERRUPT_CANCEL);
        atomic_fetch_add(&mixed.left, 1);
    }
    CHECK(thread_wait_fd(quiet[0], false, 0, INTERRUPT_CANCEL) == WAKE_SIGNALED);
}

static void an_interrupt_reaches_a_wait_for_a_descriptor(void)
{
    CHECK(pipe(quiet) == 0);
    atomic_store(&mixed.left, 0);
    struct thread *thread = thread_start("reader", reader_run, NULL);
    for (long i = 0; i < operations / 1000; i++) {
        thread_interrupt(thread, INTERRUPT_TIMEOUT); /* not among those it bears */
        thread_interrupt(thread, INTERRUPT_CANCEL);
        while (atomic_load(&mixed.left) != i + 1)
            sleep_us(1);
    }
    CHECK(write(quiet[1], "x", 1) == 1);
    thread_join(thread);
}

/* ---- What is held and awaited can be seen; the trace shows the order ---- */

static struct latch seen;

static void seen_run(void *argument)
{
    (void)argument;
    thread_set_pid(thread_self(), 77);
    latch_acquire(&seen, LATCH_SHARED);
    latch_release(&seen);
}

static void views_show_who_waits_for_what(void)
{
    struct latch_sight sights[16];
    latch_init(&seen, RANK_HEAP, 0, 4711, 99);
    hooks_set(HOOK_TRACE, true);
    latch_acquire(&seen, LATCH_EXCLUSIVE);
    struct thread *thread = thread_start("seen", seen_run, NULL);
    for (bool found = false; !found;) {
        size_t count = latch_sights(sights, 16);
        CHECK(count >= 1 && count <= 2);
        for (size_t i = 0; i < count; i++)
            if (sights[i].awaited) {
                CHECK(sights[i].pid == 77 && sights[i].position == 4711 && sights[i].mode == LATCH_SHARED);
                found = true;
            } else {
                CHECK(sights[i].rank == RANK_HEAP && sights[i].object == 99);
            }
    }
    latch_release(&seen);
    struct latch_stats stats;
    thread_join(thread);
    latch_stats(RANK_HEAP, &stats);
    CHECK(stats.waits == 1);
    hooks_set(HOOK_TRACE, false);
    struct trace_entry trace[8];
    CHECK(trace_entries(0, trace, 8) == 2);
    CHECK(trace[0].mode == LATCH_EXCLUSIVE && trace[1].mode == LATCH_SHARED && trace[0].at_us <= trace[1].at_us);
}

/* ---- Records are used again ---- */

static _Atomic long ran;

static void nothing_run(void *argument)
{
    (void)argument;
    atomic_fetch_add(&ran, 1);
}

static void thread_records_are_used_again(void)
{
    struct latch_sight sight;
    for (int i = 0; i < 200; i++) {
        struct thread *thread = thread_start("short", nothing_run, NULL);
        CHECK(thread);
        if (i % 2)
            thread_join(thread);
        else
            thread_detach(thread);
    }
    while (atomic_load(&ran) != 200)
        sleep_us(100);
    CHECK(latch_sights(&sight, 1) == 0);
}

static void speed(void)
{
    static struct latch latch;
    latch_init(&latch, RANK_LEAF, 0, 0, 0);
    for (int mode = LATCH_SHARED; mode <= LATCH_EXCLUSIVE; mode++) {
        uint64_t start = now_us();
        for (long i = 0; i < 5000000; i++) {
            latch_acquire(&latch, (enum latch_mode)mode);
            latch_release(&latch);
        }
        printf("uncontended %s: %.1f ns\n", mode ? "exclusive" : "shared", (double)(now_us() - start) / 5000.0);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        thread_count = atoi(argv[1]);
    if (argc > 2)
        operations = atol(argv[2]);
    CHECK(thread_count >= 1 && thread_count <= THREADS_MAX);
    readers_see_whole_writes();
    nobody_overtakes_a_crab();
    no_wake_up_is_lost();
    deadlines_and_interrupts_lose_no_token();
    an_interrupt_wakes_its_thread();
    an_interrupt_reaches_a_wait_for_a_descriptor();
    views_show_who_waits_for_what();
    thread_records_are_used_again();
    if (argc > 3)
        speed();
    printf("latch_stress: %d threads, %ld operations: fine (%ld signaled, %ld timeouts, %ld interrupted)\n",
           thread_count, operations, atomic_load(&mixed.signaled), atomic_load(&mixed.timeouts),
           atomic_load(&mixed.interrupted));
    return 0;
}
