/* engine/plan/joins.c - join order and join methods.
 *
 * A query's FROM is broken into a `problem`: items (relations, or subtrees that must stay together) and conditions.
 * Inner joins dissolve into items. A LEFT, SEMI or ANTI join becomes a *special* item: its right side, with the set of
 * items that must already be there before it can be joined (those its ON mentions, and theirs). A RIGHT join is turned
 * round first; a FULL join is an item planned on its own; so is a right side of several relations.
 *
 * Sets of items are bit masks. For up to DP_MAX items every set's cheapest path is found from its subsets, without cross
 * products where conditions connect; beyond that the cheapest legal pair is joined again and again. A condition is
 * judged at the first join that has all its items; above a special join it stays a filter of its own, since rows that the join made
 * up (nulls) are to be judged too.
 *
 * Methods: hash join when an equality connects the sides (the right side is built), nested loop otherwise, or when the right
 * side is a table with an index that the join's conditions bound: then its bounds read outer slots that the loop fills from
 * each left row. Semi and anti joins keep only left columns. */
#include <math.h>
#include <string.h>

#include "engine/catalog/views.h"
#include "engine/plan/query.h"
#include "engine/settings.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)
#define DP_MAX 10
#define ITEMS_MAX 64

typedef uint64_t itemset;
#define BIT(i) ((itemset)1 << (i))

struct item {
    struct rel *rel;                     /* a relation, or NULL: */
    struct plan *plan;                   /* planned already (subquery, FULL join, composite), with */
    struct layout layout;
    struct frame *frame;                 /* … slots that its left side fills (LATERAL) */
    struct scalars filters;              /* conditions on it alone */
    enum plan_join join;                 /* INNER, or the special join that brings it in */
    struct scalars on;                   /* special: the join's conditions */
    itemset needs;                       /* special, lateral: what must stand on its left */
    bool lateral;
    struct access access;                /* of a table */
    double rows, startup, total, width;
};
struct judged { struct scalar *s; itemset mask; bool equal; itemset left, right; struct scalar *l, *r; };
struct path {
    itemset set;
    double rows, startup, total, width;
    int item;                            /* a leaf: its number; -1 a join */
    struct path *left, *right;
    bool hash, swapped;                  /* swapped: LEFT join run as RIGHT, or RIGHT side of a special on the left */
    bool indexed; struct access inner;   /* nested loop over an index */
    enum plan_join join;
    int special;                         /* item that this join brings in, or -1 */
};
struct problem {
    struct planner *p;
    struct query *q;
    uint32_t count, capacity;
    struct item *items;
    uint32_t condition_count, condition_capacity;
    struct judged *conditions;        /* of WHERE and inner ONs */
    int8_t *item_of;                     /* by rel id, -1: not of this problem */
    int driver;                          /* the item whose order the result is to have: it stays leftmost; -1 none */
    double fraction;                     /* of the result that will be read, when there is a driver */
    uint16_t rel_span;
};

/* ---- which items an expression mentions ---- */

struct masking { const struct problem *b; itemset mask; };
static bool visit_mask(void *context, const struct scalar *s)
{
    struct masking *m = context;
    if (s->kind == SCALAR_VAR && s->var.rel < m->b->rel_span && m->b->item_of[s->var.rel] >= 0) m->mask |= BIT(m->b->item_of[s->var.rel]);
    return false;
}
static itemset mask_of(const struct problem *b, const struct scalar *s)
{
    struct masking m = { b, 0 };
    scalar_walk(s, visit_mask, &m);
    return m.mask;
}

/* ---- building the problem ---- */

static enum status add_node(struct problem *b, struct from_node *n, struct scalars *where);

static enum status new_item(struct problem *b, struct rel *r, int *out)
{
    if (b->count >= ITEMS_MAX) return error_set(STATUS_TOO_COMPLEX, "too many relations in one FROM clause");
    if (b->count == b->capacity) {
        uint32_t capacity = b->capacity ? b->capacity * 2 : 8;
        b->items = arena_grow(b->p->arena, b->items, b->capacity * sizeof *b->items, capacity * sizeof *b->items);
        b->capacity = capacity;
    }
    b->items[b->count] = (struct item){ .rel = r, .join = PLAN_INNER };
    if (r) b->item_of[r->id] = (int8_t)b->count;
    *out = (int)b->count++;
    return STATUS_OK;
}

static void mark_rels(struct problem *b, const struct from_node *n, int item)
{
    if (!n) return;
    if (n->rel) b->item_of[n->rel->id] = (int8_t)item;
    mark_rels(b, n->left, item);
    mark_rels(b, n->right, item);
}

/* All VARs of the rels under a node that anything in the query mentions. */
struct gathering { struct planner *p; const struct from_node *node; struct scalars *list; };
static bool under(const struct from_node *n, uint16_t rel)
{
    if (!n) return false;
    if (n->rel) return n->rel->id == rel;
    return under(n->left, rel) || under(n->right, rel);
}
static bool visit_gather(void *context, const struct scalar *s)
{
    struct gathering *g = context;
    if (s->kind == SCALAR_VAR && under(g->node, s->var.rel)) collect_vars(g->p, s, s->var.rel, g->list);
    return false;
}

static enum status plan_problem(struct planner *p, struct query *q, struct from_node **nodes, uint32_t count, const struct scalars *where, const struct scalars *wanted,
                                struct wish *wish, struct plan **out, struct layout *layout);
static enum status plan_full(struct planner *p, struct query *q, struct from_node *n, const struct scalars *wanted, struct plan **out, struct layout *layout);

/* Slots that an item reads: of this problem's items (LATERAL: a loop will fill them), or of queries further out (the frame around fills them). */
static enum status take_frame(struct problem *b, struct item *item, struct frame *frame)
{
    itemset needs = 0;
    for (int i = 0; i < frame->count; i++)
        if (frame->slots[i].rel < b->rel_span && b->item_of[frame->slots[i].rel] >= 0) needs |= BIT(b->item_of[frame->slots[i].rel]);
    if (needs) {
        item->needs |= needs;
        item->lateral = true;
        item->frame = frame;
        return STATUS_OK;
    }
    for (int i = 0; i < frame->count; i++) TRY(frame_adopt(b->p, &frame->slots[i]));
    return STATUS_OK;
}

