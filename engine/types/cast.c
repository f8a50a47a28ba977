/* engine/types/cast.c - which type turns into which, and how.
 *
 *  1. A row of PostgreSQL's pg_cast (function_rows.h): a function, or the same bytes.
 *  2. Arrays whose elements have a cast: element by element.
 *  3. Through text: any type to a string type on assignment, a string type to any explicitly.
 *  4. Lengths: cast_length rounds, cuts, pads or refuses a value already of the type, and rewrites a numeric into
 *     another form.
 * The functions of 2 to 4 are not in the registry (nobody calls them by name); they take one argument. */
#include <string.h>
#include "engine/types/array.h"
#include "engine/types/kernel.h"

#define CAST_ROWS
static const struct { uint32_t source, target, function; char context; } rows[] = {
#define C(...) {__VA_ARGS__},
#include "engine/types/function_rows.h"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static int strength(char context) { return context == 'i' ? 0 : context == 'a' ? 1 : 2; }

/* ---- through text ---- */

static enum status to_text(struct kernel_call *c)
{
    struct varlen *out = c->out->values;
    struct text_buffer b;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        text_buffer_open(&b, c->arena);
        type_out(c->arg_types[0], &c->args[0], i, &b);
        out[i] = varlen_of(b.bytes ? b.bytes : "", b.length);
    }
    return STATUS_OK;
}

static enum status from_text(struct kernel_call *c)
{
    size_t width = c->out_type.width ? c->out_type.width : sizeof(struct varlen);
    struct sql_type type = c->out_type;
    if (type.oid == OID_VARCHAR || type.oid == OID_BPCHAR)
        type.typmod = -1;                                     /* the length comes after, by cast_length */
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct varlen text = VECTOR(struct varlen, &c->args[0], i);
        struct value v;
        enum status s = type_in(type, (const char *)text.bytes, text.length, c->arena, &v);
        if (s)
            FAIL(s);
        memcpy((uint8_t *)c->out->values + width * i, value_bytes(&v), width);
    }
    return STATUS_OK;
}

static enum status bind_wanted(struct function_bind *f, kernel_fn kernel)
{
    f->kernel = kernel;
    return STATUS_OK;
}
static enum status bind_from_text(struct function_bind *f) { return bind_wanted(f, from_text); }

#define TYPES_MAX 128
static struct function to_text_rows[2][3], from_text_rows[TYPES_MAX], array_rows[TYPES_MAX], array_cut_rows[TYPES_MAX];

/* ---- arrays ---- */

struct array_cast { const struct function *function; kernel_fn kernel; const void *data; struct sql_type from, to; };

static enum status array_kernel(struct kernel_call *c)
{
    const struct array_cast *cast = c->data;
    struct varlen *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct array_view view;
        array_open(VECTOR(struct varlen, &c->args[0], i), &view);
        struct value *from = array_elements(&view, c->arena), *to = arena_array(c->arena, struct value, view.count + 1);
        for (uint32_t n = 0; n < view.count; n++) {
            to[n].null = from[n].null;
            if (from[n].null)
                continue;
            if (!cast->kernel) {                              /* the same bytes */
                to[n] = from[n];
                continue;
            }
            struct vector argument = {.values = (void *)(uintptr_t)value_bytes(&from[n]), .width = cast->from.width, .constant = true};
            uint8_t null = 0;
            uint16_t at = 0;
            struct vector result = {.values = &to[n].i16, .nulls = &null, .width = cast->to.width};
            struct kernel_call call = {.out = &result, .args = &argument, .arg_count = 1, .count = 1, .row_count = 1, .arena = c->arena,
                                       .data = cast->data, .error_at = &at, .out_type = cast->to, .arg_types = &cast->from};
            enum status s = cast->kernel(&call);
            if (s)
                FAIL(s);
            to[n].null = null;
            if (cast->to.oid == OID_NUMERIC && cast->to.width != WIDTH_VARLEN) {          /* arrays hold the general form */
                struct numeric x;
                numeric_read(cast->to, &result, 0, &x);
                to[n].v = numeric_varlen(&x, c->arena);
                numeric_free(&x);
            }
        }
        out[i] = array_make(type_element_of(c->out_type.oid), view.dims, view.lengths, view.lower, to, c->arena);
    }
    return STATUS_OK;
}

