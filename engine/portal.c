/* engine/portal.c - prepared statements, portals and cursors.
 *
 * A prepared statement keeps its text and tree for good, and its plan until the catalog's version moves; the plan is
 * generic (parameters are read at run time) and shared by all its portals. Before each run the plan's tables are
 * locked again, and only then is the version asked: nobody can change a table that is locked.
 *
 * A portal without a row limit streams. With one (JDBC's fetch size, a cursor) its plan is run in parts (exec_parts): as far as the next
 * slice needs, into a row_store that slices are handed out of. A portal of the protocol only goes forward and forgets what it sent, a cursor
 * that may scroll keeps all rows. What changes rows, or locks them, is run to its end at once.
 *
 * What a run that was left half-way needs:
 *
 * 1. Its snapshot: the transaction holds it until the run ends. Runs end before their transaction does (portals_end_runs), and one that began behind a
 *    savepoint before that is rolled back (portals_end_level).
 * 2. Its plan: a statement that is planned anew leaves the old plan to the run (plan_is_run), which closes it.
 * 3. The descriptors in the plan: retired ones stay while there is a run (catalog_statement_start).
 * 4. Its tables: others can't change them, they are locked; DDL of our own refuses to (session_run_reads, 55006).
 * 5. Nothing of the thread's: it is left without a pin, and without a worker at work (exec.c, part_end).
 *
 *     portal:  bound --portal_start--> run left half-way --its end--> all rows in the store
 *                                            |--an error, or its savepoint rolled back--> failed: 55000 from then on */
#include "engine/session_private.h"
#include "engine/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- running a plan to the client */

void description_of(struct arena *arena, const struct prepared_plan *plan, struct result_description *out)
{
    (void)arena;
    const struct plan *root = plan->root;
    *out = (struct result_description){.column_count = plan->returns_rows ? root->column_count : 0, .names = root->names, .types = root->types,
                                       .tables = root->origin_tables, .columns = root->origin_columns};
}

char *command_tag(struct arena *arena, const struct prepared_plan *plan, uint64_t rows)
{
    const char *word = plan->kind == STATEMENT_INSERT ? "INSERT 0 " : plan->kind == STATEMENT_UPDATE ? "UPDATE " : plan->kind == STATEMENT_DELETE ? "DELETE " : "SELECT ";
    char digits[24], *at = digits + sizeof digits;            /* no printf: every statement comes by */
    *--at = '\0';
    do
        *--at = (char)('0' + rows % 10);
    while (rows /= 10);
    size_t words = strlen(word), count = (size_t)(digits + sizeof digits - at);
    char *tag = arena_alloc(arena, words + count);
    memcpy(tag, word, words);
    memcpy(tag + words, at, count);
    return tag;
}

struct client_sink {
    struct result_sink sink;
    struct session *session;
    struct result_description description;
    const uint16_t *formats; uint16_t format_count;
};

static enum status to_client(struct result_sink *sink, const struct batch *batch)
{
    struct client_sink *to = (struct client_sink *)sink;
    return to->session->client->rows(to->session->client, &to->description, to->formats, to->format_count, batch);
}

enum status plan_may_run(const struct session *session, const struct prepared_plan *plan)
{
    if (plan->read_only || !txn_read_only(session->txn))
        return STATUS_OK;
    return error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute %s in a read-only transaction", plan->kind == STATEMENT_SELECT ? "SELECT FOR UPDATE" : plan->kind == STATEMENT_INSERT ? "INSERT" : plan->kind == STATEMENT_UPDATE ? "UPDATE" : "DELETE");
}

enum status plan_run_to_client(struct session *session, const struct prepared_plan *plan, const struct value *parameters, bool describe,
                               const uint16_t *formats, uint16_t format_count, uint64_t *rows)
{
    struct client_sink to = {.sink.batch = to_client, .session = session, .formats = formats, .format_count = format_count};
    description_of(session->statement_arena, plan, &to.description);
    enum status status;
    if (describe && plan->returns_rows) {
        status = session->client->describe(session->client, &to.description, formats, format_count);
        if (status)
            return status;
    }
    status = plan_may_run(session, plan);
    if (!status)
        status = statement_snapshot(session);
    if (status)
        return status;
    struct exec_request request = {.session = session, .plan = plan, .snapshot = &session->snapshot, .parameters = parameters, .sink = plan->returns_rows ? &to.sink : NULL};
    status = exec_run(&request);
    *rows = request.rows_affected;
    return status;
}

/* ---------------------------------------------------------------- prepared statements */

struct prepared *prepared_find(struct session *session, const char *name)
{
    struct prepared *prepared = session->prepared;
    while (prepared && (prepared->gone || strcmp(prepared->name, name)))
        prepared = prepared->next;
    return prepared;
}

void prepared_release(struct session *session, struct prepared *prepared)
{
    ASSERT(prepared->uses > 0);
    if (--prepared->uses > 0 || !prepared->gone)
        return;
    for (struct prepared **link = &session->prepared; *link; link = &(*link)->next)
        if (*link == prepared) {
            *link = prepared->next;
            break;
        }
    arena_close(prepared->plan_arena);
    arena_close(prepared->arena);
    free(prepared);
}

