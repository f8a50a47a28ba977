/* engine/types/kernels_text.c - string functions. Positions and lengths count characters.
 *
 * A result that is a part of its argument points into the argument's bytes. */
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <utf8proc.h>
#include "engine/types/array.h"
#include "engine/types/kernel.h"

#define TEXT struct varlen
#define TEXT_MAX 0x3fffffff

static bool ascii_only(TEXT v)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < v.length; i++)
        any |= v.bytes[i];
    return any < 0x80;
}
static enum status too_long(void) { return error_set(STATUS_LIMIT_EXCEEDED, "requested length too large"); }

/* ---- lengths ---- */

KERNEL1(k_textlen, TEXT, int32_t, r = (int32_t)utf8_length(a.bytes, a.length))
KERNEL1(k_bpcharlen, TEXT, int32_t, TEXT t = bpchar_trim(a); r = (int32_t)utf8_length(t.bytes, t.length))
KERNEL1(k_textoctetlen, TEXT, int32_t, r = (int32_t)a.length)
KERNEL1(k_text_bit_length, TEXT, int32_t, r = (int32_t)a.length * 8)

/* ---- case ---- */

enum folding { FOLD_LOWER, FOLD_UPPER, FOLD_TITLE };
static TEXT fold(TEXT v, enum folding how, struct arena *arena)
{
    size_t n = 0;
    uint8_t *b = arena_alloc(arena, (size_t)v.length * 2 + 8);
    bool inside = false;                                      /* a word, for initcap */
    for (const uint8_t *p = v.bytes, *end = p + v.length; p < end;) {
        if (*p < 0x80) {
            uint8_t ch = *p++;
            bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
            bool up = how == FOLD_UPPER || (how == FOLD_TITLE && !inside);
            if (letter)
                ch = up ? ch & (uint8_t)~0x20 : ch | 0x20;
            inside = letter || (ch >= '0' && ch <= '9');
            b[n++] = ch;
            continue;
        }
        utf8proc_int32_t cp;
        utf8proc_ssize_t w = utf8proc_iterate(p, end - p, &cp);
        if (w <= 0) {
            b[n++] = *p++;
            continue;
        }
        bool up = how == FOLD_UPPER || (how == FOLD_TITLE && !inside);
        utf8proc_category_t cat = utf8proc_category(cp);
        inside = cat >= UTF8PROC_CATEGORY_LU && cat <= UTF8PROC_CATEGORY_NO;
        utf8proc_int32_t to = up ? (cp == 0xDF ? cp : utf8proc_toupper(cp)) : utf8proc_tolower(cp);      /* sharp s has no capital of one letter */
        utf8proc_uint8_t out[4];
        utf8proc_ssize_t k = utf8proc_encode_char(to, out);
        memcpy(b + n, out, (size_t)k);
        n += (size_t)k;
        p += w;
    }
    return varlen_of(b, n);
}
KERNEL1(k_lower, TEXT, TEXT, r = fold(a, FOLD_LOWER, c->arena))
KERNEL1(k_upper, TEXT, TEXT, r = fold(a, FOLD_UPPER, c->arena))
KERNEL1(k_initcap, TEXT, TEXT, r = fold(a, FOLD_TITLE, c->arena))

/* ---- parts ---- */

/* Characters from..from+count-1, counted from 1; count < 0: to the end. */
static TEXT part(TEXT v, int64_t from, int64_t count)
{
    if (count >= 0) {
        int64_t end = from + count;
        if (from < 1)
            from = 1;
        count = end - from;
        if (count <= 0)
            return varlen_of("", 0);
    } else if (from < 1)
        from = 1;
    size_t start, length;
    if (from - 1 >= v.length)
        return varlen_of("", 0);
    start = utf8_offset(v.bytes, v.length, (size_t)(from - 1));
    length = count < 0 || count >= v.length ? v.length - start : utf8_offset(v.bytes + start, v.length - start, (size_t)count);
    return varlen_of(v.bytes + start, length);
}
static enum status negative(void) { return error_set(STATUS_SUBSTRING_ERROR, "negative substring length not allowed"); }

