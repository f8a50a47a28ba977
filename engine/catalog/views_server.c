/* engine/catalog/views_server.c - the running server as tables: settings, sessions, locks, latches, the pool, the WAL.
 *
 * These read counters and arrays that their owners copy out; no latch that a stopped session can hold is taken. */
#include "engine/session_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/hooks.h"
#include "base/step.h"
#include "engine/step.h"
#include "storage/lock.h"
#include "storage/txn.h"
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
            value_text(r.source), value_text(r.min), value_text(r.max), r.enum_values ? view_array(sink, 1009, r.enum_values) : value_null(), value_text(r.boot_value), value_text(r.reset_value), value_null(), value_null(), value_bool(false));
    }
    return STATUS_OK;
}

/* ---------------------------------------------------------------- sessions and locks */

/* What everybody is doing now, copied once for a view. */
struct moment {
    struct thread_sight *threads; size_t thread_count;
    struct latch_sight *latches; size_t latch_count;
    struct step_sight *steps; size_t step_count;
    struct lock_sight *locks; size_t lock_count;
    struct txn_sight *txns; size_t txn_count;
};

/* A list that a function copies out, however long it turns out to be. */
#define SEEN(arena, type, count, function, ...) __extension__({ \
    size_t capacity_ = 256; \
    type *items_ = arena_array((arena), type, capacity_); \
    while (((count) = function(__VA_ARGS__ items_, capacity_)) > capacity_) { \
        capacity_ = (count) * 2; \
        items_ = arena_array((arena), type, capacity_); \
    } \
    items_; })

static void moment_take(struct session *session, struct arena *arena, struct moment *out)
{
    struct store *store = session_store(session);
    out->threads = SEEN(arena, struct thread_sight, out->thread_count, thread_sights, );
    out->latches = SEEN(arena, struct latch_sight, out->latch_count, latch_sights, );
    out->steps = SEEN(arena, struct step_sight, out->step_count, step_sights, );
    out->locks = SEEN(arena, struct lock_sight, out->lock_count, lock_sights, store, );
    out->txns = SEEN(arena, struct txn_sight, out->txn_count, txn_sights, store, );
}

static const struct txn_sight *moment_txn(const struct moment *m, int32_t pid)
{
    for (size_t i = 0; i < m->txn_count; i++)
        if (m->txns[i].pid == pid)
            return &m->txns[i];
    return NULL;
}

/* Names of waits as PostgreSQL has them. The first column is what the waiting thread says (thread_waits_for). */
static const struct { const char *said, *type, *event; } waits[] = {
    {"fd.read", "Client", "ClientRead"}, {"fd.write", "Client", "ClientWrite"}, {"pg_sleep", "Timeout", "PgSleep"},
    {"file.read", "IO", "DataFileRead"}, {"file.write", "IO", "DataFileWrite"}, {"file.sync", "IO", "DataFileSync"}, {"file.truncate", "IO", "DataFileTruncate"},
    {"file.reserve", "IO", "DataFileExtend"}, {"file.create", "IO", "DataFileExtend"}, {"wal.write", "IO", "WALWrite"}, {"wal.sync", "IO", "WALSync"},
    {"wal.led", "LWLock", "WALWrite"}, {"wal.copied", "LWLock", "WALInsert"}, {"pool.settled", "IPC", "BufferIO"}, {"snapshot limit", "IPC", "XactGroupUpdate"},
    {"exchange", "IPC", "ExecuteGather"}, {"checkpoint.done", "IPC", "CheckpointDone"}, {"lock", "Lock", "relation"}, {"end of a transaction", "Lock", "transactionid"},
    {"checkpoint.wake", "Activity", "CheckpointerMain"}, {"pool.cleaner", "Activity", "BgWriterMain"}, {"wal.writer", "Activity", "WalWriterMain"}, {"autovacuum", "Activity", "AutoVacuumMain"},
};

/* NODE -> BTreeNode, WAL_RING -> WalRing: a rank in PostgreSQL's way of writing. */
static const char *rank_event(struct arena *arena, uint16_t rank)
{
    char *name = arena_strdup(arena, latch_ranks[rank].name), *to = name;
    for (const char *from = latch_ranks[rank].name; *from; from++)
        if (*from != '_')
            *to++ = from == latch_ranks[rank].name || from[-1] == '_' ? *from : (char)(*from + 'a' - 'A');
    *to = 0;
    return name;
}

