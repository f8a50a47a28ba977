/* engine/exec/aggregate.c - GROUP BY and aggregates, also DISTINCT: partial, then finalize.
 *
 * Each worker has a table of the groups it met (row_table.h) and a block of states for each. Exact states (counts, integer and
 * decimal sums) are folded as rows come. States that hang on the order of rows (float sums, array_agg) are kept for one grain
 * at a time and combined along a fixed tree over grain numbers (fold_tree.c): so neither the number of workers nor
 * who scanned what shows in the answer. Groups come out in the order of their first row; the key shown is that row's.
 *
 * The leader brings the workers' tables together: a group that is in several takes the earliest first row, exact states are
 * combined, and the runs of ordered states are put in order of their grains.
 *
 * Where the plan expects many groups (WIDE_GROUPS) nearly every row would begin a new grain of its group, and the tree would cost more
 * than the sums: then rows are aggregated one by one in (grain, row) order; several workers deal them out by the key first (aggregate_deal.c).
 *
 * DISTINCT and ORDER BY inside an aggregate: rows are kept (exact states with DISTINCT only need the set of values seen), and are
 * sorted and handed to the aggregate at the end; such a node is the leader's alone.
 *
 * When the table outgrows work_mem, rows of groups that are not in it are written out by partitions of the key's hash, and the
 * partitions are worked off one by one at the end (aggregate_spill.c). */
#include <stdlib.h>
#include "engine/exec/aggregate_private.h"

/* It hangs on the plan alone: what is chosen shows in the last bits of float sums. */
#ifndef WIDE_GROUPS
#define WIDE_GROUPS 2000
#endif
#ifndef DEAL_GROUPS
#define DEAL_GROUPS 20000                /* from here on dealing out the rows is less work than a table of all groups in each worker */
#endif

/* ---- open ---- */

static bool hangs_on_order(const struct aggregate_item *item)
{
    if (item->aggregate->ordered)
        return true;
    const char *name = item->aggregate->function ? item->aggregate->function->name : "";
    if ((strcmp(name, "min") != 0 && strcmp(name, "max") != 0) || item->arg_count == 0)
        return false;
    return !type_bitwise(item->args[0]->type);           /* of equal values the first is shown */
}

static enum status aggregate_open(struct exec_node *op)
{
    struct aggregate_node *n = (struct aggregate_node *)op;
    const struct plan *plan = op->plan;
    struct arena *arena = op->run->arena;
    n->call_count = plan->aggregate_count;
    n->calls = arena_array(arena, struct call, plan->aggregate_count + 1u);
    uint32_t total = plan->group_count;
    for (uint16_t a = 0; a < plan->aggregate_count; a++)
        total += plan->aggregates[a].arg_count;
    struct scalar **exprs = arena_array(arena, struct scalar *, total + 1);
    n->key_types = arena_array(arena, struct sql_type, plan->group_count + 1u);
    for (uint16_t g = 0; g < plan->group_count; g++) {
        exprs[g] = plan->groups[g];
        n->key_types[g] = plan->groups[g]->type;
    }
    n->output_count = plan->group_count;
    bool wide = plan->group_count > 0 && plan->group_estimate >= WIDE_GROUPS;
    const struct aggregate **ordered = arena_array(arena, const struct aggregate *, plan->aggregate_count + 1u);
    uint32_t *offsets = arena_array(arena, uint32_t, plan->aggregate_count + 1u);
    enum status status = STATUS_OK;
    for (uint16_t a = 0; a < plan->aggregate_count && !status; a++) {
        const struct aggregate_item *item = &plan->aggregates[a];
        struct call *c = &n->calls[a];
        c->item = item;
        c->aggregate = item->aggregate;
        c->first_arg = n->output_count;
        c->arg_types = arena_array(arena, struct sql_type, item->arg_count + 1u);
        for (uint32_t k = 0; k < item->arg_count; k++)
            c->arg_types[k] = item->args[k]->type;
        uint32_t bytes = (c->aggregate->state_bytes + 15) & ~15u;
        c->sorted = item->sort_count > 0 || (item->distinct && hangs_on_order(item));
        c->distinct = item->distinct && !c->sorted;
        c->ordered = !c->sorted && !c->distinct && hangs_on_order(item) && !wide;
        n->serial |= wide && !c->sorted && hangs_on_order(item);
        n->keeps_rows |= c->sorted || c->distinct;
        n->serial |= c->sorted || c->distinct;
        if (item->filter) {              /* arguments only of the rows that pass */
            status = program_compile_filter(arena, item->filter, &c->filter);
            if (!status)
                status = program_compile(arena, item->args, item->arg_count, &c->args);
            op->serial |= program_serial(c->filter) || program_serial(c->args);
        } else {
            for (uint32_t k = 0; k < item->arg_count; k++)
                exprs[n->output_count++] = item->args[k];
        }
        if (c->ordered) {
            c->offset = n->folder.bytes;
            ordered[n->folder.count] = c->aggregate;
            offsets[n->folder.count++] = c->offset;
            n->folder.bytes += bytes;
        } else {
            c->offset = n->exact_bytes;
            n->exact_bytes += bytes;
        }
    }
    n->folder.aggregates = ordered;
    n->folder.offsets = offsets;
    n->group_bytes = n->exact_bytes + (n->folder.count ? (uint32_t)sizeof(struct part) + n->folder.bytes : 0);
    if (n->group_bytes == 0)
        n->group_bytes = 16;
    if (!status)
        status = node_program(op, 0, exprs, n->output_count, &n->program);
    n->set_count = plan->set_count ? plan->set_count : 1;
    n->deals = plan->group_count && !plan->set_count && !n->keeps_rows && !n->folder.count && plan->group_estimate >= (n->serial ? WIDE_GROUPS : DEAL_GROUPS);
    if (!status && n->deals)
        status = node_program(op, 1, plan->groups, plan->group_count, &n->keys);
    n->distinct_from = plan->set_count ? 0 : plan->group_count ? 1 : 2;
    n->spill_types = arena_array(arena, struct sql_type, plan->left->column_count + 2u);
    memcpy(n->spill_types, plan->left->types, plan->left->column_count * sizeof *n->spill_types);
    n->spill_types[plan->left->column_count] = n->spill_types[plan->left->column_count + 1] = type_make(OID_INT8, -1);
    return status;
}

