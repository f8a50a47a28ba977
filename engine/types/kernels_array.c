/* engine/types/kernels_array.c - functions and operators of arrays.
 *
 * They are polymorphic: the element type is the array's own (it stands in its bytes) or, where there is no array yet,
 * the argument's. A bind gives the result the argument's type. */
#include <stdlib.h>
#include <string.h>
#include "engine/types/array.h"
#include "engine/types/kernel.h"

#define ARRAY struct varlen

/* ---- measures ---- */

KERNEL1(k_array_ndims, ARRAY, int32_t, struct array_view v; array_open(a, &v); if (!v.dims) GIVE_NULL; r = v.dims)
KERNEL1(k_array_cardinality, ARRAY, int32_t, struct array_view v; array_open(a, &v); r = (int32_t)v.count)
#define DIMENSION(NAME, VALUE) \
    KERNEL2(k_##NAME, ARRAY, int32_t, int32_t, struct array_view v; array_open(a, &v); if (b < 1 || b > v.dims) GIVE_NULL; r = (VALUE))
DIMENSION(array_length, v.lengths[b - 1])
DIMENSION(array_lower, v.lower[b - 1])
DIMENSION(array_upper, v.lower[b - 1] + v.lengths[b - 1] - 1)
enum status k_array_dims(struct kernel_call *c)
{
    ARRAY *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct array_view v;
        array_open(VECTOR(ARRAY, &c->args[0], i), &v);
        if (!v.dims) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = (ARRAY){0};
            continue;
        }
        struct text_buffer b;
        text_buffer_open(&b, c->arena);
        for (int k = 0; k < v.dims; k++)
            text_buffer_printf(&b, "[%d:%d]", v.lower[k], v.lower[k] + v.lengths[k] - 1);
        out[i] = varlen_of(b.bytes, b.length);
    }
    return STATUS_OK;
}

/* ---- elements in and out ---- */

/* The argument's value, in the form in which arrays hold it. */
static struct value element(struct kernel_call *c, uint16_t argument, size_t i)
{
    struct value v = value_get(c->arg_types[argument], &c->args[argument], i);
    if (!v.null && c->arg_types[argument].oid == OID_NUMERIC && c->arg_types[argument].width != WIDTH_VARLEN) {
        struct numeric n;
        numeric_read(c->arg_types[argument], &c->args[argument], i, &n);
        v.v = numeric_varlen(&n, c->arena);
        numeric_free(&n);
    }
    return v;
}

static enum status not_empty_error(void) { return error_set(STATUS_DATA_EXCEPTION, "argument must be empty or one-dimensional array"); }

static enum status add_end(struct kernel_call *c, size_t i, uint16_t array, uint16_t value, bool front, ARRAY *out)
{
    struct array_view v = {.element = c->arg_types[value].oid, .type = type_make(c->arg_types[value].oid, -1)};
    if (!vector_null(&c->args[array], i))
        array_open(VECTOR(ARRAY, &c->args[array], i), &v);
    if (v.dims > 1)
        return not_empty_error();
    struct value *old = v.count ? array_elements(&v, c->arena) : NULL, *new = arena_array(c->arena, struct value, v.count + 1);
    if (v.count)
        memcpy(new + (front ? 1 : 0), old, v.count * sizeof *new);
    new[front ? 0 : v.count] = element(c, value, i);
    int32_t length = (int32_t)v.count + 1, lower = v.dims ? v.lower[0] : 1;
    *out = array_make(v.element, 1, &length, &lower, new, c->arena);
    return STATUS_OK;
}
#define ROWS_OF_ARRAY(NAME, ...) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        KERNEL_BEGIN_(ARRAY) \
        __VA_ARGS__; \
        } \
        return STATUS_OK; \
    }
ROWS_OF_ARRAY(array_append, CHECK_ROW(add_end(c, i, 0, 1, false, &out_[i])))
ROWS_OF_ARRAY(array_prepend, CHECK_ROW(add_end(c, i, 1, 0, true, &out_[i])))

