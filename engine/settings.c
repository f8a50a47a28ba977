/* engine/settings.c - the table of settings, and each session's values of them.
 *
 * One table row says all about a setting: kind, unit, bounds, default, who may change it, and where its value is kept for
 * code that reads it often. Values travel as text in canonical form ("4MB", "on"); setting_apply() turns the text into
 * the field. Server-wide switches (crab.*) apply to atomics of the module that owns them.
 *
 * Undo: SET inside a transaction pushes what was there before; a rollback pops it all, a commit pops what SET LOCAL did. */
#include "engine/session_private.h"
#include "base/atomic.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hooks.h"
#include "engine/step.h"
#include "storage/pool.h"
#include "storage/wal.h"

enum kind { KIND_BOOL, KIND_INT, KIND_REAL, KIND_TEXT, KIND_ENUM };
enum unit { UNIT_NONE, UNIT_BYTE, UNIT_KB, UNIT_8KB, UNIT_MB, UNIT_MS, UNIT_S, UNIT_MIN, UNIT_US };
enum where { KEEP_NOWHERE, KEEP_INT, KEEP_INT64, KEEP_BYTES, KEEP_BOOL, KEEP_DOUBLE, KEEP_TEXT };

struct setting {
    const char *name;
    enum kind kind;
    const char *boot;
    char context;                        /* u user, S superuser (same thing yet), p at start only, i internal, w whole server at once */
    enum unit unit;
    double min, max;
    const char *const *choices;          /* KIND_ENUM */
    enum where where; size_t offset, size;
    _Atomic uint32_t *shared;            /* 'w': the switch itself */
    bool report;                         /* ParameterStatus when it changes */
    const char *category, *description;
};

#define FIELD(keep, field) keep, offsetof(struct settings, field), sizeof(((struct settings *)0)->field), NULL
#define NOWHERE KEEP_NOWHERE, 0, 0, NULL
#define SHARED(atomic) KEEP_NOWHERE, 0, 0, &(atomic)
#define LIST(...) (const char *const[]){__VA_ARGS__, NULL}

static const char *const isolation_choices[] = {"serializable", "repeatable read", "read committed", "read uncommitted", NULL};
static const char *const message_choices[] = {"debug5", "debug4", "debug3", "debug2", "debug1", "debug", "log", "notice", "warning", "error", "fatal", "panic", "info", NULL};
static const char *const onoff_choices[] = {"off", "on", NULL};
static const char *const commit_choices[] = {"off", "on", "local", "remote_write", "remote_apply", NULL};

#define CLIENT "Client Connection Defaults / Statement Behavior"
#define LOCALE "Client Connection Defaults / Locale and Formatting"
#define PLANNER "Query Tuning / Planner Method Configuration"
#define COSTS "Query Tuning / Planner Cost Constants"
#define MEMORY "Resource Usage / Memory"
#define CONNECT "Connections and Authentication / Connection Settings"
#define PRESET "Preset Options"
#define LAYERS "Crabtree / Latch Layers"

