/* storage/zone.h - zone maps: what is known of whole pages of a heap without touching them.
 *
 * For a page that says of itself that all its rows are visible to everybody (PAX_ALL_VISIBLE), memory keeps how many rows
 * those are and, for columns that scans asked about, between which bounds their values lie. A scan then skips a page that
 * can't hold what it looks for, takes a page whole that holds nothing else, and counts rows without reading them.
 *
 *     map = zone_map(heap);                                     once a scan; takes no latch
 *     switch (zone_ask(map, page, tests, count, &rows, &seen))
 *         ZONE_NONE: no row of the page passes the tests        ZONE_ALL: all do, and there are `rows`
 *         ZONE_SOME: look at the page, and then, if look.settled:
 *             zone_learn(map, heap, &ref, &look, tests, count, seen)     with the pin alone
 *
 * Nothing of it is on disk, and all of it may be lost at any time. Why it is right:
 *
 * 1. An entry stands only while the page's flag stands: whoever takes the flag away (it has the page EXCLUSIVE) clears the
 *    entry before it lets the page go, so before it commits. A snapshot that contains the change was therefore taken
 *    after the entry was cleared; one that doesn't must not see the change, and the entry describes just what it sees.
 * 2. The flag comes back (vacuum) only when what is on the page is what every snapshot sees: two entries of one page that
 *    a scan could meet one after the other describe the same rows to it. So entries are read without a latch.
 * 3. Who learns read the entry's word (making it, if there was none) before it looked at the page, and puts its findings in by compare-and-swap from
 *    that word: clearing changes the word's version, so findings about rows that have changed since are dropped. While it
 *    has its snapshot and its pin the flag can't come back after it was taken away: what changed the page is not in that
 *    snapshot. So nobody learns about newer rows meanwhile, and bounds of two ages never mix.
 *
 * Bounds are kept as int64: integers as they are, floats by their order (-0 is 0, NaN is the greatest). Nulls count for
 * no bound. Tests: tests/storage/zone_test.c */
#ifndef STORAGE_ZONE_H
#define STORAGE_ZONE_H

#include "storage/heap.h"

#define ZONE_COLUMNS 16                      /* of a heap, in the order in which scans ask; others have no bounds */

enum zone_order { ZONE_INTEGER, ZONE_FLOAT };    /* how a column's bytes are ordered: signed integers, or floats */
struct zone_test {                           /* a row passes when low <= value <= high; a null doesn't */
    uint16_t column;                         /* of the heap; its width is 1, 2, 4 or 8 (floats: 4 or 8) */
    enum zone_order order;
    uint8_t  slot;                           /* zone_track's */
    int64_t  low, high;
};
enum zone_answer { ZONE_SOME, ZONE_NONE, ZONE_ALL };

struct zone_map;
struct zone_map *zone_map(const struct heap *);
/* Which slot of the map a column has. False: all are given to others, and the test must be left out. */
bool             zone_track(struct zone_map *, uint16_t column, uint8_t *slot);
enum zone_answer zone_ask(struct zone_map *, uint32_t page, const struct zone_test *, uint32_t count, uint16_t *rows, uint64_t *seen);
/* False: it was all known. */
bool             zone_learn(struct zone_map *, const struct heap *, const struct page_ref *, const struct heap_look *,
                            const struct zone_test *, uint32_t count, uint64_t seen);
/* The page's flag is being taken away; the page is latched EXCLUSIVE. */
void             zone_clear(const struct heap *, uint32_t page);

int64_t          zone_of_float(double);      /* the order of floats as integers */

/* heap_state.c's: the file is gone, or the store is being closed. Nobody scans it any more, nor changes it. */
void             zone_map_free(struct zone_map *);
uint64_t         zone_bytes(void);                   /* what all maps take: 8 bytes a page, and 16 for each column asked about */

#endif
