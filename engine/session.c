/* engine/session.c - a session: its transaction, and the simple query protocol. States: see session_private.h.
 *
 * Rules
 * 1. A statement runs in a transaction; where no BEGIN opened one, transaction_need() does, and it ends with the query
 *    string (simple protocol) or at Sync (extended).
 * 2. Every error goes through statement_failed(): the transaction, or its innermost savepoint level, is undone at once, so
 *    that no lock outlives a failed statement. The error record is kept for the client.
 * 3. A statement's snapshot is announced before the catalog is read for it, so that nothing the planner sees is pruned, and
 *    taken again once its tables are locked (READ COMMITTED).
 * 4. At the end of a statement the thread holds no latch and no pin, on every path. */
#include "base/hash.h"
#include "base/hooks.h"
#include "engine/session_private.h"
#include "engine/step.h"
#include "engine/types/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

struct latch sessions_latch = {.rank = RANK_SERVER};
struct session *sessions_first;

/* ---------------------------------------------------------------- the engine latch (crab.engine_latch) */

_Atomic uint32_t engine_latch_on;
static struct latch engine_latch = {.rank = RANK_ENGINE};
static _Thread_local bool engine_latch_mine;

/* A session that is stopped (crab.step) holds the engine latch, and whoever looks at it or lets it go must not wait for it. So a
 * statement whose text names one of these runs without the engine latch, as every statement may: it only puts them in a row. */
static _Thread_local bool engine_latch_exempt;

static bool text_has(const char *text, size_t length, const char *word)
{
    size_t wanted = strlen(word);
    for (size_t i = 0; i + wanted <= length; i++)
        if (!strncasecmp(text + i, word, wanted))
            return true;
    return false;
}

bool engine_latch_looks(const char *sql, size_t length)
{
    static const char *const names[] = {"crab_latch", "crab_trace", "crab_step", "crab_run", "crab_pool", "crab_wal", "crab_checkpoints", "crab.", "pg_stat_activity", "pg_locks",
                                        "pg_cancel_backend", "pg_terminate_backend", "pg_blocking_pids", "pg_backend_pid"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (text_has(sql, length, names[i]))
            return true;
    return text_has(sql, length < 5 ? length : 5, "begin");
}

static bool engine_latch_matters(void)
{
    return atomic_load_explicit(&engine_latch_on, memory_order_relaxed) || (atomic_load_explicit(&hooks_on, memory_order_relaxed) & HOOK_STEP);
}

void engine_latch_choose(bool looks) { engine_latch_exempt = looks; }

void engine_latch_enter(void)
{
    if (atomic_load_explicit(&engine_latch_on, memory_order_relaxed) && !engine_latch_mine && !engine_latch_exempt) {
        latch_acquire(&engine_latch, LATCH_EXCLUSIVE);
        engine_latch_mine = true;
    }
}

void engine_latch_leave(void)
{
    if (engine_latch_mine) {
        engine_latch_mine = false;
        latch_release(&engine_latch);
    }
}

/* A wait for a lock or a timer lets it go too, if this thread had it. */
static _Thread_local bool engine_latch_waited;

static void engine_latch_before_wait(void)
{
    engine_latch_waited = engine_latch_mine;
    engine_latch_leave();
}

static void engine_latch_after_wait(void)
{
    if (engine_latch_waited)
        engine_latch_enter();
}

static const struct wait_hooks engine_latch_hooks = {engine_latch_before_wait, engine_latch_after_wait};

/* ---------------------------------------------------------------- open, close */

enum status session_open(const struct session_options *options, struct session **out)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return error_set(STATUS_OUT_OF_MEMORY, "out of memory");
    session->engine = options->engine;
    session->client = options->client;
    session->pid = options->pid;
    if (getrandom(&session->secret, sizeof session->secret, 0) < 0)
        session->secret = (uint32_t)hash_u64((uint64_t)now_us());
    snprintf(session->user, sizeof session->user, "%s", options->user ? options->user : "postgres");
    snprintf(session->database, sizeof session->database, "%s", options->database ? options->database : "postgres");
    snprintf(session->address, sizeof session->address, "%s", options->client_address ? options->client_address : "");
    latch_init(&session->sight, RANK_LEAF, 0, (uint64_t)session->pid, 0);
    session->backend_start_us = session->state_change_us = wall_us();
    session->state = "idle";
    session->thread = thread_self();
    enum status status = txn_slot_open(options->engine->store, options->pid, &session->slot);
    if (status) {
        free(session);
        return status;
    }
    session->arena = arena_open(NULL, "session");
    session->statement_arena = arena_open(session->arena, "statement");
    session->env.session = session;
    session->env.now_us = wall_us() - EPOCH_2000_US;
    type_env = &session->env;
    thread_wait_hooks = &engine_latch_hooks;
    settings_open(session);
    if (options->application_name && options->application_name[0]) {
        session->client = NULL;                               /* the server floor reports the first values by itself */
        status = settings_set(session, "application_name", options->application_name, SETTING_SESSION);
        if (status)
            error_clear();
        session->client = options->client;
    }
    latch_acquire(&sessions_latch, LATCH_EXCLUSIVE);
    session->next_session = sessions_first;
    sessions_first = session;
    latch_release(&sessions_latch);
    *out = session;
    return STATUS_OK;
}

