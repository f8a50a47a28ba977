/* engine/ddl_constraint.c - CHECK, PRIMARY KEY, UNIQUE and FOREIGN KEY: their rows, their names, and whether existing rows keep them. */
#include "engine/ddl.h"

#include <string.h>

/* ---------------------------------------------------------------- what bound expressions do */

char scalar_volatility(const struct scalar *s)
{
    char worst = IMMUTABLE;
    if (!s)
        return worst;
    const struct function *f = s->kind == SCALAR_CALL ? s->call.function : s->kind == SCALAR_ANY_ARRAY ? s->any.function : NULL;
    if (f)
        worst = f->volatility;
    for (int32_t i = 0; i < s->arg_count && worst != VOLATILE; i++) {
        char inner = scalar_volatility(s->args[i]);
        if (inner == VOLATILE || (inner == STABLE && worst == IMMUTABLE))
            worst = inner;
    }
    return worst;
}

/* ---------------------------------------------------------------- rows */

struct constraint_row {
    const char *name; uint32_t schema; char kind;
    bool deferrable, deferred, validated, no_inherit;
    uint32_t table, index, referenced;
    uint16_t column_count; const int16_t *columns, *referenced_columns;
    char on_update, on_delete, match;
    const char *check;
};

static enum status constraint_insert(struct ddl *d, const struct constraint_row *c, uint32_t *oid)
{
    struct value v[CONSTRAINT_COLUMNS];
    memset(v, 0, sizeof v);
    *oid = catalog_new_oid(d->access.store);
    v[CONSTRAINT_oid] = value_oid(*oid);
    v[CONSTRAINT_conname] = value_text(c->name);
    v[CONSTRAINT_connamespace] = value_oid(c->schema);
    v[CONSTRAINT_contype] = value_char(c->kind);
    v[CONSTRAINT_condeferrable] = value_bool(c->deferrable);
    v[CONSTRAINT_condeferred] = value_bool(c->deferred);
    v[CONSTRAINT_convalidated] = value_bool(c->validated);
    v[CONSTRAINT_conrelid] = value_oid(c->table);
    v[CONSTRAINT_conindid] = value_oid(c->index);
    v[CONSTRAINT_confrelid] = value_oid(c->referenced);
    v[CONSTRAINT_confupdtype] = value_char(c->kind == 'f' ? c->on_update : ' ');
    v[CONSTRAINT_confdeltype] = value_char(c->kind == 'f' ? c->on_delete : ' ');
    v[CONSTRAINT_confmatchtype] = value_char(c->kind == 'f' ? c->match : ' ');
    v[CONSTRAINT_conislocal] = value_bool(true);
    v[CONSTRAINT_connoinherit] = value_bool(c->kind != 'c' || c->no_inherit);
    v[CONSTRAINT_conkey] = v[CONSTRAINT_confkey] = v[CONSTRAINT_conpfeqop] = v[CONSTRAINT_conppeqop] = v[CONSTRAINT_conffeqop] = v[CONSTRAINT_confdelsetcols] = v[CONSTRAINT_conexclop] = value_null();
    v[CONSTRAINT_conbin] = value_text(c->check);
    enum status status = STATUS_OK;
    if (c->column_count)
        status = ddl_numbers(d, 1005, c->columns, c->column_count, &v[CONSTRAINT_conkey]);
    if (!status && c->kind == 'f')
        status = ddl_numbers(d, 1005, c->referenced_columns, c->column_count, &v[CONSTRAINT_confkey]);
    if (!status)
        status = catalog_insert(&d->access, CATALOG_CONSTRAINT, v);
    if (status == STATUS_UNIQUE_VIOLATION)
        status = error_set(STATUS_DUPLICATE_OBJECT, "constraint \"%s\" already exists", c->name);
    return status;
}

struct find { const char *name; struct catalog_row *out; bool found; };
static enum status find_row(void *context, const struct catalog_row *row)
{
    struct find *find = context;
    const struct varlen *name = &row->values[CONSTRAINT_conname].v;
    if (name->length != strlen(find->name) || memcmp(name->bytes, find->name, name->length))
        return STATUS_OK;
    *find->out = *row;
    find->found = true;
    return STATUS_STOP;
}

