/* engine/plan/analyze.c - what names mean: FROM items, their columns, WITH queries, and the columns that expressions name.
 *
 * A scope is what one query level can see. Each FROM item shows a `space`: some columns, each with the expression it
 * stands for. A join with USING shows a nameless space of its own, in which merged columns come first; the spaces of
 * its two sides then answer to qualified names only. A name is looked for level by level, from the inside out; the
 * first level that has it decides, and two hits on one level are ambiguous.
 *
 * LATERAL: items see the spaces before them; a subquery without LATERAL gets a shadow of the scope without spaces, in
 * which only the WITH queries are left. */
#include <stdarg.h>
#include <string.h>

#include "engine/catalog/views.h"
#include "engine/plan/query.h"

enum status fail_at(struct planner *p, int position, enum status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(p->arena, format, args);
    va_end(args);
    error_set(status, "%s", text);
    if (position > 0) error_position(position);
    return status;
}

struct rel *planner_rel(struct planner *p, enum rel_kind kind, const char *name, uint16_t columns, uint16_t level)
{
    struct rel *r = arena_new(p->arena, struct rel);
    if (p->rel_count == p->rel_capacity) {
        uint32_t capacity = p->rel_capacity ? p->rel_capacity * 2 : 16;
        p->rels = arena_grow(p->arena, p->rels, p->rel_capacity * sizeof *p->rels, capacity * sizeof *p->rels);
        p->rel_capacity = capacity;
    }
    r->id = p->rel_count;
    p->rels[p->rel_count++] = r;
    r->kind = kind;
    r->level = level;
    r->name = name;
    r->column_count = columns;
    r->names = arena_array(p->arena, const char *, columns ? columns : 1);
    r->types = arena_array(p->arena, struct sql_type, columns ? columns : 1);
    return r;
}

void query_add_rel(struct planner *p, struct query *q, struct rel *r)
{
    q->rels = arena_grow(p->arena, q->rels, q->rel_count * sizeof *q->rels, (q->rel_count + 1u) * sizeof *q->rels);
    q->rels[q->rel_count++] = r;
}

void planner_lock_note(struct planner *p, uint32_t oid, enum table_lock mode)
{
    for (uint32_t i = 0; i < p->table_count; i++)
        if (p->tables[i].oid == oid) {
            if (p->tables[i].mode < mode) p->tables[i].mode = mode;
            return;
        }
    if (p->table_count == p->table_capacity) {
        uint32_t capacity = p->table_capacity ? p->table_capacity * 2 : 4;
        p->tables = arena_grow(p->arena, p->tables, p->table_capacity * sizeof *p->tables, capacity * sizeof *p->tables);
        p->table_capacity = capacity;
    }
    p->tables[p->table_count++] = (struct planned_table){ oid, mode };
}

void scope_add(struct planner *p, struct scope *scope, struct space *space)
{
    if (scope->space_count == scope->space_capacity) {
        uint32_t capacity = scope->space_capacity ? scope->space_capacity * 2 : 4;
        scope->spaces = arena_grow(p->arena, scope->spaces, scope->space_capacity * sizeof *scope->spaces, capacity * sizeof *scope->spaces);
        scope->space_capacity = capacity;
    }
    scope->spaces[scope->space_count++] = space;
}

struct space *space_of_rel(struct planner *p, struct rel *r, const char *alias, const char *schema)
{
    struct space *s = arena_new(p->arena, struct space);
    s->alias = alias;
    s->schema = schema;
    s->rel = r;
    s->qualified = s->unqualified = true;
    s->columns = arena_array(p->arena, struct space_column, r->column_count ? r->column_count : 1);
    for (int i = 0; i < r->column_count; i++) {
        if (r->table && r->table->columns[i].dropped) continue;
        struct space_column *c = &s->columns[s->column_count++];
        c->name = r->names[i];
        c->value = scalar_var(p->arena, r, (uint16_t)i, 0);
        if (r->table) {
            c->origin_table = r->table->oid;
            c->origin_column = r->table->columns[i].number;
        } else if (r->kind == REL_SUBQUERY && r->query && r->query->origin_tables && i < r->query->visible_count) {
            c->origin_table = r->query->origin_tables[i];
            c->origin_column = r->query->origin_columns[i];
        }
    }
    return s;
}

/* ---- looking names up ---- */

struct space *scope_space(struct scope *scope, const char *schema, const char *name, int *levels)
{
    int level = 0;
    for (struct scope *s = scope; s; s = s->outer, level++) {
        for (uint32_t i = 0; i < s->space_count; i++) {
            struct space *space = s->spaces[i];
            if (!space->qualified || !space->alias || strcmp(space->alias, name) != 0) continue;
            if (schema && (!space->schema || strcmp(space->schema, schema) != 0)) continue;
            if (levels) *levels = level;
            return space;
        }
        if (s->barrier) break;
    }
    return NULL;
}

static struct scalar *at_position(struct planner *p, struct scalar *s, int position)
{
    if (s->kind == SCALAR_PARAMETER) return s;
    struct scalar *copy = scalar_copy(p->arena, s);
    copy->position = position;
    return copy;
}

static struct scalar *system_column(struct planner *p, struct rel *r, const char *name, int position)
{
    if (!r || !r->table) return NULL;
    if (strcmp(name, "tableoid") == 0) {
        struct scalar *c = scalar_new(p->arena, SCALAR_CONST, type_make(OID_OID, -1), position);
        c->constant.oid = r->table->oid;
        return c;
    }
    if (strcmp(name, "ctid") == 0 && r->kind == REL_TABLE && type_make(OID_TID, -1).width == 8) {
        struct scalar *s = scalar_var(p->arena, r, ROW_ID_COLUMN, position);
        s->type = type_make(OID_TID, -1);
        return s;
    }
    return NULL;
}

