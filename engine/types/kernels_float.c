/* engine/types/kernels_float.c - float4 and float8: division, mathematics, casts. Sums and products are in kernels_fixed.h.
 *
 * An infinite result from finite arguments is an overflow, a zero product or quotient of non-zero ones an underflow. */
#include "engine/types/kernel.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/latch.h"

KERNELS_FAST

static enum status overflow(void) { return error_set(STATUS_OUT_OF_RANGE, "value out of range: overflow"); }
static enum status underflow(void) { return error_set(STATUS_OUT_OF_RANGE, "value out of range: underflow"); }
static enum status input_range(void) { return error_set(STATUS_OUT_OF_RANGE, "input is out of range"); }

#define DIVIDE(NAME, A, B, R) \
    KERNEL2(k_##NAME, A, B, R, \
        if (b == 0 && !isnan(a)) FAIL(error_set(STATUS_DIVISION_BY_ZERO, NULL)); \
        r = (R)a / (R)b; \
        if (isinf(r) && !isinf(a)) FAIL(overflow()); \
        if (r == 0 && a != 0 && !isinf(b)) FAIL(underflow()))
DIVIDE(float4div, float, float, float)
DIVIDE(float8div, double, double, double)
DIVIDE(float48div, float, double, double)
DIVIDE(float84div, double, float, double)

KERNEL1(k_float4um, float, float, r = -a)
KERNEL1(k_float8um, double, double, r = -a)
KERNEL1(k_float4up, float, float, r = a)
KERNEL1(k_float8up, double, double, r = a)
KERNEL1(k_float4abs, float, float, r = fabsf(a))
KERNEL1(k_float8abs, double, double, r = fabs(a))
KERNEL2(k_float4larger, float, float, float, r = float8_compare((double)a, (double)b) > 0 ? a : b)
KERNEL2(k_float4smaller, float, float, float, r = float8_compare((double)a, (double)b) < 0 ? a : b)
KERNEL2(k_float8larger, double, double, double, r = float8_compare(a, b) > 0 ? a : b)
KERNEL2(k_float8smaller, double, double, double, r = float8_compare(a, b) < 0 ? a : b)

/* ---- mathematics ---- */

#define CHECKED(NAME, EXPRESSION) KERNEL1(k_##NAME, double, double, r = (EXPRESSION); if (isinf(r) && !isinf(a)) FAIL(overflow()))
#define PLAIN(NAME, EXPRESSION) KERNEL1(k_##NAME, double, double, r = (EXPRESSION))
#define FINITE(NAME, EXPRESSION) KERNEL1(k_##NAME, double, double, if (isinf(a)) FAIL(input_range()); r = (EXPRESSION))
#define WITHIN(NAME, CONDITION, EXPRESSION) KERNEL1(k_##NAME, double, double, if (!isnan(a) && !(CONDITION)) FAIL(input_range()); r = (EXPRESSION))
PLAIN(dround, rint(a))
PLAIN(dceil, ceil(a))
PLAIN(dfloor, floor(a))
PLAIN(dtrunc, trunc(a))
PLAIN(dsign, a > 0 ? 1 : a < 0 ? -1 : 0)
PLAIN(dcbrt, cbrt(a))
PLAIN(dtanh, tanh(a))
PLAIN(dasinh, asinh(a))
PLAIN(datan, atan(a))
PLAIN(dsinh, sinh(a))
PLAIN(dcosh, cosh(a))
FINITE(dsin, sin(a))
FINITE(dcos, cos(a))
FINITE(dtan, tan(a))
FINITE(dcot, 1.0 / tan(a))
WITHIN(dasin, a >= -1 && a <= 1, asin(a))
WITHIN(dacos, a >= -1 && a <= 1, acos(a))
WITHIN(dacosh, a >= 1, acosh(a))
WITHIN(datanh, a >= -1 && a <= 1, atanh(a))
CHECKED(degrees, a / 0.017453292519943295)
PLAIN(radians, a * 0.017453292519943295)
KERNEL0(k_dpi, double, r = 3.141592653589793)
KERNEL2(k_datan2, double, double, double, r = atan2(a, b))
KERNEL1(k_dsqrt, double, double, if (a < 0) FAIL(error_set(STATUS_INVALID_POWER, "cannot take square root of a negative number")); r = sqrt(a))
KERNEL1(k_dexp, double, double, r = exp(a); if (isinf(r) && !isinf(a)) FAIL(overflow()); if (r == 0 && !isinf(a)) FAIL(underflow()))
static enum status log_check(double a)
{
    if (a == 0)
        return error_set(STATUS_INVALID_LOGARITHM, "cannot take logarithm of zero");
    if (a < 0)
        return error_set(STATUS_INVALID_LOGARITHM, "cannot take logarithm of a negative number");
    return STATUS_OK;
}
KERNEL1(k_dlog1, double, double, CHECK_ROW(log_check(a)); r = log(a))
KERNEL1(k_dlog10, double, double, CHECK_ROW(log_check(a)); r = log10(a))

static enum status power(double a, double b, double *out)
{
    if (isnan(a)) {
        *out = b == 0 ? 1 : NAN;
        return STATUS_OK;
    }
    if (isnan(b)) {
        *out = a == 1 ? 1 : NAN;
        return STATUS_OK;
    }
    if (a == 0 && b < 0)
        return error_set(STATUS_INVALID_POWER, "zero raised to a negative power is undefined");
    if (a < 0 && floor(b) != b)
        return error_set(STATUS_INVALID_POWER, "a negative number raised to a non-integer power yields a complex result");
    *out = pow(a, b);
    if (isinf(*out) && !isinf(a) && !isinf(b))
        return overflow();
    if (*out == 0 && a != 0 && !isinf(a) && !isinf(b))
        return underflow();
    return STATUS_OK;
}
KERNEL2(k_dpow, double, double, double, CHECK_ROW(power(a, b, &r)))

