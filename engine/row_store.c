/* engine/row_store.c - rows kept aside, as bytes: for each column a null byte, then the value; lengths before long ones.
 *
 * The bytes form one stream. Its head may lie in a temporary file (unlinked as soon as it is made, so that no crash
 * leaves it behind); its tail lies in memory. starts[n] is where row n begins in the stream. */
#include "engine/row_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row_store {
    const struct sql_type *types;
    uint16_t column_count;
    uint64_t memory_bytes;
    char *directory;
    int file;                            /* -1 until memory ran out */
    uint64_t file_bytes;                 /* stream bytes that lie in the file */
    uint8_t *tail; uint64_t tail_length, tail_capacity;
    uint64_t *starts, row_count, row_capacity;
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

enum status row_store_add(struct row_store *store, const struct batch *batch)
{
    for (uint32_t n = 0; n < batch->selected_count; n++) {
        size_t at = batch->all_selected ? n : batch->selection[n];
        if (store->row_count == store->row_capacity) {
            store->row_capacity = store->row_capacity ? store->row_capacity * 2 : 256;
            store->starts = realloc(store->starts, store->row_capacity * sizeof *store->starts);
            ASSERT(store->starts);
        }
        store->starts[store->row_count++] = store->file_bytes + store->tail_length;
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
    }
    if (store->tail_length > store->memory_bytes)
        return tail_to_file(store);
    return STATUS_OK;
}

uint64_t row_store_count(const struct row_store *store) { return store->row_count; }

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
    ASSERT(first + count <= store->row_count);
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
    uint64_t start = store->starts[first];
    uint64_t end = first + count < store->row_count ? store->starts[first + count] : store->file_bytes + store->tail_length;
    uint8_t *bytes = arena_alloc(arena, end - start + 1), *p = bytes;
    enum status status = stream_read(store, start, end - start, bytes);
    if (status)
        return status;
    for (uint16_t r = 0; r < count; r++)
        for (uint16_t c = 0; c < store->column_count; c++) {
            struct vector *v = &out->columns[c];
            v->nulls[r] = *p++;
            if (v->nulls[r])
                continue;
            if (v->width == WIDTH_VARLEN) {
                uint32_t length;
                memcpy(&length, p, sizeof length);
                ((struct varlen *)v->values)[r] = (struct varlen){.bytes = p + sizeof length, .length = length};
                p += sizeof length + length;
            } else {
                memcpy((uint8_t *)v->values + (size_t)r * v->width, p, v->width);
                p += v->width;
            }
        }
    ASSERT(p == bytes + (end - start));
    return STATUS_OK;
}
