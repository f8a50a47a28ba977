/* storage/row_lock.c - row locks (FOR UPDATE, FOR SHARE …): in memory, by (heap file, row id).
 *
 * A hold is one node: in the hash chain of its row, and in the list of its session's slot. There is no queue here:
 * who meets a conflicting hold waits for the holder's transaction (lock_wait_for), in the order of lock_row_turn.
 *
 * 1. A hash chain is guarded by its partition's latch (LOCK_TABLE), a slot's list by the slot's own (LEAF, inside it).
 * 2. heap.c calls in under the latch of the row's page: SHARED to take, EXCLUSIVE to change the row. So nobody takes a
 *    lock on a version between an updater's check for conflicts and its change.
 * 3. An update copies the holds of others on the old version to the new one (lock_row_carry); the old version keeps
 *    them too, in case the update is undone. A slot whose transaction is letting go (holds_closed) gets none. */
#include "storage/lock_graph.h"

#include "base/hash.h"
#include "base/mutant.h"

#include <stdlib.h>
#include <string.h>

struct row_hold {
    uint64_t row_id;
    uint32_t file;
    uint8_t  mode;
    int      level;                          /* savepoint level that took it */
    struct txn_slot *slot;
    struct row_hold *next;                   /* in the hash chain */
    struct row_hold *older;                  /* in the slot's list */
};

#define R(mode) (1u << ROW_##mode)
static const uint8_t conflicts[5] = {
    [ROW_KEY_SHARE] = R(UPDATE),
    [ROW_SHARE] = R(NO_KEY_UPDATE) | R(UPDATE),
    [ROW_NO_KEY_UPDATE] = R(SHARE) | R(NO_KEY_UPDATE) | R(UPDATE),
    [ROW_UPDATE] = R(KEY_SHARE) | R(SHARE) | R(NO_KEY_UPDATE) | R(UPDATE),
};

void lock_objects_release(struct txn *txn, int level);
void lock_objects_keep(struct txn *txn, int level);

static uint64_t row_hash(uint32_t file, uint64_t row_id) { return hash_join(file, row_id); }
static struct row_part *part_of(struct lock_table *locks, uint64_t hash) { return &locks->rows[hash % ROW_PARTITIONS]; }
static struct row_hold **bucket_of(struct row_part *part, uint64_t hash)
{
    return &part->buckets[hash / ROW_PARTITIONS & (part->bucket_count - 1)];
}
static _Atomic uint32_t *counter_of(struct lock_table *locks, uint32_t file)
{
    return &locks->rows_locked[hash_u64(file) % ANY_COUNTERS];
}

bool lock_row_any(struct store *store, uint32_t file) { return atom_load(counter_of(store->locks, file)) != 0; }

static struct row_hold *chain(struct row_part *part, uint64_t hash)
{
    return part->bucket_count ? *bucket_of(part, hash) : NULL;
}

static void grow(struct row_part *part)
{
    uint32_t old_count = part->bucket_count;
    struct row_hold **old = part->buckets;
    part->bucket_count = old_count ? old_count * 2 : 64;
    part->buckets = calloc(part->bucket_count, sizeof *part->buckets);
    if (!part->buckets)
        panic("out of memory");
    for (uint32_t i = 0; i < old_count; i++) {
        for (struct row_hold *hold = old[i], *next; hold; hold = next) {
            next = hold->next;
            struct row_hold **bucket = bucket_of(part, row_hash(hold->file, hold->row_id));
            hold->next = *bucket;
            *bucket = hold;
        }
    }
    free(old);
}

/* Links a hold in both ways. False when the slot's transaction lets go already, or is another than `serial`. */
static bool link_hold(struct lock_table *locks, struct row_hold *hold, uint64_t serial)
{
    struct txn_slot *slot = hold->slot;
    uint64_t hash = row_hash(hold->file, hold->row_id);
    struct row_part *part = part_of(locks, hash);
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    bool open = !slot->holds_closed && atom_load(&slot->serial) == serial;
    if (open) {
        hold->older = slot->row_holds;
        slot->row_holds = hold;
    }
    latch_release(&slot->own);
    if (open) {
        if (part->hold_count >= part->bucket_count)
            grow(part);
        struct row_hold **bucket = bucket_of(part, hash);
        hold->next = *bucket;
        *bucket = hold;
        part->hold_count++;
        atom_add(counter_of(locks, hold->file), 1);
    }
    latch_release(&part->latch);
    return open;
}

xid_t lock_row_conflict(struct txn *txn, uint32_t file, uint64_t row_id, enum row_lock mode)
{
    struct lock_table *locks = txn->store->locks;
    uint64_t hash = row_hash(file, row_id);
    struct row_part *part = part_of(locks, hash);
    xid_t other = XID_NONE;
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    for (struct row_hold *hold = chain(part, hash); hold && !other; hold = hold->next)
        if (hold->row_id == row_id && hold->file == file && hold->slot != txn->slot && (conflicts[mode] & (1u << hold->mode)))
            other = atom_load(&hold->slot->top);     /* 0: it is letting go at this moment */
    latch_release(&part->latch);
    return other;
}

