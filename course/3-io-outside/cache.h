/* course/3-io-outside/cache.h - the exercise of lesson 3: a small buffer pool that reads with its latch let go.
 *
 *     struct frame *frame = cache_fetch(cache, 7);     pinned: it keeps page 7 until it is released; NULL: the read failed
 *     ... frame->word ...
 *     cache_release(cache, frame);
 *
 *          reserve             read done
 *   FREE ----------> READING ----------> READY
 *    ^                  |                  |  reserve for another page (no pins)
 *    +-- read failed ---+                  +----------> READING
 *
 * You write the three functions, in exercise.c. There are as many frames as threads, and each thread pins one page at a time, so
 * somewhere there is always a frame that nobody has pinned. Pages are only read, so a frame can be taken for another page at
 * once. */
#ifndef COURSE_CACHE_H
#define COURSE_CACHE_H

#include "base/latch.h"

#define FRAMES 3
#define PAGES  6

enum frame_state { FRAME_FREE, FRAME_READING, FRAME_READY };
struct frame {
    enum frame_state state;
    int page;
    int pins;
    uint64_t word;                  /* what the page says */
};
struct cache {
    struct latch latch;             /* rank POOL_PART: guards all below */
    struct condition settled;       /* some read is over, well or not */
    struct frame frames[FRAMES];
    int hand;                       /* where the search for a victim goes on */
};

void cache_open(struct cache *);

/* Comes back with the page pinned, or NULL if its read failed. No page is read twice at once: who wants one that is being read
 * waits, then looks again - for that read may have failed, and the frame may hold another page by now. A failed read is
 * reported to the one who did it; others who waited for it try for themselves. */
struct frame *cache_fetch(struct cache *, int page);
void cache_release(struct cache *, struct frame *);

/* The grader's disk. Takes its time; false: the read failed. */
bool disk_read(int page, uint64_t *word);

#endif
