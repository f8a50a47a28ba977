/* engine/plan/stats.h - what ANALYZE knows of a column, and selectivity made from it.
 * (The catalog stores it as bytes and calls the first five functions; the rest is the planner's.) */
#ifndef ENGINE_PLAN_STATS_H
#define ENGINE_PLAN_STATS_H

#include "engine/catalog/catalog.h"

struct column_statistics {
    float    null_fraction;
    float    distinct;                   /* > 0: number of distinct values; < 0: minus their fraction of the rows, as PostgreSQL's stadistinct */
    float    correlation;
    int32_t  width;                      /* average bytes of a value */
    uint16_t common_count; struct value *common; float *common_fractions;      /* most common values, most common first */
    uint16_t bound_count; struct value *bounds;                                /* histogram of the rest: bound_count - 1 equal parts */
};

/* Samples the table and stores statistics of every column (catalog_store_statistics). */
enum status stats_gather(struct session *, const struct table *) MUST_CHECK;
void        stats_write(struct sql_type, const struct column_statistics *, struct text_buffer *out);
enum status stats_read(struct sql_type, const struct varlen *bytes, struct arena *, const struct column_statistics **out) MUST_CHECK;
void        stats_summary(const struct column_statistics *, float *null_fraction, int32_t *width, float *distinct);

#endif
