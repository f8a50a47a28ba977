/* engine/catalog/views.c - the registry of virtual tables, and those that are always empty.
 *
 * A virtual table is a name, columns, and a call-back that hands out rows (views.h). The columns stand as text, "name type, …", in
 * VIEWS below; they become arrays before main runs. What psql and the drivers read has PostgreSQL's OIDs and columns, since a command
 * of theirs fails as a whole when one column is missing; catalogs of things that we don't have are there and empty. */
#include "engine/catalog/views_private.h"

#include <stdlib.h>
#include <string.h>

#include "engine/ddl.h"

static enum status fill_none(struct session *session, struct row_sink *sink)
{
    (void)session, (void)sink;
    return STATUS_OK;
}

struct view_definition { uint32_t oid, schema; const char *name; enum status (*fill)(struct session *, struct row_sink *); const char *columns; };

static const struct view_definition definitions[] = {
#define C SCHEMA_PG_CATALOG
#define I SCHEMA_INFORMATION
    /* ---- types, functions, operators: views_types.c ---- */
    {1247, C, "pg_type", fill_pg_type, "oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype char, typcategory char, typispreferred bool, typisdefined bool, "
        "typdelim char, typrelid oid, typsubscript regproc, typelem oid, typarray oid, typinput regproc, typoutput regproc, typreceive regproc, typsend regproc, typmodin regproc, typmodout regproc, typanalyze regproc, "
        "typalign char, typstorage char, typnotnull bool, typbasetype oid, typtypmod int4, typndims int4, typcollation oid, typdefaultbin pg_node_tree, typdefault text, typacl _text"},
    {1255, C, "pg_proc", fill_pg_proc, "oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4, prorows float4, provariadic oid, prosupport regproc, prokind char, prosecdef bool, "
        "proleakproof bool, proisstrict bool, proretset bool, provolatile char, proparallel char, pronargs int2, pronargdefaults int2, prorettype oid, proargtypes oidvector, proallargtypes _oid, "
        "proargmodes _char, proargnames _text, proargdefaults pg_node_tree, protrftypes _oid, prosrc text, probin text, prosqlbody pg_node_tree, proconfig _text, proacl _text"},
    {2617, C, "pg_operator", fill_pg_operator, "oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, oprcanmerge bool, oprcanhash bool, oprleft oid, oprright oid, oprresult oid, oprcom oid, "
        "oprnegate oid, oprcode regproc, oprrest regproc, oprjoin regproc"},
    {2605, C, "pg_cast", fill_pg_cast, "oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, castmethod char"},
    {2600, C, "pg_aggregate", fill_pg_aggregate, "aggfnoid regproc, aggkind char, aggnumdirectargs int2, aggtransfn regproc, aggfinalfn regproc, aggcombinefn regproc, aggsortop oid, aggtranstype oid, agginitval text"},
    {2601, C, "pg_am", fill_pg_am, "oid oid, amname name, amhandler regproc, amtype char"},
    {2616, C, "pg_opclass", fill_pg_opclass, "oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid, opcintype oid, opcdefault bool, opckeytype oid"},
    {2753, C, "pg_opfamily", fill_none, "oid oid, opfmethod oid, opfname name, opfnamespace oid, opfowner oid"},
    {2602, C, "pg_amop", fill_none, "oid oid, amopfamily oid, amoplefttype oid, amoprighttype oid, amopstrategy int2, amoppurpose char, amopopr oid, amopmethod oid, amopsortfamily oid"},
    {2603, C, "pg_amproc", fill_none, "oid oid, amprocfamily oid, amproclefttype oid, amprocrighttype oid, amprocnum int2, amproc regproc"},
    {3456, C, "pg_collation", fill_pg_collation, "oid oid, collname name, collnamespace oid, collowner oid, collprovider char, collisdeterministic bool, collencoding int4, collcollate text, collctype text, colliculocale text, collversion text"},
    {2612, C, "pg_language", fill_pg_language, "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, laninline oid, lanvalidator oid, lanacl _text"},
    {3501, C, "pg_enum", fill_none, "oid oid, enumtypid oid, enumsortorder float4, enumlabel name"},
    {3541, C, "pg_range", fill_none, "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid, rngcanonical regproc, rngsubdiff regproc"},
    {2607, C, "pg_conversion", fill_none, "oid oid, conname name, connamespace oid, conowner oid, conforencoding int4, contoencoding int4, conproc regproc, condefault bool"},
    {3576, C, "pg_transform", fill_none, "oid oid, trftype oid, trflang oid, trffromsql regproc, trftosql regproc"},

    /* ---- the server: views_server.c ---- */
    {1262, C, "pg_database", fill_pg_database, "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool, datconnlimit int4, datfrozenxid xid, datminmxid xid, "
        "dattablespace oid, datcollate text, datctype text, daticulocale text, datcollversion text, datacl _text"},
    {1260, C, "pg_authid", fill_pg_authid, "oid oid, rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, rolreplication bool, rolbypassrls bool, rolconnlimit int4, "
        "rolpassword text, rolvaliduntil timestamptz"},
    {12000, C, "pg_roles", fill_pg_roles, "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, rolreplication bool, rolconnlimit int4, rolpassword text, "
        "rolvaliduntil timestamptz, rolbypassrls bool, rolconfig _text, oid oid"},
    {12005, C, "pg_user", fill_pg_user, "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text, valuntil timestamptz, useconfig _text"},
    {12006, C, "pg_shadow", fill_pg_user, "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text, valuntil timestamptz, useconfig _text"},
    {12007, C, "pg_group", fill_none, "groname name, grosysid oid, grolist _oid"},
    {1261, C, "pg_auth_members", fill_none, "roleid oid, member oid, grantor oid, admin_option bool"},
    {1213, C, "pg_tablespace", fill_pg_tablespace, "oid oid, spcname name, spcowner oid, spcacl _text, spcoptions _text"},
    {12010, C, "pg_settings", fill_pg_settings, "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, vartype text, source text, min_val text, max_val text, "
        "enumvals _text, boot_val text, reset_val text, sourcefile text, sourceline int4, pending_restart bool"},
    {12015, C, "pg_stat_activity", fill_pg_stat_activity, "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, client_addr text, client_hostname text, client_port int4, "
        "backend_start timestamptz, xact_start timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, wait_event text, state text, backend_xid xid, backend_xmin xid, query_id int8, query text, backend_type text"},
    {12020, C, "pg_locks", fill_pg_locks, "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid xid, classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, "
        "mode text, granted bool, fastpath bool, waitstart timestamptz"},
    {12025, C, "pg_prepared_statements", fill_pg_prepared_statements, "name text, statement text, prepare_time timestamptz, parameter_types _regtype, from_sql bool, generic_plans int8, custom_plans int8"},
    {12026, C, "pg_cursors", fill_pg_cursors, "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, creation_time timestamptz"},
    {12027, C, "pg_prepared_xacts", fill_none, "transaction xid, gid text, prepared timestamptz, owner name, database name"},
    {12030, C, "pg_stat_user_tables", fill_pg_stat_user_tables, "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, "
        "n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, "
        "vacuum_count int8, autovacuum_count int8, analyze_count int8, autoanalyze_count int8"},
    {12031, C, "pg_stat_all_tables", fill_pg_stat_user_tables, "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, "
        "n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, "
        "vacuum_count int8, autovacuum_count int8, analyze_count int8, autoanalyze_count int8"},
    {12032, C, "pg_stat_database", fill_pg_stat_database, "datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8, blks_read int8, blks_hit int8, tup_returned int8, tup_fetched int8, tup_inserted int8, tup_updated int8, "
        "tup_deleted int8, conflicts int8, temp_files int8, temp_bytes int8, deadlocks int8, checksum_failures int8, checksum_last_failure timestamptz, blk_read_time float8, blk_write_time float8, "
        "session_time float8, active_time float8, idle_in_transaction_time float8, sessions int8, sessions_abandoned int8, sessions_fatal int8, sessions_killed int8, stats_reset timestamptz"},
    {12040, C, "crab_latches", fill_crab_latches, "pid int4, thread int4, thread_name text, layer text, level int4, relation text, page int8, mode text, state text, wait_us int8, holders text, "
        "point text, file int8, position int8"},
    {12041, C, "crab_latch_stats", fill_crab_latch_stats, "layer text, guards text, waits int8, wait_us int8"},
    {12042, C, "crab_trace", fill_crab_trace, "at_us int8, pid int4, thread int4, layer text, level int4, relation text, page int8, mode text, file int8, position int8"},
    {12043, C, "crab_pool", fill_crab_pool, "frames int8, dirty int8, pinned int8, hits int8, misses int8, waits_for_read int8, evictions int8, written int8, read_ahead int8"},
    {12044, C, "crab_wal", fill_crab_wal, "next int8, flushed int8, redo int8, records int8, bytes int8, flushes int8, images int8, ring_waits int8"},
    {12045, C, "crab_checkpoints", fill_crab_checkpoints, "requested int8, timed int8, pages int8, last_us int8, last_redo int8"},

    /* ---- what depends on what, and lists for people: views_schema.c ---- */
    {2608, C, "pg_depend", fill_pg_depend, "classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4, deptype char"},
    {1214, C, "pg_shdepend", fill_none, "dbid oid, classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, deptype char"},
    {12050, C, "pg_tables", fill_pg_tables, "schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool, hastriggers bool, rowsecurity bool"},
    {12051, C, "pg_views", fill_pg_views, "schemaname name, viewname name, viewowner name, definition text"},
    {12052, C, "pg_indexes", fill_pg_indexes, "schemaname name, tablename name, indexname name, tablespace name, indexdef text"},
    {12053, C, "pg_sequences", fill_pg_sequences, "schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8, min_value int8, max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8"},
    {12054, C, "pg_rules", fill_none, "schemaname name, tablename name, rulename name, definition text"},
    {12055, C, "pg_matviews", fill_none, "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, ispopulated bool, definition text"},
    {12056, C, "pg_policies", fill_none, "schemaname name, tablename name, policyname name, permissive text, roles _name, cmd text, qual text, with_check text"},
    {12057, C, "pg_stats", fill_pg_stats, "schemaname name, tablename name, attname name, inherited bool, null_frac float4, avg_width int4, n_distinct float4, most_common_vals text, most_common_freqs _float4, histogram_bounds text, correlation float4"},
    {12058, C, "pg_stat_user_indexes", fill_pg_stat_user_indexes, "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, idx_tup_fetch int8"},

    /* ---- of things that we don't have ---- */
    {2611, C, "pg_inherits", fill_none, "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool"},
    {3350, C, "pg_partitioned_table", fill_none, "partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs int2vector, partclass oidvector, partcollation oidvector, partexprs pg_node_tree"},
    {2620, C, "pg_trigger", fill_none, "oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, tgenabled char, tgisinternal bool, tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable bool, "
        "tginitdeferred bool, tgnargs int2, tgattr int2vector, tgargs bytea, tgqual pg_node_tree, tgoldtable name, tgnewtable name"},
    {3256, C, "pg_policy", fill_none, "oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles _oid, polqual pg_node_tree, polwithcheck pg_node_tree"},
    {6104, C, "pg_publication", fill_none, "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate bool, pubdelete bool, pubtruncate bool, pubviaroot bool"},
    {6106, C, "pg_publication_rel", fill_none, "oid oid, prpubid oid, prrelid oid, prqual pg_node_tree, prattrs int2vector"},
    {6237, C, "pg_publication_namespace", fill_none, "oid oid, pnpubid oid, pnnspid oid"},
    {12060, C, "pg_publication_tables", fill_none, "pubname name, schemaname name, tablename name, attnames _name, rowfilter text"},
    {6100, C, "pg_subscription", fill_none, "oid oid, subdbid oid, subskiplsn text, subname name, subowner oid, subenabled bool, subbinary bool, substream bool, subtwophasestate char, subdisableonerr bool, subconninfo text, subslotname name, subsynccommit text, subpublications _text"},
    {3381, C, "pg_statistic_ext", fill_none, "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget int4, stxkeys int2vector, stxkind _char, stxexprs pg_node_tree"},
    {3118, C, "pg_foreign_table", fill_none, "ftrelid oid, ftserver oid, ftoptions _text"},
    {1417, C, "pg_foreign_server", fill_none, "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, srvacl _text, srvoptions _text"},
    {2328, C, "pg_foreign_data_wrapper", fill_none, "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl _text, fdwoptions _text"},
    {1418, C, "pg_user_mapping", fill_none, "oid oid, umuser oid, umserver oid, umoptions _text"},
    {12061, C, "pg_user_mappings", fill_none, "umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions _text"},
    {3079, C, "pg_extension", fill_none, "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, extversion text, extconfig _oid, extcondition _text"},
    {12062, C, "pg_available_extensions", fill_none, "name name, default_version text, installed_version text, comment text"},
    {3466, C, "pg_event_trigger", fill_none, "oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled char, evttags _text"},
    {2964, C, "pg_db_role_setting", fill_none, "setdatabase oid, setrole oid, setconfig _text"},
    {2396, C, "pg_shdescription", fill_none, "objoid oid, classoid oid, description text"},
    {3596, C, "pg_seclabel", fill_none, "objoid oid, classoid oid, objsubid int4, provider text, label text"},
    {3592, C, "pg_shseclabel", fill_none, "objoid oid, classoid oid, provider text, label text"},
    {12063, C, "pg_seclabels", fill_none, "objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text, provider text, label text"},
    {2995, C, "pg_largeobject_metadata", fill_none, "oid oid, lomowner oid, lomacl _text"},
    {2613, C, "pg_largeobject", fill_none, "loid oid, pageno int4, data bytea"},
    {3394, C, "pg_init_privs", fill_none, "objoid oid, classoid oid, objsubid int4, privtype char, initprivs _text"},
    {826, C, "pg_default_acl", fill_none, "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl _text"},
    {3601, C, "pg_ts_parser", fill_none, "oid oid, prsname name, prsnamespace oid, prsstart regproc, prstoken regproc, prsend regproc, prsheadline regproc, prslextype regproc"},
    {3600, C, "pg_ts_dict", fill_none, "oid oid, dictname name, dictnamespace oid, dictowner oid, dicttemplate oid, dictinitoption text"},
    {3764, C, "pg_ts_template", fill_none, "oid oid, tmplname name, tmplnamespace oid, tmplinit regproc, tmpllexize regproc"},
    {3602, C, "pg_ts_config", fill_none, "oid oid, cfgname name, cfgnamespace oid, cfgowner oid, cfgparser oid"},
    {3603, C, "pg_ts_config_map", fill_none, "mapcfg oid, maptokentype int4, mapseqno int4, mapdict oid"},

    /* ---- what is counted, and what of it is not ---- */
    {12070, C, "pg_available_extension_versions", fill_none, "name name, version text, installed bool, superuser bool, trusted bool, relocatable bool, schema name, requires _name, comment text"},
    {6243, C, "pg_parameter_acl", fill_none, "oid oid, parname text, paracl _text"},
    {6000, C, "pg_replication_origin", fill_none, "roident oid, roname text"},
    {12071, C, "pg_replication_slots", fill_none, "slot_name name, plugin name, slot_type text, datoid oid, database name, temporary bool, active bool, active_pid int4, xmin xid, catalog_xmin xid, restart_lsn text, confirmed_flush_lsn text, "
        "wal_status text, safe_wal_size int8, two_phase bool"},
    {12072, C, "pg_stat_all_indexes", fill_pg_stat_user_indexes, "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, idx_tup_fetch int8"},
    {12073, C, "pg_stat_progress_analyze", fill_none, "pid int4, datid oid, datname name, relid oid, phase text, sample_blks_total int8, sample_blks_scanned int8, ext_stats_total int8, ext_stats_computed int8, child_tables_total int8, "
        "child_tables_done int8, current_child_table_relid oid"},
    {12074, C, "pg_stat_progress_basebackup", fill_none, "pid int4, phase text, backup_total int8, backup_streamed int8, tablespaces_total int8, tablespaces_streamed int8"},
    {12075, C, "pg_stat_progress_cluster", fill_none, "pid int4, datid oid, datname name, relid oid, command text, phase text, cluster_index_relid oid, heap_tuples_scanned int8, heap_tuples_written int8, heap_blks_total int8, heap_blks_scanned int8, "
        "index_rebuild_count int8"},
    {12076, C, "pg_stat_progress_copy", fill_none, "pid int4, datid oid, datname name, relid oid, command text, type text, bytes_processed int8, bytes_total int8, tuples_processed int8, tuples_excluded int8"},
    {12077, C, "pg_stat_progress_create_index", fill_none, "pid int4, datid oid, datname name, relid oid, index_relid oid, command text, phase text, lockers_total int8, lockers_done int8, current_locker_pid int8, blocks_total int8, blocks_done int8, "
        "tuples_total int8, tuples_done int8, partitions_total int8, partitions_done int8"},
    {12078, C, "pg_stat_progress_vacuum", fill_none, "pid int4, datid oid, datname name, relid oid, phase text, heap_blks_total int8, heap_blks_scanned int8, heap_blks_vacuumed int8, index_vacuum_count int8, max_dead_tuples int8, num_dead_tuples int8"},
    {12079, C, "pg_stat_replication", fill_none, "pid int4, usesysid oid, usename name, application_name text, client_addr text, client_hostname text, client_port int4, backend_start timestamptz, backend_xmin xid, state text, sent_lsn text, "
        "write_lsn text, flush_lsn text, replay_lsn text, write_lag interval, flush_lag interval, replay_lag interval, sync_priority int4, sync_state text, reply_time timestamptz"},
    {12080, C, "pg_stat_replication_slots", fill_none, "slot_name text, spill_txns int8, spill_count int8, spill_bytes int8, stream_txns int8, stream_count int8, stream_bytes int8, total_txns int8, total_bytes int8, stats_reset timestamptz"},
    {12081, C, "pg_stat_subscription", fill_none, "subid oid, subname name, pid int4, relid oid, received_lsn text, last_msg_send_time timestamptz, last_msg_receipt_time timestamptz, latest_end_lsn text, latest_end_time timestamptz"},
    {12082, C, "pg_stat_sys_indexes", fill_none, "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, idx_tup_fetch int8"},
    {12083, C, "pg_stat_sys_tables", fill_none, "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, "
        "n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, "
        "autovacuum_count int8, analyze_count int8, autoanalyze_count int8"},
    {12084, C, "pg_stat_user_functions", fill_none, "funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8"},
    {12085, C, "pg_stat_wal_receiver", fill_none, "pid int4, status text, receive_start_lsn text, receive_start_tli int4, written_lsn text, flushed_lsn text, received_tli int4, last_msg_send_time timestamptz, last_msg_receipt_time timestamptz, "
        "latest_end_lsn text, latest_end_time timestamptz, slot_name text, sender_host text, sender_port int4, conninfo text"},
    {12086, C, "pg_statio_all_indexes", fill_io_indexes, "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, idx_blks_hit int8"},
    {12087, C, "pg_statio_all_sequences", fill_io_sequences, "relid oid, schemaname name, relname name, blks_read int8, blks_hit int8"},
    {12088, C, "pg_statio_all_tables", fill_io_tables, "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, "
        "tidx_blks_hit int8"},
    {12089, C, "pg_statio_sys_indexes", fill_none, "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, idx_blks_hit int8"},
    {12090, C, "pg_statio_sys_tables", fill_none, "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, "
        "tidx_blks_hit int8"},
    {12091, C, "pg_statio_user_indexes", fill_io_indexes, "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, idx_blks_hit int8"},
    {12092, C, "pg_statio_user_sequences", fill_io_sequences, "relid oid, schemaname name, relname name, blks_read int8, blks_hit int8"},
    {12093, C, "pg_statio_user_tables", fill_io_tables, "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, "
        "tidx_blks_hit int8"},
    {3429, C, "pg_statistic_ext_data", fill_none, "stxoid oid, stxdinherit bool, stxdndistinct text, stxddependencies text, stxdmcv text, stxdexpr text"},
    {12094, C, "pg_stats_ext", fill_none, "schemaname name, tablename name, statistics_schemaname name, statistics_name name, statistics_owner name, attnames _name, exprs _text, kinds _char, inherited bool, n_distinct text, dependencies text, "
        "most_common_vals _text, most_common_val_nulls _bool, most_common_freqs _float8, most_common_base_freqs _float8"},
    {6102, C, "pg_subscription_rel", fill_none, "srsubid oid, srrelid oid, srsubstate char, srsublsn text"},
    {12095, C, "pg_timezone_names", fill_pg_timezone_names, "name text, abbrev text, utc_offset interval, is_dst bool"},

    /* ---- information_schema.c, information_schema_usage.c ---- */
    {13101, I, "tables", fill_is_tables, "table_catalog name, table_schema name, table_name name, table_type varchar, self_referencing_column_name name, reference_generation varchar, user_defined_type_catalog name, "
        "user_defined_type_schema name, user_defined_type_name name, is_insertable_into varchar, is_typed varchar, commit_action varchar"},
    {13102, I, "columns", fill_is_columns, "table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int4, column_default varchar, is_nullable varchar, data_type varchar, character_maximum_length int4, "
        "character_octet_length int4, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, "
        "character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, collation_name name, domain_catalog name, domain_schema name, "
        "domain_name name, udt_catalog name, udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name, is_self_referencing varchar, "
        "is_identity varchar, identity_generation varchar, identity_start varchar, identity_increment varchar, identity_maximum varchar, identity_minimum varchar, identity_cycle varchar, is_generated varchar, "
        "generation_expression varchar, is_updatable varchar"},
    {13103, I, "schemata", fill_is_schemata, "catalog_name name, schema_name name, schema_owner name, default_character_set_catalog name, default_character_set_schema name, default_character_set_name name, sql_path varchar"},
    {13104, I, "table_constraints", fill_is_table_constraints, "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, table_name name, constraint_type varchar, is_deferrable varchar, "
        "initially_deferred varchar, enforced varchar, nulls_distinct varchar"},
    {13105, I, "key_column_usage", fill_is_key_column_usage, "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int4, "
        "position_in_unique_constraint int4"},
    {13106, I, "constraint_column_usage", fill_is_constraint_column_usage, "table_catalog name, table_schema name, table_name name, column_name name, constraint_catalog name, constraint_schema name, constraint_name name"},
    {13107, I, "referential_constraints", fill_is_referential_constraints, "constraint_catalog name, constraint_schema name, constraint_name name, unique_constraint_catalog name, unique_constraint_schema name, unique_constraint_name name, match_option varchar, "
        "update_rule varchar, delete_rule varchar"},
    {13108, I, "views", fill_is_views, "table_catalog name, table_schema name, table_name name, view_definition varchar, check_option varchar, is_updatable varchar, is_insertable_into varchar, is_trigger_updatable varchar, "
        "is_trigger_deletable varchar, is_trigger_insertable_into varchar"},
    {13109, I, "sequences", fill_is_sequences, "sequence_catalog name, sequence_schema name, sequence_name name, data_type varchar, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, start_value varchar, "
        "minimum_value varchar, maximum_value varchar, increment varchar, cycle_option varchar"},
    {13110, I, "check_constraints", fill_is_check_constraints, "constraint_catalog name, constraint_schema name, constraint_name name, check_clause varchar"},
    {13111, I, "routines", fill_is_routines, "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, routine_name name, routine_type varchar, module_catalog name, module_schema name, "
        "module_name name, udt_catalog name, udt_schema name, udt_name name, data_type varchar, character_maximum_length int4, character_octet_length int4, character_set_catalog name, "
        "character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, collation_name name, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, "
        "datetime_precision int4, interval_type varchar, interval_precision int4, type_udt_catalog name, type_udt_schema name, type_udt_name name, scope_catalog name, scope_schema name, scope_name name, "
        "maximum_cardinality int4, dtd_identifier name, routine_body varchar, routine_definition varchar, external_name varchar, external_language varchar, parameter_style varchar, is_deterministic varchar, "
        "sql_data_access varchar, is_null_call varchar, sql_path varchar, schema_level_routine varchar, max_dynamic_result_sets int4, is_user_defined_cast varchar, is_implicitly_invocable varchar, "
        "security_type varchar, to_sql_specific_catalog name, to_sql_specific_schema name, to_sql_specific_name name, as_locator varchar, created timestamptz, last_altered timestamptz, "
        "new_savepoint_level varchar, is_udt_dependent varchar, result_cast_from_data_type varchar, result_cast_as_locator varchar, result_cast_char_max_length int4, result_cast_char_octet_length int4, "
        "result_cast_char_set_catalog name, result_cast_char_set_schema name, result_cast_char_set_name name, result_cast_collation_catalog name, result_cast_collation_schema name, "
        "result_cast_collation_name name, result_cast_numeric_precision int4, result_cast_numeric_precision_radix int4, result_cast_numeric_scale int4, result_cast_datetime_precision int4, "
        "result_cast_interval_type varchar, result_cast_interval_precision int4, result_cast_type_udt_catalog name, result_cast_type_udt_schema name, result_cast_type_udt_name name, "
        "result_cast_scope_catalog name, result_cast_scope_schema name, result_cast_scope_name name, result_cast_maximum_cardinality int4, result_cast_dtd_identifier name"},
    {13112, I, "triggers", fill_none, "trigger_catalog name, trigger_schema name, trigger_name name, event_manipulation varchar, event_object_catalog name, event_object_schema name, event_object_table name, action_order int4, "
        "action_condition varchar, action_statement varchar, action_orientation varchar, action_timing varchar, action_reference_old_table name, action_reference_new_table name, action_reference_old_row name, "
        "action_reference_new_row name, created timestamptz"},
    {13113, I, "parameters", fill_is_parameters, "specific_catalog name, specific_schema name, specific_name name, ordinal_position int4, parameter_mode varchar, is_result varchar, as_locator varchar, parameter_name name, data_type varchar, "
        "character_maximum_length int4, character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, "
        "collation_name name, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, udt_catalog name, "
        "udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name, parameter_default varchar"},
    {13114, I, "administrable_role_authorizations", fill_none, "grantee name, role_name name, is_grantable varchar"},
    {13115, I, "applicable_roles", fill_none, "grantee name, role_name name, is_grantable varchar"},
    {13116, I, "attributes", fill_none, "udt_catalog name, udt_schema name, udt_name name, attribute_name name, ordinal_position int4, attribute_default varchar, is_nullable varchar, data_type varchar, character_maximum_length int4, "
        "character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, collation_name name, "
        "numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, attribute_udt_catalog name, "
        "attribute_udt_schema name, attribute_udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name, is_derived_reference_attribute varchar"},
    {13117, I, "character_sets", fill_is_character_sets, "character_set_catalog name, character_set_schema name, character_set_name name, character_repertoire name, form_of_use name, default_collate_catalog name, default_collate_schema name, "
        "default_collate_name name"},
    {13118, I, "collation_character_set_applicability", fill_is_collation_character_sets, "collation_catalog name, collation_schema name, collation_name name, character_set_catalog name, character_set_schema name, character_set_name name"},
    {13119, I, "collations", fill_is_collations, "collation_catalog name, collation_schema name, collation_name name, pad_attribute varchar"},
    {13120, I, "column_column_usage", fill_is_column_column_usage, "table_catalog name, table_schema name, table_name name, column_name name, dependent_column name"},
    {13121, I, "column_options", fill_none, "table_catalog name, table_schema name, table_name name, column_name name, option_name name, option_value varchar"},
    {13122, I, "column_privileges", fill_is_column_privileges, "grantor name, grantee name, table_catalog name, table_schema name, table_name name, column_name name, privilege_type varchar, is_grantable varchar"},
    {13123, I, "constraint_table_usage", fill_is_constraint_table_usage, "table_catalog name, table_schema name, table_name name, constraint_catalog name, constraint_schema name, constraint_name name"},
    {13124, I, "enabled_roles", fill_is_enabled_roles, "role_name name"},
    {13125, I, "foreign_data_wrapper_options", fill_none, "foreign_data_wrapper_catalog name, foreign_data_wrapper_name name, option_name name, option_value varchar"},
    {13126, I, "foreign_data_wrappers", fill_none, "foreign_data_wrapper_catalog name, foreign_data_wrapper_name name, authorization_identifier name, library_name varchar, foreign_data_wrapper_language varchar"},
    {13127, I, "foreign_server_options", fill_none, "foreign_server_catalog name, foreign_server_name name, option_name name, option_value varchar"},
    {13128, I, "foreign_servers", fill_none, "foreign_server_catalog name, foreign_server_name name, foreign_data_wrapper_catalog name, foreign_data_wrapper_name name, foreign_server_type varchar, foreign_server_version varchar, "
        "authorization_identifier name"},
    {13129, I, "foreign_table_options", fill_none, "foreign_table_catalog name, foreign_table_schema name, foreign_table_name name, option_name name, option_value varchar"},
    {13130, I, "foreign_tables", fill_none, "foreign_table_catalog name, foreign_table_schema name, foreign_table_name name, foreign_server_catalog name, foreign_server_name name"},
    {13131, I, "information_schema_catalog_name", fill_is_catalog_name, "catalog_name name"},
    {13132, I, "role_column_grants", fill_is_column_privileges, "grantor name, grantee name, table_catalog name, table_schema name, table_name name, column_name name, privilege_type varchar, is_grantable varchar"},
    {13133, I, "role_table_grants", fill_is_table_privileges, "grantor name, grantee name, table_catalog name, table_schema name, table_name name, privilege_type varchar, is_grantable varchar, with_hierarchy varchar"},
    {13134, I, "role_usage_grants", fill_is_usage_privileges, "grantor name, grantee name, object_catalog name, object_schema name, object_name name, object_type varchar, privilege_type varchar, is_grantable varchar"},
    {13135, I, "routine_column_usage", fill_none, "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, routine_name name, table_catalog name, table_schema name, table_name name, "
        "column_name name"},
    {13136, I, "routine_routine_usage", fill_none, "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, routine_name name"},
    {13137, I, "routine_sequence_usage", fill_none, "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, routine_name name, sequence_catalog name, sequence_schema name, sequence_name name"},
    {13138, I, "routine_table_usage", fill_none, "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, routine_name name, table_catalog name, table_schema name, table_name name"},
    {13139, I, "table_privileges", fill_is_table_privileges, "grantor name, grantee name, table_catalog name, table_schema name, table_name name, privilege_type varchar, is_grantable varchar, with_hierarchy varchar"},
    {13140, I, "transforms", fill_none, "udt_catalog name, udt_schema name, udt_name name, specific_catalog name, specific_schema name, specific_name name, group_name name, transform_type varchar"},
    {13141, I, "triggered_update_columns", fill_none, "trigger_catalog name, trigger_schema name, trigger_name name, event_object_catalog name, event_object_schema name, event_object_table name, event_object_column name"},
    {13142, I, "usage_privileges", fill_is_usage_privileges, "grantor name, grantee name, object_catalog name, object_schema name, object_name name, object_type varchar, privilege_type varchar, is_grantable varchar"},
    {13143, I, "user_defined_types", fill_none, "user_defined_type_catalog name, user_defined_type_schema name, user_defined_type_name name, user_defined_type_category varchar, is_instantiable varchar, is_final varchar, ordering_form varchar, "
        "ordering_category varchar, ordering_routine_catalog name, ordering_routine_schema name, ordering_routine_name name, reference_type varchar, data_type varchar, character_maximum_length int4, "
        "character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, collation_name name, "
        "numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, source_dtd_identifier name, ref_dtd_identifier name"},
    {13144, I, "user_mapping_options", fill_none, "authorization_identifier name, foreign_server_catalog name, foreign_server_name name, option_name name, option_value varchar"},
    {13145, I, "user_mappings", fill_none, "authorization_identifier name, foreign_server_catalog name, foreign_server_name name"},
    {13146, I, "view_table_usage", fill_is_view_table_usage, "view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name, table_name name"},
#undef C
#undef I
};
#define VIEW_COUNT (sizeof definitions / sizeof definitions[0])
static struct virtual_table tables[VIEW_COUNT];

