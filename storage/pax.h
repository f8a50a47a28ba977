/* storage/pax.h - private to the heap: the bytes of a page of rows, laid out by column.
 *
 *     page_header | pax_head | pax_column x column_count | arrays, widest first | free room | bytes of varying length
 *                                                                               arrays_end  var_start     PAGE_BYTES
 *
 * Each array has `capacity` elements, element i being slot i's: the version fields (xmin, xmax, newer, cmin, cmax,
 * state), a value array a column, and a null byte array for each nullable column. Arrays in order of falling width
 * need no padding. A value of varying length is a cell in its column's array; its bytes grow down from the page's end.
 *
 * 1. What is fixed when a page is formatted (first half of pax_head, the columns' places) may be read with a pin alone;
 *    so may the values and null bytes of slots that a look under the latch has found. The rest needs the latch.
 * 2. FREE slots, and those at and past slot_count, have xmax, cmax, newer and null bytes of 0: a new row need not
 *    write them.
 * 3. states: FREE -> FILLED -> (pruned) REDIRECT, DEAD or FREE; REDIRECT -> DEAD; DEAD -> FREE. Slots never move. */
#ifndef STORAGE_PAX_H
#define STORAGE_PAX_H

#include <string.h>

#include "storage/heap.h"

enum slot_state { SLOT_FREE, SLOT_FILLED, SLOT_REDIRECT, SLOT_DEAD };
#define SLOT_STATE(byte)  ((byte) & 0x0f)
#define SLOT_HEAP_ONLY    0x10               /* no index entry points at it: reached through its root's chain */
#define SLOT_KEY_CHANGED  0x20               /* who ended it deleted it or changed its key: bars FOR KEY SHARE */

#define NEWER_SET         (UINT64_C(1) << 63)   /* in `newer` beside the row id, which may be 0 itself; ROW_PAGE and ROW_SLOT don't see it */
#define NEWER_ROW(newer)  ((newer) & ~NEWER_SET)

#define PAX_ALL_VISIBLE   1                  /* every FILLED slot is visible to every snapshot, none is DEAD; the visibility map says the same */

struct pax_head {
    /* fixed when the page is formatted */
    uint16_t column_count, capacity, arrays_end;
    uint16_t xmin, xmax, newer, cmin, cmax, states;              /* where the version arrays are */
    uint16_t unused;
    uint32_t layout;                         /* pax_layout() of the columns it was made with */
    /* under the latch */
    uint16_t slot_count;                     /* slots ever used: a scan looks at these */
    uint16_t var_start;
    uint16_t unfilled;                       /* of slot_count, how many are not FILLED */
    uint16_t flags;
};
_Static_assert(sizeof(struct pax_head) == 32, "on-disk size");
struct pax_column { uint16_t values, nulls; };                   /* nulls 0: not nullable */
struct pax_cell   { uint16_t offset, length; };                  /* length CELL_OVERFLOW: an overflow_ref lies at offset */
#define CELL_OVERFLOW 0xffff
#define PAX_HEAD_AT   PAGE_HEADER_BYTES
#define PAX_COUNTS_AT (PAX_HEAD_AT + 24)     /* slot_count .. flags: 8 bytes */

static inline struct pax_head *pax_head(const uint8_t *page) { return (struct pax_head *)(uintptr_t)(page + PAX_HEAD_AT); }
static inline struct pax_column *pax_columns(const uint8_t *page)
{
    return (struct pax_column *)(uintptr_t)(page + PAX_HEAD_AT + sizeof(struct pax_head));
}
static inline xid_t *pax_xmin(const uint8_t *page) { return (xid_t *)(uintptr_t)(page + pax_head(page)->xmin); }
static inline xid_t *pax_xmax(const uint8_t *page) { return (xid_t *)(uintptr_t)(page + pax_head(page)->xmax); }
static inline uint64_t *pax_newer(const uint8_t *page) { return (uint64_t *)(uintptr_t)(page + pax_head(page)->newer); }
static inline command_t *pax_cmin(const uint8_t *page) { return (command_t *)(uintptr_t)(page + pax_head(page)->cmin); }
static inline command_t *pax_cmax(const uint8_t *page) { return (command_t *)(uintptr_t)(page + pax_head(page)->cmax); }
static inline uint8_t *pax_states(const uint8_t *page) { return (uint8_t *)(uintptr_t)(page + pax_head(page)->states); }
static inline struct pax_cell *pax_cells(const uint8_t *page, uint16_t column)
{
    return (struct pax_cell *)(uintptr_t)(page + pax_columns(page)[column].values);
}
static inline uint8_t *pax_nulls(const uint8_t *page, uint16_t column)
{
    return pax_columns(page)[column].nulls ? (uint8_t *)(uintptr_t)(page + pax_columns(page)[column].nulls) : NULL;
}
static inline uint32_t pax_var_room(const uint8_t *page) { return (uint32_t)pax_head(page)->var_start - pax_head(page)->arrays_end; }
static inline uint8_t pax_width(const struct heap_column *column) { return column->width == WIDTH_VARLEN ? 4 : column->width; }
static inline bool pax_cell_null(const uint8_t *page, uint16_t column, uint16_t slot)
{
    const uint8_t *nulls = pax_nulls(page, column);
    return nulls && nulls[slot];
}

/* Bytes of the arrays for one row, and where the arrays end on a page of that capacity (may be past PAGE_BYTES). */
uint32_t pax_row_bytes(const struct heap_column *, uint16_t count);
uint32_t pax_arrays_end(const struct heap_column *, uint16_t count, uint32_t capacity);
/* The capacity for rows with so many bytes of varying length, at least `first_var` of which must fit: 1 .. PAX_MAX_SLOTS. */
uint16_t pax_capacity(const struct heap_column *, uint16_t count, uint32_t mean_var, uint32_t first_var);
/* Fills in the geometry of a page that mtr_format has zeroed. */
void     pax_format(uint8_t *page, const struct heap_column *, uint16_t count, uint16_t capacity);
/* A layout as one number: widths and nullability, in order. Two of the same count differ where ALTER TABLE … ADD COLUMN was rolled back and
 * another column got the number. Pages of the layout that is no more hold only dead versions: they are pruned, without a look at
 * their values (a long one's chain, if there was one, stays), and take no row. */
uint32_t pax_layout(const struct heap_column *, uint16_t count);
/* How many of the page's columns are the heap's: all, or (above) none. */
uint16_t pax_known_columns(const struct heap *, const uint8_t *page);
/* The page may take rows of the heap as it is now. */
bool     pax_takes(const struct heap *, const uint8_t *page);
/* Is the page what heap_page_look may take it for? CORRUPT if not. A page of zeros is fine (*empty). */
enum status pax_check_kind(const struct heap *, const struct page_ref *, bool *empty) MUST_CHECK;

#endif