/* ---- a worker's table ---- */

enum status aggregate_local_open(struct aggregate_local *l, struct arena *arena)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    struct run *run = l->local.worker->run;
    l->arena = arena;
    l->folder = n->folder;
    l->folder.grains = &l->local.worker->grains;
    l->tables = arena_array(arena, struct group_table, n->set_count);
    l->outputs = arena_array(arena, struct vector, n->output_count + 1u);
    l->keys = arena_array(arena, struct vector, plan->group_count + 1u);
    l->entries = arena_alloc(arena, BATCH_MAX * sizeof *l->entries);
    l->hashes = arena_alloc(arena, BATCH_MAX * sizeof *l->hashes);
    l->bases = arena_alloc(arena, BATCH_MAX * sizeof *l->bases);
    l->states = arena_alloc(arena, BATCH_MAX * sizeof *l->states);
    l->limit_bytes = (uint64_t)run->work_mem;
    for (uint16_t s = 0; s < n->set_count; s++)
        row_table_open(&l->tables[s].rows, arena, n->key_types, plan->group_count);
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
        if (!status && (c->distinct || c->sorted)) {
            /* what is kept of a row: set, group, arguments */
            cl->types = arena_array(arena, struct sql_type, c->item->arg_count + 2u);
            cl->types[0] = type_make(OID_INT4, -1);
            cl->types[1] = type_make(OID_INT8, -1);
            memcpy(cl->types + 2, c->arg_types, c->item->arg_count * sizeof *cl->types);
            cl->columns = arena_array(arena, struct vector, c->item->arg_count + 2u);
            if (c->distinct)
                row_table_open(&cl->seen, arena, cl->types + n->distinct_from, (uint16_t)(c->item->arg_count + 2 - n->distinct_from));
            else
                rows_open(&cl->kept, arena, cl->types, (uint16_t)(c->item->arg_count + 2));
            vector_make(&cl->columns[0], arena, 4, 1);
            vector_make(&cl->columns[1], arena, 8, BATCH_MAX);
            cl->columns[0].constant = true;
            cl->columns[0].nulls = cl->columns[1].nulls = NULL;
        }
    }
    return status;
}

static enum status aggregate_local_make(struct local *local)
{
    struct arena *parent = local->worker->number ? local->worker->arena : local->op->again;
    return aggregate_local_open((struct aggregate_local *)local, arena_open(parent, "aggregate"));
}

/* States of groups that are new since the table had `known` of them. */
static void groups_add(struct aggregate_local *l, struct group_table *t, uint64_t grain, const uint64_t *sequences)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    uint32_t count = row_table_count(&t->rows);
    if (count > t->group_capacity) {
        uint32_t capacity = t->group_capacity ? t->group_capacity * 2 : 64;
        while (capacity < count)
            capacity *= 2;
        t->groups = arena_grow(l->arena, t->groups, t->group_capacity * sizeof *t->groups, capacity * sizeof *t->groups);
        t->group_capacity = capacity;
    }
    uint32_t fresh = count - t->group_count;
    uint8_t *states = arena_zero(l->arena, (size_t)fresh * n->group_bytes);
    l->state_bytes += (uint64_t)fresh * (n->group_bytes + sizeof(struct group));
    for (uint32_t k = 0; k < fresh; k++)
        t->groups[t->group_count + k] = (struct group){ .states = states + (size_t)k * n->group_bytes, .grain = grain, .sequence = sequences[k],
                                                        .rows = &t->rows.keys, .row = t->group_count + k };
    t->group_count = count;
}

