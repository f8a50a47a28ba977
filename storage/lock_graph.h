/* storage/lock_graph.h - private to lock.c and row_lock.c: who waits for whom. See lock_graph.c. */
#ifndef STORAGE_LOCK_GRAPH_H
#define STORAGE_LOCK_GRAPH_H

#include "storage/txn_slot.h"

/* What lock_table_open makes. Latches of rank LOCK_TABLE: the graph's, each partition's; never two at once. */
#define OBJECT_PARTITIONS 64
#define ROW_PARTITIONS    128
#define ANY_COUNTERS      1024

struct object_lock;
struct object_part { struct latch latch; struct object_lock *buckets[64]; } __attribute__((aligned(64)));
struct row_part {
    struct latch latch;
    struct row_hold **buckets;
    uint32_t bucket_count, hold_count;
} __attribute__((aligned(64)));

struct lock_table {
    uint64_t bytes_allowed;
    _Atomic uint64_t bytes_used;
    struct latch graph;
    uint32_t visit;                                  /* number of the search under way */
    struct txn_slot *path[4096]; uint32_t path_length;   /* the circle that the last search found, from its start */
    _Atomic uint32_t strong[ANY_COUNTERS];           /* strong locks held or wanted on tables of that hash (lock.c) */
    _Atomic uint32_t rows_locked[ANY_COUNTERS];      /* row locks in files of that hash */
    struct object_part objects[OBJECT_PARTITIONS];
    struct row_part rows[ROW_PARTITIONS];
};

/* Edges as they are now of a wait for a lock object; under no latch. False when that wait is over. */
bool lock_object_edges(struct lock_table *, struct txn_slot *, struct wait_record *copy);
void lock_edges_add(struct wait_record *, struct txn_slot *blocker);

/* Sets the calling session's wait (edges are filled in) and looks for a circle through it. DEADLOCK with an error
 * record that names everybody; the wait is withdrawn then. */
enum status lock_graph_enter(struct txn *) MUST_CHECK;
void        lock_graph_leave(struct txn *);
enum status lock_memory(struct lock_table *, uint64_t bytes) MUST_CHECK;   /* counts it, or OUT_OF_MEMORY */
const char *lock_mode_name(uint8_t mode);                /* "AccessShareLock" */

#endif