/* Degrees, exact where the angle is. */
static double reduce(double a, double period) { return fmod(a, period); }
static double sin_degrees(double a)
{
    a = reduce(a, 360);
    if (a < 0)
        return -sin_degrees(-a);
    if (a > 180)
        return -sin_degrees(a - 180);
    if (a > 90)
        a = 180 - a;
    return a == 30 ? 0.5 : a == 90 ? 1 : a == 0 ? 0 : sin(a * 0.017453292519943295);
}
static double cos_degrees(double a)
{
    a = fabs(reduce(a, 360));
    if (a > 180)
        a = 360 - a;
    if (a > 90)
        return -cos_degrees(180 - a);
    return a == 60 ? 0.5 : a == 90 ? 0 : a == 0 ? 1 : cos(a * 0.017453292519943295);
}
FINITE(dsind, sin_degrees(a))
FINITE(dcosd, cos_degrees(a))
static double tan_degrees(double a)
{
    double m = fabs(fmod(a, 180));
    return m == 45 ? (fmod(a, 180) > 0 ? 1 : -1) : m == 135 ? (fmod(a, 180) > 0 ? -1 : 1) : sin_degrees(a) / cos_degrees(a);
}
FINITE(dtand, tan_degrees(a))
FINITE(dcotd, cos_degrees(a) / sin_degrees(a))

/* ---- random: a generator a thread, seeded from the clock until setseed ---- */

static _Thread_local uint64_t seed;
static _Thread_local bool seeded;
static double next_random(void)
{
    if (!seeded) {
        seed = hash_join((uint64_t)wall_us(), (uint64_t)(uintptr_t)&seed);
        seeded = true;
    }
    return (double)(random_next(&seed) >> 11) * 0x1p-53;
}
KERNEL0(k_drandom, double, r = next_random())
KERNEL1(k_setseed, double, int32_t,
    if (!(a >= -1 && a <= 1)) FAIL(error_set(STATUS_INVALID_PARAMETER_VALUE, "setseed parameter %g is out of allowed range [-1,1]", a));
    memcpy(&seed, &a, 8); seeded = true; r = 0)

static enum status bucket(double operand, double low, double high, int32_t count, int32_t *out)
{
    if (count <= 0)
        return error_set(STATUS_INVALID_WIDTH_BUCKET, "count must be greater than zero");
    if (isnan(operand) || isnan(low) || isnan(high))
        return error_set(STATUS_INVALID_WIDTH_BUCKET, "operand, lower bound, and upper bound cannot be NaN");
    if (isinf(low) || isinf(high))
        return error_set(STATUS_INVALID_WIDTH_BUCKET, "lower and upper bounds must be finite");
    if (low == high)
        return error_set(STATUS_INVALID_WIDTH_BUCKET, "lower bound cannot equal upper bound");
    int64_t result;
    if (low < high)
        result = operand < low ? 0 : operand >= high ? (int64_t)count + 1 : (int64_t)(count * ((operand - low) / (high - low))) + 1;
    else
        result = operand > low ? 0 : operand <= high ? (int64_t)count + 1 : (int64_t)(count * ((low - operand) / (low - high))) + 1;
    if (result > INT32_MAX)
        return error_set(STATUS_OUT_OF_RANGE, "integer out of range");
    *out = (int32_t)result;
    return STATUS_OK;
}
KERNEL4(k_width_bucket_float8, double, double, double, int32_t, int32_t, CHECK_ROW(bucket(a, b, d, e, &r)))

/* ---- casts ---- */

#define WIDEN(NAME, A, R) enum status k_##NAME(struct kernel_call *c) { VECTOR_LOOP1(A, R, out_[i] = (R)a); return STATUS_OK; }
WIDEN(i2tod, int16_t, double)
WIDEN(i4tod, int32_t, double)
WIDEN(i8tod, int64_t, double)
WIDEN(i2tof, int16_t, float)
WIDEN(i4tof, int32_t, float)
WIDEN(i8tof, int64_t, float)
WIDEN(ftod, float, double)
KERNEL1(k_dtof, double, float, r = (float)a; if (isinf(r) && !isinf(a)) FAIL(overflow()); if (r == 0 && a != 0) FAIL(underflow()))
#define TO_INT(NAME, A, R, LOW, HIGH, TYPE) \
    KERNEL1(k_##NAME, A, R, const double d = rint((double)a); if (!(d >= LOW && d < HIGH)) FAIL(error_set(STATUS_OUT_OF_RANGE, TYPE " out of range")); r = (R)d)
TO_INT(dtoi2, double, int16_t, -32768.0, 32768.0, "smallint")
TO_INT(dtoi4, double, int32_t, -2147483648.0, 2147483648.0, "integer")
TO_INT(dtoi8, double, int64_t, -9223372036854775808.0, 9223372036854775808.0, "bigint")
TO_INT(ftoi2, float, int16_t, -32768.0, 32768.0, "smallint")
TO_INT(ftoi4, float, int32_t, -2147483648.0, 2147483648.0, "integer")
TO_INT(ftoi8, float, int64_t, -9223372036854775808.0, 9223372036854775808.0, "bigint")
