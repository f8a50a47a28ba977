/* engine/exec/hash_join.c - joins on equal keys: the right side is kept in a hash table, the left side probes it.
 *
 * Build rows have the row order of the right side; a probe row's matches come in that order, and so do the build rows that come out by
 * themselves (RIGHT and FULL: unmatched, RIGHT_ANTI: unmatched, RIGHT_SEMI: matched), after all others.
 *
 * Of the build side only what is asked for is kept: columns of the output and of the ON condition, the keys where their hash alone
 * doesn't tell them apart, and each row's word (join_table.c). Workers build as workers scan: each keeps its rows with the grains they
 * came in; order is made when all are back, by sorting grains, not rows. They probe at once; the table doesn't change any more. The bytes that
 * mark matched build rows are set by all of them.
 *
 * A build side that outgrows work_mem goes to disk by partitions, and the probe side after it: hash_join_spill.c. (work_mem is for
 * the rows; the table takes up to 30 bytes a row more, as hash_mem_multiplier allows in PostgreSQL.)
 *
 * What the build side knows of the keys goes down to the probe side's scan as a filter (runtime_filter.h). In a pipeline the topmost join is
 * built first, so its filter reaches the build sides of the joins below, too. */
#include <stdlib.h>
#include "engine/exec/hash_join.h"
#include "engine/exec/inner_run.h"

/* ---- open ---- */

/* Which right columns are kept, and where; then the keys that must be compared, then the word. */
static void build_layout(struct join_node *n)
{
    const struct plan *plan = n->op.plan;
    struct arena *arena = n->op.run->arena;
    n->build_types = arena_array(arena, struct sql_type, n->right_count + plan->key_count + 1u);
    n->store_column = arena_array(arena, uint16_t, n->right_count + 1u);
    n->key_column = arena_array(arena, uint16_t, plan->key_count + 1u);
    n->build_columns = join_kept_columns(plan, n->reads, false, n->store_column, n->build_types);
    for (uint16_t k = 0; k < plan->key_count && !n->worded; k++) {
        const struct scalar *key = plan->right_keys[k];
        if (key->kind == SCALAR_COLUMN && n->store_column[key->column] != NOT_KEPT) {
            n->key_column[k] = n->store_column[key->column];
            continue;
        }
        n->key_column[k] = n->build_columns;
        n->build_types[n->build_columns++] = n->key_types[k];
    }
    n->word_column = n->build_columns;
    n->build_types[n->build_columns++] = type_make(OID_INT8, -1);
}

/* Where this join's rows without a match are of no use, and its keys are columns of a table scan below: a filter for that. */
static void filter_open(struct join_node *n)
{
    const struct plan *plan = n->op.plan;
    bool useful = plan->join == PLAN_INNER || plan->join == PLAN_SEMI || (join_marks(plan->join) && plan->join != PLAN_FULL);
    uint16_t columns[KEY_WORD_MAX];
    if (!useful || !n->worded || !n->constant_build || plan_is_volatile(plan->left))
        return;
    for (uint16_t k = 0; k < plan->key_count; k++) {
        int32_t at = runtime_filter_column(plan->left_keys[k]);
        if (at < 0)
            return;
        columns[k] = (uint16_t)at;
    }
    struct exec_node *scan = runtime_filter_target(n->op.left, columns, plan->key_count);
    if (!scan)
        return;
    n->runtime_filter = arena_new(n->op.run->arena, struct runtime_filter);
    n->runtime_filter->layout = n->layout;
    memcpy(n->runtime_filter->columns, columns, plan->key_count * sizeof *columns);
    n->filtered_scan = scan;
    seq_scan_filter_add(scan, n->runtime_filter);
}

/* The build side is read: what it says of the keys. */
static void filter_start(struct join_node *n)
{
    struct runtime_filter *f = n->runtime_filter;
    f->active = true;
    if (f->layout.count == 1 && f->range)
        seq_scan_narrow(n->filtered_scan, f->columns[0], (int64_t)f->low, (int64_t)(f->low + f->range - 1));
}

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
    bool null_safe = false;
    for (uint16_t k = 0; k < plan->key_count; k++) {
        n->key_types[k] = plan->right_keys[k]->type;
        null_safe |= plan->null_safe && plan->null_safe[k];
    }
    n->worded = !null_safe && key_layout_make(&n->layout, n->key_types, plan->key_count);
    n->keep_null_rows = plan->join == PLAN_RIGHT || plan->join == PLAN_FULL || plan->join == PLAN_RIGHT_ANTI;
    op->late = join_marks(plan->join);
    n->reads = arena_array(arena, bool, n->left_count + n->right_count + 1u);
    for (uint16_t c = 0; c < n->left_count + n->right_count; c++)
        n->reads[c] = program_reads(n->filter, c);
    build_layout(n);
    status = join_spill_types(n);
    n->constant_build = !plan_reads_outer(op->run, plan->right) && !plan_is_volatile(plan->right);
    n->build_serial = !program_runs_inside(op->run, n->right_keys);
    filter_open(n);
    return status;
}

