/* engine/exec/aggregate_group.c - a batch of rows goes into its groups: a worker's part of an aggregate, the hot path.
 *
 *     aggregate_batch   the program makes keys and arguments; for each grouping set
 *       take_set          the key's number in the table (row_table.h), new groups get states; then, one aggregate after another,
 *       call_update       FILTER, nulls, DISTINCT narrow the rows, and one loop updates the states by group number
 *
 * States of a table lie in one array, exact_bytes a group, so that a loop needs no pointer a row. Ordered states are kept apart, for the
 * grain at hand only; when it ends, those that were touched go to their group's tree (fold_tree.c). */
#include "base/plant.h"
#include "engine/exec/aggregate_private.h"

#define PREFETCH_BYTES (512 << 10)       /* states that don't stay in the processor's caches by themselves */

/* Tables for the next run of grains. Once memory is full, they take nothing. */
static void segment_begin(struct aggregate_local *l, uint64_t index)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct segment *segment = arena_new(l->arena, struct segment);
    for (uint16_t s = 0; s < n->set_count && l->segment; s++)
        l->state_bytes += row_table_bytes(&l->tables[s].rows);
    *segment = (struct segment){ .before = l->segment, .index = index, .tables = arena_array(l->arena, struct group_table, n->set_count) };
    for (uint16_t s = 0; s < n->set_count; s++) {
        row_table_open(&segment->tables[s].rows, l->arena, n->key_types, n->op.plan->group_count);
        segment->tables[s].spilling = l->spilled[s] != NULL;
    }
    l->segment = segment;
    l->tables = segment->tables;
}

enum status aggregate_local_open(struct aggregate_local *l, struct arena *arena)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    struct run *run = l->local.worker->run;
    l->arena = arena;
    l->folder = n->folder;
    l->folder.grains = &l->local.worker->grains;
    l->folder.spare = &l->spare;
    l->spilled = arena_array(arena, struct spill_set *, n->set_count);
    l->outputs = arena_array(arena, struct vector, n->output_count + 1u);
    l->keys = arena_array(arena, struct vector, plan->group_count + 1u);
    l->groups = arena_alloc(arena, BATCH_MAX * sizeof *l->groups);
    l->limit_bytes = l->one_set ? spill_limit((uint64_t)run->work_mem) : (uint64_t)run->work_mem;
    l->grain = UINT64_MAX;
    segment_begin(l, 0);
    enum status status = evaluation_open(n->program, run, arena, &l->evaluation);
    l->call_locals = arena_array(arena, struct call_local, n->call_count + 1u);
    for (uint16_t a = 0; a < n->call_count && !status; a++) {
        struct call *c = &n->calls[a];
        struct call_local *cl = &l->call_locals[a];
        if (c->filter) {
            status = evaluation_open(c->filter, run, arena, &cl->filter);
            if (!status)
                status = evaluation_open(c->args, run, arena, &cl->args);
            cl->arg_vectors = arena_array(arena, struct vector, c->item->arg_count + 1u);
        }
        if (!status && c->distinct)
            status = distinct_open(l, c, &cl->seen);
        if (c->sorted)
            cl->kept = sorted_open(l, c);
    }
    return status;
}

/* ---- groups and their states ---- */

static void *grow(struct arena *arena, void *old, uint32_t old_count, uint32_t count, size_t bytes)
{
    uint8_t *all = arena_grow(arena, old, old_count * bytes, count * bytes);
    memset(all + old_count * bytes, 0, (count - old_count) * bytes);
    return all;
}

static void table_grow(struct aggregate_local *l, struct group_table *t, uint32_t count)
{
    const struct aggregate_node *n = (const struct aggregate_node *)l->local.op;
    uint32_t old = t->capacity, capacity = old ? old * 2 : n->op.plan->group_count ? 64 : 1;
    while (capacity < count)
        capacity *= 2;
    uint64_t bytes = n->exact_bytes + sizeof *t->places;
    t->states = grow(l->arena, t->states, old, capacity, n->exact_bytes);
    t->places = grow(l->arena, t->places, old, capacity, sizeof *t->places);
    if (n->folder.count) {
        t->parts = grow(l->arena, t->parts, old, capacity, n->folder.bytes);
        t->stacks = grow(l->arena, t->stacks, old, capacity, sizeof *t->stacks);
        t->touched = grow(l->arena, t->touched, old, capacity, 1);
        t->touched_list = grow(l->arena, t->touched_list, old ? old + 1 : 0, capacity + 1, sizeof *t->touched_list);
        bytes += n->folder.bytes + sizeof *t->stacks + 1 + sizeof *t->touched_list;
    }
    l->state_bytes += bytes * (capacity - old);
    t->capacity = capacity;
}

