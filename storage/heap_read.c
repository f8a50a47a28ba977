/* storage/heap_read.c - reading rows: which versions a snapshot sees, and how their values leave the page.
 *
 * A version is seen when its maker is in the snapshot and its ender is not. "In": committed with a number not above
 * the limit; or our own transaction (a savepoint of it that stands), in an earlier statement.
 *
 *     maker                    ender                     seen
 *     in                       none, or not in           yes
 *     in                       in                        no
 *     not in, or aborted       -                         no
 *     ours, earlier statement  ours, earlier statement   no
 *     ours, earlier statement  ours, this statement      yes: a statement doesn't meet its own changes
 *     ours, this statement     -                         no
 *
 * heap_page_look decides for a whole page under the SHARED latch; after that the pin alone keeps the values that were
 * found where they are (pax.h, rule 1). */
#include "storage/heap_private.h"

enum status viewer_sees(struct viewer *viewer, xid_t xid, bool *in)
{
    if (xid == viewer->in || xid == XID_FROZEN) {
        *in = true;
        return STATUS_OK;
    }
    if (xid == viewer->out) {
        *in = false;
        return STATUS_OK;
    }
    struct txn_view view;
    enum status status = txn_peek(viewer->store, xid, &view);
    if (status)
        return status;
    *in = view.state == TXN_COMMITTED && view.number <= viewer->snapshot->limit;
    if (*in)
        viewer->in = xid;
    else
        viewer->out = xid;
    return STATUS_OK;
}

enum status version_visible(struct viewer *viewer, const uint8_t *page, uint16_t slot, bool *visible)
{
    const struct snapshot *snapshot = viewer->snapshot;
    xid_t xmin = pax_xmin(page)[slot], xmax = pax_xmax(page)[slot];
    *visible = false;
    if (xmin != viewer->in) {
        if (txn_is_mine(snapshot->txn, xmin)) {
            if (pax_cmin(page)[slot] >= snapshot->command)
                return STATUS_OK;
        } else {
            bool in;
            enum status status = viewer_sees(viewer, xmin, &in);
            if (status || !in)
                return status;
        }
    }
    if (xmax == XID_NONE) {
        *visible = true;
    } else if (txn_is_mine(snapshot->txn, xmax)) {
        *visible = pax_cmax(page)[slot] >= snapshot->command;
    } else {
        bool in;
        enum status status = viewer_sees(viewer, xmax, &in);
        if (status)
            return status;
        *visible = !in;
    }
    return STATUS_OK;
}

static enum status look_latched(const struct heap *heap, const struct snapshot *snapshot, const struct page_ref *ref, struct heap_look *look)
{
    bool empty;
    look->slot_count = look->visible_count = look->page_columns = 0;
    look->all_visible = true;
    look->settled = false;
    enum status status = pax_check_kind(heap, ref, &empty);
    if (status || empty)
        return status;
    const uint8_t *page = ref->bytes;
    const struct pax_head *head = pax_head(page);
    look->slot_count = head->slot_count;
    look->page_columns = head->column_count;
    look->settled = head->flags & PAX_ALL_VISIBLE;
    if (look->settled && head->unfilled == 0) {
        look->visible_count = head->slot_count;
        return STATUS_OK;
    }

    const uint8_t *states = pax_states(page);
    uint16_t count = head->slot_count, found = 0;
    if (look->settled) {
        for (uint16_t i = 0; i < count; i++) {
            look->selection[found] = i;
            found += SLOT_STATE(states[i]) == SLOT_FILLED;
        }
    } else {
        const xid_t *xmin = pax_xmin(page), *xmax = pax_xmax(page);
        struct viewer viewer = {.snapshot = snapshot, .store = heap->store};
        for (uint16_t i = 0; i < count; i++) {
            if (SLOT_STATE(states[i]) != SLOT_FILLED)
                continue;
            bool visible = xmin[i] == viewer.in && xmax[i] == XID_NONE;      /* nearly always */
            if (!visible) {
                status = version_visible(&viewer, page, i, &visible);
                if (status)
                    return status;
            }
            look->selection[found] = i;
            found += visible;
        }
    }
    look->visible_count = found;
    look->all_visible = found == count;
    return STATUS_OK;
}

