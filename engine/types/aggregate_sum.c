/* engine/types/aggregate_sum.c - exact sums, averages and variances of integers and numerics: any order gives the same.
 *
 * Integers and fixed numerics add up in 128 or 192 bits, which no count of rows can overflow. General numerics add in an
 * __int128 at the greatest scale met so far, and in the byte form once that overflows. Variances keep the sum and the
 * sum of squares, exactly, and divide at the end as PostgreSQL does. */
#include "engine/types/aggregate_private.h"

#include <stdlib.h>

KERNELS_FAST

/* ---- sum(int2), sum(int4): a bigint ---- */

struct small_sum { int64_t sum; bool any; };

static enum status small_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)result;
    (void)arena;
    const struct small_sum *s = state;
    *out = (struct value){.null = !s->any};
    out->i8 = s->sum;
    return STATUS_OK;
}
/* 2^31 rows of int4 fit easily: overflow can be looked for once a batch. */
#define SMALL_SUM(NAME, T) \
    static enum status NAME##_update(struct aggregate_call *c) \
    { \
        bool overflow = false; \
        GROUPED_LOOP(struct small_sum, T, overflow |= __builtin_add_overflow(s->sum, (int64_t)x, &s->sum); s->any = true); \
        if (overflow) { \
            *c->error_at = 0; \
            return error_set(STATUS_OUT_OF_RANGE, "bigint out of range"); \
        } \
        return STATUS_OK; \
    } \
    static enum status NAME##_update_one(struct aggregate_call *c, void *state) \
    { \
        struct small_sum *s = state; \
        const T *values = c->args[0].values; \
        int64_t sum = 0; \
        if (!c->count) \
            return STATUS_OK; \
        if (c->args[0].constant) \
            sum = (int64_t)values[0] * c->count; \
        else if (c->selection) \
            for (uint16_t n = 0; n < c->count; n++) sum += values[c->selection[n]]; \
        else \
            for (uint16_t n = 0; n < c->count; n++) sum += values[n]; \
        s->any = true; \
        if (__builtin_add_overflow(s->sum, sum, &s->sum)) { \
            *c->error_at = 0; \
            return error_set(STATUS_OUT_OF_RANGE, "bigint out of range"); \
        } \
        return STATUS_OK; \
    }
static enum status small_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    struct small_sum *s = into;
    const struct small_sum *f = from;
    s->any |= f->any;
    return __builtin_add_overflow(s->sum, f->sum, &s->sum) ? error_set(STATUS_OUT_OF_RANGE, "bigint out of range") : STATUS_OK;
}
#define sum_int2_combine small_combine
#define sum_int4_combine small_combine
SMALL_SUM(sum_int2, int16_t)
SMALL_SUM(sum_int4, int32_t)
AGGREGATE(sum_int2, sum_int2, small_finish, struct small_sum, true, false)
AGGREGATE(sum_int4, sum_int4, small_finish, struct small_sum, true, false)

/* ---- sums of 128 bits and more: sum and avg of integers and fixed numerics ---- */

struct exact { struct wide_sum sum; int64_t count, nans; int32_t scale; };

void wide_numeric(const struct wide_sum *s, int scale, struct numeric *out)
{
    if ((s->high == 0 && !(s->low >> 127)) || (s->high == -1 && s->low >> 127 && s->low << 1)) {
        numeric_set(out, (__int128)s->low, scale);
        return;
    }
    mpz_t z;
    mpz_init(z);
    mpz_set_si(z, s->high);
    mpz_mul_2exp(z, z, 64);
    mpz_add_ui(z, z, (unsigned long)(s->low >> 64));
    mpz_mul_2exp(z, z, 64);
    mpz_add_ui(z, z, (unsigned long)s->low);
    numeric_set_z(out, z, scale);
}

static enum status exact_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    struct exact *s = into;
    const struct exact *f = from;
    wide_join(&s->sum, &f->sum);
    s->count += f->count;
    s->nans += f->nans;
    if (f->count)
        s->scale = f->scale;
    return STATUS_OK;
}

