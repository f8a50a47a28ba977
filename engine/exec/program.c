/* engine/exec/program.c - turns a tree of struct scalar into a flat program of steps.
 *
 * A register holds one vector. Columns, constants, parameters and outer slots are registers that are loaded; every step
 * makes one more. A step works on the rows of a selection: number 0 is the batch's own, and AND, OR, CASE and COALESCE
 * make narrower ones, so that a branch is evaluated only on the rows that need it (no division by zero in the branch
 * that CASE ruled out). A step whose selection is empty is skipped; registers hold rubbish on rows that aren't
 * selected, and nobody looks there. */
#include "engine/exec/program_private.h"
#include "engine/types/processor.h"
#include "parser/tree.h"

struct compiler {
    struct arena *arena;
    struct program *program;
    uint32_t step_capacity;
    uint32_t register_capacity;
};

static struct step *step_add(struct compiler *c, enum step_kind kind, uint32_t sel, const struct scalar *scalar)
{
    struct program *p = c->program;
    if (p->step_count == c->step_capacity) {
        uint32_t grown = c->step_capacity ? c->step_capacity * 2 : 8;
        p->steps = arena_grow(c->arena, p->steps, c->step_capacity * sizeof(struct step), grown * sizeof(struct step));
        c->step_capacity = grown;
    }
    struct step *step = &p->steps[p->step_count++];
    *step = (struct step){ .kind = kind, .sel = sel, .sel_out = NO_SELECTION, .sel_rest = NO_SELECTION, .scalar = scalar };
    return step;
}

static enum status register_add(struct compiler *c, struct program_register r, uint32_t *out)
{
    struct program *p = c->program;
    if (p->register_count == c->register_capacity) {
        if (c->register_capacity >= 1u << 26)
            return error_set(STATUS_TOO_COMPLEX, "expression is too complex");
        uint32_t grown = c->register_capacity ? (uint32_t)(c->register_capacity * 2) : 8;
        p->registers = arena_grow(c->arena, p->registers, c->register_capacity * sizeof r, grown * sizeof r);
        c->register_capacity = grown;
    }
    p->registers[p->register_count] = r;
    *out = p->register_count++;
    return STATUS_OK;
}

static enum status load(struct compiler *c, enum register_kind kind, struct sql_type type, uint32_t index, uint32_t *out)
{
    for (uint32_t i = 0; i < c->program->register_count; i++)
        if (c->program->registers[i].kind == kind && c->program->registers[i].index == index)
            return *out = i, STATUS_OK;
    if (kind == REGISTER_OUTER)
        c->program->reads_outer = true;
    return register_add(c, (struct program_register){ .kind = kind, .type = type, .index = index }, out);
}

static enum status made(struct compiler *c, struct sql_type type, uint32_t *out)
{
    return register_add(c, (struct program_register){ .kind = REGISTER_MADE, .type = type }, out);
}

static enum status selection_add(struct compiler *c, uint32_t *out)
{
    if (c->program->selection_count >= 1u << 26)
        return error_set(STATUS_TOO_COMPLEX, "expression is too complex");
    *out = c->program->selection_count++;
    return STATUS_OK;
}

static enum status compile(struct compiler *, struct scalar *, uint32_t sel, uint32_t *out);

static enum status compile_args(struct compiler *c, struct scalar *const *args, uint32_t count, uint32_t sel, uint32_t **out, const struct sql_type **types)
{
    *out = arena_array(c->arena, uint32_t, count + 1u);
    struct sql_type *t = arena_array(c->arena, struct sql_type, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        enum status status = compile(c, args[i], sel, &(*out)[i]);
        if (status)
            return status;
        t[i] = args[i]->type;
    }
    *types = t;
    return STATUS_OK;
}

static enum status narrow(struct compiler *c, enum step_kind kind, uint32_t condition, uint32_t sel, uint32_t *sel_out, uint32_t *sel_rest)
{
    enum status status = selection_add(c, sel_out);
    if (!status && sel_rest)
        status = selection_add(c, sel_rest);
    if (status)
        return status;
    struct step *step = step_add(c, kind, sel, NULL);
    step->arg_count = 1;
    step->args = arena_copy(c->arena, &condition, sizeof condition);
    step->sel_out = *sel_out;
    step->sel_rest = sel_rest ? *sel_rest : NO_SELECTION;
    return STATUS_OK;
}

