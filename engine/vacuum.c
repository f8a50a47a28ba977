/* engine/vacuum.c - VACUUM and ANALYZE by command, and the autovacuum thread.
 *
 * Each table is vacuumed in a transaction of its own, under SHARE UPDATE EXCLUSIVE, so that locks are short. The thread has
 * a session without a client. A table that somebody else has locked is skipped in the background.
 *
 * Status pages may be cut off behind the oldest id that any table still holds: only a VACUUM of every table knows it. */
#include "engine/session_private.h"
#include "base/atomic.h"
#include "engine/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/autovacuum.h"
#include "engine/plan/stats.h"

static enum status clean_indexes(void *context, const uint64_t *row_ids, size_t count)
{
    const struct table *table = context;
    for (uint16_t i = 0; i < table->index_count; i++) {
        uint64_t removed;
        enum status status = btree_remove_rows(&table->indexes[i].tree, row_ids, count, &removed);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status vacuum_table(struct session *session, const struct table *table, bool background, bool verbose, xid_t *oldest)
{
    struct vacuum_result result;
    enum status status = heap_vacuum(&table->heap, session->slot, background, (uint64_t)session->settings.maintenance_work_mem_bytes, clean_indexes, (void *)table, &result);
    if (status)
        return status;
    if (oldest && result.oldest_xid < *oldest)                /* 0: a page was skipped, nothing is known */
        *oldest = result.oldest_xid;
    status = catalog_store_statistics(session, table, (double)result.rows_live, (double)result.pages, NULL);
    if (verbose && !status) {
        session_notice(session, "INFO", "00000", "finished vacuuming \"%s.%s.%s\": pages: %llu, tuples: %llu removed, %llu remain, %llu are dead but not yet removable",
                       session->database, table->schema_name, table->name, (unsigned long long)result.pages, (unsigned long long)result.rows_removed,
                       (unsigned long long)result.rows_live, (unsigned long long)result.rows_dead_kept);
    }
    return status;
}

/* One table by oid, in the transaction under way: locked, looked up again, worked on. */
static enum status table_work(struct session *session, uint32_t oid, bool vacuum, bool analyze, bool background, bool verbose, xid_t *oldest)
{
    const struct table *table;
    enum status status = lock_relation(session->txn, oid, LOCK_SHARE_UPDATE_EXCLUSIVE, background ? LOCK_SKIP : LOCK_WAIT);
    if (status == STATUS_WOULD_BLOCK && background) {
        error_clear();
        return STATUS_OK;
    }
    if (!status) {
        catalog_refresh(session);
        status = catalog_table(session, oid, &table);
    }
    if (status || !table || table->kind != RELATION_TABLE)
        return status;
    if (background && !step_table_enter(session, table))
        return STATUS_OK;                                     /* its counters stay: the next round looks again */
    if (vacuum)
        status = vacuum_table(session, table, background, verbose, oldest);
    if (!status && analyze) {
        status = stats_analyze(session, table);
        if (!status)
            heap_counters_analyzed(&table->heap);
    }
    if (background)
        step_table_leave(session);
    return status;
}

struct oid_list { uint32_t *items; uint32_t count, capacity; };

static enum status oid_add(void *context, const struct table *table)
{
    struct oid_list *list = context;
    if (table->kind != RELATION_TABLE)
        return STATUS_OK;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 64;
        list->items = realloc(list->items, sizeof *list->items * list->capacity);
        ASSERT(list->items);
    }
    list->items[list->count++] = table->oid;
    return STATUS_OK;
}

static enum status options_read(const struct vacuum_statement *s, bool analyze_only, bool *analyze, bool *verbose)
{
    static const char *const known[] = {"full", "freeze", "verbose", "analyze", "disable_page_skipping", "skip_locked", "index_cleanup", "process_toast", "truncate", "parallel", NULL};
    for (int i = 0; i < s->options.count; i++) {
        const struct option *option = s->options.items[i];
        bool on = option->kind == OPTION_NONE || !option->text || (strcmp(option->text, "false") && strcmp(option->text, "off") && strcmp(option->text, "0"));
        int k = 0;
        while (known[k] && strcmp(known[k], option->name))
            k++;
        if (!known[k]) {
            error_set(STATUS_SYNTAX, "unrecognized %s option \"%s\"", analyze_only ? "ANALYZE" : "VACUUM", option->name);
            error_position(option->position);
            return STATUS_SYNTAX;
        }
        if (!strcmp(option->name, "full") && on)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "VACUUM FULL is not supported");
        if (!strcmp(option->name, "verbose"))
            *verbose = on;
        if (!strcmp(option->name, "analyze"))
            *analyze = on;
    }
    return STATUS_OK;
}

enum status vacuum_run(struct session *session, const struct vacuum_statement *s, bool analyze_only)
{
    bool analyze = analyze_only, verbose = false;
    struct oid_list list = {0};
    enum status status = options_read(s, analyze_only, &analyze, &verbose);
    for (int i = 0; !status && i < s->relation_count; i++) {
        const struct table *table;
        struct relation_name name = *s->relations[i].relation;
        name.position = 0;                                    /* PostgreSQL points at no name here */
        status = catalog_open(session, &name, LOCK_SHARE_UPDATE_EXCLUSIVE, &table);
        if (!status && table->kind == RELATION_VIEW) {
            session_notice(session, "WARNING", "01000", "skipping \"%s\" --- cannot %s non-tables or special system tables", table->name, analyze_only ? "analyze" : "vacuum");
            continue;
        }
        for (int c = 0; !status && c < s->relations[i].columns.count; c++)
            if (table_column(table, s->relations[i].columns.items[c]) < 0)
                status = error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", s->relations[i].columns.items[c], table->name);
        if (!status)
            status = oid_add(&list, table);
    }
    bool all = s->relation_count == 0;
    xid_t oldest = txn_next_xid(session->engine->store);
    if (!status && all)
        status = catalog_each(session, oid_add, &list);
    for (uint32_t i = 0; !status && i < list.count; i++) {
        if (!analyze_only) {                                  /* each table in a transaction of its own */
            statement_snapshot_done(session);
            status = transaction_finish_implicit(session, true);
            if (!status)
                status = transaction_need(session);
            catalog_refresh(session);
        }
        if (!status)
            status = table_work(session, list.items[i], !analyze_only, analyze, false, verbose, &oldest);
        if (!status)
            txn_next_command(session->txn);
    }
    if (!status && all && !analyze_only && oldest != XID_NONE)
        txn_truncate_status(session->engine->store, oldest);
    free(list.items);
    return status;
}

