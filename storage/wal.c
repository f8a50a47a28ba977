/* storage/wal.c - the write-ahead log.
 *
 *      flushed     written          complete               next
 *   ------|-----------|----------------|--------------------|-------->  LSN
 *    on disk   in the files   copied, not written   reserved, some being copied
 *
 * 1. `ring_latch` guards the reservation: next, redo point, the row of insertions. A few instructions long.
 * 2. An insertion that was reserved only copies: it waits for nothing. So the leader may wait for it.
 * 3. One thread at a time leads (`leading`, guarded by flush_latch). Only the leader moves complete, written and
 *    flushed, and it holds no latch while it writes and syncs. As it begins it promises all that is reserved by then
 *    (leading_to): who needs no more waits for this round, others for the next. So the end of a round wakes those whom it
 *    served, and of the next one thread, which leads it and takes the rest along.
 * 4. The ring keeps what isn't written, and the block in which `written` lies: the files are written in whole
 *    blocks, the last one from a copy that is filled up with zeros and written again when it has grown.
 * 5. A reader stops at the first record that isn't whole. What lies behind the end found by recovery is erased
 *    before anything is appended, so that an older record can never follow a newer one.
 *
 * A segment is filled with zeros when it is made, so that a flush changes no metadata of the file system. What is synced at once, and what
 * is long, is written around the page cache, where the file system can do that: nobody reads it again before a crash, and a load's log would
 * take as much memory as the load, and time to copy it there. The thread
 * `wal writer` makes the next one ahead, and flushes what commits with synchronous_commit = off left behind. */
#include "storage/wal.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "base/latch.h"
#include "base/mutant.h"
#include "storage/disk.h"
#include "storage/file.h"

_Atomic uint32_t wal_group_commit = 1;
_Atomic uint32_t wal_fsync_enabled = 1;

#define BLOCK         4096u
#define INSERTIONS    8192u                 /* in flight at once; a power of two */
#define LANES         64u                   /* insertions that follow each other stand in so many different cache lines */
#define LEADER_SPINS  1000                  /* with fsync off a leader is back sooner than a sleeper awake */
#define KEEP_SEGMENTS 64u                   /* at most so many wait to be used again */
#define WRITER_US     200000u
#define RING_MIN      (4 * BLOCK)
#define RECORD_MAX    (64u << 20)
#define DIRECT_FROM   (256u << 10)          /* bytes: as long as that is written around the page cache */

enum { INSERTION_RESERVED, INSERTION_COPIED, INSERTION_AWAITED };
struct insertion { _Atomic uint32_t state; lsn_t end; };

struct wal {
    /* Every append reads these, few write them. */
    char    *directory;
    uint8_t *ring;
    uint64_t ring_bytes;                    /* a power of two */
    lsn_t    opened;                        /* where the first record of this process went */
    _Atomic lsn_t redo;                     /* changed under ring_latch */
    _Atomic bool behind;                    /* there is enough for the writer to write ahead */

    /* Every append writes these: one cache line, with nothing else in it. */
    _Alignas(64) struct latch ring_latch;   /* WAL_RING: */
    _Atomic lsn_t next;
    _Atomic uint64_t reserved;              /* insertions so far; where number n stands: insertion_of() */
    lsn_t    room;                          /* `next` may go so far, */
    uint64_t places;                        /* `reserved` so far, by what `written` and `completed` were when last looked at */

    _Alignas(64) struct insertion insertions[INSERTIONS];
    _Atomic uint64_t images, ring_waits, flushes;

    _Alignas(64) struct latch flush_latch;  /* WAL_FLUSH: */
    _Atomic bool leading;
    lsn_t    leading_to;                    /* what the leader promised */
    uint64_t round;                         /* rounds led so far */
    struct condition led[2];                /* the end of round n is awaited in n % 2 */

    _Alignas(64) _Atomic uint64_t completed;   /* the leader's: insertions known to be copied, ... */
    lsn_t complete;                         /* ... and where the last of them ends */
    _Atomic lsn_t written, flushed;
    int      segment_fd, direct_fd;         /* of segment_number; -1 when none. direct_fd: around the page cache */
    uint64_t segment_number;

