/* tests/sql/random_client.c - random statements, the same to a server and to SQLite; what they answer has to agree.
 *
 *     random_client [statements [seed]]
 *
 * Statements are made from a grammar of what both understand alike: typed expressions (so that nothing hangs on SQLite's loose
 * types), joins, subqueries, grouping, set operations, windows, and changes with constraints that fail now and then. Rows are
 * compared in order where ORDER BY names every column, else sorted. The server may refuse for overflow or division by zero, where
 * SQLite knows neither: such a statement is left out on both sides and counted, and so is one that takes either more than seconds. Any other difference ends the run with status 1
 * and prints seed, both statements, both answers, and the tables that were there, ready to be pasted. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum type { INT, REAL, TEXT, TYPES };
static const char *const type_names[] = {"integer", "double precision", "text"};

struct column { char name[16]; enum type type; };
struct table { char name[16]; struct column columns[6]; int column_count; bool keyed; int indexes, next_key; };
static struct table tables[5];
static int table_count, table_serial, index_serial;

static int avoided = -1;                 /* the table that is being changed: SQLite's subqueries would see it half changed */
static const struct table *some_table(void);

/* What can be named at some place of a statement: tables in FROM, with their aliases. */
struct source { char alias[16]; struct column columns[8]; int column_count; };
struct scope { struct source sources[8]; int count; const struct scope *outer; };

static PGconn *server;
static sqlite3 *lite;
static uint64_t seed = 1, state;
static int alias_serial, statement_number;
static int compared, refused, failed_alike, unsupported, in_transaction, differences;
static bool modern_lite;                /* RIGHT and FULL JOIN, IS DISTINCT FROM: SQLite 3.39 */

static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
static int below(int n) { return (int)(next_random() % (uint64_t)n); }
static bool chance(int percent) { return below(100) < percent; }

static const struct table *some_table(void)
{
    int i = below(table_count);
    return &tables[i == avoided ? (i + 1) % table_count : i];
}

/* ---- Text that grows ---- */

struct text { char *bytes; size_t length, room; };

static void add(struct text *t, const char *format, ...)
{
    va_list args;
    for (;;) {
        va_start(args, format);
        int n = vsnprintf(t->bytes ? t->bytes + t->length : NULL, t->room - t->length, format, args);
        va_end(args);
        if (t->bytes && t->length + (size_t)n < t->room) {
            t->length += (size_t)n;
            return;
        }
        t->room = (t->length + (size_t)n + 64) * 2;
        t->bytes = realloc(t->bytes, t->room);
    }
}

/* ---- Expressions ---- */

static void expression(struct text *, enum type, const struct scope *, int depth);
static void condition(struct text *, const struct scope *, int depth);
static void query(struct text *, const enum type *types, int count, const struct scope *outer, int depth, bool total_order);

static const char *const strings[] = {"", "a", "b", "ab", "abc", "B", "Abc", "x y", "zz", "a%c", "crab", "tide", "0", "10", "9"};
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void literal(struct text *out, enum type type)
{
    if (chance(6)) {
        add(out, "CAST(NULL AS %s)", type_names[type]);
        return;
    }
    switch (type) {
    case INT: {
        int v = chance(70) ? below(12) - 3 : below(2000) - 1000;
        add(out, v < 0 ? "(%d)" : "%d", v);
        break;
    }
    case REAL: {                             /* one random number a statement, here and below: compilers order arguments as they like */
        bool minus = chance(30);
        int whole = below(50);
        add(out, "CAST(%s%d.%s AS double precision)", minus ? "-" : "", whole, (const char *[]){"0", "25", "5", "75"}[below(4)]);
        break;
    }
    default: add(out, "'%s'", strings[below(COUNT(strings))]);
    }
}

/* A column of that type that can be seen from here; false when there's none. */
static bool column(struct text *out, enum type type, const struct scope *scope)
{
    const struct source *found_in[64];
    int found[64], n = 0;
    int level = 0;
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
        return false;
    int i = below(n);
    add(out, "%s.%s", found_in[i]->alias, found_in[i]->columns[found[i]].name);
    return true;
}

static void expression_list(struct text *out, enum type type, const struct scope *scope, int depth, int count)
{
    for (int i = 0; i < count; i++) {
        add(out, i ? ", " : "");
        expression(out, type, scope, depth);
    }
}

/* One value from a subquery: an aggregate without GROUP BY has exactly one row. */
static void scalar_subquery(struct text *out, enum type type, const struct scope *outer, int depth)
{
    struct scope inner = {.outer = outer, .count = 1};
    const struct table *t = some_table();
    struct source *s = &inner.sources[0];
    snprintf(s->alias, sizeof(s->alias), "s%d", alias_serial++);
    memcpy(s->columns, t->columns, sizeof(t->columns));
    s->column_count = t->column_count;
    add(out, "(SELECT %s(", type == INT && chance(40) ? "count" : chance(50) ? "min" : "max");
    struct scope own = inner;                /* an aggregate of outer columns alone would belong to the outer query */
    own.outer = NULL;
    expression(out, type, &own, depth - 1);
    add(out, ") FROM %s AS %s", t->name, s->alias);
    if (chance(80)) {
        add(out, " WHERE ");
        condition(out, &inner, depth - 1);
    }
    add(out, ")");
}

