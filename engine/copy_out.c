/* engine/copy_out.c - COPY TO: rows as lines, or in the binary format. */
#include "engine/copy_private.h"
#include "parser/parser.h"

#include <errno.h>
#include <string.h>

const char binary_signature[11] = "PGCOPY\n\377\r\n";     /* its final NUL belongs to it */

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

enum status copy_to(struct session *session, const char *sql, const struct copy_statement *s, const struct copy_options *options, uint64_t *rows)
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
