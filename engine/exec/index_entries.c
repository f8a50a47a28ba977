/* engine/exec/index_entries.c - entries of an index to be: gathered, sorted, merged (see index_entries.h).
 *
 *     a short entry's word:  key, zeros behind it (80 bits) | page (32) | slot (10) | length (4) | null | live
 *
 * No key is the beginning of another of the same index and length differs only with the markers of nulls, so zeros behind a key
 * disturb no order. */
#include <stdlib.h>
#include "btree/key.h"
#include "engine/exec/index_entries.h"
#include "engine/exec/merge_heap.h"

_Static_assert(PAX_MAX_SLOTS <= 1 << 10, "a slot is 10 bits of a word");
#define ROOM_BYTES (64u << 10)
#define FAN_IN 8                         /* runs that are read at once: of each part, as many as are left for the last merge */

void index_entries_open(struct index_entries *e, struct run *run, struct worker *worker, struct arena *parent, bool short_keys, uint64_t limit)
{
    *e = (struct index_entries){ .run = run, .worker = worker, .kept = parent, .arena = arena_open(parent, "index entries"), .short_keys = short_keys, .limit = limit };
    uint64_t most = limit / (sizeof *e->words + (short_keys ? 0 : sizeof *e->entries));
    e->most = most > UINT32_MAX / 4 ? UINT32_MAX / 4 : most < 2 * PAX_MAX_SLOTS ? 2 * PAX_MAX_SLOTS : (uint32_t)most;
}

void index_entries_clear(struct index_entries *e)
{
    arena_reset(e->arena);
    e->words = NULL;
    e->entries = NULL;
    e->count = e->capacity = e->room_left = 0;
    e->bytes = 0;
}

static void reserve(struct index_entries *e, uint32_t more)
{
    if (e->count + more <= e->capacity)
        return;
    uint32_t capacity = e->capacity ? e->capacity : 1024;
    while (capacity < e->count + more)
        capacity *= 2;
    if (capacity > e->most && e->count + more <= e->most)
        capacity = e->most;              /* the last step goes no further than the limit */
    e->words = arena_grow(e->arena, e->words, e->capacity * sizeof *e->words, capacity * sizeof *e->words);
    if (!e->short_keys)
        e->entries = arena_grow(e->arena, e->entries, e->capacity * sizeof *e->entries, capacity * sizeof *e->entries);
    e->capacity = capacity;
}

static sort_word swap_bytes(sort_word w)
{
    return (sort_word)__builtin_bswap64((uint64_t)w) << 64 | __builtin_bswap64((uint64_t)(w >> 64));
}

/* At most 16 bytes, at the top. */
static sort_word first_bytes(const uint8_t *bytes, uint32_t length, uint32_t most)
{
    sort_word w = 0;
    memcpy(&w, bytes, length < most ? length : most);
    return swap_bytes(w);
}

#define KEY_SHIFT 48
#define SHORT_REST(page, slot, length, flags) ((sort_word)(page) << 16 | (sort_word)(slot) << 6 | (length) << 2 | (flags))

void index_entries_add(struct index_entries *e, const uint8_t *key, uint32_t length, unsigned flags, uint64_t row_id)
{
    reserve(e, 1);
    if (e->short_keys) {
        e->words[e->count++] = first_bytes(key, length, INDEX_SHORT_BYTES) | SHORT_REST(ROW_PAGE(row_id), ROW_SLOT(row_id), length, flags);
        e->bytes += sizeof *e->words;
        return;
    }
    if (length > e->room_left) {
        e->room_left = length > ROOM_BYTES ? length : ROOM_BYTES;
        e->room = arena_alloc(e->arena, e->room_left);
    }
    memcpy(e->room, key, length);
    e->words[e->count] = first_bytes(key, length, SORT_KEY_BYTES) | e->count;
    e->entries[e->count++] = (struct index_entry){ .key = e->room, .length = length, .flags = flags, .row_id = row_id };
    e->room += length;
    e->room_left -= length;
    e->bytes += sizeof *e->words + sizeof *e->entries + length;
}

void index_entries_add_words(struct index_entries *e, const sort_word *words, uint32_t length, unsigned flags, uint32_t page, const uint16_t *slots, uint32_t count)
{
    reserve(e, count);
    sort_word *to = e->words + e->count;
    for (uint32_t k = 0; k < count; k++)
        to[k] = words[k] >> KEY_SHIFT << KEY_SHIFT | SHORT_REST(page, slots[k], length, flags);
    e->count += count;
    e->bytes += count * sizeof *e->words;
}

