/* engine/plan/explain_expr.c - expressions of a plan as SQL, spelled as PostgreSQL spells them.
 *
 * Columns are numbers in a plan; their names are found by following them down to the scan that hands them out. */
#include <math.h>
#include <string.h>

#include "engine/plan/explain.h"

/* ---- names of columns ---- */

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
    case PLAN_HASH_JOIN: case PLAN_MERGE_JOIN: case PLAN_NESTED_LOOP:
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
        explain_column(x, node, column, t);
        return;
    case PLAN_HASH_JOIN: case PLAN_MERGE_JOIN: case PLAN_NESTED_LOOP:
        if (column < node->left->column_count) explain_column(x, node->left, column, t);
        else explain_column(x, node->right, (uint16_t)(column - node->left->column_count), t);
        return;
    default:
        if (node->left) explain_column(x, node->left, column, t);
        else text_buffer_printf(t, "column%d", column + 1);
    }
}

void explain_qualified(struct explaining *x, const char *alias, const char *name, struct text_buffer *t)
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
        explain_expression(x, node, a->args[i], t);
    }
    for (int i = 0; i < a->sort_count; i++) {
        text_buffer_puts(t, i ? ", " : " ORDER BY ");
        explain_expression(x, node, a->args[a->sort[i].column], t);
        if (a->sort[i].descending) text_buffer_puts(t, " DESC");
    }
    text_buffer_putc(t, ')');
    if (a->filter) {
        text_buffer_puts(t, " FILTER (WHERE ");
        explain_expression(x, node, a->filter, t);
        text_buffer_putc(t, ')');
    }
}

void explain_column(struct explaining *x, const struct plan *node, uint16_t column, struct text_buffer *t)
{
    if (++x->depth > 200) {
        text_buffer_puts(t, "...");
        x->depth--;
        return;
    }
    switch (node->kind) {
    case PLAN_SEQ_SCAN: case PLAN_INDEX_SCAN: case PLAN_BITMAP_SCAN: case PLAN_VIRTUAL_SCAN:
        if (node->columns[column] == 0xFFFF) explain_qualified(x, node->alias, "ctid", t);
        else explain_qualified(x, node->alias, node->table->columns[node->columns[column]].name, t);
        break;
    case PLAN_FUNCTION_SCAN: case PLAN_CTE_SCAN:
        explain_qualified(x, node->alias, node->names && column < node->column_count ? node->names[column] : "?", t);
        break;
    case PLAN_HASH_JOIN: case PLAN_MERGE_JOIN: case PLAN_NESTED_LOOP:
        input_name(x, node, node->outputs[column], t);
        break;
    case PLAN_PROJECT: case PLAN_PROJECT_SET: case PLAN_RESULT:
        explain_expression(x, node, node->exprs[column], t);
        break;
    case PLAN_AGGREGATE:
        if (column < node->group_count) explain_expression(x, node, node->groups[column], t);
        else aggregate_text(x, node, &node->aggregates[column - node->group_count], t);
        break;
    case PLAN_WINDOW: {
        uint16_t base = node->left->column_count;
        if (column < base) explain_column(x, node->left, column, t);
        else {
            const struct window_item *w = &node->windows[column - base];
            text_buffer_printf(t, "%s(", w->function ? w->function->name : w->aggregate->function->name);
            for (int i = 0; i < w->arg_count; i++) {
                if (i) text_buffer_puts(t, ", ");
                explain_expression(x, node, w->args[i], t);
            }
            text_buffer_puts(t, ") OVER (?)");
        }
        break;
    }
    case PLAN_APPEND:
        explain_column(x, node->children[0], column, t);
        break;
    case PLAN_VALUES:
        text_buffer_printf(t, "\"*VALUES*\".column%d", column + 1);
        break;
    case PLAN_MODIFY:
        text_buffer_printf(t, "column%d", column + 1);
        break;
    default:
        if (node->left) explain_column(x, node->left, column, t);
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
        explain_expression(x, node, args[i], t);
    }
}

