/* bench/btree_wiredtiger.c - WiredTiger for bench/btree: in_memory, no log, a session and a cursor a thread, snapshot transactions.
 *
 * Its eviction is told to stay away: everything is dirty here for ever, and at its standard 20 per cent of dirty cache the threads that insert
 * are put to work looking for what could be evicted (a ninth of the speed at 10 million keys). */
#include "bench/btree.h"

#if __has_include(<wiredtiger.h>)
#include <wiredtiger.h>

#define OK(call) do { int rc_ = (call); must(rc_ != 0, "WiredTiger: " #call, wiredtiger_strerror(rc_)); } while (0)
#define TABLE "table:bench"

struct tiger_session { WT_SESSION *session; WT_CURSOR *cursor; };

static void *tiger_open(const char *directory, uint64_t cache_bytes)
{
    WT_CONNECTION *connection;
    WT_SESSION *session;
    char config[400];
    snprintf(config, sizeof config, "create,in_memory=true,cache_size=%lluMB,session_max=64,log=(enabled=false),statistics=(none),"
             "eviction_target=95,eviction_trigger=99,eviction_dirty_target=95,eviction_dirty_trigger=99", (unsigned long long)(cache_bytes * 2 >> 20));
    OK(wiredtiger_open(directory, NULL, config, &connection));
    OK(connection->open_session(connection, NULL, NULL, &session));
    OK(session->create(session, TABLE, "key_format=u,value_format=u"));
    OK(session->close(session, NULL));
    return connection;
}

static void tiger_close(void *handle)
{
    WT_CONNECTION *connection = handle;
    OK(connection->close(connection, "leak_memory=false"));
}

static void *tiger_session(void *handle)
{
    WT_CONNECTION *connection = handle;
    struct tiger_session *s = calloc(1, sizeof *s);
    OK(connection->open_session(connection, NULL, "isolation=snapshot", &s->session));
    OK(s->session->open_cursor(s->session, TABLE, NULL, NULL, &s->cursor));
    return s;
}

static void tiger_session_end(void *handle)
{
    struct tiger_session *s = handle;
    OK(s->session->close(s->session, NULL));
    free(s);
}

static int put(WT_CURSOR *cursor, const struct pair *pair)
{
    uint64_t bytes = big_endian(pair->key);
    WT_ITEM key = { .data = &bytes, .size = 8 }, value = { .data = &pair->value, .size = 8 };
    cursor->set_key(cursor, &key);
    cursor->set_value(cursor, &value);
    return cursor->insert(cursor);
}

static void tiger_bulk(void *handle, const struct pair *sorted, uint64_t count)
{
    WT_CONNECTION *connection = handle;
    WT_SESSION *session;
    WT_CURSOR *cursor;
    OK(connection->open_session(connection, NULL, NULL, &session));
    OK(session->open_cursor(session, TABLE, NULL, "bulk", &cursor));
    for (uint64_t i = 0; i < count; i++)
        OK(put(cursor, &sorted[i]));
    OK(cursor->close(cursor));
    OK(session->close(session, NULL));
}

/* WT_ROLLBACK: the same again (a full cache, or a key that another transaction writes now). */
static void tiger_insert(void *handle, const struct pair *pairs, uint32_t count)
{
    struct tiger_session *s = handle;
    int rc;
    do {
        rc = 0;
        OK(s->session->begin_transaction(s->session, NULL));
        for (uint32_t i = 0; i < count && rc == 0; i++)
            rc = put(s->cursor, &pairs[i]);
        if (rc == 0)
            rc = s->session->commit_transaction(s->session, NULL);
        else
            OK(s->session->rollback_transaction(s->session, NULL));
        must(rc != 0 && rc != WT_ROLLBACK, "WiredTiger: insert", wiredtiger_strerror(rc));
    } while (rc);
}

static uint64_t value_of(WT_CURSOR *cursor)
{
    WT_ITEM value;
    uint64_t copy;
    OK(cursor->get_value(cursor, &value));
    memcpy(&copy, value.data, 8);
    return copy;
}

static uint64_t tiger_lookup(void *handle, const uint64_t *keys, uint32_t count)
{
    struct tiger_session *s = handle;
    uint64_t sum = 0;
    OK(s->session->begin_transaction(s->session, NULL));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = big_endian(keys[i]);
        WT_ITEM key = { .data = &bytes, .size = 8 };
        s->cursor->set_key(s->cursor, &key);
        OK(s->cursor->search(s->cursor));
        sum += value_of(s->cursor);
    }
    OK(s->cursor->reset(s->cursor));
    OK(s->session->commit_transaction(s->session, NULL));
    return sum;
}

static uint64_t tiger_range(void *handle, uint64_t from, uint32_t count)
{
    struct tiger_session *s = handle;
    uint64_t sum = 0, bytes = big_endian(from);
    WT_ITEM key = { .data = &bytes, .size = 8 };
    int exact, rc;
    OK(s->session->begin_transaction(s->session, NULL));
    s->cursor->set_key(s->cursor, &key);
    rc = s->cursor->search_near(s->cursor, &exact);
    if (rc == 0 && exact < 0)
        rc = s->cursor->next(s->cursor);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        sum += value_of(s->cursor);
        rc = s->cursor->next(s->cursor);
    }
    must(rc != 0 && rc != WT_NOTFOUND, "WiredTiger: range", wiredtiger_strerror(rc));
    OK(s->cursor->reset(s->cursor));
    OK(s->session->commit_transaction(s->session, NULL));
    return sum;
}

const struct engine engine_wiredtiger = { .name = "WiredTiger", .how = "in_memory, no log, snapshot transactions, a session and cursor a thread",
    .open = tiger_open, .close = tiger_close, .bulk = tiger_bulk, .session = tiger_session, .session_end = tiger_session_end,
    .insert = tiger_insert, .lookup = tiger_lookup, .range = tiger_range };
#else
const struct engine engine_wiredtiger = { .name = "WiredTiger", .package = "libwiredtiger-dev" };
#endif
