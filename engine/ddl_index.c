/* engine/ddl_index.c - CREATE INDEX, REINDEX, and the indexes behind PRIMARY KEY and UNIQUE. */
#include "engine/ddl.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- operator classes */

/* PostgreSQL's default btree operator class of a type; 0: it can't be ordered. */
static uint32_t operator_class(uint32_t type)
{
    switch (type) {
    case OID_BOOL: return 424;
    case OID_BYTEA: return 428;
    case OID_CHAR: return 429;
    case OID_NAME: return 10028;
    case OID_INT8: return 3124;
    case OID_INT2: return 1979;
    case OID_INT4: return 1978;
    case OID_TEXT: case OID_VARCHAR: return 3126;
    case OID_BPCHAR: return 426;
    case OID_OID: case OID_REGCLASS: case OID_REGTYPE: case OID_REGPROC: return 1981;
    case OID_FLOAT4: return 1970;
    case OID_FLOAT8: return 3123;
    case OID_NUMERIC: return 3125;
    case OID_DATE: return 3122;
    case OID_TIME: return 2001;
    case OID_TIMESTAMP: return 3128;
    case OID_TIMESTAMPTZ: return 3127;
    case OID_INTERVAL: return 2003;
    case OID_UUID: return 2968;
    case OID_OIDVECTOR: return 1991;
    default: return type_is_array(type) ? 397 : 0;
    }
}

static const struct { const char *name; uint32_t type; } classes[] = {
    {"int4_ops", OID_INT4}, {"int8_ops", OID_INT8}, {"int2_ops", OID_INT2}, {"text_ops", OID_TEXT}, {"varchar_ops", OID_TEXT}, {"bpchar_ops", OID_BPCHAR}, {"text_pattern_ops", OID_TEXT},
    {"varchar_pattern_ops", OID_TEXT}, {"bpchar_pattern_ops", OID_BPCHAR}, {"numeric_ops", OID_NUMERIC}, {"float8_ops", OID_FLOAT8}, {"float4_ops", OID_FLOAT4}, {"date_ops", OID_DATE},
    {"timestamp_ops", OID_TIMESTAMP}, {"timestamptz_ops", OID_TIMESTAMPTZ}, {"uuid_ops", OID_UUID}, {"bool_ops", OID_BOOL}, {"bytea_ops", OID_BYTEA}, {"name_ops", OID_NAME}, {"oid_ops", OID_OID},
    {"interval_ops", OID_INTERVAL}, {"time_ops", OID_TIME}, {"char_ops", OID_CHAR}, {"array_ops", 2277},
};

/* Text compares by bytes, so a pattern class is the default one. */
static enum status class_check(const struct index_element *e, struct sql_type type)
{
    if (!e->opclass)
        return STATUS_OK;
    uint32_t base = type.oid == OID_VARCHAR ? OID_TEXT : type_is_array(type.oid) ? 2277 : type.oid;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (!strcmp(classes[i].name, e->opclass)) {
            if (classes[i].type == base)
                return STATUS_OK;
            return error_set(STATUS_DATATYPE_MISMATCH, "operator class \"%s\" does not accept data type %s", e->opclass, type_info(type.oid)->sql_name);
        }
    return error_set(STATUS_UNDEFINED_OBJECT, "operator class \"%s\" does not exist for access method \"btree\"", e->opclass);
}

static enum status collation_check(const struct index_element *e)
{
    if (!e->collation || !strcmp(e->collation, "default") || !strcmp(e->collation, "C") || !strcmp(e->collation, "POSIX") || !strcmp(e->collation, "ucs_basic"))
        return STATUS_OK;
    return error_set(STATUS_FEATURE_NOT_SUPPORTED, "collation \"%s\" is not supported: text is ordered by its bytes", e->collation);
}

/* ---------------------------------------------------------------- making one */

struct key { int16_t columns[32]; int16_t options[32]; struct sql_type types[32]; const char *exprs[32]; const char *names[32]; uint16_t expr_count; };