static void expression(struct text *out, enum type type, const struct scope *scope, int depth)
{
    if (depth <= 0 || chance(25)) {
        if (scope && chance(75) && column(out, type, scope))
            return;
        literal(out, type);
        return;
    }
    int pick = below(100);
    if (pick < 8) {
        add(out, "CASE WHEN ");
        condition(out, scope, depth - 1);
        add(out, " THEN ");
        expression(out, type, scope, depth - 1);
        if (chance(30)) {
            add(out, " WHEN ");
            condition(out, scope, depth - 1);
            add(out, " THEN ");
            expression(out, type, scope, depth - 1);
        }
        if (chance(70)) {
            add(out, " ELSE ");
            expression(out, type, scope, depth - 1);
        }
        add(out, " END");
        return;
    }
    if (pick < 13) {
        add(out, "CASE ");
        enum type of = (enum type)below(TYPES);
        expression(out, of, scope, depth - 1);
        add(out, " WHEN ");
        literal(out, of);
        add(out, " THEN ");
        expression(out, type, scope, depth - 1);
        add(out, " ELSE ");
        expression(out, type, scope, depth - 1);
        add(out, " END");
        return;
    }
    if (pick < 20) {
        add(out, "coalesce(");
        expression_list(out, type, scope, depth - 1, 2 + below(2));
        add(out, ")");
        return;
    }
    if (pick < 24) {
        add(out, "nullif(");
        expression_list(out, type, scope, depth - 1, 2);
        add(out, ")");
        return;
    }
    if (pick < 29 && table_count) {
        scalar_subquery(out, type, scope, depth);
        return;
    }
    switch (type) {
    case INT:
        switch (below(9)) {
        case 0: add(out, "length("); expression(out, TEXT, scope, depth - 1); add(out, ")"); break;
        case 1: add(out, "abs("); expression(out, INT, scope, depth - 1); add(out, ")"); break;
        case 2: add(out, "(- "); expression(out, INT, scope, depth - 1); add(out, ")"); break;
        case 3:
            add(out, "("); expression(out, INT, scope, depth - 1); add(out, chance(50) ? " / " : " %% ");
            if (chance(90)) { add(out, "nullif("); expression(out, INT, scope, depth - 1); add(out, ", 0))"); }
            else { expression(out, INT, scope, depth - 1); add(out, ")"); }
            break;
        case 4: add(out, "("); expression(out, INT, scope, depth - 1); add(out, " * "); literal(out, INT); add(out, ")"); break;
        default: add(out, "("); expression(out, INT, scope, depth - 1); add(out, chance(60) ? " + " : " - "); expression(out, INT, scope, depth - 1); add(out, ")");
        }
        break;
    case REAL:
        switch (below(6)) {
        case 0: add(out, "CAST("); expression(out, INT, scope, depth - 1); add(out, " AS double precision)"); break;
        case 1: add(out, "abs("); expression(out, REAL, scope, depth - 1); add(out, ")"); break;
        case 2: add(out, "("); expression(out, REAL, scope, depth - 1); add(out, " * "); literal(out, REAL); add(out, ")"); break;
        case 3: add(out, "("); expression(out, REAL, scope, depth - 1); add(out, " + "); expression(out, INT, scope, depth - 1); add(out, ")"); break;
        default: add(out, "("); expression(out, REAL, scope, depth - 1); add(out, chance(60) ? " + " : " - "); expression(out, REAL, scope, depth - 1); add(out, ")");
        }
        break;
    default:
        switch (below(7)) {
        case 0: add(out, "lower("); expression(out, TEXT, scope, depth - 1); add(out, ")"); break;
        case 1: add(out, "upper("); expression(out, TEXT, scope, depth - 1); add(out, ")"); break;
        case 2: add(out, "substr("); expression(out, TEXT, scope, depth - 1); { int first = 1 + below(3); add(out, ", %d, %d)", first, below(4)); } break;
        case 3: add(out, "replace("); expression(out, TEXT, scope, depth - 1); { int from = below(4); add(out, ", '%s', '%s')", (const char *[]){"a", "b", "c", "ab"}[from], strings[below(6)]); } break;
        case 4: add(out, "CAST("); expression(out, INT, scope, depth - 1); add(out, " AS text)"); break;
        default: add(out, "("); expression(out, TEXT, scope, depth - 1); add(out, " || "); expression(out, TEXT, scope, depth - 1); add(out, ")");
        }
    }
}

static const char *const comparisons[] = {"=", "<>", "<", "<=", ">", ">="};

