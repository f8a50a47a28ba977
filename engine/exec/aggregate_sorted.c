/* engine/exec/aggregate_sorted.c - ORDER BY inside an aggregate, and DISTINCT where the order of its values shows (a sum of floats, array_agg).
 *
 * The rows' arguments are kept, with their group, as a sort keeps its rows (sort.h): words beside them, and on disk as a run what is more
 * than work_mem. At the end they come back in order, by grouping set, group, ORDER BY; with DISTINCT then by all arguments, so that equal
 * ones stand together. Each group's are handed to its state, a run of rows at a time. One worker's rows come in their order; so equal keys stay in it. */
#include "engine/exec/aggregate_private.h"
#include "engine/exec/sort.h"

#define FIXED_COLUMNS 2                  /* set, group; behind them the arguments */

struct sorted_rows {
    struct sort_node node;               /* in no tree: it only says by what is sorted */
    struct plan plan, input;
    struct sort_part *part;
    struct vector *columns;
    struct text_buffer scratch;
};

struct sorted_rows *sorted_open(struct aggregate_local *l, const struct call *c)
{
    const struct aggregate_item *item = c->item;
    struct sorted_rows *s = arena_new(l->arena, struct sorted_rows);
    uint16_t count = (uint16_t)(item->arg_count + FIXED_COLUMNS), by = FIXED_COLUMNS;
    struct sql_type *types = arena_array(l->arena, struct sql_type, count);
    struct sort_item *sort = arena_array(l->arena, struct sort_item, FIXED_COLUMNS + item->sort_count + (size_t)item->arg_count);
    types[0] = types[1] = type_make(OID_INT4, -1);
    memcpy(types + FIXED_COLUMNS, c->arg_types, item->arg_count * sizeof *types);
    sort[1].column = 1;
    for (uint16_t k = 0; k < item->sort_count; k++, by++) {
        sort[by] = item->sort[k];
        sort[by].column = (uint16_t)(sort[by].column + FIXED_COLUMNS);
    }
    for (uint16_t k = 0; k < item->arg_count && item->distinct; k++)
        sort[by++].column = (uint16_t)(k + FIXED_COLUMNS);
    s->input = (struct plan){ .types = types, .column_count = count };
    s->plan = (struct plan){ .kind = PLAN_SORT, .types = types, .column_count = count, .left = &s->input, .sort = sort, .sort_count = by };
    s->node.op = (struct exec_node){ .class = &sort_class, .plan = &s->plan, .run = l->local.op->run, .again = arena_open(l->arena, "sorted rows") };
    sort_node_make(&s->node, l->arena);
    s->columns = arena_array(l->arena, struct vector, count);
    text_buffer_open(&s->scratch, l->arena);
    s->part = arena_new(l->arena, struct sort_part);
    s->part->arena = arena_open(s->node.op.again, "rows");
    sort_part_open(s->part, &s->node.op);
    s->node.parts = &s->part;
    s->node.part_count = 1;
    return s;
}

static enum status sort_kept(struct sorted_rows *s, struct worker *worker)
{
    enum status status = sort_part_sort(s->part, &s->node.key, worker);
    sort_part_columns(s->part);
    return status;
}

enum status sorted_add(struct aggregate_local *l, const struct call *c, struct sorted_rows *s, uint16_t set, const struct vector *args, const row_pos *rows, uint16_t count)
{
    struct sort_part *part = s->part;
    int32_t number = set;
    uint32_t none = 0;
    s->columns[0] = (struct vector){ .values = &number, .width = 4, .constant = true };
    s->columns[1] = l->local.op->plan->group_count ? (struct vector){ .values = l->groups, .width = 4 } : (struct vector){ .values = &none, .width = 4, .constant = true };
    memcpy(s->columns + FIXED_COLUMNS, args, c->item->arg_count * sizeof *args);
    struct batch batch = { .columns = s->columns, .column_count = s->input.column_count };
    sort_word *words = sort_part_room(part, 0, count);
    sort_key_words(&s->node.key, s->columns, rows, count, (uint32_t)part->rows.count, &s->scratch, words);
    part->count += count;
    rows_append_some(&part->rows, &batch, rows, count);
    if (part->rows.bytes + part->count * sizeof *part->words <= (uint64_t)l->local.worker->run->work_mem && part->rows.count <= UINT32_MAX / 4)
        return STATUS_OK;
    enum status status = sort_kept(s, l->local.worker);
    if (!status)
        status = sort_write_run(&s->node, part, l->local.worker);
    arena_reset(part->arena);
    sort_part_open(part, &s->node.op);
    return status;
}

