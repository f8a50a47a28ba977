/* engine/types/kernels_numeric.c - arithmetic and functions of numeric, in its three forms.
 *
 * + - * between fixed forms have loops of their own, chosen at bind, that multiply by powers of ten known there and can't
 * overflow (numeric.h's rules make the result wide enough). Everything else takes each row into a struct numeric and
 * writes the answer into the result's form. NaN in a fixed form is the greatest integer, looked for in each row. */
#include "engine/types/kernel.h"

#include <math.h>
#include <stdlib.h>

KERNELS_FAST

typedef __int128 i128;
#define int128 __int128

struct factors { int64_t a, b; int128 wide_a, wide_b; };
#define IS_NAN64(v) ((v) == DEC64_NAN)
#define IS_NAN128(v) ((v) == DEC128_NAN)

#define DEC_LOOP(NAME, A, B, R, NAN_A, NAN_B, NAN_R, EXPRESSION) \
    static enum status NAME(struct kernel_call *c) \
    { \
        const struct factors *f = c->data; \
        const R fa = (R)f->wide_a, fb = (R)f->wide_b; \
        (void)fa; \
        (void)fb; \
        VECTOR_LOOP2(A, B, R, out_[i] = ((a == NAN_A) | (b == NAN_B)) ? NAN_R : (R)(EXPRESSION)); \
        return STATUS_OK; \
    }
