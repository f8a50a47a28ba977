/* tests/interleave/pool.c - the buffer pool: misses, evictions, writes in progress, with hardly a frame to spare. */
#include "tests/interleave/interleave.h"

#include <errno.h>

#include "storage/disk.h"

#define FILE_NUMBER 1000

/* A page holds one number, twice, at both ends: a half-done change shows. Lets go of the page. */
static void page_write(struct page_ref *ref, uint64_t number)
{
    struct mtr mtr;
    mtr_begin(&mtr, store, 0);
    mtr_join(&mtr, ref);
    mtr_write(&mtr, ref->bytes, 1024, &number, sizeof number);
    mtr_write(&mtr, ref->bytes, PAGE_BYTES - 8, &number, sizeof number);
    mtr_commit(&mtr);
}

static uint64_t page_number(const struct page_ref *ref)
{
    uint64_t first, second;
    memcpy(&first, ref->bytes + 1024, 8);
    memcpy(&second, ref->bytes + PAGE_BYTES - 8, 8);
    check(ref->id.page == ((struct page_header *)ref->bytes)->page, "page %u was wanted, page %u is there", ref->id.page,
          ((struct page_header *)ref->bytes)->page);
    check(first == second, "page %u: %llu at one end, %llu at the other", ref->id.page, (unsigned long long)first, (unsigned long long)second);
    return first;
}

/* What page 0, 1, ... of a scenario are called on disk. */
static uint32_t numbers[10];
static page_id page_at(uint32_t page) { return (page_id){FILE_NUMBER, numbers[page]}; }

/* All of them in one chain: neighbours in a file are neighbours in the page table, which has 128 parts, and with few frames one
 * chain in each. */
static void number_alike(void)
{
    for (uint32_t page = 0; page < 10; page++)
        numbers[page] = page * 128;
}

static void number_in_order(void)
{
    for (uint32_t page = 0; page < 10; page++)
        numbers[page] = page;
}

/* Pages 0 to count - 1, each holding its number times 100, on disk and clean. */
static void pages_make(uint32_t frames, uint32_t count)
{
    uint32_t first;
    half_store_begin(frames);
    must(store_create_fixed_file(store, FILE_NUMBER));
    must(pool_extend(store->pool, FILE_NUMBER, numbers[count - 1] + 1, &first));
    for (uint32_t page = 0; page < count; page++) {
        struct mtr mtr;
        struct page_ref ref;
        must(pool_fetch_new(store->pool, page_at(page), RANK_HEAP, 0, &ref));
        mtr_begin(&mtr, store, 0);
        mtr_join(&mtr, &ref);
        mtr_format(&mtr, ref.bytes, PAGE_HEAP);
        uint64_t number = page * 100;
        mtr_write(&mtr, ref.bytes, 1024, &number, sizeof number);
        mtr_write(&mtr, ref.bytes, PAGE_BYTES - 8, &number, sizeof number);
        mtr_commit(&mtr);
    }
    must(pool_write_dirty(store->pool, NULL, NULL, NULL));
}

static void pages_begin(uint32_t frames, uint32_t count)
{
    number_in_order();
    pages_make(frames, count);
}

/* All that is in no frame. */
static void pool_begin_empty(void)
{
    uint64_t frames = pool_frame_count(store->pool);
    pool_close(store->pool);
    must(pool_open(&(struct pool_options){.files = store->files, .wal = store->wal, .bytes = frames * PAGE_BYTES, .partitions = partitions_wanted()}, &store->pool));
}

static void pages_end(const uint64_t *expected, uint32_t count)
{
    must(pool_write_dirty(store->pool, NULL, NULL, NULL));
    pool_begin_empty();                                 /* what is on disk counts */
    for (uint32_t page = 0; page < count; page++) {
        struct page_ref ref;
        must(pool_fetch(store->pool, page_at(page), LATCH_SHARED, RANK_HEAP, 0, &ref));
        check(page_number(&ref) == expected[page], "page %u holds %llu, not %llu", page, (unsigned long long)page_number(&ref), (unsigned long long)expected[page]);
        pool_release(&ref);
    }
    store_end();
}

static void read_page(uint32_t page, uint64_t least)
{
    struct page_ref ref;
    must(pool_fetch(store->pool, page_at(page), LATCH_SHARED, RANK_HEAP, 0, &ref));
    check(page_number(&ref) >= least, "page %u holds %llu", page, (unsigned long long)page_number(&ref));
    pool_release(&ref);
}

