/* engine/plan/analyze_select.c - SELECT: select list, grouping, windows, set-returning functions, ORDER BY, set operations.
 *
 * What a select list computes is layered: FROM and WHERE, then groups and aggregates, then windows, then set-returning
 * functions, then the list itself. Each layer that is there gets a pseudo relation (REL_MADE), and finish_*() rewrites what
 * stands above it: an expression that equals a group key becomes that key's column, an aggregate its own column, and a
 * column of FROM that is left over is PostgreSQL's "must appear in the GROUP BY clause". ORDER BY and DISTINCT ON name
 * targets by number; what ORDER BY needs besides the select list stands behind the visible targets. */
#include <string.h>

#include "engine/plan/query.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

struct query *query_new(struct planner *p, enum statement_kind kind, uint16_t level)
{
    struct query *q = arena_new(p->arena, struct query);
    q->kind = kind;
    q->level = level;
    return q;
}

/* ---- targets ---- */

static void origin_of(struct planner *p, const struct scalar *s, uint32_t *table, int16_t *column)
{
    *table = 0;
    *column = 0;
    if (s->kind != SCALAR_VAR || s->var.column == ROW_ID_COLUMN) return;
    const struct rel *r = p->rels[s->var.rel];
    if (r->table) {
        *table = r->table->oid;
        *column = r->table->columns[s->var.column].number;
    } else if (r->kind == REL_SUBQUERY && r->query && r->query->origin_tables && s->var.column < r->query->visible_count) {
        *table = r->query->origin_tables[s->var.column];
        *column = r->query->origin_columns[s->var.column];
    }
}

#define TARGETS_MAX 1664                 /* as PostgreSQL */
#define LIST_MAX    65000                /* ORDER BY and the like: what is the same stands once */
static enum status too_wide(struct planner *p) { return fail_at(p, 0, STATUS_TOO_MANY_COLUMNS, "target lists can have at most %d entries", TARGETS_MAX); }

static void expansion_add(struct planner *p, struct target_expansion *t, struct scalar *s, const char *name)
{
    if (t->values.count == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 8;
        t->names = arena_grow(p->arena, t->names, t->capacity * sizeof *t->names, capacity * sizeof *t->names);
        t->tables = arena_grow(p->arena, t->tables, t->capacity * sizeof *t->tables, capacity * sizeof *t->tables);
        t->columns = arena_grow(p->arena, t->columns, t->capacity * sizeof *t->columns, capacity * sizeof *t->columns);
        t->capacity = capacity;
    }
    t->names[t->values.count] = name;
    origin_of(p, s, &t->tables[t->values.count], &t->columns[t->values.count]);
    scalars_add(p->arena, &t->values, s);
}

static void expand_space(struct planner *p, const struct space *s, int position, struct target_expansion *out)
{
    for (uint32_t c = 0; c < s->column_count; c++) {
        struct scalar *v = scalar_copy(p->arena, s->columns[c].value);
        v->position = position;
        expansion_add(p, out, v, s->columns[c].name);
    }
}

enum status expand_targets(struct planner *p, struct scope *scope, const struct target_list *list, bool keep_unknown, struct target_expansion *out)
{
    for (int i = 0; i < list->count; i++) {
        const struct target *t = list->items[i];
        const struct expr *e = t->expr;
        if (e->kind == EXPR_FIELD && e->field.star && e->field.operand->kind == EXPR_COLUMN && !e->field.operand->column.star) {
            const struct expr *o = e->field.operand;   /* (t).* */
            struct space *s = scope_space(scope, NULL, o->column.names[o->column.count - 1], NULL);
            if (s) {
                expand_space(p, s, e->position, out);
                continue;
            }
        }
        if (e->kind == EXPR_COLUMN && e->column.star) {
            if (e->column.count == 0) {
                bool any = false;
                for (uint32_t k = 0; k < scope->space_count; k++)
                    if (scope->spaces[k]->unqualified) {
                        any = true;
                        expand_space(p, scope->spaces[k], e->position, out);
                    }
                if (!any) return fail_at(p, e->position, STATUS_SYNTAX, "SELECT * with no tables specified is not valid");
                continue;
            }
            int n = e->column.count;
            struct space *s = scope_space(scope, n > 1 ? e->column.names[n - 2] : NULL, e->column.names[n - 1], NULL);
            if (!s) return no_such_space(p, scope, e->column.names[n - 1], e->position);
            expand_space(p, s, e->position, out);
            continue;
        }
        struct scalar *s;
        TRY(bind_node(p, scope, e, &s));
        if (!keep_unknown || s->kind != SCALAR_CONST) {
            if (!(keep_unknown && s->kind == SCALAR_PARAMETER)) TRY(resolve_unknown(p, s, &s));
        }
        expansion_add(p, out, s, t->name ? t->name : tree_column_name(e));
        if (out->values.count > TARGETS_MAX) return too_wide(p);
    }
    return STATUS_OK;
}

static void take_targets(struct query *q, struct target_expansion *t)
{
    q->targets = t->values.items;
    q->target_count = q->visible_count = (uint16_t)t->values.count;
    q->names = t->names;
    q->origin_tables = t->tables;
    q->origin_columns = t->columns;
}

/* A target that isn't shown. Answers its number. */
static uint16_t add_hidden(struct planner *p, struct query *q, struct scalar *s)
{
    for (int i = 0; i < q->target_count; i++)
        if (scalar_equal(q->targets[i], s) && !scalar_has_volatile(s)) return (uint16_t)i;
    struct scalar **items = arena_array(p->arena, struct scalar *, q->target_count + 1u);
    if (q->target_count) memcpy(items, q->targets, sizeof *items * q->target_count);
    items[q->target_count] = s;
    q->targets = items;
    return q->target_count++;
}

/* ---- GROUP BY, ORDER BY: names, positions, expressions ---- */

static bool column_in_from(struct scope *scope, const char *name)
{
    for (uint32_t i = 0; i < scope->space_count; i++)
        for (uint32_t c = 0; scope->spaces[i]->unqualified && c < scope->spaces[i]->column_count; c++)
            if (strcmp(scope->spaces[i]->columns[c].name, name) == 0) return true;
    return false;
}

