/* engine/types/numeric_big.c - sqrt, exp, ln, log and power of exact decimals.
 *
 * The scale of each result is chosen as PostgreSQL chooses it (at least 16 significant digits, never fewer digits after
 * the point than the arguments show). The value is computed in binary fixed point, integers counted in units of
 * 2^-bits, with guard bits enough that the one rounding at the end is right except in a true tie of the last digit. */
#include "engine/types/numeric.h"

#include <math.h>
#include <stdlib.h>

static enum status overflow(void) { return error_set(STATUS_OUT_OF_RANGE, "value overflows numeric format"); }

static void load(const struct numeric *n, mpz_t z)
{
    if (n->big)
        mpz_init_set(z, n->z);
    else {
        mpz_init(z);
        int128_to_mpz(z, n->small);
    }
}

static int clamp_scale(int scale) { return scale < 0 ? 0 : scale > 1000 ? 1000 : scale; }
static int max(int a, int b) { return a > b ? a : b; }

/* z (initialised) = n in units of 2^-bits. */
static void to_binary(const struct numeric *n, mpz_t z, unsigned long bits)
{
    mpz_t power;
    load(n, z);
    mpz_mul_2exp(z, z, bits);
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)n->scale);
    mpz_tdiv_q(z, z, power);
    mpz_clear(power);
}

/* Takes z, in units of 2^-bits, rounds it to scale digits. */
static void from_binary(mpz_t z, unsigned long bits, int scale, struct numeric *out)
{
    mpz_t power, half;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)scale);
    mpz_mul(z, z, power);
    mpz_init_set_ui(half, 1);
    mpz_mul_2exp(half, half, bits - 1);
    if (mpz_sgn(z) < 0)
        mpz_sub(z, z, half);
    else
        mpz_add(z, z, half);
    mpz_tdiv_q_2exp(z, z, bits);
    mpz_clear(half);
    mpz_clear(power);
    numeric_set_z(out, z, scale);
}

void numeric_sqrt_scale(const struct numeric *n, int scale, struct numeric *out)
{
    /* sqrt(m * 10^-s) in units of 10^-scale, rounded: floor(sqrt(m * 10^(2 scale - s)) + 1/2). */
    mpz_t z, power, root, rest;
    load(n, z);
    mpz_init(power);
    int shift = 2 * scale - n->scale;
    mpz_ui_pow_ui(power, 10, (unsigned long)abs(shift));
    if (shift >= 0)
        mpz_mul(z, z, power);
    else
        mpz_tdiv_q(z, z, power);
    mpz_init(root);
    mpz_init(rest);
    mpz_sqrtrem(root, rest, z);
    if (mpz_cmp(rest, root) > 0)                              /* beyond root + 1/2 */
        mpz_add_ui(root, root, 1);
    mpz_clear(z);
    mpz_clear(power);
    mpz_clear(rest);
    numeric_set_z(out, root, scale);
}

enum status numeric_sqrt(const struct numeric *n, struct numeric *out)
{
    if (n->kind == NUMERIC_NAN || n->kind == NUMERIC_PINF) {
        numeric_copy(out, n);
        return STATUS_OK;
    }
    if (numeric_sign(n) < 0)
        return error_set(STATUS_INVALID_POWER, "cannot take square root of a negative number");
    int weight, first;
    numeric_head(n, &weight, &first);
    int root_weight = weight >= 0 ? weight * 4 / 2 + 1 : 1 - (-weight * 4) / 2;
    numeric_sqrt_scale(n, clamp_scale(max(16 - root_weight, n->scale)), out);
    return STATUS_OK;
}

