/* bench/btree_sqlite.c - SQLite for bench/btree: an INTEGER PRIMARY KEY table (its own tree over 8-byte integers, nothing stored twice) on
 * tmpfs, synchronous=OFF, journal_mode=WAL (readers beside the writer), mmap, a connection a thread, prepared statements. */
#include "bench/btree.h"

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

struct lite { char path[4096]; uint64_t cache_bytes; sqlite3 *keeper; };
struct lite_session { sqlite3 *db; sqlite3_stmt *insert, *lookup, *range, *begin, *begin_write, *commit; };

static sqlite3_int64 signed_of(uint64_t key) { return (sqlite3_int64)(key ^ 1ULL << 63); }     /* the same order */

static void run(sqlite3 *db, const char *sql) { must(sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK, sql, sqlite3_errmsg(db)); }

static void step(sqlite3 *db, sqlite3_stmt *statement)
{
    must(sqlite3_step(statement) != SQLITE_DONE, "SQLite: step", sqlite3_errmsg(db));
    sqlite3_reset(statement);
}

static sqlite3 *connect_to(const struct lite *lite)
{
    sqlite3 *db;
    char sql[200];
    must(sqlite3_open_v2(lite->path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK, "SQLite: open", sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 600000);
    snprintf(sql, sizeof sql, "PRAGMA mmap_size=%llu; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY", (unsigned long long)lite->cache_bytes * 2);
    run(db, "PRAGMA page_size=8192");
    run(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=10000");
    run(db, sql);
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    must(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK, sql, sqlite3_errmsg(db));
    return statement;
}

static void *lite_open(const char *directory, uint64_t cache_bytes)
{
    struct lite *lite = calloc(1, sizeof *lite);
    snprintf(lite->path, sizeof lite->path, "%s/bench.db", directory);
    lite->cache_bytes = cache_bytes;
    lite->keeper = connect_to(lite);
    run(lite->keeper, "CREATE TABLE bench (k INTEGER PRIMARY KEY, v INTEGER)");
    return lite;
}

static void lite_close(void *handle)
{
    struct lite *lite = handle;
    sqlite3_close(lite->keeper);
    free(lite);
}

static void *lite_session(void *handle)
{
    struct lite_session *s = calloc(1, sizeof *s);
    s->db = connect_to(handle);
    s->insert = prepare(s->db, "INSERT INTO bench VALUES (?, ?)");
    s->lookup = prepare(s->db, "SELECT v FROM bench WHERE k = ?");
    s->range = prepare(s->db, "SELECT v FROM bench WHERE k >= ? LIMIT ?");
    s->begin = prepare(s->db, "BEGIN");
    s->begin_write = prepare(s->db, "BEGIN IMMEDIATE");
    s->commit = prepare(s->db, "COMMIT");
    return s;
}

static void lite_session_end(void *handle)
{
    struct lite_session *s = handle;
    sqlite3_stmt *all[] = { s->insert, s->lookup, s->range, s->begin, s->begin_write, s->commit };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sqlite3_finalize(all[i]);
    sqlite3_close(s->db);
    free(s);
}

static void put(struct lite_session *s, const struct pair *pair)
{
    sqlite3_bind_int64(s->insert, 1, signed_of(pair->key));
    sqlite3_bind_int64(s->insert, 2, (sqlite3_int64)pair->value);
    step(s->db, s->insert);
}

static void lite_insert(void *handle, const struct pair *pairs, uint32_t count)
{
    struct lite_session *s = handle;
    step(s->db, s->begin_write);
    for (uint32_t i = 0; i < count; i++)
        put(s, &pairs[i]);
    step(s->db, s->commit);
}

static void lite_bulk(void *handle, const struct pair *sorted, uint64_t count)
{
    struct lite_session *s = lite_session(handle);
    step(s->db, s->begin_write);
    for (uint64_t i = 0; i < count; i++)
        put(s, &sorted[i]);
    step(s->db, s->commit);
    run(s->db, "PRAGMA wal_checkpoint(TRUNCATE)");
    lite_session_end(s);
}

static uint64_t lite_lookup(void *handle, const uint64_t *keys, uint32_t count)
{
    struct lite_session *s = handle;
    uint64_t sum = 0;
    if (count > 1)
        step(s->db, s->begin);
    for (uint32_t i = 0; i < count; i++) {
        sqlite3_bind_int64(s->lookup, 1, signed_of(keys[i]));
        must(sqlite3_step(s->lookup) != SQLITE_ROW, "SQLite: lookup", sqlite3_errmsg(s->db));
        sum += (uint64_t)sqlite3_column_int64(s->lookup, 0);
        sqlite3_reset(s->lookup);
    }
    if (count > 1)
        step(s->db, s->commit);
    return sum;
}

static uint64_t lite_range(void *handle, uint64_t from, uint32_t count)
{
    struct lite_session *s = handle;
    uint64_t sum = 0;
    int rc;
    sqlite3_bind_int64(s->range, 1, signed_of(from));
    sqlite3_bind_int64(s->range, 2, count);
    while ((rc = sqlite3_step(s->range)) == SQLITE_ROW)
        sum += (uint64_t)sqlite3_column_int64(s->range, 0);
    must(rc != SQLITE_DONE, "SQLite: range", sqlite3_errmsg(s->db));
    sqlite3_reset(s->range);
    return sum;
}

const struct engine engine_sqlite = { .name = "SQLite", .how = "INTEGER PRIMARY KEY on tmpfs, WAL, synchronous=OFF, mmap, a connection a thread", .open = lite_open,
    .close = lite_close, .bulk = lite_bulk, .session = lite_session, .session_end = lite_session_end, .insert = lite_insert, .lookup = lite_lookup, .range = lite_range };
#else
const struct engine engine_sqlite = { .name = "SQLite", .package = "libsqlite3-dev" };
#endif