static void prepared_drop(struct session *session, struct prepared *prepared)
{
    prepared->gone = true;
    prepared->uses++;
    prepared_release(session, prepared);
}

void prepared_drop_all(struct session *session)
{
    struct prepared *next;
    for (struct prepared *prepared = session->prepared; prepared; prepared = next) {
        next = prepared->next;
        if (!prepared->gone)
            prepared_drop(session, prepared);
    }
}

/* By a run that was left half-way. */
static bool plan_is_run(const struct session *session, const struct arena *plan_arena)
{
    const struct portal *portal = session->portals;
    while (portal && !(portal->run && portal->plan_arena == plan_arena))
        portal = portal->next;
    return portal != NULL;
}

/* Makes the plan (anew). parameters: values to estimate with; it stays right for all others. */
static enum status prepared_plan_make(struct session *session, struct prepared *prepared, const struct value *parameters)
{
    enum status status = statement_snapshot(session);
    if (status)
        return status;
    struct arena *arena = arena_open(prepared->arena, "plan");
    uint32_t *types = arena_alloc(arena, sizeof(uint32_t) * (prepared->parameter_count + 1u));
    memcpy(types, prepared->parameter_types, sizeof(uint32_t) * prepared->parameter_count);
    struct plan_request request = {.session = session, .arena = arena, .sql = prepared->sql, .statement = prepared->statement,
                                   .parameter_count = prepared->parameter_count, .parameter_types = types, .parameters = parameters};
    struct prepared_plan *plan;
    status = plan_statement(&request, &plan);
    if (status) {
        if (prepared->plan && prepared->from_sql)
            error_current()->position = 0;   /* it points into PREPARE's text, and what runs is EXECUTE */
        arena_close(arena);
        return status;
    }
    if (prepared->plan) {
        bool same = plan->root->column_count == prepared->plan->root->column_count;
        for (uint16_t c = 0; same && c < plan->root->column_count; c++)
            same = plan->root->types[c].oid == prepared->plan->root->types[c].oid;
        if (prepared->returns_rows && !same) {
            arena_close(arena);
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "cached plan must not change result type");
        }
    } else {
        memcpy(prepared->parameter_types, types, sizeof(uint32_t) * prepared->parameter_count);
    }
    if (!plan_is_run(session, prepared->plan_arena))
        arena_close(prepared->plan_arena);
    prepared->plan_arena = arena;
    prepared->plan = plan;
    prepared->search_path = arena_strdup(arena, session_settings(session)->search_path);
    prepared->returns_rows = plan->returns_rows;
    description_of(arena, plan, &prepared->description);
    /* A column's name may stand in a table's descriptor, which goes when the catalog moves; this one is asked for after that too. */
    const char **names = arena_array(arena, const char *, prepared->description.column_count + 1u);
    for (uint16_t c = 0; c < prepared->description.column_count; c++)
        names[c] = arena_strdup(arena, prepared->description.names[c]);
    prepared->description.names = names;
    return STATUS_OK;
}


/* Locks the plan's tables, and makes the plan anew when the catalog moved or search_path is another. */
enum status prepared_plan_now(struct session *session, struct prepared *prepared)
{
    enum status status = transaction_need(session);
    if (status)
        return status;
    if (prepared->plan && strcmp(prepared->search_path, session_settings(session)->search_path) == 0) {
        for (uint32_t i = 0; i < prepared->plan->table_count; i++) {
            status = lock_relation(session->txn, prepared->plan->tables[i].oid, prepared->plan->tables[i].mode, LOCK_WAIT);
            if (status)
                return status;
        }
        catalog_refresh(session);
        if (prepared->plan->catalog_version == catalog_version())
            return STATUS_OK;
    }
    return prepared_plan_make(session, prepared, NULL);
}

/* How often a plan is made for the values at hand before it is kept for all (PostgreSQL's number). */
#define PEEKS_MAX 5

enum status prepared_plan_for(struct session *session, struct prepared *prepared, const struct value *parameters)
{
    enum { AUTO, GENERIC, CUSTOM };
    enum status status = prepared_plan_now(session, prepared);
    int mode = session_settings(session)->plan_cache_mode;
    if (status || !prepared->plan->guessed || mode == GENERIC || (mode == AUTO && prepared->peeks >= PEEKS_MAX))
        return status;
    prepared->peeks++;
    return prepared_plan_make(session, prepared, parameters);
}

/* The query inside a DECLARE CURSOR or EXPLAIN says what its parameters are. */
static enum status inner_types(struct session *session, struct prepared *prepared)
{
    const struct statement *inner = prepared->statement;
    struct statement select = {.kind = STATEMENT_SELECT};
    if (inner->kind == STATEMENT_EXPLAIN)
        inner = inner->explain->statement;
    if (inner->kind == STATEMENT_DECLARE_CURSOR) {
        select.select = inner->declare_cursor->select;
        inner = &select;
    }
    if (!statement_is_planned(inner->kind))
        return STATUS_OK;
    struct prepared query = {.arena = prepared->arena, .sql = prepared->sql, .statement = inner, .parameter_types = prepared->parameter_types, .parameter_count = prepared->parameter_count};
    enum status status = prepared_plan_now(session, &query);
    arena_close(query.plan_arena);
    for (uint16_t i = 0; !status && i < prepared->parameter_count; i++)
        if (!prepared->parameter_types[i])
            status = error_set(STATUS_INDETERMINATE_DATATYPE, "could not determine data type of parameter $%d", i + 1);
    return status;
}

