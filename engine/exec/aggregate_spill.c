/* engine/exec/aggregate_spill.c - groups that outgrow work_mem.
 *
 * A table that is full takes no new groups: input rows of groups that aren't in it are written to one of SPILL_PARTITIONS files by
 * the hash of their key, as they came, with their place in the row order. At the end each partition is aggregated by
 * itself, rows in (grain, row) order, joined with the groups of that partition which the workers had in memory, and its results
 * written out in order of first appearance; the partitions' results are then merged in that order. So spilling changes
 * neither a value nor the order of the groups. */
#include "base/plant.h"
#include "engine/exec/aggregate_private.h"

void aggregate_spill_begin(struct aggregate_local *l, uint16_t set)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    l->tables[set].spilling = true;
    l->spilled[set] = arena_new(l->arena, struct spill_set);
    spill_set_open(l->spilled[set], n->op.run, l->arena, n->row_types, (uint16_t)(n->row_columns + 1));
}

/* Rows whose group isn't in the table, with their places. */
enum status aggregate_spill_rows(struct aggregate_local *l, uint16_t set, const struct batch *batch, const row_pos *rows, uint16_t count, const uint64_t *hashes, const uint32_t *entries,
                                 const uint64_t *places)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    uint16_t m = 0;
    struct vector out[n->row_columns + 1];
    uint64_t made[BATCH_MAX], chosen_hashes[BATCH_MAX];
    row_pos chosen[BATCH_MAX];
    memcpy(out, n->keeps_input ? batch->columns : l->at_hand, n->row_columns * sizeof *out);
    for (uint16_t k = 0; k < count; k++) {
        uint16_t i = rows ? rows[k] : k;
        if (entries[k] != ROW_TABLE_NONE || (PLANT(SPILLED_NULLS) && vector_null(&l->keys[0], i)))
            continue;
        made[i] = places ? places[i] : row_place(batch->grain, l->sequence + i);
        chosen_hashes[m] = hashes[k];
        chosen[m++] = i;
    }
    out[n->row_columns] = (struct vector){ .values = made, .width = 8 };
    struct batch some = { .columns = out, .column_count = (uint16_t)(n->row_columns + 1), .row_count = batch->row_count };
    return spill_set_add(l->spilled[set], &some, chosen, m, chosen_hashes);
}

/* One worker's rows of a partition, read in order: `at` is the first row not taken. */
struct source { struct spill_set_reader reader; struct batch batch; uint16_t at; bool end; };
static const uint64_t *places_of(const struct source *s) { return s->batch.columns[s->batch.column_count - 1].values; }
static uint64_t grain_at(const struct source *s) { return place_grain(places_of(s)[s->at]); }

/* The source whose next row comes first, and *limit: its rows before that grain come before all others'. */
static struct source *next_source(struct source *sources, uint32_t count, uint64_t *limit)
{
    struct source *next = NULL;
    *limit = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (sources[i].end)
            continue;
        uint64_t grain = grain_at(&sources[i]);
        if (!next || grain < grain_at(next)) {
            *limit = next ? grain_at(next) : UINT64_MAX;
            next = &sources[i];
        } else if (grain < *limit) {
            *limit = grain;
        }
    }
    return next;
}

/* The next rows of a source, up to the limit: those of one grain where ordered states have to see it. */
static enum status take_rows(struct aggregate_local *l, struct source *s, uint64_t limit)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    const uint64_t *places = places_of(s);
    struct batch batch = s->batch;
    row_pos positions[ROWS_CHUNK];
    uint16_t m = 0;
    batch.grain = grain_at(s);
    if (n->folder.count || batch.grain + 1 > limit)
        limit = batch.grain + 1;
    if (s->at == 0 && place_grain(places[batch.row_count - 1]) < limit)
        m = s->at = batch.row_count;     /* all of them */
    else
        for (; s->at < batch.row_count && place_grain(places[s->at]) < limit; s->at++)
            positions[m++] = s->at;
    batch.column_count--;
    batch.selection = positions;
    batch.selected_count = m;
    batch.all_selected = m == batch.row_count;
    return aggregate_batch(l, &batch, !n->keeps_input, places);
}