/* Are the first `count` bytes, eight at the most, ASCII? */
static inline bool starts_ascii(TEXT v, uint32_t count)
{
    uint64_t word = 0;
    if (v.length >= 8)
        memcpy(&word, v.bytes, 8);
    else
        for (uint32_t i = 0; i < v.length && i < count; i++)
            word |= (uint64_t)v.bytes[i] << (8 * i);
    return !(word & UINT64_C(0x8080808080808080) >> (64 - 8 * count));
}
static KERNEL3(substr_general, TEXT, int32_t, int32_t, TEXT, if (d < 0) FAIL(negative()); r = part(a, b, d))
/* A piece near the front, as it is mostly asked for: characters are bytes when all up to its end are ASCII. */
enum status k_text_substr(struct kernel_call *c)
{
    const int32_t from = c->count && c->args[1].constant ? *(const int32_t *)c->args[1].values : 0;
    const int32_t count = c->count && c->args[2].constant ? *(const int32_t *)c->args[2].values : 0;
    if (from < 1 || count < 1 || from > 8 || count > 8 || from - 1 + count > 8)
        return substr_general(c);
    const uint32_t skip = (uint32_t)from - 1, end = skip + (uint32_t)count;
    TEXT *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        const TEXT v = VECTOR(TEXT, &c->args[0], i);
        if (__builtin_expect(v.length >= end && starts_ascii(v, end), 1))
            out[i] = (TEXT){v.bytes + skip, (uint32_t)count, 0};
        else
            out[i] = part(v, from, count);
    }
    return STATUS_OK;
}
KERNEL2(k_text_substr_no_len, TEXT, int32_t, TEXT, r = part(a, b, -1))
static TEXT left(TEXT v, int32_t n)
{
    if (n < 0)
        return part(v, 1, (int64_t)utf8_length(v.bytes, v.length) + n > 0 ? (int64_t)utf8_length(v.bytes, v.length) + n : 0);
    return part(v, 1, n);
}
static TEXT right(TEXT v, int32_t n)
{
    int64_t length = (int64_t)utf8_length(v.bytes, v.length);
    int64_t skip = n < 0 ? -(int64_t)n : length - n;
    return part(v, (skip < 0 ? 0 : skip) + 1, -1);
}
KERNEL2(k_text_left, TEXT, int32_t, TEXT, r = left(a, b))
KERNEL2(k_text_right, TEXT, int32_t, TEXT, r = right(a, b))

static int32_t position(TEXT text, TEXT needle)
{
    if (!needle.length)
        return 1;
    if (needle.length > text.length)
        return 0;
    const uint8_t *at = text_find(text.bytes, text.length, needle.bytes, needle.length);
    return at ? (int32_t)utf8_length(text.bytes, (size_t)(at - text.bytes)) + 1 : 0;
}
KERNEL2(k_textpos, TEXT, TEXT, int32_t, r = position(a, b))

/* ---- joining ---- */

static enum status join(TEXT a, TEXT b, struct arena *arena, TEXT *out)
{
    size_t length = (size_t)a.length + b.length;
    if (length > TEXT_MAX)
        return too_long();
    uint8_t *bytes = arena_alloc(arena, length + 1);
    memcpy(bytes, a.bytes, a.length);
    memcpy(bytes + a.length, b.bytes, b.length);
    *out = varlen_of(bytes, length);
    return STATUS_OK;
}
KERNEL2(k_textcat, TEXT, TEXT, TEXT, CHECK_ROW(join(a, b, c->arena, &r)))
KERNEL2(k_byteacat, TEXT, TEXT, TEXT, CHECK_ROW(join(a, b, c->arena, &r)))

static void append(struct kernel_call *c, uint16_t argument, size_t i, struct text_buffer *b)
{
    type_out(c->arg_types[argument], &c->args[argument], i, b);
}
#define BUFFER_KERNEL(NAME, ...) \
    enum status k_##NAME(struct kernel_call *c) \
    { \
        KERNEL_BEGIN_(TEXT) \
        struct text_buffer buffer, *b = &buffer; \
        text_buffer_open(b, c->arena); \
        __VA_ARGS__; \
        out_[i] = varlen_of(b->bytes ? b->bytes : "", b->length); \
        } \
        return STATUS_OK; \
    }
BUFFER_KERNEL(textanycat, append(c, 0, i, b); append(c, 1, i, b))
BUFFER_KERNEL(anytextcat, append(c, 0, i, b); append(c, 1, i, b))
BUFFER_KERNEL(text_concat, for (uint16_t k = 0; k < c->arg_count; k++) if (!vector_null(&c->args[k], i)) append(c, k, i, b))

enum status k_text_concat_ws(struct kernel_call *c)
{
    TEXT *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        if (vector_null(&c->args[0], i)) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = (TEXT){0};
            continue;
        }
        TEXT separator = VECTOR(TEXT, &c->args[0], i);
        struct text_buffer b;
        text_buffer_open(&b, c->arena);
        bool any = false;
        for (uint16_t k = 1; k < c->arg_count; k++) {
            if (vector_null(&c->args[k], i))
                continue;
            if (any)
                text_buffer_add(&b, separator.bytes, separator.length);
            any = true;
            append(c, k, i, &b);
        }
        out[i] = varlen_of(b.bytes ? b.bytes : "", b.length);
    }
    return STATUS_OK;
}

/* ---- trimming, padding, repeating ---- */

