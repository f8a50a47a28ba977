/* engine/exec/aggregate_finish.c - the end of an aggregate: the workers' tables become one, groups come in the order of their first rows, and go out.
 *
 * One table needs nothing of that: its numbers rise with the first rows. Of several, a group that is in more than one takes the
 * earliest first row (the key shown is that row's), exact states are combined, and the runs of ordered states are put in order of their
 * grains. A few tables are looked through as they are (aggregate_few.c). Many groups of more tables are brought together by partition of the key's hash, in the
 * workers, and the partitions are merged. Results: aggregate_emit.c. */
#include <stdlib.h>
#include "engine/exec/aggregate_private.h"

#ifndef JOIN_BY_PARTITION
#define JOIN_BY_PARTITION 20000
#endif

/* ---- bringing tables together ---- */

void group_list_open(struct group_list *list, struct aggregate_node *n, struct arena *arena)
{
    *list = (struct group_list){0};
    row_table_open(&list->rows, arena, n->key_types, n->op.plan->group_count);
}

static struct group *list_add(struct group_list *list, struct arena *arena)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
        list->groups = arena_grow(arena, list->groups, list->capacity * sizeof *list->groups, capacity * sizeof *list->groups);
        list->capacity = capacity;
    }
    return &list->groups[list->count++];
}

void aggregate_groups_of(struct aggregate_node *n, struct group_table *t, uint32_t from, uint32_t count, struct group *out)
{
    for (uint32_t k = 0; k < count; k++)
        out[k] = (struct group){ .states = t->states + (size_t)(from + k) * n->exact_bytes, .stack = n->folder.count ? t->stacks[from + k] : NULL, .place = t->places[from + k],
                                 .rows = &t->rows.keys, .row = from + k };
}

/* Group `from` joins. Its runs of ordered states are put on the list, in any order. */
enum status aggregate_group_join(struct aggregate_node *n, struct arena *arena, struct group *into, const struct group *from)
{
    for (uint16_t a = 0; a < n->call_count; a++) {
        struct call *c = &n->calls[a];
        if (c->ordered || c->shared)
            continue;
        enum status status = c->aggregate->combine(into->states + c->offset, from->states + c->offset, arena);
        if (status)
            return status;
    }
    struct fold *last = from->stack;
    while (last && last->below)
        last = last->below;
    if (last) {
        last->below = into->stack;
        into->stack = from->stack;
    }
    if (from->place < into->place) {
        into->place = from->place;
        into->rows = from->rows;
        into->row = from->row;
    }
    return STATUS_OK;
}

enum status aggregate_join(struct aggregate_node *n, struct arena *arena, struct group_list *list, struct group_table *t, const uint32_t *numbers, uint32_t count, uint32_t *map)
{
    enum status status = STATUS_OK;
    for (uint32_t from = 0; from < count && !status;) {
        struct batch keys;
        row_pos rows[ROWS_CHUNK];
        uint32_t entries[ROWS_CHUNK], first = numbers ? numbers[from] : from, chunk = first / ROWS_CHUNK;
        uint16_t some = 0;
        for (; from < count && (numbers ? numbers[from] : from) / ROWS_CHUNK == chunk; from++)
            rows[some++] = rows_at(numbers ? numbers[from] : from);
        rows_chunk(&t->rows.keys, chunk, &keys);
        row_table_add(&list->rows, &keys, rows, some, NULL, entries);
        for (uint16_t k = 0; k < some && !status; k++) {
            struct group group;
            uint32_t number = chunk * ROWS_CHUNK + rows[k];
            aggregate_groups_of(n, t, number, 1, &group);
            if (entries[k] == list->count)
                *list_add(list, arena) = group;
            else
                status = aggregate_group_join(n, arena, &list->groups[entries[k]], &group);
            if (map)
                map[number] = entries[k];
        }
    }
    return status;
}

void aggregate_split(struct aggregate_node *n, struct group_table *t, const uint32_t *numbers, uint32_t count, uint8_t level, struct arena *arena, struct split *out)
{
    uint8_t *partitions = arena_alloc(arena, count + 1);
    uint32_t next[SPILL_PARTITIONS];
    *out = (struct split){ .numbers = arena_alloc(arena, (count + 1) * sizeof(uint32_t)) };
    for (uint32_t from = 0; from < count;) {
        struct batch keys;
        uint64_t hashes[ROWS_CHUNK];
        row_pos rows[ROWS_CHUNK];
        uint32_t chunk = (numbers ? numbers[from] : from) / ROWS_CHUNK, first = from;
        uint16_t some = 0;
        for (; from < count && (numbers ? numbers[from] : from) / ROWS_CHUNK == chunk; from++)
            rows[some++] = rows_at(numbers ? numbers[from] : from);
        rows_chunk(&t->rows.keys, chunk, &keys);
        hash_columns(n->key_types, keys.columns, keys.column_count, rows, some, hashes);
        for (uint16_t k = 0; k < some; k++) {
            partitions[first + k] = (uint8_t)spill_partition(hashes[k], level);
            out->starts[partitions[first + k] + 1]++;
        }
    }
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++) {
        next[p] = out->starts[p];
        out->starts[p + 1] += out->starts[p];
    }
    for (uint32_t g = 0; g < count; g++)
        out->numbers[next[partitions[g]]++] = numbers ? numbers[g] : g;
}

