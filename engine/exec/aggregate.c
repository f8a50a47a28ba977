/* engine/exec/aggregate.c - GROUP BY and aggregates, also DISTINCT: partial, then finalize.
 *
 * Each worker has a table of the groups it met, and states for each (aggregate_group.c). Exact states (counts, integer and
 * decimal sums) are folded as rows come. States that hang on the order of rows (float sums, array_agg) are kept for one grain
 * at a time and combined along a fixed tree over grain numbers (fold_tree.c): so neither the number of workers nor
 * who scanned what shows in the answer. Groups come out in the order of their first row; the key shown is that row's.
 * The leader brings the workers' tables together (aggregate_finish.c).
 *
 * Where the plan expects many groups (WIDE_GROUPS) nearly every row would begin a new grain of its group, and the tree would cost more
 * than the sums: then such states take rows one by one in (grain, row) order. One worker meets them in that order anyway;
 * several deal them out by the key first (aggregate_deal.c). If groups have many rows each, the table is cut into a few segments (runs of
 * grains, by its length alone) instead: states are kept by segment, and combined in the order of these.
 *
 * DISTINCT inside an aggregate: aggregate_distinct.c; ORDER BY inside: aggregate_sorted.c.
 *
 * When the table outgrows work_mem, rows of groups that are not in it are written out by partitions of the key's hash, and the
 * partitions are worked off one by one at the end (aggregate_spill.c). */
#include <math.h>
#include "engine/exec/aggregate_private.h"
#include "engine/exec/gather.h"
#include "engine/exec/inner_run.h"

/* From so many groups on, and so few rows a group, dealing out the rows is less work than a table of all groups in each worker. */
#ifndef DEAL_GROUPS
#define DEAL_GROUPS 200000
#endif
#define DEAL_ROWS_A_GROUP 16
#define DEAL_WORKERS 2                   /* so many do better with a table each, if states may be combined: two tables are cheaply brought together */
/* What it costs to combine a group's states of two segments is that of a few rows. */
#define SEGMENTS_MOST 16
#define SEGMENT_ROWS_A_GROUP 6

static bool hangs_on_order(const struct aggregate_item *item)
{
    if (item->aggregate->ordered)
        return true;
    const char *name = item->aggregate->function ? item->aggregate->function->name : "";
    if ((strcmp(name, "min") != 0 && strcmp(name, "max") != 0) || item->arg_count == 0)
        return false;
    return !type_bitwise(item->args[0]->type);           /* of equal values the first is shown */
}

/* States with an int128 in them want 16 bytes' alignment. */
static uint32_t state_offset(uint32_t *bytes, uint32_t state_bytes)
{
    uint32_t alignment = state_bytes % 16 ? 8 : 16, at = (*bytes + alignment - 1) & ~(alignment - 1);
    *bytes = at + ((state_bytes + 7) & ~7u);
    return at;
}

/* An earlier call whose state says all that this one's would. */
static const struct call *find_shared(const struct aggregate_node *n, const struct call *c)
{
    const struct aggregate_item *x = c->item;
    for (const struct call *o = n->calls; o < c; o++) {
        const struct aggregate_item *y = o->item;
        if (o->aggregate->update == c->aggregate->update && o->aggregate->combine == c->aggregate->combine && o->aggregate->state_bytes == c->aggregate->state_bytes &&
            x->arg_count == 1 && y->arg_count == 1 && x->args[0]->kind == SCALAR_COLUMN && y->args[0]->kind == SCALAR_COLUMN && x->args[0]->column == y->args[0]->column &&
            !x->filter && !y->filter && !x->distinct && !y->distinct && !x->sort_count && !y->sort_count && x->data == y->data)
            return o;
    }
    return NULL;
}

/* One aggregate of the plan: how it is done, where its state lies. Its arguments join the program's expressions, or, with a FILTER, get
 * programs of their own. */
