/* engine/types/type.c - the table of types, and what is done with a value of any type: text and binary in and out,
 * order, hash, moving between vectors and single values.
 *
 * Each type belongs to a class (internal.h) that says what its bytes are; a switch over the class is the whole
 * dispatch. A reg type (regclass …) is an oid whose text the catalog knows; see type_name_lookup. */
#include "engine/types/json.h"
#include "engine/types/type.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "engine/types/array.h"
#include "engine/types/internal.h"

static const struct type_env default_env = {.timezone_name = "UTC", .date_order = DATE_ORDER_MDY, .extra_float_digits = 1};
_Thread_local const struct type_env *type_env = &default_env;
const struct type_env *type_env_default(void) { return &default_env; }
const struct name_lookup *type_name_lookup;

#define TYPE(oid, array, element, name, sql, length, category, preferred, width, class) \
    {{oid, array, element, name, sql, length, category, preferred, width}, CLASS_##class},
#define ARRAY(oid, element, name, sql) TYPE(oid, 0, element, name, sql, -1, 'A', false, WIDTH_VARLEN, ARRAY)
static const struct { struct type_info info; enum type_class class; } types[] = {
    TYPE(16, 1000, 0, "bool", "boolean", 1, 'B', true, 1, BOOL)
    TYPE(17, 1001, 0, "bytea", "bytea", -1, 'U', false, WIDTH_VARLEN, BYTEA)
    TYPE(18, 1002, 0, "char", "\"char\"", 1, 'Z', false, 1, CHAR)
    TYPE(19, 1003, 0, "name", "name", 64, 'S', false, WIDTH_VARLEN, NAME)
    TYPE(20, 1016, 0, "int8", "bigint", 8, 'N', false, 8, INT8)
    TYPE(21, 1005, 0, "int2", "smallint", 2, 'N', false, 2, INT2)
    TYPE(22, 1006, 21, "int2vector", "int2vector", -1, 'A', false, WIDTH_VARLEN, INTVECTOR)
    TYPE(23, 1007, 0, "int4", "integer", 4, 'N', false, 4, INT4)
    TYPE(24, 1008, 0, "regproc", "regproc", 4, 'N', false, 4, REG)
    TYPE(25, 1009, 0, "text", "text", -1, 'S', true, WIDTH_VARLEN, TEXT)
    TYPE(26, 1028, 0, "oid", "oid", 4, 'N', true, 4, OID)
    TYPE(27, 1010, 0, "tid", "tid", 6, 'U', false, 8, TID)
    TYPE(28, 1011, 0, "xid", "xid", 4, 'U', false, 8, XID)
    TYPE(29, 1012, 0, "cid", "cid", 4, 'U', false, 4, OID)
    TYPE(30, 1013, 26, "oidvector", "oidvector", -1, 'A', false, WIDTH_VARLEN, OIDVECTOR)
    TYPE(114, 199, 0, "json", "json", -1, 'U', false, WIDTH_VARLEN, JSON)
    TYPE(194, 0, 0, "pg_node_tree", "pg_node_tree", -1, 'Z', false, WIDTH_VARLEN, TEXT)
    TYPE(700, 1021, 0, "float4", "real", 4, 'N', false, 4, FLOAT4)
    TYPE(701, 1022, 0, "float8", "double precision", 8, 'N', true, 8, FLOAT8)
    TYPE(705, 0, 0, "unknown", "unknown", -2, 'X', false, WIDTH_VARLEN, TEXT)
    TYPE(1042, 1014, 0, "bpchar", "character", -1, 'S', false, WIDTH_VARLEN, BPCHAR)
    TYPE(1043, 1015, 0, "varchar", "character varying", -1, 'S', false, WIDTH_VARLEN, TEXT)
    TYPE(1082, 1182, 0, "date", "date", 4, 'D', false, 4, DATE)
    TYPE(1083, 1183, 0, "time", "time without time zone", 8, 'D', false, 8, TIME)
    TYPE(1114, 1115, 0, "timestamp", "timestamp without time zone", 8, 'D', false, 8, TIMESTAMP)
    TYPE(1184, 1185, 0, "timestamptz", "timestamp with time zone", 8, 'D', true, 8, TIMESTAMPTZ)
    TYPE(1186, 1187, 0, "interval", "interval", 16, 'T', true, 16, INTERVAL)
    TYPE(1700, 1231, 0, "numeric", "numeric", -1, 'N', false, WIDTH_VARLEN, NUMERIC)
    TYPE(2202, 2207, 0, "regprocedure", "regprocedure", 4, 'N', false, 4, REG)
    TYPE(2203, 2208, 0, "regoper", "regoper", 4, 'N', false, 4, REG)
    TYPE(2205, 2210, 0, "regclass", "regclass", 4, 'N', false, 4, REG)
    TYPE(2206, 2211, 0, "regtype", "regtype", 4, 'N', false, 4, REG)
    TYPE(2249, 0, 0, "record", "record", -1, 'P', false, WIDTH_VARLEN, TEXT)
    TYPE(2275, 0, 0, "cstring", "cstring", -2, 'P', false, WIDTH_VARLEN, TEXT)
    TYPE(2276, 0, 0, "any", "\"any\"", 4, 'P', false, 4, NONE)
    TYPE(2277, 0, 0, "anyarray", "anyarray", -1, 'P', false, WIDTH_VARLEN, ARRAY)
    TYPE(2278, 0, 0, "void", "void", 4, 'P', false, 4, VOID)
    TYPE(2279, 0, 0, "trigger", "trigger", 4, 'P', false, 4, NONE)
    TYPE(2281, 0, 0, "internal", "internal", 8, 'P', false, 8, NONE)
    TYPE(2283, 0, 0, "anyelement", "anyelement", 4, 'P', false, 4, NONE)
    TYPE(2776, 0, 0, "anynonarray", "anynonarray", 4, 'P', false, 4, NONE)
    TYPE(2950, 2951, 0, "uuid", "uuid", 16, 'U', false, 16, UUID)
    TYPE(4089, 4090, 0, "regnamespace", "regnamespace", 4, 'N', false, 4, REG)
    TYPE(4096, 4097, 0, "regrole", "regrole", 4, 'N', false, 4, REG)
    TYPE(5069, 271, 0, "xid8", "xid8", 8, 'U', false, 8, XID)
    TYPE(5077, 0, 0, "anycompatible", "anycompatible", 4, 'P', false, 4, NONE)
    TYPE(5078, 0, 0, "anycompatiblearray", "anycompatiblearray", -1, 'P', false, WIDTH_VARLEN, NONE)
    TYPE(5079, 0, 0, "anycompatiblenonarray", "anycompatiblenonarray", 4, 'P', false, 4, NONE)
    ARRAY(1000, 16, "_bool", "boolean[]")
    ARRAY(1001, 17, "_bytea", "bytea[]")
    ARRAY(1002, 18, "_char", "\"char\"[]")
    ARRAY(1003, 19, "_name", "name[]")
    ARRAY(1005, 21, "_int2", "smallint[]")
    ARRAY(1006, 22, "_int2vector", "int2vector[]")
    ARRAY(1007, 23, "_int4", "integer[]")
    ARRAY(1008, 24, "_regproc", "regproc[]")
    ARRAY(1009, 25, "_text", "text[]")
    ARRAY(1010, 27, "_tid", "tid[]")
    ARRAY(1011, 28, "_xid", "xid[]")
    ARRAY(1012, 29, "_cid", "cid[]")
    ARRAY(1013, 30, "_oidvector", "oidvector[]")
    ARRAY(1014, 1042, "_bpchar", "character[]")
    ARRAY(1015, 1043, "_varchar", "character varying[]")
    ARRAY(1016, 20, "_int8", "bigint[]")
    ARRAY(1021, 700, "_float4", "real[]")
    ARRAY(1022, 701, "_float8", "double precision[]")
    ARRAY(1028, 26, "_oid", "oid[]")
    ARRAY(199, 114, "_json", "json[]")
    ARRAY(271, 5069, "_xid8", "xid8[]")
    ARRAY(1115, 1114, "_timestamp", "timestamp without time zone[]")
    ARRAY(1182, 1082, "_date", "date[]")
    ARRAY(1183, 1083, "_time", "time without time zone[]")
    ARRAY(1185, 1184, "_timestamptz", "timestamp with time zone[]")
    ARRAY(1187, 1186, "_interval", "interval[]")
    ARRAY(1231, 1700, "_numeric", "numeric[]")
    ARRAY(2207, 2202, "_regprocedure", "regprocedure[]")
    ARRAY(2208, 2203, "_regoper", "regoper[]")
    ARRAY(2210, 2205, "_regclass", "regclass[]")
    ARRAY(2211, 2206, "_regtype", "regtype[]")
    ARRAY(2951, 2950, "_uuid", "uuid[]")
    ARRAY(4090, 4089, "_regnamespace", "regnamespace[]")
    ARRAY(4097, 4096, "_regrole", "regrole[]")
};
#define TYPE_COUNT (sizeof types / sizeof types[0])
#define OID_TABLE 5120
static uint8_t by_oid[OID_TABLE];        /* index + 1 */

__attribute__((constructor(200))) static void type_index(void)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        by_oid[types[i].info.oid] = (uint8_t)(i + 1);
}

