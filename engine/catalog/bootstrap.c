/* engine/catalog/bootstrap.c - the catalogs' birth, and what each start of the server reads of them.
 *
 * A fresh store gets its catalog files and the rows that describe the catalogs themselves, in one transaction; a crash before its
 * commit leaves a store that is still fresh, whose catalogs the next start makes again from nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/catalog/cache.h"
#include "engine/catalog/rows.h"
#include "engine/catalog/views.h"

struct bootstrap { struct catalog_access access; struct txn_slot *slot; };

static enum status begin(struct store *store, struct bootstrap *out)
{
    enum status status = txn_slot_open(store, 0, &out->slot);
    if (status)
        return status;
    out->access = (struct catalog_access){.store = store, .txn = txn_begin(store, out->slot, READ_COMMITTED, false), .arena = arena_open(NULL, "bootstrap")};
    return STATUS_OK;
}

static enum status end(struct bootstrap *b, enum status status)
{
    if (status) {
        struct error kept = {0};
        error_save(&kept);
        txn_abort(b->access.txn);
        error_restore(&kept);
    } else {
        status = txn_commit(b->access.txn);
    }
    txn_slot_close(b->slot);
    arena_close(b->access.arena);
    return status;
}

static enum status files_create(struct store *store)
{
    enum status status = STATUS_OK;
    for (int t = 0; !status && t < CATALOG_COUNT; t++) {
        const struct heap *heap = &catalog_tables[t].heap;
        const uint32_t files[] = {heap->file, heap->overflow_file, heap->space_file};
        for (int f = 0; !status && f < 3; f++)                /* replaces half-made ones of an interrupted bootstrap */
            status = store_create_fixed_file(store, files[f]);
        for (uint16_t i = 0; !status && i < catalog_tables[t].index_count; i++) {
            status = store_create_fixed_file(store, catalog_tables[t].indexes[i].tree.file);
            if (!status)
                status = btree_create_fixed(&catalog_tables[t].indexes[i].tree);
        }
    }
    return status;
}

static enum status schema_insert(struct bootstrap *b, uint32_t oid, const char *name)
{
    struct value values[NAMESPACE_COLUMNS] = {value_oid(oid), value_text(name), value_oid(10), value_null()};
    return catalog_insert(&b->access, CATALOG_NAMESPACE, values);
}

static enum status class_insert(struct bootstrap *b, uint32_t oid, const char *name, uint32_t schema, char kind, uint16_t columns, const struct heap *heap, uint32_t file, bool indexed)
{
    struct value v[CLASS_COLUMNS];
    memset(v, 0, sizeof v);
    v[CLASS_oid] = value_oid(oid);
    v[CLASS_relname] = value_text(name);
    v[CLASS_relnamespace] = value_oid(schema);
    v[CLASS_relowner] = value_oid(10);
    v[CLASS_relam] = value_oid(kind == 'r' ? 2 : kind == 'i' ? 403 : 0);
    v[CLASS_relfilenode] = value_oid(file);
    v[CLASS_reltuples] = value_f4(-1);
    v[CLASS_relhasindex] = value_bool(indexed);
    v[CLASS_relpersistence] = value_char('p');
    v[CLASS_relkind] = value_char(kind);
    v[CLASS_relnatts] = value_i2((int16_t)columns);
    v[CLASS_relispopulated] = value_bool(true);
    v[CLASS_relreplident] = value_char('n');
    v[CLASS_relacl] = v[CLASS_reloptions] = v[CLASS_relpartbound] = value_null();
    v[CLASS_crab_overflow] = value_oid(heap ? heap->overflow_file : 0);
    v[CLASS_crab_space] = value_oid(heap ? heap->space_file : 0);
    return catalog_insert(&b->access, CATALOG_CLASS, v);
}

