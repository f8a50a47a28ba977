/* engine/exec/lock_rows.c - SELECT … FOR UPDATE and its kin: locks the rows that go through.
 *
 * The row ids stand in columns of the input. A row that was changed while we waited for it: READ COMMITTED puts the newer
 * version's values in place and judges the condition again (plan/modify.h), REPEATABLE READ fails. SKIP LOCKED leaves rows
 * out that others hold, NOWAIT fails on them. */
#include "engine/exec/operator.h"
#include "engine/plan/modify.h"

struct lock_node { struct exec_node op; struct program *filter; };
struct lock_local {
    struct local local;
    struct evaluation *filter;
    struct arena *arena;
};

static enum status lock_open(struct exec_node *op)
{
    const struct lock_recheck *recheck = op->plan->lock_recheck;
    return node_filter(op, 0, recheck ? recheck->filter : NULL, &((struct lock_node *)op)->filter);
}

static enum status lock_local(struct local *local)
{
    struct lock_local *l = (struct lock_local *)local;
    struct program *filter = ((struct lock_node *)local->op)->filter;
    l->arena = arena_open(local->worker->arena, "lock rows");
    return filter ? evaluation_open(filter, local->worker->run, local->worker->arena, &l->filter) : STATUS_OK;
}

/* The columns of table number k from the newer version. */
static enum status take_newer(struct lock_local *l, struct batch *row, uint16_t k, uint64_t newer, bool *found)
{
    const struct plan *plan = l->local.op->plan;
    const uint16_t *from = plan->lock_recheck->table_columns[k];
    uint16_t count = plan->left->column_count, wanted[count + 1], n = 0;
    struct vector values[count + 1];
    for (uint16_t c = 0; c < count; c++) {
        if (from[c] == 0xFFFF)
            *(int64_t *)row->columns[c].values = (int64_t)newer;
        else if (from[c] != 0xFFFE) {
            values[n] = row->columns[c];
            wanted[n++] = from[c];
        }
    }
    return heap_fetch_version(&plan->lock_tables[k]->heap, newer, wanted, n, values, 0, l->arena, found);
}

/* Locks all rows of one joined row. *row is the row as it then is, when *changed. */
static enum status lock_one(struct lock_local *l, const struct batch *batch, uint16_t i, struct batch *row, bool *keep, bool *changed)
{
    const struct plan *plan = l->local.op->plan;
    struct run *run = l->local.worker->run;
    *keep = true;
    *changed = false;
    for (uint16_t k = 0; k < plan->lock_count; k++) {
        const struct vector *ids = &batch->columns[plan->lock_columns[k]];
        if (vector_null(ids, i))
            continue;                    /* the null side of an outer join */
        uint64_t row_id = (uint64_t)VECTOR(int64_t, ids, i);
        for (;;) {
            enum heap_outcome outcome;
            uint64_t newer = 0;
            enum status status = heap_lock(&plan->lock_tables[k]->heap, run->txn, row_id, plan->row_lock, plan->lock_wait, &outcome, &newer);
            if (status == STATUS_WOULD_BLOCK && plan->lock_wait == LOCK_SKIP) {
                *keep = false;
                return STATUS_OK;
            }
            if (status)
                return status;
            if (outcome == HEAP_DONE)
                break;
            if (outcome == HEAP_SELF) {
                *keep = false;
                return STATUS_OK;
            }
            if (txn_isolation(run->txn) == REPEATABLE_READ)
                return outcome == HEAP_DELETED ? error_set(STATUS_CONFLICT, "could not serialize access due to concurrent delete") : error_set(STATUS_CONFLICT, NULL);
            if (outcome == HEAP_DELETED || !plan->lock_recheck) {
                *keep = false;
                return STATUS_OK;
            }
            if (!*changed) {             /* a copy of the row that we may change */
                uint16_t count = plan->left->column_count;
                row->columns = arena_array(l->arena, struct vector, count + 1u);
                for (uint16_t c = 0; c < count; c++) {
                    vector_make(&row->columns[c], l->arena, plan->left->types[c].width, 1);
                    vector_copy_one(&batch->columns[c], i, &row->columns[c], 0);
                }
                *changed = true;
            }
            bool found;
            status = take_newer(l, row, k, newer, &found);
            if (status)
                return status;
            if (found && l->filter) {
                const row_pos *left;
                uint16_t passed, at;
                status = evaluation_filter(l->filter, row, &left, &passed, &at);
                if (status)
                    return status;
                found = passed > 0;
            }
            if (!found) {
                *keep = false;
                return STATUS_OK;
            }
            row_id = newer;
            status = thread_check_interrupts();
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

static enum status lock_take(struct local *local, const struct batch *batch)
{
    struct lock_local *l = (struct lock_local *)local;
    const struct plan *plan = local->op->plan;
    /* Rows are locked one by one and handed on one by one when few are wanted: LIMIT must not lock more than it shows. */
    for (BATCH_EACH(batch, i)) {
        struct batch row = batch_empty(1);
        bool keep, changed;
        row_pos at = i;
        row.column_count = plan->left->column_count;
        row.grain = batch->grain;
        arena_reset(l->arena);
        enum status status = lock_one(l, batch, i, &row, &keep, &changed);
        if (!status && keep) {
            if (!changed) {
                row = *batch;
                row.selection = &at;
                row.selected_count = 1;
                row.all_selected = false;
            }
            row.column_count = plan->column_count;
            status = local_push(local, &row);
        }
        if (status)
            return status;
    }
    return STATUS_OK;
}

const struct node_class lock_rows_class = { .name = "lock rows", .node_bytes = sizeof(struct lock_node), .local_bytes = sizeof(struct lock_local), .open = lock_open,
                                            .local = lock_local, .take = lock_take };
