/* server/wire.h - messages of the PostgreSQL protocol, version 3, on one socket.
 *
 *     status = wire_read(wire, deadline_us, interrupts, &message);      one whole message, or why there is none
 *     uint16_t count = message_int16(&message);
 *     const char *name = message_string(&message);
 *     status = message_end(&message);                                   everything was there, and nothing else
 *
 *     wire_begin(wire, 'C');
 *     wire_string(wire, "SELECT 1");
 *     wire_end(wire);                                                   into the buffer
 *     status = wire_flush(wire, interrupts);                            to the client
 *
 * Input is buffered, and a message's bytes are read in place: they are valid until the next wire_read(). A long
 * message's memory grows only as its bytes arrive. Output is buffered and goes out when wire_flush() is called (who
 * writes much does so whenever WIRE_FULL_BYTES have come together) and before a read that has to wait.
 *
 * Waits are thread_wait_fd(), so that interrupts reach them; but the wait for the next message of a session that only TERMINATE
 * may end is one blocking recv(), so the socket blocks, and the thread said that it serves it. One thread uses a wire. */
#ifndef SERVER_WIRE_H
#define SERVER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/error.h"

#define WIRE_STARTUP_MAX 10000                      /* bytes of a startup packet, as in PostgreSQL */
#define WIRE_SMALL_MAX   10000                      /* of messages that carry only a name or two */
#define WIRE_LARGE_MAX   ((uint32_t)0x3fffffff)     /* of the others */
#define WIRE_FULL_BYTES  32768                      /* when it is time to send */

struct wire {
    int      fd;
    uint8_t *in;
    size_t   in_start, in_end, in_capacity;         /* in[in_start .. in_end) is not read yet */
    struct arena *out_arena;
    struct text_buffer out;
    size_t   out_sent;                              /* bytes of out that the socket has taken */
    size_t   message_at;                            /* where the message being written starts */
    bool     broken;                                /* the client is gone: output is thrown away */
};
void wire_open(struct wire *, int fd);
void wire_close(struct wire *);                     /* not the descriptor */

struct message {
    uint8_t  type;                                  /* 0 in a startup packet */
    bool     bad;                                   /* something was read that isn't there */
    const uint8_t *bytes;
    size_t   length, at;
};

/* Statuses: CONNECTION_FAILURE (end of file, or the socket failed; `in_start == in_end` tells whether it was between
 * messages), PROTOCOL_VIOLATION (a length or type that cannot be: the stream is lost), WOULD_BLOCK (the deadline passed),
 * STOP (one of the interrupts given is pending). Flushes the output before it waits. */
enum status wire_read(struct wire *, uint64_t deadline_us, unsigned interrupts, struct message *out) MUST_CHECK;
/* A packet without a type byte, as the first ones of a connection are. */
enum status wire_read_startup(struct wire *, uint64_t deadline_us, unsigned interrupts, struct message *out) MUST_CHECK;

/* Taking a message apart. Past its end they give 0, "" or NULL and set `bad`. */
uint8_t        message_byte(struct message *);
uint16_t       message_int16(struct message *);
uint32_t       message_int32(struct message *);
const char    *message_string(struct message *);
const uint8_t *message_bytes(struct message *, size_t count);
/* PROTOCOL_VIOLATION when the message was too short or has bytes left. */
enum status    message_end(const struct message *) MUST_CHECK;

void wire_begin(struct wire *, char type);
void wire_byte(struct wire *, uint8_t);
void wire_int16(struct wire *, uint16_t);
void wire_int32(struct wire *, uint32_t);
void wire_string(struct wire *, const char *);      /* with its NUL */
void wire_bytes(struct wire *, const void *, size_t count);
void wire_end(struct wire *);
void wire_cancel(struct wire *);                    /* takes back what was written since wire_begin() */
uint8_t *wire_room(struct wire *, size_t count);    /* where the next `count` bytes go; the caller adds to out.length */

/* Statuses: CONNECTION_FAILURE; STOP when one of the interrupts came first (what is left stays in the buffer). */
enum status wire_flush(struct wire *, unsigned interrupts) MUST_CHECK;
void wire_flush_try(struct wire *);                 /* as much as the socket takes now */

/* CHARACTER_NOT_IN_REPERTOIRE unless the bytes are UTF-8 without NUL. */
enum status utf8_check(const void *bytes, size_t length) MUST_CHECK;
/* Characters in the first `bytes` bytes of a UTF-8 text. */
size_t utf8_characters(const char *text, size_t bytes);

#endif