static enum status check_reachable(struct planner *p, const struct space *space, int position)
{
    if (!space->unreachable) return STATUS_OK;
    enum status status = fail_at(p, position, STATUS_INVALID_COLUMN_REFERENCE, "invalid reference to FROM-clause entry for table \"%s\"", space->alias ? space->alias : "?");
    error_detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.");
    return status;
}

static bool is_system_name(const char *name)
{
    static const char *const names[] = { "xmin", "xmax", "cmin", "cmax", "ctid" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static struct scalar *whole_row(struct planner *p, const struct space *space, int position)
{
    struct scalar *row = scalar_new(p->arena, SCALAR_ROW, type_make(OID_RECORD, -1), position);
    row->args = arena_array(p->arena, struct scalar *, space->column_count ? space->column_count : 1);
    for (uint32_t i = 0; i < space->column_count; i++) row->args[i] = space->columns[i].value;
    row->arg_count = (int32_t)space->column_count;
    return row;
}

enum status scope_column(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    int count = e->column.count;
    char **names = e->column.names;
    if (count == 1) {
        const char *name = names[0];
        for (struct scope *s = scope; s; s = s->outer) {
            const struct space_column *hit = NULL;
            const struct space *of = NULL;
            for (uint32_t i = 0; i < s->space_count; i++) {
                const struct space *space = s->spaces[i];
                if (!space->unqualified) continue;
                for (uint32_t c = 0; c < space->column_count; c++) {
                    if (strcmp(space->columns[c].name, name) != 0) continue;
                    if (hit) return fail_at(p, e->position, STATUS_AMBIGUOUS_COLUMN, "column reference \"%s\" is ambiguous", name);
                    hit = &space->columns[c];
                    of = space;
                }
            }
            if (hit) {
                enum status status = check_reachable(p, of, e->position);
                if (status) return status;
                *out = at_position(p, hit->value, e->position);
                return STATUS_OK;
            }
            struct scalar *system = NULL;
            for (uint32_t i = 0; i < s->space_count; i++) {
                struct scalar *one = s->spaces[i]->qualified ? system_column(p, s->spaces[i]->rel, name, e->position) : NULL;
                if (one && system) return fail_at(p, e->position, STATUS_AMBIGUOUS_COLUMN, "column reference \"%s\" is ambiguous", name);
                if (one) system = one;
            }
            if (system) {
                *out = system;
                return STATUS_OK;
            }
            if (s->barrier) break;
        }
        if (scope && is_system_name(name) && scope->space_count)
            return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "system column \"%s\" is not supported", name);
        struct space *row = scope_space(scope, NULL, name, NULL);
        if (row) {
            *out = whole_row(p, row, e->position);
            return STATUS_OK;
        }
        return no_such_column(p, scope, NULL, name, e->position);
    }
    if (count > 4) return fail_at(p, e->position, STATUS_SYNTAX, "improper qualified name (too many dotted names)");
    if (count == 4 && strcmp(names[0], "postgres") != 0)
        return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "cross-database references are not implemented: %s.%s.%s.%s", names[0], names[1], names[2], names[3]);
    const char *schema = count >= 3 ? names[count - 3] : NULL, *table = names[count - 2], *name = names[count - 1];
    struct space *space = scope_space(scope, schema, table, NULL);
    if (!space) return no_such_space(p, scope, table, e->position);
    enum status reachable = check_reachable(p, space, e->position);
    if (reachable) return reachable;
    const struct space_column *hit = NULL;
    for (uint32_t c = 0; c < space->column_count; c++) {
        if (strcmp(space->columns[c].name, name) != 0) continue;
        if (hit) return fail_at(p, e->position, STATUS_AMBIGUOUS_COLUMN, "column reference \"%s\" is ambiguous", name);
        hit = &space->columns[c];
    }
    if (hit) {
        *out = at_position(p, hit->value, e->position);
        return STATUS_OK;
    }
    struct scalar *system = system_column(p, space->rel, name, e->position);
    if (system) {
        *out = system;
        return STATUS_OK;
    }
    if (is_system_name(name)) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "system column \"%s\" is not supported", name);
    return no_such_column(p, scope, table, name, e->position);
}

/* ---- WITH ---- */

static struct cte_query *scope_cte(struct scope *scope, const char *name, bool *past_barrier)
{
    (void)past_barrier;
    for (struct scope *s = scope; s; s = s->outer) {
        for (uint32_t i = s->cte_count; i-- > 0;)
            if (strcmp(s->ctes[i]->name, name) == 0) return s->ctes[i];
        if (s->barrier) break;
    }
    return NULL;
}

static bool visit_below(void *context, const struct scalar *s) { return s->kind == SCALAR_VAR && s->var.rel < *(uint16_t *)context; }