static void copy(struct compiler *c, enum step_kind kind, uint32_t from, uint32_t to, uint32_t sel, bool first)
{
    struct step *step = step_add(c, kind, sel, NULL);
    step->arg_count = 1;
    step->args = arena_copy(c->arena, &from, sizeof from);
    step->out = to;
    step->first = first;
}

/* AND, OR: the first argument is copied, each later one is evaluated on the rows still undecided. */
static enum status compile_logic(struct compiler *c, struct scalar *s, uint32_t sel, uint32_t *out)
{
    bool is_and = s->kind == SCALAR_AND;
    uint32_t arg;
    enum status status = compile(c, s->args[0], sel, &arg);
    if (!status)
        status = made(c, s->type, out);
    if (status)
        return status;
    copy(c, STEP_COPY, arg, *out, sel, true);
    for (int32_t i = 1; i < s->arg_count && !status; i++) {
        uint32_t open;
        status = narrow(c, is_and ? STEP_WHERE_NOT_FALSE : STEP_WHERE_NOT_TRUE, *out, sel, &open, NULL);
        if (!status)
            status = compile(c, s->args[i], open, &arg);
        if (!status)
            copy(c, is_and ? STEP_AND : STEP_OR, arg, *out, open, false);
        sel = open;
    }
    return status;
}

static enum status compile_case(struct compiler *c, struct scalar *s, uint32_t sel, uint32_t *out)
{
    enum status status = made(c, s->type, out);
    copy(c, STEP_PUT_NULL, 0, *out, sel, true);
    int32_t i = 0;
    for (; i + 1 < s->arg_count && !status; i += 2) {
        uint32_t condition, hit, rest, value;
        status = compile(c, s->args[i], sel, &condition);
        if (!status)
            status = narrow(c, STEP_WHERE_TRUE, condition, sel, &hit, &rest);
        if (!status)
            status = compile(c, s->args[i + 1], hit, &value);
        if (status)
            break;
        copy(c, STEP_COPY, value, *out, hit, false);
        sel = rest;
    }
    if (!status && i < s->arg_count) {
        uint32_t value;
        status = compile(c, s->args[i], sel, &value);
        if (!status)
            copy(c, STEP_COPY, value, *out, sel, false);
    }
    return status;
}

static enum status compile_coalesce(struct compiler *c, struct scalar *s, uint32_t sel, uint32_t *out)
{
    uint32_t value;
    enum status status = made(c, s->type, out);
    for (int32_t i = 0; i < s->arg_count && !status; i++) {
        status = compile(c, s->args[i], sel, &value);
        if (status)
            break;
        copy(c, STEP_COPY, value, *out, sel, i == 0);
        if (i + 1 < s->arg_count) {
            uint32_t open;
            status = narrow(c, STEP_WHERE_NULL, value, sel, &open, NULL);
            sel = open;
        }
    }
    return status;
}

