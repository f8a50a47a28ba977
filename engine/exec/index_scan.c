/* engine/exec/index_scan.c - reads rows by way of an index, in its order.
 *
 * The conditions become one or more ranges of key bytes. Each entry leads to a row id; heap_fetch follows the chain
 * there to the version that the snapshot sees. If that is the very version that the entry was made for, the entry's key is
 * the row's. If the chain led on to a later version, the row may have another key by now: the key is made anew from
 * the row and compared with the entry's (another entry leads to the row under its new key); and since two entries of one key
 * may lead to one version, the ids handed out under the present key are remembered.
 *
 * *Index only*: where all that is wanted stands in the index's key, an entry whose row lies on a page that the visibility map calls
 * visible to everybody is the row: no page of the table is touched. The map is asked under the leaf's latch (judge_entries), for
 * after it vacuum could take a dead row's entry away, free the row and mark its page, and a copy of the entry would be taken
 * for a row. Other entries' rows are fetched (`Heap Fetches`).
 *
 * A large range that is read once is cut into *grains* of some leaves each when the scan is opened (btree_cuts), which workers share as they do
 * those of a table (scan_share.c), and whose rows are numbered by grain whoever reads them. The plan says so (in_grains).
 *
 * Batches begin small and grow, so that LIMIT 1 fetches little. No pin is held between rows. */
#include "engine/exec/index_range.h"
#include "engine/exec/index_only.h"
#include "base/hash.h"

#ifndef GRAIN_LEAVES
#define GRAIN_LEAVES  8
#endif
#define FIRST_BATCH   2
#define POINT_ENTRIES 16

struct index_node {
    struct shared_scan share;
    struct index_range range;            /* in grains: all of it, and where it is cut */
    struct btree_place *cuts; uint32_t cut_count;
    struct program *filter;
    struct program *bounds;              /* equal values, low, high, array: in that order, those that exist */
    uint16_t bound_count;
    uint16_t *heap_columns, heap_count;  /* table columns to fetch, and where they go */
    uint16_t *heap_to;
    uint16_t *key_columns;               /* table columns of the index */
    bool plain;                          /* no expressions in the index */
    struct index_reader reader;          /* index only */
    bool single;                         /* all columns of a unique index are given: one row at most */
};

struct id_set { uint64_t *ids; uint32_t count, capacity; };

struct index_local {
    struct local local;
    struct evaluation *filter, *bounds;
    struct arena *arena;                 /* of one run */
    struct arena *bytes;                 /* of one batch */
    struct vector *columns, *fetched;
    uint16_t capacity, count, wanted;
    int64_t *ids;
    uint64_t batches;
    uint64_t grain;                      /* in grains: the one that is read */
    uint64_t filtered, fetches;          /* for EXPLAIN */
    struct node_counters *counted_for;   /* whose this thread's pages were */
    struct value *values;
    struct index_range range;
    /* ids handed out under `last_key` */
    struct text_buffer last_key;
    struct id_set seen;
    uint64_t first_id;                   /* the first one, before a set is worth it */
    uint8_t *visible; uint32_t visible_capacity;      /* index only: by entry of the step at hand, is its page visible to everybody? */
    bool have_key, found_one;
};

/* The range that the bounds' values make; of column = ANY (array) the prefix, and the array. *none: a null among them. */
static enum status range_make(const struct index_node *n, struct evaluation *bounds, struct index_range *range, struct value *array, bool *none)
{
    const struct plan *plan = n->share.op.plan;
    const struct index_bound *b = &plan->bound;
    struct batch nothing = batch_empty(1);
    struct vector vectors[n->bound_count + 1];
    struct value values[2];
    uint16_t at, k = 0;
    enum status status = evaluation_run(bounds, &nothing, vectors, &at);
    *none = false;
    range->prefix.length = 0;
    for (uint16_t i = 0; i < n->bound_count && !status; i++)
        *none |= vector_null(&vectors[i], 0);
    if (status || *none)
        return status;
    for (; k < b->equal_count; k++)
        key_append(b->equal[k]->type, plan->index->columns[k].flags, &vectors[k], 0, &range->prefix);
    if (b->any_array)
        *array = value_get(b->any_array->type, &vectors[k], 0);
    if (n->single || b->any_array)
        return STATUS_OK;
    if (b->low)
        values[0] = value_get(b->low->type, &vectors[k++], 0);
    if (b->high)
        values[1] = value_get(b->high->type, &vectors[k], 0);
    index_range_make(range, b->low ? &values[0] : NULL, b->high ? &values[1] : NULL);
    return STATUS_OK;
}

