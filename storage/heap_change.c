/* storage/heap_change.c - update, delete and lock a row; and is a row alive, for unique checks.
 *
 *     latch the page -> judge -> GO: change it under one mtr
 *                             -> WAIT: let everything go, queue for the row, wait for the transaction, start again
 *                             -> ENDED: say how
 *
 * 1. A version is changed by writing xmax (and, for an update, the link to the newer version); it is "changed" from
 *    then on for everybody, and undone by the transaction's abort alone.
 * 2. Who must wait takes the row's turn first (lock_row_turn): of many who want a hot row one waits for the
 *    transaction, the others for their turn. After any wait the row is judged anew.
 * 3. An update stays on its page when that has room, if need be after pruning (only pin): the new version is heap-only
 *    when no key changes, reached through the chain, and the indexes are left alone. Else the row moves to a page that
 *    takes inserts: the first latch is let go, the insert target is taken, both pages are latched in rising order,
 *    and the row is judged once more.
 *    A page with room is pruned too where the row's chain was long to read: a row that is changed all the time would
 *    else be found behind all of its versions that still have room.
 * 4. Row locks of others are copied to the new version under the page's latch. */
#include "base/plant.h"
#include "storage/heap_private.h"
#include "storage/zone.h"

struct judgement {
    enum { GO, WAIT, ENDED } verdict;
    xid_t wait_for;
    enum heap_outcome outcome;
    uint64_t newer;
    bool being_updated;                      /* GO, though another transaction updates it (without changing keys): KEY SHARE only */
};

static enum status judge(const struct heap *heap, struct txn *txn, const struct page_ref *ref, uint16_t slot, enum row_lock mode, struct judgement *j)
{
    const uint8_t *page = ref->bytes;
    *j = (struct judgement){.verdict = ENDED, .outcome = HEAP_DELETED};
    bool empty;
    enum status status = pax_check_kind(heap, ref, &empty);
    if (status || empty || slot >= pax_head(page)->slot_count || SLOT_STATE(pax_states(page)[slot]) != SLOT_FILLED)
        return status;
    struct txn_view view;
    xid_t xmin = pax_xmin(page)[slot], xmax = pax_xmax(page)[slot];
    if (!txn_is_mine(txn, xmin)) {
        status = txn_peek(heap->store, xmin, &view);
        if (status || view.state == TXN_ABORTED)
            return status;
        if (view.state == TXN_RUNNING) {
            j->verdict = WAIT;
            j->wait_for = xmin;
            return STATUS_OK;
        }
    }
    if (xmax != XID_NONE) {
        uint64_t newer = pax_newer(page)[slot];
        bool ended = true;
        if (txn_is_mine(txn, xmax)) {
            j->outcome = pax_cmax(page)[slot] >= txn_command(txn) ? HEAP_SELF : newer ? HEAP_UPDATED : HEAP_DELETED;
        } else {
            status = txn_peek(heap->store, xmax, &view);
            if (status)
                return status;
            ended = view.state == TXN_COMMITTED;
            j->outcome = newer ? HEAP_UPDATED : HEAP_DELETED;
            if (view.state == TXN_RUNNING) {
                if (mode != ROW_KEY_SHARE || (pax_states(page)[slot] & SLOT_KEY_CHANGED)) {
                    j->verdict = WAIT;
                    j->wait_for = xmax;
                    return STATUS_OK;
                }
                j->being_updated = true;
            }
        }
        j->newer = NEWER_ROW(newer);
        if (ended)
            return STATUS_OK;
    }
    if (lock_row_any(heap->store, heap->file)) {
        j->wait_for = lock_row_conflict(txn, heap->file, ROW_ID(ref->id.page, slot), mode);
        if (j->wait_for) {
            j->verdict = WAIT;
            return STATUS_OK;
        }
    }
    j->verdict = GO;
    return STATUS_OK;
}

struct row_wait { bool turn; uint64_t deadline_us; };

