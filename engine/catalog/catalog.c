/* engine/catalog/catalog.c - finding relations: descriptors made from catalog rows, cached per session.
 *
 *   catalog_find ---> cache by (schema, name) ---> pg_class row ---> table_load: columns, indexes, constraints, statistics
 *
 * Rules
 * 1. The cache is good for one value of the global catalog version. DDL moves the version when it changes rows and again when its
 *    transaction (or savepoint) ends, either way. A cache notes the version *before* it reads its first row.
 * 2. A stale cache is retired, not freed: the statement under way may still hold its descriptors. Retired ones go when
 *    the next top-level statement starts (catalog_statement_start).
 * 3. A name is resolved, its table locked, the version asked again; until nothing moved in between (catalog_open). Whoever has the
 *    lock sees the last committed definition, since DDL holds ACCESS EXCLUSIVE until it has moved the version. */
#include "engine/catalog/catalog.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "engine/catalog/cache.h"
#include "engine/catalog/rows.h"
#include "engine/catalog/views.h"
#include "engine/plan/stats.h"
#include "engine/session.h"
#include "parser/parser.h"

#define BUCKETS 128

struct entry { struct entry *next_by_oid, *next_by_name; struct table *table; };
struct schema_entry { struct schema_entry *next; char *name; uint32_t oid; };
struct generation {
    struct generation *older;
    struct arena *arena;
    uint64_t version;
    struct entry *by_oid[BUCKETS], *by_name[BUCKETS];
    struct schema_entry *schemas;
    const char *path_text; uint32_t *path; uint16_t path_count;
};
struct catalog_cache { struct generation *now, *retired; struct sequence_value *sequences; };

static _Atomic uint64_t version = 1;
static _Atomic uint32_t next_oid = OID_FIRST_USER;

uint64_t catalog_version(void) { return atom_load(&version); }
void catalog_version_move(void) { atom_add(&version, 1); }
uint32_t catalog_new_oid(struct store *store) { (void)store; return atom_add(&next_oid, 1); }
void catalog_oid_seen(uint32_t oid)
{
    if (oid >= atom_load(&next_oid))
        atom_store(&next_oid, oid + 1);
}

/* ---------------------------------------------------------------- the cache */

static struct catalog_cache *cache_of(struct session *session)
{
    struct catalog_cache *cache = session_catalog_cache(session);
    if (!cache) {
        cache = calloc(1, sizeof *cache);
        ASSERT(cache);
        session_set_catalog_cache(session, cache);
    }
    if (!cache->now) {
        struct arena *arena = arena_open(NULL, "catalog cache");
        cache->now = arena_new(arena, struct generation);
        cache->now->arena = arena;
        cache->now->version = catalog_version();              /* before any row is read */
    }
    return cache;
}

void catalog_refresh(struct session *session)
{
    struct catalog_cache *cache = session_catalog_cache(session);
    if (cache && cache->now && cache->now->version != catalog_version()) {
        cache->now->older = cache->retired;
        cache->retired = cache->now;
        cache->now = NULL;
    }
}

void catalog_statement_start(struct session *session)
{
    struct catalog_cache *cache = session_catalog_cache(session);
    catalog_refresh(session);
    while (cache && cache->retired && !session_has_open_run(session)) {
        struct generation *generation = cache->retired;
        cache->retired = generation->older;
        arena_close(generation->arena);
    }
}

struct sequence_value **catalog_sequence_values(struct session *session) { return &cache_of(session)->sequences; }

void catalog_cache_close(struct session *session)
{
    struct catalog_cache *cache = session_catalog_cache(session);
    if (!cache)
        return;
    if (cache->now) {
        cache->now->older = cache->retired;
        cache->retired = cache->now;
        cache->now = NULL;
    }
    catalog_statement_start(session);
    while (cache->sequences) {
        struct sequence_value *value = cache->sequences;
        cache->sequences = value->next;
        free(value);
    }
    free(cache);
    session_set_catalog_cache(session, NULL);
}

static uint32_t name_bucket(uint32_t schema, const char *name) { return (uint32_t)hash_bytes(name, strlen(name), schema) % BUCKETS; }

static void cache_add(struct generation *generation, struct table *table)
{
    struct entry *entry = arena_new(generation->arena, struct entry);
    uint32_t by_oid = table->oid % BUCKETS, by_name = name_bucket(table->schema, table->name);
    entry->table = table;
    entry->next_by_oid = generation->by_oid[by_oid];
    generation->by_oid[by_oid] = entry;
    entry->next_by_name = generation->by_name[by_name];
    generation->by_name[by_name] = entry;
}

