/* storage/heap_insert.c - where new rows go.
 *
 * Each file has a few insert targets, a latch and a page each. A thread takes a target that is free and fills its page
 * with as many rows as fit, under one mtr. When the page is full: a page left over from the last growth, else one that
 * the free-space map offers, else the file grows, by a sixteenth of its length up to 64 pages.
 *
 * 1. A target's page is a hint like any other: what is really on it is looked at under its latch, so nothing breaks when
 *    two targets, or a target and an update, use the same page.
 * 2. Inserts leave a sixteenth of the slots (and so of the room) for updates that want to stay on the page.
 * 3. FREE slots are given out only under the page's only pin (pax.h). */
#include "storage/heap_private.h"

static uint16_t slack(uint16_t capacity) { return capacity / 16; }

enum status target_choose(const struct heap *heap, struct heap_state *state, struct insert_target *target, bool fresh_only, uint32_t avoid)
{
    struct pool *pool = heap->store->pool;
    if (target->page != NO_PAGE && target->page != avoid)
        return STATUS_OK;
    if (target->fresh < target->fresh_end) {
        target->page = target->fresh++;
        return STATUS_OK;
    }
    target->page = NO_PAGE;
    uint32_t pages;
    enum status status = pool_file_pages(pool, heap->file, &pages);
    if (status)
        return status;
    if (!fresh_only && !atom_load(&state->space_spent)) {
        uint32_t from = atom_load(&state->space_hint), found;
        status = space_take(heap, from, pages, SPACE_ENOUGH, &found);
        if (!status && found == NO_PAGE && from > 0)
            status = space_take(heap, 0, from, SPACE_ENOUGH, &found);
        if (status)
            return status;
        atom_store(&state->space_hint, found == NO_PAGE ? 0 : found + 1);
        if (found == NO_PAGE)
            atom_store(&state->space_spent, true);
        else if (found != avoid) {
            target->page = found;
            return STATUS_OK;
        }
    }
    uint32_t more = pages / 16 < 1 ? 1 : pages / 16 > 64 ? 64 : pages / 16, first;
    status = pool_extend(pool, heap->file, more, &first);
    if (status)
        return status;
    target->page = first;
    target->fresh = first + 1;
    target->fresh_end = first + more;
    return STATUS_OK;
}

uint16_t fresh_capacity(const struct staged *s, struct heap_state *state, uint32_t first)
{
    const struct heap *heap = s->heap;
    uint64_t sum = 0;
    uint32_t sample = s->count - first < 512 ? s->count - first : 512;
    for (uint32_t i = 0; i < sample; i++)
        sum += s->var_bytes[first + i];
    uint32_t mean = (uint32_t)((sum + sample - 1) / sample);
    uint32_t known = (atomic_load_explicit(&state->mean_var16, memory_order_relaxed) + 15) / 16;
    if (sample < 32 && known)
        mean = known;
    return pax_capacity(heap->columns, heap->column_count, mean, s->var_bytes[first]);
}

static void learn_mean(const struct staged *s, struct heap_state *state)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->count; i++)
        sum += s->var_bytes[i];
    uint32_t mean = (uint32_t)(sum * 16 / s->count);
    uint32_t known = atomic_load_explicit(&state->mean_var16, memory_order_relaxed);
    if (known)
        mean = s->count >= 16 ? (known + mean) / 2 : (uint32_t)(((uint64_t)known * 31 + mean) / 32);
    atomic_store_explicit(&state->mean_var16, mean, memory_order_relaxed);
}

int32_t pax_free_slot(const uint8_t *page, bool only_pin, bool keep_slack)
{
    const struct pax_head *head = pax_head(page);
    if (only_pin && head->unfilled) {
        const uint8_t *states = pax_states(page);
        for (uint16_t i = 0; i < head->slot_count; i++)
            if (SLOT_STATE(states[i]) == SLOT_FREE)
                return i;
    }
    return head->slot_count < head->capacity - (keep_slack ? slack(head->capacity) : 0) ? head->slot_count : -1;
}

/* The next run of slots for new rows, at or past `from`. */
static uint16_t free_run(const uint8_t *page, bool only_pin, uint16_t from, uint16_t limit, uint16_t *slot)
{
    const struct pax_head *head = pax_head(page);
    const uint8_t *states = pax_states(page);
    uint16_t i = from;
    if (!only_pin || !head->unfilled)
        i = head->slot_count > from ? head->slot_count : from;
    while (i < head->slot_count && SLOT_STATE(states[i]) != SLOT_FREE)
        i++;
    *slot = i;
    while (i < head->slot_count && SLOT_STATE(states[i]) == SLOT_FREE)
        i++;
    if (i >= head->slot_count && i < limit)
        i = limit;
    return i > *slot ? (uint16_t)(i - *slot) : 0;
}

