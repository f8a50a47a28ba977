/* engine/types/text.c - what all strings share: UTF-8, lengths, the char(n) and varchar(n) rules; bytea and uuid as text.
 *
 * Text in the system is valid UTF-8 without NUL bytes: input checks it, so nothing else must. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "engine/types/internal.h"

enum status text_check_utf8(const uint8_t *p, size_t length)
{
    const uint8_t *end = p + length;
    while (end - p >= 8) {                                    /* eight ASCII bytes, none of them NUL, at once */
        uint64_t word;
        memcpy(&word, p, 8);
        if ((word & 0x8080808080808080u) || ((word - 0x0101010101010101u) & ~word & 0x8080808080808080u))
            break;
        p += 8;
    }
    while (p < end) {
        if (*p && *p < 0x80) {
            p++;
            continue;
        }
        unsigned width = *p >= 0xC2 && *p < 0xF5 ? utf8_width(*p) : 1;
        bool good = width > 1 && (size_t)(end - p) >= width;
        for (unsigned i = 1; good && i < width; i++)
            good = (p[i] & 0xC0) == 0x80;
        if (good && ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F)))
            good = false;
        if (!good) {
            char hex[32] = "";
            size_t show = *p < 0xC0 || *p >= 0xF8 ? 1 : utf8_width(*p);         /* as long as its first byte says, whatever comes */
            for (size_t i = 0; i < show && p + i < end; i++)
                snprintf(hex + strlen(hex), sizeof hex - strlen(hex), "%s0x%02x", i ? " " : "", p[i]);
            return error_set(STATUS_CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": %s", hex);
        }
        p += width;
    }
    return STATUS_OK;
}

size_t utf8_length(const uint8_t *p, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += (p[i] & 0xC0) != 0x80;
    return count;
}

size_t utf8_offset(const uint8_t *p, size_t bytes, size_t characters)
{
    size_t at = 0;
    while (characters-- && at < bytes)
        at += utf8_width(p[at]);
    return at < bytes ? at : bytes;
}

size_t utf8_clip(const uint8_t *p, size_t bytes, size_t most)
{
    if (bytes <= most)
        return bytes;
    while (most && (p[most] & 0xC0) == 0x80)
        most--;
    return most;
}

struct varlen bpchar_trim(struct varlen v)
{
    for (uint64_t word; v.length >= 8; v.length -= 8) {
        memcpy(&word, v.bytes + v.length - 8, 8);
        if (word != UINT64_C(0x2020202020202020))
            break;
    }
    while (v.length && v.bytes[v.length - 1] == ' ')
        v.length--;
    return v;
}

struct varlen text_copy(struct arena *arena, const void *bytes, size_t length)
{
    return (struct varlen){.bytes = arena_copy(arena, length ? bytes : "", length ? length : 1), .length = (uint32_t)length};
}

char *varlen_string(struct arena *arena, struct varlen v) { return arena_strndup(arena, (const char *)v.bytes, v.length); }

int varlen_compare(struct varlen a, struct varlen b)
{
    uint32_t n = a.length < b.length ? a.length : b.length;
    int c = n ? memcmp(a.bytes, b.bytes, n) : 0;
    return c ? (c > 0) - (c < 0) : (a.length > b.length) - (a.length < b.length);
}

enum status text_apply_typmod(uint32_t oid, int32_t typmod, bool explicit_cast, struct arena *arena, struct varlen *value)
{
    if (typmod < 4)
        return STATUS_OK;
    size_t most = (size_t)typmod - 4;
    if (oid == OID_VARCHAR && value->length <= most)
        return STATUS_OK;
    size_t characters = utf8_length(value->bytes, value->length);
    if (characters > most) {
        size_t keep = utf8_offset(value->bytes, value->length, most);
        if (!explicit_cast)
            for (size_t i = keep; i < value->length; i++)
                if (value->bytes[i] != ' ')
                    return error_set(STATUS_STRING_TOO_LONG, "value too long for type %s(%zu)", oid == OID_BPCHAR ? "character" : "character varying", most);
        value->length = (uint32_t)keep;
    } else if (oid == OID_BPCHAR && characters < most) {
        size_t length = value->length + (most - characters);
        uint8_t *bytes = arena_alloc(arena, length);
        memcpy(bytes, value->bytes, value->length);
        memset(bytes + value->length, ' ', most - characters);
        *value = varlen_of(bytes, length);
    }
    return STATUS_OK;
}

