/* engine/exec/inner_run.c - workers whose rows run plans: the right side of a nested loop, a subquery.
 *
 * What such a plan reads of the row at hand stands in the run's outer slots, and its operators keep what they have built. So a
 * worker has a run of its own (inner_run_open): slots, a tree of operators for each such plan, counts. Of the real run it
 * shares what nobody changes: snapshot, parameters, answers. Nothing in it has workers (nesting), and it ends with the real one.
 *
 *     worker's run --> struct run (main): closed and counted by inner_runs_close, when all workers are home
 *
 * A subquery that hangs on no row has one *answer*. Before workers start, the leader works it out (inner_answers), with workers for its
 * scans; otherwise each worker would. So it is with the right side of a nested loop that hangs on no row. Should that fail, then perhaps no row would have asked: the pipeline
 * runs in the leader alone, which asks when a row does. That it failed is remembered, for every pipeline it is in asks. Workers see the answers that
 * were there when theirs began (exchange.answers): meanwhile the leader may add some, in what is above or beside it.
 *
 * Not every plan can run in a worker: WITH queries, views of the server and set-returning functions belong to the leader (plan_runs_inside). */
#include "engine/exec/inner_run.h"
#include "engine/exec/program_private.h"
#include "engine/exec/spill.h"

/* ---- which plans ---- */

static bool scalars_run_inside(struct scalar *const *s, uint32_t count)
{
    for (uint32_t i = 0; s && i < count; i++)
        if (!scalar_runs_inside(s[i]))
            return false;
    return true;
}

bool scalar_runs_inside(const struct scalar *s)
{
    if (!s)
        return true;
    if (s->kind == SCALAR_SUBQUERY && (!plan_runs_inside(s->subquery.plan) || !scalars_run_inside(s->subquery.outer_values, s->subquery.outer_count)))
        return false;
    return scalars_run_inside(s->args, (uint32_t)s->arg_count);
}

static bool bound_runs_inside(const struct index_bound *b)
{
    return scalars_run_inside(b->equal, b->equal_count) && scalar_runs_inside(b->low) && scalar_runs_inside(b->high) && scalar_runs_inside(b->any_array);
}

bool plan_runs_inside(const struct plan *p)
{
    if (!p)
        return true;
    switch (p->kind) {
    case PLAN_RESULT: case PLAN_VALUES: case PLAN_SEQ_SCAN: case PLAN_INDEX_SCAN: case PLAN_FILTER: case PLAN_PROJECT: case PLAN_HASH_JOIN: case PLAN_NESTED_LOOP:
    case PLAN_AGGREGATE: case PLAN_SORT: case PLAN_TOP_N: case PLAN_LIMIT: case PLAN_APPEND:
        break;
    default:
        return false;
    }
    for (uint16_t i = 0; i < p->child_count; i++)
        if (!plan_runs_inside(p->children[i]))
            return false;
    for (uint32_t r = 0; r < p->row_count && p->rows_exprs; r++)
        if (!scalars_run_inside(p->rows_exprs[r], p->column_count))
            return false;
    for (uint16_t i = 0; i < p->aggregate_count; i++)
        if (!scalars_run_inside(p->aggregates[i].args, p->aggregates[i].arg_count) || !scalar_runs_inside(p->aggregates[i].filter))
            return false;
    bool exprs = p->kind == PLAN_PROJECT || p->kind == PLAN_RESULT;
    return plan_runs_inside(p->left) && plan_runs_inside(p->right) && scalar_runs_inside(p->filter) && (!exprs || scalars_run_inside(p->exprs, p->column_count)) &&
           bound_runs_inside(&p->bound) && scalars_run_inside(p->left_keys, p->key_count) && scalars_run_inside(p->right_keys, p->key_count) &&
           scalars_run_inside(p->outer_values, p->outer_count) && scalars_run_inside(p->groups, p->group_count) && scalar_runs_inside(p->limit) && scalar_runs_inside(p->offset) &&
           !plan_is_volatile(p);
}

bool program_runs_inside(const struct run *run, const struct program *p)
{
    for (uint32_t i = 0; p && i < p->subquery_count; i++) {
        const struct scalar *s = p->subqueries[i];
        bool any = s->subquery.kind == SUBQUERY_ANY || s->subquery.kind == SUBQUERY_ALL;
        if (!scalar_runs_inside(s) || (any && !plan_reads_outer(run, s->subquery.plan)))      /* its rows, kept once, for all */
            return false;
    }
    return true;
}

/* ---- a worker's run ---- */

