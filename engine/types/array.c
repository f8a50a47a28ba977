/* engine/types/array.c - arrays: byte form, text, binary, order, subscripts.
 *
 * An array is taken apart into single values (array_elements), worked on, and put together again (array_make); that is
 * plain, and quick enough for what arrays are used for. An empty array has no dimensions. */
#include "engine/types/array.h"

#include <string.h>
#include "base/hash.h"
#include "engine/types/internal.h"

#define ARRAY_MAX_ELEMENTS (134217727)

static size_t element_bytes(struct sql_type type) { return type.width; }

void array_open(struct varlen v, struct array_view *view)
{
    const uint8_t *p = v.bytes;
    memset(view, 0, sizeof *view);
    ASSERT(v.length >= 8);
    memcpy(&view->element, p, 4);
    view->type = type_make(view->element, -1);
    view->dims = p[4];
    bool nulls = p[5];
    p += 8;
    view->count = view->dims ? 1 : 0;
    for (int i = 0; i < view->dims; i++) {
        memcpy(&view->lengths[i], p, 4);
        memcpy(&view->lower[i], p + 4, 4);
        view->count *= (uint32_t)view->lengths[i];
        p += 8;
    }
    if (nulls) {
        view->nulls = p;
        p += view->count;
    }
    view->data = p;
}

struct value *array_elements(const struct array_view *view, struct arena *arena)
{
    struct value *values = arena_array(arena, struct value, view->count + 1);
    const uint8_t *p = view->data;
    size_t width = element_bytes(view->type);
    for (uint32_t i = 0; i < view->count; i++) {
        bool null = view->nulls && view->nulls[i];
        values[i].null = null;
        if (width) {
            if (!null)
                memcpy(&values[i].i16, p, width);
            p += width;
        } else {
            uint32_t length;
            memcpy(&length, p, 4);
            p += 4;
            if (!null)
                values[i].v = varlen_of(p, length);
            p += length;
        }
    }
    return values;
}

struct varlen array_make(uint32_t element, int dims, const int32_t *lengths, const int32_t *lower, const struct value *elements, struct arena *arena)
{
    struct sql_type type = type_make(element, -1);
    size_t width = element_bytes(type), count = dims ? 1 : 0;
    for (int i = 0; i < dims; i++)
        count *= (size_t)lengths[i];
    if (!count)
        dims = 0;
    bool nulls = false;
    size_t bytes = 8 + 8 * (size_t)dims;
    for (size_t i = 0; i < count; i++) {
        nulls |= elements[i].null;
        bytes += width ? width : 4 + (elements[i].null ? 0 : elements[i].v.length);
    }
    if (nulls)
        bytes += count;
    uint8_t *start = arena_alloc(arena, bytes), *p = start;
    memset(p, 0, 8);
    memcpy(p, &element, 4);
    p[4] = (uint8_t)dims;
    p[5] = nulls;
    p += 8;
    for (int i = 0; i < dims; i++) {
        memcpy(p, &lengths[i], 4);
        memcpy(p + 4, &lower[i], 4);
        p += 8;
    }
    if (nulls)
        for (size_t i = 0; i < count; i++)
            *p++ = elements[i].null;
    for (size_t i = 0; i < count; i++)
        if (width) {
            if (elements[i].null)
                memset(p, 0, width);
            else
                memcpy(p, &elements[i].i16, width);
            p += width;
        } else {
            uint32_t length = elements[i].null ? 0 : elements[i].v.length;
            memcpy(p, &length, 4);
            if (length)
                memcpy(p + 4, elements[i].v.bytes, length);
            p += 4 + length;
        }
    return varlen_of(start, bytes);
}

struct varlen array_of(uint32_t element, const struct value *elements, uint32_t count, struct arena *arena)
{
    int32_t length = (int32_t)count, lower = 1;
    return array_make(element, count ? 1 : 0, &length, &lower, elements, arena);
}

struct value array_subscript(struct varlen bytes, const int32_t *subscripts, int count, struct arena *arena)
{
    struct array_view view;
    struct value none = {.null = true};
    array_open(bytes, &view);
    if (count != view.dims)
        return none;
    uint64_t at = 0;
    for (int i = 0; i < count; i++) {
        int64_t k = (int64_t)subscripts[i] - view.lower[i];
        if (k < 0 || k >= view.lengths[i])
            return none;
        at = at * (uint64_t)view.lengths[i] + (uint64_t)k;
    }
    size_t width = element_bytes(view.type);
    if (width) {
        struct value v = {.null = view.nulls && view.nulls[at]};
        if (!v.null)
            memcpy(&v.i16, view.data + width * at, width);
        return v;
    }
    return array_elements(&view, arena)[at];
}

