/* parser/deparse.c - expressions and queries back to SQL text.
 *
 * Every operator stands in parentheses, as pg_get_expr() prints it, so that reading the text again needs no table of
 * precedence to give the same meaning. Some forms are printed as what they mean, as PostgreSQL does: BETWEEN as two
 * comparisons, LIKE as ~~, IN over numbers as = ANY (ARRAY[...]), negative numbers as '-1'::integer. What would need
 * types isn't done: a string literal gets no ::text.
 *
 * Operator chains lean left and can be long: their spine is walked by a loop. */
#include "parser/internal.h"

#include <ctype.h>
#include <string.h>

static void put_expr(struct text_buffer *, const struct expr *);
static void put_select(struct text_buffer *, const struct select *);

/* ---- names and literals ---- */

char *quote_identifier(struct arena *arena, const char *name)
{
    bool plain = (name[0] >= 'a' && name[0] <= 'z') || name[0] == '_';
    size_t quotes = 0, length = strlen(name);

    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
            plain = false;
        quotes += c == '"';
    }
    if (plain) {
        enum keyword keyword = keyword_find(name, length);
        if (keyword == NO_KEYWORD || keyword_table[keyword].class == CLASS_UNRESERVED)
            return arena_strdup(arena, name);
    }
    char *quoted = arena_alloc(arena, length + quotes + 3), *out = quoted;
    *out++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"')
            *out++ = '"';
        *out++ = name[i];
    }
    *out++ = '"';
    *out = '\0';
    return quoted;
}

static void put_name(struct text_buffer *out, const char *name)
{
    text_buffer_puts(out, quote_identifier(out->arena, name));
}

static void put_qualified(struct text_buffer *out, const char *schema, const char *name)
{
    if (schema && strcmp(schema, "pg_catalog") != 0) {
        put_name(out, schema);
        text_buffer_putc(out, '.');
    }
    put_name(out, name);
}

static void put_names(struct text_buffer *out, const struct name_list *names)
{
    for (int i = 0; i < names->count; i++) {
        if (i)
            text_buffer_puts(out, ", ");
        put_name(out, names->items[i]);
    }
}

/* A backslash makes it an E'' string, as PostgreSQL's quote_literal() does. */
static void put_string(struct text_buffer *out, const char *text)
{
    if (strchr(text, '\\'))
        text_buffer_putc(out, 'E');
    text_buffer_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            text_buffer_putc(out, *text);
        text_buffer_putc(out, *text);
    }
    text_buffer_putc(out, '\'');
}

char *quote_literal(struct arena *arena, const char *text)
{
    struct text_buffer out;
    text_buffer_open(&out, arena);
    put_string(&out, text);
    return out.bytes;
}

static void put_literal(struct text_buffer *out, const struct expr *expr)
{
    switch (expr->literal.kind) {
    case LITERAL_NULL: text_buffer_puts(out, "NULL"); break;
    case LITERAL_BOOLEAN: text_buffer_puts(out, expr->literal.boolean ? "true" : "false"); break;
    case LITERAL_INTEGER:
        if (expr->literal.integer > INT32_MAX || expr->literal.integer < INT32_MIN)
            text_buffer_printf(out, "'%lld'::bigint", (long long)expr->literal.integer);
        else if (expr->literal.integer < 0)
            text_buffer_printf(out, "'%lld'::integer", (long long)expr->literal.integer);
        else
            text_buffer_printf(out, "%lld", (long long)expr->literal.integer);
        break;
    case LITERAL_NUMERIC:
        if (expr->literal.text[0] == '-')
            text_buffer_printf(out, "'%s'::numeric", expr->literal.text);
        else
            text_buffer_puts(out, expr->literal.text);
        break;
    case LITERAL_STRING: put_string(out, expr->literal.text); break;
    case LITERAL_BITS: text_buffer_printf(out, "B'%s'", expr->literal.text); break;
    case LITERAL_HEX: text_buffer_printf(out, "X'%s'", expr->literal.text); break;
    }
}

/* ---- types ---- */

static const char *const fields_text[] = {
    [FIELDS_ANY] = "", [FIELDS_YEAR] = " year", [FIELDS_MONTH] = " month", [FIELDS_DAY] = " day",
    [FIELDS_HOUR] = " hour", [FIELDS_MINUTE] = " minute", [FIELDS_SECOND] = " second",
    [FIELDS_YEAR_TO_MONTH] = " year to month", [FIELDS_DAY_TO_HOUR] = " day to hour",
    [FIELDS_DAY_TO_MINUTE] = " day to minute", [FIELDS_DAY_TO_SECOND] = " day to second",
    [FIELDS_HOUR_TO_MINUTE] = " hour to minute", [FIELDS_HOUR_TO_SECOND] = " hour to second",
    [FIELDS_MINUTE_TO_SECOND] = " minute to second"};

static void put_modifiers(struct text_buffer *out, const struct type_name *type)
{
    if (type->modifiers.count == 0)
        return;
    text_buffer_putc(out, '(');
    for (int i = 0; i < type->modifiers.count; i++) {
        const struct expr *modifier = type->modifiers.items[i];
        if (i)
            text_buffer_putc(out, ',');
        if (modifier->kind == EXPR_LITERAL && modifier->literal.kind == LITERAL_INTEGER)
            text_buffer_puts(out, modifier->literal.text);
        else
            put_expr(out, modifier);
    }
    text_buffer_putc(out, ')');
}

