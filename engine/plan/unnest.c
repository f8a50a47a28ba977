/* engine/plan/unnest.c - queries rewritten so that the join planner sees as much as it can.
 *
 * In this order, inner queries first:
 *  1. A WITH query that is mentioned once, and isn't recursive, MATERIALIZED or volatile, becomes a subquery in FROM.
 *  2. A subquery in FROM that only selects and filters is taken into its parent ("pulled up").
 *  3. An outer join whose made-up rows WHERE would throw away anyway becomes an inner one.
 *  4. EXISTS, IN, NOT EXISTS and NOT IN in WHERE become semi and anti joins; `x < (SELECT avg(y) … WHERE inner = outer)` becomes
 *     a join with the subquery grouped by `inner`, unless an index finds the few inner rows for each outer one.
 *  5. Conditions on a subquery that stays move into it where that changes nothing.
 * UPDATE and DELETE keep their subqueries in WHERE: a row that had to be waited for is judged again by the whole of WHERE. */
#include <string.h>

#include "base/plant.h"
#include "engine/plan/query.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

/* ---- what a query defines, and what it takes from outside ---- */

static void defined_in(struct planner *p, const struct query *q, struct relset *set);
struct defining { struct planner *p; struct relset *set; };
static bool visit_defined(void *context, const struct scalar *s)
{
    struct defining *d = context;
    if (s->kind == SCALAR_SUBQUERY && s->subquery.query) defined_in(d->p, s->subquery.query, d->set);
    return false;
}
static void defined_in(struct planner *p, const struct query *q, struct relset *set)
{
    const struct rel *made[] = { q->group_rel, q->window_rel, q->set_rel, q->set_op_rel, q->values_rel, q->excluded_rel };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (made[i]) relset_add(set, made[i]->id);
    for (int i = 0; i < q->rel_count; i++) {
        relset_add(set, q->rels[i]->id);
        if (q->rels[i]->kind == REL_SUBQUERY) defined_in(p, q->rels[i]->query, set);
        if (q->rels[i]->kind == REL_CTE && q->rels[i]->cte->query && q->rels[i]->cte->correlated && !q->rels[i]->working_table) defined_in(p, q->rels[i]->cte->query, set);
    }
    if (q->left) defined_in(p, q->left, set);
    if (q->right) defined_in(p, q->right, set);
    struct defining d = { p, set };
    query_walk(q, visit_defined, &d);
}

static bool visit_free(void *context, const struct scalar *s) { return s->kind == SCALAR_VAR && !relset_has(context, s->var.rel); }
static bool scalar_is_free(struct relset *defined, const struct scalar *s) { return scalar_walk(s, visit_free, defined); }

bool query_is_free(struct planner *p, const struct query *q)
{
    struct relset defined = relset_new(p);
    defined_in(p, q, &defined);
    return query_walk(q, visit_free, &defined);
}

static bool node_is_free(struct relset *defined, const struct from_node *n)
{
    if (!n) return false;
    for (uint32_t i = 0; i < n->on.count; i++)
        if (scalar_is_free(defined, n->on.items[i])) return true;
    if (n->rel) {
        if (n->rel->kind == REL_SUBQUERY && query_walk(n->rel->query, visit_free, defined)) return true;
        for (int i = 0; i < n->rel->arg_count; i++)
            if (scalar_is_free(defined, n->rel->args[i])) return true;
        return false;
    }
    return node_is_free(defined, n->left) || node_is_free(defined, n->right);
}

/* ---- 1: WITH ---- */

static bool visit_volatile_call(void *context, const struct scalar *s)
{
    (void)context;
    return s->kind == SCALAR_CALL && s->call.function->volatility == VOLATILE;
}

static void inline_ctes(struct query *q)
{
    for (int i = 0; i < q->rel_count; i++) {
        struct rel *r = q->rels[i];
        if (r->kind != REL_CTE || r->working_table || r->cte->recursive || r->cte->query->kind != STATEMENT_SELECT) continue;
        struct cte_query *c = r->cte;
        bool once = c->references == 1 && c->syntax->materialized != MATERIALIZED_ALWAYS && !query_walk(c->query, visit_volatile_call, NULL) && !c->query->lock_count;
        if (!once && !c->correlated) continue;
        r->kind = REL_SUBQUERY;
        r->query = c->query;
        c->inlined = true;
    }
}

/* ---- 2: subqueries in FROM ---- */

static bool is_plain_select(const struct query *q)
{
    return q->kind == STATEMENT_SELECT && q->set == SET_NONE && !q->row_count && !q->grouped && !q->window_count && !q->set_function_count && !q->limit && !q->offset && !q->lock_count;
}

/* Views over views compose their columns, each as tall as the one put into it, or twice as large. Larger ones stay where they are. */
#define COMPOSED_MAX 2000
/* So many relations at most are brought together in one FROM clause, where their joins are planned at once. */
#define RELS_TOGETHER 100

struct replacing { struct planner *p; uint16_t rel; struct scalar **with; };
static struct scalar *swap_targets(void *context, struct scalar *s)
{
    struct replacing *r = context;
    if (s->kind != SCALAR_VAR || s->var.rel != r->rel) return NULL;
    struct scalar *t = r->with[s->var.column];
    if (t->kind == SCALAR_PARAMETER || t->type.oid == s->type.oid) return t;
    struct sql_type type = t->type;
    type.oid = s->type.oid;
    type.typmod = s->type.typmod;
    return scalar_relabel(r->p->arena, t, type);         /* as where it was used */
}

static struct from_node *chain_of(struct planner *p, const struct query *sub)
{
    struct from_node *n = sub->from.items[0];
    for (uint32_t i = 1; i < sub->from.count; i++) {
        struct from_node *j = arena_new(p->arena, struct from_node);
        j->join = PLAN_INNER;
        j->left = n;
        j->right = sub->from.items[i];
        n = j;
    }
    return n;
}

