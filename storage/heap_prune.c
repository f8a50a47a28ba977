/* storage/heap_prune.c - removing the dead versions of one page.
 *
 * A version is dead when its maker aborted, or when its ender committed at or before the horizon: no snapshot, now or
 * later, sees it. A page is planned first (outcomes are read, which may fail) and then changed by hand under one image.
 *
 *     dead, heap-only                        FREE: nothing points at it
 *     dead, with index entries, and the      REDIRECT to the first version of its chain that stays; or DEAD, until
 *       chain goes on / doesn't                vacuum has taken its index entries
 *
 * 1. Versions of a chain die oldest first, so what stays is the chain's end; but a version that must be kept though it
 *    is dead (its row is locked; more overflow pages than one mtr holds) keeps all behind it: a chain is never torn.
 * 2. An ender that aborted is taken off (xmax 0), so that later readers need not ask.
 * 3. Slots never move. Bytes of varying length do: they are pushed together at the page's end. */
#include "storage/heap_private.h"

enum fate { STAYS, GOES };

/* The references that a version holds; false when the list is full (nothing was changed then). */
static bool count_references(const struct heap *heap, const uint8_t *page, uint16_t slot, int32_t change, struct overflow_deltas *deltas)
{
    const struct pax_head *head = pax_head(page);
    for (int pass = 0; pass < 2; pass++) {
        uint32_t references = 0;
        for (uint16_t c = 0; c < head->column_count; c++) {
            if (heap->columns[c].width != WIDTH_VARLEN || pax_cell_null(page, c, slot))
                continue;
            struct pax_cell cell = pax_cells(page, c)[slot];
            if (cell.length != CELL_OVERFLOW)
                continue;
            references++;
            struct overflow_ref ref;
            memcpy(&ref, page + cell.offset, sizeof ref);
            if (pass == 1 && !overflow_deltas_add(deltas, ref.first_page, change))
                ASSERT(!"the first pass made sure of the room");
        }
        if (pass == 0 && (references == 0 || (change < 0 && deltas->count + references > OVERFLOW_DELTAS)))
            return references == 0;
    }
    return true;
}

static void keep_chain(const struct heap *heap, const uint8_t *page, uint32_t number, uint16_t slot, uint8_t *fates,
                       bool counted, uint16_t counted_below, struct overflow_deltas *deltas, struct prune_plan *plan)
{
    int32_t next = slot;
    for (uint32_t steps = 0; next >= 0 && steps < PAX_MAX_SLOTS; steps++, next = chain_next(page, number, (uint16_t)next)) {
        if (fates[next] != GOES)
            continue;
        fates[next] = STAYS;
        plan->kept_dead++;
        if (counted && next < counted_below)
            count_references(heap, page, (uint16_t)next, 1, deltas);
    }
}

enum status prune_plan(const struct heap *heap, const uint8_t *page, uint32_t number, lsn_t horizon, struct overflow_deltas *deltas,
                       struct prune_plan *plan)
{
    const struct pax_head *head = pax_head(page);
    const uint8_t *states = pax_states(page);
    const xid_t *xmin = pax_xmin(page), *xmax = pax_xmax(page);
    uint8_t fates[PAX_MAX_SLOTS];
    bool any_dead = false, locks = lock_row_any(heap->store, heap->file), vars = false;
    *plan = (struct prune_plan){.slot_count = head->slot_count};
    xid_t committed = XID_FROZEN;

    for (uint16_t i = 0; i < head->slot_count; i++) {
        plan->state[i] = states[i];
        fates[i] = STAYS;
        if (SLOT_STATE(states[i]) != SLOT_FILLED)
            continue;
        struct txn_view view;
        enum status status;
        if (xmin[i] != committed) {
            status = txn_peek(heap->store, xmin[i], &view);
            if (status)
                return status;
            if (view.state == TXN_COMMITTED)
                committed = xmin[i];
            else if (view.state == TXN_ABORTED)
                fates[i] = GOES;
        }
        if (xmax[i] != XID_NONE && fates[i] == STAYS) {
            status = txn_peek(heap->store, xmax[i], &view);
            if (status)
                return status;
            if (view.state == TXN_ABORTED)
                plan->clear_xmax[i] = plan->any = true;
            else if (view.state == TXN_COMMITTED && view.number <= horizon)
                fates[i] = GOES;
        }
        any_dead |= fates[i] == GOES;
    }
    for (uint16_t c = 0; c < head->column_count; c++)
        vars |= heap->columns[c].width == WIDTH_VARLEN;

