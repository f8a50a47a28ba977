/* engine/exec/window.c - window functions over input that comes sorted by partition and order.
 *
 * Rows are kept in a *block* until it holds BLOCK_ROWS, or work_mem, of whole partitions (or one partition that is longer). Then every function is
 * computed for the block's partitions, one after another, or by several workers, each of which takes a run of partitions; and the block
 * goes on, chunk by chunk: the input's columns, then the results. Rows of the partition that isn't whole move to the next block. Where blocks end
 * doesn't show: grains count rows.
 *
 * A partition that is larger than work_mem lies in a temporary file that is mapped: its chunks move there as they fill, the bytes of texts before, if
 * they are many, and so does what is computed by row. Functions look at rows and frames anywhere in it, by plain pointers; after each pass the pages are given back, and the
 * file's room is taken before anything is written there, so a full disk is an error (53100) and not a signal.
 *
 * Where a partition and a group of peers begins is marked as rows come. What is computed of a partition hangs on its rows only, so
 * workers don't show. If one fails, the partitions are computed once more in order, and what stands before the failing one goes on first. */
#include "base/plant.h"
#include "engine/exec/window_private.h"

#define BLOCK_ROWS    32768
#define TEXTS_LEAST   (1u << 20)         /* bytes of a chunk that isn't full, for which its texts go */
#define PARALLEL_ROWS 8192               /* fewer aren't worth waking anybody */

static const char *const names[] = { "", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value" };

struct window_local {
    struct local local;
    struct evaluation *evaluation;
    struct vector *columns;
    struct block blocks[2], *block;      /* the one at hand */
    uint64_t rows;                       /* handed on */
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
        for (enum over f = ROW_NUMBER; f <= NTH_VALUE && !w->aggregate; f++)
            if (strcmp(names[f], w->function->name) == 0)
                item->function = f;
        if (!w->aggregate && item->function == AGGREGATE_OVER)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "window function %s is not supported", w->function->name);
        item->frame_of_rows = item->function == AGGREGATE_OVER || item->function >= FIRST_VALUE;
    }
    return node_program(op, 0, exprs, n->output_count, &n->program);
}

static enum status window_local(struct local *local)
{
    struct window_local *l = (struct window_local *)local;
    struct window_node *n = (struct window_node *)local->op;
    struct arena *arena = local->worker->arena;
    l->columns = arena_array(arena, struct vector, n->left_count + n->output_count + 1u);
    for (int b = 0; b < 2; b++)
        l->blocks[b].arena = arena_open(arena, "window");
    return evaluation_open(n->program, local->worker->run, arena, &l->evaluation);
}

static void block_start(struct window_local *l, struct block *b)
{
    const struct window_node *n = (const struct window_node *)l->local.op;
    struct arena *arena = b->arena;
    if (b->file)
        spill_close(b->file);
    arena_reset(arena);
    *b = (struct block){ .arena = arena, .rows_arena = arena_open(arena, "rows") };
    rows_open(&b->rows, b->rows_arena, n->types, (uint16_t)(n->left_count + n->output_count));
}

enum status block_room(const struct block *b, size_t bytes, void **out)
{
    if (b->file)
        return spill_map(b->file, bytes, out);
    *out = arena_alloc(b->arena, bytes);
    return STATUS_OK;
}

/* ---- a partition that is larger than work_mem ---- */

/* The bytes of the texts first .. count - 1. */
static enum status map_texts(struct spill_file *file, struct varlen *texts, uint16_t first, uint16_t count)
{
    size_t total = 0;
    for (uint16_t k = first; k < count; k++)
        total += texts[k].length;
    void *bytes = NULL;
    enum status status = total ? spill_map(file, total, &bytes) : STATUS_OK;
    uint8_t *at = bytes;
    for (uint16_t k = first; k < count && !status; k++) {
        if (!texts[k].length)
            continue;
        memcpy(at, texts[k].bytes, texts[k].length);
        texts[k].bytes = at;
        at += texts[k].length;
    }
    return status;
}

