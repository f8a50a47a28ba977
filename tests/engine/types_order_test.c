/* tests/engine/types_order_test.c - order, hash and keys of every type agree; the forms of numeric agree.
 *
 * For pairs of awkward values: memcmp of the keys is type_compare, also joined to another column and descending; equal
 * values have equal hashes; a key that can be read back gives the value. Then random decimals: + - * and comparison in
 * DEC64, DEC128 and the general form give the same digits. Sort words, and what is asked where they agree, have that order too. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "engine/types/function.h"
#include "engine/types/numeric.h"
#include "engine/types/sort_key.h"

static const struct { const char *type; int32_t typmod; const char *values[20]; } types[] = {
    {"bool", -1, {"f", "t"}},
    {"char", -1, {"", "a", "b", "~"}},
    {"int2", -1, {"-32768", "-1", "0", "1", "255", "256", "32767"}},
    {"int4", -1, {"-2147483648", "-256", "-1", "0", "1", "65536", "2147483647"}},
    {"int8", -1, {"-9223372036854775808", "-1", "0", "1", "4294967296", "9223372036854775807"}},
    {"oid", -1, {"0", "1", "2147483648", "4294967295"}},
    {"float4", -1, {"-inf", "-1.5", "-0", "0", "1e-40", "0.1", "3", "inf", "NaN"}},
    {"float8", -1, {"-inf", "-1e300", "-1", "-5e-324", "-0", "0", "5e-324", "1", "1.0000000000000002", "inf", "NaN"}},
    {"text", -1, {"", "a", "A", "aa", "ab", "b", "\x01", "a b", "é", "zzzz"}},
    {"bpchar", -1, {"", " ", "a", "a  ", "a b", "ab", "b"}},
    {"varchar", -1, {"x", "xy", "X"}},
    {"name", -1, {"pg_class", "a", ""}},
    {"bytea", -1, {"\\x", "\\x00", "\\x0000", "\\x0001", "\\x00ff", "\\x01", "\\xff", "\\xff00"}},
    {"date", -1, {"-infinity", "1999-01-01", "2000-01-01", "0044-03-15 BC", "infinity"}},
    {"time", -1, {"00:00", "23:59:59.999999", "24:00"}},
    {"timestamp", -1, {"-infinity", "1999-12-31 23:59:59.999999", "2000-01-01", "infinity"}},
    {"timestamptz", -1, {"2020-01-01 00:00+02", "2020-01-01 00:00+00", "infinity"}},
    {"interval", -1, {"-1 mon", "0", "1 day", "24:00:00", "30 days", "1 mon", "1 year -3 days"}},
    {"uuid", -1, {"00000000-0000-0000-0000-000000000000", "ffffffff-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"}},
    {"numeric", -1, {"-Infinity", "-1e50", "-123.45", "-123.4", "-0.001", "0", "0.00", "1e-30", "0.5", "0.50", "1", "1.0", "9.99", "10", "99999999999999999999", "1e200", "1.5e200", "Infinity", "NaN"}},
    {"numeric", ((10 << 16) | 3) + 4, {"-999.999", "-1", "0", "0.001", "1", "10", "1000000", "9999999.999", "NaN"}},
    {"numeric", ((30 << 16) | 5) + 4, {"-999999999999.99999", "-0.00001", "0", "1", "123456789012345678901234.5", "NaN"}},
    {"_int4", -1, {"{}", "{1}", "{1,NULL}", "{1,2}", "{2}", "{NULL}", "{{1,2}}", "{-5,7}", "[0:1]={1,2}"}},
    {"_text", -1, {"{}", "{a}", "{a,b}", "{ab}", "{\"\"}", "{NULL}"}},
    {"_numeric", -1, {"{1.0}", "{1}", "{1.5,2}", "{NaN}"}},
    {"int2vector", -1, {"1 2", "1 3", "2"}},
    {"tid", -1, {"(0,1)", "(0,2)", "(1,1)"}},
};

static int sign(int c) { return (c > 0) - (c < 0); }
static int bytes_order(const struct text_buffer *a, const struct text_buffer *b)
{
    size_t n = a->length < b->length ? a->length : b->length;
    int c = n ? memcmp(a->bytes, b->bytes, n) : 0;
    return c ? sign(c) : (a->length > b->length) - (a->length < b->length);
}
static void make_key(struct sql_type type, unsigned flags, const struct vector *v, int32_t tail, struct arena *arena, struct text_buffer *out)
{
    struct vector second = {.values = &tail, .width = 4, .constant = true};
    text_buffer_open(out, arena);
    if (v)
        key_append(type, flags, v, 0, out);
    else
        key_append_null(flags, out);
    key_append(type_make(OID_INT4, -1), 0, &second, 0, out);
}

Test(types_order, keys)
{
    struct arena *arena = arena_open(NULL, "test");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct sql_type type = type_make(type_by_name(types[t].type)->oid, types[t].typmod);
        struct vector v[20];
        int count = 0;
        for (; count < 20 && types[t].values[count]; count++) {
            struct value value;
            cr_assert_eq(type_in(type, types[t].values[count], strlen(types[t].values[count]), arena, &value), STATUS_OK, "%s %s", types[t].type, types[t].values[count]);
            value_vector(type, &value, arena, &v[count]);
        }
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++) {
                int order = sign(type_compare(type, &v[a], 0, &v[b], 0));
                if (!order)
                    cr_expect_eq(type_hash(type, &v[a], 0), type_hash(type, &v[b], 0), "hash %s %s %s", types[t].type, types[t].values[a], types[t].values[b]);
                for (unsigned flags = 0; flags < 4; flags++) {
                    struct text_buffer ka, kb, kn;
                    make_key(type, flags, &v[a], 1, arena, &ka);
                    make_key(type, flags, &v[b], 2, arena, &kb);
                    int want = order ? flags & KEY_DESC ? -order : order : -1;
                    cr_expect_eq(bytes_order(&ka, &kb), want, "key %s '%s' '%s' flags %u", types[t].type, types[t].values[a], types[t].values[b], flags);
                    make_key(type, flags, NULL, 0, arena, &kn);
                    cr_expect_eq(bytes_order(&kn, &ka), flags & KEY_NULLS_FIRST ? -1 : 1);
                }
            }
        for (int a = 0; a < count; a++)
            for (unsigned flags = 0; flags < 4; flags++) {
                struct text_buffer k;
                struct value back;
                make_key(type, flags, &v[a], 7, arena, &k);
                const uint8_t *p = (const uint8_t *)k.bytes;
                size_t left = k.length;
                if (key_take(type, flags, &p, &left, arena, &back)) {
                    cr_expect_eq(error_current()->status, STATUS_FEATURE_NOT_SUPPORTED);
                    continue;
                }
                struct vector again;
                value_vector(type, &back, arena, &again);
                cr_expect_eq(type_compare(type, &v[a], 0, &again, 0), 0, "taken %s %s", types[t].type, types[t].values[a]);
                cr_expect_eq(left, 5);
            }
    }
    arena_close(arena);
}

/* A value (or null), alone or with an int4 before it, behind it, or an int8 before it: by words, then by what words don't hold. */
static void check_words(struct sql_type type, struct vector *a, struct vector *b, int order, const char *what, struct text_buffer *scratch)
{
    int32_t same4 = -5, small = 1, large = 2;
    int64_t same8 = 1LL << 40;
    struct vector four = {.values = &same4, .width = 4, .constant = true}, eight = {.values = &same8, .width = 8, .constant = true};
    struct vector less = {.values = &small, .width = 4, .constant = true}, more = {.values = &large, .width = 4, .constant = true};
    struct vector rows[2][3] = {{four, *a, less}, {four, *b, more}};
    for (int with = 0; with < 4; with++)
        for (unsigned flags = 0; flags < 4; flags++) {
            struct sort_column columns[3] = {{type_make(OID_INT4, -1), KEY_DESC, 0}, {type, flags, 1}, {type_make(OID_INT4, -1), 0, 2}};
            struct sort_layout layout;
            rows[0][0] = rows[1][0] = with == 3 ? eight : four;
            columns[0].type = type_make(with == 3 ? OID_INT8 : OID_INT4, -1);
            sort_key_open(&layout, with & 1 ? columns : columns + 1, with == 0 ? 1 : with == 2 ? 2 : 3);
            sort_word words[2];
            for (uint32_t r = 0; r < 2; r++)
                sort_key_words(&layout, rows[r], NULL, 1, r, scratch, &words[r]);
            bool null = vector_null(a, 0) || vector_null(b, 0);
            int want = null ? vector_null(a, 0) == vector_null(b, 0) ? 0 : vector_null(a, 0) == ((flags & KEY_NULLS_FIRST) != 0) ? -1 : 1 : flags & KEY_DESC ? -order : order;
            if (!want && with)
                want = -1;
            int got = SORT_KEY(words[0]) != SORT_KEY(words[1]) ? SORT_KEY(words[0]) < SORT_KEY(words[1]) ? -1 : 1 : sort_key_compare_rest(&layout, words[0], rows[0], 0, rows[1], 0);
            cr_expect_eq(sign(got), want, "words of %s: %d, not %d (columns: form %d, flags %u)", what, got, want, with, flags);
        }
}

