/* storage/vacuum.c - one pass over a heap: prunes every page, has the index entries of dead rows taken, frees their
 * slots, frees garbage long values, and brings the free-space map up to date.
 *
 *     page by page: prune, freeze, mark all-visible; note DEAD slots
 *     when the notes are full, and at the end: clean_indexes(row ids) -> the slots become FREE
 *     overflow_sweep
 *
 * 1. A slot is DEAD from its pruning until no index entry leads to it; only then may it be given out again. A scan that
 *    read such an entry before it was taken may still come to the slot afterwards: a new row there is younger than the
 *    scan's snapshot, which does not see it.
 * 2. A page whose versions are all visible to every snapshot is marked so, and their makers' ids are replaced by
 *    FROZEN: nobody needs the status pages of those any more. oldest_xid is the oldest id that is left on the heap's
 *    pages, 0 when some page could not be looked at.
 * 3. Pruning needs the page's only pin: a page that somebody reads is left for the next time.
 * 4. A page with DEAD slots is not marked: index entries still lead to them, and who reads an index alone takes every entry for
 *    a row where the page is marked. It is marked when its slots are freed, in the same mini-transaction. */
#include "storage/heap_private.h"
#include "base/mutant.h"

#include <stdlib.h>

struct pass {
    const struct heap *heap;
    struct heap_state *state;
    bool try_only;
    uint64_t *dead;                          /* row ids of DEAD slots, rising */
    size_t dead_count, dead_capacity;
    enum status (*clean_indexes)(void *, const uint64_t *, size_t);
    void *context;
    xid_t oldest;
    bool  unknown;                           /* some page was skipped */
    struct vacuum_result *result;
};

static uint8_t room(const uint8_t *page)
{
    const struct pax_head *head = pax_head(page);
    const uint8_t *states = pax_states(page);
    uint32_t slots = head->capacity - head->slot_count;
    for (uint16_t i = 0; i < head->slot_count; i++)
        slots += SLOT_STATE(states[i]) == SLOT_FREE;
    uint32_t by_slots = slots * (SPACE_ROOM - 1u) / head->capacity;
    uint32_t by_bytes = head->arrays_end + 256u > PAGE_BYTES ? SPACE_ROOM - 1u : pax_var_room(page) * (SPACE_ROOM - 1u) / (PAGE_BYTES - head->arrays_end);
    bool vars = head->var_start < PAGE_BYTES;    /* a page whose rows have no bytes of varying length needs no such room */
    return (uint8_t)(vars && by_bytes < by_slots ? by_bytes : by_slots);
}

/* After `plan`: is every version that stays visible to all (it will be frozen then)? If not, the oldest id that stays. */
static enum status settled(const struct pass *pass, const uint8_t *page, const struct prune_plan *plan, lsn_t horizon, bool *all, xid_t *oldest, uint32_t *live)
{
    const xid_t *xmin = pax_xmin(page), *xmax = pax_xmax(page);
    xid_t last = XID_FROZEN, oldest_here = UINT64_MAX;
    bool freezes = plan->any && plan->kept_dead == 0;
    *all = true;
    *live = 0;
    for (uint16_t i = 0; i < plan->slot_count; i++) {
        if (SLOT_STATE(plan->state[i]) != SLOT_FILLED)
            continue;
        ++*live;
        if (xmin[i] != XID_FROZEN && xmin[i] < oldest_here && !(freezes && plan->freeze[i]))
            oldest_here = xmin[i];
        if (xmax[i] != XID_NONE && !plan->clear_xmax[i]) {
            *all = false;
            if (xmax[i] < oldest_here)
                oldest_here = xmax[i];
            continue;
        }
        if (xmin[i] == last)
            continue;
        struct txn_view view;
        enum status status = txn_peek(pass->heap->store, xmin[i], &view);
        if (status)
            return status;
        if (view.state == TXN_COMMITTED && view.number <= horizon)
            last = xmin[i];
        else
            *all = false;
    }
    if (!*all && oldest_here < *oldest)
        *oldest = oldest_here;
    return STATUS_OK;
}

