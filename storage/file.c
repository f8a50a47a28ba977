/* storage/file.c - the numbered files of a data directory.
 *
 * 1. A file is opened at first use and stays open. `latch` guards the table of open files; it is never held during a
 *    system call: who needs a file counts itself among its users, lets go, and then calls the disk.
 * 2. A dropped file leaves the table at once and is closed by its last user.
 * 3. `unsynced` is set after a write has returned and cleared before a sync begins, so a write that had returned when
 *    the sync was asked for is covered by it.
 * 4. Room is reserved ahead, in chunks, with the file's size kept: the size on disk says which pages were written. */
#include "storage/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "base/latch.h"
#include "storage/disk.h"

_Atomic uint32_t file_io_delay_us;
_Atomic uint64_t file_fail_call;
_Atomic int      file_fail_errno;
static _Atomic uint64_t disk_calls;
static _Atomic uint64_t read_calls;

#define FILE_BUCKETS 1024
#define RESERVE_MIN  8              /* pages of room reserved at once: at least these, ... */
#define RESERVE_MAX  1024           /* ... at most these, in between as many as the file has */
#define RUN_MAX      64

struct file {
    struct file *next;              /* in its bucket; by `latch` */
    uint32_t number;
    int fd;
    bool dropped;                   /* by `latch` */
    _Atomic uint32_t users;         /* counted up and down with `latch` held */
    _Atomic bool unsynced;
    _Atomic uint32_t reserved;      /* pages that have room on disk */
};

struct files {
    struct latch latch;
    char *directory;
    _Atomic bool made;              /* a file was made since the directory was synced: redo makes it again, until a checkpoint */
    struct file *buckets[FILE_BUCKETS];
};

/* One disk call begins and is done: two points, one turn of the counter, the delay of crab.io_delay. */
int file_call_begin(const char *what)
{
    ASSERT_SLOW(latch_io_allowed());
    uint64_t call = atomic_fetch_add_explicit(&disk_calls, 1, memory_order_relaxed) + 1;
    point_at("disk.begun", what, call);
    thread_waits_for(what);
    uint32_t delay = atomic_load_explicit(&file_io_delay_us, memory_order_relaxed);
    if (delay)
        sleep_us(delay);
    uint64_t fail = atomic_load_explicit(&file_fail_call, memory_order_relaxed);
    return fail && call == fail ? atom_load(&file_fail_errno) : 0;
}

void file_call_end(const char *what)
{
    thread_waits_for(NULL);
    point_at("disk.done", what, 0);
}

uint64_t file_disk_calls(void)
{
    return atomic_load_explicit(&disk_calls, memory_order_relaxed);
}

uint64_t file_read_calls(void)
{
    return atomic_load_explicit(&read_calls, memory_order_relaxed);
}

static void file_path(const struct files *files, uint32_t number, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%u", files->directory, number);
}

/* What a failed call means to the statement that made it. */
static enum status disk_error(int error, const char *what, uint32_t number)
{
    if (error == ENOSPC || error == EDQUOT) {
        error_set(STATUS_DISK_FULL, "could not extend file \"base/%u\": %s", number, strerror(error));
        error_hint("Check free disk space.");
        return STATUS_DISK_FULL;
    }
    enum status status = error == ENOENT ? STATUS_UNDEFINED_FILE : STATUS_IO;
    return error_set(status, "could not %s file \"base/%u\": %s", what, number, strerror(error));
}

enum status files_open(const char *directory, struct files **out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (disk->mkdir(directory) != 0 && errno != EEXIST)
        return error_set(STATUS_IO, "could not create directory \"%s\": %s", directory, strerror(errno));
    struct files *files = calloc(1, sizeof *files);
    latch_init(&files->latch, RANK_LEAF, 0, 0, 0);
    files->directory = strdup(directory);
    *out = files;
    return STATUS_OK;
}

static void file_free(struct file *file)
{
    disk->close(file->fd);
    free(file);
}

