/* storage/pool.c - the buffer pool: the page table, pins, reads, eviction.
 *
 *          claim              map               read done
 *   FREE ---------> CLAIMED ---------> READING -----------> READY (+ writing, dirty)
 *    ^                 ^                  |                   |
 *    |                 +--- evict (clean, unpinned, not writing)
 *    +------------- read failed ----------+
 *
 * 1. A partition's latch guards its page map and the states of the frames in it. It is never held during I/O, and a
 *    thread never waits for a second one.
 * 2. Who finds READING waits on `settled`, then looks the page up again: the read may have failed, or the frame may
 *    hold another page by then. So no page is ever read twice at once. `writing` shuts nobody out: a copy is written.
 * 3. A pinned frame keeps its page. `pins` counts the pins; its top bit, PINS_TAKEN, stands while the frame holds no page that could be
 *    pinned. Whoever takes a page from its frame (evicts, forgets, relabels it) holds the partition's latch EXCLUSIVE and sets the bit by
 *    compare-and-swap from 0: so it fails where anybody has a pin. A hit therefore needs no latch (pin_hit): it finds the frame by reading the
 *    chain as it happens to be, adds a pin, and then looks whether the bit was unset, the key is still the wanted one and the frame is READY.
 *    If so the page cannot leave any more; if not it takes the pin back, and looks again under the partition's latch. So a
 *    frame may carry, for a moment, a pin of somebody who is only passing; since all but the taking add to `pins`, nothing is lost by it.
 *    crab.pool_partitions below 128 puts the partition's latch back into every hit.
 * 4. A CLAIMED frame belongs to one thread, which maps it, or gives it back.
 * 5. A frame's content latch is made anew when the frame takes a page, and when a fetch finds the page unpinned under
 *    another rank or level (it was freed, and given out again as something else): under the partition's latch, EXCLUSIVE.
 * 6. pool_only_pin(): a page's bytes may be read with a pin alone, but only what a look under the SHARED latch has
 *    found. So if a thread holds the latch EXCLUSIVE and sees no pin but its own, nobody reads the page now, and who
 *    pins it next looks first, which takes the latch. */
#include "storage/pool.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/mutant.h"
#include "base/step.h"
#include "storage/pool_frame.h"

#define NO_FRAME_US   2000000           /* how long a fetch waits for a frame when all are pinned */
#define WRITES_MAX    4                 /* failed writes after which a sweep stops trying */
#define RELABEL_TRIES 100

_Atomic uint32_t pool_io_latched;
_Thread_local int pool_pins;

/* ------------------------------------------------------------------ open, close, partitions */

static const struct latch *latch_of_pin(const void *frame) { return &((const struct frame *)frame)->content; }

enum status pool_open(const struct pool_options *options, struct pool **out)
{
    uint64_t frame_count = options->bytes / PAGE_BYTES;
    if (frame_count < 3)
        frame_count = 3;
    if (frame_count > UINT32_MAX / 2)
        frame_count = UINT32_MAX / 2;

    struct pool *pool = aligned_alloc(128, sizeof *pool);
    memset(pool, 0, sizeof *pool);
    pool->files = options->files;
    pool->wal = options->wal;
    pool->frame_count = (uint32_t)frame_count;
    uint32_t buckets = 1;
    while (buckets < frame_count / POOL_PARTS * 2)
        buckets *= 2;
    pool->bucket_mask = buckets - 1;
    for (uint32_t i = 0; i < POOL_PARTS; i++) {
        latch_init(&pool->parts[i].latch, RANK_POOL_PART, 0, i, 0);
        pool->parts[i].buckets = malloc(buckets * sizeof *pool->parts[i].buckets);
        for (uint32_t b = 0; b < buckets; b++)
            atomic_init(&pool->parts[i].buckets[b], NO_INDEX);
    }
    latch_init(&pool->io_latch, RANK_POOL_IO, 0, 0, 0);
    latch_init(&pool->length_latch, RANK_FILE, 0, 0, 0);
    latch_init(&pool->cleaner_latch, RANK_LEAF, 0, 0, 0);
    condition_init(&pool->cleaner_wake, "pool.cleaner");

