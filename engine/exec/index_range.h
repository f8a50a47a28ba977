/* engine/exec/index_range.h - an index's bounds as ranges of key bytes: what index scans and bitmaps look up.
 *
 *     index_range_open(&r, index, &plan->bound, arena);
 *     key bytes of the equal columns into r.prefix;  then
 *     index_range_make(&r, low, high);               one range: r.low .. r.high
 *     index_range_keys(&r, &array, arena, &keys);    or one for each value of an array, index_range_key(&r, &keys[i]) */
#ifndef ENGINE_EXEC_INDEX_RANGE_H
#define ENGINE_EXEC_INDEX_RANGE_H

#include "engine/exec/operator.h"

struct index_range {
    const struct index *index;
    const struct index_bound *bound;
    struct text_buffer prefix, low, high;    /* an empty high means: no end */
};
void index_range_open(struct index_range *, const struct index *, const struct index_bound *, struct arena *);
/* The range of the column after the equal ones between two values (NULL: open), or IS NULL; all of the prefix without either. */
void index_range_make(struct index_range *, const struct value *low, const struct value *high);
/* column = ANY (array): the keys of its distinct values, in the order of the index. */
uint32_t index_range_keys(struct index_range *, const struct value *array, struct arena *, struct varlen **keys);
void index_range_key(struct index_range *, const struct varlen *key);

#endif
