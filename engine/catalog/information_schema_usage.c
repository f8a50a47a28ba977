/* engine/catalog/information_schema_usage.c - the standard's views of who may what (one superuser: everything), what uses what, and
 * functions; information_schema.c has those of tables and their constraints. */
#include "engine/catalog/views_private.h"

#include <string.h>

#include "engine/describe.h"
#include "engine/types/function.h"
#include "parser/parser.h"

#define ROW(sink, ...) do { const struct value row_values[] = {__VA_ARGS__}; enum status row_status = (sink)->row((sink), row_values); if (row_status) return row_status; } while (0)

static struct value database_of(struct session *session) { return value_text(session_database(session)); }
static struct value text(const char *s) { return value_text(s); }

/* Of a wide row: the column called name. All others are null. */
static void set(struct row_sink *sink, struct value *row, const char *name, struct value value)
{
    for (uint16_t i = 0; i < sink->table->column_count; i++)
        if (!strcmp(sink->table->columns[i].name, name)) {
            row[i] = value;
            return;
        }
    panic("%s has no column %s", sink->table->name, name);
}

static struct value *wide_row(struct row_sink *sink)
{
    struct value *row = arena_array(sink->arena, struct value, sink->table->column_count);
    for (uint16_t i = 0; i < sink->table->column_count; i++)
        row[i] = value_null();
    return row;
}

/* ---------------------------------------------------------------- single rows */

enum status fill_is_catalog_name(struct session *session, struct row_sink *sink)
{
    ROW(sink, database_of(session));
    return STATUS_OK;
}

enum status fill_is_enabled_roles(struct session *session, struct row_sink *sink)
{
    (void)session;
    ROW(sink, text("postgres"));
    return STATUS_OK;
}

enum status fill_is_character_sets(struct session *session, struct row_sink *sink)
{
    struct value null = value_null(), database = database_of(session);
    ROW(sink, null, null, text("UTF8"), text("UCS"), text("UTF8"), database, null, null);
    return STATUS_OK;
}

static const char *const collations[] = {"default", "C", "POSIX", "ucs_basic"};

enum status fill_is_collations(struct session *session, struct row_sink *sink)
{
    for (size_t i = 0; i < sizeof collations / sizeof collations[0]; i++)
        ROW(sink, database_of(session), text("pg_catalog"), text(collations[i]), text("NO PAD"));
    return STATUS_OK;
}

enum status fill_is_collation_character_sets(struct session *session, struct row_sink *sink)
{
    for (size_t i = 0; i < sizeof collations / sizeof collations[0]; i++)
        ROW(sink, database_of(session), text("pg_catalog"), text(collations[i]), value_null(), value_null(), text("UTF8"));
    return STATUS_OK;
}

/* ---------------------------------------------------------------- rights: the superuser's, on everything */

static bool is_shown(const struct table *t) { return t->kind == RELATION_TABLE || t->kind == RELATION_VIEW; }

static enum status table_rights(struct session *session, struct row_sink *sink, const struct table *t)
{
    static const char *const rights[] = {"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"};
    for (size_t i = 0; is_shown(t) && i < sizeof rights / sizeof rights[0]; i++)
        ROW(sink, text("postgres"), text("postgres"), database_of(session), text(t->schema_name), text(t->name), text(rights[i]), text("YES"), text(i == 1 ? "YES" : "NO"));
    return STATUS_OK;
}
enum status fill_is_table_privileges(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, table_rights); }

static enum status column_rights(struct session *session, struct row_sink *sink, const struct table *t)
{
    static const char *const rights[] = {"SELECT", "INSERT", "UPDATE", "REFERENCES"};
    for (uint16_t c = 0; is_shown(t) && c < t->column_count; c++)
        for (size_t i = 0; !t->columns[c].dropped && i < sizeof rights / sizeof rights[0]; i++)
            ROW(sink, text("postgres"), text("postgres"), database_of(session), text(t->schema_name), text(t->name), text(t->columns[c].name), text(rights[i]), text("YES"));
    return STATUS_OK;
}
enum status fill_is_column_privileges(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, column_rights); }

enum status fill_is_usage_privileges(struct session *session, struct row_sink *sink)
{
    for (size_t i = 0; i < sizeof collations / sizeof collations[0]; i++)
        ROW(sink, text("postgres"), text("PUBLIC"), database_of(session), text("pg_catalog"), text(collations[i]), text("COLLATION"), text("USAGE"), text("NO"));
    return STATUS_OK;
}

/* ---------------------------------------------------------------- what uses what */

static enum status constraint_tables(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value database = database_of(session), schema = text(t->schema_name);
    if (t->kind != RELATION_TABLE || t->system)
        return STATUS_OK;
    for (uint16_t i = 0; i < t->index_count; i++)
        if (t->indexes[i].constraint)
            ROW(sink, database, schema, text(t->name), database, schema, text(t->indexes[i].name));
    for (uint16_t i = 0; i < t->foreign_key_count; i++) {
        const struct table *r;
        enum status status = catalog_table(session, t->foreign_keys[i].referenced, &r);
        if (status)
            return status;
        if (r)
            ROW(sink, database, text(r->schema_name), text(r->name), database, schema, text(t->foreign_keys[i].name));
    }
    return STATUS_OK;
}
enum status fill_is_constraint_table_usage(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, constraint_tables); }