static void condition(struct text *out, const struct scope *scope, int depth)
{
    enum type type = (enum type)below(TYPES);
    int pick = below(100);
    if (depth > 0 && pick < 25) {
        add(out, "(");
        condition(out, scope, depth - 1);
        add(out, chance(60) ? " AND " : " OR ");
        condition(out, scope, depth - 1);
        add(out, ")");
    } else if (depth > 0 && pick < 32) {
        add(out, "(NOT ");
        condition(out, scope, depth - 1);
        add(out, ")");
    } else if (pick < 38) {
        add(out, "(");
        expression(out, type, scope, depth - 1);
        add(out, chance(50) ? " IS NULL)" : " IS NOT NULL)");
    } else if (pick < 46) {
        add(out, "(");
        expression(out, type, scope, depth - 1);
        add(out, chance(75) ? " IN (" : " NOT IN (");
        for (int i = 0, n = 1 + below(4); i < n; i++) {
            add(out, i ? ", " : "");
            literal(out, type);
        }
        add(out, "))");
    } else if (pick < 52) {
        add(out, "(");
        expression(out, type, scope, depth - 1);
        add(out, chance(75) ? " BETWEEN " : " NOT BETWEEN ");
        expression(out, type, scope, depth - 2);
        add(out, " AND ");
        expression(out, type, scope, depth - 2);
        add(out, ")");
    } else if (pick < 58) {
        add(out, "(");
        expression(out, TEXT, scope, depth - 1);
        add(out, "%s LIKE '%s')", chance(75) ? "" : " NOT", (const char *[]){"a%", "%b%", "_b%", "%", "", "a_c", "%c"}[below(7)]);
    } else if (depth > 0 && pick < 66 && table_count) {
        add(out, chance(75) ? "(EXISTS (" : "(NOT EXISTS (");
        query(out, &type, 1, scope, depth - 1, false);
        add(out, "))");
    } else if (depth > 0 && pick < 74 && table_count) {
        add(out, "(");
        expression(out, type, scope, depth - 2);
        add(out, chance(70) ? " IN (" : " NOT IN (");
        query(out, &type, 1, scope, depth - 1, false);
        add(out, "))");
    } else if (pick < 78 && modern_lite) {
        add(out, "(");
        expression(out, type, scope, depth - 1);
        add(out, chance(50) ? " IS DISTINCT FROM " : " IS NOT DISTINCT FROM ");
        expression(out, type, scope, depth - 1);
        add(out, ")");
    } else {
        add(out, "(");
        expression(out, type, scope, depth - 1);
        add(out, " %s ", comparisons[chance(40) ? 0 : below(6)]);
        expression(out, type, scope, depth - 1);
        add(out, ")");
    }
}

/* ---- FROM ---- */

static void add_table_source(struct text *out, struct scope *scope, int depth)
{
    struct source *s = &scope->sources[scope->count];
    snprintf(s->alias, sizeof(s->alias), "t%d", alias_serial++);
    if (depth > 0 && chance(18)) {
        enum type types[3];
        s->column_count = 1 + below(3);
        for (int c = 0; c < s->column_count; c++) {
            types[c] = (enum type)below(TYPES);
            snprintf(s->columns[c].name, sizeof(s->columns[c].name), "c%d", c);
            s->columns[c].type = types[c];
        }
        add(out, "(");
        query(out, types, s->column_count, NULL, depth - 1, false);
        add(out, ") AS %s", s->alias);
    } else {
        const struct table *t = some_table();
        memcpy(s->columns, t->columns, sizeof(t->columns));
        s->column_count = t->column_count;
        add(out, "%s AS %s", t->name, s->alias);
    }
    scope->count++;
}

static void equality(struct text *out, const struct scope *left, const struct source *right)
{
    for (int tries = 0; tries < 20; tries++) {
        const struct source *a = &left->sources[below(left->count)];
        const struct column *x = &a->columns[below(a->column_count)];
        const struct column *y = &right->columns[below(right->column_count)];
        if (x->type == y->type) {
            add(out, "%s.%s = %s.%s", a->alias, x->name, right->alias, y->name);
            return;
        }
    }
    add(out, "1 = 1");
}

static void from(struct text *out, struct scope *scope, int depth)
{
    int wanted = chance(45) ? 1 : chance(65) ? 2 : 3;
    size_t begun = out->length;
    bool full = false;
    add(out, " FROM ");
    size_t first = out->length;
    add_table_source(out, scope, depth);
    bool plain = !strchr(out->bytes + first, '(');
    while (scope->count < wanted && !full) {
        /* RIGHT and FULL come first, between tables, on plain equality, and nothing is joined to FULL: with subqueries and further
         * joins SQLite 3.40 gets them wrong. RIGHT is marked, so that SQLite gets a LEFT JOIN the other way round. */
        int kind = below(modern_lite && scope->count == 1 && plain ? 12 : 9);
        struct scope before = *scope;
        if (kind == 0 && scope->count == 1) {
            add(out, " CROSS JOIN ");
            add_table_source(out, scope, depth);
            continue;
        }
        full = kind == 11;
        if (kind == 9 || kind == 10) {
            char table[64];
            snprintf(table, sizeof(table), "%.60s", out->bytes + first);
            out->length = begun;
            add(out, " FROM \004%s\005 RIGHT JOIN ", table);
            add_table_source(out, scope, 0);
            add(out, "\006 ON (");
            equality(out, &before, &scope->sources[scope->count - 1]);
            add(out, ")");
            continue;
        }
        add(out, kind < 6 ? " JOIN " : kind < 9 ? " LEFT JOIN " : " FULL JOIN ");
        add_table_source(out, scope, full ? 0 : depth);
        struct source *right = &scope->sources[scope->count - 1];
        add(out, " ON ");
        if (kind < 9 && scope->count == 2 && chance(25)) {
            struct scope here = *scope;
            here.outer = NULL;
            condition(out, &here, depth > 1 ? 1 : 0);
        } else {
            add(out, "(");
            equality(out, &before, right);
            if (kind < 9 && chance(25)) {
                add(out, " AND ");
                struct scope here = *scope;
                here.outer = NULL;
                condition(out, &here, 0);
            }
            add(out, ")");
        }
    }
}

