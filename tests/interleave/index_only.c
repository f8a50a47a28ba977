/* tests/interleave/index_only.c - an index read alone, while a row goes and vacuum takes its entry: what the map's word was taken for is what
 * the snapshot sees. */
#include "tests/interleave/interleave.h"
#include "tests/interleave/rows.h"

#include "base/arena.h"
#include "btree/btree.h"
#include "storage/txn_slot.h"

enum { ROWS = 2 };
static struct btree tree;
static uint64_t row_id(unsigned row) { return ROW_ID(row, 0); }

static enum status clean(void *context, const uint64_t *row_ids, size_t count)
{
    uint64_t removed;
    (void)context;
    return btree_remove_rows(&tree, row_ids, count, &removed);
}

static void vacuum(void)
{
    struct vacuum_result result;
    must(heap_vacuum(rows_heap(), NULL, false, 1 << 16, clean, NULL, &result));
}

/* A row a page, all visible to everybody, and an index over them. */
static void table_begin(void)
{
    store_begin(64);
    sessions_open(3);
    rows_make_pages(ROWS);
    atomic_store(&btree_latching, scheduler_random() % 3 ? BTREE_OPTIMISTIC : BTREE_TREE);
    tree = (struct btree){.store = store, .name = "index"};
    struct txn *txn = txn_in(0);
    must(btree_create(&tree, txn));
    for (unsigned row = 0; row < ROWS; row++)
        must(btree_insert(&tree, 0, (const uint8_t[]){(uint8_t)('a' + row)}, 1, row_id(row), NULL, NULL));
    must(txn_commit(txn));
    vacuum();
    uint32_t visible;
    must(heap_all_visible(rows_heap(), &visible));
    check(visible == ROWS, "%u pages are visible", visible);
}

static void table_end(void)
{
    atomic_store(&btree_latching, BTREE_OPTIMISTIC);
    must(heap_check(rows_heap()));
    sessions_close(3);
    store_end();
}

static bool seen(const struct snapshot *snapshot, uint64_t id)
{
    int64_t value;
    uint64_t version;
    bool found;
    static const uint16_t wanted[1] = {0};
    struct vector column = {.values = (uint8_t *)&value, .width = 8};
    struct arena *arena = arena_open(NULL, "row");
    must(heap_fetch(rows_heap(), snapshot, id, wanted, 1, &column, 0, arena, &found, &version));
    arena_close(arena);
    return found;
}

static enum status judge(void *context, const struct btree_entries *entries)
{
    return heap_map_visible(rows_heap(), entries->row_ids, entries->count, context);
}

/* All rows by the index, as an index-only scan takes them; then each as the heap has it. */
static void read_index(void *unused)
{
    (void)unused;
    struct snapshot snapshot;
    struct txn *txn = txn_in(1);
    struct arena *arena = arena_open(NULL, "scan");
    struct btree_scan *scan;
    struct btree_entries got;
    uint8_t visible[8];
    bool taken[ROWS] = {false};
    txn_snapshot(txn, &snapshot);
    must(btree_scan_open(&tree, arena, NULL, 0, NULL, 0, scheduler_random() % 2, &scan));
    btree_scan_judge(scan, (struct btree_judge){judge, visible});
    for (;;) {
        must(btree_scan_next(scan, &got));
        if (!got.count)
            break;
        for (uint32_t i = 0; i < got.count; i++)
            taken[ROW_PAGE(got.row_ids[i])] = visible[i] || seen(&snapshot, got.row_ids[i]);
    }
    btree_scan_close(scan);
    arena_close(arena);
    for (unsigned row = 0; row < ROWS; row++) {
        bool is = seen(&snapshot, row_id(row));
        check(taken[row] == is, "the index alone says that row %u is %s; the table, %s", row, taken[row] ? "there" : "gone", is ? "there" : "gone");
    }
    txn_snapshot_done(txn);
    must(txn_commit(txn));
}

static void delete_row(void)
{
    enum heap_outcome outcome;
    uint64_t newer;
    struct txn *txn = txn_in(2);
    must(heap_delete(rows_heap(), txn, row_id(0), LOCK_WAIT, &outcome, &newer));
    check(outcome == HEAP_DONE, "row 0 is not to be deleted");
    must(txn_commit(txn));
}

static void delete_and_vacuum(void *unused)
{
    (void)unused;
    delete_row();
    vacuum();
}

static void only_vacuum(void *unused)
{
    (void)unused;
    vacuum();
}

static void index_against_delete(void)
{
    table_begin();
    go();
    begin("read", read_index, NULL);
    begin("delete", delete_and_vacuum, NULL);
    join_all();
    table_end();
}

static void index_against_vacuum(void)
{
    table_begin();
    delete_row();
    go();
    begin("read", read_index, NULL);
    begin("vacuum", only_vacuum, NULL);
    join_all();
    table_end();
}

const struct scenario scenarios_index_only[] = {
    {"index_only.delete", index_against_delete, 0, "an index is read alone while a row is deleted and vacuumed: what is taken is what the snapshot sees"},
    {"index_only.vacuum", index_against_vacuum, 1, "an index is read alone while vacuum takes a dead row's entry and marks its page"},
    {0},
};