enum status constraint_find(struct ddl *d, uint32_t table, const char *name, struct catalog_row *out, bool *found)
{
    struct find find = {.name = name, .out = out};
    struct value key = value_oid(table);
    enum status status = catalog_scan(&d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_TABLE, &key, 1, find_row, &find);
    *found = find.found;
    return status;
}

static enum status name_free(struct ddl *d, const struct table *table, const struct constraint_definition *c)
{
    bool taken = false;
    if (!c->name)
        return STATUS_OK;
    enum status status = ddl_constraint_exists(d, table->schema, table->oid, c->name, &taken);
    if (!status && taken)
        status = error_set(STATUS_DUPLICATE_OBJECT, "constraint \"%s\" for relation \"%s\" already exists", c->name, table->name);
    return status;
}

/* ---------------------------------------------------------------- do existing rows keep it? */

enum status check_not_null(struct ddl *d, const struct table *table, const char *column)
{
    bool any;
    char *sql = arena_printf(d->arena, "SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", ddl_qualified(d->arena, table->schema_name, table->name), quote_identifier(d->arena, column));
    enum status status = ddl_query_any(d, sql, &any);
    if (!status && any) {
        status = error_set(STATUS_NOT_NULL_VIOLATION, "column \"%s\" of relation \"%s\" contains null values", column, table->name);
        error_names(table->schema_name, table->name, column, NULL);
    }
    return status;
}

enum status check_rows(struct ddl *d, const struct table *table, const char *name, const char *text)
{
    bool any;
    char *sql = arena_printf(d->arena, "SELECT 1 FROM %s WHERE NOT (%s) LIMIT 1", ddl_qualified(d->arena, table->schema_name, table->name), text);
    enum status status = ddl_query_any(d, sql, &any);
    if (!status && any) {
        status = error_set(STATUS_CHECK_VIOLATION, "check constraint \"%s\" of relation \"%s\" is violated by some row", name, table->name);
        error_names(table->schema_name, table->name, NULL, name);
    }
    return status;
}