static struct part *part_of(const struct aggregate_node *n, uint8_t *base) { return (struct part *)(base + n->exact_bytes); }

/* Ordered states stand for one grain: those of an earlier one go to the tree. */
static enum status part_begin(struct aggregate_local *l, uint8_t *base, uint64_t grain)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct part *p = part_of(n, base);
    if (p->live && p->grain == grain)
        return STATUS_OK;
    if (p->live) {
        enum status status = fold_push(&l->folder, &p->stack, 0, p->grain, p->states, l->arena);
        if (status)
            return status;
        memset(p->states, 0, n->folder.bytes);
    }
    p->live = true;
    p->grain = grain;
    return STATUS_OK;
}

/* ---- a batch ---- */

static uint16_t skip_nulls(const struct vector *args, uint16_t arg_count, const row_pos *rows, uint16_t count, row_pos *out)
{
    uint16_t n = 0;
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

static enum status call_update(struct aggregate_local *l, uint16_t a, uint16_t set, const struct batch *batch, const row_pos *rows, uint16_t count, uint16_t *error_at)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct call *c = &n->calls[a];
    struct call_local *cl = &l->call_locals[a];
    uint16_t arg_count = c->item->arg_count;
    const struct vector *args = l->outputs + c->first_arg;
    row_pos narrowed[BATCH_MAX], fresh[BATCH_MAX];
    *error_at = NO_ROW;
    if (c->filter) {
        struct batch some = *batch;
        const row_pos *passed;
        some.selection = (row_pos *)rows;
        some.selected_count = count;
        some.all_selected = rows == NULL;
        enum status status = evaluation_filter(cl->filter, &some, &passed, &count, error_at);
        if (status)
            return status;
        if (count == 0)
            return STATUS_OK;
        rows = some.selection = (row_pos *)passed;
        some.selected_count = count;
        some.all_selected = passed == NULL;
        status = evaluation_run(cl->args, &some, cl->arg_vectors, error_at);
        if (status)
            return status;
        args = cl->arg_vectors;
    }
    bool nulls = false;
    for (uint32_t k = 0; k < arg_count; k++)
        nulls |= args[k].nulls != NULL;
    if (c->aggregate->strict && nulls) {
        count = skip_nulls(args, arg_count, rows, count, narrowed);
        rows = narrowed;
    }
    if (count == 0)
        return STATUS_OK;
    if (c->distinct || c->sorted) {
        *(int32_t *)cl->columns[0].values = set;
        int64_t *group = cl->columns[1].values;
        for (uint16_t k = 0; k < count; k++) {
            uint16_t i = rows ? rows[k] : k;
            group[i] = n->op.plan->group_count ? l->entries[i] : 0;
        }
        memcpy(cl->columns + 2, args, arg_count * sizeof *args);
        struct batch kept = { .columns = cl->columns, .column_count = (uint16_t)(arg_count + 2), .row_count = batch->row_count };
        if (c->sorted) {
            rows_append_some(&cl->kept, &kept, rows, count);
            return STATUS_OK;
        }
        uint32_t before = row_table_count(&cl->seen), entry[BATCH_MAX];
        kept.columns += n->distinct_from;
        kept.column_count = (uint16_t)(kept.column_count - n->distinct_from);
        hash_columns(cl->types + n->distinct_from, kept.columns, kept.column_count, rows, count, l->hashes);
        row_table_add(&cl->seen, &kept, rows, count, l->hashes, entry);
        uint16_t m = 0;
        for (uint16_t k = 0; k < count; k++)
            if (entry[k] == before) {
                fresh[m++] = rows ? rows[k] : k;
                before++;
            }
        rows = fresh;
        count = m;
        if (count == 0)
            return STATUS_OK;
    }
    struct aggregate_call call = { .states = l->states, .args = args, .arg_types = c->arg_types, .arg_count = arg_count, .selection = rows, .count = count,
                                   .arena = l->arena, .data = c->item->data, .error_at = error_at };
    uint32_t offset = c->ordered ? n->exact_bytes + (uint32_t)offsetof(struct part, states) + c->offset : c->offset;
    if (n->op.plan->group_count == 0)
        return c->aggregate->update_one(&call, l->bases[0] + offset);
    if (rows)
        for (uint16_t k = 0; k < count; k++) l->states[rows[k]] = l->bases[rows[k]] + offset;
    else
        for (uint16_t k = 0; k < count; k++) l->states[k] = l->bases[k] + offset;
    return c->aggregate->update(&call);
}

