/* engine/exec/merge_join.c - joins of two inputs that come sorted by the keys: ascending, nulls last.
 *
 * The right side is read first and kept (spill_rows.h); the left side goes by, and beside it a cursor over the right rows.
 *
 *     cursor's key < left key    the right row has no (further) partner: the cursor moves on
 *     cursor's key = left key    a *group* begins: all right rows of that key. Left rows of the same key go through it again and again
 *     cursor's key > left key    the left row has no partner
 *
 * A null key is equal to nothing. The ON condition that isn't one of keys is judged pair by pair.
 *
 * 1. What comes out stands in the order of the keys: a left row's matches in the right side's order, or the row by itself in their place; and a
 *    right row by itself (RIGHT, FULL) when its group is behind the left side. So where one side's rows all stand in the result, it is sorted by that
 *    side's keys.
 * 2. What may come out is put into a list of *entries* first: pairs, left rows, right rows. When the list is full, or what it points to goes away (the
 *    end of a left batch; chunks of right rows that are read from disk), it is judged: the condition over all pairs at once, then in order who
 *    stays. A row that is entered by itself stays if none of its pairs did (SEMI: if one did); they all stand before it.
 * 3. RIGHT and FULL remember with a bit which right rows have met a partner.
 * 4. One thread: the leader. The sorts below are parallel. */
#include "base/plant.h"
#include "engine/exec/spill_rows.h"

#define NOBODY     0xFFFF
#define NO_CHUNK   UINT32_MAX

struct merge_node {
    struct exec_node op;
    struct program *left_keys, *right_keys, *filter;
    struct sql_type *key_types, *right_types;
    uint16_t left_count, right_count, output_count, kept_columns;
    uint16_t *outputs;
    uint16_t *kept_column;               /* by right column: its place among the kept ones, or NOT_KEPT */
    uint16_t *key_column;                /* by key */
    bool *reads;                         /* by left ++ right column: the filter reads it */
    bool left_alone, right_alone, one_sided;       /* rows come out by themselves; only left columns do */
    bool constant_right, kept;
    struct spill_rows right;
    uint8_t *marks;                      /* a bit for each right row */
};

/* right NULL: a left row by itself; left NOBODY: a right row by itself; else a pair. */
struct entry { const struct vector *right; uint64_t row; row_pos at, left; };

struct gathered { void *values; uint8_t *nulls; };
struct merge_local {
    struct local local;
    struct evaluation *keys, *filter;
    struct vector *key_vectors, *joined, *out, *group_keys;
    struct gathered *spaces;             /* by left ++ right column */
    struct entry *entries; uint16_t entry_count;
    row_pos *left_positions;             /* of entries; for gathering */
    uint8_t *row_matched;                /* by position of the left batch */
    row_pos *kept_left; uint16_t kept_count;       /* SEMI, ANTI */
    const struct batch *batch;           /* the left one at hand; NULL: the left side is over */
    uint64_t grain;
    struct arena *reader_arena, *group_arena;
    struct spill_rows_reader reader;
    struct batch chunk; uint32_t chunk_number; uint64_t chunk_first;      /* the right one at hand; its first row */
    uint64_t next;                       /* the first right row that no left row has come to */
    bool in_group; uint64_t group_first, group_end;
};

/* ---- open ---- */

static void right_layout(struct merge_node *n)
{
    const struct plan *plan = n->op.plan;
    struct arena *arena = n->op.run->arena;
    n->right_types = arena_array(arena, struct sql_type, n->right_count + plan->key_count + 1u);
    n->kept_column = arena_array(arena, uint16_t, n->right_count + 1u);
    n->key_column = arena_array(arena, uint16_t, plan->key_count + 1u);
    n->kept_columns = join_kept_columns(plan, n->reads, true, n->kept_column, n->right_types);
    for (uint16_t k = 0; k < plan->key_count; k++) {
        const struct scalar *key = plan->right_keys[k];
        if (key->kind == SCALAR_COLUMN) {
            n->key_column[k] = n->kept_column[key->column];
            continue;
        }
        n->key_column[k] = n->kept_columns;
        n->right_types[n->kept_columns++] = n->key_types[k];
    }
}