static void put_type(struct text_buffer *out, const struct type_name *type)
{
    static const struct { const char *name, *before, *after; } spelled[] = {
        {"int2", "smallint", ""}, {"int4", "integer", ""}, {"int8", "bigint", ""}, {"float4", "real", ""},
        {"float8", "double precision", ""}, {"bool", "boolean", ""}, {"varchar", "character varying", ""},
        {"varbit", "bit varying", ""}, {"timestamp", "timestamp", " without time zone"},
        {"timestamptz", "timestamp", " with time zone"}, {"time", "time", " without time zone"},
        {"timetz", "time", " with time zone"}, {"numeric", "numeric", ""}, {"bit", "bit", ""}};
    bool system = !type->schema || strcmp(type->schema, "pg_catalog") == 0;

    if (type->is_setof)
        text_buffer_puts(out, "SETOF ");
    size_t i = 0, count = sizeof spelled / sizeof *spelled;
    while (system && i < count && strcmp(type->name, spelled[i].name) != 0)
        i++;
    if (system && i < count) {
        text_buffer_puts(out, spelled[i].before);
        put_modifiers(out, type);
        text_buffer_puts(out, spelled[i].after);
    } else if (system && strcmp(type->name, "bpchar") == 0 && type->modifiers.count) {
        text_buffer_puts(out, "character");
        put_modifiers(out, type);
    } else if (system && strcmp(type->name, "interval") == 0) {
        text_buffer_puts(out, "interval");
        text_buffer_puts(out, fields_text[type->fields]);
        put_modifiers(out, type);
    } else {
        if (type->schema && !system) {
            put_name(out, type->schema);
            text_buffer_putc(out, '.');
        }
        if (system && strcmp(type->name, "char") == 0)
            text_buffer_puts(out, "\"char\"");
        else
            put_name(out, type->name);
        put_modifiers(out, type);
    }
    for (int d = 0; d < type->dimensions; d++)
        text_buffer_puts(out, "[]");
}

char *deparse_type(struct arena *arena, const struct type_name *type)
{
    struct text_buffer out;
    text_buffer_open(&out, arena);
    put_type(&out, type);
    return out.bytes;
}

/* ---- pieces ---- */

static void put_list(struct text_buffer *out, const struct expr_list *list)
{
    for (int i = 0; i < list->count; i++) {
        if (i)
            text_buffer_puts(out, ", ");
        put_expr(out, list->items[i]);
    }
}

static void put_operator(struct text_buffer *out, const char *schema, const char *name)
{
    if (schema && strcmp(schema, "pg_catalog") != 0) {
        text_buffer_puts(out, "OPERATOR(");
        put_name(out, schema);
        text_buffer_printf(out, ".%s)", name);
    } else {
        text_buffer_puts(out, name);
    }
}

static void put_sort(struct text_buffer *out, const struct sort_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct sort_key *key = list->items[i];
        if (i)
            text_buffer_puts(out, ", ");
        put_expr(out, key->expr);
        if (key->direction == SORT_USING) {
            text_buffer_puts(out, " USING ");
            put_operator(out, key->using_schema, key->using_operator);
        } else if (key->direction == SORT_DESC) {
            text_buffer_puts(out, " DESC");
        }
        if (key->nulls)
            text_buffer_puts(out, key->nulls == NULLS_FIRST ? " NULLS FIRST" : " NULLS LAST");
    }
}

static void put_subquery(struct text_buffer *out, const struct select *select)
{
    text_buffer_puts(out, "( ");
    put_select(out, select);
    text_buffer_putc(out, ')');
}

static void put_bound(struct text_buffer *out, enum frame_bound bound, const struct expr *offset)
{
    switch (bound) {
    case BOUND_UNBOUNDED_PRECEDING: text_buffer_puts(out, "UNBOUNDED PRECEDING"); break;
    case BOUND_UNBOUNDED_FOLLOWING: text_buffer_puts(out, "UNBOUNDED FOLLOWING"); break;
    case BOUND_CURRENT_ROW: text_buffer_puts(out, "CURRENT ROW"); break;
    case BOUND_PRECEDING:
    case BOUND_FOLLOWING:
        put_expr(out, offset);
        text_buffer_puts(out, bound == BOUND_PRECEDING ? " PRECEDING" : " FOLLOWING");
        break;
    }
}

static void put_window(struct text_buffer *out, const struct window_definition *window)
{
    const char *gap = "";

    if (window->is_reference) {
        put_name(out, window->refers_to);
        return;
    }
    text_buffer_putc(out, '(');
    if (window->refers_to) {
        put_name(out, window->refers_to);
        gap = " ";
    }
    if (window->partition_by.count) {
        text_buffer_printf(out, "%sPARTITION BY ", gap);
        put_list(out, &window->partition_by);
        gap = " ";
    }
    if (window->order_by.count) {
        text_buffer_printf(out, "%sORDER BY ", gap);
        put_sort(out, &window->order_by);
        gap = " ";
    }
    if (window->has_frame) {
        static const char *const modes[] = {"RANGE", "ROWS", "GROUPS"};
        static const char *const exclusions[] = {"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"};
        text_buffer_printf(out, "%s%s BETWEEN ", gap, modes[window->mode]);
        put_bound(out, window->start, window->start_offset);
        text_buffer_puts(out, " AND ");
        put_bound(out, window->end, window->end_offset);
        text_buffer_puts(out, exclusions[window->exclusion]);
    }
    text_buffer_putc(out, ')');
}

