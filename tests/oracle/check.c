/* tests/oracle/check.c - what must hold of a statement: against SQLite, and against Crabtree itself. */
#include "tests/oracle/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long asked_count[CHECKS], said_nothing[CHECKS];

static const char *const names[] = {"against SQLite", "at another number of workers", "with work_mem 64 kB", "with work_mem 1 GB", "with another plan", "with rows collected first (crab.agg)",
                                    "prepared, with parameters", "by ternary partitioning", "counted without optimisation", "as a change, against SQLite"};

const char *check_name(struct check check)
{
    static char text[64];
    if (check.kind != AT_WORKERS)
        return names[check.kind];
    snprintf(text, sizeof text, "at %d workers", (const int[]){1, 2, 3, 4, 8, 16}[check.workers]);
    return text;
}

/* With the message's words up to the first that is quoted: they stay the same while the statement is cut smaller. */
static char *refusal(const struct answer *a)
{
    const char *words = a->message + (strncmp(a->message, "ERROR:  ", 8) ? 0 : 8);
    return node_text("the server refuses with %s: %.*s", a->state, (int)strcspn(words, "\"\n0123456789"), words);
}

static void tell(struct text *report, const char *settings, const char *sql, const char *who, const struct answer *a)
{
    if (!report)
        return;
    if (settings)
        text_add(report, "%s;\n", settings);
    text_add(report, "%s;\n", sql);
    answer_print(report, who, a);
}

static const char *nothing(struct check check)
{
    said_nothing[check.kind]++;
    return NULL;
}

/* ---- Against SQLite ---- */

static const char *against_sqlite(struct check check, struct statement *s, struct text *report)
{
    char *sql = node_write(s->tree, CRABTREE, NULL), *lite_sql = node_write(s->tree, SQLITE, NULL);
    struct answer ours, theirs;
    const char *fault = NULL;
    ask_both(sql, lite_sql, &ours, &theirs);
    if (answer_excused(&ours) || lite_too_slow())
        nothing(check);
    else if (ours.failed)
        fault = refusal(&ours);
    else if (theirs.failed)
        fault = "SQLite refuses";
    else if (!answers_agree(&ours, &theirs, s->ordered))
        fault = "the answers differ";
    if (fault) {
        tell(report, NULL, sql, "server", &ours);
        if (report && strcmp(sql, lite_sql))
            text_add(report, "-- for SQLite: %s;\n", lite_sql);
        if (report)
            answer_print(report, "SQLite", &theirs);
    }
    answer_free(&ours);
    answer_free(&theirs);
    return fault;
}

/* ---- The server against itself ---- */

static struct text plan_of(enum asked who, const char *sql)
{
    char *explain = node_text("EXPLAIN (COSTS OFF) %s", sql);
    struct answer a = ask_server(who, explain);
    struct text plan = {0};
    for (int i = 0; i < a.count; i++)        /* a Gather node is where workers come in: not the plan's shape */
        if (!strstr(a.rows[i], "Workers"))
            text_add(&plan, "%s\n", a.rows[i]);
    answer_free(&a);
    return plan;
}

static bool too_slow(const struct answer *a) { return a->failed && !strcmp(a->state, "57014"); }

/* b is the answer under what may be another plan. */
static const char *another_plan(struct check check, struct statement *s, struct answer *a, struct answer *b, bool same_plan)
{
    if (answers_equal(a, b))
        return NULL;
    if (too_slow(a) || too_slow(b))
        return nothing(check);
    if (same_plan)
        return "other bytes from the same plan";
    if ((answer_excused(a) || answer_excused(b)) || !s->determined)
        return nothing(check);
    if (a->failed || b->failed)
        return a->failed ? refusal(a) : refusal(b);
    return answers_agree(a, b, s->ordered) ? NULL : "the answers differ";
}

