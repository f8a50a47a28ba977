/* engine/exec/operator.h - the one interface of all operators: who calls what, in which thread.
 *
 * A plan becomes a tree of operators, one a node. Rows are pushed: a *source* (scan, VALUES, what a breaker kept)
 * pushes batches into the operator above it, streaming operators (filter, project, join probe) hand on what they make
 * of each batch, until a *sink* keeps or sends them. From a source up to a sink is a pipeline.
 *
 *     open      once, by the leader, before anything runs: compiles expressions, makes shared state
 *     prepare   each time the pipeline above it starts, by the leader: a hash join reads its build side here
 *     local     once a worker, in its own thread: the worker's own state of the operator, in the worker's arena. Serial execution has one
 *               worker, the leader. Workers that never came have no local, and grains that one gave away may have one of their own
 *     rewind    before a local is used again (the right side of a nested loop)
 *     source    sources: push everything. In a parallel pipeline: everything of the morsels that this worker claims
 *     take      streaming operators and sinks: one batch, touching only the local (and shared state that is read-only)
 *     grain_end sinks: no more batches of that grain will come from this worker
 *     flush     streaming operators: the input is over. By the leader: in a parallel pipeline when all are home, through locals of its own,
 *               and only if the operator is `late`
 *     done      sinks: the worker's input is over; still in the worker (a sort sorts here)
 *     combine   sinks: a worker's local goes into the operator's shared state; by the leader, one at a time, in worker order
 *
 * STATUS_STOP from take means: no more rows wanted. It travels down to the source, which returns it; whoever began the
 * pipeline takes it for its end. An operator that stops its input by itself (LIMIT) says so in `stopped_itself`.
 *
 * batch.grain rises (never falls) along a stream; within a grain rows come in order. So (grain, row) is the query's row
 * order, whoever computed what (rule "Workers never show in an answer"). */
#ifndef ENGINE_EXEC_OPERATOR_H
#define ENGINE_EXEC_OPERATOR_H

#include "base/atomic.h"
#include "engine/exec/batch.h"
#include "engine/exec/exec.h"
#include "engine/exec/program.h"
#include "engine/session.h"

#ifndef GRAIN_PAGES
#define GRAIN_PAGES 16                   /* pages of a table in a grain; the answer of float sums hangs on it */
#endif
#define GRAIN_BATCHES 16                 /* streams that don't come from a table: batches in a grain */

struct exec_node;
struct local;
struct spill_file;
struct spill_rows;
struct result;

/* A run of grains, first .. end - 1, that one worker reads: its length is at most the largest power of two that divides `first`. */
struct grain_run { uint64_t first, end; };
#define ALL_GRAINS ((struct grain_run){ 0, UINT64_MAX })

struct worker {                          /* one thread's share of a run; number 0 is the leader alone */
    struct run *run;
    uint16_t number;
    bool     leads;                      /* a numbered one that runs in the leader's thread */
    struct grain_run grains;             /* what comes to it now, rising; `end` falls when it gives grains away */
    struct grain_run *runs; uint32_t run_count, run_capacity;      /* numbered ones: what came before */
    struct arena *arena;
    _Atomic bool *stop;                  /* numbered ones: come home */
    bool     again;                      /* the grain at hand will be read anew: what was counted of it doesn't count */
    enum status (*grain_over)(struct worker *, uint64_t next);     /* between two grains of a run; NULL: nobody asks */
};
/* The run of grains in which that grain came to the worker. */
struct grain_run worker_run_of(const struct worker *, uint64_t grain);

/* One run of a plan. The leader's, but for what is read-only while workers run. */
struct run {
    struct session *session;
    struct store *store;
    struct txn *txn;
    const struct snapshot *snapshot;
    const struct prepared_plan *plan;
    const struct value *parameters;
    struct value *outer;                 /* outer slots: written by nested loops and subqueries, read by what runs inside them */
    struct arena *arena;                 /* lives as long as the run */
    struct arena *program_arena;         /* … and as the plan, where programs are kept; may be the same */
    struct program ***kept;              /* by plan id: the node's programs, kept with the plan; NULL when it can't be */
    struct exec_counters *counters;
    struct cte_run *ctes;
    struct worker leader;
    struct latch spill_latch;
    struct spill_file *spills;           /* open temporary files; under spill_latch */
    struct kept_arena { struct kept_arena *next; struct arena *arena; } *worker_arenas;   /* workers' memory that sinks live in; closed at the end */
    int      nesting;                    /* > 0: inside a nested loop's right side or a subquery: no workers there */
    const struct run_answer { const struct run_answer *next; const struct scalar *scalar; struct value value; bool failed; } *answers;   /* of subqueries that hang on no row; an answer never changes */
    struct run *inner_runs, *next_inner; /* workers' own (inner_run.h); under spill_latch */
    int64_t  work_mem;
    struct exchange *exchanges;          /* gather.c: those whose hands may be out while rows go to the client */
    struct result *result;               /* where the rows go; keeps copies while pins are held */
    uint64_t changed;                    /* rows inserted, updated, deleted */
    const struct settings *settings;
};

