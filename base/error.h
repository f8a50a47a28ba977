/* base/error.h - how a function says that it failed.
 *
 *     if (divisor == 0)
 *         return error_set(STATUS_DIVISION_BY_ZERO, "division by zero");
 *
 * A function that can fail returns enum status. The details (message, detail, hint, position) stand in the
 * calling thread's error record, which error_set() fills: one function raises every error, so one breakpoint
 * sees them all. The record is valid until the next error_set() or error_clear() of the same thread. Nothing
 * jumps: whoever took pins, latches or files drops them on the way out. A worker's record is carried to its
 * leader with error_save() and error_restore().
 *
 * The world's fault (SQL, disk, conflict) is a status; our own is an ASSERT, on in every build. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, args) __attribute__((format(printf, text, args)))

/*    name                      SQLSTATE  text where none is given */
#define STATUSES(X)                                                                        \
    X(OK,                        "00000", "success")                                       \
    X(WARNING,                   "01000", "warning")                                       \
    X(NOT_FOUND,                 "02000", "no data")                                       \
    X(CONNECTION_FAILURE,        "08006", "connection failure")                            \
    X(PROTOCOL_VIOLATION,        "08P01", "protocol violation")                            \
    X(FEATURE_NOT_SUPPORTED,     "0A000", "feature not supported")                         \
    X(CARDINALITY_VIOLATION,     "21000", "more than one row returned by a subquery used as an expression") \
    X(DATA_EXCEPTION,            "22000", "data exception")                                \
    X(STRING_TOO_LONG,           "22001", "string data right truncation")                  \
    X(OUT_OF_RANGE,              "22003", "numeric value out of range")                    \
    X(NULL_NOT_ALLOWED,          "22004", "null value not allowed")                        \
    X(INVALID_DATETIME,          "22007", "invalid datetime format")                       \
    X(DATETIME_OVERFLOW,         "22008", "datetime field overflow")                       \
    X(INVALID_TIME_ZONE,         "22009", "invalid time zone displacement value")          \
    X(SUBSTRING_ERROR,           "22011", "negative substring length not allowed")         \
    X(DIVISION_BY_ZERO,          "22012", "division by zero")                              \
    X(INVALID_FRAME_OFFSET,      "22013", "invalid preceding or following size in window function") \
    X(INVALID_NTILE,             "22014", "invalid argument for ntile function")           \
    X(INVALID_NTH_VALUE,         "22016", "invalid argument for nth_value function")       \
    X(INTERVAL_OVERFLOW,         "22015", "interval field overflow")                       \
    X(INVALID_ESCAPE,            "22025", "invalid escape sequence")                       \
    X(INVALID_LOGARITHM,         "2201E", "invalid argument for logarithm")                \
    X(INVALID_POWER,             "2201F", "invalid argument for power function")           \
    X(INVALID_WIDTH_BUCKET,      "2201G", "invalid argument for width_bucket function")    \
    X(INVALID_LIMIT,             "2201W", "LIMIT must not be negative")                    \
    X(INVALID_OFFSET,            "2201X", "OFFSET must not be negative")                   \
    X(INVALID_REGEX,             "2201B", "invalid regular expression")                    \
    X(CHARACTER_NOT_IN_REPERTOIRE,"22021","invalid byte sequence for encoding")            \
    X(INVALID_PARAMETER_VALUE,   "22023", "invalid parameter value")                       \
    X(UNTRANSLATABLE_CHARACTER,  "22P05", "untranslatable character")                      \
    X(INVALID_TEXT,              "22P02", "invalid input syntax")                          \
    X(INVALID_BINARY,            "22P03", "invalid binary representation")                 \
    X(BAD_COPY,                  "22P04", "bad COPY file format")                          \
    X(ARRAY_SUBSCRIPT,           "2202E", "array subscript error")                         \
    X(NOT_NULL_VIOLATION,        "23502", "null value violates not-null constraint")       \
    X(FOREIGN_KEY_VIOLATION,     "23503", "violates foreign key constraint")               \
    X(UNIQUE_VIOLATION,          "23505", "duplicate key value violates unique constraint")\
    X(CHECK_VIOLATION,           "23514", "violates check constraint")                     \
    X(INVALID_CURSOR_STATE,      "24000", "invalid cursor state")                          \
    X(INVALID_TRANSACTION_STATE, "25000", "invalid transaction state")                     \
    X(ACTIVE_TRANSACTION,        "25001", "active SQL transaction")                        \
    X(READ_ONLY_TRANSACTION,     "25006", "read-only SQL transaction")                     \
    X(NO_ACTIVE_TRANSACTION,     "25P01", "no active SQL transaction")                     \
    X(IN_FAILED_TRANSACTION,     "25P02", "current transaction is aborted, commands ignored until end of transaction block") \
    X(IDLE_TRANSACTION_TIMEOUT,  "25P03", "terminating connection due to idle-in-transaction timeout") \
    X(INVALID_STATEMENT_NAME,    "26000", "prepared statement does not exist")             \
    X(INVALID_AUTHORIZATION,     "28000", "invalid authorization")                         \
    X(INVALID_PASSWORD,          "28P01", "password authentication failed")                \
    X(DEPENDENT_OBJECTS,         "2BP01", "other objects depend on it")                    \
    X(INVALID_SAVEPOINT,         "3B001", "savepoint does not exist")                      \
    X(INVALID_CATALOG_NAME,      "3D000", "database does not exist")                       \
    X(INVALID_CURSOR_NAME,       "34000", "cursor does not exist")                         \
    X(INVALID_CURSOR_DEFINITION, "42P11", "invalid cursor definition")                     \
    X(INVALID_SCHEMA_NAME,       "3F000", "schema does not exist")                         \
    X(CONFLICT,                  "40001", "could not serialize access due to concurrent update") \
    X(DEADLOCK,                  "40P01", "deadlock detected")                             \
    X(SYNTAX,                    "42601", "syntax error")                                  \
    X(INSUFFICIENT_PRIVILEGE,    "42501", "permission denied")                             \
    X(CANNOT_COERCE,             "42846", "cannot cast")                                   \
    X(GROUPING,                  "42803", "grouping error")                                \
    X(WINDOWING,                 "42P20", "windowing error")                               \
    X(INVALID_FOREIGN_KEY,       "42830", "invalid foreign key")                           \
    X(INVALID_NAME,              "42602", "invalid name")                                  \
    X(NAME_TOO_LONG,             "42622", "name too long")                                 \
    X(RESERVED_NAME,             "42939", "reserved name")                                 \
    X(DATATYPE_MISMATCH,         "42804", "datatype mismatch")                             \
    X(INDETERMINATE_DATATYPE,    "42P18", "indeterminate datatype")                        \
    X(GENERATED_ALWAYS,          "428C9", "cannot insert a non-DEFAULT value into a generated column") \
    X(WRONG_OBJECT_TYPE,         "42809", "wrong object type")                             \
    X(UNDEFINED_COLUMN,          "42703", "column does not exist")                         \
    X(UNDEFINED_FUNCTION,        "42883", "function does not exist")                       \
    X(UNDEFINED_TABLE,           "42P01", "relation does not exist")                       \
    X(UNDEFINED_PARAMETER,       "42P02", "there is no such parameter")                    \
    X(UNDEFINED_OBJECT,          "42704", "object does not exist")                         \
    X(DUPLICATE_COLUMN,          "42701", "column already exists")                         \
    X(DUPLICATE_CURSOR,          "42P03", "cursor already exists")                         \
    X(DUPLICATE_DATABASE,        "42P04", "database already exists")                       \
    X(DUPLICATE_STATEMENT,       "42P05", "prepared statement already exists")             \
    X(DUPLICATE_SCHEMA,          "42P06", "schema already exists")                         \
    X(DUPLICATE_TABLE,           "42P07", "relation already exists")                       \
    X(DUPLICATE_ALIAS,           "42712", "table name specified more than once")           \
    X(DUPLICATE_OBJECT,          "42710", "object already exists")                         \
    X(AMBIGUOUS_COLUMN,          "42702", "column reference is ambiguous")                 \
    X(AMBIGUOUS_FUNCTION,        "42725", "function is not unique")                        \
    X(INVALID_COLUMN_REFERENCE,  "42P10", "invalid column reference")                      \
    X(INVALID_TABLE_DEFINITION,  "42P16", "invalid table definition")                      \
    X(INVALID_RECURSION,         "42P19", "invalid recursive query")                       \
    X(INVALID_OBJECT_DEFINITION, "42P17", "invalid object definition")                     \
    X(DISK_FULL,                 "53100", "disk full")                                     \
    X(OUT_OF_MEMORY,             "53200", "out of memory")                                 \
    X(TOO_MANY_CONNECTIONS,      "53300", "sorry, too many clients already")               \
    X(LIMIT_EXCEEDED,            "54000", "program limit exceeded")                        \
    X(TOO_COMPLEX,               "54001", "stack depth limit exceeded")                    \
    X(TOO_MANY_COLUMNS,          "54011", "too many columns")                              \
    X(TOO_MANY_ARGUMENTS,        "54023", "too many arguments")                            \
    X(OBJECT_NOT_READY,          "55000", "object not in prerequisite state")              \
    X(OBJECT_IN_USE,             "55006", "object in use")                                 \
    X(CANNOT_CHANGE_NOW,         "55P02", "cannot change runtime parameter")               \
    X(LOCK_NOT_AVAILABLE,        "55P03", "could not obtain lock")                         \
    X(CANCELED,                  "57014", "canceling statement due to user request")       \
    X(ADMIN_SHUTDOWN,            "57P01", "terminating connection due to administrator command") \
    X(CANNOT_CONNECT_NOW,        "57P03", "the database system is shutting down")          \
    X(IDLE_SESSION_TIMEOUT,      "57P05", "terminating connection due to idle-session timeout") \
    X(IO,                        "58030", "could not do input or output")                  \
    X(UNDEFINED_FILE,            "58P01", "file does not exist")                           \
    X(CONFIG_FILE,               "F0000", "configuration error")                           \
    X(INTERNAL,                  "XX000", "internal error")                                \
    X(CORRUPT,                   "XX001", "data corrupted")                                \
    X(INDEX_CORRUPT,             "XX002", "index corrupted")                               \
    /* Never shown to a client: answers between our own floors. */                         \
    X(NO_FRAME,                  "53000", "no free frame in the buffer pool")              \
    X(WOULD_BLOCK,               "55P03", "would block")                                   \
    X(STOP,                      "00000", "no more rows wanted")