/* ---- SELECT ---- */

static void aggregate(struct text *out, enum type type, const struct scope *scope, int depth)
{
    struct scope here = *scope;
    here.outer = NULL;                       /* as in scalar_subquery */
    if (type == INT) {
        switch (below(6)) {
        case 0: add(out, "count(*)"); return;
        case 1: add(out, "count("); expression(out, (enum type)below(TYPES), &here, depth); add(out, ")"); break;
        case 2: add(out, "count(DISTINCT "); expression(out, (enum type)below(TYPES), &here, depth); add(out, ")"); break;
        case 3: add(out, "sum("); expression(out, INT, &here, depth); add(out, ")"); break;
        case 4: add(out, "min("); expression(out, INT, &here, depth); add(out, ")"); break;
        default: add(out, "max("); expression(out, INT, &here, depth); add(out, ")");
        }
        if (chance(15)) {
            add(out, " FILTER (WHERE ");
            condition(out, &here, depth);
            add(out, ")");
        }
        return;
    }
    if (type == REAL && chance(50)) {
        add(out, chance(50) ? "sum(" : "avg(");
        expression(out, REAL, &here, depth);
        add(out, ")");
        return;
    }
    add(out, chance(50) ? "min(" : "max(");
    expression(out, type, &here, depth);
    add(out, ")");
}

static void order_by_all(struct text *out, int count, bool limit)
{
    add(out, " ORDER BY ");
    int order[8];
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = below(i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < count; i++) {
        bool down = chance(30);
        add(out, "%s%d%s NULLS %s", i ? ", " : "", order[i] + 1, down ? " DESC" : "", chance(50) ? "FIRST" : "LAST");
    }
    if (limit && chance(40)) {
        add(out, " LIMIT %d", below(12));
        if (chance(40))
            add(out, " OFFSET %d", below(6));
    }
}

static void simple_select(struct text *out, const enum type *types, int count, const struct scope *outer, int depth)
{
    struct scope scope = {.outer = outer};
    struct text tail = {0}, list = {0};
    from(&tail, &scope, depth - 1);
    bool grouped = chance(28);
    if (chance(70)) {
        bool outer_join = strstr(tail.bytes, " FULL JOIN ");
        add(&tail, outer_join ? " WHERE \001" : " WHERE ");
        condition(&tail, &scope, depth - 1);
        if (outer_join)
            add(&tail, "\002%s.%s\003", scope.sources[0].alias, scope.sources[0].columns[0].name);
    }
    if (!grouped) {
        bool window = !outer && chance(6);
        for (int i = 0; i < count; i++) {
            add(&list, i ? ", " : "");
            if (window && types[i] == INT && chance(60)) {
                add(&list, chance(50) ? "count(*)" : chance(50) ? "rank()" : "dense_rank()");
                add(&list, " OVER (");
                if (chance(50)) {
                    add(&list, "PARTITION BY ");
                    expression(&list, (enum type)below(TYPES), &scope, 0);
                    add(&list, " ");
                }
                add(&list, "ORDER BY ");
                expression(&list, (enum type)below(TYPES), &scope, 1);
                add(&list, " NULLS %s)", chance(50) ? "FIRST" : "LAST");
            } else {
                expression(&list, types[i], &scope, depth - 1);
            }
            add(&list, " AS c%d", i);
        }
        add(out, "SELECT %s%s%s", !window && chance(20) ? "DISTINCT " : "", list.bytes, tail.bytes);
    } else {
        /* Group by some of the columns of the result, by position; the others are aggregates. */
        int keys = 0;
        struct text group = {0};
        for (int i = 0; i < count; i++) {
            add(&list, i ? ", " : "");
            if (chance(50)) {
                struct scope here = scope;
                here.outer = NULL;
                expression(&list, types[i], &here, depth > 2 ? 1 : 0);
                add(&group, "%s%d", keys++ ? ", " : "", i + 1);
            } else {
                if (chance(15)) {
                    add(&list, "coalesce(");
                    aggregate(&list, types[i], &scope, depth > 2 ? 1 : 0);
                    add(&list, ", ");
                    literal(&list, types[i]);
                    add(&list, ")");
                } else {
                    aggregate(&list, types[i], &scope, depth > 2 ? 1 : 0);
                }
            }
            add(&list, " AS c%d", i);
        }
        add(out, "SELECT %s%s", list.bytes, tail.bytes);
        if (keys)
            add(out, " GROUP BY %s", group.bytes);
        if (keys && chance(30)) {
            enum type of = (enum type)below(TYPES);
            add(out, " HAVING ");
            aggregate(out, of, &scope, 0);
            add(out, " %s ", comparisons[below(6)]);
            literal(out, of);
        }
        free(group.bytes);
    }
    free(tail.bytes);
    free(list.bytes);
}

static void query(struct text *out, const enum type *types, int count, const struct scope *outer, int depth, bool total_order)
{
    static const char *const operators[] = {"UNION", "UNION ALL", "INTERSECT", "EXCEPT"};
    simple_select(out, types, count, outer, depth);
    if (depth > 0 && chance(outer ? 6 : 12)) {
        add(out, " %s ", operators[below(4)]);
        simple_select(out, types, count, outer, depth - 1);
    }
    if (total_order)
        order_by_all(out, count, true);
}

