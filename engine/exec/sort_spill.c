/* engine/exec/sort_spill.c - sorts that outgrow work_mem: runs on disk, and their merge with what is still in memory.
 *
 * A run is a part's rows in order, in batches of BATCH_ROWS; beside the row's columns stand the two halves of its word and
 * its grain. A worker's runs lie one after another in one file. Where there are more than FAN_IN of them, neighbours are merged
 * into longer ones first. So memory is that of one batch a run.
 *
 * Equal keys: by grain; where a run ended within a grain, by the number of the run: what was read earlier is in the earlier run. */
#include "engine/exec/merge_heap.h"
#include "engine/exec/sort.h"

#define FAN_IN 64

/* ---- writing ---- */

enum status sort_write_run(struct sort_node *n, struct sort_part *part, struct worker *worker)
{
    uint16_t columns = n->op.plan->left->column_count;
    struct arena *parent = worker->number ? worker->arena : n->op.again;
    enum status status = STATUS_OK;
    if (!part->file)
        status = spill_open(n->op.run, n->spill_types, (uint16_t)(columns + SPILLED_COLUMNS), &part->file);
    if (status)
        return status;
    struct arena *arena = arena_open(NULL, "run");
    struct vector *out = arena_array(arena, struct vector, columns + SPILLED_COLUMNS);
    for (uint16_t c = 0; c < columns + SPILLED_COLUMNS; c++) {
        vector_make(&out[c], arena, n->spill_types[c].width, BATCH_ROWS);
        memset(out[c].nulls, 0, BATCH_ROWS);
    }
    struct sort_ref *refs = arena_array(arena, struct sort_ref, BATCH_ROWS);
    uint64_t from = spill_bytes(part->file);
    uint64_t *high = out[columns].values, *low = out[columns + 1].values, *grains = out[columns + 2].values;
    for (uint32_t at = 0; at < part->count && !status; at += BATCH_ROWS) {
        uint16_t count = (uint16_t)(part->count - at < BATCH_ROWS ? part->count - at : BATCH_ROWS);
        for (uint16_t k = 0; k < count; k++) {
            sort_word word = part->words[at + k];
            refs[k] = (struct sort_ref){ 0, SORT_ROW(word) };
            high[k] = (uint64_t)(word >> 64);
            low[k] = (uint64_t)word;
            grains[k] = sort_part_grain(part, SORT_ROW(word));
        }
        sort_gather(&part, 1, refs, count, out, columns);
        struct batch batch = { .columns = out, .column_count = (uint16_t)(columns + SPILLED_COLUMNS), .row_count = count, .selected_count = count, .all_selected = true };
        status = spill_write(part->file, &batch);
        if (!status)
            status = run_check(worker);
    }
    arena_close(arena);
    part->runs = arena_grow(parent, part->runs, part->run_count * sizeof *part->runs, (part->run_count + 1) * sizeof *part->runs);
    part->runs[part->run_count++] = (struct sort_run){ part->file, from, spill_bytes(part->file) };
    return status;
}

/* ---- streams ---- */

struct stream {
    const struct sort_part *part; uint32_t next;              /* in memory … */
    struct spill_reader reader; struct batch batch; uint32_t at; bool on_disk;      /* … or a run */
    uint32_t number;
    /* the row at the head */
    sort_word word;
    uint64_t grain;
    const struct vector *columns; uint16_t row;
};

static void stream_row(struct stream *s)
{
    uint16_t columns = (uint16_t)(s->batch.column_count - SPILLED_COLUMNS);
    s->word = (sort_word)((const uint64_t *)s->batch.columns[columns].values)[s->at] << 64 | ((const uint64_t *)s->batch.columns[columns + 1].values)[s->at];
    s->grain = ((const uint64_t *)s->batch.columns[columns + 2].values)[s->at];
    s->columns = s->batch.columns;
    s->row = (uint16_t)s->at++;
}

/* Is the next row one that has to be read first? (Rows of the batch before are gone then.) */
static bool stream_must_read(const struct stream *s) { return s->on_disk && s->at >= s->batch.row_count; }

static enum status stream_next(struct stream *s, bool *end)
{
    *end = false;
    if (s->on_disk) {
        if (s->at >= s->batch.row_count) {
            enum status status = spill_read(&s->reader, &s->batch, end);
            if (status || *end)
                return status;
            s->at = 0;
        }
        stream_row(s);
        return STATUS_OK;
    }
    *end = s->next >= s->part->count;
    if (*end)
        return STATUS_OK;
    s->word = s->part->words[s->next++];
    uint32_t row = SORT_ROW(s->word);
    s->grain = sort_part_grain(s->part, row);
    s->columns = s->part->rows.chunks[row / ROWS_CHUNK].columns;
    s->row = rows_at(row);
    return STATUS_OK;
}

