/* engine/plan/show.c - see show.h: expressions. Queries are in show_query.c.
 *
 * Nodes are those of the syntax tree; typed() binds a node to learn its type, and what an operator or function wants of its arguments
 * decides where a cast is shown (wanted()). An expression that does not bind is printed as it was written. */
#include "engine/plan/show_private.h"

#include <string.h>

/* char without a length is not char(1). */
static const char *type_name_of(struct show *x, struct sql_type type)
{
    return type.oid == OID_BPCHAR && type.typmod < 0 ? "bpchar" : type_format(type.oid, type.typmod, x->p->arena);
}

struct sql_type show_type(struct show *x, const struct expr *e)
{
    struct scalar *s;
    if (bind_node(x->p, x->scope, e, &s)) {
        error_clear();
        return (struct sql_type){0};
    }
    return s->type;
}
static uint32_t typed(struct show *x, const struct expr *e) { return show_type(x, e).oid; }

static bool is_polymorphic(uint32_t oid)
{
    const struct type_info *info = type_info(oid);
    return info && info->category == 'P' && oid != OID_UNKNOWN && oid != OID_CSTRING;
}

/* ---------------------------------------------------------------- constants */

static void put_quoted(struct show *x, const char *text)
{
    text_buffer_putc(x->out, '\'');
    for (; *text; text++)
        text_buffer_printf(x->out, *text == '\'' ? "''" : "%c", *text);
    text_buffer_putc(x->out, '\'');
}

/* A constant of that type, given as text: its value as the type writes it, with the type's name where the text alone does not say it. */
static void put_constant(struct show *x, const char *text, size_t length, uint32_t oid)
{
    struct arena *arena = x->p->arena;
    struct sql_type type = type_make(oid, -1);
    struct value value;
    struct text_buffer shown;
    struct vector v;
    if (oid == OID_UNKNOWN || oid == 0) {
        put_quoted(x, text);
        return;
    }
    text_buffer_open(&shown, arena);
    text_buffer_puts(&shown, "");
    if (type_in(type, text, length, arena, &value)) {
        error_clear();
        text_buffer_puts(&shown, text);
    } else {
        value_vector(type, &value, arena, &v);
        type_out(type, &v, 0, &shown);
    }
    const char *t = shown.bytes ? shown.bytes : "";
    if (oid == OID_BOOL) {
        text_buffer_puts(x->out, *t == 't' ? "true" : "false");
    } else if (oid == OID_INT4 && *t != '-') {
        text_buffer_puts(x->out, t);
    } else if (oid == OID_NUMERIC && *t != '-' && strspn(t, "0123456789+-eE.") == strlen(t)) {
        text_buffer_printf(x->out, "%s%s", t, strcspn(t, "eE.") == strlen(t) ? "::numeric" : "");
        if (strcspn(t, "eE.") == strlen(t)) {                 /* a whole number alone would read as an integer */
            x->out->length -= strlen(t) + strlen("::numeric");
            text_buffer_printf(x->out, "'%s'::numeric", t);
        }
    } else {
        put_quoted(x, t);
        text_buffer_printf(x->out, "::%s", type_name_of(x, type));
    }
}

static void put_literal(struct show *x, const struct expr *e)
{
    char *text = e->literal.text;
    switch (e->literal.kind) {
    case LITERAL_NULL: text_buffer_puts(x->out, "NULL::text"); break;
    case LITERAL_BOOLEAN: text_buffer_puts(x->out, e->literal.boolean ? "true" : "false"); break;
    case LITERAL_STRING: put_constant(x, text, (size_t)e->literal.length, OID_TEXT); break;
    case LITERAL_NUMERIC: put_constant(x, text, strlen(text), OID_NUMERIC); break;
    default: text_buffer_puts(x->out, deparse_expr(x->p->arena, e)); break;
    }
}

/* ---------------------------------------------------------------- parentheses */

static bool is_call(const struct expr *e)
{
    switch (e->kind) {
    case EXPR_FUNCTION: case EXPR_COALESCE: case EXPR_GREATEST: case EXPR_LEAST: case EXPR_NULLIF: case EXPR_ARRAY: case EXPR_SQL_VALUE: case EXPR_SUBSCRIPT: case EXPR_ROW: case EXPR_CASE: case EXPR_GROUPING:
        return true;
    default: return false;
    }
}

/* May it stand under that parent without parentheses of its own? Only asked when pretty. */
static bool is_simple(const struct expr *e, enum show_parent parent)
{
    switch (e->kind) {
    case EXPR_LITERAL: case EXPR_COLUMN: case EXPR_PARAMETER: return true;
    case EXPR_CAST: return is_simple(e->cast.operand, UNDER_CAST) || parent == UNDER_NOTHING;
    case EXPR_AND: case EXPR_NOT: return parent == UNDER_NOTHING || parent == UNDER_CALL || parent == UNDER_AND || parent == UNDER_OR;
    case EXPR_OR: return parent == UNDER_NOTHING || parent == UNDER_CALL || parent == UNDER_OR;
    case EXPR_BETWEEN: return is_simple(&(struct expr){.kind = e->between.negated ? EXPR_OR : EXPR_AND}, parent);
    default: break;
    }
    if (is_call(e))
        return true;
    if (e->kind == EXPR_IN || e->kind == EXPR_ANY || e->kind == EXPR_ALL)
        return parent == UNDER_NOTHING || parent == UNDER_CALL;
    return parent == UNDER_NOTHING || parent == UNDER_CALL || parent == UNDER_AND || parent == UNDER_OR || parent == UNDER_NOT;
}

