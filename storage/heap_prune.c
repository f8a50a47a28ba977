/* storage/heap_prune.c - removing the dead versions of one page.
 *
 * A version is dead when its maker aborted, or when its ender committed at or before the horizon: no snapshot, now or
 * later, sees it. A page is planned first (outcomes are read, which may fail) and then changed.
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
    uint16_t columns = pax_known_columns(heap, page);
    for (int pass = 0; pass < 2; pass++) {
        uint32_t references = 0;
        for (uint16_t c = 0; c < columns; c++) {
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
    bool old = false;                        /* `committed` is before the horizon, and not frozen yet */

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
            if (view.state == TXN_COMMITTED) {
                committed = xmin[i];
                old = view.number <= horizon;
            } else if (view.state == TXN_ABORTED)
                fates[i] = GOES;
        }
        plan->freeze[i] = xmin[i] != XID_FROZEN && xmin[i] == committed && old;
        if (xmax[i] != XID_NONE && fates[i] == STAYS) {
            status = txn_peek(heap->store, xmax[i], &view);
            if (status)
                return status;
            if (view.state == TXN_ABORTED)
                plan->clear_xmax[i] = plan->any = true;
            else if (view.state == TXN_COMMITTED && view.number <= horizon)
                fates[i] = GOES;
        }
        plan->freeze[i] &= fates[i] == STAYS;
        any_dead |= fates[i] == GOES;
    }
    uint16_t columns = pax_known_columns(heap, page);
    for (uint16_t c = 0; c < columns; c++)
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
    for (uint16_t c = 0; c < columns; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        const struct pax_cell *cells = pax_cells(page, c);
        for (uint16_t i = 0; i < plan->slot_count; i++)
            if (SLOT_STATE(plan->state[i]) == SLOT_FILLED && !pax_cell_null(page, c, i))
                plan->var_bytes += cells[i].length == CELL_OVERFLOW ? sizeof(struct overflow_ref) : cells[i].length;
    }
    return STATUS_OK;
}

/* Runs of slots that some field of must become 0. */
static void zero_fields(struct mtr *mtr, uint8_t *page, uint16_t first, uint16_t count, bool values_too)
{
    const struct pax_head *head = pax_head(page);
    mtr_fill(mtr, page, head->xmax + 8u * first, 0, 8u * count);
    mtr_fill(mtr, page, head->cmax + 4u * first, 0, 4u * count);
    mtr_fill(mtr, page, head->newer + 8u * first, 0, 8u * count);
    for (uint16_t c = 0; c < head->column_count && values_too; c++) {
        const uint8_t *nulls = pax_nulls(page, c);
        if (nulls && memchr(nulls + first, 1, count))
            mtr_fill(mtr, page, pax_columns(page)[c].nulls + (uint32_t)first, 0, count);
    }
}

/* Rule 3: marks the bytes that stay in a map, moves each run of them up against the one above it, and turns the cells
 * around. Page and plan are past their states' change. */
