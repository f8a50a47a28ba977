/* storage/store.c - a data directory, opened.
 *
 * Opening, in order: the directory's lock; the control file (made when there is none: a new directory); files and pool;
 * recovery, through the pool, which has no WAL yet; the WAL from where recovery ended; transactions and locks; a
 * checkpoint, so that the next start begins here; then cleaner and checkpointer. Closing goes the other way.
 *
 * A data directory is new until its control file stands: a start that was cut short begins anew. */
#include "storage/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/latch.h"
#include "storage/checkpoint.h"
#include "storage/control.h"
#include "storage/disk.h"
#include "storage/lock.h"
#include "storage/recovery.h"
#include "storage/txn.h"

#define WAL_RING_MIN (PAGE_BYTES > 16384 ? 8u << 20 : 4u << 20)    /* half of it holds a record of 64 images */

static enum status lock_directory(struct store *store)
{
    char path[PATH_MAX], pid[32] = "";
    snprintf(path, sizeof path, "%s/lock", store->directory);
    store->lock_fd = disk->open(path, O_RDWR | O_CREAT);
    if (store->lock_fd < 0)
        return error_set(STATUS_IO, "could not open file \"%s\": %s", path, strerror(errno));
    if (disk->lock(store->lock_fd) != 0) {
        ssize_t length = disk->preadv(store->lock_fd, &(struct iovec){ pid, sizeof pid - 1 }, 1, 0);
        error_set(STATUS_OBJECT_IN_USE, "data directory \"%s\" is in use by another server", store->directory);
        if (length > 0)
            error_hint("Is another server (PID %.*s) running in data directory \"%s\"?", (int)strcspn(pid, "\n"), pid, store->directory);
        return STATUS_OBJECT_IN_USE;
    }
    int length = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (disk->ftruncate(store->lock_fd, 0) != 0 || disk->pwritev(store->lock_fd, &(struct iovec){ pid, (size_t)length }, 1, 0) != length)
        return error_set(STATUS_IO, "could not write file \"%s\": %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status make_directory(const char *path)
{
    if (disk->mkdir(path) != 0 && errno != EEXIST)
        return error_set(STATUS_IO, "could not create directory \"%s\": %s", path, strerror(errno));
    return STATUS_OK;
}

/* A new database goes where nothing is, or what a start that was cut short left: never over somebody's files, and never over a
 * database whose control file is lost. */
static void note_foreign(void *context, const char *name)
{
    static const char *const ours[] = {".", "..", "base", "wal", "lock", "control", "pgsql_tmp"};
    char **foreign = context;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strcmp(name, ours[i]) == 0)
            return;
    if (!*foreign)
        *foreign = strdup(name);
}

static enum status refuse_foreign(const char *directory)
{
    struct control control = { 0 };
    enum status status = control_read(directory, &control);
    if (status != STATUS_NOT_FOUND)
        return status;
    char *foreign = NULL;
    if (disk->list(directory, note_foreign, &foreign) != 0)
        return errno == ENOENT ? STATUS_OK : error_set(STATUS_IO, "could not open directory \"%s\": %s", directory, strerror(errno));
    if (!foreign)
        return STATUS_OK;
    error_set(STATUS_CONFIG_FILE, "directory \"%s\" exists but is not a data directory", directory);
    error_detail("It contains \"%s\".", foreign);
    free(foreign);
    return STATUS_CONFIG_FILE;
}

/* What a start that was cut short left behind, before there was a control file: at most the status file. */
static enum status clear_remains(struct store *store)
{
    uint32_t *files, count;
    enum status status = file_list(store->files, &files, &count);
    if (status)
        return status;
    for (uint32_t i = 0; i < count && !status; i++)
        if (files[i] != FILE_STATUS)
            status = error_set(STATUS_CONFIG_FILE, "data directory \"%s\" has files but no control file", store->directory);
    for (uint32_t i = 0; i < count && !status; i++)
        status = file_drop(store->files, files[i]);
    free(files);
    return status;
}

static enum status raise_next_file(struct store *store, uint32_t next)
{
    uint32_t *files, count;
    enum status status = file_list(store->files, &files, &count);
    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++)
        if (files[i] >= next)
            next = files[i] + 1;
    free(files);
    atom_store(&store->next_file, next < FILE_FIRST_FREE ? FILE_FIRST_FREE : next);
    return STATUS_OK;
}

static enum status open_parts(struct store *store, const struct store_options *options)
{
    char base[PATH_MAX], wal[PATH_MAX];
    snprintf(base, sizeof base, "%s/base", store->directory);
    snprintf(wal, sizeof wal, "%s/wal", store->directory);

    struct control control = { 0 };
    enum status status = control_read(store->directory, &control);
    const bool new = status == STATUS_NOT_FOUND;
    if (status && !new)
        return status;
    store->fresh = !control.bootstrapped;
    if ((status = files_open(base, &store->files)) || (status = make_directory(wal)))
        return status;
    struct pool_options pool = { .files = store->files, .bytes = options->pool_bytes, .partitions = options->pool_partitions };
    status = pool_open(&pool, &store->pool);
    if (status)
        return status;