static const char *against_base(struct check check, struct statement *s, enum asked other, struct text *report)
{
    char *sql = node_write(s->tree, CRABTREE, NULL);
    struct answer a = ask_server(BASE, sql), b = ask_server(other, sql);
    const char *fault = NULL;
    if (!answers_equal(&a, &b)) {
        bool same = check.kind == AT_WORKERS;
        if (!same) {
            struct text ours = plan_of(BASE, sql), theirs = plan_of(other, sql);
            same = ours.length == theirs.length && ours.length && !memcmp(ours.bytes, theirs.bytes, ours.length);
            text_clear(&ours);
            text_clear(&theirs);
        }
        fault = another_plan(check, s, &a, &b, same);
    }
    if (fault) {
        tell(report, ask_settings(BASE), sql, "server", &a);
        tell(report, ask_settings(other), sql, "server", &b);
    }
    answer_free(&a);
    answer_free(&b);
    return fault;
}

static const char *collected(struct check check, struct statement *s, struct text *report)
{
    char *sql = node_write(s->tree, CRABTREE, NULL);
    struct answer a = ask_server(BASE, sql), way = ask_server(BASE, "SHOW crab.agg");
    must(BASE, strcmp(way.rows[0], "collect") ? "SET crab.agg = collect" : "SET crab.agg = partial");
    struct answer b = ask_server(check.workers, sql);
    must(BASE, node_text("SET crab.agg = %s", way.rows[0]));
    answer_free(&way);
    const char *fault = another_plan(check, s, &a, &b, true);
    if (fault) {
        tell(report, ask_settings(BASE), sql, "server", &a);
        if (report)
            text_add(report, "SET crab.agg = collect; -- or partial, if that isn't what it is\n");
        tell(report, ask_settings(check.workers), sql, "server", &b);
        if (report)
            text_add(report, "SET crab.agg = partial;\n");
    }
    answer_free(&a);
    answer_free(&b);
    return fault;
}

static const char *prepared(struct check check, struct statement *s, struct text *report)
{
    struct parameters parameters = {0};
    char *sql = node_write(s->tree, CRABTREE, NULL), *with = node_write(s->tree, CRABTREE, &parameters);
    struct answer a = ask_server(BASE, sql), b = ask_prepared(with, &parameters);
    const char *fault = another_plan(check, s, &a, &b, false);
    if (fault && report) {
        tell(report, ask_settings(BASE), sql, "server", &a);
        text_add(report, "-- prepared: %s;\n--", with);
        for (int i = 0; i < parameters.count; i++)
            text_add(report, " $%d = %s%s", i + 1, parameters.values[i] ? parameters.values[i] : "NULL", i + 1 < parameters.count ? "," : "\n");
        answer_print(report, "prepared", &b);
    }
    answer_free(&a);
    answer_free(&b);
    return fault;
}

/* ---- Without a second system ---- */

/* SELECT @1 FROM @2 against the same WHERE p, NOT p, p IS NULL, put together. */
static const char *partitioned(struct check check, struct statement *s, struct text *report)
{
    struct node *list = s->tree->kids[0], *source = s->tree->kids[1], *p = s->tree->kids[2];
    static const char *const forms[] = {"SELECT @1 FROM @2", "SELECT @1 FROM @2 WHERE @3", "SELECT @1 FROM @2 WHERE NOT @3", "SELECT @1 FROM @2 WHERE (@3) IS NULL"};
    struct answer all = {0}, parts = {0};
    char *sql[4];
    const char *fault = NULL;
    bool excused = false;
    for (int i = 0; i < 4 && !fault; i++) {
        sql[i] = node_write(node_form(QUERY, forms[i], list, source, p, NULL), CRABTREE, NULL);
        struct answer a = ask_server(i % 2 ? check.workers : BASE, sql[i]);
        if (answer_excused(&a))
            excused = true;
        else if (a.failed)
            fault = refusal(&a);
        if (i == 0) {
            all = a;
            continue;
        }
        parts.rows = realloc(parts.rows, sizeof *parts.rows * (size_t)(parts.count + a.count + 1));
        for (int r = 0; r < a.count; r++)
            parts.rows[parts.count++] = strdup(a.rows[r]);
        if (fault)
            tell(report, NULL, sql[i], "server", &a);
        answer_free(&a);
    }
    if (excused)
        fault = nothing(check);
    else if (!fault && !answers_agree(&all, &parts, false)) {
        fault = "the parts are not the whole";
        tell(report, NULL, sql[0], "the whole", &all);
        for (int i = 1; i < 4 && report; i++)
            text_add(report, "%s;\n", sql[i]);
        if (report)
            answer_print(report, "the parts", &parts);
    } else if (fault && !parts.count)
        tell(report, NULL, sql[0], "server", &all);
    answer_free(&all);
    answer_free(&parts);
    return fault;
}

