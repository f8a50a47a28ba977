/* engine/exec/aggregate_spill.c - groups that outgrow work_mem.
 *
 * A table that is full takes no new groups: input rows of groups that aren't in it are written to one of SPILL_PARTITIONS files by
 * the hash of their key, as they came, with their place in the row order. At the end each partition is aggregated by
 * itself, rows in (grain, row) order, joined with the groups of that partition which the workers had in memory, and its results
 * written out in order of first appearance; the partitions' results are then merged in that order. So spilling changes
 * neither a value nor the order of the groups.
 *
 * A partition's table that outgrows work_mem does the same with the rows of its partition, by the next bits of the hash (level), and so
 * on: its groups in memory join those of the workers, its partitions' results are merged into its own. */
#include "base/plant.h"
#include "engine/exec/aggregate_private.h"

#define LEAST_GROUPS 1024

void aggregate_spill_begin(struct aggregate_local *l, uint16_t set)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    uint32_t count = l->further_count ? l->further_count : 1;
    struct spill_set *sets = arena_array(l->arena, struct spill_set, count);
    for (uint32_t i = 0; i < count; i++) {
        spill_set_open(&sets[i], n->op.run, l->arena, n->row_types, (uint16_t)(n->row_columns + 1));
        sets[i].level = l->level;
    }
    l->tables[set].spilling = true;
    l->spilled[set] = &sets[l->source];
    l->further = l->further_count ? arena_array(l->arena, struct spill_set *, count) : NULL;
    for (uint32_t i = 0; i < l->further_count; i++)
        l->further[i] = &sets[i];
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

enum status aggregate_partition_run(struct aggregate_node *n, struct worker *worker, const struct aside *aside, uint32_t partition, uint8_t level, struct arena *arena,
                                    struct aggregate_local **out)
{
    struct aggregate_local *l = arena_new(arena, struct aggregate_local);
    struct worker *mine = arena_new(arena, struct worker);
    struct source *sources = arena_array(arena, struct source, aside->count + 1);
    *mine = *worker;
    mine->grains = ALL_GRAINS;
    l->local = (struct local){ .op = &n->op, .worker = mine };
    l->alone = l->one_set = true;
    l->only = aside->set;
    l->least_groups = LEAST_GROUPS;
    l->never_spill = level > SPILL_LAST_LEVEL;
    l->level = level;
    l->further_count = aside->count;
    *out = l;
    enum status status = aggregate_local_open(l, arena);
    for (uint32_t p = 0; p < aside->count && !status; p++) {
        struct source *s = &sources[p];
        spill_set_read_from_start(aside->sets[p], partition, arena_open(arena, "partition"), &s->reader);
        status = spill_set_read(&s->reader, &s->batch, &s->end);
    }
    while (!status) {
        uint64_t limit;
        struct source *next = next_source(sources, aside->count, &limit);
        if (!next)
            break;
        l->source = (uint32_t)(next - sources);
        if (l->further)
            l->spilled[aside->set] = l->further[l->source];
        if (aside->owners)
            mine->grains = worker_run_of(aside->owners[l->source], grain_at(next));
        status = take_rows(l, next, limit);
        if (!status)
            status = run_check(worker);
        if (!status && next->at == next->batch.row_count) {
            next->at = 0;
            status = spill_set_read(&next->reader, &next->batch, &next->end);
        }
    }
    for (uint32_t i = 0; l->further && i < l->further_count && !status; i++)
        status = spill_set_flush(l->further[i]);
    return status ? status : aggregate_done(&l->local);
}

/* ---- results: what goes out, and behind that the group's place ---- */

struct results { const struct sql_type *types; uint16_t columns; };      /* columns: without the place */

static void results_layout(struct aggregate_node *n, struct results *r)
{
    const struct plan *plan = n->op.plan;
    r->columns = (uint16_t)(plan->group_count + n->call_count);
    struct sql_type *types = arena_array(n->op.again, struct sql_type, r->columns + 1u);
    memcpy(types, plan->types, r->columns * sizeof *types);
    types[r->columns] = type_make(OID_INT8, -1);
    r->types = types;
}

