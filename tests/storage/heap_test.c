/* tests/storage/heap_test.c - versions, visibility, chains, pruning, long values, layouts, vacuum. */
#include <criterion/criterion.h>

#include "tests/storage/heap_fixture.h"

static void open_it(void) { heap.column_count = 3; fixture_open(400); }
TestSuite(heap, .init = open_it, .fini = fixture_close, .timeout = 60);

static uint32_t count_as(int slot)
{
    struct txn *txn = begin(slot);
    uint32_t count = scan(txn, NULL, NULL);
    MUST(txn_commit(txn));
    return count;
}

static bool fetch_one(struct txn *txn, uint64_t row_id, int64_t *key, int32_t *number, char *text, uint64_t *at)
{
    uint8_t nulls[3];
    struct varlen value;
    struct vector out[3] = {{key, &nulls[0], 8, false}, {number, &nulls[1], 4, false}, {&value, &nulls[2], WIDTH_VARLEN, false}};
    struct snapshot snapshot;
    bool found;
    struct arena *arena = arena_open(NULL, "fetch");
    txn_snapshot(txn, &snapshot);
    MUST(heap_fetch(&heap, &snapshot, row_id, NULL, 3, out, 0, arena, &found, at));
    txn_snapshot_done(txn);
    if (found && text) {
        memcpy(text, value.bytes, value.length);
        text[value.length] = 0;
    }
    arena_close(arena);
    return found;
}

Test(heap, changes_are_seen_by_others_after_commit_and_by_oneself_in_the_next_statement)
{
    struct txn *a = begin(0), *b = begin(1);
    uint64_t row = insert(a, (struct row){1, 10, false, "one", 0});
    cr_expect_eq(scan(a, NULL, NULL), 0, "a statement doesn't meet its own rows");
    txn_next_command(a);
    cr_expect_eq(scan(a, NULL, NULL), 1);
    cr_expect_eq(scan(b, NULL, NULL), 0);
    struct txn *c = txn_begin(store, slots[2], REPEATABLE_READ, false);
    cr_expect_eq(scan(c, NULL, NULL), 0);
    MUST(txn_commit(a));
    cr_expect_eq(scan(b, NULL, NULL), 1);
    cr_expect_eq(scan(c, NULL, NULL), 0, "REPEATABLE READ keeps its snapshot");
    delete(b, row);
    cr_expect_eq(scan(b, NULL, NULL), 1);
    txn_next_command(b);
    cr_expect_eq(scan(b, NULL, NULL), 0);
    cr_expect_eq(count_as(3), 1);
    txn_abort(b);
    cr_expect_eq(count_as(3), 1, "the delete was undone");
    MUST(txn_commit(c));
    MUST(heap_check(&heap));
}

Test(heap, savepoints_undo_what_came_after_them)
{
    struct txn *txn = begin(0);
    int outer, inner;
    insert(txn, (struct row){1, 0, true, "kept", 0});
    MUST(txn_savepoint(txn, &outer));
    uint64_t two = insert(txn, (struct row){2, 0, true, "undone", 0});
    txn_next_command(txn);
    MUST(txn_savepoint(txn, &inner));
    update(txn, two, (struct row){2, 1, false, "undone too", 0});
    MUST(txn_savepoint_release(txn, inner));
    txn_next_command(txn);
    cr_expect_eq(scan(txn, NULL, NULL), 2);
    MUST(txn_savepoint_rollback(txn, outer));
    cr_expect_eq(scan(txn, NULL, NULL), 1);
    insert(txn, (struct row){3, 0, true, "after", 0});
    MUST(txn_savepoint_release(txn, outer));
    txn_next_command(txn);
    cr_expect_eq(scan(txn, NULL, NULL), 2);
    MUST(txn_commit(txn));
    cr_expect_eq(count_as(1), 2);
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[1], false, 1 << 20, NULL, NULL, &result));
    cr_expect_eq(result.rows_removed, 2);
    cr_expect_eq(count_as(1), 2);
    MUST(heap_check(&heap));
}

