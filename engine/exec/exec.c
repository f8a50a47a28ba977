/* engine/exec/exec.c - runs a plan: makes the tree of operators, runs pipelines, hands the result to the sink.
 *
 * Everything of one run lives in its arena and in `struct run`. Programs are compiled when a node is opened and kept
 * with the prepared plan, so that a later run of the same plan finds them made. What the run holds outside memory
 * (pins, scans, temporary files) is let go by whoever took it, on every path; temporary files here, at the end.
 *
 * The result: rows that are made while a page is pinned are copied and sent after the pin is gone, since a client may
 * take its time. */
#include <stdlib.h>
#include "base/stack.h"
#include "engine/exec/inner_run.h"
#include "engine/exec/program_private.h"
#include "engine/exec/spill.h"

/* ---- the result ---- */

struct result {
    struct local local;
    struct exec_node op;
    struct run *run;
    struct result_sink *sink;
    struct row_receiver *receiver;
    struct exec_parts *parts;
    uint64_t rows;
    struct arena *arena;
    struct rows pending;
    const struct plan *plan;
    bool open;
};

struct exec_parts {
    struct exec_request request;
    struct coroutine *leader;
    enum status status;
    uint64_t until;                      /* rows in the sink that end the part */
    bool begun, done, closing;
};

/* The sink has a batch. */
static enum status part_end(struct result *r)
{
    struct exec_parts *parts = r->parts;
    if (r->rows >= parts->until && !parts->closing) {
        enum status status = run_rest(r->run);
        if (status)
            return status;
        ASSERT(pool_pins_held() == 0);
        coroutine_leave();
    }
    return parts->closing ? STATUS_STOP : STATUS_OK;
}

static enum status result_send(struct result *r, const struct batch *batch)
{
    r->rows += batch->selected_count;
    enum status status = STATUS_OK;
    uint64_t from = r->run->counters ? now_us() : 0;
    if (batch->selected_count)
        status = r->receiver ? r->receiver->take(r->receiver, batch) : r->sink ? r->sink->batch(r->sink, batch) : STATUS_OK;
    if (r->run->counters && r->sink)
        r->run->counters->print_us += now_us() - from;
    return status || !r->parts ? status : part_end(r);
}

static enum status result_flush(struct result *r)
{
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < r->pending.chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(&r->pending, c, &batch);
        status = result_send(r, &batch);
    }
    rows_open(&r->pending, r->arena, r->plan->types, r->plan->column_count);
    if (r->arena)
        arena_reset(r->arena);
    return status;
}

static enum status result_take(struct local *local, const struct batch *batch)
{
    struct result *r = (struct result *)local;
    if (r->receiver || pool_pins_held() == 0) {      /* a receiver of our own waits for nobody */
        if (r->pending.count) {
            enum status status = result_flush(r);
            if (status)
                return status;
        }
        return result_send(r, batch);
    }
    if (!r->arena) {
        r->arena = arena_open(r->run->arena, "result");
        rows_open(&r->pending, r->arena, r->plan->types, r->plan->column_count);
    }
    rows_append(&r->pending, batch);
    return STATUS_OK;
}

static const struct node_class result_sink_class = { .name = "result" };

static void result_open(struct result *r, struct run *run, const struct plan *plan)
{
    r->run = run;
    r->plan = plan;
    r->op = (struct exec_node){ .class = &result_sink_class, .plan = plan, .run = run };
    r->local = (struct local){ .op = &r->op, .worker = &run->leader, .take = result_take, .to_client = !r->receiver };
}

enum status run_deliver(struct run *run)
{
    struct result *r = run->result;
    if (!r || r->pending.count == 0 || pool_pins_held() > 0)
        return STATUS_OK;
    return result_flush(r);
}

/* ---- pushing ---- */

static void add(_Atomic int64_t *to, int64_t what)
{
    if (what)
        atomic_fetch_add_explicit(to, what, memory_order_relaxed);
}

