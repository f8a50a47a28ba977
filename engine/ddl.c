/* engine/ddl.c - statements that define things: which there are, and the small ones (schemas, comments). The rest stands in
 * ddl_*.c; see ddl.h for who does what, and for the rules. */
#include "engine/ddl.h"

#include <string.h>

bool ddl_handles(enum statement_kind kind)
{
    switch (kind) {
    case STATEMENT_CREATE_TABLE: case STATEMENT_CREATE_TABLE_AS: case STATEMENT_CREATE_INDEX: case STATEMENT_CREATE_VIEW: case STATEMENT_CREATE_SEQUENCE: case STATEMENT_ALTER_SEQUENCE:
    case STATEMENT_CREATE_SCHEMA: case STATEMENT_DROP: case STATEMENT_ALTER: case STATEMENT_TRUNCATE: case STATEMENT_COMMENT: case STATEMENT_REINDEX: case STATEMENT_CLUSTER: return true;
    default: return false;
    }
}

static enum status statement_execute(struct ddl *, const struct statement *, uint64_t *rows);

/* ---------------------------------------------------------------- CREATE SCHEMA */

static enum status create_schema(struct ddl *d, const struct create_schema_statement *s)
{
    const char *name = s->name ? s->name : s->owner;
    uint32_t exists;
    if (s->owner && strcmp(s->owner, session_user(d->session)) && strcmp(s->owner, "postgres") && strcmp(s->owner, "current_user") && strcmp(s->owner, "session_user"))
        return error_set(STATUS_UNDEFINED_OBJECT, "role \"%s\" does not exist", s->owner);
    if (!strncmp(name, "pg_", 3)) {
        error_set(STATUS_RESERVED_NAME, "unacceptable schema name \"%s\"", name);
        error_detail("The prefix \"pg_\" is reserved for system schemas.");
        return STATUS_RESERVED_NAME;
    }
    enum status status = catalog_schema(d->session, name, &exists);
    if (status)
        return status;
    if (exists && s->if_not_exists) {
        session_notice(d->session, "NOTICE", "42P06", "schema \"%s\" already exists, skipping", name);
        return STATUS_OK;
    }
    if (exists)
        return error_set(STATUS_DUPLICATE_SCHEMA, "schema \"%s\" already exists", name);
    struct value v[NAMESPACE_COLUMNS] = {value_oid(catalog_new_oid(d->access.store)), value_text(name), value_oid(OWNER_OID), value_null()};
    status = catalog_insert(&d->access, CATALOG_NAMESPACE, v);
    if (status == STATUS_UNIQUE_VIOLATION)
        status = error_set(STATUS_DUPLICATE_SCHEMA, "schema \"%s\" already exists", name);
    if (!status)
        ddl_changed(d);
    for (int i = 0; !status && i < s->element_count; i++) {   /* its tables and views stand in it unless they say otherwise */
        struct statement *element = s->elements[i];
        struct relation_name *relation = element->kind == STATEMENT_CREATE_TABLE ? element->create_table->relation : element->kind == STATEMENT_CREATE_VIEW ? element->create_view->relation
                                         : element->kind == STATEMENT_CREATE_SEQUENCE ? element->sequence->relation : element->kind == STATEMENT_CREATE_INDEX ? element->create_index->relation : NULL;
        if (relation && !relation->schema)
            relation->schema = (char *)name;
        uint64_t rows;
        status = statement_execute(d, element, &rows);
    }
    return status;
}

/* ---------------------------------------------------------------- COMMENT ON */

static enum status comment_store(struct ddl *d, uint32_t object, uint32_t class, int32_t column, const char *text)
{
    struct value keys[3] = {value_oid(object), value_oid(class), value_i4(column)};
    enum status status = catalog_delete_all(&d->access, CATALOG_DESCRIPTION, FIRST_INDEX, keys, 3);
    if (status || !text || !*text)
        return status;
    struct value v[DESCRIPTION_COLUMNS] = {keys[0], keys[1], keys[2], value_text(text)};
    return catalog_insert(&d->access, CATALOG_DESCRIPTION, v);
}