Test(types_order, words)
{
    struct arena *arena = arena_open(NULL, "test");
    struct text_buffer scratch;
    text_buffer_open(&scratch, arena);
    uint8_t yes = 1;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct sql_type type = type_make(type_by_name(types[t].type)->oid, types[t].typmod);
        struct vector v[21];
        int count = 0;
        for (; count < 20 && types[t].values[count]; count++) {
            struct value value;
            cr_assert_eq(type_in(type, types[t].values[count], strlen(types[t].values[count]), arena, &value), STATUS_OK);
            value_vector(type, &value, arena, &v[count]);
        }
        v[count] = v[0];
        v[count].nulls = &yes;
        for (int a = 0; a <= count; a++)
            for (int b = 0; b <= count; b++) {
                int order = a == count || b == count ? 0 : sign(type_compare(type, &v[a], 0, &v[b], 0));
                char what[200];
                snprintf(what, sizeof what, "%s '%s' '%s'", types[t].type, a == count ? "NULL" : types[t].values[a], b == count ? "NULL" : types[t].values[b]);
                check_words(type, &v[a], &v[b], order, what, &scratch);
            }
    }
    arena_close(arena);
}

/* What is within a bound is what isn't after it. */
Test(types_order, bounds)
{
    struct arena *arena = arena_open(NULL, "test");
    struct text_buffer scratch;
    text_buffer_open(&scratch, arena);
    double values[100];
    uint8_t nulls[100];
    row_pos every_third[33], out[100];
    for (int i = 0; i < 100; i++) {
        values[i] = i % 17 == 0 ? (double)NAN : (double)(int64_t)(hash_u64((uint64_t)i) % 41) - 20;
        nulls[i] = i % 13 == 5;
    }
    for (int i = 0; i < 33; i++)
        every_third[i] = (row_pos)(3 * i);
    for (int form = 0; form < 16; form++) {
        struct vector v = {.values = values, .nulls = form & 1 ? nulls : NULL, .width = 8};
        const row_pos *positions = form & 2 ? every_third : NULL;
        uint16_t count = positions ? 33 : 100;
        struct sort_column column = {type_make(OID_FLOAT8, -1), (unsigned)form >> 2, 0};
        struct sort_layout layout;
        sort_key_open(&layout, &column, 1);
        for (int at = 1; at < 100; at++) {
            struct sort_bound bound;
            sort_word words[101];
            sort_key_bound(&layout, &v, (size_t)at, &bound);
            int n = sort_key_within(&bound, &v, positions, count, out);
            if (n < 0)
                continue;
            sort_key_words(&layout, &v, NULL, 100, 0, &scratch, words);
            int k = 0;
            for (uint16_t i = 0; i < count; i++) {
                uint16_t where = positions ? positions[i] : i;
                if (SORT_KEY(words[where]) <= SORT_KEY(words[at])) {
                    cr_assert(k < n, "form %d: position %u is before the bound", form, where);
                    cr_expect_eq(out[k++], where);
                }
            }
            cr_expect_eq(k, n);
        }
    }
    arena_close(arena);
}