static int arithmetic(const char *name) { return !strcmp(name, "*") || !strcmp(name, "/") || !strcmp(name, "%") ? 2 : !strcmp(name, "+") || !strcmp(name, "-") ? 1 : 0; }

/* Open and close what is printed between them, where the style asks for it. */
static bool open_paren(struct show *x, const struct expr *e, enum show_parent parent)
{
    bool needs = !x->pretty || !is_simple(e, parent);
    if (needs)
        text_buffer_putc(x->out, '(');
    return needs;
}
static void close_paren(struct show *x, bool opened)
{
    if (opened)
        text_buffer_putc(x->out, ')');
}

/* Whole, as an argument of what stands above it: nodes that are no operators never have parentheses when not pretty. */
void show_expr(struct show *x, const struct expr *e) { show_under(x, e, UNDER_NOTHING); }

/* ---------------------------------------------------------------- casts */

/* The expression as a value of that type: with the cast that it takes. */
static void put_cast(struct show *x, const struct expr *e, struct sql_type to)
{
    bool opened = !x->pretty || !is_simple(e, UNDER_CAST);
    if (opened)
        text_buffer_putc(x->out, '(');
    if (x->pretty && opened)                                  /* the parentheses are out already */
        show_under(x, e, UNDER_NOTHING);
    else
        show_under(x, e, x->pretty ? UNDER_CAST : UNDER_NOTHING);
    close_paren(x, opened);
    text_buffer_printf(x->out, "::%s", type_name_of(x, to));
}

static bool is_string(const struct expr *e) { return e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_STRING; }
static bool is_null(const struct expr *e) { return e->kind == EXPR_LITERAL && e->literal.kind == LITERAL_NULL; }

void show_wanted(struct show *x, const struct expr *e, uint32_t want, enum show_parent parent)
{
    if (want == OID_UNKNOWN || is_polymorphic(want))
        want = 0;
    if (is_null(e) && want) {
        text_buffer_printf(x->out, "NULL::%s", type_name_of(x, type_make(want, -1)));
        return;
    }
    if (is_string(e)) {
        put_constant(x, e->literal.text, (size_t)e->literal.length, want ? want : OID_TEXT);
        return;
    }
    uint32_t actual = want ? typed(x, e) : 0;
    if (!want || !actual || actual == want) {
        show_under(x, e, parent);
        return;
    }
    put_cast(x, e, type_make(want, -1));
}

static void put_explicit_cast(struct show *x, const struct expr *e, enum show_parent parent)
{
    struct sql_type type;
    const struct expr *operand = e->cast.operand;
    if (type_name_resolve(x->p, e->cast.type, &type)) {
        error_clear();
        text_buffer_puts(x->out, deparse_expr(x->p->arena, e));
        return;
    }
    if (is_string(operand) && type.oid == OID_INTERVAL && type.typmod >= 0) {         /* interval '1' day: the field is part of the reading */
        struct value value;
        struct vector v;
        struct text_buffer shown;
        text_buffer_open(&shown, x->p->arena);
        if (!type_in(type, operand->literal.text, (size_t)operand->literal.length, x->p->arena, &value)) {
            value_vector(type, &value, x->p->arena, &v);
            type_out(type, &v, 0, &shown);
        }
        error_clear();
        put_quoted(x, shown.bytes ? shown.bytes : operand->literal.text);
        text_buffer_printf(x->out, "::%s", type_name_of(x, type));
        return;
    }
    if (is_string(operand) || is_null(operand)) {
        size_t at = x->out->length;
        show_wanted(x, operand, type.oid, parent);
        if (type.typmod >= 0) {                               /* 'x'::character varying(3): one cast, with its length */
            struct text_buffer whole;
            text_buffer_open(&whole, x->p->arena);
            text_buffer_add(&whole, x->out->bytes + at, x->out->length - at);
            char *plain = arena_printf(x->p->arena, "::%s", type_name_of(x, type_make(type.oid, -1)));
            size_t tail = strlen(plain);
            if (whole.length > tail && !memcmp(whole.bytes + whole.length - tail, plain, tail))
                x->out->length -= tail;
            text_buffer_printf(x->out, "::%s", type_name_of(x, type));
        }
        return;
    }
    struct sql_type actual = show_type(x, operand);
    if (actual.oid == type.oid && type.typmod < 0) {          /* nothing to do, nothing shown */
        show_under(x, operand, parent);
        return;
    }
    if (operand->kind == EXPR_ARRAY && operand->list.count == 0) {
        text_buffer_printf(x->out, "ARRAY[]::%s", type_name_of(x, type));
        return;
    }
    put_cast(x, operand, type);
}

/* ---------------------------------------------------------------- columns */

const char *show_rel_name(const struct show *x, const struct rel *r)
{
    for (uint16_t i = 0; i < x->name_count; i++)
        if (x->names[i].rel == r->id)
            return x->names[i].name;
    return r->name;
}

