/* engine/catalog/information_schema.c - the SQL standard's views of the catalog, as far as tools ask for them. */
#include "engine/catalog/views_private.h"

#include <string.h>

#include "engine/describe.h"
#include "engine/types/function.h"

#define ROW(sink, ...) do { const struct value row_values[] = {__VA_ARGS__}; enum status row_status = (sink)->row((sink), row_values); if (row_status) return row_status; } while (0)

static struct value yes_no(bool yes) { return value_text(yes ? "YES" : "NO"); }
static struct value catalog_of(struct session *session) { return value_text(session_database(session)); }

static enum status table_row(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value null = value_null();
    if (t->kind != RELATION_TABLE && t->kind != RELATION_VIEW)
        return STATUS_OK;
    bool base = t->kind == RELATION_TABLE;
    ROW(sink, catalog_of(session), value_text(t->schema_name), value_text(t->name), value_text(base ? "BASE TABLE" : "VIEW"), null, null, null, null, null, yes_no(base), value_text("NO"), null);
    return STATUS_OK;
}
enum status fill_is_tables(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, table_row); }

/* ---------------------------------------------------------------- columns */

struct measures { struct value character_max, octets, precision, radix, scale, datetime; };

static struct measures measures_of(struct sql_type type)
{
    struct value null = value_null();
    struct measures m = {null, null, null, null, null, null};
    switch (type.oid) {
    case OID_VARCHAR: case OID_BPCHAR:
        if (type.typmod >= 4)
            m.character_max = value_i4(type.typmod - 4);
        m.octets = value_i4(type.typmod >= 4 ? (type.typmod - 4) * 4 : 1073741824);
        break;
    case OID_TEXT: m.octets = value_i4(1073741824); break;
    case OID_INT2: m.precision = value_i4(16); m.radix = value_i4(2); m.scale = value_i4(0); break;
    case OID_INT4: m.precision = value_i4(32); m.radix = value_i4(2); m.scale = value_i4(0); break;
    case OID_INT8: m.precision = value_i4(64); m.radix = value_i4(2); m.scale = value_i4(0); break;
    case OID_FLOAT4: m.precision = value_i4(24); m.radix = value_i4(2); break;
    case OID_FLOAT8: m.precision = value_i4(53); m.radix = value_i4(2); break;
    case OID_NUMERIC:
        m.radix = value_i4(10);
        if (type.typmod >= 4) {
            m.precision = value_i4((type.typmod - 4) >> 16 & 0xFFFF);
            m.scale = value_i4((type.typmod - 4) & 0x7FF);
        }
        break;
    case OID_DATE: m.datetime = value_i4(0); break;
    case OID_TIME: case OID_TIMESTAMP: case OID_TIMESTAMPTZ: m.datetime = value_i4(type.typmod < 0 ? 6 : type.typmod); break;
    case OID_INTERVAL: m.datetime = value_i4(6); break;
    default: break;
    }
    return m;
}

