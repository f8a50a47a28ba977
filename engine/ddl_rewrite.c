/* engine/ddl_rewrite.c - a table moves to new files: TRUNCATE, and changes that its pages can't take as they are.
 *
 * A rewrite makes a table that nobody else sees, fills it with INSERT … SELECT from the old one, and puts its files in the old
 * one's place: the executor computes and coerces as it always does. The old files go at commit, the new ones at abort. */
#include "engine/ddl.h"

#include <string.h>

/* ---------------------------------------------------------------- new files */

static enum status index_new_file(struct ddl *d, const struct index *index)
{
    struct catalog_row row;
    struct value *v;
    struct btree old = index->tree, tree = index->tree;
    enum status status = ddl_class_get(d, index->oid, &row, &v);
    if (!status)
        status = btree_create(&tree, d->access.txn);
    if (status)
        return status;
    v[CLASS_relfilenode] = value_oid(tree.file);
    v[CLASS_reltuples] = value_f4(-1);
    v[CLASS_relpages] = value_i4(0);
    status = ddl_class_update(d, &row, v);
    if (!status)
        btree_drop(&old, d->access.txn);
    return status;
}

/* pg_class of the table names the new heap's files; the old ones are dropped. */
static enum status heap_replace(struct ddl *d, const struct table *table, const struct heap *heap)
{
    struct catalog_row row;
    struct value *v;
    struct heap old = table->heap;
    enum status status = ddl_class_get(d, table->oid, &row, &v);
    if (status)
        return status;
    v[CLASS_relfilenode] = value_oid(heap->file);
    v[CLASS_crab_overflow] = value_oid(heap->overflow_file);
    v[CLASS_crab_space] = value_oid(heap->space_file);
    v[CLASS_reltuples] = value_f4(-1);
    v[CLASS_relpages] = v[CLASS_relallvisible] = value_i4(0);
    status = ddl_class_update(d, &row, v);
    if (!status)
        heap_drop(&old, d->access.txn);
    return status;
}

static enum status table_empty(struct ddl *d, const struct table *table)
{
    struct heap heap = table->heap;
    enum status status = heap_create(&heap, d->access.txn);
    if (!status)
        status = heap_replace(d, table, &heap);
    for (uint16_t i = 0; !status && i < table->index_count; i++)
        status = index_new_file(d, &table->indexes[i]);
    return status;
}

/* ---------------------------------------------------------------- TRUNCATE */