/* One grouping set. sequences: by selected row, its place within the grain. */
static enum status take_set(struct aggregate_local *l, uint16_t set, const struct batch *batch, const row_pos *rows, uint16_t count, uint64_t first_sequence,
                            const int64_t *sequences)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    struct group_table *t = &l->tables[set];
    enum status status = STATUS_OK;
    row_pos in_table[BATCH_MAX];
    if (plan->group_count == 0) {
        if (t->group_count == 0) {
            uint32_t entry;
            uint64_t hash = 0, sequence = first_sequence;
            struct batch one = batch_empty(1);
            row_table_add(&t->rows, &one, NULL, 1, &hash, &entry);
            groups_add(l, t, batch->grain, &sequence);
        }
        l->bases[0] = t->groups[0].states;
        if (n->folder.count)
            status = part_begin(l, l->bases[0], batch->grain);
    } else {
        uint8_t one_null[1] = { 1 };
        uint64_t zeros[2] = { 0, 0 };
        for (uint16_t g = 0; g < plan->group_count; g++)
            l->keys[g] = l->outputs[g];
        if (plan->set_count) {           /* keys that aren't of the set are null */
            for (uint16_t g = 0; g < plan->group_count; g++) {
                bool in_set = false;
                for (uint16_t k = plan->sets_offsets[set]; k < plan->sets_offsets[set + 1]; k++)
                    in_set |= plan->sets[k] == g;
                if (!in_set)
                    l->keys[g] = (struct vector){ .values = zeros, .nulls = one_null, .width = n->key_types[g].width, .constant = true };
            }
        }
        struct batch keys = { .columns = l->keys, .column_count = plan->group_count, .row_count = batch->row_count };
        uint32_t entries[BATCH_MAX];
        hash_columns(n->key_types, l->keys, plan->group_count, rows, count, l->hashes);
        if (t->spilling) {
            row_table_find(&t->rows, &keys, rows, count, l->hashes, entries);
            uint16_t m = 0;
            status = aggregate_spill_rows(l, set, batch, rows, count, entries, first_sequence, sequences);
            if (status)
                return status;
            for (uint16_t k = 0; k < count; k++)
                if (entries[k] != UINT32_MAX) {
                    entries[m] = entries[k];
                    in_table[m++] = rows ? rows[k] : k;
                }
            rows = in_table;
            count = m;
        } else {
            uint32_t known = t->group_count;
            row_table_add(&t->rows, &keys, rows, count, l->hashes, entries);
            if (row_table_count(&t->rows) > known) {
                uint64_t fresh[BATCH_MAX];
                fresh[0] = 0;
                uint32_t m = 0;
                for (uint16_t k = 0; k < count; k++)
                    if (entries[k] == known + m) {
                        uint16_t i = rows ? rows[k] : k;
                        fresh[m++] = sequences ? (uint64_t)sequences[i] : first_sequence + i;
                    }
                groups_add(l, t, batch->grain, fresh);
            }
        }
        for (uint16_t k = 0; k < count; k++) {
            uint16_t i = rows ? rows[k] : k;
            l->entries[i] = entries[k];
            l->bases[i] = t->groups[entries[k]].states;
        }
        if (n->folder.count)
            for (uint16_t k = 0; k < count && !status; k++)
                status = part_begin(l, l->bases[rows ? rows[k] : k], batch->grain);
    }
    uint16_t error_at = NO_ROW;
    for (uint16_t a = 0; a < n->call_count && !status && count; a++)
        status = call_update(l, a, set, batch, rows, count, &error_at);
    if (!status && plan->group_count && !t->spilling && !n->keeps_rows && !l->never_spill && row_table_bytes(&t->rows) + l->state_bytes > l->limit_bytes)
        status = aggregate_spill_begin(l, set);
    return status;
}

enum status aggregate_batch(struct aggregate_local *l, const struct batch *batch, const int64_t *sequences)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    uint16_t at;
    enum status status = evaluation_run(l->evaluation, batch, l->outputs, &at);
    const row_pos *rows = batch->all_selected ? NULL : batch->selection;
    for (uint16_t s = 0; s < n->set_count && !status; s++)
        status = take_set(l, s, batch, rows, batch->selected_count, l->sequence, sequences);
    l->sequence += batch->row_count;
    return status;
}

static enum status aggregate_take(struct local *local, const struct batch *batch)
{
    return aggregate_batch((struct aggregate_local *)local, batch, NULL);
}