Test(types_order, successor)
{
    struct arena *arena = arena_open(NULL, "test");
    struct text_buffer b;
    text_buffer_open(&b, arena);
    text_buffer_add(&b, "a\xFF\xFF", 3);
    key_successor(&b);
    cr_expect_eq(b.length, 1);
    cr_expect_eq(b.bytes[0], 'b');
    b.length = 0;
    text_buffer_add(&b, "\xFF", 1);
    key_successor(&b);
    cr_expect_eq(b.length, 0);
    arena_close(arena);
}

/* One binary function on single values, in whatever forms. */
static char *compute(const char *name, const struct sql_type *types, const struct value *values, struct arena *arena)
{
    size_t count;
    const struct function *const *all = functions_named(name, &count);
    struct function_bind bind = {.arena = arena, .arg_count = 2, .arg_types = types, .kernel = all[0]->kernel, .result = type_make(all[0]->result, -1)};
    cr_assert_eq(all[0]->bind(&bind), STATUS_OK);
    struct vector args[2];
    uint8_t null = 0;
    uint16_t at;
    __int128 room[1];
    value_vector(types[0], &values[0], arena, &args[0]);
    value_vector(types[1], &values[1], arena, &args[1]);
    struct vector out = {.values = room, .nulls = &null, .width = bind.result.width};
    struct kernel_call c = {.out = &out, .args = args, .arg_count = 2, .count = 1, .row_count = 1, .arena = arena, .data = bind.data, .error_at = &at, .out_type = bind.result, .arg_types = types};
    if (bind.kernel(&c))
        return arena_strdup(arena, error_current()->message);
    struct text_buffer b;
    text_buffer_open(&b, arena);
    type_out(bind.result, &out, 0, &b);
    return b.bytes;
}