struct node_counters *pages_count_for(struct node_counters *node)
{
    static _Thread_local struct { struct node_counters *node; struct pool_touched pages; struct wal_given wal; } now;
    struct node_counters *before = now.node;
    if (before) {
        add(&before->pages_hit, pool_touched.hits - now.pages.hits);
        add(&before->pages_read, pool_touched.reads - now.pages.reads);
        add(&before->pages_dirtied, pool_touched.dirtied - now.pages.dirtied);
        add(&before->pages_written, pool_touched.written - now.pages.written);
        add(&before->wal_records, (int64_t)(wal_given.records - now.wal.records));
        add(&before->wal_images, (int64_t)(wal_given.images - now.wal.images));
        add(&before->wal_bytes, (int64_t)(wal_given.bytes - now.wal.bytes));
    }
    now.node = node;
    now.pages = pool_touched;
    now.wal = wal_given;
    return before;
}

enum status local_push_counted(struct local *local, const struct batch *batch)
{
    struct run *run = local->worker->run;
    struct node_counters *whose = pages_count_for(local->next->op->counters);
    if (local->worker->number) {         /* workers' counts are added when their locals come home */
        local->rows += batch->selected_count;
        enum status status = local->next->take(local->next, batch);
        pages_count_for(whose);
        return status;
    }
    struct node_counters *n = local->op->counters;
    uint64_t from = now_us();
    if (n->rows == 0 && n->start_us == 0)
        n->start_us = from - run->counters->run_us;
    n->rows += batch->selected_count;
    enum status status = local->next->take(local->next, batch);
    local->push_us += now_us() - from;
    pages_count_for(whose);
    return status;
}

enum status rows_before_failure(struct local *local, const struct batch *batch, enum status failure, uint16_t error_at,
                                enum status (*take)(struct local *, const struct batch *))
{
    if (error_at == NO_ROW || status_sqlstate(failure)[0] != '2' || failure == STATUS_STOP)
        return failure;
    struct batch before = *batch;
    uint16_t n = 0;
    if (batch->all_selected)
        n = error_at;
    else
        while (n < batch->selected_count && batch->selection[n] < error_at)
            n++;
    if (n == 0 || n >= batch->selected_count)
        return failure;
    before.selected_count = n;
    if (batch->all_selected)
        before.row_count = n;
    struct error saved = {0};
    error_save(&saved);
    enum status status = take(local, &before);
    if (status) {                        /* an earlier row's error, or STOP: there is no later row */
        error_free(&saved);
        return status;
    }
    return error_restore(&saved);
}

enum status push_rows(struct local *local, const struct rows *rows, uint64_t *grain)
{
    for (uint32_t c = 0; c < rows->chunk_count; c++) {
        struct batch batch;
        rows_chunk(rows, c, &batch);
        batch.grain = *grain + c / GRAIN_BATCHES;
        enum status status = run_check(local->worker);
        if (!status)
            status = local_push(local, &batch);
        if (status)
            return status;
    }
    *grain += rows->chunk_count / GRAIN_BATCHES + 1;
    return STATUS_OK;
}

enum status run_check(struct worker *worker)
{
    if (worker->stop && atomic_load_explicit(worker->stop, memory_order_relaxed))
        return STATUS_STOP;
    if (worker->stop && !worker->leads)
        return STATUS_OK;
    enum status status = thread_check_interrupts();
    if (status && worker->leads)
        atomic_store_explicit(worker->stop, true, memory_order_relaxed);
    return status;
}

/* ---- programs ---- */

static struct program **kept_slot(struct exec_node *op, uint16_t number)
{
    struct run *run = op->run;
    if (!run->kept || op->plan->id >= run->plan->node_count)
        return NULL;
    struct program ***node = &run->kept[op->plan->id];
    if (!*node)
        *node = arena_array(run->program_arena, struct program *, NODE_PROGRAMS);
    return number < NODE_PROGRAMS ? &(*node)[number] : NULL;
}

enum status node_program(struct exec_node *op, uint16_t number, struct scalar *const *exprs, uint16_t count, struct program **out)
{
    struct program **slot = kept_slot(op, number);
    enum status status = STATUS_OK;
    if (slot && *slot)
        *out = *slot;
    else
        status = program_compile(slot ? op->run->program_arena : op->run->arena, exprs, count, out);
    if (status)
        return status;
    if (slot)
        *slot = *out;
    inner_program(op, *out);
    return STATUS_OK;
}

enum status node_filter(struct exec_node *op, uint16_t number, struct scalar *filter, struct program **out)
{
    *out = NULL;
    if (!filter)
        return STATUS_OK;
    struct program **slot = kept_slot(op, number);
    enum status status = STATUS_OK;
    if (slot && *slot)
        *out = *slot;
    else
        status = program_compile_filter(slot ? op->run->program_arena : op->run->arena, filter, out);
    if (status)
        return status;
    if (slot)
        *slot = *out;
    inner_program(op, *out);
    return STATUS_OK;
}

