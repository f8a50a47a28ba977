/* engine/types/numeric.c - exact decimals: byte form, text, binary, comparison, + - * / %, rounding, forms.
 *
 * 1. A number with an __int128 in it (`small`) never touches GMP; every operation tries that first and checks for
 *    overflow with the compiler's builtins.
 * 2. A result is made small again wherever it fits, so equal values have equal bytes at equal scale.
 * 3. Scales of results are PostgreSQL's: the display scale is part of the answer. */
#include "engine/types/numeric.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P(x) ((__int128)(x))
const int64_t pow10_64[19] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
    1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
    1000000000000000000};
#define E19 (P(1000000000000000000) * 10)
const __int128 pow10_128[39] = {
    P(1), P(10), P(100), P(1000), P(10000), P(100000), P(1000000), P(10000000), P(100000000), P(1000000000),
    P(10000000000), P(100000000000), P(1000000000000), P(10000000000000), P(100000000000000), P(1000000000000000),
    P(10000000000000000), P(100000000000000000), P(1000000000000000000), E19, E19 * 10, E19 * 100, E19 * 1000,
    E19 * 10000, E19 * 100000, E19 * 1000000, E19 * 10000000, E19 * 100000000, E19 * 1000000000,
    E19 * 10000000000, E19 * 100000000000, E19 * 1000000000000, E19 * 10000000000000, E19 * 100000000000000,
    E19 * 1000000000000000, E19 * 10000000000000000, E19 * 100000000000000000, E19 * 1000000000000000000, E19 * E19};

static unsigned __int128 magnitude(__int128 v) { return v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; }

unsigned decimal_digits(unsigned __int128 v)
{
    unsigned low = 0, high = 39;                             /* v < 10^high, v >= 10^(low-1) */
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (mid < 39 && v < (unsigned __int128)pow10_128[mid])
            high = mid;
        else
            low = mid + 1;
    }
    return low > 39 ? 39 : low;
}

void int128_to_mpz(mpz_t z, __int128 v)
{
    unsigned __int128 m = magnitude(v);
    mpz_set_ui(z, (unsigned long)(m >> 64));
    mpz_mul_2exp(z, z, 64);
    mpz_add_ui(z, z, (unsigned long)m);
    if (v < 0)
        mpz_neg(z, z);
}

static bool mpz_to_int128(const mpz_t z, __int128 *out)
{
    if (mpz_sizeinbase(z, 2) > 127)
        return false;
    uint64_t limbs[2] = {0, 0};
    size_t count;
    mpz_export(limbs, &count, -1, 8, 0, 0, z);
    unsigned __int128 m = ((unsigned __int128)limbs[1] << 64) | limbs[0];
    *out = mpz_sgn(z) < 0 ? -(__int128)m : (__int128)m;
    return true;
}

void numeric_set_z(struct numeric *n, mpz_t z, int scale)
{
    n->kind = NUMERIC_FINITE;
    n->scale = scale;
    n->big = !mpz_to_int128(z, &n->small);
    if (n->big)
        *n->z = *z;
    else
        mpz_clear(z);
}

/* z must not be initialised. */
static void to_z(const struct numeric *n, mpz_t z)
{
    if (n->big)
        mpz_init_set(z, n->z);
    else {
        mpz_init(z);
        int128_to_mpz(z, n->small);
    }
}

void numeric_copy(struct numeric *to, const struct numeric *from)
{
    to->kind = from->kind;
    to->scale = from->scale;
    to->small = from->small;
    to->big = from->big;
    if (from->big)
        mpz_init_set(to->z, from->z);
}

/* ---- bytes ---- */

void numeric_unpack(struct varlen v, struct numeric *out)
{
    ASSERT(v.length >= 3);
    const uint8_t *b = v.bytes;
    uint8_t kind = b[0];
    out->scale = b[1] | b[2] << 8;
    out->big = false;
    out->small = 0;
    if (kind > NUMERIC_NEGATIVE) {
        out->kind = kind;
        return;
    }
    out->kind = NUMERIC_FINITE;
    size_t bytes = v.length - 3;
    if (bytes < 16 || (bytes == 16 && b[18] < 0x80)) {
        unsigned __int128 m = 0;
        uint64_t word;
        if (bytes >= 5 && bytes <= 8) {      /* as most are: one load, of which what stands before the number is shifted out */
            memcpy(&word, b + v.length - 8, 8);
            m = word >> (8 * (8 - bytes));
        } else
            memcpy(&m, b + 3, bytes);
        out->small = kind == NUMERIC_NEGATIVE ? -(__int128)m : (__int128)m;
        return;
    }
    mpz_init(out->z);
    mpz_import(out->z, bytes, -1, 1, 0, 0, b + 3);
    if (kind == NUMERIC_NEGATIVE)
        mpz_neg(out->z, out->z);
    out->big = true;
}

