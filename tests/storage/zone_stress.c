/* tests/storage/zone_stress.c - rows change class while zone maps are asked for them.
 *
 * Every transaction makes one row high that was low, and one low that was high; or it inserts a row and deletes it again; some roll back. So in
 * every snapshot the rows of each class are as many as at first, whatever pages were counted by their zone, skipped, or read.
 * Vacuum runs beside it and gives pages their flag back. The exit status is the verdict.
 *
 *     zone_stress [writers [transactions of each [seed]]] */
#include "tests/storage/heap_fixture.h"

#include "base/hash.h"
#include "storage/zone.h"
#include "tests/verdict.h"

enum { PAIRS = 600, HIGH = 1000 };

static uint64_t ids[2][PAIRS];                            /* row ids: a low row and a high one */
static struct latch pair_latch;                           /* guards ids[]; held over a transaction, so that writers take turns */
static _Atomic uint64_t failures, done_count, whole, skipped;
static _Atomic bool stop;
static uint32_t transactions = 600;
static uint64_t first_seed = 1;

#define CHECK(condition) do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); atomic_fetch_add(&failures, 1); } } while (0)

static void writer(void *argument)
{
    struct txn_slot *slot;
    uint64_t seed = (uintptr_t)argument * 7919 + first_seed;
    MUST(txn_slot_open(store, 200 + (int32_t)(uintptr_t)argument, &slot));
    for (uint32_t i = 0; i < transactions && !atomic_load(&failures); i++) {
        uint64_t r = random_next(&seed);
        uint32_t n = (uint32_t)(r % PAIRS);
        latch_acquire(&pair_latch, LATCH_EXCLUSIVE);
        struct txn *txn = txn_begin(store, slot, READ_COMMITTED, false);
        txn_set_synchronous(txn, false);
        MUST(lock_relation(txn, heap.table, LOCK_ROW_EXCLUSIVE, LOCK_WAIT));
        if (r >> 40 & 1) {
            uint64_t high = update(txn, ids[0][n], (struct row){n, HIGH + (int32_t)n, false, NULL, 0});
            txn_next_command(txn);
            uint64_t low = update(txn, ids[1][n], (struct row){n, (int32_t)n % HIGH, false, NULL, 0});
            if (r >> 41 & 1) {
                MUST(txn_commit(txn));
                ids[0][n] = low;
                ids[1][n] = high;
            } else {
                txn_abort(txn);
            }
        } else {
            uint64_t row = insert(txn, (struct row){-1, 7, false, NULL, 0});
            txn_next_command(txn);
            delete(txn, row);
            if (r >> 41 & 1)
                MUST(txn_commit(txn));
            else
                txn_abort(txn);
        }
        latch_release(&pair_latch);
        atomic_fetch_add(&done_count, 1);
    }
    txn_slot_close(slot);
}

/* How many rows have a number in low .. high; by zones wherever they know. */
static uint32_t count_class(const struct snapshot *snapshot, int64_t low, int64_t high)
{
    struct zone_map *map = zone_map(&heap);
    struct zone_test test = {.column = 1, .low = low, .high = high};
    struct heap_look *look = malloc(sizeof *look);
    uint32_t pages, count = 0;
    CHECK(zone_track(map, 1, &test.slot));
    MUST(heap_pages(&heap, &pages));
    for (uint32_t p = 0; p < pages; p++) {
        struct page_ref ref;
        struct vector v;
        uint16_t rows;
        uint64_t seen;
        enum zone_answer answer = zone_ask(map, p, &test, 1, &rows, &seen);
        if (answer != ZONE_SOME) {
            count += answer == ZONE_ALL ? rows : 0;
            atomic_fetch_add(answer == ZONE_ALL ? &whole : &skipped, 1);
            continue;
        }
        MUST(pool_pin(store->pool, (page_id){heap.file, p}, RANK_HEAP, 0, &ref));
        MUST(heap_page_look(&heap, snapshot, &ref, look));
        if (look->settled)
            zone_learn(map, &heap, &ref, look, &test, 1, seen);
        if (look->visible_count)
            MUST(heap_page_column(&heap, &ref, look, 1, NULL, 0, NULL, NULL, &v));
        for (uint16_t i = 0; i < look->visible_count; i++) {
            int32_t number = VECTOR(int32_t, &v, look->all_visible ? i : look->selection[i]);
            count += number >= low && number <= high;
        }
        pool_release(&ref);
    }
    free(look);
    return count;
}

static void reader(void *argument)
{
    struct txn_slot *slot;
    MUST(txn_slot_open(store, 300 + (int32_t)(uintptr_t)argument, &slot));
    while (!atomic_load(&stop)) {
        struct txn *txn = txn_begin(store, slot, (uintptr_t)argument ? REPEATABLE_READ : READ_COMMITTED, true);
        struct snapshot snapshot;
        txn_snapshot(txn, &snapshot);
        for (int round = 0; round < 2; round++) {
            CHECK(count_class(&snapshot, HIGH, INT64_MAX) == PAIRS);
            CHECK(count_class(&snapshot, INT64_MIN, HIGH - 1) == PAIRS);
            CHECK(count_class(&snapshot, INT64_MIN, INT64_MAX) == 2 * PAIRS);
        }
        txn_snapshot_done(txn);
        MUST(txn_commit(txn));
    }
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
    }
    txn_slot_close(slot);
}

int main(int argc, char **argv)
{
    uint32_t threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 2;
    if (argc > 2)
        transactions = (uint32_t)atoi(argv[2]);
    if (argc > 3)
        first_seed = strtoull(argv[3], NULL, 10);
    fixture_open(256);
    latch_init(&pair_latch, RANK_OPERATOR, 0, 0, 0);
    struct txn *txn = begin(0);
    for (uint32_t class = 0; class < 2; class++)
        for (uint32_t i = 0; i < PAIRS; i++)
            ids[class][i] = insert(txn, (struct row){i, (int32_t)(class ? HIGH + i : i % HIGH), false, NULL, 0});
    MUST(txn_commit(txn));
    struct thread *writers[16], *others[3];
    threads = threads < 16 ? threads : 16;
    others[0] = thread_start("reader", reader, (void *)0);
    others[1] = thread_start("reader", reader, (void *)1);
    others[2] = thread_start("cleaner", cleaner, NULL);
    for (uint32_t i = 0; i < threads; i++)
        writers[i] = thread_start("writer", writer, (void *)(uintptr_t)i);
    for (uint32_t i = 0; i < threads; i++)
        thread_join(writers[i]);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        thread_join(others[i]);
    struct vacuum_result result;
    for (int i = 0; i < 2; i++)
        MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    txn = begin(1);
    struct snapshot snapshot;
    txn_snapshot(txn, &snapshot);
    for (int round = 0; round < 2; round++) {             /* the second time by zones alone */
        CHECK(count_class(&snapshot, HIGH, INT64_MAX) == PAIRS && count_class(&snapshot, INT64_MIN, HIGH - 1) == PAIRS);
        CHECK(count_class(&snapshot, INT64_MIN, INT64_MAX) == 2 * PAIRS);
    }
    txn_snapshot_done(txn);
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
    CHECK(atomic_load(&whole) > 0);
    fprintf(stderr, "%llu transactions, %llu pages counted whole, %llu skipped\n", (unsigned long long)done_count, (unsigned long long)whole, (unsigned long long)skipped);
    fixture_close();
    return verdict("zone_stress", threads, (uint64_t)threads * transactions, first_seed, failures);
}
