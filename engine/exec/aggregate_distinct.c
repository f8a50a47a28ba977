/* engine/exec/aggregate_distinct.c - count(DISTINCT x), and every other exact aggregate over distinct arguments.
 *
 * A set of the (grouping set, group, arguments) that a worker met, in one of two forms:
 *
 *     bits    one integer or date without GROUP BY, its values close together: a bit for each value
 *     rows    else: a table of distinct rows (row_table.h)
 *
 * A worker that is alone updates the states with what is new, at once. Of several workers each only gathers its set; at the end
 * the sets are united: bits by OR, rows by partitions of the arguments' hash, each in one worker with states of its own, which
 * then are combined. Exact aggregates don't care in which order values come, so none of this shows.
 *
 * A set that outgrew its share of work_mem takes nothing new: rows that are not in it are written out by partitions of the
 * arguments' hash, and each partition is told apart by itself at the end; one that is too big for memory is dealt out further. */
#include "base/plant.h"
#include "engine/exec/aggregate_private.h"

#define LEAST_ROWS 1024                  /* of a partition, that have room in any case: each level gets on */
#define FIXED_COLUMNS 2                  /* grouping set, group */
#define BITS_FREE  (1ULL << 23)          /* so many bits are never too many */
#define BITS_SPARE 64                    /* … more are when a value has more than this */

struct distinct_set {
    struct arena *arena;
    struct sql_type *types;              /* grouping set, group, arguments */
    struct vector *columns;
    uint16_t column_count, first;        /* `first`: what tells rows apart begins there */
    uint64_t limit_bytes;
    bool bitmap;
    int64_t low; uint64_t range, *bits;  /* of value low + x, at x */
    uint64_t met;                        /* bits that are set */
    struct row_table rows;
    bool full;
    struct spill_set spilled;
};

enum status distinct_open(struct aggregate_local *l, const struct call *c, struct distinct_set **out)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct distinct_set *s = *out = arena_new(l->arena, struct distinct_set);
    s->arena = arena_open(l->arena, "distinct");
    s->column_count = (uint16_t)(c->item->arg_count + FIXED_COLUMNS);
    s->types = arena_array(l->arena, struct sql_type, s->column_count);
    s->types[0] = s->types[1] = type_make(OID_INT4, -1);
    memcpy(s->types + FIXED_COLUMNS, c->arg_types, c->item->arg_count * sizeof *s->types);
    s->columns = arena_array(l->arena, struct vector, s->column_count);
    s->first = n->op.plan->set_count ? 0 : n->op.plan->group_count ? 1 : 2;
    s->limit_bytes = l->never_spill ? UINT64_MAX : l->limit_bytes;
    s->bitmap = s->first == FIXED_COLUMNS && c->item->arg_count == 1 && c->aggregate->strict && type_bitwise(c->arg_types[0]);
    row_table_open(&s->rows, s->arena, s->types + s->first, (uint16_t)(s->column_count - s->first));
    return STATUS_OK;
}

uint64_t distinct_bytes(const struct distinct_set *s) { return arena_bytes(s->arena); }

/* ---- bits ---- */

#define LOAD(type)                                                                                    \
    do {                                                                                              \
        const type *values = v->values;                                                               \
        if (v->constant)                                                                              \
            for (uint16_t k = 0; k < count; k++) words[k] = (int64_t)values[0];                       \
        else if (rows)                                                                                \
            for (uint16_t k = 0; k < count; k++) words[k] = (int64_t)values[rows[k]];                 \
        else                                                                                          \
            for (uint16_t k = 0; k < count; k++) words[k] = (int64_t)values[k];                       \
    } while (0)

static void words_load(const struct vector *v, const row_pos *rows, uint16_t count, int64_t *words)
{
    switch (v->width) {
    case 1: LOAD(uint8_t); break;
    case 2: LOAD(int16_t); break;
    case 4: LOAD(int32_t); break;
    default: LOAD(int64_t); break;
    }
}

static void word_store(int64_t word, struct vector *v, size_t at)
{
    switch (v->width) {
    case 1: ((uint8_t *)v->values)[at] = (uint8_t)word; break;
    case 2: ((int16_t *)v->values)[at] = (int16_t)word; break;
    case 4: ((int32_t *)v->values)[at] = (int32_t)word; break;
    default: ((int64_t *)v->values)[at] = word; break;
    }
}

