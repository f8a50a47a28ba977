/* engine/plan/joins.c - FROM and WHERE as a problem of joins (joins.h), and what comes back as a plan. */
#include <math.h>
#include <string.h>

#include "base/plant.h"
#include "engine/plan/cost.h"
#include "engine/plan/joins.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)
/* ---- which items an expression mentions ---- */

struct masking { const struct problem *b; itemset mask; };
static bool visit_mask(void *context, const struct scalar *s)
{
    struct masking *m = context;
    if (s->kind == SCALAR_VAR && s->var.rel < m->b->rel_span && m->b->item_of[s->var.rel] >= 0) m->mask |= BIT(m->b->item_of[s->var.rel]);
    return false;
}
itemset mask_of(const struct problem *b, const struct scalar *s)
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
    for (uint32_t i = 0; i < frame->count; i++)
        if (frame->slots[i].rel < b->rel_span && b->item_of[frame->slots[i].rel] >= 0) needs |= BIT(b->item_of[frame->slots[i].rel]);
    if (needs) {
        item->needs |= needs;
        item->lateral = true;
        item->frame = frame;
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < frame->count; i++) TRY(frame_adopt(b->p, &frame->slots[i]));
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
        judged_add(b, &b->items[at].on, on->items[i]);
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
        for (uint32_t i = 0; PLANT(ON_AS_WHERE) && i < n->on.count; i++)
            if (mask_of(b, n->on.items[i]) && !(mask_of(b, n->on.items[i]) & ~items_under(b, n->left))) scalars_add(b->p->arena, where, n->on.items[i]);
        return add_special(b, n->right, PLAN_LEFT, &n->on, items_under(b, n->left));
    case PLAN_FULL:
        return composite(b, n, &at);
    default:                             /* SEMI, ANTI, ANTI_NULL: the left side is all the rest of FROM */
        return add_special(b, n->right, n->join, &n->on, items_below(b->count));
    }
}

bool is_equality(const struct scalar *s)
{
    return s->kind == SCALAR_CALL && s->operator && s->arg_count == 2 && strcmp(s->operator->name, "=") == 0 && type_hashable(s->args[0]->type.oid) && type_hashable(s->args[1]->type.oid);
}

bool is_inequality(const struct scalar *s) { return s->kind == SCALAR_CALL && s->operator && s->arg_count == 2 && strcmp(s->operator->name, "<>") == 0; }

struct judged judged_of(const struct problem *b, struct scalar *s)
{
    struct judged c = { .s = s, .mask = mask_of(b, s), .selectivity = -1, .class = -1 };
    if (is_equality(s)) {
        c.l = s->args[0];
        c.r = s->args[1];
        c.left = mask_of(b, c.l);
        c.right = mask_of(b, c.r);
        c.equal = c.left && c.right && !(c.left & c.right);
    }
    return c;
}

void judged_add(struct problem *b, struct judgeds *list, struct scalar *s)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
        list->items = arena_grow(b->p->arena, list->items, list->capacity * sizeof *list->items, capacity * sizeof *list->items);
        list->capacity = capacity;
    }
    list->items[list->count++] = judged_of(b, s);
}