/* ---- Both sides ---- */

struct answer { char **rows; int count; long changed; bool failed; char state[6]; char *message; };

static void answer_free(struct answer *a)
{
    for (int i = 0; i < a->count; i++)
        free(a->rows[i]);
    free(a->rows);
    free(a->message);
    memset(a, 0, sizeof(*a));
}

static void add_row(struct answer *a, char *row)
{
    a->rows = realloc(a->rows, sizeof(char *) * (size_t)(a->count + 1));
    a->rows[a->count++] = row;
}

/* A float as text, in few enough digits that the order in which it was summed doesn't show. */
static void add_number(struct text *row, double v)
{
    if (v == 0)
        v = 0;                               /* no minus sign */
    add(row, "%.9g", v);
}

static struct answer ask_server(const char *sql)
{
    struct answer a = {0};
    PGresult *result = PQexec(server, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK) {
        for (int r = 0; r < PQntuples(result); r++) {
            struct text row = {0};
            for (int c = 0; c < PQnfields(result); c++) {
                const char *value = PQgetvalue(result, r, c);
                add(&row, c ? "|" : "");
                Oid type = PQftype(result, c);
                if (PQgetisnull(result, r, c))
                    add(&row, "NULL");
                else if (type == 16)
                    add(&row, value[0] == 't' ? "1" : "0");
                else if (type == 700 || type == 701 || (type == 1700 && strchr(value, '.')))
                    add_number(&row, strtod(value, NULL));
                else
                    add(&row, "%s", value);
            }
            add_row(&a, row.bytes);
        }
    } else if (status != PGRES_COMMAND_OK) {
        a.failed = true;
        const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        snprintf(a.state, sizeof(a.state), "%s", sqlstate ? sqlstate : "?");
        a.message = strdup(PQresultErrorMessage(result));
    }
    a.changed = atol(PQcmdTuples(result));
    PQclear(result);
    return a;
}

static bool lite_interrupted;
static time_t lite_deadline;
static int lite_patience_s = 5;
static int lite_progress(void *unused) { (void)unused; return time(NULL) > lite_deadline; }

static struct answer ask_lite(const char *sql)
{
    struct answer a = {0};
    lite_deadline = time(NULL) + lite_patience_s;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(lite, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            struct text row = {0};
            for (int c = 0; c < sqlite3_column_count(statement); c++) {
                add(&row, c ? "|" : "");
                switch (sqlite3_column_type(statement, c)) {
                case SQLITE_NULL: add(&row, "NULL"); break;
                case SQLITE_FLOAT: add_number(&row, sqlite3_column_double(statement, c)); break;
                default: add(&row, "%s", (const char *)sqlite3_column_text(statement, c));
                }
            }
            add_row(&a, row.bytes);
        }
    }
    if (code != SQLITE_DONE && code != SQLITE_OK) {
        a.failed = true;
        a.message = strdup(sqlite3_errmsg(lite));
    }
    lite_interrupted = code == SQLITE_INTERRUPT;
    a.changed = sqlite3_changes(lite);
    sqlite3_finalize(statement);
    return a;
}