struct varlen array_slice(struct varlen bytes, const int32_t *from, const int32_t *to, int count, struct arena *arena)
{
    struct array_view view;
    array_open(bytes, &view);
    if (count > view.dims)
        return array_of(view.element, NULL, 0, arena);
    int32_t lengths[ARRAY_DIMS_MAX], lower[ARRAY_DIMS_MAX], first[ARRAY_DIMS_MAX];
    uint64_t total = 1;
    for (int i = 0; i < view.dims; i++) {
        int64_t low = i < count ? from[i] : view.lower[i], high = i < count ? to[i] : (int64_t)view.lower[i] + view.lengths[i] - 1;
        if (low < view.lower[i])
            low = view.lower[i];
        if (high > (int64_t)view.lower[i] + view.lengths[i] - 1)
            high = (int64_t)view.lower[i] + view.lengths[i] - 1;
        if (low > high)
            return array_of(view.element, NULL, 0, arena);
        first[i] = (int32_t)(low - view.lower[i]);
        lengths[i] = (int32_t)(high - low + 1);
        lower[i] = 1;
        total *= (uint64_t)lengths[i];
    }
    if (!view.dims)
        return array_of(view.element, NULL, 0, arena);
    struct value *all = array_elements(&view, arena), *some = arena_array(arena, struct value, total);
    int32_t at[ARRAY_DIMS_MAX] = {0};
    for (uint64_t n = 0; n < total; n++) {
        uint64_t flat = 0;
        for (int i = 0; i < view.dims; i++)
            flat = flat * (uint64_t)view.lengths[i] + (uint64_t)(first[i] + at[i]);
        some[n] = all[flat];
        for (int i = view.dims - 1; i >= 0 && ++at[i] == lengths[i]; i--)
            at[i] = 0;
    }
    return array_make(view.element, view.dims, lengths, lower, some, arena);
}

enum status array_assign(struct varlen bytes, uint32_t element, int32_t subscript, const struct value *v, struct arena *arena, struct varlen *out)
{
    struct array_view view;
    if (!bytes.length)
        bytes = array_of(element, NULL, 0, arena);
    array_open(bytes, &view);
    if (view.dims > 1)
        return error_set(STATUS_ARRAY_SUBSCRIPT, "wrong number of array subscripts");
    int64_t low = view.dims ? view.lower[0] : subscript, high = low + view.count;      /* high is one past */
    int64_t new_low = subscript < low ? subscript : low, new_high = subscript >= high ? (int64_t)subscript + 1 : high;
    if (new_high - new_low > ARRAY_MAX_ELEMENTS)
        return error_set(STATUS_LIMIT_EXCEEDED, "array size exceeds the maximum allowed (%d)", ARRAY_MAX_ELEMENTS);
    struct value *old = array_elements(&view, arena), *new = arena_array(arena, struct value, new_high - new_low);
    for (int64_t i = 0; i < new_high - new_low; i++)
        new[i].null = true;
    for (uint32_t i = 0; i < view.count; i++)
        new[low - new_low + i] = old[i];
    new[subscript - new_low] = *v;
    int32_t length = (int32_t)(new_high - new_low), lower = (int32_t)new_low;
    *out = array_make(element, 1, &length, &lower, new, arena);
    return STATUS_OK;
}

/* ---- text ---- */

static enum status malformed(const char *text, size_t length, const char *detail)
{
    enum status s = error_set(STATUS_INVALID_TEXT, "malformed array literal: \"%.*s\"", (int)length, text);
    error_detail("%s", detail);
    return s;
}

struct reader {
    const char *text, *p, *end;
    size_t length;
    struct sql_type type;
    struct arena *arena;
    int dims;                            /* known depth, or 0 */
    int32_t lengths[ARRAY_DIMS_MAX];     /* -1 not yet known */
    struct value *values;
    size_t count, capacity;
};

static void skip_space(struct reader *r)
{
    while (r->p < r->end && text_is_space(*r->p))
        r->p++;
}

