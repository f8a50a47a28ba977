/* engine/exec/batch.c - copying values between vectors, and rows kept in memory (see batch.h).
 *
 * A chunk's column has a null array only once a null came: kernels are faster on columns that have none. The first
 * chunk starts small and doubles, so that a query of one row doesn't pay for a thousand. */
#include "engine/exec/batch.h"
#include "base/hash.h"

void vector_make(struct vector *v, struct arena *arena, uint8_t width, size_t capacity)
{
    v->values = arena_alloc(arena, width_bytes(width) * (capacity ? capacity : 1));
    v->nulls = arena_alloc(arena, capacity ? capacity : 1);
    v->width = width;
    v->constant = false;
}

#define GATHER(type)                                                                    \
    do {                                                                                \
        type *out = (type *)to->values + to_at;                                         \
        const type *in = from->values;                                                  \
        if (from->constant)                                                             \
            for (size_t k = 0; k < count; k++) out[k] = in[0];                          \
        else if (positions)                                                             \
            for (size_t k = 0; k < count; k++) out[k] = in[positions[k]];               \
        else                                                                            \
            memcpy(out, in, count * sizeof(type));                                      \
    } while (0)

void vector_gather(const struct vector *from, const row_pos *positions, size_t count, struct vector *to, size_t to_at)
{
    if (count == 0)
        return;
    switch (from->width) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    default: GATHER(struct varlen); break;      /* 16 bytes, and varying */
    }
    if (!to->nulls)
        return;
    uint8_t *nulls = to->nulls + to_at;
    if (!from->nulls)
        memset(nulls, 0, count);
    else if (from->constant)
        memset(nulls, from->nulls[0], count);
    else if (positions)
        for (size_t k = 0; k < count; k++) nulls[k] = from->nulls[positions[k]];
    else
        memcpy(nulls, from->nulls, count);
}

void vector_copy_one(const struct vector *from, size_t at, struct vector *to, size_t to_at)
{
    at = vector_at(from, at);
    size_t bytes = width_bytes(from->width);
    memcpy((uint8_t *)to->values + to_at * bytes, (const uint8_t *)from->values + at * bytes, bytes);
    if (to->nulls)
        to->nulls[to_at] = from->nulls ? from->nulls[at] : 0;
}

void value_keep(struct sql_type type, struct value *value, struct arena *arena)
{
    if (type.width == WIDTH_VARLEN && !value->null)
        value->v.bytes = arena_copy(arena, value->v.bytes, value->v.length);
}

/* ---- rows ---- */

void rows_open(struct rows *rows, struct arena *arena, const struct sql_type *types, uint16_t column_count)
{
    *rows = (struct rows){ .arena = arena, .types = types, .column_count = column_count };
}

static struct chunk *chunk_add(struct rows *rows, uint16_t capacity)
{
    if (rows->chunk_count == rows->chunk_capacity) {
        uint32_t grown = rows->chunk_capacity ? rows->chunk_capacity * 2 : 4;
        rows->chunks = arena_grow(rows->arena, rows->chunks, rows->chunk_capacity * sizeof(struct chunk), grown * sizeof(struct chunk));
        rows->chunk_capacity = grown;
    }
    struct chunk *chunk = &rows->chunks[rows->chunk_count++];
    *chunk = (struct chunk){ .capacity = capacity, .columns = arena_array(rows->arena, struct vector, rows->column_count ? rows->column_count : 1) };
    for (uint16_t c = 0; c < rows->column_count; c++) {
        uint8_t width = rows->types[c].width;
        chunk->columns[c].width = width;
        chunk->columns[c].values = arena_alloc(rows->arena, width_bytes(width) * capacity);
        rows->bytes += width_bytes(width) * capacity;
    }
    return chunk;
}

static void chunk_grow(struct rows *rows, struct chunk *chunk, uint16_t capacity)
{
    for (uint16_t c = 0; c < rows->column_count; c++) {
        struct vector *v = &chunk->columns[c];
        size_t width = width_bytes(v->width);
        v->values = arena_grow(rows->arena, v->values, width * chunk->capacity, width * capacity);
        rows->bytes += width * (size_t)(capacity - chunk->capacity);
        if (v->nulls) {
            uint8_t *nulls = arena_zero(rows->arena, capacity);
            memcpy(nulls, v->nulls, chunk->count);
            v->nulls = nulls;
        }
    }
    chunk->capacity = capacity;
}

static bool any_null(const struct vector *from, const row_pos *positions, size_t count)
{
    if (!from->nulls)
        return false;
    if (from->constant)
        return from->nulls[0];
    uint8_t any = 0;
    if (positions)
        for (size_t k = 0; k < count; k++) any |= from->nulls[positions[k]];
    else
        for (size_t k = 0; k < count; k++) any |= from->nulls[k];
    return any;
}

/* The bytes of varying values that were just gathered move into the arena, all in one piece. */
static void keep_bytes(struct rows *rows, struct varlen *values, const uint8_t *nulls, size_t count)
{
    size_t total = 0;
    for (size_t k = 0; k < count; k++)
        if (!nulls || !nulls[k])
            total += values[k].length;
    uint8_t *to = arena_alloc(rows->arena, total ? total : 1);
    rows->bytes += total;
    for (size_t k = 0; k < count; k++) {
        if (nulls && nulls[k]) {
            values[k] = (struct varlen){0};
            continue;
        }
        if (values[k].length)
            memcpy(to, values[k].bytes, values[k].length);
        values[k].bytes = to;
        to += values[k].length;
    }
}

