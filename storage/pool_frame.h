/* storage/pool_frame.h - what the files of the buffer pool share; private to storage/pool*.c.
 *
 * pool.c       the page table: finding, pinning, reading, evicting
 * pool_write.c writing back: one frame, the cleaner, the checkpoint's round
 * pool_ring.c  big scans: a small ring of frames, runs read ahead
 * pool_file.c  how long files are; growing, truncating and forgetting them */
#ifndef STORAGE_POOL_FRAME_H
#define STORAGE_POOL_FRAME_H

#include <string.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "storage/file.h"
#include "storage/pool.h"
#include "storage/wal.h"

#define POOL_PARTS  128u
#define USAGE_MAX   5
#define NO_KEY      UINT64_MAX
#define NO_INDEX    UINT32_MAX

#define PINS_TAKEN  0x80000000u     /* in `pins`: the frame holds no page that may be pinned, or is being taken from it (pool.c, rule 3) */
#define HIT_STRIPES 256u

enum frame_state { FRAME_FREE, FRAME_CLAIMED, FRAME_READING, FRAME_READY };

struct frame {
    _Atomic uint64_t key;           /* file << 32 | page; NO_KEY while not mapped */
    _Atomic uint32_t pins;          /* changed by adding only, but 0 -> PINS_TAKEN by compare-and-swap (rule 3) */
    _Atomic uint8_t  state;         /* FREE -> CLAIMED by compare-and-swap; the rest under the partition's latch */
    _Atomic uint8_t  usage;         /* of the clock sweep; a hint */
    _Atomic bool     dirty;         /* set with the content latch EXCLUSIVE, cleared with it SHARED */
    _Atomic bool     writing;       /* under the partition's latch: bars a second write and eviction, nobody else */
    _Atomic uint32_t next;          /* in its bucket; written under the partition's latch, read without (rule 3) */
    struct latch content;
    uint8_t *bytes;
    struct pool *pool;
    struct condition settled;       /* with the partition's latch: a read or a write has ended */
} __attribute__((aligned(128)));

struct part {
    struct latch latch;
    _Atomic uint32_t *buckets;      /* as `next` */
    _Atomic uint64_t misses;
} __attribute__((aligned(128)));

struct pool {
    struct part parts[POOL_PARTS];  /* page tables: always 128; the mask chooses which of their latches guards one */
    _Atomic uint32_t part_mask;
    uint32_t bucket_mask;
    struct frame *frames;
    uint32_t frame_count;
    uint8_t *memory;
    struct files *files;
    struct wal *_Atomic wal;

    struct { _Alignas(128) _Atomic uint64_t hits; } stripes[HIT_STRIPES];   /* a thread counts in its own, or shares it with few */

    _Alignas(128) _Atomic uint32_t hand;                   /* clock sweep */
    _Atomic uint64_t evictions, written, waits_for_read, read_ahead;
    struct latch io_latch;                                 /* POOL_IO: crab.pool_io = latched */

    struct latch length_latch;                             /* FILE: guards `lengths` */
    struct file_length *lengths[1024];

    struct latch cleaner_latch;                            /* LEAF: */
    struct condition cleaner_wake;
    bool cleaner_stop;
    struct thread *cleaner;
    _Atomic bool cleaner_asleep;
    _Atomic uint64_t complained_us;                        /* when a failed write was logged last */
};

static inline uint64_t page_key(page_id id)  { return (uint64_t)id.file << 32 | id.page; }
static inline page_id  key_page(uint64_t key) { return (page_id){ (uint32_t)(key >> 32), (uint32_t)key }; }
/* Neighbours in a file are neighbours in the table: so what the table says of one file lies in few cache lines. Files begin anywhere. */
static inline uint64_t page_hash(uint64_t key) { return hash_u64(key >> 32) + (uint32_t)key; }
static inline struct part *part_of(struct pool *pool, uint64_t hash) { return &pool->parts[hash & (POOL_PARTS - 1)]; }

/* The latch that guards a page's partition. The mask is read again once it is held: pool_set_partitions() changes it
 * with all of them held. */
