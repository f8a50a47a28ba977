/* engine/types/numeric.h - exact decimal numbers: their byte form, arithmetic, and the rules for their forms.
 *
 *     struct numeric a, b, sum;
 *     numeric_read(type, vector, i, &a); ...
 *     numeric_add(&a, &b, &sum);
 *     *out = numeric_varlen(&sum, arena);
 *     numeric_free(&a); numeric_free(&b); numeric_free(&sum);
 *
 * A number is an integer in units of 10^-scale; scale is the digits shown after the point, as PostgreSQL's dscale. The
 * integer is an __int128 where it fits, else GMP's. numeric_free is needed for numbers that may be big; freeing a
 * small one costs a branch.
 *
 * The byte form (general form, WIDTH_VARLEN): byte 0 the kind, bytes 1..2 the scale (little endian), then the
 * magnitude's bytes, little endian, without leading zeros. At most NUMERIC_MAX_WEIGHT digits stand before the point
 * and NUMERIC_MAX_SCALE after it.
 *
 * Rules for forms in expressions. With precisions p1, p2 and scales s1, s2 known (fixed forms):
 *   + -   scale max(s1,s2), precision max(p1-s1, p2-s2) + 1 + scale
 *   *     scale s1+s2, precision p1+p2
 *   %     scale max(s1,s2), precision the lesser integer part + scale
 * Up to 18 digits it is DEC64, up to 38 DEC128, beyond that (and for / and everything else) general. Constants carry
 * their exact precision (numeric_literal_type), integers 5, 10 and 19 digits. So fixed forms never overflow. */
#ifndef ENGINE_TYPES_NUMERIC_H
#define ENGINE_TYPES_NUMERIC_H

#include <gmp.h>
#include "engine/types/function.h"

#define NUMERIC_MAX_PRECISION 1000
#define NUMERIC_MAX_SCALE 16383
#define NUMERIC_MAX_WEIGHT 131072
#define DEC64_DIGITS 18
#define DEC128_DIGITS 38
#define DEC64_NAN INT64_MAX
#define DEC128_NAN ((__int128)(((unsigned __int128)1 << 127) - 1))

enum numeric_kind { NUMERIC_FINITE, NUMERIC_NEGATIVE /* only in bytes */, NUMERIC_NAN, NUMERIC_PINF, NUMERIC_NINF };
struct numeric {
    uint8_t kind;
    bool big;                            /* the integer is in z, else in small */
    int32_t scale;
    __int128 small;
    mpz_t z;
};

extern const __int128 pow10_128[39];
extern const int64_t pow10_64[19];

static inline void numeric_set(struct numeric *n, __int128 v, int scale) { n->kind = NUMERIC_FINITE; n->big = false; n->scale = scale; n->small = v; }
static inline void numeric_set_special(struct numeric *n, enum numeric_kind k) { n->kind = (uint8_t)k; n->big = false; n->scale = 0; n->small = 0; }
static inline void numeric_free(struct numeric *n) { if (n->big) { mpz_clear(n->z); n->big = false; } }
void numeric_copy(struct numeric *to, const struct numeric *from);
void numeric_set_z(struct numeric *, mpz_t z, int scale);           /* takes z; makes it small where it fits */

void numeric_unpack(struct varlen, struct numeric *out);
struct varlen numeric_varlen(const struct numeric *, struct arena *);
void numeric_read(struct sql_type, const struct vector *, size_t at, struct numeric *out);
/* Puts a number into a form: scaled and rounded to it. 22003 when it can't hold it. Doesn't free n. */
enum status numeric_write(struct sql_type, struct numeric *, void *value, struct arena *) MUST_CHECK;

enum status numeric_parse(const char *text, size_t length, struct numeric *out) MUST_CHECK;
void numeric_print(const struct numeric *, struct text_buffer *);
void numeric_print_fixed(__int128 value, int scale, struct text_buffer *);
enum status numeric_apply_typmod(struct numeric *, int32_t typmod) MUST_CHECK;
enum status numeric_check(const struct numeric *) MUST_CHECK;        /* within the limits of the general form */
static inline int typmod_precision(int32_t typmod) { return ((typmod - 4) >> 16) & 0xffff; }
static inline int typmod_scale(int32_t typmod) { return (((typmod - 4) & 0x7ff) ^ 1024) - 1024; }
static inline int32_t numeric_typmod(int precision, int scale) { return ((precision << 16) | (scale & 0x7ff)) + 4; }

/* out may not be one of the arguments; it is set anew (not freed first). */
void numeric_add(const struct numeric *, const struct numeric *, struct numeric *out);
void numeric_sub(const struct numeric *, const struct numeric *, struct numeric *out);
void numeric_mul(const struct numeric *, const struct numeric *, struct numeric *out);
enum status numeric_div(const struct numeric *, const struct numeric *, struct numeric *out) MUST_CHECK;
void numeric_div_scale(const struct numeric *, const struct numeric *, int scale, struct numeric *out);   /* finite, divisor not 0; rounds */
int  numeric_select_div_scale(const struct numeric *, const struct numeric *);
enum status numeric_div_trunc(const struct numeric *, const struct numeric *, struct numeric *out) MUST_CHECK;
enum status numeric_mod(const struct numeric *, const struct numeric *, struct numeric *out) MUST_CHECK;
int  numeric_compare(const struct numeric *, const struct numeric *);
int  numeric_sign(const struct numeric *);
void numeric_negate(struct numeric *);
enum rounding { ROUND_HALF_AWAY, ROUND_TRUNC, ROUND_FLOOR, ROUND_CEIL };
void numeric_rescale(struct numeric *, int scale, enum rounding);    /* scale may be negative: then zeros stand before the point */
void numeric_strip(struct numeric *);                                /* trailing zeros after the point go */
enum status numeric_to_int64(const struct numeric *, int64_t *out, const char *type_name) MUST_CHECK;
double numeric_to_double(const struct numeric *);
enum status numeric_from_double(double, int digits, struct numeric *out) MUST_CHECK;
int  numeric_min_scale(const struct numeric *);
unsigned decimal_digits(unsigned __int128);
void int128_to_mpz(mpz_t, __int128);                                 /* z is initialised */
size_t numeric_digits(const struct numeric *, struct text_buffer *); /* decimal digits of the magnitude, appended */

/* numeric_big.c */
enum status numeric_sqrt(const struct numeric *, struct numeric *out) MUST_CHECK;
void numeric_sqrt_scale(const struct numeric *, int scale, struct numeric *out);
enum status numeric_exp(const struct numeric *, struct numeric *out) MUST_CHECK;
enum status numeric_ln(const struct numeric *, struct numeric *out) MUST_CHECK;
enum status numeric_log(const struct numeric *base, const struct numeric *, struct numeric *out) MUST_CHECK;
enum status numeric_power(const struct numeric *, const struct numeric *, struct numeric *out) MUST_CHECK;
void numeric_head(const struct numeric *, int *weight, int *first);  /* of the leading base-10000 digit */

/* Forms. */
struct sql_type numeric_fixed_type(int precision, int scale);        /* general when it is too wide */
struct sql_type numeric_literal_type(const char *text, size_t length);
struct sql_type numeric_value_type(const struct numeric *);
/* The form in which values of both can stand together (CASE, UNION, COALESCE). */
struct sql_type numeric_common_type(struct sql_type, struct sql_type);
bool numeric_same_form(struct sql_type, struct sql_type);

void numeric_send(const struct numeric *, struct text_buffer *);
enum status numeric_receive(const uint8_t *, size_t length, struct numeric *out) MUST_CHECK;

#endif
