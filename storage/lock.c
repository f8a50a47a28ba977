/* storage/lock.c - table locks: PostgreSQL's eight modes, a fair queue for each table.
 *
 *     lock_relation:  held already? -> fast (weak mode, nobody strong) -> granted -> queued, waiting -> granted
 *
 * 1. A lock object is a table, or a row's queue of waiters (lock_row_turn). Objects lie in hashed partitions. A request
 *    is granted when it conflicts neither with what others hold nor with what those ahead of it in the queue want; so
 *    a stream of readers can't starve a writer. Who holds a lock already that a waiter conflicts with goes ahead of
 *    that waiter: behind it both would wait for each other.
 * 2. Fast locks. The three weak modes (ACCESS SHARE, ROW SHARE, ROW EXCLUSIVE) do not conflict with each other, and
 *    nearly every lock is one. They are kept in the session's own slot, under its own latch, so that sessions share no
 *    cache line, as long as `strong` says that nobody holds or wants a strong lock (SHARE and up) on a table of that
 *    hash. A strong request first raises `strong`, then moves the fast locks of that table from all slots into the
 *    object. Who takes a fast lock looks at `strong` under its own latch: it either sees it raised, or is done before
 *    the mover comes by.
 * 3. Latches: a partition (LOCK_TABLE), and inside it a slot's own (LEAF), one at a time. */
#include "storage/lock_graph.h"

#include "base/hash.h"
#include "base/mutant.h"

#include <stdlib.h>
#include <string.h>

_Thread_local uint32_t lock_timeout_ms;

#define M(mode) (1u << LOCK_##mode)
static const uint32_t conflicts[9] = {
    [LOCK_ACCESS_SHARE] = M(ACCESS_EXCLUSIVE),
    [LOCK_ROW_SHARE] = M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
    [LOCK_ROW_EXCLUSIVE] = M(SHARE) | M(SHARE_ROW_EXCLUSIVE) | M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
    [LOCK_SHARE_UPDATE_EXCLUSIVE] =
        M(SHARE_UPDATE_EXCLUSIVE) | M(SHARE) | M(SHARE_ROW_EXCLUSIVE) | M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
    [LOCK_SHARE] =
        M(ROW_EXCLUSIVE) | M(SHARE_UPDATE_EXCLUSIVE) | M(SHARE_ROW_EXCLUSIVE) | M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
    [LOCK_SHARE_ROW_EXCLUSIVE] = M(ROW_EXCLUSIVE) | M(SHARE_UPDATE_EXCLUSIVE) | M(SHARE) | M(SHARE_ROW_EXCLUSIVE) |
                                 M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
    [LOCK_EXCLUSIVE] = M(ROW_SHARE) | M(ROW_EXCLUSIVE) | M(SHARE_UPDATE_EXCLUSIVE) | M(SHARE) | M(SHARE_ROW_EXCLUSIVE) |
                       M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
    [LOCK_ACCESS_EXCLUSIVE] = M(ACCESS_SHARE) | M(ROW_SHARE) | M(ROW_EXCLUSIVE) | M(SHARE_UPDATE_EXCLUSIVE) | M(SHARE) |
                              M(SHARE_ROW_EXCLUSIVE) | M(EXCLUSIVE) | M(ACCESS_EXCLUSIVE),
};

const char *lock_mode_name(uint8_t mode)
{
    static const char *const names[9] = {
        "", "AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock",
        "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"};
    return names[mode <= 8 ? mode : 0];
}

/* Key of a table: (0, oid). Of a row's turn: (file + 1, row id). */
struct object_key { uint64_t high, low; };
struct holder { struct txn_slot *slot; uint32_t modes; struct holder *next; };
struct waiter {
    struct txn_slot *slot;
    uint8_t mode;
    struct waiter *next;
    struct condition granted;
};
struct object_lock {
    struct object_key key;
    struct holder *holders;
    struct waiter *queue;                    /* first come first */
    struct object_lock *next;                /* in its bucket */
};

