/* engine/statement.c - runs one statement: planned ones through the planner and executor, the rest here or in the file
 * that the statement belongs to (ddl.c, copy.c, vacuum.c, portal.c). Rows that a utility statement shows (SHOW,
 * EXPLAIN) are text columns made here. */
#include "engine/session_private.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool statement_is_planned(enum statement_kind kind)
{
    return kind == STATEMENT_SELECT || kind == STATEMENT_INSERT || kind == STATEMENT_UPDATE || kind == STATEMENT_DELETE;
}

/* ---------------------------------------------------------------- rows of text */

static void text_description(struct arena *arena, const char *const *names, uint16_t count, struct result_description *out)
{
    const char **copies = arena_array(arena, const char *, count);
    struct sql_type *types = arena_array(arena, struct sql_type, count);
    for (uint16_t i = 0; i < count; i++) {
        copies[i] = names[i];
        types[i] = type_make(OID_TEXT, -1);
    }
    *out = (struct result_description){.column_count = count, .names = copies, .types = types, .tables = arena_array(arena, uint32_t, count), .columns = arena_array(arena, int16_t, count)};
}

/* cells: row by row, NULL for null. */
static enum status text_rows(struct session *session, const char *const *names, uint16_t columns, char *const *cells, size_t rows, bool describe,
                             const uint16_t *formats, uint16_t format_count)
{
    struct arena *arena = session->statement_arena;
    struct result_description description;
    text_description(arena, names, columns, &description);
    enum status status = STATUS_OK;
    if (describe)
        status = session->client->describe(session->client, &description, formats, format_count);
    for (size_t first = 0; !status && first < rows; first += BATCH_ROWS) {
        uint16_t count = (uint16_t)(rows - first < BATCH_ROWS ? rows - first : BATCH_ROWS);
        struct batch batch = {.columns = arena_array(arena, struct vector, columns), .column_count = columns, .row_count = count, .selected_count = count, .all_selected = true};
        for (uint16_t c = 0; c < columns; c++) {
            struct varlen *values = arena_array(arena, struct varlen, count);
            uint8_t *nulls = arena_zero(arena, count);
            for (uint16_t r = 0; r < count; r++) {
                const char *cell = cells[(first + r) * columns + c];
                if (cell)
                    values[r] = (struct varlen){.bytes = (const uint8_t *)cell, .length = (uint32_t)strlen(cell)};
                else
                    nulls[r] = 1;
            }
            batch.columns[c] = (struct vector){.values = values, .nulls = nulls, .width = WIDTH_VARLEN};
        }
        status = session->client->rows(session->client, &description, formats, format_count, &batch);
    }
    return status;
}

/* ---------------------------------------------------------------- SET, SHOW */

/* The text of SET's right side: words and strings joined as PostgreSQL does for lists. */
static enum status set_value(struct session *session, const struct expr_list *values, const char **out)
{
    struct text_buffer text;
    text_buffer_open(&text, session->statement_arena);
    for (int i = 0; i < values->count; i++) {
        const struct expr *value = values->items[i];
        bool minus = false;
        if (i)
            text_buffer_puts(&text, ", ");
        while (value->kind == EXPR_OPERATOR && !value->op.left) {
            minus ^= value->op.name[0] == '-';
            value = value->op.right;
        }
        if (value->kind == EXPR_CAST)                         /* SET TIME ZONE INTERVAL '…' */
            value = value->cast.operand;
        if (value->kind == EXPR_LITERAL && value->literal.kind == LITERAL_BOOLEAN)
            text_buffer_puts(&text, value->literal.boolean ? "true" : "false");
        else if (value->kind == EXPR_LITERAL && value->literal.kind != LITERAL_NULL)
            text_buffer_printf(&text, "%s%s", minus ? "-" : "", value->literal.text);
        else if (value->kind == EXPR_COLUMN && value->column.count == 1)
            text_buffer_puts(&text, value->column.names[0]);
        else {
            error_set(STATUS_SYNTAX, "syntax error in the value of a setting");
            error_position(value->position);
            return STATUS_SYNTAX;
        }
    }
    *out = text.bytes ? text.bytes : "";
    return STATUS_OK;
}

