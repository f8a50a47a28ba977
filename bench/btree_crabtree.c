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

/* ---- what the parts of a lookup cost ---- */

enum { COSTED = 300000, LEVELS = BTREE_LEVELS };
struct pages { const struct btree *tree; const uint8_t **bytes; uint32_t root; uint16_t level; };

/* What the pool does when it pins a page (storage/pool.c): the bare search shall not lack it. */
static void fetch_ahead(const uint8_t *page)
{
    __builtin_prefetch(page);
    __builtin_prefetch(page + 64);
    __builtin_prefetch(page + PAGE_BYTES - 64);
}

/* The same search on the same pages, with neither pins nor latches: right only while nobody changes anything. */
static uint64_t bare_lookup(const struct pages *pages, uint64_t key, uint32_t *path)
{
    uint64_t bytes = big_endian(key);
    struct bound bound = { BOUND_AT, (const uint8_t *)&bytes, 8, 0 };
    uint32_t page = pages->root;
    for (int level = pages->level; level > 0; level--) {
        const struct node *node = (const struct node *)pages->bytes[page];
        fetch_ahead(pages->bytes[page]);
        if (path)
            path[level] = page;
        page = node_child(node, node_child_index(node, &bound));
    }
    if (path)
        path[0] = page;
    const struct node *leaf = (const struct node *)pages->bytes[page];
    fetch_ahead(pages->bytes[page]);
    uint32_t i = node_lower(leaf, bound.bytes, 8, 0);
    must(i == leaf->count || !node_entry_is(leaf, i, bound.bytes, 8), "Crabtree: bare lookup", "not found");
    return node_row(leaf, i);
}

static double ns_each(uint64_t since_us, uint32_t count) { return (double)(now_us() - since_us) * 1000 / count; }

void crabtree_costs(void *handle, uint64_t (*key_at)(uint64_t), uint64_t present)
{
    struct crab *db = handle;
    struct pool *pool = db->store->pool;
    struct page_ref meta, ref;
    struct pages pages = { .tree = &db->tree };
    uint32_t count;
    OK(meta_fetch(&db->tree, LATCH_SHARED, &meta, &pages.root, &pages.level));
    pool_release(&meta);
    OK(pool_file_pages(pool, db->tree.file, &count));
    pages.bytes = calloc(count, sizeof *pages.bytes);
    must(!pages.bytes, "memory", NULL);
    for (uint32_t page = BTREE_FIRST_LEAF; page < count; page++) {
        OK(pool_pin(pool, (page_id){ db->tree.file, page }, RANK_NODE, NODE_LATCH_LEVEL(0), &ref));
        pages.bytes[page] = ref.bytes;
        pool_release(&ref);
    }
    static uint32_t paths[COSTED][4];
    must(pages.level >= 4, "Crabtree: costs", "the tree is taller than this was made for");
    uint64_t random = 4711, from, sum = 0, whole_sum = 0;
    double bare = 1e9, whole = 1e9, pins = 1e9, latched = 1e9;
    for (int round = 0; round < 5; round++) {               /* the best of five: what the processor can do, not what disturbed it. Other keys every time */
        uint64_t first = random;
        from = now_us();
        for (uint32_t i = 0; i < COSTED; i++)
            sum += bare_lookup(&pages, key_at(random_next(&random) % present), NULL);
        double took = ns_each(from, COSTED);
        bare = took < bare ? took : bare;

        random = first;
        for (uint32_t i = 0; i < COSTED; i++)
            bare_lookup(&pages, key_at(random_next(&random) % present), paths[i]);
        from = now_us();
        for (uint32_t i = 0; i < COSTED; i++)
            for (int level = pages.level; level >= 0; level--) {
                OK(pool_pin(pool, (page_id){ db->tree.file, paths[i][level] }, RANK_NODE, NODE_LATCH_LEVEL(level), &ref));
                pool_release(&ref);
            }
        took = ns_each(from, COSTED);
        pins = took < pins ? took : pins;
        from = now_us();
        for (uint32_t i = 0; i < COSTED; i++)
            for (int level = pages.level; level >= 0; level--) {
                OK(pool_fetch(pool, (page_id){ db->tree.file, paths[i][level] }, LATCH_SHARED, RANK_NODE, NODE_LATCH_LEVEL(level), &ref));
                pool_release(&ref);
            }
        took = ns_each(from, COSTED);
        latched = took < latched ? took : latched;

        random = first;
        from = now_us();
        for (uint32_t i = 0; i < COSTED; i++) {
            uint64_t key = big_endian(key_at(random_next(&random) % present)), row;
            uint32_t found;
            OK(btree_lookup(&db->tree, (const uint8_t *)&key, 8, &row, 1, &found));
            whole_sum += row;
        }
        took = ns_each(from, COSTED);
        whole = took < whole ? took : whole;
    }
    must(sum != whole_sum, "Crabtree: costs", "the bare search finds other values");
    free(pages.bytes);
    const double levels = pages.level + 1.0;
    printf("\na lookup of Crabtree, one thread, %.0f levels: %.0f ns. The same search on the same pages without pins and latches: %.0f ns (%.2f times as fast).\n"
           "By themselves: a pin costs %.0f ns a level, a SHARED latch %.0f ns (%.0f and %.0f a lookup; much of it hides behind the search's cache misses).\n",
           levels, whole, bare, whole / bare, pins / levels, (latched - pins) / levels, pins, latched - pins);
}

const struct engine engine_crabtree = { .name = "Crabtree", .how = "optimistic latching, WAL written but not synced, each lookup on its own", .open = crab_open,
    .close = crab_close, .bulk = crab_bulk, .session = crab_session, .session_end = crab_session_end, .insert = crab_insert, .lookup = crab_lookup,
    .range = crab_range, .settle = crab_settle };