/* SQL92's rules: a plain name may be an output column, a plain number is a position. *target -1: neither. */
static enum status find_target(struct planner *p, struct scope *scope, struct query *q, const struct expr *e, const char *clause, bool input_first, int *target)
{
    *target = -1;
    if (e->kind == EXPR_COLUMN && e->column.count == 1 && !e->column.star) {
        const char *name = e->column.names[0];
        if (input_first && column_in_from(scope, name)) return STATUS_OK;
        for (int i = 0; i < q->visible_count; i++) {
            if (strcmp(q->names[i], name) != 0) continue;
            if (*target >= 0 && !scalar_equal(q->targets[*target], q->targets[i]))
                return fail_at(p, e->position, STATUS_AMBIGUOUS_COLUMN, "%s \"%s\" is ambiguous", clause, name);
            if (*target < 0) *target = i;
        }
        return STATUS_OK;
    }
    if (e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_INTEGER) {
        if (e->literal.integer < 1 || e->literal.integer > q->visible_count)
            return fail_at(p, e->position, STATUS_INVALID_COLUMN_REFERENCE, "%s position %lld is not in select list", clause, (long long)e->literal.integer);
        *target = (int)e->literal.integer - 1;
        return STATUS_OK;
    }
    if (e->kind == EXPR_LITERAL && (e->literal.kind == LITERAL_NUMERIC || e->literal.kind == LITERAL_STRING))
        return fail_at(p, e->position, STATUS_SYNTAX, "non-integer constant in %s", clause);
    return STATUS_OK;
}

static uint16_t add_group(struct planner *p, struct query *q, struct scalar *s)
{
    for (int i = 0; i < q->group_count; i++)
        if (scalar_equal(q->groups[i], s)) return (uint16_t)i;
    q->groups = arena_grow(p->arena, q->groups, q->group_count * sizeof *q->groups, (q->group_count + 1u) * sizeof *q->groups);
    q->groups[q->group_count] = s;
    return q->group_count++;
}

struct called { bool window; int position; };
static bool visit_called(void *context, const struct scalar *s)
{
    struct called *called = context;
    if (s->kind != SCALAR_AGGREGATE && s->kind != SCALAR_WINDOW) return false;
    *called = (struct called){ s->kind == SCALAR_WINDOW, s->position };
    return true;
}

static enum status bind_group(struct planner *p, struct scope *scope, struct query *q, const struct expr *e, uint16_t *out)
{
    int target;
    struct scalar *s;
    TRY(find_target(p, scope, q, e, "GROUP BY", true, &target));
    if (target >= 0) s = q->targets[target];
    else {
        bool aggregates = scope->aggregates_ok, windows = scope->windows_ok, sets = scope->sets_ok;
        const char *clause = scope->clause;
        scope->aggregates_ok = scope->windows_ok = scope->sets_ok = false;
        scope->clause = "GROUP BY";
        enum status status = bind_node(p, scope, e, &s);
        scope->aggregates_ok = aggregates;
        scope->windows_ok = windows;
        scope->sets_ok = sets;
        scope->clause = clause;
        if (status) return status;
        TRY(resolve_unknown(p, s, &s));
    }
    struct called called = { 0 };
    if (scalar_walk(s, visit_called, &called)) {
        if (called.window) return fail_at(p, called.position, STATUS_WINDOWING, "window functions are not allowed in GROUP BY");
        return fail_at(p, called.position, STATUS_GROUPING, "aggregate functions are not allowed in GROUP BY");
    }
    if (!type_comparable(s->type.oid))
        return fail_at(p, e->position, STATUS_UNDEFINED_FUNCTION, "could not identify an equality operator for type %s", type_text(p, s->type));
    *out = add_group(p, q, s);
    return STATUS_OK;
}

/* Grouping sets, as lists of group numbers. */
struct sets { uint32_t count, capacity; struct set { uint16_t count; uint16_t *items; } *items; };
static void sets_add(struct planner *p, struct sets *s, const uint16_t *items, uint32_t count)
{
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 8;
        s->items = arena_grow(p->arena, s->items, s->capacity * sizeof *s->items, capacity * sizeof *s->items);
        s->capacity = capacity;
    }
    struct set *n = &s->items[s->count++];
    n->count = 0;
    n->items = arena_array(p->arena, uint16_t, count ? count : 1);
    for (uint32_t i = 0; i < count; i++) {
        bool twice = false;
        for (int k = 0; k < n->count && !twice; k++) twice = n->items[k] == items[i];
        if (!twice) n->items[n->count++] = items[i];
    }
}

static enum status group_atoms(struct planner *p, struct scope *scope, struct query *q, const struct expr *e, uint16_t **items, uint32_t *count)
{
    if (e->kind == EXPR_ROW) {
        *items = arena_array(p->arena, uint16_t, e->row.list.count ? e->row.list.count : 1);
        *count = 0;
        for (int i = 0; i < e->row.list.count; i++) TRY(bind_group(p, scope, q, e->row.list.items[i], &(*items)[(*count)++]));
        return STATUS_OK;
    }
    *items = arena_array(p->arena, uint16_t, 1);
    *count = 1;
    return bind_group(p, scope, q, e, *items);
}

static enum status expand_sets(struct planner *p, struct scope *scope, struct query *q, const struct expr *e, struct sets *out)
{
    uint16_t *items;
    uint32_t count;
    if (e->kind != EXPR_GROUPING_SET) {
        TRY(group_atoms(p, scope, q, e, &items, &count));
        sets_add(p, out, items, count);
        return STATUS_OK;
    }
    const struct expr_list *list = &e->grouping_set.list;
    switch (e->grouping_set.kind) {
    case GROUPING_EMPTY:
        sets_add(p, out, NULL, 0);
        return STATUS_OK;
    case GROUPING_SETS:
        for (int i = 0; i < list->count; i++) TRY(expand_sets(p, scope, q, list->items[i], out));
        return STATUS_OK;
    default: {
        if (list->count > 12) return fail_at(p, e->position, STATUS_TOO_MANY_COLUMNS, "CUBE is limited to 12 elements");
        uint16_t **parts = arena_array(p->arena, uint16_t *, list->count + 1);
        uint32_t *counts = arena_array(p->arena, uint32_t, list->count + 1), total = 0;
        for (int i = 0; i < list->count; i++) {
            TRY(group_atoms(p, scope, q, list->items[i], &parts[i], &counts[i]));
            total += counts[i];
        }
        uint16_t *all = arena_array(p->arena, uint16_t, total + 1);
        if (e->grouping_set.kind == GROUPING_ROLLUP) {
            for (int n = list->count; n >= 0; n--) {
                uint32_t k = 0;
                for (int i = 0; i < n; i++) for (uint32_t c = 0; c < counts[i]; c++) all[k++] = parts[i][c];
                sets_add(p, out, all, k);
            }
        } else {
            for (int mask = (1 << list->count) - 1; mask >= 0; mask--) {
                uint32_t k = 0;
                for (int i = 0; i < list->count; i++)
                    if (mask >> (list->count - 1 - i) & 1) for (uint32_t c = 0; c < counts[i]; c++) all[k++] = parts[i][c];
                sets_add(p, out, all, k);
            }
        }
        return STATUS_OK;
    }
    }
}