static enum status concatenate(ARRAY a, ARRAY b, struct arena *arena, ARRAY *out)
{
    struct array_view x, y;
    array_open(a, &x);
    array_open(b, &y);
    if (!x.dims || !y.dims) {
        *out = x.dims ? a : b;
        return STATUS_OK;
    }
    int32_t lengths[ARRAY_DIMS_MAX];
    const struct array_view *deep = x.dims >= y.dims ? &x : &y;
    bool same = abs(x.dims - y.dims) <= 1;
    int skip_x = deep->dims - x.dims, skip_y = deep->dims - y.dims;
    for (int k = 1; same && k < deep->dims; k++)
        same = x.lengths[k - skip_x] == y.lengths[k - skip_y];
    if (!same) {
        enum status s = error_set(STATUS_ARRAY_SUBSCRIPT, "cannot concatenate incompatible arrays");
        if (x.dims != y.dims)
            error_detail("Arrays of %d and %d dimensions are not compatible for concatenation.", x.dims, y.dims);
        else
            error_detail("Arrays with differing element dimensions are not compatible for concatenation.");
        return s;
    }
    memcpy(lengths, deep->lengths, sizeof lengths);
    lengths[0] = (skip_x ? 1 : x.lengths[0]) + (skip_y ? 1 : y.lengths[0]);
    struct value *all = arena_array(arena, struct value, x.count + y.count);
    memcpy(all, array_elements(&x, arena), x.count * sizeof *all);
    memcpy(all + x.count, array_elements(&y, arena), y.count * sizeof *all);
    *out = array_make(x.element, deep->dims, lengths, deep->lower, all, arena);
    return STATUS_OK;
}
enum status k_array_cat(struct kernel_call *c)
{
    KERNEL_BEGIN_(ARRAY)
    bool no_a = vector_null(&c->args[0], i), no_b = vector_null(&c->args[1], i);
    if (no_a && no_b) {
        c->out->nulls[i] = 1;
        c->has_nulls = true;
        out_[i] = (ARRAY){0};
    } else if (no_a)
        out_[i] = VECTOR(ARRAY, &c->args[1], i);
    else if (no_b)
        out_[i] = VECTOR(ARRAY, &c->args[0], i);
    else
        CHECK_ROW(concatenate(VECTOR(ARRAY, &c->args[0], i), VECTOR(ARRAY, &c->args[1], i), c->arena, &out_[i]));
    }
    return STATUS_OK;
}

static bool equal(const struct array_view *v, const struct value *a, const struct value *b)
{
    return a->null || b->null ? a->null && b->null : value_order(v->type, a, b) == 0;
}

/* Where the value stands, from `start` on; -1 nowhere. */
static int64_t find(const struct array_view *v, const struct value *values, const struct value *wanted, uint32_t start)
{
    for (uint32_t k = start; k < v->count; k++)
        if (equal(v, &values[k], wanted))
            return k;
    return -1;
}
static enum status multidimensional(void) { return error_set(STATUS_FEATURE_NOT_SUPPORTED, "searching for elements in multidimensional arrays is not supported"); }

enum status k_array_position(struct kernel_call *c)
{
    int32_t *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        int64_t at = -1;
        struct array_view v = {0};
        if (!vector_null(&c->args[0], i)) {
            array_open(VECTOR(ARRAY, &c->args[0], i), &v);
            if (v.dims > 1)
                FAIL(multidimensional());
            int64_t start = 0;
            if (c->arg_count > 2) {
                if (vector_null(&c->args[2], i))
                    FAIL(error_set(STATUS_NULL_NOT_ALLOWED, "initial position must not be null"));
                start = (int64_t)VECTOR(int32_t, &c->args[2], i) - (v.dims ? v.lower[0] : 1);
            }
            struct value wanted = element(c, 1, i);
            at = find(&v, array_elements(&v, c->arena), &wanted, start < 0 ? 0 : (uint32_t)start);
        }
        if (at < 0) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = 0;
        } else
            out[i] = v.lower[0] + (int32_t)at;
    }
    return STATUS_OK;
}
enum status k_array_position_start(struct kernel_call *c) { return k_array_position(c); }