static void take_rels(struct planner *p, struct query *q, const struct query *sub, const struct rel *gone)
{
    uint16_t kept = 0;
    for (int i = 0; i < q->rel_count; i++)
        if (q->rels[i] != gone) q->rels[kept++] = q->rels[i];
    q->rel_count = kept;
    struct rel **list = arena_array(p->arena, struct rel *, q->rel_count + sub->rel_count + 1u);
    if (q->rel_count) memcpy(list, q->rels, sizeof *list * q->rel_count);
    for (int i = 0; i < sub->rel_count; i++) list[q->rel_count + i] = sub->rels[i];
    q->rels = list;
    q->rel_count = (uint16_t)(q->rel_count + sub->rel_count);
}

/* where: NULL in a place whose rows may be made up by an outer join; then on takes the subquery's conditions. */
static enum status pull_up(struct planner *p, struct query *q, struct from_node **slot, struct scalars *where, struct scalars *on, bool may_vanish, bool *vanished)
{
    struct rel *r = (*slot)->rel;
    struct query *sub = r->query;
    *vanished = false;
    TRY(rewrite_query(p, sub));
    if (!is_plain_select(sub) || sub->distinct || sub->order_count || q->rel_count + sub->rel_count > RELS_TOGETHER) return STATUS_OK;
    bool plain_vars = true;
    for (int i = 0; i < sub->visible_count; i++) {
        const struct scalar *t = sub->targets[i];
        if (scalar_is_larger(t, COMPOSED_MAX) || scalar_has_volatile(t) || scalar_has_subquery(t) || t->kind == SCALAR_ROW) return STATUS_OK;
        if (t->kind != SCALAR_VAR || scalar_is_const(t)) plain_vars = false;
        else {
            bool own = false;
            for (int k = 0; k < sub->rel_count && !own; k++) own = sub->rels[k]->id == t->var.rel;
            if (!own) plain_vars = false;
        }
    }
    for (uint32_t i = 0; i < sub->where.count; i++)
        if (scalar_has_volatile(sub->where.items[i])) return STATUS_OK;
    if (!where && (!plain_vars || !on || sub->from.count != 1)) return STATUS_OK;
    for (uint32_t i = 0; i < sub->from.count; i++)       /* semi joins take all that stands left of them: only at the end of a FROM list */
        if (!sub->from.items[i]->rel && (sub->from.items[i]->join == PLAN_SEMI || sub->from.items[i]->join == PLAN_ANTI || sub->from.items[i]->join == PLAN_ANTI_NULL)) return STATUS_OK;
    if (sub->from.count == 0 && !may_vanish) return STATUS_OK;
    struct replacing rep = { p, r->id, sub->targets };
    query_map(p->arena, q, swap_targets, &rep);
    if (sub->from.count == 0) *vanished = true;
    else *slot = chain_of(p, sub);
    struct scalars *into = where ? where : on;
    for (uint32_t i = 0; i < sub->where.count; i++) scalars_add(p->arena, into, sub->where.items[i]);
    take_rels(p, q, sub, r);
    return STATUS_OK;
}

/* Goes down the places of FROM. where: see pull_up. */
static enum status pull_node(struct planner *p, struct query *q, struct from_node **slot, struct scalars *where, struct scalars *on, bool may_vanish, bool *vanished)
{
    struct from_node *n = *slot;
    *vanished = false;
    if (stack_is_deep()) return stack_too_deep();
    if (n->rel) {
        if (n->rel->kind != REL_SUBQUERY) return STATUS_OK;
        return pull_up(p, q, slot, where, on, may_vanish, vanished);
    }
    bool gone = false;
    switch (n->join) {
    case PLAN_INNER: {
        bool left_gone = false;
        TRY(pull_node(p, q, &n->left, where, on, where != NULL, &left_gone));
        TRY(pull_node(p, q, &n->right, where, on, where != NULL && !left_gone, &gone));
        if (left_gone || gone) {         /* one side is no relation any more: only its conditions are left */
            for (uint32_t i = 0; i < n->on.count; i++) scalars_add(p->arena, where, n->on.items[i]);
            *slot = left_gone ? n->right : n->left;
        }
        return STATUS_OK;
    }
    case PLAN_LEFT:
        TRY(pull_node(p, q, &n->left, where, on, false, &gone));
        return pull_node(p, q, &n->right, NULL, n->right->rel ? &n->on : NULL, false, &gone);
    case PLAN_RIGHT:
        TRY(pull_node(p, q, &n->right, where, on, false, &gone));
        return pull_node(p, q, &n->left, NULL, n->left->rel ? &n->on : NULL, false, &gone);
    case PLAN_FULL:
        TRY(pull_node(p, q, &n->left, NULL, NULL, false, &gone));
        return pull_node(p, q, &n->right, NULL, NULL, false, &gone);
    default:
        return STATUS_OK;
    }
}

static enum status pull_subqueries(struct planner *p, struct query *q)
{
    uint32_t kept = 0;
    uint32_t count = q->from.count;
    for (uint32_t i = 0; i < count; i++) {
        bool gone;
        struct from_node *n = q->from.items[i];
        TRY(pull_node(p, q, &n, &q->where, NULL, true, &gone));
        if (!gone) q->from.items[kept++] = n;
    }
    q->from.count = kept;
    return STATUS_OK;
}

/* ---- OR: what all its arms say stands before it ---- */

static void arm_parts(const struct scalar *arm, struct scalar *const **parts, uint32_t *count, struct scalar **one)
{
    if (arm->kind == SCALAR_AND) {
        *parts = arm->args;
        *count = arm->arg_count;
        return;
    }
    *one = (struct scalar *)(uintptr_t)arm;
    *parts = one;
    *count = 1;
}

