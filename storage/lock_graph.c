/* storage/lock_graph.c - waiting, and the waits-for graph that finds deadlocks.
 *
 * Each session that waits publishes a record (txn_slot.wait): what for, and edges to the transactions in its way. The
 * one latch `graph` guards all records; it is held only to publish, to search, and to sleep for a transaction's end.
 *
 * 1. A circle is closed by the session that begins the last of its waits. It publishes its edges and searches under
 *    one hold of the latch: of two that close a circle at once, the later one sees the earlier one's edges. So the
 *    victim is who closed the circle. Each second of waiting it looks again.
 * 2. An edge names (slot, serial, rollbacks): it is dead once that transaction is over or has rolled back a savepoint.
 *    A record whose wait is satisfied has no edges. What is left to go stale are edges between waiters of one queue,
 *    so a circle found is checked: the edges of all on it are read anew from their queues, and it is searched again.
 * 3. Waiting for a transaction: raise its slot's `waiters`, look whether it is over, sleep. The ender first leaves the
 *    slot, then looks at `waiters`: one of the two sees the other. */
#include "storage/lock_graph.h"
#include "base/mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lock_edges_add(struct wait_record *record, struct txn_slot *blocker)
{
    record->edges = vector_room(record->edges, record->edge_count, &record->edge_capacity, sizeof *record->edges);
    record->edges[record->edge_count++] =
        (struct wait_edge){blocker, atom_load(&blocker->serial), atom_load(&blocker->rollbacks)};
}

static bool edge_alive(const struct wait_edge *edge)
{
    return atom_load(&edge->slot->serial) == edge->serial && atom_load(&edge->slot->rollbacks) == edge->rollbacks;
}

/* Depth first from `at`, for a way back to `start`. Recursion is as deep as there are sessions waiting in a row; a
 * path longer than `path` has room for is given up (the next one to look will find it). */
static bool search(struct lock_table *locks, struct txn_slot *at, struct txn_slot *start, uint32_t depth)
{
    struct wait_record *record = &at->wait;
    if (depth >= sizeof locks->path / sizeof locks->path[0] || !record->active || record->visit == locks->visit)
        return false;
    record->visit = locks->visit;
    if (atom_load(&record->satisfied))
        return false;
    locks->path[depth] = at;
    for (uint32_t i = 0; i < record->edge_count; i++) {
        if (!edge_alive(&record->edges[i]))
            continue;
        if (record->edges[i].slot == start) {
            locks->path_length = depth + 1;
            return true;
        }
        if (search(locks, record->edges[i].slot, start, depth + 1))
            return true;
    }
    return false;
}

static bool circle_through(struct lock_table *locks, struct txn_slot *start)
{
    locks->visit++;
    return search(locks, start, start, 0);
}

static void describe(const struct wait_record *record, char *out, size_t size)
{
    if (record->for_transaction)
        snprintf(out, size, "ShareLock on transaction %llu", (unsigned long long)record->xid);
    else if (record->key_high == 0)
        snprintf(out, size, "%s on relation %u", lock_mode_name(record->mode), (unsigned)record->key_low);
    else
        snprintf(out, size, "%s on tuple (%u,%u) of file %u", lock_mode_name(record->mode),
                 (unsigned)(record->key_low >> 16), (unsigned)(record->key_low & 0xffff), (unsigned)(record->key_high - 1));
}

/* Rule 2. The graph is not latched. */
static void refresh(struct lock_table *locks, struct txn_slot *slot)
{
    struct wait_record copy = {0};
    latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
    bool object = slot->wait.active && !slot->wait.for_transaction;
    uint64_t number = slot->wait.number;
    if (object) {                                /* else its session may be filling it in now, under no latch of ours */
        copy.key_high = slot->wait.key_high;
        copy.key_low = slot->wait.key_low;
    }
    latch_release(&locks->graph);
    if (!object)
        return;
    bool waits = lock_object_edges(locks, slot, &copy);
    latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
    if (slot->wait.active && slot->wait.number == number) {
        slot->wait.edge_count = 0;
        for (uint32_t i = 0; waits && i < copy.edge_count; i++) {
            slot->wait.edges = vector_room(slot->wait.edges, i, &slot->wait.edge_capacity, sizeof *copy.edges);
            slot->wait.edges[i] = copy.edges[i];
            slot->wait.edge_count = i + 1;
        }
    }
    latch_release(&locks->graph);
    free(copy.edges);
}