static uint64_t key_hash(struct object_key key) { return hash_join(key.high, key.low); }
static struct object_part *part_of(struct lock_table *locks, struct object_key key)
{
    return &locks->objects[key_hash(key) % OBJECT_PARTITIONS];
}
static struct object_lock **bucket_of(struct object_part *part, struct object_key key)
{
    return &part->buckets[key_hash(key) / OBJECT_PARTITIONS % 64];
}
static _Atomic uint32_t *strong_of(struct lock_table *locks, uint32_t table)
{
    return &locks->strong[hash_u64(table) % ANY_COUNTERS];
}
static bool is_weak(uint8_t mode) { return mode <= LOCK_ROW_EXCLUSIVE; }
static bool is_strong(uint8_t mode) { return mode >= LOCK_SHARE; }

enum status lock_table_open(struct store *store, uint64_t bytes, struct lock_table **out)
{
    (void)store;
    struct lock_table *locks = aligned_alloc(64, (sizeof *locks + 63) / 64 * 64);
    if (!locks)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    memset(locks, 0, sizeof *locks);
    locks->bytes_allowed = bytes;
    latch_init(&locks->graph, RANK_LOCK_TABLE, 0, 0, 0);
    for (uint32_t i = 0; i < OBJECT_PARTITIONS; i++)
        latch_init(&locks->objects[i].latch, RANK_LOCK_TABLE, 0, 1 + i, 0);
    for (uint32_t i = 0; i < ROW_PARTITIONS; i++)
        latch_init(&locks->rows[i].latch, RANK_LOCK_TABLE, 0, 1 + OBJECT_PARTITIONS + i, 0);
    *out = locks;
    return STATUS_OK;
}

void lock_table_close(struct lock_table *locks)
{
    if (!locks)
        return;
    for (uint32_t i = 0; i < ROW_PARTITIONS; i++)
        free(locks->rows[i].buckets);
    free(locks);
}

enum status lock_memory(struct lock_table *locks, uint64_t bytes)
{
    if (atomic_fetch_add_explicit(&locks->bytes_used, bytes, memory_order_relaxed) + bytes > locks->bytes_allowed) {
        atomic_fetch_sub_explicit(&locks->bytes_used, bytes, memory_order_relaxed);
        enum status status = error_set(STATUS_OUT_OF_MEMORY, "out of shared memory");
        error_hint("You might need to increase max_locks_per_transaction.");
        return status;
    }
    return STATUS_OK;
}

/* ---- lock objects; the partition is latched ---- */

static struct object_lock *object_find(struct object_part *part, struct object_key key)
{
    struct object_lock *object = *bucket_of(part, key);
    while (object && (object->key.high != key.high || object->key.low != key.low))
        object = object->next;
    return object;
}

static enum status object_make(struct lock_table *locks, struct object_part *part, struct object_key key,
                               struct object_lock **out)
{
    *out = object_find(part, key);
    if (*out)
        return STATUS_OK;
    enum status status = lock_memory(locks, sizeof **out + sizeof(struct holder));
    if (status)
        return status;
    struct object_lock *object = calloc(1, sizeof *object);
    if (!object)
        panic("out of memory");
    object->key = key;
    struct object_lock **bucket = bucket_of(part, key);
    object->next = *bucket;
    *bucket = object;
    *out = object;
    return STATUS_OK;
}

static void object_free_if_idle(struct lock_table *locks, struct object_part *part, struct object_lock *object)
{
    if (object->holders || object->queue)
        return;
    struct object_lock **link = bucket_of(part, object->key);
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    free(object);
    atomic_fetch_sub_explicit(&locks->bytes_used, sizeof *object + sizeof(struct holder), memory_order_relaxed);
}

static uint32_t modes_of(const struct object_lock *object, const struct txn_slot *slot)
{
    for (const struct holder *h = object->holders; h; h = h->next)
        if (h->slot == slot)
            return h->modes;
    return 0;
}