struct node_class {
    const char *name;
    size_t node_bytes, local_bytes, sink_bytes;      /* 0: the plain struct */
    enum status (*open)(struct exec_node *) MUST_CHECK;
    enum status (*prepare)(struct exec_node *) MUST_CHECK;
    enum status (*local)(struct local *) MUST_CHECK;
    enum status (*rewind)(struct local *) MUST_CHECK;
    enum status (*source)(struct local *) MUST_CHECK;
    enum status (*take)(struct local *, const struct batch *) MUST_CHECK;
    enum status (*flush)(struct local *) MUST_CHECK;
    enum status (*failed)(struct local *, enum status) MUST_CHECK;   /* instead of flush, for who keeps rows: its input met an error; rows before it may still go on. May be NULL */
    bool parallel;                       /* take (and local) may run in workers, many at once */
    /* scans that workers can share (scan_share.c): their node begins with a struct shared_scan, their local with a struct local */
    void        (*shared)(struct exec_node *);                   /* before anybody scans, by the leader; may be NULL */
    void        (*scan_begin)(struct local *);                   /* around one or more grains */
    void        (*scan_end)(struct local *);
    enum status (*grain)(struct local *, uint64_t grain) MUST_CHECK;     /* all rows of it are pushed */
};
struct sink_class {                      /* the lower half of a breaker */
    const char *name;
    size_t local_bytes;
    enum status (*local)(struct local *) MUST_CHECK;
    enum status (*take)(struct local *, const struct batch *) MUST_CHECK;
    enum status (*grain_end)(struct local *, uint64_t grain) MUST_CHECK;     /* may be NULL */
    enum status (*done)(struct local *) MUST_CHECK;                          /* may be NULL */
    enum status (*combine)(struct exec_node *, struct local *) MUST_CHECK;    /* may be NULL (serial only: state is the operator's) */
    bool parallel;
};

struct exec_node {
    const struct node_class *class;
    const struct plan *plan;
    struct run *run;
    struct exec_node *left, *right;
    struct local *leader_local;          /* made at the first serial run, used again */
    bool serial;                         /* only the leader may run it */
    bool inner;                          /* rows run plans in it (subqueries, a nested loop's right side): each worker does that in a run of its own (inner_run.h) */
    struct program **inner_programs; uint16_t inner_count;
    bool late;                           /* its flush hands on rows: in a parallel pipeline the leader calls it when all workers are home */
    bool fans_out;                       /* a batch may become any number of rows; known when it is prepared */
    bool nothing;                        /* it is prepared, and its input can't give a row: the input isn't run, and only its flush is left */
    struct node_counters *counters;
    struct arena *again;                 /* what one run of a breaker keeps: emptied when it runs again (node_again) */
};

struct local {
    struct exec_node *op;
    struct worker *worker;
    struct local *next;                  /* whom it pushes to */
    enum status (*take)(struct local *, const struct batch *);
    enum status (*grain_end)(struct local *, uint64_t grain);
    bool stopped_itself;
    bool to_client, fans_out;            /* the end of a chain: its rows wait for the client; an operator that fans out stands between it and there */
    uint64_t rows, filtered, push_us;    /* counted when asked; the first two are a worker's: they come to the node's when it is home */
};
static inline void local_filtered(struct local *local, uint64_t rows)
{
    if (local->worker->number)
        local->filtered += rows;
    else if (local->op->counters)
        atomic_fetch_add_explicit(&local->op->counters->filtered, rows, memory_order_relaxed);
}

/* From here on this thread's pages and WAL are this node's (NULL: nobody's). Whose they were. For EXPLAIN. */
struct node_counters *pages_count_for(struct node_counters *);
/* Hands a batch on. Every push goes through here: rows are counted, time downstream is taken off. */
enum status local_push_counted(struct local *, const struct batch *) MUST_CHECK;
static inline MUST_CHECK enum status local_push(struct local *local, const struct batch *batch)
{
    if (batch->selected_count == 0)
        return STATUS_OK;
    if (__builtin_expect(local->op->counters != NULL, 0))
        return local_push_counted(local, batch);
    return local->next->take(local->next, batch);
}