static enum status merge_open(struct exec_node *op)
{
    struct merge_node *n = (struct merge_node *)op;
    const struct plan *plan = op->plan;
    struct arena *arena = op->run->arena;
    enum plan_join join = plan->join;
    enum status status = node_program(op, 0, plan->left_keys, plan->key_count, &n->left_keys);
    if (!status)
        status = node_program(op, 1, plan->right_keys, plan->key_count, &n->right_keys);
    if (!status)
        status = node_filter(op, 2, plan->filter, &n->filter);
    if (status)
        return status;
    ASSERT(join <= PLAN_ANTI && plan->outputs);
    n->left_count = plan->left->column_count;
    n->right_count = plan->right->column_count;
    n->outputs = plan->outputs;
    n->output_count = plan->column_count;
    n->key_types = arena_array(arena, struct sql_type, plan->key_count + 1u);
    for (uint16_t k = 0; k < plan->key_count; k++)
        n->key_types[k] = plan->right_keys[k]->type;
    n->one_sided = join == PLAN_SEMI || join == PLAN_ANTI;
    n->left_alone = join == PLAN_LEFT || join == PLAN_FULL || n->one_sided;
    n->right_alone = join == PLAN_RIGHT || join == PLAN_FULL;
    op->fans_out = !n->one_sided;
    n->reads = arena_array(arena, bool, n->left_count + n->right_count + 1u);
    for (uint16_t c = 0; c < n->left_count + n->right_count; c++)
        n->reads[c] = program_reads(n->filter, c);
    right_layout(n);
    n->constant_right = !plan_reads_outer(op->run, plan->right) && !plan_is_volatile(plan->right);
    return STATUS_OK;
}

/* ---- the right side ---- */

struct right_local { struct local local; struct evaluation *keys; struct vector *key_vectors, *columns; };

static enum status right_local(struct local *local)
{
    struct right_local *l = (struct right_local *)local;
    struct merge_node *n = (struct merge_node *)local->op;
    l->key_vectors = arena_array(local->op->again, struct vector, local->op->plan->key_count + 1u);
    l->columns = arena_array(local->op->again, struct vector, n->kept_columns + 1u);
    return evaluation_open(n->right_keys, local->worker->run, local->op->again, &l->keys);
}

static enum status right_take(struct local *local, const struct batch *batch)
{
    struct right_local *l = (struct right_local *)local;
    struct merge_node *n = (struct merge_node *)local->op;
    uint16_t at;
    enum status status = evaluation_run(l->keys, batch, l->key_vectors, &at);
    if (status)
        return status;
    for (uint16_t c = 0; c < n->right_count; c++)
        if (n->kept_column[c] != NOT_KEPT)
            l->columns[n->kept_column[c]] = batch->columns[c];
    for (uint16_t k = 0; k < local->op->plan->key_count; k++)
        l->columns[n->key_column[k]] = l->key_vectors[k];
    struct batch in = *batch;
    in.columns = l->columns;
    in.column_count = n->kept_columns;
    return spill_rows_append(&n->right, &in, batch->all_selected ? NULL : batch->selection, batch->selected_count);
}

static const struct sink_class right_sink = { .name = "merge join", .local_bytes = sizeof(struct right_local), .local = right_local, .take = right_take };

static enum status merge_prepare(struct exec_node *op)
{
    struct merge_node *n = (struct merge_node *)op;
    enum status status = STATUS_OK;
    if (!n->kept || !n->constant_right) {
        if (n->right.arena)
            spill_rows_close(&n->right);
        n->kept = false;
        struct arena *arena = node_again(op);
        spill_rows_open(&n->right, &op->run->leader, arena, n->right_types, n->kept_columns);
        status = pipeline_run_serial(op->right, op, &right_sink);
        if (!status)
            status = spill_rows_finish(&n->right);
        if (status)
            return status;
        n->kept = true;
        n->marks = n->right_alone ? arena_alloc(arena, n->right.count / 8 + 1) : NULL;
        if (op->counters) {
            op->counters->memory_bytes = arena_bytes(arena);
            op->counters->spilled_bytes = spill_rows_disk_bytes(&n->right);
        }
    }
    if (n->marks)
        memset(n->marks, 0, n->right.count / 8 + 1);
    return STATUS_OK;
}

/* ---- the left side ---- */