/* Null rows may hold anything, so the arithmetic must wrap quietly: it is done unsigned. */
#define W64(x) ((uint64_t)(x))
#define W128(x) ((unsigned __int128)(x))
#define ADD64 (int64_t)(W64(a) * W64(fa) + W64(b) * W64(fb))
#define SUB64 (int64_t)(W64(a) * W64(fa) - W64(b) * W64(fb))
#define ADD128 (int128)(W128(a) * W128(fa) + W128(b) * W128(fb))
#define SUB128 (int128)(W128(a) * W128(fa) - W128(b) * W128(fb))
#define ALL_WIDTHS(NAME, E64, E128) \
    DEC_LOOP(NAME##_64, int64_t, int64_t, int64_t, DEC64_NAN, DEC64_NAN, DEC64_NAN, E64) \
    DEC_LOOP(NAME##_64_64, int64_t, int64_t, int128, DEC64_NAN, DEC64_NAN, DEC128_NAN, E128) \
    DEC_LOOP(NAME##_64_128, int64_t, int128, int128, DEC64_NAN, DEC128_NAN, DEC128_NAN, E128) \
    DEC_LOOP(NAME##_128_64, int128, int64_t, int128, DEC128_NAN, DEC64_NAN, DEC128_NAN, E128) \
    DEC_LOOP(NAME##_128_128, int128, int128, int128, DEC128_NAN, DEC128_NAN, DEC128_NAN, E128)
ALL_WIDTHS(dec_add, ADD64, ADD128)
ALL_WIDTHS(dec_sub, SUB64, SUB128)
ALL_WIDTHS(dec_mul, (int64_t)(W64(a) * W64(b)), (int128)(W128(a) * W128(b)))

static kernel_fn pick(const kernel_fn *five, struct sql_type a, struct sql_type b, struct sql_type r)
{
    if (r.width == 8)
        return five[0];
    return five[1 + 2 * (a.width == 16) + (b.width == 16)];
}
#define FIVE(NAME) (const kernel_fn[]){NAME##_64, NAME##_64_64, NAME##_64_128, NAME##_128_64, NAME##_128_128}

static bool fixed(struct sql_type t) { return t.width != WIDTH_VARLEN; }
static struct sql_type general_type(void) { return (struct sql_type){.oid = OID_NUMERIC, .typmod = -1, .width = WIDTH_VARLEN}; }
static int max(int a, int b) { return a > b ? a : b; }
static int min(int a, int b) { return a < b ? a : b; }

/* ---- row by row ---- */

#define NUMERIC1(NAME, CALL) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        const size_t width = c->out_type.width ? c->out_type.width : sizeof(struct varlen); \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric x, r; \
            numeric_read(c->arg_types[0], &c->args[0], i, &x); \
            enum status s = (CALL); \
            numeric_free(&x); \
            if (!s) { \
                s = numeric_write(c->out_type, &r, (uint8_t *)c->out->values + width * i, c->arena); \
                numeric_free(&r); \
            } \
            if (s) \
                FAIL(s); \
        } \
        return STATUS_OK; \
    }
#define NUMERIC2(NAME, CALL) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        const size_t width = c->out_type.width ? c->out_type.width : sizeof(struct varlen); \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric x, y, r; \
            numeric_read(c->arg_types[0], &c->args[0], i, &x); \
            numeric_read(c->arg_types[1], &c->args[1], i, &y); \
            enum status s = (CALL); \
            numeric_free(&x); \
            numeric_free(&y); \
            if (!s) { \
                s = numeric_write(c->out_type, &r, (uint8_t *)c->out->values + width * i, c->arena); \
                numeric_free(&r); \
            } \
            if (s) \
                FAIL(s); \
        } \
        return STATUS_OK; \
    }
static enum status copied(const struct numeric *x, struct numeric *r) { numeric_copy(r, x); return STATUS_OK; }
static enum status negated(const struct numeric *x, struct numeric *r) { numeric_copy(r, x); numeric_negate(r); return STATUS_OK; }
static enum status absolute(const struct numeric *x, struct numeric *r)
{
    numeric_copy(r, x);
    if (numeric_sign(r) < 0)
        numeric_negate(r);
    return STATUS_OK;
}
static enum status signum(const struct numeric *x, struct numeric *r)
{
    if (x->kind == NUMERIC_NAN)
        numeric_copy(r, x);
    else
        numeric_set(r, numeric_sign(x), 0);
    return STATUS_OK;
}
static enum status rounded(const struct numeric *x, int scale, enum rounding how, struct numeric *r)
{
    scale = scale < -2000 ? -2000 : scale > 2000 ? 2000 : scale;
    numeric_copy(r, x);
    numeric_rescale(r, scale, how);
    return numeric_check(r);
}
static enum status trimmed(const struct numeric *x, struct numeric *r) { numeric_copy(r, x); numeric_strip(r); return STATUS_OK; }
static enum status log10_of(const struct numeric *x, struct numeric *r)
{
    struct numeric ten;
    numeric_set(&ten, 10, 0);
    return numeric_log(&ten, x, r);
}
static enum status greater(const struct numeric *x, const struct numeric *y, bool larger, struct numeric *r)
{
    numeric_copy(r, (numeric_compare(x, y) > 0) == larger ? x : y);
    return STATUS_OK;
}
static enum status gcd(const struct numeric *x, const struct numeric *y, bool lcm, struct numeric *r)
{
    if (x->kind != NUMERIC_FINITE || y->kind != NUMERIC_FINITE) {
        numeric_set_special(r, NUMERIC_NAN);
        return STATUS_OK;
    }
    struct numeric a, b, t;
    enum status s = STATUS_OK;
    absolute(x, &a);
    absolute(y, &b);
    while (numeric_sign(&b) && !s) {
        s = numeric_mod(&a, &b, &t);
        if (s)
            break;
        numeric_free(&a);
        a = b;
        b = t;
    }
    int scale = max(x->scale, y->scale);
    numeric_free(&b);
    if (s)
        return s;
    numeric_rescale(&a, scale, ROUND_TRUNC);
    if (!lcm) {
        *r = a;
        return STATUS_OK;
    }
    if (!numeric_sign(x) || !numeric_sign(y))
        numeric_set(r, 0, scale);
    else {
        s = numeric_div_trunc(x, &a, &t);
        if (!s) {
            numeric_mul(&t, y, r);
            numeric_free(&t);
            if (numeric_sign(r) < 0)
                numeric_negate(r);
            numeric_rescale(r, scale, ROUND_TRUNC);
        }
    }
    numeric_free(&a);
    return s;
}
static enum status factorial(int64_t n, struct numeric *r)
{
    if (n < 0)
        return error_set(STATUS_OUT_OF_RANGE, "factorial of a negative number is undefined");
    if (n > 32177)
        return error_set(STATUS_OUT_OF_RANGE, "value overflows numeric format");
    mpz_t z;
    mpz_init(z);
    mpz_fac_ui(z, (unsigned long)n);
    numeric_set_z(r, z, 0);
    return STATUS_OK;
}

#define VOID(call) ((call), STATUS_OK)
NUMERIC2(numeric_add, VOID(numeric_add(&x, &y, &r)))
NUMERIC2(numeric_sub, VOID(numeric_sub(&x, &y, &r)))
NUMERIC2(numeric_mul, VOID(numeric_mul(&x, &y, &r)))

/* Fixed forms whose product may have more than 38 digits, and hardly ever has: a product that fits 128 bits is put down in the byte
 * form (numeric_varlen) at once; the rows of a batch share one piece of memory. */
enum { PRODUCT_BYTES = 24 };
static inline bool fixed_value(const struct vector *v, size_t i, int128 *out)
{
    const size_t at = vector_at(v, i);
    *out = v->width == 8 ? ((const int64_t *)v->values)[at] : ((const int128 *)v->values)[at];
    return v->width == 8 ? *out != DEC64_NAN : *out != DEC128_NAN;
}
static enum status wide_product(struct kernel_call *c)
{
    const int scale = c->arg_types[0].scale + c->arg_types[1].scale;
    uint8_t *bytes = arena_alloc(c->arena, (size_t)c->count * PRODUCT_BYTES + 1);
    struct varlen *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        int128 x, y, product;
        if (c->out->nulls[i])
            continue;
        if (!fixed_value(&c->args[0], i, &x) || !fixed_value(&c->args[1], i, &y) || __builtin_mul_overflow(x, y, &product)) {
            struct numeric a, b, r;
            numeric_read(c->arg_types[0], &c->args[0], i, &a);
            numeric_read(c->arg_types[1], &c->args[1], i, &b);
            numeric_mul(&a, &b, &r);
            enum status s = numeric_write(c->out_type, &r, &out[i], c->arena);
            numeric_free(&a);
            numeric_free(&b);
            numeric_free(&r);
            if (s)
                FAIL(s);
            continue;
        }
        const unsigned __int128 m = product < 0 ? -(unsigned __int128)product : (unsigned __int128)product;
        const uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;
        bytes[0] = product < 0 ? NUMERIC_NEGATIVE : NUMERIC_FINITE;
        bytes[1] = (uint8_t)scale;
        bytes[2] = (uint8_t)(scale >> 8);
        memcpy(bytes + 3, &m, sizeof m);
        out[i] = varlen_of(bytes, 3 + (high ? 16 - (size_t)__builtin_clzll(high) / 8 : low ? 8 - (size_t)__builtin_clzll(low) / 8 : 0));
        bytes += PRODUCT_BYTES;
    }
    return STATUS_OK;
}
NUMERIC2(numeric_div, numeric_div(&x, &y, &r))
NUMERIC2(numeric_div_trunc, numeric_div_trunc(&x, &y, &r))
NUMERIC2(numeric_mod, numeric_mod(&x, &y, &r))
NUMERIC2(numeric_power, numeric_power(&x, &y, &r))
NUMERIC2(numeric_log, numeric_log(&x, &y, &r))
NUMERIC2(numeric_larger, greater(&x, &y, true, &r))
NUMERIC2(numeric_smaller, greater(&x, &y, false, &r))
NUMERIC2(numeric_gcd, gcd(&x, &y, false, &r))
NUMERIC2(numeric_lcm, gcd(&x, &y, true, &r))
NUMERIC1(numeric_uplus, copied(&x, &r))
NUMERIC1(numeric_uminus, negated(&x, &r))
NUMERIC1(numeric_abs, absolute(&x, &r))
NUMERIC1(numeric_sign, signum(&x, &r))
NUMERIC1(numeric_ceil, rounded(&x, 0, ROUND_CEIL, &r))
NUMERIC1(numeric_floor, rounded(&x, 0, ROUND_FLOOR, &r))
NUMERIC1(numeric_round_whole, rounded(&x, 0, ROUND_HALF_AWAY, &r))
NUMERIC1(numeric_trunc_whole, rounded(&x, 0, ROUND_TRUNC, &r))
NUMERIC1(numeric_round, rounded(&x, VECTOR(int32_t, &c->args[1], i), ROUND_HALF_AWAY, &r))
NUMERIC1(numeric_trunc, rounded(&x, VECTOR(int32_t, &c->args[1], i), ROUND_TRUNC, &r))
NUMERIC1(numeric_sqrt, numeric_sqrt(&x, &r))
NUMERIC1(numeric_exp, numeric_exp(&x, &r))
NUMERIC1(numeric_ln, numeric_ln(&x, &r))
NUMERIC1(numeric_log10, log10_of(&x, &r))
NUMERIC1(numeric_trim_scale, trimmed(&x, &r))
NUMERIC1(numeric, copied(&x, &r))