/* Makes room for all of [least, most], and some more on both sides; false: that would be too much. Both ends lie at multiples of 64. */
static bool bits_widen(struct distinct_set *s, int64_t least, int64_t most)
{
    uint64_t first = 0, end = s->range / 64;
    while (first < end && !s->bits[first])
        first++;
    while (end > first && !s->bits[end - 1])
        end--;
    int64_t low = least, high = most;
    if (first < end) {
        int64_t met_least = (int64_t)((uint64_t)s->low + first * 64), met_most = (int64_t)((uint64_t)s->low + end * 64 - 1);
        low = met_least < low ? met_least : low;
        high = met_most > high ? met_most : high;
    }
    low &= ~(int64_t)63;
    high |= 63;
    uint64_t need = (uint64_t)high - (uint64_t)low, allowed = s->met * BITS_SPARE > BITS_FREE ? s->met * BITS_SPARE : BITS_FREE;
    if (allowed / 8 > s->limit_bytes)
        allowed = s->limit_bytes * 8;
    if (need >= allowed / 4 * 3)
        return false;
    uint64_t room = (allowed - need < need ? allowed - need : need) / 2, start = (uint64_t)low - (uint64_t)INT64_MIN, rest = (uint64_t)INT64_MAX - (uint64_t)high;
    uint64_t below = (room < start ? room : start) & ~63ULL, above = (room < rest ? room : rest) & ~63ULL, range = need + 1 + below + above, new_low = (uint64_t)low - below;
    uint64_t *bits = arena_zero(s->arena, range / 8);
    if (first < end)
        memcpy(bits + ((uint64_t)s->low + first * 64 - new_low) / 64, s->bits + first, (end - first) * 8);
    s->bits = bits;
    s->low = (int64_t)new_low;
    s->range = range;
    return true;
}

static uint16_t bits_add(struct distinct_set *s, const int64_t *words, const row_pos *rows, uint16_t count, row_pos *fresh)
{
    uint16_t n = 0;
    for (uint16_t k = 0; k < count; k++) {
        uint64_t x = (uint64_t)words[k] - (uint64_t)s->low, bit = 1ULL << (x & 63), was = s->bits[x / 64];
        s->bits[x / 64] = was | bit;
        fresh[n] = rows ? rows[k] : k;
        n = (uint16_t)(n + (!(was & bit) || (PLANT(DISTINCT_TWICE) && (x & 7) == 5)));
    }
    s->met += n;
    return n;
}

/* Calls take with the values of bits, in vectors of the arguments' type. */
struct bits_taker { enum status (*take)(struct bits_taker *, const struct vector *values, uint16_t count); };
static enum status bits_each(const struct distinct_set *s, const uint64_t *bits, int64_t low, uint64_t range, struct bits_taker *taker)
{
    int64_t room[BATCH_ROWS + 64];
    struct vector v = { .values = room, .width = s->types[FIXED_COLUMNS].width };
    uint16_t n = 0;
    enum status status = STATUS_OK;
    for (uint64_t w = 0; w < range / 64 && !status; w++) {
        for (uint64_t left = bits[w]; left; left &= left - 1)
            word_store((int64_t)((uint64_t)low + w * 64 + (uint64_t)__builtin_ctzll(left)), &v, n++);
        if (n >= BATCH_ROWS) {
            status = taker->take(taker, &v, n);
            n = 0;
        }
    }
    return status || n == 0 ? status : taker->take(taker, &v, n);
}

struct rows_taker { struct bits_taker taker; struct row_table *rows; };
static enum status take_into_rows(struct bits_taker *taker, const struct vector *values, uint16_t count)
{
    struct vector v = *values;
    struct batch batch = { .columns = &v, .column_count = 1, .row_count = count };
    uint32_t entries[BATCH_MAX];
    row_table_add(((struct rows_taker *)taker)->rows, &batch, NULL, count, NULL, entries);
    return STATUS_OK;
}

static enum status become_rows(struct distinct_set *s)
{
    struct rows_taker t = { { take_into_rows }, &s->rows };
    s->bitmap = false;
    return bits_each(s, s->bits, s->low, s->range, &t.taker);
}