static void object_grant(struct object_lock *object, struct txn_slot *slot, uint8_t mode)
{
    struct holder *h = object->holders;
    while (h && h->slot != slot)
        h = h->next;
    if (!h) {
        h = calloc(1, sizeof *h);
        if (!h)
            panic("out of memory");
        h->slot = slot;
        h->next = object->holders;
        object->holders = h;
    }
    h->modes |= 1u << mode;
}

static bool held_against(const struct object_lock *object, const struct txn_slot *slot, uint8_t mode)
{
    for (const struct holder *h = object->holders; h; h = h->next)
        if (h->slot != slot && (h->modes & conflicts[mode]))
            return true;
    return false;
}

/* Grants whoever can be, from the queue's head on (rule 1). */
static void object_serve(struct object_lock *object)
{
    uint32_t wanted_ahead = 0;
    struct waiter **link = &object->queue;
    while (*link) {
        struct waiter *w = *link;
        if (!held_against(object, w->slot, w->mode) && !(wanted_ahead & conflicts[w->mode])) {
            object_grant(object, w->slot, w->mode);
            *link = w->next;
            atom_store(&w->slot->wait.satisfied, true);
            if (!MUTANT(GRANTED_IN_SILENCE))
                condition_wake_one(&w->granted);
            continue;
        }
        wanted_ahead |= 1u << w->mode;
        link = &w->next;
    }
}

static void object_enqueue(struct object_lock *object, struct waiter *w)
{
    uint32_t mine = modes_of(object, w->slot);
    struct waiter **link = &object->queue;
    while (*link && !(mine & conflicts[(*link)->mode]))
        link = &(*link)->next;
    w->next = *link;
    *link = w;
}

/* Rule 2: fast locks of this table become ordinary ones. */
static void fast_locks_move(struct txn_table *txns, struct object_lock *object, uint32_t table)
{
    uint32_t high = atom_load(&txns->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        struct txn_slot *slot = &txns->slots[i];
        latch_acquire(&slot->own, LATCH_EXCLUSIVE);
        for (int k = 0; k < FAST_LOCKS; k++) {
            if (slot->fast[k].table != table || !slot->fast[k].modes)
                continue;
            for (uint8_t mode = 1; mode <= LOCK_ROW_EXCLUSIVE; mode++)
                if (slot->fast[k].modes & (1u << mode))
                    object_grant(object, slot, mode);
            slot->fast[k].modes = 0;
        }
        latch_release(&slot->own);
    }
}

/* ---- taking ---- */

static void remember(struct txn *txn, struct object_key key, uint8_t mode)
{
    txn->held = vector_room(txn->held, txn->held_count, &txn->held_capacity, sizeof *txn->held);
    txn->held[txn->held_count++] = (struct held_lock){key.high, key.low, mode, txn->level_count - 1};
}

static bool fast_take(struct lock_table *locks, struct txn_slot *slot, uint32_t table, uint8_t mode)
{
    bool taken = false;
    int free_entry = -1;
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    if (atom_load(strong_of(locks, table)) == 0) {
        for (int k = 0; k < FAST_LOCKS && !taken; k++) {
            if (!slot->fast[k].modes) {
                free_entry = k;
            } else if (slot->fast[k].table == table) {
                slot->fast[k].modes |= 1u << mode;
                taken = true;
            }
        }
        if (!taken && free_entry >= 0) {
            slot->fast[free_entry].table = table;
            slot->fast[free_entry].modes = 1u << mode;
            taken = true;
        }
    }
    latch_release(&slot->own);
    return taken;
}

static bool fast_drop(struct txn_slot *slot, uint32_t table, uint8_t mode)
{
    bool dropped = false;
    latch_acquire(&slot->own, LATCH_EXCLUSIVE);
    for (int k = 0; k < FAST_LOCKS && !dropped; k++) {
        if (slot->fast[k].table == table && (slot->fast[k].modes & (1u << mode))) {
            slot->fast[k].modes &= ~(1u << mode);
            dropped = true;
        }
    }
    latch_release(&slot->own);
    return dropped;
}

