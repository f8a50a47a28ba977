/* course/1-coarse-latch/bank.h - the exercise of lesson 1: a bank whose transfers shall run at once.
 *
 * You write the three functions, in exercise.c. The balances stand in a ledger that is the grader's; each read and each write of
 * it is a point where another thread may go on. All latches are made by bank_open, as they stand here or as you need them. */
#ifndef COURSE_BANK_H
#define COURSE_BANK_H

#include "base/latch.h"

#define ACCOUNTS 4

struct bank {
    struct latch whole;             /* rank ENGINE: the coarse one */
    struct latch accounts[ACCOUNTS];/* rank HEAP, position = account: a rank that is ordered by number */
};

void bank_open(struct bank *);

/* Moves `amount` (above 0), and says true. When `from` has less than that: false, and nothing has changed. `from` and `to` may be
 * the same account. Transfers between different accounts run at once. */
bool bank_transfer(struct bank *, int from, int to, int64_t amount);

/* What all accounts hold together, at one moment. */
int64_t bank_total(struct bank *);

/* The grader's. */
int64_t ledger_read(int account);
void    ledger_write(int account, int64_t balance);

#endif