static enum status key_read(struct ddl *d, const struct new_index *n, struct key *key)
{
    if (n->column_count > 32)
        return error_set(STATUS_TOO_MANY_COLUMNS, "cannot use more than 32 columns in an index");
    for (uint16_t i = 0; i < n->column_count; i++) {
        const struct index_element *e = n->columns[i];
        const char *name = e->column;
        if (!name && e->expr->kind == EXPR_COLUMN && e->expr->column.count == 1 && !e->expr->column.star)
            name = e->expr->column.names[0];
        enum status status = collation_check(e);
        if (status)
            return status;
        if (name) {
            int c = table_column(n->table, name);
            if (c < 0) {
                if (n->constraint)
                    return ddl_fail(e->position, STATUS_UNDEFINED_COLUMN, "column \"%s\" named in key does not exist", name);
                return ddl_fail(0, STATUS_UNDEFINED_COLUMN, "column \"%s\" does not exist", name);
            }
            key->columns[i] = (int16_t)(c + 1);
            key->types[i] = n->table->columns[c].type;
            key->names[i] = name;
        } else {
            struct scalar *bound;
            status = bind_expression(d->session, d->arena, d->sql, e->expr, n->table, (struct sql_type){0}, "index expression", &bound);
            if (status)
                return status;
            if (scalar_volatility(bound) != IMMUTABLE)
                return error_set(STATUS_INVALID_OBJECT_DEFINITION, "functions in index expression must be marked IMMUTABLE");
            if (bound->kind == SCALAR_CONST)
                return ddl_fail(e->position, STATUS_INVALID_OBJECT_DEFINITION, "cannot create index on a constant");
            key->types[i] = type_make(bound->type.oid, bound->type.typmod);
            if (key->types[i].oid == OID_UNKNOWN)
                key->types[i] = type_make(OID_TEXT, -1);
            expr_qualify(d, e->expr);
            key->exprs[i] = deparse_expr(d->arena, e->expr);
            key->names[i] = tree_column_name(e->expr);
            if (!strcmp(key->names[i], "?column?"))
                key->names[i] = "expr";
            key->expr_count++;
        }
        if (!operator_class(key->types[i].oid) || !type_comparable(key->types[i].oid)) {
            error_set(STATUS_UNDEFINED_OBJECT, "data type %s has no default operator class for access method \"btree\"", type_format(key->types[i].oid, -1, d->arena));
            error_hint("You must specify an operator class for the index or define a default operator class for the data type.");
            return STATUS_UNDEFINED_OBJECT;
        }
        status = class_check(e, key->types[i]);
        if (status)
            return status;
        if (e->direction == SORT_USING)
            return ddl_fail(e->position, STATUS_FEATURE_NOT_SUPPORTED, "USING is not supported in index columns");
        bool descending = e->direction == SORT_DESC, first = e->nulls == NULLS_FIRST || (e->nulls == NULLS_DEFAULT && descending);
        key->options[i] = (int16_t)((descending ? 1 : 0) | (first ? 2 : 0));
    }
    return STATUS_OK;
}