const struct type_info *type_info(uint32_t oid) { return oid < OID_TABLE && by_oid[oid] ? &types[by_oid[oid] - 1].info : NULL; }
enum type_class type_class(uint32_t oid) { return oid < OID_TABLE && by_oid[oid] ? types[by_oid[oid] - 1].class : CLASS_NONE; }
size_t type_count(void) { return TYPE_COUNT; }
const struct type_info *type_at(size_t index) { return &types[index].info; }

const struct type_info *type_by_name(const char *name)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (!strcmp(types[i].info.name, name))
            return &types[i].info;
    return NULL;
}

uint32_t type_array_of(uint32_t element)
{
    const struct type_info *t = type_info(element);
    return t ? t->array_oid : 0;
}

struct sql_type type_make(uint32_t oid, int32_t typmod)
{
    if (oid == OID_NUMERIC && typmod >= 4) {
        int precision = typmod_precision(typmod), scale = typmod_scale(typmod);
        struct sql_type t = numeric_fixed_type(precision, scale);
        if (t.width != WIDTH_VARLEN)
            t.precision = (int16_t)precision;
        t.typmod = typmod;
        return t;
    }
    const struct type_info *info = type_info(oid);
    return (struct sql_type){.oid = oid, .typmod = typmod, .width = info ? info->width : WIDTH_VARLEN};
}

