/* engine/types/kernels_int.c - arithmetic on int2, int4, int8, and between them; bits.
 *
 * Additions and subtractions wrap in straight vector code and gather the overflow in one word; only when a bit of it is
 * set are the rows walked again, to find the first that isn't null and really overflows. Division by a constant
 * multiplies by its reciprocal. */
#include "engine/types/kernel.h"

#include <stdlib.h>

KERNELS_FAST

static enum status out_of_range(int bits)
{
    return error_set(STATUS_OUT_OF_RANGE, "%s out of range", bits == 16 ? "smallint" : bits == 32 ? "integer" : "bigint");
}
static enum status zero(void) { return error_set(STATUS_DIVISION_BY_ZERO, NULL); }

#define BITS(R) ((int)sizeof(R) * 8)

#define ADD_OVER(x, y, r) (((x) ^ (r)) & ((y) ^ (r)))
#define SUB_OVER(x, y, r) (((x) ^ (y)) & ((x) ^ (r)))
#define ADDITIVE(NAME, A, B, R, UR, OP, OVER, BUILTIN) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        R over = 0; \
        VECTOR_LOOP2(A, B, R, const R x = (R)a, y = (R)b, r = (R)((UR)x OP (UR)y); over |= (R)OVER(x, y, r); out_[i] = r); \
        if (__builtin_expect(over < 0, 0)) { \
            for (KERNEL_ROWS(c, i)) { \
                R r, x = (R)VECTOR(A, &c->args[0], i), y = (R)VECTOR(B, &c->args[1], i); \
                if (!c->out->nulls[i] && BUILTIN(x, y, &r)) \
                    FAIL(out_of_range(BITS(R))); \
            } \
        } \
        return STATUS_OK; \
    }
/* The product of two narrower ones is exact in the wider; for int8 the builtin is as good as it gets. */
#define MULTIPLY(NAME, A, B, R, WIDE, BUILTIN) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        unsigned over = 0; \
        VECTOR_LOOP2(A, B, R, R r; over |= BUILTIN((R)a, (R)b, &r); out_[i] = r); \
        if (__builtin_expect(over != 0, 0)) { \
            for (KERNEL_ROWS(c, i)) { \
                R r; \
                if (!c->out->nulls[i] && BUILTIN((R)VECTOR(A, &c->args[0], i), (R)VECTOR(B, &c->args[1], i), &r)) \
                    FAIL(out_of_range(BITS(R))); \
            } \
        } \
        return STATUS_OK; \
    }

/* Quotients of magnitudes by a constant d >= 2: q = n / d as a high product and shifts, for every n. */
struct reciprocal { uint64_t multiplier; unsigned shift; };
static struct reciprocal reciprocal64(uint64_t d)
{
    unsigned l = 64 - (unsigned)__builtin_clzll(d - 1);
    unsigned __int128 top = (((unsigned __int128)1 << l) - d) << 64;
    return (struct reciprocal){(uint64_t)(top / d) + 1, l - 1};
}
static inline uint64_t quotient64(uint64_t n, struct reciprocal r)
{
    uint64_t t = (uint64_t)((unsigned __int128)r.multiplier * n >> 64);
    return (t + ((n - t) >> 1)) >> r.shift;
}
static struct reciprocal reciprocal32(uint32_t d)
{
    unsigned l = 32 - (unsigned)__builtin_clz(d - 1);
    uint64_t top = (((uint64_t)1 << l) - d) << 32;
    return (struct reciprocal){(uint32_t)(top / d) + 1, l - 1};
}
static inline uint32_t quotient32(uint32_t n, struct reciprocal r)
{
    uint32_t t = (uint32_t)((uint64_t)(uint32_t)r.multiplier * n >> 32);
    return (t + ((n - t) >> 1)) >> r.shift;
}