/* Writes n, frees it. */
static enum status give(struct numeric *n, struct sql_type result, struct arena *arena, struct value *out)
{
    enum status s = numeric_write(result, n, &out->i16, arena);
    numeric_free(n);
    return s;
}

static enum status exact_sum_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct exact *s = state;
    struct numeric n;
    *out = (struct value){.null = !s->count};
    if (!s->count)
        return STATUS_OK;
    if (s->nans)
        numeric_set_special(&n, NUMERIC_NAN);
    else
        wide_numeric(&s->sum, s->scale, &n);
    return give(&n, result, arena, out);
}

static enum status exact_avg_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct exact *s = state;
    struct numeric n, count, q;
    *out = (struct value){.null = !s->count};
    if (!s->count)
        return STATUS_OK;
    if (s->nans)
        numeric_set_special(&q, NUMERIC_NAN);
    else {
        wide_numeric(&s->sum, s->scale, &n);
        numeric_set(&count, s->count, 0);
        enum status st = numeric_div(&n, &count, &q);
        numeric_free(&n);
        if (st)
            return st;
    }
    return give(&q, result, arena, out);
}

/* Values of 64 bits never carry out of 128. */
static inline void exact_add(struct wide_sum *s, int64_t x)
{
    s->low += (unsigned __int128)(__int128)x;
    s->high = (int64_t)((__int128)s->low >> 127);
}
/* Batches of 64-bit values add up in an int128 without carry. */
#define EXACT(NAME, T, SCALE, IS_NAN) \
    static void NAME##_slow_one(struct aggregate_call *c, struct exact *s) \
    { \
        for (KERNEL_ROWS(c, i)) { \
            const T x = VECTOR(T, &c->args[0], i); \
            s->count++; \
            s->scale = (SCALE); \
            if (IS_NAN) \
                s->nans++; \
            else \
                wide_add(&s->sum, x); \
        } \
    } \
    static enum status NAME##_update(struct aggregate_call *c) \
    { \
        GROUPED_LOOP(struct exact, T, s->count++; s->scale = (SCALE); \
                     if (IS_NAN) s->nans++; else if (sizeof(T) > 8) wide_add(&s->sum, x); else exact_add(&s->sum, (int64_t)x)); \
        return STATUS_OK; \
    } \
    static enum status NAME##_update_one(struct aggregate_call *c, void *state) \
    { \
        struct exact *s = state; \
        const T *values = c->args[0].values; \
        __int128 sum = 0; \
        bool nan = false; \
        if (sizeof(T) > 8 || c->args[0].constant) { \
            NAME##_slow_one(c, s); \
            return STATUS_OK; \
        } \
        if (c->selection) \
            for (uint16_t n = 0; n < c->count; n++) { const T x = values[c->selection[n]]; nan |= (IS_NAN); sum += x; } \
        else \
            for (uint16_t n = 0; n < c->count; n++) { const T x = values[n]; nan |= (IS_NAN); sum += x; } \
        if (nan) { \
            NAME##_slow_one(c, s); \
            return STATUS_OK; \
        } \
        s->count += c->count; \
        s->scale = (SCALE); \
        wide_add(&s->sum, sum); \
        return STATUS_OK; \
    }
EXACT(exact_int2, int16_t, 0, (x != x))
EXACT(exact_int4, int32_t, 0, (x != x))
EXACT(exact_int8, int64_t, 0, (x != x))
EXACT(exact_dec64, int64_t, c->arg_types[0].scale, (x == DEC64_NAN))
EXACT(exact_dec128, __int128, c->arg_types[0].scale, (x == DEC128_NAN))
#define EXACT_AGGREGATE(NAME, FUNCTIONS, FINISH) \
    const struct aggregate aggregate_##NAME = {.state_bytes = sizeof(struct exact), .strict = true, .update = FUNCTIONS##_update, .update_one = FUNCTIONS##_update_one, \
        .combine = exact_combine, .finish = FINISH};