/* ---- rows ---- */

/* Rows that aren't in a full set are set aside. */
static enum status rows_set_aside(struct aggregate_local *l, struct distinct_set *s, const struct batch *batch, const row_pos *rows, uint16_t count)
{
    uint32_t entries[BATCH_MAX];
    uint64_t hashes[BATCH_MAX];
    row_pos missing[BATCH_MAX];
    uint16_t n = 0;
    struct batch keys = *batch;
    keys.columns += s->first;
    keys.column_count = (uint16_t)(keys.column_count - s->first);
    row_table_find(&s->rows, &keys, rows, count, NULL, entries);
    for (uint16_t k = 0; k < count; k++)
        if (entries[k] == ROW_TABLE_NONE)
            missing[n++] = rows ? rows[k] : k;
    if (n == 0)
        return STATUS_OK;
    if (!s->spilled.run)
        spill_set_open(&s->spilled, l->local.worker->run, l->arena, s->types, s->column_count);
    hash_columns(s->types + FIXED_COLUMNS, batch->columns + FIXED_COLUMNS, (uint16_t)(s->column_count - FIXED_COLUMNS), missing, n, hashes);
    return spill_set_add(&s->spilled, batch, missing, n, hashes);
}

static uint16_t rows_add(struct row_table *t, const struct batch *keys, const row_pos *rows, uint16_t count, row_pos *fresh)
{
    uint32_t entries[BATCH_MAX], next = row_table_count(t);
    uint16_t n = 0;
    row_table_add(t, keys, rows, count, NULL, entries);
    for (uint16_t k = 0; k < count; k++)
        if (entries[k] == next) {
            fresh[n++] = rows ? rows[k] : k;
            next++;
        }
    return n;
}

enum status distinct_add(struct aggregate_local *l, const struct call *c, struct distinct_set *s, uint16_t set, const struct vector *args, const row_pos *rows, uint16_t count,
                         row_pos *fresh, uint16_t *fresh_count)
{
    *fresh_count = 0;
    if (s->bitmap) {
        int64_t words[BATCH_MAX], least = INT64_MAX, most = INT64_MIN;
        words_load(&args[0], rows, count, words);
        for (uint16_t k = 0; k < count; k++) {
            least = words[k] < least ? words[k] : least;
            most = words[k] > most ? words[k] : most;
        }
        bool inside = s->range && least >= s->low && (uint64_t)most - (uint64_t)s->low < s->range;
        if (inside || bits_widen(s, least, most)) {
            uint16_t n = bits_add(s, words, rows, count, fresh);
            *fresh_count = l->alone ? n : 0;
            return STATUS_OK;
        }
        enum status status = become_rows(s);
        if (status)
            return status;
    }
    int32_t number = set;
    uint32_t none = 0;
    s->columns[0] = (struct vector){ .values = &number, .width = 4, .constant = true };
    s->columns[1] = l->local.op->plan->group_count ? (struct vector){ .values = l->groups, .width = 4 } : (struct vector){ .values = &none, .width = 4, .constant = true };
    memcpy(s->columns + FIXED_COLUMNS, args, c->item->arg_count * sizeof *args);
    struct batch batch = { .columns = s->columns, .column_count = s->column_count };
    if (s->full)
        return rows_set_aside(l, s, &batch, rows, count);
    batch.columns += s->first;
    batch.column_count = (uint16_t)(batch.column_count - s->first);
    uint16_t n = rows_add(&s->rows, &batch, rows, count, fresh);
    *fresh_count = l->alone ? n : 0;
    s->full = row_table_bytes(&s->rows) > s->limit_bytes;
    return STATUS_OK;
}

/* ---- the end ---- */

