/* engine/exec/nested_loop.c - joins by running the right side for each left row.
 *
 * The left row's values go into outer slots, which the right side reads as if they were parameters: an index scan
 * there probes with them; workers have outer slots and a right side each (inner_run.h). A right side that reads no outer slot is run
 * once and kept, on disk what is more than work_mem: by the leader, when the first left row asks, or before workers start (nested_loop_keep), who then
 * read it where it lies. RIGHT and FULL mark the kept rows: they are the leader's.
 *
 * Joined batches are the right side's own vectors next to constants from the left row, uncopied. Since right sides
 * are mostly small, what passes is gathered into full batches before it goes on; big ones go on directly. */
#include "engine/exec/inner_run.h"
#include "engine/exec/spill_rows.h"

#define DIRECT 256                       /* so many rows at once aren't worth copying */
#define PENDING_BYTES (1u << 20)         /* so much doesn't wait for a full batch */

struct loop_node {
    struct exec_node op;
    struct program *outer, *filter;
    struct sql_type *outer_types;
    uint16_t left_count, right_count;
    uint16_t *outputs;
    bool keep_right, kept, keep_failed, one_match;
    struct spill_rows right;             /* keep_right */
};

struct loop_local;
struct inner_local { struct local local; struct loop_local *loop; };
struct loop_local {
    struct local local;
    struct exec_node *right;
    struct inner_local inner;
    struct spill_rows_reader reader; bool reading;     /* of the kept right side */
    struct evaluation *outer, *filter;
    struct vector *outer_vectors, *joined, *out;
    struct rows pending; struct arena *pending_arena;
    const struct batch *left; uint16_t left_at;
    bool matched, enough, stopped;
    uint8_t *right_matched; uint64_t right_first;
    uint64_t grain;
};

static enum status loop_open(struct exec_node *op)
{
    struct loop_node *n = (struct loop_node *)op;
    const struct plan *plan = op->plan;
    enum status status = node_program(op, 0, plan->outer_values, plan->outer_count, &n->outer);
    if (!status)
        status = node_filter(op, 1, plan->filter, &n->filter);
    if (status)
        return status;
    n->outer_types = arena_array(op->run->arena, struct sql_type, plan->outer_count + 1u);
    for (uint16_t k = 0; k < plan->outer_count; k++)
        n->outer_types[k] = plan->outer_values[k]->type;
    n->left_count = plan->left->column_count;
    n->right_count = plan->right->column_count;
    n->outputs = plan->outputs;
    if (!n->outputs) {
        n->outputs = arena_array(op->run->arena, uint16_t, plan->column_count + 1u);
        for (uint16_t i = 0; i < plan->column_count; i++)
            n->outputs[i] = i;
    }
    n->keep_right = !plan_reads_outer(op->run, plan->right) && !plan_changes(plan->right);
    op->fans_out = op->inner = true;
    op->serial |= n->keep_right ? plan->join == PLAN_RIGHT || plan->join == PLAN_FULL : !plan_runs_inside(plan->right);
    n->one_match = plan->join == PLAN_SEMI || plan->join == PLAN_ANTI || plan->join == PLAN_ANTI_NULL;
    if ((plan->join == PLAN_RIGHT || plan->join == PLAN_FULL) && !n->keep_right)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions");
    return STATUS_OK;
}

static enum status inner_take(struct local *, const struct batch *);

