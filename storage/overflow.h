/* storage/overflow.h - private to the heap: values too long for a page of rows, in chains of pages of their own.
 *
 * A chain is written before the version that points to it, under the transaction's id. Its first page counts the
 * versions that point to it. A chain nobody points to, whose writer is over, is garbage: vacuum's sweep frees it. */
#ifndef STORAGE_OVERFLOW_H
#define STORAGE_OVERFLOW_H

#include "storage/heap.h"

struct heap_state;
struct overflow_ref { uint32_t first_page, length; xid_t xid; };
_Static_assert(sizeof(struct overflow_ref) == 16, "on-disk size");
#define OVERFLOW_THRESHOLD (PAGE_BYTES / 8)

enum status overflow_write(const struct heap *, struct heap_state *, xid_t, const uint8_t *bytes, uint32_t length, struct overflow_ref *out) MUST_CHECK;
enum status overflow_read(const struct heap *, const struct overflow_ref *, uint8_t *out) MUST_CHECK;

enum status overflow_same(const struct heap *, const struct overflow_ref *, const uint8_t *bytes, uint32_t length, bool *same) MUST_CHECK;

/* Changes of reference counts that one mtr makes. */
#define OVERFLOW_DELTAS 56                   /* leaves room in an mtr for two pages of rows */
struct overflow_deltas {
    uint32_t count;
    struct overflow_delta { uint32_t page; int32_t change; uint8_t *bytes; } items[OVERFLOW_DELTAS];
};
bool        overflow_deltas_add(struct overflow_deltas *, uint32_t first_page, int32_t change);   /* false: full */
enum status overflow_deltas_fetch(const struct heap *, struct overflow_deltas *, struct mtr *) MUST_CHECK;   /* latches them, joins */
void        overflow_deltas_apply(const struct heap *, struct overflow_deltas *, struct mtr *);

enum status overflow_sweep(const struct heap *, struct heap_state *, uint64_t *freed_pages) MUST_CHECK;
enum status overflow_check(const struct heap *, const struct overflow_ref *) MUST_CHECK;   /* the chain is whole */

#endif
