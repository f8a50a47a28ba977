/* engine/types/sort_key.c - sort words: made by column, by loops that know the type (see sort_key.h). */
#include <string.h>
#include "base/plant.h"
#include "engine/types/internal.h"
#include "engine/types/sort_key.h"

enum { MARK_NULL_FIRST = 0, MARK_VALUE = 1, MARK_NULL_LAST = 2 };       /* as in key.c */

/* A DEC128 of that many digits keeps its exact value in 11 bytes. */
#define DEC128_EXACT_DIGITS 24
#define DEC128_BYTES 11

/* Bytes of a value in a word; 0: no fixed number. */
static uint8_t fixed_bytes(struct sql_type type)
{
    switch (type_class(type.oid)) {
    case CLASS_BOOL: case CLASS_CHAR: return 1;
    case CLASS_INT2: return 2;
    case CLASS_INT4: case CLASS_DATE: case CLASS_OID: case CLASS_REG: case CLASS_FLOAT4: return 4;
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: case CLASS_TID: case CLASS_XID: case CLASS_FLOAT8: return 8;
    case CLASS_NUMERIC: return type.width == 8 ? 8 : type.width == 16 ? DEC128_BYTES : 0;
    default: return 0;
    }
}

static bool is_exact(struct sql_type type) { return type.width != 16 || type.precision <= DEC128_EXACT_DIGITS; }

static bool is_text(struct sql_type type)
{
    enum type_class class = type_class(type.oid);
    return class == CLASS_TEXT || class == CLASS_NAME || class == CLASS_BPCHAR;
}

void sort_key_open(struct sort_layout *key, const struct sort_column *columns, uint16_t count)
{
    *key = (struct sort_layout){ .columns = columns, .count = count };
    while (key->whole < count) {
        struct sql_type type = columns[key->whole].type;
        uint8_t bytes = fixed_bytes(type);
        if (!bytes || !is_exact(type) || key->whole_bytes + 1 + bytes > SORT_KEY_BYTES)
            break;
        key->whole_bytes = (uint8_t)(key->whole_bytes + 1 + bytes);
        key->whole++;
    }
    key->exact = key->whole == count;
    key->text = !key->exact && key->whole_bytes + 1 < SORT_KEY_BYTES && is_text(columns[key->whole].type);
}

/* ---- values as ordered unsigned numbers ---- */

static inline uint64_t float8_bits(double d)
{
    uint64_t bits;
    d += 0.0;                                                 /* -0 is 0 */
    memcpy(&bits, &d, 8);
    bits ^= (uint64_t)((int64_t)bits >> 63) | (uint64_t)1 << 63;
    return d != d ? UINT64_MAX : bits;
}

static inline uint32_t float4_bits(float f)
{
    uint32_t bits;
    f += 0.0f;
    memcpy(&bits, &f, 4);
    bits ^= (uint32_t)((int32_t)bits >> 31) | (uint32_t)1 << 31;
    return f != f ? UINT32_MAX : bits;
}

/* Sign, number of bits, and the first 80 of these: ordered, and exact up to 2^80. */
static sort_word dec128_bits(__int128 v)
{
    sort_word m = v < 0 ? -(sort_word)v : (sort_word)v;
    unsigned length = m >> 64 ? 128 - (unsigned)__builtin_clzll((uint64_t)(m >> 64)) : (uint64_t)m ? 64 - (unsigned)__builtin_clzll((uint64_t)m) : 0;
    sort_word top = length > 80 ? m >> (length - 80) : m << (80 - length);
    sort_word bits = ((sort_word)1 << 87) | (sort_word)(length > 127 ? 127 : length) << 80 | (top & (((sort_word)1 << 80) - 1));
    return v < 0 ? ((sort_word)1 << 88) - bits : bits;
}

/* ---- words ---- */

struct place { uint8_t left, right; sort_word null, value, flip; };      /* where a column's marker and value go in a word */

