/* engine/plan/equivalence.c - what follows from equalities.
 *
 * a.x = b.y AND b.y = c.z says a.x = c.z too: so a may be joined with c first. Columns that inner joins make equal form a class; a
 * join of two sets judges one equality for each class that has members in both, and no other of it, so nothing is judged (or
 * counted in an estimate) twice. With a constant in a class each member is compared with that instead, and its joins
 * have nothing left to compare.
 *
 * Only columns of items that stand in inner joins take part: below an outer join that could make it null a column is equal
 * to nothing; a semi or anti join's right side is gone above it. Constants do go into such right sides, since there a row
 * without the value joins with none. Only equalities of one type with itself are transitive: two local times may be one instant. */
#include <string.h>

#include "engine/plan/joins.h"

/* ---- constants ---- */

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
void spread_constants(struct problem *b)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < b->conditions.count; i++) {
            struct judged *c = &b->conditions.items[i];
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
    for (uint32_t i = 0; i < b->conditions.count; i++) {
        struct judged *c = &b->conditions.items[i];
        bool said = false;
        if (c->equal && c->l->kind == SCALAR_VAR && c->r->kind == SCALAR_VAR && c->l->type.oid == c->r->type.oid) {
            struct item *l = &b->items[b->item_of[c->l->var.rel]], *r = &b->items[b->item_of[c->r->var.rel]];
            struct scalar *x = l->join == PLAN_INNER ? known_constant(l, c->l) : NULL, *y = r->join == PLAN_INNER ? known_constant(r, c->r) : NULL;
            said = x && y && scalar_equal(x, y) && equals_one(x->type.oid, c->l->type.oid);      /* else two values may equal it */
        }
        if (!said) b->conditions.items[kept++] = *c;
    }
    b->conditions.count = kept;
    for (uint32_t i = 0; i < b->count; i++) {    /* into the right sides of outer and semi joins as well; their ON stays */
        struct item *item = &b->items[i];
        if (item->join == PLAN_INNER || item->join == PLAN_ANTI_NULL) continue;
        for (uint32_t k = 0; k < item->on.count; k++) {
            const struct scalar *s = item->on.items[k].s;
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

/* ---- classes ---- */

/* A column, as it is or implicitly cast. */
static bool is_member(const struct problem *b, const struct scalar *s)
{
    const struct scalar *v = s->kind == SCALAR_CALL && s->form == CALL_CAST_IMPLICIT && s->arg_count == 1 && s->call.function->volatility == IMMUTABLE ? s->args[0] : s;
    if (v->kind != SCALAR_VAR || v->var.rel >= b->rel_span || b->item_of[v->var.rel] < 0) return false;
    return b->items[b->item_of[v->var.rel]].join == PLAN_INNER;
}

static bool makes_class(const struct problem *b, const struct judged *c)
{
    return c->equal && is_member(b, c->l) && is_member(b, c->r) && c->l->type.oid == c->r->type.oid;
}

static int class_with(const struct problem *b, const struct scalar *s)
{
    for (uint32_t i = 0; i < b->class_count; i++)
        for (uint32_t k = 0; k < b->classes[i].count; k++)
            if (scalar_equal(b->classes[i].members[k].s, s)) return (int)i;
    return -1;
}

static void member_add(struct problem *b, struct equivalence *e, struct scalar *s, int item)
{
    if (e->count == e->capacity) {
        uint32_t capacity = e->capacity ? e->capacity * 2 : 4;
        e->members = arena_grow(b->p->arena, e->members, e->capacity * sizeof *e->members, capacity * sizeof *e->members);
        e->capacity = capacity;
    }
    e->members[e->count++] = (struct member){ s, item };
    e->mask |= BIT(item);
}

static void class_take(struct problem *b, const struct judged *c)
{
    int l = class_with(b, c->l), r = class_with(b, c->r);
    if (l < 0 && r < 0) {
        l = r = (int)b->class_count;
        b->classes[b->class_count++] = (struct equivalence){ 0 };
        member_add(b, &b->classes[l], c->l, first_item(c->left));
        member_add(b, &b->classes[l], c->r, first_item(c->right));
    } else if (l < 0) {
        member_add(b, &b->classes[r], c->l, first_item(c->left));
    } else if (r < 0) {
        member_add(b, &b->classes[l], c->r, first_item(c->right));
    } else if (l != r) {                 /* two classes become one */
        struct equivalence *from = &b->classes[r];
        for (uint32_t i = 0; i < from->count; i++) member_add(b, &b->classes[l], from->members[i].s, from->members[i].item);
        *from = b->classes[--b->class_count];
    }
}

/* Two members of one item: it is filtered. */
static void filter_inside(struct problem *b, const struct equivalence *e)
{
    for (uint32_t i = 1; i < e->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            if (e->members[i].item != e->members[k].item) continue;
            struct scalar *s;
            if (make_operator(b->p, NULL, "=", e->members[k].s, e->members[i].s, 0, &s)) error_clear();
            else scalars_add(b->p->arena, &b->items[e->members[i].item].filters, s);
            break;
        }
}

void equivalences_make(struct problem *b)
{
    struct planner *p = b->p;
    struct judgeds sources = { 0 };
    uint32_t kept = 0;
    b->classes = arena_array(p->arena, struct equivalence, b->conditions.count ? b->conditions.count : 1);
    for (uint32_t i = 0; i < b->conditions.count; i++) {
        struct judged *c = &b->conditions.items[i];
        struct scalar *same;
        if (!makes_class(b, c)) {
            b->conditions.items[kept++] = *c;
            continue;
        }
        if (make_operator(p, NULL, "=", c->l, c->r, c->s->position, &same) || !is_equality(same) || !scalar_equal(same->args[0], c->l) || !scalar_equal(same->args[1], c->r)) {
            error_clear();               /* not to be made again from its sides: it stays a condition of its own */
            b->conditions.items[kept++] = *c;
            continue;
        }
        class_take(b, c);
        judged_add(b, &sources, c->s);
    }
    b->conditions.count = kept;
    for (uint32_t i = 0; i < b->class_count; i++) {
        struct equivalence *e = &b->classes[i];
        e->clauses = arena_array(p->arena, struct judged *, (size_t)e->count * e->count);
        for (uint32_t k = 0; k < sources.count; k++) {
            int x = -1, y = -1;
            for (uint32_t m = 0; m < e->count; m++) {
                if (scalar_equal(e->members[m].s, sources.items[k].l)) x = (int)m;
                if (scalar_equal(e->members[m].s, sources.items[k].r)) y = (int)m;
            }
            if (x < 0 || y < 0) continue;
            sources.items[k].class = (int)i;
            e->clauses[(uint32_t)x * e->count + (uint32_t)y] = e->clauses[(uint32_t)y * e->count + (uint32_t)x] = arena_copy(p->arena, &sources.items[k], sizeof sources.items[k]);
        }
        filter_inside(b, e);
    }
}

/* The class's equality of a member in l with one in r: one that the query has itself, if there is. */
static struct judged *class_clause(struct problem *b, struct equivalence *e, itemset l, itemset r)
{
    uint32_t x = 0, y = 0;
    bool found = false;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!(BIT(e->members[i].item) & l)) continue;
        for (uint32_t k = 0; k < e->count; k++) {
            if (!(BIT(e->members[k].item) & r)) continue;
            struct judged *c = e->clauses[i * e->count + k];
            if (c && c->s->position) return c;
            if (!found) {
                x = i;
                y = k;
                found = true;
            }
        }
    }
    if (!found) return NULL;
    struct judged **slot = &e->clauses[x * e->count + y];
    if (*slot) return *slot;
    struct scalar *s;
    if (make_operator(b->p, NULL, "=", e->members[x].s, e->members[y].s, 0, &s)) {
        error_clear();
        return NULL;
    }
    struct judged made = judged_of(b, s);
    made.class = (int)(e - b->classes);
    *slot = e->clauses[y * e->count + x] = arena_copy(b->p->arena, &made, sizeof made);
    return *slot;
}

/* ---- what a join judges ---- */

uint32_t crossing(struct problem *b, itemset l, itemset r, struct judged **list)
{
    itemset both = l | r;
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->conditions.count; i++) {
        struct judged *c = &b->conditions.items[i];
        if (c->mask & ~both) continue;
        if ((c->mask & ~l) && (c->mask & ~r)) {
            list[count++] = c;
            continue;
        }
        /* one item's condition that had to wait for its special join */
        if (!is_one(c->mask)) continue;
        int at = first_item(c->mask);
        if ((r == BIT(at) || l == BIT(at)) && b->items[at].join == PLAN_LEFT) list[count++] = c;
    }
    for (uint32_t i = 0; i < b->class_count; i++) {
        if (!(b->classes[i].mask & l) || !(b->classes[i].mask & r)) continue;
        struct judged *c = class_clause(b, &b->classes[i], l, r);
        if (c) list[count++] = c;
    }
    return count;
}

bool connected(const struct problem *b, itemset l, itemset r)
{
    for (uint32_t i = 0; i < b->class_count; i++)
        if ((b->classes[i].mask & l) && (b->classes[i].mask & r)) return true;
    for (uint32_t i = 0; i < b->conditions.count; i++)
        if ((b->conditions.items[i].mask & l) && (b->conditions.items[i].mask & r)) return true;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].join == PLAN_INNER && !b->items[i].lateral) continue;
        if ((r == BIT(i) && (b->items[i].needs & l)) || (l == BIT(i) && (b->items[i].needs & r))) return true;
    }
    return false;
}
