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