enum status k_array_positions(struct kernel_call *c)
{
    KERNEL_BEGIN_(ARRAY)
    struct array_view v;
    if (vector_null(&c->args[0], i)) {
        c->out->nulls[i] = 1;
        c->has_nulls = true;
        out_[i] = (ARRAY){0};
        continue;
    }
    array_open(VECTOR(ARRAY, &c->args[0], i), &v);
    if (v.dims > 1)
        FAIL(multidimensional());
    struct value *values = array_elements(&v, c->arena), *found = arena_array(c->arena, struct value, v.count + 1), wanted = element(c, 1, i);
    uint32_t count = 0;
    for (int64_t at = find(&v, values, &wanted, 0); at >= 0; at = find(&v, values, &wanted, (uint32_t)at + 1))
        found[count++].i4 = v.lower[0] + (int32_t)at;
    out_[i] = array_of(OID_INT4, found, count, c->arena);
    }
    return STATUS_OK;
}

/* Keeps the shape for replace; remove works on one dimension. */
static enum status change(struct kernel_call *c, size_t i, bool remove, ARRAY *out)
{
    struct array_view v;
    array_open(VECTOR(ARRAY, &c->args[0], i), &v);
    if (remove && v.dims > 1)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "removing elements from multidimensional arrays is not supported");
    struct value *values = array_elements(&v, c->arena), from = element(c, 1, i), to = remove ? from : element(c, 2, i);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < v.count; k++) {
        bool hit = equal(&v, &values[k], &from);
        if (hit && remove)
            continue;
        values[kept++] = hit ? to : values[k];
    }
    if (remove) {
        int32_t length = (int32_t)kept, lower = v.dims ? v.lower[0] : 1;
        *out = array_make(v.element, kept ? 1 : 0, &length, &lower, values, c->arena);
    } else
        *out = array_make(v.element, v.dims, v.lengths, v.lower, values, c->arena);
    return STATUS_OK;
}
#define CHANGE(NAME, REMOVE) \
    ROWS_OF_ARRAY(NAME, if (vector_null(&c->args[0], i)) { c->out->nulls[i] = 1; c->has_nulls = true; out_[i] = (ARRAY){0}; continue; } CHECK_ROW(change(c, i, REMOVE, &out_[i])))
CHANGE(array_remove, true)
CHANGE(array_replace, false)

static enum status trim(ARRAY a, int32_t n, struct arena *arena, ARRAY *out)
{
    struct array_view v;
    array_open(a, &v);
    int32_t length = v.dims ? v.lengths[0] : 0;
    if (n < 0 || n > length)
        return error_set(STATUS_ARRAY_SUBSCRIPT, "number of elements to trim must be between 0 and %d", length);
    if (!v.dims) {
        *out = a;
        return STATUS_OK;
    }
    int32_t from = v.lower[0], to = v.lower[0] + length - n - 1;
    *out = array_slice(a, &from, &to, 1, arena);
    return STATUS_OK;
}
KERNEL2(k_trim_array, ARRAY, int32_t, ARRAY, CHECK_ROW(trim(a, b, c->arena, &r)))

static enum status fill(struct kernel_call *c, size_t i, ARRAY *out)
{
    struct array_view dims, bounds;
    int32_t lengths[ARRAY_DIMS_MAX], lower[ARRAY_DIMS_MAX] = {1, 1, 1, 1, 1, 1};
    if (vector_null(&c->args[1], i) || (c->arg_count > 2 && vector_null(&c->args[2], i)))
        return error_set(STATUS_NULL_NOT_ALLOWED, "dimension array or low bound array cannot be null");
    array_open(VECTOR(ARRAY, &c->args[1], i), &dims);
    if (dims.dims > 1)
        return error_set(STATUS_ARRAY_SUBSCRIPT, "wrong number of array subscripts");
    if (dims.count > ARRAY_DIMS_MAX)
        return error_set(STATUS_LIMIT_EXCEEDED, "number of array dimensions (%u) exceeds the maximum allowed (%d)", dims.count, ARRAY_DIMS_MAX);
    struct value *values = array_elements(&dims, c->arena);
    uint64_t count = dims.count ? 1 : 0;
    for (uint32_t k = 0; k < dims.count; k++) {
        if (values[k].null)
            return error_set(STATUS_NULL_NOT_ALLOWED, "dimension values cannot be null");
        if (values[k].i4 < 0)
            return error_set(STATUS_LIMIT_EXCEEDED, "array size exceeds the maximum allowed (%d)", 134217727);
        lengths[k] = values[k].i4;
        count *= (uint64_t)lengths[k];
        if (count > 134217727)
            return error_set(STATUS_LIMIT_EXCEEDED, "array size exceeds the maximum allowed (%d)", 134217727);
    }
    if (c->arg_count > 2) {
        array_open(VECTOR(ARRAY, &c->args[2], i), &bounds);
        if (bounds.count != dims.count)
            return error_set(STATUS_ARRAY_SUBSCRIPT, "wrong number of array subscripts");
        struct value *low = array_elements(&bounds, c->arena);
        for (uint32_t k = 0; k < bounds.count; k++)
            lower[k] = low[k].i4;
    }
    struct value *all = arena_array(c->arena, struct value, count + 1), v = element(c, 0, i);
    for (uint64_t k = 0; k < count; k++)
        all[k] = v;
    *out = array_make(c->arg_types[0].oid, (int)dims.count, lengths, lower, all, c->arena);
    return STATUS_OK;
}
ROWS_OF_ARRAY(array_fill, CHECK_ROW(fill(c, i, &out_[i])))
enum status k_array_fill_with_lower_bounds(struct kernel_call *c) { return k_array_fill(c); }

