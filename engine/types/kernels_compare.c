/* engine/types/kernels_compare.c - = <> < <= > >= for every type, min and max of two.
 *
 * Fixed widths compare in straight vector code into a column of bool bytes (kernels_fixed.h). Texts first compare the bytes in place.
 * Numerics pick their loop when they are bound: both DEC64 or both DEC128 of one scale compare as integers. */
#include "base/plant.h"
#include "engine/types/kernel.h"
#include "engine/types/processor.h"
#include "engine/types/text_word.h"

#include <math.h>
#include <stdlib.h>
#include "base/hash.h"
#include "engine/types/array.h"

KERNELS_FAST

#define COMPARE(NAME, A, B, EXPRESSION) \
    enum status k_##NAME(struct kernel_call *c) { VECTOR_LOOP2(A, B, uint8_t, out_[i] = (EXPRESSION)); return STATUS_OK; }
COMPARE(xideq, uint64_t, uint64_t, a == b)
COMPARE(xidneq, uint64_t, uint64_t, a != b)
COMPARE(xideq4, uint64_t, int32_t, a == (uint64_t)b)

/* From an order function of two rows. */
#define ORDERED(P, A, ORDER) \
    KERNEL2(k_##P##eq, A, A, uint8_t, r = (ORDER) == 0) KERNEL2(k_##P##ne, A, A, uint8_t, r = (ORDER) != 0) UNEQUAL(P, A, ORDER)
#define UNEQUAL(P, A, ORDER) \
    KERNEL2(k_##P##lt, A, A, uint8_t, r = (ORDER) < 0) KERNEL2(k_##P##le, A, A, uint8_t, r = (ORDER) <= 0) \
    KERNEL2(k_##P##gt, A, A, uint8_t, r = (ORDER) > 0) KERNEL2(k_##P##ge, A, A, uint8_t, r = (ORDER) >= 0) \
    KERNEL2(k_##P##cmp, A, A, int32_t, r = (ORDER))
struct sixteen { uint8_t bytes[16]; };
static inline int span_order(struct interval a, struct interval b)
{
    __int128 x = interval_span(a), y = interval_span(b);
    return (x > y) - (x < y);
}
ORDERED(uuid_, struct sixteen, memcmp(a.bytes, b.bytes, 16))
ORDERED(interval_, struct interval, span_order(a, b))
ORDERED(array_, struct varlen, array_compare(a, b))
ORDERED(oidvector, struct varlen, array_compare(a, b))
static inline int bpchar_order(struct varlen a, struct varlen b) { return varlen_compare(bpchar_trim(a), bpchar_trim(b)); }
/* One of the texts is mostly a constant: its word is made once. */
#define SAME_TEXTS(NAME, PADDED, WANTED) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        uint8_t *out = c->out->values; \
        const size_t ma = VECTOR_MASK(&c->args[0]), mb = VECTOR_MASK(&c->args[1]); \
        const struct varlen *as = c->args[0].values, *bs = c->args[1].values; \
        const uint64_t word = c->count && !mb ? text_word(bs[0], PADDED ? ' ' : 0) : 0; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            const struct varlen a = as[i & ma], b = bs[i & mb]; \
            out[i] = (mb ? text_same(a, b, PADDED) : text_word(a, PADDED ? ' ' : 0) == word && text_same_behind_word(a, b, PADDED)) == WANTED; \
        } \
        return STATUS_OK; \
    }
SAME_TEXTS(bpchareq, true, true)
SAME_TEXTS(bpcharne, true, false)
SAME_TEXTS(texteq, false, true)
SAME_TEXTS(textne, false, false)
UNEQUAL(bpchar, struct varlen, bpchar_order(a, b))
ORDERED(bytea, struct varlen, varlen_compare(a, b))

static inline bool same_bytes(struct varlen a, struct varlen b) { return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length); }
#define TEXTS(P, LT, LE, GT, GE) \
    KERNEL2(k_##LT, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) < 0) KERNEL2(k_##LE, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) < !PLANT(TEXT_NOT_EQUAL)) \
    KERNEL2(k_##GT, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) > 0) KERNEL2(k_##GE, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) >= 0)
TEXTS(text, text_lt, text_le, text_gt, text_ge)

/* date against timestamp and timestamptz; timestamp against timestamptz (in the session's zone). */
static int64_t date_us(int32_t d)
{
    return d == DATE_INFINITY ? TIMESTAMP_INFINITY : d == DATE_NEGATIVE_INFINITY ? TIMESTAMP_NEGATIVE_INFINITY : (int64_t)d * US_DAY;
}
/* A date past timestamp's end is greater than any, one before its start less. */
static int64_t date_timestamp(int32_t d) { return DATE_FINITE(d) && d > 106751990 ? TIMESTAMP_INFINITY - 1 : date_us(d); }
static int64_t zoned(int64_t local) { return TIMESTAMP_FINITE(local) && local < TIMESTAMP_END ? timestamp_to_utc(local, timezone_current()) : local; }
#define MIXED(P, A, B, X, Y) \
    KERNEL2(k_##P##eq, A, B, uint8_t, r = X == Y) KERNEL2(k_##P##ne, A, B, uint8_t, r = X != Y) KERNEL2(k_##P##lt, A, B, uint8_t, r = X < Y) \
    KERNEL2(k_##P##le, A, B, uint8_t, r = X <= Y) KERNEL2(k_##P##gt, A, B, uint8_t, r = X > Y) KERNEL2(k_##P##ge, A, B, uint8_t, r = X >= Y)
#define MIXED_(P, A, B, X, Y) \
    KERNEL2(k_##P##_eq, A, B, uint8_t, r = X == Y) KERNEL2(k_##P##_ne, A, B, uint8_t, r = X != Y) KERNEL2(k_##P##_lt, A, B, uint8_t, r = X < Y) \
    KERNEL2(k_##P##_le, A, B, uint8_t, r = X <= Y) KERNEL2(k_##P##_gt, A, B, uint8_t, r = X > Y) KERNEL2(k_##P##_ge, A, B, uint8_t, r = X >= Y)
#define MIXED2(LEFT, RIGHT, A, B, X, Y) \
    KERNEL2(k_##LEFT##_eq_##RIGHT, A, B, uint8_t, r = X == Y) KERNEL2(k_##LEFT##_ne_##RIGHT, A, B, uint8_t, r = X != Y) KERNEL2(k_##LEFT##_lt_##RIGHT, A, B, uint8_t, r = X < Y) \
    KERNEL2(k_##LEFT##_le_##RIGHT, A, B, uint8_t, r = X <= Y) KERNEL2(k_##LEFT##_gt_##RIGHT, A, B, uint8_t, r = X > Y) KERNEL2(k_##LEFT##_ge_##RIGHT, A, B, uint8_t, r = X >= Y)
/* Dates against one timestamp: the first day that isn't before it, and the first behind it. */
static void days_of(int64_t t, int64_t *at, int64_t *behind)
{
    int64_t day = t / US_DAY - (t % US_DAY < 0);
    *at = t == TIMESTAMP_INFINITY ? DATE_INFINITY : t == TIMESTAMP_NEGATIVE_INFINITY ? DATE_NEGATIVE_INFINITY : day + (t % US_DAY != 0);
    *behind = TIMESTAMP_FINITE(t) ? day + 1 : *at + 1;
}
#define DATE_TIMESTAMP(OP, SYMBOL, LOW, HIGH, INSIDE) \
    static KERNEL2(date_##OP##_timestamps, int32_t, int64_t, uint8_t, r = date_timestamp(a) SYMBOL b) \
    enum status k_date_##OP##_timestamp(struct kernel_call *c) \
    { \
        int64_t at, behind; \
        if (!c->count || c->args[0].constant || !c->args[1].constant) \
            return date_##OP##_timestamps(c); \
        days_of(*(const int64_t *)c->args[1].values, &at, &behind); \
        const int64_t low = (LOW), high = (HIGH); \
        VECTOR_LOOP1(int32_t, uint8_t, out_[i] = ((a >= low) & (a < high)) == (INSIDE)); \
        return STATUS_OK; \
    }
DATE_TIMESTAMP(eq, ==, at, behind, 1)
DATE_TIMESTAMP(ne, !=, at, behind, 0)
DATE_TIMESTAMP(lt, <, INT64_MIN, at, 1)
DATE_TIMESTAMP(le, <=, INT64_MIN, behind, 1)
DATE_TIMESTAMP(gt, >, INT64_MIN, behind, 0)
DATE_TIMESTAMP(ge, >=, INT64_MIN, at, 0)
MIXED2(timestamp, date, int64_t, int32_t, a, date_timestamp(b))
MIXED2(date, timestamptz, int32_t, int64_t, zoned(date_timestamp(a)), b)
MIXED2(timestamptz, date, int64_t, int32_t, a, zoned(date_timestamp(b)))
MIXED2(timestamp, timestamptz, int64_t, int64_t, zoned(a), b)
MIXED2(timestamptz, timestamp, int64_t, int64_t, a, zoned(b))
/* name against text: both are bytes here. */
#define NAMES(L, R_) \
    KERNEL2(k_##L##eq##R_, struct varlen, struct varlen, uint8_t, r = same_bytes(a, b)) KERNEL2(k_##L##ne##R_, struct varlen, struct varlen, uint8_t, r = !same_bytes(a, b)) \
    KERNEL2(k_##L##lt##R_, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) < 0) KERNEL2(k_##L##le##R_, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) <= 0) \
    KERNEL2(k_##L##gt##R_, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) > 0) KERNEL2(k_##L##ge##R_, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) >= 0)
NAMES(name, text)
NAMES(text, name)
NAMES(name, )

/* ---- numeric ---- */

/* Both sides brought to one scale: each multiplied by a power of ten known at bind. */
struct scales { int64_t a, b; __int128 wide_a, wide_b; int scale_a, scale_b; };
struct scaled { int64_t value; kernel_fn kernel; };

#define DEC_COMPARES(OPNAME, OP) \
    enum status k_int8##OPNAME(struct kernel_call *);       /* kernels_fixed.h: of one scale they are integers */ \
    static enum status dec64_##OPNAME(struct kernel_call *c) \
    { \
        const struct scales *s = c->data; \
        const __int128 fa = s->a, fb = s->b; \
        VECTOR_LOOP2(int64_t, int64_t, uint8_t, \
            const __int128 x = a == DEC64_NAN ? DEC128_NAN : a * fa, y = b == DEC64_NAN ? DEC128_NAN : b * fb; out_[i] = x OP y); \
        return STATUS_OK; \
    } \
    static enum status dec128_same_##OPNAME(struct kernel_call *c) { VECTOR_LOOP2(__int128, __int128, uint8_t, out_[i] = a OP b); return STATUS_OK; } \
    static enum status general_##OPNAME(struct kernel_call *c) \
    { \
        uint8_t *out_ = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            struct numeric x, y; \
            numeric_read(c->arg_types[0], &c->args[0], i, &x); \
            numeric_read(c->arg_types[1], &c->args[1], i, &y); \
            out_[i] = numeric_compare(&x, &y) OP 0; \
            numeric_free(&x); \
            numeric_free(&y); \
        } \
        return STATUS_OK; \
    } \
    /* Against a constant that has fewer digits: it was given as many when it was bound. */ \
    static enum status dec64_constant_##OPNAME(struct kernel_call *c) \
    { \
        const struct scaled *s = c->data; \
        struct vector args[2] = {c->args[0], {.values = (void *)(uintptr_t)&s->value, .width = 8, .constant = true}}; \
        struct kernel_call call = *c; \
        call.args = args; \
        return s->kernel(&call); \
    } \
    enum status b_numeric_##OPNAME(struct function_bind *f) \
    { \
        struct sql_type a = f->arg_types[0], b = f->arg_types[1]; \
        f->result = type_make(OID_BOOL, -1); \
        f->kernel = general_##OPNAME; \
        if (a.width == 8 && b.width == 8) { \
            int shift = a.scale - b.scale; \
            struct scaled *scaled = arena_new(f->arena, struct scaled); \
            if (!shift) \
                f->kernel = k_int8##OPNAME; \
            else if (shift > 0 && f->constants && f->constants[1] && !f->constants[1]->null && f->constants[1]->i8 != DEC64_NAN && \
                     !__builtin_mul_overflow(f->constants[1]->i8, pow10_64[shift], &scaled->value) && scaled->value != DEC64_NAN) { \
                scaled->kernel = kernel_choose(k_int8##OPNAME); \
                f->data = scaled; \
                f->kernel = dec64_constant_##OPNAME; \
            } else { \
                struct scales *s = arena_new(f->arena, struct scales); \
                s->a = shift < 0 ? pow10_64[-shift] : 1; \
                s->b = shift > 0 ? pow10_64[shift] : 1; \
                f->data = s; \
                f->kernel = dec64_##OPNAME; \
            } \
        } else if (a.width == 16 && b.width == 16 && a.scale == b.scale) \
            f->kernel = dec128_same_##OPNAME; \
        return STATUS_OK; \
    }
DEC_COMPARES(eq, ==)
DEC_COMPARES(ne, !=)
DEC_COMPARES(lt, <)
DEC_COMPARES(le, <=)
DEC_COMPARES(gt, >)
DEC_COMPARES(ge, >=)

/* ---- btree support: -1, 0, 1 ---- */
#define ORDER3(x, y) (((x) > (y)) - ((x) < (y)))
KERNEL2(k_btint4cmp, int32_t, int32_t, int32_t, r = ORDER3(a, b))
KERNEL2(k_btint8cmp, int64_t, int64_t, int32_t, r = ORDER3(a, b))
KERNEL2(k_btint2cmp, int16_t, int16_t, int32_t, r = ORDER3(a, b))
KERNEL2(k_bttextcmp, struct varlen, struct varlen, int32_t, r = varlen_compare(a, b))
KERNEL2(k_btfloat8cmp, double, double, int32_t, r = float8_compare(a, b))
KERNEL2(k_date_cmp, int32_t, int32_t, int32_t, r = ORDER3(a, b))
KERNEL2(k_timestamp_cmp, int64_t, int64_t, int32_t, r = ORDER3(a, b))

KERNEL2(k_text_larger, struct varlen, struct varlen, struct varlen, r = varlen_compare(a, b) > 0 ? a : b)
KERNEL2(k_text_smaller, struct varlen, struct varlen, struct varlen, r = varlen_compare(a, b) < 0 ? a : b)
KERNEL2(k_text_starts_with, struct varlen, struct varlen, uint8_t, r = a.length >= b.length && !memcmp(a.bytes, b.bytes, b.length))
KERNEL2(k_text_pattern_lt, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) < 0)
KERNEL2(k_text_pattern_le, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) <= 0)
KERNEL2(k_text_pattern_gt, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) > 0)
KERNEL2(k_text_pattern_ge, struct varlen, struct varlen, uint8_t, r = varlen_compare(a, b) >= 0)

KERNEL1(k_hashtext, struct varlen, int32_t, r = (int32_t)hash_bytes(a.bytes, a.length, 0))
KERNEL1(k_hashint4, int32_t, int32_t, r = (int32_t)hash_u64((uint64_t)(int64_t)a))
KERNEL1(k_hashint8, int64_t, int32_t, r = (int32_t)hash_u64((uint64_t)a))
