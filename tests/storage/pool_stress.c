/* tests/storage/pool_stress.c - races of the buffer pool, staged and stormed: an eviction storm, in which hundreds of pages fight for 64
 * frames, then for 16, while switches turn and checkpoints write; each page says how often it was changed. Exit status 0: all was well.
 *
 *     pool_stress [threads [operations [seed]]] */
#include "base/atomic.h"
#include "base/hash.h"
#include "tests/storage/scratch.h"
#include "tests/verdict.h"

#define CHECK(condition) do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); abort(); } } while (0)

#define PAGES 300
#define WORDS 24
static struct store store;

/* A page says how often it was changed, and every word of it follows from that. */
static uint32_t word_offset(uint32_t i) { return 64 + i * ((PAGE_BYTES - 128) / WORDS / 8 * 8); }

static uint64_t page_round(const struct page_ref *ref)
{
    uint64_t round, word;
    memcpy(&round, ref->bytes + PAGE_HEADER_BYTES, sizeof round);
    for (uint32_t i = 0; i < WORDS; i++) {
        memcpy(&word, ref->bytes + word_offset(i), sizeof word);
        CHECK(word == word_of(ref->id, round, i));
    }
    return round;
}

static void page_change(struct page_ref *ref, uint64_t round)
{
    struct mtr mtr;
    uint8_t *bytes = ref->bytes;
    const page_id id = ref->id;
    mtr_begin(&mtr, &store, 1);
    mtr_join(&mtr, ref);
    mtr_write(&mtr, bytes, PAGE_HEADER_BYTES, &round, sizeof round);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint64_t word = word_of(id, round, i);
        mtr_write(&mtr, bytes, word_offset(i), &word, sizeof word);
    }
    mtr_commit(&mtr);
}

