/* engine/exec/plan_walk.c - questions about a plan that need a look at all its expressions: does it hang on rows from outside,
 * does it give something else each time it runs, what does a join keep of its right side? */
#include "engine/exec/operator.h"

struct walk {
    uint8_t *read, *set;                 /* by outer slot */
    bool is_volatile;                    /* holds a volatile function, or: */
    bool changes;                        /* writes or locks, or reads rows that change while the query runs */
};

static void walk_plan(struct walk *, const struct plan *);

static void walk_scalar(struct walk *w, const struct scalar *s)
{
    if (!s)
        return;
    for (int32_t i = 0; i < s->arg_count; i++)
        walk_scalar(w, s->args[i]);
    switch (s->kind) {
    case SCALAR_OUTER:
        if (w->read)
            w->read[s->parameter] = 1;
        break;
    case SCALAR_CALL:
        if (s->call.function && s->call.function->volatility == VOLATILE)
            w->is_volatile = true;
        break;
    case SCALAR_SUBQUERY:
        for (uint16_t i = 0; i < s->subquery.outer_count; i++) {
            walk_scalar(w, s->subquery.outer_values[i]);
            if (w->set)
                w->set[s->subquery.outer_slots[i]] = 1;
        }
        walk_plan(w, s->subquery.plan);
        break;
    default:
        break;
    }
}

static void walk_scalars(struct walk *w, struct scalar *const *s, uint32_t count)
{
    if (s)
        for (uint32_t i = 0; i < count; i++)
            walk_scalar(w, s[i]);
}

static void walk_bound(struct walk *w, const struct index_bound *b)
{
    walk_scalars(w, b->equal, b->equal_count);
    walk_scalar(w, b->low);
    walk_scalar(w, b->high);
    walk_scalar(w, b->any_array);
}

static void walk_bitmap(struct walk *w, const struct bitmap *b)
{
    if (!b)
        return;
    walk_bound(w, &b->bound);
    for (uint16_t i = 0; i < b->count; i++)
        walk_bitmap(w, b->parts[i]);
}

static void walk_plan(struct walk *w, const struct plan *p)
{
    if (!p)
        return;
    walk_plan(w, p->left);
    walk_plan(w, p->right);
    for (uint16_t i = 0; i < p->child_count; i++)
        walk_plan(w, p->children[i]);
    if (p->kind == PLAN_MODIFY || p->kind == PLAN_LOCK_ROWS || (p->kind == PLAN_CTE_SCAN && p->working_table))
        w->is_volatile = w->changes = true;
    walk_scalar(w, p->filter);
    if (p->kind == PLAN_PROJECT || p->kind == PLAN_RESULT || p->kind == PLAN_PROJECT_SET)
        walk_scalars(w, p->exprs, p->column_count);
    for (uint32_t r = 0; r < p->row_count && p->rows_exprs; r++)
        walk_scalars(w, p->rows_exprs[r], p->column_count);
    walk_bound(w, &p->bound);
    walk_bitmap(w, p->bitmap);
    walk_scalars(w, p->set_args, p->set_arg_count);
    walk_scalars(w, p->left_keys, p->key_count);
    walk_scalars(w, p->right_keys, p->key_count);
    for (uint16_t i = 0; i < p->outer_count; i++) {
        walk_scalar(w, p->outer_values[i]);
        if (w->set)
            w->set[p->outer_slots[i]] = 1;
    }
    walk_scalars(w, p->groups, p->group_count);
    for (uint16_t i = 0; i < p->aggregate_count; i++) {
        walk_scalars(w, p->aggregates[i].args, p->aggregates[i].arg_count);
        walk_scalar(w, p->aggregates[i].filter);
    }
    for (uint16_t i = 0; i < p->window_count; i++) {
        const struct window_item *item = &p->windows[i];
        walk_scalars(w, item->args, item->arg_count);
        walk_scalar(w, item->filter);
        walk_scalar(w, item->start_offset);
        walk_scalar(w, item->end_offset);
    }
    walk_scalar(w, p->limit);
    walk_scalar(w, p->offset);
    if (p->set_function && p->set_function->volatility == VOLATILE)
        w->is_volatile = true;
}

void plan_outer_slots(const struct run *run, const struct plan *plan, uint8_t *read)
{
    uint16_t slots = run->plan->outer_slot_count;
    uint8_t set[slots + 1];
    memset(read, 0, slots);
    memset(set, 0, slots);
    struct walk w = { .read = read, .set = set };
    walk_plan(&w, plan);
    for (uint16_t i = 0; i < slots; i++)
        read[i] = read[i] && !set[i];
}

bool plan_reads_outer(const struct run *run, const struct plan *plan)
{
    uint16_t slots = run->plan ? run->plan->outer_slot_count : 0;
    if (slots == 0)
        return false;
    uint8_t read[slots];
    plan_outer_slots(run, plan, read);
    for (uint16_t i = 0; i < slots; i++)
        if (read[i])
            return true;
    return false;
}

bool plan_is_volatile(const struct plan *plan)
{
    struct walk w = {0};
    walk_plan(&w, plan);
    return w.is_volatile;
}

bool plan_changes(const struct plan *plan)
{
    struct walk w = {0};
    walk_plan(&w, plan);
    return w.changes;
}

bool scalar_is_once(const struct scalar *s)
{
    if (s->kind == SCALAR_COLUMN || (s->kind == SCALAR_CALL && s->call.function && s->call.function->volatility == VOLATILE))
        return false;
    for (int32_t i = 0; i < s->arg_count; i++)
        if (s->args[i] && !scalar_is_once(s->args[i]))
            return false;
    for (uint16_t i = 0; s->kind == SCALAR_SUBQUERY && i < s->subquery.outer_count; i++)
        if (!scalar_is_once(s->subquery.outer_values[i]))
            return false;
    return true;
}

uint16_t join_kept_columns(const struct plan *join, const bool *reads, bool keys, uint16_t *place, struct sql_type *types)
{
    uint16_t left = join->left->column_count, right = join->right->column_count, kept = 0;
    for (uint16_t c = 0; c < right; c++)
        place[c] = reads[left + c] ? 0 : NOT_KEPT;
    for (uint16_t c = 0; c < join->column_count; c++)
        if (join->outputs[c] >= left)
            place[join->outputs[c] - left] = 0;
    for (uint16_t k = 0; keys && k < join->key_count; k++)
        if (join->right_keys[k]->kind == SCALAR_COLUMN)
            place[join->right_keys[k]->column] = 0;
    for (uint16_t c = 0; c < right; c++)
        if (place[c] != NOT_KEPT) {
            place[c] = kept;
            types[kept++] = join->right->types[c];
        }
    return kept;
}
