/* engine/exec/row_table.c - distinct rows with numbers (see row_table.h).
 *
 * Open addressing, linear probing, at most half full. A slot shows the upper half of the hash, so that a look at the key
 * itself is nearly always a hit; one key that is compared bitwise (integers, dates) stands in the slot, and the row isn't looked at.
 * Slots are asked for ahead of their use: in a big table nearly each of them is a cache miss. */
#include "engine/exec/row_table.h"

void row_table_open(struct row_table *t, struct arena *arena, const struct sql_type *types, uint16_t key_count)
{
    *t = (struct row_table){ .arena = arena };
    rows_open(&t->keys, arena, types, key_count);
    t->mask = 63;
    t->slots = arena_zero(arena, (t->mask + 1) * sizeof *t->slots);
    t->one_word = key_count == 1 && type_bitwise(types[0]);
    t->bitwise = arena_array(arena, bool, key_count + 1u);
    for (uint16_t c = 0; c < key_count; c++)
        t->bitwise[c] = type_bitwise(types[c]);
}

static inline uint64_t word_at(const struct vector *v, size_t i)
{
    i = vector_at(v, i);
    switch (v->width) {
    case 1: return ((const uint8_t *)v->values)[i];
    case 2: return ((const uint16_t *)v->values)[i];
    case 4: return ((const uint32_t *)v->values)[i];
    default: return ((const uint64_t *)v->values)[i];
    }
}

static void grow(struct row_table *t)
{
    uint32_t size = (t->mask + 1) * 4, old = t->mask + 1;
    struct row_slot *slots = arena_zero(t->arena, size * sizeof *slots);
    for (uint32_t s = 0; s < old; s++) {
        if (!t->slots[s].entry)
            continue;
        uint32_t at = (uint32_t)t->hashes[t->slots[s].entry - 1] & (size - 1);
        while (slots[at].entry)
            at = (at + 1) & (size - 1);
        slots[at] = t->slots[s];
    }
    t->slots = slots;
    t->mask = size - 1;
}

static bool same_row(const struct row_table *t, uint32_t entry, const struct batch *keys, size_t i)
{
    for (uint16_t c = 0; c < t->keys.column_count; c++) {
        const struct vector *mine = rows_column(&t->keys, entry, c), *v = &keys->columns[c];
        if (!t->bitwise[c]) {
            if (!same_value(t->keys.types[c], mine, rows_at(entry), v, i))
                return false;
            continue;
        }
        bool a = vector_null(mine, rows_at(entry)), b = vector_null(v, i);
        if (a || b ? a != b : word_at(mine, rows_at(entry)) != word_at(v, i))
            return false;
    }
    return true;
}

/* The entry of the row, or 0 with *at = the free slot. */
static inline uint32_t probe(const struct row_table *t, const struct batch *keys, size_t i, uint64_t hash, uint32_t *at)
{
    uint32_t tag = (uint32_t)(hash >> 32), slot = (uint32_t)hash & t->mask;
    if (t->one_word) {
        if (vector_null(&keys->columns[0], i))
            return t->null_entry;
        uint64_t word = word_at(&keys->columns[0], i);
        for (;; slot = (slot + 1) & t->mask) {
            struct row_slot s = t->slots[slot];
            if (!s.entry)
                return *at = slot, 0;
            if (s.word == word && s.tag == tag)
                return s.entry;
        }
    }
    for (;; slot = (slot + 1) & t->mask) {
        struct row_slot s = t->slots[slot];
        if (!s.entry)
            return *at = slot, 0;
        if (s.tag == tag && same_row(t, s.entry - 1, keys, i))
            return s.entry;
    }
}

#define AHEAD 12
static inline void ask_ahead(const struct row_table *t, const uint64_t *hashes, size_t k, size_t count)
{
    if (t->mask > 4096 && k + AHEAD < count)
        __builtin_prefetch(&t->slots[(uint32_t)hashes[k + AHEAD] & t->mask], 1);
}

void row_table_add(struct row_table *t, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries)
{
    for (size_t k = 0; k < count; k++) {
        row_pos i = positions ? positions[k] : (row_pos)k;
        ask_ahead(t, hashes, k, count);
        uint32_t at = 0, entry = probe(t, keys, i, hashes[k], &at);
        if (!entry) {
            uint32_t number = row_table_count(t);
            rows_append_some(&t->keys, keys, &i, 1);
            if (number == t->hash_capacity) {
                uint32_t capacity = t->hash_capacity ? t->hash_capacity * 2 : 64;
                t->hashes = arena_grow(t->arena, t->hashes, t->hash_capacity * sizeof *t->hashes, capacity * sizeof *t->hashes);
                t->hash_capacity = capacity;
            }
            t->hashes[number] = hashes[k];
            entry = number + 1;
            if (t->one_word && vector_null(&keys->columns[0], i)) {
                t->null_entry = entry;
                entries[k] = number;
                continue;
            }
            t->slots[at] = (struct row_slot){ .word = t->one_word ? word_at(&keys->columns[0], i) : 0, .tag = (uint32_t)(hashes[k] >> 32), .entry = entry };
            if (row_table_count(t) * 2ULL > t->mask)
                grow(t);
        }
        entries[k] = entry - 1;
    }
}

void row_table_find(const struct row_table *t, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries)
{
    for (size_t k = 0; k < count; k++) {
        uint32_t at = 0;
        ask_ahead(t, hashes, k, count);
        entries[k] = probe(t, keys, positions ? positions[k] : k, hashes[k], &at) - 1;
    }
}

uint64_t row_table_bytes(const struct row_table *t)
{
    return t->keys.bytes + t->hash_capacity * sizeof *t->hashes + (t->mask + 1) * sizeof *t->slots;
}