/* ---------------------------------------------------------------- rows to descriptors */

/* Numbers of an int2vector, oidvector or one-dimensional array, from its text: "1 2" or "{1,2}". */
static uint16_t numbers_read(uint32_t type, const struct value *value, struct arena *arena, int64_t **out)
{
    *out = NULL;
    if (value->null)
        return 0;
    struct vector v;
    struct text_buffer text;
    text_buffer_open(&text, arena);
    value_vector(type_make(type, -1), value, arena, &v);
    type_out(type_make(type, -1), &v, 0, &text);
    uint16_t count = 0;
    *out = arena_array(arena, int64_t, text.length / 2 + 2);
    for (char *p = text.bytes; p && *p;) {
        if (isdigit((unsigned char)*p) || *p == '-')
            (*out)[count++] = strtoll(p, &p, 10);
        else
            p++;
    }
    return count;
}

/* The texts of a text[] value, by unnesting its text form. Elements hold no NUL. */
static uint16_t texts_read(const struct value *value, struct arena *arena, char ***out)
{
    *out = NULL;
    if (value->null)
        return 0;
    struct vector v;
    struct text_buffer text;
    text_buffer_open(&text, arena);
    value_vector(type_make(1009, -1), value, arena, &v);
    type_out(type_make(1009, -1), &v, 0, &text);
    uint16_t count = 0;
    *out = arena_array(arena, char *, text.length + 1);
    char *p = text.bytes + 1;                                 /* after { */
    while (*p && *p != '}') {
        char *element = arena_alloc(arena, text.length + 1), *o = element;
        bool quoted = *p == '"';
        if (quoted)
            p++;
        while (*p && (quoted ? *p != '"' : *p != ',' && *p != '}')) {
            if (*p == '\\' && p[1])
                p++;
            *o++ = *p++;
        }
        *o = 0;
        if (quoted && *p)
            p++;
        if (*p == ',')
            p++;
        (*out)[count++] = !quoted && !strcmp(element, "NULL") ? NULL : element;
    }
    return count;
}

struct load {
    struct catalog_access access;                             /* its arena is the scratch one */
    struct arena *arena;                                      /* the cache's */
    struct table *table;
    uint16_t capacity;
};

static enum status load_column(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    struct table *table = load->table;
    const struct value *v = row->values;
    int16_t number = v[ATTRIBUTE_attnum].i2;
    if (number < 1)
        return STATUS_OK;
    if (number > load->capacity)
        return error_set(STATUS_CORRUPT, "pg_attribute has a column %d of relation %u, which has %u", number, table->oid, load->capacity);
    struct column *column = &table->columns[number - 1];
    *column = (struct column){.name = value_string(load->arena, &v[ATTRIBUTE_attname]), .type = type_make(v[ATTRIBUTE_atttypid].oid, v[ATTRIBUTE_atttypmod].i4), .number = number,
                              .not_null = v[ATTRIBUTE_attnotnull].b, .dropped = v[ATTRIBUTE_attisdropped].b, .identity = (char)v[ATTRIBUTE_attidentity].c,
                              .generated = (char)v[ATTRIBUTE_attgenerated].c, .sequence = v[ATTRIBUTE_crab_sequence].null ? 0 : v[ATTRIBUTE_crab_sequence].oid};
    if (number > table->column_count)
        table->column_count = (uint16_t)number;
    if (!table->heap.columns)
        return STATUS_OK;
    struct heap_column *stored = &table->heap.columns[number - 1];
    *stored = (struct heap_column){.width = column->type.width, .nullable = v[ATTRIBUTE_crab_nullable].b, .missing_null = true};
    if (v[ATTRIBUTE_atthasmissing].b && !v[ATTRIBUTE_attmissingval].null) {
        const struct varlen *bytes = &v[ATTRIBUTE_attmissingval].v;
        stored->missing_null = false;
        if (stored->width == WIDTH_VARLEN)
            stored->missing.varlen = (struct varlen){.bytes = arena_copy(load->arena, bytes->bytes, bytes->length), .length = bytes->length};
        else
            memcpy(stored->missing.fixed, bytes->bytes, bytes->length < 16 ? bytes->length : 16);
    }
    return STATUS_OK;
}

static enum status load_default(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    int16_t number = row->values[ATTRDEF_adnum].i2;
    if (number < 1 || number > load->table->column_count)
        return STATUS_OK;
    struct column *column = &load->table->columns[number - 1];
    column->default_text = value_string(load->arena, &row->values[ATTRDEF_adbin]);
    return parse_expression(load->arena, column->default_text, strlen(column->default_text), &column->default_expr);
}

