/* engine/exec/hash_probe.c - the probe side of a hash join: what each of its rows meets in the table, and what comes out.
 *
 * Without a further ON condition and with at most one match a row, nothing is copied: the probe batch goes on with a narrower
 * selection, and the build side's columns are gathered to the same positions. SEMI and ANTI only narrow the selection; RIGHT_SEMI and
 * RIGHT_ANTI only set marks.
 *
 * Else matches are pairs (probe position, build row), a batch of them at a time. Where there is an ON condition it is judged over the
 * pairs; a probe row's last pair is then a placeholder without build row: whether the row is to be handed on by itself (LEFT, FULL, SEMI,
 * ANTI) is decided there, in its place. */
#include "base/plant.h"
#include "engine/exec/hash_join.h"

enum status probe_local(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    struct arena *arena = local->worker->arena;
    const struct plan *plan = local->op->plan;
    uint16_t both = (uint16_t)(n->left_count + n->right_count);
    l->key_vectors = arena_array(arena, struct vector, plan->key_count + 1u);
    l->joined = arena_array(arena, struct vector, both + 1u);
    l->spaces = arena_array(arena, struct gathered, both + 1u);
    l->out = arena_array(arena, struct vector, n->output_count + 1u);
    l->words = arena_alloc(arena, BATCH_MAX * sizeof *l->words);
    l->found = arena_alloc(arena, BATCH_MAX * sizeof *l->found);
    l->pair_left = arena_alloc(arena, BATCH_ROWS * sizeof *l->pair_left);
    l->pair_right = arena_alloc(arena, BATCH_ROWS * sizeof *l->pair_right);
    l->kept_left = arena_alloc(arena, BATCH_MAX * sizeof *l->kept_left);
    l->kept_right = arena_alloc(arena, BATCH_MAX * sizeof *l->kept_right);
    l->row_matched = arena_alloc(arena, BATCH_MAX);
    enum status status = evaluation_open(n->left_keys, local->worker->run, arena, &l->keys);
    if (!status && n->filter)
        status = evaluation_open(n->filter, local->worker->run, arena, &l->filter);
    return status;
}

/* ---- columns ---- */

static struct gathered *room(struct probe_local *l, uint16_t column, uint8_t width, uint16_t rows)
{
    struct gathered *g = &l->spaces[column];
    if (g->capacity < rows) {
        g->capacity = rows <= 128 ? 128 : rows <= BATCH_ROWS ? BATCH_ROWS : BATCH_MAX;
        g->values = arena_alloc(l->local.worker->arena, width_bytes(width) * g->capacity);
        g->nulls = arena_alloc(l->local.worker->arena, g->capacity);
    }
    return g;
}

#define GATHER(type)                                                                                                        \
    do {                                                                                                                    \
        type *restrict out = g->values;                                                                                     \
        if (!nulls && at)                                                                                                   \
            for (uint16_t k = 0; k < count; k++) {                                                                          \
                uint32_t r = refs[k] & REF_MAX;                                                                             \
                out[at[k]] = ((const type *)from->values[r / ROWS_CHUNK])[r % ROWS_CHUNK];                                  \
            }                                                                                                               \
        else if (!nulls)                                                                                                    \
            for (uint16_t k = 0; k < count; k++) {                                                                          \
                uint32_t r = refs[k] & REF_MAX;                                                                             \
                out[k] = ((const type *)from->values[r / ROWS_CHUNK])[r % ROWS_CHUNK];                                      \
            }                                                                                                               \
        else                                                                                                                \
            for (uint16_t k = 0; k < count; k++) {                                                                          \
                uint32_t r = refs[k] & REF_MAX;                                                                             \
                uint16_t to = at ? at[k] : k;                                                                               \
                bool null = refs[k] == NOBODY || (from->nulls[r / ROWS_CHUNK] && from->nulls[r / ROWS_CHUNK][r % ROWS_CHUNK]);   \
                nulls[to] = null;                                                                                           \
                if (null)                                                                                                   \
                    memset(&out[to], 0, sizeof out[to]);                                                                    \
                else                                                                                                        \
                    out[to] = ((const type *)from->values[r / ROWS_CHUNK])[r % ROWS_CHUNK];                                 \
            }                                                                                                               \
    } while (0)

