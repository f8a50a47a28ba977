/* storage/space.h - private to the heap: the free-space map, a byte for each heap page.
 *
 * The byte says which fraction of a page (of 255) is free for new rows: 0 full, or being filled by somebody. It is a
 * hint: who takes a page from it looks at the page itself. */
#ifndef STORAGE_SPACE_H
#define STORAGE_SPACE_H

#include "storage/heap.h"

enum status space_set(const struct heap *, uint32_t page, uint8_t category) MUST_CHECK;     /* one mtr; nothing when it says so already */
/* The first page at or past `from` with at least that category, marked 0 in the same step. *page = UINT32_MAX: none. */
enum status space_take(const struct heap *, uint32_t from, uint32_t page_count, uint8_t at_least, uint32_t *page) MUST_CHECK;

#endif
