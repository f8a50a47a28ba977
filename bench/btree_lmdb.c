/* bench/btree_lmdb.c - LMDB for bench/btree: MDB_WRITEMAP | MDB_NOSYNC, keys as MDB_INTEGERKEY, a read transaction a session, reset and renewed. */
#include "bench/btree.h"

#if __has_include(<lmdb.h>)
#include <lmdb.h>

#define OK(call) do { int rc_ = (call); must(rc_ != 0, "LMDB: " #call, mdb_strerror(rc_)); } while (0)

struct lmdb { MDB_env *env; MDB_dbi dbi; };
struct lmdb_session { struct lmdb *db; MDB_txn *read; MDB_cursor *cursor; };

static void *lmdb_open(const char *directory, uint64_t cache_bytes)
{
    struct lmdb *db = calloc(1, sizeof *db);
    MDB_txn *txn;
    OK(mdb_env_create(&db->env));
    OK(mdb_env_set_mapsize(db->env, cache_bytes * 2));
    OK(mdb_env_open(db->env, directory, MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS | MDB_NORDAHEAD, 0600));
    OK(mdb_txn_begin(db->env, NULL, 0, &txn));
    OK(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &db->dbi));
    OK(mdb_txn_commit(txn));
    return db;
}

static void lmdb_close(void *handle)
{
    struct lmdb *db = handle;
    mdb_env_close(db->env);
    free(db);
}

static void put_all(struct lmdb *db, const struct pair *pairs, uint64_t count, unsigned flags)
{
    MDB_txn *txn;
    OK(mdb_txn_begin(db->env, NULL, 0, &txn));
    for (uint64_t i = 0; i < count; i++) {
        MDB_val key = { 8, (void *)(uintptr_t)&pairs[i].key }, value = { 8, (void *)(uintptr_t)&pairs[i].value };
        OK(mdb_put(txn, db->dbi, &key, &value, flags));
    }
    OK(mdb_txn_commit(txn));
}

static void lmdb_bulk(void *handle, const struct pair *sorted, uint64_t count) { put_all(handle, sorted, count, MDB_APPEND); }

static void *lmdb_session(void *handle)
{
    struct lmdb_session *session = calloc(1, sizeof *session);
    session->db = handle;
    OK(mdb_txn_begin(session->db->env, NULL, MDB_RDONLY, &session->read));
    OK(mdb_cursor_open(session->read, session->db->dbi, &session->cursor));
    mdb_txn_reset(session->read);
    return session;
}

static void lmdb_session_end(void *handle)
{
    struct lmdb_session *session = handle;
    mdb_cursor_close(session->cursor);
    mdb_txn_abort(session->read);
    free(session);
}

static void lmdb_insert(void *handle, const struct pair *pairs, uint32_t count)
{
    put_all(((struct lmdb_session *)handle)->db, pairs, count, MDB_NOOVERWRITE);
}

static void renew(struct lmdb_session *session)
{
    OK(mdb_txn_renew(session->read));
    OK(mdb_cursor_renew(session->read, session->cursor));
}

static uint64_t lmdb_lookup(void *handle, const uint64_t *keys, uint32_t count)
{
    struct lmdb_session *session = handle;
    uint64_t sum = 0, copy;
    renew(session);
    for (uint32_t i = 0; i < count; i++) {
        MDB_val key = { 8, (void *)(uintptr_t)&keys[i] }, value;
        OK(mdb_cursor_get(session->cursor, &key, &value, MDB_SET));
        memcpy(&copy, value.mv_data, 8);
        sum += copy;
    }
    mdb_txn_reset(session->read);
    return sum;
}

static uint64_t lmdb_range(void *handle, uint64_t from, uint32_t count)
{
    struct lmdb_session *session = handle;
    uint64_t sum = 0, copy;
    MDB_val key = { 8, &from }, value;
    renew(session);
    int rc = mdb_cursor_get(session->cursor, &key, &value, MDB_SET_RANGE);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        memcpy(&copy, value.mv_data, 8);
        sum += copy;
        rc = mdb_cursor_get(session->cursor, &key, &value, MDB_NEXT);
    }
    must(rc != 0 && rc != MDB_NOTFOUND, "LMDB: range", mdb_strerror(rc));
    mdb_txn_reset(session->read);
    return sum;
}

const struct engine engine_lmdb = { .name = "LMDB", .how = "MDB_WRITEMAP|MDB_NOSYNC on tmpfs, MDB_INTEGERKEY, one write transaction at a time", .open = lmdb_open,
    .close = lmdb_close, .bulk = lmdb_bulk, .session = lmdb_session, .session_end = lmdb_session_end, .insert = lmdb_insert, .lookup = lmdb_lookup, .range = lmdb_range };
#else
const struct engine engine_lmdb = { .name = "LMDB", .package = "liblmdb-dev" };
#endif
