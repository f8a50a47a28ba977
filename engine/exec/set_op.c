/* engine/exec/set_op.c - INTERSECT and EXCEPT, with and without ALL.
 *
 * The right side's rows are counted in a table of distinct rows; then the left side goes by, and each of its rows is
 * handed on or not as the counts say. So the result stands in the left side's row order. */
#include "engine/exec/row_table.h"
#include "engine/exec/operator.h"

struct set_node {
    struct exec_node op;
    struct row_table table;
    uint64_t *counts; uint32_t capacity;     /* by row number: how many of it are left on the right */
    bool *shown;                         /* handed on already (without ALL) */
};
struct set_local { struct local local; uint32_t *entries; };

static enum status set_local(struct local *local)
{
    struct set_local *l = (struct set_local *)local;
    struct arena *arena = local->op->again;
    l->entries = arena_alloc(arena, BATCH_MAX * sizeof *l->entries);
    return STATUS_OK;
}

static void number_rows(struct set_local *l, const struct batch *batch)
{
    struct set_node *n = (struct set_node *)l->local.op;
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    row_table_add(&n->table, batch, positions, batch->selected_count, NULL, l->entries);
    uint32_t count = row_table_count(&n->table);
    if (count > n->capacity) {
        uint32_t capacity = n->capacity ? n->capacity * 2 : 64;
        while (capacity < count)
            capacity *= 2;
        uint64_t *counts = arena_zero(n->op.again, capacity * sizeof *counts);
        bool *shown = arena_zero(n->op.again, capacity * sizeof *shown);
        if (n->capacity) {
            memcpy(counts, n->counts, n->capacity * sizeof *counts);
            memcpy(shown, n->shown, n->capacity * sizeof *shown);
        }
        n->counts = counts;
        n->shown = shown;
        n->capacity = capacity;
    }
}

static enum status right_take(struct local *local, const struct batch *batch)
{
    struct set_local *l = (struct set_local *)local;
    struct set_node *n = (struct set_node *)local->op;
    number_rows(l, batch);
    for (uint16_t k = 0; k < batch->selected_count; k++)
        n->counts[l->entries[k]]++;
    return STATUS_OK;
}

static const struct sink_class right_sink = { .name = "set operation", .local_bytes = sizeof(struct set_local), .local = set_local, .take = right_take };

static enum status left_take(struct local *local, const struct batch *batch)
{
    struct set_local *l = (struct set_local *)local;
    struct set_node *n = (struct set_node *)local->op;
    const struct plan *plan = local->op->plan;
    bool intersect = plan->set_operation == SET_INTERSECT;
    row_pos kept[BATCH_MAX];
    uint16_t m = 0;
    number_rows(l, batch);
    for (uint16_t k = 0; k < batch->selected_count; k++) {
        uint32_t e = l->entries[k];
        bool show;
        if (plan->set_all) {
            bool there = n->counts[e] > 0;
            n->counts[e] -= there;
            show = there == intersect;
        } else {
            show = !n->shown[e] && (n->counts[e] > 0) == intersect;
            n->shown[e] = true;
        }
        if (show)
            kept[m++] = batch_row(batch, k);
    }
    struct batch out = *batch;
    out.selection = kept;
    out.selected_count = m;
    out.all_selected = false;
    return local_push(local, &out);
}

static enum status set_source(struct local *local)
{
    struct set_node *n = (struct set_node *)local->op;
    struct arena *arena = node_again(local->op);
    n->counts = NULL;
    n->shown = NULL;
    n->capacity = 0;
    row_table_open(&n->table, arena, local->op->plan->types, local->op->plan->column_count);
    enum status status = pipeline_run_serial(local->op->right, local->op, &right_sink);
    if (!status)
        status = set_local(local);
    return status ? status : node_run(local->op->left, local);
}

const struct node_class set_op_class = { .name = "set operation", .node_bytes = sizeof(struct set_node), .local_bytes = sizeof(struct set_local), .source = set_source, .take = left_take };