/* ---- bytea ---- */

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

enum status bytea_parse(const char *text, size_t length, struct arena *arena, struct varlen *out)
{
    uint8_t *bytes = arena_alloc(arena, length + 1);
    size_t n = 0;
    if (length >= 2 && text[0] == '\\' && text[1] == 'x') {
        for (size_t i = 2; i < length;) {
            if (text_is_space(text[i])) {
                i++;
                continue;
            }
            int high = hex_digit(text[i]);
            if (high < 0)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid hexadecimal digit: \"%.*s\"", (int)utf8_width((uint8_t)text[i]), text + i);
            if (++i >= length)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits");
            int low = hex_digit(text[i]);
            if (low < 0)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid hexadecimal digit: \"%.*s\"", (int)utf8_width((uint8_t)text[i]), text + i);
            i++;
            bytes[n++] = (uint8_t)(high << 4 | low);
        }
    } else
        for (size_t i = 0; i < length;) {
            if (text[i] != '\\')
                bytes[n++] = (uint8_t)text[i++];
            else if (i + 1 < length && text[i + 1] == '\\') {
                bytes[n++] = '\\';
                i += 2;
            } else if (i + 3 < length && text[i + 1] >= '0' && text[i + 1] <= '3' && text[i + 2] >= '0' && text[i + 2] <= '7' && text[i + 3] >= '0' && text[i + 3] <= '7') {
                bytes[n++] = (uint8_t)((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0'));
                i += 4;
            } else
                return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type %s", "bytea");
        }
    *out = varlen_of(bytes, n);
    return STATUS_OK;
}

void bytea_print(struct varlen v, struct text_buffer *out)
{
    static const char hex[] = "0123456789abcdef";
    if (type_env->bytea_output == 0) {
        text_buffer_puts(out, "\\x");
        for (uint32_t i = 0; i < v.length; i++) {
            char two[2] = {hex[v.bytes[i] >> 4], hex[v.bytes[i] & 15]};
            text_buffer_add(out, two, 2);
        }
        return;
    }
    for (uint32_t i = 0; i < v.length; i++)
        if (v.bytes[i] == '\\')
            text_buffer_puts(out, "\\\\");
        else if (v.bytes[i] < 0x20 || v.bytes[i] > 0x7e)
            text_buffer_printf(out, "\\%03o", v.bytes[i]);
        else
            text_buffer_putc(out, (char)v.bytes[i]);
}

/* ---- uuid ---- */

enum status uuid_parse(const char *text, size_t length, uint8_t out[16])
{
    const char *p = text, *end = text + length;
    bool braces = p < end && *p == '{';
    if (braces)
        p++;
    for (int i = 0; i < 16; i++) {
        int high = p < end ? hex_digit(*p) : -1, low = p + 1 < end ? hex_digit(p[1]) : -1;
        if (high < 0 || low < 0)
            goto bad;
        out[i] = (uint8_t)(high << 4 | low);
        p += 2;
        if (p < end && *p == '-' && i % 2 == 1 && i < 15)
            p++;
    }
    if (braces && (p >= end || *p++ != '}'))
        goto bad;
    if (p == end)
        return STATUS_OK;
bad:
    return error_set(STATUS_INVALID_TEXT, "invalid input syntax for type uuid: \"%.*s\"", (int)length, text);
}

void uuid_print(const uint8_t *b, struct text_buffer *out)
{
    static const char hex[] = "0123456789abcdef";
    char text[36], *p = text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[b[i] >> 4];
        *p++ = hex[b[i] & 15];
    }
    text_buffer_add(out, text, 36);
}