bool equal_sides(const struct judged *c, itemset l, itemset r, struct scalar **left, struct scalar **right)
{
    if (!c->equal) return false;
    if (!(c->left & ~l) && !(c->right & ~r)) { *left = c->l; *right = c->r; return true; }
    if (!(c->left & ~r) && !(c->right & ~l)) { *left = c->r; *right = c->l; return true; }
    return false;
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
            p->out->cte_scans[r->cte->index]++;
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

void leaf_cost(struct problem *b, struct item *item, const struct wish *wish)
{
    struct planner *p = b->p;
    struct rel *r = item->rel;
    if (r && r->kind == REL_TABLE) {
        access_best(p, r, &item->filters, 0, wish, &item->access);
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
    item->total = item->plan->total_cost + cost_operators(p, item->plan->rows, scalars_weight(p, &item->filters));
    item->width = item->plan->width;
}

/* ---- conditions ---- */

/* day < timestamp of a midnight: compared as days, which is faster, and which an index and the pages' ranges of values know. */
static struct scalar *simplified(struct planner *p, struct scalar *s)
{
    static const char *const comparing[] = { "=", "<>", "<", "<=", ">", ">=" };
    if (s->kind != SCALAR_CALL || !s->operator || s->arg_count != 2) return s;
    bool compares = false;
    for (size_t i = 0; i < sizeof comparing / sizeof *comparing && !compares; i++) compares = strcmp(comparing[i], s->operator->name) == 0;
    for (int side = 0; compares && side < 2; side++) {
        const struct scalar *c = s->args[1 - side];
        const int64_t day = INT64_C(86400000000);
        if (s->args[side]->kind != SCALAR_VAR || s->args[side]->type.oid != OID_DATE || c->kind != SCALAR_CONST || c->type.oid != OID_TIMESTAMP || c->constant.null) continue;
        if (c->constant.i8 % day || c->constant.i8 == INT64_MAX || c->constant.i8 == INT64_MIN) continue;
        struct scalar *date = scalar_new(p->arena, SCALAR_CONST, type_make(OID_DATE, -1), c->position), *made;
        date->constant.i4 = (int32_t)(c->constant.i8 / day);
        if (!make_operator(p, NULL, s->operator->name, side ? date : s->args[0], side ? s->args[1] : date, s->position, &made)) return made;
        error_clear();
    }
    return s;
}

/* What is cheap and throws away much comes first; but what can fail stays behind all that stood before it. */
static void order_filters(struct planner *p, struct scalars *list)
{
    if (list->count < 2) return;
    double *ranks = arena_array(p->arena, double, list->count);
    struct scalars sorted = { 0 };
    uint32_t safe = 0;
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < list->count; i++) {
            struct scalar *s = list->items[i];
            if (scalar_never_fails(s) != (turn == 0)) continue;
            scalars_add(p->arena, &sorted, s);
            if (turn) continue;
            double rank = scalar_weight(p, s) / fmax(1e-6, 1 - selectivity(p, s));
            uint32_t at = safe++;
            for (; at > 0 && ranks[at - 1] > rank; at--) {
                ranks[at] = ranks[at - 1];
                sorted.items[at] = sorted.items[at - 1];
            }
            ranks[at] = rank;
            sorted.items[at] = s;
        }
    *list = sorted;
}

/* ---- which columns of the tables are needed, by whom: for index-only scans ---- */

struct needing { const struct problem *b; uint8_t by; };
static bool visit_needed(void *context, const struct scalar *s)
{
    const struct needing *n = context;
    if (s->kind != SCALAR_VAR || s->var.rel >= n->b->rel_span || n->b->item_of[s->var.rel] < 0) return false;
    struct rel *r = n->b->p->rels[s->var.rel];
    if (r->needed) r->needed[s->var.column < r->column_count ? s->var.column : r->column_count] |= n->by;
    return false;
}

static void note_needed(struct problem *b, const struct scalars *wanted, const struct scalars *late)
{
    struct needing above = { b, NEED_ABOVE }, join = { b, NEED_JOIN };
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i].rel && b->items[i].rel->kind == REL_TABLE) b->items[i].rel->needed = arena_zero(b->p->arena, b->items[i].rel->column_count + 1u);
    for (uint32_t i = 0; i < wanted->count; i++) scalar_walk(wanted->items[i], visit_needed, &above);
    for (uint32_t i = 0; i < late->count; i++) scalar_walk(late->items[i], visit_needed, &above);
    for (uint32_t i = 0; i < b->conditions.count; i++) scalar_walk(b->conditions.items[i].s, visit_needed, &join);
    for (uint32_t i = 0; i < b->class_count; i++)
        for (uint32_t k = 0; k < b->classes[i].count; k++) scalar_walk(b->classes[i].members[k].s, visit_needed, &join);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        for (uint32_t k = 0; k < item->on.count; k++) scalar_walk(item->on.items[k].s, visit_needed, &join);
        for (uint32_t k = 0; item->frame && k < item->frame->count; k++) {       /* LATERAL */
            struct scalar var = { .kind = SCALAR_VAR, .var = { .rel = item->frame->slots[k].rel, .column = item->frame->slots[k].column } };
            visit_needed(&above, &var);
        }
    }
}

