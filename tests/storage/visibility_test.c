/* tests/storage/visibility_test.c - the visibility map says of every page what the page says of itself, and says it in time: heap_check compares
 * the two, page by page. */
#include <criterion/criterion.h>

#include "base/hash.h"
#include "storage/heap_private.h"
#include "tests/storage/heap_fixture.h"

static void open_it(void) { heap.column_count = 3; fixture_open(400); }
TestSuite(visibility, .init = open_it, .fini = fixture_close, .timeout = 120);

static bool visible(uint64_t row_id)
{
    uint8_t answer = 7;
    MUST(heap_map_visible(&heap, &row_id, 1, &answer));
    cr_assert_leq(answer, 1);
    return answer;
}

static uint32_t visible_pages(void)
{
    uint32_t pages;
    MUST(heap_all_visible(&heap, &pages));
    return pages;
}

static uint64_t fill(int rows, uint64_t *ids)
{
    struct txn *txn = begin(0);
    uint64_t last = 0;
    for (int i = 0; i < rows; i++) {
        last = insert(txn, (struct row){i, i, false, "text", 0});
        if (ids)
            ids[i] = last;
    }
    MUST(txn_commit(txn));
    return last;
}

static void vacuum(enum status (*clean)(void *, const uint64_t *, size_t))
{
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[7], false, 1 << 20, clean, NULL, &result));
    MUST(heap_check(&heap));
}

Test(visibility, a_new_table_has_nothing_visible_and_vacuum_makes_it_so)
{
    uint32_t pages;
    uint64_t last = fill(3000, NULL);
    cr_expect_eq(visible_pages(), 0);
    cr_expect(!visible(last));
    MUST(heap_check(&heap));
    vacuum(NULL);
    MUST(heap_pages(&heap, &pages));
    cr_expect_geq(visible_pages() + 1, pages, "%u of %u", visible_pages(), pages);     /* the last may be room that nobody used yet */
    cr_expect(visible(last) && visible(0));
    cr_expect(!visible(ROW_ID(pages + 5, 0)), "past the end of the file");
    cr_expect(!visible(ROW_ID(UINT32_MAX - 1, 0)), "past the end of the map");
}

Test(visibility, every_kind_of_change_takes_its_page_out_and_no_other)
{
    uint64_t ids[3000];
    fill(3000, ids);
    vacuum(NULL);
    uint32_t all = visible_pages();
    struct txn *txn = begin(0);
    delete(txn, ids[0]);
    cr_expect(!visible(ids[0]) && visible(ids[2000]));
    cr_expect_eq(visible_pages(), all - 1);
    MUST(heap_check(&heap));
    txn_abort(txn);
    cr_expect(!visible(ids[0]), "only vacuum puts it back");
    vacuum(NULL);
    cr_expect_eq(visible_pages(), all);
    txn = begin(0);                          /* within the page */
    update(txn, ids[1000], (struct row){1000, 1, false, "TEXT", 0});
    cr_expect(!visible(ids[1000]));
    MUST(heap_check(&heap));
    MUST(txn_commit(txn));
    static char big[2000];
    memset(big, 'x', sizeof big);
    txn = begin(0);                          /* and to other pages, once this one is full */
    for (int i = 0; i < 40; i++) {
        update(txn, ids[2000 + i], (struct row){2000, 1, false, big, sizeof big});
        MUST(heap_check(&heap));
    }
    MUST(txn_commit(txn));
    vacuum(NULL);
    txn = begin(0);
    uint64_t row = insert(txn, (struct row){1, 1, false, "new", 0});
    cr_expect(!visible(row));
    MUST(heap_check(&heap));
    MUST(txn_commit(txn));
}

static uint64_t dead_row;
static bool seen_in_time;
static enum status entries_still_there(void *context, const uint64_t *row_ids, size_t count)
{
    (void)context, (void)row_ids;
    seen_in_time = count > 0 && !visible(dead_row);
    return STATUS_OK;
}

Test(visibility, a_page_with_dead_rows_waits_for_its_index_entries_to_go)
{
    uint64_t ids[100];
    fill(100, ids);
    vacuum(NULL);
    struct txn *txn = begin(0);
    dead_row = ids[3];
    delete(txn, dead_row);
    MUST(txn_commit(txn));
    seen_in_time = false;
    vacuum(entries_still_there);
    cr_expect(seen_in_time, "while the index still has the entry, the page is not called visible");
    cr_expect(visible(dead_row), "afterwards it is");
    txn = begin(0);
    insert(txn, (struct row){3, 1, false, "again", 0});
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
}

Test(visibility, what_an_old_snapshot_may_see_keeps_its_page_out)
{
    uint64_t ids[100];
    fill(100, ids);
    vacuum(NULL);
    struct txn *old = txn_begin(store, slots[1], REPEATABLE_READ, false);
    cr_expect_eq(scan(old, NULL, NULL), 100);
    struct txn *txn = begin(0);
    delete(txn, ids[7]);
    MUST(txn_commit(txn));
    vacuum(NULL);
    cr_expect(!visible(ids[7]));
    cr_expect_eq(scan(old, NULL, NULL), 100);
    MUST(txn_commit(old));
    vacuum(NULL);
    cr_expect(visible(ids[7]));
}

