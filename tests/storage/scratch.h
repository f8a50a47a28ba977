/* tests/storage/scratch.h - a scratch directory, and the lower half of a store (files, WAL, pool) in it. */
#ifndef TESTS_STORAGE_SCRATCH_H
#define TESTS_STORAGE_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/latch.h"
#include "storage/store.h"
#include "tests/switches.h"

static char scratch_path[64];

#define MUST(call) do { enum status must_ = (call); if (must_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
    error_current()->message ? error_current()->message : status_text(must_)); abort(); } } while (0)

static inline const char *scratch_open(void)
{
    strcpy(scratch_path, "/tmp/crab-test-XXXXXX");
    if (!mkdtemp(scratch_path))
        abort();
    return scratch_path;
}

static inline void scratch_close(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch_path);
    if (system(command) != 0)
        abort();
}

static inline const char *scratch_name(const char *name)
{
    static char path[4][96];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", scratch_path, name);
    return out;
}

/* start 0: a new stream. The file 1000 is made when it isn't there. */
static inline void half_store_open(struct store *store, uint64_t frames, lsn_t start)
{
    memset(store, 0, sizeof *store);
    MUST(files_open(scratch_name("base"), &store->files));
    if (!file_exists(store->files, 1000))
        MUST(file_create(store->files, 1000));
    MUST(wal_open(&(struct wal_options){ .directory = scratch_name("wal"), .ring_bytes = 4u << 20 }, start ? start : WAL_START, &store->wal));
    MUST(pool_open(&(struct pool_options){ .files = store->files, .wal = store->wal, .bytes = frames * PAGE_BYTES, .partitions = switch_partitions() }, &store->pool));
}

static inline void half_store_close(struct store *store)
{
    pool_close(store->pool);
    wal_close(store->wal);
    files_close(store->files);
}

/* Makes a page of the file and fills it with words that tell where they stand. */
static inline uint64_t word_of(page_id id, uint64_t round, uint32_t at) { return ((uint64_t)id.page << 32 | at) * 2654435761u + round; }

static inline enum status page_make(struct store *store, uint32_t file, uint32_t *page)
{
    struct mtr mtr;
    struct page_ref ref;
    enum status status = pool_extend(store->pool, file, 1, page);
    if (status)
        return status;
    mtr_begin(&mtr, store, 0);
    status = pool_fetch_new(store->pool, (page_id){ file, *page }, RANK_HEAP, 0, &ref);
    if (status)
        return status;
    mtr_join(&mtr, &ref);
    mtr_format(&mtr, ref.bytes, PAGE_HEAP);
    mtr_commit(&mtr);
    return STATUS_OK;
}

#endif
