/* server/auth.c - the startup packet, and who may come in.
 *
 * The packet is a protocol version (or one of three request codes in its place), then pairs of name and value, each
 * ending with NUL, then one more NUL. `user` and `database` say who and where; `options` holds command line switches,
 * of which -c name=value and --name=value are known; names that start with _pq_. are protocol options; the rest are
 * settings. */
#include "server/auth.h"

#include <ctype.h>
#include <string.h>

#define CODE_CANCEL 80877102
#define CODE_SSL    80877103
#define CODE_GSS    80877104

/* A setting may be written with '-' for '_'. */
static enum status option_add(struct startup *out, struct arena *arena, const char *name, size_t name_length,
                              const char *value)
{
    char *copy = arena_strndup(arena, name, name_length);
    for (char *c = copy; *c; c++)
        if (*c == '-')
            *c = '_';
    if (out->option_count == UINT16_MAX)
        return error_set(STATUS_PROTOCOL_VIOLATION, "too many options in startup packet");
    if ((out->option_count & (out->option_count - 1)) == 0) {
        size_t bytes = sizeof(*out->options) * out->option_count;
        out->options = arena_grow(arena, out->options, bytes, bytes ? bytes * 2 : sizeof(*out->options));
    }
    out->options[out->option_count++] = (struct startup_option){copy, value};
    return STATUS_OK;
}

static enum status option_add_pair(struct startup *out, struct arena *arena, const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (!equals)
        return error_set(STATUS_SYNTAX, "invalid command-line argument for server process: %s", pair);
    return option_add(out, arena, pair, (size_t)(equals - pair), equals + 1);
}

/* Words of `options` are split at white space; a backslash makes the next character plain. */
static enum status options_parse(struct startup *out, struct arena *arena, const char *text)
{
    bool value_follows = false;
    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (!*text)
            break;
        struct text_buffer word;
        text_buffer_open(&word, arena);
        for (; *text && !isspace((unsigned char)*text); text++) {
            if (*text == '\\' && text[1])
                text++;
            text_buffer_putc(&word, *text);
        }
        enum status status = STATUS_OK;
        if (value_follows) {
            status = option_add_pair(out, arena, word.bytes);
            value_follows = false;
        } else if (strcmp(word.bytes, "-c") == 0) {
            value_follows = true;
        } else if (strncmp(word.bytes, "-c", 2) == 0 || strncmp(word.bytes, "--", 2) == 0) {
            status = option_add_pair(out, arena, word.bytes + 2);
        } else {
            status = error_set(STATUS_SYNTAX, "invalid command-line argument for server process: %s", word.bytes);
        }
        if (status)
            return status;
    }
    if (value_follows)
        return error_set(STATUS_SYNTAX, "invalid command-line argument for server process: -c");
    return STATUS_OK;
}

enum status startup_parse(struct message *message, struct arena *arena, struct startup *out)
{
    memset(out, 0, sizeof(*out));
    out->version = message_int32(message);
    switch (out->version) {
    case CODE_SSL:
    case CODE_GSS:
        out->kind = STARTUP_ENCRYPTION;
        return message_end(message);
    case CODE_CANCEL:
        out->kind = STARTUP_CANCEL;
        out->cancel_pid = (int32_t)message_int32(message);
        out->cancel_secret = message_int32(message);
        return message_end(message);
    }
    out->kind = STARTUP_SESSION;
    if (out->version >> 16 != 3)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED,
                         "unsupported frontend protocol %u.%u: server supports 3.0 to 3.0", out->version >> 16,
                         out->version & 0xffff);

    const char *switches = NULL;
    for (;;) {
        const char *name = message_string(message);
        if (message->bad || !*name)
            break;
        const char *value = message_string(message);
        if (message->bad)
            break;
        enum status status = utf8_check(name, strlen(name));
        if (!status)
            status = utf8_check(value, strlen(value));
        if (status)
            return status;
        value = arena_strdup(arena, value);
        if (strcmp(name, "user") == 0) {
            out->user = value;
        } else if (strcmp(name, "database") == 0) {
            out->database = value;
        } else if (strcmp(name, "options") == 0) {
            switches = value;
        } else if (strcmp(name, "replication") == 0) {
            if (strcmp(value, "false") != 0 && strcmp(value, "off") != 0 && strcmp(value, "no") != 0 &&
                strcmp(value, "0") != 0)
                return error_set(STATUS_FEATURE_NOT_SUPPORTED, "replication connections are not supported");
        } else if (strncmp(name, "_pq_.", 5) == 0) {
            if ((out->unknown_count & (out->unknown_count - 1)) == 0) {
                size_t bytes = sizeof(*out->unknown) * out->unknown_count;
                out->unknown = arena_grow(arena, out->unknown, bytes, bytes ? bytes * 2 : sizeof(*out->unknown));
            }
            out->unknown[out->unknown_count++] = arena_strdup(arena, name);
        } else {
            if (strcmp(name, "application_name") == 0)
                out->application_name = value;
            status = option_add(out, arena, name, strlen(name), value);
            if (status)
                return status;
        }
    }
    if (message->bad || message->at != message->length)
        return error_set(STATUS_PROTOCOL_VIOLATION,
                         "invalid startup packet layout: expected terminator as last byte");
    if (switches) {
        /* PostgreSQL takes the switches before the named settings, so that the latter win. */
        struct startup_option *named = out->options;
        uint16_t named_count = out->option_count;
        out->options = NULL;
        out->option_count = 0;
        enum status status = options_parse(out, arena, switches);
        for (uint16_t i = 0; !status && i < named_count; i++)
            status = option_add(out, arena, named[i].name, strlen(named[i].name), named[i].value);
        if (status)
            return status;
    }
    if (!out->user || !*out->user)
        return error_set(STATUS_INVALID_AUTHORIZATION, "no PostgreSQL user name specified in startup packet");
    if (!out->database || !*out->database)
        out->database = out->user;
    return STATUS_OK;
}

enum status auth_check(const struct startup *startup)
{
    if (strcmp(startup->user, "postgres") != 0)
        return error_set(STATUS_INVALID_AUTHORIZATION, "role \"%s\" does not exist", startup->user);
    if (strcmp(startup->database, "postgres") != 0)
        return error_set(STATUS_INVALID_CATALOG_NAME, "database \"%s\" does not exist", startup->database);
    return STATUS_OK;
}
