/* engine/plan/planner.c - the way in, and what stands above a query's joins.
 *
 * plan_statement() analyzes, rewrites and plans one statement. plan_query() lays one query's layers on what plan_from()
 * (joins.c) gives: groups, HAVING, windows, set-returning functions, DISTINCT, ORDER BY, LIMIT, the select list. While it
 * does so a `layout` says what each column of the plan so far is; resolve() turns VARs into positions by it.
 *
 * Outer slots: a VAR that no layout knows belongs to a query further out. Each subquery in an expression, and each
 * nested loop whose right side looks at its left, opens a `frame`; such a VAR becomes a slot of the innermost frame, and
 * the place that opened the frame says how the slot is filled, from its own layout or by a slot of the next frame. */
#include <math.h>
#include <string.h>

#include "base/plant.h"
#include "engine/plan/cost.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

struct plan *plan_new(struct planner *p, enum plan_kind kind, uint16_t columns)
{
    struct plan *n = arena_new(p->arena, struct plan);
    n->kind = kind;
    n->column_count = columns;
    n->types = arena_array(p->arena, struct sql_type, columns ? columns : 1);
    n->id = (uint16_t)p->node_count++;       /* too many: plan_statement says so */
    return n;
}

double width_of(const struct sql_type *types, uint16_t count)
{
    double w = 0;
    for (int i = 0; i < count; i++) {
        if (types[i].width) w += types[i].width;
        else if (types[i].oid == OID_BPCHAR && types[i].typmod > 4) w += types[i].typmod - 4 + 1;
        else if (types[i].oid == OID_NAME) w += 64;
        else if (types[i].oid == OID_VARCHAR && types[i].typmod > 4 && types[i].typmod < 68) w += (types[i].typmod - 4) / 2 + 1;
        else w += 32;
    }
    return w;
}

static void plan_costs(struct plan *n, double rows, double startup, double total)
{
    n->rows = rows;
    n->startup_cost = startup;
    n->total_cost = total;
    n->width = width_of(n->types, n->column_count);
}

/* ---- resolving ---- */

/* Which column of the layout an expression is; -1 none. Of volatile ones only the very same: two that look alike are two. */
static int layout_find(const struct layout *l, const struct scalar *s)
{
    for (int i = 0; i < l->count; i++)
        if (l->items[i] == s) return i;
    int found = -1;
    for (int i = 0; i < l->count && found < 0; i++) {
        const struct scalar *item = l->items[i];
        if (item->kind != s->kind) continue;
        if (s->kind == SCALAR_VAR ? item->var.rel == s->var.rel && item->var.column == s->var.column : scalar_equal(item, s)) found = i;
    }
    return found >= 0 && s->kind != SCALAR_VAR && scalar_has_volatile(s) ? -1 : found;
}

struct resolving { struct planner *p; const struct layout *layout; enum status status; };

static uint16_t frame_slot(struct planner *p, struct frame *f, const struct scalar *var)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->slots[i].rel == var->var.rel && f->slots[i].column == var->var.column) return f->slots[i].slot;
    if (f->count == f->capacity) {
        uint32_t capacity = f->capacity ? f->capacity * 2 : 4;
        f->slots = arena_grow(p->arena, f->slots, f->capacity * sizeof *f->slots, capacity * sizeof *f->slots);
        f->capacity = capacity;
    }
    f->slots[f->count++] = (struct frame_slot){ var->var.rel, var->var.column, (uint16_t)p->slot_count, var->type };
    return (uint16_t)p->slot_count++;
}

enum status frame_adopt(struct planner *p, const struct frame_slot *slot)
{
    struct frame *f = p->frame;
    if (!f) return error_set(STATUS_INTERNAL, "planner lost column %d of relation %d", slot->column, slot->rel);
    if (f->count == f->capacity) {
        uint32_t capacity = f->capacity ? f->capacity * 2 : 4;
        f->slots = arena_grow(p->arena, f->slots, f->capacity * sizeof *f->slots, capacity * sizeof *f->slots);
        f->capacity = capacity;
    }
    f->slots[f->count++] = *slot;
    return STATUS_OK;
}

/* The values that fill a frame's slots, over the layout of the place that opened it. */
static enum status frame_values(struct planner *p, const struct layout *layout, const struct frame *f, uint16_t *count, uint16_t **slots, struct scalar ***values)
{
    *count = (uint16_t)f->count;
    *slots = arena_array(p->arena, uint16_t, f->count ? f->count : 1);
    *values = arena_array(p->arena, struct scalar *, f->count ? f->count : 1);
    for (uint32_t i = 0; i < f->count; i++) {
        struct scalar *v = scalar_new(p->arena, SCALAR_VAR, f->slots[i].type, 0);
        v->var.rel = f->slots[i].rel;
        v->var.column = f->slots[i].column;
        (*slots)[i] = f->slots[i].slot;
        TRY(resolve(p, layout, v, &(*values)[i]));
    }
    return STATUS_OK;
}

static enum status resolve_subquery(struct planner *p, const struct layout *layout, const struct scalar *s, struct scalar **out)
{
    struct scalar *copy = scalar_copy(p->arena, s);
    TRY(resolve_all(p, layout, s->args, s->arg_count, &copy->args));
    struct frame frame = { .outer = p->frame };
    p->frame = &frame;
    double fraction = s->subquery.kind == SUBQUERY_EXISTS || s->subquery.kind == SUBQUERY_SCALAR ? 1 : 0;
    enum status status = plan_query(p, s->subquery.query, fraction, &copy->subquery.plan);
    p->frame = frame.outer;
    if (status) return status;
    TRY(frame_values(p, layout, &frame, &copy->subquery.outer_count, &copy->subquery.outer_slots, &copy->subquery.outer_values));
    copy->subquery.query = NULL;
    *out = copy;
    return STATUS_OK;
}

static struct scalar *swap_resolve(void *context, struct scalar *s)
{
    struct resolving *r = context;
    if (r->status) return s;
    if (s->kind == SCALAR_CONST || s->kind == SCALAR_PARAMETER || s->kind == SCALAR_COLUMN || s->kind == SCALAR_OUTER) return s;
    if (s->kind == SCALAR_VAR && r->p->bare) {
        struct scalar *c = scalar_new(r->p->arena, SCALAR_COLUMN, s->type, s->position);
        c->column = s->var.column;
        return c;
    }
    int at = r->layout ? layout_find(r->layout, s) : -1;
    if (at >= 0) {
        struct scalar *c = scalar_new(r->p->arena, SCALAR_COLUMN, s->type, s->position);
        c->column = (uint16_t)at;
        return c;
    }
    if (s->kind == SCALAR_VAR) {
        if (!r->p->frame) {
            const struct rel *rel = r->p->rels[s->var.rel];
            r->status = error_set(STATUS_INTERNAL, "planner lost column %d of \"%s\"", s->var.column, rel->name ? rel->name : "?");
            return s;
        }
        struct scalar *c = scalar_new(r->p->arena, SCALAR_OUTER, s->type, s->position);
        c->parameter = frame_slot(r->p, r->p->frame, s);
        return c;
    }
    if (s->kind == SCALAR_SUBQUERY && s->subquery.query) {
        struct scalar *copy;
        r->status = resolve_subquery(r->p, r->layout, s, &copy);
        return r->status ? s : copy;
    }
    if (s->kind == SCALAR_AGGREGATE || s->kind == SCALAR_WINDOW) {
        r->status = error_set(STATUS_INTERNAL, "planner met an aggregate out of place");
        return s;
    }
    return NULL;
}

enum status resolve(struct planner *p, const struct layout *layout, struct scalar *s, struct scalar **out)
{
    struct resolving r = { p, layout, STATUS_OK };
    if (!s) {
        *out = NULL;
        return STATUS_OK;
    }
    *out = scalar_map(p->arena, s, swap_resolve, &r);
    return r.status;
}

