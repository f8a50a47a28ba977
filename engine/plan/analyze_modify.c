/* engine/plan/analyze_modify.c - INSERT, UPDATE, DELETE, and all that writing a row of a table needs to have bound.
 *
 * Values are cast to their column's type as an assignment. DEFAULT stands for the column's default expression; columns
 * that aren't named get it from the executor (table_writes). RETURNING reads the new row (DELETE: the old one) as the
 * target's columns, and the columns of FROM or USING as they were. */
#include <string.h>

#include "engine/plan/query.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

static enum status assign_value(struct planner *p, struct scalar *s, const struct column *c, int position, struct scalar **out)
{
    if (s->type.oid != c->type.oid && !can_coerce(s->type.oid, c->type.oid, CAST_ASSIGNMENT)) {
        enum status status = fail_at(p, s->position ? s->position : position, STATUS_DATATYPE_MISMATCH, "column \"%s\" is of type %s but expression is of type %s", c->name,
                                     type_format(c->type.oid, -1, p->arena), type_text(p, s->type));
        error_hint("You will need to rewrite or cast the expression.");
        return status;
    }
    TRY(coerce(p, s, c->type, CAST_ASSIGNMENT, s->position, &s));
    if (s->type.oid == OID_NUMERIC) {
        if (scalar_is_null_const(s)) s = scalar_null(p->arena, c->type, s->position);
        else TRY(coerce_form(p, s, c->type, &s));
    }
    *out = s;
    return STATUS_OK;
}

static int find_target_column(const struct table *t, const char *name) { return table_column(t, name); }

static enum status no_column(struct planner *p, const struct table *t, const char *name, int position)
{
    return fail_at(p, position, STATUS_UNDEFINED_COLUMN, "column \"%s\" of relation \"%s\" does not exist", name, t->name);
}

static struct scalar *default_of(struct planner *p, const struct table_writes *w, int column)
{
    struct scalar *s = w->defaults[column];
    return s ? s : scalar_null(p->arena, w->table->columns[column].type, 0);
}

static enum status analyze_returning(struct planner *p, struct scope *scope, struct query *q, const struct target_list *list)
{
    if (!list->count) return STATUS_OK;
    struct target_expansion t = { 0 };
    scope->clause = "RETURNING";
    scope->aggregates_ok = scope->windows_ok = scope->sets_ok = false;
    TRY(expand_targets(p, scope, list, false, &t));
    q->returning = t.values;
    q->returning_names = t.names;
    q->returning_tables = t.tables;
    q->returning_columns = t.columns;
    return STATUS_OK;
}

static struct scope *open_scope(struct planner *p, struct query *q)
{
    struct scope *s = arena_new(p->arena, struct scope);
    s->query = q;
    s->level = q->level;
    return s;
}

/* ---- SET a = x, (b, c) = (y, z) ---- */

static enum status set_one(struct planner *p, struct scope *scope, const struct table *t, const struct assignment_target *target, const struct expr *e,
                           struct scalar *value, const struct table_writes *w, struct scalar **assigned)
{
    int c = find_target_column(t, target->column);
    if (c < 0) return no_column(p, t, target->column, target->position);
    if (target->indirection) return fail_at(p, target->position, STATUS_FEATURE_NOT_SUPPORTED, "assignment to array elements and fields is not supported");
    if (assigned[c]) return fail_at(p, 0, STATUS_SYNTAX, "multiple assignments to same column \"%s\"", target->column);
    const struct column *column = &t->columns[c];
    bool is_default = e && e->kind == EXPR_DEFAULT;
    if (!is_default && (column->generated || column->identity == 'a')) {
        enum status status = fail_at(p, 0, STATUS_GENERATED_ALWAYS, "column \"%s\" can only be updated to DEFAULT", column->name);
        if (column->generated) error_detail("Column \"%s\" is a generated column.", column->name);
        else error_detail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", column->name);
        return status;
    }
    if (is_default) {
        assigned[c] = column->generated ? scalar_null(p->arena, column->type, 0) : default_of(p, w, c);
        return STATUS_OK;
    }
    if (!value) {
        scope->clause = "UPDATE";
        TRY(bind_node(p, scope, e, &value));
    }
    return assign_value(p, value, column, target->position, &assigned[c]);
}

