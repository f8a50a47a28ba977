/* engine/exec/source.c - sources that read no heap: one row, VALUES, virtual tables, set functions, WITH queries; and
 * APPEND and RECURSIVE UNION, which are sources to what stands above them. */
#include "engine/exec/gather.h"
#include "engine/exec/operator.h"
#include "engine/exec/spill_rows.h"
#include "engine/catalog/views.h"
#include "engine/exec/row_table.h"
#include "engine/exec/set_function.h"

/* Pushes through a filter when there is one. */
struct filtering { struct local local; struct evaluation *filter; };

static enum status push_filtered(struct local *local, const struct batch *batch)
{
    struct filtering *l = (struct filtering *)local;
    if (!l->filter)
        return local_push(local, batch);
    struct batch out = *batch;
    const row_pos *left;
    uint16_t at;
    enum status status = evaluation_filter(l->filter, batch, &left, &out.selected_count, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, push_filtered);
    if (local->op->counters)
        local->op->counters->filtered += batch->selected_count - out.selected_count;
    out.selection = (row_pos *)left;
    out.all_selected = left == NULL;
    return local_push(local, &out);
}

static enum status filtering_local(struct local *local)
{
    struct program *filter;
    enum status status = node_filter(local->op, 0, local->op->plan->filter, &filter);
    if (!status && filter)
        status = evaluation_open(filter, local->worker->run, local->worker->arena, &((struct filtering *)local)->filter);
    return status;
}

static enum status filtering_open(struct exec_node *op)
{
    struct program *filter;
    return node_filter(op, 0, op->plan->filter, &filter);
}

/* A batch that grows row by row from struct values. */
struct collector {
    struct filtering filtering;
    struct vector *columns;
    struct arena *arena;                 /* of one run */
    uint16_t count;
    uint64_t batches;
};

static enum status collector_local(struct local *local)
{
    struct collector *l = (struct collector *)local;
    const struct plan *plan = local->op->plan;
    l->columns = arena_array(local->worker->arena, struct vector, plan->column_count + 1u);
    l->arena = arena_open(local->worker->arena, local->op->class->name);
    return filtering_local(local);
}

static void collector_start(struct collector *l)
{
    const struct plan *plan = l->filtering.local.op->plan;
    arena_reset(l->arena);
    l->count = 0;
    l->batches = 0;
    for (uint16_t c = 0; c < plan->column_count; c++)
        l->columns[c].values = NULL;
}

static enum status collector_emit(struct collector *l)
{
    if (l->count == 0)
        return STATUS_OK;
    struct local *local = &l->filtering.local;
    struct batch batch = { .columns = l->columns, .column_count = local->op->plan->column_count, .row_count = l->count, .selected_count = l->count,
                           .all_selected = true, .grain = l->batches++ / GRAIN_BATCHES };
    l->count = 0;
    enum status status = push_filtered(local, &batch);
    if (!status)
        status = run_check(local->worker);
    if (!status)
        status = run_deliver(local->worker->run);
    return status;
}

/* Room for one more row; column c's value is put by the caller. */
static void collector_room(struct collector *l)
{
    const struct plan *plan = l->filtering.local.op->plan;
    if (l->count == 0 && plan->column_count && !l->columns[0].values)
        for (uint16_t c = 0; c < plan->column_count; c++)
            vector_make(&l->columns[c], l->arena, plan->types[c].width, BATCH_ROWS);
}

static void collector_put(struct collector *l, uint16_t c, struct sql_type type, const struct value *value)
{
    struct vector *v = &l->columns[c];
    v->nulls[l->count] = value->null;
    if (value->null)
        memset((uint8_t *)v->values + l->count * width_bytes(v->width), 0, width_bytes(v->width));
    else
        value_put(type, value, v, l->count);
}

/* ---- one row ---- */

struct result_node { struct exec_node op; struct program *filter, *program; };
struct result_local { struct filtering filtering; struct evaluation *evaluation; struct vector *columns; };

static enum status result_open(struct exec_node *op)
{
    struct result_node *n = (struct result_node *)op;
    enum status status = filtering_open(op);
    if (!status)
        status = node_program(op, 1, op->plan->exprs, op->plan->exprs ? op->plan->column_count : 0, &n->program);
    return status;
}