static enum status loop_local(struct local *local)
{
    struct loop_local *l = (struct loop_local *)local;
    struct loop_node *n = (struct loop_node *)local->op;
    struct arena *arena = local->worker->arena;
    const struct plan *plan = local->op->plan;
    l->outer_vectors = arena_array(arena, struct vector, plan->outer_count + 1u);
    l->joined = arena_array(arena, struct vector, n->left_count + n->right_count + 1u);
    l->out = arena_array(arena, struct vector, plan->column_count + 1u);
    l->inner = (struct inner_local){ .local = { .op = local->op, .worker = local->worker, .next = local, .take = inner_take }, .loop = l };
    l->pending_arena = arena_open(arena, "joined rows");
    rows_open(&l->pending, l->pending_arena, plan->types, plan->column_count);
    l->right = n->op.right;
    enum status status = evaluation_open(n->outer, local->worker->run, arena, &l->outer);
    if (!status && local->worker->number && !n->keep_right)
        status = node_make(local->worker->run, plan->right, &l->right);
    if (!status && n->filter)
        status = evaluation_open(n->filter, local->worker->run, arena, &l->filter);
    return status;
}

static enum status loop_rewind(struct local *local)
{
    struct loop_local *l = (struct loop_local *)local;
    arena_reset(l->pending_arena);
    rows_open(&l->pending, l->pending_arena, local->op->plan->types, local->op->plan->column_count);
    if (l->right_matched)
        memset(l->right_matched, 0, ((struct loop_node *)local->op)->right.count);
    l->grain = 0;
    return STATUS_OK;
}

static enum status flush_pending(struct loop_local *l)
{
    enum status status = STATUS_OK;
    const struct plan *plan = l->local.op->plan;
    for (uint32_t c = 0; c < l->pending.chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(&l->pending, c, &batch);
        batch.grain = l->grain;
        status = local_push(&l->local, &batch);
    }
    if (l->pending.count) {
        arena_reset(l->pending_arena);
        rows_open(&l->pending, l->pending_arena, plan->types, plan->column_count);
    }
    return status;
}

static enum status hand_on(struct loop_local *l, const struct batch *out)
{
    enum status status = STATUS_OK;
    if (out->selected_count >= DIRECT) {
        status = flush_pending(l);
        return status ? status : local_push(&l->local, out);
    }
    rows_append(&l->pending, out);
    return l->pending.count >= BATCH_ROWS || l->pending.bytes > PENDING_BYTES ? flush_pending(l) : STATUS_OK;
}