enum status aggregate_partition_run(struct aggregate_node *n, struct worker *worker, struct worker *const *owners, struct spill_set *const *sets, uint32_t set_count, uint32_t partition,
                                    struct arena *arena, struct aggregate_local **out)
{
    struct aggregate_local *l = arena_new(arena, struct aggregate_local);
    struct worker *mine = arena_new(arena, struct worker);
    struct source *sources = arena_array(arena, struct source, set_count + 1);
    *mine = *worker;
    mine->grains = ALL_GRAINS;
    l->local = (struct local){ .op = &n->op, .worker = mine };
    l->never_spill = l->alone = true;
    *out = l;
    enum status status = aggregate_local_open(l, arena);
    for (uint32_t p = 0; p < set_count && !status; p++) {
        struct source *s = &sources[p];
        spill_set_read_from_start(sets[p], partition, arena_open(arena, "partition"), &s->reader);
        status = spill_set_read(&s->reader, &s->batch, &s->end);
    }
    while (!status) {
        uint64_t limit;
        struct source *next = next_source(sources, set_count, &limit);
        if (!next)
            break;
        if (owners)
            mine->grains = worker_run_of(owners[next - sources], grain_at(next));
        status = take_rows(l, next, limit);
        if (!status)
            status = run_check(worker);
        if (!status && next->at == next->batch.row_count) {
            next->at = 0;
            status = spill_set_read(&next->reader, &next->batch, &next->end);
        }
    }
    return status ? status : aggregate_done(&l->local);
}

struct result_stream { struct spill_reader reader; struct batch batch; uint16_t at; bool end; };

static enum status results_write(struct local *local, struct group_list *list, struct arena *arena, struct spill_file **out)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct plan *plan = local->op->plan;
    uint16_t columns = (uint16_t)(plan->group_count + n->call_count);
    struct sql_type *types = arena_array(local->op->again, struct sql_type, columns + 1u);
    memcpy(types, plan->types, columns * sizeof *types);
    types[columns] = type_make(OID_INT8, -1);
    enum status status = spill_open(local->op->run, types, (uint16_t)(columns + 1), out);
    struct vector *v = arena_array(arena, struct vector, columns + 1u);
    for (uint16_t c = 0; c < columns + 1; c++)
        vector_make(&v[c], arena, types[c].width, BATCH_ROWS);
    v[columns].nulls = NULL;
    struct arena *bytes = arena_open(arena, "results");
    for (uint32_t from = 0; from < list->count && !status; from += BATCH_ROWS) {
        uint16_t count = (uint16_t)(list->count - from < BATCH_ROWS ? list->count - from : BATCH_ROWS);
        arena_reset(bytes);
        aggregate_keys(n, list->groups + from, count, v);
        status = aggregate_results(n, list->groups + from, count, v + plan->group_count, bytes);
        for (uint16_t k = 0; k < count; k++)
            ((uint64_t *)v[columns].values)[k] = list->groups[from + k].place;
        struct batch batch = { .columns = v, .column_count = (uint16_t)(columns + 1), .row_count = count, .selected_count = count, .all_selected = true };
        if (!status)
            status = spill_write(*out, &batch);
    }
    return status;
}

static uint64_t stream_place(const struct result_stream *s) { return ((const uint64_t *)s->batch.columns[s->batch.column_count - 1].values)[s->at]; }

enum status aggregate_spill_finish(struct local *local, uint16_t set, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct spill_set **sets = arena_array(n->op.again, struct spill_set *, n->part_count + 1);
    struct worker **owners = arena_array(n->op.again, struct worker *, n->part_count + 1);
    uint32_t count = 0;
    for (uint32_t w = 0; w < n->part_count; w++)
        if (n->parts[w]->spilled[set]) {
            owners[count] = n->parts[w]->local.worker;
            sets[count++] = n->parts[w]->spilled[set];
        }
    enum status status = aggregate_partitions_emit(local, set, owners, sets, count, batches);
    for (uint32_t s = 0; s < count; s++)
        spill_set_close(sets[s]);
    return status;
}

