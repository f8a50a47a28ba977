/* engine/exec/window_compute.c - window functions, each for all rows of one partition.
 *
 * Aggregates: frames that begin at the first row and only grow extend one running state. Others, when they are long, are put together
 * from a tree of states over runs of TREE_LEAF rows (a node stands over two below it), so that a row costs the logarithm of its
 * frame; short ones, and aggregates that keep all values, are summed row by row. Which it is hangs on the partition's
 * rows alone. */
#include "engine/exec/window_private.h"

#define TREE_LEAF  64                    /* rows */
#define LONG_FRAME 512                   /* the tree is worth while from here on */

/* ---- aggregates ---- */

struct summing {
    const struct part *p;
    const struct item *item;
    uint32_t state_bytes;
    struct arena *arena;                 /* what the running state takes: moving() empties it before each frame */
    struct arena *tree;                  /* its nodes */
    uint8_t **levels; uint64_t *level_counts; uint8_t level_count;       /* of the tree */
    struct arena *made;                  /* results on their way into a file */
};

/* Adds rows [from, to) of the partition to the state, which takes its memory from the arena. */
static enum status add_rows(const struct summing *s, struct arena *arena, void *state, uint64_t from, uint64_t to)
{
    const struct part *p = s->p;
    const struct item *item = s->item;
    const struct window_item *w = item->item;
    while (from < to) {
        uint64_t here = p->first + from, room = ROWS_CHUNK - rows_at(here), some = to - from < room ? to - from : room;
        row_pos positions[ROWS_CHUNK];
        uint16_t count = 0, error_at = 0;
        const struct vector *args = &p->block->rows.chunks[here / ROWS_CHUNK].columns[item->first_arg];
        const struct vector *filter = item->filter == 0xFFFF ? NULL : &p->block->rows.chunks[here / ROWS_CHUNK].columns[item->filter];
        for (uint64_t k = 0; k < some; k++) {
            row_pos at = (row_pos)(rows_at(here) + k);
            bool take = !filter || (!vector_null(filter, at) && VECTOR(uint8_t, filter, at));
            for (uint32_t a = 0; a < w->arg_count && take && w->aggregate->strict; a++)
                take = !vector_null(&args[a], at);
            positions[count] = at;
            count = (uint16_t)(count + take);
        }
        struct aggregate_call call = { .args = args, .arg_types = item->arg_types, .arg_count = w->arg_count, .selection = positions, .count = count, .arena = arena, .error_at = &error_at };
        enum status status = count ? w->aggregate->update_one(&call, state) : STATUS_OK;
        if (status)
            return status;
        from += some;
    }
    return STATUS_OK;
}

static enum status tree_build(struct summing *s)
{
    const struct window_item *w = s->item->item;
    uint64_t count = s->p->count / TREE_LEAF;
    enum status status = STATUS_OK;
    s->tree = arena_open(s->p->scratch, "tree");
    s->levels = arena_array(s->tree, uint8_t *, 64);
    s->level_counts = arena_array(s->tree, uint64_t, 64);
    for (; count && !status; count /= 2, s->level_count++) {
        uint8_t *states = arena_zero(s->tree, count * s->state_bytes);
        const uint8_t *below = s->level_count ? s->levels[s->level_count - 1] : NULL;
        for (uint64_t i = 0; i < count && !status; i++) {
            uint8_t *state = states + i * s->state_bytes;
            if (!below) {
                status = add_rows(s, s->tree, state, i * TREE_LEAF, (i + 1) * TREE_LEAF);
                continue;
            }
            status = w->aggregate->combine(state, below + 2 * i * s->state_bytes, s->tree);
            if (!status)
                status = w->aggregate->combine(state, below + (2 * i + 1) * s->state_bytes, s->tree);
        }
        s->levels[s->level_count] = states;
        s->level_counts[s->level_count] = count;
        if (!status)
            status = run_check(s->p->worker);
    }
    return status;
}

/* The same as add_rows, through the tree where it has nodes for it. */
static enum status add_range(const struct summing *s, void *state, uint64_t from, uint64_t to)
{
    uint64_t leaf = (from + TREE_LEAF - 1) / TREE_LEAF, end = to / TREE_LEAF;
    if (!s->level_count || leaf >= end)
        return add_rows(s, s->arena, state, from, to);
    enum status status = add_rows(s, s->arena, state, from, leaf * TREE_LEAF);
    while (leaf < end && !status) {
        uint8_t level = 0;
        while (level + 1 < s->level_count && !(leaf >> level & 1) && leaf + (2ULL << level) <= end && (leaf >> (level + 1)) < s->level_counts[level + 1])
            level++;
        status = s->item->item->aggregate->combine(state, s->levels[level] + (leaf >> level) * s->state_bytes, s->arena);
        leaf += 1ULL << level;
    }
    return status ? status : add_rows(s, s->arena, state, end * TREE_LEAF, to);
}