    struct latch copy_latch;                /* LEAF: pairs an insertion that is AWAITED with its leader */
    struct condition copied;

    struct latch writer_latch;              /* LEAF: */
    struct condition writer_wake;
    bool writer_stop;
    struct thread *writer;
};

/* ------------------------------------------------------------------ segments */

static void segment_path(const char *directory, uint64_t number, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%016llx", directory, (unsigned long long)number);
}

static bool segment_exists(const struct wal *wal, uint64_t number)
{
    char path[PATH_MAX];
    segment_path(wal->directory, number, path);
    return disk->exists(path);
}

/* Makes a segment full of zeros, durable, under a name of the maker's, then links it to its own: two makers at once do no harm. */
static int segment_make(const struct wal *wal, uint64_t number, const char *maker)
{
    char scratch[PATH_MAX], path[PATH_MAX];
    snprintf(scratch, sizeof scratch, "%s/new.%s", wal->directory, maker);
    segment_path(wal->directory, number, path);
    int error = 0, fd = disk->open(scratch, O_RDWR | O_CREAT | O_TRUNC);
    if (fd < 0)
        return errno;
    if (disk->zeros(fd, WAL_SEGMENT_BYTES) != 0 || disk->fdatasync(fd) != 0)
        error = errno;
    disk->close(fd);
    if (!error && disk->link(scratch, path) != 0 && errno != EEXIST)
        error = errno;
    disk->unlink(scratch);
    if (!error && disk->sync_directory(wal->directory) != 0)
        error = errno;
    return error;
}

static void segment_sync(struct wal *wal)
{
    if (wal->segment_fd < 0 || !atomic_load_explicit(&wal_fsync_enabled, memory_order_relaxed))
        return;
    int error = file_call_begin("wal.sync");
    if (!error && disk->fdatasync(wal->segment_fd) != 0)
        error = errno;
    file_call_end("wal.sync");
    if (error)
        panic("could not fsync write-ahead log segment %016llx: %s", (unsigned long long)wal->segment_number, strerror(error));
}

/* The leader turns to another segment; the one it leaves is synced. */
static void segment_turn(struct wal *wal, uint64_t number)
{
    if (wal->segment_fd >= 0 && wal->segment_number == number)
        return;
    if (wal->segment_fd >= 0) {
        segment_sync(wal);
        disk->close(wal->segment_fd);
    }
    if (wal->direct_fd >= 0)
        disk->close(wal->direct_fd);
    char path[PATH_MAX];
    segment_path(wal->directory, number, path);
    int error = 0;
    if (!disk->exists(path))
        error = segment_make(wal, number, "leader");
    if (error)
        panic("could not create write-ahead log segment %016llx: %s", (unsigned long long)number, strerror(error));
    wal->segment_fd = disk->open(path, O_RDWR);
    if (wal->segment_fd < 0)
        panic("could not open write-ahead log segment %016llx: %s", (unsigned long long)number, strerror(errno));
    wal->direct_fd = disk->open(path, O_RDWR | O_DIRECT);
    wal->segment_number = number;
    condition_wake_all(&wal->writer_wake);                     /* time to make the next one */
}

/* Writes whole blocks of one segment. `direct`: around the page cache, if that can be. */
static void segment_write(struct wal *wal, lsn_t at, struct iovec *parts, int count, bool direct)
{
    segment_turn(wal, at / WAL_SEGMENT_BYTES);
    if (wal->direct_fd < 0 || !atomic_load_explicit(&wal_fsync_enabled, memory_order_relaxed))
        direct = false;
    off_t offset = (off_t)(at % WAL_SEGMENT_BYTES);
    int error = file_call_begin("wal.write");
    while (!error && count > 0) {
        ssize_t done = disk->pwritev(direct ? wal->direct_fd : wal->segment_fd, parts, count, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EINVAL && direct) {           /* not on this file system */
            direct = false;
            continue;
        }
        if (done <= 0) {
            error = done < 0 ? errno : ENOSPC;
            break;
        }
        offset += done;
        while (count > 0 && (size_t)done >= parts->iov_len)
            done -= (ssize_t)parts->iov_len, parts++, count--;
        if (count > 0)
            parts->iov_base = (uint8_t *)parts->iov_base + done, parts->iov_len -= (size_t)done;
    }
    file_call_end("wal.write");
    if (error)
        panic("could not write to write-ahead log segment %016llx: %s", (unsigned long long)wal->segment_number, strerror(error));
}

