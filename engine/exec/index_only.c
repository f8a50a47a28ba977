/* engine/exec/index_only.c - key bytes back to values (index_only.h; the bytes are key.c's). */
#include "engine/exec/index_only.h"

#include <string.h>

#define MARK_VALUE 1                     /* key.c: what stands before a value that is not null */

static void part_describe(struct index_part *part)
{
    switch (part->type.oid) {
    case OID_BOOL: part->width = 1; break;
    case OID_INT2: part->width = 2; part->is_signed = true; break;
    case OID_INT4: case OID_DATE: part->width = 4; part->is_signed = true; break;
    case OID_OID: part->width = 4; break;
    case OID_INT8: case OID_TIME: case OID_TIMESTAMP: case OID_TIMESTAMPTZ: part->width = 8; part->is_signed = true; break;
    default: break;
    }
}

void index_reader_open(struct index_reader *r, const struct plan *plan, struct arena *arena)
{
    const struct index *index = plan->index;
    *r = (struct index_reader){ .parts = arena_array(arena, struct index_part, index->column_count) };
    for (uint16_t k = 0; k < index->column_count; k++) {
        struct index_part *part = &r->parts[k];
        *part = (struct index_part){ .type = index->columns[k].type, .flags = index->columns[k].flags, .column = -1 };
        part_describe(part);
        for (uint16_t c = 0; c < plan->column_count && index->columns[k].column; c++)
            if (plan->columns[c] + 1 == index->columns[k].column) {
                part->column = c;
                r->part_count = (uint16_t)(k + 1);
            }
    }
}

static void put_fixed(const struct index_part *part, const uint8_t *bytes, struct vector *to, uint16_t at)
{
    uint64_t v = 0, flip = part->flags & KEY_DESC ? UINT64_MAX : 0;
    memcpy((uint8_t *)&v + 8 - part->width, bytes, part->width);
    v = __builtin_bswap64(v) ^ flip ^ (part->is_signed ? UINT64_C(1) << (8 * part->width - 1) : 0);
    switch (part->width) {
    case 1: ((uint8_t *)to->values)[at] = (uint8_t)v; break;
    case 2: ((uint16_t *)to->values)[at] = (uint16_t)v; break;
    case 4: ((uint32_t *)to->values)[at] = (uint32_t)v; break;
    default: ((uint64_t *)to->values)[at] = v; break;
    }
}

static void put_value(const struct index_part *part, const struct value *value, struct vector *to, uint16_t at)
{
    if (part->type.width == WIDTH_VARLEN)
        ((struct varlen *)to->values)[at] = value->v;
    else
        memcpy((uint8_t *)to->values + (size_t)at * part->type.width, value->bytes, part->type.width);
}

static enum status cut_short(void) { return error_set(STATUS_INDEX_CORRUPT, "index key is cut short"); }

enum status index_reader_row(const struct index_reader *r, const uint8_t *key, uint32_t length, struct vector *columns, uint16_t at, struct arena *arena)
{
    size_t left = length;
    for (uint16_t k = 0; k < r->part_count; k++) {
        const struct index_part *part = &r->parts[k];
        struct vector *to = part->column >= 0 ? &columns[part->column] : NULL;
        if (!left)
            return cut_short();
        bool null = *key != MARK_VALUE;
        if (to)
            to->nulls[at] = null;
        if (null) {
            struct value none = { 0 };
            if (to)
                put_value(part, &none, to, at);
            key++;
            left--;
        } else if (part->width) {
            if (left < 1u + part->width)
                return cut_short();
            if (to)
                put_fixed(part, key + 1, to, at);
            key += 1 + part->width;
            left -= 1u + part->width;
        } else {
            struct value value;
            enum status status = key_take(part->type, part->flags, &key, &left, arena, &value);
            if (status)
                return status;
            if (to)
                put_value(part, &value, to, at);
        }
    }
    return STATUS_OK;
}
