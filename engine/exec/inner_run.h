/* engine/exec/inner_run.h - what workers need to run plans for their rows: nested loops, subqueries. */
#ifndef ENGINE_EXEC_INNER_RUN_H
#define ENGINE_EXEC_INNER_RUN_H

#include "engine/exec/operator.h"

/* May such a plan run in a worker? */
bool plan_runs_inside(const struct plan *);
bool scalar_runs_inside(const struct scalar *);
bool program_runs_inside(const struct run *, const struct program *);
/* When a node is opened: the node has that program. Marks it `inner` or `serial` if there are subqueries in it. NULL is allowed. */
void inner_program(struct exec_node *, struct program *);

/* By the leader, before workers start on a pipeline with that node: the answers of its subqueries that hang on no row. *failed: one of them has none, and
 * perhaps no row asks for it; that isn't tried again. */
enum status inner_answers(struct exec_node *, bool *failed) MUST_CHECK;
/* nested_loop.c: of a nested loop, its right side, if that hangs on no row either. */
enum status nested_loop_keep(struct exec_node *, bool *failed) MUST_CHECK;
/* An error of the data (class 22), which is *failed; others are given back. */
enum status inner_failed(enum status, bool *failed) MUST_CHECK;
/* NULL: it isn't worked out. */
const struct value *inner_answer(const struct run *, const struct scalar *subquery);

/* The worker (by itself; it has its arena) gets a run of its own, with those answers. */
void inner_run_open(struct worker *, const struct run_answer *);
/* Copies what EXPLAIN counts of rows (not time, pages, WAL: those are of what was done), by node. So what a grain added that is given up is taken back. */
void inner_counts(struct node_counters *to, const struct node_counters *from, uint32_t nodes);
/* When all workers are home: temporary files go, counts are added to the run's. */
void inner_runs_close(struct run *);

#endif
