/* engine/plan/stats.h - what is known of a column's values: gathered by ANALYZE from a sample, read by the planner.
 *
 *     status = stats_gather(session, table, &result);       reads a sample of the table's pages
 *     catalog_store_statistics(session, table, result.rows, result.pages, result.columns);
 *
 * The meaning of the numbers is PostgreSQL's: distinct > 0 is a count, < 0 a fraction of the rows; the most common values
 * with their fractions of all rows; histogram bounds that cut the other values into equal parts; correlation of the
 * values' order with the rows' order on disk. Values are of the column's type. */
#ifndef ENGINE_PLAN_STATS_H
#define ENGINE_PLAN_STATS_H

#include "engine/catalog/catalog.h"
#include "engine/types/type.h"

struct column_statistics {
    struct sql_type type;
    double null_fraction, distinct, average_width, correlation;
    uint16_t common_count; struct value *common; double *common_fractions;
    uint16_t bound_count; struct value *bounds;      /* 0, or 2 and more, rising */
};

struct stats_result { double rows, pages; uint64_t sampled; const struct column_statistics **columns; /* by attnum - 1; NULL: dropped */ };
enum status stats_gather(struct session *, struct arena *, const struct table *, struct stats_result *out) MUST_CHECK;
/* ANALYZE of one table: gathers and stores. */
enum status stats_analyze(struct session *, const struct table *) MUST_CHECK;

/* As bytes for the catalog, and back. CORRUPT when the bytes aren't what stats_write made. */
void        stats_write(const struct column_statistics *, struct text_buffer *out);
enum status stats_read(const uint8_t *bytes, size_t length, struct sql_type, struct arena *, struct column_statistics **out) MUST_CHECK;

#endif
