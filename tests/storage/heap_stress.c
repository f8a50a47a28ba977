/* tests/storage/heap_stress.c - money moved between accounts by many threads at once.
 *
 * In every snapshot the sum of all accounts is what it was: READ COMMITTED and REPEATABLE READ, with savepoints rolled
 * back, long values that move along with the money, deadlocks, vacuum beside the updates, and inserts and deletes in
 * between. Locks are taken in any order, so there are deadlocks; each must be found. At the end the heap is checked, the
 * store is opened again, and the sum is looked at once more. The exit status is the verdict.
 *
 *     heap_stress [threads [transfers of each [seed]]] */
#include "tests/storage/heap_fixture.h"

#include "base/hash.h"
#include "tests/verdict.h"

enum { ACCOUNTS = 40, BALANCE = 1000 };

static uint64_t accounts[ACCOUNTS];                       /* row ids of the roots: what an index would know */
static struct latch roots_latch;                          /* guards accounts[]: a row that moved has a new root */
static _Atomic uint64_t deadlocks, conflicts, failures, done_count;
static _Atomic bool stop;
static uint32_t transfers = 400;
static uint64_t first_seed = 1;
static char long_text[40000];

#define CHECK(condition) do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); atomic_fetch_add(&failures, 1); } } while (0)

struct sum { int64_t total; uint32_t rows; };
static void add_up(void *context, uint64_t row_id, int64_t key, int32_t number, bool null, struct varlen text)
{
    (void)row_id, (void)null;
    struct sum *sum = context;
    if (key >= ACCOUNTS)
        return;
    sum->total += number;
    sum->rows++;
    if (text.length > 100)
        CHECK(text.length == sizeof long_text && memcmp(text.bytes, long_text, sizeof long_text) == 0);
}

static void check_sum(struct txn_slot *slot, enum isolation isolation)
{
    struct txn *txn = txn_begin(store, slot, isolation, true);
    for (int round = 0; round < 2; round++) {
        struct sum sum = {0, 0};
        scan(txn, add_up, &sum);
        CHECK(sum.rows == ACCOUNTS);
        CHECK(sum.total == (int64_t)ACCOUNTS * BALANCE);
    }
    MUST(txn_commit(txn));
}

/* Adds to an account: finds the version that the snapshot sees, and under READ COMMITTED goes after it when it was
 * changed meanwhile. */
static enum status add(struct txn *txn, uint32_t account, int32_t amount, uint64_t *moved)
{
    struct snapshot snapshot;
    struct arena *arena = arena_open(NULL, "add");
    int64_t key = -1;
    int32_t number = 0;
    uint8_t nulls[3];
    struct varlen text;
    struct vector out[3] = {{&key, &nulls[0], 8, false}, {&number, &nulls[1], 4, false}, {&text, &nulls[2], WIDTH_VARLEN, false}};
    bool found, alone;
    uint64_t at, newer, new_id;
    *moved = 0;
    latch_acquire(&roots_latch, LATCH_SHARED);
    uint64_t root = accounts[account];
    latch_release(&roots_latch);
    txn_snapshot(txn, &snapshot);
    enum status status = heap_fetch(&heap, &snapshot, root, NULL, 3, out, 0, arena, &found, &at);
    /* The root may be of a version too old or too new for this snapshot: then look for the account as a scan would. */
    if (!status && (!found || key != account)) {
        txn_snapshot_done(txn);
        arena_close(arena);
        return STATUS_NOT_FOUND;
    }
    while (!status) {
        enum heap_outcome outcome;
        struct row row = {key, number + amount, false, nulls[2] ? NULL : (const char *)text.bytes, text.length};
        status = update_status(txn, at, row, LOCK_WAIT, &outcome, &new_id, &alone, &newer);
        if (status || outcome == HEAP_DONE) {
            if (!status && !alone)
                *moved = new_id;
            break;
        }
        CHECK(outcome == HEAP_UPDATED);
        if (txn_isolation(txn) == REPEATABLE_READ) {
            status = STATUS_CONFLICT;
            break;
        }
        at = newer;
        status = heap_fetch_version(&heap, at, NULL, 3, out, 0, arena, &found);
        CHECK(status || (found && key == account));
    }
    txn_snapshot_done(txn);
    arena_close(arena);
    return status;
}

