/* tests/interleave/lock.c - scenarios of the lock manager: who waits, who is granted, who is the victim.
 *
 * The model is a count of holders by table and mode, kept by the scenario: whoever is granted a lock looks whether anybody
 * holds one that conflicts. No wait for a lock may need its timer (waiters look again each second): on_time() says so. */
#include "tests/interleave/interleave.h"
#include "tests/interleave/rows.h"

#include "base/atomic.h"

#define TABLE 70

static const char *const conflicts[9] = {"", "00000001", "00000011", "00001111", "00011111", "00110111", "00111111", "01111111", "11111111"};
static int holders[4][9];                   /* plain: one thread runs at a time, and nothing here is a point */
static char order[16];
static unsigned victims, ready, finished;

static void locks_begin(void)
{
    store_begin(16);
    sessions_open(4);
    memset(holders, 0, sizeof holders);
    memset(order, 0, sizeof order);
    victims = ready = finished = 0;
}

static void locks_end(void)
{
    check(lock_sights(store, NULL, 0) == 0, "%zu locks are left", lock_sights(store, NULL, 0));
    sessions_close(4);
    store_end();
}

static void hold(uint32_t table, enum table_lock mode)
{
    for (int other = 1; other <= 8; other++)
        check(conflicts[mode][other - 1] == '0' || holders[table][other] == 0, "mode %d of table %u was granted while another holds mode %d", (int)mode, table, other);
    holders[table][mode]++;
    point("scenario.holds");
}

static void note(char who) { order[strlen(order)] = who; }

static enum status take(struct txn *txn, uint32_t table, enum table_lock mode)
{
    enum status status = lock_relation(txn, TABLE + table, mode, LOCK_WAIT);
    if (!status)
        hold(table, mode);
    return status;
}

static void leave(struct txn *txn, uint32_t table, enum table_lock mode)
{
    holders[table][mode]--;
    must(txn_commit(txn));
}

/* Everybody who comes waits until `count` are there. */
static void meet(unsigned count)
{
    ready++;
    while (ready < count)
        spin_pause();
}

static void await_queued(unsigned session)
{
    while (!session_waits(session))
        spin_pause();
}

/* ---- conflicting modes ---- */

static void any_mode(void *argument)
{
    unsigned session = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < 2; i++) {
        struct txn *txn = txn_in(session);
        enum table_lock mode = (enum table_lock)(1 + scheduler_random() % 8);
        must(take(txn, 0, mode));
        leave(txn, 0, mode);
    }
}

static void modes(void)
{
    locks_begin();
    go();
    for (uintptr_t i = 0; i < 3; i++)
        begin("locker", any_mode, (void *)i);
    join_all();
    on_time();
    locks_end();
}

/* ---- the fast lock against the strong one ---- */

static void weak(void *argument)
{
    struct txn *txn = txn_in((unsigned)(uintptr_t)argument);
    must(take(txn, 0, LOCK_ROW_EXCLUSIVE));
    leave(txn, 0, LOCK_ROW_EXCLUSIVE);
}

static void strong(void *argument)
{
    struct txn *txn = txn_in((unsigned)(uintptr_t)argument);
    must(take(txn, 0, LOCK_SHARE));
    leave(txn, 0, LOCK_SHARE);
}

static void fast_strong(void)
{
    locks_begin();
    go();
    begin("weak", weak, (void *)0);
    begin("strong", strong, (void *)1);
    join_all();
    on_time();
    locks_end();
}

/* ---- first come, first served ---- */

static void holds_first(void *argument)
{
    (void)argument;
    struct txn *txn = txn_in(0);
    must(take(txn, 0, LOCK_ACCESS_SHARE));
    meet(2);
    await_queued(1);
    if (scheduler_random() % 2)
        await_queued(2);
    leave(txn, 0, LOCK_ACCESS_SHARE);
}

static void wants_all(void *argument)
{
    (void)argument;
    meet(2);
    struct txn *txn = txn_in(1);
    must(take(txn, 0, LOCK_ACCESS_EXCLUSIVE));
    note('w');
    leave(txn, 0, LOCK_ACCESS_EXCLUSIVE);
}

static void comes_later(void *argument)
{
    (void)argument;
    while (ready < 2 || (!session_waits(1) && !order[0]))
        spin_pause();
    struct txn *txn = txn_in(2);
    must(take(txn, 0, LOCK_ACCESS_SHARE));
    note('r');
    leave(txn, 0, LOCK_ACCESS_SHARE);
}

static void fair(void)
{
    locks_begin();
    go();
    begin("holder", holds_first, NULL);
    begin("writer", wants_all, NULL);
    begin("reader", comes_later, NULL);
    join_all();
    on_time();
    check(strcmp(order, "wr") == 0, "the reader that came later went first: %s", order);
    locks_end();
}

/* ---- deadlock ---- */

static unsigned circle;                     /* so many in it */

