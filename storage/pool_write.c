/* storage/pool_write.c - writing pages back: by an eviction, by the cleaner ahead of need, by the checkpoint.
 *
 * 1. A frame's write is marked `writing` under its partition's latch: no second write, no eviction meanwhile.
 * 2. The copy is made under the content latch, SHARED, which is only tried for: whoever writes may hold other pages'
 *    latches, and a session that was stopped (crab.step) may hold this one. `dirty` is cleared under that latch, so a
 *    change is either in the copy or sets `dirty` again. With the copy made, latch and pin are let go.
 * 3. The WAL is flushed to the copy's LSN before the copy is written.
 * 4. A failed write leaves the page dirty. */
#include <stdlib.h>

#include "base/mutant.h"
#include "base/step.h"
#include "storage/pool_frame.h"

#define STOPPED_US 1000000              /* how long a checkpoint waits for a page while a session is stopped (crab.step) */

static void write_end(struct pool *pool, struct frame *frame, uint64_t key, bool again)
{
    struct latch *latch = part_acquire(pool, page_hash(key), LATCH_EXCLUSIVE);
    if (again)
        atom_store(&frame->dirty, true);
    atom_store(&frame->writing, false);
    condition_wake_all(&frame->settled);
    latch_release(latch);
}

enum status frame_write(struct pool *pool, struct frame *frame, uint64_t key)
{
    struct latch *latch = part_acquire(pool, page_hash(key), LATCH_EXCLUSIVE);
    bool same = atomic_load_explicit(&frame->key, memory_order_relaxed) == key && atom_load(&frame->state) == FRAME_READY;
    bool due = same && atom_load(&frame->dirty);
    bool busy = due && atom_load(&frame->writing);
    if (due && !busy) {
        atom_store(&frame->writing, true);
        atom_add(&frame->pins, 1);
    }
    latch_release(latch);
    if (!due || busy)
        return busy ? STATUS_WOULD_BLOCK : STATUS_OK;

    step_barred++;                                             /* whoever stopped here would keep `writing` */
    bool latched = latch_try(&frame->content, LATCH_SHARED);
    if (!latched) {
        step_barred--;
        write_end(pool, frame, key, false);
        atom_sub(&frame->pins, 1);
        return STATUS_WOULD_BLOCK;
    }
    _Alignas(64) uint8_t copy[PAGE_BYTES];
    memcpy(copy, frame->bytes, PAGE_BYTES);
    if (!MUTANT(DIRTY_CLEARED_LATE))
        atom_store(&frame->dirty, false);
    latch_release(&frame->content);
    if (MUTANT(DIRTY_CLEARED_LATE))
        atom_store(&frame->dirty, false);
    step_barred--;
    atom_sub(&frame->pins, 1);

    point_at("pool.writing", frame, key);
    struct wal *wal = atom_load(&pool->wal);
    if (wal && !MUTANT(PAGE_BEFORE_LOG))
        wal_flush(wal, page_header(copy)->lsn);
    page_seal(copy);
    enum status status = file_write(pool->files, key_page(key), copy);
    if (!status) {
        atomic_fetch_add_explicit(&pool->written, 1, memory_order_relaxed);
        pool_touched.written++;
    }
    write_end(pool, frame, key, status != STATUS_OK);
    return status;
}

/* The same for threads that came for nothing else: under crab.pool_io = latched they take the pool's latch, too. */
static enum status write_by_itself(struct pool *pool, struct frame *frame, uint64_t key)
{
    if (!atomic_load_explicit(&pool_io_latched, memory_order_relaxed))
        return frame_write(pool, frame, key);
    latch_acquire(&pool->io_latch, LATCH_EXCLUSIVE);
    enum status status = frame_write(pool, frame, key);
    latch_release(&pool->io_latch);
    return status;
}

static void complain(struct pool *pool)
{
    uint64_t now = now_us(), last = atom_load(&pool->complained_us);
    if ((last == 0 || now - last >= 1000000) && atom_cas(&pool->complained_us, &last, now))
        log_line("WARNING", "%s", error_current()->message ? error_current()->message : "could not write a page");
}

/* ------------------------------------------------------------------ the cleaner */

/* Looks at the frames which the clock's hand comes to next, and writes those that an eviction would have to write. */
static void clean_ahead(struct pool *pool, uint64_t demand)
{
    uint64_t ahead = demand * 2 + 16;
    if (ahead > pool->frame_count / 2)
        ahead = pool->frame_count / 2;
    uint32_t hand = atomic_load_explicit(&pool->hand, memory_order_relaxed);
    int failed = 0;
    for (uint64_t i = 0; i < ahead && failed < 4; i++) {
        struct frame *frame = &pool->frames[(hand + i) % pool->frame_count];
        if (!atomic_load_explicit(&frame->dirty, memory_order_relaxed) || pins_of(frame)
            || atomic_load_explicit(&frame->usage, memory_order_relaxed) > 1)
            continue;
        enum status status = write_by_itself(pool, frame, atomic_load_explicit(&frame->key, memory_order_relaxed));
        if (status && status != STATUS_WOULD_BLOCK)
            complain(pool), failed++;
    }
}

static void cleaner_run(void *argument)
{
    struct pool *pool = argument;
    uint64_t seen = 0;
    latch_acquire(&pool->cleaner_latch, LATCH_EXCLUSIVE);
    while (!pool->cleaner_stop) {
        atom_store(&pool->cleaner_asleep, true);
        condition_wait(&pool->cleaner_wake, &pool->cleaner_latch);
        if (pool->cleaner_stop)
            break;
        latch_release(&pool->cleaner_latch);
        uint64_t evictions = atomic_load_explicit(&pool->evictions, memory_order_relaxed);
        clean_ahead(pool, evictions - seen);
        seen = evictions;
        latch_acquire(&pool->cleaner_latch, LATCH_EXCLUSIVE);
    }
    latch_release(&pool->cleaner_latch);
}

