/* storage/disk.c - the real disk: the system's own calls (see disk.h). */
#include "storage/disk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int real_open(const char *path, int flags) { return open(path, flags | O_CLOEXEC, 0600); }
static int real_lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }
static off_t real_size(int fd) { return lseek(fd, 0, SEEK_END); }
static bool real_exists(const char *path) { return access(path, F_OK) == 0; }
static int real_mkdir(const char *path) { return mkdir(path, 0700); }
static int real_reserve(int fd, off_t bytes) { return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes); }
static int real_punch(int fd, off_t from, off_t bytes) { return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, bytes); }

/* Around the page cache, where the file system can: nobody will read them. */
static int real_zeros(int fd, off_t bytes)
{
    static const _Alignas(4096) char zeros[1 << 20];
    const int flags = fcntl(fd, F_GETFL);
    bool direct = flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
    int error = 0;
    for (off_t at = 0; at < bytes && !error;) {
        size_t want = bytes - at < (off_t)sizeof zeros ? (size_t)(bytes - at) : sizeof zeros;
        ssize_t done = pwrite(fd, zeros, want, at);
        if (done > 0)
            at += done;
        else if (done < 0 && errno == EINVAL && direct)
            direct = fcntl(fd, F_SETFL, flags) != 0;
        else if (done < 0 && errno != EINTR)
            error = errno;
    }
    if (direct)
        fcntl(fd, F_SETFL, flags);
    errno = error;
    return error ? -1 : 0;
}

static int real_list(const char *path, void (*each)(void *, const char *), void *context)
{
    DIR *directory = opendir(path);
    if (!directory)
        return -1;
    for (struct dirent *entry; (entry = readdir(directory));)
        each(context, entry->d_name);
    closedir(directory);
    return 0;
}

static int real_sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = fsync(fd), error = errno;
    close(fd);
    errno = error;
    return result;
}

const struct disk disk_real = {
    .open = real_open, .close = close, .lock = real_lock, .size = real_size, .preadv = preadv, .pwritev = pwritev, .fdatasync = fdatasync,
    .ftruncate = ftruncate, .zeros = real_zeros, .reserve = real_reserve, .punch = real_punch, .link = link, .unlink = unlink,
    .exists = real_exists, .mkdir = real_mkdir, .list = real_list, .sync_directory = real_sync_directory,
};
const struct disk *disk = &disk_real;