    struct recovery recovery = { .redo = control.redo, .next_xid = control.next_xid, .next_file = control.next_file };
    if (new) {
        recovery.end = WAL_START;
        recovery.next_xid = XID_FIRST;
        status = clear_remains(store);
    } else {
        uint64_t begun = now_us();
        if (!control.clean)
            log_line("LOG", "database system was not properly shut down; automatic recovery in progress");
        status = recovery_run(store, wal, &recovery);
        store->recovered_records = recovery.records;
        store->recovered_us = now_us() - begun;
        if (!status && !control.clean)
            log_line("LOG", "redo done: %llu records, %.1f MB of write-ahead log, %.3f s", (unsigned long long)recovery.records,
                     (double)(recovery.end - recovery.redo) / 1e6, (double)store->recovered_us / 1e6);
    }
    if (!status)
        status = raise_next_file(store, recovery.next_file);
    if (status)
        return status;

    struct wal_options wal_options = { .directory = wal, .ring_bytes = options->wal_ring_bytes ? options->wal_ring_bytes : 16u << 20 };
    if (wal_options.ring_bytes < WAL_RING_MIN)
        wal_options.ring_bytes = WAL_RING_MIN;
    status = wal_open(&wal_options, recovery.end, &store->wal);
    if (status)
        return status;
    pool_set_wal(store->pool, store->wal);
    if (new && (status = store_create_fixed_file(store, FILE_STATUS)))
        return status;
    if ((status = txn_table_open(store, options->max_transactions, recovery.next_xid, &store->txns))
        || (status = lock_table_open(store, options->lock_bytes, &store->locks)))
        return status;
    txn_recovered(store, recovery.next_xid, recovery.end);

    store->checkpointer = checkpointer_open(store, options->checkpoint_seconds, options->max_wal_bytes);
    if ((status = checkpoint_now(store->checkpointer, false)) || (status = checkpointer_start(store->checkpointer)))
        return status;
    pool_start_cleaner(store->pool);
    return STATUS_OK;
}

static void close_parts(struct store *store)
{
    checkpointer_close(store->checkpointer);
    if (store->pool)
        pool_stop_cleaner(store->pool);
    if (store->locks)
        lock_table_close(store->locks);
    if (store->txns)
        txn_table_close(store->txns);
    wal_close(store->wal);
    pool_close(store->pool);
    files_close(store->files);
    if (store->lock_fd >= 0)
        disk->close(store->lock_fd);
    free(store->directory);
    free(store);
}

enum status store_open(const char *directory, const struct store_options *options, struct store **out)
{
    struct store *store = calloc(1, sizeof *store);
    store->lock_fd = -1;
    store->directory = strdup(directory);
    enum status status = refuse_foreign(directory);
    if (!status)
        status = make_directory(directory);
    if (!status)
        status = lock_directory(store);
    if (!status)
        status = open_parts(store, options);
    if (status) {
        struct error kept = { 0 };
        error_save(&kept);
        close_parts(store);
        return error_restore(&kept);
    }
    *out = store;
    return STATUS_OK;
}

enum status store_close(struct store *store)
{
    pool_stop_cleaner(store->pool);
    struct checkpointer *checkpointer = store->checkpointer;
    /* The thread goes first, so that nothing is appended after the last checkpoint. */
    checkpointer_stop(checkpointer);
    enum status status = checkpoint_now(checkpointer, true);
    struct error kept = { 0 };
    if (status)
        error_save(&kept);
    close_parts(store);
    return status ? error_restore(&kept) : STATUS_OK;
}

/* ------------------------------------------------------------------ files */

static lsn_t log_file(struct store *store, xid_t xid, enum wal_kind kind, uint32_t file)
{
    struct file_record record = { .head = { .length = sizeof record, .kind = (uint8_t)kind, .xid = xid }, .file = file };
    lsn_t start, end;
    while (!wal_append(store->wal, &record.head, wal_redo_point(store->wal), &start, &end, NULL))
        ;
    return end;
}

enum status store_create_fixed_file(struct store *store, uint32_t file)
{
    if (file_exists(store->files, file))
        store_remove_file(store, file);
    log_file(store, XID_NONE, WAL_FILE_MADE, file);
    return file_create(store->files, file);
}

enum status store_bootstrap_done(struct store *store)
{
    store->fresh = false;
    return store_checkpoint(store);
}

enum status store_new_file(struct store *store, struct txn *txn, uint32_t *out)
{
    xid_t xid;
    enum status status = txn_id(txn, &xid);
    if (status)
        return status;
    uint32_t file = atom_add(&store->next_file, 1);
    if (file >= UINT32_MAX - 1) {
        atom_store(&store->next_file, UINT32_MAX - 1);
        return error_set(STATUS_LIMIT_EXCEEDED, "out of file numbers");
    }
    log_file(store, xid, WAL_FILE_MADE, file);
    status = file_create(store->files, file);
    if (status)
        return status;
    txn_note_new_file(txn, file);
    *out = file;
    return STATUS_OK;
}

void store_drop_file(struct store *store, struct txn *txn, uint32_t file)
{
    (void)store;
    txn_note_drop_file(txn, file);
}

/* The record makes a later redo forget the file as well, where an abort removed it; after a commit it says again
 * what the commit record said. */
void store_remove_file(struct store *store, uint32_t file)
{
    pool_forget_file(store->pool, file);
    log_file(store, XID_NONE, WAL_FILE_DROPPED, file);
    if (file_drop(store->files, file))
        log_line("WARNING", "%s", error_current()->message);
}

enum status store_sweep_files(struct store *store, bool (*wanted)(void *, uint32_t file), void *context)
{
    uint32_t *files, count;
    enum status status = file_list(store->files, &files, &count);
    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++)
        if (files[i] >= FILE_FIRST_FREE && !wanted(context, files[i]))
            store_remove_file(store, files[i]);
    free(files);
    return STATUS_OK;
}
