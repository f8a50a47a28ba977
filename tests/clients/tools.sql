-- tests/clients/tools.sql - what administration tools and BI programs ask: information_schema as a whole, and catalog queries of their style.
\pset pager off
\set QUIET on
\pset null '(null)'
\pset format unaligned
SELECT c.relname, a.attnum, a.attname, format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS type
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
 WHERE n.nspname = 'information_schema' AND a.attnum > 0 AND c.relname IN ('tables', 'columns', 'schemata', 'table_constraints', 'key_column_usage', 'constraint_column_usage', 'referential_constraints', 'views', 'sequences',
       'check_constraints', 'routines', 'triggers', 'parameters', 'table_privileges', 'column_privileges', 'constraint_table_usage', 'view_table_usage', 'character_sets', 'collations', 'foreign_tables', 'user_defined_types') ORDER BY 1, 2;
SELECT * FROM information_schema.information_schema_catalog_name;
SELECT * FROM information_schema.schemata WHERE schema_name !~ '^pg_t' ORDER BY 2;
SELECT * FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3;
SELECT * FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3, 5;
SELECT table_catalog, table_schema, table_name, check_option, is_updatable, is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into FROM information_schema.views WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3;
SELECT table_name, view_definition FROM information_schema.views WHERE table_schema IN ('shop', 'Odd Names') ORDER BY 1;
SELECT * FROM information_schema.sequences ORDER BY 2, 3;
SELECT constraint_catalog, constraint_schema, regexp_replace(constraint_name, '^[0-9]+_[0-9]+_', 'O_O_') AS constraint_name, table_catalog, table_schema, table_name, constraint_type, is_deferrable, initially_deferred, enforced, nulls_distinct FROM information_schema.table_constraints WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3, 6;
SELECT constraint_catalog, constraint_schema, regexp_replace(constraint_name, '^[0-9]+_[0-9]+_', 'O_O_') AS constraint_name, check_clause FROM information_schema.check_constraints WHERE constraint_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3, 4;
SELECT * FROM information_schema.key_column_usage WHERE table_schema <> 'pg_catalog' ORDER BY constraint_schema, constraint_name, ordinal_position;
SELECT * FROM information_schema.referential_constraints ORDER BY 2, 3;
SELECT * FROM information_schema.constraint_column_usage WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3, 4, 7;
SELECT * FROM information_schema.constraint_table_usage WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3, 6;
SELECT * FROM information_schema.view_table_usage WHERE view_schema <> 'information_schema' AND view_schema <> 'pg_catalog' ORDER BY 2, 3, 5, 6;
SELECT * FROM information_schema.table_privileges WHERE table_schema = 'shop' ORDER BY 4, 5, 6;
SELECT * FROM information_schema.role_table_grants WHERE table_schema = 'shop' AND table_name = 'line' ORDER BY 4, 5, 6;
SELECT * FROM information_schema.column_privileges WHERE table_schema = 'shop' AND table_name = 'product' ORDER BY 4, 5, 6, 7;
SELECT * FROM information_schema.usage_privileges WHERE object_schema = 'shop' ORDER BY 3, 4, 5;
SELECT * FROM information_schema.column_column_usage;
SELECT * FROM information_schema.character_sets;
SELECT * FROM information_schema.collations WHERE collation_name IN ('C', 'POSIX', 'default', 'ucs_basic') ORDER BY 3;
SELECT * FROM information_schema.enabled_roles WHERE role_name = 'postgres';
SELECT * FROM information_schema.triggers;
SELECT * FROM information_schema.routines WHERE routine_schema NOT IN ('pg_catalog', 'information_schema');
SELECT * FROM information_schema.parameters WHERE specific_schema NOT IN ('pg_catalog', 'information_schema');
SELECT routine_schema, routine_name, routine_type, data_type, is_deterministic, security_type, external_language FROM information_schema.routines WHERE routine_name IN ('lower', 'pg_get_viewdef', 'now', 'nextval') AND routine_schema = 'pg_catalog' ORDER BY 2, data_type, 5;
-- keys with their columns, as an entity-relationship tool joins them
SELECT tc.table_schema, tc.table_name, kcu.column_name, ccu.table_schema AS foreign_schema, ccu.table_name AS foreign_table, ccu.column_name AS foreign_column, rc.update_rule, rc.delete_rule
  FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu USING (constraint_schema, constraint_name)
  JOIN information_schema.constraint_column_usage ccu USING (constraint_schema, constraint_name) JOIN information_schema.referential_constraints rc USING (constraint_schema, constraint_name)
 WHERE tc.constraint_type = 'FOREIGN KEY' ORDER BY 1, 2, 3;
