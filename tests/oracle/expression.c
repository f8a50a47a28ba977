/* tests/oracle/expression.c - typed expressions and conditions at random. */
#include "tests/oracle/expression.h"

#include <stdio.h>
#include <string.h>

bool lite_understands;
int alias_serial;
const struct table *avoided;

static const char *const strings[] = {"", "a", "b", "ab", "abc", "B", "Abc", "x y", "zz", "a%c", "crab", "tide", "0", "10", "9"};
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A table of at most so many rows; when there's none, the smallest. */
const struct table *some_table(double most_rows)
{
    const struct table *smallest = NULL;
    int first = below(table_count);
    for (int i = 0; i < table_count; i++) {
        const struct table *t = &tables[(first + i) % table_count];
        if (t == avoided)
            continue;
        if (t->rows <= most_rows)
            return t;
        if (!smallest || t->rows < smallest->rows)
            smallest = t;
    }
    return smallest;
}

void scope_add(struct scope *scope, int alias, const struct table *t)
{
    struct source *s = &scope->sources[scope->count++];
    *s = (struct source){.alias = alias, .column_count = t->column_count, .base = true, .has_id = t->has_id};
    memcpy(s->columns, t->columns, sizeof t->columns);
}

struct node *table_in_from(const struct table *t, int alias)
{
    struct node *node = node_form(SOURCE, node_text("%s", t->name), NULL);
    node->kind = TABLE;
    node->alias = alias;
    node->column_count = t->column_count;
    memcpy(node->columns, t->columns, sizeof t->columns);
    node->columns[node->column_count++] = (struct name_and_type){"f", REAL};
    return node;
}

struct node *literal(enum sort type)
{
    if (chance(6))
        return node_literal(type, NULL);
    switch (type) {
    case INT: {
        int v = chance(70) ? below(12) - 3 : below(2000) - 1000;
        return node_literal(INT, node_text("%d", v));
    }
    case REAL: {
        bool minus = chance(30);
        int whole = below(50), part = below(4);
        return node_literal(REAL, node_text("%s%d.%s", minus && (whole || part) ? "-" : "", whole, (const char *[]){"0", "25", "5", "75"}[part]));
    }
    case BOOL: return node_literal(BOOL, chance(50) ? "TRUE" : "FALSE");
    default: return node_literal(TEXT, strings[below(COUNT(strings))]);
    }
}

struct node *some_column(enum sort type, const struct scope *scope)
{
    const struct source *found_in[64];
    int found[64], n = 0, level = 0;
    for (const struct scope *s = scope; s; s = s->outer, level++) {
        if (level && n && !chance(25))
            break;
        for (int i = 0; i < s->count; i++)
            for (int c = 0; c < s->sources[i].column_count && n < 64; c++)
                if (s->sources[i].columns[c].type == type) {
                    found_in[n] = &s->sources[i];
                    found[n++] = c;
                }
    }
    if (!n)
        return NULL;
    int i = below(n);
    return node_column(type, found_in[i]->alias, node_text("%s", found_in[i]->columns[found[i]].name));
}

/* Integers and texts as values of the types that SQLite doesn't have: as numerics, dates, intervals ... they compare, group and sort the
 * same, so SQLite gets them as they are. Written as the type, and from the type back. */
static const struct disguise { enum sort sort; const char *there, *back; } disguises[] = {
    {INT, "CAST(@1 AS numeric)", "CAST(@1 AS bigint)"},
    {INT, "CAST(@1 AS bigint)", "@1"},
    {INT, "CAST(CAST(@1 AS numeric(20,6)) * 0.000001 AS numeric)", "CAST(@1 * 1000000 AS bigint)"},
    {INT, "(DATE '2000-01-01' + CAST(@1 AS integer))", "(@1 - DATE '2000-01-01')"},
    {INT, "(CAST(@1 AS integer) * INTERVAL '1 day')", "CAST(extract(epoch FROM @1) / 86400 AS bigint)"},
    {INT, "(TIMESTAMP '2000-01-01' + CAST(@1 AS integer) * INTERVAL '1 hour')", "CAST(extract(epoch FROM (@1 - TIMESTAMP '2000-01-01')) / 3600 AS bigint)"},
    {TEXT, "CAST(@1 AS varchar)", "CAST(@1 AS text)"},
    {TEXT, "CAST(@1 AS bytea)", "convert_from(@1, 'UTF8')"},
};