static struct place place_of(const struct sort_column *column, uint8_t at, uint8_t bytes)
{
    int shift = 8 * (16 - at - 1 - bytes);
    return (struct place){ .left = (uint8_t)(shift >= 32 ? shift : 32), .right = (uint8_t)(shift >= 32 ? 0 : 32 - shift),
                           .null = (sort_word)(column->flags & KEY_NULLS_FIRST && !(PLANT(NULLS_FIRST_LOST) && column->flags & KEY_DESC) ? MARK_NULL_FIRST : MARK_NULL_LAST) << 8 * bytes,
                           .value = (sort_word)MARK_VALUE << 8 * bytes, .flip = column->flags & KEY_DESC ? ((sort_word)1 << 8 * bytes) - 1 : 0 };
}

#define EACH(TYPE, BITS)                                                                                    \
    do {                                                                                                    \
        const TYPE *values = v->values;                                                                     \
        if (!v->nulls && !v->constant && !positions)                                                        \
            for (size_t k = 0; k < count; k++) {                                                            \
                TYPE x = values[k];                                                                         \
                out[k] |= ((p.value | (((sort_word)(BITS)) ^ p.flip)) >> p.right) << p.left;                \
            }                                                                                               \
        else                                                                                                \
            for (size_t k = 0; k < count; k++) {                                                            \
                size_t i = v->constant ? 0 : positions ? positions[k] : k;                                  \
                TYPE x = values[i];                                                                         \
                sort_word bits = v->nulls && v->nulls[i] ? p.null : p.value | (((sort_word)(BITS)) ^ p.flip); \
                out[k] |= (bits >> p.right) << p.left;                                                      \
            }                                                                                               \
    } while (0)

static void add_fixed(const struct sort_column *column, uint8_t at, uint8_t bytes, const struct vector *v, const row_pos *positions, size_t count, sort_word *out)
{
    struct place p = place_of(column, at, bytes);
    switch (type_class(column->type.oid)) {
    case CLASS_BOOL: case CLASS_CHAR: EACH(uint8_t, x); break;
    case CLASS_INT2: EACH(int16_t, (uint16_t)x ^ 0x8000u); break;
    case CLASS_INT4: case CLASS_DATE: EACH(int32_t, (uint32_t)x ^ 0x80000000u); break;
    case CLASS_OID: case CLASS_REG: EACH(uint32_t, x); break;
    case CLASS_TID: case CLASS_XID: EACH(uint64_t, x); break;
    case CLASS_FLOAT4: EACH(float, float4_bits(x)); break;
    case CLASS_FLOAT8: EACH(double, float8_bits(x)); break;
    case CLASS_NUMERIC:
        if (bytes == DEC128_BYTES) {
            EACH(__int128, dec128_bits(x));
            break;
        }
        /* fall through */
    default: EACH(int64_t, (uint64_t)x ^ (uint64_t)1 << 63); break;
    }
}

static inline sort_word swap_bytes(sort_word w)
{
    return (sort_word)__builtin_bswap64((uint64_t)w) << 64 | __builtin_bswap64((uint64_t)(w >> 64));
}

/* The first `most` bytes of a text at the top of a word. */
static inline sort_word text_top(const uint8_t *bytes, uint32_t length, uint32_t most)
{
    sort_word w = 0;
    if (length >= 12)
        memcpy(&w, bytes, 12);
    else
        memcpy(&w, bytes, length);
    return swap_bytes(w) & (~(sort_word)0 << 8 * (16 - most));
}

static void add_text(const struct sort_layout *key, const struct vector *v, const row_pos *positions, size_t count, sort_word *out)
{
    const struct sort_column *column = &key->columns[key->whole];
    uint32_t at = key->whole_bytes, room = sort_key_text_bytes(key);
    struct place p = place_of(column, (uint8_t)at, 0);
    bool pads = type_class(column->type.oid) == CLASS_BPCHAR;
    sort_word flip = column->flags & KEY_DESC ? ~(sort_word)0 << 8 * (16 - room) : 0;
    const struct varlen *values = v->values;
    for (size_t k = 0; k < count; k++) {
        size_t i = v->constant ? 0 : positions ? positions[k] : k;
        if (v->nulls && v->nulls[i]) {
            out[k] |= p.null << p.left;
            continue;
        }
        struct varlen text = pads ? bpchar_trim(values[i]) : values[i];
        out[k] |= p.value << p.left | (text_top(text.bytes, text.length, room) ^ flip) >> 8 * (at + 1);
    }
}

