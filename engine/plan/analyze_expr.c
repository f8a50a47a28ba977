/* engine/plan/analyze_expr.c - expressions: from syntax to typed, bound scalars.
 *
 * bind_node() turns one tree into one scalar. Operators and functions are found by PostgreSQL's rules (coerce.c); what the
 * grammar has as special forms becomes calls of the functions that stand behind them (LIKE is ~~, CURRENT_TIMESTAMP is
 * now(), x BETWEEN a AND b is two comparisons). Aggregates and window functions are put on the list of the query that
 * they belong to: an aggregate belongs to the innermost query whose columns its arguments mention. */
#include <string.h>

#include "engine/plan/query.h"
#include "engine/types/numeric.h"

#define TRY(x) do { enum status s_ = (x); if (s_) return s_; } while (0)

static struct sql_type bool_type(void) { return type_make(OID_BOOL, -1); }

static struct scalar *new_args(struct planner *p, enum scalar_kind kind, struct sql_type type, int position, struct scalar **args, uint32_t count)
{
    struct scalar *s = scalar_new(p->arena, kind, type, position);
    s->args = arena_copy(p->arena, args, (count ? count : 1) * sizeof *args);
    s->arg_count = (int32_t)count;
    return s;
}

void conjuncts_add(struct arena *arena, struct scalars *list, struct scalar *s)
{
    if (s->kind == SCALAR_AND) {
        for (int i = 0; i < s->arg_count; i++) conjuncts_add(arena, list, s->args[i]);
        return;
    }
    if (!scalar_is_true(s)) scalars_add(arena, list, s);
}

/* AND / OR with constants taken out. */
static struct scalar *make_bool_list(struct planner *p, enum scalar_kind kind, struct scalar **items, uint32_t count, int position)
{
    struct scalars list = { 0 };
    bool decided_by = kind == SCALAR_OR;         /* OR: true decides; AND: false */
    for (uint32_t i = 0; i < count; i++) {
        struct scalar *s = items[i];
        if (s->kind == SCALAR_CONST && !s->constant.null) {
            if (s->constant.b == decided_by) return s;
            continue;
        }
        if (s->kind == kind) {
            for (int k = 0; k < s->arg_count; k++) scalars_add(p->arena, &list, s->args[k]);
            continue;
        }
        scalars_add(p->arena, &list, s);
    }
    if (list.count == 0) return scalar_bool(p->arena, !decided_by);
    if (list.count == 1) return list.items[0];
    return new_args(p, kind, bool_type(), position, list.items, list.count);
}

static struct scalar *make_not(struct planner *p, struct scalar *s, int position)
{
    if (s->kind == SCALAR_CONST) return s->constant.null ? s : scalar_bool(p->arena, !s->constant.b);
    if (s->kind == SCALAR_NOT) return s->args[0];
    if (s->kind == SCALAR_IN_LIST || s->kind == SCALAR_DISTINCT) {
        struct scalar *copy = scalar_copy(p->arena, s);
        copy->in.negated = !copy->in.negated;
        return copy;
    }
    if (s->kind == SCALAR_IS_NULL || s->kind == SCALAR_IS_NOT_NULL) {
        struct scalar *copy = scalar_copy(p->arena, s);
        copy->kind = s->kind == SCALAR_IS_NULL ? SCALAR_IS_NOT_NULL : SCALAR_IS_NULL;
        return copy;
    }
    if (s->kind == SCALAR_SUBQUERY && s->subquery.kind == SUBQUERY_EXISTS) {
        struct scalar *copy = scalar_copy(p->arena, s);
        copy->subquery.negated = !copy->subquery.negated;
        return copy;
    }
    return new_args(p, SCALAR_NOT, bool_type(), position, &s, 1);
}

/* ---- literals and parameters ---- */

static enum status bind_literal(struct planner *p, const struct expr *e, bool negative, struct scalar **out)
{
    struct scalar *s;
    switch (e->literal.kind) {
    case LITERAL_NULL:
        *out = scalar_null(p->arena, (struct sql_type){ .oid = OID_UNKNOWN, .typmod = -1, .width = WIDTH_VARLEN }, e->position);
        return STATUS_OK;
    case LITERAL_BOOLEAN:
        *out = scalar_bool(p->arena, e->literal.boolean);
        (*out)->position = e->position;
        return STATUS_OK;
    case LITERAL_INTEGER: {
        int64_t v = negative ? -e->literal.integer : e->literal.integer;
        *out = v >= INT32_MIN && v <= INT32_MAX ? scalar_int4(p->arena, (int32_t)v) : scalar_int8(p->arena, v);
        (*out)->position = e->position;
        return STATUS_OK;
    }
    case LITERAL_NUMERIC: {
        const char *text = negative ? arena_printf(p->arena, "-%s", e->literal.text) : e->literal.text;
        if (strcmp(text, "-9223372036854775808") == 0) {
            *out = scalar_int8(p->arena, INT64_MIN);
            return STATUS_OK;
        }
        s = scalar_new(p->arena, SCALAR_CONST, numeric_literal_type(text, strlen(text)), e->position);
        enum status status = type_in(s->type, text, strlen(text), p->arena, &s->constant);
        if (status) error_position(e->position);
        *out = s;
        return status;
    }
    case LITERAL_STRING:
        s = scalar_new(p->arena, SCALAR_CONST, (struct sql_type){ .oid = OID_UNKNOWN, .typmod = -1, .width = WIDTH_VARLEN }, e->position);
        s->constant.v = (struct varlen){ arena_copy(p->arena, e->literal.text, (size_t)e->literal.length + 1), (uint32_t)e->literal.length, 0 };
        *out = s;
        return STATUS_OK;
    default:
        return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "bit string literals are not supported");
    }
}

static enum status bind_parameter(struct planner *p, const struct expr *e, struct scalar **out)
{
    int n = e->parameter;
    if (!p->parameter_types || n < 1 || n > 65535)
        return fail_at(p, e->position, STATUS_UNDEFINED_PARAMETER, "there is no parameter $%d", n);
    if (n > p->parameter_capacity) {
        uint16_t capacity = (uint16_t)(n + 16 > 65535 ? 65535 : n + 16);
        p->parameters = arena_grow(p->arena, p->parameters, p->parameter_capacity * sizeof *p->parameters, capacity * sizeof *p->parameters);
        memset(p->parameters + p->parameter_capacity, 0, (size_t)(capacity - p->parameter_capacity) * sizeof *p->parameters);
        p->parameter_capacity = capacity;
    }
    while (p->parameter_count < n) p->parameters[p->parameter_count++].node = NULL;
    struct parameter *slot = &p->parameters[n - 1];
    if (!slot->node) {
        uint32_t oid = p->parameter_types[n - 1];
        struct sql_type type = { .oid = OID_UNKNOWN, .typmod = -1, .width = WIDTH_VARLEN };
        if (oid && oid != OID_UNKNOWN) {
            if (!type_info(oid)) return fail_at(p, e->position, STATUS_UNDEFINED_OBJECT, "type with OID %u does not exist", oid);
            type = type_make(oid, -1);
        }
        slot->node = scalar_new(p->arena, SCALAR_PARAMETER, type, e->position);
        slot->node->parameter = (uint16_t)(n - 1);
    }
    *out = slot->node;
    return STATUS_OK;
}

/* ---- rows ---- */

#define FUNCTIONS_MAX 32768              /* aggregates, and window calls, of one SELECT */

static bool is_row(const struct expr *e) { return e->kind == EXPR_ROW; }

enum status bind_row_or_scalar(struct planner *p, struct scope *scope, const struct expr *e, struct scalar ***items, uint16_t *count)
{
    if (is_row(e)) {
        if (e->row.list.count > 1664) return fail_at(p, e->position, STATUS_TOO_MANY_COLUMNS, "ROW expressions can have at most 1664 entries");
        *count = (uint16_t)e->row.list.count;
        *items = arena_array(p->arena, struct scalar *, *count ? *count : 1);
        for (int i = 0; i < *count; i++) TRY(bind_node(p, scope, e->row.list.items[i], &(*items)[i]));
        return STATUS_OK;
    }
    *items = arena_array(p->arena, struct scalar *, 1);
    *count = 1;
    return bind_node(p, scope, e, &(*items)[0]);
}

static enum status compare_rows(struct planner *p, const char *schema, const char *name, struct scalar **l, struct scalar **r, uint16_t count, int position, struct scalar **out)
{
    struct scalars list = { 0 };
    if (count == 0) return fail_at(p, position, STATUS_FEATURE_NOT_SUPPORTED, "cannot compare rows of zero length");
    if (strcmp(name, "=") == 0 || strcmp(name, "<>") == 0) {
        for (int i = 0; i < count; i++) {
            struct scalar *s;
            TRY(make_operator(p, schema, name, l[i], r[i], position, &s));
            scalars_add(p->arena, &list, s);
        }
        *out = make_bool_list(p, name[0] == '=' ? SCALAR_AND : SCALAR_OR, list.items, list.count, position);
        return STATUS_OK;
    }
    if (name[0] != '<' && name[0] != '>')
        return fail_at(p, position, STATUS_FEATURE_NOT_SUPPORTED, "could not determine interpretation of row comparison operator %s", name);
    /* (a, b, c) < (x, y, z): a < x OR a = x AND (b < y OR b = y AND c < z) */
    char strict[2] = { name[0], 0 };
    struct scalar *s = NULL;
    for (int i = count - 1; i >= 0; i--) {
        struct scalar *less, *equal;
        if (!s) {
            TRY(make_operator(p, schema, name, l[i], r[i], position, &s));
            continue;
        }
        TRY(make_operator(p, schema, strict, l[i], r[i], position, &less));
        TRY(make_operator(p, schema, "=", l[i], r[i], position, &equal));
        struct scalar *both[2] = { equal, s };
        struct scalar *either[2] = { less, make_bool_list(p, SCALAR_AND, both, 2, position) };
        s = make_bool_list(p, SCALAR_OR, either, 2, position);
    }
    *out = s;
    return STATUS_OK;
}