static void add_element(struct reader *r, const struct value *v)
{
    if (r->count == r->capacity) {
        size_t more = r->capacity ? r->capacity * 2 : 16;
        r->values = arena_grow(r->arena, r->values, r->capacity * sizeof *r->values, more * sizeof *r->values);
        r->capacity = more;
    }
    r->values[r->count++] = *v;
}

static enum status read_element(struct reader *r)
{
    struct text_buffer b;
    text_buffer_open(&b, r->arena);
    bool quoted = false;
    size_t solid = 0;                                         /* length up to the last character that isn't a blank */
    if (*r->p == '"') {
        quoted = true;
        r->p++;
        for (;; r->p++) {
            if (r->p >= r->end)
                return malformed(r->text, r->length, "Unexpected end of input.");
            if (*r->p == '"')
                break;
            if (*r->p == '\\' && ++r->p >= r->end)
                return malformed(r->text, r->length, "Unexpected end of input.");
            text_buffer_putc(&b, *r->p);
        }
        r->p++;
        solid = b.length;
        skip_space(r);
        if (r->p < r->end && *r->p != ',' && *r->p != '}')
            return malformed(r->text, r->length, *r->p == '{' ? "Unexpected \"{\" character." : "Unexpected array element.");
    } else
        for (; r->p < r->end && *r->p != ',' && *r->p != '}'; r->p++) {
            if (*r->p == '{')
                return malformed(r->text, r->length, "Unexpected \"{\" character.");
            if (*r->p == '"')
                return malformed(r->text, r->length, "Unexpected array element.");
            if (*r->p == '\\') {
                if (++r->p >= r->end)
                    return malformed(r->text, r->length, "Unexpected end of input.");
                text_buffer_putc(&b, *r->p);
                solid = b.length;
                quoted = quoted || false;
                continue;
            }
            text_buffer_putc(&b, *r->p);
            if (!text_is_space(*r->p))
                solid = b.length;
        }
    if (r->p >= r->end)
        return malformed(r->text, r->length, "Unexpected end of input.");
    struct value v = {.null = false};
    if (!quoted && solid == 0)
        return malformed(r->text, r->length, *r->p == '}' ? "Unexpected \"}\" character." : "Unexpected \",\" character.");
    if (!quoted && solid == 4 && !strncasecmp(b.bytes, "null", 4))
        v.null = true;
    else {
        enum status s = type_in(r->type, b.bytes ? b.bytes : "", solid, r->arena, &v);
        if (s)
            return s;
    }
    add_element(r, &v);
    return STATUS_OK;
}

static enum status read_level(struct reader *r, int depth)
{
    if (depth >= ARRAY_DIMS_MAX)
        return error_set(STATUS_LIMIT_EXCEEDED, "number of array dimensions (%d) exceeds the maximum allowed (%d)", depth + 1, ARRAY_DIMS_MAX);
    int32_t count = 0;
    r->p++;                                                   /* the brace */
    skip_space(r);
    if (r->p < r->end && *r->p == '}') {
        r->p++;
        if (depth && r->dims)
            return malformed(r->text, r->length, "Multidimensional arrays must have sub-arrays with matching dimensions.");
        skip_space(r);
        if (depth && r->p < r->end && *r->p == ',')
            return malformed(r->text, r->length, "Unexpected \"}\" character.");
        if (depth)
            return STATUS_OK;
        r->lengths[0] = 0;
        return STATUS_OK;
    }
    for (;;) {
        skip_space(r);
        if (r->p >= r->end)
            return malformed(r->text, r->length, "Unexpected end of input.");
        enum status s;
        if (*r->p == '{') {
            if (r->dims && depth + 1 >= r->dims)
                return malformed(r->text, r->length, "Multidimensional arrays must have sub-arrays with matching dimensions.");
            s = read_level(r, depth + 1);
        } else {
            if (!r->dims)
                r->dims = depth + 1;
            if (r->dims != depth + 1)
                return malformed(r->text, r->length, "Multidimensional arrays must have sub-arrays with matching dimensions.");
            s = read_element(r);
        }
        if (s)
            return s;
        count++;
        skip_space(r);
        if (r->p >= r->end)
            return malformed(r->text, r->length, "Unexpected end of input.");
        if (*r->p == '}')
            break;
        if (*r->p != ',')
            return malformed(r->text, r->length, "Unexpected array element.");
        r->p++;
    }
    r->p++;
    if (r->lengths[depth] < 0)
        r->lengths[depth] = count;
    else if (r->lengths[depth] != count)
        return malformed(r->text, r->length, "Multidimensional arrays must have sub-arrays with matching dimensions.");
    return STATUS_OK;
}