static const char *rel_alias(struct show *x, const struct scalar *s) { return s->kind == SCALAR_VAR && s->var.rel < x->p->rel_count ? show_rel_name(x, x->p->rels[s->var.rel]) : NULL; }

static void put_column(struct show *x, const struct expr *e)
{
    struct arena *arena = x->p->arena;
    struct scalar *s;
    if (!x->qualify || e->column.star || scope_column(x->p, x->scope, e, &s)) {
        error_clear();
        text_buffer_puts(x->out, x->qualify ? deparse_expr(arena, e) : quote_identifier(arena, e->column.names[e->column.count - 1]));
        return;
    }
    const char *alias = s->kind != SCALAR_VAR && e->column.count > 1 ? e->column.names[e->column.count - 2] : rel_alias(x, s);
    if (alias)
        text_buffer_printf(x->out, "%s.", quote_identifier(arena, alias));
    text_buffer_puts(x->out, quote_identifier(arena, e->column.names[e->column.count - 1]));
}

/* ---------------------------------------------------------------- operators */

/* parent_name: of the binary operator above; NULL: it has one operand. */
static enum show_parent operand_parent(struct show *x, const struct expr *e, const char *parent_name, bool right)
{
    if (!x->pretty || !parent_name || e->kind != EXPR_OPERATOR || !e->op.left)
        return UNDER_OPERATOR;
    int own = arithmetic(e->op.name), above = arithmetic(parent_name);
    return own && above && (own > above || (own == above && !right)) ? UNDER_NOTHING : UNDER_OPERATOR;
}

static void put_list(struct show *, const struct expr_list *, uint32_t want);

/* A row before a subquery. */
static void put_row(struct show *x, const struct expr *e)
{
    text_buffer_putc(x->out, '(');
    put_list(x, &e->row.list, 0);
    text_buffer_putc(x->out, ')');
}

/* left may be NULL. Prints no parentheses around. */
static void put_binary(struct show *x, const char *schema, const char *name, const struct expr *left, const struct expr *right)
{
    bool ambiguous;
    uint32_t l = left ? typed(x, left) : 0, r = typed(x, right);
    const struct operator *o = find_operator(name, l, r, &ambiguous);
    uint32_t want_l = o ? o->left : 0, want_r = o ? o->right : 0;
    if (o && is_polymorphic(want_r) && r == OID_UNKNOWN)
        want_r = want_l == want_r || type_is_array(l) ? l : 0;
    if (o && is_polymorphic(want_l) && l == OID_UNKNOWN)
        want_l = r;
    if (left) {
        if (left->kind == EXPR_ROW && right->kind == EXPR_SUBQUERY) put_row(x, left);
        else show_wanted(x, left, want_l, operand_parent(x, left, name, false));
        text_buffer_putc(x->out, ' ');
    }
    if (schema && strcmp(schema, "pg_catalog"))
        text_buffer_printf(x->out, "OPERATOR(%s.%s) ", quote_identifier(x->p->arena, schema), name);
    else
        text_buffer_printf(x->out, "%s ", name);
    show_wanted(x, right, want_r, operand_parent(x, right, left ? name : NULL, true));
}

static void put_list(struct show *x, const struct expr_list *list, uint32_t want)
{
    for (int i = 0; i < list->count; i++) {
        text_buffer_puts(x->out, i ? ", " : "");
        show_wanted(x, list->items[i], want, UNDER_CALL);
    }
}

static void put_junction(struct show *x, const struct expr *e, const char *word, enum show_parent under)
{
    for (int i = 0; i < e->list.count; i++) {
        if (i)
            text_buffer_printf(x->out, " %s ", word);
        show_under(x, e->list.items[i], under);
    }
}

static void put_between(struct show *x, const struct expr *e, enum show_parent parent)
{
    struct expr low = {.kind = EXPR_OPERATOR, .op = {.name = e->between.negated ? "<" : ">=", .left = e->between.operand, .right = e->between.low}};
    struct expr high = {.kind = EXPR_OPERATOR, .op = {.name = e->between.negated ? ">" : "<=", .left = e->between.operand, .right = e->between.high}};
    struct expr *both[2] = {&low, &high};
    struct expr pair = {.kind = e->between.negated ? EXPR_OR : EXPR_AND, .list = {both, 2}};
    if (e->between.symmetric)
        text_buffer_puts(x->out, deparse_expr(x->p->arena, e));
    else
        show_under(x, &pair, parent);
}

/* The one type of x and the items of x IN (...). */
static uint32_t list_type(struct show *x, const struct expr *left, const struct expr_list *list)
{
    struct scalar **all = arena_array(x->p->arena, struct scalar *, list->count + 1u);
    struct sql_type type = {0};
    enum status status = bind_node(x->p, x->scope, left, &all[0]);
    for (int i = 0; !status && i < list->count; i++)
        status = bind_node(x->p, x->scope, list->items[i], &all[i + 1]);
    if (!status)
        status = common_type(x->p, all, (uint32_t)list->count + 1, "IN", &type);
    if (status)
        error_clear();
    return type.oid;
}

