/* engine/ddl_view.c - CREATE [OR REPLACE] VIEW.
 *
 * A view is kept as the text of its query, with every relation's schema written out and every * replaced by the columns it stood for, so
 * that it means the same under any search_path and whatever its tables gain later. */
#include "engine/ddl.h"

#include <string.h>

static enum status view_plan(struct ddl *d, struct select *select, const char *sql, const struct plan **out)
{
    struct statement *statement = arena_new(d->arena, struct statement);
    *statement = (struct statement){.kind = STATEMENT_SELECT, .start = 1, .length = (int)strlen(sql), .select = select};
    struct plan_request request = {.session = d->session, .arena = d->arena, .sql = sql, .statement = statement};
    struct prepared_plan *plan;
    enum status status = plan_statement(&request, &plan);
    if (!status && plan->parameter_count)
        status = error_set(STATUS_UNDEFINED_PARAMETER, "there is no parameter $1");
    if (!status)
        *out = plan->root;
    return status;
}

/* Gives the first `count` columns of the query their names; a query that isn't a plain SELECT is wrapped. */
static struct select *columns_name(struct ddl *d, struct select *select, const struct name_list *names)
{
    if (!names->count)
        return select;
    struct select *first = select;
    while (first->left)
        first = first->left;
    if (!first->rows && !select->left && names->count <= first->targets.count) {
        bool star = false;
        for (int i = 0; i < first->targets.count; i++)
            star = star || (first->targets.items[i]->expr->kind == EXPR_COLUMN && first->targets.items[i]->expr->column.star);
        /* ORDER BY may use a name that goes: then the query is wrapped */
        if (!star && !select->order_by.count) {
            for (int i = 0; i < names->count; i++)
                first->targets.items[i]->name = names->items[i];
            return select;
        }
    }
    uint16_t count;
    const char **own = select_names(d, select, &count);
    if (!own)
        return select;
    struct select *outer = arena_new(d->arena, struct select);
    struct from_item *item = arena_new(d->arena, struct from_item);
    *item = (struct from_item){.kind = FROM_SUBQUERY, .select = select, .alias = "q"};
    item->columns = (struct name_list){.items = arena_array(d->arena, char *, count + 1), .positions = arena_array(d->arena, int, count + 1), .count = count};
    outer->targets.items = arena_array(d->arena, struct target *, count + 1);
    outer->targets.count = count;
    for (uint16_t i = 0; i < count; i++) {
        const char *name = i < names->count ? names->items[i] : own[i];
        item->columns.items[i] = (char *)name;
        struct target *target = outer->targets.items[i] = arena_new(d->arena, struct target);
        target->expr = arena_new(d->arena, struct expr);
        target->expr->kind = EXPR_COLUMN;
        target->expr->column.names = arena_array(d->arena, char *, 2);
        target->expr->column.names[0] = "q";
        target->expr->column.names[1] = (char *)name;
        target->expr->column.count = 2;
    }
    outer->from.items = arena_array(d->arena, struct from_item *, 1);
    outer->from.items[0] = item;
    outer->from.count = 1;
    return outer;
}

/* CREATE OR REPLACE keeps the columns that are there, and may add some at the end. */
static enum status replace_check(struct ddl *d, const struct table *old, const struct plan *root, const char *const *names)
{
    if (root->column_count < old->column_count)
        return error_set(STATUS_INVALID_TABLE_DEFINITION, "cannot drop columns from view");
    for (uint16_t i = 0; i < old->column_count; i++) {
        if (strcmp(old->columns[i].name, names[i])) {
            error_set(STATUS_INVALID_TABLE_DEFINITION, "cannot change name of view column \"%s\" to \"%s\"", old->columns[i].name, names[i]);
            error_hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.");
            return STATUS_INVALID_TABLE_DEFINITION;
        }
        if (old->columns[i].type.oid != root->types[i].oid || old->columns[i].type.typmod != root->types[i].typmod)
            return error_set(STATUS_INVALID_TABLE_DEFINITION, "cannot change data type of view column \"%s\" from %s to %s", names[i], type_format(old->columns[i].type.oid, old->columns[i].type.typmod, d->arena),
                             type_format(root->types[i].oid, root->types[i].typmod, d->arena));
    }
    return STATUS_OK;
}

static enum status view_attributes(struct ddl *d, uint32_t oid, const struct plan *root, const char *const *names, uint16_t from)
{
    enum status status = STATUS_OK;
    for (uint16_t i = from; !status && i < root->column_count; i++) {
        struct attribute_row a = {.name = names[i], .type = type_make(root->types[i].oid == OID_UNKNOWN ? OID_TEXT : root->types[i].oid, root->types[i].typmod), .number = (int16_t)(i + 1), .nullable = true};
        status = ddl_attribute_insert(d, oid, &a);
    }
    return status;
}

