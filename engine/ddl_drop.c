/* engine/ddl_drop.c - DROP of tables, views, sequences, indexes and schemas, of columns, and of what hangs on them.
 *
 * A plan of the drop is made first: the relations named, then whatever depends on them, to the end of the chain. What goes by itself (a
 * table's indexes, constraints, owned sequences) needs no CASCADE; views that read it, foreign keys of other tables and
 * defaults that call a sequence do. Then the rows are deleted; the files go at commit. */
#include "engine/ddl.h"
#include "engine/describe.h"

#include <stdlib.h>
#include <string.h>

struct dependent { const char *text; };                       /* "view v depends on table t" */
struct foreign { uint32_t table, constraint; const char *name; };
struct default_use { uint32_t table; int16_t column; };
struct drop_plan {
    struct ddl *d;
    struct users relations;                                   /* tables, views, sequences that go */
    struct foreign *foreigns; uint32_t foreign_count;
    struct default_use *defaults; uint32_t default_count;
    const char **dependents, **cascades; uint32_t dependent_count;
    uint32_t named;                                           /* the first so many relations were named by the statement */
};

static const char *kind_name(char kind)
{
    switch (kind) {
    case 'r': return "table";
    case 'v': return "view";
    case 'S': return "sequence";
    case 'i': return "index";
    default: return "relation";
    }
}

static const char *shown_name(struct drop_plan *p, const struct table *t)
{
    const struct table *visible;
    if (!catalog_find(p->d->session, NULL, t->name, &visible) && visible == t)
        return quote_identifier(p->d->arena, t->name);
    return ddl_qualified(p->d->arena, t->schema_name, t->name);
}

static void *list_more(struct ddl *d, void *items, uint32_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? arena_grow(d->arena, items, size * count, size * (count ? (size_t)count * 2 : 1)) : items;
}

static void dependent_add(struct drop_plan *p, const char *object, const char *on)
{
    p->dependents = list_more(p->d, p->dependents, p->dependent_count, sizeof *p->dependents);
    p->cascades = list_more(p->d, p->cascades, p->dependent_count, sizeof *p->cascades);
    p->cascades[p->dependent_count] = object;
    p->dependents[p->dependent_count++] = arena_printf(p->d->arena, "%s depends on %s", object, on);
}

