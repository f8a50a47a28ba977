/* engine/exec/aggregate_few.c - the groups of a few workers' tables become one list.
 *
 * The tables stay as they are; nothing is hashed again.
 *
 *     1. table after table, each of its groups is looked up in the tables before it. One that is there, too, goes on in the table that has its first
 *        row, where the other's states are combined into it, and is *gone* from the other: so each group is left in one of
 *        the tables so far. By chunks: workers share no group, since different groups of a table have different partners
 *     2. what is left of each table is in the order of first rows already: they are merged by it. Each worker merges from a place of its own on, which
 *        a number of the largest table and binary searches in the others give
 *
 * Looking up costs as many look-ups a group as there are tables before: of more than FEW_TABLES they are brought together by
 * partition (aggregate_finish.c). */
#include "engine/exec/aggregate_private.h"

struct few {
    struct aggregate_node *node;
    struct group_table **tables; uint32_t table_count, at;     /* at: the one whose groups are looked up */
    uint8_t **gone;                      /* by table and number */
    uint16_t workers;
    struct merge_part { uint32_t from[FEW_TABLES], to[FEW_TABLES], out; } *parts;     /* by worker */
    struct group_list *list;
};

static enum status few_join(struct few *f, struct arena *arena, uint32_t table, uint32_t number, uint32_t own)
{
    struct aggregate_node *n = f->node;
    const uint32_t where[2] = { table, f->at }, numbers[2] = { number, own };
    struct group both[2];
    for (int i = 0; i < 2; i++)
        aggregate_groups_of(n, f->tables[where[i]], numbers[i], 1, &both[i]);
    int stays = both[1].place < both[0].place;
    enum status status = aggregate_group_join(n, arena, &both[stays], &both[!stays]);
    if (n->folder.count)
        f->tables[where[stays]]->stacks[numbers[stays]] = both[stays].stack;
    f->gone[where[!stays]][numbers[!stays]] = 1;
    return status;
}

static enum status few_chunk(struct few *f, struct arena *arena, uint32_t chunk)
{
    struct batch batch;
    uint32_t entries[ROWS_CHUNK];
    enum status status = STATUS_OK;
    rows_chunk(&f->tables[f->at]->rows.keys, chunk, &batch);
    for (uint32_t t = 0; t < f->at && !status; t++) {
        if (f->tables[t]->count == 0)
            continue;
        row_table_find(&f->tables[t]->rows, &batch, NULL, batch.row_count, NULL, entries);
        for (uint16_t k = 0; k < batch.row_count && !status; k++)
            if (entries[k] != ROW_TABLE_NONE && !f->gone[t][entries[k]] && !f->gone[f->at][chunk * ROWS_CHUNK + k])
                status = few_join(f, arena, t, entries[k], chunk * ROWS_CHUNK + k);
    }
    return status;
}

static enum status few_chunks(void *context, uint16_t number, struct worker *worker)
{
    struct few *f = context;
    uint64_t chunks = f->tables[f->at]->rows.keys.chunk_count, end = chunks * (number + 1u) / f->workers;
    enum status status = STATUS_OK;
    for (uint64_t c = chunks * number / f->workers; c < end && !status; c++) {
        status = few_chunk(f, worker->arena, (uint32_t)c);
        if (!status)
            status = run_check(worker);
    }
    return status;
}

static uint32_t left_of(const uint8_t *gone, uint32_t from, uint32_t to)
{
    uint32_t left = 0;
    for (uint32_t i = from; i < to; i++)
        left += !gone[i];
    return left;
}

/* The first number whose place isn't before that one. */
static uint32_t place_find(const struct group_table *t, uint64_t place)
{
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge_parts_make(struct few *f, struct arena *arena)
{
    struct group_table *largest = f->tables[0];
    uint32_t total = 0;
    f->parts = arena_array(arena, struct merge_part, f->workers);
    for (uint32_t t = 1; t < f->table_count; t++)
        if (f->tables[t]->count > largest->count)
            largest = f->tables[t];
    for (uint16_t w = 0; w < f->workers; w++) {
        struct merge_part *part = &f->parts[w];
        bool last = w + 1u == f->workers;
        uint64_t place = last || largest->count == 0 ? UINT64_MAX : largest->places[(uint64_t)largest->count * (w + 1u) / f->workers];
        part->out = total;
        for (uint32_t t = 0; t < f->table_count; t++) {
            part->from[t] = w ? part[-1].to[t] : 0;
            part->to[t] = last ? f->tables[t]->count : place_find(f->tables[t], place);
            total += left_of(f->gone[t], part->from[t], part->to[t]);
        }
    }
    *f->list = (struct group_list){ .groups = arena_alloc(arena, (total + 1) * sizeof *f->list->groups), .count = total };
}

static enum status few_merge(void *context, uint16_t number, struct worker *worker)
{
    struct few *f = context;
    const struct merge_part *part = &f->parts[number];
    struct group *out = f->list->groups + part->out;
    uint32_t at[FEW_TABLES];
    memcpy(at, part->from, sizeof at);
    for (;;) {
        uint32_t first = FEW_TABLES;
        for (uint32_t t = 0; t < f->table_count; t++) {
            while (at[t] < part->to[t] && f->gone[t][at[t]])
                at[t]++;
            if (at[t] < part->to[t] && (first == FEW_TABLES || f->tables[t]->places[at[t]] < f->tables[first]->places[at[first]]))
                first = t;
        }
        if (first == FEW_TABLES)
            return run_check(worker);
        aggregate_groups_of(f->node, f->tables[first], at[first]++, 1, out++);
    }
}

enum status aggregate_few(struct aggregate_node *n, struct group_table **tables, uint32_t table_count, struct group_list *out)
{
    struct arena *arena = n->op.again;
    int most = n->op.run->settings->max_parallel_workers_per_gather;
    struct few f = { .node = n, .tables = tables, .table_count = table_count, .gone = arena_array(arena, uint8_t *, table_count), .list = out };
    uint64_t total = 0;
    for (uint32_t t = 0; t < table_count; t++) {
        f.gone[t] = arena_zero(arena, tables[t]->count + 1u);
        total += tables[t]->count;
    }
    f.workers = (uint16_t)(total < FEW_TOGETHER || most < 2 ? 1 : (uint32_t)most < n->part_count ? (uint32_t)most : n->part_count);
    enum status status = STATUS_OK;
    for (f.at = 1; f.at < table_count && !status; f.at++)
        status = tables[f.at]->count ? workers_each(n->op.run, f.workers, few_chunks, &f) : STATUS_OK;
    if (status)
        return status;
    merge_parts_make(&f, arena);
    return workers_each(n->op.run, f.workers, few_merge, &f);
}