enum status k_numeric_fac(struct kernel_call *c)
{
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct numeric r;
        enum status s = factorial(VECTOR(int64_t, &c->args[0], i), &r);
        if (!s) {
            ((struct varlen *)c->out->values)[i] = numeric_varlen(&r, c->arena);
            numeric_free(&r);
        }
        if (s)
            FAIL(s);
    }
    return STATUS_OK;
}

enum status k_numeric_cmp(struct kernel_call *c)
{
    int32_t *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct numeric x, y;
        numeric_read(c->arg_types[0], &c->args[0], i, &x);
        numeric_read(c->arg_types[1], &c->args[1], i, &y);
        out[i] = numeric_compare(&x, &y);
        numeric_free(&x);
        numeric_free(&y);
    }
    return STATUS_OK;
}

#define SCALES(NAME, EXPRESSION) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        int32_t *out_ = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric x; \
            numeric_read(c->arg_types[0], &c->args[0], i, &x); \
            if (x.kind != NUMERIC_FINITE) { \
                c->out->nulls[i] = 1; \
                c->has_nulls = true; \
                out_[i] = 0; \
            } else \
                out_[i] = (EXPRESSION); \
            numeric_free(&x); \
        } \
        return STATUS_OK; \
    }
SCALES(numeric_scale, x.scale)
SCALES(numeric_min_scale, numeric_min_scale(&x))