Test(heap, an_index_row_id_leads_to_the_version_that_the_snapshot_sees)
{
    struct txn *txn = begin(0);
    uint64_t root = insert(txn, (struct row){1, 0, false, "v0", 0}), last = root, at;
    MUST(txn_commit(txn));
    struct txn *old = txn_begin(store, slots[1], REPEATABLE_READ, false);
    int64_t key;
    int32_t number;
    char text[100];
    cr_assert(fetch_one(old, root, &key, &number, text, &at));
    for (int i = 1; i <= 5; i++) {
        txn = begin(0);
        last = update(txn, last, (struct row){1, i, false, "newer", 0});
        MUST(txn_commit(txn));
    }
    txn = begin(0);
    cr_assert(fetch_one(txn, root, &key, &number, text, &at));
    cr_expect_eq(number, 5);
    cr_expect_eq(at, last);
    MUST(txn_commit(txn));
    cr_assert(fetch_one(old, root, &key, &number, text, &at));
    cr_expect_eq(number, 0);
    cr_expect_str_eq(text, "v0");
    MUST(txn_commit(old));
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    cr_expect_eq(result.rows_removed, 5);
    txn = begin(0);
    cr_assert(fetch_one(txn, root, &key, &number, text, &at), "through the redirect");
    cr_expect_eq(number, 5);
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
}

Test(heap, a_row_updated_over_and_over_stays_on_its_page)
{
    struct txn *txn = begin(0);
    uint64_t root = insert(txn, (struct row){1, 0, false, "a text of some length, that takes room", 0}), last = root, at;
    MUST(txn_commit(txn));
    for (int i = 0; i < 3000; i++) {
        txn = begin(0);
        txn_set_synchronous(txn, false);
        enum heap_outcome outcome;
        uint64_t newer;
        bool alone;
        MUST(update_status(txn, last, (struct row){1, i, false, "another text of some length, that takes more room", 0}, LOCK_WAIT, &outcome, &last, &alone, &newer));
        cr_assert(outcome == HEAP_DONE && alone);
        MUST(txn_commit(txn));
    }
    uint32_t pages;
    MUST(heap_pages(&heap, &pages));
    cr_expect_eq(pages, 1);
    int64_t key;
    int32_t number;
    txn = begin(0);
    cr_assert(fetch_one(txn, root, &key, &number, NULL, &at));
    cr_expect_eq(number, 2999);
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
}

static enum status collect(void *context, const uint64_t *ids, size_t count)
{
    (void)ids;
    *(size_t *)context += count;
    return STATUS_OK;
}

Test(heap, dead_rows_are_handed_over_and_their_slots_are_used_again)
{
    uint64_t ids[500];
    struct txn *txn = begin(0);
    for (int i = 0; i < 500; i++)
        ids[i] = insert(txn, (struct row){i, i, false, "some text", 0});
    MUST(txn_commit(txn));
    uint32_t before, after;
    MUST(heap_pages(&heap, &before));
    txn = begin(0);
    for (int i = 0; i < 500; i++)
        delete(txn, ids[i]);
    MUST(txn_commit(txn));
    struct vacuum_result result;
    size_t handed = 0;
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, collect, &handed, &result));
    cr_expect_eq(handed, 500);
    cr_expect_eq(result.rows_removed, 500);
    txn = begin(0);
    for (int i = 0; i < 500; i++)
        insert(txn, (struct row){i, i, false, "some text", 0});
    MUST(txn_commit(txn));
    MUST(heap_pages(&heap, &after));
    cr_expect_leq(after, before + 1);
    cr_expect_eq(count_as(1), 500);
    MUST(heap_check(&heap));
}

static void check_long(void *context, uint64_t row_id, int64_t key, int32_t number, bool null, struct varlen text)
{
    (void)row_id, (void)number, (void)null;
    const char *expected = context;
    uint32_t length = key == 1 ? 1 << 20 : key == 2 ? 5 << 20 : 20000;
    cr_assert_eq(text.length, length);
    cr_assert_eq(memcmp(text.bytes, expected, length), 0);
}