static void crosses(void *argument)
{
    unsigned session = (unsigned)(uintptr_t)argument, next = (session + 1) % circle;
    struct txn *txn = txn_in(session);
    must(take(txn, session, LOCK_EXCLUSIVE));
    meet(circle);
    enum status status = take(txn, next, LOCK_EXCLUSIVE);
    holders[session][LOCK_EXCLUSIVE]--;
    if (!status) {
        finished++;
        leave(txn, next, LOCK_EXCLUSIVE);
        return;
    }
    check(status == STATUS_DEADLOCK, "the wait ended with %s", error_current()->message);
    victims++;
    txn_abort(txn);
}

static void deadlock_of(unsigned count)
{
    locks_begin();
    circle = count;
    go();
    for (uintptr_t i = 0; i < count; i++)
        begin("crosser", crosses, (void *)i);
    join_all();
    on_time();
    check(victims == 1 && finished == count - 1, "%u victims, %u went on", victims, finished);
    locks_end();
}

static void deadlock_two(void) { deadlock_of(2); }
static void deadlock_three(void) { deadlock_of(3); }

/* The same between two who change two rows. */
static void crosses_rows(void *argument)
{
    unsigned session = (unsigned)(uintptr_t)argument;
    struct txn *txn = txn_in(session);
    must(row_add(txn, session, 1));
    meet(2);
    enum status status = row_add(txn, 1 - session, 1);
    if (!status) {
        finished++;
        must(txn_commit(txn));
        return;
    }
    check(status == STATUS_DEADLOCK, "the wait ended with %s", error_current()->message);
    victims++;
    txn_abort(txn);
}

static void deadlock_rows(void)
{
    locks_begin();
    rows_make(2);
    go();
    begin("crosser", crosses_rows, (void *)0);
    begin("crosser", crosses_rows, (void *)1);
    join_all();
    on_time();
    check(victims == 1 && finished == 1, "%u victims, %u went on", victims, finished);
    check(row_value(0) == 1 && row_value(1) == 1, "the rows are %lld and %lld", (long long)row_value(0), (long long)row_value(1));
    locks_end();
}

/* ---- a waiter that gives up ---- */

static void gives_up(void *argument)
{
    (void)argument;
    struct txn *txn = txn_in(1);
    enum status status = take(txn, 0, LOCK_ACCESS_EXCLUSIVE);
    if (!status) {
        leave(txn, 0, LOCK_ACCESS_EXCLUSIVE);
        return;
    }
    check(status == STATUS_CANCELED || status == STATUS_LOCK_NOT_AVAILABLE, "the wait ended with %s", error_current()->message);
    note('c');
    txn_abort(txn);
}

static void waits_behind(void *argument)
{
    (void)argument;
    struct txn *txn = txn_in(2);
    must(take(txn, 0, LOCK_ACCESS_SHARE));
    finished++;
    leave(txn, 0, LOCK_ACCESS_SHARE);
}

/* The holder stays until the one behind the canceled one has got its lock. */
static void cancel(void)
{
    locks_begin();
    struct txn *txn = txn_in(0);
    must(take(txn, 0, LOCK_ACCESS_SHARE));
    go();
    struct thread *waiter = begin("waiter", gives_up, NULL);
    await_queued(1);
    begin("behind", waits_behind, NULL);
    if (scheduler_random() % 2)
        await_queued(2);
    thread_interrupt(waiter, INTERRUPT_CANCEL);
    while (!finished)
        spin_pause();
    leave(txn, 0, LOCK_ACCESS_SHARE);
    join_all();
    on_time();
    check(strcmp(order, "c") == 0, "the waiter was not canceled");
    locks_end();
}

/* It is canceled just when it is granted: either, but cleanly. */
static void cancel_or_grant(void)
{
    locks_begin();
    struct txn *txn = txn_in(0);
    must(take(txn, 0, LOCK_ACCESS_SHARE));
    go();
    struct thread *waiter = begin("waiter", gives_up, NULL);
    begin("behind", waits_behind, NULL);
    await_queued(1);
    bool cancel_first = scheduler_random() % 2;
    if (cancel_first)
        thread_interrupt(waiter, INTERRUPT_CANCEL);
    leave(txn, 0, LOCK_ACCESS_SHARE);
    if (!cancel_first)
        thread_interrupt(waiter, INTERRUPT_CANCEL);
    join_all();
    on_time();
    locks_end();
}

static void times_out(void *argument)
{
    lock_timeout_ms = 1;
    gives_up(argument);
}

static void timeout_or_grant(void)
{
    locks_begin();
    struct txn *txn = txn_in(0);
    must(take(txn, 0, LOCK_ACCESS_SHARE));
    go();
    begin("waiter", times_out, NULL);
    begin("behind", waits_behind, NULL);
    sleep_us(scheduler_random() % 2000);
    leave(txn, 0, LOCK_ACCESS_SHARE);
    join_all();
    on_time();
    locks_end();
}

/* ---- rows ---- */

static int row_shares, row_updates;