/* Groups that are new since the table had t->count: their first rows are found by the numbers, which rise. */
static void groups_add(struct aggregate_local *l, struct group_table *t, uint64_t grain, const row_pos *rows, uint16_t count, const uint32_t *entries, const uint64_t *places)
{
    uint32_t all = row_table_count(&t->rows), next = t->count;
    if (all > t->capacity)
        table_grow(l, t, all);
    for (uint16_t k = 0; k < count && next < all; k++)
        if (entries[k] == next) {
            uint16_t i = rows ? rows[k] : k;
            t->places[next++] = places ? places[i] : row_place(grain, l->sequence + i);
        }
    t->count = all;
}

/* Ordered states of the grain that ends go to the tree. */
static enum status grain_close(struct aggregate_local *l)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    enum status status = STATUS_OK;
    for (uint16_t s = 0; s < n->set_count && n->folder.count; s++) {
        struct group_table *t = &l->tables[s];
        for (uint32_t k = 0; k < t->touched_count && !status; k++) {
            uint32_t g = t->touched_list[k];
            uint8_t *states = t->parts + (size_t)g * n->folder.bytes;
            status = fold_push(&l->folder, &t->stacks[g], 0, l->grain, states, l->arena);
            memset(states, 0, n->folder.bytes);
            t->touched[g] = 0;
        }
        t->touched_count = 0;
    }
    return status;
}

static void touch(struct group_table *t, const uint32_t *groups, const row_pos *rows, uint16_t count)
{
    uint32_t n = t->touched_count;
    for (uint16_t k = 0; k < count; k++) {
        uint32_t g = groups[rows ? rows[k] : k];
        t->touched_list[n] = g;
        n += !t->touched[g];
        t->touched[g] = 1;
    }
    t->touched_count = n;
}

/* ---- a batch ---- */

uint16_t aggregate_skip_nulls(const struct vector *args, uint16_t arg_count, const row_pos *rows, uint16_t count, row_pos *out)
{
    uint16_t n = 0;
    if (arg_count == 1 && !args->constant) {
        const uint8_t *nulls = args->nulls;
        for (uint16_t k = 0; k < count; k++) {
            uint16_t i = rows ? rows[k] : k;
            out[n] = i;
            n = (uint16_t)(n + !nulls[i]);
        }
        return n;
    }
    for (uint16_t k = 0; k < count; k++) {
        uint16_t i = rows ? rows[k] : k;
        bool null = false;
        for (uint32_t a = 0; a < arg_count; a++)
            null |= vector_null(&args[a], i);
        out[n] = i;
        n = (uint16_t)(n + !null);
    }
    return n;
}

/* FILTER: the rows that pass, and the arguments of these. */
static enum status call_filter(struct call_local *cl, const struct batch *batch, const row_pos **rows, uint16_t *count, const struct vector **args, uint16_t *error_at)
{
    struct batch some = *batch;
    const row_pos *passed, *all = *rows;
    uint16_t all_count = *count;
    some.selection = (row_pos *)*rows;
    some.selected_count = *count;
    some.all_selected = *rows == NULL;
    enum status status = evaluation_filter(cl->filter, &some, &passed, count, error_at);
    if (status || *count == 0)
        return status;
    if (PLANT(FILTER_IGNORED) && *count < 5) {
        passed = all;
        *count = all_count;
    }
    *rows = some.selection = (row_pos *)passed;
    some.selected_count = *count;
    some.all_selected = passed == NULL;
    *args = cl->arg_vectors;
    return evaluation_run(cl->args, &some, cl->arg_vectors, error_at);
}

