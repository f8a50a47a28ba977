/* tests/interleave/workers.c - scenarios of the worker pool, and of pipelines that several workers run.
 *
 * The pool is tried with bare tasks. The pipelines are real ones - a table scan shared by workers, boxes by grain, a
 * leader, a sink - over a table of one row a page, with the executor built for grains of one page and a window of four
 * (Makefile). Between scan and sink stands an operator of our own, which counts what comes by and fails where it is told. */
#include "tests/interleave/interleave.h"
#include "tests/interleave/rows.h"

#include "engine/exec/operator.h"
#include "engine/session_private.h"

#define PAGES 7
#define MORE_PAGES 16                       /* in morsels of 8, 4 and 2 grains */

/* ---- bare tasks ---- */

#define TASKS 2

struct batch_of_tasks {
    struct latch latch;
    struct condition home;
    unsigned left;
    struct bare { struct task task; struct batch_of_tasks *of; unsigned ran; } tasks[TASKS];
};

static void bare_run(struct task *task)
{
    struct bare *bare = (struct bare *)task;
    struct batch_of_tasks *of = bare->of;
    bare->ran++;
    latch_acquire(&of->latch, LATCH_EXCLUSIVE);
    if (--of->left == 0)
        condition_wake_all(&of->home);
    latch_release(&of->latch);
}

/* Rounds of tasks, each waited for before the next: so workers go idle all the time. */
static void submits(void *argument)
{
    struct batch_of_tasks *of = argument;
    for (int round = 0; round < 2; round++) {
        struct task *tasks[TASKS];
        of->left = TASKS;
        for (unsigned i = 0; i < TASKS; i++) {
            of->tasks[i] = (struct bare){.task = {.run = bare_run, .env = type_env, .pid = 1}, .of = of};
            tasks[i] = &of->tasks[i].task;
        }
        workers_submit(tasks, TASKS);
        latch_acquire(&of->latch, LATCH_EXCLUSIVE);
        while (of->left)
            condition_wait(&of->home, &of->latch);
        latch_release(&of->latch);
        for (unsigned i = 0; i < TASKS; i++)
            check(of->tasks[i].ran == 1, "a task ran %u times", of->tasks[i].ran);
    }
}

static void tasks_in(uint32_t workers, unsigned submitters)
{
    static struct batch_of_tasks batches[2];
    must(workers_start(workers));
    go();
    for (unsigned i = 0; i < submitters; i++) {
        latch_init(&batches[i].latch, RANK_EXCHANGE, 0, i, 0);
        condition_init(&batches[i].home, "home");
        begin("submitter", submits, &batches[i]);
    }
    join_all();
    workers_stop();
}

static void submit(void) { tasks_in(1 + (uint32_t)(scheduler_random() % 2), 2); }
static void submit_one(void) { tasks_in(2, 1); }

static void submit_spawn(void)
{
    atomic_store(&exec_worker_start, 1);
    submit();
    atomic_store(&exec_worker_start, 0);
}

/* ---- pipelines ---- */

struct query {
    struct run run;
    struct session session;
    struct settings settings;
    struct prepared_plan prepared;
    struct plan plan;
    struct table table;
    struct snapshot snapshot;
    struct exec_node *scan, probe;
    struct sql_type type;
    uint16_t column;
    unsigned passed[MORE_PAGES];            /* how often each row came by */
    int fails_at, fails_too, stops_after;   /* rows; -1: never */
    unsigned unmade, unmade_after;          /* bits: workers of these numbers can't begin; points until they know */
    struct local leader;
    int64_t taken[MORE_PAGES];
    unsigned taken_count;
    int64_t sum;
    enum status status;
    char message[32];                       /* of an error */
};

static struct query queries[2];

static enum status probe_take(struct local *local, const struct batch *batch)
{
    struct query *query = (struct query *)((uint8_t *)local->op - offsetof(struct query, probe));
    check(batch->selected_count == 1, "a page of %u rows", batch->selected_count);
    int64_t value = ((const int64_t *)batch->columns[0].values)[batch->all_selected ? 0 : batch->selection[0]];
    check(value == (int64_t)batch->grain, "row %lld in grain %llu", (long long)value, (unsigned long long)batch->grain);
    query->passed[value]++;
    point("scenario.row");
    if (value == query->fails_at || value == query->fails_too)
        return error_set(STATUS_DIVISION_BY_ZERO, "row %lld", (long long)value);
    return local_push(local, batch);
}

