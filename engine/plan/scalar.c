/* engine/plan/scalar.c - bound expressions as data: making, copying, walking, comparing, and computing the constant ones.
 *
 * 1. A scalar is never changed once made (but see parameters in query.h), so trees share parts freely.
 * 2. A call whose arguments are all constant and whose function is immutable is computed when it is made. If that fails
 *    (1/0), the call stays as it is: whether it ever runs, and so whether the error is due, is the executor's to find out.
 * 3. Walks go into nested queries too, since columns of an outer query may stand there. */
#include <string.h>

#include "engine/plan/query.h"

void scalars_add(struct arena *arena, struct scalars *list, struct scalar *item)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
        list->items = arena_grow(arena, list->items, list->capacity * sizeof *list->items, capacity * sizeof *list->items);
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
}

struct scalar *scalar_new(struct arena *arena, enum scalar_kind kind, struct sql_type type, int position)
{
    struct scalar *s = arena_new(arena, struct scalar);
    s->kind = kind;
    s->type = type;
    s->position = position;
    return s;
}

struct scalar *scalar_copy(struct arena *arena, const struct scalar *s) { return arena_copy(arena, s, sizeof *s); }

struct scalar *scalar_null(struct arena *arena, struct sql_type type, int position)
{
    struct scalar *s = scalar_new(arena, SCALAR_CONST, type, position);
    s->constant.null = true;
    return s;
}

struct scalar *scalar_bool(struct arena *arena, bool b)
{
    struct scalar *s = scalar_new(arena, SCALAR_CONST, type_make(OID_BOOL, -1), 0);
    s->constant.b = b;
    return s;
}

struct scalar *scalar_int4(struct arena *arena, int32_t i)
{
    struct scalar *s = scalar_new(arena, SCALAR_CONST, type_make(OID_INT4, -1), 0);
    s->constant.i4 = i;
    return s;
}

struct scalar *scalar_int8(struct arena *arena, int64_t i)
{
    struct scalar *s = scalar_new(arena, SCALAR_CONST, type_make(OID_INT8, -1), 0);
    s->constant.i8 = i;
    return s;
}

struct scalar *scalar_text(struct arena *arena, const char *text)
{
    struct scalar *s = scalar_new(arena, SCALAR_CONST, type_make(OID_TEXT, -1), 0);
    s->constant.v = (struct varlen){ (const uint8_t *)arena_strdup(arena, text), (uint32_t)strlen(text), 0 };
    return s;
}

struct scalar *scalar_var(struct arena *arena, const struct rel *rel, uint16_t column, int position)
{
    struct sql_type type = column == ROW_ID_COLUMN ? type_make(OID_INT8, -1) : rel->types[column];
    struct scalar *s = scalar_new(arena, SCALAR_VAR, type, position);
    s->var.rel = rel->id;
    s->var.column = column;
    return s;
}

bool scalar_is_const(const struct scalar *s) { return s->kind == SCALAR_CONST; }
bool scalar_is_null_const(const struct scalar *s) { return s->kind == SCALAR_CONST && s->constant.null; }
bool scalar_is_true(const struct scalar *s) { return s->kind == SCALAR_CONST && !s->constant.null && s->type.oid == OID_BOOL && s->constant.b; }
bool scalar_is_false(const struct scalar *s)
{
    return s->kind == SCALAR_CONST && s->type.oid == OID_BOOL && (s->constant.null || !s->constant.b);
}

struct scalar *scalar_and(struct arena *arena, struct scalar **items, uint32_t count)
{
    if (count == 0)
        return NULL;
    if (count == 1)
        return items[0];
    struct scalar *s = scalar_new(arena, SCALAR_AND, type_make(OID_BOOL, -1), items[0]->position);
    s->arg_count = (int32_t)count;
    s->args = arena_copy(arena, items, count * sizeof *items);
    return s;
}

/* ---- values ---- */

static void vector_of(struct sql_type type, const struct value *v, struct vector *out)
{
    *out = (struct vector){ .values = (void *)(uintptr_t)&v->i8, .nulls = NULL, .width = type.width, .constant = true };
    if (v->null)
        out->nulls = (uint8_t *)(uintptr_t)"\1";
}