static enum status foreign_add(struct drop_plan *p, const struct foreign_key *key, const char *on)
{
    const struct table *table;
    for (uint32_t i = 0; i < p->foreign_count; i++)
        if (p->foreigns[i].constraint == key->oid)
            return STATUS_OK;
    enum status status = ddl_lock(p->d, key->table, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = ddl_table(p->d, key->table, &table);
    if (status)
        return status;
    p->foreigns = list_more(p->d, p->foreigns, p->foreign_count, sizeof *p->foreigns);
    p->foreigns[p->foreign_count++] = (struct foreign){key->table, key->oid, arena_strdup(p->d->arena, key->name)};
    dependent_add(p, arena_printf(p->d->arena, "constraint %s on table %s", key->name, shown_name(p, table)), on);
    return STATUS_OK;
}

static enum status plan_relation(struct drop_plan *, uint32_t oid);
static enum status plan_view(struct drop_plan *, uint32_t oid, const char *on);

struct default_scan { struct drop_plan *p; uint32_t sequence; enum status status; };
static enum status default_row(void *context, const struct catalog_row *row)
{
    struct default_scan *scan = context;
    struct drop_plan *p = scan->p;
    uint32_t used, table_oid = row->values[ATTRDEF_adrelid].oid;
    char *text = value_string(p->d->arena, &row->values[ATTRDEF_adbin]);
    if (users_has(&p->relations, table_oid) || !strstr(text, "regclass"))
        return STATUS_OK;
    enum status status = default_sequence(p->d, text, &used);
    if (status || used != scan->sequence)
        return status;
    const struct table *table, *sequence;
    status = ddl_lock(p->d, table_oid, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = ddl_table(p->d, table_oid, &table);
    if (!status)
        status = ddl_table(p->d, scan->sequence, &sequence);
    if (status)
        return status;
    int16_t column = row->values[ATTRDEF_adnum].i2;
    p->defaults = list_more(p->d, p->defaults, p->default_count, sizeof *p->defaults);
    p->defaults[p->default_count++] = (struct default_use){table_oid, column};
    dependent_add(p, arena_printf(p->d->arena, "default value for column %s of table %s", table->columns[column - 1].name, shown_name(p, table)),
                  arena_printf(p->d->arena, "sequence %s", shown_name(p, sequence)));
    return STATUS_OK;
}

/* What hangs on one relation, in the order it was made; and what hangs on that. */
struct hanging { uint32_t oid; const struct foreign_key *key; };
static int hanging_order(const void *a, const void *b)
{
    uint32_t x = ((const struct hanging *)a)->oid, y = ((const struct hanging *)b)->oid;
    return x < y ? -1 : x > y;
}

static enum status plan_relation(struct drop_plan *p, uint32_t oid)
{
    struct ddl *d = p->d;
    const struct table *table;
    if (stack_is_deep())
        return stack_too_deep();
    enum status status = ddl_table(d, oid, &table);
    if (status)
        return status;
    const char *on = arena_printf(d->arena, "%s %s", kind_name((char)table->kind), shown_name(p, table));
    if (table->kind == RELATION_SEQUENCE) {
        struct default_scan scan = {.p = p, .sequence = oid};
        return catalog_scan(&d->access, CATALOG_ATTRDEF, -1, NULL, 0, default_row, &scan);
    }
    if (table->kind == RELATION_TABLE) {
        uint32_t *sequences, count;
        status = sequence_owned(d, oid, 0, &sequences, &count);
        for (uint32_t k = 0; !status && k < count; k++) {
            if (users_has(&p->relations, sequences[k]))
                continue;
            users_add(d, &p->relations, sequences[k]);
            status = ddl_lock(d, sequences[k], LOCK_ACCESS_EXCLUSIVE);
            if (!status)
                status = plan_relation(p, sequences[k]);
        }
    }
    struct users views = {0};
    if (!status)
        status = views_using(d, oid, NULL, &views);
    struct hanging *list = arena_array(d->arena, struct hanging, views.count + table->referenced_by_count + 1u);
    uint32_t count = 0;
    for (uint16_t k = 0; k < table->referenced_by_count; k++)
        list[count++] = (struct hanging){table->referenced_by[k].oid, &table->referenced_by[k]};
    for (uint32_t k = 0; k < views.count; k++)
        list[count++] = (struct hanging){views.oids[k], NULL};
    qsort(list, count, sizeof *list, hanging_order);
    for (uint32_t k = 0; !status && k < count; k++) {
        if (list[k].key && !users_has(&p->relations, list[k].key->table))
            status = foreign_add(p, list[k].key, on);
        else if (!list[k].key)
            status = plan_view(p, list[k].oid, on);
    }
    return status;
}

static enum status plan_view(struct drop_plan *p, uint32_t oid, const char *on)
{
    const struct table *view;
    if (users_has(&p->relations, oid))
        return STATUS_OK;
    enum status status = ddl_lock(p->d, oid, LOCK_ACCESS_EXCLUSIVE);
    if (!status)
        status = ddl_table(p->d, oid, &view);
    if (status)
        return status;
    users_add(p->d, &p->relations, oid);
    dependent_add(p, arena_printf(p->d->arena, "view %s", shown_name(p, view)), on);
    return plan_relation(p, oid);
}

/* Everything that goes with the relations in the plan; the list grows meanwhile. */
static enum status plan_dependents(struct drop_plan *p)
{
    enum status status = STATUS_OK;
    uint32_t named = p->relations.count;
    for (uint32_t i = 0; !status && i < named; i++)
        status = plan_relation(p, p->relations.oids[i]);
    return status;
}

/* No CASCADE: nothing may depend. With it: says what goes. */
static enum status plan_judge(struct drop_plan *p, const char *what, bool cascade)
{
    if (!p->dependent_count)
        return STATUS_OK;
    struct text_buffer lines;
    text_buffer_open(&lines, p->d->arena);
    for (uint32_t i = 0; i < p->dependent_count; i++)
        text_buffer_printf(&lines, "%s%s", i ? "\n" : "", cascade ? arena_printf(p->d->arena, "drop cascades to %s", p->cascades[i]) : p->dependents[i]);
    if (cascade) {
        if (p->dependent_count == 1)
            session_notice(p->d->session, "NOTICE", "00000", "%s", lines.bytes);
        else
            session_notice_detail(p->d->session, "NOTICE", "00000", lines.bytes, arena_printf(p->d->arena, "drop cascades to %u other objects", p->dependent_count));
        return STATUS_OK;
    }
    if (p->named > 1)
        error_set(STATUS_DEPENDENT_OBJECTS, "cannot drop desired object(s) because other objects depend on them");
    else
        error_set(STATUS_DEPENDENT_OBJECTS, "cannot drop %s because other objects depend on it", what);
    error_detail("%s", lines.bytes);
    error_hint("Use DROP ... CASCADE to drop the dependent objects too.");
    return STATUS_DEPENDENT_OBJECTS;
}

/* ---------------------------------------------------------------- doing it */

static enum status relation_rows_delete(struct ddl *d, uint32_t oid)
{
    struct value key = value_oid(oid);
    static const struct { enum catalog_id catalog; int index; } rows[] = {
        {CATALOG_ATTRDEF, FIRST_INDEX}, {CATALOG_ATTRIBUTE, FIRST_INDEX}, {CATALOG_CONSTRAINT, CONSTRAINT_BY_TABLE}, {CATALOG_SEQUENCE, FIRST_INDEX},
        {CATALOG_REWRITE, FIRST_INDEX}, {CATALOG_STATISTIC, FIRST_INDEX}, {CATALOG_CLASS, BY_OID},
    };
    enum status status = ddl_description_delete(d, oid, CLASS_RELATION);
    for (size_t i = 0; !status && i < sizeof rows / sizeof rows[0]; i++)
        status = catalog_delete_all(&d->access, rows[i].catalog, rows[i].index, &key, 1);
    return status;
}

enum status drop_sequence_relation(struct ddl *d, uint32_t oid)
{
    struct catalog_row row;
    struct value *v;
    enum status status = ddl_class_get(d, oid, &row, &v);
    if (status)
        return status;
    store_drop_file(d->access.store, d->access.txn, v[CLASS_relfilenode].oid);
    return relation_rows_delete(d, oid);
}

static enum status relation_drop(struct ddl *d, uint32_t oid)
{
    const struct table *table;
    enum status status = ddl_table(d, oid, &table);
    if (status)
        return status;
    if (table->kind == RELATION_SEQUENCE)
        return drop_sequence_relation(d, oid);
    for (uint16_t i = 0; !status && i < table->index_count; i++) {
        if (table->indexes[i].constraint)
            status = ddl_description_delete(d, table->indexes[i].constraint, 2606);
        if (!status)
            status = index_drop(d, table, &table->indexes[i]);
    }
    for (uint16_t i = 0; !status && i < table->check_count; i++)
        status = ddl_description_delete(d, table->checks[i].oid, 2606);
    for (uint16_t i = 0; !status && i < table->foreign_key_count; i++)
        status = ddl_description_delete(d, table->foreign_keys[i].oid, 2606);
    if (!status && table->kind == RELATION_TABLE)
        heap_drop((struct heap *)&table->heap, d->access.txn);
    return status ? status : relation_rows_delete(d, oid);
}

static enum status default_drop(struct ddl *d, const struct default_use *use)
{
    struct catalog_row row;
    struct value *v;
    enum status status = ddl_default_delete(d, use->table, use->column);
    if (!status)
        status = ddl_attribute_get(d, use->table, use->column, &row, &v);
    if (status)
        return status;
    v[ATTRIBUTE_atthasdef] = value_bool(false);
    v[ATTRIBUTE_crab_sequence] = value_oid(0);
    return catalog_update(&d->access, CATALOG_ATTRIBUTE, row.row_id, v);
}

static enum status plan_run(struct drop_plan *p)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < p->foreign_count; i++) {
        struct value key = value_oid(p->foreigns[i].constraint);
        status = catalog_delete_all(&p->d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_OID, &key, 1);
    }
    for (uint32_t i = 0; !status && i < p->default_count; i++)
        if (!users_has(&p->relations, p->defaults[i].table))
            status = default_drop(p->d, &p->defaults[i]);
    for (uint32_t i = 0; !status && i < p->relations.count; i++)
        status = relation_drop(p->d, p->relations.oids[i]);
    if (!status)
        ddl_changed(p->d);
    return status;
}

