/* engine/exec/hash_join.c - joins on equal keys: the right side is kept in a hash table, the left side probes it.
 *
 * Build rows have numbers in the row order of the right side; a probe row's matches come in that order, and so do the build
 * rows that nobody matched (RIGHT, FULL). The table is bucket heads and a chain through the numbers: it is filled from
 * the last row to the first, so chains rise.
 *
 * Candidates are gathered into pairs (probe position, build number), a batch of them at a time, the rest of the ON
 * condition is judged over the pairs, and what is left goes on. A probe row's last pair is a placeholder without
 * build row: whether the row is to be handed on by itself (LEFT, FULL, SEMI, ANTI) is decided there, in its place.
 *
 * A build side that outgrows work_mem goes to disk by partitions, and the probe side after it: hash_join_spill.c.
 *
 * Workers build as workers scan: each keeps its rows with the grains they came in; the numbers are given out in grain order
 * when all are back. They probe at once; the table doesn't change any more. */
#include <stdlib.h>
#include "base/hash.h"
#include "engine/exec/hash_join.h"

static enum status join_open(struct exec_node *op)
{
    struct join_node *n = (struct join_node *)op;
    const struct plan *plan = op->plan;
    struct arena *arena = op->run->arena;
    enum status status = node_program(op, 0, plan->left_keys, plan->key_count, &n->left_keys);
    if (!status)
        status = node_program(op, 1, plan->right_keys, plan->key_count, &n->right_keys);
    if (!status)
        status = node_filter(op, 2, plan->filter, &n->filter);
    if (status)
        return status;
    n->left_count = plan->left->column_count;
    n->right_count = plan->right->column_count;
    n->outputs = plan->outputs;
    n->output_count = plan->column_count;
    if (!n->outputs) {
        n->outputs = arena_array(arena, uint16_t, plan->column_count + 1u);
        for (uint16_t i = 0; i < plan->column_count; i++)
            n->outputs[i] = i;
    }
    n->key_types = arena_array(arena, struct sql_type, plan->key_count + 1u);
    n->key_column = arena_array(arena, uint16_t, plan->key_count + 1u);
    n->build_types = arena_array(arena, struct sql_type, n->right_count + plan->key_count + 1u);
    memcpy(n->build_types, plan->right->types, n->right_count * sizeof *n->build_types);
    n->build_columns = n->right_count;
    for (uint16_t k = 0; k < plan->key_count; k++) {
        n->key_types[k] = plan->right_keys[k]->type;
        if (plan->right_keys[k]->kind == SCALAR_COLUMN) {
            n->key_column[k] = plan->right_keys[k]->column;
        } else {
            n->key_column[k] = n->build_columns;
            n->build_types[n->build_columns++] = n->key_types[k];
        }
    }
    n->bitwise = plan->key_count == 1 && type_bitwise(n->key_types[0]);
    n->keep_null_rows = plan->join == PLAN_RIGHT || plan->join == PLAN_FULL;
    op->serial |= n->keep_null_rows;     /* matched flags are the leader's */
    n->reads = arena_array(arena, bool, n->left_count + n->right_count + 1u);
    for (uint16_t c = 0; c < n->left_count + n->right_count; c++)
        n->reads[c] = program_reads(n->filter, c);
    status = join_spill_types(n);
    n->constant_build = !plan_reads_outer(op->run, plan->right) && !plan_is_volatile(plan->right);
    return status;
}

/* ---- build ---- */