static const struct setting table[] = {
    {"application_name", KIND_TEXT, "", 'u', 0, 0, 0, NULL, FIELD(KEEP_TEXT, application_name), true, "Reporting and Logging / What to Log", "Sets the application name to be reported in statistics and logs."},
    {"autovacuum", KIND_BOOL, "on", 'w', 0, 0, 0, NULL, NOWHERE, false, "Autovacuum", "Starts the autovacuum subprocess."},
    {"autovacuum_naptime", KIND_INT, "5", 'w', UNIT_S, 1, 2147483, NULL, NOWHERE, false, "Autovacuum", "Time to sleep between autovacuum runs."},
    {"bytea_output", KIND_ENUM, "hex", 'u', 0, 0, 0, LIST("hex", "escape"), FIELD(KEEP_INT, bytea_output), false, CLIENT, "Sets the output format for bytea."},
    {"check_function_bodies", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, CLIENT, "Check routine bodies during CREATE FUNCTION and CREATE PROCEDURE."},
    {"checkpoint_timeout", KIND_INT, "300", 'w', UNIT_S, 1, 86400, NULL, NOWHERE, false, "Write-Ahead Log / Checkpoints", "Sets the maximum time between automatic WAL checkpoints."},
    {"client_encoding", KIND_TEXT, "UTF8", 'u', 0, 0, 0, NULL, FIELD(KEEP_TEXT, client_encoding), true, LOCALE, "Sets the client's character set encoding."},
    {"client_min_messages", KIND_ENUM, "notice", 'u', 0, 0, 0, message_choices, FIELD(KEEP_INT, client_min_messages), false, CLIENT, "Sets the message levels that are sent to the client."},
    {"constraint_exclusion", KIND_ENUM, "partition", 'u', 0, 0, 0, LIST("partition", "on", "off"), NOWHERE, false, PLANNER, "Enables the planner to use constraints to optimize queries."},
    {"cpu_index_tuple_cost", KIND_REAL, "0.005", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, cpu_index_tuple_cost), false, COSTS, "Sets the planner's estimate of the cost of processing each index entry during an index scan."},
    {"cpu_operator_cost", KIND_REAL, "0.0025", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, cpu_operator_cost), false, COSTS, "Sets the planner's estimate of the cost of processing each operator or function call."},
    {"cpu_tuple_cost", KIND_REAL, "0.01", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, cpu_tuple_cost), false, COSTS, "Sets the planner's estimate of the cost of processing each tuple (row)."},
    {"crab.agg", KIND_ENUM, "partial", 'w', 0, 0, 0, LIST("partial", "collect"), SHARED(exec_agg_collect), false, LAYERS, "Gathers rows and then aggregates them, or aggregates partially in each worker."},
    {"crab.btree_latching", KIND_ENUM, "optimistic", 'w', 0, 0, 0, LIST("tree", "crab", "optimistic"), SHARED(btree_latching), false, LAYERS, "One latch a tree, crabbing, or crabbing with optimistic descent."},
    {"crab.engine_latch", KIND_ENUM, "off", 'w', 0, 0, 0, onoff_choices, SHARED(engine_latch_on), false, LAYERS, "One latch over all execution."},
    {"crab.group_commit", KIND_ENUM, "on", 'w', 0, 0, 0, onoff_choices, SHARED(wal_group_commit), false, LAYERS, "One WAL flush for all transactions that wait, or a flush for each commit."},
    {"crab.io_delay", KIND_INT, "0", 'w', UNIT_US, 0, 1000000, NULL, SHARED(file_io_delay_us), false, LAYERS, "Sleeps that many microseconds once a disk call."},
    {"crab.pool_io", KIND_ENUM, "outside", 'w', 0, 0, 0, LIST("outside", "latched"), SHARED(pool_io_latched), false, LAYERS, "Reads and writes pages outside the pool's latches, or under one pool-wide latch."},
    {"crab.pool_partitions", KIND_INT, "128", 'w', 0, 1, 128, NULL, NOWHERE, false, LAYERS, "Number of page-table latches in use, a power of two."},
    {"crab.step", KIND_TEXT, "", 'u', 0, 0, 0, NULL, FIELD(KEEP_TEXT, step), false, LAYERS, "Stops the session at each page point of that table or index, until crab_step() or crab_run() lets it go."},
    {"crab.trace", KIND_ENUM, "off", 'w', 0, 0, 0, onoff_choices, NOWHERE, false, LAYERS, "Keeps the last latch acquisitions of each thread for crab_trace."},
    {"crab.worker_start", KIND_ENUM, "pool", 'w', 0, 0, 0, LIST("pool", "spawn"), SHARED(exec_worker_start), false, LAYERS, "Workers come from the waiting pool, or are started for each query."},
    {"DateStyle", KIND_TEXT, "ISO, MDY", 'u', 0, 0, 0, NULL, NOWHERE, true, LOCALE, "Sets the display format for date and time values."},
    {"default_statistics_target", KIND_INT, "100", 'u', 0, 1, 10000, NULL, FIELD(KEEP_INT, default_statistics_target), false, "Query Tuning / Other Planner Options", "Sets the default statistics target."},
    {"default_table_access_method", KIND_TEXT, "heap", 'u', 0, 0, 0, NULL, NOWHERE, false, CLIENT, "Sets the default table access method for new tables."},
    {"default_tablespace", KIND_TEXT, "", 'u', 0, 0, 0, NULL, NOWHERE, false, CLIENT, "Sets the default tablespace to create tables and indexes in."},
    {"default_transaction_isolation", KIND_ENUM, "read committed", 'u', 0, 0, 0, isolation_choices, FIELD(KEEP_INT, default_transaction_isolation), false, CLIENT, "Sets the transaction isolation level of each new transaction."},
    {"default_transaction_read_only", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, default_transaction_read_only), false, CLIENT, "Sets the default read-only status of new transactions."},
    {"effective_cache_size", KIND_INT, "524288", 'u', UNIT_8KB, 1, 2147483647, NULL, FIELD(KEEP_BYTES, effective_cache_bytes), false, COSTS, "Sets the planner's assumption about the total size of the data caches."},
    {"effective_io_concurrency", KIND_INT, "1", 'u', 0, 0, 1000, NULL, FIELD(KEEP_INT, effective_io_concurrency), false, "Resource Usage / Asynchronous Behavior", "Number of simultaneous requests that can be handled efficiently by the disk subsystem: at 0, scans read no page ahead."},
    {"enable_async_append", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of async append plans."},
    {"enable_bitmapscan", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_bitmapscan), false, PLANNER, "Enables the planner's use of bitmap-scan plans."},
    {"enable_gathermerge", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of gather merge plans."},
    {"enable_hashagg", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_hashagg), false, PLANNER, "Enables the planner's use of hashed aggregation plans."},
    {"enable_hashjoin", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_hashjoin), false, PLANNER, "Enables the planner's use of hash join plans."},
    {"enable_incremental_sort", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of incremental sort steps."},
    {"enable_indexonlyscan", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_indexonlyscan), false, PLANNER, "Enables the planner's use of index-only-scan plans."},
    {"enable_indexscan", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_indexscan), false, PLANNER, "Enables the planner's use of index-scan plans."},
    {"enable_material", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of materialization."},
    {"enable_memoize", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of memoization."},
    {"enable_mergejoin", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_mergejoin), false, PLANNER, "Enables the planner's use of merge join plans."},
    {"enable_nestloop", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_nestloop), false, PLANNER, "Enables the planner's use of nested-loop join plans."},
    {"enable_parallel", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_parallel), false, PLANNER, "Enables the parallel gate."},
    {"enable_parallel_append", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of parallel append plans."},
    {"enable_parallel_hash", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of parallel hash plans."},
    {"enable_partition_pruning", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables plan-time and execution-time partition pruning."},
    {"enable_partitionwise_aggregate", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables partitionwise aggregation and grouping."},
    {"enable_partitionwise_join", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables partitionwise join."},
    {"enable_seqscan", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_seqscan), false, PLANNER, "Enables the planner's use of sequential-scan plans."},
    {"enable_sort", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, enable_sort), false, PLANNER, "Enables the planner's use of explicit sort steps."},
    {"enable_tidscan", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Enables the planner's use of TID scan plans."},
    {"extra_float_digits", KIND_INT, "1", 'u', 0, -15, 3, NULL, FIELD(KEEP_INT, extra_float_digits), false, LOCALE, "Sets the number of digits displayed for floating-point values."},
    {"from_collapse_limit", KIND_INT, "8", 'u', 0, 1, 2147483647, NULL, FIELD(KEEP_INT, from_collapse_limit), false, PLANNER, "Sets the FROM-list size beyond which subqueries are not collapsed."},
    {"fsync", KIND_ENUM, "on", 'p', 0, 0, 0, onoff_choices, SHARED(wal_fsync_enabled), false, "Write-Ahead Log / Settings", "Forces synchronization of updates to disk."},
    {"idle_in_transaction_session_timeout", KIND_INT, "0", 'u', UNIT_MS, 0, 2147483647, NULL, FIELD(KEEP_INT64, idle_in_transaction_session_timeout_ms), false, CLIENT, "Sets the maximum allowed idle time between queries, when in a transaction."},
    {"idle_session_timeout", KIND_INT, "0", 'u', UNIT_MS, 0, 2147483647, NULL, FIELD(KEEP_INT64, idle_session_timeout_ms), false, CLIENT, "Sets the maximum allowed idle time between queries, when not in a transaction."},
    {"in_hot_standby", KIND_BOOL, "off", 'i', 0, 0, 0, NULL, NOWHERE, true, PRESET, "Shows whether hot standby is currently active."},
    {"integer_datetimes", KIND_BOOL, "on", 'i', 0, 0, 0, NULL, NOWHERE, true, PRESET, "Shows whether datetimes are integer based."},
    {"IntervalStyle", KIND_ENUM, "postgres", 'u', 0, 0, 0, LIST("postgres", "postgres_verbose", "sql_standard", "iso_8601"), FIELD(KEEP_INT, interval_style), true, LOCALE, "Sets the display format for interval values."},
    {"is_superuser", KIND_BOOL, "on", 'i', 0, 0, 0, NULL, NOWHERE, true, PRESET, "Shows whether the current user is a superuser."},
    {"jit", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, PLANNER, "Allow JIT compilation."},
    {"join_collapse_limit", KIND_INT, "8", 'u', 0, 1, 2147483647, NULL, FIELD(KEEP_INT, join_collapse_limit), false, PLANNER, "Sets the FROM-list size beyond which JOIN constructs are not flattened."},
    {"lc_collate", KIND_TEXT, "C", 'i', 0, 0, 0, NULL, NOWHERE, false, PRESET, "Shows the collation order locale."},
    {"lc_ctype", KIND_TEXT, "C.UTF-8", 'i', 0, 0, 0, NULL, NOWHERE, false, PRESET, "Shows the character classification and case conversion locale."},
    {"listen_addresses", KIND_TEXT, "127.0.0.1", 'p', 0, 0, 0, NULL, NOWHERE, false, CONNECT, "Sets the host name or IP address(es) to listen to."},
    {"lock_timeout", KIND_INT, "0", 'u', UNIT_MS, 0, 2147483647, NULL, FIELD(KEEP_INT64, lock_timeout_ms), false, CLIENT, "Sets the maximum allowed duration of any wait for a lock."},
    {"log_min_duration_statement", KIND_INT, "-1", 'u', UNIT_MS, -1, 2147483647, NULL, FIELD(KEEP_INT, log_min_duration_ms), false, "Reporting and Logging / When to Log", "Sets the minimum execution time above which statements will be logged."},
    {"maintenance_work_mem", KIND_INT, "262144", 'u', UNIT_KB, 1024, 2147483647, NULL, FIELD(KEEP_BYTES, maintenance_work_mem_bytes), false, MEMORY, "Sets the maximum memory to be used for maintenance operations."},
    {"max_connections", KIND_INT, "200", 'p', 0, 1, 262143, NULL, NOWHERE, false, CONNECT, "Sets the maximum number of concurrent connections."},
    {"max_identifier_length", KIND_INT, "63", 'i', 0, 63, 63, NULL, NOWHERE, false, PRESET, "Shows the maximum identifier length."},
    {"max_index_keys", KIND_INT, "32", 'i', 0, 32, 32, NULL, NOWHERE, false, PRESET, "Shows the maximum number of index keys."},
    {"max_lock_memory", KIND_INT, "65536", 'p', UNIT_KB, 64, 2147483647, NULL, NOWHERE, false, "Lock Management", "Sets the memory that row and table locks may take."},
    {"max_parallel_workers", KIND_INT, "16", 'w', 0, 0, 1024, NULL, SHARED(exec_worker_limit), false, "Resource Usage / Asynchronous Behavior", "Sets the maximum number of parallel workers that can be active at one time."},
    {"max_parallel_workers_per_gather", KIND_INT, "2", 'u', 0, 0, 1024, NULL, FIELD(KEEP_INT, max_parallel_workers_per_gather), false, "Resource Usage / Asynchronous Behavior", "Sets the number of parallel workers of a query."},
    {"max_wal_size", KIND_INT, "1024", 'w', UNIT_MB, 2, 2147483647, NULL, NOWHERE, false, "Write-Ahead Log / Checkpoints", "Sets the WAL size that triggers a checkpoint."},
    {"min_parallel_index_scan_size", KIND_INT, "64", 'u', UNIT_8KB, 0, 715827882, NULL, FIELD(KEEP_BYTES, min_parallel_index_scan_bytes), false, COSTS, "Sets the minimum amount of index data for a parallel scan."},
    {"min_parallel_table_scan_size", KIND_INT, "1024", 'u', UNIT_8KB, 0, 715827882, NULL, FIELD(KEEP_BYTES, min_parallel_table_scan_bytes), false, COSTS, "Sets the minimum amount of table data for a parallel scan."},
    {"parallel_setup_cost", KIND_REAL, "1000", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, parallel_setup_cost), false, COSTS, "Sets the planner's estimate of the cost of starting up worker processes for parallel query."},
    {"parallel_tuple_cost", KIND_REAL, "0.1", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, parallel_tuple_cost), false, COSTS, "Sets the planner's estimate of the cost of passing each tuple (row) from worker to leader."},
    {"password_encryption", KIND_ENUM, "scram-sha-256", 'u', 0, 0, 0, LIST("scram-sha-256", "md5"), NOWHERE, false, "Connections and Authentication / Authentication", "Chooses the algorithm for encrypting passwords."},
    {"plan_cache_mode", KIND_ENUM, "auto", 'u', 0, 0, 0, LIST("auto", "force_generic_plan", "force_custom_plan"), FIELD(KEEP_INT, plan_cache_mode), false, PLANNER, "Controls the planner's selection of custom or generic plan."},
    {"port", KIND_INT, "5433", 'p', 0, 1, 65535, NULL, NOWHERE, false, CONNECT, "Sets the TCP port the server listens on."},
    {"quote_all_identifiers", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, "Version and Platform Compatibility", "When generating SQL fragments, quote all identifiers."},
    {"random_page_cost", KIND_REAL, "4", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, random_page_cost), false, COSTS, "Sets the planner's estimate of the cost of a nonsequentially fetched disk page."},
    {"row_security", KIND_BOOL, "on", 'u', 0, 0, 0, NULL, NOWHERE, false, CLIENT, "Enable row security."},
    {"search_path", KIND_TEXT, "\"$user\", public", 'u', 0, 0, 0, NULL, FIELD(KEEP_TEXT, search_path), false, CLIENT, "Sets the schema search order for names that are not schema-qualified."},
    {"seq_page_cost", KIND_REAL, "1", 'u', 0, 0, 1e300, NULL, FIELD(KEEP_DOUBLE, seq_page_cost), false, COSTS, "Sets the planner's estimate of the cost of a sequentially fetched disk page."},
    {"server_encoding", KIND_TEXT, "UTF8", 'i', 0, 0, 0, NULL, NOWHERE, true, PRESET, "Shows the server (database) character set encoding."},
    {"server_version", KIND_TEXT, "15.8 (Crabtree)", 'i', 0, 0, 0, NULL, NOWHERE, true, PRESET, "Shows the server version."},
    {"server_version_num", KIND_INT, "150008", 'i', 0, 150008, 150008, NULL, NOWHERE, false, PRESET, "Shows the server version as an integer."},
    {"session_authorization", KIND_TEXT, "postgres", 'i', 0, 0, 0, NULL, NOWHERE, true, PRESET, "Sets the session user name."},
    {"shared_buffers", KIND_INT, "32768", 'p', UNIT_8KB, 128, 1073741823, NULL, NOWHERE, false, MEMORY, "Sets the memory of the buffer pool."},
    {"standard_conforming_strings", KIND_ENUM, "on", 'u', 0, 0, 0, LIST("on"), NOWHERE, true, "Version and Platform Compatibility", "Causes '...' strings to treat backslashes literally."},
    {"statement_timeout", KIND_INT, "0", 'u', UNIT_MS, 0, 2147483647, NULL, FIELD(KEEP_INT64, statement_timeout_ms), false, CLIENT, "Sets the maximum allowed duration of any statement."},
    {"synchronize_seqscans", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, "Version and Platform Compatibility", "Enable synchronized sequential scans."},
    {"synchronous_commit", KIND_ENUM, "on", 'u', 0, 0, 0, commit_choices, FIELD(KEEP_BOOL, synchronous_commit), false, "Write-Ahead Log / Settings", "Sets the current transaction's synchronization level."},
    {"TimeZone", KIND_TEXT, "Etc/UTC", 'u', 0, 0, 0, NULL, FIELD(KEEP_TEXT, timezone), true, LOCALE, "Sets the time zone for displaying and interpreting time stamps."},
    {"default_transaction_deferrable", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, FIELD(KEEP_BOOL, default_transaction_deferrable), false, CLIENT, "Sets the default deferrable status of new transactions."},
    {"transaction_deferrable", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, CLIENT, "Whether to defer a read-only serializable transaction until it can be executed with no possible serialization failures."},
    {"transaction_isolation", KIND_ENUM, "read committed", 'u', 0, 0, 0, isolation_choices, NOWHERE, false, CLIENT, "Sets the current transaction's isolation level."},
    {"transaction_read_only", KIND_BOOL, "off", 'u', 0, 0, 0, NULL, NOWHERE, false, CLIENT, "Sets the current transaction's read-only status."},
    {"unix_socket_directories", KIND_TEXT, "/tmp", 'p', 0, 0, 0, NULL, NOWHERE, false, CONNECT, "Sets the directories where Unix-domain sockets will be created."},
    {"wal_buffers", KIND_INT, "2048", 'p', UNIT_8KB, 512, 262143, NULL, NOWHERE, false, "Write-Ahead Log / Settings", "Sets the memory of the WAL ring."},
    {"work_mem", KIND_INT, "65536", 'u', UNIT_KB, 64, 2147483647, NULL, FIELD(KEEP_BYTES, work_mem_bytes), false, MEMORY, "Sets the maximum memory to be used for query workspaces."},
    {"xmloption", KIND_ENUM, "content", 'u', 0, 0, 0, LIST("content", "document"), NOWHERE, false, CLIENT, "Sets whether XML data in implicit parsing and serialization operations is to be considered as documents or content fragments."},
};
#define SETTING_COUNT (sizeof table / sizeof table[0])