static void add_to_page(uint32_t page)
{
    struct page_ref ref;
    must(pool_fetch(store->pool, page_at(page), LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
    page_write(&ref, page_number(&ref) + 1);
}

/* The argument is a word of what to do: digits read that page, letters a, b, ... add one to page 0, 1, ... */
static void work(void *argument)
{
    for (const char *at = argument; *at; at++)
        if (*at >= '0' && *at <= '9')
            read_page((uint32_t)(*at - '0'), (uint64_t)(*at - '0') * 100);
        else
            add_to_page((uint32_t)(*at - 'a'));
}

/* ---- A miss ---- */

static void two_miss_the_same_page(void)
{
    pages_begin(16, 4);
    pool_begin_empty();
    uint64_t calls = file_disk_calls();
    go();
    begin("first", work, "2");
    begin("second", work, "2");
    join_all();
    struct pool_stats stats;
    pool_stats(store->pool, &stats);
    check(file_disk_calls() - calls == 1, "the page was read %llu times", (unsigned long long)(file_disk_calls() - calls));
    check(stats.misses == 1, "%llu misses", (unsigned long long)stats.misses);
    pages_end((uint64_t[]){0, 100, 200, 300}, 4);
}

/* The read of the first who comes fails: he is told, whoever waited for it reads again. */
static unsigned failed_reads;

static void read_or_fail(void *argument)
{
    (void)argument;
    struct page_ref ref;
    enum status status = pool_fetch(store->pool, page_at(1), LATCH_SHARED, RANK_HEAP, 0, &ref);
    if (status == STATUS_OK) {
        check(page_number(&ref) == 100, "wrong page");
        pool_release(&ref);
        return;
    }
    check(status == STATUS_IO, "%s", status_text(status));
    failed_reads++;
}

static void a_read_fails(void)
{
    pages_begin(16, 4);
    pool_begin_empty();
    failed_reads = 0;
    atomic_store(&file_fail_errno, 5);
    atomic_store(&file_fail_call, file_disk_calls() + 1);
    go();
    for (int i = 0; i < 3; i++)
        begin("reader", read_or_fail, NULL);
    join_all();
    atomic_store(&file_fail_call, 0);
    check(failed_reads == 1, "%u reads failed, one was planted", failed_reads);
    pages_end((uint64_t[]){0, 100, 200, 300}, 4);
}

/* ---- Eviction ---- */

static void evict_against_pin(void)
{
    pages_begin(3, 5);
    go();
    begin("first", work, "0a3");
    begin("second", work, "40");
    join_all();
    pages_end((uint64_t[]){1, 100, 200, 300, 400}, 5);
}

static void three_frames_for_four(void)
{
    pages_begin(3, 6);
    go();
    begin("first", work, "a1b");
    begin("second", work, "2c0");
    begin("third", work, "d5a");
    join_all();
    pages_end((uint64_t[]){2, 101, 201, 301, 400, 500}, 6);
}

/* A page stays pinned while others want frames: it keeps its frame. */
static void hold_page(void *argument)
{
    (void)argument;
    struct page_ref ref, again;
    must(pool_pin(store->pool, page_at(0), RANK_HEAP, 0, &ref));
    pool_pin_again(&ref, &again);
    pool_latch(&ref, LATCH_SHARED);
    uint64_t number = page_number(&ref);
    pool_unlatch(&ref);
    pool_release(&again);
    pool_latch(&ref, LATCH_EXCLUSIVE);
    check(page_number(&ref) == number, "a pinned page has changed");
    page_write(&ref, number + 1);
}

static void a_pinned_page_stays(void)
{
    pages_begin(3, 5);
    go();
    begin("hold", hold_page, NULL);
    begin("reader", work, "1234");
    begin("writer", work, "bc");
    join_all();
    pages_end((uint64_t[]){1, 101, 201, 300, 400}, 5);
}

/* Pages of one chain come and go while it is walked. */
static void one_chain(void)
{
    number_alike();
    pages_make(3, 6);
    go();
    begin("first", work, "0a2");
    begin("second", work, "3b0");
    begin("third", work, "4a5");
    join_all();
    pages_end((uint64_t[]){2, 101, 200, 300, 400, 500}, 6);
}

/* A page that was freed is given out again as something else: fetched under another rank. */
static void fetch_as_node(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        struct page_ref ref;
        must(pool_fetch(store->pool, page_at(1), LATCH_SHARED, RANK_NODE, 3, &ref));
        check(page_number(&ref) >= 100, "wrong page");
        pool_release(&ref);
    }
}

static void two_ranks(void)
{
    pages_begin(3, 5);
    go();
    begin("as heap", work, "1b1");
    begin("as node", fetch_as_node, NULL);
    begin("evict", work, "0234");
    join_all();
    pages_end((uint64_t[]){0, 101, 200, 300, 400}, 5);
}

/* A big scan with a ring of its own, while pages change and frames are wanted. */
static void scan_all(void *argument)
{
    (void)argument;
    struct pool_ring *ring = pool_ring_open(store->pool, FILE_NUMBER, 0, 6, scheduler_random() % 2);
    for (uint32_t page = 0; page < 6; page++) {
        struct page_ref ref;
        must(pool_ring_pin(ring, page, &ref));
        pool_latch(&ref, LATCH_SHARED);
        uint64_t number = page_number(&ref);
        check(number >= page * 100 && number <= page * 100 + 2, "the scan met %llu in page %u", (unsigned long long)number, page);
        pool_release(&ref);
    }
    pool_ring_close(ring);
}

static void ring_against_changes(void)
{
    pages_begin(6, 6);
    pool_begin_empty();
    go();
    begin("scan", scan_all, NULL);
    begin("scan too", scan_all, NULL);
    begin("change", work, "edc");
    join_all();
    pages_end((uint64_t[]){0, 100, 201, 301, 401, 500}, 6);
}

/* ---- Writing ---- */

static void write_all(void *argument)
{
    (void)argument;
    must(pool_write_dirty(store->pool, NULL, NULL, NULL));
    files_sync_all(store->files);
}

static void write_against_change(void)
{
    pages_begin(16, 2);
    add_to_page(0);
    go();
    begin("write", write_all, NULL);
    begin("change", work, "a0a");
    join_all();
    pages_end((uint64_t[]){3, 100}, 2);
}

static void two_writers(void)
{
    pages_begin(16, 3);
    add_to_page(0);
    add_to_page(1);
    go();
    begin("write", write_all, NULL);
    begin("write too", write_all, NULL);
    begin("change", work, "ba");
    join_all();
    pages_end((uint64_t[]){2, 102, 200}, 3);
}

/* A checkpoint's round and evictions write the same pages. */
static void write_against_eviction(void)
{
    pages_begin(3, 5);
    add_to_page(0);
    go();
    begin("write", write_all, NULL);
    begin("change", work, "b3a");
    begin("reader", work, "240");
    join_all();
    pages_end((uint64_t[]){2, 101, 200, 300, 400}, 5);
}

/* The second write of a page fails. */
static const struct disk *good_disk;
static struct disk bad_disk;
static unsigned page_writes;

static ssize_t bad_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    if (count == 1 && parts->iov_len == PAGE_BYTES && ++page_writes == 2) {
        errno = EIO;
        return -1;
    }
    return good_disk->pwritev(fd, parts, count, offset);
}