/* ---------------------------------------------------------------- in the background */

struct due { uint32_t oid; bool vacuum, analyze; };
struct due_list { struct due *items; uint32_t count, capacity; };

static enum status due_check(void *context, const struct table *table)
{
    struct due_list *list = context;
    if (table->kind != RELATION_TABLE)
        return STATUS_OK;
    struct heap_counters counters;
    heap_counters(&table->heap, &counters);
    double rows = table->row_estimate > 0 ? table->row_estimate : 0;
    bool vacuum = (double)counters.dead_since_vacuum > 50 + 0.2 * rows;
    bool analyze = !table->system && (double)counters.changed_since_analyze > 50 + 0.1 * rows;
    if (!vacuum && !analyze)
        return STATUS_OK;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 16;
        list->items = realloc(list->items, sizeof *list->items * list->capacity);
        ASSERT(list->items);
    }
    list->items[list->count++] = (struct due){.oid = table->oid, .vacuum = vacuum, .analyze = analyze};
    return STATUS_OK;
}

static void work_failed(struct session *session)
{
    if (error_current()->status != STATUS_CANCELED && error_current()->status != STATUS_ADMIN_SHUTDOWN)
        log_line("LOG", "autovacuum: %s", error_current()->message ? error_current()->message : "failed");
    statement_failed(session);
    error_clear();
}

static void autovacuum_round(struct engine *engine, struct session *session)
{
    struct due_list list = {0};
    arena_reset(session->statement_arena);
    catalog_refresh(session);
    enum status status = transaction_need(session);
    if (!status)
        status = statement_snapshot(session);
    if (!status)
        status = catalog_each(session, due_check, &list);
    statement_snapshot_done(session);
    if (!status)
        status = transaction_finish_implicit(session, true);
    if (status)
        work_failed(session);
    for (uint32_t i = 0; i < list.count && !atom_load(&engine->stopping); i++) {
        status = transaction_need(session);
        if (!status && list.items[i].analyze)                 /* vacuum must not hold the horizon back by a snapshot of its own */
            status = statement_snapshot(session);
        if (!status && list.items[i].analyze)
            status = table_work(session, list.items[i].oid, false, true, true, false, NULL);
        statement_snapshot_done(session);
        if (!status)
            status = transaction_finish_implicit(session, true);
        if (!status && list.items[i].vacuum) {
            status = transaction_need(session);
            if (!status)
                status = table_work(session, list.items[i].oid, true, false, true, false, NULL);
            if (!status)
                status = transaction_finish_implicit(session, true);
        }
        if (status)
            work_failed(session);
        arena_reset(session->statement_arena);
    }
    free(list.items);
    ASSERT(latch_held_count() == 0);
    ASSERT(pool_pins_held() == 0);
}

static void silent_notice(struct client *client, const char *severity, const struct error *error) { (void)client, (void)severity, (void)error; }
static void silent_status(struct client *client, const char *name, const char *value) { (void)client, (void)name, (void)value; }

static void autovacuum_main(void *argument)
{
    struct engine *engine = argument;
    struct client client = {.notice = silent_notice, .parameter_status = silent_status};
    struct session_options options = {.engine = engine, .client = &client, .pid = 0, .application_name = "autovacuum"};
    struct session *session;
    if (session_open(&options, &session)) {
        log_line("LOG", "autovacuum could not start: %s", error_current()->message);
        return;
    }
    while (!atom_load(&engine->stopping)) {
        uint64_t deadline = now_us() + (uint64_t)settings_server_number("autovacuum_naptime") * 1000000;
        latch_acquire(&engine->latch, LATCH_EXCLUSIVE);
        while (!atom_load(&engine->stopping) && now_us() < deadline)
            condition_wait_until(&engine->wake, &engine->latch, deadline, false);
        latch_release(&engine->latch);
        if (!atom_load(&engine->stopping) && settings_server_number("autovacuum"))
            autovacuum_round(engine, session);
    }
    session_close(session);
}

enum status autovacuum_start(struct engine *engine)
{
    engine->autovacuum = thread_start("autovacuum", autovacuum_main, engine);
    return engine->autovacuum ? STATUS_OK : error_set(STATUS_OUT_OF_MEMORY, "could not start the autovacuum thread");
}

void autovacuum_stop(struct engine *engine)
{
    if (!engine->autovacuum)
        return;
    latch_acquire(&engine->latch, LATCH_EXCLUSIVE);
    atom_store(&engine->stopping, true);
    condition_wake_all(&engine->wake);
    latch_release(&engine->latch);
    thread_interrupt(engine->autovacuum, INTERRUPT_TERMINATE);
    thread_join(engine->autovacuum);
    engine->autovacuum = NULL;
}
