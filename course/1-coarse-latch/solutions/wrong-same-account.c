/* course/1-coarse-latch/solutions/wrong-same-account.c - planted: forgets that from and to may be one account, and waits for
 * itself (trial: alone). */
#include "course/1-coarse-latch/bank.h"

void bank_open(struct bank *bank)
{
    latch_init(&bank->whole, RANK_ENGINE, 0, 0, 0);
    for (int i = 0; i < ACCOUNTS; i++)
        latch_init(&bank->accounts[i], RANK_HEAP, 0, (uint64_t)i, 0);
}

bool bank_transfer(struct bank *bank, int from, int to, int64_t amount)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    latch_acquire(&bank->accounts[low], LATCH_EXCLUSIVE);
    latch_acquire(&bank->accounts[high], LATCH_EXCLUSIVE);
    bool enough = ledger_read(from) >= amount;
    if (enough) {
        ledger_write(from, ledger_read(from) - amount);
        ledger_write(to, ledger_read(to) + amount);
    }
    latch_release(&bank->accounts[low]);
    latch_release(&bank->accounts[high]);
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
