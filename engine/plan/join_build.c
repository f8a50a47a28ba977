/* engine/plan/join_build.c - from the chosen path to plan nodes.
 *
 * From the top down: what is wanted above a join, and what it judges itself, says which columns each side hands up; what it judges
 * itself and nobody wants ends there. Inner equalities become hash keys, the rest of ON the join's filter. */
#include <math.h>
#include <string.h>

#include "engine/catalog/views.h"
#include "engine/plan/cost.h"
#include "engine/plan/joins.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

enum status filter_node(struct planner *p, struct plan *child, const struct layout *layout, const struct scalars *conditions, double rows, struct plan **out)
{
    *out = child;
    if (!conditions->count) return STATUS_OK;
    struct plan *n = plan_new(p, PLAN_FILTER, child->column_count);
    memcpy(n->types, child->types, sizeof *n->types * n->column_count);
    n->left = child;
    TRY(resolve(p, layout, scalar_and(p->arena, conditions->items, conditions->count), &n->filter));
    n->rows = rows;
    n->width = child->width;
    n->startup_cost = child->startup_cost;
    n->total_cost = child->total_cost + cost_operators(p, child->rows, scalars_weight(p, conditions));
    *out = n;
    return STATUS_OK;
}

static enum status build_leaf(struct problem *b, int at, const struct access *access, const struct scalars *wanted, struct plan **out, struct layout *layout)
{
    struct planner *p = b->p;
    struct item *item = &b->items[at];
    struct rel *r = item->rel;
    if (r && r->kind == REL_TABLE) return access_plan(p, r, access ? access : &item->access, &item->filters, wanted, out, layout);
    if (r && r->kind == REL_VIRTUAL) {
        struct scalars list = { 0 };
        for (uint32_t i = 0; i < wanted->count; i++) collect_vars(p, wanted->items[i], r->id, &list);
        for (uint32_t i = 0; i < item->filters.count; i++) collect_vars(p, item->filters.items[i], r->id, &list);
        struct plan *n = plan_new(p, PLAN_VIRTUAL_SCAN, (uint16_t)list.count);
        n->table = r->table;
        n->virtual_table = r->table->virtual_table ? r->table->virtual_table : sequence_virtual_table(p->arena, r->table);
        n->alias = r->name;
        n->columns = arena_array(p->arena, uint16_t, list.count ? list.count : 1);
        for (uint32_t i = 0; i < list.count; i++) {
            n->columns[i] = list.items[i]->var.column;
            n->types[i] = r->types[list.items[i]->var.column];
        }
        *layout = (struct layout){ (uint16_t)list.count, list.items };
        TRY(resolve(p, layout, scalar_and(p->arena, item->filters.items, item->filters.count), &n->filter));
        n->rows = item->rows;
        n->total_cost = item->total;
        n->width = width_of(n->types, n->column_count);
        *out = n;
        return STATUS_OK;
    }
    *layout = item->layout;
    if (item->plan->kind == PLAN_FUNCTION_SCAN || item->plan->kind == PLAN_CTE_SCAN) {
        *out = item->plan;
        TRY(resolve(p, layout, scalar_and(p->arena, item->filters.items, item->filters.count), &item->plan->filter));
        item->plan->rows = item->rows;
        item->plan->total_cost = item->total;
        return STATUS_OK;
    }
    return filter_node(p, item->plan, layout, &item->filters, item->rows, out);
}

struct want_visit { struct problem *b; itemset set; struct scalars *list; };
static bool visit_wanted(void *context, const struct scalar *s)
{
    struct want_visit *w = context;
    if (s->kind == SCALAR_VAR && s->var.rel < w->b->rel_span && w->b->item_of[s->var.rel] >= 0 && (BIT(w->b->item_of[s->var.rel]) & w->set))
        collect_vars(w->b->p, s, s->var.rel, w->list);
    return false;
}
void wanted_in(struct problem *b, const struct scalar *s, itemset set, struct scalars *list)
{
    struct want_visit w = { b, set, list };
    scalar_walk(s, visit_wanted, &w);
}

