/* engine/types/aggregate_order.c - count, min, max, and folds of bools and bits: exact, in any order.
 *
 * Of equal values min and max keep the first row's: only a value that is strictly less (greater) takes its place, and
 * combine() is given the states in row order. Values of varying length are copied into room that the state owns in its
 * arena and uses again. */
#include "base/plant.h"
#include "engine/types/aggregate_private.h"

KERNELS_FAST

struct count { int64_t n; };
static enum status count_update(struct aggregate_call *c)
{
    uint8_t *const base = c->base;
    const size_t stride = c->stride;
    if (c->selection)
        for (size_t n = 0; n < c->count; n++)
            ((struct count *)(void *)(base + c->groups[c->selection[n]] * stride))->n++;
    else
        for (size_t i = 0; i < c->count; i++)
            ((struct count *)(void *)(base + c->groups[i] * stride))->n++;
    return STATUS_OK;
}
static enum status count_update_one(struct aggregate_call *c, void *state)
{
    ((struct count *)state)->n += c->count;
    return STATUS_OK;
}
static enum status count_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    ((struct count *)into)->n += ((const struct count *)from)->n;
    return STATUS_OK;
}
static enum status count_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)result;
    (void)arena;
    *out = (struct value){.i8 = ((const struct count *)state)->n};
    return STATUS_OK;
}
AGGREGATE(count_all, count, count_finish, struct count, false, false)
AGGREGATE(count, count, count_finish, struct count, true, false)

/* ---- min and max ---- */

struct extreme {
    struct value value;                  /* of the column's form; varying bytes in room */
    struct sql_type type;
    uint8_t *room;
    uint32_t capacity;
    bool any;
};

static void keep(struct extreme *s, const struct vector *v, size_t at, struct arena *arena)
{
    at = vector_at(v, at);
    if (s->type.width != WIDTH_VARLEN) {
        memcpy(&s->value.i16, (const uint8_t *)v->values + (size_t)s->type.width * at, s->type.width);
        return;
    }
    struct varlen from = ((const struct varlen *)v->values)[at];
    if (from.length > s->capacity || !s->room) {
        s->capacity = from.length < 16 ? 32 : from.length * 2;
        s->room = arena_alloc(arena, s->capacity);
    }
    memcpy(s->room, from.bytes, from.length);
    s->value.v = varlen_of(s->room, from.length);
}

static void consider(struct extreme *s, struct sql_type type, const struct vector *v, size_t at, int wanted, struct arena *arena)
{
    if (!s->any) {
        s->any = true;
        s->type = type;
        keep(s, v, at, arena);
        return;
    }
    struct vector now = {.values = &s->value.i16, .width = type.width, .constant = true};
    if (type_compare(type, v, at, &now, 0) * wanted > 0)
        keep(s, v, at, arena);
}

/* Integers of one width in a tight loop: the best of the batch, then one comparison with the state. */
#define BEST(T) do { \
    const T *values = v->values; \
    T best = PLANT(EXTREME_FROM_ZERO) ? 0 : values[vector_at(v, c->selection ? c->selection[0] : 0)]; \
    if (s->any) \
        memcpy(&best, &s->value.i16, sizeof best); \
    if (v->constant) \
        best = wanted < 0 ? (values[0] < best ? values[0] : best) : (values[0] > best ? values[0] : best); \
    else if (c->selection) \
        for (uint16_t n = 0; n < c->count; n++) { T x = values[c->selection[n]]; best = wanted < 0 ? (x < best ? x : best) : (x > best ? x : best); } \
    else if (wanted < 0) \
        for (uint16_t n = 0; n < c->count; n++) best = values[n] < best ? values[n] : best; \
    else \
        for (uint16_t n = 0; n < c->count; n++) best = values[n] > best ? values[n] : best; \
    s->any = true; \
    s->type = type; \
    memcpy(&s->value.i16, &best, sizeof best); } while (0)

static void extreme_one(struct aggregate_call *c, struct extreme *s, int wanted)
{
    const struct vector *v = &c->args[0];
    struct sql_type type = c->arg_types[0];
    if (!c->count)
        return;
    switch (type_class(type.oid)) {
    case CLASS_INT2: BEST(int16_t); return;
    case CLASS_INT4: case CLASS_DATE: BEST(int32_t); return;
    case CLASS_OID: BEST(uint32_t); return;
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: BEST(int64_t); return;
    case CLASS_NUMERIC:
        if (type.width == 8) {
            BEST(int64_t);
            return;
        }
        break;
    default: break;
    }
    for (KERNEL_ROWS(c, i))
        consider(s, type, v, i, wanted, c->arena);
}

