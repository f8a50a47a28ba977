/* storage/pool_file.c - how long files are, and what becomes of their pages when they grow, shrink or go.
 *
 * A file's length in pages is kept here: the disk knows only of pages that were written. It is asked at first use.
 * `length_latch` may be held during I/O: it guards the order of growing, and who grows reserves disk room first. */
#include <stdlib.h>

#include "storage/pool_frame.h"

struct file_length { struct file_length *next; uint32_t file; _Atomic uint32_t pages; };

static struct file_length **length_place(struct pool *pool, uint32_t file)
{
    struct file_length **at = &pool->lengths[hash_u64(file) % (sizeof pool->lengths / sizeof *pool->lengths)];
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    return at;
}

/* length_latch held EXCLUSIVE. */
static enum status length_find(struct pool *pool, uint32_t file, struct file_length **out)
{
    struct file_length **at = length_place(pool, file);
    if (!*at) {
        uint32_t pages;
        enum status status = file_disk_pages(pool->files, file, &pages);
        if (status)
            return status;
        *at = calloc(1, sizeof **at);
        (*at)->file = file;
        atom_store(&(*at)->pages, pages);
    }
    *out = *at;
    return STATUS_OK;
}

void pool_lengths_free(struct pool *pool)
{
    for (size_t i = 0; i < sizeof pool->lengths / sizeof *pool->lengths; i++)
        while (pool->lengths[i]) {
            struct file_length *length = pool->lengths[i];
            pool->lengths[i] = length->next;
            free(length);
        }
}

enum status pool_file_pages(struct pool *pool, uint32_t file, uint32_t *out)
{
    latch_acquire(&pool->length_latch, LATCH_SHARED);
    struct file_length *length = *length_place(pool, file);
    if (length)
        *out = atom_load(&length->pages);
    latch_release(&pool->length_latch);
    if (length)
        return STATUS_OK;

    latch_acquire(&pool->length_latch, LATCH_EXCLUSIVE);
    enum status status = length_find(pool, file, &length);
    if (!status)
        *out = atom_load(&length->pages);
    latch_release(&pool->length_latch);
    return status;
}

enum status pool_extend(struct pool *pool, uint32_t file, uint32_t count, uint32_t *first)
{
    struct file_length *length;
    latch_acquire(&pool->length_latch, LATCH_EXCLUSIVE);
    enum status status = length_find(pool, file, &length);
    if (!status) {
        uint32_t pages = atom_load(&length->pages), longer;
        if (__builtin_add_overflow(pages, count, &longer) || longer == UINT32_MAX) {
            status = error_set(STATUS_LIMIT_EXCEEDED, "cannot extend file \"base/%u\" beyond %u blocks", file, UINT32_MAX - 1);
        } else {
            status = file_reserve(pool->files, file, longer);
            if (!status) {
                atom_store(&length->pages, longer);
                *first = pages;
            }
        }
    }
    latch_release(&pool->length_latch);
    return status;
}

enum status pool_note_page(struct pool *pool, page_id id)
{
    struct file_length *length;
    latch_acquire(&pool->length_latch, LATCH_EXCLUSIVE);
    enum status status = length_find(pool, id.file, &length);
    if (!status && atom_load(&length->pages) <= id.page)
        atom_store(&length->pages, id.page + 1);
    latch_release(&pool->length_latch);
    return status;
}

/* Lets the page go unwritten: waits for a read or a write that is under way, and for the cleaner's short pin. */
static void forget_page(struct pool *pool, struct frame *frame, uint64_t key)
{
    uint64_t hash = page_hash(key);
    for (;;) {
        struct latch *latch = part_acquire(pool, hash, LATCH_EXCLUSIVE);
        if (atomic_load_explicit(&frame->key, memory_order_relaxed) != key) {
            latch_release(latch);
            return;
        }
        if (atom_load(&frame->state) == FRAME_READING || atom_load(&frame->writing)) {
            condition_wait(&frame->settled, latch);
            latch_release(latch);
            continue;
        }
        if (pins_take(frame)) {
            frame_unmap(pool, frame, hash);
            atom_store(&frame->dirty, false);
            atom_store(&frame->state, FRAME_FREE);
            latch_release(latch);
            return;
        }
        latch_release(latch);
        sleep_us(100);
    }
}

/* The clock's hand goes back to the first frame that came free: its memory is there and warm, that of a frame never used is neither. */
static void forget_from(struct pool *pool, uint32_t file, uint32_t first_page)
{
    uint32_t freed = NO_INDEX;
    for (uint32_t i = 0; i < pool->frame_count; i++) {
        struct frame *frame = &pool->frames[i];
        uint64_t key = atomic_load_explicit(&frame->key, memory_order_relaxed);
        if (key == NO_KEY || key_page(key).file != file || key_page(key).page < first_page)
            continue;
        forget_page(pool, frame, key);
        if (freed == NO_INDEX)
            freed = i;
    }
    if (freed != NO_INDEX)
        atomic_store_explicit(&pool->hand, freed, memory_order_relaxed);
}

void pool_forget_file(struct pool *pool, uint32_t file)
{
    forget_from(pool, file, 0);
    latch_acquire(&pool->length_latch, LATCH_EXCLUSIVE);
    struct file_length **at = length_place(pool, file), *length = *at;
    if (length)
        *at = length->next;
    latch_release(&pool->length_latch);
    free(length);
}

/* No record says so in the WAL: redo of the pages cut off begins with a whole image of each, and makes the file longer
 * again; what they hold is what they held. */
enum status pool_truncate_file(struct pool *pool, uint32_t file, uint32_t pages)
{
    struct file_length *length;
    forget_from(pool, file, pages);
    latch_acquire(&pool->length_latch, LATCH_EXCLUSIVE);
    enum status status = length_find(pool, file, &length);
    if (!status && atom_load(&length->pages) > pages) {
        status = file_truncate(pool->files, file, pages);
        if (!status)
            atom_store(&length->pages, pages);
    }
    latch_release(&pool->length_latch);
    return status;
}