static enum status cte_columns(struct planner *p, struct cte_query *c, const struct query *q)
{
    c->column_count = q->visible_count;
    c->names = arena_array(p->arena, const char *, q->visible_count ? q->visible_count : 1);
    c->types = arena_array(p->arena, struct sql_type, q->visible_count ? q->visible_count : 1);
    const struct name_list *names = &c->syntax->columns;
    if (names->count > q->visible_count)
        return fail_at(p, c->syntax->position, STATUS_INVALID_COLUMN_REFERENCE, "WITH query \"%s\" has %d columns available but %d columns specified",
                       c->name, q->visible_count, names->count);
    for (int i = 0; i < q->visible_count; i++) {
        c->names[i] = i < names->count ? names->items[i] : q->names[i];
        c->types[i] = q->targets[i]->type;
    }
    return STATUS_OK;
}

static enum status analyze_cte(struct planner *p, struct scope *scope, struct cte_query *c, bool recursive)
{
    const struct statement *st = c->syntax->statement;
    enum status status;
    uint16_t first = p->rel_count;
    struct query *q;
    if (st->kind != STATEMENT_SELECT) {  /* runs whether anybody reads it or not */
        if (scope->level > 0)
            return fail_at(p, c->syntax->position, STATUS_FEATURE_NOT_SUPPORTED, "WITH clause containing a data-modifying statement must be at the top level");
        switch (st->kind) {
        case STATEMENT_INSERT: status = analyze_insert(p, scope, st->insert, &q); break;
        case STATEMENT_UPDATE: status = analyze_update(p, scope, st->update, &q); break;
        case STATEMENT_DELETE: status = analyze_delete(p, scope, st->delete_, &q); break;
        default: status = fail_at(p, c->syntax->position, STATUS_FEATURE_NOT_SUPPORTED, "statements of this kind in WITH are not supported");
        }
        if (status) return status;
        p->writes = true;
        q->targets = q->returning.items;
        q->names = q->returning_names;
        q->target_count = q->visible_count = (uint16_t)q->returning.count;
        p->modifying = arena_grow(p->arena, p->modifying, p->modifying_count * sizeof *p->modifying, (p->modifying_count + 1u) * sizeof *p->modifying);
        p->modifying[p->modifying_count++] = c;
        if ((status = cte_columns(p, c, q))) return status;
        c->query = q;
        return STATUS_OK;
    }
    if (recursive && st->select->set == SET_UNION && !st->select->with) {
        const struct select *u = st->select;
        uint32_t references = c->references;
        if ((status = analyze_select(p, scope, u->left, false, &c->initial))) return status;
        if (c->references != references)
            return fail_at(p, c->syntax->position, STATUS_INVALID_RECURSION, "recursive reference to query \"%s\" must not appear within its non-recursive term", c->name);
        for (int i = 0; i < c->initial->visible_count; i++)   /* the form must hold whatever the steps make */
            if (c->initial->targets[i]->type.oid == OID_NUMERIC) {
                struct sql_type *types = arena_array(p->arena, struct sql_type, c->initial->visible_count);
                for (int k = 0; k < c->initial->visible_count; k++) {
                    types[k] = c->initial->targets[k]->type;
                    if (types[k].oid == OID_NUMERIC) types[k] = type_make(OID_NUMERIC, -1);
                }
                if ((status = query_coerce(p, &c->initial, types, CAST_IMPLICIT, "UNION"))) return status;
                break;
            }
        if ((status = cte_columns(p, c, c->initial))) return status;
        c->recursive = true;
        if ((status = analyze_select(p, scope, u->right, true, &c->step))) return status;
        if (c->references == references) {
            c->recursive = false;        /* it doesn't mention itself: an ordinary UNION */
            if ((status = analyze_select(p, scope, u, false, &q))) return status;
        } else {
            const struct expr *tail = u->order_by.count ? u->order_by.items[0]->expr : u->offset ? u->offset : u->limit;
            if (tail)
                return fail_at(p, tail->position, STATUS_FEATURE_NOT_SUPPORTED, "%s in a recursive query is not implemented", u->order_by.count ? "ORDER BY" : u->offset ? "OFFSET" : "LIMIT");
            if (u->locking_count) return fail_at(p, 0, STATUS_FEATURE_NOT_SUPPORTED, "FOR UPDATE/SHARE in a recursive query is not implemented");
            if (c->step->visible_count != c->initial->visible_count)
                return fail_at(p, u->right->targets.count ? u->right->targets.items[0]->position : u->right->position, STATUS_SYNTAX, "each UNION query must have the same number of columns");
            for (int i = 0; i < c->column_count; i++) {
                struct scalar *pair[2] = { scalar_null(p->arena, c->types[i], 0), c->step->targets[i] };
                struct sql_type t;
                if ((status = common_type(p, pair, 2, "UNION", &t))) return status;
                if (t.oid != c->types[i].oid) {
                    status = fail_at(p, u->left->targets.count > i ? u->left->targets.items[i]->position : 0, STATUS_DATATYPE_MISMATCH,
                                     "recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall", c->name, i + 1,
                                     type_text(p, c->types[i]), type_text(p, t));
                    error_hint("Cast the output of the non-recursive term to the correct type.");
                    return status;
                }
            }
            if ((status = query_coerce(p, &c->step, c->types, CAST_IMPLICIT, "UNION"))) return status;
            c->all = u->all;
            c->references = references;  /* from outside */
            q = c->initial;
        }
    } else if ((status = analyze_select(p, scope, st->select, false, &q)))
        return status;
    if (!c->recursive && (status = cte_columns(p, c, q))) return status;
    c->query = q;
    c->correlated = query_walk(q, visit_below, &first) || (c->step && query_walk(c->step, visit_below, &first));
    if (c->correlated && c->recursive)
        return fail_at(p, c->syntax->position, STATUS_FEATURE_NOT_SUPPORTED, "a recursive WITH query that refers to an outer query is not supported");
    return STATUS_OK;
}

