/* course/1-coarse-latch/solutions/solution.c - one way to do it: a latch an account, taken by rising number and held to the end. */
#include "course/1-coarse-latch/bank.h"

void bank_open(struct bank *bank)
{
    latch_init(&bank->whole, RANK_ENGINE, 0, 0, 0);
    for (int i = 0; i < ACCOUNTS; i++)
        latch_init(&bank->accounts[i], RANK_HEAP, 0, (uint64_t)i, 0);
}

/* Both accounts, always in the order of their numbers; one that is both is latched once. */
static void pair_acquire(struct bank *bank, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    latch_acquire(&bank->accounts[low], LATCH_EXCLUSIVE);
    if (high != low)
        latch_acquire(&bank->accounts[high], LATCH_EXCLUSIVE);
}

static void pair_release(struct bank *bank, int from, int to)
{
    latch_release(&bank->accounts[from]);
    if (to != from)
        latch_release(&bank->accounts[to]);
}

bool bank_transfer(struct bank *bank, int from, int to, int64_t amount)
{
    pair_acquire(bank, from, to);
    bool enough = ledger_read(from) >= amount;
    if (enough) {
        ledger_write(from, ledger_read(from) - amount);
        ledger_write(to, ledger_read(to) + amount);
    }
    pair_release(bank, from, to);
    return enough;
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
