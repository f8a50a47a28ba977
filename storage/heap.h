/* storage/heap.h - a table's rows: versions on PAX pages.
 *
 * A heap is three files: pages of rows, overflow pages for long values, and the free-space map. A row id is
 * page << 16 | slot. Storage knows a column as width and nullability. struct heap is a description: cheap, made by
 * the engine's relation cache, shared by all who read (read-only after heap_describe); what changes while running (pages being
 * filled, hints) hangs on the store by file number.
 *
 * Reading a page in place:
 *     pool_pin / pool_ring_pin(...)                       pinned
 *     heap_page_look(heap, snapshot, &ref, &look)         latches SHARED, decides visibility, unlatches
 *     heap_page_column(heap, &ref, &look, column, ...)    with the pin alone: a vector of the page itself
 *     pool_release(&ref)                                  after the batch was used
 */
#ifndef STORAGE_HEAP_H
#define STORAGE_HEAP_H

#include "base/vector.h"
#include "storage/lock.h"

#define ROW_ID(page, slot)  ((uint64_t)(page) << 16 | (slot))
#define ROW_PAGE(row_id)    ((uint32_t)((row_id) >> 16))
#define ROW_SLOT(row_id)    ((uint16_t)(row_id))
#define PAX_MAX_SLOTS       1024             /* a page never holds more */
#define HEAP_COLUMNS_MAX    1600             /* as PostgreSQL; that they fit on a page is checked by heap_layout_check */
#define HEAP_VALUE_MAX      (1u << 30)       /* the longest value of one column: 1 GiB less one byte, as PostgreSQL */

/* Columns are only ever added at the end; a dropped one stays in the layout. A page keeps the number of columns that
 * it was made with; a column past it reads as `missing` (ADD COLUMN … DEFAULT rewrites nothing). */
struct heap_column {
    uint8_t width;                           /* 1 2 4 8 16 or WIDTH_VARLEN */
    bool    nullable;                        /* has null bytes on the page; fixed when the column is made */
    bool    missing_null;                    /* what rows older than the column read as */
    union { uint8_t fixed[16]; struct varlen varlen; } missing;
};
struct heap {
    struct store *store;
    uint32_t table;                          /* oid: for locks and messages */
    uint32_t file, overflow_file, space_file;
    uint16_t column_count;
    struct heap_column *columns;
    const char *name;                        /* for messages */
};

enum status heap_layout_check(const struct heap_column *, uint16_t count) MUST_CHECK;   /* LIMIT_EXCEEDED when one row can't fit a page */
enum status heap_create(struct heap *, struct txn *) MUST_CHECK;     /* makes the three files, fills their numbers in */
void        heap_drop(struct heap *, struct txn *);                  /* at commit */
void        heap_forget(struct store *, uint32_t file);              /* hints of a file that is gone */
void        heap_registry_close(struct store *);                     /* hints of all files; for txn_table_close */
enum status heap_pages(const struct heap *, uint32_t *out) MUST_CHECK;

/* ---- reading ---- */
struct heap_look {
    uint16_t slot_count;                     /* positions 0 .. slot_count-1 may be read */
    uint16_t visible_count;
    bool     all_visible;                    /* every position is: selection not filled */
    bool     settled;                        /* the page says that all its rows are visible to everybody (zone.h) */
    uint16_t page_columns;                   /* how many columns the page has */
    row_pos  selection[PAX_MAX_SLOTS];
};
enum status heap_page_look(const struct heap *, const struct snapshot *, struct page_ref *pinned, struct heap_look *out) MUST_CHECK;
/* Fixed width: *out points into the page. Varying: values of the given positions (selection NULL: 0 .. count-1) are described in `space`
 * (slot_count entries, the caller's), pointing into the page, or into the arena for overflowed values. Absent column: a constant. */
enum status heap_page_column(const struct heap *, const struct page_ref *, const struct heap_look *, uint16_t column,
                             const row_pos *selection, uint16_t count, struct varlen *space, struct arena *, struct vector *out) MUST_CHECK;
/* That page will be read next, these columns of it: asks the processor for them, so that they come while the page at hand is worked on.
 * They are looked for where the page at hand has them. A hint: nothing is read. */
void        heap_page_expect(const struct heap *, const struct page_ref *at_hand, const struct heap_look *, uint32_t page, const uint16_t *columns, uint16_t count);

/* One row by id. Follows the same-page chain from an index's row id to the version the snapshot sees; *found false when there is none.
 * Copies the wanted columns to position `at` of the vectors (which the caller sized), long bytes into the arena. *row_id_out: the version's own id. */
enum status heap_fetch(const struct heap *, const struct snapshot *, uint64_t row_id, const uint16_t *columns, uint16_t column_count,
                       struct vector *out, uint16_t at, struct arena *, bool *found, uint64_t *row_id_out) MUST_CHECK;
/* That very version, whatever its visibility (re-check after a wait, RETURNING, index cleaning). *found false when the slot holds no version. */
enum status heap_fetch_version(const struct heap *, uint64_t row_id, const uint16_t *columns, uint16_t column_count,
                               struct vector *out, uint16_t at, struct arena *, bool *found) MUST_CHECK;