enum status k_width_bucket_numeric(struct kernel_call *c)
{
    int32_t *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        struct numeric v[3], size, span, n, product, q;
        int32_t count = VECTOR(int32_t, &c->args[3], i);
        enum status s = STATUS_OK;
        for (int k = 0; k < 3; k++)
            numeric_read(c->arg_types[k], &c->args[k], i, &v[k]);
        if (count <= 0)
            s = error_set(STATUS_INVALID_WIDTH_BUCKET, "count must be greater than zero");
        else if (v[0].kind == NUMERIC_NAN || v[1].kind == NUMERIC_NAN || v[2].kind == NUMERIC_NAN)
            s = error_set(STATUS_INVALID_WIDTH_BUCKET, "operand, lower bound, and upper bound cannot be NaN");
        else if (v[1].kind != NUMERIC_FINITE || v[2].kind != NUMERIC_FINITE)
            s = error_set(STATUS_INVALID_WIDTH_BUCKET, "lower and upper bounds must be finite");
        else {
            int order = numeric_compare(&v[1], &v[2]), low = numeric_compare(&v[0], &v[1]), high = numeric_compare(&v[0], &v[2]);
            if (!order)
                s = error_set(STATUS_INVALID_WIDTH_BUCKET, "lower bound cannot equal upper bound");
            else if (order < 0 ? low < 0 : low > 0)
                out[i] = 0;
            else if (order < 0 ? high >= 0 : high <= 0) {
                if (__builtin_add_overflow(count, 1, &out[i]))
                    s = error_set(STATUS_OUT_OF_RANGE, "integer out of range");
            } else {
                int64_t bucket = 0;
                numeric_sub(&v[0], &v[1], &size);
                numeric_sub(&v[2], &v[1], &span);
                numeric_set(&n, count, 0);
                numeric_mul(&size, &n, &product);
                s = numeric_div_trunc(&product, &span, &q);
                if (!s) {
                    s = numeric_to_int64(&q, &bucket, "integer");
                    numeric_free(&q);
                }
                out[i] = (int32_t)bucket + 1;
                numeric_free(&size);
                numeric_free(&span);
                numeric_free(&product);
            }
        }
        for (int k = 0; k < 3; k++)
            numeric_free(&v[k]);
        if (s)
            FAIL(s);
    }
    return STATUS_OK;
}