struct varlen numeric_varlen(const struct numeric *n, struct arena *arena)
{
    size_t bytes = 0;
    uint8_t kind = n->kind;
    unsigned __int128 m = 0;
    if (kind == NUMERIC_FINITE) {
        if (n->big) {
            kind = mpz_sgn(n->z) < 0 ? NUMERIC_NEGATIVE : NUMERIC_FINITE;
            bytes = (mpz_sizeinbase(n->z, 2) + 7) / 8;
        } else {
            kind = n->small < 0 ? NUMERIC_NEGATIVE : NUMERIC_FINITE;
            m = magnitude(n->small);
            uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;
            bytes = high ? 16 - (size_t)__builtin_clzll(high) / 8 : low ? 8 - (size_t)__builtin_clzll(low) / 8 : 0;
        }
    }
    uint8_t *b = arena_alloc(arena, 3 + bytes);
    b[0] = kind;
    b[1] = (uint8_t)n->scale;
    b[2] = (uint8_t)(n->scale >> 8);
    if (n->big) {
        size_t count;
        mpz_export(b + 3, &count, -1, 1, 0, 0, n->z);
    } else
        memcpy(b + 3, &m, bytes);
    return (struct varlen){.bytes = b, .length = (uint32_t)(3 + bytes)};
}

void numeric_read(struct sql_type type, const struct vector *v, size_t at, struct numeric *out)
{
    at = vector_at(v, at);
    if (type.width == 8) {
        int64_t x = ((const int64_t *)v->values)[at];
        if (x == DEC64_NAN)
            numeric_set_special(out, NUMERIC_NAN);
        else
            numeric_set(out, x, type.scale);
    } else if (type.width == 16) {
        __int128 x = ((const __int128 *)v->values)[at];
        if (x == DEC128_NAN)
            numeric_set_special(out, NUMERIC_NAN);
        else
            numeric_set(out, x, type.scale);
    } else
        numeric_unpack(((const struct varlen *)v->values)[at], out);
}

enum status numeric_check(const struct numeric *n)
{
    if (n->kind != NUMERIC_FINITE || !n->big)
        return STATUS_OK;
    /* mpz_sizeinbase may say one digit too many: at the limit the value itself is compared. */
    long whole = (long)mpz_sizeinbase(n->z, 10) - n->scale;
    bool over = whole > NUMERIC_MAX_WEIGHT + 1 || n->scale > NUMERIC_MAX_SCALE;
    if (!over && whole == NUMERIC_MAX_WEIGHT + 1) {
        mpz_t bound;
        mpz_init(bound);
        mpz_ui_pow_ui(bound, 10, (unsigned long)(NUMERIC_MAX_WEIGHT + n->scale));
        over = mpz_cmpabs(n->z, bound) >= 0;
        mpz_clear(bound);
    }
    if (over)
        return error_set(STATUS_OUT_OF_RANGE, "value overflows numeric format");
    return STATUS_OK;
}

static enum status field_overflow(int precision, int scale)
{
    enum status s = error_set(STATUS_OUT_OF_RANGE, "numeric field overflow");
    int whole = precision - scale;
    if (whole)
        error_detail("A field with precision %d, scale %d must round to an absolute value less than 10^%d.", precision, scale, whole);
    else
        error_detail("A field with precision %d, scale %d must round to an absolute value less than 1.", precision, scale);
    return s;
}

static enum status field_infinite(int precision, int scale)
{
    enum status s = error_set(STATUS_OUT_OF_RANGE, "numeric field overflow");
    error_detail("A field with precision %d, scale %d cannot hold an infinite value.", precision, scale);
    return s;
}

/* |n| < 10^digits, digits counted in units of its own scale. */
static bool fits_digits(const struct numeric *n, int digits)
{
    if (digits < 0)
        digits = 0;
    if (n->big) {
        if (digits < 39)
            return false;
        size_t d = mpz_sizeinbase(n->z, 10);                 /* exact or one too many */
        if ((int)d <= digits)
            return true;
        if ((int)d > digits + 1)
            return false;
        mpz_t limit;
        mpz_init(limit);
        mpz_ui_pow_ui(limit, 10, (unsigned long)digits);
        bool fits = mpz_cmpabs(n->z, limit) < 0;
        mpz_clear(limit);
        return fits;
    }
    return digits >= 39 || magnitude(n->small) < (unsigned __int128)pow10_128[digits];
}

enum status numeric_apply_typmod(struct numeric *n, int32_t typmod)
{
    if (typmod < 4 || n->kind == NUMERIC_NAN)
        return STATUS_OK;
    int precision = typmod_precision(typmod), scale = typmod_scale(typmod);
    if (n->kind != NUMERIC_FINITE)
        return field_infinite(precision, scale);
    numeric_rescale(n, scale, ROUND_HALF_AWAY);
    /* With a negative scale the value now ends in zeros before the point. */
    if (!fits_digits(n, scale < 0 ? precision - scale : precision))
        return field_overflow(precision, scale);
    return STATUS_OK;
}

enum status numeric_write(struct sql_type type, struct numeric *n, void *value, struct arena *arena)
{
    if (type.width == WIDTH_VARLEN) {
        enum status s = numeric_apply_typmod(n, type.typmod);
        if (!s)
            s = numeric_check(n);
        if (s)
            return s;
        *(struct varlen *)value = numeric_varlen(n, arena);
        return STATUS_OK;
    }
    __int128 v;
    if (n->kind == NUMERIC_NAN)
        v = type.width == 8 ? DEC64_NAN : DEC128_NAN;
    else if (n->kind != NUMERIC_FINITE)
        return field_infinite(type.precision, type.scale);
    else {
        if (n->scale != type.scale)
            numeric_rescale(n, type.scale, ROUND_HALF_AWAY);
        if (!fits_digits(n, type.precision))
            return field_overflow(type.precision, type.scale);
        v = n->small;
    }
    if (type.width == 8)
        *(int64_t *)value = (int64_t)v;
    else
        *(__int128 *)value = v;
    return STATUS_OK;
}