static void transaction_forget(struct session *session, bool committed)
{
    session->txn = NULL;
    session->block = BLOCK_IDLE;
    while (session->savepoints) {
        struct savepoint *savepoint = session->savepoints;
        session->savepoints = savepoint->outer;
        free(savepoint->name);
        free(savepoint);
    }
    portals_end_transaction(session, committed);
    settings_end(session, 0, committed);
    atomic_store_explicit(&session->xact_start_us, 0, memory_order_relaxed);
}

static void transaction_abort(struct session *session)
{
    (void)portals_end_runs(session, false);
    if (session->txn)
        txn_abort(session->txn);
    transaction_forget(session, false);
}

void session_close(struct session *session)
{
    statement_snapshot_done(session);
    if (session->txn)
        transaction_abort(session);
    latch_acquire(&sessions_latch, LATCH_EXCLUSIVE);
    for (struct session **link = &sessions_first; *link; link = &(*link)->next_session)
        if (*link == session) {
            *link = session->next_session;
            break;
        }
    latch_release(&sessions_latch);
    while (session->portals)
        portal_close(session, session->portals);
    prepared_drop_all(session);
    catalog_cache_close(session);
    settings_close(session);
    txn_slot_close(session->slot);
    type_env = type_env_default();
    regex_forget();
    thread_wait_hooks = NULL;
    arena_close(session->arena);
    free(session);
}

/* ---------------------------------------------------------------- transactions */

enum status transaction_need(struct session *session)
{
    if (session->txn)
        return STATUS_OK;
    ASSERT(session->block == BLOCK_IDLE);
    session->queried = false;
    session->isolation_name = session->settings.default_isolation_name;
    session->deferrable = session->settings.default_transaction_deferrable;
    session->txn = txn_begin(session->engine->store, session->slot, (enum isolation)session->settings.default_transaction_isolation,
                             session->settings.default_transaction_read_only);
    txn_set_synchronous(session->txn, session->settings.synchronous_commit);
    session->block = BLOCK_IMPLICIT;
    session->env.now_us = wall_us() - EPOCH_2000_US;
    atomic_store_explicit(&session->xact_start_us, session->env.now_us + EPOCH_2000_US, memory_order_relaxed);
    return STATUS_OK;
}

static enum status transaction_commit(struct session *session)
{
    struct txn *txn = session->txn;
    struct error kept = {0};
    enum status status = portals_end_runs(session, true);
    if (status) {
        error_save(&kept);
        transaction_abort(session);
        error_restore(&kept);
        return status;
    }
    txn_set_synchronous(txn, session->settings.synchronous_commit);
    status = txn_commit(txn);                                 /* on error it was aborted instead */
    if (status)
        error_save(&kept);
    transaction_forget(session, status == STATUS_OK);
    return status ? error_restore(&kept) : STATUS_OK;
}

