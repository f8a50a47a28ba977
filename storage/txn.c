/* storage/txn.c - the transaction table: slots, ids, snapshots, savepoints, and the order in which commits appear.
 *
 *     begin -> RUNNING --- commit --> COMMITTING -- stored, flushed, limit has passed --> over
 *                 \------ abort ---------------------------------------------------------> over
 *
 * 1. A snapshot is one number, copied from `limit`. The limit moves in the order of commit records, past a commit
 *    only once its outcome is stored on its status page and its record is flushed (synchronous_commit = off:
 *    stored). COMMIT is acknowledged only when the limit has reached it: so what a client was told is in every later
 *    snapshot, and no snapshot holds what a crash could take back.
 * 2. Before its record is reserved, a commit publishes in its slot (in_flight) the least that its number can be: where
 *    the shortest record that begins at wal_next() would end. The reservation replaces that by the number itself, and a
 *    bit is added once the outcome is stored. Who moves the limit reads the slots: it goes to the highest number of
 *    those that are finished, below all that are not, and so takes along the whole group that one flush has served;
 *    each of them finds that done. A commit that the scan misses has not reserved yet, so its number is above what was
 *    flushed, and reserved, before the scan.
 * 3. A snapshot is announced (slot.announced) and then the limit is read again, until both agree. The horizon reads
 *    the limit first and then the slots: it can't get past a snapshot that it failed to see.
 * 4. An id is in its slot before it is on any page (given out under the table's latch), and its outcome is on the
 *    status page before it leaves the slot: status.c relies on both.
 * 5. A savepoint's id is written SUB | top when it is given out; so only the top's entry changes at commit, and one
 *    eight-byte write makes all of it visible. Rolling back writes ABORTED on the savepoint's ids. */
#include "storage/txn_slot.h"

#include "storage/heap.h"
#include "base/mutant.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_SPINS 200

static _Atomic uint64_t generations;

void *vector_room(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 8;
    items = realloc(items, *capacity * item_bytes);
    if (!items)
        panic("out of memory");
    return items;
}

/* ---- the table and its slots ---- */

enum status txn_table_open(struct store *store, uint32_t max_transactions, xid_t next_xid, struct txn_table **out)
{
    struct txn_table *table = aligned_alloc(64, sizeof *table);
    if (!table)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    memset(table, 0, sizeof *table);
    table->slots = aligned_alloc(128, sizeof(struct txn_slot) * max_transactions);
    if (!table->slots) {
        free(table);
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    }
    memset(table->slots, 0, sizeof(struct txn_slot) * max_transactions);
    table->store = store;
    table->generation = atom_add(&generations, 1) + 1;
    table->slot_capacity = max_transactions;
    table->first_xid = next_xid < XID_FIRST ? XID_FIRST : next_xid;
    atomic_init(&table->next_xid, table->first_xid);
    latch_init(&table->latch, RANK_TXN, 0, 0, 0);
    condition_init(&table->limit_moved, "snapshot limit");
    for (uint32_t i = 0; i < max_transactions; i++) {
        struct txn_slot *slot = &table->slots[i];
        slot->table = table;
        slot->number = i;
        atomic_init(&slot->announced, SNAPSHOT_NONE);
        latch_init(&slot->own, RANK_LEAF, 0, i, 0);
        condition_init(&slot->wait.wake, "end of a transaction");
        slot->holds_closed = true;
    }
    *out = table;
    return STATUS_OK;
}

void txn_table_close(struct txn_table *table)
{
    if (!table)
        return;
    for (uint32_t i = 0; i < table->slot_capacity; i++) {
        struct txn_slot *slot = &table->slots[i];
        ASSERT(!atom_load(&slot->used));     /* every session is gone */
        free(slot->txn.levels);
        free(slot->txn.subs);
        free(slot->txn.ends);
        free(slot->txn.noted);
        free(slot->txn.held);
        free(slot->wait.edges);
    }
    heap_registry_close(table->store);
    free(table->slots);
    free(table);
}

void txn_recovered(struct store *store, xid_t next_xid, lsn_t limit)
{
    struct txn_table *table = store->txns;
    table->first_xid = next_xid < XID_FIRST ? XID_FIRST : next_xid;
    atom_store(&table->next_xid, table->first_xid);
    atom_store(&table->limit, limit);
    table->generation = atom_add(&generations, 1) + 1;   /* forget what was looked up before */
}

xid_t txn_next_xid(struct store *store) { return atom_load(&store->txns->next_xid); }
lsn_t txn_limit(struct store *store) { return atom_load(&store->txns->limit); }

