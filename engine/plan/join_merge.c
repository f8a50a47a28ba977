/* engine/plan/join_merge.c - merge joins: which orders they want of their sides, whether a side has it already, and what they cost.
 *
 * Both sides are wanted sorted by the keys, ascending with nulls last. A side has that order
 *   - when it is a table and an index of it gives the order, for less than a sort costs;
 *   - when it is a merge join by the same keys, or a join whose left side is: joins keep the order of their left side, where rows that come out by
 *     themselves stand in their place (INNER, LEFT, SEMI, ANTI), and an inner join's rows are in the order of its right keys too.
 * Else a sort stands on it. Keys that aren't columns are computed below the sort; casts that keep the order don't count. */
#include <math.h>
#include <string.h>

#include "engine/plan/cost.h"
#include "engine/plan/joins.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

static bool mergeable(const struct judged *c, itemset l, itemset r, struct scalar **left, struct scalar **right)
{
    return equal_sides(c, l, r, left, right) && !scalar_has_volatile(*left) && !scalar_has_volatile(*right) && type_comparable((*left)->type.oid) && type_comparable((*right)->type.oid);
}

enum status merge_key(struct planner *p, const struct judged *c, itemset l, itemset r, struct scalar **left, struct scalar **right, bool *ok)
{
    *ok = mergeable(c, l, r, left, right);
    return *ok ? equality_common(p, left, right, ok) : STATUS_OK;
}

/* What the key's order is that of: without casts that keep it. */
static struct scalar *order_of(struct scalar *key)
{
    static const struct { uint32_t from, to; } widening[] = { { OID_INT2, OID_INT4 }, { OID_INT2, OID_INT8 }, { OID_INT4, OID_INT8 }, { OID_FLOAT4, OID_FLOAT8 }, { OID_DATE, OID_TIMESTAMP },
                                                              { OID_VARCHAR, OID_TEXT } };
    while (key->kind == SCALAR_CALL && key->form >= CALL_CAST && key->arg_count == 1) {
        bool keeps = false;
        for (size_t i = 0; i < sizeof widening / sizeof *widening; i++) keeps |= key->args[0]->type.oid == widening[i].from && key->type.oid == widening[i].to && key->type.typmod < 0;
        if (!keeps) break;
        key = key->args[0];
    }
    return key;
}

/* Is it sorted by these, one after the other? They are what order_of() gives. */
static bool path_sorted(const struct path *path, struct scalar *const *keys, uint32_t count)
{
    while (path->item < 0 && path->method != METHOD_MERGE) {
        if (path->swapped) return false;
        path = path->left;
    }
    if (path->item >= 0 || path->merge->count < count) return false;
    bool by_left = !path->swapped, by_right = path->swapped || path->join == PLAN_INNER;
    for (uint32_t i = 0; i < count; i++) {
        bool l = by_left && scalar_equal(order_of(path->merge->left[i]), keys[i]), r = by_right && scalar_equal(order_of(path->merge->right[i]), keys[i]);
        if (!l && !r) return false;
    }
    return true;
}

bool path_gives_order(const struct path *path, const struct wish *wish)
{
    for (int i = 0; i < wish->count; i++)
        if (wish->descending[i] || wish->nulls_first[i]) return false;
    return wish->count && path_sorted(path, wish->exprs, wish->count);
}

/* How a side comes to its order, and what it costs with it. */
static void side_ordered(struct problem *b, const struct path *side, struct scalar *const *keys, uint32_t count, struct merge_way *way, int at, double *startup, double *total)
{
    struct planner *p = b->p;
    struct scalar *exprs[count];
    bool no[count];
    memset(no, 0, sizeof no);
    for (uint32_t i = 0; i < count; i++) exprs[i] = order_of(keys[i]);
    *startup = side->startup;
    *total = side->total;
    if (path_sorted(side, exprs, count)) return;
    struct item *item = side->item >= 0 ? &b->items[side->item] : NULL;
    if (item && item->rel && item->rel->kind == REL_TABLE && item->rel->table->index_count && exprs[0]->kind == SCALAR_VAR) {
        struct wish wish = { .count = (uint16_t)count, .exprs = exprs, .descending = no, .nulls_first = no };
        struct access a;
        access_best(p, item->rel, &item->filters, 0, &wish, &a);
        if (a.ordered) {
            way->access[at] = arena_copy(p->arena, &a, sizeof a);
            *startup = a.startup;
            *total = a.total;
            return;
        }
    }
    way->sort[at] = true;
    *total = side->total + cost_sort(p, side->rows, side->width);
    *startup = *total;
    *total += cost_operators(p, side->rows, 1);
}

/* What keeping the right side and going along both costs. */
static double merging_cost(const struct planner *p, double left_rows, double right_rows, double right_width, double keys)
{
    double bytes = right_rows * (right_width + 24), cost = cost_rows(p, right_rows, COST_BUILT * (1 + right_width / 200));
    if (bytes > (double)p->settings->work_mem_bytes) cost += 2 * ceil(bytes / 8192) * p->settings->seq_page_cost;
    return cost + cost_rows(p, left_rows, COST_PROBED) + p->settings->cpu_operator_cost * (left_rows + right_rows) * keys;     /* rows are compared one by one */
}