EXACT_AGGREGATE(sum_int8, exact_int8, exact_sum_finish)
EXACT_AGGREGATE(sum_dec64, exact_dec64, exact_sum_finish)
EXACT_AGGREGATE(sum_dec128, exact_dec128, exact_sum_finish)
EXACT_AGGREGATE(avg_int2, exact_int2, exact_avg_finish)
EXACT_AGGREGATE(avg_int4, exact_int4, exact_avg_finish)
EXACT_AGGREGATE(avg_int8, exact_int8, exact_avg_finish)
EXACT_AGGREGATE(avg_dec64, exact_dec64, exact_avg_finish)
EXACT_AGGREGATE(avg_dec128, exact_dec128, exact_avg_finish)

/* ---- general numerics: sums of any size ---- */

/* A sum: small at `scale`, or `bytes` in the byte form once it outgrew that. */
struct any_sum { __int128 small; int32_t scale; bool big; uint8_t *bytes; uint32_t length, capacity; };
struct general { struct any_sum sum, squares; int64_t count, nans, pinfs, ninfs; };

static void any_read(const struct any_sum *s, struct numeric *out)
{
    if (s->big)
        numeric_unpack(varlen_of(s->bytes, s->length), out);
    else
        numeric_set(out, s->small, s->scale);
}

static void any_add(struct any_sum *s, const struct numeric *n, struct arena *arena)
{
    struct numeric now, sum;
    __int128 small;
    if (!s->big && !n->big && (n->scale == s->scale || (s->small == 0 && n->scale > s->scale)) && !__builtin_add_overflow(s->small, n->small, &small)) {
        s->small = small;                /* nearly always */
        s->scale = n->scale;
        return;
    }
    if (!s->big && !n->big && s->scale == n->scale && !__builtin_add_overflow(s->small, n->small, &sum.small)) {
        s->small = sum.small;
        return;
    }
    any_read(s, &now);
    numeric_add(&now, n, &sum);
    numeric_free(&now);
    if (!sum.big && !s->big) {
        s->small = sum.small;
        s->scale = sum.scale;
        return;
    }
    struct arena *scratch = arena_open(NULL, "sum");
    struct varlen v = numeric_varlen(&sum, scratch);
    numeric_free(&sum);
    if (v.length > s->capacity) {
        s->capacity = v.length * 2;
        s->bytes = arena_alloc(arena, s->capacity);
    }
    memcpy(s->bytes, v.bytes, v.length);
    s->length = v.length;
    s->big = true;
    arena_close(scratch);
}

static void general_add(struct general *s, const struct aggregate_call *c, size_t i, bool squares)
{
    struct numeric n, square;
    numeric_read(c->arg_types[0], &c->args[0], i, &n);
    s->count++;
    switch (n.kind) {
    case NUMERIC_NAN: s->nans++; return;
    case NUMERIC_PINF: s->pinfs++; return;
    case NUMERIC_NINF: s->ninfs++; return;
    default: break;
    }
    any_add(&s->sum, &n, c->arena);
    if (squares) {
        numeric_mul(&n, &n, &square);
        any_add(&s->squares, &square, c->arena);
        numeric_free(&square);
    }
    numeric_free(&n);
}
UPDATE(general_sum, struct general, general_add(s, c, i, false))
UPDATE(general_squares, struct general, general_add(s, c, i, true))

static enum status general_combine(void *into, const void *from, struct arena *arena)
{
    struct general *s = into;
    const struct general *f = from;
    struct numeric n;
    if (f->count) {
        any_read(&f->sum, &n);
        any_add(&s->sum, &n, arena);
        numeric_free(&n);
        any_read(&f->squares, &n);
        any_add(&s->squares, &n, arena);
        numeric_free(&n);
    }
    s->count += f->count;
    s->nans += f->nans;
    s->pinfs += f->pinfs;
    s->ninfs += f->ninfs;
    return STATUS_OK;
}
#define general_sum_combine general_combine
#define general_squares_combine general_combine

