/* engine/exec/hash_join_spill.c - hash joins whose build side outgrows work_mem.
 *
 * Build rows go to one of SPILL_PARTITIONS files by the hash of their key, then the probe rows too, each with its place in the row
 * order. At the end partition after partition is joined in memory; what comes out carries the place of its probe row (or of
 * its build row, when nobody matched that), goes to a file a partition, and the files are merged by these places. All matches of a
 * probe row are in one partition, in build order. So the rows come in the very order that a join in memory gives.
 *
 * A partition whose build rows are still too many for work_mem is dealt out by the hash's next bits, build and probe rows, and so on; unless
 * they all come into one of those, having one key: then memory must do. */
#include "engine/exec/hash_join.h"

enum status join_spill_types(struct join_node *n)
{
    struct arena *arena = n->op.run->arena;
    struct sql_type place = type_make(OID_INT8, -1);
    n->spill_types = arena_array(arena, struct sql_type, n->build_columns + 2u);
    n->probe_types = arena_array(arena, struct sql_type, n->left_count + 2u);
    n->result_types = arena_array(arena, struct sql_type, n->output_count + 2u);
    memcpy(n->spill_types, n->build_types, n->build_columns * sizeof place);
    memcpy(n->probe_types, n->op.plan->left->types, n->left_count * sizeof place);
    memcpy(n->result_types, n->op.plan->types, n->output_count * sizeof place);
    n->spill_types[n->build_columns] = n->spill_types[n->build_columns + 1] = place;
    n->probe_types[n->left_count] = n->probe_types[n->left_count + 1] = place;
    n->result_types[n->output_count] = n->result_types[n->output_count + 1] = place;
    return STATUS_OK;
}

/* ---- to disk ---- */

enum status join_spill_build(struct build_local *l)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum status status = STATUS_OK;
    if (!l->spilled) {
        l->spilled = arena_new(l->arena, struct spill_set);
        spill_set_open(l->spilled, n->op.run, arena_open(l->arena, "spilled build rows"), n->spill_types, (uint16_t)(n->build_columns + 2));
    }
    uint32_t segment = 0;
    uint64_t row = 0;
    struct vector columns[n->build_columns + 2];
    for (uint32_t c = 0; c < l->rows.chunk_count && !status; c++) {
        struct batch batch;
        uint64_t grains[ROWS_CHUNK], places[ROWS_CHUNK], hashes[ROWS_CHUNK];
        rows_chunk(&l->rows, c, &batch);
        for (uint16_t i = 0; i < batch.row_count; i++, row++) {
            while (row >= l->segments[segment].first + l->segments[segment].count)
                segment++;
            grains[i] = l->segments[segment].grain;
            places[i] = l->sequence++;
        }
        memcpy(columns, batch.columns, n->build_columns * sizeof *columns);
        columns[n->build_columns] = (struct vector){ .values = grains, .width = 8 };
        columns[n->build_columns + 1] = (struct vector){ .values = places, .width = 8 };
        batch.columns = columns;
        batch.column_count = (uint16_t)(n->build_columns + 2);
        const uint64_t *words = batch.columns[n->word_column].values;
        for (uint16_t i = 0; i < batch.row_count; i++)
            hashes[i] = join_hash(n, words[i]);
        status = spill_set_add(l->spilled, &batch, NULL, batch.row_count, hashes);
    }
    arena_reset(l->rows_arena);
    rows_open(&l->rows, l->rows_arena, n->build_types, n->build_columns);
    l->segments = NULL;
    l->segment_count = l->segment_capacity = 0;
    return status;
}