static enum status load_index(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    struct table *table = load->table;
    const struct value *v = row->values;
    struct catalog_row class;
    bool found;
    enum status status = catalog_get(&load->access, CATALOG_CLASS, BY_OID, &v[INDEX_indexrelid], 1, &class, &found);
    if (status || !found)
        return status;
    if (table->index_count == load->capacity) {
        uint16_t capacity = load->capacity ? (uint16_t)(load->capacity * 2) : 4;
        table->indexes = arena_grow(load->arena, table->indexes, sizeof(struct index) * load->capacity, sizeof(struct index) * capacity);
        load->capacity = capacity;
    }
    struct index *index = &table->indexes[table->index_count++];
    const char *name = value_string(load->arena, &class.values[CLASS_relname]);
    *index = (struct index){.oid = v[INDEX_indexrelid].oid, .name = name, .unique = v[INDEX_indisunique].b, .primary = v[INDEX_indisprimary].b, .valid = v[INDEX_indisvalid].b,
                            .nulls_not_distinct = v[INDEX_indnullsnotdistinct].b,
                            .tree = {.store = load->access.store, .file = class.values[CLASS_relfilenode].oid, .name = name,
                                     .max_entries = v[INDEX_crab_max_entries].null ? 0 : (uint16_t)v[INDEX_crab_max_entries].i2}};
    int64_t *keys, *options;
    char **exprs;
    uint16_t count = numbers_read(OID_INT2VECTOR, &v[INDEX_indkey], load->access.arena, &keys);
    uint16_t option_count = numbers_read(OID_INT2VECTOR, &v[INDEX_indoption], load->access.arena, &options);
    uint16_t expr_count = texts_read(&v[INDEX_crab_exprs], load->arena, &exprs), next_expr = 0;
    index->column_count = (uint16_t)v[INDEX_indnkeyatts].i2;
    index->columns = arena_array(load->arena, struct index_column, count + 1);
    for (uint16_t i = 0; i < count; i++) {
        struct index_column *column = &index->columns[i];
        column->column = (int16_t)keys[i];
        int64_t option = i < option_count ? options[i] : 0;   /* PostgreSQL's bits: 1 DESC, 2 NULLS FIRST */
        column->flags = ((option & 1) ? KEY_DESC : 0) | ((option & 2) ? KEY_NULLS_FIRST : 0);
        if (column->column > 0 && column->column <= table->column_count) {
            column->type = table->columns[column->column - 1].type;
        } else if (next_expr < expr_count && exprs[next_expr]) {
            column->expr_text = exprs[next_expr++];
            status = parse_expression(load->arena, column->expr_text, strlen(column->expr_text), &column->expr);
            if (status)
                return status;
        }
    }
    /* Types of expression columns stand in pg_attribute under the index's own oid. */
    for (uint16_t i = 0; i < count; i++)
        if (index->columns[i].expr) {
            struct value key[2] = {v[INDEX_indexrelid], value_i2((int16_t)(i + 1))};
            struct catalog_row attribute;
            status = catalog_get(&load->access, CATALOG_ATTRIBUTE, FIRST_INDEX, key, 2, &attribute, &found);
            if (status)
                return status;
            if (found)
                index->columns[i].type = type_make(attribute.values[ATTRIBUTE_atttypid].oid, attribute.values[ATTRIBUTE_atttypmod].i4);
        }
    index->predicate_text = value_string(load->arena, &v[INDEX_indpred]);
    if (index->predicate_text) {
        status = parse_expression(load->arena, index->predicate_text, strlen(index->predicate_text), &index->predicate);
        if (status)
            return status;
    }
    if (index->primary)
        table->primary_key = index->oid;
    return STATUS_OK;
}

static int16_t *numbers_copy(struct arena *arena, const int64_t *numbers, uint16_t count)
{
    int16_t *copy = arena_array(arena, int16_t, count + 1);
    for (uint16_t i = 0; i < count; i++)
        copy[i] = (int16_t)numbers[i];
    return copy;
}

static enum foreign_action foreign_action_of(char c)
{
    return c == 'r' ? ACTION_RESTRICT : c == 'c' ? ACTION_CASCADE : c == 'n' ? ACTION_SET_NULL : c == 'd' ? ACTION_SET_DEFAULT : ACTION_NO_ACTION;
}

