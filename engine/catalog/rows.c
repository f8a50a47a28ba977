/* engine/catalog/rows.c - see rows.h. */
#include "engine/catalog/rows.h"

#include <string.h>

#include "engine/session.h"

void catalog_access_open(struct session *session, struct arena *arena, struct catalog_access *out)
{
    *out = (struct catalog_access){.store = session_store(session), .txn = session_txn(session), .arena = arena};
}

struct value value_text(const char *text)
{
    if (!text)
        return value_null();
    return (struct value){.v = {.bytes = (const uint8_t *)text, .length = (uint32_t)strlen(text)}};
}

char *value_string(struct arena *arena, const struct value *value)
{
    return value->null ? NULL : arena_strndup(arena, (const char *)value->v.bytes, value->v.length);
}

static void one_row_vectors(const struct table *table, struct arena *arena, struct vector *out)
{
    for (uint16_t c = 0; c < table->column_count; c++) {
        uint8_t width = table->columns[c].type.width;
        out[c] = (struct vector){.values = arena_zero(arena, width ? width : sizeof(struct varlen)), .nulls = arena_zero(arena, 1), .width = width};
    }
}

static struct batch row_batch(const struct table *table, struct arena *arena, const struct value *values)
{
    struct vector *columns = arena_array(arena, struct vector, table->column_count);
    one_row_vectors(table, arena, columns);
    for (uint16_t c = 0; c < table->column_count; c++)
        value_put(table->columns[c].type, &values[c], &columns[c], 0);
    return (struct batch){.columns = columns, .column_count = table->column_count, .row_count = 1, .selected_count = 1, .all_selected = true};
}

static void index_key(const struct table *table, const struct index *index, const struct vector *columns, struct text_buffer *key)
{
    for (uint16_t i = 0; i < index->column_count; i++) {
        uint16_t c = (uint16_t)(index->columns[i].column - 1);
        if (vector_null(&columns[c], 0))
            key_append_null(0, key);
        else
            key_append(table->columns[c].type, 0, &columns[c], 0, key);
    }
}

static uint16_t *all_columns(const struct table *table, struct arena *arena)
{
    uint16_t *columns = arena_array(arena, uint16_t, table->column_count);
    for (uint16_t c = 0; c < table->column_count; c++)
        columns[c] = c;
    return columns;
}

static void row_values(const struct table *table, const struct vector *columns, struct value *values)
{
    for (uint16_t c = 0; c < table->column_count; c++)
        values[c] = vector_null(&columns[c], 0) ? value_null() : value_get(table->columns[c].type, &columns[c], 0);
}

struct scan {
    const struct catalog_access *access;
    const struct table *table;
    struct snapshot snapshot;
    uint16_t *columns;
};

static enum status scan_row(struct scan *scan, uint64_t row_id, const uint8_t *prefix, size_t prefix_length, const struct index *index,
                            enum status (*visit)(void *, const struct catalog_row *), void *context)
{
    struct arena *arena = scan->access->arena;
    struct vector *columns = arena_array(arena, struct vector, scan->table->column_count);
    one_row_vectors(scan->table, arena, columns);
    bool found;
    enum status status = heap_fetch(&scan->table->heap, &scan->snapshot, row_id, scan->columns, scan->table->column_count, columns, 0, arena, &found, &row_id);
    if (status || !found)
        return status;
    if (index) {                                              /* an entry may outlive the version that it was made for */
        struct text_buffer key;
        text_buffer_open(&key, arena);
        index_key(scan->table, index, columns, &key);
        if (key.length < prefix_length || memcmp(key.bytes, prefix, prefix_length))
            return STATUS_OK;
    }
    struct value *values = arena_array(arena, struct value, scan->table->column_count);
    row_values(scan->table, columns, values);
    struct catalog_row row = {.values = values, .row_id = row_id};
    return visit(context, &row);
}

