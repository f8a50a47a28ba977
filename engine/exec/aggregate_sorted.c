/* engine/exec/aggregate_sorted.c - ORDER BY inside an aggregate, and DISTINCT where the order of its values shows (a sum of floats, array_agg).
 *
 * The rows' arguments are kept, with their group; at the end they are sorted and handed to the aggregate in that order. */
#include <stdlib.h>
#include "engine/exec/aggregate_private.h"

struct sorted_rows { struct sql_type *types; struct vector *columns; struct rows rows; };     /* set, group, arguments */
#define FIXED_COLUMNS 2

struct sorted_rows *sorted_open(struct aggregate_local *l, const struct call *c)
{
    struct sorted_rows *s = arena_new(l->arena, struct sorted_rows);
    uint16_t count = (uint16_t)(c->item->arg_count + FIXED_COLUMNS);
    s->types = arena_array(l->arena, struct sql_type, count);
    s->types[0] = s->types[1] = type_make(OID_INT4, -1);
    memcpy(s->types + FIXED_COLUMNS, c->arg_types, c->item->arg_count * sizeof *s->types);
    s->columns = arena_array(l->arena, struct vector, count);
    rows_open(&s->rows, l->arena, s->types, count);
    return s;
}

void sorted_add(struct aggregate_local *l, const struct call *c, struct sorted_rows *s, uint16_t set, const struct vector *args, const row_pos *rows, uint16_t count)
{
    int32_t number = set;
    uint32_t none = 0;
    s->columns[0] = (struct vector){ .values = &number, .width = 4, .constant = true };
    s->columns[1] = l->local.op->plan->group_count ? (struct vector){ .values = l->groups, .width = 4 } : (struct vector){ .values = &none, .width = 4, .constant = true };
    memcpy(s->columns + FIXED_COLUMNS, args, c->item->arg_count * sizeof *args);
    struct batch batch = { .columns = s->columns, .column_count = s->rows.column_count };
    rows_append_some(&s->rows, &batch, rows, count);
}

static const struct vector *at(const struct sorted_rows *s, uint64_t row, uint32_t column) { return rows_column(&s->rows, row, (uint16_t)column); }
static uint32_t number_at(const struct sorted_rows *s, uint64_t row, uint32_t column) { return ((const uint32_t *)at(s, row, column)->values)[rows_at(row)]; }

struct sorting { const struct sorted_rows *rows; const struct aggregate_item *item; };
static _Thread_local const struct sorting *sorting_now;

static int compare_kept(const void *a, const void *b)
{
    const struct sorted_rows *s = sorting_now->rows;
    const struct aggregate_item *item = sorting_now->item;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    for (uint32_t c = 0; c < FIXED_COLUMNS; c++)
        if (number_at(s, x, c) != number_at(s, y, c))
            return number_at(s, x, c) < number_at(s, y, c) ? -1 : 1;
    uint16_t by = (uint16_t)(item->sort_count + (item->distinct ? item->arg_count : 0));
    for (uint16_t k = 0; k < by; k++) {
        struct sort_item plain = { .column = (uint16_t)(k - item->sort_count) };
        const struct sort_item *sort = k < item->sort_count ? &item->sort[k] : &plain;
        uint16_t c = (uint16_t)(sort->column + FIXED_COLUMNS);
        bool null_x = vector_null(at(s, x, c), rows_at(x)), null_y = vector_null(at(s, y, c), rows_at(y));
        if (null_x || null_y) {
            if (null_x != null_y)
                return (null_x == sort->nulls_first) ? -1 : 1;
            continue;
        }
        int order = type_compare(s->types[c], at(s, x, c), rows_at(x), at(s, y, c), rows_at(y));
        if (order)
            return sort->descending ? -order : order;
    }
    return x < y ? -1 : x > y;
}

static bool same_arguments(const struct sorted_rows *s, uint32_t arg_count, uint64_t x, uint64_t y)
{
    for (uint32_t c = FIXED_COLUMNS; c < arg_count + FIXED_COLUMNS; c++)
        if (!same_value(s->types[c], at(s, x, c), rows_at(x), at(s, y, c), rows_at(y)))
            return false;
    return true;
}

/* Hands the rows in this order to the states of their groups, a group at a time. */
static enum status replay(struct aggregate_local *l, const struct call *c, const struct sorted_rows *s, const uint64_t *order, uint64_t count)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    uint16_t arg_count = c->item->arg_count;
    struct vector *args = arena_array(l->arena, struct vector, arg_count + 1u);
    for (uint32_t k = 0; k < arg_count; k++)
        vector_make(&args[k], l->arena, c->arg_types[k].width, BATCH_ROWS);
    enum status status = STATUS_OK;
    uint64_t previous = UINT64_MAX;
    for (uint64_t from = 0; from < count && !status;) {
        uint32_t set = number_at(s, order[from], 0), group = number_at(s, order[from], 1);
        uint16_t m = 0, error_at = NO_ROW;
        for (; from < count && m < BATCH_ROWS; from++) {
            uint64_t row = order[from];
            if (number_at(s, row, 0) != set || number_at(s, row, 1) != group) {
                previous = UINT64_MAX;
                break;
            }
            bool same = c->item->distinct && previous != UINT64_MAX && same_arguments(s, arg_count, previous, row);
            previous = row;
            if (same)
                continue;
            for (uint32_t k = 0; k < arg_count; k++)
                vector_copy_one(at(s, row, k + FIXED_COLUMNS), rows_at(row), &args[k], m);
            m++;
        }
        struct aggregate_call call = { .args = args, .arg_types = c->arg_types, .arg_count = arg_count, .count = m, .arena = l->arena, .data = c->item->data, .error_at = &error_at };
        if (m)
            status = c->aggregate->update_one(&call, l->tables[set].states + (size_t)group * n->exact_bytes + c->offset);
        if (!status)
            status = run_check(l->local.worker);
    }
    return status;
}

enum status sorted_finish(struct aggregate_local *l, uint16_t number)
{
    struct aggregate_node *n = (struct aggregate_node *)l->local.op;
    const struct call *c = &n->calls[number];
    const struct sorted_rows *s = l->call_locals[number].kept;
    uint64_t count = s->rows.count;
    uint64_t *order = malloc((count + 1) * sizeof *order);
    if (!order)
        panic("out of memory");
    for (uint64_t i = 0; i < count; i++)
        order[i] = i;
    struct sorting sorting = { .rows = s, .item = c->item };
    sorting_now = &sorting;
    qsort(order, count, sizeof *order, compare_kept);
    enum status status = replay(l, c, s, order, count);
    free(order);
    return status;
}
