/* engine/exec/set_function.c - generate_series, unnest and their kin (see set_function.h). */
#include <string.h>
#include "engine/exec/set_function.h"
#include "engine/exec/batch.h"
#include "engine/types/array.h"
#include "engine/types/datetime.h"
#include "engine/types/numeric.h"
#include "engine/types/regex.h"

static enum status series_int(struct set_call *c)
{
    uint8_t width = c->arg_types[0].width;
    __int128 at[3] = { 0, 0, 1 };
    for (uint32_t i = 0; i < c->arg_count && i < 3; i++)
        at[i] = width == 4 ? c->args[i].i4 : c->args[i].i8;
    if (at[2] == 0)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "step size cannot equal zero");
    enum status status = STATUS_OK;
    for (__int128 v = at[0]; (at[2] > 0 ? v <= at[1] : v >= at[1]) && !status; v += at[2]) {
        struct value value = {0};
        if (width == 4)
            value.i4 = (int32_t)v;
        else
            value.i8 = (int64_t)v;
        status = c->row(c, &value);
    }
    return status;
}

static enum status series_numeric(struct set_call *c)
{
    struct numeric n[3];
    numeric_set(&n[2], 1, 0);
    for (uint32_t i = 0; i < c->arg_count && i < 3; i++) {
        struct vector v;
        vector_of_value(&v, &c->args[i], c->arg_types[i].width);
        numeric_read(c->arg_types[i], &v, 0, &n[i]);
    }
    struct numeric zero;
    numeric_set(&zero, 0, 0);
    int sign = numeric_compare(&n[2], &zero);
    enum status status = STATUS_OK;
    for (int i = 0; i < 3 && !status; i++)
        if (n[i].kind != NUMERIC_FINITE)
            status = error_set(STATUS_INVALID_PARAMETER_VALUE, i == 0 ? "start value cannot be NaN" : i == 1 ? "stop value cannot be NaN" : "step size cannot be NaN");
    if (!status && sign == 0)
        status = error_set(STATUS_INVALID_PARAMETER_VALUE, "step size cannot equal zero");
    struct numeric at;
    numeric_copy(&at, &n[0]);
    while (!status && (sign > 0 ? numeric_compare(&at, &n[1]) <= 0 : numeric_compare(&at, &n[1]) >= 0)) {
        struct value value = {0};
        struct numeric next;
        status = numeric_write(c->types[0], &at, value.bytes, c->arena);
        if (!status)
            status = c->row(c, &value);
        numeric_add(&at, &n[2], &next);
        numeric_free(&at);
        at = next;
    }
    numeric_free(&at);
    for (int i = 0; i < 3; i++)
        numeric_free(&n[i]);
    return status;
}

/* timestamp + interval by the registry's own operator, so that months and time zones are right. */
static enum status series_time(struct set_call *c)
{
    size_t count;
    const struct operator *const *plus = operators_named("+", &count);
    const struct function *add = NULL;
    for (size_t i = 0; i < count; i++)
        if (plus[i]->left == c->arg_types[0].oid && plus[i]->right == OID_INTERVAL)
            add = plus[i]->function;
    if (!add || !add->kernel)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "generate_series over this type is not supported");
    struct vector now, step, next;
    vector_make(&now, c->arena, 8, 1);
    vector_make(&next, c->arena, 8, 1);
    vector_of_value(&step, &c->args[2], c->arg_types[2].width);
    int64_t at = c->args[0].i8, end = c->args[1].i8;
    int sign = 0;
    enum status status = STATUS_OK;
    for (bool first = true; !status; first = false) {
        struct vector args[2] = { now, step };
        uint16_t row = 0;
        struct kernel_call call = { .out = &next, .args = args, .arg_count = 2, .count = 1, .row_count = 1, .arena = c->arena, .error_at = &row,
                                    .out_type = c->arg_types[0], .arg_types = (struct sql_type[]){ c->arg_types[0], c->arg_types[2] } };
        now.nulls[0] = next.nulls[0] = 0;
        *(int64_t *)now.values = at;
        if (first) {                     /* which way does it go? judged at 2000-01-01, as good as anywhere */
            *(int64_t *)now.values = 0;
            status = add->kernel(&call);
            int64_t moved = *(int64_t *)next.values;
            sign = (moved > 0) - (moved < 0);
            if (!status && sign == 0)
                status = error_set(STATUS_INVALID_PARAMETER_VALUE, "step size cannot equal zero");
            continue;
        }
        if (sign > 0 ? at > end : at < end)
            break;
        struct value value = { .i8 = at };
        status = c->row(c, &value);
        if (!status)
            status = add->kernel(&call);
        at = *(int64_t *)next.values;
    }
    return status;
}