static char *server_values[SETTING_COUNT];       /* from -c and from SET of a 'w' setting; NULL: boot. Guarded by `guard` */
static char *start_values[SETTING_COUNT];        /* from -c: what RESET of a 'w' setting goes back to; NULL: boot. Set before there are sessions */
static struct latch guard = {.rank = RANK_SERVER};

static int setting_find(const char *name)
{
    if (!strcasecmp(name, "lc_messages") || !strcasecmp(name, "lc_monetary") || !strcasecmp(name, "lc_numeric") || !strcasecmp(name, "lc_time"))
        name = "lc_collate";
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (!strcasecmp(table[i].name, name))
            return (int)i;
    return -1;
}

/* ---- text to value ---- */

static enum status bad_value(const struct setting *s, const char *value)
{
    return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid value for parameter \"%s\": \"%s\"", s->name, value);
}

static bool parse_bool(const char *text, bool *out)
{
    static const struct { const char *word; size_t least; bool value; } words[] = {
        {"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false}, {"on", 2, true}, {"off", 2, false}, {"1", 1, true}, {"0", 1, false}};
    size_t length = strlen(text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (length >= words[i].least && length <= strlen(words[i].word) && !strncasecmp(text, words[i].word, length)) {
            *out = words[i].value;
            return true;
        }
    return false;
}

/* How many of the setting's base unit one of the written unit is. 0: not a unit of this setting. */
static double unit_factor(enum unit base, const char *unit)
{
    static const struct { const char *name; double bytes; } memory[] = {{"B", 1}, {"kB", 1024}, {"MB", 1048576}, {"GB", 1073741824.0}, {"TB", 1099511627776.0}};
    static const struct { const char *name; double us; } times[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}, {"d", 86400e6}};
    static const double base_bytes[] = {[UNIT_BYTE] = 1, [UNIT_KB] = 1024, [UNIT_8KB] = 8192, [UNIT_MB] = 1048576};
    static const double base_us[] = {[UNIT_MS] = 1e3, [UNIT_S] = 1e6, [UNIT_MIN] = 60e6, [UNIT_US] = 1};
    if (base >= UNIT_BYTE && base <= UNIT_MB)
        for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
            if (!strcmp(unit, memory[i].name))
                return memory[i].bytes / base_bytes[base];
    if (base >= UNIT_MS)
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
            if (!strcmp(unit, times[i].name))
                return times[i].us / base_us[base];
    return 0;
}

static const char *unit_name(enum unit unit)
{
    static const char *const names[] = {NULL, "B", "kB", "8kB", "MB", "ms", "s", "min", "us"};
    return names[unit];
}

static enum status parse_number(const struct setting *s, const char *text, double *out)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    while (isspace((unsigned char)*end))
        end++;
    if (end == text || errno || !isfinite(number))
        return bad_value(s, text);
    if (*end) {
        double factor = unit_factor(s->unit, end);
        if (factor == 0) {
            bad_value(s, text);
            if (s->unit >= UNIT_BYTE && s->unit <= UNIT_MB)
                error_hint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".");
            else if (s->unit >= UNIT_MS)
                error_hint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".");
            return STATUS_INVALID_PARAMETER_VALUE;
        }
        number *= factor;
    }
    if (s->kind == KIND_INT)
        number = nearbyint(number);
    if (s->kind == KIND_INT && number > INT32_MAX && s->max <= INT32_MAX) {
        bad_value(s, text);
        error_hint("Value exceeds integer range.");
        return STATUS_INVALID_PARAMETER_VALUE;
    }
    if (number < s->min || number > s->max)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "%.15g%s%s is outside the valid range for parameter \"%s\" (%.15g .. %.15g)", number, unit_name(s->unit) ? " " : "", unit_name(s->unit) ? unit_name(s->unit) : "",
                         s->name, s->min, s->max);
    *out = number;
    return STATUS_OK;
}

