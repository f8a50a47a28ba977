/* tests/engine/types_function_test.c - input, casts and functions against PostgreSQL 15's answers (types_cases.h).
 *
 * Each call is made in several shapes, which must agree: constants and columns, with and without selection and nulls
 * around the row, and numerics in the general form and in the fixed form of the literal. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/types/datetime.h"
#include "engine/types/function.h"

static const struct { const char *zone, *name, *types[8], *args[8], *expected; } cases[] = {
#include "tests/engine/types_cases.h"
};

static struct sql_type parse_type(const char *text)
{
    char name[64];
    int32_t modifiers[2], typmod = -1;
    int count = 0;
    size_t n = strcspn(text, "([");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    const struct type_info *info = type_by_name(name);
    cr_assert(info, "no type %s", text);
    if (text[n] == '(')
        count = sscanf(text + n, "(%d,%d)", &modifiers[0], &modifiers[1]);
    uint32_t oid = info->oid;
    if (count && oid == OID_INTERVAL) {
        modifiers[1] = modifiers[0];
        modifiers[0] = 0x7fff;
        count = 2;
    }
    if (count)
        cr_assert_eq(type_typmod(oid, modifiers, count, &typmod), STATUS_OK);
    if (strstr(text, "[]"))
        oid = type_array_of(oid);
    return type_make(oid, typmod);
}

static char *failure(struct arena *arena)
{
    struct error *e = error_current();
    return arena_printf(arena, "!%s %s%s%s", status_sqlstate(e->status), e->message ? e->message : status_text(e->status), e->detail ? " DETAIL " : "", e->detail ? e->detail : "");
}

static bool accepts(uint32_t wanted, uint32_t given)
{
    switch (wanted) {
    case OID_ANY: case OID_ANYELEMENT: case OID_ANYCOMPATIBLE: return true;
    case OID_ANYNONARRAY: return !type_is_array(given);
    case OID_ANYARRAY: case OID_ANYCOMPATIBLEARRAY: return type_is_array(given);
    default: return wanted == given;
    }
}

enum shape { CONSTANTS, COLUMNS, SELECTED, MIXED, SHAPES };

/* Calls for row `at` of 3, the others being null where the function is strict. */
static char *call(const struct function *f, struct sql_type wanted, const struct sql_type *types, const struct value *values, int count, enum shape shape, struct arena *arena)
{
    const struct value *constants[8] = {0};
    struct vector args[8];
    uint16_t at = shape == CONSTANTS ? 0 : 1, rows = shape == CONSTANTS ? 1 : 3, error_at = 99;
    row_pos selection[2] = {1, 2};
    uint8_t *nulls = arena_zero(arena, 3);
    bool has_nulls = false;
    for (int i = 0; i < count; i++) {
        bool constant = shape == CONSTANTS || (shape == MIXED && i);
        if (constant) {
            value_vector(types[i], &values[i], arena, &args[i]);
            constants[i] = &values[i];
            if (values[i].null && f->strict)
                memset(nulls, 1, 3);
            continue;
        }
        size_t width = types[i].width ? types[i].width : sizeof(struct varlen);
        args[i] = (struct vector){.values = arena_zero(arena, 3 * width), .nulls = arena_zero(arena, 3), .width = types[i].width};
        for (size_t row = 0; row < 3; row++)
            value_put(types[i], &values[i], &args[i], row);
        if (f->strict)
            args[i].nulls[0] = args[i].nulls[2] = 1;
        if (f->strict) {
            nulls[0] = nulls[2] = 1;
            nulls[1] |= values[i].null;
        }
    }
    for (int i = 0; i < 3; i++)
        has_nulls |= nulls[i];
    struct function_bind bind = {.arena = arena, .arg_count = (uint16_t)count, .arg_types = types, .constants = constants, .kernel = f->kernel, .result = wanted};
    if (f->bind && f->bind(&bind))
        return failure(arena);
    size_t width = bind.result.width ? bind.result.width : sizeof(struct varlen);
    struct vector out = {.values = arena_zero(arena, 3 * width), .nulls = nulls, .width = bind.result.width};
    struct kernel_call c = {.out = &out, .args = args, .arg_count = (uint16_t)count, .selection = shape == SELECTED ? selection : NULL, .count = shape == SELECTED ? 2 : rows, .row_count = rows,
                            .has_nulls = has_nulls, .arena = arena, .data = bind.data, .error_at = &error_at, .out_type = bind.result, .arg_types = types};
    if (bind.kernel(&c)) {
        cr_expect(error_at == at || !f->strict || !count, "%s: error at %d", f->name, error_at);
        return failure(arena);
    }
    if (nulls[at])
        return "<NULL>";
    struct text_buffer b;
    text_buffer_open(&b, arena);
    type_out(bind.result, &out, at, &b);
    return b.bytes ? b.bytes : "";
}