static void foreign_key_read(struct load *load, const struct value *v, struct foreign_key *key)
{
    int64_t *columns, *referenced;
    uint16_t count = numbers_read(1005, &v[CONSTRAINT_conkey], load->access.arena, &columns);
    uint16_t referenced_count = numbers_read(1005, &v[CONSTRAINT_confkey], load->access.arena, &referenced);
    *key = (struct foreign_key){.oid = v[CONSTRAINT_oid].oid, .name = value_string(load->arena, &v[CONSTRAINT_conname]), .table = v[CONSTRAINT_conrelid].oid, .referenced = v[CONSTRAINT_confrelid].oid,
                                .column_count = count, .columns = numbers_copy(load->arena, columns, count), .referenced_columns = numbers_copy(load->arena, referenced, referenced_count),
                                .index = v[CONSTRAINT_conindid].oid, .on_update = foreign_action_of((char)v[CONSTRAINT_confupdtype].c), .on_delete = foreign_action_of((char)v[CONSTRAINT_confdeltype].c),
                                .match = v[CONSTRAINT_confmatchtype].c == 'f' ? MATCH_FULL : MATCH_SIMPLE, .deferrable = v[CONSTRAINT_condeferrable].b, .initially_deferred = v[CONSTRAINT_condeferred].b};
}

static void *array_more(struct arena *arena, void *items, uint16_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? arena_grow(arena, items, size * count, size * (count ? (size_t)count * 2 : 1)) : items;
}

static enum status load_constraint(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    struct table *table = load->table;
    const struct value *v = row->values;
    switch (v[CONSTRAINT_contype].c) {
    case 'c': {
        table->checks = array_more(load->arena, table->checks, table->check_count, sizeof(struct check));
        struct check *check = &table->checks[table->check_count++];
        *check = (struct check){.oid = v[CONSTRAINT_oid].oid, .name = value_string(load->arena, &v[CONSTRAINT_conname]), .text = value_string(load->arena, &v[CONSTRAINT_conbin])};
        return parse_expression(load->arena, check->text, strlen(check->text), &check->expr);
    }
    case 'f':
        table->foreign_keys = array_more(load->arena, table->foreign_keys, table->foreign_key_count, sizeof(struct foreign_key));
        foreign_key_read(load, v, &table->foreign_keys[table->foreign_key_count++]);
        return STATUS_OK;
    case 'p':
    case 'u':
        for (uint16_t i = 0; i < table->index_count; i++)
            if (table->indexes[i].oid == v[CONSTRAINT_conindid].oid)
                table->indexes[i].constraint = v[CONSTRAINT_oid].oid;
        return STATUS_OK;
    default: return STATUS_OK;
    }
}

static enum status load_referenced_by(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    struct table *table = load->table;
    if (row->values[CONSTRAINT_contype].c != 'f')
        return STATUS_OK;
    table->referenced_by = array_more(load->arena, table->referenced_by, table->referenced_by_count, sizeof(struct foreign_key));
    foreign_key_read(load, row->values, &table->referenced_by[table->referenced_by_count++]);
    return STATUS_OK;
}

static enum status load_statistics(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    int16_t number = row->values[STATISTIC_staattnum].i2;
    if (number < 1 || number > load->table->column_count || row->values[STATISTIC_crab_bytes].null)
        return STATUS_OK;
    struct column *column = &load->table->columns[number - 1];
    const struct varlen *bytes = &row->values[STATISTIC_crab_bytes].v;
    struct column_statistics *statistics;
    enum status status = stats_read(bytes->bytes, bytes->length, column->type, load->arena, &statistics);
    if (!status)
        column->statistics = statistics;
    return status;
}

static enum status load_view(void *context, const struct catalog_row *row)
{
    struct load *load = context;
    struct table *table = load->table;
    table->view_text = value_string(load->arena, &row->values[REWRITE_ev_action]);
    struct statement_list list;
    enum status status = parse_sql(load->arena, table->view_text, strlen(table->view_text), &list);
    if (!status && (list.count != 1 || list.items[0]->kind != STATEMENT_SELECT))
        status = error_set(STATUS_CORRUPT, "view \"%s\" has no query", table->name);
    if (!status)
        table->view = list.items[0]->select;
    return status;
}

static enum status schema_name_load(const struct catalog_access *look, uint32_t oid, struct arena *arena, const char **out);

/* From its pg_class row (in scratch memory) to a whole descriptor in the cache. All rows are read under the snapshot that met the
 * first: the table need not be locked, and may be dropped or altered meanwhile. */