/* IN list of constants as PostgreSQL shows it: = ANY ('{1,2}'::integer[]). */
static void in_list(struct explaining *x, const struct plan *node, const struct scalar *s, struct text_buffer *t)
{
    bool constants = true;
    for (int i = 1; i < s->arg_count; i++) constants &= s->args[i]->kind == SCALAR_CONST;
    text_buffer_putc(t, '(');
    explain_expression(x, node, s->args[0], t);
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

void explain_expression(struct explaining *x, const struct plan *node, const struct scalar *s, struct text_buffer *t)
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
            explain_expression(x, x->slots[s->parameter].node, x->slots[s->parameter].value, t);
            x->prefix = prefix;
        } else text_buffer_printf(t, "$%d", s->parameter);
        break;
    case SCALAR_CALL:
        if (s->form == CALL_OPERATOR && s->operator) {
            text_buffer_putc(t, '(');
            if (s->arg_count == 2) {
                explain_expression(x, node, s->args[0], t);
                text_buffer_printf(t, " %s ", s->operator->name);
                explain_expression(x, node, s->args[1], t);
            } else {
                text_buffer_printf(t, "%s ", s->operator->name);
                explain_expression(x, node, s->args[0], t);
            }
            text_buffer_putc(t, ')');
        } else if ((s->form == CALL_CAST || s->form == CALL_CAST_IMPLICIT) && s->arg_count >= 1) {
            text_buffer_putc(t, '(');
            explain_expression(x, node, s->args[0], t);
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
            explain_expression(x, node, s->args[i], t);
        }
        text_buffer_putc(t, ')');
        break;
    case SCALAR_NOT:
        text_buffer_puts(t, "(NOT ");
        explain_expression(x, node, s->args[0], t);
        text_buffer_putc(t, ')');
        break;
    case SCALAR_CASE:
        text_buffer_puts(t, "CASE");
        for (int i = 0; i + 1 < s->arg_count; i += 2) {
            text_buffer_puts(t, " WHEN ");
            explain_expression(x, node, s->args[i], t);
            text_buffer_puts(t, " THEN ");
            explain_expression(x, node, s->args[i + 1], t);
        }
        if (s->case_.has_else) {
            text_buffer_puts(t, " ELSE ");
            explain_expression(x, node, s->args[s->arg_count - 1], t);
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
        explain_expression(x, node, s->args[0], t);
        text_buffer_puts(t, s->kind == SCALAR_IS_NULL ? " IS NULL)" : " IS NOT NULL)");
        break;
    case SCALAR_IS_BOOL: {
        static const char *const words[] = { [IS_TRUE] = "TRUE", [IS_NOT_TRUE] = "NOT TRUE", [IS_FALSE] = "FALSE", [IS_NOT_FALSE] = "NOT FALSE" };
        text_buffer_putc(t, '(');
        explain_expression(x, node, s->args[0], t);
        text_buffer_printf(t, " IS %s)", words[s->test]);
        break;
    }
    case SCALAR_DISTINCT:
        text_buffer_putc(t, '(');
        explain_expression(x, node, s->args[0], t);
        text_buffer_puts(t, s->in.negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ");
        explain_expression(x, node, s->args[1], t);
        text_buffer_putc(t, ')');
        break;
    case SCALAR_IN_LIST: in_list(x, node, s, t); break;
    case SCALAR_ANY_ARRAY:
        text_buffer_putc(t, '(');
        explain_expression(x, node, s->args[0], t);
        text_buffer_printf(t, " %s %s (", s->operator ? s->operator->name : "=", s->any.all ? "ALL" : "ANY");
        explain_expression(x, node, s->args[1], t);
        text_buffer_puts(t, "))");
        break;
    case SCALAR_ARRAY:
        text_buffer_puts(t, "ARRAY[");
        arg_list(x, node, s->args, s->arg_count, t);
        text_buffer_putc(t, ']');
        break;
    case SCALAR_SUBSCRIPT:
        text_buffer_putc(t, '(');
        explain_expression(x, node, s->args[0], t);
        text_buffer_puts(t, ")[");
        explain_expression(x, node, s->args[1], t);
        if (s->arg_count == 3) {
            text_buffer_putc(t, ':');
            explain_expression(x, node, s->args[2], t);
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