/* ---- text ---- */

static enum status invalid(const char *text, size_t length)
{
    return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type numeric: \"%.*s\"", (int)length, text);
}

static bool word_at(const char *p, const char *end, const char *word, const char **after)
{
    size_t n = strlen(word);
    if ((size_t)(end - p) < n || strncasecmp(p, word, n) != 0)
        return false;
    *after = p + n;
    return true;
}

enum status numeric_parse(const char *text, size_t length, struct numeric *out)
{
    const char *p = text, *end = text + length;
    while (p < end && isspace((unsigned char)*p))
        p++;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    bool negative = false, sign = false;
    if (p < end && (*p == '+' || *p == '-')) {
        negative = *p == '-';
        sign = true;
        p++;
    }
    if (p >= end)
        return invalid(text, length);
    if (isalpha((unsigned char)*p)) {
        const char *after;
        if (!sign && word_at(p, end, "nan", &after) && after == end) {
            numeric_set_special(out, NUMERIC_NAN);
            return STATUS_OK;
        }
        if ((word_at(p, end, "infinity", &after) && after == end) || (word_at(p, end, "inf", &after) && after == end)) {
            numeric_set_special(out, negative ? NUMERIC_NINF : NUMERIC_PINF);
            return STATUS_OK;
        }
        return invalid(text, length);
    }
    const char *digits = p;
    size_t count = 0, after_point = 0;
    bool point = false;
    __int128 v = 0;
    size_t significant = 0;
    for (; p < end; p++) {
        if (isdigit((unsigned char)*p)) {
            if (significant || *p != '0')
                significant++;
            if (significant <= 38)
                v = v * 10 + (*p - '0');
            count++;
            after_point += point;
        } else if (*p == '.' && !point)
            point = true;
        else
            break;
    }
    const char *digits_end = p;
    if (!count)
        return invalid(text, length);
    long exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool minus = false;
        if (p < end && (*p == '+' || *p == '-'))
            minus = *p++ == '-';
        if (p >= end || !isdigit((unsigned char)*p))
            return invalid(text, length);
        for (; p < end && isdigit((unsigned char)*p); p++)
            if (exponent < INT_MAX)
                exponent = exponent * 10 + (*p - '0');
        if (exponent >= INT_MAX / 2)
            return invalid(text, length);
        if (minus)
            exponent = -exponent;
    }
    if (p != end)
        return invalid(text, length);
    long scale = (long)after_point - exponent;
    if (scale > NUMERIC_MAX_SCALE || (long)significant - scale > NUMERIC_MAX_WEIGHT) {
        if (significant == 0 && scale <= NUMERIC_MAX_SCALE)
            scale = 0;
        else
            return error_set(STATUS_OUT_OF_RANGE, "value overflows numeric format");
    }
    if (significant <= 38)
        numeric_set(out, negative ? -v : v, 0);
    else {
        char *copy = malloc(count + 1);
        ASSERT(copy);
        size_t n = 0;
        for (p = digits; p < digits_end; p++)
            if (*p != '.')
                copy[n++] = *p;
        copy[n] = 0;
        mpz_t z;
        mpz_init_set_str(z, copy, 10);
        free(copy);
        if (negative)
            mpz_neg(z, z);
        numeric_set_z(out, z, 0);
    }
    if (scale < 0) {                                          /* zeros before the point */
        if (significant) {
            struct numeric power, product;
            if (-scale <= 38)
                numeric_set(&power, pow10_128[-scale], 0);
            else {
                mpz_t z;
                mpz_init(z);
                mpz_ui_pow_ui(z, 10, (unsigned long)-scale);
                numeric_set_z(&power, z, 0);
            }
            numeric_mul(out, &power, &product);
            numeric_free(out);
            numeric_free(&power);
            *out = product;
        }
        scale = 0;
    }
    out->scale = (int32_t)scale;
    return STATUS_OK;
}

static void print_digits(const char *digits, size_t count, bool negative, int scale, struct text_buffer *out)
{
    if (negative)
        text_buffer_putc(out, '-');
    if ((size_t)scale >= count) {
        text_buffer_putc(out, '0');
        if (!scale)
            return;
        text_buffer_putc(out, '.');
        for (size_t i = count; i < (size_t)scale; i++)
            text_buffer_putc(out, '0');
        text_buffer_add(out, digits, count);
    } else {
        text_buffer_add(out, digits, count - (size_t)scale);
        if (scale) {
            text_buffer_putc(out, '.');
            text_buffer_add(out, digits + count - scale, (size_t)scale);
        }
    }
}

static size_t small_digits(unsigned __int128 m, char *end)
{
    char *p = end;
    while (m >> 64) {
        unsigned __int128 q = m / 10000000000000000000ULL;
        uint64_t rest = (uint64_t)(m - q * 10000000000000000000ULL);
        for (int i = 0; i < 19; i++, rest /= 10)
            *--p = (char)('0' + rest % 10);
        m = q;
    }
    for (uint64_t rest = (uint64_t)m; rest; rest /= 10)
        *--p = (char)('0' + rest % 10);
    while (p < end && *p == '0')
        p++;
    return (size_t)(end - p);
}

void numeric_print_fixed(__int128 value, int scale, struct text_buffer *out)
{
    char text[48], *end = text + sizeof text;
    size_t count = small_digits(magnitude(value), end);
    print_digits(end - count, count, value < 0, scale, out);
}

