/* engine/exec/stream.c - operators that hand on what they make of each batch: filter, project, limit, distinct on. */
#include "base/plant.h"
#include "engine/exec/inner_run.h"

/* ---- filter ---- */

/* A condition that reads nothing of the rows is judged once, before the input is run: if it isn't true, the input never is. */
struct filter_node { struct exec_node op; struct program *program; struct evaluation *once; bool is_once, has_answers; };
struct filter_local { struct local local; struct evaluation *evaluation; };

static enum status filter_open(struct exec_node *op)
{
    struct filter_node *n = (struct filter_node *)op;
    n->is_once = op->plan->filter && scalar_is_once(op->plan->filter);
    if (!n->is_once)
        return node_filter(op, 0, op->plan->filter, &n->program);
    struct scalar *filter = op->plan->filter;
    enum status status = node_program(op, 0, &filter, 1, &n->program);
    n->has_answers = op->inner && !op->serial;
    op->serial = op->inner = false;      /* subqueries in it are the leader's */
    return status;
}

static enum status filter_prepare(struct exec_node *op)
{
    struct filter_node *n = (struct filter_node *)op;
    struct value value;
    bool failed = false;
    enum status status = STATUS_OK;
    if (!n->is_once)
        return STATUS_OK;
    if (!n->once && n->has_answers)
        status = inner_answers(op, &failed);     /* by workers, where it may; should one fail, perhaps nobody asks for it */
    if (!status && !n->once)
        status = evaluation_open(n->program, op->run, op->run->arena, &n->once);
    if (!status)
        status = evaluation_scalar(n->once, &value);
    op->nothing = !status && (value.null || !value.b);
    return status;
}

static enum status filter_local(struct local *local)
{
    struct filter_node *op = (struct filter_node *)local->op;
    return op->program && !op->is_once ? evaluation_open(op->program, local->worker->run, local->worker->arena, &((struct filter_local *)local)->evaluation) : STATUS_OK;
}

static enum status filter_take(struct local *local, const struct batch *batch)
{
    struct filter_local *l = (struct filter_local *)local;
    if (!l->evaluation)
        return local_push(local, batch);
    struct batch out = *batch;
    const row_pos *left;
    uint16_t at;
    enum status status = evaluation_filter(l->evaluation, batch, &left, &out.selected_count, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, filter_take);
    local_filtered(local, batch->selected_count - out.selected_count);
    out.selection = (row_pos *)left;
    out.all_selected = left == NULL;
    return local_push(local, &out);
}

const struct node_class filter_class = { .name = "filter", .node_bytes = sizeof(struct filter_node), .local_bytes = sizeof(struct filter_local),
                                         .open = filter_open, .prepare = filter_prepare, .local = filter_local, .take = filter_take, .parallel = true };

/* ---- project ---- */

/* A batch is computed in pieces where its values are long, so that they don't take up any amount of memory together: the first few rows say how long they are. */
#define PROJECT_BYTES (4u << 20)
#define PROJECT_FIRST 64

struct project_node { struct exec_node op; struct program *program; };
struct project_local { struct local local; struct evaluation *evaluation; struct vector *columns; uint16_t most; };

static enum status project_open(struct exec_node *op)
{
    return node_program(op, 0, op->plan->exprs, op->plan->column_count, &((struct project_node *)op)->program);
}

static enum status project_local(struct local *local)
{
    struct project_local *l = (struct project_local *)local;
    l->columns = arena_array(local->worker->arena, struct vector, local->op->plan->column_count + 1u);
    l->most = program_makes_long(((struct project_node *)local->op)->program) ? PROJECT_FIRST : UINT16_MAX;
    return evaluation_open(((struct project_node *)local->op)->program, local->worker->run, local->worker->arena, &l->evaluation);
}

