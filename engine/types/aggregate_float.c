/* engine/types/aggregate_float.c - sums, averages, variances and regressions of floats.
 *
 * The result hangs on the order of additions, so these are `ordered`: states are kept by grain and combined along the fixed
 * tree. Variances run by the method of Youngs and Cramer (count, sum, sum of squared differences), whose states combine. */
#include <math.h>
#include "engine/types/aggregate_private.h"

static enum status overflow(void) { return error_set(STATUS_OUT_OF_RANGE, "value out of range: overflow"); }
static enum status give(double d, bool null, struct sql_type result, struct value *out)
{
    *out = (struct value){.null = null};
    if (result.oid == OID_FLOAT4)
        out->f4 = (float)d;
    else
        out->f8 = d;
    return STATUS_OK;
}

struct float_sum { double sum; int64_t count; };
/* T is the column's type, S the sum's. One state at a time adds in a tight loop, in row order, and is walked again only
 * when the sum left the finite numbers. */
#define FLOAT_SUM(NAME, T, S) \
    static enum status NAME##_slow_one(struct aggregate_call *c, void *state) \
    { \
        struct float_sum *s = state; \
        for (KERNEL_ROWS(c, i)) { \
            const T x = VECTOR(T, &c->args[0], i); \
            const S now = (S)s->sum + (S)x; \
            if (isinf(now) && !isinf(x) && !isinf(s->sum)) \
                FAIL(overflow()); \
            s->sum = (double)now; \
            s->count++; \
        } \
        return STATUS_OK; \
    } \
    static enum status NAME##_update(struct aggregate_call *c) \
    { \
        GROUPED_LOOP(struct float_sum, T, const S now = (S)s->sum + (S)x; \
                     if (__builtin_expect(isinf(now) && !isinf(x) && !isinf(s->sum), 0)) FAIL(overflow()); \
                     s->sum = (double)now; s->count++); \
        return STATUS_OK; \
    } \
    static enum status NAME##_update_one(struct aggregate_call *c, void *state) \
    { \
        struct float_sum *s = state; \
        const T *values = c->args[0].values; \
        const size_t mask = VECTOR_MASK(&c->args[0]); \
        S sum = (S)s->sum; \
        if (c->selection) \
            for (uint16_t n = 0; n < c->count; n++) sum += (S)values[c->selection[n] & mask]; \
        else \
            for (uint16_t n = 0; n < c->count; n++) sum += (S)values[n & mask]; \
        if (!isfinite(sum)) \
            return NAME##_slow_one(c, state); \
        s->sum = (double)sum; \
        s->count += c->count; \
        return STATUS_OK; \
    } \
    static enum status NAME##_combine(void *into, const void *from, struct arena *arena) \
    { \
        (void)arena; \
        struct float_sum *s = into; \
        const struct float_sum *f = from; \
        const S now = (S)s->sum + (S)f->sum; \
        if (isinf(now) && !isinf(s->sum) && !isinf(f->sum)) \
            return overflow(); \
        if (f->count) \
            s->sum = s->count ? (double)now : f->sum; \
        s->count += f->count; \
        return STATUS_OK; \
    }
FLOAT_SUM(sum_float4, float, float)
FLOAT_SUM(sum_float8, double, double)
FLOAT_SUM(avg_float4, float, double)
#define avg_float8_update sum_float8_update
#define avg_float8_update_one sum_float8_update_one
#define avg_float8_combine sum_float8_combine
static enum status avg_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)arena;
    const struct float_sum *s = state;
    return give(s->count ? s->sum / (double)s->count : 0, !s->count, result, out);
}
AGGREGATE(avg_float4, avg_float4, avg_finish, struct float_sum, true, true)
AGGREGATE(avg_float8, avg_float8, avg_finish, struct float_sum, true, true)
static enum status sum_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)arena;
    const struct float_sum *s = state;
    return give(s->sum, !s->count, result, out);
}
AGGREGATE(sum_float4, sum_float4, sum_finish, struct float_sum, true, true)
AGGREGATE(sum_float8, sum_float8, sum_finish, struct float_sum, true, true)

struct spread { double n, sx, sxx; };
static inline void spread_add(struct spread *s, double x)
{
    s->n += 1;
    s->sx += x;
    if (s->n > 1) {
        double t = x * s->n - s->sx;
        s->sxx += t * t / (s->n * (s->n - 1));
    } else if (!isfinite(x))
        s->sxx = NAN;
}
#define SPREAD(NAME, T) \
    UPDATE(NAME, struct spread, const double x = (double)VECTOR(T, &c->args[0], i); const double before = s->sx; spread_add(s, x); \
           if (isinf(s->sx) && !isinf(before) && !isinf(x)) FAIL(overflow()); \
           if (!isfinite(s->sxx)) s->sxx = NAN)