static enum status analyze_group(struct planner *p, struct scope *scope, struct query *q, const struct select *select)
{
    bool has_sets = false;
    for (int i = 0; i < select->group_by.count; i++) has_sets |= select->group_by.items[i]->kind == EXPR_GROUPING_SET;
    q->grouped = true;
    if (!has_sets) {
        for (int i = 0; i < select->group_by.count; i++) {
            uint16_t *items;
            uint32_t count;
            TRY(group_atoms(p, scope, q, select->group_by.items[i], &items, &count));
        }
        return STATUS_OK;
    }
    struct sets all = { 0 };
    sets_add(p, &all, NULL, 0);
    for (int i = 0; i < select->group_by.count; i++) {   /* GROUP BY a, ROLLUP (b): the product */
        struct sets one = { 0 }, product = { 0 };
        TRY(expand_sets(p, scope, q, select->group_by.items[i], &one));
        for (uint32_t x = 0; x < all.count; x++)
            for (uint32_t y = 0; y < one.count; y++) {
                uint32_t n = (uint32_t)all.items[x].count + one.items[y].count;
                uint16_t *joined = arena_array(p->arena, uint16_t, n + 1);
                memcpy(joined, all.items[x].items, sizeof *joined * all.items[x].count);
                memcpy(joined + all.items[x].count, one.items[y].items, sizeof *joined * one.items[y].count);
                sets_add(p, &product, joined, n);
                if (product.count > 4096) return fail_at(p, select->position, STATUS_LIMIT_EXCEEDED, "too many grouping sets present (maximum 4096)");
            }
        all = product;
    }
    q->set_count = (uint16_t)all.count;
    q->sets_offsets = arena_array(p->arena, uint16_t, all.count + 1);
    uint32_t total = 0;
    for (uint32_t i = 0; i < all.count; i++) total += all.items[i].count;
    if (total > UINT16_MAX) return fail_at(p, select->position, STATUS_LIMIT_EXCEEDED, "too many columns in grouping sets");
    q->sets = arena_array(p->arena, uint16_t, total + 1);
    uint16_t at = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        q->sets_offsets[i] = at;
        for (int k = 0; k < all.items[i].count; k++) q->sets[at++] = all.items[i].items[k];
    }
    q->sets_offsets[all.count] = at;
    if (all.count == 1) {                /* plain after all, when it lists every key */
        if (at == q->group_count) q->set_count = 0;
    }
    return STATUS_OK;
}

/* ---- the layer of groups ---- */

struct grouping { struct planner *p; struct query *q; const struct scalar *left_over; };

static bool is_own(const struct query *q, uint16_t rel)
{
    for (int i = 0; i < q->rel_count; i++)
        if (q->rels[i]->id == rel) return true;
    return false;
}

static int group_match(const struct query *q, const struct scalar *s)
{
    for (int i = 0; i < q->group_count; i++) {
        const struct scalar *g = q->groups[i];
        if (scalar_equal(g, s)) return i;
        if (g->kind == SCALAR_VAR && s->kind == SCALAR_VAR && g->var.rel == s->var.rel && g->var.column == s->var.column && g->type.width == s->type.width) return i;
        if (g->kind == s->kind && g->kind != SCALAR_CONST) {
            struct scalar named_as = *s;     /* the same bytes under another type's name: a varchar where text is wanted */
            named_as.type.oid = g->type.oid;
            if (scalar_equal(g, &named_as)) return i;
        }
    }
    return -1;
}

static struct scalar *swap_grouped(void *context, struct scalar *s)
{
    struct grouping *g = context;
    struct query *q = g->q;
    if (s->kind == SCALAR_AGGREGATE) {
        for (int i = 0; i < q->aggregate_count; i++)
            if (q->aggregates[i] == s->aggregate) {
                struct scalar *v = scalar_var(g->p->arena, q->group_rel, (uint16_t)(q->group_count + i), s->position);
                v->type = s->type;
                return v;
            }
        return NULL;
    }
    if (s->kind == SCALAR_PARAMETER || (s->kind == SCALAR_CONST && !(q->set_count && s->type.oid == OID_INT4))) return s;
    int at = group_match(q, s);
    if (at >= 0) {
        struct scalar *v = scalar_var(g->p->arena, q->group_rel, (uint16_t)at, s->position);
        v->type = s->type;
        return v;
    }
    if (s->kind == SCALAR_VAR && is_own(q, s->var.rel) && !g->left_over) g->left_over = s;
    return NULL;
}

/* Columns that the grouped primary key determines are keys too: collect them. */
static bool visit_dependent(void *context, const struct scalar *s)
{
    struct grouping *g = context;
    struct query *q = g->q;
    if (s->kind != SCALAR_VAR || !is_own(q, s->var.rel) || group_match(q, s) >= 0) return false;
    const struct rel *r = g->p->rels[s->var.rel];
    if (r->kind != REL_TABLE || !r->table->primary_key) return false;
    const struct index *pk = table_index(r->table, r->table->primary_key);
    if (!pk) return false;
    for (int i = 0; i < pk->column_count; i++) {
        bool found = false;
        for (int k = 0; k < q->group_count && !found; k++)
            found = q->groups[k]->kind == SCALAR_VAR && q->groups[k]->var.rel == r->id && q->groups[k]->var.column + 1 == pk->columns[i].column;
        if (!found) return false;
    }
    struct scalar *v = scalar_copy(g->p->arena, s);
    if (s->var.column != ROW_ID_COLUMN) v->type = r->types[s->var.column];
    add_group(g->p, q, v);
    return false;
}

static void visit_above(struct query *q, scalar_visit *visit, void *context)
{
    for (int i = 0; i < q->target_count; i++) {
        if (group_match(q, q->targets[i]) >= 0) continue;
        scalar_walk(q->targets[i], visit, context);
    }
    for (uint32_t i = 0; i < q->having.count; i++) scalar_walk(q->having.items[i], visit, context);
    for (int i = 0; i < q->window_count; i++)
        for (int k = 0; k < q->windows[i]->item.arg_count; k++) scalar_walk(q->windows[i]->item.args[k], visit, context);
    for (int i = 0; i < q->window_spec_count; i++) {
        for (int k = 0; k < q->window_specs[i]->partition_count; k++) scalar_walk(q->window_specs[i]->partition[k], visit, context);
        for (int k = 0; k < q->window_specs[i]->order_count; k++) scalar_walk(q->window_specs[i]->order[k], visit, context);
    }
}

