/* engine/exec/window_frame.c - frames: which rows of its partition a window function sees for a row.
 *
 * A frame is a range of row numbers, [start, end), less what EXCLUDE takes out. Frames of all rows are found before the function
 * is computed. RANGE with an offset: the offset is added to (or taken off) the keys of a whole chunk by one call of the operator's
 * kernel; where the moved key would stand is looked for from where the last one stood, since both move the same way. */
#include "engine/exec/window_private.h"
#include "engine/types/numeric.h"

/* ---- keys and moved keys ---- */

static bool same_form(struct sql_type a, struct sql_type b) { return a.oid == b.oid && a.width == b.width && a.scale == b.scale; }
static bool is_integer(struct sql_type t) { return t.oid == OID_INT2 || t.oid == OID_INT4 || t.oid == OID_INT8; }
static bool is_float(struct sql_type t) { return t.oid == OID_FLOAT4 || t.oid == OID_FLOAT8; }

/* Moving a key may give another type, or form: date and interval a timestamp, int2 and int4 an int4, numerics more digits. */
static bool comparable(struct sql_type key, struct sql_type moved)
{
    return same_form(key, moved) || (is_integer(key) && is_integer(moved)) || (is_float(key) && is_float(moved)) || (key.oid == OID_NUMERIC && moved.oid == OID_NUMERIC) ||
           (key.oid == OID_DATE && moved.oid == OID_TIMESTAMP);
}

static int64_t integer_at(struct sql_type t, const struct vector *v, size_t at)
{
    return t.width == 2 ? VECTOR(int16_t, v, at) : t.width == 4 ? VECTOR(int32_t, v, at) : VECTOR(int64_t, v, at);
}
static double float_at(struct sql_type t, const struct vector *v, size_t at)
{
    return t.width == 4 ? (double)VECTOR(float, v, at) : VECTOR(double, v, at);
}

static int compare_moved(struct sql_type key, const struct vector *v, size_t i, struct sql_type moved, const struct vector *w, size_t at)
{
    if (same_form(key, moved))
        return type_compare(key, v, i, w, at);
    if (key.oid == OID_NUMERIC) {
        struct numeric a, b;
        numeric_read(key, v, i, &a);
        numeric_read(moved, w, at, &b);
        int order = numeric_compare(&a, &b);
        numeric_free(&a);
        numeric_free(&b);
        return order;
    }
    if (is_float(key)) {
        double a = float_at(key, v, i), b = float_at(moved, w, at);
        struct vector x = { .values = &a, .width = 8 }, y = { .values = &b, .width = 8 };
        return type_compare(type_make(OID_FLOAT8, -1), &x, 0, &y, 0);
    }
    int64_t a = key.oid == OID_DATE ? VECTOR(int32_t, v, i) : integer_at(key, v, i), b = integer_at(moved, w, at);
    if (key.oid == OID_DATE)             /* midnight; the infinities stay */
        a = a == INT32_MAX ? INT64_MAX : a == INT32_MIN ? INT64_MIN : a * 86400000000;
    return a < b ? -1 : a > b;
}

/* ---- offsets ---- */

static enum status refuse(void)
{
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "RANGE with offset PRECEDING/FOLLOWING is not supported for this column and offset type");
}

/* The operator that moves the key by the offset. */
static enum status range_bind(struct arena *arena, struct sql_type key, bool minus, struct frame_offset *o)
{
    size_t found;
    const struct operator *const *operators = operators_named(minus ? "-" : "+", &found);
    const struct function *function = NULL;
    for (size_t k = 0; k < found && !function; k++)
        if (operators[k]->left == key.oid && operators[k]->right == o->type.oid)
            function = operators[k]->function;
    if (!function)
        return refuse();
    o->kernel = function->kernel;
    o->result = type_make(function->result, -1);
    if (!function->bind)
        return comparable(key, o->result) ? STATUS_OK : refuse();
    struct sql_type *arg_types = arena_array(arena, struct sql_type, 2);
    const struct value *constants[2] = { NULL, NULL };
    arg_types[0] = key;
    arg_types[1] = o->type;
    struct function_bind bind = { .arena = arena, .arg_count = 2, .arg_types = arg_types, .constants = constants, .kernel = o->kernel, .result = o->result };
    enum status status = function->bind(&bind);
    o->kernel = bind.kernel;
    o->data = bind.data;
    o->result = bind.result;
    return status || comparable(key, o->result) ? status : refuse();
}

