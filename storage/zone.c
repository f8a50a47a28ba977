/* storage/zone.c - zone maps of a heap (zone.h: what they are for, and why they are right).
 *
 * Each page has a word:
 *
 *     rows (11 bits) | known | version (20 bits) | bounds known, by slot (16) | nulls, by slot (16)
 *
 * and for each slot a pair of bounds. Both lie in arrays that grow in blocks, each twice as long as the one before, so that
 * an element never moves: block b holds pages (FIRST << b) - FIRST and on. Bounds are written before the word that
 * says that they are known. Two threads that learn the same page at once write the same bounds (rule 2). */
#include "storage/heap_private.h"
#include "storage/zone.h"

#include <stdlib.h>

enum { FIRST_BITS = 4, BLOCKS = 33 - FIRST_BITS };
#define FIRST (UINT64_C(1) << FIRST_BITS)

#define WORD_ROWS      UINT64_C(0x7ff)
#define WORD_KNOWN     (UINT64_C(1) << 11)
#define WORD_VERSION   (UINT64_C(0xfffff) << 12)
#define WORD_NEXT      (UINT64_C(1) << 12)
#define WORD_BOUNDS(s) (UINT64_C(1) << (32 + (s)))
#define WORD_NULLS(s)  (UINT64_C(1) << (48 + (s)))
_Static_assert(PAX_MAX_SLOTS <= WORD_ROWS, "rows of a page fit");

struct bounds { _Atomic int64_t low, high; };
struct zone_map {
    _Atomic(_Atomic uint64_t *) words[BLOCKS];
    struct {
        _Atomic uint32_t column;             /* + 1; 0: given to none yet */
        _Atomic(struct bounds *) bounds[BLOCKS];
    } slots[ZONE_COLUMNS];
};

static _Atomic uint64_t bytes_held;
uint64_t zone_bytes(void) { return atomic_load_explicit(&bytes_held, memory_order_relaxed); }

static inline uint32_t block_of(uint32_t page) { return 63 - (uint32_t)__builtin_clzll(page + FIRST) - FIRST_BITS; }
static inline uint64_t place_in(uint32_t page, uint32_t block) { return page + FIRST - (FIRST << block); }

/* Blocks are put in by compare-and-swap, and stay. */
static void *block_make(_Atomic(void *) *at, size_t bytes)
{
    void *there = atom_load_acquire(at);
    if (there)
        return there;
    void *mine = calloc(1, bytes);
    if (!mine)
        return NULL;
    if (atom_cas(at, &there, mine)) {
        atomic_fetch_add_explicit(&bytes_held, bytes, memory_order_relaxed);
        return mine;
    }
    free(mine);
    return there;
}

/* The page's word; make: also when its block isn't there yet. NULL: it isn't (or there is no memory for it). */
static _Atomic uint64_t *word_of(struct zone_map *map, uint32_t page, bool make)
{
    uint32_t block = block_of(page);
    _Atomic uint64_t *words = make ? block_make((_Atomic(void *) *)&map->words[block], (FIRST << block) * sizeof *words) : atom_load_acquire(&map->words[block]);
    return words ? &words[place_in(page, block)] : NULL;
}