static bool in_set(const uint8_t *p, size_t width, TEXT set)
{
    for (uint32_t i = 0; i < set.length; i += utf8_width(set.bytes[i]))
        if (utf8_width(set.bytes[i]) == width && !memcmp(set.bytes + i, p, width))
            return true;
    return false;
}
static TEXT trim(TEXT v, TEXT set, bool front, bool back)
{
    while (front && v.length) {
        size_t w = utf8_width(*v.bytes);
        if (w > v.length || !in_set(v.bytes, w, set))
            break;
        v.bytes += w;
        v.length -= (uint32_t)w;
    }
    while (back && v.length) {
        size_t w = 1;
        while (w < v.length && (v.bytes[v.length - w] & 0xC0) == 0x80)
            w++;
        if (!in_set(v.bytes + v.length - w, w, set))
            break;
        v.length -= (uint32_t)w;
    }
    return v;
}
#define BLANK varlen_of(" ", 1)
KERNEL2(k_btrim, TEXT, TEXT, TEXT, r = trim(a, b, true, true))
KERNEL2(k_ltrim, TEXT, TEXT, TEXT, r = trim(a, b, true, false))
KERNEL2(k_rtrim, TEXT, TEXT, TEXT, r = trim(a, b, false, true))
KERNEL1(k_btrim1, TEXT, TEXT, r = trim(a, BLANK, true, true))
KERNEL1(k_ltrim1, TEXT, TEXT, r = trim(a, BLANK, true, false))
KERNEL1(k_rtrim1, TEXT, TEXT, r = trim(a, BLANK, false, true))
static TEXT trim_bytes(TEXT v, TEXT set, bool front, bool back)
{
    while (front && v.length && set.length && memchr(set.bytes, *v.bytes, set.length)) {
        v.bytes++;
        v.length--;
    }
    while (back && v.length && set.length && memchr(set.bytes, v.bytes[v.length - 1], set.length))
        v.length--;
    return v;
}
KERNEL2(k_byteatrim, TEXT, TEXT, TEXT, r = trim_bytes(a, b, true, true))
KERNEL2(k_bytealtrim, TEXT, TEXT, TEXT, r = trim_bytes(a, b, true, false))
KERNEL2(k_byteartrim, TEXT, TEXT, TEXT, r = trim_bytes(a, b, false, true))

static enum status pad(TEXT v, int32_t length, TEXT with, bool front, struct arena *arena, TEXT *out)
{
    if (length < 0)
        length = 0;
    int64_t have = (int64_t)utf8_length(v.bytes, v.length);
    if (have >= length || !with.length) {
        *out = part(v, 1, length);
        return STATUS_OK;
    }
    int64_t missing = length - have;
    size_t unit = utf8_length(with.bytes, with.length);
    if ((size_t)missing / unit * with.length + with.length + v.length > TEXT_MAX)
        return too_long();
    struct text_buffer b;
    text_buffer_open(&b, arena);
    if (!front)
        text_buffer_add(&b, v.bytes, v.length);
    for (; missing >= (int64_t)unit; missing -= (int64_t)unit)
        text_buffer_add(&b, with.bytes, with.length);
    text_buffer_add(&b, with.bytes, utf8_offset(with.bytes, with.length, (size_t)missing));
    if (front)
        text_buffer_add(&b, v.bytes, v.length);
    *out = varlen_of(b.bytes ? b.bytes : "", b.length);
    return STATUS_OK;
}
KERNEL3(k_lpad, TEXT, int32_t, TEXT, TEXT, CHECK_ROW(pad(a, b, d, true, c->arena, &r)))
KERNEL3(k_rpad, TEXT, int32_t, TEXT, TEXT, CHECK_ROW(pad(a, b, d, false, c->arena, &r)))
KERNEL2(k_lpad_blank, TEXT, int32_t, TEXT, CHECK_ROW(pad(a, b, BLANK, true, c->arena, &r)))
KERNEL2(k_rpad_blank, TEXT, int32_t, TEXT, CHECK_ROW(pad(a, b, BLANK, false, c->arena, &r)))

static enum status repeat(TEXT v, int32_t times, struct arena *arena, TEXT *out)
{
    if (times < 0)
        times = 0;
    size_t length = (size_t)v.length * (size_t)times;
    if (length > TEXT_MAX)
        return too_long();
    uint8_t *b = arena_alloc(arena, length + 1);
    for (int32_t i = 0; i < times && v.length; i++)
        memcpy(b + (size_t)i * v.length, v.bytes, v.length);
    *out = varlen_of(b, length);
    return STATUS_OK;
}
KERNEL2(k_repeat, TEXT, int32_t, TEXT, CHECK_ROW(repeat(a, b, c->arena, &r)))

/* ---- replacing ---- */

static TEXT replace(TEXT v, TEXT from, TEXT to, struct arena *arena)
{
    if (!from.length || from.length > v.length)
        return v;
    const uint8_t *p = v.bytes, *end = p + v.length, *at = text_find(p, v.length, from.bytes, from.length);
    if (!at)
        return v;
    struct text_buffer b;
    text_buffer_open(&b, arena);
    for (; at; at = p < end ? text_find(p, (size_t)(end - p), from.bytes, from.length) : NULL) {
        text_buffer_add(&b, p, (size_t)(at - p));
        text_buffer_add(&b, to.bytes, to.length);
        p = at + from.length;
    }
    text_buffer_add(&b, p, (size_t)(end - p));
    return varlen_of(b.bytes ? b.bytes : "", b.length);
}
KERNEL3(k_replace_text, TEXT, TEXT, TEXT, TEXT, r = replace(a, b, d, c->arena))

