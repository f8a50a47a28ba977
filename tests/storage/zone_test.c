/* tests/storage/zone_test.c - what zone maps say of a page is what a look at the page finds, whatever was done to it. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/hash.h"
#include "storage/zone.h"
#include "tests/storage/heap_fixture.h"

static void open_it(void) { heap.column_count = 3; fixture_open(400); }
TestSuite(zone, .init = open_it, .fini = fixture_close, .timeout = 120);

static uint32_t none, all, some;

/* Asks about every page, looks at it all the same, and compares. */
static void ask_all(const struct snapshot *snapshot, struct zone_test *tests, uint32_t count)
{
    static struct heap_look look;
    struct zone_map *map = zone_map(&heap);
    uint32_t pages;
    MUST(heap_pages(&heap, &pages));
    for (uint32_t t = 0; t < count; t++)
        cr_assert(zone_track(map, tests[t].column, &tests[t].slot));
    for (uint32_t p = 0; p < pages; p++) {
        struct page_ref ref;
        struct vector v[3];
        uint64_t seen;
        uint16_t rows = 0, pass = 0;
        enum zone_answer answer = zone_ask(map, p, tests, count, &rows, &seen);
        MUST(pool_pin(store->pool, (page_id){heap.file, p}, RANK_HEAP, 0, &ref));
        MUST(heap_page_look(&heap, snapshot, &ref, &look));
        if (look.settled)
            zone_learn(map, &heap, &ref, &look, tests, count, seen);
        for (uint16_t c = 0; c < 2 && look.visible_count; c++)
            MUST(heap_page_column(&heap, &ref, &look, c, NULL, 0, NULL, NULL, &v[c]));
        for (uint16_t i = 0; i < look.visible_count; i++) {
            row_pos at = look.all_visible ? i : look.selection[i];
            bool passes = true;
            for (uint32_t t = 0; t < count; t++) {
                const struct vector *column = &v[tests[t].column];
                int64_t value = tests[t].column == 0 ? VECTOR(int64_t, column, at) : VECTOR(int32_t, column, at);
                passes &= !vector_null(column, at) && value >= tests[t].low && value <= tests[t].high;
            }
            pass = (uint16_t)(pass + passes);
        }
        if (answer == ZONE_NONE)
            cr_assert_eq(pass, 0, "page %u holds %u rows, and was called empty", p, pass);
        if (answer == ZONE_ALL)
            cr_assert(pass == rows && pass == look.visible_count, "page %u: %u of %u rows, said were %u", p, pass, look.visible_count, rows);
        *(answer == ZONE_NONE ? &none : answer == ZONE_ALL ? &all : &some) += 1;
        pool_release(&ref);
    }
}

static void ask_with(const struct snapshot *snapshot, uint64_t *seed)
{
    int64_t low = (int64_t)(random_next(seed) % 4000), number = (int64_t)(random_next(seed) % 100);
    ask_all(snapshot, NULL, 0);
    ask_all(snapshot, (struct zone_test[]){{.column = 0, .low = low, .high = low + 600}}, 1);
    ask_all(snapshot, (struct zone_test[]){{.column = 1, .low = number, .high = number + 60}, {.column = 0, .low = low, .high = INT64_MAX}}, 2);
    ask_all(snapshot, (struct zone_test[]){{.column = 1, .low = INT64_MIN, .high = INT64_MAX}}, 1);
}

Test(zone, answers_hold_through_changes_rollbacks_and_vacuums)
{
    enum { ROWS = 4000 };
    static uint64_t row_ids[ROWS];
    uint64_t seed = 42;
    struct txn *txn = begin(0);
    for (int i = 0; i < ROWS; i++)
        row_ids[i] = insert(txn, (struct row){i, i / 40, i % 701 == 700, "some bytes", 0});
    MUST(txn_commit(txn));
    struct txn *old = NULL;                  /* a snapshot that stays while others change things */
    struct snapshot kept;
    none = all = some = 0;
    for (int round = 0; round < 300; round++) {
        uint64_t r = random_next(&seed);
        struct vacuum_result result;
        if (r % 4 == 0)
            MUST(heap_vacuum(&heap, slots[7], false, 1 << 20, NULL, NULL, &result));
        txn = begin(1);
        uint64_t changed[8];
        uint32_t change_count = (uint32_t)(r >> 8) % 4, at[8];
        for (uint32_t k = 0; k < change_count; k++) {
            at[k] = (uint32_t)(random_next(&seed) % ROWS);
            uint64_t kind = random_next(&seed) % 3;
            changed[k] = row_ids[at[k]];
            bool twice = false;
            for (uint32_t j = 0; j < k; j++)
                twice |= at[j] == at[k];
            if (twice)
                continue;
            int64_t key = (int64_t)(random_next(&seed) % 5000);
            if (kind == 0)
                changed[k] = insert(txn, (struct row){key, (int32_t)(key % 100), key % 7 == 0, "new", 0});
            else {
                uint64_t row = row_ids[at[k]];
                if (kind == 1)
                    changed[k] = update(txn, row, (struct row){key, (int32_t)(key % 100), key % 7 == 0, "changed", 0});
                else {
                    delete(txn, row);
                    changed[k] = insert(txn, (struct row){key, 5, false, "again", 0});
                }
            }
            txn_next_command(txn);
        }
        struct snapshot snapshot;
        txn_snapshot(txn, &snapshot);        /* it sees its own */
        ask_with(&snapshot, &seed);
        txn_snapshot_done(txn);
        if (old)
            ask_with(&kept, &seed);
        if (r >> 20 & 1) {
            MUST(txn_commit(txn));
            for (uint32_t k = 0; k < change_count; k++)
                row_ids[at[k]] = changed[k];
        } else {
            txn_abort(txn);
        }
        if (old && r % 8 == 1) {
            txn_snapshot_done(old);
            MUST(txn_commit(old));
            old = NULL;
        } else if (!old && r % 8 == 2) {
            old = txn_begin(store, slots[3], REPEATABLE_READ, false);
            txn_snapshot(old, &kept);
        }
        txn = begin(2);
        txn_snapshot(txn, &snapshot);
        ask_with(&snapshot, &seed);
        txn_snapshot_done(txn);
        MUST(txn_commit(txn));
    }
    if (old) {
        txn_snapshot_done(old);
        MUST(txn_commit(old));
    }
    cr_expect(none > 1000 && all > 1000 && some > 1000, "none %u, all %u, some %u: the test tests little", none, all, some);
    MUST(heap_check(&heap));
}