/* ---------------------------------------------------------------- names */

static const char *object_word(enum object_kind object)
{
    switch (object) {
    case OBJECT_TABLE: return "table";
    case OBJECT_INDEX: return "index";
    case OBJECT_VIEW: return "view";
    case OBJECT_SEQUENCE: return "sequence";
    case OBJECT_SCHEMA: return "schema";
    case OBJECT_MATERIALIZED_VIEW: return "materialized view";
    default: return "object";
    }
}

static enum status wrong_kind(const char *name, enum object_kind wanted, char kind)
{
    static const struct { char kind; const char *drop; } hints[] = {{'r', "TABLE"}, {'v', "VIEW"}, {'S', "SEQUENCE"}, {'i', "INDEX"}};
    error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not %s %s", name, wanted == OBJECT_INDEX ? "an" : "a", object_word(wanted));
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (hints[i].kind == kind)
            error_hint("Use DROP %s to remove %s %s.", hints[i].drop, kind == 'i' ? "an" : "a", kind_name(kind));
    return STATUS_WRONG_OBJECT_TYPE;
}

static enum status missing(struct ddl *d, const struct relation_name *name, enum object_kind object, bool if_exists)
{
    if (name->schema) {
        uint32_t schema;
        enum status status = catalog_schema(d->session, name->schema, &schema);
        if (status)
            return status;
        if (!schema && if_exists) {
            session_notice(d->session, "NOTICE", "00000", "schema \"%s\" does not exist, skipping", name->schema);
            return STATUS_OK;
        }
        if (!schema)
            return error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", name->schema);
    }
    if (if_exists) {
        session_notice(d->session, "NOTICE", "00000", "%s \"%s\" does not exist, skipping", object_word(object), name->name);
        return STATUS_OK;
    }
    return error_set(object == OBJECT_INDEX ? STATUS_UNDEFINED_OBJECT : STATUS_UNDEFINED_TABLE, "%s \"%s\" does not exist", object_word(object), name->name);
}

