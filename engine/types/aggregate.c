/* engine/types/aggregate.c - which aggregate a function is, for the forms of its arguments.
 *
 * The aggregates themselves stand in aggregate_sum.c (exact sums, averages, variances), aggregate_float.c, aggregate_order.c
 * (min, max, bool and bit folds, count) and aggregate_gather.c (string_agg, array_agg). Each is a struct aggregate without
 * its function; the table here pairs them once, before main. numeric ones come in up to three forms. */
#include <string.h>
#include "engine/types/aggregate_private.h"

struct entry { const char *name; uint32_t argument; const struct aggregate *general, *dec64, *dec128; };

#define SAME(a) &a, NULL, NULL
static const struct entry entries[] = {
    {"count", 0, SAME(aggregate_count_all)},
    {"count", OID_ANY, SAME(aggregate_count)},
    {"sum", OID_INT2, SAME(aggregate_sum_int2)},
    {"sum", OID_INT4, SAME(aggregate_sum_int4)},
    {"sum", OID_INT8, SAME(aggregate_sum_int8)},
    {"sum", OID_NUMERIC, &aggregate_sum_numeric, &aggregate_sum_dec64, &aggregate_sum_dec128},
    {"sum", OID_FLOAT4, SAME(aggregate_sum_float4)},
    {"sum", OID_FLOAT8, SAME(aggregate_sum_float8)},
    {"sum", OID_INTERVAL, SAME(aggregate_sum_interval)},
    {"avg", OID_INT2, SAME(aggregate_avg_int2)},
    {"avg", OID_INT4, SAME(aggregate_avg_int4)},
    {"avg", OID_INT8, SAME(aggregate_avg_int8)},
    {"avg", OID_NUMERIC, &aggregate_avg_numeric, &aggregate_avg_dec64, &aggregate_avg_dec128},
    {"avg", OID_FLOAT4, SAME(aggregate_avg_float4)},
    {"avg", OID_FLOAT8, SAME(aggregate_avg_float8)},
    {"avg", OID_INTERVAL, SAME(aggregate_avg_interval)},
#define VARIANCES(NAME, KIND) \
    {NAME, OID_INT2, SAME(aggregate_##KIND##_int2)}, {NAME, OID_INT4, SAME(aggregate_##KIND##_int4)}, {NAME, OID_INT8, SAME(aggregate_##KIND##_int8)}, \
    {NAME, OID_NUMERIC, &aggregate_##KIND##_numeric, &aggregate_##KIND##_dec64, NULL}, \
    {NAME, OID_FLOAT4, SAME(aggregate_##KIND##_float4)}, {NAME, OID_FLOAT8, SAME(aggregate_##KIND##_float8)},
    VARIANCES("variance", var_samp) VARIANCES("var_samp", var_samp) VARIANCES("var_pop", var_pop)
    VARIANCES("stddev", stddev_samp) VARIANCES("stddev_samp", stddev_samp) VARIANCES("stddev_pop", stddev_pop)
    {"bool_and", OID_BOOL, SAME(aggregate_bool_and)},
    {"every", OID_BOOL, SAME(aggregate_bool_and)},
    {"bool_or", OID_BOOL, SAME(aggregate_bool_or)},
#define BITS(NAME, KIND) {NAME, OID_INT2, SAME(aggregate_##KIND##_int2)}, {NAME, OID_INT4, SAME(aggregate_##KIND##_int4)}, {NAME, OID_INT8, SAME(aggregate_##KIND##_int8)},
    BITS("bit_and", bit_and) BITS("bit_or", bit_or) BITS("bit_xor", bit_xor)
    {"string_agg", OID_TEXT, SAME(aggregate_string_agg)},
    {"string_agg", OID_BYTEA, SAME(aggregate_string_agg)},
    {"array_agg", OID_ANYNONARRAY, SAME(aggregate_array_agg)},
    {"array_agg", OID_ANYARRAY, SAME(aggregate_array_agg_array)},
    {"corr", OID_FLOAT8, SAME(aggregate_corr)},
    {"covar_pop", OID_FLOAT8, SAME(aggregate_covar_pop)},
    {"covar_samp", OID_FLOAT8, SAME(aggregate_covar_samp)},
    {"regr_slope", OID_FLOAT8, SAME(aggregate_regr_slope)},
    {"regr_intercept", OID_FLOAT8, SAME(aggregate_regr_intercept)},
    {"regr_r2", OID_FLOAT8, SAME(aggregate_regr_r2)},
    {"regr_avgx", OID_FLOAT8, SAME(aggregate_regr_avgx)},
    {"regr_avgy", OID_FLOAT8, SAME(aggregate_regr_avgy)},
    {"regr_sxx", OID_FLOAT8, SAME(aggregate_regr_sxx)},
    {"regr_syy", OID_FLOAT8, SAME(aggregate_regr_syy)},
    {"regr_sxy", OID_FLOAT8, SAME(aggregate_regr_sxy)},
    {"regr_count", OID_FLOAT8, SAME(aggregate_regr_count)},
};

#define PAIRS_MAX 256
static struct pair { const struct function *function; struct aggregate general, dec64, dec128; bool has64, has128; } pairs[PAIRS_MAX];
static size_t pair_count;

static const struct entry *find(const struct function *f)
{
    uint32_t argument = f->arg_count ? f->arg_types[0] : 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!strcmp(entries[i].name, f->name) && entries[i].argument == argument)
            return &entries[i];
    return NULL;
}

__attribute__((constructor(204))) static void aggregate_index(void)
{
    for (size_t i = 0; i < function_count(); i++) {
        const struct function *f = function_at(i);
        if (f->kind != FUNCTION_AGGREGATE)
            continue;
        ASSERT(pair_count < PAIRS_MAX);
        struct pair *p = &pairs[pair_count++];
        p->function = f;
        const struct entry *e = find(f);
        if (e) {
            p->general = *e->general;
            p->dec64 = e->dec64 ? *e->dec64 : p->general;
            p->dec128 = e->dec128 ? *e->dec128 : p->general;
        } else if (!strcmp(f->name, "min") || !strcmp(f->name, "max"))
            p->general = p->dec64 = p->dec128 = !strcmp(f->name, "min") ? aggregate_min : aggregate_max;
        else {
            p->function = NULL;
            continue;
        }
        p->general.function = p->dec64.function = p->dec128.function = f;
    }
}

const struct aggregate *aggregate_find(const struct function *f, const struct sql_type *arg_types, uint16_t arg_count, struct sql_type *result)
{
    for (size_t i = 0; i < pair_count; i++) {
        const struct pair *p = &pairs[i];
        if (p->function != f)
            continue;
        *result = type_make(f->result, -1);
        if ((!strcmp(f->name, "min") || !strcmp(f->name, "max")) && arg_count) {
            if (!type_comparable(arg_types[0].oid))
                return NULL;
            *result = arg_types[0];
            if (result->oid != f->result && f->result != OID_ANYARRAY && f->result != OID_ANYELEMENT)
                result->oid = f->result;                      /* varchar through text */
            result->typmod = -1;
        } else if (f->result == OID_ANYARRAY && arg_count) {
            uint32_t array = type_is_array(arg_types[0].oid) ? arg_types[0].oid : type_array_of(arg_types[0].oid);
            if (!array)
                return NULL;
            *result = type_make(array, -1);
        }
        if (arg_count && arg_types[0].oid == OID_NUMERIC)
            return arg_types[0].width == 8 ? &p->dec64 : arg_types[0].width == 16 ? &p->dec128 : &p->general;
        return &p->general;
    }
    return NULL;
}