/* A vector's values, nulls and bytes; those of the first `mapped` texts are there. */
static enum status map_vector(struct spill_file *file, const struct vector *from, uint16_t mapped, uint16_t count, struct vector *to)
{
    void *values, *nulls = NULL;
    size_t bytes = count * width_bytes(from->width);
    enum status status = spill_map(file, bytes, &values);
    if (!status && from->nulls)
        status = spill_map(file, count, &nulls);
    if (status)
        return status;
    memcpy(values, from->values, bytes);
    if (nulls)
        memcpy(nulls, from->nulls, count);
    *to = (struct vector){ .values = values, .nulls = nulls, .width = from->width };
    return from->width == WIDTH_VARLEN ? map_texts(file, values, mapped, count) : STATUS_OK;
}

/* What stays of a chunk that isn't full when its texts' bytes are in the file. */
static void chunk_copy(struct arena *arena, const struct rows *rows, const struct chunk *from, struct chunk *to)
{
    *to = (struct chunk){ .count = from->count, .capacity = from->capacity, .columns = arena_array(arena, struct vector, rows->column_count + 1u) };
    for (uint16_t k = 0; k < rows->column_count; k++) {
        const struct vector *v = &from->columns[k];
        size_t width = width_bytes(v->width);
        to->columns[k] = (struct vector){ .values = arena_alloc(arena, width * from->capacity), .width = v->width };
        memcpy(to->columns[k].values, v->values, width * from->count);
        if (!v->nulls)
            continue;
        to->columns[k].nulls = arena_zero(arena, from->capacity);
        memcpy(to->columns[k].nulls, v->nulls, from->count);
    }
}

/* Rows so wide that there is too much before a chunk is full: the bytes of its texts go into the file. */
static enum status block_map_texts(struct window_local *l, struct block *b)
{
    struct rows *rows = &b->rows;
    uint32_t last = rows->chunk_count - 1;
    struct chunk *chunk = &rows->chunks[last], kept;
    uint64_t first = (uint64_t)last * ROWS_CHUNK;
    uint16_t mapped = b->mapped_texts > first ? (uint16_t)(b->mapped_texts - first) : 0;
    enum status status = b->file ? STATUS_OK : spill_open(l->local.worker->run, rows->types, rows->column_count, &b->file);
    for (uint16_t k = 0; k < rows->column_count && !status; k++)
        if (chunk->columns[k].width == WIDTH_VARLEN)
            status = map_texts(b->file, chunk->columns[k].values, mapped, chunk->count);
    if (!status)
        status = run_check(l->local.worker);
    if (status)
        return status;
    struct arena *arena = arena_open(b->arena, "rows");
    struct chunk *chunks = arena_array(arena, struct chunk, rows->chunk_capacity);
    chunk_copy(arena, rows, chunk, &kept);
    memcpy(chunks, rows->chunks, last * sizeof *chunks);
    chunks[last] = kept;
    *rows = (struct rows){ .arena = arena, .types = rows->types, .column_count = rows->column_count, .chunks = chunks, .chunk_count = last + 1,
                           .chunk_capacity = rows->chunk_capacity, .count = rows->count };
    arena_close(b->rows_arena);
    b->rows_arena = arena;
    b->mapped_texts = rows->count;
    spill_map_rest(b->file);
    return STATUS_OK;
}