bool lock_row_held(struct store *store, uint32_t file, uint64_t row_id)
{
    struct lock_table *locks = store->locks;
    uint64_t hash = row_hash(file, row_id);
    struct row_part *part = part_of(locks, hash);
    bool held = false;
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    for (struct row_hold *hold = chain(part, hash); hold && !held; hold = hold->next)
        held = hold->row_id == row_id && hold->file == file;
    latch_release(&part->latch);
    return held;
}

enum status lock_row_take(struct txn *txn, uint32_t file, uint64_t row_id, enum row_lock mode)
{
    struct lock_table *locks = txn->store->locks;
    uint64_t hash = row_hash(file, row_id);
    struct row_part *part = part_of(locks, hash);
    bool enough = false;
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    for (struct row_hold *hold = chain(part, hash); hold && !enough; hold = hold->next)
        enough = hold->row_id == row_id && hold->file == file && hold->slot == txn->slot && hold->mode >= mode;
    latch_release(&part->latch);
    if (enough)
        return STATUS_OK;
    enum status status = lock_memory(locks, sizeof(struct row_hold));
    if (status)
        return status;
    struct row_hold *hold = malloc(sizeof *hold);
    if (!hold)
        panic("out of memory");
    *hold = (struct row_hold){.row_id = row_id, .file = file, .mode = (uint8_t)mode, .level = txn->level_count - 1, .slot = txn->slot};
    bool open = link_hold(locks, hold, atom_load(&txn->slot->serial));
    ASSERT(open);
    return STATUS_OK;
}

void lock_row_carry(struct store *store, uint32_t file, uint64_t from, uint64_t to)
{
    struct lock_table *locks = store->locks;
    uint64_t hash = row_hash(file, from);
    struct row_part *part = part_of(locks, hash);
    struct carried { struct txn_slot *slot; uint64_t serial; uint8_t mode; int level; } few[16], *all = few;
    uint32_t count = 0, capacity = 16;
    if (MUTANT(ROW_LOCK_LEFT_BEHIND))
        return;
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    for (struct row_hold *hold = chain(part, hash); hold; hold = hold->next) {
        if (hold->row_id != from || hold->file != file)
            continue;
        if (count == capacity) {
            struct carried *more = malloc(sizeof *more * capacity * 2);
            if (!more)
                panic("out of memory");
            memcpy(more, all, sizeof *more * capacity);
            if (all != few)
                free(all);
            all = more;
            capacity *= 2;
        }
        all[count++] = (struct carried){hold->slot, atom_load(&hold->slot->serial), hold->mode, hold->level};
    }
    latch_release(&part->latch);
    for (uint32_t i = 0; i < count; i++) {
        /* The row's change must not fail here: these few bytes may go past the limit. */
        atomic_fetch_add_explicit(&locks->bytes_used, sizeof(struct row_hold), memory_order_relaxed);
        struct row_hold *hold = malloc(sizeof *hold);
        if (!hold)
            panic("out of memory");
        *hold = (struct row_hold){.row_id = to, .file = file, .mode = all[i].mode, .level = all[i].level, .slot = all[i].slot};
        if (!link_hold(locks, hold, all[i].serial)) {
            free(hold);
            atomic_fetch_sub_explicit(&locks->bytes_used, sizeof(struct row_hold), memory_order_relaxed);
        }
    }
    if (all != few)
        free(all);
}

static void unlink_and_free(struct lock_table *locks, struct row_hold *hold)
{
    uint64_t hash = row_hash(hold->file, hold->row_id);
    struct row_part *part = part_of(locks, hash);
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    struct row_hold **link = bucket_of(part, hash);
    while (*link != hold)
        link = &(*link)->next;
    *link = hold->next;
    part->hold_count--;
    atom_sub(counter_of(locks, hold->file), 1);
    latch_release(&part->latch);
    atomic_fetch_sub_explicit(&locks->bytes_used, sizeof *hold, memory_order_relaxed);
    free(hold);
}

void lock_release_all(struct txn *txn)
{
    struct txn_slot *slot = txn->slot;
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    struct row_hold *hold = slot->row_holds;
    slot->row_holds = NULL;
    slot->holds_closed = true;
    latch_release(&slot->own);
    while (hold) {
        struct row_hold *older = hold->older;
        unlink_and_free(txn->store->locks, hold);
        hold = older;
    }
    lock_objects_release(txn, 0);
}

/* Holds that were carried over lie in the list out of level order, so the whole list is walked. */
void lock_release_level(struct txn *txn, int level)
{
    struct txn_slot *slot = txn->slot;
    struct row_hold *gone = NULL;
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    struct row_hold **link = &slot->row_holds;
    while (*link) {
        struct row_hold *hold = *link;
        if (hold->level >= level) {
            *link = hold->older;
            hold->older = gone;
            gone = hold;
        } else {
            link = &hold->older;
        }
    }
    latch_release(&slot->own);
    while (gone) {
        struct row_hold *older = gone->older;
        unlink_and_free(txn->store->locks, gone);
        gone = older;
    }
    lock_objects_release(txn, level);
}

void lock_keep_level(struct txn *txn, int level)
{
    struct txn_slot *slot = txn->slot;
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    for (struct row_hold *hold = slot->row_holds; hold; hold = hold->older)
        if (hold->level >= level)
            hold->level = level - 1;
    latch_release(&slot->own);
    lock_objects_keep(txn, level);
}