static enum status result_local(struct local *local)
{
    struct result_local *l = (struct result_local *)local;
    enum status status = filtering_local(local);
    if (!status)
        status = evaluation_open(((struct result_node *)local->op)->program, local->worker->run, local->worker->arena, &l->evaluation);
    l->columns = arena_array(local->worker->arena, struct vector, local->op->plan->column_count + 1u);
    return status;
}

static enum status result_source(struct local *local)
{
    struct result_local *l = (struct result_local *)local;
    struct batch one = batch_empty(1);
    uint16_t at, count = 1;
    enum status status;
    if (l->filtering.filter) {
        const row_pos *left;
        status = evaluation_filter(l->filtering.filter, &one, &left, &count, &at);
        if (status || count == 0)
            return status;
    }
    if (local->op->left)                 /* a condition without input over a plan: run it or don't */
        return node_run(local->op->left, local);
    status = evaluation_run(l->evaluation, &one, l->columns, &at);
    if (status)
        return status;
    one.columns = l->columns;
    one.column_count = local->op->plan->column_count;
    return local_push(local, &one);
}

static enum status result_pass(struct local *local, const struct batch *batch)
{
    struct result_local *l = (struct result_local *)local;
    if (!local->op->plan->exprs)
        return local_push(local, batch);
    struct batch out = *batch;
    uint16_t at;
    enum status status = evaluation_run(l->evaluation, batch, l->columns, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, result_pass);
    out.columns = l->columns;
    out.column_count = local->op->plan->column_count;
    return local_push(local, &out);
}

const struct node_class result_class = { .name = "one row", .node_bytes = sizeof(struct result_node), .local_bytes = sizeof(struct result_local),
                                         .open = result_open, .local = result_local, .source = result_source, .take = result_pass };

/* ---- VALUES ---- */

static enum status values_source(struct local *local)
{
    struct collector *l = (struct collector *)local;
    const struct plan *plan = local->op->plan;
    collector_start(l);
    enum status status = STATUS_OK;
    for (uint32_t r = 0; r < plan->row_count && !status; r++) {
        collector_room(l);
        for (uint16_t c = 0; c < plan->column_count && !status; c++) {
            struct value value;
            status = run_scalar_in(local->worker->run, l->arena, plan->rows_exprs[r][c], &value);
            if (!status)
                collector_put(l, c, plan->types[c], &value);
        }
        if (!status && ++l->count == BATCH_ROWS)
            status = collector_emit(l);
    }
    return status ? status : collector_emit(l);
}

const struct node_class values_class = { .name = "values", .local_bytes = sizeof(struct collector), .open = filtering_open, .local = collector_local, .source = values_source };

/* ---- virtual tables ---- they are filled first and read after: the call-backs may hold latches */

struct virtual_sink { struct row_sink sink; struct rows rows; const struct sql_type *types; struct vector *one; uint16_t column_count; };

static enum status virtual_row(struct row_sink *sink, const struct value *values)
{
    struct virtual_sink *s = (struct virtual_sink *)sink;
    for (uint16_t c = 0; c < s->column_count; c++)
        vector_of_value(&s->one[c], &values[c], s->types[c].width);
    struct batch batch = batch_empty(1);
    batch.columns = s->one;
    batch.column_count = s->column_count;
    rows_append(&s->rows, &batch);
    return STATUS_OK;
}

static enum status virtual_source(struct local *local)
{
    struct collector *l = (struct collector *)local;
    const struct plan *plan = local->op->plan;
    const struct virtual_table *table = plan->virtual_table;
    arena_reset(l->arena);
    struct sql_type *types = arena_array(l->arena, struct sql_type, table->column_count + 1u);
    for (uint16_t c = 0; c < table->column_count; c++)
        types[c] = type_make(table->columns[c].type, -1);
    struct virtual_sink sink = { .sink = { .row = virtual_row, .arena = l->arena, .table = table }, .types = types, .column_count = table->column_count,
                                 .one = arena_array(l->arena, struct vector, table->column_count + 1u) };
    rows_open(&sink.rows, l->arena, types, table->column_count);
    enum status status = table->fill(local->worker->run->session, &sink.sink);
    for (uint32_t c = 0; c < sink.rows.chunk_count && !status; c++) {
        struct batch all, batch;
        rows_chunk(&sink.rows, c, &all);
        batch = all;
        batch.grain = c / GRAIN_BATCHES;
        batch.columns = l->columns;
        batch.column_count = plan->column_count;
        int64_t ids[ROWS_CHUNK];
        for (uint16_t k = 0; k < plan->column_count; k++) {
            if (plan->columns[k] == 0xFFFF) {
                for (uint16_t i = 0; i < all.row_count; i++)
                    ids[i] = (int64_t)(c * ROWS_CHUNK + i);
                l->columns[k] = (struct vector){ .values = ids, .width = 8 };
            } else {
                l->columns[k] = all.columns[plan->columns[k]];
            }
        }
        status = push_filtered(local, &batch);
        if (!status)
            status = run_check(local->worker);
    }
    return status;
}

