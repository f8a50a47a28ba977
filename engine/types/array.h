/* engine/types/array.h - arrays: their byte form, text, binary, and access to elements.
 *
 *     struct array_view view;
 *     array_open(bytes, &view);
 *     struct value *elements = array_elements(&view, arena);    view.count of them, in row-major order
 *
 * The bytes: u32 element oid, u8 dimensions (0 .. 6), u8 whether a null map follows, u16 unused; for each dimension
 * i32 length and i32 lower bound; one byte a element when there is a null map (1 = null); then the elements one after
 * another: fixed widths as they are (nulls as zeros), varying ones as u32 length and bytes (nulls with length 0).
 * Nothing is aligned. numeric elements stand in the general form. int2vector and oidvector are such arrays, too. */
#ifndef ENGINE_TYPES_ARRAY_H
#define ENGINE_TYPES_ARRAY_H

#include "engine/types/type.h"

#define ARRAY_DIMS_MAX 6
struct array_view {
    uint32_t element;
    struct sql_type type;                /* of an element */
    int dims;
    int32_t lengths[ARRAY_DIMS_MAX], lower[ARRAY_DIMS_MAX];
    uint32_t count;                      /* elements in all */
    const uint8_t *nulls;                /* or NULL */
    const uint8_t *data;
};
void array_open(struct varlen, struct array_view *);
struct value *array_elements(const struct array_view *, struct arena *);       /* bytes of varying ones point into the array */
struct varlen array_make(uint32_t element, int dims, const int32_t *lengths, const int32_t *lower, const struct value *elements, struct arena *);
struct varlen array_of(uint32_t element, const struct value *elements, uint32_t count, struct arena *);   /* one dimension from 1; none when empty */
/* The element at the subscripts; null outside the bounds or when their count is wrong. */
struct value array_subscript(struct varlen, const int32_t *subscripts, int count, struct arena *);
struct varlen array_slice(struct varlen, const int32_t *from, const int32_t *to, int count, struct arena *);
/* a[i] = v, growing a one-dimensional array as PostgreSQL does. */
enum status array_assign(struct varlen, uint32_t element, int32_t subscript, const struct value *, struct arena *, struct varlen *out) MUST_CHECK;

enum status array_in(struct sql_type array, const char *text, size_t length, struct arena *, struct varlen *out) MUST_CHECK;
void array_out(struct varlen, struct text_buffer *);
enum status vector_in(uint32_t oid, const char *text, size_t length, struct arena *, struct varlen *out) MUST_CHECK;   /* int2vector, oidvector */
void vector_out(struct varlen, struct text_buffer *);
enum status array_receive(struct sql_type array, const uint8_t *, size_t length, struct arena *, struct varlen *out) MUST_CHECK;
void array_send(struct varlen, struct text_buffer *);
int  array_compare(struct varlen, struct varlen);
uint64_t array_hash(struct varlen);
void array_key(struct varlen, struct text_buffer *out);

#endif