/* x = 1 OR x = 2 is x IN (1, 2), which an index can look up. NULL when it isn't of that form. */
static struct scalar *or_as_list(struct planner *p, const struct scalar *s)
{
    const struct scalar *first = s->args[0];
    if (first->kind != SCALAR_CALL || !first->operator || strcmp(first->operator->name, "=") != 0 || first->args[0]->kind != SCALAR_VAR) return NULL;
    struct scalar **items = arena_array(p->arena, struct scalar *, s->arg_count + 1u);
    items[0] = first->args[0];
    for (int i = 0; i < s->arg_count; i++) {
        const struct scalar *arm = s->args[i];
        if (arm->kind != SCALAR_CALL || arm->operator != first->operator || !scalar_equal(arm->args[0], items[0]) || arm->args[1]->kind != SCALAR_CONST || arm->args[1]->constant.null) return NULL;
        if (arm->args[1]->type.oid != items[0]->type.oid || arm->args[1]->type.width != items[0]->type.width || arm->args[1]->type.scale != items[0]->type.scale) return NULL;
        items[i + 1] = arm->args[1];
    }
    if (!type_hashable(items[0]->type.oid)) return NULL;
    struct scalar *list = scalar_new(p->arena, SCALAR_IN_LIST, s->type, s->position);
    list->args = items;
    list->arg_count = (int32_t)(s->arg_count + 1);
    list->operator = first->operator;
    return list;
}

/* (a AND b) OR (a AND c) is a AND (b OR c): so that an equality in each arm can join. */
static void factor_or(struct planner *p, struct scalar *s, struct scalars *out)
{
    struct scalar *const *first, *one, *list = or_as_list(p, s);
    uint32_t first_count;
    if (list) {
        scalars_add(p->arena, out, list);
        return;
    }
    arm_parts(s->args[0], &first, &first_count, &one);
    struct scalars common = { 0 };
    for (uint32_t i = 0; i < first_count; i++) {
        bool everywhere = !scalar_has_volatile(first[i]);
        for (int a = 1; a < s->arg_count && everywhere; a++) {
            struct scalar *const *parts, *single;
            uint32_t count;
            arm_parts(s->args[a], &parts, &count, &single);
            bool found = false;
            for (uint32_t k = 0; k < count && !found; k++) found = scalar_equal(parts[k], first[i]);
            everywhere = found;
        }
        if (everywhere) scalars_add(p->arena, &common, first[i]);
    }
    if (!common.count) {
        scalars_add(p->arena, out, s);
        return;
    }
    struct scalars arms = { 0 };
    bool vanished = false;               /* an arm that says nothing more makes the rest true */
    for (int a = 0; a < s->arg_count; a++) {
        struct scalar *const *parts, *single;
        uint32_t count;
        arm_parts(s->args[a], &parts, &count, &single);
        struct scalars rest = { 0 };
        for (uint32_t k = 0; k < count; k++) {
            bool is_common = false;
            for (uint32_t c = 0; c < common.count && !is_common; c++) is_common = scalar_equal(parts[k], common.items[c]);
            if (!is_common) scalars_add(p->arena, &rest, parts[k]);
        }
        if (!rest.count) vanished = true;
        else scalars_add(p->arena, &arms, scalar_and(p->arena, rest.items, rest.count));
    }
    for (uint32_t c = 0; c < common.count; c++) scalars_add(p->arena, out, common.items[c]);
    if (vanished) return;
    struct scalar *rest = scalar_copy(p->arena, s);
    rest->args = arms.items;
    rest->arg_count = (int32_t)arms.count;
    scalars_add(p->arena, out, rest);
}

static void factor_conditions(struct planner *p, struct scalars *list)
{
    bool any = false;
    for (uint32_t i = 0; i < list->count; i++) any |= list->items[i]->kind == SCALAR_OR;
    if (!any) return;
    struct scalars out = { 0 };
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i]->kind == SCALAR_OR) factor_or(p, list->items[i], &out);
        else scalars_add(p->arena, &out, list->items[i]);
    }
    *list = out;
}

static void factor_node(struct planner *p, struct from_node *n)
{
    if (!n || n->rel) return;
    factor_conditions(p, &n->on);
    factor_node(p, n->left);
    factor_node(p, n->right);
}

/* ---- 3: outer joins that needn't be ---- */

/* Is a row for which all columns of these rels are null never kept by the condition? Collects rels for which that holds. */
static void rejects_null(struct planner *p, const struct scalar *s, bool top, struct relset *out)
{
    switch (s->kind) {
    case SCALAR_VAR:
        relset_add(out, s->var.rel);
        return;
    case SCALAR_CALL:
        if (!s->call.function->strict || s->call.function->kind != FUNCTION_SCALAR) return;
        for (int i = 0; i < s->arg_count; i++) rejects_null(p, s->args[i], false, out);
        return;
    case SCALAR_AND:
        if (!top) return;
        for (int i = 0; i < s->arg_count; i++) rejects_null(p, s->args[i], true, out);
        return;
    case SCALAR_OR: {
        struct relset all = relset_new(p);
        for (int i = 0; i < s->arg_count; i++) {
            struct relset one = relset_new(p);
            rejects_null(p, s->args[i], top, &one);
            for (uint32_t w = 0; w < all.words; w++) all.bits[w] = i ? all.bits[w] & one.bits[w] : one.bits[w];
        }
        for (uint32_t w = 0; w < all.words && w < out->words; w++) out->bits[w] |= all.bits[w];
        return;
    }
    case SCALAR_NOT:
        rejects_null(p, s->args[0], false, out);
        return;
    case SCALAR_IS_NOT_NULL:
        if (top) rejects_null(p, s->args[0], false, out);
        return;
    case SCALAR_IN_LIST:
        rejects_null(p, s->args[0], false, out);
        return;
    case SCALAR_ANY_ARRAY:                   /* of an empty array it is false, whatever stands before it */
        if (top && !s->any.all) rejects_null(p, s->args[0], false, out);
        return;
    case SCALAR_IS_BOOL:
        if (top && (s->test == IS_TRUE || s->test == IS_FALSE)) rejects_null(p, s->args[0], false, out);
        return;
    default:
        return;
    }
}

