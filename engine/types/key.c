/* engine/types/key.c - values as byte strings that memcmp orders as the type does.
 *
 * A column of a key is a marker byte and the value's bytes. Markers: 0x00 null first, 0x01 a value, 0x02 null last.
 * DESC inverts the value's bytes, never the marker, so where nulls stand doesn't hang on the direction.
 *
 * No encoding is a prefix of another's of the same type (fixed length, or closed by an end marker), so columns can be
 * joined. Encodings, before DESC:
 *   integers     big endian, sign bit flipped
 *   floats       IEEE bits, sign bit flipped, negative ones inverted; -0 as 0; NaN as all ones
 *   text, name   the bytes (never 0x00), then 0x00; bpchar without its trailing blanks
 *   bytea        0x00 as 0x00 0xFF, then 0x00 0x00
 *   numeric      a class byte (-infinity, negative, zero, positive, infinity, NaN); for finite non-zero ones the decimal
 *                exponent e of 0.ddd * 10^e and the digits without trailing zeros, two a byte as 1 + 10 a + b, then 0x00,
 *                all inverted when negative. So 1, 1.0 and 1.00 are equal, in every form.
 *   interval     its span in microseconds, a month being 30 days, 16 bytes: equal ones are equal
 *   arrays       each element with a marker (0x02 value, 0x03 null), then 0x00, then the dimensions */
#include <math.h>
#include <string.h>
#include "engine/types/array.h"
#include "engine/types/internal.h"

enum { MARK_NULL_FIRST = 0, MARK_VALUE = 1, MARK_NULL_LAST = 2 };
enum { KEY_NINF = 1, KEY_NEGATIVE, KEY_ZERO, KEY_POSITIVE, KEY_PINF, KEY_NAN };

static void put(struct text_buffer *out, uint64_t v, int bytes)
{
    uint8_t b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
    text_buffer_add(out, b, (size_t)bytes);
}

static uint64_t get(const uint8_t *b, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | b[i];
    return v;
}