/* A subquery that hangs on no row is run once: what compares with it is as cheap as any condition. */
static bool visit_dear(void *context, const struct scalar *s)
{
    return s->kind == SCALAR_SUBQUERY && s->subquery.query && (s->subquery.kind == SUBQUERY_ANY || s->subquery.kind == SUBQUERY_ALL || query_is_free(context, s->subquery.query));
}
static bool is_dear(struct planner *p, const struct scalar *s) { return scalar_walk(s, visit_dear, p); }

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
        struct scalar *s = simplified(p, conditions.items[i]);
        itemset mask = mask_of(&b, s);
        if (!mask) {
            scalars_add(p->arena, &constant, s);
            continue;
        }
        if (b.count > 1 && is_dear(p, s)) {     /* dear: judged last, unless the joins make more rows than there were */
            scalars_add(p->arena, &late, s);
            continue;
        }
        if (is_one(mask)) {
            struct item *item = &b.items[first_item(mask)];
            if (item->join == PLAN_INNER) {
                scalars_add(p->arena, &item->filters, s);
                continue;
            }
        }
        judged_add(&b, &b.conditions, s);
        derive_filters(&b, s, mask);
    }
    if (b.count > 1) {
        spread_constants(&b);
        equivalences_make(&b);
    }
    for (uint32_t i = 0; i < b.count; i++) {
        TRY(leaf_plan(&b, &b.items[i]));
        order_filters(p, &b.items[i].filters);
    }
    note_needed(&b, wanted, &late);
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
    struct path *path = join_order(&b);
    if (!path) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "no join order satisfies this FROM clause");
    if (wish && !single && !late.count) path = join_order_for(&b, path, wish);
    bool moved = false;
    uint32_t still = 0;
    for (uint32_t i = 0; i < late.count; i++) {
        itemset mask = mask_of(&b, late.items[i]);
        struct item *item = is_one(mask) ? &b.items[first_item(mask)] : NULL;
        double rows = 1;                 /* at most, where all that it mentions is together */
        for (uint32_t k = 0; k < b.count; k++)
            if (mask & BIT(k)) rows *= b.items[k].rows;
        if (rows >= path->rows) {
            late.items[still++] = late.items[i];
            continue;
        }
        if (item && item->join == PLAN_INNER) scalars_add(p->arena, &item->filters, late.items[i]);
        else judged_add(&b, &b.conditions, late.items[i]);
        moved = true;
    }
    late.count = still;
    if (moved) {
        for (uint32_t i = 0; i < b.count; i++) leaf_cost(&b, &b.items[i], NULL);
        path = join_order(&b);
    }
    struct plan *plan;
    struct scalars all_wanted = *wanted;
    if (late.count) {
        all_wanted = (struct scalars){ 0 };
        for (uint32_t i = 0; i < wanted->count; i++) scalars_add(p->arena, &all_wanted, wanted->items[i]);
        for (uint32_t i = 0; i < late.count; i++) wanted_in(&b, late.items[i], ~(itemset)0, &all_wanted);
    }
    TRY(join_build(&b, path, &all_wanted, &plan, layout));
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

/* FULL JOIN: both sides on their own; hashed or merged on its equalities, all other conditions beside them. */
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
    if (layouts[0].count + layouts[1].count > UINT16_MAX) return error_set(STATUS_TOO_COMPLEX, "joins can hand on at most %d columns", UINT16_MAX);
    struct layout both = layout_of_both(p, &layouts[0], &layouts[1]);
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
    struct scalar **left_keys = arena_array(p->arena, struct scalar *, n->on.count + 1u), **right_keys = arena_array(p->arena, struct scalar *, n->on.count + 1u);
    bool never = false;
    for (uint32_t i = 0; i < n->on.count; i++) never |= scalar_is_false(n->on.items[i]);
    for (uint32_t i = 0; i < n->on.count && !never; i++) {
        struct scalar *s = n->on.items[i], *l = NULL, *r = NULL;
        if (scalar_is_true(s)) continue;
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
        left_keys[j->key_count] = l;
        right_keys[j->key_count++] = r;
    }
    bool crosses = false;                /* what is said of one side only, or of none, can be judged pair by pair */
    for (uint32_t i = 0; i < rest.count; i++) {
        struct scalars x[2] = { { 0 }, { 0 } };
        for (int side = 0; side < 2; side++) {
            struct gathering g = { p, nodes[side], &x[side] };
            scalar_walk(rest.items[i], visit_gather, &g);
        }
        crosses |= x[0].count && x[1].count;
    }
    if (!j->key_count && crosses) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions");
    bool keyed = j->key_count > 0;
    if (!keyed) {                        /* ON true: one key for all; ON false: one for each side */
        j->left_keys[0] = scalar_int4(p->arena, 1);
        j->right_keys[0] = scalar_int4(p->arena, never ? 2 : 1);
        j->key_count = 1;
    }
    j->rows = fmax(sides[0]->rows, sides[1]->rows);
    j->startup_cost = sides[1]->total_cost + cost_rows(p, sides[1]->rows, COST_BUILT * (1 + sides[1]->width / 200)) + sides[0]->startup_cost + (p->settings->enable_hashjoin ? 0 : 1e10);
    j->total_cost = j->startup_cost + sides[0]->total_cost + cost_rows(p, sides[0]->rows, COST_PROBED) + cost_rows(p, j->rows, COST_JOINED);
    if (keyed) TRY(merge_full(p, j, layouts, left_keys, right_keys));
    both = layout_of_both(p, &layouts[0], &layouts[1]);
    TRY(resolve(p, &both, rest.count ? scalar_and(p->arena, rest.items, rest.count) : NULL, &j->filter));
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