/* Finds and locks what the statement names; *out NULL when it isn't there and needn't be. */
static enum status target_open(struct ddl *d, const struct relation_name *name, enum object_kind object, bool if_exists, const struct table **out)
{
    const struct index *index;
    const struct table *table;
    *out = NULL;
    enum status status = catalog_find(d->session, name->schema, name->name, &table);
    if (!status && !table) {
        status = catalog_find_index(d->session, name->schema, name->name, &table, &index);
        if (!status && index)
            return wrong_kind(name->name, object, 'i');
        return status ? status : missing(d, name, object, if_exists);
    }
    if (status)
        return status;
    status = ddl_refuse_system(table);
    char wanted = object == OBJECT_TABLE ? 'r' : object == OBJECT_VIEW ? 'v' : object == OBJECT_SEQUENCE ? 'S' : 0;
    if (!status && (char)table->kind != wanted)
        return wrong_kind(name->name, object, (char)table->kind);
    if (!status)
        status = ddl_open(d, name, LOCK_ACCESS_EXCLUSIVE, out);
    if (status == STATUS_UNDEFINED_TABLE) {                   /* dropped while we waited */
        *out = NULL;
        return missing(d, name, object, if_exists);
    }
    return status;
}

/* An identity column's sequence goes with the column only. */
static enum status identity_guard(struct ddl *d, const struct table *sequence, const struct users *going)
{
    struct value key = value_oid(sequence->oid);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, &row, &found);
    if (status || !found || !row.values[SEQUENCE_crab_table].oid || users_has(going, row.values[SEQUENCE_crab_table].oid))
        return status;
    const struct table *table;
    status = catalog_table(d->session, row.values[SEQUENCE_crab_table].oid, &table);
    int16_t c = row.values[SEQUENCE_crab_column].i2;
    if (status || !table || c < 1 || c > table->column_count || !table->columns[c - 1].identity)
        return status;
    error_set(STATUS_DEPENDENT_OBJECTS, "cannot drop sequence %s because column %s of table %s requires it", sequence->name, table->columns[c - 1].name, table->name);
    error_hint("You can drop column %s of table %s instead.", table->columns[c - 1].name, table->name);
    return STATUS_DEPENDENT_OBJECTS;
}

