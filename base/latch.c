/* base/latch.c - the latch: a readers-writer lock in one futex word.
 *
 *     state:  W   held EXCLUSIVE                    SW  a writer sleeps (or is about to)
 *             n   held SHARED by so many            SR  a reader sleeps (or is about to)
 *
 *                 acquire SHARED                 release
 *          free ------------------> n readers ------------> free
 *          free ------------------> W         ------------> free
 *                 acquire EXCLUSIVE
 *
 * 1. Whoever wants it while it's held spins for a moment, then sets SW or SR by compare-and-swap and sleeps on the
 *    word as it then stands, in the writers' or the readers' half of the futex's bits. If the word has changed, the
 *    kernel refuses the sleep, and it looks again: so a bit that was cleared meanwhile is set again.
 * 2. If anybody sleeps, then the latch is held and the bit for that sleeper is set, or a thread that was woken is on
 *    its way and makes it so: a woken writer takes the latch with SW set (others may sleep behind it), or sets SW and
 *    sleeps again. That is why no wake-up is lost though release clears bits before it wakes.
 * 3. SW bars new readers only while readers hold the latch. A free latch is anybody's, whatever bits are set; and a
 *    reader that was woken passes the bar, so that it gets its turn between two writers.
 * 4. Release by a writer wakes all sleeping readers, or if there are none one writer; the last reader's release
 *    wakes a writer, or if there are none all readers. Neither kind starves.
 * 5. After the word says free, release touches the latch no more, except when a sleeper was seen (who keeps it alive):
 *    a futex wake only needs the address.
 *
 * What a thread holds stands in its record (base/thread.h) for views, for the order check of debug builds and for
 * latch_io_allowed(). */
#include "base/latch.h"
#include "base/atomic.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W    0x80000000u
#define SW   0x40000000u
#define SR   0x20000000u
#define N    0x1fffffffu
#define HELD (W | N)

#define WRITERS 1u /* futex bits */
#define READERS 2u

#define SPINS 250

const struct latch_rank_info latch_ranks[RANK_COUNT] = {
#define NEVER   false
#define ALLOWED true
#define X(name, ordered, guards, io) {#name, ordered, guards, io},
    LATCH_RANKS(X)
#undef X
#undef NEVER
#undef ALLOWED
};

static struct {
    _Alignas(64) _Atomic uint64_t waits;
    _Atomic uint64_t wait_us;
} rank_stats[RANK_COUNT];

#define relaxed_load(p)     atomic_load_explicit((p), memory_order_relaxed)
#define relaxed_store(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

void latch_init(struct latch *latch, enum latch_rank rank, uint16_t level, uint64_t position, uint64_t object)
{
    ASSERT(rank < RANK_COUNT);
    atomic_init(&latch->state, 0);
    latch->rank = (uint16_t)rank;
    latch->level = level;
    latch->position = position;
    latch->object = object;
}

/* ---- What a thread holds ---- */

static inline void entry_fill(struct held_entry *entry, const struct latch *latch, enum latch_mode mode)
{
    relaxed_store(&entry->what, (uint64_t)latch->rank | (uint64_t)latch->level << 16 | (uint64_t)mode << 32);
    relaxed_store(&entry->position, latch->position);
    relaxed_store(&entry->object, latch->object);
    relaxed_store(&entry->latch, latch);
}

static inline void held_push(struct thread *self, const struct latch *latch, enum latch_mode mode, const char *file,
                             int line)
{
    uint32_t count = relaxed_load(&self->held_count);
    ASSERT(count < HELD_MAX);
    struct held_entry *entry = &self->held[count];
    entry_fill(entry, latch, mode);
#ifdef CRAB_DEBUG
    entry->file = file;
    entry->line = line;
#else
    (void)file;
    (void)line;
#endif
    relaxed_store(&self->held_count, count + 1);
}

static struct held_entry *held_find(struct thread *self, const struct latch *latch)
{
    for (uint32_t i = relaxed_load(&self->held_count); i-- > 0;)
        if (relaxed_load(&self->held[i].latch) == latch)
            return &self->held[i];
    return NULL;
}

static inline enum latch_mode entry_mode(const struct held_entry *entry)
{
    return (enum latch_mode)(relaxed_load(&entry->what) >> 32 & 1);
}

/* The order of entries means nothing, so the last fills the hole. */
static inline void held_remove(struct thread *self, struct held_entry *entry)
{
    uint32_t last = relaxed_load(&self->held_count) - 1;
    struct held_entry *from = &self->held[last];
    if (from != entry) {
        relaxed_store(&entry->what, relaxed_load(&from->what));
        relaxed_store(&entry->position, relaxed_load(&from->position));
        relaxed_store(&entry->object, relaxed_load(&from->object));
        relaxed_store(&entry->latch, relaxed_load(&from->latch));
        entry->file = from->file;
        entry->line = from->line;
    }
    relaxed_store(&from->latch, NULL);
    relaxed_store(&self->held_count, last);
}

