/* engine/catalog/views_server.c - the running server as tables: settings, sessions, locks, latches, the pool, the WAL.
 *
 * These read counters and arrays that their owners copy out; no latch that a stopped session can hold is taken. */
#include "engine/session_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/hooks.h"
#include "engine/catalog/views_private.h"

#define ROW(sink, ...) do { const struct value row_values[] = {__VA_ARGS__}; enum status row_status = (sink)->row((sink), row_values); if (row_status) return row_status; } while (0)

enum status fill_pg_database(struct session *session, struct row_sink *sink)
{
    ROW(sink, value_oid(5), value_text(session_database(session)), value_oid(10), value_i4(6), value_char('c'), value_bool(false), value_bool(true), value_i4(-1), value_i8(3), value_i8(1), value_oid(1663), value_text("C"), value_text("C"),
        value_null(), value_null(), value_null());
    return STATUS_OK;
}

enum status fill_pg_authid(struct session *session, struct row_sink *sink)
{
    (void)session;
    struct value yes = value_bool(true);
    ROW(sink, value_oid(10), value_text("postgres"), yes, yes, yes, yes, yes, yes, yes, value_i4(-1), value_null(), value_null());
    return STATUS_OK;
}

enum status fill_pg_roles(struct session *session, struct row_sink *sink)
{
    (void)session;
    struct value yes = value_bool(true);
    ROW(sink, value_text("postgres"), yes, yes, yes, yes, yes, yes, value_i4(-1), value_text("********"), value_null(), yes, value_null(), value_oid(10));
    return STATUS_OK;
}

enum status fill_pg_user(struct session *session, struct row_sink *sink)
{
    (void)session;
    struct value yes = value_bool(true);
    ROW(sink, value_text("postgres"), value_oid(10), yes, yes, yes, yes, value_text("********"), value_null(), value_null());
    return STATUS_OK;
}

enum status fill_pg_tablespace(struct session *session, struct row_sink *sink)
{
    (void)session;
    ROW(sink, value_oid(1663), value_text("pg_default"), value_oid(10), value_null(), value_null());
    ROW(sink, value_oid(1664), value_text("pg_global"), value_oid(10), value_null(), value_null());
    return STATUS_OK;
}

enum status fill_pg_settings(struct session *session, struct row_sink *sink)
{
    for (size_t i = 0; i < settings_count(); i++) {
        struct setting_row r;
        memset(&r, 0, sizeof r);
        settings_row(session, i, sink->arena, &r);
        ROW(sink, value_text(r.name), value_text(r.value), value_text(r.unit && *r.unit ? r.unit : NULL), value_text(r.category), value_text(r.description), value_null(), value_text(r.context), value_text(r.type),
            value_text(r.source), value_text(r.min), value_text(r.max), value_null(), value_text(r.boot_value), value_text(r.reset_value), value_null(), value_null(), value_bool(false));
    }
    return STATUS_OK;
}

/* ---------------------------------------------------------------- sessions and locks */

static struct lock_sight *locks_seen(struct store *store, struct arena *arena, size_t *count)
{
    size_t capacity = 1024;
    struct lock_sight *sights = arena_array(arena, struct lock_sight, capacity);
    while ((*count = lock_sights(store, sights, capacity)) > capacity) {
        capacity = *count * 2;
        sights = arena_array(arena, struct lock_sight, capacity);
    }
    return sights;
}

enum status fill_pg_stat_activity(struct session *session, struct row_sink *sink)
{
    size_t capacity = 64, count, lock_count;
    struct lock_sight *locks = locks_seen(session_store(session), sink->arena, &lock_count);
    struct session_sight *sights = arena_array(sink->arena, struct session_sight, capacity);
    while ((count = session_sights(sights, capacity)) > capacity) {
        capacity = count * 2;
        sights = arena_array(sink->arena, struct session_sight, capacity);
    }
    struct latch_sight *latches = arena_array(sink->arena, struct latch_sight, 4096);
    size_t latch_count = latch_sights(latches, 4096);
    if (latch_count > 4096)
        latch_count = 4096;
    for (size_t i = 0; i < count; i++) {
        const struct session_sight *s = &sights[i];
        const char *wait_type = NULL, *wait = NULL;
        if (!s->pid)                                          /* the server's own */
            continue;
        for (size_t k = 0; k < latch_count && !wait; k++)
            if (latches[k].awaited && latches[k].pid == s->pid) {
                wait_type = "LWLock";
                wait = latch_ranks[latches[k].rank].name;
            }
        for (size_t k = 0; k < lock_count && !wait; k++)
            if (!locks[k].granted && locks[k].pid == s->pid) {
                wait_type = "Lock";
                wait = locks[k].awaited_xid ? "transactionid" : locks[k].row ? "tuple" : "relation";
            }
        if (!wait && !strncmp(s->state, "idle", 4)) {
            wait_type = "Client";
            wait = "ClientRead";
        }
        ROW(sink, value_oid(5), value_text(s->database), value_i4(s->pid), value_null(), value_oid(10), value_text(s->user), value_text(s->application), value_text(s->address[0] ? s->address : NULL), value_null(), value_null(),
            view_time(s->backend_start_us), view_time(s->xact_start_us), view_time(s->query_start_us), view_time(s->state_change_us), value_text(wait_type), value_text(wait), value_text(s->state), value_null(), value_null(),
            value_null(), value_text(s->query), value_text("client backend"));
    }
    return STATUS_OK;
}

