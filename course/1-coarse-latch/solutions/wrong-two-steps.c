/* course/1-coarse-latch/solutions/wrong-two-steps.c - planted: takes from one account, lets go, and gives to the other. A total
 * misses what is under way (trial: audit). */
#include "course/1-coarse-latch/bank.h"

void bank_open(struct bank *bank)
{
    latch_init(&bank->whole, RANK_ENGINE, 0, 0, 0);
    for (int i = 0; i < ACCOUNTS; i++)
        latch_init(&bank->accounts[i], RANK_HEAP, 0, (uint64_t)i, 0);
}

bool bank_transfer(struct bank *bank, int from, int to, int64_t amount)
{
    latch_acquire(&bank->accounts[from], LATCH_EXCLUSIVE);
    bool enough = ledger_read(from) >= amount;
    if (enough)
        ledger_write(from, ledger_read(from) - amount);
    latch_release(&bank->accounts[from]);
    if (!enough)
        return false;
    latch_acquire(&bank->accounts[to], LATCH_EXCLUSIVE);
    ledger_write(to, ledger_read(to) + amount);
    latch_release(&bank->accounts[to]);
    return true;
}

int64_t bank_total(struct bank *bank)
{
    int64_t total = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        latch_acquire(&bank->accounts[i], LATCH_SHARED);
    for (int i = 0; i < ACCOUNTS; i++)
        total += ledger_read(i);
    for (int i = 0; i < ACCOUNTS; i++)
        latch_release(&bank->accounts[i]);
    return total;
}
