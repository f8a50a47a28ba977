/* base/latch.h - the one door through which every latch, condition and thread goes.
 *
 *     latch_acquire(&part->latch, LATCH_EXCLUSIVE);
 *     while (!part->ready)
 *         condition_wait(&part->settled, &part->latch);
 *     latch_release(&part->latch);
 *
 * A latch belongs to a thread, protects memory for microseconds, and is kept free of deadlock by rank alone: a
 * thread acquires downwards in LATCH_RANKS, and within a rank marked ORDERED by rising (level, position), leftward
 * only with latch_try(). Debug builds abort with both call sites where that is broken. (A lock belongs to a
 * transaction: storage/lock.h.)
 *
 * Every build keeps, for each rank, counts of acquisitions that waited and the time they waited, and for each
 * thread the latches it holds and the one it awaits, in arrays of relaxed atomics that anyone may read. Behind one
 * branch (hooks_on, base/hooks.h): trace, step, and the seeded scheduler.
 *
 * A latch is a futex word: uncontended acquire and release are one compare-and-swap each. Waiting writers bar new
 * readers. Under ThreadSanitizer the order is carried by the atomics themselves (acquire/release), no fences. */
#ifndef BASE_LATCH_H
#define BASE_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum latch_mode { LATCH_SHARED, LATCH_EXCLUSIVE };

/*    rank         ordered  guards                                                    I/O while held */
#define LATCH_RANKS(X)                                                                          \
    X(ENGINE,       false, "all execution (crab.engine_latch)",                       ALLOWED)  \
    X(SERVER,       false, "list of connections, settings",                           NEVER)    \
    X(CHECKPOINT,   false, "one checkpoint at a time",                                ALLOWED)  \
    X(WORKERS,      false, "worker pool: queue of batches",                           NEVER)    \
    X(EXCHANGE,     false, "one query's window between workers and leader",           NEVER)    \
    X(OPERATOR,     false, "one operator's shared state (partitions of a sink)",      ALLOWED)  \
    X(CATALOG,      false, "shared cache of relation descriptors",                    ALLOWED)  \
    X(SEQUENCE,     false, "a sequence's next value",                                 ALLOWED)  \
    X(INSERT_TARGET,false, "pages a table fills now",                                 ALLOWED)  \
    X(TREE,         false, "one B+Tree as a whole (crab.btree_latching = tree)",      ALLOWED)  \
    X(META,         true,  "tree meta page, parent of the root",                      ALLOWED)  \
    X(NODE,         true,  "tree page: by level from the top, then left to right",    ALLOWED)  \
    X(HEAP,         true,  "heap page: by number",                                    ALLOWED)  \
    X(OVERFLOW,     true,  "overflow page: by number",                                ALLOWED)  \
    X(SPACE,        true,  "free-space page: by number",                              ALLOWED)  \
    X(STATUS,       true,  "transaction status page: by number",                      ALLOWED)  \
    X(LOCK_TABLE,   false, "lock manager: locks and the waits-for graph",             NEVER)    \
    X(TXN,          false, "transaction table: slots, the snapshot limit",            NEVER)    \
    X(POOL_IO,      false, "whole pool during I/O (crab.pool_io = latched)",          ALLOWED)  \
    X(POOL_PART,    false, "page id -> frame, frame states; never two at once",       NEVER)    \
    X(WAL_FLUSH,    false, "who leads the flush",                                     ALLOWED)  \
    X(WAL_RING,     false, "where the next record goes",                              NEVER)    \
    X(FILE,         false, "table of open files",                                     ALLOWED)  \
    X(LEAF,         false, "anything that takes no other latch inside",               NEVER)

enum latch_rank {
#define X(name, ordered, guards, io) RANK_##name,
    LATCH_RANKS(X)
#undef X
    RANK_COUNT
};
struct latch_rank_info { const char *name; bool ordered; const char *guards; bool io_allowed; };
extern const struct latch_rank_info latch_ranks[RANK_COUNT];

struct latch {
    _Atomic uint32_t state;        /* readers held, a writer bit, bits for who waits (latch.c) */
    uint16_t rank;                 /* enum latch_rank */
    uint16_t level;                /* ORDERED ranks: level, then position */
    uint64_t position;             /* ORDERED ranks: page number; in others, any number worth showing */
    uint64_t object;               /* what it guards, for the views: file << 32 | page, or 0 */
};

/* Make a latch, or make it anew when its frame takes another page or a freed page is given out again (nobody
 * holds it). Tells ThreadSanitizer that it is another latch now. */
void latch_init(struct latch *, enum latch_rank, uint16_t level, uint64_t position, uint64_t object);