/* A right column of the build rows refs[k], to position at[k] (at NULL: k); NOBODY gives null. rows: how many positions the batch has. */
static void gather_build(struct probe_local *l, uint16_t column, const uint32_t *refs, uint16_t count, const row_pos *at, uint16_t rows, bool nobody, struct vector *out)
{
    const struct join_node *n = (const struct join_node *)l->local.op;
    uint16_t stored = n->store_column[column];
    const struct build_column *from = &n->rows.columns[stored];
    uint8_t width = n->build_types[stored].width;
    struct gathered *g = room(l, (uint16_t)(n->left_count + column), width, rows);
    uint8_t *nulls = nobody || from->any_null ? g->nulls : NULL;
    switch (width) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    default: GATHER(struct varlen); break;
    }
    *out = (struct vector){ .values = g->values, .nulls = nulls, .width = width };
}

/* A column of left ++ right over pairs. */
static void gather_pairs(struct probe_local *l, const struct batch *batch, uint16_t column, const row_pos *left, const uint32_t *right, uint16_t count, bool nobody, struct vector *out)
{
    const struct join_node *n = (const struct join_node *)l->local.op;
    if (column >= n->left_count) {
        gather_build(l, (uint16_t)(column - n->left_count), right, count, NULL, BATCH_ROWS, nobody, out);
        return;
    }
    const struct vector *from = &batch->columns[column];
    if (from->constant) {
        *out = *from;
        return;
    }
    struct gathered *g = room(l, column, from->width, BATCH_ROWS);
    *out = (struct vector){ .values = g->values, .nulls = from->nulls ? g->nulls : NULL, .width = from->width };
    vector_gather(from, left, count, out, 0);
}

static enum status hand_on(struct probe_local *l, const struct batch *batch, const struct batch *out, const row_pos *left)
{
    return l->results ? join_spill_result(l, batch, out, left) : local_push(&l->local, out);
}

static enum status push_pairs(struct probe_local *l, const struct batch *batch, const row_pos *left, const uint32_t *right, uint16_t count)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum plan_join join = n->op.plan->join;
    if (count == 0)
        return STATUS_OK;
    bool nobody = join == PLAN_LEFT || join == PLAN_FULL;
    for (uint16_t c = 0; c < n->output_count; c++)
        gather_pairs(l, batch, n->outputs[c], left, right, count, nobody, &l->out[c]);
    struct batch out = { .columns = l->out, .column_count = n->output_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = batch->grain };
    return hand_on(l, batch, &out, left);
}

/* Rows of the batch itself (l->kept_left), next to their build rows (refs; NULL: no right columns). */
static enum status push_selected(struct probe_local *l, const struct batch *batch, const uint32_t *refs, uint16_t count, bool all)
{
    struct join_node *n = (struct join_node *)l->local.op;
    if (count == 0)
        return STATUS_OK;
    struct batch out = *batch;
    for (uint16_t c = 0; c < n->output_count; c++) {
        uint16_t column = n->outputs[c];
        if (column < n->left_count)
            l->out[c] = batch->columns[column];
        else
            gather_build(l, (uint16_t)(column - n->left_count), refs, count, all && batch->all_selected ? NULL : l->kept_left, batch->row_count,
                         n->op.plan->join == PLAN_LEFT || n->op.plan->join == PLAN_FULL, &l->out[c]);
    }
    out.columns = l->out;
    out.column_count = n->output_count;
    out.row_ids = NULL;
    if (!all) {
        out.selection = l->kept_left;
        out.selected_count = count;
        out.all_selected = false;
    }
    return hand_on(l, batch, &out, NULL);
}

/* ---- matches ---- */

static inline void mark(struct join_node *n, uint32_t found)
{
    _Atomic uint8_t *byte = &n->matched[found & REF_MAX];
    if (!atomic_load_explicit(byte, memory_order_relaxed))
        atomic_store_explicit(byte, 1, memory_order_relaxed);
}

/* Words are hashes: does the build row have the keys of the probe row at i? */
static bool keys_equal(const struct join_node *n, const struct probe_local *l, uint32_t found, uint16_t i)
{
    uint32_t r = found & REF_MAX;
    for (uint16_t c = 0; c < n->op.plan->key_count; c++) {
        const struct build_column *column = &n->rows.columns[n->key_column[c]];
        const struct vector b = { .values = column->values[r / ROWS_CHUNK], .nulls = column->nulls[r / ROWS_CHUNK], .width = n->key_types[c].width };
        if (!same_value(n->key_types[c], &b, r % ROWS_CHUNK, &l->key_vectors[c], i))
            return false;
    }
    return true;
}

/* From `found` on, the first that really is a match. */
static inline uint32_t match_from(const struct join_node *n, const struct probe_local *l, uint32_t found, uint16_t i)
{
    if (!n->worded)
        while (found != NOBODY && !keys_equal(n, l, found, i))
            found = join_table_next(&n->table, found);
    return found;
}
static inline uint32_t match_after(const struct join_node *n, const struct probe_local *l, uint32_t found, uint16_t i)
{
    return match_from(n, l, join_table_next(&n->table, found), i);
}

