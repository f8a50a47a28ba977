/* engine/exec/window.c - window functions over input that comes sorted by partition and order.
 *
 * Rows are kept until their partition is whole; then every function is computed for all of its rows and the partition goes
 * on, chunk by chunk: the input's columns, then the results. Memory is that of the largest partition.
 *
 * A frame is a range of row numbers within the partition, [start, end), less what EXCLUDE takes out. Aggregates: frames that
 * begin at the first row grow a running state; other frames are summed anew when they differ from the last row's. */
#include "engine/exec/operator.h"
#include "parser/tree.h"

enum over { AGGREGATE_OVER, ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE };
static const char *const names[] = { "", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value" };

struct item {
    const struct window_item *item;
    enum over function;
    uint16_t first_arg;                  /* column of the kept rows */
    uint16_t filter;                     /* column, or 0xFFFF */
    struct sql_type *arg_types;
    uint64_t start_offset, end_offset;   /* ROWS, GROUPS */
    struct value start_value, end_value; /* RANGE */
};
struct window_node {
    struct exec_node op;
    struct program *program;             /* arguments and filters */
    uint16_t output_count, left_count;
    struct sql_type *types;              /* of the kept rows: input, arguments */
    struct item *items;
};
struct window_local {
    struct local local;
    struct evaluation *evaluation;
    struct vector *columns;
    struct arena *arena;                 /* of the partition */
    struct rows rows;
    uint64_t *peer_start, *peer_end, *peer_group;
    struct vector **results;             /* by item, by chunk */
    uint64_t batches;
};

static enum status window_open(struct exec_node *op)
{
    struct window_node *n = (struct window_node *)op;
    const struct plan *plan = op->plan;
    struct arena *arena = op->run->arena;
    uint32_t total = 0;
    for (uint16_t k = 0; k < plan->window_count; k++)
        total += plan->windows[k].arg_count + 1u;
    struct scalar **exprs = arena_array(arena, struct scalar *, total + 1);
    n->left_count = plan->left->column_count;
    n->types = arena_array(arena, struct sql_type, n->left_count + total + 1u);
    n->items = arena_array(arena, struct item, plan->window_count + 1u);
    memcpy(n->types, plan->left->types, n->left_count * sizeof *n->types);
    for (uint16_t k = 0; k < plan->window_count; k++) {
        const struct window_item *w = &plan->windows[k];
        struct item *item = &n->items[k];
        item->item = w;
        item->first_arg = (uint16_t)(n->left_count + n->output_count);
        item->arg_types = &n->types[item->first_arg];
        for (uint32_t a = 0; a < w->arg_count; a++) {
            n->types[n->left_count + n->output_count] = w->args[a]->type;
            exprs[n->output_count++] = w->args[a];
        }
        item->filter = 0xFFFF;
        if (w->filter) {
            item->filter = (uint16_t)(n->left_count + n->output_count);
            n->types[item->filter] = w->filter->type;
            exprs[n->output_count++] = w->filter;
        }
        if (w->aggregate)
            continue;
        for (enum over f = ROW_NUMBER; f <= NTH_VALUE; f++)
            if (strcmp(names[f], w->function->name) == 0)
                item->function = f;
        if (item->function == AGGREGATE_OVER)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "window function %s is not supported", w->function->name);
    }
    return node_program(op, 0, exprs, n->output_count, &n->program);
}

static enum status window_local(struct local *local)
{
    struct window_local *l = (struct window_local *)local;
    struct window_node *n = (struct window_node *)local->op;
    struct arena *arena = local->worker->arena;
    l->columns = arena_array(arena, struct vector, n->left_count + n->output_count + 1u);
    l->results = arena_array(arena, struct vector *, local->op->plan->window_count + 1u);
    l->arena = arena_open(arena, "partition");
    return evaluation_open(n->program, local->worker->run, arena, &l->evaluation);
}

static void start_partition(struct window_local *l)
{
    struct window_node *n = (struct window_node *)l->local.op;
    arena_reset(l->arena);
    rows_open(&l->rows, l->arena, n->types, (uint16_t)(n->left_count + n->output_count));
}

static const struct vector *at(const struct window_local *l, uint64_t row, uint16_t column) { return rows_column(&l->rows, row, column); }

