/* server/connection.c - one client: its thread, from the first byte to the last.
 *
 *     startup --> ready <--------------------------------------------+
 *                  | read a message                                  |
 *                  +-- Query: run, answer, ReadyForQuery ------------+
 *                  +-- Parse, Bind, Describe, Execute, Close --------+
 *                  |     failed: skip everything until Sync          |
 *                  +-- Sync: end the implicit transaction, Ready ----+
 *                  +-- Terminate, end of file, FATAL: end
 *
 * 1. What is wrong inside a message that is itself whole is an ERROR, and the connection goes on. Where the stream is
 *    lost (a length or a type that cannot be) it is FATAL, and the connection ends.
 * 2. The session speaks through the call-backs of server/reply.c.
 * 3. Interrupts are looked at where the thread waits: TERMINATE always; CANCEL and TIMEOUT only while a statement runs.
 *    One that comes between two messages belongs to no statement and is dropped.
 * 4. A client that is gone makes the wire `broken`; everything then runs to its next call-back or read, and ends. One that goes
 *    while a statement runs is seen by the loop (server/server.c, rule 6). */
#include "server/connection.h"

#include "server/auth.h"
#include "server/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STARTUP_SECONDS 60

/* ---- Startup ---- */

/* Reported before the first ReadyForQuery. The value given here is for what the engine has no setting for. */
static const struct {
    const char *name, *otherwise;
} reported[] = {
    {"application_name", ""},
    {"client_encoding", "UTF8"},
    {"DateStyle", "ISO, MDY"},
    {"default_transaction_read_only", "off"},
    {"in_hot_standby", "off"},
    {"integer_datetimes", "on"},
    {"IntervalStyle", "postgres"},
    {"is_superuser", "on"},
    {"server_encoding", "UTF8"},
    {"server_version", REPORTED_VERSION},
    {"session_authorization", "postgres"},
    {"standard_conforming_strings", "on"},
    {"TimeZone", "UTC"},
};

static void report_settings(struct connection *connection)
{
    for (size_t i = 0; i < sizeof(reported) / sizeof(reported[0]); i++) {
        const char *value, *name;
        if (settings_show(connection->session, reported[i].name, connection->message_arena, &value, &name)) {
            error_clear();
            value = reported[i].otherwise;
        }
        reply_parameter_status(connection, reported[i].name, value);
    }
}

/* Which protocol options were not understood, and that 3.0 is the newest version we speak. */
static void negotiate_version(struct connection *connection, const struct startup *startup)
{
    wire_begin(&connection->wire, 'v');
    wire_int32(&connection->wire, 3 << 16);
    wire_int32(&connection->wire, startup->unknown_count);
    for (uint16_t i = 0; i < startup->unknown_count; i++)
        wire_string(&connection->wire, startup->unknown[i]);
    wire_end(&connection->wire);
}

static enum status open_session(struct connection *connection, const struct startup *startup)
{
    enum status status = server_enter_session(connection->server, connection);
    if (status == STATUS_OK)
        status = auth_check(startup);
    if (status)
        return status;

    reply_client(&connection->client, connection);
    struct session_options options = {
        .engine = server_engine(connection->server),
        .client = &connection->client,
        .pid = connection->pid,
        .user = startup->user,
        .database = startup->database,
        .application_name = startup->application_name ? startup->application_name : "",
        .client_address = connection->peer,
    };
    status = session_open(&options, &connection->session);
    if (status) {
        connection->session = NULL;
        return status;
    }
    if (startup->version != 3 << 16 || startup->unknown_count)
        negotiate_version(connection, startup);
    wire_begin(&connection->wire, 'R');
    wire_int32(&connection->wire, 0); /* AuthenticationOk */
    wire_end(&connection->wire);

    for (uint16_t i = 0; i < startup->option_count; i++) {
        status = settings_set(connection->session, startup->options[i].name, startup->options[i].value, SETTING_SESSION);
        if (status)
            return status;
    }
    report_settings(connection);
    uint32_t secret = session_secret(connection->session);
    server_set_secret(connection->server, connection, secret);
    wire_begin(&connection->wire, 'K');
    wire_int32(&connection->wire, (uint32_t)connection->pid);
    wire_int32(&connection->wire, secret);
    wire_end(&connection->wire);
    reply_ready(connection);
    return STATUS_OK;
}

/* True when a session is open. Encryption requests are refused with one byte, each kind once or twice at most: a client
 * then goes on in the clear. */