int value_compare(struct sql_type type, const struct value *a, const struct value *b)
{
    if (a->null || b->null)
        return (int)a->null - (int)b->null;
    struct value x = *a, y = *b;
    struct vector left, right;
    vector_of(type, &x, &left);
    vector_of(type, &y, &right);
    return type_compare(type, &left, 0, &right, 0);
}

/* Byte equality: two constants that print alike. */
bool value_equal(struct sql_type type, const struct value *a, const struct value *b)
{
    if (a->null || b->null)
        return a->null && b->null;
    if (type.width == WIDTH_VARLEN)
        return a->v.length == b->v.length && (a->v.length == 0 || memcmp(a->v.bytes, b->v.bytes, a->v.length) == 0);
    return memcmp(&a->i8, &b->i8, type.width) == 0;
}

struct scalar *scalar_relabel(struct arena *arena, const struct scalar *s, struct sql_type type)
{
    struct scalar *copy = scalar_copy(arena, s);
    if (s->kind == SCALAR_CALL && !s->call.relabelled && s->type.typmod >= 0)
        copy->call.relabelled = s->type.typmod + 1;
    copy->type = type;
    return copy;
}

static bool same_type(struct sql_type a, struct sql_type b) { return a.oid == b.oid && a.width == b.width && a.scale == b.scale; }

static bool args_equal(const struct scalar *a, const struct scalar *b)
{
    if (a->arg_count != b->arg_count)
        return false;
    for (int i = 0; i < a->arg_count; i++)
        if (!scalar_equal(a->args[i], b->args[i]))
            return false;
    return true;
}

bool scalar_equal(const struct scalar *a, const struct scalar *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || !same_type(a->type, b->type))
        return false;
    switch (a->kind) {
    case SCALAR_CONST: return value_equal(a->type, &a->constant, &b->constant);
    case SCALAR_COLUMN: return a->column == b->column;
    case SCALAR_PARAMETER: case SCALAR_OUTER: return a->parameter == b->parameter;
    case SCALAR_VAR: return a->var.rel == b->var.rel && a->var.column == b->var.column;
    case SCALAR_AGGREGATE: {
        const struct aggregate_item *x = a->aggregate, *y = b->aggregate;
        if (x == y) return true;
        if (x->aggregate != y->aggregate || x->arg_count != y->arg_count || x->distinct != y->distinct || x->sort_count != y->sort_count)
            return false;
        for (int i = 0; i < x->arg_count; i++)
            if (!scalar_equal(x->args[i], y->args[i])) return false;
        for (int i = 0; i < x->sort_count; i++)
            if (x->sort[i].column != y->sort[i].column || x->sort[i].descending != y->sort[i].descending || x->sort[i].nulls_first != y->sort[i].nulls_first)
                return false;
        return (!x->filter && !y->filter) || (x->filter && y->filter && scalar_equal(x->filter, y->filter));
    }
    case SCALAR_WINDOW: return a->window == b->window;
    case SCALAR_SUBQUERY: return a->subquery.query && a->subquery.query == b->subquery.query && a->subquery.kind == b->subquery.kind;
    case SCALAR_CALL:
        if (a->call.function != b->call.function || scalar_computes(a).typmod != scalar_computes(b).typmod) return false;
        break;
    case SCALAR_CASE:
        if (a->case_.has_else != b->case_.has_else) return false;
        break;
    case SCALAR_IS_BOOL:
        if (a->test != b->test) return false;
        break;
    case SCALAR_DISTINCT: case SCALAR_IN_LIST:
        if (a->in.negated != b->in.negated) return false;
        break;
    case SCALAR_ANY_ARRAY:
        if (a->any.function != b->any.function || a->any.all != b->any.all) return false;
        break;
    case SCALAR_NULLIF:
        if (a->call.function != b->call.function) return false;
        break;
    default:
        break;
    }
    return args_equal(a, b);
}

/* ---- walking ---- */

static bool walk_list(struct scalar *const *items, uint32_t count, scalar_visit *visit, void *context)
{
    for (uint32_t i = 0; i < count; i++)
        if (items[i] && scalar_walk(items[i], visit, context))
            return true;
    return false;
}

