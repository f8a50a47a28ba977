/* storage/store.h - one data directory, opened: files, WAL, buffer pool, transactions, locks, checkpointer, in one
 * struct that all of storage and btree get handed.
 *
 * Layout of DIR: `control` (version, page size, last checkpoint; two copies, each with a CRC, written in turn),
 * `base/<n>` (numbered files), `wal/` (segments), `lock` (pid of the server that uses it; flock'ed). File 1 holds
 * transaction status pages; engine's catalogs have fixed numbers below 1000; the rest are given out by
 * store_new_file(). */
#ifndef STORAGE_STORE_H
#define STORAGE_STORE_H

#include "storage/file.h"
#include "storage/mtr.h"
#include "storage/pool.h"
#include "storage/wal.h"

#define FILE_STATUS      1
#define FILE_FIRST_FREE  1000

struct txn_table;
struct lock_table;
struct txn;
struct store {
    struct files *files;
    struct wal *wal;
    struct pool *pool;
    struct txn_table *txns;
    struct lock_table *locks;
    struct checkpointer *checkpointer;
    char *directory;
    _Atomic bool fresh;                        /* no catalog in it yet: store_bootstrap_done() was never called on this directory */
    int   lock_fd;
    _Atomic uint32_t next_file;            /* the number store_new_file() gives out next */
    uint64_t recovered_records, recovered_us;
};
struct store_options {
    uint64_t pool_bytes, wal_ring_bytes, lock_bytes;
    uint32_t pool_partitions, checkpoint_seconds, max_transactions;   /* max_transactions: sessions that may hold a snapshot or xid at once */
    uint64_t max_wal_bytes;                /* a checkpoint begins when this much WAL was written since the last */
};
/* Creates DIR when it is missing, runs recovery when it is due, starts checkpointer and cleaner. Errors: OBJECT_IN_USE (another
 * server has it), CONFIG_FILE (other version or page size), CORRUPT, IO. */
enum status store_open(const char *directory, const struct store_options *, struct store **out) MUST_CHECK;
enum status store_close(struct store *);   /* final checkpoint; every session is gone */
enum status store_checkpoint(struct store *) MUST_CHECK;   /* now, and waits for its end */
void store_set_checkpoint(struct store *, uint32_t seconds, uint64_t max_wal_bytes);
struct checkpoint_stats { uint64_t requested, timed, pages, last_us; lsn_t last_redo; };
void store_checkpoint_stats(struct store *, struct checkpoint_stats *out);

/* Files. A file made by a transaction that does not commit is removed (at its end, or by recovery's sweep:
 * store_sweep_files); a drop takes place when the transaction commits. */
enum status store_new_file(struct store *, struct txn *, uint32_t *file) MUST_CHECK;
void store_drop_file(struct store *, struct txn *, uint32_t file);                  /* at commit */
enum status store_create_fixed_file(struct store *, uint32_t file) MUST_CHECK;      /* bootstrap only; replaces what a bootstrap that was cut short left */
/* The catalog stands and is committed: makes that durable, and `fresh` false for good. A directory whose first server
 * died before this is fresh again: the bootstrap starts over. */
enum status store_bootstrap_done(struct store *) MUST_CHECK;
/* The file's pages are forgotten and it is removed, now; nobody uses it any more. For txn.c, after the commit record
 * (whose extra bytes are the uint32_t numbers of the files to drop: redo drops them) or the abort; a failure is logged, and the
 * next start's sweep removes the file. */
void store_remove_file(struct store *, uint32_t file);
/* After start-up: removes files >= FILE_FIRST_FREE that `wanted` says nobody refers to. */
enum status store_sweep_files(struct store *, bool (*wanted)(void *, uint32_t file), void *context) MUST_CHECK;

#endif
