/* engine/exec/evaluate.c - runs a compiled program over a batch.
 *
 * One loop over the steps. A made register has a value array and a null array of its own, as long as the longest batch it
 * has met; the null array is kept zeroed between runs unless somebody set bytes in it (`nulls_dirty`), so that the
 * usual step without nulls clears nothing. A call whose arguments are all constant is made for one row, and its result is a
 * constant vector: parameters and constants fold at run time, without a pass of their own. */
#include "engine/exec/operator.h"
#include "engine/exec/positions.h"
#include "engine/exec/program_private.h"
#include "engine/types/array.h"
#include "parser/tree.h"

enum status evaluation_open(const struct program *p, struct run *run, struct arena *arena, struct evaluation **out)
{
    struct evaluation *e = arena_new(arena, struct evaluation);
    *out = e;
    e->program = p;
    e->run = run;
    e->arena = arena;
    e->registers = arena_array(arena, struct vector, p->register_count + 1u);
    e->made = arena_array(arena, struct made, p->register_count + 1u);
    e->selections = arena_array(arena, struct selection, p->selection_count);
    for (uint32_t r = 0; r < p->register_count; r++) {
        const struct program_register *reg = &p->registers[r];
        e->registers[r].width = reg->type.width;
        if (reg->kind == REGISTER_CONSTANT)
            vector_of_value(&e->registers[r], reg->constant, reg->type.width);
        else if (reg->kind == REGISTER_PARAMETER)
            vector_of_value(&e->registers[r], &run->parameters[reg->index], reg->type.width);
        else if (reg->kind == REGISTER_OUTER)
            vector_of_value(&e->registers[r], &run->outer[reg->index], reg->type.width);
    }
    if (p->subquery_count) {
        e->subqueries = arena_array(arena, struct subquery *, p->subquery_count);
        for (uint32_t i = 0; i < p->subquery_count; i++) {
            enum status status = subquery_open(run, p->subqueries[i], &e->subqueries[i]);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

static struct arena *scratch(struct evaluation *e)
{
    if (!e->scratch)
        e->scratch = arena_open(e->arena, "evaluation");
    e->used = true;
    return e->scratch;
}

size_t evaluation_bytes(const struct evaluation *e) { return e->scratch ? arena_bytes(e->scratch) : 0; }

/* Room for row_count values; the null array zeroed. */
static struct vector *make_room(struct evaluation *e, uint32_t r, uint16_t row_count)
{
    struct made *m = &e->made[r];
    struct vector *v = &e->registers[r];
    if (m->capacity < row_count) {
        uint32_t capacity = row_count <= 8 ? 8 : row_count <= 128 ? 128 : row_count <= BATCH_ROWS ? BATCH_ROWS : BATCH_MAX;
        m->values = arena_alloc(e->arena, width_bytes(v->width) * capacity);
        m->nulls = arena_zero(e->arena, capacity);
        m->capacity = capacity;
        m->nulls_dirty = false;
    } else if (m->nulls_dirty) {
        memset(m->nulls, 0, m->capacity);
        m->nulls_dirty = false;
    }
    v->values = m->values;
    v->nulls = m->nulls;
    v->constant = false;
    return v;
}

static row_pos *selection_room(struct evaluation *e, struct selection *s, uint16_t count)
{
    if (s->capacity < count) {
        s->capacity = count <= 8 ? 8 : count <= 128 ? 128 : count <= BATCH_ROWS ? BATCH_ROWS : BATCH_MAX;
        s->space = arena_alloc(e->arena, (s->capacity + POSITIONS_SLACK) * sizeof(row_pos));
    }
    return s->space;
}

#define EACH(s, i) uint16_t n_##i = 0, i; n_##i < (s)->count && (i = (s)->rows ? (s)->rows[n_##i] : n_##i, 1); n_##i++

/* ---- calls ---- */

/* The union of the arguments' nulls into the (zeroed) null array. True when there may be any; *all: every row is null. */
static bool union_nulls(const struct vector *args, uint32_t count, uint8_t *nulls, uint16_t row_count, bool *all)
{
    bool any = false;
    *all = false;
    for (uint32_t a = 0; a < count; a++) {
        if (!args[a].nulls)
            continue;
        if (args[a].constant) {
            if (args[a].nulls[0])
                return *all = true;
            continue;
        }
        const uint8_t *from = args[a].nulls;
        if (!any)
            memcpy(nulls, from, row_count);
        else
            for (uint16_t i = 0; i < row_count; i++) nulls[i] |= from[i];
        any = true;
    }
    return any;
}

static enum status call(struct evaluation *e, const struct step *step, const struct selection *sel, kernel_fn kernel, const void *data, bool strict,
                        const struct vector *args, uint32_t arg_count, const struct sql_type *arg_types, struct sql_type type, bool foldable)
{
    bool constant = foldable;
    for (uint32_t a = 0; a < arg_count && constant; a++)
        constant = args[a].constant;
    uint16_t row_count = constant ? 1 : e->row_count;
    struct vector *out = make_room(e, step->out, row_count);
    struct made *m = &e->made[step->out];
    struct kernel_call c = { .out = out, .args = args, .arg_count = arg_count, .selection = constant ? NULL : sel->rows, .count = constant ? 1 : sel->count,
                             .row_count = row_count, .arena = scratch(e), .data = data, .error_at = &e->error_at, .out_type = type, .arg_types = arg_types };
    if (strict) {
        bool all;
        c.has_nulls = union_nulls(args, arg_count, m->nulls, row_count, &all);
        m->nulls_dirty = c.has_nulls;
        if (all) {
            m->nulls[0] = 1;
            m->nulls_dirty = true;
            out->constant = true;
            memset(out->values, 0, width_bytes(out->width));
            return STATUS_OK;
        }
    }
    enum status status = kernel(&c);
    m->nulls_dirty |= c.has_nulls || status;
    if (!m->nulls_dirty)
        out->nulls = NULL;
    out->constant = constant;
    if (status && constant)
        e->error_at = sel->rows ? sel->rows[0] : 0;
    return status;
}

static enum status step_call(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    struct vector few[FUNCTION_ARGS_MAX], *args = few;
    if (step->arg_count > FUNCTION_ARGS_MAX)
        args = arena_alloc(scratch(e), step->arg_count * sizeof *args);
    for (uint32_t a = 0; a < step->arg_count; a++)
        args[a] = e->registers[step->args[a]];
    const struct scalar *s = step->scalar;
    return call(e, step, sel, step->kernel, s->call.data, s->call.function && s->call.function->strict, args, step->arg_count, step->arg_types, scalar_computes(s), step->foldable);
}

/* ---- booleans and nulls ---- */

static void step_not(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector in = e->registers[step->args[0]];
    struct vector *out = make_room(e, step->out, e->row_count);
    const uint8_t *a = in.values;
    uint8_t *r = out->values;
    size_t mask = in.constant ? 0 : ~(size_t)0;
    for (EACH(sel, i))
        r[i] = !a[i & mask];
    if (!in.nulls) {
        out->nulls = NULL;
        return;
    }
    e->made[step->out].nulls_dirty = true;
    for (EACH(sel, i))
        out->nulls[i] = in.nulls[i & mask];
}

static void step_is_null(struct evaluation *e, const struct step *step, const struct selection *sel, bool want)
{
    const struct vector in = e->registers[step->args[0]];
    struct vector *out = make_room(e, step->out, e->row_count);
    uint8_t *r = out->values;
    out->nulls = NULL;
    size_t mask = in.constant ? 0 : ~(size_t)0;
    if (!in.nulls)
        for (EACH(sel, i)) r[i] = !want;
    else
        for (EACH(sel, i)) r[i] = (in.nulls[i & mask] != 0) == want;
}

static void step_is_bool(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector *in = &e->registers[step->args[0]];
    struct vector *out = make_room(e, step->out, e->row_count);
    uint8_t *r = out->values;
    out->nulls = NULL;
    for (EACH(sel, i)) {
        bool null = vector_null(in, i), value = !null && VECTOR(uint8_t, in, i), is;
        switch ((enum is_test)step->scalar->test) {
        case IS_TRUE:        is = value; break;
        case IS_NOT_TRUE:    is = !value; break;
        case IS_FALSE:       is = !null && !value; break;
        case IS_NOT_FALSE:   is = null || value; break;
        case IS_NULL: case IS_UNKNOWN:         is = null; break;
        default:             is = !null; break;
        }
        r[i] = is;
    }
}

/* ---- selections ---- */

uint8_t positions_table[256][8], positions_count[256];
static void __attribute__((constructor)) positions_fill(void)
{
    for (int mask = 0; mask < 256; mask++)
        for (uint8_t i = 0; i < 8; i++)
            if (mask >> i & 1)
                positions_table[mask][positions_count[mask]++] = i;
}

/* Which rows of a bool column count: those of a value that is (not) true, or null. */
static inline bool row_hits(enum step_kind kind, const uint8_t *value, const uint8_t *nulls, uint16_t i)
{
    bool null = nulls && nulls[i];
    switch (kind) {
    case STEP_WHERE_TRUE:      return !null && value[i];
    case STEP_WHERE_NOT_FALSE: return null || value[i];
    case STEP_WHERE_NOT_TRUE:  return null || !value[i];
    default:                   return null;
    }
}

static uint16_t where_all(enum step_kind kind, const uint8_t *value, const uint8_t *nulls, uint16_t count, row_pos *yes, row_pos *no, uint16_t *no_count)
{
    uint16_t n = 0, m = 0, i = 0;
    for (; i + POSITIONS_AT_ONCE <= count; i = (uint16_t)(i + POSITIONS_AT_ONCE)) {
        uint32_t is = positions_mask(value + i), null = nulls ? positions_mask(nulls + i) : 0, hit;
        switch (kind) {
        case STEP_WHERE_TRUE:      hit = is & ~null; break;
        case STEP_WHERE_NOT_FALSE: hit = is | null; break;
        case STEP_WHERE_NOT_TRUE:  hit = (~is & POSITIONS_ALL) | null; break;
        default:                   hit = null; break;
        }
        n = (uint16_t)(n + positions_of(hit, i, yes + n));
        if (no)
            m = (uint16_t)(m + positions_of(~hit & POSITIONS_ALL, i, no + m));
    }
    for (; i < count; i++) {
        bool hit = row_hits(kind, value, nulls, i);
        yes[n] = i;
        n = (uint16_t)(n + hit);
        if (no)
            no[m] = i;
        m = (uint16_t)(m + !hit);
    }
    *no_count = m;
    return n;
}

#define WHERE_SOME(test) \
    if (no) \
        for (uint16_t k = 0; k < count; k++) { \
            uint16_t i = rows[k]; \
            bool hit = (test); \
            yes[n] = i; n = (uint16_t)(n + hit); \
            no[m] = i; m = (uint16_t)(m + !hit); \
        } \
    else \
        for (uint16_t k = 0; k < count; k++) { \
            uint16_t i = rows[k]; \
            yes[n] = i; n = (uint16_t)(n + ((test) != 0)); \
        }
static uint16_t where_some(enum step_kind kind, const uint8_t *value, const uint8_t *nulls, const row_pos *rows, uint16_t count, row_pos *yes, row_pos *no, uint16_t *no_count)
{
    uint16_t n = 0, m = 0;
    if (kind == STEP_WHERE_TRUE && !nulls) {
        WHERE_SOME(value[i] != 0)
    } else {
        WHERE_SOME(row_hits(kind, value, nulls, i))
    }
    *no_count = m;
    return n;
}

static void step_where(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector *v = &e->registers[step->args[0]];
    struct selection *to = &e->selections[step->sel_out];
    struct selection *rest = step->sel_rest == NO_SELECTION ? NULL : &e->selections[step->sel_rest];
    to->rows = NULL;
    to->count = 0;
    if (rest)
        rest->count = 0, rest->rows = NULL;
    if (sel->count == 0)
        return;
    if (v->constant) {                   /* all or none */
        struct selection *all = row_hits(step->kind, v->values, v->nulls, 0) ? to : rest;
        if (all) {
            all->rows = sel->rows;
            all->count = sel->count;
        }
        return;
    }
    row_pos *yes = selection_room(e, to, sel->count), *no = rest ? selection_room(e, rest, sel->count) : NULL;
    uint16_t others;
    to->count = sel->rows ? where_some(step->kind, v->values, v->nulls, sel->rows, sel->count, yes, no, &others)
                          : where_all(step->kind, v->values, v->nulls, sel->count, yes, no, &others);
    to->rows = yes;
    if (rest) {
        rest->rows = no;
        rest->count = others;
    }
}

/* ---- merged registers ---- */

#define SCATTER(type) do { type *r = out->values; const type *a = in.values; for (EACH(sel, i)) r[i] = a[i & mask]; } while (0)

static void step_copy(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector in = e->registers[step->args[0]];
    struct vector *out = step->first ? make_room(e, step->out, e->row_count) : &e->registers[step->out];
    struct made *m = &e->made[step->out];
    size_t mask = in.constant ? 0 : ~(size_t)0;
    switch (out->width) {
    case 1: SCATTER(uint8_t); break;
    case 2: SCATTER(uint16_t); break;
    case 4: SCATTER(uint32_t); break;
    case 8: SCATTER(uint64_t); break;
    default: SCATTER(struct varlen); break;
    }
    if (in.nulls) {
        m->nulls_dirty = true;
        for (EACH(sel, i)) m->nulls[i] = in.nulls[i & mask];
    } else if (m->nulls_dirty) {
        for (EACH(sel, i)) m->nulls[i] = 0;
    }
    out->nulls = m->nulls_dirty ? m->nulls : NULL;
}

static void step_put_null(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    struct vector *out = step->first ? make_room(e, step->out, e->row_count) : &e->registers[step->out];
    struct made *m = &e->made[step->out];
    m->nulls_dirty = true;
    size_t bytes = width_bytes(out->width);
    for (EACH(sel, i)) {
        m->nulls[i] = 1;
        memset((uint8_t *)out->values + i * bytes, 0, bytes);
    }
    out->nulls = m->nulls;
}

/* out holds true or null (AND), false or null (OR) for the rows of sel. */
static void step_logic(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector *in = &e->registers[step->args[0]];
    struct vector *out = &e->registers[step->out];
    struct made *m = &e->made[step->out];
    uint8_t *r = out->values;
    bool deciding = step->kind == STEP_OR;
    for (EACH(sel, i)) {
        if (vector_null(in, i)) {
            m->nulls[i] = 1;
            m->nulls_dirty = true;
        } else if ((VECTOR(uint8_t, in, i) != 0) == deciding) {
            r[i] = deciding;
            m->nulls[i] = 0;
        }
    }
    out->nulls = m->nulls_dirty ? m->nulls : NULL;
}

/* ---- comparisons over any type ---- */

static enum status step_nullif(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    struct vector args[2] = { e->registers[step->args[0]], e->registers[step->args[1]] };
    const struct scalar *s = step->scalar;
    uint16_t n = e->row_count;
    struct vector equal;
    vector_make(&equal, scratch(e), 1, n);
    memset(equal.nulls, 0, n);
    bool all;
    struct kernel_call c = { .out = &equal, .args = args, .arg_count = 2, .selection = sel->rows, .count = sel->count, .row_count = n, .arena = scratch(e),
                             .data = s->call.data, .error_at = &e->error_at, .out_type = type_make(OID_BOOL, -1), .arg_types = step->arg_types };
    c.has_nulls = union_nulls(args, 2, equal.nulls, n, &all);
    if (all)
        memset(equal.nulls, 1, n);
    enum status status = all ? STATUS_OK : s->call.kernel(&c);
    if (status)
        return status;
    struct vector *out = make_room(e, step->out, n);
    struct made *m = &e->made[step->out];
    m->nulls_dirty = true;
    const uint8_t *eq = equal.values;
    for (EACH(sel, i)) {
        vector_copy_one(&args[0], i, out, i);
        if (!equal.nulls[i] && eq[i])
            m->nulls[i] = 1;
    }
    return STATUS_OK;
}

static void step_extreme(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    bool greatest = step->scalar->kind == SCALAR_GREATEST;
    struct sql_type type = step->scalar->type;
    struct vector *out = make_room(e, step->out, e->row_count);
    e->made[step->out].nulls_dirty = true;
    for (EACH(sel, i)) {
        out->nulls[i] = 1;
        for (uint32_t a = 0; a < step->arg_count; a++) {
            const struct vector *in = &e->registers[step->args[a]];
            if (vector_null(in, i))
                continue;
            if (!out->nulls[i]) {
                int order = type_compare(type, in, vector_at(in, i), out, i);
                if (greatest ? order <= 0 : order >= 0)
                    continue;
            }
            vector_copy_one(in, i, out, i);
            out->nulls[i] = 0;
        }
    }
}

static void step_distinct(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector *a = &e->registers[step->args[0]], *b = &e->registers[step->args[1]];
    struct vector *out = make_room(e, step->out, e->row_count);
    uint8_t *r = out->values;
    bool negated = step->scalar->in.negated;
    out->nulls = NULL;
    for (EACH(sel, i))
        r[i] = same_value(step->arg_types[0], a, i, b, i) == negated;
}

static void in_constants(const struct step *step, const struct vector *v, struct vector *out, struct made *m, const struct selection *sel)
{
    const struct in_set *set = step->in_set;
    bool negated = step->scalar->in.negated, unknown = in_set_has_null(set);
    uint8_t *r = out->values;
    in_set_mark(set, v, sel->rows, sel->count, r);
    for (EACH(sel, i)) {
        if (v->nulls || unknown) {
            m->nulls[i] = vector_null(v, i) || (unknown && !r[i]);
            m->nulls_dirty |= m->nulls[i];
        }
        r[i] = (uint8_t)(r[i] ^ negated);
    }
}

static void in_values(struct evaluation *e, const struct step *step, const struct vector *v, struct vector *out, struct made *m, const struct selection *sel)
{
    bool negated = step->scalar->in.negated;
    for (EACH(sel, i)) {
        bool found = false, unknown = vector_null(v, i);
        for (uint32_t a = 1; a < step->arg_count && !found && !vector_null(v, i); a++) {
            const struct vector *item = &e->registers[step->args[a]];
            if (vector_null(item, i))
                unknown = true;
            else
                found = type_compare(step->arg_types[0], v, vector_at(v, i), item, vector_at(item, i)) == 0;
        }
        ((uint8_t *)out->values)[i] = found != negated;
        if (!found && unknown) {
            m->nulls[i] = 1;
            m->nulls_dirty = true;
        }
    }
}

static void step_in_list(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector *v = &e->registers[step->args[0]];
    struct vector *out = make_room(e, step->out, e->row_count);
    struct made *m = &e->made[step->out];
    if (step->in_set)
        in_constants(step, v, out, m, sel);
    else
        in_values(e, step, v, out, m, sel);
    if (!m->nulls_dirty)
        out->nulls = NULL;
}

/* ---- arrays ---- */

static struct sql_type element_of(struct sql_type array)
{
    return type_make(type_element_of(array.oid), -1);
}

static void elements_vector(struct sql_type element, const struct value *values, uint32_t count, struct arena *arena, struct vector *out)
{
    vector_make(out, arena, element.width, count);
    for (uint32_t k = 0; k < count; k++) {
        out->nulls[k] = values[k].null;
        if (!values[k].null)
            value_put(element, &values[k], out, k);
        else
            memset((uint8_t *)out->values + k * width_bytes(element.width), 0, width_bytes(element.width));
    }
}

/* x op ANY/ALL (array): the operator's kernel over the elements, row by row. */
static enum status step_any_array(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct scalar *s = step->scalar;
    struct vector *v = &e->registers[step->args[0]], *arrays = &e->registers[step->args[1]];
    struct vector *out = make_room(e, step->out, e->row_count);
    struct made *m = &e->made[step->out];
    uint8_t *r = out->values;
    m->nulls_dirty = true;
    struct sql_type element = element_of(step->arg_types[1]);
    struct sql_type types[2] = { step->arg_types[0], element };
    bool strict = !s->any.function || s->any.function->strict;
    const uint8_t *kept = NULL;          /* the array of the last row: constant arrays are taken apart once */
    struct vector items = {0};
    uint32_t count = 0;
    for (EACH(sel, i)) {
        m->nulls[i] = 0;
        if (vector_null(arrays, i)) {
            m->nulls[i] = 1;
            continue;
        }
        struct varlen bytes = VECTOR(struct varlen, arrays, i);
        if (bytes.bytes != kept || !kept) {
            struct array_view view;
            array_open(bytes, &view);
            types[1] = view.count ? view.type : element;
            count = view.count;
            elements_vector(types[1], array_elements(&view, scratch(e)), count, scratch(e), &items);
            kept = bytes.bytes;
        }
        bool decided = false, unknown = false;
        for (uint32_t from = 0; from < count && !decided; from += BATCH_ROWS) {
            uint16_t n = (uint16_t)(count - from < BATCH_ROWS ? count - from : BATCH_ROWS);
            struct vector args[2], answers;
            args[0] = (struct vector){ .values = (uint8_t *)v->values + vector_at(v, i) * width_bytes(v->width), .nulls = v->nulls ? v->nulls + vector_at(v, i) : NULL, .width = v->width, .constant = true };
            args[1] = items;
            args[1].values = (uint8_t *)items.values + from * width_bytes(items.width);
            args[1].nulls = items.nulls + from;
            vector_make(&answers, scratch(e), 1, n);
            memset(answers.nulls, 0, n);
            bool all_null = false;
            uint16_t at = NO_ROW;
            enum status status;
            struct kernel_call c = { .out = &answers, .args = args, .arg_count = 2, .count = n, .row_count = n, .arena = scratch(e), .data = s->any.data,
                                     .error_at = &at, .out_type = type_make(OID_BOOL, -1), .arg_types = types };
            if (strict)
                c.has_nulls = union_nulls(args, 2, answers.nulls, n, &all_null);
            if (all_null)
                memset(answers.nulls, 1, n);
            else if ((status = s->any.kernel(&c)))
                return e->error_at = i, status;
            for (uint16_t k = 0; k < n && !decided; k++) {
                if (answers.nulls[k])
                    unknown = true;
                else
                    decided = (((uint8_t *)answers.values)[k] != 0) != s->any.all;
            }
        }
        r[i] = decided != s->any.all;
        m->nulls[i] = !decided && unknown;
    }
    return STATUS_OK;
}

/* ARRAY[[..], [..]]: the sub-arrays' elements one after another, one dimension more. */
static enum status nest_arrays(struct evaluation *e, const struct step *step, uint16_t i, struct varlen *out)
{
    struct array_view first = {0};
    struct value *all = NULL;
    uint32_t count = 0;
    for (uint32_t a = 0; a < step->arg_count; a++) {
        const struct vector *in = &e->registers[step->args[a]];
        struct array_view view = {0};
        if (!vector_null(in, i))
            array_open(VECTOR(struct varlen, in, i), &view);
        if (a == 0)
            first = view;
        bool same = view.dims == first.dims;
        for (int d = 0; d < view.dims && same; d++)
            same = view.lengths[d] == first.lengths[d];
        if (!same)
            return error_set(STATUS_ARRAY_SUBSCRIPT, "multidimensional arrays must have array expressions with matching dimensions");
        struct value *elements = view.count ? array_elements(&view, scratch(e)) : NULL;
        all = arena_grow(scratch(e), all, count * sizeof *all, (count + view.count) * sizeof *all);
        if (view.count)
            memcpy(all + count, elements, view.count * sizeof *all);
        count += view.count;
    }
    uint32_t element = type_element_of(step->scalar->type.oid);
    if (count == 0 || first.dims + 1 > ARRAY_DIMS_MAX) {
        *out = array_of(element, NULL, 0, scratch(e));
        return STATUS_OK;
    }
    int32_t lengths[ARRAY_DIMS_MAX], lower[ARRAY_DIMS_MAX];
    lengths[0] = step->arg_count;
    lower[0] = 1;
    for (int d = 0; d < first.dims; d++) {
        lengths[d + 1] = first.lengths[d];
        lower[d + 1] = first.lower[d];
    }
    *out = array_make(element, first.dims + 1, lengths, lower, all, scratch(e));
    return STATUS_OK;
}

static enum status step_array(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    uint32_t element = type_element_of(step->scalar->type.oid);
    struct vector *out = make_room(e, step->out, e->row_count);
    bool nested = step->arg_count && type_is_array(step->arg_types[0].oid) && step->arg_types[0].oid != element;
    struct value *items = arena_array(scratch(e), struct value, step->arg_count + 1u);
    out->nulls = NULL;
    for (EACH(sel, i)) {
        struct varlen *to = &((struct varlen *)out->values)[i];
        if (nested) {
            enum status status = nest_arrays(e, step, i, to);
            if (status)
                return e->error_at = i, status;
            continue;
        }
        for (uint32_t a = 0; a < step->arg_count; a++) {
            const struct vector *in = &e->registers[step->args[a]];
            memset(&items[a], 0, sizeof items[a]);
            if (vector_null(in, i))
                items[a].null = true;
            else
                items[a] = value_get(step->arg_types[a], in, vector_at(in, i));
        }
        *to = array_of(element, items, step->arg_count, scratch(e));
    }
    return STATUS_OK;
}

/* a[i], a[low:high]. */
static enum status step_subscript(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    const struct vector *arrays = &e->registers[step->args[0]], *low = &e->registers[step->args[1]];
    const struct vector *high = step->arg_count > 2 ? &e->registers[step->args[2]] : NULL;
    struct vector *out = make_room(e, step->out, e->row_count);
    struct made *m = &e->made[step->out];
    m->nulls_dirty = true;
    size_t bytes = width_bytes(out->width);
    for (EACH(sel, i)) {
        m->nulls[i] = 1;
        memset((uint8_t *)out->values + i * bytes, 0, bytes);
        if (vector_null(arrays, i) || vector_null(low, i) || (high && vector_null(high, i)))
            continue;
        struct varlen array = VECTOR(struct varlen, arrays, i);
        int32_t from = VECTOR(int32_t, low, i);
        m->nulls[i] = 0;
        if (high) {
            int32_t to = VECTOR(int32_t, high, i);
            ((struct varlen *)out->values)[i] = array_slice(array, &from, &to, 1, scratch(e));
            continue;
        }
        struct value value = array_subscript(array, &from, 1, scratch(e));
        if (value.null)
            m->nulls[i] = 1;
        else
            value_put(step->scalar->type, &value, out, i);
    }
    return STATUS_OK;
}

static enum status step_subquery(struct evaluation *e, const struct step *step, const struct selection *sel)
{
    struct subquery *q = e->subqueries[step->subquery];
    bool constant = subquery_constant(q);
    struct vector *out = make_room(e, step->out, constant ? 1 : e->row_count);
    struct made *m = &e->made[step->out];
    m->nulls_dirty = true;
    for (EACH(sel, i)) {
        struct value value = {0};
        uint16_t at = constant ? 0 : i;
        enum status status = subquery_value(q, e, step, i, &value);
        if (status)
            return e->error_at = i, status;
        m->nulls[at] = value.null;
        if (!value.null) {
            value_keep(step->scalar->type, &value, scratch(e));
            value_put(step->scalar->type, &value, out, at);
        } else {
            memset((uint8_t *)out->values + at * width_bytes(out->width), 0, width_bytes(out->width));
        }
        if (constant) {
            out->constant = true;
            break;
        }
    }
    return STATUS_OK;
}

/* ---- the loop ---- */

static enum status steps_run(struct evaluation *e, const struct batch *batch)
{
    const struct program *p = e->program;
    if (e->used) {
        arena_reset(e->scratch);
        e->used = false;
    }
    e->row_count = batch->row_count;
    e->error_at = NO_ROW;
    e->selections[0].rows = batch->all_selected ? NULL : batch->selection;
    e->selections[0].count = batch->selected_count;
    for (uint32_t r = 0; r < p->register_count; r++) {
        const struct program_register *reg = &p->registers[r];
        if (reg->kind == REGISTER_COLUMN)
            e->registers[r] = batch->columns[reg->index];
        else if (reg->kind == REGISTER_OUTER)
            vector_of_value(&e->registers[r], &e->run->outer[reg->index], reg->type.width);
    }
    for (uint32_t n = 0; n < p->step_count; n++) {
        const struct step *step = &p->steps[n];
        const struct selection *sel = &e->selections[step->sel];
        enum status status = STATUS_OK;
        if (sel->count == 0 && step->sel_out == NO_SELECTION)
            continue;
        switch (step->kind) {
        case STEP_CALL:        status = step_call(e, step, sel); break;
        case STEP_NOT:         step_not(e, step, sel); break;
        case STEP_IS_NULL:     step_is_null(e, step, sel, true); break;
        case STEP_IS_NOT_NULL: step_is_null(e, step, sel, false); break;
        case STEP_IS_BOOL:     step_is_bool(e, step, sel); break;
        case STEP_NULLIF:      status = step_nullif(e, step, sel); break;
        case STEP_EXTREME:     step_extreme(e, step, sel); break;
        case STEP_DISTINCT:    step_distinct(e, step, sel); break;
        case STEP_IN_LIST:     step_in_list(e, step, sel); break;
        case STEP_ANY_ARRAY:   status = step_any_array(e, step, sel); break;
        case STEP_ARRAY:       status = step_array(e, step, sel); break;
        case STEP_SUBSCRIPT:   status = step_subscript(e, step, sel); break;
        case STEP_SUBQUERY:    status = step_subquery(e, step, sel); break;
        case STEP_WHERE_TRUE: case STEP_WHERE_NOT_FALSE: case STEP_WHERE_NOT_TRUE: case STEP_WHERE_NULL:
            step_where(e, step, sel); break;
        case STEP_COPY:        step_copy(e, step, sel); break;
        case STEP_PUT_NULL:    step_put_null(e, step, sel); break;
        case STEP_AND: case STEP_OR: step_logic(e, step, sel); break;
        }
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status evaluation_run(struct evaluation *e, const struct batch *batch, struct vector *out, uint16_t *error_at)
{
    enum status status = steps_run(e, batch);
    *error_at = e->error_at;
    if (!status)
        for (uint32_t i = 0; i < e->program->output_count; i++)
            out[i] = e->registers[e->program->outputs[i]];
    return status;
}

enum status evaluation_filter(struct evaluation *e, const struct batch *batch, const row_pos **selection, uint16_t *count, uint16_t *error_at)
{
    enum status status = steps_run(e, batch);
    *error_at = e->error_at;
    const struct selection *left = &e->selections[e->program->filter_selection];
    *selection = left->rows;
    *count = status ? 0 : left->count;
    return status;
}

enum status evaluation_scalar(struct evaluation *e, struct value *out)
{
    struct batch nothing = batch_empty(1);
    struct vector v;
    uint16_t at;
    struct sql_type type = e->program->registers[e->program->outputs[0]].type;
    enum status status = evaluation_run(e, &nothing, &v, &at);
    if (status)
        return status;
    memset(out, 0, sizeof *out);
    if (vector_null(&v, 0))
        out->null = true;
    else
        *out = value_get(type, &v, 0);
    return STATUS_OK;
}
