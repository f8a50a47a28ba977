/* server/listener.h - the sockets that clients come in by: TCP on each address, and one Unix socket. */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <uv.h>
#include "server/server.h"

struct listener;
/* Opens the sockets and has the loop accept from them. Errors: IO, OBJECT_IN_USE, CONFIG_FILE; *out must be closed then too. */
enum status listener_open(uv_loop_t *, struct server *, const struct server_settings *, struct listener **out) MUST_CHECK;
/* For the line that says the server is ready: "127.0.0.1 port 5433 and /tmp/.s.PGSQL.5433". */
const char *listener_description(const struct listener *);
/* Closes the sockets, removes the Unix socket's files; the loop must run once more to let go of its handles. */
void listener_close(struct listener *);
void listener_free(struct listener *);

#endif