/* ------------------------------------------------------------------ appending */

static lsn_t block_of(lsn_t lsn) { return lsn & ~(lsn_t)(BLOCK - 1); }

static void ring_copy(struct wal *wal, lsn_t at, const uint8_t *bytes, size_t count)
{
    size_t from = at & (wal->ring_bytes - 1), first = wal->ring_bytes - from;
    if (first > count)
        first = count;
    memcpy(wal->ring + from, bytes, first);
    memcpy(wal->ring, bytes + first, count - first);
}

static struct insertion *insertion_of(struct wal *wal, uint64_t number)
{
    return &wal->insertions[number % LANES * (INSERTIONS / LANES) + number / LANES % (INSERTIONS / LANES)];
}

static void drain(struct wal *);

_Thread_local struct wal_given wal_given;

bool wal_append(struct wal *wal, struct wal_record *record, lsn_t redo_seen, lsn_t *start, lsn_t *end, _Atomic uint64_t *note)
{
    const uint32_t length = record->length;
    ASSERT(length >= sizeof *record && length % 8 == 0);
    ASSERT(length <= wal_max_record(wal));

    lsn_t at;
    struct insertion *insertion;
    bool quarter;
    for (;;) {
        latch_acquire(&wal->ring_latch, LATCH_EXCLUSIVE);
        if (wal->redo != redo_seen && !MUTANT(REDO_POINT_NOT_ASKED)) {
            latch_release(&wal->ring_latch);
            return false;
        }
        at = wal->next;
        uint64_t number = atomic_load_explicit(&wal->reserved, memory_order_relaxed);
        if (at + length > wal->room || number >= wal->places) {
            wal->room = block_of(atom_load(&wal->written)) + wal->ring_bytes;
            wal->places = atom_load(&wal->completed) + INSERTIONS;
        }
        if (at + length <= wal->room && number < wal->places) {
            insertion = insertion_of(wal, number);
            insertion->end = at + length;
            quarter = number % (INSERTIONS / 4) == 0 || at / (wal->ring_bytes / 4) != (at + length) / (wal->ring_bytes / 4);
            atomic_store_explicit(&insertion->state, INSERTION_RESERVED, memory_order_relaxed);
            if (MUTANT(NEXT_BEFORE_INSERTION))
                atom_store_release(&wal->next, at + length);
            if (note)
                atom_store_release(note, at + length);
            atom_store_release(&wal->reserved, number + 1);
            atom_store_release(&wal->next, at + length);       /* last: who reads it, and flushes that far, finds the insertion */
            latch_release(&wal->ring_latch);
            break;
        }
        latch_release(&wal->ring_latch);
        atomic_fetch_add_explicit(&wal->ring_waits, 1, memory_order_relaxed);
        drain(wal);
    }

    record->lsn = at;
    record->crc = crc32c(0, (uint8_t *)record + offsetof(struct wal_record, lsn), length - offsetof(struct wal_record, lsn));
    point("wal.copying");
    ring_copy(wal, at, (const uint8_t *)record, length);
    if (atom_exchange(&insertion->state, INSERTION_COPIED) == INSERTION_AWAITED) {
        latch_acquire(&wal->copy_latch, LATCH_EXCLUSIVE);
        condition_wake_all(&wal->copied);
        latch_release(&wal->copy_latch);
    }
    if (quarter)
        atom_store(&wal->behind, true);
    wal_given.records++;
    wal_given.bytes += length;
    *start = at;
    *end = at + length;
    return true;
}

void wal_write_ahead(struct wal *wal)
{
    if (atomic_load_explicit(&wal->behind, memory_order_relaxed) && atom_exchange(&wal->behind, false))
        condition_wake_one(&wal->writer_wake);
}

