/* tests/storage/pool_test.c - a pool smaller than the data, damaged pages, growing and forgetting files. */
#include <criterion/criterion.h>
#include <fcntl.h>

#include "tests/storage/scratch.h"

static struct store store;

static void fill(uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++) {
        uint32_t page;
        MUST(page_make(&store, 1000, &page));
        cr_assert_eq(page, i);
        struct page_ref ref;
        struct mtr mtr;
        MUST(pool_fetch(store.pool, (page_id){ 1000, page }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
        mtr_begin(&mtr, &store, 0);
        mtr_join(&mtr, &ref);
        uint64_t word = word_of(ref.id, 0, 100);
        mtr_write(&mtr, ref.bytes, 100, &word, sizeof word);
        mtr_commit(&mtr);
    }
}

static void check(uint32_t page)
{
    struct page_ref ref;
    MUST(pool_fetch(store.pool, (page_id){ 1000, page }, LATCH_SHARED, RANK_HEAP, 0, &ref));
    uint64_t word;
    memcpy(&word, ref.bytes + 100, sizeof word);
    cr_assert_eq(word, word_of(ref.id, 0, 100));
    pool_release(&ref);
}

Test(pool, holds_more_pages_than_it_has_frames, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    for (uint64_t frames = 3; frames <= 64; frames = frames * 2 + 1) {
        half_store_open(&store, frames, 0);
        fill(200);
        for (uint32_t i = 0; i < 200; i++)
            check(i);
        struct pool_ring *ring = pool_ring_open(store.pool, 1000, 0, 200, true);
        for (uint32_t i = 0; i < 200; i++) {
            struct page_ref ref;
            uint64_t word;
            MUST(pool_ring_pin(ring, i, &ref));
            memcpy(&word, ref.bytes + 100, sizeof word);
            cr_assert_eq(word, word_of(ref.id, 0, 100));
            pool_release(&ref);
        }
        pool_ring_close(ring);
        cr_assert_eq(pool_pins_held(), 0);
        cr_assert_eq(latch_held_count(), 0);
        half_store_close(&store);
        scratch_close();
        scratch_open();
    }
}

Test(pool, a_ring_reads_ahead_and_leaves_the_rest_of_the_pool_alone, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 256, 0);
    fill(1000);
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
    for (int i = 0; i < 3; i++)
        for (uint32_t page = 0; page < 50; page++)
            check(page);
    struct pool_stats before, after;
    struct pool_ring *ring = pool_ring_open(store.pool, 1000, 50, 750, true);
    uint64_t calls = file_disk_calls();
    for (uint32_t page = 50; page < 750; page++) {
        struct page_ref ref;
        MUST(pool_ring_pin(ring, page, &ref));
        pool_release(&ref);
    }
    pool_ring_close(ring);
    cr_assert_lt(file_disk_calls() - calls, 120, "%lu calls", file_disk_calls() - calls);
    pool_stats(store.pool, &before);
    for (uint32_t page = 0; page < 50; page++)
        check(page);
    pool_stats(store.pool, &after);
    cr_assert_eq(before.misses, after.misses);
    half_store_close(&store);
}

Test(pool, a_damaged_page_is_an_error_and_only_its_own, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 64, 0);
    fill(60);
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
    pool_close(store.pool);
    int fd = open(scratch_name("base/1000"), O_RDWR);
    cr_assert_eq(pwrite(fd, "x", 1, 2 * PAGE_BYTES + 5000), 1);
    uint8_t page[PAGE_BYTES];
    cr_assert_eq(pread(fd, page, PAGE_BYTES, 4 * PAGE_BYTES), PAGE_BYTES);      /* a misplaced write */
    cr_assert_eq(pwrite(fd, page, PAGE_BYTES, 5 * PAGE_BYTES), PAGE_BYTES);
    close(fd);
    MUST(pool_open(&(struct pool_options){ .files = store.files, .wal = store.wal, .bytes = 64 * PAGE_BYTES }, &store.pool));

    struct page_ref ref;
    cr_assert_eq(pool_fetch(store.pool, (page_id){ 1000, 2 }, LATCH_SHARED, RANK_HEAP, 0, &ref), STATUS_CORRUPT);
    cr_assert_str_eq(error_current()->message, "invalid page in block 2 of relation base/1000");
    cr_assert_eq(pool_fetch(store.pool, (page_id){ 1000, 5 }, LATCH_SHARED, RANK_HEAP, 0, &ref), STATUS_CORRUPT);
    struct pool_ring *ring = pool_ring_open(store.pool, 1000, 0, 60, true);
    for (uint32_t i = 0; i < 60; i++) {
        enum status status = pool_ring_pin(ring, i, &ref);
        cr_assert_eq(status, i == 2 || i == 5 ? STATUS_CORRUPT : STATUS_OK);
        pool_release(&ref);
    }
    pool_ring_close(ring);
    cr_assert_eq(pool_pins_held(), 0);
    half_store_close(&store);
}