static enum status index_rows(struct ddl *d, const struct new_index *n, const struct key *key, uint32_t oid, uint32_t file, int max_entries)
{
    struct class_row class = {.oid = oid, .schema = n->schema, .name = n->name, .kind = 'i', .columns = n->column_count, .file = file, .options = n->options};
    enum status status = ddl_class_insert(d, &class);
    for (uint16_t i = 0; !status && i < n->column_count; i++) {
        int same = 0;
        for (uint16_t k = 0; k < i; k++)
            same += !strcmp(key->names[k], key->names[i]);
        struct attribute_row a = {.name = same ? arena_printf(d->arena, "%s%d", key->names[i], same) : key->names[i], .type = key->types[i], .number = (int16_t)(i + 1), .nullable = true};
        status = ddl_attribute_insert(d, oid, &a);
    }
    struct value v[INDEX_COLUMNS];
    memset(v, 0, sizeof v);
    v[INDEX_indexrelid] = value_oid(oid);
    v[INDEX_indrelid] = value_oid(n->table->oid);
    v[INDEX_indnatts] = v[INDEX_indnkeyatts] = value_i2((int16_t)n->column_count);
    v[INDEX_indisunique] = value_bool(n->unique);
    v[INDEX_indnullsnotdistinct] = value_bool(n->nulls_not_distinct);
    v[INDEX_indisprimary] = value_bool(n->primary);
    v[INDEX_indimmediate] = v[INDEX_indisvalid] = v[INDEX_indisready] = v[INDEX_indislive] = value_bool(true);
    struct text_buffer collations, classes_text, exprs, exprs_shown;
    text_buffer_open(&collations, d->arena);
    text_buffer_open(&classes_text, d->arena);
    text_buffer_open(&exprs, d->arena);
    text_buffer_open(&exprs_shown, d->arena);
    text_buffer_putc(&exprs, '{');
    for (uint16_t i = 0; i < n->column_count; i++) {
        const struct type_info *t = type_info(key->types[i].oid);
        text_buffer_printf(&collations, "%s%u", i ? " " : "", t->category == 'S' ? t->oid == OID_NAME ? 950u : 100u : 0u);
        text_buffer_printf(&classes_text, "%s%u", i ? " " : "", operator_class(t->oid));
        if (!key->exprs[i])
            continue;
        text_buffer_puts(&exprs_shown, exprs_shown.length ? ", " : "");
        text_buffer_puts(&exprs_shown, key->exprs[i]);
        text_buffer_puts(&exprs, exprs.length > 1 ? ",\"" : "\"");
        for (const char *p = key->exprs[i]; *p; p++) {
            if (*p == '"' || *p == '\\')
                text_buffer_putc(&exprs, '\\');
            text_buffer_putc(&exprs, *p);
        }
        text_buffer_putc(&exprs, '"');
    }
    text_buffer_putc(&exprs, '}');
    if (!status)
        status = ddl_numbers(d, OID_INT2VECTOR, key->columns, n->column_count, &v[INDEX_indkey]);
    if (!status)
        status = ddl_array(d, OID_OIDVECTOR, collations.bytes, &v[INDEX_indcollation]);
    if (!status)
        status = ddl_array(d, OID_OIDVECTOR, classes_text.bytes, &v[INDEX_indclass]);
    if (!status)
        status = ddl_numbers(d, OID_INT2VECTOR, key->options, n->column_count, &v[INDEX_indoption]);
    v[INDEX_indexprs] = v[INDEX_indpred] = v[INDEX_crab_exprs] = v[INDEX_crab_max_entries] = value_null();
    if (!status && key->expr_count) {
        v[INDEX_indexprs] = value_text(exprs_shown.bytes);
        status = ddl_array(d, 1009, exprs.bytes, &v[INDEX_crab_exprs]);
    }
    if (n->where)
        v[INDEX_indpred] = value_text(deparse_expr(d->arena, n->where));
    if (max_entries)
        v[INDEX_crab_max_entries] = value_i2((int16_t)max_entries);
    if (!status)
        status = catalog_insert(&d->access, CATALOG_INDEX, v);
    return status ? status : ddl_class_flags(d, n->table->oid, 0, true, false);
}

static enum status predicate_check(struct ddl *d, const struct new_index *n)
{
    struct scalar *bound;
    if (!n->where)
        return STATUS_OK;
    enum status status = bind_expression(d->session, d->arena, d->sql, n->where, n->table, type_make(OID_BOOL, -1), "index predicate", &bound);
    if (!status && scalar_volatility(bound) != IMMUTABLE)
        status = error_set(STATUS_INVALID_OBJECT_DEFINITION, "functions in index predicate must be marked IMMUTABLE");
    if (!status)
        expr_qualify(d, n->where);
    return status;
}