static void object_edges(const struct object_lock *object, const struct waiter *me, struct wait_record *record)
{
    record->edge_count = 0;
    for (const struct holder *h = object->holders; h; h = h->next)
        if (h->slot != me->slot && (h->modes & conflicts[me->mode]))
            lock_edges_add(record, h->slot);
    for (const struct waiter *w = object->queue; w && w != me; w = w->next)
        if (conflicts[me->mode] & (1u << w->mode))
            lock_edges_add(record, w->slot);
}

bool lock_object_edges(struct lock_table *locks, struct txn_slot *slot, struct wait_record *copy)
{
    struct object_key key = {copy->key_high, copy->key_low};
    struct object_part *part = part_of(locks, key);
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    struct object_lock *object = object_find(part, key);
    struct waiter *w = object ? object->queue : NULL;
    while (w && w->slot != slot)
        w = w->next;
    if (w)
        object_edges(object, w, copy);
    latch_release(&part->latch);
    return w != NULL;
}

/* Waits in the queue of an object, its partition latched. Comes back with the partition unlatched. */
static enum status object_wait(struct txn *txn, struct object_part *part, struct object_lock *object, uint8_t mode)
{
    struct lock_table *locks = txn->store->locks;
    struct txn_slot *slot = txn->slot;
    struct wait_record *record = &slot->wait;
    struct waiter me = {.slot = slot, .mode = mode};
    condition_init(&me.granted, "lock");
    atomic_store_explicit(&record->start_us, wall_us(), memory_order_relaxed);
    atom_store(&record->satisfied, false);
    object_enqueue(object, &me);
    uint64_t deadline = lock_timeout_ms ? now_us() + (uint64_t)lock_timeout_ms * 1000 : 0;
    enum status status = STATUS_OK;

    object_serve(object);                    /* going ahead of others may be all that it took */
    while (!atom_load(&record->satisfied) && !status) {
        struct wait_record fresh = {.edges = record->edges, .edge_capacity = record->edge_capacity};
        /* `edges` is only read by searchers while the record is active, and it is not yet. */
        object_edges(object, &me, &fresh);
        record->edges = fresh.edges;
        record->edge_count = fresh.edge_count;
        record->edge_capacity = fresh.edge_capacity;
        record->for_transaction = false;
        record->key_high = object->key.high;
        record->key_low = object->key.low;
        record->mode = mode;
        latch_release(&part->latch);

        status = lock_graph_enter(txn);
        uint64_t again = now_us() + 1000000; /* look for circles again each second */
        latch_acquire(&part->latch, LATCH_EXCLUSIVE);
        while (!status && !atom_load(&record->satisfied)) {
            uint64_t until = deadline && deadline < again ? deadline : again;
            enum wake wake = condition_wait_until(&me.granted, &part->latch, until, true);
            if (atom_load(&record->satisfied))
                break;
            status = lock_graph_interrupted(deadline);
            if (wake == WAKE_TIMEOUT && !status && now_us() >= again)
                break;
        }
        latch_release(&part->latch);
        lock_graph_leave(txn);
        latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    }
    if (atom_load(&record->satisfied)) {     /* granted, even if something else came up too: that will be met later */
        status = STATUS_OK;
    } else {
        struct waiter **link = &object->queue;
        while (*link != &me)
            link = &(*link)->next;
        *link = me.next;
        if (!MUTANT(QUEUE_NOT_SERVED))
            object_serve(object);
        object_free_if_idle(locks, part, object);
    }
    latch_release(&part->latch);
    return status;
}

