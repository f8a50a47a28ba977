/* engine/exec/sort.c - ORDER BY, and ORDER BY … LIMIT.
 *
 * Rows are kept as they come; for each an entry holds its sort key as bytes that compare with memcmp (engine/types/key.c):
 * the first (a null marker) as `lead`, the next eight in a word, the rest beside it. Where nothing is beside it (one number, date or short
 * text) entries are sorted by radix, else by merging; both are stable, so equal keys stay in the order (grain, row) of the input. Each worker sorts what it gathered; the leader merges, and equal keys of different
 * workers go by their grain.
 *
 * When the rows outgrow work_mem they are written out in order as a run, and the runs are merged at the end.
 *
 * Top-n keeps the first n of what it has seen: it gathers up to a multiple of n, sorts, drops the rest; rows that can't be
 * among the first n any more aren't kept at all. */
#include <stdlib.h>
#include "engine/exec/spill.h"

struct entry { uint64_t prefix; const uint8_t *rest; uint32_t rest_length, row; uint8_t lead; };
#define IN_ENTRY 9                       /* bytes of the key that stand in the entry itself */
struct grain_start { uint64_t grain; uint32_t row; };

struct sort_local {
    struct local local;
    struct arena *arena;                 /* of the rows that are kept now */
    struct rows rows;
    struct entry *entries; uint32_t count, capacity;
    struct grain_start *starts; uint32_t start_count, start_capacity;
    struct text_buffer key;
    uint64_t key_bytes, limit_bytes;
    struct spill_file **runs; uint32_t run_count;
    bool sorted;
    /* top-n */
    uint64_t keep;                       /* UINT64_MAX: all */
    bool full;
    struct entry worst;                  /* of the last n that were sorted: what compares greater can go */
};

struct sort_node {
    struct exec_node op;
    struct sort_local **parts; uint32_t part_count;
    struct sql_type *spill_types;        /* columns, key, grain */
    uint64_t skip, keep;
};

static enum status sort_open(struct exec_node *op)
{
    struct sort_node *n = (struct sort_node *)op;
    uint16_t count = op->plan->column_count;
    n->spill_types = arena_array(op->run->arena, struct sql_type, count + 2u);
    memcpy(n->spill_types, op->plan->left->types, count * sizeof *n->spill_types);
    n->spill_types[count] = type_make(OID_BYTEA, -1);
    n->spill_types[count + 1] = type_make(OID_INT8, -1);
    n->keep = UINT64_MAX;
    return STATUS_OK;
}

/* ---- comparing ---- */