/* The syntax SQL gives the function; false if the arguments don't fit it. */
static bool put_sql_syntax(struct text_buffer *out, const char *name, const struct expr_list *arguments)
{
    struct expr **a = arguments->items;
    int count = arguments->count;

    if (strcmp(name, "timezone") == 0 && count == 2) {
        text_buffer_putc(out, '(');
        put_expr(out, a[1]);
        text_buffer_puts(out, " AT TIME ZONE ");
        put_expr(out, a[0]);
        text_buffer_putc(out, ')');
    } else if (strcmp(name, "extract") == 0 && count == 2 && a[0]->kind == EXPR_LITERAL) {
        text_buffer_puts(out, "EXTRACT(");
        put_name(out, a[0]->literal.text);
        text_buffer_puts(out, " FROM ");
        put_expr(out, a[1]);
        text_buffer_putc(out, ')');
    } else if (strcmp(name, "position") == 0 && count == 2) {
        text_buffer_puts(out, "POSITION((");
        put_expr(out, a[1]);
        text_buffer_puts(out, ") IN (");
        put_expr(out, a[0]);
        text_buffer_puts(out, "))");
    } else if (strcmp(name, "overlay") == 0 && (count == 3 || count == 4)) {
        text_buffer_puts(out, "OVERLAY(");
        put_expr(out, a[0]);
        text_buffer_puts(out, " PLACING ");
        put_expr(out, a[1]);
        text_buffer_puts(out, " FROM ");
        put_expr(out, a[2]);
        if (count == 4) {
            text_buffer_puts(out, " FOR ");
            put_expr(out, a[3]);
        }
        text_buffer_putc(out, ')');
    } else if (strcmp(name, "substring") == 0 && (count == 2 || count == 3)) {
        text_buffer_puts(out, "SUBSTRING(");
        put_expr(out, a[0]);
        text_buffer_puts(out, " FROM ");
        put_expr(out, a[1]);
        if (count == 3) {
            text_buffer_puts(out, " FOR ");
            put_expr(out, a[2]);
        }
        text_buffer_putc(out, ')');
    } else if ((strcmp(name, "btrim") == 0 || strcmp(name, "ltrim") == 0 || strcmp(name, "rtrim") == 0) &&
               (count == 1 || count == 2)) {
        text_buffer_printf(out, "TRIM(%s", name[0] == 'b' ? "BOTH" : name[0] == 'l' ? "LEADING" : "TRAILING");
        if (count == 2) {
            text_buffer_putc(out, ' ');
            put_expr(out, a[1]);
        }
        text_buffer_puts(out, " FROM ");
        put_expr(out, a[0]);
        text_buffer_putc(out, ')');
    } else if (strcmp(name, "overlaps") == 0 && count == 4) {
        text_buffer_puts(out, "((");
        put_expr(out, a[0]);
        text_buffer_puts(out, ", ");
        put_expr(out, a[1]);
        text_buffer_puts(out, ") OVERLAPS (");
        put_expr(out, a[2]);
        text_buffer_puts(out, ", ");
        put_expr(out, a[3]);
        text_buffer_puts(out, "))");
    } else if (strcmp(name, "normalize") == 0 && count == 2 && a[1]->kind == EXPR_LITERAL) {
        text_buffer_puts(out, "NORMALIZE(");
        put_expr(out, a[0]);
        text_buffer_printf(out, ", %s)", a[1]->literal.text);
    } else if (strcmp(name, "pg_collation_for") == 0 && count == 1) {
        text_buffer_puts(out, "COLLATION FOR (");
        put_expr(out, a[0]);
        text_buffer_putc(out, ')');
    } else {
        return false;
    }
    return true;
}

static void put_function(struct text_buffer *out, const struct expr *expr)
{
    bool special = expr->function.sql_syntax &&
                   put_sql_syntax(out, expr->function.name, &expr->function.arguments);

    if (!special) {
        /* substring and its kin are spelled plainly too, but their names are keywords: quoted, as PostgreSQL does */
        const char *schema = expr->function.schema;
        enum keyword keyword = keyword_find(expr->function.name, strlen(expr->function.name));
        if (schema && strcmp(schema, "pg_catalog") != 0) {
            put_name(out, schema);
            text_buffer_putc(out, '.');
        }
        if (keyword != NO_KEYWORD && keyword_table[keyword].class == CLASS_FUNCTION_NAME)
            text_buffer_printf(out, "\"%s\"", expr->function.name);
        else
            put_name(out, expr->function.name);
        text_buffer_putc(out, '(');
        if (expr->function.star)
            text_buffer_putc(out, '*');
        if (expr->function.distinct)
            text_buffer_puts(out, "DISTINCT ");
        for (int i = 0; i < expr->function.arguments.count; i++) {
            if (i)
                text_buffer_puts(out, ", ");
            if (expr->function.variadic && i == expr->function.arguments.count - 1)
                text_buffer_puts(out, "VARIADIC ");
            if (expr->function.argument_names && expr->function.argument_names[i]) {
                put_name(out, expr->function.argument_names[i]);
                text_buffer_puts(out, " => ");
            }
            put_expr(out, expr->function.arguments.items[i]);
        }
        if (expr->function.order_by.count && !expr->function.within_group) {
            text_buffer_puts(out, " ORDER BY ");
            put_sort(out, &expr->function.order_by);
        }
        text_buffer_putc(out, ')');
    }
    if (expr->function.within_group) {
        text_buffer_puts(out, " WITHIN GROUP (ORDER BY ");
        put_sort(out, &expr->function.order_by);
        text_buffer_putc(out, ')');
    }
    if (expr->function.filter) {
        text_buffer_puts(out, " FILTER (WHERE ");
        put_expr(out, expr->function.filter);
        text_buffer_putc(out, ')');
    }
    if (expr->function.over) {
        text_buffer_puts(out, " OVER ");
        put_window(out, expr->function.over);
    }
}