bool type_same_form(struct sql_type a, struct sql_type b) { return a.oid != OID_NUMERIC || b.oid != OID_NUMERIC || numeric_same_form(a, b); }

struct sql_type type_common_form(struct sql_type a, struct sql_type b)
{
    if (a.oid == OID_NUMERIC && b.oid == OID_NUMERIC)
        return numeric_common_type(a, b);
    if (a.typmod != b.typmod)
        a.typmod = -1;
    return a;
}

struct sql_type type_numeric_literal(const char *text, size_t length) { return numeric_literal_type(text, length); }

static const char *interval_fields(int range)
{
    switch (range) {
    case 1 << 2: return " year";
    case 1 << 1: return " month";
    case 1 << 3: return " day";
    case 1 << 10: return " hour";
    case 1 << 11: return " minute";
    case 1 << 12: return " second";
    case 1 << 2 | 1 << 1: return " year to month";
    case 1 << 3 | 1 << 10: return " day to hour";
    case 1 << 3 | 1 << 10 | 1 << 11: return " day to minute";
    case 1 << 3 | 1 << 10 | 1 << 11 | 1 << 12: return " day to second";
    case 1 << 10 | 1 << 11: return " hour to minute";
    case 1 << 10 | 1 << 11 | 1 << 12: return " hour to second";
    case 1 << 11 | 1 << 12: return " minute to second";
    default: return "";
    }
}

const char *type_format(uint32_t oid, int32_t typmod, struct arena *arena)
{
    const struct type_info *info = type_info(oid);
    if (!info)
        return oid ? "???" : "-";
    const char *suffix = "";
    if (type_class(oid) == CLASS_ARRAY && info->element_oid) {
        oid = info->element_oid;
        info = type_info(oid);
        suffix = "[]";
    }
    if (oid == OID_BPCHAR && typmod < 0)                      /* char without a length is not character(1) */
        return arena_printf(arena, "%s%s", typmod == -1 ? "character" : "bpchar", suffix);
    if (typmod < 0)
        return arena_printf(arena, "%s%s", info->sql_name, suffix);
    switch (oid) {
    case OID_NUMERIC: return arena_printf(arena, "numeric(%d,%d)%s", typmod_precision(typmod), typmod_scale(typmod), suffix);
    case OID_VARCHAR: return arena_printf(arena, "character varying(%d)%s", typmod - 4, suffix);
    case OID_BPCHAR: return arena_printf(arena, "character(%d)%s", typmod - 4, suffix);
    case OID_TIME: return arena_printf(arena, "time(%d) without time zone%s", typmod, suffix);
    case OID_TIMESTAMP: return arena_printf(arena, "timestamp(%d) without time zone%s", typmod, suffix);
    case OID_TIMESTAMPTZ: return arena_printf(arena, "timestamp(%d) with time zone%s", typmod, suffix);
    case OID_INTERVAL: {
        int range = (typmod >> 16) & 0x7fff, precision = typmod & 0xffff;
        if (precision != 0xffff)
            return arena_printf(arena, "interval%s(%d)%s", interval_fields(range), precision, suffix);
        return arena_printf(arena, "interval%s%s", interval_fields(range), suffix);
    }
    default: return arena_printf(arena, "%s(%d)%s", info->sql_name, typmod, suffix);
    }
}

enum status type_typmod(uint32_t oid, const int32_t *modifiers, int count, int32_t *out)
{
    const struct type_info *info = type_info(oid);
    if (!info)
        return error_set(STATUS_UNDEFINED_OBJECT, "type with OID %u does not exist", oid);
    if (type_class(oid) == CLASS_ARRAY && info->element_oid)
        oid = info->element_oid;
    *out = -1;
    switch (oid) {
    case OID_NUMERIC:
        if (count < 1 || count > 2)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid NUMERIC type modifier");
        if (modifiers[0] < 1 || modifiers[0] > NUMERIC_MAX_PRECISION)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "NUMERIC precision %d must be between 1 and %d", modifiers[0], NUMERIC_MAX_PRECISION);
        if (count == 2 && (modifiers[1] < -1000 || modifiers[1] > 1000))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "NUMERIC scale %d must be between %d and %d", modifiers[1], -1000, 1000);
        *out = numeric_typmod(modifiers[0], count == 2 ? modifiers[1] : 0);
        return STATUS_OK;
    case OID_VARCHAR:
    case OID_BPCHAR: {
        const char *name = oid == OID_VARCHAR ? "varchar" : "char";
        if (count != 1)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid type modifier");
        if (modifiers[0] < 1)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "length for type %s must be at least 1", name);
        if (modifiers[0] > 10485760)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "length for type %s cannot exceed %d", name, 10485760);
        *out = modifiers[0] + 4;
        return STATUS_OK;
    }
    case OID_TIME:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        if (count != 1)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid type modifier");
        if (modifiers[0] < 0)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "%s(%d)%s precision must not be negative", oid == OID_TIME ? "TIME" : "TIMESTAMP",
                             modifiers[0], oid == OID_TIMESTAMPTZ ? " WITH TIME ZONE" : "");
        *out = modifiers[0] > 6 ? 6 : modifiers[0];
        return STATUS_OK;
    case OID_INTERVAL:
        /* The mask of fields, then the precision; the parser gives 0x7FFF for all fields. */
        if (count < 1 || count > 2)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid INTERVAL type modifier");
        if (count == 1) {
            *out = modifiers[0] == 0x7fff ? -1 : (int32_t)((uint32_t)modifiers[0] << 16 | 0xffff);
            return STATUS_OK;
        }
        if (modifiers[1] < 0)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "INTERVAL(%d) precision must not be negative", modifiers[1]);
        *out = (int32_t)((uint32_t)modifiers[0] << 16 | (uint32_t)(modifiers[1] > 6 ? 6 : modifiers[1]));
        return STATUS_OK;
    default:
        return error_set(STATUS_SYNTAX, "type modifier is not allowed for type \"%s\"", info->name);
    }
}