static TEXT reverse(TEXT v, struct arena *arena)
{
    uint8_t *b = arena_alloc(arena, v.length + 1), *to = b + v.length;
    for (uint32_t i = 0; i < v.length;) {
        unsigned w = utf8_width(v.bytes[i]);
        if (w > v.length - i)
            w = v.length - i;
        to -= w;
        memcpy(to, v.bytes + i, w);
        i += w;
    }
    return varlen_of(b, v.length);
}
KERNEL1(k_text_reverse, TEXT, TEXT, r = reverse(a, c->arena))

static TEXT translate(TEXT v, TEXT from, TEXT to, struct arena *arena)
{
    struct text_buffer b;
    text_buffer_open(&b, arena);
    for (uint32_t i = 0; i < v.length;) {
        unsigned w = utf8_width(v.bytes[i]);
        uint32_t f = 0, t = 0;
        for (; f < from.length; f += utf8_width(from.bytes[f])) {
            if (utf8_width(from.bytes[f]) == w && !memcmp(from.bytes + f, v.bytes + i, w))
                break;
            if (t < to.length)
                t += utf8_width(to.bytes[t]);
        }
        if (f >= from.length)
            text_buffer_add(&b, v.bytes + i, w);
        else if (t < to.length)
            text_buffer_add(&b, to.bytes + t, utf8_width(to.bytes[t]));
        i += w;
    }
    return varlen_of(b.bytes ? b.bytes : "", b.length);
}
KERNEL3(k_translate, TEXT, TEXT, TEXT, TEXT, r = translate(a, b, d, c->arena))

static enum status overlay(TEXT v, TEXT with, int32_t from, int64_t count, struct arena *arena, TEXT *out)
{
    if (from <= 0)
        return negative();
    int64_t after = (int64_t)from + count;
    if (after > INT32_MAX)
        return error_set(STATUS_OUT_OF_RANGE, "integer out of range");
    TEXT head = part(v, 1, from - 1), tail = part(v, after, -1), first;
    enum status s = join(head, with, arena, &first);
    return s ? s : join(first, tail, arena, out);
}
KERNEL4(k_textoverlay, TEXT, TEXT, int32_t, int32_t, TEXT, CHECK_ROW(overlay(a, b, d, e, c->arena, &r)))
KERNEL3(k_textoverlay_no_len, TEXT, TEXT, int32_t, TEXT, CHECK_ROW(overlay(a, b, d, (int64_t)utf8_length(b.bytes, b.length), c->arena, &r)))

static enum status split_part(TEXT v, TEXT by, int32_t field, TEXT *out)
{
    if (!field)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "field position must not be zero");
    *out = varlen_of("", 0);
    if (!by.length || !v.length) {
        if (field == 1 || field == -1)
            *out = v;
        return STATUS_OK;
    }
    const uint8_t *p = v.bytes, *end = p + v.length;
    if (field < 0) {                                          /* from the end: count first */
        int64_t count = 1;
        for (const uint8_t *at; (at = text_find(p, (size_t)(end - p), by.bytes, by.length)); p = at + by.length)
            count++;
        if (-(int64_t)field > count)
            return STATUS_OK;
        field = (int32_t)(count + field + 1);
        p = v.bytes;
    }
    while (--field) {
        const uint8_t *at = text_find(p, (size_t)(end - p), by.bytes, by.length);
        if (!at)
            return STATUS_OK;
        p = at + by.length;
    }
    const uint8_t *at = text_find(p, (size_t)(end - p), by.bytes, by.length);
    *out = varlen_of(p, (size_t)((at ? at : end) - p));
    return STATUS_OK;
}
KERNEL3(k_split_part, TEXT, TEXT, int32_t, TEXT, CHECK_ROW(split_part(a, b, d, &r)))

/* ---- characters ---- */

static int32_t ascii(TEXT v)
{
    utf8proc_int32_t cp = 0;
    if (v.length)
        utf8proc_iterate(v.bytes, v.length, &cp);
    return cp;
}
static enum status chr(int32_t v, struct arena *arena, TEXT *out)
{
    if (v < 0)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "character number must be positive");
    if (v == 0)
        return error_set(STATUS_LIMIT_EXCEEDED, "null character not permitted");
    if (v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF))
        return error_set(STATUS_LIMIT_EXCEEDED, "requested character %s for encoding: %u", v > 0x10FFFF ? "too large" : "not valid", v);
    uint8_t *b = arena_alloc(arena, 4);
    *out = varlen_of(b, (size_t)utf8proc_encode_char(v, b));
    return STATUS_OK;
}
KERNEL1(k_ascii, TEXT, int32_t, r = ascii(a))
KERNEL1(k_chr, int32_t, TEXT, CHECK_ROW(chr(a, c->arena, &r)))

/* ---- quoting ---- */

