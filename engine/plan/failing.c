/* engine/plan/failing.c - can computing an expression raise an error?
 *
 * Rewriting may compute it for rows for which the query as it stands never would: filters change places, a subquery that ran for each
 * row becomes a join with all its groups. That is allowed only if no row can fail. So this says yes only to what it knows: columns and
 * constants, comparisons, logic, casts that only widen, and + - * of numerics that are bounded (by their precision, or since they are integers). */
#include <string.h>

#include "engine/plan/query.h"

#define BOUNDED_LEAVES 64                /* a product of so many numerics of 1000 digits is far from the longest numeric */

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}
#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof list / sizeof *list)

static bool is_integer(uint32_t oid) { return oid == OID_INT2 || oid == OID_INT4 || oid == OID_INT8; }

/* An implicit cast between numbers that holds every value. */
static bool is_widening(const struct scalar *s)
{
    if (s->kind != SCALAR_CALL || s->form != CALL_CAST_IMPLICIT || s->arg_count != 1) return false;
    uint32_t from = s->args[0]->type.oid, to = s->type.oid;
    if (from == OID_NUMERIC) return to == OID_NUMERIC && s->type.typmod < 0;      /* another form of it */
    return is_integer(from) && (is_integer(to) || to == OID_NUMERIC || to == OID_FLOAT8);
}

/* Is it a numeric of limited length? Counts its leaves. */
static bool is_bounded(const struct scalar *s, int *leaves)
{
    if (++*leaves > BOUNDED_LEAVES) return false;
    if (s->kind == SCALAR_CONST || is_integer(s->type.oid)) return true;
    if (s->kind == SCALAR_VAR) return s->type.width != WIDTH_VARLEN || s->type.typmod >= 4;
    if (is_widening(s)) return is_bounded(s->args[0], leaves);
    if (s->kind != SCALAR_CALL || !s->operator || !strchr("+-*", s->operator->name[0]) || s->operator->name[1]) return false;
    for (int i = 0; i < s->arg_count; i++)
        if (s->args[i]->type.oid != OID_NUMERIC || !is_bounded(s->args[i], leaves)) return false;
    return true;
}

bool scalar_never_fails(const struct scalar *s)
{
    static const char *const comparing[] = { "=", "<>", "<", "<=", ">", ">=" };
    if (!s) return true;
    if (stack_is_deep()) return false;
    int leaves = 0;
    switch (s->kind) {
    case SCALAR_CONST: case SCALAR_VAR: case SCALAR_PARAMETER:
        return true;
    case SCALAR_CALL:
        if (s->operator && s->arg_count == 2 && (strcmp(s->operator->name, "~~") == 0 || strcmp(s->operator->name, "!~~") == 0)) {
            const struct scalar *pattern = s->args[1];
            const struct varlen *text = &pattern->constant.v;
            if (pattern->kind != SCALAR_CONST || pattern->constant.null || (text->length && text->bytes[text->length - 1] == '\\')) return false;
        } else if (!(s->operator && s->arg_count == 2 && IS_ONE_OF(s->operator->name, comparing)) && !is_widening(s) && !(s->type.oid == OID_NUMERIC && is_bounded(s, &leaves)))
            return false;
        break;
    case SCALAR_AND: case SCALAR_OR: case SCALAR_NOT: case SCALAR_CASE: case SCALAR_COALESCE: case SCALAR_IS_NULL: case SCALAR_IS_NOT_NULL: case SCALAR_IS_BOOL: case SCALAR_DISTINCT:
    case SCALAR_IN_LIST:
        break;
    default:
        return false;
    }
    for (int i = 0; i < s->arg_count; i++)
        if (!scalar_never_fails(s->args[i])) return false;
    return true;
}

/* Sums of int8 and numeric are kept as numerics, sums of smaller integers in 64 bits: no table holds rows enough. Of floats they may overflow. */
bool aggregate_never_fails(const struct aggregate_item *a)
{
    static const char *const picking[] = { "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor" };
    static const char *const summing[] = { "sum", "avg" };
    static const char *const squaring[] = { "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop" };
    const char *name = a->aggregate->function->name;
    if (!scalar_never_fails(a->filter)) return false;
    for (int i = 0; i < a->arg_count; i++)
        if (!scalar_never_fails(a->args[i])) return false;
    if (IS_ONE_OF(name, picking)) return true;
    if (a->arg_count == 0) return false;
    uint32_t type = a->args[0]->type.oid;
    int leaves = 0;
    if (IS_ONE_OF(name, summing)) return is_integer(type) || type == OID_NUMERIC;
    return IS_ONE_OF(name, squaring) && (is_integer(type) || (type == OID_NUMERIC && is_bounded(a->args[0], &leaves)));
}
