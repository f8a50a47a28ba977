/* base/step.c - threads that stop at page points (crab.step).
 *
 *                     a page point of a watched file
 *     running ------------------------------------------> standing
 *        ^                                                    |
 *        +---- step_go, step_run, an interrupt ---------------+
 *
 * 1. A watch is one session's stepped statement; a thread finds its own by the pid it shows. `running` is set when the
 *    session shall stop no more in this statement.
 * 2. Everything here stands under one guard, which no thread holds for longer than a few instructions. Those who stand sleep
 *    on one futex word, `turn`, and all look again when it changes: there are few.
 * 3. An interrupt sets the thread's bits first, and then comes here (step_interrupted) if the hook is on; step_begin sets the
 *    hook first, and then looks at the bits: one of the two sees the other. So does who is about to stand, under the guard. The
 *    leader may have taken its bits already when a worker comes to its next point, so `running` says it too.
 * 4. A thread that holds a latch which is not a page's, nor one of those that stay held over a whole step (MAY_HOLD), does not
 *    stop: so nobody who stands holds a latch of the pool, the WAL, the catalog, the lock manager or the server. */
#include "base/step.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

#define relaxed_load(p) atomic_load_explicit((p), memory_order_relaxed)

#define MAY_HOLD (1u << RANK_ENGINE | 1u << RANK_OPERATOR | 1u << RANK_INSERT_TARGET | 1u << RANK_TREE | \
                  1u << RANK_META | 1u << RANK_NODE | 1u << RANK_HEAP | 1u << RANK_OVERFLOW)
_Static_assert(RANK_COUNT <= 32, "MAY_HOLD has a bit for each rank");

struct standing {                            /* on the stack of the thread that stands */
    struct standing *next;
    struct step_sight sight;                 /* stood_us: since when */
    uint64_t go;                             /* 0: stand on */
};

struct watch {
    struct watch *next;
    int32_t pid;                             /* 0: free */
    uint64_t number;                         /* which statement, of all that were ever stepped */
    uint32_t files[STEP_FILES], file_count;
    bool running;
    struct standing *standing;
};

_Atomic uint32_t step_standing;
_Thread_local int step_barred;

static _Atomic uint32_t guard;               /* over all that follows, and the watches */
static struct watch *watches;                /* the list only grows: records are used again */
static uint32_t watch_count;                 /* in use */
static uint64_t statements;
static bool closed;
static _Atomic uint32_t turn;
static const struct latch *(*_Atomic pin_latch)(const void *);

static _Thread_local struct { uint64_t statement, left; } allowed;   /* points that this thread may still pass */

static void changed(void)
{
    atomic_fetch_add(&turn, 1);
    futex_wake(&turn, INT32_MAX, FUTEX_ALL_BITS);
}

static struct watch *watch_of(int32_t pid)
{
    struct watch *watch = watches;
    while (watch && watch->pid != pid)
        watch = watch->next;
    return watch;
}

static bool watch_has(const struct watch *watch, uint64_t file)
{
    for (uint32_t i = 0; i < watch->file_count; i++)
        if (watch->files[i] == file)
            return true;
    return false;
}

/* ---- In the thread that comes to a point ---- */

static bool may_stand(struct thread *self)
{
    for (uint32_t i = 0; i < relaxed_load(&self->held_count); i++)
        if (!(1u << (relaxed_load(&self->held[i].what) & 0xffff) & MAY_HOLD))
            return false;                    /* rule 4 */
    return true;
}

static void stand(struct watch *watch, struct thread *self, const char *name, const struct latch *latch, uint64_t mode, bool pin)
{
    struct standing me = {
        .next = watch->standing,
        .sight = {.pid = watch->pid, .thread_number = self->number, .point = name, .rank = latch->rank, .level = latch->level,
                  .mode = (uint8_t)mode, .has_mode = !pin, .position = latch->position, .object = latch->object, .stood_us = now_us()},
    };
    memcpy(me.sight.thread_name, self->shown_name, sizeof me.sight.thread_name - 1);
    watch->standing = &me;
    atomic_fetch_add(&step_standing, 1);
    while (!me.go && !watch->running && !atomic_load(&self->interrupts)) {
        uint32_t seen = atomic_load(&turn);
        guard_drop(&guard);
        futex_wait(&turn, seen, FUTEX_ALL_BITS, 0);
        guard_take(&guard);
    }
    struct standing **link = &watch->standing;
    while (*link != &me)
        link = &(*link)->next;
    *link = me.next;
    atomic_fetch_sub(&step_standing, 1);
    allowed.statement = watch->number;
    allowed.left = me.go ? me.go - 1 : 0;
}