    const size_t bytes = (size_t)frame_count * PAGE_BYTES, frames_bytes = (size_t)frame_count * sizeof(struct frame);
    pool->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pool->frames = mmap(NULL, frames_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pool->memory == MAP_FAILED || pool->frames == MAP_FAILED) {
        if (pool->memory == MAP_FAILED)
            pool->memory = NULL;
        if (pool->frames == MAP_FAILED)
            pool->frames = NULL;
        pool_close(pool);
        return error_set(STATUS_OUT_OF_MEMORY, "could not allocate %llu bytes for the buffer pool", (unsigned long long)bytes);
    }
#ifdef MADV_HUGEPAGE
    madvise(pool->memory, bytes, MADV_HUGEPAGE);
    madvise(pool->frames, frames_bytes, MADV_HUGEPAGE);
#endif
    for (uint32_t i = 0; i < frame_count; i++) {
        struct frame *frame = &pool->frames[i];
        atomic_init(&frame->key, NO_KEY);
        atomic_init(&frame->pins, PINS_TAKEN);
        frame->bytes = pool->memory + (size_t)i * PAGE_BYTES;
        frame->pool = pool;
        condition_init(&frame->settled, "pool.settled");
    }
    pool_set_partitions(pool, options->partitions ? options->partitions : POOL_PARTS);
    step_open(latch_of_pin);
    *out = pool;
    return STATUS_OK;
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    pool_stop_cleaner(pool);
    for (uint32_t i = 0; i < POOL_PARTS; i++)
        free(pool->parts[i].buckets);
    if (pool->memory)
        munmap(pool->memory, (size_t)pool->frame_count * PAGE_BYTES);
    if (pool->frames)
        munmap(pool->frames, (size_t)pool->frame_count * sizeof(struct frame));
    pool_lengths_free(pool);
    free(pool);
}

void pool_set_wal(struct pool *pool, struct wal *wal) { atom_store(&pool->wal, wal); }
uint64_t pool_frame_count(const struct pool *pool)    { return pool->frame_count; }
int  pool_pins_held(void)                             { return pool_pins; }
void pool_pin_moved(int delta)                        { pool_pins += delta; }

/* The mask changes with every latch held, so that nobody is inside a partition under the old one. All but the first
 * are tried for: a thread that holds a partition's latch waits for no other, so each comes free in a moment. */
void pool_set_partitions(struct pool *pool, uint32_t partitions)
{
    uint32_t count = 1;
    while (count < partitions && count < POOL_PARTS)
        count *= 2;
    latch_acquire(&pool->parts[0].latch, LATCH_EXCLUSIVE);
    for (uint32_t i = 1; i < POOL_PARTS; i++)
        while (!latch_try(&pool->parts[i].latch, LATCH_EXCLUSIVE))
            sleep_us(1);
    atom_store(&pool->part_mask, count - 1);
    for (uint32_t i = POOL_PARTS; i-- > 0; )
        latch_release(&pool->parts[i].latch);
}

/* ------------------------------------------------------------------ frames */

