/* bench/btree_berkeley.c - Berkeley DB for bench/btree: a private environment in memory as a Concurrent Data Store.
 *
 * CDB has many readers or one writer, no log and no transactions: less than the others promise, and much faster here than its transactional
 * store, whose page locks, held to the end of a transaction of 1,000 random inserts, deadlock all the time. A cursor held over a batch
 * keeps the store's lock for the batch, which is the cheapest way to read, and makes 1,000 puts one unit to all readers. */
#include "bench/btree.h"

#if __has_include(<db.h>)
#include <db.h>

#define OK(call) do { int rc_ = (call); must(rc_ != 0, "Berkeley DB: " #call, db_strerror(rc_)); } while (0)

struct berkeley { DB_ENV *env; DB *db; };

static void *berkeley_open(const char *directory, uint64_t cache_bytes)
{
    struct berkeley *b = calloc(1, sizeof *b);
    OK(db_env_create(&b->env, 0));
    OK(b->env->set_cachesize(b->env, (uint32_t)(cache_bytes >> 30), (uint32_t)(cache_bytes & ((1u << 30) - 1)), 1));
    OK(b->env->open(b->env, directory, DB_CREATE | DB_PRIVATE | DB_THREAD | DB_INIT_MPOOL | DB_INIT_CDB, 0600));
    OK(db_create(&b->db, b->env, 0));
    OK(b->db->set_pagesize(b->db, 8192));
    OK(b->db->open(b->db, NULL, NULL, NULL, DB_BTREE, DB_CREATE | DB_THREAD, 0600));     /* no file: a database in memory */
    return b;
}

static void berkeley_close(void *handle)
{
    struct berkeley *b = handle;
    OK(b->db->close(b->db, DB_NOSYNC));
    OK(b->env->close(b->env, 0));
    free(b);
}

static void put_all(struct berkeley *b, const struct pair *pairs, uint64_t count)
{
    DBC *cursor;
    OK(b->db->cursor(b->db, NULL, &cursor, DB_WRITECURSOR));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bytes = big_endian(pairs[i].key), value_bytes = pairs[i].value;
        DBT key = { .data = &bytes, .size = 8 }, value = { .data = &value_bytes, .size = 8 };
        OK(cursor->put(cursor, &key, &value, DB_KEYFIRST));
    }
    OK(cursor->close(cursor));
}

static void berkeley_bulk(void *handle, const struct pair *sorted, uint64_t count) { put_all(handle, sorted, count); }
static void *berkeley_session(void *handle) { return handle; }                  /* handles are free-threaded */
static void berkeley_session_end(void *session) { (void)session; }
static void berkeley_insert(void *session, const struct pair *pairs, uint32_t count) { put_all(session, pairs, count); }

static uint64_t berkeley_lookup(void *session, const uint64_t *keys, uint32_t count)
{
    struct berkeley *b = session;
    DBC *cursor;
    uint64_t sum = 0, bytes, copy;
    DBT key = { .data = &bytes, .size = 8, .ulen = 8, .flags = DB_DBT_USERMEM }, value = { .data = &copy, .ulen = 8, .flags = DB_DBT_USERMEM };
    OK(b->db->cursor(b->db, NULL, &cursor, 0));
    for (uint32_t i = 0; i < count; i++) {
        bytes = big_endian(keys[i]);
        OK(cursor->get(cursor, &key, &value, DB_SET));
        sum += copy;
    }
    OK(cursor->close(cursor));
    return sum;
}

/* Bulk retrieval: whole runs of entries at a time. */
static uint64_t berkeley_range(void *session, uint64_t from, uint32_t count)
{
    struct berkeley *b = session;
    DBC *cursor;
    uint64_t sum = 0, bytes = big_endian(from), copy;
    _Alignas(8) uint8_t buffer[16384];
    DBT key = { .data = &bytes, .size = 8, .ulen = 8, .flags = DB_DBT_USERMEM }, run = { .data = buffer, .ulen = sizeof buffer, .flags = DB_DBT_USERMEM };
    OK(b->db->cursor(b->db, NULL, &cursor, 0));
    int rc = cursor->get(cursor, &key, &run, DB_SET_RANGE | DB_MULTIPLE_KEY);
    for (uint32_t left = count; left && rc == 0; ) {
        void *at, *found_key, *found;
        size_t key_size, size;
        DB_MULTIPLE_INIT(at, &run);
        for (;; left--) {
            DB_MULTIPLE_KEY_NEXT(at, &run, found_key, key_size, found, size);
            (void)found_key, (void)key_size, (void)size;
            if (!at || !left)
                break;
            memcpy(&copy, found, 8);
            sum += copy;
        }
        if (left)
            rc = cursor->get(cursor, &key, &run, DB_NEXT | DB_MULTIPLE_KEY);
    }
    must(rc != 0 && rc != DB_NOTFOUND, "Berkeley DB: range", db_strerror(rc));
    OK(cursor->close(cursor));
    return sum;
}

const struct engine engine_berkeley = { .name = "BerkeleyDB", .how = "private in-memory Concurrent Data Store (many readers or one writer, no log), cursor a batch",
    .open = berkeley_open, .close = berkeley_close, .bulk = berkeley_bulk, .session = berkeley_session, .session_end = berkeley_session_end,
    .insert = berkeley_insert, .lookup = berkeley_lookup, .range = berkeley_range };
#else
const struct engine engine_berkeley = { .name = "BerkeleyDB", .package = "libdb5.3-dev" };
#endif
