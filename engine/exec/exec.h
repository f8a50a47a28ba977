/* engine/exec/exec.h - runs a plan.
 *
 *     struct exec_request request = { .session = s, .plan = p, .snapshot = &snapshot, .parameters = values, .sink = &sink };
 *     status = exec_run(&request);
 *
 * The result goes to a sink in the calling thread (the leader), batch by batch, in the query's row order. What a
 * sink is given is valid during the call only. STATUS_STOP from the sink ends the run early and is no error. */
#ifndef ENGINE_EXEC_EXEC_H
#define ENGINE_EXEC_EXEC_H

#include "engine/plan/modify.h"
#include "engine/plan/plan.h"

struct result_sink {
    enum status (*batch)(struct result_sink *, const struct batch *) MUST_CHECK;   /* root's columns; may block on the client: no latch, no pin is held */
};
struct exec_counters {                   /* EXPLAIN ANALYZE, by plan node id */
    struct node_counters { uint64_t rows, loops; uint64_t start_us, total_us; uint16_t workers_launched; _Atomic uint64_t filtered, pages_skipped, morsels, heap_fetches; uint64_t memory_bytes, spilled_bytes;
        _Atomic int64_t pages_hit, pages_read, pages_dirtied, pages_written, wal_records, wal_images, wal_bytes; } *nodes;     /* these: without what is below */
    uint64_t run_us;
    /* Where the leader's time went, of run_us; the rest is its own work. */
    uint64_t scan_us, merge_us, finalise_us, print_us;      /* while workers scanned; combined what they had; shared out what comes after; the client */
};
struct exec_request {
    struct session *session;
    const struct prepared_plan *plan;
    const struct snapshot *snapshot;
    const struct value *parameters;
    struct result_sink *sink;            /* NULL: rows are thrown away */
    struct exec_parts *parts;            /* exec_parts_open() sets it */
    struct exec_counters *counters;      /* NULL: not counted */
    uint64_t rows_affected;              /* out: rows sent, or rows changed */
};
enum status exec_run(struct exec_request *) MUST_CHECK;

/* A run in parts (a cursor, a portal with a row limit): it is left when its sink has had enough, and goes on from there later. The leader's half is a
 * coroutine. Between parts it holds no latch, pin or worker; snapshot, transaction, plan and parameters have to stay until it is closed. */
struct exec_parts;
enum status exec_parts_open(const struct exec_request *, struct exec_parts **out) MUST_CHECK;       /* 53200 */
/* Goes on until `rows` rows in all, or some more, are in the sink, or the run is over: by its end, or by an error. */
enum status exec_parts_run(struct exec_parts *, uint64_t rows) MUST_CHECK;
bool        exec_parts_done(const struct exec_parts *);
void        exec_parts_close(struct exec_parts *);                     /* at any time, within the transaction */

/* Values of expressions without input (DEFAULTs, LIMIT, EXECUTE's arguments, SET). */
enum status exec_scalar(struct session *, const struct scalar *, const struct value *parameters, struct arena *, struct value *out) MUST_CHECK;

/* Writing rows from elsewhere (COPY, CREATE TABLE AS): checks NOT NULL, CHECK, generated columns, inserts, indexes, foreign keys. */
struct row_writer;
/* where (or NULL): only rows for which it is true are written. */
enum status row_writer_open(struct session *, struct arena *, const struct table *, struct scalar *where, struct row_writer **out) MUST_CHECK;
enum status row_writer_rows(struct row_writer *, const struct batch *rows /* table's columns in order, all selected */, uint16_t *written) MUST_CHECK;
/* After an error of row_writer_rows: position of the row it is about, -1 none; *before: no row of that batch had been written yet. */
int         row_writer_failed_row(const struct row_writer *, bool *before);
enum status row_writer_close(struct row_writer *) MUST_CHECK;          /* deferred checks of the statement */
/* Workers that do something else for the statement while its rows are written: how many there may be (0: none); work(context) begins in that many;
 * all are back (a task that nobody has begun by then is done by the caller). After help comes await, before close too. */
uint16_t    row_writer_helpers(const struct row_writer *);
void        row_writer_help(struct row_writer *, uint16_t helpers, void (*work)(void *context), void *context);
enum status row_writer_await(struct row_writer *) MUST_CHECK;

/* Workers: threads that live as long as the server. */
enum status workers_start(uint32_t limit) MUST_CHECK;                  /* threads are started on demand, up to exec_worker_limit */
void        workers_stop(void);
#define MAX_WORKERS 1024
extern _Atomic uint32_t exec_worker_limit;                             /* max_parallel_workers: may change at any time */
extern _Atomic uint32_t exec_worker_start;                             /* crab.worker_start: 0 pool, 1 spawn */
extern _Atomic uint32_t exec_agg_collect;                              /* crab.agg: 1 collect, 0 partial */

#endif