static bool node_has(const struct from_node *n, const struct relset *set)
{
    if (!n) return false;
    if (n->rel) return relset_has(set, n->rel->id);
    return node_has(n->left, set) || node_has(n->right, set);
}

static void reduce_outer(struct planner *p, struct from_node *n, const struct relset *rejected)
{
    if (!n || n->rel) return;
    if (n->join == PLAN_LEFT && node_has(n->right, rejected)) n->join = PLAN_INNER;
    else if (n->join == PLAN_RIGHT && node_has(n->left, rejected)) n->join = PLAN_INNER;
    else if (n->join == PLAN_FULL) {
        bool left = node_has(n->left, rejected), right = node_has(n->right, rejected);
        if (left && right) n->join = PLAN_INNER;
        else if (left) n->join = PLAN_LEFT;
        else if (right) n->join = PLAN_RIGHT;
    }
    struct relset inside = *rejected;
    if (n->join == PLAN_INNER) {         /* its ON throws rows away as well */
        inside = relset_new(p);
        for (uint32_t w = 0; w < inside.words && w < rejected->words; w++) inside.bits[w] = rejected->bits[w];
        for (uint32_t i = 0; i < n->on.count; i++) rejects_null(p, n->on.items[i], true, &inside);
    }
    struct relset none = relset_new(p);
    /* below the nullable side of an outer join WHERE says nothing (if it had, it wouldn't be outer any more); its ON does */
    if (n->join == PLAN_LEFT || n->join == PLAN_RIGHT) for (uint32_t i = 0; i < n->on.count; i++) rejects_null(p, n->on.items[i], true, &none);
    if (n->join == PLAN_FULL) return;
    reduce_outer(p, n->left, n->join == PLAN_RIGHT ? &none : &inside);
    reduce_outer(p, n->right, n->join == PLAN_LEFT ? &none : &inside);
}

static bool has_outer(const struct from_node *n)
{
    if (!n || n->rel) return false;
    return n->join == PLAN_LEFT || n->join == PLAN_RIGHT || n->join == PLAN_FULL || has_outer(n->left) || has_outer(n->right);
}

/* ---- 4: subqueries in WHERE ---- */

static enum status add_semi(struct planner *p, struct query *q, enum plan_join join, struct from_node *right, struct scalars on)
{
    struct from_node *n = arena_new(p->arena, struct from_node);
    n->join = join;
    n->right = right;
    n->on = on;
    struct from_node **items = arena_array(p->arena, struct from_node *, q->from.count + 1);
    memcpy(items, q->from.items, sizeof *items * q->from.count);
    items[q->from.count++] = n;
    q->from.items = items;
    q->from.capacity = q->from.count;
    return STATUS_OK;
}

static struct rel *subquery_rel(struct planner *p, struct query *q, struct query *sub, const char *name)
{
    struct rel *r = planner_rel(p, REL_SUBQUERY, name, sub->visible_count, q->level);
    r->query = sub;
    for (int i = 0; i < sub->visible_count; i++) {
        r->names[i] = sub->names[i];
        r->types[i] = sub->targets[i]->type;
    }
    query_add_rel(p, q, r);
    return r;
}

static struct from_node *rel_node(struct planner *p, struct rel *r)
{
    struct from_node *n = arena_new(p->arena, struct from_node);
    n->rel = r;
    return n;
}

static bool mentions_own(struct planner *p, const struct query *q, const struct scalar *s)
{
    struct relset set = relset_new(p);
    relset_of(s, &set);
    for (int i = 0; i < q->rel_count; i++)
        if (relset_has(&set, q->rels[i]->id)) return true;
    return false;
}

/* A plain subquery's FROM joins the outer query's; conditions that mention the outer query become the join's. */
static enum status merge_plain(struct planner *p, struct query *q, struct query *sub, enum plan_join join, struct scalars on, bool need_correlated, bool *done)
{
    *done = false;
    if (q->rel_count + sub->rel_count > RELS_TOGETHER) return STATUS_OK;
    struct relset defined = relset_new(p);
    defined_in(p, sub, &defined);
    for (uint32_t i = 0; i < sub->from.count; i++)
        if (node_is_free(&defined, sub->from.items[i])) return STATUS_OK;
    struct scalars local = { 0 };
    bool correlated = false;
    for (uint32_t i = 0; i < sub->where.count; i++) {
        struct scalar *s = sub->where.items[i];
        if (scalar_has_volatile(s)) return STATUS_OK;
        if (scalar_is_free(&defined, s)) {
            if (!mentions_own(p, q, s)) return STATUS_OK;      /* only of queries further out */
            correlated = true;
            scalars_add(p->arena, &on, s);
        } else
            scalars_add(p->arena, &local, s);
    }
    if (need_correlated && !correlated) return STATUS_OK;
    struct from_node *right = chain_of(p, sub);
    struct scalars *into = right->rel || right->join != PLAN_INNER ? &on : &right->on;
    for (uint32_t i = 0; i < local.count; i++) scalars_add(p->arena, into, local.items[i]);
    take_rels(p, q, sub, NULL);
    *done = true;
    return add_semi(p, q, join, right, on);
}

