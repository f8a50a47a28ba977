/* engine/exec/aggregate_emit.c - groups become rows: states are finished, and batches of keys and results pushed on, in the groups' order.
 *
 * Batches are the same however they are made: ROWS_CHUNK groups each. Where several workers have aggregated many groups, they make them, too: a
 * *piece* of PIECE_GROUPS groups each, while the leader hands on the pieces of the round before.
 *
 *     leader:   start round 0 | start round 1, hand on 0 | start round 2, hand on 1 | …
 *
 * An error belongs to its batch: those before it are handed on first. */
#include <stdlib.h>
#include "engine/exec/aggregate_private.h"

#ifndef PIECE_BATCHES
#define PIECE_BATCHES 16
#endif
#define PIECE_GROUPS (PIECE_BATCHES * ROWS_CHUNK)

static int compare_folds(const void *a, const void *b)
{
    const struct fold *x = *(struct fold *const *)a, *y = *(struct fold *const *)b;
    uint64_t first = x->index << x->level, other = y->index << y->level;
    return first < other ? -1 : first > other;
}

/* All runs of a group's ordered states become one: along the tree, in order. */
static enum status fold_all(const struct aggregate_node *n, struct fold **of, struct arena *arena)
{
    uint32_t count = 0;
    for (struct fold *f = *of; f; f = f->below)
        count++;
    if (count <= 1)
        return STATUS_OK;
    struct fold **all = malloc(count * sizeof *all);
    if (!all)
        panic("out of memory");
    uint32_t at = 0;
    for (struct fold *f = *of; f; f = f->below)
        all[at++] = f;
    qsort(all, count, sizeof *all, compare_folds);
    struct folder folder = n->folder;
    folder.grains = &ALL_GRAINS;
    folder.spare = NULL;
    struct fold *stack = NULL;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = fold_push(&folder, &stack, all[i]->level, all[i]->index, all[i]->states, arena);
    if (!status)
        status = fold_close(&folder, &stack, arena);
    *of = stack;
    free(all);
    return status;
}

static void value_store(const struct value *value, struct sql_type type, struct vector *out, uint16_t at)
{
    size_t width = width_bytes(out->width);
    out->nulls[at] = value->null;
    if (value->null)
        memset((uint8_t *)out->values + at * width, 0, width);
    else if (out->width == 8)
        ((int64_t *)out->values)[at] = value->i8;
    else
        value_put(type, value, out, at);
}

/* Results of the aggregates of groups, into their columns. */
enum status aggregate_results(struct aggregate_node *n, struct group *groups, uint16_t count, struct vector *columns, struct arena *arena)
{
    uint8_t *none = arena_zero(arena, n->folder.bytes + 16);
    enum status status = STATUS_OK;
    for (uint16_t k = 0; k < count && !status && n->folder.count; k++)
        status = fold_all(n, &groups[k].stack, arena);
    for (uint16_t a = 0; a < n->call_count && !status; a++) {
        struct call *c = &n->calls[a];
        for (uint16_t k = 0; k < count && !status; k++) {
            struct value value = {0};
            const uint8_t *states = !c->ordered ? groups[k].states : groups[k].stack ? groups[k].stack->states : none;
            status = c->aggregate->finish(states + c->offset, c->item->type, arena, &value);
            if (!status)
                value_store(&value, c->item->type, &columns[a], k);
        }
    }
    return status;
}

void aggregate_keys(const struct aggregate_node *n, const struct group *groups, uint16_t count, struct vector *columns)
{
    for (uint16_t c = 0; c < n->op.plan->group_count; c++)
        for (uint16_t k = 0; k < count; k++)
            vector_copy_one(rows_column(groups[k].rows, groups[k].row, c), rows_at(groups[k].row), &columns[c], k);
}

/* ---- batches ---- */

/* Nulls of a column that has none are left out. */
static void nulls_trim(struct vector *columns, uint16_t column_count, uint16_t count)
{
    for (uint16_t c = 0; c < column_count; c++)
        if (!memchr(columns[c].nulls, 1, count))
            columns[c].nulls = NULL;
}

static enum status hand_on(struct local *local, struct vector *columns, uint16_t column_count, uint16_t count, uint64_t *batches)
{
    struct batch batch = { .columns = columns, .column_count = column_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = (*batches)++ / GRAIN_BATCHES };
    enum status status = run_check(local->worker);
    if (!status)
        status = local_push(local, &batch);
    return status ? status : run_deliver(local->worker->run);
}

/* Of a list, or of a table as it stands (one of them is NULL). */
static enum status emit_alone(struct local *local, struct group_list *list, struct group_table *t, uint64_t *batches)
{
    struct aggregate_node *n = (struct aggregate_node *)local->op;
    const struct plan *plan = local->op->plan;
    uint16_t keys = plan->group_count, column_count = (uint16_t)(keys + n->call_count);
    struct vector *columns = arena_array(local->op->again, struct vector, column_count + 1u);
    uint8_t **nulls = arena_array(local->op->again, uint8_t *, column_count + 1u);
    struct arena *arena = arena_open(local->op->again, "groups");
    uint32_t total = list ? list->count : t->count, room = total < ROWS_CHUNK ? total : ROWS_CHUNK;
    for (uint16_t c = 0; c < column_count; c++) {
        vector_make(&columns[c], local->op->again, plan->types[c].width, room);
        nulls[c] = columns[c].nulls;
    }
    enum status status = STATUS_OK;
    for (uint32_t from = 0; from < total && !status; from += ROWS_CHUNK) {
        uint16_t count = (uint16_t)(total - from < ROWS_CHUNK ? total - from : ROWS_CHUNK);
        struct group of_table[ROWS_CHUNK], *groups = list ? list->groups + from : of_table;
        struct batch kept;
        arena_reset(arena);
        for (uint16_t c = 0; c < column_count; c++)
            columns[c].nulls = nulls[c];
        if (list) {
            aggregate_keys(n, groups, count, columns);
        } else {
            aggregate_groups_of(n, t, from, count, of_table);
            rows_chunk(&t->rows.keys, from / ROWS_CHUNK, &kept);
            memcpy(columns, kept.columns, keys * sizeof *columns);
        }
        status = aggregate_results(n, groups, count, columns + keys, arena);
        uint16_t first = list ? 0 : keys;
        nulls_trim(columns + first, (uint16_t)(column_count - first), count);
        if (!status)
            status = hand_on(local, columns, column_count, count, batches);
    }
    arena_close(arena);
    return status;
}