/* U is the unsigned type of the arithmetic (32 or 64 bits), N its width. */
#define DIVIDE(NAME, A, B, R, U, N) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        if (c->args[1].constant && c->count) { \
            const B b0 = ((const B *)c->args[1].values)[0]; \
            const U d = b0 < 0 ? (U)0 - (U)(R)b0 : (U)(R)b0; \
            if (d >= 2) { \
                const struct reciprocal rc = reciprocal##N(d); \
                const bool flip = b0 < 0; \
                VECTOR_LOOP1(A, R, const U n = a < 0 ? (U)0 - (U)(R)a : (U)(R)a; const U q = quotient##N(n, rc); out_[i] = (R)((a < 0) != flip ? (U)0 - q : q)); \
                return STATUS_OK; \
            } \
        } \
        R *out_ = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            const R a = (R)VECTOR(A, &c->args[0], i), b = (R)VECTOR(B, &c->args[1], i); \
            if (b == 0) \
                FAIL(zero()); \
            if (b == -1) { \
                R r; \
                if (__builtin_sub_overflow((R)0, a, &r)) \
                    FAIL(out_of_range(BITS(R))); \
                out_[i] = r; \
            } else \
                out_[i] = (R)(a / b); \
        } \
        return STATUS_OK; \
    }
#define MODULO(NAME, A, U, N) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        if (c->args[1].constant && c->count) { \
            const A b0 = ((const A *)c->args[1].values)[0]; \
            const U d = b0 < 0 ? (U)0 - (U)b0 : (U)b0; \
            if (d >= 2) { \
                const struct reciprocal rc = reciprocal##N(d); \
                VECTOR_LOOP1(A, A, const U n = a < 0 ? (U)0 - (U)a : (U)a; const U m = n - quotient##N(n, rc) * d; out_[i] = (A)(a < 0 ? (U)0 - m : m)); \
                return STATUS_OK; \
            } \
        } \
        A *out_ = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            const A a = VECTOR(A, &c->args[0], i), b = VECTOR(A, &c->args[1], i); \
            if (b == 0) \
                FAIL(zero()); \
            out_[i] = b == -1 ? 0 : (A)(a % b); \
        } \
        return STATUS_OK; \
    }