static enum status comment(struct ddl *d, const struct comment_statement *s)
{
    const struct table *table;
    const struct index *index;
    enum status status;
    switch (s->object) {
    case OBJECT_TABLE: case OBJECT_VIEW: case OBJECT_SEQUENCE: {
        status = ddl_open(d, s->relation, LOCK_SHARE_UPDATE_EXCLUSIVE, &table);
        if (status)
            return status;
        char wanted = s->object == OBJECT_TABLE ? 'r' : s->object == OBJECT_VIEW ? 'v' : 'S';
        if ((char)table->kind != wanted)
            return error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a %s", table->name, wanted == 'r' ? "table" : wanted == 'v' ? "view" : "sequence");
        return comment_store(d, table->oid, CLASS_RELATION, 0, s->text);
    }
    case OBJECT_COLUMN: {
        status = ddl_open(d, s->relation, LOCK_SHARE_UPDATE_EXCLUSIVE, &table);
        if (status)
            return status;
        int at = table_column(table, s->name);
        if (at < 0)
            return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", s->name, table->name);
        return comment_store(d, table->oid, CLASS_RELATION, at + 1, s->text);
    }
    case OBJECT_INDEX:
        status = catalog_find_index(d->session, s->relation->schema, s->relation->name, &table, &index);
        if (!status && !index)
            status = ddl_fail(s->relation->position, STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", s->relation->name);
        if (!status)
            status = ddl_refuse_system(table);
        return status ? status : comment_store(d, index->oid, CLASS_RELATION, 0, s->text);
    case OBJECT_CONSTRAINT: {
        struct catalog_row row;
        bool found;
        status = ddl_open(d, s->relation, LOCK_SHARE_UPDATE_EXCLUSIVE, &table);
        if (!status)
            status = constraint_find(d, table->oid, s->name, &row, &found);
        if (!status && !found)
            status = error_set(STATUS_UNDEFINED_OBJECT, "constraint \"%s\" for table \"%s\" does not exist", s->name, table->name);
        return status ? status : comment_store(d, row.values[CONSTRAINT_oid].oid, 2606, 0, s->text);
    }
    case OBJECT_SCHEMA: {
        uint32_t schema;
        const char *name = s->relation ? s->relation->name : s->name;
        status = catalog_schema(d->session, name, &schema);
        if (!status && !schema)
            status = error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", name);
        return status ? status : comment_store(d, schema, 2615, 0, s->text);
    }
    case OBJECT_DATABASE: {
        const char *name = s->relation ? s->relation->name : s->name;
        if (strcmp(name, session_database(d->session)))
            return error_set(STATUS_INVALID_CATALOG_NAME, "database \"%s\" does not exist", name);
        return comment_store(d, 5, 1262, 0, s->text);
    }
    default: return ddl_unsupported("COMMENT ON %s is", s->object_name ? s->object_name : "this kind of object");
    }
}

/* ---------------------------------------------------------------- all of them */

static enum status statement_execute(struct ddl *d, const struct statement *s, uint64_t *rows)
{
    *rows = 0;
    switch (s->kind) {
    case STATEMENT_CREATE_TABLE: return create_table(d, s->create_table);
    case STATEMENT_CREATE_TABLE_AS: return create_table_as(d, s->create_table_as, rows);
    case STATEMENT_CREATE_INDEX: return create_index(d, s->create_index);
    case STATEMENT_CREATE_VIEW: return create_view(d, s->create_view);
    case STATEMENT_CREATE_SEQUENCE: return create_sequence(d, s->sequence);
    case STATEMENT_ALTER_SEQUENCE: return alter_sequence(d, s->sequence);
    case STATEMENT_CREATE_SCHEMA: return create_schema(d, s->create_schema);
    case STATEMENT_DROP: return drop_objects(d, s->drop);
    case STATEMENT_ALTER: return alter_relation(d, s->alter);
    case STATEMENT_TRUNCATE: return truncate_tables(d, s->truncate);
    case STATEMENT_COMMENT: return comment(d, s->comment);
    case STATEMENT_REINDEX: return reindex(d, s->reindex);
    case STATEMENT_CLUSTER: return ddl_unsupported("CLUSTER is");
    default: return error_set(STATUS_INTERNAL, "not a statement of DDL: %s", statement_tag(s));
    }
}

/* Trees are changed on the way (names get their schemas), so it is a tree of our own that we work on: a prepared statement's must stay
 * as it is. */
static enum status own_tree(struct ddl *d, const struct statement *statement, uint64_t *row_count)
{
    struct statement_list own;
    catalog_access_open(d->session, d->arena, &d->access);
    enum status status = parse_sql(d->arena, d->sql, (size_t)statement->length, &own);
    if (!status && (own.count != 1 || own.items[0]->kind != statement->kind))
        status = error_set(STATUS_INTERNAL, "statement reads differently the second time");
    if (!status)
        status = statement_execute(d, own.items[0], row_count);
    if (!status && (!d->explains || d->counters))
        ddl_changed(d);
    else if (status && error_current()->position)
        error_current()->position += statement->start - 1;
    return status;
}

enum status ddl_execute(struct session *session, const struct statement *statement, const char *sql, uint64_t *row_count)
{
    struct ddl d = {.session = session, .arena = session_statement_arena(session), .sql = sql + statement->start - 1, .command = statement_tag(statement), .altering = statement->kind == STATEMENT_ALTER};
    return own_tree(&d, statement, row_count);
}

enum status ddl_explain(struct session *session, const struct statement *statement, const char *sql, struct exec_counters *counters, struct prepared_plan **plan)
{
    struct ddl d = {.session = session, .arena = session_statement_arena(session), .sql = sql + statement->start - 1, .command = statement_tag(statement), .explains = true, .counters = counters};
    uint64_t rows;
    enum status status = own_tree(&d, statement, &rows);
    *plan = d.plan;
    return status;
}
