/* engine/exec/spill_rows.c - rows kept in their order, on disk as far as they outgrow work_mem (see spill_rows.h).
 *
 * Rows gather in memory. When they take more than may stay, their full chunks are written, one batch each; the last chunk, not yet full,
 * begins the next lot. If that one is too much by itself, it is written as it is, and what follows ends where it would have ended. What is
 * read of the file lies in an arena of the reader. */
#include "engine/exec/spill_rows.h"

#define PART_LEAST (1u << 20)            /* bytes of a chunk that isn't full, for which it is written */

void spill_rows_open(struct spill_rows *s, struct worker *worker, struct arena *arena, const struct sql_type *types, uint16_t column_count)
{
    *s = (struct spill_rows){ .worker = worker, .types = types, .column_count = column_count, .parent = arena, .limit = (uint64_t)worker->run->work_mem };
    s->arena = arena_open(arena, "kept rows");
    rows_open(&s->rows, s->arena, types, column_count);
}

static enum status chunk_write(struct spill_rows *s, uint32_t chunk)
{
    struct batch batch;
    if (s->disk_chunks == s->disk_capacity) {
        uint32_t capacity = s->disk_capacity ? s->disk_capacity * 2 : 64;
        s->on_disk = arena_grow(s->parent, s->on_disk, s->disk_capacity * sizeof *s->on_disk, capacity * sizeof *s->on_disk);
        s->disk_capacity = capacity;
    }
    rows_chunk(&s->rows, chunk, &batch);
    s->on_disk[s->disk_chunks++] = (struct disk_chunk){ s->first, spill_bytes(s->file) };
    s->first += batch.row_count;
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

static enum status append(struct spill_rows *s, const struct batch *batch, const row_pos *positions, uint16_t count)
{
    rows_append_some(&s->rows, batch, positions, count);
    s->count += count;
    if (s->rows.bytes <= s->limit)
        return STATUS_OK;
    uint32_t full = s->rows.chunk_count;
    if (full && s->rows.chunks[full - 1].count < ROWS_CHUNK)
        full--;
    enum status status = full ? chunks_write(s, full) : STATUS_OK;
    if (!status && s->rows.bytes > s->limit && s->rows.bytes > PART_LEAST)
        status = chunks_write(s, s->rows.chunk_count);
    return status;
}

/* Where what is in memory begins within a chunk, the rest of that goes on to its end, and no further. */
enum status spill_rows_append(struct spill_rows *s, const struct batch *batch, const row_pos *positions, uint16_t count)
{
    row_pos some[ROWS_CHUNK];
    enum status status = STATUS_OK;
    for (uint16_t from = 0, n; from < count && !status; from = (uint16_t)(from + n)) {
        uint64_t room = s->first % ROWS_CHUNK ? (s->first / ROWS_CHUNK + 1) * ROWS_CHUNK - s->count : UINT64_MAX;
        n = (uint16_t)(count - from);
        if (from || room < n) {
            n = n < ROWS_CHUNK ? n : ROWS_CHUNK;
            n = room < n ? (uint16_t)room : n;
            for (uint16_t k = 0; k < n; k++)
                some[k] = positions ? positions[from + k] : (row_pos)(from + k);
            status = append(s, batch, some, n);
        } else {
            status = append(s, batch, positions, n);
        }
        if (!status && n == room && s->rows.count)
            status = chunks_write(s, s->rows.chunk_count);
    }
    return status;
}

enum status spill_rows_finish(struct spill_rows *s)
{
    enum status status = s->file ? chunks_write(s, s->rows.chunk_count) : STATUS_OK;
    return s->file && !status ? spill_flush(s->file) : status;
}

void spill_rows_close(struct spill_rows *s)
{
    if (s->file)
        spill_close(s->file);
    arena_close(s->arena);
    *s = (struct spill_rows){0};
}

uint32_t spill_rows_chunk_of(const struct spill_rows *s, uint64_t row)
{
    if (row >= s->first)
        return s->disk_chunks + (uint32_t)((row - s->first) / ROWS_CHUNK);
    uint32_t low = 0, high = s->disk_chunks;             /* the last that begins at row or before */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->on_disk[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
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
        spill_read_range(s->file, s->on_disk[chunk].offset, chunk + 1 < s->disk_chunks ? s->on_disk[chunk + 1].offset : spill_bytes(s->file), arena, &reader);
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
