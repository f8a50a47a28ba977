/* engine/describe.c - see describe.h. */
#include "engine/describe.h"

#include <stdio.h>
#include <string.h>

#include "engine/catalog/cache.h"
#include "engine/ddl.h"
#include "engine/session.h"
#include "engine/plan/show.h"
#include "parser/parser.h"

/* ---------------------------------------------------------------- names */

static enum status class_row(struct session *session, struct arena *arena, uint32_t oid, struct catalog_row *row, bool *found)
{
    struct catalog_access access;
    catalog_access_open(session, arena, &access);
    struct value key = value_oid(oid);
    return catalog_get(&access, CATALOG_CLASS, BY_OID, &key, 1, row, found);
}

static enum status schema_name(struct session *session, struct arena *arena, uint32_t oid, const char **out)
{
    struct catalog_access access;
    catalog_access_open(session, arena, &access);
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_NAMESPACE, BY_OID, &key, 1, &row, &found);
    *out = !status && found ? value_string(arena, &row.values[NAMESPACE_nspname]) : "";
    return status;
}

static enum status name_in(struct session *session, struct arena *arena, uint32_t schema, const char *name, uint32_t *oid)
{
    struct catalog_access access;
    catalog_access_open(session, arena, &access);
    struct value keys[2] = {value_text(name), value_oid(schema)};
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&access, CATALOG_CLASS, BY_NAME, keys, 2, &row, &found);
    *oid = !status && found ? row.values[CLASS_oid].oid : 0;
    if (!status && !found && (schema == SCHEMA_PG_CATALOG || schema == SCHEMA_INFORMATION)) {   /* catalogs that this data directory has no rows of */
        const struct table *table;
        status = catalog_find(session, schema == SCHEMA_PG_CATALOG ? "pg_catalog" : "information_schema", name, &table);
        *oid = !status && table ? table->oid : 0;
    }
    return status;
}

enum status relation_by_name(struct session *session, const char *schema, const char *name, uint32_t *oid)
{
    struct arena *arena = arena_open(NULL, "relation name");
    enum status status;
    *oid = 0;
    if (schema) {
        uint32_t of;
        status = catalog_schema(session, schema, &of);
        if (!status && of)
            status = name_in(session, arena, of, name, oid);
    } else {
        const uint32_t *path;
        uint16_t count;
        status = catalog_search_path(session, &path, &count);
        for (uint16_t i = 0; !status && i < count && !*oid; i++)
            status = name_in(session, arena, path[i], name, oid);
    }
    arena_close(arena);
    return status;
}

enum status relation_visible(struct session *session, uint32_t schema, const char *name, bool *out)
{
    const uint32_t *path;
    uint16_t count;
    *out = false;
    enum status status = catalog_search_path(session, &path, &count);
    struct arena *arena = arena_open(NULL, "relation name");
    for (uint16_t i = 0; !status && i < count; i++) {
        uint32_t oid;
        if (path[i] == schema) {
            *out = true;
            break;
        }
        status = name_in(session, arena, path[i], name, &oid);
        if (oid)
            break;
    }
    arena_close(arena);
    return status;
}

enum status describe_relation(struct session *session, struct arena *arena, uint32_t oid, const char **schema, const char **name, char *kind)
{
    struct catalog_row row;
    bool found;
    *name = NULL;
    *schema = NULL;
    enum status status = class_row(session, arena, oid, &row, &found);
    if (!status && found) {
        *name = value_string(arena, &row.values[CLASS_relname]);
        *kind = (char)row.values[CLASS_relkind].c;
        return schema_name(session, arena, row.values[CLASS_relnamespace].oid, schema);
    }
    const struct table *table;
    if (!status)
        status = catalog_table(session, oid, &table);
    if (!status && table) {
        *name = table->name;
        *schema = table->schema_name;
        *kind = (char)table->kind;
    }
    return status;
}

char *describe_relation_name(struct session *session, struct arena *arena, const char *schema, const char *name, uint32_t oid)
{
    uint32_t found;
    if (!relation_by_name(session, NULL, name, &found) && found == oid)
        return quote_identifier(arena, name);
    return arena_printf(arena, "%s.%s", quote_identifier(arena, schema), quote_identifier(arena, name));
}

/* ---------------------------------------------------------------- expressions */

char *describe_expr(struct session *session, struct arena *arena, const struct table *table, struct sql_type want, const char *text, bool pretty)
{
    struct expr *e = expr_read(session, arena, text);
    char *shown;
    if (!e || show_expression(session, arena, table, e, want, pretty, &shown)) {
        error_clear();
        return arena_strdup(arena, text);
    }
    return shown;
}

/* ---------------------------------------------------------------- indexes */

static bool is_call(const struct expr *e) { return e->kind == EXPR_FUNCTION || e->kind == EXPR_COALESCE || e->kind == EXPR_GREATEST || e->kind == EXPR_LEAST || e->kind == EXPR_NULLIF; }