size_t numeric_digits(const struct numeric *n, struct text_buffer *out)
{
    if (n->big) {
        char *text = malloc(mpz_sizeinbase(n->z, 10) + 2);
        ASSERT(text);
        mpz_get_str(text, 10, n->z);
        const char *p = *text == '-' ? text + 1 : text;
        size_t count = strlen(p);
        text_buffer_add(out, p, count);
        free(text);
        return count;
    }
    char text[48], *end = text + sizeof text;
    size_t count = small_digits(magnitude(n->small), end);
    text_buffer_add(out, end - count, count);
    return count;
}

void numeric_print(const struct numeric *n, struct text_buffer *out)
{
    switch (n->kind) {
    case NUMERIC_NAN: text_buffer_puts(out, "NaN"); return;
    case NUMERIC_PINF: text_buffer_puts(out, "Infinity"); return;
    case NUMERIC_NINF: text_buffer_puts(out, "-Infinity"); return;
    default: break;
    }
    if (!n->big) {
        numeric_print_fixed(n->small, n->scale, out);
        return;
    }
    char *text = malloc(mpz_sizeinbase(n->z, 10) + 2);
    ASSERT(text);
    mpz_get_str(text, 10, n->z);
    const char *p = *text == '-' ? text + 1 : text;
    print_digits(p, strlen(p), p != text, n->scale, out);
    free(text);
}

/* ---- scale ---- */

static void z_pow10(mpz_t z, int n)                          /* z not initialised */
{
    mpz_init(z);
    mpz_ui_pow_ui(z, 10, (unsigned long)n);
}

/* n times 10^digits, its scale unchanged. */
static void scale_up(struct numeric *n, int digits)
{
    if (!digits || (!n->big && !n->small))
        return;
    __int128 v;
    if (!n->big && digits <= 38 && !__builtin_mul_overflow(n->small, pow10_128[digits], &v)) {
        n->small = v;
        return;
    }
    mpz_t z, power;
    to_z(n, z);
    z_pow10(power, digits);
    mpz_mul(z, z, power);
    mpz_clear(power);
    int scale = n->scale;
    numeric_free(n);
    numeric_set_z(n, z, scale);
}

/* n divided by 10^digits, rounded. */
static void scale_down(struct numeric *n, int digits, enum rounding rounding)
{
    if (!digits)
        return;
    if (!n->big) {
        if (digits > 38) {
            n->small = rounding == ROUND_FLOOR && n->small < 0 ? -1 : rounding == ROUND_CEIL && n->small > 0 ? 1 : 0;
            return;
        }
        __int128 power = pow10_128[digits], q, rest;
        if (digits <= 18 && n->small >= INT64_MIN && n->small <= INT64_MAX) {
            q = (int64_t)n->small / (int64_t)power;
            rest = (int64_t)n->small % (int64_t)power;
        } else {
            q = n->small / power;
            rest = n->small % power;
        }
        switch (rounding) {
        case ROUND_HALF_AWAY: {
            unsigned __int128 m = magnitude(rest);
            if (m >= (unsigned __int128)power - m)
                q += n->small < 0 ? -1 : 1;
            break;
        }
        case ROUND_FLOOR: q -= rest < 0; break;
        case ROUND_CEIL: q += rest > 0; break;
        case ROUND_TRUNC: break;
        }
        n->small = q;
        return;
    }
    mpz_t z, power;
    z_pow10(power, digits);
    mpz_init(z);
    switch (rounding) {
    case ROUND_FLOOR: mpz_fdiv_q(z, n->z, power); break;
    case ROUND_CEIL: mpz_cdiv_q(z, n->z, power); break;
    case ROUND_TRUNC: mpz_tdiv_q(z, n->z, power); break;
    case ROUND_HALF_AWAY: {
        mpz_t rest;
        mpz_init(rest);
        mpz_tdiv_qr(z, rest, n->z, power);
        mpz_mul_2exp(rest, rest, 1);
        if (mpz_cmpabs(rest, power) >= 0) {
            if (mpz_sgn(n->z) < 0)
                mpz_sub_ui(z, z, 1);
            else
                mpz_add_ui(z, z, 1);
        }
        mpz_clear(rest);
        break;
    }
    }
    mpz_clear(power);
    int scale = n->scale;
    numeric_free(n);
    numeric_set_z(n, z, scale);
}

void numeric_rescale(struct numeric *n, int scale, enum rounding rounding)
{
    if (n->kind != NUMERIC_FINITE)
        return;
    if (scale >= n->scale)
        scale_up(n, scale - n->scale);
    else
        scale_down(n, n->scale - scale, rounding);
    n->scale = scale;
    if (scale < 0) {
        n->scale = 0;
        scale_up(n, -scale);
    }
}

int numeric_min_scale(const struct numeric *n)
{
    if (n->kind != NUMERIC_FINITE)
        return 0;
    struct numeric copy;
    numeric_copy(&copy, n);
    numeric_strip(&copy);
    int scale = copy.scale;
    numeric_free(&copy);
    return scale;
}