static void thread_wait(const struct moment *m, struct arena *arena, const struct thread_sight *t, const char **type, const char **event)
{
    *type = *event = NULL;
    for (size_t i = 0; i < m->step_count; i++)
        if (m->steps[i].thread_number == t->number) {
            *type = "Extension", *event = "crab.step";
            return;
        }
    for (size_t i = 0; i < m->latch_count; i++)
        if (m->latches[i].awaited && m->latches[i].thread_number == t->number) {
            *type = "LWLock", *event = rank_event(arena, m->latches[i].rank);
            return;
        }
    if (!t->waits_for)
        return;
    for (size_t i = 0; t->pid && i < m->lock_count; i++)      /* the lock manager knows better which kind */
        if (!m->locks[i].granted && m->locks[i].pid == t->pid) {
            *type = "Lock", *event = m->locks[i].awaited_xid ? "transactionid" : m->locks[i].row ? "tuple" : "relation";
            return;
        }
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        if (!strcmp(waits[i].said, t->waits_for))
            *type = waits[i].type, *event = waits[i].event;
}

static enum status activity_client(const struct session_sight *s, const struct moment *m, struct row_sink *sink)
{
    const char *type = NULL, *event = NULL;
    const struct txn_sight *txn = moment_txn(m, s->pid);
    struct value null = value_null();
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].pid == s->pid && !strcmp(m->threads[i].name, "connection"))
            thread_wait(m, sink->arena, &m->threads[i], &type, &event);
    if (!type && !strncmp(s->state, "idle", 4))
        type = "Client", event = "ClientRead";
    ROW(sink, value_oid(5), value_text(s->database), value_i4(s->pid), null, value_oid(10), value_text(s->user), value_text(s->application), value_text(s->address[0] ? s->address : NULL), null,
        s->address[0] ? null : value_i4(-1), view_time(s->backend_start_us), view_time(s->xact_start_us), view_time(s->query_start_us), view_time(s->state_change_us), value_text(type), value_text(event), value_text(s->state),
        txn && txn->top ? value_i8((int64_t)txn->top) : null, txn && txn->snapshot ? value_i8((int64_t)txn->snapshot) : null, null, value_text(s->query), value_text("client backend"));
    return STATUS_OK;
}

/* The server's own threads. They are no processes and nobody can signal them, so they have no pid. */
static enum status activity_own(const struct thread_sight *t, const struct session_sight *leader, const struct moment *m, struct row_sink *sink)
{
    static const struct { const char *thread, *type; } kinds[] = {
        {"checkpointer", "checkpointer"}, {"cleaner", "background writer"}, {"wal writer", "walwriter"}, {"autovacuum", "autovacuum launcher"}, {"worker", "parallel worker"}};
    const char *kind = NULL, *type, *event;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kinds[i].thread, t->name))
            kind = kinds[i].type;
    if (!kind || (!strcmp(t->name, "worker") && !leader))     /* a worker that waits for work is nobody's */
        return STATUS_OK;
    struct value null = value_null();
    thread_wait(m, sink->arena, t, &type, &event);
    ROW(sink, leader ? value_oid(5) : null, leader ? value_text(leader->database) : null, null, leader ? value_i4(leader->pid) : null, leader ? value_oid(10) : null, leader ? value_text(leader->user) : null,
        value_text(leader ? leader->application : ""), null, null, null, view_time(leader ? leader->query_start_us : t->started_us), leader ? view_time(leader->xact_start_us) : null,
        leader ? view_time(leader->query_start_us) : null, leader ? view_time(leader->state_change_us) : null, value_text(type), value_text(event), leader ? value_text("active") : null, null, null, null,
        value_text(leader ? leader->query : ""), value_text(kind));
    return STATUS_OK;
}

enum status fill_pg_stat_activity(struct session *session, struct row_sink *sink)
{
    struct moment m;
    size_t count;
    moment_take(session, sink->arena, &m);
    struct session_sight *sights = SEEN(sink->arena, struct session_sight, count, session_sights, );
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < count; i++)
        if (sights[i].pid)                                    /* not autovacuum's, which comes below */
            status = activity_client(&sights[i], &m, sink);
    for (size_t i = 0; !status && i < m.thread_count; i++) {
        const struct session_sight *leader = NULL;
        for (size_t k = 0; k < count && m.threads[i].pid; k++)
            if (sights[k].pid == m.threads[i].pid)
                leader = &sights[k];
        status = activity_own(&m.threads[i], leader, &m, sink);
    }
    return status;
}