enum status transaction_finish_implicit(struct session *session, bool ok)
{
    if (session->block != BLOCK_IMPLICIT)
        return STATUS_OK;
    if (ok)
        return transaction_commit(session);
    transaction_abort(session);
    return STATUS_OK;
}

void statement_failed(struct session *session)
{
    struct error kept = {0};
    error_save(&kept);
    statement_snapshot_done(session);
    if (session->block == BLOCK_IMPLICIT) {
        transaction_abort(session);
    } else if (session->block == BLOCK_OPEN) {
        int level = session->savepoints ? session->savepoints->level : 0;
        if (level > 0)
            portals_end_level(session, level);
        if (level > 0 && txn_savepoint_rollback(session->txn, level) == STATUS_OK) {
            settings_end(session, level, false);
        } else {
            transaction_abort(session);
        }
        session->block = BLOCK_FAILED;
    }
    catalog_refresh(session);
    error_restore(&kept);
}

void session_failed(struct session *session) { statement_failed(session); }

enum status statement_snapshot(struct session *session)
{
    if (session->snapshot_depth)
        statement_snapshot_done(session);
    txn_snapshot(session->txn, &session->snapshot);
    session->snapshot_depth = 1;
    session->queried = true;
    return session->settings.step[0] ? step_statement_begin(session) : STATUS_OK;
}

void statement_snapshot_done(struct session *session)
{
    if (session->snapshot_depth) {
        session->snapshot_depth = 0;
        if (session->txn)
            txn_snapshot_done(session->txn);
    }
}

bool statement_allowed_when_failed(const struct statement *statement)
{
    if (!statement || statement->kind != STATEMENT_TRANSACTION)
        return false;
    enum transaction_kind kind = statement->transaction->kind;
    return kind == TRANSACTION_COMMIT || kind == TRANSACTION_ROLLBACK || kind == TRANSACTION_ROLLBACK_TO;
}

static struct savepoint *savepoint_find(struct session *session, const char *name)
{
    struct savepoint *savepoint = session->savepoints;
    while (savepoint && strcmp(savepoint->name, name))
        savepoint = savepoint->outer;
    return savepoint;
}

static void savepoint_pop(struct session *session)
{
    struct savepoint *savepoint = session->savepoints;
    session->savepoints = savepoint->outer;
    free(savepoint->name);
    free(savepoint);
}

enum status transaction_modes_set(struct session *session, const struct transaction_modes *modes)
{
    if (modes->isolation != ISOLATION_UNSET) {
        enum isolation wanted = modes->isolation >= ISOLATION_REPEATABLE_READ ? REPEATABLE_READ : READ_COMMITTED;
        if (wanted != txn_isolation(session->txn) && session->queried)           /* by statements before BEGIN, in one message */
            return error_set(STATUS_ACTIVE_TRANSACTION, "SET TRANSACTION ISOLATION LEVEL must be called before any query");
        txn_set_isolation(session->txn, wanted);
        session->isolation_name = ISOLATION_SERIALIZABLE - modes->isolation;
    }
    if (modes->deferrable != CHOICE_UNSET)
        session->deferrable = modes->deferrable == CHOICE_YES;
    if (modes->read_only != CHOICE_UNSET) {
        if (modes->read_only == CHOICE_NO && txn_read_only(session->txn) && session->queried)
            return error_set(STATUS_ACTIVE_TRANSACTION, "transaction read-write mode must be set before any query");
        txn_set_read_only(session->txn, modes->read_only == CHOICE_YES);
    }
    return STATUS_OK;
}

