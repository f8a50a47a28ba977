/* tests/engine/exec_rows_test.c - rows kept in memory, and numbered distinct rows, against plain arrays. */
#include <stdio.h>
#include <criterion/criterion.h>
#include <string.h>
#include "base/hash.h"
#include "engine/exec/row_table.h"

#define COUNT 5000

Test(exec_rows, rows_come_back_as_they_were_kept)
{
    struct arena *arena = arena_open(NULL, "test");
    struct sql_type types[2] = { type_make(OID_INT4, -1), type_make(OID_TEXT, -1) };
    struct rows rows;
    rows_open(&rows, arena, types, 2);
    uint64_t random = 7;
    static int32_t numbers[COUNT];
    static bool nulls[COUNT];
    uint64_t kept = 0;
    while (kept < COUNT) {
        int32_t values[100];
        uint8_t null_bytes[100];
        char bytes[100][16];
        struct varlen texts[100];
        row_pos selection[100];
        uint16_t n = 0;
        for (uint16_t i = 0; i < 100; i++) {
            values[i] = (int32_t)random_next(&random);
            null_bytes[i] = random_next(&random) % 5 == 0;
            snprintf(bytes[i], sizeof bytes[i], "%d", values[i]);
            texts[i] = (struct varlen){ .bytes = (uint8_t *)bytes[i], .length = (uint32_t)strlen(bytes[i]) };
            if (random_next(&random) % 2 && kept + n < COUNT)
                selection[n++] = i;
        }
        struct vector columns[2] = { { .values = values, .nulls = null_bytes, .width = 4 }, { .values = texts, .width = WIDTH_VARLEN } };
        struct batch batch = { .columns = columns, .column_count = 2, .row_count = 100, .selection = selection, .selected_count = n };
        rows_append(&rows, &batch);
        for (uint16_t k = 0; k < n; k++) {
            numbers[kept] = values[selection[k]];
            nulls[kept++] = null_bytes[selection[k]];
        }
    }
    cr_assert_eq(rows.count, COUNT);
    for (uint64_t r = 0; r < COUNT; r++) {
        const struct vector *a = rows_column(&rows, r, 0), *b = rows_column(&rows, r, 1);
        char text[16];
        snprintf(text, sizeof text, "%d", numbers[r]);
        struct varlen v = VECTOR(struct varlen, b, rows_at(r));
        cr_assert_eq(vector_null(a, rows_at(r)), nulls[r]);
        cr_assert(nulls[r] || VECTOR(int32_t, a, rows_at(r)) == numbers[r]);
        cr_assert(v.length == strlen(text) && memcmp(v.bytes, text, v.length) == 0);
    }
    arena_close(arena);
}

Test(exec_rows, distinct_rows_are_numbered_in_the_order_they_came)
{
    struct arena *arena = arena_open(NULL, "test");
    for (int key_count = 1; key_count <= 2; key_count++) {
        struct sql_type types[2] = { type_make(OID_INT8, -1), type_make(OID_INT4, -1) };
        struct row_table table;
        row_table_open(&table, arena, types, (uint16_t)key_count);
        static int64_t first[COUNT];
        uint32_t known = 0;
        uint64_t random = 11;
        for (int round = 0; round < 200; round++) {
            int64_t values[64];
            uint8_t nulls[64];
            int32_t others[64];
            uint64_t hashes[64];
            uint32_t entries[64];
            for (int i = 0; i < 64; i++) {
                values[i] = (int64_t)(random_next(&random) % 900);
                nulls[i] = values[i] == 5;
                others[i] = (int32_t)(values[i] % 3);
            }
            struct vector columns[2] = { { .values = values, .nulls = nulls, .width = 8 }, { .values = others, .width = 4 } };
            struct batch batch = { .columns = columns, .column_count = (uint16_t)key_count, .row_count = 64 };
            hash_columns(types, columns, (uint16_t)key_count, NULL, 64, hashes);
            row_table_add(&table, &batch, NULL, 64, hashes, entries);
            for (int i = 0; i < 64; i++) {
                if (entries[i] == known)
                    first[known++] = values[i];
                cr_assert_lt(entries[i], known);
                cr_assert_eq(first[entries[i]], values[i]);
            }
            row_table_find(&table, &batch, NULL, 64, hashes, entries);
            for (int i = 0; i < 64; i++)
                cr_assert_eq(first[entries[i]], values[i]);
        }
        cr_assert_eq(row_table_count(&table), known);
    }
    arena_close(arena);
}

/* Keys number 0 .. DOMAIN - 1 of every kind that a table finds in its own way; equal keys don't always have equal bytes. */
#define DOMAIN 40000
enum kind { CLOSE, SPARSE, ENDS, SPREAD, SHORT_TEXT, MIXED_TEXT, PAIR, PADDED, LETTERS, FLOATS, KINDS };
static const char *const kind_names[KINDS] = { "integers that lie close", "far apart", "at both ends", "spread, but dense once there are many", "short texts", "short and long texts",
                                               "an integer and a text, either null", "padded texts", "an integer and a letter", "floats" };