static void make_pages(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page;
        struct page_ref ref;
        MUST(page_make(&store, 1000, &page));
        MUST(pool_fetch(store.pool, (page_id){ 1000, page }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
        page_change(&ref, 0);
    }
}

/* ------------------------------------------------------------------ two readers of a missing page cause one read */

static void read_page_7(void *argument)
{
    struct page_ref ref;
    (void)argument;
    MUST(pool_fetch(store.pool, (page_id){ 1000, 7 }, LATCH_SHARED, RANK_HEAP, 0, &ref));
    page_round(&ref);
    pool_release(&ref);
}

static void two_readers_of_a_missing_page_cause_one_read(void)
{
    half_store_open(&store, 16, 0);
    make_pages(40);
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
    pool_close(store.pool);
    MUST(pool_open(&(struct pool_options){ .files = store.files, .wal = store.wal, .bytes = 16 * PAGE_BYTES }, &store.pool));

    uint64_t reads = file_read_calls();             /* not all disk calls: the WAL writer has its own */
    point_hold("pool.reading");
    struct thread *first = thread_start("first", read_page_7, NULL);
    point_await("pool.reading");                    /* reserved, not yet read */
    point_hold("pool.waiting");
    struct thread *second = thread_start("second", read_page_7, NULL);
    point_await("pool.waiting");                    /* found it READING */
    point_release("pool.waiting");
    point_release("pool.reading");
    thread_join(first);
    thread_join(second);
    CHECK(file_read_calls() - reads == 1);
    struct pool_stats stats;
    pool_stats(store.pool, &stats);
    CHECK(stats.misses == 1 && stats.waits_for_read >= 1 && stats.pinned == 0);
    half_store_close(&store);
}

/* ------------------------------------------------------------------ a page changed while its copy is written stays dirty */

static void write_all(void *argument)
{
    (void)argument;
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
}

static void a_change_during_a_write_is_written_later(void)
{
    half_store_open(&store, 16, 0);
    make_pages(1);
    point_hold("pool.writing");
    struct thread *writer = thread_start("writer", write_all, NULL);
    point_await("pool.writing");                    /* the copy is made, nothing is written */
    struct page_ref ref;
    MUST(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
    page_change(&ref, page_round(&ref) + 1);        /* WRITING shuts nobody out */
    struct pool_stats stats;
    pool_stats(store.pool, &stats);
    CHECK(stats.dirty == 1);
    point_release("pool.writing");
    thread_join(writer);
    pool_stats(store.pool, &stats);
    CHECK(stats.written >= 1);
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
    pool_close(store.pool);
    MUST(pool_open(&(struct pool_options){ .files = store.files, .wal = store.wal, .bytes = 16 * PAGE_BYTES }, &store.pool));
    MUST(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_SHARED, RANK_HEAP, 0, &ref));
    CHECK(page_round(&ref) == 1);
    pool_release(&ref);
    half_store_close(&store);
}

/* ------------------------------------------------------------------ the storm */

static _Atomic uint64_t changes[PAGES];
static _Atomic bool storm_over;
struct job { uint64_t seed; uint32_t operations; };

static void storm_worker(void *argument)
{
    struct job *job = argument;
    struct pool_ring *ring = NULL;
    for (uint32_t i = 0; i < job->operations; i++) {
        uint32_t page = (uint32_t)(random_next(&job->seed) % PAGES);
        if (random_next(&job->seed) % 3 == 0)
            page %= 10;                             /* some pages are hot */
        page_id id = { 1000, page };
        struct page_ref ref, again;
        enum status status;
        switch (random_next(&job->seed) % 8) {
        case 0: case 1: case 2:
            MUST(pool_fetch(store.pool, id, LATCH_SHARED, RANK_HEAP, 0, &ref));
            page_round(&ref);
            pool_release(&ref);
            break;
        case 3: case 4:
            MUST(pool_fetch(store.pool, id, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
            uint64_t round = page_round(&ref);
            CHECK(round == atomic_fetch_add(&changes[page], 1));
            page_change(&ref, round + 1);
            break;
        case 5:
            MUST(pool_pin(store.pool, id, RANK_HEAP, 0, &ref));
            pool_pin_again(&ref, &again);
            if (pool_latch_try(&ref, LATCH_SHARED)) {
                page_round(&ref);
                pool_unlatch(&ref);
            }
            pool_release(&again);
            pool_release(&ref);
            break;
        case 6:
            status = pool_fetch_try(store.pool, id, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref);
            CHECK(status == STATUS_OK || status == STATUS_WOULD_BLOCK);
            if (!status)
                page_round(&ref);
            pool_release(&ref);
            break;
        case 7:
            if (i % 4)
                break;
            ring = pool_ring_open(store.pool, 1000, page, PAGES, true);
            for (uint32_t at = page; at < PAGES && at < page + 40; at++) {
                MUST(pool_ring_pin(ring, at, &ref));
                pool_latch(&ref, LATCH_SHARED);
                page_round(&ref);
                pool_release(&ref);
            }
            pool_ring_close(ring);
            break;
        }
    }
    CHECK(pool_pins_held() == 0);
    CHECK(latch_held_count() == 0);
}

/* Turns every switch, and checkpoints, while the storm goes on. */
static void storm_switcher(void *argument)
{
    struct job *job = argument;
    for (int i = 0; !atomic_load(&storm_over); i++) {
        uint64_t r = random_next(&job->seed);
        if (!switch_given("crab.pool_partitions"))
            pool_set_partitions(store.pool, 1u << r % 8);
        if (!switch_given("crab.pool_io"))
            atomic_store(&pool_io_latched, (r >> 8) % 4 == 0);
        if (!switch_given("crab.group_commit"))
            atomic_store(&wal_group_commit, (r >> 16) % 2);
        if (i % 4 == 0) {
            lsn_t redo = wal_move_redo_point(store.wal);
            MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
            files_sync_all(store.files);
            wal_recycle(store.wal, redo);
        }
        sleep_us(200);
    }
}

static void storm(uint32_t frames, uint32_t threads, uint32_t operations, uint64_t seed)
{
    half_store_open(&store, frames, 0);
    make_pages(PAGES);
    pool_start_cleaner(store.pool);
    memset((void *)changes, 0, sizeof changes);
    atomic_store(&storm_over, false);
    struct job jobs[65];
    struct thread *workers[64];
    for (uint32_t i = 0; i < threads; i++) {
        jobs[i] = (struct job){ seed + i, operations };
        workers[i] = thread_start("worker", storm_worker, &jobs[i]);
    }
    jobs[64] = (struct job){ seed + 1000, 0 };
    struct thread *switcher = thread_start("switcher", storm_switcher, &jobs[64]);
    for (uint32_t i = 0; i < threads; i++)
        thread_join(workers[i]);
    atomic_store(&storm_over, true);
    thread_join(switcher);

    struct pool_stats stats;
    pool_stop_cleaner(store.pool);                             /* it pins what it writes, for a moment */
    pool_stats(store.pool, &stats);
    CHECK(stats.pinned == 0);
    fprintf(stderr, "storm: %u frames, %u threads: hits %llu misses %llu evictions %llu written %llu waits %llu\n", frames, threads,
            (unsigned long long)stats.hits, (unsigned long long)stats.misses, (unsigned long long)stats.evictions,
            (unsigned long long)stats.written, (unsigned long long)stats.waits_for_read);
    for (uint32_t i = 0; i < PAGES; i++) {
        struct page_ref ref;
        MUST(pool_fetch(store.pool, (page_id){ 1000, i }, LATCH_SHARED, RANK_HEAP, 0, &ref));
        CHECK(page_round(&ref) == atomic_load(&changes[i]));
        pool_release(&ref);
    }
    pool_stop_cleaner(store.pool);
    half_store_close(&store);
}

int main(int argc, char **argv)
{
    uint32_t threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 8, operations = argc > 2 ? (uint32_t)atoi(argv[2]) : 2000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (threads > 64)
        threads = 64;
    void (*staged[])(void) = { two_readers_of_a_missing_page_cause_one_read, a_change_during_a_write_is_written_later };
    const uint32_t latched = atomic_load(&pool_io_latched);
    for (size_t i = 0; i < sizeof staged / sizeof *staged; i++) {
        atomic_store(&pool_io_latched, 0);          /* they stage what happens when I/O is outside the latch */
        scratch_open();
        staged[i]();
        scratch_close();
    }
    atomic_store(&pool_io_latched, latched);
    static const uint32_t frames[] = { 64, 16 };
    for (size_t i = 0; i < 2; i++) {
        scratch_open();
        storm(frames[i], threads, operations, seed);
        scratch_close();
    }
    return verdict("eviction storm", threads, 2ull * threads * operations, seed, 0);
}