enum status foreign_key_check_rows(struct ddl *d, uint32_t table_oid, const char *name)
{
    const struct table *table, *referenced;
    const struct foreign_key *key = NULL;
    enum status status = ddl_table(d, table_oid, &table);
    if (status)
        return status;
    for (uint16_t i = 0; i < table->foreign_key_count; i++)
        if (!strcmp(table->foreign_keys[i].name, name))
            key = &table->foreign_keys[i];
    ASSERT(key);
    status = ddl_table(d, key->referenced, &referenced);
    if (status)
        return status;
    struct text_buffer list, on, nulls, names;
    text_buffer_open(&list, d->arena);
    text_buffer_open(&on, d->arena);
    text_buffer_open(&nulls, d->arena);
    text_buffer_open(&names, d->arena);
    for (uint16_t i = 0; i < key->column_count; i++) {
        const char *plain = table->columns[key->columns[i] - 1].name;
        const char *a = quote_identifier(d->arena, plain), *b = quote_identifier(d->arena, referenced->columns[key->referenced_columns[i] - 1].name);
        text_buffer_printf(&list, "%sfk.%s::text", i ? ", " : "", a);
        text_buffer_printf(&on, "%spk.%s = fk.%s", i ? " AND " : "", b, a);
        text_buffer_printf(&nulls, "%sfk.%s IS NOT NULL", i ? key->match == MATCH_FULL ? " OR " : " AND " : "", a);
        text_buffer_printf(&names, "%s%s", i ? ", " : "", plain);
    }
    char *sql = arena_printf(d->arena, "SELECT %s FROM ONLY %s fk LEFT JOIN ONLY %s pk ON %s WHERE pk.%s IS NULL AND (%s) LIMIT 1", list.bytes, ddl_qualified(d->arena, table->schema_name, table->name),
                             ddl_qualified(d->arena, referenced->schema_name, referenced->name), on.bytes, quote_identifier(d->arena, referenced->columns[key->referenced_columns[0] - 1].name), nulls.bytes);
    char **cells;
    uint16_t count;
    status = ddl_query_row(d, sql, &cells, &count);
    if (status || !cells)
        return status;
    struct text_buffer values;
    text_buffer_open(&values, d->arena);
    bool mixed = false;
    for (uint16_t i = 0; i < count; i++) {
        mixed = mixed || !cells[i];
        text_buffer_printf(&values, "%s%s", i ? ", " : "", cells[i] ? cells[i] : "null");
    }
    error_set(STATUS_FOREIGN_KEY_VIOLATION, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", table->name, name);
    if (mixed)
        error_detail("MATCH FULL does not allow mixing of null and nonnull key values.");
    else
        error_detail("Key (%s)=(%s) is not present in table \"%s\".", names.bytes, values.bytes, referenced->name);
    error_names(table->schema_name, table->name, NULL, name);
    return STATUS_FOREIGN_KEY_VIOLATION;
}

/* ---------------------------------------------------------------- CHECK */

static enum status check_add(struct ddl *d, const struct table *table, const struct constraint_definition *c, bool existing)
{
    struct scalar *bound;
    enum status status = name_free(d, table, c);
    if (!status)
        status = bind_expression(d->session, d->arena, d->sql, c->expr, table, type_make(OID_BOOL, -1), "check constraint", &bound);
    if (status)
        return status;
    const char **names;
    uint16_t count = expr_columns(d, c->expr, &names);
    int16_t *columns = arena_array(d->arena, int16_t, count + 1);
    uint16_t column_count = 0;
    for (uint16_t i = 0; i < count; i++) {
        int at = table_column(table, names[i]);
        if (at >= 0)
            columns[column_count++] = (int16_t)(at + 1);
    }
    char *name = c->name;
    if (!name)
        status = ddl_choose_name(d, table->name, column_count == 1 ? names[0] : NULL, "check", table->schema, false, true, &name);
    if (status)
        return status;
    expr_qualify(d, c->expr);
    char *text = deparse_expr(d->arena, c->expr);
    struct constraint_row row = {.name = name, .schema = table->schema, .kind = 'c', .validated = !c->not_valid, .no_inherit = c->no_inherit, .table = table->oid, .column_count = column_count, .columns = columns, .check = text};
    uint32_t oid;
    status = constraint_insert(d, &row, &oid);
    if (!status)
        status = ddl_class_flags(d, table->oid, 1, false, false);
    if (!status && existing && !c->not_valid)
        status = check_rows(d, table, name, text);
    return status;
}

/* ---------------------------------------------------------------- PRIMARY KEY, UNIQUE */

static enum status columns_not_null(struct ddl *d, const struct table *table, const int16_t *columns, uint16_t count, bool existing)
{
    enum status status = STATUS_OK;
    for (uint16_t i = 0; !status && i < count; i++) {
        const struct column *column = &table->columns[columns[i] - 1];
        struct catalog_row row;
        struct value *v;
        if (column->not_null)
            continue;
        if (existing)
            status = check_not_null(d, table, column->name);
        if (!status)
            status = ddl_attribute_get(d, table->oid, columns[i], &row, &v);
        if (status)
            return status;
        v[ATTRIBUTE_attnotnull] = value_bool(true);
        status = catalog_update(&d->access, CATALOG_ATTRIBUTE, row.row_id, v);
    }
    return status;
}

static enum status key_using_index(struct ddl *d, const struct table *table, const struct constraint_definition *c, bool existing)
{
    const struct index *index = NULL;
    bool primary = c->kind == CONSTRAINT_PRIMARY_KEY;
    for (uint16_t i = 0; i < table->index_count; i++)
        if (!strcmp(table->indexes[i].name, c->using_index))
            index = &table->indexes[i];
    if (!index)
        return ddl_fail(c->position, STATUS_UNDEFINED_OBJECT, "index \"%s\" does not exist", c->using_index);
    if (index->constraint)
        return ddl_fail(c->position, STATUS_OBJECT_NOT_READY, "index \"%s\" is already associated with a constraint", index->name);
    if (!index->unique) {
        ddl_fail(c->position, STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a unique index", index->name);
        error_detail("Cannot create a primary key or unique constraint using such an index.");
        return STATUS_WRONG_OBJECT_TYPE;
    }
    int16_t *columns = arena_array(d->arena, int16_t, index->column_count);
    for (uint16_t i = 0; i < index->column_count; i++) {
        columns[i] = index->columns[i].column;
        if (!columns[i] || index->predicate) {
            ddl_fail(c->position, STATUS_WRONG_OBJECT_TYPE, index->predicate ? "\"%s\" is a partial index" : "index \"%s\" contains expressions", index->name);
            error_detail("Cannot create a primary key or unique constraint using such an index.");
            return STATUS_WRONG_OBJECT_TYPE;
        }
    }
    const char *name = c->name ? c->name : index->name;
    uint32_t index_oid = index->oid, oid;
    char *old_name = arena_strdup(d->arena, index->name);
    enum status status = primary ? columns_not_null(d, table, columns, index->column_count, existing) : STATUS_OK;
    if (!status && strcmp(name, old_name)) {
        session_notice(d->session, "NOTICE", "00000", "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" to \"%s\"", old_name, name);
        status = rename_relation(d, index_oid, 'i', table->schema, old_name, name);
    }
    if (!status && primary) {
        struct value key = value_oid(index_oid);
        struct catalog_row row;
        bool found;
        status = catalog_get(&d->access, CATALOG_INDEX, INDEX_BY_OID, &key, 1, &row, &found);
        if (!status && found) {
            struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * INDEX_COLUMNS);
            v[INDEX_indisprimary] = value_bool(true);
            status = catalog_update(&d->access, CATALOG_INDEX, row.row_id, v);
        }
    }
    struct constraint_row row = {.name = name, .schema = table->schema, .kind = primary ? 'p' : 'u', .validated = true, .table = table->oid, .index = index_oid, .column_count = index->column_count, .columns = columns};
    return status ? status : constraint_insert(d, &row, &oid);
}

static enum status key_add(struct ddl *d, const struct table *table, const struct constraint_definition *c, bool existing)
{
    bool primary = c->kind == CONSTRAINT_PRIMARY_KEY;
    if (primary && table->primary_key)
        return ddl_fail(existing ? 0 : c->position, STATUS_INVALID_TABLE_DEFINITION, "multiple primary keys for table \"%s\" are not allowed", table->name);
    if (c->deferrable || c->initially_deferred)
        return ddl_unsupported("deferrable unique constraints are");
    if (c->include.count)
        return ddl_unsupported("INCLUDE columns are");
    enum status status = name_free(d, table, c);
    if (status)
        return status;
    if (c->using_index)
        return key_using_index(d, table, c, existing);
    const struct table *before = table;                       /* stays readable until the statement ends */
    if (c->columns.count > HEAP_COLUMNS_MAX)
        return error_set(STATUS_TOO_MANY_COLUMNS, "cannot use more than 32 columns in an index");
    uint16_t count = (uint16_t)c->columns.count;
    int16_t *columns = arena_array(d->arena, int16_t, count + 1);
    struct index_element **elements = arena_array(d->arena, struct index_element *, count + 1);
    struct text_buffer addition;
    text_buffer_open(&addition, d->arena);
    for (uint16_t i = 0; i < count; i++) {
        int position = d->altering ? 0 : c->position;
        int at = table_column(table, c->columns.items[i]);
        if (at < 0)
            return ddl_fail(position, STATUS_UNDEFINED_COLUMN, "column \"%s\" named in key does not exist", c->columns.items[i]);
        for (uint16_t k = 0; k < i; k++)
            if (columns[k] == at + 1)
                return ddl_fail(position, STATUS_DUPLICATE_COLUMN, "column \"%s\" appears twice in %s constraint", c->columns.items[i], primary ? "primary key" : "unique");
        columns[i] = (int16_t)(at + 1);
        elements[i] = arena_new(d->arena, struct index_element);
        elements[i]->column = c->columns.items[i];
        elements[i]->position = position;
        text_buffer_printf(&addition, "%s%s", i ? "_" : "", c->columns.items[i]);
    }
    char *name = c->name;
    if (!name) {
        status = ddl_choose_name(d, table->name, primary ? NULL : addition.bytes, primary ? "pkey" : "key", table->schema, true, true, &name);
    } else {
        uint32_t exists;
        char kind;
        status = ddl_relation_oid(d, table->schema, name, &exists, &kind);
        if (!status && exists)
            status = error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", name);
    }
    if (!status && primary)
        status = columns_not_null(d, table, columns, count, false);
    if (!status && primary && existing) {
        uint32_t oid = table->oid;
        ddl_changed(d);
        status = ddl_table(d, oid, &table);
    }
    struct new_index index = {.name = name, .schema = table->schema, .table = table, .unique = true, .primary = primary, .nulls_not_distinct = c->nulls_not_distinct, .constraint = true,
                              .column_count = count, .columns = elements, .options = c->options.count ? &c->options : NULL};
    uint32_t index_oid = 0, oid, table_oid = table->oid;
    bool *had_nulls = arena_array(d->arena, bool, count + 1);
    for (uint16_t i = 0; i < count; i++)
        had_nulls[i] = primary && existing && !before->columns[columns[i] - 1].not_null;
    if (!status)
        status = index_create(d, &index, existing, &index_oid);
    for (uint16_t i = 0; !status && i < count; i++)           /* after the index: of two faults PostgreSQL tells the duplicate first */
        if (had_nulls[i]) {
            status = ddl_table(d, table_oid, &table);
            if (!status)
                status = check_not_null(d, table, c->columns.items[i]);
        }
    struct constraint_row row = {.name = name, .schema = before->schema, .kind = primary ? 'p' : 'u', .validated = true, .table = table_oid, .index = index_oid, .column_count = count, .columns = columns};
    return status ? status : constraint_insert(d, &row, &oid);
}

/* ---------------------------------------------------------------- FOREIGN KEY */

static char action_char(enum foreign_action action)
{
    static const char chars[] = {[ACTION_NO_ACTION] = 'a', [ACTION_RESTRICT] = 'r', [ACTION_CASCADE] = 'c', [ACTION_SET_NULL] = 'n', [ACTION_SET_DEFAULT] = 'd'};
    return chars[action];
}

static bool integer_type(uint32_t oid) { return oid == OID_INT2 || oid == OID_INT4 || oid == OID_INT8; }

/* May a value of `from` be looked up among values of `to`? */
static bool comparable(uint32_t to, uint32_t from)
{
    bool binary;
    if (to == from || (integer_type(to) && integer_type(from)))
        return true;
    return cast_find(from, to, CAST_IMPLICIT, &binary) != NULL || binary;
}

static enum status foreign_key_add(struct ddl *d, const struct table *table, const struct constraint_definition *c, bool existing)
{
    const struct table *referenced;
    if (c->match == MATCH_PARTIAL)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "MATCH PARTIAL not yet implemented");
    if (c->delete_columns.count)
        return ddl_unsupported("ON DELETE SET with a column list is");
    uint32_t table_oid = table->oid;
    enum status status = catalog_open(d->session, c->references, LOCK_SHARE_ROW_EXCLUSIVE, &referenced);
    if (status)
        error_current()->position = 0;
    else
        status = ddl_table(d, table_oid, &table);
    if (status)
        return status;
    if (referenced->kind != RELATION_TABLE || referenced->virtual_table)
        return error_set(STATUS_WRONG_OBJECT_TYPE, "referenced relation \"%s\" is not a table", referenced->name);
    status = ddl_refuse_system(referenced);
    if (!status)
        status = name_free(d, table, c);
    if (status)
        return status;
    if (c->columns.count > HEAP_COLUMNS_MAX || c->referenced.count > HEAP_COLUMNS_MAX)
        return error_set(STATUS_TOO_MANY_COLUMNS, "cannot have more than 32 keys in a foreign key");
    uint16_t count = (uint16_t)c->columns.count;
    int16_t *columns = arena_array(d->arena, int16_t, count + 1), *targets = arena_array(d->arena, int16_t, count + 1);
    struct text_buffer addition;
    text_buffer_open(&addition, d->arena);
    for (uint16_t i = 0; i < count; i++) {
        int at = table_column(table, c->columns.items[i]);
        if (at < 0)
            return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" referenced in foreign key constraint does not exist", c->columns.items[i]);
        columns[i] = (int16_t)(at + 1);
        text_buffer_printf(&addition, "%s%s", i ? "_" : "", c->columns.items[i]);
    }
    const struct index *index = NULL;
    if (!c->referenced.count) {
        index = referenced->primary_key ? table_index(referenced, referenced->primary_key) : NULL;
        if (!index)
            return error_set(STATUS_UNDEFINED_OBJECT, "there is no primary key for referenced table \"%s\"", referenced->name);
        if (index->column_count != count)
            return error_set(STATUS_INVALID_FOREIGN_KEY, "number of referencing and referenced columns for foreign key disagree");
        for (uint16_t i = 0; i < count; i++)
            targets[i] = index->columns[i].column;
    } else {
        if (c->referenced.count != count)
            return error_set(STATUS_INVALID_FOREIGN_KEY, "number of referencing and referenced columns for foreign key disagree");
        for (uint16_t i = 0; i < count; i++) {
            int at = table_column(referenced, c->referenced.items[i]);
            if (at < 0)
                return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" referenced in foreign key constraint does not exist", c->referenced.items[i]);
            targets[i] = (int16_t)(at + 1);
            for (uint16_t k = 0; k < i; k++)
                if (targets[k] == targets[i])
                    return error_set(STATUS_INVALID_FOREIGN_KEY, "foreign key referenced-columns list must not contain duplicates");
        }
        for (uint16_t x = 0; x < referenced->index_count && !index; x++) {
            const struct index *candidate = &referenced->indexes[x];
            bool match = candidate->unique && candidate->valid && !candidate->predicate && candidate->column_count == count;
            for (uint16_t i = 0; match && i < count; i++) {
                bool among = false;
                for (uint16_t k = 0; k < count; k++)
                    among = among || candidate->columns[k].column == targets[i];
                match = among;
            }
            if (match)
                index = candidate;
        }
        if (!index)
            return error_set(STATUS_INVALID_FOREIGN_KEY, "there is no unique constraint matching given keys for referenced table \"%s\"", referenced->name);
    }
    char *name = c->name;
    if (!name)
        status = ddl_choose_name(d, table->name, addition.bytes, "fkey", table->schema, false, true, &name);
    if (status)
        return status;
    for (uint16_t i = 0; i < count; i++) {
        const struct column *from = &table->columns[columns[i] - 1], *to = &referenced->columns[targets[i] - 1];
        if (!comparable(to->type.oid, from->type.oid)) {
            error_set(STATUS_DATATYPE_MISMATCH, "foreign key constraint \"%s\" cannot be implemented", name);
            error_detail("Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.", from->name, to->name, type_format(from->type.oid, from->type.typmod, d->arena), type_format(to->type.oid, to->type.typmod, d->arena));
            return STATUS_DATATYPE_MISMATCH;
        }
    }
    struct constraint_row row = {.name = name, .schema = table->schema, .kind = 'f', .deferrable = c->deferrable, .deferred = c->initially_deferred, .validated = !c->not_valid, .no_inherit = true, .table = table_oid,
                                 .index = index->oid, .referenced = referenced->oid, .column_count = count, .columns = columns, .referenced_columns = targets, .on_update = action_char(c->on_update),
                                 .on_delete = action_char(c->on_delete), .match = c->match == MATCH_FULL ? 'f' : 's'};
    uint32_t oid, referenced_oid = referenced->oid;
    status = constraint_insert(d, &row, &oid);
    if (!status)
        status = ddl_class_flags(d, table_oid, 0, false, true);
    if (!status && referenced_oid != table_oid)
        status = ddl_class_flags(d, referenced_oid, 0, false, true);
    if (!status && existing && !c->not_valid) {
        ddl_changed(d);
        status = foreign_key_check_rows(d, table_oid, name);
    }
    return status;
}

