/* engine/exec/spill.h - rows on disk when they outgrow work_mem.
 *
 * A spill file is an unnamed temporary file in DIR/pgsql_tmp. Batches are written one after another and read back in
 * the same order, each as one batch; any number of readers may stand at their own places. One thread at a time. All
 * files of a run are closed at its end, or earlier by spill_close. */
#ifndef ENGINE_EXEC_SPILL_H
#define ENGINE_EXEC_SPILL_H

#include "engine/exec/operator.h"

struct spill_file;
enum status spill_open(struct run *, const struct sql_type *types, uint16_t column_count, struct spill_file **out) MUST_CHECK;
enum status spill_write(struct spill_file *, const struct batch *) MUST_CHECK;           /* the selected rows; with its grain */
enum status spill_flush(struct spill_file *) MUST_CHECK;   /* everything is in the file: from now on several threads may read at once, each by a reader of its own */
uint64_t    spill_bytes(const struct spill_file *);
struct spill_reader { struct spill_file *file; uint64_t offset, end; struct arena *arena; };   /* end 0: of the file */
void        spill_read_from_start(struct spill_file *, struct arena *, struct spill_reader *out);   /* the arena is reset at each read */
void        spill_read_range(struct spill_file *, uint64_t from, uint64_t to, struct arena *, struct spill_reader *out);   /* places that spill_bytes said while it was written */
enum status spill_read(struct spill_reader *, struct batch *out, bool *end) MUST_CHECK;
void        spill_close(struct spill_file *);
/* Memory that lies in a temporary file (of its own: nothing is written to it): for what is more than work_mem, but has to be read at any place. Aligned to
 * 16, zeroed, and gone with the file. The disk's room for it is taken at once. One thread at a time. */
enum status spill_map(struct spill_file *, size_t bytes, void **out) MUST_CHECK;
void        spill_map_rest(struct spill_file *);         /* its pages leave the process; what is touched comes back */
/* Rows dealt out by the hash of their key: a file for each partition, rows gathered into full batches on the way. A partition that is still too
 * big for memory is dealt out again, by the hash's next bits (the next level); on the last level memory must do. It isn't worth it for less than SPILL_LEAST
 * bytes, which the files' own buffers take. */
#define SPILL_PARTITIONS 32
#define SPILL_LAST_LEVEL 3
#ifndef SPILL_LEAST
#define SPILL_LEAST (2u << 20)
#endif
static inline uint64_t spill_limit(uint64_t work_mem) { return work_mem > SPILL_LEAST ? work_mem : SPILL_LEAST; }
static inline uint32_t spill_partition(uint64_t hash, uint8_t level) { return (uint32_t)(hash >> (40 + 5 * level)) % SPILL_PARTITIONS; }
struct spill_set {
    uint8_t level;                       /* set after spill_set_open, if it isn't 0 */
    uint64_t keep_bytes, bytes;          /* keep_bytes: that much may stay in memory (0: nothing but what waits for a full batch) */
    struct run *run;
    const struct sql_type *types; uint16_t column_count;
    struct arena *arena, *waiting_arenas[SPILL_PARTITIONS];
    struct rows waiting[SPILL_PARTITIONS];
    struct spill_file *files[SPILL_PARTITIONS];
};
void        spill_set_open(struct spill_set *, struct run *, struct arena *, const struct sql_type *types, uint16_t column_count);
/* hashes[k] belongs to positions[k] (NULL: 0 .. count-1). */
enum status spill_set_add(struct spill_set *, const struct batch *, const row_pos *positions, uint16_t count, const uint64_t *hashes) MUST_CHECK;
enum status spill_set_flush(struct spill_set *) MUST_CHECK;              /* everything is in the files, which have no buffers any more */
bool        spill_set_on_disk(const struct spill_set *);
void        spill_set_close(struct spill_set *);
/* A partition's rows in the order they came: first what is on disk, then what is in memory. */
struct spill_set_reader { struct spill_set *set; uint32_t partition, chunk; struct spill_reader reader; bool file; };
void        spill_set_read_from_start(struct spill_set *, uint32_t partition, struct arena *, struct spill_set_reader *out);
enum status spill_set_read(struct spill_set_reader *, struct batch *out, bool *end) MUST_CHECK;
void        spill_close_all(struct run *);

#endif