#ifdef CRAB_DEBUG
#define LATCH_SITE_PARAMS , const char *file, int line
#define LATCH_SITE        , __FILE__, __LINE__
#else
#define LATCH_SITE_PARAMS
#define LATCH_SITE
#endif
void latch_acquire_at(struct latch *, enum latch_mode LATCH_SITE_PARAMS);
bool latch_try_at(struct latch *, enum latch_mode LATCH_SITE_PARAMS);     /* never waits; free of the order */
#define latch_acquire(latch, mode) latch_acquire_at((latch), (mode) LATCH_SITE)
#define latch_try(latch, mode)     latch_try_at((latch), (mode) LATCH_SITE)
void latch_release(struct latch *);                        /* in whichever mode the caller holds it */
bool latch_held(const struct latch *);                     /* by the calling thread, in any mode */
bool latch_held_exclusive(const struct latch *);
int  latch_held_count(void);                               /* by the calling thread; 0 at the end of a statement */
void latch_print_held(void);                               /* for gdb */
bool latch_io_allowed(void);                               /* no latch held whose rank says NEVER; disk calls assert it */

/* A condition. Waiting threads queue in it and each parks on a word of its own thread record, so that a thread can
 * be woken by name (thread_interrupt) whatever it waits on. Times are microseconds of the monotonic clock. */
struct thread;
struct condition { _Atomic uint32_t guard; struct thread *first, *last; const char *name; };
enum wake { WAKE_SIGNALED, WAKE_TIMEOUT, WAKE_INTERRUPTED };
void condition_init(struct condition *, const char *name);
void condition_wait(struct condition *, struct latch *);                   /* releases, waits, acquires again in the same mode */
/* deadline_us 0: no deadline. Returns INTERRUPTED at once when the thread has an interrupt pending. */
enum wake condition_wait_until(struct condition *, struct latch *, uint64_t deadline_us, bool interruptible);
/* Called around the interruptible waits of a thread that set them (locks, clients, timers, never latches): what must not be held through
 * such a wait is let go before it and taken again after it, with no other latch held (the engine latch). */
struct wait_hooks { void (*before)(void), (*after)(void); };
extern _Thread_local const struct wait_hooks *thread_wait_hooks;
void condition_wake_one(struct condition *);
void condition_wake_all(struct condition *);

/* Threads. Started by base only. Records live as long as the process and are used again. */
enum interrupt { INTERRUPT_CANCEL = 1, INTERRUPT_TERMINATE = 2, INTERRUPT_TIMEOUT = 4, INTERRUPT_IDLE = 8, INTERRUPT_STOP_WORK = 16 };
struct thread *thread_start(const char *name, void (*run)(void *argument), void *argument);  /* NULL when the system has none left */
void   thread_join(struct thread *);
void   thread_detach(struct thread *);
struct thread *thread_self(void);                          /* makes a record for a foreign thread (main, Criterion's) */
const char *thread_name(const struct thread *);
void   thread_set_pid(struct thread *, int32_t pid);       /* the backend pid that views show; workers take their leader's */
int32_t thread_pid(const struct thread *);
void   thread_interrupt(struct thread *, enum interrupt);  /* sets the bit and wakes it from an interruptible wait */
unsigned thread_interrupts(void);                          /* the calling thread's pending bits: one relaxed load */
enum status thread_check_interrupts(void) MUST_CHECK;      /* … as an error to end the statement with (57014, 57P01); whoever works long asks now and then */
void   thread_interrupt_clear(unsigned bits);
/* Waits until the descriptor can be read (or written), or has an error or hang-up to report: SIGNALED. Ends early with
 * INTERRUPTED when one of the bits in `interrupts` is or becomes pending. deadline_us 0: none. No latch may be held. */
enum wake thread_wait_fd(int fd, bool writable, uint64_t deadline_us, unsigned interrupts);
/* The calling thread serves this socket: from now on INTERRUPT_TERMINATE also shuts the socket's reading side, which ends a
 * recv() that blocks in it, or the next one. -1: no socket any more; to be said before it is closed. */
void thread_serves(int socket);
/* Patient: from now on the calling thread, when it is woken, lets who runs have its turn first (SCHED_BATCH). For threads that
 * answer messages, many of them: to take the processor from a client that has just sent one costs both a switch, for nothing. */
void thread_set_patient(bool);
uint64_t now_us(void);                                     /* monotonic; virtual under the seeded scheduler */
int64_t  wall_us(void);                                    /* microseconds since 1970 */
void   sleep_us(uint64_t us);                              /* virtual under the seeded scheduler */

/* What the calling thread waits for outside of latches, for views: a name that lives as long as the process, NULL when it
 * waits no more. Conditions say theirs, waits for a descriptor say fd.read or fd.write. */
void thread_waits_for(const char *name);
struct thread_sight { int32_t pid; uint32_t number; char name[24]; const char *waits_for; int64_t started_us; };
size_t thread_sights(struct thread_sight *out, size_t capacity);

/* What is held and awaited now, for views: copies up to `capacity` entries, returns how many there were. */
struct latch_sight {
    int32_t pid; uint32_t thread_number; char thread_name[24];
    uint16_t rank, level; uint64_t position, object; uint8_t mode; bool awaited; uint64_t waited_us;
    const struct latch *latch;     /* to tell one from another by; it may be gone */
};
size_t latch_sights(struct latch_sight *out, size_t capacity);
struct latch_stats { uint64_t waits, wait_us; };
void latch_stats(enum latch_rank, struct latch_stats *out);
void latch_stats_reset(void);

#endif
