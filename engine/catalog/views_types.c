/* engine/catalog/views_types.c - pg_type, pg_proc, pg_operator, pg_cast and their kin: the registries of engine/types as tables. */
#include "engine/catalog/views_private.h"

#include <string.h>

#include "engine/types/function.h"

#define ROW(sink, ...) do { const struct value row_values[] = {__VA_ARGS__}; enum status row_status = (sink)->row((sink), row_values); if (row_status) return row_status; } while (0)

char type_alignment(const struct type_info *t)
{
    switch (t->oid) {
    case OID_BOOL: case OID_CHAR: case OID_NAME: case OID_UUID: case OID_UNKNOWN: case OID_CSTRING: return 'c';
    case OID_INT2: case OID_TID: return 's';
    case OID_INT8: case OID_FLOAT8: case OID_TIME: case OID_TIMESTAMP: case OID_TIMESTAMPTZ: case OID_INTERVAL: return 'd';
    default: break;
    }
    const struct type_info *element = t->category == 'A' && t->name[0] == '_' ? type_info(t->element_oid) : NULL;
    return element && type_alignment(element) == 'd' ? 'd' : 'i';
}

uint32_t type_collation(const struct type_info *t)
{
    const struct type_info *element = t && t->category == 'A' && t->name[0] == '_' ? type_info(t->element_oid) : t;
    return !element || element->category != 'S' ? 0 : element->oid == OID_NAME ? 950 : 100;
}

/* A table or view is a type, too: one of rows, with an array. */
static enum status row_types(struct session *session, struct row_sink *sink, const struct table *t)
{
    struct value zero = value_oid(0), no = value_bool(false), null = value_null(), schema = value_oid(t->schema);
    (void)session;
    if ((t->kind != RELATION_TABLE && t->kind != RELATION_VIEW) || t->oid < OID_FIRST_USER)
        return STATUS_OK;
    ROW(sink, value_oid(ROW_TYPE(t->oid)), value_text(t->name), schema, value_oid(10), value_i2(-1), no, value_char('c'), value_char('C'), no, value_bool(true), value_char(','), value_oid(t->oid), zero, zero,
        value_oid(ROW_TYPE_ARRAY(t->oid)), value_oid(2290), value_oid(2291), value_oid(2402), value_oid(2403), zero, zero, zero, value_char('d'), value_char('x'), no, zero, value_i4(-1), value_i4(0), zero, null, null, null);
    ROW(sink, value_oid(ROW_TYPE_ARRAY(t->oid)), view_printf(sink, "_%.62s", t->name), schema, value_oid(10), value_i2(-1), no, value_char('b'), value_char('A'), no, value_bool(true), value_char(','), zero, value_oid(6179),
        value_oid(ROW_TYPE(t->oid)), zero, value_oid(750), value_oid(751), value_oid(2400), value_oid(2401), zero, zero, zero, value_char('d'), value_char('x'), no, zero, value_i4(-1), value_i4(0), zero, null, null, null);
    return STATUS_OK;
}

enum status fill_pg_type(struct session *session, struct row_sink *sink)
{
    for (size_t i = 0; i < type_count(); i++) {
        const struct type_info *t = type_at(i);
        bool array = t->category == 'A' && t->name[0] == '_';
        struct value zero = value_oid(0);
        ROW(sink, value_oid(t->oid), value_text(t->name), value_oid(SCHEMA_PG_CATALOG), value_oid(10), value_i2(t->length), value_bool(t->length > 0 && t->length <= 8 && t->oid != OID_TID),
            value_char(t->category == 'P' ? 'p' : 'b'), value_char(t->category), value_bool(t->preferred), value_bool(true), value_char(','), zero, value_oid(t->category == 'A' ? 6179 : 0), value_oid(t->element_oid),
            value_oid(t->array_oid), value_oid(array ? 750 : 0), value_oid(array ? 751 : 0), zero, zero, zero, zero, zero, value_char(type_alignment(t)),
            value_char(t->length > 0 ? 'p' : t->oid == OID_NUMERIC ? 'm' : t->oid == OID_CSTRING || t->oid == OID_UNKNOWN ? 'p' : 'x'), value_bool(false), zero, value_i4(-1), value_i4(0),
            value_oid(type_collation(t)), value_null(), value_null(), value_null());
    }
    return view_each_table(session, sink, row_types);
}

