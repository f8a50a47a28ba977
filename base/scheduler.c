/* base/scheduler.c - the seeded scheduler (see scheduler.h).
 *
 *             thread_start             picked                    its function returns
 *    (none) --------------> READY <-------------> (running) -----------------------> gone
 *                             ^                       | futex_wait, sleep, join, poll
 *                             +------- woken -------- BLOCKED
 *                                      or its deadline has come
 *
 * 1. One thread holds the baton; only it runs, and only it touches what stands below. All others sleep on the `turn` of
 *    their own member. To hand over is to set the other's turn, wake it, and sleep: on one processor, a direct switch.
 * 2. A point is a step: it is noted in the trace, time moves on, and the policy says who goes on. A thread that waits
 *    is BLOCKED on a futex word until a wake finds it there, so neither a lost nor a stolen wake-up is hidden. A guard
 *    (base/thread.h) is never contended, since no point lies inside.
 * 3. A thread that finds something busy and tries again says so (scheduler_yield): another goes first, and under PCT
 *    it falls behind all. Whoever runs very long without that is treated the same, so no policy can starve anybody.
 * 4. Deadlock: nobody is READY and no deadline is left to wait for; or only timers have fired, time and again, and
 *    nobody has been woken by another.
 *
 * What a trace shows has names that hang on no address: the thread's place in the run, the point, a latch's rank and
 * page, the text of the atomic's expression. */
#include "base/scheduler.h"
#include "base/hash.h"
#include "base/thread.h"

#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const scheduler_policy_names[] = {"random", "pct", "exhaustive"};

#define THREADS_MAX    256          /* alive at once */
#define STEP_LIMIT     300000
#define TURNS_MAX      2000         /* steps in a row after which a thread counts as spinning (rule 3) */
#define IDLE_JUMPS     400          /* timers fired in a row, and nobody woken by another (rule 4) */
#define CHANGES_MAX    5            /* PCT: priority changes */
#define EARLY_TIMERS   4            /* timers that may fire though somebody could run */
#define TRACE_SHOWN    600          /* of a failure: the last steps */
#define START_US       UINT64_C(1000000000)
#define WALL_US        INT64_C(1577836800000000)   /* 2020-01-01 */

enum label { LABEL_NONE, LABEL_LATCH, LABEL_PAGE, LABEL_TEXT };
struct step {
    const char *name, *text;
    uint64_t position, object;
    uint32_t thread;
    uint16_t rank, level;
    uint8_t label, mode;
};

enum member_state { MEMBER_READY, MEMBER_BLOCKED, MEMBER_ENDED };
struct member {
    _Atomic uint32_t turn;
    struct thread *thread;
    uint32_t number;
    char name[24];
    enum member_state state;
    /* BLOCKED: on one of these */
    _Atomic uint32_t *word;
    uint32_t bits;
    struct pollfd *polled;
    struct member *joins;
    bool joins_all;
    uint64_t deadline_us;           /* 0: none */
    bool timed_out;
    int64_t priority;               /* PCT */
    uint32_t turns;                 /* steps in a row */
    struct step last;
};

struct choice { uint16_t taken, of; };
struct scheduler_search {
    struct choice *choices;
    size_t count, capacity, at;
    uint32_t preemptions;
};

static struct {
    bool on;
    struct scheduler_options options;
    void (*scenario)(void *);
    void *argument;

    struct member **members;        /* all of the run */
    uint32_t count, capacity;
    struct member *alive[THREADS_MAX];
    uint32_t alive_count;
    struct member *current;

    bool interleaving;
    uint64_t now_us, steps, interleaved, switches, choices;
    uint64_t hash, whole_hash;
    struct step *trace;             /* the interleaved part */
    size_t trace_count, trace_capacity;
    uint32_t idle_jumps, early_timers;
    uint64_t idle_us;

    uint64_t random, scenario_random;
    unsigned stay;                  /* RANDOM: of 8 */
    uint64_t changes[CHANGES_MAX];  /* PCT: at these interleaved steps */
    unsigned change_count;
    int64_t floor;                  /* PCT: below every priority given so far */
    uint32_t preempted;             /* EXHAUSTIVE: so far */
} run;

static inline struct member *here(void)
{
    struct thread *thread = thread_current;
    return thread ? thread->member : NULL;
}