/* A query of a recursive clause, once. */
static enum status cte_begin(struct planner *p, struct cte_query *c)
{
    if (c->begun) return STATUS_OK;
    const char *place = p->self_place;
    c->begun = true;
    c->around = p->analyzing;
    p->analyzing = c;
    p->self_place = NULL;
    enum status status = analyze_cte(p, c->scope, c, true);
    p->analyzing = c->around;
    p->self_place = place;
    return status;
}

/* c is mentioned while it is being analyzed. If another of its list is being analyzed within it, each needs the other. */
static enum status check_mutual(struct planner *p, const struct cte_query *c)
{
    const struct cte_query *inside = p->analyzing;
    while (inside && inside->list != c->list) inside = inside->around;
    if (!inside || inside == c) return STATUS_OK;
    const struct cte_query *first = inside;
    for (const struct cte_query *q = inside; q != c; q = q->around)
        if (q->list == c->list && q->syntax->position < first->syntax->position) first = q;
    if (c->syntax->position < first->syntax->position) first = c;
    return fail_at(p, first->syntax->position, STATUS_FEATURE_NOT_SUPPORTED, "mutual recursion between WITH items is not implemented");
}

enum status scope_with(struct planner *p, struct scope *scope, const struct with *with)
{
    if (!with) return STATUS_OK;
    scope->with = with;
    for (int i = 0; i < with->count; i++) {
        const struct cte *syntax = with->items[i];
        for (int k = 0; k < i; k++)
            if (strcmp(with->items[k]->name, syntax->name) == 0)
                return fail_at(p, syntax->position, STATUS_DUPLICATE_ALIAS, "WITH query name \"%s\" specified more than once", syntax->name);
        struct cte_query *c = arena_new(p->arena, struct cte_query);
        c->name = syntax->name;
        c->syntax = syntax;
        c->index = -1;
        c->scope = scope;
        c->level = scope->level;
        c->list = with;
        enum status status;
        if (!with->recursive && (status = analyze_cte(p, scope, c, false))) return status;
        if (scope->cte_count == scope->cte_capacity) {
            uint32_t capacity = scope->cte_capacity ? scope->cte_capacity * 2 : 4;
            scope->ctes = arena_grow(p->arena, scope->ctes, scope->cte_capacity * sizeof *scope->ctes, capacity * sizeof *scope->ctes);
            scope->cte_capacity = capacity;
        }
        scope->ctes[scope->cte_count++] = c;
    }
    for (int i = 0; with->recursive && i < with->count; i++) {           /* each may mention any */
        enum status status = cte_begin(p, scope->ctes[scope->cte_count - (uint32_t)with->count + (uint32_t)i]);
        if (status) return status;
    }
    return STATUS_OK;
}

/* ---- FROM ---- */

static enum status rename_columns(struct planner *p, struct space *space, struct rel *r, const struct from_item *item, const char *name)
{
    if (item->columns.count == 0) return STATUS_OK;
    if ((uint32_t)item->columns.count > space->column_count)
        return fail_at(p, 0, STATUS_INVALID_COLUMN_REFERENCE, "table \"%s\" has %u columns available but %d columns specified",
                       name, space->column_count, item->columns.count);
    for (int i = 0; i < item->columns.count; i++) {
        space->columns[i].name = item->columns.items[i];
        const struct scalar *v = space->columns[i].value;
        if (r && v->kind == SCALAR_VAR && v->var.rel == r->id && !r->table) r->names[v->var.column] = item->columns.items[i];
    }
    return STATUS_OK;
}

static struct from_node *node_of_rel(struct planner *p, struct rel *r)
{
    struct from_node *n = arena_new(p->arena, struct from_node);
    n->rel = r;
    return n;
}

static void rel_of_query(struct planner *p, struct rel *r, struct query *q)
{
    r->query = q;
    for (int i = 0; i < q->visible_count; i++) {
        r->names[i] = q->names[i];
        r->types[i] = q->targets[i]->type;
    }
    (void)p;
}

struct query *query_wrap(struct planner *p, struct query *inner, const char *name)
{
    struct query *q = query_new(p, STATEMENT_SELECT, inner->level);
    struct rel *r = planner_rel(p, REL_SUBQUERY, name, inner->visible_count, inner->level);
    rel_of_query(p, r, inner);
    query_add_rel(p, q, r);
    q->from.count = q->from.capacity = 1;
    q->from.items = arena_array(p->arena, struct from_node *, 1);
    q->from.items[0] = node_of_rel(p, r);
    q->target_count = q->visible_count = inner->visible_count;
    q->targets = arena_array(p->arena, struct scalar *, inner->visible_count ? inner->visible_count : 1);
    q->names = inner->names;
    q->origin_tables = inner->origin_tables;
    q->origin_columns = inner->origin_columns;
    for (int i = 0; i < inner->visible_count; i++) q->targets[i] = scalar_var(p->arena, r, (uint16_t)i, inner->targets[i]->position);
    return q;
}

static struct rel *rel_of_table(struct planner *p, const struct table *table, const char *name, uint16_t level)
{
    struct rel *r = planner_rel(p, table->virtual_table || table->kind == RELATION_SEQUENCE ? REL_VIRTUAL : REL_TABLE, name, table->column_count, level);
    r->table = table;
    r->origin = table->oid;
    for (int i = 0; i < table->column_count; i++) {
        r->names[i] = table->columns[i].name;
        r->types[i] = table->columns[i].type;
    }
    return r;
}