/* The worker's input is over: ordered states of the last grain go to the tree. */
enum status aggregate_done(struct local *local)
{
    struct aggregate_local *l = (struct aggregate_local *)local;
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    enum status status = STATUS_OK;
    for (uint16_t s = 0; s < n->set_count && !status; s++)
        if (l->tables[s].spilling)
            status = spill_set_flush(l->tables[s].spilled);
    if (!n->folder.count)
        return status;
    for (uint16_t s = 0; s < n->set_count; s++)
        for (uint32_t g = 0; g < l->tables[s].group_count && !status; g++) {
            struct part *p = part_of(n, l->tables[s].groups[g].states);
            if (p->live)
                status = fold_push(&l->folder, &p->stack, 0, p->grain, p->states, l->arena);
            p->live = false;
            if (!status)
                status = fold_close(&l->folder, &p->stack, l->arena);
        }
    return status;
}

/* ---- bringing tables together ---- */

/* Takes group `from` into the table. Its runs of ordered states are put on the list, in any order. */
static enum status group_join(struct aggregate_node *n, struct arena *arena, struct group *into, struct group *from)
{
    for (uint16_t a = 0; a < n->call_count; a++) {
        struct call *c = &n->calls[a];
        if (c->ordered)
            continue;
        enum status status = c->aggregate->combine(into->states + c->offset, from->states + c->offset, arena);
        if (status)
            return status;
    }
    if (n->folder.count) {
        struct part *p = part_of(n, into->states), *q = part_of(n, from->states);
        struct fold *last = q->stack;
        while (last && last->below)
            last = last->below;
        if (last) {
            last->below = p->stack;
            p->stack = q->stack;
        }
    }
    if (from->grain < into->grain || (from->grain == into->grain && from->sequence < into->sequence)) {
        into->grain = from->grain;
        into->sequence = from->sequence;
        into->rows = from->rows;
        into->row = from->row;
    }
    return STATUS_OK;
}

/* Groups of `from` (those whose hash falls into the partition; partition_count 1: all) join those of `into`. */
enum status aggregate_join(struct aggregate_node *n, struct arena *arena, struct group_table *into, struct group_table *from, uint32_t partition, uint32_t partition_count)
{
    enum status status = STATUS_OK;
    for (uint32_t g = 0; g < from->group_count && !status; g++) {
        uint64_t hash = from->rows.hashes[g];
        if (partition_count > 1 && spill_partition(hash) != partition)
            continue;
        struct batch keys;
        rows_chunk(&from->rows.keys, g / ROWS_CHUNK, &keys);
        row_pos at = rows_at(g);
        uint32_t entry;
        row_table_add(&into->rows, &keys, &at, 1, &hash, &entry);
        if (entry == into->group_count) {
            if (into->group_count == into->group_capacity) {
                uint32_t capacity = into->group_capacity ? into->group_capacity * 2 : 64;
                into->groups = arena_grow(arena, into->groups, into->group_capacity * sizeof *into->groups, capacity * sizeof *into->groups);
                into->group_capacity = capacity;
            }
            into->groups[into->group_count++] = from->groups[g];
        } else {
            status = group_join(n, arena, &into->groups[entry], &from->groups[g]);
        }
    }
    return status;
}

static int compare_folds(const void *a, const void *b)
{
    const struct fold *x = *(struct fold *const *)a, *y = *(struct fold *const *)b;
    uint64_t first = x->index << x->level, other = y->index << y->level;
    return first < other ? -1 : first > other;
}

/* All runs of a group's ordered states become one: along the tree, in order. */
static enum status fold_all(struct aggregate_node *n, struct part *p, struct arena *arena)
{
    uint32_t count = 0;
    for (struct fold *f = p->stack; f; f = f->below)
        count++;
    if (count <= 1)
        return STATUS_OK;
    struct fold **all = malloc(count * sizeof *all);
    if (!all)
        panic("out of memory");
    uint32_t at = 0;
    for (struct fold *f = p->stack; f; f = f->below)
        all[at++] = f;
    qsort(all, count, sizeof *all, compare_folds);
    struct folder folder = n->folder;
    folder.grains = &ALL_GRAINS;
    struct fold *stack = NULL;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = fold_push(&folder, &stack, all[i]->level, all[i]->index, all[i]->states, arena);
    if (!status)
        status = fold_close(&folder, &stack, arena);
    p->stack = stack;
    free(all);
    return status;
}

/* ---- DISTINCT and ORDER BY inside ---- */

struct sorting { const struct rows *rows; const struct call *call; const struct sql_type *types; };
static _Thread_local const struct sorting *sorting_now;

