/* server/wire.c - messages on one socket, both ways.
 *
 *     in:   |  taken  |  in_start: not read yet  :in_end |   free   |
 *     out:  |  sent   |  out_sent: to be sent    | message_at: being written |
 *
 * 1. The input buffer holds one message whole. It starts with IN_BYTES and doubles while a longer message arrives, never
 *    ahead of its bytes: a client that only announces a gigabyte costs nothing. After a long message it shrinks again.
 * 2. A message's length is checked before anything waits for its bytes; which bound holds follows from its type.
 * 3. The output buffer is a text_buffer, since that is what a type's output functions append to: a value is written once,
 *    in its place in the DataRow. It has an arena to itself, which is emptied when a big value has made it grow. */
#include "server/wire.h"

#include "base/latch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define IN_BYTES      16384
#define OUT_BYTES     (WIRE_FULL_BYTES + 8192)
#define OUT_KEPT_BYTES ((size_t)1 << 20)

static void out_reset(struct wire *wire)
{
    if (wire->out.capacity > OUT_KEPT_BYTES || !wire->out.bytes) {
        arena_reset(wire->out_arena);
        wire->out.arena = wire->out_arena;
        wire->out.capacity = OUT_BYTES;
        wire->out.bytes = arena_alloc(wire->out_arena, OUT_BYTES);
    }
    wire->out.length = 0;
    wire->out.bytes[0] = '\0';
    wire->out_sent = 0;
    wire->message_at = 0;
}

void wire_open(struct wire *wire, int fd)
{
    memset(wire, 0, sizeof(*wire));
    wire->fd = fd;
    wire->in_capacity = IN_BYTES;
    wire->in = malloc(IN_BYTES);
    if (!wire->in)
        panic("out of memory: no room for a connection's buffer");
    wire->out_arena = arena_open(NULL, "wire");
    out_reset(wire);
}

void wire_close(struct wire *wire)
{
    free(wire->in);
    arena_close(wire->out_arena);
    memset(wire, 0, sizeof(*wire));
}

/* ---- Input ---- */

static uint32_t load_int32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Makes room behind in_end: first by moving what is there to the front, then by growing. */
static void in_make_room(struct wire *wire)
{
    size_t unread = wire->in_end - wire->in_start;
    if (wire->in_start > 0) {
        memmove(wire->in, wire->in + wire->in_start, unread);
        wire->in_start = 0;
        wire->in_end = unread;
    }
    if (unread == wire->in_capacity) {
        uint8_t *bigger = realloc(wire->in, wire->in_capacity * 2);
        if (!bigger)
            panic("out of memory: no room for a message of %zu bytes", wire->in_capacity * 2);
        wire->in = bigger;
        wire->in_capacity *= 2;
    }
}

static void in_shrink(struct wire *wire)
{
    if (wire->in_start != wire->in_end)
        return;
    wire->in_start = wire->in_end = 0;
    if (wire->in_capacity > IN_BYTES * 16) {
        free(wire->in);
        wire->in_capacity = IN_BYTES;
        wire->in = malloc(IN_BYTES);
        if (!wire->in)
            panic("out of memory: no room for a connection's buffer");
    }
}

/* Waits for the first bytes. A wait that only the end of the session can cut short is one blocking recv(): TERMINATE shuts the
 * socket's reading side (thread_serves). */
static enum wake receive(struct wire *wire, uint64_t deadline_us, unsigned interrupts, ssize_t *got)
{
    uint8_t *at = wire->in + wire->in_end;
    size_t room = wire->in_capacity - wire->in_end;
    if (deadline_us == 0 && interrupts == INTERRUPT_TERMINATE) {
        thread_waits_for("fd.read");
        *got = recv(wire->fd, at, room, 0);
        thread_waits_for(NULL);
        return *got <= 0 && (thread_interrupts() & interrupts) ? WAKE_INTERRUPTED : WAKE_SIGNALED;
    }
    if (thread_interrupts() & interrupts)
        return WAKE_INTERRUPTED;
    *got = recv(wire->fd, at, room, MSG_DONTWAIT);
    if (*got >= 0 || errno != EAGAIN)
        return *got <= 0 && (thread_interrupts() & interrupts) ? WAKE_INTERRUPTED : WAKE_SIGNALED;
    enum wake wake = thread_wait_fd(wire->fd, false, deadline_us, interrupts);
    errno = EAGAIN;
    return wake;
}