static enum status drop_relations(struct ddl *d, const struct drop_statement *s)
{
    struct drop_plan plan = {.d = d};
    enum status status = STATUS_OK;
    const char *what = "";
    for (int i = 0; !status && i < s->names.count; i++) {
        const struct table *table;
        status = target_open(d, s->names.items[i], s->object, s->if_exists, &table);
        if (!status && table) {
            users_add(d, &plan.relations, table->oid);
            what = arena_printf(d->arena, "%s %s", object_word(s->object), shown_name(&plan, table));
        }
    }
    plan.named = plan.relations.count;
    for (uint32_t i = 0; !status && s->object == OBJECT_SEQUENCE && i < plan.named; i++) {
        const struct table *sequence;
        status = ddl_table(d, plan.relations.oids[i], &sequence);
        if (!status)
            status = identity_guard(d, sequence, &plan.relations);
    }
    if (!status)
        status = plan_dependents(&plan);
    if (!status)
        status = plan_judge(&plan, what, s->cascade);
    return status || !plan.relations.count ? status : plan_run(&plan);
}

/* ---------------------------------------------------------------- indexes */

enum status drop_index_dependents(struct ddl *d, const struct table *table, const struct index *index, const char *what, bool cascade)
{
    struct drop_plan plan = {.d = d, .named = 1};
    enum status status = STATUS_OK;
    const char *on = arena_printf(d->arena, "index %s", quote_identifier(d->arena, index->name));
    uint32_t index_oid = index->oid;
    for (uint16_t i = 0; !status && i < table->referenced_by_count; i++)
        if (table->referenced_by[i].index == index_oid)
            status = foreign_add(&plan, &table->referenced_by[i], on);
    struct users views = {0};
    if (!status && table->primary_key == index_oid)
        status = views_using(d, table->oid, NULL, &views);
    for (uint32_t i = 0; !status && i < views.count; i++) {
        const struct table *view;
        status = ddl_table(d, views.oids[i], &view);
        if (!status && view_needs_key(view, table))
            status = plan_view(&plan, views.oids[i], what);
    }
    if (!status)
        status = plan_judge(&plan, what, cascade);
    return status || (!plan.foreign_count && !plan.relations.count) ? status : plan_run(&plan);
}