static enum status compile(struct compiler *c, struct scalar *s, uint32_t sel, uint32_t *out)
{
    enum step_kind kind;
    switch (s->kind) {
    case SCALAR_COLUMN:    return load(c, REGISTER_COLUMN, s->type, s->column, out);
    case SCALAR_PARAMETER: return load(c, REGISTER_PARAMETER, s->type, s->parameter, out);
    case SCALAR_OUTER:     return load(c, REGISTER_OUTER, s->type, s->parameter, out);
    case SCALAR_CONST:
        return register_add(c, (struct program_register){ .kind = REGISTER_CONSTANT, .type = s->type, .index = NO_SELECTION, .constant = &s->constant }, out);
    case SCALAR_AND: case SCALAR_OR: return compile_logic(c, s, sel, out);
    case SCALAR_CASE:      return compile_case(c, s, sel, out);
    case SCALAR_COALESCE:  return compile_coalesce(c, s, sel, out);
    case SCALAR_CALL: case SCALAR_CURRENT: kind = STEP_CALL; break;
    case SCALAR_NOT:       kind = STEP_NOT; break;
    case SCALAR_NULLIF:    kind = STEP_NULLIF; break;
    case SCALAR_GREATEST: case SCALAR_LEAST: kind = STEP_EXTREME; break;
    case SCALAR_IS_NULL:   kind = STEP_IS_NULL; break;
    case SCALAR_IS_NOT_NULL: kind = STEP_IS_NOT_NULL; break;
    case SCALAR_IS_BOOL:   kind = STEP_IS_BOOL; break;
    case SCALAR_DISTINCT:  kind = STEP_DISTINCT; break;
    case SCALAR_IN_LIST:   kind = STEP_IN_LIST; break;
    case SCALAR_ANY_ARRAY: kind = STEP_ANY_ARRAY; break;
    case SCALAR_ARRAY:     kind = STEP_ARRAY; break;
    case SCALAR_SUBSCRIPT: kind = STEP_SUBSCRIPT; break;
    case SCALAR_SUBQUERY:  kind = STEP_SUBQUERY; break;
    default:
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "row expressions are not supported here");
    }

    uint32_t *args, arg_count = s->arg_count;
    const struct sql_type *types;
    struct in_set *set = kind == STEP_IN_LIST ? in_set_make(c->arena, s) : NULL;
    if (kind == STEP_CALL && s->call.kernel == NULL)
        return error_set(STATUS_FEATURE_NOT_SUPPORTED, "set-returning functions are not allowed here");
    enum status status;
    if (kind == STEP_SUBQUERY) {         /* its registers: outer values, then the operands of ANY */
        uint32_t outer = s->subquery.outer_count;
        arg_count = (uint32_t)(outer + s->arg_count);
        struct scalar **all = arena_array(c->arena, struct scalar *, arg_count + 1u);
        memcpy(all, s->subquery.outer_values, outer * sizeof *all);
        if (s->arg_count)
            memcpy(all + outer, s->args, s->arg_count * sizeof *all);
        status = compile_args(c, all, arg_count, sel, &args, &types);
    } else {
        if (set)
            arg_count = 1;
        status = compile_args(c, s->args, arg_count, sel, &args, &types);
    }
    if (!status)
        status = made(c, s->type, out);
    if (status)
        return status;
    struct step *step = step_add(c, kind, sel, s);
    step->out = *out;
    step->args = args;
    step->arg_count = arg_count;
    step->arg_types = types;
    step->in_set = set;
    step->kernel = kind == STEP_CALL ? kernel_choose(s->call.kernel) : NULL;
    step->foldable = kind == STEP_CALL && s->call.function && s->call.function->volatility != VOLATILE;
    if (kind == STEP_SUBQUERY) {
        struct program *p = c->program;
        step->subquery = p->subquery_count;
        p->subqueries = arena_grow(c->arena, p->subqueries, p->subquery_count * sizeof *p->subqueries, (p->subquery_count + 1u) * sizeof *p->subqueries);
        p->subqueries[p->subquery_count++] = s;
    }
    return STATUS_OK;
}

enum status program_compile(struct arena *arena, struct scalar *const *exprs, uint32_t count, struct program **out)
{
    struct compiler c = { .arena = arena, .program = arena_new(arena, struct program) };
    struct program *p = *out = c.program;
    p->selection_count = 1;
    p->output_count = count;
    p->outputs = arena_array(arena, uint32_t, count + 1u);
    p->filter_selection = NO_SELECTION;
    for (uint32_t i = 0; i < count; i++) {
        enum status status = compile(&c, exprs[i], 0, &p->outputs[i]);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status compile_conjunct(struct compiler *c, struct scalar *s, uint32_t *sel)
{
    if (s->kind == SCALAR_AND) {
        for (int32_t i = 0; i < s->arg_count; i++) {
            enum status status = compile_conjunct(c, s->args[i], sel);
            if (status)
                return status;
        }
        return STATUS_OK;
    }
    uint32_t condition, left;
    enum status status = compile(c, s, *sel, &condition);
    if (!status)
        status = narrow(c, STEP_WHERE_TRUE, condition, *sel, &left, NULL);
    if (!status)
        *sel = left;
    return status;
}

enum status program_compile_filter(struct arena *arena, struct scalar *filter, struct program **out)
{
    *out = NULL;
    if (!filter)
        return STATUS_OK;
    struct compiler c = { .arena = arena, .program = arena_new(arena, struct program) };
    struct program *p = *out = c.program;
    p->selection_count = 1;
    uint32_t sel = 0;
    enum status status = compile_conjunct(&c, filter, &sel);
    p->filter_selection = sel;
    return status;
}

bool program_makes_long(const struct program *p)
{
    for (uint32_t r = 0; r < p->register_count; r++)
        if (p->registers[r].kind == REGISTER_MADE && p->registers[r].type.width == WIDTH_VARLEN)
            return true;
    return false;
}

bool program_serial(const struct program *p)
{
    return p && p->subquery_count;
}

bool program_reads(const struct program *p, uint32_t column)
{
    if (p)
        for (uint32_t i = 0; i < p->register_count; i++)
            if (p->registers[i].kind == REGISTER_COLUMN && p->registers[i].index == column)
                return true;
    return false;
}
