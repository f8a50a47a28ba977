/* engine/ddl_alter.c - ALTER TABLE, INDEX, VIEW, SEQUENCE, SCHEMA.
 *
 * The actions of one statement run in PostgreSQL's passes, whatever order they are written in: drops, types, new columns, what
 * columns are (NOT NULL), keys, other constraints and defaults, the rest. */
#include "engine/catalog/views.h"
#include "engine/ddl.h"

#include <string.h>

/* ---------------------------------------------------------------- columns */

static enum status column_find(const struct table *table, const char *name, int *at)
{
    *at = table_column(table, name);
    if (*at < 0)
        return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", name, table->name);
    return STATUS_OK;
}

static enum status natts_set(struct ddl *d, uint32_t table, uint16_t count)
{
    struct catalog_row row;
    struct value *v;
    enum status status = ddl_class_get(d, table, &row, &v);
    if (status)
        return status;
    v[CLASS_relnatts] = value_i2((int16_t)count);
    return ddl_class_update(d, &row, v);
}

static enum status add_column(struct ddl *d, const struct table *table, const struct alter_action *a, struct new_constraints *constraints)
{
    uint32_t oid = table->oid;
    if (table_column(table, a->column->name) >= 0) {
        if (!a->if_not_exists)
            return error_set(STATUS_DUPLICATE_COLUMN, "column \"%s\" of relation \"%s\" already exists", a->column->name, table->name);
        session_notice(d->session, "NOTICE", "42701", "column \"%s\" of relation \"%s\" already exists, skipping", a->column->name, table->name);
        return STATUS_OK;
    }
    if (table->column_count >= HEAP_COLUMNS_MAX)
        return error_set(STATUS_TOO_MANY_COLUMNS, "tables can have at most %d columns", HEAP_COLUMNS_MAX);
    struct new_column c;
    struct scalar *bound = NULL;
    enum status status = column_define(d, table->name, a->column, &c, constraints);
    int16_t number = (int16_t)(table->column_count + 1);
    if (!status)
        status = column_default(d, table, &c, &bound);
    if (status)
        return status;
    if (c.sequence_type) {
        char *name;
        uint32_t schema;
        status = sequence_choose_name(d, table->name, c.name, table->schema, c.sequence_options, &schema, &name);
        if (!status)
            status = sequence_make(d, schema, name, c.sequence_type, c.sequence_options, oid, number, &c.sequence);
        if (status)
            return status;
        ddl_changed(d);
        status = ddl_table(d, oid, &table);
        if (status)
            return status;
        c.default_text = arena_printf(d->arena, "nextval(%s::regclass)", quote_literal(d->arena, ddl_qualified(d->arena, table->schema_name, name)));
    }
    bool rewrite = c.generated || c.sequence || (bound && scalar_volatility(bound) == VOLATILE);
    struct value missing;
    bool has_missing = false, any = false;
    if (bound && !rewrite) {
        status = exec_scalar(d->session, bound, NULL, d->arena, &missing);
        has_missing = !status && !missing.null;
    }
    if (!status && !rewrite && c.not_null && !has_missing) {
        status = ddl_query_any(d, arena_printf(d->arena, "SELECT 1 FROM %s LIMIT 1", ddl_qualified(d->arena, table->schema_name, table->name)), &any);
        if (!status && any) {
            status = error_set(STATUS_NOT_NULL_VIOLATION, "column \"%s\" of relation \"%s\" contains null values", c.name, table->name);
            error_names(table->schema_name, table->name, c.name, NULL);
        }
    }
    bool nullable = !c.not_null || (!rewrite && !has_missing);
    struct heap_column *layout = arena_array(d->arena, struct heap_column, number);
    memcpy(layout, table->heap.columns, sizeof *layout * table->column_count);
    layout[number - 1] = (struct heap_column){.width = c.type.width, .nullable = nullable, .missing_null = true};
    if (!status)
        status = heap_layout_check(layout, (uint16_t)number);
    if (!status && rewrite) {
        struct rewrite_column *columns = arena_array(d->arena, struct rewrite_column, number);
        rewrite_columns(d, table, columns);
        columns[number - 1] = (struct rewrite_column){.name = c.name, .type = c.type, .nullable = nullable, .not_null = c.not_null, .expr = arena_printf(d->arena, "(%s)", c.default_text)};
        status = table_rewrite(d, table, columns, (uint16_t)number);
    }
    if (!status)
        status = views_add_column(d, table, c.name);
    bool keeps_default = c.default_text && !c.identity;
    struct attribute_row attribute = {.name = c.name, .type = c.type, .number = number, .dimensions = c.dimensions, .not_null = c.not_null, .nullable = nullable, .has_default = keeps_default,
                                      .identity = c.identity, .generated = c.generated, .sequence = c.sequence, .missing = has_missing ? &missing : NULL};
    if (!status)
        status = ddl_attribute_insert(d, oid, &attribute);
    if (!status)
        status = natts_set(d, oid, (uint16_t)number);
    if (!status && keeps_default)
        status = ddl_default_insert(d, oid, number, c.default_text);
    if (!status)
        ddl_changed(d);
    return status || !rewrite ? status : table_reindex(d, oid);
}

static enum status attribute_change(struct ddl *d, uint32_t table, int at, void (*change)(struct value *, const void *), const void *context)
{
    struct catalog_row row;
    struct value *v;
    enum status status = ddl_attribute_get(d, table, (int16_t)(at + 1), &row, &v);
    if (status)
        return status;
    change(v, context);
    status = catalog_update(&d->access, CATALOG_ATTRIBUTE, row.row_id, v);
    if (!status)
        ddl_changed(d);
    return status;
}

static void change_default(struct value *v, const void *has)
{
    v[ATTRIBUTE_atthasdef] = value_bool(*(const bool *)has);
    if (!v[ATTRIBUTE_attidentity].c)
        v[ATTRIBUTE_crab_sequence] = value_oid(0);
}
static void change_not_null(struct value *v, const void *set) { v[ATTRIBUTE_attnotnull] = value_bool(*(const bool *)set); }
static void change_nullable(struct value *v, const void *unused)
{
    (void)unused;
    v[ATTRIBUTE_attnotnull] = value_bool(false);
    v[ATTRIBUTE_crab_nullable] = value_bool(true);
}
static void change_name(struct value *v, const void *name) { v[ATTRIBUTE_attname] = value_text(name); }
static void change_target(struct value *v, const void *number) { v[ATTRIBUTE_attstattarget] = value_i4(*(const int *)number); }
static void change_storage(struct value *v, const void *storage) { v[ATTRIBUTE_attstorage] = value_char(*(const char *)storage); }

