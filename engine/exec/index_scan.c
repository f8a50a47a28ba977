/* engine/exec/index_scan.c - reads rows by way of an index, in its order.
 *
 * The conditions become one or more ranges of key bytes. Each entry leads to a row id; heap_fetch follows the chain
 * there to the version that the snapshot sees. If that is the very version that the entry was made for, the entry's key is
 * the row's. If the chain led on to a later version, the row may have another key by now: the key is made anew from
 * the row and compared with the entry's (another entry leads to the row under its new key); and since two entries of one key
 * may lead to one version, the ids handed out under the present key are remembered.
 *
 * Batches begin small and grow, so that LIMIT 1 fetches little. No pin is held between rows. */
#include <stdlib.h>
#include "engine/exec/operator.h"
#include "base/hash.h"
#include "engine/types/array.h"
#include "engine/types/numeric.h"

#define FIRST_BATCH   2
#define POINT_ENTRIES 16

struct index_node {
    struct exec_node op;
    struct program *filter;
    struct program *bounds;              /* equal values, low, high, array: in that order, those that exist */
    uint16_t bound_count;
    uint16_t *heap_columns, heap_count;  /* table columns to fetch, and where they go */
    uint16_t *heap_to;
    uint16_t *key_columns;               /* table columns of the index */
    bool plain;                          /* no expressions in the index */
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
    struct value *values;
    struct text_buffer low, high, key;
    /* ids handed out under `last_key` */
    struct text_buffer last_key;
    struct id_set seen;
    uint64_t first_id;                   /* the first one, before a set is worth it */
    bool have_key, found_one;
};

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
    text_buffer_open(&l->low, arena);
    text_buffer_open(&l->high, arena);
    text_buffer_open(&l->key, arena);
    text_buffer_open(&l->last_key, arena);
    make_columns(l, 8);
    enum status status = evaluation_open(n->bounds, local->worker->run, arena, &l->bounds);
    if (!status && n->filter)
        status = evaluation_open(n->filter, local->worker->run, arena, &l->filter);
    return status;
}

/* ---- bounds ---- */

/* A numeric's key is the same in all of its forms: the value's own form is what counts. */
static void append(struct text_buffer *key, const struct index_column *column, struct sql_type type, const struct value *value)
{
    if (value->null) {
        key_append_null(column->flags, key);
        return;
    }
    struct vector v;
    vector_of_value(&v, value, type.width);
    key_append(type, column->flags, &v, 0, key);
}

static void copy_key(struct text_buffer *to, const struct text_buffer *from)
{
    to->length = 0;
    text_buffer_add(to, from->bytes, from->length);
}

/* Range for one value of the column after the equal ones (or none). `prefix` is in l->key. */
static bool range_make(struct index_local *l, const struct value *low, const struct value *high, const struct value *point)
{
    const struct plan *plan = l->local.op->plan;
    const struct index_bound *b = &plan->bound;
    const struct index_column *column = b->equal_count < plan->index->column_count ? &plan->index->columns[b->equal_count] : NULL;
    copy_key(&l->low, &l->key);
    copy_key(&l->high, &l->key);
    if (point || b->null_test) {
        struct value null = { .null = true };
        append(&l->low, column, column->type, point ? point : &null);
        copy_key(&l->high, &l->low);
        key_successor(&l->high);
        return true;
    }
    if (!low && !high) {
        key_successor(&l->high);
        return true;
    }
    bool descending = column->flags & KEY_DESC, nulls_first = column->flags & KEY_NULLS_FIRST;
    /* nulls are in no range */
    if (nulls_first) {
        key_append_null(column->flags, &l->low);
        key_successor(&l->low);
        key_successor(&l->high);
    } else {
        key_append_null(column->flags, &l->high);
    }
    const struct value *first = descending ? high : low, *last = descending ? low : high;
    const struct scalar *first_bound = descending ? b->high : b->low, *last_bound = descending ? b->low : b->high;
    bool first_inclusive = descending ? b->high_inclusive : b->low_inclusive, last_inclusive = descending ? b->low_inclusive : b->high_inclusive;
    if (first) {
        copy_key(&l->low, &l->key);
        append(&l->low, column, first_bound->type, first);
        if (!first_inclusive)
            key_successor(&l->low);
    }
    if (last) {
        copy_key(&l->high, &l->key);
        append(&l->high, column, last_bound->type, last);
        if (last_inclusive)
            key_successor(&l->high);
    }
    return true;
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
    if (local->op->counters)
        local->op->counters->filtered += batch->selected_count - out.selected_count;
    out.selection = (row_pos *)left;
    out.all_selected = left == NULL;
    return local_push(local, &out);
}