static int compare_kept(const void *a, const void *b)
{
    const struct sorting *s = sorting_now;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
#define COLUMN(row, c) rows_column(s->rows, (row), (c))
    int32_t set_x = ((int32_t *)COLUMN(x, 0)->values)[rows_at(x)], set_y = ((int32_t *)COLUMN(y, 0)->values)[rows_at(y)];
    if (set_x != set_y)
        return set_x < set_y ? -1 : 1;
    int64_t group_x = ((int64_t *)COLUMN(x, 1)->values)[rows_at(x)], group_y = ((int64_t *)COLUMN(y, 1)->values)[rows_at(y)];
    if (group_x != group_y)
        return group_x < group_y ? -1 : 1;
    const struct aggregate_item *item = s->call->item;
    uint16_t by = (uint16_t)(item->sort_count + (item->distinct ? item->arg_count : 0));
    for (uint16_t k = 0; k < by; k++) {
        struct sort_item plain = { .column = (uint16_t)(k - item->sort_count) };
        const struct sort_item *sort = k < item->sort_count ? &item->sort[k] : &plain;
        uint16_t c = (uint16_t)(sort->column + 2);
        bool null_x = vector_null(COLUMN(x, c), rows_at(x)), null_y = vector_null(COLUMN(y, c), rows_at(y));
        if (null_x || null_y) {
            if (null_x != null_y)
                return (null_x == sort->nulls_first) ? -1 : 1;
            continue;
        }
        int order = type_compare(s->types[c], COLUMN(x, c), rows_at(x), COLUMN(y, c), rows_at(y));
        if (order)
            return sort->descending ? -order : order;
    }
    return x < y ? -1 : x > y;
}

/* Hands the kept rows of a call to its states, in order. */
static enum status replay_sorted(struct aggregate_local *l, uint16_t a)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct call *c = &n->calls[a];
    struct call_local *cl = &l->call_locals[a];
    uint64_t count = cl->kept.count;
    uint16_t arg_count = c->item->arg_count;
    uint64_t *order = malloc((count + 1) * sizeof *order);
    if (!order)
        panic("out of memory");
    for (uint64_t i = 0; i < count; i++)
        order[i] = i;
    struct sorting s = { .rows = &cl->kept, .call = c, .types = cl->types };
    sorting_now = &s;
    qsort(order, count, sizeof *order, compare_kept);
    struct vector *args = arena_array(l->arena, struct vector, arg_count + 1u);
    for (uint32_t k = 0; k < arg_count; k++)
        vector_make(&args[k], l->arena, c->arg_types[k].width, BATCH_ROWS);
    enum status status = STATUS_OK;
    uint64_t previous = UINT64_MAX;
    for (uint64_t from = 0; from < count && !status;) {
        int32_t set = ((int32_t *)rows_column(&cl->kept, order[from], 0)->values)[rows_at(order[from])];
        int64_t group = ((int64_t *)rows_column(&cl->kept, order[from], 1)->values)[rows_at(order[from])];
        uint16_t m = 0;
        for (; from < count && m < BATCH_ROWS; from++) {
            uint64_t row = order[from];
            if (((int32_t *)rows_column(&cl->kept, row, 0)->values)[rows_at(row)] != set || ((int64_t *)rows_column(&cl->kept, row, 1)->values)[rows_at(row)] != group) {
                previous = UINT64_MAX;
                break;
            }
            bool same = c->item->distinct && previous != UINT64_MAX;
            for (uint32_t k = 0; k < arg_count && same; k++)
                same = same_value(c->arg_types[k], rows_column(&cl->kept, previous, (uint16_t)(k + 2)), rows_at(previous), rows_column(&cl->kept, row, (uint16_t)(k + 2)), rows_at(row));
            previous = row;
            if (same)
                continue;
            for (uint32_t k = 0; k < arg_count; k++)
                vector_copy_one(rows_column(&cl->kept, row, (uint16_t)(k + 2)), rows_at(row), &args[k], m);
            m++;
        }
        uint16_t error_at = NO_ROW;
        struct aggregate_call call = { .args = args, .arg_types = c->arg_types, .arg_count = arg_count, .count = m, .arena = l->arena, .data = c->item->data, .error_at = &error_at };
        if (m)
            status = c->aggregate->update_one(&call, l->tables[set].groups[group].states + c->offset);
    }
    free(order);
    return status;
}

/* ---- the end ---- */

static enum status aggregate_combine(struct exec_node *op, struct local *local)
{
    struct aggregate_node *n = (struct aggregate_node *)op;
    n->parts = arena_grow(op->again, n->parts, n->part_count * sizeof *n->parts, (n->part_count + 1) * sizeof *n->parts);
    n->parts[n->part_count++] = (struct aggregate_local *)local;
    return STATUS_OK;
}

static const struct sink_class aggregate_sink = { .name = "aggregate", .local_bytes = sizeof(struct aggregate_local), .local = aggregate_local_make, .take = aggregate_take,
                                                  .done = aggregate_done, .combine = aggregate_combine, .parallel = true };

int aggregate_compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->grain != y->grain)
        return x->grain < y->grain ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void aggregate_sort_groups(struct group_table *t)
{
    bool risen = true;
    for (uint32_t g = 1; g < t->group_count && risen; g++)
        risen = aggregate_compare_groups(&t->groups[g - 1], &t->groups[g]) <= 0;
    if (!risen)
        qsort(t->groups, t->group_count, sizeof *t->groups, aggregate_compare_groups);
}