const struct node_class virtual_scan_class = { .name = "virtual scan", .local_bytes = sizeof(struct collector), .open = filtering_open, .local = collector_local, .source = virtual_source };

/* ---- set functions ---- */

struct function_local {
    struct collector collector;
    struct set_call call;
    int64_t ordinal;
    struct arena *bytes;
    struct value *args;
    struct value *row;
};

static enum status function_row(struct set_call *call, const struct value *values)
{
    struct function_local *l = call->context;
    const struct plan *plan = l->collector.filtering.local.op->plan;
    uint16_t count = plan->with_ordinality ? (uint16_t)(plan->column_count - 1) : plan->column_count;
    uint16_t own = plan->set_function && plan->set_function->column_count ? plan->set_function->column_count : 1;
    collector_room(&l->collector);
    l->ordinal++;
    for (uint16_t c = 0; c < plan->column_count; c++) {
        uint16_t from = plan->columns ? plan->columns[c] : c;
        struct value ordinal = { .i8 = l->ordinal };
        bool is_ordinal = plan->with_ordinality && (plan->columns ? from >= own : c == count);
        collector_put(&l->collector, c, plan->types[c], is_ordinal ? &ordinal : &values[from]);
    }
    return ++l->collector.count == BATCH_ROWS ? collector_emit(&l->collector) : STATUS_OK;
}

/* Integers in steps are made a batch at a time. */
static enum status function_series(struct function_local *l)
{
    struct collector *c = &l->collector;
    bool small = l->call.arg_types[0].width == 4;
    __int128 at = small ? l->args[0].i4 : l->args[0].i8, end = small ? l->args[1].i4 : l->args[1].i8, step = 1;
    if (l->call.arg_count > 2)
        step = small ? l->args[2].i4 : l->args[2].i8;
    if (step == 0)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "step size cannot equal zero");
    enum status status = STATUS_OK;
    while (!status && (step > 0 ? at <= end : at >= end)) {
        collector_room(c);
        uint16_t n = 0;
        void *values = c->columns[0].values;
        memset(c->columns[0].nulls, 0, BATCH_ROWS);
        for (; n < BATCH_ROWS && (step > 0 ? at <= end : at >= end); n++, at += step) {
            if (small)
                ((int32_t *)values)[n] = (int32_t)at;
            else
                ((int64_t *)values)[n] = (int64_t)at;
        }
        uint8_t *nulls = c->columns[0].nulls;
        c->columns[0].nulls = NULL;
        c->count = n;
        status = collector_emit(c);
        c->columns[0].nulls = nulls;
    }
    return status;
}

