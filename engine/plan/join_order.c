/* engine/plan/join_order.c - the order and the methods of joins.
 *
 * For up to DP_MAX items every set's cheapest path is found from its subsets, without cross products where conditions
 * connect (dynamic programming over connected subgraphs). Past that, or past TRIES_MAX joins, the pair that makes the
 * fewest rows is joined again and again; the joins that two parts could make are kept from round to round, so sixty
 * tables take milliseconds.
 *
 * A condition is judged at the first join that has all its items; above a special join it stays a filter of its own, since
 * rows that the join made up (nulls) are to be judged too.
 *
 * Methods: hash join when an equality connects the sides (the right side is built), or merge join (join_merge.c); nested loop
 * otherwise, or when the right side is a table with an index that the join's conditions bound: then its bounds
 * read outer slots that the loop fills from each left row. Semi and anti joins keep only left columns; hashed, they may build
 * the left side instead, and then hand out those of its rows that met a partner (or met none). */
#include <math.h>
#include <string.h>

#include "engine/plan/cost.h"
#include "engine/plan/joins.h"

#define DP_MAX 12
#define TRIES_MAX 60000                  /* joins looked at: past it (a dozen relations where each connects with each) the heuristic goes on */

#define CONDITIONS_MAX 2000              /* each join looked at goes over all of them: past it the heuristic alone */

/* ---- how many rows ---- */

static double condition_selectivity(struct problem *b, struct judged *c)
{
    if (c->selectivity < 0) c->selectivity = selectivity_join(b->p, c->s);
    return c->selectivity;
}

/* Does an equality give the value of a table's column? Itself, or by its class: any column that is equal to it would have said the same. */
static bool gives_column(const struct problem *b, const struct judged *c, int item, uint16_t rel, uint16_t column)
{
    for (int side = 0; side < 2 && c->equal; side++) {
        const struct scalar *v = side ? c->r : c->l;
        if (v->kind == SCALAR_VAR && v->var.rel == rel && v->var.column == column && !((side ? c->left : c->right) & BIT(item))) return true;
    }
    if (c->class < 0) return false;
    const struct equivalence *e = &b->classes[c->class];
    for (uint32_t i = 0; i < e->count; i++)
        if (e->members[i].item == item && e->members[i].s->kind == SCALAR_VAR && e->members[i].s->var.column == column) return true;
    return false;
}

/* Equalities that cover a unique index of a table say: at most one row of it each. Multiplied one by one they would say far too
 * little. Marks those and answers their selectivity. */
static double unique_selectivity(struct problem *b, itemset both, struct judged *const *on, uint32_t count, bool *used)
{
    double sel = 1;
    for (uint32_t i = 0; count > 1 && i < b->count; i++) {
        struct rel *r = b->items[i].rel;
        if (!(both & BIT(i)) || !r || r->kind != REL_TABLE) continue;
        for (int x = 0; x < r->table->index_count; x++) {
            const struct index *ix = &r->table->indexes[x];
            if (!ix->unique || ix->predicate || ix->column_count < 2 || (uint32_t)ix->column_count > count) continue;
            uint32_t covering[16], found = 0;
            for (int c = 0; c < ix->column_count && c < 16; c++) {
                bool hit = false;
                for (uint32_t k = 0; k < count && !hit && ix->columns[c].column; k++) {
                    if (used[k] || !gives_column(b, on[k], (int)i, r->id, (uint16_t)(ix->columns[c].column - 1))) continue;
                    covering[found++] = k;
                    hit = true;
                }
                if (!hit) break;
            }
            if (found != ix->column_count) continue;
            for (uint32_t k = 0; k < found; k++) used[covering[k]] = true;
            rel_size(b->p, r);
            sel /= fmax(1, r->rows);
            break;
        }
    }
    return sel;
}

static double join_selectivity(struct problem *b, itemset both, struct judged *const *on, uint32_t count)
{
    memset(b->used, 0, count);
    double sel = unique_selectivity(b, both, on, count, b->used);
    for (uint32_t k = 0; k < count; k++)
        if (!b->used[k]) sel *= condition_selectivity(b, on[k]);
    return sel;
}