/* ((a + b) + c): all opening parentheses, the leftmost operand, then each right one. */
static void put_operators(struct text_buffer *out, const struct expr *expr)
{
    int count = 0;
    const struct expr *left = expr;
    while (left->kind == EXPR_OPERATOR && left->op.left) {
        left = left->op.left;
        count++;
    }
    const struct expr **spine = arena_alloc(out->arena, (size_t)(count + 1) * sizeof *spine);
    const struct expr *node = expr;
    for (int i = 0; i < count; i++, node = node->op.left) {
        spine[i] = node;
        text_buffer_putc(out, '(');
    }
    if (left->kind == EXPR_OPERATOR) {   /* a prefix operator */
        text_buffer_putc(out, '(');
        put_operator(out, left->op.schema, left->op.name);
        text_buffer_putc(out, ' ');
        put_expr(out, left->op.right);
        text_buffer_putc(out, ')');
    } else {
        put_expr(out, left);
    }
    for (int i = count - 1; i >= 0; i--) {
        text_buffer_putc(out, ' ');
        put_operator(out, spine[i]->op.schema, spine[i]->op.name);
        text_buffer_putc(out, ' ');
        put_expr(out, spine[i]->op.right);
        text_buffer_putc(out, ')');
    }
}

static void put_junction(struct text_buffer *out, const struct expr *expr)
{
    text_buffer_putc(out, '(');
    for (int i = 0; i < expr->list.count; i++) {
        if (i)
            text_buffer_puts(out, expr->kind == EXPR_AND ? " AND " : " OR ");
        put_expr(out, expr->list.items[i]);
    }
    text_buffer_putc(out, ')');
}

static void put_binary(struct text_buffer *out, const struct expr *left, const char *op, const struct expr *right)
{
    text_buffer_putc(out, '(');
    put_expr(out, left);
    text_buffer_puts(out, op);
    put_expr(out, right);
    text_buffer_putc(out, ')');
}

static void put_between(struct text_buffer *out, const struct expr *expr)
{
    const struct expr *operand = expr->between.operand;

    if (expr->between.symmetric) {
        text_buffer_putc(out, '(');
        put_expr(out, operand);
        text_buffer_puts(out, expr->between.negated ? " NOT BETWEEN SYMMETRIC (" : " BETWEEN SYMMETRIC (");
        put_expr(out, expr->between.low);
        text_buffer_puts(out, ") AND ");
        put_expr(out, expr->between.high);
        text_buffer_putc(out, ')');
        return;
    }
    text_buffer_putc(out, '(');
    put_binary(out, operand, expr->between.negated ? " < " : " >= ", expr->between.low);
    text_buffer_puts(out, expr->between.negated ? " OR " : " AND ");
    put_binary(out, operand, expr->between.negated ? " > " : " <= ", expr->between.high);
    text_buffer_putc(out, ')');
}

static void put_in(struct text_buffer *out, const struct expr *expr)
{
    bool numbers = expr->in.select == NULL;

    for (int i = 0; i < expr->in.list.count; i++) {
        const struct expr *item = expr->in.list.items[i];
        numbers &= item->kind == EXPR_LITERAL &&
                   (item->literal.kind == LITERAL_INTEGER || item->literal.kind == LITERAL_NUMERIC);
    }
    text_buffer_putc(out, '(');
    put_expr(out, expr->in.left);
    if (numbers) {
        text_buffer_puts(out, expr->in.negated ? " <> ALL (ARRAY[" : " = ANY (ARRAY[");
        put_list(out, &expr->in.list);
        text_buffer_puts(out, "]))");
        return;
    }
    text_buffer_puts(out, expr->in.negated ? " NOT IN " : " IN ");
    if (expr->in.select) {
        put_subquery(out, expr->in.select);
    } else {
        text_buffer_putc(out, '(');
        put_list(out, &expr->in.list);
        text_buffer_putc(out, ')');
    }
    text_buffer_putc(out, ')');
}

static void put_like(struct text_buffer *out, const struct expr *expr)
{
    static const char *const operators[] = {[LIKE_LIKE] = " ~~ ", [LIKE_ILIKE] = " ~~* "};
    static const char *const negated[] = {[LIKE_LIKE] = " !~~ ", [LIKE_ILIKE] = " !~~* "};
    static const char *const words[] = {
        [LIKE_LIKE] = " LIKE ", [LIKE_ILIKE] = " ILIKE ", [LIKE_SIMILAR] = " SIMILAR TO "};

    text_buffer_putc(out, '(');
    put_expr(out, expr->like.left);
    if (expr->like.kind != LIKE_SIMILAR && !expr->like.escape) {
        text_buffer_puts(out, (expr->like.negated ? negated : operators)[expr->like.kind]);
    } else {
        text_buffer_puts(out, expr->like.negated ? " NOT" : "");
        text_buffer_puts(out, words[expr->like.kind]);
    }
    put_expr(out, expr->like.pattern);
    if (expr->like.escape) {
        text_buffer_puts(out, " ESCAPE ");
        put_expr(out, expr->like.escape);
    }
    text_buffer_putc(out, ')');
}

