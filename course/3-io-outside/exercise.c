/* course/3-io-outside/exercise.c - yours to change: see cache.h and README.md.
 *
 * A small buffer pool that holds its latch while the disk turns. It is right, and slow: while one thread reads a page, nobody
 * gets at any page, not even at one that is here. */
#include "course/3-io-outside/cache.h"

void cache_open(struct cache *cache)
{
    *cache = (struct cache){.hand = 0};
    latch_init(&cache->latch, RANK_POOL_PART, 0, 0, 0);
    condition_init(&cache->settled, "settled");
}

static struct frame *frame_find(struct cache *cache, int page)
{
    for (int i = 0; i < FRAMES; i++)
        if (cache->frames[i].state != FRAME_FREE && cache->frames[i].page == page)
            return &cache->frames[i];
    return NULL;
}

/* A frame that nobody has pinned; there is one. */
static struct frame *frame_victim(struct cache *cache)
{
    struct frame *frame;
    do {
        frame = &cache->frames[cache->hand];
        cache->hand = (cache->hand + 1) % FRAMES;
    } while (frame->pins > 0);
    return frame;
}

/* ---- From here on: yours (what stands above may change, too) ---- */

struct frame *cache_fetch(struct cache *cache, int page)
{
    latch_acquire(&cache->latch, LATCH_EXCLUSIVE);
    struct frame *frame = frame_find(cache, page);
    if (!frame) {
        frame = frame_victim(cache);
        frame->state = FRAME_FREE;
        frame->page = page;
        if (!disk_read(page, &frame->word)) {
            latch_release(&cache->latch);
            return NULL;
        }
        frame->state = FRAME_READY;
    }
    frame->pins++;
    latch_release(&cache->latch);
    return frame;
}

void cache_release(struct cache *cache, struct frame *frame)
{
    latch_acquire(&cache->latch, LATCH_EXCLUSIVE);
    frame->pins--;
    latch_release(&cache->latch);
}