uint64_t wal_max_record(const struct wal *wal) { return wal->ring_bytes / 2; }
lsn_t wal_redo_point(const struct wal *wal)    { return atom_load(&((struct wal *)(uintptr_t)wal)->redo); }
lsn_t wal_next(const struct wal *wal)          { return atom_load(&((struct wal *)(uintptr_t)wal)->next); }
lsn_t wal_flushed(const struct wal *wal)       { return atom_load(&((struct wal *)(uintptr_t)wal)->flushed); }

lsn_t wal_move_redo_point(struct wal *wal)
{
    latch_acquire(&wal->ring_latch, LATCH_EXCLUSIVE);
    lsn_t redo = wal->next;
    atom_store(&wal->redo, redo);
    latch_release(&wal->ring_latch);
    return redo;
}

void wal_count_images(struct wal *wal, uint32_t count)
{
    wal_given.images += count;
    atomic_fetch_add_explicit(&wal->images, count, memory_order_relaxed);
}

/* ------------------------------------------------------------------ flushing */

/* The leader waits for one copy to be finished (rule 2). */
static void await_copy(struct wal *wal, struct insertion *insertion)
{
    for (int spin = spin_count(200); spin > 0; spin--) {
        if (atom_load_acquire(&insertion->state) == INSERTION_COPIED)
            return;
        spin_pause();
    }
    latch_acquire(&wal->copy_latch, LATCH_EXCLUSIVE);
    uint32_t reserved = INSERTION_RESERVED;
    atom_cas(&insertion->state, &reserved, INSERTION_AWAITED);
    while (atom_load(&insertion->state) == INSERTION_AWAITED)
        condition_wait(&wal->copied, &wal->copy_latch);
    latch_release(&wal->copy_latch);
}

/* Moves `complete` past upto, and on as far as copies are finished anyway. */
static void complete_upto(struct wal *wal, lsn_t upto)
{
    while (wal->completed < atom_load(&wal->reserved)) {
        struct insertion *insertion = insertion_of(wal, wal->completed);
        if (atom_load_acquire(&insertion->state) != INSERTION_COPIED && !MUTANT(COPY_NOT_AWAITED)) {
            if (wal->complete >= upto)
                break;
            await_copy(wal, insertion);
        }
        wal->complete = insertion->end;
        atom_store(&wal->completed, wal->completed + 1);
    }
}

/* Writes from `written` to target in whole blocks (rule 4). */
static void write_upto(struct wal *wal, lsn_t target, bool direct)
{
    _Alignas(BLOCK) uint8_t tail[BLOCK];
    lsn_t at = block_of(wal->written);
    while (at < target) {
        lsn_t segment_end = (at / WAL_SEGMENT_BYTES + 1) * WAL_SEGMENT_BYTES;
        lsn_t whole = block_of(target) < segment_end ? block_of(target) : segment_end;
        struct iovec parts[3];
        int count = 0;
        lsn_t from = at;
        while (at < whole) {                                   /* twice, where the ring turns over */
            uint64_t place = at & (wal->ring_bytes - 1), length = wal->ring_bytes - place;
            if (length > whole - at)
                length = whole - at;
            parts[count++] = (struct iovec){ wal->ring + place, length };
            at += length;
        }
        if (at < target && at < segment_end) {                 /* the last block, not yet full */
            size_t length = target - at;
            memcpy(tail, wal->ring + (at & (wal->ring_bytes - 1)), length);
            memset(tail + length, 0, BLOCK - length);
            parts[count++] = (struct iovec){ tail, BLOCK };
            at = target;
        }
        segment_write(wal, from, parts, count, direct || target - from >= DIRECT_FROM);
    }
    atom_store(&wal->written, target);
}

static void lead(struct wal *wal, lsn_t target, bool sync)
{
    complete_upto(wal, target);
    if (target > wal->written)
        write_upto(wal, target, sync);
    if (sync) {
        if (MUTANT(FLUSHED_BEFORE_SYNC) && wal->written > wal->flushed)
            atom_store(&wal->flushed, wal->written);
        segment_sync(wal);
        atomic_fetch_add_explicit(&wal->flushes, 1, memory_order_relaxed);
        if (wal->written > wal->flushed)
            atom_store(&wal->flushed, wal->written);
    }
}