/* Tables that reference those in the list must be in it, or come in. */
static enum status truncate_references(struct ddl *d, struct users *list, bool cascade)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct table *table;
        enum status status = ddl_table(d, list->oids[i], &table);
        if (status)
            return status;
        for (uint16_t k = 0; k < table->referenced_by_count; k++) {
            uint32_t from = table->referenced_by[k].table;
            const struct table *referencing;
            if (users_has(list, from))
                continue;
            status = ddl_table(d, from, &referencing);
            if (status)
                return status;
            if (!cascade) {
                error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot truncate a table referenced in a foreign key constraint");
                error_detail("Table \"%s\" references \"%s\".", referencing->name, table->name);
                error_hint("Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE.", referencing->name);
                return STATUS_FEATURE_NOT_SUPPORTED;
            }
            session_notice(d->session, "NOTICE", "00000", "truncate cascades to table \"%s\"", referencing->name);
            users_add(d, list, from);
            status = ddl_lock(d, from, LOCK_ACCESS_EXCLUSIVE);
            if (status)
                return status;
            catalog_refresh(d->session);
            status = ddl_table(d, list->oids[i], &table);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

enum status truncate_tables(struct ddl *d, const struct truncate_statement *s)
{
    struct users list = {0};
    enum status status = STATUS_OK;
    for (int i = 0; !status && i < s->relations.count; i++) {
        const struct table *table;
        status = ddl_open(d, s->relations.items[i], LOCK_ACCESS_EXCLUSIVE, &table);
        if (!status && table->kind != RELATION_TABLE)
            status = error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a table", table->name);
        if (!status)
            users_add(d, &list, table->oid);
    }
    if (!status)
        status = truncate_references(d, &list, s->cascade);
    for (uint32_t i = 0; !status && i < list.count; i++) {
        const struct table *table;
        uint32_t *sequences, count;
        status = ddl_table(d, list.oids[i], &table);
        if (!status)
            status = table_empty(d, table);
        if (!status && s->restart_identity) {
            status = sequence_owned(d, list.oids[i], 0, &sequences, &count);
            for (uint32_t k = 0; !status && k < count; k++)
                status = sequence_restart(d, sequences[k]);
        }
        if (!status)
            ddl_changed(d);
    }
    return status;
}

/* ---------------------------------------------------------------- rewriting */

void rewrite_columns(struct ddl *d, const struct table *table, struct rewrite_column *out)
{
    (void)d;
    for (uint16_t i = 0; i < table->column_count; i++) {
        const struct column *c = &table->columns[i];
        out[i] = (struct rewrite_column){.name = c->name, .type = c->type, .dropped = c->dropped, .nullable = c->dropped || table->heap.columns[i].nullable, .not_null = c->not_null};
    }
}

static enum status transient_make(struct ddl *d, const struct table *table, const struct rewrite_column *columns, uint16_t count, const char *name, struct heap *heap)
{
    *heap = (struct heap){.store = d->access.store, .table = catalog_new_oid(d->access.store), .column_count = count, .name = name, .columns = arena_array(d->arena, struct heap_column, count + 1)};
    for (uint16_t i = 0; i < count; i++)
        heap->columns[i] = (struct heap_column){.width = columns[i].type.width, .nullable = columns[i].nullable, .missing_null = true};
    enum status status = heap_layout_check(heap->columns, count);
    if (!status)
        status = heap_create(heap, d->access.txn);
    struct class_row class = {.oid = heap->table, .schema = table->schema, .name = name, .kind = 'r', .columns = count, .file = heap->file, .overflow_file = heap->overflow_file, .space_file = heap->space_file};
    if (!status)
        status = ddl_class_insert(d, &class);
    for (uint16_t i = 0; !status && i < count; i++) {
        struct attribute_row a = {.name = columns[i].name, .type = columns[i].type, .number = (int16_t)(i + 1), .not_null = columns[i].not_null, .nullable = columns[i].nullable};
        status = ddl_attribute_insert(d, heap->table, &a);
        if (!status && columns[i].dropped) {
            struct catalog_row row;
            struct value *v;
            status = ddl_attribute_get(d, heap->table, (int16_t)(i + 1), &row, &v);
            if (!status) {
                v[ATTRIBUTE_attisdropped] = value_bool(true);
                status = catalog_update(&d->access, CATALOG_ATTRIBUTE, row.row_id, v);
            }
        }
    }
    return status;
}

enum status table_rewrite(struct ddl *d, const struct table *table, const struct rewrite_column *columns, uint16_t count)
{
    char *name = arena_printf(d->arena, "crab_rewrite_%u", table->oid);
    uint32_t oid = table->oid;
    struct heap heap;
    struct text_buffer sql, values;
    text_buffer_open(&sql, d->arena);
    text_buffer_open(&values, d->arena);
    text_buffer_printf(&sql, "INSERT INTO %s (", ddl_qualified(d->arena, table->schema_name, name));
    bool any = false;
    for (uint16_t i = 0; i < count; i++) {
        if (columns[i].dropped)
            continue;
        const char *column = quote_identifier(d->arena, columns[i].name);
        text_buffer_printf(&sql, "%s%s", any ? ", " : "", column);
        text_buffer_printf(&values, "%s%s", any ? ", " : "", columns[i].expr ? columns[i].expr : column);
        any = true;
    }
    text_buffer_printf(&sql, ") SELECT %s FROM ONLY %s", values.bytes ? values.bytes : "", ddl_qualified(d->arena, table->schema_name, table->name));
    char *table_name = arena_strdup(d->arena, table->name);
    enum status status = transient_make(d, table, columns, count, name, &heap);
    if (status)
        return status;
    ddl_changed(d);
    if (any)
        status = ddl_query(d, sql.bytes, NULL, NULL);
    if (status == STATUS_NOT_NULL_VIOLATION) {
        char *column = error_current()->column ? arena_strdup(d->arena, error_current()->column) : NULL;
        if (column)
            status = error_set(STATUS_NOT_NULL_VIOLATION, "column \"%s\" of relation \"%s\" contains null values", column, table_name);
    }
    struct value key = value_oid(heap.table);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_ATTRIBUTE, FIRST_INDEX, &key, 1);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_CLASS, BY_OID, &key, 1);
    if (!status)
        status = ddl_table(d, oid, &table);
    if (!status)
        status = heap_replace(d, table, &heap);
    return status;
}

enum status table_reindex(struct ddl *d, uint32_t oid)
{
    const struct table *table;
    enum status status = ddl_table(d, oid, &table);
    if (status)
        return status;
    uint16_t count = table->index_count;
    uint32_t *indexes = arena_array(d->arena, uint32_t, count + 1);
    for (uint16_t i = 0; i < count; i++)
        indexes[i] = table->indexes[i].oid;
    for (uint16_t i = 0; !status && i < count; i++)
        status = index_rebuild(d, oid, indexes[i]);
    return status;
}
