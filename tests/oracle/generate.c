/* tests/oracle/generate.c - queries at random: FROM, grouping, set operations, WITH. */
#include "tests/oracle/expression.h"
#include "tests/oracle/windows.h"

#include <stdio.h>
#include <string.h>

/* ---- FROM ---- */

/* A column that JOIN ... USING merged, where it can be named alone. */
struct merged { enum sort type; struct node *node; };

static struct node *equality(enum sort type, int left, const char *left_name, int right, const char *right_name)
{
    return compared("=", node_column(type, left, left_name), node_column(type, right, right_name));
}

/* left.x = right.y of one type; or of ids, where there are some. */
static struct node *key_condition(const struct scope *left, const struct source *right)
{
    for (int tries = 0; tries < 30; tries++) {
        const struct source *a = &left->sources[below(left->count)];
        const struct name_and_type *x = &a->columns[below(a->column_count)], *y = &right->columns[below(right->column_count)];
        if (x->type == y->type && (x->type != BOOL || tries > 20))
            return equality(x->type, a->alias, node_text("%s", x->name), right->alias, node_text("%s", y->name));
    }
    return node_form(BOOL, "(1 = 1)", NULL);
}

static struct node *values_source(struct scope *scope)
{
    int alias = alias_serial++, columns = 1 + below(3), rows = 1 + below(5);
    struct source *s = &scope->sources[scope->count++];
    *s = (struct source){.alias = alias, .column_count = columns};
    struct node *list = node_list(", ", 1);
    for (int c = 0; c < columns; c++) {
        s->columns[c].type = (enum sort)below(TYPES);
        snprintf(s->columns[c].name, sizeof s->columns[c].name, "column%d", c + 1);
    }
    for (int r = 0; r < rows; r++) {
        struct node *row = node_list(", ", columns);
        for (int c = 0; c < columns; c++)
            node_add(row, literal(s->columns[c].type));
        node_add(list, node_form(PART, "(@1)", row, NULL));
    }
    struct node *node = node_form(SOURCE, NULL, node_form(QUERY, "VALUES @1", list, NULL), NULL);
    node->kind = DERIVED;
    node->alias = alias;
    node->column_count = columns;
    memcpy(node->columns, s->columns, sizeof s->columns);
    return node;
}

/* One more source; what it may look at from inside is `seen` (LATERAL) or nothing. */
static struct node *one_source(struct scope *scope, const struct scope *seen, int depth, double most_rows)
{
    if (chance(4))
        return values_source(scope);
    if (view_count && chance(7) && !avoided && most_rows >= 60) {
        const struct table *v = &views[below(view_count)];
        int alias = alias_serial++;
        scope->rows = v->rows;
        scope_add(scope, alias, v);
        scope->sources[scope->count - 1].base = false;
        struct node *node = table_in_from(v, alias);
        node->column_count--;                /* it has no f */
        return node;
    }
    if (depth <= 0 || !chance(15) || !table_count) {
        const struct table *t = some_table(most_rows);
        int alias = alias_serial++;
        scope->rows = t->rows;
        scope_add(scope, alias, t);
        struct node *node = table_in_from(t, alias);
        if (!strcmp(t->name, "w"))
            node->column_count--;            /* a WITH query has no f */
        return node;
    }
    int columns = 1 + below(3), alias = alias_serial++;
    enum sort types[3];
    for (int c = 0; c < columns; c++)
        types[c] = (enum sort)below(TYPES);
    bool lateral = seen && !lite_understands && chance(60);
    struct node *node = node_form(SOURCE, lateral ? "LATERAL " : NULL, subquery(types, columns, lateral ? seen : NULL, depth - 1, chance(25)), NULL);
    struct source *s = &scope->sources[scope->count++];
    *s = (struct source){.alias = alias, .column_count = columns};
    node->kind = DERIVED;
    node->alias = alias;
    node->column_count = columns;
    for (int c = 0; c < columns; c++) {
        s->columns[c].type = types[c];
        snprintf(s->columns[c].name, sizeof s->columns[c].name, "c%d", c);
    }
    memcpy(node->columns, s->columns, sizeof s->columns);
    scope->rows = 30;
    return node;
}