/* An empty upper key means: no end. */
static const uint8_t *end_of(const struct text_buffer *key) { return key->length ? (const uint8_t *)key->bytes : NULL; }

static enum status cut_into_grains(struct index_node *n)
{
    struct exec_node *op = &n->share.op;
    struct arena *arena = op->run->arena;
    struct evaluation *bounds;
    bool none = false;
    index_range_open(&n->range, op->plan->index, &op->plan->bound, arena);
    n->share.in_grains = true;
    enum status status = evaluation_open(n->bounds, op->run, arena, &bounds);
    if (!status)
        status = range_make(n, bounds, &n->range, NULL, &none);
    if (status || none)
        return status;
    status = btree_cuts(&op->plan->index->tree, arena, end_of(&n->range.low), (uint32_t)n->range.low.length, end_of(&n->range.high),
                        (uint32_t)n->range.high.length, GRAIN_LEAVES, &n->cuts, &n->cut_count);
    n->share.grains = n->cut_count + 1u;
    return status;
}

static enum status index_open(struct exec_node *op)
{
    struct index_node *n = (struct index_node *)op;
    const struct plan *plan = op->plan;
    const struct index *index = plan->index;
    struct arena *arena = op->run->arena;
    struct scalar **exprs = arena_array(arena, struct scalar *, plan->bound.equal_count + 3u);
    uint16_t count = 0;
    if (index_too_young(index, op->run->snapshot))
        return error_set(STATUS_CONFLICT, "could not serialize access: index \"%s\" is newer than the snapshot", index->name);
    for (; count < plan->bound.equal_count; count++)
        exprs[count] = plan->bound.equal[count];
    if (plan->bound.low) exprs[count++] = plan->bound.low;
    if (plan->bound.high) exprs[count++] = plan->bound.high;
    if (plan->bound.any_array) exprs[count++] = plan->bound.any_array;
    n->bound_count = count;
    enum status status = node_program(op, 0, exprs, count, &n->bounds);
    if (!status)
        status = node_filter(op, 1, plan->filter, &n->filter);
    n->heap_columns = arena_array(arena, uint16_t, plan->column_count + 1u);
    n->heap_to = arena_array(arena, uint16_t, plan->column_count + 1u);
    for (uint16_t c = 0; c < plan->column_count; c++)
        if (plan->columns[c] != 0xFFFF) {
            n->heap_columns[n->heap_count] = plan->columns[c];
            n->heap_to[n->heap_count++] = c;
        }
    n->plain = true;
    n->key_columns = arena_array(arena, uint16_t, index->column_count + 1u);
    for (uint16_t k = 0; k < index->column_count; k++) {
        if (index->columns[k].column == 0)
            n->plain = false;
        else
            n->key_columns[k] = (uint16_t)(index->columns[k].column - 1);
    }
    n->single = index->unique && plan->bound.equal_count == index->column_count;
    if (plan->index_only)
        index_reader_open(&n->reader, plan, arena);
    if (!status && plan->in_grains)
        status = cut_into_grains(n);
    return status;
}

static void make_columns(struct index_local *l, uint16_t capacity)
{
    const struct plan *plan = l->local.op->plan;
    struct index_node *n = (struct index_node *)l->local.op;
    struct arena *arena = l->local.worker->arena;
    for (uint16_t c = 0; c < plan->column_count; c++) {
        vector_make(&l->columns[c], arena, plan->types[c].width, capacity);
        if (plan->columns[c] == 0xFFFF)
            l->columns[c].nulls = NULL;
    }
    for (uint16_t k = 0; k < n->heap_count; k++)
        l->fetched[k] = l->columns[n->heap_to[k]];
    l->capacity = capacity;
}

static enum status index_local(struct local *local)
{
    struct index_local *l = (struct index_local *)local;
    struct index_node *n = (struct index_node *)local->op;
    struct arena *arena = local->worker->arena;
    const struct plan *plan = local->op->plan;
    l->columns = arena_array(arena, struct vector, plan->column_count + 1u);
    l->fetched = arena_array(arena, struct vector, plan->column_count + 1u);
    l->values = arena_array(arena, struct value, n->bound_count + 1u);
    l->arena = arena_open(arena, "index scan");
    l->bytes = arena_open(arena, "index rows");
    index_range_open(&l->range, plan->index, &plan->bound, arena);
    text_buffer_open(&l->last_key, arena);
    make_columns(l, 8);
    enum status status = evaluation_open(n->bounds, local->worker->run, arena, &l->bounds);
    if (!status && n->filter)
        status = evaluation_open(n->filter, local->worker->run, arena, &l->filter);
    return status;
}