static enum status composite(struct problem *b, struct from_node *n, int *out)
{
    struct planner *p = b->p;
    int at;
    TRY(new_item(b, NULL, &at));
    mark_rels(b, n, at);
    struct scalars wanted = { 0 };
    struct gathering g = { p, n, &wanted };
    query_walk(b->q, visit_gather, &g);
    struct plan *plan;
    struct layout layout;
    struct frame *frame = arena_new(p->arena, struct frame);
    frame->outer = p->frame;
    p->frame = frame;
    enum status status = n->join == PLAN_FULL ? plan_full(p, b->q, n, &wanted, &plan, &layout)
                                              : plan_problem(p, b->q, &n, 1, NULL, &wanted, NULL, &plan, &layout);
    p->frame = frame->outer;
    if (status) return status;
    struct item *item = &b->items[at];
    item->plan = plan;
    item->layout = layout;
    *out = at;
    return take_frame(b, item, frame);
}

static enum status add_special(struct problem *b, struct from_node *right, enum plan_join join, const struct scalars *on, itemset left_side)
{
    int at;
    if (right->rel) TRY(new_item(b, right->rel, &at));
    else TRY(composite(b, right, &at));
    b->items[at].join = join;
    itemset needs = 0;
    for (uint32_t i = 0; i < on->count; i++) {
        itemset mask = mask_of(b, on->items[i]);
        if ((mask & ~BIT(at)) == 0 && mask && join != PLAN_ANTI_NULL && !scalar_has_volatile(on->items[i])) {
            scalars_add(b->p->arena, &b->items[at].filters, on->items[i]);   /* says something of the right side only */
            continue;
        }
        needs |= mask & ~BIT(at);
        scalars_add(b->p->arena, &b->items[at].on, on->items[i]);
    }
    if (!needs) needs = left_side;
    b->items[at].needs |= needs;
    return STATUS_OK;
}

static itemset items_under(const struct problem *b, const struct from_node *n)
{
    if (!n) return 0;
    if (n->rel) return b->item_of[n->rel->id] >= 0 ? BIT(b->item_of[n->rel->id]) : 0;
    return items_under(b, n->left) | items_under(b, n->right);
}

static enum status add_node(struct problem *b, struct from_node *n, struct scalars *where)
{
    int at;
    if (stack_is_deep()) return stack_too_deep();
    if (n->rel) return new_item(b, n->rel, &at);
    switch (n->join) {
    case PLAN_INNER:
        TRY(add_node(b, n->left, where));
        TRY(add_node(b, n->right, where));
        for (uint32_t i = 0; i < n->on.count; i++) scalars_add(b->p->arena, where, n->on.items[i]);
        return STATUS_OK;
    case PLAN_RIGHT: {
        TRY(add_node(b, n->right, where));
        return add_special(b, n->left, PLAN_LEFT, &n->on, items_under(b, n->right));
    }
    case PLAN_LEFT:
        TRY(add_node(b, n->left, where));
        return add_special(b, n->right, PLAN_LEFT, &n->on, items_under(b, n->left));
    case PLAN_FULL:
        return composite(b, n, &at);
    default:                             /* SEMI, ANTI, ANTI_NULL: the left side is all the rest of FROM */
        return add_special(b, n->right, n->join, &n->on, (BIT(b->count) - 1));
    }
}

static bool is_equality(const struct scalar *s)
{
    return s->kind == SCALAR_CALL && s->operator && s->arg_count == 2 && strcmp(s->operator->name, "=") == 0 && type_hashable(s->args[0]->type.oid) && type_hashable(s->args[1]->type.oid);
}

static void add_condition(struct problem *b, struct scalar *s)
{
    if (b->condition_count == b->condition_capacity) {
        uint32_t capacity = b->condition_capacity ? b->condition_capacity * 2 : 8;
        b->conditions = arena_grow(b->p->arena, b->conditions, b->condition_capacity * sizeof *b->conditions, capacity * sizeof *b->conditions);
        b->condition_capacity = capacity;
    }
    struct judged *c = &b->conditions[b->condition_count++];
    *c = (struct judged){ .s = s, .mask = mask_of(b, s) };
    if (is_equality(s)) {
        c->l = s->args[0];
        c->r = s->args[1];
        c->left = mask_of(b, c->l);
        c->right = mask_of(b, c->r);
        c->equal = c->left && c->right && !(c->left & c->right);
    }
}

/* (a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4) says of a alone: x = 1 OR x = 3. Such conditions filter the items early. */
static void derive_filters(struct problem *b, const struct scalar *s, itemset mask)
{
    struct planner *p = b->p;
    if (s->kind != SCALAR_OR || scalar_has_volatile(s) || scalar_has_subquery(s)) return;
    for (uint32_t i = 0; i < b->count; i++) {
        if (!(mask & BIT(i)) || b->items[i].join != PLAN_INNER) continue;
        struct scalars arms = { 0 };
        bool all = true;
        for (int a = 0; a < s->arg_count && all; a++) {
            const struct scalar *arm = s->args[a];
            struct scalars mine = { 0 };
            for (int k = 0; k < (arm->kind == SCALAR_AND ? arm->arg_count : 1); k++) {
                struct scalar *part = arm->kind == SCALAR_AND ? arm->args[k] : s->args[a];
                if (mask_of(b, part) == BIT(i)) scalars_add(p->arena, &mine, part);
            }
            all = mine.count > 0;
            if (all) scalars_add(p->arena, &arms, scalar_and(p->arena, mine.items, mine.count));
        }
        if (!all || arms.count < 2) continue;
        struct scalar *filter = scalar_new(p->arena, SCALAR_OR, s->type, s->position);
        filter->args = arms.items;
        filter->arg_count = (int32_t)arms.count;
        scalars_add(p->arena, &b->items[i].filters, filter);
    }
}

/* Which constant an item's column equals by a filter; NULL: none known. */
static struct scalar *known_constant(const struct item *item, const struct scalar *var)
{
    for (uint32_t i = 0; i < item->filters.count; i++) {
        const struct scalar *s = item->filters.items[i];
        if (!is_equality(s)) continue;
        for (int side = 0; side < 2; side++)
            if (scalar_equal(s->args[side], var) && (s->args[1 - side]->kind == SCALAR_CONST || s->args[1 - side]->kind == SCALAR_PARAMETER)) return s->args[1 - side];
    }
    return NULL;
}

