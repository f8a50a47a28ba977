/* engine/exec/index_range.c - an index's bounds as ranges of key bytes (index_range.h). */
#include <stdlib.h>

#include "engine/exec/index_range.h"
#include "engine/types/array.h"
#include "engine/types/numeric.h"

void index_range_open(struct index_range *r, const struct index *index, const struct index_bound *bound, struct arena *arena)
{
    *r = (struct index_range){ .index = index, .bound = bound };
    text_buffer_open(&r->prefix, arena);
    text_buffer_open(&r->low, arena);
    text_buffer_open(&r->high, arena);
}

/* A numeric's key is the same in all of its forms: the value's own form is what counts. */
static void append(struct text_buffer *key, const struct index_column *column, struct sql_type type, const struct value *value)
{
    if (value->null) {
        key_append_null(column->flags, key);
        return;
    }
    struct vector v;
    vector_of_value(&v, value, type.width);
    key_append(type, column->flags, &v, 0, key);
}

static void copy_key(struct text_buffer *to, const struct text_buffer *from)
{
    to->length = 0;
    text_buffer_add(to, from->bytes, from->length);
}

void index_range_make(struct index_range *r, const struct value *low, const struct value *high)
{
    const struct index_bound *b = r->bound;
    const struct index_column *column = b->equal_count < r->index->column_count ? &r->index->columns[b->equal_count] : NULL;
    copy_key(&r->low, &r->prefix);
    copy_key(&r->high, &r->prefix);
    if (b->null_test) {
        key_append_null(column->flags, &r->low);
        copy_key(&r->high, &r->low);
        key_successor(&r->high);
        return;
    }
    if (!low && !high) {
        key_successor(&r->high);
        return;
    }
    bool descending = column->flags & KEY_DESC, nulls_first = column->flags & KEY_NULLS_FIRST;
    /* nulls are in no range */
    if (nulls_first) {
        key_append_null(column->flags, &r->low);
        key_successor(&r->low);
        key_successor(&r->high);
    } else {
        key_append_null(column->flags, &r->high);
    }
    const struct value *first = descending ? high : low, *last = descending ? low : high;
    const struct scalar *first_bound = descending ? b->high : b->low, *last_bound = descending ? b->low : b->high;
    bool first_inclusive = descending ? b->high_inclusive : b->low_inclusive, last_inclusive = descending ? b->low_inclusive : b->high_inclusive;
    if (first) {
        copy_key(&r->low, &r->prefix);
        append(&r->low, column, first_bound->type, first);
        if (!first_inclusive)
            key_successor(&r->low);
    }
    if (last) {
        copy_key(&r->high, &r->prefix);
        append(&r->high, column, last_bound->type, last);
        if (last_inclusive)
            key_successor(&r->high);
    }
}

static int compare_keys(const void *a, const void *b)
{
    const struct varlen *x = a, *y = b;
    uint32_t n = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->bytes, y->bytes, n);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* numeric elements stand in the general form, a column may have a fixed one. False: the column can't hold that value. */
static bool to_column_form(struct sql_type from, struct sql_type to, struct value *value, struct arena *arena)
{
    if (to.oid != OID_NUMERIC || (from.width == to.width && from.scale == to.scale))
        return true;
    struct vector v;
    struct value written = {0};
    struct numeric before, after;
    vector_of_value(&v, value, from.width);
    numeric_read(from, &v, 0, &before);
    bool fits = numeric_write(to, &before, written.bytes, arena) == STATUS_OK;
    if (fits) {
        vector_of_value(&v, &written, to.width);
        numeric_read(to, &v, 0, &after);
        fits = numeric_compare(&before, &after) == 0;
        numeric_free(&after);
    }
    numeric_free(&before);
    *value = written;
    return fits;
}

uint32_t index_range_keys(struct index_range *r, const struct value *array, struct arena *arena, struct varlen **out)
{
    const struct index_column *column = &r->index->columns[r->bound->equal_count];
    struct array_view view;
    array_open(array->v, &view);
    struct value *elements = array_elements(&view, arena);
    struct varlen *keys = *out = arena_array(arena, struct varlen, view.count + 1u);
    uint32_t count = 0, distinct = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        if (elements[i].null || !to_column_form(view.type, column->type, &elements[i], arena))
            continue;
        struct text_buffer key;
        text_buffer_open(&key, arena);
        text_buffer_add(&key, r->prefix.bytes, r->prefix.length);
        append(&key, column, column->type, &elements[i]);
        keys[count++] = (struct varlen){ .bytes = (const uint8_t *)key.bytes, .length = (uint32_t)key.length };
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || compare_keys(&keys[distinct - 1], &keys[i]) != 0)
            keys[distinct++] = keys[i];
    return distinct;
}

void index_range_key(struct index_range *r, const struct varlen *key)
{
    r->low.length = r->high.length = 0;
    text_buffer_add(&r->low, key->bytes, key->length);
    text_buffer_add(&r->high, key->bytes, key->length);
    key_successor(&r->high);
}