static enum status map_above(struct planner *p, struct query *q, scalar_swap *swap, struct grouping *g)
{
    struct { struct scalar **items; uint32_t count; } lists[2] = { { q->targets, q->target_count }, { q->having.items, q->having.count } };
    for (int l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lists[l].count; i++) lists[l].items[i] = scalar_map(p->arena, lists[l].items[i], swap, g);
    for (int i = 0; i < q->window_count; i++) {
        struct window_item *w = &q->windows[i]->item;
        for (int k = 0; k < w->arg_count; k++) w->args[k] = scalar_map(p->arena, w->args[k], swap, g);
        w->filter = scalar_map(p->arena, w->filter, swap, g);
    }
    for (int i = 0; i < q->window_spec_count; i++) {
        struct window_spec *w = q->window_specs[i];
        for (int k = 0; k < w->partition_count; k++) w->partition[k] = scalar_map(p->arena, w->partition[k], swap, g);
        for (int k = 0; k < w->order_count; k++) w->order[k] = scalar_map(p->arena, w->order[k], swap, g);
    }
    return STATUS_OK;
}

/* Does it stand in that expression itself, not in a subquery of it? */
static bool stands_in(const struct scalar *tree, const struct scalar *s)
{
    if (tree == s) return true;
    for (int i = 0; i < tree->arg_count; i++)
        if (tree->args[i] && stands_in(tree->args[i], s)) return true;
    return false;
}

static enum status ungrouped(struct planner *p, struct query *q, const struct scalar *s)
{
    const struct rel *r = p->rels[s->var.rel];
    const char *column = s->var.column == ROW_ID_COLUMN ? "ctid" : r->names[s->var.column];
    bool nested = false;                 /* in a subquery of the select list or of HAVING */
    for (int i = 0; i < q->target_count && !nested; i++) nested = scalar_has_subquery(q->targets[i]);
    for (uint32_t i = 0; i < q->having.count && !nested; i++) nested = scalar_has_subquery(q->having.items[i]);
    for (int i = 0; i < q->target_count && nested; i++) nested = !stands_in(q->targets[i], s);
    for (uint32_t i = 0; i < q->having.count && nested; i++) nested = !stands_in(q->having.items[i], s);
    if (nested) return fail_at(p, s->position, STATUS_GROUPING, "subquery uses ungrouped column \"%s.%s\" from outer query", r->name, column);
    return fail_at(p, s->position, STATUS_GROUPING, "column \"%s.%s\" must appear in the GROUP BY clause or be used in an aggregate function", r->name, column);
}

/* GROUPING(a, b): a bit for each argument, 1 where its key isn't part of the row's grouping set. For each argument a constant
 * key is added to just the sets that have the argument: it is null exactly in the others. */
struct marking { struct planner *p; struct query *q; int *marker; enum status status; };
static struct scalar *swap_grouping(void *context, struct scalar *s)
{
    struct marking *m = context;
    struct planner *p = m->p;
    if (s->kind != SCALAR_CURRENT || m->status) return NULL;
    struct scalar *sum = NULL;
    for (int i = 0; i < s->arg_count; i++) {
        int key = group_match(m->q, s->args[i]);
        if (key < 0) {
            m->status = fail_at(p, s->args[i]->position, STATUS_GROUPING, "arguments to GROUPING must be grouping expressions of the associated query level");
            return s;
        }
        struct scalar *bit = scalar_int4(p->arena, 1 << (s->arg_count - 1 - i)), *zero = scalar_int4(p->arena, 0);
        if (!m->q->set_count) bit = zero;
        else {
            if (m->marker[key] < 0) {
                struct scalar *mark = scalar_int4(p->arena, 1000000 + key);
                m->marker[key] = add_group(p, m->q, mark);
            }
            struct scalar *mark = m->q->groups[m->marker[key]];
            struct scalar *missing = scalar_new(p->arena, SCALAR_IS_NULL, type_make(OID_BOOL, -1), s->position);
            missing->args = arena_copy(p->arena, &mark, sizeof mark);
            missing->arg_count = 1;
            struct scalar *args[3] = { missing, bit, zero };
            bit = scalar_new(p->arena, SCALAR_CASE, type_make(OID_INT4, -1), s->position);
            bit->args = arena_copy(p->arena, args, sizeof args);
            bit->arg_count = 3;
            bit->case_.has_else = true;
        }
        if (!sum) sum = bit;
        else if ((m->status = make_operator(p, NULL, "+", sum, bit, s->position, &sum))) return s;
    }
    return sum ? sum : scalar_int4(p->arena, 0);
}

static enum status finish_grouping_calls(struct planner *p, struct query *q)
{
    struct marking m = { .p = p, .q = q };
    uint16_t keys = q->group_count;
    m.marker = arena_array(p->arena, int, keys ? keys : 1);
    for (int i = 0; i < keys; i++) m.marker[i] = -1;
    for (int i = 0; i < q->target_count; i++) q->targets[i] = scalar_map(p->arena, q->targets[i], swap_grouping, &m);
    for (uint32_t i = 0; i < q->having.count; i++) q->having.items[i] = scalar_map(p->arena, q->having.items[i], swap_grouping, &m);
    if (m.status || !q->set_count || q->group_count == keys) return m.status;
    uint32_t total = q->sets_offsets[q->set_count];
    uint16_t *sets = arena_array(p->arena, uint16_t, total * 2 + 1), *offsets = arena_array(p->arena, uint16_t, q->set_count + 1u), at = 0;
    for (int k = 0; k < q->set_count; k++) {
        offsets[k] = at;
        for (int i = q->sets_offsets[k]; i < q->sets_offsets[k + 1]; i++) {
            sets[at++] = q->sets[i];
            if (m.marker[q->sets[i]] >= 0) sets[at++] = (uint16_t)m.marker[q->sets[i]];
        }
    }
    offsets[q->set_count] = at;
    q->sets = sets;
    q->sets_offsets = offsets;
    return STATUS_OK;
}