enum status txn_slot_open(struct store *store, int32_t pid, struct txn_slot **out)
{
    struct txn_table *table = store->txns;
    latch_acquire(&table->latch, LATCH_EXCLUSIVE);
    for (uint32_t i = 0; i < table->slot_capacity; i++) {
        struct txn_slot *slot = &table->slots[i];
        if (atom_load(&slot->used))
            continue;
        slot->pid = pid;
        atom_store(&slot->used, true);
        if (i >= atom_load(&table->slot_high))
            atom_store(&table->slot_high, i + 1);
        latch_release(&table->latch);
        *out = slot;
        return STATUS_OK;
    }
    latch_release(&table->latch);
    return error_set(STATUS_TOO_MANY_CONNECTIONS, NULL);
}

void txn_slot_close(struct txn_slot *slot)
{
    if (!slot)
        return;
    ASSERT(atom_load(&slot->top) == 0);
    latch_acquire(&slot->table->latch, LATCH_EXCLUSIVE);
    atom_store(&slot->announced, SNAPSHOT_NONE);
    atom_store(&slot->start_us, 0);
    atom_store(&slot->used, false);
    latch_release(&slot->table->latch);
}

/* ---- one transaction ---- */

struct txn *txn_begin(struct store *store, struct txn_slot *slot, enum isolation isolation, bool read_only)
{
    struct txn *txn = &slot->txn;
    ASSERT(txn->level_count == 0);           /* one at a time */
    txn->store = store;
    txn->slot = slot;
    txn->isolation = isolation;
    txn->read_only = read_only;
    txn->synchronous = true;
    txn->has_snapshot = false;
    txn->start_us = wall_us();
    txn->top = XID_NONE;
    txn->command = 1;
    txn->snapshots_held = 0;
    txn->sub_count = txn->end_count = txn->noted_count = 0;
    ASSERT(txn->held_count == 0);
    uint32_t capacity = (uint32_t)txn->level_capacity;
    txn->levels = vector_room(txn->levels, 0, &capacity, sizeof *txn->levels);
    txn->level_capacity = (int)capacity;
    txn->levels[0].xid = XID_NONE;
    txn->level_count = 1;
    atomic_store_explicit(&slot->start_us, txn->start_us, memory_order_relaxed);
    atom_add(&slot->serial, 1);
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    slot->holds_closed = false;
    latch_release(&slot->own);
    return txn;
}

void txn_set_isolation(struct txn *txn, enum isolation isolation) { txn->isolation = isolation; }
enum isolation txn_isolation(const struct txn *txn) { return txn->isolation; }
void txn_set_synchronous(struct txn *txn, bool on) { txn->synchronous = on; }
bool txn_read_only(const struct txn *txn) { return txn->read_only; }
void txn_set_read_only(struct txn *txn, bool on) { txn->read_only = on; }
xid_t txn_top_id(const struct txn *txn) { return txn->top; }
int64_t txn_start_us(const struct txn *txn) { return txn->start_us; }
command_t txn_command(const struct txn *txn) { return txn->command; }
void txn_next_command(struct txn *txn) { txn->command++; }
static int txn_level(const struct txn *txn) { return txn->level_count - 1; }

/* Rule 4. The top's id is put in the slot in the same hold of the latch, so that nobody who reads next_xid and then
 * looks for the oldest running id can miss it. */
static enum status give_out_id(struct txn *txn, bool top, xid_t *out)
{
    struct txn_table *table = txn->store->txns;
    latch_acquire(&table->latch, LATCH_EXCLUSIVE);
    xid_t xid = atom_load(&table->next_xid);
    if (top) {
        atom_store(&txn->slot->top, xid);
        atom_store(&txn->slot->running, xid);
        atomic_store_explicit(hint_of(table, xid), txn->slot->number, memory_order_relaxed);
    }
    atom_store(&table->next_xid, xid + 1);
    latch_release(&table->latch);
    *out = xid;
    return status_prepare(table, xid);
}

static enum status outcome_write(struct store *store, xid_t record_xid, xid_t xid, uint64_t value)
{
    struct page_ref ref;
    enum status status = status_fetch(store->txns, xid, &ref);
    if (status)
        return status;
    struct mtr mtr;
    mtr_begin(&mtr, store, record_xid);
    mtr_join(&mtr, &ref);
    mtr_write(&mtr, ref.bytes, status_offset(xid), &value, 8);
    mtr_commit(&mtr);
    return STATUS_OK;
}