/* ---- merging ---- */

struct merge {
    const struct sort_layout *key;
    void **heap; uint32_t count;
    uint16_t column_count; const struct sql_type *types;
    struct arena *arena;                 /* of the merge; bytes: of the batch that is being filled */
    struct arena *bytes;
    struct vector *out; uint16_t filled; /* so many rows are in it; and wait for being copied: */
    struct { const struct vector *columns; uint16_t row; bool on_disk; } waiting[BATCH_ROWS]; uint16_t waiting_count;
    /* what becomes of a full batch */
    enum status (*full)(struct merge *, uint16_t count);
    struct local *local; uint64_t batches;
    struct spill_file *file;
};

static bool stream_before(const void *merge, const void *left, const void *right)
{
    const struct merge *m = merge;
    const struct stream *a = left, *b = right;
    if (SORT_KEY(a->word) != SORT_KEY(b->word))
        return a->word < b->word;
    int order = sort_key_compare_rest(m->key, a->word, a->columns, a->row, b->columns, b->row);
    if (order)
        return order < 0;
    return a->grain != b->grain ? a->grain < b->grain : a->number < b->number;
}

#define EACH_WAITING(TYPE)                                                                                  \
    for (uint16_t k = 0; k < m->waiting_count; k++)                                                         \
        ((TYPE *)v->values)[m->filled + k] = ((const TYPE *)m->waiting[k].columns[c].values)[m->waiting[k].row]

/* The rows that wait, into the batch: before what they lie in is read over. */
static void copy_waiting(struct merge *m)
{
    for (uint16_t c = 0; c < m->column_count; c++) {
        struct vector *v = &m->out[c];
        switch (v->width) {
        case 1: EACH_WAITING(uint8_t); break;
        case 2: EACH_WAITING(uint16_t); break;
        case 4: EACH_WAITING(uint32_t); break;
        case 8: EACH_WAITING(uint64_t); break;
        default: EACH_WAITING(struct varlen); break;
        }
        for (uint16_t k = 0; k < m->waiting_count; k++) {
            const uint8_t *nulls = m->waiting[k].columns[c].nulls;
            v->nulls[m->filled + k] = nulls ? nulls[m->waiting[k].row] : 0;
        }
        if (v->width != WIDTH_VARLEN)
            continue;
        struct varlen *values = (struct varlen *)v->values + m->filled;
        size_t total = 0;
        for (uint16_t k = 0; k < m->waiting_count; k++)
            total += m->waiting[k].on_disk ? values[k].length : 0;
        uint8_t *to = arena_alloc(m->bytes, total + 1);
        for (uint16_t k = 0; k < m->waiting_count; k++)
            if (m->waiting[k].on_disk && values[k].length) {
                memcpy(to, values[k].bytes, values[k].length);
                values[k].bytes = to;
                to += values[k].length;
            }
    }
    m->filled = (uint16_t)(m->filled + m->waiting_count);
    m->waiting_count = 0;
}

static enum status merge_run(struct merge *m, uint64_t skip, uint64_t keep)
{
    enum status status = STATUS_OK;
    for (uint64_t position = 0; m->count && position < keep && !status; position++) {
        struct stream *s = m->heap[0];
        if (position >= skip) {
            m->waiting[m->waiting_count].columns = s->columns;
            m->waiting[m->waiting_count].on_disk = s->on_disk;
            m->waiting[m->waiting_count++].row = s->row;
        }
        if (m->filled + m->waiting_count == BATCH_ROWS || stream_must_read(s))
            copy_waiting(m);
        if (m->filled == BATCH_ROWS) {
            status = m->full(m, m->filled);
            m->filled = 0;
            arena_reset(m->bytes);
        }
        bool end;
        if (!status)
            status = stream_next(s, &end);
        if (status)
            break;
        if (end)
            m->heap[0] = m->heap[--m->count];
        if (m->count > 1)
            merge_heap_sift(m->heap, m->count, 0, stream_before, m);
    }
    copy_waiting(m);
    if (!status && m->filled)
        status = m->full(m, m->filled);
    return status;
}

static void merge_open(struct merge *m, const struct sort_node *n, struct arena *arena, uint16_t column_count, uint32_t most)
{
    *m = (struct merge){ .key = &n->key, .arena = arena, .bytes = arena_open(arena, "bytes"), .column_count = column_count, .types = n->spill_types,
                         .heap = arena_array(arena, void *, most), .out = arena_array(arena, struct vector, column_count + 1u) };
    for (uint16_t c = 0; c < column_count; c++)
        vector_make(&m->out[c], arena, n->spill_types[c].width, BATCH_ROWS);
}