/* Any other type: by the bytes that an index would have. */
static void add_bytes(const struct sort_layout *key, const struct vector *v, const row_pos *positions, size_t count, struct text_buffer *scratch, sort_word *out)
{
    const struct sort_column *column = &key->columns[key->whole];
    uint32_t at = key->whole_bytes, room = SORT_KEY_BYTES - at;
    for (size_t k = 0; k < count; k++) {
        size_t i = v->constant ? 0 : positions ? positions[k] : k;
        sort_word w = 0;
        scratch->length = 0;
        key_append(column->type, column->flags, v, i, scratch);
        memcpy(&w, scratch->bytes, scratch->length < room ? scratch->length : room);
        out[k] |= swap_bytes(w) >> 8 * at;
    }
}

void sort_key_words(const struct sort_layout *key, const struct vector *columns, const row_pos *positions, size_t count, uint32_t first_row,
                    struct text_buffer *scratch, sort_word *out)
{
    uint8_t at = 0;
    for (size_t k = 0; k < count; k++)
        out[k] = first_row + (uint32_t)k;
    for (uint16_t c = 0; c < key->count && at < SORT_KEY_BYTES; c++) {
        const struct sort_column *column = &key->columns[c];
        const struct vector *v = &columns[column->column];
        uint8_t bytes = fixed_bytes(column->type);
        if (bytes) {
            add_fixed(column, at, bytes, v, positions, count, out);
            at = (uint8_t)(at + 1 + bytes);
        } else if (key->text) {
            add_text(key, v, positions, count, out);
        } else {
            add_bytes(key, v, positions, count, scratch, out);
        }
        if (c >= key->whole)
            break;
    }
}

/* ---- what words don't hold ---- */

int sort_key_compare(const struct sort_layout *key, uint16_t from, const struct vector *a, size_t i, const struct vector *b, size_t j)
{
    for (uint16_t c = from; c < key->count; c++) {
        const struct sort_column *column = &key->columns[c];
        const struct vector *x = &a[column->column], *y = &b[column->column];
        bool x_null = vector_null(x, i), y_null = vector_null(y, j);
        int order;
        if (x_null || y_null) {
            if (x_null == y_null)
                continue;
            order = x_null == ((column->flags & KEY_NULLS_FIRST) != 0) ? -1 : 1;
        } else {
            order = type_compare(column->type, x, i, y, j);
            if (column->flags & KEY_DESC)
                order = -order;
        }
        if (order)
            return order;
    }
    return 0;
}

bool sort_key_text_ended(const struct sort_layout *key, sort_word word)
{
    uint8_t marker = (uint8_t)(word >> 8 * (15 - key->whole_bytes)), last = (uint8_t)(word >> 32);
    return marker != MARK_VALUE || last == (key->columns[key->whole].flags & KEY_DESC ? 0xFF : 0);
}

int sort_key_compare_rest(const struct sort_layout *key, sort_word word, const struct vector *a, size_t i, const struct vector *b, size_t j)
{
    if (key->exact)
        return 0;
    return sort_key_compare(key, (uint16_t)(key->whole + (key->text && sort_key_text_ended(key, word))), a, i, b, j);
}

sort_word sort_key_text(const struct sort_layout *key, struct varlen text, uint32_t from)
{
    const struct sort_column *column = &key->columns[key->whole];
    if (type_class(column->type.oid) == CLASS_BPCHAR)
        text = bpchar_trim(text);
    sort_word w = from < text.length ? text_top(text.bytes + from, text.length - from, 12) : 0;
    return (column->flags & KEY_DESC ? ~w : w) >> 32 << 32;
}

/* ---- bounds ---- */