static enum status set_default(struct ddl *d, const struct table *table, const struct alter_action *a)
{
    int at;
    enum status status = column_find(table, a->name, &at);
    if (status)
        return status;
    const struct column *column = &table->columns[at];
    if (column->identity) {
        error_set(STATUS_SYNTAX, "column \"%s\" of relation \"%s\" is an identity column", a->name, table->name);
        if (a->kind == ALTER_DROP_DEFAULT)
            error_hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.");
        return STATUS_SYNTAX;
    }
    if (column->generated) {
        error_set(STATUS_SYNTAX, "column \"%s\" of relation \"%s\" is a generated column", a->name, table->name);
        if (a->kind == ALTER_DROP_DEFAULT)
            error_hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.");
        return STATUS_SYNTAX;
    }
    struct new_column c = {.name = a->name, .type = column->type, .default_expr = a->kind == ALTER_SET_DEFAULT ? a->expr : NULL};
    struct scalar *bound;
    uint32_t oid = table->oid;
    if (c.default_expr)
        status = column_default(d, table, &c, &bound);
    if (!status)
        status = ddl_default_delete(d, oid, (int16_t)(at + 1));
    if (!status && c.default_text)
        status = ddl_default_insert(d, oid, (int16_t)(at + 1), c.default_text);
    bool has = c.default_text != NULL;
    return status ? status : attribute_change(d, oid, at, change_default, &has);
}

static enum status set_not_null(struct ddl *d, const struct table *table, const char *name)
{
    int at;
    bool set = true;
    enum status status = column_find(table, name, &at);
    if (status || table->columns[at].not_null)
        return status;
    uint32_t oid = table->oid;
    status = check_not_null(d, table, name);
    return status ? status : attribute_change(d, oid, at, change_not_null, &set);
}

static enum status drop_not_null(struct ddl *d, const struct table *table, const char *name)
{
    int at;
    enum status status = column_find(table, name, &at);
    if (status)
        return status;
    const struct column *column = &table->columns[at];
    if (column->identity)
        return error_set(STATUS_SYNTAX, "column \"%s\" of relation \"%s\" is an identity column", name, table->name);
    const struct index *key = table->primary_key ? table_index(table, table->primary_key) : NULL;
    for (uint16_t i = 0; key && i < key->column_count; i++)
        if (key->columns[i].column == at + 1)
            return error_set(STATUS_INVALID_TABLE_DEFINITION, "column \"%s\" is in a primary key", name);
    if (!column->not_null)
        return STATUS_OK;
    uint32_t oid = table->oid;
    bool rewrite = table->kind == RELATION_TABLE && !table->heap.columns[at].nullable;
    if (rewrite) {
        struct rewrite_column *columns = arena_array(d->arena, struct rewrite_column, table->column_count);
        rewrite_columns(d, table, columns);
        columns[at].nullable = true;
        status = table_rewrite(d, table, columns, table->column_count);
    }
    if (!status)
        status = attribute_change(d, oid, at, change_nullable, NULL);
    return status || !rewrite ? status : table_reindex(d, oid);
}

/* ---------------------------------------------------------------- ALTER COLUMN TYPE */

static void change_type(struct value *v, const void *context)
{
    const struct sql_type *type = context;
    const struct type_info *info = type_info(type->oid);
    v[ATTRIBUTE_atttypid] = value_oid(type->oid);
    v[ATTRIBUTE_atttypmod] = value_i4(type->typmod);
    v[ATTRIBUTE_attlen] = value_i2(info->length);
    v[ATTRIBUTE_attndims] = value_i4(type_is_array(type->oid) ? 1 : 0);
    v[ATTRIBUTE_attcollation] = value_oid(type_collation(info));
    v[ATTRIBUTE_attstorage] = value_char(info->length > 0 ? 'p' : type->oid == OID_NUMERIC ? 'm' : 'x');
    v[ATTRIBUTE_atthasmissing] = value_bool(false);
    v[ATTRIBUTE_attmissingval] = value_null();
}
static void change_type_only(struct value *v, const void *context)
{
    const struct sql_type *type = context;
    v[ATTRIBUTE_atttypid] = value_oid(type->oid);
    v[ATTRIBUTE_atttypmod] = value_i4(type->typmod);
}

static enum status cannot_cast(struct ddl *d, const char *what, struct sql_type to, const char *hint)
{
    error_set(STATUS_DATATYPE_MISMATCH, "%s cannot be cast automatically to type %s", what, type_format(to.oid, to.typmod, d->arena));
    if (hint)
        error_hint("%s", hint);
    return STATUS_DATATYPE_MISMATCH;
}

static bool assignable(uint32_t from, uint32_t to)
{
    bool binary;
    return from == to || cast_find(from, to, CAST_ASSIGNMENT, &binary) || binary;
}

static bool text_like(uint32_t oid) { return oid == OID_TEXT || oid == OID_VARCHAR; }

