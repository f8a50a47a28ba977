/* storage/txn_slot.h - private to txn.c, status.c, lock.c, row_lock.c and lock_graph.c: the transaction table's structs.
 *
 * Fields are grouped by who may touch them. A slot belongs to one session; struct txn inside it is the session
 * thread's own (parallel workers read it while the leader waits). What others look at is atomic. */
#ifndef STORAGE_TXN_SLOT_H
#define STORAGE_TXN_SLOT_H

#include "base/atomic.h"
#include "base/latch.h"
#include "storage/lock.h"
#include "storage/txn.h"

#define SNAPSHOT_NONE UINT64_MAX
#define FAST_LOCKS    16                     /* weak table locks kept in the slot itself (lock.c) */
#define RUNNING_HINTS 4096                   /* xid -> slot, direct mapped; only a hint */

struct row_hold;
struct wait_edge { struct txn_slot *slot; uint64_t serial; uint32_t rollbacks; };

/* What a session waits for (lock_graph.c); guarded by the graph's latch, `satisfied` excepted. */
struct wait_record {
    bool        active;
    bool        for_transaction;             /* else for the lock object `key` in `mode` */
    _Atomic bool satisfied;                  /* granted, though the waiter has not woken yet */
    uint64_t    number;                      /* which wait of this session's it is */
    _Atomic int64_t start_us;                /* wall clock, for views */
    xid_t       xid;
    uint64_t    key_high, key_low;
    uint8_t     mode;
    struct wait_edge *edges;
    uint32_t    edge_count, edge_capacity;
    uint32_t    visit;                       /* the search that came by last */
    struct condition wake;                   /* for_transaction: the waiter sleeps here, under the graph's latch */
};

struct txn_level { xid_t xid; };
struct txn_sub   { xid_t xid; int level; };
struct txn_end   { void (*run)(void *, bool); void *context; int level; };
struct txn_file  { uint32_t file; bool drop; int level; };
struct held_lock { uint64_t key_high, key_low; uint8_t mode; int level; };

struct txn {
    struct store *store;
    struct txn_slot *slot;
    enum isolation isolation;
    bool      read_only, synchronous, has_snapshot;
    int64_t   start_us;
    xid_t     top;                           /* 0: wrote nothing */
    command_t command;
    lsn_t     limit;                         /* REPEATABLE READ: the one snapshot */
    uint32_t  snapshots_held;                /* READ COMMITTED */
    struct txn_level *levels; int level_count, level_capacity;    /* [0] is the transaction itself */
    struct txn_sub  *subs;  uint32_t sub_count, sub_capacity;     /* live savepoint ids, rising in xid and in level */
    struct txn_end  *ends;  uint32_t end_count, end_capacity;
    struct txn_file *noted; uint32_t noted_count, noted_capacity;
    struct held_lock *held; uint32_t held_count, held_capacity;   /* table locks, in order of taking */
};

struct txn_slot {
    /* Read by everybody, written by the session. Every commit of another session looks at in_flight, so it lies in a cache
     * line that a statement which only reads doesn't write. */
    _Atomic uint64_t announced;              /* oldest snapshot in use, or SNAPSHOT_NONE */
    _Atomic uint64_t serial;                 /* which transaction of this slot */
    _Atomic int64_t  start_us;
    _Alignas(64) _Atomic uint64_t in_flight; /* its commit record's end or, before that is known, the least it can be; 0: not committing */
#define IN_FLIGHT_STORED UINT64_C(1)         /* added to it: its outcome is on the status page, ... */
#define IN_FLIGHT_LAZY   UINT64_C(2)         /* ... and that is enough (synchronous_commit = off) */
    _Atomic uint64_t top;                    /* id of the transaction here, until it is wholly over */
    _Atomic uint64_t running;                /* the same, but 0 as soon as its end has begun */
    _Atomic uint32_t rollbacks;              /* savepoint rollbacks: who waits for one of its ids looks again */
    _Atomic uint32_t waiters;                /* how many sessions may wait for this transaction's end */
    _Atomic bool     used;
    _Atomic int32_t pid;
    uint32_t number;
    struct txn_table *table;

    _Alignas(64) struct latch own;           /* rank LEAF: fast locks, row_holds */
    struct { uint32_t table; uint32_t modes; } fast[FAST_LOCKS];
    struct row_hold *row_holds;              /* newest first */
    bool   holds_closed;                     /* the transaction lets its locks go: nobody may add to row_holds */

    struct wait_record wait;
    struct txn txn;
} __attribute__((aligned(128)));

struct txn_table {
    /* read by every transaction, written seldom */
    struct store *store;
    uint64_t generation;                     /* of this table: threads drop cached outcomes of another */
    xid_t    first_xid;                      /* given out since this start; below, no outcome means aborted */
    struct txn_slot *slots;
    uint32_t slot_capacity;
    _Atomic uint32_t slot_high;              /* slots at and past it were never used */
    _Atomic uint32_t status_groups;          /* groups of status pages below this one are formatted, as far as new ids need them */
    _Atomic uint32_t status_cut;             /* groups below it were given back */
    struct heap_registry *_Atomic heaps;     /* heap_state.c */

    /* written by every commit: `limit`, which every snapshot reads, has a cache line to itself */
    _Alignas(64) _Atomic uint64_t limit;
    _Alignas(64) struct latch latch;         /* rank TXN: giving out ids and slots, moving the limit */
    _Atomic uint64_t next_xid;
    uint32_t waiting;                        /* threads that wait for limit_moved */
    struct condition limit_moved;
    _Alignas(64) _Atomic uint32_t hints[RUNNING_HINTS];   /* where an id's is: hint_of() */
};

/* Ids that follow each other have their hints in different cache lines. */
static inline _Atomic uint32_t *hint_of(struct txn_table *table, xid_t xid)
{
    return &table->hints[xid % 64 * (RUNNING_HINTS / 64) + xid / 64 % (RUNNING_HINTS / 64)];
}

/* Waits until the limit has moved. The table's latch is held. */
static inline void limit_await(struct txn_table *table)
{
    table->waiting++;
    condition_wait(&table->limit_moved, &table->latch);
    table->waiting--;
}

/* status.c */
struct txn_view { enum txn_state state; bool committing; lsn_t number; xid_t top; };
enum status status_prepare(struct txn_table *, xid_t) MUST_CHECK;             /* its status pages are there */
enum status status_fetch(struct txn_table *, xid_t, struct page_ref *) MUST_CHECK;   /* EXCLUSIVE, to write its outcome */
uint32_t    status_offset(xid_t);
#define OUTCOME_ABORTED (UINT64_C(1) << 62)
#define OUTCOME_SUB     (UINT64_C(1) << 63)
struct txn_slot *txn_slot_of(struct txn_table *, xid_t top);                  /* NULL: over */

/* As txn_outcome, but never waits for a transaction: one that is committing counts as running. Allowed under page
 * latches up to SPACE. What it calls running is in no snapshot taken before the call. */
enum status txn_peek(struct store *, xid_t, struct txn_view *) MUST_CHECK;

/* lock_graph.c */
struct lock_graph;
enum status lock_graph_interrupted(uint64_t deadline_us);     /* the pending interrupt or passed deadline as an error; OK when neither */
void lock_graph_transaction_over(struct txn_slot *);          /* wakes who waits for it; also after a rollback to a savepoint */

void *vector_room(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes);   /* for one more; grows by doubling */

#endif
