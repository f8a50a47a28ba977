/* engine/types/kernels_misc.c - bool, uuid, and what asks about types and values: pg_typeof, num_nulls, pg_size_pretty. */
#include <stdlib.h>
#include <openssl/rand.h>
#include "engine/types/kernel.h"

KERNEL0(k_gen_random_uuid, struct interval, uint8_t u[16];
    if (RAND_bytes(u, 16) != 1) FAIL(error_set(STATUS_INTERNAL, "could not generate random values"));
    u[6] = (uint8_t)((u[6] & 0x0f) | 0x40); u[8] = (uint8_t)((u[8] & 0x3f) | 0x80); memcpy(&r, u, 16))

enum status k_pg_typeof(struct kernel_call *c)
{
    uint32_t *out = c->out->values;
    for (KERNEL_ROWS(c, i))
        out[i] = c->arg_types[0].oid;
    return STATUS_OK;
}

enum status k_pg_num_nulls(struct kernel_call *c)
{
    int32_t *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        out[i] = 0;
        for (uint16_t k = 0; k < c->arg_count; k++)
            out[i] += vector_null(&c->args[k], i);
    }
    return STATUS_OK;
}
enum status k_pg_num_nonnulls(struct kernel_call *c)
{
    int32_t *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        out[i] = 0;
        for (uint16_t k = 0; k < c->arg_count; k++)
            out[i] += !vector_null(&c->args[k], i);
    }
    return STATUS_OK;
}

enum status k_format_type(struct kernel_call *c)
{
    struct varlen *out = c->out->values;
    for (KERNEL_ROWS(c, i)) {
        if (c->out->nulls[i])
            continue;
        if (vector_null(&c->args[0], i)) {
            c->out->nulls[i] = 1;
            c->has_nulls = true;
            out[i] = (struct varlen){0};
            continue;
        }
        uint32_t oid = VECTOR(uint32_t, &c->args[0], i);
        const char *text = vector_null(&c->args[1], i) ? (type_info(oid) ? type_info(oid)->sql_name : oid ? "???" : "-") : type_format(oid, VECTOR(int32_t, &c->args[1], i), c->arena);
        out[i] = varlen_of(text, strlen(text));
    }
    return STATUS_OK;
}

/* Bytes, kB, MB, GB, TB, PB: the next unit from 10240 on, halves rounded away from zero. */
static struct varlen size_pretty(int64_t v, struct arena *arena)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    int unit = 0;
    __int128 n = v;
    bool half = false;
    while (unit < 5 && (n < 0 ? -n : n) >= (unit ? 20 * 1024 - 1 : 10 * 1024)) {
        int shift = half ? 10 : 9;
        n /= (__int128)1 << shift;
        half = true;
        unit++;
    }
    if (half)
        n = n < 0 ? (n - 1) / 2 : (n + 1) / 2;
    char *text = arena_printf(arena, "%lld %s", (long long)n, units[unit]);
    return varlen_of(text, strlen(text));
}
KERNEL1(k_pg_size_pretty, int64_t, struct varlen, r = size_pretty(a, c->arena))

/* ---- bool ---- */
KERNEL2(k_booland_statefunc, uint8_t, uint8_t, uint8_t, r = a & b)
KERNEL2(k_boolor_statefunc, uint8_t, uint8_t, uint8_t, r = a | b)

KERNEL1(k_xid8toxid, int64_t, int64_t, r = (uint32_t)a)
KERNEL2(k_oidlarger, uint32_t, uint32_t, uint32_t, r = a > b ? a : b)
KERNEL2(k_oidsmaller, uint32_t, uint32_t, uint32_t, r = a < b ? a : b)

/* ---- names of the catalog ---- */
static enum status to_regclass(struct varlen name, uint32_t type, struct arena *arena, uint32_t *out, bool lenient, bool *none)
{
    struct value v;
    enum status s = type_in(type_make(type, -1), (const char *)name.bytes, name.length, arena, &v);
    *none = false;
    if (s && lenient) {
        error_clear();
        *none = true;
        return STATUS_OK;
    }
    *out = v.oid;
    return s;
}
KERNEL1(k_text_regclass, struct varlen, uint32_t, bool none; CHECK_ROW(to_regclass(a, OID_REGCLASS, c->arena, &r, false, &none)))
#define TO_REG(NAME, TYPE) KERNEL1(k_##NAME, struct varlen, uint32_t, bool none; CHECK_ROW(to_regclass(a, TYPE, c->arena, &r, true, &none)); if (none) GIVE_NULL)
TO_REG(to_regclass, OID_REGCLASS)
TO_REG(to_regtype, OID_REGTYPE)
TO_REG(to_regproc, OID_REGPROC)
TO_REG(to_regnamespace, OID_REGNAMESPACE)
TO_REG(to_regrole, OID_REGROLE)
