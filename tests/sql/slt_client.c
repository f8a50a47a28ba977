/* tests/sql/slt_client.c - runs files in the sqllogictest format against a server.
 *
 *     slt_client [-v] [-w WORKERS[,WORKERS...]] FILE...
 *
 * The format: records separated by blank lines; a line that begins with # is dropped. `statement ok|error` and the SQL below; `query
 * TYPES [SORT [LABEL]]`, the SQL, a line ----, the expected values one a line or `N values hashing to MD5`. TYPES has a letter a column,
 * I, R or T; SORT is nosort, rowsort or valuesort; queries of one LABEL must agree. skipif and onlyif name an engine: ours is
 * "postgresql". Every file begins with an empty database. Prints each failing record with its line, and a count.
 *
 * With -w, each query is asked with one worker and with each of these numbers, however small the table: every byte has to be the same. */
#include <ctype.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PGconn *conn;
static struct { PGconn *conn; int workers; } more[8];    /* with -w */
static int more_count;
static bool verbose;
static long passed, failed, skipped;

/* ---- MD5 (RFC 1321), for hashed results ---- */

struct md5 { uint32_t state[4]; uint64_t length; uint8_t block[64]; };

static void md5_block(struct md5 *m, const uint8_t *p)
{
    static const uint8_t shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static uint32_t sines[64];
    if (!sines[0]) {                         /* floor(2^32 * abs(sin(i + 1))) by the series, which is exact enough in long double */
        for (int i = 0; i < 64; i++) {
            long double x = i + 1, term, sum;
            const long double two_pi = 6.283185307179586476925286766559005768L;
            while (x > two_pi)
                x -= two_pi;
            term = sum = x;
            for (int k = 1; k < 40; k++) {
                term *= -x * x / ((2 * k) * (2 * k + 1));
                sum += term;
            }
            sines[i] = (uint32_t)((sum < 0 ? -sum : sum) * 4294967296.0L);
        }
    }
    uint32_t w[16], a = m->state[0], b = m->state[1], c = m->state[2], d = m->state[3];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16 | (uint32_t)p[4 * i + 3] << 24;
    for (int i = 0; i < 64; i++) {
        uint32_t f;
        int g, round = i / 16;
        switch (round) {
        case 0: f = (b & c) | (~b & d); g = i; break;
        case 1: f = (d & b) | (~d & c); g = (5 * i + 1) % 16; break;
        case 2: f = b ^ c ^ d; g = (3 * i + 5) % 16; break;
        default: f = c ^ (b | ~d); g = 7 * i % 16;
        }
        f += a + sines[i] + w[g];
        a = d;
        d = c;
        c = b;
        int s = shifts[round][i % 4];
        b += f << s | f >> (32 - s);
    }
    m->state[0] += a;
    m->state[1] += b;
    m->state[2] += c;
    m->state[3] += d;
}

static void md5_open(struct md5 *m) { *m = (struct md5){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}}; }

static void md5_add(struct md5 *m, const void *bytes, size_t count)
{
    for (const uint8_t *p = bytes; count; p++, count--) {
        m->block[m->length++ % 64] = *p;
        if (m->length % 64 == 0)
            md5_block(m, m->block);
    }
}

static void md5_close(struct md5 *m, char hex[33])
{
    uint64_t bits = m->length * 8;
    md5_add(m, "\x80", 1);
    while (m->length % 64 != 56)
        md5_add(m, "", 1);
    uint8_t tail[8];
    for (int i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> 8 * i);
    md5_add(m, tail, 8);
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", m->state[i / 4] >> 8 * (i % 4) & 0xff);
}

/* ---- Values ---- */

struct values { char **items; size_t count, room; };

static void values_add(struct values *v, char *item)
{
    if (v->count == v->room)
        v->items = realloc(v->items, sizeof(char *) * (v->room = v->room ? 2 * v->room : 64));
    v->items[v->count++] = item;
}

static void values_free(struct values *v)
{
    for (size_t i = 0; i < v->count; i++)
        free(v->items[i]);
    free(v->items);
    *v = (struct values){0};
}

static char *written(const char *value, bool null, char type, Oid oid)
{
    char text[512];
    if (null)
        return strdup("NULL");
    if (type == 'I') {
        if (oid == 16)
            return strdup(value[0] == 't' ? "1" : "0");
        if (strpbrk(value, ".eE")) {         /* cut towards zero; digits before the point are enough */
            if (!strpbrk(value, "eE")) {
                snprintf(text, sizeof(text), "%.*s", (int)strcspn(value, "."), value);
                return strdup(!strcmp(text, "-0") || !strcmp(text, "-") || !text[0] ? "0" : text);
            }
            snprintf(text, sizeof(text), "%.0f", (double)(long long)strtod(value, NULL));
            return strdup(text);
        }
        return strdup(value);
    }
    if (type == 'R') {
        snprintf(text, sizeof(text), "%.3f", strtod(value, NULL));
        return strdup(text);
    }
    if (!value[0])
        return strdup("(empty)");
    char *copy = strdup(value);
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < 32 || (unsigned char)*p > 126)
            *p = '@';
    return copy;
}