enum status frame_offsets(struct run *run, struct arena *arena, const struct window_node *n, struct item *item)
{
    const struct window_item *w = item->item;
    const struct window_definition *f = w->frame;
    const struct plan *plan = n->op.plan;
    for (int side = 0; side < 2; side++) {
        struct scalar *scalar = side ? w->end_offset : w->start_offset;
        struct frame_offset *o = side ? &item->end : &item->start;
        const char *which = side ? "ending" : "starting";
        if (!scalar || !f)
            continue;
        enum status status = run_scalar_in(run, arena, scalar, &o->value);
        if (status)
            return status;
        o->type = scalar->type;
        if (o->value.null)
            return error_set(STATUS_NULL_NOT_ALLOWED, "frame %s offset must not be null", which);
        if (f->mode == FRAME_RANGE) {
            struct value zero;
            struct vector values[2];
            status = type_in(o->type, "0", 1, arena, &zero);
            if (status)
                return status;
            vector_of_value(&values[0], &o->value, o->type.width);
            vector_of_value(&values[1], &zero, o->type.width);
            if (type_compare(o->type, &values[0], 0, &values[1], 0) < 0)
                return error_set(STATUS_INVALID_FRAME_OFFSET, "invalid preceding or following size in window function");
            bool preceding = (side ? f->end : f->start) == BOUND_PRECEDING;
            status = range_bind(arena, plan->left->types[plan->sort[0].column], preceding != plan->sort[0].descending, o);
            if (status)
                return status;
            continue;
        }
        int64_t rows = o->type.width == 4 ? o->value.i4 : o->type.width == 2 ? o->value.i2 : o->value.i8;
        if (rows < 0)
            return error_set(STATUS_INVALID_FRAME_OFFSET, "frame %s offset must not be negative", which);
        o->rows = (uint64_t)rows;
    }
    return STATUS_OK;
}

/* ---- RANGE ---- */

struct moved { struct vector v; struct sql_type type; uint8_t *past; };      /* of a chunk: the moved keys; past: beyond the end of the type */

/* Keys of the rows of one chunk, moved. A key that can't be is past all rows. */
static enum status keys_move(const struct part *p, struct arena *arena, const struct frame_offset *o, const struct vector *keys, uint16_t chunk_rows, const row_pos *rows, uint16_t count, struct moved *m)
{
    const struct plan *plan = p->node->op.plan;
    struct sql_type key = plan->left->types[plan->sort[0].column], arg_types[2] = { key, o->type };
    struct vector args[2] = { *keys };
    uint16_t error_at = 0;
    vector_of_value(&args[1], &o->value, o->type.width);
    vector_make(&m->v, arena, o->result.width, ROWS_CHUNK);
    m->type = o->result;
    m->past = arena_zero(arena, ROWS_CHUNK);
    memset(m->v.nulls, 0, ROWS_CHUNK);
    args[0].nulls = NULL;
    struct kernel_call call = { .out = &m->v, .args = args, .arg_count = 2, .selection = rows, .count = count, .row_count = chunk_rows, .arena = arena, .data = o->data,
                                .error_at = &error_at, .out_type = o->result, .arg_types = arg_types };
    enum status status = count ? o->kernel(&call) : STATUS_OK;
    if (status != STATUS_OUT_OF_RANGE && status != STATUS_DATETIME_OVERFLOW)
        return status;
    for (uint16_t k = 0; k < count; k++) {           /* some are past the end of the type: one by one */
        call.selection = &rows[k];
        call.count = 1;
        status = o->kernel(&call);
        m->past[rows[k]] = status != STATUS_OK;
        if (status && status != STATUS_OUT_OF_RANGE && status != STATUS_DATETIME_OVERFLOW)
            return status;
    }
    error_clear();
    return STATUS_OK;
}