static const struct disguise *some_disguise(enum sort sort)
{
    const struct disguise *d;
    do
        d = &disguises[below(COUNT(disguises))];
    while (d->sort != sort);
    return d;
}

static bool has_query(const struct node *node)
{
    bool has = node->sort == QUERY || (node->kind == FORM && strstr(node->form, "SELECT"));
    for (int i = 0; i < node->count && !has; i++)
        has = has_query(node->kids[i]);
    return has;
}

struct node *disguised(struct node *value, struct node **back)
{
    if ((value->sort != INT && value->sort != TEXT) || has_query(value))   /* two subqueries that read the same are two */
        return NULL;
    const struct disguise *d = some_disguise(value->sort);
    struct node *there = node_lite(node_form(PART, d->there, value, NULL), "@1");
    *back = node_lite(node_form(value->sort, d->back, there, NULL), "@1");
    return there;
}

struct node *compared(const char *operator, struct node *left, struct node *right)
{
    struct node *node = node_form(BOOL, node_text("(@1 %s @2)", operator), left, right, NULL);
    if (left->sort != right->sort || (left->sort != INT && left->sort != TEXT) || !chance(12))
        return node;
    const char *there = some_disguise(left->sort)->there, *hole = strstr(there, "@1");
    int before = (int)(hole - there);
    return node_lite(node_form(BOOL, node_text("(%.*s@1%s %s %.*s@2%s)", before, there, hole + 2, operator, before, there, hole + 2), left, right, NULL), node->form);
}

struct node *comparison(struct node *left, struct node *right)
{
    static const char *const operators[] = {"=", "<>", "<", "<=", ">", ">="};
    return compared(operators[chance(40) ? 0 : below(6)], left, right);
}

static struct node *expressions(const char *form, enum sort type, const struct scope *scope, int depth, int count)
{
    struct node *list = node_list(", ", count);
    for (int i = 0; i < count; i++)
        node_add(list, expression(type, scope, depth));
    return node_form(type, form, list, NULL);
}

/* One value: an aggregate without GROUP BY has exactly one row; so has the first of an order. */
static struct node *scalar_subquery(enum sort type, const struct scope *outer, int depth)
{
    double work = outer ? outer->work : 1;
    const struct table *t = some_table(200000 / work);
    int alias = alias_serial++;
    struct scope inner = {.outer = outer, .rows = t->rows, .work = work * (t->rows + 1)};
    scope_add(&inner, alias, t);
    struct scope own = inner;                /* an aggregate of outer columns alone would belong to the outer query */
    own.outer = NULL;
    struct node *source = table_in_from(t, alias);
    struct node *where = node_absent();
    if (chance(80))
        where = node_optional(node_form(PART, " WHERE @1", condition(&inner, depth - 1), NULL));
    if (chance(20)) {
        struct node *value = expression(type, &inner, depth - 1);
        return node_form(type, chance(50) ? "(SELECT @1 AS v FROM @2@3 ORDER BY 1 NULLS FIRST LIMIT 1)" : "(SELECT @1 AS v FROM @2@3 ORDER BY 1 DESC NULLS LAST LIMIT 1 OFFSET 1)",
                         value, source, where, NULL);
    }
    return node_form(type, "(SELECT @1 FROM @2@3)", aggregate(type, &own, depth - 1), source, where, NULL);
}

static struct node *integer_expression(const struct scope *scope, int depth)
{
    struct node *a, *b;
    switch (below(10)) {
    case 0: return node_form(INT, "length(@1)", expression(TEXT, scope, depth), NULL);
    case 1: return node_form(INT, "abs(@1)", expression(INT, scope, depth), NULL);
    case 2: return node_form(INT, "(- @1)", expression(INT, scope, depth), NULL);
    case 3:
        a = expression(INT, scope, depth);
        b = expression(INT, scope, depth);
        if (chance(90))
            return node_form(INT, chance(50) ? "(@1 / nullif(@2, 0))" : "(@1 % nullif(@2, 0))", a, b, NULL);
        return node_form(INT, chance(50) ? "(@1 / @2)" : "(@1 % @2)", a, b, NULL);
    case 4:
        a = expression(INT, scope, depth);
        return node_form(INT, "(@1 * @2)", a, literal(INT), NULL);
    default:
        a = expression(INT, scope, depth);
        b = expression(INT, scope, depth);
        return node_form(INT, chance(60) ? "(@1 + @2)" : "(@1 - @2)", a, b, NULL);
    }
}