static void step_point(const char *name, const void *object, uint64_t number)
{
    bool pin = strcmp(name, "pool.pin") == 0;
    if (step_barred || (!pin && strncmp(name, "latch.", 6) != 0))
        return;
    struct thread *self = thread_here();
    int32_t pid = relaxed_load(&self->pid);
    const struct latch *latch = pin ? atomic_load_explicit(&pin_latch, memory_order_acquire)(object) : object;
    if (!pid || latch->rank < RANK_META || latch->rank > RANK_OVERFLOW || !may_stand(self))
        return;
    guard_take(&guard);
    struct watch *watch = watch_of(pid);
    if (watch && !watch->running && !closed && watch_has(watch, latch->object >> 32)) {
        if (allowed.statement == watch->number && allowed.left > 0)
            allowed.left--;
        else
            stand(watch, self, name, latch, number, pin);
    }
    guard_drop(&guard);
}

/* ---- In the session ---- */

void step_open(const struct latch *(*latch_of_pin)(const void *))
{
    atomic_store(&pin_latch, latch_of_pin);
    hook_install(HOOK_STEP, step_point);
}

void step_begin(int32_t pid, const uint32_t *files, uint32_t count)
{
    ASSERT(atomic_load(&pin_latch) && pid && count <= STEP_FILES);
    guard_take(&guard);
    ASSERT(!watch_of(pid));
    struct watch *watch = watch_of(0);
    if (!watch) {
        watch = calloc(1, sizeof *watch);
        if (!watch)
            panic("out of memory: no room for a stepped statement");
        watch->next = watches;
        watches = watch;
    }
    watch->pid = pid;
    watch->number = ++statements;
    memcpy(watch->files, files, count * sizeof *files);
    watch->file_count = count;
    if (watch_count++ == 0)
        hooks_set(HOOK_STEP, true);
    watch->running = atomic_load(&thread_here()->interrupts) != 0;   /* asked after the hook is on: rule 3 */
    guard_drop(&guard);
}

void step_end(int32_t pid)
{
    guard_take(&guard);
    struct watch *watch = watch_of(pid);
    if (watch) {
        ASSERT(!watch->standing);
        watch->pid = 0;
        if (--watch_count == 0)
            hooks_set(HOOK_STEP, false);
    }
    guard_drop(&guard);
}

void step_interrupted(struct thread *thread)
{
    guard_take(&guard);
    int32_t pid = relaxed_load(&thread->pid);
    struct watch *watch = pid ? watch_of(pid) : NULL;
    if (watch) {
        watch->running = true;
        changed();
    }
    guard_drop(&guard);
}

/* ---- In those who steer and look ---- */

static uint32_t let_go(int32_t pid, uint64_t points)
{
    uint32_t count = 0;
    guard_take(&guard);
    struct watch *watch = pid ? watch_of(pid) : NULL;
    for (struct standing *at = watch ? watch->standing : NULL; at; at = at->next)
        if (!at->go && !watch->running) {
            at->go = points ? points : 1;
            count++;
        }
    if (count) {
        watch->running = points == 0;
        changed();
    }
    guard_drop(&guard);
    return count;
}

uint32_t step_go(int32_t pid, uint64_t points)
{
    ASSERT(points > 0);
    return let_go(pid, points);
}

uint32_t step_run(int32_t pid)
{
    return let_go(pid, 0);
}

bool step_begun(int32_t pid)
{
    guard_take(&guard);
    bool begun = pid && watch_of(pid);
    guard_drop(&guard);
    return begun;
}

bool step_stands(int32_t pid)
{
    guard_take(&guard);
    const struct watch *watch = pid ? watch_of(pid) : NULL;
    bool stands = watch && watch->standing && !watch->running;
    guard_drop(&guard);
    return stands;
}

bool step_watches(uint32_t file)
{
    bool found = false;
    guard_take(&guard);
    for (struct watch *watch = watches; watch; watch = watch->next)
        found = found || (watch->pid && watch_has(watch, file));
    guard_drop(&guard);
    return found;
}

void step_close(void)
{
    guard_take(&guard);
    closed = true;
    guard_drop(&guard);
}

/* Who has been let go, but has not woken yet, stands no more. */
size_t step_sights(struct step_sight *out, size_t capacity)
{
    size_t found = 0;
    uint64_t now = now_us();
    guard_take(&guard);
    for (struct watch *watch = watches; watch; watch = watch->next)
        for (struct standing *at = watch->pid && !watch->running ? watch->standing : NULL; at; at = at->next) {
            if (at->go)
                continue;
            if (found < capacity) {
                out[found] = at->sight;
                out[found].stood_us = now > at->sight.stood_us ? now - at->sight.stood_us : 0;
            }
            found++;
        }
    guard_drop(&guard);
    return found;
}