static uint32_t type_of(const char *name, size_t length)
{
    for (size_t i = 0; i < type_count(); i++)
        if (strlen(type_at(i)->name) == length && !memcmp(type_at(i)->name, name, length))
            return type_at(i)->oid;
    panic("a view has a column of unknown type %.*s", (int)length, name);
}

__attribute__((constructor(300))) static void views_make(void)
{
    for (size_t v = 0; v < VIEW_COUNT; v++) {
        const struct view_definition *d = &definitions[v];
        uint16_t count = 1;
        for (const char *p = d->columns; *p; p++)
            count += *p == ',';
        struct virtual_column *columns = calloc(count, sizeof *columns);
        ASSERT(columns);
        const char *p = d->columns;
        for (uint16_t c = 0; c < count; c++) {
            size_t name = strcspn(p, " "), type = strcspn(p + name + 1, ",");
            columns[c].name = strndup(p, name);
            columns[c].type = type_of(p + name + 1, type);
            p += name + 1 + type;
            p += *p == ',';
            p += *p == ' ';
        }
        tables[v] = (struct virtual_table){.oid = d->oid, .schema = d->schema, .name = d->name, .column_count = count, .columns = columns, .fill = d->fill};
    }
}

const struct virtual_table *virtual_table_find(uint32_t schema, const char *name)
{
    if (schema != SCHEMA_PG_CATALOG && schema != SCHEMA_INFORMATION)
        return NULL;
    for (size_t v = 0; v < VIEW_COUNT; v++)
        if (tables[v].schema == schema && !strcmp(tables[v].name, name))
            return &tables[v];
    return NULL;
}