enum status prepared_make(struct session *session, const char *name, const char *sql, size_t length, const struct statement *parsed,
                          const uint32_t *types, uint16_t type_count, struct prepared **out)
{
    if (name[0] && prepared_find(session, name))
        return error_set(STATUS_DUPLICATE_STATEMENT, "prepared statement \"%s\" already exists", name);
    struct prepared *prepared = calloc(1, sizeof *prepared);
    ASSERT(prepared);
    prepared->arena = arena_open(session->arena, "prepared statement");
    prepared->name = arena_strdup(prepared->arena, name);
    if (parsed && sql[length] == ';')
        length++;                                             /* pg_prepared_statements shows it */
    prepared->sql = arena_strndup(prepared->arena, sql, length);
    prepared->prepared_us = session->env.statement_us + EPOCH_2000_US;
    prepared->looks = engine_latch_looks(prepared->sql, length);
    struct statement_list list;
    enum status status = parse_sql(prepared->arena, prepared->sql, length, &list);
    if (!status && list.count > 1)
        status = error_set(STATUS_SYNTAX, "cannot insert multiple commands into a prepared statement");
    if (!status && list.parameter_count > UINT16_MAX)
        status = error_set(STATUS_LIMIT_EXCEEDED, "too many parameters");
    if (status)
        goto failed;
    prepared->statement = list.count ? list.items[0] : NULL;
    if (parsed) {                                             /* PREPARE name AS …: the text is the whole PREPARE */
        ASSERT(prepared->statement && prepared->statement->kind == STATEMENT_PREPARE);
        prepared->statement = prepared->statement->prepare->statement;
        prepared->from_sql = true;
    }
    prepared->parameter_count = (uint16_t)(list.parameter_count > type_count ? list.parameter_count : type_count);
    prepared->parameter_types = arena_array(prepared->arena, uint32_t, prepared->parameter_count + 1);
    if (type_count)
        memcpy(prepared->parameter_types, types, sizeof(uint32_t) * type_count);
    prepared->plannable = prepared->statement && statement_is_planned(prepared->statement->kind);
    if (session->block == BLOCK_FAILED && prepared->statement && !statement_allowed_when_failed(prepared->statement)) {
        status = error_set(STATUS_IN_FAILED_TRANSACTION, "current transaction is aborted, commands ignored until end of transaction block");
        goto failed;
    }
    if (prepared->plannable) {
        status = prepared_plan_now(session, prepared);
        if (status)
            goto failed;
        for (uint16_t i = 0; i < prepared->parameter_count; i++)
            if (prepared->parameter_types[i] == 0) {
                status = error_set(STATUS_INDETERMINATE_DATATYPE, "could not determine data type of parameter $%d", i + 1);
                goto failed;
            }
    } else if (prepared->statement) {
        if (prepared->parameter_count)
            status = inner_types(session, prepared);
        if (status)
            goto failed;
        prepared->returns_rows = utility_returns_rows(session, prepared->arena, prepared->statement, &prepared->description);
    }
    if (!name[0]) {
        struct prepared *old = prepared_find(session, "");
        if (old)
            prepared_drop(session, old);
    }
    prepared->next = session->prepared;
    session->prepared = prepared;
    *out = prepared;
    return STATUS_OK;
failed:
    arena_close(prepared->plan_arena);
    arena_close(prepared->arena);
    free(prepared);
    return status;
}

/* ---------------------------------------------------------------- portals */

struct portal *portal_find(struct session *session, const char *name)
{
    struct portal *portal = session->portals;
    while (portal && strcmp(portal->name, name))
        portal = portal->next;
    return portal;
}

enum status portal_make(struct session *session, const char *name, struct prepared *prepared, struct portal **out)
{
    struct portal *old = portal_find(session, name);
    if (old) {
        if (name[0])
            return error_set(STATUS_DUPLICATE_CURSOR, "cursor \"%s\" already exists", name);
        portal_close(session, old);
    }
    struct arena *arena = arena_open(session->arena, "portal");
    struct portal *portal = arena_new(arena, struct portal);
    portal->arena = arena;
    portal->name = arena_strdup(arena, name);
    portal->prepared = prepared;
    portal->sql = prepared && prepared->sql ? prepared->sql : "";
    portal->created_us = session->env.statement_us + EPOCH_2000_US;
    portal->level = session->savepoints ? session->savepoints->level : 0;
    if (prepared)
        prepared->uses++;
    portal->next = session->portals;
    session->portals = portal;
    *out = portal;
    return STATUS_OK;
}