static enum status deadlock(struct lock_table *locks)
{
    char detail[4096], what[128];
    size_t used = 0;
    for (uint32_t i = 0; i < locks->path_length && used < sizeof detail - 200; i++) {
        struct txn_slot *blocker = locks->path[(i + 1) % locks->path_length];
        describe(&locks->path[i]->wait, what, sizeof what);
        used += (size_t)snprintf(detail + used, sizeof detail - used, "%sProcess %d waits for %s; blocked by process %d.",
                                 i ? "\n" : "", (int)locks->path[i]->pid, what, (int)blocker->pid);
    }
    enum status status = error_set(STATUS_DEADLOCK, "deadlock detected");
    error_detail("%s", detail);
    error_hint("See server log for query details.");
    return status;
}

static void withdraw(struct txn_slot *slot)
{
    slot->wait.active = false;
    slot->wait.edge_count = 0;
}

enum status lock_graph_enter(struct txn *txn)
{
    struct lock_table *locks = txn->store->locks;
    struct txn_slot *slot = txn->slot;
    latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
    slot->wait.number++;
    slot->wait.active = true;
    bool circle = !MUTANT(CIRCLE_NOT_LOOKED_FOR) && circle_through(locks, slot);
    if (MUTANT(EDGES_SHOWN_LATE) && !circle) {
        slot->wait.active = false;
        latch_release(&locks->graph);
        latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
        slot->wait.active = true;
    }
    if (circle) {
        uint32_t length = locks->path_length;
        struct txn_slot **path = malloc(sizeof *path * length);
        if (!path)
            panic("out of memory");
        memcpy(path, locks->path, sizeof *path * length);
        latch_release(&locks->graph);
        for (uint32_t i = 0; i < length; i++)
            refresh(locks, path[i]);
        free(path);
        latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
        circle = circle_through(locks, slot);
    }
    enum status status = STATUS_OK;
    if (circle) {
        status = deadlock(locks);
        withdraw(slot);
    }
    latch_release(&locks->graph);
    return status;
}

void lock_graph_leave(struct txn *txn)
{
    struct lock_table *locks = txn->store->locks;
    latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
    withdraw(txn->slot);
    latch_release(&locks->graph);
}

enum status lock_graph_interrupted(uint64_t deadline_us)
{
    unsigned pending = thread_interrupts();
    if (pending & INTERRUPT_TERMINATE)
        return error_set(STATUS_ADMIN_SHUTDOWN, "terminating connection due to administrator command");
    if (pending & INTERRUPT_CANCEL) {
        thread_interrupt_clear(INTERRUPT_CANCEL | INTERRUPT_TIMEOUT);
        return error_set(STATUS_CANCELED, "canceling statement due to user request");
    }
    if (pending & INTERRUPT_TIMEOUT) {
        thread_interrupt_clear(INTERRUPT_TIMEOUT);
        return error_set(STATUS_CANCELED, "canceling statement due to statement timeout");
    }
    if (pending)                             /* not meant for a session that waits for a lock */
        thread_interrupt_clear(pending);
    if (deadline_us && now_us() >= deadline_us)
        return error_set(STATUS_LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout");
    return STATUS_OK;
}

void lock_graph_transaction_over(struct txn_slot *ender)
{
    if (atom_load(&ender->waiters) == 0)     /* rule 3 */
        return;
    struct txn_table *txns = ender->table;
    struct lock_table *locks = txns->store->locks;
    latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
    uint32_t high = atom_load(&txns->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        struct wait_record *record = &txns->slots[i].wait;
        if (!record->active || !record->for_transaction)
            continue;
        for (uint32_t k = 0; k < record->edge_count; k++) {
            if (record->edges[k].slot == ender) {
                atom_store(&record->satisfied, true);
                condition_wake_all(&record->wake);
                break;
            }
        }
    }
    latch_release(&locks->graph);
}

static enum status wait_until(struct txn *txn, const xid_t *others, uint32_t count, uint64_t deadline, bool a_while)
{
    struct store *store = txn->store;
    struct lock_table *locks = store->locks;
    struct txn_slot *slot = txn->slot;
    struct wait_record *record = &slot->wait;
    enum status status = STATUS_OK;

