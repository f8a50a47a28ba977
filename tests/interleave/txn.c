/* tests/interleave/txn.c - scenarios of snapshots: the limit that they copy, and the horizon behind which versions go. */
#include "tests/interleave/interleave.h"
#include "tests/interleave/power.h"
#include "tests/interleave/rows.h"

#include "storage/txn_slot.h"

#define TXNS 3
#define LAZY 2                              /* this one commits with synchronous_commit = off */

static xid_t xids[TXNS];
static unsigned acknowledged;               /* a bit each */
static lsn_t begun_at;

/* ---- a snapshot against commits under way ---- */

static unsigned seen_by(const struct snapshot *snapshot)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < TXNS; i++) {
        struct txn_view view;
        if (!xids[i])
            continue;
        must(txn_peek(store, xids[i], &view));
        if (view.state != TXN_COMMITTED || view.number > snapshot->limit)
            continue;
        seen |= 1u << i;
        check(i == LAZY || power_keeps_wal("/store/wal", begun_at, view.number), "a snapshot holds what a loss of power would take back");
    }
    return seen;
}

static void commits(void *argument)
{
    unsigned i = (unsigned)(uintptr_t)argument;
    struct txn *txn = txn_in(i);
    txn_set_synchronous(txn, i != LAZY);
    must(txn_id(txn, &xids[i]));
    must(txn_commit(txn));
    acknowledged |= 1u << i;
}

static void observes(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        unsigned before = acknowledged;
        struct snapshot snapshot;
        struct txn *txn = txn_in(TXNS);
        txn_snapshot(txn, &snapshot);
        unsigned seen = seen_by(&snapshot);
        check(!(before & ~seen), "transactions %x were acknowledged, the snapshot has %x", before, seen);
        unsigned again = seen_by(&snapshot);
        check(again == seen, "a snapshot held %x, then %x", seen, again);
        txn_snapshot_done(txn);
        must(txn_commit(txn));
    }
}

static void snapshot(void)
{
    power_begin(16);
    sessions_open(TXNS + 1);
    memset(xids, 0, sizeof xids);
    acknowledged = 0;
    begun_at = wal_next(store->wal);
    go();
    for (uintptr_t i = 0; i < TXNS; i++)
        begin("committer", commits, (void *)i);
    begin("observer", observes, NULL);
    join_all();
    on_time();
    sessions_close(TXNS + 1);
    power_end();
}

/* ---- the horizon against a snapshot that is being announced ---- */

static lsn_t in_use, highest_horizon;

static void takes_snapshot(void *argument)
{
    (void)argument;
    struct snapshot snapshot;
    struct txn *txn = txn_in(1);
    txn_snapshot(txn, &snapshot);
    in_use = snapshot.limit;
    check(in_use >= highest_horizon, "the snapshot is older than a horizon");
    must(txn_commit(txn_in(2)));            /* a few points, while it is in use */
    in_use = 0;
    txn_snapshot_done(txn);
    must(txn_commit(txn));
}

static void prunes(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        lsn_t horizon = txn_horizon(store);
        if (horizon > highest_horizon)
            highest_horizon = horizon;
        check(!in_use || horizon <= in_use, "the horizon has passed a snapshot in use");
    }
}

static void commits_lazily(void *argument)
{
    xid_t xid;
    struct txn *txn = txn_in(0);
    txn_set_synchronous(txn, false);
    must(txn_id(txn, &xid));
    must(txn_commit(txn));
    if (argument)
        prunes(NULL);
}

static void horizon(void)
{
    store_begin(16);
    sessions_open(3);
    in_use = highest_horizon = 0;
    bool three = scheduler_random() % 2;
    go();
    begin("reader", takes_snapshot, NULL);
    begin("committer", commits_lazily, three ? NULL : "prunes");
    if (three)
        begin("pruner", prunes, NULL);
    join_all();
    sessions_close(3);
    store_end();
}

/* The same through the heap: a sum over two rows, while values move from one to the other and old versions are pruned. */
static void moves(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        struct txn *txn = txn_in(0);
        must(row_add(txn, 0, 1));
        must(row_add(txn, 1, -1));
        if (i == 0 && scheduler_random() % 4 == 0)
            txn_abort(txn);
        else
            must(txn_commit(txn));
    }
}

static void sums(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        struct snapshot snapshot;
        struct txn *txn = txn_in(1);
        txn_snapshot(txn, &snapshot);
        int64_t first = row_read(&snapshot, 0), second = row_read(&snapshot, 1), again = row_read(&snapshot, 0);
        check(first + second == 0 && again == first, "a snapshot reads %lld, %lld, and %lld again", (long long)first, (long long)second, (long long)again);
        txn_snapshot_done(txn);
        must(txn_commit(txn));
    }
}

static void vacuums(void *argument)
{
    (void)argument;
    rows_vacuum(2);
    rows_vacuum(2);
}

static void prune(void)
{
    store_begin(16);
    sessions_open(3);
    rows_make(2);
    go();
    begin("mover", moves, NULL);
    begin("reader", sums, NULL);
    begin("vacuum", vacuums, NULL);
    join_all();
    on_time();
    check(row_value(0) + row_value(1) == 0, "the rows do not add up");
    sessions_close(3);
    store_end();
}

const struct scenario scenarios_txn[] = {
    {"txn.snapshot", snapshot, 0, "snapshots while three commit: all that was acknowledged, nothing that can be lost, and always the same"},
    {"txn.horizon", horizon, 2, "a snapshot is announced while the horizon is computed"},
    {"txn.prune", prune, 0, "a sum over two rows while values move and versions go"},
    {0},
};