-- trees of objects
SELECT n.oid > 0, n.*, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass WHERE nspname IN ('shop', 'Odd Names') ORDER BY nspname \gset ns_
SELECT n.nspname, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass WHERE nspname !~ '^pg_t' ORDER BY nspname;
SELECT c.relname, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = 'shop'::regnamespace AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY 1;
SELECT c.relname, a.attname, a.attnum, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid IS NOT NULL AS serial FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON a.attrelid = c.oid LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum
  LEFT OUTER JOIN pg_catalog.pg_description dsc ON c.oid = dsc.objoid AND a.attnum = dsc.objsubid LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.relnamespace = 'shop'::regnamespace AND a.attnum > 0 ORDER BY 1, 3;
SELECT c.conname, c.contype, t.relname, rt.relname AS referenced, d.description, pg_catalog.pg_get_constraintdef(c.oid, true) AS definition FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass WHERE c.connamespace = 'shop'::regnamespace ORDER BY 1;
SELECT i.indexrelid::regclass, i.indkey::text, i.indclass::text, i.indoption::text, c.relname, d.description, am.amname, tc.relname AS tab, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS exprs FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid INNER JOIN pg_catalog.pg_am am ON am.oid = c.relam LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = i.indexrelid WHERE tc.relnamespace = 'shop'::regnamespace ORDER BY 1;
SELECT s.relname, p.last_value, p.min_value, p.max_value, p.increment_by, p.cycle, p.data_type FROM pg_sequences p JOIN pg_class s ON s.relname = p.sequencename ORDER BY 1;
SELECT t.typname, t.typtype, t.typcategory, t.typlen, t.typbyval, t.typdelim, t.typalign, t.typstorage, t.typrelid <> 0 AS row, c.relkind FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid WHERE t.typnamespace = 'shop'::regnamespace ORDER BY 1;
SELECT classid::regclass, refclassid::regclass, deptype, count(*) FROM pg_depend d WHERE objid >= 16384 AND refobjid >= 16384 AND classid <> 'pg_type'::regclass AND refclassid <> 'pg_type'::regclass GROUP BY 1, 2, 3 ORDER BY classid::regclass::text, refclassid::regclass::text, 3;
SELECT v.relname, string_agg(DISTINCT t.relname, ',' ORDER BY t.relname) FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class JOIN pg_class t ON t.oid = d.refobjid AND t.oid <> v.oid WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND v.oid >= 16384 GROUP BY 1 ORDER BY 1;
SELECT schemaname, tablename, tableowner, hasindexes, hasrules, hastriggers FROM pg_tables WHERE schemaname IN ('shop', 'public') ORDER BY 1, 2;
SELECT schemaname, viewname, viewowner, definition FROM pg_views WHERE schemaname = 'shop' ORDER BY 2;
SELECT * FROM pg_indexes WHERE schemaname IN ('shop', 'Odd Names') ORDER BY 2, 3;
SELECT * FROM pg_sequences ORDER BY 2;
SELECT rolname, rolsuper, rolcreatedb, rolcanlogin, rolconnlimit, rolvaliduntil FROM pg_roles WHERE rolname = 'postgres';
SELECT datname, pg_encoding_to_char(encoding), datcollate, datistemplate, datallowconn, datconnlimit, pg_database_size(oid) > 0, has_database_privilege(datname, 'CONNECT'), shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database();
SELECT relname, schemaname, n_live_tup >= 0, last_vacuum IS NULL FROM pg_stat_user_tables ORDER BY 1;
SELECT relname, indexrelname FROM pg_stat_user_indexes WHERE schemaname = 'shop' ORDER BY 1, 2;
SELECT state, wait_event_type, backend_type, datname, usename, application_name <> '', query ~ 'pg_stat' FROM pg_stat_activity WHERE pid = pg_backend_pid();
SELECT count(*) > 100 FROM pg_settings;
SELECT name, setting, unit, context, vartype FROM pg_settings WHERE name IN ('server_version_num', 'max_index_keys', 'block_size', 'max_identifier_length', 'search_path', 'default_transaction_isolation', 'lc_collate', 'server_encoding', 'integer_datetimes') AND name <> 'block_size' AND name <> 'server_version_num' ORDER BY 1;
SELECT current_schemas(false), current_schemas(true), current_catalog, current_user, session_user, current_role, user, pg_is_in_recovery(), pg_my_temp_schema() = 0, inet_server_addr() IS NULL, pg_postmaster_start_time() < now(), txid_current() > 0, pg_current_xact_id_if_assigned() IS NOT NULL;
SELECT has_table_privilege('shop.line', 'SELECT'), has_table_privilege('postgres', 'shop.line', 'INSERT, UPDATE'), has_schema_privilege('shop', 'USAGE'), has_column_privilege('shop.line', 'position', 'SELECT'), has_sequence_privilege('shop.ticket', 'USAGE'), has_function_privilege('lower(text)', 'EXECUTE'), has_any_column_privilege('shop.line', 'SELECT'), pg_has_role('postgres', 'USAGE'), pg_has_role('postgres', 'MEMBER');
SELECT has_table_privilege('nosuch', 'SELECT');
SELECT has_table_privilege('shop.line', 'NOSUCH');
SELECT pg_relation_size('shop.line') > 0, pg_total_relation_size('shop.line') > 0, pg_size_pretty(pg_table_size('shop.line')) <> '', pg_relation_filenode('shop.line') > 0, pg_relation_filepath('shop.line') <> '';
SELECT pg_get_serial_sequence('shop.customer', 'id'), pg_get_serial_sequence('"Odd Names"."Table one"', 'n'), pg_get_serial_sequence('shop.orders', 'id'), to_regclass('shop.nosuch'), to_regclass('shop.line'), to_regtype('int4'), to_regproc('now'), to_regnamespace('shop'), to_regrole('postgres');
SELECT 'shop.line'::regclass::oid = (SELECT oid FROM pg_class WHERE relname = 'line'), 'int4'::regtype::oid, 'now'::regproc::oid, 'lower(text)'::regprocedure::oid, '"Odd Names"'::regnamespace::text, 'postgres'::regrole::oid, 'integer'::regtype, '-'::regclass;
SELECT obj_description('shop.line'::regclass), obj_description('shop.customer'::regclass, 'pg_class'), col_description('shop.customer'::regclass, 5), shobj_description(1, 'pg_database'), obj_description('shop'::regnamespace, 'pg_namespace');
SELECT pg_describe_object('pg_class'::regclass, 'shop.line'::regclass, 0), pg_describe_object('pg_class'::regclass, 'shop.customer'::regclass, 2);
SELECT word, catcode, barelabel, catdesc FROM pg_get_keywords() WHERE word IN ('select', 'abort', 'between', 'left') ORDER BY 1;
SELECT count(*) FROM pg_get_keywords();
SELECT name, abbrev, utc_offset, is_dst FROM pg_timezone_names WHERE name IN ('UTC', 'Asia/Tokyo') ORDER BY 1;
SELECT count(*) FROM pg_stats WHERE schemaname = 'shop' AND tablename = 'customer';
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast WHERE castsource = 'int4'::regtype AND casttarget IN ('int8'::regtype, 'int2'::regtype, 'numeric'::regtype, 'float8'::regtype, 'oid'::regtype, 'bool'::regtype) ORDER BY casttarget::regtype::text;
SELECT oprname, oprleft::regtype, oprright::regtype, oprresult::regtype, oprcode, oprcanhash, oprcanmerge, oprcom::regoper IS NOT NULL AS com FROM pg_operator WHERE oprname = '=' AND oprleft IN ('int4'::regtype, 'text'::regtype, 'numeric'::regtype, 'uuid'::regtype) AND oprright = oprleft ORDER BY oprleft::regtype::text;
SELECT amname, opcname, opcintype::regtype, opcdefault FROM pg_opclass o JOIN pg_am a ON a.oid = o.opcmethod WHERE amname = 'btree' AND opcname IN ('int4_ops', 'text_ops', 'numeric_ops', 'uuid_ops', 'date_ops', 'timestamptz_ops', 'bool_ops', 'bytea_ops', 'array_ops', 'text_pattern_ops') ORDER BY 2;
SELECT aggfnoid::regproc, aggkind, aggtranstype::regtype FROM pg_aggregate WHERE aggfnoid::regproc::text IN ('bool_and', 'every') ORDER BY aggfnoid::regproc::text;
