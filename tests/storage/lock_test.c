/* tests/storage/lock_test.c - lock modes, queues, savepoints, limits. Waiting itself: lock_stress.c. */
#include <criterion/criterion.h>

#include "tests/storage/heap_fixture.h"

static void open_it(void) { fixture_open(64); }
TestSuite(lock, .init = open_it, .fini = fixture_close, .timeout = 60);

Test(lock, modes_conflict_as_in_PostgreSQL)
{
    static const char *conflicts[9] = {"", "00000001", "00000011", "00001111", "00011111", "00110111", "00111111", "01111111", "11111111"};
    for (int held = 1; held <= 8; held++) {
        for (int wanted = 1; wanted <= 8; wanted++) {
            struct txn *a = begin(0), *b = begin(1);
            MUST(lock_relation(a, 5, (enum table_lock)held, LOCK_WAIT));
            enum status status = lock_relation(b, 5, (enum table_lock)wanted, LOCK_NOWAIT);
            cr_expect_eq(status != STATUS_OK, conflicts[held][wanted - 1] == '1', "held %d, wanted %d", held, wanted);
            MUST(txn_commit(a));
            if (status)
                MUST(lock_relation(b, 5, (enum table_lock)wanted, LOCK_NOWAIT));
            MUST(txn_commit(b));
        }
    }
}

Test(lock, a_savepoint_rolled_back_lets_its_locks_go)
{
    struct txn *a = begin(0), *b = begin(1);
    int level;
    MUST(lock_relation(a, 5, LOCK_ROW_EXCLUSIVE, LOCK_WAIT));
    MUST(txn_savepoint(a, &level));
    MUST(lock_relation(a, 5, LOCK_ACCESS_EXCLUSIVE, LOCK_WAIT));
    cr_expect(lock_relation_held(a, 5, LOCK_SHARE));
    cr_expect_neq(lock_relation(b, 5, LOCK_ACCESS_SHARE, LOCK_NOWAIT), STATUS_OK);
    MUST(txn_savepoint_rollback(a, level));
    MUST(lock_relation(b, 5, LOCK_ACCESS_SHARE, LOCK_NOWAIT));
    cr_expect_neq(lock_relation(b, 5, LOCK_SHARE, LOCK_NOWAIT), STATUS_OK);
    MUST(txn_commit(a));
    MUST(lock_relation(b, 5, LOCK_SHARE, LOCK_NOWAIT));
    MUST(txn_commit(b));
}

Test(lock, fast_locks_are_seen_by_a_strong_request_and_in_the_view)
{
    struct txn *a = begin(0), *b = begin(1);
    for (uint32_t table = 1; table <= 40; table++)
        MUST(lock_relation(a, table, LOCK_ROW_SHARE, LOCK_WAIT));
    struct lock_sight sights[100];
    cr_expect_eq(lock_sights(store, sights, 100), 40);
    for (uint32_t table = 1; table <= 40; table++)
        cr_expect_neq(lock_relation(b, table, LOCK_ACCESS_EXCLUSIVE, LOCK_NOWAIT), STATUS_OK);
    MUST(txn_commit(a));
    for (uint32_t table = 1; table <= 40; table++)
        MUST(lock_relation(b, table, LOCK_ACCESS_EXCLUSIVE, LOCK_NOWAIT));
    MUST(txn_commit(b));
    cr_expect_eq(lock_sights(store, sights, 100), 0);
}

Test(lock, row_locks_past_the_memory_limit_are_refused)
{
    struct txn *a = begin(0);
    enum status status = STATUS_OK;
    uint64_t taken = 0;
    for (; taken < 1000000 && !status; taken++)
        status = lock_row_take(a, 1234, taken, ROW_SHARE);
    cr_expect_eq(status, STATUS_OUT_OF_MEMORY);
    cr_expect_str_eq(error_current()->message, "out of shared memory");
    txn_abort(a);
    cr_expect_not(lock_row_any(store, 1234));
}

Test(lock, a_timeout_ends_a_wait)
{
    struct txn *a = begin(0), *b = begin(1);
    MUST(lock_relation(a, 5, LOCK_EXCLUSIVE, LOCK_WAIT));
    lock_timeout_ms = 10;
    cr_expect_eq(lock_relation(b, 5, LOCK_SHARE, LOCK_WAIT), STATUS_LOCK_NOT_AVAILABLE);
    cr_expect_str_eq(error_current()->message, "canceling statement due to lock timeout");
    lock_timeout_ms = 0;
    MUST(txn_commit(a));
    MUST(lock_relation(b, 5, LOCK_SHARE, LOCK_WAIT));
    MUST(txn_commit(b));
}

Test(lock, an_interrupt_ends_a_wait)
{
    struct txn *a = begin(0), *b = begin(1);
    xid_t xid;
    MUST(txn_id(a, &xid));
    thread_interrupt(thread_self(), INTERRUPT_CANCEL);
    cr_expect_eq(txn_wait(b, xid), STATUS_CANCELED);
    cr_expect_str_eq(error_current()->message, "canceling statement due to user request");
    MUST(txn_commit(a));
    MUST(txn_wait(b, xid));
    MUST(txn_commit(b));
}
