/* tests/oracle/ask.c - asks the server, under several settings, and SQLite; compares what they answer. */
#include "tests/oracle/ask.h"

#include <libpq-fe.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 4

static PGconn *connections[ASKED];
static char *settings[ASKED];
static sqlite3 *lite;
static bool lite_interrupted;
static time_t lite_deadline;
static int patience_s = PATIENCE_S;
int ask_patience_s = 6;

/* ---- Answers ---- */

static void add_row(struct answer *a, struct text *row)
{
    if (a->count == a->room)
        a->rows = realloc(a->rows, sizeof(char *) * (size_t)(a->room = a->room ? 2 * a->room : 16));
    a->rows[a->count++] = row->bytes ? row->bytes : strdup("");
    *row = (struct text){0};
}

/* A float in so few digits that the order in which it was summed hardly shows; answers_agree knows what to do where it does. */
static void add_number(struct text *row, double v)
{
    text_add(row, "%.11g", v == 0 ? 0.0 : v);
}

void answer_free(struct answer *a)
{
    for (int i = 0; i < a->count; i++)
        free(a->rows[i]);
    free(a->rows);
    free(a->message);
    text_clear(&a->raw);
    *a = (struct answer){0};
}

static void gone(enum asked who, const char *sql)
{
    printf("oracle: the server is gone: %s\n%s;\n", PQerrorMessage(connections[who]), sql);
    fflush(stdout);
    exit(3);
}

static struct answer from_result(enum asked who, PGresult *result, const char *sql)
{
    struct answer a = {0};
    ExecStatusType status = PQresultStatus(result);
    if (PQstatus(connections[who]) != CONNECTION_OK)
        gone(who, sql);
    if (status == PGRES_TUPLES_OK) {
        for (int r = 0; r < PQntuples(result); r++) {
            struct text row = {0};
            for (int c = 0; c < PQnfields(result); c++) {
                const char *value = PQgetvalue(result, r, c);
                Oid type = PQftype(result, c);
                bool null = PQgetisnull(result, r, c);
                text_add(&a.raw, "%s|", null ? "NULL" : value);
                text_add(&row, c ? "|" : "");
                if (null)
                    text_add(&row, "NULL");
                else if (type == 16)
                    text_add(&row, value[0] == 't' ? "1" : "0");
                else if (type == 700 || type == 701 || (type == 1700 && strchr(value, '.')))
                    add_number(&row, strtod(value, NULL));
                else
                    text_add(&row, "%s", value);
            }
            text_add(&a.raw, "\n");
            add_row(&a, &row);
        }
    } else if (status != PGRES_COMMAND_OK) {
        a.failed = true;
        const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        snprintf(a.state, sizeof a.state, "%s", sqlstate ? sqlstate : "?");
        a.message = strdup(PQresultErrorMessage(result));
        text_add(&a.raw, "%s %s", a.state, a.message);
    }
    a.changed = atol(PQcmdTuples(result));
    PQclear(result);
    return a;
}

struct answer ask_server(enum asked who, const char *sql)
{
    return from_result(who, PQexec(connections[who], sql), sql);
}

struct answer ask_prepared(const char *sql, const struct parameters *p)
{
    static const Oid oids[] = {23, 701, 25, 16};
    Oid types[100];
    for (int i = 0; i < p->count; i++)
        types[i] = oids[p->types[i]];
    PGresult *result = PQprepare(connections[BASE], "", sql, p->count, types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return from_result(BASE, result, sql);
    PQclear(result);
    return from_result(BASE, PQexecPrepared(connections[BASE], "", p->count, p->values, NULL, NULL, 0), sql);
}

static int lite_progress(void *unused) { (void)unused; return time(NULL) > lite_deadline; }
bool lite_too_slow(void) { return lite_interrupted; }

struct answer ask_lite(const char *sql)
{
    struct answer a = {0};
    lite_deadline = time(NULL) + patience_s;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(lite, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            struct text row = {0};
            for (int c = 0; c < sqlite3_column_count(statement); c++) {
                text_add(&row, c ? "|" : "");
                switch (sqlite3_column_type(statement, c)) {
                case SQLITE_NULL: text_add(&row, "NULL"); break;
                case SQLITE_FLOAT: add_number(&row, sqlite3_column_double(statement, c)); break;
                default: text_add(&row, "%s", (const char *)sqlite3_column_text(statement, c));
                }
            }
            add_row(&a, &row);
        }
    }
    if (code != SQLITE_DONE && code != SQLITE_OK) {
        a.failed = true;
        snprintf(a.state, sizeof a.state, "%d", code);
        a.message = strdup(sqlite3_errmsg(lite));
    }
    /* The same as too slow: what is too large for its limits, which what stands for FULL JOIN can make it. */
    lite_interrupted = code == SQLITE_INTERRUPT || (a.failed && (!strcmp(a.message, "parser stack overflow") || !strncmp(a.message, "at most 64 tables", 17) || !strncmp(a.message, "too many", 8)));
    a.changed = sqlite3_changes(lite);
    sqlite3_finalize(statement);
    return a;
}