/* The full chunks go into the file. */
static enum status block_map(struct window_local *l, struct block *b)
{
    struct run *run = l->local.worker->run;
    struct rows old = b->rows;
    uint32_t full = (uint32_t)(old.count / ROWS_CHUNK), capacity = 2 * full + 16;
    struct arena *arena = arena_open(b->arena, "rows");
    struct chunk *chunks = arena_array(arena, struct chunk, capacity);
    enum status status = b->file ? STATUS_OK : spill_open(run, old.types, old.column_count, &b->file);
    memcpy(chunks, old.chunks, full * sizeof *chunks);
    for (uint32_t c = b->mapped_chunks; c < full && !status; c++) {
        void *columns;
        status = spill_map(b->file, old.column_count * sizeof(struct vector) + 1, &columns);
        if (status)
            break;
        chunks[c].columns = columns;
        uint64_t first = (uint64_t)c * ROWS_CHUNK, mapped = b->mapped_texts > first ? b->mapped_texts - first : 0;
        for (uint16_t k = 0; k < old.column_count && !status; k++)
            status = map_vector(b->file, &old.chunks[c].columns[k], (uint16_t)(mapped < ROWS_CHUNK ? mapped : ROWS_CHUNK), ROWS_CHUNK, &chunks[c].columns[k]);
    }
    if (!status)
        status = run_check(l->local.worker);
    if (status)
        return status;
    rows_open(&b->rows, arena, old.types, old.column_count);
    b->rows.chunks = chunks;
    b->rows.chunk_capacity = capacity;
    b->rows.chunk_count = b->mapped_chunks = full;
    b->rows.count = (uint64_t)full * ROWS_CHUNK;
    if (full < old.chunk_count) {
        struct batch last;
        rows_chunk(&old, full, &last);
        rows_append(&b->rows, &last);
    }
    arena_close(b->rows_arena);
    b->rows_arena = arena;
    spill_map_rest(b->file);
    return STATUS_OK;
}

/* ---- where partitions and peers begin ---- */

#define DIFFER(TYPE)                                                                                                   \
    do {                                                                                                               \
        const TYPE *values = v->values;                                                                                \
        for (uint16_t k = 1; k < batch->selected_count; k++)                                                           \
            begins[k] |= values[batch_row(batch, k)] != values[batch_row(batch, k - 1u)] ? flag : 0;                   \
    } while (0)

/* Marks rows that differ in the column from the row before them. */
static void mark_column(struct window_local *l, const struct batch *batch, uint16_t column, uint8_t flag, uint8_t *begins)
{
    const struct vector *v = &batch->columns[column];
    struct sql_type type = l->local.op->plan->left->types[column];
    struct block *b = l->block;
    if (b->rows.count) {
        uint64_t last = b->rows.count - 1;
        if (!same_value(type, rows_column(&b->rows, last, column), rows_at(last), v, batch_row(batch, 0)))
            begins[0] |= flag;
    }
    if (v->constant)
        return;
    if (type_bitwise(type) && !v->nulls) {
        switch (v->width) {
        case 1: DIFFER(uint8_t); return;
        case 2: DIFFER(uint16_t); return;
        case 4: DIFFER(uint32_t); return;
        default: DIFFER(uint64_t); return;
        }
    }
    for (uint16_t k = 1; k < batch->selected_count; k++)
        if (!same_value(type, v, batch_row(batch, k), v, batch_row(batch, k - 1u)))
            begins[k] |= flag;
}

/* Room for the marks of `count` rows more. */
static enum status begins_room(struct block *b, uint64_t count)
{
    if (b->rows.count + count <= b->begins_capacity)
        return STATUS_OK;
    void *begins;
    uint64_t capacity = b->begins_capacity ? b->begins_capacity * 2 : 4096;
    while (capacity < b->rows.count + count)
        capacity *= 2;
    enum status status = block_room(b, capacity, &begins);
    if (status)
        return status;
    if (b->begins)
        memcpy(begins, b->begins, b->rows.count);
    b->begins = begins;
    b->begins_capacity = capacity;
    return STATUS_OK;
}

/* ---- a block is computed ---- */

/* Its first `count` rows are whole partitions. */
static enum status find_peers(struct block *b, uint64_t count, struct worker *worker)
{
    uint64_t **const arrays[] = { &b->peer_start, &b->peer_end, &b->peer_group, &b->starts, &b->ends };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && !status; k++) {
        void *room;
        status = block_room(b, count * sizeof(uint64_t), &room);
        if (!status)
            *arrays[k] = room;
    }
    uint64_t partition = 0, group = 0, checked = 0;
    for (uint64_t i = 0; i < count && !status;) {
        if (i - checked >= BLOCK_ROWS) {
            checked = i;
            status = run_check(worker);
            if (b->file)
                spill_map_rest(b->file);
        }
        uint64_t end = i + 1;
        while (end < count && !b->begins[end])
            end++;
        if (b->begins[i] & BEGINS_PARTITION) {
            partition = i;
            group = 0;
        }
        for (uint64_t j = i; j < end; j++) {
            b->peer_start[j] = i - partition;
            b->peer_end[j] = end - partition - (PLANT(PEERS_CUT) && end - i > 2);
            b->peer_group[j] = group;
        }
        group++;
        i = end;
    }
    return status;
}