bool scheduler_scheduled(void) { return here() != NULL; }

/* ---- Reports ---- */

static const char *step_text(const struct step *step, char *out, size_t size)
{
    int used = snprintf(out, size, "%-16s", step->name);
    char *at = out + used;
    size -= (size_t)used;
    switch ((enum label)step->label) {
    case LABEL_NONE: break;
    case LABEL_TEXT: snprintf(at, size, " %s", step->text); break;
    case LABEL_PAGE: snprintf(at, size, " page %u/%u", (unsigned)(step->object >> 32), (unsigned)step->object); break;
    case LABEL_LATCH:
        if (step->object)
            snprintf(at, size, " %s %u/%u%s", latch_ranks[step->rank].name, (unsigned)(step->object >> 32), (unsigned)step->object,
                     step->mode == LATCH_SHARED ? " shared" : " exclusive");
        else
            snprintf(at, size, " %s %" PRIu64 "%s", latch_ranks[step->rank].name, step->position, step->mode == LATCH_SHARED ? " shared" : " exclusive");
        break;
    }
    return out;
}

static void print_step(FILE *out, const struct step *step, uint64_t number)
{
    char text[256];
    fprintf(out, "  %6" PRIu64 "  %2u %-14s %s\n", number, step->thread, run.members[step->thread]->name, step_text(step, text, sizeof text));
}

void scheduler_print_trace(FILE *out)
{
    for (size_t i = 0; i < run.trace_count; i++)
        print_step(out, &run.trace[i], i);
}

static void print_held(FILE *out, const struct thread *thread)
{
    uint32_t count = atomic_load_explicit(&thread->held_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        const struct held_entry *entry = &thread->held[i];
        uint64_t what = atomic_load_explicit(&entry->what, memory_order_relaxed);
        struct step step = {
            .name = "holds", .label = LABEL_LATCH, .rank = what & 0xffff, .level = what >> 16 & 0xffff, .mode = what >> 32 & 1,
            .position = atomic_load_explicit(&entry->position, memory_order_relaxed),
            .object = atomic_load_explicit(&entry->object, memory_order_relaxed),
        };
        char text[256];
        fprintf(out, "       %-14s %s\n", "", step_text(&step, text, sizeof text));
    }
}

static void report(const char *why)
{
    fflush(stdout);
    fprintf(stderr, "FAILED  interleave %s: policy %s seed %" PRIu64 ": %s\n", run.options.name ? run.options.name : "?",
            scheduler_policy_names[run.options.policy], run.options.seed, why);
    fprintf(stderr, "threads (%" PRIu64 " steps, virtual time %" PRIu64 " us):\n", run.steps, (uint64_t)(run.now_us - START_US));
    for (uint32_t i = 0; i < run.alive_count; i++) {
        const struct member *member = run.alive[i];
        char text[256];
        fprintf(stderr, "    %2u %-14s %s %s", member->number, member->name, member->state == MEMBER_BLOCKED ? "waits at" : member == run.current ? "runs, at" : "ready, at",
                member->last.name ? step_text(&member->last, text, sizeof text) : "its start");
        if (member->joins)
            fprintf(stderr, " (for thread %u %s)", member->joins->number, member->joins->name);
        if (member->state == MEMBER_BLOCKED && member->deadline_us)
            fprintf(stderr, " until %" PRIu64 " us", member->deadline_us - START_US);
        fputc('\n', stderr);
        print_held(stderr, member->thread);
    }
    size_t first = run.trace_count > TRACE_SHOWN ? run.trace_count - TRACE_SHOWN : 0;
    fprintf(stderr, "trace (%s%zu interleaved steps):\n", first ? "the last of " : "", run.trace_count);
    for (size_t i = first; i < run.trace_count; i++)
        print_step(stderr, &run.trace[i], i);
    fprintf(stderr, "replay: make interleave SCENARIO=%s POLICY=%s SEED=%" PRIu64 "\n", run.options.name ? run.options.name : "?",
            scheduler_policy_names[run.options.policy], run.options.seed);
    fflush(stderr);
}

static _Noreturn void fail(const char *why)
{
    report(why);
    _exit(1);
}