struct answer ask_lite_patiently(const char *sql)
{
    patience_s = 300;
    struct answer a = ask_lite(sql);
    patience_s = PATIENCE_S;
    return a;
}

void ask_both(const char *sql, const char *lite_sql, struct answer *server, struct answer *from_lite)
{
    PGconn *c = connections[BASE];
    if (!PQsendQuery(c, sql))
        gone(BASE, sql);
    *from_lite = ask_lite(lite_sql);
    PGresult *result = PQgetResult(c), *more;
    while ((more = PQgetResult(c)))
        PQclear(more);
    *server = from_result(BASE, result, sql);
}

/* ---- Comparing ---- */

static int compare_rows(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool near(const char *a, const char *b)
{
    char *a_end, *b_end;
    double x = strtod(a, &a_end), y = strtod(b, &b_end);
    if (a_end == a || b_end == b || (*a_end && *a_end != '|') || (*b_end && *b_end != '|'))
        return false;
    double size = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    return fabs(x - y) <= 1.2e-10 * size + 1e-10;         /* what add_number leaves is rounded: the last of 11 digits may differ by one */
}

static bool rows_near(const char *a, const char *b)
{
    for (;;) {
        size_t n = strcspn(a, "|"), m = strcspn(b, "|");
        if ((n != m || memcmp(a, b, n)) && !near(a, b))
            return false;
        if (!a[n] || !b[m])
            return a[n] == b[m];
        a += n + 1;
        b += m + 1;
    }
}

/* Rows of one side alone, after both were sorted, must pair off. */
static bool rest_pairs_off(struct answer *a, struct answer *b)
{
    char **left = malloc(sizeof *left * (size_t)(a->count + 1)), **right = malloc(sizeof *right * (size_t)(b->count + 1));
    int n = 0, m = 0, i = 0, j = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->rows[i], b->rows[j]);
        if (order < 0)
            left[n++] = a->rows[i++];
        else if (order > 0)
            right[m++] = b->rows[j++];
        else
            i++, j++;
    }
    bool all = n == m;
    for (i = 0; all && i < n; i++) {
        for (j = 0; j < m && !(right[j] && rows_near(left[i], right[j])); j++)
            ;
        if (j < m)
            right[j] = NULL;
        all = j < m;
    }
    free(left);
    free(right);
    return all;
}

bool answers_agree(struct answer *a, struct answer *b, bool ordered)
{
    if (a->count != b->count)
        return false;
    if (ordered) {
        for (int i = 0; i < a->count; i++)
            if (strcmp(a->rows[i], b->rows[i]) && !rows_near(a->rows[i], b->rows[i]))
                return false;
        return true;
    }
    if (a->count) {
        qsort(a->rows, (size_t)a->count, sizeof *a->rows, compare_rows);
        qsort(b->rows, (size_t)b->count, sizeof *b->rows, compare_rows);
    }
    return rest_pairs_off(a, b);
}

bool answers_equal(const struct answer *a, const struct answer *b)
{
    return a->failed == b->failed && a->raw.length == b->raw.length && (!a->raw.length || !memcmp(a->raw.bytes, b->raw.bytes, a->raw.length));
}

bool answer_excused(const struct answer *a)
{
    return a->failed && (!strcmp(a->state, "22003") || !strcmp(a->state, "22012") || !strcmp(a->state, "22008") || !strcmp(a->state, "57014"));
}

void answer_print(struct text *out, const char *who, const struct answer *a)
{
    if (a->failed) {
        text_add(out, "-- %s: %s %s\n", who, a->state, a->message);
        return;
    }
    text_add(out, "-- %s: %d rows\n", who, a->count);
    for (int i = 0; i < a->count && i < 12; i++)
        text_add(out, "--     %.400s\n", a->rows[i]);
}

/* ---- Connections ---- */

void must(enum asked who, const char *sql)
{
    struct answer a = ask_server(who, sql);
    if (a.failed) {
        printf("oracle: %s: %s", sql, a.message);
        exit(2);
    }
    answer_free(&a);
}

void must_both(const char *sql, const char *lite_sql)
{
    must(BASE, sql);
    struct answer a = ask_lite_patiently(lite_sql);
    if (a.failed) {
        printf("oracle: SQLite: %s: %s\n", lite_sql, a.message);
        exit(2);
    }
    answer_free(&a);
}

static void set(enum asked who, const char *more)
{
    struct text sql = {0};
    text_add(&sql, "SET client_min_messages = error; SET statement_timeout = %d; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; %s", 1000 * ask_patience_s, more);
    must(who, sql.bytes);
    free(settings[who]);
    settings[who] = sql.bytes;
}

const char *ask_settings(enum asked who) { return settings[who]; }

/* The planner's switches that this server has. */
static char switches[32][40];
static int switch_count;

static void learn_switches(void)
{
    struct answer a = ask_server(BASE, "SELECT name FROM pg_settings WHERE name LIKE 'enable\\_%' AND name NOT IN ('enable_parallel') ORDER BY name");
    for (int i = 0; i < a.count && switch_count < 32; i++)
        snprintf(switches[switch_count++], sizeof switches[0], "%.39s", a.rows[i]);
    answer_free(&a);
}