void inner_run_open(struct worker *worker, const struct run_answer *answers)
{
    struct run *main = worker->run, *mine = arena_new(worker->arena, struct run);
    *mine = (struct run){ .session = main->session, .store = main->store, .txn = main->txn, .snapshot = main->snapshot, .plan = main->plan, .parameters = main->parameters,
                          .arena = worker->arena, .program_arena = worker->arena, .settings = main->settings, .work_mem = main->work_mem, .answers = answers, .nesting = 1,
                          .result = worker->leads ? main->result : NULL };
    mine->outer = arena_array(worker->arena, struct value, main->plan->outer_slot_count + 1u);
    mine->leader = (struct worker){ .run = mine, .arena = worker->arena, .grains = ALL_GRAINS, .stop = worker->stop, .leads = worker->leads };
    latch_init(&mine->spill_latch, RANK_LEAF, 0, 0, 0);
    if (main->counters) {
        mine->counters = arena_new(worker->arena, struct exec_counters);
        mine->counters->nodes = arena_array(worker->arena, struct node_counters, main->plan->node_count + 1u);
        mine->counters->run_us = main->counters->run_us;
    }
    latch_acquire(&main->spill_latch, LATCH_EXCLUSIVE);
    mine->next_inner = main->inner_runs;
    main->inner_runs = mine;
    latch_release(&main->spill_latch);
    worker->run = mine;
}

void inner_counts(struct node_counters *to, const struct node_counters *from, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++) {
        to[i].rows = from[i].rows;
        to[i].loops = from[i].loops;
        to[i].filtered = from[i].filtered;
        to[i].pages_skipped = from[i].pages_skipped;
        to[i].heap_fetches = from[i].heap_fetches;
    }
}

static void counters_add(struct exec_counters *all, const struct exec_counters *mine, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++) {
        struct node_counters *to = &all->nodes[i];
        const struct node_counters *from = &mine->nodes[i];
        if (from->start_us && (!to->start_us || from->start_us < to->start_us))
            to->start_us = from->start_us;
        to->rows += from->rows;
        to->loops += from->loops;
        to->total_us += from->total_us;
        to->filtered += from->filtered;
        to->pages_skipped += from->pages_skipped;
        to->heap_fetches += from->heap_fetches;
        to->morsels += from->morsels;
        to->pages_hit += from->pages_hit;
        to->pages_read += from->pages_read;
        to->pages_dirtied += from->pages_dirtied;
        to->pages_written += from->pages_written;
        to->wal_records += from->wal_records;
        to->wal_images += from->wal_images;
        to->wal_bytes += from->wal_bytes;
        to->spilled_bytes += from->spilled_bytes;
        to->memory_bytes = to->memory_bytes > from->memory_bytes ? to->memory_bytes : from->memory_bytes;
    }
}

void inner_runs_close(struct run *main)
{
    for (struct run *mine = main->inner_runs; mine; mine = mine->next_inner) {
        spill_close_all(mine);
        if (main->counters)
            counters_add(main->counters, mine->counters, main->plan->node_count);
    }
    main->inner_runs = NULL;
}

/* ---- answers ---- */

static const struct run_answer *answer_find(const struct run *run, const struct scalar *scalar)
{
    const struct run_answer *a = run->answers;
    while (a && a->scalar != scalar)
        a = a->next;
    return a;
}

const struct value *inner_answer(const struct run *run, const struct scalar *scalar)
{
    const struct run_answer *a = answer_find(run, scalar);
    return a && !a->failed ? &a->value : NULL;
}

enum status inner_failed(enum status status, bool *failed)
{
    if (!status || status_sqlstate(status)[0] != '2')
        return status;
    error_clear();
    *failed = true;
    return STATUS_OK;
}

static enum status answer(struct run *run, const struct scalar *scalar, bool *failed)
{
    if (plan_reads_outer(run, scalar->subquery.plan))
        return STATUS_OK;
    const struct run_answer *known = answer_find(run, scalar);
    if (known) {
        *failed |= known->failed;
        return STATUS_OK;
    }
    struct run_answer *a = arena_new(run->arena, struct run_answer);
    enum status status = inner_failed(subquery_answer(run, scalar, &a->value), &a->failed);
    if (status)
        return status;
    a->scalar = scalar;
    a->next = run->answers;
    run->answers = a;
    *failed |= a->failed;
    return STATUS_OK;
}

enum status inner_answers(struct exec_node *op, bool *failed)
{
    enum status status = op->class == &nested_loop_class ? nested_loop_keep(op, failed) : STATUS_OK;
    for (uint16_t p = 0; p < op->inner_count && !status && !*failed; p++)
        for (uint32_t i = 0; i < op->inner_programs[p]->subquery_count && !status && !*failed; i++)
            status = answer(op->run, op->inner_programs[p]->subqueries[i], failed);
    return status;
}

void inner_program(struct exec_node *op, struct program *program)
{
    if (!program || !program->subquery_count)
        return;
    if (!program_runs_inside(op->run, program)) {
        op->serial = true;               /* the leader runs it, and its subqueries when a row asks */
        return;
    }
    op->inner = true;
    op->inner_programs = arena_grow(op->run->arena, op->inner_programs, op->inner_count * sizeof *op->inner_programs, (op->inner_count + 1u) * sizeof *op->inner_programs);
    op->inner_programs[op->inner_count++] = program;
}
