/* engine/exec/top_n.c - ORDER BY … LIMIT n, n not large.
 *
 * Each worker gathers rows up to a multiple of n, sorts, and drops all but the first n; the last of these is its *bound*. From
 * then on rows that aren't before the bound are thrown out before anything is made of them: first by a loop over the first
 * column's values (sort_key_within), the few that are left by their words. What is left of all workers is merged as in a sort.
 *
 * Rows keep their order of arrival: what is kept is numbered anew by rising number, so equal keys stay in order (grain, row). */
#include "base/plant.h"
#include "engine/exec/sort.h"

#define LARGE (1u << 20)                 /* from here on everything is sorted */

struct top_local {
    struct local local;
    struct sort_part part;
    struct text_buffer scratch;
    struct arena *parent;
    uint32_t keep;
    bool full;                           /* there is a bound: the last word of the first `keep`, and its row */
    sort_word bound;
    const struct vector *bound_columns; uint16_t bound_row;
    struct sort_bound within;
};

static enum status top_local(struct local *local)
{
    struct top_local *l = (struct top_local *)local;
    l->parent = local->worker->number ? local->worker->arena : local->op->again;
    l->part.arena = arena_open(l->parent, "top-n");
    l->keep = (uint32_t)((struct sort_node *)local->op)->keep;
    text_buffer_open(&l->scratch, l->parent);
    sort_part_open(&l->part, local->op);
    return STATUS_OK;
}

/* Only the first `keep` rows stay. */
static enum status cut(struct top_local *l)
{
    struct sort_node *n = (struct sort_node *)l->local.op;
    struct sort_part *part = &l->part;
    enum status status = sort_part_sort(part, &n->key, l->local.worker);
    if (status || part->count <= l->keep)
        return status;
    sort_part_columns(part);
    const struct sort_part old = *part;
    part->arena = arena_open(l->parent, "top-n");
    sort_part_open(part, l->local.op);

    /* order[i]: which of the kept words is that of the i-th kept row, by rising number */
    uint32_t *place = arena_alloc(old.arena, (old.rows.count + 1) * sizeof *place), *order = arena_alloc(old.arena, l->keep * sizeof *order), at = 0;
    memset(place, 0xff, (old.rows.count + 1) * sizeof *place);
    for (uint32_t k = 0; k < l->keep; k++)
        place[SORT_ROW(old.words[k])] = k;
    for (uint32_t row = 0; row < old.rows.count; row++)
        if (place[row] != UINT32_MAX)
            order[at++] = row;
    for (uint32_t i = 0; i < l->keep; i++) {
        struct batch batch;
        row_pos position = rows_at(order[i]);
        rows_chunk(&old.rows, order[i] / ROWS_CHUNK, &batch);
        sort_part_room(part, sort_part_grain(&old, order[i]), 1);
        rows_append_some(&part->rows, &batch, &position, 1);
        part->count++;
    }
    for (uint32_t i = 0; i < l->keep; i++) {
        uint32_t k = place[order[i]];
        part->words[k] = old.words[k] >> 32 << 32 | i;
    }
    arena_close(old.arena);
    uint32_t last = SORT_ROW(part->words[l->keep - 1]);
    l->full = true;
    l->bound = part->words[l->keep - 1];
    l->bound_columns = part->rows.chunks[last / ROWS_CHUNK].columns;
    l->bound_row = rows_at(last);
    sort_key_bound(&n->key, l->bound_columns, l->bound_row, &l->within);
    return STATUS_OK;
}

