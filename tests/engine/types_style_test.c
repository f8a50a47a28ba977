/* tests/engine/types_style_test.c - binary input and output, and the styles of dates and intervals, against PostgreSQL 15's. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "engine/types/datetime.h"

static const struct { const char *type, *value, *hex, *text; } binaries[] = {
#include "tests/engine/types_binary.h"
};
static const struct { const char *type, *style, *value, *text; } styles[] = {
#include "tests/engine/types_styles.h"
};

static struct sql_type parse_type(const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "["), text);
    uint32_t oid = type_by_name(name)->oid;
    return type_make(strstr(text, "[]") ? type_array_of(oid) : oid, -1);
}

static char *print(struct sql_type type, const struct value *value, struct arena *arena)
{
    struct vector v;
    struct text_buffer b;
    value_vector(type, value, arena, &v);
    text_buffer_open(&b, arena);
    type_out(type, &v, 0, &b);
    return b.bytes ? b.bytes : "";
}

Test(types_style, binary)
{
    struct arena *arena = arena_open(NULL, "test");
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        struct sql_type type = parse_type(binaries[i].type);
        struct value value, back;
        struct vector v;
        struct text_buffer b, hex;
        cr_assert_eq(type_in(type, binaries[i].value, strlen(binaries[i].value), arena, &value), STATUS_OK);
        value_vector(type, &value, arena, &v);
        text_buffer_open(&b, arena);
        text_buffer_open(&hex, arena);
        type_send(type, &v, 0, &b);
        for (size_t k = 0; k < b.length; k++)
            text_buffer_printf(&hex, "%02x", (uint8_t)b.bytes[k]);
        cr_expect_str_eq(hex.bytes ? hex.bytes : "", binaries[i].hex, "%s %s", binaries[i].type, binaries[i].value);
        cr_assert_eq(type_receive(type, (const uint8_t *)b.bytes, b.length, arena, &back), STATUS_OK, "%s %s", binaries[i].type, binaries[i].value);
        cr_expect_str_eq(print(type, &back, arena), binaries[i].text, "%s %s", binaries[i].type, binaries[i].value);
        /* Cut short or too long, it is refused or read as something else, never past its end. */
        for (size_t n = 0; n < b.length; n++)
            if (type_receive(type, (const uint8_t *)arena_copy(arena, b.bytes, n ? n : 1), n, arena, &back))
                error_clear();
    }
    arena_close(arena);
}

Test(types_style, styles)
{
    static const char *const intervals[] = {"postgres", "postgres_verbose", "sql_standard", "iso_8601"}, *const dates[] = {"ISO", "SQL", "Postgres", "German"}, *const orders[] = {"MDY", "DMY", "YMD"};
    struct arena *arena = arena_open(NULL, "test");
    struct type_env env = *type_env_default();
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        struct sql_type type = parse_type(styles[i].type);
        struct value value;
        const char *zone = strchr(styles[i].style, '|');
        env = *type_env_default();
        type_env = &env;
        if (zone) {
            env.timezone = datetime_zone_find(zone + 1, NULL);
            for (int k = 0; k < 4; k++)
                if (!strncmp(styles[i].style, dates[k], strlen(dates[k])))
                    env.date_style = k;
            for (int k = 0; k < 3; k++)
                if (strstr(styles[i].style, orders[k]))
                    env.date_order = k;
        }
        char *got;
        if (type_in(type, styles[i].value, strlen(styles[i].value), arena, &value))
            got = arena_printf(arena, "!%s", error_current()->message);
        else {
            for (int k = 0; k < 4 && !zone; k++)
                if (!strcmp(styles[i].style, intervals[k]))
                    env.interval_style = (int[]){INTERVAL_STYLE_POSTGRES, INTERVAL_STYLE_VERBOSE, INTERVAL_STYLE_SQL, INTERVAL_STYLE_ISO}[k];
            got = print(type, &value, arena);
        }
        cr_expect_str_eq(got, styles[i].text, "%s %s %s: %s, expected %s", styles[i].type, styles[i].style, styles[i].value, got, styles[i].text);
    }
    type_env = type_env_default();
    arena_close(arena);
}
