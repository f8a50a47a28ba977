/* tests/storage/mtr_test.c - redo makes the same bytes, from verbs and from images. */
#include <criterion/criterion.h>

#include "base/hash.h"
#include "tests/storage/scratch.h"

#define PAGES 20

static struct store store;

/* Random verbs on a random few pages; `model` gets the same bytes by hand. */
static void random_change(uint64_t *seed, uint8_t (*model)[PAGE_BYTES])
{
    struct mtr mtr;
    struct page_ref refs[4];
    uint32_t count = 1 + (uint32_t)(random_next(seed) % 4), first = (uint32_t)(random_next(seed) % (PAGES - 4));
    mtr_begin(&mtr, &store, 1 + random_next(seed) % 100);
    for (uint32_t i = 0; i < count; i++) {
        MUST(pool_fetch(store.pool, (page_id){ 1000, first + i }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &refs[i]));
        mtr_join(&mtr, &refs[i]);
    }
    bool lsn_due[4] = { false };
    for (int verbs = 1 + (int)(random_next(seed) % 10); verbs > 0; verbs--) {
        uint32_t i = (uint32_t)(random_next(seed) % count), length = (uint32_t)(random_next(seed) % 200);
        uint32_t a = 48 + (uint32_t)(random_next(seed) % (PAGE_BYTES - 300)), b = 48 + (uint32_t)(random_next(seed) % (PAGE_BYTES - 300));
        uint8_t *page = refs[i].bytes, *copy = model[first + i], bytes[200];
        for (uint32_t k = 0; k < length; k++)
            bytes[k] = (uint8_t)random_next(seed);
        switch (random_next(seed) % 5) {
        case 0: case 1: mtr_write(&mtr, page, a, bytes, length); memcpy(copy + a, bytes, length); break;
        case 2: mtr_move(&mtr, page, a, b, length); memmove(copy + a, copy + b, length); break;
        case 3: mtr_fill(&mtr, page, a, (uint8_t)length, length); memset(copy + a, (int)length, length); break;
        case 4:
            if (random_next(seed) % 4 == 0) {
                mtr_image(&mtr, page);
                page[a] ^= 1, copy[a] ^= 1;
            } else {
                mtr_write_lsn(&mtr, page, 40);
                lsn_due[i] = true;
            }
            break;
        }
    }
    lsn_t lsn = mtr_commit(&mtr);
    for (uint32_t i = 0; i < count; i++)
        if (lsn_due[i])
            memcpy(model[first + i] + 40, &lsn, sizeof lsn);
}

static void check_model(uint8_t (*model)[PAGE_BYTES])
{
    for (uint32_t i = 0; i < PAGES; i++) {
        struct page_ref ref;
        MUST(pool_fetch(store.pool, (page_id){ 1000, i }, LATCH_SHARED, RANK_HEAP, 0, &ref));
        cr_assert_eq(memcmp(ref.bytes + PAGE_HEADER_BYTES, model[i] + PAGE_HEADER_BYTES, PAGE_BYTES - PAGE_HEADER_BYTES), 0, "page %u", i);
        pool_release(&ref);
    }
}

static uint8_t model[PAGES][PAGE_BYTES];

Test(mtr, redo_makes_the_bytes_that_the_changes_made, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 8, 0);
    uint64_t seed = 11;
    for (uint32_t i = 0; i < PAGES; i++) {
        uint32_t page;
        MUST(page_make(&store, 1000, &page));
    }
    for (int i = 0; i < 500; i++)
        random_change(&seed, model);
    lsn_t redo = wal_move_redo_point(store.wal);
    MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
    for (int i = 0; i < 500; i++)
        random_change(&seed, model);
    struct wal_stats stats;
    wal_stats(store.wal, &stats);
    cr_assert_geq(stats.images, 2 * PAGES);
    check_model(model);
    lsn_t end = wal_next(store.wal);
    half_store_close(&store);                                   /* dirty pages are lost; some were evicted, and are on disk */

    for (int again = 0; again < 2; again++) {                   /* redo of what was redone changes nothing */
        half_store_open(&store, 8, end);
        struct wal_reader *reader;
        struct wal_record *record;
        MUST(wal_reader_open(scratch_name("wal"), redo, &reader));
        while (wal_read(reader, &record))
            MUST(mtr_redo(&store, record, NULL, NULL));
        cr_assert_eq(wal_reader_position(reader), end);
        wal_reader_close(reader);
        check_model(model);
        uint32_t pages;
        MUST(pool_file_pages(store.pool, 1000, &pages));
        cr_assert_eq(pages, PAGES);
        if (again == 0)
            MUST(pool_write_dirty(store.pool, NULL, NULL, NULL));
        half_store_close(&store);
    }
}

Test(mtr, nothing_changed_makes_no_record, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 8, 0);
    uint32_t page;
    MUST(page_make(&store, 1000, &page));
    lsn_t next = wal_next(store.wal);
    struct mtr mtr;
    struct page_ref ref;
    mtr_begin(&mtr, &store, 0);
    MUST(pool_fetch(store.pool, (page_id){ 1000, 0 }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
    mtr_join(&mtr, &ref);
    mtr_join(&mtr, &ref);
    cr_assert_eq(mtr_commit(&mtr), 0);
    cr_assert_eq(wal_next(store.wal), next);
    cr_assert_eq(pool_pins_held(), 0);
    cr_assert_eq(latch_held_count(), 0);
    half_store_close(&store);
}

Test(mtr, sixty_four_images_are_one_record, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    half_store_open(&store, 100, 0);
    uint64_t seed = 5;
    struct mtr mtr;
    mtr_begin(&mtr, &store, 7);
    uint32_t first;
    MUST(pool_extend(store.pool, 1000, MTR_PAGES, &first));
    struct page_ref refs[MTR_PAGES];
    for (uint32_t i = 0; i < MTR_PAGES; i++) {
        MUST(pool_fetch_new(store.pool, (page_id){ 1000, i }, RANK_HEAP, 0, &refs[i]));
        mtr_join(&mtr, &refs[i]);
    }
    for (uint32_t i = 0; i < MTR_PAGES; i++) {
        mtr_format(&mtr, refs[i].bytes, PAGE_HEAP);
        for (uint32_t at = PAGE_HEADER_BYTES; at < PAGE_BYTES; at++)
            refs[i].bytes[at] = (uint8_t)random_next(&seed);
    }
    cr_assert_neq(mtr_commit(&mtr), 0);
    half_store_close(&store);
    struct wal_reader *reader;
    struct wal_record *record;
    MUST(wal_reader_open(scratch_name("wal"), WAL_START, &reader));
    cr_assert(wal_read(reader, &record));
    cr_assert_gt(record->length, MTR_PAGES * PAGE_BYTES - 4096);
    cr_assert_not(wal_read(reader, &record));
    wal_reader_close(reader);
}