static enum status drop_indexes(struct ddl *d, const struct drop_statement *s)
{
    for (int i = 0; i < s->names.count; i++) {
        const struct relation_name *name = s->names.items[i];
        const struct table *table, *other;
        const struct index *index;
        enum status status = catalog_find_index(d->session, name->schema, name->name, &table, &index);
        if (!status && index) {
            uint32_t table_oid = table->oid;
            status = ddl_refuse_system(table);
            if (!status)
                status = ddl_lock(d, table_oid, LOCK_ACCESS_EXCLUSIVE);
            catalog_refresh(d->session);
            if (!status)
                status = catalog_find_index(d->session, name->schema, name->name, &table, &index);
        }
        if (status)
            return status;
        if (!index) {
            status = catalog_find(d->session, name->schema, name->name, &other);
            if (!status && other)
                status = wrong_kind(name->name, OBJECT_INDEX, (char)other->kind);
            else if (!status)
                status = missing(d, name, OBJECT_INDEX, s->if_exists);
            if (status)
                return status;
            continue;
        }
        if (index->constraint) {
            error_set(STATUS_DEPENDENT_OBJECTS, "cannot drop index %s because constraint %s on table %s requires it", index->name, index->name, table->name);
            error_hint("You can drop constraint %s on table %s instead.", index->name, table->name);
            return STATUS_DEPENDENT_OBJECTS;
        }
        uint32_t table_oid = table->oid, index_oid = index->oid;
        status = drop_index_dependents(d, table, index, arena_printf(d->arena, "index %s", index->name), s->cascade);
        if (!status)
            status = ddl_table(d, table_oid, &table);
        if (!status)
            status = index_drop(d, table, table_index(table, index_oid));
        if (status)
            return status;
        ddl_changed(d);
    }
    return STATUS_OK;
}

/* ---------------------------------------------------------------- schemas */

struct in_schema { struct drop_plan *plan; uint32_t schema; };
static enum status relation_of_schema(void *context, const struct table *table)
{
    struct in_schema *in = context;
    if (table->schema == in->schema)
        users_add(in->plan->d, &in->plan->relations, table->oid);
    return STATUS_OK;
}

static enum status sequence_is_owned(struct ddl *d, uint32_t oid, bool *out)
{
    struct value key = value_oid(oid);
    struct catalog_row row;
    bool found;
    enum status status = catalog_get(&d->access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, &row, &found);
    *out = !status && found && row.values[SEQUENCE_crab_table].oid;
    return status;
}

static enum status drop_schema(struct ddl *d, const char *name, bool if_exists, bool cascade)
{
    uint32_t schema;
    enum status status = catalog_schema(d->session, name, &schema);
    if (status)
        return status;
    if (!schema) {
        if (!if_exists)
            return error_set(STATUS_INVALID_SCHEMA_NAME, "schema \"%s\" does not exist", name);
        session_notice(d->session, "NOTICE", "00000", "schema \"%s\" does not exist, skipping", name);
        return STATUS_OK;
    }
    if (schema == SCHEMA_PG_CATALOG || schema == SCHEMA_INFORMATION) {
        return error_set(STATUS_DEPENDENT_OBJECTS, "cannot drop schema %s because it is required by the database system", name);
    }
    status = ddl_lock(d, schema, LOCK_ACCESS_EXCLUSIVE);
    struct drop_plan plan = {.d = d, .named = 1};
    struct in_schema in = {.plan = &plan, .schema = schema};
    if (!status)
        status = catalog_each(d->session, relation_of_schema, &in);
    uint32_t inside = plan.relations.count;
    for (uint32_t i = 0; !status && i < inside; i++) {
        const struct table *table;
        status = ddl_lock(d, plan.relations.oids[i], LOCK_ACCESS_EXCLUSIVE);
        if (!status)
            status = ddl_table(d, plan.relations.oids[i], &table);
        bool owned = false;                                   /* goes with its table, without a word */
        if (!status && table->kind == RELATION_SEQUENCE)
            status = sequence_is_owned(d, table->oid, &owned);
        if (!status && !owned)
            dependent_add(&plan, arena_printf(d->arena, "%s %s", kind_name((char)table->kind), shown_name(&plan, table)), arena_printf(d->arena, "schema %s", name));
    }
    if (!status)
        status = plan_dependents(&plan);
    if (!status)
        status = plan_judge(&plan, arena_printf(d->arena, "schema %s", name), cascade);
    if (!status)
        status = plan_run(&plan);
    struct value key = value_oid(schema);
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_NAMESPACE, BY_OID, &key, 1);
    if (!status)
        status = ddl_description_delete(d, schema, 2615);
    if (!status)
        ddl_changed(d);
    return status;
}