static enum status results_write(struct local *local, const struct results *r, struct group_list *list, struct arena *arena, struct spill_file **out)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    uint16_t columns = r->columns, keys = local->op->plan->group_count;
    enum status status = spill_open(local->op->run, r->types, (uint16_t)(columns + 1), out);
    struct vector *v = arena_array(arena, struct vector, columns + 1u);
    for (uint16_t c = 0; c < columns + 1; c++)
        vector_make(&v[c], arena, r->types[c].width, BATCH_ROWS);
    v[columns].nulls = NULL;
    struct arena *bytes = arena_open(arena, "results");
    for (uint32_t from = 0; from < list->count && !status; from += BATCH_ROWS) {
        uint16_t count = (uint16_t)(list->count - from < BATCH_ROWS ? list->count - from : BATCH_ROWS);
        arena_reset(bytes);
        aggregate_keys(n, list->groups + from, count, v);
        status = aggregate_results(n, list->groups + from, count, v + keys, bytes);
        for (uint16_t k = 0; k < count; k++)
            ((uint64_t *)v[columns].values)[k] = list->groups[from + k].place;
        struct batch batch = { .columns = v, .column_count = (uint16_t)(columns + 1), .row_count = count, .selected_count = count, .all_selected = true };
        if (!status)
            status = spill_write(*out, &batch);
        if (!status)
            status = run_check(local->worker);
    }
    if (!status && local->op->counters)
        local->op->counters->spilled_bytes += spill_bytes(*out);
    return status;
}

struct result_stream { struct spill_reader reader; struct batch batch; uint16_t at; bool end; };
static uint64_t stream_place(const struct result_stream *s) { return ((const uint64_t *)s->batch.columns[s->batch.column_count - 1].values)[s->at]; }

static enum status merged_batch(struct local *local, const struct results *r, struct batch *batch, struct spill_file *out, uint64_t *batches)
{
    if (out)
        return spill_write(out, batch);
    batch->column_count = r->columns;
    batch->grain = (*batches)++ / GRAIN_BATCHES;
    enum status status = local_push(local, batch);
    return status ? status : run_deliver(local->worker->run);
}

/* The partitions' results by first appearance: into a file, or (NULL) up. The files are closed. */
static enum status results_merge(struct local *local, const struct results *r, struct spill_file **files, struct spill_file *out, uint64_t *batches)
{
    struct arena *arena = arena_open(NULL, "merge"), *kept = arena_open(arena, "rows");
    struct result_stream *streams = arena_array(arena, struct result_stream, SPILL_PARTITIONS);
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++) {
        spill_read_from_start(files[p], arena_open(arena, "results"), &streams[p].reader);
        status = spill_read(&streams[p].reader, &streams[p].batch, &streams[p].end);
    }
    struct rows rows;
    rows_open(&rows, kept, r->types, (uint16_t)(r->columns + 1));
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
            status = run_check(local->worker);
            if (!status)
                status = merged_batch(local, r, &batch, out, batches);
            arena_reset(kept);
            rows_open(&rows, kept, r->types, (uint16_t)(r->columns + 1));
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
        spill_close(files[p]);
    return status;
}

/* ---- partitions ---- */

/* Groups that lie in tables in memory, dealt out on a level: of the workers, and of the partitions that this one is a part of. */
struct in_memory { struct aggregate_local **parts; uint32_t part_count; struct split *splits; };

/* Those of a partition (of `above`), and of a table that just got full, on the next level. `full` NULL: at first all of the workers' tables. */
static enum status in_memory_make(struct local *local, uint16_t set, const struct in_memory *above, uint32_t partition, struct aggregate_local *full, uint8_t level, struct arena *arena, struct in_memory *out)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    enum status status = STATUS_OK;
    uint32_t own = 0, count;
    out->part_count = above->part_count + (full != NULL);
    out->parts = arena_array(arena, struct aggregate_local *, out->part_count + 1);
    if (above->part_count)
        memcpy(out->parts, above->parts, above->part_count * sizeof *out->parts);
    if (full)
        out->parts[above->part_count] = full;
    struct group_table **tables = aggregate_tables(n, set, out->parts, out->part_count, arena, &count);
    struct group_table **mine = full ? aggregate_tables(n, set, &full, 1, arena, &own) : NULL;
    out->splits = arena_array(arena, struct split, count + 1);
    for (uint32_t t = 0, m = 0; t < count && !status; t++) {
        const struct split *split = above->splits ? &above->splits[t - m] : NULL;
        bool whole = m < own && tables[t] == mine[m];
        if (whole || !split) {
            m += whole;
            aggregate_split(n, tables[t], NULL, tables[t]->count, level, arena, &out->splits[t]);
        } else {
            aggregate_split(n, tables[t], split->numbers + split->starts[partition], split->starts[partition + 1] - split->starts[partition], level, arena, &out->splits[t]);
        }
        status = run_check(local->worker);
    }
    return status;
}