static uint64_t partition_end(const struct block *b, uint64_t first, uint64_t count)
{
    uint64_t end = first + 1;
    while (end < count && !(b->begins[end] & BEGINS_PARTITION))
        end++;
    return end;
}

/* Partitions from row `first` to `end`. *failed: the first row of the one that failed. */
static enum status partitions_compute(const struct window_node *n, const struct block *b, struct worker *worker, struct arena *arena, uint64_t first, uint64_t end, uint64_t *failed)
{
    struct arena *scratch = arena_open(arena, "partition");
    enum status status = STATUS_OK;
    while (first < end && !status) {
        struct part p = { .node = n, .block = b, .first = first, .count = partition_end(b, first, end) - first, .worker = worker, .arena = arena, .scratch = scratch };
        *failed = first;
        arena_reset(scratch);
        for (uint16_t k = 0; k < n->op.plan->window_count && !status; k++) {
            status = window_compute(&p, k);
            if (b->file)
                spill_map_rest(b->file);
        }
        first += p.count;
    }
    return status;
}

struct sharing { const struct window_node *node; const struct block *block; uint64_t *firsts; struct arena **arenas; };
static enum status share_compute(void *context, uint16_t number, struct worker *worker)
{
    struct sharing *s = context;
    uint64_t failed;
    return partitions_compute(s->node, s->block, worker, s->arenas[number], s->firsts[number], s->firsts[number + 1], &failed);
}

/* Runs of partitions of about the same number of rows, a worker each. Answers how many; fewer than 2: not worth it. */
static uint16_t share_out(const struct block *b, uint64_t count, uint64_t *firsts, uint16_t most)
{
    uint16_t n = 0;
    firsts[0] = 0;
    for (uint64_t row = 1; row < count && n + 1 < most; row++)
        if (b->begins[row] & BEGINS_PARTITION && row - firsts[n] >= count / most)
            firsts[++n] = row;
    firsts[++n] = count;
    return n;
}

static uint16_t window_workers(const struct window_local *l, uint64_t count)
{
    const struct run *run = l->local.worker->run;
    int most = run->settings ? run->settings->max_parallel_workers_per_gather : 0;
    if (count < PARALLEL_ROWS || most < 2 || run->nesting > 0 || !run->plan || !l->local.op->plan->parallel_safe || !workers_available())
        return 1;
    return (uint16_t)(most < 64 ? most : 64);
}

static enum status block_compute(struct window_local *l, struct block *b, uint64_t count, uint64_t *failed)
{
    struct window_node *n = (struct window_node *)l->local.op;
    uint16_t most = b->file ? 1 : window_workers(l, count);
    uint64_t firsts[65];
    if (most > 1)
        most = share_out(b, count, firsts, most);
    if (most > 1) {
        struct sharing s = { n, b, firsts, arena_array(b->arena, struct arena *, most) };
        for (uint16_t w = 0; w < most; w++)
            s.arenas[w] = arena_open(b->arena, "partitions");
        enum status status = workers_each(l->local.worker->run, most, share_compute, &s);
        if (!status || status_sqlstate(status)[0] != '2')
            return status;
        error_clear();                   /* which is the first that fails? */
    }
    return partitions_compute(n, b, l->local.worker, arena_open(b->arena, "partitions"), 0, count, failed);
}

