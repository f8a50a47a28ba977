/* course/grading.h - what the graders of all lessons share: a student's functions under the seeded scheduler.
 *
 *     static void opposite(void)                       one schedule of one trial
 *     {
 *         bank_open(&bank);
 *         begin("left", left_run, NULL);               threads; from the first on they change places at every point
 *         begin("right", right_run, NULL);
 *         join_all();
 *         require(total == 40, "%d of 40 are left", total);
 *     }
 *     const struct trial trials[] = {{.name = "opposite", .claim = "a transfer each way ends", .run = opposite}, {0}};
 *
 * Each trial runs under many seeds, random and PCT by turns, and then, where it says so, through all schedules with a few
 * preemptions. What it does must follow from the seed alone: scheduler_random(), never the clock or an address. Its static
 * variables are set anew each time. The first schedule that breaks a claim ends the trial: the grader says in words what is
 * wrong, shows the trace, and says how to run just that schedule again. So a verdict is the same on every machine, every time. */
#ifndef COURSE_GRADING_H
#define COURSE_GRADING_H

#include <stdlib.h>
#include <string.h>

#include "base/latch.h"
#include "base/scheduler.h"

struct trial {
    const char *name;               /* one word, for TRIAL= */
    const char *claim;              /* what must hold, a sentence */
    void (*run)(void);
    unsigned preemptions;           /* above 0: all schedules with at most so many are tried, too, up to 5 SEEDS */
    const char *unseen;             /* what it means if no schedule at all calls grade_seen(); NULL: it need not */
    uint32_t threads;               /* above 0: a schedule that starts more threads than this is wrong */
    const char *too_many;           /* and this is why */
};
extern const struct trial trials[]; /* of this lesson; ends with an empty row */

#define require(condition, ...) ((condition) ? (void)0 : scheduler_fail(__VA_ARGS__))

void begin(const char *name, void (*run)(void *), void *argument);
void join_all(void);                /* waits for what begin() started; each must have let go of its latches */
void grade_seen(void);              /* what the trial hopes to see has happened in this schedule */

#endif
