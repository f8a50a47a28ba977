/* base/step.h - stops the threads of a session at the page points of chosen files, until somebody lets them go.
 *
 *     step_begin(pid, files, 2);        a statement of a stepping session begins: from now on its threads stop
 *     ... the statement runs; another thread says step_go(pid, 1), step_go(pid, 1), ..., step_run(pid) ...
 *     step_end(pid);                    the statement is over, its workers are home
 *
 * A thread is of the session whose pid it shows (thread_set_pid), so parallel workers stop like their leader. It stops
 * at latch.acquire, latch.try, latch.acquired, latch.release and pool.pin of a page of those files, if the page's
 * rank is one from META to OVERFLOW. It stands there with what it holds: latches of pages and, above them, ENGINE, OPERATOR,
 * INSERT_TARGET and TREE. While it holds any other latch it doesn't stop.
 *
 * An interrupt (cancel, time limit, termination) lets all threads of the session run to the statement's end.
 * Nothing here takes a latch. Tests: tests/base/base_test.c, tests/server/step.sh */
#ifndef BASE_STEP_H
#define BASE_STEP_H

#include "base/latch.h"

#define STEP_FILES 2

/* Once, before the first step_begin. Only storage knows which latch the object of a pool.pin point has. */
void step_open(const struct latch *(*latch_of_pin)(const void *object));
void step_begin(int32_t pid, const uint32_t *files, uint32_t count);
void step_end(int32_t pid);

/* Lets every thread of the session that stands now go on, to stop at the points-th point it comes to (1: the next). How many
 * were let go. */
uint32_t step_go(int32_t pid, uint64_t points);
uint32_t step_run(int32_t pid);              /* they run until the statement ends; its other threads too */
bool     step_begun(int32_t pid);            /* is a statement of this session stepped now? */
bool     step_stands(int32_t pid);           /* does one of its threads? */
bool     step_watches(uint32_t file);        /* by anybody? */
void     step_close(void);                   /* nobody stops any more; who stands stands on, until it is interrupted or let go */

/* Around code in which the calling thread must not stop though it touches pages: the pool writing one back. */
extern _Thread_local int step_barred;

/* Who stands where. `standing` costs one load. */
extern _Atomic uint32_t step_standing;
struct step_sight {
    int32_t pid; uint32_t thread_number; char thread_name[24];
    const char *point;                       /* latch.acquired, ... */
    uint16_t rank, level; uint8_t mode; bool has_mode;   /* a pin has none */
    uint64_t position, object, stood_us;
};
size_t step_sights(struct step_sight *out, size_t capacity);

/* For thread.c: the thread was sent an interrupt. */
void step_interrupted(struct thread *);

#endif