/* Arguments of new rows into states: state of group g at base + g * stride. Columns of the batch: grouping set, group, arguments. */
static enum status apply(const struct call *c, uint8_t *base, uint32_t stride, uint32_t set, const struct batch *batch, const row_pos *rows, uint16_t count, struct arena *arena)
{
    row_pos of_set[BATCH_MAX];
    uint16_t n = 0, error_at = NO_ROW;
    for (uint16_t k = 0; k < count; k++)
        if (VECTOR(uint32_t, &batch->columns[0], rows[k]) == set)
            of_set[n++] = rows[k];
    if (n == 0)
        return STATUS_OK;
    struct aggregate_call call = { .base = base, .stride = stride, .groups = batch->columns[1].values, .args = batch->columns + FIXED_COLUMNS, .arg_types = c->arg_types,
                                   .arg_count = c->item->arg_count, .selection = of_set, .count = n, .arena = arena, .data = c->item->data, .error_at = &error_at };
    return c->aggregate->update(&call);
}

/* Rows of one partition are told apart: each goes on once. When they are too many for memory, those that are new then are dealt out on the
 * next level, and told apart later, partition by partition. */
struct telling {
    const struct distinct_set *set;      /* what a row is */
    struct run *run;
    struct row_table table; struct arena *arena;
    uint64_t limit_bytes;
    uint8_t level;
    struct spill_set *further;           /* NULL: all had room */
    enum status (*take)(void *context, struct batch *, const row_pos *fresh, uint16_t count);
    void *context;
};

static void telling_open(struct telling *t, struct arena *parent)
{
    t->arena = arena_open(parent, "distinct partition");
    t->further = NULL;
    row_table_open(&t->table, t->arena, t->set->types + t->set->first, (uint16_t)(t->set->column_count - t->set->first));
}

static enum status telling_further(struct telling *t, struct batch *batch, const row_pos *rows, uint16_t count, const struct batch *keys)
{
    const struct distinct_set *s = t->set;
    uint32_t entries[BATCH_MAX];
    uint64_t hashes[BATCH_MAX];
    row_pos missing[BATCH_MAX];
    uint16_t n = 0;
    if (!t->further) {
        t->further = arena_new(t->arena, struct spill_set);
        spill_set_open(t->further, t->run, t->arena, s->types, s->column_count);
        t->further->level = (uint8_t)(t->level + 1);
    }
    row_table_find(&t->table, keys, rows, count, NULL, entries);
    for (uint16_t k = 0; k < count; k++)
        if (entries[k] == ROW_TABLE_NONE)
            missing[n++] = rows ? rows[k] : k;
    hash_columns(s->types + FIXED_COLUMNS, batch->columns + FIXED_COLUMNS, (uint16_t)(s->column_count - FIXED_COLUMNS), missing, n, hashes);
    return n ? spill_set_add(t->further, batch, missing, n, hashes) : STATUS_OK;
}

static enum status telling_rows(struct telling *t, struct batch *batch, const row_pos *rows, uint16_t count)
{
    row_pos fresh[BATCH_MAX];
    struct batch keys = *batch;
    keys.columns += t->set->first;
    keys.column_count = (uint16_t)(keys.column_count - t->set->first);
    if (t->further || (t->level < SPILL_LAST_LEVEL && row_table_count(&t->table) >= LEAST_ROWS && row_table_bytes(&t->table) > t->limit_bytes))
        return telling_further(t, batch, rows, count, &keys);
    return t->take(t->context, batch, fresh, rows_add(&t->table, &keys, rows, count, fresh));
}

/* A partition of what was set aside. */
static enum status telling_spilled(struct telling *t, struct spill_set *set, uint32_t partition, struct batch *(*map)(void *, struct batch *))
{
    struct spill_set_reader reader;
    struct batch batch;
    bool end = false;
    enum status status = STATUS_OK;
    if (!set->run)
        return STATUS_OK;
    spill_set_read_from_start(set, partition, arena_open(t->arena, "partition"), &reader);
    while (!status) {
        status = spill_set_read(&reader, &batch, &end);
        if (status || end)
            break;
        status = telling_rows(t, map ? map(t->context, &batch) : &batch, NULL, batch.row_count);
    }
    return status;
}

/* All rows have come: the partitions of those that had no room. */
static enum status telling_close(struct telling *t, enum status status)
{
    if (!status && t->further)
        status = spill_set_flush(t->further);
    for (uint32_t p = 0; p < SPILL_PARTITIONS && t->further && !status; p++) {
        struct telling part = *t;
        part.level++;
        telling_open(&part, t->arena);
        status = telling_spilled(&part, t->further, p, NULL);
        status = telling_close(&part, status);
    }
    if (t->further)
        spill_set_close(t->further);
    arena_close(t->arena);
    return status;
}