/* (a, b) = (1, 2): a pair of comparisons, all of which hold, or for <> any. */
static void put_rows(struct show *x, const struct expr *left, const struct expr *right, bool negated, enum show_parent parent)
{
    int count = left->row.list.count;
    struct expr *pairs = arena_array(x->p->arena, struct expr, count + 1u), **items = arena_array(x->p->arena, struct expr *, count + 1u);
    for (int i = 0; i < count; i++) {
        memset(&pairs[i], 0, sizeof pairs[i]);
        pairs[i].kind = EXPR_OPERATOR;
        pairs[i].op.name = negated ? "<>" : "=";
        pairs[i].op.left = left->row.list.items[i];
        pairs[i].op.right = right->row.list.items[i];
        items[i] = &pairs[i];
    }
    struct expr all = {.kind = negated ? EXPR_OR : EXPR_AND, .list = {items, count}};
    show_under(x, &all, parent);
}
static bool are_rows(const struct expr *left, const struct expr *right) { return left && left->kind == EXPR_ROW && right->kind == EXPR_ROW && left->row.list.count == right->row.list.count && left->row.list.count > 1; }

static void put_rows_in(struct show *x, const struct expr *e, enum show_parent parent)
{
    bool opened = open_paren(x, &(struct expr){.kind = e->in.negated ? EXPR_AND : EXPR_OR}, parent);
    for (int i = 0; i < e->in.list.count; i++) {
        text_buffer_puts(x->out, !i ? "" : e->in.negated ? " AND " : " OR ");
        put_rows(x, e->in.left, e->in.list.items[i], e->in.negated, e->in.negated ? UNDER_AND : UNDER_OR);
    }
    close_paren(x, opened);
}

static void put_in_list(struct show *x, const struct expr *e, enum show_parent parent)
{
    bool rows = e->in.left->kind == EXPR_ROW;
    for (int i = 0; rows && i < e->in.list.count; i++)
        rows = are_rows(e->in.left, e->in.list.items[i]);
    if (rows && e->in.list.count > 1) {
        put_rows_in(x, e, parent);
        return;
    }
    const char *name = e->in.negated ? "<>" : "=";
    if (e->in.list.count == 1) {
        struct expr one = {.kind = EXPR_OPERATOR, .op = {.name = (char *)name, .left = e->in.left, .right = e->in.list.items[0]}};
        show_under(x, &one, parent);
        return;
    }
    struct expr array = {.kind = EXPR_ARRAY, .list = e->in.list};
    uint32_t left = typed(x, e->in.left), items = list_type(x, e->in.left, &e->in.list);
    bool opened = open_paren(x, e, parent), ambiguous;
    const struct operator *o = find_operator(name, left, items, &ambiguous);
    show_wanted(x, e->in.left, o ? o->left : 0, UNDER_OPERATOR);
    text_buffer_printf(x->out, " %s (", e->in.negated ? "<> ALL" : "= ANY");
    bool cast = o && o->right != items && !is_polymorphic(o->right);
    text_buffer_puts(x->out, cast ? x->pretty ? "" : "(" : "");
    text_buffer_puts(x->out, "ARRAY[");
    put_list(x, &array.list, items);
    text_buffer_putc(x->out, ']');
    if (cast)
        text_buffer_printf(x->out, "%s::%s", x->pretty ? "" : ")", type_format(type_array_of(o->right), -1, x->p->arena));
    text_buffer_putc(x->out, ')');
    close_paren(x, opened);
}

static void put_like(struct show *x, const struct expr *e)
{
    static const char *const names[2][2] = {{"~~", "!~~"}, {"~~*", "!~~*"}};
    struct expr *arguments[2] = {e->like.pattern, e->like.escape};
    struct expr call = {.kind = EXPR_FUNCTION, .function = {.name = e->like.kind == LIKE_SIMILAR ? "similar_to_escape" : "like_escape", .arguments = {arguments, e->like.escape ? 2 : 1}}};
    const struct expr *pattern = e->like.kind == LIKE_SIMILAR || e->like.escape ? &call : e->like.pattern;
    const char *name = e->like.kind == LIKE_SIMILAR ? e->like.negated ? "!~" : "~" : names[e->like.kind == LIKE_ILIKE][e->like.negated];
    put_binary(x, NULL, name, e->like.left, pattern);
}

/* What stands left of a subquery: as the operator between them wants it. */
static void put_before_select(struct show *x, const struct expr *left, const char *name, struct select *select)
{
    bool ambiguous;
    struct expr value = {.kind = EXPR_SUBQUERY, .select = select};
    const struct operator *o = left->kind == EXPR_ROW ? NULL : find_operator(name, typed(x, left), typed(x, &value), &ambiguous);
    if (left->kind == EXPR_ROW)
        put_row(x, left);
    else
        show_wanted(x, left, o ? o->left : 0, UNDER_OPERATOR);
}

static void put_any(struct show *x, const struct expr *e)
{
    if (e->any.select) {
        bool in = e->kind == EXPR_ANY && !strcmp(e->any.name, "=");
        put_before_select(x, e->any.left, e->any.name, e->any.select);
        text_buffer_printf(x->out, in ? " IN (" : e->kind == EXPR_ANY ? " %s ANY (" : " %s ALL (", e->any.name);
        show_subselect(x, e->any.select);
        text_buffer_putc(x->out, ')');
        return;
    }
    const char *word = e->kind == EXPR_ANY ? "ANY" : "ALL";
    show_under(x, e->any.left, UNDER_OPERATOR);
    text_buffer_printf(x->out, " %s %s (", e->any.name, word);
    if (is_string(e->any.array) || is_null(e->any.array))
        show_wanted(x, e->any.array, type_array_of(typed(x, e->any.left)), UNDER_NOTHING);
    else
        show_expr(x, e->any.array);
    text_buffer_putc(x->out, ')');
}

