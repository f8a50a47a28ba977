/* storage/heap_check.c - the checker: is every page of a heap what pax.h and heap_prune.c say it is? */
#include "storage/heap_private.h"

static enum status bad(const struct heap *heap, uint32_t page, uint32_t slot, const char *what)
{
    return error_set(STATUS_CORRUPT, "relation \"%s\", page %u, slot %u: %s", heap->name, page, slot, what);
}

static enum status check_slot(const struct heap *heap, const uint8_t *page, uint32_t number, uint16_t slot, uint32_t pages)
{
    const struct pax_head *head = pax_head(page);
    uint8_t state = pax_states(page)[slot];
    uint64_t newer = pax_newer(page)[slot];
    switch (SLOT_STATE(state)) {
    case SLOT_DEAD:
        if (head->flags & PAX_ALL_VISIBLE)
            return bad(heap, number, slot, "marked visible to all, but index entries lead to a dead row");
        /* fallthrough */
    case SLOT_FREE:
        if (pax_xmax(page)[slot] || pax_cmax(page)[slot] || newer)
            return bad(heap, number, slot, "an empty slot has version fields");
        for (uint16_t c = 0; c < head->column_count; c++)
            if (pax_cell_null(page, c, slot))
                return bad(heap, number, slot, "an empty slot has a null byte");
        return STATUS_OK;
    case SLOT_REDIRECT: {
        uint16_t target = ROW_SLOT(newer);
        if (ROW_PAGE(newer) != number || target >= head->slot_count || SLOT_STATE(pax_states(page)[target]) != SLOT_FILLED ||
            !(pax_states(page)[target] & SLOT_HEAP_ONLY))
            return bad(heap, number, slot, "a redirect leads to no heap-only version");
        return STATUS_OK;
    }
    case SLOT_FILLED:
        break;
    default:
        return bad(heap, number, slot, "unknown state");
    }
    if (pax_xmin(page)[slot] == XID_NONE)
        return bad(heap, number, slot, "a version that nobody made");
    if (newer && !pax_xmax(page)[slot])
        return bad(heap, number, slot, "a newer version, but nobody ended this one");
    if (newer && ROW_PAGE(newer) >= pages)
        return bad(heap, number, slot, "the newer version is past the end of the file");
    if ((head->flags & PAX_ALL_VISIBLE) && pax_xmax(page)[slot])
        return bad(heap, number, slot, "marked visible to all, but ended");
    uint16_t columns = pax_known_columns(heap, page);
    for (uint16_t c = 0; c < columns; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN || pax_cell_null(page, c, slot))
            continue;
        struct pax_cell cell = pax_cells(page, c)[slot];
        uint32_t length = cell.length == CELL_OVERFLOW ? sizeof(struct overflow_ref) : cell.length;
        if (length && (cell.offset < head->var_start || cell.offset + length > PAGE_BYTES))
            return bad(heap, number, slot, "a value lies outside the room for values");
    }
    return STATUS_OK;
}

/* The map is asked with the page latched: nobody can change one of the two now. */
static enum status check_map(const struct heap *heap, const struct page_ref *ref, bool empty)
{
    bool marked = !empty && (pax_head(ref->bytes)->flags & PAX_ALL_VISIBLE), visible;
    enum status status = visibility_of(heap, ref->id.page, &visible);
    if (status || marked == visible)
        return status;
    return bad(heap, ref->id.page, 0, marked ? "marked visible to all, but not in the visibility map" : "in the visibility map, but not marked visible to all");
}

static enum status check_page(const struct heap *heap, const struct page_ref *ref, uint32_t pages)
{
    const uint8_t *page = ref->bytes;
    const struct pax_head *head = pax_head(page);
    uint32_t number = ref->id.page;
    uint16_t columns = pax_known_columns(heap, page);
    if (head->capacity < 1)
        return bad(heap, number, 0, "no slots");
    if (columns && head->arrays_end != pax_arrays_end(heap->columns, columns, head->capacity))
        return bad(heap, number, 0, "geometry does not fit the columns");
    uint16_t unfilled = 0;
    for (uint16_t i = 0; i < head->slot_count; i++) {
        unfilled += SLOT_STATE(pax_states(page)[i]) != SLOT_FILLED;
        enum status status = check_slot(heap, page, number, i, pages);
        if (status)
            return status;
    }
    for (uint16_t i = head->slot_count; i < head->capacity; i++)
        if (pax_states(page)[i] || pax_xmax(page)[i] || pax_newer(page)[i])
            return bad(heap, number, i, "a slot past the count is in use");
    return unfilled == head->unfilled ? STATUS_OK : bad(heap, number, 0, "count of empty slots is wrong");
}

/* Long values are followed with the page's pin alone: they stay while their version's page can't be pruned. */
static enum status check_long_values(const struct heap *heap, const struct page_ref *ref, uint16_t slot_count, const uint8_t *filled)
{
    uint16_t columns = pax_known_columns(heap, ref->bytes);
    for (uint16_t c = 0; c < columns; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        for (uint16_t i = 0; i < slot_count; i++) {
            struct pax_cell cell = pax_cells(ref->bytes, c)[i];
            if (!filled[i] || pax_cell_null(ref->bytes, c, i) || cell.length != CELL_OVERFLOW)
                continue;
            struct overflow_ref value;
            memcpy(&value, ref->bytes + cell.offset, sizeof value);
            enum status status = overflow_check(heap, &value);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

enum status heap_check(const struct heap *heap)
{
    uint32_t pages;
    enum status status = heap_pages(heap, &pages);
    for (uint32_t number = 0; number < pages && !status; number++) {
        struct page_ref ref;
        bool empty;
        uint8_t filled[PAX_MAX_SLOTS];
        status = pool_fetch(heap->store->pool, (page_id){heap->file, number}, LATCH_SHARED, RANK_HEAP, 0, &ref);
        if (status)
            break;
        status = pax_check_kind(heap, &ref, &empty);
        if (!status && !empty) {
            uint32_t pages_now;              /* the file may have grown since we began */
            status = heap_pages(heap, &pages_now);
            if (!status)
                status = check_page(heap, &ref, pages_now);
        }
        if (!status)
            status = check_map(heap, &ref, empty);
        uint16_t slot_count = status || empty ? 0 : pax_head(ref.bytes)->slot_count;
        for (uint16_t i = 0; i < slot_count; i++)
            filled[i] = SLOT_STATE(pax_states(ref.bytes)[i]) == SLOT_FILLED;
        pool_unlatch(&ref);
        if (slot_count)
            status = check_long_values(heap, &ref, slot_count, filled);
        pool_release(&ref);
    }
    return status;
}
