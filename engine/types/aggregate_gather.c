/* engine/types/aggregate_gather.c - string_agg and array_agg: they keep every value, in row order.
 *
 * string_agg stores each value behind its own delimiter, the first one's too, so that a later state can be appended to an
 * earlier one; the first delimiter is cut off at the end. */
#include "engine/types/aggregate_private.h"
#include "engine/types/array.h"

/* A state that is combined may have grown in a worker's arena, and goes on in the leader's: only its own arena can enlarge memory in place. */
static void *grow(struct arena **home, struct arena *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    bool own = *home == arena;
    *home = arena;
    return own || !old ? arena_grow(arena, old, old_bytes, new_bytes) : memcpy(arena_alloc(arena, new_bytes), old, old_bytes);
}

struct text_state { struct arena *home; uint8_t *bytes; uint32_t length, capacity, first_delimiter; bool any; };

static enum status text_add(struct text_state *s, const void *bytes, size_t length, struct arena *arena)
{
    size_t need = (size_t)s->length + length;
    if (need > 0x3fffffff)
        return error_set(STATUS_LIMIT_EXCEEDED, "out of memory: cannot enlarge string buffer containing %u bytes by %zu more bytes", s->length, length);
    if (need > s->capacity) {
        size_t capacity = s->capacity ? s->capacity * (size_t)2 : 64;
        while (capacity < need)
            capacity *= 2;
        s->bytes = grow(&s->home, arena, s->bytes, s->capacity, capacity);
        s->capacity = (uint32_t)capacity;
    }
    if (length)
        memcpy(s->bytes + s->length, bytes, length);
    s->length += (uint32_t)length;
    return STATUS_OK;
}

static enum status text_row(struct text_state *s, struct aggregate_call *c, size_t i)
{
    if (vector_null(&c->args[0], i))
        return STATUS_OK;
    struct varlen value = VECTOR(struct varlen, &c->args[0], i), delimiter = {0};
    if (!vector_null(&c->args[1], i))
        delimiter = VECTOR(struct varlen, &c->args[1], i);
    if (!s->any) {
        s->any = true;
        s->first_delimiter = delimiter.length;
    }
    enum status st = text_add(s, delimiter.bytes, delimiter.length, c->arena);
    return st ? st : text_add(s, value.bytes, value.length, c->arena);
}
UPDATE(string_agg, struct text_state, CHECK_ROW(text_row(s, c, i)))
static enum status string_agg_combine(void *into, const void *from, struct arena *arena)
{
    struct text_state *s = into;
    const struct text_state *f = from;
    if (!f->any)
        return STATUS_OK;
    if (!s->any) {
        s->any = true;
        s->first_delimiter = f->first_delimiter;
    }
    return text_add(s, f->bytes, f->length, arena);
}
static enum status string_agg_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)result;
    const struct text_state *s = state;
    *out = (struct value){.null = !s->any};
    if (s->any)
        out->v = text_copy(arena, s->bytes + s->first_delimiter, s->length - s->first_delimiter);
    return STATUS_OK;
}
AGGREGATE(string_agg, string_agg, string_agg_finish, struct text_state, false, true)

struct list_state { struct arena *home; struct value *values; uint32_t count, capacity; struct sql_type type; };

static void list_add(struct list_state *s, const struct value *v, struct arena *arena)
{
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 8;
        s->values = grow(&s->home, arena, s->values, s->capacity * sizeof *s->values, capacity * sizeof *s->values);
        s->capacity = capacity;
    }
    s->values[s->count] = *v;
    if (!v->null && s->type.width == WIDTH_VARLEN)
        s->values[s->count].v = text_copy(arena, v->v.bytes, v->v.length);
    s->count++;
}

static enum status list_row(struct list_state *s, struct aggregate_call *c, size_t i)
{
    struct value v = value_get(c->arg_types[0], &c->args[0], i);
    s->type = c->arg_types[0];
    if (s->count >= 134217727)
        return error_set(STATUS_LIMIT_EXCEEDED, "array size exceeds the maximum allowed (%d)", 134217727);
    if (s->type.oid == OID_NUMERIC && s->type.width != WIDTH_VARLEN) {        /* arrays hold the general form */
        if (!v.null) {
            struct numeric n;
            numeric_read(c->arg_types[0], &c->args[0], i, &n);
            v.v = numeric_varlen(&n, c->arena);
            numeric_free(&n);
        }
        s->type = type_make(OID_NUMERIC, -1);
    }
    list_add(s, &v, c->arena);
    return STATUS_OK;
}
UPDATE(array_agg, struct list_state, CHECK_ROW(list_row(s, c, i)))
static enum status array_agg_combine(void *into, const void *from, struct arena *arena)
{
    struct list_state *s = into;
    const struct list_state *f = from;
    if (f->count)
        s->type = f->type;
    for (uint32_t i = 0; i < f->count; i++)
        list_add(s, &f->values[i], arena);
    return STATUS_OK;
}
static enum status array_agg_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct list_state *s = state;
    *out = (struct value){.null = !s->count};
    if (s->count)
        out->v = array_of(type_element_of(result.oid), s->values, s->count, arena);
    return STATUS_OK;
}
AGGREGATE(array_agg, array_agg, array_agg_finish, struct list_state, false, true)

/* Arrays of arrays: one dimension more, all of the same shape. */
#define array_agg_array_update array_agg_update
#define array_agg_array_update_one array_agg_update_one
#define array_agg_array_combine array_agg_combine
static enum status array_agg_array_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct list_state *s = state;
    *out = (struct value){.null = !s->count};
    if (!s->count)
        return STATUS_OK;
    struct array_view first, view;
    struct value *all = NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->values[i].null)
            return error_set(STATUS_NULL_NOT_ALLOWED, "cannot accumulate null arrays");
        array_open(s->values[i].v, &view);
        if (!view.dims)
            return error_set(STATUS_ARRAY_SUBSCRIPT, "cannot accumulate empty arrays");
        if (!i) {
            first = view;
            if (view.dims == ARRAY_DIMS_MAX)
                return error_set(STATUS_LIMIT_EXCEEDED, "number of array dimensions (%d) exceeds the maximum allowed (%d)", view.dims + 1, ARRAY_DIMS_MAX);
            all = arena_array(arena, struct value, (size_t)view.count * s->count);
        } else {
            bool same = view.dims == first.dims;
            for (int k = 0; same && k < view.dims; k++)
                same = view.lengths[k] == first.lengths[k] && view.lower[k] == first.lower[k];
            if (!same)
                return error_set(STATUS_ARRAY_SUBSCRIPT, "cannot accumulate arrays of different dimensionality");
        }
        memcpy(all + (size_t)i * first.count, array_elements(&view, arena), first.count * sizeof *all);
    }
    int32_t lengths[ARRAY_DIMS_MAX], lower[ARRAY_DIMS_MAX];
    lengths[0] = (int32_t)s->count;
    lower[0] = 1;
    memcpy(lengths + 1, first.lengths, sizeof(int32_t) * (size_t)first.dims);
    memcpy(lower + 1, first.lower, sizeof(int32_t) * (size_t)first.dims);
    out->v = array_make(type_element_of(result.oid), first.dims + 1, lengths, lower, all, arena);
    return STATUS_OK;
}
AGGREGATE(array_agg_array, array_agg_array, array_agg_array_finish, struct list_state, false, true)