static enum status set_run(struct session *session, const struct set_statement *s, const char **tag)
{
    enum setting_scope scope = s->local ? SETTING_LOCAL : SETTING_SESSION;
    enum status status;
    const char *value;
    *tag = "SET";
    switch (s->kind) {
    case VARIABLE_SET:
        if (s->local && !session_in_transaction_block(session))
            session_notice(session, "WARNING", "25P01", "SET LOCAL can only be used in transaction blocks");
        status = set_value(session, &s->values, &value);
        if (!status)
            status = settings_set(session, s->name, value, scope);
        return status;
    case VARIABLE_SET_CURRENT:
        return STATUS_OK;
    case VARIABLE_SET_DEFAULT:
        return settings_set(session, s->name, NULL, scope);
    case VARIABLE_RESET:
        *tag = "RESET";
        return settings_set(session, s->name, NULL, scope);
    case VARIABLE_RESET_ALL:
        *tag = "RESET";
        return settings_reset_all(session);
    case VARIABLE_SET_TRANSACTION:
        if (s->snapshot)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "SET TRANSACTION SNAPSHOT is not supported");
        if (!session_in_transaction_block(session))
            session_notice(session, "WARNING", "25P01", "SET TRANSACTION can only be used in transaction blocks");
        return transaction_modes_set(session, &s->modes);
    case VARIABLE_SET_CHARACTERISTICS:
        if (s->modes.isolation != ISOLATION_UNSET) {
            status = settings_set(session, "default_transaction_isolation", settings_isolation_name(ISOLATION_SERIALIZABLE - s->modes.isolation), SETTING_SESSION);
            if (status)
                return status;
        }
        if (s->modes.read_only != CHOICE_UNSET)
            status = settings_set(session, "default_transaction_read_only", s->modes.read_only == CHOICE_YES ? "on" : "off", SETTING_SESSION);
        if (!status && s->modes.deferrable != CHOICE_UNSET)
            status = settings_set(session, "default_transaction_deferrable", s->modes.deferrable == CHOICE_YES ? "on" : "off", SETTING_SESSION);
        return status;
    }
    return error_set(STATUS_INTERNAL, "unknown SET");
}

static enum status show_run(struct session *session, const struct show_statement *s, bool describe, const uint16_t *formats, uint16_t format_count, const char **tag)
{
    *tag = "SHOW";
    struct arena *arena = session->statement_arena;
    if (!strcasecmp(s->name, "all")) {
        static const char *const names[] = {"name", "setting", "description"};
        char **cells = arena_array(arena, char *, settings_count() * 3);
        for (size_t i = 0; i < settings_count(); i++) {
            struct setting_row row;
            settings_row(session, i, arena, &row);
            const char *value, *canonical;
            if (settings_show(session, row.name, arena, &value, &canonical))
                error_clear(), value = "";
            cells[i * 3] = (char *)row.name;
            cells[i * 3 + 1] = (char *)value;
            cells[i * 3 + 2] = (char *)row.description;
        }
        return text_rows(session, names, 3, cells, settings_count(), describe, formats, format_count);
    }
    const char *value, *canonical;
    enum status status = settings_show(session, s->name, arena, &value, &canonical);
    if (status)
        return status;
    const char *names[] = {canonical};
    char *cells[] = {(char *)value};
    return text_rows(session, names, 1, cells, 1, describe, formats, format_count);
}

/* ---------------------------------------------------------------- EXPLAIN */

static enum status option_bool(const struct option *option, bool *out)
{
    if (option->kind == OPTION_NONE) {
        *out = true;
        return STATUS_OK;
    }
    const char *text = option->text ? option->text : "";
    if (!strcasecmp(text, "true") || !strcasecmp(text, "on") || !strcmp(text, "1"))
        *out = true;
    else if (!strcasecmp(text, "false") || !strcasecmp(text, "off") || !strcmp(text, "0"))
        *out = false;
    else
        return error_set(STATUS_SYNTAX, "%s requires a Boolean value", option->name);
    return STATUS_OK;
}

