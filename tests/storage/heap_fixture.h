/* tests/storage/heap_fixture.h - a store with one heap in it: (key int8 not null, number int4, text varlen). */
#ifndef TESTS_STORAGE_HEAP_FIXTURE_H
#define TESTS_STORAGE_HEAP_FIXTURE_H

#include "tests/storage/scratch.h"
#include "storage/heap.h"

static struct store *store;
static struct heap_column fixture_columns[4] = {
    {.width = 8}, {.width = 4, .nullable = true}, {.width = WIDTH_VARLEN, .nullable = true}, {.width = 8, .nullable = true},
};
static struct heap heap = {.table = 7, .column_count = 3, .columns = fixture_columns, .name = "t"};
static struct txn_slot *slots[8];

static inline void fixture_store_open(uint64_t pool_pages)
{
    const struct store_options options = {
        .pool_bytes = pool_pages * PAGE_BYTES, .wal_ring_bytes = 4u << 20, .lock_bytes = 8u << 20, .pool_partitions = switch_partitions(),
        .checkpoint_seconds = 300, .max_transactions = 64, .max_wal_bytes = 64u << 20,
    };
    MUST(store_open(scratch_name("data"), &options, &store));
    heap.store = store;
    for (int i = 0; i < 8; i++)
        MUST(txn_slot_open(store, 100 + i, &slots[i]));
}

static inline void fixture_store_close(void)
{
    for (int i = 0; i < 8; i++)
        txn_slot_close(slots[i]);
    MUST(store_close(store));
}

static inline struct txn *begin(int slot) { return txn_begin(store, slots[slot], READ_COMMITTED, false); }

static inline void fixture_open(uint64_t pool_pages)
{
    scratch_open();
    fixture_store_open(pool_pages);
    struct txn *txn = begin(0);
    MUST(heap_create(&heap, txn));
    MUST(txn_commit(txn));
}

static inline void fixture_close(void)
{
    fixture_store_close();
    scratch_close();
}

struct row { int64_t key; int32_t number; bool number_null; const char *text; uint32_t text_length; };

struct row_batch { struct batch batch; struct vector columns[4]; int64_t key; int32_t number; uint8_t nulls[4]; struct varlen text; int64_t extra; };
static inline const struct batch *row_batch(struct row_batch *b, struct row row)
{
    memset(b, 0, sizeof *b);
    b->key = row.key;
    b->number = row.number;
    b->nulls[1] = row.number_null;
    b->nulls[2] = row.text == NULL;
    b->text = (struct varlen){(const uint8_t *)row.text, row.text ? (row.text_length ? row.text_length : (uint32_t)strlen(row.text)) : 0, 0};
    b->columns[0] = (struct vector){.values = &b->key, .width = 8};
    b->columns[1] = (struct vector){.values = &b->number, .nulls = &b->nulls[1], .width = 4};
    b->columns[2] = (struct vector){.values = &b->text, .nulls = &b->nulls[2], .width = WIDTH_VARLEN};
    b->columns[3] = (struct vector){.values = &b->extra, .nulls = &b->nulls[3], .width = 8};
    b->batch = (struct batch){.columns = b->columns, .column_count = heap.column_count, .row_count = 1, .selected_count = 1, .all_selected = true};
    return &b->batch;
}

static inline uint64_t insert(struct txn *txn, struct row row)
{
    struct row_batch b;
    uint64_t row_id;
    MUST(heap_insert(&heap, txn, row_batch(&b, row), &row_id, false));
    return row_id;
}

static inline enum status update_status(struct txn *txn, uint64_t row_id, struct row row, enum lock_wait wait, enum heap_outcome *outcome, uint64_t *new_id, bool *alone, uint64_t *newer)
{
    struct row_batch b;
    return heap_update(&heap, txn, row_id, row_batch(&b, row), 0, true, false, wait, outcome, new_id, alone, newer);
}

static inline uint64_t update(struct txn *txn, uint64_t row_id, struct row row)
{
    enum heap_outcome outcome;
    uint64_t new_id, newer;
    bool alone;
    MUST(update_status(txn, row_id, row, LOCK_WAIT, &outcome, &new_id, &alone, &newer));
    if (outcome != HEAP_DONE)
        abort();
    return new_id;
}

static inline void delete(struct txn *txn, uint64_t row_id)
{
    enum heap_outcome outcome;
    uint64_t newer;
    MUST(heap_delete(&heap, txn, row_id, LOCK_WAIT, &outcome, &newer));
    if (outcome != HEAP_DONE)
        abort();
}

/* What a scan with the snapshot sees: calls back with each row. Returns how many. */
static inline uint32_t scan_with(const struct snapshot *snapshot, void (*each)(void *, uint64_t row_id, int64_t key, int32_t number, bool null, struct varlen text), void *context)
{
    uint32_t pages, count = 0;
    struct varlen *space = malloc(sizeof *space * PAX_MAX_SLOTS);
    struct heap_look *look = malloc(sizeof *look);
    MUST(heap_pages(&heap, &pages));
    for (uint32_t p = 0; p < pages; p++) {
        struct page_ref ref;
        struct vector v[3];
        MUST(pool_pin(store->pool, (page_id){heap.file, p}, RANK_HEAP, 0, &ref));
        MUST(heap_page_look(&heap, snapshot, &ref, look));
        struct arena *arena = arena_open(NULL, "scan");
        const row_pos *selection = look->all_visible ? NULL : look->selection;
        for (uint16_t c = 0; c < 3 && look->visible_count; c++)
            MUST(heap_page_column(&heap, &ref, look, c, selection, look->visible_count, space, arena, &v[c]));
        for (uint16_t i = 0; i < look->visible_count; i++) {
            row_pos at = selection ? selection[i] : i;
            if (each)
                each(context, ROW_ID(p, at), VECTOR(int64_t, &v[0], at), VECTOR(int32_t, &v[1], at), vector_null(&v[1], at), VECTOR(struct varlen, &v[2], at));
            count++;
        }
        pool_release(&ref);
        arena_close(arena);
    }
    free(space);
    free(look);
    return count;
}

static inline uint32_t scan(struct txn *txn, void (*each)(void *, uint64_t, int64_t, int32_t, bool, struct varlen), void *context)
{
    struct snapshot snapshot;
    txn_snapshot(txn, &snapshot);
    uint32_t count = scan_with(&snapshot, each, context);
    txn_snapshot_done(txn);
    return count;
}

#endif