enum status fill_pg_proc(struct session *session, struct row_sink *sink)
{
    (void)session;
    for (size_t i = 0; i < function_count(); i++) {
        const struct function *f = function_at(i);
        struct text_buffer args;
        text_buffer_open(&args, sink->arena);
        for (uint8_t a = 0; a < f->arg_count; a++)
            text_buffer_printf(&args, "%s%u", a ? " " : "", f->arg_types[a]);
        bool set = f->kind == FUNCTION_SET;
        ROW(sink, value_oid(f->oid), value_text(f->name), value_oid(SCHEMA_PG_CATALOG), value_oid(10), value_oid(12), value_f4(1), value_f4(set ? 1000 : 0), value_oid(f->variadic && f->arg_count ? f->arg_types[f->arg_count - 1] : 0),
            value_oid(0), value_char(set ? 'f' : (char)f->kind), value_bool(false), value_bool(false), value_bool(f->strict), value_bool(set), value_char(f->volatility), value_char(f->parallel_safe ? 's' : 'r'),
            value_i2(f->arg_count), value_i2(0), value_oid(f->result), view_array(sink, OID_OIDVECTOR, args.bytes ? args.bytes : ""), value_null(), value_null(), value_null(), value_null(), value_null(),
            value_text(f->name), value_null(), value_null(), value_null(), value_null());
    }
    return STATUS_OK;
}

enum status fill_pg_operator(struct session *session, struct row_sink *sink)
{
    (void)session;
    for (size_t i = 0; i < operator_count(); i++) {
        const struct operator *o = operator_at(i);
        bool equal = !strcmp(o->name, "=");
        ROW(sink, value_oid(o->oid), value_text(o->name), value_oid(SCHEMA_PG_CATALOG), value_oid(10), value_char(o->left ? 'b' : 'l'), value_bool(equal), value_bool(equal), value_oid(o->left), value_oid(o->right),
            value_oid(o->result), value_oid(o->commutator), value_oid(o->negator), value_oid(o->function ? o->function->oid : 0), value_oid(0), value_oid(0));
    }
    return STATUS_OK;
}

enum status fill_pg_cast(struct session *session, struct row_sink *sink)
{
    (void)session;
    uint32_t oid = 10035;
    for (size_t i = 0; i < type_count(); i++)
        for (size_t k = 0; k < type_count(); k++) {
            const struct type_info *from = type_at(i), *to = type_at(k);
            bool binary = false;
            static const enum cast_context contexts[] = {CAST_IMPLICIT, CAST_ASSIGNMENT, CAST_EXPLICIT};
            if (from == to || from->category == 'P' || to->category == 'P' || from->category == 'A' || to->category == 'A' || from->oid == OID_UNKNOWN || to->oid == OID_UNKNOWN)
                continue;
            for (int c = 0; c < 3; c++) {
                const struct function *f = cast_find(from->oid, to->oid, contexts[c], &binary);
                if (!f && !binary)
                    continue;
                if (f && !f->oid)                             /* by way of text: not a cast of its own */
                    break;
                ROW(sink, value_oid(oid++), value_oid(from->oid), value_oid(to->oid), value_oid(f ? f->oid : 0), value_char((char)contexts[c]), value_char(binary || !f ? 'b' : 'f'));
                break;
            }
        }
    return STATUS_OK;
}

