/* engine/plan/suggest.c - a name that isn't there, and what may have been meant.
 *
 * As PostgreSQL does it: all tables of the statement are looked at, those of the queries around it too, and what can't be seen from
 * where the name stands. A column is suggested when it is at most three edits away (Levenshtein: insert, delete, replace) and not more than
 * half of its letters differ; two that are equally near are both named, three are none. Edits in a table's name count as well. */
#include <string.h>

#include "engine/plan/query.h"

#define FARTHEST 3

/* Edits between two texts of bytes; names are at most 63 long, longer ones differ too much. */
static int edits(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b), row[256];
    if (n > 255 || m > 255) return n > m ? n : m;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]), least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = replace < least ? replace : least;
        }
    }
    return row[m];
}

struct guess {
    const char *name;                    /* what was written */
    const struct space *exact;           /* has that very column, but it can't be named from here */
    int distance;
    const struct space *spaces[2];
    const char *columns[2];
    int count;
};

static void consider(struct guess *g, const struct space *space, const char *column, int table_edits)
{
    if (table_edits > g->distance) return;
    int distance = edits(column, g->name);
    if (distance > (int)strlen(g->name) / 2) return;
    distance += table_edits;
    if (distance < g->distance) {
        g->distance = distance;
        g->count = 0;
    } else if (distance > g->distance)
        return;
    else if (g->count == 2) {            /* too many: only something nearer counts from here on */
        g->count = 0;
        g->distance = distance - 1;
        return;
    } else if (g->count == 0 && distance > FARTHEST)
        return;
    g->spaces[g->count] = space;
    g->columns[g->count++] = column;
}

/* Calls visit for the FROM items of a scope, of those around it, and of those that only LATERAL would show. */
static void each_space(const struct scope *scope, bool (*visit)(void *context, const struct space *), void *context)
{
    for (const struct scope *s = scope; s; s = s->outer) {
        const struct scope *levels[2] = { s, s->hidden };
        for (int l = 1; l >= 0; l--)
            for (uint32_t i = 0; levels[l] && i < levels[l]->space_count; i++)
                if (levels[l]->spaces[i]->alias && visit(context, levels[l]->spaces[i])) return;
        if (s->barrier) return;
    }
}

struct column_search { struct guess guess; const char *table; };
static bool visit_columns(void *context, const struct space *space)
{
    struct column_search *c = context;
    int table_edits = c->table ? edits(c->table, space->alias) : 0;
    for (uint32_t i = 0; i < space->column_count; i++) {
        if (strcmp(space->columns[i].name, c->guess.name) == 0) {
            if (table_edits) continue;
            c->guess.exact = space;
            return true;
        }
        if (table_edits <= FARTHEST) consider(&c->guess, space, space->columns[i].name, table_edits);
    }
    return false;
}

enum status no_such_column(struct planner *p, const struct scope *scope, const char *table, const char *name, int position)
{
    struct column_search c = { .guess = { .name = name, .distance = FARTHEST + 1 }, .table = table };
    struct guess *g = &c.guess;
    each_space(scope, visit_columns, &c);
    enum status status = table ? fail_at(p, position, STATUS_UNDEFINED_COLUMN, "column %s.%s does not exist", table, name)
                               : fail_at(p, position, STATUS_UNDEFINED_COLUMN, "column \"%s\" does not exist", name);
    if (g->exact)
        error_hint("There is a column named \"%s\" in table \"%s\", but it cannot be referenced from this part of the query.", name, g->exact->alias);
    else if (g->count == 1)
        error_hint("Perhaps you meant to reference the column \"%s.%s\".", g->spaces[0]->alias, g->columns[0]);
    else if (g->count == 2)
        error_hint("Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".", g->spaces[0]->alias, g->columns[0], g->spaces[1]->alias, g->columns[1]);
    return status;
}

struct table_search { const char *name; const struct space *found; };
static bool visit_tables(void *context, const struct space *space)
{
    struct table_search *t = context;
    bool is = strcmp(space->alias, t->name) == 0 || (space->rel && space->rel->table && strcmp(space->rel->table->name, t->name) == 0);
    if (is) t->found = space;
    return is;
}

enum status no_such_space(struct planner *p, struct scope *scope, const char *name, int position)
{
    struct table_search t = { .name = name };
    each_space(scope, visit_tables, &t);
    if (!t.found) return fail_at(p, position, STATUS_UNDEFINED_TABLE, "missing FROM-clause entry for table \"%s\"", name);
    enum status status = fail_at(p, position, STATUS_UNDEFINED_TABLE, "invalid reference to FROM-clause entry for table \"%s\"", name);
    if (strcmp(t.found->alias, name) != 0 && scope_space(scope, NULL, t.found->alias, NULL) == t.found)
        error_hint("Perhaps you meant to reference the table alias \"%s\".", t.found->alias);
    else
        error_hint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", t.found->alias);
    return status;
}