void scheduler_fail(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!here()) {
        fprintf(stderr, "FAILED  %s\n", text);
        _exit(1);
    }
    fail(text);
}

static const int fatal_signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM};
#define FATAL_SIGNALS (sizeof fatal_signals / sizeof *fatal_signals)
static struct sigaction signals_before[FATAL_SIGNALS];

static void on_signal(int number)
{
    char why[64];
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &signals_before[i], NULL);
    snprintf(why, sizeof why, number == SIGALRM ? "no end: a loop without a point?" : "ended by signal %d", number);
    report(why);
    raise(number);
}

/* ---- Choosing ---- */

static uint32_t choice(uint32_t of)
{
    run.choices++;
    if (run.options.policy != SCHEDULER_EXHAUSTIVE)
        return (uint32_t)(random_next(&run.random) % of);
    struct scheduler_search *search = run.options.search;
    if (search->at == search->count) {
        if (search->count == search->capacity)
            search->choices = realloc(search->choices, (search->capacity = search->capacity ? search->capacity * 2 : 1024) * sizeof *search->choices);
        search->choices[search->count++] = (struct choice){0, (uint16_t)of};
    }
    struct choice *at = &search->choices[search->at++];
    if (at->of != of)
        fail("not the same run again: another number of threads is ready than in the run before");
    return at->taken;
}

static void fall_behind(struct member *member)
{
    member->priority = --run.floor;
    member->turns = 0;
}

static struct member *highest(struct member *const *ready, uint32_t count)
{
    struct member *best = ready[0];
    for (uint32_t i = 1; i < count; i++)
        if (ready[i]->priority > best->priority)
            best = ready[i];
    return best;
}

enum reason { AT_POINT, AT_YIELD, AT_WAIT };

static struct member *pick(struct member *self, enum reason reason, struct member **ready, uint32_t count)
{
    if (!run.interleaving) {
        if (reason == AT_POINT)
            return self;
        for (uint32_t i = 0; i < count; i++)                    /* the next one in a circle */
            if (!self || ready[i]->number > self->number)
                return ready[i];
        return ready[0];
    }
    if (count == 1)
        return ready[0];
    switch (run.options.policy) {
    case SCHEDULER_RANDOM:
        if (reason == AT_POINT && random_next(&run.random) % 8 < run.stay)
            return self;
        return ready[choice(count)];
    case SCHEDULER_PCT:
        run.choices++;
        for (unsigned i = 0; reason == AT_POINT && i < run.change_count; i++)
            if (run.changes[i] == run.interleaved)
                fall_behind(self);
        return highest(ready, count);
    case SCHEDULER_EXHAUSTIVE:
        if (reason != AT_POINT)
            return ready[choice(count)];
        if (run.preempted >= run.options.search->preemptions)
            return self;
        for (uint32_t i = 0; i < count; i++)                    /* to go on costs nothing, and is the first choice */
            if (ready[i] == self) {
                ready[i] = ready[0];
                ready[0] = self;
            }
        struct member *next = ready[choice(count)];
        run.preempted += next != self;
        return next;
    }
    return ready[0];
}

static void make_ready(struct member *member, bool timed_out)
{
    member->state = MEMBER_READY;
    member->word = NULL;
    member->polled = NULL;
    member->joins = NULL;
    member->joins_all = false;
    member->deadline_us = 0;
    member->timed_out = timed_out;
}

static uint64_t earliest_deadline(void)
{
    uint64_t earliest = UINT64_MAX;
    for (uint32_t i = 0; i < run.alive_count; i++)
        if (run.alive[i]->state == MEMBER_BLOCKED && run.alive[i]->deadline_us && run.alive[i]->deadline_us < earliest)
            earliest = run.alive[i]->deadline_us;
    return earliest;
}

static void expire(void)
{
    for (uint32_t i = 0; i < run.alive_count; i++) {
        struct member *member = run.alive[i];
        if (member->state != MEMBER_BLOCKED)
            continue;
        if (member->polled && poll(member->polled, 2, 0) > 0)
            make_ready(member, false);
        else if (member->deadline_us && member->deadline_us <= run.now_us)
            make_ready(member, true);
    }
}

