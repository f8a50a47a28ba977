/* storage/crash_disk.c - a disk that forgets what was not synced (see crash_disk.h).
 *
 * Each file (by inode) has a list of the writes that wait for its sync, oldest first. A read takes the real file and
 * lays the list over it. A sync writes the list to the real file. A crash deals with all lists at once: the writes
 * are shuffled, and each is dropped, written whole, or written in some of its sectors. Making, renaming and removing
 * files takes place at once: the journal of the file system orders those, and code that needs the order syncs. */
#include "storage/crash_disk.h"

#ifdef CRAB_CRASH_DISK
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/latch.h"
#include "storage/disk.h"

#define SECTOR 512

struct write { struct write *next; off_t offset; size_t length; uint8_t bytes[]; };
struct inode { struct inode *next; dev_t device; ino_t number; int fd; off_t size; struct write *first, **last; };

static struct latch disk_latch;                            /* guards everything below */
static struct inode *inodes;
static _Atomic uint64_t calls;
static uint64_t crash_after, crash_seed;

void crash_disk_plan(uint64_t after, uint64_t seed)
{
    latch_acquire(&disk_latch, LATCH_EXCLUSIVE);
    crash_after = after ? atom_load(&calls) + after : 0;
    crash_seed = seed;
    latch_release(&disk_latch);
}

uint64_t crash_disk_calls(void) { return atom_load(&calls); }

static void write_real(int fd, const uint8_t *bytes, size_t length, off_t offset)
{
    while (length > 0) {
        ssize_t done = pwrite(fd, bytes, length, offset);
        if (done <= 0)
            panic("crash disk: could not write: %s", strerror(errno));
        bytes += done, offset += done, length -= (size_t)done;
    }
}

/* Some sectors of a write; sectors are those of the disk, so the first and the last may be partly filled. */
static void write_torn(int fd, const struct write *write, uint64_t *seed)
{
    size_t at = 0;
    while (at < write->length) {
        size_t take = SECTOR - (size_t)((write->offset + (off_t)at) % SECTOR);
        if (take > write->length - at)
            take = write->length - at;
        if (random_next(seed) & 1)
            write_real(fd, write->bytes + at, take, write->offset + (off_t)at);
        at += take;
    }
}

static _Noreturn void crash_now(uint64_t seed)
{
    struct { struct inode *inode; struct write *write; } *all = NULL;
    size_t count = 0, capacity = 0;
    for (struct inode *inode = inodes; inode; inode = inode->next)
        for (struct write *write = inode->first; write; write = write->next) {
            if (count == capacity)
                all = realloc(all, (capacity = capacity ? capacity * 2 : 256) * sizeof *all);
            all[count].inode = inode, all[count++].write = write;
        }
    for (size_t i = count; i > 1; i--) {
        size_t j = random_next(&seed) % i;
        __typeof__(*all) swap = all[i - 1]; all[i - 1] = all[j]; all[j] = swap;
    }
    for (size_t i = 0; i < count; i++)
        switch (random_next(&seed) % 3) {
        case 0: break;                                                                   /* lost */
        case 1: write_real(all[i].inode->fd, all[i].write->bytes, all[i].write->length, all[i].write->offset); break;
        case 2: write_torn(all[i].inode->fd, all[i].write, &seed); break;
        }
    _exit(137);
}

_Noreturn void crash_disk_crash(uint64_t seed)
{
    latch_acquire(&disk_latch, LATCH_EXCLUSIVE);
    crash_now(seed);
}

/* Enters the disk: counts the call, crashes when its turn has come. */
static void enter(void)
{
    uint64_t call = atom_add(&calls, 1) + 1;
    latch_acquire(&disk_latch, LATCH_EXCLUSIVE);
    if (crash_after && call >= crash_after)
        crash_now(crash_seed);
}

static struct inode *find(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        panic("crash disk: fstat: %s", strerror(errno));
    for (struct inode *inode = inodes; inode; inode = inode->next)
        if (inode->device == st.st_dev && inode->number == st.st_ino)
            return inode;
    struct inode *inode = calloc(1, sizeof *inode);
    inode->device = st.st_dev, inode->number = st.st_ino, inode->size = st.st_size;
    char path[64];                                         /* a descriptor of our own: it outlives the caller's, may write where the */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);   /* caller's may not, and keeps the inode's number from being used again */
    inode->fd = open(path, O_RDWR | O_CLOEXEC);
    if (inode->fd < 0)
        panic("crash disk: open: %s", strerror(errno));
    inode->last = &inode->first;
    inode->next = inodes;
    return inodes = inode;
}