/* A number in the base unit as SHOW prints it: in the largest unit that divides it. */
static char *show_number(const struct setting *s, double number)
{
    char text[64];
    static const struct { enum unit base; const char *names[5]; int64_t factors[5]; int count; } ladders[] = {
        {UNIT_KB, {"kB", "MB", "GB", "TB"}, {1, 1024, 1048576, 1073741824}, 4},
        {UNIT_MB, {"MB", "GB", "TB"}, {1, 1024, 1048576}, 3},
        {UNIT_MS, {"ms", "s", "min", "h", "d"}, {1, 1000, 60000, 3600000, 86400000}, 5},
        {UNIT_S, {"s", "min", "h", "d"}, {1, 60, 3600, 86400}, 4},
        {UNIT_US, {"us", "ms", "s", "min"}, {1, 1000, 1000000, 60000000}, 4},
    };
    int64_t whole = (int64_t)number;
    enum unit base = s->unit;
    if (base == UNIT_8KB)
        base = UNIT_KB, whole *= 8;
    if (s->kind == KIND_REAL) {
        snprintf(text, sizeof text, "%.15g", number);
        return strdup(text);
    }
    snprintf(text, sizeof text, "%lld", (long long)whole);
    if (whole > 0)
        for (size_t l = 0; l < sizeof ladders / sizeof ladders[0]; l++)
            if (ladders[l].base == base)
                for (int i = ladders[l].count - 1; i >= 0; i--)
                    if (whole % ladders[l].factors[i] == 0) {
                        snprintf(text, sizeof text, "%lld%s", (long long)(whole / ladders[l].factors[i]), ladders[l].names[i]);
                        return strdup(text);
                    }
    return strdup(text);
}