static enum status check_relation_kind(struct planner *p, const struct table *table, int position, const char *name)
{
    if (table->kind == RELATION_INDEX)
        return fail_at(p, position, STATUS_WRONG_OBJECT_TYPE, "cannot open relation \"%s\"", name);
    return STATUS_OK;
}

/* A view: its query is analyzed as if it stood in a session without any names around. */
static enum status analyze_view(struct planner *p, struct scope *scope, const struct table *table, const char *name, struct rel **out)
{
    if (++p->depth > 100) return stack_too_deep();
    struct scope outside = { .level = scope->level, .barrier = true };
    struct query *q;
    uint32_t *types = p->parameter_types;
    p->parameter_types = NULL;
    enum status status = analyze_select(p, &outside, table->view, false, &q);
    p->parameter_types = types;
    p->depth--;
    if (status) return status;
    struct rel *r = planner_rel(p, REL_SUBQUERY, name, q->visible_count, scope->level);
    rel_of_query(p, r, q);
    q->origin_tables = arena_array(p->arena, uint32_t, q->visible_count + 1u);        /* RowDescription names the view, not what it reads */
    q->origin_columns = arena_array(p->arena, int16_t, q->visible_count + 1u);
    for (int i = 0; i < q->visible_count && i < table->column_count; i++) {
        r->names[i] = table->columns[i].name;
        q->origin_tables[i] = table->oid;
        q->origin_columns[i] = table->columns[i].number;
    }
    *out = r;
    return STATUS_OK;
}

/* No such table: is there a WITH query of that name further on? */
static void explain_forward(const struct scope *scope, const char *name)
{
    for (const struct scope *s = scope; s; s = s->outer)
        for (int i = 0; s->with && i < s->with->count; i++)
            if (strcmp(s->with->items[i]->name, name) == 0) {
                error_detail("There is a WITH item named \"%s\", but it cannot be referenced from this part of the query.", name);
                error_hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.");
                return;
            }
}

static enum status analyze_relation(struct planner *p, struct scope *scope, const struct from_item *item, struct rel **out, const char **schema)
{
    const struct relation_name *name = item->relation;
    *schema = NULL;
    if (item->sample_method) return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "TABLESAMPLE is not supported");
    if (!name->schema) {
        struct cte_query *c = scope_cte(scope, name->name, NULL);
        if (c) {
            enum status begun = c->list->recursive ? cte_begin(p, c) : STATUS_OK;
            if (begun) return begun;
            bool self = c->query == NULL;
            if (self && (begun = check_mutual(p, c))) return begun;
            if (self && !c->recursive) {
                c->references++;
                const struct select *own = c->syntax->statement->kind == STATEMENT_SELECT ? c->syntax->statement->select : NULL;
                if (own && own->set == SET_UNION && own->with)
                    return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "a recursive WITH query with a WITH clause of its own is not supported");
                if (own && own->set == SET_UNION)
                    return fail_at(p, item->position, STATUS_INVALID_RECURSION, "recursive reference to query \"%s\" must not appear within its non-recursive term", c->name);
                return fail_at(p, c->syntax->position, STATUS_INVALID_RECURSION,
                               "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c->name);
            }
            if (self && p->self_place)
                return fail_at(p, item->position, STATUS_INVALID_RECURSION, "recursive reference to query \"%s\" must not appear within %s", c->name, p->self_place);
            c->references++;
            if (self && c->references > 1)   /* a join of the step's rows with themselves: no fixed point is defined */
                return fail_at(p, item->position, STATUS_INVALID_RECURSION, "recursive reference to query \"%s\" must not appear more than once", c->name);
            if (!self && c->query->kind != STATEMENT_SELECT && !c->query->returning.count)
                return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "WITH query \"%s\" does not have a RETURNING clause", c->name);
            struct rel *r;
            if (!self && !c->recursive && c->references > 1 && (c->syntax->materialized == MATERIALIZED_NEVER || c->correlated)) {
                struct query *q;         /* a copy of its own for each place */
                enum status status = analyze_select(p, c->scope, c->syntax->statement->select, false, &q);
                if (status) return status;
                r = planner_rel(p, REL_SUBQUERY, item->alias ? item->alias : name->name, c->column_count, scope->level);
                rel_of_query(p, r, q);
            } else {
                r = planner_rel(p, REL_CTE, item->alias ? item->alias : name->name, c->column_count, scope->level);
                r->cte = c;
                r->working_table = self;
            }
            for (int i = 0; i < c->column_count; i++) {
                r->names[i] = c->names[i];
                r->types[i] = c->types[i];
            }
            *out = r;
            return STATUS_OK;
        }
    }
    const struct table *table;
    enum status status = catalog_open(p->session, name, LOCK_ACCESS_SHARE, &table);
    if (status == STATUS_UNDEFINED_TABLE && !name->schema) explain_forward(scope, name->name);
    if (status) return status;
    if ((status = check_relation_kind(p, table, item->position, name->name))) return status;
    *schema = table->schema_name;
    planner_lock_note(p, table->oid, LOCK_ACCESS_SHARE);
    const char *alias = item->alias ? item->alias : name->name;
    if (table->kind == RELATION_VIEW && table->view) return analyze_view(p, scope, table, alias, out);
    *out = rel_of_table(p, table, alias, scope->level);
    return STATUS_OK;
}