static enum status column_rows(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value null = value_null(), database = catalog_of(session);
    struct catalog_access access;
    catalog_access_open(session, sink->arena, &access);
    if (t->kind != RELATION_TABLE && t->kind != RELATION_VIEW)
        return STATUS_OK;
    for (uint16_t i = 0; i < t->column_count; i++) {
        const struct column *c = &t->columns[i];
        const struct type_info *info = type_info(c->type.oid);
        if (c->dropped || !info)
            continue;
        struct measures m = measures_of(c->type);
        struct value start = null, increment = null, max = null, min = null, cycle = yes_no(false);
        if (c->identity) {
            struct value key = value_oid(c->sequence);
            struct catalog_row row;
            bool found;
            enum status status = catalog_get(&access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, &row, &found);
            if (status)
                return status;
            if (found) {
                start = view_printf(sink, "%lld", (long long)row.values[SEQUENCE_seqstart].i8);
                increment = view_printf(sink, "%lld", (long long)row.values[SEQUENCE_seqincrement].i8);
                max = view_printf(sink, "%lld", (long long)row.values[SEQUENCE_seqmax].i8);
                min = view_printf(sink, "%lld", (long long)row.values[SEQUENCE_seqmin].i8);
                cycle = yes_no(row.values[SEQUENCE_seqcycle].b);
            }
        }
        const char *expr = c->default_text ? describe_expr(session, sink->arena, t, c->generated ? (struct sql_type){0} : c->type, c->default_text, false) : NULL;
        bool array = info->category == 'A' && info->name[0] == '_', named = c->type.oid == OID_NAME;   /* the one type whose collation is not the default */
        ROW(sink, database, value_text(t->schema_name), value_text(t->name), value_text(c->name), value_i4(c->number), c->generated ? null : value_text(expr), yes_no(!c->not_null), value_text(array ? "ARRAY" : info->sql_name),
            m.character_max, m.octets, m.precision, m.radix, m.scale, m.datetime, null, null, null, null, null, named ? database : null, named ? value_text("pg_catalog") : null, named ? value_text("C") : null, null, null, null, database, value_text("pg_catalog"), value_text(info->name), null, null, null,
            null, view_printf(sink, "%d", c->number), value_text("NO"), yes_no(c->identity != 0), c->identity ? value_text(c->identity == 'a' ? "ALWAYS" : "BY DEFAULT") : null, start, increment, max, min, cycle,
            value_text(c->generated ? "ALWAYS" : "NEVER"), c->generated ? value_text(expr) : null, yes_no(t->kind == RELATION_TABLE));
    }
    return STATUS_OK;
}
enum status fill_is_columns(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, column_rows); }

/* ---------------------------------------------------------------- schemas, views, sequences */

struct fill { struct session *session; struct row_sink *sink; };
static enum status schema_row(void *context, const struct catalog_row *row)
{
    struct fill *f = context;
    struct value null = value_null();
    ROW(f->sink, catalog_of(f->session), row->values[NAMESPACE_nspname], value_text("postgres"), null, null, null, null);
    return STATUS_OK;
}
enum status fill_is_schemata(struct session *session, struct row_sink *sink)
{
    struct fill f = {session, sink};
    struct catalog_access access;
    catalog_access_open(session, sink->arena, &access);
    return catalog_scan(&access, CATALOG_NAMESPACE, -1, NULL, 0, schema_row, &f);
}

static enum status view_row(struct session *session, struct row_sink *sink, const struct table *t)
{
    char *text;
    if (t->kind != RELATION_VIEW || t->virtual_table)
        return STATUS_OK;
    enum status status = describe_view(session, sink->arena, t->oid, false, &text);
    struct value no = value_text("NO");
    if (!status)
        ROW(sink, catalog_of(session), value_text(t->schema_name), value_text(t->name), value_text(text), value_text("NONE"), no, no, no, no, no);
    return status;
}
enum status fill_is_views(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, view_row); }

static enum status sequence_row(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct catalog_access access;
    struct catalog_row row;
    struct value key = value_oid(t->oid);
    bool found;
    if (t->kind != RELATION_SEQUENCE)
        return STATUS_OK;
    catalog_access_open(session, sink->arena, &access);
    enum status status = catalog_get(&access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, &row, &found);
    if (status || !found)
        return status;
    const struct value *v = row.values;
    const struct type_info *info = type_info(v[SEQUENCE_seqtypid].oid);
    const struct table *owner;
    int16_t column = v[SEQUENCE_crab_column].i2;
    status = catalog_table(session, v[SEQUENCE_crab_table].oid, &owner);
    if (status || (owner && column > 0 && column <= owner->column_count && owner->columns[column - 1].identity))
        return status;                                        /* an identity column's own is not shown */
    ROW(sink, catalog_of(session), value_text(t->schema_name), value_text(t->name), value_text(info->sql_name), value_i4(info->length * 8), value_i4(2), value_i4(0), view_printf(sink, "%lld", (long long)v[SEQUENCE_seqstart].i8),
        view_printf(sink, "%lld", (long long)v[SEQUENCE_seqmin].i8), view_printf(sink, "%lld", (long long)v[SEQUENCE_seqmax].i8), view_printf(sink, "%lld", (long long)v[SEQUENCE_seqincrement].i8), yes_no(v[SEQUENCE_seqcycle].b));
    return STATUS_OK;
}
enum status fill_is_sequences(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, sequence_row); }

