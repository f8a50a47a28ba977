/* course/3-io-outside/solutions/wrong-no-wake.c - planted: a read that fails wakes nobody who waits for it (trial: failures). */
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

struct frame *cache_fetch(struct cache *cache, int page)
{
    struct frame *frame;
    latch_acquire(&cache->latch, LATCH_EXCLUSIVE);
    while ((frame = frame_find(cache, page)) && frame->state == FRAME_READING)
        condition_wait(&cache->settled, &cache->latch);         /* then look again: it may have failed, or be another page's */
    if (!frame) {
        frame = frame_victim(cache);
        *frame = (struct frame){.state = FRAME_READING, .page = page, .pins = 1};
        latch_release(&cache->latch);
        bool good = disk_read(page, &frame->word);              /* the pin keeps the frame ours */
        latch_acquire(&cache->latch, LATCH_EXCLUSIVE);
        frame->state = good ? FRAME_READY : FRAME_FREE;
        frame->pins--;
        if (!good) {
            latch_release(&cache->latch);
            return NULL;
        }
        condition_wake_all(&cache->settled);
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