/* ---- reg types ---- */

static enum status reg_in(uint32_t oid, const char *text, size_t length, struct arena *arena, uint32_t *out)
{
    char *name = arena_strndup(arena, text, length);
    if (!strcmp(name, "-")) {
        *out = 0;
        return STATUS_OK;
    }
    if (*name >= '0' && *name <= '9' && strspn(name, "0123456789") == length) {
        uint64_t v;
        enum status s = oid_parse(text, length, "oid", UINT32_MAX, &v);
        *out = (uint32_t)v;
        return s;
    }
    if (type_name_lookup)
        return type_name_lookup->to_oid(oid, name, out);
    if (oid == OID_REGTYPE)
        for (size_t i = 0; i < TYPE_COUNT; i++)
            if (!strcmp(types[i].info.name, name) || !strcmp(types[i].info.sql_name, name)) {
                *out = types[i].info.oid;
                return STATUS_OK;
            }
    if (oid == OID_REGPROC) {
        size_t count;
        const struct function *const *f = functions_named(name, &count);
        if (count == 1) {
            *out = f[0]->oid;
            return STATUS_OK;
        }
    }
    return error_set(STATUS_UNDEFINED_OBJECT, "\"%s\" does not exist", name);
}

static void reg_out(uint32_t oid, uint32_t value, struct text_buffer *out)
{
    if (!value) {
        text_buffer_puts(out, "-");
        return;
    }
    if (oid == OID_REGTYPE && type_info(value)) {
        text_buffer_puts(out, type_info(value)->sql_name);
        return;
    }
    if (type_name_lookup && type_name_lookup->to_name(oid, value, out))
        return;
    const struct function *f = oid == OID_REGPROC ? function_by_oid(value) : NULL;
    if (f)
        text_buffer_puts(out, f->name);
    else
        text_buffer_printf(out, "%u", value);
}

/* ---- text in and out ---- */

static enum status text_value(uint32_t oid, int32_t typmod, const char *text, size_t length, struct arena *arena, struct value *out)
{
    enum status s = text_check_utf8((const uint8_t *)text, length);
    if (s)
        return s;
    if (type_class(oid) == CLASS_NAME && length > 63)
        length = utf8_clip((const uint8_t *)text, length, 63);
    struct varlen v = varlen_of(text, length);
    if (typmod >= 4 && (oid == OID_VARCHAR || oid == OID_BPCHAR)) {
        s = text_apply_typmod(oid, typmod, false, arena, &v);
        if (s)
            return s;
    }
    out->v = text_copy(arena, v.bytes, v.length);
    return STATUS_OK;
}

static enum status tid_in(const char *text, size_t length, struct arena *arena, int64_t *out)
{
    char *copy = arena_strndup(arena, text, length);
    unsigned long block;
    unsigned slot;
    int end = 0;
    if (sscanf(copy, " ( %lu , %u ) %n", &block, &slot, &end) != 2 || !end || copy[end] || slot > 65535)
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type tid: \"%s\"", copy);
    *out = (int64_t)(block << 16 | slot);
    return STATUS_OK;
}

