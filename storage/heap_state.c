/* storage/heap_state.c - what is known of a heap file only while the server runs: pages being filled, counters, hints.
 *
 * One heap_state a file, in a hash table that hangs on the transaction table. Nodes are put in with a compare and swap
 * and stay until the store is closed, so looking one up takes no latch. All of it may be lost at any time: the pages
 * tell the truth. */
#include "storage/heap_private.h"
#include "storage/zone.h"

#include "base/hash.h"

#include <stdlib.h>

enum { BUCKETS = 1024 };
struct heap_registry { struct heap_state *_Atomic buckets[BUCKETS]; };

static struct heap_registry *registry(struct store *store)
{
    struct heap_registry *heaps = atom_load(&store->txns->heaps);
    if (heaps)
        return heaps;
    struct heap_registry *mine = calloc(1, sizeof *mine);
    if (!mine)
        panic("out of memory");
    if (atom_cas(&store->txns->heaps, &heaps, mine))
        return mine;
    free(mine);
    return heaps;
}

static struct heap_state *find(struct heap_state *list, uint32_t file)
{
    while (list && list->file != file)
        list = list->next;
    return list;
}

struct heap_state *heap_state(const struct heap *heap)
{
    struct heap_state *_Atomic *bucket = &registry(heap->store)->buckets[hash_u64(heap->file) % BUCKETS];
    struct heap_state *head = atom_load(bucket);
    struct heap_state *state = find(head, heap->file);
    if (state)
        return state;
    state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64);
    if (!state)
        panic("out of memory");
    memset(state, 0, sizeof *state);
    state->file = heap->file;
    for (int i = 0; i < INSERT_TARGETS; i++) {
        latch_init(&state->targets[i].latch, RANK_INSERT_TARGET, 0, (uint64_t)i, (uint64_t)heap->file << 32);
        state->targets[i].page = NO_PAGE;
    }
    do {
        struct heap_state *other = find(head, heap->file);
        if (other) {
            free(state);
            return other;
        }
        state->next = head;
    } while (!atom_cas(bucket, &head, state));
    return state;
}

void heap_forget(struct store *store, uint32_t file)
{
    struct heap_state *state = find(atom_load(&registry(store)->buckets[hash_u64(file) % BUCKETS]), file);
    if (!state)
        return;
    for (int i = 0; i < INSERT_TARGETS; i++) {
        struct insert_target *target = &state->targets[i];
        latch_acquire(&target->latch, LATCH_EXCLUSIVE);
        target->page = NO_PAGE;
        target->fresh = target->fresh_end = 0;
        latch_release(&target->latch);
    }
    atom_store(&state->space_hint, 0);
    atom_store(&state->space_spent, false);
    atom_store(&state->overflow_spent, false);
    atom_store(&state->overflow_settled, false);
    atom_store(&state->mean_var16, 0);
    atom_store(&state->inserted, 0);
    atom_store(&state->updated, 0);
    atom_store(&state->deleted, 0);
    atom_store(&state->dead, 0);
    atom_store(&state->changed, 0);
    zone_map_free(atom_exchange(&state->zones, NULL));       /* who ends the file has kept everybody else from it, and runs no statement now */
}

void heap_registry_close(struct store *store)
{
    struct heap_registry *heaps = store->txns ? atom_exchange(&store->txns->heaps, NULL) : NULL;
    if (!heaps)
        return;
    for (int i = 0; i < BUCKETS; i++) {
        for (struct heap_state *state = atom_load(&heaps->buckets[i]), *next; state; state = next) {
            next = state->next;
            zone_map_free(atom_load(&state->zones));
            free(state);
        }
    }
    free(heaps);
}

/* A thread stays with the target it had last; it moves on when that one is busy. So one session fills one page, and
 * sixteen fill sixteen. */
struct insert_target *target_acquire(struct heap_state *state)
{
    static _Thread_local uint32_t last;
    for (uint32_t i = 0; i < INSERT_TARGETS; i++) {
        uint32_t at = (last + i) % INSERT_TARGETS;
        if (latch_try(&state->targets[at].latch, LATCH_EXCLUSIVE)) {
            last = at;
            return &state->targets[at];
        }
    }
    latch_acquire(&state->targets[last].latch, LATCH_EXCLUSIVE);
    return &state->targets[last];
}

void target_release(struct insert_target *target) { latch_release(&target->latch); }

void heap_counters(const struct heap *heap, struct heap_counters *out)
{
    struct heap_state *state = heap_state(heap);
    *out = (struct heap_counters){
        .inserted = atomic_load_explicit(&state->inserted, memory_order_relaxed),
        .updated = atomic_load_explicit(&state->updated, memory_order_relaxed),
        .deleted = atomic_load_explicit(&state->deleted, memory_order_relaxed),
        .dead_since_vacuum = atomic_load_explicit(&state->dead, memory_order_relaxed),
        .changed_since_analyze = atomic_load_explicit(&state->changed, memory_order_relaxed),
    };
}

void heap_counters_analyzed(const struct heap *heap)
{
    atomic_store_explicit(&heap_state(heap)->changed, 0, memory_order_relaxed);
}

enum status heap_create(struct heap *heap, struct txn *txn)
{
    enum status status = store_new_file(heap->store, txn, &heap->file);
    if (!status)
        status = store_new_file(heap->store, txn, &heap->overflow_file);
    if (!status)
        status = store_new_file(heap->store, txn, &heap->space_file);
    return status;
}

void heap_drop(struct heap *heap, struct txn *txn)
{
    store_drop_file(heap->store, txn, heap->file);
    store_drop_file(heap->store, txn, heap->overflow_file);
    store_drop_file(heap->store, txn, heap->space_file);
}

enum status heap_pages(const struct heap *heap, uint32_t *out) { return pool_file_pages(heap->store->pool, heap->file, out); }