    /* Who they are. Slot fields are read before the outcome: if it still runs then, they are that transaction's. */
    record->edge_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct txn_view view;
        status = txn_peek(store, others[i], &view);
        if (status)
            return status;
        if (view.state != TXN_RUNNING)
            return STATUS_OK;
        struct txn_slot *blocker = txn_slot_of(store->txns, view.top);
        if (!blocker)
            return STATUS_OK;
        if (blocker == slot)
            continue;
        lock_edges_add(record, blocker);
        /* Still its transaction, still in that state? Then the edge, read before this, is its edge. */
        status = txn_peek(store, others[i], &view);
        if (status)
            return status;
        if (view.state != TXN_RUNNING || atom_load(&blocker->top) != view.top)
            return STATUS_OK;
    }
    if (record->edge_count == 0)
        return STATUS_OK;
    record->for_transaction = true;
    record->xid = others[0];
    record->mode = LOCK_SHARE;
    atomic_store_explicit(&record->start_us, wall_us(), memory_order_relaxed);
    atom_store(&record->satisfied, false);
    for (uint32_t i = 0; i < record->edge_count; i++)
        atom_add(&record->edges[i].slot->waiters, 1);
    uint32_t edge_count = record->edge_count;
    struct wait_edge *edges = malloc(sizeof *edges * edge_count);
    if (!edges)
        panic("out of memory");
    memcpy(edges, record->edges, sizeof *edges * edge_count);

    bool over = false;
    while (!over && !status) {
        status = lock_graph_enter(txn);
        if (status)
            break;
        uint64_t again = now_us() + 1000000;
        latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
        while (!status) {
            for (uint32_t i = 0; i < edge_count && !over; i++)
                over = !edge_alive(&edges[i]) || atom_load(&edges[i].slot->top) == XID_NONE;
            if (over || now_us() >= again)
                break;
            uint64_t until = deadline && deadline < again ? deadline : again;
            (void)condition_wait_until(&record->wake, &locks->graph, until, true);
            for (uint32_t i = 0; i < edge_count && !over; i++)
                over = !edge_alive(&edges[i]) || atom_load(&edges[i].slot->top) == XID_NONE;
            if (over)
                break;
            status = lock_graph_interrupted(deadline);
        }
        withdraw(slot);
        latch_release(&locks->graph);
        if (!over && !status && a_while)
            break;
        if (!over && !status) {              /* once more round: the edges are what they were */
            memcpy(record->edges, edges, sizeof *edges * edge_count);
            record->edge_count = edge_count;
        }
    }
    for (uint32_t i = 0; i < edge_count; i++)
        atom_sub(&edges[i].slot->waiters, 1);
    free(edges);
    return over ? STATUS_OK : status;
}

static uint64_t lock_deadline(void) { return lock_timeout_ms ? now_us() + (uint64_t)lock_timeout_ms * 1000 : 0; }

enum status lock_wait_for(struct txn *txn, const xid_t *others, uint32_t count, const char *what)
{
    (void)what;
    return wait_until(txn, others, count, lock_deadline(), false);
}

enum status lock_wait_a_while(struct txn *txn, xid_t other, uint64_t *deadline_us)
{
    if (*deadline_us == 0)
        *deadline_us = lock_deadline();
    return wait_until(txn, &other, 1, *deadline_us, true);
}

enum status txn_wait(struct txn *self, xid_t other) { return lock_wait_for(self, &other, 1, "transaction"); }
