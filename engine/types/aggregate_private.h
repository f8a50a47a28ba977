/* engine/types/aggregate_private.h - the aggregates that aggregate.c pairs with functions, and the loops they share. */
#ifndef ENGINE_TYPES_AGGREGATE_PRIVATE_H
#define ENGINE_TYPES_AGGREGATE_PRIVATE_H

#include "engine/types/kernel.h"

#define VARIANCE_AGGREGATES(X) X(var_samp) X(var_pop) X(stddev_samp) X(stddev_pop)
extern const struct aggregate aggregate_count_all, aggregate_count, aggregate_min, aggregate_max, aggregate_bool_and, aggregate_bool_or,
    aggregate_bit_and_int2, aggregate_bit_and_int4, aggregate_bit_and_int8, aggregate_bit_or_int2, aggregate_bit_or_int4, aggregate_bit_or_int8,
    aggregate_bit_xor_int2, aggregate_bit_xor_int4, aggregate_bit_xor_int8,
    aggregate_sum_int2, aggregate_sum_int4, aggregate_sum_int8, aggregate_sum_numeric, aggregate_sum_dec64, aggregate_sum_dec128,
    aggregate_avg_int2, aggregate_avg_int4, aggregate_avg_int8, aggregate_avg_numeric, aggregate_avg_dec64, aggregate_avg_dec128,
    aggregate_sum_float4, aggregate_sum_float8, aggregate_avg_float4, aggregate_avg_float8, aggregate_sum_interval, aggregate_avg_interval,
    aggregate_string_agg, aggregate_array_agg, aggregate_array_agg_array,
    aggregate_corr, aggregate_covar_pop, aggregate_covar_samp, aggregate_regr_slope, aggregate_regr_intercept, aggregate_regr_r2, aggregate_regr_avgx,
    aggregate_regr_avgy, aggregate_regr_sxx, aggregate_regr_syy, aggregate_regr_sxy, aggregate_regr_count;
#define X(KIND) \
    extern const struct aggregate aggregate_##KIND##_int2, aggregate_##KIND##_int4, aggregate_##KIND##_int8, aggregate_##KIND##_numeric, \
        aggregate_##KIND##_dec64, aggregate_##KIND##_float4, aggregate_##KIND##_float8;
VARIANCE_AGGREGATES(X)
#undef X

/* Walks the selected rows; in BODY, S *s is the row's state and i its position. */
#define UPDATE(NAME, S, ...) \
    static enum status NAME##_update(struct aggregate_call *c) \
    { \
        for (KERNEL_ROWS(c, i)) { S *s = aggregate_state(c, i); __VA_ARGS__; } \
        return STATUS_OK; \
    } \
    static enum status NAME##_update_one(struct aggregate_call *c, void *state) \
    { \
        S *s = state; \
        for (KERNEL_ROWS(c, i)) { __VA_ARGS__; } \
        return STATUS_OK; \
    }
/* The hot ones: BODY on (S *s, T x) for each selected row. */
#define GROUPED_LOOP(S, T, ...) \
    do { \
        uint8_t *const base_ = c->base; \
        const size_t stride_ = c->stride; \
        const uint32_t *const groups_ = c->groups; \
        const T *const values_ = c->args[0].values; \
        const size_t mask_ = VECTOR_MASK(&c->args[0]); \
        if (c->selection) \
            for (size_t n_ = 0; n_ < c->count; n_++) { \
                const size_t i = c->selection[n_]; S *s = (S *)(void *)(base_ + groups_[i] * stride_); const T x = values_[i & mask_]; __VA_ARGS__; } \
        else \
            for (size_t i = 0; i < c->count; i++) { S *s = (S *)(void *)(base_ + groups_[i] * stride_); const T x = values_[i & mask_]; __VA_ARGS__; } \
    } while (0)
#define AGGREGATE(NAME, FUNCTIONS, FINISH, S, STRICT, ORDERED) \
    const struct aggregate aggregate_##NAME = {.state_bytes = sizeof(S), .ordered = ORDERED, .strict = STRICT, .update = FUNCTIONS##_update, \
        .update_one = FUNCTIONS##_update_one, .combine = FUNCTIONS##_combine, .finish = FINISH};

/* Sum of int128 in 192 bits: never overflows. */
struct wide_sum { unsigned __int128 low; int64_t high; };
static inline void wide_add(struct wide_sum *s, __int128 v)
{
    s->high += __builtin_add_overflow(s->low, (unsigned __int128)v, &s->low);
    s->high += v < 0 ? -1 : 0;
}
static inline void wide_join(struct wide_sum *s, const struct wide_sum *from)
{
    s->high += __builtin_add_overflow(s->low, from->low, &s->low);
    s->high += from->high;
}
void wide_numeric(const struct wide_sum *, int scale, struct numeric *out);

#endif
