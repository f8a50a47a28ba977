/* engine/session_private.h - a session's inside: shared by session.c (transactions, the simple protocol), portal.c
 * (prepared statements, portals, cursors), statement.c (utility statements) and settings.c. Nobody else includes it. */
#ifndef ENGINE_SESSION_PRIVATE_H
#define ENGINE_SESSION_PRIVATE_H

#include "engine/row_store.h"
#include "engine/session.h"
#include "parser/parser.h"

/*                 statement              BEGIN                    error
 *   IDLE ---------------------> IMPLICIT       IDLE ------> BLOCK ------> FAILED
 *    ^                             |             ^            |              |
 *    +--- end of query, Sync ------+             +- COMMIT ---+-- ROLLBACK --+   (ROLLBACK TO: FAILED -> BLOCK)
 *
 * In IDLE there is no transaction. IMPLICIT is the transaction of one statement, of one multi-statement query string, or
 * of an extended-protocol sequence up to Sync. In FAILED the transaction is gone already (its locks too), unless a savepoint
 * is open: then only the innermost level was undone, and ROLLBACK TO can go on. */
enum block_state { BLOCK_IDLE, BLOCK_IMPLICIT, BLOCK_OPEN, BLOCK_FAILED };

#define EPOCH_2000_US 946684800000000LL         /* 2000-01-01, counted from 1970: where SQL's timestamps begin */

struct savepoint { struct savepoint *outer; char *name; int level; };

struct prepared {                        /* a prepared statement: its text and tree for good, its plan until the catalog moves */
    struct prepared *next;
    struct arena *arena;                 /* text, tree */
    struct arena *plan_arena;            /* the plan; closed when it is made anew */
    char *name;
    char *sql;
    const struct statement *statement;   /* NULL: empty query */
    struct prepared_plan *plan;          /* NULL: a utility statement, or not planned yet */
    bool  plannable;
    uint32_t *parameter_types; uint16_t parameter_count;
    struct result_description description; bool returns_rows;
    int   uses;                          /* portals and runs that hold it; dropped at 0 once `gone` */
    bool  gone, from_sql;
    bool  looks;                         /* engine_latch_looks() at its text */
    int64_t prepared_us;
    int   peeks;                         /* plans made for the values of a run */
    const char *search_path;             /* … when the plan was made: another one may mean other tables */
};

struct portal {
    struct portal *next;
    struct arena *arena;
    char *name;
    struct prepared *prepared;
    struct value *parameters;
    uint16_t *formats; uint16_t format_count;
    struct row_store *store;             /* rows kept when a row limit or a cursor asks for slices; NULL before the run */
    struct exec_parts *run;              /* what puts more rows into the store; NULL: all are in it */
    const struct prepared_plan *plan;    /* of that run, in plan_arena: the statement may have another by now */
    struct arena *plan_arena;
    struct store_sink *sink;             /* of that run */
    struct snapshot snapshot;            /* … and held by the transaction while it lasts */
    bool  started, failed;
    uint64_t position;                   /* rows handed out: FETCH's cursor stands after that many */
    bool  cursor, hold, no_scroll;
    char *tag;                           /* what CommandComplete says once the rows are out */
    const char *sql;                     /* pg_cursors shows it */
    int64_t created_us;
    int   level, run_level;              /* savepoint level it was made in; its run was begun in */
};

struct setting_undo { struct setting_undo *older; int index; char *previous; enum setting_scope scope; int level; };
struct custom_setting { struct custom_setting *next; char *name, *value; };

struct session {
    struct engine *engine;
    struct client *client;
    int32_t pid; uint32_t secret;
    char user[64], database[64], address[64];
    struct txn_slot *slot;
    struct txn *txn;
    enum block_state block;
    struct savepoint *savepoints;        /* innermost first */
    bool  several;                       /* statements in the message under way */

    struct arena *arena;                 /* lives as long as the session */
    struct arena *statement_arena;       /* reset after each top-level statement */
    struct snapshot snapshot;            /* of the statement under way */
    int   snapshot_depth;
    bool  stepping;                      /* crab.step: the statement under way stops at page points (step.c) */
    int   isolation_name;                /* of the transaction, as it was asked for: settings_isolation_name() */
    bool  deferrable;                    /* said of it; nothing here waits for it */
    bool  queried;                       /* the transaction took a snapshot: its isolation level stands */
    struct type_env env;
    struct settings settings;
    char **setting_values;               /* by index: the session's own text, or NULL = default */
    struct setting_undo *setting_undo;
    struct custom_setting *custom;
    void *catalog_cache;

    struct prepared *prepared;
    struct portal *portals;