static bool general_special(const struct general *s, struct numeric *out)
{
    if (s->nans || (s->pinfs && s->ninfs))
        numeric_set_special(out, NUMERIC_NAN);
    else if (s->pinfs)
        numeric_set_special(out, NUMERIC_PINF);
    else if (s->ninfs)
        numeric_set_special(out, NUMERIC_NINF);
    else
        return false;
    return true;
}

static enum status general_sum_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct general *s = state;
    struct numeric n;
    *out = (struct value){.null = !s->count};
    if (!s->count)
        return STATUS_OK;
    if (!general_special(s, &n))
        any_read(&s->sum, &n);
    return give(&n, result, arena, out);
}
static enum status general_avg_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    const struct general *s = state;
    struct numeric n, count, q;
    *out = (struct value){.null = !s->count};
    if (!s->count)
        return STATUS_OK;
    if (!general_special(s, &q)) {
        any_read(&s->sum, &n);
        numeric_set(&count, s->count, 0);
        enum status st = numeric_div(&n, &count, &q);
        numeric_free(&n);
        if (st)
            return st;
    }
    return give(&q, result, arena, out);
}
AGGREGATE(sum_numeric, general_sum, general_sum_finish, struct general, true, false)
AGGREGATE(avg_numeric, general_sum, general_avg_finish, struct general, true, false)

/* ---- variances ---- */

struct spread { struct wide_sum sum, squares; int64_t count, nans; int32_t scale; };

static enum status spread_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    struct spread *s = into;
    const struct spread *f = from;
    wide_join(&s->sum, &f->sum);
    wide_join(&s->squares, &f->squares);
    s->count += f->count;
    s->nans += f->nans;
    if (f->count)
        s->scale = f->scale;
    return STATUS_OK;
}
#define SPREAD(NAME, T, SCALE, IS_NAN) \
    UPDATE(NAME, struct spread, const T x = VECTOR(T, &c->args[0], i); s->count++; s->scale = (SCALE); \
           if (IS_NAN) s->nans++; else { wide_add(&s->sum, x); wide_add(&s->squares, (__int128)x * x); })
SPREAD(spread_int2, int16_t, 0, (x != x))
SPREAD(spread_int4, int32_t, 0, (x != x))
SPREAD(spread_int8, int64_t, 0, (x != x))
SPREAD(spread_dec64, int64_t, c->arg_types[0].scale, (x == DEC64_NAN))

/* (N sum(x^2) - sum(x)^2) / (N (N - 1)), or / N^2; takes both sums. */
static enum status variance(struct numeric *sum, struct numeric *squares, int64_t count, bool sample, bool root, struct sql_type result, struct arena *arena, struct value *out)
{
    struct numeric n, a, b, top, bottom, q;
    enum status s = STATUS_OK;
    numeric_set(&n, count, 0);
    numeric_mul(&n, squares, &a);
    numeric_mul(sum, sum, &b);
    numeric_sub(&a, &b, &top);
    if (numeric_sign(&top) <= 0)
        numeric_set(&q, 0, 0);
    else {
        numeric_set(&bottom, (__int128)count * (sample ? count - 1 : count), 0);
        int scale = numeric_select_div_scale(&top, &bottom);
        numeric_div_scale(&top, &bottom, scale, &q);
        if (root) {
            struct numeric r;
            numeric_sqrt_scale(&q, scale, &r);
            numeric_free(&q);
            q = r;
        }
    }
    numeric_free(&a);
    numeric_free(&b);
    numeric_free(&top);
    numeric_free(sum);
    numeric_free(squares);
    s = give(&q, result, arena, out);
    return s;
}