static void put_case(struct text_buffer *out, const struct expr *expr)
{
    text_buffer_puts(out, "CASE");
    if (expr->case_.operand) {
        text_buffer_putc(out, ' ');
        put_expr(out, expr->case_.operand);
    }
    for (int i = 0; i < expr->case_.count; i++) {
        text_buffer_puts(out, " WHEN ");
        put_expr(out, expr->case_.whens[i]->condition);
        text_buffer_puts(out, " THEN ");
        put_expr(out, expr->case_.whens[i]->result);
    }
    if (expr->case_.otherwise) {
        text_buffer_puts(out, " ELSE ");
        put_expr(out, expr->case_.otherwise);
    }
    text_buffer_puts(out, " END");
}

static void put_cast(struct text_buffer *out, const struct expr *expr)
{
    const struct expr *operand = expr->cast.operand;
    bool bare = operand->kind == EXPR_LITERAL &&
                (operand->literal.kind == LITERAL_STRING || operand->literal.kind == LITERAL_NULL);

    if (!bare)
        text_buffer_putc(out, '(');
    put_expr(out, operand);
    text_buffer_puts(out, bare ? "::" : ")::");
    put_type(out, expr->cast.type);
}

static void put_any(struct text_buffer *out, const struct expr *expr)
{
    text_buffer_putc(out, '(');
    put_expr(out, expr->any.left);
    text_buffer_putc(out, ' ');
    put_operator(out, expr->any.schema, expr->any.name);
    text_buffer_puts(out, expr->kind == EXPR_ANY ? " ANY " : " ALL ");
    if (expr->any.select) {
        put_subquery(out, expr->any.select);
    } else {
        text_buffer_putc(out, '(');
        put_expr(out, expr->any.array);
        text_buffer_putc(out, ')');
    }
    text_buffer_putc(out, ')');
}

static void put_subscripts(struct text_buffer *out, const struct expr *expr)
{
    const struct expr *operand = expr->subscript.operand;
    bool bare = operand->kind == EXPR_COLUMN || operand->kind == EXPR_PARAMETER || operand->kind == EXPR_FIELD;

    if (!bare)
        text_buffer_putc(out, '(');
    put_expr(out, operand);
    if (!bare)
        text_buffer_putc(out, ')');
    for (int i = 0; i < expr->subscript.count; i++) {
        const struct subscript *one = &expr->subscript.items[i];
        text_buffer_putc(out, '[');
        if (one->is_slice) {
            if (one->lower)
                put_expr(out, one->lower);
            text_buffer_putc(out, ':');
        }
        if (one->upper)
            put_expr(out, one->upper);
        text_buffer_putc(out, ']');
    }
}

static void put_field(struct text_buffer *out, const struct expr *expr)
{
    text_buffer_putc(out, '(');
    put_expr(out, expr->field.operand);
    text_buffer_puts(out, ").");
    if (expr->field.star)
        text_buffer_putc(out, '*');
    else
        put_name(out, expr->field.name);
}

static const char *const sql_values[] = {
    [SQL_CURRENT_DATE] = "CURRENT_DATE", [SQL_CURRENT_TIME] = "CURRENT_TIME",
    [SQL_CURRENT_TIMESTAMP] = "CURRENT_TIMESTAMP", [SQL_LOCALTIME] = "LOCALTIME",
    [SQL_LOCALTIMESTAMP] = "LOCALTIMESTAMP", [SQL_CURRENT_ROLE] = "CURRENT_ROLE",
    [SQL_CURRENT_USER] = "CURRENT_USER", [SQL_USER] = "USER", [SQL_SESSION_USER] = "SESSION_USER",
    [SQL_CURRENT_CATALOG] = "CURRENT_CATALOG", [SQL_CURRENT_SCHEMA] = "CURRENT_SCHEMA"};

static void put_grouping_set(struct text_buffer *out, const struct expr *expr)
{
    static const char *const words[] = {"", "ROLLUP", "CUBE", "GROUPING SETS "};
    text_buffer_puts(out, words[expr->grouping_set.kind]);
    text_buffer_putc(out, '(');
    put_list(out, &expr->grouping_set.list);
    text_buffer_putc(out, ')');
}

static void put_column(struct text_buffer *out, const struct expr *expr)
{
    for (int i = 0; i < expr->column.count; i++) {
        if (i)
            text_buffer_putc(out, '.');
        put_name(out, expr->column.names[i]);
    }
    if (expr->column.star)
        text_buffer_puts(out, expr->column.count ? ".*" : "*");
}

static void put_call_like(struct text_buffer *out, const char *name, const struct expr_list *list)
{
    text_buffer_puts(out, name);
    text_buffer_putc(out, '(');
    put_list(out, list);
    text_buffer_putc(out, ')');
}