static enum status alter_type(struct ddl *d, const struct table *table, const struct alter_action *a)
{
    int at;
    struct sql_type type;
    uint32_t oid = table->oid;
    enum status status = column_find(table, a->name, &at);
    if (!status)
        status = ddl_type(d, a->type, &type);
    if (status)
        return status;
    const struct column *column = &table->columns[at];
    if (type_info(type.oid)->category == 'P' || type.oid == OID_UNKNOWN)
        return error_set(STATUS_INVALID_TABLE_DEFINITION, "column \"%s\" has pseudo-type %s", a->name, type_info(type.oid)->name);
    if (column->identity && type.oid != OID_INT2 && type.oid != OID_INT4 && type.oid != OID_INT8)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "identity column type must be smallint, integer, or bigint");
    struct users views = {0};
    status = views_using(d, oid, a->name, &views);
    if (!status && views.count) {
        const struct table *view;
        status = ddl_table(d, views.oids[0], &view);
        if (!status) {
            status = error_set(STATUS_FEATURE_NOT_SUPPORTED, "cannot alter type of a column used by a view or rule");
            error_detail("rule _RETURN on view %s depends on column \"%s\"", view->name, a->name);
        }
    }
    for (uint16_t i = 0; !status && i < table->column_count; i++)
        if (table->columns[i].generated && i != at && table->columns[i].default_expr && expr_uses_column(table->columns[i].default_expr, a->name)) {
            status = error_set(STATUS_SYNTAX, "cannot alter type of a column used by a generated column");
            error_detail("Column \"%s\" is used by generated column \"%s\".", a->name, table->columns[i].name);
        }
    if (status)
        return status;
    if (!a->expr && column->type.oid == type.oid && column->type.typmod == type.typmod)
        return STATUS_OK;
    if (a->expr) {
        struct scalar *bound;
        status = bind_expression(d->session, d->arena, d->sql, a->expr, table, (struct sql_type){0}, "transform expression", &bound);
        if (!status && !assignable(bound->type.oid, type.oid) && bound->type.oid != OID_UNKNOWN)
            status = cannot_cast(d, arena_printf(d->arena, "result of USING clause for column \"%s\"", a->name), type, "You might need to add an explicit cast.");
    } else if (!assignable(column->type.oid, type.oid)) {
        status = cannot_cast(d, arena_printf(d->arena, "column \"%s\"", a->name), type,
                             arena_printf(d->arena, "You might need to specify \"USING %s::%s\".", quote_identifier(d->arena, a->name), type_format(type.oid, type.typmod, d->arena)));
    }
    if (!status && column->default_text && !column->generated) {
        struct expr *e;
        struct scalar *bound;
        status = parse_expression(d->arena, column->default_text, strlen(column->default_text), &e);
        if (!status && bind_expression(d->session, d->arena, column->default_text, e, NULL, type, "DEFAULT expression", &bound))
            status = cannot_cast(d, arena_printf(d->arena, "default for column \"%s\"", a->name), type, NULL);
    }
    if (status)
        return status;
    bool same_bytes = !a->expr && text_like(column->type.oid) && text_like(type.oid) && (type.typmod < 0 || (column->type.typmod >= 0 && type.typmod >= column->type.typmod));
    if (same_bytes) {
        status = attribute_change(d, oid, at, change_type_only, &type);
    } else {
        struct rewrite_column *columns = arena_array(d->arena, struct rewrite_column, table->column_count);
        rewrite_columns(d, table, columns);
        columns[at].type = type;
        if (a->expr) {
            expr_qualify(d, a->expr);
            columns[at].expr = arena_printf(d->arena, "(%s)", deparse_expr(d->arena, a->expr));
        }
        status = table_rewrite(d, table, columns, table->column_count);
        if (!status)
            status = attribute_change(d, oid, at, change_type, &type);
        if (!status)
            status = ddl_table(d, oid, &table);
        /* index columns have types of their own */
        for (uint16_t i = 0; !status && i < table->index_count; i++) {
            uint32_t index_oid = table->indexes[i].oid;
            for (uint16_t k = 0; !status && k < table->indexes[i].column_count; k++)
                if (table->indexes[i].columns[k].column == at + 1) {
                    if (!type_comparable(type.oid))
                        status = error_set(STATUS_UNDEFINED_OBJECT, "data type %s has no default operator class for access method \"btree\"", type_format(type.oid, -1, d->arena));
                    else
                        status = attribute_change(d, index_oid, k, change_type_only, &type);
                    if (!status)
                        status = ddl_table(d, oid, &table);
                }
        }
        if (!status)
            status = table_reindex(d, oid);
    }
    struct value statistics[2] = {value_oid(oid), value_i2((int16_t)(at + 1))};
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_STATISTIC, FIRST_INDEX, statistics, 2);
    if (!status)
        ddl_changed(d);
    if (!status)
        status = ddl_table(d, oid, &table);
    /* Values may have changed: what rows must satisfy is asked again. */
    for (uint16_t i = 0; !status && !same_bytes && i < table->check_count; i++)
        if (expr_uses_column(table->checks[i].expr, table->columns[at].name)) {
            status = check_rows(d, table, table->checks[i].name, table->checks[i].text);
            if (!status)
                status = ddl_table(d, oid, &table);
        }
    for (uint16_t i = 0; !status && !same_bytes && i < table->foreign_key_count; i++)
        for (uint16_t k = 0; !status && k < table->foreign_keys[i].column_count; k++)
            if (table->foreign_keys[i].columns[k] == at + 1)
                status = foreign_key_check_rows(d, oid, table->foreign_keys[i].name);
    for (uint16_t i = 0; !status && !same_bytes && i < table->referenced_by_count; i++)
        for (uint16_t k = 0; !status && k < table->referenced_by[i].column_count; k++)
            if (table->referenced_by[i].referenced_columns[k] == at + 1)
                status = foreign_key_check_rows(d, table->referenced_by[i].table, table->referenced_by[i].name);
    return status;
}

/* ---------------------------------------------------------------- identity, expression */

static void change_identity(struct value *v, const void *context)
{
    const struct column *c = context;
    v[ATTRIBUTE_attidentity] = value_char(c->identity);
    v[ATTRIBUTE_crab_sequence] = value_oid(c->sequence);
    v[ATTRIBUTE_attnotnull] = value_bool(v[ATTRIBUTE_attnotnull].b || c->identity);
}
static void change_no_expression(struct value *v, const void *unused)
{
    (void)unused;
    v[ATTRIBUTE_attgenerated] = value_char(0);
    v[ATTRIBUTE_atthasdef] = value_bool(false);
}

static enum status identity(struct ddl *d, const struct table *table, const struct alter_action *a)
{
    int at;
    uint32_t oid = table->oid;
    enum status status = column_find(table, a->name, &at);
    if (status)
        return status;
    struct column change = table->columns[at];
    if (a->kind == ALTER_ADD_IDENTITY) {
        if (!change.not_null)
            return error_set(STATUS_OBJECT_NOT_READY, "column \"%s\" of relation \"%s\" must be declared NOT NULL before identity can be added", a->name, table->name);
        if (change.identity)
            return error_set(STATUS_OBJECT_NOT_READY, "column \"%s\" of relation \"%s\" is already an identity column", a->name, table->name);
        if (change.default_text)
            return error_set(STATUS_OBJECT_NOT_READY, "column \"%s\" of relation \"%s\" already has a default value", a->name, table->name);
        if (change.type.oid != OID_INT2 && change.type.oid != OID_INT4 && change.type.oid != OID_INT8)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "identity column type must be smallint, integer, or bigint");
        char *name;
        uint32_t schema;
        status = sequence_choose_name(d, table->name, a->name, table->schema, &a->constraint->options, &schema, &name);
        if (!status)
            status = sequence_make(d, schema, name, change.type.oid, &a->constraint->options, oid, (int16_t)(at + 1), &change.sequence);
        change.identity = a->constraint->identity_always ? 'a' : 'd';
        return status ? status : attribute_change(d, oid, at, change_identity, &change);
    }
    if (!change.identity) {
        if (a->kind == ALTER_DROP_IDENTITY && a->if_exists) {
            session_notice(d->session, "NOTICE", "00000", "column \"%s\" of relation \"%s\" is not an identity column, skipping", a->name, table->name);
            return STATUS_OK;
        }
        return error_set(STATUS_OBJECT_NOT_READY, "column \"%s\" of relation \"%s\" is not an identity column", a->name, table->name);
    }
    uint32_t sequence = change.sequence;
    if (a->kind == ALTER_DROP_IDENTITY) {
        change.identity = 0;
        change.sequence = 0;
        status = attribute_change(d, oid, at, change_identity, &change);
        if (!status)
            status = ddl_lock(d, sequence, LOCK_ACCESS_EXCLUSIVE);
        return status ? status : drop_sequence_relation(d, sequence);
    }
    struct option_list rest = {.items = arena_array(d->arena, struct option *, a->options.count + 1)};
    for (int i = 0; i < a->options.count; i++) {
        if (!strcmp(a->options.items[i]->name, "generated"))
            change.identity = a->options.items[i]->text && !strcmp(a->options.items[i]->text, "always") ? 'a' : 'd';
        else
            rest.items[rest.count++] = a->options.items[i];
    }
    status = attribute_change(d, oid, at, change_identity, &change);
    return status || !rest.count ? status : sequence_change(d, sequence, &rest);
}

