/* engine/exec/row_table.c - distinct rows with numbers (see row_table.h).
 *
 * Four ways to find a row, and when each is taken:
 *
 *     DENSE    one key that is compared bitwise (integers, dates), its values close together: an array by value. No hash, no comparison
 *     WORD     such a key otherwise: the value stands in the slot
 *     PACKED   keys of at most 16 bytes together, short text included: both words stand in the slot (pack_keys)
 *     HASHED   everything else: the slot shows half of the hash, the row itself decides
 *
 * A table of one bitwise key begins DENSE, becomes WORD when a value would make the array too wide for the number of rows, and DENSE
 * again if, when the slots would have to grow, they turn out to be worth no more than the array. In a PACKED table a row whose key
 * doesn't fit goes by its hash. Slots are open addressing with linear probing, at most half full, and are asked for ahead
 * of their use: in a big table nearly each of them is a cache miss.
 *
 * Work is done a batch at a time: the keys become words in one loop over a column, the look-ups are another, and what is new is
 * appended to the kept keys at the end in one go. Until then a new row's key is that of its row in the batch. */
#include "engine/exec/row_table.h"

#define DENSE_FREE  262144               /* an array that wide is never too wide */
#define DENSE_SPARE 16                   /* … a wider one holds this many places a row at most */
#define AHEAD 12
#define MULTIPLIER 0x9e3779b97f4a7c15ULL

/* What one call works on. */
struct keys_batch {
    const struct batch *batch;
    const row_pos *positions;
    size_t count;
    const uint64_t *hashes;
    const uint8_t *nulls;                /* of the one key, by position; NULL when none is null */
    bool constant_null, any_long;        /* the key is a null for every row; some keys don't fit (PACKED) */
    bool add;
    uint32_t *entries;
    uint64_t words[BATCH_MAX], seconds[BATCH_MAX], slots[BATCH_MAX];   /* key words; hashes of the words */
    uint64_t own_hashes[BATCH_MAX];      /* when the caller has none */
    uint8_t lengths[BATCH_MAX];          /* PACKED: bytes; TOO_LONG */
    row_pos fresh[BATCH_MAX]; uint32_t fresh_count, known;   /* new rows: numbers from `known` on */
};
#define TOO_LONG 255

static bool packs_as_text(struct sql_type type)
{
    return type.width == WIDTH_VARLEN && (type.oid == OID_TEXT || type.oid == OID_VARCHAR || type.oid == OID_BPCHAR || type.oid == OID_NAME || type.oid == OID_BYTEA);
}

void row_table_open(struct row_table *t, struct arena *arena, const struct sql_type *types, uint16_t key_count)
{
    *t = (struct row_table){ .arena = arena };
    rows_open(&t->keys, arena, types, key_count);
    t->bitwise = arena_array(arena, bool, key_count + 1u);
    size_t least = 1;                    /* bytes of a packed key, texts empty */
    bool packs = key_count > 0 && key_count <= 8;
    for (uint16_t c = 0; c < key_count; c++) {
        t->bitwise[c] = type_bitwise(types[c]);
        packs &= t->bitwise[c] || packs_as_text(types[c]);
        least += t->bitwise[c] ? types[c].width : 2;
    }
    t->way = key_count == 1 && t->bitwise[0] ? WAY_DENSE : packs && least <= 16 ? WAY_PACKED : WAY_HASHED;
}

static void *slots_zero(struct row_table *t, size_t bytes)
{
    t->slot_bytes += bytes;
    return arena_zero(t->arena, bytes);
}

/* ---- keys into words ---- */

#define WORDS(type)                                                                                                       \
    do {                                                                                                                  \
        const type *values = v->values;                                                                                   \
        if (v->constant)                                                                                                  \
            for (size_t k = 0; k < b->count; k++) b->words[k] = (uint64_t)(int64_t)values[0];                             \
        else if (b->positions)                                                                                            \
            for (size_t k = 0; k < b->count; k++) b->words[k] = (uint64_t)(int64_t)values[b->positions[k]];               \
        else                                                                                                              \
            for (size_t k = 0; k < b->count; k++) b->words[k] = (uint64_t)(int64_t)values[k];                             \
    } while (0)