/* Rule 2. Nothing is latched. */
static enum status wait_for_row(const struct heap *heap, struct txn *txn, uint64_t row_id, enum row_lock mode, enum lock_wait wait, xid_t other, struct row_wait *waited)
{
    if (wait == LOCK_SKIP)
        return STATUS_WOULD_BLOCK;
    if (wait == LOCK_NOWAIT)
        return error_set(STATUS_LOCK_NOT_AVAILABLE, "could not obtain lock on row in relation \"%s\"", heap->name);
    if (!waited->turn) {
        enum status status = lock_row_turn(txn, heap->file, row_id, mode);
        waited->turn = !status;
        return status;
    }
    return lock_wait_a_while(txn, other, &waited->deadline_us);
}

static enum status fetch(const struct heap *heap, uint32_t page, enum latch_mode mode, struct page_ref *ref)
{
    return pool_fetch(heap->store->pool, (page_id){heap->file, page}, mode, RANK_HEAP, 0, ref);
}

/* Rule 1. `newer` 0: a delete. */
static void end_version(struct mtr *mtr, const struct heap *heap, uint8_t *page, uint16_t slot, xid_t xid, command_t command, uint64_t newer, bool key_changed)
{
    struct pax_head *head = pax_head(page);
    mtr_write(mtr, page, head->xmax + 8u * slot, &xid, 8);
    mtr_write(mtr, page, head->cmax + 4u * slot, &command, 4);
    if (pax_newer(page)[slot] != newer)
        mtr_write(mtr, page, head->newer + 8u * slot, &newer, 8);
    uint8_t state = (uint8_t)((pax_states(page)[slot] & ~SLOT_KEY_CHANGED) | (key_changed ? SLOT_KEY_CHANGED : 0));
    if (pax_states(page)[slot] != state)
        mtr_write(mtr, page, head->states + (uint32_t)slot, &state, 1);
    if (head->flags & PAX_ALL_VISIBLE) {
        if (!PLANT(ZONES_STALE))
            zone_clear(heap, page_header(page)->page);
        visibility_clear(mtr, heap, page_header(page)->page);
        pax_write_counts(mtr, page, head->slot_count, head->var_start, head->unfilled, (uint16_t)(head->flags & ~PAX_ALL_VISIBLE));
    }
}

enum status heap_delete(const struct heap *heap, struct txn *txn, uint64_t row_id, enum lock_wait wait, enum heap_outcome *outcome, uint64_t *newer)
{
    xid_t xid;
    struct row_wait waited = {false, 0};
    bool done = false;
    enum status status = txn_id(txn, &xid);
    while (!status && !done) {
        struct page_ref ref;
        struct judgement j;
        status = fetch(heap, ROW_PAGE(row_id), LATCH_EXCLUSIVE, &ref);
        if (status)
            break;
        status = judge(heap, txn, &ref, ROW_SLOT(row_id), ROW_UPDATE, &j);
        if (!status && j.verdict == GO) {
            struct mtr mtr;
            mtr_begin(&mtr, heap->store, xid);
            mtr_join(&mtr, &ref);
            status = visibility_join(heap, ref.bytes, &mtr);
            if (status) {
                mtr_cancel(&mtr);
                break;
            }
            end_version(&mtr, heap, ref.bytes, ROW_SLOT(row_id), xid, txn_command(txn), 0, true);
            mtr_commit(&mtr);
            struct heap_state *state = heap_state(heap);
            atomic_fetch_add_explicit(&state->deleted, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&state->dead, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&state->changed, 1, memory_order_relaxed);
            *outcome = HEAP_DONE;
            done = true;
            break;
        }
        pool_release(&ref);
        if (status)
            break;
        if (j.verdict == WAIT) {
            status = wait_for_row(heap, txn, row_id, ROW_UPDATE, wait, j.wait_for, &waited);
        } else {
            *outcome = j.outcome;
            *newer = j.newer;
            done = true;
        }
    }
    if (waited.turn)
        lock_row_turn_done(txn, heap->file, row_id, ROW_UPDATE);
    return status;
}

/* ---- update ---- */

struct update {
    const struct heap *heap;
    struct heap_state *state;
    struct txn *txn;
    xid_t xid;
    uint64_t row_id;
    const struct staged *row;
    bool keys_same, key_update;
    uint64_t new_row_id;
    bool indexes_alone;
};