struct alone { struct aggregate_local *l; const struct call *call; };
static enum status alone_take(void *context, struct batch *batch, const row_pos *fresh, uint16_t count)
{
    struct alone *a = context;
    struct aggregate_node *n = (struct aggregate_node *)a->l->local.op;
    enum status status = run_check(a->l->local.worker);
    for (uint16_t s = 0; s < n->set_count && !status; s++)
        status = apply(a->call, a->l->tables[s].states + a->call->offset, n->exact_bytes, s, batch, fresh, count, a->l->arena);
    return status;
}

enum status distinct_finish(struct aggregate_local *l, uint16_t number)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    struct distinct_set *s = l->call_locals[number].seen;
    struct alone a = { l, &n->calls[number] };
    enum status status = STATUS_OK;
    if (!s->spilled.run)
        return STATUS_OK;
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++) {
        struct telling t = { .set = s, .run = l->local.worker->run, .limit_bytes = spill_limit(s->limit_bytes), .take = alone_take, .context = &a };
        telling_open(&t, NULL);
        status = telling_close(&t, telling_spilled(&t, &s->spilled, p, NULL));
    }
    if (n->op.counters)
        for (uint32_t p = 0; p < SPILL_PARTITIONS; p++)
            n->op.counters->spilled_bytes += s->spilled.files[p] ? spill_bytes(s->spilled.files[p]) : 0;
    spill_set_close(&s->spilled);
    return status;
}

/* ---- several workers ---- */

struct uniting {
    struct aggregate_node *node;
    const struct call *call;
    uint16_t number, set, workers;
    uint32_t partitions;
    struct group_list *list;
    uint32_t *const *maps;
    uint8_t **states;                    /* by worker: one state a group of the list */
    uint32_t stride;
};
struct uniter { struct uniting *u; uint16_t number; uint32_t part; struct arena *arena; uint32_t groups[BATCH_MAX]; struct vector *columns; struct batch mapped; };

/* The worker's own numbers of groups become the list's. Rows of other grouping sets go. */
static struct batch *unite_map(void *context, struct batch *batch)
{
    struct uniter *w = context;
    const uint32_t *map = w->u->maps[w->part];
    for (uint16_t k = 0; k < batch->row_count; k++) {
        bool mine = VECTOR(uint32_t, &batch->columns[0], k) == w->u->set;
        w->groups[k] = mine ? map[VECTOR(uint32_t, &batch->columns[1], k)] : 0;
    }
    memcpy(w->columns, batch->columns, batch->column_count * sizeof *w->columns);
    w->columns[1] = (struct vector){ .values = w->groups, .width = 4 };
    w->mapped = *batch;
    w->mapped.columns = w->columns;
    return &w->mapped;
}

static enum status unite_take(void *context, struct batch *batch, const row_pos *fresh, uint16_t count)
{
    struct uniter *w = context;
    return apply(w->u->call, w->u->states[w->number], w->u->stride, w->u->set, batch, fresh, count, w->arena);
}

/* A worker's table of rows: those of the partition. */
static enum status unite_rows(struct uniter *w, struct distinct_set *s, uint32_t partition, struct telling *t)
{
    struct vector columns[s->column_count];
    uint32_t zero = 0;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < s->rows.keys.chunk_count && !status; c++) {
        struct batch kept;
        row_pos rows[ROWS_CHUNK];
        uint64_t hashes[ROWS_CHUNK];
        uint16_t n = 0;
        rows_chunk(&s->rows.keys, c, &kept);
        columns[0] = columns[1] = (struct vector){ .values = &zero, .width = 4, .constant = true };
        memcpy(columns + s->first, kept.columns, kept.column_count * sizeof *columns);
        struct batch batch = { .columns = columns, .column_count = s->column_count, .row_count = kept.row_count };
        hash_columns(s->types + FIXED_COLUMNS, columns + FIXED_COLUMNS, (uint16_t)(s->column_count - FIXED_COLUMNS), NULL, kept.row_count, hashes);
        for (uint16_t k = 0; k < kept.row_count; k++) {
            rows[n] = k;
            n = (uint16_t)(n + (spill_partition(hashes[k], 0) % w->u->partitions == partition));
        }
        status = telling_rows(t, unite_map(w, &batch), rows, n);
    }
    return status;
}