/* Of the rows of l, how many have a partner in r? */
static double semi_selectivity(struct problem *b, const struct path *l, const struct path *r, struct judged *const *on, uint32_t count)
{
    double sel = 1;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        struct scalar *x, *y;
        if (on[i]->equal && equal_sides(on[i], l->set, r->set, &x, &y)) sel *= selectivity_semi(b->p, x, l->rows, y, r->rows);
        else if (is_inequality(on[i]->s)) continue;      /* some row will differ */
        else sel *= fmin(1, condition_selectivity(b, on[i]) * fmax(1, r->rows));
        any = true;
    }
    return any ? sel : count ? 0.9 : 1;
}

static double join_rows(struct problem *b, const struct path *l, const struct path *r, enum plan_join join, struct judged *const *on, uint32_t on_count, struct judged *const *filter, uint32_t filter_count)
{
    double rows;
    switch (join) {
    case PLAN_LEFT: rows = fmax(l->rows, l->rows * r->rows * join_selectivity(b, l->set | r->set, on, on_count)); break;
    case PLAN_SEMI: rows = l->rows * semi_selectivity(b, l, r, on, on_count); break;
    case PLAN_ANTI: case PLAN_ANTI_NULL: rows = l->rows * fmax(0.001, 1 - semi_selectivity(b, l, r, on, on_count)); break;
    default: rows = l->rows * r->rows * join_selectivity(b, l->set | r->set, on, on_count);
    }
    for (uint32_t i = 0; i < filter_count; i++) rows *= selectivity(b->p, filter[i]->s);
    return fmax(1, rint(rows));
}

/* ---- ways to join two sides ---- */

struct candidate { struct path *best; double best_metric; };

/* What counts of a path: all of its cost, or that of the rows that a LIMIT lets through. */
static double path_metric(const struct problem *b, const struct path *path)
{
    if (b->driver < 0 || !(path->set & BIT(b->driver))) return path->total;
    return path->startup + (path->total - path->startup) * b->fraction;
}

static void offer(struct problem *b, struct candidate *c, const struct path *path)
{
    double metric = path_metric(b, path);
    if (c->best && c->best_metric <= metric) return;
    if (c->best) *c->best = *path;
    else c->best = arena_copy(b->p->arena, path, sizeof *path);
    c->best_metric = metric;
}

/* A join of two paths in this order, right as the inner side: what it is, what it judges. */
struct joining {
    struct path *l, *r;
    int special; enum plan_join join; bool swapped;
    struct judged **on, **filter; uint32_t on_count, filter_count, keys;
    double on_weight, filter_weight;
};

/* Special items stand alone on one side, and what they need on the other. */
static bool sides_allowed(const struct problem *b, struct joining *j)
{
    j->special = -1;
    j->join = PLAN_INNER;
    j->swapped = false;
    if (b->driver >= 0 && (j->r->set & BIT(b->driver))) return false;
    for (int side = 0; side < 2; side++) {
        const struct path *s = side ? j->l : j->r, *o = side ? j->r : j->l;
        if (s->item < 0) continue;
        const struct item *item = &b->items[s->item];
        if (item->join == PLAN_INNER && !item->lateral) continue;
        if (item->needs & ~o->set) return false;
        if (item->join != PLAN_INNER) {
            if (j->special >= 0) return false;
            j->special = s->item;
            j->join = item->join;
            j->swapped = side == 1;
        } else if (side == 1) return false;              /* a lateral item must be the inner side */
    }
    if (!j->swapped) return true;
    return j->join != PLAN_ANTI_NULL && !b->items[j->special].lateral;
}

static void try_hash(struct problem *b, struct candidate *c, const struct joining *j, struct path *path)
{
    const struct planner *p = b->p;
    const struct path *l = j->l, *r = j->r;
    bool right_only = j->swapped && join_left_only(j->join);
    path->method = METHOD_HASH;
    double build = r->total + cost_rows(p, r->rows, COST_BUILT * (1 + r->width / 200)) + cost_operators(p, r->rows, j->keys);
    double bytes = r->rows * (r->width + 24);
    double waits = bytes < 1e5 ? 0.6 : bytes < 1e6 ? 1 : 2;      /* past the processor's caches each look-up waits for memory */
    /* A row without a partner mostly ends at the filter that the build hands to the scan below, if the join throws it away. */
    bool keeps = !j->swapped && (j->join == PLAN_LEFT || j->join == PLAN_ANTI || j->join == PLAN_ANTI_NULL);
    double met = keeps ? 1 : right_only ? fmin(1, r->rows * join_selectivity(b, path->set, j->on, j->on_count)) : fmin(1, path->rows / fmax(1, l->rows));
    double probe = l->total - l->startup + cost_rows(p, l->rows, COST_PROBED * (waits * met + COST_SIFTED * (1 - met))) + cost_operators(p, l->rows, j->keys);
    if (bytes > (double)p->settings->work_mem_bytes) probe += (ceil(bytes / 8192) + ceil(l->rows * (l->width + 24) / 8192)) * 2 * p->settings->seq_page_cost;
    double pairs = join_left_only(j->join) ? (right_only ? r->rows : l->rows) : path->rows;
    double made = cost_rows(p, path->rows, COST_JOINED * (1 + path->width / 100)) + cost_operators(p, pairs, j->on_weight) + cost_operators(p, path->rows, j->filter_weight);
    path->startup = build + l->startup + (p->settings->enable_hashjoin ? 0 : 1e10);
    path->total = path->startup + probe + made;
    if (right_only) path->startup = path->total - made;  /* what met no partner is known at the end only */
    offer(b, c, path);
}