void sort_key_bound(const struct sort_layout *key, const struct vector *columns, size_t at, struct sort_bound *out)
{
    const struct sort_column *column = &key->columns[0];
    const struct vector *v = &columns[column->column];
    *out = (struct sort_bound){ .type = column->type, .descending = (column->flags & KEY_DESC) != 0, .nulls_first = (column->flags & KEY_NULLS_FIRST) != 0 };
    if (vector_null(v, at))
        return;
    at = vector_at(v, at);
    switch (type_class(column->type.oid)) {
    case CLASS_INT2: out->i = ((const int16_t *)v->values)[at]; break;
    case CLASS_INT4: case CLASS_DATE: out->i = ((const int32_t *)v->values)[at]; break;
    case CLASS_FLOAT4: out->f = (double)((const float *)v->values)[at]; break;
    case CLASS_FLOAT8: out->f = ((const double *)v->values)[at]; break;
    case CLASS_NUMERIC:
        if (column->type.width != 8)
            return;
        /* fall through */
    case CLASS_INT8: case CLASS_TIME: case CLASS_TIMESTAMP: case CLASS_TIMESTAMPTZ: out->i = ((const int64_t *)v->values)[at]; break;
    default: return;
    }
    out->set = (type_class(column->type.oid) != CLASS_FLOAT4 && type_class(column->type.oid) != CLASS_FLOAT8) || out->f == out->f;
}

/* First whether any of a block is within, which the compiler makes into a few vector instructions; seldom, which. */
#define BLOCK 32
#define WITHIN(TYPE, MASK, TEST)                                                                            \
    do {                                                                                                    \
        const TYPE *values = first->values;                                                                 \
        uint16_t k = 0;                                                                                     \
        if (!positions && !any_null)                                                                        \
            for (; k + BLOCK <= count; k = (uint16_t)(k + BLOCK)) {                                         \
                MASK any = 0;                                                                               \
                for (int j = 0; j < BLOCK; j++) {                                                           \
                    TYPE x = values[k + j];                                                                 \
                    any |= (MASK)-(MASK)(TEST);                                                             \
                }                                                                                           \
                for (int j = 0; any && j < BLOCK; j++) {                                                    \
                    TYPE x = values[k + j];                                                                 \
                    out[n] = (row_pos)(k + j);                                                              \
                    n += (TEST);                                                                            \
                }                                                                                           \
            }                                                                                               \
        for (; k < count; k++) {                                                                            \
            row_pos i = positions ? positions[k] : k;                                                       \
            TYPE x = values[i];                                                                             \
            out[n] = i;                                                                                     \
            n += any_null && first->nulls[i] ? b->nulls_first : (TEST);                                     \
        }                                                                                                   \
    } while (0)
#define WITHIN_BOUND(TYPE, MASK, BOUND)                                                                     \
    do {                                                                                                    \
        const TYPE bound = (TYPE)(BOUND);                                                                   \
        if (b->descending)                                                                                  \
            WITHIN(TYPE, MASK, !(x < bound));    /* NaN too */                                              \
        else                                                                                                \
            WITHIN(TYPE, MASK, x <= bound);                                                                 \
    } while (0)

int sort_key_within(const struct sort_bound *b, const struct vector *first, const row_pos *positions, uint16_t count, row_pos *out)
{
    int n = 0;
    if (!b->set || first->constant)
        return -1;
    bool any_null = first->nulls && (positions || memchr(first->nulls, 1, count) != NULL);
    switch (type_class(b->type.oid)) {
    case CLASS_INT2: WITHIN_BOUND(int16_t, int16_t, b->i); break;
    case CLASS_INT4: case CLASS_DATE: WITHIN_BOUND(int32_t, int32_t, b->i); break;
    case CLASS_FLOAT4: WITHIN_BOUND(float, int32_t, b->f); break;
    case CLASS_FLOAT8: WITHIN_BOUND(double, int64_t, b->f); break;
    default: WITHIN_BOUND(int64_t, int64_t, b->i); break;
    }
    return n;
}