/* Keys and results of groups [from, from + count) into the output columns. */
enum status aggregate_results(struct aggregate_node *n, struct group *groups, uint16_t count, struct vector *columns, struct arena *arena)
{
    const struct plan *plan = n->op.plan;
    for (uint16_t c = 0; c < plan->group_count; c++)
        for (uint16_t k = 0; k < count; k++)
            vector_copy_one(rows_column(groups[k].rows, groups[k].row, c), rows_at(groups[k].row), &columns[c], k);
    uint8_t *none = arena_zero(arena, n->folder.bytes + 16);
    if (n->folder.count)
        for (uint16_t k = 0; k < count; k++) {
            enum status status = fold_all(n, part_of(n, groups[k].states), arena);
            if (status)
                return status;
        }
    for (uint16_t a = 0; a < n->call_count; a++) {
        struct call *c = &n->calls[a];
        struct vector *out = &columns[plan->group_count + a];
        for (uint16_t k = 0; k < count; k++) {
            struct value value = {0};
            const uint8_t *state = groups[k].states + c->offset;
            if (c->ordered) {
                struct fold *top = part_of(n, groups[k].states)->stack;
                state = (top ? top->states : none) + c->offset;
            }
            enum status status = c->aggregate->finish(state, c->item->type, arena, &value);
            if (status)
                return status;
            out->nulls[k] = value.null;
            if (value.null)
                memset((uint8_t *)out->values + k * width_bytes(out->width), 0, width_bytes(out->width));
            else
                value_put(c->item->type, &value, out, k);
        }
    }
    return STATUS_OK;
}

/* Many groups are brought together by partition, in the workers; then the partitions' groups are merged in order of first appearance. */
#ifndef JOIN_BY_PARTITION
#define JOIN_BY_PARTITION 20000
#endif
struct joining { struct aggregate_node *node; uint16_t set, workers; struct group_table *tables; };

static enum status join_partitions(void *context, uint16_t number, struct worker *worker)
{
    struct joining *j = context;
    struct aggregate_node *n = j->node;
    enum status status = STATUS_OK;
    for (uint32_t p = number; p < SPILL_PARTITIONS && !status; p += j->workers) {
        struct group_table *t = &j->tables[p];
        row_table_open(&t->rows, worker->arena, n->key_types, n->op.plan->group_count);
        for (uint32_t w = 0; w < n->part_count && !status; w++)
            status = aggregate_join(n, worker->arena, t, &n->parts[w]->tables[j->set], p, SPILL_PARTITIONS);
        if (!status)
            status = run_check(worker);
        aggregate_sort_groups(t);
    }
    return status;
}

void aggregate_merge(struct group_tables *from, struct arena *arena, struct group_table *out)
{
    uint32_t *at = arena_array(arena, uint32_t, from->count + 1);
    uint64_t total = 0;
    for (uint32_t p = 0; p < from->count; p++)
        total += from->tables[p].group_count;
    out->groups = arena_alloc(arena, (total + 1) * sizeof *out->groups);
    out->group_count = 0;
    while (out->group_count < total) {
        const struct group *least = NULL;
        uint32_t of = 0;
        for (uint32_t p = 0; p < from->count; p++) {
            const struct group *g = at[p] < from->tables[p].group_count ? &from->tables[p].groups[at[p]] : NULL;
            if (g && (!least || aggregate_compare_groups(g, least) < 0)) {
                least = g;
                of = p;
            }
        }
        at[of]++;
        out->groups[out->group_count++] = *least;
    }
}

static enum status join_tables(struct aggregate_node *n, uint16_t set, struct group_table *out)
{
    struct arena *arena = n->op.again;
    uint64_t total = 0;
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < n->part_count; p++)
        total += n->parts[p]->tables[set].group_count;
    if (total < JOIN_BY_PARTITION || !workers_available()) {
        row_table_open(&out->rows, arena, n->key_types, n->op.plan->group_count);
        for (uint32_t p = 0; p < n->part_count && !status; p++)
            status = aggregate_join(n, arena, out, &n->parts[p]->tables[set], 0, 1);
        aggregate_sort_groups(out);
        return status;
    }
    struct joining j = { .node = n, .set = set, .workers = (uint16_t)(n->part_count < SPILL_PARTITIONS ? n->part_count : SPILL_PARTITIONS),
                         .tables = arena_array(arena, struct group_table, SPILL_PARTITIONS) };
    status = workers_each(n->op.run, j.workers, join_partitions, &j);
    if (status)
        return status;
    struct group_tables tables = { j.tables, SPILL_PARTITIONS };
    aggregate_merge(&tables, arena, out);
    return STATUS_OK;
}

