/* engine/functions_describe.c - functions that tell what the catalog holds: definitions, comments, sizes. */
#include "engine/functions.h"

#include <string.h>

#include "engine/describe.h"
#include "engine/session.h"
#include "parser/parser.h"

static bool pretty(const struct row_call *c, const struct value *args, uint16_t at)
{
    return c->arg_count > at && c->arg_types[at].oid == OID_BOOL && args[at].b;
}

ROW_FUNCTION(pg_get_expr)
{
    char *text = text_argument(c, &args[0]);
    const struct table *table;
    struct sql_type want = {0};
    enum status status = catalog_table(c->session, args[1].oid, &table);
    for (uint16_t i = 0; !status && table && i < table->column_count; i++)         /* a default is shown as a value of its column */
        if (table->columns[i].default_text && !table->columns[i].generated && !strcmp(table->columns[i].default_text, text))
            want = table->columns[i].type;
    if (!status)
        *out = value_text(describe_expr(c->session, c->arena, table, want, text, pretty(c, args, 2)));
    return status;
}

static enum status text_result(enum status status, const char *text, struct value *out)
{
    if (!status && text)
        *out = value_text(text);
    return status;
}

ROW_FUNCTION(pg_get_constraintdef)
{
    char *text;
    enum status status = describe_constraint(c->session, c->arena, args[0].oid, pretty(c, args, 1), &text);
    return text_result(status, status ? NULL : text, out);
}
ROW_FUNCTION(pg_get_indexdef)
{
    char *text;
    enum status status = describe_index(c->session, c->arena, args[0].oid, 0, false, &text);
    return text_result(status, status ? NULL : text, out);
}
ROW_FUNCTION(pg_get_indexdef_column)
{
    char *text;
    enum status status = describe_index(c->session, c->arena, args[0].oid, args[1].i4, pretty(c, args, 2), &text);
    return text_result(status, status ? NULL : text, out);
}
ROW_FUNCTION(pg_get_viewdef)
{
    char *text;
    enum status status = describe_view(c->session, c->arena, args[0].oid, pretty(c, args, 1) || (c->arg_count > 1 && c->arg_types[1].oid == OID_INT4), &text);
    return text_result(status, status ? NULL : text, out);
}
ROW_FUNCTION(pg_get_viewdef_name)
{
    struct value by_oid[2] = {0};
    struct value text = args[0];
    if (c->arg_count > 1)
        by_oid[1] = args[1];
    enum status status = type_in(type_make(OID_REGCLASS, -1), (const char *)text.v.bytes, text.v.length, c->arena, &by_oid[0]);
    return status ? status : pg_get_viewdef_row(c, by_oid, out);
}

ROW_FUNCTION(pg_get_function_arguments)
{
    const struct function *f = function_by_oid(args[0].oid);
    struct text_buffer text;
    if (!f)
        return STATUS_OK;
    text_buffer_open(&text, c->arena);
    text_buffer_puts(&text, "");
    for (uint8_t i = 0; i < f->arg_count; i++)
        text_buffer_printf(&text, "%s%s%s", i ? ", " : "", f->variadic && i + 1 == f->arg_count ? "VARIADIC " : "", type_format(f->arg_types[i], -1, c->arena));
    *out = value_text(text.bytes ? text.bytes : "");
    return STATUS_OK;
}
ROW_FUNCTION(pg_get_function_result)
{
    const struct function *f = function_by_oid(args[0].oid);
    if (f)
        *out = value_text(arena_printf(c->arena, "%s%s", f->kind == FUNCTION_SET ? "SETOF " : "", type_format(f->result, -1, c->arena)));
    return STATUS_OK;
}

/* ---------------------------------------------------------------- comments */

static enum status description(const struct row_call *c, uint32_t object, uint32_t class, int32_t column, struct value *out)
{
    struct catalog_access access;
    catalog_access_open(c->session, c->arena, &access);
    struct value keys[3] = {value_oid(object), value_oid(class), value_i4(column)};
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_DESCRIPTION, FIRST_INDEX, keys, class ? 3 : 1, &row, &found);
    if (!status && found && row.values[DESCRIPTION_objsubid].i4 == column)
        *out = row.values[DESCRIPTION_description];
    return status;
}