static enum status bind_elements(struct function_bind *f, bool explicit_cast)
{
    bool binary;
    struct array_cast *cast = arena_new(f->arena, struct array_cast);
    uint32_t from = type_element_of(f->arg_types[0].oid), to = type_element_of(f->result.oid);
    cast->from = type_make(from, -1);
    cast->to = type_make(to, -1);
    f->kernel = array_kernel;
    f->data = cast;
    const struct function *function = from == to ? NULL : cast_find(from, to, CAST_EXPLICIT, &binary);
    if (from == to && f->result.typmod != -1) {               /* varchar(3)[] */
        cast->to = type_make(to, f->result.typmod);
        function = cast_length(cast->to, explicit_cast);
    }
    if (!function)
        return STATUS_OK;
    struct function_bind element = {.arena = f->arena, .arg_count = 1, .arg_types = &cast->from, .constants = NULL, .kernel = function->kernel, .result = cast->to};
    if (function->bind) {
        enum status s = function->bind(&element);
        if (s)
            return s;
    }
    cast->kernel = element.kernel;
    cast->data = element.data;
    cast->to = element.result;
    return STATUS_OK;
}
static enum status bind_array(struct function_bind *f) { return bind_elements(f, false); }
static enum status bind_array_cut(struct function_bind *f) { return bind_elements(f, true); }       /* x::varchar(3)[] cuts */

/* ---- lengths ---- */

static enum status string_length(struct kernel_call *c, bool explicit_cast)
{
    struct varlen *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        out[i] = VECTOR(struct varlen, &c->args[0], i);
        enum status s = text_apply_typmod(c->out_type.oid, c->out_type.typmod, explicit_cast, c->arena, &out[i]);
        if (s)
            FAIL(s);
    }
    return STATUS_OK;
}
static enum status string_cut(struct kernel_call *c) { return string_length(c, true); }
static enum status string_check(struct kernel_call *c) { return string_length(c, false); }
static enum status bind_cut(struct function_bind *f) { return bind_wanted(f, string_cut); }
static enum status bind_check(struct function_bind *f) { return bind_wanted(f, string_check); }
static enum status time_kernel(struct kernel_call *c)
{
    const int32_t typmod = c->out_type.typmod;
    KERNEL_BEGIN_(int64_t)
    out_[i] = time_round(VECTOR(int64_t, &c->args[0], i), typmod);
    }
    return STATUS_OK;
}
static enum status bind_time(struct function_bind *f) { return bind_wanted(f, time_kernel); }
static enum status interval_kernel(struct kernel_call *c)
{
    KERNEL_BEGIN_(struct interval)
    out_[i] = VECTOR(struct interval, &c->args[0], i);
    enum status s = interval_apply_typmod(&out_[i], c->out_type.typmod);
    if (s)
        FAIL(s);
    }
    return STATUS_OK;
}
static enum status bind_interval(struct function_bind *f) { return bind_wanted(f, interval_kernel); }
enum status b_numeric(struct function_bind *);

#define LENGTH(OID, NAME, TYPE, BIND) \
    {.oid = OID, .name = NAME, .kind = FUNCTION_SCALAR, .arg_count = 1, .arg_types = {TYPE}, .result = TYPE, .strict = true, .volatility = IMMUTABLE, .parallel_safe = true, .bind = BIND}
static const struct function varchar_cut = LENGTH(669, "varchar", OID_VARCHAR, bind_cut), varchar_check = LENGTH(669, "varchar", OID_VARCHAR, bind_check),
                             bpchar_cut = LENGTH(668, "bpchar", OID_BPCHAR, bind_cut), bpchar_check = LENGTH(668, "bpchar", OID_BPCHAR, bind_check),
                             time_length = LENGTH(1968, "time", OID_TIME, bind_time), timestamp_length = LENGTH(1961, "timestamp", OID_TIMESTAMP, bind_time),
                             timestamptz_length = LENGTH(1967, "timestamptz", OID_TIMESTAMPTZ, bind_time),
                             interval_length = LENGTH(1200, "interval", OID_INTERVAL, bind_interval), numeric_length = LENGTH(1703, "numeric", OID_NUMERIC, b_numeric);

/* Its text hangs on no setting, either way. */
static bool plain_text(uint32_t oid)
{
    switch (oid) {
    case OID_BOOL: case OID_INT2: case OID_INT4: case OID_INT8: case OID_NUMERIC: case OID_FLOAT4: case OID_FLOAT8: case OID_UUID: case OID_OID:
    case OID_TEXT: case OID_VARCHAR: case OID_BPCHAR: case OID_NAME: case OID_CHAR: return true;
    default: return false;
    }
}