/* KEY SHARE lets an update of other columns by: the lock must go along to the new version. */
static void shares_row(void *argument)
{
    (void)argument;
    struct txn *txn = txn_in(0);
    must(row_lock(txn, 0, ROW_KEY_SHARE));
    check(!row_updates, "KEY SHARE was granted beside UPDATE");
    row_shares++;
    meet(2);
    sleep_us(scheduler_random() % 200);
    row_shares--;
    must(txn_commit(txn));
}

static void updates_row(void *argument)
{
    (void)argument;
    struct txn *txn = txn_in(1);
    must(row_add(txn, 0, 1));
    must(txn_commit(txn));
}

static void locks_row(void *argument)
{
    (void)argument;
    meet(2);
    struct txn *txn = txn_in(2);
    must(row_lock(txn, 0, ROW_UPDATE));
    check(!row_shares, "UPDATE was granted beside KEY SHARE");
    row_updates++;
    sleep_us(1);
    row_updates--;
    must(txn_commit(txn));
}

static void row_follows(void)
{
    locks_begin();
    rows_make(1);
    row_shares = row_updates = 0;
    go();
    begin("shares", shares_row, NULL);
    begin("updates", updates_row, NULL);
    begin("locks", locks_row, NULL);
    join_all();
    on_time();
    check(row_value(0) == 1, "the row is %lld", (long long)row_value(0));
    locks_end();
}

/* Three add to one row: no addition is lost, and each is woken when it is its turn. */
static void adds(void *argument)
{
    unsigned session = (unsigned)(uintptr_t)argument;
    struct txn *txn = txn_in(session);
    must(row_add(txn, 0, INT64_C(1) << 4 * session));
    if (scheduler_random() % 4 == 0) {
        order[session] = 'a';
        txn_abort(txn);
    } else
        must(txn_commit(txn));
}

static void hot_row(void)
{
    locks_begin();
    rows_make(1);
    go();
    for (uintptr_t i = 0; i < 3; i++)
        begin("adder", adds, (void *)i);
    join_all();
    on_time();
    int64_t expected = 0;
    for (int i = 0; i < 3; i++)
        expected += order[i] == 'a' ? 0 : INT64_C(1) << 4 * i;
    check(row_value(0) == expected, "the row is %llx instead of %llx", (unsigned long long)row_value(0), (unsigned long long)expected);
    locks_end();
}

/* A savepoint's locks go when it is rolled back; who waits for them goes on though the transaction lives. */
static void rolls_back(void *argument)
{
    (void)argument;
    struct txn *txn = txn_in(0);
    int level;
    must(take(txn, 1, LOCK_ROW_EXCLUSIVE));
    must(txn_savepoint(txn, &level));
    must(take(txn, 0, LOCK_EXCLUSIVE));
    must(row_add(txn, 0, 1));
    meet(3);
    holders[0][LOCK_EXCLUSIVE]--;
    must(txn_savepoint_rollback(txn, level));
    while (finished < 2)
        spin_pause();
    leave(txn, 1, LOCK_ROW_EXCLUSIVE);
}

static void wants_table(void *argument)
{
    (void)argument;
    meet(3);
    struct txn *txn = txn_in(1);
    must(take(txn, 0, LOCK_EXCLUSIVE));
    finished++;
    leave(txn, 0, LOCK_EXCLUSIVE);
}

static void wants_row(void *argument)
{
    (void)argument;
    meet(3);
    struct txn *txn = txn_in(2);
    must(row_add(txn, 0, 2));
    finished++;
    must(txn_commit(txn));
}

static void savepoint(void)
{
    locks_begin();
    rows_make(1);
    go();
    begin("rolls back", rolls_back, NULL);
    begin("wants table", wants_table, NULL);
    begin("wants row", wants_row, NULL);
    join_all();
    on_time();
    check(row_value(0) == 2, "the row is %lld", (long long)row_value(0));
    locks_end();
}

const struct scenario scenarios_lock[] = {
    {"lock.modes", modes, 0, "three take one table in any mode: holders never conflict"},
    {"lock.fast_strong", fast_strong, 2, "a fast weak lock against a strong one"},
    {"lock.fair", fair, 0, "a reader that comes after a waiting writer goes after it"},
    {"lock.deadlock_two", deadlock_two, 0, "two cross: one victim, at once, the other goes on"},
    {"lock.deadlock_three", deadlock_three, 0, "three in a circle: one victim"},
    {"lock.deadlock_rows", deadlock_rows, 0, "two who change two rows crosswise"},
    {"lock.cancel", cancel, 0, "a waiter is canceled: who waits behind it is served"},
    {"lock.cancel_or_grant", cancel_or_grant, 0, "a waiter is canceled as it is granted"},
    {"lock.timeout_or_grant", timeout_or_grant, 0, "a waiter's time is up as it is granted"},
    {"lock.row_follows", row_follows, 0, "a row's lock goes along with its update"},
    {"lock.hot_row", hot_row, 0, "three add to one row, some roll back"},
    {"lock.savepoint", savepoint, 0, "a rolled-back savepoint lets its locks and rows go"},
    {0},
};