/* ---- rounds ---- */

struct piece {
    struct aggregate_node *node; struct group_list *list; struct arena *arena;
    uint32_t from, to;
    uint16_t made; struct { struct vector *columns; uint16_t count; } batches[PIECE_BATCHES];
    enum status failed; struct error error;      /* of the batch behind those made */
};

static enum status piece_make(void *context, uint16_t number, struct worker *worker)
{
    struct piece *piece = (struct piece *)context + number;
    struct aggregate_node *n = piece->node;
    const struct plan *plan = n->op.plan;
    uint16_t keys = plan->group_count, column_count = (uint16_t)(keys + n->call_count);
    for (uint32_t from = piece->from; from < piece->to; from += ROWS_CHUNK) {
        uint16_t count = (uint16_t)(piece->to - from < ROWS_CHUNK ? piece->to - from : ROWS_CHUNK);
        struct vector *columns = arena_array(piece->arena, struct vector, column_count);
        enum status status = run_check(worker);
        if (status)
            return status;
        for (uint16_t c = 0; c < column_count; c++)
            vector_make(&columns[c], piece->arena, plan->types[c].width, count);
        aggregate_keys(n, piece->list->groups + from, count, columns);
        piece->failed = aggregate_results(n, piece->list->groups + from, count, columns + keys, piece->arena);
        if (piece->failed) {
            error_save(&piece->error);
            return STATUS_OK;
        }
        nulls_trim(columns, column_count, count);
        piece->batches[piece->made].columns = columns;
        piece->batches[piece->made++].count = count;
    }
    return STATUS_OK;
}

static void round_start(struct workers_group *group, struct piece *pieces, uint16_t workers, uint32_t *from)
{
    for (uint16_t i = 0; i < workers; i++) {
        struct piece *piece = &pieces[i];
        arena_reset(piece->arena);
        piece->made = 0;
        piece->from = *from;
        *from = piece->list->count - *from < PIECE_GROUPS ? piece->list->count : *from + PIECE_GROUPS;
        piece->to = *from;
    }
    workers_group_start(group, piece_make, pieces);
}

static enum status piece_hand_on(struct local *local, struct piece *piece, uint64_t *batches)
{
    uint16_t column_count = (uint16_t)(local->op->plan->group_count + piece->node->call_count);
    enum status status = STATUS_OK;
    for (uint16_t b = 0; b < piece->made && !status; b++)
        status = hand_on(local, piece->batches[b].columns, column_count, piece->batches[b].count, batches);
    return !status && piece->failed ? error_restore(&piece->error) : status;
}

/* The round that is on its way comes home first; then the status is said again. */
static enum status after_wait(struct workers_group *group, enum status status)
{
    struct error saved = { 0 };
    if (!status)
        return workers_group_wait(group);
    error_save(&saved);
    enum status ignored = workers_group_wait(group);
    (void)ignored;
    if (status != STATUS_STOP)           /* STOP has no record */
        return error_restore(&saved);
    error_free(&saved);
    return status;
}

static enum status emit_together(struct local *local, struct group_list *list, uint64_t *batches, uint16_t workers)
{
    struct arena *arena = arena_open(local->op->again, "groups");
    struct workers_group *group = workers_group_open(local->worker->run, workers);
    struct piece *pieces = arena_array(arena, struct piece, 2u * workers), *made = pieces, *coming = pieces + workers;
    for (uint16_t i = 0; i < 2 * workers; i++)
        pieces[i] = (struct piece){ .node = (struct aggregate_node *)local->op, .list = list, .arena = arena_open(arena, "piece") };
    uint32_t from = 0;
    round_start(group, coming, workers, &from);
    enum status status = workers_group_wait(group);
    while (!status && coming[0].from < coming[0].to) {
        struct piece *swap = made;
        made = coming;
        coming = swap;
        round_start(group, coming, workers, &from);
        for (uint16_t i = 0; i < workers && !status; i++)
            status = piece_hand_on(local, &made[i], batches);
        status = after_wait(group, status);
    }
    for (uint16_t i = 0; i < 2 * workers; i++)
        error_free(&pieces[i].error);
    workers_group_close(group);
    arena_close(arena);
    return status;
}

enum status aggregate_emit(struct local *local, struct group_list *list, uint64_t *batches)
{
    const struct aggregate_node *n = (const struct aggregate_node *)local->op;
    const struct run *run = local->worker->run;
    uint32_t parts = n->part_count > n->dealt_count ? n->part_count : n->dealt_count;
    int most = run->settings ? run->settings->max_parallel_workers_per_gather : 0;
    if (list->count >= 2 * PIECE_GROUPS && parts > 1 && most > 1 && run->nesting == 0 && workers_available())
        return emit_together(local, list, batches, (uint16_t)(parts < (uint32_t)most ? parts : (uint32_t)most));
    return emit_alone(local, list, NULL, batches);
}

enum status aggregate_emit_table(struct local *local, struct group_table *t, uint64_t *batches)
{
    return emit_alone(local, NULL, t, batches);
}