enum status aggregate_emit(struct local *local, struct group_table *t, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct plan *plan = local->op->plan;
    uint16_t column_count = (uint16_t)(plan->group_count + n->call_count);
    struct vector *columns = arena_array(local->op->again, struct vector, column_count + 1u);
    struct arena *arena = arena_open(local->op->again, "groups");
    uint32_t room = t->group_count < BATCH_ROWS ? t->group_count : BATCH_ROWS;
    for (uint16_t c = 0; c < column_count; c++)
        vector_make(&columns[c], local->op->again, plan->types[c].width, room);
    enum status status = STATUS_OK;
    for (uint32_t from = 0; from < t->group_count && !status; from += BATCH_ROWS) {
        uint16_t count = (uint16_t)(t->group_count - from < BATCH_ROWS ? t->group_count - from : BATCH_ROWS);
        arena_reset(arena);
        status = aggregate_results(n, t->groups + from, count, columns, arena);
        struct batch batch = { .columns = columns, .column_count = column_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = (*batches)++ / GRAIN_BATCHES };
        if (!status)
            status = run_check(local->worker);
        if (!status)
            status = local_push(local, &batch);
        if (!status)
            status = run_deliver(local->worker->run);
    }
    arena_close(arena);
    return status;
}

/* What the sinks have gathered, finalized set by set and pushed on. */
static enum status finalize(struct local *local, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct exec_node *op = local->op;
    const struct plan *plan = op->plan;
    struct arena *arena = op->again;
    enum status status = STATUS_OK;
    struct aggregate_local *first = n->parts[0];
    for (uint16_t a = 0; a < n->call_count && !status; a++)
        if (n->calls[a].sorted)
            status = replay_sorted(first, a);
    if (op->counters) {
        op->counters->memory_bytes = 0;
        for (uint32_t p = 0; p < n->part_count; p++)
            op->counters->memory_bytes += arena_bytes(n->parts[p]->arena);
    }
    for (uint16_t s = 0; s < n->set_count && !status; s++) {
        bool spilled = false;
        for (uint32_t p = 0; p < n->part_count; p++)
            spilled |= n->parts[p]->tables[s].spilling;
        if (spilled) {
            status = aggregate_spill_finish(local, s, batches);
            continue;
        }
        struct group_table *t = &first->tables[s];
        if (n->part_count > 1) {
            t = arena_new(arena, struct group_table);
            status = join_tables(n, s, t);
        }
        /* without GROUP BY (or for the empty grouping set) there is always one group */
        bool empty_set = plan->group_count == 0 || (plan->set_count && plan->sets_offsets[s] == plan->sets_offsets[s + 1]);
        if (t->group_count == 0 && empty_set && !status) {
            struct vector *nulls = arena_array(arena, struct vector, plan->group_count + 1u);
            for (uint16_t g = 0; g < plan->group_count; g++) {
                vector_make(&nulls[g], arena, n->key_types[g].width, 1);
                memset(nulls[g].values, 0, width_bytes(n->key_types[g].width));
                nulls[g].nulls[0] = 1;
            }
            struct batch one = batch_empty(1);
            one.columns = nulls;
            struct rows *rows = arena_new(arena, struct rows);
            rows_open(rows, arena, n->key_types, plan->group_count);
            rows_append(rows, &one);
            t->groups = arena_new(arena, struct group);
            t->groups[0] = (struct group){ .states = arena_zero(arena, n->group_bytes), .rows = rows };
            t->group_count = 1;
        }
        if (!status)
            status = aggregate_emit(local, t, batches);
    }
    return status;
}

/* ---- crab.agg: the two ways. Grains and the tree that combines them are the same, so the bytes are. ---- */

/* Rows are gathered in order by one, and then aggregated. */
static enum status aggregate_collected(struct local *local, uint64_t *batches)
{
    enum status status = pipeline_run_serial(local->op->left, local->op, &aggregate_sink);
    return status ? status : finalize(local, batches);
}

/* Each worker aggregates its own, or deals its rows out by group; then the parts are combined. */
static enum status aggregate_partial(struct local *local, uint64_t *batches)
{
    struct exec_node *op = local->op;
    struct aggregate_node *n = (struct aggregate_node *)op;
    if (n->deals) {
        uint16_t workers = pipeline_workers(op->left);
        if (workers > 1 || op->plan->group_estimate >= DEAL_GROUPS) {
            enum status status = aggregate_deal(local, workers, batches);
            if (!status || *batches || status_sqlstate(status)[0] != '2')
                return status;
            error_clear();               /* a row failed, but maybe not the first that fails: in row order once more */
        }
    }
    if (n->serial)                       /* what takes its rows in order, one after the other */
        return aggregate_collected(local, batches);
    enum status status = pipeline_run(op->left, op, &aggregate_sink);
    return status ? status : finalize(local, batches);
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