static size_t row_width;
static int compare_values(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int compare_rows(const void *a, const void *b)
{
    char *const *x = a, *const *y = b;
    for (size_t i = 0; i < row_width; i++) {
        int order = strcmp(x[i], y[i]);
        if (order)
            return order;
    }
    return 0;
}

/* ---- Labels: queries that must agree ---- */

static struct { char name[64], hash[33]; } labels[4096];
static int label_count;

static bool label_agrees(const char *name, const char *hash)
{
    for (int i = 0; i < label_count; i++)
        if (!strcmp(labels[i].name, name))
            return !strcmp(labels[i].hash, hash);
    if (label_count < 4096) {
        snprintf(labels[label_count].name, sizeof(labels[0].name), "%s", name);
        snprintf(labels[label_count++].hash, sizeof(labels[0].hash), "%s", hash);
    }
    return true;
}

/* ---- Records ---- */

static void report(const char *file, int line, const char *sql, const char *what, const char *more)
{
    failed++;
    if (failed <= 20 || verbose)
        printf("%s:%d: %s%s%s\n    %s\n", file, line, what, more[0] ? ": " : "", more, sql);
}

static void run_statement(const char *file, int line, const char *sql, bool want_error)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    bool error = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY;
    if (error == want_error)
        passed++;
    else
        report(file, line, sql, error ? "failed" : "went well and should not have", error ? PQresultErrorMessage(result) : "");
    PQclear(result);
}

/* NULL, or what is another byte with that many workers. */
static const char *other_bytes(const PGresult *one, const char *sql, PGconn *others, int workers)
{
    static char what[600];
    PGresult *many = PQexec(others, sql);
    what[0] = 0;
    if (PQresultStatus(many) != PQresultStatus(one) || PQntuples(many) != PQntuples(one) || PQnfields(many) != PQnfields(one))
        snprintf(what, sizeof what, "%d rows with %d workers, %d with one: %.200s", PQntuples(many), workers, PQntuples(one), PQresultErrorMessage(many));
    for (int r = 0; !what[0] && r < PQntuples(one); r++)
        for (int c = 0; !what[0] && c < PQnfields(one); c++)
            if (PQgetisnull(one, r, c) != PQgetisnull(many, r, c) || strcmp(PQgetvalue(one, r, c), PQgetvalue(many, r, c)))
                snprintf(what, sizeof what, "row %d, column %d is %.200s with %d workers, %.200s with one", r + 1, c + 1, PQgetvalue(many, r, c), workers, PQgetvalue(one, r, c));
    PQclear(many);
    return what[0] ? what : NULL;
}

static void run_query(const char *file, int line, const char *sql, const char *types, const char *sort, const char *label, struct values *expected)
{
    PGresult *result = PQexec(conn, sql);
    struct values got = {0};
    const char *other = NULL;
    for (int i = 0; i < more_count && !other; i++)
        other = other_bytes(result, sql, more[i].conn, more[i].workers);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        report(file, line, sql, "failed", PQresultErrorMessage(result));
        PQclear(result);
        return;
    }
    if (PQnfields(result) != (int)strlen(types)) {
        report(file, line, sql, "another number of columns", "");
        PQclear(result);
        return;
    }
    for (int r = 0; r < PQntuples(result); r++)
        for (int c = 0; c < PQnfields(result); c++)
            values_add(&got, written(PQgetvalue(result, r, c), PQgetisnull(result, r, c), types[c], PQftype(result, c)));
    row_width = strlen(types);
    if (!strcmp(sort, "rowsort") && got.count)
        qsort(got.items, got.count / row_width, sizeof(char *) * row_width, compare_rows);
    else if (!strcmp(sort, "valuesort") && got.count)
        qsort(got.items, got.count, sizeof(char *), compare_values);
    struct md5 m;
    char hash[33], wanted_hash[64] = "";
    size_t wanted_count;
    md5_open(&m);
    for (size_t i = 0; i < got.count; i++) {
        md5_add(&m, got.items[i], strlen(got.items[i]));
        md5_add(&m, "\n", 1);
    }
    md5_close(&m, hash);
    char what[600] = "";
    if (other)
        snprintf(what, sizeof what, "%s", other);
    if (expected->count == 1 && sscanf(expected->items[0], "%zu values hashing to %63s", &wanted_count, wanted_hash) == 2) {
        if (!what[0] && (wanted_count != got.count || strcmp(hash, wanted_hash)))
            snprintf(what, sizeof(what), "%zu values hash to %s, expected %zu with %s", got.count, hash, wanted_count, wanted_hash);
    } else {
        if (!what[0] && got.count != expected->count)
            snprintf(what, sizeof(what), "%zu values, expected %zu", got.count, expected->count);
        for (size_t i = 0; !what[0] && i < got.count; i++)
            if (strcmp(got.items[i], expected->items[i]))
                snprintf(what, sizeof(what), "value %zu is %.200s, expected %.200s", i + 1, got.items[i], expected->items[i]);
    }
    if (!what[0] && label[0] && !label_agrees(label, hash))
        snprintf(what, sizeof(what), "differs from an earlier query of label %.60s", label);
    if (what[0])
        report(file, line, sql, what, "");
    else
        passed++;
    values_free(&got);
    PQclear(result);
}