/* PostgreSQL quotes all but its unreserved keywords. */
static const char *const keywords[] = {
#include "engine/types/quoted_keywords.h"
};
static int word_order(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }
bool quote_needed(const char *name, size_t length);
bool quote_needed(const char *name, size_t length)
{
    char word[64];
    bool plain = length && (*name == '_' || (*name >= 'a' && *name <= 'z'));
    for (size_t i = 1; plain && i < length; i++)
        plain = name[i] == '_' || (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9');
    if (!plain)
        return true;
    if (length >= sizeof word)
        return false;
    memcpy(word, name, length);
    word[length] = 0;
    return bsearch(word, keywords, sizeof keywords / sizeof *keywords, sizeof *keywords, word_order) != NULL;
}
static void quote_ident(TEXT v, struct text_buffer *b)
{
    if (!quote_needed((const char *)v.bytes, v.length)) {
        text_buffer_add(b, v.bytes, v.length);
        return;
    }
    text_buffer_putc(b, '"');
    for (uint32_t i = 0; i < v.length; i++) {
        if (v.bytes[i] == '"')
            text_buffer_putc(b, '"');
        text_buffer_putc(b, (char)v.bytes[i]);
    }
    text_buffer_putc(b, '"');
}
static void quote_literal(TEXT v, struct text_buffer *b)
{
    if (v.length && memchr(v.bytes, '\\', v.length))
        text_buffer_putc(b, 'E');
    text_buffer_putc(b, '\'');
    for (uint32_t i = 0; i < v.length; i++) {
        if (v.bytes[i] == '\'' || v.bytes[i] == '\\')
            text_buffer_putc(b, (char)v.bytes[i]);
        text_buffer_putc(b, (char)v.bytes[i]);
    }
    text_buffer_putc(b, '\'');
}
static TEXT as_text(struct kernel_call *c, uint16_t argument, size_t i)
{
    struct text_buffer b;
    text_buffer_open(&b, c->arena);
    append(c, argument, i, &b);
    return varlen_of(b.bytes ? b.bytes : "", b.length);
}
BUFFER_KERNEL(quote_ident, quote_ident(VECTOR(TEXT, &c->args[0], i), b))
BUFFER_KERNEL(quote_literal, quote_literal(as_text(c, 0, i), b))
BUFFER_KERNEL(quote_nullable, if (vector_null(&c->args[0], i)) text_buffer_puts(b, "NULL"); else quote_literal(as_text(c, 0, i), b))

/* ---- format ---- */

static enum status format_row(struct kernel_call *c, size_t i, struct text_buffer *b)
{
    TEXT f = VECTOR(TEXT, &c->args[0], i);
    const char *p = (const char *)f.bytes, *end = p + f.length;
    int next = 1;
    while (p < end) {
        if (*p != '%') {
            text_buffer_putc(b, *p++);
            continue;
        }
        if (++p >= end) {
            goto unterminated;
        }
        if (*p == '%') {
            text_buffer_putc(b, *p++);
            continue;
        }
        int argument = 0, width = 0;
        bool left_side = false, has_number = false;
        const char *q = p;
        long number = 0;
        while (q < end && *q >= '0' && *q <= '9') {
            number = number * 10 + (*q++ - '0');
            has_number = true;
            if (number > INT32_MAX)
                return error_set(STATUS_OUT_OF_RANGE, "number is out of range");
        }
        if (has_number && q < end && *q == '$') {
            if (!number)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "format specifies argument 0, but arguments are numbered from 1");
            argument = (int)number;
            p = q + 1;
        }
        while (p < end && *p == '-') {
            left_side = true;
            p++;
        }
        if (p < end && *p == '*') {
            p++;
            int at = next++;
            if (at >= c->arg_count)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "too few arguments for format()");
            if (!vector_null(&c->args[at], i))
                width = atoi(varlen_string(c->arena, as_text(c, (uint16_t)at, i)));
            if (width < 0) {
                left_side = true;
                width = -width;
            }
        } else
            while (p < end && *p >= '0' && *p <= '9') {
                width = width * 10 + (*p++ - '0');
                if (width > TEXT_MAX)
                    return error_set(STATUS_OUT_OF_RANGE, "number is out of range");
            }
        if (p >= end)
            goto unterminated;
        char kind = *p++;
        if (kind != 's' && kind != 'I' && kind != 'L') {
            enum status s = error_set(STATUS_INVALID_PARAMETER_VALUE, "unrecognized format() type specifier \"%c\"", kind);
            error_hint("For a single \"%%\" use \"%%%%\".");
            return s;
        }
        if (!argument)
            argument = next;
        next = argument + 1;
        if (argument >= c->arg_count)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "too few arguments for format()");
        struct text_buffer one;
        text_buffer_open(&one, c->arena);
        bool null = vector_null(&c->args[argument], i);
        if (null && kind == 'I')
            return error_set(STATUS_NULL_NOT_ALLOWED, "null values cannot be formatted as an SQL identifier");
        if (null && kind == 'L')
            text_buffer_puts(&one, "NULL");
        else if (!null) {
            TEXT t = as_text(c, (uint16_t)argument, i);
            if (kind == 's')
                text_buffer_add(&one, t.bytes, t.length);
            else if (kind == 'I')
                quote_ident(t, &one);
            else
                quote_literal(t, &one);
        }
        long fill = width - (long)utf8_length((const uint8_t *)one.bytes, one.length);
        for (; !left_side && fill > 0; fill--)
            text_buffer_putc(b, ' ');
        text_buffer_add(b, one.bytes, one.length);
        for (; fill > 0; fill--)
            text_buffer_putc(b, ' ');
    }
    return STATUS_OK;
