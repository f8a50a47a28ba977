/* engine/copy_in.c - COPY FROM: records become rows of a batch, batches go to the table. */
#include "engine/copy_private.h"
#include "engine/types/number_text.h"
#include "engine/types/utf8.h"

#include <errno.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---------------------------------------------------------------- rows */

void batch_new(struct copy_in *in)
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

enum status batch_write(struct copy_in *in)
{
    in->batch.row_count = in->batch.selected_count = in->rows;
    in->batch.all_selected = true;
    uint16_t written;
    enum status status = row_writer_rows(in->writer, &in->batch, &written);
    if (!status) {
        in->copied += written;
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

static enum status batch_flush(struct copy_in *in)
{
    if (!in->rows || in->keeps)
        return STATUS_OK;
    enum status status = batch_write(in);
    if (!status)
        batch_new(in);
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
        if (!in->rows && in->helpers)
            return STATUS_OK;                                 /* a batch is whole: workers may read the next ones */
    }
}

enum status copy_in_lines(struct copy_in *in)
{
    bool header = in->options.header != HEADER_NO, more = true;
    while (more) {
        size_t start = 0, end = 0;
        enum status status;
        const bool plain = in->options.format == COPY_TEXT && in->line_end == LINE_END_NL && !in->marker && !header && in->column_count;
        if (plain && in->helpers && !in->rows && in->line && !in->source.ended && (status = copy_parallel(in)))
            return status;
        if (plain && !in->marker && (status = lines_plain(in)))
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

/* ---------------------------------------------------------------- binary */

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

/* ---------------------------------------------------------------- the statement */

enum status copy_from(struct session *session, const char *sql, const struct copy_statement *s, const struct copy_options *options, uint64_t *rows)
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
        in.helpers = copy_helpers(&in);
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