/* The kernel of an operator between a left side and a column of some type, for ANY, IN (SELECT) and the like; the left side is
 * coerced as it wants it. A constant on the left is bound as if it were none, so that nothing is folded away. */
static enum status operator_for(struct planner *p, const char *schema, const char *name, struct scalar *left, struct sql_type right, int position,
                                struct scalar **left_out, struct scalar **call_out)
{
    struct scalar *r = scalar_new(p->arena, SCALAR_COLUMN, right, position), *probe = left, *call;
    if (left->kind == SCALAR_CONST) {
        if (left->type.oid == OID_UNKNOWN) TRY(coerce(p, left, type_make(right.oid, -1), CAST_IMPLICIT, left->position, &left));
        probe = scalar_new(p->arena, SCALAR_COLUMN, left->type, position);
    }
    TRY(make_operator(p, schema, name, probe, r, position, &call));
    if (call->type.oid != OID_BOOL)
        return fail_at(p, position, STATUS_WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires operator to yield boolean");
    if (call->kind != SCALAR_CALL || call->arg_count != 2) return fail_at(p, position, STATUS_INTERNAL, "operator %s cannot be bound", name);
    *call_out = call;
    *left_out = call->args[0];
    if (probe != left) TRY(coerce(p, left, call->args[0]->type, CAST_IMPLICIT, left->position, left_out));
    if (left->kind == SCALAR_CONST && left->constant.null) *left_out = scalar_null(p->arena, call->args[0]->type, left->position);
    return STATUS_OK;
}

/* ---- subqueries ---- */

static enum status bind_select(struct planner *p, struct scope *scope, const struct select *select, int position, struct query **out)
{
    if (scope->no_subqueries) return fail_at(p, position, STATUS_FEATURE_NOT_SUPPORTED, "cannot use subquery in %s", scope->what);
    const char *place = p->self_place;
    if (!place) p->self_place = "a subquery";
    enum status status = analyze_select(p, scope, select, false, out);
    p->self_place = place;
    return status;
}

static struct scalar *new_subquery(struct planner *p, enum subquery_kind kind, struct query *q, struct sql_type type, int position)
{
    struct scalar *s = scalar_new(p->arena, SCALAR_SUBQUERY, type, position);
    s->subquery.kind = kind;
    s->subquery.query = q;
    return s;
}

/* left op ANY / ALL (SELECT …) */
static enum status bind_quantified(struct planner *p, struct scope *scope, const struct expr *left, const char *schema, const char *name,
                                   const struct select *select, bool all, bool negated, int position, struct scalar **out)
{
    struct scalar **items;
    uint16_t count;
    struct query *q;
    TRY(bind_row_or_scalar(p, scope, left, &items, &count));
    TRY(bind_select(p, scope, select, position, &q));
    if (q->visible_count != count)
        return fail_at(p, position, STATUS_SYNTAX, "subquery has too %s columns", q->visible_count > count ? "many" : "few");
    if (count > 1 && strcmp(name, "=") != 0) {           /* (a, b) < ANY (SELECT x, y …): true = ANY (SELECT (a, b) < (x, y) …) */
        struct scalar *compared;
        q = query_wrap(p, q, "compared");
        TRY(compare_rows(p, schema, name, items, q->targets, count, position, &compared));
        q->targets[0] = compared;
        q->target_count = q->visible_count = 1;
        items[0] = scalar_bool(p->arena, true);
        count = 1;
        schema = NULL;
        name = "=";
    }
    struct scalar *s = new_subquery(p, all ? SUBQUERY_ALL : SUBQUERY_ANY, q, bool_type(), position);
    s->subquery.negated = negated;
    s->arg_count = count;
    s->args = items;
    s->subquery.functions = arena_array(p->arena, const struct function *, count);
    s->subquery.kernels = arena_array(p->arena, kernel_fn, count);
    s->subquery.datas = arena_array(p->arena, const void *, count);
    struct sql_type *wanted = arena_array(p->arena, struct sql_type, count);
    for (int i = 0; i < count; i++) {
        struct scalar *call;
        TRY(operator_for(p, schema, name, items[i], q->targets[i]->type, position, &items[i], &call));
        wanted[i] = call->args[1]->type;
        s->operator = call->operator;
    }
    TRY(query_coerce(p, &s->subquery.query, wanted, CAST_IMPLICIT, "IN"));
    for (int i = 0; i < count; i++) {    /* bound again: the forms are known now */
        struct scalar *call;
        TRY(operator_for(p, schema, name, items[i], s->subquery.query->targets[i]->type, position, &items[i], &call));
        s->subquery.functions[i] = call->call.function;
        s->subquery.kernels[i] = call->call.kernel;
        s->subquery.datas[i] = call->call.data;
    }
    *out = s;
    return STATUS_OK;
}

/* (a, b) op (SELECT x, y …): a subquery whose one column compares the two. It is null without a row, and may not have several. */
static enum status bind_row_subquery(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar **items, *compared;
    uint16_t count;
    struct query *q;
    TRY(bind_row_or_scalar(p, scope, e->op.left, &items, &count));
    TRY(bind_select(p, scope, e->op.right->select, e->op.right->position, &q));
    if (q->visible_count != count) return fail_at(p, e->position, STATUS_SYNTAX, "subquery has too %s columns", q->visible_count > count ? "many" : "few");
    q = query_wrap(p, q, "compared");
    TRY(compare_rows(p, e->op.schema, e->op.name, items, q->targets, count, e->position, &compared));
    q->targets[0] = compared;
    q->target_count = q->visible_count = 1;
    *out = new_subquery(p, SUBQUERY_SCALAR, q, compared->type, e->position);
    return STATUS_OK;
}

/* ---- IN (list) and ANY (array) ---- */

static enum status bind_in_list(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    uint32_t count = (uint32_t)e->in.list.count;
    if (is_row(e->in.left)) {
        struct scalar **l;
        uint16_t n;
        TRY(bind_row_or_scalar(p, scope, e->in.left, &l, &n));
        struct scalars list = { 0 };
        for (uint32_t i = 0; i < count; i++) {
            struct scalar **r, *s;
            uint16_t m;
            TRY(bind_row_or_scalar(p, scope, e->in.list.items[i], &r, &m));
            if (m != n) return fail_at(p, e->position, STATUS_SYNTAX, "unequal number of entries in row expressions");
            TRY(compare_rows(p, NULL, "=", l, r, n, e->position, &s));
            scalars_add(p->arena, &list, s);
        }
        *out = make_bool_list(p, SCALAR_OR, list.items, list.count, e->position);
        if (e->in.negated) *out = make_not(p, *out, e->position);
        return STATUS_OK;
    }
    struct scalar **items = arena_array(p->arena, struct scalar *, count + 1);
    TRY(bind_node(p, scope, e->in.left, &items[0]));
    for (uint32_t i = 0; i < count; i++) TRY(bind_node(p, scope, e->in.list.items[i], &items[i + 1]));
    if (count == 1) {
        struct scalar *s;
        TRY(make_operator(p, NULL, e->in.negated ? "<>" : "=", items[0], items[1], e->position, &s));
        *out = s;
        return STATUS_OK;
    }
    struct sql_type t;
    bool ambiguous;
    const struct operator *op = NULL;
    if (common_type(p, items, count + 1, "IN", &t) == STATUS_OK) op = find_operator("=", t.oid, t.oid, &ambiguous);
    else error_clear();
    if (op && op->left == op->right && count + 1 <= UINT16_MAX && type_hashable(op->left)) {
        bool fits = true;
        for (uint32_t i = 0; i <= count && fits; i++)
            fits = can_coerce(items[i]->type.oid, t.oid, CAST_IMPLICIT) && can_coerce(t.oid, op->left, CAST_IMPLICIT);
        if (fits) {
            TRY(coerce_to_common(p, items, count + 1, "IN"));
            for (uint32_t i = 0; i <= count; i++) TRY(coerce(p, items[i], type_make(op->left, -1), CAST_IMPLICIT, items[i]->position, &items[i]));
            struct scalar *s = new_args(p, SCALAR_IN_LIST, bool_type(), e->position, items, count + 1);
            s->in.negated = e->in.negated;
            s->operator = op;
            *out = s;
            return STATUS_OK;
        }
    }
    struct scalars list = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        struct scalar *s;
        TRY(make_operator(p, NULL, e->in.negated ? "<>" : "=", items[0], items[i + 1], e->position, &s));
        scalars_add(p->arena, &list, s);
    }
    *out = make_bool_list(p, e->in.negated ? SCALAR_AND : SCALAR_OR, list.items, list.count, e->position);
    return STATUS_OK;
}

static enum status bind_any(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    bool all = e->kind == EXPR_ALL;
    if (e->any.select)
        return bind_quantified(p, scope, e->any.left, e->any.schema, e->any.name, e->any.select, all, false, e->position, out);
    struct scalar *left, *array;
    TRY(bind_node(p, scope, e->any.left, &left));
    TRY(bind_node(p, scope, e->any.array, &array));
    struct sql_type element;
    if (array->type.oid == OID_UNKNOWN) {
        if (left->type.oid == OID_UNKNOWN) TRY(resolve_unknown(p, left, &left));
        uint32_t oid = type_array_of(left->type.oid);
        if (!oid) return fail_at(p, e->position, STATUS_UNDEFINED_OBJECT, "could not find array type for data type %s", type_text(p, left->type));
        TRY(coerce(p, array, type_make(oid, -1), CAST_IMPLICIT, array->position, &array));
    }
    const struct type_info *info = type_info(array->type.oid);
    if (!info || !info->element_oid)
        return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side");
    element = type_make(info->element_oid, -1);
    struct scalar *call;
    TRY(operator_for(p, e->any.schema, e->any.name, left, element, e->position, &left, &call));
    struct sql_type right = call->args[1]->type;
    if (right.oid != element.oid) {
        bool binary = false;
        uint32_t want = type_array_of(right.oid);
        /* the same bytes under another name (varchar[] for text) need no work */
        if (!(cast_find(element.oid, right.oid, CAST_IMPLICIT, &binary) == NULL && binary)) TRY(coerce(p, array, type_make(want, -1), CAST_IMPLICIT, e->position, &array));
    }
    TRY(operator_for(p, e->any.schema, e->any.name, left, right, e->position, &left, &call));
    struct scalar *args[2] = { left, array };
    struct scalar *s = new_args(p, SCALAR_ANY_ARRAY, bool_type(), e->position, args, 2);
    s->operator = call->operator;
    s->any.function = call->call.function;
    s->any.kernel = call->call.kernel;
    s->any.data = call->call.data;
    s->any.all = all;
    *out = s;
    return STATUS_OK;
}

