/* tests/storage/store_test.c - a data directory opened, closed, crashed, damaged. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "tests/storage/scratch.h"
#include "base/hash.h"
#include "storage/control.h"
#include "storage/txn.h"

static const struct store_options options = {
    .pool_bytes = 64 * PAGE_BYTES, .wal_ring_bytes = 4u << 20, .lock_bytes = 1 << 20, .pool_partitions = 16, .checkpoint_seconds = 300,
    .max_transactions = 10, .max_wal_bytes = 64u << 20,
};

static struct store *open_store(void)
{
    struct store *store;
    MUST(store_open(scratch_name("data"), &options, &store));
    return store;
}

static void write_word(struct store *store, uint32_t page, uint64_t word)
{
    struct page_ref ref;
    struct mtr mtr;
    MUST(pool_fetch(store->pool, (page_id){ 500, page }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
    mtr_begin(&mtr, store, 0);
    mtr_join(&mtr, &ref);
    mtr_write(&mtr, ref.bytes, 100, &word, sizeof word);
    wal_flush(store->wal, mtr_commit(&mtr));
}

static uint64_t read_word(struct store *store, uint32_t page)
{
    struct page_ref ref;
    uint64_t word;
    MUST(pool_fetch(store->pool, (page_id){ 500, page }, LATCH_SHARED, RANK_HEAP, 0, &ref));
    memcpy(&word, ref.bytes + 100, sizeof word);
    pool_release(&ref);
    return word;
}

static void make_pages(struct store *store, uint32_t count)
{
    MUST(store_create_fixed_file(store, 500));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page;
        MUST(page_make(store, 500, &page));
    }
}

/* Runs in a process of its own that dies without a word. */
static void crashing(void (*run)(struct store *))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run(open_store());
        _exit(9);
    }
    int status;
    waitpid(pid, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static void write_200_words(struct store *store)
{
    make_pages(store, 100);
    for (uint32_t i = 0; i < 100; i++)
        write_word(store, i, i + 1);
    MUST(store_checkpoint(store));
    for (uint32_t i = 0; i < 100; i++)
        write_word(store, i, i + 1000);
}

Test(store, an_orderly_shutdown_leaves_nothing_to_recover, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct store *store = open_store();
    cr_assert(store->fresh);
    make_pages(store, 100);
    for (uint32_t i = 0; i < 100; i++)
        write_word(store, i, i + 1);
    MUST(store_bootstrap_done(store));
    MUST(store_close(store));
    store = open_store();
    cr_assert_not(store->fresh);
    cr_assert_eq(store->recovered_records, 0);
    for (uint32_t i = 0; i < 100; i++)
        cr_assert_eq(read_word(store, i), i + 1);
    MUST(store_close(store));
}

Test(store, a_crash_loses_nothing_that_was_flushed, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    crashing(write_200_words);
    struct store *store = open_store();
    cr_assert(store->fresh);                        /* nobody said that the bootstrap was done */
    cr_assert_gt(store->recovered_records, 99);
    for (uint32_t i = 0; i < 100; i++)
        cr_assert_eq(read_word(store, i), i + 1000);
    MUST(store_close(store));
}

Test(store, one_damaged_copy_of_the_control_file_does_no_harm, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    MUST(store_close(open_store()));
    for (int copy = 0; copy < 2; copy++) {
        int fd = open(scratch_name("data/control"), O_RDWR);
        cr_assert_eq(pwrite(fd, "damage", 6, copy * 4096 + 20), 6);
        close(fd);
        MUST(store_close(open_store()));            /* writes both anew */
    }
    int fd = open(scratch_name("data/control"), O_RDWR);
    cr_assert_eq(pwrite(fd, "damage", 6, 20), 6);
    cr_assert_eq(pwrite(fd, "damage", 6, 4096 + 20), 6);
    close(fd);
    struct store *store;
    cr_assert_eq(store_open(scratch_name("data"), &options, &store), STATUS_CORRUPT);
}

static void change_control(void (*change)(struct control *))
{
    struct control control;
    int fd = open(scratch_name("data/control"), O_RDWR);
    cr_assert_eq(pread(fd, &control, sizeof control, 0), (ssize_t)sizeof control);
    change(&control);
    control.crc = crc32c(0, &control, offsetof(struct control, crc));
    for (int copy = 0; copy < 2; copy++)
        cr_assert_eq(pwrite(fd, &control, sizeof control, copy * 4096), (ssize_t)sizeof control);
    close(fd);
}
static void of_another_version(struct control *control) { control->version++; }
static void of_another_page_size(struct control *control) { control->version--; control->page_bytes *= 2; }

Test(store, a_directory_of_another_version_or_page_size_is_refused, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct store *store;
    MUST(store_close(open_store()));
    change_control(of_another_version);
    cr_assert_eq(store_open(scratch_name("data"), &options, &store), STATUS_CONFIG_FILE);
    cr_assert_not_null(strstr(error_current()->detail, "initialized by version"));
    change_control(of_another_page_size);
    cr_assert_eq(store_open(scratch_name("data"), &options, &store), STATUS_CONFIG_FILE);
    cr_assert_not_null(strstr(error_current()->detail, "page size"));
}

Test(store, files_without_a_control_file_are_not_written_over, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct store *store = open_store();
    make_pages(store, 10);
    MUST(store_close(store));
    cr_assert_eq(unlink(scratch_name("data/control")), 0);
    cr_assert_eq(store_open(scratch_name("data"), &options, &store), STATUS_CONFIG_FILE);
}

Test(store, two_servers_cannot_have_one_directory, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct store *store = open_store(), *second;
    cr_assert_eq(store_open(scratch_name("data"), &options, &second), STATUS_OBJECT_IN_USE);
    MUST(store_close(store));
}

static void make_and_commit(struct store *store)
{
    struct txn_slot *slot;
    uint32_t file;
    MUST(store_bootstrap_done(store));
    MUST(txn_slot_open(store, 1, &slot));
    struct txn *txn = txn_begin(store, slot, READ_COMMITTED, false);
    MUST(store_new_file(store, txn, &file));
    MUST(txn_commit(txn));
    txn = txn_begin(store, slot, READ_COMMITTED, false);
    MUST(store_new_file(store, txn, &file));        /* never committed */
    wal_flush(store->wal, wal_next(store->wal));
}

static bool wants_1000(void *context, uint32_t file) { (void)context; return file == 1000; }

Test(store, files_follow_their_transactions, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    crashing(make_and_commit);
    struct store *store = open_store();
    cr_assert(file_exists(store->files, 1000));
    MUST(store_sweep_files(store, wants_1000, NULL));
    cr_assert(file_exists(store->files, 1000));
    cr_assert_not(file_exists(store->files, 1001));

    struct txn_slot *slot;
    uint32_t file;
    MUST(txn_slot_open(store, 1, &slot));
    struct txn *txn = txn_begin(store, slot, READ_COMMITTED, false);
    MUST(store_new_file(store, txn, &file));
    cr_assert_eq(file, 1002);
    store_drop_file(store, txn, 1000);
    txn_abort(txn);
    cr_assert(file_exists(store->files, 1000));
    cr_assert_not(file_exists(store->files, 1002));
    txn = txn_begin(store, slot, READ_COMMITTED, false);
    store_drop_file(store, txn, 1000);
    MUST(txn_commit(txn));
    cr_assert_not(file_exists(store->files, 1000));
    txn_slot_close(slot);
    MUST(store_close(store));
}

Test(store, checkpoints_keep_the_log_short, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct store *store = open_store();
    make_pages(store, 40);
    for (uint64_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 2000; i++) {
            struct page_ref ref;
            struct mtr mtr;
            MUST(pool_fetch(store->pool, (page_id){ 500, i % 40 }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref));
            mtr_begin(&mtr, store, 0);
            mtr_join(&mtr, &ref);
            mtr_image(&mtr, ref.bytes);
            memset(ref.bytes + 100, (int)round + 1, PAGE_BYTES - 100);
            mtr_commit(&mtr);
        }
        MUST(store_checkpoint(store));
    }
    cr_assert_neq(access(scratch_name("data/wal/0000000000000001"), F_OK), 0);
    struct checkpoint_stats stats;
    store_checkpoint_stats(store, &stats);
    cr_assert_geq(stats.requested, 4);
    MUST(store_close(store));
}
