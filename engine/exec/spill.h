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
uint64_t    spill_bytes(const struct spill_file *);
struct spill_reader { struct spill_file *file; uint64_t offset; struct arena *arena; };
void        spill_read_from_start(struct spill_file *, struct arena *, struct spill_reader *out);   /* the arena is reset at each read */
enum status spill_read(struct spill_reader *, struct batch *out, bool *end) MUST_CHECK;
void        spill_close(struct spill_file *);
void        spill_close_all(struct run *);

#endif