/* ---- calls by name ---- */

static enum status call_named(struct planner *p, const char *name, struct scalar **args, uint16_t count, int position, struct scalar **out)
{
    uint32_t types[8];
    bool ambiguous, exists;
    for (int i = 0; i < count; i++) types[i] = args[i]->type.oid;
    const struct function *f = find_function(name, FUNCTION_SCALAR, types, count, &ambiguous, &exists);
    if (!f) return fail_at(p, position, STATUS_UNDEFINED_FUNCTION, "function %s does not exist", name);
    struct sql_type result;
    TRY(coerce_arguments(p, f, args, count, &result, position));
    return make_call(p, f, args, count, CALL_FUNCTION, NULL, result, position, out);
}

static enum status no_function(struct planner *p, const char *schema, const char *name, struct scalar **args, uint16_t count, bool ambiguous, int position)
{
    struct text_buffer t;
    text_buffer_open(&t, p->arena);
    for (int i = 0; i < count; i++) text_buffer_printf(&t, "%s%s", i ? ", " : "", type_text(p, args[i]->type));
    enum status status;
    const char *dot = schema ? "." : "";
    if (!schema) schema = "";
    const char *types = t.length ? t.bytes : "";
    if (ambiguous) {
        status = fail_at(p, position, STATUS_AMBIGUOUS_FUNCTION, "function %s%s%s(%s) is not unique", schema, dot, name, types);
        error_hint("Could not choose a best candidate function. You might need to add explicit type casts.");
    } else {
        status = fail_at(p, position, STATUS_UNDEFINED_FUNCTION, "function %s%s%s(%s) does not exist", schema, dot, name, types);
        error_hint("No function matches the given name and argument types. You might need to add explicit type casts.");
    }
    return status;
}

struct deepest { struct planner *p; int level; };
static bool visit_level(void *context, const struct scalar *s)
{
    struct deepest *d = context;
    if (s->kind == SCALAR_VAR && d->p->rels[s->var.rel]->level > d->level) d->level = d->p->rels[s->var.rel]->level;
    return false;
}

bool sort_flags(const struct sort_key *k, bool *descending, bool *nulls_first)
{
    *descending = k->direction == SORT_DESC;
    if (k->direction == SORT_USING) {
        if (strcmp(k->using_operator, ">") == 0) *descending = true;
        else if (strcmp(k->using_operator, "<") != 0) return false;
    }
    *nulls_first = k->nulls == NULLS_FIRST || (k->nulls == NULLS_DEFAULT && *descending);
    return true;
}

/* The arguments of an aggregate, its FILTER and ORDER BY, and whose it is. */
/* What was written, without the casts that types asked for. */
static const struct scalar *uncast(const struct scalar *s)
{
    while (s->kind == SCALAR_CALL && s->form == CALL_CAST_IMPLICIT && s->arg_count) s = s->args[0];
    return s;
}

static enum status bind_aggregate(struct planner *p, struct scope *scope, const struct expr *e, const struct function *f, struct scalar **args, uint16_t count,
                                  struct aggregate_item **out, uint16_t *level)
{
    struct aggregate_item *item = arena_new(p->arena, struct aggregate_item);
    struct sql_type result;
    if (e->function.within_group) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "WITHIN GROUP is not supported");
    TRY(coerce_arguments(p, f, args, count, &result, e->position));
    struct sql_type *types = arena_array(p->arena, struct sql_type, count ? count : 1);
    for (int i = 0; i < count; i++) types[i] = args[i]->type;
    item->type = result;
    item->aggregate = aggregate_find(f, types, count, &item->type);
    if (!item->aggregate) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "aggregate function %s is not supported for these types", f->name);
    if (f->bind) {
        struct function_bind b = { .arena = p->arena, .arg_count = count, .arg_types = types, .constants = arena_array(p->arena, const struct value *, count ? count : 1),
                                   .kernel = f->kernel, .result = item->type };
        TRY(f->bind(&b));
        item->data = b.data;
    }
    item->distinct = e->function.distinct;
    uint32_t orders = (uint32_t)e->function.order_by.count;
    item->args = arena_array(p->arena, struct scalar *, count + orders + 1);
    memcpy(item->args, args, sizeof *args * count);
    item->arg_count = item->own_arg_count = count;
    if (item->distinct) {
        if (count == 0) return fail_at(p, e->position, STATUS_SYNTAX, "DISTINCT specified, but %s has no arguments", f->name);
        for (int i = 0; i < count; i++)
            if (!type_comparable(types[i].oid))
                return fail_at(p, e->position, STATUS_UNDEFINED_FUNCTION, "could not identify an equality operator for type %s", type_text(p, types[i]));
    }
    if (orders) {
        item->sort = arena_array(p->arena, struct sort_item, orders);
        for (uint32_t i = 0; i < orders; i++) {
            const struct sort_key *k = e->function.order_by.items[i];
            struct scalar *s;
            struct sort_item *o = &item->sort[item->sort_count++];
            TRY(bind_node(p, scope, k->expr, &s));
            TRY(resolve_unknown(p, s, &s));
            if (!sort_flags(k, &o->descending, &o->nulls_first)) return fail_at(p, k->position, STATUS_WRONG_OBJECT_TYPE, "operator %s is not a valid ordering operator", k->using_operator);
            int at = -1;
            for (int a = 0; a < item->arg_count && at < 0; a++)
                if (scalar_equal(uncast(item->args[a]), uncast(s))) at = a;
            if (at < 0) {
                if (item->distinct)
                    return fail_at(p, k->position, STATUS_INVALID_COLUMN_REFERENCE, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list");
                at = item->arg_count;
                item->args[item->arg_count++] = s;
            }
            o->column = (uint16_t)at;
        }
    }
    if (e->function.filter) {
        struct scalars list = { 0 };
        const char *clause = scope->clause;
        bool in_aggregate = scope->in_aggregate;
        scope->clause = "FILTER";
        scope->in_aggregate = false;
        enum status status = bind_boolean(p, scope, e->function.filter, "FILTER", &list);
        scope->clause = clause;
        scope->in_aggregate = in_aggregate;
        if (status) return status;
        item->filter = list.count ? scalar_and(p->arena, list.items, list.count) : NULL;
    }
    struct deepest d = { p, -1 };
    for (int i = 0; i < item->arg_count; i++) scalar_walk(item->args[i], visit_level, &d);
    scalar_walk(item->filter, visit_level, &d);
    *level = d.level < 0 || d.level > scope->level ? scope->level : (uint16_t)d.level;
    if (!f->parallel_safe) p->parallel_unsafe = true;
    *out = item;
    return STATUS_OK;
}

static enum status add_aggregate(struct planner *p, struct scope *scope, const struct expr *e, struct aggregate_item *item, uint16_t level, struct scalar **out)
{
    struct scope *owner = scope;
    while (owner && owner->level > level && owner->outer) owner = owner->outer;
    if (!owner->aggregates_ok) {
        if (owner->in_aggregate) return fail_at(p, e->position, STATUS_GROUPING, "aggregate function calls cannot be nested");
        return fail_at(p, e->position, STATUS_GROUPING, "aggregate functions are not allowed in %s", owner->clause ? owner->clause : owner != scope ? "FROM clause of their own query level" : "this place");
    }
    struct query *q = owner->query;
    for (uint32_t i = 0; i < q->rel_count; i++)
        if (q->rels[i]->working_table)
            return fail_at(p, e->position, STATUS_INVALID_RECURSION, "aggregate functions are not allowed in a recursive query's recursive term");
    struct scalar *s = scalar_new(p->arena, SCALAR_AGGREGATE, item->type, e->position);
    s->aggregate = item;
    bool is_volatile = scalar_has_volatile(item->filter);
    for (int i = 0; i < item->arg_count; i++) is_volatile |= scalar_has_volatile(item->args[i]);
    for (int i = 0; i < q->aggregate_count && !is_volatile; i++) {
        struct scalar probe = *s;
        probe.aggregate = q->aggregates[i];
        if (scalar_equal(&probe, s)) {
            s->aggregate = q->aggregates[i];
            *out = s;
            return STATUS_OK;
        }
    }
    if (q->aggregate_count == FUNCTIONS_MAX) return fail_at(p, e->position, STATUS_TOO_COMPLEX, "statement is too complex: it has more than %d aggregates", FUNCTIONS_MAX);
    if (q->aggregate_count == q->aggregate_capacity) {
        uint16_t capacity = q->aggregate_capacity ? (uint16_t)(q->aggregate_capacity * 2) : 4;
        q->aggregates = arena_grow(p->arena, q->aggregates, q->aggregate_capacity * sizeof *q->aggregates, capacity * sizeof *q->aggregates);
        q->aggregate_capacity = capacity;
    }
    q->aggregates[q->aggregate_count++] = item;
    q->grouped = true;
    *out = s;
    return STATUS_OK;
}

static const struct window_definition *named_window(const struct scope *scope, const char *name)
{
    for (int i = 0; scope->windows && i < scope->windows->count; i++)
        if (scope->windows->items[i]->name && strcmp(scope->windows->items[i]->name, name) == 0) return scope->windows->items[i];
    return NULL;
}