static void freeze(struct mtr *mtr, uint8_t *page)
{
    static const xid_t frozen[PAX_MAX_SLOTS] = {[0 ... PAX_MAX_SLOTS - 1] = XID_FROZEN};
    const struct pax_head *head = pax_head(page);
    uint16_t i = 0;
    while (i < head->slot_count) {           /* runs of ids that are not frozen yet */
        uint16_t end = i;
        while (end < head->slot_count && SLOT_STATE(pax_states(page)[end]) == SLOT_FILLED && pax_xmin(page)[end] != XID_FROZEN)
            end++;
        if (end > i)
            mtr_write(mtr, page, head->xmin + 8u * i, frozen, 8u * (uint32_t)(end - i));
        i = end + 1;
    }
}

/* The mtr has the map's page. */
static void set_flag(struct mtr *mtr, const struct heap *heap, uint8_t *page)
{
    const struct pax_head *head = pax_head(page);
    pax_write_counts(mtr, page, head->slot_count, head->var_start, head->unfilled, (uint16_t)(head->flags | PAX_ALL_VISIBLE));
    visibility_set(mtr, heap, page_header(page)->page);
}

/* Rule 4, once no slot is DEAD: is every version one that vacuum has frozen, and nobody ended since? */
static bool all_frozen(const uint8_t *page)
{
    const struct pax_head *head = pax_head(page);
    bool all = true;
    for (uint16_t i = 0; i < head->slot_count && all; i++) {
        uint8_t state = SLOT_STATE(pax_states(page)[i]);
        all = state == SLOT_FILLED ? pax_xmin(page)[i] == XID_FROZEN && pax_xmax(page)[i] == XID_NONE : state != SLOT_DEAD;
    }
    return all;
}

static enum status vacuum_page(struct pass *pass, uint32_t number, lsn_t horizon)
{
    const struct heap *heap = pass->heap;
    struct pool *pool = heap->store->pool;
    struct page_ref ref;
    page_id id = {heap->file, number};
    enum status status = pass->try_only ? pool_fetch_try(pool, id, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref)
                                        : pool_fetch(pool, id, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref);
    if (status == STATUS_WOULD_BLOCK) {
        pass->unknown = true;
        return STATUS_OK;
    }
    if (status)
        return status;
    bool empty;
    status = pax_check_kind(heap, &ref, &empty);
    if (status || empty) {
        pool_release(&ref);
        return status ? status : space_set(heap, number, SPACE_ROOM);
    }
    uint8_t *page = ref.bytes;
    struct pax_head *head = pax_head(page);
    struct overflow_deltas deltas = {.count = 0};
    struct prune_plan plan;
    status = prune_plan(heap, page, number, horizon, &deltas, &plan);
    if (!status && plan.any && !pool_only_pin(&ref)) {       /* rule 3: as it is, then */
        deltas.count = 0;
        plan.any = false;
        plan.kept_dead += plan.removed;
        plan.slot_count = head->slot_count;
        memcpy(plan.state, pax_states(page), head->slot_count);
        memset(plan.clear_xmax, 0, sizeof plan.clear_xmax);
    }
    bool all = false;
    uint32_t live = 0;
    if (!status)
        status = settled(pass, page, &plan, horizon, &all, &pass->oldest, &live);
    if (status) {
        pool_release(&ref);
        return status;
    }
    bool mark = all && !(head->flags & PAX_ALL_VISIBLE), dead = false;
    pass->result->pages++;
    pass->result->rows_live += live - (live > plan.kept_dead ? plan.kept_dead : live);
    pass->result->rows_dead_kept += plan.kept_dead;
    for (uint16_t i = 0; i < plan.slot_count; i++) {
        if (SLOT_STATE(plan.state[i]) == SLOT_DEAD) {
            pass->dead[pass->dead_count++] = ROW_ID(number, i);
            dead = !MUTANT(DEAD_CALLED_VISIBLE);     /* rule 4 */
        }
    }
    uint8_t free_room;
    if (plan.any || mark) {
        struct mtr mtr;
        mtr_begin(&mtr, heap->store, XID_NONE);
        mtr_join(&mtr, &ref);
        status = overflow_deltas_fetch(heap, &deltas, &mtr);
        if (!status && mark && !dead)
            status = visibility_join_page(heap, number, &mtr);
        if (status) {
            mtr_cancel(&mtr);
            return status;
        }
        if (plan.any) {
            prune_apply(&mtr, heap, page, &plan);
            pass->result->rows_removed += plan.removed;
        }
        if (mark)
            freeze(&mtr, page);
        if (mark && !dead)
            set_flag(&mtr, heap, page);
        overflow_deltas_apply(heap, &deltas, &mtr);
        free_room = room(page);
        mtr_commit(&mtr);
    } else {
        free_room = room(page);
        pool_release(&ref);
    }
    return space_set(heap, number, free_room);
}

