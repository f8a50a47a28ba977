/* engine/exec/index_build.c - makes an index's entries from the rows that are there (CREATE INDEX, REINDEX).
 *
 * The table is locked against writers. Every version that somebody may still see gets an entry: live ones, and those that ended
 * after the oldest snapshot. An entry points at the root of its chain. An older version whose chain goes on under another key
 * gets none (the unique check would take the chain's live version for it); the index is then *young*: a snapshot from before it
 * can't be answered by it, and fails with 40001 (index_too_young, asked by index scans).
 *
 * Workers claim runs of pages, make entries and sort them, each its own; past their share of maintenance_work_mem in runs on disk. The leader
 * merges all that (index_entries.c) into a tree from the bottom up. Chains end with their page, so no two workers see
 * one. Of several errors that of the first page is raised: pages before it are claimed already, for claims rise. */
#include <stdlib.h>
#include "engine/exec/index_entries.h"
#include "engine/exec/write.h"
#include "engine/plan/gate.h"
#include "base/atomic.h"

#define CLAIM_PAGES 64

struct build {
    struct run run;
    struct arena *arena;
    const struct table *table;
    const struct index *index;
    struct program *exprs, *predicate;
    uint16_t expr_count;
    struct sql_type *types;
    struct sort_layout layout;           /* of short keys */
    bool short_keys;
    uint16_t *columns, column_count;     /* of the table, that are needed */
    struct snapshot latest;
    lsn_t horizon;
    uint32_t pages;
    _Atomic uint64_t next, limit;        /* pages: the first not claimed; none is claimed from here on */
    struct part *parts; uint16_t part_count;
    bool young;
};