/* Puts as many of the rows as fit on the target's page; if none does, gives the page up. */
static enum status fill_page(const struct heap *heap, struct heap_state *state, struct insert_target *target, const struct staged *s,
                             xid_t xid, command_t command, uint32_t *done, uint64_t *row_ids)
{
    struct page_ref ref;
    enum status status = pool_fetch(heap->store->pool, (page_id){heap->file, target->page}, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref);
    if (status)
        return status;
    bool fresh;
    status = pax_check_kind(heap, &ref, &fresh);
    if (status) {
        pool_release(&ref);
        return status;
    }
    struct pax_head *head = pax_head(ref.bytes);
    uint16_t capacity = fresh ? fresh_capacity(s, state, *done) : head->capacity;
    uint16_t limit = capacity - slack(capacity);
    uint32_t slots = 0, room = 0;
    bool only_pin = !fresh && head->unfilled && pool_only_pin(&ref);
    if (fresh) {
        slots = limit;
        room = PAGE_BYTES - pax_arrays_end(heap->columns, heap->column_count, capacity);
    } else if (pax_takes(heap, ref.bytes)) {
        room = pax_var_room(ref.bytes);
        slots = limit > head->slot_count ? (uint32_t)(limit - head->slot_count) : 0;
        if (only_pin)
            for (uint16_t i = 0; i < head->slot_count; i++)
                slots += SLOT_STATE(pax_states(ref.bytes)[i]) == SLOT_FREE;
    }
    struct overflow_deltas deltas = {.count = 0};
    uint32_t count = 0;
    while (*done + count < s->count && count < slots && s->var_bytes[*done + count] <= room && stage_deltas(s, *done + count, &deltas)) {
        room -= s->var_bytes[*done + count];
        count++;
    }
    if (count == 0) {
        pool_release(&ref);
        ASSERT(!fresh);
        target->page = NO_PAGE;
        return STATUS_OK;
    }

    struct mtr mtr;
    mtr_begin(&mtr, heap->store, xid);
    mtr_join(&mtr, &ref);
    status = overflow_deltas_fetch(heap, &deltas, &mtr);
    if (!status)
        status = visibility_join(heap, ref.bytes, &mtr);
    if (status) {
        mtr_cancel(&mtr);
        return status;
    }
    uint8_t *page = ref.bytes;
    uint32_t page_number = ref.id.page;
    if (fresh) {
        mtr_format(&mtr, page, PAGE_HEAP);
        pax_format(page, heap->columns, heap->column_count, capacity);
    }
    uint16_t from = 0;
    for (uint32_t left = count; left > 0;) {
        uint16_t slot, run = free_run(page, only_pin, from, limit, &slot);
        ASSERT(run > 0);
        if (run > left)
            run = (uint16_t)left;
        stage_write(&mtr, page, s, *done, run, slot, xid, command, SLOT_FILLED);
        for (uint16_t i = 0; i < run; i++)
            row_ids[*done + i] = ROW_ID(page_number, slot + i);
        *done += run;
        left -= run;
        from = (uint16_t)(slot + run);
    }
    overflow_deltas_apply(heap, &deltas, &mtr);
    mtr_commit(&mtr);
    return STATUS_OK;
}

enum status heap_insert(const struct heap *heap, struct txn *txn, const struct batch *rows, uint64_t *row_ids, bool fresh_pages_only)
{
    if ((rows->all_selected ? rows->row_count : rows->selected_count) == 0)
        return STATUS_OK;
    struct heap_state *state = heap_state(heap);
    struct staged staged;
    xid_t xid;
    enum status status = txn_id(txn, &xid);
    if (!status)
        status = stage_rows(heap, state, xid, rows, -1, NULL, &staged);
    if (status)
        return status;
    learn_mean(&staged, state);
    struct insert_target *target = target_acquire(state);
    uint32_t done = 0;
    while (done < staged.count && !status) {
        status = target_choose(heap, state, target, fresh_pages_only, NO_PAGE);
        if (!status)
            status = fill_page(heap, state, target, &staged, xid, txn_command(txn), &done, row_ids);
    }
    target_release(target);
    atomic_fetch_add_explicit(&state->inserted, done, memory_order_relaxed);
    atomic_fetch_add_explicit(&state->changed, done, memory_order_relaxed);
    stage_done(&staged);
    return status;
}