static void start(struct merge_local *l)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    arena_reset(l->reader_arena);
    spill_rows_reader_open(&l->reader, &n->right, l->reader_arena);
    l->chunk_number = NO_CHUNK;
    l->entry_count = l->kept_count = 0;
    l->next = l->grain = 0;
    l->in_group = false;
}

static enum status merge_local(struct local *local)
{
    struct merge_local *l = (struct merge_local *)local;
    struct merge_node *n = (struct merge_node *)local->op;
    struct arena *arena = local->worker->arena;
    const struct plan *plan = local->op->plan;
    uint16_t both = (uint16_t)(n->left_count + n->right_count);
    l->key_vectors = arena_array(arena, struct vector, plan->key_count + 1u);
    l->group_keys = arena_array(arena, struct vector, plan->key_count + 1u);
    l->joined = arena_array(arena, struct vector, both + 1u);
    l->spaces = arena_array(arena, struct gathered, both + 1u);
    l->out = arena_array(arena, struct vector, n->output_count + 1u);
    l->entries = arena_alloc(arena, BATCH_ROWS * sizeof *l->entries);
    l->left_positions = arena_alloc(arena, BATCH_ROWS * sizeof *l->left_positions);
    l->row_matched = arena_alloc(arena, BATCH_MAX);
    l->kept_left = arena_alloc(arena, BATCH_MAX * sizeof *l->kept_left);
    l->reader_arena = arena_open(arena, "merge join");
    l->group_arena = arena_open(arena, "group");
    start(l);
    enum status status = evaluation_open(n->left_keys, local->worker->run, arena, &l->keys);
    if (!status && n->filter)
        status = evaluation_open(n->filter, local->worker->run, arena, &l->filter);
    return status;
}

static enum status merge_rewind(struct local *local)
{
    start((struct merge_local *)local);
    return STATUS_OK;
}

/* ---- columns of entries ---- */

static struct gathered *room(struct merge_local *l, uint16_t column, uint8_t width)
{
    struct gathered *g = &l->spaces[column];
    if (!g->values) {
        g->values = arena_alloc(l->local.worker->arena, width_bytes(width) * BATCH_ROWS);
        g->nulls = arena_alloc(l->local.worker->arena, BATCH_ROWS);
    }
    return g;
}

#define GATHER(type)                                                                                    \
    do {                                                                                                \
        type *out = g->values;                                                                          \
        for (uint16_t k = 0; k < l->entry_count; k++) {                                                 \
            const struct vector *v = l->entries[k].right ? &l->entries[k].right[kept] : NULL;           \
            g->nulls[k] = !v || (v->nulls && v->nulls[l->entries[k].at]);                               \
            if (g->nulls[k])                                                                            \
                memset(&out[k], 0, sizeof out[k]);                                                      \
            else                                                                                        \
                out[k] = ((const type *)v->values)[l->entries[k].at];                                   \
        }                                                                                               \
    } while (0)

static void gather_right(struct merge_local *l, uint16_t column, struct vector *out)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    uint16_t kept = n->kept_column[column];
    uint8_t width = n->right_types[kept].width;
    struct gathered *g = room(l, (uint16_t)(n->left_count + column), width);
    switch (width) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    default: GATHER(struct varlen); break;
    }
    *out = (struct vector){ .values = g->values, .nulls = g->nulls, .width = width };
}

static void gather_left(struct merge_local *l, uint16_t column, struct vector *out)
{
    static const uint8_t one = 1;
    static const uint64_t zeros[2] = { 0, 0 };
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    uint8_t width = n->op.plan->left->types[column].width;
    if (!l->batch) {                     /* right rows by themselves */
        *out = (struct vector){ .values = (void *)zeros, .nulls = (uint8_t *)&one, .width = width, .constant = true };
        return;
    }
    struct gathered *g = room(l, column, width);
    size_t bytes = width_bytes(width);
    *out = (struct vector){ .values = g->values, .nulls = g->nulls, .width = width };
    vector_gather(&l->batch->columns[column], l->left_positions, l->entry_count, out, 0);
    for (uint16_t k = 0; k < l->entry_count && n->right_alone; k++)
        if (l->entries[k].left == NOBODY) {
            g->nulls[k] = 1;
            memset((uint8_t *)g->values + k * bytes, 0, bytes);
        }
}