static enum status table_load(const struct catalog_access *look, struct generation *generation, const struct value *v, struct table **out)
{
    struct load load = {.arena = generation->arena, .access = *look};
    struct table *table = arena_new(load.arena, struct table);
    load.table = table;
    table->oid = v[CLASS_oid].oid;
    table->name = value_string(load.arena, &v[CLASS_relname]);
    table->schema = v[CLASS_relnamespace].oid;
    table->kind = (enum relation_kind)v[CLASS_relkind].c;
    table->owner = v[CLASS_relowner].oid;
    table->row_estimate = v[CLASS_reltuples].f4;
    table->visible_pages = v[CLASS_relallvisible].i4;
    char **options;
    table->option_count = texts_read(&v[CLASS_reloptions], load.arena, &options);
    table->options = (const char *const *)options;
    enum status status = schema_name_load(look, table->schema, load.arena, &table->schema_name);
    uint16_t column_count = (uint16_t)v[CLASS_relnatts].i2;
    table->columns = arena_array(load.arena, struct column, column_count + 1);
    if (table->kind == RELATION_TABLE || table->kind == RELATION_SEQUENCE)
        table->heap = (struct heap){.store = load.access.store, .table = table->oid, .file = v[CLASS_relfilenode].oid, .overflow_file = v[CLASS_crab_overflow].oid, .space_file = v[CLASS_crab_space].oid,
                                    .columns = arena_array(load.arena, struct heap_column, column_count + 1), .name = table->name};
    load.capacity = column_count;
    if (!status)
        status = catalog_scan(&load.access, CATALOG_ATTRIBUTE, FIRST_INDEX, &v[CLASS_oid], 1, load_column, &load);
    if (!status && table->column_count != column_count)
        status = error_set(STATUS_CORRUPT, "pg_attribute has %u columns of relation \"%s\", pg_class says %u", table->column_count, table->name, column_count);
    table->heap.column_count = column_count;
    if (!status)
        status = catalog_scan(&load.access, CATALOG_ATTRDEF, FIRST_INDEX, &v[CLASS_oid], 1, load_default, &load);
    load.capacity = 0;
    if (!status && table->kind == RELATION_TABLE)
        status = catalog_scan(&load.access, CATALOG_INDEX, INDEX_BY_TABLE, &v[CLASS_oid], 1, load_index, &load);
    if (!status && table->kind == RELATION_TABLE)
        status = catalog_scan(&load.access, CATALOG_CONSTRAINT, CONSTRAINT_BY_TABLE, &v[CLASS_oid], 1, load_constraint, &load);
    if (!status && table->kind == RELATION_TABLE)
        status = catalog_scan(&load.access, CATALOG_CONSTRAINT, CONSTRAINT_BY_REFERENCED, &v[CLASS_oid], 1, load_referenced_by, &load);
    if (!status && table->kind == RELATION_TABLE)
        status = catalog_scan(&load.access, CATALOG_STATISTIC, FIRST_INDEX, &v[CLASS_oid], 1, load_statistics, &load);
    if (!status && table->kind == RELATION_VIEW)
        status = catalog_scan(&load.access, CATALOG_REWRITE, FIRST_INDEX, &v[CLASS_oid], 1, load_view, &load);
    if (!status) {
        cache_add(generation, table);
        *out = table;
    }
    return status;
}

static struct table *virtual_load(struct generation *generation, const struct virtual_table *virtual)
{
    struct table *table = arena_new(generation->arena, struct table);
    *table = (struct table){.oid = virtual->oid, .name = virtual->name, .schema = virtual->schema, .schema_name = virtual->schema == SCHEMA_PG_CATALOG ? "pg_catalog" : "information_schema",
                            .kind = RELATION_VIEW, .column_count = virtual->column_count, .virtual_table = virtual, .row_estimate = -1, .owner = 10, .system = true};
    table->columns = arena_array(generation->arena, struct column, virtual->column_count);
    for (uint16_t c = 0; c < virtual->column_count; c++)
        table->columns[c] = (struct column){.name = virtual->columns[c].name, .type = type_make(virtual->columns[c].type, -1), .number = (int16_t)(c + 1)};
    cache_add(generation, table);
    return table;
}

/* ---------------------------------------------------------------- schemas and the search path */

enum status catalog_schema(struct session *session, const char *name, uint32_t *oid)
{
    struct generation *generation = cache_of(session)->now;
    for (struct schema_entry *entry = generation->schemas; entry; entry = entry->next)
        if (!strcmp(entry->name, name)) {
            *oid = entry->oid;
            return STATUS_OK;
        }
    struct arena *scratch = arena_open(NULL, "schema lookup");
    struct catalog_access access;
    catalog_access_open(session, scratch, &access);
    struct value key = value_text(name);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_NAMESPACE, BY_NAME, &key, 1, &row, &found);
    *oid = !status && found ? row.values[NAMESPACE_oid].oid : 0;
    arena_close(scratch);
    if (!status) {
        struct schema_entry *entry = arena_new(generation->arena, struct schema_entry);
        *entry = (struct schema_entry){.next = generation->schemas, .name = arena_strdup(generation->arena, name), .oid = *oid};
        generation->schemas = entry;
    }
    return status;
}