/* e^x for x in units of 2^-bits: halved until small, summed as a series, squared back. out is initialised. */
static void exp_binary(mpz_t out, const mpz_t x, unsigned long bits)
{
    mpz_t t, term, sum, one;
    long size = (long)mpz_sizeinbase(x, 2) - (long)bits;      /* |x| < 2^size */
    unsigned long halvings = size + 10 > 0 ? (unsigned long)(size + 10) : 0;
    unsigned long work = bits + 2 * halvings + 32;
    mpz_init(t);
    mpz_mul_2exp(t, x, work - bits);
    mpz_fdiv_q_2exp(t, t, halvings);
    mpz_init_set_ui(one, 1);
    mpz_mul_2exp(one, one, work);
    mpz_init_set(sum, one);
    mpz_init_set(term, one);
    for (unsigned long k = 1; mpz_sgn(term); k++) {
        mpz_mul(term, term, t);
        mpz_tdiv_q_2exp(term, term, work);
        mpz_tdiv_q_ui(term, term, k);
        mpz_add(sum, sum, term);
    }
    for (unsigned long i = 0; i < halvings; i++) {
        mpz_mul(sum, sum, sum);
        mpz_fdiv_q_2exp(sum, sum, work);
    }
    mpz_fdiv_q_2exp(out, sum, work - bits);
    mpz_clear(t);
    mpz_clear(term);
    mpz_clear(sum);
    mpz_clear(one);
}

/* 2 atanh(a / b) in units of 2^-bits, |a| < |b|. out is initialised. */
static void two_atanh(mpz_t out, const mpz_t a, const mpz_t b, unsigned long bits)
{
    mpz_t t, square, power, term;
    mpz_init(t);
    mpz_mul_2exp(t, a, bits);
    mpz_tdiv_q(t, t, b);
    mpz_init(square);
    mpz_mul(square, t, t);
    mpz_fdiv_q_2exp(square, square, bits);
    mpz_init_set(power, t);
    mpz_init(term);
    mpz_set(out, t);
    for (unsigned long k = 3; mpz_sgn(power); k += 2) {
        mpz_mul(power, power, square);
        mpz_tdiv_q_2exp(power, power, bits);
        mpz_tdiv_q_ui(term, power, k);
        mpz_add(out, out, term);
    }
    mpz_mul_2exp(out, out, 1);
    mpz_clear(t);
    mpz_clear(square);
    mpz_clear(power);
    mpz_clear(term);
}

/* ln of a positive number, in units of 2^-bits. out is initialised. */
static void ln_binary(mpz_t out, const struct numeric *n, unsigned long bits)
{
    unsigned long work = bits + 64;
    mpz_t num, den, a, b, ln2;
    load(n, num);
    mpz_init(den);
    mpz_ui_pow_ui(den, 10, (unsigned long)n->scale);
    /* n = m * 2^e with m in about [2/3, 4/3]. */
    long e = (long)mpz_sizeinbase(num, 2) - (long)mpz_sizeinbase(den, 2);
    if (e > 0)
        mpz_mul_2exp(den, den, (unsigned long)e);
    else
        mpz_mul_2exp(num, num, (unsigned long)-e);
    mpz_init(a);
    mpz_init(b);
    mpz_mul_ui(a, num, 3);
    mpz_mul_ui(b, den, 4);
    if (mpz_cmp(a, b) > 0) {
        mpz_mul_2exp(den, den, 1);
        e++;
    }
    mpz_sub(a, num, den);
    mpz_add(b, num, den);
    two_atanh(out, a, b, work);
    mpz_init(ln2);
    mpz_set_ui(a, 1);
    mpz_set_ui(b, 3);
    two_atanh(ln2, a, b, work);
    mpz_mul_si(ln2, ln2, e);
    mpz_add(out, out, ln2);
    mpz_fdiv_q_2exp(out, out, work - bits);
    mpz_clear(num);
    mpz_clear(den);
    mpz_clear(a);
    mpz_clear(b);
    mpz_clear(ln2);
}

static unsigned long bits_for(int digits) { return (unsigned long)(digits > 0 ? digits : 0) * 10 / 3 + 96; }