static struct node *join_node(enum join join, struct node *left, struct node *right, struct node *how)
{
    struct node *node = node_form(SOURCE, NULL, left, right, NULL);
    node->kind = JOIN;
    node->join = join;
    node->alias = alias_serial++;
    if (how)
        node_add(node, how);
    return node;
}

/* USING or NATURAL, where the last source and the ones before it have exactly the columns in common that this needs. */
static struct node *by_name(const struct scope *scope, const struct source *right, bool natural, enum join join, struct merged *merged)
{
    const struct name_and_type *common = NULL;
    const struct source *whose = NULL;
    struct node *all = node_list(" AND ", 1);
    if (natural && (scope->count != 1 || !scope->sources[0].base || !right->base))
        return NULL;
    for (int c = 0; c < right->column_count; c++) {
        int times = 0;
        for (int i = 0; i < scope->count; i++)
            for (int k = 0; k < scope->sources[i].column_count; k++)
                if (!strcmp(scope->sources[i].columns[k].name, right->columns[c].name)) {
                    times += scope->sources[i].columns[k].type == right->columns[c].type ? 1 : 2;
                    if (!common || natural)
                        whose = &scope->sources[i];
                }
        if (times == 1 && (natural || !common)) {
            common = &right->columns[c];
            node_add(all, equality(common->type, whose->alias, node_text("%s", common->name), right->alias, node_text("%s", common->name)));
        }
    }
    if (!common)
        return NULL;
    struct node *how;
    if (natural) {
        node_add(all, equality(REAL, whose->alias, "f", right->alias, "f"));
        how = node_form(PART, "", node_form(BOOL, "(@1)", all, NULL), NULL);
    } else {
        how = node_form(PART, node_text(" USING (%s)", common->name), node_form(BOOL, "(@1)", all, NULL), NULL);
        struct node *l = node_column(common->type, whose->alias, node_text("%s", common->name)), *r = node_column(common->type, right->alias, node_text("%s", common->name));
        merged->type = common->type;
        merged->node = node_lite(node_form(common->type, node_text("%s", common->name), l, r, NULL), join == FULL_JOIN ? "coalesce(@1, @2)" : join == RIGHT_JOIN ? "@2" : "@1");
        merged->node->frozen = true;
    }
    how->frozen = true;
    return how;
}

static bool padded(const struct node *source)
{
    for (int i = 0; i < table_count; i++)
        if (source->form && !strcmp(tables[i].name, source->form))
            return tables[i].padding > 0 || !strcmp(source->form, "w");
    return true;                             /* views, too: what has no f can't be joined by it */
}

static bool name_is_alone(const struct scope *scope, const struct node *merged)
{
    int times = 0;
    for (int i = 0; i < scope->count; i++)
        for (int c = 0; c < scope->sources[i].column_count; c++)
            times += !strcmp(scope->sources[i].columns[c].name, merged->form);
    return times == 2;
}

/* tree JOIN (b JOIN c ON ...) ON ... */
static struct node *nested_join(struct node *tree, struct scope *scope, int depth, double most_rows, double *rows)
{
    struct scope before = *scope, inner = {.outer = scope->outer};
    struct node *b = one_source(&inner, NULL, depth - 1, most_rows * 2), *c = NULL;
    double b_rows = inner.rows;
    struct scope only_b = inner;
    c = one_source(&inner, NULL, depth - 1, most_rows * 6 / (b_rows + 1));
    struct node *pair = join_node((enum join)below(4), b, c, node_form(PART, " ON @1", key_condition(&only_b, &inner.sources[1]), NULL));
    pair->nested = true;
    double pair_rows = b_rows * inner.rows / 6 + b_rows + inner.rows;
    scope->sources[scope->count++] = inner.sources[0];
    scope->sources[scope->count++] = inner.sources[1];
    struct node *on = key_condition(&before, &inner.sources[below(2)]);
    *rows = *rows * pair_rows / 6 + *rows + pair_rows;
    return join_node((enum join)below(4), tree, pair, node_form(PART, " ON @1", on, NULL));
}

