/* engine/copy.c - COPY: rows in and out as text, csv or PostgreSQL's binary format.
 *
 *   in:   client or file -> source_more -> record (one line) -> fields -> type_in -> batch of rows -> WHERE -> row_writer
 *         plain text records, 16 bytes at a step -> fields -> plain_value ----------/
 *   out:  plan -> batch -> type_out -> escaped line -> client or file
 *
 * Rules
 * 1. A record is cut out of the input buffer before its fields are looked at; csv quotes may hold line ends. The buffer
 *    grows to the longest record; there is no other cap but 1 GiB a field. Texts of a batch point into the buffer, which stays until the batch is
 *    written: at BATCH_ROWS rows, or after BATCH_BYTES of them.
 * 2. Every error while a record is read carries PostgreSQL's context: COPY t, line n[, column c: "value"].
 * 3. Nothing is visible unless the whole COPY succeeds: it is one statement of one transaction. */
#include "engine/session_private.h"
#include "engine/types/number_text.h"
#include "engine/types/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum copy_format { COPY_TEXT, COPY_CSV, COPY_BINARY };
enum copy_header { HEADER_NO, HEADER_YES, HEADER_MATCH };

struct copy_options {
    enum copy_format format;
    enum copy_header header;
    char delimiter, quote, escape;
    const char *null; size_t null_length;
    bool freeze;
    const struct option *force_quote, *force_not_null, *force_null;
};

/* ---------------------------------------------------------------- options */

static enum status one_byte(const struct option *option, const char *what, char *out)
{
    if (!option->text || strlen(option->text) != 1)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY %s must be a single one-byte character", what);
    *out = option->text[0];
    return STATUS_OK;
}

static enum status option_flag(const struct option *option, bool *out)
{
    const char *text = option->text;
    if (option->kind == OPTION_NONE || !strcasecmp(text, "true") || !strcasecmp(text, "on") || !strcmp(text, "1"))
        *out = true;
    else if (!strcasecmp(text, "false") || !strcasecmp(text, "off") || !strcmp(text, "0"))
        *out = false;
    else
        return error_set(STATUS_SYNTAX, "%s requires a Boolean value", option->name);
    return STATUS_OK;
}

static enum status option_read(const struct copy_statement *s, const struct option *option, struct copy_options *out, bool *null_said)
{
    bool flag;
    enum status status;
    if (!strcmp(option->name, "format"))
        return STATUS_OK;                                     /* read before */
    if (!strcmp(option->name, "header")) {
        if (option->text && !strcasecmp(option->text, "match")) {
            if (!s->is_from)
                return error_set(STATUS_INVALID_PARAMETER_VALUE, "cannot use \"match\" with HEADER in COPY TO");
            out->header = HEADER_MATCH;
            return STATUS_OK;
        }
        status = option_flag(option, &flag);
        out->header = flag ? HEADER_YES : HEADER_NO;
        return status;
    }
    if (!strcmp(option->name, "delimiter"))
        return one_byte(option, "delimiter", &out->delimiter);
    if (!strcmp(option->name, "quote"))
        return out->format == COPY_CSV ? one_byte(option, "quote", &out->quote) : error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY quote available only in CSV mode");
    if (!strcmp(option->name, "escape"))
        return out->format == COPY_CSV ? one_byte(option, "escape", &out->escape) : error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY escape available only in CSV mode");
    if (!strcmp(option->name, "null")) {
        *null_said = true;
        out->null = option->text ? option->text : "";
        if (strchr(out->null, '\n') || strchr(out->null, '\r'))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY null representation cannot use newline or carriage return");
        return STATUS_OK;
    }
    if (!strcmp(option->name, "freeze"))
        return option_flag(option, &out->freeze);
    if (!strcmp(option->name, "encoding")) {
        if (option->text && strcasecmp(option->text, "utf8") && strcasecmp(option->text, "utf-8") && strcasecmp(option->text, "unicode") && strcasecmp(option->text, "sql_ascii"))
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY with ENCODING '%s' is not supported", option->text);
        return STATUS_OK;
    }
    const struct option **list = !strcmp(option->name, "force_quote") ? &out->force_quote : !strcmp(option->name, "force_not_null") ? &out->force_not_null : !strcmp(option->name, "force_null") ? &out->force_null : NULL;
    if (list) {
        if (out->format != COPY_CSV)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY %s available only in CSV mode", option->name);
        *list = option;
        return STATUS_OK;
    }
    error_set(STATUS_SYNTAX, "option \"%s\" not recognized", option->name);
    error_position(option->position);
    return STATUS_SYNTAX;
}

