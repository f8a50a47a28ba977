/* engine/types/number_text.c - numbers and booleans as text, in PostgreSQL's syntax and with its errors.
 *
 * Floats print the fewest digits that read back as the same float, in PostgreSQL 12's layout: an exponent is used
 * below 10^-4 and from 10^15 (float4: 10^6) on. With extra_float_digits <= 0 they are rounded to 15 + that (6 + that). */
#include <errno.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/types/internal.h"

bool text_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

const char *text_terminated(const char *text, size_t length, char *room, size_t room_bytes, struct arena *arena)
{
    if (length >= room_bytes)
        return arena_strndup(arena, text, length);
    memcpy(room, text, length);
    room[length] = 0;
    return room;
}

enum status int_parse(const char *text, size_t length, int bits, int64_t *out)
{
    const char *type = bits == 16 ? "smallint" : bits == 32 ? "integer" : "bigint";
    const char *p = text, *end = text + length;
    while (p < end && text_is_space(*p))
        p++;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    const char *digits = p;
    uint64_t v = 0;
    bool over = false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        over |= __builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
    bool empty = p == digits;
    while (p < end && text_is_space(*p))
        p++;
    if (empty || p != end)
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type %s: \"%.*s\"", type, (int)length, text);
    uint64_t most = ((uint64_t)1 << (bits - 1)) - 1;
    if (over || v > most + negative)
        return error_set(STATUS_OUT_OF_RANGE, "value \"%.*s\" is out of range for type %s", (int)length, text, type);
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return STATUS_OK;
}

enum status oid_parse(const char *text, size_t length, const char *type, uint64_t max, uint64_t *out)
{
    const char *p = text, *end = text + length;
    while (p < end && text_is_space(*p))
        p++;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    const char *digits = p;
    uint64_t v = 0;
    bool over = false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        over |= __builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
    bool empty = p == digits;
    while (p < end && text_is_space(*p))
        p++;
    if (empty || p != end)
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type %s: \"%.*s\"", type, (int)length, text);
    if (negative && max == UINT32_MAX && v <= (uint64_t)1 << 31)
        v = (uint32_t)-(int64_t)v;                            /* as PostgreSQL lets -1 through */
    else if (negative)
        over = true;
    if (over || v > max)
        return error_set(STATUS_OUT_OF_RANGE, "value \"%.*s\" is out of range for type %s", (int)length, text, type);
    *out = v;
    return STATUS_OK;
}

static bool word_is(const char *p, size_t length, const char *word) { return strlen(word) == length && !strncasecmp(p, word, length); }

/* NaN and the infinities, without leaning on strtod for them. */
static bool special(const char *p, size_t length, double *out)
{
    double sign = 1;
    if (length && (*p == '-' || *p == '+')) {
        sign = *p == '-' ? -1 : 1;
        p++;
        length--;
    } else if (word_is(p, length, "nan")) {
        *out = NAN;
        return true;
    }
    if (word_is(p, length, "infinity") || word_is(p, length, "inf")) {
        *out = sign * INFINITY;
        return true;
    }
    return false;
}

/* [-]digits[.digits] of at most 19 digits, rounded right: m / 10^k in 128 bits, whose 63 or 64 leading bits and whether anything is left over
 * are all that rounding to 53 bits asks for. False: not of that form. */
static bool decimal_double(const char *text, size_t length, double *out)
{
    static const uint64_t powers[20] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
                                        100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000u};
    const char *p = text, *end = text + length, *point = NULL;
    bool negative = p < end && *p == '-';
    uint64_t m = 0;
    p += negative;
    if (p == end || end - p > 20)
        return false;
    const char *from = p;
    for (; p < end; p++) {
        uint8_t digit = (uint8_t)(*p - '0');
        if (digit <= 9)
            m = m * 10 + digit;
        else if (*p == '.' && !point)
            point = p;
        else
            return false;
    }
    size_t digits = (size_t)(end - from) - (point != NULL), k = point ? (size_t)(end - point) - 1 : 0;
    if (!digits || digits > 19)
        return false;
    double d;
    if (m == 0 || (m >> 53 == 0 && k <= 15)) {                /* both exact: one rounding */
        d = (double)m / (double)powers[k];
    } else if (k == 0) {
        d = (double)m;
    } else {
        int by_m = __builtin_clzll(m), by_t = __builtin_clzll(powers[k]);
        unsigned __int128 n = (unsigned __int128)(m << by_m) << 63;
        uint64_t t = powers[k] << by_t, q = (uint64_t)(n / t);
        bool rest = (unsigned __int128)q * t != n;
        int drop = q >> 63 ? 11 : 10;
        uint64_t half = (uint64_t)1 << (drop - 1), low = q & (2 * half - 1), whole = q >> drop;
        whole += low > half || (low == half && (rest || (whole & 1)));
        uint64_t scale = (uint64_t)(drop + by_t - by_m - 63 + 1023) << 52;
        double by;
        memcpy(&by, &scale, 8);
        d = (double)whole * by;
    }
    *out = negative ? -d : d;
    return true;
}