static enum status probe_local(struct local *local)
{
    const struct query *query = (const struct query *)((const uint8_t *)local->op - offsetof(struct query, probe));
    bool is = query->unmade >> local->worker->number & 1;
    for (unsigned i = 0; is && i < query->unmade_after; i++)
        point("scenario.begins");
    return is ? error_set(STATUS_DIVISION_BY_ZERO, "unmade") : STATUS_OK;
}

static const struct node_class probe_class = {.name = "probe", .local = probe_local, .take = probe_take, .parallel = true};

static enum status leader_take(struct local *local, const struct batch *batch)
{
    struct query *query = (struct query *)((uint8_t *)local - offsetof(struct query, leader));
    for (uint16_t i = 0; i < batch->selected_count; i++) {
        uint16_t at = batch->all_selected ? i : batch->selection[i];
        query->taken[query->taken_count++] = ((const int64_t *)batch->columns[0].values)[at];
        if ((int)query->taken_count == query->stops_after)
            return STATUS_STOP;
    }
    return STATUS_OK;
}

static void query_open(struct query *query, unsigned session, uint16_t workers)
{
    struct arena *arena = arena_open(NULL, "run");
    memset(query, 0, sizeof *query);
    query->fails_at = query->fails_too = query->stops_after = -1;
    query->type = (struct sql_type){.oid = 20, .typmod = -1, .width = 8};
    query->table.heap = *rows_heap();
    query->plan = (struct plan){.kind = PLAN_SEQ_SCAN, .column_count = 1, .types = &query->type, .table = &query->table, .columns = &query->column,
                                .workers_planned = workers, .parallel_safe = true};
    query->prepared = (struct prepared_plan){.root = &query->plan, .node_count = 1};
    query->session.pid = 100 + (int32_t)session;
    query->settings.max_parallel_workers_per_gather = workers;
    query->run = (struct run){.session = &query->session, .store = store, .txn = txn_in(session), .plan = &query->prepared, .snapshot = &query->snapshot,
                              .arena = arena, .program_arena = arena, .settings = &query->settings};
    query->run.leader = (struct worker){.run = &query->run, .arena = arena, .grains = ALL_GRAINS};
    txn_snapshot(query->run.txn, &query->snapshot);
    must(node_make(&query->run, &query->plan, &query->scan));
    query->probe = (struct exec_node){.class = &probe_class, .plan = &query->plan, .run = &query->run, .left = query->scan};
    query->leader = (struct local){.op = &query->probe, .worker = &query->run.leader, .take = leader_take};
    check(pipeline_workers(&query->probe) == workers, "the pipeline has %u workers", pipeline_workers(&query->probe));
}

static void query_close(struct query *query)
{
    worker_arenas_close(&query->run);
    txn_snapshot_done(query->run.txn);
    must(txn_commit(query->run.txn));
    arena_close(query->run.arena);
}

static void pipelines_begin(uint32_t workers)
{
    store_begin(16);
    sessions_open(3);
    rows_make_pages(PAGES);
    must(workers_start(workers));
}

static void pipelines_end(void)
{
    workers_stop();
    sessions_close(3);
    store_end();
}

static void keep_message(struct query *query)
{
    bool said = query->status != STATUS_OK && query->status != STATUS_STOP && error_current()->message;
    snprintf(query->message, sizeof query->message, "%s", said ? error_current()->message : "");
}

static void gathers(void *argument)
{
    struct query *query = argument;
    query->status = gather_run(&query->probe, &query->leader, 2);
    keep_message(query);
}

/* All rows, in order, each read once. */
static void complete(const struct query *query)
{
    check(query->status == STATUS_OK, "the query ended with %s", status_text(query->status));
    check(query->taken_count == PAGES, "%u rows came", query->taken_count);
    for (int i = 0; i < PAGES; i++) {
        check(query->taken[i] == i, "row %lld came at place %d", (long long)query->taken[i], i);
        check(query->passed[i] == 1, "row %d was read %u times", i, query->passed[i]);
    }
}

static void gather(void)
{
    pipelines_begin(2);
    query_open(&queries[0], 0, 2);
    go();
    begin("leader", gathers, &queries[0]);
    join_all();
    complete(&queries[0]);
    query_close(&queries[0]);
    pipelines_end();
}