void files_close(struct files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < FILE_BUCKETS; i++)
        while (files->buckets[i]) {
            struct file *file = files->buckets[i];
            ASSERT(file->users == 0);
            files->buckets[i] = file->next;
            file_free(file);
        }
    free(files->directory);
    free(files);
}

static struct file **file_place(struct files *files, uint32_t number)
{
    struct file **at = &files->buckets[hash_u64(number) % FILE_BUCKETS];
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

/* When the process has no descriptor left: closes one file that nobody uses and that owes no sync. */
static bool close_idle(struct files *files)
{
    struct file *idle = NULL;
    latch_acquire(&files->latch, LATCH_EXCLUSIVE);
    for (size_t i = 0; i < FILE_BUCKETS && !idle; i++)
        for (struct file **at = &files->buckets[i]; *at; at = &(*at)->next)
            if (atom_load(&(*at)->users) == 0 && !atom_load(&(*at)->unsynced)) {
                idle = *at;
                *at = idle->next;
                break;
            }
    latch_release(&files->latch);
    if (idle)
        file_free(idle);
    return idle != NULL;
}

/* Counts the caller among the file's users (rule 1); file_put() lets go. */
static enum status file_get(struct files *files, uint32_t number, struct file **out)
{
    latch_acquire(&files->latch, LATCH_SHARED);
    struct file *file = *file_place(files, number);
    if (file)
        atom_add(&file->users, 1);
    latch_release(&files->latch);
    if (file) {
        *out = file;
        return STATUS_OK;
    }

    char path[PATH_MAX];
    file_path(files, number, path);
    int fd;
    do
        fd = disk->open(path, O_RDWR);
    while (fd < 0 && (errno == EINTR || ((errno == EMFILE || errno == ENFILE) && close_idle(files))));
    if (fd < 0)
        return disk_error(errno, "open", number);

    struct file *opened = calloc(1, sizeof *opened);
    opened->number = number;
    opened->fd = fd;
    latch_acquire(&files->latch, LATCH_EXCLUSIVE);
    struct file **at = file_place(files, number);
    if (!*at)
        *at = opened;
    file = *at;
    atom_add(&file->users, 1);
    latch_release(&files->latch);
    if (file != opened)
        file_free(opened);                                     /* somebody else was quicker */
    *out = file;
    return STATUS_OK;
}

static void file_put(struct files *files, struct file *file)
{
    latch_acquire(&files->latch, LATCH_SHARED);
    bool last = atom_sub(&file->users, 1) == 1 && file->dropped;
    latch_release(&files->latch);
    if (last)
        file_free(file);                                       /* rule 2 */
}

static void sync_directory(const struct files *files)
{
    if (disk->sync_directory(files->directory) != 0)
        panic("could not fsync directory \"%s\": %s", files->directory, strerror(errno));
}

enum status file_create(struct files *files, uint32_t number)
{
    char path[PATH_MAX];
    file_path(files, number, path);
    int error = file_call_begin("file.create");
    int fd = -1;
    if (!error) {
        fd = disk->open(path, O_RDWR | O_CREAT | O_EXCL);
        error = fd < 0 ? errno : 0;
    }
    if (fd >= 0)
        disk->close(fd);
    atom_store(&files->made, true);
    file_call_end("file.create");
    if (error == EEXIST)
        return error_set(STATUS_DUPLICATE_OBJECT, "file \"base/%u\" already exists", number);
    return error ? disk_error(error, "create", number) : STATUS_OK;
}

enum status file_drop(struct files *files, uint32_t number)
{
    latch_acquire(&files->latch, LATCH_EXCLUSIVE);
    struct file **at = file_place(files, number);
    struct file *file = *at;
    bool idle = false;
    if (file) {
        *at = file->next;
        file->dropped = true;
        idle = atom_load(&file->users) == 0;
    }
    latch_release(&files->latch);
    if (idle)
        file_free(file);