/* Remembers per thread which pages had nothing to prune at which horizon: a full page that an old snapshot keeps full
 * would otherwise be searched at every update. */
static bool prune_is_vain(const struct page_ref *ref, lsn_t horizon, bool note)
{
    static _Thread_local struct { page_id id; lsn_t horizon, lsn; } vain[64];
    uint32_t at = (ref->id.page ^ ref->id.file * 31) % 64;
    lsn_t lsn = page_header(ref->bytes)->lsn;
    if (note) {
        vain[at].id = ref->id;
        vain[at].horizon = horizon;
        vain[at].lsn = lsn;
    }
    return vain[at].id.file == ref->id.file && vain[at].id.page == ref->id.page && vain[at].horizon == horizon && vain[at].lsn == lsn;
}

static _Thread_local uint32_t prunes_let_pass;

/* Did this thread read a long chain on the page just now? Where pruning was of little use, the next few times are let pass. */
static bool chain_is_long(const struct page_ref *ref)
{
    bool is_long = heap_long_chain.file == ref->id.file && heap_long_chain.page == ref->id.page;
    heap_long_chain = (page_id){0};
    return is_long && (prunes_let_pass == 0 || prunes_let_pass-- == 0);
}

/* Only versions that no index leads to leave a slot free when they go. */
static bool pruning_may_free(const uint8_t *page)
{
    uint8_t any = 0;
    for (uint16_t i = 0; i < pax_head(page)->slot_count; i++)
        any |= pax_states(page)[i];
    return any & SLOT_HEAP_ONLY;
}

/* On the row's own page, latched and judged. *stayed false: no room there; the page is as it was. */
static enum status update_here(struct update *u, struct page_ref *ref, bool *stayed)
{
    const struct heap *heap = u->heap;
    uint8_t *page = ref->bytes;
    struct pax_head *head = pax_head(page);
    *stayed = false;
    if (!pax_takes(heap, page))
        return STATUS_OK;                    /* an old layout: the row goes to a page of the new one */
    bool only_pin = pool_only_pin(ref), prune = false;
    uint32_t need = u->row->var_bytes[0];
    int32_t slot = pax_free_slot(page, only_pin, false);
    struct overflow_deltas deltas = {.count = 0};
    struct prune_plan plan;
    enum status status;
    bool must = slot < 0 || pax_var_room(page) < need;
    if (must || (chain_is_long(ref) && only_pin)) {
        lsn_t horizon = txn_horizon(heap->store);
        if (slot < 0 && !pruning_may_free(page))
            return STATUS_OK;
        if (must && (!only_pin || prune_is_vain(ref, horizon, false)))
            return STATUS_OK;
        status = prune_plan(heap, page, ref->id.page, horizon, &deltas, &plan);
        if (status)
            return status;
        bool slot_free = plan.slot_count < head->capacity;
        for (uint16_t i = 0; i < plan.slot_count && !slot_free; i++)
            slot_free = plan.state[i] == SLOT_FREE;
        if (must && (!slot_free || PAGE_BYTES - head->arrays_end - plan.var_bytes < need)) {
            (void)prune_is_vain(ref, horizon, true);
            return STATUS_OK;
        }
        prune = must || plan.removed >= CHAIN_LONG;
        if (!prune) {
            deltas.count = 0;
            prunes_let_pass = 16;
        }
    }
    if (!stage_deltas(u->row, 0, &deltas))
        return STATUS_OK;
    struct mtr mtr;
    mtr_begin(&mtr, heap->store, u->xid);
    mtr_join(&mtr, ref);
    status = overflow_deltas_fetch(heap, &deltas, &mtr);
    if (!status)
        status = visibility_join(heap, page, &mtr);
    if (status) {
        mtr_cancel(&mtr);
        *ref = (struct page_ref){0};         /* the mtr has let it go */
        return status;
    }
    if (prune) {
        prune_apply(&mtr, heap, page, &plan);
        atomic_fetch_sub_explicit(&u->state->dead, plan.removed, memory_order_relaxed);
        slot = pax_free_slot(page, true, false);
    }
    ASSERT(slot >= 0);
    u->new_row_id = ROW_ID(ref->id.page, (uint16_t)slot);
    u->indexes_alone = u->keys_same;
    stage_write(&mtr, page, u->row, 0, 1, (uint16_t)slot, u->xid, txn_command(u->txn),
                (uint8_t)(SLOT_FILLED | (u->keys_same ? SLOT_HEAP_ONLY : 0)));
    end_version(&mtr, heap, page, ROW_SLOT(u->row_id), u->xid, txn_command(u->txn), u->new_row_id | NEWER_SET, u->key_update);
    if (lock_row_any(heap->store, heap->file))
        lock_row_carry(heap->store, heap->file, u->row_id, u->new_row_id);
    overflow_deltas_apply(heap, &deltas, &mtr);
    mtr_commit(&mtr);
    *ref = (struct page_ref){0};
    *stayed = true;
    return STATUS_OK;
}