/* ---------------------------------------------------------------- constraints */

static const char *constraint_name(struct catalog_access *access, uint32_t oid, const char *otherwise)
{
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    if (!oid || catalog_get(access, CATALOG_CONSTRAINT, CONSTRAINT_BY_OID, &key, 1, &row, &found) || !found)
        return otherwise;
    return value_string(access->arena, &row.values[CONSTRAINT_conname]);
}

static enum status table_constraints(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value database = catalog_of(session), schema = value_text(t->schema_name), name = value_text(t->name), null = value_null();
    struct catalog_access access;
    catalog_access_open(session, sink->arena, &access);
    if (t->kind != RELATION_TABLE || t->system)
        return STATUS_OK;
    for (uint16_t i = 0; i < t->check_count; i++)
        ROW(sink, database, schema, value_text(t->checks[i].name), database, schema, name, value_text("CHECK"), value_text("NO"), value_text("NO"), value_text("YES"), null);
    for (uint16_t i = 0; i < t->index_count; i++)
        if (t->indexes[i].constraint)
            ROW(sink, database, schema, value_text(constraint_name(&access, t->indexes[i].constraint, t->indexes[i].name)), database, schema, name, value_text(t->indexes[i].primary ? "PRIMARY KEY" : "UNIQUE"), value_text("NO"),
                value_text("NO"), value_text("YES"), t->indexes[i].primary ? null : yes_no(!t->indexes[i].nulls_not_distinct));
    for (uint16_t i = 0; i < t->foreign_key_count; i++)
        ROW(sink, database, schema, value_text(t->foreign_keys[i].name), database, schema, name, value_text("FOREIGN KEY"), yes_no(t->foreign_keys[i].deferrable), yes_no(t->foreign_keys[i].initially_deferred), value_text("YES"), null);
    for (uint16_t i = 0; i < t->column_count; i++)
        if (t->columns[i].not_null && !t->columns[i].dropped)
            ROW(sink, database, schema, view_printf(sink, "%u_%u_%d_not_null", t->schema, t->oid, i + 1), database, schema, name, value_text("CHECK"), value_text("NO"), value_text("NO"), value_text("YES"), null);
    return STATUS_OK;
}
enum status fill_is_table_constraints(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, table_constraints); }

static enum status key_columns(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value database = catalog_of(session), schema = value_text(t->schema_name), name = value_text(t->name), null = value_null();
    if (t->kind != RELATION_TABLE || t->system)
        return STATUS_OK;
    for (uint16_t i = 0; i < t->index_count; i++)
        for (uint16_t k = 0; t->indexes[i].constraint && k < t->indexes[i].column_count; k++)
            ROW(sink, database, schema, value_text(t->indexes[i].name), database, schema, name, value_text(t->columns[t->indexes[i].columns[k].column - 1].name), value_i4(k + 1), null);
    for (uint16_t i = 0; i < t->foreign_key_count; i++) {
        const struct foreign_key *key = &t->foreign_keys[i];
        const struct table *referenced;
        enum status status = catalog_table(session, key->referenced, &referenced);
        if (status)
            return status;
        const struct index *index = referenced ? table_index(referenced, key->index) : NULL;
        for (uint16_t k = 0; k < key->column_count; k++) {
            struct value position = null;
            for (uint16_t x = 0; index && x < index->column_count; x++)
                if (index->columns[x].column == key->referenced_columns[k])
                    position = value_i4(x + 1);
            ROW(sink, database, schema, value_text(key->name), database, schema, name, value_text(t->columns[key->columns[k] - 1].name), value_i4(k + 1), position);
        }
    }
    return STATUS_OK;
}
enum status fill_is_key_column_usage(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, key_columns); }

