/* engine/exec/fold_tree.c - the fixed binary tree over grain numbers, along which float states are combined.
 *
 * Leaf g is grain g; node (level, index) stands over grains index * 2^level .. (index + 1) * 2^level - 1. A node's state is
 * its left child's with its right child's combined into it; a child without rows isn't there, and the node is the other
 * child. So the result hangs on the rows and their grains only. Grains come rising: what is on the stack are exactly the left
 * siblings on the path down to the latest leaf, the largest lowest. A worker sees runs of grains (f->grains is the one that comes now),
 * and builds no node that reaches beyond its run; the leader, to whom all grains come, puts together what the workers
 * built by the same rule. A run begins at a multiple of its length, so a node within it that grains have passed is whole. */
#include "base/plant.h"
#include "engine/exec/aggregate.h"

/* Would the node's parent stand over nothing but grains of the run? */
static bool parent_inside(const struct fold *fold, const struct grain_run *grains)
{
    uint64_t first = fold->index >> 1 << (fold->level + 1);
    return first >= grains->first && (grains->end == UINT64_MAX || first + (2ULL << fold->level) <= grains->end);
}

static enum status combine_all(const struct folder *f, struct fold *into, const uint8_t *states, struct arena *arena)
{
    enum status status = STATUS_OK;
    for (uint16_t a = 0; a < f->count && !status; a++)
        status = f->aggregates[a]->combine(into->states + f->offsets[a], states + f->offsets[a], arena);
    return status;
}

/* The node on top becomes its parent, together with its left sibling when that is there. */
static enum status fold_up(const struct folder *f, struct fold **stack, struct arena *arena)
{
    struct fold *top = *stack, *left = top->below;
    if (left && left->level == top->level && left->index == (top->index ^ 1)) {
        enum status status = combine_all(f, left, top->states, arena);
        if (status)
            return status;
        if (f->spare) {
            top->below = *f->spare;
            *f->spare = top;
        }
        *stack = top = left;
    }
    top->level++;
    top->index >>= 1;
    return STATUS_OK;
}

enum status fold_push(const struct folder *f, struct fold **stack, uint8_t level, uint64_t index, const uint8_t *states, struct arena *arena)
{
    uint64_t grain = index << level;
    if (PLANT(FOLDED_IN_TURN) && f->grains->end != UINT64_MAX && *stack && (*stack)->index << (*stack)->level >= f->grains->first)
        return combine_all(f, *stack, states, arena);
    while (*stack && (*stack)->index >> 1 != grain >> ((*stack)->level + 1) && parent_inside(*stack, f->grains)) {
        enum status status = fold_up(f, stack, arena);
        if (status)
            return status;
    }
    struct fold *leaf = f->spare ? *f->spare : NULL;
    if (leaf)
        *f->spare = leaf->below;
    else
        leaf = arena_alloc(arena, sizeof *leaf + f->bytes);
    *leaf = (struct fold){ .below = *stack, .index = index, .level = level };
    memcpy(leaf->states, states, f->bytes);
    *stack = leaf;
    return STATUS_OK;
}

enum status fold_close(const struct folder *f, struct fold **stack, struct arena *arena)
{
    bool all = f->grains->end == UINT64_MAX;
    while (*stack && (all ? (*stack)->below != NULL : parent_inside(*stack, f->grains))) {
        enum status status = fold_up(f, stack, arena);
        if (status)
            return status;
    }
    return STATUS_OK;
}
