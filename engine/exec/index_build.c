/* engine/exec/index_build.c - makes an index's entries from the rows that are there (CREATE INDEX, REINDEX).
 *
 * The table is locked against writers. Every version that somebody may still see gets an entry: live ones, and those that ended
 * after the oldest snapshot. An entry points at the root of its chain. An older version whose chain goes on under another key
 * gets none (the unique check would take the chain's live version for it); the index is then *young*: a snapshot from before it
 * can't be answered by it, and fails with 40001 (index_too_young, asked by index scans).
 *
 * Entries are sorted in memory, or in runs on disk past maintenance_work_mem, and go into the tree from the bottom up. */
#include <stdlib.h>
#include "engine/exec/write.h"
#include "base/atomic.h"

struct entry { uint64_t prefix; const uint8_t *key; uint32_t length; bool live, null; uint64_t row_id; };
struct build {
    struct run run;
    struct arena *arena, *entry_arena;
    const struct table *table;
    const struct index *index;
    struct evaluation *exprs, *predicate;
    uint16_t expr_count;
    struct sql_type *types;
    struct entry *entries; uint64_t count, capacity, bytes, limit;
    struct spill_file **runs; uint32_t run_count;
    bool young;
    struct text_buffer key;
    uint16_t *columns, column_count;     /* of the table, that are needed */
};

/* ---- young indexes ---- */

static struct latch young_latch = { .rank = RANK_LEAF };
static struct young { uint32_t oid; xid_t maker; lsn_t limit; } young[256];
static _Atomic uint32_t young_count;

static void young_add(uint32_t oid, xid_t maker, lsn_t limit)
{
    latch_acquire(&young_latch, LATCH_EXCLUSIVE);
    uint32_t count = atom_load(&young_count), at = count < 256 ? count : (uint32_t)(limit % 256);
    young[at] = (struct young){ .oid = oid, .maker = maker, .limit = limit };
    if (count < 256)
        atom_store(&young_count, count + 1);
    latch_release(&young_latch);
}

bool index_too_young(const struct index *index, const struct snapshot *snapshot)
{
    bool found = false;
    xid_t maker = XID_NONE;
    if (atomic_load_explicit(&young_count, memory_order_relaxed) == 0)
        return false;
    latch_acquire(&young_latch, LATCH_SHARED);
    for (uint32_t i = 0; i < atom_load(&young_count); i++)
        if (young[i].oid == index->oid) {
            found |= snapshot->limit < young[i].limit;
            maker = young[i].maker;
        }
    latch_release(&young_latch);
    if (found || maker == XID_NONE || (snapshot->txn && txn_is_mine(snapshot->txn, maker)))
        return found;
    /* rows that the maker itself had changed before are in no entry, and seen by whoever doesn't see the maker's changes */
    enum txn_state state;
    lsn_t number;
    if (txn_outcome(index->tree.store, maker, &state, &number))
        return true;
    return state != TXN_COMMITTED || number > snapshot->limit;
}

/* ---- entries ---- */

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    uint32_t n = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->key, y->key, n);
    if (order || x->length != y->length)
        return order ? order : x->length < y->length ? -1 : 1;
    return x->row_id < y->row_id ? -1 : x->row_id > y->row_id;
}

static uint64_t prefix_of(const uint8_t *bytes, size_t length)
{
    uint64_t prefix = 0;
    memcpy(&prefix, bytes, length < 8 ? length : 8);
    return __builtin_bswap64(prefix);
}