/* Of a page that nobody asked about before: the entry is made by the question, so that who changes the page finds it. */
Test(zone, what_was_found_before_a_change_is_not_learned_after_it)
{
    static struct heap_look look;
    struct txn *txn = begin(0);
    uint64_t row = 0;
    for (int i = 0; i < 50; i++)
        row = insert(txn, (struct row){i, 1, false, NULL, 0});
    MUST(txn_commit(txn));
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[7], false, 1 << 20, NULL, NULL, &result));
    struct zone_map *map = zone_map(&heap);
    struct txn *reader = begin(1);
    struct snapshot snapshot;
    txn_snapshot(reader, &snapshot);
    uint16_t rows;
    uint64_t seen;
    struct page_ref ref;
    cr_assert_eq(zone_ask(map, ROW_PAGE(row), NULL, 0, &rows, &seen), ZONE_SOME);
    MUST(pool_pin(store->pool, (page_id){heap.file, ROW_PAGE(row)}, RANK_HEAP, 0, &ref));
    MUST(heap_page_look(&heap, &snapshot, &ref, &look));
    cr_assert(look.settled);
    txn = begin(2);
    delete(txn, row);
    MUST(txn_commit(txn));
    zone_learn(map, &heap, &ref, &look, NULL, 0, seen);
    pool_release(&ref);
    cr_expect_eq(zone_ask(map, ROW_PAGE(row), NULL, 0, &rows, &seen), ZONE_SOME, "a row that is gone is counted");
    txn_snapshot_done(reader);
    MUST(txn_commit(reader));
}

Test(zone, a_file_that_is_gone_leaves_nothing_behind)
{
    struct txn *txn = begin(0);
    for (int i = 0; i < 500; i++)
        insert(txn, (struct row){i, 1, false, NULL, 0});
    MUST(txn_commit(txn));
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[7], false, 1 << 20, NULL, NULL, &result));
    txn = begin(0);
    struct snapshot snapshot;
    txn_snapshot(txn, &snapshot);
    ask_all(&snapshot, NULL, 0);
    uint16_t rows;
    uint64_t seen;
    cr_expect_eq(zone_ask(zone_map(&heap), 0, NULL, 0, &rows, &seen), ZONE_ALL);
    cr_expect_gt(zone_bytes(), 0);
    heap_forget(store, heap.file);
    cr_expect_eq(zone_bytes(), 0, "%llu bytes of the map are left", (unsigned long long)zone_bytes());
    cr_expect_eq(zone_ask(zone_map(&heap), 0, NULL, 0, &rows, &seen), ZONE_SOME);
    txn_snapshot_done(txn);
    MUST(txn_commit(txn));
}

Test(zone, tables_that_come_and_go_take_no_memory)
{
    struct vacuum_result result;
    struct snapshot snapshot;
    for (int round = 0; round < 50; round++) {
        struct heap other = heap;
        struct txn *txn = begin(0);
        MUST(heap_create(&other, txn));
        MUST(txn_commit(txn));
        struct heap kept = heap;
        heap = other;
        txn = begin(0);
        for (int i = 0; i < 100; i++)
            insert(txn, (struct row){i, 1, false, NULL, 0});
        MUST(txn_commit(txn));
        MUST(heap_vacuum(&heap, slots[7], false, 1 << 20, NULL, NULL, &result));
        txn = begin(0);
        txn_snapshot(txn, &snapshot);
        ask_all(&snapshot, (struct zone_test[]){{.column = 0, .low = 5, .high = 9}}, 1);
        txn_snapshot_done(txn);
        if (round % 2) {
            heap_drop(&heap, txn);
            MUST(txn_commit(txn));
        } else {
            MUST(txn_commit(txn));
            txn = begin(0);
            heap_drop(&heap, txn);
            MUST(txn_commit(txn));
        }
        heap = kept;
        cr_assert_eq(zone_bytes(), 0, "round %d left %llu bytes", round, (unsigned long long)zone_bytes());
    }
}

Test(zone, floats_keep_their_order_as_integers)
{
    const double rising[] = {-INFINITY, -1e300, -2.5, -1, -1e-310, 0, 1e-310, 0.5, 1, 3e8, INFINITY, NAN};
    for (size_t i = 1; i < sizeof rising / sizeof rising[0]; i++)
        cr_expect_lt(zone_of_float(rising[i - 1]), zone_of_float(rising[i]));
    cr_expect_eq(zone_of_float(-0.0), zone_of_float(0.0));
    cr_expect_eq(zone_of_float(-NAN), zone_of_float(NAN));
}