static enum status bind_sort_exprs(struct planner *p, struct scope *scope, const struct sort_list *list, struct window_spec *w)
{
    w->order_count = (uint16_t)list->count;
    w->order = arena_array(p->arena, struct scalar *, list->count ? list->count : 1);
    w->descending = arena_array(p->arena, bool, list->count ? list->count : 1);
    w->nulls_first = arena_array(p->arena, bool, list->count ? list->count : 1);
    for (int i = 0; i < list->count; i++) {
        TRY(bind_node(p, scope, list->items[i]->expr, &w->order[i]));
        TRY(resolve_unknown(p, w->order[i], &w->order[i]));
        if (!sort_flags(list->items[i], &w->descending[i], &w->nulls_first[i]))
            return fail_at(p, list->items[i]->position, STATUS_WRONG_OBJECT_TYPE, "operator %s is not a valid ordering operator", list->items[i]->using_operator);
    }
    return STATUS_OK;
}

struct own_var { const struct planner *p; uint16_t level; int position; };

static bool is_own_var(void *context, const struct scalar *s)
{
    struct own_var *own = context;
    bool is = s->kind == SCALAR_VAR && own->p->rels[s->var.rel]->level == own->level;
    if (is) own->position = s->position;
    return is;
}

/* How far a frame reaches is asked once for the whole window, not for each row. */
static bool is_integer_oid(uint32_t oid) { return oid == OID_INT2 || oid == OID_INT4 || oid == OID_INT8; }

static enum status bind_frame_offset(struct planner *p, struct scope *scope, const struct expr *e, enum frame_mode mode, struct scalar **out)
{
    static const char *const names[] = { [FRAME_ROWS] = "ROWS", [FRAME_RANGE] = "RANGE", [FRAME_GROUPS] = "GROUPS" };
    struct own_var own = { .p = p, .level = scope->level };
    bool aggregates = scope->aggregates_ok;
    scope->aggregates_ok = false;
    enum status status = bind_node(p, scope, e, out);
    scope->aggregates_ok = aggregates;
    if (!status && scalar_walk(*out, is_own_var, &own))
        status = fail_at(p, own.position, STATUS_INVALID_COLUMN_REFERENCE, "argument of %s must not contain variables", names[mode]);
    return status;
}

static enum status bind_window_spec(struct planner *p, struct scope *scope, const struct window_definition *d, uint16_t *out)
{
    struct query *q = scope->query;
    struct window_spec *w = arena_new(p->arena, struct window_spec);
    const struct window_definition *base = NULL;
    if (d->refers_to) {
        base = named_window(scope, d->refers_to);
        if (!base) return fail_at(p, d->position, STATUS_UNDEFINED_OBJECT, "window \"%s\" does not exist", d->refers_to);
        if (base->refers_to && d->is_reference) return bind_window_spec(p, scope, base, out);
        if (base->refers_to) return fail_at(p, d->position, STATUS_FEATURE_NOT_SUPPORTED, "windows that refer to windows that refer to windows are not supported");
        if (!d->is_reference) {
            if (d->partition_by.count) return fail_at(p, d->position, STATUS_WINDOWING, "cannot override PARTITION BY clause of window \"%s\"", d->refers_to);
            if (d->order_by.count && base->order_by.count) return fail_at(p, d->position, STATUS_WINDOWING, "cannot override ORDER BY clause of window \"%s\"", d->refers_to);
            if (base->has_frame) {
                enum status status = fail_at(p, d->position, STATUS_WINDOWING, "cannot copy window \"%s\" because it has a frame clause", d->refers_to);
                if (!d->name && !d->order_by.count && !d->has_frame) error_hint("Omit the parentheses in this OVER clause.");
                return status;
            }
        }
    }
    bool aggregates = scope->aggregates_ok, windows = scope->windows_ok, sets = scope->sets_ok;
    const char *clause = scope->clause;
    scope->windows_ok = scope->sets_ok = false;
    scope->clause = "window definitions";
    const struct expr_list *partition = base && base->partition_by.count ? &base->partition_by : &d->partition_by;
    const struct sort_list *order = base && base->order_by.count ? &base->order_by : &d->order_by;
    const struct window_definition *frame = d->is_reference && base ? base : d;
    if (partition->count > 1664 || order->count > 1664) return fail_at(p, 0, STATUS_TOO_MANY_COLUMNS, "target lists can have at most 1664 entries");
    enum status status = STATUS_OK;
    w->partition_count = (uint16_t)partition->count;
    w->partition = arena_array(p->arena, struct scalar *, partition->count ? partition->count : 1);
    for (int i = 0; i < partition->count && !status; i++) {
        status = bind_node(p, scope, partition->items[i], &w->partition[i]);
        if (!status) status = resolve_unknown(p, w->partition[i], &w->partition[i]);
    }
    if (!status) status = bind_sort_exprs(p, scope, order, w);
    w->definition = frame;
    if (!status && frame->has_frame) {
        struct scalar **ends[2] = { &w->start_offset, &w->end_offset };
        const struct expr *exprs[2] = { frame->start_offset, frame->end_offset };
        if (frame->mode == FRAME_GROUPS && order->count == 0)
            status = fail_at(p, d->position, STATUS_WINDOWING, "GROUPS mode requires an ORDER BY clause");
        for (int i = 0; i < 2 && !status; i++) {
            if (!exprs[i]) continue;
            struct scalar *s;
            if ((status = bind_frame_offset(p, scope, exprs[i], frame->mode, &s))) break;
            struct sql_type want = type_make(OID_INT8, -1);
            if (frame->mode == FRAME_RANGE) {
                if (order->count != 1) { status = fail_at(p, d->position, STATUS_WINDOWING, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"); break; }
                uint32_t o = w->order[0]->type.oid;
                want = w->order[0]->type;
                if (is_integer_oid(o) && is_integer_oid(s->type.oid)) want = s->type;      /* smallint moves by an integer */
                if (o == OID_DATE || o == OID_TIMESTAMP || o == OID_TIMESTAMPTZ || o == OID_TIME || o == OID_INTERVAL) want = type_make(OID_INTERVAL, -1);
                else if (o == OID_TEXT || o == OID_VARCHAR || o == OID_BPCHAR || o == OID_BOOL || o == OID_BYTEA || o == OID_UUID) {
                    status = fail_at(p, exprs[i]->position, STATUS_FEATURE_NOT_SUPPORTED, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", type_text(p, w->order[0]->type));
                    break;
                }
            }
            enum cast_context context = frame->mode == FRAME_RANGE ? CAST_IMPLICIT : CAST_ASSIGNMENT;
            if (frame->mode == FRAME_RANGE && !can_coerce(s->type.oid, want.oid, context)) {
                status = fail_at(p, exprs[i]->position, STATUS_FEATURE_NOT_SUPPORTED, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
                                 type_text(p, w->order[0]->type), type_text(p, s->type));
                error_hint("Cast the offset value to an appropriate type.");
                break;
            }
            status = coerce(p, s, want, context, s->position, ends[i]);
        }
    }
    scope->aggregates_ok = aggregates;
    scope->windows_ok = windows;
    scope->sets_ok = sets;
    scope->clause = clause;
    if (status) return status;
    for (int i = 0; i < q->window_spec_count; i++) {   /* the same window again? */
        const struct window_spec *o = q->window_specs[i];
        bool same = o->definition == w->definition;
        if (!same && !o->definition->has_frame && !w->definition->has_frame && o->partition_count == w->partition_count && o->order_count == w->order_count) {
            same = true;
            for (int k = 0; k < o->partition_count && same; k++) same = scalar_equal(o->partition[k], w->partition[k]);
            for (int k = 0; k < o->order_count && same; k++)
                same = scalar_equal(o->order[k], w->order[k]) && o->descending[k] == w->descending[k] && o->nulls_first[k] == w->nulls_first[k];
        }
        if (same) {
            *out = (uint16_t)i;
            return STATUS_OK;
        }
    }
    q->window_specs = arena_grow(p->arena, q->window_specs, q->window_spec_count * sizeof *q->window_specs, (q->window_spec_count + 1u) * sizeof *q->window_specs);
    *out = q->window_spec_count;
    q->window_specs[q->window_spec_count++] = w;
    return STATUS_OK;
}

static enum status add_window(struct planner *p, struct scope *scope, const struct expr *e, const struct function *f, struct aggregate_item *item,
                              struct scalar **args, uint16_t count, struct sql_type result, struct scalar **out)
{
    struct query *q = scope->query;
    if (q->window_count == FUNCTIONS_MAX) return fail_at(p, e->position, STATUS_TOO_COMPLEX, "statement is too complex: it has more than %d window calls", FUNCTIONS_MAX);
    if (!scope->windows_ok && scope->in_aggregate) return fail_at(p, e->position, STATUS_GROUPING, "aggregate function calls cannot contain window function calls");
    if (!scope->windows_ok)
        return fail_at(p, e->position, STATUS_WINDOWING, scope->in_window ? "window function calls cannot be nested" : "window functions are not allowed in %s",
                       scope->clause ? scope->clause : "this place");
    if (e->function.distinct) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "DISTINCT is not implemented for window functions");
    if (e->function.order_by.count) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "aggregate ORDER BY is not implemented for window functions");
    struct window_call *c = arena_new(p->arena, struct window_call);
    c->level = scope->level;
    TRY(bind_window_spec(p, scope, e->function.over, &c->spec));
    c->item.frame = q->window_specs[c->spec]->definition;
    c->item.start_offset = q->window_specs[c->spec]->start_offset;
    c->item.end_offset = q->window_specs[c->spec]->end_offset;
    if (item) {
        c->item.aggregate = item->aggregate;
        c->item.args = item->args;
        c->item.arg_count = item->arg_count;
        c->item.filter = item->filter;
        c->item.type = item->type;
    } else {
        if (e->function.filter) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "FILTER is not implemented for non-aggregate window functions");
        c->item.function = f;
        c->item.args = arena_copy(p->arena, args, (count ? count : 1) * sizeof *args);
        c->item.arg_count = count;
        c->item.type = result;
        if (count && result.oid == args[0]->type.oid) c->item.type = args[0]->type;   /* lag and friends hand values on as they are */
    }
    if (q->window_count == q->window_capacity) {
        uint16_t capacity = q->window_capacity ? (uint16_t)(q->window_capacity * 2) : 4;
        q->windows = arena_grow(p->arena, q->windows, q->window_capacity * sizeof *q->windows, capacity * sizeof *q->windows);
        q->window_capacity = capacity;
    }
    q->windows[q->window_count++] = c;
    struct scalar *s = scalar_new(p->arena, SCALAR_WINDOW, c->item.type, e->position);
    s->window = c;
    *out = s;
    return STATUS_OK;
}