Test(heap, long_values_come_back_and_are_freed)
{
    char *bytes = malloc(5 << 20);
    uint64_t seed = 1;
    for (int i = 0; i < 5 << 20; i++)
        bytes[i] = (char)(seed = seed * 6364136223846793005u + 1442695040888963407u, seed >> 56);
    struct txn *txn = begin(0);
    uint64_t ids[3];
    ids[0] = insert(txn, (struct row){1, 0, true, bytes, 1 << 20});
    ids[1] = insert(txn, (struct row){2, 0, true, bytes, 5 << 20});
    ids[2] = insert(txn, (struct row){3, 0, true, bytes, 20000});
    MUST(txn_commit(txn));
    txn = begin(0);
    cr_expect_eq(scan(txn, check_long, bytes), 3);
    MUST(txn_commit(txn));
    fixture_store_close();
    fixture_store_open(400);
    txn = begin(0);
    cr_expect_eq(scan(txn, check_long, bytes), 3);
    uint32_t before, after;
    MUST(pool_file_pages(store->pool, heap.overflow_file, &before));
    for (int i = 0; i < 3; i++)                      /* unchanged long values are shared */
        ids[i] = update(txn, ids[i], (struct row){i + 1, 5, false, bytes, i == 0 ? 1 << 20 : i == 1 ? 5 << 20 : 20000});
    MUST(pool_file_pages(store->pool, heap.overflow_file, &after));
    cr_expect_eq(before, after);
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    cr_expect_eq(result.overflow_freed, 0);
    txn = begin(0);
    cr_expect_eq(scan(txn, check_long, bytes), 3);
    for (int i = 0; i < 3; i++)
        delete(txn, ids[i]);
    MUST(txn_commit(txn));
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    cr_expect_gt(result.overflow_freed, (6u << 20) / PAGE_BYTES);
    txn = begin(0);                                  /* an aborted one is freed too, and its pages are used again */
    insert(txn, (struct row){2, 0, true, bytes, 5 << 20});
    txn_abort(txn);
    MUST(pool_file_pages(store->pool, heap.overflow_file, &after));
    cr_expect_eq(before, after);
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    cr_expect_gt(result.overflow_freed, (5u << 20) / PAGE_BYTES);
    MUST(heap_check(&heap));
    free(bytes);
}

Test(heap, a_column_added_reads_as_its_default_and_an_update_moves_the_row)
{
    struct txn *txn = begin(0);
    uint64_t row = insert(txn, (struct row){1, 1, false, "old layout", 0});
    MUST(txn_commit(txn));
    int64_t forty_two = 42;
    memcpy(fixture_columns[3].missing.fixed, &forty_two, 8);
    fixture_columns[3].missing_null = false;
    heap.column_count = 4;
    txn = begin(0);
    struct snapshot snapshot;
    txn_snapshot(txn, &snapshot);
    int64_t value = 0;
    uint8_t null = 9;
    uint16_t column = 3;
    bool found;
    uint64_t at;
    struct vector out = {&value, &null, 8, false};
    MUST(heap_fetch(&heap, &snapshot, row, &column, 1, &out, 0, NULL, &found, &at));
    cr_expect(found && value == 42 && null == 0);
    txn_snapshot_done(txn);
    uint64_t moved = update(txn, row, (struct row){1, 2, false, "new layout", 0});
    cr_expect_neq(ROW_PAGE(moved), ROW_PAGE(row));
    txn_next_command(txn);
    cr_expect_eq(scan(txn, NULL, NULL), 1);
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
}

Test(heap, an_all_visible_page_is_marked_and_a_change_takes_the_mark_off)
{
    struct txn *txn = begin(0);
    uint64_t row = 0;
    for (int i = 0; i < 50; i++)
        row = insert(txn, (struct row){i, i, i % 3 == 0, i % 4 ? "x" : NULL, 0});
    MUST(txn_commit(txn));
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[0], true, 1 << 20, NULL, NULL, &result));
    cr_expect_eq(result.rows_live, 50);
    struct heap_version version;
    bool found;
    MUST(heap_version(&heap, row, &version, &found));
    cr_expect_eq(version.xmin, XID_FROZEN);
    cr_expect_eq(count_as(1), 50);
    txn = begin(0);
    delete(txn, row);
    cr_expect_eq(count_as(1), 50);
    MUST(txn_commit(txn));
    cr_expect_eq(count_as(1), 49);
    MUST(heap_check(&heap));
}

Test(heap, batches_with_selections_constants_and_nulls_arrive_whole)
{
    enum { ROWS = 3000 };
    static int64_t keys[ROWS];
    static struct varlen texts[ROWS];
    static row_pos selection[ROWS];
    static uint8_t nulls[ROWS];
    static uint64_t ids[ROWS];
    int32_t seven = 7;
    for (int i = 0; i < ROWS; i++) {
        keys[i] = i;
        texts[i] = (struct varlen){(const uint8_t *)"abcdefghijklmnopqrstuvwxyz", (uint32_t)(i % 27), 0};
        nulls[i] = i % 5 == 0;
        selection[i / 2] = (row_pos)i;
    }
    struct vector columns[3] = {{keys, NULL, 8, false}, {&seven, NULL, 4, true}, {texts, nulls, WIDTH_VARLEN, false}};
    struct batch batch = {.columns = columns, .column_count = 3, .row_count = ROWS, .selected_count = ROWS / 2, .selection = selection};
    struct txn *txn = begin(0);
    MUST(heap_insert(&heap, txn, &batch, ids, false));
    batch.all_selected = true;
    MUST(heap_insert(&heap, txn, &batch, ids, true));
    MUST(txn_commit(txn));
    cr_expect_eq(count_as(1), ROWS + ROWS / 2);
    txn = begin(0);
    int64_t key;
    int32_t number;
    uint64_t at;
    char text[64];
    for (int i = 1; i < ROWS; i += 97) {
        cr_assert(fetch_one(txn, ids[i], &key, &number, i % 5 ? text : NULL, &at));
        cr_expect(key == i && number == 7 && (i % 5 == 0 || strlen(text) == (size_t)i % 27));
    }
    MUST(txn_commit(txn));
    MUST(heap_check(&heap));
}