enum status type_in(struct sql_type type, const char *text, size_t length, struct arena *arena, struct value *out)
{
    enum status s = STATUS_OK;
    int64_t i8;
    uint64_t u8;
    memset(out, 0, sizeof *out);
    switch (type_class(type.oid)) {
    case CLASS_BOOL: return bool_parse(text, length, &out->b);
    case CLASS_CHAR: out->c = (int8_t)(length ? text[0] : 0); return STATUS_OK;
    case CLASS_INT2: s = int_parse(text, length, 16, &i8); out->i2 = s ? 0 : (int16_t)i8; return s;
    case CLASS_INT4: s = int_parse(text, length, 32, &i8); out->i4 = s ? 0 : (int32_t)i8; return s;
    case CLASS_INT8: return int_parse(text, length, 64, &out->i8);
    case CLASS_OID: s = oid_parse(text, length, type.oid == OID_CID ? "cid" : "oid", UINT32_MAX, &u8); out->oid = s ? 0 : (uint32_t)u8; return s;
    case CLASS_XID: s = oid_parse(text, length, type.oid == OID_XID ? "xid" : "xid8", UINT64_MAX, &u8); out->i8 = s ? 0 : (int64_t)u8; return s;
    case CLASS_FLOAT4: return float4_parse(text, length, &out->f4);
    case CLASS_FLOAT8: return float8_parse(text, length, &out->f8);
    case CLASS_NUMERIC: {
        struct numeric n;
        s = numeric_parse(text, length, &n);
        if (!s) {
            s = numeric_write(type, &n, &out->i16, arena);
            numeric_free(&n);
        }
        return s;
    }
    case CLASS_JSON: {
        enum status s = json_check(text, length);
        return s ? s : text_value(type.oid, type.typmod, text, length, arena, out);
    }
    case CLASS_TEXT: case CLASS_BPCHAR: case CLASS_NAME: return text_value(type.oid, type.typmod, text, length, arena, out);
    case CLASS_BYTEA: return bytea_parse(text, length, arena, &out->v);
    case CLASS_DATE: return date_in(text, length, &out->i4);
    case CLASS_TIME: return time_in(text, length, type.typmod, &out->i8);
    case CLASS_TIMESTAMP: return timestamp_in(text, length, false, type.typmod, &out->i8);
    case CLASS_TIMESTAMPTZ: return timestamp_in(text, length, true, type.typmod, &out->i8);
    case CLASS_INTERVAL: return interval_in(text, length, type.typmod, (struct interval *)&out->bytes);
    case CLASS_UUID: return uuid_parse(text, length, out->bytes);
    case CLASS_ARRAY: return array_in(type, text, length, arena, &out->v);
    case CLASS_INTVECTOR: case CLASS_OIDVECTOR: return vector_in(type.oid, text, length, arena, &out->v);
    case CLASS_TID: return tid_in(text, length, arena, &out->i8);
    case CLASS_REG: return reg_in(type.oid, text, length, arena, &out->oid);
    case CLASS_VOID: return STATUS_OK;
    case CLASS_NONE: break;
    }
    const struct type_info *info = type_info(type.oid);
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot accept a value of type %s", info ? info->name : "???");
}

void type_out(struct sql_type type, const struct vector *v, size_t at, struct text_buffer *out)
{
    at = vector_at(v, at);
    const void *values = v->values;
#define AT(T) (((const T *)values)[at])
    switch (type_class(type.oid)) {
    case CLASS_BOOL: text_buffer_putc(out, AT(uint8_t) ? 't' : 'f'); return;
    case CLASS_CHAR: if (AT(char)) text_buffer_putc(out, AT(char)); return;
    case CLASS_INT2: int8_print(AT(int16_t), out); return;
    case CLASS_INT4: int8_print(AT(int32_t), out); return;
    case CLASS_INT8: int8_print(AT(int64_t), out); return;
    case CLASS_OID: int8_print(AT(uint32_t), out); return;
    case CLASS_XID: text_buffer_printf(out, "%llu", (unsigned long long)AT(uint64_t)); return;
    case CLASS_FLOAT4: float4_print(AT(float), out); return;
    case CLASS_FLOAT8: float8_print(AT(double), out); return;
    case CLASS_NUMERIC: {
        struct numeric n;
        numeric_read(type, v, at, &n);
        numeric_print(&n, out);
        numeric_free(&n);
        return;
    }
    case CLASS_TEXT: case CLASS_BPCHAR: case CLASS_NAME: case CLASS_JSON: text_buffer_add(out, AT(struct varlen).bytes, AT(struct varlen).length); return;
    case CLASS_BYTEA: bytea_print(AT(struct varlen), out); return;
    case CLASS_DATE: date_out(AT(int32_t), out); return;
    case CLASS_TIME: time_out(AT(int64_t), out); return;
    case CLASS_TIMESTAMP: timestamp_out(AT(int64_t), false, out); return;
    case CLASS_TIMESTAMPTZ: timestamp_out(AT(int64_t), true, out); return;
    case CLASS_INTERVAL: interval_out(AT(struct interval), out); return;
    case CLASS_UUID: uuid_print((const uint8_t *)values + 16 * at, out); return;
    case CLASS_ARRAY: array_out(AT(struct varlen), out); return;
    case CLASS_INTVECTOR: case CLASS_OIDVECTOR: vector_out(AT(struct varlen), out); return;
    case CLASS_TID: text_buffer_printf(out, "(%lu,%u)", (unsigned long)(AT(uint64_t) >> 16), (unsigned)(AT(uint64_t) & 0xffff)); return;
    case CLASS_REG: reg_out(type.oid, AT(uint32_t), out); return;
    case CLASS_VOID: case CLASS_NONE: return;
    }
}

/* ---- binary ---- */

static void put(struct text_buffer *out, uint64_t v, int bytes)
{
    uint8_t b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
    text_buffer_add(out, b, (size_t)bytes);
}

static uint64_t get(const uint8_t *b, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | b[i];
    return v;
}

