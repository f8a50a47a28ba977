/* storage/checkpoint.h - the thread that bounds recovery and the WAL's disk use. Private to storage/store.c.
 *
 * A checkpoint moves the redo point, writes what is dirty then, syncs, logs itself, writes the control file, and lets
 * the WAL before the redo point go. It goes on beside all work. */
#ifndef STORAGE_CHECKPOINT_H
#define STORAGE_CHECKPOINT_H

#include "storage/store.h"

/* What a WAL_CHECKPOINT record says; also in the control file. */
struct checkpoint_record { struct wal_record head; lsn_t redo; xid_t next_xid; uint32_t next_file, unused; };
_Static_assert(sizeof(struct checkpoint_record) == 56, "in the WAL");

struct checkpointer;
struct checkpointer *checkpointer_open(struct store *, uint32_t seconds, uint64_t max_wal_bytes);
enum status checkpointer_start(struct checkpointer *) MUST_CHECK;
void        checkpointer_stop(struct checkpointer *);       /* the thread only: checkpoint_now() still works */
void        checkpointer_close(struct checkpointer *);
/* By the calling thread. final: nobody else is there any more, the next start needs no recovery. */
enum status checkpoint_now(struct checkpointer *, bool final) MUST_CHECK;

#endif
