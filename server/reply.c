/* server/reply.c - what a client is told: errors and notices, and the session's call-backs, which turn results into
 * messages.
 *
 * 1. Call-backs write to the wire's buffer and send it when it is full. A wait for a client that doesn't read (or, in
 *    COPY, doesn't write) ends when the statement is canceled; crab.engine_latch is let go around it. A failed call-back
 *    leaves whole messages in the buffer, so the error can follow them.
 * 2. A value is written once, in its place in the DataRow: types append to the wire's own buffer. */
#include "server/reply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATEMENT_INTERRUPTS ((unsigned)(INTERRUPT_CANCEL | INTERRUPT_TIMEOUT | INTERRUPT_TERMINATE))

/* ---- What the server says ---- */

static void field(struct wire *wire, char code, const char *text)
{
    if (text) {
        wire_byte(wire, (uint8_t)code);
        wire_string(wire, text);
    }
}

/* ErrorResponse and NoticeResponse differ in their first byte only. */
static void write_report(struct wire *wire, char type, const char *severity, const struct error *error, const char *query)
{
    wire_begin(wire, type);
    field(wire, 'S', severity);
    field(wire, 'V', severity);
    field(wire, 'C', error->sqlstate[0] ? error->sqlstate : status_sqlstate(error->status));
    field(wire, 'M', error->message ? error->message : status_text(error->status));
    field(wire, 'D', error->detail);
    field(wire, 'H', error->hint);
    if (error->position > 0) { /* counted in bytes by us, in characters by the protocol */
        char number[16];
        size_t position = (size_t)error->position;
        if (query)
            position = utf8_characters(query, position - 1) + 1;
        snprintf(number, sizeof(number), "%zu", position);
        field(wire, 'P', number);
    }
    field(wire, 'W', error->context);
    field(wire, 's', error->schema);
    field(wire, 't', error->table);
    field(wire, 'c', error->column);
    field(wire, 'd', error->datatype);
    field(wire, 'n', error->constraint);
    wire_byte(wire, 0);
    wire_end(wire);
}

static bool ends_connection(enum status status)
{
    switch (status) {
    case STATUS_ADMIN_SHUTDOWN:
    case STATUS_CONNECTION_FAILURE:
    case STATUS_IDLE_TRANSACTION_TIMEOUT:
    case STATUS_IDLE_SESSION_TIMEOUT: return true;
    default: return false;
    }
}

/* Tells the client what stands in the thread's error record. */
void reply_error(struct connection *connection)
{
    const struct error *error = error_current();
    bool fatal = connection->done || ends_connection(error->status);
    if (error->status == STATUS_CONNECTION_FAILURE)
        connection->wire.broken = true; /* nobody is there to be told */
    else
        write_report(&connection->wire, 'E', fatal ? "FATAL" : "ERROR", error, connection->query);
    if (fatal)
        connection->done = true;
    error_clear();
}

void reply_fatal(struct connection *connection)
{
    connection->done = true;
    reply_error(connection);
}

void connection_refuse(int fd, enum status status, const char *text)
{
    struct wire wire;
    wire_open(&wire, fd);
    error_set(status, "%s", text);
    write_report(&wire, 'E', "FATAL", error_current(), NULL);
    error_clear();
    wire_flush_try(&wire);
    wire_close(&wire);
    close(fd);
}

void reply_parameter_status(struct connection *connection, const char *name, const char *value)
{
    wire_begin(&connection->wire, 'S');
    wire_string(&connection->wire, name);
    wire_string(&connection->wire, value);
    wire_end(&connection->wire);
}

void reply_ready(struct connection *connection)
{
    wire_begin(&connection->wire, 'Z');
    wire_byte(&connection->wire, (uint8_t)session_transaction_state(connection->session));
    wire_end(&connection->wire);
    connection->idle = true;
    /* The next read sends it, if that has to wait. Where a client has sent more already, this query's answer still goes out
     * before the next one runs. */
    if (connection->wire.in_start != connection->wire.in_end)
        wire_flush_try(&connection->wire);
}

void reply_empty(struct connection *connection, char type)
{
    wire_begin(&connection->wire, type);
    wire_end(&connection->wire);
}

/* An interrupt came while the thread waited for its client: what that means for the statement. */
static enum status interrupted(void)
{
    unsigned bits = thread_interrupts();
    thread_interrupt_clear(INTERRUPT_CANCEL | INTERRUPT_TIMEOUT);
    if (bits & INTERRUPT_TERMINATE)
        return error_set(STATUS_ADMIN_SHUTDOWN, NULL);
    if (bits & INTERRUPT_TIMEOUT)
        return error_set(STATUS_CANCELED, "canceling statement due to statement timeout");
    return error_set(STATUS_CANCELED, NULL);
}