static enum status emit(struct index_local *l)
{
    if (l->count == 0)
        return STATUS_OK;
    struct batch batch = { .columns = l->columns, .column_count = l->local.op->plan->column_count, .row_count = l->count, .selected_count = l->count,
                           .all_selected = true, .grain = l->batches++ / GRAIN_BATCHES };
    enum status status = filter_and_push(&l->local, &batch);
    arena_reset(l->bytes);
    l->count = 0;
    if (l->wanted < BATCH_ROWS)
        l->wanted = (uint16_t)(l->wanted * 4 < BATCH_ROWS ? l->wanted * 4 : BATCH_ROWS);
    if (l->capacity < l->wanted)
        make_columns(l, l->wanted <= 128 ? 128 : BATCH_ROWS);
    if (!status)
        status = run_check(l->local.worker);
    if (!status)
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
    if (l->local.op->counters)
        l->local.op->counters->heap_fetches++;
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

static enum status range_read(struct index_local *l)
{
    struct exec_node *op = l->local.op;
    struct btree_scan *scan;
    /* an empty upper key means: no end */
    enum status status = btree_scan_open(&op->plan->index->tree, l->arena, l->low.length ? (const uint8_t *)l->low.bytes : NULL, (uint32_t)l->low.length,
                                         l->high.length ? (const uint8_t *)l->high.bytes : NULL, (uint32_t)l->high.length, op->plan->backward, &scan);
    if (status)
        return status;
    bool single = ((struct index_node *)op)->single;
    l->have_key = false;
    l->found_one = false;
    while (!status && !(single && l->found_one)) {
        struct btree_entries entries;
        status = btree_scan_next(scan, &entries);
        if (status || entries.count == 0)
            break;
        for (uint32_t i = 0; i < entries.count && !status && !(single && l->found_one); i++)
            status = take_entry(l, entries.row_ids[i], entries.keys[i], entries.key_lengths[i]);
    }
    btree_scan_close(scan);
    return status;
}

/* One row at most, in a unique index: its entries (of versions past, mostly) are few, and looked up at once. The key is in l->key. */
static enum status point_read(struct index_local *l)
{
    uint64_t row_ids[POINT_ENTRIES];
    uint32_t count;
    const uint8_t *key = (const uint8_t *)l->key.bytes;
    uint32_t length = (uint32_t)l->key.length;
    enum status status = btree_lookup(&l->local.op->plan->index->tree, key, length, row_ids, POINT_ENTRIES, &count);
    if (status)
        return status;
    if (count == BTREE_SCAN_IT) {
        range_make(l, NULL, NULL, NULL);
        return range_read(l);
    }
    l->have_key = false;
    l->found_one = false;
    for (uint32_t i = 0; i < count && !status && !l->found_one; i++)
        status = take_entry(l, row_ids[i], key, length);
    return status;
}

/* column = ANY (array): a range for each distinct value, in the order of the index. */
static int compare_keys(const void *a, const void *b)
{
    const struct varlen *x = a, *y = b;
    uint32_t n = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->bytes, y->bytes, n);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* numeric elements stand in the general form, a column may have a fixed one. False: the column can't hold that value. */
static bool to_column_form(struct sql_type from, struct sql_type to, struct value *value, struct arena *arena)
{
    if (to.oid != OID_NUMERIC || (from.width == to.width && from.scale == to.scale))
        return true;
    struct vector v;
    struct value written = {0};
    struct numeric before, after;
    vector_of_value(&v, value, from.width);
    numeric_read(from, &v, 0, &before);
    bool fits = numeric_write(to, &before, written.bytes, arena) == STATUS_OK;
    if (fits) {
        vector_of_value(&v, &written, to.width);
        numeric_read(to, &v, 0, &after);
        fits = numeric_compare(&before, &after) == 0;
        numeric_free(&after);
    }
    numeric_free(&before);
    *value = written;
    return fits;
}

static enum status array_ranges(struct index_local *l, const struct value *array)
{
    const struct plan *plan = l->local.op->plan;
    const struct index_column *column = &plan->index->columns[plan->bound.equal_count];
    struct array_view view;
    array_open(array->v, &view);
    struct value *elements = array_elements(&view, l->arena);
    struct varlen *keys = arena_array(l->arena, struct varlen, view.count + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        if (elements[i].null || !to_column_form(view.type, column->type, &elements[i], l->arena))
            continue;
        struct text_buffer key;
        text_buffer_open(&key, l->arena);
        text_buffer_add(&key, l->key.bytes, l->key.length);
        append(&key, column, column->type, &elements[i]);
        keys[count++] = (struct varlen){ .bytes = (const uint8_t *)key.bytes, .length = (uint32_t)key.length };
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    enum status status = STATUS_OK;
    for (uint32_t k = 0; k < count && !status; k++) {
        const struct varlen *key = &keys[plan->backward ? count - 1 - k : k];
        uint32_t at = (uint32_t)(key - keys);
        if (at > 0 && compare_keys(&keys[at - 1], key) == 0)
            continue;
        l->low.length = l->high.length = 0;
        text_buffer_add(&l->low, key->bytes, key->length);
        text_buffer_add(&l->high, key->bytes, key->length);
        key_successor(&l->high);
        status = range_read(l);
    }
    return status;
}

static enum status index_source(struct local *local)
{
    struct index_local *l = (struct index_local *)local;
    struct index_node *n = (struct index_node *)local->op;
    const struct plan *plan = local->op->plan;
    const struct index_bound *b = &plan->bound;
    arena_reset(l->arena);
    l->wanted = n->single ? 1 : FIRST_BATCH;
    l->count = 0;
    l->batches = 0;
    l->seen = (struct id_set){0};