static bool start_up(struct connection *connection)
{
    uint64_t deadline = now_us() + STARTUP_SECONDS * 1000000ULL;
    struct startup startup;
    struct message message;

    for (int requests = 0;; requests++) {
        enum status status = wire_read_startup(&connection->wire, deadline, INTERRUPT_TERMINATE, &message);
        if (status == STATUS_STOP)
            status = error_set(STATUS_CANNOT_CONNECT_NOW, NULL);
        if (status == STATUS_WOULD_BLOCK)
            status = error_set(STATUS_CONNECTION_FAILURE, "no startup packet in %d seconds", STARTUP_SECONDS);
        if (!status)
            status = startup_parse(&message, connection->arena, &startup);
        if (!status && startup.kind == STARTUP_ENCRYPTION) {
            if (requests >= 2) {
                status = error_set(STATUS_PROTOCOL_VIOLATION, "too many requests for encryption");
            } else {
                wire_byte(&connection->wire, 'N');
                continue;
            }
        }
        if (!status && startup.kind == STARTUP_CANCEL) {
            server_cancel(connection->server, startup.cancel_pid, startup.cancel_secret);
            return false;
        }
        if (!status)
            status = open_session(connection, &startup);
        if (status) {
            reply_fatal(connection);
            return false;
        }
        return true;
    }
}

/* ---- Messages ---- */

static enum status handle_query(struct connection *connection, struct message *message)
{
    const char *text = message_string(message);
    enum status status = message_end(message);
    if (!status)
        status = utf8_check(text, message->length - 1);
    if (status)
        return status;
    /* A COPY in it reads more messages, into the buffer that this one lies in. */
    text = arena_copy(connection->message_arena, text, message->length);
    connection->query = text;
    connection->session_knows = true;
    return session_query(connection->session, text, message->length - 1);
}

