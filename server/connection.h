/* server/connection.h - one client: a thread that blocks on its own socket and runs its queries.
 *
 *     connection_start(server, fd, peer);         the listener, once it has accepted
 *
 * The list of connections (server/server.h) has a connection from its start until its thread has ended and was joined. */
#ifndef SERVER_CONNECTION_H
#define SERVER_CONNECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/latch.h"
#include "engine/session.h"
#include "server/server.h"
#include "server/wire.h"

struct connection {
    struct connection *next, *previous;         /* in the server's list, under its latch, like the fields down to the gap */
    struct thread *thread;
    int32_t  pid;
    uint32_t secret;                            /* what a cancel request must name */
    bool     in_session;                        /* counts towards max_connections; may be canceled */
    bool     ended;                             /* the thread does nothing more */
    bool     hung_up;                           /* the loop's own: the client was seen to have gone */
    _Atomic uint64_t deadline_us;               /* when the statement under way must end; 0: no limit. The loop swaps it for 0
                                                 * under the latch when it fires */

    struct server *server;                      /* the thread's own from here on */
    int      fd;
    char     peer[64];
    struct wire wire;
    struct arena *arena;                        /* of the connection */
    struct arena *message_arena;                /* of the message being handled */
    struct session *session;
    struct client client;                       /* what the session speaks to */
    const char *query;                          /* text that error positions refer to, or NULL */
    bool     skip_until_sync;
    bool     idle;                              /* ReadyForQuery was the last thing said: idle timeouts run */
    bool     limited;                           /* a statement's time limit runs */
    bool     session_knows;                     /* of the error at hand, because it raised it */
    bool     done;                              /* the connection ends after this message */
    bool     patient;                           /* thread_set_patient(): more sessions than processors */
};

void connection_start(struct server *, int fd, const char *peer);
void connection_refuse(int fd, enum status, const char *text);     /* says so if the socket takes it, and closes; never waits */

void connection_limit_begin(struct connection *);

#endif
