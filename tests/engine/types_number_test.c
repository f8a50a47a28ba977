/* tests/engine/types_number_test.c - decimal texts are read as strtod reads them, to the last bit: at random, and where rounding is a tie. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "engine/types/type.h"

static void check(const char *text)
{
    struct value value;
    double want = strtod(text, NULL);
    cr_assert_eq(type_in(type_make(OID_FLOAT8, -1), text, strlen(text), NULL, &value), STATUS_OK, "%s", text);
    cr_assert(memcmp(&value.f8, &want, 8) == 0, "%s: %.17g, not %.17g", text, value.f8, want);
}

Test(types_number, as_strtod)
{
    uint64_t seed = 42;
    char digits[40], text[64];
    for (int i = 0; i < 300000; i++) {
        uint64_t r = hash_u64(++seed), count = 1 + r % 19, point = (r >> 8) % (count + 1);
        for (uint64_t k = 0; k < count; k++)
            digits[k] = (char)('0' + (r >> 16 & 7 ? hash_u64(++seed) % 10 : hash_u64(++seed) % 50 == 0));     /* some mostly of zeros */
        snprintf(text, sizeof text, "%s%.*s%s%.*s", r >> 20 & 1 ? "-" : "", (int)point, digits, point < count || r >> 21 & 1 ? "." : "", (int)(count - point), digits + point);
        check(text);
    }
    for (int i = 0; i < 100000; i++) {                            /* what a double prints as, and its neighbours */
        double d = (double)(hash_u64(++seed) >> 11) / 9007199254740992.0;
        snprintf(text, sizeof text, "%.*g", 15 + i % 4, d * (i % 3 ? 1 : 1000));
        check(text);
    }
    for (uint64_t i = 0; i < 2000; i++) {                         /* halfway between two doubles */
        uint64_t odd = ((uint64_t)1 << 53) + 2 * i + 1;
        snprintf(text, sizeof text, "%llu", (unsigned long long)odd);
        check(text);
        snprintf(text, sizeof text, "%llu.5", (unsigned long long)(((uint64_t)1 << 52) + i));
        check(text);
        snprintf(text, sizeof text, "%llu.25", (unsigned long long)(((uint64_t)1 << 51) + i));
        check(text);
    }
    static const char *const some[] = { "0", "-0", "0.0", "-0.0000", "1", "0000000000000000001", "9007199254740993", "9999999999999999999", "0.1", ".5", "5.", "-.25", "0.3", "1234567.0000000000",
                                        "0.0000000000000000001", "1e10", "1.5e-5", "inf", "9007199254740992.5" };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        check(some[i]);
}