void type_send(struct sql_type type, const struct vector *v, size_t at, struct text_buffer *out)
{
    at = vector_at(v, at);
    const void *values = v->values;
    switch (type_class(type.oid)) {
    case CLASS_BOOL: put(out, AT(uint8_t) ? 1 : 0, 1); return;
    case CLASS_CHAR: put(out, AT(uint8_t), 1); return;
    case CLASS_INT2: put(out, AT(uint16_t), 2); return;
    case CLASS_INT4: case CLASS_OID: case CLASS_REG: case CLASS_FLOAT4: case CLASS_DATE: put(out, AT(uint32_t), 4); return;
    case CLASS_XID: put(out, AT(uint64_t), type.oid == OID_XID ? 4 : 8); return;
    case CLASS_INT8: case CLASS_FLOAT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: put(out, AT(uint64_t), 8); return;
    case CLASS_NUMERIC: {
        struct numeric n;
        numeric_read(type, v, at, &n);
        numeric_send(&n, out);
        numeric_free(&n);
        return;
    }
    case CLASS_TEXT: case CLASS_BPCHAR: case CLASS_NAME: case CLASS_JSON: case CLASS_BYTEA: text_buffer_add(out, AT(struct varlen).bytes, AT(struct varlen).length); return;
    case CLASS_INTERVAL: {
        struct interval i = AT(struct interval);
        put(out, (uint64_t)i.us, 8);
        put(out, (uint32_t)i.days, 4);
        put(out, (uint32_t)i.months, 4);
        return;
    }
    case CLASS_UUID: text_buffer_add(out, (const uint8_t *)values + 16 * at, 16); return;
    case CLASS_ARRAY: case CLASS_INTVECTOR: case CLASS_OIDVECTOR: array_send(AT(struct varlen), out); return;
    case CLASS_TID: put(out, AT(uint64_t) >> 16, 4); put(out, AT(uint64_t) & 0xffff, 2); return;
    case CLASS_VOID: case CLASS_NONE: return;
    }
}
#undef AT

enum status type_receive(struct sql_type type, const uint8_t *bytes, size_t length, struct arena *arena, struct value *out)
{
    memset(out, 0, sizeof *out);
    enum type_class class = type_class(type.oid);
    size_t want = 0;
    switch (class) {
    case CLASS_BOOL: case CLASS_CHAR: want = 1; break;
    case CLASS_INT2: want = 2; break;
    case CLASS_INT4: case CLASS_OID: case CLASS_REG: case CLASS_FLOAT4: case CLASS_DATE: want = 4; break;
    case CLASS_XID: want = type.oid == OID_XID ? 4 : 8; break;
    case CLASS_INT8: case CLASS_FLOAT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: want = 8; break;
    case CLASS_INTERVAL: case CLASS_UUID: want = 16; break;
    case CLASS_TID: want = 6; break;
    default: break;
    }
    if (want && length < want)
        return error_set(STATUS_PROTOCOL_VIOLATION, "insufficient data left in message");
    if (want && length > want)
        return error_set(STATUS_INVALID_BINARY, "incorrect binary data format");
    switch (class) {
    case CLASS_BOOL: out->b = bytes[0] != 0; return STATUS_OK;
    case CLASS_CHAR: out->c = (int8_t)bytes[0]; return STATUS_OK;
    case CLASS_INT2: out->i2 = (int16_t)get(bytes, 2); return STATUS_OK;
    case CLASS_INT4: case CLASS_OID: case CLASS_REG: case CLASS_FLOAT4: out->oid = (uint32_t)get(bytes, 4); return STATUS_OK;
    case CLASS_DATE:
        out->i4 = (int32_t)get(bytes, 4);
        if (DATE_FINITE(out->i4) && (out->i4 < DATE_MIN_DAYS || out->i4 >= DATE_END_DAYS))
            return error_set(STATUS_DATETIME_OVERFLOW, "date out of range");
        return STATUS_OK;
    case CLASS_XID: out->i8 = (int64_t)get(bytes, (int)want); return STATUS_OK;
    case CLASS_INT8: case CLASS_FLOAT8: out->i8 = (int64_t)get(bytes, 8); return STATUS_OK;
    case CLASS_TIME:
        out->i8 = (int64_t)get(bytes, 8);
        if (out->i8 < 0 || out->i8 > US_DAY)
            return error_set(STATUS_DATETIME_OVERFLOW, "time out of range");
        out->i8 = time_round(out->i8, type.typmod);
        return STATUS_OK;
    case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ:
        out->i8 = (int64_t)get(bytes, 8);
        if (TIMESTAMP_FINITE(out->i8) && (out->i8 < TIMESTAMP_MIN || out->i8 >= TIMESTAMP_END))
            return error_set(STATUS_DATETIME_OVERFLOW, "timestamp out of range");
        out->i8 = time_round(out->i8, type.typmod);
        return STATUS_OK;
    case CLASS_NUMERIC: {
        struct numeric n;
        enum status s = numeric_receive(bytes, length, &n);
        if (!s) {
            s = numeric_write(type, &n, &out->i16, arena);
            numeric_free(&n);
        }
        return s;
    }
    case CLASS_JSON: {
        enum status s = json_check((const char *)bytes, length);
        return s ? s : text_value(type.oid, type.typmod, (const char *)bytes, length, arena, out);
    }
    case CLASS_TEXT: case CLASS_BPCHAR: case CLASS_NAME: return text_value(type.oid, type.typmod, (const char *)bytes, length, arena, out);
    case CLASS_BYTEA: out->v = text_copy(arena, bytes, length); return STATUS_OK;
    case CLASS_INTERVAL: {
        struct interval i = {.us = (int64_t)get(bytes, 8), .days = (int32_t)get(bytes + 8, 4), .months = (int32_t)get(bytes + 12, 4)};
        enum status s = interval_apply_typmod(&i, type.typmod);
        memcpy(out->bytes, &i, 16);
        return s;
    }
    case CLASS_UUID: memcpy(out->bytes, bytes, 16); return STATUS_OK;
    case CLASS_ARRAY: case CLASS_INTVECTOR: case CLASS_OIDVECTOR: return array_receive(type, bytes, length, arena, &out->v);
    case CLASS_TID: out->i8 = (int64_t)(get(bytes, 4) << 16 | get(bytes + 4, 2)); return STATUS_OK;
    case CLASS_VOID: return STATUS_OK;
    case CLASS_NONE: break;
    }
    const struct type_info *info = type_info(type.oid);
    return error_set(STATUS_UNDEFINED_FUNCTION, "no binary input function available for type %s", info ? info->name : "???");
}

