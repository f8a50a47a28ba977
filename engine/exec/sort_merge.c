/* engine/exec/sort_merge.c - the sorted parts of a sort's workers become one stream (all of it in memory; sort_spill.c else).
 *
 * A *piece* is a run of ranks: rows from .. to of the whole order. Where a piece begins in each part follows from its rank alone
 * (split_at), so pieces are merged, and their rows gathered, by several workers at once, while the leader hands on those that are
 * ready, in order. Pieces are of one length however many rows have equal keys, which pivots taken from a sample aren't; and those that
 * OFFSET skips or LIMIT ends before are never made.
 *
 *     leader:   start round 0 | start round 1, hand on 0 | start round 2, hand on 1 | …        a round: a piece for each worker
 *
 * Where there is one part, or few rows are wanted, the leader merges as it goes. */
#include "engine/exec/sort.h"

#define PIECE_ROWS 32768
#define PIECE_BATCHES (PIECE_ROWS / BATCH_ROWS)

struct merge { const struct sort_layout *key; struct sort_part **parts; uint16_t part_count, column_count; const struct sql_type *types; };

static const struct vector *row_columns(const struct sort_part *part, uint32_t row) { return part->rows.chunks[row / ROWS_CHUNK].columns; }

/* Does row a of one part come before row b of another (or the same)? */
static bool before(const struct merge *m, const struct sort_part *p, sort_word a, const struct sort_part *q, sort_word b)
{
    if (SORT_KEY(a) != SORT_KEY(b))
        return a < b;
    uint32_t i = SORT_ROW(a), j = SORT_ROW(b);
    int order = sort_key_compare_rest(m->key, a, row_columns(p, i), rows_at(i), row_columns(q, j), rows_at(j));
    if (order)
        return order < 0;
    if (p == q)
        return i < j;
    uint64_t grain = sort_part_grain(p, i), other = sort_part_grain(q, j);
    return grain != other ? grain < other : p->number < q->number;
}