/* System columns of a version, for views and ctid/xmin/xmax. */
struct heap_version { xid_t xmin, xmax; command_t cmin, cmax; uint64_t newer; };
enum status heap_version(const struct heap *, uint64_t row_id, struct heap_version *out, bool *found) MUST_CHECK;

/* For reading an index alone. Which of these row ids lie on pages that the visibility map calls visible to everybody: there, every index entry
 * leads to one row, which every snapshot sees, and whose key is the entry's. Asked with the leaf still latched that the entries were copied from:
 * vacuum takes entries of dead rows away under that latch, before it marks their page. */
enum status heap_map_visible(const struct heap *, const uint64_t *row_ids, uint32_t count, uint8_t *visible) MUST_CHECK;
enum status heap_all_visible(const struct heap *, uint32_t *pages) MUST_CHECK;       /* how many pages the map calls so */

/* For building an index: by slot of a pinned page, the slot whose row id an index entry for that version carries (HEAP_NO_ROOT: none). */
#define HEAP_NO_ROOT 0xFFFF
enum status heap_page_roots(const struct heap *, struct page_ref *pinned, uint16_t slot_count, uint16_t *roots) MUST_CHECK;

/* ---- changing ---- the rows' statement number is txn_command(txn). */
/* Rows of a batch (its selected positions; columns in table order, all of them); row_ids[i] for the i-th selected. Many rows go into one mtr.
 * STRING_TOO_LONG/LIMIT_EXCEEDED where a row cannot be stored. */
enum status heap_insert(const struct heap *, struct txn *, const struct batch *rows, uint64_t *row_ids, bool fresh_pages_only) MUST_CHECK;

enum heap_outcome {
    HEAP_DONE,
    HEAP_SELF,                               /* an earlier action of this very statement ended it: skip */
    HEAP_UPDATED,                            /* another transaction's newer version is committed: *newer */
    HEAP_DELETED                             /* another transaction's delete is committed */
};
/* These wait (holding nothing) for whoever has changed or locked the row, by `wait`, then say how it stands. Under REPEATABLE
 * READ the caller turns UPDATED / DELETED into CONFLICT (40001). */
enum status heap_delete(const struct heap *, struct txn *, uint64_t row_id, enum lock_wait, enum heap_outcome *, uint64_t *newer) MUST_CHECK;
/* `row` at `position` is the whole new row. keys_same: no indexed column changes, so that a new version on the same page needs no index entries:
 * *indexes_alone says whether that came true. key_update: a column of a unique key changes (row lock mode UPDATE, else NO KEY UPDATE). */
enum status heap_update(const struct heap *, struct txn *, uint64_t row_id, const struct batch *row, uint16_t position, bool keys_same, bool key_update,
                        enum lock_wait, enum heap_outcome *, uint64_t *new_row_id, bool *indexes_alone, uint64_t *newer) MUST_CHECK;
enum status heap_lock(const struct heap *, struct txn *, uint64_t row_id, enum row_lock, enum lock_wait, enum heap_outcome *, uint64_t *newer) MUST_CHECK;

/* For unique checks (may be called under a leaf's latch): does a live version stand in the chain at row_id? */
enum heap_liveness { HEAP_DEAD, HEAP_LIVE, HEAP_IN_DOUBT };  /* in doubt: hangs on transaction *wait_for, not ours */
enum status heap_liveness(const struct heap *, struct txn *, uint64_t row_id, enum heap_liveness *, xid_t *wait_for) MUST_CHECK;

/* ---- cleaning ---- */
/* One pass of vacuum: prunes, collects row ids whose index entries must go, hands them over sorted in batches (each fits in `memory_bytes`),
 * frees the slots after the call-back has cleaned the indexes, frees overflow chains, updates the free-space map, marks pages all-visible,
 * replaces old xmin by frozen. try_only: try page latches and only-pins, skip what is busy (background), else wait for latches (still skips pinned). */
struct vacuum_result { uint64_t pages, rows_live, rows_removed, rows_dead_kept, overflow_freed, pages_truncated; xid_t oldest_xid; };
enum status heap_vacuum(const struct heap *, struct txn_slot *, bool try_only, uint64_t memory_bytes,
                        enum status (*clean_indexes)(void *context, const uint64_t *row_ids, size_t count), void *context,
                        struct vacuum_result *out) MUST_CHECK;
/* Everything before that id is resolved on every page of every table: status pages wholly below are cut off. */
void        txn_truncate_status(struct store *, xid_t oldest);
/* Estimates for the planner and autovacuum, kept while running. */
struct heap_counters { uint64_t inserted, updated, deleted, dead_since_vacuum, changed_since_analyze; };
void        heap_counters(const struct heap *, struct heap_counters *out);
void        heap_counters_analyzed(const struct heap *);
/* Verifies every page of the heap (layout, slots, links, counts); CORRUPT with what and where. */
enum status heap_check(const struct heap *) MUST_CHECK;

#endif
