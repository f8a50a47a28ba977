/* engine/exec/row_table.h - distinct rows with numbers: the hash table of GROUP BY, DISTINCT, INTERSECT and UNION.
 *
 * Rows get numbers from 0 in the order in which they first came. Nulls are equal to each other. One thread at a time.
 * How a row is found hangs on its key, and may change as the table grows (row_table.c): by direct index, by one word, by two
 * words into which a short key is packed, or by its hash. Who uses the table doesn't see which. */
#ifndef ENGINE_EXEC_ROW_TABLE_H
#define ENGINE_EXEC_ROW_TABLE_H

#include "engine/exec/batch.h"

#define ROW_TABLE_NONE UINT32_MAX

struct row_table {
    struct arena *arena;
    struct rows keys;
    uint32_t count;
    enum row_table_way { WAY_DENSE, WAY_WORD, WAY_PACKED, WAY_HASHED } way;
    /* entries below are a row's number + 1; 0: none */
    uint32_t *dense; int64_t low; uint64_t range;                             /* DENSE: of key low + x, at x */
    struct word_slot { uint64_t word; uint32_t entry, unused; } *words;       /* WORD */
    struct packed_slot { uint64_t word[2]; uint32_t entry, unused; } *packed; /* PACKED */
    struct hashed_slot { uint32_t tag, entry; } *hashed;                      /* HASHED, and keys too long for PACKED; tag: upper half of the hash */
    uint64_t slot_count, hashed_slot_count;  /* of words or packed; of hashed: powers of two */
    uint32_t hashed_count;               /* rows in hashed */
    uint64_t *hashes; uint32_t hash_capacity;    /* by number, of rows in hashed */
    int64_t  least, most;                /* WORD: of the keys */
    uint32_t null_entry;                 /* DENSE, WORD: the null row's; it is in no slot */
    bool *bitwise;                       /* by key */
    uint64_t slot_bytes;
};
void row_table_open(struct row_table *, struct arena *, const struct sql_type *types, uint16_t key_count);
/* entries[k]: the number of the row at positions[k] (NULL: k); rows that aren't there yet are added. hashes: those of hash_columns, when
 * the caller has them, or NULL. */
void row_table_add(struct row_table *, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries);
/* The same without adding: ROW_TABLE_NONE where there is none. */
void row_table_find(struct row_table *, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries);
static inline uint32_t row_table_count(const struct row_table *t) { return t->count; }
uint64_t row_table_bytes(const struct row_table *);

#endif
