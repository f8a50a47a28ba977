/* storage/heap_stage.c - new rows on their way to a page: sized, their long values moved out, then written by column.
 *
 * Staging happens before any page is latched. A value longer than OVERFLOW_THRESHOLD is moved to the overflow file; so
 * are the longest of the others when a row would not fit an empty page. Writing is a verb an array, whatever the number
 * of rows: a bulk load costs a few dozen verbs a page, and one image where the page is fresh. */
#include "storage/heap_private.h"
#include "storage/zone.h"

static _Thread_local uint32_t var_bytes_area[BATCH_MAX];
static _Thread_local uint8_t var_area[PAGE_BYTES];
static _Thread_local uint8_t array_area[PAX_MAX_SLOTS * 16] __attribute__((aligned(16)));

struct movable {                             /* the columns once something is moved out of them */
    struct vector *columns;
    bool *moved;
};

static void make_movable(struct staged *s, struct movable *m, uint16_t column, uint16_t row_count)
{
    if (!s->arena) {
        s->arena = arena_open(NULL, "long values");
        m->columns = arena_copy(s->arena, s->columns, sizeof *m->columns * s->heap->column_count);
        m->moved = arena_array(s->arena, bool, s->heap->column_count);
        s->columns = m->columns;
        s->moved = m->moved;
    }
    if (m->moved[column])
        return;
    m->moved[column] = true;
    struct vector *vector = &m->columns[column];
    const struct varlen *old = vector->values;
    struct varlen *values = arena_alloc(s->arena, sizeof *values * row_count);
    uint8_t *nulls = vector->nulls ? arena_alloc(s->arena, row_count) : NULL;
    for (uint16_t i = 0; i < row_count; i++) {
        values[i] = old[vector_at(vector, i)];
        values[i].unused = 0;
        if (nulls)
            nulls[i] = vector->nulls[vector_at(vector, i)];
    }
    *vector = (struct vector){values, nulls, WIDTH_VARLEN, false};
}

static enum status move_out(struct staged *s, struct movable *m, struct heap_state *state, xid_t xid, uint16_t row_count,
                            uint16_t column, uint32_t row, const struct overflow_ref *share)
{
    make_movable(s, m, column, row_count);
    struct varlen *value = &((struct varlen *)m->columns[column].values)[staged_position(s, row)];
    struct overflow_ref *ref = arena_new(s->arena, struct overflow_ref);
    bool same = false;
    enum status status = STATUS_OK;
    if (share && share[column].length == value->length && value->length)
        status = overflow_same(s->heap, &share[column], value->bytes, value->length, &same);
    if (status)
        return status;
    if (same)
        *ref = share[column];
    else
        status = overflow_write(s->heap, state, xid, value->bytes, value->length, ref);
    if (status)
        return status;
    var_bytes_area[row] -= value->length;
    var_bytes_area[row] += sizeof *ref;
    *value = (struct varlen){(const uint8_t *)ref, sizeof *ref, STAGED_OUT};
    return STATUS_OK;
}

/* The longest value of a row that lies inline and is worth moving. -1: none. */
static int32_t longest_inline(const struct staged *s, uint32_t row, uint32_t longer_than)
{
    int32_t best = -1;
    row_pos at = staged_position(s, row);
    for (uint16_t c = 0; c < s->heap->column_count; c++) {
        if (s->heap->columns[c].width != WIDTH_VARLEN || vector_null(&s->columns[c], at))
            continue;
        const struct varlen *value = &VECTOR(struct varlen, &s->columns[c], at);
        if (s->moved && s->moved[c] && value->unused == STAGED_OUT)
            continue;
        if (value->length > longer_than) {
            longer_than = value->length;
            best = c;
        }
    }
    return best;
}

