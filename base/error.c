/* base/error.c - the calling thread's error record.
 *
 * Each thread owns one struct error. error_set() empties it and fills it anew; the error_...() that follow add to it.
 * Its strings are malloc'd because a record outlives the arenas of the statement that failed, and travels from a
 * worker to its leader (error_save, error_restore).
 *
 * The last statuses of the table are answers between our own floors, given on hot paths (a latch that could not be
 * had, no more rows wanted): with a NULL format they allocate nothing. */
#include "base/error.h"
#include "base/latch.h"
#include "base/scheduler.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *sqlstate, *text;
} statuses[STATUS_COUNT] = {
#define X(name, sqlstate, text) {sqlstate, text},
    STATUSES(X)
#undef X
};

static _Thread_local struct error record;

const char *status_sqlstate(enum status status)
{
    ASSERT(status < STATUS_COUNT);
    return statuses[status].sqlstate;
}

const char *status_text(enum status status)
{
    ASSERT(status < STATUS_COUNT);
    return statuses[status].text;
}

static char *format_text(const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        panic("out of memory");
    return text;
}

static char *copy_text(const char *text)
{
    if (!text)
        return NULL;
    char *copy = strdup(text);
    if (!copy)
        panic("out of memory");
    return copy;
}

enum status error_set(enum status status, const char *format, ...)
{
    error_free(&record);
    record.status = status;
    memcpy(record.sqlstate, status_sqlstate(status), sizeof(record.sqlstate));
    if (format) {
        va_list args;
        va_start(args, format);
        record.message = format_text(format, args);
        va_end(args);
    } else if (status < STATUS_NO_FRAME) {
        record.message = copy_text(status_text(status));
    }
    return status;
}

#define REPLACE(field)                                                                                                 \
    do {                                                                                                               \
        va_list args;                                                                                                  \
        va_start(args, format);                                                                                        \
        char *text = format_text(format, args);                                                                        \
        va_end(args);                                                                                                  \
        free(record.field);                                                                                            \
        record.field = text;                                                                                           \
    } while (0)

void error_detail(const char *format, ...)
{
    REPLACE(detail);
}

void error_hint(const char *format, ...)
{
    REPLACE(hint);
}

void error_context(const char *format, ...)
{
    REPLACE(context);
}

void error_position(int position)
{
    if (record.position == 0)
        record.position = position;
}

void error_names(const char *schema, const char *table, const char *column, const char *constraint)
{
    free(record.schema);
    free(record.table);
    free(record.column);
    free(record.constraint);
    record.schema = copy_text(schema);
    record.table = copy_text(table);
    record.column = copy_text(column);
    record.constraint = copy_text(constraint);
}

struct error *error_current(void)
{
    return &record;
}

void error_clear(void)
{
    error_free(&record);
}

void error_save(struct error *to)
{
    error_free(to);
    *to = record;
    memset(&record, 0, sizeof(record));
}

enum status error_restore(struct error *from)
{
    error_free(&record);
    record = *from;
    memset(from, 0, sizeof(*from));
    return record.status;
}

void error_free(struct error *error)
{
    if (error->message) { /* the others are only ever added to a message */
        free(error->message);
        error->message = NULL;
    }
    free(error->detail);
    free(error->hint);
    free(error->context);
    free(error->schema);
    free(error->table);
    free(error->column);
    free(error->datatype);
    free(error->constraint);
    memset(error, 0, sizeof(*error));
}

void assert_failed(const char *file, int line, const char *condition)
{
    log_line("PANIC", "%s:%d: assertion failed: %s", file, line, condition);
    abort();
}

void panic(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    log_line("PANIC", "%s", text);
    abort();
}

/* One write(2) a line, so that lines of several threads never mix. */
void log_line(const char *level, const char *format, ...)
{
    char line[2048];
    struct tm parts;

    bool scheduled = scheduler_scheduled(); /* then the same seed prints the same bytes */
    if (scheduled && strcmp(level, "LOG") == 0)
        return; /* thousands of runs would each tell of their checkpoints */
    int64_t now = wall_us();
    time_t second = (time_t)(now / 1000000);
    gmtime_r(&second, &parts);
    size_t length = strftime(line, 32, "%Y-%m-%d %H:%M:%S", &parts);
    length += (size_t)snprintf(line + length, 64, ".%03d UTC [%d] %s:  ", (int)(now % 1000000 / 1000), scheduled ? 0 : (int)gettid(), level);

    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
    va_end(args);
    if (wanted > 0)
        length += (size_t)wanted < sizeof(line) - length - 1 ? (size_t)wanted : sizeof(line) - length - 2;
    line[length++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, length);
    (void)ignored;
}