static void words_load(struct keys_batch *b)
{
    const struct vector *v = &b->batch->columns[0];
    b->nulls = v->constant ? NULL : v->nulls;
    b->constant_null = v->constant && v->nulls && v->nulls[0];
    switch (v->width) {
    case 1: WORDS(uint8_t); break;
    case 2: WORDS(int16_t); break;
    case 4: WORDS(int32_t); break;
    default: WORDS(int64_t); break;
    }
}

static inline void copy_short(uint8_t *to, const uint8_t *from, uint32_t n)
{
    if (n == 1) {
        to[0] = from[0];
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else if (n) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

/* One column's bytes at the same place in every key. */
#define PLACE_FIXED(type)                                                                                                  \
    for (size_t k = 0; k < b->count; k++)                                                                                 \
        memcpy(room[k] + at, (const type *)v->values + (b->positions ? b->positions[k] : k), sizeof(type))

static void place_fixed(const struct keys_batch *b, const struct vector *v, uint8_t (*room)[16], uint8_t at)
{
    switch (v->width) {
    case 1: PLACE_FIXED(uint8_t); break;
    case 2: PLACE_FIXED(uint16_t); break;
    case 4: PLACE_FIXED(uint32_t); break;
    default: PLACE_FIXED(uint64_t); break;
    }
}

/* The same for texts, if all of them are one byte. */
static bool place_letters(const struct keys_batch *b, const struct vector *v, bool padded, uint8_t (*room)[16], uint8_t at)
{
    const struct varlen *texts = v->values;
    for (size_t k = 0; k < b->count; k++) {
        const struct varlen *text = &texts[b->positions ? b->positions[k] : k];
        if (text->length != 1 || (padded && text->bytes[0] == ' '))
            return false;
    }
    for (size_t k = 0; k < b->count; k++) {
        room[k][at] = 1;
        room[k][at + 1] = texts[b->positions ? b->positions[k] : k].bytes[0];
    }
    return true;
}

static void pack_column(struct keys_batch *b, const struct vector *v, struct sql_type type, uint16_t c, uint8_t (*room)[16])
{
    uint8_t width = type.width;
    for (size_t k = 0; k < b->count; k++) {
        size_t i = vector_at(v, b->positions ? b->positions[k] : k);
        uint8_t at = b->lengths[k];
        bool null = v->nulls && v->nulls[i];
        if (null && at < 16)
            room[k][0] |= (uint8_t)(1 << c);
        if (width != WIDTH_VARLEN) {
            if (at + width > 16) {
                b->lengths[k] = TOO_LONG;
                continue;
            }
            if (!null)
                memcpy(room[k] + at, (const uint8_t *)v->values + i * width, width);
            b->lengths[k] = (uint8_t)(at + width);
            continue;
        }
        struct varlen text = null ? (struct varlen){0} : ((const struct varlen *)v->values)[i];
        if (type.oid == OID_BPCHAR)
            while (text.length && text.bytes[text.length - 1] == ' ')
                text.length--;
        if (at + 1u + text.length > 16) {
            b->lengths[k] = TOO_LONG;
            continue;
        }
        room[k][at] = (uint8_t)text.length;
        copy_short(room[k] + at + 1, text.bytes, text.length);
        b->lengths[k] = (uint8_t)(at + 1 + text.length);
    }
}

/* A packed key: a byte of null bits, then each key's bytes; a text's length first, without the blanks that bpchar doesn't look at. As long as
 * all keys are of one length, a column's place is known before its loop. */
static void pack_keys(const struct row_table *t, struct keys_batch *b)
{
    uint8_t room[BATCH_MAX][16], at = 1;
    bool one_length = true;
    memset(room, 0, b->count * sizeof *room);
    for (uint16_t c = 0; c < t->keys.column_count; c++) {
        const struct vector *v = &b->batch->columns[c];
        struct sql_type type = t->keys.types[c];
        if (one_length && !v->nulls && !v->constant) {
            if (type.width != WIDTH_VARLEN && at + type.width <= 16) {
                place_fixed(b, v, room, at);
                at = (uint8_t)(at + type.width);
                continue;
            }
            if (type.width == WIDTH_VARLEN && at + 2 <= 16 && place_letters(b, v, type.oid == OID_BPCHAR, room, at)) {
                at = (uint8_t)(at + 2);
                continue;
            }
        }
        if (one_length)
            memset(b->lengths, at, b->count);
        one_length = false;
        pack_column(b, v, type, c, room);
    }
    if (one_length)
        memset(b->lengths, at, b->count);
    bool any_long = false;
    for (size_t k = 0; k < b->count; k++) {
        memcpy(&b->words[k], room[k], 8);
        memcpy(&b->seconds[k], room[k] + 8, 8);
        any_long |= b->lengths[k] == TOO_LONG;
    }
    b->any_long = any_long;
}

static inline uint64_t word_hash(uint64_t word)
{
    return (word ^ (word >> 32)) * MULTIPLIER;
}
static inline uint64_t packed_hash(uint64_t a, uint64_t b)
{
    uint64_t h = a * MULTIPLIER ^ (b + (b >> 29)) * 0xc4ceb9fe1a85ec53ULL;
    return (h ^ (h >> 32)) * MULTIPLIER;
}
/* The upper bits of a product are the good ones. */
static inline uint64_t slot_of(uint64_t hash, uint64_t slot_count) { return hash >> (64 - __builtin_ctzll(slot_count)); }

/* ---- new rows ---- */

static inline uint32_t row_number(struct row_table *t, struct keys_batch *b, size_t k)
{
    b->fresh[b->fresh_count++] = b->positions ? b->positions[k] : (row_pos)k;
    return t->count++;
}

static uint32_t null_row(struct row_table *t, struct keys_batch *b, size_t k)
{
    if (!t->null_entry) {
        if (!b->add)
            return ROW_TABLE_NONE;
        t->null_entry = row_number(t, b, k) + 1;
    }
    return t->null_entry - 1;
}

/* ---- DENSE ---- */

static void become_word(struct row_table *t, uint64_t slot_count);

static inline void word_put(struct row_table *t, uint64_t word, uint32_t entry)
{
    uint64_t slot = slot_of(word_hash(word), t->slot_count);
    while (t->words[slot].entry)
        slot = (slot + 1) & (t->slot_count - 1);
    t->words[slot] = (struct word_slot){ .word = word, .entry = entry };
    if ((int64_t)word < t->least)
        t->least = (int64_t)word;
    if ((int64_t)word > t->most)
        t->most = (int64_t)word;
}

/* Widens the array so that it holds the value, with room on both sides; false: it would be too wide. */
static bool dense_widen(struct row_table *t, int64_t value)
{
    uint64_t first = 0, end = t->range, most = t->count * (uint64_t)DENSE_SPARE;
    int64_t low = value, high = value;
    while (first < end && !t->dense[first])
        first++;
    while (end > first && !t->dense[end - 1])
        end--;
    if (first < end) {
        int64_t least = (int64_t)((uint64_t)t->low + first), greatest = (int64_t)((uint64_t)t->low + end - 1);
        low = least < low ? least : low;
        high = greatest > high ? greatest : high;
    }
    if (most < DENSE_FREE)
        most = DENSE_FREE;
    uint64_t need = (uint64_t)high - (uint64_t)low;
    if (need >= most / 4 * 3)            /* so that it always widens by a third or more */
        return false;
    uint64_t room = most - need - 1 < need + 32 ? most - need - 1 : need + 32, start = (uint64_t)low - (uint64_t)INT64_MIN, rest = (uint64_t)INT64_MAX - (uint64_t)high;
    uint64_t below = room / 2 < start ? room / 2 : start, above = room / 2 < rest ? room / 2 : rest, range = need + 1 + below + above;
    uint32_t *dense = slots_zero(t, range * sizeof *dense);
    uint64_t new_low = (uint64_t)low - below;
    if (first < end)
        memcpy(dense + ((uint64_t)t->low + first - new_low), t->dense + first, (end - first) * sizeof *dense);
    t->slot_bytes -= t->range * sizeof *dense;
    t->dense = dense;
    t->low = (int64_t)new_low;
    t->range = range;
    return true;
}

static inline __attribute__((always_inline)) size_t dense_rows(struct row_table *t, struct keys_batch *b, size_t k, bool with_nulls)
{
    const bool far = t->range > 16384;
    for (; k < b->count; k++) {
        uint64_t x = b->words[k] - (uint64_t)t->low;
        if (with_nulls && b->nulls[b->positions ? b->positions[k] : k]) {
            b->entries[k] = null_row(t, b, k);
            continue;
        }
        if (far && k + AHEAD < b->count && b->words[k + AHEAD] - (uint64_t)t->low < t->range)
            __builtin_prefetch(&t->dense[b->words[k + AHEAD] - (uint64_t)t->low], 1);
        uint32_t entry = x < t->range ? t->dense[x] : 0;
        if (__builtin_expect(entry == 0, 0)) {
            if (!b->add) {
                b->entries[k] = ROW_TABLE_NONE;
                continue;
            }
            if (x >= t->range) {
                if (!dense_widen(t, (int64_t)b->words[k])) {
                    uint64_t slots = 1024;
                    while (slots < t->count * 4ULL)
                        slots *= 2;
                    become_word(t, slots);
                    return k;
                }
                x = b->words[k] - (uint64_t)t->low;
            }
            entry = t->dense[x] = row_number(t, b, k) + 1;
        }
        b->entries[k] = entry - 1;
    }
    return k;
}

/* ---- WORD ---- */

static void become_word(struct row_table *t, uint64_t slot_count)
{
    t->slot_bytes = 0;
    t->slot_count = slot_count;
    t->words = slots_zero(t, slot_count * sizeof *t->words);
    t->least = INT64_MAX;
    t->most = INT64_MIN;
    for (uint64_t x = 0; x < t->range; x++)
        if (t->dense[x])
            word_put(t, (uint64_t)t->low + x, t->dense[x]);
    t->way = WAY_WORD;
}

static void become_dense(struct row_table *t)
{
    uint64_t range = (uint64_t)t->most - (uint64_t)t->least + 1;
    t->slot_bytes = 0;
    t->dense = slots_zero(t, range * sizeof *t->dense);
    t->low = t->least;
    t->range = range;
    for (uint64_t s = 0; s < t->slot_count; s++)
        if (t->words[s].entry)
            t->dense[t->words[s].word - (uint64_t)t->low] = t->words[s].entry;
    t->way = WAY_DENSE;
}

static void words_grow(struct row_table *t)
{
    struct word_slot *old = t->words;
    uint64_t old_count = t->slot_count;
    if ((uint64_t)t->most - (uint64_t)t->least < t->count * (uint64_t)(DENSE_SPARE / 2)) {
        become_dense(t);
        return;
    }
    t->slot_bytes = 0;
    t->slot_count *= 4;
    t->words = slots_zero(t, t->slot_count * sizeof *t->words);
    for (uint64_t s = 0; s < old_count; s++)
        if (old[s].entry)
            word_put(t, old[s].word, old[s].entry);
}

static inline __attribute__((always_inline)) size_t word_rows(struct row_table *t, struct keys_batch *b, size_t k, bool with_nulls)
{
    for (size_t j = k; j < b->count; j++)
        b->slots[j] = word_hash(b->words[j]);
    const bool far = t->slot_count > 4096;
    for (; k < b->count; k++) {
        if (with_nulls && b->nulls[b->positions ? b->positions[k] : k]) {
            b->entries[k] = null_row(t, b, k);
            continue;
        }
        if (far && k + AHEAD < b->count)
            __builtin_prefetch(&t->words[slot_of(b->slots[k + AHEAD], t->slot_count)], 1);
        uint64_t word = b->words[k], slot = slot_of(b->slots[k], t->slot_count);
        const struct word_slot *s = &t->words[slot];
        while (s->entry && s->word != word) {
            slot = (slot + 1) & (t->slot_count - 1);
            s = &t->words[slot];
        }
        uint32_t entry = s->entry;
        if (!entry) {
            if (!b->add) {
                b->entries[k] = ROW_TABLE_NONE;
                continue;
            }
            entry = row_number(t, b, k) + 1;
            t->words[slot] = (struct word_slot){ .word = word, .entry = entry };
            if ((int64_t)word < t->least)
                t->least = (int64_t)word;
            if ((int64_t)word > t->most)
                t->most = (int64_t)word;
            if (t->count * 2ULL > t->slot_count) {
                b->entries[k] = entry - 1;
                words_grow(t);
                return k + 1;
            }
        }
        b->entries[k] = entry - 1;
    }
    return k;
}

/* ---- HASHED ---- */

static inline uint64_t key_word(const struct vector *v, size_t i)
{
    i = vector_at(v, i);
    switch (v->width) {
    case 1: return ((const uint8_t *)v->values)[i];
    case 2: return ((const uint16_t *)v->values)[i];
    case 4: return ((const uint32_t *)v->values)[i];
    default: return ((const uint64_t *)v->values)[i];
    }
}

static bool same_row(const struct row_table *t, const struct keys_batch *b, uint32_t number, size_t i)
{
    for (uint16_t c = 0; c < t->keys.column_count; c++) {
        const struct vector *v = &b->batch->columns[c], *mine = v;
        size_t at;
        if (number >= b->known) {        /* new in this batch */
            at = b->fresh[number - b->known];
        } else {
            mine = rows_column(&t->keys, number, c);
            at = rows_at(number);
        }
        if (!t->bitwise[c]) {
            if (!same_value(t->keys.types[c], mine, at, v, i))
                return false;
            continue;
        }
        bool x = vector_null(mine, at), y = vector_null(v, i);
        if (x || y ? x != y : key_word(mine, at) != key_word(v, i))
            return false;
    }
    return true;
}

static void hashed_grow(struct row_table *t)
{
    struct hashed_slot *old = t->hashed;
    uint64_t old_count = t->hashed_slot_count;
    t->slot_bytes -= old_count * sizeof *old;
    t->hashed_slot_count = old_count ? old_count * 4 : 64;
    t->hashed = slots_zero(t, t->hashed_slot_count * sizeof *t->hashed);
    for (uint64_t s = 0; s < old_count; s++)
        if (old[s].entry) {
            uint64_t at = t->hashes[old[s].entry - 1] & (t->hashed_slot_count - 1);
            while (t->hashed[at].entry)
                at = (at + 1) & (t->hashed_slot_count - 1);
            t->hashed[at] = old[s];
        }
}

static void hash_keep(struct row_table *t, uint32_t number, uint64_t hash)
{
    if (number >= t->hash_capacity) {
        uint32_t capacity = t->hash_capacity ? t->hash_capacity : 32;
        while (capacity <= number)
            capacity *= 2;
        t->hashes = arena_grow(t->arena, t->hashes, t->hash_capacity * sizeof *t->hashes, capacity * sizeof *t->hashes);
        t->hash_capacity = capacity;
    }
    t->hashes[number] = hash;
}

static uint32_t hashed_row(struct row_table *t, struct keys_batch *b, size_t k, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t i = b->positions ? b->positions[k] : k;
    if (t->hashed_count * 2ULL >= t->hashed_slot_count) {
        if (!t->hashed_slot_count && !b->add)
            return ROW_TABLE_NONE;
        if (b->add)
            hashed_grow(t);
    }
    uint64_t mask = t->hashed_slot_count - 1, slot = hash & mask;
    for (; t->hashed[slot].entry; slot = (slot + 1) & mask)
        if (t->hashed[slot].tag == tag && same_row(t, b, t->hashed[slot].entry - 1, i))
            return t->hashed[slot].entry - 1;
    if (!b->add)
        return ROW_TABLE_NONE;
    uint32_t number = row_number(t, b, k);
    hash_keep(t, number, hash);
    t->hashed[slot] = (struct hashed_slot){ .tag = tag, .entry = number + 1 };
    t->hashed_count++;
    return number;
}

static void hashed_rows(struct row_table *t, struct keys_batch *b)
{
    for (size_t k = 0; k < b->count; k++) {
        if (t->hashed_slot_count > 8192 && k + AHEAD < b->count)
            __builtin_prefetch(&t->hashed[b->hashes[k + AHEAD] & (t->hashed_slot_count - 1)], 1);
        b->entries[k] = hashed_row(t, b, k, b->hashes[k]);
    }
}

/* ---- PACKED ---- */

static void packed_grow(struct row_table *t)
{
    struct packed_slot *old = t->packed;
    uint64_t old_count = t->slot_count;
    t->slot_bytes -= old_count * sizeof *old;
    t->slot_count = old_count ? old_count * 4 : 64;
    t->packed = slots_zero(t, t->slot_count * sizeof *t->packed);
    for (uint64_t s = 0; s < old_count; s++)
        if (old[s].entry) {
            uint64_t at = slot_of(packed_hash(old[s].word[0], old[s].word[1]), t->slot_count);
            while (t->packed[at].entry)
                at = (at + 1) & (t->slot_count - 1);
            t->packed[at] = old[s];
        }
}

static size_t packed_rows(struct row_table *t, struct keys_batch *b, size_t k)
{
    if (!t->slot_count)
        packed_grow(t);
    const bool far = t->slot_count > 4096;
    for (; k < b->count; k++) {
        if (b->any_long && b->lengths[k] == TOO_LONG) {
            b->entries[k] = hashed_row(t, b, k, b->hashes[k]);
            continue;
        }
        if (far && k + AHEAD < b->count)
            __builtin_prefetch(&t->packed[slot_of(b->slots[k + AHEAD], t->slot_count)], 1);
        uint64_t slot = slot_of(b->slots[k], t->slot_count), x = b->words[k], y = b->seconds[k];
        const struct packed_slot *s = &t->packed[slot];
        while (s->entry && (s->word[0] != x || s->word[1] != y)) {
            slot = (slot + 1) & (t->slot_count - 1);
            s = &t->packed[slot];
        }
        uint32_t entry = s->entry;
        if (!entry) {
            if (!b->add) {
                b->entries[k] = ROW_TABLE_NONE;
                continue;
            }
            entry = row_number(t, b, k) + 1;
            t->packed[slot] = (struct packed_slot){ .word = { x, y }, .entry = entry };
            if ((t->count - t->hashed_count) * 2ULL > t->slot_count) {
                b->entries[k] = entry - 1;
                packed_grow(t);
                return k + 1;
            }
        }
        b->entries[k] = entry - 1;
    }
    return k;
}

/* ---- a batch ---- */

static void rows_through(struct row_table *t, struct keys_batch *b)
{
    size_t k = 0;
    b->fresh_count = 0;
    b->known = t->count;
    if (t->way <= WAY_WORD) {
        words_load(b);
        if (b->constant_null) {
            for (; k < b->count; k++)
                b->entries[k] = null_row(t, b, k);
        }
        while (k < b->count) {
            if (t->way == WAY_DENSE)
                k = b->nulls ? dense_rows(t, b, k, true) : dense_rows(t, b, k, false);
            else
                k = b->nulls ? word_rows(t, b, k, true) : word_rows(t, b, k, false);
        }
    } else {
        bool all = t->way == WAY_HASHED;
        if (t->way == WAY_PACKED) {
            pack_keys(t, b);
            all = b->any_long;
            for (size_t j = 0; j < b->count; j++)
                b->slots[j] = packed_hash(b->words[j], b->seconds[j]);
        }
        if (all && !b->hashes) {
            hash_columns(t->keys.types, b->batch->columns, t->keys.column_count, b->positions, b->count, b->own_hashes);
            b->hashes = b->own_hashes;
        }
        if (t->way == WAY_HASHED)
            hashed_rows(t, b);
        else
            while (k < b->count)
                k = packed_rows(t, b, k);
    }
    if (b->fresh_count)
        rows_append_some(&t->keys, b->batch, b->fresh, (uint16_t)b->fresh_count);
}

void row_table_add(struct row_table *t, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries)
{
    struct keys_batch b;
    b.batch = keys;
    b.positions = positions;
    b.count = count;
    b.hashes = hashes;
    b.entries = entries;
    b.add = true;
    rows_through(t, &b);
}

void row_table_find(struct row_table *t, const struct batch *keys, const row_pos *positions, size_t count, const uint64_t *hashes, uint32_t *entries)
{
    struct keys_batch b;
    b.batch = keys;
    b.positions = positions;
    b.count = count;
    b.hashes = hashes;
    b.entries = entries;
    b.add = false;
    rows_through(t, &b);
}

uint64_t row_table_bytes(const struct row_table *t)
{
    return t->keys.bytes + t->hash_capacity * sizeof *t->hashes + t->slot_bytes;
}