/* Rule 3, the other page. Nothing is latched at the start and the end. *j says how the row stood; when GO: *moved says
 * whether it went (if not, try again). */
static enum status update_elsewhere(struct update *u, struct judgement *j, bool *moved)
{
    const struct heap *heap = u->heap;
    struct page_ref from = {0}, to = {0};
    uint32_t old_page = ROW_PAGE(u->row_id);
    *moved = false;
    struct insert_target *target = target_acquire(u->state);
    enum status status = target_choose(heap, u->state, target, false, old_page);
    if (status)
        goto out;
    status = fetch(heap, old_page < target->page ? old_page : target->page, LATCH_EXCLUSIVE, old_page < target->page ? &from : &to);
    if (!status)
        status = fetch(heap, old_page < target->page ? target->page : old_page, LATCH_EXCLUSIVE, old_page < target->page ? &to : &from);
    if (status)
        goto out;
    status = judge(heap, u->txn, &from, ROW_SLOT(u->row_id), u->key_update ? ROW_UPDATE : ROW_NO_KEY_UPDATE, j);
    if (status || j->verdict != GO)
        goto out;
    bool fresh;
    status = pax_check_kind(heap, &to, &fresh);
    if (status)
        goto out;
    int32_t slot = 0;
    if (!fresh) {
        slot = pax_free_slot(to.bytes, pool_only_pin(&to), true);
        if (!pax_takes(heap, to.bytes) || slot < 0 || pax_var_room(to.bytes) < u->row->var_bytes[0]) {
            target->page = NO_PAGE;
            goto out;
        }
    }
    struct overflow_deltas deltas = {.count = 0};
    bool room = stage_deltas(u->row, 0, &deltas);
    ASSERT(room);
    struct mtr mtr;
    mtr_begin(&mtr, heap->store, u->xid);
    mtr_join(&mtr, &from);
    mtr_join(&mtr, &to);
    uint8_t *old = from.bytes, *new = to.bytes;
    u->new_row_id = ROW_ID(to.id.page, (uint16_t)slot);
    from = to = (struct page_ref){0};        /* the mtr lets them go */
    status = overflow_deltas_fetch(heap, &deltas, &mtr);
    if (!status)
        status = visibility_join(heap, old_page < target->page ? old : new, &mtr);
    if (!status)
        status = visibility_join(heap, old_page < target->page ? new : old, &mtr);
    if (status) {
        mtr_cancel(&mtr);
        goto out;
    }
    if (fresh) {
        mtr_format(&mtr, new, PAGE_HEAP);
        pax_format(new, heap->columns, heap->column_count, fresh_capacity(u->row, u->state, 0));
    }
    u->indexes_alone = false;
    stage_write(&mtr, new, u->row, 0, 1, (uint16_t)slot, u->xid, txn_command(u->txn), SLOT_FILLED);
    end_version(&mtr, heap, old, ROW_SLOT(u->row_id), u->xid, txn_command(u->txn), u->new_row_id | NEWER_SET, u->key_update);
    if (lock_row_any(heap->store, heap->file))
        lock_row_carry(heap->store, heap->file, u->row_id, u->new_row_id);
    overflow_deltas_apply(heap, &deltas, &mtr);
    mtr_commit(&mtr);
    *moved = true;
out:
    if (to.frame)
        pool_release(&to);
    if (from.frame)
        pool_release(&from);
    target_release(target);
    return status;
}