static enum status savepoint_statement(struct session *session, const struct transaction_statement *s, const char **tag)
{
    static const char *const words[] = {[TRANSACTION_SAVEPOINT] = "SAVEPOINT", [TRANSACTION_RELEASE] = "RELEASE SAVEPOINT", [TRANSACTION_ROLLBACK_TO] = "ROLLBACK TO SAVEPOINT"};
    static const char *const tags[] = {[TRANSACTION_SAVEPOINT] = "SAVEPOINT", [TRANSACTION_RELEASE] = "RELEASE", [TRANSACTION_ROLLBACK_TO] = "ROLLBACK"};
    if (session->block != BLOCK_OPEN && session->block != BLOCK_FAILED)
        return error_set(STATUS_NO_ACTIVE_TRANSACTION, "%s can only be used in transaction blocks", words[s->kind]);
    *tag = tags[s->kind];
    if (s->kind == TRANSACTION_SAVEPOINT) {
        struct savepoint *savepoint = calloc(1, sizeof *savepoint);
        ASSERT(savepoint);
        enum status status = txn_savepoint(session->txn, &savepoint->level);
        if (status) {
            free(savepoint);
            return status;
        }
        savepoint->name = strdup(s->name);
        savepoint->outer = session->savepoints;
        session->savepoints = savepoint;
        return STATUS_OK;
    }
    struct savepoint *found = savepoint_find(session, s->name);
    if (!found) {
        error_set(STATUS_INVALID_SAVEPOINT, "savepoint \"%s\" does not exist", s->name);
        return STATUS_INVALID_SAVEPOINT;
    }
    int level = found->level;
    if (s->kind == TRANSACTION_RELEASE) {
        enum status status = txn_savepoint_release(session->txn, level);
        if (status)
            return status;
        for (struct portal *portal = session->portals; portal; portal = portal->next)
            portal_level_released(portal, level);
        settings_end(session, level, true);
        while (session->savepoints && session->savepoints->level >= level)
            savepoint_pop(session);
        return STATUS_OK;
    }
    statement_snapshot_done(session);
    portals_end_level(session, level);
    enum status status = txn_savepoint_rollback(session->txn, level);
    if (status)
        return status;
    settings_end(session, level, false);
    while (session->savepoints != found)
        savepoint_pop(session);
    session->block = BLOCK_OPEN;
    catalog_refresh(session);
    return STATUS_OK;
}

static void notice_warning(struct session *session, enum status status, const char *message)
{
    session_notice(session, "WARNING", status_sqlstate(status), "%s", message);
}

enum status transaction_statement_run(struct session *session, const struct transaction_statement *s, const char **tag)
{
    enum status status = STATUS_OK;
    switch (s->kind) {
    case TRANSACTION_BEGIN:
    case TRANSACTION_START:
        *tag = s->kind == TRANSACTION_BEGIN ? "BEGIN" : "START TRANSACTION";
        if (session->block == BLOCK_OPEN || session->block == BLOCK_FAILED) {
            notice_warning(session, STATUS_ACTIVE_TRANSACTION, "there is already a transaction in progress");
            return session->block == BLOCK_OPEN ? transaction_modes_set(session, &s->modes) : STATUS_OK;
        }
        status = transaction_need(session);
        if (status)
            return status;
        status = transaction_modes_set(session, &s->modes);
        if (!status)
            session->block = BLOCK_OPEN;
        return status;
    case TRANSACTION_COMMIT:
    case TRANSACTION_ROLLBACK: {
        bool commit = s->kind == TRANSACTION_COMMIT, was_open = session->block == BLOCK_OPEN || session->block == BLOCK_FAILED;
        enum isolation isolation = session->txn ? txn_isolation(session->txn) : READ_COMMITTED;
        bool read_only = session->txn ? txn_read_only(session->txn) : false, deferrable = session->deferrable;
        int isolation_name = session->isolation_name;
        if (!was_open && s->chain)
            return error_set(STATUS_NO_ACTIVE_TRANSACTION, "%s AND CHAIN can only be used in transaction blocks", commit ? "COMMIT" : "ROLLBACK");
        if (!was_open)
            notice_warning(session, STATUS_NO_ACTIVE_TRANSACTION, "there is no transaction in progress");
        statement_snapshot_done(session);
        bool failed = session->block == BLOCK_FAILED;
        *tag = commit && !failed ? "COMMIT" : "ROLLBACK";
        if (session->txn && commit && !failed)
            status = transaction_commit(session);
        else
            transaction_abort(session);
        if (!status && s->chain) {
            status = transaction_need(session);
            session->block = BLOCK_OPEN;
            txn_set_isolation(session->txn, isolation);
            txn_set_read_only(session->txn, read_only);
            session->isolation_name = isolation_name;
            session->deferrable = deferrable;
        }
        catalog_refresh(session);
        return status;
    }
    case TRANSACTION_SAVEPOINT:
    case TRANSACTION_RELEASE:
    case TRANSACTION_ROLLBACK_TO:
        return savepoint_statement(session, s, tag);
    case TRANSACTION_PREPARE:
    case TRANSACTION_COMMIT_PREPARED:
    case TRANSACTION_ROLLBACK_PREPARED:
        break;
    }
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "prepared transactions are not supported");
}