static void try_merge(struct problem *b, struct candidate *c, const struct joining *j, struct path *path)
{
    const struct planner *p = b->p;
    double pairs = join_left_only(j->join) ? j->l->rows : path->rows;
    double made = cost_rows(p, path->rows, COST_JOINED * (1 + path->width / 100)) + cost_operators(p, pairs, j->on_weight) + cost_operators(p, path->rows, j->filter_weight);
    if (merge_cost(b, j->on, j->on_count, made, c->best && b->driver < 0 ? c->best_metric : INFINITY, path)) offer(b, c, path);
}

static void try_loop(struct problem *b, struct candidate *c, const struct joining *j, struct path *path)
{
    struct planner *p = b->p;
    const struct path *l = j->l, *r = j->r;
    double once = join_left_only(j->join) ? 0.6 : 1, penalty = p->settings->enable_nestloop ? 0 : 1e10;
    struct item *item = r->item >= 0 ? &b->items[r->item] : NULL;
    if (item && item->rel && item->rel->kind == REL_TABLE && item->rel->table->index_count && j->join != PLAN_ANTI_NULL) {
        struct scalars all = { 0 };
        for (uint32_t i = 0; i < item->filters.count; i++) scalars_add(p->arena, &all, item->filters.items[i]);
        for (uint32_t i = 0; i < j->on_count; i++)
            if (j->on[i]->mask & r->set) scalars_add(p->arena, &all, j->on[i]->s);
        struct access a;
        access_best(p, item->rel, &all, fmax(1, l->rows), NULL, &a);
        if (a.index && !a.bitmap && (a.equal.count || a.any_array || a.low || a.high)) {
            path->method = METHOD_INDEX_LOOP;
            path->inner = a;
            path->startup = l->startup + a.startup + penalty;
            path->total = l->total + penalty + l->rows * (a.total * once + p->settings->cpu_tuple_cost * 2) + cost_rows(p, path->rows, COST_JOINED * 2) + cost_operators(p, path->rows, j->filter_weight);
            offer(b, c, path);
        }
    }
    path->method = METHOD_LOOP;
    path->startup = l->startup + r->startup + penalty;
    path->total = l->total + penalty + fmax(1, l->rows) * (r->total * once + p->settings->cpu_tuple_cost * 2) +
                  l->rows * r->rows * once * (COST_SCANNED * p->settings->cpu_tuple_cost + COST_OPERATOR * p->settings->cpu_operator_cost * (j->on_weight + j->keys * 1.0));
    offer(b, c, path);
}