void cleaner_kick(struct pool *pool)
{
    if (!atom_load(&pool->cleaner_asleep) || !atom_exchange(&pool->cleaner_asleep, false))
        return;
    latch_acquire(&pool->cleaner_latch, LATCH_EXCLUSIVE);
    condition_wake_one(&pool->cleaner_wake);
    latch_release(&pool->cleaner_latch);
}

void pool_start_cleaner(struct pool *pool)
{
    ASSERT(!pool->cleaner);
    pool->cleaner_stop = false;
    pool->cleaner = thread_start("cleaner", cleaner_run, pool);
}

void pool_stop_cleaner(struct pool *pool)
{
    if (!pool->cleaner)
        return;
    latch_acquire(&pool->cleaner_latch, LATCH_EXCLUSIVE);
    pool->cleaner_stop = true;
    atom_store(&pool->cleaner_asleep, false);
    condition_wake_all(&pool->cleaner_wake);
    latch_release(&pool->cleaner_latch);
    thread_join(pool->cleaner);
    pool->cleaner = NULL;
}

/* ------------------------------------------------------------------ the checkpoint's round */

struct due { uint64_t key; struct frame *frame; };

static int due_order(const void *a, const void *b)
{
    uint64_t x = ((const struct due *)a)->key, y = ((const struct due *)b)->key;
    return x < y ? -1 : x > y;
}

/* Returns once the page that was dirty in this frame is clean on disk: written by us, by another, or dropped. Not
 * patient: WOULD_BLOCK at once when it cannot be written now. Patient: WOULD_BLOCK only if sessions stood still the whole
 * time, one of which may hold the latch as long as it likes. */
static enum status write_surely(struct pool *pool, struct due due, bool patient)
{
    uint64_t stopped_since_us = 0;
    for (uint64_t pause_us = 50; ; pause_us = pause_us < 10000 ? pause_us * 2 : pause_us) {
        enum status status = write_by_itself(pool, due.frame, due.key);
        if (status != STATUS_WOULD_BLOCK) {
            /* Clean: but perhaps by a copy that is still on its way to the disk. */
            struct latch *latch = part_acquire(pool, page_hash(due.key), LATCH_EXCLUSIVE);
            bool waited = false;
            while (atomic_load_explicit(&due.frame->key, memory_order_relaxed) == due.key && atom_load(&due.frame->writing)) {
                condition_wait(&due.frame->settled, latch);
                latch_release(latch);
                latch = part_acquire(pool, page_hash(due.key), LATCH_EXCLUSIVE);
                waited = true;
            }
            latch_release(latch);
            if (!waited || status)
                return status;
            continue;                                          /* had that write failed, the page is dirty again */
        }
        if (!patient)
            return status;
        uint64_t now = now_us();
        if (atomic_load_explicit(&step_standing, memory_order_relaxed) == 0)
            stopped_since_us = 0;
        else if (!stopped_since_us)
            stopped_since_us = now;
        else if (now - stopped_since_us > STOPPED_US)
            return status;
        sleep_us(pause_us);
    }
}

enum status pool_write_dirty(struct pool *pool, void (*pace)(void *, uint64_t done, uint64_t total), void *context, uint64_t *written)
{
    size_t count = 0, capacity = 1024;
    struct due *due = malloc(capacity * sizeof *due);
    for (uint32_t i = 0; i < pool->frame_count; i++) {
        struct frame *frame = &pool->frames[i];
        /* Asked twice: a write that fails between the first two questions sets dirty again, and then clears writing. */
        if (!atom_load(&frame->dirty) && !atom_load(&frame->writing) && !atom_load(&frame->dirty))
            continue;
        uint64_t key = atomic_load_explicit(&frame->key, memory_order_relaxed);
        if (key == NO_KEY)
            continue;
        if (count == capacity)
            due = realloc(due, (capacity *= 2) * sizeof *due);
        due[count++] = (struct due){ key, frame };
    }
    qsort(due, count, sizeof *due, due_order);

    enum status first = STATUS_OK;
    const size_t total = count;
    /* First those that can be written at once; then the rest, whose latches somebody held. */
    struct error kept = { 0 };
    size_t done = 0, left = 0;
    size_t stuck = 0;
    for (int round = 0; round < 2; round++, count = left, left = 0) {
        for (size_t i = 0; i < count; i++) {
            enum status status = write_surely(pool, due[i], round == 1 && stuck == 0);      /* one wait for all of them */
            if (status == STATUS_WOULD_BLOCK && round == 1) {
                stuck++;
                continue;
            }
            if (status == STATUS_WOULD_BLOCK) {
                due[left++] = due[i];
                continue;
            }
            if (status && !first) {
                first = status;
                error_save(&kept);
            }
            if (pace)
                pace(context, ++done, total);
        }
    }
    free(due);
    if (written)
        *written = total;
    if (stuck && !first) {
        error_set(STATUS_OBJECT_IN_USE, "a stopped session holds %zu of the pages to be written", stuck);
        error_hint("crab_latches shows who stands where; crab_run() lets it go.");
        return STATUS_OBJECT_IN_USE;
    }
    return first ? error_restore(&kept) : STATUS_OK;
}