static enum status unnest_exists(struct planner *p, struct query *q, struct scalar *s, bool negated, bool *done)
{
    struct query *sub = s->subquery.query;
    *done = false;
    TRY(rewrite_query(p, sub));
    bool has_limit = sub->limit && sub->limit->kind == SCALAR_CONST && !sub->limit->constant.null && sub->limit->constant.i8 > 0 && !sub->offset;
    struct scalar *limit = sub->limit;
    if (has_limit) sub->limit = NULL;
    bool plain = is_plain_select(sub) && sub->from.count > 0;
    sub->limit = limit;
    if (!plain) return STATUS_OK;
    struct scalars on = { 0 };
    return merge_plain(p, q, sub, negated ? PLAN_ANTI : PLAN_SEMI, on, true, done);
}

static enum status unnest_in(struct planner *p, struct query *q, struct scalar *s, bool negated, bool *done)
{
    struct query *sub = s->subquery.query;
    *done = false;
    for (int i = 0; i < s->arg_count; i++)
        if (scalar_has_volatile(s->args[i]) || scalar_has_subquery(s->args[i])) return STATUS_OK;
    bool own = false;
    for (int i = 0; i < s->arg_count; i++) own |= mentions_own(p, q, s->args[i]);
    if (!own) return STATUS_OK;
    if (!s->operator || strcmp(s->operator->name, "=") != 0) return STATUS_OK;
    if (query_walk(sub, visit_volatile_call, NULL)) return STATUS_OK;
    TRY(rewrite_query(p, sub));
    if (negated) {
        if (s->arg_count != 1 || query_is_free(p, sub) || !type_hashable(s->args[0]->type.oid)) return STATUS_OK;
    } else if (is_plain_select(sub) && sub->from.count > 0 && !sub->distinct_on_count) {
        struct scalars on = { 0 };
        struct relset defined = relset_new(p);
        defined_in(p, sub, &defined);
        bool ok = true;
        for (int i = 0; i < s->arg_count && ok; i++) ok = !scalar_has_subquery(sub->targets[i]) && !scalar_is_free(&defined, sub->targets[i]);
        for (int i = 0; i < s->arg_count && ok; i++) {
            struct scalar *equal;
            TRY(make_operator(p, NULL, "=", s->args[i], sub->targets[i], s->position, &equal));
            scalars_add(p->arena, &on, equal);
        }
        if (ok) TRY(merge_plain(p, q, sub, PLAN_SEMI, on, false, done));
        if (*done) return STATUS_OK;
    }
    if (query_is_free(p, sub) || q->rel_count >= RELS_TOGETHER) return STATUS_OK;
    struct rel *r = subquery_rel(p, q, sub, negated ? "NOT IN" : "ANY_subquery");
    struct scalars on = { 0 };
    for (int i = 0; i < s->arg_count; i++) {
        struct scalar *equal;
        TRY(make_operator(p, NULL, "=", s->args[i], scalar_var(p->arena, r, (uint16_t)i, s->position), s->position, &equal));
        scalars_add(p->arena, &on, equal);
    }
    *done = true;
    return add_semi(p, q, !negated ? PLAN_SEMI : PLANT(NOT_IN_AS_ANTI) ? PLAN_ANTI : PLAN_ANTI_NULL, rel_node(p, r), on);
}

/* Is the value null whenever the aggregates in it are (over no rows)? count() isn't null over no rows. */
static bool null_over_nothing(const struct query *sub, const struct scalar *s)
{
    if (s->kind == SCALAR_VAR && sub->group_rel && s->var.rel == sub->group_rel->id) {
        int i = s->var.column - sub->group_count;
        return i >= 0 && i < sub->aggregate_count && strcmp(sub->aggregates[i]->aggregate->function->name, "count") != 0 &&
               strncmp(sub->aggregates[i]->aggregate->function->name, "regr_count", 10) != 0;
    }
    if (s->kind != SCALAR_CALL || !s->call.function->strict) return false;
    for (int i = 0; i < s->arg_count; i++)
        if (null_over_nothing(sub, s->args[i])) return true;
    return false;
}

static bool indexed_by(const struct rel *r, const struct scalar *s)
{
    if (r->kind != REL_TABLE || s->kind != SCALAR_VAR || s->var.rel != r->id) return false;
    for (int i = 0; i < r->table->index_count; i++)
        if (r->table->indexes[i].valid && !r->table->indexes[i].predicate && r->table->indexes[i].columns[0].column == s->var.column + 1) return true;
    return false;
}

static bool node_never_fails(const struct from_node *n)
{
    if (!n) return true;
    for (uint32_t i = 0; i < n->on.count; i++)
        if (!scalar_never_fails(n->on.items[i])) return false;
    return node_never_fails(n->left) && node_never_fails(n->right);
}

/* Grouped, it computes groups that nobody asks for: none of them may raise an error. */
static bool groups_never_fail(const struct query *sub)
{
    for (int i = 0; i < sub->rel_count; i++)
        if (sub->rels[i]->kind != REL_TABLE) return false;
    for (uint32_t i = 0; i < sub->from.count; i++)
        if (!node_never_fails(sub->from.items[i])) return false;
    for (uint32_t i = 0; i < sub->where.count; i++)
        if (!scalar_never_fails(sub->where.items[i])) return false;
    for (int i = 0; i < sub->aggregate_count; i++)
        if (!aggregate_never_fails(sub->aggregates[i])) return false;
    return true;
}

/* x op (SELECT agg … WHERE inner = outer AND …): the subquery grouped by `inner`, joined on inner = outer. What is computed of the aggregates
 * is computed above the join, for the groups that are asked for. */