static void empty_database(void)
{
    for (;;) {
        PGresult *result = PQexec(conn, "SELECT quote_ident(c.relname), c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('r', 'v')");
        int count = PQntuples(result);
        for (int i = 0; i < count; i++) {
            char sql[256];
            snprintf(sql, sizeof(sql), "DROP %s IF EXISTS %s CASCADE", PQgetvalue(result, i, 1)[0] == 'v' ? "VIEW" : "TABLE", PQgetvalue(result, i, 0));
            PQclear(PQexec(conn, sql));
        }
        PQclear(result);
        if (!count)
            return;
    }
}

/* The next line that is no comment, without its end; NULL at the end of the file. */
static char *next_line(FILE *in, int *line)
{
    static char *buffer;
    static size_t room;
    for (;;) {
        ssize_t length = getline(&buffer, &room, in);
        if (length < 0)
            return NULL;
        ++*line;
        while (length && (buffer[length - 1] == '\n' || buffer[length - 1] == '\r'))
            buffer[--length] = 0;
        if (buffer[0] != '#')
            return buffer;
    }
}

static void add_line(char **text, const char *line)
{
    size_t old = *text ? strlen(*text) : 0, more = strlen(line);
    *text = realloc(*text, old + more + 2);
    if (old)
        (*text)[old++] = '\n';
    memcpy(*text + old, line, more + 1);
}

static void run_file(const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in) {
        perror(file);
        failed++;
        return;
    }
    int line = 0;
    char *text;
    label_count = 0;
    empty_database();
    while ((text = next_line(in, &line))) {
        bool skip = false;
        char word[64], engine[64];
        while (text && (sscanf(text, "%63s %63s", word, engine) == 2) && (!strcmp(word, "skipif") || !strcmp(word, "onlyif"))) {
            skip |= !strcmp(engine, "postgresql") == !strcmp(word, "skipif");
            text = next_line(in, &line);
        }
        if (!text)
            break;
        if (!text[0])
            continue;
        int begun = line;
        char *sql = NULL;
        if (sscanf(text, "statement %63s", word) == 1) {
            bool want_error = !strcmp(word, "error");
            while ((text = next_line(in, &line)) && text[0])
                add_line(&sql, text);
            if (skip)
                skipped++;
            else if (sql)
                run_statement(file, begun, sql, want_error);
        } else if (!strncmp(text, "query ", 6)) {
            char types[128] = "", sort[32] = "nosort", label[64] = "";
            struct values expected = {0};
            sscanf(text, "query %127s %31s %63s", types, sort, label);
            while ((text = next_line(in, &line)) && text[0] && strcmp(text, "----"))
                add_line(&sql, text);
            if (text && !strcmp(text, "----"))
                while ((text = next_line(in, &line)) && text[0])
                    values_add(&expected, strdup(text));
            if (skip)
                skipped++;
            else if (sql)
                run_query(file, begun, sql, types, sort, label, &expected);
            values_free(&expected);
        } else if (!strncmp(text, "halt", 4)) {
            if (!skip)
                break;
        } else if (strncmp(text, "hash-threshold", 14)) {
            report(file, line, text, "not understood", "");
        }
        free(sql);
    }
    empty_database();
    fclose(in);
}

static PGconn *connect_to_server(void)
{
    PGconn *c = PQconnectdb("");
    if (PQstatus(c) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(c));
        exit(2);
    }
    PQclear(PQexec(c, "SET client_min_messages = error"));
    return c;
}

static void set_workers(PGconn *c, int workers)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = %d", workers);
    PGresult *result = PQexec(c, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        fprintf(stderr, "%s", PQresultErrorMessage(result));
        exit(2);
    }
    PQclear(result);
}

int main(int argc, char **argv)
{
    conn = connect_to_server();
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else if (!strcmp(argv[i], "-w") && i + 1 < argc) {
            set_workers(conn, 1);
            for (char *number = strtok(argv[++i], ","); number && more_count < 8; number = strtok(NULL, ",")) {
                more[more_count].conn = connect_to_server();
                more[more_count].workers = atoi(number);
                set_workers(more[more_count].conn, more[more_count].workers);
                more_count++;
            }
        } else
            run_file(argv[i]);
    }
    printf("%ld records passed, %ld failed, %ld skipped%s\n", passed, failed, skipped, more_count ? ", with one worker and with more" : "");
    for (int i = 0; i < more_count; i++)
        PQfinish(more[i].conn);
    PQfinish(conn);
    return failed != 0;
}