static struct member *choose(struct member *self, enum reason reason)
{
    struct member *ready[THREADS_MAX];
    if (run.interleaving && run.early_timers && run.options.policy != SCHEDULER_EXHAUSTIVE && random_next(&run.random) % 256 == 0) {
        uint64_t earliest = earliest_deadline();
        if (earliest != UINT64_MAX && earliest > run.now_us) {
            run.early_timers--;
            run.now_us = earliest;
        }
    }
    for (;;) {
        uint32_t count = 0;
        expire();
        for (uint32_t i = 0; i < run.alive_count; i++)
            if (run.alive[i]->state == MEMBER_READY && !(reason == AT_YIELD && run.alive[i] == self))
                ready[count++] = run.alive[i];
        if (count)
            return pick(self, reason, ready, count);
        uint64_t earliest = earliest_deadline();
        if (earliest == UINT64_MAX) {
            if (reason == AT_YIELD)
                return self;
            fail("deadlock: nobody can run");
        }
        if (++run.idle_jumps > IDLE_JUMPS)
            fail("deadlock: only timers fire, and nobody wakes another");
        if (run.interleaving)
            run.idle_us += earliest - run.now_us;
        run.now_us = earliest;
    }
}

/* ---- Handing over ---- */

static void turn_await(struct member *self)
{
    while (atomic_load_explicit(&self->turn, memory_order_acquire) == 0)
        kernel_wait(&self->turn, 0, FUTEX_ALL_BITS, 0);
    atomic_store_explicit(&self->turn, 0, memory_order_relaxed);
}

static void turn_give(struct member *next)
{
    run.current = next;
    run.switches++;
    next->turns = 0;
    atomic_store_explicit(&next->turn, 1, memory_order_release);
    kernel_wake(&next->turn, 1, FUTEX_ALL_BITS);
}

static void reschedule(struct member *self, enum reason reason)
{
    struct member *next = choose(self, reason);
    if (next == self)
        return;
    turn_give(next);
    turn_await(self);
}

static void note(struct member *self, const struct step *step)
{
    uint64_t mixed = hash_bytes(step->name, strlen(step->name), self->number);
    if (step->text)
        mixed = hash_bytes(step->text, strlen(step->text), mixed);
    if (step->label == LABEL_LATCH || step->label == LABEL_PAGE)
        mixed = hash_join(mixed, step->position ^ step->object << 1 ^ (uint64_t)step->rank << 40 ^ (uint64_t)step->mode << 50);
    run.whole_hash = hash_join(run.whole_hash, mixed);
    self->last = *step;
    run.steps++;
    run.now_us++;
    if (run.steps > run.options.step_limit)
        fail("livelock: the step limit is reached");
    if (!run.interleaving)
        return;
    run.hash = hash_join(run.hash, mixed);
    run.interleaved++;
    if (run.trace_count == run.trace_capacity)
        run.trace = realloc(run.trace, (run.trace_capacity = run.trace_capacity ? run.trace_capacity * 2 : 8192) * sizeof *run.trace);
    run.trace[run.trace_count] = *step;
    run.trace[run.trace_count++].thread = self->number;
}

static void take_step(struct member *self, const struct step *step)
{
    note(self, step);
    if (++self->turns > TURNS_MAX) {
        fall_behind(self);
        reschedule(self, AT_YIELD);
    } else
        reschedule(self, AT_POINT);
}

/* What the object of a point is follows from the point's name (base/hooks.h). */
void scheduler_point(const char *name, const void *object, uint64_t number)
{
    struct member *self = here();
    if (!self)
        return;
    struct step step = {.name = name};
    if (strncmp(name, "pool.", 5) == 0)
        step.label = LABEL_PAGE, step.object = number;
    else if (strncmp(name, "disk.", 5) == 0)
        step.label = LABEL_TEXT, step.text = object;
    else if (strncmp(name, "condition.", 10) == 0)
        step.label = LABEL_TEXT, step.text = ((const struct condition *)object)->name;
    take_step(self, &step);
}

void scheduler_latch_point(const char *name, const struct latch *latch, enum latch_mode mode)
{
    struct member *self = here();
    if (!self)
        return;
    struct step step = {.name = name, .label = LABEL_LATCH, .rank = latch->rank, .level = latch->level, .mode = (uint8_t)mode,
                        .position = latch->position, .object = latch->object};
    take_step(self, &step);
}

