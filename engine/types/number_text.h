/* engine/types/number_text.h - numbers and truth values, from text and to text (number_text.c). The parsers take PostgreSQL's forms, white space around
 * them too, and raise its errors. */
#ifndef ENGINE_TYPES_NUMBER_TEXT_H
#define ENGINE_TYPES_NUMBER_TEXT_H

#include "base/arena.h"
#include "base/error.h"

enum status int_parse(const char *, size_t, int bits, int64_t *out) MUST_CHECK;
enum status oid_parse(const char *, size_t, const char *type, uint64_t max, uint64_t *out) MUST_CHECK;
enum status float8_parse(const char *, size_t, double *out) MUST_CHECK;
enum status float4_parse(const char *, size_t, float *out) MUST_CHECK;
enum status bool_parse(const char *, size_t, bool *out) MUST_CHECK;
void int8_print(int64_t, struct text_buffer *);
void float8_print(double, struct text_buffer *);
void float4_print(float, struct text_buffer *);

#endif
