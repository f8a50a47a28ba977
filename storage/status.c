/* storage/status.c - outcomes of transactions: status pages of file 1, eight bytes an id.
 *
 *     0                    running; or committing; or, when no slot has it, aborted without having got to say so
 *     ABORTED              bit 62
 *     SUB | top            bit 63: a savepoint's id, which shares the fate of its transaction
 *     anything else        the commit number: end LSN of the commit record
 *
 * 1. An entry is final once it is a number or ABORTED. SUB becomes ABORTED when the savepoint is rolled back.
 * 2. COMMITTING is not on the page but in the slot (in_flight, set before the record is reserved): it would cost a
 *    second record a commit, and after a crash it would mean the same as 0.
 * 3. Who asks looks in this order: page, slot, page again. The ender writes the page before it clears the slot, so a
 *    slot that is found empty means that a second look at the page is final. Still 0 then: aborted (its writer could
 *    not get at the page, or the server died).
 * 4. What is 0 on the page when asked is in no snapshot taken before: the limit passes a number only after it is
 *    stored. So visibility never waits.
 *
 * Final outcomes are kept in a small direct-mapped table of the thread's own, so that visibility does not fetch a
 * status page a row. */
#include "storage/heap.h"
#include "storage/txn_slot.h"

#include <stdlib.h>
#include <string.h>

enum { STATUS_ENTRIES = (PAGE_BYTES - PAGE_HEADER_BYTES) / 8, STATUS_GROUP = 8, CACHE_ENTRIES = 4096 };

static _Thread_local struct { xid_t xid; uint64_t value; } cache[CACHE_ENTRIES];
static _Thread_local uint64_t cache_generation;

/* Ids that follow each other stand on different pages of a group, so that transactions which end at the same time don't
 * wait for each other's page. */
static uint32_t status_group(xid_t xid) { return (uint32_t)(xid / (STATUS_ENTRIES * STATUS_GROUP)); }
uint32_t status_offset(xid_t xid) { return PAGE_HEADER_BYTES + (uint32_t)(xid / STATUS_GROUP % STATUS_ENTRIES) * 8; }

static page_id status_id(xid_t xid) { return (page_id){FILE_STATUS, status_group(xid) * STATUS_GROUP + (uint32_t)(xid % STATUS_GROUP)}; }

enum status status_fetch(struct txn_table *table, xid_t xid, struct page_ref *out)
{
    return pool_fetch(table->store->pool, status_id(xid), LATCH_EXCLUSIVE, RANK_STATUS, 0, out);
}

static enum status page_prepare(struct txn_table *table, uint32_t page)
{
    struct page_ref ref;
    enum status status = pool_fetch(table->store->pool, (page_id){FILE_STATUS, page}, LATCH_EXCLUSIVE, RANK_STATUS, 0, &ref);
    if (status)
        return status;
    struct mtr mtr;
    mtr_begin(&mtr, table->store, XID_NONE);
    mtr_join(&mtr, &ref);
    if (page_header(ref.bytes)->kind == PAGE_NONE) {
        mtr_format(&mtr, ref.bytes, PAGE_STATUS);
        mtr_commit(&mtr);
    } else {
        mtr_cancel(&mtr);
    }
    return STATUS_OK;
}

/* Any number of threads may do this at once for the same group: the pages' latches make all but the first find it done. */
enum status status_prepare(struct txn_table *table, xid_t xid)
{
    uint32_t group = status_group(xid);
    if (group < atom_load_acquire(&table->status_groups))
        return STATUS_OK;

    struct pool *pool = table->store->pool;
    uint32_t pages, first, wanted = (group + 1) * STATUS_GROUP;
    enum status status = pool_file_pages(pool, FILE_STATUS, &pages);
    while (!status && pages < wanted) {
        status = pool_extend(pool, FILE_STATUS, STATUS_GROUP, &first);
        if (!status)
            status = pool_file_pages(pool, FILE_STATUS, &pages);
    }
    for (uint32_t page = wanted - STATUS_GROUP; !status && page < wanted; page++)
        status = page_prepare(table, page);
    if (status)
        return status;
    /* Ids are given out in order, so this id's group being there says enough for all ids below it that still need one:
     * an older id prepared its own group when it was given out. */
    uint32_t seen = atom_load(&table->status_groups);
    while (seen < group + 1 && !atom_cas(&table->status_groups, &seen, group + 1))
        ;
    return STATUS_OK;
}

static enum status status_read(struct txn_table *table, xid_t xid, uint64_t *value)
{
    struct page_ref ref;
    enum status status = pool_fetch(table->store->pool, status_id(xid), LATCH_SHARED, RANK_STATUS, 0, &ref);
    if (status)
        return status;
    memcpy(value, ref.bytes + status_offset(xid), 8);
    pool_release(&ref);
    return STATUS_OK;
}