static enum status schema_name_load(const struct catalog_access *look, uint32_t oid, struct arena *arena, const char **out)
{
    struct arena *scratch = arena_open(NULL, "schema lookup");
    struct catalog_access access = *look;
    access.arena = scratch;
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_NAMESPACE, BY_OID, &key, 1, &row, &found);
    *out = !status && found ? value_string(arena, &row.values[NAMESPACE_nspname]) : "";
    arena_close(scratch);
    return status;
}

/* Schemas that exist, in the order of search_path, pg_catalog first unless it is named. */
enum status catalog_search_path(struct session *session, const uint32_t **out, uint16_t *count)
{
    struct generation *generation = cache_of(session)->now;
    const char *text = session_settings(session)->search_path;
    if (generation->path_text && !strcmp(generation->path_text, text)) {
        *out = generation->path;
        *count = generation->path_count;
        return STATUS_OK;
    }
    size_t length = strlen(text);
    uint32_t *path = arena_array(generation->arena, uint32_t, length / 2 + 3);
    uint16_t n = 0;
    bool explicit_catalog = false;
    for (const char *p = text; *p;) {
        char name[64];
        size_t used = 0;
        while (*p == ' ' || *p == ',')
            p++;
        bool quoted = *p == '"';
        if (quoted)
            p++;
        for (; *p && (quoted ? *p != '"' : *p != ',' && *p != ' '); p++)
            if (used + 1 < sizeof name)
                name[used++] = quoted ? *p : (char)tolower((unsigned char)*p);
        name[used] = 0;
        if (quoted && *p)
            p++;
        if (!used)
            continue;
        uint32_t oid;
        enum status status = catalog_schema(session, !strcmp(name, "$user") ? session_user(session) : name, &oid);
        if (status)
            return status;
        explicit_catalog = explicit_catalog || oid == SCHEMA_PG_CATALOG;
        if (oid)
            path[n++] = oid;
    }
    if (!explicit_catalog) {
        memmove(path + 1, path, sizeof *path * n);
        path[0] = SCHEMA_PG_CATALOG;
        n++;
    }
    generation->path = path;
    generation->path_count = n;
    generation->path_text = arena_strdup(generation->arena, text);
    *out = path;
    *count = n;
    return STATUS_OK;
}

/* ---------------------------------------------------------------- finding */

static enum status find_in_schema(struct session *session, uint32_t schema, const char *name, const struct table **out)
{
    struct generation *generation = cache_of(session)->now;
    *out = NULL;
    for (struct entry *entry = generation->by_name[name_bucket(schema, name)]; entry; entry = entry->next_by_name)
        if (entry->table->schema == schema && !strcmp(entry->table->name, name)) {
            *out = entry->table;
            return STATUS_OK;
        }
    if (schema == SCHEMA_PG_CATALOG) {
        for (int t = 0; t < CATALOG_COUNT; t++)
            if (!strcmp(catalog_tables[t].name, name)) {
                *out = &catalog_tables[t];
                return STATUS_OK;
            }
    }
    const struct virtual_table *virtual = virtual_table_find(schema, name);
    if (virtual) {
        *out = virtual_load(generation, virtual);
        return STATUS_OK;
    }
    struct arena *scratch = arena_open(NULL, "relation lookup");
    struct catalog_access access;
    catalog_access_open(session, scratch, &access);
    access.limit = txn_limit(access.store);
    struct value keys[2] = {value_text(name), value_oid(schema)};
    struct catalog_row row;
    bool found;
    struct table *table = NULL;
    enum status status = catalog_get(&access, CATALOG_CLASS, BY_NAME, keys, 2, &row, &found);
    if (!status && found && row.values[CLASS_relkind].c != RELATION_INDEX)
        status = table_load(&access, generation, row.values, &table);
    arena_close(scratch);
    *out = table;
    return status;
}

enum status catalog_find(struct session *session, const char *schema, const char *name, const struct table **out)
{
    enum status status;
    *out = NULL;
    if (schema) {
        uint32_t oid;
        status = catalog_schema(session, schema, &oid);
        return status || !oid ? status : find_in_schema(session, oid, name, out);
    }
    const uint32_t *path;
    uint16_t count;
    status = catalog_search_path(session, &path, &count);
    for (uint16_t i = 0; !status && i < count && !*out; i++)
        status = find_in_schema(session, path[i], name, out);
    return status;
}