/* A column of left ++ right, over the entries. */
static void gather(struct merge_local *l, uint16_t column, struct vector *out)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    if (column < n->left_count)
        gather_left(l, column, out);
    else
        gather_right(l, (uint16_t)(column - n->left_count), out);
}

static void place_left(struct merge_local *l)
{
    row_pos any = l->batch ? batch_row(l->batch, 0) : 0;
    for (uint16_t k = 0; k < l->entry_count; k++)
        l->left_positions[k] = l->entries[k].left == NOBODY ? any : l->entries[k].left;
}

/* ---- judging ---- */

static inline bool marked(const struct merge_node *n, uint64_t row) { return n->marks[row / 8] >> row % 8 & 1; }
static inline bool is_pair(const struct entry *e) { return e->right && e->left != NOBODY; }

/* The pairs for which the condition is true are marked. */
static enum status judge_filter(struct merge_local *l, uint8_t *passed, uint16_t *error_at)
{
    struct merge_node *n = (struct merge_node *)l->local.op;
    row_pos pairs[BATCH_ROWS];
    const row_pos *left;
    uint16_t count = 0, left_count;
    memset(passed, 0, l->entry_count);
    for (uint16_t k = 0; k < l->entry_count; k++) {
        pairs[count] = k;
        count = (uint16_t)(count + is_pair(&l->entries[k]));
    }
    if (count == 0)
        return STATUS_OK;
    for (uint16_t c = 0; c < n->left_count + n->right_count; c++)
        if (n->reads[c])
            gather(l, c, &l->joined[c]);
    struct batch batch = { .columns = l->joined, .column_count = (uint16_t)(n->left_count + n->right_count), .row_count = l->entry_count, .selected_count = count,
                           .selection = pairs, .grain = l->grain };
    enum status status = evaluation_filter(l->filter, &batch, &left, &left_count, error_at);
    if (status)
        return status;
    for (uint16_t k = 0; k < left_count; k++)
        passed[left[k]] = 1;
    if (n->op.counters)
        n->op.counters->filtered += (uint64_t)(count - left_count);
    return STATUS_OK;
}

/* Entries that stay move to the front; of SEMI and ANTI the left rows go to kept_left. */
static void keep_entries(struct merge_local *l, const uint8_t *passed)
{
    struct merge_node *n = (struct merge_node *)l->local.op;
    bool wanted = n->op.plan->join == PLAN_SEMI;
    uint16_t kept = 0;
    for (uint16_t k = 0; k < l->entry_count; k++) {
        const struct entry e = l->entries[k];
        bool stays;
        if (is_pair(&e)) {
            stays = !passed || passed[k];
            if (stays) {
                l->row_matched[e.left] = 1;
                if (n->marks)
                    n->marks[e.row / 8] |= (uint8_t)(1u << e.row % 8);
            }
            stays &= !n->one_sided;
        } else if (e.right) {
            stays = !marked(n, e.row);
        } else {
            stays = l->row_matched[e.left] == wanted;
            if (n->one_sided) {
                l->kept_left[l->kept_count] = e.left;
                l->kept_count = (uint16_t)(l->kept_count + stays);
                stays = false;
            }
        }
        l->entries[kept] = e;
        kept = (uint16_t)(kept + stays);
    }
    l->entry_count = kept;
}

static enum status push_entries(struct merge_local *l)
{
    struct merge_node *n = (struct merge_node *)l->local.op;
    uint16_t count = l->entry_count;
    place_left(l);
    for (uint16_t c = 0; c < n->output_count && count; c++)
        gather(l, n->outputs[c], &l->out[c]);
    l->entry_count = 0;
    struct batch out = { .columns = l->out, .column_count = n->output_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = l->grain };
    enum status status = run_check(l->local.worker);
    return status ? status : local_push(&l->local, &out);
}

/* SEMI, ANTI: rows of the left batch itself. */
static enum status push_kept(struct merge_local *l)
{
    struct merge_node *n = (struct merge_node *)l->local.op;
    if (l->kept_count == 0)
        return STATUS_OK;
    struct batch out = *l->batch;
    for (uint16_t c = 0; c < n->output_count; c++)
        l->out[c] = l->batch->columns[n->outputs[c]];
    out.columns = l->out;
    out.column_count = n->output_count;
    out.row_ids = NULL;
    out.selection = l->kept_left;
    out.selected_count = l->kept_count;
    out.all_selected = false;
    l->kept_count = 0;
    return local_push(&l->local, &out);
}

