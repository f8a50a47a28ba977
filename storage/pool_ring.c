/* storage/pool_ring.c - a big scan's own small ring of frames.
 *
 * A page that the pool has is simply pinned, and no more "used" for it. On a miss the ring reads a run: the page and
 * those behind it, up to the first that the pool has, with one vectored call, into frames it used before (or, at
 * first, and where one was taken over by others, into frames of the clock sweep). The run is mapped as READING first,
 * so other scans wait for this read instead of doing it again. Pages read ahead are not kept pinned: with many scans
 * and a small pool that would leave no frame for anyone. */
#include <stdlib.h>

#include "storage/pool_frame.h"

#define RING_MAX 64
#define RUN_MAX  32

struct pool_ring {
    struct pool *pool;
    uint32_t file, end;             /* reads ahead of the scan, but not to `end` or past it */
    uint32_t capacity, run, next;   /* frames, pages read at once, the slot used next */
    struct { struct frame *frame; uint64_t key; } slots[RING_MAX];
};

struct pool_ring *pool_ring_open(struct pool *pool, uint32_t file, uint32_t first_page, uint32_t end_page, bool read_ahead)
{
    struct pool_ring *ring = calloc(1, sizeof *ring);
    ring->pool = pool;
    ring->file = file;
    ring->capacity = pool->frame_count / 16;
    if (ring->capacity > RING_MAX)
        ring->capacity = RING_MAX;
    if (ring->capacity < 1)
        ring->capacity = 1;
    ring->run = !read_ahead || ring->capacity / 2 < 1 ? 1 : ring->capacity / 2;
    ASSERT(ring->run <= RUN_MAX);
    pool_ring_range(ring, first_page, end_page);
    return ring;
}

void pool_ring_range(struct pool_ring *ring, uint32_t first_page, uint32_t end_page)
{
    (void)first_page;
    ring->end = end_page;
}

void pool_ring_close(struct pool_ring *ring)
{
    free(ring);                     /* its frames are the pool's, and the first to be taken: nobody "used" them */
}

/* The next slot's frame, if it still holds what the ring put there and nobody else took a liking to it. */
static struct frame *slot_take(struct pool_ring *ring)
{
    struct frame *frame = ring->slots[ring->next].frame;
    uint64_t key = ring->slots[ring->next].key;
    ring->slots[ring->next].frame = NULL;
    if (!frame || atomic_load_explicit(&frame->key, memory_order_relaxed) != key || atomic_load_explicit(&frame->usage, memory_order_relaxed))
        return NULL;
    if (atomic_load_explicit(&frame->dirty, memory_order_relaxed) && frame_write(ring->pool, frame, key) != STATUS_OK)
        return NULL;
    return frame_evict(ring->pool, frame, key) ? frame : NULL;
}

/* Reads a run of at most `want` pages that begins with `page`. NOT_FOUND: the page came into the pool meanwhile. OK:
 * it is pinned. */
static enum status read_run(struct pool_ring *ring, uint32_t page, uint32_t want, struct frame **out)
{
    struct pool *pool = ring->pool;
    struct frame *frames[RUN_MAX];
    void *bytes[RUN_MAX];
    uint32_t count = 0;

    while (count < want) {
        struct frame *frame = slot_take(ring);
        if (!frame) {
            enum status status = frame_obtain(pool, count == 0, &frame);
            if (status && count == 0)
                return status;
            if (status)
                break;
        }
        page_id id = { ring->file, page + count };
        uint64_t hash = page_hash(page_key(id));
        struct latch *latch = part_acquire(pool, hash, LATCH_EXCLUSIVE);
        bool there = chain_find(pool, hash, page_key(id)) != NULL;
        if (!there) {
            frame_map(pool, frame, hash, id, RANK_HEAP, 0, 0);
            atomic_fetch_add_explicit(&part_of(pool, hash)->misses, 1, memory_order_relaxed);
        }
        latch_release(latch);
        if (there) {
            frame_give_back(frame);
            break;
        }
        ring->slots[ring->next].frame = frame;
        ring->slots[ring->next].key = page_key(id);
        ring->next = (ring->next + 1) % ring->capacity;
        bytes[count] = frame->bytes;
        frames[count++] = frame;
    }
    if (count == 0)
        return STATUS_NOT_FOUND;
    pool_touched.reads += count;
    pool_touched.hits -= count - 1;

    point_at("pool.reading", frames[0], page_key((page_id){ ring->file, page }));
    enum status status = file_read_run(pool->files, (page_id){ ring->file, page }, count, bytes);
    atomic_fetch_add_explicit(&pool->read_ahead, count - 1, memory_order_relaxed);
    const enum status read = status;
    for (uint32_t i = 0; i < count; i++) {
        page_id id = { ring->file, page + i };
        bool good = !read && page_check(frames[i]->bytes, id);
        frame_settle(pool, frames[i], page_key(id), good, i == 0);
        if (i == 0 && !read && !good)
            status = page_error(id);            /* the others' turn comes when they are asked for */
    }
    *out = frames[0];
    return status;
}

static enum status ring_pin_outside(struct pool_ring *ring, uint32_t page, struct frame **out)
{
    struct pool *pool = ring->pool;
    const uint64_t key = page_key((page_id){ ring->file, page }), hash = page_hash(key);
    uint32_t want = page < ring->end ? ring->end - page : 1;
    if (want > ring->run)
        want = ring->run;
    for (;;) {
        struct latch *latch = part_acquire(pool, hash, LATCH_SHARED);
        struct frame *frame = chain_find(pool, hash, key);
        if (frame && atom_load(&frame->state) == FRAME_READY && frame->content.rank == RANK_HEAP && frame->content.level == 0) {
            atom_add(&frame->pins, 1);
            count_hit(pool);
            latch_release(latch);
            pool_pins++;
            *out = frame;
            return STATUS_OK;
        }
        latch_release(latch);
        if (frame)                              /* being read, or under another rank: the ordinary way sees to that */
            return frame_pin(pool, key_page(key), RANK_HEAP, 0, false, out);
        enum status status = read_run(ring, page, want, out);
        if (!status)
            pool_pins++;
        if (!status || (status != STATUS_NOT_FOUND && want == 1))
            return status;
        if (status != STATUS_NOT_FOUND)
            want = 1;                           /* what failed may have been another page of the run */
    }
}

static enum status ring_pin_latched(struct pool_ring *ring, uint32_t page, struct frame **out)
{
    latch_acquire(&ring->pool->io_latch, LATCH_EXCLUSIVE);
    enum status status = ring_pin_outside(ring, page, out);
    latch_release(&ring->pool->io_latch);
    return status;
}

enum status pool_ring_pin(struct pool_ring *ring, uint32_t page, struct page_ref *out)
{
    struct frame *frame;
    enum status status = atomic_load_explicit(&pool_io_latched, memory_order_relaxed) ? ring_pin_latched(ring, page, &frame)
                                                                                      : ring_pin_outside(ring, page, &frame);
    if (status) {
        *out = (struct page_ref){ 0 };
        return status;
    }
    point_at("pool.pin", frame, page_key((page_id){ ring->file, page }));
    *out = (struct page_ref){ .frame = frame, .bytes = frame->bytes, .id = { ring->file, page } };
    return STATUS_OK;
}