enum status join_spill_probe(struct probe_local *l, const struct batch *batch, const row_pos *positions)
{
    struct join_node *n = (struct join_node *)l->local.op;
    if (!l->spilled) {
        struct arena *arena = arena_open(n->op.again, "spilled probe rows");
        l->spilled = arena_new(arena, struct spill_set);
        spill_set_open(l->spilled, n->op.run, arena, n->probe_types, (uint16_t)(n->left_count + 2));
    }
    struct vector columns[n->left_count + 2];
    uint64_t places[BATCH_MAX], grain = batch->grain;
    for (uint16_t k = 0; k < batch->selected_count; k++)
        places[positions ? positions[k] : k] = l->sequence++;
    memcpy(columns, batch->columns, n->left_count * sizeof *columns);
    columns[n->left_count] = (struct vector){ .values = &grain, .width = 8, .constant = true };
    columns[n->left_count + 1] = (struct vector){ .values = places, .width = 8 };
    struct batch some = { .columns = columns, .column_count = (uint16_t)(n->left_count + 2), .row_count = batch->row_count };
    for (uint16_t k = 0; k < batch->selected_count; k++)
        l->words[k] = join_hash(n, l->words[k]);
    return spill_set_add(l->spilled, &some, positions, batch->selected_count, l->words);
}

/* ---- results, each with its place ---- */

static enum status results_write(struct probe_local *l)
{
    struct join_node *n = (struct join_node *)l->local.op;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < l->waiting.chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(&l->waiting, c, &batch);
        status = spill_write(l->results, &batch);
    }
    arena_reset(l->waiting_arena);
    rows_open(&l->waiting, l->waiting_arena, n->result_types, (uint16_t)(n->output_count + 2));
    return status;
}

/* probe NULL: build rows that nobody matched; their places stand in the build store's last columns. left: the output's rows in the probe
 * batch; NULL: they are at the same positions. */
enum status join_spill_result(struct probe_local *l, const struct batch *probe, const struct batch *out, const row_pos *left)
{
    struct join_node *n = (struct join_node *)l->local.op;
    uint64_t grains[BATCH_MAX], places[BATCH_MAX];
    memcpy(l->tagged, out->columns, n->output_count * sizeof *l->tagged);
    for (uint16_t k = 0; k < out->selected_count; k++) {
        uint16_t i = batch_row(out, k);
        if (probe) {
            const struct vector *grain = &probe->columns[n->left_count], *place = &probe->columns[n->left_count + 1];
            uint16_t from = left ? left[i] : i;
            grains[i] = VECTOR(uint64_t, grain, from);
            places[i] = VECTOR(uint64_t, place, from);
        } else {
            uint32_t ref = l->kept_right[k];
            const struct rows *rows = &n->stores[0]->rows;       /* a partition is one store */
            grains[i] = ((const uint64_t *)rows_column(rows, ref, n->build_columns)->values)[rows_at(ref)];
            places[i] = ((const uint64_t *)rows_column(rows, ref, (uint16_t)(n->build_columns + 1))->values)[rows_at(ref)];
        }
    }
    l->tagged[n->output_count] = (struct vector){ .values = grains, .width = 8 };
    l->tagged[n->output_count + 1] = (struct vector){ .values = places, .width = 8 };
    struct batch tagged = *out;
    tagged.columns = l->tagged;
    tagged.column_count = (uint16_t)(n->output_count + 2);
    rows_append(&l->waiting, &tagged);
    return l->waiting.count >= ROWS_CHUNK ? results_write(l) : STATUS_OK;
}

/* ---- the join ---- */

struct stream { struct spill_reader reader; struct batch batch; uint16_t at; bool end; };
static uint64_t tag(const struct stream *s, uint16_t from_end) { return ((const uint64_t *)s->batch.columns[s->batch.column_count - from_end].values)[s->at]; }
static bool stream_before(const struct stream *a, const struct stream *b)
{
    uint64_t x = tag(a, 2), y = tag(b, 2);
    return x != y ? x < y : tag(a, 1) < tag(b, 1);
}
static enum status stream_step(struct stream *s)
{
    if (++s->at < s->batch.row_count)
        return STATUS_OK;
    s->at = 0;
    return spill_read(&s->reader, &s->batch, &s->end);
}
static struct stream *stream_least(struct stream *streams, uint32_t count)
{
    struct stream *least = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!streams[i].end && (!least || stream_before(&streams[i], least)))
            least = &streams[i];
    return least;
}

/* A partition on its way: build rows from all workers' files (or, dealt out further, one), probe rows from one. */
struct partition { struct spill_file **build; uint32_t build_count; struct spill_file *probe; uint8_t level; };

static uint64_t build_bytes(const struct partition *p)
{
    uint64_t bytes = 0;
    for (uint32_t f = 0; f < p->build_count; f++)
        bytes += spill_bytes(p->build[f]);
    return bytes;
}