enum status fill_pg_locks(struct session *session, struct row_sink *sink)
{
    static const char *const table_modes[] = {"", "AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"};
    static const char *const row_modes[] = {"", "ForKeyShareLock", "ForShareLock", "ForNoKeyUpdateLock", "ForUpdateLock"};
    size_t count;
    struct lock_sight *sights = locks_seen(session_store(session), sink->arena, &count);
    struct value null = value_null();
    for (size_t i = 0; i < count; i++) {
        const struct lock_sight *s = &sights[i];
        struct value virtual = view_printf(sink, "%d/0", s->pid), granted = value_bool(s->granted), no = value_bool(false);
        if (s->awaited_xid)
            ROW(sink, value_text("transactionid"), null, null, null, null, null, value_i8((int64_t)s->awaited_xid), null, null, null, virtual, value_i4(s->pid), value_text("ShareLock"), granted, no, null);
        else if (s->row)
            ROW(sink, value_text("tuple"), value_oid(5), value_oid(s->table), value_i4((int32_t)ROW_PAGE(s->row_id)), value_i2((int16_t)ROW_SLOT(s->row_id)), null, null, null, null, null, virtual, value_i4(s->pid),
                value_text(s->mode < 5 ? row_modes[s->mode] : ""), granted, no, null);
        else
            ROW(sink, value_text("relation"), value_oid(5), value_oid(s->table), null, null, null, null, null, null, null, virtual, value_i4(s->pid), value_text(s->mode < 9 ? table_modes[s->mode] : ""), granted, no, null);
    }
    return STATUS_OK;
}

enum status fill_pg_prepared_statements(struct session *session, struct row_sink *sink)
{
    for (const struct prepared *p = session->prepared; p; p = p->next) {
        struct text_buffer types;
        if (!p->name[0])
            continue;
        text_buffer_open(&types, sink->arena);
        text_buffer_putc(&types, '{');
        for (uint16_t i = 0; i < p->parameter_count; i++)
            text_buffer_printf(&types, "%s%u", i ? "," : "", p->parameter_types[i]);
        text_buffer_putc(&types, '}');
        ROW(sink, value_text(p->name), value_text(p->sql), view_time(p->prepared_us), view_array(sink, 2211, types.bytes), value_bool(p->from_sql), value_i8(0), value_i8(0));
    }
    return STATUS_OK;
}

enum status fill_pg_cursors(struct session *session, struct row_sink *sink)
{
    for (const struct portal *p = session->portals; p; p = p->next)
        if (p->name[0])
            ROW(sink, value_text(p->name), value_text(p->sql ? p->sql : ""), value_bool(p->hold), value_bool(false), value_bool(p->scroll), view_time(p->created_us));
    return STATUS_OK;
}

/* ---------------------------------------------------------------- statistics */

static enum status stat_table(struct session *session, struct row_sink *sink, const struct table *table)
{
    (void)session;
    if (table->kind != RELATION_TABLE || table->system)
        return STATUS_OK;
    struct heap_counters c;
    heap_counters(&table->heap, &c);
    struct value null = value_null();
    ROW(sink, value_oid(table->oid), value_text(table->schema_name), value_text(table->name), null, null, null, null, value_i8((int64_t)c.inserted), value_i8((int64_t)c.updated), value_i8((int64_t)c.deleted), null,
        value_i8(table->row_estimate < 0 ? 0 : (int64_t)table->row_estimate), value_i8((int64_t)c.dead_since_vacuum), value_i8((int64_t)c.changed_since_analyze), null, null, null, null, null, null, null, null, null);
    return STATUS_OK;
}
enum status fill_pg_stat_user_tables(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, stat_table); }

static enum status stat_indexes(struct session *session, struct row_sink *sink, const struct table *table)
{
    (void)session;
    for (uint16_t i = 0; !table->system && i < table->index_count; i++)
        ROW(sink, value_oid(table->oid), value_oid(table->indexes[i].oid), value_text(table->schema_name), value_text(table->name), value_text(table->indexes[i].name), value_null(), value_null(), value_null());
    return STATUS_OK;
}
enum status fill_pg_stat_user_indexes(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, stat_indexes); }

