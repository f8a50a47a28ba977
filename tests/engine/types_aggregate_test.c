/* tests/engine/types_aggregate_test.c - aggregates against PostgreSQL 15's answers (types_aggregates.h).
 *
 * Each is run in one state, by row, and split in two states that are combined; all must agree. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "engine/types/function.h"

static const struct { const char *name, *type; int count; const char *values[8], *expected; } cases[] = {
#include "tests/engine/types_aggregates.h"
};

static struct sql_type parse_type(const char *text)
{
    char name[32];
    int32_t modifiers[2], typmod = -1;
    size_t n = strcspn(text, "([");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    uint32_t oid = type_by_name(name)->oid;
    if (sscanf(text + n, "(%d,%d)", &modifiers[0], &modifiers[1]) == 2)
        cr_assert_eq(type_typmod(oid, modifiers, 2, &typmod), STATUS_OK);
    return type_make(strstr(text, "[]") ? type_array_of(oid) : oid, typmod);
}

static const struct aggregate *find(const char *name, struct sql_type type, struct sql_type *result)
{
    size_t count;
    const struct function *const *all = functions_named(name, &count);
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            uint32_t wanted = all[i]->arg_count ? all[i]->arg_types[0] : 0;
            bool fits = pass == 0 ? wanted == type.oid : wanted == OID_ANY || (wanted == OID_ANYARRAY && type_is_array(type.oid)) || (wanted == OID_ANYNONARRAY && !type_is_array(type.oid));
            if (all[i]->arg_count == 1 && fits)
                return aggregate_find(all[i], &type, 1, result);
        }
    return NULL;
}

static char *run(const struct aggregate *a, struct sql_type type, struct sql_type result, struct vector *v, int count, int split, bool by_row, struct arena *arena)
{
    uint32_t stride = (a->state_bytes + 15) & ~15u, groups[8];
    uint8_t *both = arena_zero(arena, 2 * (size_t)stride);
    void *states[2] = {both, both + stride};
    row_pos selection[8];
    uint16_t error_at = 0;
    for (int half = 0; half < 2; half++) {
        uint16_t n = 0;
        for (int i = half ? split : 0; i < (half ? count : split); i++)
            if (!a->strict || !vector_null(v, (size_t)i)) {
                groups[i] = (uint32_t)half;
                selection[n++] = (row_pos)i;
            }
        struct aggregate_call c = {.base = both, .stride = stride, .groups = groups, .args = v, .arg_types = &type, .arg_count = 1, .selection = selection, .count = n, .arena = arena, .error_at = &error_at};
        enum status s = by_row ? a->update(&c) : a->update_one(&c, states[half]);
        if (s)
            return error_current()->message;
    }
    if (a->combine(states[0], states[1], arena))
        return error_current()->message;
    struct value value;
    if (a->finish(states[0], result, arena, &value))
        return error_current()->message;
    if (value.null)
        return "<NULL>";
    struct vector one;
    struct text_buffer b;
    value_vector(result, &value, arena, &one);
    text_buffer_open(&b, arena);
    type_out(result, &one, 0, &b);
    return b.bytes ? b.bytes : "";
}

Test(types_aggregate, as_postgresql)
{
    struct arena *arena = arena_open(NULL, "test");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sql_type type = parse_type(cases[i].type), result;
        const struct aggregate *a = find(cases[i].name, type, &result);
        cr_assert(a, "%s(%s)", cases[i].name, cases[i].type);
        size_t width = type.width ? type.width : sizeof(struct varlen);
        struct vector v = {.values = arena_zero(arena, 8 * width), .nulls = arena_zero(arena, 8), .width = type.width};
        for (int k = 0; k < cases[i].count; k++) {
            struct value value = {.null = !cases[i].values[k]};
            if (!value.null)
                cr_assert_eq(type_in(type, cases[i].values[k], strlen(cases[i].values[k]), arena, &value), STATUS_OK);
            value_put(type, &value, &v, (size_t)k);
        }
        for (int split = 0; split <= cases[i].count; split++)
            for (int by_row = 0; by_row < 2; by_row++) {
                char *got = run(a, type, result, &v, cases[i].count, split, by_row, arena);
                bool approximate = a->ordered && strncmp(cases[i].type, "float", 5) == 0;
                double x, y;
                if (approximate && sscanf(got, "%lf", &x) == 1 && sscanf(cases[i].expected, "%lf", &y) == 1 && (x == y || (x - y < 1e-6 * (y < 0 ? -y : y) && y - x < 1e-6 * (y < 0 ? -y : y))))
                    continue;
                cr_expect_str_eq(got, cases[i].expected, "%s(%s) case %zu split %d: %s, expected %s", cases[i].name, cases[i].type, i, split, got, cases[i].expected);
            }
    }
    arena_close(arena);
}