static unsigned failed_writes;

static void write_all_but_one(void *argument)
{
    (void)argument;
    enum status status = pool_write_dirty(store->pool, NULL, NULL, NULL);
    check(status == STATUS_OK || status == STATUS_IO, "%s", status_text(status));
    failed_writes += status == STATUS_IO;
}

static void a_write_fails(void)
{
    pages_begin(16, 3);
    add_to_page(0);
    add_to_page(1);
    good_disk = disk;
    bad_disk = *disk;
    bad_disk.pwritev = bad_pwritev;
    disk = &bad_disk;
    page_writes = failed_writes = 0;
    go();
    begin("write", write_all_but_one, NULL);
    begin("write too", write_all_but_one, NULL);
    begin("change", work, "abc");
    join_all();
    disk = good_disk;
    check(page_writes < 2 || failed_writes <= 1, "%u writes failed, one was planted", failed_writes);
    pages_end((uint64_t[]){2, 102, 201}, 3);            /* what could not be written stayed dirty */
}

/* The mask of the page table's latches changes under load. */
static void turn_partitions(void *argument)
{
    (void)argument;
    pool_set_partitions(store->pool, 1);
    pool_set_partitions(store->pool, 2);
}

static void partitions_change(void)
{
    pages_begin(3, 4);
    go();
    begin("turn", turn_partitions, NULL);
    begin("first", work, "a1");
    begin("second", work, "23");
    join_all();
    pages_end((uint64_t[]){1, 100, 200, 300}, 4);
}

const struct scenario scenarios_pool[] = {
    {"pool.same_page", two_miss_the_same_page, 2, "two threads miss the same page: it is read once"},
    {"pool.read_fails", a_read_fails, 0, "a read fails: one thread is told, the others read again"},
    {"pool.evict_pin", evict_against_pin, 0, "a page is pinned while its frame is being taken"},
    {"pool.pinned", a_pinned_page_stays, 0, "a pinned page keeps its frame"},
    {"pool.three_frames", three_frames_for_four, 0, "three threads, three frames, six pages"},
    {"pool.one_chain", one_chain, 0, "pages of one chain of the page table come and go while it is walked"},
    {"pool.two_ranks", two_ranks, 0, "a page is fetched under another rank than it has"},
    {"pool.ring", ring_against_changes, 0, "scans with rings of their own, while pages change"},
    {"pool.write_change", write_against_change, 2, "a page changes while its copy is written: it stays dirty"},
    {"pool.two_writers", two_writers, 0, "two rounds write the same pages"},
    {"pool.write_evict", write_against_eviction, 0, "evictions and a checkpoint's round write the same pages"},
    {"pool.write_fails", a_write_fails, 0, "a failed write leaves the page dirty"},
    {"pool.partitions", partitions_change, 0, "crab.pool_partitions is turned under load"},
    {0},
};
