/* engine/types/kernels_avx2.c - the same kernels for processors with AVX2, and the choice between the two.
 *
 * The choice is made when a program is compiled (kernel_choose), so a call costs nothing more. */
#include "engine/types/kernel.h"
#include "engine/types/processor.h"

#include <math.h>
#include <stdlib.h>

_Atomic bool kernels_plain = true;

#if defined(__x86_64__)

static void __attribute__((constructor)) look_at_processor(void)
{
    __builtin_cpu_init();
    const char *plain = getenv("CRABTREE_PLAIN");
    if (__builtin_cpu_supports("avx2") && !(plain && *plain == '1'))
        atomic_store_explicit(&kernels_plain, false, memory_order_relaxed);
}

KERNELS_FAST
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define KERNEL(name) k_##name##_avx2
#include "engine/types/kernels_fixed.h"
#define DECLARE(NAME, ...) enum status k_##NAME(struct kernel_call *); enum status k_##NAME##_avx2(struct kernel_call *);
FIXED_KERNELS(DECLARE, DECLARE, DECLARE, DECLARE, DECLARE, DECLARE, DECLARE)
FIXED_KERNELS(ADDITIVE, MULTIPLY, DIVIDE, MODULO, FLOAT_ADDITIVE, FLOAT_MULTIPLY, COMPARE)

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define PAIR(NAME, ...) {k_##NAME, k_##NAME##_avx2},
static const struct kernel_pair pairs[] = {FIXED_KERNELS(PAIR, PAIR, PAIR, PAIR, PAIR, PAIR, PAIR)};

const struct kernel_pair *kernel_pairs(size_t *count)
{
    *count = sizeof pairs / sizeof pairs[0];
    return pairs;
}

#else

const struct kernel_pair *kernel_pairs(size_t *count)
{
    *count = 0;
    return NULL;
}

#endif

kernel_fn kernel_choose(kernel_fn plain)
{
    size_t count;
    const struct kernel_pair *pair = kernel_pairs(&count);
    for (size_t i = 0; i < count && processor_wide(); i++)
        if (pair[i].plain == plain)
            return pair[i].wide;
    return plain;
}