static int compare_rows(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void dump_tables(void)
{
    printf("\n-- the tables, for psql and sqlite3 alike:\n");
    for (int i = 0; i < table_count; i++) {
        char sql[64];
        sqlite3_stmt *statement;
        sqlite3_prepare_v2(lite, "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC", -1, &statement, NULL);
        sqlite3_bind_text(statement, 1, tables[i].name, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW)
            printf("%s;\n", (const char *)sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        snprintf(sql, sizeof(sql), "SELECT * FROM %.15s", tables[i].name);
        sqlite3_prepare_v2(lite, sql, -1, &statement, NULL);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            printf("INSERT INTO %s VALUES (", tables[i].name);
            for (int c = 0; c < sqlite3_column_count(statement); c++) {
                if (sqlite3_column_type(statement, c) == SQLITE_TEXT)
                    printf("%s'%s'", c ? ", " : "", (const char *)sqlite3_column_text(statement, c));
                else
                    printf("%s%s", c ? ", " : "", sqlite3_column_type(statement, c) == SQLITE_NULL ? "NULL" : (const char *)sqlite3_column_text(statement, c));
            }
            printf(");\n");
        }
        sqlite3_finalize(statement);
    }
}

static void print_answer(const char *who, const struct answer *a)
{
    if (a->failed) {
        printf("%s: %s %s\n", who, a->state, a->message);
        return;
    }
    printf("%s: %d rows, %ld changed\n", who, a->count, a->changed);
    for (int i = 0; i < a->count && i < 12; i++)
        printf("    %s\n", a->rows[i]);
}

/* Comes back only after a query, and only with RANDOM_MORE set: then the run goes on, to find as many differences. */
static void differ(const char *what, const char *sql, const struct answer *s, const struct answer *l, bool changes)
{
    printf("random_client: seed %llu, statement %d: %s\n\n%s;\n\n", (unsigned long long)seed, statement_number, what, sql);
    print_answer("server", s);
    print_answer("SQLite", l);
    if (!s->failed && !l->failed) {
        int i = 0;
        while (i < s->count && i < l->count && !strcmp(s->rows[i], l->rows[i]))
            i++;
        printf("first difference in row %d: server %s, SQLite %s\n", i + 1, i < s->count ? s->rows[i] : "(none)", i < l->count ? l->rows[i] : "(none)");
    }
    if (!changes && getenv("RANDOM_MORE") && ++differences < atoi(getenv("RANDOM_MORE"))) {
        printf("----------------\n");
        return;
    }
    dump_tables();
    fflush(stdout);
    exit(1);
}

static bool excused(const struct answer *a)
{
    return a->failed && (!strcmp(a->state, "22003") || !strcmp(a->state, "22012") || !strcmp(a->state, "57014"));
}

static void both(const char *sql)
{
    struct answer a = ask_server(sql), b = ask_lite(sql);
    if (a.failed || b.failed)
        differ("should have gone well", sql, &a, &b, true);
    answer_free(&a);
    answer_free(&b);
}

static void end_transaction(bool commit)
{
    both(commit ? "COMMIT" : "ROLLBACK");
    in_transaction = 0;
}

static void sort_rows(struct answer *a, bool ordered)
{
    if (!ordered && a->count)
        qsort(a->rows, (size_t)a->count, sizeof(char *), compare_rows);
}

/* SQLite 3.40 forgets a condition that names no column for the unmatched rows of FULL JOIN. So a WHERE above one is marked,
 * and SQLite gets it as a CASE that names one; the server gets it as it is. */
static char *for_lite(const char *sql)
{
    struct text out = {0};
    const char *mark;
    while ((mark = strpbrk(sql, "\001\002\004"))) {
        add(&out, "%.*s", (int)(mark - sql), sql);
        if (*mark == 4) {
            const char *middle = strchr(mark, 5), *end = strchr(middle, 6), *right = middle + strlen("\005 RIGHT JOIN ");
            add(&out, "%.*s LEFT JOIN %.*s", (int)(end - right), right, (int)(middle - mark) - 1, mark + 1);
            sql = end + 1;
            continue;
        }
        if (*mark == 1) {
            add(&out, "CASE WHEN ");
            sql = mark + 1;
            continue;
        }
        const char *end = strchr(mark, 3);
        int length = (int)(end - mark) - 1;
        add(&out, " THEN (%.*s IS NULL OR %.*s IS NOT NULL) ELSE FALSE END", length, mark + 1, length, mark + 1);
        sql = end + 1;
    }
    add(&out, "%s", sql);
    return out.bytes;
}

static void for_server(char *sql)
{
    char *to = sql;
    for (char *from = sql; *from; from++) {
        if (*from == 2)
            from = strchr(from, 3);
        else if (*from != 1 && *from != 4 && *from != 5 && *from != 6)
            *to++ = *from;
    }
    *to = 0;
}

/* Runs one statement on both and compares. */
static void run(char *sql, bool ordered, bool changes)
{
    char *lite_sql = for_lite(sql);
    for_server(sql);
    statement_number++;
    struct answer s = ask_server(sql), l = {0};
    if (s.failed && !strcmp(s.state, "0A000")) {
        unsupported++;
        if (unsupported <= 3)
            printf("not supported: %s%s\n", s.message, sql);
    }
    if (excused(&s) || (s.failed && !strcmp(s.state, "0A000"))) {
        refused++;
        free(lite_sql);
        answer_free(&s);
        if (in_transaction)
            end_transaction(false);
        return;
    }
    lite_patience_s = changes ? 300 : 5;     /* what the server has changed must be changed here too */
    l = ask_lite(lite_sql);
    free(lite_sql);
    if (l.failed && lite_interrupted && !changes) {
        refused++;
        answer_free(&s);
        answer_free(&l);
        return;
    }
    if (s.failed != l.failed) {
        differ(s.failed ? "the server refuses" : "SQLite refuses", sql, &s, &l, changes);
        answer_free(&s);
        answer_free(&l);
        if (in_transaction)
            end_transaction(false);
        return;
    }
    if (s.failed) {
        if (strncmp(s.state, "23", 2))
            differ("not an error that was meant", sql, &s, &l, changes);
        failed_alike++;
        answer_free(&s);
        answer_free(&l);
        if (in_transaction)
            end_transaction(false);
        return;
    }
    compared++;
    sort_rows(&s, ordered);
    sort_rows(&l, ordered);
    bool same = s.count == l.count && (!changes || s.changed == l.changed);
    for (int i = 0; same && i < s.count; i++)
        same = !strcmp(s.rows[i], l.rows[i]);
    if (!same)
        differ("the answers differ", sql, &s, &l, changes);
    answer_free(&s);
    answer_free(&l);
}

/* ---- Statements ---- */

static void insert_rows(struct table *t, int rows, bool conflict)
{
    struct text sql = {0};
    add(&sql, "INSERT INTO %s VALUES ", t->name);
    for (int r = 0; r < rows; r++) {
        add(&sql, r ? ", (" : "(");
        for (int c = 0; c < t->column_count; c++) {
            add(&sql, c ? ", " : "");
            if (t->keyed && c == 0)
                add(&sql, "%d", chance(4) && t->next_key ? below(t->next_key) : t->next_key++);
            else
                literal(&sql, t->columns[c].type);
        }
        add(&sql, ")");
    }
    if (t->keyed && conflict) {
        if (chance(50))
            add(&sql, " ON CONFLICT DO NOTHING");
        else if (rows == 1)
            add(&sql, " ON CONFLICT (k) DO UPDATE SET %s = excluded.%s", t->columns[1].name, t->columns[1].name);
    }
    run(sql.bytes, true, true);
    free(sql.bytes);
}

static void create_table(void)
{
    struct table *t = &tables[table_count];
    struct text sql = {0};
    memset(t, 0, sizeof(*t));
    snprintf(t->name, sizeof(t->name), "r%d", table_serial++);
    t->keyed = chance(60);
    t->column_count = 2 + below(4);
    add(&sql, "CREATE TABLE %s (", t->name);
    for (int c = 0; c < t->column_count; c++) {
        struct column *col = &t->columns[c];
        col->type = c < TYPES && chance(60) ? (enum type)c : (enum type)below(TYPES);
        if (t->keyed && c == 0) {
            col->type = INT;
            strcpy(col->name, "k");
            add(&sql, "k integer PRIMARY KEY");
            continue;
        }
        snprintf(col->name, sizeof(col->name), "%c%d", "irt"[col->type], c);
        add(&sql, "%s%s %s", c ? ", " : "", col->name, type_names[col->type]);
        if (chance(8))
            add(&sql, " NOT NULL");
        else if (chance(8) && col->type == INT)
            add(&sql, " CHECK (%s < 900)", col->name);
    }
    add(&sql, ")");
    table_count++;
    run(sql.bytes, true, false);
    free(sql.bytes);
    for (int n = 1 + below(5); n > 0; n--)
        insert_rows(t, 1 + below(15), false);
    if (chance(15))                          /* and one that fills more than a page */
        for (int n = 0; n < 15; n++)
            insert_rows(t, 40, false);
}

static void drop_table(int i)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "DROP TABLE %.15s", tables[i].name);
    run(sql, true, false);
    tables[i] = tables[--table_count];
}

