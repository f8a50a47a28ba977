/* base/hooks.h - the branch behind which trace, step, staged tests and the seeded scheduler live.
 *
 * A point is a named place where a thread may be looked at or held: every latch acquisition and release, every
 * condition wait, every pin, every atomic that carries meaning (base/atomic.h), each disk call twice (begun, done).
 * When no hook is on, a point costs one relaxed load and a branch that is never taken.
 *
 * Staged races in tests:   point_hold("pool.reading"); ...; point_await("pool.reading"); ...; point_release(...); */
#ifndef BASE_HOOKS_H
#define BASE_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hook { HOOK_TRACE = 1, HOOK_STEP = 2, HOOK_STAGED = 4, HOOK_SCHEDULER = 8 };
extern _Atomic unsigned hooks_on;          /* enum hook bits */

/* The branch. CRAB_NO_HOOKS builds without it, for one purpose: to measure what it costs (bench/hooks.sh). */
static inline unsigned hooks_now(void)
{
#ifdef CRAB_NO_HOOKS
    return 0;
#else
    return atomic_load_explicit(&hooks_on, memory_order_relaxed);
#endif
}

void hook_point(const char *name, const void *object, uint64_t number);   /* the slow way in */
static inline void point_at(const char *name, const void *object, uint64_t number)
{
    if (__builtin_expect(hooks_now() != 0, 0))
        hook_point(name, object, number);
}
static inline void point(const char *name) { point_at(name, 0, 0); }

void hooks_set(enum hook, bool on);

/* Step puts its own function behind its bit; it runs in the thread that came to the point and may hold it there. Set it
 * before the bit. What a point's object and number are follows from its name:
 *     latch.acquire, latch.acquired, latch.try, latch.release    the latch, its mode
 *     pool.*          the frame, file << 32 | page
 *     condition.*     the condition
 *     disk.begun, disk.done    the call's name (a string)
 *     atom.*          the atomic; the name ends in the text of the expression */
typedef void hook_function(const char *name, const void *object, uint64_t number);
void hook_install(enum hook, hook_function *);

/* The trace (HOOK_TRACE): the last acquisitions made under this pid (0: of all threads), oldest first. Copies
 * up to `capacity`, returns how many there were. */
struct trace_entry { uint64_t at_us; int32_t pid; uint32_t thread_number; uint16_t rank, level; uint8_t mode; uint64_t position, object; };
size_t trace_entries(int32_t pid, struct trace_entry *out, size_t capacity);

/* Staged tests: threads that reach a held point stop there until it is released. */
void point_hold(const char *name);
void point_await(const char *name);        /* until some thread stands at it */
void point_release(const char *name);      /* lets go who stands there; later ones pass */

#endif