bool merge_cost(struct problem *b, struct judged *const *on, uint32_t on_count, double made, double give_up, struct path *path)
{
    struct planner *p = b->p;
    const struct path *l = path->left, *r = path->right;
    struct merge_way way = { .left = b->merge_left, .right = b->merge_right };
    double penalty = p->settings->enable_mergejoin ? 0 : 1e10, left_startup, left_total, right_startup, right_total;
    uint32_t most = 0;                   /* keys, without asking for casts: so many pairs are tried that nothing is made for those that can't be the best */
    for (uint32_t i = 0; i < on_count; i++) most += mergeable(on[i], l->set, r->set, &way.left[0], &way.right[0]);
    if (most == 0 || penalty + l->total + r->total + merging_cost(p, l->rows, r->rows, r->width, 1) + made >= give_up) return false;
    for (uint32_t i = 0; i < on_count; i++) {
        bool ok;
        if (merge_key(p, on[i], l->set, r->set, &way.left[way.count], &way.right[way.count], &ok)) {
            error_clear();
            continue;
        }
        way.count += ok;
    }
    if (way.count == 0) return false;
    double merging = merging_cost(p, l->rows, r->rows, r->width, way.count);
    if (penalty + l->total + r->total + merging + made >= give_up) return false;
    side_ordered(b, l, way.left, way.count, &way, 0, &left_startup, &left_total);
    side_ordered(b, r, way.right, way.count, &way, 1, &right_startup, &right_total);
    path->method = METHOD_MERGE;
    path->startup = penalty + left_startup + right_total;
    path->total = penalty + left_total + right_total + merging + made;
    way.left = arena_copy(p->arena, way.left, way.count * sizeof *way.left);
    way.right = arena_copy(p->arena, way.right, way.count * sizeof *way.right);
    path->merge = arena_copy(p->arena, &way, sizeof way);
    return true;
}

enum status merge_sort(struct planner *p, struct plan **plan, struct layout *layout, struct scalar *const *keys, uint32_t count)
{
    struct plan *child = *plan;
    struct sort_item *items = arena_array(p->arena, struct sort_item, count);
    struct scalar **resolved = arena_array(p->arena, struct scalar *, count);
    uint32_t more = 0;
    for (uint32_t i = 0; i < count; i++) {
        TRY(resolve(p, layout, order_of(keys[i]), &resolved[i]));
        more += resolved[i]->kind != SCALAR_COLUMN;
    }
    struct layout wider = { .items = arena_array(p->arena, struct scalar *, layout->count + more + 1u) };
    struct plan *n = more ? plan_new(p, PLAN_PROJECT, (uint16_t)(layout->count + more)) : NULL;
    if (n) {
        n->exprs = arena_array(p->arena, struct scalar *, layout->count + more);
        for (; wider.count < layout->count; wider.count++) {
            wider.items[wider.count] = layout->items[wider.count];
            n->types[wider.count] = child->types[wider.count];
            n->exprs[wider.count] = scalar_new(p->arena, SCALAR_COLUMN, child->types[wider.count], 0);
            n->exprs[wider.count]->column = wider.count;
        }
        n->left = child;
        n->rows = child->rows;
        n->startup_cost = child->startup_cost;
        n->total_cost = child->total_cost + cost_operators(p, child->rows, more);
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i].column = resolved[i]->column;
        if (resolved[i]->kind == SCALAR_COLUMN) continue;
        items[i].column = wider.count;
        wider.items[wider.count] = order_of(keys[i]);
        n->types[wider.count] = resolved[i]->type;
        n->exprs[wider.count++] = resolved[i];
    }
    if (n) {
        n->width = width_of(n->types, n->column_count);
        *layout = wider;
        child = n;
    }
    *plan = node_sort(p, child, items, (uint16_t)count);
    return STATUS_OK;
}

enum status merge_full(struct planner *p, struct plan *join, struct layout layouts[2], struct scalar *const *left_keys, struct scalar *const *right_keys)
{
    double merging = merging_cost(p, join->left->rows, join->right->rows, join->right->width, join->key_count);
    double sorting = cost_sort(p, join->left->rows, join->left->width) + cost_sort(p, join->right->rows, join->right->width);
    double both = join->left->total_cost + join->right->total_cost + sorting + merging + cost_rows(p, join->rows, COST_JOINED);
    if (!p->settings->enable_mergejoin) both += 1e10;
    for (int i = 0; i < join->key_count; i++)
        if (!type_comparable(left_keys[i]->type.oid) || scalar_has_volatile(left_keys[i]) || scalar_has_volatile(right_keys[i])) return STATUS_OK;
    if (both >= join->total_cost) return STATUS_OK;
    join->kind = PLAN_MERGE_JOIN;
    join->startup_cost = both - merging;
    join->total_cost = both;
    for (int side = 0; side < 2; side++) {
        struct layout before = layouts[side];
        TRY(merge_sort(p, side ? &join->right : &join->left, &layouts[side], side ? right_keys : left_keys, join->key_count));
        struct scalar **keys = side ? join->right_keys : join->left_keys;
        for (int i = 0; i < join->key_count; i++) TRY(resolve(p, &layouts[side], side ? right_keys[i] : left_keys[i], &keys[i]));
        /* columns behind the left side's move when that got more */
        for (int k = 0; side == 0 && k < join->column_count; k++)
            if (join->outputs[k] >= before.count) join->outputs[k] = (uint16_t)(join->outputs[k] + layouts[0].count - before.count);
    }
    return STATUS_OK;
}
