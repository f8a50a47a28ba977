/* engine/exec/row_table.h - distinct rows with numbers: the hash table of GROUP BY, DISTINCT, INTERSECT and UNION.
 *
 * Rows get numbers from 0 in the order in which they first came. Nulls are equal to each other. One thread at a time. */
#ifndef ENGINE_EXEC_ROW_TABLE_H
#define ENGINE_EXEC_ROW_TABLE_H

#include "engine/exec/batch.h"

struct row_table {
    struct arena *arena;
    struct rows keys;
    uint64_t *hashes; uint32_t hash_capacity;       /* by number */
    struct row_slot { uint64_t word; uint32_t tag, entry; } *slots;   /* entry: number + 1, 0 free; tag: upper half of the hash; word: see one_word */
    uint32_t mask;
    bool one_word;                       /* one key, compared bitwise: it stands in the slot */
    uint32_t null_entry;                 /* one_word: the null row's number + 1; it is in no slot */
    bool *bitwise;                       /* by key */
};
void row_table_open(struct row_table *, struct arena *, const struct sql_type *types, uint16_t key_count);
/* entries[k]: the number of the row at positions[k]; rows that aren't there yet are added. */
void row_table_add(struct row_table *, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries);
/* The same without adding: UINT32_MAX where there is none. */
void row_table_find(const struct row_table *, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries);
static inline uint32_t row_table_count(const struct row_table *t) { return (uint32_t)t->keys.count; }
uint64_t row_table_bytes(const struct row_table *);

#endif
