/* engine/types/function.h - functions, operators and casts as typed kernels over vectors.
 *
 * A kernel computes one column from others, for the selected rows of a batch. Every SQL function, operator and cast
 * is one; the registry below says which there are, with PostgreSQL's names and OIDs where it has the thing.
 *
 * Calling a kernel (engine/exec/program.c is the one caller):
 *  - out->values has room for row_count elements; out->nulls points to row_count bytes that are already the union of
 *    the arguments' nulls when the function is strict, else zeroed. A kernel may set more of them; has_nulls says
 *    whether any of the bytes may be 1 (the caller set it for the strict union; a kernel that adds nulls sets it).
 *  - It must not touch (or fail on) rows whose out->nulls is set on entry, nor rows that aren't selected.
 *  - On error it returns the status after error_set(), with *error_at = the row's position: the first failing row.
 *  - Results of varying length live in the arena, or may point into an argument's bytes (substr, casts).
 * Kernels have no state but `data`, made once at bind time; they are called by many threads at once. */
#ifndef ENGINE_TYPES_FUNCTION_H
#define ENGINE_TYPES_FUNCTION_H

#include "engine/types/type.h"

#define FUNCTION_ARGS_MAX 8              /* beyond it a variadic function takes its arguments in an array of vectors of any length */

struct kernel_call {
    struct vector *out;
    const struct vector *args;           /* arg_count of them */
    uint16_t arg_count;
    const row_pos *selection;            /* NULL: rows 0 .. count-1 */
    uint16_t count, row_count;
    bool     has_nulls;
    struct arena *arena;                 /* lives as long as the batch */
    const void *data;
    uint16_t *error_at;
    struct sql_type out_type; const struct sql_type *arg_types;
};
typedef enum status (*kernel_fn)(struct kernel_call *) MUST_CHECK;

/* for (KERNEL_ROWS(call, i)) { if (call->out->nulls[i]) continue; ... } */
#define KERNEL_ROWS(call, i) uint16_t n_##i = 0, i; n_##i < (call)->count && (i = (call)->selection ? (call)->selection[n_##i] : n_##i, 1); n_##i++

struct expr;
struct function_bind {                   /* what a call site knows when it is bound */
    struct arena *arena;
    uint16_t arg_count;
    const struct sql_type *arg_types;    /* their forms too */
    const struct value *const *constants;/* constants[i]: the argument's value when it is a constant, else NULL (LIKE patterns, regexes) */
    kernel_fn kernel;                    /* out: filled by bind, or the function's own */
    const void *data;                    /* out */
    struct sql_type result;              /* out: form and typmod of the result */
};
enum function_kind { FUNCTION_SCALAR = 'f', FUNCTION_AGGREGATE = 'a', FUNCTION_WINDOW = 'w', FUNCTION_SET = 's' };
enum volatility { IMMUTABLE = 'i', STABLE = 's', VOLATILE = 'v' };
struct function {
    uint32_t oid;
    const char *name;
    enum function_kind kind;
    uint8_t  arg_count;
    bool     variadic;                   /* the last argument type repeats */
    uint32_t arg_types[FUNCTION_ARGS_MAX];
    uint32_t result;                     /* type oid */
    bool     strict;
    char     volatility;
    bool     parallel_safe;
    kernel_fn kernel;
    enum status (*bind)(struct function_bind *);    /* may be NULL: kernel and type_make(result, -1) hold */
    uint8_t  column_count;               /* a set function that returns records: their columns; 0: one column of the result's type */
    const struct function_column { const char *name; uint32_t type; } *columns;
};
size_t function_count(void);
const struct function *function_at(size_t index);
const struct function *function_by_oid(uint32_t oid);
/* All with that name, in an array of pointers; count 0 when none. */
const struct function *const *functions_named(const char *name, size_t *count);

/* Functions that hang on the session or the catalog (current_user, nextval, pg_table_size …): the engine adds its own once, before
 * any other thread runs. The rows must live for ever. */
void function_register_extra(const struct function *rows, size_t count);

struct operator { uint32_t oid; const char *name; uint32_t left, right, result; const struct function *function; uint32_t commutator, negator; };   /* left 0: prefix */
const struct operator *const *operators_named(const char *name, size_t *count);
size_t operator_count(void);
const struct operator *operator_at(size_t index);

enum cast_context { CAST_IMPLICIT = 'i', CAST_ASSIGNMENT = 'a', CAST_EXPLICIT = 'e' };
/* The function that turns `from` into `to` (bind gives it typmods through arg_types and result: set bind.result to the wanted type before the call), or NULL when there is none in
 * that context. *binary true: no work needed (text <-> varchar without typmod). Casts to and from text through in/out functions exist for every type (explicit / assignment). */
const struct function *cast_find(uint32_t from, uint32_t to, enum cast_context, bool *binary);
/* Length coercion to (oid, typmod) of a value already of that type: varchar(n), bpchar(n), numeric(p,s), timestamp(p). NULL when none is needed. */
const struct function *cast_length(struct sql_type to, bool explicit_cast);

/* Aggregates: one state a group. States are fixed-size PODs (plus arena memory) that may be moved; update is vectorised over the rows of a batch.
 * Float states are combined along the fixed tree by the caller; exact states in any order. */
struct aggregate_call {
    uint8_t *base; uint32_t stride; const uint32_t *groups;   /* the state of the row at position i: base + groups[i] * stride (only selected ones are valid) */
    const struct vector *args; const struct sql_type *arg_types; uint16_t arg_count;
    const row_pos *selection; uint16_t count;
    struct arena *arena;                 /* lives as long as the states */
    const void *data; uint16_t *error_at;
};
static inline void *aggregate_state(const struct aggregate_call *c, size_t i) { return c->base + (size_t)c->groups[i] * c->stride; }
struct aggregate {
    const struct function *function;     /* kind FUNCTION_AGGREGATE, in the registry above */
    uint32_t state_bytes;                /* zeroed at start; min alignment 16 */
    bool     ordered;                    /* hangs on input order (float sums, array_agg, string_agg): states by grain, combined along the tree */
    bool     strict;                     /* rows with a null argument are skipped by the caller */
    enum status (*update)(struct aggregate_call *) MUST_CHECK;
    enum status (*update_one)(struct aggregate_call *, void *state) MUST_CHECK;     /* all selected rows into one state: the ungrouped case, a tight loop */
    enum status (*combine)(void *into, const void *from, struct arena *) MUST_CHECK;     /* `from` stands after `into` in row order */
    enum status (*finish)(const void *state, struct sql_type result, struct arena *, struct value *out) MUST_CHECK;
};
/* The aggregate for a function and the forms of its arguments; fills the result's type. NULL: not such an aggregate. */
const struct aggregate *aggregate_find(const struct function *, const struct sql_type *arg_types, uint16_t arg_count, struct sql_type *result);

#endif