/* One for both widths: `single` reads with strtof, so that there is one rounding. */
static enum status float_parse(const char *text, size_t length, bool single, double *out)
{
    const char *type = single ? "real" : "double precision";
    const char *p = text, *end = text + length;
    if (!single && decimal_double(text, length, out))
        return STATUS_OK;
    while (p < end && text_is_space(*p))
        p++;
    while (end > p && text_is_space(end[-1]))
        end--;
    char room[128], *copy = room, *stop;
    size_t n = (size_t)(end - p);
    if (!n || memchr(p, 0, n))
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type %s: \"%.*s\"", type, (int)length, text);
    if (special(p, n, out))
        return STATUS_OK;
    if (isalpha((unsigned char)*p) || (n > 1 && (*p == '-' || *p == '+') && !isdigit((unsigned char)p[1]) && p[1] != '.'))
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type %s: \"%.*s\"", type, (int)length, text);
    if (n >= sizeof room) {
        copy = malloc(n + 1);
        ASSERT(copy);
    }
    memcpy(copy, p, n);
    copy[n] = 0;
    errno = 0;
    double d = single ? (double)strtof(copy, &stop) : strtod(copy, &stop);
    int error = errno;
    bool whole = stop == copy + n;
    if (copy != room)
        free(copy);
    if (!whole)
        return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type %s: \"%.*s\"", type, (int)length, text);
    if (error == ERANGE && (d == 0 || isinf(d)))
        return error_set(STATUS_OUT_OF_RANGE, "\"%.*s\" is out of range for type %s", (int)n, p, type);
    *out = d;
    return STATUS_OK;
}

enum status float8_parse(const char *text, size_t length, double *out) { return float_parse(text, length, false, out); }

enum status float4_parse(const char *text, size_t length, float *out)
{
    double d;
    enum status s = float_parse(text, length, true, &d);
    if (!s)
        *out = (float)d;
    return s;
}

enum status bool_parse(const char *text, size_t length, bool *out)
{
    const char *p = text, *end = text + length;
    while (p < end && text_is_space(*p))
        p++;
    while (end > p && text_is_space(end[-1]))
        end--;
    size_t n = (size_t)(end - p);
    static const struct { const char *word; unsigned least; bool value; } words[] = {
        {"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false}, {"on", 2, true}, {"off", 2, false}, {"1", 1, true}, {"0", 1, false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n >= words[i].least && n <= strlen(words[i].word) && !strncasecmp(p, words[i].word, n)) {
            *out = words[i].value;
            return STATUS_OK;
        }
    return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type boolean: \"%.*s\"", (int)length, text);
}

void int8_print(int64_t v, struct text_buffer *out)
{
    char text[24], *p = text + sizeof text;
    uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + m % 10);
    while (m /= 10);
    if (v < 0)
        *--p = '-';
    text_buffer_add(out, p, (size_t)(text + sizeof text - p));
}

/* Lays out the digits of "d.ddde±x". */
static void print_scientific(const char *sci, int limit, struct text_buffer *out)
{
    char digits[24];
    int count = 0;
    const char *p = sci;
    if (*p == '-') {
        text_buffer_putc(out, '-');
        p++;
    }
    for (; *p != 'e'; p++)
        if (*p != '.')
            digits[count++] = *p;
    int exponent = atoi(p + 1);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -4 || exponent >= limit) {
        text_buffer_putc(out, digits[0]);
        if (count > 1) {
            text_buffer_putc(out, '.');
            text_buffer_add(out, digits + 1, (size_t)count - 1);
        }
        text_buffer_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        text_buffer_puts(out, "0.");
        for (int i = -1; i > exponent; i--)
            text_buffer_putc(out, '0');
        text_buffer_add(out, digits, (size_t)count);
    } else if (count <= exponent + 1) {
        text_buffer_add(out, digits, (size_t)count);
        for (int i = count; i < exponent + 1; i++)
            text_buffer_putc(out, '0');
    } else {
        text_buffer_add(out, digits, (size_t)exponent + 1);
        text_buffer_putc(out, '.');
        text_buffer_add(out, digits + exponent + 1, (size_t)(count - exponent - 1));
    }
}

static bool print_special(double d, struct text_buffer *out)
{
    if (isnan(d))
        text_buffer_puts(out, "NaN");
    else if (isinf(d))
        text_buffer_puts(out, d > 0 ? "Infinity" : "-Infinity");
    else
        return false;
    return true;
}

void float8_print(double d, struct text_buffer *out)
{
    if (print_special(d, out))
        return;
    int extra = type_env->extra_float_digits;
    if (extra <= 0) {
        text_buffer_printf(out, "%.*g", 15 + extra < 1 ? 1 : 15 + extra, d);
        return;
    }
    if (d > -1e15 && d < 1e15 && d == (double)(int64_t)d && (d != 0 || !signbit(d))) {
        int8_print((int64_t)d, out);
        return;
    }
    char text[40];
    for (int digits = fabs(d) < 2.3e-308 ? 1 : 15; digits <= 17; digits++) {      /* subnormals have fewer */
        snprintf(text, sizeof text, "%.*e", digits - 1, d);
        if (digits == 17 || strtod(text, NULL) == d)
            break;
    }
    print_scientific(text, 15, out);
}

void float4_print(float f, struct text_buffer *out)
{
    if (print_special((double)f, out))
        return;
    int extra = type_env->extra_float_digits;
    if (extra <= 0) {
        text_buffer_printf(out, "%.*g", 6 + extra < 1 ? 1 : 6 + extra, (double)f);
        return;
    }
    char text[40];
    for (int digits = fabsf(f) < 1.2e-38f ? 1 : 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, (double)f);
        if (digits == 9 || strtof(text, NULL) == f)
            break;
    }
    print_scientific(text, 6, out);
}
