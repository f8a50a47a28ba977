/* engine/exec/in_set.c - the constants of an IN list.
 *
 *     integers, dates, decimals in a narrow range    a byte for each value of the range
 *     a few integers                                 compared one by one
 *     a few texts                                    first their first eight bytes, as one number (text_word.h)
 *     anything else                                  a hash set */
#include "engine/exec/program_private.h"
#include "engine/types/text_word.h"

enum in_form { IN_TABLE, IN_FEW, IN_WORDS, IN_HASH };
struct in_set {
    enum in_form form;
    struct sql_type type;
    bool has_null;
    uint32_t count;
    struct vector values;
    int64_t low; uint64_t range; uint8_t *table;        /* TABLE: range + 1 bytes, the last of which is 0 */
    int64_t *few;                                       /* FEW */
    uint64_t *words; uint8_t filler;                    /* WORDS */
    uint32_t mask; int32_t *slots;                      /* HASH */
};

#define TABLE_MOST 65536
#define FEW_MOST   8

bool in_set_has_null(const struct in_set *set) { return set->has_null; }

static bool is_text(uint32_t oid) { return oid == OID_TEXT || oid == OID_VARCHAR || oid == OID_BPCHAR; }

static int64_t integer_at(const struct vector *v, size_t i)
{
    switch (v->width) {
    case 1: return ((const int8_t *)v->values)[i];
    case 2: return ((const int16_t *)v->values)[i];
    case 4: return ((const int32_t *)v->values)[i];
    default: return ((const int64_t *)v->values)[i];
    }
}

/* ---- making ---- */

static void make_hash(struct in_set *set, struct arena *arena)
{
    uint32_t size = 16;
    while (size < set->count * 2u)
        size *= 2;
    set->form = IN_HASH;
    set->mask = size - 1;
    set->slots = arena_alloc(arena, size * sizeof *set->slots);
    memset(set->slots, 0xff, size * sizeof *set->slots);
    for (uint32_t at = 0; at < set->count; at++) {
        uint32_t slot = (uint32_t)type_hash(set->type, &set->values, at) & set->mask;
        while (set->slots[slot] >= 0)
            slot = (slot + 1) & set->mask;
        set->slots[slot] = (int32_t)at;
    }
}

static bool make_integers(struct in_set *set, struct arena *arena)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t k = 0; k < set->count; k++) {
        int64_t x = integer_at(&set->values, k);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    if (set->count && (uint64_t)high - (uint64_t)low < TABLE_MOST) {
        set->form = IN_TABLE;
        set->low = low;
        set->range = (uint64_t)high - (uint64_t)low + 1;
        set->table = arena_zero(arena, set->range + 1);
        for (uint32_t k = 0; k < set->count; k++)
            set->table[(uint64_t)integer_at(&set->values, k) - (uint64_t)low] = 1;
        return true;
    }
    if (set->count > FEW_MOST)
        return false;
    set->form = IN_FEW;
    set->few = arena_array(arena, int64_t, set->count + 1u);
    for (uint32_t k = 0; k < set->count; k++)
        set->few[k] = integer_at(&set->values, k);
    return true;
}

struct in_set *in_set_make(struct arena *arena, const struct scalar *s)
{
    struct sql_type type = s->args[0]->type;
    for (int32_t i = 1; i < s->arg_count; i++)
        if (s->args[i]->kind != SCALAR_CONST || type.width != s->args[i]->type.width || type.scale != s->args[i]->type.scale)
            return NULL;
    struct in_set *set = arena_new(arena, struct in_set);
    set->type = type;
    vector_make(&set->values, arena, type.width, s->arg_count);
    for (int32_t i = 1; i < s->arg_count; i++) {
        if (s->args[i]->constant.null) {
            set->has_null = true;
            continue;
        }
        set->values.nulls[set->count] = 0;
        value_put(type, &s->args[i]->constant, &set->values, set->count++);
    }
    set->values.nulls = NULL;
    if (type_bitwise(type) && type.oid != OID_OID && make_integers(set, arena))
        return set;
    if (is_text(type.oid) && set->count <= FEW_MOST) {
        set->form = IN_WORDS;
        set->filler = type.oid == OID_BPCHAR ? ' ' : 0;
        set->words = arena_array(arena, uint64_t, set->count + 1u);
        for (uint32_t k = 0; k < set->count; k++)
            set->words[k] = text_word(((const struct varlen *)set->values.values)[k], set->filler);
        return set;
    }
    make_hash(set, arena);
    return set;
}

/* ---- asking ---- */

#define ROWS(i) uint16_t n_##i = 0, i; n_##i < count && (i = rows ? rows[n_##i] : n_##i, 1); n_##i++

#define MARK_INTEGERS(type) do { \
    const type *a = v->values; \
    if (set->form == IN_TABLE) { \
        const uint64_t low = (uint64_t)set->low, range = set->range; \
        const uint8_t *table = set->table; \
        for (ROWS(i)) { \
            uint64_t k = (uint64_t)(int64_t)a[i & mask] - low; \
            found[i] = table[k < range ? k : range]; \
        } \
    } else \
        for (ROWS(i)) { \
            const int64_t x = a[i & mask]; \
            uint8_t hit = 0; \
            for (uint32_t k = 0; k < set->count; k++) \
                hit |= x == set->few[k]; \
            found[i] = hit; \
        } \
    } while (0)

static void mark_texts(const struct in_set *set, const struct vector *v, const row_pos *rows, uint16_t count, uint8_t *found)
{
    const struct varlen *items = set->values.values;
    const size_t mask = v->constant ? 0 : ~(size_t)0;
    for (ROWS(i)) {
        if (vector_null(v, i))
            continue;
        const struct varlen text = ((const struct varlen *)v->values)[i & mask];
        const uint64_t word = text_word(text, set->filler);
        uint8_t hit = 0;
        for (uint32_t k = 0; k < set->count; k++)
            if (word == set->words[k] && text_same_behind_word(text, items[k], set->filler == ' ')) {
                hit = 1;
                break;
            }
        found[i] = hit;
    }
}

static void mark_hashed(const struct in_set *set, const struct vector *v, const row_pos *rows, uint16_t count, uint8_t *found)
{
    for (ROWS(i)) {
        size_t at = vector_at(v, i);
        if (vector_null(v, i))
            continue;
        uint32_t slot = (uint32_t)type_hash(set->type, v, at) & set->mask;
        while (set->slots[slot] >= 0 && type_compare(set->type, v, at, &set->values, (size_t)set->slots[slot]) != 0)
            slot = (slot + 1) & set->mask;
        found[i] = set->slots[slot] >= 0;
    }
}

void in_set_mark(const struct in_set *set, const struct vector *v, const row_pos *rows, uint16_t count, uint8_t *found)
{
    const size_t mask = v->constant ? 0 : ~(size_t)0;
    switch (set->form) {
    case IN_TABLE: case IN_FEW:
        switch (set->type.width) {
        case 1: MARK_INTEGERS(int8_t); break;
        case 2: MARK_INTEGERS(int16_t); break;
        case 4: MARK_INTEGERS(int32_t); break;
        default: MARK_INTEGERS(int64_t); break;
        }
        break;
    case IN_WORDS: mark_texts(set, v, rows, count, found); break;
    case IN_HASH:  mark_hashed(set, v, rows, count, found); break;
    }
}