#ifdef CRAB_DEBUG
static const char *latch_describe(char *out, size_t capacity, uint64_t what, uint64_t position, uint64_t object)
{
    snprintf(out, capacity, "%s level %u position %llu object %llx", latch_ranks[what & 0xffff].name,
             (unsigned)(what >> 16 & 0xffff), (unsigned long long)position, (unsigned long long)object);
    return out;
}

/* A thread acquires downwards in LATCH_RANKS; within an ordered rank by rising (level, position). */
static void order_check(struct thread *self, const struct latch *latch, const char *file, int line)
{
    for (uint32_t i = 0; i < relaxed_load(&self->held_count); i++) {
        const struct held_entry *entry = &self->held[i];
        uint64_t what = relaxed_load(&entry->what), position = relaxed_load(&entry->position);
        unsigned rank = what & 0xffff, level = what >> 16 & 0xffff;
        bool fine = rank < latch->rank;
        if (rank == latch->rank && latch_ranks[rank].ordered)
            fine = level < latch->level || (level == latch->level && position < latch->position);
        /* Left to right among leaves is the order of their keys, not of their page numbers: btree keeps it by following right links. */
        if (rank == RANK_NODE && rank == latch->rank && level == latch->level)
            fine = true;
        if (fine && relaxed_load(&entry->latch) != latch)
            continue;
        char wanted[128], held[128];
        panic("latch order broken: wants %s at %s:%d while it holds %s, acquired at %s:%d",
              latch_describe(wanted, sizeof(wanted), (uint64_t)latch->rank | (uint64_t)latch->level << 16,
                             latch->position, latch->object),
              file, line, latch_describe(held, sizeof(held), what, position, relaxed_load(&entry->object)),
              entry->file ? entry->file : "?", entry->line);
    }
}
#endif

/* ---- The word ---- */