static enum status object_acquire(struct txn *txn, struct object_key key, uint8_t mode, enum lock_wait wait)
{
    struct lock_table *locks = txn->store->locks;
    struct object_part *part = part_of(locks, key);
    struct object_lock *object;
    bool strong = key.high == 0 && is_strong(mode);
    if (strong && !MUTANT(STRONG_SAID_LATE))
        atom_add(strong_of(locks, (uint32_t)key.low), 1);
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    enum status status = object_make(locks, part, key, &object);
    if (!status) {
        if (strong)
            fast_locks_move(txn->store->txns, object, (uint32_t)key.low);
        if (strong && MUTANT(STRONG_SAID_LATE))
            atom_add(strong_of(locks, (uint32_t)key.low), 1);
        bool free_now = !held_against(object, txn->slot, mode);
        uint32_t mine = modes_of(object, txn->slot);
        for (struct waiter *w = object->queue; w && free_now; w = w->next) {
            if (mine & conflicts[w->mode])
                break;                       /* rule 1: we go ahead of this one */
            free_now = !(conflicts[mode] & (1u << w->mode)) || MUTANT(QUEUE_JUMPED);
        }
        if (free_now) {
            object_grant(object, txn->slot, mode);
        } else if (wait != LOCK_WAIT) {
            status = wait == LOCK_SKIP ? STATUS_WOULD_BLOCK
                                       : error_set(STATUS_LOCK_NOT_AVAILABLE, "could not obtain lock on relation with OID %u",
                                                   (uint32_t)key.low);
            object_free_if_idle(locks, part, object);
        } else {
            status = object_wait(txn, part, object, mode);
            goto waited;
        }
    }
    latch_release(&part->latch);
waited:
    if (status && strong)
        atom_sub(strong_of(locks, (uint32_t)key.low), 1);
    if (!status)
        remember(txn, key, mode);
    return status;
}

/* A lock covers a request when whatever conflicts with the request conflicts with the lock. */
static bool covers(uint8_t held, uint8_t wanted) { return (conflicts[wanted] & ~conflicts[held]) == 0; }

bool lock_relation_held(struct txn *txn, uint32_t table, enum table_lock mode)
{
    for (uint32_t i = txn->held_count; i > 0; i--) {
        const struct held_lock *held = &txn->held[i - 1];
        if (held->key_high == 0 && held->key_low == table && covers(held->mode, mode))
            return true;
    }
    return false;
}

enum status lock_relation(struct txn *txn, uint32_t table, enum table_lock mode, enum lock_wait wait)
{
    if (lock_relation_held(txn, table, mode))
        return STATUS_OK;
    struct object_key key = {0, table};
    if (is_weak(mode) && fast_take(txn->store->locks, txn->slot, table, mode)) {
        remember(txn, key, mode);
        return STATUS_OK;
    }
    return object_acquire(txn, key, mode, wait);
}

/* ---- letting go ---- */

static void object_release(struct txn *txn, struct object_key key, uint8_t mode)
{
    struct lock_table *locks = txn->store->locks;
    if (key.high == 0 && is_weak(mode) && fast_drop(txn->slot, (uint32_t)key.low, mode))
        return;
    struct object_part *part = part_of(locks, key);
    latch_acquire(&part->latch, LATCH_EXCLUSIVE);
    struct object_lock *object = object_find(part, key);
    ASSERT(object);
    struct holder **link = &object->holders;
    while (*link && (*link)->slot != txn->slot)
        link = &(*link)->next;
    ASSERT(*link && ((*link)->modes & (1u << mode)));
    (*link)->modes &= ~(1u << mode);
    if ((*link)->modes == 0) {
        struct holder *h = *link;
        *link = h->next;
        free(h);
    }
    object_serve(object);
    object_free_if_idle(locks, part, object);
    latch_release(&part->latch);
    if (key.high == 0 && is_strong(mode))
        atom_sub(strong_of(locks, (uint32_t)key.low), 1);
}

void lock_objects_release(struct txn *txn, int level);       /* row_lock.c calls these two from the lock.h entries */
void lock_objects_keep(struct txn *txn, int level);

void lock_objects_release(struct txn *txn, int level)
{
    while (txn->held_count > 0 && txn->held[txn->held_count - 1].level >= level) {
        struct held_lock held = txn->held[--txn->held_count];
        object_release(txn, (struct object_key){held.key_high, held.key_low}, held.mode);
    }
}

void lock_objects_keep(struct txn *txn, int level)
{
    for (uint32_t i = txn->held_count; i > 0 && txn->held[i - 1].level >= level; i--)
        txn->held[i - 1].level = level - 1;
}

/* ---- a row's turn ---- */