static enum status write_run(struct build *b)
{
    static _Thread_local struct sql_type types[4];
    types[0] = type_make(OID_BYTEA, -1);
    types[1] = type_make(OID_INT8, -1);
    types[2] = types[3] = type_make(OID_BOOL, -1);
    struct sql_type *kept = arena_copy(b->arena, types, sizeof types);
    struct spill_file *file;
    qsort(b->entries, b->count, sizeof *b->entries, compare_entries);
    enum status status = spill_open(&b->run, kept, 4, &file);
    if (status)
        return status;
    b->runs = arena_grow(b->arena, b->runs, b->run_count * sizeof *b->runs, (b->run_count + 1) * sizeof *b->runs);
    b->runs[b->run_count++] = file;
    struct vector v[4];
    struct arena *arena = arena_open(NULL, "run");
    for (int c = 0; c < 4; c++) {
        vector_make(&v[c], arena, types[c].width, BATCH_ROWS);
        v[c].nulls = NULL;
    }
    for (uint64_t from = 0; from < b->count && !status; from += BATCH_ROWS) {
        uint16_t n = (uint16_t)(b->count - from < BATCH_ROWS ? b->count - from : BATCH_ROWS);
        for (uint16_t k = 0; k < n; k++) {
            const struct entry *e = &b->entries[from + k];
            ((struct varlen *)v[0].values)[k] = (struct varlen){ .bytes = e->key, .length = e->length };
            ((uint64_t *)v[1].values)[k] = e->row_id;
            ((uint8_t *)v[2].values)[k] = e->live;
            ((uint8_t *)v[3].values)[k] = e->null;
        }
        struct batch batch = { .columns = v, .column_count = 4, .row_count = n, .selected_count = n, .all_selected = true };
        status = spill_write(file, &batch);
    }
    arena_close(arena);
    arena_reset(b->entry_arena);
    b->entries = NULL;
    b->count = b->capacity = b->bytes = 0;
    return status;
}

static void entry_add(struct build *b, const struct text_buffer *key, bool null, bool live, uint64_t row_id)
{
    if (b->count == b->capacity) {
        uint64_t capacity = b->capacity ? b->capacity * 2 : 1024;
        b->entries = arena_grow(b->entry_arena, b->entries, b->capacity * sizeof *b->entries, capacity * sizeof *b->entries);
        b->capacity = capacity;
    }
    b->entries[b->count++] = (struct entry){ .prefix = prefix_of((const uint8_t *)key->bytes, key->length), .key = arena_copy(b->entry_arena, key->bytes, key->length),
                                             .length = (uint32_t)key->length, .live = live, .null = null, .row_id = row_id };
    b->bytes += 16 + key->length + sizeof(struct entry);
}

/* ---- reading the heap ---- */

struct page_work {
    struct heap_look look;
    uint16_t roots[PAX_MAX_SLOTS];
    row_pos positions[PAX_MAX_SLOTS];
    bool live[PAX_MAX_SLOTS];
    struct text_buffer entry_key[PAX_MAX_SLOTS];          /* by root: the key its entry has, to tell other keys in the chain */
    bool has_entry[PAX_MAX_SLOTS];
    struct vector *columns, *expr_vectors;
    struct varlen **space;
    struct arena *arena;
};

/* A version that the latest snapshot doesn't see: may an older one? */
static enum status maybe_seen(struct build *b, uint64_t row_id, lsn_t horizon, bool *seen)
{
    struct heap_version v;
    enum txn_state state;
    lsn_t number;
    bool found;
    *seen = false;
    enum status status = heap_version(&b->table->heap, row_id, &v, &found);
    if (status || !found)
        return status;
    if (v.xmin >= XID_FIRST && !txn_is_mine(b->run.txn, v.xmin)) {
        status = txn_outcome(b->run.store, v.xmin, &state, &number);
        if (status || state != TXN_COMMITTED)
            return status;
    }
    if (v.xmax == XID_NONE || txn_is_mine(b->run.txn, v.xmax)) {
        *seen = v.xmax != XID_NONE;      /* ended by us, so far: others see it until we commit */
        return STATUS_OK;
    }
    status = txn_outcome(b->run.store, v.xmax, &state, &number);
    *seen = !status && (state != TXN_COMMITTED || number > horizon);
    return status;
}