enum status drop_objects(struct ddl *d, const struct drop_statement *s)
{
    enum status status = STATUS_OK;
    switch (s->object) {
    case OBJECT_TABLE: case OBJECT_VIEW: case OBJECT_SEQUENCE: return drop_relations(d, s);
    case OBJECT_INDEX: return drop_indexes(d, s);
    case OBJECT_SCHEMA:
        for (int i = 0; !status && i < s->names.count; i++)
            status = drop_schema(d, s->names.items[i]->name, s->if_exists, s->cascade);
        return status;
    case OBJECT_MATERIALIZED_VIEW:
        for (int i = 0; !status && i < s->names.count; i++) {
            const struct table *table;
            status = catalog_find(d->session, s->names.items[i]->schema, s->names.items[i]->name, &table);
            if (!status)
                status = table ? wrong_kind(table->name, OBJECT_MATERIALIZED_VIEW, (char)table->kind) : missing(d, s->names.items[i], OBJECT_MATERIALIZED_VIEW, s->if_exists);
        }
        return status;
    default: return ddl_unsupported("DROP of this kind of object is");
    }
}

/* ---------------------------------------------------------------- ALTER TABLE … DROP COLUMN */

static bool index_uses(const struct index *index, const struct table *table, int at)
{
    for (uint16_t i = 0; i < index->column_count; i++) {
        if (index->columns[i].column == at + 1)
            return true;
        if (index->columns[i].expr && expr_uses_column(index->columns[i].expr, table->columns[at].name))
            return true;
    }
    return index->predicate && expr_uses_column(index->predicate, table->columns[at].name);
}

static enum status constraint_delete(struct ddl *d, uint32_t oid)
{
    struct value key = value_oid(oid);
    enum status status = catalog_delete_all(&d->access, CATALOG_CONSTRAINT, CONSTRAINT_BY_OID, &key, 1);
    return status ? status : ddl_description_delete(d, oid, 2606);
}

/* Generated columns whose expression reads the column. */
static enum status generated_users(struct drop_plan *p, const struct table *table, int at, const char *on, int16_t *out, uint16_t *count)
{
    *count = 0;
    for (uint16_t i = 0; i < table->column_count; i++) {
        const struct column *c = &table->columns[i];
        if (!c->generated || c->dropped || i == at || !c->default_expr || !expr_uses_column(c->default_expr, table->columns[at].name))
            continue;
        out[(*count)++] = c->number;
        dependent_add(p, arena_printf(p->d->arena, "column %s of table %s", c->name, shown_name(p, table)), on);
    }
    return STATUS_OK;
}