static void portal_run_end(struct session *session, struct portal *portal)
{
    if (!portal->run)
        return;
    exec_parts_close(portal->run);
    portal->run = NULL;
    txn_snapshot_done(session->txn);
    if (portal->plan_arena != portal->prepared->plan_arena && !plan_is_run(session, portal->plan_arena))
        arena_close(portal->plan_arena);
}

void portal_close(struct session *session, struct portal *portal)
{
    for (struct portal **link = &session->portals; *link; link = &(*link)->next)
        if (*link == portal) {
            *link = portal->next;
            break;
        }
    portal_run_end(session, portal);
    row_store_close(portal->store);
    if (portal->prepared)
        prepared_release(session, portal->prepared);
    arena_close(portal->arena);
}

void portals_end_transaction(struct session *session, bool committed)
{
    struct portal *next;
    for (struct portal *portal = session->portals; portal; portal = next) {
        next = portal->next;
        if (portal->hold && !portal->failed && (committed || portal->level < 0))
            portal->level = -1;                               /* a held cursor outlives its transaction once that commits */
        else
            portal_close(session, portal);
    }
}

void portals_end_level(struct session *session, int level)
{
    struct portal *next;
    for (struct portal *portal = session->portals; portal; portal = next) {
        next = portal->next;
        if (portal->level >= level) {
            portal_close(session, portal);
        } else if (portal->run && portal->run_level >= level) {
            portal_run_end(session, portal);
            portal->failed = true;
        }
    }
}

void portal_level_released(struct portal *portal, int level)
{
    if (portal->level >= level)
        portal->level = level - 1;
    if (portal->run_level >= level)
        portal->run_level = level - 1;
}

struct store_sink { struct result_sink sink; struct row_store *store; };

static enum status to_store(struct result_sink *sink, const struct batch *batch)
{
    return row_store_add(((struct store_sink *)sink)->store, batch);
}

static enum status portal_failed(const struct portal *portal) { return error_set(STATUS_OBJECT_NOT_READY, "portal \"%s\" cannot be run", portal->name); }

/* Runs the portal's plan, until that many rows are in its store or there are no more. */
static enum status portal_fill(struct session *session, struct portal *portal, uint64_t rows)
{
    if (portal->failed)
        return portal_failed(portal);
    if (!portal->run || row_store_count(portal->store) >= rows)
        return STATUS_OK;
    enum status status = exec_parts_run(portal->run, rows);
    portal->failed = status != STATUS_OK;
    if (exec_parts_done(portal->run))
        portal_run_end(session, portal);
    return status;
}

enum status portals_end_runs(struct session *session, bool commits)
{
    enum status status = STATUS_OK;
    for (struct portal *portal = session->portals; portal; portal = portal->next) {
        if (commits && portal->hold && !portal->failed && !status)
            status = portal_fill(session, portal, UINT64_MAX);
        portal_run_end(session, portal);
    }
    return status;
}

bool session_has_open_run(const struct session *session)
{
    const struct portal *portal = session->portals;
    while (portal && !portal->run)
        portal = portal->next;
    return portal != NULL;
}

bool session_run_reads(const struct session *session, uint32_t table)
{
    for (const struct portal *portal = session->portals; portal; portal = portal->next)
        for (uint32_t i = 0; portal->run && i < portal->plan->table_count; i++)
            if (portal->plan->tables[i].oid == table)
                return true;
    return false;
}

static enum status portal_start(struct session *session, struct portal *portal)
{
    const struct prepared_plan *plan = portal->prepared->plan;
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/pgsql_tmp", session->engine->directory);
    enum status status = plan_may_run(session, plan);
    if (!status)
        status = statement_snapshot(session);
    if (status)
        return status;
    /* The plan may be made anew while the portal lives: it keeps its own copy of the types. */
    struct sql_type *types = arena_array(portal->arena, struct sql_type, plan->root->column_count + 1u);
    if (plan->root->column_count)
        memcpy(types, plan->root->types, sizeof *types * plan->root->column_count);
    portal->store = row_store_open(types, plan->root->column_count, (uint64_t)session->settings.work_mem_bytes, directory);
    portal->sink = arena_new(portal->arena, struct store_sink);
    *portal->sink = (struct store_sink){.sink.batch = to_store, .store = portal->store};
    struct exec_request request = {.session = session, .plan = plan, .snapshot = &session->snapshot, .parameters = portal->parameters, .sink = &portal->sink->sink};
    if (plan->read_only && plan->returns_rows) {
        request.snapshot = &portal->snapshot;
        status = exec_parts_open(&request, &portal->run);
        if (status)
            return status;
        txn_snapshot(session->txn, &portal->snapshot);
        portal->plan = plan;
        portal->plan_arena = portal->prepared->plan_arena;
        portal->run_level = session->savepoints ? session->savepoints->level : 0;
    } else {
        status = exec_run(&request);
    }
    statement_snapshot_done(session);
    portal->tag = command_tag(portal->arena, plan, request.rows_affected);
    return status;
}