/* The long values that the old version has, for the new one to share. */
static enum status old_references(const struct heap *heap, uint64_t row_id, const struct batch *row, uint16_t position, struct arena **arena,
                                  struct overflow_ref **out)
{
    *out = NULL;
    for (uint16_t c = 0; c < heap->column_count && !*out; c++)
        if (heap->columns[c].width == WIDTH_VARLEN && !vector_null(&row->columns[c], position) &&
            VECTOR(struct varlen, &row->columns[c], position).length > sizeof(struct overflow_ref) * 8) {
            *arena = arena_open(NULL, "old long values");
            *out = arena_array(*arena, struct overflow_ref, heap->column_count);
        }
    if (!*out)
        return STATUS_OK;
    struct page_ref ref;
    enum status status = fetch(heap, ROW_PAGE(row_id), LATCH_SHARED, &ref);
    if (status)
        return status;
    bool empty;
    uint16_t slot = ROW_SLOT(row_id);
    status = pax_check_kind(heap, &ref, &empty);
    const uint8_t *page = ref.bytes;
    if (!status && !empty && slot < pax_head(page)->slot_count && SLOT_STATE(pax_states(page)[slot]) == SLOT_FILLED)
        for (uint16_t c = 0; c < pax_known_columns(heap, page); c++)
            if (heap->columns[c].width == WIDTH_VARLEN && !pax_cell_null(page, c, slot) && pax_cells(page, c)[slot].length == CELL_OVERFLOW)
                memcpy(&(*out)[c], page + pax_cells(page, c)[slot].offset, sizeof **out);
    pool_release(&ref);
    return status;
}

enum status heap_update(const struct heap *heap, struct txn *txn, uint64_t row_id, const struct batch *row, uint16_t position, bool keys_same,
                        bool key_update, enum lock_wait wait, enum heap_outcome *outcome, uint64_t *new_row_id, bool *indexes_alone, uint64_t *newer)
{
    enum row_lock mode = key_update ? ROW_UPDATE : ROW_NO_KEY_UPDATE;
    struct heap_state *state = heap_state(heap);
    struct staged staged = {0};
    struct arena *arena = NULL;
    struct overflow_ref *share = NULL;
    struct row_wait waited = {false, 0};
    bool done = false;
    xid_t xid;
    enum status status = txn_id(txn, &xid);
    if (!status)
        status = old_references(heap, row_id, row, position, &arena, &share);
    if (!status)
        status = stage_rows(heap, state, xid, row, position, share, &staged);
    arena_close(arena);
    struct update u = {heap, state, txn, xid, row_id, &staged, keys_same, key_update, 0, false};
    while (!status && !done) {
        struct page_ref ref;
        struct judgement j;
        bool changed = false;
        status = fetch(heap, ROW_PAGE(row_id), LATCH_EXCLUSIVE, &ref);
        if (status)
            break;
        status = judge(heap, txn, &ref, ROW_SLOT(row_id), mode, &j);
        if (!status && j.verdict == GO)
            status = update_here(&u, &ref, &changed);
        if (ref.frame)
            pool_release(&ref);
        if (!status && j.verdict == GO && !changed)
            status = update_elsewhere(&u, &j, &changed);
        if (status)
            break;
        if (changed) {
            atomic_fetch_add_explicit(&state->updated, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&state->dead, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&state->changed, 1, memory_order_relaxed);
            *outcome = HEAP_DONE;
            *new_row_id = u.new_row_id;
            *indexes_alone = u.indexes_alone;
            done = true;
        } else if (j.verdict == WAIT) {
            status = wait_for_row(heap, txn, row_id, mode, wait, j.wait_for, &waited);
        } else if (j.verdict == ENDED) {
            *outcome = j.outcome;
            *newer = j.newer;
            done = true;
        }
    }
    if (waited.turn)
        lock_row_turn_done(txn, heap->file, row_id, mode);
    stage_done(&staged);
    return status;
}

/* ---- lock ---- */

/* KEY SHARE on a row that is being updated: the versions that the updater has made so far are locked too, each under
 * its own page's latch, so that the lock is there if the update commits; later ones get it carried over. */