/* ---- values and vectors ---- */

const void *value_bytes(const struct value *v) { return &v->i16; }

void value_put(struct sql_type type, const struct value *value, struct vector *out, size_t at)
{
    size_t width = type.width == WIDTH_VARLEN ? sizeof(struct varlen) : type.width;
    uint8_t *to = (uint8_t *)out->values + width * at;
    if (value->null) {
        memset(to, 0, width);
        out->nulls[at] = 1;
        return;
    }
    memcpy(to, value_bytes(value), width);
    if (out->nulls)
        out->nulls[at] = 0;
}

struct value value_get(struct sql_type type, const struct vector *v, size_t at)
{
    struct value value;
    memset(&value, 0, sizeof value);
    at = vector_at(v, at);
    if (v->nulls && v->nulls[at]) {
        value.null = true;
        return value;
    }
    size_t width = type.width == WIDTH_VARLEN ? sizeof(struct varlen) : type.width;
    memcpy(&value.i16, (const uint8_t *)v->values + width * at, width);
    return value;
}

struct value value_at(struct sql_type type, const struct vector *v, size_t at) { return value_get(type, v, at); }

void value_vector(struct sql_type type, const struct value *value, struct arena *arena, struct vector *out)
{
    size_t width = type.width == WIDTH_VARLEN ? sizeof(struct varlen) : type.width;
    *out = (struct vector){.values = arena_zero(arena, width), .width = type.width, .constant = true};
    if (value->null) {
        out->nulls = arena_zero(arena, 1);
        out->nulls[0] = 1;
    } else
        memcpy(out->values, value_bytes(value), width);
}

static struct vector one(struct sql_type type, const struct value *value)
{
    return (struct vector){.values = (void *)(uintptr_t)value_bytes(value), .width = type.width, .constant = true};
}

void value_print(struct sql_type type, const struct value *value, struct text_buffer *out)
{
    struct vector v = one(type, value);
    type_out(type, &v, 0, out);
}

int value_order(struct sql_type type, const struct value *a, const struct value *b)
{
    struct vector x = one(type, a), y = one(type, b);
    return type_compare(type, &x, 0, &y, 0);
}

uint64_t value_hash(struct sql_type type, const struct value *value)
{
    struct vector v = one(type, value);
    return type_hash(type, &v, 0);
}

/* ---- order and hash ---- */

bool type_comparable(uint32_t oid)
{
    enum type_class class = type_class(oid);
    if (class == CLASS_ARRAY) {
        uint32_t element = type_element_of(oid);
        return !element || type_comparable(element);
    }
    return class != CLASS_NONE && class != CLASS_JSON && class != CLASS_VOID && oid != OID_RECORD && oid != OID_PG_NODE_TREE;
}

bool type_hashable(uint32_t oid) { return type_comparable(oid); }

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int type_compare(struct sql_type type, const struct vector *va, size_t at_a, const struct vector *vb, size_t at_b)
{
    at_a = vector_at(va, at_a);
    at_b = vector_at(vb, at_b);
#define A(T) (((const T *)va->values)[at_a])
#define B(T) (((const T *)vb->values)[at_b])
    switch (type_class(type.oid)) {
    case CLASS_BOOL: case CLASS_CHAR: return ORDER(A(uint8_t), B(uint8_t));
    case CLASS_INT2: return ORDER(A(int16_t), B(int16_t));
    case CLASS_INT4: case CLASS_DATE: return ORDER(A(int32_t), B(int32_t));
    case CLASS_OID: case CLASS_REG: return ORDER(A(uint32_t), B(uint32_t));
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: return ORDER(A(int64_t), B(int64_t));
    case CLASS_TID: case CLASS_XID: return ORDER(A(uint64_t), B(uint64_t));
    case CLASS_FLOAT4: return float8_compare((double)A(float), (double)B(float));
    case CLASS_FLOAT8: return float8_compare(A(double), B(double));
    case CLASS_NUMERIC: {
        if (type.width == 8)
            return ORDER(A(int64_t), B(int64_t));
        if (type.width == 16)
            return ORDER(A(__int128), B(__int128));
        struct numeric a, b;
        numeric_unpack(A(struct varlen), &a);
        numeric_unpack(B(struct varlen), &b);
        int order = numeric_compare(&a, &b);
        numeric_free(&a);
        numeric_free(&b);
        return order;
    }
    case CLASS_TEXT: case CLASS_NAME: case CLASS_BYTEA: case CLASS_JSON: return varlen_compare(A(struct varlen), B(struct varlen));
    case CLASS_BPCHAR: return varlen_compare(bpchar_trim(A(struct varlen)), bpchar_trim(B(struct varlen)));
    case CLASS_INTERVAL: {
        __int128 a = interval_span(A(struct interval)), b = interval_span(B(struct interval));
        return ORDER(a, b);
    }
    case CLASS_UUID: { int c = memcmp((const uint8_t *)va->values + 16 * at_a, (const uint8_t *)vb->values + 16 * at_b, 16); return ORDER(c, 0); }
    case CLASS_ARRAY: case CLASS_INTVECTOR: case CLASS_OIDVECTOR: return array_compare(A(struct varlen), B(struct varlen));
    case CLASS_VOID: case CLASS_NONE: return 0;
    }
    return 0;
#undef A
#undef B
}