#define ARITHMETIC(P, A, B, R, UR, UD, N) \
    ADDITIVE(P##pl, A, B, R, UR, +, ADD_OVER, __builtin_add_overflow) \
    ADDITIVE(P##mi, A, B, R, UR, -, SUB_OVER, __builtin_sub_overflow) \
    MULTIPLY(P##mul, A, B, R, int64_t, __builtin_mul_overflow) \
    DIVIDE(P##div, A, B, R, UD, N)
ARITHMETIC(int2, int16_t, int16_t, int16_t, uint16_t, uint32_t, 32)
ARITHMETIC(int24, int16_t, int32_t, int32_t, uint32_t, uint32_t, 32)
ARITHMETIC(int42, int32_t, int16_t, int32_t, uint32_t, uint32_t, 32)
ARITHMETIC(int4, int32_t, int32_t, int32_t, uint32_t, uint32_t, 32)
ARITHMETIC(int28, int16_t, int64_t, int64_t, uint64_t, uint64_t, 64)
ARITHMETIC(int82, int64_t, int16_t, int64_t, uint64_t, uint64_t, 64)
ARITHMETIC(int48, int32_t, int64_t, int64_t, uint64_t, uint64_t, 64)
ARITHMETIC(int84, int64_t, int32_t, int64_t, uint64_t, uint64_t, 64)
ARITHMETIC(int8, int64_t, int64_t, int64_t, uint64_t, uint64_t, 64)
MODULO(int2mod, int16_t, uint32_t, 32)
MODULO(int4mod, int32_t, uint32_t, 32)
MODULO(int8mod, int64_t, uint64_t, 64)

#define UNARY(P, A) \
    KERNEL1(k_##P##um, A, A, if (__builtin_sub_overflow((A)0, a, &r)) FAIL(out_of_range(BITS(A)))) \
    KERNEL1(k_##P##up, A, A, r = a) \
    KERNEL1(k_##P##abs, A, A, r = a; if (a < 0 && __builtin_sub_overflow((A)0, a, &r)) FAIL(out_of_range(BITS(A)))) \
    KERNEL2(k_##P##and, A, A, A, r = (A)(a & b)) \
    KERNEL2(k_##P##or, A, A, A, r = (A)(a | b)) \
    KERNEL2(k_##P##xor, A, A, A, r = (A)(a ^ b)) \
    KERNEL1(k_##P##not, A, A, r = (A)~a) \
    KERNEL2(k_##P##larger, A, A, A, r = a > b ? a : b) \
    KERNEL2(k_##P##smaller, A, A, A, r = a < b ? a : b)
UNARY(int2, int16_t)
UNARY(int4, int32_t)
UNARY(int8, int64_t)
/* Shift counts are taken modulo the width, as the processor does. */
KERNEL2(k_int2shl, int16_t, int32_t, int16_t, r = (int16_t)((uint32_t)a << (b & 31)))
KERNEL2(k_int2shr, int16_t, int32_t, int16_t, r = (int16_t)(a >> (b & 31)))
KERNEL2(k_int4shl, int32_t, int32_t, int32_t, r = (int32_t)((uint32_t)a << (b & 31)))
KERNEL2(k_int4shr, int32_t, int32_t, int32_t, r = a >> (b & 31))
KERNEL2(k_int8shl, int64_t, int32_t, int64_t, r = (int64_t)((uint64_t)a << (b & 63)))
KERNEL2(k_int8shr, int64_t, int32_t, int64_t, r = a >> (b & 63))

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}
static uint64_t size_of(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }
KERNEL2(k_int4gcd, int32_t, int32_t, int32_t, uint64_t g = gcd(size_of(a), size_of(b)); if (g > INT32_MAX) FAIL(out_of_range(32)); r = (int32_t)g)
KERNEL2(k_int8gcd, int64_t, int64_t, int64_t, uint64_t g = gcd(size_of(a), size_of(b)); if (g > INT64_MAX) FAIL(out_of_range(64)); r = (int64_t)g)
#define LCM(BITS_, MAX) \
    if (a == 0 || b == 0) \
        r = 0; \
    else { \
        unsigned __int128 l = (unsigned __int128)(size_of(a) / gcd(size_of(a), size_of(b))) * size_of(b); \
        if (l > (unsigned __int128)MAX) \
            FAIL(out_of_range(BITS_)); \
        r = (int64_t)l; \
    }
KERNEL2(k_int8lcm, int64_t, int64_t, int64_t, LCM(64, INT64_MAX))
KERNEL2(k_int4lcm, int32_t, int32_t, int32_t, int64_t wide = 0; { int64_t r; LCM(32, INT32_MAX) wide = r; } r = (int32_t)wide)

/* Casts between the integers, oid and bool. */
#define NARROW(NAME, A, R, LOW, HIGH, ...) KERNEL1(k_##NAME, A, R, if (a < LOW || a > HIGH) FAIL(__VA_ARGS__); r = (R)a)
#define WIDEN(NAME, A, R) enum status k_##NAME(struct kernel_call *c) { VECTOR_LOOP1(A, R, out_[i] = (R)a); return STATUS_OK; }
WIDEN(i2toi4, int16_t, int32_t)
WIDEN(int28, int16_t, int64_t)
WIDEN(int48, int32_t, int64_t)
WIDEN(oidtoi8, uint32_t, int64_t)
NARROW(i4toi2, int32_t, int16_t, INT16_MIN, INT16_MAX, out_of_range(16))
NARROW(int82, int64_t, int16_t, INT16_MIN, INT16_MAX, out_of_range(16))
NARROW(int84, int64_t, int32_t, INT32_MIN, INT32_MAX, out_of_range(32))
NARROW(i8tooid, int64_t, uint32_t, 0, (int64_t)UINT32_MAX, error_set(STATUS_OUT_OF_RANGE, "OID out of range"))
KERNEL1(k_int4_bool, int32_t, uint8_t, r = a != 0)
KERNEL1(k_bool_int4, uint8_t, int32_t, r = a != 0)
KERNEL1(k_chartoi4, int8_t, int32_t, r = a)
KERNEL1(k_i4tochar, int32_t, int8_t, if (a < -128 || a > 127) FAIL(error_set(STATUS_OUT_OF_RANGE, "\"char\" out of range")); r = (int8_t)a)

enum status k_to_hex32(struct kernel_call *);
enum status k_to_hex64(struct kernel_call *);
static struct varlen hex(uint64_t v, struct arena *arena)
{
    char *text = arena_printf(arena, "%llx", (unsigned long long)v);
    return varlen_of(text, strlen(text));
}
KERNEL1(k_to_hex32, int32_t, struct varlen, r = hex((uint32_t)a, c->arena))
KERNEL1(k_to_hex64, int64_t, struct varlen, r = hex((uint64_t)a, c->arena))
