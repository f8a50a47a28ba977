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
#include "engine/copy_private.h"

#include <string.h>
#include <strings.h>

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
enum status force_read(const struct option *option, const char *const *names, uint16_t count, const char *what, bool *out)
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

/* ---------------------------------------------------------------- columns */

enum status columns_read(struct arena *arena, const struct table *table, const struct name_list *list, uint16_t **out, uint16_t *count, const char ***names)
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