/* ---- binding ---- */

static void set_factors(struct function_bind *f, int shift_a, int shift_b)
{
    struct factors *s = arena_new(f->arena, struct factors);
    s->wide_a = pow10_128[shift_a];
    s->wide_b = pow10_128[shift_b];
    f->data = s;
}

static enum status bind_additive(struct function_bind *f, const kernel_fn *five, kernel_fn general)
{
    struct sql_type a = f->arg_types[0], b = f->arg_types[1];
    f->result = general_type();
    f->kernel = general;
    if (!fixed(a) || !fixed(b))
        return STATUS_OK;
    int scale = max(a.scale, b.scale), precision = max(a.precision - a.scale, b.precision - b.scale) + 1 + scale;
    struct sql_type r = numeric_fixed_type(precision, scale);
    if (!fixed(r))
        return STATUS_OK;
    f->result = r;
    set_factors(f, scale - a.scale, scale - b.scale);
    f->kernel = pick(five, a, b, r);
    return STATUS_OK;
}
enum status b_numeric_add(struct function_bind *f) { return bind_additive(f, FIVE(dec_add), k_numeric_add); }
enum status b_numeric_sub(struct function_bind *f) { return bind_additive(f, FIVE(dec_sub), k_numeric_sub); }

enum status b_numeric_mul(struct function_bind *f)
{
    struct sql_type a = f->arg_types[0], b = f->arg_types[1];
    f->result = general_type();
    f->kernel = k_numeric_mul;
    if (!fixed(a) || !fixed(b))
        return STATUS_OK;
    struct sql_type r = numeric_fixed_type(a.precision + b.precision, a.scale + b.scale);
    if (!fixed(r)) {
        f->kernel = wide_product;
        return STATUS_OK;
    }
    f->result = r;
    set_factors(f, 0, 0);
    f->kernel = pick(FIVE(dec_mul), a, b, r);
    return STATUS_OK;
}

enum status b_numeric_mod(struct function_bind *f)
{
    struct sql_type a = f->arg_types[0], b = f->arg_types[1];
    f->result = general_type();
    f->kernel = k_numeric_mod;
    if (fixed(a) && fixed(b)) {
        int scale = max(a.scale, b.scale);
        f->result = numeric_fixed_type(min(a.precision - a.scale, b.precision - b.scale) + scale, scale);
    }
    return STATUS_OK;
}

/* Same digits as the argument. */
#define BIND_SAME(NAME) \
    enum status b_##NAME(struct function_bind *f) \
    { \
        f->kernel = k_##NAME; \
        f->result = fixed(f->arg_types[0]) ? numeric_fixed_type(f->arg_types[0].precision, f->arg_types[0].scale) : general_type(); \
        return STATUS_OK; \
    }
BIND_SAME(numeric_uplus)
BIND_SAME(numeric_uminus)
BIND_SAME(numeric_abs)