unterminated:
    error_set(STATUS_INVALID_PARAMETER_VALUE, "unterminated format() type specifier");
    error_hint("For a single \"%%\" use \"%%%%\".");
    return STATUS_INVALID_PARAMETER_VALUE;
}
enum status k_text_format(struct kernel_call *c)
{
    TEXT *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        if (vector_null(&c->args[0], i)) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = (TEXT){0};
            continue;
        }
        struct text_buffer b;
        text_buffer_open(&b, c->arena);
        enum status s = format_row(c, i, &b);
        if (s)
            FAIL(s);
        out[i] = varlen_of(b.bytes ? b.bytes : "", b.length);
    }
    return STATUS_OK;
}

/* ---- hashes and encodings ---- */

static TEXT hex_text(const uint8_t *b, size_t n, struct arena *arena)
{
    static const char hex[] = "0123456789abcdef";
    char *out = arena_alloc(arena, 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = hex[b[i] >> 4];
        out[2 * i + 1] = hex[b[i] & 15];
    }
    return varlen_of(out, 2 * n);
}
static enum status digest(const EVP_MD *kind, TEXT v, uint8_t *out, unsigned *length)
{
    if (!kind || !EVP_Digest(v.bytes, v.length, out, length, kind, NULL))
        return error_set(STATUS_INTERNAL, "could not compute hash");
    return STATUS_OK;
}
#define MD5 uint8_t hash[EVP_MAX_MD_SIZE]; unsigned n; CHECK_ROW(digest(EVP_md5(), a, hash, &n)); r = hex_text(hash, n, c->arena)
#define SHA(KIND) uint8_t hash[EVP_MAX_MD_SIZE]; unsigned n; CHECK_ROW(digest(KIND, a, hash, &n)); r = text_copy(c->arena, hash, n)
KERNEL1(k_md5_text, TEXT, TEXT, MD5)
KERNEL1(k_md5_bytea, TEXT, TEXT, MD5)
KERNEL1(k_sha224_bytea, TEXT, TEXT, SHA(EVP_sha224()))
KERNEL1(k_sha256_bytea, TEXT, TEXT, SHA(EVP_sha256()))
KERNEL1(k_sha384_bytea, TEXT, TEXT, SHA(EVP_sha384()))
KERNEL1(k_sha512_bytea, TEXT, TEXT, SHA(EVP_sha512()))

static bool name_is(TEXT v, const char *name) { return v.length == strlen(name) && !strncasecmp((const char *)v.bytes, name, v.length); }
static enum status unknown_encoding(TEXT name) { return error_set(STATUS_INVALID_PARAMETER_VALUE, "unrecognized encoding: \"%.*s\"", (int)name.length, name.bytes); }
static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static enum status encode(TEXT v, TEXT how, struct arena *arena, TEXT *out)
{
    struct text_buffer b;
    text_buffer_open(&b, arena);
    if (name_is(how, "hex")) {
        *out = hex_text(v.bytes, v.length, arena);
        return STATUS_OK;
    }
    if (name_is(how, "base64")) {
        unsigned column = 0;
        for (uint32_t i = 0; i < v.length; i += 3) {
            uint32_t left_over = v.length - i;
            uint32_t w = (uint32_t)v.bytes[i] << 16 | (left_over > 1 ? (uint32_t)v.bytes[i + 1] << 8 : 0) | (left_over > 2 ? v.bytes[i + 2] : 0);
            char four[4] = {base64[w >> 18], base64[w >> 12 & 63], left_over > 1 ? base64[w >> 6 & 63] : '=', left_over > 2 ? base64[w & 63] : '='};
            text_buffer_add(&b, four, 4);
            if ((column += 4) >= 76) {
                text_buffer_putc(&b, '\n');
                column = 0;
            }
        }
    } else if (name_is(how, "escape")) {
        for (uint32_t i = 0; i < v.length; i++)
            if (v.bytes[i] == 0 || v.bytes[i] >= 0x80)
                text_buffer_printf(&b, "\\%03o", v.bytes[i]);
            else if (v.bytes[i] == '\\')
                text_buffer_puts(&b, "\\\\");
            else
                text_buffer_putc(&b, (char)v.bytes[i]);
    } else
        return unknown_encoding(how);
    *out = varlen_of(b.bytes ? b.bytes : "", b.length);
    return STATUS_OK;
}
static enum status decode(TEXT v, TEXT how, struct arena *arena, TEXT *out)
{
    if (name_is(how, "hex")) {
        char *text = arena_alloc(arena, v.length + 3);
        text[0] = '\\';
        text[1] = 'x';
        memcpy(text + 2, v.bytes, v.length);
        return bytea_parse(text, v.length + 2, arena, out);
    }
    if (name_is(how, "escape"))
        return bytea_parse((const char *)v.bytes, v.length, arena, out);
    if (!name_is(how, "base64"))
        return unknown_encoding(how);
    uint8_t *b = arena_alloc(arena, v.length + 1);
    size_t n = 0;
    uint32_t word = 0;
    int have = 0, end = 0;
    for (uint32_t i = 0; i < v.length; i++) {
        char ch = (char)v.bytes[i];
        if (ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r')
            continue;
        uint32_t digit = 0;
        if (ch == '=') {
            if (!end && have < 2)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "unexpected \"=\" while decoding base64 sequence");
            end++;
        } else {
            const char *at = strchr(base64, ch);
            if (!at || end)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid symbol \"%.*s\" found while decoding base64 sequence", (int)utf8_width((uint8_t)ch), (const char *)v.bytes + i);
            digit = (uint32_t)(at - base64);
        }
        word = word << 6 | digit;
        if (++have == 4) {
            b[n++] = (uint8_t)(word >> 16);
            if (end < 2)
                b[n++] = (uint8_t)(word >> 8);
            if (end < 1)
                b[n++] = (uint8_t)word;
            have = 0;
            word = 0;
        }
    }
    if (have) {
        enum status s = error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid base64 end sequence");
        error_hint("Input data is missing padding, is truncated, or is otherwise corrupted.");
        return s;
    }
    *out = varlen_of(b, n);
    return STATUS_OK;
}
KERNEL2(k_binary_encode, TEXT, TEXT, TEXT, CHECK_ROW(encode(a, b, c->arena, &r)))
KERNEL2(k_binary_decode, TEXT, TEXT, TEXT, CHECK_ROW(decode(a, b, c->arena, &r)))
static enum status utf8_only(TEXT name)
{
    if (name_is(name, "utf8") || name_is(name, "utf-8") || name_is(name, "unicode"))
        return STATUS_OK;
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "encoding \"%.*s\" is not supported", (int)name.length, name.bytes);
}
KERNEL2(k_pg_convert_from, TEXT, TEXT, TEXT, CHECK_ROW(utf8_only(b)); CHECK_ROW(text_check_utf8(a.bytes, a.length)); r = a)
KERNEL2(k_pg_convert_to, TEXT, TEXT, TEXT, CHECK_ROW(utf8_only(b)); r = a)