/* ---------------------------------------------------------------- the simple protocol */

static enum status failed_block_error(void)
{
    return error_set(STATUS_IN_FAILED_TRANSACTION, "current transaction is aborted, commands ignored until end of transaction block");
}

/* One statement of a query string; `last` ends the implicit transaction before its tag is told. */
static enum status query_statement(struct session *session, const char *sql, const struct statement *statement, bool last)
{
    const char *tag = NULL;
    if (session->client->statement_begin)
        session->client->statement_begin(session->client);
    if (session->block == BLOCK_FAILED && !statement_allowed_when_failed(statement))
        return failed_block_error();
    catalog_statement_start(session);
    enum status status = statement_run(session, sql, statement, &tag);
    status = step_statement_end(session, status);
    statement_snapshot_done(session);
    if (status)
        return status;
    if (last) {
        status = transaction_finish_implicit(session, true);
        if (status)
            return status;
    } else if (session->txn) {
        txn_next_command(session->txn);
    }
    return tag ? session->client->complete(session->client, tag) : STATUS_OK;
}

enum status session_query(struct session *session, const char *sql, size_t length)
{
    session->env.statement_us = wall_us() - EPOCH_2000_US;
    session_set_state(session, "active", sql, length);
    arena_reset(session->statement_arena);
    engine_latch_choose(engine_latch_matters() && engine_latch_looks(sql, length));
    engine_latch_enter();
    struct statement_list list;
    enum status status = parse_sql(session->statement_arena, sql, length, &list);
    if (!status && list.count == 0)
        status = session->client->empty(session->client);
    session->several = !status && list.count > 1;
    for (int i = 0; !status && i < list.count; i++)
        status = query_statement(session, sql, list.items[i], i == list.count - 1);
    session->several = false;
    if (status)
        statement_failed(session);
    else if (session->txn)
        txn_next_command(session->txn);
    ASSERT(pool_pins_held() == 0);
    arena_reset(session->statement_arena);
    session_set_idle(session);
    engine_latch_leave();
    ASSERT(latch_held_count() == 0);
    return status;
}

/* ---------------------------------------------------------------- what others ask of a session */

char session_transaction_state(const struct session *session)
{
    return session->block == BLOCK_OPEN ? 'T' : session->block == BLOCK_FAILED ? 'E' : 'I';
}

const struct settings *session_settings(const struct session *session) { return &session->settings; }
const char *session_state(const struct session *session) { return session->state; }
uint32_t session_secret(const struct session *session) { return session->secret; }
struct store *session_store(struct session *session) { return session->engine->store; }
struct txn *session_txn(struct session *session) { return session->txn; }
struct txn_slot *session_slot(struct session *session) { return session->slot; }
const struct type_env *session_type_env(struct session *session) { return &session->env; }
struct arena *session_statement_arena(struct session *session) { return session->statement_arena; }
const struct snapshot *session_snapshot(struct session *session) { return &session->snapshot; }
void *session_catalog_cache(struct session *session) { return session->catalog_cache; }
void session_set_catalog_cache(struct session *session, void *cache) { session->catalog_cache = cache; }
const char *session_user(const struct session *session) { return session->user; }
const char *session_database(const struct session *session) { return session->database; }
int32_t session_pid(const struct session *session) { return session->pid; }
bool session_in_transaction_block(const struct session *session) { return session->block == BLOCK_OPEN || session->block == BLOCK_FAILED; }