static enum status used_columns(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value database = catalog_of(session), schema = value_text(t->schema_name), name = value_text(t->name);
    if (t->kind != RELATION_TABLE || t->system)
        return STATUS_OK;
    for (uint16_t i = 0; i < t->index_count; i++)
        for (uint16_t k = 0; t->indexes[i].constraint && k < t->indexes[i].column_count; k++)
            ROW(sink, database, schema, name, value_text(t->columns[t->indexes[i].columns[k].column - 1].name), database, schema, value_text(t->indexes[i].name));
    for (uint16_t i = 0; i < t->check_count; i++) {
        bool *used = view_columns_named(sink->arena, t, t->checks[i].expr);
        for (uint16_t k = 0; k < t->column_count; k++)
            if (used[k])
                ROW(sink, database, schema, name, value_text(t->columns[k].name), database, schema, value_text(t->checks[i].name));
    }
    for (uint16_t i = 0; i < t->foreign_key_count; i++) {
        const struct foreign_key *key = &t->foreign_keys[i];
        const struct table *r;
        enum status status = catalog_table(session, key->referenced, &r);
        if (status)
            return status;
        for (uint16_t k = 0; r && k < key->column_count; k++)
            ROW(sink, database, value_text(r->schema_name), value_text(r->name), value_text(r->columns[key->referenced_columns[k] - 1].name), database, schema, value_text(key->name));
    }
    return STATUS_OK;
}
enum status fill_is_constraint_column_usage(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, used_columns); }

static const char *rule(enum foreign_action action)
{
    switch (action) {
    case ACTION_RESTRICT: return "RESTRICT";
    case ACTION_CASCADE: return "CASCADE";
    case ACTION_SET_NULL: return "SET NULL";
    case ACTION_SET_DEFAULT: return "SET DEFAULT";
    default: return "NO ACTION";
    }
}

static enum status references(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value database = catalog_of(session);
    for (uint16_t i = 0; i < t->foreign_key_count; i++) {
        const struct foreign_key *key = &t->foreign_keys[i];
        const struct table *r;
        enum status status = catalog_table(session, key->referenced, &r);
        if (status || !r)
            return status;
        const struct index *index = table_index(r, key->index);
        ROW(sink, database, value_text(t->schema_name), value_text(key->name), database, value_text(r->schema_name), value_text(index ? index->name : NULL), value_text(key->match == MATCH_FULL ? "FULL" : "NONE"),
            value_text(rule(key->on_update)), value_text(rule(key->on_delete)));
    }
    return STATUS_OK;
}
enum status fill_is_referential_constraints(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, references); }

static enum status checks(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value database = catalog_of(session), schema = value_text(t->schema_name);
    if (t->kind != RELATION_TABLE || t->system)
        return STATUS_OK;
    for (uint16_t i = 0; i < t->check_count; i++)
        ROW(sink, database, schema, value_text(t->checks[i].name), view_printf(sink, "(%s)", describe_expr(session, sink->arena, t, (struct sql_type){0}, t->checks[i].text, false)));
    for (uint16_t i = 0; i < t->column_count; i++)
        if (t->columns[i].not_null && !t->columns[i].dropped)
            ROW(sink, database, schema, view_printf(sink, "%u_%u_%d_not_null", t->schema, t->oid, i + 1), view_printf(sink, "%s IS NOT NULL", t->columns[i].name));
    return STATUS_OK;
}
enum status fill_is_check_constraints(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, checks); }
