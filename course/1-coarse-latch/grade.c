/* course/1-coarse-latch/grade.c - the grader of lesson 1: no money is lost, nobody waits for ever, and transfers between
 * different accounts are seen under way at once. */
#include "course/1-coarse-latch/bank.h"
#include "base/hooks.h"
#include "course/grading.h"

#define AT_FIRST 10

static struct bank bank;
static int64_t ledger[ACCOUNTS], expected[ACCOUNTS];

/* Each thread's transfer: money is in flight from its first write to its second. */
static _Thread_local int writes = -1;
static int in_flight;

int64_t ledger_read(int account)
{
    static const char *const names[ACCOUNTS] = {"read account 0", "read account 1", "read account 2", "read account 3"};
    require(account >= 0 && account < ACCOUNTS, "there is no account %d", account);
    point(names[account]);
    return ledger[account];
}

void ledger_write(int account, int64_t balance)
{
    static const char *const names[ACCOUNTS] = {"write account 0", "write account 1", "write account 2", "write account 3"};
    require(account >= 0 && account < ACCOUNTS, "there is no account %d", account);
    require(balance >= 0, "account %d is overdrawn: %lld", account, (long long)balance);
    point(names[account]);
    ledger[account] = balance;
    if (writes < 0)
        return;
    if (++writes == 1)
        in_flight++;
    else if (writes == 2)
        in_flight--;
    if (in_flight > 1)
        grade_seen();
}

static bool transfer(int from, int to, int64_t amount)
{
    writes = 0;
    bool moved = bank_transfer(&bank, from, to, amount);
    if (writes == 1)
        in_flight--;
    writes = -1;
    require(latch_held_count() == 0, "bank_transfer(%d, %d) came back and still holds a latch", from, to);
    if (moved) {
        expected[from] -= amount;
        expected[to] += amount;
    }
    return moved;
}

static void bank_begin(void)
{
    bank_open(&bank);
    in_flight = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        ledger[i] = expected[i] = AT_FIRST;
}

static void bank_end(void)
{
    join_all();
    for (int i = 0; i < ACCOUNTS; i++)
        require(ledger[i] == expected[i], "account %d holds %lld, and by the transfers that said true it should hold %lld", i, (long long)ledger[i], (long long)expected[i]);
    int64_t total = bank_total(&bank);
    require(total == AT_FIRST * ACCOUNTS, "bank_total says %lld when all is quiet, and there are %d", (long long)total, AT_FIRST * ACCOUNTS);
}

/* ---- Trials ---- */

static void transfer_pairs(void *argument)
{
    const int *pair = argument;
    transfer(pair[0], pair[1], 3);
}

static void alone(void)
{
    bank_begin();
    scheduler_interleave(true);
    require(transfer(0, 1, 4) && ledger[0] == 6 && ledger[1] == 14, "a transfer of 4 from account 0 to 1 leaves %lld and %lld instead of 6 and 14", (long long)ledger[0], (long long)ledger[1]);
    require(!transfer(0, 1, 7), "account 0 holds 6, and a transfer of 7 from it said true");
    require(transfer(2, 2, 10) && ledger[2] == 10, "a transfer of 10 from account 2 to itself leaves %lld instead of 10", (long long)ledger[2]);
    bank_end();
}

static void random_run(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        transfer((int)(scheduler_random() % ACCOUNTS), (int)(scheduler_random() % ACCOUNTS), 1 + (int64_t)(scheduler_random() % 6));
}

static void money(void)
{
    bank_begin();
    for (int i = 0; i < 3; i++)
        begin("client", random_run, NULL);
    bank_end();
}

static int taken;
static void take_run(void *unused)
{
    (void)unused;
    taken += transfer(0, 1, AT_FIRST);
}

static void last_money(void)
{
    bank_begin();
    taken = 0;
    begin("client", take_run, NULL);
    begin("client", take_run, NULL);
    join_all();
    require(taken == 1, "account 0 held %d; two transfers of all of it ran, and %d of them said true", AT_FIRST, taken);
    bank_end();
}

static void opposite(void)
{
    static int there[] = {0, 1}, back[] = {1, 0};
    bank_begin();
    begin("there", transfer_pairs, there);
    begin("back", transfer_pairs, back);
    bank_end();
}

static void ring(void)
{
    static int pairs[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    bank_begin();
    for (int i = 0; i < 3; i++)
        begin("client", transfer_pairs, pairs[i]);
    bank_end();
}

static void audit_run(void *unused)
{
    (void)unused;
    int64_t total = bank_total(&bank);
    require(total == AT_FIRST * ACCOUNTS, "bank_total says %lld, and at every moment there are %d", (long long)total, AT_FIRST * ACCOUNTS);
}

static void audit(void)
{
    static int there[] = {0, 3}, back[] = {3, 0};
    bank_begin();
    begin("there", transfer_pairs, there);
    begin("auditor", audit_run, NULL);
    begin("back", transfer_pairs, back);
    bank_end();
}

static void apart(void)
{
    static int low[] = {0, 1}, high[] = {3, 2};
    bank_begin();
    begin("low", transfer_pairs, low);
    begin("high", transfer_pairs, high);
    bank_end();
}

const struct trial trials[] = {
    {.name = "alone", .claim = "one client alone finds its money", .run = alone},
    {.name = "last", .claim = "of two who want the last money one gets it", .run = last_money, .preemptions = 2},
    {.name = "opposite", .claim = "a transfer each way: neither waits for ever", .run = opposite, .preemptions = 2},
    {.name = "ring", .claim = "three transfers in a ring: nobody waits for ever", .run = ring},
    {.name = "audit", .claim = "a total is of one moment", .run = audit, .preemptions = 1},
    {.name = "money", .claim = "clients that move money about lose none", .run = money},
    {.name = "apart", .claim = "transfers between different accounts run at once", .run = apart,
     .unseen = "two transfers, 0 to 1 and 3 to 2, were never under way at once. Something that both of them hold keeps them apart"},
    {0},
};