    struct batch nothing = batch_empty(1);
    struct vector vectors[n->bound_count + 1];
    uint16_t at;
    enum status status = evaluation_run(l->bounds, &nothing, vectors, &at);
    if (status)
        return status;
    uint16_t k = 0;
    l->key.length = 0;
    for (; k < b->equal_count; k++) {
        if (vector_null(&vectors[k], 0))
            return STATUS_OK;            /* = null: nothing */
        key_append(b->equal[k]->type, plan->index->columns[k].flags, &vectors[k], 0, &l->key);
    }
    const struct value *low = NULL, *high = NULL;
    struct value low_value, high_value;
    if (b->low) {
        if (vector_null(&vectors[k], 0))
            return STATUS_OK;
        low_value = value_get(b->low->type, &vectors[k++], 0);
        low = &low_value;
    }
    if (b->high) {
        if (vector_null(&vectors[k], 0))
            return STATUS_OK;
        high_value = value_get(b->high->type, &vectors[k++], 0);
        high = &high_value;
    }
    if (b->any_array) {
        if (vector_null(&vectors[k], 0))
            return STATUS_OK;
        struct value array = value_get(b->any_array->type, &vectors[k], 0);
        status = array_ranges(l, &array);
    } else if (n->single) {
        status = point_read(l);
    } else {
        range_make(l, low, high, NULL);
        status = range_read(l);
    }
    return status ? status : emit(l);
}

const struct node_class index_scan_class = { .name = "index scan", .node_bytes = sizeof(struct index_node), .local_bytes = sizeof(struct index_local),
                                             .open = index_open, .local = index_local, .source = index_source };