static enum status explain_options_read(const struct option_list *list, struct explain_options *out)
{
    *out = (struct explain_options){.costs = true};
    bool timing_said = false, summary_said = false;
    for (int i = 0; i < list->count; i++) {
        const struct option *option = list->items[i];
        enum status status = STATUS_OK;
        if (!strcmp(option->name, "analyze"))
            status = option_bool(option, &out->analyze);
        else if (!strcmp(option->name, "verbose"))
            status = option_bool(option, &out->verbose);
        else if (!strcmp(option->name, "costs"))
            status = option_bool(option, &out->costs);
        else if (!strcmp(option->name, "buffers"))
            status = option_bool(option, &out->buffers);
        else if (!strcmp(option->name, "timing"))
            status = option_bool(option, &out->timing), timing_said = true;
        else if (!strcmp(option->name, "summary"))
            status = option_bool(option, &out->summary), summary_said = true;
        else if (!strcmp(option->name, "wal"))
            status = option_bool(option, &out->wal);
        else if (!strcmp(option->name, "settings"))
            status = option_bool(option, &out->show_settings);
        else if (!strcmp(option->name, "format")) {
            static const char *const formats[] = {"text", "json", "xml", "yaml"};
            out->format = -1;
            for (int f = 0; f < 4; f++)
                if (option->text && !strcasecmp(option->text, formats[f]))
                    out->format = f;
            if (out->format < 0)
                status = error_set(STATUS_INVALID_PARAMETER_VALUE, "unrecognized value for EXPLAIN option \"format\": \"%s\"", option->text ? option->text : "");
            if (out->format < 0)
                error_position(option->position);
        } else {
            status = error_set(STATUS_SYNTAX, "unrecognized EXPLAIN option \"%s\"", option->name);
            error_position(option->position);
        }
        if (status)
            return status;
    }
    if (out->wal && !out->analyze)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "EXPLAIN option WAL requires ANALYZE");
    if (timing_said && out->timing && !out->analyze)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "EXPLAIN option TIMING requires ANALYZE");
    if (!timing_said)
        out->timing = out->analyze;
    if (!summary_said)
        out->summary = out->analyze;
    return STATUS_OK;
}

/* EXPLAIN (SETTINGS): what the planner looks at and isn't as it comes. */
static void explain_settings(struct session *session, struct explain_options *out)
{
    static const char *const others[] = {"work_mem", "effective_io_concurrency", "max_parallel_workers", "max_parallel_workers_per_gather", "search_path", "enable_parallel"};
    out->settings = arena_alloc(session->statement_arena, settings_count() * sizeof *out->settings);
    for (size_t i = 0; i < settings_count(); i++) {
        struct setting_row row;
        const char *name;
        settings_row(session, i, session->statement_arena, &row);
        bool wanted = !strncmp(row.category, "Query Tuning", 12);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            wanted |= !strcmp(row.name, others[k]);
        if (!wanted || !strcmp(row.value, row.boot_value))
            continue;
        if (settings_show(session, row.name, session->statement_arena, &out->settings[out->setting_count].value, &name))
            error_clear();
        else
            out->settings[out->setting_count++].name = row.name;
    }
}

/* EXPLAIN of CREATE TABLE AS. With ANALYZE the table is made. */
static enum status explain_create(struct session *session, const char *sql, const struct statement *create, struct explain_options *options, char ***lines, int *count)
{
    struct exec_counters counters = {0};
    struct prepared_plan *plan;
    enum status status = STATUS_OK;
    uint64_t started = now_us();
    *lines = NULL;
    *count = 0;
    if (options->analyze && txn_read_only(session->txn))
        status = error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute %s in a read-only transaction", statement_tag(create));
    if (!status)
        status = ddl_explain(session, create, sql, options->analyze ? &counters : NULL, &plan);
    if (status || !plan)
        return status;
    options->planning_us = now_us() - started - counters.run_us;
    return explain_plan(plan, options, options->analyze ? &counters : NULL, session->statement_arena, lines, count);
}