static bool same_order(const struct window_local *l, uint64_t a, uint64_t b)
{
    const struct plan *plan = l->local.op->plan;
    for (uint16_t k = 0; k < plan->sort_count; k++) {
        uint16_t c = plan->sort[k].column;
        if (!same_value(plan->left->types[c], at(l, a, c), rows_at(a), at(l, b, c), rows_at(b)))
            return false;
    }
    return true;
}

/* ---- frames ---- */

/* Where key of row i, moved by the offset, would stand: the first row that isn't before it (after: that is behind it). */
static enum status range_bound(struct window_local *l, uint64_t i, const struct item *item, const struct value *offset, struct sql_type offset_type, bool preceding, bool after, uint64_t *out)
{
    const struct plan *plan = l->local.op->plan;
    uint64_t count = l->rows.count;
    const struct sort_item *sort = &plan->sort[0];
    struct sql_type type = plan->left->types[sort->column];
    const struct vector *key = at(l, i, sort->column);
    (void)item;
    if (vector_null(key, rows_at(i))) {  /* nulls are peers of each other only */
        *out = after ? l->peer_end[i] : l->peer_start[i];
        return STATUS_OK;
    }
    bool minus = preceding != sort->descending;
    size_t found;
    const struct operator *const *operators = operators_named(minus ? "-" : "+", &found);
    const struct function *function = NULL;
    struct sql_type wanted = offset_type;
    for (size_t k = 0; k < found && !function; k++)
        if (operators[k]->left == type.oid && operators[k]->right == offset_type.oid)
            function = operators[k]->function;
    if (!function)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "RANGE with offset PRECEDING/FOLLOWING is not supported for this column and offset type");
    struct vector args[2], moved;
    struct sql_type arg_types[2] = { type, wanted }, result = type_make(function->result, -1);
    kernel_fn kernel = function->kernel;
    const void *data = NULL;
    if (function->bind) {
        const struct value *constants[2] = { NULL, NULL };
        struct function_bind bind = { .arena = l->arena, .arg_count = 2, .arg_types = arg_types, .constants = constants, .kernel = kernel, .result = result };
        enum status status = function->bind(&bind);
        if (status)
            return status;
        kernel = bind.kernel;
        data = bind.data;
        result = bind.result;
    }
    args[0] = (struct vector){ .values = (uint8_t *)key->values + rows_at(i) * width_bytes(key->width), .width = key->width, .constant = true };
    vector_of_value(&args[1], offset, wanted.width);
    vector_make(&moved, l->arena, result.width, 1);
    moved.nulls[0] = 0;
    uint16_t error_at = 0;
    struct kernel_call call = { .out = &moved, .args = args, .arg_count = 2, .count = 1, .row_count = 1, .arena = l->arena, .data = data, .error_at = &error_at, .out_type = result, .arg_types = arg_types };
    enum status status = kernel(&call);
    if (status == STATUS_OUT_OF_RANGE || status == STATUS_DATETIME_OVERFLOW) {   /* past the end of the type: past all rows */
        *out = preceding ? 0 : count;
        return STATUS_OK;
    }
    if (status)
        return status;
    if (result.oid != type.oid || result.width != type.width || result.scale != type.scale) {
        struct value value = value_get(result, &moved, 0), converted;
        struct vector v;
        struct text_buffer text;
        text_buffer_open(&text, l->arena);
        vector_of_value(&v, &value, result.width);
        type_out(result, &v, 0, &text);
        status = type_in(type_make(type.oid, -1), text.bytes, text.length, l->arena, &converted);
        if (status)
            return status;
        vector_make(&moved, l->arena, type.width, 1);
        moved.nulls[0] = 0;
        value_put(type, &converted, &moved, 0);
    }
    /* nulls stand at one end */
    uint64_t low = 0, high = count;
    while (low < high && vector_null(at(l, low, sort->column), rows_at(low)))
        low = l->peer_end[low];
    while (high > low && vector_null(at(l, high - 1, sort->column), rows_at(high - 1)))
        high = l->peer_start[high - 1];
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        int order = type_compare(type, at(l, middle, sort->column), rows_at(middle), &moved, 0);
        if (sort->descending)
            order = -order;
        if (after ? order <= 0 : order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return STATUS_OK;
}