static void gather_spawn(void)
{
    atomic_store(&exec_worker_start, 1);
    gather();
    atomic_store(&exec_worker_start, 0);
}

static void gather_two(void)
{
    pipelines_begin(1 + (uint32_t)(scheduler_random() % 2));
    for (unsigned i = 0; i < 2; i++)
        query_open(&queries[i], i, 2);
    go();
    for (unsigned i = 0; i < 2; i++)
        begin("leader", gathers, &queries[i]);
    join_all();
    for (unsigned i = 0; i < 2; i++) {
        complete(&queries[i]);
        query_close(&queries[i]);
    }
    pipelines_end();
}

/* Two rows fail. What is raised is the first in order, after all that comes before it, whoever was quicker. */
static void fails(void)
{
    struct query *query = &queries[0];
    pipelines_begin(2);
    query_open(query, 0, 2);
    query->fails_at = (int)(scheduler_random() % PAGES);
    query->fails_too = (int)(scheduler_random() % PAGES);
    int first = query->fails_at < query->fails_too ? query->fails_at : query->fails_too;
    bool limited = scheduler_random() % 3 == 0;
    if (limited)
        query->stops_after = 1 + (int)(scheduler_random() % PAGES);
    go();
    gathers(query);
    join_all();
    if (limited && query->stops_after <= first)
        check(query->status == STATUS_STOP && (int)query->taken_count == query->stops_after, "LIMIT %d, an error at %d: %s after %u rows", query->stops_after, first,
              status_text(query->status), query->taken_count);
    else {
        char message[32];
        snprintf(message, sizeof message, "row %d", first);
        check(query->status == STATUS_DIVISION_BY_ZERO && strcmp(error_current()->message, message) == 0, "the error of row %d is due: %s", first,
              query->status ? error_current()->message : "none came");
        check((int)query->taken_count == first, "%u rows came before the error of row %d", query->taken_count, first);
    }
    for (int i = 0; i < PAGES; i++)
        check(query->passed[i] <= 1, "row %d was read %u times", i, query->passed[i]);
    query_close(query);
    pipelines_end();
}

/* One worker, or both, can't begin: that error, or the whole answer, if the other has been quick. What was taken before is in order. */
static void unmade(void)
{
    struct query *query = &queries[0];
    pipelines_begin(1 + (uint32_t)(scheduler_random() % 2));
    query_open(query, 0, 2);
    query->unmade = 1 + (unsigned)(scheduler_random() % 3);
    query->unmade <<= 1;
    query->unmade_after = (unsigned)(scheduler_random() % 200);
    go();
    begin("leader", gathers, query);
    join_all();
    if (query->status == STATUS_OK && query->unmade != 6)
        complete(query);
    else
        check(query->status == STATUS_DIVISION_BY_ZERO && strcmp(query->message, "unmade") == 0 && (query->unmade != 6 || query->taken_count == 0),
              "the error of who can't begin is due: %s (%s) after %u rows", status_text(query->status), query->message, query->taken_count);
    for (int i = 0; i < (int)query->taken_count; i++)
        check(query->taken[i] == i, "row %lld came at place %d", (long long)query->taken[i], i);
    query_close(query);
    pipelines_end();
}

/* The leader is canceled: an error, or the whole answer; and everybody is home. */
static void canceled(void)
{
    struct query *query = &queries[0];
    pipelines_begin(2);
    query_open(query, 0, 2);
    go();
    struct thread *leader = begin("leader", gathers, query);
    sleep_us(scheduler_random() % 200);
    thread_interrupt(leader, INTERRUPT_CANCEL);
    join_all();
    if (query->status != STATUS_CANCELED)
        complete(query);
    query_close(query);
    pipelines_end();
}

