/* engine/exec/sort.c - ORDER BY.
 *
 * Rows are kept as they come, by column; for each a *word* of 128 bits holds the beginning of its sort key and its number (sort_key.h).
 * Words are what is sorted, by radix, each worker its own; rows are gathered once, when they go on, and those that an OFFSET
 * throws away never are.
 *
 *     take:    rows_append, sort_key_words                     in the workers
 *     done:    sort_words; then, where words are equal but don't hold whole keys: the next bytes of the text, or the rows
 *     emit:    the workers' parts are merged (sort_merge.c)
 *
 * 1. Equal keys stay in the order (grain, row) of the input: the row's number is the lowest part of its word, and between
 *    parts grains decide, of which each belongs to one worker.
 * 2. When rows and words outgrow work_mem they are written out in order, as a run; runs and what is in memory are merged
 *    at the end. Where that is foreseen, rows are kept in segments of a quarter of work_mem, and the oldest one is written when all are full:
 *    so what goes to disk is little more than what there is no room for. Where runs and segments begin shows in no answer. */
#include <stdlib.h>
#include "engine/exec/sort.h"

#define SEGMENTS 4
#define SEGMENTS_FROM (4u << 20)         /* bytes of work_mem; below, runs would be short */

struct sort_local {
    struct local local;
    struct sort_part *segments[SEGMENTS]; uint16_t segment_count, segments_most;      /* in memory, the last one is being filled */
    uint64_t segment_bytes;
    struct sort_part spilled;            /* only its file and runs: earlier segments */
    struct text_buffer scratch;
};

void sort_node_make(struct sort_node *n, struct arena *arena)
{
    const struct plan *plan = n->op.plan;
    uint16_t count = plan->left->column_count;
    n->spill_types = arena_array(arena, struct sql_type, count + SPILLED_COLUMNS);
    memcpy(n->spill_types, plan->left->types, count * sizeof *n->spill_types);
    for (uint16_t k = 0; k < SPILLED_COLUMNS; k++)
        n->spill_types[count + k] = type_make(OID_INT8, -1);
    struct sort_column *columns = arena_array(arena, struct sort_column, plan->sort_count + 1u);
    for (uint16_t k = 0; k < plan->sort_count; k++) {
        const struct sort_item *item = &plan->sort[k];
        columns[k] = (struct sort_column){ .type = plan->left->types[item->column], .column = item->column,
                                           .flags = (item->descending ? KEY_DESC : 0u) | (item->nulls_first ? KEY_NULLS_FIRST : 0u) };
    }
    sort_key_open(&n->key, columns, plan->sort_count);
    n->keep = UINT64_MAX;
}

enum status sort_node_open(struct exec_node *op)
{
    sort_node_make((struct sort_node *)op, op->run->arena);
    return STATUS_OK;
}

/* ---- parts ---- */

void sort_part_open(struct sort_part *part, const struct exec_node *op)
{
    struct arena *arena = part->arena;
    *part = (struct sort_part){ .arena = arena, .file = part->file, .runs = part->runs, .run_count = part->run_count };
    rows_open(&part->rows, arena, op->plan->left->types, op->plan->left->column_count);
}

sort_word *sort_part_room(struct sort_part *part, uint64_t grain, uint16_t count)
{
    if (!part->start_count || part->starts[part->start_count - 1].grain != grain) {
        if (part->start_count == part->start_capacity) {
            uint32_t capacity = part->start_capacity ? part->start_capacity * 2 : 16;
            part->starts = arena_grow(part->arena, part->starts, part->start_capacity * sizeof *part->starts, capacity * sizeof *part->starts);
            part->start_capacity = capacity;
        }
        part->starts[part->start_count++] = (struct grain_start){ .grain = grain, .row = (uint32_t)part->rows.count };
    }
    if (part->count + count > part->capacity) {
        uint32_t capacity = part->capacity ? part->capacity * 2 : 64;
        while (capacity < part->count + count)
            capacity *= 2;
        part->words = arena_grow(part->arena, part->words, part->capacity * sizeof *part->words, capacity * sizeof *part->words);
        part->capacity = capacity;
    }
    return part->words + part->count;
}