/* Leads one round. Enters with flush_latch held and returns with it let go, so that who is woken finds it free. */
static void round_lead(struct wal *wal, lsn_t upto, bool sync)
{
    atom_store(&wal->leading, true);
    wal->leading_to = upto;
    uint64_t round = wal->round;
    latch_release(&wal->flush_latch);

    lead(wal, upto, sync);

    latch_acquire(&wal->flush_latch, LATCH_EXCLUSIVE);
    atom_store(&wal->leading, false);
    wal->round = round + 1;
    latch_release(&wal->flush_latch);
    (MUTANT(ONE_COMMITTER_WOKEN) ? condition_wake_one : condition_wake_all)(&wal->led[round % 2]);
    if (!MUTANT(NOBODY_TO_LEAD))
        condition_wake_one(&wal->led[(round + 1) % 2]);
}

/* Waits for the end of this round, or of the next where this one does not reach upto. flush_latch is held. */
static void round_await(struct wal *wal, lsn_t upto)
{
    if (!atomic_load_explicit(&wal_fsync_enabled, memory_order_relaxed)) {
        latch_release(&wal->flush_latch);
        for (int spin = spin_count(LEADER_SPINS); spin > 0 && atom_load(&wal->leading); spin--)
            spin_pause();
        latch_acquire(&wal->flush_latch, LATCH_EXCLUSIVE);
        if (!wal->leading)
            return;
    }
    condition_wait(&wal->led[(wal->round + (upto > wal->leading_to)) % 2], &wal->flush_latch);
}

/* One flush for all who wait: whoever finds no leader leads, and takes along all that is reserved by then. Who was woken to lead
 * and finds its own need met wakes another in its place. */
static void flush_grouped(struct wal *wal, lsn_t upto)
{
    latch_acquire(&wal->flush_latch, LATCH_EXCLUSIVE);
    while (atom_load(&wal->flushed) < upto) {
        if (!wal->leading) {
            round_lead(wal, atom_load(&wal->next), true);
            return;
        }
        round_await(wal, upto);
    }
    if (!wal->leading)
        condition_wake_one(&wal->led[wal->round % 2]);
    latch_release(&wal->flush_latch);
}

/* crab.group_commit = off: a flush for each that asks, no matter what others flushed while it waited for its turn. */
static void flush_alone(struct wal *wal, lsn_t upto)
{
    latch_acquire(&wal->flush_latch, LATCH_EXCLUSIVE);
    while (wal->leading)
        round_await(wal, UINT64_MAX);
    round_lead(wal, upto, true);
}

void wal_flush(struct wal *wal, lsn_t upto)
{
    if (atom_load(&wal->flushed) >= upto)
        return;
    ASSERT(upto <= atom_load(&wal->next));
    if (atomic_load_explicit(&wal_group_commit, memory_order_relaxed))
        flush_grouped(wal, upto);
    else
        flush_alone(wal, upto);
}

/* Makes room in the ring: writes it out, without a sync. */
static void drain(struct wal *wal)
{
    latch_acquire(&wal->flush_latch, LATCH_EXCLUSIVE);
    if (!wal->leading) {
        round_lead(wal, atom_load(&wal->next), false);
        return;
    }
    round_await(wal, 0);
    latch_release(&wal->flush_latch);
}

/* ------------------------------------------------------------------ the wal writer */

static void make_ahead(struct wal *wal)
{
    lsn_t next = atom_load(&wal->next);
    uint64_t number = next / WAL_SEGMENT_BYTES + 1;
    if (next < WAL_START + WAL_SEGMENT_BYTES / 4 || segment_exists(wal, number))
        return;                                                /* a data directory just made may never need a second */
    int error = segment_make(wal, number, "ahead");
    if (error)
        log_line("LOG", "could not create write-ahead log segment %016llx ahead: %s", (unsigned long long)number, strerror(error));
}