Test(pool, a_failed_read_fails_one_fetch, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 64, 0);
    fill(100);
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
    pool_close(store.pool);
    MUST(pool_open(&(struct pool_options){ .files = store.files, .wal = store.wal, .bytes = 64 * PAGE_BYTES }, &store.pool));
    file_fail_errno = 5;
    file_fail_call = file_disk_calls() + 1;
    struct page_ref ref;
    cr_assert_eq(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_SHARED, RANK_HEAP, 0, &ref), STATUS_IO);
    file_fail_call = 0;
    check(0);
    half_store_close(&store);
}

Test(pool, says_when_every_frame_is_pinned, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 4, 0);
    fill(10);
    struct page_ref held[4], ref;
    for (uint32_t i = 0; i < 4; i++)
        MUST(pool_pin(store.pool, (page_id){ 1000, i }, RANK_HEAP, 0, &held[i]));
    cr_assert_eq(pool_pin(store.pool, (page_id){ 1000, 7 }, RANK_HEAP, 0, &ref), STATUS_NO_FRAME);
    cr_assert_eq(pool_pins_held(), 4);
    for (uint32_t i = 0; i < 4; i++)
        pool_release(&held[i]);
    check(7);
    half_store_close(&store);
}

Test(pool, a_full_disk_fails_the_statement_that_grows_a_file, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 64, 0);
    uint32_t page;
    file_fail_errno = 28;
    uint64_t at = file_disk_calls() + 1;
    file_fail_call = at;
    enum status status = pool_extend(store.pool, 1000, 1, &page);
    cr_assert_eq(status, STATUS_OK);                            /* the larger chunk failed, the smaller one fitted */
    cr_assert_eq(file_disk_calls(), at + 1);
    file_fail_call = 0;
    half_store_close(&store);
}

Test(pool, forgotten_and_truncated_pages_are_not_written, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 64, 0);
    fill(40);
    uint32_t pages;
    MUST(pool_truncate_file(store.pool, 1000, 10));
    MUST(pool_file_pages(store.pool, 1000, &pages));
    cr_assert_eq(pages, 10);
    check(9);
    pool_forget_file(store.pool, 1000);
    struct pool_stats stats;
    pool_stats(store.pool, &stats);
    cr_assert_eq(stats.dirty, 0);
    MUST(file_drop(store.files, 1000));
    struct page_ref ref;
    cr_assert_eq(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_SHARED, RANK_HEAP, 0, &ref), STATUS_UNDEFINED_FILE);
    half_store_close(&store);
}

Test(pool, the_frames_of_a_forgotten_file_are_used_first, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 256, 0);
    fill(40);
    struct page_ref ref;
    uint8_t *bytes[40];
    for (uint32_t i = 0; i < 40; i++) {
        MUST(pool_fetch(store.pool, (page_id){ 1000, i }, LATCH_SHARED, RANK_HEAP, 0, &ref));
        bytes[i] = ref.bytes;
        pool_release(&ref);
    }
    for (int round = 0; round < 3; round++) {
        pool_forget_file(store.pool, 1000);
        for (uint32_t i = 0; i < 40; i++) {
            bool was = false;
            MUST(pool_fetch(store.pool, (page_id){ 1000, i }, LATCH_SHARED, RANK_HEAP, 0, &ref));
            for (uint32_t k = 0; k < 40; k++)
                was |= ref.bytes == bytes[k];
            cr_assert(was, "page %u is in a frame never used before", i);
            pool_release(&ref);
        }
    }
    half_store_close(&store);
}

Test(pool, a_page_given_out_again_gets_its_latch_anew, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 64, 0);
    fill(2);
    struct page_ref node, heap;
    MUST(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_EXCLUSIVE, RANK_NODE, 3, &node));
    MUST(pool_fetch(store.pool, (page_id){ 1000, 1 }, LATCH_SHARED, RANK_HEAP, 0, &heap));
    pool_release(&heap);
    pool_release(&node);
    MUST(pool_fetch(store.pool, (page_id){ 1000, 1 }, LATCH_EXCLUSIVE, RANK_NODE, 3, &node));
    MUST(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_SHARED, RANK_HEAP, 0, &heap));
    pool_release(&heap);
    pool_release(&node);
    half_store_close(&store);
}
