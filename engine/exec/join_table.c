/* engine/exec/join_table.c - the hash join's table: from a key's word to the build rows that have it.
 *
 *     direct     one integer key of a narrow range: heads[word - low]
 *     slots      else: (word, first row), linear probing from the place that the hash's upper bits say
 *
 * Rows of one word hang together in row order: they are put in from the last to the first, each before those that are there, and a ref
 * carries the bit MORE when `next` is to be asked. So a key that has one row costs no look at `next`, and rows of a unique key never
 * come near it.
 *
 * Several workers fill the table by parts: of the range, or of the hash. Each goes over all words, which is reading in a row, and puts in
 * those of its part, which is where the time goes. Rows whose word is null are in no table. */
#include <stdlib.h>
#include "engine/exec/hash_join.h"

#define PARTS_MAX     16
#define PARALLEL_ROWS 100000             /* fewer rows aren't worth waking anybody */
#define AHEAD         16                 /* rows between asking for a cache line and using it */

struct filling {
    struct join_node *n;
    uint32_t parts;
    uint64_t *bits, *blocks; uint64_t block_count;      /* the run-time filter's */
    _Atomic bool twice, full;
};

static int compare_segments(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;
    if (x->grain != y->grain)
        return x->grain < y->grain ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* All stores' chunks in one list, all segments in row order. */
static enum status rows_gather(struct join_node *n)
{
    struct arena *arena = n->op.again;
    struct join_rows *rows = &n->rows;
    *rows = (struct join_rows){0};
    for (uint32_t s = 0; s < n->store_count; s++) {
        rows->chunk_count += n->stores[s]->rows.chunk_count;
        rows->segment_count += n->stores[s]->segment_count;
        rows->count += n->stores[s]->rows.count;
    }
    if ((uint64_t)rows->chunk_count * ROWS_CHUNK >= REF_MAX)
        return error_set(STATUS_LIMIT_EXCEEDED, "hash join has too many rows on its inner side");
    rows->columns = arena_array(arena, struct build_column, n->build_columns + 1u);
    for (uint16_t c = 0; c < n->build_columns; c++) {
        struct build_column *column = &rows->columns[c];
        column->values = arena_alloc(arena, (rows->chunk_count + 1) * sizeof *column->values);
        column->nulls = arena_alloc(arena, (rows->chunk_count + 1) * sizeof *column->nulls);
        uint32_t at = 0;
        for (uint32_t s = 0; s < n->store_count; s++)
            for (uint32_t k = 0; k < n->stores[s]->rows.chunk_count; k++, at++) {
                const struct vector *v = &n->stores[s]->rows.chunks[k].columns[c];
                column->values[at] = v->values;
                column->nulls[at] = v->nulls;
                column->any_null |= v->nulls != NULL;
            }
    }
    rows->segments = arena_array(arena, struct segment, rows->segment_count + 1);
    uint32_t at = 0;
    uint64_t base = 0;
    for (uint32_t s = 0; s < n->store_count; s++) {
        for (uint32_t k = 0; k < n->stores[s]->segment_count; k++) {
            rows->segments[at] = n->stores[s]->segments[k];
            rows->segments[at++].first += base;
        }
        base += (uint64_t)n->stores[s]->rows.chunk_count * ROWS_CHUNK;
    }
    if (n->store_count > 1)
        qsort(rows->segments, rows->segment_count, sizeof *rows->segments, compare_segments);
    return STATUS_OK;
}

/* ---- filling ---- */

/* Rows first_ref .. + count of one chunk, the last first. */
static void fill_direct_piece(struct filling *f, const uint64_t *words, const uint8_t *nulls, uint32_t first_ref, uint32_t count, uint64_t low, uint64_t range, bool *twice)
{
    struct join_table *t = &f->n->table;
    row_pos mine[ROWS_CHUNK];
    uint32_t m = 0;
    for (uint32_t i = count; i-- > 0;) {
        mine[m] = (row_pos)i;
        m += (words[i] - low < range) & !(nulls && nulls[i]);
    }
    uint32_t *heads = t->heads;
    uint64_t base = t->low;
    for (uint32_t k = 0; k < m; k++) {
        if (k + AHEAD < m)
            __builtin_prefetch(&heads[words[mine[k + AHEAD]] - base], 1);
        uint32_t *head = &heads[words[mine[k]] - base], ref = first_ref + mine[k];
        if (*head != NOBODY) {
            t->next[ref] = *head;
            ref |= MORE;
            *twice = true;
        }
        *head = ref;
    }
}

static void fill_slots_piece(struct filling *f, const uint64_t *words, const uint8_t *nulls, uint32_t first_ref, uint32_t count, uint32_t part, uint64_t *used, bool *twice)
{
    struct join_table *t = &f->n->table;
    uint64_t hashes[ROWS_CHUNK], begin = part * t->part_slots, end = begin + t->part_slots;
    row_pos mine[ROWS_CHUNK];
    uint32_t m = 0;
    for (uint32_t i = count; i-- > 0;) {
        uint64_t hash = t->hashed ? words[i] : hash_u64(words[i]);
        mine[m] = (row_pos)i;
        hashes[m] = hash;
        m += ((hash >> 1) >> (63 - t->part_bits) == part) & !(nulls && nulls[i]);
    }
    for (uint32_t k = 0; k < m; k++) {
        if (k + AHEAD < m)
            __builtin_prefetch(&t->slots[begin + hash_below(hashes[k + AHEAD] << t->part_bits, t->part_slots)], 1);
        uint64_t word = words[mine[k]], at = begin + hash_below(hashes[k] << t->part_bits, t->part_slots);
        uint32_t ref = first_ref + mine[k];
        while (t->slots[at].first != NOBODY && t->slots[at].word != word)
            if (++at == end)
                at = begin;
        struct join_slot *slot = &t->slots[at];
        if (slot->first != NOBODY) {
            t->next[ref] = slot->first;
            ref |= MORE;
            *twice = true;
        } else if (++*used >= t->part_slots) {           /* a place must stay empty: it ends a search */
            atomic_store_explicit(&f->full, true, memory_order_relaxed);
            return;
        }
        slot->word = word;
        slot->first = ref;
    }
    if (f->blocks)
        for (uint32_t k = 0; k < m; k++) {
            uint64_t hash = hashes[k] | 1;
            f->blocks[hash_below(hash, f->block_count)] |= bloom_bits(hash);
        }
}

static void fill_bits(struct filling *f, uint64_t from, uint64_t end)
{
    const uint32_t *heads = f->n->table.heads;
    for (uint64_t at = from; at < end; at += 64) {
        uint64_t bits = 0, most = end - at < 64 ? end - at : 64;
        for (uint64_t i = 0; i < most; i++)
            bits |= (uint64_t)(heads[at + i] != NOBODY) << i;
        f->bits[at >> 6] = bits;
    }
}

static enum status fill_part(void *context, uint16_t part, struct worker *worker)
{
    struct filling *f = context;
    struct join_node *n = f->n;
    struct join_table *t = &n->table;
    struct join_rows *rows = &n->rows;
    const struct build_column *column = &rows->columns[n->word_column];
    bool twice = false;
    uint64_t used = 0, from = 0, end = 0;
    if (t->direct) {
        from = t->range / f->parts * part & ~63ULL;
        end = part + 1u == f->parts ? t->range : t->range / f->parts * (part + 1u) & ~63ULL;
        memset(t->heads + from, 0xff, (end - from) * sizeof *t->heads);
    } else {
        for (uint64_t at = part * t->part_slots; at < (part + 1u) * t->part_slots; at++)
            t->slots[at].first = NOBODY;
        if (f->blocks)
            memset(f->blocks + f->block_count / f->parts * part, 0, f->block_count / f->parts * sizeof *f->blocks);
    }
    for (uint32_t s = rows->segment_count; s-- > 0;) {
        uint64_t first = rows->segments[s].first, ref = first + rows->segments[s].count;
        while (ref > first) {
            uint64_t begin = (ref - 1) / ROWS_CHUNK * ROWS_CHUNK;
            begin = begin < first ? first : begin;
            uint32_t chunk = (uint32_t)(begin / ROWS_CHUNK), at = begin % ROWS_CHUNK;
            const uint64_t *words = (const uint64_t *)column->values[chunk] + at;
            const uint8_t *nulls = column->nulls[chunk] ? column->nulls[chunk] + at : NULL;
            if (t->direct)
                fill_direct_piece(f, words, nulls, (uint32_t)begin, (uint32_t)(ref - begin), t->low + from, end - from, &twice);
            else
                fill_slots_piece(f, words, nulls, (uint32_t)begin, (uint32_t)(ref - begin), part, &used, &twice);
            ref = begin;
        }
        enum status status = s % 16 == 0 ? run_check(worker) : STATUS_OK;
        if (status)
            return status;
        if (atomic_load_explicit(&f->full, memory_order_relaxed))
            return STATUS_OK;
    }
    if (f->bits)
        fill_bits(f, from, end);
    if (twice)
        atomic_store_explicit(&f->twice, true, memory_order_relaxed);
    return STATUS_OK;
}

static enum status fill(struct filling *f, uint16_t workers)
{
    struct join_node *n = f->n;
    atomic_store_explicit(&f->twice, false, memory_order_relaxed);
    atomic_store_explicit(&f->full, false, memory_order_relaxed);
    enum status status = workers > 1 ? workers_each(n->op.run, (uint16_t)f->parts, fill_part, f) : fill_part(f, 0, &n->op.run->leader);
    n->table.unique = !atomic_load_explicit(&f->twice, memory_order_relaxed);
    return status;
}

static void filter_room(struct filling *f, struct arena *arena)
{
    struct join_table *t = &f->n->table;
    if (t->direct) {
        f->bits = arena_alloc(arena, (t->range / 64 + 1) * sizeof *f->bits);
        f->bits[t->range / 64] = 0;
    } else {
        f->block_count = (f->n->rows.count / 5 / f->parts + 1) * f->parts;       /* about 13 bits a row */
        f->blocks = arena_alloc(arena, f->block_count * sizeof *f->blocks);
    }
}

static void filter_set(struct join_node *n, const struct filling *f, int64_t low, int64_t high)
{
    struct runtime_filter *filter = n->runtime_filter;
    filter->bits = f->bits;
    filter->blocks = f->blocks;
    filter->block_count = f->block_count;
    filter->low = (uint64_t)low;
    filter->range = n->table.direct ? n->table.range : n->layout.count == 1 ? (uint64_t)high - (uint64_t)low + 1 : 0;
    if (n->rows.count == 0) {
        filter->bits = filter->blocks = NULL;
        filter->block_count = 0;
    }
}

/* Numbers the build rows in row order and fills the table. */
enum status join_table_make(struct join_node *n, uint16_t workers)
{
    struct arena *arena = n->op.again;
    struct join_table *t = &n->table;
    struct filling f = { .n = n, .parts = 1 };
    enum status status = rows_gather(n);
    if (status)
        return status;
    uint64_t count = n->rows.count;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t s = 0; s < n->store_count; s++) {
        low = n->stores[s]->low < low ? n->stores[s]->low : low;
        high = n->stores[s]->high > high ? n->stores[s]->high : high;
    }
    if (workers > 1 && count >= PARALLEL_ROWS)
        while (f.parts < workers && f.parts < PARTS_MAX)
            f.parts *= 2;
    *t = (struct join_table){ .hashed = !n->worded };
    uint64_t span = low <= high ? (uint64_t)high - (uint64_t)low : 0;
    t->direct = count == 0 || (n->worded && n->layout.count == 1 && low <= high && span < count * 8 + 4096);
    t->next = arena_alloc(arena, ((uint64_t)n->rows.chunk_count * ROWS_CHUNK + 1) * sizeof *t->next);
    if (t->direct) {
        t->low = (uint64_t)low;
        t->range = low <= high ? span + 1 : 0;
        t->heads = arena_alloc(arena, (t->range + 1) * sizeof *t->heads);
    } else {
        while (1u << t->part_bits < f.parts)
            t->part_bits++;
        t->part_slots = (count + count / 2) / f.parts + 16;
        t->slots = arena_alloc(arena, t->part_slots * f.parts * sizeof *t->slots);
    }
    if (n->runtime_filter)
        filter_room(&f, arena);
    status = fill(&f, f.parts > 1 ? workers : 1);
    if (!status && atomic_load_explicit(&f.full, memory_order_relaxed)) {        /* hashes that don't spread: one ring for all */
        t->part_slots *= f.parts;
        t->part_bits = 0;
        f.parts = 1;
        status = fill(&f, 1);
    }
    if (!status && n->runtime_filter)
        filter_set(n, &f, low, high);
    return status;
}