/* "ISO, DMY" in any order and case; what isn't said stays. */
static enum status parse_date_style(const char *text, int *style, int *order)
{
    char copy[256], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strsep(&rest, ", \t")) != NULL) {
        if (!*word)
            continue;
        if (!strcasecmp(word, "iso"))
            *style = DATE_STYLE_ISO;
        else if (!strcasecmp(word, "sql"))
            *style = DATE_STYLE_SQL;
        else if (!strncasecmp(word, "postgres", 8))
            *style = DATE_STYLE_POSTGRES;
        else if (!strcasecmp(word, "german"))
            *style = DATE_STYLE_GERMAN, *order = DATE_ORDER_DMY;
        else if (!strcasecmp(word, "ymd"))
            *order = DATE_ORDER_YMD;
        else if (!strcasecmp(word, "dmy") || !strncasecmp(word, "euro", 4))
            *order = DATE_ORDER_DMY;
        else if (!strcasecmp(word, "mdy") || !strcasecmp(word, "us") || !strncasecmp(word, "noneuro", 7))
            *order = DATE_ORDER_MDY;
        else if (!strcasecmp(word, "default"))
            *style = DATE_STYLE_ISO, *order = DATE_ORDER_MDY;
        else
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid value for parameter \"DateStyle\": \"%s\"", text);
    }
    return STATUS_OK;
}

