/* engine/catalog/views_schema.c - lists of what is defined, for people (pg_tables, pg_indexes, pg_views …), and pg_depend, as far as the
 * catalogs tell it: which sequence belongs to which column, which index to which constraint. */
#include "engine/catalog/views_private.h"

#include <string.h>

#include "engine/catalog/sequence.h"
#include "engine/describe.h"
#include "engine/plan/stats.h"

#define ROW(sink, ...) do { const struct value row_values[] = {__VA_ARGS__}; enum status row_status = (sink)->row((sink), row_values); if (row_status) return row_status; } while (0)

/* ---------------------------------------------------------------- pg_depend */

struct depend { struct session *session; struct row_sink *sink; };

static enum status depend_sequence(void *context, const struct catalog_row *row)
{
    struct depend *d = context;
    const struct value *v = row->values;
    const struct table *table;
    if (!v[SEQUENCE_crab_table].oid)
        return STATUS_OK;
    enum status status = catalog_table(d->session, v[SEQUENCE_crab_table].oid, &table);
    if (status || !table)
        return status;
    int16_t column = v[SEQUENCE_crab_column].i2;
    bool identity = column > 0 && column <= table->column_count && table->columns[column - 1].identity;
    ROW(d->sink, value_oid(1259), v[SEQUENCE_seqrelid], value_i4(0), value_oid(1259), value_oid(table->oid), value_i4(column), value_char(identity ? 'i' : 'a'));
    return STATUS_OK;
}

static enum status depend_default(void *context, const struct catalog_row *row)
{
    struct depend *d = context;
    const struct value *v = row->values;
    ROW(d->sink, value_oid(2604), v[ATTRDEF_oid], value_i4(0), value_oid(1259), v[ATTRDEF_adrelid], value_i4(v[ATTRDEF_adnum].i2), value_char('a'));
    uint32_t sequence;
    enum status status = describe_default_sequence(d->session, d->sink->arena, value_string(d->sink->arena, &v[ATTRDEF_adbin]), &sequence);
    if (!status && sequence)
        ROW(d->sink, value_oid(2604), v[ATTRDEF_oid], value_i4(0), value_oid(1259), value_oid(sequence), value_i4(0), value_char('n'));
    return status;
}

static enum status depend_view(void *context, const struct catalog_row *row)
{
    struct depend *d = context;
    const struct value *v = row->values;
    const struct table *view;
    uint32_t *oids, count;
    enum status status = catalog_table(d->session, v[REWRITE_ev_class].oid, &view);
    if (!status && view)
        status = describe_view_relations(d->session, d->sink->arena, view, &oids, &count);
    if (status || !view)
        return status;
    ROW(d->sink, value_oid(2618), v[REWRITE_oid], value_i4(0), value_oid(1259), v[REWRITE_ev_class], value_i4(0), value_char('i'));
    ROW(d->sink, value_oid(2618), v[REWRITE_oid], value_i4(0), value_oid(1259), v[REWRITE_ev_class], value_i4(0), value_char('n'));
    for (uint32_t i = 0; i < count; i++) {
        const struct table *of;
        ROW(d->sink, value_oid(2618), v[REWRITE_oid], value_i4(0), value_oid(1259), value_oid(oids[i]), value_i4(0), value_char('n'));
        status = catalog_table(d->session, oids[i], &of);
        if (status)
            return status;
        const struct index *key = of && view_needs_key(view, of) ? table_index(of, of->primary_key) : NULL;
        if (key && key->constraint)
            ROW(d->sink, value_oid(2618), v[REWRITE_oid], value_i4(0), value_oid(2606), value_oid(key->constraint), value_i4(0), value_char('n'));
    }
    return STATUS_OK;
}