static enum status attribute_insert(struct bootstrap *b, uint32_t table, int16_t number, const char *name, uint32_t type)
{
    const struct type_info *info = type_info(type);
    struct value v[ATTRIBUTE_COLUMNS];
    memset(v, 0, sizeof v);
    v[ATTRIBUTE_attrelid] = value_oid(table);
    v[ATTRIBUTE_attname] = value_text(name);
    v[ATTRIBUTE_atttypid] = value_oid(type);
    v[ATTRIBUTE_attstattarget] = v[ATTRIBUTE_attcacheoff] = v[ATTRIBUTE_atttypmod] = value_i4(-1);
    v[ATTRIBUTE_attlen] = value_i2(info ? info->length : -1);
    v[ATTRIBUTE_attnum] = value_i2(number);
    v[ATTRIBUTE_attalign] = value_char('i');
    v[ATTRIBUTE_attstorage] = value_char('p');
    v[ATTRIBUTE_attislocal] = value_bool(true);
    v[ATTRIBUTE_attacl] = v[ATTRIBUTE_attoptions] = v[ATTRIBUTE_attfdwoptions] = v[ATTRIBUTE_attmissingval] = value_null();
    v[ATTRIBUTE_crab_nullable] = value_bool(true);
    return catalog_insert(&b->access, CATALOG_ATTRIBUTE, v);
}

static enum status index_insert(struct bootstrap *b, const struct table *table, const struct index *index)
{
    char keys[32] = "", zeros[32] = "";
    for (uint16_t i = 0; i < index->column_count; i++) {
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%d", i ? " " : "", index->columns[i].column);
        snprintf(zeros + strlen(zeros), sizeof zeros - strlen(zeros), "%s0", i ? " " : "");
    }
    struct value v[INDEX_COLUMNS];
    memset(v, 0, sizeof v);
    v[INDEX_indexrelid] = value_oid(index->oid);
    v[INDEX_indrelid] = value_oid(table->oid);
    v[INDEX_indnatts] = v[INDEX_indnkeyatts] = value_i2((int16_t)index->column_count);
    v[INDEX_indisunique] = value_bool(index->unique);
    v[INDEX_indisprimary] = value_bool(index->primary);
    v[INDEX_indimmediate] = v[INDEX_indisvalid] = v[INDEX_indisready] = v[INDEX_indislive] = value_bool(true);
    enum status status = type_in(type_make(OID_INT2VECTOR, -1), keys, strlen(keys), b->access.arena, &v[INDEX_indkey]);
    if (!status)
        status = type_in(type_make(OID_OIDVECTOR, -1), zeros, strlen(zeros), b->access.arena, &v[INDEX_indcollation]);
    if (!status)
        status = type_in(type_make(OID_OIDVECTOR, -1), zeros, strlen(zeros), b->access.arena, &v[INDEX_indclass]);
    if (!status)
        status = type_in(type_make(OID_INT2VECTOR, -1), zeros, strlen(zeros), b->access.arena, &v[INDEX_indoption]);
    v[INDEX_indexprs] = v[INDEX_indpred] = v[INDEX_crab_exprs] = v[INDEX_crab_max_entries] = value_null();
    if (!status)
        status = catalog_insert(&b->access, CATALOG_INDEX, v);
    if (!status)
        status = class_insert(b, index->oid, index->name, SCHEMA_PG_CATALOG, 'i', index->column_count, NULL, index->tree.file, false);
    for (uint16_t i = 0; !status && i < index->column_count; i++)
        status = attribute_insert(b, index->oid, (int16_t)(i + 1), table->columns[index->columns[i].column - 1].name, index->columns[i].type.oid);
    return status;
}