int64_t zone_of_float(double value)
{
    int64_t bits;
    if (value != value)
        return INT64_MAX;
    if (value == 0)
        return 0;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

struct zone_map *zone_map(const struct heap *heap)
{
    struct heap_state *state = heap_state(heap);
    return block_make((_Atomic(void *) *)&state->zones, sizeof(struct zone_map));
}

bool zone_track(struct zone_map *map, uint16_t column, uint8_t *slot)
{
    for (uint8_t s = 0; s < ZONE_COLUMNS; s++) {
        uint32_t has = atom_load(&map->slots[s].column);
        if (has == 0 && atom_cas(&map->slots[s].column, &has, column + 1u))
            has = column + 1u;
        if (has == column + 1u) {
            *slot = s;
            return true;
        }
    }
    return false;
}

enum zone_answer zone_ask(struct zone_map *map, uint32_t page, const struct zone_test *tests, uint32_t count, uint16_t *rows, uint64_t *seen)
{
    _Atomic uint64_t *at = word_of(map, page, true);         /* before the page is looked at: who clears has to find the word (rule 3) */
    uint64_t word = *seen = at ? atom_load_acquire(at) : 0;
    if (!(word & WORD_KNOWN))
        return ZONE_SOME;
    *rows = (uint16_t)(word & WORD_ROWS);
    uint32_t block = block_of(page);
    bool all = true;
    for (uint32_t t = 0; t < count; t++) {
        const struct zone_test *test = &tests[t];
        if (!(word & WORD_BOUNDS(test->slot))) {
            all = false;
            continue;
        }
        struct bounds *b = &atom_load_acquire(&map->slots[test->slot].bounds[block])[place_in(page, block)];
        int64_t low = atomic_load_explicit(&b->low, memory_order_relaxed), high = atomic_load_explicit(&b->high, memory_order_relaxed);
        if (high < test->low || low > test->high)
            return ZONE_NONE;
        all &= low >= test->low && high <= test->high && !(word & WORD_NULLS(test->slot));
    }
    return all ? ZONE_ALL : ZONE_SOME;
}

/* ---- learning ---- */

struct found { int64_t low, high; bool nulls; };

#define FIND(type, value)                                                                                   \
    for (uint32_t k = 0; k < count; k++) {                                                                  \
        uint32_t i = positions ? positions[k] : k;                                                          \
        if (nulls && nulls[i])                                                                              \
            continue;                                                                                       \
        type v = ((const type *)values)[i];                                                                 \
        int64_t x = (value);                                                                                \
        f->low = x < f->low ? x : f->low;                                                                   \
        f->high = x > f->high ? x : f->high;                                                                \
    }

static void find_bounds(const void *values, const uint8_t *nulls, uint8_t width, enum zone_order order, const row_pos *positions, uint32_t count, struct found *f)
{
    if (order == ZONE_FLOAT) {
        if (width == 4) {
            FIND(float, zone_of_float((double)v))
        } else {
            FIND(double, zone_of_float(v))
        }
        return;
    }
    switch (width) {
    case 1: FIND(int8_t, v) break;
    case 2: FIND(int16_t, v) break;
    case 4: FIND(int32_t, v) break;
    default: FIND(int64_t, v) break;
    }
}

static struct found column_bounds(const struct heap *heap, const struct page_ref *ref, const struct heap_look *look, const struct zone_test *test)
{
    const uint8_t *page = ref->bytes;
    const struct heap_column *column = &heap->columns[test->column];
    const row_pos *positions = look->all_visible ? NULL : look->selection;
    struct found f = {INT64_MAX, INT64_MIN, false};
    const uint8_t *nulls = pax_nulls(page, test->column);
    for (uint32_t k = 0; nulls && k < look->visible_count; k++)
        f.nulls |= nulls[positions ? positions[k] : k];
    find_bounds(page + pax_columns(page)[test->column].values, f.nulls ? nulls : NULL, column->width, test->order, positions, look->visible_count, &f);
    return f;
}

bool zone_learn(struct zone_map *map, const struct heap *heap, const struct page_ref *ref, const struct heap_look *look,
                const struct zone_test *tests, uint32_t count, uint64_t seen)
{
    ASSERT_SLOW(look->settled);
    uint32_t page = ref->id.page, block = block_of(page);
    _Atomic uint64_t *at = word_of(map, page, false);
    if (!at)
        return false;
    uint64_t word = (seen & ~WORD_ROWS) | WORD_KNOWN | look->visible_count;
    for (uint32_t t = 0; t < count; t++) {
        uint8_t slot = tests[t].slot;
        if (word & WORD_BOUNDS(slot) || tests[t].column >= look->page_columns)
            continue;                        /* a column that the page is older than has its values from the catalog, where they can be rolled back */
        struct bounds *bounds = block_make((_Atomic(void *) *)&map->slots[slot].bounds[block], (FIRST << block) * sizeof *bounds);
        if (!bounds)
            continue;
        struct found f = column_bounds(heap, ref, look, &tests[t]);
        struct bounds *b = &bounds[place_in(page, block)];
        atomic_store_explicit(&b->low, f.low, memory_order_relaxed);
        atomic_store_explicit(&b->high, f.high, memory_order_relaxed);
        word |= WORD_BOUNDS(slot) | (f.nulls ? WORD_NULLS(slot) : 0);
    }
    if (word == seen)
        return false;
    (void)atom_cas(at, &seen, word);          /* rule 3; another's findings are as good */
    return true;
}

void zone_clear(const struct heap *heap, uint32_t page)
{
    struct zone_map *map = atom_load_acquire(&heap_state(heap)->zones);
    _Atomic uint64_t *at = map ? word_of(map, page, false) : NULL;
    if (!at)
        return;
    uint64_t word = atom_load(at);
    while (!atom_cas(at, &word, (word + WORD_NEXT) & WORD_VERSION))
        spin_pause();
}

static void block_free(void *block, size_t bytes)
{
    if (!block)
        return;
    free(block);
    atomic_fetch_sub_explicit(&bytes_held, bytes, memory_order_relaxed);
}

void zone_map_free(struct zone_map *map)
{
    for (uint32_t block = 0; map && block < BLOCKS; block++) {
        block_free((void *)atomic_load_explicit(&map->words[block], memory_order_relaxed), (FIRST << block) * sizeof(uint64_t));
        for (uint32_t s = 0; s < ZONE_COLUMNS; s++)
            block_free(atomic_load_explicit(&map->slots[s].bounds[block], memory_order_relaxed), (FIRST << block) * sizeof(struct bounds));
    }
    block_free(map, sizeof *map);
}