/* The partition's groups, of what was set aside and of what is in memory, segment by segment. */
static enum status partition_join(struct aggregate_node *n, uint16_t set, struct aggregate_local *spilled, const struct in_memory *memory, uint32_t partition, struct arena *arena, struct group_list *all)
{
    struct aggregate_local **parts = arena_array(arena, struct aggregate_local *, memory->part_count + 1);
    uint32_t count, own;
    if (memory->part_count)
        memcpy(parts, memory->parts, memory->part_count * sizeof *parts);
    parts[memory->part_count] = spilled;
    struct group_table **tables = aggregate_tables(n, set, parts, memory->part_count + 1, arena, &count), **mine = aggregate_tables(n, set, &spilled, 1, arena, &own);
    enum status status = STATUS_OK;
    for (uint32_t t = 0, m = 0; t < count && !status; t++) {
        if (m < own && tables[t] == mine[m]) {
            m++;
            status = aggregate_join(n, arena, all, tables[t], NULL, tables[t]->count, NULL);
            continue;
        }
        const struct split *split = &memory->splits[t - m];
        status = aggregate_join(n, arena, all, tables[t], split->numbers + split->starts[partition], split->starts[partition + 1] - split->starts[partition], NULL);
    }
    return status;
}

/* A partition's results, in order. */
static enum status partition_results(struct local *local, const struct results *r, const struct aside *aside, const struct in_memory *memory, uint32_t partition, uint8_t level, struct spill_file **out)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct arena *arena = arena_open(NULL, "partition");
    struct aggregate_local *spilled;
    enum status status = aggregate_partition_run(n, local->worker, aside, partition, (uint8_t)(level + 1), arena, &spilled);
    if (!status && !spilled->further) {
        struct group_list *all = arena_new(arena, struct group_list);
        group_list_open(all, n, arena);
        status = partition_join(n, aside->set, spilled, memory, partition, arena, all);
        if (!status) {
            aggregate_sort_groups(all);
            status = results_write(local, r, all, arena, out);
        }
    } else if (!status) {
        const struct aside rest = { .set = aside->set, .owners = aside->owners, .sets = spilled->further, .count = spilled->further_count };
        struct spill_file *files[SPILL_PARTITIONS];
        struct in_memory more;
        status = in_memory_make(local, aside->set, memory, partition, spilled, (uint8_t)(level + 1), arena, &more);
        for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++)
            status = partition_results(local, r, &rest, &more, p, (uint8_t)(level + 1), &files[p]);
        for (uint32_t i = 0; i < rest.count; i++)
            spill_set_close(rest.sets[i]);
        if (!status)
            status = spill_open(local->op->run, r->types, (uint16_t)(r->columns + 1), out);
        if (!status)
            status = results_merge(local, r, files, *out, NULL);
    }
    arena_close(arena);
    return status;
}

enum status aggregate_partitions_emit(struct local *local, const struct aside *aside, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct spill_file *files[SPILL_PARTITIONS];
    struct results results;
    struct in_memory workers = { .parts = n->parts, .part_count = n->part_count }, memory;
    results_layout(n, &results);
    enum status status = in_memory_make(local, aside->set, &workers, 0, NULL, 0, n->op.again, &memory);
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++)
        status = partition_results(local, &results, aside, &memory, p, 0, &files[p]);
    return status ? status : results_merge(local, &results, files, NULL, batches);
}

enum status aggregate_spill_finish(struct local *local, uint16_t set, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct spill_set **sets = arena_array(n->op.again, struct spill_set *, n->part_count + 1);
    struct worker **owners = arena_array(n->op.again, struct worker *, n->part_count + 1);
    struct aside aside = { .set = set, .owners = owners, .sets = sets };
    for (uint32_t w = 0; w < n->part_count; w++)
        if (n->parts[w]->spilled[set]) {
            owners[aside.count] = n->parts[w]->local.worker;
            sets[aside.count++] = n->parts[w]->spilled[set];
        }
    enum status status = aggregate_partitions_emit(local, &aside, batches);
    for (uint32_t s = 0; s < aside.count; s++)
        spill_set_close(sets[s]);
    return status;
}