static void try_join(struct problem *b, struct candidate *c, struct path *l, struct path *r)
{
    struct joining j = { .l = l, .r = r };
    b->tries++;
    if (!sides_allowed(b, &j)) return;
    bool left_only = join_left_only(j.join);
    bool lateral = r->item >= 0 && b->items[r->item].lateral;
    struct judged **list = b->crossing, **on_list = b->on;
    uint32_t count = crossing(b, l->set, r->set, list);
    if (j.special >= 0) {
        struct item *item = &b->items[j.special];
        for (uint32_t i = 0; i < item->on.count; i++) on_list[i] = &item->on.items[i];
        j.on = on_list;
        j.on_count = item->on.count;
        j.filter = list;
        j.filter_count = count;
    } else {
        j.on = list;
        j.on_count = count;
    }
    for (uint32_t i = 0; i < j.on_count; i++) {
        struct scalar *x, *y;
        if (equal_sides(j.on[i], l->set, r->set, &x, &y)) j.keys++;
        else j.on_weight += scalar_weight(b->p, j.on[i]->s);
    }
    for (uint32_t i = 0; i < j.filter_count; i++) j.filter_weight += scalar_weight(b->p, j.filter[i]->s);
    if (j.swapped && (!j.keys || lateral)) return;       /* RIGHT and its like are hashed or merged */
    struct path path = { .set = l->set | r->set, .item = -1, .left = l, .right = r, .join = j.join, .special = j.special, .swapped = j.swapped };
    const struct path *logical_left = j.swapped ? r : l, *logical_right = j.swapped ? l : r;
    /* one estimate a set, whichever way it is made */
    path.rows = c->best ? c->best->rows : join_rows(b, logical_left, logical_right, j.join, j.on, j.on_count, j.filter, j.filter_count);
    path.width = left_only ? logical_left->width : l->width + r->width;
    if (j.keys && !lateral) try_hash(b, c, &j, &path);
    /* a driver's order would be lost */
    if (j.keys && !lateral && j.join != PLAN_ANTI_NULL && !(j.swapped && left_only) && (b->driver < 0 || !(l->set & BIT(b->driver)))) try_merge(b, c, &j, &path);
    if (j.swapped || (j.join == PLAN_ANTI_NULL && j.keys)) return;
    try_loop(b, c, &j, &path);
}

/* ---- orders ---- */

static void make_room(struct problem *b)
{
    uint32_t all = b->conditions.count + b->class_count + 1, on = 1;
    for (uint32_t i = 0; i < b->count; i++) on = b->items[i].on.count > on ? b->items[i].on.count : on;
    b->crossing = arena_array(b->p->arena, struct judged *, all);
    b->on = arena_array(b->p->arena, struct judged *, on);
    b->merge_left = arena_array(b->p->arena, struct scalar *, (all > on ? all : on) + 1u);
    b->merge_right = arena_array(b->p->arena, struct scalar *, (all > on ? all : on) + 1u);
    b->used = arena_array(b->p->arena, bool, all > on ? all : on);
}

struct path *leaf_path(struct problem *b, int i)
{
    const struct item *item = &b->items[i];
    struct path *path = arena_new(b->p->arena, struct path);
    *path = (struct path){ .set = BIT(i), .item = i, .rows = item->rows, .startup = item->startup, .total = item->total, .width = item->width, .special = -1 };
    return path;
}

static void join_subsets(struct problem *b, struct path **best, uint32_t set, bool cross)
{
    struct candidate c = { 0 };
    for (uint32_t l = (set - 1) & set; l; l = (l - 1) & set) {
        uint32_t r = set & ~l;
        if (best[l] && best[r] && (cross || connected(b, l, r))) try_join(b, &c, best[l], best[r]);
    }
    best[set] = c.best;
}

static struct path *order_exact(struct problem *b)
{
    struct path **best = arena_zero(b->p->arena, sizeof *best << b->count);
    b->tries = 0;
    for (uint32_t i = 0; i < b->count; i++) best[1u << i] = leaf_path(b, (int)i);
    uint32_t full = (1u << b->count) - 1;
    for (uint32_t set = 1; set <= full; set++) {
        if (!(set & (set - 1))) continue;
        if (b->tries > TRIES_MAX) return NULL;
        join_subsets(b, best, set, false);
        /* a cross product only where nothing else will ever do: for the whole, or for sets without conditions to others */
        if (!best[set] && (set == full || !connected(b, set, full & ~set))) join_subsets(b, best, set, true);
    }
    for (uint32_t set = 1; !best[full] && set <= full; set++)    /* parts that only a cross product brings together: allow them all */
        if (!best[set]) join_subsets(b, best, set, true);
    return best[full];
}

/* What joining parts i and k would give, for all pairs: made anew only for those that a join has changed. */
struct pairing { struct problem *b; struct path *parts[ITEMS_MAX]; struct path *made[ITEMS_MAX][ITEMS_MAX]; uint32_t count; };

static void pair_parts(struct pairing *g, uint32_t i, bool cross)
{
    for (uint32_t k = 0; k < g->count; k++) {
        if (k == i) continue;
        struct candidate c = { 0 };
        if (cross || connected(g->b, g->parts[i]->set, g->parts[k]->set)) {
            try_join(g->b, &c, g->parts[i], g->parts[k]);
            try_join(g->b, &c, g->parts[k], g->parts[i]);
        }
        g->made[i < k ? i : k][i < k ? k : i] = c.best;
    }
}