    struct thread *thread;
    struct session *next_session;        /* list of all, under the SERVER latch */
    const char *state;                   /* for pg_stat_activity; changed under `sight` */
    struct latch sight;                  /* guards state, query and the times below */
    char  query[1024];
    int64_t backend_start_us, query_start_us, state_change_us;
    _Atomic int64_t xact_start_us;
    uint64_t statement_deadline_us;
};

/* session.c */
enum status transaction_need(struct session *);                       /* begins an implicit one when there is none */
enum status transaction_finish_implicit(struct session *, bool ok);   /* commits or aborts a transaction that no BEGIN opened */
void        statement_failed(struct session *);                       /* an error happened: undo as far as it goes (error record is kept) */
enum status statement_snapshot(struct session *);                     /* takes the statement's snapshot */
void        statement_snapshot_done(struct session *);
enum status transaction_statement_run(struct session *, const struct transaction_statement *, const char **tag);
void        session_set_state(struct session *, const char *state, const char *query, size_t length);
void        session_set_idle(struct session *);
bool        statement_allowed_when_failed(const struct statement *);

/* portal.c */
enum status prepared_make(struct session *, const char *name, const char *sql, size_t length, const struct statement *parsed,
                          const uint32_t *types, uint16_t type_count, struct prepared **out);
void        prepared_release(struct session *, struct prepared *);
struct prepared *prepared_find(struct session *, const char *name);
enum status prepared_plan_now(struct session *, struct prepared *);   /* plan valid, tables locked */
/* The same, before a run with these values: while the estimates hang on them, the first runs' plans are made for their values. */
enum status prepared_plan_for(struct session *, struct prepared *, const struct value *parameters);
void        prepared_drop_all(struct session *);
struct portal *portal_find(struct session *, const char *name);
enum status portal_make(struct session *, const char *name, struct prepared *, struct portal **out);
void        portal_close(struct session *, struct portal *);
/* Before the transaction ends, while its snapshots are still held: held cursors read on to their end, if it commits; all other runs are let go. */
enum status portals_end_runs(struct session *, bool commits);
void        portals_end_transaction(struct session *, bool committed);
void        portals_end_level(struct session *, int level);              /* before the savepoint is rolled back */
void        portal_level_released(struct portal *, int level);
enum status cursor_declare(struct session *, const struct declare_cursor_statement *, const struct statement *, const char *sql, const struct portal *bound, const char **tag);
enum status cursor_fetch(struct session *, const struct fetch_statement *, const struct portal *bound, const char **tag);
enum status cursor_close(struct session *, const char *name, const char **tag);
enum status transaction_modes_set(struct session *, const struct transaction_modes *);        /* of the transaction under way; 25001 when it is late for that */
enum status plan_may_run(const struct session *, const struct prepared_plan *);      /* what changes rows, not in a read-only transaction: 25006 */
/* Runs a plan, rows go straight to the client. Describe first when `describe`. */
enum status plan_run_to_client(struct session *, const struct prepared_plan *, const struct value *parameters, bool describe,
                               const uint16_t *formats, uint16_t format_count, uint64_t *rows);
void        description_of(struct arena *, const struct prepared_plan *, struct result_description *out);
char       *command_tag(struct arena *, const struct prepared_plan *, uint64_t rows);

/* statement.c: everything that has no plan. Rows it shows (SHOW, EXPLAIN) go to the client. tag: what to say when done; NULL: already said. */
/* bound: the portal that its $n come from; NULL in the simple protocol. */
enum status utility_run(struct session *, const char *sql, const struct statement *, const struct portal *bound, bool describe, const uint16_t *formats,
                        uint16_t format_count, const char **tag);
bool        utility_returns_rows(struct session *, struct arena *, const struct statement *, struct result_description *out);
enum status statement_run(struct session *, const char *sql, const struct statement *, const char **tag);   /* planned or utility, simple protocol */
bool        statement_is_planned(enum statement_kind);

/* copy.c */
enum status copy_run(struct session *, const char *sql, const struct copy_statement *, const char **tag);
/* vacuum.c */
enum status vacuum_run(struct session *, const struct vacuum_statement *, bool analyze_only);

/* The engine latch (crab.engine_latch). */
extern _Atomic uint32_t engine_latch_on;
bool        engine_latch_looks(const char *sql, size_t length);       /* a statement that must not wait for it */
void        engine_latch_choose(bool looks);                          /* before engine_latch_enter(): does this statement take it? */

struct engine {
    struct store *store; char *directory;
    struct thread *autovacuum;
    _Atomic uint32_t vacuuming;          /* oid of the table that autovacuum is in, 0 none (step.c) */
    _Atomic bool stopping; struct latch latch; struct condition wake;
};
extern struct latch sessions_latch;
extern struct session *sessions_first;

#endif