/* Rows fail, a LIMIT is met, a cancel comes: what ends it is the cancel, or what comes first in order; the rows taken are the first ones. */
static void ended_by_any(void)
{
    struct query *query = &queries[0];
    pipelines_begin(1 + (uint32_t)(scheduler_random() % 2));
    query_open(query, 0, 2);
    query->fails_at = (int)(scheduler_random() % PAGES);
    query->fails_too = (int)(scheduler_random() % PAGES);
    int first = query->fails_at < query->fails_too ? query->fails_at : query->fails_too;
    if (scheduler_random() % 2)
        query->stops_after = 1 + (int)(scheduler_random() % PAGES);
    go();
    struct thread *leader = begin("leader", gathers, query);
    sleep_us(scheduler_random() % 200);
    thread_interrupt(leader, INTERRUPT_CANCEL);
    join_all();
    char due[32];
    snprintf(due, sizeof due, "row %d", first);
    bool limited = query->stops_after > 0 && query->stops_after <= first;
    int rows = limited ? query->stops_after : first;
    if (query->status == STATUS_CANCELED)
        check((int)query->taken_count <= rows, "%u rows came before the cancel, %d were due", query->taken_count, rows);
    else
        check(query->status == (limited ? STATUS_STOP : STATUS_DIVISION_BY_ZERO) && (int)query->taken_count == rows && (limited || strcmp(query->message, due) == 0),
              "LIMIT %d, an error at %d: %s (%s) after %u rows", query->stops_after, first, status_text(query->status), query->message, query->taken_count);
    for (int i = 0; i < (int)query->taken_count; i++)
        check(query->taken[i] == i, "row %lld came at place %d", (long long)query->taken[i], i);
    for (int i = 0; i < PAGES; i++)
        check(query->passed[i] <= 1, "row %d was read %u times", i, query->passed[i]);
    query_close(query);
    pipelines_end();
}

/* Two leaders share the workers; one is canceled. The other doesn't notice. */
static void one_of_two_canceled(void)
{
    pipelines_begin(1 + (uint32_t)(scheduler_random() % 2));
    for (unsigned i = 0; i < 2; i++)
        query_open(&queries[i], i, 2);
    go();
    struct thread *leader = begin("leader", gathers, &queries[0]);
    begin("leader", gathers, &queries[1]);
    sleep_us(scheduler_random() % 200);
    thread_interrupt(leader, INTERRUPT_CANCEL);
    join_all();
    complete(&queries[1]);
    if (queries[0].status != STATUS_CANCELED)
        complete(&queries[0]);
    for (unsigned i = 0; i < 2; i++)
        query_close(&queries[i]);
    pipelines_end();
}

/* ---- a sink in each worker ---- */

struct adding { struct local local; int64_t sum; uint64_t grain; bool done; };

static enum status adding_take(struct local *local, const struct batch *batch)
{
    struct adding *adding = (struct adding *)local;
    check(adding->grain <= batch->grain, "grain %llu came after %llu", (unsigned long long)batch->grain, (unsigned long long)adding->grain);
    check(local->worker->grains.first <= batch->grain && batch->grain < local->worker->grains.end, "grain %llu is not of the worker's run", (unsigned long long)batch->grain);
    adding->grain = batch->grain;
    ((struct adding *)local)->sum += ((const int64_t *)batch->columns[0].values)[batch->all_selected ? 0 : batch->selection[0]];
    return STATUS_OK;
}

static enum status adding_done(struct local *local)
{
    ((struct adding *)local)->done = true;
    return STATUS_OK;
}

static enum status adding_combine(struct exec_node *op, struct local *local)
{
    struct query *query = (struct query *)((uint8_t *)op - offsetof(struct query, probe));
    struct adding *adding = (struct adding *)local;
    check(adding->done, "a worker is home whose sink is not done");
    query->sum += adding->sum;
    return STATUS_OK;
}

static const struct sink_class adding_class = {.name = "adding", .local_bytes = sizeof(struct adding), .take = adding_take, .done = adding_done,
                                               .combine = adding_combine, .parallel = true};

static void adds_up(void *argument)
{
    struct query *query = argument;
    query->status = parallel_sink_run(&query->probe, &query->probe, &adding_class, 2);
    keep_message(query);
}

static void sink(void)
{
    struct query *query = &queries[0];
    pipelines_begin(2);
    query_open(query, 0, 2);
    if (scheduler_random() % 2) {
        query->fails_at = (int)(scheduler_random() % PAGES);
        query->fails_too = (int)(scheduler_random() % PAGES);
    }
    int first = query->fails_at < query->fails_too ? query->fails_at : query->fails_too;
    go();
    begin("leader", adds_up, query);
    join_all();
    if (first < 0)
        check(query->status == STATUS_OK && query->sum == PAGES * (PAGES - 1) / 2, "the sum is %lld", (long long)query->sum);
    else {
        check(query->status == STATUS_DIVISION_BY_ZERO && query->passed[first] == 1, "row %d should have failed", first);
    }
    for (int i = 0; i < PAGES; i++)
        check(query->passed[i] == 1 || (first >= 0 && i > first && query->passed[i] == 0), "row %d was read %u times", i, query->passed[i]);
    query_close(query);
    pipelines_end();
}