enum status fill_pg_locks(struct session *session, struct row_sink *sink)
{
    static const char *const table_modes[] = {"", "AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"};
    static const char *const row_modes[] = {"", "ForKeyShareLock", "ForShareLock", "ForNoKeyUpdateLock", "ForUpdateLock"};
    struct moment m;
    moment_take(session, sink->arena, &m);
    struct value null = value_null(), yes = value_bool(true), no = value_bool(false);
    for (size_t i = 0; i < m.txn_count; i++) {                /* every transaction holds its own ids */
        const struct txn_sight *t = &m.txns[i];
        struct value virtual = view_printf(sink, "%d/%llu", t->pid, (unsigned long long)t->number);
        ROW(sink, value_text("virtualxid"), null, null, null, null, virtual, null, null, null, null, virtual, value_i4(t->pid), value_text("ExclusiveLock"), yes, yes, null);
        if (t->top)
            ROW(sink, value_text("transactionid"), null, null, null, null, null, value_i8((int64_t)t->top), null, null, null, virtual, value_i4(t->pid), value_text("ExclusiveLock"), yes, no, null);
    }
    for (size_t i = 0; i < m.lock_count; i++) {
        const struct lock_sight *s = &m.locks[i];
        const struct txn_sight *t = moment_txn(&m, s->pid);
        struct value virtual = view_printf(sink, "%d/%llu", s->pid, t ? (unsigned long long)t->number : 0), granted = value_bool(s->granted), since = s->granted ? null : view_time(s->wait_start_us);
        if (s->awaited_xid)
            ROW(sink, value_text("transactionid"), null, null, null, null, null, value_i8((int64_t)s->awaited_xid), null, null, null, virtual, value_i4(s->pid), value_text("ShareLock"), granted, no, since);
        else if (s->row)
            ROW(sink, value_text("tuple"), value_oid(5), value_oid(s->table), value_i4((int32_t)ROW_PAGE(s->row_id)), value_i2((int16_t)ROW_SLOT(s->row_id)), null, null, null, null, null, virtual, value_i4(s->pid),
                value_text(s->mode < 5 ? row_modes[s->mode] : ""), granted, no, since);
        else
            ROW(sink, value_text("relation"), value_oid(5), value_oid(s->table), null, null, null, null, null, null, null, virtual, value_i4(s->pid), value_text(s->mode < 9 ? table_modes[s->mode] : ""), granted, no, since);
    }
    return STATUS_OK;
}

enum status fill_pg_prepared_statements(struct session *session, struct row_sink *sink)
{
    for (const struct prepared *p = session->prepared; p; p = p->next) {
        struct text_buffer types;
        if (!p->name[0] || p->gone)                          /* unnamed, or a cursor's own */
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
            ROW(sink, value_text(p->name), value_text(p->sql), value_bool(p->hold), value_bool(p->format_count == 1 && p->formats[0] == 1), value_bool(p->cursor && !p->no_scroll), view_time(p->created_us));
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
    struct value *row = arena_array(sink->arena, struct value, sink->table->column_count);
    for (uint16_t i = 5; i < sink->table->column_count; i++)
        row[i] = value_null();                                /* not counted */
    row[0] = value_oid(5);
    row[1] = value_text(session_database(session));
    row[2] = value_i4((int32_t)session_sights(&one, 1));
    row[3] = row[4] = value_null();
    for (uint16_t i = 0; i < sink->table->column_count; i++) {
        if (!strcmp(sink->table->columns[i].name, "blks_read"))
            row[i] = value_i8((int64_t)p.misses);
        if (!strcmp(sink->table->columns[i].name, "blks_hit"))
            row[i] = value_i8((int64_t)p.hits);
    }
    return sink->row(sink, row);
}

/* Pages read and hit are counted for the pool as a whole (crab_pool), not by relation: names, and nulls. */
static enum status io_row(struct row_sink *sink, const struct table *table, const struct index *index)
{
    struct value *row = arena_array(sink->arena, struct value, sink->table->column_count);
    uint16_t at = 0;
    row[at++] = value_oid(table->oid);
    if (index)
        row[at++] = value_oid(index->oid);
    row[at++] = value_text(table->schema_name);
    row[at++] = value_text(table->name);
    if (index)
        row[at++] = value_text(index->name);
    while (at < sink->table->column_count)
        row[at++] = value_null();
    return sink->row(sink, row);
}
static enum status io_table(struct session *session, struct row_sink *sink, const struct table *table)
{
    (void)session;
    return table->kind == RELATION_TABLE && !table->system ? io_row(sink, table, NULL) : STATUS_OK;
}
static enum status io_indexes(struct session *session, struct row_sink *sink, const struct table *table)
{
    enum status status = STATUS_OK;
    (void)session;
    for (uint16_t i = 0; !status && !table->system && i < table->index_count; i++)
        status = io_row(sink, table, &table->indexes[i]);
    return status;
}
static enum status io_sequence(struct session *session, struct row_sink *sink, const struct table *table)
{
    (void)session;
    return table->kind == RELATION_SEQUENCE ? io_row(sink, table, NULL) : STATUS_OK;
}
enum status fill_io_tables(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, io_table); }
enum status fill_io_indexes(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, io_indexes); }
enum status fill_io_sequences(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, io_sequence); }