Test(types_order, numeric_forms)
{
    static const char *const functions[] = {"numeric_add", "numeric_sub", "numeric_mul", "numeric_mod", "numeric_lt", "numeric_le", "numeric_eq", "numeric_ne", "numeric_gt", "numeric_ge", "numeric_larger"};
    struct arena *arena = arena_open(NULL, "test");
    uint64_t seed = 42;
    for (int round = 0; round < 3000; round++) {
        struct sql_type forms[2][3];
        struct value values[2][3];
        arena_reset(arena);
        for (int i = 0; i < 2; i++) {
            char text[64];
            int scale = (int)(random_next(&seed) % 6), digits = 1 + (int)(random_next(&seed) % 17);
            int64_t n = (int64_t)(random_next(&seed) % (uint64_t)pow10_64[digits]) * (random_next(&seed) & 1 ? 1 : -1);
            struct text_buffer b;
            text_buffer_open(&b, arena);
            numeric_print_fixed(n, scale, &b);
            snprintf(text, sizeof text, "%s", random_next(&seed) % 50 ? b.bytes : "NaN");
            forms[i][0] = (struct sql_type){.oid = OID_NUMERIC, .typmod = -1, .width = WIDTH_VARLEN};
            forms[i][1] = numeric_fixed_type(18, scale);
            forms[i][2] = numeric_fixed_type(38 - (int)(random_next(&seed) % 19), scale);
            for (int f = 0; f < 3; f++)
                cr_assert_eq(type_in(forms[i][f], text, strlen(text), arena, &values[i][f]), STATUS_OK, "%s", text);
            struct vector general, fixed, wide;
            value_vector(forms[i][0], &values[i][0], arena, &general);
            value_vector(forms[i][1], &values[i][1], arena, &fixed);
            value_vector(forms[i][2], &values[i][2], arena, &wide);
            cr_assert_eq(type_hash(forms[i][0], &general, 0), type_hash(forms[i][1], &fixed, 0));
            cr_assert_eq(type_hash(forms[i][0], &general, 0), type_hash(forms[i][2], &wide, 0));
        }
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
            char *want = NULL;
            for (int f = 0; f < 9; f++) {
                struct sql_type t[2] = {forms[0][f / 3], forms[1][f % 3]};
                struct value v[2] = {values[0][f / 3], values[1][f % 3]};
                char *got = compute(functions[k], t, v, arena);
                if (!f)
                    want = got;
                cr_assert_str_eq(got, want, "%s forms %d: %s, general %s", functions[k], f, got, want);
            }
        }
    }
    arena_close(arena);
}