static void check_table(const struct table *t)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "SELECT * FROM %.15s", t->name);
    run(sql, false, false);
}

static void change(void)
{
    int chosen = below(table_count);
    struct table *t = &tables[chosen];
    struct scope scope = {.count = 1};
    struct source *s = &scope.sources[0];
    struct text sql = {0};
    snprintf(s->alias, sizeof(s->alias), "%s", t->name);
    memcpy(s->columns, t->columns, sizeof(t->columns));
    s->column_count = t->column_count;
    int pick = below(100);
    if (pick < 40) {
        insert_rows(t, 1 + below(6), true);
    } else if (pick < 50) {
        enum type types[6];
        int first = t->keyed ? 1 : 0;
        add(&sql, "INSERT INTO %s (", t->name);
        for (int c = first; c < t->column_count; c++) {
            types[c - first] = t->columns[c].type;
            add(&sql, "%s%s", c > first ? ", " : "", t->columns[c].name);
        }
        if (t->keyed) {                      /* keys by counting on: from one source table without joins */
            const struct table *from_table = &tables[below(table_count)];
            if (!from_table->keyed) {
                free(sql.bytes);
                return;
            }
            add(&sql, ", k) SELECT ");
            struct scope one = {.count = 1};
            snprintf(one.sources[0].alias, sizeof(one.sources[0].alias), "f");
            memcpy(one.sources[0].columns, from_table->columns, sizeof(from_table->columns));
            one.sources[0].column_count = from_table->column_count;
            for (int c = first; c < t->column_count; c++) {
                expression(&sql, t->columns[c].type, &one, 2);
                add(&sql, ", ");
            }
            add(&sql, "f.k + %d FROM %s AS f WHERE f.k < 60", t->next_key, from_table->name);
            t->next_key += 60;
        } else {
            add(&sql, ") ");
            simple_select(&sql, types, t->column_count, NULL, 2);
            order_by_all(&sql, t->column_count, false);
            add(&sql, " LIMIT %d", below(30));
        }
        run(sql.bytes, true, true);
    } else if (pick < 80) {
        avoided = chosen;
        int c = t->column_count > 1 ? 1 + below(t->column_count - 1) : 0;
        if (t->keyed && c == 0) {
            free(sql.bytes);
            avoided = -1;
            return;
        }
        add(&sql, "UPDATE %s SET %s = ", t->name, t->columns[c].name);
        expression(&sql, t->columns[c].type, &scope, 3);
        if (t->column_count > 2 && chance(30)) {
            int d = 1 + (c % (t->column_count - 1));
            if (d != c) {
                add(&sql, ", %s = ", t->columns[d].name);
                expression(&sql, t->columns[d].type, &scope, 2);
            }
        }
        if (chance(85)) {
            add(&sql, " WHERE ");
            condition(&sql, &scope, 2);
        }
        run(sql.bytes, true, true);
    } else {
        avoided = chosen;
        add(&sql, "DELETE FROM %s WHERE ", t->name);
        condition(&sql, &scope, 2);
        if (chance(50)) {
            add(&sql, " AND ");
            condition(&sql, &scope, 1);
        }
        run(sql.bytes, true, true);
    }
    avoided = -1;
    free(sql.bytes);
    check_table(t);
}