static enum status drop_expression(struct ddl *d, const struct table *table, const struct alter_action *a)
{
    int at;
    uint32_t oid = table->oid;
    enum status status = column_find(table, a->name, &at);
    if (status)
        return status;
    if (!table->columns[at].generated) {
        if (!a->if_exists)
            return error_set(STATUS_OBJECT_NOT_READY, "column \"%s\" of relation \"%s\" is not a stored generated column", a->name, table->name);
        session_notice(d->session, "NOTICE", "00000", "column \"%s\" of relation \"%s\" is not a stored generated column, skipping", a->name, table->name);
        return STATUS_OK;
    }
    status = ddl_default_delete(d, oid, (int16_t)(at + 1));
    return status ? status : attribute_change(d, oid, at, change_no_expression, NULL);
}

/* ---------------------------------------------------------------- names */

static enum status constraint_rename_row(struct ddl *d, const struct catalog_row *row, const char *name)
{
    struct value *v = arena_copy(d->arena, row->values, sizeof(struct value) * CONSTRAINT_COLUMNS);
    v[CONSTRAINT_conname] = value_text(name);
    return catalog_update(&d->access, CATALOG_CONSTRAINT, row->row_id, v);
}

/* DEFAULTs that call the sequence say its new name. */
struct renamed_sequence { struct ddl *d; uint32_t sequence; const char *new_text; };
static void sequence_text_change(struct tree_walk *w, struct expr *e)
{
    struct renamed_sequence *r = w->context;
    uint32_t used;
    if (e->kind != EXPR_CAST || strcmp(e->cast.type->name, "regclass") || e->cast.operand->kind != EXPR_LITERAL)
        return;
    if (!default_sequence(r->d, deparse_expr(r->d->arena, e), &used) && used == r->sequence)
        e->cast.operand->literal.text = (char *)r->new_text;
}
static enum status sequence_default_row(void *context, const struct catalog_row *row)
{
    struct renamed_sequence *r = context;
    uint32_t used;
    char *text = value_string(r->d->arena, &row->values[ATTRDEF_adbin]);
    if (!strstr(text, "regclass"))
        return STATUS_OK;
    enum status status = default_sequence(r->d, text, &used);
    if (status || used != r->sequence)
        return status;
    struct expr *e;
    status = parse_expression(r->d->arena, text, strlen(text), &e);
    if (status)
        return status;
    struct tree_walk walk = {.context = r, .expr = sequence_text_change};
    walk_expr(&walk, e);
    struct value *v = arena_copy(r->d->arena, row->values, sizeof(struct value) * ATTRDEF_COLUMNS);
    v[ATTRDEF_adbin] = value_text(deparse_expr(r->d->arena, e));
    return catalog_update(&r->d->access, CATALOG_ATTRDEF, row->row_id, v);
}

/* The relation's new schema and name, in its row and wherever text says it. */
static enum status relation_move(struct ddl *d, uint32_t oid, char kind, uint32_t schema, const char *new_name)
{
    struct catalog_row row;
    struct value *v;
    const char *old_schema_name, *schema_name;
    uint32_t exists;
    char other;
    enum status status = ddl_class_get(d, oid, &row, &v);
    if (!status)
        status = ddl_relation_oid(d, schema, new_name, &exists, &other);
    if (!status)
        status = ddl_schema_name(d, schema, &schema_name);
    if (!status)
        status = ddl_schema_name(d, v[CLASS_relnamespace].oid, &old_schema_name);
    if (status)
        return status;
    if (exists && v[CLASS_relnamespace].oid != schema)
        return error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists in schema \"%s\"", new_name, schema_name);
    if (exists)
        return error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", new_name);
    char *old_name = value_string(d->arena, &v[CLASS_relname]);
    if (kind == 'r' || kind == 'v') {
        const struct table *self;
        status = ddl_table(d, oid, &self);
        if (!status)
            status = views_rename_relation(d, oid, old_schema_name, old_name, schema_name, new_name);
    }
    struct renamed_sequence renamed = {.d = d, .sequence = oid, .new_text = ddl_qualified(d->arena, schema_name, new_name)};
    if (!status && kind == 'S')
        status = catalog_scan(&d->access, CATALOG_ATTRDEF, -1, NULL, 0, sequence_default_row, &renamed);
    v[CLASS_relname] = value_text(new_name);
    v[CLASS_relnamespace] = value_oid(schema);
    if (!status)
        status = ddl_class_update(d, &row, v);
    if (!status)
        ddl_changed(d);
    return status;
}

enum status rename_relation(struct ddl *d, uint32_t oid, char kind, uint32_t schema, const char *old_name, const char *new_name)
{
    (void)old_name;
    return relation_move(d, oid, kind, schema, new_name);
}

/* The constraint behind an index has its name. */
struct index_constraint { struct ddl *d; uint32_t index; const char *name; };
static enum status index_constraint_row(void *context, const struct catalog_row *row)
{
    struct index_constraint *c = context;
    if (row->values[CONSTRAINT_conindid].oid != c->index || row->values[CONSTRAINT_contype].c == 'f')
        return STATUS_OK;
    return constraint_rename_row(c->d, row, c->name);
}

static enum status rename_index(struct ddl *d, const struct table *table, const struct index *index, const char *new_name)
{
    uint32_t oid = index->oid, table_oid = table->oid;
    bool constraint = index->constraint != 0;
    enum status status = relation_move(d, oid, 'i', table->schema, new_name);
    struct value key = value_oid(table_oid);
    struct index_constraint c = {.d = d, .index = oid, .name = new_name};
    if (!status && constraint)
        status = catalog_scan(&d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_TABLE, &key, 1, index_constraint_row, &c);
    if (!status)
        ddl_changed(d);
    return status;
}

/* Texts of the table's own (checks, defaults of generated columns, index expressions) name the column. */
struct column_rename { const char *old_name, *new_name; bool changed; };
static void column_rename_expr(struct tree_walk *w, struct expr *e)
{
    struct column_rename *r = w->context;
    if (e->kind == EXPR_COLUMN && e->column.count && !e->column.star && !strcmp(e->column.names[e->column.count - 1], r->old_name)) {
        e->column.names[e->column.count - 1] = (char *)r->new_name;
        r->changed = true;
    }
}