static inline struct latch *part_acquire(struct pool *pool, uint64_t hash, enum latch_mode mode)
{
    for (;;) {
        uint32_t mask = atom_load_acquire(&pool->part_mask);
        struct latch *latch = &pool->parts[hash & mask].latch;
        latch_acquire(latch, mode);
        if (__builtin_expect(mask == atom_load_acquire(&pool->part_mask), 1))
            return latch;
        latch_release(latch);
    }
}

static inline struct frame *chain_find(struct pool *pool, uint64_t hash, uint64_t key)
{
    uint32_t index = atomic_load_explicit(&part_of(pool, hash)->buckets[(hash >> 7) & pool->bucket_mask], memory_order_relaxed);
    while (index != NO_INDEX) {
        struct frame *frame = &pool->frames[index];
        if (atomic_load_explicit(&frame->key, memory_order_relaxed) == key)
            return frame;
        index = atomic_load_explicit(&frame->next, memory_order_relaxed);
    }
    return NULL;
}

static inline uint32_t pins_of(const struct frame *frame) { return atomic_load_explicit(&frame->pins, memory_order_relaxed) & ~PINS_TAKEN; }

/* Takes the page from a frame that nobody has pinned; the partition's latch is held EXCLUSIVE. */
static inline bool pins_take(struct frame *frame)
{
    uint32_t none = 0;
    return atom_cas(&frame->pins, &none, PINS_TAKEN);
}

extern _Thread_local uint32_t pool_stripe;                 /* which this thread counts in; 0: not given out yet */
uint32_t pool_stripe_new(void);
static inline void count_hit(struct pool *pool)
{
    pool_touched.hits++;
    uint32_t stripe = pool_stripe ? pool_stripe : pool_stripe_new();
    _Atomic uint64_t *hits = &pool->stripes[stripe % HIT_STRIPES].hits;
    atomic_store_explicit(hits, atomic_load_explicit(hits, memory_order_relaxed) + 1, memory_order_relaxed);   /* those who share one may lose a count */
}

static inline void use_more(struct frame *frame)
{
    uint8_t usage = atomic_load_explicit(&frame->usage, memory_order_relaxed);
    if (usage < USAGE_MAX)
        atomic_store_explicit(&frame->usage, (uint8_t)(usage + 1), memory_order_relaxed);
}

extern _Thread_local int pool_pins;                        /* held by this thread */

/* pool.c */
/* Finds the page or reads it (fresh: zeros it), and pins it; crab.pool_io's latch is the caller's business. */
enum status frame_pin(struct pool *, page_id, enum latch_rank, uint16_t level, bool fresh, struct frame **out) MUST_CHECK;
/* A frame out of the clock sweep, CLAIMED: the caller's alone. `patient`: waits a while for one, and writes dirty
 * pages; else takes only what is there. */
enum status frame_obtain(struct pool *, bool patient, struct frame **out) MUST_CHECK;
void frame_give_back(struct frame *);                      /* CLAIMED -> FREE */
/* READY, clean, unpinned, and holding key -> CLAIMED. */
bool frame_evict(struct pool *, struct frame *, uint64_t key);
/* Maps a CLAIMED frame as READING with one pin; the partition's latch is held EXCLUSIVE. */
void frame_map(struct pool *, struct frame *, uint64_t hash, page_id, enum latch_rank, uint16_t level, uint8_t usage);
void frame_unmap(struct pool *, struct frame *, uint64_t hash);   /* the partition's latch is held EXCLUSIVE */
/* The read is over: READING -> READY, or forgotten when it failed. Wakes those who wait. keep: the pin stays. */
void frame_settle(struct pool *, struct frame *, uint64_t key, bool read, bool keep);
enum status page_error(page_id);                           /* sets the error of a page that did not check */

/* pool_file.c */
void pool_lengths_free(struct pool *);

/* pool_write.c */
/* Writes the frame's page if it is (still) key and dirty. WOULD_BLOCK: its latch is held EXCLUSIVE, or another write is under way. */
enum status frame_write(struct pool *, struct frame *, uint64_t key) MUST_CHECK;
void cleaner_kick(struct pool *);

#endif
