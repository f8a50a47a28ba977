/* tests/interleave/power.c - a layer over the memory disk that can go back to the moment of a loss of power (power.h).
 *
 *     writes:   [ synced, forgotten ] [ not synced yet ] | power fails | [ everything written later ]
 *
 * Each write notes what it replaced. A sync forgets the notes of its file, as long as the power is on. To go back: later
 * notes are undone, newest first; then those that were not synced, newest first, each sector by a throw of the coin. */
#include "tests/interleave/power.h"

#include "base/hash.h"
#include "storage/disk.h"
#include "storage/wal.h"

#define FILES   16
#define OPEN    64
#define SECTOR  512

struct note { uint64_t offset, length; uint8_t *before; uint8_t file; bool late; };

static const struct disk *below;
static struct disk layer;
static char *files[FILES];
static struct { int fd; uint8_t file; bool used; } opened[OPEN];
static struct note *notes;
static size_t note_count, note_capacity;
static bool failed;

static uint8_t file_number(const char *path)
{
    for (uint8_t i = 0; i < FILES; i++) {
        if (files[i] && strcmp(files[i], path) == 0)
            return i;
        if (!files[i])
            return files[i] = strdup(path), i;
    }
    scheduler_fail("more files than the layer can take");
}

static int open_file(const char *path, int flags)
{
    int fd = below->open(path, flags);
    for (int i = 0; fd >= 0 && i < OPEN; i++)
        if (!opened[i].used) {
            opened[i].fd = fd, opened[i].file = file_number(path), opened[i].used = true;
            break;
        }
    return fd;
}

static int place_of(int fd)
{
    for (int i = 0; i < OPEN; i++)
        if (opened[i].used && opened[i].fd == fd)
            return i;
    scheduler_fail("a descriptor that nobody opened");
}

static int close_file(int fd)
{
    opened[place_of(fd)].used = false;
    return below->close(fd);
}

static ssize_t write_file(int fd, const struct iovec *parts, int count, off_t offset)
{
    uint64_t length = 0;
    for (int i = 0; i < count; i++)
        length += parts[i].iov_len;
    if (note_count == note_capacity)
        notes = realloc(notes, (note_capacity = note_capacity ? note_capacity * 2 : 64) * sizeof *notes);
    struct note *note = &notes[note_count++];
    *note = (struct note){.offset = (uint64_t)offset, .length = length, .before = calloc(1, length), .file = opened[place_of(fd)].file, .late = failed};
    below->preadv(fd, &(struct iovec){note->before, length}, 1, offset);
    return below->pwritev(fd, parts, count, offset);
}

static void forget(size_t at)
{
    free(notes[at].before);
    memmove(notes + at, notes + at + 1, (--note_count - at) * sizeof *notes);
}

static int sync_file(int fd)
{
    uint8_t file = opened[place_of(fd)].file;
    for (size_t i = note_count; !failed && i-- > 0;)
        if (notes[i].file == file)
            forget(i);
    return below->fdatasync(fd);
}

static void undo(const struct note *note)
{
    int fd = below->open(files[note->file], O_RDWR);
    if (fd < 0)
        return;
    for (uint64_t at = 0; at < note->length;) {
        uint64_t whole = SECTOR - (note->offset + at) % SECTOR, left = note->length - at, take = whole < left ? whole : left;
        if (note->late || scheduler_random() % 2)
            below->pwritev(fd, &(struct iovec){note->before + at, take}, 1, (off_t)(note->offset + at));
        at += take;
    }
    below->close(fd);
}

/* A block that is written again with the same bytes loses nothing, so what was there before is compared with what is. */
static bool power_unsynced(const char *path, uint64_t offset, uint64_t length)
{
    bool lost = false;
    uint8_t *now = malloc(length);
    int fd = below->open(path, O_RDONLY);
    check(fd >= 0, "no file %s", path);
    below->preadv(fd, &(struct iovec){now, length}, 1, (off_t)offset);
    below->close(fd);
    for (size_t i = 0; i < note_count && !lost && !failed; i++) {
        const struct note *note = &notes[i];
        uint64_t from = note->offset > offset ? note->offset : offset;
        uint64_t to = note->offset + note->length < offset + length ? note->offset + note->length : offset + length;
        lost = from < to && strcmp(files[note->file], path) == 0 && memcmp(note->before + (from - note->offset), now + (from - offset), to - from) != 0;
    }
    free(now);
    return lost;
}

bool power_keeps_wal(const char *directory, uint64_t from, uint64_t to)
{
    char path[64];
    struct wal_record head;
    uint64_t segment = from / WAL_SEGMENT_BYTES * WAL_SEGMENT_BYTES, at = from;
    snprintf(path, sizeof path, "%s/%016llx", directory, (unsigned long long)(from / WAL_SEGMENT_BYTES));
    int fd = below->open(path, O_RDONLY);
    check(fd >= 0, "no file %s", path);
    for (; at < to; at += head.length)
        if (below->preadv(fd, &(struct iovec){&head, sizeof head}, 1, (off_t)(at - segment)) != sizeof head || head.lsn != at || head.length < sizeof head)
            break;
    below->close(fd);
    return at >= to && !power_unsynced(path, from - segment, to - from);
}

void power_disk_begin(void)
{
    disk_memory_begin();
    below = disk;
    layer = *below;
    layer.open = open_file;
    layer.close = close_file;
    layer.pwritev = write_file;
    layer.fdatasync = sync_file;
    disk = &layer;
    failed = false;
    memset(opened, 0, sizeof opened);
}

void power_disk_end(void)
{
    while (note_count)
        forget(note_count - 1);
    for (int i = 0; i < FILES; i++) {
        free(files[i]);
        files[i] = NULL;
    }
    disk = below;
    disk_memory_end();
}

void power_begin(uint32_t frames)
{
    power_disk_begin();
    store_open_memory(frames);
}

void power_fails(void)
{
    check(!failed, "the power fails once");
    failed = true;
}

void power_return(uint32_t frames)
{
    check(failed, "the power has not failed");
    must(store_close(store));
    while (note_count) {
        undo(&notes[note_count - 1]);
        forget(note_count - 1);
    }
    failed = false;
    store_open_memory(frames);
}

void power_end(void)
{
    must(store_close(store));
    store = NULL;
    power_disk_end();
}
