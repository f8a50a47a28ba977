/* server/reply.h - what a client is told. All of it goes to the connection's buffer; server/wire.h says when it is sent. */
#ifndef SERVER_REPLY_H
#define SERVER_REPLY_H

#include "server/connection.h"

/* The call-backs that a session speaks through. */
void reply_client(struct client *, struct connection *);

/* Tells what stands in the thread's error record, and empties it. An error that ends the connection (ADMIN_SHUTDOWN, an
 * idle timeout, a client that is gone, or `done` is set already) is FATAL and sets `done`. */
void reply_error(struct connection *);
void reply_fatal(struct connection *);
void reply_ready(struct connection *);                              /* ReadyForQuery */
void reply_parameter_status(struct connection *, const char *name, const char *value);
void reply_empty(struct connection *, char type);                   /* a message that is only its type */
void reply_description(struct wire *, const struct result_description *, const uint16_t *formats, uint16_t format_count);

#endif
