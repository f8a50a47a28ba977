/* engine/exec/aggregate.h - one aggregate call, and its states in grain order; shared by aggregate.c and window.c. */
#ifndef ENGINE_EXEC_AGGREGATE_H
#define ENGINE_EXEC_AGGREGATE_H

#include "engine/exec/operator.h"

/* States of an aligned run of 2^level grains, already combined. A stack of them, the latest on top: see fold_tree.c. */
struct fold { struct fold *below; uint64_t index; uint8_t level; uint8_t states[] __attribute__((aligned(16))); };
struct folder {
    const struct aggregate *const *aggregates; const uint32_t *offsets; uint16_t count;   /* the ordered ones: where their states lie */
    uint32_t bytes;                      /* of all their states */
    const struct grain_run *grains;      /* what comes to the worker now: it folds within that, never across */
    struct fold **spare;                 /* nodes to use again; NULL: none are kept */
};
/* Adds the states of a run that stands after everything that was pushed before. */
enum status fold_push(const struct folder *, struct fold **stack, uint8_t level, uint64_t index, const uint8_t *states, struct arena *) MUST_CHECK;
/* No more grains of the run will come: what is on the stack of it is folded as far as the run reaches (ALL_GRAINS: into one). */
enum status fold_close(const struct folder *, struct fold **stack, struct arena *) MUST_CHECK;

#endif
