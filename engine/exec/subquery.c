/* engine/exec/subquery.c - subqueries in expressions.
 *
 * One without outer values is run once (volatile functions in it, too), at the first row that asks, and its answer kept: a
 * value, or for ANY/ALL its rows. Others are run for each row, with the outer slots set from it. A value that
 * hangs on the outer values alone is remembered by them, so that many rows with few different values run it few times. Workers do
 * all that in runs of their own (inner_run.c). */
#include "base/plant.h"
#include "base/hash.h"
#include "engine/exec/inner_run.h"
#include "engine/exec/program_private.h"
#include "engine/exec/row_table.h"
#include "engine/types/array.h"

#define MEMO_MAX 4096

struct subquery {
    struct run *run;
    const struct scalar *scalar;
    struct exec_node *op;
    bool once, memo, ready;
    struct value kept;                   /* once, not ANY/ALL */
    struct arena *arena;                 /* of one run, or for good */
    struct rows rows;                    /* once, ANY/ALL */
    struct row_table *distinct;          /* = ANY over many kept rows of one hashable column */
    bool distinct_null;
    /* memo */
    struct row_table keys;
    struct value *answers; uint32_t answer_capacity;
    struct sql_type *key_types;
};

enum status subquery_open(struct run *run, const struct scalar *scalar, struct subquery **out)
{
    struct subquery *q = arena_new(run->arena, struct subquery);
    *out = q;
    q->run = run;
    q->scalar = scalar;
    bool is_volatile = plan_is_volatile(scalar->subquery.plan);
    q->once = !plan_changes(scalar->subquery.plan) && !plan_reads_outer(run, scalar->subquery.plan);
    bool any = scalar->subquery.kind == SUBQUERY_ANY || scalar->subquery.kind == SUBQUERY_ALL;
    const struct value *answer = q->once && !any ? inner_answer(run, scalar) : NULL;
    if (answer) {
        q->kept = *answer;
        q->ready = true;
        return STATUS_OK;
    }
    q->memo = !q->once && !is_volatile && !any && scalar->subquery.outer_count > 0 && scalar->subquery.outer_count <= 8;
    q->arena = arena_open(run->arena, "subquery");
    if (q->memo) {
        q->key_types = arena_array(run->arena, struct sql_type, scalar->subquery.outer_count);
        for (uint16_t i = 0; i < scalar->subquery.outer_count; i++) {
            q->key_types[i] = scalar->subquery.outer_values[i]->type;
            q->memo &= type_hashable(q->key_types[i].oid) && type_comparable(q->key_types[i].oid);
        }
        uint8_t read[run->plan->outer_slot_count + 1];
        plan_outer_slots(run, scalar->subquery.plan, read);
        for (uint16_t i = 0; i < scalar->subquery.outer_count; i++)
            read[scalar->subquery.outer_slots[i]] = 0;
        for (uint16_t s = 0; s < run->plan->outer_slot_count; s++)
            q->memo &= !read[s];         /* slots of queries further out change unseen */
        if (q->memo)
            row_table_open(&q->keys, q->arena, q->key_types, scalar->subquery.outer_count);
    }
    return node_make(run, scalar->subquery.plan, &q->op);
}

bool subquery_constant(const struct subquery *q)
{
    return q->once && q->scalar->arg_count == 0;
}

/* ---- what a run gives ---- */

struct value_receiver {
    struct row_receiver receiver;
    struct subquery *q;
    struct arena *arena;
    struct value value;
    uint64_t count;
    struct value *items; uint64_t item_capacity;
};

static enum status take_scalar(struct row_receiver *receiver, const struct batch *batch)
{
    struct value_receiver *r = (struct value_receiver *)receiver;
    r->count += batch->selected_count;
    if (r->count > 1)
        return error_set(STATUS_CARDINALITY_VIOLATION, NULL);
    struct sql_type type = r->q->scalar->type;
    row_pos i = batch_row(batch, 0);
    const struct vector *v = &batch->columns[0];
    r->value = (struct value){0};
    if (vector_null(v, i))
        r->value.null = true;
    else
        r->value = value_get(type, v, vector_at(v, i));
    value_keep(type, &r->value, r->arena);
    return STATUS_OK;
}

static enum status take_exists(struct row_receiver *receiver, const struct batch *batch)
{
    ((struct value_receiver *)receiver)->count += batch->selected_count;
    return STATUS_STOP;
}