/* With ANALYZE it is run, its rows are thrown away. */
static enum status explain_lines(struct session *session, const struct prepared_plan *plan, const struct explain_options *options, const struct value *parameters, char ***lines, int *count)
{
    struct arena *arena = session->statement_arena;
    struct exec_counters counters = {0};
    if (options->analyze) {
        enum status status = plan_may_run(session, plan);
        if (status)
            return status;
        counters.nodes = arena_array(arena, struct node_counters, plan->node_count + 1);
        status = statement_snapshot(session);
        if (status)
            return status;
        uint64_t started = now_us();
        struct exec_request request = {.session = session, .plan = plan, .snapshot = &session->snapshot, .parameters = parameters, .counters = &counters};
        status = exec_run(&request);
        if (status)
            return status;
        counters.run_us = now_us() - started;
    }
    return explain_plan(plan, options, options->analyze ? &counters : NULL, arena, lines, count);
}

static enum status plan_rows(struct session *session, char **lines, int count, bool describe, const uint16_t *formats, uint16_t format_count)
{
    static const char *const names[] = {"QUERY PLAN"};
    return text_rows(session, names, 1, lines, (size_t)count, describe, formats, format_count);
}

static enum status execute_values(struct session *session, const char *sql, const struct execute_statement *s, struct prepared *prepared, struct value **out);

static enum status explain_run(struct session *session, const char *sql, const struct explain_statement *s, const struct portal *bound, bool describe,
                               const uint16_t *formats, uint16_t format_count, const char **tag)
{
    *tag = "EXPLAIN";
    struct arena *arena = session->statement_arena;
    struct explain_options options;
    enum status status = explain_options_read(&s->options, &options);
    if (status)
        return status;
    const struct statement *inner = s->statement;
    const struct prepared_plan *plan;
    struct value *values = bound ? bound->parameters : NULL;
    struct prepared *prepared = NULL;
    const struct pool_touched before = pool_touched;
    uint64_t plan_started = now_us();
    if (inner->kind == STATEMENT_EXECUTE) {
        prepared = prepared_find(session, inner->execute->name);
        if (!prepared)
            return error_set(STATUS_INVALID_STATEMENT_NAME, "prepared statement \"%s\" does not exist", inner->execute->name);
        prepared->uses++;
        status = prepared->plannable ? prepared_plan_now(session, prepared) : error_set(STATUS_FEATURE_NOT_SUPPORTED, "EXPLAIN of this prepared statement is not supported");
        if (!status)
            status = execute_values(session, sql, inner->execute, prepared, &values);
        if (!status)
            status = prepared_plan_for(session, prepared, values);
        if (status) {
            prepared_release(session, prepared);
            return status;
        }
        plan = prepared->plan;
    } else {
        if (inner->kind == STATEMENT_CREATE_TABLE_AS) {
            char **lines;
            int count;
            if (options.show_settings)
                explain_settings(session, &options);
            status = explain_create(session, sql, inner, &options, &lines, &count);
            return status ? status : plan_rows(session, lines, count, describe, formats, format_count);
        }
        if (inner->kind == STATEMENT_UNSUPPORTED)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "%s is not supported", inner->unsupported->feature);
        if (inner->kind == STATEMENT_DECLARE_CURSOR) {
            struct statement *select = arena_new(arena, struct statement);
            *select = *inner;
            select->kind = STATEMENT_SELECT;
            select->select = inner->declare_cursor->select;
            inner = select;
        }
        if (!statement_is_planned(inner->kind))
            return error_set(STATUS_SYNTAX, "EXPLAIN is not possible for %s", statement_tag(inner));
        struct plan_request request = {.session = session, .arena = arena, .sql = sql, .statement = inner};   /* no parameters */
        if (bound && bound->prepared->parameter_count) {
            request.parameter_count = bound->prepared->parameter_count;
            request.parameter_types = bound->prepared->parameter_types;
        }
        struct prepared_plan *made;
        status = plan_statement(&request, &made);
        if (status)
            return status;
        plan = made;
    }
    options.planning_us = now_us() - plan_started;
    options.planning_hit = pool_touched.hits - before.hits;
    options.planning_read = pool_touched.reads - before.reads;
    if (options.show_settings)
        explain_settings(session, &options);
    char **lines;
    int count;
    status = explain_lines(session, plan, &options, values, &lines, &count);
    if (prepared)
        prepared_release(session, prepared);
    if (status)
        return status;
    return plan_rows(session, lines, count, describe, formats, format_count);
}