/* Does row j stand before the moved key (after: or beside it)? */
static bool stands_before(const struct part *p, uint64_t j, const struct moved *m, uint16_t at, bool after)
{
    const struct plan *plan = p->node->op.plan;
    const struct sort_item *sort = &plan->sort[0];
    int order = compare_moved(plan->left->types[sort->column], part_column(p, j, sort->column), part_at(p, j), m->type, &m->v, at);
    if (sort->descending)
        order = -order;
    return after ? order <= 0 : order < 0;
}

/* The first row in [low, high) that doesn't stand before; looked for around `from` first. */
static uint64_t range_search(const struct part *p, uint64_t low, uint64_t high, uint64_t from, const struct moved *m, uint16_t at, bool after)
{
    uint64_t step = 1;
    from = from < low ? low : from > high ? high : from;
    if (from > low && !stands_before(p, from - 1, m, at, after)) {
        high = from - 1;
    } else {
        low = from;
        while (low + step <= high && stands_before(p, low + step - 1, m, at, after)) {
            low += step;
            step *= 2;
        }
        if (low + step <= high)
            high = low + step - 1;
    }
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (stands_before(p, middle, m, at, after))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One side of all frames. */
static enum status range_side(const struct part *p, const struct frame_offset *o, bool preceding, bool after, uint64_t *out)
{
    const struct sort_item *sort = &p->node->op.plan->sort[0];
    const struct block *b = p->block;
    uint64_t low = 0, high = p->count, from = 0;
    struct arena *arena = arena_open(p->scratch, "moved keys");          /* of a chunk's */
    /* nulls stand at one end, and are peers of each other only */
    while (low < high && vector_null(part_column(p, low, sort->column), part_at(p, low)))
        low = b->peer_end[p->first + low];
    while (high > low && vector_null(part_column(p, high - 1, sort->column), part_at(p, high - 1)))
        high = b->peer_start[p->first + high - 1];
    for (uint64_t i = 0; i < p->count; i++)
        if (i < low || i >= high)
            out[i] = after ? b->peer_end[p->first + i] : b->peer_start[p->first + i];
    for (uint64_t i = low; i < high;) {
        const struct vector *keys = part_column(p, i, sort->column);
        row_pos rows[ROWS_CHUNK];
        uint16_t count = 0;
        struct moved m;
        arena_reset(arena);
        for (; i + count < high && part_column(p, i + count, sort->column) == keys; count++)
            rows[count] = part_at(p, i + count);
        enum status status = keys_move(p, arena, o, keys, b->rows.chunks[(p->first + i) / ROWS_CHUNK].count, rows, count, &m);
        if (!status)
            status = run_check(p->worker);
        if (status)
            return status;
        for (uint16_t k = 0; k < count; k++, i++) {
            if (m.past[rows[k]])
                out[i] = preceding ? 0 : p->count;
            else
                out[i] = from = range_search(p, low, high, from, &m, rows[k], after);
        }
    }
    return STATUS_OK;
}

/* ---- all frames ---- */

/* First row of that group of peers, which stands near row `near`. */
static uint64_t group_start(const struct part *p, uint64_t near, int64_t group)
{
    const uint64_t *groups = p->block->peer_group + p->first;
    if (group < 0)
        return 0;
    uint64_t low = 0, high = p->count;
    if ((uint64_t)group > groups[near])
        low = near + 1;
    else
        high = near + 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (groups[middle] < (uint64_t)group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the frame of row i begins (end: ends); not for RANGE with an offset. */
static uint64_t bound_of(const struct part *p, enum frame_mode mode, enum frame_bound bound, uint64_t offset, bool end, uint64_t i)
{
    const struct block *b = p->block;
    uint64_t count = p->count;
    switch (bound) {
    case BOUND_UNBOUNDED_PRECEDING: return 0;
    case BOUND_UNBOUNDED_FOLLOWING: return count;
    case BOUND_CURRENT_ROW:
        if (mode == FRAME_ROWS)
            return i + end;
        return end ? b->peer_end[p->first + i] : b->peer_start[p->first + i];
    default: break;
    }
    bool preceding = bound == BOUND_PRECEDING;
    if (mode == FRAME_ROWS) {
        if (preceding)
            return offset > i ? 0 : i - offset + end;
        return offset >= count - i ? count : i + offset + end;
    }
    if (offset > count)
        return preceding ? 0 : count;
    int64_t group = (int64_t)b->peer_group[p->first + i] + end;
    return group_start(p, i, preceding ? group - (int64_t)offset : group + (int64_t)offset);
}

static enum status bound_side(const struct part *p, enum frame_mode mode, enum frame_bound bound, uint64_t offset, bool end, uint64_t *out)
{
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < p->count && !status; i++) {
        out[i] = bound_of(p, mode, bound, offset, end, i);
        if (i % 4096 == 4095)
            status = run_check(p->worker);
    }
    return status;
}

static bool has_offset(enum frame_bound bound) { return bound == BOUND_PRECEDING || bound == BOUND_FOLLOWING; }

enum status frames_find(const struct part *p, const struct item *item)
{
    const struct window_definition *f = item->item->frame;
    bool given = f && f->has_frame;
    enum frame_mode mode = given ? f->mode : FRAME_RANGE;
    enum frame_bound start = given ? f->start : BOUND_UNBOUNDED_PRECEDING, end = given ? f->end : BOUND_CURRENT_ROW;
    uint64_t *starts = p->block->starts + p->first, *ends = p->block->ends + p->first;
    enum status status = mode == FRAME_RANGE && has_offset(start) ? range_side(p, &item->start, start == BOUND_PRECEDING, false, starts)
                                                                  : bound_side(p, mode, start, item->start.rows, false, starts);
    if (!status)
        status = mode == FRAME_RANGE && has_offset(end) ? range_side(p, &item->end, end == BOUND_PRECEDING, true, ends)
                                                        : bound_side(p, mode, end, item->end.rows, true, ends);
    for (uint64_t i = 0; i < p->count && !status; i++)
        if (starts[i] > ends[i])
            starts[i] = ends[i];
    return status;
}

int frame_pieces(const struct part *p, const struct item *item, uint64_t row, struct frame_piece out[3])
{
    const struct window_definition *f = item->item->frame;
    const struct block *b = p->block;
    uint64_t start = b->starts[p->first + row], end = b->ends[p->first + row], from = row, to = row + 1;      /* [from, to) goes */
    enum frame_exclusion exclusion = f && f->has_frame ? f->exclusion : EXCLUDE_NO_OTHERS;
    int n = 0;
    if (exclusion == EXCLUDE_NO_OTHERS) {
        out[n++] = (struct frame_piece){ start, end };
        return n;
    }
    if (exclusion != EXCLUDE_CURRENT_ROW) {
        from = b->peer_start[p->first + row];
        to = b->peer_end[p->first + row];
    }
    if (start < from)
        out[n++] = (struct frame_piece){ start, from < end ? from : end };
    if (exclusion == EXCLUDE_TIES && start <= row && row < end)
        out[n++] = (struct frame_piece){ row, row + 1 };
    if (to < end)
        out[n++] = (struct frame_piece){ to > start ? to : start, end };
    return n;
}
