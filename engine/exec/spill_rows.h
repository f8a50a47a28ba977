/* engine/exec/spill_rows.h - rows kept in their order, on disk as far as they outgrow work_mem, and read again at any place.
 *
 *     spill_rows_open(&kept, worker, arena, types, columns);
 *     spill_rows_append(&kept, batch, positions, count);  ...          as they come
 *     spill_rows_finish(&kept);
 *     spill_rows_reader_open(&reader, &kept, arena);
 *     spill_rows_chunk(&reader, chunk, &batch);                        rows chunk * ROWS_CHUNK and on
 *
 * Row n is position n % ROWS_CHUNK of chunk n / ROWS_CHUNK, wherever it lies, so who reads does not see which rows are on disk. One
 * thread at a time writes; once it is finished any number of readers may stand in it, each in one thread (they share the file: one at
 * a time reads). Temporary files are closed by spill_rows_close, or at the run's end. */
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
    uint64_t *offsets; uint32_t disk_chunks, offset_capacity;     /* by chunk: where it begins */
};
void        spill_rows_open(struct spill_rows *, struct worker *, struct arena *, const struct sql_type *types, uint16_t column_count);
enum status spill_rows_append(struct spill_rows *, const struct batch *, const row_pos *positions, uint16_t count) MUST_CHECK;
enum status spill_rows_finish(struct spill_rows *) MUST_CHECK;           /* no more rows come */
void        spill_rows_close(struct spill_rows *);                       /* empty, and no file */
static inline uint32_t spill_rows_chunks(const struct spill_rows *s) { return (uint32_t)((s->count + ROWS_CHUNK - 1) / ROWS_CHUNK); }
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
