/* tests/oracle/schema.c - tables and rows at random.
 *
 * Sizes from no row to three thousand; NULLs and duplicates everywhere. Larger tables are padded, so that they fill many pages: then
 * several workers, grains and morsels are met with few rows, and SQLite stays quick. */
#include "tests/oracle/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table tables[TABLES], views[VIEWS];
int table_count, view_count;

static const char *const type_names[] = {"integer", "double precision", "text", "boolean"};

static int some_size(bool may_be_large)
{
    int pick = below(100);
    if (pick < 8)
        return 0;
    if (pick < 14)
        return 1;
    if (pick < 50)
        return 2 + below(20);
    if (pick < 75 || !may_be_large)
        return 20 + below(80);
    return pick < 91 ? 100 + below(400) : 1000 + below(2000);
}

static void add_value(struct text *out, enum sort type, bool wide, int nulls)
{
    static const char *const strings[] = {"", "a", "b", "ab", "abc", "B", "Abc", "x y", "zz", "a%c", "crab", "tide", "0", "10", "9"};
    if (chance(nulls)) {
        text_add(out, "NULL");
        return;
    }
    int number = wide ? below(4000) - 2000 : chance(85) ? below(12) - 3 : below(2000) - 1000;
    switch (type) {
    case INT: text_add(out, "%d", number); break;
    case REAL: text_add(out, "%d.%s", number, (const char *[]){"0", "25", "5", "75"}[below(4)]); break;
    case BOOL: text_add(out, "%s", number & 1 ? "TRUE" : "FALSE"); break;
    default:
        if (wide)
            text_add(out, "'%s%d'", strings[below(15)], number & 255);
        else
            text_add(out, "'%s'", strings[below(15)]);
    }
}

/* nulls: of a hundred values of each column. */
static void fill(struct table *t, const int *nulls)
{
    bool wide[7];
    for (int c = 0; c < t->column_count; c++)
        wide[c] = chance(t->rows > 100 ? 60 : 20);
    for (int r = 0; r < t->rows; r++) {
        if (r % 100 == 0) {
            if (r)
                text_add(&t->inserts, "%c", 0);
            text_add(&t->inserts, "INSERT INTO %s (", t->name);
            for (int c = 0; c < t->column_count; c++)
                text_add(&t->inserts, "%s, ", t->columns[c].name);
            text_add(&t->inserts, "f) VALUES ");
            t->insert_count++;
        }
        text_add(&t->inserts, r % 100 ? ", (" : "(");
        for (int c = 0; c < t->column_count; c++) {
            if (t->has_id && c == 0)
                text_add(&t->inserts, "%d", t->next_id++);
            else
                add_value(&t->inserts, t->columns[c].type, wide[c], nulls[c]);
            text_add(&t->inserts, ", ");
        }
        if (chance(10))
            text_add(&t->inserts, "NULL)");
        else
            text_add(&t->inserts, "%.17g)", (below(2000) - 1000) / 7.0);
    }
}

/* Of columns or expressions, of all rows or some; unique where the id is in it. */
static void index_make(const struct table *t, struct text *index)
{
    static const char *const expressions[] = {"(%s + 1)", "(%s * 2.0)", "lower(%s)", "(NOT %s)"}, *const others[] = {"abs(%s)", "abs(%s)", "length(%s)", "(%s IS NULL)"};
    static const char *const conditions[] = {"%s > 0", "%s < 3.5", "%s <> 'a'", "%s"};
    const struct name_and_type *a = &t->columns[below(t->column_count)], *b = &t->columns[below(t->column_count)], *where = &t->columns[below(t->column_count)];
    bool is_id = t->has_id && a == t->columns && chance(50);
    text_add(index, "CREATE %sINDEX %s_%d ON %s (", is_id ? "UNIQUE " : "", t->name, t->index_count + 1, t->name);
    if (is_id || chance(75))
        text_add(index, "%s", a->name);
    else                                     /* the format is one of the tables above */
        text_add(index, (chance(50) ? expressions : others)[a->type], a->name);
    text_add(index, "%s", chance(20) ? " DESC" : "");
    if (a != b && chance(40))
        text_add(index, ", %s", b->name);
    text_add(index, ")");
    if (chance(80))
        return;
    text_add(index, " WHERE ");
    if (chance(40))
        text_add(index, "%s IS NOT NULL", where->name);
    else
        text_add(index, conditions[where->type], where->name);
}

static void table_make(struct table *t, int number, bool may_be_large)
{
    snprintf(t->name, sizeof t->name, "t%d", number);
    t->rows = some_size(may_be_large);
    t->has_id = chance(85);
    t->primary = t->has_id && chance(70);
    t->column_count = 2 + below(4);
    if (t->rows > 90)
        t->padding = (const int[]){300, 600, 1200}[below(t->rows > 900 ? 1 : 3)];
    int nulls[7];
    text_add(&t->create, "CREATE TABLE %s (", t->name);
    for (int c = 0; c < t->column_count; c++) {
        struct name_and_type *column = &t->columns[c];
        column->type = c == 0 || c == 1 ? INT : (enum sort)below(TYPES);
        if (t->has_id && c == 0)
            snprintf(column->name, sizeof column->name, "id");
        else
            snprintf(column->name, sizeof column->name, "%c%d", "irtb"[column->type], c);
        nulls[c] = (const int[]){0, 5, 15, 40, 90}[below(5)];
        text_add(&t->create, "%s%s %s%s", c ? ", " : "", column->name, type_names[column->type], t->primary && c == 0 ? " PRIMARY KEY" : "");
        if (!nulls[c] && chance(40))
            text_add(&t->create, " NOT NULL");
        else if (column->type == INT && chance(15) && strcmp(column->name, "id"))
            text_add(&t->create, " CHECK (%s < 2500)", column->name);
    }
    text_add(&t->create, ", f double precision");
    text_add(&t->lite_create, "%s)", t->create.bytes);
    if (t->padding) {
        text_add(&t->create, ", pad text DEFAULT '");
        for (int i = 0; i < t->padding / 10; i++)
            text_add(&t->create, "0123456789");
        text_add(&t->create, "'");
    }
    text_add(&t->create, ")");
    fill(t, nulls);
    while (t->index_count < 4 && chance(45)) {
        index_make(t, &t->indexes[t->index_count]);
        t->index_count++;
    }
}

void schema_make(void)
{
    schema_free();
    int count = 3 + below(3);
    bool large = true;
    for (int i = 0; i < count; i++) {
        table_make(&tables[i], i, large);
        if (tables[i].rows > 900)
            large = false;
    }
    table_count = count;
    views_make();
}

void schema_free(void)
{
    for (int i = 0; i < table_count; i++) {
        text_clear(&tables[i].create);
        text_clear(&tables[i].lite_create);
        text_clear(&tables[i].inserts);
        for (int x = 0; x < tables[i].index_count; x++)
            text_clear(&tables[i].indexes[x]);
    }
    for (int i = 0; i < view_count; i++) {
        text_clear(&views[i].create);
        text_clear(&views[i].lite_create);
    }
    memset(tables, 0, sizeof tables);
    memset(views, 0, sizeof views);
    table_count = view_count = 0;
}