/* The rows that WHERE p lets through, and p counted over all rows. */
static const char *counted_plainly(struct check check, struct statement *s, struct text *report)
{
    struct node *source = s->tree->kids[1], *p = s->tree->kids[2];
    char *filtered = node_write(node_form(QUERY, "SELECT count(*) FROM @1 WHERE @2", source, p, NULL), CRABTREE, NULL);
    char *plain = node_write(node_form(QUERY, "SELECT count(*) FROM (SELECT CASE WHEN @2 THEN 1 ELSE 0 END AS hit FROM @1) AS x WHERE hit = 1", source, p, NULL), CRABTREE, NULL);
    if (check.workers != BASE)
        plain = node_write(node_form(QUERY, "SELECT coalesce(sum(CASE WHEN @2 THEN 1 ELSE 0 END), 0) FROM @1", source, p, NULL), CRABTREE, NULL);
    struct answer a = ask_server(check.workers, filtered), b = ask_server(BASE, plain);
    const char *fault = NULL;
    if (answer_excused(&a) || answer_excused(&b))
        nothing(check);
    else if (a.failed || b.failed)
        fault = a.failed ? refusal(&a) : refusal(&b);
    else if (strcmp(a.rows[0], b.rows[0]))
        fault = "the counts differ";
    if (fault) {
        tell(report, NULL, filtered, "server", &a);
        tell(report, NULL, plain, "server", &b);
    }
    answer_free(&a);
    answer_free(&b);
    return fault;
}

/* ---- Changes ---- */

static bool table_agrees(const struct table *t, struct text *report)
{
    char *sql = node_text("SELECT %s", t->columns[0].name);
    for (int c = 1; c < t->column_count; c++)
        sql = node_text("%s, %s", sql, t->columns[c].name);
    sql = node_text("%s, f FROM %s", sql, t->name);
    struct answer a, b;
    ask_both(sql, sql, &a, &b);
    bool agree = !a.failed && !b.failed && answers_agree(&a, &b, false);
    if (!agree) {
        tell(report, NULL, sql, "server", &a);
        if (report)
            answer_print(report, "SQLite", &b);
    }
    answer_free(&a);
    answer_free(&b);
    return agree;
}

/* In a transaction, behind a savepoint to which it goes back where the two don't agree, or both refuse. */
static const char *changed(struct check check, struct statement *s, struct text *report)
{
    char *sql = node_write(s->tree, CRABTREE, NULL), *lite_sql = node_write(s->tree, SQLITE, NULL);
    struct answer ours, theirs = {0};
    const char *fault = NULL;
    must_both("SAVEPOINT s", "SAVEPOINT s");
    ours = ask_server(BASE, sql);
    bool back = ours.failed;
    if (answer_excused(&ours)) {
        nothing(check);
    } else {
        theirs = ask_lite_patiently(lite_sql);
        if (lite_too_slow()) {
            nothing(check);
            back = true;
        } else if (ours.failed != theirs.failed)
            fault = ours.failed ? refusal(&ours) : "SQLite refuses";
        else if (ours.failed && strncmp(ours.state, "23", 2))
            fault = refusal(&ours);
        else if (!ours.failed && (!answers_agree(&ours, &theirs, false) || ours.changed != theirs.changed))
            fault = "the answers differ";
        if (fault) {
            tell(report, NULL, sql, "server", &ours);
            if (report) {
                answer_print(report, "SQLite", &theirs);
                text_add(report, "-- changed: server %ld rows, SQLite %ld\n", ours.changed, theirs.changed);
            }
        } else if (!ours.failed && !back) {
            if (report)
                text_add(report, "%s;\n", sql);
            if (!table_agrees(s->changes, report))
                fault = "the table differs afterwards";
        }
    }
    if (fault || back)
        must_both("ROLLBACK TO s", "ROLLBACK TO s");
    must_both("RELEASE s", "RELEASE s");
    answer_free(&ours);
    answer_free(&theirs);
    return fault;
}