static enum status function_source(struct local *local)
{
    struct function_local *l = (struct function_local *)local;
    const struct plan *plan = local->op->plan;
    set_function_fn function = set_function_find(plan->set_function);
    collector_start(&l->collector);
    l->ordinal = 0;
    struct arena *arena = l->collector.arena;
    l->args = arena_array(arena, struct value, plan->set_arg_count + 1u);
    struct sql_type *types = arena_array(arena, struct sql_type, plan->set_arg_count + 1u);
    bool any_null = false;
    for (uint32_t a = 0; a < plan->set_arg_count; a++) {
        enum status status = run_scalar_in(local->worker->run, arena, plan->set_args[a], &l->args[a]);
        if (status)
            return status;
        types[a] = plan->set_args[a]->type;
        any_null |= l->args[a].null;
    }
    if (!function && plan->set_function->kernel) {       /* an ordinary function in FROM: one row */
        struct scalar call = { .kind = SCALAR_CALL, .type = plan->types[0], .arg_count = plan->set_arg_count, .args = plan->set_args };
        call.call.function = plan->set_function;
        call.call.kernel = plan->set_function->kernel;
        struct value value;
        enum status status = run_scalar_in(local->worker->run, arena, &call, &value);
        l->call = (struct set_call){ .column_count = 1, .context = l };
        if (!status)
            status = function_row(&l->call, &value);
        return status ? status : collector_emit(&l->collector);
    }
    if (!function)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "function %s is not supported in FROM", plan->set_function->name);
    if (any_null && set_function_strict(plan->set_function))
        return STATUS_OK;
    uint16_t own = plan->with_ordinality && plan->column_count ? (uint16_t)(plan->column_count - 1) : plan->column_count;
    l->call = (struct set_call){ .session = local->worker->run->session, .function = plan->set_function, .arg_count = plan->set_arg_count, .args = l->args, .arg_types = types,
                                 .column_count = own ? own : 1, .types = plan->types, .arena = arena, .row = function_row, .context = l };
    bool series = strcmp(plan->set_function->name, "generate_series") == 0 && (types[0].oid == OID_INT4 || types[0].oid == OID_INT8);
    if (plan->column_count == 0) {       /* only counted: the function still knows its type */
        struct sql_type *one = arena_new(arena, struct sql_type);
        *one = type_make(plan->set_function->result, -1);
        l->call.types = one;
    }
    enum status status = series && plan->column_count == 1 && !plan->with_ordinality ? function_series(l) : function(&l->call);
    return status ? status : collector_emit(&l->collector);
}

const struct node_class function_scan_class = { .name = "function scan", .local_bytes = sizeof(struct function_local), .open = filtering_open, .local = collector_local, .source = function_source };

/* ---- set functions in the select list ---- as many rows for each input row as the longest of them gives */

struct project_set_node { struct exec_node op; struct program *program; uint16_t *first_arg; uint16_t output_count; };
struct set_list { struct set_call call; struct value *rows; uint32_t count, capacity; };
struct project_set_local { struct local local; struct evaluation *evaluation; struct vector *inputs, *columns; struct arena *arena; struct set_list *lists; uint64_t batches; };

static bool is_set_call(const struct scalar *s) { return s->kind == SCALAR_CALL && s->call.function && s->call.function->kind == FUNCTION_SET; }

static enum status project_set_open(struct exec_node *op)
{
    struct project_set_node *n = (struct project_set_node *)op;
    const struct plan *plan = op->plan;
    uint32_t total = 0;
    for (uint16_t c = 0; c < plan->column_count; c++)
        total += (uint32_t)(is_set_call(plan->exprs[c]) ? plan->exprs[c]->arg_count : 1);
    struct scalar **all = arena_array(op->run->arena, struct scalar *, total + 1);
    n->first_arg = arena_array(op->run->arena, uint16_t, plan->column_count + 1u);
    for (uint16_t c = 0; c < plan->column_count; c++) {
        struct scalar *s = plan->exprs[c];
        n->first_arg[c] = n->output_count;
        if (is_set_call(s))
            for (int32_t a = 0; a < s->arg_count; a++)
                all[n->output_count++] = s->args[a];
        else
            all[n->output_count++] = s;
    }
    op->serial = op->fans_out = true;
    return node_program(op, 0, all, n->output_count, &n->program);
}

static enum status project_set_local(struct local *local)
{
    struct project_set_local *l = (struct project_set_local *)local;
    struct project_set_node *n = (struct project_set_node *)local->op;
    struct arena *arena = local->worker->arena;
    l->inputs = arena_array(arena, struct vector, n->output_count + 1u);
    l->columns = arena_array(arena, struct vector, local->op->plan->column_count + 1u);
    l->arena = arena_open(arena, "project set");
    l->lists = arena_array(arena, struct set_list, local->op->plan->column_count + 1u);
    return evaluation_open(n->program, local->worker->run, arena, &l->evaluation);
}

static enum status set_row(struct set_call *call, const struct value *values)
{
    struct set_list *list = call->context;
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 16;
        list->rows = arena_grow(call->arena, list->rows, list->capacity * sizeof *list->rows, capacity * sizeof *list->rows);
        list->capacity = capacity;
    }
    list->rows[list->count++] = values[0];
    return STATUS_OK;
}