static struct node *real_expression(const struct scope *scope, int depth)
{
    struct node *a, *b;
    switch (below(6)) {
    case 0: return node_form(REAL, "CAST(@1 AS double precision)", expression(INT, scope, depth), NULL);
    case 1: return node_form(REAL, "abs(@1)", expression(REAL, scope, depth), NULL);
    case 2:
        a = expression(REAL, scope, depth);
        return node_form(REAL, "(@1 * @2)", a, literal(REAL), NULL);
    case 3:
        a = expression(REAL, scope, depth);
        return node_form(REAL, "(@1 + @2)", a, expression(INT, scope, depth), NULL);
    default:
        a = expression(REAL, scope, depth);
        b = expression(REAL, scope, depth);
        return node_form(REAL, chance(60) ? "(@1 + @2)" : "(@1 - @2)", a, b, NULL);
    }
}

static struct node *text_expression(const struct scope *scope, int depth)
{
    struct node *a;
    int first, length;
    switch (below(7)) {
    case 0: return node_form(TEXT, "lower(@1)", expression(TEXT, scope, depth), NULL);
    case 1: return node_form(TEXT, "upper(@1)", expression(TEXT, scope, depth), NULL);
    case 2:
        a = expression(TEXT, scope, depth);
        first = 1 + below(3);
        length = below(4);
        return node_form(TEXT, node_text("substr(@1, %d, %d)", first, length), a, NULL);
    case 3:
        a = expression(TEXT, scope, depth);
        first = below(4);
        length = below(6);
        return node_form(TEXT, node_text("replace(@1, '%s', '%s')", (const char *[]){"a", "b", "c", "ab"}[first], strings[length]), a, NULL);
    case 4: return node_form(TEXT, "CAST(@1 AS text)", expression(INT, scope, depth), NULL);
    default:
        a = expression(TEXT, scope, depth);
        return node_form(TEXT, "(@1 || @2)", a, expression(TEXT, scope, depth), NULL);
    }
}

static struct node *case_expression(enum sort type, const struct scope *scope, int depth)
{
    bool operand = chance(40);
    enum sort of = (enum sort)below(TYPES);
    struct node *first = operand ? expression(of, scope, depth) : node_absent();
    struct node *arms = node_list("", 1);
    for (int n = 1 + chance(30); n > 0; n--) {
        struct node *when = operand ? literal(of) : condition(scope, depth);
        node_add(arms, node_form(PART, " WHEN @1 THEN @2", when, expression(type, scope, depth), NULL));
    }
    struct node *other = node_absent();
    if (chance(70))
        other = node_optional(node_form(PART, " ELSE @1", expression(type, scope, depth), NULL));
    return node_form(type, "CASE @1@2@3 END", first, arms, other, NULL);
}

struct node *expression(enum sort type, const struct scope *scope, int depth)
{
    if (depth <= 0 || chance(25)) {
        struct node *found = scope && chance(75) ? some_column(type, scope) : NULL;
        return found ? found : literal(type);
    }
    int pick = below(100);
    if (pick < 12)
        return case_expression(type, scope, depth - 1);
    if (pick < 19)
        return expressions("coalesce(@1)", type, scope, depth - 1, 2 + below(2));
    if (pick < 23)
        return expressions("nullif(@1)", type, scope, depth - 1, 2);
    if (pick < 28 && table_count)
        return scalar_subquery(type, scope, depth);
    if (pick < 31 && !lite_understands && type != BOOL)
        return expressions(chance(50) ? "greatest(@1)" : "least(@1)", type, scope, depth - 1, 2 + below(2));
    switch (type) {
    case INT: return integer_expression(scope, depth - 1);
    case REAL: return real_expression(scope, depth - 1);
    case BOOL: return condition(scope, depth - 1);
    default: return text_expression(scope, depth - 1);
    }
}

/* x op ANY or ALL (query); SQLite gets what it means. */
static struct node *quantified(const struct scope *scope, int depth, enum sort type)
{
    static const char *const operators[] = {"=", "<>", "<", "<=", ">", ">="};
    struct node *x = expression(type, scope, 0), *q = subquery(&type, 1, scope, depth, false);
    const char *op = operators[below(6)];
    int z = alias_serial++;
    bool any = chance(50);
    struct node *node = node_form(BOOL, node_text(any ? "(@1 %s ANY (@2))" : "(@1 %s ALL (@2))", op), x, q, NULL);
    return node_lite(node, node_text(any ? "CASE WHEN EXISTS (SELECT 1 FROM (@2) AS z%d WHERE @1 %s z%d.c0) THEN TRUE WHEN EXISTS (SELECT 1 FROM (@2) AS z%d WHERE (@1 %s z%d.c0) IS NULL) THEN NULL ELSE FALSE END"
                                         : "CASE WHEN EXISTS (SELECT 1 FROM (@2) AS z%d WHERE NOT (@1 %s z%d.c0)) THEN FALSE WHEN EXISTS (SELECT 1 FROM (@2) AS z%d WHERE (@1 %s z%d.c0) IS NULL) THEN NULL ELSE TRUE END",
                                     z, op, z, z, op, z));
}