static const uint8_t turn_modes[] = {
    [ROW_KEY_SHARE] = LOCK_ACCESS_SHARE,
    [ROW_SHARE] = LOCK_ROW_SHARE,
    [ROW_NO_KEY_UPDATE] = LOCK_EXCLUSIVE,
    [ROW_UPDATE] = LOCK_ACCESS_EXCLUSIVE,
};

enum status lock_row_turn(struct txn *txn, uint32_t file, uint64_t row_id, enum row_lock mode)
{
    return object_acquire(txn, (struct object_key){(uint64_t)file + 1, row_id}, turn_modes[mode], LOCK_WAIT);
}

void lock_row_turn_done(struct txn *txn, uint32_t file, uint64_t row_id, enum row_lock mode)
{
    struct object_key key = {(uint64_t)file + 1, row_id};
    for (uint32_t i = txn->held_count; i > 0; i--) {
        struct held_lock *held = &txn->held[i - 1];
        if (held->key_high != key.high || held->key_low != key.low || held->mode != turn_modes[mode])
            continue;
        memmove(held, held + 1, (txn->held_count - i) * sizeof *held);
        txn->held_count--;
        object_release(txn, key, turn_modes[mode]);
        return;
    }
}

/* ---- views ---- */

size_t lock_sights(struct store *store, struct lock_sight *out, size_t capacity)
{
    struct lock_table *locks = store->locks;
    struct txn_table *txns = store->txns;
    size_t count = 0;
#define SIGHT(...)                                                                                                     \
    do {                                                                                                               \
        if (count < capacity)                                                                                          \
            out[count] = (struct lock_sight){__VA_ARGS__};                                                             \
        count++;                                                                                                       \
    } while (0)
    uint32_t high = atom_load(&txns->slot_high);
    for (uint32_t i = 0; i < high; i++) {
        struct txn_slot *slot = &txns->slots[i];
        latch_acquire(&slot->own, LATCH_EXCLUSIVE);
        for (int k = 0; k < FAST_LOCKS; k++)
            for (uint8_t mode = 1; mode <= LOCK_ROW_EXCLUSIVE; mode++)
                if (slot->fast[k].modes & (1u << mode))
                    SIGHT(.pid = slot->pid, .table = slot->fast[k].table, .mode = mode, .granted = true);
        latch_release(&slot->own);
    }
    for (uint32_t p = 0; p < OBJECT_PARTITIONS; p++) {
        struct object_part *part = &locks->objects[p];
        latch_acquire(&part->latch, LATCH_EXCLUSIVE);
        for (int b = 0; b < 64; b++) {
            for (struct object_lock *object = part->buckets[b]; object; object = object->next) {
                bool row = object->key.high != 0;
                uint32_t table = row ? (uint32_t)(object->key.high - 1) : (uint32_t)object->key.low;
                uint64_t row_id = row ? object->key.low : 0;
                for (struct holder *h = object->holders; h; h = h->next)
                    for (uint8_t mode = 1; mode <= 8; mode++)
                        if (h->modes & (1u << mode))
                            SIGHT(.pid = h->slot->pid, .table = table, .row_id = row_id, .mode = mode, .row = row, .granted = true);
                for (struct waiter *w = object->queue; w; w = w->next)
                    SIGHT(.pid = w->slot->pid, .table = table, .row_id = row_id, .mode = w->mode, .row = row,
                          .wait_start_us = atomic_load_explicit(&w->slot->wait.start_us, memory_order_relaxed));
            }
        }
        latch_release(&part->latch);
    }
    latch_acquire(&locks->graph, LATCH_EXCLUSIVE);
    for (uint32_t i = 0; i < high; i++) {
        struct txn_slot *slot = &txns->slots[i];
        if (slot->wait.active && slot->wait.for_transaction)
            SIGHT(.pid = slot->pid, .awaited_xid = slot->wait.xid, .mode = LOCK_SHARE,
                  .wait_start_us = atomic_load_explicit(&slot->wait.start_us, memory_order_relaxed));
    }
    latch_release(&locks->graph);
#undef SIGHT
    return count;
}