static enum status text_rename(struct ddl *d, struct value *text, struct column_rename *r)
{
    struct expr *e;
    r->changed = false;
    if (text->null)
        return STATUS_OK;
    char *string = value_string(d->arena, text);
    enum status status = parse_expression(d->arena, string, strlen(string), &e);
    if (status)
        return status;
    struct tree_walk walk = {.context = r, .expr = column_rename_expr};
    walk_expr(&walk, e);
    if (r->changed)
        *text = value_text(deparse_expr(d->arena, e));
    return STATUS_OK;
}

static enum status rename_in_texts(struct ddl *d, const struct table *table, const char *old_name, const char *new_name)
{
    struct column_rename r = {.old_name = old_name, .new_name = new_name};
    enum status status = STATUS_OK;
    struct catalog_row row;
    bool found;
    for (uint16_t i = 0; !status && i < table->check_count; i++) {
        struct value key = value_oid(table->checks[i].oid);
        status = catalog_get(&d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_OID, &key, 1, &row, &found);
        if (status || !found)
            continue;
        struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * CONSTRAINT_COLUMNS);
        status = text_rename(d, &v[CONSTRAINT_conbin], &r);
        if (!status && r.changed)
            status = catalog_update(&d->access, CATALOG_CONSTRAINT, row.row_id, v);
    }
    for (uint16_t i = 0; !status && i < table->column_count; i++) {
        struct value keys[2] = {value_oid(table->oid), value_i2((int16_t)(i + 1))};
        if (!table->columns[i].generated)
            continue;
        status = catalog_get(&d->access, CATALOG_ATTRDEF, FIRST_INDEX, keys, 2, &row, &found);
        if (status || !found)
            continue;
        struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * ATTRDEF_COLUMNS);
        status = text_rename(d, &v[ATTRDEF_adbin], &r);
        if (!status && r.changed)
            status = catalog_update(&d->access, CATALOG_ATTRDEF, row.row_id, v);
    }
    for (uint16_t i = 0; !status && i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        struct value key = value_oid(index->oid);
        bool plain = true;
        for (uint16_t k = 0; k < index->column_count; k++) {
            const struct column *c = index->columns[k].column ? &table->columns[index->columns[k].column - 1] : NULL;
            plain = plain && c;
            if (c && !strcmp(c->name, old_name)) {
                status = attribute_change(d, index->oid, k, change_name, new_name);
                if (status)
                    return status;
                status = ddl_table(d, table->oid, &table);     /* the old descriptor stays readable until the statement ends */
                if (status)
                    return status;
                index = &table->indexes[i];
            }
        }
        if (plain && !index->predicate_text)
            continue;
        status = catalog_get(&d->access, CATALOG_INDEX, INDEX_BY_OID, &key, 1, &row, &found);
        if (status || !found)
            continue;
        struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * INDEX_COLUMNS);
        status = text_rename(d, &v[INDEX_indpred], &r);
        bool changed = r.changed;
        struct text_buffer exprs, shown;
        text_buffer_open(&exprs, d->arena);
        text_buffer_open(&shown, d->arena);
        text_buffer_putc(&exprs, '{');
        for (uint16_t k = 0; !status && k < index->column_count; k++) {
            if (index->columns[k].column)
                continue;
            struct value text = value_text(index->columns[k].expr_text);
            status = text_rename(d, &text, &r);
            changed = changed || r.changed;
            char *string = value_string(d->arena, &text);
            text_buffer_printf(&shown, "%s%s", shown.length ? ", " : "", string);
            text_buffer_puts(&exprs, exprs.length > 1 ? ",\"" : "\"");
            for (const char *p = string; *p; p++) {
                if (*p == '"' || *p == '\\')
                    text_buffer_putc(&exprs, '\\');
                text_buffer_putc(&exprs, *p);
            }
            text_buffer_putc(&exprs, '"');
        }
        text_buffer_putc(&exprs, '}');
        if (!status && !plain && changed) {
            v[INDEX_indexprs] = value_text(shown.bytes);
            status = ddl_array(d, 1009, exprs.bytes, &v[INDEX_crab_exprs]);
        }
        if (!status && changed)
            status = catalog_update(&d->access, CATALOG_INDEX, row.row_id, v);
    }
    return status;
}

static enum status rename_column(struct ddl *d, const struct table *table, const char *old_name, const char *new_name)
{
    int at = table_column(table, old_name);
    uint32_t oid = table->oid;
    if (at < 0)
        return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" does not exist", old_name);
    if (table_column(table, new_name) >= 0)
        return error_set(STATUS_DUPLICATE_COLUMN, "column \"%s\" of relation \"%s\" already exists", new_name, table->name);
    enum status status = name_reserved(new_name);
    if (!status)
        status = views_rename_column(d, table, old_name);
    if (!status && table->kind == RELATION_TABLE)
        status = rename_in_texts(d, table, old_name, new_name);
    if (!status && table->kind == RELATION_VIEW) {            /* the view's own text says the column's name */
        struct statement_list list;
        struct value key = value_oid(oid);
        struct catalog_row row;
        bool found;
        status = parse_sql(d->arena, table->view_text, strlen(table->view_text), &list);
        if (!status)
            status = catalog_get(&d->access, CATALOG_REWRITE, FIRST_INDEX, &key, 1, &row, &found);
        if (!status && found) {
            struct text_buffer text;
            text_buffer_open(&text, d->arena);
            text_buffer_puts(&text, "SELECT ");
            for (uint16_t i = 0; i < table->column_count; i++)
                text_buffer_printf(&text, "%sq.%s", i ? ", " : "", quote_identifier(d->arena, i == at ? new_name : table->columns[i].name));
            text_buffer_printf(&text, " FROM (%s) q(", table->view_text);
            for (uint16_t i = 0; i < table->column_count; i++)
                text_buffer_printf(&text, "%s%s", i ? ", " : "", quote_identifier(d->arena, i == at ? new_name : table->columns[i].name));
            text_buffer_putc(&text, ')');
            struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * REWRITE_COLUMNS);
            v[REWRITE_ev_action] = value_text(text.bytes);
            status = catalog_update(&d->access, CATALOG_REWRITE, row.row_id, v);
        }
    }
    return status ? status : attribute_change(d, oid, at, change_name, new_name);
}