static enum status call_update(struct aggregate_local *l, uint16_t a, uint16_t set, const struct batch *batch, const row_pos *rows, uint16_t count)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct group_table *t = &l->tables[set];
    struct call *c = &n->calls[a];
    struct call_local *cl = &l->call_locals[a];
    uint16_t arg_count = c->item->arg_count, error_at = NO_ROW;
    const struct vector *args = l->at_hand + c->first_arg;
    row_pos narrowed[BATCH_MAX], fresh[BATCH_MAX];
    enum status status = STATUS_OK;
    if (c->filter)
        status = call_filter(cl, batch, &rows, &count, &args, &error_at);
    if (status || count == 0)
        return status;
    bool nulls = false;
    for (uint32_t k = 0; k < arg_count; k++)
        nulls |= args[k].nulls != NULL;
    if (c->aggregate->strict && nulls) {
        count = aggregate_skip_nulls(args, arg_count, rows, count, narrowed);
        rows = narrowed;
    }
    if (c->sorted)
        return sorted_add(l, c, cl->kept, set, args, rows, count);
    if (c->distinct && count) {
        status = distinct_add(l, c, cl->seen, set, args, rows, count, fresh, &count);
        rows = fresh;
    }
    if (status || count == 0)
        return status;
    struct aggregate_call call = { .base = (c->ordered ? t->parts : t->states) + c->offset, .stride = c->ordered ? n->folder.bytes : n->exact_bytes, .groups = l->groups,
                                   .args = args, .arg_types = c->arg_types, .arg_count = arg_count, .selection = rows, .count = count,
                                   .arena = l->arena, .data = c->item->data, .error_at = &error_at };
    return n->op.plan->group_count ? c->aggregate->update(&call) : c->aggregate->update_one(&call, call.base);
}

/* Keys that aren't of the set are null. */
static void keys_of_set(struct aggregate_local *l, uint16_t set)
{
    static uint8_t one_null[1] = { 1 };
    static uint64_t zeros[2];
    const struct aggregate_node *n = (const struct aggregate_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    for (uint16_t g = 0; g < plan->group_count; g++) {
        bool in_set = !plan->set_count;
        for (uint16_t k = plan->set_count ? plan->sets_offsets[set] : 0; plan->set_count && k < plan->sets_offsets[set + 1]; k++)
            in_set |= plan->sets[k] == g;
        l->keys[g] = in_set ? l->at_hand[g] : (struct vector){ .values = zeros, .nulls = one_null, .width = n->key_types[g].width, .constant = true };
    }
}

/* The table is full: rows whose group isn't in it are set aside. What is left: in_table. */
static enum status rows_of_full_table(struct aggregate_local *l, uint16_t set, const struct batch *batch, const struct batch *keys, const row_pos *rows, uint16_t *count,
                                      const uint64_t *places, row_pos *in_table)
{
    const struct aggregate_node *n = (const struct aggregate_node *)l->local.op;
    uint64_t hashes[BATCH_MAX];
    uint32_t entries[BATCH_MAX];
    uint16_t m = 0;
    hash_columns(n->key_types, keys->columns, keys->column_count, rows, *count, hashes);
    row_table_find(&l->tables[set].rows, keys, rows, *count, hashes, entries);
    enum status status = aggregate_spill_rows(l, set, batch, rows, *count, hashes, entries, places);
    for (uint16_t k = 0; k < *count; k++)
        if (entries[k] != ROW_TABLE_NONE) {
            in_table[m] = rows ? rows[k] : k;
            l->groups[in_table[m++]] = entries[k];
        }
    *count = m;
    return status;
}

static void number_groups(struct aggregate_local *l, struct group_table *t, const struct batch *keys, uint64_t grain, const row_pos *rows, uint16_t count, const uint64_t *places)
{
    uint32_t room[BATCH_MAX], *entries = rows ? room : l->groups;
    row_table_add(&t->rows, keys, rows, count, NULL, entries);
    if (row_table_count(&t->rows) > t->count)
        groups_add(l, t, grain, rows, count, entries, places);
    if (rows)
        for (uint16_t k = 0; k < count; k++)
            l->groups[rows[k]] = entries[k];
}

/* One grouping set. */
static enum status take_set(struct aggregate_local *l, uint16_t set, const struct batch *batch, const row_pos *rows, uint16_t count, const uint64_t *places)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    struct group_table *t = &l->tables[set];
    row_pos in_table[BATCH_MAX];
    enum status status = STATUS_OK;
    if (plan->group_count == 0) {
        if (t->count == 0) {
            struct batch one = batch_empty(1);
            uint32_t entry;
            row_table_add(&t->rows, &one, NULL, 1, NULL, &entry);
            groups_add(l, t, batch->grain, rows, 1, &entry, places);
        }
        if (n->folder.count && !t->touched_count) {
            t->touched_list[t->touched_count++] = 0;
            t->touched[0] = 1;
        }
    } else {
        struct batch keys = { .columns = l->keys, .column_count = plan->group_count, .row_count = batch->row_count };
        keys_of_set(l, set);
        if (t->spilling) {
            status = rows_of_full_table(l, set, batch, &keys, rows, &count, places, in_table);
            rows = in_table;
        } else {
            number_groups(l, t, &keys, batch->grain, rows, count, places);
        }
        if (n->folder.count)
            touch(t, l->groups, rows, count);
        if ((uint64_t)t->count * n->exact_bytes > PREFETCH_BYTES)
            for (uint16_t k = 0; k < count; k++)
                __builtin_prefetch(t->states + (size_t)l->groups[rows ? rows[k] : k] * n->exact_bytes, 1);
    }
    for (uint16_t a = 0; a < n->call_count && !status && count; a++)
        if (!n->calls[a].shared)
            status = call_update(l, a, set, batch, rows, count);
    if (!status && plan->group_count && !t->spilling && !l->never_spill && t->count >= l->least_groups && row_table_bytes(&t->rows) + l->state_bytes > l->limit_bytes && (l->alone || !n->has_distinct))
        aggregate_spill_begin(l, set);
    return status;
}