static enum status take_array(struct row_receiver *receiver, const struct batch *batch)
{
    struct value_receiver *r = (struct value_receiver *)receiver;
    struct sql_type type = r->q->scalar->subquery.plan->types[0];
    for (BATCH_EACH(batch, i)) {
        if (r->count == r->item_capacity) {
            uint64_t capacity = r->item_capacity ? r->item_capacity * 2 : 64;
            r->items = arena_grow(r->arena, r->items, r->item_capacity * sizeof *r->items, capacity * sizeof *r->items);
            r->item_capacity = capacity;
        }
        struct value *item = &r->items[r->count++];
        const struct vector *v = &batch->columns[0];
        *item = (struct value){0};
        if (vector_null(v, i))
            item->null = true;
        else
            *item = value_get(type, v, vector_at(v, i));
        value_keep(type, item, r->arena);
    }
    return STATUS_OK;
}

static enum status run_value(struct subquery *q, struct arena *arena, struct value *out)
{
    struct value_receiver r = { .q = q, .arena = arena, .value = { .null = true } };
    enum subquery_kind kind = q->scalar->subquery.kind;
    r.receiver.take = kind == SUBQUERY_SCALAR ? take_scalar : kind == SUBQUERY_EXISTS ? take_exists : take_array;
    q->run->nesting += !q->once;
    enum status status = node_drain(q->op, &r.receiver);
    q->run->nesting -= !q->once;
    if (!status)
        status = run_check(&q->run->leader);     /* in a worker that was told to stop, this is no answer */
    if (status)
        return status;
    if (kind == SUBQUERY_EXISTS)
        r.value = (struct value){ .b = (r.count > 0) != q->scalar->subquery.negated };
    if (kind == SUBQUERY_ARRAY)
        r.value = (struct value){ .v = array_of(type_element_of(q->scalar->type.oid), r.items, (uint32_t)r.count, arena) };
    *out = r.value;
    return STATUS_OK;
}

enum status subquery_answer(struct run *run, const struct scalar *scalar, struct value *out)
{
    struct subquery *q;
    enum status status = subquery_open(run, scalar, &q);
    return status ? status : run_value(q, q->arena, out);
}

/* ---- ANY, ALL ---- */

struct any_receiver {
    struct row_receiver receiver;
    struct subquery *q;
    struct evaluation *e;
    const struct step *step;
    uint16_t at;
    struct arena *arena;
    bool decided, unknown;
};

/* One batch of the subquery's rows against the operands: decided as soon as one is true (ANY) or false (ALL). Of several columns
 * all must be true; one that is false decides the row, one that is null leaves it unknown. */
static enum status take_any(struct row_receiver *receiver, const struct batch *batch)
{
    struct any_receiver *r = (struct any_receiver *)receiver;
    const struct scalar *s = r->q->scalar;
    bool all = s->subquery.kind == SUBQUERY_ALL;
    uint16_t n = batch->row_count, outer = s->subquery.outer_count;
    uint8_t *result = arena_alloc(r->arena, n), *nulls = arena_alloc(r->arena, n);
    memset(result, 1, n);
    memset(nulls, 0, n);
    for (int32_t c = 0; c < s->arg_count; c++) {
        const struct vector *v = &r->e->registers[r->step->args[outer + c]];
        struct vector args[2], out;
        args[0] = (struct vector){ .values = (uint8_t *)v->values + vector_at(v, r->at) * width_bytes(v->width), .nulls = v->nulls ? v->nulls + vector_at(v, r->at) : NULL, .width = v->width, .constant = true };
        args[1] = batch->columns[c];
        struct sql_type types[2] = { s->args[c]->type, s->subquery.plan->types[c] };
        vector_make(&out, r->arena, 1, n);
        memset(out.nulls, 0, n);
        uint16_t at = NO_ROW;
        struct kernel_call call = { .out = &out, .args = args, .arg_count = 2, .selection = batch->all_selected ? NULL : batch->selection, .count = batch->selected_count, .row_count = n,
                                    .arena = r->arena, .data = s->subquery.datas ? s->subquery.datas[c] : NULL, .error_at = &at, .out_type = type_make(OID_BOOL, -1), .arg_types = types };
        for (uint16_t i = 0; i < n; i++)
            out.nulls[i] = vector_null(&args[0], i) || vector_null(&args[1], i);
        call.has_nulls = true;
        enum status status = s->subquery.kernels[c](&call);
        if (status)
            return status;
        for (BATCH_EACH(batch, i)) {
            if (out.nulls[i])
                nulls[i] = 1;
            else if (!((uint8_t *)out.values)[i])
                result[i] = 0;
        }
    }
    for (BATCH_EACH(batch, i)) {
        if (!result[i]) {
            if (all)
                r->decided = true;
        } else if (nulls[i]) {
            r->unknown = true;
        } else if (!all) {
            r->decided = true;
        }
        if (r->decided)
            return STATUS_STOP;
    }
    return STATUS_OK;
}