static enum status scan_index(struct scan *scan, const struct index *index, const struct value *keys, uint16_t key_count,
                              enum status (*visit)(void *, const struct catalog_row *), void *context)
{
    struct arena *arena = scan->access->arena;
    struct text_buffer low, high;
    text_buffer_open(&low, arena);
    text_buffer_open(&high, arena);
    for (uint16_t i = 0; i < key_count; i++) {
        struct vector v;
        value_vector(index->columns[i].type, &keys[i], arena, &v);
        key_append(index->columns[i].type, 0, &v, 0, &low);
    }
    text_buffer_add(&high, low.bytes, low.length);
    key_successor(&high);
    struct btree_scan *tree;
    enum status status = btree_scan_open(&index->tree, arena, (uint8_t *)low.bytes, (uint32_t)low.length, high.length ? (uint8_t *)high.bytes : NULL, (uint32_t)high.length, false, &tree);
    if (status)
        return status;
    for (;;) {
        struct btree_entries entries;
        status = btree_scan_next(tree, &entries);
        if (status || !entries.count)
            break;
        uint64_t *ids = arena_copy(arena, entries.row_ids, sizeof(uint64_t) * entries.count);
        for (uint32_t i = 0; !status && i < entries.count; i++)
            status = scan_row(scan, ids[i], (uint8_t *)low.bytes, low.length, index, visit, context);
        if (status)
            break;
    }
    btree_scan_close(tree);
    return status;
}

static enum status scan_heap(struct scan *scan, enum status (*visit)(void *, const struct catalog_row *), void *context)
{
    const struct heap *heap = &scan->table->heap;
    uint32_t pages;
    enum status status = heap_pages(heap, &pages);
    struct heap_look *look = arena_alloc(scan->access->arena, sizeof *look);
    for (uint32_t p = 0; !status && p < pages; p++) {
        struct page_ref ref;
        status = pool_pin(heap->store->pool, (page_id){heap->file, p}, RANK_HEAP, 0, &ref);
        if (status)
            break;
        status = heap_page_look(heap, &scan->snapshot, &ref, look);
        pool_release(&ref);
        uint16_t count = look->all_visible ? look->slot_count : look->visible_count;
        for (uint16_t i = 0; !status && i < count; i++)
            status = scan_row(scan, ROW_ID(p, look->all_visible ? i : look->selection[i]), NULL, 0, NULL, visit, context);
    }
    return status;
}

enum status catalog_scan(const struct catalog_access *access, enum catalog_id id, int index, const struct value *keys, uint16_t key_count,
                         enum status (*visit)(void *context, const struct catalog_row *), void *context)
{
    struct scan scan = {.access = access, .table = &catalog_tables[id]};
    scan.snapshot = (struct snapshot){.limit = access->limit ? access->limit : txn_limit(access->store), .txn = access->txn, .command = UINT32_MAX};
    scan.columns = all_columns(scan.table, access->arena);
    enum status status = index < 0 ? scan_heap(&scan, visit, context) : scan_index(&scan, &scan.table->indexes[index], keys, key_count, visit, context);
    return status == STATUS_STOP ? STATUS_OK : status;
}

struct first { struct catalog_row *out; bool found; };

static enum status take_first(void *context, const struct catalog_row *row)
{
    struct first *first = context;
    *first->out = *row;                                       /* its values lie in the access's arena already */
    first->found = true;
    return STATUS_STOP;
}

enum status catalog_get(const struct catalog_access *access, enum catalog_id id, int index, const struct value *keys, uint16_t key_count, struct catalog_row *out, bool *found)
{
    struct first first = {.out = out};
    enum status status = catalog_scan(access, id, index, keys, key_count, take_first, &first);
    *found = first.found;
    return status;
}

/* ---------------------------------------------------------------- writing */

struct liveness { const struct heap *heap; struct txn *txn; };

static enum status row_alive(void *context, uint64_t row_id, bool *live, xid_t *wait_for)
{
    struct liveness *of = context;
    enum heap_liveness answer;
    enum status status = heap_liveness(of->heap, of->txn, row_id, &answer, wait_for);
    *live = answer == HEAP_LIVE;
    if (answer != HEAP_IN_DOUBT)
        *wait_for = XID_NONE;
    return status;
}