static enum status call_open(struct aggregate_node *n, struct call *c, const struct aggregate_item *item, bool wide, struct scalar **exprs)
{
    struct arena *arena = n->op.run->arena;
    enum status status = STATUS_OK;
    c->item = item;
    c->aggregate = item->aggregate;
    c->first_arg = n->output_count;
    c->arg_types = arena_array(arena, struct sql_type, item->arg_count + 1u);
    for (uint32_t k = 0; k < item->arg_count; k++)
        c->arg_types[k] = item->args[k]->type;
    c->sorted = item->sort_count > 0 || (item->distinct && hangs_on_order(item));
    c->distinct = item->distinct && !c->sorted;
    c->ordered = !c->sorted && !c->distinct && hangs_on_order(item) && !wide;
    n->in_order |= c->sorted || (wide && hangs_on_order(item) && !c->distinct);
    n->has_distinct |= c->distinct;
    n->has_sorted |= c->sorted;
    const struct call *same = find_shared(n, c);
    if (same) {
        c->shared = true;
        c->first_arg = same->first_arg;
        c->offset = same->offset;
        return STATUS_OK;
    }
    if (item->filter) {                  /* arguments only of the rows that pass */
        n->keeps_input = true;
        status = program_compile_filter(arena, item->filter, &c->filter);
        if (!status)
            status = program_compile(arena, item->args, item->arg_count, &c->args);
        if (!status) {
            inner_program(&n->op, c->filter);
            inner_program(&n->op, c->args);
        }
    } else {
        for (uint32_t k = 0; k < item->arg_count; k++)
            exprs[n->output_count++] = item->args[k];
    }
    c->offset = state_offset(c->ordered ? &n->folder.bytes : &n->exact_bytes, c->aggregate->state_bytes);
    return status;
}

/* Wide groups with many rows each, below them a table's scan: such states are kept for a few long runs of grains, and combined in
 * their order. How many hangs on the plan and the table's length. */
static void choose_segments(struct aggregate_node *n)
{
    const struct exec_node *source = n->op.left;
    double rows = n->op.plan->left->rows / fmax(1, n->op.plan->group_estimate);
    uint64_t count = 1;
    while (source && !scan_is_shared(source))
        source = source->class->parallel && !source->serial ? source->left : NULL;
    while (count < SEGMENTS_MOST && rows >= 2.0 * (double)count * SEGMENT_ROWS_A_GROUP)
        count *= 2;
    if (!source || count == 1 || scan_grains(source) < count)
        return;
    n->segmented = true;
    while (scan_grains(source) >> (n->segment_level + 1) >= count)
        n->segment_level++;
}

static enum status aggregate_open(struct exec_node *op)
{
    struct aggregate_node *n = (struct aggregate_node *)op;
    const struct plan *plan = op->plan;
    struct arena *arena = op->run->arena;
    bool wide = plan->group_count > 0 && plan->group_estimate >= WIDE_GROUPS;
    uint32_t total = plan->group_count;
    for (uint16_t a = 0; a < plan->aggregate_count; a++)
        total += plan->aggregates[a].arg_count;
    struct scalar **exprs = arena_array(arena, struct scalar *, total + 1);
    const struct aggregate **ordered = arena_array(arena, const struct aggregate *, plan->aggregate_count + 1u);
    uint32_t *offsets = arena_array(arena, uint32_t, plan->aggregate_count + 1u);
    enum status status = STATUS_OK;

    n->call_count = plan->aggregate_count;
    n->calls = arena_array(arena, struct call, plan->aggregate_count + 1u);
    n->key_types = arena_array(arena, struct sql_type, plan->group_count + 1u);
    for (uint16_t g = 0; g < plan->group_count; g++) {
        exprs[n->output_count++] = plan->groups[g];
        n->key_types[g] = plan->groups[g]->type;
    }
    for (uint16_t a = 0; a < plan->aggregate_count && !status; a++) {
        struct call *c = &n->calls[a];
        status = call_open(n, c, &plan->aggregates[a], wide, exprs);
        if (c->ordered && !c->shared) {
            ordered[n->folder.count] = c->aggregate;
            offsets[n->folder.count++] = c->offset;
        }
    }
    n->folder.aggregates = ordered;
    n->folder.offsets = offsets;
    n->folder.bytes = (n->folder.bytes + 15) & ~15u;
    for (uint16_t a = 0; a < n->call_count; a++)
        if (!n->calls[a].ordered && n->calls[a].aggregate->state_bytes % 16 == 0)
            n->exact_bytes = (n->exact_bytes + 15) & ~15u;
    if (!status)
        status = node_program(op, 0, exprs, n->output_count, &n->program);
    n->set_count = plan->set_count ? plan->set_count : 1;
    /* rows that are set aside: */
    n->row_columns = n->keeps_input ? plan->left->column_count : n->output_count;
    n->row_types = arena_array(arena, struct sql_type, n->row_columns + 1u);
    for (uint16_t c = 0; c < n->row_columns; c++)
        n->row_types[c] = n->keeps_input ? plan->left->types[c] : exprs[c]->type;
    n->row_types[n->row_columns] = type_make(OID_INT8, -1);
    bool many = plan->group_estimate >= DEAL_GROUPS && plan->group_estimate * DEAL_ROWS_A_GROUP > plan->left->rows;
    if (wide && n->in_order && !n->has_distinct && !n->has_sorted)
        choose_segments(n);
    n->deals = wide && !plan->set_count && !n->segmented && (n->in_order || n->has_distinct || many);
    return status;
}

/* ---- sinks ---- */