/* Rule 2. The list is empty afterwards. An error of the condition comes after the rows that stand before it. */
static enum status judge(struct merge_local *l)
{
    uint8_t passed[BATCH_ROWS];
    uint16_t error_at = NO_ROW;
    if (l->entry_count == 0)
        return STATUS_OK;
    if (!l->filter) {
        keep_entries(l, NULL);
        return push_entries(l);
    }
    place_left(l);
    enum status status = judge_filter(l, passed, &error_at);
    if (!status) {
        keep_entries(l, passed);
        return push_entries(l);
    }
    if (error_at == NO_ROW || error_at >= l->entry_count || status_sqlstate(status)[0] != '2')
        return status;
    struct error saved = {0};
    error_save(&saved);
    l->entry_count = error_at;
    status = judge(l);
    if (!status)
        status = push_kept(l);
    if (status) {
        error_free(&saved);
        return status;
    }
    return error_restore(&saved);
}

/* ---- the cursor ---- */

/* l->chunk is the one of that right row. */
static enum status right_at(struct merge_local *l, uint64_t row)
{
    const struct spill_rows *rows = &((struct merge_node *)l->local.op)->right;
    enum status status = STATUS_OK;
    if (l->chunk_number != NO_CHUNK && row - l->chunk_first < l->chunk.row_count)
        return STATUS_OK;
    uint32_t chunk = spill_rows_chunk_of(rows, row);
    if (spill_rows_crowded(&l->reader, chunk)) {
        status = judge(l);
        spill_rows_forget(&l->reader);
    }
    l->chunk_number = NO_CHUNK;
    if (!status)
        status = run_check(l->local.worker);
    if (!status)
        status = spill_rows_chunk(&l->reader, chunk, &l->chunk);
    if (!status) {
        l->chunk_number = chunk;
        l->chunk_first = spill_rows_first(rows, chunk);
    }
    return status;
}

/* right NULL: a left row by itself. Else the right row is that of right_at. */
static enum status enter(struct merge_local *l, uint16_t left, bool right, uint64_t row)
{
    l->entries[l->entry_count++] = (struct entry){ .right = right ? l->chunk.columns : NULL, .row = row, .at = right ? (uint16_t)(row - l->chunk_first) : 0, .left = left };
    return l->entry_count == BATCH_ROWS ? judge(l) : STATUS_OK;
}

/* A left row, whose keys aren't null, against a right row at hand. */
static int compare(const struct merge_local *l, uint16_t i, uint64_t row)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    uint16_t at = (uint16_t)(row - l->chunk_first);
    for (uint16_t k = 0; k < n->op.plan->key_count; k++) {
        const struct vector *left = &l->key_vectors[k], *right = &l->chunk.columns[n->key_column[k]];
        if (vector_null(right, at))
            return -1;                   /* nulls stand last */
        int order = type_compare(n->key_types[k], left, vector_at(left, i), right, at);
        if (order)
            return order;
    }
    return 0;
}

static int compare_group(const struct merge_local *l, uint16_t i)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    for (uint16_t k = 0; k < n->op.plan->key_count; k++) {
        const struct vector *left = &l->key_vectors[k];
        int order = type_compare(n->key_types[k], left, vector_at(left, i), &l->group_keys[k], 0);
        if (order)
            return order;
    }
    return 0;
}

/* The group's keys are those of left row i. */
static void keep_keys(struct merge_local *l, uint16_t i)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    arena_reset(l->group_arena);
    for (uint16_t k = 0; k < n->op.plan->key_count; k++) {
        uint8_t width = n->key_types[k].width;
        vector_make(&l->group_keys[k], l->group_arena, width, 1);
        vector_copy_one(&l->key_vectors[k], i, &l->group_keys[k], 0);
        struct varlen *text = l->group_keys[k].values;
        if (width == WIDTH_VARLEN)
            text->bytes = arena_copy(l->group_arena, text->bytes, text->length);
    }
}

static enum status right_alone(struct merge_local *l, uint64_t from, uint64_t to)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    enum status status = STATUS_OK;
    for (uint64_t row = from; row < to && n->right_alone && !status; row++) {
        status = right_at(l, row);
        if (!status)
            status = enter(l, NOBODY, true, row);
    }
    return status;
}

