/* storage/visibility.h - private to the heap: the visibility map, which says of each page what the page's own flag says.
 *
 * A page that carries PAX_ALL_VISIBLE has the bit SPACE_VISIBLE set in its byte of the space file, any other page hasn't.
 * Whoever changes the flag changes the bit in the same mini-transaction, so that no crash parts the two:
 *
 *     mtr_join(&mtr, &heap_page);  ... overflow pages ...
 *     status = visibility_join(heap, heap_page.bytes, &mtr);      may fail: before the first change
 *     ... visibility_clear(&mtr, heap, page)                      with the flag
 *
 * Why a map, when the page could be asked itself: it is a sixteen-thousandth of the table. An index-only scan asks it for
 * all entries of a leaf under one latch, and touches no page of the table. It is asked while the leaf is latched
 * (btree.h, btree_judge); heap.h, heap_map_visible, says what the answer means. */
#ifndef STORAGE_VISIBILITY_H
#define STORAGE_VISIBILITY_H

#include "storage/heap.h"

/* The map's page for a heap page whose flag is set, so that it can be taken away: latched EXCLUSIVE, joined. Nothing where the flag is not set.
 * Two heap pages: the lower first. */
enum status visibility_join(const struct heap *, const uint8_t *heap_page, struct mtr *) MUST_CHECK;
/* The same for a page that is about to get its flag; makes the map longer where it must be. */
enum status visibility_join_page(const struct heap *, uint32_t page, struct mtr *) MUST_CHECK;
void        visibility_clear(struct mtr *, const struct heap *, uint32_t page);
void        visibility_set(struct mtr *, const struct heap *, uint32_t page);
/* What the map says of one page; for the checker. */
enum status visibility_of(const struct heap *, uint32_t page, bool *visible) MUST_CHECK;

#endif