/* Fills the scope, and says how many rows come out. where: what a list of tables is joined by; NULL: no such lists. */
static struct node *from(struct scope *scope, int depth, struct node **where, struct merged *merged)
{
    int wanted = chance(40) ? 1 : chance(55) ? 2 : chance(70) ? 3 : 4 + below(3);
    bool commas = wanted > 1 && chance(20) && where;   /* joined in WHERE */
    double most = 60000 / (scope->outer ? scope->outer->work : 1);
    if (most < 30)
        most = 30;
    scope->rows = 1;
    struct node *tree = one_source(scope, scope->outer, depth, most);
    double rows = scope->rows;
    if (where)
        *where = NULL;
    while (scope->count < wanted) {
        struct scope before = *scope;
        int kind = below(100);
        bool cross = !commas && kind < 8, by_names = !commas && kind >= 80, loose = !commas && kind >= 8 && kind < 16;
        if (!commas && wanted - scope->count >= 2 && chance(25)) {
            tree = nested_join(tree, scope, depth, most / (rows + 1), &rows);
            merged->node = NULL;
            continue;
        }
        double room = cross || loose ? most / 2 / (rows + 1) : most * 3 / (rows + 1);
        struct scope here = *scope;
        struct node *right = one_source(scope, &here, depth - 1, room);
        const struct source *last = &scope->sources[scope->count - 1];
        double right_rows = scope->rows;
        merged->node = NULL;
        if (commas) {
            struct node *key = key_condition(&before, last);
            *where = *where ? node_form(BOOL, "(@1 AND @2)", *where, key, NULL) : key;
            tree = join_node(COMMA_JOIN, tree, right, NULL);
            rows = rows * right_rows / 6 + 1;
            continue;
        }
        if (cross) {
            tree = join_node(CROSS_JOIN, tree, right, NULL);
            rows = rows * right_rows + 1;
            continue;
        }
        bool lateral = right->kind == DERIVED && right->form;
        enum join join = lateral ? (enum join)below(2) : kind < 45 ? INNER_JOIN : kind < 65 ? LEFT_JOIN : kind < 73 ? RIGHT_JOIN : kind < 80 ? FULL_JOIN : (enum join)below(4);
        struct node *how = NULL;
        if (loose && chance(40))
            join = LEFT_JOIN;
        if (by_names) {
            bool natural = chance(30) && !(padded(tree) && padded(right));
            how = by_name(&before, last, natural, join, merged);
        }
        if (!how) {
            struct node *on;
            if (loose && join != FULL_JOIN) {
                struct scope own = *scope;
                own.outer = NULL;
                on = condition(&own, depth > 1 ? 1 : 0);
            } else {
                on = key_condition(&before, last);
                /* PostgreSQL takes FULL JOIN on equalities, or on a constant */
                if (chance(30) && (join != FULL_JOIN || on->count)) {
                    struct scope own = *scope;
                    own.outer = NULL;
                    on = node_form(BOOL, "(@1 AND @2)", on, condition(&own, 0), NULL);
                }
            }
            how = node_form(PART, " ON @1", on, NULL);
        }
        tree = join_node(join, tree, right, how);
        rows = (loose ? rows * right_rows : rows * right_rows / 6) + 1 + (join == FULL_JOIN ? rows + right_rows : 0);
    }
    scope->rows = rows;
    scope->work = (scope->outer ? scope->outer->work : 1) * (rows + 1);
    if (merged->node && !name_is_alone(scope, merged->node))
        merged->node = NULL;
    return tree;
}

