/* tests/interleave/rows.c - see rows.h. A row is known by its first version's id: like an index entry, that is followed to
 * the version that counts. */
#include "tests/interleave/interleave.h"
#include "tests/interleave/rows.h"

#include "storage/txn_slot.h"

#define TIMER_US 100000                     /* the shortest of the program's timers that heal is the WAL writer's: 200 ms */

static struct txn_slot *slots[8];
static struct heap_column columns[1] = {{.width = 8}};
static struct heap heap = {.table = 7, .column_count = 1, .columns = columns, .name = "rows"};
static uint64_t first_ids[4];

void on_time(void)
{
    check(scheduler_idle_us() < TIMER_US, "everybody waited for a timer (%llu us): a wake-up was lost", (unsigned long long)scheduler_idle_us());
}

bool session_waits(unsigned session) { return slots[session]->wait.active; }
struct txn *txn_in(unsigned session) { return txn_begin(store, slots[session], READ_COMMITTED, false); }

void sessions_open(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        must(txn_slot_open(store, 100 + (int32_t)i, &slots[i]));
    for (unsigned i = 0; i < 8; i++) {      /* the pages of the next ids' outcomes are there: so a commit is short */
        xid_t xid;
        struct txn *txn = txn_in(0);
        must(txn_id(txn, &xid));
        txn_abort(txn);
    }
}

void sessions_close(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        txn_slot_close(slots[i]);
}

struct one_row { struct batch batch; struct vector column; int64_t value; };
static const struct batch *one_row(struct one_row *row, int64_t value)
{
    row->value = value;
    row->column = (struct vector){.values = &row->value, .width = 8};
    row->batch = (struct batch){.columns = &row->column, .column_count = 1, .row_count = 1, .selected_count = 1, .all_selected = true};
    return &row->batch;
}

void rows_make(unsigned count)
{
    struct one_row row;
    heap.store = store;
    struct txn *txn = txn_in(0);
    must(heap_create(&heap, txn));
    for (unsigned i = 0; i < count; i++)
        must(heap_insert(&heap, txn, one_row(&row, 0), &first_ids[i], false));
    must(txn_commit(txn));
}

void rows_make_pages(unsigned count)
{
    struct one_row row;
    uint64_t id;
    heap.store = store;
    struct txn *txn = txn_in(0);
    must(heap_create(&heap, txn));
    for (unsigned i = 0; i < count; i++) {
        must(heap_insert(&heap, txn, one_row(&row, i), &id, true));
        check(ROW_PAGE(id) == i, "row %u is on page %u", i, ROW_PAGE(id));
        heap_forget(store, heap.file);      /* and with it the page that had room */
    }
    must(txn_commit(txn));
}

const struct heap *rows_heap(void) { return &heap; }

/* The version that the snapshot sees. */
static void find(const struct snapshot *snapshot, unsigned row, int64_t *value, uint64_t *id)
{
    static const uint16_t wanted[1] = {0};
    struct vector column = {.values = (uint8_t *)value, .width = 8};
    struct arena *arena = arena_open(NULL, "row");
    bool found;
    must(heap_fetch(&heap, snapshot, first_ids[row], wanted, 1, &column, 0, arena, &found, id));
    arena_close(arena);
    check(found, "row %u is gone", row);
}

int64_t row_read(const struct snapshot *snapshot, unsigned row)
{
    int64_t value = 0;
    uint64_t id;
    find(snapshot, row, &value, &id);
    return value;
}

int64_t row_value(unsigned row)
{
    struct snapshot snapshot;
    struct txn *txn = txn_in(0);
    txn_snapshot(txn, &snapshot);
    int64_t value = row_read(&snapshot, row);
    txn_snapshot_done(txn);
    must(txn_commit(txn));
    return value;
}

enum status row_add(struct txn *txn, unsigned row, int64_t amount)
{
    for (;;) {
        struct snapshot snapshot;
        struct one_row next;
        int64_t value = 0;
        uint64_t id, made, newer;
        enum heap_outcome outcome;
        bool alone;
        txn_snapshot(txn, &snapshot);
        find(&snapshot, row, &value, &id);
        enum status status = heap_update(&heap, txn, id, one_row(&next, value + amount), 0, true, false, LOCK_WAIT, &outcome, &made, &alone, &newer);
        txn_snapshot_done(txn);
        if (status)
            return status;
        check(outcome == HEAP_DONE || outcome == HEAP_UPDATED, "the update says %d", (int)outcome);
        if (outcome == HEAP_DONE) {
            txn_next_command(txn);
            return STATUS_OK;
        }
    }
}

enum status row_lock(struct txn *txn, unsigned row, enum row_lock mode)
{
    struct snapshot snapshot;
    int64_t value = 0;
    uint64_t id, newer;
    txn_snapshot(txn, &snapshot);
    find(&snapshot, row, &value, &id);
    enum heap_outcome outcome = HEAP_UPDATED;
    enum status status = STATUS_OK;
    while (!status && outcome == HEAP_UPDATED) {
        status = heap_lock(&heap, txn, id, mode, LOCK_WAIT, &outcome, &newer);
        id = newer;
    }
    txn_snapshot_done(txn);
    check(status || outcome == HEAP_DONE, "the lock says %d", (int)outcome);
    return status;
}

static enum status no_indexes(void *context, const uint64_t *row_ids, size_t count)
{
    (void)context, (void)row_ids, (void)count;
    return STATUS_OK;
}

void rows_vacuum(unsigned session)
{
    struct vacuum_result result;
    must(heap_vacuum(&heap, slots[session], true, 1 << 16, no_indexes, NULL, &result));
}