static struct index_entry short_entry(sort_word word, uint8_t key[16])
{
    sort_word bytes = swap_bytes(word);
    memcpy(key, &bytes, 16);
    return (struct index_entry){ .key = key, .length = (uint32_t)(word >> 2) & 15, .flags = (uint32_t)word & 3, .row_id = ROW_ID((uint32_t)(word >> 16), (uint16_t)(word >> 6) & 1023) };
}

/* ---- order ---- */

static int compare(const struct index_entry *a, const struct index_entry *b)
{
    int order = key_compare(a->key, a->length, b->key, b->length);
    return order ? order : (a->row_id > b->row_id) - (a->row_id < b->row_id);
}

#define ASKS_FROM 1024                   /* entries */

static enum status sort_by_entries(const struct index_entries *e, sort_word *words, sort_word *space, uint32_t count, const struct sort_check *check)
{
    if (count <= 8) {
        for (uint32_t i = 1; i < count; i++) {
            sort_word word = words[i];
            uint32_t k = i;
            for (; k > 0 && compare(&e->entries[SORT_ROW(words[k - 1])], &e->entries[SORT_ROW(word)]) > 0; k--)
                words[k] = words[k - 1];
            words[k] = word;
        }
        return STATUS_OK;
    }
    uint32_t half = count / 2;
    enum status status = count >= ASKS_FROM ? sort_ask(check) : STATUS_OK;
    if (!status)
        status = sort_by_entries(e, words, space, half, check);
    if (!status)
        status = sort_by_entries(e, words + half, space, count - half, check);
    if (status)
        return status;
    memcpy(space, words, half * sizeof *words);
    for (uint32_t i = 0, j = half, k = 0; i < half; k++) {
        if (j < count && compare(&e->entries[SORT_ROW(words[j])], &e->entries[SORT_ROW(space[i])]) < 0)
            words[k] = words[j++];
        else
            words[k] = space[i++];
    }
    return STATUS_OK;
}

#define ROUNDS 8                         /* beyond so many pieces of 12 bytes keys are compared */
#define FEW_EQUAL 8

/* Runs of words whose pieces of the key are equal: by the next piece, or the entries. */
static enum status sort_equals(const struct index_entries *e, sort_word *words, sort_word *space, uint32_t count, unsigned round, const struct sort_check *check)
{
    enum status status = STATUS_OK;
    for (uint32_t from = 0, to, looked = 0; from < count && !status; from = to) {
        uint32_t at = SORT_KEY_BYTES * (round + 1);
        bool longer = false;
        for (to = from; to < count && SORT_KEY(words[to]) == SORT_KEY(words[from]); to++)
            longer |= e->entries[SORT_ROW(words[to])].length > at;
        if (to - looked >= ASKS_FROM) {
            looked = to;
            status = sort_ask(check);
        }
        if (to - from == 1)
            continue;
        if (!longer || to - from <= FEW_EQUAL || round == ROUNDS) {
            if (!status)
                status = sort_by_entries(e, words + from, space, to - from, check);
            continue;
        }
        sort_word piece = words[from] >> 32 << 32;
        for (uint32_t k = from; k < to; k++) {
            const struct index_entry *entry = &e->entries[SORT_ROW(words[k])];
            words[k] = (entry->length > at ? first_bytes(entry->key + at, entry->length - at, SORT_KEY_BYTES) : 0) | SORT_ROW(words[k]);
        }
        if (!status)
            status = sort_words(words + from, to - from, check);
        if (!status)
            status = sort_equals(e, words + from, space, to - from, round + 1, check);
        for (uint32_t k = from; k < to; k++)
            words[k] = piece | SORT_ROW(words[k]);
    }
    return status;
}

static enum status ask_worker(void *worker) { return run_check(worker); }

enum status index_entries_sort(struct index_entries *e)
{
    const struct sort_check check = { ask_worker, e->worker };
    enum status status = sort_words(e->words, e->count, e->worker ? &check : NULL);
    if (status || e->short_keys || e->count < 2)
        return status;
    sort_word *space = malloc((e->count / 2 + 1u) * sizeof *space);
    if (!space)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    status = sort_equals(e, e->words, space, e->count, 0, e->worker ? &check : NULL);
    free(space);
    return status;
}

/* ---- runs ---- of short keys the words in two halves; else key, row id, flags ---- */

static const struct sql_type *run_types(struct index_entries *e, uint16_t *count)
{
    struct sql_type *types = arena_array(e->kept, struct sql_type, 3);
    *count = e->short_keys ? 2 : 3;
    types[0] = type_make(e->short_keys ? OID_INT8 : OID_BYTEA, -1);
    types[1] = types[2] = type_make(OID_INT8, -1);
    return types;
}

struct run_writer { struct index_entries *e; struct spill_file *file; uint64_t from; struct arena *arena, *keys; struct vector v[3]; uint16_t columns, filled; };

