/* engine/exec/program_private.h - what program.c (compiles) and evaluate.c (runs) share. */
#ifndef ENGINE_EXEC_PROGRAM_PRIVATE_H
#define ENGINE_EXEC_PROGRAM_PRIVATE_H

#include "engine/exec/program.h"

enum step_kind {
    STEP_CALL,           /* out = kernel(args) */
    STEP_NOT, STEP_IS_NULL, STEP_IS_NOT_NULL, STEP_IS_BOOL,
    STEP_NULLIF,         /* out = args[0], null where args[0] = args[1] */
    STEP_EXTREME,        /* GREATEST, LEAST */
    STEP_DISTINCT, STEP_IN_LIST, STEP_ANY_ARRAY, STEP_ARRAY, STEP_SUBSCRIPT, STEP_SUBQUERY,
    /* lazy evaluation: selections */
    STEP_WHERE_TRUE,     /* sel_out = rows of sel where args[0] is true; sel_rest (if any) = the others */
    STEP_WHERE_NOT_FALSE, STEP_WHERE_NOT_TRUE, STEP_WHERE_NULL,
    /* … and results put together from branches */
    STEP_COPY,           /* out[i] = args[0][i] for the rows of sel */
    STEP_PUT_NULL,       /* out[i] = null for the rows of sel */
    STEP_AND, STEP_OR    /* out[i] = out[i] and/or args[0][i] for the rows of sel, where out[i] didn't decide */
};

struct step {
    enum step_kind kind;
    uint32_t out;                        /* register */
    uint32_t sel, sel_out, sel_rest;     /* selections; NO_SELECTION */
    uint32_t arg_count, *args;           /* registers */
    bool     first;                      /* COPY, PUT_NULL: the first writer of a merged register: make room */
    bool     foldable;                   /* CALL: all arguments constant at run time gives a constant */
    const struct sql_type *arg_types;
    const struct scalar *scalar;
    kernel_fn kernel;                    /* CALL: the one for this processor */
    struct in_set *in_set;               /* IN_LIST of constants */
    uint32_t subquery;                   /* number among the program's */
};
#define NO_SELECTION UINT32_MAX

enum register_kind { REGISTER_COLUMN, REGISTER_CONSTANT, REGISTER_PARAMETER, REGISTER_OUTER, REGISTER_MADE };
struct program_register {
    enum register_kind kind;
    struct sql_type type;
    uint32_t index;                      /* column, parameter, slot */
    const struct value *constant;
};

struct program {
    struct step *steps; uint32_t step_count;
    struct program_register *registers; uint32_t register_count;
    uint32_t selection_count;            /* number 0 is the batch's */
    uint32_t *outputs; uint32_t output_count;
    uint32_t filter_selection;           /* of a filter: the selection that is left */
    uint32_t subquery_count; const struct scalar **subqueries;
    bool reads_outer;
};

/* in_set.c: the constants of an IN list, in the form that is asked fastest. */
struct in_set;
struct in_set *in_set_make(struct arena *, const struct scalar *);       /* NULL: not all are constants of the operand's form */
bool        in_set_has_null(const struct in_set *);
/* found[i] = is v's value i in the set, for the given rows (NULL: 0 .. count-1) that aren't null. */
void        in_set_mark(const struct in_set *, const struct vector *v, const row_pos *rows, uint16_t count, uint8_t *found);

struct selection { const row_pos *rows; uint16_t count; row_pos *space; uint16_t capacity; };
struct made { void *values; uint8_t *nulls; uint32_t capacity; bool nulls_dirty; };
struct subquery;
struct evaluation {
    const struct program *program;
    struct run *run;
    struct arena *arena;                 /* lives as long as the evaluation */
    struct arena *scratch;               /* reset at each run */
    struct vector *registers;
    struct made *made;
    struct selection *selections;
    struct subquery **subqueries;
    uint16_t row_count;
    uint16_t error_at;
    bool used;                           /* scratch holds something */
};

/* subquery.c */
enum status subquery_open(struct run *, const struct scalar *, struct subquery **out) MUST_CHECK;
/* For one row: outer values and ANY's operands from the registers at position i. */
enum status subquery_value(struct subquery *, struct evaluation *, const struct step *, uint16_t i, struct value *out) MUST_CHECK;
/* The value of one that hangs on no row, by the leader; it lives as long as the run. */
enum status subquery_answer(struct run *, const struct scalar *, struct value *out) MUST_CHECK;
bool        subquery_constant(const struct subquery *);      /* the same for every row */

#endif