/* Checks `text` and gives its canonical form, malloc'd. */
static enum status canonical(const struct setting *s, const char *text, const struct session *session, char **out)
{
    switch (s->kind) {
    case KIND_BOOL: {
        bool value;
        if (!parse_bool(text, &value))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "parameter \"%s\" requires a Boolean value", s->name);
        *out = strdup(value ? "on" : "off");
        return STATUS_OK;
    }
    case KIND_INT:
    case KIND_REAL: {
        double number;
        enum status status = parse_number(s, text, &number);
        if (status)
            return status;
        if (!strcmp(s->name, "crab.pool_partitions") && ((int)number & ((int)number - 1)))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "parameter \"%s\" must be a power of two", s->name);
        *out = show_number(s, number);
        return STATUS_OK;
    }
    case KIND_ENUM:
        for (int i = 0; s->choices[i]; i++)
            if (!strcasecmp(s->choices[i], text)) {
                *out = strdup(s->choices[i]);
                return STATUS_OK;
            }
        if (s->choices == onoff_choices || s->choices == commit_choices) {
            bool value;
            if (parse_bool(text, &value)) {
                *out = strdup(value ? "on" : "off");
                return STATUS_OK;
            }
        }
        bad_value(s, text);
        {
            char list[256] = "";
            for (int i = 0; s->choices[i]; i++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", s->choices[i]);
            error_hint("Available values: %s.", list);
        }
        return STATUS_INVALID_PARAMETER_VALUE;
    case KIND_TEXT:
        break;
    }
    if (!strcmp(s->name, "DateStyle")) {
        static const char *const styles[] = {[DATE_STYLE_ISO] = "ISO", [DATE_STYLE_SQL] = "SQL", [DATE_STYLE_POSTGRES] = "Postgres", [DATE_STYLE_GERMAN] = "German"};
        static const char *const orders[] = {[DATE_ORDER_MDY] = "MDY", [DATE_ORDER_DMY] = "DMY", [DATE_ORDER_YMD] = "YMD"};
        int style = session ? session->settings.date_style : DATE_STYLE_ISO, order = session ? session->settings.date_order : DATE_ORDER_MDY;
        enum status status = parse_date_style(text, &style, &order);
        if (status)
            return status;
        char both[32];
        snprintf(both, sizeof both, "%s, %s", styles[style], orders[order]);
        *out = strdup(both);
        return STATUS_OK;
    }
    if (!strcmp(s->name, "TimeZone")) {
        const char *name;
        const void *zone = datetime_zone_find(text, &name);
        if (!zone)
            return bad_value(s, text);
        *out = strdup(name);
        return STATUS_OK;
    }
    if (!strcmp(s->name, "client_encoding")) {
        char plain[32];
        size_t n = 0;
        for (const char *p = text; *p && n + 1 < sizeof plain; p++)
            if (isalnum((unsigned char)*p))
                plain[n++] = (char)tolower((unsigned char)*p);
        plain[n] = 0;
        if (!strcmp(plain, "utf8") || !strcmp(plain, "unicode"))
            *out = strdup("UTF8");
        else if (!strcmp(plain, "sqlascii"))
            *out = strdup("SQL_ASCII");
        else if (!strcmp(plain, "latin1") || !strncmp(plain, "iso8859", 7) || !strncmp(plain, "win", 3) || !strncmp(plain, "euc", 3) || !strncmp(plain, "latin", 5) || !strncmp(plain, "koi8", 4))
            return error_set(STATUS_FEATURE_NOT_SUPPORTED, "conversion between %s and UTF8 is not supported", text);
        else
            return bad_value(s, text);
        return STATUS_OK;
    }
    if (s->where == KEEP_TEXT && strlen(text) >= s->size)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "value for parameter \"%s\" is too long", s->name);
    *out = strdup(text);
    return STATUS_OK;
}

static int choice_index(const struct setting *s, const char *value)
{
    for (int i = 0; s->choices[i]; i++)
        if (!strcmp(s->choices[i], value))
            return i;
    return 0;
}

/* A server-wide value as a number in its base unit; 0 when it is none. `guard` is held. */
static double server_number(int index)
{
    const struct setting *s = &table[index];
    const char *text = server_values[index] ? server_values[index] : s->boot;
    double number = 0;
    if (s->kind == KIND_BOOL)
        return strcmp(text, "off") != 0;
    if (s->kind == KIND_ENUM)
        return choice_index(s, text);
    if ((s->kind == KIND_INT || s->kind == KIND_REAL) && parse_number(s, text, &number))
        error_clear();
    return number;
}

/* Canonical text into the session's fields. */
const char *settings_isolation_name(int i) { return isolation_choices[i]; }

static void apply_to_session(struct session *session, const struct setting *s, const char *value)
{
    uint8_t *field = (uint8_t *)&session->settings + s->offset;
    double number = 0;
    if (s->kind == KIND_INT || s->kind == KIND_REAL)
        if (parse_number(s, value, &number))
            error_clear();
    if (s->where == KEEP_INT)
        *(int *)field = s->kind == KIND_ENUM ? choice_index(s, value) : (int)number;
    else if (s->where == KEEP_INT64)
        *(int64_t *)field = (int64_t)number;
    else if (s->where == KEEP_BYTES)
        *(int64_t *)field = (int64_t)(number * (s->unit == UNIT_KB ? 1024 : s->unit == UNIT_8KB ? 8192 : 1));
    else if (s->where == KEEP_BOOL)
        *(bool *)field = strcmp(value, "off") != 0;
    else if (s->where == KEEP_DOUBLE)
        *(double *)field = number;
    else if (s->where == KEEP_TEXT)
        snprintf((char *)field, s->size, "%s", value);

    if (!strcmp(s->name, "default_transaction_isolation"))
        session->settings.default_isolation_name = choice_index(s, value), session->settings.default_transaction_isolation = choice_index(s, value) <= 1 ? REPEATABLE_READ : READ_COMMITTED;
    if (!strcmp(s->name, "DateStyle"))
        if (parse_date_style(value, &session->settings.date_style, &session->settings.date_order))
            error_clear();
    if (!strcmp(s->name, "lock_timeout"))
        lock_timeout_ms = (uint32_t)session->settings.lock_timeout_ms;
    if (!strcmp(s->name, "application_name"))
        session_set_state(session, NULL, NULL, 0);
    session->env.date_style = session->settings.date_style;
    session->env.date_order = session->settings.date_order;
    session->env.interval_style = session->settings.interval_style;
    session->env.extra_float_digits = session->settings.extra_float_digits;
    session->env.bytea_output = session->settings.bytea_output;
    if (!strcmp(s->name, "TimeZone"))
        session->env.timezone = datetime_zone_find(session->settings.timezone, &session->env.timezone_name);
    if (s->report && session->client)
        session->client->parameter_status(session->client, s->name, value);
}

static char *server_value_copy(int index)
{
    latch_acquire(&guard, LATCH_SHARED);
    char *copy = strdup(server_values[index] ? server_values[index] : table[index].boot);
    latch_release(&guard);
    return copy;
}