enum status aggregate_batch(struct aggregate_local *l, const struct batch *batch, bool evaluated, const uint64_t *places)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    uint16_t at;
    enum status status = STATUS_OK;
    if (batch->grain != l->grain) {
        status = grain_close(l);
        l->grain = batch->grain;
        l->sequence = 0;
        if (n->segmented && batch->grain >> n->segment_level != l->segment->index)
            segment_begin(l, batch->grain >> n->segment_level);
    }
    l->at_hand = evaluated ? batch->columns : l->outputs;
    if (!status && !evaluated)
        status = evaluation_run(l->evaluation, batch, l->outputs, &at);
    const row_pos *rows = batch->all_selected ? NULL : batch->selection;
    for (uint16_t s = l->only; s < (l->one_set ? l->only + 1 : n->set_count) && !status; s++)
        status = take_set(l, s, batch, rows, batch->selected_count, places);
    l->sequence += batch->row_count;
    return status;
}

enum status aggregate_take(struct local *local, const struct batch *batch)
{
    const struct aggregate_node *n = (const struct aggregate_node *)local->op;
    if (!n->grain_base)
        return aggregate_batch((struct aggregate_local *)local, batch, false, NULL);
    struct batch based = *batch;
    based.grain += n->grain_base;
    return aggregate_batch((struct aggregate_local *)local, &based, false, NULL);
}

enum status aggregate_grain_end(struct local *local, uint64_t grain)
{
    (void)grain;
    return grain_close((struct aggregate_local *)local);
}

/* The worker's input is over: what it kept for the end, and the runs of ordered states. */
enum status aggregate_done(struct local *local)
{
    struct aggregate_local *l = (struct aggregate_local *)local;
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    enum status status = grain_close(l);
    for (uint16_t s = 0; s < n->set_count && !status; s++) {
        struct group_table *t = &l->tables[s];
        if (l->spilled[s])
            status = spill_set_flush(l->spilled[s]);
        for (uint32_t g = 0; g < t->count && !status && n->folder.count; g++)
            status = fold_close(&l->folder, &t->stacks[g], l->arena);
    }
    for (uint16_t a = 0; a < n->call_count && !status && l->alone; a++) {
        if (n->calls[a].sorted)
            status = sorted_finish(l, a);
        if (!status && n->calls[a].distinct)
            status = distinct_finish(l, a);
    }
    return status;
}
