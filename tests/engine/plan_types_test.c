/* tests/engine/plan_types_test.c - Operators, functions and common types are chosen as PostgreSQL chooses them. */
#include <criterion/criterion.h>
#include <string.h>

#include "engine/plan/query.h"
#include "engine/plan/stats.h"

static const struct operator *find(const char *name, uint32_t left, uint32_t right)
{
    bool ambiguous;
    return find_operator(name, left, right, &ambiguous);
}

Test(plan_types, an_exact_operator_wins)
{
    const struct operator *op = find("+", OID_INT4, OID_INT8);
    cr_assert(op && op->left == OID_INT4 && op->right == OID_INT8);
}

Test(plan_types, an_unknown_literal_takes_the_other_sides_type)
{
    const struct operator *op = find("=", OID_DATE, OID_UNKNOWN);
    cr_assert(op && op->right == OID_DATE);
}

Test(plan_types, int_and_numeric_meet_in_numeric)
{
    const struct operator *op = find("*", OID_INT4, OID_NUMERIC);
    cr_assert(op && op->left == OID_NUMERIC);
}

Test(plan_types, two_unknown_literals_do_not_add)
{
    bool ambiguous;
    cr_assert(find_operator("+", OID_UNKNOWN, OID_UNKNOWN, &ambiguous) == NULL && ambiguous);
}

Test(plan_types, text_concatenates_with_anything)
{
    cr_assert(find("||", OID_TEXT, OID_INT4) != NULL);
    cr_assert(find("||", OID_INT4, OID_INT4) == NULL);
}

Test(plan_types, arrays_concatenate_as_arrays)
{
    const struct operator *op = find("||", type_array_of(OID_TEXT), type_array_of(OID_TEXT));
    cr_assert(op && op->left == op->right);
}

static struct planner *planner(void)
{
    struct planner *p = calloc(1, sizeof *p);
    p->arena = arena_open(NULL, "test");
    return p;
}

Test(plan_types, the_common_type_of_int_and_numeric_is_numeric)
{
    struct planner *p = planner();
    struct scalar *items[2] = { scalar_int4(p->arena, 1), scalar_null(p->arena, type_make(OID_NUMERIC, -1), 0) };
    struct sql_type t;
    cr_assert_eq(common_type(p, items, 2, "CASE", &t), STATUS_OK);
    cr_assert_eq(t.oid, OID_NUMERIC);
    struct scalar *bad[2] = { scalar_int4(p->arena, 1), scalar_text(p->arena, "x") };
    cr_assert_eq(common_type(p, bad, 2, "CASE", &t), STATUS_DATATYPE_MISMATCH);
    cr_assert_str_eq(error_current()->message, "CASE types integer and text cannot be matched");
}

Test(plan_types, constant_calls_are_computed_and_failing_ones_kept)
{
    struct planner *p = planner();
    struct scalar *s;
    cr_assert_eq(make_operator(p, NULL, "+", scalar_int4(p->arena, 2), scalar_int4(p->arena, 3), 0, &s), STATUS_OK);
    cr_assert(s->kind == SCALAR_CONST && s->constant.i4 == 5);
    cr_assert_eq(make_operator(p, NULL, "/", scalar_int4(p->arena, 2), scalar_int4(p->arena, 0), 0, &s), STATUS_OK);
    cr_assert(s->kind == SCALAR_CALL);
}

Test(plan_types, statistics_survive_their_byte_form)
{
    struct arena *arena = arena_open(NULL, "test");
    struct value common[2] = { { .v = { (const uint8_t *)"ab", 2, 0 } }, { .v = { (const uint8_t *)"", 0, 0 } } };
    double fractions[2] = { 0.5, 0.25 };
    struct column_statistics s = { .type = type_make(OID_TEXT, -1), .null_fraction = 0.125, .distinct = -0.5, .average_width = 3, .correlation = 0.75,
                                   .common_count = 2, .common = common, .common_fractions = fractions, .bound_count = 2, .bounds = common }, *back;
    struct text_buffer bytes;
    text_buffer_open(&bytes, arena);
    stats_write(&s, &bytes);
    cr_assert_eq(stats_read((const uint8_t *)bytes.bytes, bytes.length, s.type, arena, &back), STATUS_OK);
    cr_assert(back->distinct == -0.5 && back->common_count == 2 && back->common_fractions[1] == 0.25 && memcmp(back->common[0].v.bytes, "ab", 2) == 0);
    for (size_t cut = 0; cut < bytes.length; cut++)
        cr_assert_neq(stats_read((const uint8_t *)bytes.bytes, cut, s.type, arena, &back), STATUS_OK);
    arena_close(arena);
}
