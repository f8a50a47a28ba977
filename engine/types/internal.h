/* engine/types/internal.h - what the files of engine/types share and nobody else sees. */
#ifndef ENGINE_TYPES_INTERNAL_H
#define ENGINE_TYPES_INTERNAL_H

#include "engine/types/datetime.h"
#include "engine/types/function.h"
#include "engine/types/numeric.h"
#include "engine/types/number_text.h"
#include "engine/types/utf8.h"

/* What kind of bytes a type has: its input and output, order, hash and key. */
enum type_class {
    CLASS_NONE, CLASS_BOOL, CLASS_CHAR, CLASS_INT2, CLASS_INT4, CLASS_INT8, CLASS_OID, CLASS_FLOAT4, CLASS_FLOAT8, CLASS_NUMERIC,
    CLASS_TEXT, CLASS_BPCHAR, CLASS_NAME, CLASS_BYTEA, CLASS_DATE, CLASS_TIME, CLASS_TIMESTAMP, CLASS_TIMESTAMPTZ,
    CLASS_INTERVAL, CLASS_UUID, CLASS_ARRAY, CLASS_INTVECTOR, CLASS_OIDVECTOR, CLASS_TID, CLASS_XID, CLASS_REG, CLASS_JSON, CLASS_VOID
};
enum type_class type_class(uint32_t oid);

static inline struct varlen varlen_of(const void *bytes, size_t length) { return (struct varlen){.bytes = bytes, .length = (uint32_t)length}; }

/* text.c */
bool   text_is_space(char c);                                    /* PostgreSQL's isspace */
struct varlen bpchar_trim(struct varlen);
/* varchar(n) and char(n): cut, padded or refused. */
enum status text_apply_typmod(uint32_t oid, int32_t typmod, bool explicit_cast, struct arena *, struct varlen *value) MUST_CHECK;
struct varlen text_copy(struct arena *, const void *, size_t);
int varlen_compare(struct varlen, struct varlen);                /* memcmp, then length */
static inline struct varlen buffer_varlen(const struct text_buffer *b) { return (struct varlen){.bytes = (const uint8_t *)b->bytes, .length = (uint32_t)b->length}; }
char *varlen_string(struct arena *, struct varlen);              /* NUL-terminated */
/* A NUL-terminated copy of text: in `room` where it fits, else in the arena. */
const char *text_terminated(const char *, size_t, char *room, size_t room_bytes, struct arena *);

/* bytea.c, uuid.c */
enum status bytea_parse(const char *, size_t, struct arena *, struct varlen *out) MUST_CHECK;
void bytea_print(struct varlen, struct text_buffer *);
enum status uuid_parse(const char *, size_t, uint8_t out[16]) MUST_CHECK;
void uuid_print(const uint8_t *, struct text_buffer *);

/* Any value, and as text. */
void value_print(struct sql_type, const struct value *, struct text_buffer *out);
struct value value_at(struct sql_type, const struct vector *, size_t at);      /* value_get with null looked at */
int  value_order(struct sql_type, const struct value *, const struct value *);
uint64_t value_hash(struct sql_type, const struct value *);
const void *value_bytes(const struct value *);                    /* where the bytes of its form begin */

/* Float order: NaN is equal to itself and greater than all. */
static inline int float8_compare(double a, double b)
{
    if (a != a)
        return b != b ? 0 : 1;
    if (b != b)
        return -1;
    return (a > b) - (a < b);
}

/* search.c: where the needle first stands in the text; NULL: nowhere. An empty one stands at the beginning. */
const uint8_t *text_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length);

/* LIKE and regular expressions. */
enum status like_match(struct varlen text, struct varlen pattern, bool fold, bool *out) MUST_CHECK;

#endif