/* Until `count` unread bytes are there. */
static enum status in_need(struct wire *wire, size_t count, uint64_t deadline_us, unsigned interrupts)
{
    while (wire->in_end - wire->in_start < count) {
        if (wire->out.length > 0) {
            enum status status = wire_flush(wire, interrupts);
            if (status)
                return status;
        }
        if (wire->in_end == wire->in_capacity)
            in_make_room(wire);
        ssize_t got;
        switch (receive(wire, deadline_us, interrupts, &got)) {
        case WAKE_TIMEOUT: return error_set(STATUS_WOULD_BLOCK, NULL);
        case WAKE_INTERRUPTED: return error_set(STATUS_STOP, NULL);
        case WAKE_SIGNALED: break;
        }
        if (got > 0) {
            wire->in_end += (size_t)got;
        } else if (got == 0) {
            return error_set(STATUS_CONNECTION_FAILURE, "unexpected EOF on client connection");
        } else if (errno != EAGAIN && errno != EINTR) {
            wire->broken = true;
            return error_set(STATUS_CONNECTION_FAILURE, "could not receive data from client: %s", strerror(errno));
        }
    }
    return STATUS_OK;
}

/* The longest body that a message of this type may have; 0: no such type. */
static uint32_t type_max(uint8_t type)
{
    switch (type) {
    case 'Q': case 'P': case 'B': case 'd': case 'F': return WIRE_LARGE_MAX;
    case 'C': case 'D': case 'E': case 'H': case 'S': case 'X': case 'c': case 'f': case 'p': return WIRE_SMALL_MAX;
    default: return 0;
    }
}

enum status wire_read(struct wire *wire, uint64_t deadline_us, unsigned interrupts, struct message *out)
{
    in_shrink(wire);
    enum status status = in_need(wire, 1, deadline_us, interrupts);
    if (status)
        return status;
    uint8_t type = wire->in[wire->in_start];
    uint32_t most = type_max(type);
    if (most == 0)
        return error_set(STATUS_PROTOCOL_VIOLATION, "invalid frontend message type %d", type);
    status = in_need(wire, 5, deadline_us, interrupts);
    if (status)
        return status;
    uint32_t length = load_int32(wire->in + wire->in_start + 1);
    if (length < 4 || length - 4 > most)
        return error_set(STATUS_PROTOCOL_VIOLATION, "invalid message length");
    status = in_need(wire, (size_t)length + 1, deadline_us, interrupts);
    if (status)
        return status;
    *out = (struct message){.type = type, .bytes = wire->in + wire->in_start + 5, .length = length - 4};
    wire->in_start += (size_t)length + 1;
    return STATUS_OK;
}

enum status wire_read_startup(struct wire *wire, uint64_t deadline_us, unsigned interrupts, struct message *out)
{
    enum status status = in_need(wire, 4, deadline_us, interrupts);
    if (status)
        return status;
    uint32_t length = load_int32(wire->in + wire->in_start);
    if (length < 8 || length > WIRE_STARTUP_MAX)
        return error_set(STATUS_PROTOCOL_VIOLATION, "invalid length of startup packet");
    status = in_need(wire, length, deadline_us, interrupts);
    if (status)
        return status;
    *out = (struct message){.bytes = wire->in + wire->in_start + 4, .length = length - 4};
    wire->in_start += length;
    return STATUS_OK;
}

/* ---- Taking a message apart ---- */

const uint8_t *message_bytes(struct message *message, size_t count)
{
    if (message->bad || message->length - message->at < count) {
        message->bad = true;
        return NULL;
    }
    const uint8_t *bytes = message->bytes + message->at;
    message->at += count;
    return bytes;
}

uint8_t message_byte(struct message *message)
{
    const uint8_t *bytes = message_bytes(message, 1);
    return bytes ? bytes[0] : 0;
}

uint16_t message_int16(struct message *message)
{
    const uint8_t *bytes = message_bytes(message, 2);
    return bytes ? (uint16_t)(bytes[0] << 8 | bytes[1]) : 0;
}

uint32_t message_int32(struct message *message)
{
    const uint8_t *bytes = message_bytes(message, 4);
    return bytes ? load_int32(bytes) : 0;
}

const char *message_string(struct message *message)
{
    if (message->bad)
        return "";
    const char *text = (const char *)message->bytes + message->at;
    const char *end = memchr(text, '\0', message->length - message->at);
    if (!end) {
        message->bad = true;
        return "";
    }
    message->at += (size_t)(end - text) + 1;
    return text;
}

enum status message_end(const struct message *message)
{
    if (message->bad)
        return error_set(STATUS_PROTOCOL_VIOLATION, "insufficient data left in message");
    if (message->at != message->length)
        return error_set(STATUS_PROTOCOL_VIOLATION, "invalid message format");
    return STATUS_OK;
}

/* ---- Output ---- */

uint8_t *wire_room(struct wire *wire, size_t count)
{
    struct text_buffer *out = &wire->out;
    size_t wanted = out->length + count + 1; /* a text_buffer keeps a NUL at its end */
    if (__builtin_expect(wanted > out->capacity, 0)) {
        size_t capacity = out->capacity * 2;
        while (capacity < wanted)
            capacity *= 2;
        out->bytes = arena_grow(wire->out_arena, out->bytes, out->capacity, capacity);
        out->capacity = capacity;
    }
    return (uint8_t *)out->bytes + out->length;
}