static enum status view_tables(struct session *session, struct row_sink *sink, const struct table *t)
{
    uint32_t *oids, count;
    if (t->kind != RELATION_VIEW || t->virtual_table)
        return STATUS_OK;
    enum status status = describe_view_relations(session, sink->arena, t, &oids, &count);
    for (uint32_t i = 0; !status && i < count; i++) {
        const struct table *used;
        status = catalog_table(session, oids[i], &used);
        if (!status && used)
            ROW(sink, database_of(session), text(t->schema_name), text(t->name), database_of(session), text(used->schema_name), text(used->name));
    }
    return status;
}
enum status fill_is_view_table_usage(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, view_tables); }

static enum status generated_columns(struct session *session, struct row_sink *sink, const struct table *t)
{
    for (uint16_t i = 0; t->kind == RELATION_TABLE && i < t->column_count; i++) {
        const struct column *c = &t->columns[i];
        if (!c->generated || c->dropped || !c->default_expr)
            continue;
        bool *used = view_columns_named(sink->arena, t, c->default_expr);
        for (uint16_t k = 0; k < t->column_count; k++)
            if (used[k])
                ROW(sink, database_of(session), text(t->schema_name), text(t->name), text(t->columns[k].name), text(c->name));
    }
    return STATUS_OK;
}
enum status fill_is_column_column_usage(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, generated_columns); }

/* ---------------------------------------------------------------- functions */

/* What the standard calls a type: integer, ARRAY, USER-DEFINED. */
static const char *data_type(uint32_t oid)
{
    const struct type_info *info = type_info(oid);
    return !info ? NULL : info->category == 'A' && info->name[0] == '_' ? "ARRAY" : info->sql_name;
}

static struct value udt_name(uint32_t oid)
{
    const struct type_info *info = type_info(oid);
    return text(info ? info->name : NULL);
}

enum status fill_is_routines(struct session *session, struct row_sink *sink)
{
    struct value database = database_of(session), schema = text("pg_catalog");
    for (size_t i = 0; i < function_count(); i++) {
        const struct function *f = function_at(i);
        struct value *row = wide_row(sink);
        bool plain = f->kind == FUNCTION_SCALAR || f->kind == FUNCTION_SET;
        if (strchr(f->name, '.'))
            continue;
        set(sink, row, "specific_catalog", database);
        set(sink, row, "specific_schema", schema);
        set(sink, row, "specific_name", view_printf(sink, "%s_%u", f->name, f->oid));
        set(sink, row, "routine_catalog", database);
        set(sink, row, "routine_schema", schema);
        set(sink, row, "routine_name", text(f->name));
        set(sink, row, "routine_type", plain ? text("FUNCTION") : value_null());
        set(sink, row, "data_type", text(data_type(f->result)));
        set(sink, row, "type_udt_catalog", database);
        set(sink, row, "type_udt_schema", schema);
        set(sink, row, "type_udt_name", udt_name(f->result));
        set(sink, row, "dtd_identifier", text("0"));
        set(sink, row, "routine_body", text("EXTERNAL"));
        set(sink, row, "routine_definition", text(f->name));
        set(sink, row, "external_language", text("INTERNAL"));
        set(sink, row, "parameter_style", text("GENERAL"));
        set(sink, row, "is_deterministic", text(f->volatility == 'i' ? "YES" : "NO"));
        set(sink, row, "sql_data_access", text("MODIFIES"));
        set(sink, row, "is_null_call", text(f->strict ? "YES" : "NO"));
        set(sink, row, "schema_level_routine", text("YES"));
        set(sink, row, "max_dynamic_result_sets", value_i4(0));
        set(sink, row, "security_type", text("INVOKER"));
        set(sink, row, "as_locator", text("NO"));
        set(sink, row, "is_udt_dependent", text("NO"));
        set(sink, row, "result_cast_as_locator", value_null());
        enum status status = sink->row(sink, row);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status fill_is_parameters(struct session *session, struct row_sink *sink)
{
    struct value database = database_of(session), schema = text("pg_catalog");
    for (size_t i = 0; i < function_count(); i++) {
        const struct function *f = function_at(i);
        for (uint8_t a = 0; a < f->arg_count && !strchr(f->name, '.'); a++) {
            struct value *row = wide_row(sink);
            set(sink, row, "specific_catalog", database);
            set(sink, row, "specific_schema", schema);
            set(sink, row, "specific_name", view_printf(sink, "%s_%u", f->name, f->oid));
            set(sink, row, "ordinal_position", value_i4(a + 1));
            set(sink, row, "parameter_mode", text("IN"));
            set(sink, row, "is_result", text("NO"));
            set(sink, row, "as_locator", text("NO"));
            set(sink, row, "data_type", text(data_type(f->arg_types[a])));
            set(sink, row, "udt_catalog", database);
            set(sink, row, "udt_schema", schema);
            set(sink, row, "udt_name", udt_name(f->arg_types[a]));
            set(sink, row, "dtd_identifier", view_printf(sink, "%d", a + 1));
            enum status status = sink->row(sink, row);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}