Test(heap, a_crash_takes_back_what_was_not_committed_and_nothing_else)
{
    struct txn *txn = begin(0);
    for (int i = 0; i < 100; i++)
        insert(txn, (struct row){i, i, false, "committed", 0});
    MUST(txn_commit(txn));
    fixture_store_close();
    fixture_store_open(400);
    cr_expect_eq(count_as(0), 100);
    txn = begin(0);
    insert(txn, (struct row){1000, 0, false, "lost", 0});
    wal_flush(store->wal, wal_next(store->wal));
    txn_abort(txn);
    fixture_store_close();
    fixture_store_open(400);
    cr_expect_eq(count_as(0), 100);
    MUST(heap_check(&heap));
}

Test(heap, a_row_that_another_transaction_changed_is_waited_for_or_not)
{
    struct txn *txn = begin(0);
    uint64_t row = insert(txn, (struct row){1, 0, false, "x", 0}), id, newer = 0;
    MUST(txn_commit(txn));
    struct txn *a = begin(0), *b = begin(1);
    uint64_t mine = update(a, row, (struct row){1, 1, false, "y", 0});
    enum heap_outcome outcome;
    bool alone;
    cr_expect_eq(update_status(b, row, (struct row){1, 2, false, "z", 0}, LOCK_SKIP, &outcome, &id, &alone, &newer), STATUS_WOULD_BLOCK);
    cr_expect_eq(update_status(b, row, (struct row){1, 2, false, "z", 0}, LOCK_NOWAIT, &outcome, &id, &alone, &newer), STATUS_LOCK_NOT_AVAILABLE);
    cr_expect_str_eq(error_current()->message, "could not obtain lock on row in relation \"t\"");
    MUST(heap_lock(&heap, b, row, ROW_KEY_SHARE, LOCK_NOWAIT, &outcome, &newer));
    cr_expect_eq(outcome, HEAP_DONE, "an update that changes no key lets KEY SHARE by");
    MUST(txn_commit(a));
    MUST(update_status(b, row, (struct row){1, 2, false, "z", 0}, LOCK_WAIT, &outcome, &id, &alone, &newer));
    cr_expect(outcome == HEAP_UPDATED && newer == mine);
    a = begin(0);
    cr_expect_eq(heap_delete(&heap, a, mine, LOCK_NOWAIT, &outcome, &newer), STATUS_LOCK_NOT_AVAILABLE, "the lock has followed its row");
    MUST(txn_commit(b));
    MUST(heap_delete(&heap, a, mine, LOCK_NOWAIT, &outcome, &newer));
    cr_expect_eq(outcome, HEAP_DONE);
    MUST(heap_delete(&heap, a, mine, LOCK_NOWAIT, &outcome, &newer));
    cr_expect_eq(outcome, HEAP_SELF);
    MUST(txn_commit(a));
}

Test(heap, liveness_tells_live_dead_and_in_doubt)
{
    struct txn *a = begin(0), *b = begin(1);
    uint64_t row = insert(a, (struct row){1, 0, false, "x", 0});
    enum heap_liveness liveness;
    xid_t wait_for;
    MUST(heap_liveness(&heap, a, row, &liveness, &wait_for));
    cr_expect_eq(liveness, HEAP_LIVE);
    MUST(heap_liveness(&heap, b, row, &liveness, &wait_for));
    cr_expect(liveness == HEAP_IN_DOUBT && wait_for == txn_top_id(a));
    MUST(txn_commit(a));
    a = begin(0);
    uint64_t last = update(a, row, (struct row){1, 1, false, "x", 0});
    MUST(heap_liveness(&heap, a, row, &liveness, &wait_for));
    cr_expect_eq(liveness, HEAP_LIVE);
    MUST(txn_commit(a));
    MUST(heap_liveness(&heap, b, row, &liveness, &wait_for));
    cr_expect_eq(liveness, HEAP_LIVE);
    delete(b, last);
    MUST(heap_liveness(&heap, b, row, &liveness, &wait_for));
    cr_expect_eq(liveness, HEAP_DEAD);
    MUST(txn_commit(b));
}