static uint64_t float8_key(double d)
{
    uint64_t bits;
    if (isnan(d))
        return UINT64_MAX;
    if (d == 0)
        d = 0.0;
    memcpy(&bits, &d, 8);
    if (d == 0)
        bits = 0;
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static uint32_t float4_key(float f)
{
    uint32_t bits;
    if (isnan(f))
        return UINT32_MAX;
    memcpy(&bits, &f, 4);
    if (f == 0)
        bits = 0;
    return bits >> 31 ? ~bits : bits | (uint32_t)1 << 31;
}

/* The digits of a finite non-zero number: exponent e of 0.ddd * 10^e, then the packed digits. */
static void decimal_key(const char *digits, size_t count, int scale, bool negative, struct text_buffer *out)
{
    uint8_t flip = negative ? 0xFF : 0;
    int exponent = (int)count - scale;
    while (count && digits[count - 1] == '0')
        count--;
    uint8_t b[64];
    size_t n = 0;
    if (exponent >= -63 && exponent <= 63)
        b[n++] = (uint8_t)(0x80 + exponent);
    else {
        uint32_t biased = (uint32_t)(exponent + (1 << 22));
        b[n++] = exponent < 0 ? 0x00 : 0xFF;
        b[n++] = (uint8_t)(biased >> 16);
        b[n++] = (uint8_t)(biased >> 8);
        b[n++] = (uint8_t)biased;
    }
    for (size_t i = 0; i < count; i += 2) {
        if (n == sizeof b) {
            for (size_t k = 0; k < n; k++)
                b[k] ^= flip;
            text_buffer_add(out, b, n);
            n = 0;
        }
        b[n++] = (uint8_t)(1 + 10 * (digits[i] - '0') + (i + 1 < count ? digits[i + 1] - '0' : 0));
    }
    for (size_t k = 0; k < n; k++)
        b[k] ^= flip;
    text_buffer_add(out, b, n);
    uint8_t end = flip;
    text_buffer_add(out, &end, 1);
}

static void numeric_key(struct sql_type type, const struct vector *v, size_t at, struct text_buffer *out)
{
    struct numeric n;
    numeric_read(type, v, at, &n);
    int sign = numeric_sign(&n);
    switch (n.kind) {
    case NUMERIC_NAN: text_buffer_putc(out, KEY_NAN); return;
    case NUMERIC_PINF: text_buffer_putc(out, KEY_PINF); return;
    case NUMERIC_NINF: text_buffer_putc(out, KEY_NINF); return;
    default: break;
    }
    text_buffer_putc(out, sign < 0 ? KEY_NEGATIVE : sign ? KEY_POSITIVE : KEY_ZERO);
    if (!sign)
        return;
    if (!n.big) {
        char text[40], *end = text + sizeof text, *p = end;
        unsigned __int128 m = n.small < 0 ? -(unsigned __int128)n.small : (unsigned __int128)n.small;
        while (m >> 64) {
            *--p = (char)('0' + (int)(m % 10));
            m /= 10;
        }
        for (uint64_t low = (uint64_t)m; low; low /= 10)
            *--p = (char)('0' + low % 10);
        decimal_key(p, (size_t)(end - p), n.scale, sign < 0, out);
        return;
    }
    struct arena *arena = arena_open(NULL, "key");
    struct text_buffer digits;
    text_buffer_open(&digits, arena);
    numeric_digits(&n, &digits);
    decimal_key(digits.bytes, digits.length, n.scale, sign < 0, out);
    arena_close(arena);
    numeric_free(&n);
}

static void bytes_key(struct varlen v, struct text_buffer *out)
{
    const uint8_t *p = v.bytes, *end = p + v.length;
    while (p < end) {
        const uint8_t *zero = memchr(p, 0, (size_t)(end - p));
        if (!zero) {
            text_buffer_add(out, p, (size_t)(end - p));
            break;
        }
        text_buffer_add(out, p, (size_t)(zero - p));
        text_buffer_add(out, "\0\xFF", 2);
        p = zero + 1;
    }
    text_buffer_add(out, "\0\0", 2);
}

static void append_ascending(struct sql_type type, const struct vector *v, size_t at, struct text_buffer *out)
{
    at = vector_at(v, at);
#define A(T) (((const T *)v->values)[at])
    switch (type_class(type.oid)) {
    case CLASS_BOOL: case CLASS_CHAR: put(out, A(uint8_t), 1); return;
    case CLASS_INT2: put(out, (uint16_t)A(int16_t) ^ 0x8000u, 2); return;
    case CLASS_INT4: case CLASS_DATE: put(out, (uint32_t)A(int32_t) ^ 0x80000000u, 4); return;
    case CLASS_OID: case CLASS_REG: put(out, A(uint32_t), 4); return;
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: put(out, A(uint64_t) ^ (uint64_t)1 << 63, 8); return;
    case CLASS_TID: case CLASS_XID: put(out, A(uint64_t), 8); return;
    case CLASS_FLOAT4: put(out, float4_key(A(float)), 4); return;
    case CLASS_FLOAT8: put(out, float8_key(A(double)), 8); return;
    case CLASS_NUMERIC: numeric_key(type, v, at, out); return;
    case CLASS_TEXT: case CLASS_NAME: case CLASS_JSON:
        text_buffer_add(out, A(struct varlen).bytes, A(struct varlen).length);
        text_buffer_putc(out, 0);
        return;
    case CLASS_BPCHAR: {
        struct varlen t = bpchar_trim(A(struct varlen));
        text_buffer_add(out, t.bytes, t.length);
        text_buffer_putc(out, 0);
        return;
    }
    case CLASS_BYTEA: bytes_key(A(struct varlen), out); return;
    case CLASS_INTERVAL: {
        __int128 span = interval_span(A(struct interval));
        put(out, (uint64_t)((unsigned __int128)span >> 64) ^ (uint64_t)1 << 63, 8);
        put(out, (uint64_t)span, 8);
        return;
    }
    case CLASS_UUID: text_buffer_add(out, (const uint8_t *)v->values + 16 * at, 16); return;
    case CLASS_ARRAY: case CLASS_INTVECTOR: case CLASS_OIDVECTOR: array_key(A(struct varlen), out); return;
    case CLASS_VOID: case CLASS_NONE: return;
    }
#undef A
}

void key_append_null(unsigned flags, struct text_buffer *out) { text_buffer_putc(out, flags & KEY_NULLS_FIRST ? MARK_NULL_FIRST : MARK_NULL_LAST); }

void key_append(struct sql_type type, unsigned flags, const struct vector *v, size_t at, struct text_buffer *out)
{
    if (vector_null(v, at)) {
        key_append_null(flags, out);
        return;
    }
    text_buffer_putc(out, MARK_VALUE);
    size_t from = out->length;
    append_ascending(type, v, at, out);
    if (flags & KEY_DESC)
        for (size_t i = from; i < out->length; i++)
            out->bytes[i] = (char)~out->bytes[i];
}

void array_key(struct varlen bytes, struct text_buffer *out)
{
    struct array_view view;
    array_open(bytes, &view);
    struct arena *arena = arena_open(NULL, "key");
    struct value *elements = array_elements(&view, arena);
    for (uint32_t i = 0; i < view.count; i++)
        if (elements[i].null)
            text_buffer_putc(out, 3);
        else {
            struct vector one = {.values = (void *)(uintptr_t)value_bytes(&elements[i]), .width = view.type.width, .constant = true};
            text_buffer_putc(out, 2);
            append_ascending(view.type, &one, 0, out);
        }
    arena_close(arena);
    text_buffer_putc(out, 0);
    put(out, (uint64_t)view.dims, 1);
    for (int i = 0; i < view.dims; i++)
        put(out, (uint32_t)view.lengths[i], 4);
    for (int i = 0; i < view.dims; i++)
        put(out, (uint32_t)view.lower[i] ^ 0x80000000u, 4);
}

void key_successor(struct text_buffer *key)
{
    while (key->length && (uint8_t)key->bytes[key->length - 1] == 0xFF)
        key->length--;
    if (key->length)
        key->bytes[key->length - 1]++;
    if (key->bytes)
        key->bytes[key->length] = 0;
}

bool key_exact(struct sql_type type)
{
    switch (type_class(type.oid)) {
    case CLASS_BOOL: case CLASS_INT2: case CLASS_INT4: case CLASS_INT8: case CLASS_OID:
    case CLASS_DATE: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ:
    case CLASS_UUID: case CLASS_TEXT: case CLASS_NAME: case CLASS_BYTEA:
        return true;
    case CLASS_NUMERIC:
        return type.width != WIDTH_VARLEN;                    /* the scale is the column's */
    default:
        return false;
    }
}

static enum status cut_short(void) { return error_set(STATUS_INDEX_CORRUPT, "index key is cut short"); }

/* The exponent and digits as an integer of `scale`; only for forms whose scale is known. */
static enum status take_decimal(struct sql_type type, const uint8_t *p, size_t length, size_t *used, struct arena *arena, struct value *out)
{
    if (type.width == WIDTH_VARLEN)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "a key of type numeric does not hold the value's scale");
    struct numeric n;
    numeric_set(&n, 0, type.scale);
    size_t at = 1;
    uint8_t class = p[0], flip = class == KEY_NEGATIVE ? 0xFF : 0;
    if (class == KEY_NAN)
        numeric_set_special(&n, NUMERIC_NAN);
    else if (class == KEY_POSITIVE || class == KEY_NEGATIVE) {
        if (at >= length)
            return cut_short();
        int exponent = (p[at] ^ flip) - 0x80;
        at++;
        __int128 v = 0;
        int digits = 0;
        for (; at < length && (p[at] ^ flip); at++, digits += 2)
            v = v * 100 + ((p[at] ^ flip) - 1);
        if (at++ >= length)
            return cut_short();
        /* v * 10^(exponent - digits) in units of 10^-scale */
        int shift = exponent - digits + type.scale;
        v = shift >= 0 ? v * pow10_128[shift] : v / pow10_128[-shift];
        n.small = flip ? -v : v;
    } else if (class != KEY_ZERO)
        return cut_short();
    *used = at;
    return numeric_write(type, &n, &out->i16, arena);
}