static void put_is(struct text_buffer *out, const struct expr *expr)
{
    static const char *const tests[] = {
        [IS_NULL] = " IS NULL)", [IS_NOT_NULL] = " IS NOT NULL)", [IS_TRUE] = " IS TRUE)",
        [IS_NOT_TRUE] = " IS NOT TRUE)", [IS_FALSE] = " IS FALSE)", [IS_NOT_FALSE] = " IS NOT FALSE)",
        [IS_UNKNOWN] = " IS UNKNOWN)", [IS_NOT_UNKNOWN] = " IS NOT UNKNOWN)"};
    text_buffer_putc(out, '(');
    put_expr(out, expr->is.operand);
    text_buffer_puts(out, tests[expr->is.test]);
}

static void put_expr(struct text_buffer *out, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_LITERAL: put_literal(out, expr); break;
    case EXPR_PARAMETER: text_buffer_printf(out, "$%d", expr->parameter); break;
    case EXPR_COLUMN: put_column(out, expr); break;
    case EXPR_OPERATOR: put_operators(out, expr); break;
    case EXPR_AND:
    case EXPR_OR: put_junction(out, expr); break;
    case EXPR_NOT:
        text_buffer_puts(out, "(NOT ");
        put_expr(out, expr->unary.operand);
        text_buffer_putc(out, ')');
        break;
    case EXPR_IS: put_is(out, expr); break;
    case EXPR_DISTINCT:
        if (expr->distinct.negated)
            text_buffer_puts(out, "(NOT ");
        put_binary(out, expr->distinct.left, " IS DISTINCT FROM ", expr->distinct.right);
        if (expr->distinct.negated)
            text_buffer_putc(out, ')');
        break;
    case EXPR_LIKE: put_like(out, expr); break;
    case EXPR_BETWEEN: put_between(out, expr); break;
    case EXPR_IN: put_in(out, expr); break;
    case EXPR_ANY:
    case EXPR_ALL: put_any(out, expr); break;
    case EXPR_SUBQUERY: put_subquery(out, expr->select); break;
    case EXPR_EXISTS:
        text_buffer_puts(out, "(EXISTS ");
        put_subquery(out, expr->select);
        text_buffer_putc(out, ')');
        break;
    case EXPR_ARRAY_SUBQUERY:
        text_buffer_puts(out, "ARRAY");
        put_subquery(out, expr->select);
        break;
    case EXPR_CAST: put_cast(out, expr); break;
    case EXPR_COLLATE:
        text_buffer_putc(out, '(');
        put_expr(out, expr->collate.operand);
        text_buffer_puts(out, " COLLATE ");
        put_qualified(out, expr->collate.schema, expr->collate.name);
        text_buffer_putc(out, ')');
        break;
    case EXPR_CASE: put_case(out, expr); break;
    case EXPR_COALESCE: put_call_like(out, "COALESCE", &expr->list); break;
    case EXPR_GREATEST: put_call_like(out, "GREATEST", &expr->list); break;
    case EXPR_LEAST: put_call_like(out, "LEAST", &expr->list); break;
    case EXPR_NULLIF: put_call_like(out, "NULLIF", &expr->list); break;
    case EXPR_GROUPING: put_call_like(out, "GROUPING", &expr->list); break;
    case EXPR_FUNCTION: put_function(out, expr); break;
    case EXPR_ARRAY:
        text_buffer_puts(out, "ARRAY[");
        put_list(out, &expr->list);
        text_buffer_putc(out, ']');
        break;
    case EXPR_SUBSCRIPT: put_subscripts(out, expr); break;
    case EXPR_FIELD: put_field(out, expr); break;
    case EXPR_ROW: put_call_like(out, "ROW", &expr->row.list); break;
    case EXPR_SQL_VALUE:
        text_buffer_puts(out, sql_values[expr->sql_value.value]);
        if (expr->sql_value.precision >= 0)
            text_buffer_printf(out, "(%d)", expr->sql_value.precision);
        break;
    case EXPR_GROUPING_SET: put_grouping_set(out, expr); break;
    case EXPR_DEFAULT: text_buffer_puts(out, "DEFAULT"); break;
    case EXPR_CURRENT_OF:
        text_buffer_puts(out, "CURRENT OF ");
        put_name(out, expr->current_of.cursor);
        break;
    }
}

char *deparse_expr(struct arena *arena, const struct expr *expr)
{
    struct text_buffer out;
    text_buffer_open(&out, arena);
    put_expr(&out, expr);
    return out.bytes;
}

/* ---- queries ---- */

static void put_relation(struct text_buffer *out, const struct relation_name *relation)
{
    if (relation->only)
        text_buffer_puts(out, "ONLY ");
    if (relation->schema) {
        put_name(out, relation->schema);
        text_buffer_putc(out, '.');
    }
    put_name(out, relation->name);
}

static void put_alias(struct text_buffer *out, const struct from_item *item)
{
    if (item->alias) {
        text_buffer_putc(out, ' ');
        put_name(out, item->alias);
    }
    if (item->columns.count) {
        text_buffer_putc(out, '(');
        put_names(out, &item->columns);
        text_buffer_putc(out, ')');
    }
    if (item->definition_count) {
        text_buffer_puts(out, item->alias ? "(" : " AS (");
        for (int i = 0; i < item->definition_count; i++) {
            if (i)
                text_buffer_puts(out, ", ");
            put_name(out, item->definitions[i]->name);
            text_buffer_putc(out, ' ');
            put_type(out, item->definitions[i]->type);
        }
        text_buffer_putc(out, ')');
    }
}

