/* engine/inspect.c - crab_btree_check, crab_btree, crab_heap_check: a whole tree or heap looked over, or drawn.
 *
 * The check of an index: the tree itself (order, fences, links), then that every row the statement sees is found under its own
 * key exactly once. The table is locked against writers for it. Rows of expression and partial indexes are looked up by row id alone,
 * since their keys can't be made here. */
#include "engine/functions.h"

#include <stdlib.h>
#include <string.h>

#include "engine/catalog/catalog.h"
#include "engine/session.h"
#include "parser/parser.h"

struct entry { uint64_t row_id; uint32_t length; uint8_t *key; };
struct entries { struct arena *arena; struct entry *items; size_t count, capacity; };

static enum status take_entry(void *context, const uint8_t *key, uint32_t length, uint64_t row_id)
{
    struct entries *e = context;
    if (e->count == e->capacity) {
        size_t capacity = e->capacity ? e->capacity * 2 : 1024;
        e->items = arena_grow(e->arena, e->items, sizeof *e->items * e->capacity, sizeof *e->items * capacity);
        e->capacity = capacity;
    }
    e->items[e->count++] = (struct entry){row_id, length, arena_copy(e->arena, key, length)};
    return STATUS_OK;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static enum status index_named(const struct row_call *c, const char *text, enum table_lock mode, const struct table **table, const struct index **index)
{
    struct relation_name name;
    memset(&name, 0, sizeof name);
    enum status status = parse_qualified_name(c->arena, text, &name);
    uint32_t locked = 0;
    for (;;) {                           /* once more after the lock: the index may have been made anew, or another have taken its name */
        catalog_refresh(c->session);
        if (!status)
            status = catalog_find_index(c->session, name.schema, name.name, table, index);
        if (!status && !*index)
            status = error_set(STATUS_UNDEFINED_OBJECT, "index \"%s\" does not exist", text);
        if (status || (*table)->oid == locked)
            return status;
        locked = (*table)->oid;
        status = lock_relation(session_txn(c->session), locked, mode, LOCK_WAIT);
    }
}

static void row_vectors(const struct table *table, struct arena *arena, struct vector *out)
{
    for (uint16_t i = 0; i < table->column_count; i++) {
        uint8_t width = table->columns[i].type.width;
        out[i] = (struct vector){.values = arena_zero(arena, width ? width : sizeof(struct varlen)), .nulls = arena_zero(arena, 1), .width = width};
    }
}

/* The versions that the entries lead to, each found under its own key; sorted, none twice. */
static enum status entries_follow(const struct row_call *c, const struct table *table, const struct index *index, const struct snapshot *snapshot, const struct entries *entries, uint64_t **ids, size_t *count)
{
    uint16_t columns[32];
    bool plain = true;
    for (uint16_t i = 0; i < index->column_count; i++) {
        plain = plain && index->columns[i].column;
        columns[i] = (uint16_t)(index->columns[i].column - 1);
    }
    *ids = arena_array(c->arena, uint64_t, entries->count + 1);
    *count = 0;
    enum status status = STATUS_OK;
    struct arena *scratch = arena_open(NULL, "index check");
    for (size_t e = 0; !status && e < entries->count; e++) {
        const struct entry *entry = &entries->items[e];
        struct vector *row;
        uint64_t version;
        bool found;
        arena_reset(scratch);
        row = arena_array(scratch, struct vector, table->column_count + 1);
        row_vectors(table, scratch, row);
        struct vector wanted[32];
        for (uint16_t i = 0; i < index->column_count && plain; i++)
            wanted[i] = row[columns[i]];
        status = heap_fetch(&table->heap, snapshot, entry->row_id, columns, plain ? index->column_count : 0, wanted, 0, scratch, &found, &version);
        if (!status && (e & 1023) == 0)
            status = thread_check_interrupts();
        if (status || !found)
            continue;
        if (plain) {
            struct text_buffer key;
            text_buffer_open(&key, scratch);
            for (uint16_t i = 0; i < index->column_count; i++) {
                if (vector_null(&wanted[i], 0))
                    key_append_null(index->columns[i].flags, &key);
                else
                    key_append(index->columns[i].type, index->columns[i].flags, &wanted[i], 0, &key);
            }
            if (key.length != entry->length || memcmp(key.bytes, entry->key, key.length))
                continue;                                     /* of an older version of that row */
        }
        (*ids)[(*count)++] = version;
    }
    arena_close(scratch);
    if (status)
        return status;
    qsort(*ids, *count, sizeof **ids, by_id);
    for (size_t i = 1; plain && i < *count; i++)
        if ((*ids)[i] == (*ids)[i - 1])
            return error_set(STATUS_INDEX_CORRUPT, "index \"%s\" has row (%u,%u) of table \"%s\" twice", index->name, ROW_PAGE((*ids)[i]), ROW_SLOT((*ids)[i]), table->name);
    return STATUS_OK;
}

ROW_FUNCTION(crab_btree_check)
{
    const struct table *table;
    const struct index *index;
    struct entries entries = {.arena = c->arena};
    struct btree_stats stats;
    uint64_t *ids;
    size_t count;
    enum status status = index_named(c, text_argument(c, &args[0]), LOCK_SHARE, &table, &index);
    if (!status)
        status = btree_check(&index->tree, take_entry, &entries, &stats);
    if (status)
        return status;
    struct snapshot snapshot;
    session_catalog_snapshot(c->session, &snapshot);
    status = entries_follow(c, table, index, &snapshot, &entries, &ids, &count);
    const struct heap *heap = &table->heap;
    uint32_t pages = 0;
    if (!status)
        status = heap_pages(heap, &pages);
    struct heap_look *look = arena_alloc(c->arena, sizeof *look);
    for (uint32_t p = 0; !status && p < pages; p++) {
        struct page_ref ref;
        status = pool_pin(heap->store->pool, (page_id){heap->file, p}, RANK_HEAP, 0, &ref);
        if (status)
            break;
        status = heap_page_look(heap, &snapshot, &ref, look);
        pool_release(&ref);
        uint16_t visible = look->all_visible ? look->slot_count : look->visible_count;
        for (uint16_t i = 0; !status && i < visible && !index->predicate; i++) {
            uint64_t id = ROW_ID(p, look->all_visible ? i : look->selection[i]);
            if (!bsearch(&id, ids, count, sizeof *ids, by_id))
                status = error_set(STATUS_INDEX_CORRUPT, "row (%u,%u) of table \"%s\" is missing from index \"%s\"", ROW_PAGE(id), ROW_SLOT(id), table->name, index->name);
        }
        if (!status)
            status = thread_check_interrupts();
    }
    if (!status)
        *out = (struct value){.v = {.bytes = (const uint8_t *)"ok", .length = 2}};
    return status;
}

ROW_FUNCTION(crab_btree)
{
    const struct table *table;
    const struct index *index;
    char *text, *format = c->arg_count > 1 ? text_argument(c, &args[1]) : "text";
    bool dot = !strcmp(format, "dot");
    if (!dot && strcmp(format, "text"))
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "unknown format \"%s\": text or dot", format);
    enum status status = index_named(c, text_argument(c, &args[0]), LOCK_ACCESS_SHARE, &table, &index);
    if (!status)
        status = btree_print(&index->tree, c->arena, dot, &text);
    if (!status)
        *out = (struct value){.v = {.bytes = (const uint8_t *)text, .length = (uint32_t)strlen(text)}};
    return status;
}

ROW_FUNCTION(crab_heap_check)
{
    struct relation_name name;
    const struct table *table;
    memset(&name, 0, sizeof name);
    enum status status = parse_qualified_name(c->arena, text_argument(c, &args[0]), &name);
    if (!status)
        status = catalog_open(c->session, &name, LOCK_ACCESS_SHARE, &table);
    if (!status && (table->kind != RELATION_TABLE || table->virtual_table))
        status = error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a table", table->name);
    if (!status)
        status = heap_check(&table->heap);
    if (!status)
        *out = (struct value){.v = {.bytes = (const uint8_t *)"ok", .length = 2}};
    return status;
}
