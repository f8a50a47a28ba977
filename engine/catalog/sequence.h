/* engine/catalog/sequence.h - a sequence's file; its calls for SQL stand in catalog.h. */
#ifndef ENGINE_CATALOG_SEQUENCE_H
#define ENGINE_CATALOG_SEQUENCE_H

#include "engine/catalog/catalog.h"

enum status sequence_create_file(struct store *, struct txn *, int64_t start, uint32_t *file) MUST_CHECK;
/* What SELECT * FROM sequence shows. */
enum status sequence_read(struct session *, uint32_t file, int64_t *value, bool *called) MUST_CHECK;
enum status sequence_last(struct session *, int64_t *out) MUST_CHECK;   /* lastval() */

#endif