static char *index_column_text(struct session *session, struct arena *arena, const struct table *table, const struct index_column *column, bool pretty)
{
    if (column->column)
        return quote_identifier(arena, table->columns[column->column - 1].name);
    char *text = describe_expr(session, arena, table, (struct sql_type){0}, column->expr_text, pretty);
    return is_call(column->expr) ? text : arena_printf(arena, "(%s)", text);
}

static enum status index_find(struct session *session, struct arena *arena, uint32_t oid, const struct table **table, const struct index **index, struct catalog_row *class)
{
    struct catalog_access access;
    catalog_access_open(session, arena, &access);
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found, found_class;
    *index = NULL;
    enum status status = catalog_get(&access, CATALOG_INDEX, INDEX_BY_OID, &key, 1, &row, &found);
    if (!status && found)
        status = class_row(session, arena, oid, class, &found_class);
    if (!status && found)
        status = catalog_table(session, row.values[INDEX_indrelid].oid, table);
    if (!status && found && *table)
        *index = table_index(*table, oid);
    return status;
}

static void options_text(struct arena *arena, const struct value *options, struct text_buffer *out)
{
    struct vector v;
    struct text_buffer text;
    if (options->null)
        return;
    text_buffer_open(&text, arena);
    value_vector(type_make(1009, -1), options, arena, &v);
    type_out(type_make(1009, -1), &v, 0, &text);
    bool first = true;
    for (char *p = text.bytes + 1; *p && *p != '}';) {         /* {fillfactor=90,max_entries=4} */
        size_t length = strcspn(p, ",}");
        char *equals = memchr(p, '=', length);
        if (equals)
            text_buffer_printf(out, "%s%.*s='%.*s'", first ? " WITH (" : ", ", (int)(equals - p), p, (int)(p + length - equals - 1), equals + 1);
        first = false;
        p += length;
        p += *p == ',';
    }
    if (!first)
        text_buffer_putc(out, ')');
}

enum status describe_index(struct session *session, struct arena *arena, uint32_t oid, int column, bool pretty, char **out)
{
    const struct table *table;
    const struct index *index;
    struct catalog_row class;
    *out = NULL;
    enum status status = index_find(session, arena, oid, &table, &index, &class);
    if (status || !index)
        return status;
    if (column) {
        *out = column > 0 && column <= index->column_count ? index_column_text(session, arena, table, &index->columns[column - 1], pretty) : "";
        return STATUS_OK;
    }
    struct text_buffer text;
    text_buffer_open(&text, arena);
    bool visible = false;
    status = relation_visible(session, table->schema, table->name, &visible);
    char *on = pretty && visible ? quote_identifier(arena, table->name) : arena_printf(arena, "%s.%s", quote_identifier(arena, table->schema_name), quote_identifier(arena, table->name));
    text_buffer_printf(&text, "CREATE %sINDEX %s ON %s USING btree (", index->unique ? "UNIQUE " : "", quote_identifier(arena, index->name), on);
    for (uint16_t i = 0; i < index->column_count; i++) {
        const struct index_column *c = &index->columns[i];
        bool descending = c->flags & KEY_DESC, first = c->flags & KEY_NULLS_FIRST;
        text_buffer_printf(&text, "%s%s%s%s", i ? ", " : "", index_column_text(session, arena, table, c, pretty), descending ? " DESC" : "", descending && !first ? " NULLS LAST" : !descending && first ? " NULLS FIRST" : "");
    }
    text_buffer_puts(&text, index->nulls_not_distinct ? ") NULLS NOT DISTINCT" : ")");
    options_text(arena, &class.values[CLASS_reloptions], &text);
    if (index->predicate_text)
        text_buffer_printf(&text, " WHERE %s", describe_expr(session, arena, table, (struct sql_type){0}, index->predicate_text, pretty));
    *out = text.bytes;
    return status;
}

/* ---------------------------------------------------------------- constraints */

static void key_columns(struct arena *arena, const struct table *table, const int16_t *columns, uint16_t count, struct text_buffer *out)
{
    for (uint16_t i = 0; i < count; i++)
        text_buffer_printf(out, "%s%s", i ? ", " : "", quote_identifier(arena, table->columns[columns[i] - 1].name));
}

static const char *action_text(enum foreign_action action)
{
    switch (action) {
    case ACTION_RESTRICT: return "RESTRICT";
    case ACTION_CASCADE: return "CASCADE";
    case ACTION_SET_NULL: return "SET NULL";
    case ACTION_SET_DEFAULT: return "SET DEFAULT";
    default: return NULL;
    }
}