enum status heap_page_look(const struct heap *heap, const struct snapshot *snapshot, struct page_ref *ref, struct heap_look *look)
{
    pool_latch(ref, LATCH_SHARED);
    enum status status = look_latched(heap, snapshot, ref, look);
    pool_unlatch(ref);
    return status;
}

/* ---- values ---- */

static const uint8_t one = 1;                /* the null byte of a missing column */

static void missing_vector(const struct heap_column *column, struct vector *out)
{
    out->width = column->width;
    out->constant = true;
    out->values = column->width == WIDTH_VARLEN ? (void *)(uintptr_t)&column->missing.varlen : (void *)(uintptr_t)column->missing.fixed;
    out->nulls = column->missing_null ? (uint8_t *)(uintptr_t)&one : NULL;
}

/* Bytes of one cell that is not null: on the page, or read into the arena. */
static enum status cell_value(const struct heap *heap, const uint8_t *page, struct pax_cell cell, struct arena *arena, struct varlen *out)
{
    out->unused = 0;
    if (cell.length != CELL_OVERFLOW) {
        if ((uint32_t)cell.offset + cell.length > PAGE_BYTES)
            return error_set(STATUS_CORRUPT, "value past the end of its page in relation \"%s\"", heap->name);
        out->bytes = page + cell.offset;
        out->length = cell.length;
        return STATUS_OK;
    }
    struct overflow_ref ref;
    if ((uint32_t)cell.offset + sizeof ref > PAGE_BYTES)
        return error_set(STATUS_CORRUPT, "value past the end of its page in relation \"%s\"", heap->name);
    memcpy(&ref, page + cell.offset, sizeof ref);
    uint8_t *bytes = arena_alloc(arena, (size_t)ref.length + 1);
    out->bytes = bytes;
    out->length = ref.length;
    return overflow_read(heap, &ref, bytes);
}

/* Is any of these bytes not 0? */
static bool any_byte(const uint8_t *bytes, uint32_t count)
{
    uint64_t any = 0, word;
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        memcpy(&word, bytes + i, 8);
        any |= word;
    }
    for (; i < count; i++)
        any |= bytes[i];
    return any != 0;
}

/* Describes values of varying length where they lie. Overflowed ones seem to end past the page, as broken ones do: false then. */
static bool describe_cells(const uint8_t *page, const struct pax_cell *cells, const row_pos *selection, uint16_t count, struct varlen *space)
{
    uint32_t past = 0;
    if (selection)
        for (uint16_t k = 0; k < count; k++) {
            row_pos i = selection[k];
            space[i] = (struct varlen){page + cells[i].offset, cells[i].length, 0};
            past |= (uint32_t)cells[i].offset + cells[i].length > PAGE_BYTES;
        }
    else
        for (uint16_t i = 0; i < count; i++) {
            space[i] = (struct varlen){page + cells[i].offset, cells[i].length, 0};
            past |= (uint32_t)cells[i].offset + cells[i].length > PAGE_BYTES;
        }
    return !past;
}
_Static_assert(CELL_OVERFLOW > PAGE_BYTES, "an overflowed cell's length is past the page");