static bool has_kind(const char *name, char kind)
{
    size_t n;
    const struct function *const *all = functions_named(name, &n);
    for (size_t i = 0; i < n; i++)
        if ((char)all[i]->kind == kind) return true;
    return false;
}

/* set: answer set-returning functions through f and args instead of making a call (FROM). */
static enum status bind_function(struct planner *p, struct scope *scope, const struct expr *e, bool from, const struct function **set, struct scalar ***set_args,
                                 uint16_t *set_count, struct sql_type *set_result, struct scalar **out)
{
    const char *name = e->function.name, *schema = e->function.schema;
    if (e->function.arguments.count > 100)
        return fail_at(p, e->position, STATUS_TOO_MANY_ARGUMENTS, "cannot pass more than 100 arguments to a function");
    uint16_t count = (uint16_t)e->function.arguments.count;
    if (schema && strcmp(schema, "pg_catalog") != 0 && strcmp(schema, "information_schema") != 0) {
        struct scalar **args = arena_array(p->arena, struct scalar *, count ? count : 1);
        for (int i = 0; i < count; i++) TRY(bind_node(p, scope, e->function.arguments.items[i], &args[i]));
        return no_function(p, schema, name, args, count, false, e->position);
    }
    if (e->function.variadic) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "VARIADIC arguments are not supported");
    if (e->function.argument_names)
        for (int i = 0; i < count; i++)
            if (e->function.argument_names[i]) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "named arguments are not supported");
    bool aggregate = has_kind(name, FUNCTION_AGGREGATE), window = has_kind(name, FUNCTION_WINDOW);
    bool plain_aggregate = aggregate && !e->function.over;
    /* arguments */
    bool save_aggregates = scope->aggregates_ok, save_in = scope->in_aggregate, save_windows = scope->windows_ok, save_in_window = scope->in_window, save_sets = scope->sets_ok;
    if (plain_aggregate) { scope->aggregates_ok = false; scope->in_aggregate = true; scope->windows_ok = false; }
    if (e->function.over) { scope->windows_ok = false; scope->in_window = true; }
    if (aggregate || window) scope->sets_ok = false;
    const char *save_clause = scope->clause;
    if (plain_aggregate) scope->clause = "aggregate function calls";
    struct scalar **args = arena_array(p->arena, struct scalar *, count ? count : 1);
    enum status status = STATUS_OK;
    for (int i = 0; i < count && !status; i++) status = bind_node(p, scope, e->function.arguments.items[i], &args[i]);
    uint32_t *types = arena_array(p->arena, uint32_t, count ? count : 1);
    const struct function *f = NULL;
    struct aggregate_item *item = NULL;
    uint16_t level = scope->level;
    bool ambiguous = false, exists = false;
    if (!status) {
        for (int i = 0; i < count; i++) types[i] = args[i]->type.oid;
        if (aggregate) {
            if (count == 0 && !e->function.star && strcmp(name, "count") == 0) status = fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "%s(*) must be used to call a parameterless aggregate function", name);
            else f = find_function(name, FUNCTION_AGGREGATE, types, count, &ambiguous, &exists);
            if (f) status = bind_aggregate(p, scope, e, f, args, count, &item, &level);
        } else
            f = find_function(name, 0, types, count, &ambiguous, &exists);
    }
    scope->aggregates_ok = save_aggregates;
    scope->in_aggregate = save_in;
    scope->windows_ok = save_windows;
    scope->in_window = save_in_window;
    scope->sets_ok = save_sets;
    scope->clause = save_clause;
    if (status) return status;
    if (!f) {
        /* f(x) with a type's name is a cast */
        const struct type_info *t = count == 1 && !e->function.star ? type_by_name(name) : NULL;
        if (t && (types[0] == OID_UNKNOWN || can_coerce(types[0], t->oid, CAST_EXPLICIT)))
            return coerce(p, args[0], type_make(t->oid, -1), CAST_EXPLICIT, e->position, out);
        return no_function(p, schema, name, args, count, ambiguous, e->position);
    }
    if (item) {
        if (e->function.over) return add_window(p, scope, e, f, item, NULL, 0, item->type, out);
        return add_aggregate(p, scope, e, item, level, out);
    }
    if (e->function.star) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "%s(*) specified, but %s is not an aggregate function", name, name);
    if (e->function.distinct) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "DISTINCT specified, but %s is not an aggregate function", name);
    if (e->function.within_group) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "WITHIN GROUP specified, but %s is not an aggregate function", name);
    if (e->function.order_by.count) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "ORDER BY specified, but %s is not an aggregate function", name);
    struct sql_type result;
    TRY(coerce_arguments(p, f, args, count, &result, e->position));
    if (f->kind == FUNCTION_WINDOW) {
        if (!e->function.over) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "window function %s requires an OVER clause", name);
        return add_window(p, scope, e, f, NULL, args, count, result, out);
    }
    if (e->function.filter) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "FILTER specified, but %s is not an aggregate function", name);
    if (e->function.over) return fail_at(p, e->position, STATUS_WRONG_OBJECT_TYPE, "OVER specified, but %s is not a window function nor an aggregate function", name);
    if (f->kind == FUNCTION_SET) {
        if (from) {
            struct scalar *call;
            TRY(make_call(p, f, args, count, CALL_FUNCTION, NULL, result, e->position, &call));
            *set = f;
            *set_args = args;
            *set_count = count;
            *set_result = call->type;
            return STATUS_OK;
        }
        if (!scope->sets_ok || scope->no_sets) {
            enum status status = fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, scope->in_aggregate ? "aggregate function calls cannot contain set-returning function calls"
                                         : "set-returning functions are not allowed in %s", scope->sets_ok ? scope->no_sets : scope->clause ? scope->clause : "this place");
            if (scope->in_aggregate || scope->sets_ok) error_hint("You might be able to move the set-returning function into a LATERAL FROM item.");
            return status;
        }
    }
    return make_call(p, f, args, count, CALL_FUNCTION, NULL, result, e->position, out);
}

enum status bind_set_function(struct planner *p, struct scope *scope, const struct expr *e, const struct function **f, struct scalar ***args, uint16_t *count,
                              struct sql_type *result, struct scalar **plain)
{
    *f = NULL;
    *plain = NULL;
    if (e->kind != EXPR_FUNCTION) return bind_node(p, scope, e, plain);
    return bind_function(p, scope, e, true, f, args, count, result, plain);
}

/* ---- special forms ---- */

static enum status bind_operator(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *left = NULL, *right;
    const char *name = e->op.name;
    if (!e->op.left && !e->op.schema && e->op.right->kind == EXPR_LITERAL && (e->op.right->literal.kind == LITERAL_INTEGER || e->op.right->literal.kind == LITERAL_NUMERIC)) {
        if (strcmp(name, "-") == 0) return bind_literal(p, e->op.right, true, out);
        if (strcmp(name, "+") == 0) return bind_literal(p, e->op.right, false, out);
    }
    if (e->op.left && is_row(e->op.left) && is_row(e->op.right)) {
        struct scalar **l, **r;
        uint16_t n, m;
        TRY(bind_row_or_scalar(p, scope, e->op.left, &l, &n));
        TRY(bind_row_or_scalar(p, scope, e->op.right, &r, &m));
        if (n != m) return fail_at(p, e->position, STATUS_SYNTAX, "unequal number of entries in row expressions");
        return compare_rows(p, e->op.schema, name, l, r, n, e->position, out);
    }
    if (e->op.left && is_row(e->op.left) && e->op.right->kind == EXPR_SUBQUERY) return bind_row_subquery(p, scope, e, out);
    /* a chain of operators leans to the left: no recursion down it */
    if (e->op.left) {
        const struct expr *chain[64];
        int depth = 0;
        const struct expr *at = e->op.left;
        while (depth < 64 && at->kind == EXPR_OPERATOR && at->op.left && !is_row(at->op.left)) {
            chain[depth++] = at;
            at = at->op.left;
        }
        TRY(bind_node(p, scope, at, &left));
        while (depth > 0) {
            const struct expr *o = chain[--depth];
            TRY(bind_node(p, scope, o->op.right, &right));
            TRY(make_operator(p, o->op.schema, o->op.name, left, right, o->position, &left));
        }
    }
    TRY(bind_node(p, scope, e->op.right, &right));
    return make_operator(p, e->op.schema, name, left, right, e->position, out);
}

static enum status bind_bool_list(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    const char *word = e->kind == EXPR_AND ? "AND" : "OR";
    struct scalar **items = arena_array(p->arena, struct scalar *, e->list.count);
    for (int i = 0; i < e->list.count; i++) {
        TRY(bind_node(p, scope, e->list.items[i], &items[i]));
        TRY(coerce_boolean(p, items[i], word, &items[i]));
    }
    *out = make_bool_list(p, e->kind == EXPR_AND ? SCALAR_AND : SCALAR_OR, items, (uint32_t)e->list.count, e->position);
    return STATUS_OK;
}