enum status resolve_all(struct planner *p, const struct layout *layout, struct scalar **items, uint32_t count, struct scalar ***out)
{
    struct scalar **list = arena_array(p->arena, struct scalar *, count ? count : 1);
    for (uint32_t i = 0; i < count; i++) TRY(resolve(p, layout, items[i], &list[i]));
    *out = list;
    return STATUS_OK;
}

/* ---- small nodes ---- */

static double limit_of(const struct scalar *s, double otherwise)
{
    if (!s) return otherwise;
    if (s->kind != SCALAR_CONST || s->constant.null) return otherwise < 10 ? otherwise : fmax(1, otherwise * 0.1);
    return (double)s->constant.i8;
}

static enum status node_filter(struct planner *p, struct plan *child, const struct layout *layout, const struct scalars *conditions, struct plan **out)
{
    *out = child;
    if (!conditions->count) return STATUS_OK;
    struct plan *n = plan_new(p, PLAN_FILTER, child->column_count);
    memcpy(n->types, child->types, sizeof *n->types * n->column_count);
    n->left = child;
    TRY(resolve(p, layout, scalar_and(p->arena, conditions->items, conditions->count), &n->filter));
    double rows = fmax(1, rint(child->rows * selectivity_all(p, conditions)));
    plan_costs(n, rows, child->startup_cost, child->total_cost + cost_operators(p, child->rows, scalars_weight(p, conditions)));
    *out = n;
    return STATUS_OK;
}