static uint64_t group_start(const struct window_local *l, int64_t group)
{
    uint64_t low = 0, high = l->rows.count;
    if (group < 0)
        return 0;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (l->peer_group[middle] < (uint64_t)group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status frame_of(struct window_local *l, const struct item *item, uint64_t i, uint64_t *start, uint64_t *end)
{
    const struct window_definition *f = item->item->frame;
    uint64_t count = l->rows.count;
    enum frame_mode mode = f && f->has_frame ? f->mode : FRAME_RANGE;
    enum frame_bound first = f && f->has_frame ? f->start : BOUND_UNBOUNDED_PRECEDING, last = f && f->has_frame ? f->end : BOUND_CURRENT_ROW;
    enum status status = STATUS_OK;
    switch (first) {
    case BOUND_UNBOUNDED_PRECEDING: *start = 0; break;
    case BOUND_UNBOUNDED_FOLLOWING: *start = count; break;
    case BOUND_CURRENT_ROW: *start = mode == FRAME_ROWS ? i : l->peer_start[i]; break;
    default:
        if (mode == FRAME_ROWS)
            *start = first == BOUND_PRECEDING ? (item->start_offset > i ? 0 : i - item->start_offset) : (item->start_offset > count - i ? count : i + item->start_offset);
        else if (mode == FRAME_GROUPS)
            *start = item->start_offset > count ? (first == BOUND_PRECEDING ? 0 : count)
                                                : group_start(l, (int64_t)l->peer_group[i] + (first == BOUND_PRECEDING ? -(int64_t)item->start_offset : (int64_t)item->start_offset));
        else
            status = range_bound(l, i, item, &item->start_value, item->item->start_offset->type, first == BOUND_PRECEDING, false, start);
    }
    if (status)
        return status;
    switch (last) {
    case BOUND_UNBOUNDED_PRECEDING: *end = 0; break;
    case BOUND_UNBOUNDED_FOLLOWING: *end = count; break;
    case BOUND_CURRENT_ROW: *end = mode == FRAME_ROWS ? i + 1 : l->peer_end[i]; break;
    default:
        if (mode == FRAME_ROWS)
            *end = last == BOUND_PRECEDING ? (item->end_offset > i ? 0 : i - item->end_offset + 1) : (item->end_offset >= count - i ? count : i + item->end_offset + 1);
        else if (mode == FRAME_GROUPS)
            *end = item->end_offset > count ? (last == BOUND_PRECEDING ? 0 : count)
                                            : group_start(l, (int64_t)l->peer_group[i] + 1 + (last == BOUND_PRECEDING ? -(int64_t)item->end_offset : (int64_t)item->end_offset));
        else
            status = range_bound(l, i, item, &item->end_value, item->item->end_offset->type, last == BOUND_PRECEDING, true, end);
    }
    if (*start > *end)
        *start = *end;
    return status;
}

/* Is row j of row i's frame left out by EXCLUDE? */
static bool excluded(const struct window_local *l, const struct item *item, uint64_t i, uint64_t j)
{
    const struct window_definition *f = item->item->frame;
    switch (f ? f->exclusion : EXCLUDE_NO_OTHERS) {
    case EXCLUDE_CURRENT_ROW: return i == j;
    case EXCLUDE_GROUP:       return l->peer_group[i] == l->peer_group[j];
    case EXCLUDE_TIES:        return l->peer_group[i] == l->peer_group[j] && i != j;
    default:                  return false;
    }
}

static enum status bounds_evaluate(struct window_local *l, struct item *item)
{
    const struct window_item *w = item->item;
    const struct window_definition *f = w->frame;
    for (int side = 0; side < 2; side++) {
        struct scalar *offset = side ? w->end_offset : w->start_offset;
        if (!offset || !f)
            continue;
        const char *which = side ? "ending" : "starting";
        struct value value;
        enum status status = run_scalar_in(l->local.worker->run, l->local.worker->arena, offset, &value);
        if (status)
            return status;
        if (value.null)
            return error_set(STATUS_NULL_NOT_ALLOWED, "frame %s offset must not be null", which);
        if (f->mode != FRAME_RANGE) {
            int64_t n = offset->type.width == 4 ? value.i4 : offset->type.width == 2 ? value.i2 : value.i8;
            if (n < 0)
                return error_set(STATUS_INVALID_FRAME_OFFSET, "frame %s offset must not be negative", which);
            *(side ? &item->end_offset : &item->start_offset) = (uint64_t)n;
        }
        *(side ? &item->end_value : &item->start_value) = value;
    }
    return STATUS_OK;
}

/* ---- aggregates ---- */

/* Adds rows [from, to) of the partition to the state. */
static enum status add_rows(struct window_local *l, const struct item *item, void *state, uint64_t from, uint64_t to, uint64_t row)
{
    const struct window_item *w = item->item;
    bool exclusion = w->frame && w->frame->has_frame && w->frame->exclusion != EXCLUDE_NO_OTHERS;
    while (from < to) {
        uint64_t chunk = from / ROWS_CHUNK, end = (chunk + 1) * ROWS_CHUNK < to ? (chunk + 1) * ROWS_CHUNK : to;
        row_pos positions[ROWS_CHUNK];
        uint16_t count = 0, error_at = 0;
        const struct vector *args = &l->rows.chunks[chunk].columns[item->first_arg];
        for (uint64_t j = from; j < end; j++) {
            uint16_t p = rows_at(j);
            bool take = !exclusion || !excluded(l, item, row, j);
            if (take && item->filter != 0xFFFF) {
                const struct vector *filter = at(l, j, item->filter);
                take = !vector_null(filter, p) && VECTOR(uint8_t, filter, p);
            }
            for (uint32_t a = 0; a < w->arg_count && take && w->aggregate->strict; a++)
                take = !vector_null(&args[a], p);
            if (take)
                positions[count++] = p;
        }
        struct aggregate_call call = { .args = args, .arg_types = item->arg_types, .arg_count = w->arg_count, .selection = positions, .count = count, .arena = l->arena, .error_at = &error_at };
        enum status status = count ? w->aggregate->update_one(&call, state) : STATUS_OK;
        if (status)
            return status;
        from = end;
    }
    return STATUS_OK;
}

static void put(struct window_local *l, uint16_t k, uint64_t row, struct sql_type type, const struct value *value)
{
    struct vector *v = &l->results[k][row / ROWS_CHUNK];
    v->nulls[rows_at(row)] = value->null;
    if (value->null)
        memset((uint8_t *)v->values + rows_at(row) * width_bytes(v->width), 0, width_bytes(v->width));
    else
        value_put(type, value, v, rows_at(row));
}

static enum status aggregate_over(struct window_local *l, uint16_t k)
{
    struct window_node *n = (struct window_node *)l->local.op;
    const struct item *item = &n->items[k];
    const struct window_item *w = item->item;
    const struct window_definition *f = w->frame;
    bool exclusion = f && f->has_frame && f->exclusion != EXCLUDE_NO_OTHERS;
    bool growing = (!f || !f->has_frame || f->start == BOUND_UNBOUNDED_PRECEDING) && !exclusion;
    uint64_t done_start = 0, done_end = 0;
    bool have = false;
    void *state = arena_zero(l->arena, w->aggregate->state_bytes + 16);
    struct value value = {0};
    for (uint64_t i = 0; i < l->rows.count; i++) {
        uint64_t start, end;
        enum status status = frame_of(l, item, i, &start, &end);
        if (status)
            return status;
        if (!have || exclusion || start != done_start || end != done_end) {
            if (!growing || (have && end < done_end)) {
                memset(state, 0, w->aggregate->state_bytes);
                done_end = start;
            } else if (!have) {
                done_end = start;
            }
            status = add_rows(l, item, state, done_end, end, i);
            if (!status)
                status = w->aggregate->finish(state, w->type, l->arena, &value);
            done_start = start;
            done_end = end > done_end ? end : done_end;
            have = true;
            if (!status && i % 1024 == 0)
                status = run_check(l->local.worker);
            if (status)
                return status;
        }
        put(l, k, i, w->type, &value);
    }
    return STATUS_OK;
}

/* ---- the others ---- */

static struct value arg_value(struct window_local *l, const struct item *item, uint16_t a, uint64_t row)
{
    const struct vector *v = at(l, row, (uint16_t)(item->first_arg + a));
    if (vector_null(v, rows_at(row)))
        return (struct value){ .null = true };
    return value_get(item->arg_types[a], v, rows_at(row));
}

static enum status compute_row(struct window_local *l, uint16_t k, uint64_t i, struct value *out)
{
    struct window_node *n = (struct window_node *)l->local.op;
    const struct item *item = &n->items[k];
    const struct window_item *w = item->item;
    uint64_t count = l->rows.count, start, end;
    enum status status = STATUS_OK;
    *out = (struct value){0};
    switch (item->function) {
    case ROW_NUMBER:   out->i8 = (int64_t)i + 1; break;
    case RANK:         out->i8 = (int64_t)l->peer_start[i] + 1; break;
    case DENSE_RANK:   out->i8 = (int64_t)l->peer_group[i] + 1; break;
    case PERCENT_RANK: out->f8 = count > 1 ? (double)l->peer_start[i] / (double)(count - 1) : 0; break;
    case CUME_DIST:    out->f8 = (double)l->peer_end[i] / (double)count; break;
    case NTILE: {
        struct value buckets = arg_value(l, item, 0, i);
        if (buckets.null) {
            out->null = true;
            break;
        }
        if (buckets.i4 <= 0)
            return error_set(STATUS_INVALID_NTILE, "argument of ntile must be greater than zero");
        uint64_t size = count / (uint64_t)buckets.i4, larger = count % (uint64_t)buckets.i4;
        if (i < larger * (size + 1))
            out->i4 = (int32_t)(i / (size + 1)) + 1;
        else
            out->i4 = (int32_t)(larger + (i - larger * (size + 1)) / size) + 1;
        break;
    }
    case LAG: case LEAD: {
        struct value offset = { .i4 = 1 };
        if (w->arg_count > 1)
            offset = arg_value(l, item, 1, i);
        if (offset.null) {
            out->null = true;
            break;
        }
        int64_t to = (int64_t)i + (item->function == LAG ? -(int64_t)offset.i4 : (int64_t)offset.i4);
        if (to >= 0 && (uint64_t)to < count)
            *out = arg_value(l, item, 0, (uint64_t)to);
        else if (w->arg_count > 2)
            *out = arg_value(l, item, 2, i);
        else
            out->null = true;
        break;
    }
    case FIRST_VALUE: case LAST_VALUE: case NTH_VALUE: {
        int64_t nth = 1;
        status = frame_of(l, item, i, &start, &end);
        if (status)
            return status;
        if (item->function == NTH_VALUE) {
            struct value number = arg_value(l, item, 1, i);
            if (number.null) {
                out->null = true;
                break;
            }
            nth = number.i4;
            if (nth <= 0)
                return error_set(STATUS_INVALID_NTH_VALUE, "argument of nth_value must be greater than zero");
        }
        out->null = true;
        if (item->function == LAST_VALUE) {
            for (uint64_t j = end; j > start; j--)
                if (!excluded(l, item, i, j - 1)) {
                    *out = arg_value(l, item, 0, j - 1);
                    break;
                }
            break;
        }
        bool exclusion = w->frame && w->frame->has_frame && w->frame->exclusion != EXCLUDE_NO_OTHERS;
        if (!exclusion) {
            if ((uint64_t)nth <= end - start)
                *out = arg_value(l, item, 0, start + (uint64_t)nth - 1);
            break;
        }
        for (uint64_t j = start; j < end; j++)
            if (!excluded(l, item, i, j) && --nth == 0) {
                *out = arg_value(l, item, 0, j);
                break;
            }
        break;
    }
    case AGGREGATE_OVER: break;
    }
    return status;
}

static enum status finish_partition(struct window_local *l)
{
    struct window_node *n = (struct window_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    uint64_t count = l->rows.count;
    enum status status = STATUS_OK;
    if (count == 0)
        return STATUS_OK;
    l->peer_start = arena_alloc(l->arena, count * sizeof(uint64_t));
    l->peer_end = arena_alloc(l->arena, count * sizeof(uint64_t));
    l->peer_group = arena_alloc(l->arena, count * sizeof(uint64_t));
    uint64_t group = 0;
    for (uint64_t i = 0; i < count;) {
        uint64_t end = i + 1;
        while (end < count && same_order(l, i, end))
            end++;
        for (uint64_t j = i; j < end; j++) {
            l->peer_start[j] = i;
            l->peer_end[j] = end;
            l->peer_group[j] = group;
        }
        group++;
        i = end;
    }
    for (uint16_t k = 0; k < plan->window_count && !status; k++) {
        l->results[k] = arena_array(l->arena, struct vector, l->rows.chunk_count);
        for (uint32_t c = 0; c < l->rows.chunk_count; c++)
            vector_make(&l->results[k][c], l->arena, plan->windows[k].type.width, l->rows.chunks[c].count);
        if (n->items[k].function == AGGREGATE_OVER) {
            status = aggregate_over(l, k);
            continue;
        }
        for (uint64_t i = 0; i < count && !status; i++) {
            struct value value;
            status = compute_row(l, k, i, &value);
            if (!status)
                put(l, k, i, plan->windows[k].type, &value);
        }
    }
    struct vector *out = arena_array(l->arena, struct vector, plan->column_count + 1u);
    for (uint32_t c = 0; c < l->rows.chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(&l->rows, c, &batch);
        for (uint16_t k = 0; k < plan->column_count; k++)
            out[k] = k < n->left_count ? batch.columns[k] : l->results[k - n->left_count][c];
        batch.columns = out;
        batch.column_count = plan->column_count;
        batch.grain = l->batches++ / GRAIN_BATCHES;
        status = run_check(l->local.worker);
        if (!status)
            status = local_push(&l->local, &batch);
    }
    start_partition(l);
    return status;
}

static bool same_partition(const struct window_local *l, uint64_t kept, const struct batch *batch, uint16_t i)
{
    const struct plan *plan = l->local.op->plan;
    for (uint16_t k = 0; k < plan->partition_count; k++) {
        uint16_t c = plan->partition[k];
        if (!same_value(plan->left->types[c], at(l, kept, c), rows_at(kept), &batch->columns[c], i))
            return false;
    }
    return true;
}

static enum status window_take(struct local *local, const struct batch *batch)
{
    struct window_local *l = (struct window_local *)local;
    struct window_node *n = (struct window_node *)local->op;
    uint16_t error_at;
    enum status status = evaluation_run(l->evaluation, batch, l->columns + n->left_count, &error_at);
    if (status)
        return status;
    memcpy(l->columns, batch->columns, n->left_count * sizeof *l->columns);
    struct batch all = *batch;
    all.columns = l->columns;
    all.column_count = (uint16_t)(n->left_count + n->output_count);
    row_pos run[BATCH_MAX];
    uint16_t count = 0;
    for (BATCH_EACH(batch, i)) {
        bool same = true;
        if (count)
            for (uint16_t k = 0; k < n->op.plan->partition_count && same; k++) {
                uint16_t c = n->op.plan->partition[k];
                same = same_value(n->op.plan->left->types[c], &batch->columns[c], run[count - 1], &batch->columns[c], i);
            }
        else if (l->rows.count)
            same = same_partition(l, l->rows.count - 1, batch, i);
        if (!same) {
            rows_append_some(&l->rows, &all, run, count);
            count = 0;
            status = finish_partition(l);
            if (status)
                return status;
        }
        run[count++] = i;
    }
    rows_append_some(&l->rows, &all, run, count);
    return STATUS_OK;
}

static enum status window_source(struct local *local)
{
    struct window_local *l = (struct window_local *)local;
    struct window_node *n = (struct window_node *)local->op;
    enum status status = STATUS_OK;
    l->batches = 0;
    start_partition(l);
    for (uint16_t k = 0; k < local->op->plan->window_count && !status; k++)
        status = bounds_evaluate(l, &n->items[k]);
    if (!status)
        status = node_run(local->op->left, local);
    if (!status)
        status = finish_partition(l);
    return status;
}

const struct node_class window_class = { .name = "window", .node_bytes = sizeof(struct window_node), .local_bytes = sizeof(struct window_local), .open = window_open,
                                         .local = window_local, .source = window_source, .take = window_take };