static enum status writer_open(struct index_entries *e, struct spill_file *file, struct run_writer *w)
{
    const struct sql_type *types = run_types(e, &w->columns);
    enum status status = file ? STATUS_OK : spill_open(e->run, types, w->columns, &file);
    if (status)
        return status;
    w->e = e;
    w->file = file;
    w->from = spill_bytes(file);
    w->filled = 0;
    w->arena = arena_open(NULL, "run");
    w->keys = arena_open(w->arena, "keys");
    for (int c = 0; c < w->columns; c++) {
        vector_make(&w->v[c], w->arena, types[c].width, BATCH_ROWS);
        w->v[c].nulls = NULL;
    }
    return STATUS_OK;
}

static enum status writer_flush(struct run_writer *w)
{
    struct batch batch = { .columns = w->v, .column_count = w->columns, .row_count = w->filled, .selected_count = w->filled, .all_selected = true };
    enum status status = w->filled ? spill_write(w->file, &batch) : STATUS_OK;
    w->filled = 0;
    arena_reset(w->keys);
    return status ? status : run_check(w->e->worker);
}

/* The entry: its word where keys are short. `passing`: its key is there for now only. */
static enum status writer_put(struct run_writer *w, sort_word word, const struct index_entry *entry, bool passing)
{
    uint16_t k = w->filled++;
    if (w->e->short_keys) {
        ((uint64_t *)w->v[0].values)[k] = (uint64_t)(word >> 64);
        ((uint64_t *)w->v[1].values)[k] = (uint64_t)word;
    } else {
        const uint8_t *key = passing ? arena_copy(w->keys, entry->key, entry->length) : entry->key;
        ((struct varlen *)w->v[0].values)[k] = (struct varlen){ .bytes = key, .length = entry->length };
        ((uint64_t *)w->v[1].values)[k] = entry->row_id;
        ((uint64_t *)w->v[2].values)[k] = entry->flags;
    }
    return w->filled == BATCH_ROWS ? writer_flush(w) : STATUS_OK;
}

static enum status writer_close(struct run_writer *w, enum status status, struct index_run *out)
{
    if (!status)
        status = writer_flush(w);
    *out = (struct index_run){ w->from, spill_bytes(w->file) };
    arena_close(w->arena);
    return status;
}

enum status index_entries_spill(struct index_entries *e)
{
    struct run_writer w;
    struct index_run run;
    enum status status = index_entries_sort(e);
    if (!status)
        status = writer_open(e, e->file, &w);
    if (status)
        return status;
    e->file = w.file;
    for (uint32_t at = 0; at < e->count && !status; at++)
        status = writer_put(&w, e->words[at], e->short_keys ? NULL : &e->entries[SORT_ROW(e->words[at])], false);
    status = writer_close(&w, status, &run);
    e->runs = arena_grow(e->kept, e->runs, e->run_count * sizeof *e->runs, (e->run_count + 1) * sizeof *e->runs);
    e->runs[e->run_count++] = run;
    index_entries_clear(e);
    return status;
}

/* ---- merging ---- */

struct stream {
    const struct index_entries *part;
    uint32_t next;                       /* in memory … */
    struct spill_reader reader; struct batch batch; bool on_disk;        /* … or a run */
    sort_word word;                      /* of the head: all of it, or the first bytes of the key */
    struct index_entry entry;
};
struct index_merge { void **heap; uint32_t count; bool short_keys, begun; uint8_t key[16]; };

static enum status stream_next(struct stream *s, bool *end)
{
    const struct index_entries *part = s->part;
    if (s->on_disk && s->next >= s->batch.row_count) {
        enum status status = spill_read(&s->reader, &s->batch, end);
        if (status || *end)
            return status;
        s->next = 0;
    }
    *end = !s->on_disk && s->next >= part->count;
    if (*end)
        return STATUS_OK;
    uint32_t at = s->next++;
    const struct vector *v = s->batch.columns;
    if (part->short_keys) {
        s->word = s->on_disk ? (sort_word)((const uint64_t *)v[0].values)[at] << 64 | ((const uint64_t *)v[1].values)[at] : part->words[at];
        return STATUS_OK;
    }
    if (s->on_disk) {
        struct varlen key = ((const struct varlen *)v[0].values)[at];
        s->entry = (struct index_entry){ .key = key.bytes, .length = key.length, .row_id = ((const uint64_t *)v[1].values)[at], .flags = (uint32_t)((const uint64_t *)v[2].values)[at] };
    } else {
        /* both lie where they came to lie: fetched ahead */
        if (at + 16 < part->count)
            __builtin_prefetch(&part->entries[SORT_ROW(part->words[at + 16])]);
        if (at + 8 < part->count)
            __builtin_prefetch(part->entries[SORT_ROW(part->words[at + 8])].key);
        s->entry = part->entries[SORT_ROW(part->words[at])];
    }
    s->word = first_bytes(s->entry.key, s->entry.length, 16);
    return STATUS_OK;
}

