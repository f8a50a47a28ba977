/* storage/wal.h - the write-ahead log: records appended to a ring by many threads at once, flushed by one leader for
 * all who wait.
 *
 * An LSN is a byte position in the endless stream; the stream lies in segments DIR/wal/<number>. A record is
 * reserved (under WAL_RING, a few instructions), then copied with no latch held. Redo only. If the WAL cannot be
 * written or synced the server stops (panic). Only storage/mtr.c, txn.c and checkpoint.c append. */
#ifndef STORAGE_WAL_H
#define STORAGE_WAL_H

#include "base/error.h"
#include "storage/page.h"

struct wal;
#define WAL_SEGMENT_BYTES (16u << 20)

enum wal_kind { WAL_PAGES = 1, WAL_END, WAL_FILE_MADE, WAL_FILE_DROPPED, WAL_CHECKPOINT };   /* END: transaction's end (its page changes ride along) */

struct wal_record {                             /* header of every record, on disk */
    uint32_t length;                            /* whole record, a multiple of 8 */
    uint32_t crc;                               /* CRC-32C of the rest, from `lsn` on */
    lsn_t    lsn;                               /* of its first byte: a stale record is never taken for a new one */
    xid_t    xid;                               /* who wrote it, or 0 */
    uint8_t  kind; uint8_t unused[7];
};
_Static_assert(sizeof(struct wal_record) == 32, "on-disk size");

struct wal_options { const char *directory; uint64_t ring_bytes; };      /* ring: made a power of two, 16 KB at least */
/* start: where appending goes on, after recovery; whatever lies behind it is erased. A new stream starts at WAL_START. */
enum status wal_open(const struct wal_options *, lsn_t start, struct wal **out) MUST_CHECK;
void        wal_close(struct wal *);                        /* flushes */
#define WAL_START ((lsn_t)WAL_SEGMENT_BYTES)

/* Reserve and copy one record. `redo_seen` is the redo point that the caller built it under; if it moved meanwhile,
 * nothing is appended and false is returned (build it anew). The record's lsn and crc are filled in here. *start and
 * *end are its first byte and the byte past it; a page's LSN is *end. *txn_note, when not NULL, is an atomic that
 * gets *end stored inside the reservation (commit order). Waits for a flush when the ring is full; so the caller may hold page latches, and
 * the flush never needs one. */
bool        wal_append(struct wal *, struct wal_record *record, lsn_t redo_seen, lsn_t *start, lsn_t *end, _Atomic uint64_t *note);
extern _Thread_local struct wal_given { uint64_t records, bytes, images; } wal_given;    /* what the calling thread has appended so far; images: of pages, in those bytes */
/* Wakes the writer if there is enough for it, so that nobody need wait for room. Whoever is woken may take this thread's processor at
 * once: so those who append call it when nobody waits for them, no page latched and no commit under way. */
void        wal_write_ahead(struct wal *);
uint64_t    wal_max_record(const struct wal *);             /* a fraction of the ring: the largest record */
lsn_t       wal_redo_point(const struct wal *);             /* full images are due for pages whose LSN is <= this */
lsn_t       wal_move_redo_point(struct wal *);              /* to the next record's start; a checkpoint begins */
lsn_t       wal_next(const struct wal *);                   /* where the next record would go */
lsn_t       wal_flushed(const struct wal *);
void        wal_flush(struct wal *, lsn_t upto);            /* returns once everything before `upto` is on disk; group commit */
void        wal_recycle(struct wal *, lsn_t before);        /* segments wholly before it are reused or removed */
extern _Atomic uint32_t wal_group_commit;                   /* crab.group_commit: 1 = one flush for all who wait */
extern _Atomic uint32_t wal_fsync_enabled;                  /* fsync; test builds take it out to show that tests notice */

/* Reading, for recovery. */
struct wal_reader;
enum status wal_reader_open(const char *directory, lsn_t from, struct wal_reader **out) MUST_CHECK;
bool        wal_read(struct wal_reader *, struct wal_record **out);   /* false at the end of what is whole; valid until the next call */
lsn_t       wal_reader_position(const struct wal_reader *);
void        wal_reader_close(struct wal_reader *);
/* Syncs all segments: what recovery read must stay, before pages made from it reach the disk. */
enum status wal_sync_directory(const char *directory) MUST_CHECK;
void        wal_count_images(struct wal *, uint32_t count);  /* mtr.c: full images in the record just appended */
struct wal_stats { lsn_t next, flushed, redo; uint64_t records, bytes, flushes, images, ring_waits; };
void        wal_stats(struct wal *, struct wal_stats *out);

#endif
