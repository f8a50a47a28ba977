/* storage/lock.h - locks: they belong to a transaction, protect tables and rows, wait for seconds, and have deadlock
 * detection (a waits-for graph searched when a wait begins; the victim is who closed the circle: 40P01).
 *
 * Table locks have PostgreSQL's eight modes. Row locks (FOR UPDATE …) lie in memory, keyed by (heap file, row id),
 * and follow their row: heap_update carries the holders over to the new version under the page's latch. All are let go at
 * the transaction's end, or when the savepoint that took them is rolled back. Past the memory limit: OUT_OF_MEMORY
 * (53200) with PostgreSQL's hint. Waiting is interruptible and honours lock_timeout. */
#ifndef STORAGE_LOCK_H
#define STORAGE_LOCK_H

#include "storage/txn.h"

enum table_lock { LOCK_ACCESS_SHARE = 1, LOCK_ROW_SHARE, LOCK_ROW_EXCLUSIVE, LOCK_SHARE_UPDATE_EXCLUSIVE, LOCK_SHARE,
                  LOCK_SHARE_ROW_EXCLUSIVE, LOCK_EXCLUSIVE, LOCK_ACCESS_EXCLUSIVE };
enum row_lock   { ROW_KEY_SHARE = 1, ROW_SHARE, ROW_NO_KEY_UPDATE, ROW_UPDATE };     /* weakest first; PostgreSQL's conflict table */
enum lock_wait  { LOCK_WAIT, LOCK_NOWAIT, LOCK_SKIP };                               /* NOWAIT fails with 55P03, SKIP with WOULD_BLOCK */

enum status lock_table_open(struct store *, uint64_t bytes, struct lock_table **out) MUST_CHECK;
void        lock_table_close(struct lock_table *);

/* table is the relation's oid. Fast when held already in that mode or a stronger one. */
enum status lock_relation(struct txn *, uint32_t table, enum table_lock, enum lock_wait) MUST_CHECK;
bool        lock_relation_held(struct txn *, uint32_t table, enum table_lock);
extern _Thread_local uint32_t lock_timeout_ms;               /* lock_timeout of the session; 0 = none */
/* A place in the queue of those who wait for a row: taken before waiting for the transaction that changed it, so that of
 * many who want a hot row one is woken at a time, in order. Let go with lock_row_turn_done(), or at the transaction's end. */
enum status lock_row_turn(struct txn *, uint32_t file, uint64_t row_id, enum row_lock) MUST_CHECK;
void        lock_row_turn_done(struct txn *, uint32_t file, uint64_t row_id, enum row_lock);

/* For heap.c, under the page's latch: */
bool        lock_row_any(struct store *, uint32_t file);     /* quick: may any row of this file be locked? */
/* Another transaction's lock on the row that conflicts with mode: its top id, else 0. */
xid_t       lock_row_conflict(struct txn *, uint32_t file, uint64_t row_id, enum row_lock mode);
enum status lock_row_take(struct txn *, uint32_t file, uint64_t row_id, enum row_lock) MUST_CHECK;
void        lock_row_carry(struct store *, uint32_t file, uint64_t from, uint64_t to);   /* an update made `to` */

bool        lock_row_held(struct store *, uint32_t file, uint64_t row_id);   /* by anybody: then its version stays */

/* for txn.c */
void        lock_release_all(struct txn *);
void        lock_release_level(struct txn *, int level);     /* taken at that savepoint level or inside it */
void        lock_keep_level(struct txn *, int level);        /* the savepoint is released: they are the next outer level's now */
enum status lock_wait_for(struct txn *, const xid_t *others, uint32_t count, const char *what) MUST_CHECK;  /* until one of them ends */

/* The same for one, who may be in the way only by a row lock: that can end without the transaction's end or a wake-up,
 * so it comes back now and then (OK) for the caller to look again. *deadline_us: 0 at first; kept over the calls. */
enum status lock_wait_a_while(struct txn *, xid_t other, uint64_t *deadline_us) MUST_CHECK;

struct lock_sight { int32_t pid; uint32_t table; uint64_t row_id; xid_t awaited_xid; uint8_t mode; bool row, granted; int64_t wait_start_us; };
size_t      lock_sights(struct store *, struct lock_sight *out, size_t capacity);
#endif