void frame_map(struct pool *pool, struct frame *frame, uint64_t hash, page_id id, enum latch_rank rank, uint16_t level, uint8_t usage)
{
    ASSERT_SLOW(atomic_load(&frame->state) == FRAME_CLAIMED);
    latch_init(&frame->content, rank, level, id.page, page_key(id));        /* rule 5 */
    atomic_store_explicit(&frame->usage, usage, memory_order_relaxed);
    atomic_store_explicit(&frame->key, page_key(id), memory_order_relaxed);
    atom_store(&frame->state, FRAME_READING);
    atom_sub(&frame->pins, PINS_TAKEN - 1);                                 /* one pin, and those who pass by */
    _Atomic uint32_t *head = &part_of(pool, hash)->buckets[(hash >> 7) & pool->bucket_mask];
    atomic_store_explicit(&frame->next, atomic_load_explicit(head, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(head, (uint32_t)(frame - pool->frames), memory_order_relaxed);
}

void frame_unmap(struct pool *pool, struct frame *frame, uint64_t hash)
{
    uint32_t index = (uint32_t)(frame - pool->frames);
    _Atomic uint32_t *at = &part_of(pool, hash)->buckets[(hash >> 7) & pool->bucket_mask];
    for (uint32_t i; (i = atomic_load_explicit(at, memory_order_relaxed)) != index; at = &pool->frames[i].next)
        ASSERT(i != NO_INDEX);
    atomic_store_explicit(at, atomic_load_explicit(&frame->next, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&frame->key, NO_KEY, memory_order_relaxed);
}

void frame_give_back(struct frame *frame)
{
    atom_store(&frame->state, FRAME_FREE);
}

bool frame_evict(struct pool *pool, struct frame *frame, uint64_t key)
{
    uint64_t hash = page_hash(key);
    struct latch *latch = part_acquire(pool, hash, LATCH_EXCLUSIVE);
    bool free = atomic_load_explicit(&frame->key, memory_order_relaxed) == key && atom_load(&frame->state) == FRAME_READY
             && (pins_take(frame) || (MUTANT(VICTIM_PINNED) && atom_add(&frame->pins, PINS_TAKEN) < PINS_TAKEN));
    if (free && ((atom_load(&frame->dirty) && !MUTANT(VICTIM_CHANGED))          /* asked once nobody can pin it, and so change it */
                 || (atom_load(&frame->writing) && !MUTANT(VICTIM_BEING_WRITTEN)))) {
        atom_sub(&frame->pins, PINS_TAKEN);
        free = false;
    }
    if (free) {
        frame_unmap(pool, frame, hash);
        atom_store(&frame->state, FRAME_CLAIMED);
    }
    latch_release(latch);
    return free;
}

void frame_settle(struct pool *pool, struct frame *frame, uint64_t key, bool read, bool keep)
{
    uint64_t hash = page_hash(key);
    struct latch *latch = part_acquire(pool, hash, LATCH_EXCLUSIVE);
    ASSERT_SLOW(atomic_load(&frame->state) == FRAME_READING);
    if (!read) {
        frame_unmap(pool, frame, hash);
        atom_add(&frame->pins, PINS_TAKEN - 1);                             /* ours goes; nobody else has one on a page that was never READY */
        atom_store(&frame->state, FRAME_FREE);
    } else {
        atom_store(&frame->state, FRAME_READY);
        if (!keep)
            atom_sub(&frame->pins, 1);
    }
    condition_wake_all(&frame->settled);
    latch_release(latch);
}

/* Clock sweep: takes a free frame, or one that nobody uses and nobody used lately. */
enum status frame_obtain(struct pool *pool, bool patient, struct frame **out)
{
    uint64_t deadline = 0;
    int failed_writes = 0;
    enum status error = STATUS_OK;

    for (;;) {
        const uint64_t steps = patient ? (uint64_t)pool->frame_count * (USAGE_MAX + 2) : pool->frame_count;
        for (uint64_t step = 0; step < steps; step++) {
            struct frame *frame = &pool->frames[atomic_fetch_add_explicit(&pool->hand, 1, memory_order_relaxed) % pool->frame_count];
            uint8_t state = atom_load(&frame->state);
            if (state == FRAME_FREE) {
                if (atom_cas(&frame->state, &state, FRAME_CLAIMED)) {
                    *out = frame;
                    return STATUS_OK;
                }
                continue;
            }
            if (state != FRAME_READY || pins_of(frame))
                continue;
            uint8_t usage = atomic_load_explicit(&frame->usage, memory_order_relaxed);
            if (usage) {
                atomic_store_explicit(&frame->usage, (uint8_t)(usage - 1), memory_order_relaxed);
                continue;
            }
            uint64_t key = atomic_load_explicit(&frame->key, memory_order_relaxed);
            if (key == NO_KEY || atomic_load_explicit(&frame->writing, memory_order_relaxed))
                continue;
            if (atomic_load_explicit(&frame->dirty, memory_order_relaxed)) {
                cleaner_kick(pool);
                if (!patient || failed_writes >= WRITES_MAX)
                    continue;
                enum status status = frame_write(pool, frame, key);
                if (status) {
                    if (status != STATUS_WOULD_BLOCK)
                        error = status, failed_writes++;
                    continue;
                }
            }
            if (frame_evict(pool, frame, key)) {
                if (atomic_fetch_add_explicit(&pool->evictions, 1, memory_order_relaxed) % 16 == 0)
                    cleaner_kick(pool);
                *out = frame;
                return STATUS_OK;
            }
        }
        if (!patient)
            return STATUS_NO_FRAME;
        if (error)
            return error;                                  /* the record holds the last failed write's */
        uint64_t now = now_us();
        if (!deadline)
            deadline = now + NO_FRAME_US;
        if (now >= deadline)
            return error_set(STATUS_NO_FRAME, "no unpinned buffers available");
        const bool latched = latch_held(&pool->io_latch);  /* crab.pool_io = latched: who has the frames may need one more page to be done */
        if (latched)
            latch_release(&pool->io_latch);
        sleep_us(500);
        if (latched)
            latch_acquire(&pool->io_latch, LATCH_EXCLUSIVE);
    }
}

enum status page_error(page_id id)
{
    return error_set(STATUS_CORRUPT, "invalid page in block %u of relation base/%u", id.page, id.file);
}

/* ------------------------------------------------------------------ pinning */

/* The page stands under another rank or level (rule 5). True: pinned, relabelled unless others use it still. */
static bool relabel(struct pool *pool, uint64_t hash, uint64_t key, enum latch_rank rank, uint16_t level, int *tries, struct frame **out)
{
    struct latch *latch = part_acquire(pool, hash, LATCH_EXCLUSIVE);
    struct frame *frame = chain_find(pool, hash, key);
    bool pinned = false;
    if (frame && atom_load(&frame->state) == FRAME_READY) {
        if (pins_take(frame)) {
            latch_init(&frame->content, rank, level, key_page(key).page, key);
            atom_sub(&frame->pins, PINS_TAKEN - 1);
            pinned = true;
        } else if (++*tries >= RELABEL_TRIES) {
            atom_add(&frame->pins, 1);
            pinned = true;
        }
        if (pinned)
            *out = frame;
    }
    latch_release(latch);
    if (!pinned)
        sleep_us(20);
    return pinned;
}

/* Fills a frame that was mapped as READING. */
static enum status frame_read(struct pool *pool, struct frame *frame, page_id id, bool fresh)
{
    point_at("pool.reading", frame, page_key(id));
    enum status status = STATUS_OK;
    if (fresh)
        memset(frame->bytes, 0, PAGE_BYTES);
    else
        status = file_read(pool->files, id, frame->bytes);
    if (!status && !page_check(frame->bytes, id))
        status = page_error(id);
    frame_settle(pool, frame, page_key(id), !status, true);
    return status;
}

/* Rule 3. NULL: under the partition's latch all will be clear. Chains are read while they change: what is found is looked at
 * again once it is pinned, and a walk that was led astray ends after a few steps. */
static inline struct frame *pin_hit(struct pool *pool, uint64_t key, uint64_t hash, enum latch_rank rank, uint16_t level)
{
    uint32_t index = atomic_load_explicit(&part_of(pool, hash)->buckets[(hash >> 7) & pool->bucket_mask], memory_order_relaxed);
    for (int steps = 0; index != NO_INDEX && steps < 8; steps++) {
        struct frame *frame = &pool->frames[index];
        const uint8_t *page = pool->memory + (size_t)index * PAGE_BYTES;        /* frame and page: their cache misses all at a time */
        __builtin_prefetch(page);
        __builtin_prefetch(page + 64);
        __builtin_prefetch(page + PAGE_BYTES - 64);
        if (atomic_load_explicit(&frame->key, memory_order_relaxed) == key) {
            uint32_t before = atom_add(&frame->pins, 1);
            if (__builtin_expect(!(before & PINS_TAKEN) && (atomic_load_explicit(&frame->key, memory_order_relaxed) == key || MUTANT(PIN_NOT_LOOKED_AT))
                                 && atom_load_acquire(&frame->state) == FRAME_READY && frame->content.rank == rank && frame->content.level == level, 1))
                return frame;
            atom_sub(&frame->pins, 1);
            return NULL;
        }
        index = atomic_load_explicit(&frame->next, memory_order_relaxed);
    }
    return NULL;
}

const uint8_t *pool_guess(struct pool *pool, page_id id)
{
    uint64_t hash = page_hash(page_key(id));
    uint32_t index = atomic_load_explicit(&part_of(pool, hash)->buckets[(hash >> 7) & pool->bucket_mask], memory_order_relaxed);
    if (index == NO_INDEX)
        return NULL;
    __builtin_prefetch(&pool->frames[index]);
    __builtin_prefetch((const char *)&pool->frames[index] + 64);
    return pool->memory + (size_t)index * PAGE_BYTES;
}

_Thread_local struct pool_touched pool_touched;
_Thread_local uint32_t pool_stripe;
uint32_t pool_stripe_new(void)
{
    static _Atomic uint32_t given;
    return pool_stripe = atomic_fetch_add_explicit(&given, 1, memory_order_relaxed) % HIT_STRIPES + HIT_STRIPES;
}

enum status frame_pin(struct pool *pool, page_id id, enum latch_rank rank, uint16_t level, bool fresh, struct frame **out)
{
    const uint64_t key = page_key(id), hash = page_hash(key);
    int tries = 0;
    for (;;) {
        struct latch *latch = part_acquire(pool, hash, LATCH_SHARED);
        struct frame *frame = chain_find(pool, hash, key);
        if (frame) {
            if (__builtin_expect(atom_load_acquire(&frame->state) != FRAME_READY, 0)) {
                atomic_fetch_add_explicit(&pool->waits_for_read, 1, memory_order_relaxed);
                point_at("pool.waiting", frame, key);
                condition_wait(&frame->settled, latch);                     /* rule 2 */
                latch_release(latch);
                if (MUTANT(NOT_LOOKED_UP_AGAIN)) {
                    atom_add(&frame->pins, 1);
                    pool_pins++;
                    *out = frame;
                    return STATUS_OK;
                }
                continue;
            }
            if (__builtin_expect(frame->content.rank != rank || frame->content.level != level, 0)) {
                latch_release(latch);
                if (!relabel(pool, hash, key, rank, level, &tries, &frame))
                    continue;
            } else {
                atom_add(&frame->pins, 1);
                latch_release(latch);
            }
            count_hit(pool);
            use_more(frame);
            pool_pins++;
            *out = frame;
            return STATUS_OK;
        }
        latch_release(latch);

        enum status status = frame_obtain(pool, true, &frame);
        if (status)
            return status;
        latch = part_acquire(pool, hash, LATCH_EXCLUSIVE);
        if (!MUTANT(PAGE_READ_TWICE) && chain_find(pool, hash, key)) {      /* somebody was quicker */
            latch_release(latch);
            frame_give_back(frame);
            continue;
        }
        frame_map(pool, frame, hash, id, rank, level, 1);
        atomic_fetch_add_explicit(&part_of(pool, hash)->misses, 1, memory_order_relaxed);
        pool_touched.reads++;
        latch_release(latch);
        status = frame_read(pool, frame, id, fresh);
        if (status)
            return status;
        pool_pins++;
        *out = frame;
        return STATUS_OK;
    }
}

/* crab.pool_io = latched: the whole pool's latch over the look-up and the I/O it leads to. */
static enum status pin_latched(struct pool *pool, page_id id, enum latch_rank rank, uint16_t level, bool fresh, struct frame **out)
{
    latch_acquire(&pool->io_latch, LATCH_EXCLUSIVE);
    enum status status = frame_pin(pool, id, rank, level, fresh, out);
    latch_release(&pool->io_latch);
    return status;
}

static enum status pin_searched(struct pool *pool, page_id id, enum latch_rank rank, uint16_t level, bool fresh, struct page_ref *out)
{
    struct frame *frame;
    enum status status = atomic_load_explicit(&pool_io_latched, memory_order_relaxed)
        ? pin_latched(pool, id, rank, level, fresh, &frame)
        : frame_pin(pool, id, rank, level, fresh, &frame);
    if (status) {
        *out = (struct page_ref){ 0 };
        return status;
    }
    point_at("pool.pin", frame, page_key(id));
    *out = (struct page_ref){ .frame = frame, .bytes = frame->bytes, .id = id };
    return STATUS_OK;
}

static inline enum status pin(struct pool *pool, page_id id, enum latch_rank rank, uint16_t level, bool fresh, struct page_ref *out)
{
    if (__builtin_expect(atomic_load_explicit(&pool->part_mask, memory_order_relaxed) == POOL_PARTS - 1
                         && !atomic_load_explicit(&pool_io_latched, memory_order_relaxed), 1)) {
        struct frame *frame = pin_hit(pool, page_key(id), page_hash(page_key(id)), rank, level);
        if (__builtin_expect(frame != NULL, 1)) {
            count_hit(pool);
            use_more(frame);
            pool_pins++;
            point_at("pool.pin", frame, page_key(id));
            *out = (struct page_ref){ .frame = frame, .bytes = frame->bytes, .id = id };
            return STATUS_OK;
        }
    }
    return pin_searched(pool, id, rank, level, fresh, out);
}

enum status pool_pin(struct pool *pool, page_id id, enum latch_rank rank, uint16_t level, struct page_ref *out)
{
    return pin(pool, id, rank, level, false, out);
}

enum status pool_fetch(struct pool *pool, page_id id, enum latch_mode mode, enum latch_rank rank, uint16_t level, struct page_ref *out)
{
    enum status status = pin(pool, id, rank, level, false, out);
    if (!status)
        pool_latch(out, mode);
    return status;
}

enum status pool_fetch_new(struct pool *pool, page_id id, enum latch_rank rank, uint16_t level, struct page_ref *out)
{
    enum status status = pin(pool, id, rank, level, true, out);
    if (!status)
        pool_latch(out, LATCH_EXCLUSIVE);
    return status;
}

enum status pool_fetch_try(struct pool *pool, page_id id, enum latch_mode mode, enum latch_rank rank, uint16_t level, struct page_ref *out)
{
    enum status status = pin(pool, id, rank, level, false, out);
    if (!status && !pool_latch_try(out, mode)) {
        pool_release(out);
        return STATUS_WOULD_BLOCK;
    }
    return status;
}

void pool_latch(struct page_ref *ref, enum latch_mode mode)
{
    ASSERT_SLOW(!ref->latched);
    latch_acquire(&ref->frame->content, mode);
    ref->latched = true;
    ref->mode = (uint8_t)mode;
}

bool pool_latch_try(struct page_ref *ref, enum latch_mode mode)
{
    ASSERT_SLOW(!ref->latched);
    if (!latch_try(&ref->frame->content, mode))
        return false;
    ref->latched = true;
    ref->mode = (uint8_t)mode;
    return true;
}

void pool_unlatch(struct page_ref *ref)
{
    ASSERT_SLOW(ref->latched);
    ref->latched = false;
    latch_release(&ref->frame->content);
}

void pool_release(struct page_ref *ref)
{
    if (!ref->frame)
        return;
    if (ref->latched)
        latch_release(&ref->frame->content);
    uint32_t before = atom_sub(&ref->frame->pins, 1);
    ASSERT(before - 1 < PINS_TAKEN - 1);
    pool_pins--;
    *ref = (struct page_ref){ 0 };
}

void pool_pin_again(const struct page_ref *ref, struct page_ref *out)
{
    atom_add(&ref->frame->pins, 1);
    pool_pins++;
    *out = (struct page_ref){ .frame = ref->frame, .bytes = ref->bytes, .id = ref->id };
}

bool pool_only_pin(const struct page_ref *ref)
{
    ASSERT_SLOW(ref->latched && ref->mode == LATCH_EXCLUSIVE);
    return atom_load(&ref->frame->pins) == 1;
}

void pool_mark_dirty(const struct page_ref *ref)
{
    ASSERT_SLOW(ref->latched && ref->mode == LATCH_EXCLUSIVE);
    if (atomic_load_explicit(&ref->frame->dirty, memory_order_relaxed))        /* cleared under the latch only, which we have */
        return;
    atom_store(&ref->frame->dirty, true);
    pool_touched.dirtied++;
}

void pool_stats(struct pool *pool, struct pool_stats *out)
{
    *out = (struct pool_stats){
        .waits_for_read = pool->waits_for_read, .evictions = pool->evictions, .written = pool->written,
        .read_ahead = pool->read_ahead, .frames = pool->frame_count,
    };
    for (uint32_t i = 0; i < POOL_PARTS; i++)
        out->misses += pool->parts[i].misses;
    for (uint32_t i = 0; i < HIT_STRIPES; i++)
        out->hits += pool->stripes[i].hits;
    for (uint32_t i = 0; i < pool->frame_count; i++) {
        out->dirty += atomic_load_explicit(&pool->frames[i].dirty, memory_order_relaxed);
        out->pinned += pins_of(&pool->frames[i]) > 0;
    }
}
