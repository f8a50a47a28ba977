/* engine/types/type.h - SQL types: what a value's bytes mean.
 *
 * A type is (oid, typmod) as in PostgreSQL, with PostgreSQL's OIDs, and a *form*: how its values lie in vectors and
 * pages. Forms: width 1 bool "char"; 2 int2; 4 int4 float4 date oid; 8 int8 float8 time timestamp timestamptz;
 * 16 interval uuid; 0 (struct varlen) text varchar bpchar name bytea numeric arrays.
 *
 * numeric has three forms. DEC64 (width 8): an int64 counted in units of 10^-scale, for precision <= 18; DEC128
 * (width 16): an __int128, for precision <= 38; else general (width 0): the byte form of engine/types/numeric.h, any
 * precision. The form follows from the declared (precision, scale) of a column, and in expressions from the rules in
 * numeric.h: + - * stay fixed while the result's precision is known to be <= 38. NaN is the largest value of the integer
 * (so it sorts last, as PostgreSQL wants). A fixed form always shows exactly `scale` digits. */
#ifndef ENGINE_TYPES_TYPE_H
#define ENGINE_TYPES_TYPE_H

#include "base/arena.h"
#include "base/vector.h"

#define OID_BOOL 16
#define OID_BYTEA 17
#define OID_CHAR 18            /* "char" */
#define OID_NAME 19
#define OID_INT8 20
#define OID_INT2 21
#define OID_INT2VECTOR 22
#define OID_INT4 23
#define OID_REGPROC 24
#define OID_TEXT 25
#define OID_OID 26
#define OID_TID 27
#define OID_XID 28
#define OID_OIDVECTOR 30
#define OID_JSON 114
#define OID_FLOAT4 700
#define OID_FLOAT8 701
#define OID_UNKNOWN 705
#define OID_BPCHAR 1042
#define OID_VARCHAR 1043
#define OID_DATE 1082
#define OID_TIME 1083
#define OID_TIMESTAMP 1114
#define OID_TIMESTAMPTZ 1184
#define OID_INTERVAL 1186
#define OID_NUMERIC 1700
#define OID_REGCLASS 2205
#define OID_REGTYPE 2206
#define OID_RECORD 2249
#define OID_VOID 2278
#define OID_UUID 2950
#define OID_CID 29
#define OID_CSTRING 2275
#define OID_REGPROCEDURE 2202
#define OID_REGOPER 2203
#define OID_REGROLE 4096
#define OID_PG_NODE_TREE 194
#define OID_INTERNAL 2281
#define OID_ANYNONARRAY 2776
#define OID_ANYCOMPATIBLE 5077
#define OID_ANYCOMPATIBLEARRAY 5078
#define OID_ANYCOMPATIBLENONARRAY 5079
#define OID_REGNAMESPACE 4089
/* pseudo types of polymorphic functions */
#define OID_ANY 2276
#define OID_ANYARRAY 2277
#define OID_ANYELEMENT 2283
/* arrays: bool[] 1000, int2[] 1005, int4[] 1007, text[] 1009, bpchar[] 1014, varchar[] 1015, int8[] 1016, float4[] 1021, float8[] 1022,
 * oid[] 1028, name[] 1003, "char"[] 1002, timestamp[] 1115, date[] 1182, numeric[] 1231, uuid[] 2951 … (type_array_of) */

struct sql_type {
    uint32_t oid;
    int32_t  typmod;                     /* PostgreSQL's encoding; -1 none */
    uint8_t  width;                      /* the form: 1 2 4 8 16 or WIDTH_VARLEN */
    int16_t  scale;                      /* numeric in a fixed form: digits after the point */
    int16_t  precision;                  /* numeric in a fixed form: most digits in all */
};

/* One value outside a vector. */
struct value {
    bool null;
    union { bool b; int8_t c; int16_t i2; int32_t i4; int64_t i8; uint32_t oid; float f4; double f8; __int128 i16; uint8_t bytes[16]; struct varlen v; };
};

/* Values of type_env's styles (settings DateStyle, IntervalStyle); defined here for settings and datetime.c alike. */
enum date_style { DATE_STYLE_ISO, DATE_STYLE_SQL, DATE_STYLE_POSTGRES, DATE_STYLE_GERMAN };
enum date_order { DATE_ORDER_MDY, DATE_ORDER_DMY, DATE_ORDER_YMD };
enum interval_style { INTERVAL_STYLE_POSTGRES, INTERVAL_STYLE_VERBOSE, INTERVAL_STYLE_SQL, INTERVAL_STYLE_ISO };
/* datetime.c: a time zone by name (IANA, UTC, +02, EST5EDT …); NULL when there is none. Lives for good. *canonical: how SHOW prints it. */
const void *datetime_zone_find(const char *name, const char **canonical);

/* What functions need of the session: time zone, the clock of the transaction, output settings. */
struct type_env {
    const char *timezone_name;
    const void *timezone;                /* datetime.c's */
    int   date_style, date_order, interval_style;   /* datetime.h */
    int   extra_float_digits;            /* 1 = shortest exact, as PostgreSQL 12+ */
    int   bytea_output;                  /* 0 hex, 1 escape */
    int64_t now_us;                      /* transaction's start, microseconds since 2000-01-01 UTC */
    int64_t statement_us;
    void *session;                       /* struct session, for functions that ask it (current_user …) */
};
extern _Thread_local const struct type_env *type_env;    /* set by the session for itself and by workers for their leader; never NULL (a default) */
const struct type_env *type_env_default(void);         /* UTC, ISO: what a thread without a session has */

