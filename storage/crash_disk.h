/* storage/crash_disk.h - the calls through which pages, WAL and control file reach the disk.
 *
 * In an ordinary build they are the system's own. A build with -DCRAB_CRASH_DISK puts a disk of bad character in
 * between: what was written stays in memory until it is synced (reads see it), and at a crash point a seeded choice of
 * the unsynced writes reaches the real files, whole or torn at 512-byte sectors, in any order; then the process ends
 * with status 137. The crash point is crash_disk_crash(seed), or the n-th disk call:
 *
 *     CRAB_CRASH_AFTER=n CRAB_CRASH_SEED=s crabtree -D dir */
#ifndef STORAGE_CRASH_DISK_H
#define STORAGE_CRASH_DISK_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef CRAB_CRASH_DISK
ssize_t disk_preadv(int fd, const struct iovec *, int count, off_t);
ssize_t disk_pwritev(int fd, const struct iovec *, int count, off_t);
int     disk_fdatasync(int fd);
int     disk_ftruncate(int fd, off_t);
int     disk_unlink(const char *path);
off_t   disk_size(int fd);                                /* -1 and errno */
_Noreturn void crash_disk_crash(uint64_t seed);
void    crash_disk_plan(uint64_t after, uint64_t seed);   /* crash at the after-th call from now on; 0: never */
uint64_t crash_disk_calls(void);
#else
#define disk_preadv    preadv
#define disk_pwritev   pwritev
#define disk_fdatasync fdatasync
#define disk_ftruncate ftruncate
#define disk_unlink    unlink
static inline off_t disk_size(int fd) { return lseek(fd, 0, SEEK_END); }
#endif

#endif