static void put_from_item(struct text_buffer *out, const struct from_item *item)
{
    static const char *const joins[] = {" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ", " CROSS JOIN "};

    if (item->lateral)
        text_buffer_puts(out, "LATERAL ");
    switch (item->kind) {
    case FROM_TABLE:
        put_relation(out, item->relation);
        put_alias(out, item);
        if (item->sample_method) {
            text_buffer_puts(out, " TABLESAMPLE ");
            put_name(out, item->sample_method);
            text_buffer_puts(out, " (");
            put_list(out, &item->sample_arguments);
            text_buffer_putc(out, ')');
            if (item->sample_seed) {
                text_buffer_puts(out, " REPEATABLE (");
                put_expr(out, item->sample_seed);
                text_buffer_putc(out, ')');
            }
        }
        break;
    case FROM_SUBQUERY:
        put_subquery(out, item->select);
        put_alias(out, item);
        break;
    case FROM_FUNCTION:
        if (item->rows_from)
            text_buffer_puts(out, "ROWS FROM(");
        put_list(out, &item->functions);
        if (item->rows_from)
            text_buffer_putc(out, ')');
        if (item->with_ordinality)
            text_buffer_puts(out, " WITH ORDINALITY");
        put_alias(out, item);
        break;
    case FROM_JOIN:
        text_buffer_putc(out, '(');
        put_from_item(out, item->left);
        if (item->natural)
            text_buffer_puts(out, " NATURAL");
        text_buffer_puts(out, joins[item->join]);
        put_from_item(out, item->right);
        if (item->on) {
            text_buffer_puts(out, " ON ");
            put_expr(out, item->on);
        } else if (item->using_columns.count) {
            text_buffer_puts(out, " USING (");
            put_names(out, &item->using_columns);
            text_buffer_putc(out, ')');
            if (item->using_alias) {
                text_buffer_puts(out, " AS ");
                put_name(out, item->using_alias);
            }
        }
        text_buffer_putc(out, ')');
        put_alias(out, item);
        break;
    }
}

static void put_targets(struct text_buffer *out, const struct target_list *targets)
{
    for (int i = 0; i < targets->count; i++) {
        if (i)
            text_buffer_puts(out, ", ");
        put_expr(out, targets->items[i]->expr);
        if (targets->items[i]->name) {
            text_buffer_puts(out, " AS ");
            put_name(out, targets->items[i]->name);
        }
    }
}

static void put_plain(struct text_buffer *out, const struct select *select)
{
    text_buffer_puts(out, "SELECT");
    if (select->distinct)
        text_buffer_puts(out, " DISTINCT");
    if (select->distinct_on.count) {
        text_buffer_puts(out, " ON (");
        put_list(out, &select->distinct_on);
        text_buffer_putc(out, ')');
    }
    if (select->targets.count)
        text_buffer_putc(out, ' ');
    put_targets(out, &select->targets);
    for (int i = 0; i < select->from.count; i++) {
        text_buffer_puts(out, i ? ", " : " FROM ");
        put_from_item(out, select->from.items[i]);
    }
    if (select->where) {
        text_buffer_puts(out, " WHERE ");
        put_expr(out, select->where);
    }
    if (select->group_by.count) {
        text_buffer_puts(out, select->group_distinct ? " GROUP BY DISTINCT " : " GROUP BY ");
        put_list(out, &select->group_by);
    }
    if (select->having) {
        text_buffer_puts(out, " HAVING ");
        put_expr(out, select->having);
    }
    for (int i = 0; i < select->windows.count; i++) {
        text_buffer_puts(out, i ? ", " : " WINDOW ");
        put_name(out, select->windows.items[i]->name);
        text_buffer_puts(out, " AS ");
        put_window(out, select->windows.items[i]);
    }
}

static void put_set_operand(struct text_buffer *out, const struct select *select)
{
    text_buffer_putc(out, '(');
    put_select(out, select);
    text_buffer_putc(out, ')');
}

static void put_with(struct text_buffer *out, const struct with *with)
{
    text_buffer_puts(out, with->recursive ? "WITH RECURSIVE " : "WITH ");
    for (int i = 0; i < with->count; i++) {
        const struct cte *cte = with->items[i];
        if (i)
            text_buffer_puts(out, ", ");
        put_name(out, cte->name);
        if (cte->columns.count) {
            text_buffer_putc(out, '(');
            put_names(out, &cte->columns);
            text_buffer_putc(out, ')');
        }
        text_buffer_puts(out, cte->materialized == MATERIALIZED_ALWAYS  ? " AS MATERIALIZED ("
                              : cte->materialized == MATERIALIZED_NEVER ? " AS NOT MATERIALIZED ("
                                                                        : " AS (");
        if (cte->statement->kind == STATEMENT_SELECT)
            put_select(out, cte->statement->select);
        else                             /* no query that is stored may change data; said, not hidden */
            text_buffer_printf(out, "/* %s */", statement_tag(cte->statement));
        text_buffer_puts(out, ") ");
    }
}