/* Names of the catalog, for regclass, regproc, regtype, regnamespace, regrole: installed once by the engine at start.
 * `type` is the reg type's oid. to_oid fails with PostgreSQL's errors; to_name answers false when there is no such object. */
struct name_lookup {
    enum status (*to_oid)(uint32_t type, const char *name, uint32_t *out);
    bool (*to_name)(uint32_t type, uint32_t oid, struct text_buffer *out);
};
extern const struct name_lookup *type_name_lookup;                      /* NULL: numbers, and the types and functions known here */

struct type_info {
    uint32_t oid, array_oid, element_oid;
    const char *name;                    /* pg_type.typname: int4 */
    const char *sql_name;                /* format_type: integer */
    int16_t  length;                     /* pg_type.typlen */
    char     category;                   /* PostgreSQL's typcategory */
    bool     preferred;
    uint8_t  width;                      /* default form */
};
const struct type_info *type_info(uint32_t oid);                        /* NULL when there is none */
const struct type_info *type_by_name(const char *name);                 /* pg_type names */
size_t   type_count(void);
const struct type_info *type_at(size_t index);
uint32_t type_array_of(uint32_t element);                               /* 0 when none */
/* Completes form from oid and typmod. */
struct sql_type type_make(uint32_t oid, int32_t typmod);
const char *type_format(uint32_t oid, int32_t typmod, struct arena *);   /* numeric(15,2), character varying(10) … */
/* int4[] is written with element type int4: the type of an element, for polymorphic functions; 0 when not an array. */
static inline uint32_t type_element_of(uint32_t oid) { const struct type_info *t = type_info(oid); return t && t->category == 'A' ? t->element_oid : 0; }
static inline bool type_is_array(uint32_t oid) { return type_element_of(oid) != 0; }
/* The form differs: a value of one must be rewritten (cast_length) before it is one of the other. */
bool type_same_form(struct sql_type, struct sql_type);
/* The form in which values of both types, of one oid, can stand in one column (CASE, UNION, COALESCE, VALUES). */
struct sql_type type_common_form(struct sql_type, struct sql_type);
/* The exact form of a numeric constant written in SQL: 12.50 is numeric with 4 digits, 2 after the point. */
struct sql_type type_numeric_literal(const char *text, size_t length);
/* typmod from the modifiers written in SQL, e.g. numeric(15,2); errors as PostgreSQL's. */
enum status type_typmod(uint32_t oid, const int32_t *modifiers, int count, int32_t *out) MUST_CHECK;

/* Text and binary input and output. in: any length, validated; typmod applied (varchar too long is 22001, numeric is rounded). The bytes of results live in the arena. */
enum status type_in(struct sql_type, const char *text, size_t length, struct arena *, struct value *out) MUST_CHECK;
enum status type_receive(struct sql_type, const uint8_t *bytes, size_t length, struct arena *, struct value *out) MUST_CHECK;
/* Appends to the buffer. `at` is a position in v (not null). */
void        type_out(struct sql_type, const struct vector *v, size_t at, struct text_buffer *out);
void        type_send(struct sql_type, const struct vector *v, size_t at, struct text_buffer *out);

/* Values and vectors. */
void        value_put(struct sql_type, const struct value *, struct vector *out, size_t at);   /* nulls array must exist if it is null */
struct value value_get(struct sql_type, const struct vector *, size_t at);
void        value_vector(struct sql_type, const struct value *, struct arena *, struct vector *out);   /* constant vector */

/* Order and equality, as the type's default btree operator class. bpchar ignores trailing blanks; text compares bytes (collation C). */
int      type_compare(struct sql_type, const struct vector *a, size_t at_a, const struct vector *b, size_t at_b);   /* neither null */
uint64_t type_hash(struct sql_type, const struct vector *, size_t at);   /* equal values hash equal, also across numeric forms */
bool     type_comparable(uint32_t oid);
bool     type_hashable(uint32_t oid);

/* engine/types/key.c: appends the value's memcmp-able bytes (with a null marker byte first). */
enum key_flags { KEY_DESC = 1, KEY_NULLS_FIRST = 2 };
void     key_append(struct sql_type, unsigned flags, const struct vector *, size_t at, struct text_buffer *out);
void     key_append_null(unsigned flags, struct text_buffer *out);
void     key_successor(struct text_buffer *key);          /* smallest byte string that sorts after every string with this prefix; length 0 = none */
/* Takes one column's bytes off a key; for index-only reading and messages. Not every type can (text with its end marker can). */
bool     key_exact(struct sql_type);                      /* what key_take gives back is the very value, to the byte: not so for -0, an interval of 30 days, a numeric's zeros */
enum status key_take(struct sql_type, unsigned flags, const uint8_t **bytes, size_t *length, struct arena *, struct value *out) MUST_CHECK;

#endif