enum status run_scalar(struct run *run, const struct scalar *scalar, struct value *out)
{
    return run_scalar_in(run, run->arena, scalar, out);
}

enum status run_scalar_in(struct run *run, struct arena *arena, const struct scalar *scalar, struct value *out)
{
    memset(out, 0, sizeof *out);
    if (scalar->kind == SCALAR_CONST)
        return *out = scalar->constant, STATUS_OK;
    if (scalar->kind == SCALAR_PARAMETER)
        return *out = run->parameters[scalar->parameter], STATUS_OK;
    if (scalar->kind == SCALAR_OUTER)
        return *out = run->outer[scalar->parameter], STATUS_OK;
    struct program *program;
    struct evaluation *evaluation;
    struct scalar *one = (struct scalar *)scalar;
    enum status status = program_compile(arena, &one, 1, &program);
    if (!status)
        status = evaluation_open(program, run, arena, &evaluation);
    if (!status)
        status = evaluation_scalar(evaluation, out);
    return status;
}

/* ---- the tree ---- */

static const struct node_class *class_of(enum plan_kind kind)
{
    switch (kind) {
    case PLAN_RESULT:          return &result_class;
    case PLAN_VALUES:          return &values_class;
    case PLAN_SEQ_SCAN:        return &seq_scan_class;
    case PLAN_BITMAP_SCAN:     return &seq_scan_class;
    case PLAN_INDEX_SCAN:      return &index_scan_class;
    case PLAN_VIRTUAL_SCAN:    return &virtual_scan_class;
    case PLAN_FUNCTION_SCAN:   return &function_scan_class;
    case PLAN_CTE_SCAN:        return &cte_scan_class;
    case PLAN_FILTER:          return &filter_class;
    case PLAN_PROJECT:         return &project_class;
    case PLAN_PROJECT_SET:     return &project_set_class;
    case PLAN_HASH_JOIN:       return &hash_join_class;
    case PLAN_MERGE_JOIN:      return &merge_join_class;
    case PLAN_NESTED_LOOP:     return &nested_loop_class;
    case PLAN_AGGREGATE:       return &aggregate_class;
    case PLAN_WINDOW:          return &window_class;
    case PLAN_SORT:            return &sort_class;
    case PLAN_TOP_N:           return &top_n_class;
    case PLAN_LIMIT:           return &limit_class;
    case PLAN_DISTINCT_ON:     return &distinct_on_class;
    case PLAN_APPEND:          return &append_class;
    case PLAN_SET_OP:          return &set_op_class;
    case PLAN_RECURSIVE_UNION: return &recursive_union_class;
    case PLAN_MODIFY:          return &modify_class;
    case PLAN_LOCK_ROWS:       return &lock_rows_class;
    }
    return NULL;
}

enum status node_make(struct run *run, const struct plan *plan, struct exec_node **out)
{
    const struct node_class *class = class_of(plan->kind);
    ASSERT(class != NULL);
    struct exec_node *op = arena_zero(run->arena, class->node_bytes ? class->node_bytes : sizeof *op);
    *out = op;
    op->class = class;
    op->plan = plan;
    op->run = run;
    if (run->counters)
        op->counters = &run->counters->nodes[plan->id];
    enum status status = STATUS_OK;
    if (plan->left)
        status = node_make(run, plan->left, &op->left);
    if (!status && plan->right)
        status = node_make(run, plan->right, &op->right);
    if (!status && class->open)
        status = class->open(op);
    return status;
}

enum status local_make(struct exec_node *op, struct worker *worker, struct local *next, struct local **out)
{
    struct local *local = arena_zero(worker->arena, op->class->local_bytes ? op->class->local_bytes : sizeof *local);
    *out = local;
    local->op = op;
    local->worker = worker;
    local->next = next;
    local->take = op->class->take;
    return op->class->local ? op->class->local(local) : STATUS_OK;
}

struct arena *node_again(struct exec_node *op)
{
    if (op->again)
        arena_reset(op->again);
    else
        op->again = arena_open(op->run->arena, op->class->name);
    return op->again;
}