/* What the session has now, malloc'd. */
static char *current_value(struct session *session, int index)
{
    if (session && session->setting_values[index])
        return strdup(session->setting_values[index]);
    char *value = server_value_copy(index);
    if (!table[index].unit && table[index].kind != KIND_BOOL)
        return value;
    char *shown = NULL;                                       /* boot values are written in the base unit */
    if (canonical(&table[index], value, session, &shown)) {
        error_clear();
        return value;
    }
    free(value);
    return shown;
}

void settings_open(struct session *session)
{
    session->setting_values = calloc(SETTING_COUNT, sizeof(char *));
    ASSERT(session->setting_values);
    struct client *client = session->client;
    session->client = NULL;                                   /* the server floor reports the first values by itself */
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char *value = current_value(session, (int)i);
        apply_to_session(session, &table[i], value);
        free(value);
    }
    session->client = client;
}

void settings_close(struct session *session)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        free(session->setting_values[i]);
    free(session->setting_values);
    while (session->setting_undo) {
        struct setting_undo *undo = session->setting_undo;
        session->setting_undo = undo->older;
        free(undo->previous);
        free(undo);
    }
    while (session->custom) {
        struct custom_setting *custom = session->custom;
        session->custom = custom->next;
        free(custom->name);
        free(custom->value);
        free(custom);
    }
}

static void put_value(struct session *session, int index, char *value /* owned; NULL default */)
{
    free(session->setting_values[index]);
    session->setting_values[index] = value;
    char *now = current_value(session, index);
    apply_to_session(session, &table[index], now);
    free(now);
}

/* What a server-wide value changes: the switch itself, or something in the store (NULL at start, when there is none yet). `guard` is
 * held, so that of two who SET at once the value that is shown is the one that acts. */
static void apply_to_server(struct store *store, int index)
{
    const struct setting *s = &table[index];
    double number = server_number(index);
    if (!strcmp(s->name, "crab.trace"))
        hooks_set(HOOK_TRACE, number != 0);
    if (s->shared)
        atom_store(s->shared, (uint32_t)number);
    if (!store)
        return;
    if (!strcmp(s->name, "crab.pool_partitions"))
        pool_set_partitions(store->pool, (uint32_t)number);
    else if (!strcmp(s->name, "checkpoint_timeout") || !strcmp(s->name, "max_wal_size"))
        store_set_checkpoint(store, (uint32_t)server_number(setting_find("checkpoint_timeout")), (uint64_t)server_number(setting_find("max_wal_size")) << 20);
}

/* Server-wide at once: the new value is everybody's default, and nobody keeps an own one. */
static void put_server_value(struct store *store, int index, char *value /* owned */)
{
    latch_acquire(&guard, LATCH_EXCLUSIVE);
    free(server_values[index]);
    server_values[index] = value;
    apply_to_server(store, index);
    latch_release(&guard);
}

static enum status set_custom(struct session *session, const char *name, const char *value)
{
    struct custom_setting *custom = session->custom;
    while (custom && strcasecmp(custom->name, name))
        custom = custom->next;
    if (!custom) {
        custom = calloc(1, sizeof *custom);
        ASSERT(custom);
        custom->name = strdup(name);
        custom->next = session->custom;
        session->custom = custom;
    }
    free(custom->value);
    custom->value = strdup(value ? value : "");
    return STATUS_OK;
}

static enum status set_transaction_setting(struct session *session, const char *name, const char *value)
{
    if (!strcmp(name, "transaction_read_only")) {
        bool on;
        if (!value || !parse_bool(value, &on))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "parameter \"%s\" requires a Boolean value", name);
        if (session->txn)
            txn_set_read_only(session->txn, on);
    } else if (!strcmp(name, "transaction_isolation")) {
        bool repeatable = value && (!strcasecmp(value, "repeatable read") || !strcasecmp(value, "serializable"));
        if (!value || (!repeatable && strcasecmp(value, "read committed") && strcasecmp(value, "read uncommitted")))
            return error_set(STATUS_INVALID_PARAMETER_VALUE, "invalid value for parameter \"%s\": \"%s\"", name, value ? value : "");
        if (session->txn)
            txn_set_isolation(session->txn, repeatable ? REPEATABLE_READ : READ_COMMITTED);
        for (int i = 0; isolation_choices[i]; i++)
            if (!strcasecmp(isolation_choices[i], value))
                session->isolation_name = i;
    }
    return STATUS_OK;
}

enum status settings_set(struct session *session, const char *name, const char *value, enum setting_scope scope)
{
    int index = setting_find(name);
    if (index < 0) {
        if (strchr(name, '.') && strncasecmp(name, "crab.", 5))
            return set_custom(session, name, value);
        return error_set(STATUS_UNDEFINED_OBJECT, "unrecognized configuration parameter \"%s\"", name);
    }
    const struct setting *s = &table[index];
    if (s->context == 'i')
        return error_set(STATUS_CANNOT_CHANGE_NOW, "parameter \"%s\" cannot be changed", s->name);
    if (s->context == 'p')
        return error_set(STATUS_CANNOT_CHANGE_NOW, "parameter \"%s\" cannot be changed without restarting the server", s->name);
    if (!strncmp(s->name, "transaction_", 12))
        return set_transaction_setting(session, s->name, value);
    char *text = NULL;
    if (value || s->context == 'w') {
        const char *otherwise = start_values[index] ? start_values[index] : s->boot;
        enum status status = canonical(s, value ? value : otherwise, session, &text);
        if (status)
            return status;
    }
    if (text && !strcmp(s->name, "crab.step")) {
        enum status status = step_check_name(session, text);
        if (status) {
            free(text);
            return status;
        }
    }
    if (s->context == 'w') {
        put_server_value(session_store(session), index, text);
        return STATUS_OK;
    }
    if (session->txn) {
        struct setting_undo *undo = calloc(1, sizeof *undo);
        ASSERT(undo);
        *undo = (struct setting_undo){.older = session->setting_undo, .index = index, .scope = scope,
                                      .previous = session->setting_values[index] ? strdup(session->setting_values[index]) : NULL,
                                      .level = session->savepoints ? session->savepoints->level : 0};
        session->setting_undo = undo;
    }
    put_value(session, index, text);
    return STATUS_OK;
}

