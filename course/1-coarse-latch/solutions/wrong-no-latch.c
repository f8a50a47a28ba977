/* course/1-coarse-latch/solutions/wrong-no-latch.c - planted: no latch at all. Money is lost between a read and a write (trial: last). */
#include "course/1-coarse-latch/bank.h"

void bank_open(struct bank *bank)
{
    latch_init(&bank->whole, RANK_ENGINE, 0, 0, 0);
    for (int i = 0; i < ACCOUNTS; i++)
        latch_init(&bank->accounts[i], RANK_HEAP, 0, (uint64_t)i, 0);
}

bool bank_transfer(struct bank *bank, int from, int to, int64_t amount)
{
    (void)bank;
    bool enough = ledger_read(from) >= amount;
    if (enough) {
        ledger_write(from, ledger_read(from) - amount);
        ledger_write(to, ledger_read(to) + amount);
    }
    return enough;
}

int64_t bank_total(struct bank *bank)
{
    int64_t total = 0;
    (void)bank;
    for (int i = 0; i < ACCOUNTS; i++)
        total += ledger_read(i);
    return total;
}