static enum status bind_is(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *s;
    enum is_test test = e->is.test;
    if (test == IS_NULL || test == IS_NOT_NULL) {
        enum scalar_kind kind = test == IS_NULL ? SCALAR_IS_NULL : SCALAR_IS_NOT_NULL;
        if (is_row(e->is.operand)) {
            struct scalar **items;
            uint16_t count;
            TRY(bind_row_or_scalar(p, scope, e->is.operand, &items, &count));
            for (int i = 0; i < count; i++) items[i] = new_args(p, kind, bool_type(), e->position, &items[i], 1);
            *out = make_bool_list(p, SCALAR_AND, items, count, e->position);
            return STATUS_OK;
        }
        TRY(bind_node(p, scope, e->is.operand, &s));
        if (s->kind == SCALAR_ROW) {
            struct scalar **items = arena_copy(p->arena, s->args, (size_t)(s->arg_count ? s->arg_count : 1) * sizeof *items);
            for (int i = 0; i < s->arg_count; i++) items[i] = new_args(p, kind, bool_type(), e->position, &items[i], 1);
            *out = make_bool_list(p, SCALAR_AND, items, s->arg_count, e->position);
            return STATUS_OK;
        }
        if (s->kind == SCALAR_CONST) {
            *out = scalar_bool(p->arena, s->constant.null == (test == IS_NULL));
            return STATUS_OK;
        }
        *out = new_args(p, kind, bool_type(), e->position, &s, 1);
        return STATUS_OK;
    }
    static const char *const words[] = { [IS_TRUE] = "IS TRUE", [IS_NOT_TRUE] = "IS NOT TRUE", [IS_FALSE] = "IS FALSE", [IS_NOT_FALSE] = "IS NOT FALSE",
                                         [IS_UNKNOWN] = "IS UNKNOWN", [IS_NOT_UNKNOWN] = "IS NOT UNKNOWN" };
    TRY(bind_node(p, scope, e->is.operand, &s));
    TRY(coerce_boolean(p, s, words[test], &s));
    if (test == IS_UNKNOWN || test == IS_NOT_UNKNOWN) {
        *out = new_args(p, test == IS_UNKNOWN ? SCALAR_IS_NULL : SCALAR_IS_NOT_NULL, bool_type(), e->position, &s, 1);
        return STATUS_OK;
    }
    *out = new_args(p, SCALAR_IS_BOOL, bool_type(), e->position, &s, 1);
    (*out)->test = test;
    return STATUS_OK;
}

static enum status make_distinct(struct planner *p, struct scalar *l, struct scalar *r, bool negated, int position, struct scalar **out)
{
    struct scalar *equal;
    if (scalar_is_null_const(l) || scalar_is_null_const(r)) {
        struct scalar *x = scalar_is_null_const(l) ? r : l;
        TRY(resolve_unknown(p, x, &x));
        *out = new_args(p, negated ? SCALAR_IS_NULL : SCALAR_IS_NOT_NULL, bool_type(), position, &x, 1);
        return STATUS_OK;
    }
    TRY(make_operator(p, NULL, "=", l, r, position, &equal));
    struct scalar *args[2] = { l, r };
    if (equal->kind == SCALAR_CALL && equal->arg_count == 2) {
        args[0] = equal->args[0];
        args[1] = equal->args[1];
    }
    TRY(coerce_to_common(p, args, 2, "IS DISTINCT FROM"));
    *out = new_args(p, SCALAR_DISTINCT, bool_type(), position, args, 2);
    (*out)->in.negated = negated;
    return STATUS_OK;
}

static enum status bind_distinct(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar **l, **r;
    uint16_t n, m;
    TRY(bind_row_or_scalar(p, scope, e->distinct.left, &l, &n));
    TRY(bind_row_or_scalar(p, scope, e->distinct.right, &r, &m));
    if (n != m) return fail_at(p, e->position, STATUS_SYNTAX, "unequal number of entries in row expressions");
    for (int i = 0; i < n; i++) TRY(make_distinct(p, l[i], r[i], e->distinct.negated, e->position, &l[i]));
    *out = make_bool_list(p, e->distinct.negated ? SCALAR_AND : SCALAR_OR, l, n, e->position);
    return STATUS_OK;
}

static enum status bind_like(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *left, *pattern, *escape = NULL;
    TRY(bind_node(p, scope, e->like.left, &left));
    TRY(bind_node(p, scope, e->like.pattern, &pattern));
    if (e->like.escape) TRY(bind_node(p, scope, e->like.escape, &escape));
    if (e->like.kind == LIKE_SIMILAR) {
        struct scalar *args[2] = { pattern, escape };
        TRY(call_named(p, "similar_to_escape", args, escape ? 2 : 1, e->position, &pattern));
        return make_operator(p, NULL, e->like.negated ? "!~" : "~", left, pattern, e->position, out);
    }
    if (escape) {
        struct scalar *args[2] = { pattern, escape };
        TRY(call_named(p, "like_escape", args, 2, e->position, &pattern));
    }
    const char *name = e->like.kind == LIKE_ILIKE ? (e->like.negated ? "!~~*" : "~~*") : (e->like.negated ? "!~~" : "~~");
    return make_operator(p, NULL, name, left, pattern, e->position, out);
}

static enum status bind_between(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *x, *low, *high;
    TRY(bind_node(p, scope, e->between.operand, &x));
    TRY(bind_node(p, scope, e->between.low, &low));
    TRY(bind_node(p, scope, e->between.high, &high));
    struct scalar *either[2] = { NULL, NULL };
    for (int i = 0; i < (e->between.symmetric ? 2 : 1); i++) {
        struct scalar *pair[2];
        TRY(make_operator(p, NULL, e->between.negated ? "<" : ">=", x, i ? high : low, e->position, &pair[0]));
        TRY(make_operator(p, NULL, e->between.negated ? ">" : "<=", x, i ? low : high, e->position, &pair[1]));
        either[i] = make_bool_list(p, e->between.negated ? SCALAR_OR : SCALAR_AND, pair, 2, e->position);
    }
    *out = either[1] ? make_bool_list(p, e->between.negated ? SCALAR_AND : SCALAR_OR, either, 2, e->position) : either[0];
    return STATUS_OK;
}

static enum status bind_case(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    int whens = e->case_.count;
    struct scalar *operand = NULL;
    const char *no_sets = scope->no_sets;
    scope->no_sets = "CASE";
    if (e->case_.operand) {
        TRY(bind_node(p, scope, e->case_.operand, &operand));
        TRY(resolve_unknown(p, operand, &operand));
    }
    struct scalar **conditions = arena_array(p->arena, struct scalar *, whens);
    struct scalar **results = arena_array(p->arena, struct scalar *, whens + 1);   /* ELSE first, as PostgreSQL weighs them */
    for (int i = 0; i < whens; i++) {
        TRY(bind_node(p, scope, e->case_.whens[i]->condition, &conditions[i]));
        if (operand) TRY(make_operator(p, NULL, "=", operand, conditions[i], e->case_.whens[i]->position, &conditions[i]));
        TRY(coerce_boolean(p, conditions[i], "CASE/WHEN", &conditions[i]));
        TRY(bind_node(p, scope, e->case_.whens[i]->result, &results[i + 1]));
    }
    if (e->case_.otherwise) TRY(bind_node(p, scope, e->case_.otherwise, &results[0]));
    scope->no_sets = no_sets;
    int first = e->case_.otherwise ? 0 : 1;
    TRY(coerce_to_common(p, results + first, (uint32_t)(whens + 1 - first), "CASE"));
    struct sql_type type = results[1]->type;
    for (int i = first; i <= whens; i++)
        if (results[i]->type.typmod != type.typmod) { int32_t none = -1; type.typmod = none; }
    struct scalar **args = arena_array(p->arena, struct scalar *, 2 * whens + 1);
    uint32_t n = 0;
    bool has_else = first == 0;
    struct scalar *otherwise = has_else ? results[0] : NULL;
    for (int i = 0; i < whens; i++) {
        if (scalar_is_false(conditions[i])) continue;
        if (scalar_is_true(conditions[i])) {
            otherwise = results[i + 1];
            has_else = true;
            break;
        }
        args[n++] = conditions[i];
        args[n++] = results[i + 1];
    }
    if (n == 0) {
        *out = otherwise ? otherwise : scalar_null(p->arena, type, e->position);
        return STATUS_OK;
    }
    if (has_else) args[n++] = otherwise;
    *out = new_args(p, SCALAR_CASE, type, e->position, args, n);
    (*out)->case_.has_else = has_else;
    return STATUS_OK;
}

static enum status bind_common_list(struct planner *p, struct scope *scope, const struct expr *e, enum scalar_kind kind, const char *name, struct scalar **out)
{
    uint32_t count = (uint32_t)e->list.count;
    struct scalar **items = arena_array(p->arena, struct scalar *, count ? count : 1);
    const char *no_sets = scope->no_sets;
    if (kind == SCALAR_COALESCE) scope->no_sets = name;
    for (uint32_t i = 0; i < count; i++) TRY(bind_node(p, scope, e->list.items[i], &items[i]));
    scope->no_sets = no_sets;
    TRY(coerce_to_common(p, items, count, name));
    if (kind != SCALAR_COALESCE && !type_comparable(items[0]->type.oid))
        return fail_at(p, e->position, STATUS_UNDEFINED_FUNCTION, "could not identify a comparison function for type %s", type_text(p, items[0]->type));
    if (kind == SCALAR_COALESCE) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (scalar_is_null_const(items[i])) continue;
            items[kept++] = items[i];
            if (items[i]->kind == SCALAR_CONST) break;
        }
        if (kept == 0) kept = 1;
        count = kept;
        if (count == 1) {
            *out = items[0];
            return STATUS_OK;
        }
    }
    struct sql_type type = items[0]->type;
    for (uint32_t i = 1; i < count; i++)
        if (items[i]->type.typmod != type.typmod) type.typmod = -1;
    *out = new_args(p, kind, type, e->position, items, count);
    return STATUS_OK;
}