static enum status project_piece(struct local *local, const struct batch *batch)
{
    struct project_local *l = (struct project_local *)local;
    uint16_t at;
    enum status status = evaluation_run(l->evaluation, batch, l->columns, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, project_piece);
    size_t bytes = evaluation_bytes(l->evaluation);
    uint64_t fit = bytes > PROJECT_BYTES ? (uint64_t)batch->selected_count * PROJECT_BYTES / bytes : UINT16_MAX;
    l->most = fit ? (uint16_t)(fit < UINT16_MAX ? fit : UINT16_MAX) : 1;
    struct batch out = *batch;
    out.columns = l->columns;
    out.column_count = local->op->plan->column_count;
    out.row_ids = NULL;
    return local_push(local, &out);
}

static enum status project_take(struct local *local, const struct batch *batch)
{
    struct project_local *l = (struct project_local *)local;
    if (batch->selected_count <= l->most)
        return project_piece(local, batch);
    row_pos all[BATCH_MAX];
    if (batch->all_selected)
        for (uint16_t i = 0; i < batch->selected_count; i++)
            all[i] = i;
    enum status status = STATUS_OK;
    for (uint16_t from = 0, count; from < batch->selected_count && !status; from = (uint16_t)(from + count)) {
        struct batch piece = *batch;
        count = (uint16_t)(batch->selected_count - from < l->most ? batch->selected_count - from : l->most);
        piece.all_selected = false;
        piece.selection = (batch->all_selected ? all : batch->selection) + from;
        piece.selected_count = count;
        status = run_check(local->worker);
        if (!status)
            status = project_piece(local, &piece);
    }
    return status;
}

const struct node_class project_class = { .name = "project", .node_bytes = sizeof(struct project_node), .local_bytes = sizeof(struct project_local),
                                          .open = project_open, .local = project_local, .take = project_take, .parallel = true };

/* ---- limit ---- */

struct limit_local {
    struct local local;
    int64_t skip, left;                  /* left -1: no limit */
    bool ties, full;
    struct rows last;                    /* WITH TIES: the last row of the limit */
    struct arena *last_arena;
};

/* LIMIT and OFFSET: null is none; negative is an error. */
static enum status limit_bound(struct run *run, const struct scalar *scalar, int64_t none, enum status error, int64_t *out)
{
    *out = none;
    if (!scalar)
        return STATUS_OK;
    struct value value;
    enum status status = run_scalar(run, scalar, &value);
    if (status || value.null)
        return status;
    if (value.i8 < 0)
        return error_set(error, NULL);
    *out = value.i8;
    return STATUS_OK;
}

static enum status limit_rewind(struct local *local)
{
    struct limit_local *l = (struct limit_local *)local;
    const struct plan *plan = local->op->plan;
    l->full = false;
    enum status status = limit_bound(local->worker->run, plan->offset, 0, STATUS_INVALID_OFFSET, &l->skip);
    if (!status)
        status = limit_bound(local->worker->run, plan->limit, -1, STATUS_INVALID_LIMIT, &l->left);
    return status;
}

static bool same_sort_keys(const struct plan *plan, const struct batch *a, uint16_t i, const struct batch *b, uint16_t j)
{
    for (uint16_t k = 0; k < plan->sort_count; k++) {
        uint16_t c = plan->sort[k].column;
        if (!same_value(plan->types[c], &a->columns[c], i, &b->columns[c], j))
            return false;
    }
    return true;
}