/* Writes whenever it is woken, and syncs at its own pace. */
static void writer_run(void *argument)
{
    struct wal *wal = argument;
    uint64_t sync_at = now_us() + WRITER_US;
    latch_acquire(&wal->writer_latch, LATCH_EXCLUSIVE);
    while (!wal->writer_stop) {
        condition_wait_until(&wal->writer_wake, &wal->writer_latch, sync_at, false);
        latch_release(&wal->writer_latch);
        lsn_t next = atom_load(&wal->next);
        if (now_us() < sync_at) {
            drain(wal);
        } else {
            wal_flush(wal, next);
            sync_at = now_us() + WRITER_US;
        }
        make_ahead(wal);
        latch_acquire(&wal->writer_latch, LATCH_EXCLUSIVE);
    }
    latch_release(&wal->writer_latch);
}

/* ------------------------------------------------------------------ opening, recycling */

struct segment_list { uint64_t *numbers; size_t count, capacity; };

static void list_segment(void *context, const char *name)
{
    struct segment_list *list = context;
    char *end;
    unsigned long long number = strtoull(name, &end, 16);
    if (strlen(name) != 16 || *end)
        return;
    if (list->count == list->capacity)
        list->numbers = realloc(list->numbers, (list->capacity = list->capacity ? list->capacity * 2 : 64) * sizeof *list->numbers);
    list->numbers[list->count++] = number;
}

/* The numbers of the segments there are, malloc'd. */
static enum status segments_each(const char *directory, uint64_t **out, size_t *out_count)
{
    struct segment_list list = { 0 };
    int failed = disk->list(directory, list_segment, &list);
    *out = list.numbers, *out_count = list.count;
    return failed ? error_set(STATUS_IO, "could not open directory \"%s\": %s", directory, strerror(errno)) : STATUS_OK;
}