static enum status unite_partitions(void *context, uint16_t number, struct worker *worker)
{
    struct uniting *u = context;
    struct uniter *w = arena_new(worker->arena, struct uniter);
    enum status status = STATUS_OK;
    *w = (struct uniter){ .u = u, .number = number, .arena = worker->arena };
    w->columns = arena_array(worker->arena, struct vector, u->call->item->arg_count + FIXED_COLUMNS);
    u->states[number] = arena_zero(worker->arena, (size_t)u->list->count * u->stride + 16);
    for (uint32_t p = number; p < u->partitions && !status; p += u->workers) {
        const struct distinct_set *first = u->node->parts[0]->call_locals[u->number].seen;
        struct telling t = { .set = first, .run = worker->run, .limit_bytes = spill_limit(first->limit_bytes), .take = unite_take, .context = w };
        telling_open(&t, worker->arena);
        for (w->part = 0; w->part < u->node->part_count && !status; w->part++) {
            struct distinct_set *s = u->node->parts[w->part]->call_locals[u->number].seen;
            status = unite_rows(w, s, p, &t);
            if (!status)
                status = telling_spilled(&t, &s->spilled, p, unite_map);
            if (!status)
                status = run_check(worker);
        }
        status = telling_close(&t, status);
    }
    return status;
}

struct state_taker { struct bits_taker taker; const struct call *call; void *state; struct arena *arena; };
static enum status take_into_state(struct bits_taker *taker, const struct vector *values, uint16_t count)
{
    struct state_taker *t = (struct state_taker *)taker;
    uint16_t error_at = NO_ROW;
    struct aggregate_call call = { .args = values, .arg_types = t->call->arg_types, .arg_count = 1, .count = count, .arena = t->arena, .data = t->call->item->data, .error_at = &error_at };
    return t->call->aggregate->update_one(&call, t->state);
}

/* All sets are bits: there is one group, or none. Each worker unites a range of values, with a state of its own. */
#define UNITE_WORDS 1024
struct bits_uniting { struct aggregate_node *node; uint16_t number, workers; bool counts; int64_t least; uint64_t words; uint8_t **states; };

/* How the words `from` .. from + count - 1 of the united range look: OR over the parts. */
static void united_words(const struct bits_uniting *u, uint64_t from, uint64_t count, uint64_t *words)
{
    memset(words, 0, count * sizeof *words);
    for (uint32_t p = 0; p < u->node->part_count; p++) {
        const struct distinct_set *s = u->node->parts[p]->call_locals[u->number].seen;
        uint64_t first = ((uint64_t)s->low - (uint64_t)u->least) / 64, end = first + s->range / 64;
        if (!s->range)
            continue;
        uint64_t a = from > first ? from : first, b = from + count < end ? from + count : end;
        for (uint64_t w = a; w < b; w++)
            words[w - from] |= s->bits[w - first];
    }
}

/* count() only wants to know how many. */
static enum status take_count(struct state_taker *t, const uint64_t *words, uint64_t count)
{
    const struct vector none = { .width = 8 };
    uint64_t left = 0;
    enum status status = STATUS_OK;
    for (uint64_t w = 0; w < count; w++)
        left += (uint64_t)__builtin_popcountll(words[w]);
    while (left && !status) {
        uint16_t some = left < BATCH_MAX ? (uint16_t)left : BATCH_MAX;
        status = take_into_state(&t->taker, &none, some);
        left -= some;
    }
    return status;
}

