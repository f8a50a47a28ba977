/* engine/plan/explain.c - a plan as EXPLAIN shows it: PostgreSQL's text layout and spelling.
 *
 * Some of our nodes have no counterpart there: PROJECT isn't shown, a FILTER shows as the filter of the node beneath, TOP_N as a
 * Limit over a Sort, a hash join's build side under a Hash. Where the gate plans workers, a Gather is drawn at the top of
 * the pipeline, and an aggregate is drawn as its partial and final halves.
 *
 * Columns are numbers in a plan; their names are found by following them down to the scan that hands them out. */
#include <math.h>
#include <string.h>

#include "engine/exec/exec.h"
#include "engine/plan/query.h"

struct explaining {
    struct arena *arena;
    const struct prepared_plan *plan;
    const struct explain_options *options;
    const struct exec_counters *counters;
    char **lines; int count, capacity;
    bool prefix;                         /* several relations: names are qualified */
    const struct plan *subplans[256]; int subplan_count;   /* in the order of their numbers */
    bool initplan[256], shown[256];
    struct { const struct plan *node; const struct scalar *value; } slots[512];   /* outer slots: what fills them, and where that stands */
    int  depth;
    int  indent;                         /* what stands under InitPlan, SubPlan and CTE is two further in */
};

static void expression(struct explaining *x, const struct plan *node, const struct scalar *s, struct text_buffer *t);

static void add_line(struct explaining *x, const char *text)
{
    if (x->count == x->capacity) {
        int capacity = x->capacity ? x->capacity * 2 : 32;
        x->lines = arena_grow(x->arena, x->lines, (size_t)x->capacity * sizeof *x->lines, (size_t)capacity * sizeof *x->lines);
        x->capacity = capacity;
    }
    x->lines[x->count++] = (char *)(uintptr_t)text;
}

/* ---- names of columns ---- */

static void column_name(struct explaining *x, const struct plan *node, uint16_t column, struct text_buffer *t);

static struct sql_type input_type(const struct plan *node, uint16_t column, bool *known)
{
    struct sql_type none = { 0 };
    *known = false;
    const struct plan *from = NULL;
    switch (node->kind) {
    case PLAN_SEQ_SCAN: case PLAN_INDEX_SCAN: case PLAN_BITMAP_SCAN: case PLAN_VIRTUAL_SCAN:
        if (column >= node->column_count || node->columns[column] == 0xFFFF) return none;
        *known = true;
        return node->table->columns[node->columns[column]].type;
    case PLAN_HASH_JOIN: case PLAN_NESTED_LOOP:
        from = column < node->left->column_count ? node->left : node->right;
        if (from == node->right) column = (uint16_t)(column - node->left->column_count);
        break;
    default: from = node->left;
    }
    if (!from || column >= from->column_count) return none;
    *known = true;
    return from->types[column];
}

static void input_name(struct explaining *x, const struct plan *node, uint16_t column, struct text_buffer *t)
{
    switch (node->kind) {
    case PLAN_SEQ_SCAN: case PLAN_INDEX_SCAN: case PLAN_BITMAP_SCAN: case PLAN_VIRTUAL_SCAN: case PLAN_FUNCTION_SCAN: case PLAN_CTE_SCAN:
        column_name(x, node, column, t);
        return;
    case PLAN_HASH_JOIN: case PLAN_NESTED_LOOP:
        if (column < node->left->column_count) column_name(x, node->left, column, t);
        else column_name(x, node->right, (uint16_t)(column - node->left->column_count), t);
        return;
    default:
        if (node->left) column_name(x, node->left, column, t);
        else text_buffer_printf(t, "column%d", column + 1);
    }
}

static void qualified(struct explaining *x, const char *alias, const char *name, struct text_buffer *t)
{
    if ((x->prefix || x->options->verbose) && alias) text_buffer_printf(t, "%s.", quote_identifier(x->arena, alias));
    text_buffer_puts(t, quote_identifier(x->arena, name));
}

static void aggregate_text(struct explaining *x, const struct plan *node, const struct aggregate_item *a, struct text_buffer *t)
{
    text_buffer_printf(t, "%s(%s", a->aggregate->function->name, a->distinct ? "DISTINCT " : "");
    if (a->own_arg_count == 0) text_buffer_putc(t, '*');
    for (int i = 0; i < a->own_arg_count; i++) {
        if (i) text_buffer_puts(t, ", ");
        expression(x, node, a->args[i], t);
    }
    for (int i = 0; i < a->sort_count; i++) {
        text_buffer_puts(t, i ? ", " : " ORDER BY ");
        expression(x, node, a->args[a->sort[i].column], t);
        if (a->sort[i].descending) text_buffer_puts(t, " DESC");
    }
    text_buffer_putc(t, ')');
    if (a->filter) {
        text_buffer_puts(t, " FILTER (WHERE ");
        expression(x, node, a->filter, t);
        text_buffer_putc(t, ')');
    }
}