/* ---- SELECT ---- */

static struct node *order_by_all(int count, bool limit)
{
    int order[8];
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = below(i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    struct node *keys = node_list(", ", count);
    for (int i = 0; i < count; i++) {
        bool down = chance(30);
        node_add(keys, node_form(PART, node_text("%d%s NULLS %s", order[i] + 1, down ? " DESC" : "", chance(50) ? "FIRST" : "LAST"), NULL));
    }
    struct node *node = node_form(PART, " ORDER BY @1@2@3", keys, NULL);
    bool cut = limit && chance(45);
    const char *most = cut && chance(8) && table_count && !avoided ? node_text(" LIMIT (SELECT count(*) / %d FROM %s)", 1 + below(4), tables[below(table_count)].name)
                                                                    : node_text(" LIMIT %d", chance(70) ? below(12) : below(200));
    node_add(node, cut ? node_optional(node_form(PART, most, NULL)) : node_absent());
    node_add(node, cut && chance(40) ? node_optional(node_form(PART, node_text(" OFFSET %d", chance(70) ? below(6) : below(120)), NULL)) : node_absent());
    return node;
}

static struct node *select_node(struct node *distinct, struct node *list, struct node *source, struct node *where, struct node *group, struct node *having)
{
    return node_form(QUERY, "SELECT @1@2 FROM @3@4@5@6", distinct, list, source, where, group, having, NULL);
}

static struct node *named(struct node *value, int i) { return node_form(PART, node_text("@1 AS c%d", i), value, NULL); }

/* The sum or average of column f, whose last bits hang on the order; only where nothing looks at it again. */
static struct node *inexact_aggregate(const struct scope *scope)
{
    const struct source *s = &scope->sources[below(scope->count)];
    if (!s->base || !s->has_id)
        return NULL;
    return node_form(REAL, (const char *[]){"sum(@1)", "avg(@1)", "sum(@1) FILTER (WHERE @1 > 0)", "min(@1)"}[below(4)], node_column(REAL, s->alias, "f"), NULL);
}

static struct node *grouped(const enum sort *types, int count, struct scope *scope, int depth, struct node *source, struct node *where, bool top)
{
    struct node *list = node_list(", ", count), *keys = node_list(", ", 1), *having = node_absent();
    struct scope here = *scope;
    here.outer = NULL;
    int small = depth > 2 ? 1 : 0;
    for (int i = 0; i < count; i++) {
        if (chance(50)) {
            struct node *key = expression(types[i], &here, small), *shown = NULL;
            struct node *other = chance(12) ? disguised(key, &shown) : NULL;
            if (other) {
                node_add(list, named(shown, i));
                node_add(keys, node_lite(node_form(PART, "@1", other, NULL), types[i] == INT ? "(@1 + 0)" : "(@1 || '')"));   /* not a column's number */
                continue;
            }
            node_add(list, named(key, i));
            node_add(keys, node_form(PART, node_text("%d", i + 1), NULL));
            continue;
        }
        if (types[i] == INT && !lite_understands && chance(15)) {   /* a window over the groups; SQLite stumbles over GROUP BY 1 below one */
            struct node *over = aggregate(INT, scope, small);
            node_add(list, named(node_form(INT, (const char *[]){"rank() OVER (ORDER BY @1 NULLS FIRST)", "sum(@1) OVER ()", "max(@1) OVER (ORDER BY @1 DESC NULLS LAST)"}[below(3)], over, NULL), i));
            continue;
        }
        struct node *call = top && types[i] == REAL && chance(50) ? inexact_aggregate(scope) : NULL;
        if (!call)
            call = aggregate(types[i], scope, small);
        if (chance(12))
            call = node_form(types[i], "coalesce(@1, @2)", call, literal(types[i]), NULL);
        node_add(list, named(call, i));
    }
    const struct source *wide = &scope->sources[below(scope->count)];
    if (wide->has_id && chance(20))          /* as many groups as rows: more than little memory holds */
        node_add(keys, node_column(INT, wide->alias, "id"));
    if (chance(4)) {                         /* says nothing of the groups */
        having = node_optional(node_form(PART, " HAVING @1", comparison(literal(INT), literal(INT)), NULL));
    } else if (chance(keys->count ? 30 : 5)) {
        enum sort of = (enum sort)below(TYPES);
        struct node *call = aggregate(of, scope, 0);
        having = node_optional(node_form(PART, " HAVING @1", chance(20) ? node_form(BOOL, "(@1 IS NOT NULL)", call, NULL) : comparison(call, literal(of)), NULL));
    }
    struct node *group = keys->count ? node_form(PART, " GROUP BY @1", keys, NULL) : node_absent();
    return select_node(node_absent(), list, source, where, group, having);
}

static struct node *simple_select(const enum sort *types, int count, const struct scope *outer, int depth, bool top)
{
    struct scope scope = {.outer = outer};
    struct node *joined;
    struct merged merged = {0};
    struct node *source = from(&scope, depth - 1, &joined, &merged), *where = node_absent();
    struct node *p = chance(70) ? condition(&scope, depth - 1) : NULL;
    if (p && joined)
        p = node_form(BOOL, "(@1 AND @2)", joined, p, NULL);
    else if (!p)
        p = joined;
    if (p)
        where = node_optional(node_form(PART, " WHERE @1", p, NULL));
    if (chance(32))
        return grouped(types, count, &scope, depth, source, where, top);
    struct node *list = node_list(", ", count);
    bool windows = chance(outer ? 4 : 15), distinct = !windows && chance(20);
    for (int i = 0; i < count; i++) {
        struct node *value = windows && chance(60) ? window_call(types[i], &scope) : NULL;
        if (!value && merged.node && merged.type == types[i] && chance(60))
            value = merged.node;
        node_add(list, named(value ? value : expression(types[i], &scope, depth - 1), i));
    }
    return select_node(distinct ? node_optional(node_form(PART, "DISTINCT ", NULL)) : node_absent(), list, source, where, node_absent(), node_absent());
}

static char *column_names(int count)
{
    char *names = node_text("c0");
    for (int i = 1; i < count; i++)
        names = node_text("%s, c%d", names, i);
    return names;
}

static struct node *set_operation(struct node *left, struct node *right, int count)
{
    int pick = below(100);
    const char *word = pick < 30 ? "UNION" : pick < 60 ? "UNION ALL" : pick < 73 ? "INTERSECT" : pick < 86 ? "EXCEPT" : pick < 93 ? "INTERSECT ALL" : "EXCEPT ALL";
    struct node *node = node_form(QUERY, node_text("(@1) %s (@2)", word), left, right, NULL);
    if (pick < 86)
        return node_lite(node, node_text("SELECT * FROM (@1) %s SELECT * FROM (@2)", word));
    /* the nth of a row goes with the nth of the other side */
    const char *names = column_names(count);
    return node_lite(node, node_text("SELECT %s FROM (SELECT %s, row_number() OVER (PARTITION BY %s) AS n FROM (@1) %.*s SELECT %s, row_number() OVER (PARTITION BY %s) AS n FROM (@2))",
                                     names, names, names, (int)strcspn(word, " "), word, names, names));
}

static struct node *unordered(const enum sort *types, int count, const struct scope *outer, int depth, bool top);

static struct node *with_order(struct node *query, struct node *order)
{
    struct node *node = node_form(QUERY, "@1@2", query, node_optional(order), NULL);
    return node;
}

static struct node *values_query(const enum sort *types, int count)
{
    struct node *rows = node_list(", ", 1);
    for (int r = 1 + below(3); r > 0; r--) {
        struct node *row = node_list(", ", count);
        for (int i = 0; i < count; i++)
            node_add(row, literal(types[i]));
        node_add(rows, node_form(PART, "(@1)", row, NULL));
    }
    char *lite = node_text("SELECT column1 AS c0");
    for (int i = 1; i < count; i++)
        lite = node_text("%s, column%d AS c%d", lite, i + 1, i);
    return node_lite(node_form(QUERY, "VALUES @1", rows, NULL), node_text("%s FROM (VALUES @1)", lite));
}

/* What a set operation puts to the left side: itself one, the first of an order, a list of values, a SELECT. */
static struct node *set_right(const enum sort *types, int count, const struct scope *outer, int depth)
{
    int pick = below(100);
    if (pick < 20 && depth > 0)
        return unordered(types, count, outer, depth - 1, false);
    if (pick < 32)
        return with_order(simple_select(types, count, outer, depth, false), order_by_all(count, true));
    return pick < 38 ? values_query(types, count) : simple_select(types, count, outer, depth, false);
}

static struct node *unordered(const enum sort *types, int count, const struct scope *outer, int depth, bool top)
{
    struct node *node = simple_select(types, count, outer, depth, top);
    for (int more = depth > 0 && chance(outer ? 7 : 15) ? 1 + chance(25) : 0; more > 0; more--)
        node = set_operation(node, set_right(types, count, outer, depth - 1), count);
    return node;
}

/* The first of each c0, by an order of everything. */
static struct node *distinct_on(struct node *query, int count)
{
    char *order = node_text("c0%s NULLS %s", chance(30) ? " DESC" : "", chance(50) ? "FIRST" : "LAST");
    for (int i = 1; i < count; i++)
        order = node_text("%s, c%d%s NULLS %s", order, i, chance(30) ? " DESC" : "", chance(50) ? "FIRST" : "LAST");
    const char *limit = chance(30) ? node_text(" LIMIT %d", below(20)) : "", *names = column_names(count);
    struct node *node = node_form(QUERY, node_text("SELECT DISTINCT ON (c0) %s FROM (@1) AS x ORDER BY %s%s", names, order, limit), query, NULL);
    return node_lite(node, node_text("SELECT %s FROM (SELECT %s, row_number() OVER (PARTITION BY c0 ORDER BY %s) AS n FROM (@1)) WHERE n = 1 ORDER BY %s%s", names, names, order, order, limit));
}

void views_make(void)
{
    alias_serial = 0;
    lite_understands = true;
    while (view_count < VIEWS && chance(60)) {
        struct table *v = &views[view_count];
        snprintf(v->name, sizeof v->name, "v%d", view_count);
        v->rows = 60;
        v->column_count = 1 + below(3);
        enum sort types[3];
        for (int c = 0; c < v->column_count; c++) {
            types[c] = v->columns[c].type = (enum sort)below(TYPES);
            snprintf(v->columns[c].name, sizeof v->columns[c].name, "c%d", c);
        }
        struct node *query = subquery(types, v->column_count, NULL, 2, false);
        text_add(&v->create, "CREATE VIEW %s AS %s", v->name, node_write(query, CRABTREE, NULL));
        text_add(&v->lite_create, "CREATE VIEW %s AS %s", v->name, node_write(query, SQLITE, NULL));
        view_count++;
    }
    nodes_end();
}

struct node *subquery(const enum sort *types, int count, const struct scope *outer, int depth, bool order)
{
    struct node *node = unordered(types, count, outer, depth, false);
    return order ? with_order(node, order_by_all(count, true)) : node;
}

/* WITH w: seen as a table while the statement is made. */
static struct node *with_query(struct table *w)
{
    memset(w, 0, sizeof *w);
    strcpy(w->name, "w");
    w->rows = 40;
    w->column_count = 2;
    enum sort types[2];
    for (int c = 0; c < 2; c++) {
        types[c] = w->columns[c].type = (enum sort)below(TYPES);
        snprintf(w->columns[c].name, sizeof w->columns[c].name, "c%d", c);
    }
    if (chance(20)) {
        w->columns[0].type = w->columns[1].type = INT;
        w->rows = 8;
        int end = below(9), step = 1 + below(3);
        return node_form(PART, node_text("WITH RECURSIVE w(c0, c1) AS (SELECT 1, %d UNION%s SELECT c0 + 1, (c1 * 3) %% 7 FROM w WHERE c0 < %d) ", step, chance(50) ? " ALL" : "", end), NULL);
    }
    const char *how = (const char *[]){"", "", "MATERIALIZED ", "NOT MATERIALIZED "}[below(4)];
    return node_form(PART, node_text("WITH w AS %s(@1) ", how), subquery(types, 2, NULL, 2, false), NULL);
}

static const struct table *largest_table(void)
{
    const struct table *t = &tables[0];
    for (int i = 1; i < table_count; i++)
        if (tables[i].rows > t->rows)
            t = &tables[i];
    return t;
}

/* The first few of many rows, many of which begin with the same values: what top-n keeps and throws out. */
static struct node *first_of_many(void)
{
    const struct table *t = largest_table(), *other = some_table(20000.0 / (t->rows + 1));
    int alias = alias_serial++, count = 2 + below(3);
    struct scope scope = {.rows = t->rows, .work = t->rows + 1};
    scope_add(&scope, alias, t);
    struct node *source = table_in_from(t, alias), *list = node_list(", ", count), *where = node_absent();
    if (chance(70)) {
        int second = alias_serial++;
        scope_add(&scope, second, other);
        source = join_node(CROSS_JOIN, source, table_in_from(other, second), NULL);
    }
    for (int i = 0; i < count; i++)
        node_add(list, named(expression((enum sort)below(TYPES), &scope, below(2)), i));
    if (chance(30))
        where = node_optional(node_form(PART, " WHERE @1", condition(&scope, 0), NULL));
    struct node *order = order_by_all(count, false);
    order->kids[1] = node_form(PART, node_text(" LIMIT %d", 1 + below(chance(80) ? 12 : 200)), NULL);
    return node_form(QUERY, "@1@2", select_node(node_absent(), list, source, where, node_absent(), node_absent()), order, NULL);
}

/* Sums of column f over the largest table: their last bits show in which order they were added up. */
static struct node *sums_of_floats(void)
{
    const struct table *t = largest_table();
    int alias = alias_serial++;
    struct scope scope = {.rows = t->rows, .work = t->rows + 1};
    scope_add(&scope, alias, t);
    struct node *f = node_column(REAL, alias, "f"), *list = node_list(", ", 1), *group = node_absent(), *key = NULL;
    if (chance(60)) {
        key = expression((enum sort)below(TYPES), &scope, below(2));
        node_add(list, named(key, 0));
        group = node_optional(node_form(PART, " GROUP BY 1", NULL));
    }
    for (int n = 1 + below(3); n > 0; n--)
        if (!lite_understands && chance(40))
            node_add(list, node_form(REAL, (const char *[]){"CAST(stddev(@1) AS double precision)", "CAST(variance(@1) AS double precision)", "CAST(corr(@1, @1 / 3) AS double precision)"}[below(3)], f, NULL));
        else
            node_add(list, node_form(REAL, (const char *[]){"sum(@1)", "avg(@1)", "sum(@1 / 3)", "sum(@1) FILTER (WHERE @1 > 0)"}[below(4)], f, NULL));
    struct node *where = chance(40) ? node_optional(node_form(PART, " WHERE @1", condition(&scope, 1), NULL)) : node_absent();
    return select_node(node_absent(), list, table_in_from(t, alias), where, group, node_absent());
}

/* What an index alone can answer, if it has that column. */
static struct node *one_column(bool ordered)
{
    const struct table *t = chance(60) ? largest_table() : some_table(3000);
    const struct name_and_type *column = &t->columns[chance(50) ? 0 : below(t->column_count)];
    int alias = alias_serial++;
    struct node *c = node_column(column->type, alias, node_text("%s", column->name)), *list = node_list(", ", 1), *where = node_absent(), *group = node_absent();
    int pick = ordered ? 0 : below(3);
    if (pick < 2)
        node_add(list, named(c, 0));
    if (pick == 1)
        group = node_form(PART, " GROUP BY 1", NULL);
    if (pick > 0) {
        node_add(list, named(node_form(INT, "count(*)", NULL), pick == 1));
        if (pick == 2 && column->type != BOOL)
            node_add(list, named(node_form(column->type, chance(50) ? "min(@1)" : "max(@1)", c, NULL), 1));
    }
    if (chance(60)) {
        struct node *low = literal(column->type), *high = literal(column->type);
        where = node_optional(node_form(PART, " WHERE @1", chance(50) ? comparison(c, low) : node_form(BOOL, "(@1 BETWEEN @2 AND @3)", c, low, high, NULL), NULL));
    }
    struct node *query = select_node(node_absent(), list, table_in_from(t, alias), where, group, node_absent());
    return ordered ? with_order(query, order_by_all(1, true)) : query;
}

void query_make(struct statement *out)
{
    *out = (struct statement){.determined = true};
    alias_serial = 0;
    lite_understands = out->common = chance(78);
    if (chance(4)) {
        out->tree = sums_of_floats();
        return;
    }
    if (chance(5)) {
        out->ordered = chance(50);
        out->tree = one_column(out->ordered);
        return;
    }
    if (chance(4)) {
        out->tree = first_of_many();
        out->ordered = true;
        return;
    }
    enum sort types[5];
    int count = 1 + below(4);
    for (int i = 0; i < count; i++)
        types[i] = (enum sort)below(TYPES);
    out->ordered = chance(50);
    struct node *with = NULL;
    if (chance(8)) {
        with = with_query(&tables[table_count]);
        table_count++;
    }
    out->tree = unordered(types, count, NULL, 1 + below(4), !out->ordered);
    if (!with && chance(6)) {                /* a LIMIT without an order: which rows, the plan decides; how many, SQL */
        int limit = below(4) ? below(40) : below(1500), offset = chance(30) ? below(60) : 0;
        out->ordered = true;
        out->tree = node_form(QUERY, node_text("SELECT count(*) AS c0 FROM (@1 LIMIT %d OFFSET %d) AS x", limit, offset), out->tree, NULL);
    } else if (out->ordered && chance(5))
        out->tree = distinct_on(out->tree, count);
    else if (out->ordered)
        out->tree = with_order(out->tree, order_by_all(count, true));
    else if (!out->common && chance(40)) {   /* a LIMIT that the plan decides on: only the same plan has the same rows */
        int limit = chance(50) ? below(10) : below(300);
        bool sorted = chance(50);
        out->tree = node_form(QUERY, node_text("@1%s LIMIT %d%s", sorted ? " ORDER BY 1 NULLS FIRST" : "", limit, chance(30) ? " OFFSET 7" : ""), out->tree, NULL);
        out->determined = false;
    }
    if (with) {
        out->tree = node_form(QUERY, "@1@2", with, out->tree, NULL);
        table_count--;
    }
}

void partition_make(struct statement *out)
{
    *out = (struct statement){.determined = true};
    alias_serial = 0;
    lite_understands = chance(30);
    struct scope scope = {0};
    struct node *list = node_list(", ", 1);
    struct merged merged = {0};
    struct node *source = from(&scope, 2, NULL, &merged);
    for (int i = 0, count = 1 + below(3); i < count; i++)
        node_add(list, expression((enum sort)below(TYPES), &scope, below(2)));
    struct node *p = condition(&scope, 1 + below(3));
    out->tree = node_form(QUERY, "SELECT @1 FROM @2 WHERE @3", list, source, p, NULL);
}
