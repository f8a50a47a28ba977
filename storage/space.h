/* storage/space.h - private to the heap: the free-space map, a byte for each heap page.
 *
 * The byte's lower seven bits say which fraction of a page is free for new rows: 0 full, or being filled by somebody. That is a
 * hint: who takes a page from it looks at the page itself. Its upper bit is no hint: the visibility map (visibility.h). */
#ifndef STORAGE_SPACE_H
#define STORAGE_SPACE_H

#include "storage/heap.h"

#define SPACE_ENTRIES (PAGE_BYTES - PAGE_HEADER_BYTES)       /* heap pages that a page of the map tells of */
#define SPACE_VISIBLE 0x80
#define SPACE_ROOM    0x7f                                   /* 127: all of the page is free */
#define SPACE_ENOUGH  16                                     /* an eighth: for which new rows look */

enum status space_reach(const struct heap *, uint32_t page) MUST_CHECK;      /* makes the map long enough for that heap page */
enum status space_set(const struct heap *, uint32_t page, uint8_t room) MUST_CHECK;     /* one mtr; nothing when it says so already */
/* The first page at or past `from` with at least that room, marked 0 in the same step. *page = UINT32_MAX: none. */
enum status space_take(const struct heap *, uint32_t from, uint32_t page_count, uint8_t at_least, uint32_t *page) MUST_CHECK;

#endif