/* ---- exec.c ---- */
enum status node_make(struct run *, const struct plan *, struct exec_node **out) MUST_CHECK;   /* the whole tree, opened */
/* Runs an operator's subtree in the leader (with workers underneath where the gate allows it), pushing to `next`. */
enum status node_run(struct exec_node *, struct local *next) MUST_CHECK;
/* The same, this operator in the leader; those below may have workers. */
enum status node_run_alone(struct exec_node *, struct local *next) MUST_CHECK;
/* Runs child into op's sink: in workers when both can, then combines. */
enum status pipeline_run(struct exec_node *child, struct exec_node *op, const struct sink_class *) MUST_CHECK;
/* As above, always in the leader (rows may still come through a gather). */
enum status pipeline_run_serial(struct exec_node *child, struct exec_node *op, const struct sink_class *) MUST_CHECK;
enum status local_make(struct exec_node *, struct worker *, struct local *next, struct local **out) MUST_CHECK;
/* A breaker begins (again): its arena, empty. */
struct arena *node_again(struct exec_node *);
enum status sink_make(struct exec_node *, const struct sink_class *, struct worker *, struct local **out) MUST_CHECK;
/* Sources call it between pages, holding no pin: sends what the result had to keep. */
enum status run_deliver(struct run *) MUST_CHECK;
/* A page, a batch: long loops ask here. In workers: has the leader said stop? */
enum status run_check(struct worker *) MUST_CHECK;
/* Runs a whole plan (subqueries, CTEs) into a call-back. */
struct row_receiver { enum status (*take)(struct row_receiver *, const struct batch *); };
enum status node_drain(struct exec_node *, struct row_receiver *) MUST_CHECK;

/* A run without a plan, for writing rows from elsewhere (COPY, index builds). */
void        run_open_plain(struct run *, struct session *, struct arena *);
void        run_close_plain(struct run *);
/* A node's programs, compiled at the first use and kept with the plan. number: which of the node's. */
enum status node_program(struct exec_node *, uint16_t number, struct scalar *const *exprs, uint16_t count, struct program **out) MUST_CHECK;
enum status node_filter(struct exec_node *, uint16_t number, struct scalar *filter, struct program **out) MUST_CHECK;
#define NODE_PROGRAMS 8

/* LIMIT, OFFSET, bounds: an expression without input, in the leader. */
enum status run_scalar(struct run *, const struct scalar *, struct value *out) MUST_CHECK;
enum status run_scalar_in(struct run *, struct arena *, const struct scalar *, struct value *out) MUST_CHECK;   /* what it makes lies in that arena */
/* Batch with no columns and `count` rows. */
static inline struct batch batch_empty(uint16_t count) { return (struct batch){ .row_count = count, .selected_count = count, .all_selected = true }; }
/* A batch failed at position error_at: hands the rows before it to `take` once more, so that what stands before an error in
 * row order is seen (a LIMIT may be met by it); then gives the error back. */
enum status rows_before_failure(struct local *, const struct batch *, enum status, uint16_t error_at,
                                enum status (*take)(struct local *, const struct batch *)) MUST_CHECK;
/* Pushes kept rows from the local to its next, chunk by chunk, with grains from *grain on. */
enum status push_rows(struct local *, const struct rows *, uint64_t *grain) MUST_CHECK;
/* Does the subtree read outer slots that are set above it? Does it hold volatile functions? */
bool        plan_reads_outer(const struct run *, const struct plan *);
void        plan_outer_slots(const struct run *, const struct plan *, uint8_t *read);   /* by slot: is it read from above? */
bool        plan_is_volatile(const struct plan *);
bool        scalar_is_once(const struct scalar *);                       /* the same for all rows of an input, and not volatile */
/* Which right columns a join keeps: those its condition reads (reads: by left ++ right column), those it hands on, and with `keys` those that are keys.
 * place[c] is where right column c is kept, or NOT_KEPT; their types come in `types`. How many they are. */
#define NOT_KEPT 0xFFFF
uint16_t    join_kept_columns(const struct plan *join, const bool *reads, bool keys, uint16_t *place, struct sql_type *types);
bool        plan_changes(const struct plan *);                           /* does it write, lock, or read what changes while the query runs? */

/* ---- the classes ---- */
extern const struct node_class result_class, values_class, seq_scan_class, index_scan_class, virtual_scan_class, function_scan_class, cte_scan_class,
    filter_class, project_class, project_set_class, hash_join_class, merge_join_class, nested_loop_class, aggregate_class, window_class, sort_class, top_n_class,
    limit_class, distinct_on_class, append_class, set_op_class, recursive_union_class, modify_class, lock_rows_class;

