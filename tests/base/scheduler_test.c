/* tests/base/scheduler_test.c - the seeded scheduler itself: what it explores, that it repeats itself, what it calls a deadlock. */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/latch.h"
#include "base/scheduler.h"

/* ---- Two threads add without care: an update may be lost ---- */

static _Atomic int total;
static bool with_latch;
static struct latch total_latch;

static void add_one(void *argument)
{
    (void)argument;
    if (with_latch)
        latch_acquire(&total_latch, LATCH_EXCLUSIVE);
    int seen = atom_load(&total);
    atom_store(&total, seen + 1);
    if (with_latch)
        latch_release(&total_latch);
}

static void two_add(void *argument)
{
    (void)argument;
    atomic_store(&total, 0);
    latch_init(&total_latch, RANK_LEAF, 0, 0, 0);
    scheduler_interleave(true);
    struct thread *a = thread_start("a", add_one, NULL), *b = thread_start("b", add_one, NULL);
    thread_join(a);
    thread_join(b);
    scheduler_interleave(false);
}

static void explore(uint32_t preemptions, uint64_t *runs, uint64_t *lost)
{
    struct scheduler_search *search = scheduler_search_open(preemptions);
    struct scheduler_result result;
    *runs = *lost = 0;
    do {
        scheduler_run(&(struct scheduler_options){.name = "add", .policy = SCHEDULER_EXHAUSTIVE, .search = search}, two_add, NULL, &result);
        ++*runs;
        *lost += total != 2;
        cr_assert(total == 1 || total == 2);
    } while (scheduler_search_next(search) && *runs < 100000);
    scheduler_search_close(search);
    cr_assert(*runs < 100000);
}

Test(scheduler, exhaustive_search_finds_a_lost_update_and_proves_there_is_none_under_a_latch)
{
    uint64_t runs, lost, more, lost_too;
    explore(0, &runs, &lost);
    cr_assert_eq(lost, 0, "without preemption each thread ends before the next begins");
    explore(1, &more, &lost);
    cr_assert(more > runs);
    cr_assert(lost > 0);
    explore(2, &runs, &lost_too);
    cr_assert(runs > more);
    cr_assert(lost_too > lost);
    with_latch = true;
    explore(2, &runs, &lost);
    cr_assert(runs > 10);
    cr_assert_eq(lost, 0);
}

Test(scheduler, random_and_pct_lose_an_update_within_a_few_seeds_and_repeat_themselves)
{
    for (int policy = SCHEDULER_RANDOM; policy <= SCHEDULER_PCT; policy++) {
        int lost = 0;
        for (uint64_t seed = 1; seed <= 50; seed++) {
            struct scheduler_options options = {.name = "add", .seed = seed, .policy = (enum scheduler_policy)policy};
            struct scheduler_result one, two;
            scheduler_run(&options, two_add, NULL, &one);
            int first = total;
            lost += first == 1;
            scheduler_run(&options, two_add, NULL, &two);
            cr_assert_eq(one.whole_hash, two.whole_hash);
            cr_assert_eq(one.hash, two.hash);
            cr_assert_eq(one.steps, two.steps);
            cr_assert_eq(first, total);
        }
        cr_assert(lost > 0);
    }
}

/* ---- Conditions, time ---- */

static struct latch box_latch;
static struct condition box_filled;
static int box;

static void fill_box(void *argument)
{
    sleep_us((uintptr_t)argument);
    latch_acquire(&box_latch, LATCH_EXCLUSIVE);
    box++;
    condition_wake_one(&box_filled);
    latch_release(&box_latch);
}

static void take_two(void *argument)
{
    (void)argument;
    box = 0;
    latch_init(&box_latch, RANK_LEAF, 0, 0, 0);
    condition_init(&box_filled, "box");
    scheduler_interleave(true);
    uint64_t begun = now_us();
    struct thread *a = thread_start("a", fill_box, (void *)(uintptr_t)3600000000u), *b = thread_start("b", fill_box, NULL);
    latch_acquire(&box_latch, LATCH_EXCLUSIVE);
    while (box < 2)
        condition_wait(&box_filled, &box_latch);
    latch_release(&box_latch);
    cr_assert(now_us() - begun >= 3600000000u);
    enum wake wake = WAKE_SIGNALED;
    latch_acquire(&box_latch, LATCH_EXCLUSIVE);
    wake = condition_wait_until(&box_filled, &box_latch, now_us() + 1000, false);
    latch_release(&box_latch);
    cr_assert_eq(wake, WAKE_TIMEOUT);
    thread_join(a);
    thread_join(b);
}

Test(scheduler, an_hour_passes_at_once_when_nobody_can_run)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct scheduler_result result;
        scheduler_run(&(struct scheduler_options){.name = "box", .seed = seed, .policy = seed % 2 ? SCHEDULER_PCT : SCHEDULER_RANDOM}, take_two, NULL, &result);
        cr_assert(result.virtual_us >= 3600000000u);
        cr_assert_eq(result.threads, 3);
    }
}

/* ---- Descriptors, interrupts, detached threads ---- */

static int pipe_ends[2];
static enum wake first_wake, second_wake, third_wake;
static struct thread *reader;

static void wait_for_pipe(void *argument)
{
    (void)argument;
    first_wake = thread_wait_fd(pipe_ends[0], false, now_us() + 60000000, 0);            /* long before anybody writes */
    second_wake = thread_wait_fd(pipe_ends[0], false, 0, 0);
    char byte;
    cr_assert_eq(read(pipe_ends[0], &byte, 1), 1);
    third_wake = thread_wait_fd(pipe_ends[0], false, 0, INTERRUPT_CANCEL);
}