/* ---------------------------------------------------------------- PREPARE, EXECUTE, DEALLOCATE */

static enum status prepare_run(struct session *session, const char *sql, const struct statement *statement, const char **tag)
{
    const struct prepare_statement *s = statement->prepare;
    *tag = "PREPARE";
    uint32_t *types = arena_array(session->statement_arena, uint32_t, s->type_count + 1);
    for (int i = 0; i < s->type_count; i++) {
        const struct type_name *name = s->types[i];
        const struct type_info *info = type_by_name(name->name);
        if (!info) {
            error_set(STATUS_UNDEFINED_OBJECT, "type \"%s\" does not exist", name->name);
            error_position(name->position);
            return STATUS_UNDEFINED_OBJECT;
        }
        types[i] = name->dimensions ? type_array_of(info->oid) : info->oid;
        if (types[i] == OID_UNKNOWN)
            types[i] = 0;
    }
    struct prepared *prepared;
    return prepared_make(session, s->name, sql + statement->start - 1, (size_t)statement->length, statement, types, (uint16_t)s->type_count, &prepared);
}

static enum status execute_values(struct session *session, const char *sql, const struct execute_statement *s, struct prepared *prepared, struct value **out)
{
    if (s->arguments.count != prepared->parameter_count) {
        error_set(STATUS_SYNTAX, "wrong number of parameters for prepared statement \"%s\"", s->name);
        error_detail("Expected %d parameters but got %d.", prepared->parameter_count, s->arguments.count);
        return STATUS_SYNTAX;
    }
    struct arena *arena = session->statement_arena;
    enum status status = STATUS_OK;
    *out = arena_array(arena, struct value, s->arguments.count + 1);
    for (int i = 0; !status && i < s->arguments.count; i++) {
        struct scalar *scalar;
        status = bind_expression(session, arena, sql, s->arguments.items[i], NULL, type_make(prepared->parameter_types[i], -1), "EXECUTE parameter", &scalar);
        if (!status)
            status = exec_scalar(session, scalar, NULL, arena, &(*out)[i]);
    }
    return status;
}

static enum status execute_run(struct session *session, const char *sql, const struct execute_statement *s, bool describe, const uint16_t *formats,
                               uint16_t format_count, const char **tag)
{
    struct arena *arena = session->statement_arena;
    struct prepared *prepared = prepared_find(session, s->name);
    if (!prepared)
        return error_set(STATUS_INVALID_STATEMENT_NAME, "prepared statement \"%s\" does not exist", s->name);
    enum status status = STATUS_OK;
    struct value *values = NULL;
    prepared->uses++;
    if (prepared->plannable)
        status = prepared_plan_now(session, prepared);
    if (!status)
        status = execute_values(session, sql, s, prepared, &values);
    if (!status && prepared->plannable)
        status = prepared_plan_for(session, prepared, values);
    if (!status && prepared->plannable) {
        uint64_t rows = 0;
        status = plan_run_to_client(session, prepared->plan, values, describe, formats, format_count, &rows);
        *tag = command_tag(arena, prepared->plan, rows);
    } else if (!status) {
        struct portal bound = {.prepared = prepared, .parameters = values};
        status = utility_run(session, prepared->sql, prepared->statement, &bound, describe, formats, format_count, tag);
    }
    prepared_release(session, prepared);
    return status;
}

static enum status deallocate_run(struct session *session, const struct deallocate_statement *s, const char **tag)
{
    if (!s->name) {
        prepared_drop_all(session);
        *tag = "DEALLOCATE ALL";
        return STATUS_OK;
    }
    *tag = "DEALLOCATE";
    if (!prepared_find(session, s->name))
        return error_set(STATUS_INVALID_STATEMENT_NAME, "prepared statement \"%s\" does not exist", s->name);
    return session_close_statement(session, s->name);
}