/* A batch of rows of which some may belong to the next grain. */
static enum status push_by_grain(struct window_local *l, struct batch *batch)
{
    const uint64_t grain_rows = (uint64_t)GRAIN_BATCHES * ROWS_CHUNK;
    row_pos rows[ROWS_CHUNK];
    enum status status = run_check(l->local.worker);
    for (uint16_t from = 0; from < batch->row_count && !status;) {
        uint64_t room = grain_rows - l->rows % grain_rows;
        struct batch some = *batch;
        some.grain = l->rows / grain_rows;
        if (from || batch->row_count > room) {
            some.selected_count = 0;
            for (uint16_t i = from; i < batch->row_count && some.selected_count < room; i++)
                rows[some.selected_count++] = i;
            some.selection = rows;
            some.all_selected = false;
        }
        l->rows += some.selected_count;
        from = (uint16_t)(from + some.selected_count);
        status = local_push(&l->local, &some);
    }
    return status;
}

static enum status block_push(struct window_local *l, struct block *b, uint64_t count)
{
    struct window_node *n = (struct window_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    struct vector *out = arena_array(b->arena, struct vector, plan->column_count + 1u);
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c * (uint64_t)ROWS_CHUNK < count && !status; c++) {
        struct batch batch;
        uint64_t left = count - c * (uint64_t)ROWS_CHUNK;
        rows_chunk(&b->rows, c, &batch);
        if (left < batch.row_count)
            batch.row_count = batch.selected_count = (uint16_t)left;
        for (uint16_t k = 0; k < plan->column_count; k++) {
            out[k] = k < n->left_count ? batch.columns[k] : b->results[k - n->left_count][c];
            if (k >= n->left_count && !memchr(out[k].nulls, 1, batch.row_count))
                out[k].nulls = NULL;
        }
        batch.columns = out;
        batch.column_count = plan->column_count;
        status = push_by_grain(l, &batch);
        if (b->file && c % 32 == 31)
            spill_map_rest(b->file);
    }
    return status;
}

/* Room for the results of one function. */
static enum status results_make(struct block *b, uint8_t width, struct vector **out)
{
    struct vector *results = arena_array(b->arena, struct vector, b->rows.chunk_count);
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < b->rows.chunk_count && !status; c++) {
        void *values, *nulls = NULL;
        uint16_t rows = b->rows.chunks[c].count;
        status = block_room(b, width_bytes(width) * rows, &values);
        if (!status)
            status = block_room(b, rows, &nulls);
        if (!status)
            results[c] = (struct vector){ .values = values, .nulls = nulls, .width = width };
    }
    *out = results;
    return status;
}

/* Computes the first `count` rows of the block, all of them whole partitions, and hands them on. */
static enum status block_finish(struct window_local *l, struct block *b, uint64_t count)
{
    const struct plan *plan = l->local.op->plan;
    uint64_t failed = 0;
    if (count == 0)
        return STATUS_OK;
    enum status status = find_peers(b, count, l->local.worker);
    b->results = arena_array(b->arena, struct vector *, plan->window_count + 1u);
    for (uint16_t k = 0; k < plan->window_count && !status; k++)
        status = results_make(b, plan->windows[k].type.width, &b->results[k]);
    if (l->local.op->counters && b->file)
        l->local.op->counters->spilled_bytes += spill_bytes(b->file);
    if (!status)
        status = block_compute(l, b, count, &failed);
    if (!status)
        return block_push(l, b, count);
    if (status == STATUS_STOP || failed == 0)
        return status;
    struct error saved = {0};
    error_save(&saved);
    status = block_push(l, b, failed);   /* rows before the error */
    if (status) {
        error_free(&saved);
        return status;
    }
    return error_restore(&saved);
}

/* Rows from `first` on begin the other block. */
static enum status block_move(struct window_local *l, uint64_t first)
{
    struct block *from = l->block, *to = from == &l->blocks[0] ? &l->blocks[1] : &l->blocks[0];
    block_start(l, to);
    enum status status = begins_room(to, from->rows.count - first);
    if (status)
        return status;
    memcpy(to->begins, from->begins + first, from->rows.count - first);
    for (uint64_t row = first; row < from->rows.count;) {
        struct batch batch;
        row_pos rows[ROWS_CHUNK];
        uint16_t count = 0;
        rows_chunk(&from->rows, (uint32_t)(row / ROWS_CHUNK), &batch);
        for (uint16_t at = rows_at(row); at < batch.row_count; at++)
            rows[count++] = at;
        rows_append_some(&to->rows, &batch, rows, count);
        row += count;
    }
    if (from->file)
        block_start(l, from);            /* the file goes */
    l->block = to;
    return STATUS_OK;
}