/* ---------------------------------------------------------------- calls */

static const struct function *function_of(struct show *x, const struct expr *e)
{
    bool ambiguous, exists;
    uint16_t count = (uint16_t)e->function.arguments.count;
    uint32_t *types = arena_array(x->p->arena, uint32_t, count + 1u);
    for (uint16_t i = 0; i < count; i++)
        types[i] = typed(x, e->function.arguments.items[i]);
    const struct function *f = find_function(e->function.name, 0, types, count, &ambiguous, &exists);
    return f ? f : find_function(e->function.name, FUNCTION_AGGREGATE, types, count, &ambiguous, &exists);
}

/* What a polymorphic function wants there hangs on the other arguments. */
static uint32_t polymorphic_type(struct show *x, const struct expr *e, const struct function *f, int i)
{
    int count = e->function.arguments.count;
    struct scalar **args = arena_array(x->p->arena, struct scalar *, count + 1u);
    struct sql_type result = type_make(f->result, -1);
    enum status status = STATUS_OK;
    for (int k = 0; k < count && !status; k++)
        status = bind_node(x->p, x->scope, e->function.arguments.items[k], &args[k]);
    if (!status)
        status = coerce_arguments(x->p, f, args, (uint16_t)count, &result, 0);
    if (status)
        error_clear();
    return status ? 0 : args[i]->type.oid;
}

static void put_argument(struct show *x, const struct expr *e, const struct function *f, int i)
{
    const struct expr *argument = e->function.arguments.items[i];
    int at = f && f->arg_count && i >= f->arg_count ? f->arg_count - 1 : i;
    uint32_t want = f && f->arg_count ? f->arg_types[at] : 0;
    if (want && is_polymorphic(want) && (is_string(argument) || is_null(argument)))
        want = polymorphic_type(x, e, f, i);
    show_wanted(x, argument, want, UNDER_CALL);
}

/* In the forms with words, casts that only types asked for aren't shown. */
static void put_spoken_under(struct show *x, const struct expr *e, const struct function *f, int i, enum show_parent parent)
{
    if (is_string(e->function.arguments.items[i]))
        put_argument(x, e, f, i);
    else
        show_under(x, e->function.arguments.items[i], parent);
}
static void put_spoken(struct show *x, const struct expr *e, const struct function *f, int i) { put_spoken_under(x, e, f, i, UNDER_CALL); }

/* EXTRACT(year FROM x) and its kin. False: a plain call. */
static bool put_sql_syntax(struct show *x, const struct expr *e, const struct function *f)
{
    const char *name = e->function.name;
    int n = e->function.arguments.count;
    struct expr **a = e->function.arguments.items;
    if ((!strcmp(name, "extract") || !strcmp(name, "date_part")) && n == 2 && is_string(a[0])) {
        text_buffer_printf(x->out, "EXTRACT(%s FROM ", a[0]->literal.text);
        show_under(x, a[1], UNDER_CALL);
        text_buffer_putc(x->out, ')');
        return true;
    }
    if (!strcmp(name, "substring") && n >= 2) {
        text_buffer_puts(x->out, "SUBSTRING(");
        put_spoken(x, e, f, 0);
        text_buffer_puts(x->out, " FROM ");
        put_spoken(x, e, f, 1);
        text_buffer_puts(x->out, n > 2 ? " FOR " : "");
        if (n > 2)
            put_spoken(x, e, f, 2);
        text_buffer_putc(x->out, ')');
        return true;
    }
    if (!strcmp(name, "overlay") && n >= 3) {
        static const char *const words[] = {"OVERLAY(", " PLACING ", " FROM ", " FOR "};
        for (int i = 0; i < n && i < 4; i++) {
            text_buffer_puts(x->out, words[i]);
            put_spoken(x, e, f, i);
        }
        text_buffer_putc(x->out, ')');
        return true;
    }
    if (!strcmp(name, "position") && n == 2) {
        text_buffer_puts(x->out, "POSITION((");
        put_spoken(x, e, f, 1);
        text_buffer_puts(x->out, ") IN (");
        put_spoken(x, e, f, 0);
        text_buffer_puts(x->out, "))");
        return true;
    }
    if (!strcmp(name, "timezone") && n == 2) {
        text_buffer_putc(x->out, '(');
        put_spoken_under(x, e, f, 1, UNDER_OPERATOR);
        text_buffer_puts(x->out, " AT TIME ZONE ");
        put_spoken_under(x, e, f, 0, UNDER_OPERATOR);
        text_buffer_putc(x->out, ')');
        return true;
    }
    static const struct { const char *name, *side; } trims[] = {{"btrim", "BOTH"}, {"ltrim", "LEADING"}, {"rtrim", "TRAILING"}};
    for (size_t i = 0; i < sizeof trims / sizeof trims[0]; i++)
        if (!strcmp(trims[i].name, name)) {
            text_buffer_printf(x->out, "TRIM(%s ", trims[i].side);
            if (n > 1)
                put_spoken(x, e, f, 1), text_buffer_putc(x->out, ' ');
            text_buffer_puts(x->out, "FROM ");
            put_spoken(x, e, f, 0);
            text_buffer_putc(x->out, ')');
            return true;
        }
    return false;
}