bool scalar_walk(const struct scalar *s, scalar_visit *visit, void *context)
{
    if (!s)
        return false;
    if (visit(context, s))
        return true;
    if (walk_list(s->args, s->arg_count, visit, context))
        return true;
    if (s->kind == SCALAR_SUBQUERY && s->subquery.query)
        return query_walk(s->subquery.query, visit, context);
    if (s->kind == SCALAR_AGGREGATE)
        return walk_list(s->aggregate->args, s->aggregate->arg_count, visit, context) || scalar_walk(s->aggregate->filter, visit, context);
    if (s->kind == SCALAR_WINDOW)
        return walk_list(s->window->item.args, s->window->item.arg_count, visit, context) || scalar_walk(s->window->item.filter, visit, context);
    return false;
}

static bool walk_scalars(const struct scalars *list, scalar_visit *visit, void *context) { return walk_list(list->items, list->count, visit, context); }

static bool walk_node(const struct from_node *n, scalar_visit *visit, void *context)
{
    if (!n)
        return false;
    return walk_scalars(&n->on, visit, context) || walk_node(n->left, visit, context) || walk_node(n->right, visit, context);
}

bool query_walk(const struct query *q, scalar_visit *visit, void *context)
{
    for (int i = 0; i < q->rel_count; i++) {
        const struct rel *r = q->rels[i];
        if (r->kind == REL_SUBQUERY && query_walk(r->query, visit, context)) return true;
        if (r->kind == REL_CTE && !r->working_table && r->cte->correlated && r->cte->query && query_walk(r->cte->query, visit, context)) return true;
        if (walk_list(r->args, r->arg_count, visit, context)) return true;
    }
    for (uint32_t i = 0; i < q->from.count; i++)
        if (walk_node(q->from.items[i], visit, context)) return true;
    if (walk_scalars(&q->where, visit, context) || walk_list(q->groups, q->group_count, visit, context) || walk_scalars(&q->having, visit, context))
        return true;
    for (int i = 0; i < q->aggregate_count; i++)
        if (walk_list(q->aggregates[i]->args, q->aggregates[i]->arg_count, visit, context) || scalar_walk(q->aggregates[i]->filter, visit, context))
            return true;
    for (int i = 0; i < q->window_spec_count; i++) {
        const struct window_spec *w = q->window_specs[i];
        if (walk_list(w->partition, w->partition_count, visit, context) || walk_list(w->order, w->order_count, visit, context) ||
            scalar_walk(w->start_offset, visit, context) || scalar_walk(w->end_offset, visit, context))
            return true;
    }
    for (int i = 0; i < q->window_count; i++)
        if (walk_list(q->windows[i]->item.args, q->windows[i]->item.arg_count, visit, context) || scalar_walk(q->windows[i]->item.filter, visit, context))
            return true;
    if (walk_list(q->set_functions, q->set_function_count, visit, context) || walk_list(q->targets, q->target_count, visit, context) ||
        scalar_walk(q->limit, visit, context) || scalar_walk(q->offset, visit, context))
        return true;
    if (q->left && (query_walk(q->left, visit, context) || query_walk(q->right, visit, context)))
        return true;
    for (uint32_t i = 0; i < q->row_count; i++)
        if (walk_list(q->rows[i], q->values_rel->column_count, visit, context)) return true;
    if (q->source && query_walk(q->source, visit, context))
        return true;
    if (q->assigned && walk_list(q->assigned, q->table->column_count, visit, context))
        return true;
    if (walk_scalars(&q->returning, visit, context))
        return true;
    if (q->conflict && q->conflict->set &&
        (walk_list(q->conflict->set, q->table->column_count, visit, context) || scalar_walk(q->conflict->where, visit, context)))
        return true;
    return false;
}

/* ---- rebuilding ---- */

static bool map_list(struct arena *arena, struct scalar **items, uint32_t count, scalar_swap *swap, void *context, struct scalar ***out)
{
    struct scalar **copy = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i]) continue;
        struct scalar *n = scalar_map(arena, items[i], swap, context);
        if (n != items[i] && !copy)
            copy = arena_copy(arena, items, count * sizeof *items);
        if (copy) copy[i] = n;
    }
    if (copy) *out = copy;
    return copy != NULL;
}