/* Its build rows in row order, a batch at a time (rows of one file, or one row). */
static enum status build_each(const struct partition *p, struct arena *arena, struct worker *worker, enum status (*take)(void *, const struct batch *, const row_pos *, uint16_t), void *context)
{
    struct stream *streams = arena_array(arena, struct stream, p->build_count + 1);
    enum status status = STATUS_OK;
    uint32_t count = p->build_count;
    for (uint32_t f = 0; f < count && !status; f++) {
        spill_read_from_start(p->build[f], arena_open(arena, "build file"), &streams[f].reader);
        status = spill_read(&streams[f].reader, &streams[f].batch, &streams[f].end);
    }
    for (uint64_t n = 0; !status; n++) {
        struct stream *s = stream_least(streams, count);
        row_pos at = s ? s->at : 0;
        if (!s)
            break;
        if (count == 1)                  /* it is in order as it is */
            s->at = (uint16_t)(s->batch.row_count - 1);
        status = take(context, &s->batch, count == 1 ? NULL : &at, count == 1 ? s->batch.row_count : 1);
        if (!status)
            status = stream_step(s);
        if (!status && n % 1024 == 0)
            status = run_check(worker);
    }
    return status;
}

static enum status load_take(void *context, const struct batch *batch, const row_pos *rows, uint16_t count)
{
    rows_append_some(context, batch, rows, count);
    return STATUS_OK;
}

static enum status load_partition(struct join_node *n, const struct partition *p, struct worker *worker, struct arena *arena, struct build_local *store)
{
    rows_open(&store->rows, arena, n->spill_types, (uint16_t)(n->build_columns + 2));
    enum status status = build_each(p, arena, worker, load_take, &store->rows);
    store->low = INT64_MAX;
    store->high = INT64_MIN;
    store->segments = arena_new(arena, struct segment);
    store->segments[0].count = store->rows.count;
    store->segment_count = 1;
    return status;
}

/* Joined in memory, into l->results and l->unmatched_results. */
static enum status join_loaded(struct probe_local *l, const struct partition *p)
{
    struct join_node *n = (struct join_node *)l->local.op;
    struct arena *again = n->op.again, *arena = arena_open(again, "partition");
    struct build_local store = {0}, *stores[1] = { &store };
    n->op.again = arena;                 /* the table is this partition's */
    enum status status = load_partition(n, p, l->local.worker, arena, &store);
    n->stores = stores;
    n->store_count = 1;
    if (!status)
        status = join_table_make(n, 1);
    n->any_row = true;                   /* of all partitions together */
    bool marks = join_marks(n->op.plan->join);
    if (!status && marks)
        n->matched = arena_zero(arena, (size_t)n->rows.chunk_count * ROWS_CHUNK + 1);
    if (!status && p->probe) {
        struct spill_reader reader;
        spill_read_from_start(p->probe, arena_open(arena, "probe file"), &reader);
        for (bool end = false; !status && !end;) {
            struct batch batch;
            status = spill_read(&reader, &batch, &end);
            if (!status && !end)
                status = join_probe(&l->local, &batch);
            if (!status)
                status = run_check(l->local.worker);
        }
    }
    if (!status)
        status = results_write(l);
    if (!status && marks) {
        /* build rows by themselves come after all others, in build order: their grains are behind every probe row's */
        struct spill_file *matched = l->results;
        l->results = l->unmatched;
        status = join_unmatched(&l->local);
        if (!status)
            status = results_write(l);
        l->results = matched;
    }
    n->op.again = again;
    n->matched = NULL;
    n->rows = (struct join_rows){0};
    arena_close(arena);
    return status;
}

/* ---- dealt out further ---- */

struct dealing { struct join_node *n; struct spill_set *set; };

static enum status deal_build(void *context, const struct batch *batch, const row_pos *rows, uint16_t count)
{
    struct dealing *d = context;
    uint64_t hashes[BATCH_MAX];
    const uint64_t *words = batch->columns[d->n->word_column].values;
    for (uint16_t k = 0; k < count; k++)
        hashes[k] = join_hash(d->n, words[rows ? rows[k] : k]);
    return spill_set_add(d->set, batch, rows, count, hashes);
}