static enum status store_slice_to_client(struct session *session, struct portal *portal, const uint16_t *formats, uint16_t format_count, uint64_t first, uint64_t count, bool backward)
{
    struct result_description description = portal->prepared->description;
    enum status status = STATUS_OK;
    for (uint64_t done = 0; !status && done < count;) {
        uint16_t piece = (uint16_t)(count - done < BATCH_ROWS ? count - done : BATCH_ROWS);
        struct arena *arena = arena_open(session->statement_arena, "slice");
        struct batch batch;
        status = row_store_read(portal->store, backward ? first + count - done - piece : first + done, piece, arena, &batch);
        row_pos *order = NULL;
        if (backward && !status) {
            for (uint16_t i = 0; !status && i < piece; i++) {
                row_pos at = (row_pos)(piece - 1 - i);
                order = &at;
                batch.all_selected = false;
                batch.selection = order;
                batch.selected_count = 1;
                status = session->client->rows(session->client, &description, formats, format_count, &batch);
            }
        } else if (!status) {
            status = session->client->rows(session->client, &description, formats, format_count, &batch);
        }
        arena_close(arena);
        done += piece;
    }
    return status;
}

/* The next rows to the client (or not, for MOVE), as many as there are up to `most`, made as they are sent. A row that nobody can come back to is
 * forgotten. *sent: how many. */
#define PIECE_ROWS (16 * BATCH_ROWS)     /* a run is left so seldom that its workers don't wait for that */
static enum status portal_forward(struct session *session, struct portal *portal, const uint16_t *formats, uint16_t format_count, uint64_t most, bool send, uint64_t *sent)
{
    enum status status = portal->failed ? portal_failed(portal) : STATUS_OK;         /* before: its rows are nobody's any more */
    while (*sent < most && !status) {
        uint64_t piece = most - *sent < PIECE_ROWS ? most - *sent : PIECE_ROWS;
        struct error kept = {0};
        enum status filled = portal_fill(session, portal, portal->position + piece);
        if (filled)                      /* the rows before it go first */
            error_save(&kept);
        uint64_t rows = row_store_count(portal->store), there = portal->position < rows ? rows - portal->position : 0;
        piece = there < piece ? there : piece;
        if (send && piece)
            status = store_slice_to_client(session, portal, formats, format_count, portal->position, piece, false);
        portal->position += piece;
        *sent += piece;
        if (filled && !status)
            return error_restore(&kept);
        error_free(&kept);
        if (piece == 0)
            break;
        if (!status && portal->no_scroll)
            status = row_store_forget(portal->store, portal->position);
    }
    return status;
}

/* ---------------------------------------------------------------- the extended protocol */

static void extended_begin(struct session *session, bool looks)
{
    engine_latch_choose(looks);
    engine_latch_enter();
    arena_reset(session->statement_arena);
    catalog_statement_start(session);
    session->env.statement_us = wall_us() - EPOCH_2000_US;
}

static enum status extended_end(struct session *session, enum status status)
{
    status = step_statement_end(session, status);
    statement_snapshot_done(session);
    if (status)
        statement_failed(session);
    engine_latch_leave();
    ASSERT(latch_held_count() == 0);
    ASSERT(pool_pins_held() == 0);
    return status;
}

enum status session_parse(struct session *session, const char *name, const char *sql, size_t length, const uint32_t *types, uint16_t count)
{
    extended_begin(session, engine_latch_looks(sql, length));
    session_set_state(session, "active", sql, length);
    catalog_refresh(session);
    struct prepared *prepared;
    return extended_end(session, prepared_make(session, name, sql, length, NULL, types, count, &prepared));
}

static enum status no_prepared(const char *name)
{
    if (!name[0])
        return error_set(STATUS_INVALID_STATEMENT_NAME, "unnamed prepared statement does not exist");
    return error_set(STATUS_INVALID_STATEMENT_NAME, "prepared statement \"%s\" does not exist", name);
}

static void bind_context(const struct portal *portal, uint16_t i, uint16_t format)
{
    const char *shown = format == 0 ? " = '...'" : "";
    if (portal->name[0])
        error_context("portal \"%s\" parameter $%d%s", portal->name, i + 1, shown);
    else
        error_context("unnamed portal parameter $%d%s", i + 1, shown);
}

