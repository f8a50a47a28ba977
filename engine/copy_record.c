/* engine/copy_record.c - COPY's lines and fields.
 *
 * Lines end in \n, \r\n or \r, as the first one does; another line end in the data is an error, as in PostgreSQL: kept as data it would be a
 * mistake that nobody sees. */
#include "engine/copy_private.h"
#include "engine/types/utf8.h"

#include <string.h>

/* A record's bytes. What is wrong is shown as far as its first byte reaches, past the record's end, too. */
enum status record_encoding(const struct source *source, const uint8_t *bytes, size_t length)
{
    enum status status = text_check_utf8(bytes, length);
    return status ? text_check_utf8(bytes, (size_t)(source->bytes + source->length + source->behind - bytes)) : STATUS_OK;
}

/* A bare line end byte in a file whose lines end otherwise: kept as data it would be a mistake that nobody sees. */
static enum status stray_line_end(bool csv, uint8_t c)
{
    const char *name = c == '\r' ? "carriage return" : "newline";
    error_set(STATUS_BAD_COPY, "%s %s found in data", csv ? "unquoted" : "literal", name);
    if (csv)
        error_hint("Use quoted CSV field to represent %s.", name);
    else
        error_hint("Use \"\\%c\" to represent %s.", c == '\r' ? 'r' : 'n', name);
    return STATUS_BAD_COPY;
}

#define LOOK_AHEAD 4                                          /* the longest thing that begins with a \ or \r: \. and a line end */

/* The byte at i; NUL behind the end. */
static uint8_t byte_at(const struct source *source, size_t i) { return i < source->length ? source->bytes[i] : 0; }

/* A \n or \r at i ends a line, if lines of this file end so: *taken bytes of it. */
static enum status line_end_at(struct copy_in *in, size_t i, size_t *taken)
{
    const uint8_t c = in->source.bytes[i];
    const bool csv = in->options.format == COPY_CSV, both = c == '\r' && byte_at(&in->source, i + 1) == '\n';
    enum line_end met = c == '\n' ? LINE_END_NL : both && in->line_end != LINE_END_CR ? LINE_END_CRNL : LINE_END_CR;
    if (in->line_end == LINE_END_UNKNOWN)
        in->line_end = met;
    if (in->line_end != met)
        return stray_line_end(csv, c);
    *taken = met == LINE_END_CRNL ? 2 : 1;
    return STATUS_OK;
}

/* A \ at i with a dot behind it: the end of the data. In a csv file (*taken 0) only alone on its line, else it is data. */
static enum status end_marker_at(struct copy_in *in, size_t i, size_t *taken)
{
    const bool csv = in->options.format == COPY_CSV;
    uint8_t c = byte_at(&in->source, i + 2);
    bool matches = true;
    *taken = 0;
    if (in->line_end == LINE_END_CRNL) {
        if (c == '\r')
            c = byte_at(&in->source, i + 3);
        else
            matches = c != '\n';
    }
    if (!matches && csv)
        return STATUS_OK;
    if (c != '\n' && c != '\r')
        return csv ? STATUS_OK : error_set(STATUS_BAD_COPY, "end-of-copy marker corrupt");
    if (!matches || (in->line_end != LINE_END_UNKNOWN && (c == '\r') != (in->line_end == LINE_END_CR)))
        return error_set(STATUS_BAD_COPY, "end-of-copy marker does not match previous newline style");
    *taken = 2;
    return STATUS_OK;
}

/* Finds the end of the next record: [*start, *end) without its line end. False in *more: no record is left. A csv file's line ends in
 * quotes are data; in text a backslash takes the next byte along, whatever it is. */
enum status record_next(struct copy_in *in, size_t *start, size_t *end, bool *more)
{
    struct source *source = &in->source;
    const bool csv = in->options.format == COPY_CSV;
    const uint8_t quote = (uint8_t)in->options.quote, escape = in->options.escape == in->options.quote ? 0 : (uint8_t)in->options.escape;
    size_t scan = 0, taken = 0;                               /* scan: offset from source->at that is looked at already */
    bool quoted = false, escaped = false;
    enum status status;
    *more = !in->marker;
    while (*more) {
        size_t i = source->at + scan;
        for (; i < source->length && !taken; i++) {
            const uint8_t c = source->bytes[i];
            if ((c == '\\' || c == '\r') && source->length - i < LOOK_AHEAD && !source->ended)
                break;
            if (csv) {
                if (quoted && escape && c == escape)
                    escaped = !escaped;
                if (c == quote && !escaped)
                    quoted = !quoted;
                if (c != escape)
                    escaped = false;
                if (quoted) {
                    in->line += c == (in->line_end == LINE_END_NL ? '\n' : '\r');
                    continue;
                }
            }
            if (c == '\n' || c == '\r') {
                status = line_end_at(in, i, &taken);
                if (status)
                    return status;
            } else if (c == '\\' && byte_at(source, i + 1) == '.' && (!csv || i == source->at)) {
                status = end_marker_at(in, i, &taken);
                if (status)
                    return status;
                in->marker = taken > 0;
            } else if (c == '\\' && !csv && i + 1 < source->length) {
                i++;
            }
            if (taken)
                break;
        }
        *end = i;
        if (taken)
            break;
        if (source->ended) {
            *more = source->at < source->length;
            if (!quoted)
                break;
            in->context_line = (struct varlen){.bytes = source->bytes + source->at, .length = (uint32_t)(source->length - source->at)};
            return error_set(STATUS_BAD_COPY, "unterminated CSV quoted field");
        }
        scan = i - source->at;
        status = source_more(source);
        if (status)
            return status;
    }
    *start = source->at;
    if (in->marker && *more)
        *more = *end > *start;
    if (!*more)
        return STATUS_OK;
    source->at = *end + taken;
    return record_encoding(source, source->bytes + *start, *end - *start);
}