static enum status bind_nullif(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *a, *b, *equal;
    TRY(bind_node(p, scope, e->list.items[0], &a));
    TRY(bind_node(p, scope, e->list.items[1], &b));
    bool literal = a->type.oid == OID_UNKNOWN && a->kind == SCALAR_CONST && b->type.oid != OID_UNKNOWN;      /* it is what = would take it for */
    if (!literal) TRY(resolve_unknown(p, a, &a));
    bool null = scalar_is_null_const(a) || scalar_is_null_const(b);
    if (null) {
        struct sql_type type = b->type.oid == OID_VARCHAR ? type_make(OID_TEXT, -1) : b->type;
        return literal ? coerce(p, a, type, CAST_IMPLICIT, e->position, out) : (*out = a, STATUS_OK);
    }
    struct scalar *probe = scalar_new(p->arena, SCALAR_COLUMN, literal ? b->type : a->type, e->position);    /* so that nothing is folded */
    TRY(make_operator(p, NULL, "=", probe, b, e->position, &equal));
    if (equal->kind != SCALAR_CALL) return fail_at(p, e->position, STATUS_INTERNAL, "NULLIF without an equality function");
    struct scalar *args[2] = { a, equal->args[1] };
    if (literal || equal->args[0] != probe) TRY(coerce(p, a, equal->args[0]->type, CAST_IMPLICIT, e->position, &args[0]));
    *out = new_args(p, SCALAR_NULLIF, args[0]->type, e->position, args, 2);
    (*out)->operator = equal->operator;
    (*out)->call.function = equal->call.function;
    (*out)->call.kernel = equal->call.kernel;
    (*out)->call.data = equal->call.data;
    return STATUS_OK;
}

/* want: the element type a cast around it asks for; 0 none. */
static enum status bind_array(struct planner *p, struct scope *scope, const struct expr *e, uint32_t want, struct scalar **out)
{
    uint32_t count = (uint32_t)e->list.count;
    struct scalar **items = arena_array(p->arena, struct scalar *, count ? count : 1);
    if (count == 0 && !want) {
        enum status status = fail_at(p, e->position, STATUS_INDETERMINATE_DATATYPE, "cannot determine type of empty array");
        error_hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
        return status;
    }
    bool nested = count > 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *item = e->list.items[i];
        if (item->kind == EXPR_ARRAY) TRY(bind_array(p, scope, item, want, &items[i]));
        else TRY(bind_node(p, scope, item, &items[i]));
        const struct type_info *info = type_info(items[i]->type.oid);
        if (!info || info->category != 'A') nested = false;
    }
    if (want && !nested)
        for (uint32_t i = 0; i < count; i++) TRY(coerce(p, items[i], type_make(want, -1), CAST_EXPLICIT, items[i]->position, &items[i]));
    TRY(coerce_to_common(p, items, count, "ARRAY"));
    if (!nested)
        for (uint32_t i = 0; i < count; i++)   /* elements of numeric arrays are in the general form */
            TRY(coerce_form(p, items[i], type_make(items[i]->type.oid, -1), &items[i]));
    uint32_t element = count ? items[0]->type.oid : want;
    uint32_t oid = nested ? items[0]->type.oid : type_array_of(element);
    if (!oid) return fail_at(p, e->position, STATUS_UNDEFINED_OBJECT, "could not find array type for data type %s", type_text(p, type_make(element, -1)));
    *out = new_args(p, SCALAR_ARRAY, type_make(oid, -1), e->position, items, count);
    return STATUS_OK;
}

/* name[n], from 0: PostgreSQL's catalogs' queries take a name as an array of "char". */
static enum status bind_name_subscript(struct planner *p, struct scope *scope, const struct expr *e, struct scalar *name, struct scalar **out)
{
    struct scalar *n, *args[3] = { NULL, NULL, scalar_int4(p->arena, 1) }, *sum[2] = { NULL, scalar_int4(p->arena, 1) };
    TRY(bind_node(p, scope, e->subscript.items[0].upper, &n));
    TRY(coerce(p, n, type_make(OID_INT4, -1), CAST_ASSIGNMENT, n->position, &sum[0]));
    TRY(make_call(p, function_by_oid(177), sum, 2, CALL_FUNCTION, NULL, type_make(OID_INT4, -1), e->position, &args[1]));
    TRY(coerce(p, name, type_make(OID_TEXT, -1), CAST_EXPLICIT, e->position, &args[0]));
    TRY(make_call(p, function_by_oid(877), args, 3, CALL_FUNCTION, NULL, type_make(OID_TEXT, -1), e->position, &n));
    return coerce(p, n, type_make(OID_CHAR, -1), CAST_EXPLICIT, e->position, out);
}

static enum status bind_subscript(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *s;
    TRY(bind_node(p, scope, e->subscript.operand, &s));
    if (s->type.oid == OID_NAME && e->subscript.count == 1 && !e->subscript.items[0].is_slice) return bind_name_subscript(p, scope, e, s, out);
    const struct type_info *info = type_info(s->type.oid);
    if (!info || !info->element_oid) return fail_at(p, e->subscript.operand->position, STATUS_DATATYPE_MISMATCH, "cannot subscript type %s because it does not support subscripting", type_text(p, s->type));
    if (e->subscript.count != 1) return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "subscripts of several dimensions are not supported");
    const struct subscript *sub = &e->subscript.items[0];
    struct scalar *args[3] = { s, NULL, NULL };
    uint32_t count = 2;
    const struct expr *parts[2] = { sub->is_slice ? sub->lower : sub->upper, sub->is_slice ? sub->upper : NULL };
    for (int i = 0; i < (sub->is_slice ? 2 : 1); i++) {
        if (!parts[i]) {
            args[i + 1] = scalar_int4(p->arena, i ? INT32_MAX : INT32_MIN);
            continue;
        }
        struct scalar *n;
        TRY(bind_node(p, scope, parts[i], &n));
        if (!can_coerce(n->type.oid, OID_INT4, CAST_ASSIGNMENT)) return fail_at(p, n->position, STATUS_DATATYPE_MISMATCH, "array subscript must have type integer");
        TRY(coerce(p, n, type_make(OID_INT4, -1), CAST_ASSIGNMENT, n->position, &args[i + 1]));
    }
    if (sub->is_slice) count = 3;
    *out = new_args(p, SCALAR_SUBSCRIPT, sub->is_slice ? s->type : type_make(info->element_oid, -1), e->position, args, count);
    return STATUS_OK;
}

/* The function whose record a column of a subquery is; NULL: not that. */
static const struct function *record_function(struct planner *p, const struct scalar *s)
{
    while (s->kind == SCALAR_VAR && s->type.oid == OID_RECORD) {
        const struct rel *r = p->rels[s->var.rel];
        const struct query *q = r->kind == REL_SUBQUERY ? r->query : NULL;
        if (!q || s->var.column >= q->target_count) return NULL;
        s = q->targets[s->var.column];
        if (s->kind == SCALAR_VAR && q->set_rel && s->var.rel == q->set_rel->id) s = q->set_functions[s->var.column];
    }
    return s->kind == SCALAR_CALL && s->call.function->column_count ? s->call.function : NULL;
}

/* (q.r).x where r is a record that a function made: taken out of its text form. */
static enum status bind_record_field(struct planner *p, const struct expr *e, struct scalar *record, struct scalar **out)
{
    const struct function *f = record_function(p, record);
    const struct function *take = function_by_oid(9230);    /* crab_record_field(record, integer) */
    for (int i = 0; f && take && i < f->column_count; i++) {
        if (strcmp(f->columns[i].name, e->field.name) != 0) continue;
        struct scalar *args[2] = { record, scalar_int4(p->arena, i) };
        TRY(make_call(p, take, args, 2, CALL_FUNCTION, NULL, type_make(OID_TEXT, -1), e->position, out));
        return coerce(p, *out, type_make(f->columns[i].type, -1), CAST_EXPLICIT, e->position, out);
    }
    return fail_at(p, e->position, STATUS_UNDEFINED_COLUMN, "could not identify column \"%s\" in record data type", e->field.name);
}

static enum status bind_field(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    const struct expr *o = e->field.operand;
    if (o->kind == EXPR_COLUMN && o->column.count >= 1 && !e->field.star) {
        struct expr name = *o;           /* (t).f is t.f */
        char **names = arena_array(p->arena, char *, o->column.count + 1);
        memcpy(names, o->column.names, sizeof *names * (size_t)o->column.count);
        names[o->column.count] = e->field.name;
        name.column.names = names;
        name.column.count = o->column.count + 1;
        name.column.star = false;
        struct scalar *record;
        enum status status = scope_column(p, scope, &name, out);
        if (!status) return status;
        struct error kept = {0};
        error_save(&kept);
        if (!bind_node(p, scope, o, &record) && record->type.oid == OID_RECORD && record_function(p, record)) {
            error_free(&kept);
            return bind_record_field(p, e, record, out);
        }
        return error_restore(&kept);
    }
    if (o->kind == EXPR_FUNCTION && !e->field.star) {       /* (f(x)).n, of a function that returns records: a function of its own gives that column */
        const char *own = arena_printf(p->arena, "%s.%s", o->function.name, e->field.name);
        size_t n;
        functions_named(own, &n);
        if (n) {
            struct expr *call = arena_copy(p->arena, o, sizeof *o);
            call->function.name = (char *)own;
            call->function.schema = NULL;
            return bind_node(p, scope, call, out);
        }
    }
    return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "selecting fields of composite values is not supported");
}

static enum status bind_sql_value(struct planner *p, const struct expr *e, struct scalar **out)
{
    static const struct { const char *function, *own; uint32_t cast; } forms[] = {
        [SQL_CURRENT_DATE] = { "now", "current_date", OID_DATE }, [SQL_CURRENT_TIME] = { "now", "current_time", OID_TIME },
        [SQL_CURRENT_TIMESTAMP] = { "now", "current_timestamp", OID_TIMESTAMPTZ }, [SQL_LOCALTIME] = { "now", "localtime", OID_TIME },
        [SQL_LOCALTIMESTAMP] = { "now", "localtimestamp", OID_TIMESTAMP }, [SQL_CURRENT_ROLE] = { "current_user", "current_user", 0 },
        [SQL_CURRENT_USER] = { "current_user", "current_user", 0 }, [SQL_USER] = { "current_user", "current_user", 0 },
        [SQL_SESSION_USER] = { "session_user", "session_user", 0 }, [SQL_CURRENT_CATALOG] = { "current_database", "current_database", 0 },
        [SQL_CURRENT_SCHEMA] = { "current_schema", "current_schema", 0 } };
    size_t n;
    functions_named(forms[e->sql_value.value].own, &n);
    const char *name = n ? forms[e->sql_value.value].own : forms[e->sql_value.value].function;
    TRY(call_named(p, name, NULL, 0, e->position, out));
    if (!forms[e->sql_value.value].cast) return STATUS_OK;
    int32_t typmod = e->sql_value.precision < 0 ? -1 : e->sql_value.precision > 6 ? 6 : e->sql_value.precision;
    return coerce(p, *out, type_make(forms[e->sql_value.value].cast, typmod), CAST_EXPLICIT, e->position, out);
}

