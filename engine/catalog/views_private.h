/* engine/catalog/views_private.h - what the files of virtual tables share: their fill functions, and helpers to make rows. */
#ifndef ENGINE_CATALOG_VIEWS_PRIVATE_H
#define ENGINE_CATALOG_VIEWS_PRIVATE_H

#include "engine/catalog/rows.h"
#include "engine/catalog/views.h"
#include "engine/session.h"

struct value view_array(struct row_sink *, uint32_t type, const char *text);      /* from its text form; null when it has none */
struct value view_printf(struct row_sink *, const char *format, ...) PRINTF_LIKE(2, 3);
struct value view_time(int64_t us);
/* Which columns of the table an expression over it names: a flag each, by attnum-1. */
bool *view_columns_named(struct arena *, const struct table *, struct expr *);
enum status view_each_table(struct session *, struct row_sink *, enum status (*row)(struct session *, struct row_sink *, const struct table *)) MUST_CHECK;

enum status fill_pg_type(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_proc(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_operator(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_cast(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_aggregate(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_am(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_opclass(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_collation(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_language(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_database(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_authid(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_roles(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_user(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_tablespace(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_settings(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_stat_activity(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_locks(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_prepared_statements(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_cursors(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_stat_user_tables(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_stat_database(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_crab_latches(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_crab_latch_stats(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_crab_trace(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_crab_pool(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_crab_wal(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_crab_checkpoints(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_depend(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_tables(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_views(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_indexes(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_sequences(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_stats(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_stat_user_indexes(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_tables(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_columns(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_schemata(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_table_constraints(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_key_column_usage(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_constraint_column_usage(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_referential_constraints(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_views(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_sequences(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_check_constraints(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_catalog_name(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_enabled_roles(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_character_sets(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_collations(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_collation_character_sets(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_table_privileges(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_column_privileges(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_usage_privileges(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_constraint_table_usage(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_view_table_usage(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_column_column_usage(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_routines(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_is_parameters(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_io_tables(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_io_indexes(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_io_sequences(struct session *, struct row_sink *) MUST_CHECK;
enum status fill_pg_timezone_names(struct session *, struct row_sink *) MUST_CHECK;

#endif