/* The last row from `low` on where a partition begins; 0: none, or the first. */
static uint64_t last_partition(const struct block *b, uint64_t low)
{
    for (uint64_t row = b->rows.count; row-- > low;)
        if (b->begins[row] & BEGINS_PARTITION)
            return row;
    return 0;
}

static enum status window_take(struct local *local, const struct batch *batch)
{
    struct window_local *l = (struct window_local *)local;
    struct window_node *n = (struct window_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct block *b = l->block;
    uint16_t error_at;
    enum status status = evaluation_run(l->evaluation, batch, l->columns + n->left_count, &error_at);
    if (status)
        return rows_before_failure(local, batch, status, error_at, window_take);
    status = begins_room(b, batch->selected_count);
    if (status)
        return status;
    uint8_t *begins = b->begins + b->rows.count;
    memset(begins, 0, batch->selected_count);
    for (uint16_t k = 0; k < plan->partition_count; k++)
        mark_column(l, batch, plan->partition[k], BEGINS_PARTITION, begins);
    for (uint16_t k = 0; k < plan->sort_count; k++)
        mark_column(l, batch, plan->sort[k].column, BEGINS_PEERS, begins);
    if (b->rows.count == 0)
        begins[0] = BEGINS_PARTITION;
    memcpy(l->columns, batch->columns, n->left_count * sizeof *l->columns);
    struct batch all = *batch;
    all.columns = l->columns;
    all.column_count = (uint16_t)(n->left_count + n->output_count);
    rows_append(&b->rows, &all);
    bool much = b->rows.bytes > (uint64_t)local->worker->run->work_mem;
    if (b->rows.count < BLOCK_ROWS && !much)
        return STATUS_OK;
    /* what lies in the file is one partition; the last one may go on */
    uint64_t whole = last_partition(b, much ? (uint64_t)b->mapped_chunks * ROWS_CHUNK : b->rows.count - batch->selected_count);
    if (whole < BLOCK_ROWS / 2 && !much)
        return STATUS_OK;
    if (whole == 0) {                    /* one partition, and it goes on */
        status = b->rows.count >= (uint64_t)(b->mapped_chunks + 1) * ROWS_CHUNK ? block_map(l, b) : STATUS_OK;
        much = b->rows.bytes > (uint64_t)local->worker->run->work_mem && b->rows.bytes > TEXTS_LEAST;
        return !status && much ? block_map_texts(l, b) : status;
    }
    status = block_finish(l, b, whole);
    return status ? status : block_move(l, whole);
}

static enum status window_source(struct local *local)
{
    struct window_local *l = (struct window_local *)local;
    struct window_node *n = (struct window_node *)local->op;
    enum status status = STATUS_OK;
    l->rows = 0;
    l->block = &l->blocks[0];
    block_start(l, l->block);
    for (uint16_t k = 0; k < local->op->plan->window_count && !status; k++)
        status = frame_offsets(local->worker->run, local->worker->arena, n, &n->items[k]);
    if (status)
        return status;
    status = node_run(local->op->left, local);
    if (!status)
        return block_finish(l, l->block, l->block->rows.count);
    if (status == STATUS_STOP || status_sqlstate(status)[0] != '2')
        return status;
    struct error saved = {0};            /* an input row failed: partitions before its own go on first */
    error_save(&saved);
    status = block_finish(l, l->block, last_partition(l->block, (uint64_t)l->block->mapped_chunks * ROWS_CHUNK));
    if (status) {
        error_free(&saved);
        return status;
    }
    return error_restore(&saved);
}

const struct node_class window_class = { .name = "window", .node_bytes = sizeof(struct window_node), .local_bytes = sizeof(struct window_local), .open = window_open,
                                         .local = window_local, .source = window_source, .take = window_take };