/* ---- rows ---- */

static bool set_add(struct id_set *set, struct arena *arena, uint64_t id)
{
    if (set->count * 2 >= set->capacity) {
        uint32_t capacity = set->capacity ? set->capacity * 2 : 16;
        uint64_t *ids = arena_zero(arena, capacity * sizeof *ids);
        for (uint32_t i = 0; i < set->capacity; i++)
            if (set->ids[i]) {
                uint32_t at = (uint32_t)hash_u64(set->ids[i]) & (capacity - 1);
                while (ids[at]) at = (at + 1) & (capacity - 1);
                ids[at] = set->ids[i];
            }
        set->ids = ids;
        set->capacity = capacity;
    }
    id += 1;                             /* 0 is free */
    uint32_t at = (uint32_t)hash_u64(id) & (set->capacity - 1);
    for (; set->ids[at]; at = (at + 1) & (set->capacity - 1))
        if (set->ids[at] == id)
            return false;
    set->ids[at] = id;
    set->count++;
    return true;
}

/* Is this version new under the entry's key? */
static bool first_time(struct index_local *l, const uint8_t *key, uint32_t length, uint64_t row_id)
{
    bool plain = ((struct index_node *)l->local.op)->plain;
    if (plain && (!l->have_key || l->last_key.length != length || memcmp(l->last_key.bytes, key, length) != 0)) {
        l->last_key.length = 0;
        text_buffer_add(&l->last_key, key, length);
        l->have_key = true;
        l->first_id = row_id;
        l->seen = (struct id_set){0};
        return true;
    }
    if (!plain && !l->have_key) {
        l->have_key = true;
        l->first_id = row_id;
        return true;
    }
    if (l->first_id == row_id)
        return false;
    return set_add(&l->seen, l->arena, row_id);
}

/* Has the version still the entry's key? */
static enum status same_key(struct index_local *l, uint64_t version, const uint8_t *key, uint32_t length, bool *same)
{
    struct index_node *n = (struct index_node *)l->local.op;
    const struct plan *plan = l->local.op->plan;
    const struct index *index = plan->index;
    *same = true;
    if (!n->plain)
        return STATUS_OK;                /* the condition is in the filter too */
    struct vector *v = arena_array(l->bytes, struct vector, index->column_count);
    for (uint16_t k = 0; k < index->column_count; k++)
        vector_make(&v[k], l->bytes, index->columns[k].type.width, 1);
    bool found;
    enum status status = heap_fetch_version(&plan->table->heap, version, n->key_columns, index->column_count, v, 0, l->bytes, &found);
    if (status || !found) {
        *same = false;
        return status;
    }
    struct text_buffer now;
    text_buffer_open(&now, l->bytes);
    for (uint16_t k = 0; k < index->column_count; k++) {
        if (vector_null(&v[k], 0))
            key_append_null(index->columns[k].flags, &now);
        else
            key_append(index->columns[k].type, index->columns[k].flags, &v[k], 0, &now);
    }
    *same = now.length == length && memcmp(now.bytes, key, length) == 0;
    return STATUS_OK;
}

static enum status filter_and_push(struct local *local, const struct batch *batch)
{
    struct index_local *l = (struct index_local *)local;
    if (!l->filter)
        return local_push(local, batch);
    struct batch out = *batch;
    const row_pos *left;
    uint16_t at;
    enum status status = evaluation_filter(l->filter, batch, &left, &out.selected_count, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, filter_and_push);
    l->filtered += batch->selected_count - out.selected_count;
    out.selection = (row_pos *)left;
    out.all_selected = left == NULL;
    return local_push(local, &out);
}