struct layout layout_of_both(struct planner *p, const struct layout *left, const struct layout *right)
{
    struct layout both = { .count = (uint16_t)(left->count + right->count) };
    both.items = arena_array(p->arena, struct scalar *, both.count ? both.count : 1);
    if (left->count) memcpy(both.items, left->items, sizeof *both.items * left->count);
    if (right->count) memcpy(both.items + left->count, right->items, sizeof *both.items * right->count);
    return both;
}

enum status join_build(struct problem *b, struct path *path, const struct scalars *wanted, struct plan **out, struct layout *layout)
{
    struct planner *p = b->p;
    if (path->item >= 0) return build_leaf(b, path->item, NULL, wanted, out, layout);
    struct judged **list = arena_array(p->arena, struct judged *, b->conditions.count + b->class_count + 1);
    uint32_t count = crossing(b, path->left->set, path->right->set, list);
    struct scalars filter = { 0 };
    struct judgeds on = { 0 };
    if (path->special >= 0) {
        on = b->items[path->special].on;
        for (uint32_t i = 0; i < count; i++) scalars_add(p->arena, &filter, list[i]->s);
    } else {
        on.items = arena_array(p->arena, struct judged, count ? count : 1);
        on.count = count;
        for (uint32_t i = 0; i < count; i++) on.items[i] = *list[i];
    }
    /* columns: what is wanted above and what is judged here; each side its own */
    struct scalars needed = { 0 }, left_wanted = { 0 }, right_wanted = { 0 };
    for (uint32_t i = 0; i < wanted->count; i++) wanted_in(b, wanted->items[i], path->set, &needed);
    struct scalars above = { 0 };        /* what the join hands on */
    for (uint32_t i = 0; i < needed.count; i++) scalars_add(p->arena, &above, needed.items[i]);
    for (uint32_t i = 0; i < filter.count; i++) wanted_in(b, filter.items[i], path->set, &above);
    for (uint32_t i = 0; i < above.count; i++) {
        wanted_in(b, above.items[i], path->left->set, &left_wanted);
        wanted_in(b, above.items[i], path->right->set, &right_wanted);
    }
    for (uint32_t i = 0; i < on.count; i++) {
        wanted_in(b, on.items[i].s, path->left->set, &left_wanted);
        if (path->method != METHOD_INDEX_LOOP) wanted_in(b, on.items[i].s, path->right->set, &right_wanted);
    }
    struct plan *left, *right;
    struct layout ll, rl;
    bool lateral = path->right->item >= 0 && b->items[path->right->item].lateral;
    if (path->right->item >= 0 && b->items[path->right->item].frame) {
        const struct frame *f = b->items[path->right->item].frame;
        for (uint32_t i = 0; i < f->count; i++) {
            struct scalar v = { .kind = SCALAR_VAR, .type = f->slots[i].type, .var = { f->slots[i].rel, f->slots[i].column } };
            wanted_in(b, arena_copy(p->arena, &v, sizeof v), path->left->set, &left_wanted);
        }
    }
    const struct merge_way *way = path->method == METHOD_MERGE ? path->merge : NULL;
    if (way && way->access[0]) TRY(build_leaf(b, path->left->item, way->access[0], &left_wanted, &left, &ll));
    else TRY(join_build(b, path->left, &left_wanted, &left, &ll));
    if (way && way->sort[0]) TRY(merge_sort(p, &left, &ll, way->left, way->count));
    struct plan *n = NULL;
    bool left_only = join_left_only(path->join), right_only = left_only && path->swapped;
    enum plan_join join = path->join;
    if (path->swapped) join = join == PLAN_LEFT ? PLAN_RIGHT : join == PLAN_SEMI ? PLAN_RIGHT_SEMI : PLAN_RIGHT_ANTI;
    bool hash = path->method == METHOD_HASH, merge = path->method == METHOD_MERGE;
    struct frame frame = { .outer = p->frame }, *slots = NULL;
    if (hash) {
        TRY(join_build(b, path->right, &right_wanted, &right, &rl));
    } else if (merge) {
        if (way->access[1]) TRY(build_leaf(b, path->right->item, way->access[1], &right_wanted, &right, &rl));
        else TRY(join_build(b, path->right, &right_wanted, &right, &rl));
        if (way->sort[1]) TRY(merge_sort(p, &right, &rl, way->right, way->count));
    } else if (path->method == METHOD_INDEX_LOOP) {
        p->frame = &frame;
        enum status status = build_leaf(b, path->right->item, &path->inner, &right_wanted, &right, &rl);
        p->frame = frame.outer;
        if (status) return status;
        slots = &frame;
    } else {
        if (lateral) slots = b->items[path->right->item].frame;
        TRY(join_build(b, path->right, &right_wanted, &right, &rl));
    }
    if (ll.count + rl.count > UINT16_MAX) return error_set(STATUS_TOO_COMPLEX, "joins can hand on at most %d columns", UINT16_MAX);
    struct layout both = layout_of_both(p, &ll, &rl);
    /* output columns */
    uint16_t *outputs = arena_array(p->arena, uint16_t, above.count ? above.count : 1);
    struct layout result = { 0 };
    result.items = arena_array(p->arena, struct scalar *, above.count ? above.count : 1);
    for (uint32_t i = 0; i < above.count; i++) {
        for (int k = right_only ? ll.count : 0; k < (left_only && !right_only ? ll.count : both.count); k++) {
            const struct scalar *v = both.items[k];
            if (v->kind != SCALAR_VAR || v->var.rel != above.items[i]->var.rel || v->var.column != above.items[i]->var.column) continue;
            outputs[result.count] = (uint16_t)k;
            result.items[result.count++] = above.items[i];
            break;
        }
    }
    n = plan_new(p, hash ? PLAN_HASH_JOIN : merge ? PLAN_MERGE_JOIN : PLAN_NESTED_LOOP, result.count);
    for (int i = 0; i < result.count; i++) n->types[i] = outputs[i] < ll.count ? left->types[outputs[i]] : right->types[outputs[i] - ll.count];
    n->left = left;
    n->right = right;
    n->join = join;
    n->outputs = outputs;
    struct scalars rest = { 0 };
    if (hash || merge) {
        n->left_keys = arena_array(p->arena, struct scalar *, on.count);
        n->right_keys = arena_array(p->arena, struct scalar *, on.count);
        n->null_safe = arena_array(p->arena, bool, on.count);
    }
    for (uint32_t i = 0; i < on.count; i++) {
        struct scalar *l, *r;
        bool ok = hash && equal_sides(&on.items[i], path->left->set, path->right->set, &l, &r);
        if (merge || ok) {
            if (merge) TRY(merge_key(p, &on.items[i], path->left->set, path->right->set, &l, &r, &ok));
            else TRY(equality_common(p, &l, &r, &ok));
            if (ok) {
                TRY(resolve(p, &ll, l, &n->left_keys[n->key_count]));
                TRY(resolve(p, &rl, r, &n->right_keys[n->key_count]));
                n->key_count++;
                continue;
            }
        }
        if (path->method == METHOD_INDEX_LOOP && (on.items[i].mask & path->right->set)) continue;   /* judged by the inner scan */
        scalars_add(p->arena, &rest, on.items[i].s);
    }
    if (hash && !n->key_count) {
        if (path->swapped) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "outer join on types that have no common type is not supported");
        n->kind = PLAN_NESTED_LOOP;
    }
    TRY(resolve(p, &both, rest.count ? scalar_and(p->arena, rest.items, rest.count) : NULL, &n->filter));
    if (slots) {
        n->outer_slots = arena_array(p->arena, uint16_t, slots->count ? slots->count : 1);
        n->outer_values = arena_array(p->arena, struct scalar *, slots->count ? slots->count : 1);
        for (uint32_t i = 0; i < slots->count; i++) {
            struct scalar *v = scalar_new(p->arena, SCALAR_VAR, slots->slots[i].type, 0);
            v->var.rel = slots->slots[i].rel;
            v->var.column = slots->slots[i].column;
            n->outer_slots[n->outer_count] = slots->slots[i].slot;
            TRY(resolve(p, &ll, v, &n->outer_values[n->outer_count]));
            n->outer_count++;
        }
    }
    n->startup_cost = path->startup;
    n->total_cost = path->total;
    n->width = width_of(n->types, n->column_count);
    double sel = filter.count ? selectivity_all(p, &filter) : 1;
    n->rows = filter.count ? fmax(1, rint(path->rows / fmax(sel, 1e-6))) : path->rows;
    if (n->rows > 1e15) n->rows = path->rows;
    *layout = result;
    return filter_node(p, n, layout, &filter, path->rows, out);
}