/* a.x = b.x and a.x = 5: then b.x = 5, and the join has nothing left to compare. Only where both sides have one type. */
static void spread_constants(struct problem *b)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < b->condition_count; i++) {
            struct judged *c = &b->conditions[i];
            if (!c->equal || c->l->kind != SCALAR_VAR || c->r->kind != SCALAR_VAR || c->l->type.oid != c->r->type.oid) continue;
            struct item *l = &b->items[b->item_of[c->l->var.rel]], *r = &b->items[b->item_of[c->r->var.rel]];
            if (l->join != PLAN_INNER || r->join != PLAN_INNER) continue;
            struct scalar *x = known_constant(l, c->l), *y = known_constant(r, c->r);
            if (!x == !y) continue;
            struct scalar *added;
            if (make_operator(b->p, NULL, "=", x ? c->r : c->l, x ? x : y, 0, &added)) {
                error_clear();
                continue;
            }
            /* Only what known_constant() will find again: a cast around the column, or a null folded away, would be added for ever. */
            struct scalar *var = x ? c->r : c->l;
            if (!is_equality(added) || !scalar_equal(added->args[0], var) || added->args[1]->kind != (x ? x : y)->kind)
                continue;
            scalars_add(b->p->arena, x ? &r->filters : &l->filters, added);
            more = true;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->condition_count; i++) {
        struct judged *c = &b->conditions[i];
        bool said = false;
        if (c->equal && c->l->kind == SCALAR_VAR && c->r->kind == SCALAR_VAR && c->l->type.oid == c->r->type.oid) {
            struct item *l = &b->items[b->item_of[c->l->var.rel]], *r = &b->items[b->item_of[c->r->var.rel]];
            struct scalar *x = l->join == PLAN_INNER ? known_constant(l, c->l) : NULL, *y = r->join == PLAN_INNER ? known_constant(r, c->r) : NULL;
            said = x && y && scalar_equal(x, y);
        }
        if (!said) b->conditions[kept++] = *c;
    }
    b->condition_count = kept;
    for (uint32_t i = 0; i < b->count; i++) {    /* into the right sides of outer and semi joins as well; their ON stays */
        struct item *item = &b->items[i];
        if (item->join == PLAN_INNER || item->join == PLAN_ANTI_NULL) continue;
        for (uint32_t k = 0; k < item->on.count; k++) {
            const struct scalar *s = item->on.items[k];
            if (!is_equality(s) || s->args[0]->kind != SCALAR_VAR || s->args[1]->kind != SCALAR_VAR || s->args[0]->type.oid != s->args[1]->type.oid) continue;
            for (int side = 0; side < 2; side++) {
                const struct scalar *mine = s->args[side], *other = s->args[1 - side];
                if (mine->var.rel >= b->rel_span || other->var.rel >= b->rel_span || b->item_of[mine->var.rel] != (int)i || b->item_of[other->var.rel] < 0) continue;
                struct item *from = &b->items[b->item_of[other->var.rel]];
                struct scalar *x = from->join == PLAN_INNER ? known_constant(from, other) : NULL, *added;
                if (!x || known_constant(item, mine)) continue;
                if (make_operator(b->p, NULL, "=", s->args[side], x, 0, &added)) error_clear();
                else scalars_add(b->p->arena, &item->filters, added);
            }
        }
    }
}

/* ---- leaves ---- */

static enum status leaf_plan(struct problem *b, struct item *item)
{
    struct planner *p = b->p;
    struct rel *r = item->rel;
    struct plan *n;
    if (!r) return STATUS_OK;            /* composite: planned */
    struct frame *frame = arena_new(p->arena, struct frame);
    frame->outer = p->frame;
    struct layout none = { 0 };
    switch (r->kind) {
    case REL_TABLE:
        return STATUS_OK;                /* planned when its columns are known */
    case REL_VIRTUAL:
        return STATUS_OK;
    case REL_SUBQUERY:
        p->frame = frame;
        {
            enum status status = plan_query(p, r->query, 0, &n);
            p->frame = frame->outer;
            if (status) return status;
        }
        break;
    case REL_FUNCTION:
        n = plan_new(p, PLAN_FUNCTION_SCAN, r->column_count);
        n->set_function = r->function;
        n->set_arg_count = r->arg_count;
        n->with_ordinality = r->ordinality;
        p->frame = frame;
        {
            enum status status = resolve_all(p, &none, r->args, r->arg_count, &n->set_args);
            p->frame = frame->outer;
            if (status) return status;
        }
        n->rows = strcmp(r->function->name, "generate_series") == 0 ? 1000 : 100;
        {
            struct value from, to;       /* a series whose ends are known */
            if (r->arg_count == 2 && r->types[0].oid != OID_NUMERIC && scalar_evaluate(p, r->args[0], true, &from) && scalar_evaluate(p, r->args[1], true, &to) && !from.null && !to.null) {
                double count = 1000;
                if (r->types[0].oid == OID_INT4) count = (double)to.i4 - from.i4 + 1;
                else if (r->types[0].oid == OID_INT8) count = (double)to.i8 - (double)from.i8 + 1;
                n->rows = fmax(1, count);
            }
        }
        n->total_cost = n->rows * p->settings->cpu_tuple_cost;
        break;
    case REL_CTE:
        if (!r->working_table) {
            TRY(plan_cte(p, r->cte));
        }
        n = plan_new(p, PLAN_CTE_SCAN, r->column_count);
        n->cte = (uint16_t)r->cte->index;
        n->working_table = r->working_table;
        n->rows = fmax(1, r->cte->rows);
        n->total_cost = n->rows * p->settings->cpu_tuple_cost;
        break;
    default:
        return error_set(STATUS_INTERNAL, "relation of an unknown kind in FROM");
    }
    if (n->kind == PLAN_FUNCTION_SCAN || n->kind == PLAN_CTE_SCAN) {
        memcpy(n->types, r->types, sizeof *n->types * r->column_count);
        n->names = r->names;
        n->columns = arena_array(p->arena, uint16_t, r->column_count ? r->column_count : 1);
        for (int i = 0; i < r->column_count; i++) n->columns[i] = (uint16_t)i;
        n->alias = r->name;
        n->width = width_of(n->types, n->column_count);
    }
    item->plan = n;
    item->layout.count = r->column_count;
    item->layout.items = arena_array(p->arena, struct scalar *, r->column_count ? r->column_count : 1);
    for (int i = 0; i < r->column_count; i++) item->layout.items[i] = scalar_var(p->arena, r, (uint16_t)i, 0);
    r->rows = n->rows;
    return take_frame(b, item, frame);
}

static void leaf_cost(struct problem *b, struct item *item, const struct wish *wish)
{
    struct planner *p = b->p;
    struct rel *r = item->rel;
    if (r && r->kind == REL_TABLE) {
        access_best(p, r, &item->filters, NULL, 1, wish, &item->access);
        item->rows = item->access.rows;
        item->startup = item->access.startup;
        item->total = item->access.total;
        item->width = width_of(r->types, r->column_count) * 0.5;
        return;
    }
    if (r && r->kind == REL_VIRTUAL) {
        r->rows = 100;
        item->rows = fmax(1, rint(r->rows * selectivity_all(p, &item->filters)));
        item->total = r->rows * p->settings->cpu_tuple_cost * 10;
        item->width = width_of(r->types, r->column_count);
        return;
    }
    item->rows = fmax(1, rint(item->plan->rows * selectivity_all(p, &item->filters)));
    item->startup = item->plan->startup_cost;
    item->total = item->plan->total_cost + item->plan->rows * p->settings->cpu_operator_cost * item->filters.count;
    item->width = item->plan->width;
}