static void push_together(struct mtr *mtr, const struct heap *heap, uint8_t *page, uint16_t slot_count)
{
    static _Thread_local uint8_t map[PAGE_BYTES];
    static _Thread_local struct pax_cell cells[PAX_MAX_SLOTS];
    static _Thread_local struct run { uint16_t from, to; } runs[PAGE_BYTES / 2];     /* from the page's end downwards; `to`: where it starts now */
    struct pax_head *head = pax_head(page);
    const uint8_t *states = pax_states(page);
    uint32_t old_start = head->var_start, run_count = 0;
    uint16_t columns = pax_known_columns(heap, page);
    memset(map + old_start, 0, PAGE_BYTES - old_start);
    for (uint16_t c = 0; c < columns; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        const struct pax_cell *at = pax_cells(page, c);
        for (uint16_t i = 0; i < slot_count; i++)
            if (SLOT_STATE(states[i]) == SLOT_FILLED && !pax_cell_null(page, c, i))
                memset(map + at[i].offset, 1, at[i].length == CELL_OVERFLOW ? sizeof(struct overflow_ref) : at[i].length);
    }
    uint32_t end = PAGE_BYTES, target = PAGE_BYTES;
    while (end > old_start) {
        const uint8_t *last = memrchr(map + old_start, 1, end - old_start);
        if (!last)
            break;
        end = (uint32_t)(last - map) + 1;
        const uint8_t *hole = memrchr(map + old_start, 0, end - old_start);
        uint32_t from = hole ? (uint32_t)(hole - map) + 1 : old_start;
        target -= end - from;
        if (target != from)
            mtr_move(mtr, page, target, from, end - from);
        runs[run_count++] = (struct run){(uint16_t)from, (uint16_t)target};
        end = from;
    }
    if (target == old_start)
        return;
    ASSERT(run_count > 0 || target == PAGE_BYTES);
    for (uint16_t c = 0; c < columns; c++) {
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        bool moved = false;
        memcpy(cells, pax_cells(page, c), sizeof *cells * slot_count);
        for (uint16_t i = 0; i < slot_count; i++) {
            if (SLOT_STATE(states[i]) != SLOT_FILLED || pax_cell_null(page, c, i) || cells[i].length == 0)
                continue;
            uint32_t low = 0, high = run_count ? run_count - 1 : 0;  /* the first run, downwards, that starts at or below the cell */
            while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (runs[middle].from <= cells[i].offset)
                    high = middle;
                else
                    low = middle + 1;
            }
            moved |= runs[low].from != runs[low].to;
            cells[i].offset = (uint16_t)(cells[i].offset - runs[low].from + runs[low].to);
        }
        if (moved)
            mtr_write(mtr, page, pax_columns(page)[c].values, cells, sizeof *cells * slot_count);
    }
    mtr_fill(mtr, page, old_start, 0, target - old_start);
    pax_write_counts(mtr, page, head->slot_count, (uint16_t)target, head->unfilled, head->flags);
}

void prune_apply(struct mtr *mtr, const struct heap *heap, uint8_t *page, const struct prune_plan *plan)
{
    static const xid_t frozen = XID_FROZEN;
    struct pax_head *head = pax_head(page);
    uint16_t old_count = head->slot_count, unfilled = 0;
    uint32_t number = page_header(page)->page;
    uint8_t states[PAX_MAX_SLOTS];
    if (plan->removed > old_count / 2)
        mtr_image(mtr, page);                /* shorter than so many verbs */

    for (uint16_t i = 0; i < old_count;) {   /* version fields of what goes, in runs */
        uint16_t end = i;
        while (end < old_count && SLOT_STATE(plan->state[end]) != SLOT_FILLED && SLOT_STATE(pax_states(page)[end]) == SLOT_FILLED)
            end++;
        if (end > i)
            zero_fields(mtr, page, i, (uint16_t)(end - i), true);
        else if (plan->clear_xmax[i])
            zero_fields(mtr, page, i, 1, false);
        i = end > i ? end : (uint16_t)(i + 1);
    }
    for (uint16_t i = 0; i < old_count; i++) {
        uint8_t is = SLOT_STATE(plan->state[i]);
        uint64_t newer = is == SLOT_REDIRECT ? ROW_ID(number, plan->target[i]) | NEWER_SET : 0;
        states[i] = plan->clear_xmax[i] ? plan->state[i] & (uint8_t)~SLOT_KEY_CHANGED : plan->state[i];
        unfilled += i < plan->slot_count && is != SLOT_FILLED;
        if (is != SLOT_FILLED && pax_newer(page)[i] != newer)
            mtr_write(mtr, page, head->newer + 8u * i, &newer, 8);
        if (plan->kept_dead == 0 && plan->freeze[i])
            mtr_write(mtr, page, head->xmin + 8u * i, &frozen, 8);
    }
    mtr_write(mtr, page, head->states, states, old_count);
    pax_write_counts(mtr, page, plan->slot_count, head->var_start, unfilled, head->flags);
    if ((uint32_t)PAGE_BYTES - head->var_start != plan->var_bytes)
        push_together(mtr, heap, page, plan->slot_count);
}