static uint8_t hex_digit(uint8_t c) { return (uint8_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); }
static bool is_hex(uint8_t c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
static bool is_octal(uint8_t c) { return c >= '0' && c <= '7'; }

enum status too_many(void) { return error_set(STATUS_BAD_COPY, "extra data after last expected column"); }

/* Cuts a text record into fields; escaped ones are written to the arena. */
enum status fields_text(struct copy_in *in, const uint8_t *p, const uint8_t *end, uint16_t *count)
{
    const uint8_t delimiter = (uint8_t)in->options.delimiter;
    *count = 0;
    for (;;) {
        const uint8_t *start = p;
        while (p < end && *p != delimiter && *p != '\\')
            p++;
        if (*count == in->column_count)
            return too_many();
        struct field *field = &in->fields[(*count)++];
        if (p == end || *p == delimiter) {                    /* nothing escaped: points into the record */
            *field = (struct field){.bytes = start, .length = (uint32_t)(p - start), .null = (size_t)(p - start) == in->options.null_length && !memcmp(start, in->options.null, in->options.null_length)};
        } else {
            const uint8_t *q = p;
            while (q < end && *q != delimiter)
                q += *q == '\\' && q + 1 < end ? 2 : 1;
            size_t raw = (size_t)(q - start);
            if (raw == in->options.null_length && !memcmp(start, in->options.null, raw)) {
                *field = (struct field){.null = true};
                p = q;
            } else {
                uint8_t *out = arena_alloc(in->arena, raw + 1), *o = out;
                bool high = false;
                for (p = start; p < q;) {
                    uint8_t c = *p++;
                    if (c == '\\') {
                        if (p == q)                           /* the file's last byte */
                            break;
                        c = *p++;
                        switch (c) {
                        case 'b': c = '\b'; break;
                        case 'f': c = '\f'; break;
                        case 'n': c = '\n'; break;
                        case 'r': c = '\r'; break;
                        case 't': c = '\t'; break;
                        case 'v': c = '\v'; break;
                        case 'x':
                            if (p < q && is_hex(*p)) {
                                c = hex_digit(*p++);
                                if (p < q && is_hex(*p))
                                    c = (uint8_t)(c << 4 | hex_digit(*p++));
                                high = high || c >= 0x80 || c == 0;
                            }
                            break;
                        default:
                            if (is_octal(c)) {
                                c = (uint8_t)(c - '0');
                                for (int k = 0; k < 2 && p < q && is_octal(*p); k++)
                                    c = (uint8_t)(c << 3 | (*p++ - '0'));
                                high = high || c >= 0x80 || c == 0;
                            }
                        }
                    }
                    *o++ = c;
                }
                *field = (struct field){.bytes = out, .length = (uint32_t)(o - out)};
                if (high) {
                    enum status status = text_check_utf8(out, (size_t)(o - out));
                    if (status)
                        return status;
                }
            }
        }
        if (p >= end)
            return STATUS_OK;
        p++;                                                  /* the delimiter */
        if (p == end) {                                       /* an empty last field */
            if (*count == in->column_count)
                return too_many();
            in->fields[(*count)++] = (struct field){.bytes = p, .null = in->options.null_length == 0};
            return STATUS_OK;
        }
    }
}

enum status fields_csv(struct copy_in *in, const uint8_t *p, const uint8_t *end, uint16_t *count)
{
    const uint8_t delimiter = (uint8_t)in->options.delimiter, quote = (uint8_t)in->options.quote, escape = (uint8_t)in->options.escape;
    uint8_t *o = NULL;                                        /* where rewritten fields go: none gets longer */
    *count = 0;
    for (;;) {
        if (*count == in->column_count)
            return too_many();
        uint16_t c = (*count)++;
        struct field *field = &in->fields[c];
        const uint8_t *start = p;
        while (p < end && *p != delimiter && *p != quote)
            p++;
        bool saw_quote = false;
        if (p == end || *p == delimiter) {
            *field = (struct field){.bytes = start, .length = (uint32_t)(p - start)};
        } else {
            const uint8_t *q = p;                             /* quotes somewhere: rewrite */
            if (!o)
                o = arena_alloc(in->arena, (size_t)(end - start) + 1);
            uint8_t *out = o;
            bool inside = false;
            for (q = start; q < end && (inside || *q != delimiter); q++) {
                if (inside && *q == escape && q + 1 < end && (q[1] == escape || q[1] == quote)) {
                    *o++ = *++q;
                } else if (*q == quote) {
                    inside = !inside;
                    saw_quote = true;
                } else {
                    *o++ = *q;
                }
            }
            *field = (struct field){.bytes = out, .length = (uint32_t)(o - out)};
            p = q;
        }
        bool matches = field->length == in->options.null_length && !memcmp(field->bytes, in->options.null, field->length);
        field->null = matches && ((!saw_quote && !in->force_not_null[c]) || (in->force_null[c] && (saw_quote || !in->force_not_null[c])));
        if (p >= end)
            return STATUS_OK;
        p++;
        if (p == end) {
            if (*count == in->column_count)
                return too_many();
            c = (*count)++;
            in->fields[c] = (struct field){.bytes = p, .null = in->options.null_length == 0 && !in->force_not_null[c]};
            return STATUS_OK;
        }
    }
}

