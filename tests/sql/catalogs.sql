-- What the catalogs and information_schema say of tables; psql commands that read them.
create table t(a int primary key, b varchar(10) not null unique, c numeric(8,2) default 1 check (b <> ''), d timestamptz, e int[]);
create table u(x int references t(a) on delete cascade, y serial);
create view v as select a, b from t;
select table_name, column_name, ordinal_position, column_default, is_nullable, data_type, character_maximum_length, character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, udt_name, is_identity, is_generated from information_schema.columns where table_schema='public' order by 1, 3;
select constraint_name, table_name, constraint_type, is_deferrable from information_schema.table_constraints where table_schema='public' and constraint_name not like '%not_null' order by 2,1;
select constraint_name, table_name, column_name, ordinal_position, position_in_unique_constraint from information_schema.key_column_usage where table_schema='public' order by 1,4;
select constraint_name, unique_constraint_name, match_option, update_rule, delete_rule from information_schema.referential_constraints order by 1;
select table_name, column_name, constraint_name from information_schema.constraint_column_usage where constraint_name like 'u%' order by 1,2,3;
select schema_name from information_schema.schemata where schema_name in ('public','pg_catalog','information_schema') order by 1;
select sequence_name, data_type, start_value, minimum_value, maximum_value, increment, cycle_option from information_schema.sequences where sequence_schema = 'public';
select schemaname, tablename, hasindexes, hastriggers from pg_tables where schemaname = 'public' order by 2;
select relname, relkind, relnatts, relchecks, relhasindex, relhastriggers from pg_class where relnamespace = 'public'::regnamespace order by 1;
select attname, atttypid::regtype, attnum, attnotnull, atthasdef, atttypmod, attlen, attbyval, attalign, attstorage, attcollation from pg_attribute where attrelid = 't'::regclass and attnum > 0 order by attnum;
select indkey, indoption, indisunique, indnatts, indclass, indcollation from pg_index where indrelid = 't'::regclass order by indexrelid::regclass::text;
select 't'::regclass, 'public.t'::regclass::oid = 't'::regclass::oid, 'int4'::regtype, 'integer[]'::regtype, to_regclass('nosuch'), 'pg_class'::regclass;
select 'nosuch'::regclass;
select pg_get_serial_sequence('u','y'), pg_get_serial_sequence('u','x');
select pg_table_is_visible('t'::regclass), pg_get_userbyid(10), pg_encoding_to_char(6), has_table_privilege('t','select');
select count(*) from pg_settings where name in ('work_mem','search_path');
select name, enumvals from pg_settings where name in ('plan_cache_mode','transaction_isolation','xmloption','work_mem') order by name;
select current_setting('nosuch');
select typname, typlen, typbyval, typtype, typcategory, typdelim, typarray, typalign, typstorage, typcollation from pg_type where typname in ('int4','text','numeric','timestamptz','bool','name','varchar','uuid','date','float8','int8','oid','bpchar','bytea','_int4') order by 1;
select amname, amtype from pg_am where amname in ('heap','btree') order by 1;
select datname, encoding, datcollate from pg_database where datname = 'postgres';
select * from pg_inherits;
select extname from pg_extension where extname <> 'plpgsql';
select classid::regclass, refclassid::regclass, refobjsubid, deptype from pg_depend where objid = 'u_y_seq'::regclass and deptype = 'a';
select d.description from pg_description d where objoid = 't'::regclass;
select pg_typeof(1), pg_typeof('x'::text), format_type(1043, 14), format_type(23, null);
\dD
\dp
\dRp
\drds
\det
\dE
\dm
\dX
\dP
\dew
\des
\deu
\z t
\d+ u
\dv
\ds
\di
set client_min_messages = error;
drop schema public cascade;
create schema public;
