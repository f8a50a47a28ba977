/* server/auth.h - how a connection begins: the startup packet, and who may come in. */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include "base/arena.h"
#include "server/wire.h"

enum startup_kind { STARTUP_SESSION, STARTUP_CANCEL, STARTUP_ENCRYPTION /* SSL or GSS: answered by N, then another packet comes */ };
struct startup_option { const char *name, *value; };
struct startup {
    enum startup_kind kind;
    uint32_t version;                   /* major << 16 | minor */
    int32_t  cancel_pid;
    uint32_t cancel_secret;
    const char *user, *database, *application_name;
    struct startup_option *options;     /* settings wanted: those of `options` first (-c name=value), then the named ones */
    uint16_t option_count;
    const char **unknown;               /* protocol options (_pq_.…) that we don't know */
    uint16_t unknown_count;
};
/* Takes a startup packet apart; what it finds is copied into the arena. Errors are fatal to the connection. */
enum status startup_parse(struct message *, struct arena *, struct startup *out) MUST_CHECK;

/* Everybody who can reach the socket is trusted. There is one role and one database, both called postgres. Errors:
 * INVALID_AUTHORIZATION (no such role), INVALID_CATALOG_NAME (no such database). */
enum status auth_check(const struct startup *) MUST_CHECK;

#endif
