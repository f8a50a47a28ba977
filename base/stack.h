/* base/stack.h - the calling thread's stack, and functions that run on a stack of their own.
 *
 * A coroutine is a function that can be left half-way and entered again:
 *
 *     struct coroutine *c = coroutine_open(work, context);     NULL: no memory for a stack
 *     while (coroutine_enter(c))                               false: work has returned
 *         ...                                                  work called coroutine_leave()
 *     coroutine_close(c);                                      when work has returned, or was never entered
 *
 * It runs in the thread that enters it, which must always be the same: what is kept by thread is that thread's. So it must hold no
 * latch and no pin when it leaves. Coroutines may enter others. */
#ifndef BASE_STACK_H
#define BASE_STACK_H

#include <stdbool.h>

/* True when the calling thread, or the coroutine it is in, has little stack left: for any recursive walk. */
bool stack_is_deep(void);

struct coroutine;
struct coroutine *coroutine_open(void (*work)(void *context), void *context);
bool coroutine_enter(struct coroutine *);
void coroutine_leave(void);              /* in one; back in coroutine_enter()'s caller */
void coroutine_close(struct coroutine *);

#endif