static enum status make_key(struct build *b, struct page_work *w, uint16_t i, bool *null)
{
    uint16_t expr = 0;
    b->key.length = 0;
    *null = false;
    for (uint16_t k = 0; k < b->index->column_count; k++) {
        const struct index_column *column = &b->index->columns[k];
        const struct vector *v = column->column ? &w->columns[column->column - 1] : &w->expr_vectors[expr++];
        if (vector_null(v, i)) {
            *null = true;
            key_append_null(column->flags, &b->key);
        } else {
            key_append(column->type, column->flags, v, vector_at(v, i), &b->key);
        }
    }
    return STATUS_OK;
}

static enum status read_page(struct build *b, struct page_work *w, const struct snapshot *latest, lsn_t horizon, struct page_ref *ref)
{
    const struct heap *heap = &b->table->heap;
    uint16_t at;
    enum status status = heap_page_look(heap, latest, ref, &w->look);
    if (status || w->look.slot_count == 0)
        return status;
    uint16_t slots = w->look.slot_count, count = 0;
    memset(w->live, 0, slots);
    if (w->look.all_visible) {
        memset(w->live, 1, slots);
        for (uint16_t s = 0; s < slots; s++)
            w->positions[count++] = s;
    } else {
        for (uint16_t k = 0; k < w->look.visible_count; k++)
            w->live[w->look.selection[k]] = true;
    }
    status = heap_page_roots(heap, ref, slots, w->roots);
    for (uint16_t s = 0; s < slots && !status && !w->look.all_visible; s++) {
        bool seen = w->live[s];
        if (!seen && w->roots[s] != HEAP_NO_ROOT)
            status = maybe_seen(b, ROW_ID(ref->id.page, s), horizon, &seen);
        if (seen)
            w->positions[count++] = s;
    }
    if (status || count == 0)
        return status;
    struct batch rows = { .columns = w->columns, .column_count = b->table->column_count, .row_count = slots, .selected_count = count, .selection = w->positions };
    for (uint16_t c = 0; c < b->column_count && !status; c++)
        status = heap_page_column(heap, ref, &w->look, b->columns[c], w->positions, count, w->space[b->columns[c]], w->arena, &w->columns[b->columns[c]]);
    const row_pos *left = w->positions;
    if (!status && b->predicate) {
        status = evaluation_filter(b->predicate, &rows, &left, &count, &at);
        rows.selection = (row_pos *)left;
        rows.selected_count = count;
    }
    if (!status && b->expr_count)
        status = evaluation_run(b->exprs, &rows, w->expr_vectors, &at);
    memset(w->has_entry, 0, slots);
    for (int pass = 0; pass < 2 && !status; pass++)      /* live ones first */
        for (uint16_t k = 0; k < count && !status; k++) {
            uint16_t s = left ? left[k] : k, root = w->roots[s];
            bool null;
            if (w->live[s] != (pass == 0))
                continue;
            if (root == HEAP_NO_ROOT)
                root = s;
            status = make_key(b, w, s, &null);
            if (status)
                break;
            if (!w->has_entry[root]) {        /* the live version, or, where the chain has none, the first that ended: one entry a chain */
                w->has_entry[root] = true;
                text_buffer_open(&w->entry_key[root], w->arena);
                text_buffer_add(&w->entry_key[root], b->key.bytes, b->key.length);
            } else {
                const struct text_buffer *entry = &w->entry_key[root];
                if (entry->length != b->key.length || memcmp(entry->bytes, b->key.bytes, entry->length) != 0)
                    b->young = true;
                continue;                /* the chain's entry is there, or must not be */
            }
            entry_add(b, &b->key, null, w->live[s], ROW_ID(ref->id.page, root));
        }
    return status;
}