enum status {
#define X(name, sqlstate, text) STATUS_##name,
    STATUSES(X)
#undef X
    STATUS_COUNT
};

struct error {
    enum status status;
    char  sqlstate[6];
    char *message;                 /* malloc'd, like all the strings below; NULL when not given */
    char *detail, *hint, *context;
    char *schema, *table, *column, *datatype, *constraint;
    int   position;                /* byte offset into the SQL text, counted from 1; 0 when not known */
};

const char *status_sqlstate(enum status);
const char *status_text(enum status);

/* Fills the thread's record anew (detail, hint and position are emptied) and returns the status given.
 * A NULL format takes the status's own text. */
enum status error_set(enum status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Add to the record that error_set() just filled. */
void error_detail(const char *format, ...) PRINTF_LIKE(1, 2);
void error_hint(const char *format, ...) PRINTF_LIKE(1, 2);
void error_context(const char *format, ...) PRINTF_LIKE(1, 2);
void error_position(int position);                       /* 1-based byte offset; keeps an earlier one */
void error_names(const char *schema, const char *table, const char *column, const char *constraint);

struct error *error_current(void);                       /* the calling thread's record, never NULL */
void error_clear(void);

/* Move the thread's record into *to (which the caller zeroed or cleared); and back into the calling thread's. */
void error_save(struct error *to);
enum status error_restore(struct error *from);           /* returns its status */
void error_free(struct error *);                         /* frees the strings, zeroes the record */

/* ASSERT is for what our own code must keep true; it is on in every build. ASSERT_SLOW: debug builds only. */
_Noreturn void assert_failed(const char *file, int line, const char *condition);
#define ASSERT(condition) \
    (__builtin_expect(!!(condition), 1) ? (void)0 : assert_failed(__FILE__, __LINE__, #condition))
#ifdef CRAB_DEBUG
#define ASSERT_SLOW(condition) ASSERT(condition)
#else
#define ASSERT_SLOW(condition) ((void)0)
#endif

/* The server cannot go on (WAL can't be flushed, fsync failed): says why on stderr and ends the process at once,
 * as a crash would; recovery finds everything acknowledged. */
_Noreturn void panic(const char *format, ...) PRINTF_LIKE(1, 2);
void log_line(const char *level, const char *format, ...) PRINTF_LIKE(2, 3);   /* one line on stderr, timestamped */

#endif