/* A scope without the spaces of this level: for FROM items without LATERAL. */
static struct scope *shadow_of(struct planner *p, const struct scope *scope)
{
    struct scope *s = arena_copy(p->arena, scope, sizeof *scope);
    s->space_count = s->space_capacity = 0;
    s->spaces = NULL;
    s->hidden = scope;
    return s;
}

static enum status analyze_function_item(struct planner *p, struct scope *scope, const struct from_item *item, struct rel **out)
{
    if (item->functions.count != 1) return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "ROWS FROM with several functions is not supported");
    if (item->definition_count) return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "column definition lists of functions are not supported");
    const struct expr *e = item->functions.items[0];
    const struct function *f = NULL;
    struct scalar **args = NULL, *plain = NULL;
    uint16_t count = 0;
    struct sql_type result;
    const char *clause = scope->clause;
    scope->clause = "functions in FROM";
    enum status status = bind_set_function(p, scope, e, &f, &args, &count, &result, &plain);
    scope->clause = clause;
    if (status) return status;
    const char *name = item->alias ? item->alias : tree_column_name(e);
    uint16_t own = f && f->column_count ? f->column_count : 1, columns = (uint16_t)(own + item->with_ordinality);
    struct rel *r;
    if (plain) {                         /* an ordinary function: one row */
        if (plain->type.oid == OID_RECORD) return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "functions that return record in FROM are not supported");
        struct query *q = query_new(p, STATEMENT_SELECT, (uint16_t)(scope->level + 1));
        if ((status = resolve_unknown(p, plain, &plain))) return status;
        q->target_count = q->visible_count = columns;
        q->targets = arena_array(p->arena, struct scalar *, 2);
        q->names = arena_array(p->arena, const char *, 2);
        q->origin_tables = arena_array(p->arena, uint32_t, 2);
        q->origin_columns = arena_array(p->arena, int16_t, 2);
        q->targets[0] = plain;
        q->names[0] = name;
        q->targets[1] = scalar_int8(p->arena, 1);
        q->names[1] = "ordinality";
        r = planner_rel(p, REL_SUBQUERY, name, columns, scope->level);
        rel_of_query(p, r, q);
    } else {
        if (result.oid == OID_RECORD && !f->column_count) return fail_at(p, item->position, STATUS_FEATURE_NOT_SUPPORTED, "functions that return records in FROM are not supported: %s", f->name);
        r = planner_rel(p, REL_FUNCTION, name, columns, scope->level);
        r->function = f;
        r->args = args;
        r->arg_count = count;
        r->ordinality = item->with_ordinality;
        r->types[0] = result;
        for (uint16_t i = 0; i < f->column_count; i++) {
            r->types[i] = type_make(f->columns[i].type, -1);
            r->names[i] = f->columns[i].name;
        }
        if (item->with_ordinality) {
            r->types[own] = type_make(OID_INT8, -1);
            r->names[own] = "ordinality";
        }
    }
    if (!f || !f->column_count) r->names[0] = name;
    r->lateral = true;                   /* functions see what stands before them even without the word */
    *out = r;
    return STATUS_OK;
}

static enum status check_alias(struct planner *p, const struct scope *scope, const struct space *s)
{
    for (uint32_t i = 0; i < scope->space_count; i++) {
        const struct space *o = scope->spaces[i];
        if (o->qualified && o->alias && s->alias && strcmp(o->alias, s->alias) == 0 &&
            !(o->schema && s->schema && strcmp(o->schema, s->schema) != 0))
            return fail_at(p, 0, STATUS_DUPLICATE_ALIAS, "table name \"%s\" specified more than once", s->alias);
    }
    return STATUS_OK;
}

static enum status analyze_item(struct planner *p, struct scope *scope, const struct from_item *item, struct from_node **out);

static const struct space_column *side_column(struct planner *p, const struct scope *scope, uint32_t from, uint32_t to, const char *name,
                                              const char *side, bool required, enum status *status)
{
    const struct space_column *hit = NULL;
    *status = STATUS_OK;
    for (uint32_t i = from; i < to; i++) {
        const struct space *s = scope->spaces[i];
        if (!s->unqualified) continue;
        for (uint32_t c = 0; c < s->column_count; c++) {
            if (strcmp(s->columns[c].name, name) != 0) continue;
            if (hit) {
                *status = fail_at(p, 0, STATUS_AMBIGUOUS_COLUMN, "common column name \"%s\" appears more than once in %s table", name, side);
                return NULL;
            }
            hit = &s->columns[c];
        }
    }
    if (!hit && required)
        *status = fail_at(p, 0, STATUS_UNDEFINED_COLUMN, "column \"%s\" specified in USING clause does not exist in %s table", name, side);
    return hit;
}

