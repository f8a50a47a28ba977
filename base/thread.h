/* base/thread.h - what base/latch.c, base/thread.c and base/hooks.c share. Private to base: others use base/latch.h.
 *
 * Thread records live as long as the process: a record whose thread ended is used again, never freed. So whoever
 * found one may read its atomics, or wake its futex word, at any time: the worst that happens is a look at an entry
 * half written or a spurious wake, which every waiter bears. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hooks.h"
#include "base/latch.h"

#define HELD_MAX    256     /* latches one thread may hold: a mini-transaction holds 64 and more */
#define TRACE_COUNT 256     /* the last acquisitions kept of each thread */

/* A copy of the latch's identity, since the latch itself may be freed while a view reads this. */
struct held_entry {
    _Atomic(const struct latch *) latch;
    _Atomic uint64_t what;              /* rank | level << 16 | mode << 32 */
    _Atomic uint64_t position, object;
    const char *file;                   /* where it was acquired (debug builds); read by its own thread only */
    int line;
};

struct trace_ring {
    _Atomic uint64_t count;             /* entries ever written; the next goes to count % TRACE_COUNT */
    struct {
        _Atomic uint64_t at_us, what, position, object;
    } entries[TRACE_COUNT];
};

/* The bits of a thread's park word. */
#define PARK_SIGNALED 1u                /* taken off its condition's queue by a waker */
#define PARK_POKED    2u                /* look at your interrupts */

enum thread_state { THREAD_FREE, THREAD_JOINABLE, THREAD_DETACHED, THREAD_ENDED };

struct thread {
    _Atomic uint32_t held_count;        /* written by the thread itself, like all of held */
    _Atomic uint64_t awaited_since_us;  /* 0: awaits no latch */
    struct held_entry awaited;
    struct held_entry held[HELD_MAX];

    _Atomic unsigned interrupts;        /* enum interrupt bits */
    _Atomic uint32_t park;
    struct thread *wait_next, *wait_previous;   /* in a condition's queue, under its guard */
    bool in_queue;                              /* the same */

    _Atomic uint32_t waits_for_fd;      /* thread_interrupt must write to wake_fd too */
    int wake_fd;                        /* an eventfd, made at the first wait; kept with the record. -1: none */

    _Atomic uint32_t socket_guard;      /* over the next: */
    int socket;                         /* plus one; 0: none. TERMINATE shuts its reading side */

    _Atomic int32_t pid;
    _Atomic(const char *) waits_for;    /* a condition's name, a disk call's, fd.read, fd.write; NULL: nothing */
    _Atomic int64_t started_us;         /* wall clock */
    _Atomic(struct trace_ring *) trace;
    uint32_t number;
    _Atomic char name[24];
    char shown_name[24];
    _Atomic uint32_t state;             /* enum thread_state */
    pthread_t id;
    void (*run)(void *);
    void *argument;
    struct member *member;              /* its place in a run of the seeded scheduler, or NULL */
    struct thread *next_record;         /* in the list of all records, which only grows */
    struct thread *next_free;
};

extern _Thread_local struct thread *thread_current;
struct thread *thread_adopt(void);      /* makes the record of a thread that base did not start */
static inline struct thread *thread_here(void)
{
    struct thread *thread = thread_current;
    return __builtin_expect(thread != NULL, 1) ? thread : thread_adopt();
}
extern _Atomic(struct thread *) thread_records;

/* The two ways to sleep and wake that everything in base is made of, so that the seeded scheduler has one place to
 * take over. deadline_us 0: none. Returns false when the deadline has passed. */
bool futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline_us);
int  futex_wake(_Atomic uint32_t *word, int count, uint32_t bits);      /* how many it woke */
#define FUTEX_ALL_BITS 0xffffffffu
bool kernel_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline_us);   /* the same, never taken over */
int  kernel_wake(_Atomic uint32_t *word, int count, uint32_t bits);

/* base/scheduler.c, for the rest of base. A thread is scheduled if it belongs to a run of the seeded scheduler; then
 * these stand for the system's calls. scheduler_yield: something was busy; false when the thread isn't scheduled. */
static inline bool scheduled(void)
{
    return __builtin_expect(hooks_now() & HOOK_SCHEDULER, 0) && thread_current && thread_current->member;
}
struct pollfd;
void scheduler_point(const char *name, const void *object, uint64_t number);
void scheduler_latch_point(const char *name, const struct latch *, enum latch_mode);
bool scheduler_yield(const char *name);
bool scheduler_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline_us);
int  scheduler_futex_wake(_Atomic uint32_t *word, int count, uint32_t bits);
void scheduler_sleep(uint64_t us);
int  scheduler_poll(struct pollfd *two, uint64_t deadline_us);
uint64_t scheduler_now_us(void);
int64_t  scheduler_wall_us(void);
void scheduler_thread_made(struct thread *);            /* it will be scheduled: before it starts */
void scheduler_thread_unmade(struct thread *);          /* it could not be started */
void scheduler_thread_begins(void);
void scheduler_thread_ends(struct member *);
void scheduler_thread_join(struct thread *);            /* waits for its end; pthread_join follows */
struct thread *thread_start_scheduled(const char *name, void (*run)(void *argument), void *argument);   /* the first of a run */

/* A guard stands over a few instructions in base itself, where no latch can. 0 free, 1 held, 2 held and awaited. */
void guard_wait(_Atomic uint32_t *guard);
static inline void guard_take(_Atomic uint32_t *guard)
{
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong_explicit(guard, &expected, 1, memory_order_acquire, memory_order_relaxed))
        guard_wait(guard);
}
static inline void guard_drop(_Atomic uint32_t *guard)
{
    if (atomic_exchange_explicit(guard, 0, memory_order_release) == 2)
        futex_wake(guard, 1, FUTEX_ALL_BITS);
}

/* The slow way of a latch's points: trace, then whatever else is on. `name` is latch.acquire, latch.acquired, ... */
void hook_latch(const char *name, const struct latch *, enum latch_mode);

#endif