static bool null_probe(const struct join_node *n, const struct probe_local *l, uint16_t i)
{
    for (uint16_t k = 0; k < n->op.plan->key_count; k++)
        if (!(n->op.plan->null_safe && n->op.plan->null_safe[k]) && vector_null(&l->key_vectors[k], i))
            return true;
    return false;
}

/* l->found: for each row of the batch its first match. */
static void find(struct probe_local *l, const row_pos *positions, uint16_t count)
{
    struct join_node *n = (struct join_node *)l->local.op;
    bool nulls = false;
    join_table_find(&n->table, l->words, count, l->found);
    for (uint16_t k = 0; k < n->op.plan->key_count; k++)
        nulls |= l->key_vectors[k].nulls != NULL;
    for (uint16_t k = 0; k < count && nulls; k++)
        if (l->found[k] != NOBODY && null_probe(n, l, positions ? positions[k] : k))
            l->found[k] = NOBODY;
    for (uint16_t k = 0; k < count && !n->worded; k++)
        if (l->found[k] != NOBODY)
            l->found[k] = match_from(n, l, l->found[k], positions ? positions[k] : k);
}

/* ---- without an ON condition ---- */

/* SEMI, ANTI. */
static enum status probe_either(struct probe_local *l, const struct batch *batch, const row_pos *positions)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum plan_join join = n->op.plan->join;
    uint16_t kept = 0;
    bool wanted = join == PLAN_SEMI;
    for (uint16_t k = 0; k < batch->selected_count; k++) {
        l->kept_left[kept] = positions ? positions[k] : k;
        kept = (uint16_t)(kept + ((l->found[k] != NOBODY) == wanted));
    }
    if (join == PLAN_ANTI_NULL && n->any_row) {          /* a null is not known to be none of them */
        uint16_t known = 0;
        for (uint16_t k = 0; k < kept; k++) {
            l->kept_left[known] = l->kept_left[k];
            known = (uint16_t)(known + !null_probe(n, l, l->kept_left[k]));
        }
        kept = known;
    }
    return push_selected(l, batch, NULL, kept, false);
}

/* RIGHT_SEMI, RIGHT_ANTI: where the first row of a word is marked all of them are. */
static void probe_mark(struct probe_local *l, const struct batch *batch, const row_pos *positions)
{
    struct join_node *n = (struct join_node *)l->local.op;
    for (uint16_t k = 0; k < batch->selected_count; k++) {
        uint32_t found = l->found[k];
        uint16_t i = positions ? positions[k] : k;
        if (found == NOBODY || atomic_load_explicit(&n->matched[found & REF_MAX], memory_order_relaxed))
            continue;
        uint32_t first = found;
        for (found = match_after(n, l, found, i); found != NOBODY; found = match_after(n, l, found, i))
            mark(n, found);
        mark(n, first);
    }
}

/* At most one match a row. */
static enum status probe_unique(struct probe_local *l, const struct batch *batch, const row_pos *positions)
{
    struct join_node *n = (struct join_node *)l->local.op;
    bool outer = n->op.plan->join == PLAN_LEFT || n->op.plan->join == PLAN_FULL;
    uint16_t kept = 0, count = batch->selected_count;
    for (uint16_t k = 0; k < count && n->matched; k++)
        if (l->found[k] != NOBODY)
            mark(n, l->found[k]);
    if (outer) {
        for (uint16_t k = 0; k < count && positions; k++)
            l->kept_left[k] = positions[k];
        return push_selected(l, batch, l->found, count, true);
    }
    for (uint16_t k = 0; k < count; k++) {
        l->kept_left[kept] = positions ? positions[k] : k;
        l->kept_right[kept] = l->found[k];
        kept = (uint16_t)(kept + (l->found[k] != NOBODY));
    }
    return push_selected(l, batch, l->kept_right, kept, kept == count);
}

static enum status pairs_full(struct probe_local *l, const struct batch *batch)
{
    uint16_t count = l->pair_count;
    l->pair_count = 0;
    enum status status = push_pairs(l, batch, l->pair_left, l->pair_right, count);
    return status ? status : run_check(l->local.worker);
}