static enum status bind_parameters(struct portal *portal, const struct bind_values *values)
{
    const struct prepared *prepared = portal->prepared;
    if (values->count != prepared->parameter_count)
        return error_set(STATUS_PROTOCOL_VIOLATION, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d", values->count, prepared->name, prepared->parameter_count);
    if (values->format_count > 1 && values->format_count != values->count)
        return error_set(STATUS_PROTOCOL_VIOLATION, "bind message has %d parameter formats but %d parameters", values->format_count, values->count);
    portal->parameters = arena_array(portal->arena, struct value, values->count + 1);
    for (uint16_t i = 0; i < values->count; i++) {
        uint16_t format = values->format_count == 0 ? 0 : values->formats[values->format_count == 1 ? 0 : i];
        struct sql_type type = type_make(prepared->parameter_types[i], -1);
        enum status status = STATUS_OK;
        if (values->lengths[i] < 0) {
            portal->parameters[i].null = true;
            continue;
        }
        const uint8_t *bytes = (const uint8_t *)arena_strndup(portal->arena, (const char *)values->bytes[i], (size_t)values->lengths[i]);
        if (format == 0)
            status = type_in(type, (const char *)bytes, (size_t)values->lengths[i], portal->arena, &portal->parameters[i]);
        else if (format == 1)
            status = type_receive(type, bytes, (size_t)values->lengths[i], portal->arena, &portal->parameters[i]);
        else
            status = error_set(STATUS_INVALID_PARAMETER_VALUE, "unsupported format code: %d", format);
        if (status) {
            bind_context(portal, i, format);
            return status;
        }
    }
    return STATUS_OK;
}

static enum status bind_formats(struct portal *portal, const struct bind_values *values)
{
    uint16_t columns = portal->prepared->returns_rows ? portal->prepared->description.column_count : 0;
    if (values->result_format_count > 1 && values->result_format_count != columns)
        return error_set(STATUS_PROTOCOL_VIOLATION, "bind message has %d result formats but query has %d columns", values->result_format_count, columns);
    for (uint16_t i = 0; i < values->result_format_count; i++)
        if (values->result_formats[i] > 1)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "unsupported format code: %d", values->result_formats[i]);
    portal->formats = arena_copy(portal->arena, values->result_formats, sizeof(uint16_t) * (size_t)values->result_format_count);
    portal->format_count = values->result_format_count;
    return STATUS_OK;
}

enum status session_bind(struct session *session, const char *name, const char *statement, const struct bind_values *values)
{
    struct prepared *prepared = prepared_find(session, statement);
    struct portal *portal = NULL;
    extended_begin(session, prepared && prepared->looks);
    enum status status = prepared ? STATUS_OK : no_prepared(statement);
    if (!status && session->block == BLOCK_FAILED && prepared->statement && !statement_allowed_when_failed(prepared->statement))
        status = error_set(STATUS_IN_FAILED_TRANSACTION, "current transaction is aborted, commands ignored until end of transaction block");
    if (!status && prepared->plannable)
        status = prepared_plan_now(session, prepared);
    if (!status)
        status = portal_make(session, name, prepared, &portal);
    if (!status) {
        portal->no_scroll = true;
        status = bind_parameters(portal, values);
    }
    if (!status && prepared->plannable)
        status = prepared_plan_for(session, prepared, portal->parameters);
    if (!status)
        status = bind_formats(portal, values);
    if (status && portal)
        portal_close(session, portal);
    return extended_end(session, status);
}

enum status session_describe_statement(struct session *session, const char *name, const uint32_t **types, uint16_t *count, struct result_description *out, bool *returns_rows)
{
    struct prepared *prepared = prepared_find(session, name);
    extended_begin(session, prepared && prepared->looks);
    enum status status = prepared ? STATUS_OK : no_prepared(name);
    if (!status && prepared->plannable && session->block != BLOCK_FAILED)
        status = prepared_plan_now(session, prepared);
    if (!status) {
        *types = prepared->parameter_types;
        *count = prepared->parameter_count;
        *out = prepared->description;
        *returns_rows = prepared->returns_rows;
    }
    return extended_end(session, status);
}

static enum status no_portal(const char *name) { return error_set(STATUS_INVALID_CURSOR_NAME, "portal \"%s\" does not exist", name); }

enum status session_describe_portal(struct session *session, const char *name, struct result_description *out, const uint16_t **formats, uint16_t *format_count, bool *returns_rows)
{
    const struct portal *portal = portal_find(session, name);
    if (!portal)
        return extended_end(session, no_portal(name));
    *out = portal->prepared->description;
    *formats = portal->formats;
    *format_count = portal->format_count;
    *returns_rows = portal->prepared->returns_rows;
    return STATUS_OK;
}

static enum status portal_execute(struct session *session, struct portal *portal, uint64_t max_rows)
{
    struct prepared *prepared = portal->prepared;
    struct client *client = session->client;
    if (!prepared->statement)
        return client->empty(client);
    if (session->block == BLOCK_FAILED && !statement_allowed_when_failed(prepared->statement))
        return error_set(STATUS_IN_FAILED_TRANSACTION, "current transaction is aborted, commands ignored until end of transaction block");
    enum status status;
    prepared->uses++;                                         /* the statement may end its own portal (COMMIT) or itself (DEALLOCATE) */
    if (!prepared->plannable) {
        const char *tag = NULL;
        struct arena *kept = portal->arena;
        (void)kept;
        catalog_refresh(session);
        uint16_t formats[1] = {0}, format_count = 0;
        if (portal->format_count == 1)
            formats[0] = portal->formats[0], format_count = 1;
        status = utility_run(session, prepared->sql, prepared->statement, portal, false, formats, format_count, &tag);
        status = step_statement_end(session, status);
        if (!status && session->txn)
            txn_next_command(session->txn);
        if (!status && tag)
            status = client->complete(client, tag);
        prepared_release(session, prepared);
        return status;
    }
    status = portal->failed ? portal_failed(portal) : portal->started ? STATUS_OK : prepared_plan_now(session, prepared);
    if (!status && !portal->started && max_rows == 0) {
        uint64_t rows = 0;
        portal->started = true;
        status = plan_run_to_client(session, prepared->plan, portal->parameters, false, portal->formats, portal->format_count, &rows);
        status = step_statement_end(session, status);
        if (!status) {
            txn_next_command(session->txn);
            status = client->complete(client, command_tag(session->statement_arena, prepared->plan, rows));
        }
    } else if (!status) {
        if (!portal->started) {
            portal->started = true;
            status = step_statement_end(session, portal_start(session, portal));
            if (!status)
                txn_next_command(session->txn);
        }
        uint64_t count = 0;
        if (!status && !portal->store && prepared->plan->kind != STATEMENT_SELECT)
            status = portal_failed(portal);
        if (!status && portal->store && prepared->returns_rows)                  /* without a store: it ran to its end already */
            status = portal_forward(session, portal, portal->formats, portal->format_count, max_rows ? max_rows : UINT64_MAX, true, &count);
        if (!status)
            status = max_rows && count == max_rows ? client->suspended(client)
                     : client->complete(client, portal->tag && prepared->plan->kind != STATEMENT_SELECT ? portal->tag : command_tag(session->statement_arena, prepared->plan, count));
    }
    portal->failed |= status != STATUS_OK && portal->started;
    prepared_release(session, prepared);
    return status;
}