static enum status options_read(const struct copy_statement *s, struct copy_options *out)
{
    *out = (struct copy_options){.quote = '"'};
    bool null_said = false;
    for (int i = 0; i < s->options.count; i++) {
        const struct option *option = s->options.items[i];
        for (int j = 0; j < i; j++)
            if (!strcmp(s->options.items[j]->name, option->name)) {
                error_set(STATUS_SYNTAX, "conflicting or redundant options");
                error_position(option->position);
                return STATUS_SYNTAX;
            }
        if (strcmp(option->name, "format"))
            continue;
        const char *format = option->text ? option->text : "";
        if (!strcasecmp(format, "text"))
            out->format = COPY_TEXT;
        else if (!strcasecmp(format, "csv"))
            out->format = COPY_CSV;
        else if (!strcasecmp(format, "binary"))
            out->format = COPY_BINARY;
        else {
            error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY format \"%s\" not recognized", format);
            error_position(option->position);
            return STATUS_INVALID_PARAMETER_VALUE;
        }
    }
    out->delimiter = out->format == COPY_CSV ? ',' : '\t';
    out->null = out->format == COPY_CSV ? "" : "\\N";
    for (int i = 0; i < s->options.count; i++) {
        enum status status = option_read(s, s->options.items[i], out, &null_said);
        if (status)
            return status;
    }
    if (!out->escape)
        out->escape = out->quote;
    out->null_length = strlen(out->null);
    if (out->format == COPY_BINARY) {
        if (out->header)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot specify HEADER in BINARY mode");
        if (null_said)
            return error_set(STATUS_SYNTAX, "cannot specify NULL in BINARY mode");
    } else {
        if (out->delimiter == '\n' || out->delimiter == '\r')
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY delimiter cannot be newline or carriage return");
        if (out->format == COPY_TEXT && strchr("\\.abcdefghijklmnopqrstuvwxyz0123456789", out->delimiter))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY delimiter cannot be \"%c\"", out->delimiter);
        if (out->format == COPY_CSV && out->delimiter == out->quote)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY delimiter and quote must be different");
        if (strchr(out->null, out->delimiter))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY delimiter character must not appear in the NULL specification");
        if (out->format == COPY_CSV && strchr(out->null, out->quote))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "CSV quote character must not appear in the NULL specification");
    }
    if (!s->is_from && out->freeze)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "COPY freeze only available using COPY FROM");
    return STATUS_OK;
}

/* Marks the columns that a FORCE_… option lists. */
static enum status force_read(const struct option *option, const char *const *names, uint16_t count, const char *what, bool *out)
{
    if (!option)
        return STATUS_OK;
    if (option->kind == OPTION_STAR) {
        memset(out, 1, count);
        return STATUS_OK;
    }
    for (int i = 0; i < option->names.count; i++) {
        uint16_t c = 0;
        while (c < count && strcmp(names[c], option->names.items[i]))
            c++;
        if (c == count)
            return error_set(STATUS_INVALID_COLUMN_REFERENCE, "%s column \"%s\" not referenced by COPY", what, option->names.items[i]);
        out[c] = true;
    }
    return STATUS_OK;
}

/* ---------------------------------------------------------------- in: the source */

struct source_buffer { struct source_buffer *next; size_t capacity; uint8_t bytes[]; };
struct source {
    struct client *client; FILE *file;
    uint8_t *bytes; size_t length, at, capacity;              /* not yet used: bytes[at .. length) */
    struct source_buffer *buffer, *old, *spare;               /* bytes' own; those that rows of the batch still point into; one for later */
    bool ended;
    bool discard;                                             /* what still comes is read and thrown away */
};
#define SOURCE_BYTES 262144
#define BATCH_BYTES  (4u << 20)
#define SOURCE_SLACK 16                                       /* whole words may be read past the end */

/* Room for `count` more bytes behind those not yet used. Bytes never move while rows point at them: what isn't used goes to another buffer. */
static enum status source_room(struct source *source, size_t count)
{
    if (source->length + count <= source->capacity)
        return STATUS_OK;
    size_t left = source->length - source->at, capacity = SOURCE_BYTES;
    while (capacity < 2 * left || capacity < left + count)
        capacity *= 2;
    if (capacity > (size_t)2 << 30)
        return error_set(STATUS_LIMIT_EXCEEDED, "a COPY row is longer than 1 GiB");
    struct source_buffer *buffer = capacity == SOURCE_BYTES ? source->spare : NULL;
    if (buffer) {
        source->spare = NULL;
    } else {
        buffer = malloc(sizeof *buffer + capacity + SOURCE_SLACK);
        if (!buffer)
            return error_set(STATUS_OUT_OF_MEMORY, NULL);
        buffer->capacity = capacity;
        memset(buffer->bytes + capacity, 0, SOURCE_SLACK);
    }
    if (left)
        memcpy(buffer->bytes, source->bytes + source->at, left);
    if (source->buffer) {
        source->buffer->next = source->old;
        source->old = source->buffer;
    }
    source->buffer = buffer;
    source->bytes = buffer->bytes;
    source->capacity = capacity;
    source->length = left;
    source->at = 0;
    return STATUS_OK;
}

/* No row points into older buffers any more. */
static void source_forget(struct source *source)
{
    while (source->old) {
        struct source_buffer *buffer = source->old;
        source->old = buffer->next;
        if (buffer->capacity == SOURCE_BYTES && !source->spare)
            source->spare = buffer;
        else
            free(buffer);
    }
}

static void source_close(struct source *source)
{
    source_forget(source);
    free(source->spare);
    free(source->buffer);
    if (source->file)
        fclose(source->file);
}

/* More bytes behind those not yet used. */
static enum status source_more(struct source *source)
{
    if (source->ended)
        return STATUS_OK;
    const uint8_t *piece = NULL;
    size_t count = 0;
    uint8_t from_file[65536];
    if (source->file) {
        count = fread(from_file, 1, sizeof from_file, source->file);
        if (ferror(source->file))
            return error_set(STATUS_IO, "could not read from COPY file: %s", strerror(errno));
        piece = from_file;
    } else {
        enum status read = source->client->copy_read(source->client, &piece, &count);
        if (read)
            return read;
    }
    if (count == 0) {
        source->ended = true;
        return STATUS_OK;
    }
    if (source->discard)
        return STATUS_OK;
    enum status status = source_room(source, count);
    if (status)
        return status;
    memcpy(source->bytes + source->length, piece, count);
    source->length += count;
    return STATUS_OK;
}