enum status stage_rows(const struct heap *heap, struct heap_state *state, xid_t xid, const struct batch *rows, int32_t only,
                       const struct overflow_ref *share, struct staged *s)
{
    ASSERT(rows->column_count == heap->column_count);
    *s = (struct staged){.heap = heap, .columns = rows->columns, .var_bytes = var_bytes_area};
    if (only >= 0) {
        s->only = (row_pos)only;
        s->positions = &s->only;
        s->count = 1;
    } else {
        s->positions = rows->all_selected ? NULL : rows->selection;
        s->count = rows->all_selected ? rows->row_count : rows->selected_count;
    }
    ASSERT(s->count <= BATCH_MAX);

    bool long_values = false;
    memset(var_bytes_area, 0, sizeof *var_bytes_area * s->count);
    for (uint16_t c = 0; c < heap->column_count; c++) {
        const struct vector *vector = &rows->columns[c];
        if (vector->nulls && !heap->columns[c].nullable)
            for (uint32_t i = 0; i < s->count; i++)
                if (vector_null(vector, staged_position(s, i)))
                    return error_set(STATUS_NOT_NULL_VIOLATION, "null value in column %u of relation \"%s\" violates not-null constraint", c + 1u, heap->name);
        if (heap->columns[c].width != WIDTH_VARLEN)
            continue;
        for (uint32_t i = 0; i < s->count; i++) {
            row_pos at = staged_position(s, i);
            if (vector_null(vector, at))
                continue;
            uint32_t length = VECTOR(struct varlen, vector, at).length;
            if (length >= HEAP_VALUE_MAX)
                return error_set(STATUS_LIMIT_EXCEEDED, "value of %u bytes is too long: the maximum is %u", length, HEAP_VALUE_MAX - 1);
            var_bytes_area[i] += length;
            long_values |= length > OVERFLOW_THRESHOLD;
        }
    }
    uint32_t arrays = pax_arrays_end(heap->columns, heap->column_count, 1);
    uint32_t room = arrays < PAGE_BYTES ? PAGE_BYTES - arrays : 0;
    struct movable movable = {0};
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < s->count && !status; i++) {
        uint32_t moved = 0;
        int32_t column;
        while (!status && long_values && var_bytes_area[i] > OVERFLOW_THRESHOLD && (column = longest_inline(s, i, OVERFLOW_THRESHOLD)) >= 0) {
            status = move_out(s, &movable, state, xid, rows->row_count, (uint16_t)column, i, share);
            moved++;
        }
        while (!status && var_bytes_area[i] > room) {
            column = longest_inline(s, i, sizeof(struct overflow_ref));
            if (column < 0)
                status = error_set(STATUS_LIMIT_EXCEEDED, "row is too big: size %u, maximum size %u", arrays + var_bytes_area[i], PAGE_BYTES);
            else
                status = move_out(s, &movable, state, xid, rows->row_count, (uint16_t)column, i, share);
            moved++;
        }
        if (!status && moved > OVERFLOW_DELTAS)
            status = error_set(STATUS_LIMIT_EXCEEDED, "row is too big: %u long values, maximum %d", moved, OVERFLOW_DELTAS);
    }
    if (status)
        stage_done(s);
    return status;
}

void stage_done(struct staged *s)
{
    arena_close(s->arena);
    s->arena = NULL;
}

bool stage_deltas(const struct staged *s, uint32_t row, struct overflow_deltas *deltas)
{
    if (!s->moved)
        return true;
    row_pos at = staged_position(s, row);
    uint32_t kept = deltas->count;
    for (uint16_t c = 0; c < s->heap->column_count; c++) {
        if (!s->moved[c])
            continue;
        const struct varlen *value = &((const struct varlen *)s->columns[c].values)[at];
        struct overflow_ref ref;
        if (value->unused != STAGED_OUT)
            continue;
        memcpy(&ref, value->bytes, sizeof ref);
        if (!overflow_deltas_add(deltas, ref.first_page, 1)) {
            /* A chain is in at most one row and column of the statement's, but for one shared with an old version
             * that the same mtr may prune. So what was added past `kept` is this row's alone. */
            deltas->count = kept;
            return false;
        }
    }
    return true;
}

void pax_write_counts(struct mtr *mtr, uint8_t *page, uint16_t slot_count, uint16_t var_start, uint16_t unfilled, uint16_t flags)
{
    const uint16_t counts[4] = {slot_count, var_start, unfilled, flags};
    mtr_write(mtr, page, PAX_COUNTS_AT, counts, sizeof counts);
}

