/* engine/exec/spill_rows.c - rows kept in their order, on disk as far as they outgrow work_mem (see spill_rows.h).
 *
 * Rows gather in memory. When they take more than may stay, their full chunks are written, one batch each; the last chunk, not yet full,
 * begins the next lot. What is read of the file lies in an arena of the reader. */
#include "engine/exec/spill_rows.h"

void spill_rows_open(struct spill_rows *s, struct worker *worker, struct arena *arena, const struct sql_type *types, uint16_t column_count)
{
    *s = (struct spill_rows){ .worker = worker, .types = types, .column_count = column_count, .parent = arena, .limit = (uint64_t)worker->run->work_mem };
    s->arena = arena_open(arena, "kept rows");
    rows_open(&s->rows, s->arena, types, column_count);
}

static enum status chunk_write(struct spill_rows *s, uint32_t chunk)
{
    struct batch batch;
    if (s->disk_chunks == s->offset_capacity) {
        uint32_t capacity = s->offset_capacity ? s->offset_capacity * 2 : 64;
        s->offsets = arena_grow(s->parent, s->offsets, s->offset_capacity * sizeof *s->offsets, capacity * sizeof *s->offsets);
        s->offset_capacity = capacity;
    }
    s->offsets[s->disk_chunks++] = spill_bytes(s->file);
    rows_chunk(&s->rows, chunk, &batch);
    enum status status = spill_write(s->file, &batch);
    return status ? status : run_check(s->worker);
}

/* The first `chunks` chunks in memory go to disk. */
static enum status chunks_write(struct spill_rows *s, uint32_t chunks)
{
    enum status status = s->file ? STATUS_OK : spill_open(s->worker->run, s->types, s->column_count, &s->file);
    for (uint32_t c = 0; c < chunks && !status; c++)
        status = chunk_write(s, c);
    if (status)
        return status;
    struct rows old = s->rows;
    struct arena *arena = s->arena;
    s->arena = arena_open(s->parent, "kept rows");
    rows_open(&s->rows, s->arena, s->types, s->column_count);
    for (uint32_t c = chunks; c < old.chunk_count; c++) {
        struct batch batch;
        rows_chunk(&old, c, &batch);
        rows_append(&s->rows, &batch);
    }
    arena_close(arena);
    return STATUS_OK;
}

enum status spill_rows_append(struct spill_rows *s, const struct batch *batch, const row_pos *positions, uint16_t count)
{
    rows_append_some(&s->rows, batch, positions, count);
    s->count += count;
    if (s->rows.bytes <= s->limit)
        return STATUS_OK;
    uint32_t full = s->rows.chunk_count;
    if (full && s->rows.chunks[full - 1].count < ROWS_CHUNK)
        full--;
    return full ? chunks_write(s, full) : STATUS_OK;
}

enum status spill_rows_finish(struct spill_rows *s)
{
    return s->file ? chunks_write(s, s->rows.chunk_count) : STATUS_OK;
}

void spill_rows_close(struct spill_rows *s)
{
    if (s->file)
        spill_close(s->file);
    arena_close(s->arena);
    *s = (struct spill_rows){0};
}

void spill_rows_reader_open(struct spill_rows_reader *r, const struct spill_rows *store, struct arena *arena)
{
    *r = (struct spill_rows_reader){ .store = store, .arena = store->file ? arena_open(arena, "rows read again") : NULL };
}

static bool find_read(const struct spill_rows_reader *r, uint32_t chunk, uint32_t *at)
{
    if (r->last < r->read_count && r->read[r->last].chunk == chunk)
        return *at = r->last, true;
    for (*at = 0; *at < r->read_count; ++*at)
        if (r->read[*at].chunk == chunk)
            return true;
    return false;
}

bool spill_rows_crowded(const struct spill_rows_reader *r, uint32_t chunk)
{
    uint32_t at;
    return chunk < r->store->disk_chunks && r->read_count && r->bytes > r->store->limit / 2 && !find_read(r, chunk, &at);
}

void spill_rows_forget(struct spill_rows_reader *r)
{
    if (!r->arena)
        return;
    arena_reset(r->arena);
    r->bytes = 0;
    r->read = NULL;
    r->read_count = r->read_capacity = 0;
}

enum status spill_rows_chunk(struct spill_rows_reader *r, uint32_t chunk, struct batch *out)
{
    const struct spill_rows *s = r->store;
    if (chunk >= s->disk_chunks) {
        rows_chunk(&s->rows, chunk - s->disk_chunks, out);
        return STATUS_OK;
    }
    if (!find_read(r, chunk, &r->last)) {
        struct spill_reader reader;
        bool end;
        if (r->read_count == r->read_capacity) {
            uint32_t capacity = r->read_capacity ? r->read_capacity * 2 : 8;
            r->read = arena_grow(r->arena, r->read, r->read_capacity * sizeof *r->read, capacity * sizeof *r->read);
            r->read_capacity = capacity;
        }
        struct read_chunk *read = &r->read[r->read_count];
        struct arena *arena = arena_open(r->arena, "chunk");
        spill_read_range(s->file, s->offsets[chunk], chunk + 1 < s->disk_chunks ? s->offsets[chunk + 1] : spill_bytes(s->file), arena, &reader);
        enum status status = spill_read(&reader, &read->batch, &end);
        if (status)
            return status;
        ASSERT(!end);
        read->chunk = chunk;
        r->bytes += arena_bytes(arena);
        r->last = r->read_count++;
    }
    *out = r->read[r->last].batch;
    return STATUS_OK;
}