/* Of count positions with their words, those before the bound stay. A later row that is equal to it is not. */
static uint16_t before_bound(struct top_local *l, const struct batch *batch, row_pos *positions, sort_word *words, uint16_t count)
{
    const struct sort_layout *key = &((struct sort_node *)l->local.op)->key;
    uint32_t first = count ? SORT_ROW(words[0]) : 0;
    uint16_t n = 0;
    for (uint16_t k = 0; k < count; k++) {
        sort_word word = words[k];
        if (SORT_KEY(word) > SORT_KEY(l->bound) || (PLANT(BOUND_WITHOUT_REST) && SORT_KEY(word) == SORT_KEY(l->bound)))
            continue;
        if (SORT_KEY(word) == SORT_KEY(l->bound) &&
            (key->exact || sort_key_compare_rest(key, word, batch->columns, positions[k], l->bound_columns, l->bound_row) >= 0))
            continue;
        words[n] = word >> 32 << 32 | (first + n);
        positions[n++] = positions[k];
    }
    return n;
}

static enum status top_take(struct local *local, const struct batch *batch)
{
    struct top_local *l = (struct top_local *)local;
    struct sort_part *part = &l->part;
    const struct sort_layout *key = &((struct sort_node *)local->op)->key;
    row_pos chosen[BATCH_MAX];
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    uint16_t count = batch->selected_count;
    if (l->full) {
        int within = sort_key_within(&l->within, &batch->columns[key->columns[0].column], positions, count, chosen);
        if (within == 0)
            return STATUS_OK;
        if (within > 0)
            count = (uint16_t)within;
        else
            for (uint16_t k = 0; k < count; k++)
                chosen[k] = batch_row(batch, k);
        positions = chosen;
    }
    sort_word *words = sort_part_room(part, batch->grain, count);
    sort_key_words(key, batch->columns, positions, count, (uint32_t)part->rows.count, &l->scratch, words);
    if (l->full)
        count = before_bound(l, batch, chosen, words, count);
    part->count += count;
    rows_append_some(&part->rows, batch, positions, count);
    if (part->count >= l->keep * 2 + 1024)
        return cut(l);
    return STATUS_OK;
}

static enum status top_done(struct local *local)
{
    struct top_local *l = (struct top_local *)local;
    enum status status = sort_part_sort(&l->part, &((struct sort_node *)local->op)->key, local->worker);
    sort_part_columns(&l->part);
    return status;
}

static enum status top_combine(struct exec_node *op, struct local *local)
{
    struct sort_node *n = (struct sort_node *)op;
    n->parts = arena_grow(op->again, n->parts, n->part_count * sizeof *n->parts, (n->part_count + 1u) * sizeof *n->parts);
    ((struct top_local *)local)->part.number = n->part_count;
    n->parts[n->part_count++] = &((struct top_local *)local)->part;
    return STATUS_OK;
}

static const struct sink_class top_sink = { .name = "top-n", .local_bytes = sizeof(struct top_local), .local = top_local, .take = top_take, .done = top_done,
                                            .combine = top_combine, .parallel = true };

static enum status top_bound(struct run *run, const struct scalar *scalar, uint64_t none, enum status error, uint64_t *out)
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

static enum status top_source(struct local *local)
{
    struct sort_node *n = (struct sort_node *)local->op;
    const struct plan *plan = local->op->plan;
    enum status status = top_bound(local->worker->run, plan->offset, 0, STATUS_INVALID_OFFSET, &n->skip);
    if (!status)
        status = top_bound(local->worker->run, plan->limit, UINT64_MAX, STATUS_INVALID_LIMIT, &n->keep);
    if (status || n->keep == 0)
        return status;
    n->keep = n->keep > UINT64_MAX - n->skip ? UINT64_MAX : n->keep + n->skip;
    if (plan->with_ties)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "WITH TIES is not supported here");
    if (n->keep >= LARGE)
        return sort_run(local);
    node_again(local->op);
    n->parts = NULL;
    n->part_count = 0;
    status = pipeline_run(local->op->left, local->op, &top_sink);
    return status ? status : sort_emit(local);
}

const struct node_class top_n_class = { .name = "top-n", .node_bytes = sizeof(struct sort_node), .open = sort_node_open, .source = top_source };