static enum status flush(struct connection *connection)
{
    engine_latch_leave();
    enum status status = wire_flush(&connection->wire, STATEMENT_INTERRUPTS);
    engine_latch_enter();
    return status == STATUS_STOP ? interrupted() : status;
}

static enum status flush_if_full(struct connection *connection)
{
    return connection->wire.out.length < WIRE_FULL_BYTES ? STATUS_OK : flush(connection);
}

/* ---- The session's call-backs (rule 1) ---- */

static uint16_t format_of(const uint16_t *formats, uint16_t count, uint16_t column)
{
    return count == 0 ? 0 : count == 1 ? formats[0] : formats[column];
}

void reply_description(struct wire *wire, const struct result_description *result, const uint16_t *formats,
                              uint16_t format_count)
{
    wire_begin(wire, 'T');
    wire_int16(wire, result->column_count);
    for (uint16_t i = 0; i < result->column_count; i++) {
        const struct type_info *info = type_info(result->types[i].oid);
        wire_string(wire, result->names[i]);
        wire_int32(wire, result->tables ? result->tables[i] : 0);
        wire_int16(wire, result->columns ? (uint16_t)result->columns[i] : 0);
        wire_int32(wire, result->types[i].oid);
        wire_int16(wire, (uint16_t)(info ? info->length : -1));
        wire_int32(wire, (uint32_t)result->types[i].typmod);
        wire_int16(wire, format_of(formats, format_count, i));
    }
    wire_end(wire);
}

static enum status say_describe(struct client *client, const struct result_description *result, const uint16_t *formats,
                                uint16_t format_count)
{
    struct connection *connection = client->context;
    reply_description(&connection->wire, result, formats, format_count);
    return STATUS_OK;
}

/* The two types that most rows are made of are written here; the others by engine/types. */
static void write_integer(struct wire *wire, int64_t value)
{
    char digits[24];
    size_t at = sizeof(digits);
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        digits[--at] = '-';
    wire_int32(wire, (uint32_t)(sizeof(digits) - at));
    wire_bytes(wire, digits + at, sizeof(digits) - at);
}

static void write_value(struct wire *wire, const struct sql_type *type, uint16_t format, const struct vector *vector, size_t row)
{
    size_t at = vector_at(vector, row);
    if (vector->nulls && vector->nulls[at]) {
        wire_int32(wire, UINT32_MAX);
        return;
    }
    if (format == 0) {
        switch (type->oid) {
        case OID_INT4: write_integer(wire, ((const int32_t *)vector->values)[at]); return;
        case OID_INT8: write_integer(wire, ((const int64_t *)vector->values)[at]); return;
        case OID_INT2: write_integer(wire, ((const int16_t *)vector->values)[at]); return;
        case OID_TEXT:
        case OID_VARCHAR: {
            const struct varlen *text = &((const struct varlen *)vector->values)[at];
            wire_int32(wire, text->length);
            wire_bytes(wire, text->bytes, text->length);
            return;
        }
        }
    }
    size_t length_at = wire->out.length;
    wire_int32(wire, 0);
    if (format == 0)
        type_out(*type, vector, at, &wire->out);
    else
        type_send(*type, vector, at, &wire->out);
    uint32_t length = __builtin_bswap32((uint32_t)(wire->out.length - length_at - 4));
    memcpy(wire->out.bytes + length_at, &length, 4);
}

static enum status say_rows(struct client *client, const struct result_description *result, const uint16_t *formats,
                            uint16_t format_count, const struct batch *batch)
{
    struct connection *connection = client->context;
    struct wire *wire = &connection->wire;
    uint16_t count = batch->all_selected ? batch->row_count : batch->selected_count;

    for (uint16_t n = 0; n < count; n++) {
        size_t row = batch->selection && !batch->all_selected ? batch->selection[n] : n;
        wire_begin(wire, 'D');
        wire_int16(wire, result->column_count);
        for (uint16_t column = 0; column < result->column_count; column++)
            write_value(wire, &result->types[column], format_of(formats, format_count, column), &batch->columns[column], row);
        if (wire->out.length - wire->message_at > WIRE_LARGE_MAX) {
            wire_cancel(wire);
            return error_set(STATUS_LIMIT_EXCEEDED, "row is too long for a message: the limit is %u bytes", WIRE_LARGE_MAX);
        }
        wire_end(wire);
        enum status status = flush_if_full(connection);
        if (status)
            return status;
    }
    return wire->broken ? error_set(STATUS_CONNECTION_FAILURE, "connection to client lost") : STATUS_OK;
}

