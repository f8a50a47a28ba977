/* tests/engine/types_kernels_test.c - kernels and searches that exist twice answer the same, in plain C and for AVX2.
 *
 * Each pair is called with the same random bytes in every shape: all rows or a selection, a constant on either side, nulls here and there, the
 * operands as random bits and as small numbers. Values, nulls, status and the row of the first error must be the same. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "engine/types/internal.h"
#include "engine/types/processor.h"

enum { ROWS = 203, BYTES = ROWS * 16 };
static const struct kernel_pair *pairs;
static size_t pair_count;

static const struct function *function_of(kernel_fn kernel)
{
    for (size_t i = 0; i < function_count(); i++)
        if (function_at(i)->kernel == kernel)
            return function_at(i);
    return NULL;
}

static void fill(void *bytes, uint8_t width, int kind, uint64_t *seed)
{
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t r = random_next(seed);
        int64_t small = (int64_t)(r % 21) - 10;
        float f4 = (float)small;
        double f8 = (double)small / 2;
        uint64_t bits = kind == 0 ? r : (uint64_t)small;
        if (kind == 2)
            memcpy(&bits, width == 4 ? (void *)&f4 : (void *)&f8, width == 4 ? 4 : 8);
        if (width == 1)
            bits &= 1;
        memcpy((uint8_t *)bytes + i * width, &bits, width);
    }
}

static enum status run(kernel_fn kernel, const struct vector *args, const row_pos *selection, uint16_t count, const uint8_t *nulls, void *values, uint8_t *nulls_out,
                       uint8_t width, uint16_t *error_at)
{
    struct vector out = {.values = values, .nulls = nulls_out, .width = width};
    memset(values, 0x5a, BYTES);
    memcpy(nulls_out, nulls, ROWS);
    struct kernel_call call = {.out = &out, .args = args, .arg_count = 2, .selection = selection, .count = count, .row_count = ROWS,
                               .has_nulls = memchr(nulls, 1, ROWS) != NULL, .error_at = error_at};
    *error_at = 0xFFFF;
    return kernel(&call);
}

/* Of two NaNs that are added either may be the result: which bits it has nobody sees. */
static bool same_value(struct sql_type type, const uint8_t *a, const uint8_t *b)
{
    float f4[2];
    double f8[2];
    if (memcmp(a, b, type.width) == 0)
        return true;
    if (type.oid == OID_FLOAT4) {
        memcpy(&f4[0], a, 4);
        memcpy(&f4[1], b, 4);
        return f4[0] != f4[0] && f4[1] != f4[1];
    }
    memcpy(&f8[0], a, type.width);
    memcpy(&f8[1], b, type.width);
    return type.oid == OID_FLOAT8 && f8[0] != f8[0] && f8[1] != f8[1];
}

Test(kernels, both_of_a_pair_answer_the_same)
{
    pairs = kernel_pairs(&pair_count);
#if defined(__x86_64__)
    cr_assert(pair_count > 100);
    if (!__builtin_cpu_supports("avx2"))
        cr_skip_test("this processor has no AVX2");
#endif
    static _Alignas(16) uint8_t a[BYTES], b[BYTES], one[BYTES], two[BYTES];
    static uint8_t nulls[ROWS], nulls_one[ROWS], nulls_two[ROWS];
    uint64_t seed = 7;
    uint32_t errors = 0;
    for (size_t p = 0; p < pair_count; p++) {
        const struct function *f = function_of(pairs[p].plain);
        cr_assert(f, "pair %zu is no function's", p);
        uint8_t width_a = type_make(f->arg_types[0], -1).width, width_b = type_make(f->arg_types[1], -1).width;
        struct sql_type type = type_make(f->result, -1);
        uint8_t width = type.width;
        for (int round = 0; round < 72; round++) {
            fill(a, width_a, round % 3, &seed);
            fill(b, width_b, round % 3, &seed);
            row_pos selection[ROWS];
            uint16_t selected = 0;
            for (uint16_t i = 0; i < ROWS; i++) {
                nulls[i] = round % 4 == 1 && random_next(&seed) % 9 == 0;
                if (random_next(&seed) % 3)
                    selection[selected++] = i;
            }
            int shape = round / 3 % 4;
            struct vector args[2] = {{.values = a, .width = width_a, .constant = shape == 1 || shape == 3}, {.values = b, .width = width_b, .constant = shape >= 2}};
            const row_pos *rows = round / 12 % 2 ? selection : NULL;
            uint16_t count = rows ? selected : (uint16_t)(round < 36 ? ROWS : ROWS - round), at_one, at_two;
            enum status s1 = run(pairs[p].plain, args, rows, count, nulls, one, nulls_one, width, &at_one);
            enum status s2 = run(pairs[p].wide, args, rows, count, nulls, two, nulls_two, width, &at_two);
            cr_assert_eq(s1, s2, "%s, round %d: %s and %s", f->name, round, status_text(s1), status_text(s2));
            cr_assert_eq(at_one, at_two, "%s, round %d: errors in row %u and %u", f->name, round, at_one, at_two);
            errors += s1 != STATUS_OK;
            for (uint16_t n = 0; !s1 && n < count; n++) {
                uint16_t i = rows ? rows[n] : n;
                cr_assert(nulls_one[i] == nulls_two[i] && (nulls_one[i] || same_value(type, one + i * width, two + i * width)), "%s(%u, %u), round %d, row %u", f->name,
                          f->arg_types[0], f->arg_types[1], round, i);
            }
        }
    }
    cr_expect(errors > 100, "only %u calls overflowed", errors);
}

