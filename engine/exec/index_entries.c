/* engine/exec/index_entries.c - entries of an index to be: gathered, sorted, merged (see index_entries.h).
 *
 *     a short entry's word:  key, zeros behind it (80 bits) | page (32) | slot (10) | length (4) | null | live
 *
 * No key is the beginning of another of the same index and length differs only with the markers of nulls, so zeros behind a key
 * disturb no order. */
#include <stdlib.h>
#include "btree/key.h"
#include "engine/exec/index_entries.h"

_Static_assert(PAX_MAX_SLOTS <= 1 << 10, "a slot is 10 bits of a word");
#define ROOM_BYTES (64u << 10)

void index_entries_open(struct index_entries *e, struct run *run, struct worker *worker, struct arena *parent, bool short_keys, uint64_t limit)
{
    *e = (struct index_entries){ .run = run, .worker = worker, .kept = parent, .arena = arena_open(parent, "index entries"), .short_keys = short_keys, .limit = limit };
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

static void sort_by_entries(const struct index_entries *e, sort_word *words, sort_word *space, uint32_t count)
{
    if (count <= 8) {
        for (uint32_t i = 1; i < count; i++) {
            sort_word word = words[i];
            uint32_t k = i;
            for (; k > 0 && compare(&e->entries[SORT_ROW(words[k - 1])], &e->entries[SORT_ROW(word)]) > 0; k--)
                words[k] = words[k - 1];
            words[k] = word;
        }
        return;
    }
    uint32_t half = count / 2;
    sort_by_entries(e, words, space, half);
    sort_by_entries(e, words + half, space, count - half);
    memcpy(space, words, half * sizeof *words);
    for (uint32_t i = 0, j = half, k = 0; i < half; k++) {
        if (j < count && compare(&e->entries[SORT_ROW(words[j])], &e->entries[SORT_ROW(space[i])]) < 0)
            words[k] = words[j++];
        else
            words[k] = space[i++];
    }
}

#define ROUNDS 8                         /* beyond so many pieces of 12 bytes keys are compared */
#define FEW_EQUAL 8

/* Runs of words whose pieces of the key are equal: by the next piece, or the entries. */
static void sort_equals(const struct index_entries *e, sort_word *words, sort_word *space, uint32_t count, unsigned round)
{
    for (uint32_t from = 0, to; from < count; from = to) {
        uint32_t at = SORT_KEY_BYTES * (round + 1);
        bool longer = false;
        for (to = from; to < count && SORT_KEY(words[to]) == SORT_KEY(words[from]); to++)
            longer |= e->entries[SORT_ROW(words[to])].length > at;
        if (to - from == 1)
            continue;
        if (!longer || to - from <= FEW_EQUAL || round == ROUNDS) {
            sort_by_entries(e, words + from, space, to - from);
            continue;
        }
        sort_word piece = words[from] >> 32 << 32;
        for (uint32_t k = from; k < to; k++) {
            const struct index_entry *entry = &e->entries[SORT_ROW(words[k])];
            words[k] = (entry->length > at ? first_bytes(entry->key + at, entry->length - at, SORT_KEY_BYTES) : 0) | SORT_ROW(words[k]);
        }
        sort_words(words + from, to - from);
        sort_equals(e, words + from, space, to - from, round + 1);
        for (uint32_t k = from; k < to; k++)
            words[k] = piece | SORT_ROW(words[k]);
    }
}

void index_entries_sort(struct index_entries *e)
{
    sort_words(e->words, e->count);
    if (e->short_keys || e->count < 2)
        return;
    sort_word *space = malloc((e->count / 2 + 1u) * sizeof *space);
    if (!space)
        panic("out of memory");
    sort_equals(e, e->words, space, e->count, 0);
    free(space);
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

enum status index_entries_spill(struct index_entries *e)
{
    uint16_t columns;
    enum status status = STATUS_OK;
    const struct sql_type *types = run_types(e, &columns);
    if (!e->file)
        status = spill_open(e->run, types, columns, &e->file);
    if (status)
        return status;
    index_entries_sort(e);
    struct vector v[3];
    struct arena *arena = arena_open(NULL, "run");
    for (int c = 0; c < columns; c++) {
        vector_make(&v[c], arena, types[c].width, BATCH_ROWS);
        v[c].nulls = NULL;
    }
    uint64_t from = spill_bytes(e->file);
    for (uint32_t at = 0; at < e->count && !status; at += BATCH_ROWS) {
        uint16_t n = (uint16_t)(e->count - at < BATCH_ROWS ? e->count - at : BATCH_ROWS);
        for (uint16_t k = 0; k < n; k++) {
            sort_word word = e->words[at + k];
            if (e->short_keys) {
                ((uint64_t *)v[0].values)[k] = (uint64_t)(word >> 64);
                ((uint64_t *)v[1].values)[k] = (uint64_t)word;
            } else {
                const struct index_entry *entry = &e->entries[SORT_ROW(word)];
                ((struct varlen *)v[0].values)[k] = (struct varlen){ .bytes = entry->key, .length = entry->length };
                ((uint64_t *)v[1].values)[k] = entry->row_id;
                ((uint64_t *)v[2].values)[k] = entry->flags;
            }
        }
        struct batch batch = { .columns = v, .column_count = columns, .row_count = n, .selected_count = n, .all_selected = true };
        status = spill_write(e->file, &batch);
        if (!status)
            status = run_check(e->worker);
    }
    arena_close(arena);
    e->runs = arena_grow(e->kept, e->runs, e->run_count * sizeof *e->runs, (e->run_count + 1) * sizeof *e->runs);
    e->runs[e->run_count++] = (struct index_run){ from, spill_bytes(e->file) };
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
struct index_merge { struct stream **heap; uint32_t count; bool short_keys, begun; uint8_t key[16]; };

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

static bool stream_before(const struct index_merge *m, const struct stream *a, const struct stream *b)
{
    if (a->word != b->word || m->short_keys)
        return a->word < b->word;
    return compare(&a->entry, &b->entry) < 0;
}

static void sift(struct index_merge *m, uint32_t at)
{
    struct stream **heap = m->heap;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= m->count)
            return;
        if (child + 1 < m->count && stream_before(m, heap[child + 1], heap[child]))
            child++;
        if (!stream_before(m, heap[child], heap[at]))
            return;
        struct stream *swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

enum status index_merge_open(struct arena *arena, const struct index_entries *const *parts, uint16_t count, struct index_merge **out)
{
    struct index_merge *m = *out = arena_new(arena, struct index_merge);
    uint32_t total = 0;
    for (uint16_t p = 0; p < count; p++)
        total += parts[p]->run_count + 1;
    m->heap = arena_array(arena, struct stream *, total + 1);
    m->short_keys = parts[0]->short_keys;
    struct stream *streams = arena_array(arena, struct stream, total);
    for (uint16_t p = 0; p < count; p++)
        for (uint32_t r = 0; r <= parts[p]->run_count; r++) {
            struct stream *s = streams++;
            bool end;
            s->part = parts[p];
            s->on_disk = r < parts[p]->run_count;
            if (s->on_disk)
                spill_read_range(parts[p]->file, parts[p]->runs[r].from, parts[p]->runs[r].to, arena_open(arena, "run"), &s->reader);
            enum status status = stream_next(s, &end);
            if (status)
                return status;
            if (!end)
                m->heap[m->count++] = s;
        }
    for (uint32_t i = m->count / 2; i-- > 0;)
        sift(m, i);
    return STATUS_OK;
}

enum status index_merge_next(struct index_merge *m, struct index_entry *out, bool *end)
{
    if (m->begun) {                      /* the head was handed out */
        bool over;
        enum status status = stream_next(m->heap[0], &over);
        if (status)
            return status;
        if (over)
            m->heap[0] = m->heap[--m->count];
        if (m->count > 1)
            sift(m, 0);
    }
    *end = m->count == 0;
    m->begun = !*end;
    if (!*end)
        *out = m->short_keys ? short_entry(m->heap[0]->word, m->key) : m->heap[0]->entry;
    return STATUS_OK;
}