static enum status foreign_key_text(struct session *session, struct arena *arena, const struct table *table, uint32_t oid, struct text_buffer *out)
{
    const struct foreign_key *key = NULL;
    const struct table *referenced;
    for (uint16_t i = 0; i < table->foreign_key_count; i++)
        if (table->foreign_keys[i].oid == oid)
            key = &table->foreign_keys[i];
    if (!key)
        return STATUS_OK;
    enum status status = catalog_table(session, key->referenced, &referenced);
    if (status || !referenced)
        return status;
    text_buffer_puts(out, "FOREIGN KEY (");
    key_columns(arena, table, key->columns, key->column_count, out);
    text_buffer_printf(out, ") REFERENCES %s(", describe_relation_name(session, arena, referenced->schema_name, referenced->name, referenced->oid));
    key_columns(arena, referenced, key->referenced_columns, key->column_count, out);
    text_buffer_puts(out, key->match == MATCH_FULL ? ") MATCH FULL" : ")");
    if (action_text(key->on_update))
        text_buffer_printf(out, " ON UPDATE %s", action_text(key->on_update));
    if (action_text(key->on_delete))
        text_buffer_printf(out, " ON DELETE %s", action_text(key->on_delete));
    if (key->deferrable)
        text_buffer_puts(out, " DEFERRABLE");
    if (key->initially_deferred)
        text_buffer_puts(out, " INITIALLY DEFERRED");
    return STATUS_OK;
}

enum status describe_constraint(struct session *session, struct arena *arena, uint32_t oid, bool pretty, char **out)
{
    struct catalog_access access;
    catalog_access_open(session, arena, &access);
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    const struct table *table;
    *out = NULL;
    enum status status = catalog_get(&access, CATALOG_CONSTRAINT, CONSTRAINT_BY_OID, &key, 1, &row, &found);
    if (!status && found)
        status = catalog_table(session, row.values[CONSTRAINT_conrelid].oid, &table);
    if (status || !found || !table)
        return status;
    struct text_buffer text;
    text_buffer_open(&text, arena);
    switch (row.values[CONSTRAINT_contype].c) {
    case 'c':
        text_buffer_printf(&text, "CHECK (%s)%s", describe_expr(session, arena, table, (struct sql_type){0}, value_string(arena, &row.values[CONSTRAINT_conbin]), pretty), row.values[CONSTRAINT_connoinherit].b ? " NO INHERIT" : "");
        break;
    case 'p': case 'u': {
        const struct index *index = table_index(table, row.values[CONSTRAINT_conindid].oid);
        text_buffer_puts(&text, row.values[CONSTRAINT_contype].c == 'p' ? "PRIMARY KEY (" : index && index->nulls_not_distinct ? "UNIQUE NULLS NOT DISTINCT (" : "UNIQUE (");
        for (uint16_t i = 0; index && i < index->column_count; i++)
            text_buffer_printf(&text, "%s%s", i ? ", " : "", index_column_text(session, arena, table, &index->columns[i], pretty));
        text_buffer_putc(&text, ')');
        break;
    }
    case 'f': status = foreign_key_text(session, arena, table, oid, &text); break;
    default: break;
    }
    if (!row.values[CONSTRAINT_convalidated].b)
        text_buffer_puts(&text, " NOT VALID");
    *out = text.bytes;
    return status;
}

/* ---------------------------------------------------------------- views */

static void show_relation(struct tree_walk *w, struct from_item *item)
{
    struct session *session = w->context;
    uint32_t visible, named;
    if (item->relation->schema && !relation_by_name(session, NULL, item->relation->name, &visible) && !relation_by_name(session, item->relation->schema, item->relation->name, &named) && visible == named)
        item->relation->schema = NULL;
}

enum status describe_view(struct session *session, struct arena *arena, uint32_t oid, bool pretty, char **out)
{
    const struct table *table;
    struct statement_list list;
    *out = NULL;
    enum status status = catalog_table(session, oid, &table);
    if (status || !table || !table->view_text)
        return status;
    status = parse_sql(arena, table->view_text, strlen(table->view_text), &list);
    if (status)
        return status;
    struct tree_walk walk = {.context = session, .relation = show_relation};
    walk_select(&walk, list.items[0]->select);
    const char **names = arena_array(arena, const char *, table->column_count + 1u);
    for (uint16_t i = 0; i < table->column_count; i++)
        names[i] = table->columns[i].name;
    char *text;
    status = show_query(session, arena, list.items[0]->select, names, pretty, &text);
    if (!status)
        *out = arena_printf(arena, "%s;", text);
    return status;
}

/* ---------------------------------------------------------------- what texts depend on */

enum status describe_default_sequence(struct session *session, struct arena *arena, const char *text, uint32_t *oid)
{
    struct ddl d = {.session = session, .arena = arena, .sql = text};
    catalog_access_open(session, arena, &d.access);
    *oid = 0;
    return strstr(text, "regclass") ? default_sequence(&d, text, oid) : STATUS_OK;
}

struct reads { struct ddl d; struct users users; enum status status; };
static void read_relation(struct tree_walk *w, struct from_item *item)
{
    struct reads *r = w->context;
    uint32_t oid;
    if (!r->status)
        r->status = relation_by_name(r->d.session, item->relation->schema, item->relation->name, &oid);
    if (!r->status && oid)
        users_add(&r->d, &r->users, oid);
}

enum status describe_view_relations(struct session *session, struct arena *arena, const struct table *view, uint32_t **oids, uint32_t *count)
{
    struct reads r = {.d = {.session = session, .arena = arena}};
    struct tree_walk walk = {.context = &r, .relation = read_relation};
    if (view->view)
        walk_select(&walk, view->view);
    *oids = r.users.oids;
    *count = r.users.count;
    return r.status;
}
