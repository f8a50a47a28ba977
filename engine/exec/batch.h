/* engine/exec/batch.h - copying values between vectors, and rows kept in memory.
 *
 * Batches that operators hand on are valid during the call only. Who wants to keep rows copies them into a `struct rows`:
 * chunks of ROWS_CHUNK rows laid out by column, so that a kept chunk is a batch again without further work. Row n is
 * position n % ROWS_CHUNK of chunk n / ROWS_CHUNK. The bytes of varying values are copied into the arena too.
 * One thread at a time. */
#ifndef ENGINE_EXEC_BATCH_H
#define ENGINE_EXEC_BATCH_H

#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"
#include "engine/types/type.h"

#define ROWS_CHUNK 1024

struct chunk { uint16_t count, capacity; struct vector *columns; };
struct rows {
    struct arena *arena;
    uint16_t column_count;
    const struct sql_type *types;
    struct chunk *chunks;
    uint32_t chunk_count, chunk_capacity;
    uint64_t count;
    uint64_t bytes;                      /* about how much memory they take */
};

static inline size_t width_bytes(uint8_t width) { return width == WIDTH_VARLEN ? sizeof(struct varlen) : width; }

void rows_open(struct rows *, struct arena *, const struct sql_type *types, uint16_t column_count);
void rows_append(struct rows *, const struct batch *);                   /* the selected rows, in order */
void rows_append_some(struct rows *, const struct batch *, const row_pos *positions, uint16_t count);
/* For who fills chunks himself, and then adds to chunk->count and rows->count: a chunk with room for count (at most ROWS_CHUNK) more rows at its
 * end; a column's null bytes (0 where nobody wrote); the bytes of varying values [at, at + count) into the arena. Chunks stay partly
 * filled, so such rows are read by rows_chunk only. */
struct chunk *rows_room(struct rows *, uint16_t count);
uint8_t *rows_nulls(struct rows *, struct chunk *, uint16_t column);
void rows_keep_bytes(struct rows *, struct chunk *, uint16_t column, uint16_t at, uint16_t count);
void rows_chunk(const struct rows *, uint32_t chunk, struct batch *out); /* all selected; columns are the chunk's own */
static inline const struct vector *rows_column(const struct rows *r, uint64_t row, uint16_t column) { return &r->chunks[row / ROWS_CHUNK].columns[column]; }
static inline uint16_t rows_at(uint64_t row) { return (uint16_t)(row % ROWS_CHUNK); }

/* A vector with room for `capacity` values and a null byte each (not zeroed). */
void vector_make(struct vector *, struct arena *, uint8_t width, size_t capacity);
/* to[to_at + k] = from[positions[k]]; positions NULL: 0 .. count-1. Varying values: the description only, not the bytes.
 * to->nulls must exist where from may hold nulls. */
void vector_gather(const struct vector *from, const row_pos *positions, size_t count, struct vector *to, size_t to_at);
/* One value; nulls as above. */
void vector_copy_one(const struct vector *from, size_t at, struct vector *to, size_t to_at);
/* A constant vector that shows *value, which must stay. */
static inline void vector_of_value(struct vector *v, const struct value *value, uint8_t width)
{
    v->values = (void *)value->bytes;
    v->nulls = value->null ? (uint8_t *)&value->null : NULL;
    v->width = width;
    v->constant = true;
}
/* Copies the bytes of a varying value into the arena. */
void value_keep(struct sql_type, struct value *, struct arena *);

/* Selected position number n of a batch. */
static inline row_pos batch_row(const struct batch *b, size_t n) { return b->all_selected ? (row_pos)n : b->selection[n]; }
#define BATCH_EACH(b, i) uint16_t n_##i = 0, i; n_##i < (b)->selected_count && (i = batch_row((b), n_##i), 1); n_##i++

/* Hashes of the key columns, for the given positions: hashes[k] belongs to positions[k]. */
void hash_columns(const struct sql_type *types, const struct vector *keys, uint16_t key_count, const row_pos *positions, size_t count, uint64_t *hashes);
/* Bitwise equality is the type's equality. */
bool type_bitwise(struct sql_type);
/* Equal as GROUP BY and DISTINCT see it: two nulls are the same. */
static inline bool same_value(struct sql_type type, const struct vector *a, size_t i, const struct vector *b, size_t j)
{
    bool a_null = vector_null(a, i), b_null = vector_null(b, j);
    if (a_null || b_null)
        return a_null && b_null;
    return type_compare(type, a, vector_at(a, i), b, vector_at(b, j)) == 0;
}

#endif
