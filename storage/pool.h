/* storage/pool.h - pages of the database files, held in a fixed set of frames.
 *
 *     status = pool_fetch(pool, id, LATCH_SHARED, RANK_HEAP, 0, &ref);     pinned and latched
 *     ... read ref.bytes ...
 *     pool_release(&ref);                                                   unlatched and unpinned
 *
 * A pin keeps the page in its frame; a latch keeps its bytes still. A latch needs a pin. A fetch may wait for the
 * disk, holding no pool latch. rank and level say how the page's content latch stands in the order (base/latch.h);
 * its position is the page number: all who use a page at one time say the same; a page that gets another rank or level
 * (freed and given out again) is told so by the next fetch that finds it unpinned. A page is never changed but through
 * storage/mtr.h. Tests: tests/storage/pool_test.c, pool_stress.c */
#ifndef STORAGE_POOL_H
#define STORAGE_POOL_H

#include "base/latch.h"
#include "storage/page.h"

struct pool;
struct frame;
struct files;
struct wal;
struct page_ref { struct frame *frame; uint8_t *bytes; page_id id; bool latched; uint8_t mode; };

struct pool_options { struct files *files; struct wal *wal; uint64_t bytes; uint32_t partitions; };
enum status pool_open(const struct pool_options *, struct pool **out) MUST_CHECK;
void        pool_close(struct pool *);                       /* drops everything; write dirty pages before (checkpoint) */
void        pool_start_cleaner(struct pool *);
void        pool_stop_cleaner(struct pool *);

/* Fails with NO_FRAME (all pinned), IO, DISK_FULL or CORRUPT; then holds nothing. */
enum status pool_fetch(struct pool *, page_id, enum latch_mode, enum latch_rank, uint16_t level, struct page_ref *out) MUST_CHECK;
/* A page that was never written, EXCLUSIVE: zeros, without asking the disk. For what pool_extend() gave, and for redo
 * of a whole image (the page may be in the pool already: then its bytes are as they are; the caller fills them anew). */
enum status pool_fetch_new(struct pool *, page_id, enum latch_rank, uint16_t level, struct page_ref *out) MUST_CHECK;
/* Pinned but not latched; the rank for when it is latched later. */
enum status pool_pin(struct pool *, page_id, enum latch_rank, uint16_t level, struct page_ref *out) MUST_CHECK;
/* As pool_fetch, but WOULD_BLOCK when the latch cannot be had at once (the read is still waited for). */
enum status pool_fetch_try(struct pool *, page_id, enum latch_mode, enum latch_rank, uint16_t level, struct page_ref *out) MUST_CHECK;
void        pool_latch(struct page_ref *, enum latch_mode);
bool        pool_latch_try(struct page_ref *, enum latch_mode);
void        pool_unlatch(struct page_ref *);
void        pool_release(struct page_ref *);                 /* unlatches when latched, unpins; zeroes the ref */
/* Where the page most likely lies, if the pool has it: to warm the processor's caches, never to read (nothing keeps it there). NULL: nowhere. */
const uint8_t *pool_guess(struct pool *, page_id);
void        pool_pin_again(const struct page_ref *, struct page_ref *out);  /* a second pin on a page that is pinned */
/* EXCLUSIVE held: is ours the page's only pin? Then nobody reads its bytes until we let the latch go (pool.c, rule 6). It may say no
 * for somebody who only passes by (rule 3). */
bool        pool_only_pin(const struct page_ref *);

/* The length of a file in pages: grows with pool_extend and with redo; kept in memory, from the disk at first use. */
enum status pool_file_pages(struct pool *, uint32_t file, uint32_t *out) MUST_CHECK;
/* Makes the file `count` pages longer and says the first new page's number: the pages are zeros until someone formats
 * them. Reserves disk room (DISK_FULL). */
enum status pool_extend(struct pool *, uint32_t file, uint32_t count, uint32_t *first) MUST_CHECK;
enum status pool_note_page(struct pool *, page_id) MUST_CHECK;   /* redo: the file reaches at least to this page; UNDEFINED_FILE */
/* Forgets all pages of a file without writing them (it is being dropped or truncated; nobody uses it). */
void        pool_forget_file(struct pool *, uint32_t file);
enum status pool_truncate_file(struct pool *, uint32_t file, uint32_t pages) MUST_CHECK;

/* A big scan: frames from a small ring of its own, reads ahead in runs of contiguous pages. One thread uses a ring. */
struct pool_ring;
/* read_ahead false: each miss reads one page. */
struct pool_ring *pool_ring_open(struct pool *, uint32_t file, uint32_t first_page, uint32_t end_page, bool read_ahead);
/* A page, pinned, not latched (rank HEAP). Pages are asked for mostly rising; the ring reads ahead up to end_page. */
enum status pool_ring_pin(struct pool_ring *, uint32_t page, struct page_ref *out) MUST_CHECK;
void        pool_ring_range(struct pool_ring *, uint32_t first_page, uint32_t end_page);   /* go on with another range */
void        pool_ring_close(struct pool_ring *);
uint64_t    pool_frame_count(const struct pool *);

/* Writes every page that was dirty when called (checkpoint). pace, when given, is called after each page with how many
 * of how many are done, and may sleep. Goes on after an error, and returns the first. A page whose latch is held
 * EXCLUSIVE is tried again until it is had; but where sessions stand stopped (base/step.h) it is given up after a second, and
 * the answer is OBJECT_IN_USE. */
enum status pool_write_dirty(struct pool *, void (*pace)(void *, uint64_t done, uint64_t total), void *context, uint64_t *written) MUST_CHECK;

/* For mtr.c: the page is about to get a change; EXCLUSIVE held. Before its record is reserved. */
void        pool_mark_dirty(const struct page_ref *);
/* For recovery: the pool is opened before the WAL's end is known. */
void        pool_set_wal(struct pool *, struct wal *);
extern _Atomic uint32_t pool_io_latched;                     /* crab.pool_io: 1 = latched */
void        pool_set_partitions(struct pool *, uint32_t partitions);   /* 1 .. 128, a power of two; a mask, live */

struct pool_stats { uint64_t hits, misses, waits_for_read, evictions, written, read_ahead, frames, dirty, pinned; };
void        pool_stats(struct pool *, struct pool_stats *out);
/* What the calling thread has had so far: pages that were there, and pages that it had read from disk (by a run of several, all of them). A page
 * read ahead is taken off the hits, and comes back when it is asked for: it is counted once. Clean pages that it changed, and pages that it wrote itself, for
 * it needed their frames. */
extern _Thread_local struct pool_touched { int64_t hits, reads, dirtied, written; } pool_touched;
int         pool_pins_held(void);                            /* by the calling thread; 0 at the end of a statement */
void        pool_pin_moved(int delta);                       /* a ref handed to another thread: both count */

#endif