bool scheduler_yield(const char *name)
{
    struct member *self = here();
    if (!self)
        return false;
    note(self, &(struct step){.name = name});
    fall_behind(self);
    reschedule(self, AT_YIELD);
    return true;
}

/* ---- Waiting ---- */

static bool block(struct member *self)
{
    struct step at = self->last, waits = at;
    waits.name = "waits";
    note(self, &waits);
    self->last = at;
    self->state = MEMBER_BLOCKED;
    self->timed_out = false;
    reschedule(self, AT_WAIT);
    return !self->timed_out;
}

bool scheduler_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline_us)
{
    struct member *self = here();
    if (atomic_load_explicit(word, memory_order_relaxed) != expected)
        return true;
    if (deadline_us && deadline_us <= run.now_us)
        return false;
    self->word = word;
    self->bits = bits;
    self->deadline_us = deadline_us;
    return block(self);
}

/* Whom the kernel would take is as good as any: so it is a choice. */
int scheduler_futex_wake(_Atomic uint32_t *word, int wanted, uint32_t bits)
{
    int woken = 0;
    while (woken < wanted) {
        struct member *waiting[THREADS_MAX];
        uint32_t count = 0;
        for (uint32_t i = 0; i < run.alive_count; i++)
            if (run.alive[i]->state == MEMBER_BLOCKED && run.alive[i]->word == word && run.alive[i]->bits & bits)
                waiting[count++] = run.alive[i];
        if (!count)
            break;
        bool all = (uint32_t)(wanted - woken) >= count;
        make_ready(waiting[all || count == 1 || !run.interleaving ? 0 : choice(count)], false);
        woken++;
        run.idle_jumps = 0;
    }
    return woken;
}

void scheduler_sleep(uint64_t us)
{
    struct member *self = here();
    note(self, &(struct step){.name = "sleep"});
    self->deadline_us = run.now_us + (us ? us : 1);
    block(self);
}

int scheduler_poll(struct pollfd *polled, uint64_t deadline_us)
{
    struct member *self = here();
    int ready = poll(polled, 2, 0);
    if (ready != 0)
        return ready;
    self->polled = polled;
    self->deadline_us = deadline_us;
    block(self);
    return poll(polled, 2, 0);
}

uint64_t scheduler_now_us(void) { return run.now_us; }
int64_t scheduler_wall_us(void) { return WALL_US + (int64_t)(run.now_us - START_US); }

/* ---- Threads ---- */

void scheduler_thread_made(struct thread *thread)
{
    if (run.alive_count == THREADS_MAX)
        fail("more threads than the scheduler can take");
    struct member *member = calloc(1, sizeof *member);
    member->thread = thread;
    member->number = run.count;
    member->priority = (int64_t)(random_next(&run.random) >> 2);
    memcpy(member->name, thread->shown_name, sizeof member->name);
    if (run.count == run.capacity)
        run.members = realloc(run.members, (run.capacity = run.capacity ? run.capacity * 2 : 64) * sizeof *run.members);
    run.members[run.count++] = member;
    run.alive[run.alive_count++] = member;
    thread->member = member;
}

void scheduler_thread_unmade(struct thread *thread)
{
    thread->member->state = MEMBER_ENDED;
    run.alive_count--;
    thread->member = NULL;
}

void scheduler_thread_begins(void)
{
    turn_await(here());
}

static void ended(struct member *self)
{
    uint32_t at = 0;
    while (run.alive[at] != self)
        at++;
    memmove(run.alive + at, run.alive + at + 1, (--run.alive_count - at) * sizeof *run.alive);
    self->state = MEMBER_ENDED;
    self->thread = NULL;
    run.idle_jumps = 0;
    for (uint32_t i = 0; i < run.alive_count; i++)
        if (run.alive[i]->joins == self || (run.alive[i]->joins_all && run.alive_count == 1))
            make_ready(run.alive[i], false);
}

/* The last thing that a thread of the run does; its record may be another's already. */
void scheduler_thread_ends(struct member *self)
{
    note(self, &(struct step){.name = "thread.ends"});
    ended(self);
    if (run.alive_count)
        turn_give(choose(self, AT_WAIT));
}

