/* engine/types/kernels_fixed.c - the kernels of kernels_fixed.h for any processor. */
#include "engine/types/kernel.h"

#include <math.h>

KERNELS_FAST

#define KERNEL(name) k_##name
#include "engine/types/kernels_fixed.h"

FIXED_KERNELS(ADDITIVE, MULTIPLY, DIVIDE, MODULO, FLOAT_ADDITIVE, FLOAT_MULTIPLY, COMPARE)
