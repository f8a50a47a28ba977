/* tests/storage/txn_test.c - outcomes, the limit, the horizon, callbacks, status pages cut off. */
#include <criterion/criterion.h>

#include "base/hooks.h"
#include "tests/storage/heap_fixture.h"

static void open_it(void) { heap.column_count = 3; fixture_open(200); }
TestSuite(txn, .init = open_it, .fini = fixture_close, .timeout = 60);

static enum txn_state state_of(xid_t xid)
{
    enum txn_state state;
    lsn_t number;
    MUST(txn_outcome(store, xid, &state, &number));
    return state;
}

Test(txn, outcomes_survive_a_restart_and_savepoints_share_their_transactions)
{
    xid_t top, kept, undone, aborted;
    int level;
    struct txn *txn = begin(0);
    MUST(txn_id(txn, &top));
    MUST(txn_savepoint(txn, &level));
    MUST(txn_id(txn, &undone));
    MUST(txn_savepoint_rollback(txn, level));
    MUST(txn_id(txn, &kept));
    cr_expect(txn_is_mine(txn, kept) && txn_is_mine(txn, top) && !txn_is_mine(txn, undone));
    cr_expect_eq(state_of(kept), TXN_RUNNING);
    cr_expect_eq(state_of(undone), TXN_ABORTED);
    MUST(txn_commit(txn));
    txn = begin(0);
    MUST(txn_id(txn, &aborted));
    txn_abort(txn);
    for (int round = 0; round < 2; round++) {
        cr_expect_eq(state_of(top), TXN_COMMITTED);
        cr_expect_eq(state_of(kept), TXN_COMMITTED);
        cr_expect_eq(state_of(undone), TXN_ABORTED);
        cr_expect_eq(state_of(aborted), TXN_ABORTED);
        fixture_store_close();
        fixture_store_open(200);
    }
}

static uint32_t seen(int slot)
{
    struct txn *txn = begin(slot);
    uint32_t count = scan(txn, NULL, NULL);
    MUST(txn_commit(txn));
    return count;
}

static void commit_one(void *argument)
{
    struct txn *txn = begin((int)(intptr_t)argument);
    insert(txn, (struct row){1, 1, false, "x", 0});
    MUST(txn_commit(txn));
}

Test(txn, a_commit_is_in_no_snapshot_before_its_record_is_flushed)
{
    point_hold("txn.stored");
    struct thread *thread = thread_start("committer", commit_one, (void *)1);
    point_await("txn.stored");
    cr_expect_eq(seen(0), 0);
    point_release("txn.stored");
    thread_join(thread);
    cr_expect_eq(seen(0), 1);
}

Test(txn, the_horizon_stops_at_the_oldest_snapshot)
{
    struct snapshot snapshot;
    struct txn *old = txn_begin(store, slots[0], REPEATABLE_READ, true);
    txn_snapshot(old, &snapshot);
    commit_one((void *)1);
    commit_one((void *)1);
    cr_expect_eq(txn_horizon(store), snapshot.limit);
    MUST(txn_commit(old));
    cr_expect_eq(txn_horizon(store), txn_limit(store));
    struct txn *reader = begin(0);           /* READ COMMITTED holds it back only while a statement runs */
    txn_snapshot(reader, &snapshot);
    commit_one((void *)1);
    cr_expect_eq(txn_horizon(store), snapshot.limit);
    txn_snapshot_done(reader);
    cr_expect_eq(txn_horizon(store), txn_limit(store));
    MUST(txn_commit(reader));
}

static char called[16];
static void note_end(void *context, bool committed)
{
    size_t at = strlen(called);
    called[at] = *(const char *)context;
    called[at + 1] = committed ? '+' : '-';
    called[at + 2] = 0;
}

Test(txn, callbacks_run_in_order_at_commit_reversed_when_undone)
{
    int level;
    struct txn *txn = begin(0);
    txn_at_end(txn, note_end, "a");
    MUST(txn_savepoint(txn, &level));
    txn_at_end(txn, note_end, "b");
    txn_at_end(txn, note_end, "c");
    MUST(txn_savepoint_rollback(txn, level));
    cr_expect_str_eq(called, "c-b-");
    txn_at_end(txn, note_end, "d");
    MUST(txn_savepoint_release(txn, level));
    MUST(txn_commit(txn));
    cr_expect_str_eq(called, "c-b-a+d+");
}

Test(txn, files_come_and_go_with_their_transaction)
{
    struct heap other = heap;
    struct txn *txn = begin(0);
    MUST(heap_create(&other, txn));
    cr_expect(file_exists(store->files, other.file));
    txn_abort(txn);
    cr_expect_not(file_exists(store->files, other.file));
    txn = begin(0);
    heap_drop(&heap, txn);
    txn_abort(txn);
    cr_expect(file_exists(store->files, heap.file));
    txn = begin(0);
    heap_drop(&heap, txn);
    MUST(txn_commit(txn));
    cr_expect_not(file_exists(store->files, heap.file));
}

Test(txn, status_pages_below_what_is_frozen_can_go)
{
    for (int i = 0; i < 18000; i++) {                          /* a group of status pages holds 16,368 ids */
        struct txn *txn = begin(0);
        txn_set_synchronous(txn, false);
        if (i % 72 == 0) {
            insert(txn, (struct row){i, i, false, "x", 0});
        } else {
            xid_t xid;
            MUST(txn_id(txn, &xid));
        }
        MUST(txn_commit(txn));
    }
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    cr_expect_gt(result.oldest_xid, 18000);
    txn_truncate_status(store, result.oldest_xid);
    fixture_store_close();
    fixture_store_open(200);
    cr_expect_eq(seen(0), 250);
}