static void column_name(struct explaining *x, const struct plan *node, uint16_t column, struct text_buffer *t)
{
    if (++x->depth > 200) {
        text_buffer_puts(t, "...");
        x->depth--;
        return;
    }
    switch (node->kind) {
    case PLAN_SEQ_SCAN: case PLAN_INDEX_SCAN: case PLAN_BITMAP_SCAN: case PLAN_VIRTUAL_SCAN:
        if (node->columns[column] == 0xFFFF) qualified(x, node->alias, "ctid", t);
        else qualified(x, node->alias, node->table->columns[node->columns[column]].name, t);
        break;
    case PLAN_FUNCTION_SCAN: case PLAN_CTE_SCAN:
        qualified(x, node->alias, node->names && column < node->column_count ? node->names[column] : "?", t);
        break;
    case PLAN_HASH_JOIN: case PLAN_NESTED_LOOP:
        input_name(x, node, node->outputs[column], t);
        break;
    case PLAN_PROJECT: case PLAN_PROJECT_SET: case PLAN_RESULT:
        expression(x, node, node->exprs[column], t);
        break;
    case PLAN_AGGREGATE:
        if (column < node->group_count) expression(x, node, node->groups[column], t);
        else aggregate_text(x, node, &node->aggregates[column - node->group_count], t);
        break;
    case PLAN_WINDOW: {
        uint16_t base = node->left->column_count;
        if (column < base) column_name(x, node->left, column, t);
        else {
            const struct window_item *w = &node->windows[column - base];
            text_buffer_printf(t, "%s(", w->function ? w->function->name : w->aggregate->function->name);
            for (int i = 0; i < w->arg_count; i++) {
                if (i) text_buffer_puts(t, ", ");
                expression(x, node, w->args[i], t);
            }
            text_buffer_puts(t, ") OVER (?)");
        }
        break;
    }
    case PLAN_APPEND:
        column_name(x, node->children[0], column, t);
        break;
    case PLAN_VALUES:
        text_buffer_printf(t, "\"*VALUES*\".column%d", column + 1);
        break;
    case PLAN_MODIFY:
        text_buffer_printf(t, "column%d", column + 1);
        break;
    default:
        if (node->left) column_name(x, node->left, column, t);
        else text_buffer_printf(t, "column%d", column + 1);
    }
    x->depth--;
}

/* ---- expressions ---- */

static void value_text(struct explaining *x, struct sql_type type, const struct value *v, struct text_buffer *out)
{
    struct vector vec;
    value_vector(type, v, x->arena, &vec);
    type_out(type, &vec, 0, out);
}

/* char without a length is bpchar, in expressions */
static const char *type_spelled(struct explaining *x, struct sql_type t) { return type_format(t.oid, t.oid == OID_NUMERIC || t.typmod < 0 ? -2 : t.typmod, x->arena); }

static void constant(struct explaining *x, const struct scalar *s, struct text_buffer *t)
{
    const char *name = type_spelled(x, s->type);
    if (s->constant.null) {
        text_buffer_printf(t, "NULL::%s", s->type.oid == OID_UNKNOWN ? "unknown" : name);
        return;
    }
    struct text_buffer v;
    text_buffer_open(&v, x->arena);
    value_text(x, s->type, &s->constant, &v);
    const char *text = v.length ? v.bytes : "";
    switch (s->type.oid) {
    case OID_BOOL:
        text_buffer_puts(t, s->constant.b ? "true" : "false");
        return;
    case OID_INT4:
        if (s->constant.i4 >= 0) {
            text_buffer_puts(t, text);
            return;
        }
        break;
    case OID_NUMERIC:
        if (strspn(text, "0123456789.") == strlen(text)) {
            text_buffer_puts(t, text);
            return;
        }
        break;
    default: break;
    }
    text_buffer_printf(t, "%s::%s", quote_literal(x->arena, text), name);
}

static void arg_list(struct explaining *x, const struct plan *node, struct scalar *const *args, int count, struct text_buffer *t)
{
    for (int i = 0; i < count; i++) {
        if (i) text_buffer_puts(t, ", ");
        expression(x, node, args[i], t);
    }
}

/* IN list of constants as PostgreSQL shows it: = ANY ('{1,2}'::integer[]). */
static void in_list(struct explaining *x, const struct plan *node, const struct scalar *s, struct text_buffer *t)
{
    bool constants = true;
    for (int i = 1; i < s->arg_count; i++) constants &= s->args[i]->kind == SCALAR_CONST;
    text_buffer_putc(t, '(');
    expression(x, node, s->args[0], t);
    text_buffer_puts(t, s->in.negated ? " <> ALL (" : " = ANY (");
    if (constants) {
        struct text_buffer v;
        text_buffer_open(&v, x->arena);
        text_buffer_putc(&v, '{');
        for (int i = 1; i < s->arg_count; i++) {
            if (i > 1) text_buffer_putc(&v, ',');
            if (s->args[i]->constant.null) {
                text_buffer_puts(&v, "NULL");
                continue;
            }
            struct text_buffer one;
            text_buffer_open(&one, x->arena);
            value_text(x, s->args[i]->type, &s->args[i]->constant, &one);
            const char *text = one.length ? one.bytes : "";
            bool quote = !*text || strpbrk(text, "{}\", \\") != NULL;
            if (quote) text_buffer_putc(&v, '"');
            for (const char *c = text; *c; c++) {
                if (*c == '"' || *c == '\\') text_buffer_putc(&v, '\\');
                text_buffer_putc(&v, *c);
            }
            if (quote) text_buffer_putc(&v, '"');
        }
        text_buffer_putc(&v, '}');
        text_buffer_printf(t, "%s::%s[]", quote_literal(x->arena, v.bytes), type_spelled(x, type_make(s->args[1]->type.oid, -1)));
    } else {
        text_buffer_puts(t, "ARRAY[");
        arg_list(x, node, s->args + 1, s->arg_count - 1, t);
        text_buffer_putc(t, ']');
    }
    text_buffer_puts(t, "))");
}