static enum status analyze_set(struct planner *p, struct scope *scope, const struct table *t, const struct assignment_list *list, const struct table_writes *w, struct scalar **assigned)
{
    for (int i = 0; i < list->count; i++) {
        const struct assignment *a = list->items[i];
        if (!a->is_row) {
            TRY(set_one(p, scope, t, &a->targets[0], a->value, NULL, w, assigned));
            continue;
        }
        if (a->value->kind == EXPR_ROW) {
            if (a->value->row.list.count != a->count) return fail_at(p, a->position, STATUS_SYNTAX, "number of columns does not match number of values");
            for (int k = 0; k < a->count; k++) TRY(set_one(p, scope, t, &a->targets[k], a->value->row.list.items[k], NULL, w, assigned));
            continue;
        }
        if (a->value->kind != EXPR_SUBQUERY) {
            if (a->count == 1) {
                TRY(set_one(p, scope, t, &a->targets[0], a->value, NULL, w, assigned));
                continue;
            }
            return fail_at(p, a->value->position, STATUS_FEATURE_NOT_SUPPORTED, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression");
        }
        for (int k = 0; k < a->count; k++) {     /* the subquery once for each column of it */
            struct query *q;
            TRY(analyze_select(p, scope, a->value->select, false, &q));
            if (q->visible_count != a->count) return fail_at(p, a->value->position, STATUS_SYNTAX, "number of columns does not match number of values");
            q = query_wrap(p, q, "set");
            q->targets[0] = q->targets[k];
            q->target_count = q->visible_count = 1;
            struct scalar *s = scalar_new(p->arena, SCALAR_SUBQUERY, q->targets[0]->type, a->value->position);
            s->subquery.kind = SUBQUERY_SCALAR;
            s->subquery.query = q;
            TRY(set_one(p, scope, t, &a->targets[k], NULL, s, w, assigned));
        }
    }
    return STATUS_OK;
}

/* ---- INSERT ---- */

static enum status insert_mismatch(struct planner *p, bool more_values, int position)
{
    return fail_at(p, position, STATUS_SYNTAX, more_values ? "INSERT has more expressions than target columns" : "INSERT has more target columns than expressions");
}

static enum status check_generated(struct planner *p, const struct insert_statement *st, const struct column *c, bool *skip)
{
    *skip = false;
    if (c->generated) {
        enum status status = fail_at(p, 0, STATUS_GENERATED_ALWAYS, "cannot insert a non-DEFAULT value into column \"%s\"", c->name);
        error_detail("Column \"%s\" is a generated column.", c->name);
        return status;
    }
    if (c->identity == 'a' && st->overriding == OVERRIDING_NONE) {
        enum status status = fail_at(p, 0, STATUS_GENERATED_ALWAYS, "cannot insert a non-DEFAULT value into column \"%s\"", c->name);
        error_detail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c->name);
        error_hint("Use OVERRIDING SYSTEM VALUE to override.");
        return status;
    }
    if (c->identity && st->overriding == OVERRIDING_USER) *skip = true;
    return STATUS_OK;
}