size_t virtual_table_count(void) { return VIEW_COUNT; }
const struct virtual_table *virtual_table_at(size_t i) { return &tables[i]; }

/* ---------------------------------------------------------------- helpers of the files that fill */

struct value view_array(struct row_sink *sink, uint32_t type, const char *text)
{
    struct value value = value_null();
    if (type_in(type_make(type, -1), text, strlen(text), sink->arena, &value)) {
        error_clear();
        return value_null();
    }
    return value;
}

struct value view_printf(struct row_sink *sink, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(sink->arena, format, args);
    va_end(args);
    return value_text(text);
}

/* Microseconds since 1970 as timestamptz; 0: null. */
struct value view_time(int64_t us) { return us ? value_i8(us - 946684800000000) : value_null(); }

struct named { const struct table *table; bool *used; };
static void name_seen(struct tree_walk *walk, struct expr *e)
{
    struct named *named = walk->context;
    if (e->kind != EXPR_COLUMN || e->column.star || e->column.count == 0)
        return;
    int at = table_column(named->table, e->column.names[e->column.count - 1]);
    if (at >= 0)
        named->used[at] = true;
}
bool *view_columns_named(struct arena *arena, const struct table *table, struct expr *e)
{
    struct named named = {table, arena_zero(arena, table->column_count + 1u)};
    struct tree_walk walk = {.context = &named, .expr = name_seen};
    walk_expr(&walk, e);
    return named.used;
}

struct each_table { struct session *session; struct row_sink *sink; enum status (*row)(struct session *, struct row_sink *, const struct table *); };
static enum status each_visit(void *context, const struct table *table)
{
    struct each_table *each = context;
    return each->row(each->session, each->sink, table);
}
enum status view_each_table(struct session *session, struct row_sink *sink, enum status (*row)(struct session *, struct row_sink *, const struct table *))
{
    struct each_table each = {session, sink, row};
    return catalog_each(session, each_visit, &each);
}