SPREAD(spread_float4, float)
SPREAD(spread_float8, double)
static enum status spread_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    struct spread *a = into;
    const struct spread *b = from;
    if (b->n == 0)
        return STATUS_OK;
    if (a->n == 0) {
        *a = *b;
        return STATUS_OK;
    }
    double n = a->n + b->n, t = a->sx / a->n - b->sx / b->n;
    double sx = a->sx + b->sx;
    if (isinf(sx) && !isinf(a->sx) && !isinf(b->sx))
        return overflow();
    a->sxx = a->sxx + b->sxx + a->n * b->n * t * t / n;
    a->sx = sx;
    a->n = n;
    return STATUS_OK;
}
#define spread_float4_combine spread_combine
#define spread_float8_combine spread_combine
#define FINISH(NAME, LEAST, EXPRESSION) \
    static enum status NAME##_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out) \
    { \
        (void)arena; \
        const struct spread *s = state; \
        return s->n < LEAST ? give(0, true, result, out) : give((EXPRESSION), false, result, out); \
    } \
    AGGREGATE(NAME##_float4, spread_float4, NAME##_finish, struct spread, true, true) \
    AGGREGATE(NAME##_float8, spread_float8, NAME##_finish, struct spread, true, true)
FINISH(var_pop, 1, s->sxx / s->n)
FINISH(var_samp, 2, s->sxx / (s->n - 1))
FINISH(stddev_pop, 1, sqrt(s->sxx / s->n))
FINISH(stddev_samp, 2, sqrt(s->sxx / (s->n - 1)))

/* ---- two columns: Y first, then X ---- */

struct pairs { double n, sx, sxx, sy, syy, sxy; };
static void pairs_add(struct pairs *s, double y, double x)
{
    s->n += 1;
    s->sx += x;
    s->sy += y;
    if (s->n > 1) {
        double tx = x * s->n - s->sx, ty = y * s->n - s->sy, scale = 1.0 / (s->n * (s->n - 1));
        s->sxx += tx * tx * scale;
        s->syy += ty * ty * scale;
        s->sxy += tx * ty * scale;
    } else {
        if (!isfinite(x))
            s->sxx = s->sxy = NAN;
        if (!isfinite(y))
            s->syy = s->sxy = NAN;
    }
}
UPDATE(pairs, struct pairs, pairs_add(s, VECTOR(double, &c->args[0], i), VECTOR(double, &c->args[1], i)))
static enum status pairs_combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    struct pairs *a = into;
    const struct pairs *b = from;
    if (b->n == 0)
        return STATUS_OK;
    if (a->n == 0) {
        *a = *b;
        return STATUS_OK;
    }
    double n = a->n + b->n, tx = a->sx / a->n - b->sx / b->n, ty = a->sy / a->n - b->sy / b->n;
    a->sxx += b->sxx + a->n * b->n * tx * tx / n;
    a->syy += b->syy + a->n * b->n * ty * ty / n;
    a->sxy += b->sxy + a->n * b->n * tx * ty / n;
    a->sx += b->sx;
    a->sy += b->sy;
    a->n = n;
    return STATUS_OK;
}
#define PAIRS(NAME, NULL_WHEN, EXPRESSION) \
    static enum status NAME##_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out) \
    { \
        (void)arena; \
        const struct pairs *s = state; \
        return (NULL_WHEN) ? give(0, true, result, out) : give((EXPRESSION), false, result, out); \
    } \
    AGGREGATE(NAME, pairs, NAME##_finish, struct pairs, true, true)
PAIRS(corr, s->n < 1 || s->sxx == 0 || s->syy == 0, s->sxy / sqrt(s->sxx * s->syy))
PAIRS(covar_pop, s->n < 1, s->sxy / s->n)
PAIRS(covar_samp, s->n < 2, s->sxy / (s->n - 1))
PAIRS(regr_slope, s->n < 1 || s->sxx == 0, s->sxy / s->sxx)
PAIRS(regr_intercept, s->n < 1 || s->sxx == 0, (s->sy - s->sx * s->sxy / s->sxx) / s->n)
PAIRS(regr_r2, s->n < 1 || s->sxx == 0, s->syy == 0 ? 1.0 : s->sxy * s->sxy / (s->sxx * s->syy))
PAIRS(regr_avgx, s->n < 1, s->sx / s->n)
PAIRS(regr_avgy, s->n < 1, s->sy / s->n)
PAIRS(regr_sxx, s->n < 1, s->sxx)
PAIRS(regr_syy, s->n < 1, s->syy)
PAIRS(regr_sxy, s->n < 1, s->sxy)
static enum status regr_count_finish(const void *state, struct sql_type result, struct arena *arena, struct value *out)
{
    (void)result;
    (void)arena;
    *out = (struct value){.i8 = (int64_t)((const struct pairs *)state)->n};
    return STATUS_OK;
}
AGGREGATE(regr_count, pairs, regr_count_finish, struct pairs, true, true)