/* How many rows of q come before that one. */
static uint32_t rows_before(const struct merge *m, const struct sort_part *q, const struct sort_part *p, sort_word word)
{
    uint32_t low = 0, high = q->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (before(m, q, q->words[middle], p, word))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* at[p]: how many of the first `rank` rows are of part p. Halves the widest part's range by asking what rank its middle has. */
static void split_at(const struct merge *m, uint64_t rank, uint32_t *at)
{
    uint32_t high[m->part_count], places[m->part_count];
    for (uint16_t p = 0; p < m->part_count; p++)
        at[p] = 0, high[p] = m->parts[p]->count;
    for (;;) {
        uint16_t widest = 0;
        for (uint16_t p = 1; p < m->part_count; p++)
            if (high[p] - at[p] > high[widest] - at[widest])
                widest = p;
        if (high[widest] == at[widest])
            return;
        uint32_t middle = at[widest] + (high[widest] - at[widest]) / 2;
        uint64_t its_rank = 0;
        for (uint16_t p = 0; p < m->part_count; p++) {
            places[p] = p == widest ? middle : rows_before(m, m->parts[p], m->parts[widest], m->parts[widest]->words[middle]);
            its_rank += places[p];
        }
        bool among = its_rank < rank;
        for (uint16_t p = 0; p < m->part_count; p++) {
            if (among && places[p] + (p == widest) > at[p])
                at[p] = places[p] + (p == widest);
            if (!among && places[p] < high[p])
                high[p] = places[p];
        }
    }
}

/* ---- rows in order ---- */

struct cursor { const struct merge *merge; uint32_t *at; uint16_t *heap, heap_count; uint64_t left; };

static bool head_before(const struct cursor *c, uint16_t p, uint16_t q)
{
    struct sort_part *a = c->merge->parts[p], *b = c->merge->parts[q];
    return before(c->merge, a, a->words[c->at[p]], b, b->words[c->at[q]]);
}

static void sift(struct cursor *c, uint16_t at)
{
    for (;;) {
        uint32_t child = 2u * at + 1;
        if (child >= c->heap_count)
            return;
        if (child + 1 < c->heap_count && head_before(c, c->heap[child + 1], c->heap[child]))
            child++;
        if (!head_before(c, c->heap[child], c->heap[at]))
            return;
        uint16_t swap = c->heap[at];
        c->heap[at] = c->heap[child];
        c->heap[child] = swap;
        at = (uint16_t)child;
    }
}

static void cursor_open(struct cursor *c, const struct merge *m, struct arena *arena, uint64_t from, uint64_t to)
{
    *c = (struct cursor){ .merge = m, .left = to - from, .at = arena_array(arena, uint32_t, m->part_count), .heap = arena_array(arena, uint16_t, m->part_count) };
    split_at(m, from, c->at);
    for (uint16_t p = 0; p < m->part_count; p++)
        if (c->at[p] < m->parts[p]->count)
            c->heap[c->heap_count++] = p;
    for (uint16_t i = c->heap_count / 2; i-- > 0;)
        sift(c, i);
}

static uint16_t cursor_take(struct cursor *c, struct sort_ref *refs)
{
    uint16_t count = 0, want = (uint16_t)(c->left < BATCH_ROWS ? c->left : BATCH_ROWS);
    while (count < want) {
        uint16_t p = c->heap[0];
        const struct sort_part *part = c->merge->parts[p];
        if (c->heap_count == 1) {
            for (; count < want; count++)
                refs[count] = (struct sort_ref){ p, SORT_ROW(part->words[c->at[p]++]) };
            break;
        }
        refs[count++] = (struct sort_ref){ p, SORT_ROW(part->words[c->at[p]++]) };
        if (c->at[p] == part->count)
            c->heap[0] = c->heap[--c->heap_count];
        sift(c, 0);
    }
    c->left -= count;
    return count;
}

/* Rows lie where they came to lie, so nearly every value is a miss: they are fetched ahead. */
#define AHEAD 16
#define REF_VALUE(TYPE, k) (&((const TYPE *)parts[refs[k].part]->columns[c].values[refs[k].row / ROWS_CHUNK])[refs[k].row % ROWS_CHUNK])
#define EACH_REF(TYPE)                                                                                      \
    do {                                                                                                    \
        for (uint16_t k = 0; k < ahead; k++)                                                                \
            __builtin_prefetch(REF_VALUE(TYPE, k));                                                         \
        for (uint16_t k = 0; k < count; k++) {                                                              \
            if (k + ahead < count)                                                                          \
                __builtin_prefetch(REF_VALUE(TYPE, k + ahead));                                             \
            ((TYPE *)v->values)[k] = *REF_VALUE(TYPE, k);                                                   \
        }                                                                                                   \
    } while (0)

void sort_gather(struct sort_part *const *parts, uint16_t part_count, const struct sort_ref *refs, uint16_t count, struct vector *out, uint16_t column_count)
{
    uint16_t ahead = count < AHEAD ? count : AHEAD;
    for (uint16_t c = 0; c < column_count; c++) {
        struct vector *v = &out[c];
        switch (v->width) {
        case 1: EACH_REF(uint8_t); break;
        case 2: EACH_REF(uint16_t); break;
        case 4: EACH_REF(uint32_t); break;
        case 8: EACH_REF(uint64_t); break;
        default: EACH_REF(struct varlen); break;
        }
        if (v->width == WIDTH_VARLEN)                         /* whoever takes them reads the bytes next */
            for (uint16_t k = 0; k < count; k++)
                __builtin_prefetch(((const struct varlen *)v->values)[k].bytes);
        bool any = false;
        for (uint16_t p = 0; p < part_count; p++)
            any |= parts[p]->columns[c].any_null;
        if (!any) {
            memset(v->nulls, 0, count);
            continue;
        }
        for (uint16_t k = 0; k < count; k++) {
            const uint8_t *nulls = parts[refs[k].part]->columns[c].nulls[refs[k].row / ROWS_CHUNK];
            v->nulls[k] = nulls ? nulls[refs[k].row % ROWS_CHUNK] : 0;
        }
    }
}

static struct vector *columns_make(const struct merge *m, struct arena *arena)
{
    struct vector *columns = arena_array(arena, struct vector, m->column_count + 1u);
    for (uint16_t c = 0; c < m->column_count; c++)
        vector_make(&columns[c], arena, m->types[c].width, BATCH_ROWS);
    return columns;
}

/* ---- on their way ---- */

static enum status hand_on(struct local *local, struct vector *columns, uint16_t column_count, uint16_t count, uint64_t *batches)
{
    struct batch batch = { .columns = columns, .column_count = column_count, .row_count = count, .selected_count = count, .all_selected = true,
                           .grain = (*batches)++ / GRAIN_BATCHES };
    enum status status = run_check(local->worker);
    if (!status)
        status = local_push(local, &batch);
    return status || local->worker->number ? status : run_deliver(local->worker->run);
}

static enum status emit_serial(struct local *local, const struct merge *m, uint64_t from, uint64_t to)
{
    struct arena *arena = arena_open(local->op->again, "merge");
    struct vector *columns = columns_make(m, arena);
    struct sort_ref *refs = arena_array(arena, struct sort_ref, BATCH_ROWS);
    struct cursor cursor;
    uint64_t batches = 0;
    enum status status = STATUS_OK;
    cursor_open(&cursor, m, arena, from, to);
    while (cursor.left && !status) {
        uint16_t count = cursor_take(&cursor, refs);
        sort_gather(m->parts, m->part_count, refs, count, columns, m->column_count);
        status = hand_on(local, columns, m->column_count, count, &batches);
    }
    arena_close(arena);
    return status;
}

struct piece { const struct merge *merge; struct arena *arena; uint64_t from, to; uint16_t batch_count; struct { struct vector *columns; uint16_t count; } batches[PIECE_BATCHES]; };

static enum status piece_make(void *context, uint16_t number, struct worker *worker)
{
    struct piece *piece = (struct piece *)context + number;
    const struct merge *m = piece->merge;
    piece->batch_count = 0;
    if (piece->from >= piece->to)
        return STATUS_OK;
    struct sort_ref *refs = arena_array(piece->arena, struct sort_ref, BATCH_ROWS);
    struct cursor cursor;
    cursor_open(&cursor, m, piece->arena, piece->from, piece->to);
    while (cursor.left) {
        enum status status = run_check(worker);
        if (status)
            return status;
        uint16_t count = cursor_take(&cursor, refs);
        struct vector *columns = columns_make(m, piece->arena);
        sort_gather(m->parts, m->part_count, refs, count, columns, m->column_count);
        piece->batches[piece->batch_count].columns = columns;
        piece->batches[piece->batch_count++].count = count;
    }
    return STATUS_OK;
}

/* A round's pieces, from rank *from on. */
static void round_start(struct workers_group *group, struct piece *pieces, uint16_t count, uint64_t *from, uint64_t to)
{
    for (uint16_t i = 0; i < count; i++) {
        arena_reset(pieces[i].arena);
        pieces[i].from = *from;
        *from = *from + PIECE_ROWS < to ? *from + PIECE_ROWS : to;
        pieces[i].to = *from;
    }
    workers_group_start(group, piece_make, pieces);
}

static enum status emit_parallel(struct local *local, const struct merge *m, uint64_t from, uint64_t to)
{
    uint16_t most = (uint16_t)local->worker->run->settings->max_parallel_workers_per_gather, workers = m->part_count < most ? m->part_count : most;
    struct arena *arena = arena_open(local->op->again, "merge");
    struct workers_group *group = workers_group_open(local->worker->run, workers);
    struct piece *pieces = arena_array(arena, struct piece, 2u * workers), *made = pieces, *coming = pieces + workers;
    for (uint16_t i = 0; i < 2 * workers; i++)
        pieces[i] = (struct piece){ .merge = m, .arena = arena_open(arena, "piece") };
    uint64_t batches = 0;
    round_start(group, coming, workers, &from, to);
    enum status status = workers_group_wait(group);
    while (!status && coming[0].batch_count) {
        struct piece *swap = made;
        made = coming;
        coming = swap;
        round_start(group, coming, workers, &from, to);
        for (uint16_t i = 0; i < workers && !status; i++)
            for (uint16_t b = 0; b < made[i].batch_count && !status; b++)
                status = hand_on(local, made[i].batches[b].columns, m->column_count, made[i].batches[b].count, &batches);
        if (status) {
            struct error saved = { 0 };
            error_save(&saved);
            enum status ignored = workers_group_wait(group);
            (void)ignored;
            if (status == STATUS_STOP)       /* it has no record */
                error_free(&saved);
            else
                status = error_restore(&saved);
        } else {
            status = workers_group_wait(group);
        }
    }
    workers_group_close(group);
    arena_close(arena);
    return status;
}

enum status sort_emit(struct local *local)
{
    struct sort_node *n = (struct sort_node *)local->op;
    struct merge m = { .key = &n->key, .parts = n->parts, .part_count = n->part_count, .column_count = local->op->plan->left->column_count, .types = local->op->plan->left->types };
    bool on_disk = false;
    uint64_t total = 0;
    for (uint16_t p = 0; p < n->part_count; p++) {
        on_disk |= n->parts[p]->run_count > 0;
        total += n->parts[p]->count;
        if (local->op->counters)
            local->op->counters->memory_bytes = (p ? local->op->counters->memory_bytes : 0) + arena_bytes(n->parts[p]->arena);
    }
    if (on_disk)
        return sort_emit_disk(local);
    uint64_t from = n->skip + limit_take_skip(local->next), wanted = limit_rows_left(local->next), to = n->keep < total ? n->keep : total;
    if (from >= to)
        return STATUS_OK;
    if (wanted < to - from)
        to = from + wanted;
    if (n->part_count > 1 && to - from > 2 * PIECE_ROWS && local->worker->run->nesting == 0 && local->worker->run->settings->max_parallel_workers_per_gather > 1 && workers_available())
        return emit_parallel(local, &m, from, to);
    return emit_serial(local, &m, from, to);
}