static struct path *order_greedy(struct problem *b)
{
    struct pairing *g = arena_new(b->p->arena, struct pairing);
    g->b = b;
    g->count = b->count;
    for (uint32_t i = 0; i < g->count; i++) g->parts[i] = leaf_path(b, (int)i);
    bool cross = false;
    for (uint32_t i = 1; i < g->count; i++) pair_parts(g, i, cross);
    while (g->count > 1) {
        uint32_t bi = 0, bk = 0;
        struct path *best = NULL;
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t k = i + 1; k < g->count; k++) {
                struct path *m = g->made[i][k];      /* what makes few rows first */
                if (!m || (best && (m->rows > best->rows || (m->rows == best->rows && m->total >= best->total)))) continue;
                best = m;
                bi = i;
                bk = k;
            }
        if (!best && cross) return NULL;
        if (!best) {                     /* nothing connects any more */
            cross = true;
            for (uint32_t i = 1; i < g->count; i++) pair_parts(g, i, cross);
            continue;
        }
        uint32_t last = --g->count;
        g->parts[bi] = best;
        g->parts[bk] = g->parts[last];
        for (uint32_t i = 0; i < last; i++)          /* the last part has moved to bk */
            if (i != bk) g->made[i < bk ? i : bk][i < bk ? bk : i] = g->made[i][last];
        pair_parts(g, bi, cross);
    }
    return g->parts[0];
}

struct path *join_order(struct problem *b)
{
    if (b->count == 1) return leaf_path(b, 0);
    if (!b->crossing) make_room(b);
    struct path *path = b->count <= DP_MAX && b->conditions.count <= CONDITIONS_MAX ? order_exact(b) : NULL;
    return path ? path : order_greedy(b);
}

/* ---- for an order, for a LIMIT ---- */

static double sorted_cost(struct planner *p, const struct path *path, double limit)
{
    double rows = fmax(2, path->rows);
    if (limit <= 0 || limit >= 100000) return path->total + cost_sort(p, rows, path->width);
    return path->total + cost_operators(p, rows, 1) + COST_COMPARE * p->settings->cpu_operator_cost * fmin(rows, limit) * log2(2 * fmax(2, fmin(limit, rows)));
}

/* Joins keep the order of their left side. So the wished order can be had from an index of one item, if that item stays leftmost; and
 * with a LIMIT a plan that gives its first rows early may be the cheapest. Tries such drivers against the path found without. */
struct path *join_order_for(struct problem *b, struct path *path, struct wish *wish)
{
    struct planner *p = b->p;
    if (b->count > DP_MAX || (!wish->count && wish->limit <= 0)) return path;
    if (!wish->count && b->count > 6) return path;
    double f = wish->limit > 0 ? fmin(1, wish->limit / fmax(1, path->rows)) : 1;
    double best = wish->count ? sorted_cost(p, path, wish->limit) : path->startup + (path->total - path->startup) * f;
    struct path *chosen = path;
    if (path_gives_order(path, wish)) {
        best = path->startup + (path->total - path->startup) * f;
        wish->ordered = true;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        struct item *item = &b->items[i];
        if (!item->rel || item->rel->kind != REL_TABLE || item->join != PLAN_INNER || item->lateral) continue;
        if (wish->count && (wish->exprs[0]->kind != SCALAR_VAR || wish->exprs[0]->var.rel != item->rel->id)) continue;
        struct item before = *item;
        struct wish w = *wish;
        w.limit = fmax(1, f * item->rows);
        access_best(p, item->rel, &item->filters, 0, &w, &item->access);
        if (wish->count && !item->access.ordered) {
            *item = before;
            continue;
        }
        item->rows = item->access.rows;
        item->startup = item->access.startup;
        item->total = item->access.total;
        b->driver = (int)i;
        b->fraction = f;
        struct path *other = join_order(b);
        double metric = other ? path_metric(b, other) : 0;
        b->driver = -1;
        if (other && metric < best) {
            best = metric;
            chosen = other;
            wish->ordered = wish->count > 0;
            for (uint32_t k = 0; k < b->count; k++)      /* an earlier driver reads as it did again */
                if (k != i && b->items[k].rel && b->items[k].rel->kind == REL_TABLE) leaf_cost(b, &b->items[k], NULL);
        } else
            *item = before;
    }
    return chosen;
}
