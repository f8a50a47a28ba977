/* base/scheduler.h - the seeded scheduler: a test mode in which a scenario's threads run one at a time, and a seed
 * decides who.
 *
 *     struct scheduler_options options = { .name = "btree.split", .seed = 17, .policy = SCHEDULER_RANDOM };
 *     struct scheduler_result result;
 *     scheduler_run(&options, scenario, argument, &result);
 *
 * The scenario runs as the first thread; what it and its children start with thread_start() belongs to the run. Threads
 * change places only at points (base/hooks.h) and where they wait. Time is virtual: it moves on by a microsecond a
 * step, and to the earliest deadline when nobody can run. So the same seed gives the same steps, in this process or in
 * another: what a scenario must not hang on is an address, a pid, the real clock, or what an earlier run left behind.
 *
 * A run begins without interleaving: threads change places only where one waits. So a store is opened fast, and always
 * the same way; scheduler_interleave(true) begins what is to be explored, scheduler_interleave(false) ends it.
 *
 * A failure (scheduler_fail, a deadlock, the step limit, abort() in any thread) prints the seed, who holds and awaits
 * what, and the trace on stderr, and ends the process: with status 1, or by the signal.
 *
 * Sources: PCT is Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs" (ASPLOS 2010); the bound on preemptions is Musuvathi, Qadeer, "Iterative Context Bounding for
 * Systematic Testing of Multithreaded Programs" (PLDI 2007). */
#ifndef BASE_SCHEDULER_H
#define BASE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/error.h"

enum scheduler_policy {
    SCHEDULER_RANDOM,          /* anybody at each point; how fond it is of whoever runs is drawn from the seed, too */
    SCHEDULER_PCT,             /* the highest priority runs; a few times, at steps drawn from the seed, that thread falls behind all */
    SCHEDULER_EXHAUSTIVE,      /* depth first through all choices with at most `preemptions` preemptions */
};
extern const char *const scheduler_policy_names[];     /* "random", "pct", "exhaustive" */

struct scheduler_search;       /* where an exhaustive search stands, from run to run */
struct scheduler_search *scheduler_search_open(uint32_t preemptions);
bool scheduler_search_next(struct scheduler_search *);  /* after a run: on to the next; false: nothing is left */
void scheduler_search_close(struct scheduler_search *);

struct scheduler_options {
    const char *name;                       /* the scenario's, for reports */
    uint64_t seed;
    enum scheduler_policy policy;
    struct scheduler_search *search;        /* EXHAUSTIVE only */
    uint64_t step_limit;                    /* steps after which it must be a livelock; 0: 300,000 */
};
struct scheduler_result {
    uint64_t hash;                          /* of the interleaved part's trace: thread, point and object of each step */
    uint64_t whole_hash;                    /* of all steps */
    uint64_t steps, interleaved, switches, choices, virtual_us;
    uint32_t threads;
};
/* Returns when the scenario and all threads of the run have ended. One run at a time in a process, and none inside
 * another. The process is kept on one processor meanwhile: handing over is then one direct switch. */
void scheduler_run(const struct scheduler_options *, void (*scenario)(void *argument), void *argument, struct scheduler_result *);

/* For scenarios; they do nothing outside a run. */
void scheduler_interleave(bool on);
_Noreturn void scheduler_fail(const char *format, ...) PRINTF_LIKE(1, 2);
bool scheduler_scheduled(void);             /* the calling thread belongs to a run */
uint64_t scheduler_random(void);            /* a stream of its own, drawn from the seed: for the scenario's own choices */

uint64_t scheduler_idle_us(void);           /* of the interleaved part: how long only a timer could help, since nobody could run. A lost
                                             * wake-up that some timer heals shows here only */

void scheduler_print_trace(FILE *);         /* the interleaved part of the present, or the last, run */

#endif