void numeric_strip(struct numeric *n)
{
    if (n->kind != NUMERIC_FINITE)
        return;
    if (n->big) {
        mpz_t z, rest;
        mpz_init(z);
        mpz_init(rest);
        /* Whole runs of zeros at once, halving the run. */
        for (int run = n->scale; run > 0; run /= 2)
            while (run <= n->scale && run > 0) {
                mpz_t power;
                z_pow10(power, run);
                mpz_tdiv_qr(z, rest, n->z, power);
                mpz_clear(power);
                if (mpz_sgn(rest))
                    break;
                mpz_set(n->z, z);
                n->scale -= run;
            }
        mpz_clear(z);
        mpz_clear(rest);
        __int128 v;
        if (mpz_to_int128(n->z, &v)) {
            int scale = n->scale;
            numeric_free(n);
            numeric_set(n, v, scale);
        }
    }
    if (!n->big) {
        if (!n->small) {
            n->scale = 0;
            return;
        }
        while (n->scale > 0 && n->small % 10 == 0) {
            n->small /= 10;
            n->scale--;
        }
    }
}

/* ---- arithmetic ---- */

int numeric_sign(const struct numeric *n)
{
    switch (n->kind) {
    case NUMERIC_PINF: return 1;
    case NUMERIC_NINF: return -1;
    case NUMERIC_NAN: return 0;
    default: return n->big ? mpz_sgn(n->z) : n->small > 0 ? 1 : n->small < 0 ? -1 : 0;
    }
}

void numeric_negate(struct numeric *n)
{
    if (n->kind == NUMERIC_PINF)
        n->kind = NUMERIC_NINF;
    else if (n->kind == NUMERIC_NINF)
        n->kind = NUMERIC_PINF;
    else if (n->big)
        mpz_neg(n->z, n->z);
    else
        n->small = -n->small;                                 /* small is never the least int128: 127 bits of magnitude */
}

static void add_signed(const struct numeric *a, const struct numeric *b, bool minus, struct numeric *out)
{
    if (a->kind != NUMERIC_FINITE || b->kind != NUMERIC_FINITE) {
        uint8_t bk = b->kind;
        if (minus && bk == NUMERIC_PINF)
            bk = NUMERIC_NINF;
        else if (minus && bk == NUMERIC_NINF)
            bk = NUMERIC_PINF;
        if (a->kind == NUMERIC_NAN || bk == NUMERIC_NAN)
            numeric_set_special(out, NUMERIC_NAN);
        else if (a->kind == NUMERIC_FINITE)
            numeric_set_special(out, bk);
        else
            numeric_set_special(out, bk == NUMERIC_FINITE || bk == a->kind ? a->kind : NUMERIC_NAN);
        return;
    }
    int scale = a->scale > b->scale ? a->scale : b->scale;
    if (!a->big && !b->big && scale - a->scale <= 38 && scale - b->scale <= 38) {
        __int128 x, y, sum;
        if (!__builtin_mul_overflow(a->small, pow10_128[scale - a->scale], &x) &&
            !__builtin_mul_overflow(b->small, pow10_128[scale - b->scale], &y) &&
            !(minus ? __builtin_sub_overflow(x, y, &sum) : __builtin_add_overflow(x, y, &sum)) && sum != -DEC128_NAN - 1) {
            numeric_set(out, sum, scale);
            return;
        }
    }
    mpz_t x, y, power;
    to_z(a, x);
    to_z(b, y);
    if (a->scale != b->scale) {
        z_pow10(power, abs(a->scale - b->scale));
        if (a->scale < b->scale)
            mpz_mul(x, x, power);
        else
            mpz_mul(y, y, power);
        mpz_clear(power);
    }
    if (minus)
        mpz_sub(x, x, y);
    else
        mpz_add(x, x, y);
    mpz_clear(y);
    numeric_set_z(out, x, scale);
}

void numeric_add(const struct numeric *a, const struct numeric *b, struct numeric *out) { add_signed(a, b, false, out); }
void numeric_sub(const struct numeric *a, const struct numeric *b, struct numeric *out) { add_signed(a, b, true, out); }

void numeric_mul(const struct numeric *a, const struct numeric *b, struct numeric *out)
{
    if (a->kind != NUMERIC_FINITE || b->kind != NUMERIC_FINITE) {
        int sign = numeric_sign(a) * numeric_sign(b);
        if (a->kind == NUMERIC_NAN || b->kind == NUMERIC_NAN || !sign)
            numeric_set_special(out, NUMERIC_NAN);
        else
            numeric_set_special(out, sign > 0 ? NUMERIC_PINF : NUMERIC_NINF);
        return;
    }
    int scale = a->scale + b->scale;
    __int128 v;
    if (!a->big && !b->big && !__builtin_mul_overflow(a->small, b->small, &v) && v != -DEC128_NAN - 1)
        numeric_set(out, v, scale);
    else {
        mpz_t x, y;
        to_z(a, x);
        to_z(b, y);
        mpz_mul(x, x, y);
        mpz_clear(y);
        numeric_set_z(out, x, scale);
    }
    if (scale > NUMERIC_MAX_SCALE)
        numeric_rescale(out, NUMERIC_MAX_SCALE, ROUND_HALF_AWAY);
}

void numeric_head(const struct numeric *n, int *weight, int *first)
{
    *weight = *first = 0;
    if (!numeric_sign(n))
        return;
    int digits;
    if (n->big) {
        digits = (int)mpz_sizeinbase(n->z, 10);               /* may be one too many */
        mpz_t power;
        z_pow10(power, digits - 1);
        if (mpz_cmpabs(n->z, power) < 0)
            digits--;
        mpz_clear(power);
    } else
        digits = (int)decimal_digits(magnitude(n->small));
    int top = digits - 1 - n->scale;                          /* exponent of the first digit */
    int w = top >= 0 ? top / 4 : -((3 - top) / 4);
    int keep = top - 4 * w + 1;                               /* its digits in the first base-10000 digit */
    *weight = w;
    if (n->big) {
        mpz_t power, q;
        z_pow10(power, digits - keep);
        mpz_init(q);
        mpz_tdiv_q(q, n->z, power);
        *first = abs((int)mpz_get_si(q));
        mpz_clear(q);
        mpz_clear(power);
    } else {
        unsigned __int128 m = magnitude(n->small);
        *first = keep <= digits ? (int)(m / (unsigned __int128)pow10_128[digits - keep]) : (int)(m * (unsigned __int128)pow10_128[keep - digits]);
    }
}

