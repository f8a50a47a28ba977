/* engine/exec/spill_set.c - rows dealt out by the hash of their key: aggregates and hash joins work off a partition after the other (see spill.h).
 *
 * Each partition's rows wait in memory, in chunks of columns; chunks may be filled only partly, so that a batch's rows of a partition
 * always lie in one. When that outgrows keep_bytes, all of them go to the partitions' files. */
#include "engine/exec/spill.h"

void spill_set_open(struct spill_set *set, struct run *run, struct arena *arena, const struct sql_type *types, uint16_t column_count)
{
    *set = (struct spill_set){ .run = run, .arena = arena, .types = types, .column_count = column_count };
}

static enum status write_waiting(struct spill_set *set, uint32_t partition)
{
    struct rows *rows = &set->waiting[partition];
    enum status status = STATUS_OK;
    if (!set->files[partition])
        status = spill_open(set->run, set->types, set->column_count, &set->files[partition]);
    for (uint32_t c = 0; c < rows->chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(rows, c, &batch);
        status = spill_write(set->files[partition], &batch);
    }
    set->bytes -= rows->bytes;
    arena_reset(set->waiting_arenas[partition]);
    rows_open(rows, set->waiting_arenas[partition], set->types, set->column_count);
    return status;
}

/* Where the next rows of each partition go. */
struct dealing { uint8_t part[ROWS_CHUNK]; uint16_t count[SPILL_PARTITIONS], at[SPILL_PARTITIONS]; struct chunk *chunk[SPILL_PARTITIONS]; };

#define SCATTER(type)                                                                   \
    do {                                                                                \
        type *to[SPILL_PARTITIONS];                                                     \
        const type *in = from->values;                                                  \
        for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)                                 \
            to[p] = d->count[p] ? (type *)d->chunk[p]->columns[column].values + d->at[p] : NULL; \
        if (from->constant)                                                             \
            for (uint16_t k = 0; k < count; k++) *to[d->part[k]]++ = in[0];             \
        else if (positions)                                                             \
            for (uint16_t k = 0; k < count; k++) *to[d->part[k]]++ = in[positions[k]];  \
        else                                                                            \
            for (uint16_t k = 0; k < count; k++) *to[d->part[k]]++ = in[first + k];     \
    } while (0)

static void scatter_nulls(struct spill_set *set, struct dealing *d, const struct vector *from, uint16_t column, const row_pos *positions, uint16_t first, uint16_t count)
{
    uint8_t *to[SPILL_PARTITIONS], any = 0;
    for (uint16_t k = 0; k < count; k++)
        any |= from->nulls[from->constant ? 0 : positions ? positions[k] : first + k];
    if (!any)                            /* null bytes that are there already are 0 */
        return;
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
        if (d->count[p])
            to[p] = rows_nulls(&set->waiting[p], d->chunk[p], column) + d->at[p];
    for (uint16_t k = 0; k < count; k++)
        *to[d->part[k]]++ = from->nulls[from->constant ? 0 : positions ? positions[k] : first + k];
}

static void scatter(struct spill_set *set, struct dealing *d, const struct vector *from, uint16_t column, const row_pos *positions, uint16_t first, uint16_t count)
{
    switch (from->width) {
    case 1: SCATTER(uint8_t); break;
    case 2: SCATTER(uint16_t); break;
    case 4: SCATTER(uint32_t); break;
    case 8: SCATTER(uint64_t); break;
    default: SCATTER(struct varlen); break;      /* 16 bytes, and varying */
    }
    if (from->nulls)
        scatter_nulls(set, d, from, column, positions, first, count);
    if (from->width == WIDTH_VARLEN)
        for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
            if (d->count[p])
                rows_keep_bytes(&set->waiting[p], d->chunk[p], column, d->at[p], d->count[p]);
}

/* Up to ROWS_CHUNK rows; without positions: those from `first` on. One loop a column deals out its values. */
static enum status deal_out(struct spill_set *set, const struct batch *batch, const row_pos *positions, uint16_t first, uint16_t count, const uint64_t *hashes)
{
    struct dealing d;
    memset(d.count, 0, sizeof d.count);
    for (uint16_t k = 0; k < count; k++) {
        d.part[k] = (uint8_t)spill_partition(hashes[k], set->level);
        d.count[d.part[k]]++;
    }
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++) {
        if (!d.count[p])
            continue;
        struct rows *waiting = &set->waiting[p];
        if (!set->waiting_arenas[p]) {
            set->waiting_arenas[p] = arena_open(set->arena, "spilled rows");
            rows_open(waiting, set->waiting_arenas[p], set->types, set->column_count);
        }
        set->bytes -= waiting->bytes;
        d.chunk[p] = rows_room(waiting, d.count[p]);
        d.at[p] = d.chunk[p]->count;
    }
    for (uint16_t c = 0; c < set->column_count; c++)
        scatter(set, &d, &batch->columns[c], c, positions, first, count);
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++) {
        if (!d.count[p])
            continue;
        struct rows *waiting = &set->waiting[p];
        d.chunk[p]->count = (uint16_t)(d.chunk[p]->count + d.count[p]);
        waiting->count += d.count[p];
        set->bytes += waiting->bytes;
        if (!set->keep_bytes && (waiting->count >= ROWS_CHUNK || waiting->bytes > 256 << 10)) {
            enum status status = write_waiting(set, p);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

static enum status write_all(struct spill_set *set)
{
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++)
        if (set->waiting_arenas[p] && set->waiting[p].count)
            status = write_waiting(set, p);
    return status;
}

enum status spill_set_add(struct spill_set *set, const struct batch *batch, const row_pos *positions, uint16_t count, const uint64_t *hashes)
{
    enum status status = STATUS_OK;
    for (uint16_t first = 0; first < count && !status; first = (uint16_t)(first + ROWS_CHUNK)) {
        uint16_t some = (uint16_t)(count - first < ROWS_CHUNK ? count - first : ROWS_CHUNK);
        status = deal_out(set, batch, positions ? positions + first : NULL, first, some, hashes + first);
    }
    if (status || !set->keep_bytes || set->bytes <= set->keep_bytes)
        return status;
    return write_all(set);
}

bool spill_set_on_disk(const struct spill_set *set)
{
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
        if (set->files[p])
            return true;
    return false;
}

void spill_set_read_from_start(struct spill_set *set, uint32_t partition, struct arena *arena, struct spill_set_reader *out)
{
    *out = (struct spill_set_reader){ .set = set, .partition = partition, .file = set->files[partition] != NULL };
    if (out->file)
        spill_read_from_start(set->files[partition], arena, &out->reader);
}

enum status spill_set_read(struct spill_set_reader *reader, struct batch *out, bool *end)
{
    *end = false;
    if (reader->file) {
        enum status status = spill_read(&reader->reader, out, end);
        if (status || !*end)
            return status;
        reader->file = false;
    }
    const struct rows *rows = &reader->set->waiting[reader->partition];
    *end = reader->chunk >= rows->chunk_count;
    if (!*end)
        rows_chunk(rows, reader->chunk++, out);
    return STATUS_OK;
}

enum status spill_set_flush(struct spill_set *set)
{
    enum status status = write_all(set);
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++)
        if (set->files[p])
            status = spill_flush(set->files[p]);
    return status;
}

void spill_set_close(struct spill_set *set)
{
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
        if (set->files[p]) {
            spill_close(set->files[p]);
            set->files[p] = NULL;
        }
}