enum status sink_make(struct exec_node *op, const struct sink_class *class, struct worker *worker, struct local **out)
{
    struct arena *arena = worker->number ? worker->arena : op->again ? op->again : node_again(op);
    struct local *local = arena_zero(arena, class->local_bytes ? class->local_bytes : sizeof *local);
    *out = local;
    local->op = op;
    local->worker = worker;
    local->take = class->take;
    local->grain_end = class->grain_end;
    return class->local ? class->local(local) : STATUS_OK;
}

enum status node_run_alone(struct exec_node *op, struct local *next)
{
    enum status status;
    if (op->class->prepare) {
        status = op->class->prepare(op);
        if (status)
            return status;
    }
    struct local *local = op->leader_local;
    if (!local) {
        status = local_make(op, &op->run->leader, next, &local);
        if (status)
            return status;
        op->leader_local = local;
    } else if (op->class->rewind) {
        status = op->class->rewind(local);
        if (status)
            return status;
    }
    local->next = next;
    local->stopped_itself = false;
    if (op->class->source)
        return op->class->source(local);
    status = op->nothing ? STATUS_OK : node_run(op->left, local);
    if (status == STATUS_STOP && local->stopped_itself)
        status = STATUS_OK;
    if (!status && op->class->flush)
        status = op->class->flush(local);
    else if (status && status != STATUS_STOP && op->class->failed && status_sqlstate(status)[0] == '2')
        status = op->class->failed(local, status);
    return status;
}

enum status node_run(struct exec_node *op, struct local *next)
{
    uint64_t from = 0, pushed = 0;
    struct node_counters *whose = NULL;
    if (op->counters) {
        whose = pages_count_for(op->counters);
        from = now_us();
        pushed = op->leader_local ? op->leader_local->push_us : 0;
    }
    uint16_t workers = pipeline_workers(op);
    enum status status = workers > 1 ? gather_run(op, next, workers) : node_run_alone(op, next);
    if (op->counters) {
        uint64_t inside = now_us() - from, below = (op->leader_local ? op->leader_local->push_us : 0) - pushed;
        op->counters->loops++;
        op->counters->total_us += inside > below ? inside - below : 0;
        pages_count_for(whose);
    }
    return status;
}

enum status pipeline_run_serial(struct exec_node *child, struct exec_node *op, const struct sink_class *class)
{
    struct local *sink;
    enum status status = sink_make(op, class, &op->run->leader, &sink);
    if (!status)
        status = node_run(child, sink);
    if (status == STATUS_STOP)
        status = STATUS_OK;
    if (!status && class->done)
        status = class->done(sink);
    if (!status && class->combine)
        status = class->combine(op, sink);
    return status;
}

enum status pipeline_run(struct exec_node *child, struct exec_node *op, const struct sink_class *class)
{
    uint16_t workers = class->parallel ? pipeline_workers(child) : 0;
    return workers > 1 ? parallel_sink_run(child, op, class, workers) : pipeline_run_serial(child, op, class);
}

enum status node_drain(struct exec_node *op, struct row_receiver *receiver)
{
    struct result r = { .receiver = receiver };
    result_open(&r, op->run, op->plan);
    enum status status = node_run(op, &r.local);
    return status == STATUS_STOP ? STATUS_OK : status;
}

/* ---- runs ---- */

static enum status run_open(struct run *run, struct session *session, struct arena *arena, const struct prepared_plan *plan, const struct snapshot *snapshot, const struct value *parameters)
{
    *run = (struct run){ .session = session, .store = session_store(session), .txn = session_txn(session), .plan = plan, .snapshot = snapshot,
                         .parameters = parameters, .arena = arena, .program_arena = arena, .settings = session_settings(session) };
    run->work_mem = run->settings->work_mem_bytes;
    run->leader = (struct worker){ .run = run, .arena = arena, .grains = ALL_GRAINS };
    latch_init(&run->spill_latch, RANK_LEAF, 0, 0, 0);
    if (!plan)
        return STATUS_OK;
    run->outer = arena_array(arena, struct value, plan->outer_slot_count + 1u);
    run->ctes = arena_array(arena, struct cte_run, plan->cte_count + 1u);
    if (plan->arena) {
        struct prepared_plan *mine = (struct prepared_plan *)plan;       /* the session's own; only the side pointer is written */
        if (!mine->kept)
            mine->kept = arena_array(plan->arena, struct program **, plan->node_count + 1u);
        run->kept = mine->kept;
        run->program_arena = plan->arena;
    }
    return STATUS_OK;
}