static struct sql_type whole_type(struct sql_type a) { return fixed(a) ? numeric_fixed_type(max(a.precision - a.scale, 0) + 1, 0) : general_type(); }
#define BIND_WHOLE(NAME) enum status b_##NAME(struct function_bind *f) { f->kernel = k_##NAME; f->result = whole_type(f->arg_types[0]); return STATUS_OK; }
BIND_WHOLE(numeric_ceil)
BIND_WHOLE(numeric_floor)
BIND_WHOLE(numeric_round_whole)
BIND_WHOLE(numeric_trunc_whole)
BIND_WHOLE(numeric_sign)

/* To a constant count of digits. */
static enum status bind_digits(struct function_bind *f, kernel_fn kernel)
{
    struct sql_type a = f->arg_types[0];
    const struct value *digits = f->constants ? f->constants[1] : NULL;
    f->kernel = kernel;
    f->result = general_type();
    if (fixed(a) && digits && !digits->null && digits->i4 >= -DEC128_DIGITS && digits->i4 <= DEC128_DIGITS) {
        int scale = max(digits->i4, 0);
        f->result = numeric_fixed_type(max(a.precision - a.scale, -digits->i4) + 1 + scale, scale);
    }
    return STATUS_OK;
}
enum status b_numeric_round(struct function_bind *f) { return bind_digits(f, k_numeric_round); }
enum status b_numeric_trunc(struct function_bind *f) { return bind_digits(f, k_numeric_trunc); }

static enum status bind_either(struct function_bind *f, kernel_fn kernel)
{
    f->kernel = kernel;
    f->result = numeric_common_type(f->arg_types[0], f->arg_types[1]);
    f->result.typmod = -1;
    return STATUS_OK;
}
enum status b_numeric_larger(struct function_bind *f) { return bind_either(f, k_numeric_larger); }
enum status b_numeric_smaller(struct function_bind *f) { return bind_either(f, k_numeric_smaller); }

/* ---- casts ---- */

/* To a declared numeric(p,s), or to another form. */
static enum status dec64_narrow(struct kernel_call *c)
{
    const int64_t limit = pow10_64[c->out_type.precision];
    int bad = 0;
    VECTOR_LOOP1(int64_t, int64_t, bad |= (a >= limit) | (a <= -limit); out_[i] = a);
    return bad ? k_numeric(c) : STATUS_OK;                    /* a NaN, or a row to refuse */
}
static enum status dec64_shift(struct kernel_call *c)
{
    const struct factors *f = c->data;
    const int64_t limit = pow10_64[c->out_type.precision], factor = (int64_t)f->wide_a, most = (limit - 1) / factor;
    int bad = 0;
    VECTOR_LOOP1(int64_t, int64_t, bad |= (a > most) | (a < -most); out_[i] = (int64_t)(W64(a) * W64(factor)));
    return bad ? k_numeric(c) : STATUS_OK;
}
enum status b_numeric(struct function_bind *f)
{
    struct sql_type a = f->arg_types[0];
    f->kernel = k_numeric;
    if (a.width == 8 && f->result.width == 8 && f->result.precision <= DEC64_DIGITS && f->result.scale >= a.scale) {
        set_factors(f, f->result.scale - a.scale, 0);
        f->kernel = f->result.scale == a.scale ? dec64_narrow : dec64_shift;
    }
    return STATUS_OK;
}