void rows_append_some(struct rows *rows, const struct batch *batch, const row_pos *positions, uint16_t count)
{
    size_t done = 0;
    while (done < count) {
        struct chunk *chunk = rows->chunk_count ? &rows->chunks[rows->chunk_count - 1] : NULL;
        if (!chunk || chunk->count == ROWS_CHUNK) {
            size_t want = rows->chunk_count ? ROWS_CHUNK : count - done;
            chunk = chunk_add(rows, want <= 16 ? 16 : ROWS_CHUNK);
        }
        size_t room = (size_t)(ROWS_CHUNK - chunk->count), take = count - done < room ? count - done : room;
        if (chunk->count + take > chunk->capacity)
            chunk_grow(rows, chunk, chunk->count + take <= 128 ? 128 : ROWS_CHUNK);
        for (uint16_t c = 0; c < rows->column_count; c++) {
            struct vector *to = &chunk->columns[c];
            struct vector from = batch->columns[c];
            const row_pos *at = positions ? positions + done : NULL;
            if (!positions && !from.constant) {
                from.values = (uint8_t *)from.values + done * width_bytes(from.width);
                from.nulls = from.nulls ? from.nulls + done : NULL;
            }
            if (!to->nulls && any_null(&from, at, take)) {
                to->nulls = arena_zero(rows->arena, chunk->capacity);
                rows->bytes += chunk->capacity;
            }
            vector_gather(&from, at, take, to, chunk->count);
            if (to->width == WIDTH_VARLEN)
                keep_bytes(rows, (struct varlen *)to->values + chunk->count, to->nulls ? to->nulls + chunk->count : NULL, take);
        }
        chunk->count = (uint16_t)(chunk->count + take);
        rows->count += take;
        done += take;
    }
}

struct chunk *rows_room(struct rows *rows, uint16_t count)
{
    struct chunk *chunk = rows->chunk_count ? &rows->chunks[rows->chunk_count - 1] : NULL;
    if (!chunk || chunk->count + count > ROWS_CHUNK)
        return chunk_add(rows, rows->chunk_count || count > 128 ? ROWS_CHUNK : 128);
    if (chunk->count + count > chunk->capacity)
        chunk_grow(rows, chunk, ROWS_CHUNK);
    return chunk;
}

uint8_t *rows_nulls(struct rows *rows, struct chunk *chunk, uint16_t column)
{
    struct vector *v = &chunk->columns[column];
    if (!v->nulls) {
        v->nulls = arena_zero(rows->arena, chunk->capacity);
        rows->bytes += chunk->capacity;
    }
    return v->nulls;
}

void rows_keep_bytes(struct rows *rows, struct chunk *chunk, uint16_t column, uint16_t at, uint16_t count)
{
    struct vector *v = &chunk->columns[column];
    keep_bytes(rows, (struct varlen *)v->values + at, v->nulls ? v->nulls + at : NULL, count);
}

void rows_append(struct rows *rows, const struct batch *batch)
{
    rows_append_some(rows, batch, batch->all_selected ? NULL : batch->selection, batch->selected_count);
}

void rows_chunk(const struct rows *rows, uint32_t at, struct batch *out)
{
    struct chunk *chunk = &rows->chunks[at];
    *out = (struct batch){ .columns = chunk->columns, .column_count = rows->column_count, .row_count = chunk->count,
                           .selected_count = chunk->count, .all_selected = true };
}

/* ---- hashing ---- */

bool type_bitwise(struct sql_type type)
{
    switch (type.oid) {
    case OID_BOOL: case OID_CHAR: case OID_INT2: case OID_INT4: case OID_INT8: case OID_OID: case OID_DATE:
    case OID_TIME: case OID_TIMESTAMP: case OID_TIMESTAMPTZ: case OID_REGCLASS: case OID_REGTYPE: case OID_REGPROC:
        return type.width != WIDTH_VARLEN && type.width <= 8;
    case OID_NUMERIC:
        return type.width == 8;
    default:
        return false;
    }
}

#define NULL_HASH 0x7f4a7c159e3779b9ULL
#define HASH_BITS(type)                                                                             \
    for (size_t k = 0; k < count; k++) {                                                            \
        size_t i = v->constant ? 0 : positions ? positions[k] : k;                                  \
        uint64_t h = v->nulls && v->nulls[i] ? NULL_HASH : hash_u64((uint64_t)((const type *)v->values)[i] + 0x9e3779b97f4a7c15ULL); \
        hashes[k] = first ? h : hash_join(hashes[k], h);                                            \
    }

void hash_columns(const struct sql_type *types, const struct vector *keys, uint16_t key_count, const row_pos *positions, size_t count, uint64_t *hashes)
{
    if (key_count == 0)
        memset(hashes, 0, count * sizeof *hashes);
    for (uint16_t c = 0; c < key_count; c++) {
        const struct vector *v = &keys[c];
        bool first = c == 0;
        if (type_bitwise(types[c])) {
            switch (types[c].width) {
            case 1: HASH_BITS(uint8_t); break;
            case 2: HASH_BITS(uint16_t); break;
            case 4: HASH_BITS(uint32_t); break;
            default: HASH_BITS(uint64_t); break;
            }
            continue;
        }
        for (size_t k = 0; k < count; k++) {
            size_t i = v->constant ? 0 : positions ? positions[k] : k;
            uint64_t h = v->nulls && v->nulls[i] ? NULL_HASH : type_hash(types[c], v, i);
            hashes[k] = first ? h : hash_join(hashes[k], h);
        }
    }
}