/* A WITH query that changes rows runs to its end, whether it is read or not. */
static enum status run_modifying_ctes(struct run *run)
{
    for (uint16_t i = 0; i < run->plan->cte_count; i++) {
        const struct plan *plan = run->plan->ctes[i];
        if (plan && plan->kind == PLAN_MODIFY && !run->ctes[i].ready) {
            enum status status = cte_ready(run, i);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

enum status exec_run(struct exec_request *request)
{
    struct arena *arena = arena_open(NULL, "run");
    struct run run;
    struct result result = { .sink = request->sink, .parts = request->parts };
    struct exec_node *top = NULL;
    uint64_t from = request->counters ? now_us() : 0;

    enum status status = run_open(&run, request->session, arena, request->plan, request->snapshot, request->parameters);
    run.counters = request->counters;
    if (run.counters)
        run.counters->run_us = from;     /* while it runs: when it began */
    result_open(&result, &run, request->plan->root);
    run.result = &result;
    if (!status)
        status = node_make(&run, request->plan->root, &top);
    if (!status && request->plan->kind == STATEMENT_SELECT)
        status = run_modifying_ctes(&run);
    if (!status)
        status = node_run(top, &result.local);
    if (status == STATUS_STOP)
        status = STATUS_OK;
    if (result.pending.count && (!status || status_sqlstate(status)[0] == '2')) {        /* a row's error comes behind the rows before it */
        struct error kept = {0};
        enum status failure = status;
        if (failure)
            error_save(&kept);
        status = result_flush(&result);
        if (failure && !status)
            status = error_restore(&kept);
        error_free(&kept);
    }
    if (status == STATUS_STOP)
        status = STATUS_OK;
    if (!status && request->plan->kind != STATEMENT_SELECT)
        status = run_modifying_ctes(&run);
    request->rows_affected = request->plan->root->kind == PLAN_MODIFY ? run.changed : result.rows;
    if (run.counters)
        run.counters->run_us = now_us() - from;
    inner_runs_close(&run);
    spill_close_all(&run);
    worker_arenas_close(&run);
    arena_close(arena);
    return status;
}

/* ---- in parts ---- */

static void parts_work(void *context)
{
    struct exec_parts *parts = context;
    parts->status = exec_run(&parts->request);
}

enum status exec_parts_open(const struct exec_request *request, struct exec_parts **out)
{
    struct exec_parts *parts = calloc(1, sizeof *parts);
    if (parts)
        parts->leader = coroutine_open(parts_work, parts);
    if (!parts || !parts->leader) {
        free(parts);
        return error_set(STATUS_OUT_OF_MEMORY, "out of memory");
    }
    parts->request = *request;
    parts->request.parts = parts;
    *out = parts;
    return STATUS_OK;
}

enum status exec_parts_run(struct exec_parts *parts, uint64_t rows)
{
    parts->until = rows;
    parts->begun = true;
    if (parts->done || coroutine_enter(parts->leader))
        return STATUS_OK;
    parts->done = true;
    return parts->status;
}

bool exec_parts_done(const struct exec_parts *parts) { return parts->done; }

void exec_parts_close(struct exec_parts *parts)
{
    if (!parts)
        return;
    parts->closing = true;
    if (parts->begun && !parts->done) {
        struct error kept = {0};         /* what it is closed for */
        error_save(&kept);
        parts->done = !coroutine_enter(parts->leader);
        error_restore(&kept);
    }
    coroutine_close(parts->leader);
    free(parts);
}

void run_open_plain(struct run *run, struct session *session, struct arena *arena)
{
    enum status status = run_open(run, session, arena, NULL, session_txn(session) ? session_snapshot(session) : NULL, NULL);
    ASSERT(status == STATUS_OK);
    run->outer = arena_array(arena, struct value, 1);
}

void run_close_plain(struct run *run)
{
    spill_close_all(run);
}

enum status exec_scalar(struct session *session, const struct scalar *scalar, const struct value *parameters, struct arena *arena, struct value *out)
{
    struct run run;
    struct arena *scratch = arena_open(NULL, "scalar");
    run_open_plain(&run, session, scratch);
    run.parameters = parameters;
    enum status status = run_scalar(&run, scalar, out);
    if (!status && !out->null)
        value_keep(scalar->type, out, arena);
    arena_close(scratch);
    return status;
}