static enum status finish_groups(struct planner *p, struct query *q)
{
    if (!q->grouped) return STATUS_OK;
    struct grouping g = { .p = p, .q = q };
    TRY(finish_grouping_calls(p, q));
    if (q->group_count && !q->set_count) visit_above(q, visit_dependent, &g);
    q->group_rel = planner_rel(p, REL_MADE, "groups", (uint16_t)(q->group_count + q->aggregate_count), q->level);
    q->group_rel->query = q;
    for (int i = 0; i < q->group_count; i++) {
        q->group_rel->types[i] = q->groups[i]->type;
        q->group_rel->names[i] = "";
    }
    for (int i = 0; i < q->aggregate_count; i++) {
        q->group_rel->types[q->group_count + i] = q->aggregates[i]->type;
        q->group_rel->names[q->group_count + i] = q->aggregates[i]->aggregate->function->name;
    }
    for (int i = 0; i < q->target_count; i++) {   /* in the order of the text, for the message */
        q->targets[i] = scalar_map(p->arena, q->targets[i], swap_grouped, &g);
        if (g.left_over) return ungrouped(p, q, g.left_over);
    }
    TRY(map_above(p, q, swap_grouped, &g));
    if (g.left_over) return ungrouped(p, q, g.left_over);
    return STATUS_OK;
}

static struct scalar *swap_window(void *context, struct scalar *s)
{
    struct grouping *g = context;
    if (s->kind != SCALAR_WINDOW) return NULL;
    for (int i = 0; i < g->q->window_count; i++)
        if (g->q->windows[i] == s->window) return scalar_var(g->p->arena, g->q->window_rel, (uint16_t)i, s->position);
    return NULL;
}

/* Comes before the groups are swapped, so that a window call is still the very one on the list. */
static void finish_windows_targets(struct planner *p, struct query *q)
{
    if (!q->window_count) return;
    q->window_rel = planner_rel(p, REL_MADE, "windows", q->window_count, q->level);
    for (int i = 0; i < q->window_count; i++) {
        q->window_rel->types[i] = q->windows[i]->item.type;
        const struct window_item *w = &q->windows[i]->item;
        q->window_rel->names[i] = w->function ? w->function->name : w->aggregate->function->name;
    }
    struct grouping g = { .p = p, .q = q };
    for (int i = 0; i < q->target_count; i++) q->targets[i] = scalar_map(p->arena, q->targets[i], swap_window, &g);
}

static struct scalar *swap_set(void *context, struct scalar *s)
{
    struct grouping *g = context;
    struct query *q = g->q;
    if (s->kind == SCALAR_SUBQUERY) return s;
    if (s->kind != SCALAR_CALL || s->call.function->kind != FUNCTION_SET) return NULL;
    for (int i = 0; i < q->set_function_count; i++)
        if (scalar_equal(q->set_functions[i], s)) return scalar_var(g->p->arena, q->set_rel, (uint16_t)i, s->position);
    return NULL;
}

static enum status collect_sets(struct planner *p, struct query *q, const struct scalar *s)
{
    if (!s) return STATUS_OK;
    for (int i = 0; i < s->arg_count; i++) TRY(collect_sets(p, q, s->args[i]));
    if (s->kind == SCALAR_CALL && s->call.function->kind == FUNCTION_SET) {
        for (int i = 0; i < s->arg_count; i++)
            if (scalar_has_set_function(s->args[i])) return fail_at(p, s->position, STATUS_FEATURE_NOT_SUPPORTED, "nested set-returning functions are not supported");
        for (int i = 0; i < q->set_function_count; i++)
            if (scalar_equal(q->set_functions[i], s)) return STATUS_OK;
        q->set_functions = arena_grow(p->arena, q->set_functions, q->set_function_count * sizeof *q->set_functions, (q->set_function_count + 1u) * sizeof *q->set_functions);
        q->set_functions[q->set_function_count++] = (struct scalar *)(uintptr_t)s;
    }
    return STATUS_OK;
}

static enum status finish_sets(struct planner *p, struct query *q)
{
    for (int i = 0; i < q->target_count; i++) TRY(collect_sets(p, q, q->targets[i]));
    if (!q->set_function_count) return STATUS_OK;
    q->set_rel = planner_rel(p, REL_MADE, "sets", q->set_function_count, q->level);
    for (int i = 0; i < q->set_function_count; i++) {
        q->set_rel->types[i] = q->set_functions[i]->type;
        q->set_rel->names[i] = q->set_functions[i]->call.function->name;
    }
    struct grouping g = { .p = p, .q = q };
    for (int i = 0; i < q->target_count; i++) q->targets[i] = scalar_map(p->arena, q->targets[i], swap_set, &g);
    return STATUS_OK;
}

/* ---- ORDER BY, DISTINCT, LIMIT ---- */

static enum status order_add(struct planner *p, struct query *q, const struct sort_key *k, uint16_t target)
{
    struct order_item o = { .target = target };
    if (!sort_flags(k, &o.descending, &o.nulls_first)) return fail_at(p, k->position, STATUS_WRONG_OBJECT_TYPE, "operator %s is not a valid ordering operator", k->using_operator);
    if (!type_comparable(q->targets[target]->type.oid)) {
        enum status status = fail_at(p, k->expr->position, STATUS_UNDEFINED_FUNCTION, "could not identify an ordering operator for type %s", type_text(p, q->targets[target]->type));
        error_hint("Use an explicit ordering operator or modify the query.");
        return status;
    }
    for (int i = 0; i < q->order_count; i++)
        if (q->order[i].target == target) return STATUS_OK;
    q->order = arena_grow(p->arena, q->order, q->order_count * sizeof *q->order, (q->order_count + 1u) * sizeof *q->order);
    q->order[q->order_count++] = o;
    return STATUS_OK;
}

static enum status analyze_order(struct planner *p, struct scope *scope, struct query *q, const struct sort_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct sort_key *k = list->items[i];
        int target;
        TRY(find_target(p, scope, q, k->expr, "ORDER BY", false, &target));
        if (target < 0) {
            struct scalar *s;
            const char *clause = scope->clause;
            scope->clause = "ORDER BY";
            enum status status = bind_node(p, scope, k->expr, &s);
            scope->clause = clause;
            if (status) return status;
            TRY(resolve_unknown(p, s, &s));
            if (s->kind == SCALAR_ROW && s->arg_count && !(q->distinct && !q->distinct_on_count)) {   /* ORDER BY t: by its columns */
                for (int c = 0; c < s->arg_count; c++) TRY(order_add(p, q, k, add_hidden(p, q, s->args[c])));
                continue;
            }
            uint16_t before = q->target_count;
            target = add_hidden(p, q, s);
            if (q->target_count > before && q->distinct && !q->distinct_on_count)
                return fail_at(p, k->expr->position, STATUS_INVALID_COLUMN_REFERENCE, "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
        } else if (q->targets[target]->type.oid == OID_UNKNOWN)
            TRY(resolve_unknown(p, q->targets[target], &q->targets[target]));
        TRY(order_add(p, q, k, (uint16_t)target));
    }
    return STATUS_OK;
}