/* ---------------------------------------------------------------- adding, validating, dropping */

enum status constraint_add(struct ddl *d, uint32_t table_oid, const struct constraint_definition *c, bool existing)
{
    const struct table *table;
    enum status status = ddl_table(d, table_oid, &table);
    if (status)
        return status;
    switch (c->kind) {
    case CONSTRAINT_CHECK: status = check_add(d, table, c, existing); break;
    case CONSTRAINT_PRIMARY_KEY: case CONSTRAINT_UNIQUE: status = key_add(d, table, c, existing); break;
    case CONSTRAINT_FOREIGN_KEY: status = foreign_key_add(d, table, c, existing); break;
    case CONSTRAINT_EXCLUDE: return ddl_unsupported("EXCLUDE constraints are");
    default: return error_set(STATUS_INTERNAL, "not a table constraint");
    }
    if (!status)
        ddl_changed(d);
    return status;
}

enum status constraint_validate(struct ddl *d, uint32_t table_oid, const char *name)
{
    const struct table *table;
    struct catalog_row row;
    bool found;
    enum status status = ddl_table(d, table_oid, &table);
    if (!status)
        status = constraint_find(d, table_oid, name, &row, &found);
    if (status)
        return status;
    if (!found)
        return error_set(STATUS_UNDEFINED_OBJECT, "constraint \"%s\" of relation \"%s\" does not exist", name, table->name);
    char kind = (char)row.values[CONSTRAINT_contype].c;
    if (kind != 'c' && kind != 'f')
        return error_set(STATUS_WRONG_OBJECT_TYPE, "constraint \"%s\" of relation \"%s\" is not a foreign key or check constraint", name, table->name);
    if (row.values[CONSTRAINT_convalidated].b)
        return STATUS_OK;
    status = kind == 'f' ? foreign_key_check_rows(d, table_oid, name) : check_rows(d, table, name, value_string(d->arena, &row.values[CONSTRAINT_conbin]));
    if (status)
        return status;
    struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * CONSTRAINT_COLUMNS);
    v[CONSTRAINT_convalidated] = value_bool(true);
    status = catalog_update(&d->access, CATALOG_CONSTRAINT, row.row_id, v);
    if (!status)
        ddl_changed(d);
    return status;
}