static enum status index_entries(const struct catalog_access *access, const struct table *table, const struct batch *row, uint64_t row_id, uint64_t replaced)
{
    (void)replaced;
    xid_t xid;
    enum status status = txn_id(access->txn, &xid);
    for (uint16_t i = 0; !status && i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        struct text_buffer key;
        text_buffer_open(&key, access->arena);
        index_key(table, index, row->columns, &key);
        struct liveness alive = {.heap = &table->heap, .txn = access->txn};
        struct btree_unique unique = {.alive = row_alive, .context = &alive, .txn = access->txn};
        uint64_t conflict;
        status = btree_insert(&index->tree, xid, (uint8_t *)key.bytes, (uint32_t)key.length, row_id, index->unique ? &unique : NULL, &conflict);
        if (status == STATUS_UNIQUE_VIOLATION)
            return error_set(STATUS_UNIQUE_VIOLATION, "duplicate key value violates unique constraint \"%s\"", index->name);
    }
    return status;
}

enum status catalog_insert(const struct catalog_access *access, enum catalog_id id, const struct value *values)
{
    const struct table *table = &catalog_tables[id];
    struct batch batch = row_batch(table, access->arena, values);
    uint64_t row_id;
    enum status status = heap_insert(&table->heap, access->txn, &batch, &row_id, false);
    return status ? status : index_entries(access, table, &batch, row_id, 0);
}

static enum status changed_meanwhile(enum heap_outcome outcome)
{
    if (outcome == HEAP_DONE || outcome == HEAP_SELF)
        return STATUS_OK;
    return error_set(STATUS_INTERNAL, "tuple concurrently %s", outcome == HEAP_UPDATED ? "updated" : "deleted");
}

static enum status row_update(const struct catalog_access *access, enum catalog_id id, uint64_t row_id, const struct value *values, enum heap_outcome *outcome)
{
    const struct table *table = &catalog_tables[id];
    struct batch batch = row_batch(table, access->arena, values);
    struct vector *old = arena_array(access->arena, struct vector, table->column_count);
    one_row_vectors(table, access->arena, old);
    bool found, same = true, alone;
    enum status status = heap_fetch_version(&table->heap, row_id, all_columns(table, access->arena), table->column_count, old, 0, access->arena, &found);
    for (uint16_t i = 0; !status && found && i < table->index_count; i++) {
        struct text_buffer before, after;
        text_buffer_open(&before, access->arena);
        text_buffer_open(&after, access->arena);
        index_key(table, &table->indexes[i], old, &before);
        index_key(table, &table->indexes[i], batch.columns, &after);
        same = same && before.length == after.length && !memcmp(before.bytes, after.bytes, before.length);
    }
    *outcome = HEAP_DONE;
    uint64_t new_id = 0, newer;
    if (!status)
        status = heap_update(&table->heap, access->txn, row_id, &batch, 0, same, !same, LOCK_WAIT, outcome, &new_id, &alone, &newer);
    if (!status && *outcome == HEAP_DONE && !alone)
        status = index_entries(access, table, &batch, new_id, row_id);
    if (!status)
        txn_next_command(access->txn);                        /* the same row may be changed again by this statement */
    return status;
}

enum status catalog_update(const struct catalog_access *access, enum catalog_id id, uint64_t row_id, const struct value *values)
{
    enum heap_outcome outcome;
    enum status status = row_update(access, id, row_id, values, &outcome);
    return status ? status : changed_meanwhile(outcome);
}

enum status catalog_update_unless_moved(const struct catalog_access *access, enum catalog_id id, uint64_t row_id, const struct value *values, bool *moved)
{
    enum heap_outcome outcome;
    enum status status = row_update(access, id, row_id, values, &outcome);
    *moved = !status && outcome == HEAP_UPDATED;
    return status || *moved ? status : changed_meanwhile(outcome);
}

enum status catalog_delete(const struct catalog_access *access, enum catalog_id id, uint64_t row_id)
{
    enum heap_outcome outcome;
    uint64_t newer;
    enum status status = heap_delete(&catalog_tables[id].heap, access->txn, row_id, LOCK_WAIT, &outcome, &newer);
    return status ? status : changed_meanwhile(outcome);
}

struct deletion { const struct catalog_access *access; enum catalog_id id; };

static enum status delete_visit(void *context, const struct catalog_row *row)
{
    struct deletion *deletion = context;
    return catalog_delete(deletion->access, deletion->id, row->row_id);
}

enum status catalog_delete_all(const struct catalog_access *access, enum catalog_id id, int index, const struct value *keys, uint16_t key_count)
{
    struct deletion deletion = {.access = access, .id = id};
    return catalog_scan(access, id, index, keys, key_count, delete_visit, &deletion);
}