/* ---- build ---- */

void join_words(const struct join_node *n, const struct vector *keys, const row_pos *positions, uint16_t count, uint64_t *words)
{
    const struct vector *all[KEY_WORD_MAX];
    if (!n->worded) {
        hash_columns(n->key_types, keys, n->op.plan->key_count, positions, count, words);
        return;
    }
    for (uint16_t k = 0; k < n->layout.count; k++)
        all[k] = &keys[k];
    key_words(&n->layout, all, positions, count, words);
}

static enum status build_local(struct local *local)
{
    struct build_local *l = (struct build_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    struct arena *arena = local->worker->number ? local->worker->arena : local->op->again;
    l->key_vectors = arena_array(arena, struct vector, local->op->plan->key_count + 1u);
    l->columns = arena_array(arena, struct vector, n->build_columns + 1u);
    l->words = arena_alloc(arena, BATCH_MAX * sizeof *l->words);
    l->word_nulls = arena_alloc(arena, BATCH_MAX);
    l->low = INT64_MAX;
    l->high = INT64_MIN;
    l->arena = arena;
    l->rows_arena = arena_open(arena, "build rows");
    rows_open(&l->rows, l->rows_arena, n->build_types, n->build_columns);
    return evaluation_open(n->right_keys, local->worker->run, arena, &l->keys);
}

/* Which of the batch's rows are kept: those without a null key match nothing. *some_null: word_nulls is to be looked at. NULL: all of the batch. */
static const row_pos *build_rows(struct build_local *l, const struct batch *batch, row_pos *kept, uint16_t *count, bool *some_null)
{
    struct join_node *n = (struct join_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    bool nulls = false;
    for (uint16_t k = 0; k < plan->key_count; k++)
        nulls |= !(plan->null_safe && plan->null_safe[k]) && l->key_vectors[k].nulls;
    *some_null = false;
    *count = batch->selected_count;
    if (!nulls)
        return batch->all_selected ? NULL : batch->selection;
    *count = 0;
    for (BATCH_EACH(batch, i)) {
        bool null = false;
        for (uint16_t k = 0; k < plan->key_count; k++)
            null |= !(plan->null_safe && plan->null_safe[k]) && vector_null(&l->key_vectors[k], i);
        *some_null |= null;
        l->word_nulls[i] = null;
        kept[*count] = i;
        *count = (uint16_t)(*count + (!null || n->keep_null_rows));
    }
    l->null_key |= *some_null;
    return kept;
}

static void build_segment(struct build_local *l, uint64_t grain, uint64_t first, uint16_t count)
{
    if (!l->segment_count || l->segments[l->segment_count - 1].grain != grain) {
        if (l->segment_count == l->segment_capacity) {
            uint32_t capacity = l->segment_capacity ? l->segment_capacity * 2 : 64;
            l->segments = arena_grow(l->rows.arena, l->segments, l->segment_capacity * sizeof *l->segments, capacity * sizeof *l->segments);
            l->segment_capacity = capacity;
        }
        l->segments[l->segment_count++] = (struct segment){ .grain = grain, .first = first };
    }
    l->segments[l->segment_count - 1].count += count;
}

static enum status build_take(struct local *local, const struct batch *batch)
{
    struct build_local *l = (struct build_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    row_pos space[BATCH_MAX];
    uint16_t at, count;
    bool some_null;
    enum status status = evaluation_run(l->keys, batch, l->key_vectors, &at);
    if (status)
        return status;
    const row_pos *kept = build_rows(l, batch, space, &count, &some_null);
    if (count == 0)
        return STATUS_OK;
    join_words(n, l->key_vectors, kept, count, l->words);
    if (n->worded && n->layout.count == 1)
        for (uint16_t k = 0; k < count; k++) {
            if (some_null && l->word_nulls[kept[k]])
                continue;
            int64_t word = (int64_t)l->words[k];
            l->low = word < l->low ? word : l->low;
            l->high = word > l->high ? word : l->high;
        }
    for (uint16_t k = kept ? count : 0; k-- > 0;)        /* to their positions: rising, so from the end */
        l->words[kept[k]] = l->words[k];
    for (uint16_t c = 0; c < n->right_count; c++)
        if (n->store_column[c] != NOT_KEPT)
            l->columns[n->store_column[c]] = batch->columns[c];
    for (uint16_t k = 0; k < local->op->plan->key_count && !n->worded; k++)
        l->columns[n->key_column[k]] = l->key_vectors[k];
    l->columns[n->word_column] = (struct vector){ .values = l->words, .nulls = some_null ? l->word_nulls : NULL, .width = 8 };
    struct batch in = *batch;
    in.columns = l->columns;
    in.column_count = n->build_columns;
    build_segment(l, batch->grain, l->rows.count, count);
    rows_append_some(&l->rows, &in, kept, count);
    return l->rows.bytes > (uint64_t)local->worker->run->work_mem ? join_spill_build(l) : STATUS_OK;
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

static enum status build_run(struct join_node *n)
{
    struct exec_node *op = &n->op;
    node_again(op);
    n->stores = NULL;
    n->store_count = 0;
    n->matched = NULL;
    n->null_key = n->built = n->spilled = false;
    if (n->runtime_filter)
        n->runtime_filter->active = false;
    enum status status = n->build_serial ? pipeline_run_serial(op->right, op, &build_sink) : pipeline_run(op->right, op, &build_sink);
    for (uint32_t s = 0; s < n->store_count && n->spilled && !status; s++) {
        status = join_spill_build(n->stores[s]);
        if (!status)
            status = spill_set_flush(n->stores[s]->spilled);
    }
    op->serial |= n->spilled;            /* the join is then made when the probe rows are on disk too: by the leader */
    uint16_t workers = pipeline_workers(op->right), others = pipeline_workers(op);
    if (!status && !n->spilled)
        status = join_table_make(n, workers > others ? workers : others);
    if (status)
        return status;
    n->any_row = n->spilled || n->null_key || n->rows.count > 0;
    n->built = true;
    bool one_sided = join_one_sided(op->plan->join) || op->plan->join == PLAN_RIGHT_SEMI || op->plan->join == PLAN_RIGHT_ANTI;
    op->fans_out = !n->spilled && !one_sided && !n->table.unique;
    op->nothing = !n->spilled && n->rows.count == 0 && (op->plan->join == PLAN_INNER || op->plan->join == PLAN_SEMI || (join_marks(op->plan->join) && op->plan->join != PLAN_FULL));
    if (join_marks(op->plan->join) && !n->spilled)
        n->matched = arena_alloc(op->again, (size_t)n->rows.chunk_count * ROWS_CHUNK + 1);
    if (n->runtime_filter && !n->spilled)
        filter_start(n);
    if (op->counters)
        op->counters->memory_bytes = arena_bytes(op->again);
    return STATUS_OK;
}

static enum status join_prepare(struct exec_node *op)
{
    struct join_node *n = (struct join_node *)op;
    n->last_grain = 0;
    if (!n->built || !n->constant_build) {
        enum status status = build_run(n);
        if (status)
            return status;
    }
    if (n->matched)
        memset((void *)n->matched, 0, (size_t)n->rows.chunk_count * ROWS_CHUNK);
    return STATUS_OK;
}

/* Behind all grains of the probe side; where that begins at a table, the same number whoever scans, and a new aligned run of grains. */
uint64_t join_last_grain(const struct join_node *n)
{
    const struct exec_node *op = n->op.left;
    while (op && !scan_is_shared(op) && op->class->take && !op->class->source)
        op = op->left;
    return op && scan_is_shared(op) ? late_grain(op) : n->last_grain + 1;
}

static enum status join_flush(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    return ((struct join_node *)local->op)->spilled ? join_spill_finish(l, false) : join_unmatched(local);
}

/* Whether rows went to disk shows in no answer: what they join with goes on before the error, as it would have. */
static enum status join_failed(struct local *local, enum status failure)
{
    if (!((struct join_node *)local->op)->spilled)
        return failure;
    struct error saved = {0};
    error_save(&saved);
    enum status status = join_spill_finish((struct probe_local *)local, true);
    if (status)
        error_free(&saved);
    return status ? status : error_restore(&saved);
}

static enum status probe_rewind(struct local *local)
{
    ((struct probe_local *)local)->sequence = 0;
    return STATUS_OK;
}

const struct node_class hash_join_class = { .name = "hash join", .node_bytes = sizeof(struct join_node), .local_bytes = sizeof(struct probe_local),
                                            .open = join_open, .prepare = join_prepare, .local = probe_local, .rewind = probe_rewind, .take = probe_take, .flush = join_flush,
                                            .failed = join_failed, .parallel = true };
