/* server/server.h - what the connections share: their list, cancel requests, statement timeouts, shutdown.
 *
 *     server_run(settings, engine, &exit_status);         the main thread: runs the event loop until shutdown is complete
 *
 * The list stands under one latch of rank SERVER, which nobody holds while waiting for a client or running a query; so
 * cancel and shutdown always get through. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "server/settings.h"

struct engine;
struct server;
struct connection;

enum shutdown { SHUTDOWN_NONE, SHUTDOWN_SMART /* when the last client has gone */, SHUTDOWN_FAST /* every client is sent away */ };

/* Errors: those of listening (IO, OBJECT_IN_USE). OK after an orderly shutdown, every connection's thread joined. */
enum status server_run(const struct server_settings *, struct engine *) MUST_CHECK;

/* ---- for connections ---- */
struct engine *server_engine(struct server *);
/* Enters the list, with a pid of its own, and starts the thread. False when the system has no thread left. */
bool server_enter(struct server *, struct connection *, void (*run)(void *connection));
/* Becomes a session. Errors: TOO_MANY_CONNECTIONS, CANNOT_CONNECT_NOW (shutting down). */
enum status server_enter_session(struct server *, struct connection *) MUST_CHECK;
void server_set_secret(struct server *, struct connection *, uint32_t secret);
/* The thread's last words: the loop will join it and free the connection. */
void server_leave(struct server *, struct connection *);
/* Interrupts the session with this pid if the secret is right; says nothing either way. */
void server_cancel(struct server *, int32_t pid, uint32_t secret);
/* The statement that begins must end by then; the loop interrupts it with INTERRUPT_TIMEOUT. */
void server_statement_begin(struct server *, struct connection *, uint64_t deadline_us);
void server_statement_end(struct server *, struct connection *);

/* ---- for the listener ---- */
bool server_crowded(struct server *);           /* more sessions than processors: one relaxed load */
bool server_has_room(struct server *);          /* for one more thread, session or not */
enum shutdown server_shutdown_state(struct server *);

#endif