struct ranked { uint64_t index; uint32_t order; struct group_table *table; };
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

struct group_table **aggregate_tables(struct aggregate_node *n, uint16_t set, struct aggregate_local *const *parts, uint32_t part_count, struct arena *arena, uint32_t *count)
{
    uint32_t total = 0;
    for (uint32_t p = 0; p < part_count; p++)
        for (struct segment *s = parts[p]->segment; s; s = s->before)
            total++;
    struct ranked *ranked = arena_array(arena, struct ranked, total + 1);
    struct group_table **tables = arena_array(arena, struct group_table *, total + 1);
    *count = 0;
    for (uint32_t p = 0; p < part_count; p++)
        for (struct segment *s = parts[p]->segment; s; s = s->before) {
            ranked[*count] = (struct ranked){ n->segmented ? s->index : 0, *count, &s->tables[set] };
            ++*count;
        }
    qsort(ranked, total, sizeof *ranked, compare_ranked);
    for (uint32_t t = 0; t < total; t++)
        tables[t] = ranked[t].table;
    return tables;
}

struct joining { struct aggregate_node *node; struct group_table **tables; uint32_t table_count; uint16_t workers; struct split *splits; struct group_list *lists; };

static enum status split_tables(void *context, uint16_t number, struct worker *worker)
{
    struct joining *j = context;
    for (uint32_t t = number; t < j->table_count; t += j->workers)
        aggregate_split(j->node, j->tables[t], NULL, j->tables[t]->count, 0, worker->arena, &j->splits[t]);
    return run_check(worker);
}

static enum status join_partitions(void *context, uint16_t number, struct worker *worker)
{
    struct joining *j = context;
    struct aggregate_node *n = j->node;
    enum status status = STATUS_OK;
    for (uint32_t p = number; p < SPILL_PARTITIONS && !status; p += j->workers) {
        group_list_open(&j->lists[p], n, worker->arena);
        for (uint32_t t = 0; t < j->table_count && !status; t++) {
            const struct split *split = &j->splits[t];
            status = aggregate_join(n, worker->arena, &j->lists[p], j->tables[t], split->numbers + split->starts[p], split->starts[p + 1] - split->starts[p], NULL);
        }
        if (!status)
            status = run_check(worker);
        aggregate_sort_groups(&j->lists[p]);
    }
    return status;
}

static enum status join_by_partition(struct aggregate_node *n, struct group_table **tables, uint32_t table_count, struct group_list *out)
{
    struct joining j = { .node = n, .tables = tables, .table_count = table_count, .workers = (uint16_t)(n->part_count < SPILL_PARTITIONS ? n->part_count : SPILL_PARTITIONS),
                         .splits = arena_array(n->op.again, struct split, table_count), .lists = arena_array(n->op.again, struct group_list, SPILL_PARTITIONS) };
    enum status status = workers_each(n->op.run, j.workers, split_tables, &j);
    if (!status)
        status = workers_each(n->op.run, j.workers, join_partitions, &j);
    return status ? status : aggregate_merge(n, j.workers, j.lists, SPILL_PARTITIONS, n->op.again, out);
}

/* All groups into one list; then what hangs on all of a group's rows: its distinct values. */
static enum status join_tables(struct aggregate_node *n, uint16_t set, struct group_list *out)
{
    struct arena *arena = n->op.again;
    uint32_t **maps = arena_array(arena, uint32_t *, n->part_count + 1);
    uint64_t total = 0;
    uint32_t count;
    struct group_table **tables = aggregate_tables(n, set, n->parts, n->part_count, arena, &count);
    enum status status = STATUS_OK;
    for (uint32_t t = 0; t < count; t++)
        total += tables[t]->count;
    if (n->part_count > 1 && count <= FEW_TABLES && !n->has_distinct && n->op.plan->group_count)
        return aggregate_few(n, tables, count, out);
    if (total >= JOIN_BY_PARTITION && n->part_count > 1 && !n->has_distinct)
        return join_by_partition(n, tables, count, out);
    group_list_open(out, n, arena);
    for (uint32_t t = 0; t < count && !status; t++) {
        if (n->has_distinct)             /* not segmented: a part has one table */
            maps[t] = arena_array(arena, uint32_t, tables[t]->count + 1);
        status = aggregate_join(n, arena, out, tables[t], NULL, tables[t]->count, n->has_distinct ? maps[t] : NULL);
    }
    for (uint16_t a = 0; a < n->call_count && !status; a++)
        if (n->calls[a].distinct)
            status = distinct_unite(n, a, set, out, maps);
    aggregate_sort_groups(out);
    return status;
}

/* ---- order ---- */

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

void aggregate_sort_groups(struct group_list *list)
{
    bool risen = true;
    for (uint32_t g = 1; g < list->count && risen; g++)
        risen = list->groups[g - 1].place <= list->groups[g].place;
    if (!risen)
        qsort(list->groups, list->count, sizeof *list->groups, compare_groups);
}