ROW_FUNCTION(obj_description)
{
    uint32_t class;
    enum status status = relation_by_name(c->session, "pg_catalog", text_argument(c, &args[1]), &class);
    return status || !class ? status : description(c, args[0].oid, class, 0, out);
}
ROW_FUNCTION(obj_description_any) { return description(c, args[0].oid, 0, 0, out); }
ROW_FUNCTION(col_description) { return description(c, args[0].oid, 1259, args[1].i4, out); }

/* ---------------------------------------------------------------- sequences of columns */

struct owned { uint32_t table; int16_t column; uint32_t sequence; };
static enum status owned_row(void *context, const struct catalog_row *row)
{
    struct owned *owned = context;
    if (row->values[SEQUENCE_crab_table].oid == owned->table && row->values[SEQUENCE_crab_column].i2 == owned->column)
        owned->sequence = row->values[SEQUENCE_seqrelid].oid;
    return STATUS_OK;
}
ROW_FUNCTION(pg_get_serial_sequence)
{
    struct value oid;
    char *column = text_argument(c, &args[1]);
    const struct table *table;
    enum status status = type_in(type_make(OID_REGCLASS, -1), (const char *)args[0].v.bytes, args[0].v.length, c->arena, &oid);
    if (!status)
        status = catalog_table(c->session, oid.oid, &table);
    if (status || !table)
        return status;
    int at = table_column(table, column);
    if (at < 0)
        return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", column, table->name);
    struct catalog_access access;
    catalog_access_open(c->session, c->arena, &access);
    struct owned owned = {.table = table->oid, .column = (int16_t)(at + 1)};
    status = catalog_scan(&access, CATALOG_SEQUENCE, -1, NULL, 0, owned_row, &owned);
    const char *schema, *name;
    char kind;
    if (status || !owned.sequence)
        return status;
    status = describe_relation(c->session, c->arena, owned.sequence, &schema, &name, &kind);
    if (!status && name)
        *out = value_text(arena_printf(c->arena, "%s.%s", quote_identifier(c->arena, schema), quote_identifier(c->arena, name)));
    return status;
}

/* ---------------------------------------------------------------- sizes */

static enum status file_bytes(const struct row_call *c, uint32_t file, int64_t *sum)
{
    uint32_t pages;
    if (!file)
        return STATUS_OK;
    enum status status = pool_file_pages(session_store(c->session)->pool, file, &pages);
    if (!status)
        *sum += (int64_t)pages * PAGE_BYTES;
    return status;
}

static enum status index_bytes(const struct row_call *c, const struct table *table, int64_t *sum)
{
    enum status status = STATUS_OK;
    for (uint16_t i = 0; !status && i < table->index_count; i++)
        status = file_bytes(c, table->indexes[i].tree.file, sum);
    return status;
}

/* parts: 1 its main file, 2 the others of a heap, 4 its indexes */
static enum status relation_bytes(const struct row_call *c, uint32_t oid, int parts, struct value *out)
{
    struct catalog_access access;
    catalog_access_open(c->session, c->arena, &access);
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    const struct table *table = NULL;
    int64_t sum = 0;
    enum status status = catalog_get(&access, CATALOG_CLASS, BY_OID, &key, 1, &row, &found);
    if (status || !found)
        return status;
    if (parts & 1)
        status = file_bytes(c, row.values[CLASS_relfilenode].oid, &sum);
    if (!status && (parts & 2)) {
        status = file_bytes(c, row.values[CLASS_crab_overflow].oid, &sum);
        if (!status)
            status = file_bytes(c, row.values[CLASS_crab_space].oid, &sum);
    }
    if (!status && (parts & 4) && row.values[CLASS_relkind].c != RELATION_INDEX)
        status = catalog_table(c->session, oid, &table);
    if (!status && table)
        status = index_bytes(c, table, &sum);
    *out = value_i8(sum);
    return status;
}
ROW_FUNCTION(pg_relation_size)
{
    if (c->arg_count > 1) {
        char *fork = text_argument(c, &args[1]);
        if (strcmp(fork, "main"))
            return !strcmp(fork, "fsm") || !strcmp(fork, "vm") || !strcmp(fork, "init") ? (*out = value_i8(0), STATUS_OK) : error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid fork name");
    }
    return relation_bytes(c, args[0].oid, 1, out);
}
ROW_FUNCTION(pg_table_size) { return relation_bytes(c, args[0].oid, 3, out); }
ROW_FUNCTION(pg_indexes_size) { return relation_bytes(c, args[0].oid, 4, out); }
ROW_FUNCTION(pg_total_relation_size) { return relation_bytes(c, args[0].oid, 7, out); }