struct txn_slot *txn_slot_of(struct txn_table *table, xid_t top)
{
    uint32_t hint = atomic_load_explicit(hint_of(table, top), memory_order_relaxed);
    if (hint < table->slot_capacity && atom_load(&table->slots[hint].top) == top)
        return &table->slots[hint];
    uint32_t high = atom_load(&table->slot_high);
    for (uint32_t i = 0; i < high; i++)
        if (atom_load(&table->slots[i].top) == top)
            return &table->slots[i];
    return NULL;
}

static bool surely_running(struct txn_table *table, xid_t xid)
{
    uint32_t hint = atomic_load_explicit(hint_of(table, xid), memory_order_relaxed);
    return hint < table->slot_capacity && atom_load(&table->slots[hint].running) == xid;
}

static void remember(xid_t xid, uint64_t value)
{
    cache[xid % CACHE_ENTRIES].xid = xid;
    cache[xid % CACHE_ENTRIES].value = value;
}

static void view_final(struct txn_view *view, uint64_t value)
{
    view->state = value == OUTCOME_ABORTED ? TXN_ABORTED : TXN_COMMITTED;
    view->number = value == OUTCOME_ABORTED ? 0 : value;
    view->committing = false;
}

enum status txn_peek(struct store *store, xid_t xid, struct txn_view *view)
{
    struct txn_table *table = store->txns;
    view->top = xid;
    if (xid == XID_FROZEN) {
        view_final(view, 0);
        return STATUS_OK;
    }
    if (cache_generation != table->generation) {
        memset(cache, 0, sizeof cache);
        cache_generation = table->generation;
    }
    if (cache[xid % CACHE_ENTRIES].xid == xid) {
        view_final(view, cache[xid % CACHE_ENTRIES].value);
        return STATUS_OK;
    }
    *view = (struct txn_view){.state = TXN_RUNNING, .top = xid};
    if (surely_running(table, xid))
        return STATUS_OK;

    uint64_t value;
    enum status status = status_read(table, xid, &value);
    if (status)
        return status;
    if (value & OUTCOME_SUB) {
        xid_t top = value & ~OUTCOME_SUB;
        ASSERT(top < xid);                   /* a transaction has its own id before any savepoint of it: no endless chain */
        status = txn_peek(store, top, view);
        if (!status && view->state != TXN_RUNNING) {
            /* The savepoint may have been rolled back between our look at it and our look at its transaction. */
            status = status_read(table, xid, &value);
            if (!status && value == OUTCOME_ABORTED)
                view_final(view, OUTCOME_ABORTED);
            if (!status)
                remember(xid, view->state == TXN_ABORTED ? OUTCOME_ABORTED : view->number);
        }
        return status;
    }
    if (value == 0 && xid >= table->first_xid) {
        struct txn_slot *slot = txn_slot_of(table, xid);
        if (slot) {
            view->committing = atom_load(&slot->in_flight) != 0;
            return STATUS_OK;
        }
        status = status_read(table, xid, &value);                /* rule 3 */
        if (status)
            return status;
        if (value & OUTCOME_SUB)
            return txn_peek(store, xid, view);
    }
    if (value == 0)
        value = OUTCOME_ABORTED;
    view_final(view, value);
    remember(xid, value);
    return STATUS_OK;
}

enum status txn_outcome(struct store *store, xid_t xid, enum txn_state *state, lsn_t *number)
{
    struct txn_table *table = store->txns;
    for (;;) {
        struct txn_view view;
        enum status status = txn_peek(store, xid, &view);
        if (status)
            return status;
        *state = view.state;
        *number = view.number;
        if (view.state != TXN_RUNNING || !view.committing)
            return STATUS_OK;
        latch_acquire(&table->latch, LATCH_EXCLUSIVE);
        struct txn_slot *slot = txn_slot_of(table, view.top);
        uint64_t in_flight = slot ? atom_load(&slot->in_flight) : 0;
        if (in_flight != 0 && !(in_flight & IN_FLIGHT_STORED))   /* stored: it can be read */
            limit_await(table);
        latch_release(&table->latch);
    }
}

/* Groups wholly below `oldest` are given back to the disk. What the vacuums froze must be on disk before: else a crash
 * would bring back ids whose outcomes are gone. A copy that is still in the pool does no harm. */
void txn_truncate_status(struct store *store, xid_t oldest)
{
    struct txn_table *table = store->txns;
    uint32_t end = status_group(oldest), begin = atom_load(&table->status_cut);
    if (oldest <= XID_FIRST || end <= begin)
        return;
    wal_flush(store->wal, wal_next(store->wal));
    file_punch(store->files, FILE_STATUS, begin * STATUS_GROUP, (end - begin) * STATUS_GROUP);
    atom_store(&table->status_cut, end);
}