/* ---- asking ---- */

static uint32_t find_further(const struct join_table *t, uint64_t word, uint64_t at)
{
    uint64_t end = (at / t->part_slots + 1) * t->part_slots;
    while (t->slots[at].first != NOBODY && t->slots[at].word != word)
        if (++at == end)
            at -= t->part_slots;
    return t->slots[at].first;
}

void join_table_find(const struct join_table *t, const uint64_t *words, uint16_t count, uint32_t *found)
{
    if (t->direct) {
        const uint32_t *heads = t->heads;
        const uint64_t low = t->low, range = t->range;
        for (uint16_t k = 0; k < count; k++) {
            uint64_t at = words[k] - low;
            found[k] = at < range ? heads[at] : NOBODY;
        }
        return;
    }
    uint64_t places[BATCH_MAX];
    for (uint16_t k = 0; k < count; k++) {
        uint64_t hash = t->hashed ? words[k] : hash_u64(words[k]);
        places[k] = ((hash >> 1) >> (63 - t->part_bits)) * t->part_slots + hash_below(hash << t->part_bits, t->part_slots);
        __builtin_prefetch(&t->slots[places[k]]);
    }
    for (uint16_t k = 0; k < count; k++) {
        const struct join_slot *slot = &t->slots[places[k]];
        found[k] = slot->first == NOBODY || slot->word == words[k] ? slot->first : find_further(t, words[k], places[k]);
    }
}