static enum status emit(struct index_local *l)
{
    if (l->count == 0)
        return STATUS_OK;
    struct batch batch = { .columns = l->columns, .column_count = l->local.op->plan->column_count, .row_count = l->count, .selected_count = l->count,
                           .all_selected = true, .grain = l->local.op->plan->in_grains ? l->grain : l->batches++ / GRAIN_BATCHES };
    enum status status = filter_and_push(&l->local, &batch);
    arena_reset(l->bytes);
    l->count = 0;
    if (l->wanted < BATCH_ROWS)
        l->wanted = (uint16_t)(l->wanted * 4 < BATCH_ROWS ? l->wanted * 4 : BATCH_ROWS);
    if (l->capacity < l->wanted)
        make_columns(l, l->wanted <= 128 ? 128 : BATCH_ROWS);
    if (!status)
        status = run_check(l->local.worker);
    if (!status && (l->local.worker->number == 0 || l->local.worker->leads))
        status = run_deliver(l->local.worker->run);
    return status;
}

static enum status take_entry(struct index_local *l, uint64_t row_id, const uint8_t *key, uint32_t length)
{
    struct index_node *n = (struct index_node *)l->local.op;
    const struct plan *plan = l->local.op->plan;
    struct run *run = l->local.op->run;
    bool found;
    uint64_t version = row_id;
    enum status status = heap_fetch(&plan->table->heap, run->snapshot, row_id, n->heap_columns, n->heap_count, l->fetched, l->count, l->bytes, &found, &version);
    l->fetches++;
    if (status || !found)
        return status;
    if (version != row_id) {
        bool same;
        status = same_key(l, version, key, length, &same);
        if (status || !same)
            return status;
    }
    if (!n->single && !first_time(l, key, length, version))
        return STATUS_OK;
    for (uint16_t c = 0; c < plan->column_count; c++)
        if (plan->columns[c] == 0xFFFF)
            ((int64_t *)l->columns[c].values)[l->count] = (int64_t)version;
    l->count++;
    l->found_one = true;
    return l->count == l->wanted ? emit(l) : STATUS_OK;
}

/* Index only, and the entry is the row. */
static enum status take_visible(struct index_local *l, const uint8_t *key, uint32_t length)
{
    struct index_node *n = (struct index_node *)l->local.op;
    enum status status = index_reader_row(&n->reader, key, length, l->columns, l->count, l->bytes);
    if (status)
        return status;
    l->count++;
    l->found_one = true;
    return l->count == l->wanted ? emit(l) : STATUS_OK;
}

static enum status judge_entries(void *context, const struct btree_entries *entries)
{
    struct index_local *l = context;
    if (entries->count > l->visible_capacity) {
        l->visible_capacity = entries->count < 512 ? 512 : entries->count;
        l->visible = arena_alloc(l->arena, l->visible_capacity);
    }
    return heap_map_visible(&l->local.op->plan->table->heap, entries->row_ids, entries->count, l->visible);
}

/* Entry i of a step. */
static enum status take(struct index_local *l, uint32_t i, uint64_t row_id, const uint8_t *key, uint32_t length)
{
    if (l->local.op->plan->index_only && l->visible[i])
        return take_visible(l, key, length);
    return take_entry(l, row_id, key, length);
}

static enum status scan_read(struct index_local *l, struct btree_scan *scan)
{
    struct exec_node *op = l->local.op;
    enum status status = STATUS_OK;
    bool single = ((struct index_node *)op)->single;
    if (op->plan->index_only)
        btree_scan_judge(scan, (struct btree_judge){ judge_entries, l });
    l->have_key = false;
    l->found_one = false;
    while (!status && !(single && l->found_one)) {
        struct btree_entries entries;
        status = btree_scan_next(scan, &entries);
        if (status || entries.count == 0)
            break;
        status = run_check(l->local.worker);     /* at each leaf: of its entries perhaps none is a row */
        for (uint32_t i = 0; i < entries.count && !status && !(single && l->found_one); i++)
            status = take(l, i, entries.row_ids[i], entries.keys[i], entries.key_lengths[i]);
    }
    btree_scan_close(scan);
    return status;
}

static enum status range_read(struct index_local *l)
{
    const struct index_range *r = &l->range;
    const struct plan *plan = l->local.op->plan;
    struct btree_scan *scan;
    enum status status = btree_scan_open(&plan->index->tree, l->arena, end_of(&r->low), (uint32_t)r->low.length, end_of(&r->high), (uint32_t)r->high.length, plan->backward, &scan);
    return status ? status : scan_read(l, scan);
}