static enum status say_complete(struct client *client, const char *tag)
{
    struct connection *connection = client->context;
    wire_begin(&connection->wire, 'C');
    wire_string(&connection->wire, tag);
    wire_end(&connection->wire);
    return flush_if_full(connection);
}

static enum status say_empty(struct client *client)
{
    reply_empty(client->context, 'I');
    return STATUS_OK;
}

static enum status say_suspended(struct client *client)
{
    reply_empty(client->context, 's');
    return STATUS_OK;
}

static void write_copy_response(struct wire *wire, char type, bool binary, uint16_t columns)
{
    wire_begin(wire, type);
    wire_byte(wire, binary);
    wire_int16(wire, columns);
    for (uint16_t i = 0; i < columns; i++)
        wire_int16(wire, binary);
    wire_end(wire);
}

static enum status say_copy_in(struct client *client, bool binary, uint16_t columns)
{
    struct connection *connection = client->context;
    write_copy_response(&connection->wire, 'G', binary, columns);
    return flush(connection);
}

/* The next piece of COPY data. Flush and Sync are passed over: client libraries send them without knowing that the
 * statement was a COPY. */
static enum status hear_copy(struct client *client, const uint8_t **bytes, size_t *length)
{
    struct connection *connection = client->context;
    struct message message;
    *bytes = NULL;
    *length = 0;
    for (;;) {
        engine_latch_leave();
        enum status status = wire_read(&connection->wire, 0, STATEMENT_INTERRUPTS, &message);
        engine_latch_enter();
        if (status == STATUS_STOP)
            return interrupted();
        if (status == STATUS_PROTOCOL_VIOLATION)
            connection->done = true;
        if (status == STATUS_CONNECTION_FAILURE)
            return error_set(status, "unexpected EOF on client connection with an open transaction");
        if (status)
            return status;
        switch (message.type) {
        case 'd':
            if (message.length == 0)
                continue;
            *bytes = message.bytes;
            *length = message.length;
            return STATUS_OK;
        case 'c': return STATUS_OK;
        case 'f': {
            const char *why = message_string(&message);
            return error_set(STATUS_CANCELED, "COPY from stdin failed: %s", why);
        }
        case 'H':
        case 'S': continue;
        case 'X':
            connection->done = true;
            return error_set(STATUS_CONNECTION_FAILURE, "unexpected EOF on client connection with an open transaction");
        default:
            return error_set(STATUS_PROTOCOL_VIOLATION, "unexpected message type 0x%02X during COPY from stdin", message.type);
        }
    }
}

static enum status say_copy_out(struct client *client, bool binary, uint16_t columns)
{
    struct connection *connection = client->context;
    write_copy_response(&connection->wire, 'H', binary, columns);
    return STATUS_OK;
}

static enum status say_copy_data(struct client *client, const void *bytes, size_t length)
{
    struct connection *connection = client->context;
    if (length > WIRE_LARGE_MAX)
        return error_set(STATUS_LIMIT_EXCEEDED, "row is too long for a message: the limit is %u bytes", WIRE_LARGE_MAX);
    wire_begin(&connection->wire, 'd');
    wire_bytes(&connection->wire, bytes, length);
    wire_end(&connection->wire);
    return flush_if_full(connection);
}

static enum status say_copy_done(struct client *client)
{
    reply_empty(client->context, 'c');
    return STATUS_OK;
}

static void say_notice(struct client *client, const char *severity, const struct error *error)
{
    struct connection *connection = client->context;
    write_report(&connection->wire, 'N', severity, error, connection->query);
}

static void say_statement_begin(struct client *client)
{
    connection_limit_begin(client->context);
}

static void say_parameter_status(struct client *client, const char *name, const char *value)
{
    reply_parameter_status(client->context, name, value);
}

void reply_client(struct client *client, struct connection *connection)
{
    *client = (struct client){
        .context = connection,
        .describe = say_describe,
        .rows = say_rows,
        .complete = say_complete,
        .empty = say_empty,
        .suspended = say_suspended,
        .copy_in = say_copy_in,
        .copy_read = hear_copy,
        .copy_out = say_copy_out,
        .copy_write = say_copy_data,
        .copy_done = say_copy_done,
        .notice = say_notice,
        .parameter_status = say_parameter_status,
        .statement_begin = say_statement_begin,
    };
}