static void mover(void *argument)
{
    struct txn_slot *slot;
    uint64_t seed = (uintptr_t)argument * 7919 + first_seed;
    MUST(txn_slot_open(store, 200 + (int32_t)(uintptr_t)argument, &slot));
    for (uint32_t i = 0; i < transfers && !atomic_load(&failures); i++) {
        uint64_t r = random_next(&seed);
        uint32_t from = (uint32_t)(r % ACCOUNTS), to = (uint32_t)(r / ACCOUNTS % ACCOUNTS);
        int32_t amount = (int32_t)(r >> 40 & 63);
        if (from == to)
            continue;
        struct txn *txn = txn_begin(store, slot, r >> 50 & 1 ? REPEATABLE_READ : READ_COMMITTED, false);
        txn_set_synchronous(txn, (r >> 52 & 15) == 0);
        uint64_t moved_from, moved_to = 0, ignored;
        enum status status = lock_relation(txn, heap.table, LOCK_ROW_EXCLUSIVE, LOCK_WAIT);
        if (!status && (r >> 56 & 3) == 0) {              /* something that is undone */
            int level;
            MUST(txn_savepoint(txn, &level));
            status = add(txn, (uint32_t)(r >> 20 & 1023) % ACCOUNTS, 1000000, &ignored);
            if (!status)
                MUST(txn_savepoint_rollback(txn, level));
            txn_next_command(txn);
        }
        if (!status)
            status = add(txn, from, -amount, &moved_from);
        txn_next_command(txn);
        if (!status)
            status = add(txn, to, amount, &moved_to);
        if (!status && (r >> 58 & 1)) {                   /* a row that comes and goes */
            uint64_t row = insert(txn, (struct row){ACCOUNTS + i, 5, false, "passing by", 0});
            txn_next_command(txn);
            delete(txn, row);
        }
        if (status) {
            CHECK(status == STATUS_DEADLOCK || status == STATUS_CONFLICT || status == STATUS_NOT_FOUND);
            atomic_fetch_add(status == STATUS_DEADLOCK ? &deadlocks : &conflicts, 1);
            txn_abort(txn);
            continue;
        }
        /* Roots that moved: the new ones are made known once they are seen by all later snapshots. The rows are ours
         * until then, so nobody else moves them. */
        bool keep = (r >> 60 & 7) != 0;
        if (!keep) {
            txn_abort(txn);
            continue;
        }
        if (moved_from || moved_to) {
            latch_acquire(&roots_latch, LATCH_EXCLUSIVE);
            MUST(txn_commit(txn));
            if (moved_from)
                accounts[from] = moved_from;
            if (moved_to)
                accounts[to] = moved_to;
            latch_release(&roots_latch);
        } else {
            MUST(txn_commit(txn));
        }
        atomic_fetch_add(&done_count, 1);
    }
    txn_slot_close(slot);
}

static void auditor(void *argument)
{
    struct txn_slot *slot;
    MUST(txn_slot_open(store, 300, &slot));
    while (!atomic_load(&stop))
        check_sum(slot, (uintptr_t)argument ? REPEATABLE_READ : READ_COMMITTED);
    txn_slot_close(slot);
}

static void cleaner(void *argument)
{
    (void)argument;
    struct txn_slot *slot;
    MUST(txn_slot_open(store, 400, &slot));
    for (uint32_t i = 0; !atomic_load(&stop); i++) {
        struct vacuum_result result;
        MUST(heap_vacuum(&heap, slot, i % 2, 1 << 20, NULL, NULL, &result));
        MUST(heap_check(&heap));
    }
    txn_slot_close(slot);
}

int main(int argc, char **argv)
{
    uint32_t threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 6;
    if (argc > 2)
        transfers = (uint32_t)atoi(argv[2]);
    if (argc > 3)
        first_seed = strtoull(argv[3], NULL, 10);
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = (char)(i * 131 >> 3);
    fixture_open(256);
    latch_init(&roots_latch, RANK_OPERATOR, 0, 0, 0);
    struct txn *txn = begin(0);
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        accounts[i] = insert(txn, (struct row){i, BALANCE, false, i % 8 == 0 ? long_text : i % 3 ? "a few bytes" : NULL, i % 8 == 0 ? sizeof long_text : 0});
    MUST(txn_commit(txn));

    struct thread *movers[64], *others[3];
    for (uint32_t i = 0; i < threads && i < 64; i++)
        movers[i] = thread_start("mover", mover, (void *)(uintptr_t)i);
    others[0] = thread_start("auditor", auditor, (void *)0);
    others[1] = thread_start("auditor", auditor, (void *)1);
    others[2] = thread_start("cleaner", cleaner, NULL);
    for (uint32_t i = 0; i < threads && i < 64; i++)
        thread_join(movers[i]);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        thread_join(others[i]);

    check_sum(slots[1], READ_COMMITTED);
    MUST(heap_check(&heap));
    uint32_t pages, long_pages;
    MUST(heap_pages(&heap, &pages));
    fixture_store_close();
    fixture_store_open(256);
    check_sum(slots[1], READ_COMMITTED);
    MUST(heap_check(&heap));
    struct vacuum_result result;
    for (int i = 0; i < 2; i++)
        MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    CHECK(result.rows_live == ACCOUNTS);
    MUST(pool_file_pages(store->pool, heap.overflow_file, &long_pages));
    check_sum(slots[1], READ_COMMITTED);
    fprintf(stderr, "%llu transfers committed, %llu deadlocks, %llu conflicts, %u pages, %u overflow pages\n", (unsigned long long)done_count,
            (unsigned long long)deadlocks, (unsigned long long)conflicts, pages, long_pages);
    fixture_close();
    return verdict("heap_stress", threads, (uint64_t)threads * transfers, first_seed, failures);
}