    if (any_dead) {
        for (uint16_t i = 0; i < head->slot_count && locks; i++)
            if (fates[i] == GOES && lock_row_held(heap->store, heap->file, ROW_ID(number, i)))
                keep_chain(heap, page, number, i, fates, false, 0, deltas, plan);
        for (uint16_t i = 0; i < head->slot_count && vars; i++)
            if (fates[i] == GOES && !count_references(heap, page, i, -1, deltas))
                keep_chain(heap, page, number, i, fates, true, i, deltas, plan);
    }
    for (uint16_t i = 0; i < head->slot_count; i++) {
        uint8_t state = SLOT_STATE(states[i]);
        int32_t next;
        if (state == SLOT_FILLED && fates[i] == GOES) {
            plan->any = true;
            plan->removed++;
            if (states[i] & SLOT_HEAP_ONLY) {
                plan->state[i] = SLOT_FREE;
                plan->freed++;
                continue;
            }
            next = chain_next(page, number, i);
        } else if (state == SLOT_REDIRECT) {
            next = chain_first(page, i);
        } else {
            plan->dead += state == SLOT_DEAD;
            continue;
        }
        for (uint32_t steps = 0; next >= 0 && fates[next] == GOES && steps < PAX_MAX_SLOTS; steps++)
            next = chain_next(page, number, (uint16_t)next);
        if (next >= 0) {
            plan->state[i] = SLOT_REDIRECT;
            plan->target[i] = (uint16_t)next;
            plan->redirected++;
        } else {
            plan->state[i] = SLOT_DEAD;
            plan->dead++;
            plan->any = true;
        }
    }
    if (plan->any)
        while (plan->slot_count > 0 && plan->state[plan->slot_count - 1] == SLOT_FREE)
            plan->slot_count--;
    for (uint16_t c = 0; c < head->column_count; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        const struct pax_cell *cells = pax_cells(page, c);
        for (uint16_t i = 0; i < plan->slot_count; i++)
            if (SLOT_STATE(plan->state[i]) == SLOT_FILLED && !pax_cell_null(page, c, i))
                plan->var_bytes += cells[i].length == CELL_OVERFLOW ? sizeof(struct overflow_ref) : cells[i].length;
    }
    return STATUS_OK;
}

void prune_apply(struct mtr *mtr, const struct heap *heap, uint8_t *page, const struct prune_plan *plan)
{
    static _Thread_local uint8_t bytes[PAGE_BYTES];
    struct pax_head *head = pax_head(page);
    uint16_t old_count = head->slot_count;
    uint32_t number = page_header(page)->page;
    mtr_image(mtr, page);
    uint8_t *states = pax_states(page);
    uint16_t unfilled = 0;
    for (uint16_t i = 0; i < old_count; i++) {
        uint8_t was = SLOT_STATE(states[i]), is = SLOT_STATE(plan->state[i]);
        states[i] = plan->state[i];
        unfilled += i < plan->slot_count && is != SLOT_FILLED;
        if (is == SLOT_REDIRECT)
            pax_newer(page)[i] = ROW_ID(number, plan->target[i]) | NEWER_SET;
        else if (is != SLOT_FILLED || plan->clear_xmax[i])
            pax_newer(page)[i] = 0;
        if (is != SLOT_FILLED || plan->clear_xmax[i]) {
            pax_xmax(page)[i] = XID_NONE;
            pax_cmax(page)[i] = 0;
            states[i] &= (uint8_t)~SLOT_KEY_CHANGED;
        }
        if (was == SLOT_FILLED && is != SLOT_FILLED) {
            pax_xmin(page)[i] = XID_NONE;
            for (uint16_t c = 0; c < head->column_count; c++) {
                if (pax_nulls(page, c))
                    pax_nulls(page, c)[i] = 0;
                if (heap->columns[c].width == WIDTH_VARLEN)
                    pax_cells(page, c)[i] = (struct pax_cell){0, 0};
            }
        }
    }
    uint32_t at = PAGE_BYTES;
    for (uint16_t c = 0; c < head->column_count; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        struct pax_cell *cells = pax_cells(page, c);
        for (uint16_t i = 0; i < plan->slot_count; i++) {
            if (SLOT_STATE(states[i]) != SLOT_FILLED || pax_cell_null(page, c, i))
                continue;
            uint32_t length = cells[i].length == CELL_OVERFLOW ? sizeof(struct overflow_ref) : cells[i].length;
            at -= length;
            memcpy(bytes + at, page + cells[i].offset, length);
            cells[i].offset = (uint16_t)at;
        }
    }
    ASSERT(at >= head->arrays_end && PAGE_BYTES - at == plan->var_bytes);
    memcpy(page + at, bytes + at, PAGE_BYTES - at);
    memset(page + head->arrays_end, 0, at - head->arrays_end);
    head->var_start = (uint16_t)at;
    head->slot_count = plan->slot_count;
    head->unfilled = unfilled;
}
