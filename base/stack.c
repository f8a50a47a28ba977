/* base/stack.c - how deep a stack is, and coroutines: ucontext's switches, with a guard page below each stack.
 *
 * A stack takes STACK_BYTES of addresses; memory only as far as it was touched. Sanitizers keep books by stack and are told of every switch. */
#include "base/stack.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/error.h"

#if defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifdef TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES ((size_t)8 << 20)
#define STACK_SPARE ((size_t)512 << 10)  /* what is left when a stack is called deep: room for whatever a step calls that doesn't ask */

/* Where the stack in use must not go below; NULL: the thread's own, not looked up yet. */
static _Thread_local char *stack_floor;

static char *stack_find_floor(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &lowest, &bytes) != 0)
            bytes = 0;
        pthread_attr_destroy(&attributes);
    }
    if (bytes == 0)                      /* unknown: allow what the smallest stack in use could still hold */
        return (char *)__builtin_frame_address(0) - 256 * 1024;
    if (bytes > 64 * 1024 * 1024) {      /* an unlimited stack: use no more than this */
        lowest = (char *)lowest + bytes - 64 * 1024 * 1024;
        bytes = 64 * 1024 * 1024;
    }
    return (char *)lowest + (bytes / 4 < STACK_SPARE ? bytes / 4 : STACK_SPARE);
}

bool stack_is_deep(void)
{
    if (!stack_floor)
        stack_floor = stack_find_floor();
    return (char *)__builtin_frame_address(0) < stack_floor;
}

/* ---- coroutines ---- */

struct coroutine {
    ucontext_t inside, outside;
    struct coroutine *outer;             /* the one that entered it; NULL: the thread itself */
    void (*work)(void *);
    void *context;
    char *stack;                         /* its guard page first */
    size_t guard_bytes;
    char *outer_floor;
    bool entered, done;
#ifdef TSAN
    void *fiber, *outer_fiber;
#endif
#ifdef ASAN
    void *fake, *outer_fake;
    const void *outer_bottom;
    size_t outer_bytes;
#endif
};

static _Thread_local struct coroutine *current;

/* On the stack that was just switched to. */
static void arrived_inside(struct coroutine *c)
{
#ifdef ASAN
    __sanitizer_finish_switch_fiber(c->fake, &c->outer_bottom, &c->outer_bytes);
#else
    (void)c;
#endif
}

static void switch_out(struct coroutine *c)
{
#ifdef TSAN
    __tsan_switch_to_fiber(c->outer_fiber, 0);
#endif
#ifdef ASAN
    __sanitizer_start_switch_fiber(c->done ? NULL : &c->fake, c->outer_bottom, c->outer_bytes);
#endif
    swapcontext(&c->inside, &c->outside);
    arrived_inside(c);
}

static void begin(unsigned high, unsigned low)
{
    struct coroutine *c = (struct coroutine *)(((uintptr_t)high << 16 << 16) | low);
    arrived_inside(c);
    c->work(c->context);
    c->done = true;
    switch_out(c);
    panic("a coroutine was entered that is done");
}

static void stack_prepare(struct coroutine *c)
{
    getcontext(&c->inside);
    c->inside.uc_stack.ss_sp = c->stack + c->guard_bytes;
    c->inside.uc_stack.ss_size = STACK_BYTES;
    makecontext(&c->inside, (void (*)(void))begin, 2, (unsigned)((uintptr_t)c >> 16 >> 16), (unsigned)(uintptr_t)c);
}

struct coroutine *coroutine_open(void (*work)(void *context), void *context)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct coroutine *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->stack = mmap(NULL, page + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (c->stack == MAP_FAILED || mprotect(c->stack, page, PROT_NONE)) {
        if (c->stack != MAP_FAILED)
            munmap(c->stack, page + STACK_BYTES);
        free(c);
        return NULL;
    }
#ifdef MADV_NOHUGEPAGE
    madvise(c->stack, page + STACK_BYTES, MADV_NOHUGEPAGE);  /* a shallow run touches a few kilobytes of it */
#endif
    c->guard_bytes = page;
    c->work = work;
    c->context = context;
    stack_prepare(c);
#ifdef TSAN
    c->fiber = __tsan_create_fiber(0);
#endif
    return c;
}

bool coroutine_enter(struct coroutine *c)
{
    ASSERT(!c->done);
    c->entered = true;
    c->outer = current;
    c->outer_floor = stack_floor;
    current = c;
    stack_floor = c->stack + c->guard_bytes + STACK_SPARE;
#ifdef TSAN
    c->outer_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(c->fiber, 0);
#endif
#ifdef ASAN
    __sanitizer_start_switch_fiber(&c->outer_fake, c->stack + c->guard_bytes, STACK_BYTES);
#endif
    swapcontext(&c->outside, &c->inside);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(c->outer_fake, NULL, NULL);
#endif
    current = c->outer;
    stack_floor = c->outer_floor;
    return !c->done;
}

void coroutine_leave(void)
{
    ASSERT(current);
    switch_out(current);
}

void coroutine_close(struct coroutine *c)
{
    if (!c)
        return;
    ASSERT(c->done || !c->entered);
#ifdef TSAN
    __tsan_destroy_fiber(c->fiber);
#endif
    munmap(c->stack, c->guard_bytes + STACK_BYTES);
    free(c);
}