static enum status unite_range(void *context, uint16_t number, struct worker *worker)
{
    const struct bits_uniting *u = context;
    const struct call *c = &u->node->calls[u->number];
    const struct distinct_set *first = u->node->parts[0]->call_locals[u->number].seen;
    uint64_t words[UNITE_WORDS], end = u->words * (number + 1u) / u->workers;
    u->states[number] = arena_zero(worker->arena, c->aggregate->state_bytes + 16u);
    struct state_taker t = { { take_into_state }, c, u->states[number], worker->arena };
    enum status status = STATUS_OK;
    for (uint64_t from = u->words * number / u->workers; from < end && !status; from += UNITE_WORDS) {
        uint64_t count = end - from < UNITE_WORDS ? end - from : UNITE_WORDS;
        united_words(u, from, count, words);
        if (u->counts)
            status = take_count(&t, words, count);
        else
            status = bits_each(first, words, (int64_t)((uint64_t)u->least + from * 64), count * 64, &t.taker);
        if (!status)
            status = run_check(worker);
    }
    return status;
}

/* *united is false when one range for all would be too wide. */
static enum status unite_bits(struct aggregate_node *n, uint16_t number, struct group_list *list, bool *united)
{
    const struct call *c = &n->calls[number];
    struct bits_uniting u = { .node = n, .number = number, .least = INT64_MAX, .counts = strcmp(c->aggregate->function->name, "count") == 0 };
    int64_t most = INT64_MIN;
    uint64_t met = 0, ranges = 0;
    for (uint32_t p = 0; p < n->part_count; p++) {
        const struct distinct_set *s = n->parts[p]->call_locals[number].seen;
        int64_t last = s->low + (int64_t)(s->range - 1);
        if (!s->range)
            continue;
        u.least = s->low < u.least ? s->low : u.least;
        most = last > most ? last : most;
        met += s->met;
        ranges += s->range;
    }
    *united = met == 0 || ((uint64_t)most - (uint64_t)u.least) / 4 < ranges;
    if (!*united || met == 0 || list->count == 0)
        return STATUS_OK;
    u.words = ((uint64_t)most - (uint64_t)u.least) / 64 + 1;
    u.workers = (uint16_t)(n->part_count < SPILL_PARTITIONS ? n->part_count : SPILL_PARTITIONS);
    if (u.words / (UNITE_WORDS * (u.counts ? 64 : 1)) < u.workers)
        u.workers = (uint16_t)(u.words / (UNITE_WORDS * (u.counts ? 64 : 1)) + 1);
    u.states = arena_array(n->op.again, uint8_t *, u.workers);
    enum status status = workers_each(n->op.run, u.workers, unite_range, &u);
    for (uint16_t w = 0; w < u.workers && !status; w++)
        status = c->aggregate->combine(list->groups[0].states + c->offset, u.states[w], n->op.again);
    return status;
}

enum status distinct_unite(struct aggregate_node *n, uint16_t number, uint16_t set, struct group_list *list, uint32_t *const *maps)
{
    const struct call *c = &n->calls[number];
    struct uniting u = { .node = n, .call = c, .number = number, .set = set, .workers = (uint16_t)(n->part_count < SPILL_PARTITIONS ? n->part_count : SPILL_PARTITIONS),
                         .list = list, .maps = maps, .stride = (c->aggregate->state_bytes + 15) & ~15u };
    bool bits = true, spilled = false;
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < n->part_count; p++) {
        const struct distinct_set *s = n->parts[p]->call_locals[number].seen;
        bits &= s->bitmap;
        spilled |= s->spilled.run != NULL;
    }
    if (bits) {
        status = unite_bits(n, number, list, &bits);
        if (status || bits)
            return status;
    }
    for (uint32_t p = 0; p < n->part_count && !status; p++) {
        struct distinct_set *s = n->parts[p]->call_locals[number].seen;
        if (s->bitmap)
            status = become_rows(s);
        if (!status && s->spilled.run)
            status = spill_set_flush(&s->spilled);
    }
    /* SPILL_PARTITIONS is a multiple of what is taken here: a row of partition p in a file is one of p % partitions */
    u.partitions = SPILL_PARTITIONS;
    while (!spilled && u.partitions / 2 >= u.workers)
        u.partitions /= 2;
    u.states = arena_array(n->op.again, uint8_t *, u.workers);
    if (!status)
        status = workers_each(n->op.run, u.workers, unite_partitions, &u);
    for (uint16_t w = 0; w < u.workers && !status; w++)
        for (uint32_t g = 0; g < list->count && !status; g++)
            status = c->aggregate->combine(list->groups[g].states + c->offset, u.states[w] + (size_t)g * u.stride, n->op.again);
    return status;
}