/* INSERT … VALUES: each expression goes straight to its column's type. */
static enum status insert_values(struct planner *p, struct scope *scope, struct query *q, const struct insert_statement *st, const uint16_t *columns, uint16_t count)
{
    const struct select *select = st->source;
    const struct table *t = q->table;
    struct query *s = query_new(p, STATEMENT_SELECT, (uint16_t)(scope->level + 1));
    struct scope *inside = open_scope(p, s);
    inside->outer = scope;
    int given = select->rows[0].count;
    s->row_count = (uint32_t)select->row_count;
    s->rows = arena_array(p->arena, struct scalar **, s->row_count);
    inside->clause = "VALUES";
    bool *only_default = arena_array(p->arena, bool, given ? given : 1);
    for (int c = 0; c < given; c++) only_default[c] = true;
    for (uint32_t r = 0; r < s->row_count; r++) {
        const struct expr_list *row = &select->rows[r];
        if (row->count != given) return fail_at(p, row->count ? row->items[0]->position : select->position, STATUS_SYNTAX, "VALUES lists must all be the same length");
        if (given > count) return insert_mismatch(p, true, row->items[count]->position);
        if (given < count && st->column_count) return insert_mismatch(p, false, st->columns[given].position);
        s->rows[r] = arena_array(p->arena, struct scalar *, given ? given : 1);
        for (int c = 0; c < given; c++) {
            const struct expr *e = row->items[c];
            const struct column *column = &t->columns[columns[c]];
            if (e->kind == EXPR_DEFAULT) {
                s->rows[r][c] = column->generated ? scalar_null(p->arena, column->type, e->position) : default_of(p, q->writes, columns[c]);
                continue;
            }
            bool skip;
            TRY(check_generated(p, st, column, &skip));
            struct scalar *v;
            TRY(bind_node(p, inside, e, &v));
            TRY(assign_value(p, v, column, e->position, &s->rows[r][c]));
            if (skip) s->rows[r][c] = default_of(p, q->writes, columns[c]);
            only_default[c] = false;
        }
    }
    uint16_t kept = 0;                   /* a generated column is nobody's to give */
    for (int c = 0; c < given; c++) {
        if (only_default[c] && t->columns[columns[c]].generated) continue;
        for (uint32_t r = 0; r < s->row_count; r++) s->rows[r][kept] = s->rows[r][c];
        q->insert_columns[kept++] = columns[c];
    }
    q->insert_count = kept;
    s->values_rel = planner_rel(p, REL_MADE, "*VALUES*", kept, s->level);
    s->targets = arena_array(p->arena, struct scalar *, kept ? kept : 1);
    s->names = arena_array(p->arena, const char *, kept ? kept : 1);
    s->target_count = s->visible_count = kept;
    for (int c = 0; c < kept; c++) {
        s->values_rel->types[c] = t->columns[q->insert_columns[c]].type;
        s->values_rel->names[c] = s->names[c] = arena_printf(p->arena, "column%d", c + 1);
        s->targets[c] = scalar_var(p->arena, s->values_rel, (uint16_t)c, 0);
    }
    q->source = s;
    return STATUS_OK;
}

static enum status insert_select(struct planner *p, struct scope *scope, struct query *q, const struct insert_statement *st, const uint16_t *columns, uint16_t count)
{
    const struct table *t = q->table;
    struct query *s;
    TRY(analyze_select(p, scope, st->source, true, &s));
    if (s->visible_count > count) return insert_mismatch(p, true, s->targets[count]->position);
    if (s->visible_count < count && st->column_count) return insert_mismatch(p, false, st->columns[s->visible_count].position);
    uint16_t n = s->visible_count;
    struct sql_type *types = arena_array(p->arena, struct sql_type, n ? n : 1);
    for (int c = 0; c < n; c++) {
        const struct column *column = &t->columns[columns[c]];
        bool skip;
        TRY(check_generated(p, st, column, &skip));
        struct scalar *probe = s->targets[c];
        if (!can_coerce(probe->type.oid, column->type.oid, CAST_ASSIGNMENT)) return assign_value(p, probe, column, probe->position, &probe);
        types[c] = column->type;
        q->insert_columns[c] = columns[c];
    }
    q->insert_count = n;
    TRY(query_coerce(p, &s, types, CAST_ASSIGNMENT, "INSERT"));
    q->source = s;
    return STATUS_OK;
}

static enum status find_arbiter(struct planner *p, struct scope *scope, struct query *q, const struct on_conflict *oc, const struct index **out)
{
    const struct table *t = q->table;
    *out = NULL;
    if (oc->constraint) {
        for (int i = 0; i < t->index_count; i++)
            if (t->indexes[i].constraint && strcmp(t->indexes[i].name, oc->constraint) == 0) *out = &t->indexes[i];
        if (!*out) return fail_at(p, 0, STATUS_UNDEFINED_OBJECT, "constraint \"%s\" for table \"%s\" does not exist", oc->constraint, t->name);
        return STATUS_OK;
    }
    struct scalar **exprs = arena_array(p->arena, struct scalar *, oc->column_count ? oc->column_count : 1);
    for (int k = 0; k < oc->column_count; k++) {
        const struct index_element *e = oc->columns[k];
        if (e->column) {
            if (find_target_column(t, e->column) < 0) return fail_at(p, e->position, STATUS_UNDEFINED_COLUMN, "column \"%s\" does not exist", e->column);
        } else
            TRY(bind_node(p, scope, e->expr, &exprs[k]));
    }
    struct scalars predicate = { 0 };
    if (oc->target_where) TRY(bind_boolean(p, scope, oc->target_where, "WHERE", &predicate));
    for (int i = 0; i < t->index_count && !*out; i++) {
        const struct index *ix = &t->indexes[i];
        if (!ix->unique || !ix->valid || ix->column_count != oc->column_count) continue;
        bool match = true;
        for (int k = 0; k < oc->column_count && match; k++) {
            bool found = false;
            for (int c = 0; c < ix->column_count && !found; c++) {
                if (oc->columns[k]->column) found = ix->columns[c].column == find_target_column(t, oc->columns[k]->column) + 1;
                else if (ix->columns[c].column == 0) {
                    struct scalar *s;
                    TRY(bind_node(p, scope, ix->columns[c].expr, &s));
                    found = scalar_equal(s, exprs[k]);
                }
            }
            match = found;
        }
        if (match && ix->predicate) {    /* each part of the index's condition must be said */
            struct scalars mine = { 0 };
            TRY(bind_boolean(p, scope, ix->predicate, "WHERE", &mine));
            for (uint32_t m = 0; m < mine.count && match; m++) {
                bool said = false;
                for (uint32_t w = 0; w < predicate.count && !said; w++) said = scalar_equal(mine.items[m], predicate.items[w]);
                match = said;
            }
        }
        if (match) *out = ix;
    }
    if (!*out) return fail_at(p, 0, STATUS_INVALID_COLUMN_REFERENCE, "there is no unique or exclusion constraint matching the ON CONFLICT specification");
    return STATUS_OK;
}