static enum status rename_constraint(struct ddl *d, const struct table *table, const char *old_name, const char *new_name)
{
    struct catalog_row row, other;
    bool found, taken;
    enum status status = constraint_find(d, table->oid, old_name, &row, &found);
    if (!status && !found)
        return error_set(STATUS_UNDEFINED_OBJECT, "constraint \"%s\" for table \"%s\" does not exist", old_name, table->name);
    if (!status)
        status = constraint_find(d, table->oid, new_name, &other, &taken);
    if (!status && taken)
        return error_set(STATUS_DUPLICATE_OBJECT, "constraint \"%s\" for relation \"%s\" already exists", new_name, table->name);
    if (status)
        return status;
    char kind = (char)row.values[CONSTRAINT_contype].c;
    if (kind == 'p' || kind == 'u') {
        const struct index *index = table_index(table, row.values[CONSTRAINT_conindid].oid);
        return index ? rename_index(d, table, index, new_name) : STATUS_OK;
    }
    status = constraint_rename_row(d, &row, new_name);
    if (!status)
        ddl_changed(d);
    return status;
}

struct constraint_move { struct ddl *d; uint32_t schema; };
static enum status constraint_move_row(void *context, const struct catalog_row *row)
{
    struct constraint_move *move = context;
    struct value *v = arena_copy(move->d->arena, row->values, sizeof(struct value) * CONSTRAINT_COLUMNS);
    v[CONSTRAINT_connamespace] = value_oid(move->schema);
    return catalog_update(&move->d->access, CATALOG_CONSTRAINT, row->row_id, v);
}
static enum status constraints_move(struct ddl *d, uint32_t table, uint32_t schema)
{
    struct constraint_move move = {.d = d, .schema = schema};
    struct value key = value_oid(table);
    return catalog_scan(&d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_TABLE, &key, 1, constraint_move_row, &move);
}

static enum status set_schema(struct ddl *d, const struct table *table, const char *name)
{
    uint32_t schema, oid = table->oid;
    enum status status = catalog_schema(d->session, name, &schema);
    if (!status && !schema)
        return error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", name);
    if (!status && (schema == SCHEMA_PG_CATALOG || schema == SCHEMA_INFORMATION))
        return error_set(STATUS_INSUFFICIENT_PRIVILEGE, "permission denied for schema %s", name);
    if (status || table->schema == schema)
        return status;
    uint32_t *sequences, sequence_count;
    uint16_t index_count = table->index_count;
    uint32_t *indexes = arena_array(d->arena, uint32_t, index_count + 1);
    char kind = (char)table->kind, *own = arena_strdup(d->arena, table->name);
    for (uint16_t i = 0; i < index_count; i++)
        indexes[i] = table->indexes[i].oid;
    status = sequence_owned(d, oid, 0, &sequences, &sequence_count);
    if (!status)
        status = relation_move(d, oid, kind, schema, own);
    for (uint16_t i = 0; !status && i < index_count; i++) {
        struct catalog_row row;
        struct value *v;
        status = ddl_class_get(d, indexes[i], &row, &v);
        if (!status)
            status = relation_move(d, indexes[i], 'i', schema, value_string(d->arena, &v[CLASS_relname]));
    }
    for (uint32_t i = 0; !status && i < sequence_count; i++) {
        struct catalog_row row;
        struct value *v;
        status = ddl_class_get(d, sequences[i], &row, &v);
        if (!status)
            status = relation_move(d, sequences[i], 'S', schema, value_string(d->arena, &v[CLASS_relname]));
    }
    return status ? status : constraints_move(d, oid, schema);
}

/* ---------------------------------------------------------------- the rest */

static enum status owner_check(struct ddl *d, const char *name)
{
    if (!strcmp(name, "postgres") || !strcmp(name, session_user(d->session)) || !strcmp(name, "current_user") || !strcmp(name, "session_user") || !strcmp(name, "current_role"))
        return STATUS_OK;
    return error_set(STATUS_UNDEFINED_OBJECT, "role \"%s\" does not exist", name);
}

static enum status set_options(struct ddl *d, uint32_t oid, char kind, const char *const *old, uint16_t old_count, const struct alter_action *a)
{
    struct catalog_row row;
    struct value *v;
    bool reset = a->kind == ALTER_RESET_OPTIONS;
    enum status status = reset ? STATUS_OK : ddl_check_options(&a->options, kind);
    for (int i = 0; !status && i < a->options.count; i++)
        if (!strcmp(a->options.items[i]->name, "max_entries"))
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "max_entries can be set only when the index is made");
    if (!status)
        status = ddl_class_get(d, oid, &row, &v);
    if (!status)
        status = ddl_options(d, &a->options, old, old_count, reset, &v[CLASS_reloptions]);
    if (!status)
        status = ddl_class_update(d, &row, v);
    if (!status)
        ddl_changed(d);
    return status;
}

static int action_pass(const struct alter_action *a)
{
    switch (a->kind) {
    case ALTER_DROP_COLUMN: case ALTER_DROP_CONSTRAINT: case ALTER_DROP_NOT_NULL: case ALTER_DROP_DEFAULT: case ALTER_DROP_EXPRESSION: case ALTER_DROP_IDENTITY: return 0;
    case ALTER_TYPE: return 1;
    case ALTER_ADD_COLUMN: return 2;
    case ALTER_SET_NOT_NULL: case ALTER_SET_STATISTICS: case ALTER_SET_STORAGE: case ALTER_SET_COMPRESSION: case ALTER_SET_COLUMN_OPTIONS: return 3;
    case ALTER_ADD_CONSTRAINT: return a->constraint->kind == CONSTRAINT_PRIMARY_KEY || a->constraint->kind == CONSTRAINT_UNIQUE ? 4 : 5;
    case ALTER_SET_DEFAULT: case ALTER_ADD_IDENTITY: case ALTER_SET_IDENTITY: return 5;
    default: return 6;
    }
}

static enum table_lock action_lock(const struct alter_statement *s)
{
    enum table_lock mode = 0;
    for (int i = 0; i < s->action_count; i++) {
        const struct alter_action *a = s->actions[i];
        enum table_lock wanted = LOCK_ACCESS_EXCLUSIVE;
        if (a->kind == ALTER_VALIDATE_CONSTRAINT || a->kind == ALTER_SET_STATISTICS || a->kind == ALTER_SET_OPTIONS || a->kind == ALTER_RESET_OPTIONS || a->kind == ALTER_CLUSTER_ON)
            wanted = LOCK_SHARE_UPDATE_EXCLUSIVE;
        if (a->kind == ALTER_ADD_CONSTRAINT && a->constraint->kind == CONSTRAINT_FOREIGN_KEY)
            wanted = LOCK_SHARE_ROW_EXCLUSIVE;
        if (wanted > mode)
            mode = wanted;
    }
    return mode ? mode : LOCK_ACCESS_EXCLUSIVE;
}