/* ---- bytea ---- */

static TEXT bytes_part(TEXT v, int64_t from, int64_t count)
{
    int64_t end = count < 0 ? (int64_t)v.length + 1 : from + count;
    if (from < 1)
        from = 1;
    if (end > (int64_t)v.length + 1)
        end = (int64_t)v.length + 1;
    return end <= from ? varlen_of("", 0) : varlen_of(v.bytes + from - 1, (size_t)(end - from));
}
KERNEL3(k_bytea_substr, TEXT, int32_t, int32_t, TEXT, if (d < 0) FAIL(negative()); r = bytes_part(a, b, d))
KERNEL2(k_bytea_substr_no_len, TEXT, int32_t, TEXT, r = bytes_part(a, b, -1))
KERNEL2(k_byteapos, TEXT, TEXT, int32_t, const uint8_t *at = b.length ? text_find(a.bytes, a.length, b.bytes, b.length) : a.bytes; r = at ? (int32_t)(at - a.bytes) + 1 : 0)
static enum status byte_index(int64_t at, int64_t limit) { return error_set(STATUS_ARRAY_SUBSCRIPT, "index %lld out of valid range, 0..%lld", (long long)at, (long long)limit - 1); }
KERNEL2(k_byteaGetByte, TEXT, int32_t, int32_t, if (b < 0 || (uint32_t)b >= a.length) FAIL(byte_index(b, a.length)); r = a.bytes[b])
KERNEL3(k_byteaSetByte, TEXT, int32_t, int32_t, TEXT, if (b < 0 || (uint32_t)b >= a.length) FAIL(byte_index(b, a.length)); r = text_copy(c->arena, a.bytes, a.length); ((uint8_t *)(uintptr_t)r.bytes)[b] = (uint8_t)d)
KERNEL2(k_byteaGetBit, TEXT, int64_t, int32_t, if (b < 0 || b >= 8 * (int64_t)a.length) FAIL(byte_index(b, 8 * (int64_t)a.length)); r = a.bytes[b / 8] >> (b % 8) & 1)
KERNEL1(k_bytea_bit_count, TEXT, int64_t, r = 0; for (uint32_t k = 0; k < a.length; k++) r += __builtin_popcount(a.bytes[k]))

/* ---- casts between strings ---- */