static enum status probe_pairs(struct probe_local *l, const struct batch *batch, const row_pos *positions)
{
    struct join_node *n = (struct join_node *)l->local.op;
    bool outer = n->op.plan->join == PLAN_LEFT || n->op.plan->join == PLAN_FULL;
    l->pair_count = 0;
    for (uint16_t k = 0; k < batch->selected_count; k++) {
        uint16_t i = positions ? positions[k] : k;
        uint32_t found = l->found[k];
        if (found == NOBODY && !outer)
            continue;
        do {
            if (n->matched && found != NOBODY)
                mark(n, found);
            l->pair_left[l->pair_count] = i;
            l->pair_right[l->pair_count++] = found;
            if (PLANT(MATCHES_PAST_TWO) && l->pair_count >= 3 && l->pair_left[l->pair_count - 3] == i)
                l->pair_count--;
            if (l->pair_count == BATCH_ROWS) {
                enum status status = pairs_full(l, batch);
                if (status)
                    return status;
            }
            found = found == NOBODY ? NOBODY : match_after(n, l, found, i);
        } while (found != NOBODY);
    }
    return push_pairs(l, batch, l->pair_left, l->pair_right, l->pair_count);
}

/* ---- with an ON condition ---- */

static enum status judge_pairs(struct probe_local *, const struct batch *, uint16_t *semi_count);

/* The condition failed at a pair: those before it are judged and handed on, for a LIMIT may be met by them; then the error. */
static enum status judge_before(struct probe_local *l, const struct batch *batch, uint16_t *semi_count, enum status failure, uint16_t error_at)
{
    if (error_at == NO_ROW || error_at == 0 || status_sqlstate(failure)[0] != '2')
        return failure;
    struct error saved = {0};
    error_save(&saved);
    l->pair_count = error_at;
    enum status status = judge_pairs(l, batch, semi_count);
    if (status)
        error_free(&saved);
    return status ? status : error_restore(&saved);
}

/* Judges the pairs gathered so far. Placeholders: see the head of the file. */
static enum status judge_pairs(struct probe_local *l, const struct batch *batch, uint16_t *semi_count)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum plan_join join = n->op.plan->join;
    const row_pos *passed = NULL;
    uint16_t real_count = 0, passed_count, at, kept = 0, next = 0;
    row_pos real[BATCH_ROWS];
    for (uint16_t k = 0; k < l->pair_count; k++) {
        real[real_count] = k;
        real_count = (uint16_t)(real_count + (l->pair_right[k] != NOBODY));
    }
    for (uint16_t c = 0; c < n->left_count + n->right_count; c++)
        if (n->reads[c])
            gather_pairs(l, batch, c, l->pair_left, l->pair_right, l->pair_count, real_count < l->pair_count, &l->joined[c]);
    struct batch pairs = { .columns = l->joined, .column_count = (uint16_t)(n->left_count + n->right_count), .row_count = l->pair_count, .selected_count = real_count,
                           .selection = real, .grain = batch->grain };
    enum status status = evaluation_filter(l->filter, &pairs, &passed, &passed_count, &at);
    if (status)
        return judge_before(l, batch, semi_count, status, at);
    ASSERT(passed != NULL || passed_count == 0);
    for (uint16_t k = 0; k < l->pair_count; k++) {
        uint16_t left = l->pair_left[k];
        uint32_t right = l->pair_right[k];
        if (right == NOBODY) {
            bool matched = l->row_matched[left];
            if (join == PLAN_SEMI ? !matched : matched)
                continue;
            if (join_one_sided(join)) {
                l->kept_left[(*semi_count)++] = left;
            } else {
                l->pair_left[kept] = left;
                l->pair_right[kept++] = NOBODY;
            }
            continue;
        }
        if (next >= passed_count || passed[next] != k)
            continue;
        next++;
        l->row_matched[left] = 1;
        if (n->matched)
            mark(n, right);
        l->pair_left[kept] = left;
        l->pair_right[kept++] = right;
    }
    l->pair_count = 0;
    if (join_one_sided(join) || join == PLAN_RIGHT_SEMI || join == PLAN_RIGHT_ANTI)
        kept = 0;
    status = push_pairs(l, batch, l->pair_left, l->pair_right, kept);
    return status ? status : run_check(l->local.worker);
}