static enum status depend_constraint(void *context, const struct catalog_row *row)
{
    struct depend *d = context;
    const struct value *v = row->values;
    char kind = (char)v[CONSTRAINT_contype].c;
    ROW(d->sink, value_oid(2606), v[CONSTRAINT_oid], value_i4(0), value_oid(1259), v[CONSTRAINT_conrelid], value_i4(0), value_char('a'));
    if (kind == 'f')
        ROW(d->sink, value_oid(2606), v[CONSTRAINT_oid], value_i4(0), value_oid(1259), v[CONSTRAINT_confrelid], value_i4(0), value_char('n'));
    if (kind == 'f' && v[CONSTRAINT_conindid].oid)
        ROW(d->sink, value_oid(2606), v[CONSTRAINT_oid], value_i4(0), value_oid(1259), v[CONSTRAINT_conindid], value_i4(0), value_char('n'));
    if (kind == 'p' || kind == 'u')
        ROW(d->sink, value_oid(1259), v[CONSTRAINT_conindid], value_i4(0), value_oid(2606), v[CONSTRAINT_oid], value_i4(0), value_char('i'));
    return STATUS_OK;
}

enum status fill_pg_depend(struct session *session, struct row_sink *sink)
{
    struct depend d = {session, sink};
    struct catalog_access access;
    catalog_access_open(session, sink->arena, &access);
    enum status status = catalog_scan(&access, CATALOG_SEQUENCE, -1, NULL, 0, depend_sequence, &d);
    if (!status)
        status = catalog_scan(&access, CATALOG_ATTRDEF, -1, NULL, 0, depend_default, &d);
    if (!status)
        status = catalog_scan(&access, CATALOG_CONSTRAINT, -1, NULL, 0, depend_constraint, &d);
    if (!status)
        status = catalog_scan(&access, CATALOG_REWRITE, -1, NULL, 0, depend_view, &d);
    return status;
}

/* ---------------------------------------------------------------- tables, views, indexes */

static struct value owner(void) { return value_text("postgres"); }

static enum status table_row(struct session *session, struct row_sink *sink, const struct table *t)
{
    (void)session;
    if (t->kind == RELATION_TABLE)
        ROW(sink, value_text(t->schema_name), value_text(t->name), owner(), value_null(), value_bool(t->index_count > 0), value_bool(false), value_bool(t->foreign_key_count || t->referenced_by_count), value_bool(false));
    return STATUS_OK;
}
enum status fill_pg_tables(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, table_row); }

static enum status view_row(struct session *session, struct row_sink *sink, const struct table *t)
{
    char *text;
    if (t->kind != RELATION_VIEW || t->virtual_table)
        return STATUS_OK;
    enum status status = describe_view(session, sink->arena, t->oid, false, &text);
    if (!status)
        ROW(sink, value_text(t->schema_name), value_text(t->name), owner(), value_text(text));
    return status;
}
enum status fill_pg_views(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, view_row); }

static enum status index_rows(struct session *session, struct row_sink *sink, const struct table *t)
{
    for (uint16_t i = 0; i < t->index_count; i++) {
        char *text;
        enum status status = describe_index(session, sink->arena, t->indexes[i].oid, 0, false, &text);
        if (status)
            return status;
        ROW(sink, value_text(t->schema_name), value_text(t->name), value_text(t->indexes[i].name), value_null(), value_text(text));
    }
    return STATUS_OK;
}
enum status fill_pg_indexes(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, index_rows); }

static enum status sequence_row(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct catalog_access access;
    struct catalog_row row;
    struct value key = value_oid(t->oid);
    bool found, called = false;
    int64_t last = 0;
    if (t->kind != RELATION_SEQUENCE)
        return STATUS_OK;
    catalog_access_open(session, sink->arena, &access);
    enum status status = catalog_get(&access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, &row, &found);
    if (!status && found)
        status = sequence_read(session, t->heap.file, &last, &called);
    if (status || !found)
        return status;
    const struct value *v = row.values;
    ROW(sink, value_text(t->schema_name), value_text(t->name), owner(), v[SEQUENCE_seqtypid], v[SEQUENCE_seqstart], v[SEQUENCE_seqmin], v[SEQUENCE_seqmax], v[SEQUENCE_seqincrement], v[SEQUENCE_seqcycle], v[SEQUENCE_seqcache],
        called ? value_i8(last) : value_null());
    return STATUS_OK;
}
enum status fill_pg_sequences(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, sequence_row); }

