/* storage/disk_memory.c - a disk in memory, for scenarios of the seeded scheduler (see disk.h).
 *
 * A path leads to an inode, perhaps several paths to one; an inode has chunks, where something other than zeros was
 * written. There is no latch: a point inside a disk call would be none that the real disk has. The points of a disk call
 * are around it (file_call_begin). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "storage/disk.h"

#define CHUNK      16384
#define PATHS_MAX  64
#define OPEN_MAX   64
#define FIRST_FD   1000000                                  /* no descriptor of the system's is that high */

struct inode { uint32_t users; off_t size; uint8_t **chunks; size_t chunk_count; };      /* users: paths and descriptors */
static struct { char *path; struct inode *inode; bool directory; } paths[PATHS_MAX];
static struct inode *opened[OPEN_MAX];

static int fail_with(int error)
{
    errno = error;
    return -1;
}

static int path_find(const char *path)
{
    for (int i = 0; i < PATHS_MAX; i++)
        if (paths[i].path && strcmp(paths[i].path, path) == 0)
            return i;
    return -1;
}

static int path_add(const char *path, struct inode *inode)
{
    for (int i = 0; i < PATHS_MAX; i++)
        if (!paths[i].path) {
            paths[i].path = strdup(path);
            paths[i].inode = inode;
            if (inode)
                inode->users++;
            return i;
        }
    return fail_with(ENOSPC);
}

static void inode_leave(struct inode *inode)
{
    if (!inode || --inode->users)
        return;
    for (size_t i = 0; i < inode->chunk_count; i++)
        free(inode->chunks[i]);
    free(inode->chunks);
    free(inode);
}

static struct inode *inode_of(int fd)
{
    ASSERT(fd >= FIRST_FD && fd < FIRST_FD + OPEN_MAX && opened[fd - FIRST_FD]);
    return opened[fd - FIRST_FD];
}

static uint8_t *chunk_at(struct inode *inode, off_t offset, bool make)
{
    size_t number = (size_t)(offset / CHUNK);
    if (number >= inode->chunk_count) {
        if (!make)
            return NULL;
        size_t count = number < 8 ? 8 : number * 2;
        inode->chunks = realloc(inode->chunks, count * sizeof *inode->chunks);
        memset(inode->chunks + inode->chunk_count, 0, (count - inode->chunk_count) * sizeof *inode->chunks);
        inode->chunk_count = count;
    }
    if (!inode->chunks[number] && make)
        inode->chunks[number] = calloc(1, CHUNK);
    return inode->chunks[number];
}

static int memory_open(const char *path, int flags)
{
    int at = path_find(path), fd = 0;
    if (at >= 0 && (flags & O_EXCL))
        return fail_with(EEXIST);
    if (at < 0 && !(flags & O_CREAT))
        return fail_with(ENOENT);
    if (at < 0 && (at = path_add(path, calloc(1, sizeof(struct inode)))) < 0)
        return -1;
    while (fd < OPEN_MAX && opened[fd])
        fd++;
    if (fd == OPEN_MAX)
        return fail_with(EMFILE);
    opened[fd] = paths[at].inode;
    opened[fd]->users++;
    return FIRST_FD + fd;
}

static int memory_close(int fd)
{
    inode_leave(inode_of(fd));
    opened[fd - FIRST_FD] = NULL;
    return 0;
}

static int memory_lock(int fd) { return (void)fd, 0; }
static off_t memory_size(int fd) { return inode_of(fd)->size; }
static int memory_sync(int fd) { return (void)fd, 0; }

static ssize_t memory_preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    struct inode *inode = inode_of(fd);
    ssize_t total = 0;
    for (int i = 0; i < count; i++)
        for (size_t done = 0; done < parts[i].iov_len && offset < inode->size;) {
            size_t within = (size_t)(offset % CHUNK), take = CHUNK - within;
            if (take > parts[i].iov_len - done)
                take = parts[i].iov_len - done;
            if ((off_t)take > inode->size - offset)
                take = (size_t)(inode->size - offset);
            const uint8_t *chunk = chunk_at(inode, offset, false);
            if (chunk)
                memcpy((uint8_t *)parts[i].iov_base + done, chunk + within, take);
            else
                memset((uint8_t *)parts[i].iov_base + done, 0, take);
            done += take, offset += (off_t)take, total += (ssize_t)take;
        }
    return total;
}