struct scalar *scalar_map(struct arena *arena, struct scalar *s, scalar_swap *swap, void *context)
{
    if (!s)
        return NULL;
    struct scalar *r = swap(context, s);
    if (r)
        return r;
    struct scalar **args = s->args;
    bool changed = map_list(arena, s->args, s->arg_count, swap, context, &args);
    if (s->kind == SCALAR_SUBQUERY && s->subquery.query)
        query_map(arena, s->subquery.query, swap, context);
    struct aggregate_item *item = NULL;
    struct window_call *call = NULL;
    if (s->kind == SCALAR_AGGREGATE) {
        item = arena_copy(arena, s->aggregate, sizeof *item);
        bool touched = map_list(arena, item->args, item->arg_count, swap, context, &item->args);
        struct scalar *filter = scalar_map(arena, item->filter, swap, context);
        if (!touched && filter == item->filter) item = NULL;
        else item->filter = filter;
    }
    if (s->kind == SCALAR_WINDOW) {
        call = arena_copy(arena, s->window, sizeof *call);
        bool touched = map_list(arena, call->item.args, call->item.arg_count, swap, context, &call->item.args);
        struct scalar *filter = scalar_map(arena, call->item.filter, swap, context);
        if (!touched && filter == call->item.filter) call = NULL;
        else call->item.filter = filter;
    }
    if (!changed && !item && !call)
        return s;
    struct scalar *copy = scalar_copy(arena, s);
    copy->args = args;
    if (item) copy->aggregate = item;
    if (call) copy->window = call;
    return copy;
}

static void map_in(struct arena *arena, struct scalar **items, uint32_t count, scalar_swap *swap, void *context)
{
    for (uint32_t i = 0; i < count; i++)
        if (items[i]) items[i] = scalar_map(arena, items[i], swap, context);
}

static void map_node(struct arena *arena, struct from_node *n, scalar_swap *swap, void *context)
{
    if (!n)
        return;
    map_in(arena, n->on.items, n->on.count, swap, context);
    map_node(arena, n->left, swap, context);
    map_node(arena, n->right, swap, context);
}

void query_map(struct arena *arena, struct query *q, scalar_swap *swap, void *context)
{
    for (int i = 0; i < q->rel_count; i++) {
        struct rel *r = q->rels[i];
        if (r->kind == REL_SUBQUERY) query_map(arena, r->query, swap, context);
        if (r->kind == REL_CTE && !r->working_table && r->cte->correlated && r->cte->query) query_map(arena, r->cte->query, swap, context);
        map_in(arena, r->args, r->arg_count, swap, context);
    }
    for (uint32_t i = 0; i < q->from.count; i++) map_node(arena, q->from.items[i], swap, context);
    map_in(arena, q->where.items, q->where.count, swap, context);
    map_in(arena, q->groups, q->group_count, swap, context);
    map_in(arena, q->having.items, q->having.count, swap, context);
    for (int i = 0; i < q->aggregate_count; i++) {
        map_in(arena, q->aggregates[i]->args, q->aggregates[i]->arg_count, swap, context);
        q->aggregates[i]->filter = scalar_map(arena, q->aggregates[i]->filter, swap, context);
    }
    for (int i = 0; i < q->window_spec_count; i++) {
        struct window_spec *w = q->window_specs[i];
        map_in(arena, w->partition, w->partition_count, swap, context);
        map_in(arena, w->order, w->order_count, swap, context);
        w->start_offset = scalar_map(arena, w->start_offset, swap, context);
        w->end_offset = scalar_map(arena, w->end_offset, swap, context);
    }
    for (int i = 0; i < q->window_count; i++) {
        map_in(arena, q->windows[i]->item.args, q->windows[i]->item.arg_count, swap, context);
        q->windows[i]->item.filter = scalar_map(arena, q->windows[i]->item.filter, swap, context);
    }
    map_in(arena, q->set_functions, q->set_function_count, swap, context);
    map_in(arena, q->targets, q->target_count, swap, context);
    q->limit = scalar_map(arena, q->limit, swap, context);
    q->offset = scalar_map(arena, q->offset, swap, context);
    if (q->left) {
        query_map(arena, q->left, swap, context);
        query_map(arena, q->right, swap, context);
    }
    for (uint32_t i = 0; i < q->row_count; i++) map_in(arena, q->rows[i], q->values_rel->column_count, swap, context);
    if (q->source) query_map(arena, q->source, swap, context);
    if (q->assigned) map_in(arena, q->assigned, q->table->column_count, swap, context);
    map_in(arena, q->returning.items, q->returning.count, swap, context);
    if (q->conflict && q->conflict->set) {
        map_in(arena, q->conflict->set, q->table->column_count, swap, context);
        q->conflict->where = scalar_map(arena, q->conflict->where, swap, context);
    }
}