/* PostgreSQL's choice for quotients: at least 16 significant digits, reckoned in base 10000. */
int numeric_select_div_scale(const struct numeric *a, const struct numeric *b)
{
    int wa, wb, fa, fb;
    numeric_head(a, &wa, &fa);
    numeric_head(b, &wb, &fb);
    int weight = wa - wb;
    if (fa <= fb)
        weight--;
    int scale = 16 - weight * 4;
    scale = scale > a->scale ? scale : a->scale;
    scale = scale > b->scale ? scale : b->scale;
    return scale < 0 ? 0 : scale > 1000 ? 1000 : scale;
}

static void divide(const struct numeric *a, const struct numeric *b, int scale, bool round, struct numeric *out)
{
    int shift = scale + b->scale - a->scale;                  /* quotient = a * 10^shift / b */
    __int128 x;
    if (!a->big && !b->big && shift >= 0 && shift <= 38 && !__builtin_mul_overflow(a->small, pow10_128[shift], &x)) {
        bool negative = (x < 0) != (b->small < 0);
        unsigned __int128 m = magnitude(x), d = magnitude(b->small), q, rest;
        if (!(m >> 64) && !(d >> 64)) {
            q = (uint64_t)m / (uint64_t)d;
            rest = (uint64_t)m % (uint64_t)d;
        } else {
            q = m / d;
            rest = m - q * d;
        }
        if (round && rest >= d - rest)
            q++;
        numeric_set(out, negative ? -(__int128)q : (__int128)q, scale);
        return;
    }
    mpz_t n, d, q, rest, power;
    to_z(a, n);
    to_z(b, d);
    mpz_init(q);
    mpz_init(rest);
    z_pow10(power, abs(shift));
    if (shift >= 0)
        mpz_mul(n, n, power);
    else
        mpz_mul(d, d, power);
    mpz_tdiv_qr(q, rest, n, d);
    mpz_mul_2exp(rest, rest, 1);
    if (round && mpz_cmpabs(rest, d) >= 0) {
        if ((mpz_sgn(n) < 0) != (mpz_sgn(d) < 0))
            mpz_sub_ui(q, q, 1);
        else
            mpz_add_ui(q, q, 1);
    }
    mpz_clear(n);
    mpz_clear(d);
    mpz_clear(rest);
    mpz_clear(power);
    numeric_set_z(out, q, scale);
}

void numeric_div_scale(const struct numeric *a, const struct numeric *b, int scale, struct numeric *out)
{
    divide(a, b, scale, true, out);
}

/* Answers for NaN, infinities and zero divisors; *done says that out is the answer. */
static enum status divide_special(const struct numeric *a, const struct numeric *b, bool *done, struct numeric *out)
{
    *done = true;
    if (a->kind == NUMERIC_NAN || b->kind == NUMERIC_NAN)
        numeric_set_special(out, NUMERIC_NAN);
    else if (b->kind == NUMERIC_FINITE && !numeric_sign(b)) {
        if (a->kind == NUMERIC_NAN)
            numeric_set_special(out, NUMERIC_NAN);
        else
            return error_set(STATUS_DIVISION_BY_ZERO, NULL);
    } else if (a->kind != NUMERIC_FINITE) {
        if (b->kind != NUMERIC_FINITE)
            numeric_set_special(out, NUMERIC_NAN);
        else
            numeric_set_special(out, numeric_sign(a) * numeric_sign(b) > 0 ? NUMERIC_PINF : NUMERIC_NINF);
    } else if (b->kind != NUMERIC_FINITE)
        numeric_set(out, 0, 0);
    else
        *done = false;
    return STATUS_OK;
}

enum status numeric_div(const struct numeric *a, const struct numeric *b, struct numeric *out)
{
    bool done;
    enum status s = divide_special(a, b, &done, out);
    if (s || done)
        return s;
    divide(a, b, numeric_select_div_scale(a, b), true, out);
    return STATUS_OK;
}

enum status numeric_div_trunc(const struct numeric *a, const struct numeric *b, struct numeric *out)
{
    bool done;
    enum status s = divide_special(a, b, &done, out);
    if (s || done)
        return s;
    divide(a, b, 0, false, out);
    return STATUS_OK;
}