enum status constraint_drop(struct ddl *d, const struct table *table, const char *name, bool if_exists, bool cascade)
{
    struct catalog_row row;
    bool found;
    uint32_t table_oid = table->oid;
    enum status status = constraint_find(d, table_oid, name, &row, &found);
    if (status)
        return status;
    if (!found) {
        if (!if_exists)
            return error_set(STATUS_UNDEFINED_OBJECT, "constraint \"%s\" of relation \"%s\" does not exist", name, table->name);
        session_notice(d->session, "NOTICE", "00000", "constraint \"%s\" of relation \"%s\" does not exist, skipping", name, table->name);
        return STATUS_OK;
    }
    char kind = (char)row.values[CONSTRAINT_contype].c;
    uint32_t index_oid = row.values[CONSTRAINT_conindid].oid, oid = row.values[CONSTRAINT_oid].oid;
    if (kind == 'p' || kind == 'u') {
        const struct index *index = table_index(table, index_oid);
        status = index ? drop_index_dependents(d, table, index, arena_printf(d->arena, "constraint %s on table %s", name, table->name), cascade) : STATUS_OK;
        if (!status && index)
            status = ddl_lock(d, index_oid, LOCK_ACCESS_EXCLUSIVE);
        if (!status)
            status = ddl_table(d, table_oid, &table);
        if (!status && (index = table_index(table, index_oid)))
            status = index_drop(d, table, index);
    }
    struct value key = value_oid(oid);
    if (!status && kind == 'f')                               /* the other side's descriptor changes too */
        status = ddl_lock(d, row.values[CONSTRAINT_confrelid].oid, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_OID, &key, 1);
    if (!status)
        status = ddl_description_delete(d, oid, 2606);
    if (!status && kind == 'c')
        status = ddl_class_flags(d, table_oid, -1, false, false);
    if (!status)
        ddl_changed(d);
    return status;
}