/* Columns that are just the input's, in order, need no node. */
static bool is_identity(const struct plan *child, struct scalar **exprs, uint32_t count)
{
    if (child->column_count != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (exprs[i]->kind != SCALAR_COLUMN || exprs[i]->column != i) return false;
    return true;
}

static enum status node_project(struct planner *p, struct plan *child, const struct layout *layout, struct scalar **exprs, uint32_t count, struct plan **out)
{
    struct scalar **resolved;
    TRY(resolve_all(p, layout, exprs, count, &resolved));
    if (is_identity(child, resolved, count)) {
        for (uint32_t i = 0; i < count; i++) child->types[i].oid = exprs[i]->type.oid;   /* a relabelled column */
        *out = child;
        return STATUS_OK;
    }
    if (child->kind == PLAN_RESULT && child->column_count == 0) {   /* nothing beneath: it computes by itself */
        child->column_count = (uint16_t)count;
        child->types = arena_array(p->arena, struct sql_type, count ? count : 1);
        for (uint32_t i = 0; i < count; i++) child->types[i] = exprs[i]->type;
        child->exprs = resolved;
        child->width = width_of(child->types, child->column_count);
        *out = child;
        return STATUS_OK;
    }
    if (child->kind == PLAN_INDEX_SCAN || child->kind == PLAN_SEQ_SCAN) {
        /* Plain columns of a scan, each once, and all that the scan reads: it lists them in this order instead. */
        bool plain = child->column_count == count;
        bool seen[64] = { false };
        for (uint32_t i = 0; i < count && plain; i++) {
            plain = count <= 64 && resolved[i]->kind == SCALAR_COLUMN && !seen[resolved[i]->column];
            if (plain) seen[resolved[i]->column] = true;
        }
        if (plain && !child->filter) {
            uint16_t *columns = arena_array(p->arena, uint16_t, count);
            struct sql_type *types = arena_array(p->arena, struct sql_type, count);
            for (uint32_t i = 0; i < count; i++) {
                columns[i] = child->columns[resolved[i]->column];
                types[i] = exprs[i]->type;
            }
            child->columns = columns;
            child->types = types;
            *out = child;
            return STATUS_OK;
        }
    }
    struct plan *n = plan_new(p, PLAN_PROJECT, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++) n->types[i] = exprs[i]->type;
    n->exprs = resolved;
    n->left = child;
    plan_costs(n, child->rows, child->startup_cost, child->total_cost + child->rows * p->settings->cpu_operator_cost * 0.01 * count);
    *out = n;
    return STATUS_OK;
}

double cost_sort(struct planner *p, double rows, double width)
{
    if (rows < 2) rows = 2;
    double cost = cost_rows(p, rows, COST_KEPT * (1 + width / 100)) + COST_COMPARE * p->settings->cpu_operator_cost * rows * log2(rows) + (p->settings->enable_sort ? 0 : 1e10);
    double bytes = rows * (width + 24);
    if (bytes > (double)p->settings->work_mem_bytes) cost += 2 * ceil(bytes / 8192) * p->settings->seq_page_cost;
    return cost;
}

struct plan *node_sort(struct planner *p, struct plan *child, struct sort_item *items, uint16_t count)
{
    struct plan *n = plan_new(p, PLAN_SORT, child->column_count);
    memcpy(n->types, child->types, sizeof *n->types * n->column_count);
    n->left = child;
    n->sort = items;
    n->sort_count = count;
    double cost = cost_sort(p, child->rows, child->width);
    plan_costs(n, child->rows, child->total_cost + cost, child->total_cost + cost + cost_operators(p, child->rows, 1));
    return n;
}

static enum status node_limit(struct planner *p, struct plan *child, const struct query *q, struct plan **out)
{
    *out = child;
    if (!q->limit && !q->offset) return STATUS_OK;
    struct plan *n;
    double offset = limit_of(q->offset, 0), rows = limit_of(q->limit, child->rows);
    if (child->kind == PLAN_SORT && q->limit && !q->with_ties && offset + rows <= 100000) {
        struct plan *input = child->left;      /* sort and keep the first few: one node */
        n = plan_new(p, PLAN_TOP_N, child->column_count);
        memcpy(n->types, child->types, sizeof *n->types * n->column_count);
        n->left = input;
        n->sort = child->sort;
        n->sort_count = child->sort_count;
        double kept = fmax(2, fmin(offset + rows, input->rows));
        double cost = cost_operators(p, fmax(2, input->rows), 1) + COST_COMPARE * p->settings->cpu_operator_cost * kept * log2(2 * kept);
        double out_rows = fmax(0, fmin(rows, input->rows - offset));
        plan_costs(n, fmax(1, out_rows), input->total_cost + cost, input->total_cost + cost + kept * p->settings->cpu_operator_cost);
    } else {
        n = plan_new(p, PLAN_LIMIT, child->column_count);
        memcpy(n->types, child->types, sizeof *n->types * n->column_count);
        n->left = child;
        double out_rows = fmax(1, fmin(rows, fmax(0, child->rows - offset)));
        double run = child->total_cost - child->startup_cost, all = fmax(1, child->rows);
        plan_costs(n, out_rows, child->startup_cost + run * fmin(1, offset / all), child->startup_cost + run * fmin(1, (offset + out_rows) / all));
        if (q->with_ties) {
            n->with_ties = true;
            n->sort = child->sort;
            n->sort_count = child->sort_count;
        }
    }
    struct layout none = { 0 };
    TRY(resolve(p, &none, q->limit, &n->limit));
    TRY(resolve(p, &none, q->offset, &n->offset));
    *out = n;
    return STATUS_OK;
}

/* ---- layers ---- */

struct wanting { struct planner *p; const struct query *q; struct scalars *list; };
static bool visit_want(void *context, const struct scalar *s)
{
    struct wanting *w = context;
    if (s->kind != SCALAR_VAR) return false;
    bool own = false;
    for (int i = 0; i < w->q->rel_count && !own; i++) own = w->q->rels[i]->id == s->var.rel;
    if (!own) return false;
    for (uint32_t i = 0; i < w->list->count; i++)
        if (w->list->items[i]->var.rel == s->var.rel && w->list->items[i]->var.column == s->var.column) return false;
    struct scalar *v = scalar_copy(w->p->arena, s);
    const struct rel *r = w->p->rels[s->var.rel];
    if (s->var.column != ROW_ID_COLUMN) v->type = r->types[s->var.column];
    scalars_add(w->p->arena, w->list, v);
    return false;
}

static void want(struct planner *p, const struct query *q, struct scalars *list, const struct scalar *s)
{
    struct wanting w = { p, q, list };
    scalar_walk(s, visit_want, &w);
}

static void want_node(struct planner *p, const struct query *q, struct scalars *list, const struct from_node *n)
{
    if (!n) return;
    for (uint32_t i = 0; i < n->on.count; i++) want(p, q, list, n->on.items[i]);
    want_node(p, q, list, n->left);
    want_node(p, q, list, n->right);
}

static void layout_of_rel(struct planner *p, const struct rel *r, struct layout *out)
{
    out->count = r->column_count;
    out->items = arena_array(p->arena, struct scalar *, r->column_count ? r->column_count : 1);
    for (int i = 0; i < r->column_count; i++) out->items[i] = scalar_var(p->arena, r, (uint16_t)i, 0);
}

static void layout_add(struct planner *p, struct layout *l, struct scalar *s)
{
    struct scalar **items = arena_array(p->arena, struct scalar *, l->count + 1u);
    if (l->count) memcpy(items, l->items, sizeof *items * l->count);
    items[l->count] = s;
    l->items = items;
    l->count++;
}

/* Appends expressions that the layout doesn't have yet. */
static enum status extend(struct planner *p, struct plan **plan, struct layout *layout, struct scalar **exprs, uint32_t count)
{
    struct layout wider = *layout;
    for (uint32_t i = 0; i < count; i++)
        if (layout_find(&wider, exprs[i]) < 0) layout_add(p, &wider, exprs[i]);
    if (wider.count == layout->count) return STATUS_OK;
    TRY(node_project(p, *plan, layout, wider.items, wider.count, plan));
    *layout = wider;
    return STATUS_OK;
}

static enum status layer_groups(struct planner *p, struct query *q, struct plan **plan, struct layout *layout)
{
    uint16_t columns = (uint16_t)(q->group_count + q->aggregate_count);
    if (PLANT(HAVING_BELOW) && !q->group_count && q->having.count && q->having.items[0]->kind == SCALAR_CONST) TRY(node_filter(p, *plan, layout, &q->having, plan));
    struct plan *n = plan_new(p, PLAN_AGGREGATE, columns);
    n->left = *plan;
    n->group_count = q->group_count;
    TRY(resolve_all(p, layout, q->groups, q->group_count, &n->groups));
    n->aggregate_count = q->aggregate_count;
    n->aggregates = arena_array(p->arena, struct aggregate_item, q->aggregate_count ? q->aggregate_count : 1);
    double per_row = 0;
    for (int i = 0; i < q->aggregate_count; i++) {
        n->aggregates[i] = *q->aggregates[i];
        TRY(resolve_all(p, layout, q->aggregates[i]->args, q->aggregates[i]->arg_count, &n->aggregates[i].args));
        TRY(resolve(p, layout, q->aggregates[i]->filter, &n->aggregates[i].filter));
        per_row += 1;
    }
    double rows = 1;
    for (int i = 0; i < q->group_count; i++) {
        n->types[i] = q->groups[i]->type;
        rows *= distinct_values(p, q->groups[i], (*plan)->rows);
    }
    for (int i = 0; i < q->aggregate_count; i++) n->types[q->group_count + i] = q->aggregates[i]->type;
    if (rows > (*plan)->rows) rows = (*plan)->rows;
    if (q->set_count) {
        n->set_count = q->set_count;
        n->sets_offsets = q->sets_offsets;
        n->sets = q->sets;
    }
    rows = fmax(1, rint(rows));
    n->group_estimate = rows;
    double cost = (*plan)->total_cost + cost_rows(p, (*plan)->rows, q->group_count ? COST_GROUPED : 0) + cost_operators(p, (*plan)->rows, per_row + q->group_count);
    plan_costs(n, rows, cost, cost + cost_rows(p, rows, COST_GROUP));
    layout_of_rel(p, q->group_rel, layout);
    for (int i = 0; i < q->group_count; i++) layout->items[i]->type = q->groups[i]->type;
    *plan = n;
    if (PLANT(HAVING_BELOW) && !q->group_count && q->having.count && q->having.items[0]->kind == SCALAR_CONST) return STATUS_OK;
    return node_filter(p, n, layout, &q->having, plan);
}

static enum status layer_windows(struct planner *p, struct query *q, struct plan **plan, struct layout *layout)
{
    for (int s = 0; s < q->window_spec_count; s++) {
        const struct window_spec *w = q->window_specs[s];
        uint16_t count = 0;
        for (int i = 0; i < q->window_count; i++) count = (uint16_t)(count + (q->windows[i]->spec == s));
        if (!count) continue;
        TRY(extend(p, plan, layout, w->partition, w->partition_count));
        TRY(extend(p, plan, layout, w->order, w->order_count));
        uint16_t keys = (uint16_t)(w->partition_count + w->order_count);
        struct sort_item *sort = arena_array(p->arena, struct sort_item, keys ? keys : 1);
        uint16_t *partition = arena_array(p->arena, uint16_t, w->partition_count ? w->partition_count : 1);
        for (int i = 0; i < w->partition_count; i++) {
            partition[i] = (uint16_t)layout_find(layout, w->partition[i]);
            sort[i] = (struct sort_item){ .column = partition[i] };
        }
        for (int i = 0; i < w->order_count; i++)
            sort[w->partition_count + i] = (struct sort_item){ (uint16_t)layout_find(layout, w->order[i]), w->descending[i], w->nulls_first[i] };
        if (keys) *plan = node_sort(p, *plan, sort, keys);
        struct plan *n = plan_new(p, PLAN_WINDOW, (uint16_t)((*plan)->column_count + count));
        n->left = *plan;
        memcpy(n->types, (*plan)->types, sizeof *n->types * (*plan)->column_count);
        n->partition = partition;
        n->partition_count = w->partition_count;
        n->sort = sort + w->partition_count;
        n->sort_count = w->order_count;
        n->windows = arena_array(p->arena, struct window_item, count);
        struct layout wider = *layout;
        for (int i = 0; i < q->window_count; i++) {
            if (q->windows[i]->spec != s) continue;
            struct window_item *item = &n->windows[n->window_count];
            *item = q->windows[i]->item;
            TRY(resolve_all(p, layout, q->windows[i]->item.args, item->arg_count, &item->args));
            TRY(resolve(p, layout, q->windows[i]->item.filter, &item->filter));
            TRY(resolve(p, layout, w->start_offset, &item->start_offset));
            TRY(resolve(p, layout, w->end_offset, &item->end_offset));
            n->types[(*plan)->column_count + n->window_count++] = item->type;
            layout_add(p, &wider, scalar_var(p->arena, q->window_rel, (uint16_t)i, 0));
        }
        double cost = (*plan)->rows * p->settings->cpu_operator_cost * (count + keys);
        plan_costs(n, (*plan)->rows, (*plan)->startup_cost, (*plan)->total_cost + cost + (*plan)->rows * p->settings->cpu_tuple_cost);
        *layout = wider;
        *plan = n;
    }
    return STATUS_OK;
}

static enum status layer_sets(struct planner *p, struct query *q, struct plan **plan, struct layout *layout)
{
    struct layout wider = *layout;
    for (int i = 0; i < q->set_function_count; i++) layout_add(p, &wider, scalar_var(p->arena, q->set_rel, (uint16_t)i, 0));
    struct plan *n = plan_new(p, PLAN_PROJECT_SET, wider.count);
    n->left = *plan;
    n->exprs = arena_array(p->arena, struct scalar *, wider.count);
    for (int i = 0; i < wider.count; i++) {
        n->types[i] = wider.items[i]->type;
        TRY(resolve(p, layout, i < layout->count ? layout->items[i] : q->set_functions[i - layout->count], &n->exprs[i]));
    }
    plan_costs(n, (*plan)->rows * 100, (*plan)->startup_cost, (*plan)->total_cost + (*plan)->rows * 100 * p->settings->cpu_tuple_cost);
    *plan = n;
    *layout = wider;
    return STATUS_OK;
}

static void inner_conditions(struct planner *p, const struct from_node *n, struct scalars *list)
{
    if (!n || n->rel || n->join != PLAN_INNER) return;
    for (uint32_t i = 0; i < n->on.count; i++) scalars_add(p->arena, list, n->on.items[i]);
    inner_conditions(p, n->left, list);
    inner_conditions(p, n->right, list);
}

static enum status layer_locks(struct planner *p, struct query *q, struct plan **plan, const struct layout *layout)
{
    struct plan *n = plan_new(p, PLAN_LOCK_ROWS, (*plan)->column_count);
    memcpy(n->types, (*plan)->types, sizeof *n->types * n->column_count);
    n->left = *plan;
    n->lock_count = q->lock_count;
    n->lock_columns = arena_array(p->arena, uint16_t, q->lock_count);
    n->lock_tables = arena_array(p->arena, const struct table *, q->lock_count);
    n->lock_recheck = arena_new(p->arena, struct lock_recheck);
    n->lock_recheck->table_columns = arena_array(p->arena, uint16_t *, q->lock_count);
    for (int i = 0; i < q->lock_count; i++) {
        const struct lock_clause *c = &q->locks[i];
        if (c->strength > n->row_lock) n->row_lock = c->strength;      /* one mode for the node: the strongest asked for */
        if (c->wait != LOCK_WAIT) n->lock_wait = c->wait;
        n->lock_tables[i] = c->rel->table;
        n->lock_columns[i] = (uint16_t)layout_find(layout, scalar_var(p->arena, c->rel, ROW_ID_COLUMN, 0));
        uint16_t *columns = n->lock_recheck->table_columns[i] = arena_array(p->arena, uint16_t, layout->count ? layout->count : 1);
        for (int k = 0; k < layout->count; k++) {
            const struct scalar *v = layout->items[k];
            columns[k] = v->kind == SCALAR_VAR && v->var.rel == c->rel->id ? v->var.column : 0xFFFE;
        }
    }
    struct scalars all = { 0 };
    for (uint32_t i = 0; i < q->where.count; i++) scalars_add(p->arena, &all, q->where.items[i]);
    for (uint32_t i = 0; i < q->from.count; i++) inner_conditions(p, q->from.items[i], &all);
    TRY(resolve(p, layout, all.count ? scalar_and(p->arena, all.items, all.count) : NULL, &n->lock_recheck->filter));
    plan_costs(n, (*plan)->rows, (*plan)->startup_cost, (*plan)->total_cost + (*plan)->rows * p->settings->cpu_tuple_cost);
    *plan = n;
    return STATUS_OK;
}

/* ---- set operations ---- */

static bool same_types(const struct query *a, const struct query *b)
{
    for (int i = 0; i < a->visible_count; i++) {
        struct sql_type x = a->targets[i]->type, y = b->targets[i]->type;
        if (x.oid != y.oid || x.width != y.width || x.scale != y.scale) return false;
    }
    return true;
}

/* The parts of a chain of UNIONs, from left to right. */
static void flatten_union(struct planner *p, struct query *q, bool all, struct query ***list, uint32_t *count, uint32_t *capacity)
{
    if (q->set == SET_UNION && (q->set_all || !all) && !q->order_count && !q->limit && !q->offset && same_types(q, q->left) && same_types(q, q->right)) {
        flatten_union(p, q->left, all, list, count, capacity);
        flatten_union(p, q->right, all, list, count, capacity);
        return;
    }
    if (*count == *capacity) {
        uint32_t room = *capacity ? *capacity * 2 : 8;
        *list = arena_grow(p->arena, *list, *capacity * sizeof **list, room * sizeof **list);
        *capacity = room;
    }
    (*list)[(*count)++] = q;
}

static struct plan *node_distinct(struct planner *p, struct plan *child)
{
    struct plan *n = plan_new(p, PLAN_AGGREGATE, child->column_count);
    memcpy(n->types, child->types, sizeof *n->types * n->column_count);
    n->left = child;
    n->group_count = child->column_count;
    n->groups = arena_array(p->arena, struct scalar *, child->column_count ? child->column_count : 1);
    for (int i = 0; i < child->column_count; i++) {
        n->groups[i] = scalar_new(p->arena, SCALAR_COLUMN, child->types[i], 0);
        n->groups[i]->column = (uint16_t)i;
    }
    n->group_estimate = fmax(1, child->rows);
    double cost = child->total_cost + cost_rows(p, child->rows, COST_GROUPED) + cost_operators(p, child->rows, child->column_count);
    plan_costs(n, fmax(1, child->rows), cost, cost + cost_rows(p, child->rows, COST_GROUP));
    return n;
}

/* INTERSECT and EXCEPT without ALL ask for distinct rows: made so in workers, they leave the operation itself few. */
static struct plan *distinct_side(struct planner *p, const struct query *q, struct plan *plan)
{
    double groups = 1;
    for (int i = 0; i < q->visible_count; i++) groups *= distinct_values(p, q->targets[i], plan->rows);
    if (groups * 4 > plan->rows) return plan;
    plan = node_distinct(p, plan);
    plan->rows = plan->group_estimate = fmax(1, rint(groups));
    return plan;
}

static enum status plan_set_operation(struct planner *p, struct query *q, struct plan **plan, struct layout *layout)
{
    uint16_t columns = q->visible_count;
    struct plan *n;
    if (q->set == SET_UNION) {
        struct query **list = NULL;
        uint32_t count = 0, capacity = 0;
        flatten_union(p, q->left, q->set_all, &list, &count, &capacity);
        flatten_union(p, q->right, q->set_all, &list, &count, &capacity);
        if (count > UINT16_MAX) return error_set(STATUS_TOO_COMPLEX, "too many parts in one UNION");
        n = plan_new(p, PLAN_APPEND, columns);
        n->child_count = (uint16_t)count;
        n->children = arena_array(p->arena, struct plan *, count);
        double rows = 0, cost = 0;
        for (uint32_t i = 0; i < count; i++) {
            TRY(plan_query(p, list[i], 0, &n->children[i]));
            rows += n->children[i]->rows;
            cost += n->children[i]->total_cost;
        }
        for (int c = 0; c < columns; c++) n->types[c] = q->set_op_rel->types[c];
        plan_costs(n, rows, n->children[0]->startup_cost, cost + rows * p->settings->cpu_tuple_cost * 0.5);
        if (!q->set_all || (PLANT(DUPLICATES_LOST) && count > 2)) n = node_distinct(p, n);
    } else {
        n = plan_new(p, PLAN_SET_OP, columns);
        n->set_operation = q->set;
        n->set_all = q->set_all;
        TRY(plan_query(p, q->left, 0, &n->left));
        TRY(plan_query(p, q->right, 0, &n->right));
        if (!q->set_all) {
            n->left = distinct_side(p, q->left, n->left);
            n->right = distinct_side(p, q->right, n->right);
        }
        for (int c = 0; c < columns; c++) n->types[c] = q->set_op_rel->types[c];
        double rows = q->set == SET_INTERSECT ? fmin(n->left->rows, n->right->rows) : n->left->rows;
        double cost = n->left->total_cost + n->right->total_cost + (n->left->rows + n->right->rows) * p->settings->cpu_operator_cost * columns;
        plan_costs(n, fmax(1, rows), cost, cost + rows * p->settings->cpu_tuple_cost);
    }
    layout_of_rel(p, q->set_op_rel, layout);
    *plan = n;
    return STATUS_OK;
}

static enum status plan_values(struct planner *p, struct query *q, struct plan **plan, struct layout *layout)
{
    struct plan *n = plan_new(p, PLAN_VALUES, q->values_rel->column_count);
    struct layout none = { 0 };
    n->row_count = q->row_count;
    n->rows_exprs = arena_array(p->arena, struct scalar **, q->row_count);
    for (uint32_t i = 0; i < q->row_count; i++) TRY(resolve_all(p, &none, q->rows[i], n->column_count, &n->rows_exprs[i]));
    memcpy(n->types, q->values_rel->types, sizeof *n->types * n->column_count);
    plan_costs(n, q->row_count, 0, q->row_count * p->settings->cpu_operator_cost * 5);
    layout_of_rel(p, q->values_rel, layout);
    *plan = n;
    return STATUS_OK;
}

/* ---- a whole query ---- */

static bool order_is_plain(const struct query *q, const struct layout *layout)
{
    for (int i = 0; i < q->order_count; i++)
        if (layout_find(layout, q->targets[q->order[i].target]) < 0) return false;
    return true;
}

static struct sort_item *order_items(struct planner *p, const struct query *q, const struct layout *layout)
{
    struct sort_item *items = arena_array(p->arena, struct sort_item, q->order_count ? q->order_count : 1);
    for (int i = 0; i < q->order_count; i++)
        items[i] = (struct sort_item){ (uint16_t)layout_find(layout, q->targets[q->order[i].target]), q->order[i].descending, q->order[i].nulls_first };
    return items;
}

/* min(x) and max(x) of a table with an index on x: each is the first row of a scan in that order. Only when all the
 * aggregates are such, and nothing groups. Makes the query one without FROM whose "aggregates" are subqueries. */
static enum status min_max_by_index(struct planner *p, struct query *q, struct plan **plan, struct layout *layout, bool *done)
{
    *done = false;
    if (q->group_count || q->set_count || !q->aggregate_count || q->from.count != 1 || !q->from.items[0]->rel) return STATUS_OK;
    struct rel *r = q->from.items[0]->rel;
    if (r->kind != REL_TABLE || r->table->kind != RELATION_TABLE || !r->table->index_count) return STATUS_OK;
    for (uint32_t i = 0; i < q->where.count; i++)
        if (scalar_has_subquery(q->where.items[i]) || scalar_has_volatile(q->where.items[i])) return STATUS_OK;
    struct scalar **values = arena_array(p->arena, struct scalar *, q->aggregate_count);
    double best = 0;
    for (int i = 0; i < q->aggregate_count; i++) {
        const struct aggregate_item *a = q->aggregates[i];
        bool is_max = strcmp(a->aggregate->function->name, "max") == 0;
        if ((!is_max && strcmp(a->aggregate->function->name, "min") != 0) || a->arg_count != 1 || a->filter || a->args[0]->kind != SCALAR_VAR || a->args[0]->var.rel != r->id ||
            a->args[0]->var.column == ROW_ID_COLUMN || a->args[0]->type.oid != a->type.oid || a->args[0]->type.width != a->type.width || a->args[0]->type.scale != a->type.scale)
            return STATUS_OK;
        struct query *sub = query_new(p, STATEMENT_SELECT, (uint16_t)(q->level + 1));
        query_add_rel(p, sub, r);
        sub->from = q->from;
        for (uint32_t k = 0; k < q->where.count; k++) scalars_add(p->arena, &sub->where, q->where.items[k]);
        if (!r->table->columns[a->args[0]->var.column].not_null) {
            struct scalar *test = scalar_new(p->arena, SCALAR_IS_NOT_NULL, type_make(OID_BOOL, -1), 0);
            test->args = arena_copy(p->arena, a->args, sizeof *a->args);
            test->arg_count = 1;
            scalars_add(p->arena, &sub->where, test);
        }
        sub->targets = arena_copy(p->arena, a->args, sizeof *a->args);
        sub->names = arena_array(p->arena, const char *, 1);
        sub->names[0] = a->aggregate->function->name;
        sub->target_count = sub->visible_count = 1;
        sub->order = arena_array(p->arena, struct order_item, 1);
        sub->order[0] = (struct order_item){ 0, is_max, is_max };
        sub->order_count = 1;
        sub->limit = scalar_int8(p->arena, 1);
        sub->rewritten = true;
        struct wish wish = { .count = 1, .exprs = sub->targets, .descending = &sub->order[0].descending, .nulls_first = &sub->order[0].nulls_first, .limit = 1 };
        struct access access, whole;
        access_best(p, r, &sub->where, 1, &wish, &access);
        access_best(p, r, &q->where, 1, NULL, &whole);
        if (!access.ordered || access.index == NULL) return STATUS_OK;
        best += access.startup + (access.total - access.startup) / fmax(1, access.rows);
        if (best > whole.total) return STATUS_OK;
        values[i] = scalar_new(p->arena, SCALAR_SUBQUERY, a->type, 0);
        values[i]->subquery.kind = SUBQUERY_SCALAR;
        values[i]->subquery.query = sub;
    }
    struct plan *n = plan_new(p, PLAN_RESULT, q->aggregate_count);
    n->exprs = arena_array(p->arena, struct scalar *, q->aggregate_count);
    struct layout none = { 0 };
    for (int i = 0; i < q->aggregate_count; i++) {
        n->types[i] = q->aggregates[i]->type;
        TRY(resolve(p, &none, values[i], &n->exprs[i]));
    }
    plan_costs(n, 1, best, best + p->settings->cpu_tuple_cost);
    layout_of_rel(p, q->group_rel, layout);
    *plan = n;
    *done = true;
    return node_filter(p, n, layout, &q->having, plan);
}

enum status plan_query(struct planner *p, struct query *q, double fraction, struct plan **out)
{
    if (stack_is_deep()) return stack_too_deep();
    TRY(rewrite_query(p, q));
    bool by_index = false;
    struct plan *plan;
    struct layout layout = { 0 };
    bool sorted = q->order_count == 0;
    if (q->set != SET_NONE) TRY(plan_set_operation(p, q, &plan, &layout));
    else if (q->row_count) TRY(plan_values(p, q, &plan, &layout));
    else {
        struct scalars wanted = { 0 };
        if (q->grouped) {
            for (int i = 0; i < q->group_count; i++) want(p, q, &wanted, q->groups[i]);
            for (int i = 0; i < q->aggregate_count; i++) {
                for (int a = 0; a < q->aggregates[i]->arg_count; a++) want(p, q, &wanted, q->aggregates[i]->args[a]);
                want(p, q, &wanted, q->aggregates[i]->filter);
            }
        }
        for (int i = 0; i < q->target_count; i++) want(p, q, &wanted, q->targets[i]);
        for (uint32_t i = 0; i < q->having.count; i++) want(p, q, &wanted, q->having.items[i]);
        for (int i = 0; i < q->window_spec_count; i++) {
            const struct window_spec *w = q->window_specs[i];
            for (int k = 0; k < w->partition_count; k++) want(p, q, &wanted, w->partition[k]);
            for (int k = 0; k < w->order_count; k++) want(p, q, &wanted, w->order[k]);
            want(p, q, &wanted, w->start_offset);
            want(p, q, &wanted, w->end_offset);
        }
        for (int i = 0; i < q->window_count; i++) {
            for (int a = 0; a < q->windows[i]->item.arg_count; a++) want(p, q, &wanted, q->windows[i]->item.args[a]);
            want(p, q, &wanted, q->windows[i]->item.filter);
        }
        for (int i = 0; i < q->set_function_count; i++) want(p, q, &wanted, q->set_functions[i]);
        if (q->lock_count) {
            for (int i = 0; i < q->lock_count; i++) want(p, q, &wanted, scalar_var(p->arena, q->locks[i].rel, ROW_ID_COLUMN, 0));
            for (uint32_t i = 0; i < q->where.count; i++) want(p, q, &wanted, q->where.items[i]);
            for (uint32_t i = 0; i < q->from.count; i++) want_node(p, q, &wanted, q->from.items[i]);
        }
        struct wish wish = { 0 }, *wished = NULL;
        if ((q->order_count || q->limit || fraction > 0) && !q->grouped && !q->window_count && !q->distinct && !q->set_function_count) {
            wish.count = q->order_count;
            wish.exprs = arena_array(p->arena, struct scalar *, q->order_count ? q->order_count : 1);
            wish.descending = arena_array(p->arena, bool, q->order_count ? q->order_count : 1);
            wish.nulls_first = arena_array(p->arena, bool, q->order_count ? q->order_count : 1);
            for (int i = 0; i < q->order_count; i++) {
                wish.exprs[i] = q->targets[q->order[i].target];
                wish.descending[i] = q->order[i].descending;
                wish.nulls_first[i] = q->order[i].nulls_first;
            }
            wish.limit = q->limit ? limit_of(q->limit, 1000) + limit_of(q->offset, 0) : fraction;
            wished = &wish;
        }
        if (q->grouped) TRY(min_max_by_index(p, q, &plan, &layout, &by_index));
        if (!by_index) TRY(plan_from(p, q, &wanted, wished, &plan, &layout));
        if (wished && q->order_count) sorted = wish.ordered;
        if (q->grouped && !by_index) TRY(layer_groups(p, q, &plan, &layout));
        if (q->window_count) TRY(layer_windows(p, q, &plan, &layout));
        if (q->set_function_count) TRY(layer_sets(p, q, &plan, &layout));
    }
    if (q->distinct) {
        struct layout all = { q->target_count, q->targets };
        TRY(node_project(p, plan, &layout, q->targets, q->target_count, &plan));
        layout = all;
        if (!q->distinct_on_count) {
            double rows = plan->rows, groups = 1;
            for (int i = 0; i < q->target_count; i++) groups *= distinct_values(p, q->targets[i], rows);
            plan = node_distinct(p, plan);
            plan->rows = plan->group_estimate = fmax(1, rint(fmin(groups, rows)));
        } else {
            uint16_t keys = 0;
            struct sort_item *sort = arena_array(p->arena, struct sort_item, q->distinct_on_count + q->order_count + 1u);
            uint16_t from_order = 0;
            for (int i = 0; i < q->order_count; i++)       /* ORDER BY begins with the keys */
                sort[keys++] = (struct sort_item){ q->order[i].target, q->order[i].descending, q->order[i].nulls_first };
            for (int i = 0; i < q->distinct_on_count; i++) {
                bool in_order = false;
                for (int k = 0; k < q->order_count && !in_order; k++) in_order = q->order[k].target == q->distinct_on[i];
                if (in_order) from_order++;
                else sort[keys++] = (struct sort_item){ .column = q->distinct_on[i] };
            }
            if (from_order < q->distinct_on_count && q->order_count > from_order) {   /* the other keys go before the rest of ORDER BY */
                uint16_t k = 0;
                for (int i = 0; i < from_order; i++) sort[k++] = (struct sort_item){ q->order[i].target, q->order[i].descending, q->order[i].nulls_first };
                for (int i = 0; i < q->distinct_on_count; i++) {
                    bool in_order = false;
                    for (int o = 0; o < q->order_count && !in_order; o++) in_order = q->order[o].target == q->distinct_on[i];
                    if (!in_order) sort[k++] = (struct sort_item){ .column = q->distinct_on[i] };
                }
                for (int i = from_order; i < q->order_count; i++) sort[k++] = (struct sort_item){ q->order[i].target, q->order[i].descending, q->order[i].nulls_first };
            }
            plan = node_sort(p, plan, sort, keys);
            struct plan *n = plan_new(p, PLAN_DISTINCT_ON, plan->column_count);
            memcpy(n->types, plan->types, sizeof *n->types * n->column_count);
            n->left = plan;
            n->sort_count = q->distinct_on_count;
            n->sort = arena_array(p->arena, struct sort_item, q->distinct_on_count);
            for (int i = 0; i < q->distinct_on_count; i++) n->sort[i].column = q->distinct_on[i];
            plan_costs(n, fmax(1, plan->rows / 2), plan->startup_cost, plan->total_cost + plan->rows * p->settings->cpu_operator_cost);
            plan = n;
            sorted = true;
        }
    }
    if (!sorted) {
        if (!order_is_plain(q, &layout)) {
            if (q->lock_count) {
                struct scalar **exprs = arena_array(p->arena, struct scalar *, q->order_count);
                for (int i = 0; i < q->order_count; i++) exprs[i] = q->targets[q->order[i].target];
                TRY(extend(p, &plan, &layout, exprs, q->order_count));
            } else {
                struct layout all = { q->target_count, q->targets };
                TRY(node_project(p, plan, &layout, q->targets, q->target_count, &plan));
                layout = all;
            }
        }
        plan = node_sort(p, plan, order_items(p, q, &layout), q->order_count);
    }
    if (q->lock_count) TRY(layer_locks(p, q, &plan, &layout));
    /* With ties the LIMIT needs to know the order, also where an index gave it. */
    if (q->with_ties && plan->kind != PLAN_SORT) {
        struct plan *sort = NULL;
        if (order_is_plain(q, &layout)) sort = node_sort(p, plan, order_items(p, q, &layout), q->order_count);
        if (sort) plan = sort;
    }
    TRY(node_limit(p, plan, q, &plan));
    return node_project(p, plan, &layout, q->targets, q->visible_count, out);
}

/* ---- WITH ---- */

enum status plan_cte(struct planner *p, struct cte_query *c)
{
    if (c->planned || c->index >= 0) return STATUS_OK;
    c->index = p->cte_count;
    p->ctes = arena_grow(p->arena, p->ctes, p->cte_count * sizeof *p->ctes, (p->cte_count + 1u) * sizeof *p->ctes);
    p->ctes[p->cte_count++] = c;
    struct prepared_plan *o = p->out;
    o->ctes = arena_grow(p->arena, o->ctes, o->cte_count * sizeof *o->ctes, (o->cte_count + 1u) * sizeof *o->ctes);
    o->cte_recursive = arena_grow(p->arena, o->cte_recursive, o->cte_count, o->cte_count + 1u);
    o->cte_scans = arena_grow(p->arena, o->cte_scans, o->cte_count * sizeof *o->cte_scans, (o->cte_count + 1u) * sizeof *o->cte_scans);
    o->cte_scans[o->cte_count] = 0;
    o->cte_names = arena_grow(p->arena, o->cte_names, o->cte_count * sizeof *o->cte_names, (o->cte_count + 1u) * sizeof *o->cte_names);
    o->cte_names[o->cte_count] = c->name;
    uint16_t at = o->cte_count++;
    o->ctes[at] = NULL;
    o->cte_recursive[at] = c->recursive;
    struct frame *frame = p->frame;
    p->frame = NULL;
    struct plan *plan;
    enum status status;
    if (!c->recursive) {
        status = c->query->kind == STATEMENT_SELECT ? plan_query(p, c->query, 0, &plan) : plan_modify(p, c->query, &plan);
    } else {
        plan = plan_new(p, PLAN_RECURSIVE_UNION, c->column_count);
        plan->cte = at;
        plan->set_all = c->all;
        memcpy(plan->types, c->types, sizeof *plan->types * c->column_count);
        status = plan_query(p, c->initial, 0, &plan->left);
        c->rows = status ? 1 : plan->left->rows * 10;
        if (!status) status = plan_query(p, c->step, 0, &plan->right);
        if (!status) plan_costs(plan, plan->left->rows + plan->right->rows * 10, plan->left->startup_cost, plan->left->total_cost + 10 * plan->right->total_cost);
    }
    p->frame = frame;
    if (status) return status;
    c->rows = plan->rows;
    c->planned = true;
    o->ctes[at] = plan;
    return STATUS_OK;
}

/* ---- INSERT, UPDATE, DELETE ---- */

static void modify_common(struct planner *p, struct query *q, struct plan *n)
{
    struct table_writes *w = q->writes;
    n->table = q->table;
    n->alias = q->target_rel->name;
    n->modify_info = arena_new(p->arena, struct modify_info);
    n->modify_info->writes = w;
    n->checks = w->checks;
    n->check_names = w->check_names;
    n->check_count = w->check_count;
}

static enum status plan_returning(struct planner *p, struct query *q, struct plan *n, const struct layout *layout)
{
    n->returning_count = (uint16_t)q->returning.count;
    n->column_count = n->returning_count;
    n->types = arena_array(p->arena, struct sql_type, n->returning_count + 1u);
    for (int i = 0; i < n->returning_count; i++) n->types[i] = q->returning.items[i]->type;
    return resolve_all(p, layout, q->returning.items, q->returning.count, &n->returning);
}

static enum status plan_insert(struct planner *p, struct query *q, struct plan **out)
{
    struct plan *n = plan_new(p, PLAN_MODIFY, 0);
    n->modify = MODIFY_INSERT;
    modify_common(p, q, n);
    TRY(plan_query(p, q->source, 0, &n->left));
    n->insert_columns = n->set_columns = q->insert_columns;
    n->insert_column_count = n->set_column_count = q->insert_count;
    n->exprs = q->writes->defaults;
    struct layout layout;
    layout_of_rel(p, q->target_rel, &layout);
    if (q->conflict) {
        struct modify_info *m = n->modify_info;
        m->conflict = q->conflict->action;
        m->conflict_index = q->conflict->index;
        if (q->conflict->set) {
            struct layout both = layout;
            for (int i = 0; i < q->table->column_count; i++) layout_add(p, &both, scalar_var(p->arena, q->excluded_rel, (uint16_t)i, 0));
            TRY(resolve_all(p, &both, q->conflict->set, q->table->column_count, &m->conflict_set));
            TRY(resolve(p, &both, q->conflict->where, &m->conflict_where));
            m->conflict_assigned = q->conflict->assigned;
        }
    }
    TRY(plan_returning(p, q, n, &layout));
    plan_costs(n, n->left->rows, n->left->startup_cost, n->left->total_cost);
    *out = n;
    return STATUS_OK;
}

static enum status plan_change(struct planner *p, struct query *q, struct plan **out)
{
    const struct table *t = q->table;
    bool update = q->kind == STATEMENT_UPDATE;
    struct plan *n = plan_new(p, PLAN_MODIFY, 0);
    n->modify = update ? MODIFY_UPDATE : MODIFY_DELETE;
    modify_common(p, q, n);
    TRY(rewrite_query(p, q));
    /* row id, the table's columns, then what RETURNING, SET and the conditions need of the other relations */
    struct scalars wanted = { 0 }, extra = { 0 }, all = { 0 };
    scalars_add(p->arena, &wanted, scalar_var(p->arena, q->target_rel, ROW_ID_COLUMN, 0));
    for (int i = 0; i < t->column_count; i++) scalars_add(p->arena, &wanted, scalar_var(p->arena, q->target_rel, (uint16_t)i, 0));
    for (uint32_t i = 0; i < q->returning.count; i++) want(p, q, &all, q->returning.items[i]);
    for (int i = 0; update && i < t->column_count; i++) want(p, q, &all, q->assigned[i]);
    bool joined = q->rel_count > 1;
    if (joined) {
        for (uint32_t i = 0; i < q->where.count; i++) want(p, q, &all, q->where.items[i]);
        for (uint32_t i = 0; i < q->from.count; i++) want_node(p, q, &all, q->from.items[i]);
    }
    for (uint32_t i = 0; i < all.count; i++) {
        const struct scalar *v = all.items[i];
        if (v->var.rel == q->target_rel->id) continue;
        bool inner = false;              /* the inside of a semi join has no values to hand on */
        for (uint32_t k = 0; k < q->from.count && !inner; k++) {
            const struct from_node *f = q->from.items[k];
            if (f->rel || (f->join != PLAN_SEMI && f->join != PLAN_ANTI && f->join != PLAN_ANTI_NULL)) continue;
            const struct from_node *stack[64];
            int depth = 0;
            stack[depth++] = f->right;
            while (depth && !inner) {
                const struct from_node *top = stack[--depth];
                if (top->rel) inner = top->rel->id == v->var.rel;
                else if (depth < 62) {
                    stack[depth++] = top->left;
                    stack[depth++] = top->right;
                }
            }
        }
        if (inner) continue;
        scalars_add(p->arena, &extra, all.items[i]);
        scalars_add(p->arena, &wanted, all.items[i]);
    }
    struct plan *plan;
    struct layout layout;
    TRY(plan_from(p, q, &wanted, NULL, &plan, &layout));
    struct layout row = { 0 };           /* target's columns, then extras: what RETURNING and the re-check read */
    layout_of_rel(p, q->target_rel, &row);
    for (uint32_t i = 0; i < extra.count; i++) layout_add(p, &row, extra.items[i]);
    uint32_t columns = 1 + t->column_count + extra.count;
    struct scalar **exprs = arena_array(p->arena, struct scalar *, columns);
    exprs[0] = wanted.items[0];
    n->modify_info->set = arena_array(p->arena, bool, t->column_count);
    n->set_columns = arena_array(p->arena, uint16_t, t->column_count);
    for (int i = 0; i < t->column_count; i++) {
        exprs[i + 1] = wanted.items[i + 1];
        if (update && q->assigned[i]) {
            exprs[i + 1] = q->assigned[i];
            n->modify_info->set[i] = true;
            n->set_columns[n->set_column_count++] = (uint16_t)i;
        }
    }
    for (uint32_t i = 0; i < extra.count; i++) exprs[1 + t->column_count + i] = extra.items[i];
    TRY(node_project(p, plan, &layout, exprs, columns, &plan));
    n->left = plan;
    n->modify_info->extra_count = (uint16_t)extra.count;
    if (update) TRY(resolve_all(p, &row, exprs + 1, t->column_count, &n->modify_info->recheck_exprs));
    struct scalars conditions = { 0 };
    for (uint32_t i = 0; i < q->where.count; i++) scalars_add(p->arena, &conditions, q->where.items[i]);
    TRY(resolve(p, &row, conditions.count ? scalar_and(p->arena, conditions.items, conditions.count) : NULL, &n->modify_info->recheck_filter));
    TRY(plan_returning(p, q, n, &row));
    plan_costs(n, plan->rows, plan->startup_cost, plan->total_cost);
    *out = n;
    return STATUS_OK;
}

enum status plan_modify(struct planner *p, struct query *q, struct plan **out)
{
    return q->kind == STATEMENT_INSERT ? plan_insert(p, q, out) : plan_change(p, q, out);
}

/* ---- the way in ---- */

void planner_open(struct planner *p, struct session *session, struct arena *arena, const char *sql)
{
    *p = (struct planner){ .session = session, .arena = arena, .sql = sql, .settings = session_settings(session) };
    p->out = arena_new(arena, struct prepared_plan);
}

static void top_names(struct planner *p, struct plan *root, const struct query *q)
{
    bool returning = q->kind != STATEMENT_SELECT;
    root->names = returning ? q->returning_names : q->names;
    root->origin_tables = returning ? q->returning_tables : q->origin_tables;
    root->origin_columns = returning ? q->returning_columns : q->origin_columns;
    (void)p;
}

enum status plan_statement(struct plan_request *request, struct prepared_plan **out)
{
    struct planner p;
    planner_open(&p, request->session, request->arena, request->sql);
    p.parameter_types = request->parameter_types;
    p.parameter_values = request->parameters;
    const struct statement *st = request->statement;
    struct prepared_plan *o = p.out;
    struct query *q = NULL;
    o->kind = st->kind;
    o->arena = request->arena;
    uint64_t version = catalog_version();
    switch (st->kind) {
    case STATEMENT_SELECT:
        TRY(analyze_select(&p, NULL, st->select, false, &q));
        TRY(query_resolve_unknown(&p, q));
        o->tag = "SELECT";
        break;
    case STATEMENT_INSERT:
        TRY(analyze_insert(&p, NULL, st->insert, &q));
        o->tag = "INSERT 0";
        break;
    case STATEMENT_UPDATE:
        TRY(analyze_update(&p, NULL, st->update, &q));
        o->tag = "UPDATE";
        break;
    case STATEMENT_DELETE:
        TRY(analyze_delete(&p, NULL, st->delete_, &q));
        o->tag = "DELETE";
        break;
    default:
        return error_set(STATUS_INTERNAL, "not a statement that is planned");
    }
    for (int i = 0; i < p.parameter_count; i++) {
        struct scalar *node = p.parameters[i].node;
        if (node && node->type.oid == OID_UNKNOWN) return fail_at(&p, node->position, STATUS_INDETERMINATE_DATATYPE, "could not determine data type of parameter $%d", i + 1);
        if (!node && p.parameter_types && !p.parameter_types[i]) return fail_at(&p, 0, STATUS_INDETERMINATE_DATATYPE, "could not determine data type of parameter $%d", i + 1);
    }
    if (q->kind == STATEMENT_SELECT) TRY(plan_query(&p, q, 0, &o->root));
    else TRY(plan_modify(&p, q, &o->root));
    for (int i = 0; i < p.modifying_count; i++) TRY(plan_cte(&p, p.modifying[i]));
    top_names(&p, o->root, q);
    o->returns_rows = q->kind == STATEMENT_SELECT || q->returning.count > 0;
    o->read_only = q->kind == STATEMENT_SELECT && !p.writes;
    o->has_volatile = p.has_volatile;
    if (p.node_count > UINT16_MAX || p.slot_count > UINT16_MAX) {
        enum status status = error_set(STATUS_TOO_COMPLEX, "statement is too complex");
        error_detail("Its plan would have %u nodes and %u values handed to subqueries; at most %d of each are supported.", p.node_count, p.slot_count, UINT16_MAX);
        return status;
    }
    o->node_count = (uint16_t)p.node_count;
    o->outer_slot_count = (uint16_t)p.slot_count;
    uint16_t given = request->parameter_count > p.parameter_count ? request->parameter_count : p.parameter_count;
    o->parameter_count = given;
    o->parameter_types = arena_array(p.arena, struct sql_type, given ? given : 1);
    for (int i = 0; i < given; i++) o->parameter_types[i] = type_make(p.parameter_types && p.parameter_types[i] ? p.parameter_types[i] : OID_TEXT, -1);
    o->tables = p.tables;
    o->table_count = p.table_count;
    o->catalog_version = version;
    plan_gate(&p, o->root);
    *out = o;
    return STATUS_OK;
}

enum status bind_expression(struct session *session, struct arena *arena, const char *sql, struct expr *e, const struct table *table, struct sql_type wanted, const char *what, struct scalar **out)
{
    struct planner p;
    planner_open(&p, session, arena, sql);
    p.bare = true;
    struct query *q = query_new(&p, STATEMENT_SELECT, 0);
    struct scope scope = { .query = q, .no_subqueries = true, .what = what, .clause = arena_printf(arena, "%s%s", what, strstr(what, "onstraint") || strstr(what, "xpression") || strstr(what, "ondition") ? "s" : "") };
    if (table) {
        struct rel *r = planner_rel(&p, REL_TABLE, table->name, table->column_count, 0);
        r->table = table;
        for (int i = 0; i < table->column_count; i++) {
            r->names[i] = table->columns[i].name;
            r->types[i] = table->columns[i].type;
        }
        query_add_rel(&p, q, r);
        scope_add(&p, &scope, space_of_rel(&p, r, table->name, table->schema_name));
    }
    struct scalar *s;
    TRY(bind_node(&p, &scope, e, &s));
    if (wanted.oid) {
        if (s->type.oid != wanted.oid && !can_coerce(s->type.oid, wanted.oid, CAST_ASSIGNMENT)) {
            if (wanted.oid == OID_BOOL) return fail_at(&p, s->position, STATUS_DATATYPE_MISMATCH, "argument of %s must be type boolean, not type %s", strcmp(what, "check constraint") == 0 ? "CHECK" : strstr(what, "WHERE") ? "WHERE" : what, type_text(&p, s->type));
            enum status status = fail_at(&p, s->position, STATUS_DATATYPE_MISMATCH, "%s is of type %s but expression is of type %s", what, type_text(&p, wanted), type_text(&p, s->type));
            error_hint("You will need to rewrite or cast the expression.");
            return status;
        }
        TRY(coerce(&p, s, wanted, CAST_ASSIGNMENT, s->position, &s));
        if (wanted.oid == OID_NUMERIC) {
            if (scalar_is_null_const(s)) s = scalar_null(arena, wanted, s->position);
            else TRY(coerce_form(&p, s, wanted, &s));
        }
    } else
        TRY(resolve_unknown(&p, s, &s));
    return resolve(&p, NULL, s, out);
}

enum status bind_table_writes(struct session *session, struct arena *arena, const struct table *t, struct table_writes **out)
{
    struct table_writes *w = arena_new(arena, struct table_writes);
    w->table = t;
    w->defaults = arena_array(arena, struct scalar *, t->column_count ? t->column_count : 1);
    w->generated = arena_array(arena, struct scalar *, t->column_count ? t->column_count : 1);
    for (int i = 0; i < t->column_count; i++) {
        const struct column *c = &t->columns[i];
        if (c->dropped) continue;
        if (c->generated) {
            if (c->default_expr) TRY(bind_expression(session, arena, NULL, c->default_expr, t, c->type, "column generation expression", &w->generated[i]));
            continue;
        }
        if (c->default_expr)
            TRY(bind_expression(session, arena, NULL, c->default_expr, NULL, c->type, "DEFAULT expression", &w->defaults[i]));
        else if (c->identity && c->sequence) {
            struct planner p;
            planner_open(&p, session, arena, NULL);
            p.bare = true;
            struct scalar *arg = scalar_new(arena, SCALAR_CONST, type_make(OID_REGCLASS, -1), 0), *call;
            arg->constant.oid = c->sequence;
            uint32_t type = OID_REGCLASS;
            bool ambiguous, exists;
            const struct function *f = find_function("nextval", FUNCTION_SCALAR, &type, 1, &ambiguous, &exists);
            if (!f) return error_set(STATUS_INTERNAL, "function nextval(regclass) does not exist");
            TRY(make_call(&p, f, &arg, 1, CALL_FUNCTION, NULL, type_make(f->result, -1), 0, &call));
            TRY(coerce(&p, call, c->type, CAST_ASSIGNMENT, 0, &w->defaults[i]));
        }
    }
    w->checks = arena_array(arena, struct scalar *, t->check_count ? t->check_count : 1);
    w->check_names = arena_array(arena, const char *, t->check_count ? t->check_count : 1);
    w->check_count = t->check_count;
    for (int i = 0; i < t->check_count; i++) {
        w->check_names[i] = t->checks[i].name;
        TRY(bind_expression(session, arena, NULL, t->checks[i].expr, t, type_make(OID_BOOL, -1), "check constraint", &w->checks[i]));
    }
    w->index_exprs = arena_array(arena, struct scalar **, t->index_count ? t->index_count : 1);
    w->index_predicates = arena_array(arena, struct scalar *, t->index_count ? t->index_count : 1);
    for (int i = 0; i < t->index_count; i++) {
        const struct index *ix = &t->indexes[i];
        w->index_exprs[i] = arena_array(arena, struct scalar *, ix->column_count ? ix->column_count : 1);
        for (int k = 0; k < ix->column_count; k++)
            if (ix->columns[k].column == 0 && ix->columns[k].expr)
                TRY(bind_expression(session, arena, NULL, ix->columns[k].expr, t, ix->columns[k].type, "index expression", &w->index_exprs[i][k]));
        if (ix->predicate) TRY(bind_expression(session, arena, NULL, ix->predicate, t, type_make(OID_BOOL, -1), "index predicate", &w->index_predicates[i]));
    }
    *out = w;
    return STATUS_OK;
}