static bool all_zeros(const uint8_t *bytes, size_t count)
{
    return count == 0 || (*bytes == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* Erases what lies behind start (rule 5), and takes the block in which start lies into the ring (rule 4). */
static enum status start_at(struct wal *wal, lsn_t start)
{
    uint64_t number = start / WAL_SEGMENT_BYTES, *numbers;
    size_t count;
    enum status status = segments_each(wal->directory, &numbers, &count);
    if (status)
        return status;
    char path[PATH_MAX];
    for (size_t i = 0; i < count; i++)
        if (numbers[i] > number) {
            segment_path(wal->directory, numbers[i], path);
            disk->unlink(path);
        }
    free(numbers);

    const bool made = !segment_exists(wal, number);
    int error = made ? segment_make(wal, number, "leader") : 0;
    if (error)
        return error_set(error == ENOSPC ? STATUS_DISK_FULL : STATUS_IO, "could not create write-ahead log segment %016llx: %s",
                         (unsigned long long)number, strerror(error));
    segment_turn(wal, number);
    if (made && start % WAL_SEGMENT_BYTES == 0)
        return STATUS_OK;                                      /* nothing lies in it yet, nor behind */

    const uint64_t within = start % WAL_SEGMENT_BYTES;
    _Alignas(64) uint8_t piece[16 * BLOCK];
    for (uint64_t at = within & ~(uint64_t)(BLOCK - 1), take; at < WAL_SEGMENT_BYTES; at += take) {
        take = WAL_SEGMENT_BYTES - at < sizeof piece ? WAL_SEGMENT_BYTES - at : sizeof piece;
        if (disk->preadv(wal->segment_fd, &(struct iovec){ piece, take }, 1, (off_t)at) != (ssize_t)take)
            return error_set(STATUS_IO, "could not read write-ahead log segment %016llx: %s", (unsigned long long)number, strerror(errno));
        const uint64_t kept = at < within ? within - at : 0;
        ring_copy(wal, number * WAL_SEGMENT_BYTES + at, piece, kept);
        if (all_zeros(piece + kept, take - kept))
            continue;
        memset(piece + kept, 0, take - kept);
        segment_write(wal, number * WAL_SEGMENT_BYTES + at, &(struct iovec){ piece, take }, 1, false);
    }
    segment_sync(wal);
    return STATUS_OK;
}

enum status wal_open(const struct wal_options *options, lsn_t start, struct wal **out)
{
    ASSERT(start >= WAL_START && start % 8 == 0);
    if (disk->mkdir(options->directory) != 0 && errno != EEXIST)
        return error_set(STATUS_IO, "could not create directory \"%s\": %s", options->directory, strerror(errno));
    struct wal *wal = aligned_alloc(64, sizeof *wal);
    if (!wal)
        return error_set(STATUS_OUT_OF_MEMORY, "out of memory for the write-ahead log");
    memset(wal, 0, sizeof *wal);
    latch_init(&wal->ring_latch, RANK_WAL_RING, 0, 0, 0);
    latch_init(&wal->flush_latch, RANK_WAL_FLUSH, 0, 0, 0);
    latch_init(&wal->copy_latch, RANK_LEAF, 0, 0, 0);
    latch_init(&wal->writer_latch, RANK_LEAF, 0, 0, 0);
    condition_init(&wal->led[0], "wal.led");
    condition_init(&wal->led[1], "wal.led");
    condition_init(&wal->copied, "wal.copied");
    condition_init(&wal->writer_wake, "wal.writer");
    wal->directory = strdup(options->directory);
    wal->segment_fd = wal->direct_fd = -1;
    wal->ring_bytes = RING_MIN;
    while (wal->ring_bytes < options->ring_bytes && wal->ring_bytes < 1u << 30)
        wal->ring_bytes *= 2;
    wal->ring = aligned_alloc(BLOCK, wal->ring_bytes);
    wal->complete = wal->opened = start;
    atomic_init(&wal->next, start);
    atomic_init(&wal->redo, start);
    atomic_init(&wal->written, start);
    atomic_init(&wal->flushed, start);

    enum status status;
    if (!wal->ring)
        status = error_set(STATUS_OUT_OF_MEMORY, "out of memory for the write-ahead log's ring");
    else
        status = start_at(wal, start);
    if (!status && !(wal->writer = thread_start("wal writer", writer_run, wal)))
        status = error_set(STATUS_OUT_OF_MEMORY, "could not start the WAL writer");
    if (status) {
        wal_close(wal);
        return status;
    }
    *out = wal;
    return STATUS_OK;
}

void wal_close(struct wal *wal)
{
    if (!wal)
        return;
    if (wal->writer) {
        latch_acquire(&wal->writer_latch, LATCH_EXCLUSIVE);
        wal->writer_stop = true;
        condition_wake_all(&wal->writer_wake);
        latch_release(&wal->writer_latch);
        thread_join(wal->writer);
        wal_flush(wal, wal->next);
    }
    if (wal->segment_fd >= 0)
        disk->close(wal->segment_fd);
    if (wal->direct_fd >= 0)
        disk->close(wal->direct_fd);
    free(wal->ring);
    free(wal->directory);
    free(wal);
}

/* A segment that is no longer needed gets the name of one to come, where none has it; the rest are removed. */
void wal_recycle(struct wal *wal, lsn_t before)
{
    uint64_t *numbers;
    size_t count, old = 0;
    if (segments_each(wal->directory, &numbers, &count))
        return;
    uint64_t first_kept = before / WAL_SEGMENT_BYTES, ahead = atom_load(&wal->next) / WAL_SEGMENT_BYTES + 1;
    for (size_t i = 0; i < count; i++)
        old += numbers[i] < first_kept;
    uint64_t last = ahead + (old < KEEP_SEGMENTS ? old : KEEP_SEGMENTS);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= first_kept)
            continue;
        char path[PATH_MAX], future[PATH_MAX];
        segment_path(wal->directory, numbers[i], path);
        for (; ahead < last; ahead++) {
            segment_path(wal->directory, ahead, future);
            if (disk->link(path, future) == 0) {
                ahead++;
                break;
            }
        }
        disk->unlink(path);
    }
    free(numbers);
    if (disk->sync_directory(wal->directory) != 0)
        panic("could not fsync directory \"%s\": %s", wal->directory, strerror(errno));
}

enum status wal_sync_directory(const char *directory)
{
    uint64_t *numbers;
    size_t count;
    enum status status = segments_each(directory, &numbers, &count);
    for (size_t i = 0; !status && i < count; i++) {
        char path[PATH_MAX];
        segment_path(directory, numbers[i], path);
        int fd = disk->open(path, O_RDWR);
        if (fd < 0 || disk->fdatasync(fd) != 0)
            status = error_set(STATUS_IO, "could not fsync file \"%s\": %s", path, strerror(errno));
        if (fd >= 0)
            disk->close(fd);
    }
    free(numbers);
    return status;
}

