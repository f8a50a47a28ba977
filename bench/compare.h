/* bench/compare.h - a database system as the comparisons see it: one connection, one statement at a time.
 *
 * Each system is a file of its own (compare_postgres.c serves PostgreSQL and Crabtree, compare_sqlite.c, compare_duckdb.c). Statements are written in
 * PostgreSQL's words; a system that has others says them its own way. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
    char *text;                          /* rows, '\n' behind each, '\t' between columns; nulls are empty. Grows, is used again */
    size_t length, capacity;
    double wall_ms, cpu_ms;              /* the statement's; cpu: of the server, all threads and processes */
};
void answer_add(struct answer *, const char *bytes, size_t length);

struct system {
    const char *name;
    /* false: error says why. `where` is the system's own: a connection string, a file, a folder. */
    bool (*open)(struct system *, const char *where, int workers, char *error, size_t error_bytes);
    bool (*run)(struct system *, const char *sql, struct answer *, char *error, size_t error_bytes);
    /* COPY table FROM a tab-separated file. */
    bool (*load)(struct system *, const char *table, const char *path, struct answer *, char *error, size_t error_bytes);
    void (*close)(struct system *);
    void *state;
};
extern const struct system system_crabtree, system_postgres, system_sqlite, system_duckdb;

double clock_ms(void);                   /* monotonic */
/* User and system time of a process, of its children, and of the children that it has waited for (these to a hundredth of a second), all threads:
 * whether a server is threads or processes, all that it had done is counted. 0: the process is gone. */
double process_cpu_ms(int pid);
double median(double *values, size_t count);     /* sorts them */

/* Same rows? Numbers may differ by a thousand-millionth part of themselves; blanks at a value's end don't count. */
bool answers_agree(const char *one, const char *other);

/* A file of statements. */
struct script;
struct statement { char *sql, *heading, *check, *after; };   /* heading NULL: not measured; check, after NULL: nothing */
void           script_value(const char *name, const char *value);
struct script *script_open(const char *path);            /* NULL: it cannot be read */
struct statement *script_next(struct script *);          /* valid until the next call; NULL: that was all */
void           script_close(struct script *);

/* What was measured of a statement. */
#define SYSTEMS 4
struct result {
    char   label[80];
    double at_least, far;                /* what PostgreSQL's figure over Crabtree's should be; any other to stand beside it; 0: nothing */
    bool   from_maps;                    /* warm, Crabtree needs no row for it */
    double wall[SYSTEMS], cpu[SYSTEMS];  /* medians, ms */
    double first[SYSTEMS];               /* wall time of the first run */
    bool   good[SYSTEMS];
};
/* compare_report.c: the first system is Crabtree. The table goes to standard output, and to out.md and out.dat (out NULL: to none). */
void report_open(const char *const *names, int count, const char *out, bool by_cpu);
void report_line(const struct result *);
void report_close(void);

#endif