/* ---------------------------------------------------------------- in: records and fields */

struct field { const uint8_t *bytes; uint32_t length; bool null; };
enum line_end { LINE_END_UNKNOWN, LINE_END_NL, LINE_END_CR, LINE_END_CRNL };

struct copy_in {
    struct session *session;
    const struct table *table;
    struct copy_options options;
    struct source source;
    uint16_t column_count; uint16_t *columns;                 /* table columns (attnum - 1) in file order */
    const char **names;
    bool *force_not_null, *force_null;
    struct scalar **defaults;                                 /* by table column, for those not in the file; NULL: null */
    struct field *fields;
    uint64_t line;                                            /* of the record under way, from 1 */
    enum line_end line_end;                                   /* as the first line's */
    bool marker;                                              /* the end marker was met: no record comes behind */
    const char *context_column; struct field context_field;
    struct varlen context_line;                               /* the record under way, or {NULL, 0} */
    uint64_t *row_lines; struct varlen *row_texts;            /* of the batch's rows, for errors met when it is written */
    enum { VALUE_ANY, VALUE_INT2, VALUE_INT4, VALUE_INT8, VALUE_FLOAT8, VALUE_TEXT } *forms;   /* by field: how its value is read */
    struct arena *arena;                                      /* of the batch */
    struct batch batch;
    uint16_t rows; size_t bytes;                              /* of the batch; bytes: of its records */
    uint64_t copied;                                          /* rows that were written */
    struct row_writer *writer;
};