static enum status describe_catalogs(struct bootstrap *b)
{
    enum status status = STATUS_OK;
    for (int t = 0; !status && t < CATALOG_COUNT; t++) {
        const struct table *table = &catalog_tables[t];
        status = class_insert(b, table->oid, table->name, SCHEMA_PG_CATALOG, 'r', table->column_count, &table->heap, table->heap.file, true);
        for (uint16_t c = 0; !status && c < table->column_count; c++)
            status = attribute_insert(b, table->oid, (int16_t)(c + 1), table->columns[c].name, table->columns[c].type.oid);
        for (uint16_t i = 0; !status && i < table->index_count; i++)
            status = index_insert(b, table, &table->indexes[i]);
    }
    for (size_t n = 0; !status && n < virtual_table_count(); n++) {
        const struct virtual_table *view = virtual_table_at(n);
        status = class_insert(b, view->oid, view->name, view->schema, 'v', view->column_count, NULL, 0, false);
        for (uint16_t c = 0; !status && c < view->column_count; c++)
            status = attribute_insert(b, view->oid, (int16_t)(c + 1), view->columns[c].name, view->columns[c].type);
    }
    return status;
}

enum status catalog_bootstrap(struct store *store)
{
    catalog_tables_open(store);
    enum status status = files_create(store);
    struct bootstrap b;
    if (!status)
        status = begin(store, &b);
    if (status)
        return status;
    status = schema_insert(&b, SCHEMA_PG_CATALOG, "pg_catalog");
    if (!status)
        status = describe_catalogs(&b);
    if (!status)
        status = schema_insert(&b, SCHEMA_INFORMATION, "information_schema");
    if (!status)
        status = schema_insert(&b, SCHEMA_PUBLIC, "public");
    status = end(&b, status);
    return status ? status : store_bootstrap_done(store);
}

/* ---------------------------------------------------------------- every start */

struct wanted { uint32_t *files; size_t count, capacity; };

static void file_wanted(struct wanted *wanted, uint32_t file)
{
    if (!file)
        return;
    if (wanted->count == wanted->capacity) {
        wanted->capacity = wanted->capacity ? wanted->capacity * 2 : 256;
        wanted->files = realloc(wanted->files, sizeof(uint32_t) * wanted->capacity);
        ASSERT(wanted->files);
    }
    wanted->files[wanted->count++] = file;
}

static enum status class_seen(void *context, const struct catalog_row *row)
{
    struct wanted *wanted = context;
    catalog_oid_seen(row->values[CLASS_oid].oid);
    file_wanted(wanted, row->values[CLASS_relfilenode].oid);
    file_wanted(wanted, row->values[CLASS_crab_overflow].oid);
    file_wanted(wanted, row->values[CLASS_crab_space].oid);
    return STATUS_OK;
}

static enum status first_column_seen(void *context, const struct catalog_row *row)
{
    (void)context;
    catalog_oid_seen(row->values[0].oid);
    return STATUS_OK;
}

static int compare_files(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_wanted(void *context, uint32_t file)
{
    const struct wanted *wanted = context;
    return bsearch(&file, wanted->files, wanted->count, sizeof file, compare_files) != NULL;
}

enum status catalog_open_store(struct store *store)
{
    catalog_tables_open(store);
    struct bootstrap b;
    struct wanted wanted = {0};
    enum status status = begin(store, &b);
    if (status)
        return status;
    struct snapshot announced;
    txn_snapshot(b.access.txn, &announced);
    static const enum catalog_id with_oid[] = {CATALOG_NAMESPACE, CATALOG_ATTRDEF, CATALOG_CONSTRAINT, CATALOG_REWRITE};
    status = catalog_scan(&b.access, CATALOG_CLASS, -1, NULL, 0, class_seen, &wanted);
    for (size_t i = 0; !status && i < sizeof with_oid / sizeof with_oid[0]; i++)
        status = catalog_scan(&b.access, with_oid[i], -1, NULL, 0, first_column_seen, NULL);
    if (!status) {
        qsort(wanted.files, wanted.count, sizeof(uint32_t), compare_files);
        status = store_sweep_files(store, is_wanted, &wanted);
    }
    free(wanted.files);
    txn_snapshot_done(b.access.txn);
    return end(&b, status);
}
