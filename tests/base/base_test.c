/* tests/base/base_test.c - arena, error and hash. */
#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(arena, gives_aligned_memory_that_does_not_overlap)
{
    struct arena *arena = arena_open(NULL, "test");
    uint8_t *values[500];
    for (int i = 0; i < 500; i++) {
        values[i] = arena_alloc(arena, (size_t)i * 7);
        cr_assert_eq((uintptr_t)values[i] % 16, 0);
        memset(values[i], i & 255, (size_t)i * 7);
    }
    for (int i = 0; i < 500; i++)
        for (int j = 0; j < i * 7; j++)
            cr_assert_eq(values[i][j], i & 255);
    arena_close(arena);
}

Test(arena, grows_a_value_in_place_moved_and_big)
{
    struct arena *arena = arena_open(NULL, "test");
    size_t bytes = 3;
    uint8_t *value = arena_copy(arena, "abc", 3);
    while (bytes < 3000000) {
        size_t more = bytes * 3 / 2 + 1;
        value = arena_grow(arena, value, bytes, more);
        memset(value + bytes, 'x', more - bytes);
        if (bytes % 3 == 0)
            arena_alloc(arena, 1); /* so that the next growth has to move */
        cr_assert_eq(memcmp(value, "abc", 3), 0);
        cr_assert_eq(value[more - 1], 'x');
        bytes = more;
    }
    cr_assert_geq(arena_bytes(arena), bytes);
    arena_reset(arena);
    cr_assert_lt(arena_bytes(arena), 100000);
    cr_assert_str_eq(arena_strdup(arena, "again"), "again");
    arena_close(arena);
}

Test(arena, closes_and_counts_children)
{
    struct arena *parent = arena_open(NULL, "parent");
    struct arena *first = arena_open(parent, "first");
    struct arena *second = arena_open(parent, "second");
    struct arena *third = arena_open(second, "third");
    size_t before = arena_bytes(parent);
    arena_alloc(third, 1000000);
    cr_assert_geq(arena_bytes(parent), before + 1000000);
    arena_close(second);
    cr_assert_lt(arena_bytes(parent), before);
    arena_close(first);
    arena_open(parent, "left to the parent");
    arena_close(parent);
    arena_close(NULL);
}

Test(arena, text_buffer_grows_and_stays_terminated)
{
    struct arena *arena = arena_open(NULL, "test");
    struct text_buffer text;
    text_buffer_open(&text, arena);
    for (int i = 0; i < 1000; i++)
        text_buffer_printf(&text, "%d,", i);
    text_buffer_puts(&text, "end");
    text_buffer_putc(&text, '.');
    cr_assert_eq(strlen(text.bytes), text.length);
    cr_assert_eq(text.length, 10 * 2 + 90 * 3 + 900 * 4 + 4);
    cr_assert_str_eq(text.bytes + text.length - 8, "999,end.");
    char *longer = arena_printf(arena, "%s|%s", text.bytes, text.bytes);
    cr_assert_eq(strlen(longer), text.length * 2 + 1);
    arena_close(arena);
}

Test(error, fills_and_empties_its_record)
{
    cr_assert_eq(error_set(STATUS_DIVISION_BY_ZERO, "division by %s", "zero"), STATUS_DIVISION_BY_ZERO);
    error_detail("one %d", 1);
    error_detail("two %d", 2);
    error_position(5);
    error_position(9);
    error_names("public", "t", NULL, "t_pkey");
    struct error *error = error_current();
    cr_assert_str_eq(error->sqlstate, "22012");
    cr_assert_str_eq(error->message, "division by zero");
    cr_assert_str_eq(error->detail, "two 2");
    cr_assert_eq(error->position, 5);
    cr_assert_null(error->column);

    struct error saved = {0};
    error_save(&saved);
    cr_assert_null(error_current()->message);
    error_set(STATUS_SYNTAX, NULL);
    cr_assert_str_eq(error_current()->message, "syntax error");
    cr_assert_eq(error_restore(&saved), STATUS_DIVISION_BY_ZERO);
    cr_assert_str_eq(error_current()->constraint, "t_pkey");
    cr_assert_null(saved.message);
    error_clear();
    cr_assert_eq(error_current()->status, STATUS_OK);
}

Test(hash, crc32c_agrees_with_its_known_values_and_with_itself)
{
    cr_assert_eq(crc32c(0, "123456789", 9), 0xe3069283u);
    cr_assert_eq(crc32c_software(0, "123456789", 9), 0xe3069283u);
    uint8_t bytes[20000];
    uint64_t random = 7;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)random_next(&random);
    for (size_t length = 0; length <= sizeof(bytes); length += 1 + length / 9) {
        uint32_t whole = crc32c(0, bytes + 1, length - (length == sizeof(bytes)));
        cr_assert_eq(whole, crc32c_software(0, bytes + 1, length - (length == sizeof(bytes))));
    }
    cr_assert_eq(crc32c(crc32c(0, bytes, 777), bytes + 777, 9000), crc32c(0, bytes, 9777));
}

Test(hash, hash_bytes_depends_on_every_byte_and_the_length)
{
    uint8_t bytes[200] = {0};
    for (size_t length = 0; length < sizeof(bytes); length++) {
        uint64_t whole = hash_bytes(bytes, length, 1);
        cr_assert_neq(whole, hash_bytes(bytes, length + 1, 1));
        cr_assert_neq(whole, hash_bytes(bytes, length, 2));
        for (size_t i = 0; i < length; i++) {
            bytes[i] ^= 64;
            uint64_t other = hash_bytes(bytes, length, 1);
            cr_assert_neq(whole, other);
            int differing = __builtin_popcountll(whole ^ other);
            cr_assert(differing > 8 && differing < 56, "%d bits differ", differing);
            bytes[i] ^= 64;
        }
    }
}
