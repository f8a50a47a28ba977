/* base/hooks.c - what stands behind a point when something is on.
 *
 *   TRACE      each thread writes its acquisitions to a ring of its own (relaxed atomics: views read it as it turns)
 *   STAGED     a test holds threads at a named point until it lets them go
 *   STEP       a function put in by whoever has it (hook_install)
 *   SCHEDULER  base/scheduler.c: the point is a step, after which another thread may run
 *
 * Nothing here takes a latch: a point is reached with any latch held. The few words shared between threads stand under
 * a guard (base/thread.h), and held threads sleep on a futex word. */
#include "base/hooks.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

_Atomic unsigned hooks_on;

#define relaxed_load(p)     atomic_load_explicit((p), memory_order_relaxed)
#define relaxed_store(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static _Atomic(hook_function *) step_function;

void hooks_set(enum hook hook, bool on)
{
    if (on)
        atomic_fetch_or(&hooks_on, (unsigned)hook);
    else
        atomic_fetch_and(&hooks_on, ~(unsigned)hook);
}

void hook_install(enum hook hook, hook_function *function)
{
    ASSERT(hook == HOOK_STEP);
    atomic_store(&step_function, function);
}

/* ---- Staged points ---- */

#define STAGED_MAX 32

static struct staged {
    const char *name;
    bool held;
    uint32_t standing; /* threads that stop here now */
} staged[STAGED_MAX];
static _Atomic uint32_t staged_guard;
static _Atomic uint32_t staged_turn; /* changes whenever anything above does; all sleep on it */

static struct staged *staged_find(const char *name)
{
    for (int i = 0; i < STAGED_MAX; i++)
        if (staged[i].name && strcmp(staged[i].name, name) == 0)
            return &staged[i];
    return NULL;
}

static void staged_changed(void)
{
    atomic_fetch_add(&staged_turn, 1);
    futex_wake(&staged_turn, INT32_MAX, FUTEX_ALL_BITS);
}

static void staged_point(const char *name)
{
    guard_take(&staged_guard);
    struct staged *stage = staged_find(name);
    if (stage && stage->held) {
        stage->standing++;
        staged_changed();
        while (stage->held) {
            uint32_t turn = atomic_load(&staged_turn);
            guard_drop(&staged_guard);
            futex_wait(&staged_turn, turn, FUTEX_ALL_BITS, 0);
            guard_take(&staged_guard);
        }
        stage->standing--;
        staged_changed();
    }
    guard_drop(&staged_guard);
}

void point_hold(const char *name)
{
    guard_take(&staged_guard);
    struct staged *stage = staged_find(name);
    for (int i = 0; !stage && i < STAGED_MAX; i++)
        if (!staged[i].name)
            stage = &staged[i];
    ASSERT(stage); /* more than STAGED_MAX names in one test program */
    stage->name = name;
    stage->held = true;
    guard_drop(&staged_guard);
    hooks_set(HOOK_STAGED, true);
}

void point_await(const char *name)
{
    guard_take(&staged_guard);
    struct staged *stage = staged_find(name);
    ASSERT(stage && stage->held);
    while (stage->standing == 0) {
        uint32_t turn = atomic_load(&staged_turn);
        guard_drop(&staged_guard);
        futex_wait(&staged_turn, turn, FUTEX_ALL_BITS, 0);
        guard_take(&staged_guard);
    }
    guard_drop(&staged_guard);
}

void point_release(const char *name)
{
    bool any = false;
    guard_take(&staged_guard);
    struct staged *stage = staged_find(name);
    ASSERT(stage);
    stage->held = false;
    staged_changed();
    for (int i = 0; i < STAGED_MAX; i++)
        any = any || staged[i].held;
    if (!any)
        hooks_set(HOOK_STAGED, false);
    guard_drop(&staged_guard);
}

/* ---- The trace ---- */

static void trace_add(const struct latch *latch, enum latch_mode mode)
{
    struct thread *self = thread_here();
    struct trace_ring *ring = relaxed_load(&self->trace);
    if (!ring) {
        ring = calloc(1, sizeof(*ring));
        if (!ring)
            return;
        atomic_store_explicit(&self->trace, ring, memory_order_release);
    }
    uint64_t count = relaxed_load(&ring->count);
    size_t slot = count % TRACE_COUNT;
    relaxed_store(&ring->entries[slot].at_us, now_us());
    relaxed_store(&ring->entries[slot].what,
                  (uint64_t)latch->rank | (uint64_t)latch->level << 16 | (uint64_t)mode << 32 |
                      (uint64_t)(uint32_t)relaxed_load(&self->pid) << 33);
    relaxed_store(&ring->entries[slot].position, latch->position);
    relaxed_store(&ring->entries[slot].object, latch->object);
    atomic_store_explicit(&ring->count, count + 1, memory_order_release);
}

static int trace_compare(const void *a, const void *b)
{
    const struct trace_entry *left = a, *right = b;
    return (left->at_us > right->at_us) - (left->at_us < right->at_us);
}

/* A thread may write on while this reads; an entry then shows the newer acquisition. Rings of several threads are
 * merged by time, and a stable order within one thread comes from reading each ring oldest first (qsort of glibc
 * merges, and equal times keep their order). */
size_t trace_entries(int32_t pid, struct trace_entry *out, size_t capacity)
{
    size_t found = 0;
    for (struct thread *thread = atomic_load_explicit(&thread_records, memory_order_acquire); thread;
         thread = thread->next_record) {
        struct trace_ring *ring = atomic_load_explicit(&thread->trace, memory_order_acquire);
        if (!ring)
            continue;
        uint64_t end = atomic_load_explicit(&ring->count, memory_order_acquire);
        uint64_t first = end > TRACE_COUNT ? end - TRACE_COUNT : 0;
        for (uint64_t i = first; i < end; i++) {
            size_t slot = i % TRACE_COUNT;
            uint64_t what = relaxed_load(&ring->entries[slot].what);
            if (pid != 0 && (int32_t)(what >> 33) != pid)
                continue;
            if (found++ >= capacity)
                continue;
            out[found - 1] = (struct trace_entry){
                .pid = (int32_t)(what >> 33),
                .at_us = relaxed_load(&ring->entries[slot].at_us),
                .thread_number = thread->number,
                .rank = what & 0xffff,
                .level = what >> 16 & 0xffff,
                .mode = what >> 32 & 1,
                .position = relaxed_load(&ring->entries[slot].position),
                .object = relaxed_load(&ring->entries[slot].object),
            };
        }
    }
    qsort(out, found < capacity ? found : capacity, sizeof(*out), trace_compare);
    return found;
}

/* ---- The slow way in ---- */

static void other_hooks(unsigned on, const char *name, const void *object, uint64_t number)
{
    if (on & HOOK_STAGED)
        staged_point(name);
    if (on & HOOK_STEP) {
        hook_function *function = atomic_load_explicit(&step_function, memory_order_acquire);
        if (function)
            function(name, object, number);
    }
}

void hook_point(const char *name, const void *object, uint64_t number)
{
    unsigned on = relaxed_load(&hooks_on);
    other_hooks(on, name, object, number);
    if (on & HOOK_SCHEDULER)
        scheduler_point(name, object, number);
}

void hook_latch(const char *name, const struct latch *latch, enum latch_mode mode)
{
    unsigned on = relaxed_load(&hooks_on);
    if ((on & HOOK_TRACE) && strcmp(name, "latch.acquired") == 0)
        trace_add(latch, mode);
    other_hooks(on, name, latch, (uint64_t)mode);
    if (on & HOOK_SCHEDULER)
        scheduler_latch_point(name, latch, mode);
}