enum status fill_pg_stat_database(struct session *session, struct row_sink *sink)
{
    struct pool_stats p;
    struct session_sight one;
    pool_stats(session_store(session)->pool, &p);
    ROW(sink, value_oid(5), value_text(session_database(session)), value_i4((int32_t)session_sights(&one, 1)), value_i8((int64_t)p.misses), value_i8((int64_t)p.hits));
    return STATUS_OK;
}

/* ---------------------------------------------------------------- latches and storage */

static const char *latch_mode_name(uint8_t mode) { return mode == LATCH_SHARED ? "shared" : "exclusive"; }

enum status fill_crab_latches(struct session *session, struct row_sink *sink)
{
    (void)session;
    size_t capacity = 1024, count;
    struct latch_sight *sights = arena_array(sink->arena, struct latch_sight, capacity);
    while ((count = latch_sights(sights, capacity)) > capacity) {
        capacity = count * 2;
        sights = arena_array(sink->arena, struct latch_sight, capacity);
    }
    for (size_t i = 0; i < count; i++) {
        const struct latch_sight *s = &sights[i];
        ROW(sink, value_i4(s->pid), value_i4((int32_t)s->thread_number), view_printf(sink, "%.24s", s->thread_name), value_text(latch_ranks[s->rank].name), value_i4(s->level), value_i8((int64_t)(s->object >> 32)),
            value_i8((int64_t)(s->object & UINT32_MAX)), value_i8((int64_t)s->position), value_text(latch_mode_name(s->mode)), value_bool(s->awaited), value_i8((int64_t)s->waited_us));
    }
    return STATUS_OK;
}

enum status fill_crab_latch_stats(struct session *session, struct row_sink *sink)
{
    (void)session;
    for (int r = 0; r < RANK_COUNT; r++) {
        struct latch_stats s;
        latch_stats((enum latch_rank)r, &s);
        ROW(sink, value_text(latch_ranks[r].name), value_text(latch_ranks[r].guards), value_i8((int64_t)s.waits), value_i8((int64_t)s.wait_us));
    }
    return STATUS_OK;
}

enum status fill_crab_trace(struct session *session, struct row_sink *sink)
{
    (void)session;
    size_t capacity = 65536;
    struct trace_entry *entries = arena_array(sink->arena, struct trace_entry, capacity);
    size_t count = trace_entries(0, entries, capacity);
    if (count > capacity)
        count = capacity;
    for (size_t i = 0; i < count; i++)
        ROW(sink, value_i8((int64_t)entries[i].at_us), value_i4((int32_t)entries[i].thread_number), value_text(latch_ranks[entries[i].rank].name), value_i4(entries[i].level), value_text(latch_mode_name(entries[i].mode)),
            value_i8((int64_t)(entries[i].object >> 32)), value_i8((int64_t)(entries[i].object & UINT32_MAX)), value_i8((int64_t)entries[i].position));
    return STATUS_OK;
}

enum status fill_crab_pool(struct session *session, struct row_sink *sink)
{
    struct pool_stats p;
    pool_stats(session_store(session)->pool, &p);
    ROW(sink, value_i8((int64_t)p.frames), value_i8((int64_t)p.dirty), value_i8((int64_t)p.pinned), value_i8((int64_t)p.hits), value_i8((int64_t)p.misses), value_i8((int64_t)p.waits_for_read), value_i8((int64_t)p.evictions),
        value_i8((int64_t)p.written), value_i8((int64_t)p.read_ahead));
    return STATUS_OK;
}

enum status fill_crab_wal(struct session *session, struct row_sink *sink)
{
    struct wal_stats w;
    wal_stats(session_store(session)->wal, &w);
    ROW(sink, value_i8((int64_t)w.next), value_i8((int64_t)w.flushed), value_i8((int64_t)w.redo), value_i8((int64_t)w.records), value_i8((int64_t)w.bytes), value_i8((int64_t)w.flushes), value_i8((int64_t)w.images),
        value_i8((int64_t)w.ring_waits));
    return STATUS_OK;
}

enum status fill_crab_checkpoints(struct session *session, struct row_sink *sink)
{
    struct checkpoint_stats c;
    store_checkpoint_stats(session_store(session), &c);
    ROW(sink, value_i8((int64_t)c.requested), value_i8((int64_t)c.timed), value_i8((int64_t)c.pages), value_i8((int64_t)c.last_us), value_i8((int64_t)c.last_redo));
    return STATUS_OK;
}
