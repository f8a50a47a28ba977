/* engine/exec/program.h - expressions compiled to a flat program of steps.
 *
 *     program_compile(arena, exprs, count, &program);                       once a plan node
 *     evaluation_open(program, run, worker arena, &evaluation);             once a worker
 *     evaluation_run(evaluation, batch, outputs);                           once a batch: a vector for each expression
 *     evaluation_filter(evaluation, batch, &selection, &count);             or: the rows for which all expressions are true
 *
 * A program is immutable and shared by all workers (and kept with a prepared plan); the registers are the
 * evaluation's. What a run hands out is valid until the next run of the same evaluation. On an error *error_at is the
 * position of the first failing row, or NO_ROW. */
#ifndef ENGINE_EXEC_PROGRAM_H
#define ENGINE_EXEC_PROGRAM_H

#include "engine/exec/batch.h"
#include "engine/plan/plan.h"

struct run;                              /* engine/exec/operator.h */
struct program;
struct evaluation;
#define NO_ROW 0xFFFF

enum status program_compile(struct arena *, struct scalar *const *exprs, uint32_t count, struct program **out) MUST_CHECK;
/* The same for one condition, ANDs of which narrow the selection. A NULL filter gives a NULL program. */
enum status program_compile_filter(struct arena *, struct scalar *filter, struct program **out) MUST_CHECK;
bool        program_makes_long(const struct program *);      /* values of any length are made on the way */
bool        program_serial(const struct program *);          /* holds a subquery: only the leader may run it. NULL is allowed */
bool        program_reads(const struct program *, uint32_t column);   /* the input column is read. NULL is allowed */

enum status evaluation_open(const struct program *, struct run *, struct arena *, struct evaluation **out) MUST_CHECK;
/* What the values of the last run take, beside vectors. */
size_t      evaluation_bytes(const struct evaluation *);
enum status evaluation_run(struct evaluation *, const struct batch *, struct vector *out, uint16_t *error_at) MUST_CHECK;
enum status evaluation_filter(struct evaluation *, const struct batch *, const row_pos **selection, uint16_t *count, uint16_t *error_at) MUST_CHECK;
/* Expressions without input. */
enum status evaluation_scalar(struct evaluation *, struct value *out) MUST_CHECK;   /* the first expression; bytes live until the next run */

#endif