enum status session_execute(struct session *session, const char *name, uint64_t max_rows)
{
    struct portal *portal = portal_find(session, name);
    extended_begin(session, portal && portal->prepared && portal->prepared->looks);
    enum status status = portal ? STATUS_OK : no_portal(name);
    if (!status) {
        if (portal->prepared->sql)
            session_set_state(session, "active", portal->prepared->sql, strlen(portal->prepared->sql));
        status = portal_execute(session, portal, max_rows);
    }
    return extended_end(session, status);
}

enum status session_close_statement(struct session *session, const char *name)
{
    struct prepared *prepared = prepared_find(session, name);
    if (prepared)
        prepared_drop(session, prepared);
    return STATUS_OK;
}

enum status session_close_portal(struct session *session, const char *name)
{
    struct portal *portal = portal_find(session, name);
    if (portal) {
        engine_latch_enter();
        portal_close(session, portal);
        engine_latch_leave();
    }
    return STATUS_OK;
}

enum status session_sync(struct session *session)
{
    engine_latch_enter();
    enum status status = transaction_finish_implicit(session, true);
    session_set_idle(session);
    engine_latch_leave();
    return status;
}

/* ---------------------------------------------------------------- SQL cursors */

enum status cursor_declare(struct session *session, const struct declare_cursor_statement *s, const struct statement *statement, const char *sql, const struct portal *bound, const char **tag)
{
    if (session->block != BLOCK_OPEN && !s->hold)
        return error_set(STATUS_NO_ACTIVE_TRANSACTION, "DECLARE CURSOR can only be used in transaction blocks");
    if (portal_find(session, s->name))
        return error_set(STATUS_DUPLICATE_CURSOR, "cursor \"%s\" already exists", s->name);
    if (s->select && s->select->locking_count && (s->hold || s->insensitive || s->scroll == CHOICE_YES)) {
        static const char *const names[] = { "FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE" };
        const char *lock = names[s->select->locking[0]->strength];
        if (s->hold)
            error_set(STATUS_FEATURE_NOT_SUPPORTED, "DECLARE CURSOR WITH HOLD ... %s is not supported", lock);
        else if (s->scroll == CHOICE_YES)
            error_set(STATUS_FEATURE_NOT_SUPPORTED, "DECLARE SCROLL CURSOR ... %s is not supported", lock);
        else
            error_set(STATUS_INVALID_CURSOR_DEFINITION, "DECLARE INSENSITIVE CURSOR ... %s is not valid", lock);
        error_detail(s->hold ? "Holdable cursors must be READ ONLY." : s->scroll == CHOICE_YES ? "Scrollable cursors must be READ ONLY." : "Insensitive cursors must be READ ONLY.");
        return error_current()->status;
    }
    const char *query = s->query_length ? sql + s->query_start - 1 : sql + statement->start - 1;
    struct prepared *prepared;
    char name[64];
    snprintf(name, sizeof name, "<cursor %p>", (const void *)s);
    enum status status = prepared_make(session, name, query, (size_t)(s->query_length ? s->query_length : statement->length), NULL,
                                       bound ? bound->prepared->parameter_types : NULL, bound ? bound->prepared->parameter_count : 0, &prepared);
    if (status) {
        if (error_current()->position)
            error_current()->position += (int)(query - sql);
        return status;
    }
    struct portal *portal;
    status = portal_make(session, s->name, prepared, &portal);
    prepared_drop(session, prepared);                         /* the portal alone keeps it */
    if (status)
        return status;
    if (bound && bound->prepared->parameter_count) {          /* the portal that brought them is gone when the cursor is read */
        portal->parameters = arena_array(portal->arena, struct value, bound->prepared->parameter_count);
        for (uint16_t i = 0; i < bound->prepared->parameter_count; i++) {
            portal->parameters[i] = bound->parameters[i];
            if (type_make(bound->prepared->parameter_types[i], -1).width == WIDTH_VARLEN && !bound->parameters[i].null)
                portal->parameters[i].v.bytes = arena_copy(portal->arena, bound->parameters[i].v.bytes, bound->parameters[i].v.length);
        }
    }
    portal->cursor = portal->started = true;
    portal->hold = s->hold;
    portal->no_scroll = s->scroll == CHOICE_NO;
    size_t length = (size_t)statement->length;
    portal->sql = arena_strndup(portal->arena, sql + statement->start - 1, length + (sql[(size_t)statement->start - 1 + length] == ';'));
    if (s->binary) {
        portal->formats = arena_array(portal->arena, uint16_t, 1);
        portal->formats[0] = 1;
        portal->format_count = 1;
    }
    status = portal_start(session, portal);
    if (status) {
        portal_close(session, portal);
        return status;
    }
    *tag = "DECLARE CURSOR";
    return STATUS_OK;
}