void show_window(struct show *x, const struct window_definition *w)
{
    static const char *const modes[] = {[FRAME_RANGE] = "RANGE", [FRAME_ROWS] = "ROWS", [FRAME_GROUPS] = "GROUPS"};
    const char *space = "";
    if (w->is_reference) {
        text_buffer_puts(x->out, quote_identifier(x->p->arena, w->refers_to));
        return;
    }
    text_buffer_putc(x->out, '(');
    if (w->refers_to) {
        text_buffer_puts(x->out, quote_identifier(x->p->arena, w->refers_to));
        space = " ";
    }
    if (w->partition_by.count) {
        text_buffer_printf(x->out, "%sPARTITION BY ", space);
        put_list(x, &w->partition_by, 0);
        space = " ";
    }
    if (w->order_by.count) {
        text_buffer_printf(x->out, "%sORDER BY ", space);
        show_sort(x, &w->order_by, NULL);
        space = " ";
    }
    if (w->has_frame) {
        const struct { enum frame_bound bound; const struct expr *offset; } ends[2] = {{w->start, w->start_offset}, {w->end, w->end_offset}};
        text_buffer_printf(x->out, "%s%s BETWEEN ", space, modes[w->mode]);
        for (int i = 0; i < 2; i++) {
            text_buffer_puts(x->out, i ? " AND " : "");
            if (ends[i].offset)
                show_expr(x, ends[i].offset), text_buffer_putc(x->out, ' ');
            text_buffer_puts(x->out, ends[i].bound == BOUND_UNBOUNDED_PRECEDING ? "UNBOUNDED PRECEDING" : ends[i].bound == BOUND_UNBOUNDED_FOLLOWING ? "UNBOUNDED FOLLOWING"
                                     : ends[i].bound == BOUND_CURRENT_ROW ? "CURRENT ROW" : ends[i].bound == BOUND_PRECEDING ? "PRECEDING" : "FOLLOWING");
        }
        static const char *const exclusions[] = {"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"};
        text_buffer_puts(x->out, exclusions[w->exclusion]);
    }
    text_buffer_putc(x->out, ')');
}

static void put_function(struct show *x, const struct expr *e)
{
    struct arena *arena = x->p->arena;
    const struct function *f = function_of(x, e);
    const char *schema = e->function.schema, *name = e->function.name;
    if (e->function.within_group) {
        text_buffer_puts(x->out, deparse_expr(arena, e));
        return;
    }
    if (e->function.sql_syntax && put_sql_syntax(x, e, f))
        return;
    if (schema && strcmp(schema, "pg_catalog"))
        text_buffer_printf(x->out, "%s.", quote_identifier(arena, schema));
    text_buffer_puts(x->out, show_function_name(arena, name));
    text_buffer_putc(x->out, '(');
    text_buffer_puts(x->out, e->function.star ? "*" : e->function.distinct ? "DISTINCT " : "");
    for (int i = 0; i < e->function.arguments.count; i++) {
        text_buffer_puts(x->out, i ? ", " : "");
        text_buffer_puts(x->out, e->function.variadic && i == e->function.arguments.count - 1 ? "VARIADIC " : "");
        put_argument(x, e, f, i);
    }
    if (e->function.order_by.count) {
        text_buffer_puts(x->out, " ORDER BY ");
        show_sort(x, &e->function.order_by, NULL);
    }
    text_buffer_putc(x->out, ')');
    if (e->function.filter) {
        text_buffer_puts(x->out, " FILTER (WHERE ");
        show_expr(x, e->function.filter);
        text_buffer_putc(x->out, ')');
    }
    if (e->function.over) {
        text_buffer_puts(x->out, " OVER ");
        show_window(x, e->function.over);
    }
}

char *show_function_name(struct arena *arena, const char *name)
{
    enum keyword keyword = keyword_find(name, strlen(name));
    if (keyword != NO_KEYWORD && keyword_table[keyword].class == CLASS_FUNCTION_NAME)
        return arena_printf(arena, "\"%s\"", name);
    return quote_identifier(arena, name);
}

static void put_case(struct show *x, const struct expr *e)
{
    uint32_t type = typed(x, e), left = e->case_.operand ? typed(x, e->case_.operand) : 0;
    bool ambiguous;
    if (type == OID_UNKNOWN)
        type = OID_TEXT;
    show_keyword(x, "CASE", 0, 4, 0);
    if (e->case_.operand) {
        text_buffer_putc(x->out, ' ');
        show_wanted(x, e->case_.operand, left, UNDER_NOTHING);
    }
    for (int i = 0; i < e->case_.count; i++) {
        const struct case_when *w = e->case_.whens[i];
        text_buffer_puts(x->out, x->indenting ? "" : " ");
        show_keyword(x, "WHEN ", 0, 0, 0);
        const struct operator *o = left ? find_operator("=", left, typed(x, w->condition), &ambiguous) : NULL;
        show_wanted(x, w->condition, o ? o->right : 0, UNDER_NOTHING);
        text_buffer_puts(x->out, " THEN ");
        show_wanted(x, w->result, type, UNDER_NOTHING);
    }
    text_buffer_puts(x->out, x->indenting ? "" : " ");
    show_keyword(x, "ELSE ", 0, 0, 0);
    if (e->case_.otherwise)
        show_wanted(x, e->case_.otherwise, type, UNDER_NOTHING);
    else
        text_buffer_printf(x->out, "NULL::%s", type_format(type, -1, x->p->arena));
    text_buffer_puts(x->out, x->indenting ? "" : " ");
    show_keyword(x, "END", -4, 0, 0);
}