static struct node *in_list(enum sort type, const struct scope *scope, int depth)
{
    struct node *x = expression(type, scope, depth), *list = node_list(", ", 1);
    for (int n = 1 + below(chance(5) ? 30 : 4); n > 0; n--)
        node_add(list, chance(90) ? literal(type) : expression(type, scope, depth - 1));
    return node_form(BOOL, chance(75) ? "(@1 IN (@2))" : "(@1 NOT IN (@2))", x, list, NULL);
}

static struct node *in_subquery(enum sort type, const struct scope *scope, int depth)
{
    struct node *x = expression(type, scope, depth - 1);
    if (chance(15)) {                        /* two columns at once */
        enum sort types[2] = {type, (enum sort)below(TYPES)};
        struct node *y = expression(types[1], scope, 0);
        return node_form(BOOL, chance(70) ? "((@1, @2) IN (@3))" : "((@1, @2) NOT IN (@3))", x, y, subquery(types, 2, scope, depth, false), NULL);
    }
    return node_form(BOOL, chance(60) ? "(@1 IN (@2))" : "(@1 NOT IN (@2))", x, subquery(&type, 1, scope, depth, chance(15)), NULL);
}

struct node *condition(const struct scope *scope, int depth)
{
    enum sort type = (enum sort)below(TYPES);
    int pick = below(100);
    struct node *a, *b, *c;
    if (depth > 0 && pick < 25) {
        a = condition(scope, depth - 1);
        b = condition(scope, depth - 1);
        return node_form(BOOL, chance(60) ? "(@1 AND @2)" : "(@1 OR @2)", a, b, NULL);
    }
    if (depth > 0 && pick < 32)
        return node_form(BOOL, "(NOT @1)", condition(scope, depth - 1), NULL);
    if (pick < 38) {
        a = expression(type, scope, depth - 1);
        return node_form(BOOL, chance(50) ? "(@1 IS NULL)" : "(@1 IS NOT NULL)", a, NULL);
    }
    if (pick < 45)
        return in_list(type, scope, depth - 1);
    if (pick < 51) {
        a = expression(type, scope, depth - 1);
        b = expression(type, scope, depth - 2);
        c = expression(type, scope, depth - 2);
        return node_form(BOOL, chance(75) ? "(@1 BETWEEN @2 AND @3)" : "(@1 NOT BETWEEN @2 AND @3)", a, b, c, NULL);
    }
    if (pick < 56) {
        a = expression(TEXT, scope, depth - 1);
        bool not = chance(25);
        return node_form(BOOL, node_text("(@1%s LIKE '%s')", not ? " NOT" : "", (const char *[]){"a%", "%b%", "_b%", "%", "", "a_c", "%c"}[below(7)]), a, NULL);
    }
    if (depth > 0 && pick < 64 && table_count) {
        a = subquery(&type, 1, scope, depth - 1, false);
        return node_form(BOOL, chance(60) ? "(EXISTS (@1))" : "(NOT EXISTS (@1))", a, NULL);
    }
    if (depth > 0 && pick < 73 && table_count)
        return in_subquery(type, scope, depth - 1);
    if (depth > 0 && pick < 76 && table_count)
        return quantified(scope, depth - 1, type);
    if (pick < 80) {
        a = expression(type, scope, depth - 1);
        b = expression(type, scope, depth - 1);
        return node_form(BOOL, chance(50) ? "(@1 IS DISTINCT FROM @2)" : "(@1 IS NOT DISTINCT FROM @2)", a, b, NULL);
    }
    if (pick < 82) {
        a = expression(BOOL, scope, depth - 1);
        return node_form(BOOL, (const char *[]){"(@1 IS TRUE)", "(@1 IS NOT TRUE)", "(@1 IS FALSE)", "(@1 IS NOT FALSE)"}[below(4)], a, NULL);
    }
    a = expression(type, scope, depth - 1);
    b = expression(type, scope, depth - 1);
    if (pick < 97)
        return comparison(a, b);
    c = expression(TEXT, scope, depth - 1);  /* rows */
    return node_form(BOOL, node_text("((@1, @3) %s (@2, @4))", (const char *[]){"=", "<>", "<", "<=", ">", ">="}[below(6)]), a, b, c, expression(TEXT, scope, depth - 1), NULL);
}