static enum status project_set_row(struct project_set_local *l, const struct batch *batch, uint16_t i)
{
    struct local *local = &l->local;
    struct project_set_node *n = (struct project_set_node *)local->op;
    const struct plan *plan = local->op->plan;
    uint32_t longest = 0;
    arena_reset(l->arena);
    for (uint16_t c = 0; c < plan->column_count; c++) {
        struct scalar *s = plan->exprs[c];
        struct set_list *list = &l->lists[c];
        *list = (struct set_list){0};
        if (!is_set_call(s))
            continue;
        struct value *args = arena_array(l->arena, struct value, s->arg_count + 1u);
        struct sql_type *types = arena_array(l->arena, struct sql_type, s->arg_count + 1u);
        bool any_null = false;
        for (int32_t a = 0; a < s->arg_count; a++) {
            const struct vector *v = &l->inputs[n->first_arg[c] + a];
            types[a] = s->args[a]->type;
            if (vector_null(v, i))
                args[a].null = any_null = true;
            else
                args[a] = value_get(types[a], v, vector_at(v, i));
        }
        set_function_fn function = set_function_find(s->call.function);
        if (!function)
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "function %s is not supported in the select list", s->call.function->name);
        list->call = (struct set_call){ .session = local->worker->run->session, .function = s->call.function, .arg_count = s->arg_count, .args = args, .arg_types = types,
                                        .column_count = 1, .types = &s->type, .arena = l->arena, .row = set_row, .context = list };
        enum status status = any_null && set_function_strict(s->call.function) ? STATUS_OK : function(&list->call);
        if (status)
            return status;
        if (list->count > longest)
            longest = list->count;
    }
    enum status status = STATUS_OK;
    for (uint32_t from = 0; from < longest && !status; from += BATCH_ROWS) {
        uint16_t count = (uint16_t)(longest - from < BATCH_ROWS ? longest - from : BATCH_ROWS);
        for (uint16_t c = 0; c < plan->column_count; c++) {
            struct vector *out = &l->columns[c];
            if (!is_set_call(plan->exprs[c])) {
                const struct vector *v = &l->inputs[n->first_arg[c]];
                *out = (struct vector){ .values = (uint8_t *)v->values + vector_at(v, i) * width_bytes(v->width), .nulls = v->nulls ? v->nulls + vector_at(v, i) : NULL,
                                        .width = v->width, .constant = true };
                continue;
            }
            vector_make(out, l->arena, plan->types[c].width, count);
            for (uint16_t k = 0; k < count; k++) {
                const struct set_list *list = &l->lists[c];
                out->nulls[k] = from + k >= list->count || list->rows[from + k].null;
                if (!out->nulls[k])
                    value_put(plan->types[c], &list->rows[from + k], out, k);
                else
                    memset((uint8_t *)out->values + k * width_bytes(out->width), 0, width_bytes(out->width));
            }
        }
        struct batch out = { .columns = l->columns, .column_count = plan->column_count, .row_count = count, .selected_count = count, .all_selected = true, .grain = batch->grain };
        status = run_check(local->worker);
        if (!status)
            status = local_push(local, &out);
    }
    return status;
}

static enum status project_set_take(struct local *local, const struct batch *batch)
{
    struct project_set_local *l = (struct project_set_local *)local;
    uint16_t at;
    enum status status = evaluation_run(l->evaluation, batch, l->inputs, &at);
    if (status)
        return rows_before_failure(local, batch, status, at, project_set_take);
    for (BATCH_EACH(batch, i)) {
        status = project_set_row(l, batch, i);
        if (status)
            return status;
    }
    return STATUS_OK;
}

const struct node_class project_set_class = { .name = "project set", .node_bytes = sizeof(struct project_set_node), .local_bytes = sizeof(struct project_set_local),
                                              .open = project_set_open, .local = project_set_local, .take = project_set_take };

/* ---- WITH queries ---- */

struct keep_receiver { struct row_receiver receiver; struct spill_rows *rows; };

static enum status keep_take(struct row_receiver *receiver, const struct batch *batch)
{
    return spill_rows_append(((struct keep_receiver *)receiver)->rows, batch, batch->all_selected ? NULL : batch->selection, batch->selected_count);
}