static enum status column_drop_rows(struct ddl *d, uint32_t table_oid, int at)
{
    const struct table *table;
    enum status status = ddl_table(d, table_oid, &table);
    int checks = 0;
    for (uint16_t i = 0; !status && i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        if (!index_uses(index, table, at))
            continue;
        if (index->constraint)
            status = constraint_delete(d, index->constraint);
        if (!status)
            status = index_drop(d, table, index);
    }
    for (uint16_t i = 0; !status && i < table->check_count; i++)
        if (expr_uses_column(table->checks[i].expr, table->columns[at].name)) {
            status = constraint_delete(d, table->checks[i].oid);
            checks++;
        }
    for (uint16_t i = 0; !status && i < table->foreign_key_count; i++)
        for (uint16_t k = 0; k < table->foreign_keys[i].column_count; k++)
            if (table->foreign_keys[i].columns[k] == at + 1) {
                status = constraint_delete(d, table->foreign_keys[i].oid);
                break;
            }
    if (!status && checks)
        status = ddl_class_flags(d, table_oid, -checks, false, false);
    uint32_t *sequences, count;
    if (!status)
        status = sequence_owned(d, table_oid, (int16_t)(at + 1), &sequences, &count);
    for (uint32_t i = 0; !status && i < count; i++)
        status = drop_sequence_relation(d, sequences[i]);
    if (!status)
        status = ddl_default_delete(d, table_oid, (int16_t)(at + 1));
    struct value statistics[2] = {value_oid(table_oid), value_i2((int16_t)(at + 1))};
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_STATISTIC, FIRST_INDEX, statistics, 2);
    struct value description[3] = {value_oid(table_oid), value_oid(CLASS_RELATION), value_i4(at + 1)};
    if (!status)
        status = catalog_delete_all(&d->access, CATALOG_DESCRIPTION, FIRST_INDEX, description, 3);
    if (!status)
        status = views_forget_column(d, table, table->columns[at].name);
    /* Pages where the column has no null bytes can't take rows without it. */
    bool rewrite = !table->heap.columns[at].nullable;
    if (!status && rewrite) {
        struct rewrite_column *columns = arena_array(d->arena, struct rewrite_column, table->column_count);
        rewrite_columns(d, table, columns);
        columns[at].dropped = columns[at].nullable = true;
        columns[at].not_null = false;
        status = table_rewrite(d, table, columns, table->column_count);
    }
    struct catalog_row row;
    struct value *v;
    if (!status)
        status = ddl_attribute_get(d, table_oid, (int16_t)(at + 1), &row, &v);
    if (status)
        return status;
    v[ATTRIBUTE_attname] = value_text(arena_printf(d->arena, "........pg.dropped.%d........", at + 1));
    v[ATTRIBUTE_attisdropped] = value_bool(true);
    v[ATTRIBUTE_attnotnull] = v[ATTRIBUTE_atthasdef] = v[ATTRIBUTE_atthasmissing] = value_bool(false);
    v[ATTRIBUTE_attidentity] = v[ATTRIBUTE_attgenerated] = value_char(0);
    v[ATTRIBUTE_crab_sequence] = value_oid(0);
    v[ATTRIBUTE_attmissingval] = value_null();
    if (rewrite)
        v[ATTRIBUTE_crab_nullable] = value_bool(true);
    status = catalog_update(&d->access, CATALOG_ATTRIBUTE, row.row_id, v);
    if (!status)
        ddl_changed(d);
    return status || !rewrite ? status : table_reindex(d, table_oid);
}

enum status drop_column(struct ddl *d, const struct table *table, const char *name, bool if_exists, bool cascade)
{
    int at = table_column(table, name);
    if (at < 0) {
        if (!if_exists)
            return error_set(STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", name, table->name);
        session_notice(d->session, "NOTICE", "00000", "column \"%s\" of relation \"%s\" does not exist, skipping", name, table->name);
        return STATUS_OK;
    }
    struct drop_plan plan = {.d = d, .named = 1};
    uint32_t oid = table->oid;
    const char *what = arena_printf(d->arena, "column %s of table %s", name, shown_name(&plan, table));
    struct users views = {0};
    enum status status = views_using(d, oid, name, &views);
    struct hanging *list = arena_array(d->arena, struct hanging, views.count + (size_t)table->referenced_by_count * (table->index_count + 1u) + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; i < views.count; i++)
        list[count++] = (struct hanging){views.oids[i], NULL};
    for (uint16_t i = 0; i < table->index_count; i++)
        for (uint16_t k = 0; index_uses(&table->indexes[i], table, at) && k < table->referenced_by_count; k++)
            if (table->referenced_by[k].index == table->indexes[i].oid)
                list[count++] = (struct hanging){table->referenced_by[k].oid, &table->referenced_by[k]};
    qsort(list, count, sizeof *list, hanging_order);
    for (uint32_t i = 0; !status && i < count; i++)
        status = list[i].key ? foreign_add(&plan, list[i].key, what) : plan_view(&plan, list[i].oid, what);
    int16_t *generated = arena_array(d->arena, int16_t, table->column_count + 1);
    uint16_t generated_count = 0;
    if (!status)
        status = generated_users(&plan, table, at, what, generated, &generated_count);
    if (!status)
        status = plan_judge(&plan, what, cascade);
    if (!status && (plan.relations.count || plan.foreign_count))
        status = plan_run(&plan);
    for (uint16_t i = 0; !status && i < generated_count; i++)
        status = column_drop_rows(d, oid, generated[i] - 1);
    return status ? status : column_drop_rows(d, oid, at);
}