/* ---- paths ---- */

/* Conditions that a join of the two sides judges: those of WHERE that become known here; a special's own ON comes besides. */
static void crossing(struct problem *b, itemset l, itemset r, struct judged **list, uint32_t *count)
{
    itemset both = l | r;
    *count = 0;
    for (uint32_t i = 0; i < b->condition_count; i++) {
        struct judged *c = &b->conditions[i];
        if ((c->mask & ~both) || !(c->mask & ~l) || !(c->mask & ~r)) {
            /* one item's condition that had to wait for its special join */
            if (!(c->mask & ~both) && c->mask && !(c->mask & (c->mask - 1))) {
                int at = __builtin_ctzll(c->mask);
                bool arrives = (r == BIT(at) || l == BIT(at)) && b->items[at].join == PLAN_LEFT;
                if (arrives) list[(*count)++] = c;
            }
            continue;
        }
        list[(*count)++] = c;
    }
}

static bool equal_sides(const struct problem *b, const struct scalar *s, itemset l, itemset r, struct scalar **left, struct scalar **right)
{
    if (!is_equality(s)) return false;
    itemset x = mask_of(b, s->args[0]), y = mask_of(b, s->args[1]);
    if (!x || !y) return false;
    if (!(x & ~l) && !(y & ~r)) { *left = s->args[0]; *right = s->args[1]; return true; }
    if (!(x & ~r) && !(y & ~l)) { *left = s->args[1]; *right = s->args[0]; return true; }
    return false;
}

/* Selectivity of a join's conditions. Equalities that cover a unique index of a table say: at most one row of it each. Multiplied one by
 * one they would say far too little. */
static double join_selectivity(struct problem *b, const struct scalars *on)
{
    struct planner *p = b->p;
    struct scalars rest = { 0 };
    bool *used = arena_array(p->arena, bool, on->count ? on->count : 1);
    double sel = 1;
    for (uint32_t i = 0; on->count > 1 && i < b->count; i++) {
        struct rel *r = b->items[i].rel;
        if (!r || r->kind != REL_TABLE) continue;
        for (int x = 0; x < r->table->index_count; x++) {
            const struct index *ix = &r->table->indexes[x];
            if (!ix->unique || ix->predicate || ix->column_count < 2 || (uint32_t)ix->column_count > on->count) continue;
            uint32_t covering[16], found = 0;
            for (int c = 0; c < ix->column_count && c < 16; c++) {
                bool hit = false;
                for (uint32_t k = 0; k < on->count && !hit && ix->columns[c].column; k++) {
                    const struct scalar *s = on->items[k];
                    if (used[k] || !is_equality(s)) continue;
                    for (int side = 0; side < 2 && !hit; side++) {
                        const struct scalar *v = s->args[side];
                        if (v->kind != SCALAR_VAR || v->var.rel != r->id || v->var.column + 1 != ix->columns[c].column || (mask_of(b, s->args[1 - side]) & BIT(i))) continue;
                        covering[found++] = k;
                        hit = true;
                    }
                }
                if (!hit) break;
            }
            if (found != ix->column_count) continue;
            for (uint32_t k = 0; k < found; k++) used[covering[k]] = true;
            rel_size(p, r);
            sel /= fmax(1, r->rows);
            break;
        }
    }
    for (uint32_t k = 0; k < on->count; k++)
        if (!used[k]) scalars_add(p->arena, &rest, on->items[k]);
    return sel * selectivity_all(p, &rest);
}

static double join_rows(struct problem *b, const struct path *l, const struct path *r, enum plan_join join, const struct scalars *on, const struct scalars *filter)
{
    struct planner *p = b->p;
    double sel = join_selectivity(b, on), rows;
    switch (join) {
    case PLAN_LEFT: rows = fmax(l->rows, l->rows * r->rows * sel); break;
    case PLAN_SEMI: case PLAN_ANTI: case PLAN_ANTI_NULL: {
        double match = 0.5;
        /* distinct values of the two sides of an equality */
        for (uint32_t i = 0; i < on->count; i++) {
            struct scalar *x, *y;
            if (!equal_sides(b, on->items[i], l->set, r->set, &x, &y)) continue;
            double nl = distinct_values(p, x, l->rows), nr = distinct_values(p, y, r->rows);
            match = fmin(1, nr / fmax(1, nl));
            break;
        }
        rows = l->rows * (join == PLAN_SEMI ? match : fmax(0.01, 1 - match));
        break;
    }
    default: rows = l->rows * r->rows * sel;
    }
    if (filter->count) rows *= selectivity_all(p, filter);
    return fmax(1, rint(rows));
}

struct candidate { struct problem *b; struct path *best; itemset set; };

/* What counts of a path: all of its cost, or that of the rows that a LIMIT lets through. */
static double path_metric(const struct problem *b, const struct path *path)
{
    if (b->driver < 0 || !(path->set & BIT(b->driver))) return path->total;
    return path->startup + (path->total - path->startup) * b->fraction;
}

static void offer(struct candidate *c, const struct path *path)
{
    if (c->best && path_metric(c->b, c->best) <= path_metric(c->b, path)) return;
    struct path *copy = arena_copy(c->b->p->arena, path, sizeof *path);
    c->best = copy;
}