/* One row at most, in a unique index: its entries (of versions past, mostly) are few, and looked up at once. The key is the range's prefix. */
static enum status point_read(struct index_local *l)
{
    uint64_t row_ids[POINT_ENTRIES];
    uint32_t count;
    const uint8_t *key = (const uint8_t *)l->range.prefix.bytes;
    uint32_t length = (uint32_t)l->range.prefix.length;
    const struct plan *plan = l->local.op->plan;
    const struct btree_judge judge = { judge_entries, l };
    enum status status = btree_lookup_judged(&plan->index->tree, key, length, row_ids, POINT_ENTRIES, &count, plan->index_only ? &judge : NULL);
    if (status)
        return status;
    if (count == BTREE_SCAN_IT) {
        index_range_make(&l->range, NULL, NULL);
        return range_read(l);
    }
    l->have_key = false;
    l->found_one = false;
    for (uint32_t i = 0; i < count && !status && !l->found_one; i++)
        status = take(l, i, row_ids[i], key, length);
    return status;
}

static enum status array_ranges(struct index_local *l, const struct value *array)
{
    struct varlen *keys;
    uint32_t count = index_range_keys(&l->range, array, l->arena, &keys);
    enum status status = STATUS_OK;
    for (uint32_t k = 0; k < count && !status; k++) {
        index_range_key(&l->range, &keys[l->local.op->plan->backward ? count - 1 - k : k]);
        status = range_read(l);
    }
    return status;
}

static void index_begin(struct local *local)
{
    struct index_local *l = (struct index_local *)local;
    l->wanted = ((struct index_node *)local->op)->single ? 1 : FIRST_BATCH;
    l->count = 0;
    l->batches = 0;
    l->filtered = l->fetches = 0;
    l->counted_for = pages_count_for(local->op->counters);
}

static void index_end(struct local *local)
{
    struct index_local *l = (struct index_local *)local;
    struct node_counters *counters = local->op->counters;
    pages_count_for(l->counted_for);
    if (!counters)
        return;
    atomic_fetch_add_explicit(&counters->filtered, l->filtered, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->heap_fetches, l->fetches, memory_order_relaxed);
}

static void index_again(struct index_local *l)
{
    arena_reset(l->arena);
    l->visible_capacity = 0;
    l->seen = (struct id_set){0};
}

/* Grains count in the scan's direction. */
static enum status index_grain(struct local *local, uint64_t grain)
{
    struct index_local *l = (struct index_local *)local;
    const struct index_node *n = (const struct index_node *)local->op;
    const struct plan *plan = local->op->plan;
    uint64_t part = plan->backward ? n->cut_count - grain : grain, filtered = l->filtered, fetches = l->fetches;
    struct btree_place first = { end_of(&n->range.low), (uint32_t)n->range.low.length, 0 }, last = { end_of(&n->range.high), (uint32_t)n->range.high.length, 0 };
    const struct btree_place *low = part ? &n->cuts[part - 1] : first.key ? &first : NULL, *high = part < n->cut_count ? &n->cuts[part] : last.key ? &last : NULL;
    struct btree_scan *scan;
    index_again(l);
    l->count = 0;
    l->grain = grain;
    enum status status = btree_scan_between(&plan->index->tree, l->arena, low, high, plan->backward, &scan);
    if (!status)
        status = scan_read(l, scan);
    if (!status)
        status = emit(l);
    if (local->worker->again) {
        l->filtered = filtered;
        l->fetches = fetches;
    }
    return status;
}

static enum status index_read(struct index_local *l)
{
    struct index_node *n = (struct index_node *)l->local.op;
    const struct plan *plan = l->local.op->plan;
    enum status status = STATUS_OK;
    struct value array;
    bool none;
    for (uint64_t grain = 0; plan->in_grains && grain < n->share.grains && !status; grain++)
        status = index_grain(&l->local, grain);
    if (plan->in_grains)
        return status;
    index_again(l);
    status = range_make(n, l->bounds, &l->range, &array, &none);
    if (status || none)
        return status;
    status = plan->bound.any_array ? array_ranges(l, &array) : n->single ? point_read(l) : range_read(l);
    return status ? status : emit(l);
}

static enum status index_source(struct local *local)
{
    index_begin(local);
    enum status status = index_read((struct index_local *)local);
    index_end(local);
    return status;
}

const struct node_class index_scan_class = { .name = "index scan", .node_bytes = sizeof(struct index_node), .local_bytes = sizeof(struct index_local),
                                             .open = index_open, .local = index_local, .source = index_source, .parallel = true,
                                             .scan_begin = index_begin, .scan_end = index_end, .grain = index_grain };