static enum status analyze_conflict(struct planner *p, struct scope *scope, struct query *q, const struct on_conflict *oc)
{
    const struct table *t = q->table;
    struct conflict_clause *c = arena_new(p->arena, struct conflict_clause);
    c->action = oc->action;
    q->conflict = c;
    if (oc->column_count || oc->constraint) TRY(find_arbiter(p, scope, q, oc, &c->index));
    else if (oc->action == CONFLICT_UPDATE) {
        enum status status = fail_at(p, oc->position, STATUS_SYNTAX, "ON CONFLICT DO UPDATE requires inference specification or constraint name");
        error_hint("For example, ON CONFLICT (column_name).");
        return status;
    }
    if (oc->action != CONFLICT_UPDATE) return STATUS_OK;
    struct rel *r = planner_rel(p, REL_MADE, "excluded", t->column_count, q->level);
    r->table = t;
    for (int i = 0; i < t->column_count; i++) {
        r->names[i] = t->columns[i].name;
        r->types[i] = t->columns[i].type;
    }
    q->excluded_rel = r;
    struct scope both = *scope;
    both.spaces = arena_array(p->arena, struct space *, scope->space_count + 1);
    memcpy(both.spaces, scope->spaces, sizeof *both.spaces * scope->space_count);
    both.spaces[scope->space_count] = space_of_rel(p, r, "excluded", NULL);
    both.space_count = both.space_capacity = scope->space_count + 1;
    c->set = arena_array(p->arena, struct scalar *, t->column_count);
    c->assigned = arena_array(p->arena, bool, t->column_count);
    TRY(analyze_set(p, &both, t, &oc->set, q->writes, c->set));
    for (int i = 0; i < t->column_count; i++) {
        c->assigned[i] = c->set[i] != NULL;
        if (!c->set[i]) c->set[i] = scalar_var(p->arena, q->target_rel, (uint16_t)i, 0);
    }
    if (oc->where) {
        struct scalars list = { 0 };
        TRY(bind_boolean(p, &both, oc->where, "WHERE", &list));
        c->where = scalar_and(p->arena, list.items, list.count);
    }
    return STATUS_OK;
}

