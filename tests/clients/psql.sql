-- tests/clients/psql.sql - psql's backslash commands; what it prints has to be what it prints on PostgreSQL.
\set QUIET on
\pset pager off
\dn
\dn+
\dt shop.*
\dv shop.*
\ds shop.*
\di shop.*
\d
\dtv public.*
SET search_path = shop, public;
\d
\dtvs
\dt+ nothing*
\d customer
\d product
\d orders
\d line
\d+ customer
\d+ product
\d+ orders
\d+ line
\d order_total
\d+ order_total
\d+ big_order
\d ticket
\d+ ticket
\d customer_id_seq
\d customer_pkey
\d+ customer_by_name
\d+ customer_rich
\d "Odd Names".*
\d+ "Odd Names"."Table one"
\d "Odd Names"."Odd index"
\d+ "Odd Names"."View"
\d every_type
\d+ many_checks
\d no_columns
\d+ shapes
\d+ unions
\d+ windows
\d+ withs
\d nosuch
\dt nosuch
\d (broken
\di line*
\du
\du+
\dg
\df
\df shop.*
\df pg_get_userbyid
\dT
\dT integer
\dT+ pg_catalog.text
\dTS uuid
\dp
\dp shop.*
\z shop.customer
\ddp
\dd
\dd shop.*
\dC uuid
\dC date
\do ~~
\do shop.*
\dA
\dA+
\dAc btree uuid
\dO
\dc
\dD
\dE
\des
\det
\deu
\dew
\dFd shop.*
\dl
\dL
\dm
\dP
\dRp
\dRs
\drds
\dx
\dX
\dy
\db
\l nosuch
\sv order_total
\sv+ big_order
\sv shapes
\sv unions
\sv windows
\sv withs
\sv "Odd Names"."View"
\sv customer
\sf nosuch
\sf lower(text, text)
\echo :ROW_COUNT
\x on
SELECT * FROM customer ORDER BY id;
\d+ product
\x off
SELECT id, name FROM customer WHERE id = 1 \gx
SELECT id, name, credit, since, tags, now() AS "when", 'x' AS lit, NULL, 1 + 1.5 FROM customer \gdesc
SELECT c_bool, c_int2, c_int8, c_numeric_p, c_varchar, c_bpchar, c_char, c_name, c_time_p, c_timestamp_p, c_interval, c_uuid, c_json, c_int4_array FROM every_type \gdesc
INSERT INTO customer (name) VALUES ('new') \gdesc
SELECT 1 + \gdesc
SELECT country, since IS NULL AS unknown, count(*) FROM customer GROUP BY 1, 2 ORDER BY 1, 2 \crosstabview
SELECT customer_id, position, quantity FROM line JOIN orders ON id = order_id ORDER BY 1, 2 \crosstabview customer_id position quantity
CREATE SEQUENCE turns;
SELECT 6 / (3 - nextval('turns')) AS quotient \watch 0.1
DROP SEQUENCE turns;
SELECT id AS first_id, name AS first_name FROM customer ORDER BY id LIMIT 1 \gset got_
\echo :got_first_id :got_first_name
SELECT format('SELECT %L AS made_%s', name, id) FROM customer WHERE id < 3 ORDER BY id \gexec
\set FETCH_COUNT 2
SELECT k, c_text FROM every_type ORDER BY k;
SELECT k / (k - 4) FROM every_type ORDER BY k;
\unset FETCH_COUNT
\set ON_ERROR_ROLLBACK on
BEGIN;
INSERT INTO customer (name) VALUES ('kept');
INSERT INTO customer (name) VALUES ('');
SELECT nosuch;
SELECT count(*) FROM customer;
SAVEPOINT mine;
DELETE FROM customer WHERE name = 'kept';
ROLLBACK TO mine;
RELEASE mine;
SELECT count(*) FROM customer WHERE name = 'kept';
ROLLBACK;
\set ON_ERROR_ROLLBACK off
\copy (SELECT id, name FROM customer ORDER BY id) TO stdout WITH (FORMAT csv, HEADER)
BEGIN;
\copy product (code, title, price) FROM stdin WITH (FORMAT csv)
c1,"one, two",5
c2,"q""q",6.5
\.
SELECT code, title, gross FROM product WHERE code LIKE 'c_' ORDER BY code;
ROLLBACK;
\encoding
\encoding UTF8
\encoding
\errverbose
SELECT * FROM customer WHERE nam = 'x';
\errverbose
INSERT INTO line VALUES (100, 1, 'nut', 5);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
INSERT INTO customer (name, credit) VALUES ('x', -1);
\errverbose
INSERT INTO customer (name) VALUES (NULL);
DELETE FROM product WHERE code = 'nut';
INSERT INTO orders (customer_id) VALUES (77);
\timing off
\pset format csv
SELECT c_date, c_timestamptz, c_interval, c_bytea FROM every_type ORDER BY k;
\pset format html
SELECT id, name FROM customer ORDER BY id LIMIT 1;
\pset format aligned
\pset null '(null)'
SELECT c_float4, c_float8, c_numeric FROM every_type ORDER BY k;
SHOW search_path;
\dconfig search_path
\o /dev/null
\echo to the terminal
\o
SELECT count(*) AS relations FROM pg_class WHERE relnamespace IN ('shop'::regnamespace, 'public'::regnamespace, '"Odd Names"'::regnamespace);
SELECT conname, contype, condeferrable, condeferred, convalidated, array(SELECT unnest(conkey) ORDER BY 1) AS conkey, confkey, confupdtype, confdeltype, confmatchtype FROM pg_constraint WHERE connamespace IN ('shop'::regnamespace, 'public'::regnamespace) ORDER BY 1;
SELECT conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE connamespace IN ('shop'::regnamespace, 'public'::regnamespace) ORDER BY 1;
SELECT c.relname, pg_get_indexdef(c.oid), pg_get_indexdef(c.oid, 0, true), pg_get_indexdef(c.oid, 1, true), pg_get_indexdef(c.oid, 2, false) FROM pg_class c WHERE relkind = 'i' AND relnamespace IN ('shop'::regnamespace, 'public'::regnamespace, '"Odd Names"'::regnamespace) ORDER BY 1;
SELECT adrelid::regclass, adnum, pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) FROM pg_attrdef ORDER BY adrelid::regclass::text, 2;
SELECT c.relname, pg_get_viewdef(c.oid), pg_get_viewdef(c.oid, true) FROM pg_class c WHERE relkind = 'v' AND relnamespace IN ('shop'::regnamespace, 'public'::regnamespace, '"Odd Names"'::regnamespace) ORDER BY 1;
SELECT relname, relkind, relnatts, relchecks, relhasindex, relhasrules, relhastriggers, relpersistence, relreplident, relam FROM pg_class WHERE relnamespace IN ('shop'::regnamespace, 'public'::regnamespace) ORDER BY 1;
SELECT attrelid::regclass, attname, attnum, atttypid::regtype, attlen, attnotnull, atthasdef, attidentity, attgenerated, attstorage, attalign, attbyval, attndims, attcollation, atttypmod, attislocal, attinhcount FROM pg_attribute WHERE attrelid IN ('shop.customer'::regclass, 'every_type'::regclass, 'shop.orders'::regclass, 'shop.big_order'::regclass, 'customer_rich'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, 3;
SELECT indexrelid::regclass, indnatts, indnkeyatts, indisunique, indisprimary, indimmediate, indkey, indoption, indexprs IS NULL AS plain, indpred IS NULL AS whole, indclass, indcollation FROM pg_index WHERE indrelid IN ('shop.customer'::regclass, 'line'::regclass, '"Odd Names"."Table one"'::regclass) ORDER BY indexrelid::regclass::text;