void session_catalog_snapshot(struct session *session, struct snapshot *out)
{
    *out = (struct snapshot){.limit = txn_limit(session->engine->store), .txn = session->txn, .command = UINT32_MAX};
}

static bool notice_wanted(const struct session *session, const char *severity)
{
    static const char *const levels[] = {"DEBUG", "DEBUG", "DEBUG", "DEBUG", "DEBUG", "DEBUG", "LOG", "NOTICE", "WARNING"};
    int level = session->settings.client_min_messages;
    for (int i = 0; i < level && i < 9; i++)                  /* below client_min_messages: not sent. INFO always is */
        if (!strcmp(levels[i], severity) && strcmp(levels[level < 9 ? level : 8], severity))
            return false;
    return session->client && (level < 9 || level == 12 || !strcmp(severity, "INFO"));
}

void session_notice_detail(struct session *session, const char *severity, const char *sqlstate, const char *detail, const char *message)
{
    if (!notice_wanted(session, severity))
        return;
    struct error notice = {.message = (char *)message, .detail = (char *)detail};
    snprintf(notice.sqlstate, sizeof notice.sqlstate, "%s", sqlstate);
    session->client->notice(session->client, severity, &notice);
}

void session_notice(struct session *session, const char *severity, const char *sqlstate, const char *format, ...)
{
    char *message = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&message, format, args);
    va_end(args);
    if (length < 0)
        return;
    session_notice_detail(session, severity, sqlstate, NULL, message);
    free(message);
}

void session_set_idle(struct session *session)
{
    char state = session_transaction_state(session);
    session_set_state(session, state == 'I' ? "idle" : state == 'T' ? "idle in transaction" : "idle in transaction (aborted)", NULL, 0);
}

/* With a query: since its message came. */
void session_set_state(struct session *session, const char *state, const char *query, size_t length)
{
    int64_t now = query ? session->env.statement_us + EPOCH_2000_US : wall_us();
    latch_acquire(&session->sight, LATCH_EXCLUSIVE);
    if (state) {
        session->state = state;
        session->state_change_us = now;
    }
    if (query) {
        size_t kept = length < sizeof session->query - 1 ? length : sizeof session->query - 1;
        memcpy(session->query, query, kept);
        while (kept && kept < length && ((uint8_t)query[kept] & 0xC0) == 0x80)      /* not in the middle of a character */
            kept--;
        session->query[kept] = 0;
        session->query_start_us = now;
    }
    latch_release(&session->sight);
}

size_t session_sights(struct session_sight *out, size_t capacity)
{
    size_t count = 0;
    latch_acquire(&sessions_latch, LATCH_SHARED);
    for (struct session *session = sessions_first; session; session = session->next_session, count++) {
        if (count >= capacity)
            continue;
        struct session_sight *sight = &out[count];
        memset(sight, 0, sizeof *sight);
        latch_acquire(&session->sight, LATCH_SHARED);
        sight->pid = session->pid;
        snprintf(sight->user, sizeof sight->user, "%s", session->user);
        snprintf(sight->database, sizeof sight->database, "%s", session->database);
        snprintf(sight->application, sizeof sight->application, "%s", session->settings.application_name);
        snprintf(sight->state, sizeof sight->state, "%s", session->state);
        snprintf(sight->query, sizeof sight->query, "%s", session->query);
        snprintf(sight->address, sizeof sight->address, "%s", session->address);
        sight->backend_start_us = session->backend_start_us;
        sight->xact_start_us = atomic_load_explicit(&session->xact_start_us, memory_order_relaxed);
        sight->query_start_us = session->query_start_us;
        sight->state_change_us = session->state_change_us;
        latch_release(&session->sight);
    }
    latch_release(&sessions_latch);
    return count;
}