static char *evaluate(const char *name, const char *const *type_names, const char *const *args, enum shape shape, bool exact, struct arena *arena)
{
    struct sql_type types[8], wanted;
    struct value values[8];
    int count = 0;
    for (; type_names[count]; count++) {
        types[count] = parse_type(type_names[count]);
        if (exact && types[count].oid == OID_NUMERIC && args[count])
            types[count] = type_numeric_literal(args[count], strlen(args[count]));
        memset(&values[count], 0, sizeof values[count]);
        values[count].null = !args[count];
        if (args[count] && type_in(types[count], args[count], strlen(args[count]), arena, &values[count]))
            return failure(arena);
    }
    if (!strcmp(name, "in")) {
        struct text_buffer b;
        text_buffer_open(&b, arena);
        struct vector v;
        value_vector(types[0], &values[0], arena, &v);
        type_out(types[0], &v, 0, &b);
        return b.bytes ? b.bytes : "";
    }
    if (!strncmp(name, "cast:", 5)) {
        wanted = parse_type(name + 5);
        bool binary = false;
        const struct function *f = cast_find(types[0].oid, wanted.oid, CAST_EXPLICIT, &binary);
        if (f && wanted.typmod >= 0 && types[0].oid != wanted.oid && wanted.oid != OID_NUMERIC) {      /* first the type, then the length */
            char *plain = call(f, type_make(wanted.oid, -1), types, values, 1, CONSTANTS, arena);
            if (*plain == '!')
                return plain;
            types[0] = type_make(wanted.oid, -1);
            if (type_in(types[0], plain, strlen(plain), arena, &values[0]))
                return failure(arena);
            f = NULL;
            binary = true;
        } else if (binary && wanted.typmod >= 0 && types[0].oid != wanted.oid)
            types[0] = type_make(wanted.oid, -1);
        if (binary && wanted.typmod >= 0)
            f = cast_length(wanted, true);
        if (!f) {
            cr_assert(binary, "no cast to %s", name + 5);
            struct text_buffer b;
            struct vector v;
            text_buffer_open(&b, arena);
            value_vector(wanted, &values[0], arena, &v);
            type_out(wanted, &v, 0, &b);
            return b.bytes ? b.bytes : "";
        }
        return call(f, wanted, types, values, 1, shape, arena);
    }
    size_t n;
    const struct function *const *all = functions_named(name, &n), *found = NULL;
    for (size_t i = 0; i < n && !found; i++) {
        bool fits = all[i]->arg_count == count;
        for (int k = 0; fits && k < count; k++)
            fits = accepts(all[i]->arg_types[k], types[k].oid);
        if (fits)
            found = all[i];
    }
    if (!found)
        return arena_printf(arena, "no function %s", name);
    return call(found, type_make(found->result, -1), types, values, count, shape, arena);
}

Test(types_function, as_postgresql)
{
    struct arena *arena = arena_open(NULL, "test");
    struct type_env env = *type_env_default();
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool numeric = false;
        for (int k = 0; k < 8 && cases[i].types[k]; k++)
            numeric |= !strcmp(cases[i].types[k], "numeric");
        env.timezone = datetime_zone_find(cases[i].zone, NULL);
        env.timezone_name = cases[i].zone;
        type_env = &env;
        for (int exact = 0; exact <= (numeric && strcmp(cases[i].name, "in")); exact++)
            for (enum shape shape = CONSTANTS; shape < SHAPES; shape++) {
                arena_reset(arena);
                char *got = evaluate(cases[i].name, cases[i].types, cases[i].args, shape, exact, arena);
                if (!strcmp(got, cases[i].expected))
                    continue;
                failures++;
                cr_log_error("%s(%s, %s, %s) shape %d exact %d [%s]\n   got      %s\n   expected %s", cases[i].name, cases[i].args[0] ? cases[i].args[0] : "NULL",
                             cases[i].args[1] ? cases[i].args[1] : "-", cases[i].args[2] ? cases[i].args[2] : "-", shape, exact, cases[i].zone, got, cases[i].expected);
                break;
            }
    }
    type_env = type_env_default();
    arena_close(arena);
    cr_assert_eq(failures, 0, "%d differ", failures);
}