static enum status unnest_aggregate(struct planner *p, struct query *q, struct scalar *s, struct scalar **value, bool *done)
{
    struct query *sub = s->subquery.query;
    *done = false;
    if (s->subquery.kind != SUBQUERY_SCALAR || q->rel_count >= RELS_TOGETHER) return STATUS_OK;
    TRY(rewrite_query(p, sub));
    if (sub->kind != STATEMENT_SELECT || sub->set || sub->row_count || !sub->grouped || sub->group_count || sub->set_count || sub->having.count || sub->window_count || sub->set_function_count ||
        sub->limit || sub->offset || sub->distinct || sub->from.count == 0 || sub->lock_count || sub->target_count != 1)
        return STATUS_OK;
    if (!null_over_nothing(sub, sub->targets[0]) || !groups_never_fail(sub)) return STATUS_OK;
    struct relset defined = relset_new(p);
    defined_in(p, sub, &defined);
    for (uint32_t i = 0; i < sub->from.count; i++)
        if (node_is_free(&defined, sub->from.items[i])) return STATUS_OK;
    for (int i = 0; i < sub->aggregate_count; i++) {
        for (int k = 0; k < sub->aggregates[i]->arg_count; k++)
            if (scalar_is_free(&defined, sub->aggregates[i]->args[k])) return STATUS_OK;
        if (scalar_is_free(&defined, sub->aggregates[i]->filter)) return STATUS_OK;
    }
    if (scalar_is_free(&defined, sub->targets[0])) return STATUS_OK;
    struct scalars local = { 0 }, inner = { 0 }, outer = { 0 };
    for (uint32_t i = 0; i < sub->where.count; i++) {
        struct scalar *c = sub->where.items[i];
        if (scalar_has_volatile(c)) return STATUS_OK;
        if (!scalar_is_free(&defined, c)) {
            scalars_add(p->arena, &local, c);
            continue;
        }
        if (c->kind != SCALAR_CALL || !c->operator || strcmp(c->operator->name, "=") != 0 || scalar_has_subquery(c)) return STATUS_OK;
        struct relset own = relset_new(p);
        for (int r = 0; r < sub->rel_count; r++) relset_add(&own, sub->rels[r]->id);
        int in = -1;
        for (int side = 0; side < 2; side++)
            if (!scalar_is_free(&own, c->args[side]) && mentions_own(p, sub, c->args[side]) && mentions_own(p, q, c->args[1 - side]) && !mentions_own(p, sub, c->args[1 - side])) in = side;
        if (in < 0 || !type_hashable(c->args[in]->type.oid) || !equals_one(c->args[in]->type.oid, c->args[1 - in]->type.oid)) return STATUS_OK;
        for (int r = 0; r < sub->rel_count; r++)
            if (indexed_by(sub->rels[r], c->args[in])) return STATUS_OK;   /* cheap for each row as it is */
        scalars_add(p->arena, &inner, c->args[in]);
        scalars_add(p->arena, &outer, c->args[1 - in]);
    }
    if (!inner.count) return STATUS_OK;
    /* group keys come before the aggregates */
    struct rel *groups = planner_rel(p, REL_MADE, "groups", (uint16_t)(inner.count + sub->aggregate_count), sub->level);
    struct scalar *target = sub->targets[0];
    const struct rel *aggregates = sub->group_rel;
    for (uint32_t i = 0; i < inner.count; i++) groups->types[i] = inner.items[i]->type;
    for (int i = 0; i < sub->aggregate_count; i++) groups->types[inner.count + (uint32_t)i] = sub->aggregates[i]->type;
    uint16_t n = groups->column_count;
    sub->targets = arena_array(p->arena, struct scalar *, n);
    sub->names = arena_array(p->arena, const char *, n);
    for (uint16_t i = 0; i < n; i++) {
        sub->targets[i] = scalar_var(p->arena, groups, i, 0);
        sub->names[i] = i < inner.count ? "key" : "value";
    }
    sub->origin_tables = NULL;
    sub->target_count = sub->visible_count = n;
    sub->order_count = 0;
    sub->groups = inner.items;
    sub->group_count = (uint16_t)inner.count;
    sub->group_rel = groups;
    groups->query = sub;
    sub->where = local;
    struct rel *r = subquery_rel(p, q, sub, "subquery");
    struct from_node **items = arena_array(p->arena, struct from_node *, q->from.count + 1);
    items[0] = rel_node(p, r);           /* before any semi join */
    memcpy(items + 1, q->from.items, sizeof *items * q->from.count);
    struct from_node *first = items[0];  /* but keep the order of the others */
    items[0] = items[1];
    items[1] = first;
    q->from.items = items;
    q->from.count++;
    q->from.capacity = q->from.count;
    for (uint32_t i = 0; i < inner.count; i++) {
        struct scalar *equal;
        TRY(make_operator(p, NULL, "=", outer.items[i], scalar_var(p->arena, r, (uint16_t)i, 0), s->position, &equal));
        scalars_add(p->arena, &q->where, equal);
    }
    struct scalar **values = arena_array(p->arena, struct scalar *, sub->aggregate_count);
    for (int i = 0; i < sub->aggregate_count; i++) values[i] = scalar_var(p->arena, r, (uint16_t)(inner.count + (uint32_t)i), s->position);
    struct replacing rep = { p, aggregates->id, values };
    *value = scalar_map(p->arena, target, swap_targets, &rep);
    if ((*value)->type.oid != s->type.oid) *value = scalar_relabel(p->arena, *value, s->type);
    *done = true;
    return STATUS_OK;
}

/* column op (SELECT …), uncorrelated, where the column has an index: the value becomes a relation of one row, so that a nested
 * loop can look it up. The subquery stays one in an expression (more than one row is still an error, none is null). */