static int subplan_number(struct explaining *x, const struct plan *plan, bool init)
{
    for (int i = 0; i < x->subplan_count; i++)
        if (x->subplans[i] == plan) return i + 1;
    if (x->subplan_count == 256) return 256;
    x->subplans[x->subplan_count] = plan;
    x->initplan[x->subplan_count] = init;
    return ++x->subplan_count;
}

static void expression(struct explaining *x, const struct plan *node, const struct scalar *s, struct text_buffer *t)
{
    if (++x->depth > 200) {
        text_buffer_puts(t, "...");
        x->depth--;
        return;
    }
    switch (s->kind) {
    case SCALAR_CONST: constant(x, s, t); break;
    case SCALAR_COLUMN: {
        bool known;
        struct sql_type type = input_type(node, s->column, &known);
        bool relabelled = known && type.oid != s->type.oid;
        if (relabelled) text_buffer_putc(t, '(');
        input_name(x, node, s->column, t);
        if (relabelled) text_buffer_printf(t, ")::%s", type_spelled(x, type_make(s->type.oid, -1)));
        break;
    }
    case SCALAR_PARAMETER: text_buffer_printf(t, "$%d", s->parameter + 1); break;
    case SCALAR_OUTER:
        if (s->parameter < 512 && x->slots[s->parameter].node) {
            bool prefix = x->prefix;
            x->prefix = true;
            expression(x, x->slots[s->parameter].node, x->slots[s->parameter].value, t);
            x->prefix = prefix;
        } else text_buffer_printf(t, "$%d", s->parameter);
        break;
    case SCALAR_CALL:
        if (s->form == CALL_OPERATOR && s->operator) {
            text_buffer_putc(t, '(');
            if (s->arg_count == 2) {
                expression(x, node, s->args[0], t);
                text_buffer_printf(t, " %s ", s->operator->name);
                expression(x, node, s->args[1], t);
            } else {
                text_buffer_printf(t, "%s ", s->operator->name);
                expression(x, node, s->args[0], t);
            }
            text_buffer_putc(t, ')');
        } else if ((s->form == CALL_CAST || s->form == CALL_CAST_IMPLICIT) && s->arg_count >= 1) {
            text_buffer_putc(t, '(');
            expression(x, node, s->args[0], t);
            text_buffer_printf(t, ")::%s", type_spelled(x, s->type));
        } else {
            text_buffer_printf(t, "%s(", s->call.function->name);
            arg_list(x, node, s->args, s->arg_count, t);
            text_buffer_putc(t, ')');
        }
        break;
    case SCALAR_AND: case SCALAR_OR:
        text_buffer_putc(t, '(');
        for (int i = 0; i < s->arg_count; i++) {
            if (i) text_buffer_puts(t, s->kind == SCALAR_AND ? " AND " : " OR ");
            expression(x, node, s->args[i], t);
        }
        text_buffer_putc(t, ')');
        break;
    case SCALAR_NOT:
        text_buffer_puts(t, "(NOT ");
        expression(x, node, s->args[0], t);
        text_buffer_putc(t, ')');
        break;
    case SCALAR_CASE:
        text_buffer_puts(t, "CASE");
        for (int i = 0; i + 1 < s->arg_count; i += 2) {
            text_buffer_puts(t, " WHEN ");
            expression(x, node, s->args[i], t);
            text_buffer_puts(t, " THEN ");
            expression(x, node, s->args[i + 1], t);
        }
        if (s->case_.has_else) {
            text_buffer_puts(t, " ELSE ");
            expression(x, node, s->args[s->arg_count - 1], t);
        }
        text_buffer_puts(t, " END");
        break;
    case SCALAR_COALESCE: case SCALAR_NULLIF: case SCALAR_GREATEST: case SCALAR_LEAST:
        text_buffer_puts(t, s->kind == SCALAR_COALESCE ? "COALESCE(" : s->kind == SCALAR_NULLIF ? "NULLIF(" : s->kind == SCALAR_GREATEST ? "GREATEST(" : "LEAST(");
        arg_list(x, node, s->args, s->arg_count, t);
        text_buffer_putc(t, ')');
        break;
    case SCALAR_IS_NULL: case SCALAR_IS_NOT_NULL:
        text_buffer_putc(t, '(');
        expression(x, node, s->args[0], t);
        text_buffer_puts(t, s->kind == SCALAR_IS_NULL ? " IS NULL)" : " IS NOT NULL)");
        break;
    case SCALAR_IS_BOOL: {
        static const char *const words[] = { [IS_TRUE] = "TRUE", [IS_NOT_TRUE] = "NOT TRUE", [IS_FALSE] = "FALSE", [IS_NOT_FALSE] = "NOT FALSE" };
        text_buffer_putc(t, '(');
        expression(x, node, s->args[0], t);
        text_buffer_printf(t, " IS %s)", words[s->test]);
        break;
    }
    case SCALAR_DISTINCT:
        text_buffer_putc(t, '(');
        expression(x, node, s->args[0], t);
        text_buffer_puts(t, s->in.negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ");
        expression(x, node, s->args[1], t);
        text_buffer_putc(t, ')');
        break;
    case SCALAR_IN_LIST: in_list(x, node, s, t); break;
    case SCALAR_ANY_ARRAY:
        text_buffer_putc(t, '(');
        expression(x, node, s->args[0], t);
        text_buffer_printf(t, " %s %s (", s->operator ? s->operator->name : "=", s->any.all ? "ALL" : "ANY");
        expression(x, node, s->args[1], t);
        text_buffer_puts(t, "))");
        break;
    case SCALAR_ARRAY:
        text_buffer_puts(t, "ARRAY[");
        arg_list(x, node, s->args, s->arg_count, t);
        text_buffer_putc(t, ']');
        break;
    case SCALAR_SUBSCRIPT:
        text_buffer_putc(t, '(');
        expression(x, node, s->args[0], t);
        text_buffer_puts(t, ")[");
        expression(x, node, s->args[1], t);
        if (s->arg_count == 3) {
            text_buffer_putc(t, ':');
            expression(x, node, s->args[2], t);
        }
        text_buffer_putc(t, ']');
        break;
    case SCALAR_ROW:
        text_buffer_puts(t, "ROW(");
        arg_list(x, node, s->args, s->arg_count, t);
        text_buffer_putc(t, ')');
        break;
    case SCALAR_SUBQUERY: {
        bool init = s->subquery.outer_count == 0 && (s->subquery.kind == SUBQUERY_SCALAR || s->subquery.kind == SUBQUERY_EXISTS || s->subquery.kind == SUBQUERY_ARRAY);
        for (int i = 0; i < s->subquery.outer_count; i++)
            if (s->subquery.outer_slots[i] < 512) {
                x->slots[s->subquery.outer_slots[i]].node = node;
                x->slots[s->subquery.outer_slots[i]].value = s->subquery.outer_values[i];
            }
        int n = subplan_number(x, s->subquery.plan, init);
        bool hashed = s->subquery.outer_count == 0 && s->subquery.kind == SUBQUERY_ANY;
        if (s->subquery.negated) text_buffer_puts(t, "(NOT ");
        if (init) text_buffer_printf(t, "$%d", n - 1);
        else text_buffer_printf(t, "(%sSubPlan %d)", hashed ? "hashed " : "", n);
        if (s->subquery.negated) text_buffer_putc(t, ')');
        break;
    }
    default: text_buffer_puts(t, "?");
    }
    x->depth--;
}

/* ---- lines ---- */

static void detail(struct explaining *x, int level, const char *label, const char *text)
{
    add_line(x, arena_printf(x->arena, "%*s%s: %s", level * 6 + 2 + x->indent, "", label, text));
}

static void detail_expression(struct explaining *x, int level, const struct plan *node, const char *label, const struct scalar *s)
{
    if (!s) return;
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    bool prefix = x->prefix;             /* a scan's own columns need no name in front */
    if (node->kind == PLAN_SEQ_SCAN || node->kind == PLAN_INDEX_SCAN || node->kind == PLAN_BITMAP_SCAN || node->kind == PLAN_VIRTUAL_SCAN || node->kind == PLAN_FUNCTION_SCAN || node->kind == PLAN_CTE_SCAN) x->prefix = false;
    expression(x, node, s, &t);
    x->prefix = prefix;
    const char *text = t.bytes;
    if (t.length && t.bytes[0] != '(' && s->kind != SCALAR_CONST) text = arena_printf(x->arena, s->kind == SCALAR_COLUMN ? "%s" : "(%s)", t.bytes);
    detail(x, level, label, text);
}

static const struct node_counters *counters_of(const struct explaining *x, const struct plan *n) { return x->counters && x->counters->nodes ? &x->counters->nodes[n->id] : NULL; }

static void costs(struct explaining *x, const struct plan *n, struct text_buffer *t)
{
    if (x->options->costs)
        text_buffer_printf(t, "  (cost=%.2f..%.2f rows=%.0f width=%.0f)", n->startup_cost, n->total_cost, n->rows, n->width);
    const struct node_counters *c = x->options->analyze ? counters_of(x, n) : NULL;
    if (!c) return;
    if (!c->loops) {
        text_buffer_puts(t, " (never executed)");
        return;
    }
    double loops = (double)c->loops;
    /* The first row's time is a clock's reading, the total is summed up in workers: it may come out the smaller by a little. */
    double total = (double)c->total_us / 1000 / loops, start = fmin((double)c->start_us / 1000 / loops, total);
    if (x->options->timing)
        text_buffer_printf(t, " (actual time=%.3f..%.3f rows=%.0f loops=%.0f)", start, total, (double)c->rows / loops, loops);
    else
        text_buffer_printf(t, " (actual rows=%.0f loops=%.0f)", (double)c->rows / loops, loops);
}

static void label(struct explaining *x, int level, const struct plan *shown, const char *text)
{
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    if (level) text_buffer_printf(&t, "%*s->  ", level * 6 - 4 + x->indent, "");
    text_buffer_puts(&t, text);
    costs(x, shown, &t);
    add_line(x, t.bytes);
}

static const char *relation(struct explaining *x, const struct plan *n)
{
    const char *name = quote_identifier(x->arena, n->table->name);
    if (x->options->verbose) name = arena_printf(x->arena, "%s.%s", quote_identifier(x->arena, n->table->schema_name), name);
    if (n->alias && strcmp(n->alias, n->table->name) != 0) return arena_printf(x->arena, "%s %s", name, quote_identifier(x->arena, n->alias));
    return name;
}

static void sort_keys(struct explaining *x, int level, const struct plan *n, const char *title)
{
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    for (int i = 0; i < n->sort_count; i++) {
        if (i) text_buffer_puts(&t, ", ");
        struct text_buffer one;
        text_buffer_open(&one, x->arena);
        column_name(x, n->left, n->sort[i].column, &one);
        bool plain = one.length && strspn(one.bytes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.\"") == one.length;
        text_buffer_printf(&t, plain || one.bytes[0] == '(' ? "%s" : "(%s)", one.bytes);
        if (n->sort[i].descending) text_buffer_puts(&t, " DESC");
        if (n->sort[i].descending && !n->sort[i].nulls_first) text_buffer_puts(&t, " NULLS LAST");
        if (!n->sort[i].descending && n->sort[i].nulls_first) text_buffer_puts(&t, " NULLS FIRST");
    }
    if (n->sort_count) detail(x, level, title, t.bytes);
}

static void index_condition(struct explaining *x, int level, const struct plan *n, const struct index *index, const struct index_bound *b)
{
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    int parts = 0;
    for (int i = 0; i <= b->equal_count; i++) {
        if (i >= index->column_count) break;
        struct text_buffer name;
        text_buffer_open(&name, x->arena);
        if (index->columns[i].column) qualified(x, NULL, n->table->columns[index->columns[i].column - 1].name, &name);
        else text_buffer_puts(&name, index->columns[i].expr_text ? index->columns[i].expr_text : "?");
        const struct { const char *op; const struct scalar *s; } list[4] = {
            { "=", i < b->equal_count ? b->equal[i] : NULL },
            { b->low_inclusive ? ">=" : ">", i == b->equal_count ? b->low : NULL },
            { b->high_inclusive ? "<=" : "<", i == b->equal_count ? b->high : NULL },
            { "= ANY", i == b->equal_count ? b->any_array : NULL } };
        for (int k = 0; k < 4; k++) {
            if (!list[k].s) continue;
            text_buffer_printf(&t, "%s(%s %s ", parts++ ? " AND " : "", name.bytes, list[k].op);
            if (k == 3) text_buffer_putc(&t, '(');
            expression(x, n, list[k].s, &t);
            text_buffer_puts(&t, k == 3 ? "))" : ")");
        }
        if (i == b->equal_count && b->null_test) text_buffer_printf(&t, "%s(%s IS NULL)", parts++ ? " AND " : "", name.bytes);
    }
    if (parts) detail(x, level, "Index Cond", parts > 1 ? arena_printf(x->arena, "(%s)", t.bytes) : t.bytes);
}

/* What a bitmap says, as one expression. */
static void bitmap_text(struct explaining *x, const struct plan *n, const struct bitmap *b, struct text_buffer *t)
{
    if (b->kind == BITMAP_INDEX) {
        if (b->condition) expression(x, n, b->condition, t);
        else text_buffer_puts(t, "true");
        return;
    }
    text_buffer_putc(t, '(');
    for (int i = 0; i < b->count; i++) {
        if (i) text_buffer_puts(t, b->kind == BITMAP_AND ? " AND " : " OR ");
        bitmap_text(x, n, b->parts[i], t);
    }
    text_buffer_putc(t, ')');
}

/* Is a part of the scan's condition said by the bitmap? */
static bool bitmap_says(const struct bitmap *b, const struct scalar *s)
{
    if (b->kind == BITMAP_AND) {
        for (int i = 0; i < b->count; i++)
            if (bitmap_says(b->parts[i], s)) return true;
        return false;
    }
    if (b->kind == BITMAP_INDEX) {
        if (!b->condition) return false;
        if (b->condition->kind != SCALAR_AND) return scalar_equal(b->condition, s);
        for (int i = 0; i < b->condition->arg_count; i++)
            if (scalar_equal(b->condition->args[i], s)) return true;
        return false;
    }
    if (s->kind != SCALAR_OR || s->arg_count != b->count) return false;
    for (int i = 0; i < b->count; i++) {
        const struct scalar *arm = s->args[i];
        for (int k = 0; k < (arm->kind == SCALAR_AND ? arm->arg_count : 1); k++)
            if (!bitmap_says(b->parts[i], arm->kind == SCALAR_AND ? arm->args[k] : arm)) return false;
    }
    return true;
}

static void bitmap_details(struct explaining *x, int level, const struct plan *n)
{
    struct text_buffer t;
    bool prefix = x->prefix;
    x->prefix = false;
    text_buffer_open(&t, x->arena);
    bitmap_text(x, n, n->bitmap, &t);
    detail(x, level, "Recheck Cond", t.bytes);
    struct scalar *parts[64];
    int count = 0, all = !n->filter ? 0 : n->filter->kind == SCALAR_AND ? n->filter->arg_count : 1;
    for (int i = 0; i < all && count < 64; i++) {
        struct scalar *s = n->filter->kind == SCALAR_AND ? n->filter->args[i] : n->filter;
        if (!bitmap_says(n->bitmap, s)) parts[count++] = s;
    }
    x->prefix = prefix;
    if (count) detail_expression(x, level, n, "Filter", scalar_and(x->arena, parts, (uint32_t)count));
}

static void show_bitmap(struct explaining *x, int level, const struct plan *n, const struct bitmap *b)
{
    struct plan shown = { .id = UINT16_MAX, .rows = b->kind == BITMAP_INDEX ? b->rows : 0, .startup_cost = b->kind == BITMAP_INDEX ? 0 : b->cost, .total_cost = b->cost };
    const struct exec_counters *counters = x->counters;
    x->counters = NULL;                  /* not counted on its own */
    label(x, level, &shown, b->kind == BITMAP_INDEX ? arena_printf(x->arena, "Bitmap Index Scan on %s", quote_identifier(x->arena, b->index->name)) : b->kind == BITMAP_AND ? "BitmapAnd" : "BitmapOr");
    x->counters = counters;
    bool prefix = x->prefix;
    x->prefix = false;
    if (b->kind == BITMAP_INDEX) index_condition(x, level, n, b->index, &b->bound);
    x->prefix = prefix;
    for (int i = 0; i < b->count; i++) show_bitmap(x, level + 1, n, b->parts[i]);
}

static void output_line(struct explaining *x, int level, const struct plan *n)
{
    if (!x->options->verbose || !n->column_count || n->kind == PLAN_MODIFY) return;
    struct text_buffer t;
    text_buffer_open(&t, x->arena);
    for (int i = 0; i < n->column_count; i++) {
        if (i) text_buffer_puts(&t, ", ");
        column_name(x, n, (uint16_t)i, &t);
    }
    detail(x, level, "Output", t.bytes);
}

static const char *join_word(enum plan_join j, bool hash)
{
    switch (j) {
    case PLAN_LEFT: return hash ? "Hash Left Join" : "Nested Loop Left Join";
    case PLAN_RIGHT: return hash ? "Hash Right Join" : "Nested Loop Right Join";
    case PLAN_FULL: return hash ? "Hash Full Join" : "Nested Loop Full Join";
    case PLAN_RIGHT_SEMI: return "Hash Right Semi Join";
    case PLAN_RIGHT_ANTI: return "Hash Right Anti Join";
    case PLAN_SEMI: return hash ? "Hash Semi Join" : "Nested Loop Semi Join";
    case PLAN_ANTI: case PLAN_ANTI_NULL: return hash ? "Hash Anti Join" : "Nested Loop Anti Join";
    default: return hash ? "Hash Join" : "Nested Loop";
    }
}

static void removed(struct explaining *x, int level, const struct plan *n, const char *what)
{
    const struct node_counters *c = x->options->analyze ? counters_of(x, n) : NULL;
    if (c && c->loops && c->filtered) add_line(x, arena_printf(x->arena, "%*s%s: %.0f", level * 6 + 2 + x->indent, "", what, (double)c->filtered / (double)c->loops));
}

static void show(struct explaining *x, const struct plan *n, int level, bool gathered);

static void show_subplans(struct explaining *x, int level, int from, bool inits)
{
    for (int i = from; i < x->subplan_count; i++) {
        if (x->initplan[i] != inits || x->shown[i]) continue;
        const struct plan *plan = x->subplans[i];
        x->shown[i] = true;
        const char *title = x->initplan[i] ? arena_printf(x->arena, "InitPlan %d (returns $%d)", i + 1, i) : arena_printf(x->arena, "SubPlan %d", i + 1);
        add_line(x, arena_printf(x->arena, "%*s%s", level * 6 + 2 + x->indent, "", title));
        x->indent += 2;
        show(x, plan, level + 1, false);
        x->indent -= 2;
    }
}

static bool is_sink(const struct plan *n) { return n->kind == PLAN_AGGREGATE || n->kind == PLAN_SORT || n->kind == PLAN_TOP_N; }

static void gather(struct explaining *x, const struct plan *n, int level, bool merge)
{
    label(x, level, n, merge ? "Gather Merge" : "Gather");
    add_line(x, arena_printf(x->arena, "%*sWorkers Planned: %d", level * 6 + 2 + x->indent, "", n->workers_planned));
    const struct node_counters *c = x->options->analyze ? counters_of(x, n) : NULL;
    if (c) add_line(x, arena_printf(x->arena, "%*sWorkers Launched: %d", level * 6 + 2 + x->indent, "", c->workers_launched));
}

static void show(struct explaining *x, const struct plan *n, int level, bool gathered)
{
    const struct plan *top = n, *filters[8];
    int filter_count = 0;
    /* nodes that PostgreSQL doesn't have */
    while (n->kind == PLAN_PROJECT || n->kind == PLAN_FILTER) {
        if (n->kind == PLAN_FILTER && filter_count < 8) filters[filter_count++] = n;
        n = n->left;
    }
    if (n->workers_planned && !gathered && n->kind != PLAN_LIMIT) {
        if (n->kind == PLAN_AGGREGATE) {
            label(x, level, top, n->group_count ? "Finalize HashAggregate" : "Finalize Aggregate");
            if (n->group_count) {
                struct text_buffer t;
                text_buffer_open(&t, x->arena);
                for (int i = 0; i < n->group_count; i++) {
                    if (i) text_buffer_puts(&t, ", ");
                    expression(x, n, n->groups[i], &t);
                }
                detail(x, level, "Group Key", t.bytes);
            }
            for (int i = 0; i < filter_count; i++) {
                detail_expression(x, level, filters[i], "Filter", filters[i]->filter);
                removed(x, level, filters[i], "Rows Removed by Filter");
            }
            gather(x, n, level + 1, false);
            show(x, n, level + 2, true);
            return;
        }
        gather(x, n, level, is_sink(n));
        show(x, top, level + 1, true);
        return;
    }
    bool partial = gathered && n->kind == PLAN_AGGREGATE;
    bool parallel_scan = n->workers_planned && n->kind == PLAN_SEQ_SCAN;
    if (partial) {
        top = n;
        filter_count = 0;
    }
    const struct plan *inner = n;
    int before = x->subplan_count;
    bool below_gathered = gathered;
    switch (n->kind) {
    case PLAN_RESULT: label(x, level, top, "Result"); break;
    case PLAN_VALUES: label(x, level, top, "Values Scan on \"*VALUES*\""); break;
    case PLAN_SEQ_SCAN: label(x, level, top, arena_printf(x->arena, "%sSeq Scan on %s", parallel_scan ? "Parallel " : "", relation(x, n))); break;
    case PLAN_BITMAP_SCAN: label(x, level, top, arena_printf(x->arena, "%sBitmap Heap Scan on %s", n->workers_planned ? "Parallel " : "", relation(x, n))); break;
    case PLAN_VIRTUAL_SCAN: label(x, level, top, arena_printf(x->arena, "Seq Scan on %s", relation(x, n))); break;
    case PLAN_INDEX_SCAN:
        label(x, level, top, arena_printf(x->arena, "Index Scan %susing %s on %s", n->backward ? "Backward " : "", quote_identifier(x->arena, n->index->name), relation(x, n)));
        break;
    case PLAN_FUNCTION_SCAN: {
        const char *alias = n->alias && strcmp(n->alias, n->set_function->name) != 0 ? arena_printf(x->arena, " %s", quote_identifier(x->arena, n->alias)) : "";
        label(x, level, top, arena_printf(x->arena, "Function Scan on %s%s", n->set_function->name, alias));
        break;
    }
    case PLAN_CTE_SCAN: label(x, level, top, arena_printf(x->arena, "%s on %s", n->working_table ? "WorkTable Scan" : "CTE Scan", quote_identifier(x->arena, n->alias))); break;
    case PLAN_HASH_JOIN: case PLAN_NESTED_LOOP: label(x, level, top, join_word(n->join, n->kind == PLAN_HASH_JOIN)); break;
    case PLAN_AGGREGATE: label(x, level, top, arena_printf(x->arena, "%s%s", partial ? "Partial " : "", n->set_count ? "MixedAggregate" : n->group_count ? "HashAggregate" : "Aggregate")); break;
    case PLAN_WINDOW: label(x, level, top, "WindowAgg"); break;
    case PLAN_SORT: label(x, level, top, "Sort"); break;
    case PLAN_TOP_N: label(x, level, top, "Limit"); break;
    case PLAN_LIMIT: label(x, level, top, "Limit"); break;
    case PLAN_DISTINCT_ON: label(x, level, top, "Unique"); break;
    case PLAN_APPEND: label(x, level, top, "Append"); break;
    case PLAN_SET_OP: label(x, level, top, arena_printf(x->arena, "HashSetOp %s%s", n->set_operation == SET_INTERSECT ? "Intersect" : "Except", n->set_all ? " All" : "")); break;
    case PLAN_RECURSIVE_UNION: label(x, level, top, "Recursive Union"); break;
    case PLAN_PROJECT_SET: label(x, level, top, "ProjectSet"); break;
    case PLAN_LOCK_ROWS: label(x, level, top, "LockRows"); break;
    case PLAN_MODIFY: label(x, level, top, arena_printf(x->arena, "%s on %s", n->modify == MODIFY_INSERT ? "Insert" : n->modify == MODIFY_UPDATE ? "Update" : "Delete", relation(x, n))); break;
    default: label(x, level, top, "?");
    }
    output_line(x, level, top);
    if (n->kind == PLAN_INDEX_SCAN) index_condition(x, level, n, n->index, &n->bound);
    if (n->kind == PLAN_BITMAP_SCAN) {
        bitmap_details(x, level, n);
        removed(x, level, n, "Rows Removed by Filter");
    }
    if (n->kind == PLAN_HASH_JOIN) {
        struct text_buffer t;
        /* keys read each side's own output: their names are looked up as a node above that side would */
        struct plan above_left = { .kind = PLAN_LIMIT, .left = n->left }, above_right = { .kind = PLAN_LIMIT, .left = n->right };
        text_buffer_open(&t, x->arena);
        for (int i = 0; i < n->key_count; i++) {
            text_buffer_printf(&t, "%s(", i ? " AND " : "");
            expression(x, &above_left, n->left_keys[i], &t);
            text_buffer_puts(&t, " = ");
            expression(x, &above_right, n->right_keys[i], &t);
            text_buffer_putc(&t, ')');
        }
        detail(x, level, "Hash Cond", n->key_count > 1 ? arena_printf(x->arena, "(%s)", t.bytes) : t.bytes);
    }
    if (n->kind == PLAN_AGGREGATE && n->group_count && !n->set_count) {
        struct text_buffer t;
        text_buffer_open(&t, x->arena);
        for (int i = 0; i < n->group_count; i++) {
            if (i) text_buffer_puts(&t, ", ");
            expression(x, n, n->groups[i], &t);
        }
        detail(x, level, "Group Key", t.bytes);
    }
    for (int k = 0; n->kind == PLAN_AGGREGATE && k < n->set_count; k++) {
        struct text_buffer t;
        text_buffer_open(&t, x->arena);
        for (int i = n->sets_offsets[k]; i < n->sets_offsets[k + 1]; i++) {
            if (i > n->sets_offsets[k]) text_buffer_puts(&t, ", ");
            expression(x, n, n->groups[n->sets[i]], &t);
        }
        detail(x, level, n->sets_offsets[k] == n->sets_offsets[k + 1] ? "Group Key" : "Hash Key", t.length ? t.bytes : "()");
    }
    if (n->kind == PLAN_SORT) sort_keys(x, level, n, "Sort Key");
    if (n->kind == PLAN_HASH_JOIN || n->kind == PLAN_NESTED_LOOP) {
        detail_expression(x, level, n, "Join Filter", n->filter);
        if (n->filter) removed(x, level, n, "Rows Removed by Join Filter");
    } else if (n->kind == PLAN_RESULT)
        detail_expression(x, level, n, "One-Time Filter", n->filter);
    else if (n->kind != PLAN_AGGREGATE && n->kind != PLAN_BITMAP_SCAN && n->filter) {
        detail_expression(x, level, n, "Filter", n->filter);
        removed(x, level, n, "Rows Removed by Filter");
    }
    for (int i = 0; i < filter_count; i++) {
        detail_expression(x, level, filters[i], "Filter", filters[i]->filter);
        removed(x, level, filters[i], "Rows Removed by Filter");
    }
    const struct node_counters *c = x->options->analyze ? counters_of(x, inner) : NULL;
    if (c && c->memory_bytes && n->kind == PLAN_SORT)
        add_line(x, arena_printf(x->arena, "%*sSort Method: %s  %s: %llukB", level * 6 + 2 + x->indent, "", c->spilled_bytes ? "external merge" : "quicksort", c->spilled_bytes ? "Disk" : "Memory",
                                 (unsigned long long)((c->spilled_bytes ? c->spilled_bytes : c->memory_bytes) + 1023) / 1024));
    /* subqueries in the select list of this node show too */
    for (const struct plan *e = top; e != n; e = e->left)
        for (int i = 0; e->kind == PLAN_PROJECT && i < e->column_count; i++) {
            struct text_buffer t;
            text_buffer_open(&t, x->arena);
            expression(x, e, e->exprs[i], &t);
        }
    if (n->exprs && (n->kind == PLAN_RESULT || n->kind == PLAN_PROJECT_SET))
        for (int i = 0; i < n->column_count; i++) {
            struct text_buffer t;
            text_buffer_open(&t, x->arena);
            expression(x, n, n->exprs[i], &t);
        }
    if (level == 0)
        for (int i = 0; i < x->plan->cte_count; i++) {
            if (!x->plan->ctes[i]) continue;
            add_line(x, arena_printf(x->arena, "  CTE %s", quote_identifier(x->arena, x->plan->cte_names[i])));
            x->indent += 2;
            show(x, x->plan->ctes[i], 1, false);
            x->indent -= 2;
        }
    show_subplans(x, level, before, true);
    switch (n->kind) {
    case PLAN_HASH_JOIN:
        show(x, n->left, level + 1, below_gathered);
        label(x, level + 1, n->right, "Hash");
        show(x, n->right, level + 2, false);
        break;
    case PLAN_NESTED_LOOP:
        for (int i = 0; i < n->outer_count; i++) {
            struct plan *above = arena_new(x->arena, struct plan);
            above->kind = PLAN_LIMIT;
            above->left = n->left;
            if (n->outer_slots[i] >= 512) continue;
            x->slots[n->outer_slots[i]].node = above;
            x->slots[n->outer_slots[i]].value = n->outer_values[i];
        }
        show(x, n->left, level + 1, below_gathered);
        show(x, n->right, level + 1, below_gathered);
        break;
    case PLAN_TOP_N: {
        label(x, level + 1, n, "Sort");
        sort_keys(x, level + 1, n, "Sort Key");
        show(x, n->left, level + 2, below_gathered);
        break;
    }
    case PLAN_BITMAP_SCAN: show_bitmap(x, level + 1, n, n->bitmap); break;
    case PLAN_APPEND:
        for (int i = 0; i < n->child_count; i++) show(x, n->children[i], level + 1, false);
        break;
    default:
        if (n->left) show(x, n->left, level + 1, below_gathered);
        if (n->right) show(x, n->right, level + 1, below_gathered);
    }
    show_subplans(x, level, before, false);
}

static int count_relations(const struct plan *n)
{
    if (!n) return 0;
    int c = n->kind == PLAN_SEQ_SCAN || n->kind == PLAN_INDEX_SCAN || n->kind == PLAN_BITMAP_SCAN || n->kind == PLAN_VIRTUAL_SCAN || n->kind == PLAN_FUNCTION_SCAN || n->kind == PLAN_CTE_SCAN;
    for (int i = 0; i < n->child_count; i++) c += count_relations(n->children[i]);
    return c + count_relations(n->left) + count_relations(n->right);
}

enum status explain_plan(const struct prepared_plan *plan, const struct explain_options *options, const struct exec_counters *counters, struct arena *arena, char ***lines, int *line_count)
{
    if (options->format != 0) return error_set(STATUS_FEATURE_NOT_SUPPORTED, "EXPLAIN formats other than TEXT are not supported");
    struct explaining *x = arena_new(arena, struct explaining);
    x->arena = arena;
    x->plan = plan;
    x->options = options;
    x->counters = counters;
    x->prefix = count_relations(plan->root) > 1;
    show(x, plan->root, 0, false);
    if (options->summary) add_line(x, arena_printf(arena, "Planning Time: %.3f ms", (double)options->planning_us / 1000));
    if (options->analyze && counters && options->summary) add_line(x, arena_printf(arena, "Execution Time: %.3f ms", (double)counters->run_us / 1000));
    *lines = x->lines;
    *line_count = x->count;
    return STATUS_OK;
}