static enum status bind_cast(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct sql_type want;
    struct scalar *s;
    TRY(type_name_resolve(p, e->cast.type, &want));
    const struct type_info *info = type_info(want.oid);
    if (e->cast.operand->kind == EXPR_ARRAY && info && info->element_oid) TRY(bind_array(p, scope, e->cast.operand, info->element_oid, &s));
    else TRY(bind_node(p, scope, e->cast.operand, &s));
    if (s->kind == SCALAR_PARAMETER && s->type.oid == OID_UNKNOWN) {
        TRY(coerce(p, s, want, CAST_EXPLICIT, e->position, out));
        return STATUS_OK;
    }
    if (s->type.oid != OID_UNKNOWN && s->type.oid != want.oid && !can_coerce(s->type.oid, want.oid, CAST_EXPLICIT))
        return fail_at(p, e->position, STATUS_CANNOT_COERCE, "cannot cast type %s to %s", type_text(p, s->type), type_text(p, want));
    if (s->type.oid == want.oid && s->kind == SCALAR_CONST && want.oid == OID_NUMERIC && want.typmod < 0) {
        *out = s;
        return STATUS_OK;
    }
    return coerce(p, s, want, CAST_EXPLICIT, e->position, out);
}

static enum status bind_collate(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    const char *name = e->collate.name;
    if (strcmp(name, "default") && strcmp(name, "C") && strcmp(name, "POSIX") && strcmp(name, "ucs_basic"))
        return fail_at(p, e->position, STATUS_UNDEFINED_OBJECT, "collation \"%s\" for encoding \"UTF8\" does not exist", name);
    TRY(bind_node(p, scope, e->collate.operand, out));
    TRY(resolve_unknown(p, *out, out));
    const struct type_info *info = type_info((*out)->type.oid);
    if (!info || info->category != 'S') return fail_at(p, e->position, STATUS_DATATYPE_MISMATCH, "collations are not supported by type %s", type_text(p, (*out)->type));
    return STATUS_OK;
}

/* A mark that finish_groups() replaces once the keys are known. */
static enum status bind_grouping(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    if (!scope->aggregates_ok) return fail_at(p, e->position, STATUS_GROUPING, "grouping operations are not allowed in %s", scope->clause ? scope->clause : "this place");
    if (e->list.count > 31) return fail_at(p, e->position, STATUS_LIMIT_EXCEEDED, "GROUPING must have fewer than 32 arguments");
    struct scalar **items = arena_array(p->arena, struct scalar *, e->list.count ? e->list.count : 1);
    for (int i = 0; i < e->list.count; i++) TRY(bind_node(p, scope, e->list.items[i], &items[i]));
    scope->query->grouped = true;
    *out = new_args(p, SCALAR_CURRENT, type_make(OID_INT4, -1), e->position, items, (uint32_t)e->list.count);
    return STATUS_OK;
}

enum status bind_node(struct planner *p, struct scope *scope, const struct expr *e, struct scalar **out)
{
    struct scalar *s;
    struct query *q;
    if (stack_is_deep()) return stack_too_deep();
    switch (e->kind) {
    case EXPR_LITERAL: return bind_literal(p, e, false, out);
    case EXPR_PARAMETER: return bind_parameter(p, e, out);
    case EXPR_COLUMN:
        if (scope->what && strcmp(scope->what, "DEFAULT expression") == 0)
            return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "cannot use column reference in DEFAULT expression");
        if (e->column.star) {
            if (e->column.count == 0) return fail_at(p, e->position, STATUS_SYNTAX, "row expansion via \"*\" is not supported here");
            struct space *space = scope_space(scope, e->column.count > 1 ? e->column.names[e->column.count - 2] : NULL, e->column.names[e->column.count - 1], NULL);
            if (!space) return no_such_space(p, scope, e->column.names[e->column.count - 1], e->position);
            struct expr whole = *e;
            whole.column.star = false;
            return scope_column(p, scope, &whole, out);
        }
        return scope_column(p, scope, e, out);
    case EXPR_OPERATOR: return bind_operator(p, scope, e, out);
    case EXPR_AND: case EXPR_OR: return bind_bool_list(p, scope, e, out);
    case EXPR_NOT:
        TRY(bind_node(p, scope, e->unary.operand, &s));
        TRY(coerce_boolean(p, s, "NOT", &s));
        *out = make_not(p, s, e->position);
        return STATUS_OK;
    case EXPR_IS: return bind_is(p, scope, e, out);
    case EXPR_DISTINCT: return bind_distinct(p, scope, e, out);
    case EXPR_LIKE: return bind_like(p, scope, e, out);
    case EXPR_BETWEEN: return bind_between(p, scope, e, out);
    case EXPR_IN:
        if (!e->in.select) return bind_in_list(p, scope, e, out);
        return bind_quantified(p, scope, e->in.left, NULL, "=", e->in.select, false, e->in.negated, e->position, out);
    case EXPR_ANY: case EXPR_ALL: return bind_any(p, scope, e, out);
    case EXPR_SUBQUERY:
        TRY(bind_select(p, scope, e->select, e->position, &q));
        if (q->visible_count != 1) return fail_at(p, e->position, STATUS_SYNTAX, "subquery must return only one column");
        *out = new_subquery(p, SUBQUERY_SCALAR, q, q->targets[0]->type, e->position);
        return STATUS_OK;
    case EXPR_EXISTS:
        TRY(bind_select(p, scope, e->select, e->position, &q));
        *out = new_subquery(p, SUBQUERY_EXISTS, q, bool_type(), e->position);
        return STATUS_OK;
    case EXPR_ARRAY_SUBQUERY: {
        TRY(bind_select(p, scope, e->select, e->position, &q));
        if (q->visible_count != 1) return fail_at(p, e->position, STATUS_SYNTAX, "subquery must return only one column");
        struct sql_type plain = type_make(q->targets[0]->type.oid, -1);
        if (plain.oid == OID_NUMERIC) TRY(query_coerce(p, &q, &plain, CAST_IMPLICIT, "ARRAY"));
        const struct type_info *info = type_info(plain.oid);
        uint32_t oid = info && info->category == 'A' ? plain.oid : type_array_of(plain.oid);
        if (!oid) return fail_at(p, e->position, STATUS_UNDEFINED_OBJECT, "could not find array type for data type %s", type_text(p, q->targets[0]->type));
        *out = new_subquery(p, SUBQUERY_ARRAY, q, type_make(oid, -1), e->position);
        return STATUS_OK;
    }
    case EXPR_CAST: return bind_cast(p, scope, e, out);
    case EXPR_COLLATE: return bind_collate(p, scope, e, out);
    case EXPR_CASE: return bind_case(p, scope, e, out);
    case EXPR_COALESCE: return bind_common_list(p, scope, e, SCALAR_COALESCE, "COALESCE", out);
    case EXPR_GREATEST: return bind_common_list(p, scope, e, SCALAR_GREATEST, "GREATEST", out);
    case EXPR_LEAST: return bind_common_list(p, scope, e, SCALAR_LEAST, "LEAST", out);
    case EXPR_NULLIF: return bind_nullif(p, scope, e, out);
    case EXPR_FUNCTION: return bind_function(p, scope, e, false, NULL, NULL, NULL, NULL, out);
    case EXPR_ARRAY: return bind_array(p, scope, e, 0, out);
    case EXPR_SUBSCRIPT: return bind_subscript(p, scope, e, out);
    case EXPR_FIELD: return bind_field(p, scope, e, out);
    case EXPR_ROW: {
        struct scalar **items;
        uint16_t count;
        TRY(bind_row_or_scalar(p, scope, e, &items, &count));
        for (int i = 0; i < count; i++) TRY(resolve_unknown(p, items[i], &items[i]));
        *out = new_args(p, SCALAR_ROW, type_make(OID_RECORD, -1), e->position, items, count);
        return STATUS_OK;
    }
    case EXPR_SQL_VALUE: return bind_sql_value(p, e, out);
    case EXPR_GROUPING: return bind_grouping(p, scope, e, out);
    case EXPR_GROUPING_SET: return fail_at(p, e->position, STATUS_SYNTAX, "grouping sets are allowed in GROUP BY only");
    case EXPR_DEFAULT: return fail_at(p, e->position, STATUS_SYNTAX, "DEFAULT is not allowed in this context");
    case EXPR_CURRENT_OF: return fail_at(p, e->position, STATUS_FEATURE_NOT_SUPPORTED, "WHERE CURRENT OF is not supported");
    }
    return fail_at(p, e->position, STATUS_INTERNAL, "unknown kind of expression %d", (int)e->kind);
}

/* A condition, as the list of what must all hold. */
enum status bind_boolean(struct planner *p, struct scope *scope, const struct expr *e, const char *clause, struct scalars *conjuncts)
{
    struct scalar *s;
    const char *save = scope->clause;
    bool aggregates = scope->aggregates_ok, windows = scope->windows_ok, sets = scope->sets_ok;
    scope->clause = strcmp(clause, "JOIN/ON") == 0 ? "JOIN conditions" : clause;
    if (strcmp(clause, "HAVING") != 0) scope->aggregates_ok = false;
    scope->windows_ok = scope->sets_ok = false;
    enum status status = bind_node(p, scope, e, &s);
    scope->clause = save;
    scope->aggregates_ok = aggregates;
    scope->windows_ok = windows;
    scope->sets_ok = sets;
    if (status) return status;
    TRY(coerce_boolean(p, s, clause, &s));
    conjuncts_add(p->arena, conjuncts, s);
    return STATUS_OK;
}