static enum status scalar_as_rel(struct planner *p, struct query *q, const struct scalar *column, struct scalar *sub, struct scalar **value, bool *done)
{
    *done = false;
    if (sub->subquery.kind != SUBQUERY_SCALAR || column->kind != SCALAR_VAR || q->rel_count >= RELS_TOGETHER) return STATUS_OK;
    bool indexed = false;
    for (int i = 0; i < q->rel_count && !indexed; i++) indexed = indexed_by(q->rels[i], column);
    for (uint32_t i = 0; i < q->from.count && indexed; i++) indexed = q->from.items[i]->rel || q->from.items[i]->join == PLAN_INNER;
    if (!indexed || query_is_free(p, sub->subquery.query) || query_walk(sub->subquery.query, visit_volatile_call, NULL)) return STATUS_OK;
    struct query *one = query_new(p, STATEMENT_SELECT, (uint16_t)(q->level + 1));
    one->targets = arena_array(p->arena, struct scalar *, 1);
    one->names = arena_array(p->arena, const char *, 1);
    one->targets[0] = sub;
    one->names[0] = "value";
    one->target_count = one->visible_count = 1;
    struct rel *r = subquery_rel(p, q, one, "subquery");
    struct from_node **items = arena_array(p->arena, struct from_node *, q->from.count + 1);
    items[0] = rel_node(p, r);
    memcpy(items + 1, q->from.items, sizeof *items * q->from.count);
    q->from.items = items;
    q->from.count++;
    q->from.capacity = q->from.count;
    *value = scalar_var(p->arena, r, 0, sub->position);
    (*value)->type = sub->type;
    *done = true;
    return STATUS_OK;
}

static enum status unnest_where(struct planner *p, struct query *q)
{
    uint32_t count = q->where.count;
    struct scalar **items = arena_array(p->arena, struct scalar *, count ? count : 1);
    memcpy(items, q->where.items, sizeof *items * count);
    q->where = (struct scalars){ 0 };
    for (uint32_t i = 0; i < count; i++) {
        struct scalar *s = items[i];
        bool negated = false, done = false;
        struct scalar *inner = s;
        while (inner->kind == SCALAR_NOT) { inner = inner->args[0]; negated = !negated; }
        if (inner->kind == SCALAR_SUBQUERY && inner->subquery.query && q->from.count) {
            if (inner->subquery.negated) negated = !negated;
            if (inner->subquery.kind == SUBQUERY_EXISTS) TRY(unnest_exists(p, q, inner, negated, &done));
            else if (inner->subquery.kind == SUBQUERY_ANY) TRY(unnest_in(p, q, inner, negated, &done));
        } else if (s->kind == SCALAR_CALL && s->operator && s->arg_count == 2 && s->call.function->strict && q->from.count) {
            for (int side = 0; side < 2 && !done; side++) {
                struct scalar *value = NULL, *arg = s->args[side];
                if (arg->kind == SCALAR_CALL && arg->form == CALL_CAST_IMPLICIT && arg->arg_count == 1 && arg->call.function->strict) arg = arg->args[0];
                if (arg->kind != SCALAR_SUBQUERY || !arg->subquery.query) continue;
                TRY(unnest_aggregate(p, q, arg, &value, &done));
                if (done) *arg = *value;   /* wherever else it stands: x BETWEEN a AND b has it twice, and the subquery isn't what it was */
                if (!done && s->args[side] == arg) TRY(scalar_as_rel(p, q, s->args[1 - side], arg, &value, &done));
                if (!done) continue;
                struct scalar *copy = scalar_copy(p->arena, s);
                copy->args = arena_copy(p->arena, s->args, sizeof *s->args * 2);
                if (copy->args[side] == arg) copy->args[side] = value;
                else {
                    struct scalar *cast = scalar_copy(p->arena, copy->args[side]);
                    cast->args = arena_copy(p->arena, cast->args, sizeof *cast->args);
                    cast->args[0] = value;
                    copy->args[side] = cast;
                }
                scalars_add(p->arena, &q->where, copy);
            }
        }
        if (!done) scalars_add(p->arena, &q->where, s);
    }
    return STATUS_OK;
}

/* ---- 5: conditions into subqueries ---- */

static struct rel *only_rel(struct planner *p, const struct query *q, const struct scalar *s)
{
    struct relset set = relset_new(p);
    relset_of(s, &set);
    struct rel *one = NULL;
    for (int i = 0; i < q->rel_count; i++) {
        if (!relset_has(&set, q->rels[i]->id)) continue;
        if (one) return NULL;
        one = q->rels[i];
    }
    return one;
}

static bool is_nullable(const struct from_node *n, const struct rel *r, bool nullable)
{
    if (!n) return false;
    if (n->rel) return n->rel == r && nullable;
    bool left = nullable || n->join == PLAN_RIGHT || n->join == PLAN_FULL, right = nullable || (n->join != PLAN_INNER && n->join != PLAN_RIGHT);
    return is_nullable(n->left, r, left) || is_nullable(n->right, r, right);
}

/* Does a condition hang on partition keys alone, of every window? Then it takes or leaves whole partitions. */
static bool is_of_partitions(struct planner *p, const struct query *sub, const struct rel *r, const struct scalar *s)
{
    struct scalars vars = { 0 };
    collect_vars(p, s, r->id, &vars);
    for (uint32_t i = 0; i < vars.count; i++) {
        const struct scalar *t = sub->targets[vars.items[i]->var.column];
        if (scalar_is_larger(t, COMPOSED_MAX) || scalar_has_volatile(t) || scalar_has_subquery(t)) return false;
        for (int w = 0; w < sub->window_spec_count; w++) {
            const struct window_spec *spec = sub->window_specs[w];
            bool key = false;
            for (int k = 0; k < spec->partition_count && !key; k++) key = scalar_equal(spec->partition[k], t);
            if (!key) return false;
        }
    }
    return vars.count > 0;
}