static enum status spread_finish(const struct spread *s, bool sample, bool root, struct sql_type result, struct arena *arena, struct value *out)
{
    struct numeric sum, squares;
    *out = (struct value){.null = s->count <= (sample ? 1 : 0)};
    if (out->null)
        return STATUS_OK;
    if (s->nans) {
        numeric_set_special(&sum, NUMERIC_NAN);
        return give(&sum, result, arena, out);
    }
    wide_numeric(&s->sum, s->scale, &sum);
    wide_numeric(&s->squares, 2 * s->scale, &squares);
    return variance(&sum, &squares, s->count, sample, root, result, arena, out);
}
static enum status general_spread_finish(const struct general *s, bool sample, bool root, struct sql_type result, struct arena *arena, struct value *out)
{
    struct numeric sum, squares;
    *out = (struct value){.null = s->count <= (sample ? 1 : 0)};
    if (out->null)
        return STATUS_OK;
    if (s->nans || s->pinfs || s->ninfs) {
        numeric_set_special(&sum, NUMERIC_NAN);
        return give(&sum, result, arena, out);
    }
    any_read(&s->sum, &sum);
    any_read(&s->squares, &squares);
    return variance(&sum, &squares, s->count, sample, root, result, arena, out);
}
#define KIND(NAME, SAMPLE, ROOT) \
    static enum status NAME##_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out) { return spread_finish(state, SAMPLE, ROOT, result, arena, out); } \
    static enum status NAME##_general_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out) { return general_spread_finish(state, SAMPLE, ROOT, result, arena, out); } \
    SPREAD_AGGREGATE(NAME##_int2, spread_int2, NAME##_finish) \
    SPREAD_AGGREGATE(NAME##_int4, spread_int4, NAME##_finish) \
    SPREAD_AGGREGATE(NAME##_int8, spread_int8, NAME##_finish) \
    SPREAD_AGGREGATE(NAME##_dec64, spread_dec64, NAME##_finish) \
    AGGREGATE(NAME##_numeric, general_squares, NAME##_general_finish, struct general, true, false)
#define SPREAD_AGGREGATE(NAME, FUNCTIONS, FINISH) \
    const struct aggregate aggregate_##NAME = {.state_bytes = sizeof(struct spread), .strict = true, .update = FUNCTIONS##_update, .update_one = FUNCTIONS##_update_one, \
        .combine = spread_combine, .finish = FINISH};
KIND(var_samp, true, false)
KIND(var_pop, false, false)
KIND(stddev_samp, true, true)
KIND(stddev_pop, false, true)

/* ---- intervals ---- */

/* Wide enough for any number of rows, so that whether the sum fits hangs on nothing but itself, not on which rows were added first. */
struct interval_sum { __int128 us; int64_t months, days, count, unused; };
static void interval_join(struct interval_sum *s, struct interval v)
{
    s->months += v.months;
    s->days += v.days;
    s->us += v.us;
    s->count++;
}
UPDATE(interval_sum, struct interval_sum, interval_join(s, VECTOR(struct interval, &c->args[0], i)))
static enum status interval_sum_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    struct interval_sum *s = into;
    const struct interval_sum *f = from;
    s->months += f->months;
    s->days += f->days;
    s->us += f->us;
    s->count += f->count;
    return STATUS_OK;
}
static enum status interval_total(const struct interval_sum *s, struct interval *out)
{
    *out = (struct interval){.months = (int32_t)s->months, .days = (int32_t)s->days, .us = (int64_t)s->us};
    if (out->months != s->months || out->days != s->days || out->us != s->us)
        return error_set(STATUS_DATETIME_OVERFLOW, "interval out of range");
    return STATUS_OK;
}
static enum status interval_sum_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)result;
    (void)arena;
    const struct interval_sum *s = state;
    struct interval total;
    enum status status = interval_total(s, &total);
    *out = (struct value){.null = !s->count};
    memcpy(&out->i16, &total, 16);
    return status;
}
static enum status interval_avg_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)result;
    (void)arena;
    const struct interval_sum *s = state;
    struct interval r = {0};
    *out = (struct value){.null = !s->count};
    if (s->count) {
        struct interval total;
        enum status st = interval_total(s, &total);
        if (!st)
            st = interval_divide(total, (double)s->count, &r);
        if (st)
            return st;
    }
    memcpy(&out->i16, &r, 16);
    return STATUS_OK;
}
AGGREGATE(sum_interval, interval_sum, interval_sum_finish, struct interval_sum, true, false)
AGGREGATE(avg_interval, interval_sum, interval_avg_finish, struct interval_sum, true, false)