/* ---- Aggregates ---- */

static struct node *maybe_filtered(struct node *call, const struct scope *scope, int depth)
{
    if (!chance(18))
        return call;
    return node_form(call->sort, "@1 FILTER (WHERE @2)", call, condition(scope, depth), NULL);
}

static struct node *crabtree_aggregate(enum sort type, const struct scope *scope, int depth)
{
    struct node *a = expression(type == TEXT ? TEXT : chance(50) ? INT : REAL, scope, depth);
    if (type == TEXT)
        return node_form(TEXT, (const char *[]){"string_agg(@1, ',' ORDER BY @1 DESC NULLS LAST)", "string_agg(DISTINCT @1, '+' ORDER BY @1)", "CAST(array_agg(CAST(@1 AS text) ORDER BY @1 NULLS FIRST) AS text)"}[below(3)], a, NULL);
    return node_form(REAL, (const char *[]){"CAST(stddev(@1) AS double precision)", "CAST(variance(@1) AS double precision)", "CAST(avg(CAST(@1 AS numeric)) AS double precision)",
                                            "CAST(sum(CAST(@1 AS numeric) / 7) AS double precision)"}[below(4)], a, NULL);
}

struct node *aggregate(enum sort type, const struct scope *scope, int depth)
{
    struct scope here = *scope;
    here.outer = NULL;                       /* as in scalar_subquery */
    scope = &here;
    struct node *call;
    enum sort of = (enum sort)below(TYPES);
    switch (type) {
    case INT:
        switch (below(11)) {
        case 8: return node_lite(node_form(INT, "CAST(sum(CAST(@1 AS numeric)) AS bigint)", expression(INT, scope, depth), NULL), "sum(@1)");
        case 9: return node_lite(node_form(INT, "(max(DATE '2000-01-01' + CAST(@1 AS integer)) - DATE '2000-01-01')", expression(INT, scope, depth), NULL), "max(@1)");
        case 10: return node_lite(node_form(INT, "CAST(min(CAST(@1 AS numeric) / 8) * 8 AS bigint)", expression(INT, scope, depth), NULL), "min(@1)");
        case 0: call = node_form(INT, "count(*)", NULL); break;
        case 1: call = node_form(INT, "count(@1)", expression(of, scope, depth), NULL); break;
        case 2: case 3: call = node_form(INT, "count(DISTINCT @1)", expression(of, scope, depth), NULL); break;
        case 4: call = node_form(INT, "sum(@1)", expression(INT, scope, depth), NULL); break;
        case 5: call = node_form(INT, "sum(DISTINCT @1)", expression(INT, scope, depth), NULL); break;
        case 6: call = node_form(INT, "min(@1)", expression(INT, scope, depth), NULL); break;
        default: call = node_form(INT, "max(@1)", expression(INT, scope, depth), NULL);
        }
        break;
    case REAL:
        if (!lite_understands && chance(30))
            return crabtree_aggregate(type, scope, depth);
        switch (below(5)) {
        case 0: call = node_form(REAL, "sum(@1)", expression(REAL, scope, depth), NULL); break;
        case 1: call = node_form(REAL, "avg(@1)", expression(REAL, scope, depth), NULL); break;
        case 2: call = node_form(REAL, "CAST(avg(@1) AS double precision)", expression(INT, scope, depth), NULL); return call;
        case 3: call = node_form(REAL, "min(@1)", expression(REAL, scope, depth), NULL); break;
        default: call = node_form(REAL, "max(@1)", expression(REAL, scope, depth), NULL);
        }
        break;
    case BOOL:
        if (chance(50))
            call = node_lite(node_form(BOOL, "bool_and(@1)", condition(scope, depth), NULL), "min(@1)");
        else
            call = node_lite(node_form(BOOL, "bool_or(@1)", condition(scope, depth), NULL), "max(@1)");
        break;
    default:
        if (!lite_understands && chance(30))
            return crabtree_aggregate(type, scope, depth);
        call = node_form(TEXT, chance(50) ? "min(@1)" : "max(@1)", expression(TEXT, scope, depth), NULL);
    }
    return maybe_filtered(call, scope, depth);
}