/* Ways to join left and right in this order, right as the inner side. */
static void try_join(struct candidate *c, struct path *l, struct path *r)
{
    struct problem *b = c->b;
    struct planner *p = b->p;
    const struct settings *g = p->settings;
    int special = -1;
    enum plan_join join = PLAN_INNER;
    bool swapped = false;
    struct path *outer = l;
    if (b->driver >= 0 && (r->set & BIT(b->driver))) return;
    /* specials: alone on the right, and what they need on the left */
    for (int side = 0; side < 2; side++) {
        const struct path *s = side ? l : r, *o = side ? r : l;
        if (s->item < 0) continue;
        const struct item *item = &b->items[s->item];
        if (item->join == PLAN_INNER && !item->lateral) continue;
        if (item->needs & ~o->set) return;
        if (item->join != PLAN_INNER) {
            if (special >= 0) return;
            special = s->item;
            join = item->join;
            swapped = side == 1;
        } else if (side == 1) return;    /* a lateral item must be the inner side */
    }
    if (swapped && join != PLAN_LEFT) return;
    if (swapped && b->items[special].lateral) return;
    /* what a composite set still lacks: nothing inside may need the other side */
    struct judged **list = arena_array(p->arena, struct judged *, b->condition_count + 1);
    uint32_t count;
    crossing(b, l->set, r->set, list, &count);
    struct scalars on = { 0 }, filter = { 0 };
    if (special >= 0) {
        on = b->items[special].on;
        for (uint32_t i = 0; i < count; i++) scalars_add(p->arena, &filter, list[i]->s);
    } else
        for (uint32_t i = 0; i < count; i++) scalars_add(p->arena, &on, list[i]->s);
    struct path path = { .set = l->set | r->set, .item = -1, .left = l, .right = r, .join = join, .special = special, .swapped = swapped };
    const struct path *logical_left = swapped ? r : l, *logical_right = swapped ? l : r;
    path.rows = join_rows(b, logical_left, logical_right, join, &on, &filter);
    if (c->best) path.rows = c->best->rows;        /* one estimate a set, whichever way it is made */
    bool left_only = join == PLAN_SEMI || join == PLAN_ANTI || join == PLAN_ANTI_NULL;
    path.width = left_only ? l->width : l->width + r->width;
    uint32_t keys = 0;
    for (uint32_t i = 0; i < on.count; i++) {
        struct scalar *x, *y;
        if (equal_sides(b, on.items[i], outer->set, r->set, &x, &y)) keys++;
    }
    bool lateral = r->item >= 0 && b->items[r->item].lateral;
    if (keys && !lateral) {
        double build = r->total + r->rows * (g->cpu_operator_cost * keys + g->cpu_tuple_cost);
        double probe = l->total - l->startup + l->rows * g->cpu_operator_cost * keys;
        double pairs = path.rows;
        double bytes = r->rows * (r->width + 24);
        if (bytes > (double)g->work_mem_bytes)
            probe += (ceil(bytes / 8192) + ceil(l->rows * (l->width + 24) / 8192)) * 2 * g->seq_page_cost;
        path.hash = true;
        path.indexed = false;
        path.startup = build + l->startup + (g->enable_hashjoin ? 0 : 1e10);
        path.total = path.startup + probe + pairs * (g->cpu_tuple_cost + g->cpu_operator_cost * (on.count - keys + filter.count));
        offer(c, &path);
    }
    if (swapped) {
        /* RIGHT as a nested loop doesn't exist */
        return;
    }
    if (join == PLAN_ANTI_NULL && keys) return;
    path.hash = false;
    double once = join == PLAN_SEMI || left_only ? 0.6 : 1;
    double penalty = g->enable_nestloop ? 0 : 1e10;
    if (r->item >= 0 && b->items[r->item].rel && b->items[r->item].rel->kind == REL_TABLE && join != PLAN_ANTI_NULL) {
        struct item *item = &b->items[r->item];
        struct scalars all = { 0 };
        for (uint32_t i = 0; i < item->filters.count; i++) scalars_add(p->arena, &all, item->filters.items[i]);
        for (uint32_t i = 0; i < on.count; i++)
            if (mask_of(b, on.items[i]) & r->set) scalars_add(p->arena, &all, on.items[i]);
        struct access a;
        access_best(p, item->rel, &all, NULL, fmax(1, l->rows), NULL, &a);
        if (a.index && (a.equal.count || a.any_array || a.low || a.high)) {
            path.indexed = true;
            path.inner = a;
            path.startup = l->startup + a.startup + penalty;
            path.total = l->total + penalty + l->rows * a.total * once + path.rows * g->cpu_tuple_cost + path.rows * g->cpu_operator_cost * filter.count;
            offer(c, &path);
            path.indexed = false;
        }
    }
    double again = r->total;
    path.startup = l->startup + r->startup + penalty;
    path.total = l->total + penalty + fmax(1, l->rows) * again * once + l->rows * r->rows * (g->cpu_tuple_cost + g->cpu_operator_cost * on.count) * once;
    if (l->rows > 1) path.total += 0.01;
    offer(c, &path);
}

static bool connected(const struct problem *b, itemset l, itemset r)
{
    for (uint32_t i = 0; i < b->condition_count; i++)
        if ((b->conditions[i].mask & l) && (b->conditions[i].mask & r)) return true;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].join == PLAN_INNER && !b->items[i].lateral) continue;
        if ((r == BIT(i) && (b->items[i].needs & l)) || (l == BIT(i) && (b->items[i].needs & r))) return true;
    }
    return false;
}

static struct path *leaf_path(struct problem *b, int i)
{
    const struct item *item = &b->items[i];
    struct path *path = arena_new(b->p->arena, struct path);
    *path = (struct path){ .set = BIT(i), .item = i, .rows = item->rows, .startup = item->startup, .total = item->total, .width = item->width, .special = -1 };
    return path;
}

static struct path *order_exact(struct problem *b)
{
    struct path **best = arena_array(b->p->arena, struct path *, (size_t)1 << b->count);
    for (uint32_t i = 0; i < b->count; i++) best[BIT(i)] = leaf_path(b, (int)i);
    itemset full = BIT(b->count) - 1;
    for (itemset set = 1; set <= full; set++) {
        if (!(set & (set - 1))) continue;
        for (int cross = 0; cross < 2 && !best[set]; cross++) {
            struct candidate c = { b, NULL, set };
            for (itemset l = (set - 1) & set; l; l = (l - 1) & set) {
                itemset r = set & ~l;
                if (!best[l] || !best[r] || (!cross && !connected(b, l, r))) continue;
                try_join(&c, best[l], best[r]);
            }
            best[set] = c.best;
            /* a cross product only where nothing else will ever do: for the whole, or for sets without conditions to others */
            if (!cross && !best[set] && set != full) {
                bool bound = connected(b, set, full & ~set);
                if (bound) break;
            }
        }
    }
    if (!best[full]) {                   /* parts that only a cross product brings together: allow them all */
        for (itemset set = 1; set <= full; set++) {
            if (best[set]) continue;
            struct candidate c = { b, NULL, set };
            for (itemset l = (set - 1) & set; l; l = (l - 1) & set)
                if (best[l] && best[set & ~l]) try_join(&c, best[l], best[set & ~l]);
            best[set] = c.best;
        }
    }
    return best[full];
}