static bool can_push(struct planner *p, const struct query *sub, const struct rel *r, const struct scalar *s)
{
    if (sub->limit || sub->offset || sub->set_function_count || sub->lock_count || sub->distinct_on_count || sub->kind != STATEMENT_SELECT) return false;
    if (sub->window_count) return !sub->grouped && sub->set == SET_NONE && is_of_partitions(p, sub, r, s);
    if (sub->set != SET_NONE) {
        /* the columns are the sides' columns by number */
        struct scalars vars = { 0 };
        collect_vars(p, s, r->id, &vars);
        for (uint32_t i = 0; i < vars.count; i++) {
            uint16_t column = vars.items[i]->var.column;
            const struct scalar *t = sub->targets[column];
            if (t->kind != SCALAR_VAR || t->var.rel != sub->set_op_rel->id) return false;
            if (scalar_is_larger(sub->left->targets[column], COMPOSED_MAX) || scalar_is_larger(sub->right->targets[column], COMPOSED_MAX)) return false;
        }
        return true;
    }
    if (sub->row_count) return false;
    struct scalars vars = { 0 };
    collect_vars(p, s, r->id, &vars);
    for (uint32_t i = 0; i < vars.count; i++) {
        const struct scalar *t = sub->targets[vars.items[i]->var.column];
        if (scalar_is_larger(t, COMPOSED_MAX) || scalar_has_volatile(t) || scalar_has_subquery(t)) return false;
        if (sub->grouped) {              /* group keys only */
            if (sub->set_count) return false;
            struct scalars above = { 0 };
            collect_vars(p, t, sub->group_rel->id, &above);
            if (!above.count) return false;
            for (uint32_t k = 0; k < above.count; k++) {
                uint16_t key = above.items[k]->var.column;
                if (key >= sub->group_count || scalar_is_larger(sub->groups[key], COMPOSED_MAX) || scalar_has_volatile(sub->groups[key])) return false;
            }
        }
    }
    return !sub->grouped || sub->group_count;
}

static void push_side(struct planner *p, struct query *side, struct scalar *s, uint16_t rel)
{
    if (side->set != SET_NONE || side->grouped || side->row_count || side->limit || side->offset || side->window_count || side->set_function_count || side->distinct_on_count || side->lock_count) {
        /* a query around it takes the condition */
        struct query *inner = arena_copy(p->arena, side, sizeof *side);
        *side = *query_wrap(p, inner, "inner");
    }
    struct replacing rep = { p, rel, side->targets };
    conjuncts_add(p->arena, &side->where, scalar_map(p->arena, s, swap_targets, &rep));
    side->rewritten = false;
}

static void push_into(struct planner *p, struct query *sub, const struct rel *r, struct scalar *s)
{
    if (sub->set != SET_NONE) {
        push_side(p, sub->left, s, r->id);
        push_side(p, sub->right, s, r->id);
        return;
    }
    struct replacing rep = { p, r->id, sub->targets };
    struct scalar *below = scalar_map(p->arena, s, swap_targets, &rep);
    if (sub->grouped) {
        struct replacing keys = { p, sub->group_rel->id, sub->groups };
        below = scalar_map(p->arena, below, swap_targets, &keys);
    }
    conjuncts_add(p->arena, &sub->where, below);
    sub->rewritten = false;
}

static enum status push_conditions(struct planner *p, struct query *q)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < q->where.count; i++) {
        struct scalar *s = q->where.items[i];
        struct rel *r = only_rel(p, q, s);
        bool push = r && r->kind == REL_SUBQUERY && !scalar_has_subquery(s) && !scalar_has_volatile(s) && can_push(p, r->query, r, s);
        for (uint32_t k = 0; push && k < q->from.count; k++) push = !is_nullable(q->from.items[k], r, false);
        if (push) push_into(p, r->query, r, s);
        else q->where.items[kept++] = s;
    }
    q->where.count = kept;
    return STATUS_OK;
}

enum status rewrite_query(struct planner *p, struct query *q)
{
    if (q->rewritten) return STATUS_OK;
    if (stack_is_deep()) return stack_too_deep();
    q->rewritten = true;
    if (q->set != SET_NONE || q->row_count || q->kind == STATEMENT_INSERT) return STATUS_OK;
    inline_ctes(q);
    factor_conditions(p, &q->where);
    for (uint32_t i = 0; i < q->from.count; i++) factor_node(p, q->from.items[i]);
    bool subqueries = false;
    for (int i = 0; i < q->rel_count; i++) subqueries |= q->rels[i]->kind == REL_SUBQUERY;
    if (subqueries && !q->lock_count) TRY(pull_subqueries(p, q));
    bool outer = false;
    for (uint32_t i = 0; i < q->from.count; i++) outer |= has_outer(q->from.items[i]);
    if (outer) {
        struct relset rejected = relset_new(p);
        for (uint32_t i = 0; i < q->where.count; i++) rejects_null(p, q->where.items[i], true, &rejected);
        for (uint32_t i = 0; i < q->from.count; i++) reduce_outer(p, q->from.items[i], &rejected);
    }
    bool sublinks = false;
    for (uint32_t i = 0; i < q->where.count && !sublinks; i++) sublinks = scalar_has_subquery(q->where.items[i]);
    if (sublinks && q->kind == STATEMENT_SELECT && !q->lock_count) TRY(unnest_where(p, q));
    for (int i = 0; i < q->rel_count; i++) subqueries |= q->rels[i]->kind == REL_SUBQUERY;
    if (subqueries && !q->lock_count) TRY(push_conditions(p, q));
    return STATUS_OK;
}
