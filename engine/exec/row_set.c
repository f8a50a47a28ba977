/* engine/exec/row_set.c - row ids by way of indexes, as a bitmap (row_set.h). */
#include <string.h>

#include "engine/exec/index_range.h"
#include "engine/exec/row_set.h"

uint64_t row_set_whole[ROW_SET_WORDS];

/* ---- the set ---- */

static struct row_set *set_new(struct arena *arena, uint32_t page_count, uint64_t limit)
{
    struct row_set *set = arena_zero(arena, sizeof *set);
    set->page_count = page_count;
    set->pages = arena_zero(arena, ((size_t)page_count + 1) * sizeof *set->pages);
    set->arena = arena;
    set->limit = limit;
    return set;
}

static void set_add(struct row_set *set, uint64_t row_id)
{
    uint32_t page = ROW_PAGE(row_id);
    uint16_t slot = ROW_SLOT(row_id);
    if (page >= set->page_count || slot >= PAX_MAX_SLOTS)
        return;
    uint64_t *words = set->pages[page];
    if (words == row_set_whole)
        return;
    if (!words) {
        if (set->kept >= set->limit) {
            set->pages[page] = row_set_whole;
            return;
        }
        set->kept += ROW_SET_WORDS * sizeof *words;
        words = set->pages[page] = arena_zero(set->arena, ROW_SET_WORDS * sizeof *words);
    }
    words[slot / 64] |= (uint64_t)1 << (slot % 64);
}

static void set_unite(struct row_set *into, const struct row_set *from)
{
    for (uint32_t page = 0; page < into->page_count; page++) {
        const uint64_t *theirs = from->pages[page];
        uint64_t *mine = into->pages[page];
        if (!theirs || mine == row_set_whole)
            continue;
        if (!mine || theirs == row_set_whole) {
            into->pages[page] = from->pages[page];
            continue;
        }
        for (int w = 0; w < ROW_SET_WORDS; w++)
            mine[w] |= theirs[w];
    }
}

static void set_intersect(struct row_set *into, const struct row_set *from)
{
    for (uint32_t page = 0; page < into->page_count; page++) {
        const uint64_t *theirs = from->pages[page];
        uint64_t *mine = into->pages[page], any = 0;
        if (!mine || theirs == row_set_whole)
            continue;
        if (!theirs || mine == row_set_whole) {
            into->pages[page] = from->pages[page];
            continue;
        }
        /* Which slots of a page that isn't all plain rows an entry means is not known: two indexes may lead to one version by
         * different roots only if it was updated, and then the page is no such page. */
        for (int w = 0; w < ROW_SET_WORDS; w++)
            any |= mine[w] &= theirs[w];
        (void)any;                       /* an empty page stays: its versions may have other roots in the other index */
    }
}

uint16_t row_set_positions(const uint64_t *slots, uint16_t slot_count, row_pos *positions)
{
    uint16_t count = 0;
    for (uint32_t w = 0; w * 64 < slot_count; w++)
        for (uint64_t bits = slots[w]; bits; bits &= bits - 1) {
            uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (slot < slot_count)
                positions[count++] = (row_pos)slot;
        }
    return count;
}

/* ---- from indexes ---- */

static enum status read_range(struct run *run, struct index_range *r, struct row_set *set)
{
    struct btree_scan *scan;
    enum status status = btree_scan_open(&r->index->tree, set->arena, r->low.length ? (const uint8_t *)r->low.bytes : NULL, (uint32_t)r->low.length,
                                         r->high.length ? (const uint8_t *)r->high.bytes : NULL, (uint32_t)r->high.length, false, &scan);
    if (status)
        return status;
    while (!status) {
        struct btree_entries entries;
        status = btree_scan_next(scan, &entries);
        if (status || entries.count == 0)
            break;
        for (uint32_t i = 0; i < entries.count; i++)
            set_add(set, entries.row_ids[i]);
        status = run_check(&run->leader);
    }
    btree_scan_close(scan);
    return status;
}

/* A bound's value; *none: it is null, so there is no row. */
static enum status bound_value(struct run *run, struct arena *arena, const struct scalar *s, struct value *space, const struct value **out, bool *none)
{
    *out = NULL;
    if (!s)
        return STATUS_OK;
    enum status status = run_scalar_in(run, arena, s, space);
    if (status)
        return status;
    if (space->null)
        *none = true;
    *out = space;
    return STATUS_OK;
}

static enum status set_of_index(struct run *run, const struct bitmap *b, struct row_set *set)
{
    struct index_range r;
    struct arena *arena = set->arena;
    struct value low_space, high_space, array_space;
    const struct value *low, *high, *array;
    bool none = false;
    if (index_too_young(b->index, run->snapshot))
        return error_set(STATUS_CONFLICT, "could not serialize access: index \"%s\" is newer than the snapshot", b->index->name);
    index_range_open(&r, b->index, &b->bound, arena);
    for (uint16_t k = 0; k < b->bound.equal_count; k++) {
        struct value value;
        const struct value *got;
        enum status status = bound_value(run, arena, b->bound.equal[k], &value, &got, &none);
        if (status)
            return status;
        if (none)
            return STATUS_OK;
        struct vector v;
        vector_of_value(&v, got, b->bound.equal[k]->type.width);
        key_append(b->bound.equal[k]->type, b->index->columns[k].flags, &v, 0, &r.prefix);
    }
    enum status status = bound_value(run, arena, b->bound.low, &low_space, &low, &none);
    if (!status)
        status = bound_value(run, arena, b->bound.high, &high_space, &high, &none);
    if (!status)
        status = bound_value(run, arena, b->bound.any_array, &array_space, &array, &none);
    if (status || none)
        return status;
    if (!array) {
        index_range_make(&r, low, high);
        return read_range(run, &r, set);
    }
    struct varlen *keys;
    uint32_t count = index_range_keys(&r, array, arena, &keys);
    for (uint32_t k = 0; k < count && !status; k++) {
        index_range_key(&r, &keys[k]);
        status = read_range(run, &r, set);
    }
    return status;
}

enum status row_set_make(struct run *run, const struct bitmap *b, struct arena *arena, uint32_t page_count, struct row_set **out)
{
    struct row_set *set = *out = set_new(arena, page_count, (uint64_t)run->work_mem);
    if (b->kind == BITMAP_INDEX)
        return set_of_index(run, b, set);
    for (uint16_t i = 0; i < b->count; i++) {
        struct row_set *part;
        enum status status = row_set_make(run, b->parts[i], arena, page_count, &part);
        if (status)
            return status;
        if (i == 0)
            *out = set = part;
        else if (b->kind == BITMAP_OR)
            set_unite(set, part);
        else
            set_intersect(set, part);
    }
    return STATUS_OK;
}