/* ---- questions ---- */

static const struct function *function_in(const struct scalar *s)
{
    switch (s->kind) {
    case SCALAR_CALL: case SCALAR_NULLIF: return s->call.function;
    case SCALAR_ANY_ARRAY: return s->any.function;
    default: return NULL;
    }
}

static bool visit_volatile(void *context, const struct scalar *s)
{
    (void)context;
    const struct function *f = function_in(s);
    return f && f->volatility == VOLATILE;
}
bool scalar_has_volatile(const struct scalar *s) { return scalar_walk(s, visit_volatile, NULL); }

static bool visit_subquery(void *context, const struct scalar *s) { (void)context; return s->kind == SCALAR_SUBQUERY; }
bool scalar_has_subquery(const struct scalar *s) { return scalar_walk(s, visit_subquery, NULL); }

static bool visit_count(void *context, const struct scalar *s)
{
    (void)s;
    return (*(uint32_t *)context)-- == 0;
}
bool scalar_is_larger(const struct scalar *s, uint32_t nodes) { return scalar_walk(s, visit_count, &nodes); }

static bool visit_set(void *context, const struct scalar *s)
{
    (void)context;
    return s->kind == SCALAR_CALL && s->call.function->kind == FUNCTION_SET;
}
bool scalar_has_set_function(const struct scalar *s)
{
    if (!s) return false;
    if (visit_set(NULL, s)) return true;
    for (int i = 0; i < s->arg_count; i++)
        if (scalar_has_set_function(s->args[i])) return true;
    return false;
}

struct relset relset_new(struct planner *p)
{
    struct relset r = { .words = (uint32_t)p->rel_count / 64 + 1 };
    r.bits = arena_array(p->arena, uint64_t, r.words);
    return r;
}
void relset_add(struct relset *r, uint16_t id) { ASSERT(id / 64u < r->words); r->bits[id / 64] |= (uint64_t)1 << (id % 64); }
bool relset_has(const struct relset *r, uint16_t id) { return id / 64u < r->words && (r->bits[id / 64] >> (id % 64) & 1); }
static bool visit_rel(void *context, const struct scalar *s)
{
    if (s->kind == SCALAR_VAR) relset_add(context, s->var.rel);
    return false;
}
void relset_of(const struct scalar *s, struct relset *r) { scalar_walk(s, visit_rel, r); }
void relset_of_query(const struct query *q, struct relset *r) { query_walk(q, visit_rel, r); }

struct collecting { struct planner *p; uint16_t rel; struct scalars *list; };
static bool visit_collect(void *context, const struct scalar *s)
{
    struct collecting *c = context;
    if (s->kind != SCALAR_VAR || s->var.rel != c->rel) return false;
    for (uint32_t i = 0; i < c->list->count; i++)
        if (c->list->items[i]->var.rel == s->var.rel && c->list->items[i]->var.column == s->var.column) return false;
    scalars_add(c->p->arena, c->list, (struct scalar *)(uintptr_t)s);
    return false;
}
void collect_vars(struct planner *p, const struct scalar *s, uint16_t rel, struct scalars *list)
{
    struct collecting c = { p, rel, list };
    scalar_walk(s, visit_collect, &c);
}

/* ---- calls ---- */

/* Runs a bound kernel over constants. False when it failed (the record is cleared). */
static bool fold_call(struct arena *arena, const struct function *f, kernel_fn kernel, const void *data, struct sql_type type,
                      const struct value *values, const struct sql_type *types, uint16_t count, struct value *out)
{
    *out = (struct value){ 0 };
    bool null = false;
    for (int i = 0; i < count; i++) null |= values[i].null;
    if (f->strict && null) {
        out->null = true;
        return true;
    }
    struct vector *args = arena_array(arena, struct vector, count ? count : 1);
    for (int i = 0; i < count; i++) {
        value_vector(types[i], &values[i], arena, &args[i]);
    }
    _Alignas(16) uint8_t space[16] = { 0 };
    uint8_t nulls[1] = { 0 };
    uint16_t error_at = 0;
    struct vector result = { .values = space, .nulls = nulls, .width = type.width };
    struct kernel_call call = { .out = &result, .args = args, .arg_count = count, .count = 1, .row_count = 1, .arena = arena,
                                .data = data, .error_at = &error_at, .out_type = type, .arg_types = types };
    if (kernel(&call) != STATUS_OK) {
        error_clear();
        return false;
    }
    if (nulls[0]) out->null = true;
    else *out = value_get(type, &result, 0);
    return true;
}