static bool stream_before(const void *merge, const void *left, const void *right)
{
    const struct index_merge *m = merge;
    const struct stream *a = left, *b = right;
    if (a->word != b->word || m->short_keys)
        return a->word < b->word;
    return compare(&a->entry, &b->entry) < 0;
}

static struct index_merge *merge_new(struct arena *arena, bool short_keys, uint32_t most)
{
    struct index_merge *m = arena_new(arena, struct index_merge);
    m->heap = arena_array(arena, void *, most + 1);
    m->short_keys = short_keys;
    return m;
}

/* A run of the part; NULL: what it has in memory. */
static enum status merge_add(struct index_merge *m, struct arena *arena, const struct index_entries *part, const struct index_run *run)
{
    struct stream *s = arena_new(arena, struct stream);
    bool end;
    s->part = part;
    s->on_disk = run != NULL;
    if (run)
        spill_read_range(part->file, run->from, run->to, arena_open(arena, "run"), &s->reader);
    enum status status = stream_next(s, &end);
    if (!status && !end)
        m->heap[m->count++] = s;
    return status;
}

/* The first stream's head was taken: its next one stands in the heap. */
static enum status merge_step(struct index_merge *m)
{
    bool over;
    enum status status = stream_next(m->heap[0], &over);
    if (status)
        return status;
    if (over)
        m->heap[0] = m->heap[--m->count];
    if (m->count > 1)
        merge_heap_sift(m->heap, m->count, 0, stream_before, m);
    return STATUS_OK;
}

/* FAN_IN neighbours become one. */
static enum status merge_runs(struct index_entries *e, uint32_t from, uint32_t to, struct spill_file *file, struct index_run *out)
{
    struct arena *arena = arena_open(e->kept, "fewer runs");
    struct index_merge *m = merge_new(arena, e->short_keys, to - from);
    struct run_writer w;
    enum status status = writer_open(e, file, &w);
    for (uint32_t r = from; r < to && !status; r++)
        status = merge_add(m, arena, e, &e->runs[r]);
    merge_heap_make(m->heap, m->count, stream_before, m);
    while (m->count && !status) {
        const struct stream *s = m->heap[0];
        status = writer_put(&w, s->word, &s->entry, true);
        if (!status)
            status = merge_step(m);
    }
    status = writer_close(&w, status, out);
    arena_close(arena);
    return status;
}

enum status index_entries_finish(struct index_entries *e)
{
    enum status status = index_entries_sort(e);
    while (e->run_count > FAN_IN && !status) {
        struct spill_file *file;
        uint16_t columns;
        uint32_t made = 0;
        const struct sql_type *types = run_types(e, &columns);
        status = spill_open(e->run, types, columns, &file);
        for (uint32_t from = 0; from < e->run_count && !status; from += FAN_IN) {
            uint32_t to = e->run_count - from < FAN_IN ? e->run_count : from + FAN_IN;
            status = merge_runs(e, from, to, file, &e->runs[made++]);
        }
        if (status)
            return status;
        spill_close(e->file);
        e->file = file;
        e->run_count = made;
    }
    return status;
}

enum status index_merge_open(struct arena *arena, const struct index_entries *const *parts, uint16_t count, struct index_merge **out)
{
    uint32_t total = 0;
    for (uint16_t p = 0; p < count; p++)
        total += parts[p]->run_count + 1;
    struct index_merge *m = *out = merge_new(arena, parts[0]->short_keys, total);
    enum status status = STATUS_OK;
    for (uint16_t p = 0; p < count && !status; p++) {
        for (uint32_t r = 0; r < parts[p]->run_count && !status; r++)
            status = merge_add(m, arena, parts[p], &parts[p]->runs[r]);
        if (!status)
            status = merge_add(m, arena, parts[p], NULL);
    }
    merge_heap_make(m->heap, m->count, stream_before, m);
    return status;
}

enum status index_merge_next(struct index_merge *m, struct index_entry *out, bool *end)
{
    if (m->begun) {                      /* the head was handed out */
        enum status status = merge_step(m);
        if (status)
            return status;
    }
    *end = m->count == 0;
    m->begun = !*end;
    if (!*end)
        *out = m->short_keys ? short_entry(((struct stream *)m->heap[0])->word, m->key) : ((struct stream *)m->heap[0])->entry;
    return STATUS_OK;
}