enum status heap_page_column(const struct heap *heap, const struct page_ref *ref, const struct heap_look *look, uint16_t column,
                             const row_pos *selection, uint16_t count, struct varlen *space, struct arena *arena, struct vector *out)
{
    const uint8_t *page = ref->bytes;
    if (column >= look->page_columns) {
        missing_vector(&heap->columns[column], out);
        return STATUS_OK;
    }
    uint8_t *nulls = pax_nulls(page, column);
    if (nulls && !any_byte(nulls, look->slot_count))
        nulls = NULL;
    out->width = heap->columns[column].width;
    out->constant = false;
    out->nulls = nulls;
    if (out->width != WIDTH_VARLEN) {
        out->values = (void *)(uintptr_t)(page + pax_columns(page)[column].values);
        return STATUS_OK;
    }
    const struct pax_cell *cells = pax_cells(page, column);
    out->values = space;
    if (!nulls && describe_cells(page, cells, selection, count, space))
        return STATUS_OK;
    for (uint16_t i = 0; i < count; i++) {
        row_pos at = selection ? selection[i] : i;
        if (nulls && nulls[at]) {
            space[at] = (struct varlen){0};
            continue;
        }
        enum status status = cell_value(heap, page, cells[at], arena, &space[at]);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static void expect_range(const uint8_t *page, uint32_t from, uint32_t bytes)
{
    for (uint32_t at = from & ~63u; at < from + bytes; at += 64)
        __builtin_prefetch(page + at);
}

void heap_page_expect(const struct heap *heap, const struct page_ref *at_hand, const struct heap_look *look, uint32_t page, const uint16_t *columns, uint16_t count)
{
    const uint8_t *next = pool_guess(heap->store->pool, (page_id){heap->file, page}), *here = at_hand->bytes;
    if (!next || look->slot_count == 0)
        return;
    expect_range(next, 0, 64);
    for (uint16_t k = 0; k < count; k++) {
        uint16_t column = columns[k];
        if (column >= look->page_columns)
            continue;
        struct pax_column place = pax_columns(here)[column];
        uint8_t width = heap->columns[column].width;
        expect_range(next, place.values, look->slot_count * (width == WIDTH_VARLEN ? 4u : width));
        if (place.nulls)
            expect_range(next, place.nulls, look->slot_count);
        if (width == WIDTH_VARLEN)
            expect_range(next, pax_cells(here, column)[0].offset, 512);      /* the processor sees then that it goes on */
    }
}

/* Copies columns of one version to position `at` of the vectors. */
static enum status copy_out(const struct heap *heap, const uint8_t *page, uint16_t slot, const uint16_t *columns, uint16_t column_count,
                            struct vector *out, uint16_t at, struct arena *arena)
{
    const struct pax_head *head = pax_head(page);
    for (uint16_t i = 0; i < column_count; i++) {
        uint16_t number = columns ? columns[i] : i;
        const struct heap_column *column = &heap->columns[number];
        struct vector *vector = &out[i];
        bool absent = number >= head->column_count;
        bool null = absent ? column->missing_null : pax_cell_null(page, number, slot);
        if (vector->nulls)
            vector->nulls[at] = null;
        ASSERT(!null || vector->nulls);
        if (column->width != WIDTH_VARLEN) {
            const uint8_t *value = absent ? column->missing.fixed : page + pax_columns(page)[number].values + (uint32_t)slot * column->width;
            memcpy((uint8_t *)vector->values + (size_t)at * column->width, value, column->width);
            continue;
        }
        struct varlen *value = &((struct varlen *)vector->values)[at];
        if (null) {
            *value = (struct varlen){0};
        } else if (absent) {
            *value = column->missing.varlen;
        } else {
            struct pax_cell cell = pax_cells(page, number)[slot];
            enum status status = cell_value(heap, page, cell, arena, value);
            if (status)
                return status;
            if (cell.length != CELL_OVERFLOW)
                value->bytes = arena_copy(arena, value->bytes, value->length);
        }
    }
    return STATUS_OK;
}

int32_t chain_first(const uint8_t *page, uint16_t slot)
{
    const struct pax_head *head = pax_head(page);
    if (slot >= head->slot_count)
        return -1;
    uint8_t state = SLOT_STATE(pax_states(page)[slot]);
    if (state == SLOT_REDIRECT) {
        slot = ROW_SLOT(pax_newer(page)[slot]);
        if (slot >= head->slot_count)
            return -1;
        state = SLOT_STATE(pax_states(page)[slot]);
    }
    return state == SLOT_FILLED ? slot : -1;
}

int32_t chain_next(const uint8_t *page, uint32_t page_number, uint16_t slot)
{
    uint64_t newer = pax_newer(page)[slot];
    xid_t xmax = pax_xmax(page)[slot];
    uint16_t next = ROW_SLOT(newer);
    if (newer == 0 || xmax == XID_NONE || ROW_PAGE(newer) != page_number || next >= pax_head(page)->slot_count)
        return -1;
    uint8_t state = pax_states(page)[next];
    if (SLOT_STATE(state) != SLOT_FILLED || !(state & SLOT_HEAP_ONLY) || pax_xmin(page)[next] != xmax)
        return -1;
    return next;
}

/* A row id of another page's, or made up (ctid = …), finds nothing. */
static enum status fetch_page(const struct heap *heap, uint64_t row_id, struct page_ref *ref, bool *exists)
{
    uint32_t pages;
    *exists = false;
    enum status status = pool_file_pages(heap->store->pool, heap->file, &pages);
    if (status || ROW_PAGE(row_id) >= pages)
        return status;
    status = pool_fetch(heap->store->pool, (page_id){heap->file, ROW_PAGE(row_id)}, LATCH_SHARED, RANK_HEAP, 0, ref);
    if (status)
        return status;
    bool empty;
    status = pax_check_kind(heap, ref, &empty);
    if (status || empty) {
        pool_release(ref);
        return status;
    }
    *exists = true;
    return STATUS_OK;
}

_Thread_local page_id heap_long_chain;

enum status heap_fetch(const struct heap *heap, const struct snapshot *snapshot, uint64_t row_id, const uint16_t *columns, uint16_t column_count,
                       struct vector *out, uint16_t at, struct arena *arena, bool *found, uint64_t *row_id_out)
{
    struct page_ref ref;
    *found = false;
    enum status status = fetch_page(heap, row_id, &ref, found);
    if (status || !*found)
        return status;
    struct viewer viewer = {.snapshot = snapshot, .store = heap->store};
    bool visible = false;
    int32_t slot = chain_first(ref.bytes, ROW_SLOT(row_id));
    uint32_t steps = 0;
    for (; slot >= 0 && steps < PAX_MAX_SLOTS; steps++) {
        status = version_visible(&viewer, ref.bytes, (uint16_t)slot, &visible);
        if (status || visible)
            break;
        slot = chain_next(ref.bytes, ref.id.page, (uint16_t)slot);
    }
    if (steps >= CHAIN_LONG)
        heap_long_chain = ref.id;
    *found = !status && visible;
    if (*found) {
        *row_id_out = ROW_ID(ref.id.page, (uint16_t)slot);
        /* The values of a version found under the latch stay with the pin: long ones are read with the latch let go. */
        pool_unlatch(&ref);
        status = copy_out(heap, ref.bytes, (uint16_t)slot, columns, column_count, out, at, arena);
    }
    pool_release(&ref);
    return status;
}

enum status heap_fetch_version(const struct heap *heap, uint64_t row_id, const uint16_t *columns, uint16_t column_count,
                               struct vector *out, uint16_t at, struct arena *arena, bool *found)
{
    struct page_ref ref;
    enum status status = fetch_page(heap, row_id, &ref, found);
    if (status || !*found)
        return status;
    uint16_t slot = ROW_SLOT(row_id);
    *found = slot < pax_head(ref.bytes)->slot_count && SLOT_STATE(pax_states(ref.bytes)[slot]) == SLOT_FILLED;
    if (*found) {
        pool_unlatch(&ref);
        status = copy_out(heap, ref.bytes, slot, columns, column_count, out, at, arena);
    }
    pool_release(&ref);
    return status;
}

enum status heap_version(const struct heap *heap, uint64_t row_id, struct heap_version *out, bool *found)
{
    struct page_ref ref;
    enum status status = fetch_page(heap, row_id, &ref, found);
    if (status || !*found)
        return status;
    const uint8_t *page = ref.bytes;
    uint16_t slot = ROW_SLOT(row_id);
    *found = slot < pax_head(page)->slot_count && SLOT_STATE(pax_states(page)[slot]) == SLOT_FILLED;
    if (*found)
        *out = (struct heap_version){pax_xmin(page)[slot], pax_xmax(page)[slot], pax_cmin(page)[slot], pax_cmax(page)[slot],
                                     NEWER_ROW(pax_newer(page)[slot])};
    pool_release(&ref);
    return STATUS_OK;
}