/* The parts' tables, dealt out. */
static struct split *split_parts(struct aggregate_node *n, uint16_t set, struct arena *arena)
{
    uint32_t count;
    struct group_table **tables = aggregate_tables(n, set, n->parts, n->part_count, arena, &count);
    struct split *splits = arena_array(arena, struct split, count + 1);
    for (uint32_t t = 0; t < count; t++)
        aggregate_split(n, tables[t], arena, &splits[t]);
    return splits;
}

/* The partition's groups, of what was set aside and of what is in the parts' tables, segment by segment. */
static enum status partition_join(struct aggregate_node *n, uint16_t set, struct aggregate_local *spilled, const struct split *splits, uint32_t partition, struct arena *arena, struct group_list *all)
{
    struct aggregate_local **parts = arena_array(arena, struct aggregate_local *, n->part_count + 1);
    uint32_t count, own;
    if (n->part_count)
        memcpy(parts, n->parts, n->part_count * sizeof *parts);
    parts[n->part_count] = spilled;
    struct group_table **tables = aggregate_tables(n, set, parts, n->part_count + 1, arena, &count), **mine = aggregate_tables(n, set, &spilled, 1, arena, &own);
    enum status status = STATUS_OK;
    for (uint32_t t = 0, m = 0; t < count && !status; t++) {
        if (m < own && tables[t] == mine[m]) {
            m++;
            status = aggregate_join(n, arena, all, tables[t], NULL, tables[t]->count, NULL);
            continue;
        }
        const struct split *split = &splits[t - m];
        status = aggregate_join(n, arena, all, tables[t], split->numbers + split->starts[partition], split->starts[partition + 1] - split->starts[partition], NULL);
    }
    return status;
}

enum status aggregate_partitions_emit(struct local *local, uint16_t set, struct worker *const *owners, struct spill_set *const *sets, uint32_t set_count, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct spill_file *results[SPILL_PARTITIONS] = { NULL };
    const struct split *splits = split_parts(n, set, n->op.again);
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++) {
        struct arena *arena = arena_open(NULL, "partition");
        struct aggregate_local *spilled;
        struct group_list *all = arena_new(arena, struct group_list);
        group_list_open(all, n, arena);
        status = aggregate_partition_run(n, local->worker, owners, sets, set_count, p, arena, &spilled);
        if (!status)
            status = partition_join(n, set, spilled, splits, p, arena, all);
        if (!status) {
            aggregate_sort_groups(all);
            status = results_write(local, all, arena, &results[p]);
        }
        if (!status && local->op->counters)
            local->op->counters->spilled_bytes += spill_bytes(results[p]);
        arena_close(arena);
    }
    /* the partitions' results, merged by first appearance */
    struct arena *arena = arena_open(NULL, "merge");
    struct result_stream *streams = arena_array(arena, struct result_stream, SPILL_PARTITIONS);
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++) {
        spill_read_from_start(results[p], arena_open(arena, "results"), &streams[p].reader);
        status = spill_read(&streams[p].reader, &streams[p].batch, &streams[p].end);
    }
    uint16_t columns = (uint16_t)(plan->group_count + n->call_count);
    struct arena *kept = arena_open(arena, "rows");
    struct rows rows;
    rows_open(&rows, kept, plan->types, columns);
    while (!status) {
        struct result_stream *next = NULL;
        for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
            if (!streams[p].end && (!next || stream_place(&streams[p]) < stream_place(next)))
                next = &streams[p];
        if (next)
            rows_append_some(&rows, &next->batch, &next->at, 1);
        if (rows.count && (!next || rows.count == BATCH_ROWS)) {
            struct batch batch;
            rows_chunk(&rows, 0, &batch);
            batch.grain = (*batches)++ / GRAIN_BATCHES;
            status = run_check(local->worker);
            if (!status)
                status = local_push(local, &batch);
            if (!status)
                status = run_deliver(local->worker->run);
            arena_reset(kept);
            rows_open(&rows, kept, plan->types, columns);
        }
        if (!next)
            break;
        if (!status && ++next->at >= next->batch.row_count) {
            status = spill_read(&next->reader, &next->batch, &next->end);
            next->at = 0;
        }
    }
    arena_close(arena);
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
        if (results[p])
            spill_close(results[p]);
    return status;
}