enum status analyze_insert(struct planner *p, struct scope *outer, const struct insert_statement *st, struct query **out)
{
    struct query *q = query_new(p, STATEMENT_INSERT, outer ? (uint16_t)(outer->level + 1) : 0);
    struct scope *scope = open_scope(p, q), *names = open_scope(p, q);
    scope->outer = outer;
    TRY(scope_with(p, scope, st->with));
    *names = *scope;
    TRY(scope_open_target(p, names, st->relation, st->alias, "insert into", &q->target_rel));
    const struct table *t = q->table = q->target_rel->table;
    TRY(bind_table_writes(p->session, p->arena, t, &q->writes));
    for (int i = 0; i < t->column_count; i++)
        if (q->writes->defaults[i] && scalar_has_volatile(q->writes->defaults[i])) p->has_volatile = true;
    uint16_t *columns = arena_array(p->arena, uint16_t, t->column_count + st->column_count + 1);
    uint16_t count = 0;
    if (st->column_count) {
        for (int i = 0; i < st->column_count; i++) {
            int c = find_target_column(t, st->columns[i].column);
            if (c < 0) return no_column(p, t, st->columns[i].column, st->columns[i].position);
            if (st->columns[i].indirection) return fail_at(p, st->columns[i].position, STATUS_FEATURE_NOT_SUPPORTED, "assignment to array elements and fields is not supported");
            for (int k = 0; k < count; k++)
                if (columns[k] == c) return fail_at(p, st->columns[i].position, STATUS_DUPLICATE_COLUMN, "column \"%s\" specified more than once", st->columns[i].column);
            columns[count++] = (uint16_t)c;
        }
    } else
        for (int i = 0; i < t->column_count; i++)
            if (!t->columns[i].dropped) columns[count++] = (uint16_t)i;
    q->insert_columns = arena_array(p->arena, uint16_t, count + 1);
    const struct select *s = st->source;
    if (!s) {                            /* DEFAULT VALUES: a row of nothing */
        q->source = query_new(p, STATEMENT_SELECT, (uint16_t)(q->level + 1));
        q->source->targets = arena_array(p->arena, struct scalar *, 1);
        q->source->names = arena_array(p->arena, const char *, 1);
    } else if (s->row_count && s->set == SET_NONE && !s->order_by.count && !s->limit && !s->offset && !s->with && !s->locking_count)
        TRY(insert_values(p, scope, q, st, columns, count));
    else
        TRY(insert_select(p, scope, q, st, columns, count));
    if (st->on_conflict && st->on_conflict->action != CONFLICT_NONE) TRY(analyze_conflict(p, names, q, st->on_conflict));
    TRY(analyze_returning(p, names, q, &st->returning));
    *out = q;
    return STATUS_OK;
}

/* ---- UPDATE, DELETE ---- */

static enum status target_node(struct planner *p, struct query *q)
{
    struct from_node *n = arena_new(p->arena, struct from_node);
    n->rel = q->target_rel;
    struct from_node **items = arena_array(p->arena, struct from_node *, q->from.count + 1);
    items[0] = n;
    for (uint32_t i = 0; i < q->from.count; i++) items[i + 1] = q->from.items[i];
    q->from.items = items;
    q->from.count++;
    q->from.capacity = q->from.count;
    return STATUS_OK;
}

enum status analyze_update(struct planner *p, struct scope *outer, const struct update_statement *st, struct query **out)
{
    struct query *q = query_new(p, STATEMENT_UPDATE, outer ? (uint16_t)(outer->level + 1) : 0);
    struct scope *scope = open_scope(p, q);
    scope->outer = outer;
    TRY(scope_with(p, scope, st->with));
    TRY(scope_open_target(p, scope, st->relation, st->alias, "update", &q->target_rel));
    const struct table *t = q->table = q->target_rel->table;
    TRY(bind_table_writes(p->session, p->arena, t, &q->writes));
    TRY(analyze_from(p, scope, &st->from, &q->from));
    TRY(target_node(p, q));
    q->assigned = arena_array(p->arena, struct scalar *, t->column_count);
    TRY(analyze_set(p, scope, t, &st->set, q->writes, q->assigned));
    if (st->where) TRY(bind_boolean(p, scope, st->where, "WHERE", &q->where));
    TRY(analyze_returning(p, scope, q, &st->returning));
    *out = q;
    return STATUS_OK;
}

enum status analyze_delete(struct planner *p, struct scope *outer, const struct delete_statement *st, struct query **out)
{
    struct query *q = query_new(p, STATEMENT_DELETE, outer ? (uint16_t)(outer->level + 1) : 0);
    struct scope *scope = open_scope(p, q);
    scope->outer = outer;
    TRY(scope_with(p, scope, st->with));
    TRY(scope_open_target(p, scope, st->relation, st->alias, "delete from", &q->target_rel));
    q->table = q->target_rel->table;
    TRY(bind_table_writes(p->session, p->arena, q->table, &q->writes));
    TRY(analyze_from(p, scope, &st->using_, &q->from));
    TRY(target_node(p, q));
    if (st->where) TRY(bind_boolean(p, scope, st->where, "WHERE", &q->where));
    TRY(analyze_returning(p, scope, q, &st->returning));
    *out = q;
    return STATUS_OK;
}