/* ---------------------------------------------------------------- the rest */

static enum status lock_run(struct session *session, const struct lock_table_statement *s, const char **tag)
{
    *tag = "LOCK TABLE";
    if (session->block == BLOCK_IMPLICIT)
        return error_set(STATUS_NO_ACTIVE_TRANSACTION, "LOCK TABLE can only be used in transaction blocks");
    for (int i = 0; i < s->relations.count; i++) {
        const struct table *table;
        struct relation_name name = *s->relations.items[i];
        name.position = 0;                                    /* PostgreSQL points at no name here */
        enum status status = catalog_open(session, &name, s->nowait ? LOCK_ACCESS_SHARE : (enum table_lock)s->mode, &table);
        if (!status && s->nowait)
            status = lock_relation(session->txn, table->oid, (enum table_lock)s->mode, LOCK_NOWAIT);
        if (status == STATUS_LOCK_NOT_AVAILABLE && s->nowait)
            error_set(status, "could not obtain lock on relation \"%s\"", s->relations.items[i]->name);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status not_in_block(struct session *session, const char *what)
{
    if (session_in_transaction_block(session) || session->several)
        return error_set(STATUS_ACTIVE_TRANSACTION, "%s cannot run inside a transaction block", what);
    return STATUS_OK;
}

static enum status discard_run(struct session *session, const struct discard_statement *s, const char **tag)
{
    static const char *const tags[] = {[DISCARD_ALL] = "DISCARD ALL", [DISCARD_PLANS] = "DISCARD PLANS", [DISCARD_SEQUENCES] = "DISCARD SEQUENCES", [DISCARD_TEMP] = "DISCARD TEMP"};
    *tag = tags[s->kind];
    if (s->kind != DISCARD_ALL)
        return STATUS_OK;
    enum status status = not_in_block(session, "DISCARD ALL");
    if (status)
        return status;
    while (session->portals)
        portal_close(session, session->portals);
    prepared_drop_all(session);
    return settings_reset_all(session);
}

enum status utility_run(struct session *session, const char *sql, const struct statement *statement, const struct portal *bound, bool describe,
                        const uint16_t *formats, uint16_t format_count, const char **tag)
{
    enum status status;
    if (statement->kind == STATEMENT_TRANSACTION)
        return transaction_statement_run(session, statement->transaction, tag);
    status = transaction_need(session);
    if (status)
        return status;
    switch (statement->kind) {                                /* without a snapshot: SET TRANSACTION ISOLATION LEVEL may still follow */
    case STATEMENT_SET: return set_run(session, statement->set, tag);
    case STATEMENT_SHOW: return show_run(session, statement->show, describe, formats, format_count, tag);
    default: break;
    }
    bool queried = session->queried;
    status = statement_snapshot(session);
    if (status)
        return status;
    switch (statement->kind) {
    case STATEMENT_SET_CONSTRAINTS: *tag = "SET CONSTRAINTS"; return STATUS_OK;
    case STATEMENT_EXPLAIN: return explain_run(session, sql, statement->explain, bound, describe, formats, format_count, tag);
    case STATEMENT_PREPARE: return prepare_run(session, sql, statement, tag);
    case STATEMENT_EXECUTE: return execute_run(session, sql, statement->execute, describe, formats, format_count, tag);
    case STATEMENT_DEALLOCATE: return deallocate_run(session, statement->deallocate, tag);
    case STATEMENT_DECLARE_CURSOR: return cursor_declare(session, statement->declare_cursor, statement, sql, bound, tag);
    case STATEMENT_FETCH: {
        struct portal *portal = portal_find(session, statement->fetch->cursor);
        if (describe && portal && portal->store && !statement->fetch->is_move) {
            status = session->client->describe(session->client, &portal->prepared->description, portal->formats, portal->format_count);
            if (status)
                return status;
        }
        return cursor_fetch(session, statement->fetch, bound, tag);
    }
    case STATEMENT_CLOSE_CURSOR: return cursor_close(session, statement->close_cursor->name, tag);
    case STATEMENT_COPY: return copy_run(session, sql, statement->copy, tag);
    case STATEMENT_VACUUM:
        *tag = "VACUUM";
        status = not_in_block(session, "VACUUM");
        return status ? status : vacuum_run(session, statement->vacuum, false);
    case STATEMENT_ANALYZE: *tag = "ANALYZE"; return vacuum_run(session, statement->vacuum, true);
    case STATEMENT_LOCK:
        status = lock_run(session, statement->lock_table, tag);
        statement_snapshot_done(session);
        if (!queried) {                  /* REPEATABLE READ sees what was committed when the lock was had */
            txn_snapshot_forget(session->txn);
            session->queried = false;
        }
        return status;
    case STATEMENT_DISCARD: return discard_run(session, statement->discard, tag);
    case STATEMENT_CHECKPOINT: *tag = "CHECKPOINT"; return store_checkpoint(session->engine->store);
    case STATEMENT_LISTEN: case STATEMENT_UNLISTEN: case STATEMENT_NOTIFY:
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "%s is not supported", statement_tag(statement));
    case STATEMENT_UNSUPPORTED: return error_set(STATUS_FEATURE_NOT_SUPPORTED, "%s is not supported", statement->unsupported->feature);
    default: break;
    }
    if (ddl_handles(statement->kind)) {
        uint64_t rows = 0;
        if (txn_read_only(session->txn))
            return error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute %s in a read-only transaction", statement_tag(statement));
        if (statement->kind == STATEMENT_CREATE_INDEX && statement->create_index->concurrently)
            status = not_in_block(session, "CREATE INDEX CONCURRENTLY");
        if (!status)
            status = ddl_execute(session, statement, sql, &rows);
        *tag = statement->kind == STATEMENT_CREATE_TABLE_AS && !statement->create_table_as->with_no_data ? arena_printf(session->statement_arena, "SELECT %llu", (unsigned long long)rows) : statement_tag(statement);
        return status;
    }
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "%s is not supported", statement_tag(statement));
}

