/* storage/recovery.c - redo.
 *
 * One pass, one thread, from the redo point to the first record that isn't whole. Page changes are redone by the one
 * generic function mtr_redo(). Making and dropping files is done again, whatever is there already. There is no undo:
 * a transaction without an outcome is aborted, since its status says 0.
 *
 * What was read must stay: the segments are synced before any page made from them can reach the disk. */
#include "storage/recovery.h"

#include <string.h>

#include "base/atomic.h"
#include "base/latch.h"
#include "storage/checkpoint.h"

static void raise_file(struct recovery *recovery, uint32_t file)
{
    if (file >= recovery->next_file && file < UINT32_MAX)
        recovery->next_file = file + 1;
}

static enum status drop_again(struct store *store, uint32_t file)
{
    pool_forget_file(store->pool, file);
    return file_drop(store->files, file);
}

static enum status redo(struct store *store, struct recovery *recovery, const struct wal_record *record)
{
    const uint8_t *extra;
    uint32_t extra_bytes, file;
    enum status status;
    switch ((enum wal_kind)record->kind) {
    case WAL_PAGES:
        return mtr_redo(store, record, NULL, NULL);
    case WAL_END:
        status = mtr_redo(store, record, &extra, &extra_bytes);
        for (; !status && extra_bytes >= sizeof file; extra += sizeof file, extra_bytes -= sizeof file) {
            memcpy(&file, extra, sizeof file);
            status = drop_again(store, file);
        }
        return status;
    case WAL_FILE_MADE:
        file = ((const struct file_record *)record)->file;
        raise_file(recovery, file);
        return file_exists(store->files, file) ? STATUS_OK : file_create(store->files, file);
    case WAL_FILE_DROPPED:
        file = ((const struct file_record *)record)->file;
        raise_file(recovery, file);
        return drop_again(store, file);
    case WAL_CHECKPOINT: {
        const struct checkpoint_record *checkpoint = (const struct checkpoint_record *)record;
        if (checkpoint->next_xid > recovery->next_xid)
            recovery->next_xid = checkpoint->next_xid;
        if (checkpoint->next_file > recovery->next_file)
            recovery->next_file = checkpoint->next_file;
        return STATUS_OK;
    }
    }
    return error_set(STATUS_CORRUPT, "write-ahead log record at %llX has unknown kind %u", (unsigned long long)record->lsn, record->kind);
}

enum status recovery_run(struct store *store, const char *wal_directory, struct recovery *recovery)
{
    enum status status = wal_sync_directory(wal_directory);
    if (status)
        return status;
    struct wal_reader *reader;
    status = wal_reader_open(wal_directory, recovery->redo, &reader);
    if (status)
        return status;
    struct wal_record *record;
    while (!status && wal_read(reader, &record)) {
        if (record->xid >= recovery->next_xid)
            recovery->next_xid = record->xid + 1;
        status = redo(store, recovery, record);
        recovery->records++;
    }
    recovery->end = wal_reader_position(reader);
    wal_reader_close(reader);
    return status;
}