enum status numeric_exp(const struct numeric *n, struct numeric *out)
{
    if (n->kind == NUMERIC_NINF) {
        numeric_set(out, 0, 0);
        return STATUS_OK;
    }
    if (n->kind != NUMERIC_FINITE) {
        numeric_copy(out, n);
        return STATUS_OK;
    }
    double value = numeric_to_double(n);
    double digits = value * 0.434294481903252;
    digits = digits < -2000 ? -2000 : digits > 2000 ? 2000 : digits;
    int scale = clamp_scale(max(16 - (int)digits, n->scale));
    if (fabs(value) >= 6000) {
        if (value > 0)
            return overflow();
        numeric_set(out, 0, scale);
        return STATUS_OK;
    }
    unsigned long bits = bits_for(scale + max(0, (int)(value * 0.4343)) + 4);
    mpz_t x, result;
    to_binary(n, x, bits);
    mpz_init(result);
    exp_binary(result, x, bits);
    mpz_clear(x);
    from_binary(result, bits, scale, out);
    return STATUS_OK;
}

/* The decimal weight of ln(n). */
static int ln_weight(const struct numeric *n)
{
    if (numeric_sign(n) <= 0)
        return 0;
    struct numeric low, high;
    numeric_set(&low, 9, 1);
    numeric_set(&high, 11, 1);
    int weight, first;
    if (numeric_compare(n, &low) >= 0 && numeric_compare(n, &high) <= 0) {
        struct numeric one, rest;
        numeric_set(&one, 1, 0);
        numeric_sub(n, &one, &rest);
        int answer = 0;
        if (numeric_sign(&rest)) {
            numeric_head(&rest, &weight, &first);
            answer = weight * 4 + (int)log10(first);
        }
        numeric_free(&rest);
        return answer;
    }
    /* Eight digits are plenty for the size of the logarithm. */
    numeric_head(n, &weight, &first);
    double value = numeric_to_double(n), ln;
    if (value > 0 && isfinite(value))
        ln = log(value);
    else
        ln = log((double)first) + weight * 4 * 2.302585092994046;
    return (int)log10(fabs(ln));
}

static enum status ln_check(const struct numeric *n)
{
    int sign = numeric_sign(n);
    if (n->kind == NUMERIC_NAN)
        return STATUS_OK;
    if (sign < 0)
        return error_set(STATUS_INVALID_LOGARITHM, "cannot take logarithm of a negative number");
    if (!sign)
        return error_set(STATUS_INVALID_LOGARITHM, "cannot take logarithm of zero");
    return STATUS_OK;
}

enum status numeric_ln(const struct numeric *n, struct numeric *out)
{
    enum status s = ln_check(n);
    if (s)
        return s;
    if (n->kind != NUMERIC_FINITE) {
        numeric_copy(out, n);
        return STATUS_OK;
    }
    int scale = clamp_scale(max(16 - ln_weight(n), n->scale));
    unsigned long bits = bits_for(scale + 8);
    mpz_t result;
    mpz_init(result);
    ln_binary(result, n, bits);
    from_binary(result, bits, scale, out);
    return STATUS_OK;
}

enum status numeric_log(const struct numeric *base, const struct numeric *n, struct numeric *out)
{
    if (base->kind == NUMERIC_NAN || n->kind == NUMERIC_NAN) {
        numeric_set_special(out, NUMERIC_NAN);
        return STATUS_OK;
    }
    enum status s = ln_check(base);
    if (!s)
        s = ln_check(n);
    if (s)
        return s;
    if (base->kind == NUMERIC_PINF || n->kind == NUMERIC_PINF) {
        if (base->kind == n->kind)
            numeric_set_special(out, NUMERIC_NAN);
        else if (n->kind == NUMERIC_PINF)
            numeric_set_special(out, NUMERIC_PINF);
        else
            numeric_set(out, 0, 0);
        return STATUS_OK;
    }
    int wb = ln_weight(base), wn = ln_weight(n);
    int scale = clamp_scale(max(max(16 - (wn - wb), base->scale), n->scale));
    unsigned long bits = bits_for(scale + abs(wb) + abs(wn) + 8);
    mpz_t x, y;
    mpz_init(x);
    mpz_init(y);
    ln_binary(x, n, bits);
    ln_binary(y, base, bits);
    if (!mpz_sgn(y)) {
        mpz_clear(x);
        mpz_clear(y);
        return error_set(STATUS_DIVISION_BY_ZERO, NULL);
    }
    mpz_mul_2exp(x, x, bits);
    mpz_tdiv_q(x, x, y);
    mpz_clear(y);
    from_binary(x, bits, scale, out);
    return STATUS_OK;
}