static enum status generate_series(struct set_call *c)
{
    switch (c->arg_types[0].oid) {
    case OID_INT4: case OID_INT8: return series_int(c);
    case OID_NUMERIC: return series_numeric(c);
    default: return series_time(c);
    }
}

/* unnest(a, b, …): as many rows as the longest has. */
static enum status unnest(struct set_call *c)
{
    struct array_view *views = arena_array(c->arena, struct array_view, c->arg_count);
    struct value **elements = arena_array(c->arena, struct value *, c->arg_count);
    struct value *row = arena_array(c->arena, struct value, c->column_count > c->arg_count ? c->column_count : c->arg_count);
    uint32_t count = 0;
    for (uint32_t a = 0; a < c->arg_count; a++) {
        if (c->args[a].null)
            continue;
        array_open(c->args[a].v, &views[a]);
        elements[a] = array_elements(&views[a], c->arena);
        if (views[a].count > count)
            count = views[a].count;
    }
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        for (uint32_t a = 0; a < c->arg_count; a++)
            row[a] = i < views[a].count ? elements[a][i] : (struct value){ .null = true };
        status = c->row(c, row);
    }
    return status;
}

static enum status generate_subscripts(struct set_call *c)
{
    struct array_view view;
    array_open(c->args[0].v, &view);
    int dim = c->args[1].i4;
    bool reverse = c->arg_count > 2 && c->args[2].b;
    enum status status = STATUS_OK;
    if (dim < 1 || dim > view.dims)
        return STATUS_OK;
    int32_t low = view.lower[dim - 1], length = view.lengths[dim - 1];
    for (int32_t i = 0; i < length && !status; i++) {
        struct value value = { .i4 = reverse ? low + length - 1 - i : low + i };
        status = c->row(c, &value);
    }
    return status;
}

/* string_to_table(text, delimiter [, null text]) */
static enum status string_to_table(struct set_call *c)
{
    if (c->args[0].null)
        return STATUS_OK;
    struct varlen text = c->args[0].v, delimiter = c->args[1].v;
    bool each = c->args[1].null, has_null = c->arg_count > 2 && !c->args[2].null;
    enum status status = STATUS_OK;
    if (text.length == 0)
        return STATUS_OK;
    uint32_t from = 0;
    for (bool more = true; more && !status;) {
        uint32_t end = text.length, next = text.length;
        more = false;
        if (each) {
            uint8_t lead = text.bytes[from];
            uint32_t width = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
            end = next = from + width < text.length ? from + width : text.length;
            more = next < text.length;
        } else if (delimiter.length) {
            const uint8_t *hit = memmem(text.bytes + from, text.length - from, delimiter.bytes, delimiter.length);
            if (hit) {
                end = (uint32_t)(hit - text.bytes);
                next = end + delimiter.length;
                more = true;
            }
        }
        struct value value = { .v = { .bytes = text.bytes + from, .length = end - from } };
        if (has_null && value.v.length == c->args[2].v.length && memcmp(value.v.bytes, c->args[2].v.bytes, value.v.length) == 0)
            value = (struct value){ .null = true };
        status = c->row(c, &value);
        from = next;
    }
    return status;
}

/* regexp_matches and regexp_split_to_table (text, pattern [, flags]) */
static enum status regex_rows(struct set_call *c)
{
    struct varlen flags = c->arg_count > 2 ? c->args[2].v : (struct varlen){ .bytes = (const uint8_t *)"" };
    struct value *values;
    uint32_t count;
    bool split = strcmp(c->function->name, "regexp_split_to_table") == 0;
    enum status status = (split ? regex_split : regex_matches)(c->args[0].v, c->args[1].v, flags, c->arena, &values, &count);
    for (uint32_t i = 0; i < count && !status; i++)
        status = c->row(c, &values[i]);
    return status;
}

/* ---- the registry ---- */

#define REGISTERED_MAX 64
static struct { const char *name; set_function_fn function; } registered[REGISTERED_MAX];
static size_t registered_count;

void set_function_register(const char *name, set_function_fn function)
{
    ASSERT(registered_count < REGISTERED_MAX);
    registered[registered_count].name = name;
    registered[registered_count++].function = function;
}

set_function_fn set_function_find(const struct function *function)
{
    static const struct { const char *name; set_function_fn function; } own[] = {
        { "generate_series", generate_series }, { "unnest", unnest }, { "generate_subscripts", generate_subscripts }, { "string_to_table", string_to_table },
        { "regexp_matches", regex_rows }, { "regexp_split_to_table", regex_rows },
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i].name, function->name) == 0)
            return own[i].function;
    for (size_t i = 0; i < registered_count; i++)
        if (strcmp(registered[i].name, function->name) == 0)
            return registered[i].function;
    return NULL;
}

bool set_function_strict(const struct function *function)
{
    return function->strict && strcmp(function->name, "unnest") != 0 && strcmp(function->name, "string_to_table") != 0;
}