static enum status rule_insert(struct ddl *d, uint32_t oid, const char *text)
{
    struct value v[REWRITE_COLUMNS] = {value_oid(catalog_new_oid(d->access.store)), value_text("_RETURN"), value_oid(oid), value_char('1'), value_char('O'), value_bool(true), value_text("<>"), value_text(text)};
    return catalog_insert(&d->access, CATALOG_REWRITE, v);
}

static enum status view_replace(struct ddl *d, const struct table *old, const struct plan *root, const char *const *names, const char *text)
{
    uint32_t oid = old->oid;
    uint16_t had = old->column_count;
    struct value key = value_oid(oid);
    struct catalog_row row;
    struct value *v;
    enum status status = replace_check(d, old, root, names);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_REWRITE, FIRST_INDEX, &key, 1);
    if (!status)
        status = rule_insert(d, oid, text);
    if (!status)
        status = view_attributes(d, oid, root, names, had);
    if (!status)
        status = ddl_class_get(d, oid, &row, &v);
    if (status)
        return status;
    v[CLASS_relnatts] = value_i2((int16_t)root->column_count);
    return ddl_class_update(d, &row, v);
}

enum status create_view(struct ddl *d, const struct create_view_statement *s)
{
    uint32_t schema, exists;
    const char *schema_name;
    char kind;
    if (s->persistence == PERSISTENCE_TEMPORARY)
        return ddl_unsupported("temporary views are");
    if (s->recursive)
        return ddl_unsupported("CREATE RECURSIVE VIEW is");
    if (s->check != VIEW_CHECK_NONE)
        return ddl_unsupported("WITH CHECK OPTION is");
    const struct plan *root;
    enum status status = ddl_check_options(&s->options, 'v');
    if (!status)
        status = ddl_target_schema(d, s->relation, &schema, &schema_name);
    if (!status)
        status = view_plan(d, s->select, d->sql, &root);       /* errors point into the statement's own text */
    if (status)
        return status;
    if (s->columns.count > root->column_count)
        return error_set(STATUS_SYNTAX, "CREATE VIEW specifies more column names than columns");
    status = select_qualify(d, s->select);
    if (!status)
        status = select_expand_stars(d, s->select);
    if (status)
        return status;
    struct select *select = columns_name(d, s->select, &s->columns);
    const char **names = arena_array(d->arena, const char *, root->column_count + 1);
    for (uint16_t i = 0; i < root->column_count; i++) {
        names[i] = i < s->columns.count ? s->columns.items[i] : root->names[i];
        for (uint16_t k = 0; k < i; k++)
            if (!strcmp(names[k], names[i]))
                return error_set(STATUS_DUPLICATE_COLUMN, "column \"%s\" specified more than once", names[i]);
        if (!type_info(root->types[i].oid) || type_info(root->types[i].oid)->category == 'P')
            return error_set(STATUS_INVALID_TABLE_DEFINITION, "column \"%s\" has pseudo-type %s", names[i], type_info(root->types[i].oid) ? type_info(root->types[i].oid)->name : "unknown");
    }
    char *text = deparse_select(d->arena, select);
    /* What is kept must read back as the same columns. */
    struct statement_list list;
    const struct plan *again;
    status = parse_sql(d->arena, text, strlen(text), &list);
    if (!status)
        status = view_plan(d, list.items[0]->select, text, &again);
    if (status)
        error_current()->position = 0;
    bool same = !status && again->column_count == root->column_count;
    for (uint16_t i = 0; same && i < root->column_count; i++)
        same = !strcmp(again->names[i], names[i]) && again->types[i].oid == root->types[i].oid;
    if (!status && !same)
        status = error_set(STATUS_FEATURE_NOT_SUPPORTED, "this query cannot be kept as a view: %s", text);
    if (!status)
        status = ddl_relation_oid(d, schema, s->relation->name, &exists, &kind);
    if (status)
        return status;
    if (exists && !s->or_replace)
        return error_set(STATUS_DUPLICATE_TABLE, "relation \"%s\" already exists", s->relation->name);
    if (exists && kind != 'v')
        return error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a view", s->relation->name);
    if (exists) {
        const struct table *old;
        status = ddl_lock(d, exists, LOCK_ACCESS_EXCLUSIVE);
        if (!status)
            status = ddl_table(d, exists, &old);
        return status ? status : view_replace(d, old, root, names, text);
    }
    struct class_row class = {.oid = catalog_new_oid(d->access.store), .schema = schema, .name = s->relation->name, .kind = 'v', .columns = root->column_count, .options = s->options.count ? &s->options : NULL};
    status = ddl_lock(d, class.oid, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = ddl_class_insert(d, &class);
    if (!status)
        status = view_attributes(d, class.oid, root, names, 0);
    return status ? status : rule_insert(d, class.oid, text);
}