static struct path *order_greedy(struct problem *b)
{
    struct path **parts = arena_array(b->p->arena, struct path *, b->count);
    uint32_t count = b->count;
    for (uint32_t i = 0; i < count; i++) parts[i] = leaf_path(b, (int)i);
    while (count > 1) {
        struct path *best = NULL;
        uint32_t bi = 0, bk = 0;
        for (int cross = 0; cross < 2 && !best; cross++)
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t k = 0; k < count; k++) {
                    if (i == k || (!cross && !connected(b, parts[i]->set, parts[k]->set))) continue;
                    struct candidate c = { b, NULL, 0 };
                    try_join(&c, parts[i], parts[k]);
                    if (!c.best) continue;
                    /* what makes few rows first */
                    if (!best || c.best->rows < best->rows || (c.best->rows == best->rows && c.best->total < best->total)) {
                        best = c.best;
                        bi = i;
                        bk = k;
                    }
                }
        if (!best) return NULL;
        parts[bi] = best;
        parts[bk] = parts[--count];
        if (bi == count) parts[bk] = best;
    }
    return parts[0];
}

/* ---- from the chosen path to plan nodes ---- */

static enum status filter_node(struct planner *p, struct plan *child, const struct layout *layout, const struct scalars *conditions, double rows, struct plan **out)
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
    n->total_cost = child->total_cost + child->rows * p->settings->cpu_operator_cost * conditions->count;
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
static void wanted_in(struct problem *b, const struct scalar *s, itemset set, struct scalars *list)
{
    struct want_visit w = { b, set, list };
    scalar_walk(s, visit_wanted, &w);
}