enum status fill_pg_aggregate(struct session *session, struct row_sink *sink)
{
    (void)session;
    for (size_t i = 0; i < function_count(); i++) {
        const struct function *f = function_at(i);
        if (f->kind == FUNCTION_AGGREGATE)
            ROW(sink, value_oid(f->oid), value_char('n'), value_i2(0), value_oid(0), value_oid(0), value_oid(0), value_oid(0), value_oid(f->result), value_null());
    }
    return STATUS_OK;
}

enum status fill_pg_am(struct session *session, struct row_sink *sink)
{
    (void)session;
    ROW(sink, value_oid(2), value_text("heap"), value_oid(3), value_char('t'));
    ROW(sink, value_oid(403), value_text("btree"), value_oid(330), value_char('i'));
    return STATUS_OK;
}

enum status fill_pg_opclass(struct session *session, struct row_sink *sink)
{
    static const struct { uint32_t oid; const char *name; uint32_t type; bool is_default; } classes[] = {
        {424, "bool_ops", OID_BOOL, true}, {426, "bpchar_ops", OID_BPCHAR, true}, {428, "bytea_ops", OID_BYTEA, true}, {429, "char_ops", OID_CHAR, true}, {3122, "date_ops", OID_DATE, true},
        {1970, "float4_ops", OID_FLOAT4, true}, {3123, "float8_ops", OID_FLOAT8, true}, {1979, "int2_ops", OID_INT2, true}, {1978, "int4_ops", OID_INT4, true}, {3124, "int8_ops", OID_INT8, true},
        {2003, "interval_ops", OID_INTERVAL, true}, {10028, "name_ops", OID_NAME, true}, {3125, "numeric_ops", OID_NUMERIC, true}, {1981, "oid_ops", OID_OID, true}, {1991, "oidvector_ops", OID_OIDVECTOR, true},
        {3126, "text_ops", OID_TEXT, true}, {2001, "time_ops", OID_TIME, true}, {3128, "timestamp_ops", OID_TIMESTAMP, true}, {3127, "timestamptz_ops", OID_TIMESTAMPTZ, true}, {2968, "uuid_ops", OID_UUID, true},
        {397, "array_ops", OID_ANYARRAY, true}, {4217, "text_pattern_ops", OID_TEXT, false}, {4219, "bpchar_pattern_ops", OID_BPCHAR, false},
    };
    (void)session;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        ROW(sink, value_oid(classes[i].oid), value_oid(403), value_text(classes[i].name), value_oid(SCHEMA_PG_CATALOG), value_oid(10), value_oid(0), value_oid(classes[i].type), value_bool(classes[i].is_default), value_oid(0));
    return STATUS_OK;
}

enum status fill_pg_collation(struct session *session, struct row_sink *sink)
{
    static const struct { uint32_t oid; const char *name; char provider; int32_t encoding; const char *collate; } rows[] = {{100, "default", 'd', -1, NULL}, {950, "C", 'c', -1, "C"}, {951, "POSIX", 'c', -1, "POSIX"}, {12341, "ucs_basic", 'c', 6, "C"}};
    (void)session;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ROW(sink, value_oid(rows[i].oid), value_text(rows[i].name), value_oid(SCHEMA_PG_CATALOG), value_oid(10), value_char(rows[i].provider), value_bool(true), value_i4(rows[i].encoding), value_text(rows[i].collate),
            value_text(rows[i].collate), value_null(), value_null());
    return STATUS_OK;
}

enum status fill_pg_language(struct session *session, struct row_sink *sink)
{
    static const struct { uint32_t oid; const char *name; bool trusted; } rows[] = {{12, "internal", false}, {13, "c", false}, {14, "sql", true}};
    (void)session;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ROW(sink, value_oid(rows[i].oid), value_text(rows[i].name), value_oid(10), value_bool(false), value_bool(rows[i].trusted), value_oid(0), value_oid(0), value_oid(0), value_null());
    return STATUS_OK;
}
