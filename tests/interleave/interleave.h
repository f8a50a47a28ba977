/* tests/interleave/interleave.h - what scenarios of the seeded scheduler share.
 *
 * A scenario is a function and a row in its file's table:
 *
 *     static void two_fetch_the_same_page(void) { ...open...; go(); threads; join_all(); ...check...; ...close... }
 *     const struct scenario scenarios_pool[] = {
 *         {"pool.same_page", two_fetch_the_same_page, 2, "two threads miss the same page: one read"},
 *         {0},
 *     };
 *
 * It runs thousands of times, so it is small: two to four threads, a few operations each. It checks its result against a
 * model with check() or must(). What it keeps in static variables, it sets anew each time. Everything it does must follow
 * from the seed: scheduler_random(), never the clock or an address. */
#ifndef TESTS_INTERLEAVE_H
#define TESTS_INTERLEAVE_H

#include <stdlib.h>
#include <string.h>

#include "base/latch.h"
#include "base/scheduler.h"
#include "storage/store.h"

struct scenario {
    const char *name;                   /* module.what */
    void (*run)(void);
    unsigned preemptions;               /* above 0: also explored exhaustively with at most so many */
    const char *shows;
};
extern const struct scenario scenarios_btree[], scenarios_pool[], scenarios_lock[], scenarios_wal[], scenarios_txn[], scenarios_workers[], scenarios_index_only[];    /* each ends with an empty row */

#define check(condition, ...) ((condition) ? (void)0 : scheduler_fail(__VA_ARGS__))
#define must(call) do { enum status must_ = (call); if (must_) scheduler_fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, \
    error_current()->message ? error_current()->message : status_text(must_)); } while (0)

/* From here on threads change places at every point; until join_all() returns. */
static inline void go(void) { scheduler_interleave(true); }
struct thread *begin(const char *name, void (*run)(void *), void *argument);     /* a thread of the scenario */
void join_all(void);                                                           /* waits for all that begin() started; ends the interleaving */

/* A store on a disk in memory, opened without interleaving; `store` is it. The half of it, which opens faster, has files,
 * WAL and pool: mini-transactions, pages and trees work; transactions and locks are not there. */
extern struct store *store;
void store_begin(uint32_t frames);
void half_store_begin(uint32_t frames);
void store_open_memory(uint32_t frames);        /* the second half of store_begin: on whatever disk there is */
uint32_t partitions_wanted(void);       /* of the pool: drawn from the seed */
void store_end(void);                   /* either: checks that no page is pinned, and closes */

#endif