static enum status deferrability(struct ddl *d, const struct table *table, const struct constraint_definition *c)
{
    struct catalog_row row;
    bool found;
    enum status status = constraint_find(d, table->oid, c->name, &row, &found);
    if (status)
        return status;
    if (!found)
        return error_set(STATUS_UNDEFINED_OBJECT, "constraint \"%s\" of relation \"%s\" does not exist", c->name, table->name);
    if (row.values[CONSTRAINT_contype].c != 'f')
        return error_set(STATUS_WRONG_OBJECT_TYPE, "constraint \"%s\" of relation \"%s\" is not a foreign key constraint", c->name, table->name);
    struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * CONSTRAINT_COLUMNS);
    v[CONSTRAINT_condeferrable] = value_bool(c->deferrable);
    v[CONSTRAINT_condeferred] = value_bool(c->initially_deferred);
    status = catalog_update(&d->access, CATALOG_CONSTRAINT, row.row_id, v);
    if (!status)
        ddl_changed(d);
    return status;
}

static enum status table_action(struct ddl *d, uint32_t oid, const struct alter_action *a, struct new_constraints *later)
{
    const struct table *table;
    int at;
    enum status status = ddl_table(d, oid, &table);
    if (status)
        return status;
    bool shape = table->kind != RELATION_TABLE;                /* a view or sequence: only names, owner, schema, options, view defaults */
    switch (a->kind) {
    case ALTER_RENAME: return relation_move(d, oid, (char)table->kind, table->schema, a->new_name);
    case ALTER_RENAME_COLUMN:
        if (table->kind == RELATION_SEQUENCE)
            return error_set(STATUS_WRONG_OBJECT_TYPE, "cannot rename columns of relation \"%s\"", table->name);
        return rename_column(d, table, a->name, a->new_name);
    case ALTER_OWNER: return owner_check(d, a->new_name);
    case ALTER_SET_SCHEMA: return set_schema(d, table, a->new_name);
    case ALTER_SET_OPTIONS: case ALTER_RESET_OPTIONS:
        if (table->kind == RELATION_SEQUENCE)
            break;
        return set_options(d, oid, (char)table->kind, table->options, table->option_count, a);
    default: break;
    }
    if (shape) {
        error_set(STATUS_WRONG_OBJECT_TYPE, "ALTER action cannot be performed on relation \"%s\"", table->name);
        error_detail("This operation is not supported for %s.", table->kind == RELATION_VIEW ? "views" : "sequences");
        return STATUS_WRONG_OBJECT_TYPE;
    }
    switch (a->kind) {
    case ALTER_ADD_COLUMN: return add_column(d, table, a, later);
    case ALTER_DROP_COLUMN: return drop_column(d, table, a->name, a->if_exists, a->cascade);
    case ALTER_ADD_CONSTRAINT: return constraint_add(d, oid, a->constraint, true);
    case ALTER_DROP_CONSTRAINT: return constraint_drop(d, table, a->name, a->if_exists, a->cascade);
    case ALTER_VALIDATE_CONSTRAINT: return constraint_validate(d, oid, a->name);
    case ALTER_CONSTRAINT: return deferrability(d, table, a->constraint);
    case ALTER_SET_DEFAULT: case ALTER_DROP_DEFAULT: return set_default(d, table, a);
    case ALTER_SET_NOT_NULL: return set_not_null(d, table, a->name);
    case ALTER_DROP_NOT_NULL: return drop_not_null(d, table, a->name);
    case ALTER_DROP_EXPRESSION: return drop_expression(d, table, a);
    case ALTER_TYPE: return alter_type(d, table, a);
    case ALTER_ADD_IDENTITY: case ALTER_SET_IDENTITY: case ALTER_DROP_IDENTITY: return identity(d, table, a);
    case ALTER_RENAME_CONSTRAINT: return rename_constraint(d, table, a->name, a->new_name);
    case ALTER_SET_STATISTICS:
        status = column_find(table, a->name, &at);
        return status ? status : attribute_change(d, oid, at, change_target, &a->number);
    case ALTER_SET_STORAGE: {
        const char *word = a->new_name ? a->new_name : "";
        char storage = !strcmp(word, "plain") ? 'p' : !strcmp(word, "external") ? 'e' : !strcmp(word, "extended") ? 'x' : !strcmp(word, "main") ? 'm' : 0;
        if (!storage)
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid storage type \"%s\"", word);
        status = column_find(table, a->name, &at);
        if (!status && table->columns[at].type.width != WIDTH_VARLEN && storage != 'p')
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "column data type %s can only have storage PLAIN", type_format(table->columns[at].type.oid, -1, d->arena));
        return status ? status : attribute_change(d, oid, at, change_storage, &storage);
    }
    case ALTER_SET_TABLESPACE:
        return !strcmp(a->new_name, "pg_default") ? STATUS_OK : error_set(STATUS_UNDEFINED_OBJECT, "tablespace \"%s\" does not exist", a->new_name);
    case ALTER_SET_LOGGED: return a->enabled ? STATUS_OK : ddl_unsupported("unlogged tables are");
    case ALTER_TRIGGER: return ddl_unsupported("ALTER TABLE ... TRIGGER is");
    case ALTER_CLUSTER_ON: return ddl_unsupported("CLUSTER is");
    case ALTER_SET_COMPRESSION: case ALTER_SET_COLUMN_OPTIONS: return ddl_unsupported("this ALTER COLUMN action is");
    default: return ddl_unsupported("ALTER TABLE %s is", a->new_name ? a->new_name : "action");
    }
}

/* Actions that compute from old rows see the rows as the statement found them, which running them one by one would not give. */
static enum status using_check(const struct alter_statement *s)
{
    for (int i = 0; i < s->action_count; i++)
        for (int k = 0; s->actions[i]->kind == ALTER_TYPE && k < s->action_count; k++)
            if (k != i && s->actions[k]->kind == ALTER_TYPE && s->actions[k]->expr && expr_uses_column(s->actions[k]->expr, s->actions[i]->name))
                return ddl_unsupported("USING over a column whose type changes in the same statement is");
    return STATUS_OK;
}