static const void *gather_fixed(const struct staged *s, const struct vector *vector, uint8_t width, uint32_t first, uint32_t count)
{
    const uint8_t *values = vector->values;
    if (!s->positions && !vector->constant)
        return values + (size_t)first * width;
#define GATHER(type)                                                                                                   \
    for (uint32_t i = 0; i < count; i++)                                                                               \
        ((type *)(void *)array_area)[i] = ((const type *)(const void *)values)[vector_at(vector, staged_position(s, first + i))];
    switch (width) {
    case 1: GATHER(uint8_t) break;
    case 2: GATHER(uint16_t) break;
    case 4: GATHER(uint32_t) break;
    case 8: GATHER(uint64_t) break;
    default:
        for (uint32_t i = 0; i < count; i++)
            memcpy(array_area + (size_t)i * width, values + vector_at(vector, staged_position(s, first + i)) * width, width);
    }
#undef GATHER
    return array_area;
}

void stage_write(struct mtr *mtr, uint8_t *page, const struct staged *s, uint32_t first, uint32_t count, uint16_t slot, xid_t xid,
                 command_t command, uint8_t state)
{
    const struct heap *heap = s->heap;
    const struct pax_head *head = pax_head(page);
    ASSERT(head->column_count == heap->column_count && slot + count <= head->capacity);

    xid_t *ids = (xid_t *)(void *)array_area;
    for (uint32_t i = 0; i < count; i++)
        ids[i] = xid;
    mtr_write(mtr, page, head->xmin + 8u * slot, ids, 8 * count);
    command_t *commands = (command_t *)(void *)array_area;
    for (uint32_t i = 0; i < count; i++)
        commands[i] = command;
    mtr_write(mtr, page, head->cmin + 4u * slot, commands, 4 * count);
    if (count == 1)
        mtr_write(mtr, page, head->states + (uint32_t)slot, &state, 1);
    else
        mtr_fill(mtr, page, head->states + (uint32_t)slot, state, count);

    uint32_t var_total = 0, var_used = 0;
    for (uint32_t i = 0; i < count; i++)
        var_total += s->var_bytes[first + i];
    ASSERT(var_total <= pax_var_room(page));
    uint16_t var_start = (uint16_t)(head->var_start - var_total);

    for (uint16_t c = 0; c < heap->column_count; c++) {
        const struct vector *vector = &s->columns[c];
        struct pax_column place = pax_columns(page)[c];
        uint8_t width = heap->columns[c].width;
        if (width != WIDTH_VARLEN) {
            mtr_write(mtr, page, place.values + (uint32_t)slot * width, gather_fixed(s, vector, width, first, count), width * count);
        } else {
            struct pax_cell *cells = (struct pax_cell *)(void *)array_area;
            bool moved = s->moved && s->moved[c];
            for (uint32_t i = 0; i < count; i++) {
                row_pos at = staged_position(s, first + i);
                cells[i] = (struct pax_cell){0, 0};
                if (vector_null(vector, at))
                    continue;
                const struct varlen *value = &VECTOR(struct varlen, vector, at);
                cells[i].offset = (uint16_t)(var_start + var_used);
                cells[i].length = moved && value->unused == STAGED_OUT ? CELL_OVERFLOW : (uint16_t)value->length;
                if (value->length)
                    memcpy(var_area + var_used, value->bytes, value->length);
                var_used += value->length;
            }
            mtr_write(mtr, page, place.values + 4u * slot, cells, 4 * count);
        }
        if (place.nulls && vector->nulls) {
            bool any = false;
            for (uint32_t i = 0; i < count; i++)
                any |= array_area[i] = vector_null(vector, staged_position(s, first + i)) != 0;
            if (any)
                mtr_write(mtr, page, place.nulls + (uint32_t)slot, array_area, count);
        }
    }
    ASSERT(var_used == var_total);
    if (var_total)
        mtr_write(mtr, page, var_start, var_area, var_total);

    uint16_t end = (uint16_t)(slot + count), slots = head->slot_count;
    uint16_t reused = slot < slots ? (uint16_t)((end < slots ? end : slots) - slot) : 0;
    if (head->flags & PAX_ALL_VISIBLE) {
        zone_clear(heap, page_header(page)->page);
        visibility_clear(mtr, heap, page_header(page)->page);
    }
    pax_write_counts(mtr, page, end > slots ? end : slots, var_start, (uint16_t)(head->unfilled - reused),
                     (uint16_t)(head->flags & ~PAX_ALL_VISIBLE));
}