static enum status bind_limit(struct planner *p, struct scope *scope, const struct expr *e, const char *clause, struct scalar **out)
{
    struct scope inside = { .outer = scope->outer, .query = scope->query, .level = scope->level, .clause = clause, .ctes = scope->ctes, .cte_count = scope->cte_count };
    struct scalar *s;
    if (e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_NULL) return STATUS_OK;
    enum status status = bind_node(p, &inside, e, &s);
    bool names_columns = status == STATUS_UNDEFINED_COLUMN && scope->space_count;
    if (names_columns) {                     /* the type is looked at first */
        struct scope all = *scope;
        all.clause = clause;
        all.aggregates_ok = all.windows_ok = all.sets_ok = false;
        error_clear();
        status = bind_node(p, &all, e, &s);
    }
    if (status) return status;
    if (s->type.oid != OID_INT8 && s->type.oid != OID_UNKNOWN && !can_coerce(s->type.oid, OID_INT8, CAST_ASSIGNMENT))
        return fail_at(p, e->position, STATUS_DATATYPE_MISMATCH, "argument of %s must be type bigint, not type %s", clause, type_text(p, s->type));
    if (names_columns) return fail_at(p, e->position, STATUS_INVALID_COLUMN_REFERENCE, "argument of %s must not contain variables", clause);
    TRY(coerce(p, s, type_make(OID_INT8, -1), CAST_ASSIGNMENT, e->position, out));
    if ((*out)->kind == SCALAR_CONST && !(*out)->constant.null && (*out)->constant.i8 < 0)
        return fail_at(p, 0, strcmp(clause, "LIMIT") == 0 ? STATUS_INVALID_LIMIT : STATUS_INVALID_OFFSET, "%s must not be negative", clause);
    return STATUS_OK;
}

static enum status analyze_tail(struct planner *p, struct scope *scope, struct query *q, const struct select *select)
{
    if (select->limit) TRY(bind_limit(p, scope, select->limit, "LIMIT", &q->limit));
    if (select->offset) TRY(bind_limit(p, scope, select->offset, "OFFSET", &q->offset));
    if (q->limit && scalar_is_null_const(q->limit)) q->limit = NULL;
    if (q->offset && q->offset->kind == SCALAR_CONST && (q->offset->constant.null || q->offset->constant.i8 == 0)) q->offset = NULL;
    q->with_ties = select->with_ties && q->limit;
    if (q->with_ties && !q->order_count) return fail_at(p, select->position, STATUS_SYNTAX, "WITH TIES cannot be specified without ORDER BY clause");
    return STATUS_OK;
}

static bool may_be_made_up(const struct from_node *n, const struct rel *r, bool nullable)
{
    if (!n) return false;
    if (n->rel) return n->rel == r && nullable;
    return may_be_made_up(n->left, r, nullable || n->join == PLAN_RIGHT || n->join == PLAN_FULL) || may_be_made_up(n->right, r, nullable || n->join == PLAN_LEFT || n->join == PLAN_FULL);
}

static enum status analyze_locking(struct planner *p, struct query *q, const struct select *select)
{
    static const char *const words[] = { [FOR_KEY_SHARE] = "FOR KEY SHARE", [FOR_SHARE] = "FOR SHARE", [FOR_NO_KEY_UPDATE] = "FOR NO KEY UPDATE", [FOR_UPDATE] = "FOR UPDATE" };
    if (select->locking_count) p->writes = true;
    for (int i = 0; i < select->locking_count; i++) {
        const struct locking *l = select->locking[i];
        const char *word = words[l->strength];
        const char *bar = q->set ? "UNION/INTERSECT/EXCEPT" : q->distinct ? "DISTINCT clause" : q->group_count ? "GROUP BY clause" : q->having.count ? "HAVING clause" :
                          q->aggregate_count ? "aggregate functions" : q->window_count ? "window functions" : q->set_function_count ? "set-returning functions in the target list" :
                          q->row_count ? "VALUES" : NULL;
        if (bar) return fail_at(p, 0, STATUS_FEATURE_NOT_SUPPORTED, "%s %s %s", word, q->row_count ? "cannot be applied to" : "is not allowed with", bar);
        static const enum row_lock modes[] = { [FOR_KEY_SHARE] = ROW_KEY_SHARE, [FOR_SHARE] = ROW_SHARE, [FOR_NO_KEY_UPDATE] = ROW_NO_KEY_UPDATE, [FOR_UPDATE] = ROW_UPDATE };
        enum lock_wait wait = l->wait == FOR_NOWAIT ? LOCK_NOWAIT : l->wait == FOR_SKIP_LOCKED ? LOCK_SKIP : LOCK_WAIT;
        for (int n = 0; n < (l->of.count ? l->of.count : 1); n++) {
            bool found = false;
            for (int r = 0; r < q->rel_count; r++) {
                struct rel *rel = q->rels[r];
                if (l->of.count && strcmp(rel->name, l->of.items[n]->name) != 0) continue;
                found = true;
                if (rel->kind != REL_TABLE || rel->table->kind != RELATION_TABLE || rel->table->system) {
                    if (!l->of.count) continue;
                    return fail_at(p, l->of.items[n]->position, STATUS_FEATURE_NOT_SUPPORTED, "%s cannot be applied to this kind of FROM item", word);
                }
                for (uint32_t k = 0; k < q->from.count; k++)
                    if (may_be_made_up(q->from.items[k], rel, false)) return fail_at(p, 0, STATUS_FEATURE_NOT_SUPPORTED, "%s cannot be applied to the nullable side of an outer join", word);
                struct lock_clause *known = NULL;
                for (int k = 0; k < q->lock_count; k++) if (q->locks[k].rel == rel) known = &q->locks[k];
                if (!known) {
                    q->locks = arena_grow(p->arena, q->locks, q->lock_count * sizeof *q->locks, (q->lock_count + 1u) * sizeof *q->locks);
                    known = &q->locks[q->lock_count++];
                    *known = (struct lock_clause){ .rel = rel, .strength = modes[l->strength], .wait = wait };
                } else {
                    if (known->strength < modes[l->strength]) known->strength = modes[l->strength];
                    if (known->wait == LOCK_WAIT) known->wait = wait;
                }
                planner_lock_note(p, rel->table->oid, LOCK_ROW_SHARE);
                TRY(lock_relation(session_txn(p->session), rel->table->oid, LOCK_ROW_SHARE, LOCK_WAIT));
            }
            if (l->of.count && !found)
                return fail_at(p, l->of.items[n]->position, STATUS_UNDEFINED_TABLE, "relation \"%s\" in %s clause not found in FROM clause", l->of.items[n]->name, word);
        }
    }
    return STATUS_OK;
}