static void select_something(void)
{
    struct text sql = {0};
    enum type types[5];
    int count = 1 + below(4), with = 0;
    for (int i = 0; i < count; i++)
        types[i] = (enum type)below(TYPES);
    bool ordered = chance(60);
    if (chance(6)) {
        add(&sql, "WITH w AS (");
        enum type inner[2] = {(enum type)below(TYPES), (enum type)below(TYPES)};
        query(&sql, inner, 2, NULL, 2, false);
        add(&sql, ") ");
        struct table *w = &tables[table_count++];   /* seen as a table while this statement is made */
        memset(w, 0, sizeof(*w));
        strcpy(w->name, "w");
        w->column_count = 2;
        for (int c = 0; c < 2; c++) {
            snprintf(w->columns[c].name, sizeof(w->columns[c].name), "c%d", c);
            w->columns[c].type = inner[c];
        }
        with = 1;
    }
    query(&sql, types, count, NULL, 1 + below(4), ordered);
    table_count -= with;
    run(sql.bytes, ordered, false);
    free(sql.bytes);
}

static void add_index(void)
{
    struct table *t = &tables[below(table_count)];
    char sql[160];
    if (t->indexes >= 3)
        return;
    const struct column *a = &t->columns[below(t->column_count)];
    const struct column *b = &t->columns[below(t->column_count)];
    if (a != b && chance(40))
        snprintf(sql, sizeof(sql), "CREATE INDEX ix%d ON %s (%s%s, %s)", index_serial++, t->name, a->name, chance(30) ? " DESC" : "", b->name);
    else
        snprintf(sql, sizeof(sql), "CREATE INDEX ix%d ON %s (%s)", index_serial++, t->name, a->name);
    t->indexes++;
    run(sql, true, false);
}

static void settle(const char *sql)          /* the server alone */
{
    PGresult *result = PQexec(server, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
        printf("random_client: seed %llu: %s: %s", (unsigned long long)seed, sql, PQresultErrorMessage(result));
        exit(1);
    }
    PQclear(result);
}

/* Other plans, other operators: the answers stay. */
static void change_setting(void)
{
    static const char *const settings[] = {"enable_hashjoin", "enable_nestloop", "enable_seqscan", "enable_indexscan", "enable_hashagg", "enable_sort"};
    char sql[96];
    switch (below(5)) {
    case 0: snprintf(sql, sizeof(sql), "SET work_mem = '%s'", (const char *[]){"64kB", "256kB", "64MB"}[below(3)]); break;
    case 1: snprintf(sql, sizeof(sql), "SET max_parallel_workers_per_gather = %d", (const int[]){0, 2, 4}[below(3)]); break;
    case 2: settle("RESET ALL"); settle("SET statement_timeout = 5000"); settle("SET client_min_messages = error"); settle("SET min_parallel_table_scan_size = 0"); settle("SET parallel_setup_cost = 0");
        snprintf(sql, sizeof(sql), "SET parallel_tuple_cost = 0"); break;
    default: {
        int which = below(COUNT(settings));
        snprintf(sql, sizeof(sql), "SET %s = %s", settings[which], chance(50) ? "off" : "on");
    }
    }
    settle(sql);
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 5000;
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    state = seed;
    modern_lite = sqlite3_libversion_number() >= 3039000;
    server = PQconnectdb("");
    if (PQstatus(server) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(server));
        return 2;
    }
    if (sqlite3_open(":memory:", &lite) != SQLITE_OK || sqlite3_exec(lite, "PRAGMA case_sensitive_like = on", NULL, NULL, NULL) != SQLITE_OK)
        return 2;
    sqlite3_progress_handler(lite, 10000, lite_progress, NULL);
    settle("SET client_min_messages = error");
    settle("SET statement_timeout = 5000");
    for (int i = 0; i < 40; i++) {
        char sql[64];
        snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS r%d", i);
        settle(sql);
    }
    while (statement_number < wanted) {
        alias_serial = 0;
        int pick = below(1000);
        if (table_count < 2)
            create_table();
        else if (pick < 12 && !in_transaction && table_count < 4)
            create_table();
        else if (pick < 20 && !in_transaction && table_count > 2 && table_serial < 38)
            drop_table(below(table_count));
        else if (pick < 32 && !in_transaction)
            add_index();
        else if (pick < 40 && !in_transaction)
            settle(chance(50) ? "ANALYZE" : "VACUUM");
        else if (pick < 47 && !in_transaction)
            change_setting();
        else if (pick < 60) {
            if (in_transaction)
                end_transaction(chance(60));
            else {
                both("BEGIN");
                in_transaction = 1;
            }
        } else if (pick < 250)
            change();
        else
            select_something();
    }
    if (in_transaction)
        end_transaction(true);
    for (int i = 0; i < table_count; i++)
        check_table(&tables[i]);
    while (table_count)
        drop_table(0);
    printf("random_client: seed %llu: %d statements; %d answers compared, %d failed alike, %d left out (overflow, division by zero, too slow), %d not supported\n", (unsigned long long)seed,
           statement_number, compared, failed_alike, refused - unsupported, unsupported);
    PQfinish(server);
    sqlite3_close(lite);
    return unsupported != 0 || differences != 0;
}
