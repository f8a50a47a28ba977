/* engine/exec/aggregate_deal.c - many groups, several workers: rows are dealt out by the hash of their key, then each partition is
 * aggregated by one worker.
 *
 * First the workers scan and put of each row what the aggregate reads of it, with its place in the row order, into one of
 * SPILL_PARTITIONS heaps (in memory up to work_mem a worker, then on disk). Then they take the partitions: the rows of a partition, from all
 * workers, in (grain, row) order, into a table that no other partition shares a group with. So no group is in two tables, small
 * tables stay in the cache, and states that hang on order see their rows in it. What comes out is merged by first appearance.
 *
 * Arguments that run plans (subqueries) are computed when a partition is aggregated, so a worker has a run of its own there, too. */
#include "engine/exec/aggregate_private.h"
#include "engine/exec/inner_run.h"

struct deal_local {
    struct local local;
    struct evaluation *evaluation;
    struct vector *outputs;
    uint64_t *hashes, grain, sequence;
    struct spill_set set;
};

static enum status deal_local(struct local *local)
{
    struct deal_local *l = (struct deal_local *)local;
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct arena *arena = local->worker->number ? local->worker->arena : local->op->again;
    l->outputs = arena_array(arena, struct vector, n->output_count + 1u);
    l->hashes = arena_alloc(arena, BATCH_MAX * sizeof *l->hashes);
    l->grain = UINT64_MAX;
    spill_set_open(&l->set, local->op->run, arena_open(arena, "dealt rows"), n->row_types, (uint16_t)(n->row_columns + 1));
    l->set.keep_bytes = (uint64_t)local->op->run->work_mem;
    return evaluation_open(n->program, local->worker->run, arena, &l->evaluation);
}

static enum status deal_take(struct local *local, const struct batch *batch)
{
    struct deal_local *l = (struct deal_local *)local;
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    uint16_t at;
    enum status status = evaluation_run(l->evaluation, batch, l->outputs, &at);
    if (status)
        return status;
    hash_columns(n->key_types, l->outputs, local->op->plan->group_count, positions, batch->selected_count, l->hashes);
    if (batch->grain != l->grain)
        l->sequence = 0;
    l->grain = batch->grain;
    struct vector out[n->row_columns + 1];
    uint64_t places[BATCH_MAX];
    memcpy(out, n->keeps_input ? batch->columns : l->outputs, n->row_columns * sizeof *out);
    for (BATCH_EACH(batch, i))
        places[i] = row_place(l->grain, l->sequence + i);
    l->sequence += batch->row_count;
    out[n->row_columns] = (struct vector){ .values = places, .width = 8 };
    struct batch some = { .columns = out, .column_count = (uint16_t)(n->row_columns + 1), .row_count = batch->row_count };
    return spill_set_add(&l->set, &some, positions, batch->selected_count, l->hashes);
}

static enum status deal_combine(struct exec_node *op, struct local *local)
{
    struct aggregate_node *n = (struct aggregate_node *)op;
    n->dealt = arena_grow(op->again, n->dealt, n->dealt_count * sizeof *n->dealt, (n->dealt_count + 1) * sizeof *n->dealt);
    n->dealt[n->dealt_count++] = &((struct deal_local *)local)->set;
    return STATUS_OK;
}

static const struct sink_class deal_sink = { .name = "deal", .local_bytes = sizeof(struct deal_local), .local = deal_local, .take = deal_take, .combine = deal_combine, .parallel = true };

struct dealing { struct aggregate_node *node; uint16_t workers; struct group_list *lists; };

static enum status take_partitions(void *context, uint16_t number, struct worker *worker)
{
    struct dealing *d = context;
    struct aggregate_node *n = d->node;
    enum status status = STATUS_OK;
    if (n->op.inner)                     /* its programs are opened here, too, and so the plans that they run */
        inner_run_open(worker, n->op.run->answers);
    for (uint32_t p = number; p < SPILL_PARTITIONS && !status; p += d->workers) {
        struct aggregate_local *l;
        const struct aside aside = { .sets = n->dealt, .count = n->dealt_count };      /* all in memory: what is made of it is, too */
        status = aggregate_partition_run(n, worker, &aside, p, SPILL_LAST_LEVEL + 1, arena_open(worker->arena, "partition"), &l);
        if (!status) {
            struct group_table *t = &l->tables[0];       /* stays, its keys too; numbers rise with the first rows */
            d->lists[p] = (struct group_list){ .groups = arena_alloc(worker->arena, (t->count + 1) * sizeof(struct group)), .count = t->count };
            aggregate_groups_of(n, t, 0, t->count, d->lists[p].groups);
        }
    }
    return status;
}

enum status aggregate_deal(struct local *local, uint16_t workers, uint64_t *batches)
{
    struct exec_node *op = local->op;
    struct aggregate_node *n = (struct aggregate_node *)op;
    struct arena *arena = op->again;
    n->dealt = NULL;
    n->dealt_count = 0;
    enum status status = pipeline_run(op->left, op, &deal_sink);
    bool on_disk = false;
    for (uint32_t s = 0; s < n->dealt_count; s++)
        on_disk |= spill_set_on_disk(n->dealt[s]);
    if (!status && on_disk) {            /* one partition at a time in memory, results through files */
        const struct aside aside = { .sets = n->dealt, .count = n->dealt_count };
        status = aggregate_partitions_emit(local, &aside, batches);
    } else if (!status) {
        struct dealing d = { .node = n, .workers = workers < SPILL_PARTITIONS ? workers : SPILL_PARTITIONS, .lists = arena_array(arena, struct group_list, SPILL_PARTITIONS) };
        struct group_list all;
        status = workers_each(op->run, d.workers, take_partitions, &d);
        if (!status)
            status = aggregate_merge(n, d.workers, d.lists, SPILL_PARTITIONS, arena, &all);
        if (!status)
            status = aggregate_emit(local, &all, batches);
    }
    for (uint32_t s = 0; s < n->dealt_count; s++)
        spill_set_close(n->dealt[s]);
    return status;
}