enum status array_in(struct sql_type array, const char *text, size_t length, struct arena *arena, struct varlen *out)
{
    uint32_t element = type_element_of(array.oid);
    if (!element)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot accept a value of type %s", "anyarray");
    struct reader r = {.text = text, .p = text, .end = text + length, .length = length, .type = type_make(element, array.typmod), .arena = arena};
    if (element == OID_NUMERIC)                               /* general form, but the modifier holds */
        r.type = (struct sql_type){.oid = OID_NUMERIC, .typmod = array.typmod, .width = WIDTH_VARLEN};
    int32_t lower[ARRAY_DIMS_MAX], upper[ARRAY_DIMS_MAX];
    int given = 0;
    skip_space(&r);
    while (r.p < r.end && *r.p == '[') {                      /* [1:3][0:2]= */
        int32_t bounds[2] = {1, 0};
        r.p++;
        for (int i = 0; i < 2; i++) {
            const char *start = r.p;
            if (r.p < r.end && (*r.p == '-' || *r.p == '+'))
                r.p++;
            while (r.p < r.end && *r.p >= '0' && *r.p <= '9')
                r.p++;
            int64_t n;
            if (r.p == start || int_parse(start, (size_t)(r.p - start), 32, &n))
                return malformed(text, length, "Missing array dimension value.");
            bounds[i] = (int32_t)n;
            if (i == 0 && r.p < r.end && *r.p == ':')
                r.p++;
            else if (i == 0) {
                bounds[1] = bounds[0];
                bounds[0] = 1;
                break;
            }
        }
        if (r.p >= r.end || *r.p != ']')
            return malformed(text, length, "Missing \"]\" after array dimensions.");
        r.p++;
        if (given == ARRAY_DIMS_MAX)
            return error_set(STATUS_LIMIT_EXCEEDED, "number of array dimensions (%d) exceeds the maximum allowed (%d)", given + 1, ARRAY_DIMS_MAX);
        if (bounds[1] < bounds[0])
            return error_set(STATUS_ARRAY_SUBSCRIPT, "upper bound cannot be less than lower bound");
        lower[given] = bounds[0];
        upper[given++] = bounds[1];
        skip_space(&r);
    }
    if (given) {
        if (r.p >= r.end || *r.p != '=')
            return malformed(text, length, "Missing \"=\" after array dimensions.");
        r.p++;
        skip_space(&r);
    }
    if (r.p >= r.end || *r.p != '{')
        return malformed(text, length, given ? "Array contents must start with \"{\"." : "Array value must start with \"{\" or dimension information.");
    for (int i = 0; i < ARRAY_DIMS_MAX; i++)
        r.lengths[i] = -1;
    enum status s = read_level(&r, 0);
    if (s)
        return s;
    skip_space(&r);
    if (r.p != r.end)
        return malformed(text, length, "Junk after closing right brace.");
    int dims = r.count ? r.dims : 0;
    if (given) {
        if (given != dims)
            return malformed(text, length, "Specified array dimensions do not match array contents.");
        for (int i = 0; i < dims; i++)
            if (r.lengths[i] != upper[i] - lower[i] + 1)
                return malformed(text, length, "Specified array dimensions do not match array contents.");
    } else
        for (int i = 0; i < ARRAY_DIMS_MAX; i++)
            lower[i] = 1;
    *out = array_make(element, dims, r.lengths, lower, r.values, arena);
    return STATUS_OK;
}

static void put_element(struct sql_type type, const struct value *v, struct text_buffer *scratch, struct text_buffer *out)
{
    if (v->null) {
        text_buffer_puts(out, "NULL");
        return;
    }
    scratch->length = 0;
    value_print(type, v, scratch);
    bool quote = scratch->length == 0 || (scratch->length == 4 && !strncasecmp(scratch->bytes, "null", 4));
    for (size_t i = 0; i < scratch->length && !quote; i++) {
        char c = scratch->bytes[i];
        quote = c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || text_is_space(c);
    }
    if (!quote) {
        text_buffer_add(out, scratch->bytes, scratch->length);
        return;
    }
    text_buffer_putc(out, '"');
    for (size_t i = 0; i < scratch->length; i++) {
        if (scratch->bytes[i] == '"' || scratch->bytes[i] == '\\')
            text_buffer_putc(out, '\\');
        text_buffer_putc(out, scratch->bytes[i]);
    }
    text_buffer_putc(out, '"');
}