    char path[PATH_MAX];
    file_path(files, number, path);
    int error = file_call_begin("file.drop");
    if (!error && disk->unlink(path) != 0 && errno != ENOENT)
        error = errno;
    file_call_end("file.drop");
    return error ? disk_error(error, "remove", number) : STATUS_OK;
}

bool file_exists(struct files *files, uint32_t number)
{
    char path[PATH_MAX];
    file_path(files, number, path);
    return disk->exists(path);
}

struct number_list { uint32_t *numbers, count, capacity; };

static void list_number(void *context, const char *name)
{
    struct number_list *list = context;
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    if (end == name || *end || number > UINT32_MAX)
        return;
    if (list->count == list->capacity)
        list->numbers = realloc(list->numbers, (list->capacity = list->capacity ? list->capacity * 2 : 64) * sizeof *list->numbers);
    list->numbers[list->count++] = (uint32_t)number;
}

enum status file_list(struct files *files, uint32_t **out_files, uint32_t *count)
{
    struct number_list list = { 0 };
    if (disk->list(files->directory, list_number, &list) != 0)
        return error_set(STATUS_IO, "could not open directory \"%s\": %s", files->directory, strerror(errno));
    *out_files = list.numbers;
    *count = list.count;
    return STATUS_OK;
}

enum status file_disk_pages(struct files *files, uint32_t number, uint32_t *out)
{
    struct file *file;
    enum status status = file_get(files, number, &file);
    if (status)
        return status;
    off_t size = disk->size(file->fd);
    int error = errno;
    file_put(files, file);
    if (size < 0)
        return disk_error(error, "measure", number);
    *out = (uint32_t)((size + PAGE_BYTES - 1) / PAGE_BYTES);
    return STATUS_OK;
}

static int reserve(const struct file *file, uint32_t pages)
{
    int error = file_call_begin("file.reserve");
    if (!error && disk->reserve(file->fd, (off_t)pages * PAGE_BYTES) != 0)
        error = errno == EOPNOTSUPP ? 0 : errno;               /* a file system without it: a full disk shows later */
    file_call_end("file.reserve");
    return error;
}

enum status file_reserve(struct files *files, uint32_t number, uint32_t page_count)
{
    struct file *file;
    enum status status = file_get(files, number, &file);
    if (status)
        return status;

    int error = 0;
    if (atom_load(&file->reserved) < page_count) {
        uint32_t ahead = page_count < RESERVE_MIN ? RESERVE_MIN : page_count > RESERVE_MAX ? RESERVE_MAX : page_count;
        uint32_t target = page_count + ahead;
        error = reserve(file, target);
        if (error == ENOSPC || error == EDQUOT)
            error = reserve(file, target = page_count);        /* the last pages of the disk */
        if (!error)
            atom_store(&file->reserved, target);
    }
    file_put(files, file);
    return error ? disk_error(error, "extend", number) : STATUS_OK;
}

/* Reads count pages, zeros past the end of the file. */
enum status file_read_run(struct files *files, page_id first, uint32_t count, void *const *pages)
{
    ASSERT(count > 0 && count <= RUN_MAX);
    struct file *file;
    enum status status = file_get(files, first.file, &file);
    if (status)
        return status;

    struct iovec parts[RUN_MAX];
    for (uint32_t i = 0; i < count; i++)
        parts[i] = (struct iovec){ pages[i], PAGE_BYTES };
    size_t want = (size_t)count * PAGE_BYTES, done = 0;
    atomic_fetch_add_explicit(&read_calls, 1, memory_order_relaxed);
    int error = file_call_begin("file.read");
    while (!error && done < want) {
        size_t skip = done / PAGE_BYTES, within = done % PAGE_BYTES;
        parts[skip] = (struct iovec){ (uint8_t *)pages[skip] + within, PAGE_BYTES - within };
        ssize_t got = disk->preadv(file->fd, parts + skip, (int)(count - skip), (off_t)first.page * PAGE_BYTES + (off_t)done);
        if (got < 0 && errno != EINTR)
            error = errno;
        else if (got == 0)
            break;
        else if (got > 0)
            done += (size_t)got;
    }
    file_call_end("file.read");
    file_put(files, file);
    if (error)
        return error_set(STATUS_IO, "could not read block %u in file \"base/%u\": %s", first.page, first.file, strerror(error));
    for (; done < want; done += PAGE_BYTES - done % PAGE_BYTES)
        memset((uint8_t *)pages[done / PAGE_BYTES] + done % PAGE_BYTES, 0, PAGE_BYTES - done % PAGE_BYTES);
    return STATUS_OK;
}

enum status file_read(struct files *files, page_id id, void *page)
{
    return file_read_run(files, id, 1, &page);
}

enum status file_write(struct files *files, page_id id, const void *page)
{
    struct file *file;
    enum status status = file_get(files, id.file, &file);
    if (status)
        return status;