static uint16_t key_types(enum kind kind, struct sql_type *types)
{
    types[0] = type_make(kind == CLOSE || kind == PAIR || kind == LETTERS ? OID_INT4 : kind < SHORT_TEXT ? OID_INT8 : kind == PADDED ? OID_BPCHAR : kind == FLOATS ? OID_FLOAT8 : OID_TEXT, -1);
    types[1] = type_make(kind == LETTERS ? OID_BPCHAR : OID_TEXT, -1);
    return kind == PAIR || kind == LETTERS ? 2 : 1;
}

static void key_put(enum kind kind, int n, uint64_t random, struct vector *columns, size_t at, char (*bytes)[48])
{
    int64_t *longs = columns[0].values;
    struct varlen *text = &((struct varlen *)(kind == PAIR || kind == LETTERS ? columns[1].values : columns[0].values))[at];
    columns[0].nulls[at] = columns[1].nulls[at] = 0;
    switch (kind) {
    case CLOSE:  ((int32_t *)columns[0].values)[at] = n - DOMAIN / 2; break;
    case SPARSE: longs[at] = n * 1000000007LL; break;
    case ENDS:   longs[at] = n % 2 ? INT64_MAX - n : INT64_MIN + n; break;
    case SPREAD: longs[at] = n * 6LL - 100000; break;
    case FLOATS: ((double *)columns[0].values)[at] = n ? n / 8.0 : random % 2 ? 0.0 : -0.0; break;
    case SHORT_TEXT: snprintf(bytes[at], sizeof *bytes, "%d", n); break;
    case MIXED_TEXT: snprintf(bytes[at], sizeof *bytes, n % 3 ? "%d" : "a key that is too long to be packed %d", n); break;
    case PADDED: snprintf(bytes[at], sizeof *bytes, "%d%.*s", n, (int)(random % 12), "            "); break;
    case LETTERS: /* a batch has letters only, or a blank among them */
        ((int32_t *)columns[0].values)[at] = n / 4;
        snprintf(bytes[at], sizeof *bytes, "%c", n % 4 == 3 && n < 40 ? ' ' : 'a' + n % 4);
        break;
    default:
        ((int32_t *)columns[0].values)[at] = n / 2;
        columns[0].nulls[at] = n < 2;    /* (null, ''), (null, null) */
        snprintf(bytes[at], sizeof *bytes, "%s", n % 2 ? "" : "x");
        columns[1].nulls[at] = n % 2 == 0;
    }
    if (kind >= SHORT_TEXT && kind != FLOATS)
        *text = (struct varlen){ .bytes = (uint8_t *)bytes[at], .length = (uint32_t)strlen(bytes[at]) };
    if (kind < SHORT_TEXT && n == 7)     /* one of them is null */
        columns[0].nulls[at] = 1;
}

Test(exec_rows, every_kind_of_key_is_numbered_in_the_order_it_came)
{
    for (enum kind kind = 0; kind < KINDS; kind++) {
        struct arena *arena = arena_open(NULL, "test");
        struct sql_type types[2];
        uint16_t key_count = key_types(kind, types);
        struct row_table table;
        static uint32_t number[DOMAIN];
        static uint8_t first[1000 * 16], second[1000 * 16], nulls[2][1000];
        static char bytes[1000][48];
        struct vector columns[2] = { { .values = first, .nulls = nulls[0], .width = types[0].width }, { .values = second, .nulls = nulls[1], .width = WIDTH_VARLEN } };
        uint32_t known = 0, entries[1000];
        uint64_t random = 5 + kind;
        int domain = 100;
        row_table_open(&table, arena, types, key_count);
        memset(number, 0xff, sizeof number);
        for (int round = 0; round < 160; round++) {
            int keys[1000];
            row_pos rows[1000];
            domain = domain * 2 < DOMAIN ? domain * 2 : DOMAIN;
            for (int i = 0; i < 1000; i++) {
                uint64_t r = random_next(&random);
                keys[i] = (int)(r % (uint64_t)domain);
                rows[i] = (row_pos)i;
                key_put(kind, keys[i], r >> 32, columns, (size_t)i, bytes);
            }
            struct vector given[2] = { columns[0], columns[1] };
            if (kind == LETTERS)
                given[0].nulls = given[1].nulls = NULL;
            struct batch batch = { .columns = given, .column_count = key_count, .row_count = 1000 };
            row_table_find(&table, &batch, rows, 1000, NULL, entries);
            for (int i = 0; i < 1000; i++)
                cr_assert_eq(entries[i], number[keys[i]], "%s: key %d is %u, found %u", kind_names[kind], keys[i], number[keys[i]], entries[i]);
            row_table_add(&table, &batch, round % 2 ? rows : NULL, 1000, NULL, entries);
            for (int i = 0; i < 1000; i++) {
                if (number[keys[i]] == ROW_TABLE_NONE)
                    number[keys[i]] = known++;
                cr_assert_eq(entries[i], number[keys[i]], "%s: key %d is %u, got %u", kind_names[kind], keys[i], number[keys[i]], entries[i]);
            }
        }
        cr_assert_eq(row_table_count(&table), known);
        cr_assert_eq(table.keys.count, known);
        if (kind == CLOSE || kind == SPREAD)
            cr_assert_eq(table.way, WAY_DENSE, "%s", kind_names[kind]);
        if (kind == SPARSE || kind == ENDS)
            cr_assert_eq(table.way, WAY_WORD, "%s", kind_names[kind]);
        arena_close(arena);
    }
}
