/* engine/types/kernel.h - the loops that kernels are made of; private to engine/types.
 *
 * Two kinds. KERNEL1 .. KERNEL4 make a kernel from a body for one row, for work that costs more than the loop around
 * it: they step over nulls, and the body may FAIL or give NULL. VECTOR_LOOP is for the hot, cheap kernels: the body is
 * laid out once for each shape of the call (all rows or a selection, a constant on either side or none), so that the
 * compiler makes straight vector code of it. Such a body runs over null rows too and must stand any bytes there. */
#ifndef ENGINE_TYPES_KERNEL_H
#define ENGINE_TYPES_KERNEL_H

#include <string.h>
#include "engine/types/function.h"
#include "engine/types/internal.h"

#if defined(__GNUC__) && !defined(__clang__)
#define KERNELS_FAST _Pragma("GCC optimize(\"O3\")")
#else
#define KERNELS_FAST
#endif

#define VECTOR_MASK(v) ((v)->constant ? (size_t)0 : ~(size_t)0)

/* Inside a body: i is the row. */
#define FAIL(status) do { *c->error_at = i; return (status); } while (0)
#define GIVE_NULL do { c->out->nulls[i] = 1; c->has_nulls = true; memset(&out_[i], 0, sizeof out_[i]); goto next_; } while (0)
#define CHECK_ROW(status_of) do { enum status s_ = (status_of); if (s_) FAIL(s_); } while (0)

#define KERNEL_BEGIN_(R) \
    R *out_ = c->out->values; \
    for (KERNEL_ROWS(c, i)) { \
        if (c->out->nulls[i]) \
            continue;
#define KERNEL_ARG_(T, name, n) const T name = ((const T *)c->args[n].values)[i & VECTOR_MASK(&c->args[n])];
#define KERNEL_END_ out_[i] = r; goto next_; next_: (void)0; } return STATUS_OK;

#define KERNEL0(NAME, R, ...) \
    enum status NAME(struct kernel_call *c) { KERNEL_BEGIN_(R) R r = {0}; __VA_ARGS__; KERNEL_END_ }
#define KERNEL1(NAME, A, R, ...) \
    enum status NAME(struct kernel_call *c) { KERNEL_BEGIN_(R) KERNEL_ARG_(A, a, 0) R r = {0}; __VA_ARGS__; KERNEL_END_ }
#define KERNEL2(NAME, A, B, R, ...) \
    enum status NAME(struct kernel_call *c) { KERNEL_BEGIN_(R) KERNEL_ARG_(A, a, 0) KERNEL_ARG_(B, b, 1) R r = {0}; __VA_ARGS__; KERNEL_END_ }
#define KERNEL3(NAME, A, B, D, R, ...) \
    enum status NAME(struct kernel_call *c) { KERNEL_BEGIN_(R) KERNEL_ARG_(A, a, 0) KERNEL_ARG_(B, b, 1) KERNEL_ARG_(D, d, 2) R r = {0}; __VA_ARGS__; KERNEL_END_ }
#define KERNEL4(NAME, A, B, D, E, R, ...) \
    enum status NAME(struct kernel_call *c) { KERNEL_BEGIN_(R) KERNEL_ARG_(A, a, 0) KERNEL_ARG_(B, b, 1) KERNEL_ARG_(D, d, 2) KERNEL_ARG_(E, e, 3) R r = {0}; __VA_ARGS__; KERNEL_END_ }

/* BODY reads `const A a; const B b;` and writes out_[i]. */
#define VECTOR_LOOP2(A, B, R, ...) do { \
    R *restrict out_ = c->out->values; \
    const A *restrict a_ = c->args[0].values; \
    const B *restrict b_ = c->args[1].values; \
    if (c->selection) { \
        const size_t ma_ = VECTOR_MASK(&c->args[0]), mb_ = VECTOR_MASK(&c->args[1]); \
        for (size_t n_ = 0; n_ < c->count; n_++) { \
            const size_t i = c->selection[n_]; const A a = a_[i & ma_]; const B b = b_[i & mb_]; __VA_ARGS__; } \
    } else if (c->args[1].constant && c->args[0].constant) { \
        const A a = a_[0]; const B b = b_[0]; for (size_t i = 0; i < c->count; i++) { __VA_ARGS__; } \
    } else if (c->args[1].constant) { \
        const B b = b_[0]; for (size_t i = 0; i < c->count; i++) { const A a = a_[i]; __VA_ARGS__; } \
    } else if (c->args[0].constant) { \
        const A a = a_[0]; for (size_t i = 0; i < c->count; i++) { const B b = b_[i]; __VA_ARGS__; } \
    } else { \
        for (size_t i = 0; i < c->count; i++) { const A a = a_[i]; const B b = b_[i]; __VA_ARGS__; } \
    } } while (0)
#define VECTOR_LOOP1(A, R, ...) do { \
    R *restrict out_ = c->out->values; \
    const A *restrict a_ = c->args[0].values; \
    if (c->selection || c->args[0].constant) { \
        const size_t ma_ = VECTOR_MASK(&c->args[0]); \
        for (size_t n_ = 0; n_ < c->count; n_++) { const size_t i = c->selection ? c->selection[n_] : n_; const A a = a_[i & ma_]; __VA_ARGS__; } \
    } else \
        for (size_t i = 0; i < c->count; i++) { const A a = a_[i]; __VA_ARGS__; } \
    } while (0)


#endif