KERNEL1(k_text_name, TEXT, TEXT, r = varlen_of(a.bytes, utf8_clip(a.bytes, a.length, 63)))
KERNEL1(k_bpchar_name, TEXT, TEXT, r = bpchar_trim(a); r.length = (uint32_t)utf8_clip(r.bytes, r.length, 63))
KERNEL1(k_name_text, TEXT, TEXT, r = a)
KERNEL1(k_name_bpchar, TEXT, TEXT, r = a)
KERNEL1(k_text_char, TEXT, int8_t, r = a.length ? (int8_t)a.bytes[0] : 0)
KERNEL1(k_char_text, int8_t, TEXT, r = text_copy(c->arena, &a, a ? 1 : 0))
KERNEL1(k_char_bpchar, int8_t, TEXT, r = text_copy(c->arena, &a, a ? 1 : 0))
KERNEL1(k_booltext, uint8_t, TEXT, r = a ? varlen_of("true", 4) : varlen_of("false", 5))
KERNEL2(k_nameconcatoid, TEXT, uint32_t, TEXT, char *t = arena_printf(c->arena, "%.*s_%u", (int)(a.length > 50 ? utf8_clip(a.bytes, a.length, 50) : a.length), a.bytes, b); r = varlen_of(t, strlen(t)))

/* ---- arrays and texts ---- */

static TEXT split(TEXT v, TEXT by, bool by_null, TEXT null_text, bool has_null_text, struct arena *arena)
{
    if (!v.length)
        return array_of(OID_TEXT, NULL, 0, arena);
    struct value *values = arena_array(arena, struct value, v.length + 2);
    uint32_t count = 0;
    const uint8_t *p = v.bytes, *end = p + v.length;
    for (;;) {
        const uint8_t *at = NULL, *next;
        if (by_null) {
            at = next = p + utf8_width(*p) < end ? p + utf8_width(*p) : end;
            if (at == end)
                at = NULL;
        } else {
            at = by.length ? text_find(p, (size_t)(end - p), by.bytes, by.length) : NULL;
            next = at ? at + by.length : end;
        }
        TEXT piece = varlen_of(p, (size_t)((at ? at : end) - p));
        values[count].null = has_null_text && piece.length == null_text.length && !memcmp(piece.bytes, null_text.bytes, piece.length);
        values[count++].v = piece;
        if (!at)
            break;
        p = next;
    }
    return array_of(OID_TEXT, values, count, arena);
}
enum status k_text_to_array(struct kernel_call *c)
{
    TEXT *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        if (vector_null(&c->args[0], i)) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = (TEXT){0};
            continue;
        }
        bool by_null = vector_null(&c->args[1], i), has_null_text = c->arg_count > 2 && !vector_null(&c->args[2], i);
        out[i] = split(VECTOR(TEXT, &c->args[0], i), by_null ? varlen_of("", 0) : VECTOR(TEXT, &c->args[1], i), by_null,
                       has_null_text ? VECTOR(TEXT, &c->args[2], i) : varlen_of("", 0), has_null_text, c->arena);
    }
    return STATUS_OK;
}
enum status k_text_to_array_null(struct kernel_call *c) { return k_text_to_array(c); }

enum status k_array_to_text_null(struct kernel_call *c)
{
    TEXT *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        if (vector_null(&c->args[0], i) || vector_null(&c->args[1], i)) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = (TEXT){0};
            continue;
        }
        TEXT by = VECTOR(TEXT, &c->args[1], i), null_text = {0};
        bool show_nulls = c->arg_count > 2 && !vector_null(&c->args[2], i);
        if (show_nulls)
            null_text = VECTOR(TEXT, &c->args[2], i);
        struct array_view view;
        array_open(VECTOR(TEXT, &c->args[0], i), &view);
        struct value *values = array_elements(&view, c->arena);
        struct text_buffer b;
        text_buffer_open(&b, c->arena);
        bool any = false;
        for (uint32_t k = 0; k < view.count; k++) {
            if (values[k].null && !show_nulls)
                continue;
            if (any)
                text_buffer_add(&b, by.bytes, by.length);
            any = true;
            if (values[k].null)
                text_buffer_add(&b, null_text.bytes, null_text.length);
            else
                value_print(view.type, &values[k], &b);
        }
        out[i] = varlen_of(b.bytes ? b.bytes : "", b.length);
    }
    return STATUS_OK;
}
enum status k_array_to_text(struct kernel_call *c) { return k_array_to_text_null(c); }

/* ---- unicode ---- */

static enum status normalize(TEXT v, TEXT form, struct arena *arena, TEXT *out)
{
    utf8proc_option_t options = UTF8PROC_STABLE;
    if (name_is(form, "NFC"))
        options |= UTF8PROC_COMPOSE;
    else if (name_is(form, "NFD"))
        options |= UTF8PROC_DECOMPOSE;
    else if (name_is(form, "NFKC"))
        options |= UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    else if (name_is(form, "NFKD"))
        options |= UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
    else
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid normalization form: %.*s", (int)form.length, form.bytes);
    if (ascii_only(v)) {
        *out = v;
        return STATUS_OK;
    }
    utf8proc_uint8_t *bytes = NULL;
    utf8proc_ssize_t n = utf8proc_map(v.bytes, v.length, &bytes, options);
    if (n < 0)
        return error_set(STATUS_INTERNAL, "normalization failed");
    *out = text_copy(arena, bytes, (size_t)n);
    free(bytes);
    return STATUS_OK;
}
KERNEL2(k_unicode_normalize_func, TEXT, TEXT, TEXT, CHECK_ROW(normalize(a, b, c->arena, &r)))
