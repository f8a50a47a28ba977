/* engine/copy_source.c - COPY's input as it comes: bytes of the client or of a file. */
#include "engine/copy_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for `count` more bytes behind those not yet used. Bytes never move while rows point at them: what isn't used goes to another buffer. */
enum status source_room(struct source *source, size_t count)
{
    if (source->length + count <= source->capacity)
        return STATUS_OK;
    size_t left = source->length - source->at, capacity = SOURCE_BYTES;
    while (capacity < 2 * left || capacity < left + count)
        capacity *= 2;
    if (capacity > (size_t)2 << 30)
        return error_set(STATUS_LIMIT_EXCEEDED, "a COPY row is longer than 1 GiB");
    struct source_buffer *buffer = capacity == SOURCE_BYTES ? source->spare : NULL;
    if (buffer) {
        source->spare = NULL;
    } else {
        buffer = malloc(sizeof *buffer + capacity + SOURCE_SLACK);
        if (!buffer)
            return error_set(STATUS_OUT_OF_MEMORY, NULL);
        buffer->capacity = capacity;
        memset(buffer->bytes + capacity, 0, SOURCE_SLACK);
    }
    if (left)
        memcpy(buffer->bytes, source->bytes + source->at, left);
    if (source->buffer) {
        source->buffer->next = source->old;
        source->old = source->buffer;
    }
    source->buffer = buffer;
    source->bytes = buffer->bytes;
    source->capacity = capacity;
    source->length = left;
    source->at = 0;
    return STATUS_OK;
}

/* No row points into older buffers any more. */
void source_forget(struct source *source)
{
    while (source->old) {
        struct source_buffer *buffer = source->old;
        source->old = buffer->next;
        if (buffer->capacity == SOURCE_BYTES && !source->spare)
            source->spare = buffer;
        else
            free(buffer);
    }
}

void source_close(struct source *source)
{
    source_forget(source);
    free(source->spare);
    free(source->buffer);
    if (source->file)
        fclose(source->file);
}

enum status source_piece(struct source *source, uint8_t *room, const uint8_t **piece, size_t *count)
{
    *count = 0;
    if (source->file) {
        *piece = room;
        *count = fread(room, 1, FILE_BYTES, source->file);
        if (ferror(source->file))
            return error_set(STATUS_IO, "could not read from COPY file: %s", strerror(errno));
    } else {
        enum status status = source->client->copy_read(source->client, piece, count);
        if (status)
            return status;
    }
    source->ended = *count == 0;
    return STATUS_OK;
}

/* More bytes behind those not yet used. */
enum status source_more(struct source *source)
{
    if (source->ended)
        return STATUS_OK;
    const uint8_t *piece;
    size_t count;
    enum status status = source->file ? source_room(source, FILE_BYTES) : STATUS_OK;
    if (!status)
        status = source_piece(source, source->bytes + source->length, &piece, &count);
    if (status || count == 0 || source->discard)
        return status;
    if (!source->file) {
        status = source_room(source, count);
        if (status)
            return status;
        memcpy(source->bytes + source->length, piece, count);
    }
    source->length += count;
    return STATUS_OK;
}

