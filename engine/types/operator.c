/* engine/types/operator.c - the registry of operators. The rows stand in function_rows.h; each names its function by OID. */
#include <stdlib.h>
#include <string.h>
#include "engine/types/function.h"

#define OPERATOR_ROWS
static const struct { uint32_t oid; const char *name; uint32_t left, right, result, function, commutator, negator; } rows[] = {
#define O(...) {__VA_ARGS__},
#include "engine/types/function_rows.h"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static struct operator operators[ROW_COUNT];
static const struct operator *by_name[ROW_COUNT];

static int name_order(const void *x, const void *y)
{
    const struct operator *a = *(const struct operator *const *)x, *b = *(const struct operator *const *)y;
    int c = strcmp(a->name, b->name);
    return c ? c : (a->oid > b->oid) - (a->oid < b->oid);
}

__attribute__((constructor(202))) static void operator_index(void)     /* after function.c's */
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        operators[i] = (struct operator){rows[i].oid, rows[i].name, rows[i].left, rows[i].right, rows[i].result,
                                         function_by_oid(rows[i].function), rows[i].commutator, rows[i].negator};
        ASSERT(operators[i].function);
        by_name[i] = &operators[i];
    }
    qsort(by_name, ROW_COUNT, sizeof *by_name, name_order);
}

size_t operator_count(void) { return ROW_COUNT; }
const struct operator *operator_at(size_t index) { return &operators[index]; }

const struct operator *const *operators_named(const char *name, size_t *count)
{
    size_t low = 0, high = ROW_COUNT;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(by_name[mid]->name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    size_t end = low;
    while (end < ROW_COUNT && !strcmp(by_name[end]->name, name))
        end++;
    *count = end - low;
    return by_name + low;
}