/* One worker is slow from its first row on: others finish what it can't, each row once. */
static void given_away(void)
{
    struct query *query = &queries[0];
    store_begin(32);
    sessions_open(3);
    rows_make_pages(MORE_PAGES);
    must(workers_start(1 + (uint32_t)(scheduler_random() % 3)));
    query_open(query, 0, 2);
    if (scheduler_random() % 3 == 0)
        query->fails_at = (int)(scheduler_random() % MORE_PAGES);
    go();
    begin("leader", adds_up, query);
    join_all();
    if (query->fails_at < 0)
        check(query->status == STATUS_OK && query->sum == MORE_PAGES * (MORE_PAGES - 1) / 2, "the sum is %lld", (long long)query->sum);
    else
        check(query->status == STATUS_DIVISION_BY_ZERO && query->passed[query->fails_at] == 1, "row %d should have failed", query->fails_at);
    for (int i = 0; i < MORE_PAGES; i++)
        check(query->passed[i] == 1 || (query->fails_at >= 0 && i > query->fails_at && query->passed[i] == 0), "row %d was read %u times", i, query->passed[i]);
    query_close(query);
    pipelines_end();
}

/* The same, with rows that fail and a cancel: everybody comes home, what was given away too; no row is read twice. */
static void given_away_canceled(void)
{
    struct query *query = &queries[0];
    store_begin(32);
    sessions_open(3);
    rows_make_pages(MORE_PAGES);
    must(workers_start(1 + (uint32_t)(scheduler_random() % 3)));
    query_open(query, 0, 2);
    if (scheduler_random() % 2) {
        query->fails_at = (int)(scheduler_random() % MORE_PAGES);
        query->fails_too = (int)(scheduler_random() % MORE_PAGES);
    }
    int first = query->fails_at < query->fails_too ? query->fails_at : query->fails_too;
    go();
    struct thread *leader = begin("leader", adds_up, query);
    sleep_us(scheduler_random() % 300);
    thread_interrupt(leader, INTERRUPT_CANCEL);
    join_all();
    char due[32];
    snprintf(due, sizeof due, "row %d", first);
    if (query->status == STATUS_OK)
        check(first < 0 && query->sum == MORE_PAGES * (MORE_PAGES - 1) / 2, "the sum is %lld, an error was due at %d", (long long)query->sum, first);
    else if (query->status != STATUS_CANCELED)
        check(query->status == STATUS_DIVISION_BY_ZERO && strcmp(query->message, due) == 0, "the error of row %d is due: %s", first, query->message);
    for (int i = 0; i < MORE_PAGES; i++)
        check(query->passed[i] <= 1, "row %d was read %u times", i, query->passed[i]);
    query_close(query);
    pipelines_end();
}

const struct scenario scenarios_workers[] = {
    {"workers.submit", submit, 0, "two submit rounds of tasks to one or two workers that go idle between"},
    {"workers.submit_one", submit_one, 2, "one does"},
    {"workers.spawn", submit_spawn, 0, "a thread for each task (crab.worker_start = spawn)"},
    {"workers.gather", gather, 0, "two workers, a leader, a window: all rows, once, in order"},
    {"workers.gather_spawn", gather_spawn, 0, "the same with crab.worker_start = spawn"},
    {"workers.two_queries", gather_two, 0, "two leaders share one or two workers"},
    {"workers.error", fails, 0, "two rows fail, perhaps past a LIMIT: the first in order counts"},
    {"workers.unmade", unmade, 0, "one of two workers can't begin, or neither"},
    {"workers.cancel", canceled, 0, "the leader is canceled"},
    {"workers.ended_by_any", ended_by_any, 0, "rows fail, a LIMIT is met, a cancel comes"},
    {"workers.one_canceled", one_of_two_canceled, 0, "two leaders share workers, one is canceled: the other's answer is whole"},
    {"workers.sink", sink, 0, "a sink in each worker, the leader's among them, combined when all are home"},
    {"workers.given_away", given_away, 0, "long morsels: who has nothing to claim gets what another has not begun"},
    {"workers.given_away_canceled", given_away_canceled, 0, "the same while rows fail and the leader is canceled"},
    {0},
};