/* The index entries of these are gone: their slots are free. */
static enum status free_dead(struct pass *pass)
{
    const struct heap *heap = pass->heap;
    size_t i = 0;
    while (i < pass->dead_count) {
        uint32_t number = ROW_PAGE(pass->dead[i]);
        struct page_ref ref;
        enum status status = pool_fetch(heap->store->pool, (page_id){heap->file, number}, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref);
        if (status)
            return status;
        uint8_t *page = ref.bytes;
        struct mtr mtr;
        mtr_begin(&mtr, heap->store, XID_NONE);
        mtr_join(&mtr, &ref);
        status = visibility_join_page(heap, number, &mtr);
        if (status) {
            mtr_cancel(&mtr);
            return status;
        }
        for (; i < pass->dead_count && ROW_PAGE(pass->dead[i]) == number; i++) {
            uint16_t slot = ROW_SLOT(pass->dead[i]);
            uint8_t state = SLOT_FREE;
            if (SLOT_STATE(pax_states(page)[slot]) == SLOT_DEAD)
                mtr_write(&mtr, page, pax_head(page)->states + (uint32_t)slot, &state, 1);
        }
        if (!(pax_head(page)->flags & PAX_ALL_VISIBLE) && all_frozen(page))
            set_flag(&mtr, heap, page);
        uint8_t free_room = room(page);
        mtr_commit(&mtr);
        status = space_set(heap, number, free_room);
        if (status)
            return status;
    }
    pass->dead_count = 0;
    return STATUS_OK;
}

static enum status clean(struct pass *pass)
{
    if (pass->dead_count == 0)
        return STATUS_OK;
    enum status status = pass->clean_indexes ? pass->clean_indexes(pass->context, pass->dead, pass->dead_count) : STATUS_OK;
    return status ? status : free_dead(pass);
}

enum status heap_vacuum(const struct heap *heap, struct txn_slot *slot, bool try_only, uint64_t memory_bytes,
                        enum status (*clean_indexes)(void *, const uint64_t *, size_t), void *context, struct vacuum_result *out)
{
    (void)slot;
    *out = (struct vacuum_result){0};
    struct pass pass = {.heap = heap, .state = heap_state(heap), .try_only = try_only, .clean_indexes = clean_indexes, .context = context, .result = out};
    uint32_t pages;
    pass.oldest = txn_oldest_running(heap->store);
    enum status status = heap_pages(heap, &pages);
    if (status)
        return status;
    pass.dead_capacity = memory_bytes / sizeof *pass.dead;
    uint64_t most = (uint64_t)pages * PAX_MAX_SLOTS;
    if (pass.dead_capacity > most)
        pass.dead_capacity = most;
    if (pass.dead_capacity < PAX_MAX_SLOTS)
        pass.dead_capacity = PAX_MAX_SLOTS;
    pass.dead = malloc(pass.dead_capacity * sizeof *pass.dead);
    if (!pass.dead)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    lsn_t horizon = 0;
    for (uint32_t page = 0; page < pages && !status; page++) {
        if (page % 64 == 0)
            horizon = txn_horizon(heap->store);
        if (thread_interrupts() & (INTERRUPT_CANCEL | INTERRUPT_TERMINATE | INTERRUPT_TIMEOUT | INTERRUPT_STOP_WORK)) {
            status = lock_graph_interrupted(0);
            if (!status)
                status = error_set(STATUS_CANCELED, NULL);
            break;
        }
        if (pass.dead_capacity - pass.dead_count < PAX_MAX_SLOTS)
            status = clean(&pass);
        if (!status)
            status = vacuum_page(&pass, page, horizon);
    }
    if (!status)
        status = clean(&pass);
    free(pass.dead);
    if (!status)
        status = overflow_sweep(heap, pass.state, &out->overflow_freed);
    atom_store(&pass.state->space_spent, false);
    if (!status) {
        atomic_store_explicit(&pass.state->dead, out->rows_dead_kept, memory_order_relaxed);
        out->oldest_xid = pass.unknown ? 0 : pass.oldest;
    }
    return status;
}