#define FROM_INT(NAME, A) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        const size_t width = c->out_type.width ? c->out_type.width : sizeof(struct varlen); \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric n; \
            numeric_set(&n, VECTOR(A, &c->args[0], i), 0); \
            enum status s = numeric_write(c->out_type, &n, (uint8_t *)c->out->values + width * i, c->arena); \
            numeric_free(&n); \
            if (s) \
                FAIL(s); \
        } \
        return STATUS_OK; \
    } \
    static enum status NAME##_64(struct kernel_call *c) { VECTOR_LOOP1(A, int64_t, out_[i] = a); return STATUS_OK; } \
    static enum status NAME##_128(struct kernel_call *c) { VECTOR_LOOP1(A, int128, out_[i] = a); return STATUS_OK; } \
    enum status b_##NAME(struct function_bind *f) \
    { \
        const int precision = sizeof(A) == 2 ? 5 : sizeof(A) == 4 ? 10 : 19; \
        f->kernel = k_##NAME; \
        if (f->result.oid == OID_NUMERIC && f->result.typmod >= 4) \
            return STATUS_OK; \
        f->result = numeric_fixed_type(precision, 0); \
        f->kernel = f->result.width == 8 ? NAME##_64 : NAME##_128; \
        return STATUS_OK; \
    }
FROM_INT(int2_numeric, int16_t)
FROM_INT(int4_numeric, int32_t)
FROM_INT(int8_numeric, int64_t)

#define FROM_FLOAT(NAME, A, DIGITS) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        const size_t width = c->out_type.width ? c->out_type.width : sizeof(struct varlen); \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric n; \
            enum status s = numeric_from_double((double)VECTOR(A, &c->args[0], i), DIGITS, &n); \
            if (!s) { \
                s = numeric_write(c->out_type, &n, (uint8_t *)c->out->values + width * i, c->arena); \
                numeric_free(&n); \
            } \
            if (s) \
                FAIL(s); \
        } \
        return STATUS_OK; \
    } \
    enum status b_##NAME(struct function_bind *f) \
    { \
        f->kernel = k_##NAME; \
        if (f->result.oid != OID_NUMERIC) \
            f->result = general_type(); \
        return STATUS_OK; \
    }
FROM_FLOAT(float4_numeric, float, 6)
FROM_FLOAT(float8_numeric, double, 15)

#define TO_INT(NAME, R, LOW, HIGH, TYPE) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        R *out = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric n; \
            int64_t v = 0; \
            numeric_read(c->arg_types[0], &c->args[0], i, &n); \
            enum status s = numeric_to_int64(&n, &v, TYPE); \
            numeric_free(&n); \
            if (!s && (v < LOW || v > HIGH)) \
                s = error_set(STATUS_OUT_OF_RANGE, TYPE " out of range"); \
            if (s) \
                FAIL(s); \
            out[i] = (R)v; \
        } \
        return STATUS_OK; \
    }
TO_INT(numeric_int2, int16_t, INT16_MIN, INT16_MAX, "smallint")
TO_INT(numeric_int4, int32_t, INT32_MIN, INT32_MAX, "integer")
TO_INT(numeric_int8, int64_t, INT64_MIN, INT64_MAX, "bigint")

static enum status out_of_double(struct kernel_call *c, size_t i, const char *type)
{
    struct text_buffer b;
    text_buffer_open(&b, c->arena);
    type_out(c->arg_types[0], &c->args[0], i, &b);
    return error_set(STATUS_OUT_OF_RANGE, "\"%s\" is out of range for type %s", b.bytes, type);
}
static double to_double(struct kernel_call *c, size_t i, bool *out_of_range)
{
    struct numeric n;
    numeric_read(c->arg_types[0], &c->args[0], i, &n);
    double d = numeric_to_double(&n);
    *out_of_range = n.kind == NUMERIC_FINITE && (isinf(d) || (d == 0 && numeric_sign(&n)));
    numeric_free(&n);
    return d;
}
enum status k_numeric_float8(struct kernel_call *c)
{
    double *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        bool bad;
        out[i] = to_double(c, i, &bad);
        if (bad)
            FAIL(out_of_double(c, i, "double precision"));
    }
    return STATUS_OK;
}
enum status k_numeric_float4(struct kernel_call *c)
{
    float *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        bool bad;
        double d = to_double(c, i, &bad);
        float v = (float)d;
        if (bad || (isinf(v) && !isinf(d)) || (v == 0 && d != 0))
            FAIL(out_of_double(c, i, "real"));
        out[i] = v;
    }
    return STATUS_OK;
}