static enum status deal_probe(struct probe_local *l, struct spill_file *file, struct spill_set *set, struct arena *arena)
{
    struct join_node *n = (struct join_node *)l->local.op;
    struct spill_reader reader;
    enum status status = STATUS_OK;
    spill_read_from_start(file, arena_open(arena, "probe file"), &reader);
    for (bool end = false; !status;) {
        struct batch batch;
        uint16_t at;
        status = spill_read(&reader, &batch, &end);
        if (status || end)
            break;
        status = evaluation_run(l->keys, &batch, l->key_vectors, &at);
        if (status)
            break;
        join_words(n, l->key_vectors, NULL, batch.row_count, l->words);
        for (uint16_t k = 0; k < batch.row_count; k++)
            l->words[k] = join_hash(n, l->words[k]);
        status = spill_set_add(set, &batch, NULL, batch.row_count, l->words);
        if (!status)
            status = run_check(l->local.worker);
    }
    return status;
}

static enum status result_open(struct join_node *n, struct spill_file **out)
{
    return spill_open(n->op.run, n->result_types, (uint16_t)(n->output_count + 2), out);
}

static enum status merge_results(struct probe_local *, struct spill_file **files, bool unmatched, struct spill_file *out);
static enum status join_partition(struct probe_local *, const struct partition *);

/* Its rows by the hash's next bits: each of these partitions is joined by itself, and their results are merged. *one: all build rows came into one
 * of them, so that they have one key, if hashes are any good: it isn't worth going on. */
static enum status join_further(struct probe_local *l, const struct partition *p, bool *one)
{
    struct join_node *n = (struct join_node *)l->local.op;
    struct arena *arena = arena_open(n->op.again, "partitions");
    struct spill_set build, probe;
    struct spill_file *results[SPILL_PARTITIONS] = { NULL }, *unmatched[SPILL_PARTITIONS] = { NULL }, *into = l->results, *into_unmatched = l->unmatched;
    struct dealing d = { n, &build };
    bool marks = join_marks(n->op.plan->join);
    spill_set_open(&build, n->op.run, arena, n->spill_types, (uint16_t)(n->build_columns + 2));
    spill_set_open(&probe, n->op.run, arena, n->probe_types, (uint16_t)(n->left_count + 2));
    build.level = probe.level = (uint8_t)(p->level + 1);
    enum status status = build_each(p, arena, l->local.worker, deal_build, &d);
    if (!status)
        status = spill_set_flush(&build);
    uint32_t filled = 0;
    for (uint32_t k = 0; k < SPILL_PARTITIONS; k++)
        filled += build.files[k] != NULL;
    *one = filled <= 1;
    if (!status && !*one && p->probe)
        status = deal_probe(l, p->probe, &probe, arena);
    if (!status && !*one)
        status = spill_set_flush(&probe);
    for (uint32_t k = 0; k < SPILL_PARTITIONS && !status && !*one; k++) {
        const struct partition part = { &build.files[k], build.files[k] != NULL, probe.files[k], build.level };
        status = result_open(n, &results[k]);
        if (!status && marks)
            status = result_open(n, &unmatched[k]);
        l->results = results[k];
        l->unmatched = unmatched[k];
        if (!status)
            status = join_partition(l, &part);
    }
    l->results = into;
    l->unmatched = into_unmatched;
    spill_set_close(&build);
    spill_set_close(&probe);
    if (!status && !*one)
        status = merge_results(l, results, false, into);
    if (!status && !*one && marks)
        status = merge_results(l, unmatched, true, into_unmatched);
    for (uint32_t k = 0; k < SPILL_PARTITIONS; k++) {
        if (results[k])
            spill_close(results[k]);
        if (unmatched[k])
            spill_close(unmatched[k]);
    }
    arena_close(arena);
    return status;
}

static enum status join_partition(struct probe_local *l, const struct partition *p)
{
    bool one = true;
    enum status status = STATUS_OK;
    if (build_bytes(p) > spill_limit((uint64_t)l->local.worker->run->work_mem) && p->level < SPILL_LAST_LEVEL)
        status = join_further(l, p, &one);
    return status || !one ? status : join_loaded(l, p);
}

