/* engine/types/processor.h - what this processor can do better than any.
 *
 * Some kernels and searches exist twice: in plain C, and for processors with AVX2. Their answers are the same. Which of them run
 * is found out before main; CRABTREE_PLAIN=1 in the environment, or kernels_plain in a test, leaves the plain ones.
 * Tests: tests/engine/types_kernels_test.c */
#ifndef ENGINE_TYPES_PROCESSOR_H
#define ENGINE_TYPES_PROCESSOR_H

#include <stdatomic.h>
#include "engine/types/function.h"

extern _Atomic bool kernels_plain;
static inline bool processor_wide(void) { return !atomic_load_explicit(&kernels_plain, memory_order_relaxed); }
/* The kernel that runs in the place of `plain`. */
kernel_fn kernel_choose(kernel_fn plain);
/* All that exist twice. */
struct kernel_pair { kernel_fn plain, wide; };
const struct kernel_pair *kernel_pairs(size_t *count);

#endif