/* A record's bytes. What is wrong is shown as far as its first byte reaches, past the record's end, too. */
static enum status record_encoding(const struct source *source, const uint8_t *bytes, size_t length)
{
    enum status status = text_check_utf8(bytes, length);
    return status ? text_check_utf8(bytes, (size_t)(source->bytes + source->length - bytes)) : STATUS_OK;
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
static enum status record_next(struct copy_in *in, size_t *start, size_t *end, bool *more)
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

static enum status too_many(void) { return error_set(STATUS_BAD_COPY, "extra data after last expected column"); }

/* Cuts a text record into fields; escaped ones are written to the arena. */
static enum status fields_text(struct copy_in *in, const uint8_t *p, const uint8_t *end, uint16_t *count)
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

static enum status fields_csv(struct copy_in *in, const uint8_t *p, const uint8_t *end, uint16_t *count)
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

/* ---------------------------------------------------------------- in: rows */

static void batch_new(struct copy_in *in)
{
    arena_reset(in->arena);
    source_forget(&in->source);
    const struct table *table = in->table;
    in->rows = 0;
    in->bytes = 0;
    in->row_lines = arena_alloc(in->arena, BATCH_ROWS * sizeof *in->row_lines);
    in->row_texts = arena_alloc(in->arena, BATCH_ROWS * sizeof *in->row_texts);
    in->batch = (struct batch){.column_count = table->column_count, .columns = arena_array(in->arena, struct vector, table->column_count)};
    for (uint16_t c = 0; c < table->column_count; c++) {
        uint8_t width = table->columns[c].type.width;
        in->batch.columns[c] = (struct vector){.width = width, .values = arena_zero(in->arena, (size_t)BATCH_ROWS * (width ? width : sizeof(struct varlen))), .nulls = arena_zero(in->arena, BATCH_ROWS)};
    }
}

static enum status batch_flush(struct copy_in *in)
{
    if (!in->rows)
        return STATUS_OK;
    in->batch.row_count = in->batch.selected_count = in->rows;
    in->batch.all_selected = true;
    uint16_t written;
    enum status status = row_writer_rows(in->writer, &in->batch, &written);
    if (!status) {
        in->copied += written;
        batch_new(in);
        return STATUS_OK;
    }
    bool before;
    int row = row_writer_failed_row(in->writer, &before);
    in->context_line = (struct varlen){0};
    if (row >= 0) {
        in->line = in->row_lines[row];
        if (before)                                           /* PostgreSQL shows the line of a row that it hasn't buffered yet */
            in->context_line = in->row_texts[row];
    }
    return status;
}

static enum status row_defaults(struct copy_in *in)
{
    for (uint16_t c = 0; c < in->table->column_count; c++) {
        bool given = false;
        for (uint16_t i = 0; i < in->column_count && !given; i++)
            given = in->columns[i] == c;
        if (given)
            continue;
        struct value value = {.null = true};
        if (in->defaults[c] && !in->table->columns[c].dropped) {
            enum status status = exec_scalar(in->session, in->defaults[c], NULL, in->arena, &value);
            if (status)
                return status;
        }
        value_put(in->table->columns[c].type, &value, &in->batch.columns[c], in->rows);
    }
    return STATUS_OK;
}

/* Digits and nothing else, few enough not to overflow 64 bits. */
static inline bool plain_int(const struct field *field, int64_t *out)
{
    const uint8_t *p = field->bytes, *end = p + field->length;
    bool negative = p < end && *p == '-';
    uint64_t v = 0;
    p += negative;
    if (p == end || end - p > 18)
        return false;
    for (; p < end; p++) {
        uint8_t digit = (uint8_t)(*p - '0');
        if (digit > 9)
            return false;
        v = v * 10 + digit;
    }
    *out = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

/* A value of the common types in the common form, straight into its vector. False: type_in sees to it, and to what is wrong with it. */
static inline bool plain_value(struct copy_in *in, uint16_t i, const struct field *field, struct vector *v)
{
    int64_t n;
    switch (in->forms[i]) {
    case VALUE_INT8:
        if (!plain_int(field, &n))
            return false;
        ((int64_t *)v->values)[in->rows] = n;
        return true;
    case VALUE_INT4:
        if (!plain_int(field, &n) || n != (int32_t)n)
            return false;
        ((int32_t *)v->values)[in->rows] = (int32_t)n;
        return true;
    case VALUE_INT2:
        if (!plain_int(field, &n) || n != (int16_t)n)
            return false;
        ((int16_t *)v->values)[in->rows] = (int16_t)n;
        return true;
    case VALUE_FLOAT8:
        return float8_parse((const char *)field->bytes, field->length, (double *)v->values + in->rows) == STATUS_OK;
    case VALUE_TEXT:                                          /* its record was found to be UTF-8; the bytes stay where they are */
        ((struct varlen *)v->values)[in->rows] = (struct varlen){.bytes = field->bytes, .length = field->length};
        return true;
    default:
        return false;
    }
}

static void forms_choose(struct copy_in *in, struct arena *arena)
{
    in->forms = arena_zero(arena, sizeof *in->forms * (in->column_count + 1u));
    for (uint16_t i = 0; i < in->column_count; i++) {
        struct sql_type type = in->table->columns[in->columns[i]].type;
        switch (type.oid) {
        case OID_INT2: in->forms[i] = VALUE_INT2; break;
        case OID_INT4: in->forms[i] = VALUE_INT4; break;
        case OID_INT8: in->forms[i] = VALUE_INT8; break;
        case OID_FLOAT8: in->forms[i] = VALUE_FLOAT8; break;
        case OID_TEXT: in->forms[i] = VALUE_TEXT; break;
        case OID_VARCHAR: in->forms[i] = type.typmod < 0 ? VALUE_TEXT : VALUE_ANY; break;
        default: break;
        }
    }
}

/* The batch has one more row, of a record so long. */
static enum status row_done(struct copy_in *in, struct varlen record, size_t bytes)
{
    in->row_lines[in->rows] = in->line;
    in->row_texts[in->rows] = record;
    in->bytes += bytes;
    return ++in->rows == BATCH_ROWS || in->bytes >= BATCH_BYTES ? batch_flush(in) : STATUS_OK;
}

/* A row of so many fields; that some are missing is said when those there are read. */
static inline enum status row_put(struct copy_in *in, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        uint16_t c = in->columns[i];
        struct field *field = &in->fields[i];
        if (field->null) {
            in->batch.columns[c].nulls[in->rows] = 1;
            continue;
        }
        if (plain_value(in, i, field, &in->batch.columns[c]))
            continue;
        struct value value = {0};
        in->context_column = in->names[i];
        in->context_field = *field;
        enum status status = type_in(in->table->columns[c].type, (const char *)field->bytes, field->length, in->arena, &value);
        if (status)
            return status;
        value_put(in->table->columns[c].type, &value, &in->batch.columns[c], in->rows);
    }
    in->context_column = NULL;
    if (count < in->column_count)
        return error_set(STATUS_BAD_COPY, "missing data for column \"%s\"", in->names[count]);
    if (in->column_count < in->table->column_count) {
        enum status status = row_defaults(in);
        if (status)
            return status;
    }
    return row_done(in, in->context_line, in->context_line.length);
}

#define CONTEXT_BYTES 100
static void add_shown(struct text_buffer *out, const uint8_t *bytes, uint32_t length)
{
    text_buffer_puts(out, ": \"");
    text_buffer_add(out, bytes, utf8_clip(bytes, length, CONTEXT_BYTES));
    text_buffer_puts(out, length > CONTEXT_BYTES ? "...\"" : "\"");
}

static void row_context(struct copy_in *in)
{
    struct text_buffer text;
    text_buffer_open(&text, in->session->statement_arena);
    text_buffer_printf(&text, "COPY %s, line %llu", in->table->name, (unsigned long long)in->line);
    if (in->context_column) {
        text_buffer_printf(&text, ", column %s", in->context_column);
        add_shown(&text, in->context_field.bytes, in->context_field.length);
    } else if (in->context_line.bytes) {
        add_shown(&text, in->context_line.bytes, in->context_line.length);
    }
    error_context("%s", text.bytes);
}

static enum status header_check(struct copy_in *in, const uint8_t *start, const uint8_t *end)
{
    if (in->options.header != HEADER_MATCH)
        return STATUS_OK;
    uint16_t count;
    enum status status = in->options.format == COPY_CSV ? fields_csv(in, start, end, &count) : fields_text(in, start, end, &count);
    if (!status && count != in->column_count)
        status = error_set(STATUS_BAD_COPY, "wrong number of fields in header line: got %d, expected %d", count, in->column_count);
    for (uint16_t i = 0; !status && i < count; i++)
        if (in->fields[i].length != strlen(in->names[i]) || memcmp(in->fields[i].bytes, in->names[i], in->fields[i].length))
            status = error_set(STATUS_BAD_COPY, "column name mismatch in header line field %d: got \"%.*s\", expected \"%s\"", i + 1, (int)in->fields[i].length, (const char *)in->fields[i].bytes, in->names[i]);
    return status;
}

/* The first byte from p on that isn't plain data: the delimiter, a line's end, a backslash, NUL. *high: bytes before it aren't all ASCII. */
static inline const uint8_t *plain_end(const uint8_t *p, const uint8_t *end, uint8_t delimiter, bool *high)
{
#ifdef __SSE2__
    const __m128i d = _mm_set1_epi8((char)delimiter), n = _mm_set1_epi8('\n'), r = _mm_set1_epi8('\r'), b = _mm_set1_epi8('\\'), z = _mm_setzero_si128();
    for (; p < end; p += 16) {                                /* SOURCE_SLACK bytes may be read past the end */
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, n)), _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, r), _mm_cmpeq_epi8(v, b)), _mm_cmpeq_epi8(v, z)));
        unsigned hits = (unsigned)_mm_movemask_epi8(hit), above = (unsigned)_mm_movemask_epi8(v);
        if (hits) {
            unsigned at = (unsigned)__builtin_ctz(hits);
            *high |= (above & ((1u << at) - 1)) != 0;
            return p + at < end ? p + at : end;
        }
        *high |= above != 0;
    }
    return end;
