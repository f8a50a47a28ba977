/* course/3-io-outside/grade.c - the grader of lesson 3: who asks for a page gets that page for as long as it is pinned, no page is
 * read twice at once, nobody waits for ever though reads fail, and the disk is asked with no latch held. */
#include "course/3-io-outside/cache.h"
#include "base/hooks.h"
#include "course/grading.h"

static struct cache cache;
static int reading[PAGES], reads[PAGES], readings;
static unsigned fails_of_8;         /* how often the disk says no */
static bool strict;                 /* also complain about latches held across a read */

static uint64_t word_of(int page) { return 1000 + (uint64_t)page; }

bool disk_read(int page, uint64_t *word)
{
    static const char *const names[PAGES] = {"page 0", "page 1", "page 2", "page 3", "page 4", "page 5"};
    require(page >= 0 && page < PAGES, "there is no page %d", page);
    require(!strict || latch_held_count() == 0, "the disk is asked for page %d, and the thread that asks holds %d latch(es): all who want it wait for the disk, too", page, latch_held_count());
    require(reading[page] == 0, "page %d is read twice at once", page);
    reading[page]++;
    reads[page]++;
    if (++readings > 1)
        grade_seen();
    point_at("disk.begun", names[page], 0);
    *word = 0;                      /* the bytes come in bit by bit */
    point_at("disk.turns", names[page], 0);
    bool good = scheduler_random() % 8 >= fails_of_8;
    if (good)
        *word = word_of(page);
    point_at("disk.done", names[page], 0);
    reading[page]--;
    readings--;
    return good;
}

/* One fetch, looked at while it is pinned, and its release. */
static bool look(int page)
{
    struct frame *frame = cache_fetch(&cache, page);
    require(latch_held_count() == 0, "cache_fetch(%d) came back and still holds a latch", page);
    if (!frame)
        return false;
    for (int i = 0; i < 3; i++) {
        require(frame->page == page, "page %d was fetched and is pinned, and its frame is of page %d", page, frame->page);
        require(frame->word == word_of(page), "page %d was fetched and is pinned, and its frame holds %llu instead of %llu%s", page, (unsigned long long)frame->word,
                (unsigned long long)word_of(page), frame->word ? "" : ": it isn't read yet, or is read again");
        point("looks at page");
    }
    cache_release(&cache, frame);
    require(latch_held_count() == 0, "cache_release came back and still holds a latch");
    return true;
}

static void cache_begin(unsigned fails, bool strictly)
{
    cache_open(&cache);
    memset(reading, 0, sizeof reading);
    memset(reads, 0, sizeof reads);
    readings = 0;
    fails_of_8 = fails;
    strict = strictly;
}

static void cache_end(void)
{
    join_all();
    fails_of_8 = 0;
    for (int i = 0; i < FRAMES; i++)
        require(cache.frames[i].pins == 0, "all is quiet, and frame %d has %d pin(s)", i, cache.frames[i].pins);
    for (int page = 0; page < PAGES; page++)
        require(look(page), "page %d can't be fetched when all is quiet", page);
}

/* ---- Trials ---- */

static void alone(void)
{
    cache_begin(0, false);
    scheduler_interleave(true);
    for (int page = 0; page < PAGES; page++)
        require(look(page) && look(page), "cache_fetch(%d) said NULL, and the read had not failed", page);
    for (int page = 0; page < PAGES; page++)
        require(reads[page] == 1, "page %d was fetched twice in a row and read %d times: it should have stayed", page, reads[page]);
    fails_of_8 = 8;
    require(!look(0), "the read of page 0 failed, and cache_fetch(0) gave a frame all the same");
    fails_of_8 = 0;
    require(look(0), "the read of page 0 failed once, and cache_fetch(0) says NULL ever since");
    cache_end();
}

static void look_at_4(void *unused) { (void)unused, require(look(4), "cache_fetch(4) said NULL, and the read had not failed"); }
static void look_about(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        look((int)(scheduler_random() % PAGES));
}
static void look_at_few(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        look((int)(scheduler_random() % 2));
}
static void same(void)
{
    cache_begin(0, false);
    begin("one", look_at_4, NULL);
    begin("two", look_at_4, NULL);
    join_all();
    require(reads[4] == 1, "two threads wanted page 4, and it was read %d times", reads[4]);
    cache_end();
}

static void pressure(void)
{
    cache_begin(0, false);
    for (int i = 0; i < 3; i++)
        begin("client", look_about, NULL);
    cache_end();
}

static void failures(void)
{
    cache_begin(4, false);
    for (int i = 0; i < 3; i++)
        begin("client", look_at_few, NULL);
    cache_end();
}

static void outside(void)
{
    cache_begin(1, true);
    for (int i = 0; i < 3; i++)
        begin("client", look_about, NULL);
    cache_end();
}

const struct trial trials[] = {
    {.name = "alone", .claim = "one thread alone sees its pages, and a failed read does no harm", .run = alone},
    {.name = "same", .claim = "two who want one page cause one read", .run = same, .preemptions = 2},
    {.name = "failures", .claim = "who waited for a read that failed tries again", .run = failures},
    {.name = "pressure", .claim = "a pinned page keeps its frame, and who waited for another read looks again", .run = pressure},
    {.name = "outside", .claim = "the disk is asked with no latch held, for several pages at once", .run = outside,
     .unseen = "the disk was never asked for two pages at once: something keeps the threads apart"},
    {0},
};