#define GROUPED(T) \
    for (KERNEL_ROWS(c, i)) { \
        struct extreme *s = aggregate_state(c, i); \
        T x = VECTOR(T, v, i), now; \
        memcpy(&now, &s->value.i16, sizeof now); \
        if (!s->any || (wanted < 0 ? x < now : x > now)) { \
            memcpy(&s->value.i16, &x, sizeof x); \
            s->type = type; \
            s->any = true; \
        } \
    } \
    return

static void extreme_grouped(struct aggregate_call *c, int wanted)
{
    const struct vector *v = &c->args[0];
    struct sql_type type = c->arg_types[0];
    switch (type_class(type.oid)) {
    case CLASS_INT4: case CLASS_DATE: GROUPED(int32_t);
    case CLASS_INT8: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: GROUPED(int64_t);
    case CLASS_NUMERIC:
        if (type.width == 8) {
            GROUPED(int64_t);
        }
        break;
    default: break;
    }
    for (KERNEL_ROWS(c, i))
        consider(aggregate_state(c, i), type, v, i, wanted, c->arena);
}

static void extreme_combine(struct extreme *into, const struct extreme *from, int wanted, struct arena *arena)
{
    if (!from->any)
        return;
    struct vector v = {.values = (void *)(uintptr_t)&from->value.i16, .width = from->type.width, .constant = true};
    consider(into, from->type, &v, 0, wanted, arena);
}

static enum status extreme_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct extreme *s = state;
    *out = s->value;
    out->null = !s->any;
    if (s->any && result.width == WIDTH_VARLEN)
        out->v = text_copy(arena, s->value.v.bytes, s->value.v.length);
    return STATUS_OK;
}

#define EXTREME(NAME, WANTED) \
    static enum status NAME##_update(struct aggregate_call *c) { extreme_grouped(c, WANTED); return STATUS_OK; } \
    static enum status NAME##_update_one(struct aggregate_call *c, void *state) { extreme_one(c, state, WANTED); return STATUS_OK; } \
    static enum status NAME##_combine(void *into, const void *from, struct arena *arena) { extreme_combine(into, from, WANTED, arena); return STATUS_OK; } \
    AGGREGATE(NAME, NAME, extreme_finish, struct extreme, true, false)
EXTREME(min, -1)
EXTREME(max, 1)

/* ---- folds ---- */

struct fold { int64_t value; bool any; };
#define FOLD(NAME, T, FIELD, OP) \
    UPDATE(NAME, struct fold, const T x = VECTOR(T, &c->args[0], i); s->value = s->any ? (int64_t)(s->value OP x) : (int64_t)x; s->any = true) \
    static enum status NAME##_combine(void *into, const void *from, struct arena *arena) \
    { \
        (void)arena; \
        struct fold *s = into; \
        const struct fold *f = from; \
        if (f->any || PLANT(EMPTY_MORSEL_COUNTS)) { \
            s->value = s->any ? (s->value OP f->value) : f->value; \
            s->any = true; \
        } \
        return STATUS_OK; \
    } \
    static enum status NAME##_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out) \
    { \
        (void)result; \
        (void)arena; \
        const struct fold *s = state; \
        *out = (struct value){.null = !s->any}; \
        out->FIELD = (T)s->value; \
        return STATUS_OK; \
    } \
    AGGREGATE(NAME, NAME, NAME##_finish, struct fold, true, false)
FOLD(bool_and, uint8_t, b, &)
FOLD(bool_or, uint8_t, b, |)
FOLD(bit_and_int2, int16_t, i2, &)
FOLD(bit_and_int4, int32_t, i4, &)
FOLD(bit_and_int8, int64_t, i8, &)
FOLD(bit_or_int2, int16_t, i2, |)
FOLD(bit_or_int4, int32_t, i4, |)
FOLD(bit_or_int8, int64_t, i8, |)
FOLD(bit_xor_int2, int16_t, i2, ^)
FOLD(bit_xor_int4, int32_t, i4, ^)
FOLD(bit_xor_int8, int64_t, i8, ^)
