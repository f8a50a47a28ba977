/* engine/types/kernels_int.c - int2, int4, int8: signs, bits, divisors, casts. Their arithmetic is in kernels_fixed.h. */
#include "engine/types/kernel.h"

#include <stdlib.h>

KERNELS_FAST

static enum status out_of_range(int bits)
{
    return error_set(STATUS_OUT_OF_RANGE, "%s out of range", bits == 16 ? "smallint" : bits == 32 ? "integer" : "bigint");
}
#define BITS(R) ((int)sizeof(R) * 8)

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