/* ---- out ---- */

static enum status merged_batch(struct probe_local *l, struct batch *batch, uint64_t grain, struct spill_file *out)
{
    if (out)
        return spill_write(out, batch);
    batch->column_count = ((struct join_node *)l->local.op)->output_count;
    batch->grain = grain;
    enum status status = local_push(&l->local, batch);
    return status ? status : run_deliver(l->local.worker->run);
}

/* Results in order: into a file, or (NULL) up. */
static enum status merge_results(struct probe_local *l, struct spill_file **files, bool unmatched, struct spill_file *out)
{
    struct join_node *n = (struct join_node *)l->local.op;
    struct arena *arena = arena_open(NULL, "merge"), *kept = arena_open(arena, "rows");
    struct stream *streams = arena_array(arena, struct stream, SPILL_PARTITIONS);
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++) {
        spill_read_from_start(files[p], arena_open(arena, "results"), &streams[p].reader);
        status = spill_read(&streams[p].reader, &streams[p].batch, &streams[p].end);
    }
    struct rows rows;
    uint64_t grain = 0;
    rows_open(&rows, kept, n->result_types, (uint16_t)(n->output_count + 2));
    while (!status) {
        struct stream *s = stream_least(streams, SPILL_PARTITIONS);
        uint64_t next = !s ? 0 : unmatched ? join_last_grain(n) : tag(s, 2);
        if (rows.count && (!s || rows.count == BATCH_ROWS || (next != grain && !out))) {
            struct batch batch;
            rows_chunk(&rows, 0, &batch);
            status = run_check(l->local.worker);
            if (!status)
                status = merged_batch(l, &batch, grain, out);
            arena_reset(kept);
            rows_open(&rows, kept, n->result_types, (uint16_t)(n->output_count + 2));
        }
        if (!s || status)
            break;
        row_pos at = s->at;
        grain = next;
        rows_append_some(&rows, &s->batch, &at, 1);
        status = stream_step(s);
    }
    arena_close(arena);
    return status;
}

enum status join_spill_finish(struct probe_local *l, bool failed)
{
    struct join_node *n = (struct join_node *)l->local.op;
    struct build_local **files = n->stores;
    uint32_t file_count = n->store_count;
    struct spill_file *results[SPILL_PARTITIONS] = { NULL }, *unmatched[SPILL_PARTITIONS] = { NULL };
    enum status status = l->spilled ? spill_set_flush(l->spilled) : STATUS_OK;
    if (!l->waiting_arena) {
        l->waiting_arena = arena_open(l->local.worker->arena, "join results");
        l->tagged = arena_array(l->local.worker->arena, struct vector, n->output_count + 2u);
    }
    rows_open(&l->waiting, l->waiting_arena, n->result_types, (uint16_t)(n->output_count + 2));
    struct spill_file *builds[file_count + 1];
    for (uint32_t p = 0; p < SPILL_PARTITIONS && !status; p++) {
        struct partition part = { builds, 0, l->spilled ? l->spilled->files[p] : NULL, 0 };
        for (uint32_t f = 0; f < file_count; f++)
            if (files[f]->spilled && files[f]->spilled->files[p])
                builds[part.build_count++] = files[f]->spilled->files[p];
        status = result_open(n, &results[p]);
        if (!status && join_marks(n->op.plan->join))
            status = result_open(n, &unmatched[p]);
        l->results = results[p];
        l->unmatched = unmatched[p];
        if (!status)
            status = join_partition(l, &part);
        if (!status && n->op.counters)
            n->op.counters->spilled_bytes += spill_bytes(results[p]);
    }
    l->results = NULL;
    n->stores = files;
    n->store_count = file_count;
    if (l->spilled) {
        spill_set_close(l->spilled);
        arena_close(l->spilled->arena);
    }
    l->spilled = NULL;
    if (!status)
        status = merge_results(l, results, false, NULL);
    if (!status && !failed && join_marks(n->op.plan->join))
        status = merge_results(l, unmatched, true, NULL);
    for (uint32_t p = 0; p < SPILL_PARTITIONS; p++) {
        if (results[p])
            spill_close(results[p]);
        if (unmatched[p])
            spill_close(unmatched[p]);
    }
    return status;
}