uint64_t sort_part_grain(const struct sort_part *part, uint32_t row)
{
    uint32_t chunk = row / ROWS_CHUNK, low = part->chunk_starts[chunk], high = chunk + 1 < part->rows.chunk_count ? part->chunk_starts[chunk + 1] + 1 : part->start_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (part->starts[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return part->starts[low].grain;
}

void sort_part_columns(struct sort_part *part)
{
    const struct rows *rows = &part->rows;
    part->chunk_starts = arena_array(part->arena, uint32_t, rows->chunk_count + 1u);
    for (uint32_t k = 0, start = 0; k < rows->chunk_count; k++) {
        while (start + 1 < part->start_count && part->starts[start + 1].row <= k * ROWS_CHUNK)
            start++;
        part->chunk_starts[k] = start;
    }
    part->columns = arena_array(part->arena, struct part_column, rows->column_count + 1u);
    for (uint16_t c = 0; c < rows->column_count; c++) {
        struct part_column *column = &part->columns[c];
        column->values = arena_array(part->arena, const void *, rows->chunk_count + 1u);
        column->nulls = arena_array(part->arena, uint8_t *, rows->chunk_count + 1u);
        for (uint32_t k = 0; k < rows->chunk_count; k++) {
            column->values[k] = rows->chunks[k].columns[c].values;
            column->nulls[k] = rows->chunks[k].columns[c].nulls;
            column->any_null |= column->nulls[k] != NULL;
        }
    }
}

/* ---- order ---- */

static const struct vector *row_columns(const struct sort_part *part, uint32_t row) { return part->rows.chunks[row / ROWS_CHUNK].columns; }

#define ASKS_FROM 1024                   /* rows whose comparison looks for a cancel */

/* Merge sort by the rows themselves: stable, so of equal ones the earlier comes first. */
static enum status sort_by_rows(const struct sort_part *part, const struct sort_layout *key, uint16_t from, sort_word *words, sort_word *space, uint32_t count, const struct sort_check *check)
{
    if (count <= 8) {
        for (uint32_t i = 1; i < count; i++) {
            sort_word word = words[i];
            uint32_t k = i, row = SORT_ROW(word);
            for (; k > 0; k--) {
                uint32_t other = SORT_ROW(words[k - 1]);
                if (sort_key_compare(key, from, row_columns(part, other), rows_at(other), row_columns(part, row), rows_at(row)) <= 0)
                    break;
                words[k] = words[k - 1];
            }
            words[k] = word;
        }
        return STATUS_OK;
    }
    uint32_t half = count / 2;
    enum status status = count >= ASKS_FROM ? sort_ask(check) : STATUS_OK;
    if (!status)
        status = sort_by_rows(part, key, from, words, space, half, check);
    if (!status)
        status = sort_by_rows(part, key, from, words + half, space, count - half, check);
    if (status)
        return status;
    memcpy(space, words, half * sizeof *words);
    for (uint32_t i = 0, j = half, k = 0; i < half; k++) {
        if (j < count) {
            uint32_t a = SORT_ROW(space[i]), b = SORT_ROW(words[j]);
            if (sort_key_compare(key, from, row_columns(part, b), rows_at(b), row_columns(part, a), rows_at(a)) < 0) {
                words[k] = words[j++];
                continue;
            }
        }
        words[k] = space[i++];
    }
    return STATUS_OK;
}

#define TEXT_ROUNDS 8                    /* beyond so many pieces of 12 bytes texts are compared */
#define FEW_EQUAL 8

static enum status sort_equal(const struct sort_part *, const struct sort_layout *, sort_word *words, sort_word *space, uint32_t count, unsigned round, const struct sort_check *);

/* Runs of words that agree in their 96 bits, which the key isn't all of. */
static enum status sort_equals(const struct sort_part *part, const struct sort_layout *key, sort_word *words, sort_word *space, uint32_t count, unsigned round, const struct sort_check *check)
{
    enum status status = STATUS_OK;
    for (uint32_t from = 0, to, looked = 0; from < count && !status; from = to) {
        for (to = from + 1; to < count && SORT_KEY(words[to]) == SORT_KEY(words[from]);)
            to++;
        if (to - looked >= ASKS_FROM) {
            looked = to;
            status = sort_ask(check);
        }
        if (to - from > 1 && !status)
            status = sort_equal(part, key, words + from, space, to - from, round, check);
    }
    return status;
}

static enum status sort_equal(const struct sort_part *part, const struct sort_layout *key, sort_word *words, sort_word *space, uint32_t count, unsigned round, const struct sort_check *check)
{
    uint16_t from = key->whole;
    if (key->text) {
        const struct sort_column *column = &key->columns[key->whole];
        bool ended;
        if (round == 0)
            ended = sort_key_text_ended(key, words[0]);
        else                             /* a piece that ends in padding is the text's last */
            ended = (uint8_t)(words[0] >> 32) == (column->flags & KEY_DESC ? 0xFF : 0);
        if (ended && ++from == key->count)
            return STATUS_OK;
        if (!ended && count > FEW_EQUAL && round < TEXT_ROUNDS) {
            sort_word piece = words[0] >> 32 << 32;
            uint32_t at = sort_key_text_bytes(key) + round * SORT_KEY_BYTES;
            for (uint32_t k = 0; k < count; k++) {
                uint32_t row = SORT_ROW(words[k]);
                const struct varlen *texts = row_columns(part, row)[column->column].values;
                words[k] = sort_key_text(key, texts[rows_at(row)], at) | row;
            }
            enum status status = sort_words(words, count, check);
            if (!status)
                status = sort_equals(part, key, words, space, count, round + 1, check);
            for (uint32_t k = 0; k < count; k++)
                words[k] = piece | SORT_ROW(words[k]);
            return status;
        }
    }
    return sort_by_rows(part, key, from, words, space, count, check);
}

static enum status ask_worker(void *worker) { return run_check(worker); }

enum status sort_part_sort(struct sort_part *part, const struct sort_layout *key, struct worker *worker)
{
    const struct sort_check check = { ask_worker, worker };
    enum status status = sort_words(part->words, part->count, &check);
    if (status || key->exact || part->count < 2)
        return status;
    sort_word *space = malloc((part->count / 2 + 1u) * sizeof *space);
    if (!space)
        panic("out of memory");
    status = sort_equals(part, key, part->words, space, part->count, 0, &check);
    free(space);
    return status;
}

/* ---- the sink ---- */

static struct arena *local_arena(const struct sort_local *l)
{
    return l->local.worker->number ? l->local.worker->arena : l->local.op->again;
}

static void segment_open(struct sort_local *l)
{
    struct sort_part *part = arena_new(local_arena(l), struct sort_part);
    part->arena = arena_open(local_arena(l), "sort");
    sort_part_open(part, l->local.op);
    l->segments[l->segment_count++] = part;
}

static enum status sort_local(struct local *local)
{
    struct sort_local *l = (struct sort_local *)local;
    const struct plan *input = local->op->plan->left;
    uint64_t memory = (uint64_t)local->worker->run->work_mem;
    double workers = local->op->plan->workers_planned > 1 ? local->op->plan->workers_planned : 1;
    bool too_much = input->rows / workers * (input->width + 2 * sizeof(sort_word)) > (double)memory;
    l->segments_most = too_much && memory >= SEGMENTS_FROM ? SEGMENTS : 1;
    l->segment_bytes = memory / l->segments_most;
    text_buffer_open(&l->scratch, local_arena(l));
    segment_open(l);
    return STATUS_OK;
}

static enum status segment_sort(struct sort_local *l, struct sort_part *part)
{
    enum status status = sort_part_sort(part, &((struct sort_node *)l->local.op)->key, l->local.worker);
    sort_part_columns(part);
    return status;
}

/* The oldest segment becomes a run. */
static enum status spill_oldest(struct sort_local *l)
{
    struct sort_part *part = l->segments[0], *runs = &l->spilled;
    enum status status = segment_sort(l, part);
    part->file = runs->file;
    part->runs = runs->runs;
    part->run_count = runs->run_count;
    if (!status)
        status = sort_write_run((struct sort_node *)l->local.op, part, l->local.worker);
    *runs = (struct sort_part){ .file = part->file, .runs = part->runs, .run_count = part->run_count };
    arena_close(part->arena);
    l->segment_count--;
    memmove(l->segments, l->segments + 1, l->segment_count * sizeof l->segments[0]);
    return status;
}

static enum status sort_take(struct local *local, const struct batch *batch)
{
    struct sort_local *l = (struct sort_local *)local;
    struct sort_part *part = l->segments[l->segment_count - 1];
    const struct sort_node *n = (const struct sort_node *)local->op;
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    uint16_t count = batch->selected_count;
    sort_word *words = sort_part_room(part, batch->grain, count);
    sort_key_words(&n->key, batch->columns, positions, count, (uint32_t)part->rows.count, &l->scratch, words);
    part->count += count;
    rows_append_some(&part->rows, batch, positions, count);
    if (part->rows.bytes + part->count * sizeof *part->words <= l->segment_bytes && part->rows.count <= UINT32_MAX / 4)
        return STATUS_OK;
    enum status status = l->segment_count == l->segments_most ? spill_oldest(l) : STATUS_OK;
    segment_open(l);
    return status;
}

static enum status sort_done(struct local *local)
{
    struct sort_local *l = (struct sort_local *)local;
    enum status status = STATUS_OK;
    for (uint16_t i = 0; i < l->segment_count && !status; i++)
        status = segment_sort(l, l->segments[i]);
    return status;
}

static enum status sort_combine(struct exec_node *op, struct local *local)
{
    struct sort_node *n = (struct sort_node *)op;
    struct sort_local *l = (struct sort_local *)local;
    l->segments[0]->file = l->spilled.file;
    l->segments[0]->runs = l->spilled.runs;
    l->segments[0]->run_count = l->spilled.run_count;
    n->parts = arena_grow(op->again, n->parts, n->part_count * sizeof *n->parts, (n->part_count + (size_t)l->segment_count) * sizeof *n->parts);
    for (uint16_t i = 0; i < l->segment_count; i++) {
        l->segments[i]->number = n->part_count;
        n->parts[n->part_count++] = l->segments[i];
    }
    return STATUS_OK;
}

static const struct sink_class sort_sink = { .name = "sort", .local_bytes = sizeof(struct sort_local), .local = sort_local, .take = sort_take, .done = sort_done,
                                             .combine = sort_combine, .parallel = true };

enum status sort_run(struct local *local)
{
    struct sort_node *n = (struct sort_node *)local->op;
    node_again(local->op);
    n->parts = NULL;
    n->part_count = 0;
    enum status status = pipeline_run(local->op->left, local->op, &sort_sink);
    return status ? status : sort_emit(local);
}

const struct node_class sort_class = { .name = "sort", .node_bytes = sizeof(struct sort_node), .open = sort_node_open, .source = sort_run };