    size_t done = 0;
    int error = file_call_begin("file.write");
    while (!error && done < PAGE_BYTES) {
        struct iovec part = { (uint8_t *)(uintptr_t)page + done, PAGE_BYTES - done };
        ssize_t put = disk->pwritev(file->fd, &part, 1, (off_t)id.page * PAGE_BYTES + (off_t)done);
        if (put < 0 && errno != EINTR)
            error = errno;
        else if (put == 0)
            error = ENOSPC;
        else if (put > 0)
            done += (size_t)put;
    }
    atom_store(&file->unsynced, true);                         /* rule 3 */
    file_call_end("file.write");
    file_put(files, file);
    if (error == ENOSPC || error == EDQUOT)
        return disk_error(error, "write", id.file);
    if (error)
        return error_set(STATUS_IO, "could not write block %u in file \"base/%u\": %s", id.page, id.file, strerror(error));
    return STATUS_OK;
}

enum status file_truncate(struct files *files, uint32_t number, uint32_t pages)
{
    struct file *file;
    enum status status = file_get(files, number, &file);
    if (status)
        return status;
    int error = file_call_begin("file.truncate");
    if (!error && disk->ftruncate(file->fd, (off_t)pages * PAGE_BYTES) != 0)
        error = errno;
    atom_store(&file->reserved, 0);
    atom_store(&file->unsynced, true);
    file_call_end("file.truncate");
    file_put(files, file);
    return error ? disk_error(error, "truncate", number) : STATUS_OK;
}

void file_punch(struct files *files, uint32_t number, uint32_t first_page, uint32_t count)
{
    struct file *file;
    if (file_get(files, number, &file) != STATUS_OK)
        return;
    if (file_call_begin("file.punch") == 0)
        (void)disk->punch(file->fd, (off_t)first_page * PAGE_BYTES, (off_t)count * PAGE_BYTES);
    file_call_end("file.punch");
    file_put(files, file);
}

static void sync_if_due(struct file *file)
{
    if (!atom_exchange(&file->unsynced, false))
        return;
    int error = file_call_begin("file.sync");
    if (!error && disk->fdatasync(file->fd) != 0)
        error = errno;
    file_call_end("file.sync");
    if (error)
        panic("could not fsync file \"base/%u\": %s", file->number, strerror(error));
}

void files_sync_all(struct files *files)
{
    if (atom_exchange(&files->made, false))
        sync_directory(files);
    for (size_t bucket = 0; bucket < FILE_BUCKETS;) {          /* some at a time; a bucket that was cut short comes again */
        struct file *due[64];
        size_t count = 0;
        latch_acquire(&files->latch, LATCH_SHARED);
        for (; bucket < FILE_BUCKETS && count < 64; bucket += count < 64)
            for (struct file *file = files->buckets[bucket]; file && count < 64; file = file->next)
                if (atom_load(&file->unsynced)) {
                    atom_add(&file->users, 1);
                    due[count++] = file;
                }
        latch_release(&files->latch);
        for (size_t i = 0; i < count; i++) {
            sync_if_due(due[i]);
            file_put(files, due[i]);
        }
    }
}
