/* tests/oracle/changes.c - INSERT, UPDATE and DELETE at random, some of which a constraint refuses. */
#include "tests/oracle/expression.h"

#include <stdio.h>
#include <string.h>

static struct node *returning(const struct table *t)
{
    if (!chance(15))
        return node_absent();
    return node_optional(node_form(PART, node_text(" RETURNING %s, %s", t->columns[0].name, t->columns[1].name), NULL));
}

static struct node *conflict(const struct table *t)
{
    if (!t->primary || !chance(35))
        return node_absent();
    if (chance(50))
        return node_optional(node_form(PART, " ON CONFLICT DO NOTHING", NULL));
    const char *name = t->columns[1].name;
    return node_optional(node_form(PART, node_text(" ON CONFLICT (id) DO UPDATE SET %s = excluded.%s", name, name), NULL));
}

static struct node *insert_values(struct table *t)
{
    struct node *rows = node_list(", ", 1);
    char *names = node_text("%s", t->columns[0].name);
    for (int c = 1; c < t->column_count; c++)
        names = node_text("%s, %s", names, t->columns[c].name);
    bool updates = false;
    int count = 1 + below(chance(80) ? 5 : 60);
    struct node *on_conflict = conflict(t);
    updates = on_conflict->kind == FORM && strstr(on_conflict->form, "UPDATE");
    for (int r = updates ? count - 1 : 0; r < count; r++) {   /* the same row twice in one command is PostgreSQL's error only */
        struct node *row = node_list(", ", t->column_count);
        for (int c = 0; c < t->column_count; c++) {
            if (t->has_id && c == 0)
                node_add(row, node_form(PART, node_text("%d", t->primary && chance(updates ? 60 : 5) && t->next_id ? below(t->next_id) : t->next_id++), NULL));
            else
                node_add(row, literal(t->columns[c].type));
        }
        node_add(rows, node_form(PART, "(@1)", row, NULL));
    }
    return node_form(QUERY, node_text("INSERT INTO %s (%s) VALUES @1@2@3", t->name, names), rows, on_conflict, returning(t), NULL);
}

/* New ids come by counting on from the source's. */
static struct node *insert_select(struct table *t)
{
    const struct table *source = some_table(300);
    if (!source || (t->has_id && !source->has_id))
        return insert_values(t);
    int alias = alias_serial++;
    struct scope scope = {.rows = source->rows, .work = source->rows + 1};
    scope_add(&scope, alias, source);
    struct node *list = node_list(", ", t->column_count);
    char *names = node_text("%s", t->columns[0].name);
    for (int c = 0; c < t->column_count; c++) {
        if (c)
            names = node_text("%s, %s", names, t->columns[c].name);
        if (t->has_id && c == 0)
            node_add(list, node_form(PART, node_text("a%d.id + %d", alias, t->next_id), NULL));
        else
            node_add(list, expression(t->columns[c].type, &scope, 2));
    }
    t->next_id += source->next_id + 1;
    struct node *where = node_optional(node_form(PART, " WHERE @1", condition(&scope, 2), NULL));
    return node_form(QUERY, node_text("INSERT INTO %s (%s) SELECT @1 FROM @2@3", t->name, names), list, table_in_from(source, alias), where, NULL);
}

/* UPDATE ... FROM, DELETE ... USING. A row finds one match at most (by an id) where it takes its values from it. */
static struct node *joined_change(struct table *t, struct scope *scope, struct node *target, bool update)
{
    const struct table *source = some_table(1000);
    if (!source || t->column_count < 2 || !source->has_id)
        return NULL;
    int column = 1 + below(t->column_count - 1), key = below(t->column_count);
    if (t->columns[key].type != INT)
        return NULL;
    int alias = alias_serial++;
    struct node *on = compared("=", node_column(INT, scope->sources[0].alias, node_text("%s", t->columns[key].name)), node_column(INT, alias, "id"));
    scope_add(scope, alias, source);
    struct node *from = table_in_from(source, alias), *p = condition(scope, 1);
    if (!update) {
        struct node *node = node_form(QUERY, "DELETE FROM @1 USING @2 WHERE (@3 AND @4)", target, from, on, p, NULL);
        return node_lite(node, "DELETE FROM @1 WHERE EXISTS (SELECT 1 FROM @2 WHERE (@3 AND @4))");
    }
    struct node *value = expression(t->columns[column].type, scope, 2);
    return node_form(QUERY, node_text("UPDATE @1 SET %s = @5 FROM @2 WHERE (@3 AND @4)", t->columns[column].name), target, from, on, p, value, NULL);
}

void change_make(struct statement *out)
{
    *out = (struct statement){.determined = true, .common = true};
    alias_serial = 0;
    lite_understands = true;
    struct table *t = &tables[below(table_count)];
    out->changes = t;
    int pick = below(100);
    if (pick < 40) {
        out->tree = insert_values(t);
        return;
    }
    if (pick < 52) {
        out->tree = insert_select(t);
        return;
    }
    avoided = t;
    int alias = alias_serial++;
    struct scope scope = {.rows = t->rows, .work = t->rows + 1};
    scope_add(&scope, alias, t);
    struct node *target = table_in_from(t, alias);
    if (chance(15) && (out->tree = joined_change(t, &scope, target, pick < 82))) {
        avoided = NULL;
        return;
    }
    if (pick < 82 && t->column_count > 1) {
        struct node *sets = node_list(", ", 1);
        for (int c = 1; c < t->column_count; c++)
            if (c == 1 || chance(30))
                node_add(sets, node_form(PART, node_text("%s = @1", t->columns[c].name), expression(t->columns[c].type, &scope, 2), NULL));
        struct node *where = chance(90) ? node_optional(node_form(PART, " WHERE @1", condition(&scope, 2), NULL)) : node_absent();
        out->tree = node_form(QUERY, "UPDATE @1 SET @2@3@4", target, sets, where, returning(t), NULL);
    } else {
        struct node *p = condition(&scope, 2);
        p = node_form(BOOL, "(@1 AND @2)", p, condition(&scope, 1), NULL);
        out->tree = node_form(QUERY, "DELETE FROM @1 WHERE @2@3", target, p, returning(t), NULL);
    }
    avoided = NULL;
}
