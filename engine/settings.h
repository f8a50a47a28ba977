/* engine/settings.h - settings, with PostgreSQL's names where PostgreSQL has the thing, and crab.* for what exists to teach.
 * Each session has its own values of those that are a session's; crab.* switches act on the whole server at once and stay. */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"

struct session;
/* Values that code reads often stand as fields, kept up to date by SET. */
struct settings {
    int64_t work_mem_bytes, maintenance_work_mem_bytes;
    int     max_parallel_workers_per_gather;
    int64_t min_parallel_table_scan_bytes, min_parallel_index_scan_bytes;
    int64_t statement_timeout_ms, lock_timeout_ms, idle_in_transaction_session_timeout_ms, idle_session_timeout_ms;
    bool    synchronous_commit;
    int     default_transaction_isolation;       /* enum isolation of storage/txn.h */
    int     default_isolation_name;              /* as it was asked for: settings_isolation_name */
    bool    default_transaction_deferrable;
    bool    default_transaction_read_only;
    int     extra_float_digits, bytea_output, date_style, date_order, interval_style;
    char    timezone[64], application_name[64], client_encoding[16], search_path[512], step[512];
    int     client_min_messages, log_min_duration_ms;
    bool    enable_seqscan, enable_indexscan, enable_hashjoin, enable_nestloop, enable_mergejoin, enable_bitmapscan, enable_indexonlyscan, enable_hashagg, enable_sort, enable_parallel;
    double  random_page_cost, seq_page_cost, cpu_tuple_cost, cpu_operator_cost, cpu_index_tuple_cost, parallel_setup_cost, parallel_tuple_cost;
    int64_t effective_cache_bytes;
    int     effective_io_concurrency;            /* 0: scans read no page ahead */
    int     default_statistics_target, from_collapse_limit, join_collapse_limit, plan_cache_mode;
};

enum setting_scope { SETTING_SESSION, SETTING_LOCAL };                /* SET, SET LOCAL */
/* value NULL: the default. Errors: UNDEFINED_OBJECT `unrecognized configuration parameter "x"`, INVALID_PARAMETER_VALUE, CANNOT_CHANGE_NOW. */
enum status settings_set(struct session *, const char *name, const char *value, enum setting_scope) MUST_CHECK;
enum status settings_show(struct session *, const char *name, struct arena *, const char **value, const char **canonical_name) MUST_CHECK;
enum status settings_set_server(const char *name, const char *value) MUST_CHECK;       /* -c NAME=VALUE at start: becomes the default */
const char *settings_server_value(const char *name);                                  /* for the server floor: port, max_connections, shared_buffers … */
int64_t     settings_server_number(const char *name);                                 /* in its base unit: bytes, ms, count */
void        settings_open(struct session *);
void        settings_close(struct session *);
enum status settings_reset_all(struct session *) MUST_CHECK;
/* Transaction ends: SET LOCAL values go back; after a rollback SETs of the transaction too. Savepoint levels likewise. */
void        settings_end(struct session *, int level, bool committed);
struct setting_row { const char *name, *value, *unit, *category, *description, *context, *type, *source, *boot_value, *reset_value, *min, *max, *enum_values; };   /* enum_values: an array's text, or NULL */
size_t      settings_count(void);
void        settings_row(struct session *, size_t index, struct arena *, struct setting_row *out);

/* Both of a pair of names are one level in storage; a client is told the one it asked for. 0 serializable, 1 repeatable read, 2 read committed, 3 read uncommitted. */
const char *settings_isolation_name(int);

#endif
