/* engine/exec/spill.c - rows on disk when they outgrow work_mem (see spill.h).
 *
 * A batch on disk: its header, then for each column whether nulls follow, the null bytes, and the values: fixed widths as
 * they lie, varying ones as lengths and then the bytes. Arrays begin at multiples of 16, so that what was read is used in
 * place. Writes are gathered into a buffer, which is there from the first to spill_flush: files that wait to be read have none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/exec/spill.h"

#define BUFFER_BYTES (64u << 10)

struct spill_file {
    struct spill_file *next;
    struct run *run;
    const struct sql_type *types;
    uint16_t column_count;
    int fd;
    uint64_t length;                     /* written, buffer included */
    uint8_t *buffer; size_t buffered;    /* NULL: nothing waits */
    struct mapping { struct mapping *before; uint8_t *memory; size_t bytes, used; } *mapped;     /* spill_map */
};
struct spill_header { uint64_t bytes, grain; uint32_t rows; uint32_t unused; };

static enum status io_error(const char *what)
{
    int error = errno;
    if (error == ENOSPC || error == EDQUOT)
        return error_set(STATUS_DISK_FULL, "could not write to temporary file: %s", strerror(error));
    return error_set(STATUS_IO, "could not %s temporary file: %s", what, strerror(error));
}

enum status spill_open(struct run *run, const struct sql_type *types, uint16_t column_count, struct spill_file **out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/pgsql_tmp", run->store->directory);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return io_error("create directory of");
    int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        snprintf(path, sizeof path, "%s/pgsql_tmp/spillXXXXXX", run->store->directory);
        fd = mkstemp(path);
        if (fd < 0)
            return io_error("create");
        unlink(path);
    }
    struct spill_file *file = malloc(sizeof *file);
    if (!file)
        panic("out of memory");
    *file = (struct spill_file){ .run = run, .types = types, .column_count = column_count, .fd = fd };
    latch_acquire(&run->spill_latch, LATCH_EXCLUSIVE);
    file->next = run->spills;
    run->spills = file;
    latch_release(&run->spill_latch);
    *out = file;
    return STATUS_OK;
}