enum status numeric_mod(const struct numeric *a, const struct numeric *b, struct numeric *out)
{
    if (a->kind == NUMERIC_NAN || b->kind == NUMERIC_NAN)
        numeric_set_special(out, NUMERIC_NAN);
    else if (b->kind == NUMERIC_FINITE && !numeric_sign(b))
        return error_set(STATUS_DIVISION_BY_ZERO, NULL);
    else if (a->kind != NUMERIC_FINITE)
        numeric_set_special(out, NUMERIC_NAN);
    else if (b->kind != NUMERIC_FINITE)
        numeric_copy(out, a);
    else {
        int scale = a->scale > b->scale ? a->scale : b->scale;
        struct numeric x, y;
        numeric_copy(&x, a);
        numeric_copy(&y, b);
        numeric_rescale(&x, scale, ROUND_TRUNC);
        numeric_rescale(&y, scale, ROUND_TRUNC);
        if (!x.big && !y.big)
            numeric_set(out, x.small % y.small, scale);
        else {
            mpz_t n, d;
            to_z(&x, n);
            to_z(&y, d);
            mpz_tdiv_r(n, n, d);
            mpz_clear(d);
            numeric_set_z(out, n, scale);
        }
        numeric_free(&x);
        numeric_free(&y);
    }
    return STATUS_OK;
}

static int rank(const struct numeric *n) { return n->kind == NUMERIC_NINF ? -1 : n->kind == NUMERIC_FINITE ? 0 : n->kind == NUMERIC_PINF ? 1 : 2; }

int numeric_compare(const struct numeric *a, const struct numeric *b)
{
    if (a->kind != NUMERIC_FINITE || b->kind != NUMERIC_FINITE) {
        int x = rank(a), y = rank(b);
        return (x > y) - (x < y);
    }
    int sa = numeric_sign(a), sb = numeric_sign(b);
    if (sa != sb)
        return sa < sb ? -1 : 1;
    if (!a->big && !b->big) {
        if (a->scale == b->scale)
            return (a->small > b->small) - (a->small < b->small);
        int shift = abs(a->scale - b->scale);
        __int128 v;
        if (a->scale < b->scale) {
            if (shift > 38 || __builtin_mul_overflow(a->small, pow10_128[shift], &v))
                return a->small ? sa : 0;
            return (v > b->small) - (v < b->small);
        }
        if (shift > 38 || __builtin_mul_overflow(b->small, pow10_128[shift], &v))
            return b->small ? -sa : 0;
        return (a->small > v) - (a->small < v);
    }
    mpz_t x, y;
    to_z(a, x);
    to_z(b, y);
    if (a->scale != b->scale) {
        mpz_t power;
        z_pow10(power, abs(a->scale - b->scale));
        if (a->scale < b->scale)
            mpz_mul(x, x, power);
        else
            mpz_mul(y, y, power);
        mpz_clear(power);
    }
    int c = mpz_cmp(x, y);
    mpz_clear(x);
    mpz_clear(y);
    return (c > 0) - (c < 0);
}

/* ---- to and from others ---- */

enum status numeric_to_int64(const struct numeric *n, int64_t *out, const char *type_name)
{
    if (n->kind == NUMERIC_NAN)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot convert NaN to %s", type_name);
    if (n->kind != NUMERIC_FINITE)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot convert infinity to %s", type_name);
    struct numeric r;
    numeric_copy(&r, n);
    numeric_rescale(&r, 0, ROUND_HALF_AWAY);
    bool fits = !r.big && r.small >= INT64_MIN && r.small <= INT64_MAX;
    if (fits)
        *out = (int64_t)r.small;
    numeric_free(&r);
    return fits ? STATUS_OK : error_set(STATUS_OUT_OF_RANGE, "%s out of range", type_name);
}

double numeric_to_double(const struct numeric *n)
{
    switch (n->kind) {
    case NUMERIC_NAN: return NAN;
    case NUMERIC_PINF: return INFINITY;
    case NUMERIC_NINF: return -INFINITY;
    default: break;
    }
    if (!n->big && n->scale <= 22 && magnitude(n->small) < ((unsigned __int128)1 << 53))
        return (double)(int64_t)n->small / (double)pow10_128[n->scale];      /* both exact: one rounding */
    char small[96];
    struct arena *arena = NULL;
    double d;
    if (!n->big) {
        char *end = small + 48;
        size_t count = small_digits(magnitude(n->small), end);
        char text[96];
        snprintf(text, sizeof text, "%s%.*se-%d", n->small < 0 ? "-" : "", count ? (int)count : 1, count ? end - count : "0", n->scale);
        d = strtod(text, NULL);
    } else {
        arena = arena_open(NULL, "numeric");
        struct text_buffer b;
        text_buffer_open(&b, arena);
        numeric_print(n, &b);
        d = strtod(b.bytes, NULL);
        arena_close(arena);
    }
    return d;
}

enum status numeric_from_double(double d, int digits, struct numeric *out)
{
    if (isnan(d))
        numeric_set_special(out, NUMERIC_NAN);
    else if (isinf(d))
        numeric_set_special(out, d > 0 ? NUMERIC_PINF : NUMERIC_NINF);
    else {
        char text[64];
        int n = snprintf(text, sizeof text, "%.*g", digits, d);
        return numeric_parse(text, (size_t)n, out);
    }
    return STATUS_OK;
}

/* ---- binary, PostgreSQL's: base-10000 digits ---- */

static void put16(struct text_buffer *out, int v)
{
    uint8_t b[2] = {(uint8_t)(v >> 8), (uint8_t)v};
    text_buffer_add(out, b, 2);
}