bool scalar_evaluate(struct planner *p, const struct scalar *s, bool stable_too, struct value *out)
{
    if (s->kind == SCALAR_CONST) {
        *out = s->constant;
        return true;
    }
    if (s->kind == SCALAR_PARAMETER) {
        p->out->guessed = true;
        if (!p->parameter_values) return false;
        *out = p->parameter_values[s->parameter];
        return true;
    }
    if (s->kind != SCALAR_CALL || s->call.function->kind != FUNCTION_SCALAR || s->arg_count > 8)
        return false;
    char v = s->call.function->volatility;
    if (v == VOLATILE || (v == STABLE && !stable_too))
        return false;
    struct value values[8];
    struct sql_type types[8];
    for (int i = 0; i < s->arg_count; i++) {
        if (!scalar_evaluate(p, s->args[i], stable_too, &values[i])) return false;
        types[i] = s->args[i]->type;
    }
    return fold_call(p->arena, s->call.function, s->call.kernel, s->call.data, s->type, values, types, s->arg_count, out);
}

enum status make_call(struct planner *p, const struct function *f, struct scalar **args, uint16_t count, enum call_form form,
                      const struct operator *op, struct sql_type result, int position, struct scalar **out)
{
    if (f->strict && f->kind == FUNCTION_SCALAR)         /* never called with a null, so the rest doesn't matter */
        for (int i = 0; i < count; i++)
            if (scalar_is_null_const(args[i])) {
                *out = scalar_null(p->arena, result, position);
                return STATUS_OK;
            }
    struct sql_type *types = arena_array(p->arena, struct sql_type, count ? count : 1);
    const struct value **constants = arena_array(p->arena, const struct value *, count ? count : 1);
    bool all_const = true;
    for (int i = 0; i < count; i++) {
        types[i] = args[i]->type;
        if (args[i]->kind == SCALAR_CONST) constants[i] = &args[i]->constant;
        else all_const = false;
    }
    struct function_bind b = { .arena = p->arena, .arg_count = count, .arg_types = types, .constants = constants,
                               .kernel = f->kernel, .result = result };
    if (f->bind) {
        enum status status = f->bind(&b);
        if (status) {
            error_position(position);
            return status;
        }
    }
    if (b.result.oid == OID_ANYELEMENT || b.result.oid == OID_ANYARRAY || b.result.oid == OID_ANY || b.result.oid == 0)
        b.result = result;
    if (f->volatility == VOLATILE) p->has_volatile = true;
    if (!f->parallel_safe) {
        p->parallel_unsafe = true;
        p->unsafe_function = f->name;
    }
    if (all_const && f->volatility == IMMUTABLE && f->kind == FUNCTION_SCALAR && b.kernel && b.result.oid != OID_RECORD) {
        struct value *values = arena_array(p->arena, struct value, count ? count : 1);
        for (int i = 0; i < count; i++) values[i] = args[i]->constant;
        struct value v;
        if (fold_call(p->arena, f, b.kernel, b.data, b.result, values, types, count, &v)) {
            struct scalar *c = scalar_new(p->arena, SCALAR_CONST, b.result, position);
            c->constant = v;
            *out = c;
            return STATUS_OK;
        }
    }
    struct scalar *s = scalar_new(p->arena, SCALAR_CALL, b.result, position);
    s->arg_count = count;
    s->args = count ? arena_copy(p->arena, args, count * sizeof *args) : NULL;
    s->form = form;
    s->operator = op;
    s->call.function = f;
    s->call.kernel = b.kernel;
    s->call.data = b.data;
    *out = s;
    return STATUS_OK;
}

enum status make_and(struct planner *p, struct scalar *a, struct scalar *b, struct scalar **out)
{
    struct scalars list = { 0 };
    if (a) conjuncts_add(p->arena, &list, a);
    if (b) conjuncts_add(p->arena, &list, b);
    *out = scalar_and(p->arena, list.items, list.count);
    return STATUS_OK;
}