/* A heap of lists, the one whose next group comes first on top. */
struct merging { const struct group *next, *end; };
static void sift(struct merging *heap, uint32_t count, uint32_t at)
{
    struct merging m = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].next->place < heap[child].next->place)
            child++;
        if (m.next->place <= heap[child].next->place)
            break;
        heap[at] = heap[child];
    }
    heap[at] = m;
}

/* Each worker merges the groups of a range of places. Where ranges begin: at quantiles of the longest list, and by binary search in the others. */
struct ranges { const struct group_list *lists; uint32_t count; uint32_t *bounds; struct group_list *out; };    /* bounds: by range and list */

static uint32_t groups_before(const struct group_list *list, uint64_t place)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->groups[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status merge_range(void *context, uint16_t number, struct worker *worker)
{
    const struct ranges *r = context;
    const uint32_t *from = r->bounds + number * r->count, *to = from + r->count;
    struct merging heap[r->count];
    uint32_t n = 0, at = 0;
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < r->count; p++) {
        at += from[p];
        if (from[p] < to[p])
            heap[n++] = (struct merging){ r->lists[p].groups + from[p], r->lists[p].groups + to[p] };
    }
    for (uint32_t i = n / 2; i-- > 0;)
        sift(heap, n, i);
    while (n && !status) {
        r->out->groups[at++] = *heap->next++;
        if (heap->next == heap->end)
            heap[0] = heap[--n];
        if (n)
            sift(heap, n, 0);
        if (at % 4096 == 0)
            status = run_check(worker);
    }
    return status;
}

enum status aggregate_merge(struct aggregate_node *n, uint16_t workers, const struct group_list *lists, uint32_t count, struct arena *arena, struct group_list *out)
{
    uint64_t total = 0;
    uint32_t longest = 0;
    for (uint32_t p = 0; p < count; p++) {
        total += lists[p].count;
        longest = lists[p].count > lists[longest].count ? p : longest;
    }
    if (total < FEW_TOGETHER)
        workers = 1;
    struct ranges r = { .lists = lists, .count = count, .out = out, .bounds = arena_array(arena, uint32_t, (workers + 1u) * count) };
    *out = (struct group_list){ .groups = arena_alloc(arena, (total + 1) * sizeof *out->groups), .count = (uint32_t)total };
    for (uint32_t p = 0; p < count; p++) {
        r.bounds[p] = 0;
        r.bounds[workers * count + p] = lists[p].count;
        for (uint16_t w = 1; w < workers; w++)
            r.bounds[w * count + p] = groups_before(&lists[p], lists[longest].groups[(uint64_t)lists[longest].count * w / workers].place);
    }
    return workers > 1 ? workers_each(n->op.run, workers, merge_range, &r) : merge_range(&r, 0, &n->op.run->leader);
}

/* ---- the end ---- */

/* Without GROUP BY (or for the empty grouping set) there is always one group. */
static void group_of_nothing(struct aggregate_node *n, struct arena *arena, struct group_list *list)
{
    uint16_t group_count = n->op.plan->group_count;
    struct vector *nulls = arena_array(arena, struct vector, group_count + 1u);
    for (uint16_t g = 0; g < group_count; g++) {
        vector_make(&nulls[g], arena, n->key_types[g].width, 1);
        memset(nulls[g].values, 0, width_bytes(n->key_types[g].width));
        nulls[g].nulls[0] = 1;
    }
    struct batch one = batch_empty(1);
    one.columns = nulls;
    struct rows *rows = arena_new(arena, struct rows);
    rows_open(rows, arena, n->key_types, group_count);
    rows_append(rows, &one);
    *list_add(list, arena) = (struct group){ .states = arena_zero(arena, n->exact_bytes + 16), .rows = rows };
}

static enum status finalize_set(struct local *local, uint16_t set, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct group_list list = {0};
    bool spilled = false, empty_set = plan->group_count == 0 || (plan->set_count && plan->sets_offsets[set] == plan->sets_offsets[set + 1]);
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < n->part_count; p++)
        spilled |= n->parts[p]->spilled[set] != NULL;
    if (spilled)
        return aggregate_spill_finish(local, set, batches);
    if (n->part_count > 1 || n->parts[0]->segment->before || (n->has_distinct && !n->parts[0]->alone))
        status = join_tables(n, set, &list);
    else if (n->parts[0]->tables[set].count)
        return aggregate_emit_table(local, &n->parts[0]->tables[set], batches);
    if (!status && list.count == 0 && empty_set)
        group_of_nothing(n, local->op->again, &list);
    return status ? status : aggregate_emit(local, &list, batches);
}

/* What the sinks have gathered, finalized set by set and pushed on. */
enum status aggregate_finalize(struct local *local, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    struct node_counters *counters = local->op->counters;
    enum status status = STATUS_OK;
    if (counters) {
        counters->memory_bytes = 0;
        for (uint32_t p = 0; p < n->part_count; p++)
            counters->memory_bytes += arena_bytes(n->parts[p]->arena);
    }
    for (uint16_t s = 0; s < n->set_count && !status; s++)
        status = finalize_set(local, s, batches);
    return status;
}