static void put_named_list(struct show *x, const char *name, const struct expr *e)
{
    uint32_t type = typed(x, e);
    text_buffer_printf(x->out, "%s(", name);
    put_list(x, &e->list, type == OID_UNKNOWN ? OID_TEXT : type);
    text_buffer_putc(x->out, ')');
}

/* ---------------------------------------------------------------- all kinds */

static void put_distinct(struct show *x, const struct expr *e)
{
    bool ambiguous;
    const struct operator *o = find_operator("=", typed(x, e->distinct.left), typed(x, e->distinct.right), &ambiguous);
    show_wanted(x, e->distinct.left, o ? o->left : 0, UNDER_OPERATOR);
    text_buffer_puts(x->out, " IS DISTINCT FROM ");
    show_wanted(x, e->distinct.right, o ? o->right : 0, UNDER_OPERATOR);
}

static void put_subscripts(struct show *x, const struct expr *e)
{
    bool opened = e->subscript.operand->kind != EXPR_COLUMN && e->subscript.operand->kind != EXPR_SUBSCRIPT;
    text_buffer_puts(x->out, opened ? "(" : "");
    show_expr(x, e->subscript.operand);
    text_buffer_puts(x->out, opened ? ")" : "");
    for (int i = 0; i < e->subscript.count; i++) {
        const struct subscript *at = &e->subscript.items[i];
        text_buffer_putc(x->out, '[');
        if (at->lower)
            show_expr(x, at->lower);
        text_buffer_puts(x->out, at->is_slice ? ":" : "");
        if (at->upper)
            show_expr(x, at->upper);
        text_buffer_putc(x->out, ']');
    }
}

static void put_is(struct show *x, const struct expr *e)
{
    static const char *const words[] = {[IS_NULL] = "NULL", [IS_NOT_NULL] = "NOT NULL", [IS_TRUE] = "TRUE", [IS_NOT_TRUE] = "NOT TRUE", [IS_FALSE] = "FALSE", [IS_NOT_FALSE] = "NOT FALSE",
                                        [IS_UNKNOWN] = "UNKNOWN", [IS_NOT_UNKNOWN] = "NOT UNKNOWN"};
    show_under(x, e->is.operand, UNDER_TEST);
    text_buffer_printf(x->out, " IS %s", words[e->is.test]);
}

static void put_operator_like(struct show *x, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_OPERATOR: put_binary(x, e->op.schema, e->op.name, e->op.left, e->op.right); break;
    case EXPR_AND: put_junction(x, e, "AND", UNDER_AND); break;
    case EXPR_OR: put_junction(x, e, "OR", UNDER_OR); break;
    case EXPR_NOT: text_buffer_puts(x->out, "NOT "); show_under(x, e->unary.operand, UNDER_NOT); break;
    case EXPR_IS: put_is(x, e); break;
    case EXPR_DISTINCT:
        put_distinct(x, e);
        break;
    case EXPR_LIKE: put_like(x, e); break;
    case EXPR_ANY: case EXPR_ALL: put_any(x, e); break;
    case EXPR_EXISTS:
        text_buffer_puts(x->out, "EXISTS (");
        show_subselect(x, e->select);
        text_buffer_putc(x->out, ')');
        break;
    case EXPR_IN:
        put_before_select(x, e->in.left, "=", e->in.select);
        text_buffer_puts(x->out, " IN (");
        show_subselect(x, e->in.select);
        text_buffer_putc(x->out, ')');
        break;
    case EXPR_COLLATE:
        show_under(x, e->collate.operand, UNDER_OPERATOR);
        text_buffer_printf(x->out, " COLLATE %s", quote_identifier(x->p->arena, e->collate.name));
        break;
    default: text_buffer_puts(x->out, deparse_expr(x->p->arena, e)); break;
    }
}