uint64_t    limit_take_skip(struct local *next);    /* stream.c: how many rows the operator above will throw away first; it won't any more */

uint64_t    limit_rows_left(const struct local *next);   /* stream.c: how many rows it takes, those that it skips included; UINT64_MAX: all */

/* ---- scan_share.c: a scan that workers share ---- */
struct shared_scan {
    struct exec_node op;
    _Atomic uint64_t next, limit;
    uint64_t grains;                     /* known when it is open */
    uint64_t morsel, parts;              /* a morsel is at most that part of what is left; 0: whole */
    bool     in_grains;                  /* what it pushes is in these grains, whoever runs it */
};
/* Is it a pipeline's source that workers can share? */
static inline bool scan_is_shared(const struct exec_node *op) { return op->class->grain && ((const struct shared_scan *)op)->in_grains; }
uint64_t scan_grains(const struct exec_node *);
/* Rows that a pipeline over that scan hands on when the scan is over (flush): the same grain, whoever scanned. */
static inline uint64_t late_grain(const struct exec_node *scan) { return (scan_grains(scan) | 63) + 1; }
/* Begins a parallel scan: grains from 0, morsels of 2^level grains (smaller ones towards the end, so that all get there together); morsels begin
 * below `limit` only. */
void     scan_share(struct exec_node *, uint8_t level, uint16_t workers, uint64_t limit);
void     scan_limit(struct exec_node *, uint64_t limit);
bool     scan_done(const struct exec_node *);                                   /* every grain is claimed */
/* seq_scan.c: by a join above, in prepare: rows whose value in that output column is null or outside low .. high find no partner (bounds as in
 * storage/zone.h). Pages that can't hold others are skipped; rows outside may still come. Newer bounds replace a column's older. */
void     seq_scan_narrow(struct exec_node *, uint16_t column, int64_t low, int64_t high);
/* Claims and scans morsels until none is left or the limit is met. */
enum status scan_work(struct local *, void (*claimed)(void *, uint64_t first, uint64_t end), void *context) MUST_CHECK;
enum status scan_piece(struct local *) MUST_CHECK;                              /* just worker->grains, which somebody else had claimed */

/* index_build.c: the index was made over rows whose older versions it can't find, and the snapshot may want those. */
bool     index_too_young(const struct index *, const struct snapshot *);

/* ---- workers.c, gather.c ---- */
/* work(context, i, worker) for i < count, each in a worker (the first in the leader's thread), whose arena lives as long as the run; waits for all.
 * The error of the lowest i. */
enum status workers_each(struct run *, uint16_t count, enum status (*work)(void *context, uint16_t number, struct worker *), void *context) MUST_CHECK;
/* The same again and again, with something else to do meanwhile: start (work(context, i, worker) for i < count begins), then wait, and so on. */
struct workers_group *workers_group_open(struct run *, uint16_t count);
void     workers_group_start(struct workers_group *, enum status (*work)(void *context, uint16_t number, struct worker *), void *context);
enum status workers_group_wait(struct workers_group *) MUST_CHECK;       /* all are done; the error of the lowest number */
void     workers_group_close(struct workers_group *);                    /* after wait */
void     worker_arenas_close(struct run *);
/* The run is going to be left (exec_parts): waits until no worker works for it. They are told to claim no more, and go on where they were when it does. */
enum status run_rest(struct run *) MUST_CHECK;
struct task { void (*run)(struct task *); struct task *next; const struct type_env *env; const void *owner; int32_t pid; };
/* Hands tasks to the pool (or spawns a thread each): one latch, as many threads woken as there are tasks. */
void     workers_submit(struct task *const *tasks, uint16_t count);
/* Takes a task of that owner back that nobody has begun; NULL: there is none. */
struct task *workers_withdraw(const void *owner);
bool     workers_available(void);
/* May the pipeline that ends in this operator run in several workers? How many; else 0. */
uint16_t pipeline_workers(const struct exec_node *top);
enum status gather_run(struct exec_node *top, struct local *next, uint16_t workers) MUST_CHECK;
enum status parallel_sink_run(struct exec_node *child, struct exec_node *op, const struct sink_class *, uint16_t workers) MUST_CHECK;

/* ---- cte.c ---- */
enum status cte_ready(struct run *, uint16_t number) MUST_CHECK;          /* materialised, if it was not */
struct cte_run { bool ready, running, recursive, streamed; struct spill_rows *rows; struct rows *working; struct arena *arena; struct exec_node *op; };

#endif