static enum status probe_judged(struct probe_local *l, const struct batch *batch, const row_pos *positions)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum plan_join join = n->op.plan->join;
    bool placeholder = join == PLAN_LEFT || join == PLAN_FULL || join_one_sided(join);
    uint16_t semi_count = 0;
    enum status status = STATUS_OK;
    l->pair_count = 0;
    memset(l->row_matched, 0, batch->row_count);
    for (uint16_t k = 0; k < batch->selected_count && !status; k++) {
        uint16_t i = positions ? positions[k] : k;
        for (uint32_t found = l->found[k]; found != NOBODY && !status; found = match_after(n, l, found, i)) {
            l->pair_left[l->pair_count] = i;
            l->pair_right[l->pair_count++] = found & REF_MAX;
            if (l->pair_count == BATCH_ROWS)
                status = judge_pairs(l, batch, &semi_count);
        }
        if (!status && placeholder) {
            l->pair_left[l->pair_count] = i;
            l->pair_right[l->pair_count++] = NOBODY;
            if (l->pair_count == BATCH_ROWS)
                status = judge_pairs(l, batch, &semi_count);
        }
    }
    if (!status && l->pair_count)
        status = judge_pairs(l, batch, &semi_count);
    if (!status || status == STATUS_STOP || semi_count == 0)
        return status ? status : push_selected(l, batch, NULL, semi_count, false);
    struct error saved = {0};
    error_save(&saved);
    status = push_selected(l, batch, NULL, semi_count, false);
    if (status)
        error_free(&saved);
    return status ? status : error_restore(&saved);
}

/* ---- */

enum status probe_take(struct local *local, const struct batch *batch)
{
    struct join_node *n = (struct join_node *)local->op;
    enum plan_join join = local->op->plan->join;
    if (local->worker->number == 0)
        n->last_grain = batch->grain;
    if (join == PLAN_ANTI_NULL && n->any_row && n->null_key)
        return STATUS_OK;                /* NOT IN with a null among the values: never true */
    return join_probe(local, batch);
}

enum status join_probe(struct local *local, const struct batch *batch)
{
    struct probe_local *l = (struct probe_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    enum plan_join join = local->op->plan->join;
    uint16_t at;
    enum status status = evaluation_run(l->keys, batch, l->key_vectors, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, join_probe);
    const row_pos *positions = batch->all_selected ? NULL : batch->selection;
    join_words(n, l->key_vectors, positions, batch->selected_count, l->words);
    if (n->spilled && !l->results)
        return join_spill_probe(l, batch, positions);
    find(l, positions, batch->selected_count);
    if (n->filter)
        return probe_judged(l, batch, positions);
    if (join_one_sided(join))
        return probe_either(l, batch, positions);
    if (join == PLAN_RIGHT_SEMI || join == PLAN_RIGHT_ANTI)
        return probe_mark(l, batch, positions), STATUS_OK;
    return n->table.unique ? probe_unique(l, batch, positions) : probe_pairs(l, batch, positions);
}

/* ---- build rows that come out by themselves ---- */

static enum status unmatched_push(struct probe_local *l, uint16_t count, uint64_t grain)
{
    static const uint8_t one = 1;
    static const uint64_t zeros[2] = { 0, 0 };
    struct join_node *n = (struct join_node *)l->local.op;
    if (count == 0)
        return STATUS_OK;
    for (uint16_t c = 0; c < n->output_count; c++) {
        uint16_t column = n->outputs[c];
        if (column < n->left_count)
            l->out[c] = (struct vector){ .values = (void *)zeros, .nulls = (uint8_t *)&one, .width = n->op.plan->left->types[column].width, .constant = true };
        else
            gather_build(l, (uint16_t)(column - n->left_count), l->kept_right, count, NULL, BATCH_ROWS, false, &l->out[c]);
    }
    struct batch out = { .columns = l->out, .column_count = n->output_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = grain };
    return hand_on(l, NULL, &out, NULL);
}

/* By the leader, when nobody probes any more. */
enum status join_unmatched(struct local *local)
{
    struct probe_local *l = (struct probe_local *)local;
    struct join_node *n = (struct join_node *)local->op;
    enum status status = STATUS_OK;
    uint16_t count = 0;
    uint8_t wanted = n->op.plan->join == PLAN_RIGHT_SEMI;
    uint64_t grain = n->matched ? join_last_grain(n) : 0;
    for (uint32_t s = 0; s < n->rows.segment_count && n->matched && !status; s++) {
        uint32_t first = (uint32_t)n->rows.segments[s].first, end = first + (uint32_t)n->rows.segments[s].count;
        status = run_check(l->local.worker);
        for (uint32_t ref = first; ref < end && !status; ref++) {
            l->kept_right[count] = ref;
            count = (uint16_t)(count + (atomic_load_explicit(&n->matched[ref], memory_order_relaxed) == wanted));
            if (count == BATCH_ROWS) {
                status = unmatched_push(l, count, grain);
                count = 0;
            }
        }
    }
    return status ? status : unmatched_push(l, PLANT(UNMATCHED_LOST) ? 0 : count, grain);
}