/* level 0: the transaction ends; else the savepoint `level` and inner ones were rolled back (or released: committed). */
void settings_end(struct session *session, int level, bool committed)
{
    if (level > 0 && committed) {                             /* a released savepoint's SETs belong to the level outside */
        for (struct setting_undo *undo = session->setting_undo; undo; undo = undo->older)
            if (undo->level >= level)
                undo->level = level - 1;
        return;
    }
    if (!session->setting_undo || session->setting_undo->level < level)
        return;
    /* Newest first. After a commit, undo only what SET LOCAL did and no SET since then has overruled. */
    bool *kept = calloc(SETTING_COUNT, sizeof *kept);
    ASSERT(kept);
    while (session->setting_undo && session->setting_undo->level >= level) {
        struct setting_undo *undo = session->setting_undo;
        session->setting_undo = undo->older;
        if (committed && undo->scope == SETTING_SESSION)
            kept[undo->index] = true;
        if (committed && kept[undo->index]) {
            free(undo->previous);
        } else {
            put_value(session, undo->index, undo->previous);
        }
        free(undo);
    }
    free(kept);
}

enum status settings_reset_all(struct session *session)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (table[i].context == 'u' && session->setting_values[i] && strncmp(table[i].name, "transaction_", 12)) {
            enum status status = settings_set(session, table[i].name, NULL, SETTING_SESSION);
            if (status)
                return status;
        }
    return STATUS_OK;
}

enum status settings_show(struct session *session, const char *name, struct arena *arena, const char **value, const char **canonical_name)
{
    int index = setting_find(name);
    if (index < 0) {
        for (struct custom_setting *custom = session->custom; custom; custom = custom->next)
            if (!strcasecmp(custom->name, name)) {
                *value = arena_strdup(arena, custom->value);
                *canonical_name = arena_strdup(arena, custom->name);
                return STATUS_OK;
            }
        return error_set(STATUS_UNDEFINED_OBJECT, "unrecognized configuration parameter \"%s\"", name);
    }
    *canonical_name = table[index].name;
    if (session->txn && !strcmp(table[index].name, "transaction_isolation"))
        *value = isolation_choices[session->isolation_name];
    else if (session->txn && !strcmp(table[index].name, "transaction_deferrable"))
        *value = session->deferrable ? "on" : "off";
    else if (session->txn && !strcmp(table[index].name, "transaction_read_only"))
        *value = txn_read_only(session->txn) ? "on" : "off";
    else if (!strcmp(table[index].name, "session_authorization"))
        *value = arena_strdup(arena, session->user);
    else {
        char *now = current_value(session, index);
        *value = arena_strdup(arena, now);
        free(now);
    }
    return STATUS_OK;
}

enum status settings_set_server(const char *name, const char *value)
{
    int index = setting_find(name);
    if (index < 0)
        return error_set(STATUS_UNDEFINED_OBJECT, "unrecognized configuration parameter \"%s\"", name);
    if (table[index].context == 'i')
        return error_set(STATUS_CANNOT_CHANGE_NOW, "parameter \"%s\" cannot be changed", table[index].name);
    if (!strcmp(table[index].name, "crab.step"))
        return error_set(STATUS_CANNOT_CHANGE_NOW, "parameter \"%s\" is for a session to set", table[index].name);
    char *text;
    enum status status = canonical(&table[index], value, NULL, &text);
    if (!status) {
        free(start_values[index]);
        start_values[index] = strdup(text);
        put_server_value(NULL, index, text);
    }
    return status;
}

const char *settings_server_value(const char *name)
{
    int index = setting_find(name);
    ASSERT(index >= 0);
    return server_values[index] ? server_values[index] : table[index].boot;
}

int64_t settings_server_number(const char *name)
{
    int index = setting_find(name);
    ASSERT(index >= 0);
    const struct setting *s = &table[index];
    latch_acquire(&guard, LATCH_SHARED);
    double number = server_number(index);
    latch_release(&guard);
    return (int64_t)(number * (s->unit == UNIT_KB ? 1024 : s->unit == UNIT_8KB ? 8192 : 1));
}

size_t settings_count(void) { return SETTING_COUNT; }

void settings_row(struct session *session, size_t index, struct arena *arena, struct setting_row *out)
{
    const struct setting *s = &table[index];
    static const char *const kinds[] = {"bool", "integer", "real", "string", "enum"};
    memset(out, 0, sizeof *out);
    const char *canonical_name;
    if (settings_show(session, s->name, arena, &out->value, &canonical_name)) {
        error_clear();
        out->value = "";
    }
    double number;
    if (s->unit && !parse_number(s, out->value, &number))
        out->value = arena_printf(arena, "%.15g", number);
    error_clear();
    out->name = s->name;
    out->unit = unit_name(s->unit);
    out->category = s->category;
    out->description = s->description;
    out->context = s->context == 'i' ? "internal" : s->context == 'p' ? "postmaster" : s->context == 'w' ? "superuser" : "user";
    out->type = kinds[s->kind];
    out->source = session->setting_values[index] ? "session" : server_values[index] ? "command line" : "default";
    out->boot_value = s->boot;
    char *reset = s->context == 'w' ? NULL : server_value_copy((int)index);
    out->reset_value = reset ? arena_strdup(arena, reset) : start_values[index] ? start_values[index] : s->boot;
    free(reset);
    if (s->kind == KIND_INT || s->kind == KIND_REAL) {
        out->min = arena_printf(arena, "%.15g", s->min);
        out->max = arena_printf(arena, "%.15g", s->max);
    }
    if (s->kind == KIND_ENUM) {
        out->enum_values = "";
        for (const char *const *value = s->choices; *value; value++)
            out->enum_values = arena_printf(arena, "%s%c%s", out->enum_values, value == s->choices ? '{' : ',', *value);
        out->enum_values = arena_printf(arena, "%s}", out->enum_values);
    }
}