#else
    for (; p < end && *p != delimiter && *p != '\n' && *p != '\r' && *p != '\\' && *p != 0; p++)
        *high |= *p >= 0x80;
    return p;
#endif
}

/* Text records as most of them are: whole in the buffer, without escapes but \N, as many fields as columns, and a line feed. Stops before the first
 * other one. */
static enum status lines_plain(struct copy_in *in)
{
    const uint8_t delimiter = (uint8_t)in->options.delimiter;
    const bool usual_null = in->options.null_length == 2 && !memcmp(in->options.null, "\\N", 2);
    for (;;) {
        struct source *source = &in->source;
        const uint8_t *start = source->bytes + source->at, *end = source->bytes + source->length, *p = start;
        bool high = false;
        for (uint16_t i = 0; i < in->column_count; i++) {
            const uint8_t wanted = i + 1 < in->column_count ? delimiter : (uint8_t)'\n', *stop = plain_end(p, end, delimiter, &high);
            bool null = usual_null && stop == p && end - p > 2 && p[0] == '\\' && p[1] == 'N';
            if (null)
                stop += 2;
            if (stop == end || *stop != wanted)
                return STATUS_OK;
            size_t length = (size_t)(stop - p);
            if (!usual_null)
                null = length == in->options.null_length && !memcmp(p, in->options.null, length);
            in->fields[i] = (struct field){.bytes = p, .length = (uint32_t)length, .null = null};
            p = stop + 1;
        }
        in->line++;
        in->context_line = (struct varlen){0};
        source->at += (size_t)(p - start);
        enum status status = high ? record_encoding(source, start, (size_t)(p - 1 - start)) : STATUS_OK;
        if (status)
            return status;
        in->context_line = (struct varlen){.bytes = start, .length = (uint32_t)(p - 1 - start)};
        status = row_put(in, in->column_count);
        if (status)
            return status;
    }
}

