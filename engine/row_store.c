/* engine/row_store.c - rows kept aside, as bytes: for each column a null byte, then the value; lengths before long ones.
 *
 * The bytes form one stream. Its head may lie in a temporary file (unlinked as soon as it is made, so that no crash
 * leaves it behind); its tail lies in memory. Where some rows begin in it is known, one in EVERY_ROWS or EVERY_BYTES; the others are found by
 * walking on from there. */
#include "engine/row_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_ROWS  32
#define EVERY_BYTES 4096

struct row_store {
    const struct sql_type *types;
    uint16_t column_count;
    uint64_t memory_bytes;
    char *directory;
    int file;                            /* -1 until memory ran out */
    uint64_t file_bytes;                 /* stream bytes that lie in the file */
    uint8_t *tail; uint64_t tail_length, tail_capacity;
    uint64_t row_count, forgotten;       /* the first row there is: the number of those forgotten */
    struct start { uint64_t row, at; } *starts;      /* where that row begins in the stream; the first row's is there */
    uint64_t start_count, start_capacity;
};

struct row_store *row_store_open(const struct sql_type *types, uint16_t column_count, uint64_t memory_bytes, const char *directory)
{
    struct row_store *store = calloc(1, sizeof *store);
    ASSERT(store);
    store->types = types;
    store->column_count = column_count;
    store->memory_bytes = memory_bytes;
    store->directory = strdup(directory);
    store->file = -1;
    return store;
}

void row_store_close(struct row_store *store)
{
    if (!store)
        return;
    if (store->file >= 0)
        close(store->file);
    free(store->directory);
    free(store->tail);
    free(store->starts);
    free(store);
}

static void tail_add(struct row_store *store, const void *bytes, size_t count)
{
    if (store->tail_length + count > store->tail_capacity) {
        while (store->tail_length + count > store->tail_capacity)
            store->tail_capacity = store->tail_capacity ? store->tail_capacity * 2 : 4096;
        store->tail = realloc(store->tail, store->tail_capacity);
        ASSERT(store->tail);
    }
    if (count)
        memcpy(store->tail + store->tail_length, bytes, count);
    store->tail_length += count;
}

static enum status tail_to_file(struct row_store *store)
{
    if (store->file < 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/rows.XXXXXX", store->directory);
        store->file = mkstemp(path);
        if (store->file < 0)
            return error_set(STATUS_IO, "could not create temporary file \"%s\": %s", path, strerror(errno));
        unlink(path);
    }
    uint64_t done = 0;
    while (done < store->tail_length) {
        ssize_t wrote = pwrite(store->file, store->tail + done, store->tail_length - done, (off_t)(store->file_bytes + done));
        if (wrote < 0) {
            if (errno == EINTR)
                continue;
            return error_set(errno == ENOSPC ? STATUS_DISK_FULL : STATUS_IO, "could not write to temporary file: %s", strerror(errno));
        }
        done += (uint64_t)wrote;
    }
    store->file_bytes += store->tail_length;
    store->tail_length = 0;
    return STATUS_OK;
}

static void start_add(struct row_store *store, uint64_t row, uint64_t at)
{
    if (store->start_count == store->start_capacity) {
        store->start_capacity = store->start_capacity ? store->start_capacity * 2 : 64;
        store->starts = realloc(store->starts, store->start_capacity * sizeof *store->starts);
        ASSERT(store->starts);
    }
    store->starts[store->start_count++] = (struct start){ row, at };
}

enum status row_store_add(struct row_store *store, const struct batch *batch)
{
    enum status status = STATUS_OK;
    for (uint32_t n = 0; n < batch->selected_count && !status; n++) {
        size_t at = batch->all_selected ? n : batch->selection[n];
        uint64_t begin = store->file_bytes + store->tail_length;
        struct start *last = store->start_count ? &store->starts[store->start_count - 1] : NULL;
        if (!last || store->row_count - last->row >= EVERY_ROWS || begin - last->at >= EVERY_BYTES)
            start_add(store, store->row_count, begin);
        store->row_count++;
        for (uint16_t c = 0; c < store->column_count; c++) {
            const struct vector *v = &batch->columns[c];
            uint8_t null = vector_null(v, at);
            tail_add(store, &null, 1);
            if (null)
                continue;
            if (v->width == WIDTH_VARLEN) {
                const struct varlen *value = &VECTOR(struct varlen, v, at);
                tail_add(store, &value->length, sizeof value->length);
                tail_add(store, value->bytes, value->length);
            } else {
                tail_add(store, (const uint8_t *)v->values + vector_at(v, at) * v->width, v->width);
            }
        }
        if (store->tail_length > store->memory_bytes)
            status = tail_to_file(store);
    }
    return status;
}