static enum status limit_take(struct local *local, const struct batch *batch)
{
    struct limit_local *l = (struct limit_local *)local;
    const struct plan *plan = local->op->plan;
    struct batch out = *batch;
    row_pos all[BATCH_MAX];
    if (batch->all_selected) {
        for (uint16_t i = 0; i < batch->selected_count; i++) all[i] = i;
        out.selection = all;
        out.all_selected = false;
    }
    uint16_t skipped = (uint16_t)(l->skip < out.selected_count ? l->skip : out.selected_count);
    l->skip -= skipped;
    out.selection += skipped;
    out.selected_count = (uint16_t)(out.selected_count - skipped);
    uint16_t take = out.selected_count;
    bool end = false;
    if (l->left >= 0) {
        uint16_t fits = (uint16_t)(l->left < take ? l->left : take);
        l->left -= fits - (PLANT(LIMIT_OFF_BY_ONE) && fits > 1 && fits < l->left);
        take = fits;
        if (plan->with_ties && fits) {
            if (!l->last_arena)
                l->last_arena = arena_open(local->worker->arena, "ties");
            arena_reset(l->last_arena);
            rows_open(&l->last, l->last_arena, plan->types, plan->column_count);
            rows_append_some(&l->last, &out, &out.selection[fits - 1], 1);
            l->full = true;
        }
        if (l->left == 0) {
            end = true;
            if (plan->with_ties && l->full) {
                struct batch last;
                rows_chunk(&l->last, 0, &last);
                while (take < out.selected_count && same_sort_keys(plan, &last, 0, &out, out.selection[take]))
                    take++;
                end = take < out.selected_count;
            }
        }
    }
    out.selected_count = take;
    enum status status = take ? local_push(local, &out) : STATUS_OK;
    if (!status && end) {
        local->stopped_itself = true;
        return STATUS_STOP;
    }
    return status;
}

/* OFFSET straight above: the rows that it would throw away needn't be made. */
uint64_t limit_take_skip(struct local *next)
{
    if (!next || next->op->class != &limit_class || next->take != limit_take)
        return 0;
    struct limit_local *l = (struct limit_local *)next;
    uint64_t skip = (uint64_t)l->skip;
    l->skip = 0;
    return skip;
}

/* How many rows the operator above takes before it says stop. */
uint64_t limit_rows_left(const struct local *next)
{
    if (!next || next->op->class != &limit_class || next->take != limit_take)
        return UINT64_MAX;
    const struct limit_local *l = (const struct limit_local *)next;
    return l->left < 0 || next->op->plan->with_ties ? UINT64_MAX : (uint64_t)l->skip + (uint64_t)l->left;
}

/* LIMIT 0 doesn't read its input at all. */
static enum status limit_source(struct local *local)
{
    struct limit_local *l = (struct limit_local *)local;
    if (l->left == 0)
        return STATUS_OK;
    enum status status = node_run(local->op->left, local);
    return status == STATUS_STOP && local->stopped_itself ? STATUS_OK : status;
}

const struct node_class limit_class = { .name = "limit", .local_bytes = sizeof(struct limit_local), .local = limit_rewind, .rewind = limit_rewind,
                                        .source = limit_source, .take = limit_take };

/* ---- distinct on ---- over sorted input: the first row of each run of equal keys ---- */

struct distinct_local { struct local local; struct rows last; struct arena *arena; };

static enum status distinct_rewind(struct local *local)
{
    ((struct distinct_local *)local)->last.count = 0;
    return STATUS_OK;
}

static enum status distinct_take(struct local *local, const struct batch *batch)
{
    struct distinct_local *l = (struct distinct_local *)local;
    const struct plan *plan = local->op->plan;
    struct batch out = *batch, last;
    row_pos kept[BATCH_MAX];
    uint16_t n = 0, previous = 0;
    bool have = l->last.count > 0;
    if (have)
        rows_chunk(&l->last, 0, &last);
    for (BATCH_EACH(batch, i)) {
        bool same = n_i ? same_sort_keys(plan, batch, previous, batch, i) : have && same_sort_keys(plan, &last, 0, batch, i);
        if (!same)
            kept[n++] = i;
        previous = i;
    }
    if (n) {
        if (!l->arena)
            l->arena = arena_open(local->worker->arena, "distinct on");
        arena_reset(l->arena);
        rows_open(&l->last, l->arena, plan->types, plan->column_count);
        rows_append_some(&l->last, batch, &kept[n - 1], 1);
    }
    out.selection = kept;
    out.selected_count = n;
    out.all_selected = false;
    return local_push(local, &out);
}

const struct node_class distinct_on_class = { .name = "distinct on", .local_bytes = sizeof(struct distinct_local), .rewind = distinct_rewind, .take = distinct_take };