static enum status copy_in_lines(struct copy_in *in)
{
    bool header = in->options.header != HEADER_NO, more = true;
    while (more) {
        size_t start = 0, end = 0;
        enum status status;
        if (in->options.format == COPY_TEXT && in->line_end == LINE_END_NL && !in->marker && !header && in->column_count && (status = lines_plain(in)))
            return status;
        in->line++;
        in->context_line = (struct varlen){0};
        status = record_next(in, &start, &end, &more);
        if (status)
            return status;
        if (!more)
            break;                                            /* behind an end marker what still comes is thrown away (copy_from) */
        const uint8_t *bytes = in->source.bytes + start;
        size_t length = end - start;
        in->context_line = (struct varlen){.bytes = bytes, .length = (uint32_t)length};
        if (header) {
            header = false;
            status = header_check(in, bytes, bytes + length);
            if (status)
                return status;
            continue;
        }
        uint16_t count;
        if (in->column_count == 0) {
            count = 0;
            if (length)
                return too_many();
        } else {
            status = in->options.format == COPY_CSV ? fields_csv(in, bytes, bytes + length, &count) : fields_text(in, bytes, bytes + length, &count);
            if (status)
                return status;
        }
        status = row_put(in, count);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* ---------------------------------------------------------------- in: binary */

static const char binary_signature[11] = "PGCOPY\n\377\r\n";     /* its final NUL belongs to it */

static enum status source_need(struct source *source, size_t count, bool *ended)
{
    *ended = false;
    while (source->length - source->at < count) {
        if (source->ended) {
            *ended = true;
            return STATUS_OK;
        }
        enum status status = source_more(source);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status binary_take(struct source *source, size_t count, const uint8_t **out)
{
    bool ended;
    enum status status = source_need(source, count, &ended);
    if (!status && ended)
        status = error_set(STATUS_BAD_COPY, "unexpected EOF in COPY data");
    if (status)
        return status;
    *out = count ? source->bytes + source->at : (const uint8_t *)"";
    source->at += count;
    return STATUS_OK;
}

static int32_t big_32(const uint8_t *p) { return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]); }

static enum status copy_in_binary(struct copy_in *in)
{
    const uint8_t *p;
    enum status status = binary_take(&in->source, 19, &p);
    if (status && status != STATUS_BAD_COPY)
        return status;
    if (status || memcmp(p, binary_signature, 11))
        return error_set(STATUS_BAD_COPY, "COPY file signature not recognized");
    int32_t extension = big_32(p + 15);
    if (extension < 0)
        return error_set(STATUS_BAD_COPY, "invalid COPY file header (missing length)");
    status = binary_take(&in->source, (size_t)extension, &p);
    while (!status) {
        in->line++;
        bool ended;
        status = source_need(&in->source, 2, &ended);
        if (status || ended)
            return status ? status : error_set(STATUS_BAD_COPY, "unexpected EOF in COPY data");
        p = in->source.bytes + in->source.at;
        in->source.at += 2;
        int count = (int16_t)(p[0] << 8 | p[1]);
        if (count == -1)
            return STATUS_OK;
        if (count != in->column_count)
            return error_set(STATUS_BAD_COPY, "row field count is %d, expected %d", count, in->column_count);
        size_t bytes = 0;
        for (uint16_t i = 0; !status && i < in->column_count; i++) {
            const struct column *column = &in->table->columns[in->columns[i]];
            status = binary_take(&in->source, 4, &p);
            if (status)
                return status;
            int32_t length = big_32(p);
            struct value value = {.null = length == -1};
            if (length < -1)
                return error_set(STATUS_BAD_COPY, "invalid field size");
            in->context_column = NULL;
            if (length >= 0) {
                status = binary_take(&in->source, (size_t)length, &p);
                if (status)
                    return status;
                p = (const uint8_t *)arena_strndup(in->arena, (const char *)p, (size_t)length);
                bytes += (size_t)length;
                status = type_receive(column->type, p, (size_t)length, in->arena, &value);
            }
            if (!status)
                value_put(column->type, &value, &in->batch.columns[in->columns[i]], in->rows);
        }
        if (!status && in->column_count < in->table->column_count)
            status = row_defaults(in);
        if (!status)
            status = row_done(in, (struct varlen){0}, bytes);
    }
    return status;
}

/* ---------------------------------------------------------------- columns */

static enum status columns_read(struct arena *arena, const struct table *table, const struct name_list *list, uint16_t **out, uint16_t *count, const char ***names)
{
    *out = arena_array(arena, uint16_t, table->column_count + 1);
    *names = arena_array(arena, const char *, table->column_count + 1);
    *count = 0;
    if (list->count == 0) {
        for (uint16_t c = 0; c < table->column_count; c++)
            if (!table->columns[c].dropped && !table->columns[c].generated) {
                (*names)[*count] = table->columns[c].name;
                (*out)[(*count)++] = c;
            }
        return STATUS_OK;
    }
    for (int i = 0; i < list->count; i++) {
        int c = table_column(table, list->items[i]);
        if (c < 0)
            return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", list->items[i], table->name);
        if (table->columns[c].generated) {
            error_set(STATUS_INVALID_COLUMN_REFERENCE, "column \"%s\" is a generated column", list->items[i]);
            error_detail("Generated columns cannot be used in COPY.");
            return STATUS_INVALID_COLUMN_REFERENCE;
        }
        for (uint16_t j = 0; j < *count; j++)
            if ((*out)[j] == c)
                return error_set(STATUS_DUPLICATE_COLUMN, "column \"%s\" specified more than once", list->items[i]);
        (*names)[*count] = table->columns[c].name;
        (*out)[(*count)++] = (uint16_t)c;
    }
    return STATUS_OK;
}

static enum status copy_from(struct session *session, const char *sql, const struct copy_statement *s, const struct copy_options *options, uint64_t *rows)
{
    struct arena *arena = session->statement_arena;
    const struct table *table;
    struct relation_name name = *s->relation;
    name.position = 0;                                        /* PostgreSQL draws no caret here */
    enum status status = catalog_open(session, &name, LOCK_ROW_EXCLUSIVE, &table);
    if (status)
        return status;
    if (table->kind != RELATION_TABLE || table->virtual_table)
        return error_set(STATUS_WRONG_OBJECT_TYPE, "cannot copy to %s \"%s\"", table->kind == RELATION_VIEW ? "view" : table->kind == RELATION_SEQUENCE ? "sequence" : "relation", table->name);
    struct scalar *where = NULL;
    if (s->where && (status = bind_expression(session, arena, sql, s->where, table, type_make(OID_BOOL, -1), "COPY FROM WHERE condition", &where)))
        return status;
    if (txn_read_only(session->txn))
        return error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute COPY FROM in a read-only transaction");
    struct copy_in in = {.session = session, .table = table, .options = *options, .source = {.client = session->client}};
    status = columns_read(arena, table, &s->columns, &in.columns, &in.column_count, &in.names);
    if (status)
        return status;
    in.fields = arena_array(arena, struct field, in.column_count + 1);
    in.force_not_null = arena_zero(arena, in.column_count + 1u);
    in.force_null = arena_zero(arena, in.column_count + 1u);
    status = force_read(options->force_not_null, in.names, in.column_count, "FORCE_NOT_NULL", in.force_not_null);
    if (!status)
        status = force_read(options->force_null, in.names, in.column_count, "FORCE_NULL", in.force_null);
    struct table_writes *writes = NULL;
    if (!status)
        status = bind_table_writes(session, arena, table, &writes);
    if (status)
        return status;
    in.defaults = writes->defaults;
    if (s->file) {
        in.source.file = fopen(s->file, "rb");
        if (!in.source.file) {
            status = error_set(errno == ENOENT ? STATUS_UNDEFINED_FILE : STATUS_IO, "could not open file \"%s\" for reading: %s", s->file, strerror(errno));
            error_hint("COPY FROM instructs the PostgreSQL server process to read a file. You may want a client-side facility such as psql's \\copy.");
            return status;
        }
    } else {
        status = session->client->copy_in(session->client, options->format == COPY_BINARY, in.column_count);
        if (status)
            return status;
    }
    forms_choose(&in, arena);
    in.arena = arena_open(arena, "copy batch");
    batch_new(&in);
    status = row_writer_open(session, arena, table, where, &in.writer);
    if (!status) {
        status = options->format == COPY_BINARY ? copy_in_binary(&in) : copy_in_lines(&in);
        if (!status) {
            in.context_column = NULL;
            status = batch_flush(&in);
        }
        if (status && error_current()->status != STATUS_CONNECTION_FAILURE)
            row_context(&in);
        struct error kept = {0};
        if (status)
            error_save(&kept);
        enum status closed = row_writer_close(in.writer);
        if (status)
            error_restore(&kept);
        else
            status = closed;
    }
    if (!status && !in.source.file)                           /* read what the client still sends, up to CopyDone */
        for (in.source.discard = true; !status && !in.source.ended;)
            status = source_more(&in.source);
    source_close(&in.source);
    *rows = in.copied;
    return status;
}

/* ---------------------------------------------------------------- out */

struct copy_out {
    struct result_sink sink;
    struct session *session;
    struct copy_options options;
    const struct prepared_plan *plan;
    const char **names; bool *force_quote;
    FILE *file;
    bool header;                         /* of a binary COPY: still in `line` */
    struct arena *arena;
    struct text_buffer line, value;
};

static enum status line_send(struct copy_out *out)
{
    if (out->file) {
        if (fwrite(out->line.bytes, 1, out->line.length, out->file) != out->line.length)
            return error_set(errno == ENOSPC ? STATUS_DISK_FULL : STATUS_IO, "could not write to COPY file: %s", strerror(errno));
        return STATUS_OK;
    }
    return out->session->client->copy_write(out->session->client, out->line.bytes, out->line.length);
}

static void put_text(struct copy_out *out)
{
    struct text_buffer *line = &out->line;
    const char *start = out->value.bytes, *end = start + out->value.length;
    for (const char *p = start; p < end; p++) {
        char c = *p, escaped;
        switch (c) {
        case '\b': escaped = 'b'; break;
        case '\f': escaped = 'f'; break;
        case '\n': escaped = 'n'; break;
        case '\r': escaped = 'r'; break;
        case '\t': escaped = 't'; break;
        case '\v': escaped = 'v'; break;
        case '\\': escaped = '\\'; break;
        default:
            if (c != out->options.delimiter)
                continue;
            escaped = c;
        }
        text_buffer_add(line, start, (size_t)(p - start));
        text_buffer_putc(line, '\\');
        text_buffer_putc(line, escaped);
        start = p + 1;
    }
    text_buffer_add(line, start, (size_t)(end - start));
}

static void put_csv(struct copy_out *out, const char *bytes, size_t length, bool force, bool alone)
{
    struct text_buffer *line = &out->line;
    bool quote = force || (length == out->options.null_length && !memcmp(bytes, out->options.null, length)) || (alone && length == 2 && !memcmp(bytes, "\\.", 2));
    for (size_t i = 0; !quote && i < length; i++)
        quote = bytes[i] == out->options.delimiter || bytes[i] == out->options.quote || bytes[i] == '\n' || bytes[i] == '\r';
    if (!quote) {
        text_buffer_add(line, bytes, length);
        return;
    }
    text_buffer_putc(line, out->options.quote);
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == out->options.quote || bytes[i] == out->options.escape)
            text_buffer_putc(line, out->options.escape);
        text_buffer_putc(line, bytes[i]);
    }
    text_buffer_putc(line, out->options.quote);
}

