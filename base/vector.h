/* base/vector.h - a column of values in memory: what a heap page lends, what an expression makes.
 *
 * Storage, btree and engine speak of values in this one form. Storage knows a column as width and nullability only;
 * what the bytes mean is engine/types. Fixed-width values lie in an array with their natural alignment; values of
 * varying length are 16-byte struct varlen, whose bytes lie elsewhere (in a pinned page, or in an arena).
 *
 * A *batch* is some columns with one row count and a selection: the positions, rising, of the rows that count. Row i
 * of every vector in a batch is the same row. A vector of a heap page is the page's own array, uncopied: position i
 * is slot i. A constant vector has one value at position 0, for every row. */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct varlen { const uint8_t *bytes; uint32_t length; uint32_t unused; };   /* {NULL,0} where the row is null */
_Static_assert(sizeof(struct varlen) == 16, "varlen is 16 bytes");

#define WIDTH_VARLEN 0            /* a column's width in storage: 1, 2, 4, 8, 16, or this */

struct vector {
    void    *values;              /* row_count elements of width bytes; struct varlen when width is WIDTH_VARLEN */
    uint8_t *nulls;               /* one byte a row, 1 = null; NULL when no row is null */
    uint8_t  width;
    bool     constant;            /* position 0 holds for every row */
};

typedef uint16_t row_pos;         /* a position in a batch */
#define BATCH_ROWS 1024           /* the longest batch that operators make (a page may lend up to PAX_MAX_SLOTS, less than this * 4) */
#define BATCH_MAX  4096           /* the longest batch that anybody may hand on */

struct batch {
    struct vector *columns;
    uint16_t  column_count;
    uint16_t  row_count;          /* positions 0 .. row_count-1 exist */
    uint16_t  selected_count;
    bool      all_selected;       /* selection may be NULL then, and selected_count == row_count */
    row_pos  *selection;          /* selected_count rising positions */
    uint64_t  grain;              /* where these rows stand in the query's row order (engine/exec) */
    uint64_t *row_ids;            /* row id of each position (storage/heap.h), or NULL when nobody asked */
};

static inline size_t vector_at(const struct vector *v, size_t i) { return v->constant ? 0 : i; }
static inline bool vector_null(const struct vector *v, size_t i) { return v->nulls && v->nulls[vector_at(v, i)]; }
#define VECTOR(type, v, i) (((type *)(v)->values)[vector_at((v), (i))])

#endif