/* ---------------------------------------------------------------- a sequence as a table */

static enum status fill_sequence(struct session *session, struct row_sink *sink)
{
    const struct table *t;
    int64_t last;
    bool called;
    enum status status = catalog_table(session, sink->table->oid, &t);
    if (!status && !t)
        status = error_set(STATUS_UNDEFINED_TABLE, "sequence \"%s\" does not exist", sink->table->name);
    if (!status)
        status = sequence_read(session, t->heap.file, &last, &called);
    if (!status)
        ROW(sink, value_i8(last), value_i8(0), value_bool(called));
    return status;
}

const struct virtual_table *sequence_virtual_table(struct arena *arena, const struct table *t)
{
    static const struct virtual_column columns[] = {{"last_value", OID_INT8}, {"log_cnt", OID_INT8}, {"is_called", OID_BOOL}};
    struct virtual_table *v = arena_new(arena, struct virtual_table);
    *v = (struct virtual_table){.oid = t->oid, .schema = t->schema, .name = arena_strdup(arena, t->name), .column_count = 3, .columns = columns, .fill = fill_sequence};
    return v;
}

/* ---------------------------------------------------------------- pg_stats */

static void value_show(struct sql_type type, const struct value *value, struct arena *arena, struct text_buffer *out, bool first)
{
    struct vector v;
    struct text_buffer text;
    text_buffer_open(&text, arena);
    value_vector(type, value, arena, &v);
    type_out(type, &v, 0, &text);
    bool quote = !text.length || (text.bytes && strpbrk(text.bytes, ",{}\"\\ "));
    text_buffer_puts(out, first ? "" : ",");
    text_buffer_puts(out, quote ? "\"" : "");
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == '"' || text.bytes[i] == '\\')
            text_buffer_putc(out, '\\');
        text_buffer_putc(out, text.bytes[i]);
    }
    text_buffer_puts(out, quote ? "\"" : "");
}

static enum status stats_rows(struct session *session, struct row_sink *sink, const struct table *t)
{
    (void)session;
    for (uint16_t i = 0; i < t->column_count; i++) {
        const struct column_statistics *s = t->columns[i].statistics;
        if (!s || t->columns[i].dropped)
            continue;
        struct text_buffer common, fractions, bounds;
        text_buffer_open(&common, sink->arena);
        text_buffer_open(&fractions, sink->arena);
        text_buffer_open(&bounds, sink->arena);
        text_buffer_putc(&common, '{');
        text_buffer_putc(&fractions, '{');
        text_buffer_putc(&bounds, '{');
        for (uint16_t k = 0; k < s->common_count; k++) {
            value_show(s->type, &s->common[k], sink->arena, &common, k == 0);
            text_buffer_printf(&fractions, "%s%.8g", k ? "," : "", s->common_fractions[k]);
        }
        for (uint16_t k = 0; k < s->bound_count; k++)
            value_show(s->type, &s->bounds[k], sink->arena, &bounds, k == 0);
        text_buffer_putc(&common, '}');
        text_buffer_putc(&fractions, '}');
        text_buffer_putc(&bounds, '}');
        ROW(sink, value_text(t->schema_name), value_text(t->name), value_text(t->columns[i].name), value_bool(false), value_f4((float)s->null_fraction), value_i4((int32_t)s->average_width), value_f4((float)s->distinct),
            s->common_count ? value_text(common.bytes) : value_null(), s->common_count ? view_array(sink, 1021, fractions.bytes) : value_null(), s->bound_count ? value_text(bounds.bytes) : value_null(),
            value_f4((float)s->correlation));
    }
    return STATUS_OK;
}
enum status fill_pg_stats(struct session *session, struct row_sink *sink) { return view_each_table(session, sink, stats_rows); }