void show_under(struct show *x, const struct expr *e, enum show_parent parent)
{
    if (stack_is_deep()) {
        text_buffer_puts(x->out, deparse_expr(x->p->arena, e));
        return;
    }
    switch (e->kind) {
    case EXPR_LITERAL: put_literal(x, e); return;
    case EXPR_COLUMN: put_column(x, e); return;
    case EXPR_CAST: put_explicit_cast(x, e, parent); return;
    case EXPR_BETWEEN: put_between(x, e, parent); return;
    case EXPR_CASE: put_case(x, e); return;
    case EXPR_COALESCE: put_named_list(x, "COALESCE", e); return;
    case EXPR_GREATEST: put_named_list(x, "GREATEST", e); return;
    case EXPR_LEAST: put_named_list(x, "LEAST", e); return;
    case EXPR_NULLIF: put_named_list(x, "NULLIF", e); return;
    case EXPR_FUNCTION: put_function(x, e); return;
    case EXPR_SUBQUERY: {
        bool opened = x->pretty && (parent == UNDER_OPERATOR || parent == UNDER_TEST || parent == UNDER_CAST);
        text_buffer_puts(x->out, opened ? "((" : "(");
        show_subselect(x, e->select);
        text_buffer_puts(x->out, opened ? "))" : ")");
        return;
    }
    case EXPR_SUBSCRIPT: put_subscripts(x, e); return;
    case EXPR_GROUPING:
        text_buffer_puts(x->out, "GROUPING(");
        put_list(x, &e->list, 0);
        text_buffer_putc(x->out, ')');
        return;
    case EXPR_ARRAY_SUBQUERY:
        text_buffer_puts(x->out, "ARRAY(");
        show_subselect(x, e->select);
        text_buffer_putc(x->out, ')');
        return;
    case EXPR_ARRAY: {
        uint32_t element = type_element_of(typed(x, e));
        text_buffer_puts(x->out, "ARRAY[");
        put_list(x, &e->list, e->list.count && e->list.items[0]->kind == EXPR_ARRAY ? 0 : element);
        text_buffer_putc(x->out, ']');
        return;
    }
    case EXPR_ROW:
        text_buffer_puts(x->out, "ROW(");
        put_list(x, &e->row.list, 0);
        text_buffer_putc(x->out, ')');
        return;
    case EXPR_IN:
        if (!e->in.select) {
            put_in_list(x, e, parent);
            return;
        }
        break;
    case EXPR_PARAMETER: case EXPR_SQL_VALUE: case EXPR_GROUPING_SET: case EXPR_FIELD: case EXPR_DEFAULT: case EXPR_CURRENT_OF:
        text_buffer_puts(x->out, deparse_expr(x->p->arena, e));
        return;
    default: break;
    }
    if (e->kind == EXPR_OPERATOR && !e->op.left && !strcmp(e->op.name, "-") && e->op.right->kind == EXPR_LITERAL && e->op.right->literal.kind != LITERAL_STRING) {
        text_buffer_puts(x->out, deparse_expr(x->p->arena, e));
        return;
    }
    if ((e->kind == EXPR_ANY || e->kind == EXPR_ALL) && !e->any.select && e->any.array->kind == EXPR_ARRAY && e->any.array->list.count > 1 && !strcmp(e->any.name, e->kind == EXPR_ANY ? "=" : "<>") &&
        e->any.array->list.items[0]->kind != EXPR_ARRAY) {    /* how the catalog keeps x IN (1, 2) */
        struct expr in = {.kind = EXPR_IN, .in = {.negated = e->kind == EXPR_ALL, .left = e->any.left, .list = e->any.array->list}};
        put_in_list(x, &in, parent);
        return;
    }
    if (e->kind == EXPR_OPERATOR && are_rows(e->op.left, e->op.right) && (!strcmp(e->op.name, "=") || !strcmp(e->op.name, "<>"))) {
        put_rows(x, e->op.left, e->op.right, e->op.name[0] == '<', parent);
        return;
    }
    if ((e->kind == EXPR_IN && e->in.negated) || (e->kind == EXPR_DISTINCT && e->distinct.negated)) {
        struct expr plain = *e, not = {.kind = EXPR_NOT, .unary = {&plain}};          /* NOT (a IN ...), NOT (a IS DISTINCT FROM b) */
        if (e->kind == EXPR_IN)
            plain.in.negated = false;
        else
            plain.distinct.negated = false;
        show_under(x, &not, parent);
        return;
    }
    bool sublink = e->kind == EXPR_EXISTS || e->kind == EXPR_IN || ((e->kind == EXPR_ANY || e->kind == EXPR_ALL) && e->any.select);
    bool opened = sublink || open_paren(x, e, parent);        /* a subquery has them under everything */
    if (opened && sublink)
        text_buffer_putc(x->out, '(');
    put_operator_like(x, e);
    close_paren(x, opened);
}

/* ---------------------------------------------------------------- the way in */

enum status show_expression(struct session *session, struct arena *arena, const struct table *table, const struct expr *e, struct sql_type want, bool pretty, char **out)
{
    struct planner p;
    struct text_buffer text;
    planner_open(&p, session, arena, "");
    p.bare = true;
    struct query *q = query_new(&p, STATEMENT_SELECT, 0);
    struct scope scope = {.query = q, .aggregates_ok = true, .windows_ok = true, .sets_ok = true};
    if (table) {
        struct rel *r = planner_rel(&p, REL_TABLE, table->name, table->column_count, 0);
        r->table = table;
        for (int i = 0; i < table->column_count; i++) {
            r->names[i] = table->columns[i].name;
            r->types[i] = table->columns[i].type;
        }
        query_add_rel(&p, q, r);
        scope_add(&p, &scope, space_of_rel(&p, r, table->name, table->schema_name));
    }
    text_buffer_open(&text, arena);
    struct show x = {.p = &p, .scope = &scope, .out = &text, .pretty = pretty, .indenting = pretty};
    if (want.oid && (is_string(e) || is_null(e)))
        show_wanted(&x, e, want.oid, UNDER_NOTHING);
    else
        show_expr(&x, e);
    *out = text.bytes ? text.bytes : arena_strdup(arena, "");
    return STATUS_OK;
}