static enum status analyze_join(struct planner *p, struct scope *scope, const struct from_item *item, struct from_node **out)
{
    struct from_node *n = arena_new(p->arena, struct from_node);
    uint32_t first = scope->space_count;
    enum status status;
    if (stack_is_deep()) return stack_too_deep();
    const char *place = p->self_place;
    bool nulls_left = item->join == JOIN_RIGHT || item->join == JOIN_FULL, nulls_right = item->join == JOIN_LEFT || item->join == JOIN_FULL;
    if (nulls_left && !place) p->self_place = "an outer join";
    if ((status = analyze_item(p, scope, item->left, &n->left))) return status;
    uint32_t middle = scope->space_count;
    p->self_place = nulls_right && !place ? "an outer join" : place;
    for (uint32_t i = first; i < middle; i++) scope->spaces[i]->unreachable |= nulls_left;
    if ((status = analyze_item(p, scope, item->right, &n->right))) return status;
    for (uint32_t i = first; i < middle; i++) scope->spaces[i]->unreachable = false;
    p->self_place = place;
    uint32_t last = scope->space_count;
    switch (item->join) {
    case JOIN_LEFT: n->join = PLAN_LEFT; break;
    case JOIN_RIGHT: n->join = PLAN_RIGHT; break;
    case JOIN_FULL: n->join = PLAN_FULL; break;
    default: n->join = PLAN_INNER;
    }
    struct name_list merged = item->using_columns;
    if (item->natural) {
        merged.count = 0;
        int room = 0;
        for (uint32_t i = first; i < middle; i++) room += (int)scope->spaces[i]->column_count;
        merged.items = arena_array(p->arena, char *, room ? room : 1);
        merged.positions = NULL;
        for (uint32_t i = first; i < middle; i++) {
            if (!scope->spaces[i]->unqualified) continue;
            for (uint32_t c = 0; c < scope->spaces[i]->column_count; c++) {
                char *name = (char *)(uintptr_t)scope->spaces[i]->columns[c].name;
                if (side_column(p, scope, middle, last, name, "right", false, &status)) merged.items[merged.count++] = name;
                if (status) return status;
            }
        }
    }
    if (merged.count || item->natural) {
        uint32_t total = (uint32_t)merged.count;
        for (uint32_t i = first; i < last; i++)
            if (scope->spaces[i]->unqualified) total += scope->spaces[i]->column_count;
        struct space *s = arena_new(p->arena, struct space);
        s->unqualified = true;
        s->columns = arena_array(p->arena, struct space_column, total ? total : 1);
        for (int i = 0; i < merged.count; i++) {
            int position = merged.positions ? merged.positions[i] : item->position;
            for (int k = 0; k < i && !item->natural; k++)
                if (strcmp(merged.items[k], merged.items[i]) == 0)
                    return fail_at(p, 0, STATUS_DUPLICATE_COLUMN, "column name \"%s\" appears more than once in USING clause", merged.items[i]);
            const struct space_column *l = side_column(p, scope, first, middle, merged.items[i], "left", true, &status);
            if (status) return status;
            const struct space_column *r = side_column(p, scope, middle, last, merged.items[i], "right", true, &status);
            if (status) return status;
            struct scalar *equal;
            if ((status = make_operator(p, NULL, "=", l->value, r->value, position, &equal))) return status;
            conjuncts_add(p->arena, &n->on, equal);
            struct scalar *pair[2] = { l->value, r->value };
            if ((status = coerce_to_common(p, pair, 2, "JOIN/USING"))) return status;
            struct space_column *c = &s->columns[s->column_count++];
            *c = *l;
            if (n->join == PLAN_RIGHT) { c->value = pair[1]; c->origin_table = r->origin_table; c->origin_column = r->origin_column; }
            else if (n->join == PLAN_FULL) {
                c->value = scalar_new(p->arena, SCALAR_COALESCE, pair[0]->type, position);
                c->value->args = arena_copy(p->arena, pair, sizeof pair);
                c->value->arg_count = 2;
                c->origin_table = 0;
                c->origin_column = 0;
            } else c->value = pair[0];
        }
        for (uint32_t i = first; i < last; i++) {
            struct space *o = scope->spaces[i];
            if (!o->unqualified) continue;
            for (uint32_t c = 0; c < o->column_count; c++) {
                bool is_merged = false;
                for (int m = 0; m < merged.count && !is_merged; m++) is_merged = strcmp(merged.items[m], o->columns[c].name) == 0;
                if (!is_merged) s->columns[s->column_count++] = o->columns[c];
            }
        }
        for (uint32_t i = first; i < last; i++) {
            struct space *o = arena_copy(p->arena, scope->spaces[i], sizeof *o);
            o->unqualified = false;
            scope->spaces[i] = o;
        }
        scope_add(p, scope, s);
        if (item->using_alias) {
            struct space *u = arena_new(p->arena, struct space);
            u->alias = item->using_alias;
            u->qualified = true;
            u->columns = s->columns;
            u->column_count = (uint32_t)merged.count;
            scope_add(p, scope, u);
        }
    } else if (item->on) {
        struct scope inside = *scope;
        inside.spaces = scope->spaces + first;
        inside.space_count = inside.space_capacity = last - first;
        inside.hidden = scope;
        if ((status = bind_boolean(p, &inside, item->on, "JOIN/ON", &n->on))) return status;
    }
    if (item->alias) {                   /* (a JOIN b) AS j hides a and b */
        uint32_t total = 0;
        for (uint32_t i = first; i < scope->space_count; i++)
            if (scope->spaces[i]->unqualified) total += scope->spaces[i]->column_count;
        struct space *s = arena_new(p->arena, struct space);
        s->alias = item->alias;
        s->qualified = s->unqualified = true;
        s->columns = arena_array(p->arena, struct space_column, total ? total : 1);
        for (uint32_t i = first; i < scope->space_count; i++) {
            const struct space *o = scope->spaces[i];
            for (uint32_t c = 0; o->unqualified && c < o->column_count; c++) s->columns[s->column_count++] = o->columns[c];
        }
        scope->space_count = first;
        if ((status = check_alias(p, scope, s))) return status;
        if ((status = rename_columns(p, s, NULL, item, item->alias))) return status;
        scope_add(p, scope, s);
    }
    *out = n;
    return STATUS_OK;
}