static void put(const struct part *p, uint16_t number, uint64_t row, struct sql_type type, const struct value *value)
{
    uint64_t at = p->first + row;
    struct vector *v = &p->block->results[number][at / ROWS_CHUNK];
    v->nulls[rows_at(at)] = value->null;
    if (value->null)
        memset((uint8_t *)v->values + rows_at(at) * width_bytes(v->width), 0, width_bytes(v->width));
    else
        value_put(type, value, v, rows_at(at));
}

/* What the state comes to. It stays as long as the block; in a file, where the block lies there. */
static enum status finish(const struct summing *s, void *state, struct value *out)
{
    const struct window_item *w = s->item->item;
    const struct block *b = s->p->block;
    if (b->file)
        arena_reset(s->made);
    enum status status = w->aggregate->finish(state, w->type, b->file ? s->made : s->p->arena, out);
    if (status || !b->file || out->null || w->type.width != WIDTH_VARLEN || out->v.length == 0)
        return status;
    void *bytes;
    status = block_room(b, out->v.length, &bytes);
    if (status)
        return status;
    memcpy(bytes, out->v.bytes, out->v.length);
    out->v.bytes = bytes;
    return STATUS_OK;
}

/* Every so many rows: has somebody said stop? And a mapped block's pages go. */
static enum status pause_at(const struct part *p, uint64_t row)
{
    if (row % 65536 == 65535 && p->block->file)
        spill_map_rest(p->block->file);
    return row % 1024 == 1023 ? run_check(p->worker) : STATUS_OK;
}