static uint64_t hash_decimal(__int128 v, int scale)
{
    if (!v)
        scale = 0;
    if (v >= INT64_MIN && v <= INT64_MAX) {
        int64_t n = (int64_t)v;
        while (scale > 0 && n % 10 == 0) {
            n /= 10;
            scale--;
        }
        return hash_join(hash_u64((uint64_t)n), (uint64_t)scale);
    }
    while (scale > 0 && v % 10 == 0) {
        v /= 10;
        scale--;
    }
    if (v >= INT64_MIN && v <= INT64_MAX)
        return hash_join(hash_u64((uint64_t)(int64_t)v), (uint64_t)scale);
    return hash_join(hash_join(hash_u64((uint64_t)v), (uint64_t)((unsigned __int128)v >> 64)), (uint64_t)scale);
}

static uint64_t hash_numeric(struct sql_type type, const struct vector *v, size_t at)
{
    struct numeric n;
    numeric_read(type, v, at, &n);
    uint64_t h;
    if (n.kind != NUMERIC_FINITE)
        return hash_u64(0x1000u + n.kind);
    numeric_strip(&n);
    if (!n.big)
        return hash_decimal(n.small, n.scale);
    size_t count;
    uint8_t *bytes = mpz_export(NULL, &count, -1, 1, 0, 0, n.z);
    h = hash_join(hash_bytes(bytes, count, (uint64_t)(mpz_sgn(n.z) < 0)), (uint64_t)n.scale);
    free(bytes);
    numeric_free(&n);
    return h;
}

uint64_t type_hash(struct sql_type type, const struct vector *v, size_t at)
{
    at = vector_at(v, at);
#define A(T) (((const T *)v->values)[at])
    switch (type_class(type.oid)) {
    case CLASS_BOOL: case CLASS_CHAR: return hash_u64(A(uint8_t));
    case CLASS_INT2: return hash_u64((uint64_t)A(int16_t));
    case CLASS_INT4: case CLASS_DATE: return hash_u64((uint64_t)A(int32_t));
    case CLASS_OID: case CLASS_REG: return hash_u64(A(uint32_t));
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: case CLASS_TID: case CLASS_XID: return hash_u64(A(uint64_t));
    case CLASS_FLOAT4: case CLASS_FLOAT8: {
        double d = type_class(type.oid) == CLASS_FLOAT4 ? (double)A(float) : A(double);
        uint64_t bits;
        if (d == 0)
            d = 0;                                            /* -0 and 0 are equal */
        memcpy(&bits, &d, 8);
        return d != d ? hash_u64(0x7ff8000000000000) : d == 0 ? hash_u64(0) : hash_u64(bits);
    }
    case CLASS_NUMERIC:
        if (type.width == 8 && A(int64_t) != DEC64_NAN)
            return hash_decimal(A(int64_t), type.scale);
        if (type.width == 16 && A(__int128) != DEC128_NAN)
            return hash_decimal(A(__int128), type.scale);
        return hash_numeric(type, v, at);
    case CLASS_TEXT: case CLASS_NAME: case CLASS_BYTEA: case CLASS_JSON: return hash_bytes(A(struct varlen).bytes, A(struct varlen).length, 0);
    case CLASS_BPCHAR: {
        struct varlen t = bpchar_trim(A(struct varlen));
        return hash_bytes(t.bytes, t.length, 0);
    }
    case CLASS_INTERVAL: {
        __int128 span = interval_span(A(struct interval));
        return hash_join(hash_u64((uint64_t)span), (uint64_t)((unsigned __int128)span >> 64));
    }
    case CLASS_UUID: return hash_bytes((const uint8_t *)v->values + 16 * at, 16, 0);
    case CLASS_ARRAY: case CLASS_INTVECTOR: case CLASS_OIDVECTOR: return array_hash(A(struct varlen));
    case CLASS_VOID: case CLASS_NONE: return 0;
    }
    return 0;
#undef A
}
