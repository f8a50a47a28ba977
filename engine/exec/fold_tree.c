/* engine/exec/fold_tree.c - the fixed binary tree over grain numbers, along which float states are combined.
 *
 * Leaf g is grain g; node (level, index) stands over grains index * 2^level .. (index + 1) * 2^level - 1. A node's state is
 * its left child's with its right child's combined into it; a child without rows isn't there, and the node is the other
 * child. So the result hangs on the rows and their grains only. Grains come rising: what is on the stack are exactly the left
 * siblings on the path down to the latest leaf, the largest lowest. A worker sees whole aligned runs of 2^morsel_level grains,
 * and builds no higher than that; the leader puts the runs together by the same rule. */
#include "engine/exec/aggregate.h"

/* The node on top becomes its parent, together with its left sibling when that is there. */
static enum status fold_up(const struct folder *f, struct fold **stack, struct arena *arena)
{
    struct fold *top = *stack, *left = top->below;
    if (left && left->level == top->level && left->index == (top->index ^ 1)) {
        for (uint16_t a = 0; a < f->count; a++) {
            enum status status = f->aggregates[a]->combine(left->states + f->offsets[a], top->states + f->offsets[a], arena);
            if (status)
                return status;
        }
        *stack = top = left;
    }
    top->level++;
    top->index >>= 1;
    return STATUS_OK;
}

enum status fold_push(const struct folder *f, struct fold **stack, uint8_t level, uint64_t index, const uint8_t *states, struct arena *arena)
{
    while (*stack && (*stack)->level < f->morsel_level && (*stack)->index >> 1 != index >> ((*stack)->level + 1 - level)) {
        enum status status = fold_up(f, stack, arena);
        if (status)
            return status;
    }
    struct fold *leaf = arena_alloc(arena, sizeof *leaf + f->bytes);
    *leaf = (struct fold){ .below = *stack, .index = index, .level = level };
    memcpy(leaf->states, states, f->bytes);
    *stack = leaf;
    return STATUS_OK;
}

enum status fold_close(const struct folder *f, struct fold **stack, struct arena *arena)
{
    while (*stack && (*stack)->level < f->morsel_level && (f->morsel_level < 63 || (*stack)->below)) {
        enum status status = fold_up(f, stack, arena);
        if (status)
            return status;
    }
    return STATUS_OK;
}