/* ---- bodies ---- */

static enum status analyze_values(struct planner *p, struct scope *scope, struct query *q, const struct select *select)
{
    uint32_t rows = (uint32_t)select->row_count;
    int columns = select->rows[0].count;
    if (columns > TARGETS_MAX) return too_wide(p);
    q->row_count = rows;
    q->rows = arena_array(p->arena, struct scalar **, rows);
    scope->clause = "VALUES";
    for (uint32_t i = 0; i < rows; i++) {
        if (select->rows[i].count != columns) {
            int at = select->rows[i].count ? select->rows[i].items[0]->position : select->position;
            return fail_at(p, at, STATUS_SYNTAX, "VALUES lists must all be the same length");
        }
        q->rows[i] = arena_array(p->arena, struct scalar *, columns ? columns : 1);
        for (int c = 0; c < columns; c++) TRY(bind_node(p, scope, select->rows[i].items[c], &q->rows[i][c]));
    }
    q->values_rel = planner_rel(p, REL_MADE, "*VALUES*", (uint16_t)columns, q->level);
    struct target_expansion targets = { 0 };
    struct scalar **column = arena_array(p->arena, struct scalar *, rows);
    for (int c = 0; c < columns; c++) {
        for (uint32_t i = 0; i < rows; i++) column[i] = q->rows[i][c];
        TRY(coerce_to_common(p, column, rows, "VALUES"));
        int32_t typmod = column[0]->type.typmod;
        for (uint32_t i = 0; i < rows; i++) {
            q->rows[i][c] = column[i];
            if (column[i]->type.typmod != typmod) typmod = -1;
        }
        q->values_rel->types[c] = column[0]->type;
        q->values_rel->types[c].typmod = typmod;
        q->values_rel->names[c] = arena_printf(p->arena, "column%d", c + 1);
        expansion_add(p, &targets, scalar_var(p->arena, q->values_rel, (uint16_t)c, column[0]->position), q->values_rel->names[c]);
    }
    take_targets(q, &targets);
    return STATUS_OK;
}

/* A query's columns in other types. What ORDER BY and DISTINCT compare must stay, so then the cast goes around. */
enum status query_coerce(struct planner *p, struct query **query, const struct sql_type *wanted, enum cast_context context, const char *what)
{
    struct query *q = *query;
    bool wrapped = false;
    for (int i = 0; i < q->visible_count; i++) {
        struct sql_type have = q->targets[i]->type;
        bool same = have.oid == wanted[i].oid && have.width == wanted[i].width && have.scale == wanted[i].scale && (wanted[i].typmod < 0 || have.typmod == wanted[i].typmod);
        if (same && have.precision == wanted[i].precision) continue;
        bool direct = q->targets[i]->kind == SCALAR_CONST || (q->targets[i]->kind == SCALAR_PARAMETER && have.oid == OID_UNKNOWN);
        if (!direct && !wrapped && (q->set || q->distinct || q->order_count || q->set_function_count)) {
            q = query_wrap(p, q, "inner");
            wrapped = true;
        }
        struct scalar *s = q->targets[i];
        if (!can_coerce(s->type.oid, wanted[i].oid, context))
            return fail_at(p, s->position, STATUS_CANNOT_COERCE, "%s could not convert type %s to %s", what, type_text(p, s->type), type_text(p, wanted[i]));
        TRY(coerce(p, s, context == CAST_IMPLICIT ? type_make(wanted[i].oid, -1) : wanted[i], context, s->position, &s));
        if (wanted[i].oid == OID_NUMERIC) {
            if (scalar_is_null_const(s)) s = scalar_null(p->arena, wanted[i], s->position);
            else TRY(coerce_form(p, s, wanted[i], &s));
        }
        q->targets[i] = s;
    }
    *query = q;
    return STATUS_OK;
}