const char *check_run(struct check check, struct statement *s, struct text *report)
{
    asked_count[check.kind]++;
    switch (check.kind) {
    case AGAINST_SQLITE: return against_sqlite(check, s, report);
    case AT_WORKERS: return against_base(check, s, check.workers, report);
    case IN_SMALL_MEMORY: return against_base(check, s, SMALL_MEMORY, report);
    case IN_LARGE_MEMORY: return against_base(check, s, LARGE_MEMORY, report);
    case WITH_OTHER_PLAN: return against_base(check, s, OTHER_PLAN, report);
    case COLLECTED: return collected(check, s, report);
    case PREPARED: return prepared(check, s, report);
    case PARTITIONED: return partitioned(check, s, report);
    case COUNTED_PLAINLY: return counted_plainly(check, s, report);
    default: return changed(check, s, report);
    }
}

/* ---- The database ---- */

/* Which tables a script needs: those that the statement names; all, where it names a view. */
static const char *script_names;
static bool script_names_view(void) { return script_names && (strstr(script_names, " v0 ") || strstr(script_names, " v1 ")); }
static bool script_wants(int table)
{
    const char *name = node_text("%s ", tables[table].name);
    return !script_names || script_names_view() || strstr(script_names, name);
}

static void tables_make(struct text *script)
{
    for (int i = VIEWS - 1; i >= 0; i--) {   /* the second may look at the first */
        char *drop = node_text("DROP VIEW IF EXISTS v%d", i);
        must_both(drop, drop);
    }
    for (int i = 0; i < TABLES; i++) {
        char *drop = node_text("DROP TABLE IF EXISTS t%d", i);
        must_both(drop, drop);
    }
    for (int i = 0; i < table_count; i++) {
        must_both(tables[i].create.bytes, tables[i].lite_create.bytes);
        if (script && script_wants(i))
            text_add(script, "DROP TABLE IF EXISTS %s CASCADE;\n%s;\n", tables[i].name, tables[i].create.bytes);
    }
}

static void indexes_make(struct text *script)
{
    for (int i = 0; i < table_count; i++)
        for (int x = 0; x < tables[i].index_count; x++) {
            must_both(tables[i].indexes[x].bytes, tables[i].indexes[x].bytes);
            if (script && script_wants(i))
                text_add(script, "%s;\n", tables[i].indexes[x].bytes);
        }
}

static void views_create(struct text *script)
{
    for (int i = 0; i < view_count; i++) {
        must_both(views[i].create.bytes, views[i].lite_create.bytes);
        if (script && script_names_view())
            text_add(script, "CREATE OR REPLACE VIEW %s;\n", views[i].create.bytes + strlen("CREATE VIEW "));
    }
}

void database_make(void)
{
    tables_make(NULL);
    for (int i = 0; i < table_count; i++) {
        const char *insert = tables[i].inserts.bytes;
        for (int n = 0; n < tables[i].insert_count; n++, insert += strlen(insert) + 1)
            must_both(insert, insert);
    }
    indexes_make(NULL);
    views_create(NULL);
}

void database_rebuild(char ***rows, const int *counts, struct text *script, const char *names)
{
    script_names = names;
    tables_make(script);
    for (int i = 0; i < table_count; i++) {
        struct text names = {0};
        for (int c = 0; c < tables[i].column_count; c++)
            text_add(&names, "%s, ", tables[i].columns[c].name);
        for (int r = 0; r < counts[i]; r += 100) {
            struct text insert = {0};
            text_add(&insert, "INSERT INTO %s (%sf) VALUES ", tables[i].name, names.bytes);
            for (int k = r; k < counts[i] && k < r + 100; k++)
                text_add(&insert, "%s%s", k > r ? ", " : "", rows[i][k]);
            must_both(insert.bytes, insert.bytes);
            if (script && script_wants(i))
                text_add(script, "%s;\n", insert.bytes);
            text_clear(&insert);
        }
        text_clear(&names);
    }
    indexes_make(script);
    views_create(script);
}