static enum status merge_add(struct merge *m, struct stream *s)
{
    bool end;
    enum status status = stream_next(s, &end);
    if (!status && !end)
        m->heap[m->count++] = s;
    return status;
}

static enum status merge_add_run(struct merge *m, const struct sort_run *run, uint32_t number)
{
    struct stream *s = arena_new(m->arena, struct stream);
    s->number = number;
    s->on_disk = true;
    spill_read_range(run->file, run->from, run->to, arena_open(m->arena, "run"), &s->reader);
    return merge_add(m, s);
}

static void merge_heap(struct merge *m) { merge_heap_make(m->heap, m->count, stream_before, m); }

/* ---- fewer runs ---- */

static enum status full_to_run(struct merge *m, uint16_t count)
{
    struct batch batch = { .columns = m->out, .column_count = m->column_count, .row_count = count, .selected_count = count, .all_selected = true };
    enum status status = spill_write(m->file, &batch);
    return status ? status : run_check(m->local->worker);
}

/* FAN_IN neighbours become one, until few are left. */
static enum status fewer_runs(struct local *local, struct sort_part *part)
{
    struct sort_node *n = (struct sort_node *)local->op;
    enum status status = STATUS_OK;
    while (part->run_count > FAN_IN && !status) {
        struct spill_file *file, *old = part->file;
        uint16_t columns = (uint16_t)(local->op->plan->left->column_count + SPILLED_COLUMNS);
        uint32_t made = 0;
        status = spill_open(local->op->run, n->spill_types, columns, &file);
        for (uint32_t from = 0; from < part->run_count && !status; from += FAN_IN, made++) {
            struct arena *arena = arena_open(local->op->again, "fewer runs");
            struct merge *m = arena_new(arena, struct merge);
            merge_open(m, n, arena, columns, FAN_IN);
            m->full = full_to_run;
            m->local = local;
            m->file = file;
            for (uint32_t r = from; r < part->run_count && r < from + FAN_IN && !status; r++)
                status = merge_add_run(m, &part->runs[r], r);
            merge_heap(m);
            uint64_t start = spill_bytes(file);
            if (!status)
                status = merge_run(m, 0, UINT64_MAX);
            part->runs[made] = (struct sort_run){ file, start, spill_bytes(file) };
            arena_close(arena);
        }
        if (status)
            return status;
        part->run_count = made;
        part->file = file;
        spill_close(old);
    }
    return status;
}

/* ---- out ---- */

static enum status full_to_next(struct merge *m, uint16_t count)
{
    struct batch batch = { .columns = m->out, .column_count = m->column_count, .row_count = count, .selected_count = count, .all_selected = true,
                           .grain = m->batches++ / GRAIN_BATCHES };
    enum status status = run_check(m->local->worker);
    if (!status)
        status = local_push(m->local, &batch);
    return status || m->local->worker->number ? status : run_deliver(m->local->worker->run);
}

enum status sort_emit_disk(struct local *local)
{
    struct sort_node *n = (struct sort_node *)local->op;
    enum status status = STATUS_OK;
    uint32_t total = 0, number = 0;
    if (local->op->counters)
        local->op->counters->spilled_bytes = 0;
    for (uint16_t p = 0; p < n->part_count && !status; p++) {
        if (local->op->counters && n->parts[p]->file)
            local->op->counters->spilled_bytes += spill_bytes(n->parts[p]->file);
        status = fewer_runs(local, n->parts[p]);
        total += n->parts[p]->run_count + 1;
    }
    struct arena *arena = arena_open(local->op->again, "merge");
    struct merge *m = arena_new(arena, struct merge);
    merge_open(m, n, arena, local->op->plan->left->column_count, total + 1);
    m->full = full_to_next;
    m->local = local;
    for (uint16_t p = 0; p < n->part_count && !status; p++) {
        struct sort_part *part = n->parts[p];
        for (uint32_t r = 0; r < part->run_count && !status; r++)
            status = merge_add_run(m, &part->runs[r], number++);
        struct stream *s = arena_new(arena, struct stream);
        s->number = number++;
        s->part = part;
        if (!status)
            status = merge_add(m, s);
    }
    merge_heap(m);
    if (!status)
        status = merge_run(m, n->skip + limit_take_skip(local->next), n->keep);
    arena_close(arena);
    for (uint16_t p = 0; p < n->part_count; p++)
        if (n->parts[p]->file) {
            spill_close(n->parts[p]->file);
            n->parts[p]->file = NULL;
        }
    return status;
}