/* ---- sets ---- */

/* Every element of a is in b. */
static bool contained(ARRAY a, ARRAY b, struct arena *arena)
{
    struct array_view x, y;
    array_open(a, &x);
    array_open(b, &y);
    struct value *vx = array_elements(&x, arena), *vy = array_elements(&y, arena);
    for (uint32_t k = 0; k < x.count; k++) {
        bool found = false;
        for (uint32_t n = 0; !found && n < y.count; n++)
            found = !vx[k].null && !vy[n].null && value_order(x.type, &vx[k], &vy[n]) == 0;
        if (!found)
            return false;
    }
    return true;
}
static bool overlap(ARRAY a, ARRAY b, struct arena *arena)
{
    struct array_view x, y;
    array_open(a, &x);
    array_open(b, &y);
    struct value *vx = array_elements(&x, arena), *vy = array_elements(&y, arena);
    for (uint32_t k = 0; k < x.count; k++)
        for (uint32_t n = 0; n < y.count; n++)
            if (!vx[k].null && !vy[n].null && value_order(x.type, &vx[k], &vy[n]) == 0)
                return true;
    return false;
}
KERNEL2(k_arraycontains, ARRAY, ARRAY, uint8_t, r = contained(b, a, c->arena))
KERNEL2(k_arraycontained, ARRAY, ARRAY, uint8_t, r = contained(a, b, c->arena))
KERNEL2(k_arrayoverlap, ARRAY, ARRAY, uint8_t, r = overlap(a, b, c->arena))
KERNEL2(k_array_larger, ARRAY, ARRAY, ARRAY, r = array_compare(a, b) > 0 ? a : b)
KERNEL2(k_array_smaller, ARRAY, ARRAY, ARRAY, r = array_compare(a, b) < 0 ? a : b)

/* ---- binding: the result is the array's type ---- */

static enum status result_array(struct function_bind *f, uint16_t array, uint16_t value)
{
    uint32_t oid = f->arg_types[array].oid;
    if (!type_is_array(oid))
        oid = type_array_of(f->arg_types[value].oid);
    f->result = type_make(oid, -1);
    return STATUS_OK;
}
#define BIND(NAME, ARRAY_ARGUMENT, VALUE_ARGUMENT) \
    enum status b_##NAME(struct function_bind *f) { f->kernel = k_##NAME; return result_array(f, ARRAY_ARGUMENT, VALUE_ARGUMENT); }
BIND(array_append, 0, 1)
BIND(array_prepend, 1, 0)
BIND(array_cat, 0, 1)
BIND(array_remove, 0, 1)
BIND(array_replace, 0, 1)
BIND(trim_array, 0, 0)
BIND(array_larger, 0, 1)
BIND(array_smaller, 0, 1)
enum status b_array_fill(struct function_bind *f)
{
    f->kernel = k_array_fill;
    f->result = type_make(type_array_of(f->arg_types[0].oid), -1);
    return STATUS_OK;
}
enum status b_array_fill_with_lower_bounds(struct function_bind *f) { return b_array_fill(f); }