/* No later left row belongs to it. */
static enum status group_leave(struct merge_local *l)
{
    l->in_group = false;
    l->next = l->group_end;
    return right_alone(l, l->group_first, l->group_end);
}

static enum status group_begin(struct merge_local *l, uint16_t i)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    enum status status = STATUS_OK;
    l->group_first = l->next;
    for (l->group_end = l->next + 1; l->group_end < n->right.count; l->group_end++) {
        status = right_at(l, l->group_end);
        if (status || compare(l, i, l->group_end) != 0)
            break;
    }
    keep_keys(l, i);
    l->in_group = true;
    return status;
}

/* Brings the cursor to left row i: then the row's partners are the group, if there is one. */
static enum status seek(struct merge_local *l, uint16_t i)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    enum status status = STATUS_OK;
    if (l->in_group) {
        int order = compare_group(l, i);
        if (order == 0 && !PLANT(MERGED_ONCE))
            return STATUS_OK;
        if (order < 0)
            return error_set(STATUS_INTERNAL, "mergejoin input data is out of order");
        status = group_leave(l);
    }
    while (l->next < n->right.count && !status) {
        status = right_at(l, l->next);
        if (status)
            break;
        int order = compare(l, i, l->next);
        if (order < 0)
            break;
        if (order == 0)
            return group_begin(l, i);
        status = right_alone(l, l->next, l->next + 1);
        l->next++;
    }
    return status;
}

/* ---- rows go by ---- */

static bool null_key(const struct merge_local *l, uint16_t i)
{
    for (uint16_t k = 0; k < l->local.op->plan->key_count; k++)
        if (vector_null(&l->key_vectors[k], i))
            return true;
    return false;
}

static enum status join_row(struct merge_local *l, uint16_t i)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    bool null = null_key(l, i);
    enum status status = null ? STATUS_OK : seek(l, i);
    if (!null && l->in_group && !status && n->one_sided && !n->filter)
        l->row_matched[i] = 1;           /* one partner is enough, and any will do */
    else if (!null && l->in_group)
        for (uint64_t row = l->group_first; row < l->group_end && !status; row++) {
            status = right_at(l, row);
            if (n->one_sided && l->row_matched[i])
                break;
            if (!status)
                status = enter(l, i, true, row);
        }
    return status || !n->left_alone ? status : enter(l, i, false, 0);
}

/* Nothing comes of later left rows. */
static bool is_over(const struct merge_local *l)
{
    const struct merge_node *n = (const struct merge_node *)l->local.op;
    enum plan_join join = n->op.plan->join;
    return !l->in_group && l->next >= n->right.count && (join == PLAN_INNER || join == PLAN_SEMI || join == PLAN_RIGHT);
}

static enum status merge_take(struct local *local, const struct batch *batch)
{
    struct merge_local *l = (struct merge_local *)local;
    bool over = is_over(l);
    uint16_t at;
    enum status status = over ? STATUS_OK : evaluation_run(l->keys, batch, l->key_vectors, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, merge_take);
    l->batch = batch;
    l->grain = batch->grain;
    memset(l->row_matched, 0, batch->row_count);
    for (uint16_t k = 0; k < batch->selected_count && !over && !status; k++) {
        status = join_row(l, batch_row(batch, k));
        over = is_over(l);
    }
    if (!status)
        status = judge(l);
    if (!status)
        status = push_kept(l);
    l->batch = NULL;
    if (status || !over)
        return status;
    local->stopped_itself = true;
    return STATUS_STOP;
}

static enum status merge_flush(struct local *local)
{
    struct merge_local *l = (struct merge_local *)local;
    const struct merge_node *n = (const struct merge_node *)local->op;
    l->batch = NULL;
    l->grain++;
    enum status status = l->in_group ? group_leave(l) : STATUS_OK;
    if (!status)
        status = right_alone(l, l->next, n->right.count);
    return status ? status : judge(l);
}

const struct node_class merge_join_class = { .name = "merge join", .node_bytes = sizeof(struct merge_node), .local_bytes = sizeof(struct merge_local), .open = merge_open,
                                             .prepare = merge_prepare, .local = merge_local, .rewind = merge_rewind, .take = merge_take, .flush = merge_flush };