enum status index_create(struct ddl *d, const struct new_index *n, bool build, uint32_t *oid)
{
    struct key key;
    memset(&key, 0, sizeof key);
    int max_entries = 0;
    enum status status = key_read(d, n, &key);
    if (!status)
        status = predicate_check(d, n);
    if (!status && n->options)
        status = ddl_check_options(n->options, 'i');
    for (int i = 0; !status && n->options && i < n->options->count; i++)
        if (!strcmp(n->options->items[i]->name, "max_entries"))
            max_entries = atoi(n->options->items[i]->text);
    if (status)
        return status;
    struct btree tree = {.store = d->access.store, .name = n->name, .max_entries = (uint16_t)max_entries};
    status = btree_create(&tree, d->access.txn);
    if (status)
        return status;
    *oid = catalog_new_oid(d->access.store);
    status = index_rows(d, n, &key, *oid, tree.file, max_entries);
    if (status || !build)
        return status;
    ddl_changed(d);
    const struct table *table;
    status = ddl_table(d, n->table->oid, &table);
    if (!status)
        status = index_build(d->session, table, table_index(table, *oid));
    return status;
}

/* a_b for t_a_b_idx. */
static char *columns_addition(struct ddl *d, struct index_element *const *columns, int count)
{
    struct text_buffer text;
    text_buffer_open(&text, d->arena);
    for (int i = 0; i < count && text.length < NAME_MAX_BYTES; i++) {
        const char *name = columns[i]->column ? columns[i]->column : tree_column_name(columns[i]->expr);
        if (!strcmp(name, "?column?"))
            name = "expr";
        text_buffer_printf(&text, "%s%s", i ? "_" : "", name);
    }
    return text.bytes;
}

enum status create_index(struct ddl *d, const struct create_index_statement *s)
{
    const struct table *table;
    if (s->method && strcmp(s->method, "btree")) {
        static const char *const known[] = {"hash", "gist", "gin", "brin", "spgist"};
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (!strcmp(known[i], s->method))
                return error_set(STATUS_FEATURE_NOT_SUPPORTED, "access method \"%s\" is not supported: indexes are btrees", s->method);
        return error_set(STATUS_UNDEFINED_OBJECT, "access method \"%s\" does not exist", s->method);
    }
    if (s->include.count)
        return ddl_unsupported("INCLUDE columns are");
    if (s->tablespace && strcmp(s->tablespace, "pg_default"))
        return error_set(STATUS_UNDEFINED_OBJECT, "tablespace \"%s\" does not exist", s->tablespace);
    enum status status = ddl_open(d, s->relation, LOCK_SHARE, &table);
    if (status)
        return status;
    if (table->kind != RELATION_TABLE) {
        error_set(STATUS_WRONG_OBJECT_TYPE, "cannot create index on relation \"%s\"", table->name);
        error_detail("This operation is not supported for %s.", table->kind == RELATION_VIEW ? "views" : "sequences");
        return STATUS_WRONG_OBJECT_TYPE;
    }
    struct new_index n = {.name = s->name, .schema = table->schema, .table = table, .unique = s->unique, .nulls_not_distinct = s->nulls_not_distinct, .column_count = (uint16_t)s->column_count,
                          .columns = s->columns, .where = s->where, .options = s->options.count ? &s->options : NULL};
    if (!n.name) {
        char *name;
        status = ddl_choose_name(d, table->name, columns_addition(d, s->columns, s->column_count), "idx", table->schema, true, false, &name);
        n.name = name;
    } else {
        uint32_t exists;
        char kind;
        status = ddl_relation_oid(d, table->schema, n.name, &exists, &kind);
        if (!status && exists && s->if_not_exists) {
            session_notice(d->session, "NOTICE", "42P07", "relation \"%s\" already exists, skipping", n.name);
            return STATUS_OK;
        }
        if (!status && exists)
            status = error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", n.name);
    }
    uint32_t oid;
    return status ? status : index_create(d, &n, true, &oid);
}

/* ---------------------------------------------------------------- dropping, building again */

enum status index_drop(struct ddl *d, const struct table *table, const struct index *index)
{
    (void)table;
    struct value key = value_oid(index->oid);
    struct btree tree = index->tree;
    enum status status = catalog_delete_all(&d->access, CATALOG_INDEX, INDEX_BY_OID, &key, 1);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_ATTRIBUTE, FIRST_INDEX, &key, 1);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_CLASS, BY_OID, &key, 1);
    if (!status)
        status = ddl_description_delete(d, index->oid, CLASS_RELATION);
    if (!status)
        btree_drop(&tree, d->access.txn);
    return status;
}