#define FROM_MAX 4096                    /* far more than can be planned */

static enum status analyze_item(struct planner *p, struct scope *scope, const struct from_item *item, struct from_node **out)
{
    enum status status;
    struct rel *r = NULL;
    const char *schema = NULL;
    if (item->kind == FROM_JOIN) return analyze_join(p, scope, item, out);
    if (scope->space_count >= FROM_MAX) return fail_at(p, 0, STATUS_TOO_COMPLEX, "too many relations in one FROM clause");
    if (item->kind == FROM_TABLE) {
        if ((status = analyze_relation(p, scope, item, &r, &schema))) return status;
    } else if (item->kind == FROM_SUBQUERY) {
        if (!item->alias) {
            status = fail_at(p, item->position, STATUS_SYNTAX, "%s in FROM must have an alias", item->select->row_count ? "VALUES" : "subquery");
            error_hint(item->select->row_count ? "For example, FROM (VALUES ...) [AS] foo." : "For example, FROM (SELECT ...) [AS] foo.");
            return status;
        }
        struct query *q;
        if ((status = analyze_select(p, item->lateral ? scope : shadow_of(p, scope), item->select, false, &q))) return status;
        r = planner_rel(p, REL_SUBQUERY, item->alias, q->visible_count, scope->level);
        rel_of_query(p, r, q);
        r->lateral = item->lateral;
    } else if ((status = analyze_function_item(p, scope, item, &r)))
        return status;
    query_add_rel(p, scope->query, r);
    struct space *s = space_of_rel(p, r, item->alias ? item->alias : r->name, item->alias ? NULL : schema);
    /* f() AS x: x names the one column too */
    if ((status = rename_columns(p, s, r, item, s->alias))) return status;
    if ((status = check_alias(p, scope, s))) return status;
    scope_add(p, scope, s);
    *out = node_of_rel(p, r);
    return STATUS_OK;
}

enum status analyze_from(struct planner *p, struct scope *scope, const struct from_list *list, struct from_nodes *out)
{
    out->items = arena_array(p->arena, struct from_node *, list->count ? list->count : 1);
    out->capacity = (uint32_t)list->count;
    for (int i = 0; i < list->count; i++) {
        enum status status = analyze_item(p, scope, list->items[i], &out->items[out->count]);
        if (status) return status;
        out->count++;
    }
    return STATUS_OK;
}

/* Why PostgreSQL wouldn't change this view either; NULL: it would. */
static const char *view_obstacle(const struct select *s)
{
    if (s->with) return "Views containing WITH are not automatically updatable.";
    if (s->distinct) return "Views containing DISTINCT are not automatically updatable.";
    if (s->has_group_by) return "Views containing GROUP BY are not automatically updatable.";
    if (s->having) return "Views containing HAVING are not automatically updatable.";
    if (s->set != SET_NONE) return "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.";
    if (s->limit || s->offset) return "Views containing LIMIT or OFFSET are not automatically updatable.";
    if (s->from.count != 1 || s->from.items[0]->kind != FROM_TABLE) return "Views that do not select from a single table or view are not automatically updatable.";
    return NULL;
}

static enum status view_refused(struct planner *p, const struct table *view, const char *verb)
{
    const char *obstacle = view->view ? view_obstacle(view->view) : NULL;
    enum status status = fail_at(p, 0, obstacle ? STATUS_OBJECT_NOT_READY : STATUS_FEATURE_NOT_SUPPORTED, "cannot %s view \"%s\"", verb, view->name);
    if (!obstacle) return status;
    bool insert = strncmp(verb, "insert", 6) == 0, update = strncmp(verb, "update", 6) == 0;
    error_detail("%s", obstacle);
    error_hint("To enable %s the view, provide an INSTEAD OF %s trigger or an unconditional ON %s DO INSTEAD rule.", insert ? "inserting into" : update ? "updating" : "deleting from",
               insert ? "INSERT" : update ? "UPDATE" : "DELETE", insert ? "INSERT" : update ? "UPDATE" : "DELETE");
    return status;
}

/* The table that INSERT, UPDATE or DELETE writes. */
enum status scope_open_target(struct planner *p, struct scope *scope, const struct relation_name *name, const char *alias, const char *verb, struct rel **out)
{
    const struct table *table;
    enum status status = catalog_open(p->session, name, LOCK_ROW_EXCLUSIVE, &table);
    if (status) return status;
    planner_lock_note(p, table->oid, LOCK_ROW_EXCLUSIVE);
    if (table->kind == RELATION_VIEW && !table->virtual_table) return view_refused(p, table, verb);
    if (table->kind == RELATION_SEQUENCE) return fail_at(p, 0, STATUS_WRONG_OBJECT_TYPE, "cannot change sequence \"%s\"", table->name);
    if (table->kind == RELATION_INDEX) return fail_at(p, name->position, STATUS_WRONG_OBJECT_TYPE, "cannot open relation \"%s\"", table->name);
    if (table->virtual_table || table->system) return fail_at(p, 0, STATUS_INSUFFICIENT_PRIVILEGE, "permission denied: \"%s\" is a system catalog", table->name);
    struct rel *r = rel_of_table(p, table, alias ? alias : table->name, scope->level);
    scope_add(p, scope, space_of_rel(p, r, alias ? alias : table->name, alias ? NULL : table->schema_name));
    query_add_rel(p, scope->query, r);
    *out = r;
    return STATUS_OK;
}