static ssize_t crash_preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    enter();
    struct inode *inode = find(fd);
    ssize_t total = 0;
    for (int i = 0; i < count && offset < inode->size; i++) {
        size_t want = parts[i].iov_len;
        if ((off_t)want > inode->size - offset)
            want = (size_t)(inode->size - offset);
        memset(parts[i].iov_base, 0, want);
        if (pread(fd, parts[i].iov_base, want, offset) < 0) {
            latch_release(&disk_latch);
            return -1;
        }
        for (struct write *write = inode->first; write; write = write->next) {
            off_t from = write->offset > offset ? write->offset : offset;
            off_t to = write->offset + (off_t)write->length;
            if (to > offset + (off_t)want)
                to = offset + (off_t)want;
            if (from < to)
                memcpy((uint8_t *)parts[i].iov_base + (from - offset), write->bytes + (from - write->offset), (size_t)(to - from));
        }
        offset += (off_t)want, total += (ssize_t)want;
    }
    latch_release(&disk_latch);
    return total;
}

static ssize_t crash_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    enter();
    struct inode *inode = find(fd);
    size_t length = 0, at = 0;
    for (int i = 0; i < count; i++)
        length += parts[i].iov_len;
    struct write *write = malloc(sizeof *write + length);
    *write = (struct write){ .offset = offset, .length = length };
    for (int i = 0; i < count; at += parts[i++].iov_len)
        memcpy(write->bytes + at, parts[i].iov_base, parts[i].iov_len);
    *inode->last = write;
    inode->last = &write->next;
    if (inode->size < offset + (off_t)length)
        inode->size = offset + (off_t)length;
    latch_release(&disk_latch);
    return (ssize_t)length;
}

static void drop_writes(struct inode *inode, bool keep)
{
    while (inode->first) {
        struct write *write = inode->first;
        inode->first = write->next;
        if (keep)
            write_real(inode->fd, write->bytes, write->length, write->offset);
        free(write);
    }
    inode->last = &inode->first;
}

static int crash_fdatasync(int fd)
{
    enter();
    drop_writes(find(fd), true);
    latch_release(&disk_latch);
    return 0;
}

static int crash_ftruncate(int fd, off_t size)
{
    enter();
    struct inode *inode = find(fd);
    drop_writes(inode, true);
    inode->size = size;
    int result = ftruncate(fd, size);
    latch_release(&disk_latch);
    return result;
}

static int crash_unlink(const char *path)
{
    enter();
    struct stat st;
    if (stat(path, &st) == 0)
        for (struct inode **at = &inodes; *at; at = &(*at)->next)
            if ((*at)->device == st.st_dev && (*at)->number == st.st_ino && st.st_nlink == 1) {
                struct inode *inode = *at;
                *at = inode->next;
                drop_writes(inode, false);
                close(inode->fd);
                free(inode);
                break;
            }
    int result = unlink(path);
    latch_release(&disk_latch);
    return result;
}

static off_t crash_size(int fd)
{
    latch_acquire(&disk_latch, LATCH_EXCLUSIVE);
    off_t size = find(fd)->size;
    latch_release(&disk_latch);
    return size;
}

/* A new segment of the WAL is on disk before it gets its name: nothing to forget. */
static int crash_zeros(int fd, off_t bytes)
{
    latch_acquire(&disk_latch, LATCH_EXCLUSIVE);
    int result = disk_real.zeros(fd, bytes);
    latch_release(&disk_latch);
    return result;
}

static int crash_punch(int fd, off_t from, off_t bytes) { return (void)fd, (void)from, (void)bytes, 0; }    /* allowed to do nothing */

__attribute__((constructor)) static void crash_disk_open(void)
{
    static struct disk crash_disk;
    crash_disk = disk_real;
    crash_disk.preadv = crash_preadv;
    crash_disk.pwritev = crash_pwritev;
    crash_disk.fdatasync = crash_fdatasync;
    crash_disk.ftruncate = crash_ftruncate;
    crash_disk.unlink = crash_unlink;
    crash_disk.size = crash_size;
    crash_disk.zeros = crash_zeros;
    crash_disk.punch = crash_punch;
    disk = &crash_disk;

    latch_init(&disk_latch, RANK_LEAF, 0, 0, 0);
    const char *after = getenv("CRAB_CRASH_AFTER"), *seed = getenv("CRAB_CRASH_SEED");
    crash_after = after ? strtoull(after, NULL, 10) : 0;
    crash_seed = seed ? strtoull(seed, NULL, 10) : 1;
}
#endif