Test(kernels, a_needle_is_found_where_memmem_finds_it)
{
    uint64_t seed = 3;
    uint32_t found = 0;
    for (int round = 0; round < 60000; round++) {
        size_t length = random_next(&seed) % 150, needle_length = 1 + random_next(&seed) % (round % 2 ? 3 : 9);
        uint8_t *text = malloc(length + 1), needle[9];       /* of just that size, for AddressSanitizer */
        for (size_t i = 0; i < length; i++)
            text[i] = (uint8_t)('a' + random_next(&seed) % 3);
        for (size_t i = 0; i < needle_length; i++)
            needle[i] = (uint8_t)('a' + random_next(&seed) % 3);
        if (round % 3 == 0 && length >= needle_length)
            memcpy(needle, text + random_next(&seed) % (length - needle_length + 1), needle_length);
        const uint8_t *expected = memmem(text, length, needle, needle_length);
        cr_assert_eq(text_find(text, length, needle, needle_length), expected, "length %zu, needle %zu", length, needle_length);
        found += expected != NULL;
        free(text);
    }
    cr_expect(found > 10000 && found < 50000);
}

/* LIKE by pieces against the general matcher, for rows that lie one behind the other and for rows that don't. */
Test(kernels, like_by_pieces_matches_as_the_general_matcher_does)
{
    uint64_t seed = 11;
    uint32_t hits = 0, calls = 0;
    for (int round = 0; round < 4000; round++) {
        struct arena *arena = arena_open(NULL, "like");
        uint8_t bytes[4096], pattern[12];
        struct varlen texts[100];
        uint32_t pattern_length = (uint32_t)(random_next(&seed) % 8), used = 0;
        for (uint32_t i = 0; i < pattern_length; i++)
            pattern[i] = random_next(&seed) % 3 ? (uint8_t)('a' + random_next(&seed) % 2) : '%';
        for (int i = 0; i < 100; i++) {
            uint32_t length = (uint32_t)(random_next(&seed) % 12);
            used += round % 3 == 0 && random_next(&seed) % 5 == 0;   /* a hole */
            for (uint32_t k = 0; k < length; k++)
                bytes[used + k] = (uint8_t)('a' + random_next(&seed) % 2);
            texts[i] = varlen_of(bytes + used, length);
            used += length;
        }
        struct value constant = {.v = varlen_of(pattern, pattern_length)};
        const struct value *constants[2] = {NULL, &constant};
        struct sql_type types[2] = {type_make(OID_TEXT, -1), type_make(OID_TEXT, -1)};
        const struct function *f = function_by_oid(round % 2 ? 850 : 851);       /* textlike, textnlike */
        cr_assert(f && f->bind);
        struct function_bind bind = {.arena = arena, .arg_count = 2, .arg_types = types, .constants = constants, .kernel = f->kernel, .result = types[0]};
        cr_assert_eq(f->bind(&bind), STATUS_OK);
        uint8_t answers[100], nulls[100] = {0};
        struct vector out = {.values = answers, .nulls = nulls, .width = 1};
        struct vector args[2] = {{.values = texts}, {.values = &constant.v, .constant = true}};
        uint16_t error_at;
        struct kernel_call call = {.out = &out, .args = args, .arg_count = 2, .count = 100, .row_count = 100, .arena = arena, .data = bind.data, .error_at = &error_at, .arg_types = types};
        cr_assert_eq(bind.kernel(&call), STATUS_OK);
        for (int i = 0; i < 100; i++) {
            bool match;
            cr_assert_eq(like_match(texts[i], constant.v, false, &match), STATUS_OK);
            cr_assert_eq(answers[i], match == (round % 2 == 1), "%.*s LIKE %.*s", (int)texts[i].length, (const char *)texts[i].bytes, (int)pattern_length, (const char *)pattern);
            hits += match;
            calls++;
        }
        arena_close(arena);
    }
    cr_expect(hits > calls / 20 && hits < calls - calls / 20, "%u of %u", hits, calls);
}