static enum status build(struct problem *b, struct path *path, const struct scalars *wanted, struct plan **out, struct layout *layout)
{
    struct planner *p = b->p;
    if (path->item >= 0) return build_leaf(b, path->item, NULL, wanted, out, layout);
    struct judged **list = arena_array(p->arena, struct judged *, b->condition_count + 1);
    uint32_t count;
    crossing(b, path->left->set, path->right->set, list, &count);
    struct scalars on = { 0 }, filter = { 0 };
    if (path->special >= 0) {
        on = b->items[path->special].on;
        for (uint32_t i = 0; i < count; i++) scalars_add(p->arena, &filter, list[i]->s);
    } else
        for (uint32_t i = 0; i < count; i++) scalars_add(p->arena, &on, list[i]->s);
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
        wanted_in(b, on.items[i], path->left->set, &left_wanted);
        if (!path->indexed) wanted_in(b, on.items[i], path->right->set, &right_wanted);
    }
    struct plan *left, *right;
    struct layout ll, rl;
    bool lateral = path->right->item >= 0 && b->items[path->right->item].lateral;
    if (path->right->item >= 0 && b->items[path->right->item].frame) {
        const struct frame *f = b->items[path->right->item].frame;
        for (int i = 0; i < f->count; i++) {
            struct scalar v = { .kind = SCALAR_VAR, .type = f->slots[i].type, .var = { f->slots[i].rel, f->slots[i].column } };
            wanted_in(b, arena_copy(p->arena, &v, sizeof v), path->left->set, &left_wanted);
        }
    }
    TRY(build(b, path->left, &left_wanted, &left, &ll));
    struct plan *n = NULL;
    bool left_only = path->join == PLAN_SEMI || path->join == PLAN_ANTI || path->join == PLAN_ANTI_NULL;
    enum plan_join join = path->swapped ? PLAN_RIGHT : path->join;
    struct frame frame = { .outer = p->frame }, *slots = NULL;
    if (path->hash) {
        TRY(build(b, path->right, &right_wanted, &right, &rl));
    } else if (path->indexed) {
        p->frame = &frame;
        enum status status = build_leaf(b, path->right->item, &path->inner, &right_wanted, &right, &rl);
        p->frame = frame.outer;
        if (status) return status;
        slots = &frame;
    } else {
        if (lateral) slots = b->items[path->right->item].frame;
        TRY(build(b, path->right, &right_wanted, &right, &rl));
    }
    struct layout both = { .count = (uint16_t)(ll.count + rl.count) };
    both.items = arena_array(p->arena, struct scalar *, both.count ? both.count : 1);
    if (ll.count) memcpy(both.items, ll.items, sizeof *both.items * ll.count);
    if (rl.count) memcpy(both.items + ll.count, rl.items, sizeof *both.items * rl.count);
    /* output columns */
    uint16_t *outputs = arena_array(p->arena, uint16_t, above.count ? above.count : 1);
    struct layout result = { 0 };
    result.items = arena_array(p->arena, struct scalar *, above.count ? above.count : 1);
    for (uint32_t i = 0; i < above.count; i++) {
        for (int k = 0; k < (left_only ? ll.count : both.count); k++) {
            const struct scalar *v = both.items[k];
            if (v->kind != SCALAR_VAR || v->var.rel != above.items[i]->var.rel || v->var.column != above.items[i]->var.column) continue;
            outputs[result.count] = (uint16_t)k;
            result.items[result.count++] = above.items[i];
            break;
        }
    }
    n = plan_new(p, path->hash ? PLAN_HASH_JOIN : PLAN_NESTED_LOOP, result.count);
    for (int i = 0; i < result.count; i++) n->types[i] = outputs[i] < ll.count ? left->types[outputs[i]] : right->types[outputs[i] - ll.count];
    n->left = left;
    n->right = right;
    n->join = join;
    n->outputs = outputs;
    struct scalars rest = { 0 };
    if (path->hash) {
        n->left_keys = arena_array(p->arena, struct scalar *, on.count);
        n->right_keys = arena_array(p->arena, struct scalar *, on.count);
        n->null_safe = arena_array(p->arena, bool, on.count);
    }
    for (uint32_t i = 0; i < on.count; i++) {
        struct scalar *l, *r;
        if (path->hash && equal_sides(b, on.items[i], path->left->set, path->right->set, &l, &r)) {
            bool ok;
            TRY(equality_common(p, &l, &r, &ok));
            if (ok) {
                TRY(resolve(p, &ll, l, &n->left_keys[n->key_count]));
                TRY(resolve(p, &rl, r, &n->right_keys[n->key_count]));
                n->key_count++;
                continue;
            }
        }
        if (path->indexed && (mask_of(b, on.items[i]) & path->right->set)) continue;   /* judged by the inner scan */
        scalars_add(p->arena, &rest, on.items[i]);
    }
    if (path->hash && !n->key_count) {
        if (join == PLAN_RIGHT) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "outer join on types that have no common type is not supported");
        n->kind = PLAN_NESTED_LOOP;
    }
    TRY(resolve(p, &both, rest.count ? scalar_and(p->arena, rest.items, rest.count) : NULL, &n->filter));
    if (slots) {
        n->outer_slots = arena_array(p->arena, uint16_t, slots->count ? slots->count : 1);
        n->outer_values = arena_array(p->arena, struct scalar *, slots->count ? slots->count : 1);
        for (int i = 0; i < slots->count; i++) {
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

/* Joins keep the order of their left side. So the wished order can be had from an index of one item, if that item stays leftmost; and
 * with a LIMIT a plan that gives its first rows early may be the cheapest. Tries such drivers against the path found without. */
static struct path *drive(struct problem *b, struct path *path, struct wish *wish)
{
    struct planner *p = b->p;
    if (!wish->count && wish->limit <= 0) return path;
    if (!wish->count && b->count > 6) return path;
    double f = wish->limit > 0 ? fmin(1, wish->limit / fmax(1, path->rows)) : 1, best, width = path->width;
    if (wish->count) {
        double rows = fmax(2, path->rows);
        best = path->total + (wish->limit > 0 && wish->limit < 100000 ? 2 * p->settings->cpu_operator_cost * rows * log2(2 * fmax(2, fmin(wish->limit, rows))) : cost_sort(p, rows, width));
    } else
        best = path->startup + (path->total - path->startup) * f;
    struct path *chosen = path;
    for (uint32_t i = 0; i < b->count; i++) {
        struct item *item = &b->items[i];
        if (!item->rel || item->rel->kind != REL_TABLE || item->join != PLAN_INNER || item->lateral) continue;
        if (wish->count && (wish->exprs[0]->kind != SCALAR_VAR || wish->exprs[0]->var.rel != item->rel->id)) continue;
        struct item before = *item;
        struct wish w = *wish;
        w.limit = fmax(1, f * item->rows);
        access_best(p, item->rel, &item->filters, NULL, 1, &w, &item->access);
        if (wish->count && !item->access.ordered) {
            *item = before;
            continue;
        }
        item->rows = item->access.rows;
        item->startup = item->access.startup;
        item->total = item->access.total;
        b->driver = (int)i;
        b->fraction = f;
        struct path *other = order_exact(b);
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

static enum status plan_problem(struct planner *p, struct query *q, struct from_node **nodes, uint32_t count, const struct scalars *where, const struct scalars *wanted,
                                struct wish *wish, struct plan **out, struct layout *layout)
{
    struct problem b = { .p = p, .q = q, .rel_span = p->rel_count, .driver = -1, .fraction = 1 };
    b.item_of = arena_alloc(p->arena, p->rel_count ? p->rel_count : 1u);
    memset(b.item_of, -1, p->rel_count ? p->rel_count : 1u);
    struct scalars conditions = { 0 }, constant = { 0 }, late = { 0 };
    if (count == 1 && !nodes[0]->rel && nodes[0]->join == PLAN_FULL) {
        struct scalars all = { 0 };      /* what is wanted above, and what the conditions read */
        for (uint32_t i = 0; i < wanted->count; i++) scalars_add(p->arena, &all, wanted->items[i]);
        for (uint32_t i = 0; where && i < where->count; i++)
            for (uint32_t r = 0; r < p->rel_count; r++)
                if (under(nodes[0], (uint16_t)r)) collect_vars(p, where->items[i], (uint16_t)r, &all);
        TRY(plan_full(p, q, nodes[0], &all, out, layout));
        if (where) TRY(filter_node(p, *out, layout, where, fmax(1, (*out)->rows * 0.5), out));
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < count; i++) TRY(add_node(&b, nodes[i], &conditions));
    for (uint32_t i = 0; where && i < where->count; i++) scalars_add(p->arena, &conditions, where->items[i]);
    for (uint32_t i = 0; i < conditions.count; i++) {
        struct scalar *s = conditions.items[i];
        itemset mask = mask_of(&b, s);
        if (!mask) {
            scalars_add(p->arena, &constant, s);
            continue;
        }
        if (b.count > 1 && scalar_has_subquery(s)) {     /* dear: judged last, unless the joins make more rows than there were */
            scalars_add(p->arena, &late, s);
            continue;
        }
        if (!(mask & (mask - 1))) {
            struct item *item = &b.items[__builtin_ctzll(mask)];
            if (item->join == PLAN_INNER) {
                scalars_add(p->arena, &item->filters, s);
                continue;
            }
        }
        add_condition(&b, s);
        derive_filters(&b, s, mask);
    }
    if (b.count > 1) spread_constants(&b);
    for (uint32_t i = 0; i < b.count; i++) TRY(leaf_plan(&b, &b.items[i]));
    bool single = b.count == 1;
    for (uint32_t i = 0; i < b.count; i++) leaf_cost(&b, &b.items[i], single ? wish : NULL);
    for (uint32_t i = 0; i < b.count; i++) {     /* whoever needs a special item needs what that needs */
        bool more = true;
        while (more) {
            more = false;
            for (uint32_t k = 0; k < b.count; k++)
                if ((b.items[i].needs & BIT(k)) && (b.items[k].join != PLAN_INNER || b.items[k].lateral) && (b.items[k].needs & ~b.items[i].needs & ~BIT(i))) {
                    b.items[i].needs |= b.items[k].needs & ~BIT(i);
                    more = true;
                }
        }
    }
    struct path *path = single ? leaf_path(&b, 0) : b.count <= DP_MAX ? order_exact(&b) : order_greedy(&b);
    if (!path) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "no join order satisfies this FROM clause");
    if (wish && !single && b.count <= DP_MAX && !late.count) path = drive(&b, path, wish);
    bool moved = false;
    uint32_t still = 0;
    for (uint32_t i = 0; i < late.count; i++) {
        itemset mask = mask_of(&b, late.items[i]);
        struct item *item = mask & (mask - 1) ? NULL : &b.items[__builtin_ctzll(mask)];
        double rows = 1;                 /* at most, where all that it mentions is together */
        for (uint32_t k = 0; k < b.count; k++)
            if (mask & BIT(k)) rows *= b.items[k].rows;
        if (rows >= path->rows) {
            late.items[still++] = late.items[i];
            continue;
        }
        if (item && item->join == PLAN_INNER) scalars_add(p->arena, &item->filters, late.items[i]);
        else add_condition(&b, late.items[i]);
        moved = true;
    }
    late.count = still;
    if (moved) {
        for (uint32_t i = 0; i < b.count; i++) leaf_cost(&b, &b.items[i], NULL);
        path = b.count <= DP_MAX ? order_exact(&b) : order_greedy(&b);
    }
    struct plan *plan;
    struct scalars all_wanted = *wanted;
    if (late.count) {
        all_wanted = (struct scalars){ 0 };
        for (uint32_t i = 0; i < wanted->count; i++) scalars_add(p->arena, &all_wanted, wanted->items[i]);
        for (uint32_t i = 0; i < late.count; i++) wanted_in(&b, late.items[i], ~(itemset)0, &all_wanted);
    }
    TRY(build(&b, path, &all_wanted, &plan, layout));
    if (late.count) TRY(filter_node(p, plan, layout, &late, fmax(1, rint(plan->rows * selectivity_all(p, &late))), &plan));
    if (single && wish && b.items[0].rel && b.items[0].rel->kind == REL_TABLE) wish->ordered = b.items[0].access.ordered;
    if (constant.count) {                /* nothing here hangs on the rows: false means no rows at all */
        bool never = false;
        for (uint32_t i = 0; i < constant.count; i++) never |= scalar_is_false(constant.items[i]);
        TRY(filter_node(p, plan, layout, &constant, never ? 1 : plan->rows, &plan));
        if (never) {
            struct plan *empty = plan_new(p, PLAN_RESULT, plan->column_count);
            memcpy(empty->types, plan->types, sizeof *empty->types * empty->column_count);
            empty->exprs = arena_array(p->arena, struct scalar *, plan->column_count ? plan->column_count : 1);
            for (int i = 0; i < plan->column_count; i++) empty->exprs[i] = scalar_null(p->arena, plan->types[i], 0);
            empty->filter = scalar_bool(p->arena, false);
            empty->width = plan->width;
            plan = empty;
            if (wish) wish->ordered = true;
        }
    }
    *out = plan;
    return STATUS_OK;
}

/* FULL JOIN: both sides on their own; hashed on its equalities, all other conditions beside them. */
static enum status plan_full(struct planner *p, struct query *q, struct from_node *n, const struct scalars *wanted, struct plan **out, struct layout *layout)
{
    struct plan *sides[2];
    struct layout layouts[2];
    struct from_node *nodes[2] = { n->left, n->right };
    for (int i = 0; i < 2; i++) {
        struct scalars need = { 0 };
        struct gathering g = { p, nodes[i], &need };
        for (uint32_t k = 0; k < wanted->count; k++) scalar_walk(wanted->items[k], visit_gather, &g);
        for (uint32_t k = 0; k < n->on.count; k++) scalar_walk(n->on.items[k], visit_gather, &g);
        TRY(plan_problem(p, q, &nodes[i], 1, NULL, &need, NULL, &sides[i], &layouts[i]));
    }
    struct layout both = { .count = (uint16_t)(layouts[0].count + layouts[1].count) };
    both.items = arena_array(p->arena, struct scalar *, both.count ? both.count : 1);
    if (layouts[0].count) memcpy(both.items, layouts[0].items, sizeof *both.items * layouts[0].count);
    if (layouts[1].count) memcpy(both.items + layouts[0].count, layouts[1].items, sizeof *both.items * layouts[1].count);
    struct layout result = { 0 };
    result.items = arena_array(p->arena, struct scalar *, wanted->count ? wanted->count : 1);
    uint16_t *outputs = arena_array(p->arena, uint16_t, wanted->count ? wanted->count : 1);
    for (uint32_t i = 0; i < wanted->count; i++)
        for (int k = 0; k < both.count; k++)
            if (both.items[k]->var.rel == wanted->items[i]->var.rel && both.items[k]->var.column == wanted->items[i]->var.column) {
                outputs[result.count] = (uint16_t)k;
                result.items[result.count++] = wanted->items[i];
                break;
            }
    struct plan *j = plan_new(p, PLAN_HASH_JOIN, result.count);
    for (int i = 0; i < result.count; i++) j->types[i] = outputs[i] < layouts[0].count ? sides[0]->types[outputs[i]] : sides[1]->types[outputs[i] - layouts[0].count];
    j->left = sides[0];
    j->right = sides[1];
    j->join = PLAN_FULL;
    j->outputs = outputs;
    j->left_keys = arena_array(p->arena, struct scalar *, n->on.count ? n->on.count : 1);
    j->right_keys = arena_array(p->arena, struct scalar *, n->on.count ? n->on.count : 1);
    j->null_safe = arena_array(p->arena, bool, n->on.count ? n->on.count : 1);
    struct scalars rest = { 0 };
    for (uint32_t i = 0; i < n->on.count; i++) {
        struct scalar *s = n->on.items[i], *l = NULL, *r = NULL;
        if (is_equality(s)) {
            for (int turn = 0; turn < 2 && !l; turn++) {
                struct scalars x[2] = { { 0 }, { 0 } }, y[2] = { { 0 }, { 0 } };
                for (int side = 0; side < 2; side++) {
                    struct gathering gx = { p, nodes[side], &x[side] }, gy = { p, nodes[side], &y[side] };
                    scalar_walk(s->args[turn], visit_gather, &gx);
                    scalar_walk(s->args[1 - turn], visit_gather, &gy);
                }
                if (x[0].count && !x[1].count && y[1].count && !y[0].count) { l = s->args[turn]; r = s->args[1 - turn]; }
            }
        }
        bool ok = false;
        if (l) TRY(equality_common(p, &l, &r, &ok));
        if (!ok) {
            scalars_add(p->arena, &rest, s);
            continue;
        }
        TRY(resolve(p, &layouts[0], l, &j->left_keys[j->key_count]));
        TRY(resolve(p, &layouts[1], r, &j->right_keys[j->key_count]));
        j->key_count++;
    }
    if (!j->key_count && rest.count) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions");
    if (!j->key_count) {                 /* ON true: one key for all */
        j->left_keys[0] = j->right_keys[0] = scalar_int4(p->arena, 1);
        j->key_count = 1;
    }
    TRY(resolve(p, &both, rest.count ? scalar_and(p->arena, rest.items, rest.count) : NULL, &j->filter));
    const struct settings *g = p->settings;
    j->rows = fmax(sides[0]->rows, sides[1]->rows);
    j->startup_cost = sides[1]->total_cost + sides[1]->rows * (g->cpu_operator_cost + g->cpu_tuple_cost) + sides[0]->startup_cost;
    j->total_cost = j->startup_cost + sides[0]->total_cost + j->rows * g->cpu_tuple_cost;
    j->width = width_of(j->types, j->column_count);
    *layout = result;
    *out = j;
    return STATUS_OK;
}

enum status plan_from(struct planner *p, struct query *q, const struct scalars *wanted, struct wish *wish, struct plan **out, struct layout *layout)
{
    *layout = (struct layout){ 0 };
    if (q->from.count == 0) {
        struct plan *n = plan_new(p, PLAN_RESULT, 0);
        n->exprs = arena_array(p->arena, struct scalar *, 1);
        n->rows = 1;
        n->total_cost = p->settings->cpu_tuple_cost;
        TRY(resolve(p, layout, q->where.count ? scalar_and(p->arena, q->where.items, q->where.count) : NULL, &n->filter));
        *out = n;
        if (wish) wish->ordered = true;  /* one row */
        return STATUS_OK;
    }
    return plan_problem(p, q, q->from.items, q->from.count, &q->where, wanted, wish, out, layout);
}