/* ---------------------------------------------------------------- latches and storage */

static const char *latch_mode_name(uint8_t mode) { return mode == LATCH_SHARED ? "shared" : "exclusive"; }

/* connection 3, worker 3, checkpointer: whose hand it is. */
static void put_holder(struct text_buffer *text, const struct latch_sight *s)
{
    text_buffer_printf(text, "%s%s", text->length ? ", " : "", s->thread_name);
    if (s->pid)
        text_buffer_printf(text, " %d", s->pid);
    text_buffer_printf(text, " %s", latch_mode_name(s->mode));
}

/* Everybody else who holds the latch at this page (a point that is stood at names no latch by address). */
static struct value holders_of(const struct moment *m, struct row_sink *sink, uint32_t thread, const struct latch *latch, uint16_t rank, uint64_t object)
{
    struct text_buffer text;
    text_buffer_open(&text, sink->arena);
    for (size_t i = 0; i < m->latch_count; i++) {
        const struct latch_sight *s = &m->latches[i];
        if (!s->awaited && s->thread_number != thread && (latch ? s->latch == latch : object && s->rank == rank && s->object == object))
            put_holder(&text, s);
    }
    return text.length ? value_text(text.bytes) : value_null();
}

static struct value object_page(uint64_t object) { return object ? value_i8((int64_t)(object & UINT32_MAX)) : value_null(); }
static struct value tree_level(uint16_t rank, uint16_t level) { return rank == RANK_NODE ? value_i4(latch_tree_level(rank, level)) : value_null(); }

/* Three kinds of rows: held, awaited (with who holds it), stopped (with the point's name; where it is about to take the latch, with
 * who holds that). */
enum status fill_crab_latches(struct session *session, struct row_sink *sink)
{
    struct moment m;
    struct file_names names;
    enum status status = file_names_read(session, sink->arena, &names);
    moment_take(session, sink->arena, &m);
    struct value null = value_null();
    for (size_t i = 0; !status && i < m.latch_count; i++) {
        const struct latch_sight *s = &m.latches[i];
        ROW(sink, s->pid ? value_i4(s->pid) : null, value_i4((int32_t)s->thread_number), view_printf(sink, "%.24s", s->thread_name), value_text(latch_ranks[s->rank].name), tree_level(s->rank, s->level),
            value_text(file_name(&names, (uint32_t)(s->object >> 32))), object_page(s->object), value_text(latch_mode_name(s->mode)), value_text(s->awaited ? "awaited" : "held"),
            s->awaited ? value_i8((int64_t)s->waited_us) : null, s->awaited ? holders_of(&m, sink, s->thread_number, s->latch, s->rank, s->object) : null, null,
            s->object ? value_i8((int64_t)(s->object >> 32)) : null, value_i8((int64_t)s->position));
    }
    for (size_t i = 0; !status && i < m.step_count; i++) {
        const struct step_sight *s = &m.steps[i];
        bool wants = !strcmp(s->point, "latch.acquire") || !strcmp(s->point, "latch.try");
        ROW(sink, s->pid ? value_i4(s->pid) : null, value_i4((int32_t)s->thread_number), view_printf(sink, "%.24s", s->thread_name), value_text(latch_ranks[s->rank].name), tree_level(s->rank, s->level),
            value_text(file_name(&names, (uint32_t)(s->object >> 32))), object_page(s->object), s->has_mode ? value_text(latch_mode_name(s->mode)) : null, value_text("stopped"), value_i8((int64_t)s->stood_us),
            wants ? holders_of(&m, sink, s->thread_number, NULL, s->rank, s->object) : null, value_text(s->point), value_i8((int64_t)(s->object >> 32)), value_i8((int64_t)s->position));
    }
    return status;
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

/* Empty until crab.trace is on. */
enum status fill_crab_trace(struct session *session, struct row_sink *sink)
{
    struct file_names names;
    size_t count;
    enum status status = file_names_read(session, sink->arena, &names);
    struct trace_entry *entries = SEEN(sink->arena, struct trace_entry, count, trace_entries, 0, );
    for (size_t i = 0; !status && i < count; i++) {
        const struct trace_entry *e = &entries[i];
        ROW(sink, value_i8((int64_t)e->at_us), value_i4(e->pid), value_i4((int32_t)e->thread_number), value_text(latch_ranks[e->rank].name), tree_level(e->rank, e->level),
            value_text(file_name(&names, (uint32_t)(e->object >> 32))), object_page(e->object), value_text(latch_mode_name(e->mode)), e->object ? value_i8((int64_t)(e->object >> 32)) : value_null(), value_i8((int64_t)e->position));
    }
    return status;
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