static void store_int32(uint8_t *at, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

void wire_byte(struct wire *wire, uint8_t value)
{
    *wire_room(wire, 1) = value;
    wire->out.length += 1;
}

void wire_int16(struct wire *wire, uint16_t value)
{
    value = __builtin_bswap16(value);
    memcpy(wire_room(wire, 2), &value, 2);
    wire->out.length += 2;
}

void wire_int32(struct wire *wire, uint32_t value)
{
    store_int32(wire_room(wire, 4), value);
    wire->out.length += 4;
}

void wire_bytes(struct wire *wire, const void *bytes, size_t count)
{
    if (count)
        memcpy(wire_room(wire, count), bytes, count);
    wire->out.length += count;
}

void wire_string(struct wire *wire, const char *text)
{
    wire_bytes(wire, text, strlen(text) + 1);
}

void wire_begin(struct wire *wire, char type)
{
    wire->message_at = wire->out.length;
    wire_byte(wire, (uint8_t)type);
    wire_int32(wire, 0);
}

void wire_end(struct wire *wire)
{
    size_t length = wire->out.length - wire->message_at - 1;
    ASSERT(length <= INT32_MAX);
    store_int32((uint8_t *)wire->out.bytes + wire->message_at + 1, (uint32_t)length);
    wire->out.bytes[wire->out.length] = '\0';
}

void wire_cancel(struct wire *wire)
{
    wire->out.length = wire->message_at;
    wire->out.bytes[wire->out.length] = '\0';
}

/* True when all of it is sent, or never will be. */
static bool send_some(struct wire *wire)
{
    while (!wire->broken && wire->out_sent < wire->out.length) {
        ssize_t sent = send(wire->fd, wire->out.bytes + wire->out_sent, wire->out.length - wire->out_sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) {
            wire->out_sent += (size_t)sent;
        } else if (errno == EAGAIN) {
            return false;
        } else if (errno != EINTR) {
            wire->broken = true;
        }
    }
    out_reset(wire);
    return true;
}

enum status wire_flush(struct wire *wire, unsigned interrupts)
{
    while (!send_some(wire))
        if (thread_wait_fd(wire->fd, true, 0, interrupts) == WAKE_INTERRUPTED)
            return error_set(STATUS_STOP, NULL);
    return wire->broken ? error_set(STATUS_CONNECTION_FAILURE, "connection to client lost") : STATUS_OK;
}

void wire_flush_try(struct wire *wire)
{
    send_some(wire);
}

/* ---- UTF-8 ---- */

static enum status utf8_fail(const uint8_t *at, size_t left, size_t wanted)
{
    char shown[32];
    size_t used = 0;
    for (size_t i = 0; i < wanted && i < left; i++) {
        static const char digits[] = "0123456789abcdef";
        if (i)
            shown[used++] = ' ';
        shown[used++] = '0';
        shown[used++] = 'x';
        shown[used++] = digits[at[i] >> 4];
        shown[used++] = digits[at[i] & 15];
    }
    shown[used] = '\0';
    return error_set(STATUS_CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": %s", shown);
}

enum status utf8_check(const void *bytes, size_t length)
{
    const uint8_t *at = bytes, *end = at + length;
    while (at < end) {
        uint64_t eight;
        while (end - at >= 8) { /* the common case: 8 plain bytes, none of them NUL */
            memcpy(&eight, at, 8);
            if ((eight | (eight - 0x0101010101010101ULL)) & 0x8080808080808080ULL)
                break;
            at += 8;
        }
        if (at == end)
            break;
        uint8_t first = *at;
        size_t left = (size_t)(end - at), wanted;
        uint8_t low = 0x80, high = 0xbf; /* what the second byte may be: no overlong forms, no surrogates */
        if (first == 0)
            return utf8_fail(at, left, 1);
        if (first < 0x80) {
            at++;
            continue;
        }
        if (first >= 0xc2 && first <= 0xdf) {
            wanted = 2;
        } else if (first >= 0xe0 && first <= 0xef) {
            wanted = 3;
            if (first == 0xe0)
                low = 0xa0;
            if (first == 0xed)
                high = 0x9f;
        } else if (first >= 0xf0 && first <= 0xf4) {
            wanted = 4;
            if (first == 0xf0)
                low = 0x90;
            if (first == 0xf4)
                high = 0x8f;
        } else {
            return utf8_fail(at, left, first >= 0xc0 && first <= 0xc1 ? 2 : 1);
        }
        if (left < wanted)
            return utf8_fail(at, left, wanted);
        if (at[1] < low || at[1] > high)
            return utf8_fail(at, left, wanted);
        for (size_t i = 2; i < wanted; i++)
            if ((at[i] & 0xc0) != 0x80)
                return utf8_fail(at, left, wanted);
        at += wanted;
    }
    return STATUS_OK;
}

size_t utf8_characters(const char *text, size_t bytes)
{
    size_t characters = 0;
    for (size_t i = 0; i < bytes && text[i]; i++)
        characters += ((uint8_t)text[i] & 0xc0) != 0x80;
    return characters;
}