enum status index_rebuild(struct ddl *d, uint32_t table_oid, uint32_t index_oid)
{
    const struct table *table;
    struct catalog_row row;
    struct value *v;
    enum status status = ddl_table(d, table_oid, &table);
    if (!status)
        status = ddl_class_get(d, index_oid, &row, &v);
    if (status)
        return status;
    const struct index *index = table_index(table, index_oid);
    struct btree old = index->tree, tree = index->tree;
    status = btree_create(&tree, d->access.txn);
    if (status)
        return status;
    v[CLASS_relfilenode] = value_oid(tree.file);
    status = ddl_class_update(d, &row, v);
    if (status)
        return status;
    btree_drop(&old, d->access.txn);
    ddl_changed(d);
    status = ddl_table(d, table_oid, &table);
    return status ? status : index_build(d->session, table, table_index(table, index_oid));
}

static enum status reindex_table(struct ddl *d, uint32_t oid)
{
    const struct table *table;
    enum status status = ddl_lock(d, oid, LOCK_ACCESS_EXCLUSIVE);   /* readers of the old files are gone before those are */
    if (!status) {
        catalog_refresh(d->session);
        status = catalog_table(d->session, oid, &table);
    }
    if (status || !table || table->system)
        return status;
    uint16_t count = table->index_count;
    uint32_t *indexes = arena_array(d->arena, uint32_t, count + 1);
    for (uint16_t i = 0; i < count; i++)
        indexes[i] = table->indexes[i].oid;
    for (uint16_t i = 0; !status && i < count; i++)
        status = index_rebuild(d, oid, indexes[i]);
    return status;
}

struct tables { struct ddl *d; uint32_t schema; struct users users; };
static enum status table_noted(void *context, const struct table *table)
{
    struct tables *tables = context;
    if (table->kind == RELATION_TABLE && !table->system && table->schema != SCHEMA_PG_CATALOG && (!tables->schema || tables->schema == table->schema))
        users_add(tables->d, &tables->users, table->oid);
    return STATUS_OK;
}

enum status reindex(struct ddl *d, const struct reindex_statement *s)
{
    const struct table *table;
    const struct index *index;
    enum status status;
    switch (s->kind) {
    case REINDEX_INDEX:
        status = catalog_find_index(d->session, s->relation->schema, s->relation->name, &table, &index);
        if (status)
            return status;
        if (!index) {
            status = catalog_find(d->session, s->relation->schema, s->relation->name, &table);
            if (!status && table)
                return error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not an index", s->relation->name);
            return status ? status : ddl_fail(s->relation->position, STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", s->relation->name);
        }
        uint32_t oid = index->oid, of = table->oid;
        status = ddl_refuse_system(table);
        if (!status)
            status = ddl_lock(d, of, LOCK_ACCESS_EXCLUSIVE);
        if (!status)
            catalog_refresh(d->session);
        return status ? status : index_rebuild(d, of, oid);
    case REINDEX_TABLE:
        status = ddl_open(d, s->relation, LOCK_ACCESS_EXCLUSIVE, &table);
        if (!status && table->kind != RELATION_TABLE)
            status = error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a table or materialized view", table->name);
        if (!status && !table->index_count)
            session_notice(d->session, "NOTICE", "00000", "table \"%s\" has no indexes to reindex", table->name);
        return status ? status : reindex_table(d, table->oid);
    case REINDEX_SYSTEM: return ddl_unsupported("REINDEX SYSTEM is");
    case REINDEX_SCHEMA: case REINDEX_DATABASE: break;
    }
    struct tables tables = {.d = d};
    if (s->kind == REINDEX_SCHEMA) {
        status = catalog_schema(d->session, s->relation->name, &tables.schema);
        if (!status && !tables.schema)
            status = error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", s->relation->name);
        if (status)
            return status;
    } else if (s->relation && strcmp(s->relation->name, session_database(d->session))) {
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "can only reindex the currently open database");
    }
    status = catalog_each(d->session, table_noted, &tables);
    for (uint32_t i = 0; !status && i < tables.users.count; i++)
        status = reindex_table(d, tables.users.oids[i]);
    return status;
}
