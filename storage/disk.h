/* storage/disk.h - the calls through which pages, WAL and control file reach the disk: the one seam where another disk can
 * be put in the real one's place.
 *
 *     real         the system's own calls (disk.c)
 *     forgetting   keeps what was not synced in memory, and at a crash point drops or tears it (crash_disk.h; builds with
 *                  CRAB_CRASH_DISK only)
 *     memory       no file system at all (disk_memory.c): a store opens in no time, for scenarios of the seeded scheduler
 *
 * Each call does what the system's call of that name does: -1 and errno where it fails. Only storage/file.c, wal.c,
 * control.c and store.c use it. */
#ifndef STORAGE_DISK_H
#define STORAGE_DISK_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct disk {
    int     (*open)(const char *path, int flags);                       /* files are made with mode 0600; closed on exec */
    int     (*close)(int fd);
    int     (*lock)(int fd);                                            /* for this process alone, or EWOULDBLOCK */
    off_t   (*size)(int fd);
    ssize_t (*preadv)(int fd, const struct iovec *, int count, off_t);
    ssize_t (*pwritev)(int fd, const struct iovec *, int count, off_t);
    int     (*fdatasync)(int fd);
    int     (*ftruncate)(int fd, off_t);
    int     (*zeros)(int fd, off_t bytes);                              /* fills an empty file with that many, written */
    int     (*reserve)(int fd, off_t bytes);                            /* room for so many in all; the size stays */
    int     (*punch)(int fd, off_t from, off_t bytes);                  /* they read as zeros and take no room */
    int     (*link)(const char *from, const char *to);
    int     (*unlink)(const char *path);
    bool    (*exists)(const char *path);
    int     (*mkdir)(const char *path);
    int     (*list)(const char *path, void (*each)(void *context, const char *name), void *context);
    int     (*sync_directory)(const char *path);
};
extern const struct disk *disk;                                         /* changed only while no store is open */
extern const struct disk disk_real;

/* The memory disk comes up empty, and is the disk until the end. Only for threads that run one at a time. */
void disk_memory_begin(void);
void disk_memory_end(void);

#endif