static enum status aggregate_local_make(struct local *local)
{
    struct aggregate_local *l = (struct aggregate_local *)local;
    struct arena *parent = local->worker->number ? local->worker->arena : local->op->again;
    l->alone = local->worker->number == 0;
    return aggregate_local_open(l, arena_open(parent, "aggregate"));
}

static enum status aggregate_combine(struct exec_node *op, struct local *local)
{
    struct aggregate_node *n = (struct aggregate_node *)op;
    n->parts = arena_grow(op->again, n->parts, n->part_count * sizeof *n->parts, (n->part_count + 1) * sizeof *n->parts);
    n->parts[n->part_count++] = (struct aggregate_local *)local;
    return STATUS_OK;
}

static const struct sink_class aggregate_sink = { .name = "aggregate", .local_bytes = sizeof(struct aggregate_local), .local = aggregate_local_make, .take = aggregate_take,
                                                  .grain_end = aggregate_grain_end, .done = aggregate_done, .combine = aggregate_combine, .parallel = true };

/* ---- crab.agg: the two ways. Grains and the tree that combines them are the same, so the bytes are. ---- */

/* Rows are gathered in order by one, and then aggregated. */
static enum status aggregate_collected(struct local *local, uint64_t *batches)
{
    enum status status = pipeline_run_serial(local->op->left, local->op, &aggregate_sink);
    return status ? status : aggregate_finalize(local, batches);
}

/* UNION and the like: the inputs of an append one after another, each by several workers, into tables that live on. It is only for what hangs on
 * nothing but the order of rows: grains of the next input count from far behind those of the last. */
#define INPUTS_MOST 64
#define INPUT_GRAINS ((1ULL << (64 - PLACE_BITS)) / INPUTS_MOST)

static bool takes_inputs(const struct aggregate_node *n)
{
    const struct exec_node *append = n->op.left;
    uint16_t count, workers = 0;
    if (append->class != &append_class || n->op.serial || n->in_order || n->folder.count || n->has_distinct)
        return false;
    struct exec_node *const *inputs = append_inputs(append, &count);
    for (uint16_t i = 0; i < count; i++)
        workers = pipeline_workers(inputs[i]) > workers ? pipeline_workers(inputs[i]) : workers;
    return workers > (n->deals ? DEAL_WORKERS : 1) && count <= INPUTS_MOST;
}

static enum status aggregate_inputs(struct local *local, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    uint16_t count;
    struct exec_node *const *inputs = append_inputs(n->op.left, &count);
    struct node_counters *counters = n->op.left->counters;
    enum status status = STATUS_OK;
    for (uint16_t i = 0; i < count && !status; i++) {
        n->grain_base = i * INPUT_GRAINS;
        status = pipeline_run(inputs[i], &n->op, &aggregate_sink);
        if (counters && inputs[i]->counters)
            counters->rows += inputs[i]->counters->rows;
    }
    n->grain_base = 0;
    if (counters)
        counters->loops++;
    return status ? status : aggregate_finalize(local, batches);
}

/* Each worker aggregates its own, or deals its rows out by group; then the parts are combined. */
static enum status aggregate_partial(struct local *local, uint64_t *batches)
{
    struct exec_node *op = local->op;
    struct aggregate_node *n = (struct aggregate_node *)op;
    uint16_t workers = op->serial ? 0 : pipeline_workers(op->left);
    enum status status;
    if (takes_inputs(n))
        return aggregate_inputs(local, batches);
    bool deals = n->deals && workers > (n->has_distinct ? 1 : DEAL_WORKERS);
    if (deals) {
        status = aggregate_deal(local, workers, batches);
        if (!status || *batches || status_sqlstate(status)[0] != '2')
            return status;
        error_clear();                   /* a row failed, but maybe not the first that fails: in row order once more */
    }
    if (n->segmented && workers > 1)     /* each worker takes whole segments */
        status = parallel_pieces_run(op->left, op, &aggregate_sink, workers, n->segment_level);
    else if (n->in_order || deals || op->serial)         /* what takes its rows in order, one after the other */
        return aggregate_collected(local, batches);
    else
        status = pipeline_run(op->left, op, &aggregate_sink);
    return status ? status : aggregate_finalize(local, batches);
}

static enum status aggregate_source(struct local *local)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    uint64_t batches = 0;
    (void)node_again(local->op);
    n->parts = NULL;
    n->part_count = 0;
    return atomic_load_explicit(&exec_agg_collect, memory_order_relaxed) ? aggregate_collected(local, &batches) : aggregate_partial(local, &batches);
}

const struct node_class aggregate_class = { .name = "aggregate", .node_bytes = sizeof(struct aggregate_node), .open = aggregate_open, .source = aggregate_source };