enum status txn_id(struct txn *txn, xid_t *out)
{
    struct txn_level *level = &txn->levels[txn_level(txn)];
    if (level->xid) {
        *out = level->xid;
        return STATUS_OK;
    }
    enum status status;
    if (!txn->top) {
        xid_t xid;
        status = give_out_id(txn, true, &xid);
        txn->top = xid;                      /* also when the page could not be had: the id is spent, and aborts */
        if (status)
            return status;
        txn->levels[0].xid = xid;
    } else if (!txn->levels[0].xid) {        /* a first attempt failed */
        status = status_prepare(txn->store->txns, txn->top);
        if (status)
            return status;
        txn->levels[0].xid = txn->top;
    }
    if (txn_level(txn) > 0) {
        xid_t xid;
        status = give_out_id(txn, false, &xid);
        if (!status)
            status = outcome_write(txn->store, xid, xid, OUTCOME_SUB | txn->top);
        if (status)
            return status;
        txn->subs = vector_room(txn->subs, txn->sub_count, &txn->sub_capacity, sizeof *txn->subs);
        txn->subs[txn->sub_count++] = (struct txn_sub){xid, txn_level(txn)};
        level->xid = xid;
    }
    *out = level->xid;
    return STATUS_OK;
}

bool txn_is_mine(const struct txn *txn, xid_t xid)
{
    if (!txn || !txn->top || xid < txn->top)
        return false;
    if (xid == txn->top)
        return true;
    uint32_t low = 0, high = txn->sub_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (txn->subs[middle].xid == xid)
            return true;
        if (txn->subs[middle].xid < xid)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* ---- snapshots ---- */

static lsn_t announce(struct txn *txn)       /* rule 3 */
{
    struct txn_table *table = txn->store->txns;
    lsn_t limit;
    do {
        limit = atom_load(&table->limit);
        atom_store(&txn->slot->announced, limit);
    } while (atom_load(&table->limit) != limit && !MUTANT(SNAPSHOT_NOT_READ_AGAIN));
    return limit;
}

void txn_snapshot(struct txn *txn, struct snapshot *out)
{
    out->txn = txn;
    out->command = txn->command;
    if (txn->isolation == REPEATABLE_READ) {
        if (!txn->has_snapshot) {
            txn->limit = announce(txn);
            txn->has_snapshot = true;
        }
        out->limit = txn->limit;
        return;
    }
    /* Of several that are held at once the oldest stays announced. */
    out->limit = txn->snapshots_held++ == 0 ? announce(txn) : atom_load(&txn->store->txns->limit);
}

void txn_snapshot_done(struct txn *txn)
{
    if (txn->isolation == REPEATABLE_READ || txn->snapshots_held == 0)
        return;
    if (--txn->snapshots_held == 0 && !txn->has_snapshot)
        atom_store(&txn->slot->announced, SNAPSHOT_NONE);
}

void txn_snapshot_forget(struct txn *txn)
{
    if (!txn->has_snapshot || txn->snapshots_held)
        return;
    txn->has_snapshot = false;
    atom_store(&txn->slot->announced, SNAPSHOT_NONE);
}

lsn_t txn_horizon(struct store *store)
{
    struct txn_table *table = store->txns;
    lsn_t horizon = MUTANT(HORIZON_BACKWARDS) ? SNAPSHOT_NONE : atom_load(&table->limit);
    uint32_t high = atom_load(&table->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        lsn_t announced = atom_load(&table->slots[i].announced);
        if (announced < horizon)
            horizon = announced;
    }
    if (MUTANT(HORIZON_BACKWARDS) && atom_load(&table->limit) < horizon)
        horizon = atom_load(&table->limit);
    return horizon;
}

/* The oldest id that may still be running: ids below are over. */
xid_t txn_oldest_running(struct store *store)
{
    struct txn_table *table = store->txns;
    latch_acquire(&table->latch, LATCH_EXCLUSIVE);
    xid_t oldest = atom_load(&table->next_xid);
    uint32_t high = atom_load(&table->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        xid_t top = atom_load(&table->slots[i].top);
        if (top && top < oldest)
            oldest = top;
    }
    latch_release(&table->latch);
    return oldest;
}

/* ---- the end ---- */

static void drop_file(struct store *store, uint32_t file)
{
    store_remove_file(store, file);
    heap_forget(store, file);
}

/* Calls back and removes files for what was registered at `level` or inside it. */
static void end_notes(struct txn *txn, int level, bool committed)
{
    uint32_t first = txn->end_count;
    while (first > 0 && txn->ends[first - 1].level >= level)
        first--;
    for (uint32_t i = first; committed && i < txn->end_count; i++)
        txn->ends[i].run(txn->ends[i].context, true);
    while (txn->end_count > first) {
        struct txn_end end = txn->ends[--txn->end_count];
        if (!committed)
            end.run(end.context, false);
    }
    uint32_t kept = txn->noted_count;
    while (kept > 0 && txn->noted[kept - 1].level >= level)
        kept--;
    for (uint32_t i = kept; i < txn->noted_count; i++)
        if (txn->noted[i].drop == committed)
            drop_file(txn->store, txn->noted[i].file);
    txn->noted_count = kept;
}

static void txn_over(struct txn *txn, bool committed)
{
    struct txn_slot *slot = txn->slot;
    end_notes(txn, 0, committed);
    atom_store(&slot->announced, SNAPSHOT_NONE);
    atom_store(&slot->running, XID_NONE);
    if (MUTANT(SLOT_LEFT_LATE))
        lock_graph_transaction_over(slot);
    atom_store(&slot->top, XID_NONE);
    atomic_store_explicit(&slot->start_us, 0, memory_order_relaxed);
    lock_release_all(txn);
    atom_add(&slot->serial, 1);
    if (!MUTANT(SLOT_LEFT_LATE))
        lock_graph_transaction_over(slot);
    txn->top = XID_NONE;
    txn->sub_count = 0;
    txn->level_count = 0;
}

/* Rule 1: moves the limit as far as rule 2 allows. The table is latched. */
static void move_limit(struct txn_table *table)
{
    lsn_t flushed = wal_flushed(table->store->wal), reserved = wal_next(table->store->wal);
    lsn_t limit = 0, below = UINT64_MAX;
    uint32_t high = atom_load(&table->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        uint64_t in_flight = atom_load(&table->slots[i].in_flight);
        lsn_t number = in_flight & ~(IN_FLIGHT_STORED | IN_FLIGHT_LAZY);
        if ((in_flight & IN_FLIGHT_STORED) && number <= (in_flight & IN_FLIGHT_LAZY ? reserved : flushed))
            limit = number > limit ? number : limit;
        else if (in_flight && number - 1 < below && !MUTANT(LIMIT_PASSES_IN_FLIGHT))
            below = number - 1;
    }
    if (limit > below)
        limit = below;
    if (limit > atom_load(&table->limit))
        atom_store(&table->limit, limit);
}

static void await_limit(struct txn *txn, lsn_t number)
{
    struct txn_table *table = txn->store->txns;
    if (atom_load(&table->limit) < number) {
        latch_acquire(&table->latch, LATCH_EXCLUSIVE);
        move_limit(table);
        if (table->waiting)
            condition_wake_all(&table->limit_moved);
        latch_release(&table->latch);
    }
    /* Who is before us is often about to finish: sleeping and being woken would take longer. */
    for (int spin = spin_count(LIMIT_SPINS); spin > 0 && atom_load(&table->limit) < number; spin--)
        spin_pause();
    if (atom_load(&table->limit) < number) {
        latch_acquire(&table->latch, LATCH_EXCLUSIVE);
        while (atom_load(&table->limit) < number)
            limit_await(table);
        latch_release(&table->latch);
    }
    atom_store(&txn->slot->in_flight, 0);
}

enum status txn_commit(struct txn *txn)
{
    struct store *store = txn->store;
    struct txn_slot *slot = txn->slot;
    enum status status = STATUS_OK;
    xid_t ignored;

    uint32_t drop_count = 0;
    for (uint32_t i = 0; i < txn->noted_count; i++)
        drop_count += txn->noted[i].drop;
    if (drop_count && !txn->top) {
        txn->level_count = 1;
        status = txn_id(txn, &ignored);
    }
    if (!status && !txn->top) {              /* wrote nothing: nothing to say */
        txn_over(txn, true);
        return STATUS_OK;
    }
    uint32_t *drops = NULL;
    if (!status && drop_count) {
        drops = malloc(drop_count * sizeof *drops);
        if (!drops)
            panic("out of memory");
        uint32_t n = 0;
        for (uint32_t i = 0; i < txn->noted_count; i++)
            if (txn->noted[i].drop)
                drops[n++] = txn->noted[i].file;
    }
    if (!status)
        status = status_prepare(store->txns, txn->top);
    struct page_ref ref;
    if (!status)
        status = status_fetch(store->txns, txn->top, &ref);
    if (status) {
        struct error why = {0};
        error_save(&why);
        free(drops);
        txn_abort(txn);
        return error_restore(&why);
    }
    struct mtr mtr;
    mtr_begin(&mtr, store, txn->top);
    mtr_join(&mtr, &ref);
    if (MUTANT(COMMIT_NOT_FLUSHED))
        txn->synchronous = false;
    atom_store(&slot->in_flight, wal_next(store->wal) + sizeof(struct wal_record));   /* rule 2 */
    atom_store(&slot->running, XID_NONE);
    mtr_write_lsn(&mtr, ref.bytes, status_offset(txn->top));
    lsn_t number = mtr_commit_as(&mtr, WAL_END, drops, drop_count * (uint32_t)sizeof *drops, &slot->in_flight);
    free(drops);
    atom_store(&slot->in_flight, number | IN_FLIGHT_STORED | (txn->synchronous ? 0 : IN_FLIGHT_LAZY));
    point("txn.stored");
    if (txn->synchronous)
        wal_flush(store->wal, number);
    await_limit(txn, number);
    txn_over(txn, true);
    wal_write_ahead(store->wal);
    return STATUS_OK;
}

void txn_abort(struct txn *txn)
{
    if (txn->top) {
        struct error why = {0};
        error_save(&why);                    /* the statement's error is not ours to lose */
        if (outcome_write(txn->store, txn->top, txn->top, OUTCOME_ABORTED) != STATUS_OK)
            log_line("WARNING", "could not write the outcome of transaction %llu: it counts as aborted all the same",
                     (unsigned long long)txn->top);
        error_restore(&why);
    }
    txn_over(txn, false);
}

/* ---- savepoints ---- */

enum status txn_savepoint(struct txn *txn, int *level)
{
    uint32_t capacity = (uint32_t)txn->level_capacity;
    txn->levels = vector_room(txn->levels, (uint32_t)txn->level_count, &capacity, sizeof *txn->levels);
    txn->level_capacity = (int)capacity;
    txn->levels[txn->level_count].xid = XID_NONE;
    *level = txn->level_count++;
    return STATUS_OK;
}

enum status txn_savepoint_rollback(struct txn *txn, int level)
{
    ASSERT(level >= 1 && level < txn->level_count);
    while (txn->sub_count > 0 && txn->subs[txn->sub_count - 1].level >= level) {
        xid_t xid = txn->subs[txn->sub_count - 1].xid;
        enum status status = outcome_write(txn->store, xid, xid, OUTCOME_ABORTED);
        if (status)
            return status;
        txn->sub_count--;
    }
    end_notes(txn, level, false);
    lock_release_level(txn, level);
    txn->level_count = level + 1;
    txn->levels[level].xid = XID_NONE;
    atom_add(&txn->slot->rollbacks, 1);
    lock_graph_transaction_over(txn->slot);
    return STATUS_OK;
}

enum status txn_savepoint_release(struct txn *txn, int level)
{
    ASSERT(level >= 1 && level < txn->level_count);
    int outer = level - 1;
    for (uint32_t i = txn->sub_count; i > 0 && txn->subs[i - 1].level >= level; i--)
        txn->subs[i - 1].level = outer;
    for (uint32_t i = txn->end_count; i > 0 && txn->ends[i - 1].level >= level; i--)
        txn->ends[i - 1].level = outer;
    for (uint32_t i = txn->noted_count; i > 0 && txn->noted[i - 1].level >= level; i--)
        txn->noted[i - 1].level = outer;
    lock_keep_level(txn, level);
    txn->level_count = level;
    return STATUS_OK;
}

void txn_at_end(struct txn *txn, void (*run)(void *, bool), void *context)
{
    txn->ends = vector_room(txn->ends, txn->end_count, &txn->end_capacity, sizeof *txn->ends);
    txn->ends[txn->end_count++] = (struct txn_end){run, context, txn_level(txn)};
}

static void note_file(struct txn *txn, uint32_t file, bool drop)
{
    txn->noted = vector_room(txn->noted, txn->noted_count, &txn->noted_capacity, sizeof *txn->noted);
    txn->noted[txn->noted_count++] = (struct txn_file){file, drop, txn_level(txn)};
}
void txn_note_new_file(struct txn *txn, uint32_t file) { note_file(txn, file, false); }
void txn_note_drop_file(struct txn *txn, uint32_t file) { note_file(txn, file, true); }

size_t txn_sights(struct store *store, struct txn_sight *out, size_t capacity)
{
    struct txn_table *table = store->txns;
    size_t count = 0;
    uint32_t high = atom_load(&table->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        struct txn_slot *slot = &table->slots[i];
        int64_t start = atom_load(&slot->start_us);
        if (!atom_load(&slot->used) || !start)
            continue;
        lsn_t announced = atom_load(&slot->announced);
        if (count < capacity)
            out[count] = (struct txn_sight){slot->pid, atom_load(&slot->serial), atom_load(&slot->top), announced == SNAPSHOT_NONE ? 0 : announced, start};
        count++;
    }
    return count;
}
