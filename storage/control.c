/* storage/control.c - the control file (see control.h). */
#include "storage/control.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "storage/disk.h"

#define COPY_BYTES 4096

static uint32_t control_sum(const struct control *control)
{
    return crc32c(0, control, offsetof(struct control, crc));
}

static void control_path(const char *directory, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/control", directory);
}

enum status control_read(const char *directory, struct control *out)
{
    char path[PATH_MAX];
    control_path(directory, path);
    int fd = disk->open(path, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        return STATUS_NOT_FOUND;
    if (fd < 0)
        return error_set(STATUS_IO, "could not open file \"%s\": %s", path, strerror(errno));
    bool found = false;
    for (int i = 0; i < 2; i++) {
        struct control copy;
        struct iovec part = { &copy, sizeof copy };
        if (disk->preadv(fd, &part, 1, (off_t)i * COPY_BYTES) != sizeof copy || copy.magic != CONTROL_MAGIC
            || copy.crc != control_sum(&copy))
            continue;
        if (!found || copy.sequence > out->sequence)
            *out = copy;
        found = true;
    }
    off_t length = disk->size(fd);
    disk->close(fd);
    if (!found && length < 2 * COPY_BYTES)
        return STATUS_NOT_FOUND;                            /* the very first writing was cut short */
    if (!found)
        return error_set(STATUS_CORRUPT, "control file \"%s\" is damaged: neither of its copies is whole", path);
    if (out->version != CONTROL_VERSION) {
        error_set(STATUS_CONFIG_FILE, "database files are incompatible with server");
        error_detail("The data directory was initialized by version %u, which is not compatible with this version %u.", out->version, CONTROL_VERSION);
        return STATUS_CONFIG_FILE;
    }
    if (out->page_bytes != PAGE_BYTES) {
        error_set(STATUS_CONFIG_FILE, "database files are incompatible with server");
        error_detail("The data directory was initialized with a page size of %u, but the server was compiled with %u.", out->page_bytes, PAGE_BYTES);
        return STATUS_CONFIG_FILE;
    }
    return STATUS_OK;
}

enum status control_write(const char *directory, struct control *control)
{
    control->magic = CONTROL_MAGIC;
    control->version = CONTROL_VERSION;
    control->page_bytes = PAGE_BYTES;
    control->sequence++;
    control->crc = control_sum(control);

    char path[PATH_MAX];
    control_path(directory, path);
    int fd = disk->open(path, O_RDWR | O_CREAT);
    if (fd < 0)
        return error_set(STATUS_IO, "could not open file \"%s\": %s", path, strerror(errno));
    uint8_t block[COPY_BYTES] = { 0 };
    memcpy(block, control, sizeof *control);
    enum status status = STATUS_OK;
    for (int i = 0; i < 2 && !status; i++) {
        struct iovec part = { block, sizeof block };
        if (disk->pwritev(fd, &part, 1, (off_t)i * COPY_BYTES) != (ssize_t)sizeof block)
            status = error_set(errno == ENOSPC ? STATUS_DISK_FULL : STATUS_IO, "could not write file \"%s\": %s", path, strerror(errno));
        else if (disk->fdatasync(fd) != 0)
            panic("could not fsync file \"%s\": %s", path, strerror(errno));
    }
    disk->close(fd);
    return status;
}