struct keep_rows { struct row_receiver receiver; struct rows *rows; };
static enum status take_rows(struct row_receiver *receiver, const struct batch *batch)
{
    rows_append(((struct keep_rows *)receiver)->rows, batch);
    return STATUS_OK;
}

static enum status any_value(struct subquery *q, struct evaluation *e, const struct step *step, uint16_t i, struct value *out)
{
    struct any_receiver r = { .receiver = { take_any }, .q = q, .e = e, .step = step, .at = i };
    enum status status = STATUS_OK;
    if (q->once && !q->ready) {
        rows_open(&q->rows, q->arena, q->scalar->subquery.plan->types, q->scalar->subquery.plan->column_count);
        struct keep_rows keep = { .receiver = { take_rows }, .rows = &q->rows };
        status = node_drain(q->op, &keep.receiver);
        if (status)
            return status;
        q->ready = true;
    }
    r.arena = arena_open(q->run->arena, "any");
    if (q->once) {
        for (uint32_t c = 0; c < q->rows.chunk_count && !status; c++) {
            struct batch batch;
            rows_chunk(&q->rows, c, &batch);
            status = take_any(&r.receiver, &batch);
        }
        if (status == STATUS_STOP)
            status = STATUS_OK;
    } else {
        q->run->nesting++;
        status = node_drain(q->op, &r.receiver);
        q->run->nesting--;
        if (!status)
            status = run_check(&q->run->leader);
    }
    arena_close(r.arena);
    bool all = q->scalar->subquery.kind == SUBQUERY_ALL;
    *out = (struct value){0};
    if (r.decided)
        out->b = !all != q->scalar->subquery.negated;
    else if (r.unknown)
        out->null = true;
    else
        out->b = all != q->scalar->subquery.negated;
    return status;
}

/* ---- */

enum status subquery_value(struct subquery *q, struct evaluation *e, const struct step *step, uint16_t i, struct value *out)
{
    const struct scalar *s = q->scalar;
    uint16_t outer = s->subquery.outer_count;
    for (uint16_t k = 0; k < outer; k++) {
        const struct vector *v = &e->registers[step->args[k]];
        struct value *slot = &q->run->outer[s->subquery.outer_slots[k]];
        if (vector_null(v, i))
            *slot = (struct value){ .null = true };
        else
            *slot = value_get(s->subquery.outer_values[k]->type, v, vector_at(v, i));
    }
    if (s->subquery.kind == SUBQUERY_ANY || s->subquery.kind == SUBQUERY_ALL)
        return any_value(q, e, step, i, out);
    if (q->once) {
        if (!q->ready) {
            enum status status = run_value(q, q->arena, &q->kept);
            if (status)
                return status;
            q->ready = true;
        }
        *out = q->kept;
        return STATUS_OK;
    }
    if (!q->memo) {
        arena_reset(q->arena);
        return run_value(q, q->arena, out);
    }
    struct vector keys[8];
    for (uint16_t k = 0; k < outer; k++)
        keys[k] = e->registers[step->args[k]];
    struct batch batch = { .columns = keys, .column_count = outer, .row_count = (uint16_t)(i + 1) };
    uint64_t hash;
    uint32_t entry;
    hash_columns(q->key_types, keys, outer, &i, 1, &hash);
    if (row_table_count(&q->keys) >= MEMO_MAX) {
        arena_reset(q->arena);
        row_table_open(&q->keys, q->arena, q->key_types, outer);
        q->answers = NULL;
        q->answer_capacity = 0;
    }
    uint32_t before = row_table_count(&q->keys);
    row_table_find(&q->keys, &batch, &i, 1, &hash, &entry);
    if (PLANT(SUBQUERY_KEPT) && entry == UINT32_MAX && before > 2)
        entry = before - 1;
    if (entry != UINT32_MAX) {
        *out = q->answers[entry];
        return STATUS_OK;
    }
    struct value answer;
    enum status status = run_value(q, q->arena, &answer);
    if (status)
        return status;
    row_table_add(&q->keys, &batch, &i, 1, &hash, &entry);
    ASSERT(entry == before);
    if (entry >= q->answer_capacity) {
        uint32_t capacity = q->answer_capacity ? q->answer_capacity * 2 : 64;
        q->answers = arena_grow(q->arena, q->answers, q->answer_capacity * sizeof *q->answers, capacity * sizeof *q->answers);
        q->answer_capacity = capacity;
    }
    q->answers[entry] = *out = answer;
    return STATUS_OK;
}