enum status cte_ready(struct run *run, uint16_t number)
{
    struct cte_run *cte = &run->ctes[number];
    const struct plan *plan = run->plan->ctes[number];
    if (cte->ready)
        return STATUS_OK;
    if (!cte->op) {
        enum status status = node_make(run, plan, &cte->op);
        if (status)
            return status;
    }
    cte->arena = arena_open(run->arena, "with");
    cte->rows = arena_new(run->arena, struct spill_rows);
    spill_rows_open(cte->rows, &run->leader, cte->arena, plan->types, plan->column_count);
    struct keep_receiver keep = { .receiver = { keep_take }, .rows = cte->rows };
    enum status status = node_drain(cte->op, &keep.receiver);
    if (!status)
        status = spill_rows_finish(cte->rows);
    cte->ready = !status;
    return status;
}

/* A query that one scan reads, once, is made as it is read: a LIMIT above stops it, and nothing is kept. */
static enum status cte_take(struct local *local, const struct batch *made)
{
    struct collector *l = (struct collector *)local;
    const struct plan *plan = local->op->plan;
    struct batch batch = *made;
    if (plan->columns) {
        for (uint16_t k = 0; k < plan->column_count; k++)
            l->columns[k] = made->columns[plan->columns[k]];
        batch.columns = l->columns;
        batch.column_count = plan->column_count;
    }
    return push_filtered(local, &batch);
}

static enum status cte_stream(struct local *local, struct cte_run *cte)
{
    struct run *run = local->worker->run;
    enum status status = cte->op ? STATUS_OK : node_make(run, run->plan->ctes[local->op->plan->cte], &cte->op);
    cte->streamed = true;
    return status ? status : node_run(cte->op, local);
}

/* The rows of a recursive query's last round. */
static enum status working_source(struct local *local, const struct rows *rows)
{
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < rows->chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(rows, c, &batch);
        batch.grain = c / GRAIN_BATCHES;
        status = run_check(local->worker);
        if (!status)
            status = cte_take(local, &batch);
    }
    return status;
}

static enum status cte_source(struct local *local)
{
    struct run *run = local->worker->run;
    const struct plan *plan = local->op->plan;
    struct cte_run *cte = &run->ctes[plan->cte];
    if (plan->working_table)
        return cte->working ? working_source(local, cte->working) : STATUS_OK;
    const struct plan *made = run->plan->ctes[plan->cte];
    if (!cte->ready && !cte->streamed && run->nesting == 0 && run->plan->cte_scans[plan->cte] == 1 && made->kind != PLAN_MODIFY)
        return cte_stream(local, cte);
    enum status status = cte_ready(run, plan->cte);
    struct collector *l = (struct collector *)local;
    struct spill_rows_reader reader;
    arena_reset(l->arena);
    if (!status)
        spill_rows_reader_open(&reader, cte->rows, l->arena);
    for (uint32_t c = 0; !status && c < spill_rows_chunks(cte->rows); c++) {
        struct batch batch;
        if (spill_rows_crowded(&reader, c))
            spill_rows_forget(&reader);
        status = spill_rows_chunk(&reader, c, &batch);
        batch.grain = spill_rows_first(cte->rows, c) / ROWS_CHUNK / GRAIN_BATCHES;
        if (!status)
            status = run_check(local->worker);
        if (!status)
            status = cte_take(local, &batch);
    }
    if (local->op->counters && !status)
        local->op->counters->spilled_bytes = spill_rows_disk_bytes(cte->rows);
    return status;
}

const struct node_class cte_scan_class = { .name = "cte scan", .local_bytes = sizeof(struct collector), .open = filtering_open, .local = collector_local, .source = cte_source, .take = cte_take };

/* ---- append ---- */

struct append_node { struct exec_node op; struct exec_node **children; };
/* Makes the grains of one input follow those of the inputs before it. */
struct append_local { struct local local; uint64_t base, last; };

static enum status append_open(struct exec_node *op)
{
    struct append_node *n = (struct append_node *)op;
    n->children = arena_array(op->run->arena, struct exec_node *, op->plan->child_count + 1u);
    enum status status = STATUS_OK;
    for (uint16_t i = 0; i < op->plan->child_count && !status; i++)
        status = node_make(op->run, op->plan->children[i], &n->children[i]);
    return status;
}