static void put_big(struct text_buffer *buffer, uint32_t number, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        text_buffer_putc(buffer, (char)(number >> shift));
}

static enum status copy_out_batch(struct result_sink *sink, const struct batch *batch)
{
    struct copy_out *out = (struct copy_out *)sink;
    uint16_t columns = out->plan->root->column_count;
    const struct sql_type *types = out->plan->root->types;
    enum status status = STATUS_OK;
    for (uint16_t n = 0; !status && n < batch->selected_count; n++) {
        size_t at = batch->all_selected ? n : batch->selection[n];
        if (!out->header)
            out->line.length = 0;
        out->header = false;
        if (out->options.format == COPY_BINARY)
            put_big(&out->line, columns, 2);
        for (uint16_t c = 0; c < columns; c++) {
            const struct vector *v = &batch->columns[c];
            bool null = vector_null(v, at);
            out->value.length = 0;
            if (out->options.format == COPY_BINARY) {
                if (null) {
                    put_big(&out->line, UINT32_MAX, 4);
                } else {
                    type_send(types[c], v, at, &out->value);
                    put_big(&out->line, (uint32_t)out->value.length, 4);
                    text_buffer_add(&out->line, out->value.bytes, out->value.length);
                }
                continue;
            }
            if (c)
                text_buffer_putc(&out->line, out->options.delimiter);
            if (null) {
                text_buffer_add(&out->line, out->options.null, out->options.null_length);
                continue;
            }
            type_out(types[c], v, at, &out->value);
            if (out->options.format == COPY_CSV)
                put_csv(out, out->value.length ? out->value.bytes : "", out->value.length, out->force_quote[c], columns == 1);
            else if (out->value.length)
                put_text(out);
        }
        if (out->options.format != COPY_BINARY)
            text_buffer_putc(&out->line, '\n');
        status = line_send(out);
    }
    return status;
}

