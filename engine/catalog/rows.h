/* engine/catalog/rows.h - reading and writing rows of the catalogs: plain heap and tree calls, without the SQL engine, since the
 * engine itself stands on them. Values are in the catalog's column order. */
#ifndef ENGINE_CATALOG_ROWS_H
#define ENGINE_CATALOG_ROWS_H

#include "engine/catalog/schema.h"

struct catalog_access { struct store *store; struct txn *txn; struct arena *arena; lsn_t limit; };   /* limit: of the snapshot that several scans share; 0: the latest for each */
void catalog_access_open(struct session *, struct arena *, struct catalog_access *out);

struct catalog_row { const struct value *values; uint64_t row_id; };
/* Rows whose leading index columns equal the keys, in index order; index -1: all rows in heap order. Sees all that is committed and the
 * transaction's own changes. A visit may change rows of the catalog. STATUS_STOP from visit ends the scan and is no error. */
enum status catalog_scan(const struct catalog_access *, enum catalog_id, int index, const struct value *keys, uint16_t key_count,
                         enum status (*visit)(void *context, const struct catalog_row *), void *context) MUST_CHECK;
/* The first such row, copied to the arena; *found false when there is none. */
enum status catalog_get(const struct catalog_access *, enum catalog_id, int index, const struct value *keys, uint16_t key_count, struct catalog_row *out, bool *found) MUST_CHECK;
enum status catalog_insert(const struct catalog_access *, enum catalog_id, const struct value *values) MUST_CHECK;   /* UNIQUE_VIOLATION: the caller words it */
enum status catalog_update(const struct catalog_access *, enum catalog_id, uint64_t row_id, const struct value *values) MUST_CHECK;
/* *moved: another transaction changed the row before, and nothing was done. */
enum status catalog_update_unless_moved(const struct catalog_access *, enum catalog_id, uint64_t row_id, const struct value *values, bool *moved) MUST_CHECK;
enum status catalog_delete(const struct catalog_access *, enum catalog_id, uint64_t row_id) MUST_CHECK;
/* Deletes all rows with those keys. */
enum status catalog_delete_all(const struct catalog_access *, enum catalog_id, int index, const struct value *keys, uint16_t key_count) MUST_CHECK;

static inline struct value value_oid(uint32_t oid) { return (struct value){.oid = oid}; }
static inline struct value value_i2(int16_t n) { return (struct value){.i2 = n}; }
static inline struct value value_i4(int32_t n) { return (struct value){.i4 = n}; }
static inline struct value value_i8(int64_t n) { return (struct value){.i8 = n}; }
static inline struct value value_bool(bool b) { return (struct value){.b = b}; }
static inline struct value value_char(char c) { return (struct value){.c = (int8_t)c}; }
static inline struct value value_f4(float f) { return (struct value){.f4 = f}; }
static inline struct value value_null(void) { return (struct value){.null = true}; }
struct value value_text(const char *);                        /* NULL: null. The bytes are the caller's */
char *value_string(struct arena *, const struct value *);     /* a text value with a final NUL; NULL when null */

#endif
