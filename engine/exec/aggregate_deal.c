/* engine/exec/aggregate_deal.c - many groups: rows are dealt out by the hash of their key, then each partition is
 * aggregated by one worker (or one after another by the leader).
 *
 * First the workers scan and put each row, with its grain and its place in it, into one of SPILL_PARTITIONS heaps (in memory up to
 * work_mem a worker, then on disk). Then they take the partitions: the rows of a partition, from all workers, in (grain, row) order, into a
 * table that no other partition shares a group with. So no group is in two tables, small tables stay in the cache, and states
 * that hang on order see their rows in it. What comes out is merged by first appearance. */
#include "engine/exec/aggregate_private.h"

struct deal_local {
    struct local local;
    struct evaluation *keys;
    struct vector *key_vectors;
    uint64_t *hashes, sequence;
    struct spill_set set;
};

static enum status deal_local(struct local *local)
{
    struct deal_local *l = (struct deal_local *)local;
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct arena *arena = local->worker->number ? local->worker->arena : local->op->again;
    l->key_vectors = arena_array(arena, struct vector, local->op->plan->group_count + 1u);
    l->hashes = arena_alloc(arena, BATCH_MAX * sizeof *l->hashes);
    spill_set_open(&l->set, local->op->run, arena_open(arena, "dealt rows"), n->spill_types, (uint16_t)(local->op->plan->left->column_count + 2));
    l->set.keep_bytes = (uint64_t)local->op->run->work_mem;
    return evaluation_open(n->keys, local->worker->run, arena, &l->keys);
}

static enum status deal_take(struct local *local, const struct batch *batch)
{
    struct deal_local *l = (struct deal_local *)local;
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct plan *plan = local->op->plan;
    uint16_t columns = plan->left->column_count, at;
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    enum status status = evaluation_run(l->keys, batch, l->key_vectors, &at);
    if (status)
        return status;
    hash_columns(n->key_types, l->key_vectors, plan->group_count, positions, batch->selected_count, l->hashes);
    struct vector out[columns + 2];
    int64_t places[BATCH_MAX], grain = (int64_t)batch->grain;
    memcpy(out, batch->columns, columns * sizeof *out);
    for (BATCH_EACH(batch, i))
        places[i] = (int64_t)(l->sequence + i);
    l->sequence += batch->row_count;
    out[columns] = (struct vector){ .values = places, .width = 8 };
    out[columns + 1] = (struct vector){ .values = &grain, .width = 8, .constant = true };
    struct batch some = { .columns = out, .column_count = (uint16_t)(columns + 2), .row_count = batch->row_count };
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

struct dealing { struct aggregate_node *node; uint16_t workers; struct group_table *tables; };

static enum status take_partitions(void *context, uint16_t number, struct worker *worker)
{
    struct dealing *d = context;
    enum status status = STATUS_OK;
    for (uint32_t p = number; p < SPILL_PARTITIONS && !status; p += d->workers) {
        struct aggregate_local *l;
        status = aggregate_partition_run(d->node, worker, NULL, d->node->dealt, d->node->dealt_count, p, arena_open(worker->arena, "partition"), &l);
        if (!status) {
            d->tables[p] = l->tables[0];
            /* the groups' keys lie in the local's own table, which stays */
            aggregate_sort_groups(&d->tables[p]);
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
    if (status)
        return status;
    bool on_disk = false;
    for (uint32_t s = 0; s < n->dealt_count; s++)
        on_disk |= spill_set_on_disk(n->dealt[s]);
    if (on_disk) {                       /* one partition at a time in memory, results through files */
        status = aggregate_partitions_emit(local, 0, NULL, n->dealt, n->dealt_count, batches);
    } else {
        struct dealing d = { .node = n, .workers = workers < SPILL_PARTITIONS ? workers : SPILL_PARTITIONS, .tables = arena_array(arena, struct group_table, SPILL_PARTITIONS) };
        struct group_tables tables = { d.tables, SPILL_PARTITIONS };
        struct group_table all = {0};
        if (workers > 1) {
            status = workers_each(op->run, d.workers, take_partitions, &d);
        } else {
            struct worker leader = op->run->leader;
            leader.arena = arena;
            d.workers = 1;
            status = take_partitions(&d, 0, &leader);
        }
        if (!status) {
            aggregate_merge(&tables, arena, &all);
            status = aggregate_emit(local, &all, batches);
        }
    }
    for (uint32_t s = 0; s < n->dealt_count; s++)
        spill_set_close(n->dealt[s]);
    return status;
}