struct exec_node *const *append_inputs(const struct exec_node *append, uint16_t *count)
{
    *count = append->plan->child_count;
    return ((const struct append_node *)append)->children;
}

static enum status append_take(struct local *local, const struct batch *batch)
{
    struct append_local *l = (struct append_local *)local;
    struct batch out = *batch;
    out.grain += l->base;
    l->last = out.grain;
    return local_push(local, &out);
}

static enum status append_source(struct local *local)
{
    struct append_node *n = (struct append_node *)local->op;
    struct append_local *l = (struct append_local *)local;
    enum status status = STATUS_OK;
    l->base = l->last = 0;
    for (uint16_t i = 0; i < local->op->plan->child_count && !status; i++) {
        status = node_run(n->children[i], local);
        l->base = l->last + 1;
    }
    return status;
}

const struct node_class append_class = { .name = "append", .node_bytes = sizeof(struct append_node), .local_bytes = sizeof(struct append_local),
                                         .open = append_open, .source = append_source, .take = append_take };

/* ---- recursive union ---- the step is run over what the last round gave, until a round gives nothing new */

struct recursive_local {
    struct local local;
    struct arena *seen_arena, *round[2];
    struct row_table seen;
    struct rows *next;
    uint64_t given;
};

static enum status recursive_open(struct exec_node *op)
{
    op->run->ctes[op->plan->cte].recursive = true;
    return STATUS_OK;
}

static enum status recursive_local(struct local *local)
{
    struct recursive_local *l = (struct recursive_local *)local;
    l->seen_arena = arena_open(local->worker->arena, "recursive");
    l->round[0] = arena_open(local->worker->arena, "round");
    l->round[1] = arena_open(local->worker->arena, "round");
    return STATUS_OK;
}

static enum status recursive_take(struct local *local, const struct batch *batch)
{
    struct recursive_local *l = (struct recursive_local *)local;
    const struct plan *plan = local->op->plan;
    struct batch out = *batch;
    row_pos fresh[BATCH_MAX];
    if (!plan->set_all) {
        uint64_t hashes[BATCH_MAX];
        uint16_t n = 0;
        for (BATCH_EACH(batch, i)) {
            uint32_t before = row_table_count(&l->seen), entry;
            hash_columns(plan->types, batch->columns, plan->column_count, &i, 1, hashes);
            row_table_add(&l->seen, batch, &i, 1, hashes, &entry);
            if (row_table_count(&l->seen) > before)
                fresh[n++] = i;
        }
        out.selection = fresh;
        out.selected_count = n;
        out.all_selected = false;
    }
    rows_append(l->next, &out);
    out.grain = l->given / ((uint64_t)BATCH_ROWS * GRAIN_BATCHES);             /* by rows: how they are cut into batches may hang on their length */
    l->given += out.selected_count;
    return local_push(local, &out);
}

static enum status recursive_source(struct local *local)
{
    struct recursive_local *l = (struct recursive_local *)local;
    const struct plan *plan = local->op->plan;
    struct run *run = local->worker->run;
    struct cte_run *cte = &run->ctes[plan->cte];
    struct rows rows[2];
    int now = 0;
    arena_reset(l->seen_arena);
    arena_reset(l->round[0]);
    row_table_open(&l->seen, l->seen_arena, plan->types, plan->column_count);
    l->given = 0;
    rows_open(&rows[0], l->round[0], plan->types, plan->column_count);
    l->next = &rows[0];
    run->nesting++;                      /* the step runs again and again: no workers there */
    enum status status = node_run(local->op->left, local);
    while (!status && rows[now].count) {
        cte->working = &rows[now];
        arena_reset(l->round[1 - now]);
        rows_open(&rows[1 - now], l->round[1 - now], plan->types, plan->column_count);
        l->next = &rows[1 - now];
        status = node_run(local->op->right, local);
        if (!status)
            status = run_check(local->worker);
        now = 1 - now;
    }
    run->nesting--;
    cte->working = NULL;
    return status;
}

const struct node_class recursive_union_class = { .name = "recursive union", .local_bytes = sizeof(struct recursive_local), .open = recursive_open,
                                                  .local = recursive_local, .source = recursive_source, .take = recursive_take };
