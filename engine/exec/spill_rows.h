/* engine/exec/spill_rows.h - rows kept in their order, on disk as far as they outgrow work_mem, and read again at any place.
 *
 *     spill_rows_open(&kept, worker, arena, types, columns);
 *     spill_rows_append(&kept, batch, positions, count);  ...          as they come
 *     spill_rows_finish(&kept);
 *     spill_rows_reader_open(&reader, &kept, arena);
 *     spill_rows_chunk(&reader, chunk, &batch);                        rows spill_rows_first(&kept, chunk) and on
 *
 * A chunk ends at each multiple of ROWS_CHUNK rows. On disk it may end before, where its rows are so wide that they must go before there are as
 * many; what is counted in rows (grains are) hangs on none of that. One
 * thread at a time writes; once it is finished nothing of it changes, and any number of readers may stand in it, each in one thread, all at
 * once. Temporary files are closed by spill_rows_close, or at the run's end. */
#ifndef ENGINE_EXEC_SPILL_ROWS_H
#define ENGINE_EXEC_SPILL_ROWS_H

#include "engine/exec/spill.h"

struct spill_rows {
    struct worker *worker;               /* who writes */
    const struct sql_type *types; uint16_t column_count;
    struct arena *parent, *arena;        /* arena: of the rows in memory; a new one when they go to disk */
    struct rows rows;                    /* in memory: from chunk disk_chunks on */
    uint64_t limit;                      /* bytes that may stay in memory */
    uint64_t count;
    struct spill_file *file;             /* NULL: all is in memory */
    uint64_t first;                      /* the number of the first row in memory */
    struct disk_chunk { uint64_t first, offset; } *on_disk; uint32_t disk_chunks, disk_capacity;      /* first: its first row */
};
void        spill_rows_open(struct spill_rows *, struct worker *, struct arena *, const struct sql_type *types, uint16_t column_count);
enum status spill_rows_append(struct spill_rows *, const struct batch *, const row_pos *positions, uint16_t count) MUST_CHECK;
enum status spill_rows_finish(struct spill_rows *) MUST_CHECK;           /* no more rows come */
void        spill_rows_close(struct spill_rows *);                       /* empty, and no file */
static inline uint32_t spill_rows_chunks(const struct spill_rows *s) { return s->disk_chunks + s->rows.chunk_count; }
static inline uint64_t spill_rows_first(const struct spill_rows *s, uint32_t chunk)
{
    return chunk < s->disk_chunks ? s->on_disk[chunk].first : s->first + (uint64_t)(chunk - s->disk_chunks) * ROWS_CHUNK;
}
uint32_t    spill_rows_chunk_of(const struct spill_rows *, uint64_t row);
static inline uint64_t spill_rows_disk_bytes(const struct spill_rows *s) { return s->file ? spill_bytes(s->file) : 0; }

/* Chunks that were read stay, and what points into them, until the reader forgets them: it is asked for more than `limit` bytes then
 * (spill_rows_crowded), but it never forgets by itself. */
struct spill_rows_reader {
    const struct spill_rows *store;
    struct arena *arena;
    uint64_t bytes;
    struct read_chunk { uint32_t chunk; struct batch batch; } *read; uint32_t read_count, read_capacity, last;
};
void        spill_rows_reader_open(struct spill_rows_reader *, const struct spill_rows *, struct arena *);
enum status spill_rows_chunk(struct spill_rows_reader *, uint32_t chunk, struct batch *out) MUST_CHECK;
/* Would reading that chunk be more than may stay in memory? */
bool        spill_rows_crowded(const struct spill_rows_reader *, uint32_t chunk);
void        spill_rows_forget(struct spill_rows_reader *);

#endif