enum status catalog_table(struct session *session, uint32_t oid, const struct table **out)
{
    struct generation *generation = cache_of(session)->now;
    *out = catalog_system_table(oid);
    if (*out)
        return STATUS_OK;
    for (struct entry *entry = generation->by_oid[oid % BUCKETS]; entry; entry = entry->next_by_oid)
        if (entry->table->oid == oid) {
            *out = entry->table;
            return STATUS_OK;
        }
    for (size_t i = 0; i < virtual_table_count(); i++)
        if (virtual_table_at(i)->oid == oid) {
            *out = virtual_load(generation, virtual_table_at(i));
            return STATUS_OK;
        }
    struct arena *scratch = arena_open(NULL, "relation lookup");
    struct catalog_access access;
    catalog_access_open(session, scratch, &access);
    access.limit = txn_limit(access.store);
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    struct table *table = NULL;
    enum status status = catalog_get(&access, CATALOG_CLASS, BY_OID, &key, 1, &row, &found);
    if (!status && found && row.values[CLASS_relkind].c != RELATION_INDEX)
        status = table_load(&access, generation, row.values, &table);
    arena_close(scratch);
    *out = table;
    return status;
}

static enum status no_such_relation(struct session *session, const struct relation_name *name)
{
    uint32_t oid = 1;
    if (name->schema && catalog_schema(session, name->schema, &oid) == STATUS_OK && oid == 0)
        error_set(STATUS_UNDEFINED_TABLE, "relation \"%s.%s\" does not exist", name->schema, name->name);
    else if (name->schema)
        error_set(STATUS_UNDEFINED_TABLE, "relation \"%s.%s\" does not exist", name->schema, name->name);
    else
        error_set(STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", name->name);
    if (name->position)
        error_position(name->position);
    return STATUS_UNDEFINED_TABLE;
}

enum status catalog_open(struct session *session, const struct relation_name *name, enum table_lock mode, const struct table **out)
{
    if (name->catalog && strcmp(name->catalog, session_database(session))) {
        error_set(STATUS_FEATURE_NOT_SUPPORTED, "cross-database references are not implemented: \"%s.%s.%s\"", name->catalog, name->schema ? name->schema : "", name->name);
        error_position(name->position);
        return STATUS_FEATURE_NOT_SUPPORTED;
    }
    for (;;) {
        uint64_t seen = catalog_version();
        const struct table *table;
        catalog_refresh(session);
        enum status status = catalog_find(session, name->schema, name->name, &table);
        if (status)
            return status;
        if (!table)
            return no_such_relation(session, name);
        if (table->virtual_table) {
            *out = table;
            return STATUS_OK;
        }
        uint32_t oid = table->oid;
        status = lock_relation(session_txn(session), oid, mode, LOCK_WAIT);
        if (status)
            return status;
        if (catalog_version() == seen) {
            *out = table;
            return STATUS_OK;
        }
        catalog_refresh(session);                             /* something moved while we waited: does the name still mean this table? */
        status = catalog_find(session, name->schema, name->name, &table);
        if (status)
            return status;
        if (table && table->oid == oid) {
            *out = table;
            return STATUS_OK;
        }
    }
}

const struct index *table_index(const struct table *table, uint32_t oid)
{
    for (uint16_t i = 0; i < table->index_count; i++)
        if (table->indexes[i].oid == oid)
            return &table->indexes[i];
    return NULL;
}

int table_column(const struct table *table, const char *name)
{
    for (uint16_t c = 0; c < table->column_count; c++)
        if (!table->columns[c].dropped && !strcmp(table->columns[c].name, name))
            return c;
    return -1;
}

enum status catalog_find_index(struct session *session, const char *schema, const char *name, const struct table **table, const struct index **index)
{
    *table = NULL;
    *index = NULL;
    const uint32_t *path;
    uint16_t count;
    uint32_t only;
    enum status status;
    if (schema) {
        status = catalog_schema(session, schema, &only);
        path = &only;
        count = status || !only ? 0 : 1;
    } else {
        status = catalog_search_path(session, &path, &count);
    }
    for (uint16_t i = 0; !status && i < count && !*index; i++) {
        struct arena *scratch = arena_open(NULL, "index lookup");
        struct catalog_access access;
        catalog_access_open(session, scratch, &access);
        struct value keys[2] = {value_text(name), value_oid(path[i])};
        struct catalog_row row, of;
        bool found;
        status = catalog_get(&access, CATALOG_CLASS, BY_NAME, keys, 2, &row, &found);
        if (!status && found && row.values[CLASS_relkind].c == RELATION_INDEX) {
            status = catalog_get(&access, CATALOG_INDEX, INDEX_BY_OID, &row.values[CLASS_oid], 1, &of, &found);
            if (!status && found)
                status = catalog_table(session, of.values[INDEX_indrelid].oid, table);
            if (!status && *table)
                *index = table_index(*table, row.values[CLASS_oid].oid);
        }
        arena_close(scratch);
    }
    return status;
}

struct each { uint32_t *oids; uint32_t count, capacity; struct arena *arena; };

static enum status each_oid(void *context, const struct catalog_row *row)
{
    struct each *each = context;
    if (row->values[CLASS_relkind].c == RELATION_INDEX)
        return STATUS_OK;
    if (each->count == each->capacity) {
        uint32_t capacity = each->capacity ? each->capacity * 2 : 64;
        each->oids = arena_grow(each->arena, each->oids, sizeof(uint32_t) * each->capacity, sizeof(uint32_t) * capacity);
        each->capacity = capacity;
    }
    each->oids[each->count++] = row->values[CLASS_oid].oid;
    return STATUS_OK;
}

enum status catalog_each(struct session *session, enum status (*visit)(void *context, const struct table *), void *context)
{
    struct arena *scratch = arena_open(NULL, "relations");
    struct catalog_access access;
    catalog_access_open(session, scratch, &access);
    struct each each = {.arena = scratch};
    enum status status = catalog_scan(&access, CATALOG_CLASS, -1, NULL, 0, each_oid, &each);
    for (uint32_t i = 0; !status && i < each.count; i++) {
        const struct table *table;
        status = catalog_table(session, each.oids[i], &table);
        if (!status && table)
            status = visit(context, table);
    }
    arena_close(scratch);
    return status == STATUS_STOP ? STATUS_OK : status;
}

/* ---------------------------------------------------------------- statistics */

/* Sizes change without a new version: plans are no worse for it. Column statistics move it. */
enum status catalog_store_statistics(struct session *session, const struct table *table, double rows, double pages, const struct column_statistics *const *columns)
{
    struct arena *scratch = arena_open(NULL, "statistics");
    struct catalog_access access;
    catalog_access_open(session, scratch, &access);
    struct value key = value_oid(table->oid);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_CLASS, BY_OID, &key, 1, &row, &found);
    bool moved = columns != NULL;
    uint32_t visible = 0;
    if (!status)
        status = heap_all_visible(&table->heap, &visible);
    if (!status && found) {
        struct value *values = arena_copy(scratch, row.values, sizeof(struct value) * CLASS_COLUMNS);
        moved = moved || values[CLASS_reltuples].f4 != (float)rows || values[CLASS_relallvisible].i4 != (int32_t)visible;
        values[CLASS_relallvisible] = value_i4((int32_t)visible);
        values[CLASS_reltuples] = value_f4((float)rows);
        values[CLASS_relpages] = value_i4((int32_t)pages);
        if (moved)
            status = catalog_update(&access, CATALOG_CLASS, row.row_id, values);
    }
    for (uint16_t c = 0; columns && !status && c < table->column_count; c++) {
        if (!columns[c])
            continue;
        struct value keys[2] = {value_oid(table->oid), value_i2((int16_t)(c + 1))};
        struct text_buffer bytes;
        text_buffer_open(&bytes, scratch);
        stats_write(columns[c], &bytes);
        struct value values[STATISTIC_COLUMNS] = {keys[0], keys[1], value_bool(false)};
        values[STATISTIC_stanullfrac] = value_f4((float)columns[c]->null_fraction);
        values[STATISTIC_stawidth] = value_i4((int32_t)columns[c]->average_width);
        values[STATISTIC_stadistinct] = value_f4((float)columns[c]->distinct);
        values[STATISTIC_crab_bytes] = (struct value){.v = {.bytes = (uint8_t *)bytes.bytes, .length = (uint32_t)bytes.length}};
        status = catalog_get(&access, CATALOG_STATISTIC, FIRST_INDEX, keys, 2, &row, &found);
        if (!status)
            status = found ? catalog_update(&access, CATALOG_STATISTIC, row.row_id, values) : catalog_insert(&access, CATALOG_STATISTIC, values);
    }
    arena_close(scratch);
    if (!status && moved)
        catalog_changed(session);
    return status;
}

static void version_at_end(void *context, bool committed)
{
    (void)context, (void)committed;
    catalog_version_move();
}

void catalog_changed(struct session *session)
{
    catalog_version_move();
    txn_at_end(session_txn(session), version_at_end, NULL);
    catalog_refresh(session);
}
