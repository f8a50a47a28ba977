/* course/1-coarse-latch/solutions/wrong-as-given.c - exercise.c as it was given; copy it back to begin anew (trial: apart).
 *
 * A bank with one latch over everything. It is right, and no two transfers ever run at once. Make those of different accounts do
 * so. */
#include "course/1-coarse-latch/bank.h"

void bank_open(struct bank *bank)
{
    latch_init(&bank->whole, RANK_ENGINE, 0, 0, 0);
    for (int i = 0; i < ACCOUNTS; i++)
        latch_init(&bank->accounts[i], RANK_HEAP, 0, (uint64_t)i, 0);
}

/* ---- From here on: yours ---- */

bool bank_transfer(struct bank *bank, int from, int to, int64_t amount)
{
    latch_acquire(&bank->whole, LATCH_EXCLUSIVE);
    bool enough = ledger_read(from) >= amount;
    if (enough) {
        ledger_write(from, ledger_read(from) - amount);
        ledger_write(to, ledger_read(to) + amount);
    }
    latch_release(&bank->whole);
    return enough;
}

int64_t bank_total(struct bank *bank)
{
    int64_t total = 0;
    latch_acquire(&bank->whole, LATCH_SHARED);
    for (int i = 0; i < ACCOUNTS; i++)
        total += ledger_read(i);
    latch_release(&bank->whole);
    return total;
}