enum status key_take(struct sql_type type, unsigned flags, const uint8_t **bytes, size_t *length, struct arena *arena, struct value *out)
{
    memset(out, 0, sizeof *out);
    const uint8_t *p = *bytes;
    size_t left = *length, used = 0;
    if (!left)
        return cut_short();
    if (*p != MARK_VALUE) {
        out->null = true;
        *bytes = p + 1;
        *length = left - 1;
        return STATUS_OK;
    }
    p++;
    left--;
    if (flags & KEY_DESC) {                                   /* the rest of the key, turned back; only this column is read */
        uint8_t *copy = arena_alloc(arena, left + 1);
        for (size_t i = 0; i < left; i++)
            copy[i] = (uint8_t)~p[i];
        p = copy;
    }
    enum type_class class = type_class(type.oid);
    switch (class) {
    case CLASS_BOOL: case CLASS_CHAR: used = 1; break;
    case CLASS_INT2: used = 2; break;
    case CLASS_INT4: case CLASS_DATE: case CLASS_OID: case CLASS_REG: case CLASS_FLOAT4: used = 4; break;
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: case CLASS_TID: case CLASS_XID: case CLASS_FLOAT8: used = 8; break;
    case CLASS_UUID: used = 16; break;
    default: break;
    }
    if (used > left)
        return cut_short();
    switch (class) {
    case CLASS_BOOL: case CLASS_CHAR: out->c = (int8_t)p[0]; break;
    case CLASS_INT2: out->i2 = (int16_t)(get(p, 2) ^ 0x8000u); break;
    case CLASS_INT4: case CLASS_DATE: out->i4 = (int32_t)(get(p, 4) ^ 0x80000000u); break;
    case CLASS_OID: case CLASS_REG: out->oid = (uint32_t)get(p, 4); break;
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: out->i8 = (int64_t)(get(p, 8) ^ (uint64_t)1 << 63); break;
    case CLASS_TID: case CLASS_XID: out->i8 = (int64_t)get(p, 8); break;
    case CLASS_FLOAT4: {
        uint32_t bits = (uint32_t)get(p, 4);
        bits = bits == UINT32_MAX ? 0x7fc00000u : bits >> 31 ? bits & 0x7fffffffu : ~bits;
        memcpy(&out->f4, &bits, 4);
        break;
    }
    case CLASS_FLOAT8: {
        uint64_t bits = get(p, 8);
        bits = bits == UINT64_MAX ? UINT64_C(0x7ff8000000000000) : bits >> 63 ? bits & INT64_MAX : ~bits;
        memcpy(&out->f8, &bits, 8);
        break;
    }
    case CLASS_UUID: memcpy(out->bytes, p, 16); break;
    case CLASS_NUMERIC: {
        if (!left)
            return cut_short();
        enum status s = take_decimal(type, p, left, &used, arena, out);
        if (s)
            return s;
        break;
    }
    case CLASS_TEXT: case CLASS_NAME: case CLASS_BPCHAR: case CLASS_JSON: {
        const uint8_t *end = memchr(p, 0, left);
        if (!end)
            return cut_short();
        used = (size_t)(end - p) + 1;
        struct varlen v = text_copy(arena, p, (size_t)(end - p));
        if (class == CLASS_BPCHAR) {
            enum status s = text_apply_typmod(type.oid, type.typmod, true, arena, &v);
            if (s)
                return s;
        }
        out->v = v;
        break;
    }
    case CLASS_BYTEA: {
        uint8_t *copy = arena_alloc(arena, left + 1);
        size_t n = 0;
        for (used = 0;; used++) {
            if (used + 1 > left)
                return cut_short();
            if (p[used])
                copy[n++] = p[used];
            else if (used + 1 < left && p[used + 1] == 0xFF) {
                copy[n++] = 0;
                used++;
            } else
                break;
        }
        used += 2;
        if (used > left)
            return cut_short();
        out->v = varlen_of(copy, n);
        break;
    }
    default:
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "a key of type %s can't be read back", type_info(type.oid) ? type_info(type.oid)->name : "???");
    }
    *bytes += 1 + used;
    *length -= 1 + used;
    return STATUS_OK;
}