__attribute__((constructor(203))) static void cast_index(void)
{
    static const uint32_t strings[3] = {OID_TEXT, OID_VARCHAR, OID_BPCHAR};
    for (int i = 0; i < 6; i++)          /* of types whose text hangs on settings, and of the others */
        to_text_rows[i / 3][i % 3] = (struct function){.name = type_info(strings[i % 3])->name, .kind = FUNCTION_SCALAR, .arg_count = 1, .arg_types = {OID_ANY}, .result = strings[i % 3],
                                                       .strict = true, .volatility = i < 3 ? STABLE : IMMUTABLE, .parallel_safe = true, .kernel = to_text};
    ASSERT(type_count() <= TYPES_MAX);
    for (size_t i = 0; i < type_count(); i++) {
        const struct type_info *t = type_at(i);
        from_text_rows[i] = (struct function){.name = t->name, .kind = FUNCTION_SCALAR, .arg_count = 1, .arg_types = {OID_TEXT}, .result = t->oid,
                                              .strict = true, .volatility = plain_text(t->oid) ? IMMUTABLE : STABLE, .parallel_safe = true, .kernel = from_text, .bind = bind_from_text};
        array_rows[i] = (struct function){.name = t->name, .kind = FUNCTION_SCALAR, .arg_count = 1, .arg_types = {OID_ANYARRAY}, .result = t->oid,
                                          .strict = true, .volatility = IMMUTABLE, .parallel_safe = true, .kernel = array_kernel, .bind = bind_array};
        array_cut_rows[i] = array_rows[i];
        array_cut_rows[i].bind = bind_array_cut;
    }
}

static bool is_string(uint32_t oid) { return oid == OID_TEXT || oid == OID_VARCHAR || oid == OID_BPCHAR || oid == OID_NAME || oid == OID_UNKNOWN || oid == OID_CSTRING; }

const struct function *cast_length(struct sql_type to, bool explicit_cast)
{
    if (to.oid == OID_NUMERIC)
        return &numeric_length;
    if (to.typmod < 0)
        return NULL;
    if (type_class(to.oid) == CLASS_ARRAY && to.oid != OID_ANYARRAY) {
        struct sql_type element = type_make(type_element_of(to.oid), to.typmod);
        for (size_t i = 0; cast_length(element, explicit_cast) && i < type_count(); i++)
            if (type_at(i)->oid == to.oid)
                return explicit_cast ? &array_cut_rows[i] : &array_rows[i];
        return NULL;
    }
    switch (to.oid) {
    case OID_VARCHAR: return explicit_cast ? &varchar_cut : &varchar_check;
    case OID_BPCHAR: return explicit_cast ? &bpchar_cut : &bpchar_check;
    case OID_TIME: return &time_length;
    case OID_TIMESTAMP: return &timestamp_length;
    case OID_TIMESTAMPTZ: return &timestamptz_length;
    case OID_INTERVAL: return &interval_length;
    default: return NULL;
    }
}

const struct function *cast_find(uint32_t from, uint32_t to, enum cast_context context, bool *binary)
{
    *binary = false;
    if (from == to) {
        *binary = true;
        return NULL;
    }
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].source == from && rows[i].target == to) {
            if (strength(rows[i].context) > strength((char)context))
                return NULL;
            if (!rows[i].function) {
                *binary = true;
                return NULL;
            }
            return function_by_oid(rows[i].function);
        }
    uint32_t from_element = type_element_of(from), to_element = type_element_of(to);
    bool array_bytes = type_class(from) == CLASS_ARRAY || type_class(from) == CLASS_INTVECTOR || type_class(from) == CLASS_OIDVECTOR;      /* vectors are arrays, too */
    if (from_element && to_element && array_bytes && type_class(to) == CLASS_ARRAY) {
        bool same;
        if (!cast_find(from_element, to_element, context, &same) && !same)
            return NULL;
        for (size_t i = 0; i < type_count(); i++)
            if (type_at(i)->oid == to)
                return &array_rows[i];
    }
    if (!type_info(from) || !type_info(to) || type_class(from) == CLASS_NONE || type_class(to) == CLASS_NONE || to == OID_RECORD)
        return NULL;
    if ((to == OID_TEXT || to == OID_VARCHAR || to == OID_BPCHAR) && context != CAST_IMPLICIT)
        return &to_text_rows[plain_text(from)][to == OID_TEXT ? 0 : to == OID_VARCHAR ? 1 : 2];
    if (is_string(from) && context == CAST_EXPLICIT)
        for (size_t i = 0; i < type_count(); i++)
            if (type_at(i)->oid == to)
                return &from_text_rows[i];
    return NULL;
}