static enum status buffer_flush(struct spill_file *file)
{
    uint64_t at = file->length - file->buffered;
    size_t done = 0;
    while (done < file->buffered) {
        ssize_t n = pwrite(file->fd, file->buffer + done, file->buffered - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return io_error("write to");
        done += (size_t)n;
    }
    file->buffered = 0;
    return STATUS_OK;
}

enum status spill_flush(struct spill_file *file)
{
    if (!file->buffer)
        return STATUS_OK;
    enum status status = buffer_flush(file);
    if (status)
        return status;
    free(file->buffer);
    file->buffer = NULL;
    return STATUS_OK;
}

static enum status put(struct spill_file *file, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    if (!file->buffer && !(file->buffer = malloc(BUFFER_BYTES)))
        panic("out of memory");
    while (count) {
        size_t room = BUFFER_BYTES - file->buffered, take = count < room ? count : room;
        if (from) {
            memcpy(file->buffer + file->buffered, from, take);
            from += take;
        } else {
            memset(file->buffer + file->buffered, 0, take);
        }
        file->buffered += take;
        file->length += take;
        count -= take;
        if (file->buffered == BUFFER_BYTES) {
            enum status status = buffer_flush(file);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

static size_t padded(size_t n) { return (n + 15) & ~(size_t)15; }

static enum status put_padded(struct spill_file *file, const void *bytes, size_t count)
{
    enum status status = put(file, bytes, count);
    return status ? status : put(file, NULL, padded(count) - count);
}

enum status spill_write(struct spill_file *file, const struct batch *batch)
{
    if (batch->selected_count == 0)
        return STATUS_OK;
    struct arena *arena = arena_open(NULL, "spill");
    size_t n = batch->selected_count;
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    struct vector *columns = arena_array(arena, struct vector, file->column_count + 1u);
    uint32_t **lengths = arena_array(arena, uint32_t *, file->column_count + 1u);
    struct spill_header header = { .grain = batch->grain, .rows = (uint32_t)n };
    header.bytes = padded(sizeof header);
    for (uint16_t c = 0; c < file->column_count; c++) {
        vector_make(&columns[c], arena, file->types[c].width, n);
        vector_gather(&batch->columns[c], positions, n, &columns[c], 0);
        header.bytes += 16 + padded(n);
        if (file->types[c].width != WIDTH_VARLEN) {
            header.bytes += padded(n * file->types[c].width);
            continue;
        }
        size_t total = 0;
        lengths[c] = arena_array(arena, uint32_t, n);
        for (size_t k = 0; k < n; k++) {
            lengths[c][k] = columns[c].nulls[k] ? 0 : ((struct varlen *)columns[c].values)[k].length;
            total += lengths[c][k];
        }
        header.bytes += padded(n * sizeof(uint32_t)) + padded(total);
    }
    enum status status = put_padded(file, &header, sizeof header);
    for (uint16_t c = 0; c < file->column_count && !status; c++) {
        uint64_t any[2] = { memchr(columns[c].nulls, 1, n) != NULL, 0 };
        status = put_padded(file, any, sizeof any);
        if (!status)
            status = put_padded(file, columns[c].nulls, n);
        if (!status && file->types[c].width != WIDTH_VARLEN) {
            status = put_padded(file, columns[c].values, n * file->types[c].width);
        } else if (!status) {
            status = put_padded(file, lengths[c], n * sizeof(uint32_t));
            size_t total = 0;
            for (size_t k = 0; k < n && !status; k++) {
                total += lengths[c][k];
                if (lengths[c][k])
                    status = put(file, ((struct varlen *)columns[c].values)[k].bytes, lengths[c][k]);
            }
            if (!status)
                status = put(file, NULL, padded(total) - total);
        }
    }
    arena_close(arena);
    return status;
}

uint64_t spill_bytes(const struct spill_file *file) { return file->length; }

void spill_read_from_start(struct spill_file *file, struct arena *arena, struct spill_reader *out)
{
    *out = (struct spill_reader){ .file = file, .arena = arena };
}

void spill_read_range(struct spill_file *file, uint64_t from, uint64_t to, struct arena *arena, struct spill_reader *out)
{
    *out = (struct spill_reader){ .file = file, .offset = from, .end = to, .arena = arena };
}

static enum status get(struct spill_file *file, uint64_t at, void *bytes, size_t count)
{
    uint8_t *to = bytes;
    while (count) {
        ssize_t n = pread(file->fd, to, count, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error("read from");
        if (n == 0)
            return error_set(STATUS_IO, "could not read from temporary file: read too little");
        to += n;
        at += (uint64_t)n;
        count -= (size_t)n;
    }
    return STATUS_OK;
}

enum status spill_read(struct spill_reader *reader, struct batch *out, bool *end)
{
    struct spill_file *file = reader->file;
    *end = reader->offset >= (reader->end ? reader->end : file->length);
    if (*end)
        return STATUS_OK;
    enum status status = spill_flush(file);
    struct spill_header header;
    if (!status)
        status = get(file, reader->offset, &header, sizeof header);
    if (status)
        return status;
    arena_reset(reader->arena);
    uint8_t *bytes = arena_alloc(reader->arena, header.bytes);
    status = get(file, reader->offset, bytes, header.bytes);
    if (status)
        return status;
    reader->offset += header.bytes;
    size_t n = header.rows;
    bytes += padded(sizeof header);
    *out = (struct batch){ .columns = arena_array(reader->arena, struct vector, file->column_count + 1u), .column_count = file->column_count,
                           .row_count = (uint16_t)n, .selected_count = (uint16_t)n, .all_selected = true, .grain = header.grain };
    for (uint16_t c = 0; c < file->column_count; c++) {
        struct vector *v = &out->columns[c];
        bool any = *(uint64_t *)bytes != 0;
        bytes += 16;
        v->width = file->types[c].width;
        v->nulls = any ? bytes : NULL;
        bytes += padded(n);
        if (v->width != WIDTH_VARLEN) {
            v->values = bytes;
            bytes += padded(n * v->width);
            continue;
        }
        const uint32_t *lengths = (const uint32_t *)bytes;
        bytes += padded(n * sizeof(uint32_t));
        struct varlen *values = arena_alloc(reader->arena, n * sizeof *values);
        size_t total = 0;
        for (size_t k = 0; k < n; k++) {
            values[k] = (struct varlen){ .bytes = bytes + total, .length = lengths[k] };
            total += lengths[k];
        }
        bytes += padded(total);
        v->values = values;
    }
    return STATUS_OK;
}

/* ---- memory in a file ---- */

#define MAPPING_LEAST ((size_t)256 << 10)
#define MAPPING_MOST  ((size_t)64 << 20)

static enum status mapping_add(struct spill_file *file, size_t bytes)
{
    size_t size = file->mapped ? file->mapped->bytes * 2 : MAPPING_LEAST, page = MAPPING_LEAST;
    size = size > MAPPING_MOST ? MAPPING_MOST : size;
    size = size < bytes ? (bytes + page - 1) / page * page : size;
    int error;
    while ((error = posix_fallocate(file->fd, (off_t)file->length, (off_t)size)) == EINTR)
        ;
    if (error) {
        errno = error;
        return io_error("write to");
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, (off_t)file->length);
    if (memory == MAP_FAILED)
        return io_error("map");
    struct mapping *m = malloc(sizeof *m);
    if (!m)
        panic("out of memory");
    *m = (struct mapping){ .before = file->mapped, .memory = memory, .bytes = size };
    file->mapped = m;
    file->length += size;
    return STATUS_OK;
}

enum status spill_map(struct spill_file *file, size_t bytes, void **out)
{
    bytes = padded(bytes);
    if (!file->mapped || file->mapped->bytes - file->mapped->used < bytes) {
        enum status status = mapping_add(file, bytes);
        if (status)
            return status;
    }
    *out = file->mapped->memory + file->mapped->used;
    file->mapped->used += bytes;
    return STATUS_OK;
}

void spill_map_rest(struct spill_file *file)
{
    for (const struct mapping *m = file->mapped; m; m = m->before)
        madvise(m->memory, m->bytes, MADV_DONTNEED);
}

void spill_close(struct spill_file *file)
{
    while (file->mapped) {
        struct mapping *m = file->mapped;
        file->mapped = m->before;
        munmap(m->memory, m->bytes);
        free(m);
    }
    latch_acquire(&file->run->spill_latch, LATCH_EXCLUSIVE);
    for (struct spill_file **at = &file->run->spills; *at; at = &(*at)->next)
        if (*at == file) {
            *at = file->next;
            break;
        }
    latch_release(&file->run->spill_latch);
    close(file->fd);
    free(file->buffer);
    free(file);
}

void spill_close_all(struct run *run)
{
    while (run->spills)
        spill_close(run->spills);
}