Test(visibility, the_map_outlives_a_restart_and_goes_with_the_table)
{
    uint64_t ids[2000];
    fill(2000, ids);
    vacuum(NULL);
    uint32_t all = visible_pages();
    struct txn *txn = begin(0);
    delete(txn, ids[0]);
    MUST(txn_commit(txn));
    fixture_store_close();
    fixture_store_open(400);
    cr_expect_eq(visible_pages(), all - 1);
    cr_expect(!visible(ids[0]) && visible(ids[1500]));
    MUST(heap_check(&heap));
    txn = begin(0);
    heap_drop(&heap, txn);
    struct heap other = heap;
    MUST(heap_create(&other, txn));
    heap = other;
    MUST(txn_commit(txn));
    cr_expect_eq(visible_pages(), 0);
}

Test(visibility, the_free_room_beside_it_is_kept)
{
    fill(3000, NULL);
    vacuum(NULL);
    uint32_t all = visible_pages(), page;
    MUST(space_set(&heap, 5, 100));
    cr_expect_eq(visible_pages(), all);
    MUST(space_take(&heap, 0, 10, 99, &page));
    cr_expect_eq(page, 5);
    cr_expect(visible(ROW_ID(5, 0)), "taking a page for new rows says nothing of its old ones");
    MUST(space_take(&heap, 0, 10, 99, &page));
    cr_expect_eq(page, UINT32_MAX);
    MUST(heap_check(&heap));
}

Test(visibility, a_damaged_bit_is_found)
{
    uint64_t last = fill(1000, NULL);
    vacuum(NULL);
    struct mtr mtr;
    mtr_begin(&mtr, store, 0);
    MUST(visibility_join_page(&heap, ROW_PAGE(last), &mtr));
    visibility_clear(&mtr, &heap, ROW_PAGE(last));
    mtr_commit(&mtr);
    cr_expect_eq(heap_check(&heap), STATUS_CORRUPT);
    error_clear();
}

Test(visibility, page_and_map_agree_after_any_changes)
{
    enum { KEYS = 400 };
    uint64_t seed = 11, ids[KEYS];
    bool there[KEYS];
    fill(KEYS, ids);
    memset(there, true, sizeof there);
    for (int round = 0; round < 1500; round++) {
        int key = (int)(random_next(&seed) % KEYS);
        uint64_t what = random_next(&seed) % 10;
        bool gives_up = random_next(&seed) % 4 == 0;
        struct txn *txn = begin(0);
        uint64_t kept = ids[key];
        bool was = there[key];
        if (!there[key]) {
            ids[key] = insert(txn, (struct row){key, round, false, "anew", 0});
            there[key] = true;
        } else if (what < 3) {
            delete(txn, ids[key]);
            there[key] = false;
        } else {
            ids[key] = update(txn, ids[key], (struct row){key, round, false, what < 6 ? "short" : "rather a longer text than it was", 0});
        }
        if (gives_up) {
            txn_abort(txn);
            ids[key] = kept;
            there[key] = was;
        } else {
            MUST(txn_commit(txn));
        }
        if (round % 50 == 0) {
            if (round % 100 == 0)
                vacuum(NULL);
            MUST(heap_check(&heap));
        }
    }
    uint32_t left = 0;
    for (int i = 0; i < KEYS; i++)
        left += there[i];
    struct txn *txn = begin(0);
    cr_expect_eq(scan(txn, NULL, NULL), left);
    MUST(txn_commit(txn));
}

Test(visibility, entries_in_any_order_need_each_page_of_the_map_once)
{
    enum { N = 400 };
    uint64_t ids[N];
    uint8_t answers[N];
    struct mtr mtr;
    mtr_begin(&mtr, store, 0);
    for (uint32_t k = 0; k < 2; k++) {
        MUST(visibility_join_page(&heap, k * SPACE_ENTRIES, &mtr));
        visibility_set(&mtr, &heap, k * SPACE_ENTRIES + 5);
        visibility_set(&mtr, &heap, k * SPACE_ENTRIES + 9);
    }
    mtr_commit(&mtr);
    for (uint32_t i = 0; i < N; i++)         /* both pages of the map, and one that is not there, in turn */
        ids[i] = ROW_ID(i % 3 * SPACE_ENTRIES + i / 3 % 12, i % 7);
    int64_t before = pool_touched.hits;
    MUST(heap_map_visible(&heap, ids, N, answers));
    cr_expect_eq(pool_touched.hits - before, 2);
    for (uint32_t i = 0; i < N; i++)
        cr_expect_eq(answers[i], i % 3 < 2 && (i / 3 % 12 == 5 || i / 3 % 12 == 9), "entry %u", i);
}
