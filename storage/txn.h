/* storage/txn.h - transactions, their outcomes, and snapshots that are one integer.
 *
 * Outcomes live in status pages (file 1), 8 bytes an id: 0 running (or, before this start of the server, aborted),
 * COMMITTING, ABORTED, SUB | parent, else the commit number = the end LSN of the commit record. A snapshot is a
 * limit: a version whose maker's commit number is <= limit is in it. The limit that new snapshots copy moves in LSN
 * order, past a commit only once its outcome is stored and its record flushed; only then is COMMIT acknowledged.
 * A transaction is set COMMITTING before its record is reserved; who meets that waits for the number. */
#ifndef STORAGE_TXN_H
#define STORAGE_TXN_H

#include "base/arena.h"
#include "storage/store.h"

enum isolation { READ_COMMITTED, REPEATABLE_READ };
typedef uint32_t command_t;                  /* statement number within the transaction, from 1 */

struct snapshot {
    lsn_t     limit;
    struct txn *txn;                         /* own changes: made by this transaction (or a live savepoint of it) … */
    command_t command;                       /* … in a statement numbered below this are seen */
};

/* One session's place in the transaction table, kept while the session lives: announces snapshots to the prune
 * horizon, carries the ids that others wait for. */
struct txn_slot;
enum status txn_slot_open(struct store *, int32_t pid, struct txn_slot **out) MUST_CHECK;   /* TOO_MANY_CONNECTIONS */
void        txn_slot_close(struct txn_slot *);

struct txn;                                  /* txn_begin … txn_commit / txn_abort; one at a time per slot */
struct txn *txn_begin(struct store *, struct txn_slot *, enum isolation, bool read_only);
enum status txn_commit(struct txn *) MUST_CHECK;      /* frees it; flushes unless synchronous_commit is off. On error it was aborted instead */
void        txn_abort(struct txn *);                  /* frees it; never fails */
void        txn_set_isolation(struct txn *, enum isolation);
enum isolation txn_isolation(const struct txn *);
void        txn_set_synchronous(struct txn *, bool);
bool        txn_read_only(const struct txn *);
void        txn_set_read_only(struct txn *, bool);

/* The id, given out at the first write; each savepoint level that writes has its own. */
enum status txn_id(struct txn *, xid_t *out) MUST_CHECK;     /* of the innermost savepoint level */
xid_t       txn_top_id(const struct txn *);                  /* 0 when it wrote nothing */
bool        txn_is_mine(const struct txn *, xid_t);          /* this transaction or a savepoint of it that was not rolled back */
int64_t     txn_start_us(const struct txn *);                /* wall clock, microseconds since 1970 */

command_t   txn_command(const struct txn *);                 /* number of the statement under way */
void        txn_next_command(struct txn *);                  /* later statements see what was done so far */

/* A statement's snapshot (READ COMMITTED) or the transaction's first (REPEATABLE READ). Announced while it is held. */
void        txn_snapshot(struct txn *, struct snapshot *out);
void        txn_snapshot_done(struct txn *);                 /* statement over: READ COMMITTED stops holding the horizon back. Nests (portals) by count */
void        txn_snapshot_forget(struct txn *);               /* REPEATABLE READ: nothing was asked of its snapshot; the next statement takes another. None may be held */
lsn_t       txn_horizon(struct store *);                     /* versions ended at or before it are dead to everyone */
xid_t       txn_oldest_running(struct store *);              /* ids below it are over */

/* Savepoints: levels numbered from 1. */
enum status txn_savepoint(struct txn *, int *level) MUST_CHECK;
enum status txn_savepoint_rollback(struct txn *, int level) MUST_CHECK;   /* undoes that level and inner ones, and opens it anew */
enum status txn_savepoint_release(struct txn *, int level) MUST_CHECK;

/* Run when the (sub)transaction ends; in order of registering for commit, reversed for abort. Savepoint aware: a
 * rollback to a savepoint runs those registered since, with committed = false. They cannot fail. */
void        txn_at_end(struct txn *, void (*run)(void *context, bool committed), void *context);

/* Outcome of any id, resolved through parents. */
enum txn_state { TXN_RUNNING, TXN_COMMITTED, TXN_ABORTED };
enum status txn_outcome(struct store *, xid_t, enum txn_state *state, lsn_t *number) MUST_CHECK;   /* waits out COMMITTING */
/* Waits until the transaction is over; DEADLOCK, CANCELED … No latch may be held. For views, `table` names the relation. */
enum status txn_wait(struct txn *self, xid_t other) MUST_CHECK;

/* for store.c */
enum status txn_table_open(struct store *, uint32_t max_transactions, xid_t next_xid, struct txn_table **out) MUST_CHECK;
void        txn_table_close(struct txn_table *);
xid_t       txn_next_xid(struct store *);                    /* for the checkpoint record */
void        txn_recovered(struct store *, xid_t next_xid, lsn_t limit);
void        txn_note_new_file(struct txn *, uint32_t file);  /* made by it: removed if this level aborts */
void        txn_note_drop_file(struct txn *, uint32_t file); /* removed when the top commits */
lsn_t       txn_limit(struct store *);

/* For views (pg_stat_activity, pg_locks): copies what is running now. */
struct txn_sight { int32_t pid; uint64_t number; /* which of its slot */ xid_t top; lsn_t snapshot; int64_t start_us; };
size_t      txn_sights(struct store *, struct txn_sight *out, size_t capacity);

#endif
