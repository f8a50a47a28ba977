/* engine/types/function.c - the registry of functions: by position, by OID, by name.
 *
 * The rows stand in function_rows.h; the engine adds those that hang on its session or catalog. The index by name is
 * made before main runs, and again after function_register_extra (which comes before any other thread runs). */
#include "engine/types/function.h"

#include <stdlib.h>
#include <string.h>

/* Declarations of all kernels and binds that the rows name. */
#define FUNCTION_ROWS
#define FK(oid, name, kind, variadic, strict, vol, parallel, result, kernel, ...) enum status kernel(struct kernel_call *);
#define FB(oid, name, kind, variadic, strict, vol, parallel, result, bind, ...) enum status bind(struct function_bind *);
#define FKB(oid, name, kind, variadic, strict, vol, parallel, result, kernel, bind, ...) enum status kernel(struct kernel_call *); enum status bind(struct function_bind *);
#define FN(...)
#include "engine/types/function_rows.h"
#undef FK
#undef FB
#undef FKB
#undef FN

#define ARGS(...) (sizeof((uint32_t[]){0, ##__VA_ARGS__}) / sizeof(uint32_t) - 1)
#define ROW(o, n, kd, va, st, vo, pa, re, k, b, ...) \
    {.oid = o, .name = n, .kind = (enum function_kind)kd, .arg_count = ARGS(__VA_ARGS__), .variadic = va, .arg_types = {__VA_ARGS__}, \
     .result = re, .strict = st, .volatility = vo, .parallel_safe = pa, .kernel = k, .bind = b},
#define FK(oid, name, kind, variadic, strict, vol, parallel, result, kernel, ...) ROW(oid, name, kind, variadic, strict, vol, parallel, result, kernel, NULL, ##__VA_ARGS__)
#define FB(oid, name, kind, variadic, strict, vol, parallel, result, bind, ...) ROW(oid, name, kind, variadic, strict, vol, parallel, result, NULL, bind, ##__VA_ARGS__)
#define FKB(oid, name, kind, variadic, strict, vol, parallel, result, kernel, bind, ...) ROW(oid, name, kind, variadic, strict, vol, parallel, result, kernel, bind, ##__VA_ARGS__)
#define FN(oid, name, kind, variadic, strict, vol, parallel, result, ...) ROW(oid, name, kind, variadic, strict, vol, parallel, result, NULL, NULL, ##__VA_ARGS__)
static const struct function rows[] = {
#include "engine/types/function_rows.h"
};
#undef FUNCTION_ROWS
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const struct function **all;      /* in registry order */
static const struct function **by_name;  /* sorted by name, then OID */
static const struct function **by_oid;
static size_t total;

static int name_order(const void *x, const void *y)
{
    const struct function *a = *(const struct function *const *)x, *b = *(const struct function *const *)y;
    int c = strcmp(a->name, b->name);
    return c ? c : (a->oid > b->oid) - (a->oid < b->oid);
}
static int oid_order(const void *x, const void *y)
{
    const struct function *a = *(const struct function *const *)x, *b = *(const struct function *const *)y;
    return (a->oid > b->oid) - (a->oid < b->oid);
}

static void add(const struct function *from, size_t count)
{
    size_t bytes = (total + count) * sizeof *all;
    all = realloc(all, bytes);
    by_name = realloc(by_name, bytes);
    by_oid = realloc(by_oid, bytes);
    ASSERT(all && by_name && by_oid);
    for (size_t i = 0; i < count; i++)
        all[total++] = &from[i];
    memcpy(by_name, all, bytes);
    memcpy(by_oid, all, bytes);
    qsort(by_name, total, sizeof *by_name, name_order);
    qsort(by_oid, total, sizeof *by_oid, oid_order);
}

__attribute__((constructor(201))) static void function_index(void) { add(rows, ROW_COUNT); }

void function_register_extra(const struct function *extra, size_t count) { add(extra, count); }
size_t function_count(void) { return total; }
const struct function *function_at(size_t index) { return all[index]; }

const struct function *function_by_oid(uint32_t oid)
{
    size_t low = 0, high = total;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (by_oid[mid]->oid < oid)
            low = mid + 1;
        else
            high = mid;
    }
    return low < total && by_oid[low]->oid == oid ? by_oid[low] : NULL;
}

const struct function *const *functions_named(const char *name, size_t *count)
{
    size_t low = 0, high = total;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(by_name[mid]->name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    size_t end = low;
    while (end < total && !strcmp(by_name[end]->name, name))
        end++;
    *count = end - low;
    return by_name ? by_name + low : NULL;
}