static enum status lock_newer_versions(const struct heap *heap, struct txn *txn, uint64_t row_id)
{
    for (;;) {
        struct page_ref ref;
        enum status status = fetch(heap, ROW_PAGE(row_id), LATCH_SHARED, &ref);
        if (status)
            return status;
        const uint8_t *page = ref.bytes;
        uint16_t slot = ROW_SLOT(row_id);
        bool empty;
        uint64_t newer = 0;
        status = pax_check_kind(heap, &ref, &empty);
        if (!status && !empty && slot < pax_head(page)->slot_count && SLOT_STATE(pax_states(page)[slot]) == SLOT_FILLED) {
            status = lock_row_take(txn, heap->file, row_id, ROW_KEY_SHARE);
            if (pax_xmax(page)[slot] != XID_NONE)
                newer = pax_newer(page)[slot];
        }
        pool_release(&ref);
        if (status || !newer || NEWER_ROW(newer) == row_id)
            return status;
        row_id = NEWER_ROW(newer);
    }
}

enum status heap_lock(const struct heap *heap, struct txn *txn, uint64_t row_id, enum row_lock mode, enum lock_wait wait, enum heap_outcome *outcome,
                      uint64_t *newer)
{
    xid_t xid;
    struct row_wait waited = {false, 0};
    bool done = false;
    enum status status = txn_id(txn, &xid);              /* others wait for it */
    while (!status && !done) {
        struct page_ref ref;
        struct judgement j;
        status = fetch(heap, ROW_PAGE(row_id), LATCH_SHARED, &ref);
        if (status)
            break;
        status = judge(heap, txn, &ref, ROW_SLOT(row_id), mode, &j);
        if (!status && j.verdict == GO)
            status = lock_row_take(txn, heap->file, row_id, mode);
        pool_release(&ref);
        if (status)
            break;
        if (j.verdict == WAIT) {
            status = wait_for_row(heap, txn, row_id, mode, wait, j.wait_for, &waited);
            continue;
        }
        if (j.verdict == GO && j.being_updated && j.newer != row_id)
            status = lock_newer_versions(heap, txn, j.newer);
        *outcome = j.verdict == GO ? HEAP_DONE : j.outcome;
        *newer = j.newer;
        done = true;
    }
    if (waited.turn)
        lock_row_turn_done(txn, heap->file, row_id, mode);
    return status;
}

/* ---- liveness ---- */

enum status heap_liveness(const struct heap *heap, struct txn *txn, uint64_t row_id, enum heap_liveness *liveness, xid_t *wait_for)
{
    struct page_ref ref;
    bool empty;
    *liveness = HEAP_DEAD;
    enum status status = fetch(heap, ROW_PAGE(row_id), LATCH_SHARED, &ref);
    if (status)
        return status;
    status = pax_check_kind(heap, &ref, &empty);
    const uint8_t *page = ref.bytes;
    int32_t slot = status || empty ? -1 : chain_first(page, ROW_SLOT(row_id));
    for (uint32_t steps = 0; slot >= 0 && steps < PAX_MAX_SLOTS; steps++) {
        struct txn_view view;
        xid_t xmin = pax_xmin(page)[slot], xmax = pax_xmax(page)[slot];
        if (!txn_is_mine(txn, xmin)) {
            status = txn_peek(heap->store, xmin, &view);
            if (status || view.state == TXN_ABORTED)
                break;
            if (view.state == TXN_RUNNING) {
                *liveness = HEAP_IN_DOUBT;
                *wait_for = xmin;
                break;
            }
        }
        if (xmax == XID_NONE) {
            *liveness = HEAP_LIVE;
            break;
        }
        if (!txn_is_mine(txn, xmax)) {
            status = txn_peek(heap->store, xmax, &view);
            if (status)
                break;
            if (view.state == TXN_ABORTED) {
                *liveness = HEAP_LIVE;
                break;
            }
            if (view.state == TXN_RUNNING) {
                *liveness = HEAP_IN_DOUBT;
                *wait_for = xmax;
                break;
            }
        }
        slot = chain_next(page, ref.id.page, (uint16_t)slot);
    }
    pool_release(&ref);
    return status;
}