/* position counts as: 0 before the first row, n on row n, count + 1 after the last. */
enum status cursor_fetch(struct session *session, const struct fetch_statement *s, const struct portal *bound, const char **tag)
{
    struct portal *portal = portal_find(session, s->cursor);
    if (!portal || !portal->store)
        return error_set(STATUS_INVALID_CURSOR_NAME, "cursor \"%s\" does not exist", s->cursor);
    bool own_formats = !bound || !bound->format_count;
    const uint16_t *formats = own_formats ? portal->formats : bound->formats;
    uint16_t format_count = own_formats ? portal->format_count : bound->format_count;
    int64_t count = s->count, at = (int64_t)portal->position;
    enum fetch_direction direction = s->direction;
    if (count < 0 && direction == FETCH_FORWARD)
        direction = FETCH_BACKWARD, count = count == INT64_MIN ? INT64_MAX : -count;
    else if (count < 0 && direction == FETCH_BACKWARD)
        direction = FETCH_FORWARD, count = count == INT64_MIN ? INT64_MAX : -count;
    bool back = direction == FETCH_ABSOLUTE ? count < 0 || (at > 0 && count <= at) : direction == FETCH_RELATIVE ? count < 0 : direction == FETCH_BACKWARD && count > 0;
    bool again = direction != FETCH_ABSOLUTE && count == 0 && !s->is_move && at > 0 && portal->position <= row_store_count(portal->store);
    if (portal->no_scroll && (back || again)) {
        portal->failed = true;
        error_set(STATUS_OBJECT_NOT_READY, "cursor can only scan forward");
        error_hint("Declare it with SCROLL option to enable backward scan.");
        return STATUS_OBJECT_NOT_READY;
    }
    uint64_t shown = 0;
    enum status status = STATUS_OK;
    if (direction == FETCH_FORWARD && count > 0) {
        if (portal->position <= row_store_count(portal->store))
            status = portal_forward(session, portal, formats, format_count, (uint64_t)count, !s->is_move, &shown);
        if (!status && shown < (uint64_t)count)
            portal->position = row_store_count(portal->store) + 1;
    } else {
        int64_t target = at;             /* where it comes to stand */
        if (direction == FETCH_BACKWARD)
            target = count > at ? 0 : at - count;
        else if (direction == FETCH_ABSOLUTE)
            target = count;
        else if (direction == FETCH_RELATIVE && __builtin_add_overflow(at, count, &target))
            target = INT64_MAX;
        bool from_end = direction == FETCH_ABSOLUTE && count < 0;
        status = portal_fill(session, portal, from_end ? UINT64_MAX : target < 0 ? 0 : (uint64_t)target);
        if (status)
            return status;
        int64_t rows = (int64_t)row_store_count(portal->store);
        if (from_end)
            target = rows + 1 + count;
        target = target < 0 ? 0 : target > rows ? rows + 1 : target;
        int64_t last = direction == FETCH_BACKWARD && count > 0 ? at - 1 : target, first = target ? target : direction == FETCH_BACKWARD ? 1 : 0;
        portal->position = (uint64_t)target;
        shown = first >= 1 && last <= rows && last >= first ? (uint64_t)(last - first + 1) : 0;
        if (!s->is_move && shown)
            status = store_slice_to_client(session, portal, formats, format_count, (uint64_t)first - 1, shown, direction == FETCH_BACKWARD);
    }
    *tag = arena_printf(session->statement_arena, "%s %llu", s->is_move ? "MOVE" : "FETCH", (unsigned long long)shown);
    return status;
}

enum status cursor_close(struct session *session, const char *name, const char **tag)
{
    if (!name) {
        struct portal *next;
        for (struct portal *portal = session->portals; portal; portal = next) {
            next = portal->next;
            if (portal->cursor)
                portal_close(session, portal);
        }
        *tag = "CLOSE CURSOR ALL";
        return STATUS_OK;
    }
    struct portal *portal = portal_find(session, name);
    if (!portal)
        return error_set(STATUS_INVALID_CURSOR_NAME, "cursor \"%s\" does not exist", name);
    portal_close(session, portal);
    *tag = "CLOSE CURSOR";
    return STATUS_OK;
}