static void write_and_interrupt(void *argument)
{
    (void)argument;
    sleep_us(120000000);
    cr_assert_eq(write(pipe_ends[1], "x", 1), 1);
    sleep_us(1000);
    thread_interrupt(reader, INTERRUPT_CANCEL);
}

static void fill_box_detached(void *argument)
{
    fill_box(argument);
}

static void descriptors(void *argument)
{
    (void)argument;
    scheduler_interleave(true);
    reader = thread_start("reader", wait_for_pipe, NULL);
    struct thread *writer = thread_start("writer", write_and_interrupt, NULL);
    thread_detach(thread_start("detached", fill_box_detached, (void *)5));
    thread_join(reader);
    thread_join(writer);
}

Test(scheduler, waits_for_descriptors_end_by_data_by_deadline_and_by_interrupt)
{
    latch_init(&box_latch, RANK_LEAF, 0, 0, 0);
    condition_init(&box_filled, "box");
    cr_assert_eq(pipe(pipe_ends), 0);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct scheduler_result result;
        first_wake = second_wake = third_wake = WAKE_SIGNALED;
        scheduler_run(&(struct scheduler_options){.name = "pipe", .seed = seed, .policy = seed % 2 ? SCHEDULER_PCT : SCHEDULER_RANDOM}, descriptors, NULL, &result);
        cr_assert_eq(first_wake, WAKE_TIMEOUT);
        cr_assert_eq(second_wake, WAKE_SIGNALED);
        cr_assert_eq(third_wake, WAKE_INTERRUPTED);
    }
}

/* Two wait on one condition and one is woken: either may be first to take what came, and some seed shows each. */

static int taken_by[2];

static void take_from_box(void *argument)
{
    latch_acquire(&box_latch, LATCH_EXCLUSIVE);
    while (box == 0)
        condition_wait(&box_filled, &box_latch);
    taken_by[(uintptr_t)argument] = box--;
    latch_release(&box_latch);
}

static void two_takers(void *argument)
{
    (void)argument;
    box = 0;
    latch_init(&box_latch, RANK_LEAF, 0, 0, 0);
    condition_init(&box_filled, "box");
    scheduler_interleave(true);
    struct thread *a = thread_start("a", take_from_box, (void *)0), *b = thread_start("b", take_from_box, (void *)1);
    latch_acquire(&box_latch, LATCH_EXCLUSIVE);
    box = 2;
    condition_wake_all(&box_filled);
    latch_release(&box_latch);
    thread_join(a);
    thread_join(b);
}

Test(scheduler, either_of_two_waiters_may_be_the_first)
{
    int first[2] = {0, 0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct scheduler_result result;
        scheduler_run(&(struct scheduler_options){.name = "takers", .seed = seed, .policy = seed % 2 ? SCHEDULER_PCT : SCHEDULER_RANDOM}, two_takers, NULL, &result);
        cr_assert_eq(taken_by[0] + taken_by[1], 3);
        first[taken_by[0] == 2 ? 0 : 1]++;
    }
    cr_assert(first[0] > 5 && first[1] > 5, "%d and %d", first[0], first[1]);
}

/* ---- What is reported ---- */

static struct latch left, right;

static void right_then_left(void *argument)
{
    (void)argument;
    latch_acquire(&right, LATCH_EXCLUSIVE);
    latch_acquire(&left, LATCH_EXCLUSIVE);
    latch_release(&left);
    latch_release(&right);
}

static void cross(void *argument)
{
    (void)argument;
    latch_init(&left, RANK_NODE, 0, 1, 7ull << 32 | 1);
    latch_init(&right, RANK_NODE, 0, 2, 7ull << 32 | 2);
    scheduler_interleave(true);
    struct thread *thread = thread_start("crossing", right_then_left, NULL);
    latch_acquire(&left, LATCH_EXCLUSIVE);
    latch_acquire(&right, LATCH_EXCLUSIVE);
    latch_release(&right);
    latch_release(&left);
    thread_join(thread);
}

static void spin_forever(void *argument)
{
    (void)argument;
    for (;;)
        spin_pause();
}

/* Runs seeds until one ends the process; what it printed on stderr, and how it ended. */
static int run_and_read(void (*scenario)(void *), uint64_t step_limit, char *out, size_t size)
{
    int ends[2], status;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        for (uint64_t seed = 1; seed <= 200; seed++) {
            struct scheduler_result result;
            scheduler_run(&(struct scheduler_options){.name = "report", .seed = seed, .step_limit = step_limit}, scenario, NULL, &result);
        }
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used < size - 1 && (got = read(ends[0], out + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    out[used] = '\0';
    close(ends[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

Test(scheduler, a_deadlock_says_who_holds_and_who_awaits_what_and_the_same_bytes_each_time)
{
    static char first[65536], second[65536];
    int status = run_and_read(cross, 0, first, sizeof first);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    cr_assert(strstr(first, "deadlock: nobody can run"), "%s", first);
    cr_assert(strstr(first, "waits at latch.acquire    NODE 7/2 exclusive"), "%s", first);
    cr_assert(strstr(first, "holds            NODE 7/1 exclusive"), "%s", first);
    cr_assert(strstr(first, "crossing"));
    cr_assert(strstr(first, "replay: make interleave SCENARIO=report POLICY=random SEED="));
    run_and_read(cross, 0, second, sizeof second);
    cr_assert_str_eq(first, second);
}

Test(scheduler, a_loop_that_never_ends_meets_the_step_limit)
{
    static char text[65536];
    int status = run_and_read(spin_forever, 500, text, sizeof text);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    cr_assert(strstr(text, "livelock"), "%s", text);
}