static inline bool shared_fast(struct latch *latch)
{
    uint32_t state = relaxed_load(&latch->state);
    while (!(state & W) && !((state & SW) && (state & N)))
        if (atomic_compare_exchange_weak_explicit(&latch->state, &state, state + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

static inline bool exclusive_fast(struct latch *latch)
{
    uint32_t state = 0;
    do {
        if (atomic_compare_exchange_strong_explicit(&latch->state, &state, state | W, memory_order_acquire,
                                                    memory_order_relaxed))
            return true;
    } while (!(state & HELD));
    return false;
}

static void shared_slow(struct latch *latch)
{
    bool woken = false;
    for (int spins = spin_count(SPINS);;) {
        uint32_t state = relaxed_load(&latch->state);
        bool barred = (state & W) || ((state & N) && (state & SW) && !woken);
        if (!barred) {
            if (atomic_compare_exchange_weak_explicit(&latch->state, &state, state + 1, memory_order_acquire,
                                                      memory_order_relaxed))
                return;
            continue;
        }
        if (spins > 0) {
            spins--;
            spin_pause();
            continue;
        }
        if (!(state & SR) && !atomic_compare_exchange_weak_explicit(&latch->state, &state, state | SR,
                                                                    memory_order_relaxed, memory_order_relaxed))
            continue;
        futex_wait(&latch->state, state | SR, READERS, 0);
        woken = true;
    }
}

static void exclusive_slow(struct latch *latch)
{
    uint32_t debt = 0; /* SW once it has slept: others may sleep behind it (rule 2) */
    for (int spins = spin_count(SPINS);;) {
        uint32_t state = relaxed_load(&latch->state);
        if (!(state & HELD)) {
            if (atomic_compare_exchange_weak_explicit(&latch->state, &state, state | W | debt, memory_order_acquire,
                                                      memory_order_relaxed))
                return;
            continue;
        }
        if (spins > 0) {
            spins--;
            spin_pause();
            continue;
        }
        if (!(state & SW) && !atomic_compare_exchange_weak_explicit(&latch->state, &state, state | SW,
                                                                    memory_order_relaxed, memory_order_relaxed))
            continue;
        futex_wait(&latch->state, state | SW, WRITERS, 0);
        debt = SW;
    }
}

static void release_exclusive(struct latch *latch)
{
    uint32_t state = W;
    if (__builtin_expect(atomic_compare_exchange_strong_explicit(&latch->state, &state, 0, memory_order_release,
                                                                 memory_order_relaxed),
                         1))
        return;
    for (;;) {
        ASSERT(state & W);
        /* All sleeping readers are woken, so SR goes. SW stays for the writers that sleep on. */
        uint32_t next = state & SR ? state & SW : 0;
        if (atomic_compare_exchange_weak_explicit(&latch->state, &state, next, memory_order_release,
                                                  memory_order_relaxed))
            break;
    }
    if ((state & SR) && futex_wake(&latch->state, INT32_MAX, READERS) > 0)
        return;
    if (state & SW)
        futex_wake(&latch->state, 1, WRITERS);
}

static void release_shared(struct latch *latch)
{
    uint32_t state = relaxed_load(&latch->state);
    if (!(state & (SW | SR))) {
        state = atomic_fetch_sub_explicit(&latch->state, 1, memory_order_release);
        ASSERT((state & N) && !(state & W));
        if ((state & N) != 1 || !(state & (SW | SR)))
            return;
        /* Somebody came to sleep just now. The latch is free with a bit set: clear SW, unless somebody took it
         * (whose release will see to it). */
        state -= 1;
        do {
            if ((state & HELD) || !(state & (SW | SR)))
                return;
        } while (!atomic_compare_exchange_weak_explicit(&latch->state, &state, state & SR, memory_order_release,
                                                        memory_order_relaxed));
    } else {
        for (;;) {
            ASSERT((state & N) && !(state & W));
            uint32_t next = (state & N) == 1 ? state & SR : state - 1;
            if (atomic_compare_exchange_weak_explicit(&latch->state, &state, next, memory_order_release,
                                                      memory_order_relaxed))
                break;
        }
        if ((state & N) != 1)
            return;
    }
    if ((state & SW) && futex_wake(&latch->state, 1, WRITERS) > 0)
        return; /* SR stays for the readers that sleep on; that writer's release wakes them */
    if (state & SR)
        futex_wake(&latch->state, INT32_MAX, READERS);
}

/* Where contention is counted and shown; the clock is read only here. */
static void __attribute__((noinline)) acquire_slow(struct thread *self, struct latch *latch, enum latch_mode mode)
{
    uint64_t since = now_us();
    entry_fill(&self->awaited, latch, mode);
    relaxed_store(&self->awaited_since_us, since ? since : 1);
    if (mode == LATCH_SHARED)
        shared_slow(latch);
    else
        exclusive_slow(latch);
    relaxed_store(&self->awaited_since_us, 0);
    atomic_fetch_add_explicit(&rank_stats[latch->rank].waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&rank_stats[latch->rank].wait_us, now_us() - since, memory_order_relaxed);
}

#ifndef CRAB_DEBUG
#define file NULL
#define line 0
#endif

static inline void acquire(struct thread *self, struct latch *latch, enum latch_mode mode LATCH_SITE_PARAMS)
{
    bool got = mode == LATCH_SHARED ? shared_fast(latch) : exclusive_fast(latch);
    if (__builtin_expect(!got, 0))
        acquire_slow(self, latch, mode);
    held_push(self, latch, mode, file, line);
}

static inline bool try(struct latch *latch, enum latch_mode mode LATCH_SITE_PARAMS)
{
    if (!(mode == LATCH_SHARED ? shared_fast(latch) : exclusive_fast(latch)))
        return false;
    held_push(thread_here(), latch, mode, file, line);
    return true;
}

static inline void release(struct thread *self, struct latch *latch, struct held_entry *entry, enum latch_mode mode)
{
    held_remove(self, entry);
    if (mode == LATCH_SHARED)
        release_shared(latch);
    else
        release_exclusive(latch);
}

#ifndef CRAB_DEBUG
#undef file
#undef line
#define LATCH_SITE_PASSED
#else
#define LATCH_SITE_PASSED , file, line
#endif

/* The same between their points. Each way in asks once whether any hook is on: that branch is all that it costs when none is. */

static void __attribute__((noinline, cold)) acquire_hooked(struct thread *self, struct latch *latch, enum latch_mode mode LATCH_SITE_PARAMS)
{
    hook_latch("latch.acquire", latch, mode);
    acquire(self, latch, mode LATCH_SITE_PASSED);
    hook_latch("latch.acquired", latch, mode);
}

static bool __attribute__((noinline, cold)) try_hooked(struct latch *latch, enum latch_mode mode LATCH_SITE_PARAMS)
{
    hook_latch("latch.try", latch, mode);
    bool got = try(latch, mode LATCH_SITE_PASSED);
    if (got)
        hook_latch("latch.acquired", latch, mode);
    else if (scheduled())
        scheduler_yield("latch.busy");
    return got;
}

static void __attribute__((noinline, cold)) release_hooked(struct thread *self, struct latch *latch, struct held_entry *entry, enum latch_mode mode)
{
    hook_latch("latch.release", latch, mode);
    release(self, latch, entry, mode);
}

void latch_acquire_at(struct latch *latch, enum latch_mode mode LATCH_SITE_PARAMS)
{
    struct thread *self = thread_here();
#ifdef CRAB_DEBUG
    order_check(self, latch, file, line);
#endif
    if (__builtin_expect(hooks_now() != 0, 0))
        acquire_hooked(self, latch, mode LATCH_SITE_PASSED);
    else
        acquire(self, latch, mode LATCH_SITE_PASSED);
}

bool latch_try_at(struct latch *latch, enum latch_mode mode LATCH_SITE_PARAMS)
{
    if (__builtin_expect(hooks_now() != 0, 0))
        return try_hooked(latch, mode LATCH_SITE_PASSED);
    return try(latch, mode LATCH_SITE_PASSED);
}

void latch_release(struct latch *latch)
{
    struct thread *self = thread_here();
    struct held_entry *entry = held_find(self, latch);
    ASSERT(entry);
    enum latch_mode mode = entry_mode(entry);
    if (__builtin_expect(hooks_now() != 0, 0))
        release_hooked(self, latch, entry, mode);
    else
        release(self, latch, entry, mode);
}

bool latch_held(const struct latch *latch)
{
    return held_find(thread_here(), latch) != NULL;
}

bool latch_held_exclusive(const struct latch *latch)
{
    const struct held_entry *entry = held_find(thread_here(), latch);
    return entry && entry_mode(entry) == LATCH_EXCLUSIVE;
}

int latch_held_count(void)
{
    return (int)relaxed_load(&thread_here()->held_count);
}

bool latch_io_allowed(void)
{
    struct thread *self = thread_here();
    for (uint32_t i = 0; i < relaxed_load(&self->held_count); i++)
        if (!latch_ranks[relaxed_load(&self->held[i].what) & 0xffff].io_allowed)
            return false;
    return true;
}

void latch_print_held(void)
{
    struct thread *self = thread_here();
    for (uint32_t i = 0; i < relaxed_load(&self->held_count); i++) {
        const struct held_entry *entry = &self->held[i];
        uint64_t what = relaxed_load(&entry->what);
        fprintf(stderr, "%s level %u position %llu object %llx %s %s:%d\n", latch_ranks[what & 0xffff].name,
                (unsigned)(what >> 16 & 0xffff), (unsigned long long)relaxed_load(&entry->position),
                (unsigned long long)relaxed_load(&entry->object),
                entry_mode(entry) == LATCH_SHARED ? "SHARED" : "EXCLUSIVE", entry->file ? entry->file : "",
                entry->line);
    }
}

/* ---- For views ---- */

static bool sight_fill(struct latch_sight *sight, const struct thread *thread, const struct held_entry *entry)
{
    uint64_t what = relaxed_load(&entry->what);
    if ((what & 0xffff) >= RANK_COUNT)
        return false;
    memset(sight, 0, sizeof(*sight));
    sight->pid = relaxed_load(&thread->pid);
    sight->thread_number = thread->number;
    for (size_t i = 0; i < sizeof(sight->thread_name) - 1; i++)
        sight->thread_name[i] = relaxed_load(&thread->name[i]);
    sight->rank = what & 0xffff;
    sight->level = what >> 16 & 0xffff;
    sight->mode = what >> 32 & 1;
    sight->position = relaxed_load(&entry->position);
    sight->object = relaxed_load(&entry->object);
    sight->latch = relaxed_load(&entry->latch);
    return true;
}

size_t latch_sights(struct latch_sight *out, size_t capacity)
{
    size_t found = 0;
    struct latch_sight sight;
    uint64_t now = now_us();

    for (struct thread *thread = atomic_load_explicit(&thread_records, memory_order_acquire); thread;
         thread = thread->next_record) {
        uint32_t count = relaxed_load(&thread->held_count);
        for (uint32_t i = 0; i < count && i < HELD_MAX; i++) {
            if (!relaxed_load(&thread->held[i].latch) || !sight_fill(&sight, thread, &thread->held[i]))
                continue;
            if (found < capacity)
                out[found] = sight;
            found++;
        }
        uint64_t since = relaxed_load(&thread->awaited_since_us);
        if (since && sight_fill(&sight, thread, &thread->awaited)) {
            sight.awaited = true;
            sight.waited_us = now > since ? now - since : 0;
            if (found < capacity)
                out[found] = sight;
            found++;
        }
    }
    return found;
}

void latch_stats(enum latch_rank rank, struct latch_stats *out)
{
    ASSERT(rank < RANK_COUNT);
    out->waits = relaxed_load(&rank_stats[rank].waits);
    out->wait_us = relaxed_load(&rank_stats[rank].wait_us);
}

void latch_stats_reset(void)
{
    for (int rank = 0; rank < RANK_COUNT; rank++) {
        relaxed_store(&rank_stats[rank].waits, 0);
        relaxed_store(&rank_stats[rank].wait_us, 0);
    }
}
