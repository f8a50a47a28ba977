/* storage/recovery.h - redo of what the WAL holds from the redo point on. Private to storage/store.c. */
#ifndef STORAGE_RECOVERY_H
#define STORAGE_RECOVERY_H

#include "storage/store.h"

/* In: what the control file says. Out: next_xid and next_file raised past all that was met, and where the WAL ends.
 * The pool is open, and has no WAL yet. */
struct recovery { lsn_t redo; xid_t next_xid; uint32_t next_file; lsn_t end; uint64_t records; };
enum status recovery_run(struct store *, const char *wal_directory, struct recovery *) MUST_CHECK;

struct file_record { struct wal_record head; uint32_t file, unused; };      /* WAL_FILE_MADE, WAL_FILE_DROPPED */
_Static_assert(sizeof(struct file_record) == 40, "in the WAL");

#endif