/* The frame begins at the first row for all rows: one state that grows. */
static enum status growing(struct summing *s, uint16_t number)
{
    const struct window_item *w = s->item->item;
    const uint64_t *ends = s->p->block->ends + s->p->first;
    void *state = arena_zero(s->p->scratch, s->state_bytes);
    struct value value = {0};
    uint64_t done = 0;
    for (uint64_t i = 0; i < s->p->count; i++) {
        if (i == 0 || ends[i] != done) {
            enum status status = STATUS_OK;
            if (ends[i] < done) {
                memset(state, 0, s->state_bytes);
                done = 0;
            }
            status = add_rows(s, s->arena, state, done, ends[i]);
            if (!status)
                status = finish(s, state, &value);
            if (status)
                return status;
            done = ends[i];
        }
        put(s->p, number, i, w->type, &value);
        enum status status = pause_at(s->p, i);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* Any frames. A row whose frame is that of the row before it has its result, too. */
static enum status moving(struct summing *s, uint16_t number)
{
    const struct part *p = s->p;
    const struct window_item *w = s->item->item;
    struct frame_piece last[3] = {{0}};
    int last_count = -1;
    void *state = arena_zero(p->scratch, s->state_bytes);
    struct value value = {0};
    s->arena = arena_open(p->scratch, "frame");
    for (uint64_t i = 0; i < p->count; i++) {
        struct frame_piece pieces[3] = {{0}};
        int count = frame_pieces(p, s->item, i, pieces);
        if (count != last_count || memcmp(pieces, last, sizeof pieces) != 0) {
            enum status status = STATUS_OK;
            memset(state, 0, s->state_bytes);
            arena_reset(s->arena);
            for (int k = 0; k < count && !status; k++)
                status = add_range(s, state, pieces[k].from, pieces[k].to);
            if (!status)
                status = finish(s, state, &value);
            if (!status && i % 256 == 0)
                status = run_check(p->worker);
            if (status)
                return status;
            memcpy(last, pieces, sizeof last);
            last_count = count;
        }
        put(p, number, i, w->type, &value);
        enum status status = pause_at(p, i);
        if (status)
            return status;
    }
    arena_close(s->arena);
    return STATUS_OK;
}

static bool keeps_all(const struct aggregate *a)
{
    const char *name = a->function ? a->function->name : "";
    return strcmp(name, "string_agg") == 0 || strcmp(name, "array_agg") == 0;
}

static enum status aggregate_over(const struct part *p, uint16_t number)
{
    const struct item *item = &p->node->items[number];
    const struct window_definition *f = item->item->frame;
    struct summing s = { .p = p, .item = item, .arena = p->scratch, .made = p->block->file ? arena_open(p->scratch, "result") : NULL, .state_bytes = (item->item->aggregate->state_bytes + 15) & ~15u };
    bool given = f && f->has_frame, grows = !given || (f->start == BOUND_UNBOUNDED_PRECEDING && f->exclusion == EXCLUDE_NO_OTHERS);
    uint64_t longest = 0;
    for (uint64_t i = 0; i < p->count && !grows; i++) {
        uint64_t length = p->block->ends[p->first + i] - p->block->starts[p->first + i];
        longest = length > longest ? length : longest;
    }
    enum status status = longest >= LONG_FRAME && !keeps_all(item->item->aggregate) ? tree_build(&s) : STATUS_OK;
    if (!status)
        status = grows ? growing(&s, number) : moving(&s, number);
    arena_close(s.tree);
    arena_close(s.made);
    return status;
}

/* ---- the others ---- */

static struct value arg_value(const struct part *p, const struct item *item, uint16_t a, uint64_t row)
{
    const struct vector *v = part_column(p, row, (uint16_t)(item->first_arg + a));
    if (vector_null(v, part_at(p, row)))
        return (struct value){ .null = true };
    return value_get(item->arg_types[a], v, part_at(p, row));
}

static enum status ntile(const struct part *p, const struct item *item, uint64_t i, struct value *out)
{
    struct value buckets = arg_value(p, item, 0, i);
    out->null = buckets.null;
    if (buckets.null)
        return STATUS_OK;
    if (buckets.i4 <= 0)
        return error_set(STATUS_INVALID_NTILE, "argument of ntile must be greater than zero");
    uint64_t size = p->count / (uint64_t)buckets.i4, larger = p->count % (uint64_t)buckets.i4;
    if (i < larger * (size + 1))
        out->i4 = (int32_t)(i / (size + 1)) + 1;
    else
        out->i4 = (int32_t)(larger + (i - larger * (size + 1)) / size) + 1;
    return STATUS_OK;
}

static void lag_or_lead(const struct part *p, const struct item *item, uint64_t i, struct value *out)
{
    struct value offset = { .i4 = 1 };
    if (item->item->arg_count > 1)
        offset = arg_value(p, item, 1, i);
    int64_t to = (int64_t)i + (item->function == LAG ? -(int64_t)offset.i4 : (int64_t)offset.i4);
    out->null = true;
    if (offset.null)
        return;
    if (to >= 0 && (uint64_t)to < p->count)
        *out = arg_value(p, item, 0, (uint64_t)to);
    else if (item->item->arg_count > 2)
        *out = arg_value(p, item, 2, i);
}

/* first_value, last_value, nth_value. */
static enum status value_of_frame(const struct part *p, const struct item *item, uint64_t i, struct value *out)
{
    struct frame_piece pieces[3];
    int count = frame_pieces(p, item, i, pieces);
    uint64_t left = 0;
    out->null = true;
    if (item->function == NTH_VALUE) {
        struct value number = arg_value(p, item, 1, i);
        if (number.null)
            return STATUS_OK;
        if (number.i4 <= 0)
            return error_set(STATUS_INVALID_NTH_VALUE, "argument of nth_value must be greater than zero");
        left = (uint64_t)number.i4 - 1;
    }
    if (item->function == LAST_VALUE) {
        for (int k = count; k-- > 0;)
            if (pieces[k].from < pieces[k].to) {
                *out = arg_value(p, item, 0, pieces[k].to - 1);
                break;
            }
        return STATUS_OK;
    }
    for (int k = 0; k < count; k++) {
        uint64_t length = pieces[k].to - pieces[k].from;
        if (left < length) {
            *out = arg_value(p, item, 0, pieces[k].from + left);
            break;
        }
        left -= length;
    }
    return STATUS_OK;
}

static enum status compute_row(const struct part *p, const struct item *item, uint64_t i, struct value *out)
{
    const struct block *b = p->block;
    uint64_t row = p->first + i;
    *out = (struct value){0};
    switch (item->function) {
    case ROW_NUMBER:   out->i8 = (int64_t)i + 1; break;
    case RANK:         out->i8 = (int64_t)b->peer_start[row] + 1; break;
    case DENSE_RANK:   out->i8 = (int64_t)b->peer_group[row] + 1; break;
    case PERCENT_RANK: out->f8 = p->count > 1 ? (double)b->peer_start[row] / (double)(p->count - 1) : 0; break;
    case CUME_DIST:    out->f8 = (double)b->peer_end[row] / (double)p->count; break;
    case NTILE:        return ntile(p, item, i, out);
    case LAG: case LEAD: lag_or_lead(p, item, i, out); break;
    case FIRST_VALUE: case LAST_VALUE: case NTH_VALUE: return value_of_frame(p, item, i, out);
    case AGGREGATE_OVER: break;
    }
    return STATUS_OK;
}

enum status window_compute(const struct part *p, uint16_t number)
{
    const struct item *item = &p->node->items[number];
    enum status status = item->frame_of_rows ? frames_find(p, item) : STATUS_OK;
    if (!status && item->function == AGGREGATE_OVER)
        return aggregate_over(p, number);
    for (uint64_t i = 0; i < p->count && !status; i++) {
        struct value value;
        status = compute_row(p, item, i, &value);
        if (!status)
            put(p, number, i, item->item->type, &value);
        if (!status)
            status = pause_at(p, i);
    }
    return status;
}
