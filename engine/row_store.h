/* engine/row_store.h - rows kept aside in order: a portal's or cursor's result that is handed out in slices.
 * Held in memory up to a limit, then in an unlinked temporary file. Row n can be read again at any time. */
#ifndef ENGINE_ROW_STORE_H
#define ENGINE_ROW_STORE_H

#include "engine/types/type.h"

struct row_store;
struct row_store *row_store_open(const struct sql_type *types, uint16_t column_count, uint64_t memory_bytes, const char *directory);
void        row_store_close(struct row_store *);
enum status row_store_add(struct row_store *, const struct batch *) MUST_CHECK;
/* Of all rows that were added. */
uint64_t    row_store_count(const struct row_store *);
/* Rows before that one are not asked for any more; numbers stay. They go when they are the larger part. */
enum status row_store_forget(struct row_store *, uint64_t first) MUST_CHECK;
/* Rows first .. first+count-1 (count <= BATCH_ROWS) as a batch in the arena. */
enum status row_store_read(struct row_store *, uint64_t first, uint16_t count, struct arena *, struct batch *out) MUST_CHECK;

#endif