static inline int compare_rest(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length)
{
    uint32_t n = a_length < b_length ? a_length : b_length;
    int order = n ? memcmp(a, b, n) : 0;
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static inline int compare_entries(const struct entry *a, const struct entry *b)
{
    if (a->lead != b->lead)
        return a->lead < b->lead ? -1 : 1;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    if (!(a->rest_length | b->rest_length))
        return 0;
    return compare_rest(a->rest, a->rest_length, b->rest, b->rest_length);
}

static void merge_sort(struct entry *a, struct entry *space, uint32_t count)
{
    if (count <= 12) {
        for (uint32_t i = 1; i < count; i++) {
            struct entry e = a[i];
            uint32_t k = i;
            for (; k > 0 && compare_entries(&a[k - 1], &e) > 0; k--)
                a[k] = a[k - 1];
            a[k] = e;
        }
        return;
    }
    uint32_t half = count / 2;
    merge_sort(a, space, half);
    merge_sort(a + half, space, count - half);
    if (compare_entries(&a[half - 1], &a[half]) <= 0)
        return;
    memcpy(space, a, half * sizeof *a);
    uint32_t i = 0, j = half, k = 0;
    while (i < half && j < count)
        a[k++] = compare_entries(&a[j], &space[i]) < 0 ? a[j++] : space[i++];
    memcpy(a + k, space + i, (half - i) * sizeof *a);
}

static uint64_t grain_of(const struct sort_local *l, uint32_t row)
{
    uint32_t low = 0, high = l->start_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (l->starts[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return l->starts[low].grain;
}

/* ---- gathering ---- */

static void start_part(struct sort_local *l)
{
    const struct plan *plan = l->local.op->plan;
    if (l->arena)
        arena_reset(l->arena);
    rows_open(&l->rows, l->arena, plan->left->types, plan->left->column_count);
    l->entries = NULL;
    l->count = l->capacity = 0;
    l->starts = NULL;
    l->start_count = l->start_capacity = 0;
    l->key_bytes = 0;
    l->sorted = false;
}

static enum status sort_local(struct local *local)
{
    struct sort_local *l = (struct sort_local *)local;
    struct sort_node *n = (struct sort_node *)local->op;
    struct arena *parent = local->worker->number ? local->worker->arena : local->op->again;
    l->arena = arena_open(parent, "sort");
    text_buffer_open(&l->key, parent);
    l->keep = n->keep;
    l->limit_bytes = (uint64_t)local->worker->run->work_mem;
    start_part(l);
    return STATUS_OK;
}

static void make_key(struct sort_local *l, const struct batch *batch, uint16_t i)
{
    const struct plan *plan = l->local.op->plan;
    l->key.length = 0;
    for (uint16_t k = 0; k < plan->sort_count; k++) {
        const struct sort_item *item = &plan->sort[k];
        const struct vector *v = &batch->columns[item->column];
        unsigned flags = (item->descending ? KEY_DESC : 0u) | (item->nulls_first ? KEY_NULLS_FIRST : 0u);
        if (vector_null(v, i))
            key_append_null(flags, &l->key);
        else
            key_append(plan->left->types[item->column], flags, v, vector_at(v, i), &l->key);
    }
}

/* The part of an entry that is made of its key. */
static struct entry entry_of(const uint8_t *bytes, size_t length)
{
    struct entry e = { .lead = length ? bytes[0] : 0 };
    if (length > 1)
        memcpy(&e.prefix, bytes + 1, length - 1 < 8 ? length - 1 : 8);
    e.prefix = __builtin_bswap64(e.prefix);
    if (length > IN_ENTRY) {
        e.rest = bytes + IN_ENTRY;
        e.rest_length = (uint32_t)(length - IN_ENTRY);
    }
    return e;
}

/* Whole keys of at most IN_ENTRY bytes: by lead and prefix, a byte at a time from the last, skipping bytes that are all the same. */
struct pair { uint64_t prefix; uint32_t at; };
static void radix_sort(struct sort_local *l)
{
    uint32_t count = l->count;
    struct pair *from = malloc((count + 1u) * sizeof *from), *to = malloc((count + 1u) * sizeof *to);
    struct entry *sorted = arena_alloc(l->arena, l->capacity * sizeof *sorted);
    uint32_t (*histogram)[256] = calloc(9, sizeof *histogram);
    if (!from || !to || !histogram)
        panic("out of memory");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t prefix = l->entries[i].prefix;
        from[i] = (struct pair){ prefix, i };
        for (int byte = 0; byte < 8; byte++)
            histogram[byte][prefix >> (8 * byte) & 255]++;
        histogram[8][l->entries[i].lead]++;
    }
    for (int byte = 0; byte < 9; byte++) {
        uint32_t *h = histogram[byte], start = 0;
        bool same = false;
        for (int v = 0; v < 256 && !same; v++)
            same = h[v] == count;
        if (same)
            continue;
        for (int v = 0; v < 256; v++) {
            uint32_t n = h[v];
            h[v] = start;
            start += n;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint8_t v = byte < 8 ? (uint8_t)(from[i].prefix >> (8 * byte)) : l->entries[from[i].at].lead;
            to[h[v]++] = from[i];
        }
        struct pair *swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = l->entries[from[i].at];
    l->entries = sorted;
    free(from);
    free(to);
    free(histogram);
}

static void sort_entries(struct sort_local *l)
{
    if (l->sorted)
        return;
    bool risen = true;
    for (uint32_t i = 1; i < l->count && risen; i++)
        risen = compare_entries(&l->entries[i - 1], &l->entries[i]) <= 0;
    if (!risen && l->key_bytes == 0 && l->count > 256) {
        radix_sort(l);
    } else if (!risen) {
        struct entry *space = malloc((l->count / 2 + 1) * sizeof *space);
        if (!space)
            panic("out of memory");
        merge_sort(l->entries, space, l->count);
        free(space);
    }
    l->sorted = true;
}

/* The rows of sorted entries [from, from + count) as a batch that points at kept values. */
static void gather_entries(const struct sort_local *l, const struct entry *const *entries, const struct sort_local *const *parts, uint16_t count, struct vector *columns, uint16_t column_count)
{
    (void)l;
    for (uint16_t c = 0; c < column_count; c++) {
        struct vector *out = &columns[c];
        bool any = false;
#define EACH_ENTRY(type)                                                                    \
        for (uint16_t k = 0; k < count; k++) {                                              \
            const struct vector *v = rows_column(&parts[k]->rows, entries[k]->row, c);      \
            uint16_t at = rows_at(entries[k]->row);                                         \
            ((type *)out->values)[k] = ((const type *)v->values)[at];                       \
            out->nulls[k] = v->nulls ? v->nulls[at] : 0;                                    \
            any |= out->nulls[k];                                                           \
        }
        switch (out->width) {
        case 1: EACH_ENTRY(uint8_t) break;
        case 2: EACH_ENTRY(uint16_t) break;
        case 4: EACH_ENTRY(uint32_t) break;
        case 8: EACH_ENTRY(uint64_t) break;
        default: EACH_ENTRY(struct varlen) break;
        }
        (void)any;
    }
}

static void make_columns(struct vector *columns, struct arena *arena, const struct sql_type *types, uint16_t count)
{
    for (uint16_t c = 0; c < count; c++)
        vector_make(&columns[c], arena, types[c].width, BATCH_ROWS);
}

/* Writes what is kept as a sorted run. */
static enum status write_run(struct sort_local *l)
{
    struct exec_node *op = l->local.op;
    struct sort_node *n = (struct sort_node *)op;
    uint16_t columns = op->plan->left->column_count;
    struct spill_file *file;
    sort_entries(l);
    enum status status = spill_open(op->run, n->spill_types, (uint16_t)(columns + 2), &file);
    if (status)
        return status;
    struct arena *parent = l->local.worker->number ? l->local.worker->arena : op->again;
    l->runs = arena_grow(parent, l->runs, l->run_count * sizeof *l->runs, (l->run_count + 1) * sizeof *l->runs);
    l->runs[l->run_count++] = file;
    struct arena *arena = arena_open(NULL, "run");
    struct vector *out = arena_array(arena, struct vector, columns + 2u);
    make_columns(out, arena, n->spill_types, (uint16_t)(columns + 2));
    const struct entry **entries = arena_array(arena, const struct entry *, BATCH_ROWS);
    const struct sort_local **parts = arena_array(arena, const struct sort_local *, BATCH_ROWS);
    struct arena *keys = arena_open(arena, "keys");
    for (uint32_t from = 0; from < l->count && !status; from += BATCH_ROWS) {
        uint16_t count = (uint16_t)(l->count - from < BATCH_ROWS ? l->count - from : BATCH_ROWS);
        arena_reset(keys);
        for (uint16_t k = 0; k < count; k++) {
            entries[k] = &l->entries[from + k];
            parts[k] = l;
            uint32_t length = IN_ENTRY + entries[k]->rest_length;
            uint8_t *bytes = arena_alloc(keys, length);
            uint64_t prefix = __builtin_bswap64(entries[k]->prefix);
            bytes[0] = entries[k]->lead;
            memcpy(bytes + 1, &prefix, 8);
            if (entries[k]->rest_length)
                memcpy(bytes + IN_ENTRY, entries[k]->rest, entries[k]->rest_length);
            ((struct varlen *)out[columns].values)[k] = (struct varlen){ .bytes = bytes, .length = length };
            ((int64_t *)out[columns + 1].values)[k] = (int64_t)grain_of(l, entries[k]->row);
            out[columns].nulls[k] = out[columns + 1].nulls[k] = 0;
        }
        gather_entries(l, entries, parts, count, out, columns);
        struct batch batch = { .columns = out, .column_count = (uint16_t)(columns + 2), .row_count = count, .selected_count = count, .all_selected = true };
        status = spill_write(file, &batch);
        if (!status)
            status = run_check(l->local.worker);
    }
    arena_close(arena);
    start_part(l);
    return status;
}

/* Top-n: only the first n of what is kept stay. */
static void cut(struct sort_local *l)
{
    const struct plan *plan = l->local.op->plan;
    sort_entries(l);
    if (l->count <= l->keep)
        return;
    struct arena *fresh = arena_open(l->local.worker->number ? l->local.worker->arena : l->local.op->again, "top-n");
    struct sort_local kept = *l;
    kept.arena = fresh;
    kept.count = (uint32_t)l->keep;
    rows_open(&kept.rows, fresh, plan->left->types, plan->left->column_count);
    kept.capacity = kept.count * 4 + 1024;
    kept.entries = arena_alloc(fresh, kept.capacity * sizeof *kept.entries);
    kept.starts = NULL;
    kept.start_count = kept.start_capacity = 0;
    kept.key_bytes = 0;
    /* the rows must stay in their order of arrival, for ties: renumber by rising row */
    uint32_t *order = arena_alloc(l->arena, kept.count * sizeof *order);
    uint32_t *where = arena_alloc(l->arena, (l->rows.count + 1) * sizeof *where);
    memset(where, 0xff, (l->rows.count + 1) * sizeof *where);
    for (uint32_t i = 0; i < kept.count; i++)
        where[l->entries[i].row] = i;
    uint32_t at = 0;
    for (uint32_t row = 0; row < l->rows.count; row++)
        if (where[row] != UINT32_MAX)
            order[at++] = row;
    for (uint32_t i = 0; i < kept.count; i++) {
        struct batch batch;
        row_pos position = rows_at(order[i]);
        rows_chunk(&l->rows, order[i] / ROWS_CHUNK, &batch);
        rows_append_some(&kept.rows, &batch, &position, 1);
        uint64_t grain = grain_of(l, order[i]);
        if (!kept.start_count || kept.starts[kept.start_count - 1].grain != grain) {
            if (kept.start_count == kept.start_capacity) {
                uint32_t capacity = kept.start_capacity ? kept.start_capacity * 2 : 16;
                kept.starts = arena_grow(fresh, kept.starts, kept.start_capacity * sizeof *kept.starts, capacity * sizeof *kept.starts);
                kept.start_capacity = capacity;
            }
            kept.starts[kept.start_count++] = (struct grain_start){ .grain = grain, .row = i };
        }
        struct entry e = l->entries[where[order[i]]];
        e.row = i;
        if (e.rest_length)
            e.rest = arena_copy(fresh, e.rest, e.rest_length);
        kept.key_bytes += e.rest_length;
        kept.entries[where[order[i]]] = e;
    }
    arena_close(l->arena);
    *l = kept;
    l->sorted = true;
    l->full = true;
    l->worst = l->entries[l->count - 1];
}

static enum status sort_take(struct local *local, const struct batch *batch)
{
    struct sort_local *l = (struct sort_local *)local;
    row_pos kept[BATCH_MAX];
    uint16_t kept_count = 0;
    if (l->keep == 0)
        return STATUS_OK;
    if (!l->start_count || l->starts[l->start_count - 1].grain != batch->grain) {
        if (l->start_count == l->start_capacity) {
            uint32_t capacity = l->start_capacity ? l->start_capacity * 2 : 16;
            l->starts = arena_grow(l->arena, l->starts, l->start_capacity * sizeof *l->starts, capacity * sizeof *l->starts);
            l->start_capacity = capacity;
        }
        l->starts[l->start_count++] = (struct grain_start){ .grain = batch->grain, .row = (uint32_t)l->rows.count };
    }
    uint32_t row = (uint32_t)l->rows.count;
    if (l->count + batch->selected_count > l->capacity) {
        uint32_t capacity = l->capacity ? l->capacity * 2 : 64;
        while (capacity < l->count + batch->selected_count)
            capacity *= 2;
        l->entries = arena_grow(l->arena, l->entries, l->capacity * sizeof *l->entries, capacity * sizeof *l->entries);
        l->capacity = capacity;
    }
    for (BATCH_EACH(batch, i)) {
        make_key(l, batch, i);
        struct entry e = entry_of((const uint8_t *)l->key.bytes, l->key.length);
        e.row = row;
        if (l->full && compare_entries(&e, &l->worst) >= 0)
            continue;                    /* later and not smaller than the n-th: never among the first n */
        if (e.rest_length) {
            e.rest = arena_copy(l->arena, e.rest, e.rest_length);
            l->key_bytes += e.rest_length + 16;
        }
        l->entries[l->count++] = e;
        kept[kept_count++] = i;
        row++;
        l->sorted = false;
    }
    rows_append_some(&l->rows, batch, kept, kept_count);
    if (l->keep != UINT64_MAX && l->keep < 1u << 20) {
        if (l->count >= l->keep * 2 + 1024)
            cut(l);
        return STATUS_OK;
    }
    if (l->rows.bytes + l->key_bytes + l->capacity * sizeof *l->entries > l->limit_bytes || l->rows.count > UINT32_MAX / 2)
        return write_run(l);
    return STATUS_OK;
}

static enum status sort_done(struct local *local)
{
    struct sort_local *l = (struct sort_local *)local;
    sort_entries(l);
    return STATUS_OK;
}

static enum status sort_combine(struct exec_node *op, struct local *local)
{
    struct sort_node *n = (struct sort_node *)op;
    n->parts = arena_grow(op->again, n->parts, n->part_count * sizeof *n->parts, (n->part_count + 1) * sizeof *n->parts);
    n->parts[n->part_count++] = (struct sort_local *)local;
    return STATUS_OK;
}

static const struct sink_class sort_sink = { .name = "sort", .local_bytes = sizeof(struct sort_local), .local = sort_local, .take = sort_take, .done = sort_done,
                                             .combine = sort_combine, .parallel = true };

/* ---- merging ---- */

struct stream {
    const struct sort_local *part;       /* in memory */
    uint32_t next;
    struct spill_reader reader; struct batch batch; uint16_t at; bool on_disk;      /* or a run */
    uint32_t number;                     /* of equal keys and grains, the earlier run first */
    struct entry now;                    /* key of the row that stands at the head */
    uint64_t grain; bool grain_known;
};

static enum status stream_next(struct stream *s, bool *end)
{
    *end = false;
    s->grain_known = false;
    if (!s->on_disk) {
        if (s->next >= s->part->count)
            return *end = true, STATUS_OK;
        s->now = s->part->entries[s->next++];
        return STATUS_OK;
    }
    if (s->at >= s->batch.row_count) {
        enum status status = spill_read(&s->reader, &s->batch, end);
        if (status || *end)
            return status;
        s->at = 0;
    }
    uint16_t columns = (uint16_t)(s->batch.column_count - 2);
    struct varlen key = ((struct varlen *)s->batch.columns[columns].values)[s->at];
    s->now = entry_of(key.bytes, key.length);
    s->now.row = s->at;
    s->grain = ((uint64_t *)s->batch.columns[columns + 1].values)[s->at];
    s->grain_known = true;
    s->at++;
    return STATUS_OK;
}

static bool stream_before(struct stream *a, struct stream *b)
{
    int order = compare_entries(&a->now, &b->now);
    if (order)
        return order < 0;
    if (!a->grain_known)
        a->grain = grain_of(a->part, a->now.row), a->grain_known = true;
    if (!b->grain_known)
        b->grain = grain_of(b->part, b->now.row), b->grain_known = true;
    if (a->grain != b->grain)
        return a->grain < b->grain;
    return a->number < b->number;
}

static void sift(struct stream **heap, uint32_t count, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && stream_before(heap[child + 1], heap[child]))
            child++;
        if (!stream_before(heap[child], heap[at]))
            return;
        struct stream *s = heap[at];
        heap[at] = heap[child];
        heap[child] = s;
        at = child;
    }
}

/* Everything is in memory: batches point at the kept values. */
static enum status emit_memory(struct local *local, struct stream **heap, uint32_t count)
{
    struct sort_node *n = (struct sort_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct arena *arena = local->op->again;
    uint16_t columns = plan->left->column_count;
    struct vector *out = arena_array(arena, struct vector, columns + 1u);
    make_columns(out, arena, plan->left->types, columns);
    const struct entry **entries = arena_array(arena, const struct entry *, BATCH_ROWS);
    struct entry *copies = arena_alloc(arena, BATCH_ROWS * sizeof *copies);
    const struct sort_local **parts = arena_array(arena, const struct sort_local *, BATCH_ROWS);
    uint64_t position = 0, batches = 0, skip = n->skip + limit_take_skip(local->next);
    enum status status = STATUS_OK;
    while (count && !status && position < n->keep) {
        uint16_t k = 0;
        for (; k < BATCH_ROWS && count && position < n->keep; position++) {
            struct stream *s = heap[0];
            if (position >= skip) {
                copies[k] = s->now;
                entries[k] = &copies[k];
                parts[k++] = s->part;
            }
            bool end;
            status = stream_next(s, &end);
            if (end)
                heap[0] = heap[--count];
            if (count > 1)
                sift(heap, count, 0);
        }
        gather_entries(NULL, entries, parts, k, out, columns);
        struct batch batch = { .columns = out, .column_count = columns, .row_count = k, .selected_count = k, .all_selected = true, .grain = batches++ / GRAIN_BATCHES };
        if (!status)
            status = run_check(local->worker);
        if (!status)
            status = local_push(local, &batch);
        if (!status)
            status = run_deliver(local->worker->run);
    }
    return status;
}

/* Some of it is on disk: rows are copied out. */
static enum status emit_disk(struct local *local, struct stream **heap, uint32_t count)
{
    struct sort_node *n = (struct sort_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct arena *arena = arena_open(local->op->again, "merge");
    uint16_t columns = plan->left->column_count;
    uint64_t position = 0, batches = 0, skip = n->skip + limit_take_skip(local->next);
    enum status status = STATUS_OK;
    struct rows out;
    rows_open(&out, arena, plan->left->types, columns);
    while (!status && position < n->keep) {
        if (count && position >= skip) {
            struct stream *s = heap[0];
            struct batch from = s->batch;
            row_pos at = rows_at(s->now.row);
            if (!s->on_disk)
                rows_chunk(&s->part->rows, s->now.row / ROWS_CHUNK, &from);
            rows_append_some(&out, &from, &at, 1);
        }
        if (out.count == BATCH_ROWS || (!count && out.count)) {
            struct batch batch;
            rows_chunk(&out, 0, &batch);
            batch.grain = batches++ / GRAIN_BATCHES;
            status = run_check(local->worker);
            if (!status)
                status = local_push(local, &batch);
            if (!status)
                status = run_deliver(local->worker->run);
            arena_reset(arena);
            rows_open(&out, arena, plan->left->types, columns);
        }
        if (!count)
            break;
        if (!status) {
            bool end;
            status = stream_next(heap[0], &end);
            if (end)
                heap[0] = heap[--count];
            if (count > 1)
                sift(heap, count, 0);
            position++;
        }
    }
    if (!status && out.count) {
        struct batch batch;
        rows_chunk(&out, 0, &batch);
        batch.grain = batches / GRAIN_BATCHES;
        status = local_push(local, &batch);
    }
    arena_close(arena);
    return status;
}

static enum status sort_source(struct local *local)
{
    struct sort_node *n = (struct sort_node *)local->op;
    struct arena *arena = node_again(local->op);
    n->parts = NULL;
    n->part_count = 0;
    enum status status = pipeline_run(local->op->left, local->op, &sort_sink);
    if (status)
        return status;
    uint32_t total = 0;
    bool on_disk = false;
    for (uint32_t p = 0; p < n->part_count; p++) {
        total += 1 + n->parts[p]->run_count;
        on_disk |= n->parts[p]->run_count > 0;
    }
    struct stream *streams = arena_array(arena, struct stream, total + 1), **heap = arena_array(arena, struct stream *, total + 1);
    uint32_t count = 0, number = 0;
    for (uint32_t p = 0; p < n->part_count && !status; p++) {
        struct sort_local *part = n->parts[p];
        for (uint32_t r = 0; r <= part->run_count && !status; r++) {
            struct stream *s = &streams[number];
            s->number = number++;
            s->part = part;
            s->on_disk = r < part->run_count;
            if (s->on_disk)
                spill_read_from_start(part->runs[r], arena_open(arena, "run"), &s->reader);
            bool end;
            status = stream_next(s, &end);
            if (!status && !end)
                heap[count++] = s;
        }
    }
    if (status)
        return status;
    for (uint32_t i = count / 2; i-- > 0;)
        sift(heap, count, i);
    if (local->op->counters) {
        local->op->counters->memory_bytes = 0;
        for (uint32_t p = 0; p < n->part_count; p++) {
            local->op->counters->memory_bytes += arena_bytes(n->parts[p]->arena);
            for (uint32_t r = 0; r < n->parts[p]->run_count; r++)
                local->op->counters->spilled_bytes += spill_bytes(n->parts[p]->runs[r]);
        }
    }
    status = on_disk ? emit_disk(local, heap, count) : emit_memory(local, heap, count);
    for (uint32_t p = 0; p < n->part_count; p++)
        for (uint32_t r = 0; r < n->parts[p]->run_count; r++)
            spill_close(n->parts[p]->runs[r]);
    return status;
}

const struct node_class sort_class = { .name = "sort", .node_bytes = sizeof(struct sort_node), .open = sort_open, .source = sort_source };

/* ---- top-n ---- */

static enum status top_n_bound(struct run *run, const struct scalar *scalar, uint64_t none, enum status error, uint64_t *out)
{
    struct value value;
    *out = none;
    if (!scalar)
        return STATUS_OK;
    enum status status = run_scalar(run, scalar, &value);
    if (status || value.null)
        return status;
    if (value.i8 < 0)
        return error_set(error, NULL);
    *out = (uint64_t)value.i8;
    return STATUS_OK;
}

static enum status top_n_source(struct local *local)
{
    struct sort_node *n = (struct sort_node *)local->op;
    const struct plan *plan = local->op->plan;
    enum status status = top_n_bound(local->worker->run, plan->offset, 0, STATUS_INVALID_OFFSET, &n->skip);
    if (!status)
        status = top_n_bound(local->worker->run, plan->limit, UINT64_MAX, STATUS_INVALID_LIMIT, &n->keep);
    if (status || n->keep == 0)
        return status;
    n->keep = n->keep > UINT64_MAX - n->skip ? UINT64_MAX : n->keep + n->skip;
    if (plan->with_ties)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "WITH TIES is not supported here");
    return sort_source(local);
}

const struct node_class top_n_class = { .name = "top-n", .node_bytes = sizeof(struct sort_node), .open = sort_open, .source = top_n_source };