bool utility_returns_rows(struct session *session, struct arena *arena, const struct statement *statement, struct result_description *out)
{
    static const char *const plan_names[] = {"QUERY PLAN"}, *const all_names[] = {"name", "setting", "description"};
    memset(out, 0, sizeof *out);
    switch (statement->kind) {
    case STATEMENT_EXPLAIN: text_description(arena, plan_names, 1, out); return true;
    case STATEMENT_SHOW: {
        const char *value, *name;
        if (!strcasecmp(statement->show->name, "all")) {
            text_description(arena, all_names, 3, out);
            return true;
        }
        if (settings_show(session, statement->show->name, arena, &value, &name)) {
            error_clear();
            name = statement->show->name;
        }
        const char *const *names = arena_copy(arena, &name, sizeof name);
        text_description(arena, names, 1, out);
        return true;
    }
    case STATEMENT_EXECUTE: {
        struct prepared *prepared = prepared_find(session, statement->execute->name);
        if (!prepared || !prepared->returns_rows)
            return false;
        *out = prepared->description;
        return true;
    }
    case STATEMENT_FETCH: {
        struct portal *portal = portal_find(session, statement->fetch->cursor);
        if (!portal || statement->fetch->is_move)
            return false;
        *out = portal->prepared->description;
        return true;
    }
    default: return false;
    }
}

enum status statement_run(struct session *session, const char *sql, const struct statement *statement, const char **tag)
{
    if (!statement_is_planned(statement->kind))
        return utility_run(session, sql, statement, NULL, true, NULL, 0, tag);
    enum status status = transaction_need(session);
    if (!status)
        status = statement_snapshot(session);
    if (status)
        return status;
    struct plan_request request = {.session = session, .arena = session->statement_arena, .sql = sql, .statement = statement};   /* no parameters */
    struct prepared_plan *plan;
    status = plan_statement(&request, &plan);
    if (status)
        return status;
    uint64_t rows = 0;
    status = plan_run_to_client(session, plan, NULL, true, NULL, 0, &rows);
    *tag = command_tag(session->statement_arena, plan, rows);
    return status;
}