void numeric_send(const struct numeric *n, struct text_buffer *out)
{
    if (n->kind != NUMERIC_FINITE) {
        put16(out, 0);
        put16(out, 0);
        put16(out, n->kind == NUMERIC_NAN ? 0xC000 : n->kind == NUMERIC_PINF ? 0xD000 : 0xF000);
        put16(out, n->kind == NUMERIC_NAN ? 0 : 0x20);
        return;
    }
    struct arena *arena = arena_open(NULL, "numeric");
    struct text_buffer d;
    text_buffer_open(&d, arena);
    /* Pad the fraction to a multiple of 4 digits, the whole part from the left. */
    size_t count = numeric_digits(n, &d);
    long pad = (4 - n->scale % 4) % 4;
    for (long i = 0; i < pad; i++)
        text_buffer_putc(&d, '0');
    count += (size_t)pad;
    long fraction_groups = (n->scale + pad) / 4;
    size_t lead = (4 - count % 4) % 4;
    size_t groups = (count + lead) / 4;
    long weight = (long)groups - fraction_groups - 1;
    int *values = arena_array(arena, int, groups + 1);
    for (size_t g = 0; g < groups; g++)
        for (size_t k = 0; k < 4; k++) {
            size_t at = g * 4 + k;
            values[g] = values[g] * 10 + (at < lead ? 0 : d.bytes[at - lead] - '0');
        }
    size_t first = 0, last = groups;
    while (first < last && !values[first]) {
        first++;
        weight--;
    }
    while (last > first && !values[last - 1])
        last--;
    if (first == last)
        weight = 0;
    put16(out, (int)(last - first));
    put16(out, (int)weight);
    put16(out, numeric_sign(n) < 0 ? 0x4000 : 0);
    put16(out, n->scale);
    for (size_t g = first; g < last; g++)
        put16(out, values[g]);
    arena_close(arena);
}

static int get16(const uint8_t *b) { return b[0] << 8 | b[1]; }

enum status numeric_receive(const uint8_t *b, size_t length, struct numeric *out)
{
    if (length < 8 || length != 8 + 2 * (size_t)get16(b))
        return error_set(STATUS_INVALID_BINARY, "insufficient data left in message");
    int count = get16(b), weight = (int16_t)get16(b + 2), sign = get16(b + 4), scale = get16(b + 6);
    if (sign == 0xC000 || sign == 0xD000 || sign == 0xF000) {
        numeric_set_special(out, sign == 0xC000 ? NUMERIC_NAN : sign == 0xD000 ? NUMERIC_PINF : NUMERIC_NINF);
        return STATUS_OK;
    }
    if (sign != 0 && sign != 0x4000)
        return error_set(STATUS_INVALID_BINARY, "invalid sign in external \"numeric\" value");
    if (scale > NUMERIC_MAX_SCALE)
        return error_set(STATUS_INVALID_BINARY, "invalid scale in external \"numeric\" value");
    mpz_t z;
    mpz_init(z);
    for (int i = 0; i < count; i++) {
        int digit = get16(b + 8 + 2 * i);
        if (digit > 9999) {
            mpz_clear(z);
            return error_set(STATUS_INVALID_BINARY, "invalid digit in external \"numeric\" value");
        }
        mpz_mul_ui(z, z, 10000);
        mpz_add_ui(z, z, (unsigned long)digit);
    }
    if (sign)
        mpz_neg(z, z);
    /* z counts units of 10000^(weight - count + 1). */
    long exponent = 4 * ((long)weight - count + 1);
    if (exponent > 0) {
        mpz_t power;
        z_pow10(power, (int)exponent);
        mpz_mul(z, z, power);
        mpz_clear(power);
        exponent = 0;
    }
    numeric_set_z(out, z, (int)-exponent);
    numeric_rescale(out, scale, ROUND_TRUNC);
    return numeric_check(out);
}

/* ---- forms ---- */

struct sql_type numeric_fixed_type(int precision, int scale)
{
    struct sql_type t = {.oid = OID_NUMERIC, .typmod = -1, .width = WIDTH_VARLEN};
    if (precision < scale)
        precision = scale;
    if (scale >= 0 && precision <= DEC128_DIGITS) {
        t.width = precision <= DEC64_DIGITS ? 8 : 16;
        t.scale = (int16_t)scale;
        t.precision = (int16_t)(precision ? precision : 1);
    }
    return t;
}

struct sql_type numeric_value_type(const struct numeric *n)
{
    if (n->kind != NUMERIC_FINITE || n->big)
        return (struct sql_type){.oid = OID_NUMERIC, .typmod = -1, .width = WIDTH_VARLEN};
    unsigned digits = decimal_digits(magnitude(n->small));
    return numeric_fixed_type((int)digits > n->scale ? (int)digits : n->scale, n->scale);
}

struct sql_type numeric_literal_type(const char *text, size_t length)
{
    struct numeric n;
    if (numeric_parse(text, length, &n))
        return (struct sql_type){.oid = OID_NUMERIC, .typmod = -1, .width = WIDTH_VARLEN};
    struct sql_type t = numeric_value_type(&n);
    numeric_free(&n);
    return t;
}

bool numeric_same_form(struct sql_type a, struct sql_type b)
{
    return a.width == b.width && (a.width == WIDTH_VARLEN || a.scale == b.scale);
}

/* Of different scales only the general form shows each value with its own digits. */
struct sql_type numeric_common_type(struct sql_type a, struct sql_type b)
{
    if (a.width == WIDTH_VARLEN || b.width == WIDTH_VARLEN || a.scale != b.scale)
        return (struct sql_type){.oid = OID_NUMERIC, .typmod = a.typmod == b.typmod ? a.typmod : -1, .width = WIDTH_VARLEN};
    struct sql_type t = a.precision >= b.precision ? a : b;
    if (a.typmod != b.typmod)
        t.typmod = -1;
    return t;
}
