/* bench/btree_crabtree.c - Crabtree's B+Tree for bench/btree: on a real store, the pool large enough for all of it. Inserts are made under
 * a transaction each batch; their WAL is written by the time that the clock stops, but never synced. */
#include "base/arena.h"
#include "base/hash.h"
#include "bench/btree.h"
#include "btree/node.h"
#include "storage/txn.h"

#define OK(call) do { enum status status_ = (call); must(status_ != STATUS_OK, "Crabtree: " #call, status_text(status_)); } while (0)

struct crab { struct store *store; struct btree tree; };
struct crab_session { struct crab *db; struct txn_slot *slot; };

static void *crab_open(const char *directory, uint64_t cache_bytes)
{
    struct crab *db = calloc(1, sizeof *db);
    atomic_store(&wal_fsync_enabled, 0);
    struct store_options options = { .pool_bytes = cache_bytes, .wal_ring_bytes = 16u << 20, .lock_bytes = 1u << 20, .pool_partitions = 128,
                                     .checkpoint_seconds = 1u << 20, .max_transactions = 100, .max_wal_bytes = UINT64_MAX / 2 };
    OK(store_open(directory, &options, &db->store));
    db->tree = (struct btree){ .store = db->store, .file = 900, .name = "bench" };
    OK(btree_create_fixed(&db->tree));
    return db;
}

static void crab_close(void *handle)
{
    struct crab *db = handle;
    OK(store_close(db->store));
    free(db);
}

static void crab_bulk(void *handle, const struct pair *sorted, uint64_t count)
{
    struct crab *db = handle;
    struct btree_build *build;
    OK(btree_build_begin(&db->tree, 0, &build));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = big_endian(sorted[i].key);
        OK(btree_build_add(build, (const uint8_t *)&key, 8, sorted[i].value));
    }
    OK(btree_build_end(build));
}

static void *crab_session(void *handle)
{
    struct crab_session *session = calloc(1, sizeof *session);
    session->db = handle;
    OK(txn_slot_open(session->db->store, 1, &session->slot));
    return session;
}

static void crab_session_end(void *handle)
{
    struct crab_session *session = handle;
    txn_slot_close(session->slot);
    free(session);
}

static void crab_insert(void *handle, const struct pair *pairs, uint32_t count)
{
    struct crab_session *session = handle;
    struct txn *txn = txn_begin(session->db->store, session->slot, READ_COMMITTED, false);
    xid_t xid;
    txn_set_synchronous(txn, false);
    OK(txn_id(txn, &xid));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = big_endian(pairs[i].key);
        OK(btree_insert(&session->db->tree, xid, (const uint8_t *)&key, 8, pairs[i].value, NULL, NULL));
    }
    OK(txn_commit(txn));
}

static uint64_t crab_lookup(void *handle, const uint64_t *keys, uint32_t count)
{
    struct crab_session *session = handle;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = big_endian(keys[i]), row;
        uint32_t found;
        OK(btree_lookup(&session->db->tree, (const uint8_t *)&key, 8, &row, 1, &found));
        must(found != 1, "Crabtree: lookup", "not found");
        sum += row;
    }
    return sum;
}

static uint64_t crab_range(void *handle, uint64_t from, uint32_t count)
{
    struct crab_session *session = handle;
    uint64_t sum = 0, key = big_endian(from);
    uint32_t left = count;
    struct arena *arena = arena_open(NULL, "range");
    struct btree_scan *scan;
    struct btree_entries got;
    OK(btree_scan_open(&session->db->tree, arena, (const uint8_t *)&key, 8, NULL, 0, false, &scan));
    while (left) {
        OK(btree_scan_next(scan, &got));
        if (!got.count)
            break;
        for (uint32_t i = 0; i < got.count && left; i++, left--)
            sum += got.row_ids[i];
    }
    btree_scan_close(scan);
    arena_close(arena);
    return sum;
}

static void crab_settle(void *handle)
{
    struct crab *db = handle;
    wal_flush(db->store->wal, wal_next(db->store->wal));
}

void crabtree_costs(void *handle, const uint64_t *keys, uint32_t count) { (void)handle, (void)keys, (void)count; }

const struct engine engine_crabtree = { .name = "Crabtree", .how = "optimistic latching, WAL written but not synced, each lookup on its own", .open = crab_open,
    .close = crab_close, .bulk = crab_bulk, .session = crab_session, .session_end = crab_session_end, .insert = crab_insert, .lookup = crab_lookup,
    .range = crab_range, .settle = crab_settle };