void array_out(struct varlen bytes, struct text_buffer *out)
{
    struct array_view view;
    array_open(bytes, &view);
    if (!view.dims) {
        text_buffer_puts(out, "{}");
        return;
    }
    struct arena *arena = arena_open(NULL, "array");
    struct text_buffer scratch;
    text_buffer_open(&scratch, arena);
    struct value *values = array_elements(&view, arena);
    bool bounds = false;
    for (int i = 0; i < view.dims; i++)
        bounds |= view.lower[i] != 1;
    if (bounds) {
        for (int i = 0; i < view.dims; i++)
            text_buffer_printf(out, "[%d:%d]", view.lower[i], view.lower[i] + view.lengths[i] - 1);
        text_buffer_putc(out, '=');
    }
    /* Braces open and close where an index comes to its first and past its last. */
    for (uint32_t n = 0; n < view.count; n++) {
        uint32_t run = 1;
        if (n)
            text_buffer_putc(out, ',');
        int open = 0;
        for (int i = view.dims - 1; i >= 0; i--) {
            run *= (uint32_t)view.lengths[i];
            if (n % run == 0)
                open++;
        }
        while (open--)
            text_buffer_putc(out, '{');
        put_element(view.type, &values[n], &scratch, out);
        run = 1;
        for (int i = view.dims - 1; i >= 0; i--) {
            run *= (uint32_t)view.lengths[i];
            if ((n + 1) % run == 0)
                text_buffer_putc(out, '}');
        }
    }
    arena_close(arena);
}

enum status vector_in(uint32_t oid, const char *text, size_t length, struct arena *arena, struct varlen *out)
{
    uint32_t element = oid == OID_INT2VECTOR ? OID_INT2 : OID_OID;
    const char *p = text, *end = text + length;
    struct value *values = arena_array(arena, struct value, length / 2 + 2);
    int32_t count = 0, lower = 0;
    for (;;) {
        while (p < end && text_is_space(*p))
            p++;
        if (p >= end)
            break;
        const char *start = p;
        while (p < end && !text_is_space(*p))
            p++;
        enum status s = type_in(type_make(element, -1), start, (size_t)(p - start), arena, &values[count++]);
        if (s)
            return s;
    }
    *out = array_make(element, 1, &count, &lower, values, arena);
    return STATUS_OK;
}

void vector_out(struct varlen bytes, struct text_buffer *out)
{
    struct array_view view;
    array_open(bytes, &view);
    struct arena *arena = arena_open(NULL, "array");
    struct value *values = array_elements(&view, arena);
    for (uint32_t i = 0; i < view.count; i++) {
        if (i)
            text_buffer_putc(out, ' ');
        value_print(view.type, &values[i], out);
    }
    arena_close(arena);
}

/* ---- binary: dimensions, null flag, element type; length and lower bound each; then the elements with their lengths ---- */

static void put32(struct text_buffer *out, int32_t v)
{
    uint8_t b[4] = {(uint8_t)((uint32_t)v >> 24), (uint8_t)((uint32_t)v >> 16), (uint8_t)((uint32_t)v >> 8), (uint8_t)v};
    text_buffer_add(out, b, 4);
}

void array_send(struct varlen bytes, struct text_buffer *out)
{
    struct array_view view;
    array_open(bytes, &view);
    put32(out, view.dims);
    put32(out, view.nulls != NULL);
    put32(out, (int32_t)view.element);
    for (int i = 0; i < view.dims; i++) {
        put32(out, view.lengths[i]);
        put32(out, view.lower[i]);
    }
    struct arena *arena = arena_open(NULL, "array");
    struct value *values = array_elements(&view, arena);
    struct text_buffer scratch;
    text_buffer_open(&scratch, arena);
    for (uint32_t i = 0; i < view.count; i++) {
        if (values[i].null) {
            put32(out, -1);
            continue;
        }
        struct vector one = {.values = (void *)(uintptr_t)value_bytes(&values[i]), .width = view.type.width, .constant = true};
        scratch.length = 0;
        type_send(view.type, &one, 0, &scratch);
        put32(out, (int32_t)scratch.length);
        text_buffer_add(out, scratch.bytes, scratch.length);
    }
    arena_close(arena);
}