void wal_stats(struct wal *wal, struct wal_stats *out)
{
    *out = (struct wal_stats){
        .next = wal->next, .flushed = wal->flushed, .redo = wal->redo, .records = wal->reserved, .bytes = wal->next - wal->opened,
        .flushes = wal->flushes, .images = wal->images, .ring_waits = wal->ring_waits,
    };
}

/* ------------------------------------------------------------------ reading */

struct wal_reader {
    char    *directory;
    lsn_t    position;                      /* the next record's */
    uint8_t *buffer;                        /* the stream from `start` on, `filled` bytes */
    size_t   filled, capacity;
    lsn_t    start;
    int      fd;
    uint64_t segment_number;
};

enum status wal_reader_open(const char *directory, lsn_t from, struct wal_reader **out)
{
    struct wal_reader *reader = calloc(1, sizeof *reader);
    reader->directory = strdup(directory);
    reader->position = reader->start = from;
    reader->capacity = 2u << 20;
    reader->buffer = aligned_alloc(64, reader->capacity);
    reader->fd = -1;
    *out = reader;
    return STATUS_OK;
}

/* Reads on behind what the buffer holds; 0 at the end of the stream's files. */
static size_t reader_fill(struct wal_reader *reader)
{
    lsn_t at = reader->start + reader->filled;
    uint64_t number = at / WAL_SEGMENT_BYTES;
    if (reader->fd < 0 || reader->segment_number != number) {
        if (reader->fd >= 0)
            disk->close(reader->fd);
        char path[PATH_MAX];
        segment_path(reader->directory, number, path);
        reader->fd = disk->open(path, O_RDONLY);
        reader->segment_number = number;
        if (reader->fd < 0)
            return 0;
    }
    size_t length = reader->capacity - reader->filled, left = WAL_SEGMENT_BYTES - at % WAL_SEGMENT_BYTES;
    struct iovec part = { reader->buffer + reader->filled, length < left ? length : left };
    ssize_t got = disk->preadv(reader->fd, &part, 1, (off_t)(at % WAL_SEGMENT_BYTES));
    return got < 0 ? 0 : (size_t)got;
}

/* `count` bytes of the stream from `position` on, in one piece; NULL where the files end first. */
static uint8_t *reader_need(struct wal_reader *reader, size_t count)
{
    size_t skip = reader->position - reader->start;
    while (reader->filled < skip + count) {
        if (reader->capacity < skip + count) {
            memmove(reader->buffer, reader->buffer + skip, reader->filled - skip);
            reader->start += skip, reader->filled -= skip, skip = 0;
            if (reader->capacity < count) {
                reader->capacity = (count * 2 + 63) & ~(size_t)63;
                uint8_t *larger = aligned_alloc(64, reader->capacity);
                memcpy(larger, reader->buffer, reader->filled);
                free(reader->buffer);
                reader->buffer = larger;
            }
        }
        size_t got = reader_fill(reader);
        if (got == 0)
            return NULL;
        reader->filled += got;
    }
    return reader->buffer + skip;
}

bool wal_read(struct wal_reader *reader, struct wal_record **out)
{
    struct wal_record *record = (struct wal_record *)reader_need(reader, sizeof *record);
    if (!record || record->length < sizeof *record || record->length % 8 || record->length > RECORD_MAX
        || record->lsn != reader->position)
        return false;
    const uint32_t length = record->length;
    record = (struct wal_record *)reader_need(reader, length);
    if (!record
        || record->crc != crc32c(0, (uint8_t *)record + offsetof(struct wal_record, lsn), length - offsetof(struct wal_record, lsn)))
        return false;
    reader->position += length;
    *out = record;
    return true;
}

lsn_t wal_reader_position(const struct wal_reader *reader) { return reader->position; }

void wal_reader_close(struct wal_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        disk->close(reader->fd);
    free(reader->buffer);
    free(reader->directory);
    free(reader);
}