/* base^exponent for a whole exponent: PostgreSQL shows 16 digits after the point, however large or small it is. */
static enum status power_whole(const struct numeric *base, long exponent, int exponent_scale, struct numeric *out)
{
    double digits = 0;
    if (numeric_sign(base)) {
        int weight, first;
        numeric_head(base, &weight, &first);
        double value = fabs(numeric_to_double(base));
        double log = value > 0 && isfinite(value) ? log10(value) : log10((double)first) + weight * 4.0;
        digits = (double)exponent * log;
    }
    if (digits > NUMERIC_MAX_WEIGHT + 4)
        return overflow();
    if (digits + 1 < -NUMERIC_MAX_PRECISION) {
        numeric_set(out, 0, NUMERIC_MAX_PRECISION);
        return STATUS_OK;
    }
    int scale = clamp_scale(max(max(16, base->scale), exponent_scale));
    struct numeric result, next;
    if (exponent == 0)
        numeric_set(&result, 1, 0);
    else {
        /* Squares and multiplies exactly while that stays short, else with guard digits. */
        int keep = max(scale, 0) + 16;
        int significant = max(0, (int)fabs(digits)) + keep + 16;
        struct numeric square;
        numeric_copy(&square, base);
        numeric_set(&result, 1, 0);
        for (unsigned long e = (unsigned long)labs(exponent);;) {
            if (e & 1) {
                numeric_mul(&result, &square, &next);
                numeric_free(&result);
                result = next;
            }
            e >>= 1;
            if (!e)
                break;
            numeric_mul(&square, &square, &next);
            numeric_free(&square);
            square = next;
            for (int i = 0; i < 2; i++) {                     /* cut both to the digits that can matter */
                struct numeric *n = i ? &result : &square;
                int weight, first;
                numeric_head(n, &weight, &first);
                int cut = significant - weight * 4;
                if (n->scale > cut && cut > 0)
                    numeric_rescale(n, cut, ROUND_HALF_AWAY);
            }
        }
        numeric_free(&square);
        if (exponent < 0) {
            struct numeric one;
            numeric_set(&one, 1, 0);
            if (!numeric_sign(&result)) {
                numeric_free(&result);
                return error_set(STATUS_DIVISION_BY_ZERO, NULL);
            }
            numeric_div_scale(&one, &result, scale, &next);
            numeric_free(&result);
            result = next;
        }
    }
    numeric_rescale(&result, scale, ROUND_HALF_AWAY);
    *out = result;
    return numeric_check(out);
}

#define POWER_LOG_MAX 6020.0             /* PostgreSQL's: of a power that isn't whole e^6020 is as much as is computed (10^2614) */