uint64_t row_store_count(const struct row_store *store) { return store->row_count; }

/* Of the rows whose beginning is known, the last at or before that row. */
static uint64_t start_find(const struct row_store *store, uint64_t row)
{
    uint64_t low = 0, high = store->start_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (store->starts[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static enum status stream_read(struct row_store *store, uint64_t from, uint64_t count, uint8_t *out)
{
    while (count && from < store->file_bytes) {
        uint64_t piece = store->file_bytes - from < count ? store->file_bytes - from : count;
        ssize_t got = pread(store->file, out, piece, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(STATUS_IO, "could not read from temporary file: %s", got ? strerror(errno) : "unexpected end");
        from += (uint64_t)got, out += got, count -= (uint64_t)got;
    }
    if (count)
        memcpy(out, store->tail + (from - store->file_bytes), count);
    return STATUS_OK;
}

enum status row_store_read(struct row_store *store, uint64_t first, uint16_t count, struct arena *arena, struct batch *out)
{
    memset(out, 0, sizeof *out);
    ASSERT(first >= store->forgotten && first + count <= store->row_count);
    out->column_count = store->column_count;
    out->row_count = out->selected_count = count;
    out->all_selected = true;
    out->columns = arena_array(arena, struct vector, store->column_count ? store->column_count : 1);
    for (uint16_t c = 0; c < store->column_count; c++) {
        uint8_t width = store->types[c].width;
        out->columns[c].width = width;
        out->columns[c].values = arena_zero(arena, (size_t)(count ? count : 1) * (width ? width : sizeof(struct varlen)));
        out->columns[c].nulls = arena_zero(arena, count ? count : 1);
    }
    if (!count)
        return STATUS_OK;
    uint64_t known = start_find(store, first), next = start_find(store, first + count - 1u) + 1;
    uint64_t start = store->starts[known].at, end = next < store->start_count ? store->starts[next].at : store->file_bytes + store->tail_length;
    uint8_t *bytes = arena_alloc(arena, end - start + 1), *p = bytes;
    enum status status = stream_read(store, start, end - start, bytes);
    if (status)
        return status;
    for (uint64_t row = store->starts[known].row; row < first + count; row++)
        for (uint16_t c = 0; c < store->column_count; c++) {
            struct vector *v = &out->columns[c];
            bool wanted = row >= first;
            size_t r = wanted ? row - first : 0;
            uint8_t null = *p++;
            if (wanted)
                v->nulls[r] = null;
            if (null)
                continue;
            if (v->width == WIDTH_VARLEN) {
                uint32_t length;
                memcpy(&length, p, sizeof length);
                if (wanted)
                    ((struct varlen *)v->values)[r] = (struct varlen){.bytes = p + sizeof length, .length = length};
                p += sizeof length + length;
            } else {
                if (wanted)
                    memcpy((uint8_t *)v->values + r * v->width, p, v->width);
                p += v->width;
            }
        }
    ASSERT(p <= bytes + (end - start));
    return STATUS_OK;
}

enum status row_store_forget(struct row_store *store, uint64_t first)
{
    ASSERT(first <= store->row_count);
    if (first == store->row_count) {
        store->start_count = store->tail_length = 0;
    } else {
        uint64_t known = start_find(store, first), begin = store->starts[known].at, kept = store->file_bytes + store->tail_length - begin;
        if (begin <= kept)                   /* it is moved once for every byte that goes */
            return STATUS_OK;
        uint8_t *bytes = malloc(kept);
        ASSERT(bytes);
        enum status status = stream_read(store, begin, kept, bytes);
        if (status) {
            free(bytes);
            return status;
        }
        free(store->tail);
        store->tail = bytes;
        store->tail_length = store->tail_capacity = kept;
        store->start_count -= known;
        memmove(store->starts, store->starts + known, store->start_count * sizeof *store->starts);
        for (uint64_t i = 0; i < store->start_count; i++)
            store->starts[i].at -= begin;
        first = store->starts[0].row;
    }
    store->forgotten = first;
    store->file_bytes = 0;
    if (store->file >= 0)
        close(store->file);
    store->file = -1;
    return STATUS_OK;
}