static bool take32(const uint8_t **p, const uint8_t *end, int32_t *out)
{
    if (end - *p < 4)
        return false;
    *out = (int32_t)((uint32_t)(*p)[0] << 24 | (uint32_t)(*p)[1] << 16 | (uint32_t)(*p)[2] << 8 | (*p)[3]);
    *p += 4;
    return true;
}

enum status array_receive(struct sql_type array, const uint8_t *bytes, size_t length, struct arena *arena, struct varlen *out)
{
    const uint8_t *p = bytes, *end = bytes + length;
    int32_t dims, flags, element, lengths[ARRAY_DIMS_MAX], lower[ARRAY_DIMS_MAX];
    if (!take32(&p, end, &dims) || !take32(&p, end, &flags) || !take32(&p, end, &element))
        return error_set(STATUS_PROTOCOL_VIOLATION, "insufficient data left in message");
    if (dims < 0 || dims > ARRAY_DIMS_MAX)
        return error_set(STATUS_LIMIT_EXCEEDED, "number of array dimensions (%d) exceeds the maximum allowed (%d)", dims, ARRAY_DIMS_MAX);
    if ((uint32_t)element != type_element_of(array.oid))
        return error_set(STATUS_DATATYPE_MISMATCH, "binary data has array element type %d (%s) instead of expected %u (%s)", element,
                         type_format((uint32_t)element, -1, arena), type_element_of(array.oid), type_format(type_element_of(array.oid), -1, arena));
    uint64_t count = dims ? 1 : 0;
    for (int i = 0; i < dims; i++) {
        if (!take32(&p, end, &lengths[i]) || !take32(&p, end, &lower[i]))
            return error_set(STATUS_PROTOCOL_VIOLATION, "insufficient data left in message");
        if (lengths[i] < 0)
            return error_set(STATUS_INVALID_BINARY, "incorrect binary data format");
        count *= (uint64_t)lengths[i];
        if (count > ARRAY_MAX_ELEMENTS || count * 4 > length)
            return error_set(STATUS_PROTOCOL_VIOLATION, "insufficient data left in message");
    }
    struct sql_type type = type_make((uint32_t)element, -1);
    struct value *values = arena_array(arena, struct value, count + 1);
    for (uint64_t i = 0; i < count; i++) {
        int32_t n;
        if (!take32(&p, end, &n) || (n >= 0 && end - p < n))
            return error_set(STATUS_PROTOCOL_VIOLATION, "insufficient data left in message");
        if (n < 0) {
            values[i].null = true;
            continue;
        }
        enum status s = type_receive(type, p, (size_t)n, arena, &values[i]);
        if (s)
            return s;
        p += n;
    }
    if (p != end)
        return error_set(STATUS_INVALID_BINARY, "incorrect binary data format");
    *out = array_make((uint32_t)element, dims, lengths, lower, values, arena);
    return STATUS_OK;
}

/* ---- order ---- */

int array_compare(struct varlen x, struct varlen y)
{
    struct array_view a, b;
    array_open(x, &a);
    array_open(y, &b);
    struct arena *arena = arena_open(NULL, "array");
    struct value *va = array_elements(&a, arena), *vb = array_elements(&b, arena);
    uint32_t n = a.count < b.count ? a.count : b.count;
    int order = 0;
    for (uint32_t i = 0; i < n && !order; i++) {
        if (va[i].null || vb[i].null)
            order = (int)va[i].null - (int)vb[i].null;        /* null is greater */
        else
            order = value_order(a.type, &va[i], &vb[i]);
    }
    if (!order)
        order = (a.count > b.count) - (a.count < b.count);
    if (!order)
        order = (a.dims > b.dims) - (a.dims < b.dims);
    for (int i = 0; i < a.dims && !order; i++)
        order = (a.lengths[i] > b.lengths[i]) - (a.lengths[i] < b.lengths[i]);
    for (int i = 0; i < a.dims && !order; i++)
        order = (a.lower[i] > b.lower[i]) - (a.lower[i] < b.lower[i]);
    arena_close(arena);
    return order;
}

uint64_t array_hash(struct varlen x)
{
    struct array_view a;
    array_open(x, &a);
    struct arena *arena = arena_open(NULL, "array");
    struct value *v = array_elements(&a, arena);
    uint64_t h = a.count;
    for (uint32_t i = 0; i < a.count; i++)
        h = hash_join(h, v[i].null ? 0 : value_hash(a.type, &v[i]));
    arena_close(arena);
    return h;
}