static enum status copy_to(struct session *session, const char *sql, const struct copy_statement *s, const struct copy_options *options, uint64_t *rows)
{
    struct arena *arena = session->statement_arena;
    const struct statement *query = s->query;
    enum status status;
    if (s->relation) {                                        /* COPY t TO: as SELECT its columns FROM t */
        const struct table *table;
        struct relation_name name = *s->relation;
        name.position = 0;
        status = catalog_open(session, &name, LOCK_ACCESS_SHARE, &table);
        if (status)
            return status;
        if (table->kind == RELATION_VIEW) {
            error_set(STATUS_WRONG_OBJECT_TYPE, "cannot copy from view \"%s\"", table->name);
            error_hint("Try the COPY (SELECT ...) TO variant.");
            return STATUS_WRONG_OBJECT_TYPE;
        }
        uint16_t *columns, count;
        const char **names;
        status = columns_read(arena, table, &s->columns, &columns, &count, &names);
        if (status)
            return status;
        struct text_buffer text;
        text_buffer_open(&text, arena);
        text_buffer_puts(&text, "SELECT ");
        for (uint16_t i = 0; i < count; i++)
            text_buffer_printf(&text, "%s%s", i ? ", " : "", quote_identifier(arena, names[i]));
        text_buffer_printf(&text, " FROM %s.%s", quote_identifier(arena, table->schema_name), quote_identifier(arena, table->name));
        struct statement_list list;
        status = parse_sql(arena, text.bytes, text.length, &list);
        if (status)
            return status;
        query = list.items[0];
        sql = text.bytes;
    }
    struct plan_request request = {.session = session, .arena = arena, .sql = sql, .statement = query};   /* no parameters */
    struct prepared_plan *plan;
    status = plan_statement(&request, &plan);
    if (status)
        return status;
    if (!plan->returns_rows)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY query must have a RETURNING clause");
    struct copy_out out = {.sink.batch = copy_out_batch, .session = session, .options = *options, .plan = plan, .names = plan->root->names};
    out.force_quote = arena_zero(arena, plan->root->column_count + 1u);
    status = force_read(options->force_quote, out.names, plan->root->column_count, "FORCE_QUOTE", (bool *)out.force_quote);
    if (status)
        return status;
    if (s->file) {
        if (s->file[0] != '/')
            return error_set(STATUS_INVALID_NAME, "relative path not allowed for COPY to file");
        out.file = fopen(s->file, "wb");
        if (!out.file)
            return error_set(STATUS_IO, "could not open file \"%s\" for writing: %s", s->file, strerror(errno));
    } else {
        status = session->client->copy_out(session->client, options->format == COPY_BINARY, plan->root->column_count);
    }
    text_buffer_open(&out.line, arena);
    text_buffer_open(&out.value, arena);
    if (!status && options->format == COPY_BINARY) {
        text_buffer_add(&out.line, binary_signature, 11);
        put_big(&out.line, 0, 4);
        put_big(&out.line, 0, 4);
        out.header = true;                                    /* goes out with the first row, or the trailer: drivers expect it there */
    }
    if (!status && options->header) {
        out.line.length = 0;
        for (uint16_t c = 0; c < plan->root->column_count; c++) {
            if (c)
                text_buffer_putc(&out.line, options->delimiter);
            if (options->format == COPY_CSV) {
                put_csv(&out, out.names[c], strlen(out.names[c]), false, plan->root->column_count == 1);
            } else {
                out.value.length = 0;
                text_buffer_puts(&out.value, out.names[c]);
                put_text(&out);
            }
        }
        text_buffer_putc(&out.line, '\n');
        status = line_send(&out);
    }
    if (!status)
        status = statement_snapshot(session);
    if (!status) {
        struct exec_request run = {.session = session, .plan = plan, .snapshot = &session->snapshot, .sink = &out.sink};
        status = exec_run(&run);
        *rows = run.rows_affected;
    }
    if (!status && options->format == COPY_BINARY) {
        if (!out.header)
            out.line.length = 0;
        put_big(&out.line, 0xFFFF, 2);
        status = line_send(&out);
    }
    if (out.file && fclose(out.file) && !status)
        status = error_set(STATUS_IO, "could not close file \"%s\": %s", s->file, strerror(errno));
    if (!status && !out.file)
        status = session->client->copy_done(session->client);
    return status;
}

enum status copy_run(struct session *session, const char *sql, const struct copy_statement *s, const char **tag)
{
    if (s->is_program)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "COPY PROGRAM is not supported");
    struct copy_options options;
    uint64_t rows = 0;
    enum status status = options_read(s, &options);
    if (!status)
        status = s->is_from ? copy_from(session, sql, s, &options, &rows) : copy_to(session, sql, s, &options, &rows);
    *tag = arena_printf(session->statement_arena, "COPY %llu", (unsigned long long)rows);
    return status;
}
