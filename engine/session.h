/* engine/session.h - one client's session: transactions, prepared statements, portals; what the server floor calls.
 *
 *     session_open(engine, &client, &session);
 *     status = session_query(session, sql, length);          simple protocol: everything it has to say goes to the client's call-backs
 *     session_close(session);
 *
 * A status other than OK means that the error record (base/error.h) holds what to tell the client; the session has
 * already put its transaction into the failed state (or ended it). If the record's status is ADMIN_SHUTDOWN,
 * CONNECTION_FAILURE or PROTOCOL_VIOLATION the connection ends. One thread uses a session. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/exec/exec.h"
#include "engine/settings.h"

struct engine;
struct engine_options { const char *directory; };
enum status engine_open(const struct engine_options *, struct engine **out) MUST_CHECK;   /* opens the store, bootstraps, starts workers, vacuum, … by settings */
void        engine_close(struct engine *);                                                /* every session is closed */
struct store *engine_store(struct engine *);

struct result_description { uint16_t column_count; const char **names; const struct sql_type *types; const uint32_t *tables; const int16_t *columns; };

/* What the session says to its client. A status from a call-back (the client is gone) ends the statement. */
struct client {
    void *context;
    enum status (*describe)(struct client *, const struct result_description *, const uint16_t *formats, uint16_t format_count) MUST_CHECK;  /* RowDescription */
    enum status (*rows)(struct client *, const struct result_description *, const uint16_t *formats, uint16_t format_count, const struct batch *) MUST_CHECK;  /* DataRows: text 0, binary 1; count 0: all text; 1: for all */
    enum status (*complete)(struct client *, const char *tag) MUST_CHECK;                 /* CommandComplete */
    enum status (*empty)(struct client *) MUST_CHECK;                                     /* EmptyQueryResponse */
    enum status (*suspended)(struct client *) MUST_CHECK;                                 /* PortalSuspended */
    enum status (*copy_in)(struct client *, bool binary, uint16_t columns) MUST_CHECK;    /* CopyInResponse, flushed */
    /* Next piece of COPY data: *length 0 at the end. CopyFail comes as CANCELED with message `COPY from stdin failed: …`. Valid until the next call. */
    enum status (*copy_read)(struct client *, const uint8_t **bytes, size_t *length) MUST_CHECK;
    enum status (*copy_out)(struct client *, bool binary, uint16_t columns) MUST_CHECK;   /* CopyOutResponse */
    enum status (*copy_write)(struct client *, const void *bytes, size_t length) MUST_CHECK;   /* one CopyData message */
    enum status (*copy_done)(struct client *) MUST_CHECK;
    void (*notice)(struct client *, const char *severity, const struct error *) ;         /* NOTICE, WARNING, INFO … */
    void (*parameter_status)(struct client *, const char *name, const char *value);
    void (*statement_begin)(struct client *);                                             /* a statement of a query string begins: so does its time limit. May be NULL */
};

struct session;
struct session_options { struct engine *engine; struct client *client; int32_t pid; const char *user, *database, *application_name, *client_address; };
enum status session_open(const struct session_options *, struct session **out) MUST_CHECK;
void        session_close(struct session *);                 /* aborts what is open */

enum status session_query(struct session *, const char *sql, size_t length) MUST_CHECK;

/* Extended protocol. Names "" = unnamed. */
enum status session_parse(struct session *, const char *name, const char *sql, size_t length, const uint32_t *parameter_types, uint16_t count) MUST_CHECK;
struct bind_values { uint16_t format_count; const uint16_t *formats; uint16_t count; const uint8_t *const *bytes; const int32_t *lengths; /* -1 null */
                     uint16_t result_format_count; const uint16_t *result_formats; };
enum status session_bind(struct session *, const char *portal, const char *statement, const struct bind_values *) MUST_CHECK;
/* description->column_count 0 and *returns_rows false: NoData. */
enum status session_describe_statement(struct session *, const char *name, const uint32_t **parameter_types, uint16_t *count, struct result_description *, bool *returns_rows) MUST_CHECK;
enum status session_describe_portal(struct session *, const char *name, struct result_description *, const uint16_t **formats, uint16_t *format_count, bool *returns_rows) MUST_CHECK;
enum status session_execute(struct session *, const char *portal, uint64_t max_rows) MUST_CHECK;   /* says rows, then complete/suspended/empty */
enum status session_close_statement(struct session *, const char *name) MUST_CHECK;
enum status session_close_portal(struct session *, const char *name) MUST_CHECK;
enum status session_sync(struct session *) MUST_CHECK;       /* ends the implicit transaction */
void        session_failed(struct session *);                /* the server met a protocol-level error: put the transaction into the failed state */
char        session_transaction_state(const struct session *);   /* 'I' 'T' 'E' */
const struct settings *session_settings(const struct session *);
/* "idle", "idle in transaction", "active" … for views and timeouts. */
const char *session_state(const struct session *);
uint32_t    session_secret(const struct session *);
/* crab.engine_latch is let go around every wait for a client: by the call-backs, where they wait. */
void        engine_latch_leave(void);
void        engine_latch_enter(void);

/* ---- for the engine's own files ---- */
struct store     *session_store(struct session *);
struct txn       *session_txn(struct session *);             /* the transaction under way, never NULL while a statement runs */
struct txn_slot  *session_slot(struct session *);
const struct type_env *session_type_env(struct session *);
struct arena     *session_statement_arena(struct session *);
bool        session_has_open_run(const struct session *);              /* a cursor's, left half-way */
bool        session_run_reads(const struct session *, uint32_t table); /* … of that table */
const struct snapshot *session_snapshot(struct session *);   /* of the statement under way */
/* Catalog reads see everything committed and the transaction's own changes up to now. */
void        session_catalog_snapshot(struct session *, struct snapshot *out);
void       *session_catalog_cache(struct session *);         /* catalog.c's own; set below */
void        session_set_catalog_cache(struct session *, void *);
const char *session_user(const struct session *);
const char *session_database(const struct session *);
int32_t     session_pid(const struct session *);
void        session_notice(struct session *, const char *severity, const char *sqlstate, const char *format, ...) PRINTF_LIKE(4, 5);
void        session_notice_detail(struct session *, const char *severity, const char *sqlstate, const char *detail, const char *message);   /* detail may be NULL */
bool        session_in_transaction_block(const struct session *);
/* CANCELED / ADMIN_SHUTDOWN / timeout when an interrupt is pending: long loops ask it (also in workers, through their leader's stop flag). */
/* Lists sessions for pg_stat_activity: calls visit under the server's list latch; copy what you need. */
struct session_sight { int32_t pid; char user[64], database[64], application[64], state[32], query[1024], address[64]; int64_t backend_start_us, xact_start_us, query_start_us, state_change_us; };
size_t      session_sights(struct session_sight *out, size_t capacity);

#endif