static enum status read_heap(struct build *b, const struct snapshot *latest)
{
    const struct heap *heap = &b->table->heap;
    lsn_t horizon = txn_horizon(b->run.store);
    uint32_t pages;
    enum status status = heap_pages(heap, &pages);
    struct page_work *w = arena_new(b->arena, struct page_work);
    w->arena = arena_open(b->arena, "page");
    w->columns = arena_array(b->arena, struct vector, b->table->column_count + 1u);
    w->space = arena_array(b->arena, struct varlen *, b->table->column_count + 1u);
    w->expr_vectors = arena_array(b->arena, struct vector, b->expr_count + 1u);
    for (uint16_t c = 0; c < b->column_count; c++)
        if (b->types[b->columns[c]].width == WIDTH_VARLEN)
            w->space[b->columns[c]] = arena_alloc(b->arena, PAX_MAX_SLOTS * sizeof(struct varlen));
    struct pool_ring *ring = !status && pages > pool_frame_count(b->run.store->pool) / 4 ? pool_ring_open(b->run.store->pool, heap->file, 0, pages, true) : NULL;
    for (uint32_t page = 0; page < pages && !status; page++) {
        struct page_ref ref;
        status = session_check_interrupts();
        if (!status)
            status = ring ? pool_ring_pin(ring, page, &ref) : pool_pin(b->run.store->pool, (page_id){ heap->file, page }, RANK_HEAP, 0, &ref);
        if (status)
            break;
        status = read_page(b, w, latest, horizon, &ref);
        pool_release(&ref);
        arena_reset(w->arena);
        if (!status && b->bytes > b->limit)
            status = write_run(b);
    }
    if (ring)
        pool_ring_close(ring);
    return status;
}

/* ---- into the tree ---- */

struct stream { struct spill_reader reader; struct batch batch; uint16_t at; uint64_t next; bool on_disk, end; struct entry now; };

static enum status stream_next(struct build *b, struct stream *s)
{
    if (!s->on_disk) {
        s->end = s->next >= b->count;
        if (!s->end)
            s->now = b->entries[s->next++];
        return STATUS_OK;
    }
    if (s->at >= s->batch.row_count) {
        enum status status = spill_read(&s->reader, &s->batch, &s->end);
        if (status || s->end)
            return status;
        s->at = 0;
    }
    struct varlen key = ((struct varlen *)s->batch.columns[0].values)[s->at];
    s->now = (struct entry){ .prefix = prefix_of(key.bytes, key.length), .key = key.bytes, .length = key.length, .row_id = ((uint64_t *)s->batch.columns[1].values)[s->at],
                             .live = ((uint8_t *)s->batch.columns[2].values)[s->at], .null = ((uint8_t *)s->batch.columns[3].values)[s->at] };
    s->at++;
    return STATUS_OK;
}

static enum status not_unique(struct build *b, const struct entry *e)
{
    struct text_buffer names, values;
    text_buffer_open(&names, b->arena);
    text_buffer_open(&values, b->arena);
    const uint8_t *bytes = e->key;
    size_t length = e->length;
    bool shown = true;
    for (uint16_t k = 0; k < b->index->column_count; k++) {
        const struct index_column *column = &b->index->columns[k];
        struct value value;
        text_buffer_printf(&names, "%s%s", k ? ", " : "", column->column ? b->table->columns[column->column - 1].name : column->expr_text ? column->expr_text : "");
        if (!shown || key_take(column->type, column->flags, &bytes, &length, b->arena, &value) != STATUS_OK) {
            shown = false;
            continue;
        }
        if (k)
            text_buffer_puts(&values, ", ");
        if (value.null) {
            text_buffer_puts(&values, "null");
        } else {
            struct vector v;
            vector_of_value(&v, &value, column->type.width);
            type_out(column->type, &v, 0, &values);
        }
    }
    enum status status = error_set(STATUS_UNIQUE_VIOLATION, "could not create unique index \"%s\"", b->index->name);
    if (shown)
        error_detail("Key (%s)=(%s) is duplicated.", names.bytes, values.bytes);
    error_names(b->table->schema_name, b->table->name, NULL, b->index->name);
    return status;
}

