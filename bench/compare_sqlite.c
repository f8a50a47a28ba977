/* bench/compare_sqlite.c - SQLite in this process; where: the file of the database. It has one worker, whatever is asked for.
 *
 * What it says otherwise than PostgreSQL is put into its words (`spoken`): dates are texts, a primary key added later is a unique index. Decimals are
 * binary floating point there. */
#include "bench/compare.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double thread_cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool failed(sqlite3 *db, char *error, size_t bytes)
{
    snprintf(error, bytes, "%s", sqlite3_errmsg(db));
    return false;
}

#define PATIENCE_MS 20000                /* of one query: some joins take it hours */
static double patience_ends;
static int out_of_patience(void *context) { return (void)context, clock_ms() > patience_ends; }

static bool lite_run(struct system *s, const char *sql, struct answer *a, char *error, size_t bytes);

static bool lite_open(struct system *s, const char *where, int workers, char *error, size_t bytes)
{
    static const char *const pragmas[] = {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -4000000", "PRAGMA mmap_size = 8000000000", "PRAGMA temp_store = MEMORY"};
    sqlite3 *db;
    (void)workers;
    if (sqlite3_open(where, &db) != SQLITE_OK)
        return failed(db, error, bytes);
    s->state = db;
    sqlite3_progress_handler(db, 100000, out_of_patience, NULL);
    struct answer a = {0};
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++)
        if (!lite_run(s, pragmas[i], &a, error, bytes))
            return false;
    free(a.text);
    return true;
}

/* Is the word at `at`, whatever its case? */
static bool word(const char *at, const char *wanted) { return strncasecmp(at, wanted, strlen(wanted)) == 0; }

/* date 'D' [+|- interval 'N' unit] */
static const char *say_date(const char *at, char *out)
{
    char day[16] = "", number[16] = "", unit[16] = "", sign[2] = "";
    int used = 0, more = 0;
    sscanf(at, "%*[a-zA-Z] '%15[^']'%n", day, &used);
    at += used;
    if (sscanf(at, " %1[+-] %*[intervalINTERVAL] '%15[^']' %15[a-zA-Z]%n", sign, number, unit, &more) == 3 && more) {
        sprintf(out, "date('%s','%s%s %ss')", day, sign, number, unit);
        return at + more;
    }
    sprintf(out, "'%s'", day);
    return at;
}

static char *spoken(const char *sql)
{
    char *text = calloc(1, strlen(sql) * 3 + 256), *to = text, table[64], column[256];
    int used = 0;
    if (sscanf(sql, " ALTER TABLE %63s ADD PRIMARY KEY (%255[^)])", table, column) == 2) {
        sprintf(text, "CREATE UNIQUE INDEX %s_pkey ON %s (%s)", table, table, column);
        return text;
    }
    if (word(sql, "VACUUM")) {
        strcpy(text, "ANALYZE");
        return text;
    }
    if (sscanf(sql, " TRUNCATE %63s", table) == 1) {
        sprintf(text, "DELETE FROM %s", table);
        return text;
    }
    bool quoted = false;
    for (const char *at = sql; *at;) {
        bool begins = at == sql || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        used = 0;
        if (!quoted && begins && word(at, "date '")) {
            at = say_date(at, to);
            to += strlen(to);
        } else if (!quoted && begins && sscanf(at, "extract(year FROM %255[^)])%n", column, &used) == 1 && used) {
            to += sprintf(to, "cast(strftime('%%Y', %s) AS integer)", column);
            at += used;
        } else if (!quoted && begins && sscanf(at, "substring(%255s FROM 1 FOR 2)%n", column, &used) == 1 && used) {
            to += sprintf(to, "substr(%s, 1, 2)", column);
            at += used;
        } else {
            quoted ^= *at == '\'';
            *to++ = *at++;
        }
    }
    return text;
}

static bool lite_run(struct system *s, const char *sql, struct answer *a, char *error, size_t bytes)
{
    sqlite3 *db = s->state;
    sqlite3_stmt *statement = NULL;
    char *text = spoken(sql);
    a->length = 0;
    answer_add(a, "", 0);
    bool query = word(sql, "SELECT") || word(sql, "WITH");
    double cpu = thread_cpu_ms(), from = clock_ms();
    patience_ends = query ? from + PATIENCE_MS : 1e300;
    int step = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    if (step == SQLITE_OK)
        while ((step = sqlite3_step(statement)) == SQLITE_ROW)
            for (int column = 0, columns = sqlite3_column_count(statement); column < columns; column++) {
                char number[32];
                const char *value = number;
                if (sqlite3_column_type(statement, column) == SQLITE_FLOAT)
                    snprintf(number, sizeof number, "%.17g", sqlite3_column_double(statement, column));
                else
                    value = (const char *)sqlite3_column_text(statement, column);
                answer_add(a, value ? value : "", value ? strlen(value) : 0);
                answer_add(a, column + 1 == columns ? "\n" : "\t", 1);
            }
    a->wall_ms = clock_ms() - from;
    a->cpu_ms = thread_cpu_ms() - cpu;
    free(text);
    bool good = step == SQLITE_DONE || failed(db, error, bytes);
    sqlite3_finalize(statement);
    return good;
}

/* One transaction of prepared inserts. */
static bool lite_load(struct system *s, const char *table, const char *path, struct answer *a, char *error, size_t bytes)
{
    sqlite3 *db = s->state;
    FILE *file = fopen(path, "r");
    char *line = NULL, sql[512];
    size_t capacity = 0;
    ssize_t length;
    sqlite3_stmt *statement = NULL;
    if (!file) {
        snprintf(error, bytes, "%s: cannot be read", path);
        return false;
    }
    double cpu = thread_cpu_ms(), from = clock_ms();
    patience_ends = 1e300;
    bool good = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
    while (good && (length = getline(&line, &capacity, file)) > 0) {
        if (line[length - 1] == '\n')
            line[--length] = 0;
        if (!statement) {
            int columns = 1, at = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table);
            for (const char *c = line; *c; c++)
                columns += *c == '\t';
            for (int i = 1; i < columns; i++)
                at += snprintf(sql + at, sizeof sql - (size_t)at, ",?");
            snprintf(sql + at, sizeof sql - (size_t)at, ")");
            good = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
        }
        char *at = line;
        for (int i = 1; good && at; i++) {
            char *next = strchr(at, '\t');
            sqlite3_bind_text(statement, i, at, next ? (int)(next - at) : (int)strlen(at), SQLITE_STATIC);
            at = next ? next + 1 : NULL;
        }
        good = good && sqlite3_step(statement) == SQLITE_DONE && sqlite3_reset(statement) == SQLITE_OK;
    }
    sqlite3_finalize(statement);
    good = good && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    a->wall_ms = clock_ms() - from;
    a->cpu_ms = thread_cpu_ms() - cpu;
    a->length = 0;
    answer_add(a, "", 0);
    fclose(file);
    free(line);
    return good || failed(db, error, bytes);
}

static void lite_close(struct system *s) { sqlite3_close(s->state); }

const struct system system_sqlite = { .name = "SQLite", .open = lite_open, .run = lite_run, .load = lite_load, .close = lite_close };