static void put_select(struct text_buffer *out, const struct select *select)
{
    static const char *const sets[] = {"", " UNION ", " INTERSECT ", " EXCEPT "};
    static const char *const strengths[] = {
        [FOR_KEY_SHARE] = "KEY SHARE", [FOR_SHARE] = "SHARE", [FOR_NO_KEY_UPDATE] = "NO KEY UPDATE",
        [FOR_UPDATE] = "UPDATE"};

    if (select->with)
        put_with(out, select->with);
    if (select->set) {
        put_set_operand(out, select->left);
        text_buffer_puts(out, sets[select->set]);
        if (select->all)
            text_buffer_puts(out, "ALL ");
        put_set_operand(out, select->right);
    } else if (select->row_count) {
        text_buffer_puts(out, "VALUES ");
        for (int i = 0; i < select->row_count; i++) {
            text_buffer_puts(out, i ? ", (" : "(");
            put_list(out, &select->rows[i]);
            text_buffer_putc(out, ')');
        }
    } else {
        put_plain(out, select);
    }
    if (select->order_by.count) {
        text_buffer_puts(out, " ORDER BY ");
        put_sort(out, &select->order_by);
    }
    if (select->offset) {
        text_buffer_puts(out, " OFFSET ");
        put_expr(out, select->offset);
    }
    if (select->limit && select->with_ties) {
        text_buffer_puts(out, " FETCH FIRST (");
        put_expr(out, select->limit);
        text_buffer_puts(out, ") ROWS WITH TIES");
    } else if (select->limit) {
        text_buffer_puts(out, " LIMIT ");
        put_expr(out, select->limit);
    }
    for (int i = 0; i < select->locking_count; i++) {
        const struct locking *locking = select->locking[i];
        text_buffer_printf(out, " FOR %s", strengths[locking->strength]);
        for (int j = 0; j < locking->of.count; j++) {
            text_buffer_puts(out, j ? ", " : " OF ");
            put_relation(out, locking->of.items[j]);
        }
        if (locking->wait != FOR_WAIT)
            text_buffer_puts(out, locking->wait == FOR_NOWAIT ? " NOWAIT" : " SKIP LOCKED");
    }
}

char *deparse_select(struct arena *arena, const struct select *select)
{
    struct text_buffer out;
    text_buffer_open(&out, arena);
    put_select(&out, select);
    return out.bytes;
}

/* ---- what a column is called ---- */

/* 0: no name; 1: a weak one, which a cast around it doesn't override but a better one may; 2: a good one. */
static int column_name(const struct expr *expr, const char **name)
{
    static const char *const values[] = {
        [SQL_CURRENT_DATE] = "current_date", [SQL_CURRENT_TIME] = "current_time",
        [SQL_CURRENT_TIMESTAMP] = "current_timestamp", [SQL_LOCALTIME] = "localtime",
        [SQL_LOCALTIMESTAMP] = "localtimestamp", [SQL_CURRENT_ROLE] = "current_role",
        [SQL_CURRENT_USER] = "current_user", [SQL_USER] = "user", [SQL_SESSION_USER] = "session_user",
        [SQL_CURRENT_CATALOG] = "current_catalog", [SQL_CURRENT_SCHEMA] = "current_schema"};

    while (expr) {
        switch (expr->kind) {
        case EXPR_COLUMN:
            if (expr->column.star)
                return 0;
            *name = expr->column.names[expr->column.count - 1];
            return 2;
        case EXPR_FIELD:
            if (expr->field.star)
                return 0;
            *name = expr->field.name;
            return 2;
        case EXPR_SUBSCRIPT: expr = expr->subscript.operand; continue;
        case EXPR_COLLATE: expr = expr->collate.operand; continue;
        case EXPR_FUNCTION: *name = expr->function.name; return 2;
        case EXPR_CAST: {
            const struct expr *inner = expr;
            while (inner->kind == EXPR_CAST)
                inner = inner->cast.operand;
            int strength = column_name(inner, name);
            if (strength > 1)
                return strength;
            *name = expr->cast.type->name;
            return 1;
        }
        case EXPR_CASE: {
            int strength = column_name(expr->case_.otherwise, name);
            if (strength > 1)
                return strength;
            *name = "case";
            return 1;
        }
        case EXPR_COALESCE: *name = "coalesce"; return 2;
        case EXPR_GREATEST: *name = "greatest"; return 2;
        case EXPR_LEAST: *name = "least"; return 2;
        case EXPR_NULLIF: *name = "nullif"; return 2;
        case EXPR_GROUPING: *name = "grouping"; return 2;
        case EXPR_EXISTS: *name = "exists"; return 2;
        case EXPR_ARRAY:
        case EXPR_ARRAY_SUBQUERY: *name = "array"; return 2;
        case EXPR_ROW: *name = "row"; return 2;
        case EXPR_SQL_VALUE: *name = values[expr->sql_value.value]; return 2;
        case EXPR_SUBQUERY: {
            const struct select *select = expr->select;
            while (select->set)
                select = select->left;
            if (select->row_count) {
                *name = "column1";
                return 2;
            }
            if (select->targets.count == 0)
                return 0;
            if (select->targets.items[0]->name) {
                *name = select->targets.items[0]->name;
                return 2;
            }
            expr = select->targets.items[0]->expr;
            continue;
        }
        default: return 0;
        }
    }
    return 0;
}

const char *tree_column_name(const struct expr *expr)
{
    const char *name = NULL;
    return column_name(expr, &name) > 0 ? name : "?column?";
}