static enum status fill_tree(struct build *b)
{
    struct btree_build *tree;
    xid_t xid;
    enum status status = txn_id(b->run.txn, &xid);
    if (b->count)
        qsort(b->entries, b->count, sizeof *b->entries, compare_entries);
    uint32_t count = b->run_count + 1;
    struct stream *streams = arena_array(b->arena, struct stream, count);
    for (uint32_t r = 0; r < count && !status; r++) {
        streams[r].on_disk = r < b->run_count;
        if (streams[r].on_disk)
            spill_read_from_start(b->runs[r], arena_open(b->arena, "run"), &streams[r].reader);
        status = stream_next(b, &streams[r]);
    }
    if (!status)
        status = btree_build_begin(&b->index->tree, xid, &tree);
    if (status)
        return status;
    struct text_buffer last;
    text_buffer_open(&last, b->arena);
    bool have_last = false;
    uint64_t done = 0;
    while (!status) {
        struct stream *next = NULL;
        for (uint32_t r = 0; r < count; r++)
            if (!streams[r].end && (!next || compare_entries(&streams[r].now, &next->now) < 0))
                next = &streams[r];
        if (!next)
            break;
        const struct entry *e = &next->now;
        if (b->index->unique && e->live && (!e->null || b->index->nulls_not_distinct)) {
            if (have_last && last.length == e->length && memcmp(last.bytes, e->key, e->length) == 0)
                status = not_unique(b, e);
            last.length = 0;
            text_buffer_add(&last, e->key, e->length);
            have_last = true;
        }
        if (!status)
            status = btree_build_add(tree, e->key, e->length, e->row_id);
        if (!status)
            status = stream_next(b, next);
        if (!status && ++done % 4096 == 0)
            status = session_check_interrupts();
    }
    if (status) {
        btree_build_abandon(tree);
        return status;
    }
    return btree_build_end(tree);
}

enum status index_build(struct session *session, const struct table *table, const struct index *index)
{
    struct build b = { .arena = arena_open(NULL, "index build"), .table = table, .index = index };
    run_open_plain(&b.run, session, b.arena);
    b.entry_arena = arena_open(b.arena, "entries");
    b.limit = (uint64_t)b.run.settings->maintenance_work_mem_bytes;
    b.types = arena_array(b.arena, struct sql_type, table->column_count + 1u);
    b.columns = arena_array(b.arena, uint16_t, table->column_count + 1u);
    text_buffer_open(&b.key, b.arena);
    struct scalar **exprs = arena_array(b.arena, struct scalar *, index->column_count + 1u);
    struct program *program, *predicate = NULL;
    enum status status = STATUS_OK;
    for (uint16_t c = 0; c < table->column_count; c++)
        b.types[c] = table->columns[c].type;
    for (uint16_t k = 0; k < index->column_count && !status; k++)
        if (index->columns[k].column == 0)
            status = bind_expression(session, b.arena, index->columns[k].expr_text ? index->columns[k].expr_text : "", index->columns[k].expr, table, index->columns[k].type,
                                     "index expressions", &exprs[b.expr_count++]);
    if (!status)
        status = program_compile(b.arena, exprs, b.expr_count, &program);
    if (!status && index->predicate) {
        struct scalar *bound;
        status = bind_expression(session, b.arena, index->predicate_text ? index->predicate_text : "", index->predicate, table, type_make(OID_BOOL, -1), "index predicates", &bound);
        if (!status)
            status = program_compile_filter(b.arena, bound, &predicate);
    }
    if (!status)
        status = evaluation_open(program, &b.run, b.arena, &b.exprs);
    if (!status && predicate)
        status = evaluation_open(predicate, &b.run, b.arena, &b.predicate);
    for (uint16_t c = 0; c < table->column_count && !status; c++) {
        bool wanted = program_reads(program, c) || program_reads(predicate, c);
        for (uint16_t k = 0; k < index->column_count; k++)
            wanted |= index->columns[k].column == c + 1;
        if (wanted)
            b.columns[b.column_count++] = c;
    }
    struct snapshot latest;
    if (!status) {
        latest_snapshot(&b.run, &latest);
        status = read_heap(&b, &latest);
    }
    if (!status)
        status = fill_tree(&b);
    if (!status && b.young) {
        xid_t maker;
        status = txn_id(b.run.txn, &maker);
        if (!status)
            young_add(index->oid, maker, latest.limit);
    }
    run_close_plain(&b.run);
    arena_close(b.arena);
    return status;
}