static enum status handle_parse(struct connection *connection, struct message *message)
{
    const char *name = message_string(message);
    const char *text = message_string(message);
    uint16_t count = message_int16(message);
    const uint8_t *bytes = message_bytes(message, (size_t)count * 4);
    enum status status = message_end(message);
    size_t length = strlen(text);
    if (!status)
        status = utf8_check(text, length);
    if (status)
        return status;
    uint32_t *types = arena_array(connection->message_arena, uint32_t, count + 1);
    for (uint16_t i = 0; i < count; i++)
        types[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    connection->query = text;
    connection->session_knows = true;
    status = session_parse(connection->session, name, text, length, types, count);
    if (!status)
        reply_empty(connection, '1');
    return status;
}

static enum status take_formats(struct connection *connection, struct message *message, uint16_t *count, const uint16_t **formats)
{
    *count = message_int16(message);
    const uint8_t *bytes = message_bytes(message, (size_t)*count * 2);
    *formats = NULL;
    if (!bytes) {
        *count = 0;
        return STATUS_OK; /* message_end() will say that it is bad */
    }
    uint16_t *taken = arena_array(connection->message_arena, uint16_t, *count + 1);
    for (uint16_t i = 0; i < *count; i++) {
        taken[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
        if (taken[i] > 1)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "unsupported format code: %d", (int16_t)taken[i]);
    }
    *formats = taken;
    return STATUS_OK;
}

static enum status handle_bind(struct connection *connection, struct message *message)
{
    struct bind_values values = {0};
    const char *portal = message_string(message);
    const char *statement = message_string(message);
    enum status status = take_formats(connection, message, &values.format_count, &values.formats);
    if (status)
        return status;
    values.count = message_int16(message);
    if (!message->bad && values.format_count > 1 && values.format_count != values.count)
        return error_set(STATUS_PROTOCOL_VIOLATION, "bind message has %d parameter formats but %d parameters",
                         values.format_count, values.count);
    const uint8_t **bytes = arena_array(connection->message_arena, const uint8_t *, values.count + 1);
    int32_t *lengths = arena_array(connection->message_arena, int32_t, values.count + 1);
    for (uint16_t i = 0; i < values.count && !message->bad; i++) {
        lengths[i] = (int32_t)message_int32(message);
        if (lengths[i] == -1)
            continue;
        if (lengths[i] < 0)
            message->bad = true;
        else
            bytes[i] = message_bytes(message, (size_t)lengths[i]);
        bool binary = values.format_count == 0 ? false : values.formats[values.format_count == 1 ? 0 : i] == 1;
        if (!message->bad && !binary) {
            status = utf8_check(bytes[i], (size_t)lengths[i]);
            if (status)
                return status;
        }
    }
    values.bytes = bytes;
    values.lengths = lengths;
    status = take_formats(connection, message, &values.result_format_count, &values.result_formats);
    if (!status)
        status = message_end(message);
    if (status)
        return status;
    connection->session_knows = true;
    status = session_bind(connection->session, portal, statement, &values);
    if (!status)
        reply_empty(connection, '2');
    return status;
}

static enum status handle_describe(struct connection *connection, struct message *message)
{
    struct wire *wire = &connection->wire;
    uint8_t kind = message_byte(message);
    const char *name = message_string(message);
    struct result_description result = {0};
    const uint16_t *formats = NULL;
    uint16_t format_count = 0;
    bool returns_rows = false;
    enum status status = message_end(message);
    if (status)
        return status;
    if (kind == 'S') {
        const uint32_t *types = NULL;
        uint16_t count = 0;
        connection->session_knows = true;
        status = session_describe_statement(connection->session, name, &types, &count, &result, &returns_rows);
        if (status)
            return status;
        wire_begin(wire, 't');
        wire_int16(wire, count);
        for (uint16_t i = 0; i < count; i++)
            wire_int32(wire, types[i]);
        wire_end(wire);
    } else if (kind == 'P') {
        connection->session_knows = true;
        status = session_describe_portal(connection->session, name, &result, &formats, &format_count, &returns_rows);
        if (status)
            return status;
    } else {
        return error_set(STATUS_PROTOCOL_VIOLATION, "invalid DESCRIBE message subtype %d", kind);
    }
    if (returns_rows)
        reply_description(wire, &result, formats, format_count);
    else
        reply_empty(connection, 'n');
    return STATUS_OK;
}

static enum status handle_execute(struct connection *connection, struct message *message)
{
    const char *portal = message_string(message);
    int32_t most = (int32_t)message_int32(message);
    enum status status = message_end(message);
    if (status)
        return status;
    portal = arena_strdup(connection->message_arena, portal); /* COPY, as in handle_query() */
    connection->session_knows = true;
    return session_execute(connection->session, portal, most > 0 ? (uint64_t)most : 0);
}

static enum status handle_close(struct connection *connection, struct message *message)
{
    uint8_t kind = message_byte(message);
    const char *name = message_string(message);
    enum status status = message_end(message);
    if (status)
        return status;
    connection->session_knows = kind == 'S' || kind == 'P';
    if (kind == 'S')
        status = session_close_statement(connection->session, name);
    else if (kind == 'P')
        status = session_close_portal(connection->session, name);
    else
        return error_set(STATUS_PROTOCOL_VIOLATION, "invalid CLOSE message subtype %d", kind);
    if (!status)
        reply_empty(connection, '3');
    return status;
}

/* The time limit of what runs now starts anew: with a message, and with each statement of a query string, which an earlier
 * statement of it (SET) may have given another limit. */
void connection_limit_begin(struct connection *connection)
{
    int64_t limit_ms = session_settings(connection->session)->statement_timeout_ms;
    if (connection->limited)
        server_statement_end(connection->server, connection);
    connection->limited = limit_ms > 0;
    if (connection->limited)
        server_statement_begin(connection->server, connection, now_us() + (uint64_t)limit_ms * 1000);
}

/* Runs a message under the statement's time limit, with the interrupts of before it dropped (rule 3). */
static enum status run_message(struct connection *connection, struct message *message,
                               enum status (*handle)(struct connection *, struct message *))
{
    thread_interrupt_clear(~(unsigned)INTERRUPT_TERMINATE);
    connection->session_knows = false;
    connection_limit_begin(connection);
    enum status status = handle(connection, message);
    if (connection->limited)
        server_statement_end(connection->server, connection);
    connection->limited = false;
    ASSERT(latch_held_count() == 0);
    return status;
}

/* An error that the session did not raise still fails its transaction. */
static void message_failed(struct connection *connection)
{
    reply_error(connection);
    if (!connection->session_knows)
        session_failed(connection->session);
}

static void extended(struct connection *connection, struct message *message,
                     enum status (*handle)(struct connection *, struct message *))
{
    if (connection->skip_until_sync)
        return;
    if (run_message(connection, message, handle)) {
        message_failed(connection);
        connection->skip_until_sync = true;
    }
}

static void sync_message(struct connection *connection)
{
    connection->skip_until_sync = false;
    if (session_sync(connection->session))
        reply_error(connection);
    if (!connection->done)
        reply_ready(connection);
}

static void handle_message(struct connection *connection, struct message *message)
{
    switch (message->type) {
    case 'Q':
        if (connection->skip_until_sync)
            break;
        if (run_message(connection, message, handle_query))
            message_failed(connection);
        if (!connection->done)
            reply_ready(connection);
        break;
    case 'P': extended(connection, message, handle_parse); break;
    case 'B': extended(connection, message, handle_bind); break;
    case 'D': extended(connection, message, handle_describe); break;
    case 'E': extended(connection, message, handle_execute); break;
    case 'C': extended(connection, message, handle_close); break;
    case 'S': sync_message(connection); break;
    case 'H':
        if (wire_flush(&connection->wire, INTERRUPT_TERMINATE))
            error_clear(); /* the next read meets the same */
        break;
    case 'F':
        if (connection->skip_until_sync)
            break;
        connection->session_knows = false;
        error_set(STATUS_FEATURE_NOT_SUPPORTED, "function call messages are not supported");
        message_failed(connection);
        if (!connection->done)
            reply_ready(connection);
        break;
    case 'd':
    case 'c':
    case 'f': break; /* of a COPY that failed before the client had sent all of it */
    case 'X': connection->done = true; break;
    default:
        error_set(STATUS_PROTOCOL_VIOLATION, "invalid frontend message type %d", message->type);
        reply_fatal(connection);
    }
}

/* When the wait for the next message must end, and with what. */
static uint64_t idle_deadline(struct connection *connection, enum status *why)
{
    if (!connection->idle)
        return 0;
    const struct settings *settings = session_settings(connection->session);
    bool in_transaction = session_transaction_state(connection->session) != 'I';
    int64_t limit_ms = in_transaction ? settings->idle_in_transaction_session_timeout_ms : settings->idle_session_timeout_ms;
    *why = in_transaction ? STATUS_IDLE_TRANSACTION_TIMEOUT : STATUS_IDLE_SESSION_TIMEOUT;
    return limit_ms > 0 ? now_us() + (uint64_t)limit_ms * 1000 : 0;
}

static void serve(struct connection *connection)
{
    while (!connection->done) {
        struct message message;
        enum status late = STATUS_OK, status;

        if (server_crowded(connection->server) != connection->patient) {
            connection->patient = !connection->patient;
            thread_set_patient(connection->patient);
        }
        arena_reset(connection->message_arena);
        connection->query = NULL;
        uint64_t deadline = idle_deadline(connection, &late);
        status = wire_read(&connection->wire, deadline, INTERRUPT_TERMINATE, &message);
        if (!status && (thread_interrupts() & INTERRUPT_TERMINATE))
            status = STATUS_STOP;
        switch (status) {
        case STATUS_OK:
            connection->idle = false;
            handle_message(connection, &message);
            break;
        case STATUS_STOP:
            error_set(STATUS_ADMIN_SHUTDOWN, NULL);
            reply_fatal(connection);
            break;
        case STATUS_WOULD_BLOCK:
            error_set(late, NULL);
            reply_fatal(connection);
            break;
        case STATUS_CONNECTION_FAILURE:
            if (session_transaction_state(connection->session) != 'I')
                log_line("LOG", "unexpected EOF on client connection with an open transaction");
            connection->done = true;
            break;
        default: reply_fatal(connection); break;
        }
    }
}

static void connection_run(void *argument)
{
    struct connection *connection = argument;

    thread_set_pid(thread_self(), connection->pid);
    wire_open(&connection->wire, connection->fd);
    thread_serves(connection->fd);
    connection->arena = arena_open(NULL, "connection");
    connection->message_arena = arena_open(connection->arena, "message");

    if (start_up(connection))
        serve(connection);

    /* The session goes first, so that who reads the end of file finds its transaction over. What a client that doesn't
     * read has still to be told is lost. */
    if (connection->session)
        session_close(connection->session);
    wire_flush_try(&connection->wire);
    wire_close(&connection->wire);
    arena_close(connection->arena);
    thread_serves(-1);
    int fd = connection->fd;                 /* the loop looks at the sockets of all that are in the list */
    server_leave(connection->server, connection);
    shutdown(fd, SHUT_RDWR);
    close(fd);
}

void connection_start(struct server *server, int fd, const char *peer)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    if (!connection) {
        connection_refuse(fd, STATUS_OUT_OF_MEMORY, "out of memory");
        return;
    }
    connection->server = server;
    connection->fd = fd;
    snprintf(connection->peer, sizeof(connection->peer), "%s", peer);
    if (!server_enter(server, connection, connection_run)) {
        free(connection);
        connection_refuse(fd, STATUS_TOO_MANY_CONNECTIONS, "could not start a thread for the connection");
    }
}