static enum status build_local(struct local *local)
{
    struct build_local *l = (struct build_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    struct arena *arena = local->worker->number ? local->worker->arena : local->op->again;
    l->columns = arena_array(arena, struct vector, n->right_count + 2u * local->op->plan->key_count + 1u);
    l->arena = arena;
    l->rows_arena = arena_open(arena, "build rows");
    rows_open(&l->rows, l->rows_arena, n->build_types, n->build_columns);
    return evaluation_open(n->right_keys, local->worker->run, arena, &l->keys);
}

static enum status build_take(struct local *local, const struct batch *batch)
{
    struct build_local *l = (struct build_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct vector *keys = l->columns + n->right_count + plan->key_count;
    struct batch in = *batch;
    uint16_t at;
    enum status status = evaluation_run(l->keys, batch, keys, &at);
    if (status)
        return status;
    for (uint16_t c = 0; c < n->right_count; c++)
        l->columns[c] = batch->columns[c];
    for (uint16_t k = 0; k < plan->key_count; k++)
        l->columns[n->key_column[k]] = keys[k];
    /* rows with a null key match nothing */
    row_pos kept[BATCH_MAX];
    uint16_t count = 0;
    for (BATCH_EACH(batch, i)) {
        bool null = false;
        for (uint16_t k = 0; k < plan->key_count; k++)
            null |= !(plan->null_safe && plan->null_safe[k]) && vector_null(&keys[k], i);
        l->null_key |= null;
        kept[count] = i;
        count = (uint16_t)(count + (!null || n->keep_null_rows || plan->join == PLAN_ANTI_NULL));
    }
    in.columns = l->columns;
    uint64_t first = l->rows.count;
    if (!l->hashes || first + count > l->hash_capacity) {
        uint64_t capacity = l->hash_capacity ? l->hash_capacity * 2 : BATCH_ROWS;
        while (capacity < first + count)
            capacity *= 2;
        l->hashes = arena_grow(l->rows.arena, l->hashes, l->hash_capacity * sizeof *l->hashes, capacity * sizeof *l->hashes);
        l->hash_capacity = capacity;
    }
    hash_columns(n->key_types, keys, plan->key_count, kept, count, l->hashes + first);
    rows_append_some(&l->rows, &in, kept, count);
    if (!l->segment_count || l->segments[l->segment_count - 1].grain != batch->grain) {
        if (l->segment_count == l->segment_capacity) {
            uint32_t capacity = l->segment_capacity ? l->segment_capacity * 2 : 64;
            l->segments = arena_grow(l->rows.arena, l->segments, l->segment_capacity * sizeof *l->segments, capacity * sizeof *l->segments);
            l->segment_capacity = capacity;
        }
        l->segments[l->segment_count++] = (struct segment){ .grain = batch->grain, .first = first };
    }
    l->segments[l->segment_count - 1].count += count;
    if (l->rows.bytes + l->hash_capacity * sizeof *l->hashes > (uint64_t)local->worker->run->work_mem)
        return join_spill_build(l);
    return STATUS_OK;
}

/* When one worker's rows are on disk, all are. */
static enum status build_done(struct local *local)
{
    struct build_local *l = (struct build_local *)local;
    if (!l->spilled)
        return STATUS_OK;
    enum status status = join_spill_build(l);
    return status ? status : spill_set_flush(l->spilled);
}

static enum status build_combine(struct exec_node *op, struct local *local)
{
    struct join_node *n = (struct join_node *)op;
    struct build_local *l = (struct build_local *)local;
    n->stores = arena_grow(op->again, n->stores, n->store_count * sizeof *n->stores, (n->store_count + 1) * sizeof *n->stores);
    n->stores[n->store_count++] = l;
    n->null_key |= l->null_key;
    n->spilled |= l->spilled != NULL;
    return STATUS_OK;
}

static const struct sink_class build_sink = { .name = "hash build", .local_bytes = sizeof(struct build_local), .local = build_local, .take = build_take, .done = build_done,
                                              .combine = build_combine, .parallel = true };

static int compare_segments(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;
    if (x->grain != y->grain)
        return x->grain < y->grain ? -1 : 1;
    return x->rows_number < y->rows_number ? -1 : x->rows_number > y->rows_number;
}

static inline uint64_t join_word(const struct vector *v, size_t i)
{
    i = vector_at(v, i);
    switch (v->width) {
    case 1: return ((const uint8_t *)v->values)[i];
    case 2: return ((const uint16_t *)v->values)[i];
    case 4: return ((const uint32_t *)v->values)[i];
    default: return ((const uint64_t *)v->values)[i];
    }
}

/* Numbers the build rows in row order and links the table. */
enum status join_table_make(struct join_node *n)
{
    struct arena *arena = n->op.again;
    uint64_t total = 0;
    uint32_t segment_count = 0;
    for (uint32_t s = 0; s < n->store_count; s++) {
        total += n->stores[s]->rows.count;
        segment_count += n->stores[s]->segment_count;
    }
    if (total >= NOBODY)
        return error_set(STATUS_LIMIT_EXCEEDED, "hash join has too many rows on its inner side");
    struct segment *segments = arena_array(arena, struct segment, segment_count + 1);
    uint32_t at = 0;
    for (uint32_t s = 0; s < n->store_count; s++)
        for (uint32_t k = 0; k < n->stores[s]->segment_count; k++) {
            segments[at] = n->stores[s]->segments[k];
            segments[at++].rows_number = s;
        }
    if (n->store_count > 1)
        qsort(segments, segment_count, sizeof *segments, compare_segments);
    n->count = (uint32_t)total;
    n->any_row = total > 0;
    n->places = arena_alloc(arena, (total + 1) * sizeof *n->places);
    n->hashes = arena_alloc(arena, (total + 1) * sizeof *n->hashes);
    uint32_t number = 0;
    for (uint32_t s = 0; s < segment_count; s++) {
        const struct build_local *store = n->stores[segments[s].rows_number];
        for (uint64_t r = 0; r < segments[s].count; r++, number++) {
            n->places[number] = (struct place){ .store = segments[s].rows_number, .row = (uint32_t)(segments[s].first + r) };
            n->hashes[number] = store->hashes[segments[s].first + r];
        }
    }
    ASSERT(number == n->count);
    uint32_t size = 64;
    while (size < n->count * 2ULL && size < 1u << 31)
        size *= 2;
    n->mask = size - 1;
    n->heads = arena_alloc(arena, size * sizeof *n->heads);
    memset(n->heads, 0xff, size * sizeof *n->heads);
    n->next = arena_alloc(arena, (total + 1) * sizeof *n->next);
    n->words = NULL;
    bool linked_nulls = n->op.plan->key_count == 0 || !n->bitwise || (n->op.plan->null_safe && n->op.plan->null_safe[0]);
    uint8_t *null_keys = NULL;
    if (!linked_nulls) {                 /* the key itself beside the chain; null keys aren't in the table at all */
        n->words = arena_alloc(arena, (total + 1) * sizeof *n->words);
        null_keys = arena_alloc(arena, total + 1);
        for (uint32_t r = 0; r < n->count; r++) {
            const struct vector *v = rows_column(&n->stores[n->places[r].store]->rows, n->places[r].row, n->key_column[0]);
            uint16_t i = rows_at(n->places[r].row);
            null_keys[r] = vector_null(v, i);
            n->words[r] = join_word(v, i);
        }
    }
    for (uint32_t r = n->count; r-- > 0;) {
        if (null_keys && null_keys[r])
            continue;
        if (r >= 16)
            __builtin_prefetch(&n->heads[(uint32_t)n->hashes[r - 16] & n->mask], 1);
        uint32_t slot = (uint32_t)n->hashes[r] & n->mask;
        n->next[r] = n->heads[slot];
        n->heads[slot] = r;
    }
    return STATUS_OK;
}

static enum status join_prepare(struct exec_node *op)
{
    struct join_node *n = (struct join_node *)op;
    n->last_grain = 0;
    if (!n->built || !n->constant_build) {
        node_again(op);
        n->stores = NULL;
        n->store_count = 0;
        n->null_key = false;
        n->built = n->spilled = false;
        enum status status = pipeline_run(op->right, op, &build_sink);
        for (uint32_t s = 0; s < n->store_count && n->spilled && !status; s++) {
            status = join_spill_build(n->stores[s]);
            if (!status)
                status = spill_set_flush(n->stores[s]->spilled);
            n->any_row = true;
        }
        op->serial |= n->spilled;        /* the join is then made when the probe rows are on disk too: by the leader */
        if (!status && !n->spilled)
            status = join_table_make(n);
        if (status)
            return status;
        n->built = true;
        n->matched = n->keep_null_rows && !n->spilled ? arena_alloc(op->again, n->count + 1u) : NULL;
        if (op->counters)
            op->counters->memory_bytes = arena_bytes(op->again);
    }
    if (n->matched && !n->spilled)
        memset(n->matched, 0, n->count);
    return STATUS_OK;
}

/* ---- probe ---- */

static enum status probe_local(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    struct arena *arena = local->worker->arena;
    const struct plan *plan = local->op->plan;
    l->key_vectors = arena_array(arena, struct vector, plan->key_count + 1u);
    l->joined = arena_array(arena, struct vector, n->left_count + n->right_count + 1u);
    l->out = arena_array(arena, struct vector, n->output_count + 1u);
    l->hashes = arena_alloc(arena, BATCH_MAX * sizeof *l->hashes);
    l->first = arena_alloc(arena, BATCH_MAX * sizeof *l->first);
    l->pair_left = arena_alloc(arena, BATCH_ROWS * sizeof *l->pair_left);
    l->pair_right = arena_alloc(arena, BATCH_ROWS * sizeof *l->pair_right);
    l->kept_left = arena_alloc(arena, BATCH_MAX * sizeof *l->kept_left);
    l->kept_right = arena_alloc(arena, BATCH_ROWS * sizeof *l->kept_right);
    l->row_matched = arena_alloc(arena, BATCH_MAX);
    enum status status = evaluation_open(n->left_keys, local->worker->run, arena, &l->keys);
    if (!status && n->filter)
        status = evaluation_open(n->filter, local->worker->run, arena, &l->filter);
    return status;
}

static void room(struct vector *v, struct arena *arena, uint8_t width)
{
    if (!v->values || v->constant)
        vector_make(v, arena, width, BATCH_ROWS);
    v->width = width;
}

/* Column of build rows; NOBODY gives null. */
static void gather_build(const struct join_node *n, uint16_t column, const uint32_t *numbers, uint16_t count, struct vector *out)
{
    uint8_t *nulls = out->nulls;
    bool any_null = false;
    size_t bytes = width_bytes(out->width);
#define EACH_BUILD(body)                                                                        \
    for (uint16_t k = 0; k < count; k++) {                                                      \
        bool null = numbers[k] == NOBODY;                                                       \
        if (!null) {                                                                            \
            struct place p = n->store_count == 1 ? (struct place){ 0, numbers[k] } : n->places[numbers[k]];   \
            const struct vector *v = rows_column(&n->stores[p.store]->rows, p.row, column);     \
            uint16_t i = rows_at(p.row);                                                        \
            null = v->nulls && v->nulls[i];                                                     \
            if (!null) { body; }                                                                \
        }                                                                                       \
        nulls[k] = null;                                                                        \
        if (null) { any_null = true; memset((uint8_t *)out->values + k * bytes, 0, bytes); }    \
    }
    switch (out->width) {
    case 4: EACH_BUILD(((uint32_t *)out->values)[k] = ((const uint32_t *)v->values)[i]) break;
    case 8: EACH_BUILD(((uint64_t *)out->values)[k] = ((const uint64_t *)v->values)[i]) break;
    case 1: EACH_BUILD(((uint8_t *)out->values)[k] = ((const uint8_t *)v->values)[i]) break;
    case 2: EACH_BUILD(((uint16_t *)out->values)[k] = ((const uint16_t *)v->values)[i]) break;
    default: EACH_BUILD(((struct varlen *)out->values)[k] = ((const struct varlen *)v->values)[i]) break;
    }
    (void)any_null;
}

static void gather_column(struct probe_local *l, const struct batch *batch, uint16_t column, const row_pos *left, const uint32_t *right, uint16_t count, struct vector *out)
{
    const struct join_node *n = (const struct join_node *)l->local.op;
    struct arena *arena = l->local.worker->arena;
    if (column < n->left_count) {
        const struct vector *from = &batch->columns[column];
        room(out, arena, from->width);
        vector_gather(from, left, count, out, 0);
    } else {
        room(out, arena, n->build_types[column - n->left_count].width);
        gather_build(n, (uint16_t)(column - n->left_count), right, count, out);
    }
}

static enum status push_pairs(struct probe_local *l, const struct batch *batch, const row_pos *left, const uint32_t *right, uint16_t count)
{
    struct join_node *n = (struct join_node *)l->local.op;
    if (count == 0)
        return STATUS_OK;
    for (uint16_t c = 0; c < n->output_count; c++)
        gather_column(l, batch, n->outputs[c], left, right, count, &l->out[c]);
    struct batch out = { .columns = l->out, .column_count = n->output_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = batch->grain };
    return l->results ? join_spill_result(l, batch, &out, left) : local_push(&l->local, &out);
}

/* Judges the pairs gathered so far. Placeholders: see the head of the file. */
static enum status flush_pairs(struct probe_local *l, const struct batch *batch, uint16_t *semi_count)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum plan_join join = n->op.plan->join;
    const row_pos *passed = NULL;
    uint16_t passed_count = l->pair_count;
    row_pos real[BATCH_ROWS];
    if (l->filter && l->pair_count) {
        uint16_t real_count = 0, at;
        for (uint16_t k = 0; k < l->pair_count; k++) {
            real[real_count] = k;
            real_count = (uint16_t)(real_count + (l->pair_right[k] != NOBODY));
        }
        for (uint16_t c = 0; c < n->left_count + n->right_count; c++)
            if (n->reads[c])
                gather_column(l, batch, c, l->pair_left, l->pair_right, l->pair_count, &l->joined[c]);
        struct batch pairs = { .columns = l->joined, .column_count = (uint16_t)(n->left_count + n->right_count), .row_count = l->pair_count, .selected_count = real_count,
                               .selection = real, .grain = batch->grain };
        enum status status = evaluation_filter(l->filter, &pairs, &passed, &passed_count, &at);
        if (status)
            return status;
        ASSERT(passed != NULL || passed_count == 0);
    }
    uint16_t kept = 0, next = 0;
    for (uint16_t k = 0; k < l->pair_count; k++) {
        uint16_t left = l->pair_left[k];
        uint32_t right = l->pair_right[k];
        bool hit;
        if (right == NOBODY) {
            bool matched = l->row_matched[left];
            if (join == PLAN_SEMI ? matched : !matched) {
                if (join == PLAN_LEFT || join == PLAN_FULL) {
                    l->kept_left[kept] = left;
                    l->kept_right[kept++] = NOBODY;
                } else {
                    l->kept_left[(*semi_count)++] = left;
                }
            }
            continue;
        }
        if (l->filter) {
            hit = next < passed_count && passed[next] == k;
            next = (uint16_t)(next + hit);
        } else {
            hit = true;
        }
        if (!hit)
            continue;
        l->row_matched[left] = 1;
        if (n->matched)
            n->matched[right] = 1;
        if (join == PLAN_SEMI || join == PLAN_ANTI || join == PLAN_ANTI_NULL)
            continue;
        l->kept_left[kept] = left;
        l->kept_right[kept++] = right;
    }
    l->pair_count = 0;
    return push_pairs(l, batch, l->kept_left, l->kept_right, kept);
}

/* Does build row `number` have the key of the probe row at i (k-th of the batch)? */
static inline bool keys_equal(const struct join_node *n, const struct probe_local *l, uint32_t number, uint16_t k, uint16_t i)
{
    if (n->words)
        return n->words[number] == join_word(&l->key_vectors[0], i) && !vector_null(&l->key_vectors[0], i);
    if (n->hashes[number] != l->hashes[k])
        return false;
    struct place p = n->places[number];
    const struct rows *rows = &n->stores[p.store]->rows;
    uint16_t at = rows_at(p.row), key_count = n->op.plan->key_count;
    for (uint16_t c = 0; c < key_count; c++) {
        const struct vector *b = rows_column(rows, p.row, n->key_column[c]), *a = &l->key_vectors[c];
        bool safe = n->op.plan->null_safe && n->op.plan->null_safe[c];
        if (!safe && (vector_null(b, at) || vector_null(a, i)))
            return false;
        if (!same_value(n->key_types[c], b, at, a, i))
            return false;
    }
    return true;
}

static bool null_probe(const struct join_node *n, const struct probe_local *l, uint16_t i)
{
    for (uint16_t k = 0; k < n->op.plan->key_count; k++)
        if (!(n->op.plan->null_safe && n->op.plan->null_safe[k]) && vector_null(&l->key_vectors[k], i))
            return true;
    return false;
}

static enum status probe_take(struct local *local, const struct batch *batch)
{
    struct join_node *n = (struct join_node *)local->op;
    enum plan_join join = local->op->plan->join;
    if (local->worker->number == 0)
        n->last_grain = batch->grain;
    if (!n->any_row && (join == PLAN_INNER || join == PLAN_SEMI || join == PLAN_RIGHT)) {
        local->stopped_itself = true;
        return local->worker->number ? STATUS_OK : STATUS_STOP;
    }
    if (join == PLAN_ANTI_NULL && n->any_row && n->null_key)
        return STATUS_OK;                /* NOT IN with a null among the values: never true */
    return join_probe(local, batch);
}

enum status join_probe(struct local *local, const struct batch *batch)
{
    struct probe_local *l = (struct probe_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    const struct plan *plan = local->op->plan;
    enum plan_join join = plan->join;
    uint16_t at;
    enum status status = evaluation_run(l->keys, batch, l->key_vectors, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, join_probe);
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    hash_columns(n->key_types, l->key_vectors, plan->key_count, positions, batch->selected_count, l->hashes);
    if (n->spilled && !l->results)
        return join_spill_probe(l, batch, positions);

    bool placeholder = join == PLAN_LEFT || join == PLAN_FULL || join == PLAN_SEMI || join == PLAN_ANTI || join == PLAN_ANTI_NULL;
    bool once = !n->filter && (join == PLAN_SEMI || join == PLAN_ANTI || join == PLAN_ANTI_NULL);
    uint16_t semi_count = 0;
    l->pair_count = 0;
    if (placeholder)
        memset(l->row_matched, 0, batch->row_count);
    /* heads and first rows are asked for ahead of their use: in a big table each is a cache miss */
    bool big = n->mask > 4096;
    for (uint16_t k = 0; k < batch->selected_count && big; k++)
        __builtin_prefetch(&n->heads[(uint32_t)l->hashes[k] & n->mask]);
    for (uint16_t k = 0; k < batch->selected_count; k++) {
        l->first[k] = n->heads[(uint32_t)l->hashes[k] & n->mask];
        if (big && l->first[k] != NOBODY) {
            __builtin_prefetch(n->words ? &n->words[l->first[k]] : &n->hashes[l->first[k]]);
            __builtin_prefetch(&n->next[l->first[k]]);
        }
    }
    for (uint16_t k = 0; k < batch->selected_count && !status; k++) {
        uint16_t i = positions ? positions[k] : k;
        uint32_t number = l->first[k];
        if (once) {                      /* only whether there is one */
            bool null = null_probe(n, l, i), hit = false;
            for (; number != NOBODY && !null && !hit; number = n->next[number])
                hit = keys_equal(n, l, number, k, i);
            if (join == PLAN_ANTI_NULL && null && n->any_row)
                continue;
            if (hit == (join == PLAN_SEMI))
                l->kept_left[semi_count++] = i;
            continue;
        }
        for (; number != NOBODY && !status; number = n->next[number]) {
            if (!keys_equal(n, l, number, k, i))
                continue;
#if CRAB_PLANT == 2                      /* wrong on purpose: tests/sql/random.sh has to find it */
            if (l->pair_count >= 2 && l->pair_left[l->pair_count - 2] == i)
                continue;
#endif
            l->pair_left[l->pair_count] = i;
            l->pair_right[l->pair_count++] = number;
            if (l->pair_count == BATCH_ROWS) {
                status = flush_pairs(l, batch, &semi_count);
                if (!status)
                    status = run_check(local->worker);
            }
        }
        if (!status && placeholder) {
            l->pair_left[l->pair_count] = i;
            l->pair_right[l->pair_count++] = NOBODY;
            if (l->pair_count == BATCH_ROWS)
                status = flush_pairs(l, batch, &semi_count);
        }
    }
    if (!status && l->pair_count)
        status = flush_pairs(l, batch, &semi_count);
    if (!status && semi_count) {
        struct batch out = *batch;
        for (uint16_t c = 0; c < n->output_count; c++)
            l->out[c] = batch->columns[n->outputs[c]];
        out.columns = l->out;
        out.column_count = n->output_count;
        out.selection = l->kept_left;
        out.selected_count = semi_count;
        out.all_selected = false;
        status = l->results ? join_spill_result(l, batch, &out, NULL) : local_push(local, &out);
    }
    return status;
}

static enum status probe_flush(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    return ((struct join_node *)local->op)->spilled ? join_spill_finish(l) : join_unmatched(local);
}

static enum status probe_rewind(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    l->sequence = 0;
    return STATUS_OK;
}

/* RIGHT, FULL: the build rows that nobody matched. */
enum status join_unmatched(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    if (!n->matched)
        return STATUS_OK;
    enum status status = STATUS_OK;
    uint16_t count = 0;
    uint8_t ones[1] = { 1 };
    uint64_t zeros[2] = { 0, 0 };
    for (uint32_t r = 0; r <= n->count && !status; r++) {
        if (r < n->count && !n->matched[r])
            l->kept_right[count++] = r;
        if (count == 0 || (count < BATCH_ROWS && r < n->count))
            continue;
        for (uint16_t c = 0; c < n->output_count; c++) {
            uint16_t column = n->outputs[c];
            if (column < n->left_count)
                l->out[c] = (struct vector){ .values = zeros, .nulls = ones, .width = n->op.plan->left->types[column].width, .constant = true };
            else
                gather_column(l, NULL, column, NULL, l->kept_right, count, &l->out[c]);
        }
        struct batch out = { .columns = l->out, .column_count = n->output_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = n->last_grain + 1 };
        status = run_check(local->worker);
        if (!status)
            status = l->results ? join_spill_result(l, NULL, &out, NULL) : local_push(local, &out);
        count = 0;
    }
    return status;
}

const struct node_class hash_join_class = { .name = "hash join", .node_bytes = sizeof(struct join_node), .local_bytes = sizeof(struct probe_local),
                                            .open = join_open, .prepare = join_prepare, .local = probe_local, .rewind = probe_rewind, .take = probe_take, .flush = probe_flush, .parallel = true };