static enum status analyze_set_operation(struct planner *p, struct scope *scope, struct query *q, const struct select *select)
{
    const char *name = select->set == SET_UNION ? "UNION" : select->set == SET_INTERSECT ? "INTERSECT" : "EXCEPT";
    const char *place = p->self_place;
    if (!place && select->all && select->set != SET_UNION) p->self_place = name;
    TRY(analyze_select(p, scope, select->left, true, &q->left));
    if (!place && select->set == SET_EXCEPT) p->self_place = name;
    TRY(analyze_select(p, scope, select->right, true, &q->right));
    p->self_place = place;
    q->set = select->set;
    q->set_all = select->all;
    if (q->left->visible_count != q->right->visible_count)
        return fail_at(p, select->right->targets.count ? select->right->targets.items[0]->position : select->right->position, STATUS_SYNTAX, "each %s query must have the same number of columns", name);
    int n = q->left->visible_count;
    struct sql_type *types = arena_array(p->arena, struct sql_type, n ? n : 1);
    for (int i = 0; i < n; i++) {
        struct scalar *pair[2] = { q->left->targets[i], q->right->targets[i] };
        TRY(coerce_to_common(p, pair, 2, name));
        types[i] = pair[0]->type;
        if (pair[0]->type.typmod != pair[1]->type.typmod) types[i].typmod = -1;
        if (!q->set_all && !type_comparable(types[i].oid))
            return fail_at(p, pair[0]->position, STATUS_UNDEFINED_FUNCTION, "could not identify an equality operator for type %s", type_text(p, types[i]));
    }
    struct sql_type *plain = arena_copy(p->arena, types, sizeof *types * (size_t)(n ? n : 1));
    for (int i = 0; i < n; i++) plain[i].typmod = -1;
    TRY(query_coerce(p, &q->left, plain, CAST_IMPLICIT, name));
    TRY(query_coerce(p, &q->right, plain, CAST_IMPLICIT, name));
    q->set_op_rel = planner_rel(p, REL_MADE, "*SELECT*", (uint16_t)n, q->level);
    struct target_expansion targets = { 0 };
    for (int i = 0; i < n; i++) {
        q->set_op_rel->types[i] = types[i];
        q->set_op_rel->names[i] = q->left->names[i];
        expansion_add(p, &targets, scalar_var(p->arena, q->set_op_rel, (uint16_t)i, 0), q->left->names[i]);
    }
    take_targets(q, &targets);
    for (int i = 0; i < select->order_by.count; i++) {
        const struct sort_key *k = select->order_by.items[i];
        int target;
        TRY(find_target(p, scope, q, k->expr, "ORDER BY", false, &target));
        if (target < 0) {
            if (k->expr->kind == EXPR_COLUMN && k->expr->column.count == 1)
                return fail_at(p, k->expr->position, STATUS_UNDEFINED_COLUMN, "column \"%s\" does not exist", k->expr->column.names[0]);
            if (k->expr->kind == EXPR_COLUMN && k->expr->column.count == 2)
                return fail_at(p, k->expr->position, STATUS_UNDEFINED_TABLE, "missing FROM-clause entry for table \"%s\"", k->expr->column.names[0]);
            const struct expr *leftmost = k->expr;
            while (leftmost->kind == EXPR_OPERATOR && leftmost->op.left) leftmost = leftmost->op.left;
            enum status status = fail_at(p, leftmost->position, STATUS_FEATURE_NOT_SUPPORTED, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause");
            error_detail("Only result column names can be used, not expressions or functions.");
            error_hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.");
            return status;
        }
        TRY(order_add(p, q, k, (uint16_t)target));
    }
    return STATUS_OK;
}

static enum status analyze_plain(struct planner *p, struct scope *scope, struct query *q, const struct select *select, bool keep_unknown)
{
    TRY(analyze_from(p, scope, &select->from, &q->from));
    scope->windows = &select->windows;
    for (int i = 0; i < select->windows.count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(select->windows.items[k]->name, select->windows.items[i]->name) == 0)
                return fail_at(p, select->windows.items[i]->position, STATUS_WINDOWING, "window \"%s\" is already defined", select->windows.items[i]->name);
    if (select->where) TRY(bind_boolean(p, scope, select->where, "WHERE", &q->where));
    scope->aggregates_ok = scope->windows_ok = scope->sets_ok = true;
    scope->clause = "SELECT";
    struct target_expansion targets = { 0 };
    TRY(expand_targets(p, scope, &select->targets, keep_unknown, &targets));
    take_targets(q, &targets);
    if (select->has_group_by || select->group_by.count) TRY(analyze_group(p, scope, q, select));
    if (select->having) {
        q->grouped = true;
        TRY(bind_boolean(p, scope, select->having, "HAVING", &q->having));
    }
    q->distinct = select->distinct;
    if (select->distinct && !select->distinct_on.count)
        for (int i = 0; i < q->visible_count; i++) {
            if (q->targets[i]->type.oid == OID_UNKNOWN) TRY(resolve_unknown(p, q->targets[i], &q->targets[i]));
            if (!type_comparable(q->targets[i]->type.oid))
                return fail_at(p, q->targets[i]->position, STATUS_UNDEFINED_FUNCTION, "could not identify an equality operator for type %s", type_text(p, q->targets[i]->type));
        }
    if (select->distinct_on.count) {
        q->distinct_on = arena_array(p->arena, uint16_t, select->distinct_on.count);
        q->distinct_on_count = (uint16_t)select->distinct_on.count;
    }
    TRY(analyze_order(p, scope, q, &select->order_by));
    uint16_t on = 0;
    for (int i = 0; i < select->distinct_on.count; i++) {
        const struct expr *e = select->distinct_on.items[i];
        int target;
        TRY(find_target(p, scope, q, e, "SELECT DISTINCT ON", false, &target));
        if (target < 0) {
            struct scalar *s;
            TRY(bind_node(p, scope, e, &s));
            TRY(resolve_unknown(p, s, &s));
            target = add_hidden(p, q, s);
        }
        bool twice = false;
        for (int k = 0; k < on && !twice; k++) twice = q->distinct_on[k] == target;
        if (!twice) q->distinct_on[on++] = (uint16_t)target;
    }
    if (select->distinct_on.count) {
        q->distinct_on_count = on;
        for (int i = 0; i < q->order_count && i < on; i++) {   /* ORDER BY must begin with the keys */
            bool is_key = false;
            for (int k = 0; k < on && !is_key; k++) is_key = q->distinct_on[k] == q->order[i].target;
            if (!is_key) return fail_at(p, select->distinct_on.items[0]->position, STATUS_INVALID_COLUMN_REFERENCE, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
        }
    }
    /* windows that nobody calls are checked too */
    finish_windows_targets(p, q);
    if (q->grouped) TRY(finish_groups(p, q));
    TRY(finish_sets(p, q));
    return STATUS_OK;
}

enum status analyze_select(struct planner *p, struct scope *outer, const struct select *select, bool keep_unknown, struct query **out)
{
    if (stack_is_deep()) return stack_too_deep();
    if (p->rel_count >= RELS_MAX) {
        enum status status = error_set(STATUS_TOO_COMPLEX, "statement is too complex");
        error_detail("It mentions more than %d relations.", RELS_MAX);
        return status;
    }
    struct query *q = query_new(p, STATEMENT_SELECT, outer ? (uint16_t)(outer->level + 1) : 0);
    struct scope *scope = arena_new(p->arena, struct scope);
    scope->outer = outer;
    scope->query = q;
    scope->level = q->level;
    if (outer) {
        scope->no_subqueries = outer->no_subqueries;
        scope->what = outer->what;
    }
    if (select->order_by.count > LIST_MAX || select->group_by.count > LIST_MAX || select->distinct_on.count > LIST_MAX) return too_wide(p);
    TRY(scope_with(p, scope, select->with));
    if (select->set != SET_NONE) TRY(analyze_set_operation(p, scope, q, select));
    else if (select->row_count) TRY(analyze_values(p, scope, q, select));
    else TRY(analyze_plain(p, scope, q, select, keep_unknown));
    if (select->row_count && select->set == SET_NONE) {
        scope->clause = "VALUES";
        TRY(analyze_order(p, scope, q, &select->order_by));
    }
    TRY(analyze_tail(p, scope, q, select));
    TRY(analyze_locking(p, q, select));
    *out = q;
    return STATUS_OK;
}

/* Nothing may stay unknown at the top. */
enum status query_resolve_unknown(struct planner *p, struct query *q)
{
    for (int i = 0; i < q->visible_count; i++)
        if (q->targets[i]->type.oid == OID_UNKNOWN) TRY(resolve_unknown(p, q->targets[i], &q->targets[i]));
    return STATUS_OK;
}