void scheduler_thread_join(struct thread *thread)
{
    struct member *self = here(), *other = thread->member;
    note(self, &(struct step){.name = "thread.join", .label = LABEL_TEXT, .text = other->name});
    if (other->state == MEMBER_ENDED)
        return;
    self->joins = other;
    block(self);
}

/* ---- A run ---- */

struct scheduler_search *scheduler_search_open(uint32_t preemptions)
{
    struct scheduler_search *search = calloc(1, sizeof *search);
    search->preemptions = preemptions;
    return search;
}

bool scheduler_search_next(struct scheduler_search *search)
{
    search->count = search->at;
    search->at = 0;
    while (search->count && search->choices[search->count - 1].taken + 1 == search->choices[search->count - 1].of)
        search->count--;
    if (!search->count)
        return false;
    search->choices[search->count - 1].taken++;
    return true;
}

void scheduler_search_close(struct scheduler_search *search)
{
    free(search->choices);
    free(search);
}

void scheduler_interleave(bool on)
{
    if (here())
        run.interleaving = on;
}

uint64_t scheduler_idle_us(void) { return run.idle_us; }
uint64_t scheduler_random(void) { return random_next(&run.scenario_random); }

static void forget_last_run(void)
{
    for (uint32_t i = 0; i < run.count; i++)
        free(run.members[i]);
    struct member **members = run.members;
    struct step *trace = run.trace;
    uint32_t capacity = run.capacity;
    size_t trace_capacity = run.trace_capacity;
    memset(&run, 0, sizeof run);
    run.members = members, run.capacity = capacity;
    run.trace = trace, run.trace_capacity = trace_capacity;
}

static void first_run(void *argument)
{
    (void)argument;
    run.scenario(run.argument);
    run.interleaving = false;
    struct member *self = here();
    if (run.alive_count > 1) {
        self->joins_all = true;
        block(self);
    }
}

void scheduler_run(const struct scheduler_options *options, void (*scenario)(void *), void *argument, struct scheduler_result *result)
{
    ASSERT(!run.on && !here());
    ASSERT((options->policy == SCHEDULER_EXHAUSTIVE) == (options->search != NULL));
    forget_last_run();
    run.on = true;
    run.options = *options;
    if (!run.options.step_limit)
        run.options.step_limit = STEP_LIMIT;
    run.scenario = scenario;
    run.argument = argument;
    run.now_us = START_US;
    uint64_t seed = options->search ? 1 : options->seed;        /* a search's runs differ in their choices alone */
    run.random = hash_join(seed, options->policy);
    run.scenario_random = hash_join(seed, 77);
    run.early_timers = random_next(&run.random) % 2 ? EARLY_TIMERS : 0;
    static const uint8_t stays[] = {0, 4, 6, 7};
    run.stay = stays[random_next(&run.random) % 4];
    /* How long the scenario is isn't known, and must not be taken from an earlier run. So the seed draws it, too. */
    uint64_t horizon = 8ull << random_next(&run.random) % 9;
    run.change_count = 1 + (unsigned)(random_next(&run.random) % CHANGES_MAX);
    for (unsigned i = 0; i < run.change_count; i++)
        run.changes[i] = 1 + random_next(&run.random) % horizon;

    cpu_set_t before, one;
    int cpu = sched_getcpu();
    bool pinned = cpu >= 0 && sched_getaffinity(0, sizeof before, &before) == 0;
    if (pinned) {
        CPU_ZERO(&one);
        CPU_SET((unsigned)cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &action, &signals_before[i]);

    struct thread *first = thread_start_scheduled("scenario", first_run, NULL);
    if (!first)
        panic("could not start the scenario's thread");
    hooks_set(HOOK_SCHEDULER, true);
    turn_give(run.members[0]);
    thread_join(first);
    hooks_set(HOOK_SCHEDULER, false);

    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &signals_before[i], NULL);
    if (pinned)
        sched_setaffinity(0, sizeof before, &before);
    run.on = false;
    *result = (struct scheduler_result){
        .hash = run.hash, .whole_hash = run.whole_hash, .steps = run.steps, .interleaved = run.interleaved,
        .switches = run.switches, .choices = run.choices, .virtual_us = run.now_us - START_US, .threads = run.count,
    };
}