/* One worker's. */
struct part {
    struct build *build;
    struct index_entries entries;
    struct evaluation *exprs, *predicate;
    struct text_buffer key;
    bool young;
    struct error error; uint64_t failed_page;
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

/* ---- reading the heap ---- */

struct page_work {
    struct heap_look look;
    uint16_t roots[PAX_MAX_SLOTS];
    row_pos positions[PAX_MAX_SLOTS];
    bool live[PAX_MAX_SLOTS];
    struct text_buffer entry_key[PAX_MAX_SLOTS];          /* by root: the key its entry has, to tell other keys in the chain */
    bool has_entry[PAX_MAX_SLOTS];
    sort_word words[PAX_MAX_SLOTS];
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

static const struct vector *key_vector(const struct build *b, const struct page_work *w, uint16_t k, uint16_t *expr)
{
    const struct index_column *column = &b->index->columns[k];
    return column->column ? &w->columns[column->column - 1] : &w->expr_vectors[(*expr)++];
}

static void make_key(struct part *p, struct page_work *w, uint16_t i, bool *null)
{
    const struct build *b = p->build;
    uint16_t expr = 0;
    p->key.length = 0;
    *null = false;
    for (uint16_t k = 0; k < b->index->column_count; k++) {
        const struct index_column *column = &b->index->columns[k];
        const struct vector *v = key_vector(b, w, k, &expr);
        if (vector_null(v, i)) {
            *null = true;
            key_append_null(column->flags, &p->key);
        } else {
            key_append(column->type, column->flags, v, vector_at(v, i), &p->key);
        }
    }
}

static void add_entry(struct part *p, struct page_work *w, uint32_t page, uint16_t slot, uint16_t root, bool live)
{
    bool null;
    make_key(p, w, slot, &null);
    index_entries_add(&p->entries, (const uint8_t *)p->key.bytes, (uint32_t)p->key.length, (live ? ENTRY_LIVE : 0u) | (null ? ENTRY_NULL : 0u), ROW_ID(page, root));
}

/* All versions are live, so each is its chain's only one. */
static void add_live(struct part *p, struct page_work *w, uint32_t page, const row_pos *positions, uint16_t count)
{
    const struct build *b = p->build;
    bool nulls = false;
    uint16_t expr = 0;
    for (uint16_t k = 0; k < count; k++) {
        uint16_t slot = positions ? positions[k] : k;
        w->positions[k] = w->roots[slot] == HEAP_NO_ROOT ? slot : w->roots[slot];
    }
    struct vector keys[b->index->column_count];
    for (uint16_t k = 0; k < b->index->column_count; k++) {
        keys[k] = *key_vector(b, w, k, &expr);
        nulls |= keys[k].nulls != NULL;
    }
    if (b->short_keys && !nulls) {
        sort_key_words(&b->layout, keys, positions, count, 0, &p->key, w->words);
        index_entries_add_words(&p->entries, w->words, b->layout.whole_bytes, ENTRY_LIVE, page, w->positions, count);
        return;
    }
    for (uint16_t k = 0; k < count; k++)
        add_entry(p, w, page, positions ? positions[k] : k, w->positions[k], true);
}

/* Live versions first: the live one, or, where the chain has none, the first that ended: one entry a chain. */
static void add_some(struct part *p, struct page_work *w, uint32_t page, const row_pos *positions, uint16_t count)
{
    memset(w->has_entry, 0, w->look.slot_count);
    for (int pass = 0; pass < 2; pass++)
        for (uint16_t k = 0; k < count; k++) {
            uint16_t s = positions ? positions[k] : k, root = w->roots[s] == HEAP_NO_ROOT ? s : w->roots[s];
            if (w->live[s] != (pass == 0))
                continue;
            if (!w->has_entry[root]) {
                w->has_entry[root] = true;
                add_entry(p, w, page, s, root, w->live[s]);
                text_buffer_open(&w->entry_key[root], w->arena);
                text_buffer_add(&w->entry_key[root], p->key.bytes, p->key.length);
                continue;
            }
            bool null;
            const struct text_buffer *entry = &w->entry_key[root];
            make_key(p, w, s, &null);
            if (entry->length != p->key.length || memcmp(entry->bytes, p->key.bytes, entry->length) != 0)
                p->young = true;             /* the chain's entry is there, or must not be */
        }
}

static enum status read_page(struct part *p, struct page_work *w, struct page_ref *ref)
{
    const struct build *b = p->build;
    const struct heap *heap = &b->table->heap;
    uint16_t at;
    enum status status = heap_page_look(heap, &b->latest, ref, &w->look);
    if (status || w->look.slot_count == 0)
        return status;
    uint16_t slots = w->look.slot_count, count = 0;
    bool all = w->look.all_visible;
    if (all) {
        count = slots;
    } else {
        memset(w->live, 0, slots);
        for (uint16_t k = 0; k < w->look.visible_count; k++)
            w->live[w->look.selection[k]] = true;
    }
    status = heap_page_roots(heap, ref, slots, w->roots);
    for (uint16_t s = 0; s < slots && !status && !all; s++) {
        bool seen = w->live[s];
        if (!seen && w->roots[s] != HEAP_NO_ROOT)
            status = maybe_seen(p->build, ROW_ID(ref->id.page, s), b->horizon, &seen);
        if (seen)
            w->positions[count++] = s;
    }
    if (status || count == 0)
        return status;
    const row_pos *left = all ? NULL : w->positions;
    struct batch rows = { .columns = w->columns, .column_count = b->table->column_count, .row_count = slots, .selected_count = count, .selection = (row_pos *)left, .all_selected = all };
    for (uint16_t c = 0; c < b->column_count && !status; c++)
        status = heap_page_column(heap, ref, &w->look, b->columns[c], left, count, w->space[b->columns[c]], w->arena, &w->columns[b->columns[c]]);
    if (!status && p->predicate) {
        status = evaluation_filter(p->predicate, &rows, &left, &count, &at);
        rows.selection = (row_pos *)left;
        rows.selected_count = count;
        rows.all_selected = left == NULL;
    }
    if (!status && b->expr_count && count)
        status = evaluation_run(p->exprs, &rows, w->expr_vectors, &at);
    if (status || count == 0)
        return status;
    if (all)
        add_live(p, w, ref->id.page, left, count);
    else
        add_some(p, w, ref->id.page, left, count);
    return STATUS_OK;
}

static enum status read_pages(struct part *p, struct page_work *w, struct pool_ring *ring, uint32_t from, uint32_t to, uint64_t *page)
{
    struct build *b = p->build;
    enum status status = STATUS_OK;
    if (ring)
        pool_ring_range(ring, from, to);
    for (*page = from; *page < to && !status; ++*page) {
        struct page_ref ref;
        status = run_check(p->entries.worker);
        if (!status)
            status = ring ? pool_ring_pin(ring, (uint32_t)*page, &ref) : pool_pin(b->run.store->pool, (page_id){ b->table->heap.file, (uint32_t)*page }, RANK_HEAP, 0, &ref);
        if (status)
            return status;
        status = read_page(p, w, &ref);
        pool_release(&ref);
        arena_reset(w->arena);
        if (!status && index_entries_full(&p->entries))
            status = index_entries_spill(&p->entries);
        if (status)
            return status;
    }
    return status;
}

static enum status part_open(struct part *p, struct worker *worker)
{
    struct build *b = p->build;
    text_buffer_open(&p->key, worker->arena);
    index_entries_open(&p->entries, &b->run, worker, worker->arena, b->short_keys, (uint64_t)b->run.settings->maintenance_work_mem_bytes / b->part_count);
    enum status status = evaluation_open(b->exprs, &b->run, worker->arena, &p->exprs);
    return !status && b->predicate ? evaluation_open(b->predicate, &b->run, worker->arena, &p->predicate) : status;
}

/* One worker's share: pages, run after run, then its entries sorted. */
static enum status part_read(struct part *p, struct worker *worker, uint64_t *page)
{
    struct build *b = p->build;
    const struct heap *heap = &b->table->heap;
    struct arena *arena = worker->arena;
    struct page_work *w = arena_new(arena, struct page_work);
    w->arena = arena_open(arena, "page");
    w->columns = arena_array(arena, struct vector, b->table->column_count + 1u);
    w->space = arena_array(arena, struct varlen *, b->table->column_count + 1u);
    w->expr_vectors = arena_array(arena, struct vector, b->expr_count + 1u);
    for (uint16_t c = 0; c < b->column_count; c++)
        if (b->types[b->columns[c]].width == WIDTH_VARLEN)
            w->space[b->columns[c]] = arena_alloc(arena, PAX_MAX_SLOTS * sizeof(struct varlen));
    enum status status = part_open(p, worker);
    struct pool_ring *ring = !status && b->pages > pool_frame_count(b->run.store->pool) / 4 ? pool_ring_open(b->run.store->pool, heap->file, 0, 0, true) : NULL;
    while (!status) {
        uint64_t from = atom_load(&b->next), to = from + CLAIM_PAGES < b->pages ? from + CLAIM_PAGES : b->pages;
        if (from >= to || from >= atom_load(&b->limit))
            break;
        if (!atom_cas(&b->next, &from, to))
            continue;
        status = read_pages(p, w, ring, (uint32_t)from, (uint32_t)to, page);
    }
    if (ring)
        pool_ring_close(ring);
    return status ? status : index_entries_finish(&p->entries);
}

static enum status part_work(void *context, uint16_t number, struct worker *worker)
{
    struct build *b = context;
    struct part *p = &b->parts[number];
    uint64_t page = 0;
    enum status status = part_read(p, worker, &page);
    if (!status || status == STATUS_STOP)
        return status;
    error_save(&p->error);
    p->failed_page = page;
    for (uint64_t limit = atom_load(&b->limit); page < limit && !atom_cas(&b->limit, &limit, page);)
        ;
    return STATUS_OK;                        /* which error is the first is known when all are done */
}

static uint16_t workers_for(const struct build *b)
{
    uint32_t most = (uint32_t)b->run.settings->max_parallel_workers_per_gather, claims = (b->pages + CLAIM_PAGES - 1) / CLAIM_PAGES;
    uint32_t workers = gate_workers(b->run.settings, b->pages);
    if (workers > most)
        workers = most;
    if (workers > claims)
        workers = claims;
    return workers < 2 || !workers_available() || program_serial(b->exprs) || program_serial(b->predicate) ? 1 : (uint16_t)workers;
}

static enum status read_heap(struct build *b)
{
    b->horizon = txn_horizon(b->run.store);
    enum status status = heap_pages(&b->table->heap, &b->pages);
    if (status)
        return status;
    atom_store(&b->limit, UINT64_MAX);
    b->part_count = workers_for(b);
    b->parts = arena_array(b->arena, struct part, b->part_count);
    for (uint16_t i = 0; i < b->part_count; i++)
        b->parts[i] = (struct part){ .build = b, .failed_page = UINT64_MAX };
    if (b->part_count > 1)
        status = workers_each(&b->run, b->part_count, part_work, b);
    else
        status = part_work(b, 0, &b->run.leader);
    struct part *failed = NULL;
    for (uint16_t i = 0; i < b->part_count; i++) {
        b->young |= b->parts[i].young;
        if (b->parts[i].failed_page != UINT64_MAX && (!failed || b->parts[i].failed_page < failed->failed_page))
            failed = &b->parts[i];
    }
    if (!status && failed)
        status = error_restore(&failed->error);
    for (uint16_t i = 0; i < b->part_count; i++)
        error_free(&b->parts[i].error);
    return status;
}

/* ---- into the tree ---- */

static enum status not_unique(struct build *b, const struct index_entry *e)
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
        describe_key_column(&names, b->arena, b->table, b->index, k);
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
    struct index_merge *merge;
    xid_t xid;
    enum status status = txn_id(b->run.txn, &xid);
    const struct index_entries *parts[b->part_count];
    for (uint16_t i = 0; i < b->part_count; i++)
        parts[i] = &b->parts[i].entries;
    if (!status)
        status = index_merge_open(b->arena, parts, b->part_count, &merge);
    if (!status)
        status = btree_build_begin(&b->index->tree, xid, &tree);
    if (status)
        return status;
    struct text_buffer last;
    text_buffer_open(&last, b->arena);
    bool have_last = false;
    for (uint64_t done = 1; !status; done++) {
        struct index_entry e;
        bool end;
        status = index_merge_next(merge, &e, &end);
        if (status || end)
            break;
        if (b->index->unique && (e.flags & ENTRY_LIVE) && (!(e.flags & ENTRY_NULL) || b->index->nulls_not_distinct)) {
            if (have_last && last.length == e.length && memcmp(last.bytes, e.key, e.length) == 0)
                status = not_unique(b, &e);
            last.length = 0;
            text_buffer_add(&last, e.key, e.length);
            have_last = true;
        }
        if (!status)
            status = btree_build_add(tree, e.key, e.length, e.row_id);
        if (!status && done % 4096 == 0)
            status = thread_check_interrupts();
    }
    if (status) {
        btree_build_abandon(tree);
        return status;
    }
    return btree_build_end(tree);
}

/* Are all keys short, and made by sort_key_words as key_append makes them? */
static void choose_form(struct build *b)
{
    struct sort_column *columns = arena_array(b->arena, struct sort_column, b->index->column_count);
    bool same = true;
    for (uint16_t k = 0; k < b->index->column_count; k++) {
        columns[k] = (struct sort_column){ .type = b->index->columns[k].type, .flags = b->index->columns[k].flags, .column = k };
        same &= columns[k].type.oid != OID_NUMERIC;
    }
    sort_key_open(&b->layout, columns, b->index->column_count);
    b->short_keys = same && b->layout.exact && b->layout.whole_bytes <= INDEX_SHORT_BYTES;
}

enum status index_build(struct session *session, const struct table *table, const struct index *index)
{
    struct build b = { .arena = arena_open(NULL, "index build"), .table = table, .index = index };
    run_open_plain(&b.run, session, b.arena);
    b.types = arena_array(b.arena, struct sql_type, table->column_count + 1u);
    b.columns = arena_array(b.arena, uint16_t, table->column_count + 1u);
    struct scalar **exprs = arena_array(b.arena, struct scalar *, index->column_count + 1u);
    enum status status = STATUS_OK;
    for (uint16_t c = 0; c < table->column_count; c++)
        b.types[c] = table->columns[c].type;
    for (uint16_t k = 0; k < index->column_count && !status; k++)
        if (index->columns[k].column == 0)
            status = bind_expression(session, b.arena, index->columns[k].expr_text ? index->columns[k].expr_text : "", index->columns[k].expr, table, index->columns[k].type,
                                     "index expressions", &exprs[b.expr_count++]);
    if (!status)
        status = program_compile(b.arena, exprs, b.expr_count, &b.exprs);
    if (!status && index->predicate) {
        struct scalar *bound;
        status = bind_expression(session, b.arena, index->predicate_text ? index->predicate_text : "", index->predicate, table, type_make(OID_BOOL, -1), "index predicates", &bound);
        if (!status)
            status = program_compile_filter(b.arena, bound, &b.predicate);
    }
    for (uint16_t c = 0; c < table->column_count && !status; c++) {
        bool wanted = program_reads(b.exprs, c) || program_reads(b.predicate, c);
        for (uint16_t k = 0; k < index->column_count; k++)
            wanted |= index->columns[k].column == c + 1;
        if (wanted)
            b.columns[b.column_count++] = c;
    }
    if (!status) {
        choose_form(&b);
        latest_snapshot(&b.run, &b.latest);
        status = read_heap(&b);
    }
    if (!status)
        status = fill_tree(&b);
    if (!status && b.young) {
        xid_t maker;
        status = txn_id(b.run.txn, &maker);
        if (!status)
            young_add(index->oid, maker, b.latest.limit);
    }
    run_close_plain(&b.run);
    worker_arenas_close(&b.run);
    arena_close(b.arena);
    return status;
}