/* ---- in their order ---- */

struct replay {
    struct local local;
    struct aggregate_local *l;
    const struct call *c;
    bool any;                            /* a row was handed on or left out before; its set, group and arguments: */
    uint32_t set, group;
    struct vector *last; struct arena *last_arena;
};

static bool same_row(const struct replay *r, const struct batch *batch, uint16_t i)
{
    for (uint32_t c = 0; c < r->c->item->arg_count; c++)
        if (!same_value(r->c->arg_types[c], &batch->columns[c + FIXED_COLUMNS], i, &r->last[c], 0))
            return false;
    return true;
}

/* The arguments of row i of a batch that goes. */
static void keep_last(struct replay *r, const struct batch *batch, uint16_t i)
{
    arena_reset(r->last_arena);
    for (uint32_t c = 0; c < r->c->item->arg_count; c++) {
        vector_make(&r->last[c], r->last_arena, r->c->arg_types[c].width, 1);
        vector_copy_one(&batch->columns[c + FIXED_COLUMNS], i, &r->last[c], 0);
        struct varlen *text = r->last[c].values;
        if (r->last[c].width == WIDTH_VARLEN)
            text->bytes = arena_copy(r->last_arena, text->bytes, text->length);
    }
}

/* Rows [from, to) of the batch, all of one group, to its state; with DISTINCT but one of each. */
static enum status replay_group(struct replay *r, const struct batch *batch, uint16_t from, uint16_t to, bool goes_on)
{
    struct aggregate_local *l = r->l;
    const struct aggregate_node *n = (const struct aggregate_node *)l->local.op;
    const struct call *c = r->c;
    const struct vector *args = batch->columns + FIXED_COLUMNS;
    row_pos rows[BATCH_ROWS];
    uint16_t count = 0, error_at = NO_ROW;
    for (uint16_t i = from; i < to; i++) {
        bool same = c->item->distinct && (i > from || goes_on);
        if (same && i > from)
            for (uint32_t k = 0; k < c->item->arg_count && same; k++)
                same = same_value(c->arg_types[k], &args[k], i, &args[k], i - 1u);
        else if (same)
            same = same_row(r, batch, i);
        if (!same)
            rows[count++] = i;
    }
    struct aggregate_call call = { .args = args, .arg_types = c->arg_types, .arg_count = c->item->arg_count, .selection = rows, .count = count, .arena = l->arena, .data = c->item->data,
                                   .error_at = &error_at };
    return count ? c->aggregate->update_one(&call, l->tables[r->set].states + (size_t)r->group * n->exact_bytes + c->offset) : STATUS_OK;
}

static enum status replay_take(struct local *local, const struct batch *batch)
{
    struct replay *r = (struct replay *)local;
    const uint32_t *sets = batch->columns[0].values, *groups = batch->columns[1].values;
    enum status status = STATUS_OK;
    for (uint16_t from = 0, to; from < batch->row_count && !status; from = to) {
        for (to = (uint16_t)(from + 1); to < batch->row_count && sets[to] == sets[from] && groups[to] == groups[from];)
            to++;
        bool goes_on = r->any && r->set == sets[from] && r->group == groups[from];
        r->any = true;
        r->set = sets[from];
        r->group = groups[from];
        status = replay_group(r, batch, from, to, goes_on);
    }
    if (r->c->item->distinct && batch->row_count && !status)
        keep_last(r, batch, (uint16_t)(batch->row_count - 1));
    return status;
}

enum status sorted_finish(struct aggregate_local *l, uint16_t number)
{
    struct exec_node *op = l->local.op;
    const struct call *c = &((const struct aggregate_node *)op)->calls[number];
    struct sorted_rows *s = l->call_locals[number].kept;
    struct replay replay = { .local = { .op = op, .worker = l->local.worker, .take = replay_take }, .l = l, .c = c,
                             .last = arena_array(l->arena, struct vector, c->item->arg_count + 1u), .last_arena = arena_open(l->arena, "last") };
    struct local sorted = { .op = &s->node.op, .worker = l->local.worker, .next = &replay.local };
    enum status status = sort_kept(s, l->local.worker);
    if (op->counters && !l->local.worker->number && s->part->file)
        op->counters->spilled_bytes += spill_bytes(s->part->file);
    if (!status)
        status = sort_emit(&sorted);
    arena_close(s->node.op.again);
    return status;
}