static enum status alter_index(struct ddl *d, const struct alter_statement *s)
{
    const struct table *table;
    const struct index *index;
    enum status status = catalog_find_index(d->session, s->relation->schema, s->relation->name, &table, &index);
    if (status)
        return status;
    if (!index) {
        status = catalog_find(d->session, s->relation->schema, s->relation->name, &table);
        if (!status && table)
            return error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not an index", s->relation->name);
        if (!status && s->if_exists) {
            session_notice(d->session, "NOTICE", "00000", "relation \"%s\" does not exist, skipping", s->relation->name);
            return STATUS_OK;
        }
        return status ? status : ddl_fail(s->relation->position, STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", s->relation->name);
    }
    uint32_t table_oid = table->oid, index_oid = index->oid;
    status = ddl_refuse_system(table);
    if (!status)
        status = ddl_lock(d, table_oid, LOCK_ACCESS_EXCLUSIVE);
    catalog_refresh(d->session);
    for (int i = 0; !status && i < s->action_count; i++) {
        const struct alter_action *a = s->actions[i];
        status = ddl_table(d, table_oid, &table);
        if (status)
            return status;
        index = table_index(table, index_oid);
        if (!index)
            return error_set(STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", s->relation->name);
        switch (a->kind) {
        case ALTER_RENAME: status = rename_index(d, table, index, a->new_name); break;
        case ALTER_SET_OPTIONS: case ALTER_RESET_OPTIONS: {
            struct catalog_row row;
            struct value *v;
            status = ddl_class_get(d, index_oid, &row, &v);
            if (!status)
                status = set_options(d, index_oid, 'i', NULL, 0, a);
            break;
        }
        case ALTER_SET_TABLESPACE:
            if (strcmp(a->new_name, "pg_default"))
                status = error_set(STATUS_UNDEFINED_OBJECT, "tablespace \"%s\" does not exist", a->new_name);
            break;
        default: status = ddl_unsupported("this ALTER INDEX action is");
        }
    }
    return status;
}

struct schema_tables { struct ddl *d; uint32_t schema; const char *old_name, *new_name; struct users relations; };
static enum status schema_table(void *context, const struct table *table)
{
    struct schema_tables *t = context;
    if (table->schema == t->schema)
        users_add(t->d, &t->relations, table->oid);
    return STATUS_OK;
}

static enum status alter_schema(struct ddl *d, const struct alter_statement *s)
{
    const char *name = s->relation->name;
    uint32_t schema, exists;
    enum status status = catalog_schema(d->session, name, &schema);
    if (!status && !schema)
        return error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", name);
    for (int i = 0; !status && i < s->action_count; i++) {
        const struct alter_action *a = s->actions[i];
        if (a->kind == ALTER_OWNER) {
            status = owner_check(d, a->new_name);
            continue;
        }
        if (a->kind != ALTER_RENAME)
            return ddl_unsupported("this ALTER SCHEMA action is");
        if (schema == SCHEMA_PG_CATALOG || schema == SCHEMA_INFORMATION)
            return error_set(STATUS_INSUFFICIENT_PRIVILEGE, "permission denied to rename schema \"%s\"", name);
        status = catalog_schema(d->session, a->new_name, &exists);
        if (!status && exists)
            return error_set(STATUS_DUPLICATE_SCHEMA, "schema \"%s\" already exists", a->new_name);
        if (!status && !strncmp(a->new_name, "pg_", 3)) {
            error_set(STATUS_RESERVED_NAME, "unacceptable schema name \"%s\"", a->new_name);
            error_detail("The prefix \"pg_\" is reserved for system schemas.");
            return STATUS_RESERVED_NAME;
        }
        if (!status)
            status = ddl_lock(d, schema, LOCK_ACCESS_EXCLUSIVE);
        /* Texts that name its relations follow. */
        struct schema_tables tables = {.d = d, .schema = schema, .old_name = name, .new_name = a->new_name};
        if (!status)
            status = catalog_each(d->session, schema_table, &tables);
        for (uint32_t k = 0; !status && k < tables.relations.count; k++) {
            const struct table *table;
            status = ddl_lock(d, tables.relations.oids[k], LOCK_ACCESS_EXCLUSIVE);
            if (!status)
                status = ddl_table(d, tables.relations.oids[k], &table);
            if (status)
                break;
            if (table->kind == RELATION_SEQUENCE) {
                struct renamed_sequence renamed = {.d = d, .sequence = table->oid, .new_text = ddl_qualified(d->arena, a->new_name, table->name)};
                status = catalog_scan(&d->access, CATALOG_ATTRDEF, -1, NULL, 0, sequence_default_row, &renamed);
            } else {
                status = views_rename_relation(d, table->oid, name, table->name, a->new_name, table->name);
            }
        }
        struct value key = value_oid(schema);
        struct catalog_row row;
        bool found = false;
        if (!status)
            status = catalog_get(&d->access, CATALOG_NAMESPACE, BY_OID, &key, 1, &row, &found);
        if (!status && found) {
            struct value *v = arena_copy(d->arena, row.values, sizeof(struct value) * NAMESPACE_COLUMNS);
            v[NAMESPACE_nspname] = value_text(a->new_name);
            status = catalog_update(&d->access, CATALOG_NAMESPACE, row.row_id, v);
        }
        if (!status)
            ddl_changed(d);
    }
    return status;
}

enum status alter_relation(struct ddl *d, const struct alter_statement *s)
{
    if (s->object == OBJECT_SCHEMA)
        return alter_schema(d, s);
    if (s->object == OBJECT_INDEX)
        return alter_index(d, s);
    if (s->object != OBJECT_TABLE && s->object != OBJECT_VIEW && s->object != OBJECT_SEQUENCE)
        return ddl_unsupported("ALTER of this kind of object is");
    const struct table *table;
    enum status status = catalog_find(d->session, s->relation->schema, s->relation->name, &table);
    if (status)
        return status;
    if (!table && s->object == OBJECT_TABLE && s->action_count == 1 && s->actions[0]->kind == ALTER_RENAME) {
        const struct index *index;
        status = catalog_find_index(d->session, s->relation->schema, s->relation->name, &table, &index);
        if (!status && index)
            return alter_index(d, s);
        if (status)
            return status;
        table = NULL;
    }
    if (!table && s->if_exists) {
        session_notice(d->session, "NOTICE", "00000", "relation \"%s\" does not exist, skipping", s->relation->name);
        return STATUS_OK;
    }
    status = ddl_open(d, s->relation, action_lock(s), &table);
    if (!status && s->object == OBJECT_VIEW && table->kind != RELATION_VIEW)
        status = error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a view", table->name);
    if (!status && s->object == OBJECT_SEQUENCE && table->kind != RELATION_SEQUENCE)
        status = error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a sequence", table->name);
    if (!status)
        status = using_check(s);
    uint32_t oid = status ? 0 : table->oid;
    struct new_constraints later = {0};
    for (int pass = 0; pass <= 6 && !status; pass++) {
        for (int i = 0; i < s->action_count && !status; i++)
            if (action_pass(s->actions[i]) == pass)
                status = table_action(d, oid, s->actions[i], &later);
        if (pass == 4 || pass == 5)                           /* constraints that new columns brought along */
            for (int i = 0; i < later.count && !status; i++) {
                bool key = later.items[i]->kind == CONSTRAINT_PRIMARY_KEY || later.items[i]->kind == CONSTRAINT_UNIQUE;
                if (key == (pass == 4))
                    status = constraint_add(d, oid, later.items[i], true);
            }
    }
    return status;
}