static ssize_t memory_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    struct inode *inode = inode_of(fd);
    ssize_t total = 0;
    for (int i = 0; i < count; i++)
        for (size_t done = 0; done < parts[i].iov_len;) {
            size_t within = (size_t)(offset % CHUNK), take = CHUNK - within;
            if (take > parts[i].iov_len - done)
                take = parts[i].iov_len - done;
            memcpy(chunk_at(inode, offset, true) + within, (const uint8_t *)parts[i].iov_base + done, take);
            done += take, offset += (off_t)take, total += (ssize_t)take;
        }
    if (inode->size < offset)
        inode->size = offset;
    return total;
}

static int memory_ftruncate(int fd, off_t size)
{
    struct inode *inode = inode_of(fd);
    for (size_t i = 0; i < inode->chunk_count; i++) {
        off_t from = (off_t)i * CHUNK;
        if (!inode->chunks[i] || from + CHUNK <= size)
            continue;
        if (from >= size) {
            free(inode->chunks[i]);
            inode->chunks[i] = NULL;
        } else
            memset(inode->chunks[i] + (size - from), 0, (size_t)(CHUNK - (size - from)));
    }
    inode->size = size;
    return 0;
}

static int memory_zeros(int fd, off_t bytes)
{
    struct inode *inode = inode_of(fd);
    ASSERT(inode->size == 0);
    inode->size = bytes;
    return 0;
}

static int memory_reserve(int fd, off_t bytes) { return (void)fd, (void)bytes, 0; }

static int memory_punch(int fd, off_t from, off_t bytes)
{
    struct inode *inode = inode_of(fd);
    for (off_t end = from + bytes; from < end;) {
        size_t within = (size_t)(from % CHUNK), take = CHUNK - within;
        if ((off_t)take > end - from)
            take = (size_t)(end - from);
        uint8_t *chunk = chunk_at(inode, from, false);
        if (chunk)
            memset(chunk + within, 0, take);
        from += (off_t)take;
    }
    return 0;
}

static int memory_link(const char *from, const char *to)
{
    int at = path_find(from);
    if (at < 0)
        return fail_with(ENOENT);
    if (path_find(to) >= 0)
        return fail_with(EEXIST);
    return path_add(to, paths[at].inode) < 0 ? -1 : 0;
}

static void path_drop(int at)
{
    inode_leave(paths[at].inode);
    free(paths[at].path);
    paths[at].path = NULL;
    paths[at].inode = NULL;
    paths[at].directory = false;
}

static int memory_unlink(const char *path)
{
    int at = path_find(path);
    if (at < 0)
        return fail_with(ENOENT);
    path_drop(at);
    return 0;
}

static bool memory_exists(const char *path) { return path_find(path) >= 0; }

static int memory_mkdir(const char *path)
{
    if (path_find(path) >= 0)
        return fail_with(EEXIST);
    int at = path_add(path, NULL);
    if (at < 0)
        return -1;
    paths[at].directory = true;
    return 0;
}

static int memory_list(const char *path, void (*each)(void *, const char *), void *context)
{
    size_t length = strlen(path);
    int at = path_find(path);
    if (at < 0 || !paths[at].directory)
        return fail_with(ENOENT);
    for (int i = 0; i < PATHS_MAX; i++)
        if (paths[i].path && strncmp(paths[i].path, path, length) == 0 && paths[i].path[length] == '/' && !strchr(paths[i].path + length + 1, '/'))
            each(context, paths[i].path + length + 1);
    return 0;
}

static int memory_sync_directory(const char *path) { return (void)path, 0; }

static const struct disk disk_memory = {
    .open = memory_open, .close = memory_close, .lock = memory_lock, .size = memory_size, .preadv = memory_preadv, .pwritev = memory_pwritev,
    .fdatasync = memory_sync, .ftruncate = memory_ftruncate, .zeros = memory_zeros, .reserve = memory_reserve, .punch = memory_punch,
    .link = memory_link, .unlink = memory_unlink, .exists = memory_exists, .mkdir = memory_mkdir, .list = memory_list,
    .sync_directory = memory_sync_directory,
};

void disk_memory_begin(void)
{
    ASSERT(disk != &disk_memory);
    disk = &disk_memory;
}

void disk_memory_end(void)
{
    ASSERT(disk == &disk_memory);
    for (int i = 0; i < OPEN_MAX; i++)
        ASSERT(!opened[i]);                                 /* whoever opened it should have closed it */
    for (int i = 0; i < PATHS_MAX; i++)
        if (paths[i].path)
            path_drop(i);
    disk = &disk_real;
}