struct all_files { const struct row_call *c; int64_t sum; };
static enum status class_bytes(void *context, const struct catalog_row *row)
{
    struct all_files *all = context;
    enum status status = file_bytes(all->c, row->values[CLASS_relfilenode].oid, &all->sum);
    if (!status)
        status = file_bytes(all->c, row->values[CLASS_crab_overflow].oid, &all->sum);
    return status ? status : file_bytes(all->c, row->values[CLASS_crab_space].oid, &all->sum);
}
ROW_FUNCTION(pg_database_size)
{
    (void)args;
    struct all_files all = {.c = c};
    struct catalog_access access;
    catalog_access_open(c->session, c->arena, &access);
    enum status status = catalog_scan(&access, CATALOG_CLASS, -1, NULL, 0, class_bytes, &all);
    *out = value_i8(all.sum);
    return status;
}
ROW_FUNCTION(pg_relation_filenode)
{
    struct catalog_access access;
    catalog_access_open(c->session, c->arena, &access);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_CLASS, BY_OID, &args[0], 1, &row, &found);
    if (!status && found && row.values[CLASS_relfilenode].oid)
        *out = row.values[CLASS_relfilenode];
    return status;
}

ROW_FUNCTION(pg_relation_filepath)
{
    struct value file = value_null();
    enum status status = pg_relation_filenode_row(c, args, &file);
    if (!status && !file.null)
        *out = value_text(arena_printf(c->arena, "base/5/%u", file.oid));
    return status;
}

/* Relations and their columns, by name; others by number. */
ROW_FUNCTION(pg_describe_object)
{
    static const struct { char kind; const char *name; } kinds[] = {{RELATION_TABLE, "table"}, {RELATION_VIEW, "view"}, {RELATION_INDEX, "index"}, {RELATION_SEQUENCE, "sequence"}};
    const char *schema, *name, *what = "relation";
    char kind = 0;
    if (args[0].oid != 1259)
        return STATUS_OK;
    enum status status = describe_relation(c->session, c->arena, args[1].oid, &schema, &name, &kind);
    if (status || !name)
        return status;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].kind == kind)
            what = kinds[i].name;
    char *shown = describe_relation_name(c->session, c->arena, schema, name, args[1].oid);
    const struct table *table = NULL;
    if (args[2].i4 > 0)
        status = catalog_table(c->session, args[1].oid, &table);
    if (table && args[2].i4 <= table->column_count)
        *out = value_text(arena_printf(c->arena, "column %s of %s %s", quote_identifier(c->arena, table->columns[args[2].i4 - 1].name), what, shown));
    else if (!status)
        *out = value_text(arena_printf(c->arena, "%s %s", what, shown));
    return status;
}

ROW_FUNCTION(pg_table_is_visible)
{
    const char *schema, *name;
    char kind;
    uint32_t found;
    enum status status = describe_relation(c->session, c->arena, args[0].oid, &schema, &name, &kind);
    if (status || !name)
        return status;
    status = relation_by_name(c->session, NULL, name, &found);
    *out = value_bool(found == args[0].oid);
    return status;
}