/* What the right side gives for the present left row. */
static enum status inner_take(struct local *local, const struct batch *batch)
{
    struct loop_local *l = ((struct inner_local *)local)->loop;
    struct loop_node *n = (struct loop_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    struct batch joined = *batch;
    for (uint16_t c = 0; c < n->left_count; c++) {
        const struct vector *v = &l->left->columns[c];
        size_t at = vector_at(v, l->left_at);
        l->joined[c] = (struct vector){ .values = (uint8_t *)v->values + at * width_bytes(v->width), .nulls = v->nulls ? v->nulls + at : NULL, .width = v->width, .constant = true };
    }
    memcpy(l->joined + n->left_count, batch->columns, n->right_count * sizeof(struct vector));
    joined.columns = l->joined;
    joined.column_count = (uint16_t)(n->left_count + n->right_count);
    if (l->filter) {
        const row_pos *left;
        uint16_t at;
        enum status status = evaluation_filter(l->filter, &joined, &left, &joined.selected_count, &at);
        if (status)
            return rows_before_failure(local, batch, status, at, inner_take);
        joined.selection = (row_pos *)left;
        joined.all_selected = left == NULL;
        local_filtered(&l->local, batch->selected_count - joined.selected_count);
    }
    if (joined.selected_count == 0)
        return STATUS_OK;
    l->matched = true;
    if (n->one_match) {
        l->enough = true;
        return STATUS_STOP;
    }
    if (l->right_matched)
        for (BATCH_EACH(&joined, i)) l->right_matched[l->right_first + i] = 1;
    for (uint16_t c = 0; c < plan->column_count; c++)
        l->out[c] = l->joined[n->outputs[c]];
    joined.columns = l->out;
    joined.column_count = plan->column_count;
    joined.grain = l->grain;
    enum status status = hand_on(l, &joined);
    l->stopped = status == STATUS_STOP;
    return status;
}

static enum status keep_take(struct local *local, const struct batch *batch)
{
    struct loop_node *n = (struct loop_node *)local->op;
    return spill_rows_append(&n->right, batch, batch->all_selected ? NULL : batch->selection, batch->selected_count);
}

/* The right side is run once and kept; nothing of it is, if that fails. */
static enum status keep_right(struct loop_node *n)
{
    struct local keep = { .op = &n->op, .worker = &n->op.run->leader, .take = keep_take };
    spill_rows_open(&n->right, keep.worker, arena_open(n->op.run->arena, "nested loop"), n->op.plan->right->types, n->right_count);
    enum status status = node_run(n->op.right, &keep);
    if (!status || status == STATUS_STOP)
        status = spill_rows_finish(&n->right);
    n->kept = !status;
    if (n->op.counters)
        n->op.counters->spilled_bytes = spill_rows_disk_bytes(&n->right);
    if (status)
        spill_rows_close(&n->right);
    return status;
}

enum status nested_loop_keep(struct exec_node *op, bool *failed)
{
    struct loop_node *n = (struct loop_node *)op;
    enum status status = STATUS_OK;
    if (n->keep_right && !n->kept && !n->keep_failed)
        status = inner_failed(keep_right(n), &n->keep_failed);
    *failed |= n->keep_failed && !n->kept;
    return status;
}

/* A chunk of the kept right side; nothing of another one is needed any more. */
static enum status kept_chunk(struct loop_local *l, uint32_t chunk, struct batch *out)
{
    if (!l->reading)
        spill_rows_reader_open(&l->reader, &((struct loop_node *)l->local.op)->right, l->local.worker->arena);
    l->reading = true;
    if (spill_rows_crowded(&l->reader, chunk))
        spill_rows_forget(&l->reader);
    return spill_rows_chunk(&l->reader, chunk, out);
}

static enum status run_right(struct loop_local *l)
{
    struct loop_node *n = (struct loop_node *)l->local.op;
    struct run *run = l->local.worker->run;
    enum status status = STATUS_OK;
    if (n->keep_right) {
        if (!n->kept) {
            status = keep_right(n);
            if (status)
                return status;
        }
        for (uint32_t c = 0; c < spill_rows_chunks(&n->right) && !status; c++) {
            struct batch batch;
            l->right_first = spill_rows_first(&n->right, c);
            status = kept_chunk(l, c, &batch);
            if (!status)
                status = run_check(l->local.worker);
            if (!status)
                status = inner_take(&l->inner.local, &batch);
        }
        return status;
    }
    run->nesting++;
    status = node_run(l->right, &l->inner.local);
    run->nesting--;
    return status;
}

/* The left row by itself: with nulls (LEFT, FULL), or alone (SEMI, ANTI). */
static enum status left_alone(struct loop_local *l)
{
    struct loop_node *n = (struct loop_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    uint8_t ones[1] = { 1 };
    uint64_t zeros[2] = { 0, 0 };
    for (uint16_t c = 0; c < plan->column_count; c++) {
        uint16_t column = n->outputs[c];
        if (column < n->left_count) {
            const struct vector *v = &l->left->columns[column];
            size_t at = vector_at(v, l->left_at);
            l->out[c] = (struct vector){ .values = (uint8_t *)v->values + at * width_bytes(v->width), .nulls = v->nulls ? v->nulls + at : NULL, .width = v->width, .constant = true };
        } else {
            l->out[c] = (struct vector){ .values = zeros, .nulls = ones, .width = plan->right->types[column - n->left_count].width, .constant = true };
        }
    }
    struct batch out = batch_empty(1);
    out.columns = l->out;
    out.column_count = plan->column_count;
    out.grain = l->grain;
    return hand_on(l, &out);
}

/* Something failed: rows that wait go on first, for a LIMIT may be met by them. */
static enum status pending_before(struct loop_local *l, enum status failure)
{
    if (failure == STATUS_STOP || status_sqlstate(failure)[0] != '2')
        return failure;
    struct error saved = {0};
    error_save(&saved);
    enum status status = flush_pending(l);
    if (status)
        error_free(&saved);
    return status ? status : error_restore(&saved);
}

static enum status loop_take(struct local *local, const struct batch *batch)
{
    struct loop_local *l = (struct loop_local *)local;
    struct loop_node *n = (struct loop_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct run *run = local->worker->run;
    enum plan_join join = plan->join;
    uint16_t at;
    l->left = batch;
    l->grain = batch->grain;
    enum status status = evaluation_run(l->outer, batch, l->outer_vectors, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, loop_take);
    if ((join == PLAN_RIGHT || join == PLAN_FULL) && !l->right_matched) {
        if (!n->kept)
            status = keep_right(n);
        if (status)
            return status;
        l->right_matched = arena_zero(local->worker->arena, n->right.count + 1);
    }
    for (BATCH_EACH(batch, i)) {
        l->left_at = i;
        l->matched = l->enough = l->stopped = false;
        for (uint16_t k = 0; k < plan->outer_count; k++) {
            const struct vector *v = &l->outer_vectors[k];
            struct value *slot = &run->outer[plan->outer_slots[k]];
            if (vector_null(v, i))
                *slot = (struct value){ .null = true };
            else
                *slot = value_get(n->outer_types[k], v, vector_at(v, i));
        }
        status = run_right(l);
        if (status == STATUS_STOP && (l->enough || !l->stopped))
            status = STATUS_OK;
        if (!status)
            status = run_check(local->worker);
        if (!status) {
            if (join == PLAN_SEMI ? l->matched : (join == PLAN_LEFT || join == PLAN_FULL || join == PLAN_ANTI || join == PLAN_ANTI_NULL) && !l->matched)
                status = left_alone(l);
        }
        if (status)
            return pending_before(l, status);
    }
    return flush_pending(l);
}

static enum status loop_flush(struct local *local)
{
    struct loop_local *l = (struct loop_local *)local;
    struct loop_node *n = (struct loop_node *)local->op;
    const struct plan *plan = local->op->plan;
    enum status status = STATUS_OK;
    if (plan->join != PLAN_RIGHT && plan->join != PLAN_FULL)
        return STATUS_OK;
    if (!n->kept)
        status = keep_right(n);
    uint8_t ones[1] = { 1 };
    uint64_t zeros[2] = { 0, 0 };
    for (uint32_t c = 0; !status && c < spill_rows_chunks(&n->right); c++) {
        struct batch batch;
        row_pos unmatched[ROWS_CHUNK];
        status = kept_chunk(l, c, &batch);
        if (status)
            break;
        uint16_t count = 0;
        uint64_t first = spill_rows_first(&n->right, c);
        for (uint16_t i = 0; i < batch.row_count; i++)
            if (!l->right_matched || !l->right_matched[first + i])
                unmatched[count++] = i;
        for (uint16_t k = 0; k < plan->column_count; k++) {
            uint16_t column = n->outputs[k];
            if (column < n->left_count)
                l->out[k] = (struct vector){ .values = zeros, .nulls = ones, .width = plan->left->types[column].width, .constant = true };
            else
                l->out[k] = batch.columns[column - n->left_count];
        }
        batch.columns = l->out;
        batch.column_count = plan->column_count;
        batch.selection = unmatched;
        batch.selected_count = count;
        batch.all_selected = false;
        batch.grain = l->grain + 1;
        status = local_push(local, &batch);
    }
    return status;
}

const struct node_class nested_loop_class = { .name = "nested loop", .node_bytes = sizeof(struct loop_node), .local_bytes = sizeof(struct loop_local), .open = loop_open,
                                              .local = loop_local, .rewind = loop_rewind, .take = loop_take, .flush = loop_flush, .parallel = true };