void ask_open(void)
{
    static const int workers[] = {1, 2, 3, 4, 8, 16, 1, 1, 1};
    for (int i = 0; i < ASKED; i++) {
        connections[i] = PQconnectdb("");
        if (PQstatus(connections[i]) != CONNECTION_OK) {
            fprintf(stderr, "%s", PQerrorMessage(connections[i]));
            exit(2);
        }
        char more[80];
        snprintf(more, sizeof more, "SET max_parallel_workers_per_gather = %d%s", workers[i], i == LARGE_MEMORY ? "; SET work_mem = '1GB'" : "");
        set((enum asked)i, more);
        if (i >= WORKERS_2 && i <= WORKERS_16)   /* who cancels these does no harm: they only ask, and ask no more than what BASE has answered */
            must((enum asked)i, "SET application_name = 'oracle at workers'");
    }
    if (sqlite3_open(":memory:", &lite) != SQLITE_OK || sqlite3_exec(lite, "PRAGMA case_sensitive_like = on", NULL, NULL, NULL) != SQLITE_OK)
        exit(2);
    sqlite3_progress_handler(lite, 10000, lite_progress, NULL);
    learn_switches();
    ask_change_settings();
}

/* How the server does it, which must not show: in some rounds the switches of its layers are at random. And whether a prepared statement's
 * plan is made for its parameters. */
static void change_switches(void)
{
    static const struct { const char *name, *usual, *choices[3]; int count; } layers[] = {
        {"crab.agg", "partial", {"collect"}, 1}, {"crab.worker_start", "pool", {"spawn"}, 1}, {"crab.btree_latching", "optimistic", {"tree", "crab"}, 2},
        {"crab.pool_io", "outside", {"latched"}, 1}, {"crab.pool_partitions", "128", {"1", "4"}, 2}, {"crab.engine_latch", "off", {"on"}, 1}};
    bool usual = chance(70);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        bool other = !usual && chance(30);
        must(BASE, node_text("SET %s = %s", layers[i].name, other ? layers[i].choices[below(layers[i].count)] : layers[i].usual));
    }
    must(BASE, node_text("SET plan_cache_mode = %s", (const char *[]){"auto", "force_generic_plan", "force_custom_plan"}[below(3)]));
}

void ask_change_settings(void)
{
    change_switches();
    struct text sql = {0};
    for (int i = 0; i < switch_count; i++)
        text_add(&sql, "SET %s = %s; ", switches[i], chance(40) ? "off" : "on");
    int forced = below(4);
    if (forced == 0)                     /* or all that indexes can answer is asked of them; or all that can be merged is */
        text_add(&sql, "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexscan = on; SET enable_indexonlyscan = on; ");
    if (forced == 1)
        text_add(&sql, "SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = on; ");
    text_add(&sql, "SET work_mem = '%s'; SET max_parallel_workers_per_gather = %d", (const char *[]){"64kB", "64MB"}[below(2)], 1 + below(4));
    set(OTHER_PLAN, sql.bytes);
    text_clear(&sql);
    text_add(&sql, "SET work_mem = '64kB'; SET max_parallel_workers_per_gather = %d", 1 + below(4));
    set(SMALL_MEMORY, sql.bytes);
    text_clear(&sql);
}

void ask_close(void)
{
    for (int i = 0; i < ASKED; i++)
        PQfinish(connections[i]);
    sqlite3_close(lite);
}

int lite_rows(const char *sql, char ***rows)
{
    sqlite3_stmt *statement = NULL;
    int count = 0, room = 0;
    *rows = NULL;
    sqlite3_prepare_v2(lite, sql, -1, &statement, NULL);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        struct text row = {0};
        for (int c = 0; c < sqlite3_column_count(statement); c++) {
            const char *type = sqlite3_column_decltype(statement, c);
            bool truth = type && !strcmp(type, "boolean") && sqlite3_column_type(statement, c) == SQLITE_INTEGER;
            text_add(&row, c ? ", " : "(");
            if (truth) {
                text_add(&row, "%s", sqlite3_column_int(statement, c) ? "TRUE" : "FALSE");
                continue;
            }
            switch (sqlite3_column_type(statement, c)) {
            case SQLITE_NULL: text_add(&row, "NULL"); break;
            case SQLITE_TEXT: text_add(&row, "'%s'", (const char *)sqlite3_column_text(statement, c)); break;
            case SQLITE_FLOAT: text_add(&row, "%.17g", sqlite3_column_double(statement, c)); break;
            default: text_add(&row, "%s", (const char *)sqlite3_column_text(statement, c));
            }
        }
        text_add(&row, ")");
        if (count == room)
            *rows = realloc(*rows, sizeof **rows * (size_t)(room = room ? 2 * room : 64));
        (*rows)[count++] = row.bytes;
    }
    sqlite3_finalize(statement);
    return count;
}
