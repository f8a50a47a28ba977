/* storage/pax.c - geometry of a page of rows. The layout and its rules: pax.h. */
#include "storage/pax.h"

enum { VERSION_BYTES = 3 * 8 + 2 * 4 + 1 };

uint32_t pax_row_bytes(const struct heap_column *columns, uint16_t count)
{
    uint32_t bytes = VERSION_BYTES;
    for (uint16_t i = 0; i < count; i++)
        bytes += pax_width(&columns[i]) + columns[i].nullable;
    return bytes;
}

static uint32_t arrays_at(uint16_t count)
{
    uint32_t at = PAX_HEAD_AT + sizeof(struct pax_head) + count * (uint32_t)sizeof(struct pax_column);
    return (at + 15) & ~15u;
}

uint32_t pax_arrays_end(const struct heap_column *columns, uint16_t count, uint32_t capacity)
{
    return arrays_at(count) + pax_row_bytes(columns, count) * capacity;
}

uint16_t pax_capacity(const struct heap_column *columns, uint16_t count, uint32_t mean_var, uint32_t first_var)
{
    uint32_t room = PAGE_BYTES - arrays_at(count);
    uint32_t row = pax_row_bytes(columns, count);
    uint32_t capacity = room / (row + mean_var);
    if (capacity > 1 && room - capacity * row < first_var)
        capacity = first_var < room ? (room - first_var) / row : 1;
    return capacity < 1 ? 1 : capacity > PAX_MAX_SLOTS ? PAX_MAX_SLOTS : (uint16_t)capacity;
}

enum status heap_layout_check(const struct heap_column *columns, uint16_t count)
{
    if (count > HEAP_COLUMNS_MAX)
        return error_set(STATUS_TOO_MANY_COLUMNS, "tables can have at most %d columns", HEAP_COLUMNS_MAX);
    uint32_t bytes = pax_arrays_end(columns, count, 1);
    for (uint16_t i = 0; i < count; i++)
        if (columns[i].width == WIDTH_VARLEN)
            bytes += 16;                     /* at the least, each can be moved out and leaves a reference */
    if (bytes > PAGE_BYTES)
        return error_set(STATUS_LIMIT_EXCEEDED, "row is too big: size %u, maximum size %u", bytes, PAGE_BYTES);
    return STATUS_OK;
}

uint32_t pax_layout(const struct heap_column *columns, uint16_t count)
{
    uint32_t hash = 2166136261u;             /* FNV-1a */
    for (uint16_t i = 0; i < count; i++)
        hash = (hash ^ (uint32_t)(columns[i].width << 1 | columns[i].nullable)) * 16777619u;
    return hash;
}

uint16_t pax_known_columns(const struct heap *heap, const uint8_t *page)
{
    const struct pax_head *head = pax_head(page);
    return head->column_count <= heap->column_count && head->layout == pax_layout(heap->columns, head->column_count) ? head->column_count : 0;
}

bool pax_takes(const struct heap *heap, const uint8_t *page)
{
    const struct pax_head *head = pax_head(page);
    return head->column_count == heap->column_count && head->layout == pax_layout(heap->columns, heap->column_count);
}

void pax_format(uint8_t *page, const struct heap_column *columns, uint16_t count, uint16_t capacity)
{
    struct pax_head *head = pax_head(page);
    struct pax_column *places = pax_columns(page);
    uint32_t at = arrays_at(count);
    head->column_count = count;
    head->capacity = capacity;
    head->layout = pax_layout(columns, count);
    for (uint32_t width = 16; width >= 1; width /= 2) {
        if (width == 8) {
            head->xmin = (uint16_t)at, at += 8u * capacity;
            head->xmax = (uint16_t)at, at += 8u * capacity;
            head->newer = (uint16_t)at, at += 8u * capacity;
        } else if (width == 4) {
            head->cmin = (uint16_t)at, at += 4u * capacity;
            head->cmax = (uint16_t)at, at += 4u * capacity;
        } else if (width == 1) {
            head->states = (uint16_t)at, at += capacity;
        }
        for (uint16_t i = 0; i < count; i++)
            if (pax_width(&columns[i]) == width)
                places[i].values = (uint16_t)at, at += width * capacity;
    }
    for (uint16_t i = 0; i < count; i++) {
        places[i].nulls = 0;
        if (columns[i].nullable)
            places[i].nulls = (uint16_t)at, at += capacity;
    }
    ASSERT(at == pax_arrays_end(columns, count, capacity) && at <= PAGE_BYTES);
    head->arrays_end = (uint16_t)at;
    head->var_start = (uint16_t)PAGE_BYTES;
    head->slot_count = head->unfilled = head->flags = 0;
}

enum status pax_check_kind(const struct heap *heap, const struct page_ref *ref, bool *empty)
{
    const struct page_header *header = page_header(ref->bytes);
    const struct pax_head *head = pax_head(ref->bytes);
    *empty = header->kind == PAGE_NONE;
    if (*empty)
        return STATUS_OK;
    if (header->kind != PAGE_HEAP || head->slot_count > head->capacity || head->capacity > PAX_MAX_SLOTS ||
        head->arrays_end > head->var_start || head->var_start > PAGE_BYTES)
        return error_set(STATUS_CORRUPT, "invalid page in block %u of relation \"%s\"", ref->id.page, heap->name);
    return STATUS_OK;
}