enum status numeric_power(const struct numeric *base, const struct numeric *exponent, struct numeric *out)
{
    struct numeric one;
    numeric_set(&one, 1, 0);
    int sb = numeric_sign(base), se = numeric_sign(exponent);
    bool whole = exponent->kind == NUMERIC_FINITE && numeric_min_scale(exponent) == 0;
    if (base->kind != NUMERIC_FINITE || exponent->kind != NUMERIC_FINITE) {
        if (base->kind == NUMERIC_NAN || exponent->kind == NUMERIC_NAN) {
            /* NaN, except that 1 ^ NaN and NaN ^ 0 are 1 */
            if ((base->kind == NUMERIC_FINITE && !numeric_compare(base, &one)) || (exponent->kind == NUMERIC_FINITE && !se))
                numeric_set(out, 1, 0);
            else
                numeric_set_special(out, NUMERIC_NAN);
            return STATUS_OK;
        }
        if (exponent->kind == NUMERIC_FINITE) {               /* base infinite */
            if (!se)
                numeric_set(out, 1, 0);
            else if (sb < 0 && !whole)
                return error_set(STATUS_INVALID_POWER, "a negative number raised to a non-integer power yields a complex result");
            else if (se < 0)
                numeric_set(out, 0, 0);
            else {
                bool odd = false;
                if (sb < 0) {
                    struct numeric two, rest;
                    numeric_set(&two, 2, 0);
                    if (numeric_mod(exponent, &two, &rest) == STATUS_OK)
                        odd = numeric_sign(&rest) != 0;
                }
                numeric_set_special(out, sb > 0 || !odd ? NUMERIC_PINF : NUMERIC_NINF);
            }
            return STATUS_OK;
        }
        if (sb == 0 && se < 0)
            return error_set(STATUS_INVALID_POWER, "zero raised to a negative power is undefined");
        struct numeric size;
        numeric_copy(&size, base);
        if (sb < 0)
            numeric_negate(&size);
        int against = numeric_compare(&size, &one);
        numeric_free(&size);
        if (against == 0)
            numeric_set(out, 1, 0);
        else if ((against > 0) == (se > 0))
            numeric_set_special(out, NUMERIC_PINF);
        else
            numeric_set(out, 0, 0);
        return STATUS_OK;
    }
    if (!sb && se < 0)
        return error_set(STATUS_INVALID_POWER, "zero raised to a negative power is undefined");
    if (sb < 0 && !whole)
        return error_set(STATUS_INVALID_POWER, "a negative number raised to a non-integer power yields a complex result");
    if (whole) {
        struct numeric stripped;
        numeric_copy(&stripped, exponent);
        numeric_strip(&stripped);
        bool fits = !stripped.big && stripped.small >= INT32_MIN && stripped.small <= INT32_MAX;
        long e = fits ? (long)stripped.small : 0;
        numeric_free(&stripped);
        if (fits)
            return power_whole(base, e, exponent->scale, out);
    }
    if (!sb) {
        numeric_set(out, 0, 16);
        return STATUS_OK;
    }
    struct numeric size;
    numeric_copy(&size, base);
    bool negative = false;
    if (sb < 0) {
        struct numeric two, rest;
        numeric_negate(&size);
        numeric_set(&two, 2, 0);
        if (numeric_mod(exponent, &two, &rest) == STATUS_OK)
            negative = numeric_sign(&rest) != 0;
        numeric_free(&rest);
    }
    /* e^(exponent ln base); the estimate gives the scale. */
    mpz_t ln, x, power;
    mpz_init(ln);
    ln_binary(ln, &size, 128);
    double estimate = ldexp(mpz_get_d(ln), -128) * numeric_to_double(exponent);
    double digits = estimate * 0.434294481903252;
    enum status s = STATUS_OK;
    if (fabs(estimate) > POWER_LOG_MAX || isnan(estimate)) {
        if (estimate > 0)
            s = overflow();
        else
            numeric_set(out, 0, 1000);
    } else {
        int scale = clamp_scale(max(max(16 - (int)digits, base->scale), exponent->scale));
        int exponent_digits = max(0, (int)log10(fabs(numeric_to_double(exponent)) + 1)) + exponent->scale;
        unsigned long bits = bits_for(scale + max(0, (int)digits) + exponent_digits + 16);
        ln_binary(ln, &size, bits);
        load(exponent, x);
        mpz_mul(ln, ln, x);
        mpz_clear(x);
        mpz_init(power);
        mpz_ui_pow_ui(power, 10, (unsigned long)exponent->scale);
        mpz_tdiv_q(ln, ln, power);
        mpz_clear(power);
        mpz_init(x);
        exp_binary(x, ln, bits);
        if (negative)
            mpz_neg(x, x);
        from_binary(x, bits, scale, out);
        s = numeric_check(out);
    }
    mpz_clear(ln);
    numeric_free(&size);
    return s;
}
