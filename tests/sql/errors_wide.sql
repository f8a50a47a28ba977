-- what people get wrong, one line each, with the SQLSTATE behind it: names, arguments, places, values, syntax, ranges
CREATE TABLE dept (id int PRIMARY KEY, name varchar(10) NOT NULL, budget numeric(8,2) CHECK (budget >= 0), opened date, code char(3) UNIQUE) \g \echo :SQLSTATE
CREATE TABLE emp (id int PRIMARY KEY, dept_id int REFERENCES dept, first_name text, salary numeric(10,2), hired timestamp, active boolean DEFAULT true, tags text[], score float8, level smallint, big bigint) \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'sales', 100, '2020-01-01', 'abc'), (2, 'tech', 200, '2021-01-01', 'def') \g \echo :SQLSTATE
INSERT INTO emp VALUES (1, 1, 'Ann', 10.5, '2022-01-01 10:00', true, '{a,b}', 1.5, 1, 10), (2, 2, 'Bob', 20.5, NULL, false, NULL, NULL, NULL, NULL) \g \echo :SQLSTATE
CREATE VIEW staff AS SELECT e.id, e.first_name, d.name AS dept FROM emp e JOIN dept d ON d.id = e.dept_id \g \echo :SQLSTATE
CREATE SEQUENCE numbers \g \echo :SQLSTATE
-- unknown and ambiguous names
SELECT firstname FROM emp \g \echo :SQLSTATE
SELECT first_nam FROM emp \g \echo :SQLSTATE
SELECT emp.firstname FROM emp \g \echo :SQLSTATE
SELECT e.firstname FROM emp e \g \echo :SQLSTATE
SELECT emp.first_name FROM emp e \g \echo :SQLSTATE
SELECT d.name FROM emp e \g \echo :SQLSTATE
SELECT name FROM emp, dept, dept d2 \g \echo :SQLSTATE
SELECT id FROM emp JOIN dept ON emp.dept_id = dept.id \g \echo :SQLSTATE
SELECT count(id) FROM emp JOIN dept ON true \g \echo :SQLSTATE
SELECT * FROM emp WHERE id IN (SELECT id FROM dept d1, dept d2) \g \echo :SQLSTATE
SELECT * FROM emp ORDER BY nothing \g \echo :SQLSTATE
SELECT * FROM emp ORDER BY e.id \g \echo :SQLSTATE
SELECT * FROM emp GROUP BY nothing \g \echo :SQLSTATE
SELECT count(*) FROM emp GROUP BY dept \g \echo :SQLSTATE
SELECT count(*) FROM emp HAVING dept = 1 \g \echo :SQLSTATE
SELECT staff.salary FROM staff \g \echo :SQLSTATE
SELECT depts FROM staff \g \echo :SQLSTATE
SELECT * FROM stuff \g \echo :SQLSTATE
SELECT * FROM public.stuff \g \echo :SQLSTATE
SELECT * FROM pg_catalog.stuff \g \echo :SQLSTATE
SELECT * FROM nowhere.emp \g \echo :SQLSTATE
SELECT * FROM otherdb.public.emp \g \echo :SQLSTATE
SELECT * FROM emp e JOIN dept e ON true \g \echo :SQLSTATE
SELECT * FROM emp, emp \g \echo :SQLSTATE
SELECT emp.* FROM dept \g \echo :SQLSTATE
SELECT x.* FROM emp e \g \echo :SQLSTATE
SELECT nowhere.emp.* FROM emp \g \echo :SQLSTATE
SELECT *  \g \echo :SQLSTATE
SELECT emp FROM dept \g \echo :SQLSTATE
SELECT (emp).nothing FROM emp \g \echo :SQLSTATE
SELECT e.id.x FROM emp e \g \echo :SQLSTATE
SELECT * FROM emp CROSS JOIN dept WHERE nam = 'x' \g \echo :SQLSTATE
SELECT * FROM emp NATURAL JOIN dept d (dept_id, first_name, dept_id) \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept USING (dept_id) \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept USING (id, id) \g \echo :SQLSTATE
SELECT * FROM emp a JOIN emp b USING (id) JOIN emp c USING (first_name) \g \echo :SQLSTATE
SELECT * FROM emp JOIN (SELECT 1 AS id, 2 AS id) x USING (id) \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept ON dept.id = e.dept_id \g \echo :SQLSTATE
SELECT * FROM emp e JOIN dept d ON d.id = x.id \g \echo :SQLSTATE
SELECT * FROM (SELECT id FROM emp) s WHERE first_name = 'x' \g \echo :SQLSTATE
SELECT s.first_name FROM (SELECT id FROM emp) s \g \echo :SQLSTATE
SELECT id FROM (SELECT e.id, d.id FROM emp e, dept d) s \g \echo :SQLSTATE
SELECT * FROM emp e, (SELECT * FROM dept WHERE dept.id = e.dept_id) d \g \echo :SQLSTATE
SELECT * FROM emp e RIGHT JOIN LATERAL (SELECT * FROM dept WHERE dept.id = e.dept_id) d ON true \g \echo :SQLSTATE
SELECT * FROM emp e FULL JOIN LATERAL (SELECT e.id) d ON true \g \echo :SQLSTATE
SELECT * FROM dept d, emp e JOIN emp f ON d.id = f.id \g \echo :SQLSTATE
SELECT * FROM generate_series(1, emp.id) g, emp \g \echo :SQLSTATE
WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a \g \echo :SQLSTATE
WITH a AS (SELECT 1 AS x) SELECT y FROM a \g \echo :SQLSTATE
WITH a AS (SELECT 1 AS x) SELECT a.y FROM a \g \echo :SQLSTATE
WITH a AS (SELECT 1), b AS (SELECT 2), a AS (SELECT 3) SELECT 1 \g \echo :SQLSTATE
WITH a (x, y, z) AS (SELECT 1, 2) SELECT * FROM a \g \echo :SQLSTATE
WITH a AS (INSERT INTO dept VALUES (3, 'x')) SELECT * FROM a \g \echo :SQLSTATE
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT m + 1 FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t AS (SELECT n FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t AS (SELECT n FROM t UNION ALL SELECT 1) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t t1, t t2) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT max(n) + 1 FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM emp LEFT JOIN t ON emp.id = t.n) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t RIGHT JOIN emp ON emp.id = t.n) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t FULL JOIN emp ON emp.id = t.n) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT id FROM emp WHERE id IN (SELECT n FROM t)) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 EXCEPT SELECT n + 1 FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 INTERSECT SELECT n + 1 FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL (SELECT n + 1 FROM t EXCEPT SELECT n FROM t)) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t ORDER BY 1) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 5) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t OFFSET 1) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT 'x' FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT 1.5 FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (VALUES (1) UNION ALL SELECT n::bigint FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1, 2 UNION ALL SELECT n FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT (SELECT n FROM t)) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT sum(n) OVER () FROM t) SELECT * FROM t \g \echo :SQLSTATE
WITH RECURSIVE t (n) AS (SELECT 'a' UNION ALL SELECT n || 'b' FROM t WHERE length(n) < 3) SELECT * FROM t \g \echo :SQLSTATE
-- functions
SELECT nothing() \g \echo :SQLSTATE
SELECT nothing(1, 'x', NULL) \g \echo :SQLSTATE
SELECT nothing(id, first_name) FROM emp \g \echo :SQLSTATE
SELECT lower(1) \g \echo :SQLSTATE
SELECT lower(id) FROM emp \g \echo :SQLSTATE
SELECT lower('a', 'b') \g \echo :SQLSTATE
SELECT lower() \g \echo :SQLSTATE
SELECT lower(DISTINCT 'a') \g \echo :SQLSTATE
SELECT lower(*) \g \echo :SQLSTATE
SELECT upper(salary) FROM emp \g \echo :SQLSTATE
SELECT substring(1 FROM 2) \g \echo :SQLSTATE
SELECT substring('abc' FROM 'x' FOR 'y' FOR 'z') \g \echo :SQLSTATE
SELECT position(1 IN 'x') \g \echo :SQLSTATE
SELECT trim(1) \g \echo :SQLSTATE
SELECT trim(BOTH 1 FROM 'x') \g \echo :SQLSTATE
SELECT overlay('abc' PLACING 1 FROM 1) \g \echo :SQLSTATE
SELECT extract(foo FROM now()) \g \echo :SQLSTATE
SELECT extract(year FROM 1) \g \echo :SQLSTATE
SELECT extract(hour FROM date '2020-01-01') \g \echo :SQLSTATE
SELECT date_part('foo', timestamp '2020-01-01') \g \echo :SQLSTATE
SELECT date_trunc('foo', timestamp '2020-01-01') \g \echo :SQLSTATE
SELECT to_char(1) \g \echo :SQLSTATE
SELECT to_char('x', 'y') \g \echo :SQLSTATE
SELECT to_number('x', '9') \g \echo :SQLSTATE
SELECT to_date('x', 'YYYY') \g \echo :SQLSTATE
SELECT to_timestamp('2020-99-01', 'YYYY-MM-DD') \g \echo :SQLSTATE
SELECT round('x', 1) \g \echo :SQLSTATE
SELECT round(1.5, 'x') \g \echo :SQLSTATE
SELECT round(score, 2) FROM emp \g \echo :SQLSTATE
SELECT mod(1.5, 'x') \g \echo :SQLSTATE
SELECT mod(score, 2) FROM emp \g \echo :SQLSTATE
SELECT power('x', 2) \g \echo :SQLSTATE
SELECT abs('x') \g \echo :SQLSTATE
SELECT abs(true) \g \echo :SQLSTATE
SELECT greatest(1, 'x') \g \echo :SQLSTATE
SELECT least(1, true) \g \echo :SQLSTATE
SELECT coalesce(1, 'x') \g \echo :SQLSTATE
SELECT coalesce(1, now()) \g \echo :SQLSTATE
SELECT nullif(1, 'x') \g \echo :SQLSTATE
SELECT nullif(1, true) \g \echo :SQLSTATE
SELECT concat() \g \echo :SQLSTATE
SELECT string_agg(first_name) FROM emp \g \echo :SQLSTATE
SELECT string_agg(id, ',') FROM emp \g \echo :SQLSTATE
SELECT string_agg(DISTINCT first_name, ',' ORDER BY id) FROM emp \g \echo :SQLSTATE
SELECT array_agg() FROM emp \g \echo :SQLSTATE
SELECT array_length(1, 1) \g \echo :SQLSTATE
SELECT array_append(1, 2) \g \echo :SQLSTATE
SELECT array_append(ARRAY[1], 'x') \g \echo :SQLSTATE
SELECT array_append(ARRAY[1], true) \g \echo :SQLSTATE
SELECT unnest(tags, tags) FROM emp \g \echo :SQLSTATE
SELECT generate_series('a', 'b') \g \echo :SQLSTATE
SELECT generate_series(1) \g \echo :SQLSTATE
SELECT generate_series(1, 2, 3, 4) \g \echo :SQLSTATE
SELECT generate_series(now(), now()) \g \echo :SQLSTATE
SELECT generate_series(1, 10, 0) \g \echo :SQLSTATE
SELECT nextval('nothing') \g \echo :SQLSTATE
SELECT nextval('emp') \g \echo :SQLSTATE
SELECT currval('numbers') \g \echo :SQLSTATE
SELECT lastval() \g \echo :SQLSTATE
SELECT setval('numbers', 0) \g \echo :SQLSTATE
SELECT setval('numbers', 'x') \g \echo :SQLSTATE
SELECT pg_sleep('x') \g \echo :SQLSTATE
SELECT split_part('a', 'b', 0) \g \echo :SQLSTATE
SELECT repeat('x', 'y') \g \echo :SQLSTATE
SELECT lpad('x', 'y') \g \echo :SQLSTATE
SELECT chr(0) \g \echo :SQLSTATE
SELECT chr(1114112) \g \echo :SQLSTATE
SELECT ascii(1) \g \echo :SQLSTATE
SELECT regexp_replace('x', '(', 'y') \g \echo :SQLSTATE
SELECT regexp_match('x', '[') \g \echo :SQLSTATE
SELECT 'x' ~ '*' \g \echo :SQLSTATE
SELECT 'x' ~ 'a{2,1}' \g \echo :SQLSTATE
SELECT 'x' SIMILAR TO '(' \g \echo :SQLSTATE
SELECT 'x' LIKE 'y' ESCAPE 'zz' \g \echo :SQLSTATE
SELECT encode('x', 'y') \g \echo :SQLSTATE
SELECT decode('x', 'hex') \g \echo :SQLSTATE
SELECT decode('abc', 'hex') \g \echo :SQLSTATE
SELECT decode('!', 'base64') \g \echo :SQLSTATE
SELECT md5(1) \g \echo :SQLSTATE
SELECT make_date(2020, 2, 30) \g \echo :SQLSTATE
SELECT make_timestamp(2020, 13, 1, 0, 0, 0) \g \echo :SQLSTATE
SELECT now('x') \g \echo :SQLSTATE
SELECT width_bucket(5, 1, 10, 0) \g \echo :SQLSTATE
SELECT width_bucket(5, 1, 1, 10) \g \echo :SQLSTATE
SELECT factorial(-5) \g \echo :SQLSTATE
SELECT gcd('x', 1) \g \echo :SQLSTATE
SELECT sqrt(-2::numeric) \g \echo :SQLSTATE
SELECT ln(0::numeric) \g \echo :SQLSTATE
SELECT log(-1) \g \echo :SQLSTATE
SELECT asin(2) \g \echo :SQLSTATE
SELECT acos(-2) \g \echo :SQLSTATE
SELECT exp(100000) \g \echo :SQLSTATE
SELECT power(0, -1) \g \echo :SQLSTATE
SELECT (-1) ^ 0.5 \g \echo :SQLSTATE
SELECT 2 ^ 100000 \g \echo :SQLSTATE
SELECT current_setting('nothing.here') \g \echo :SQLSTATE
SELECT current_setting('nothing') \g \echo :SQLSTATE
SELECT set_config('nothing', 'x', false) \g \echo :SQLSTATE
SELECT set_config('work_mem', 'x', false) \g \echo :SQLSTATE
SELECT has_table_privilege('nothing', 'select') \g \echo :SQLSTATE
SELECT 'nothing'::regclass \g \echo :SQLSTATE
SELECT 'nothing'::regtype \g \echo :SQLSTATE
SELECT 'nothing'::regproc \g \echo :SQLSTATE
SELECT 'int4pl'::regproc \g \echo :SQLSTATE
SELECT 'abs'::regproc \g \echo :SQLSTATE
SELECT pg_typeof() \g \echo :SQLSTATE
SELECT pg_relation_size('nothing') \g \echo :SQLSTATE
SELECT txid_current(1) \g \echo :SQLSTATE
-- operators
SELECT 1 + true \g \echo :SQLSTATE
SELECT 'x' + 1 \g \echo :SQLSTATE
SELECT first_name + 1 FROM emp \g \echo :SQLSTATE
SELECT first_name + first_name FROM emp \g \echo :SQLSTATE
SELECT hired + hired FROM emp \g \echo :SQLSTATE
SELECT hired * 2 FROM emp \g \echo :SQLSTATE
SELECT date '2020-01-01' + 'x' \g \echo :SQLSTATE
SELECT date '2020-01-01' + 1.5 \g \echo :SQLSTATE
SELECT date '2020-01-01' - true \g \echo :SQLSTATE
SELECT interval '1 day' + 1 \g \echo :SQLSTATE
SELECT interval '1 day' * interval '1 day' \g \echo :SQLSTATE
SELECT time '10:00' + time '11:00' \g \echo :SQLSTATE
SELECT 1 || 2 \g \echo :SQLSTATE
SELECT true || false \g \echo :SQLSTATE
SELECT 1 <@ 2 \g \echo :SQLSTATE
SELECT 1 ## 2 \g \echo :SQLSTATE
SELECT 1 @@ 2 \g \echo :SQLSTATE
SELECT @ 'x' \g \echo :SQLSTATE
SELECT !! 5 \g \echo :SQLSTATE
SELECT 5 ! \g \echo :SQLSTATE
SELECT ~ 1.5 \g \echo :SQLSTATE
SELECT 1.5 & 2 \g \echo :SQLSTATE
SELECT 1 << 'x' \g \echo :SQLSTATE
SELECT |/ 'x' \g \echo :SQLSTATE
SELECT - 'x' \g \echo :SQLSTATE
SELECT - true \g \echo :SQLSTATE
SELECT NOT 1 \g \echo :SQLSTATE
SELECT NOT 'x' \g \echo :SQLSTATE
SELECT 1 AND true \g \echo :SQLSTATE
SELECT true OR 'x' \g \echo :SQLSTATE
SELECT 1 = true \g \echo :SQLSTATE
SELECT first_name = 1 FROM emp \g \echo :SQLSTATE
SELECT first_name = hired FROM emp \g \echo :SQLSTATE
SELECT id = first_name FROM emp \g \echo :SQLSTATE
SELECT active > 1 FROM emp \g \echo :SQLSTATE
SELECT tags = 'x' FROM emp \g \echo :SQLSTATE
SELECT tags = ARRAY[1] FROM emp \g \echo :SQLSTATE
SELECT id < ALL (ARRAY['x']) FROM emp \g \echo :SQLSTATE
SELECT id = ANY (1) FROM emp \g \echo :SQLSTATE
SELECT id = ANY (tags) FROM emp \g \echo :SQLSTATE
SELECT id = SOME (SELECT first_name FROM emp) FROM emp \g \echo :SQLSTATE
SELECT id > ALL (SELECT id, id FROM emp) FROM emp \g \echo :SQLSTATE
SELECT id IN (1, 'x', 2) FROM emp \g \echo :SQLSTATE
SELECT id IN (1, true) FROM emp \g \echo :SQLSTATE
SELECT first_name IN (1, 2) FROM emp \g \echo :SQLSTATE
SELECT id IN () FROM emp \g \echo :SQLSTATE
SELECT (id, id) IN ((1, 2), (1, 2, 3)) FROM emp \g \echo :SQLSTATE
SELECT (id, id) = (1, 2, 3) FROM emp \g \echo :SQLSTATE
SELECT (id, id) = (SELECT 1) FROM emp \g \echo :SQLSTATE
SELECT (1, 2) < (1, 'x') \g \echo :SQLSTATE
SELECT ROW(1, 2) = ROW(1, true) \g \echo :SQLSTATE
SELECT id BETWEEN 1 AND 'x' FROM emp \g \echo :SQLSTATE
SELECT id BETWEEN SYMMETRIC 'a' AND 2 FROM emp \g \echo :SQLSTATE
SELECT first_name BETWEEN 1 AND 2 FROM emp \g \echo :SQLSTATE
SELECT id LIKE '1%' FROM emp \g \echo :SQLSTATE
SELECT first_name LIKE 1 FROM emp \g \echo :SQLSTATE
SELECT id IS TRUE FROM emp \g \echo :SQLSTATE
SELECT first_name IS NOT FALSE FROM emp \g \echo :SQLSTATE
SELECT id IS DISTINCT FROM 'x' FROM emp \g \echo :SQLSTATE
SELECT id COLLATE "C" FROM emp \g \echo :SQLSTATE
SELECT first_name COLLATE "nothing" FROM emp \g \echo :SQLSTATE
SELECT first_name AT TIME ZONE 'UTC' FROM emp \g \echo :SQLSTATE
SELECT hired AT TIME ZONE 'Nowhere/Land' FROM emp \g \echo :SQLSTATE
SELECT hired AT TIME ZONE 1 FROM emp \g \echo :SQLSTATE
SELECT ARRAY[1, 'x'] \g \echo :SQLSTATE
SELECT ARRAY[1, NULL, true] \g \echo :SQLSTATE
SELECT ARRAY[] \g \echo :SQLSTATE
SELECT ARRAY[[1, 2], [3]] \g \echo :SQLSTATE
SELECT ARRAY[1, 2]['x'] \g \echo :SQLSTATE
SELECT (1)[1] \g \echo :SQLSTATE
SELECT id[1] FROM emp \g \echo :SQLSTATE
SELECT first_name[1] FROM emp \g \echo :SQLSTATE
SELECT tags[1:'x'] FROM emp \g \echo :SQLSTATE
SELECT OPERATOR(pg_catalog.+) 'x' \g \echo :SQLSTATE
-- literals and casts
SELECT '1x'::int \g \echo :SQLSTATE
SELECT ''::int \g \echo :SQLSTATE
SELECT '1.5'::int \g \echo :SQLSTATE
SELECT 'x'::numeric \g \echo :SQLSTATE
SELECT 'x'::float8 \g \echo :SQLSTATE
SELECT 'x'::bool \g \echo :SQLSTATE
SELECT 'x'::date \g \echo :SQLSTATE
SELECT '2020-02-30'::date \g \echo :SQLSTATE
SELECT '2020-13-01'::date \g \echo :SQLSTATE
SELECT '10:99'::time \g \echo :SQLSTATE
SELECT '25:00'::time \g \echo :SQLSTATE
SELECT 'x'::timestamp \g \echo :SQLSTATE
SELECT '2020-01-01 25:00'::timestamp \g \echo :SQLSTATE
SELECT '2020-01-01 10:00 Nowhere/Land'::timestamptz \g \echo :SQLSTATE
SELECT '1 foo'::interval \g \echo :SQLSTATE
SELECT 'x'::interval \g \echo :SQLSTATE
SELECT 'x'::uuid \g \echo :SQLSTATE
SELECT '{'::int[] \g \echo :SQLSTATE
SELECT '{1,2'::int[] \g \echo :SQLSTATE
SELECT '{1,x}'::int[] \g \echo :SQLSTATE
SELECT '{{1},{2,3}}'::int[] \g \echo :SQLSTATE
SELECT '1,2'::int[] \g \echo :SQLSTATE
SELECT 'x'::nothing \g \echo :SQLSTATE
SELECT 'x'::public.nothing \g \echo :SQLSTATE
SELECT CAST('x' AS nothing) \g \echo :SQLSTATE
SELECT nothing 'x' \g \echo :SQLSTATE
SELECT CAST(1 AS date) \g \echo :SQLSTATE
SELECT CAST(true AS numeric) \g \echo :SQLSTATE
SELECT CAST(now() AS int) \g \echo :SQLSTATE
SELECT CAST(ARRAY[1] AS int) \g \echo :SQLSTATE
SELECT CAST(1 AS int[]) \g \echo :SQLSTATE
SELECT 1::interval \g \echo :SQLSTATE
SELECT first_name::int FROM emp \g \echo :SQLSTATE
SELECT salary::boolean FROM emp \g \echo :SQLSTATE
SELECT active::date FROM emp \g \echo :SQLSTATE
SELECT hired::numeric FROM emp \g \echo :SQLSTATE
SELECT tags::int FROM emp \g \echo :SQLSTATE
SELECT tags::int[] FROM emp \g \echo :SQLSTATE
SELECT 300::"char" \g \echo :SQLSTATE
SELECT 'abc'::varchar(0) \g \echo :SQLSTATE
SELECT 'abc'::char(-1) \g \echo :SQLSTATE
SELECT 1::numeric(0) \g \echo :SQLSTATE
SELECT 1::numeric(1001) \g \echo :SQLSTATE
SELECT 1::numeric(5, 2, 1) \g \echo :SQLSTATE
SELECT 1::int(4) \g \echo :SQLSTATE
SELECT 1::float(0) \g \echo :SQLSTATE
SELECT 1::float(54) \g \echo :SQLSTATE
SELECT now()::timestamp(x) \g \echo :SQLSTATE
SELECT 'x'::text(5) \g \echo :SQLSTATE
SELECT 123456::numeric(4, 1) \g \echo :SQLSTATE
SELECT 'NaN'::int \g \echo :SQLSTATE
SELECT 'infinity'::numeric::int \g \echo :SQLSTATE
SELECT 'inf'::float8::bigint \g \echo :SQLSTATE
SELECT "" \g \echo :SQLSTATE
SELECT 1 AS "" \g \echo :SQLSTATE
SELECT B'2' \g \echo :SQLSTATE
SELECT X'zz' \g \echo :SQLSTATE
SELECT 0xzz \g \echo :SQLSTATE
SELECT 1_000 \g \echo :SQLSTATE
SELECT 1.2.3 \g \echo :SQLSTATE
SELECT 1e400 \g \echo :SQLSTATE
SELECT 1e400::float8 \g \echo :SQLSTATE
SELECT 1e \g \echo :SQLSTATE
SELECT 12ab \g \echo :SQLSTATE
SELECT $0 \g \echo :SQLSTATE
SELECT $1 \g \echo :SQLSTATE
SELECT $1::int + $2 \g \echo :SQLSTATE
SELECT @x \g \echo :SQLSTATE
SELECT #1 \g \echo :SQLSTATE
SELECT `x` \g \echo :SQLSTATE
SELECT {x} \g \echo :SQLSTATE
SELECT [1] \g \echo :SQLSTATE
SELECT 1 ? 2 \g \echo :SQLSTATE
SELECT 'a' 'b' \g \echo :SQLSTATE
-- aggregates and windows where they may not be
SELECT * FROM emp WHERE sum(salary) > 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id = max(id) \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept ON sum(emp.id) = 1 \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept ON rank() OVER () = 1 \g \echo :SQLSTATE
SELECT max(id) FROM emp GROUP BY max(id) \g \echo :SQLSTATE
SELECT max(id) AS m FROM emp GROUP BY m \g \echo :SQLSTATE
SELECT id, max(id) FROM emp GROUP BY 2 \g \echo :SQLSTATE
SELECT max(min(id)) FROM emp \g \echo :SQLSTATE
SELECT max(id + count(*)) FROM emp \g \echo :SQLSTATE
SELECT sum(sum(id) OVER ()) FROM emp \g \echo :SQLSTATE
SELECT sum(id) OVER (PARTITION BY rank() OVER ()) FROM emp \g \echo :SQLSTATE
SELECT max(id) FILTER (WHERE max(id) > 1) FROM emp \g \echo :SQLSTATE
SELECT max(id) FILTER (WHERE rank() OVER () > 1) FROM emp \g \echo :SQLSTATE
SELECT max(id) FILTER (WHERE id) FROM emp \g \echo :SQLSTATE
SELECT lower(first_name) FILTER (WHERE true) FROM emp \g \echo :SQLSTATE
SELECT rank() FILTER (WHERE true) OVER () FROM emp \g \echo :SQLSTATE
SELECT max(DISTINCT id, id) FROM emp \g \echo :SQLSTATE
SELECT count(DISTINCT id, first_name) FROM emp \g \echo :SQLSTATE
SELECT max(id ORDER BY nothing) FROM emp \g \echo :SQLSTATE
SELECT max(DISTINCT id ORDER BY first_name) FROM emp \g \echo :SQLSTATE
SELECT max(*) FROM emp \g \echo :SQLSTATE
SELECT count() FROM emp \g \echo :SQLSTATE
SELECT count(id, id) FROM emp \g \echo :SQLSTATE
SELECT rank() FROM emp \g \echo :SQLSTATE
SELECT row_number() FROM emp WHERE true \g \echo :SQLSTATE
SELECT nothing() OVER () FROM emp \g \echo :SQLSTATE
SELECT lower(first_name) OVER () FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER nothing FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER w FROM emp WINDOW w AS (ORDER BY id), w AS (ORDER BY id) \g \echo :SQLSTATE
SELECT max(id) OVER (w ORDER BY id) FROM emp WINDOW w AS (ORDER BY id) \g \echo :SQLSTATE
SELECT max(id) OVER (w PARTITION BY id) FROM emp WINDOW w AS (ORDER BY id) \g \echo :SQLSTATE
SELECT max(id) OVER (w) FROM emp WINDOW w AS (ORDER BY id ROWS 1 PRECEDING) \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS UNBOUNDED FOLLOWING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS 'x' PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS 1.5 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS -1 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS NULL PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (RANGE 1 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id RANGE 'x' PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY hired RANGE 1 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id RANGE -1 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (GROUPS 1 PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER BY id ROWS id PRECEDING) FROM emp \g \echo :SQLSTATE
SELECT max(DISTINCT id) OVER () FROM emp \g \echo :SQLSTATE
SELECT max(id ORDER BY id) OVER () FROM emp \g \echo :SQLSTATE
SELECT * FROM emp WHERE row_number() OVER () = 1 \g \echo :SQLSTATE
SELECT * FROM emp ORDER BY max(id) \g \echo :SQLSTATE
SELECT id FROM emp ORDER BY count(*) \g \echo :SQLSTATE
SELECT id, count(*) FROM emp \g \echo :SQLSTATE
SELECT e.id, count(*) FROM emp e \g \echo :SQLSTATE
SELECT first_name, max(id) FROM emp GROUP BY salary \g \echo :SQLSTATE
SELECT lower(first_name), max(id) FROM emp GROUP BY salary \g \echo :SQLSTATE
SELECT salary + id FROM emp GROUP BY salary \g \echo :SQLSTATE
SELECT * FROM emp GROUP BY dept_id \g \echo :SQLSTATE
SELECT dept_id FROM emp GROUP BY dept_id HAVING salary > 1 \g \echo :SQLSTATE
SELECT dept_id FROM emp GROUP BY dept_id ORDER BY salary \g \echo :SQLSTATE
SELECT dept_id, (SELECT e.salary) FROM emp e GROUP BY dept_id \g \echo :SQLSTATE
SELECT dept_id, (SELECT max(x.id + e.salary) FROM dept x) FROM emp e GROUP BY dept_id \g \echo :SQLSTATE
SELECT first_name FROM emp HAVING count(*) > 1 \g \echo :SQLSTATE
SELECT dept_id, rank() OVER (ORDER BY salary) FROM emp GROUP BY dept_id \g \echo :SQLSTATE
SELECT GROUPING(id) FROM emp \g \echo :SQLSTATE
SELECT GROUPING(salary) FROM emp GROUP BY dept_id \g \echo :SQLSTATE
SELECT dept_id FROM emp GROUP BY ROLLUP (dept_id, nothing) \g \echo :SQLSTATE
SELECT salary FROM emp GROUP BY GROUPING SETS ((dept_id), ()) \g \echo :SQLSTATE
SELECT * FROM emp LIMIT max(1) \g \echo :SQLSTATE
SELECT * FROM emp LIMIT id \g \echo :SQLSTATE
SELECT * FROM emp LIMIT 'x' \g \echo :SQLSTATE
SELECT * FROM emp LIMIT -5 \g \echo :SQLSTATE
SELECT * FROM emp OFFSET -5 \g \echo :SQLSTATE
SELECT * FROM emp LIMIT true \g \echo :SQLSTATE
SELECT * FROM emp FETCH FIRST 'x' ROWS ONLY \g \echo :SQLSTATE
SELECT * FROM emp FETCH FIRST 1 ROW WITH TIES \g \echo :SQLSTATE
SELECT * FROM emp LIMIT 1 LIMIT 2 \g \echo :SQLSTATE
SELECT * FROM emp ORDER BY id ORDER BY id \g \echo :SQLSTATE
SELECT generate_series(1, max(id)) FROM emp WHERE generate_series(1, 2) = 1 \g \echo :SQLSTATE
SELECT sum(generate_series(1, 3)) FROM emp \g \echo :SQLSTATE
SELECT CASE WHEN true THEN generate_series(1, 3) END \g \echo :SQLSTATE
SELECT coalesce(generate_series(1, 3), 1) \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept ON generate_series(1, 2) = 1 \g \echo :SQLSTATE
SELECT * FROM emp LIMIT generate_series(1, 2) \g \echo :SQLSTATE
UPDATE emp SET id = generate_series(1, 2) \g \echo :SQLSTATE
UPDATE emp SET salary = max(salary) \g \echo :SQLSTATE
UPDATE emp SET salary = rank() OVER () \g \echo :SQLSTATE
UPDATE emp SET salary = 1 WHERE max(id) = 1 \g \echo :SQLSTATE
DELETE FROM emp WHERE count(*) = 1 \g \echo :SQLSTATE
DELETE FROM emp WHERE rank() OVER () = 1 \g \echo :SQLSTATE
INSERT INTO dept (id, name) VALUES (max(1), 'x') \g \echo :SQLSTATE
INSERT INTO dept (id, name) VALUES (rank() OVER (), 'x') \g \echo :SQLSTATE
DELETE FROM emp RETURNING max(id) \g \echo :SQLSTATE
INSERT INTO dept (id, name) VALUES (3, 'x') RETURNING count(*) \g \echo :SQLSTATE
SELECT * FROM dept d, LATERAL (SELECT max(d.id)) x \g \echo :SQLSTATE
SELECT * FROM generate_series(1, max(1)) \g \echo :SQLSTATE
SELECT percentile_cont(0.5) FROM emp \g \echo :SQLSTATE
-- statements
INSERT INTO dept VALUES (1) \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'dup') \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, NULL) \g \echo :SQLSTATE
INSERT INTO dept VALUES (9) \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'a name that is too long') \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'x', -1) \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'x', 12345678) \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'x', 1, '2020-01-01', 'toolong') \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'x', 1, '2020-01-01', 'abc') \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'x', 1, '2020-01-01', 'ghi', 'more') \g \echo :SQLSTATE
INSERT INTO dept VALUES ('x', 'y') \g \echo :SQLSTATE
INSERT INTO dept VALUES (true, 'y') \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'y', 'z') \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'y', 1, 5) \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, 'y'), (10) \g \echo :SQLSTATE
INSERT INTO dept (id, nme) VALUES (9, 'x') \g \echo :SQLSTATE
INSERT INTO dept (id, name, id) VALUES (9, 'x', 9) \g \echo :SQLSTATE
INSERT INTO dept (id, name) VALUES (9) \g \echo :SQLSTATE
INSERT INTO dept (id) VALUES (9, 'x') \g \echo :SQLSTATE
INSERT INTO dept (id, name) SELECT 9 \g \echo :SQLSTATE
INSERT INTO dept (id) SELECT 9, 'x' \g \echo :SQLSTATE
INSERT INTO dept (id, name) SELECT 'x', 'y' \g \echo :SQLSTATE
INSERT INTO dept (id, name) SELECT first_name, 'y' FROM emp \g \echo :SQLSTATE
INSERT INTO dept (dept.id) VALUES (1) \g \echo :SQLSTATE
INSERT INTO nothing VALUES (1) \g \echo :SQLSTATE
INSERT INTO nowhere.dept VALUES (1) \g \echo :SQLSTATE
INSERT INTO staff VALUES (1) \g \echo :SQLSTATE
INSERT INTO numbers VALUES (1) \g \echo :SQLSTATE
INSERT INTO emp (id, dept_id) VALUES (9, 99) \g \echo :SQLSTATE
INSERT INTO emp (id, level) VALUES (9, 40000) \g \echo :SQLSTATE
INSERT INTO emp (id, tags) VALUES (9, 'x') \g \echo :SQLSTATE
INSERT INTO emp (id, active) VALUES (9, 'perhaps') \g \echo :SQLSTATE
INSERT INTO emp (id, hired) VALUES (9, 'soon') \g \echo :SQLSTATE
INSERT INTO emp (id, big) VALUES (9, 1e19) \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x') ON CONFLICT (name) DO NOTHING \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x') ON CONFLICT DO UPDATE SET name = 'y' \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x') ON CONFLICT ON CONSTRAINT nothing DO NOTHING \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET nothing = 1 \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = name \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.nothing \g \echo :SQLSTATE
INSERT INTO dept VALUES (1, 'x'), (1, 'y') ON CONFLICT (id) DO UPDATE SET name = 'z' \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, DEFAULT) \g \echo :SQLSTATE
INSERT INTO dept VALUES (9, DEFAULT || 'x') \g \echo :SQLSTATE
SELECT DEFAULT \g \echo :SQLSTATE
UPDATE nothing SET a = 1 \g \echo :SQLSTATE
UPDATE emp SET nothing = 1 \g \echo :SQLSTATE
UPDATE emp SET emp.id = 1 \g \echo :SQLSTATE
UPDATE emp SET id = 1, id = 2 \g \echo :SQLSTATE
UPDATE emp SET (id, salary) = (1) \g \echo :SQLSTATE
UPDATE emp SET (id, salary) = (1, 2, 3) \g \echo :SQLSTATE
UPDATE emp SET (id, salary) = (SELECT 1) \g \echo :SQLSTATE
UPDATE emp SET (id, salary) = 1 \g \echo :SQLSTATE
UPDATE emp SET id = 'x' \g \echo :SQLSTATE
UPDATE emp SET id = NULL \g \echo :SQLSTATE
UPDATE emp SET id = true \g \echo :SQLSTATE
UPDATE emp SET id = 2 WHERE id = 1 \g \echo :SQLSTATE
UPDATE emp SET level = 100000 \g \echo :SQLSTATE
UPDATE emp SET salary = 1e10 \g \echo :SQLSTATE
UPDATE emp SET dept_id = 77 \g \echo :SQLSTATE
UPDATE emp SET id = 1 WHERE nothing = 1 \g \echo :SQLSTATE
UPDATE emp SET id = 1 WHERE id \g \echo :SQLSTATE
UPDATE emp e SET id = 1 FROM emp e \g \echo :SQLSTATE
UPDATE emp SET id = 1 RETURNING nothing \g \echo :SQLSTATE
UPDATE dept SET name = 'a name that is too long' \g \echo :SQLSTATE
UPDATE dept SET budget = -1 WHERE id = 1 \g \echo :SQLSTATE
UPDATE dept SET id = 5 WHERE id = 1 \g \echo :SQLSTATE
UPDATE staff SET dept = 'x' \g \echo :SQLSTATE
DELETE FROM nothing \g \echo :SQLSTATE
DELETE FROM emp WHERE nothing = 1 \g \echo :SQLSTATE
DELETE FROM emp WHERE id \g \echo :SQLSTATE
DELETE FROM emp WHERE id = 'x' \g \echo :SQLSTATE
DELETE FROM dept WHERE id = 1 \g \echo :SQLSTATE
DELETE FROM emp USING nothing \g \echo :SQLSTATE
DELETE FROM emp e USING dept WHERE emp.id = 1 \g \echo :SQLSTATE
DELETE FROM staff \g \echo :SQLSTATE
DELETE FROM numbers \g \echo :SQLSTATE
DELETE emp \g \echo :SQLSTATE
TRUNCATE nothing \g \echo :SQLSTATE
TRUNCATE dept \g \echo :SQLSTATE
TRUNCATE staff \g \echo :SQLSTATE
CREATE TABLE emp (a int) \g \echo :SQLSTATE
CREATE TABLE nowhere.x (a int) \g \echo :SQLSTATE
CREATE TABLE bad () \g \echo :SQLSTATE
DROP TABLE bad \g \echo :SQLSTATE
CREATE TABLE bad (a) \g \echo :SQLSTATE
CREATE TABLE bad (a int b) \g \echo :SQLSTATE
CREATE TABLE bad (a int, a int) \g \echo :SQLSTATE
CREATE TABLE bad (a nothing) \g \echo :SQLSTATE
CREATE TABLE bad (a int PRIMARY KEY, PRIMARY KEY (a)) \g \echo :SQLSTATE
CREATE TABLE bad (a int, PRIMARY KEY (b)) \g \echo :SQLSTATE
CREATE TABLE bad (a int, UNIQUE (b)) \g \echo :SQLSTATE
CREATE TABLE bad (a int, UNIQUE (a, a)) \g \echo :SQLSTATE
CREATE TABLE bad (a int, PRIMARY KEY (a, a)) \g \echo :SQLSTATE
CREATE TABLE bad (a int NULL NOT NULL) \g \echo :SQLSTATE
CREATE TABLE bad (a int DEFAULT 1 DEFAULT 2) \g \echo :SQLSTATE
CREATE TABLE bad (a int DEFAULT 'x') \g \echo :SQLSTATE
CREATE TABLE bad (a int DEFAULT (SELECT 1)) \g \echo :SQLSTATE
CREATE TABLE bad (a int DEFAULT a) \g \echo :SQLSTATE
CREATE TABLE bad (a int DEFAULT true) \g \echo :SQLSTATE
CREATE TABLE bad (a int CHECK (b > 1)) \g \echo :SQLSTATE
CREATE TABLE bad (a int CHECK (a)) \g \echo :SQLSTATE
CREATE TABLE bad (a int CHECK (a IN (SELECT 1))) \g \echo :SQLSTATE
CREATE TABLE bad (a int CHECK (max(a) > 1)) \g \echo :SQLSTATE
CREATE TABLE bad (a int CHECK (rank() OVER () > 1)) \g \echo :SQLSTATE
CREATE TABLE bad (a int CHECK (a > 'x')) \g \echo :SQLSTATE
CREATE TABLE bad (a int REFERENCES nothing) \g \echo :SQLSTATE
CREATE TABLE bad (a int REFERENCES dept (nothing)) \g \echo :SQLSTATE
CREATE TABLE bad (a int REFERENCES dept (budget)) \g \echo :SQLSTATE
CREATE TABLE bad (a text REFERENCES dept (id)) \g \echo :SQLSTATE
CREATE TABLE bad (a int, FOREIGN KEY (b) REFERENCES dept) \g \echo :SQLSTATE
CREATE TABLE bad (a int, b int, FOREIGN KEY (a, b) REFERENCES dept) \g \echo :SQLSTATE
CREATE TABLE bad (a int REFERENCES staff) \g \echo :SQLSTATE
CREATE TABLE bad (a int GENERATED ALWAYS AS (b + 1) STORED) \g \echo :SQLSTATE
CREATE TABLE bad (a int GENERATED ALWAYS AS (a + 1) STORED) \g \echo :SQLSTATE
CREATE TABLE bad (a int GENERATED ALWAYS AS (random()) STORED) \g \echo :SQLSTATE
CREATE TABLE bad (a text GENERATED ALWAYS AS IDENTITY) \g \echo :SQLSTATE
CREATE TABLE bad (a varchar(0)) \g \echo :SQLSTATE
CREATE TABLE bad (a numeric(2000)) \g \echo :SQLSTATE
CREATE TABLE bad (a int[x]) \g \echo :SQLSTATE
CREATE TABLE bad (LIKE nothing) \g \echo :SQLSTATE
CREATE TABLE bad AS SELECT nothing \g \echo :SQLSTATE
CREATE TABLE bad AS SELECT 1 AS a, 2 AS a \g \echo :SQLSTATE
CREATE TABLE bad (a, b) AS SELECT 1 \g \echo :SQLSTATE
CREATE TABLE bad (x, y, z) AS SELECT 1, 2 \g \echo :SQLSTATE
CREATE TABLE bad AS SELECT emp.*, 1 AS id FROM emp \g \echo :SQLSTATE
CREATE VIEW bad AS SELECT nothing \g \echo :SQLSTATE
CREATE VIEW bad AS SELECT 1, 2 \g \echo :SQLSTATE
CREATE VIEW bad (a, b, c) AS SELECT 1, 2 \g \echo :SQLSTATE
CREATE VIEW emp AS SELECT 1 \g \echo :SQLSTATE
CREATE OR REPLACE VIEW staff AS SELECT 1 AS x \g \echo :SQLSTATE
CREATE OR REPLACE VIEW staff AS SELECT 'x'::text AS id, 'y'::text AS first_name, 'z'::varchar(10) AS dept \g \echo :SQLSTATE
CREATE OR REPLACE VIEW staff AS SELECT id FROM emp \g \echo :SQLSTATE
CREATE OR REPLACE VIEW emp AS SELECT 1 \g \echo :SQLSTATE
CREATE INDEX ON nothing (a) \g \echo :SQLSTATE
CREATE INDEX ON emp (nothing) \g \echo :SQLSTATE
CREATE INDEX ON emp ((nothing + 1)) \g \echo :SQLSTATE
CREATE INDEX ON emp ((max(id))) \g \echo :SQLSTATE
CREATE INDEX ON emp ((random())) \g \echo :SQLSTATE
CREATE INDEX ON emp (id) WHERE nothing \g \echo :SQLSTATE
CREATE INDEX ON staff (id) \g \echo :SQLSTATE
CREATE INDEX ON emp USING nothing (id) \g \echo :SQLSTATE
CREATE INDEX emp_pkey ON emp (id) \g \echo :SQLSTATE
CREATE SEQUENCE numbers \g \echo :SQLSTATE
CREATE SEQUENCE s2 INCREMENT 0 \g \echo :SQLSTATE
CREATE SEQUENCE s2 MINVALUE 10 MAXVALUE 5 \g \echo :SQLSTATE
CREATE SEQUENCE s2 START 0 MINVALUE 1 \g \echo :SQLSTATE
CREATE SEQUENCE s2 AS text \g \echo :SQLSTATE
CREATE SCHEMA public \g \echo :SQLSTATE
CREATE SCHEMA pg_mine \g \echo :SQLSTATE
ALTER TABLE nothing ADD a int \g \echo :SQLSTATE
ALTER TABLE emp ADD id int \g \echo :SQLSTATE
ALTER TABLE emp ADD nothing2 nothing \g \echo :SQLSTATE
ALTER TABLE emp ADD must int NOT NULL \g \echo :SQLSTATE
ALTER TABLE emp DROP nothing \g \echo :SQLSTATE
ALTER TABLE dept DROP id \g \echo :SQLSTATE
ALTER TABLE emp RENAME nothing TO x \g \echo :SQLSTATE
ALTER TABLE emp RENAME id TO first_name \g \echo :SQLSTATE
ALTER TABLE emp RENAME TO dept \g \echo :SQLSTATE
ALTER TABLE emp ALTER nothing SET DEFAULT 1 \g \echo :SQLSTATE
ALTER TABLE emp ALTER salary SET NOT NULL \g \echo :SQLSTATE
ALTER TABLE emp ALTER score SET NOT NULL \g \echo :SQLSTATE
ALTER TABLE emp ALTER score TYPE date \g \echo :SQLSTATE
ALTER TABLE emp ALTER first_name TYPE int USING first_name::int \g \echo :SQLSTATE
ALTER TABLE emp ADD CONSTRAINT emp_pkey CHECK (id > 0) \g \echo :SQLSTATE
ALTER TABLE emp ADD CHECK (id > 1) \g \echo :SQLSTATE
ALTER TABLE emp ADD PRIMARY KEY (first_name) \g \echo :SQLSTATE
ALTER TABLE emp ADD UNIQUE (nothing) \g \echo :SQLSTATE
ALTER TABLE emp ADD FOREIGN KEY (id) REFERENCES nothing \g \echo :SQLSTATE
ALTER TABLE emp ADD FOREIGN KEY (first_name) REFERENCES dept (id) \g \echo :SQLSTATE
ALTER TABLE emp DROP CONSTRAINT nothing \g \echo :SQLSTATE
ALTER TABLE dept DROP CONSTRAINT dept_pkey \g \echo :SQLSTATE
ALTER VIEW nothing RENAME TO x \g \echo :SQLSTATE
ALTER SEQUENCE nothing RESTART \g \echo :SQLSTATE
ALTER SEQUENCE numbers INCREMENT 0 \g \echo :SQLSTATE
DROP TABLE nothing \g \echo :SQLSTATE
DROP TABLE dept \g \echo :SQLSTATE
DROP TABLE staff \g \echo :SQLSTATE
DROP TABLE emp, nothing \g \echo :SQLSTATE
DROP VIEW emp \g \echo :SQLSTATE
DROP VIEW nothing \g \echo :SQLSTATE
DROP INDEX nothing \g \echo :SQLSTATE
DROP INDEX emp \g \echo :SQLSTATE
DROP INDEX emp_pkey \g \echo :SQLSTATE
DROP SEQUENCE nothing \g \echo :SQLSTATE
DROP SEQUENCE emp \g \echo :SQLSTATE
DROP SCHEMA nothing \g \echo :SQLSTATE
DROP TABLE nowhere.emp \g \echo :SQLSTATE
-- syntax
SELCT 1 \g \echo :SQLSTATE
SELECT FROM emp WHERE \g \echo :SQLSTATE
SELECT * FORM emp \g \echo :SQLSTATE
SELECT * FROM emp WHER id = 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id =  \g \echo :SQLSTATE
SELECT * FROM emp WHERE id == 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id = 1 AND \g \echo :SQLSTATE
SELECT * FROM emp WHERE AND id = 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id IS 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id NOT 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id IN 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id BETWEEN 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE NOT \g \echo :SQLSTATE
SELECT * FROM emp WHERE (id = 1 \g \echo :SQLSTATE
SELECT * FROM emp WHERE id = 1) \g \echo :SQLSTATE
SELECT * FROM emp GROUP id \g \echo :SQLSTATE
SELECT * FROM emp ORDER id \g \echo :SQLSTATE
SELECT * FROM emp ORDER BY \g \echo :SQLSTATE
SELECT * FROM emp ORDER BY id ASC DESC \g \echo :SQLSTATE
SELECT * FROM emp LIMIT \g \echo :SQLSTATE
SELECT * FROM emp HAVING \g \echo :SQLSTATE
SELECT * FROM emp,  \g \echo :SQLSTATE
SELECT * FROM , emp \g \echo :SQLSTATE
SELECT * FROM emp JOIN \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept ON \g \echo :SQLSTATE
SELECT * FROM emp JOIN dept USING id \g \echo :SQLSTATE
SELECT * FROM emp LEFT dept ON true \g \echo :SQLSTATE
SELECT * FROM emp NATURAL JOIN dept ON true \g \echo :SQLSTATE
SELECT * FROM emp CROSS JOIN dept ON true \g \echo :SQLSTATE
SELECT * FROM emp FULL OUTER dept \g \echo :SQLSTATE
SELECT * FROM (SELECT 1) \g \echo :SQLSTATE
SELECT * FROM (VALUES (1)) \g \echo :SQLSTATE
SELECT * FROM (emp) \g \echo :SQLSTATE
SELECT * FROM emp AS \g \echo :SQLSTATE
SELECT * FROM emp AS 1 \g \echo :SQLSTATE
SELECT id AS FROM emp \g \echo :SQLSTATE
SELECT id AS 1 FROM emp \g \echo :SQLSTATE
SELECT id id2 id3 FROM emp \g \echo :SQLSTATE
SELECT id, FROM emp \g \echo :SQLSTATE
SELECT , id FROM emp \g \echo :SQLSTATE
SELECT id name, FROM emp \g \echo :SQLSTATE
SELECT DISTINCT ON id FROM emp \g \echo :SQLSTATE
SELECT DISTINCT ON (id) * FROM emp ORDER BY first_name \g \echo :SQLSTATE
SELECT ALL DISTINCT id FROM emp \g \echo :SQLSTATE
SELECT CASE \g \echo :SQLSTATE
SELECT CASE WHEN true \g \echo :SQLSTATE
SELECT CASE WHEN true THEN 1 \g \echo :SQLSTATE
SELECT CASE WHEN true THEN END \g \echo :SQLSTATE
SELECT CASE ELSE 1 END \g \echo :SQLSTATE
SELECT CASE true THEN 1 END \g \echo :SQLSTATE
SELECT CAST(1) \g \echo :SQLSTATE
SELECT CAST(1 AS) \g \echo :SQLSTATE
SELECT 1:: \g \echo :SQLSTATE
SELECT ::int \g \echo :SQLSTATE
SELECT count( \g \echo :SQLSTATE
SELECT count(* \g \echo :SQLSTATE
SELECT count(* FROM emp \g \echo :SQLSTATE
SELECT count(id,) FROM emp \g \echo :SQLSTATE
SELECT count(ALL) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (PARTITION id) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ORDER id) FROM emp \g \echo :SQLSTATE
SELECT max(id) OVER (ROWS) FROM emp \g \echo :SQLSTATE
SELECT max(id) FILTER (id > 1) FROM emp \g \echo :SQLSTATE
SELECT EXISTS 1 \g \echo :SQLSTATE
SELECT EXISTS (1) \g \echo :SQLSTATE
SELECT (SELECT) \g \echo :SQLSTATE
SELECT (SELECT 1, 2) \g \echo :SQLSTATE
SELECT (SELECT id FROM emp) \g \echo :SQLSTATE
SELECT ARRAY(SELECT 1, 2) \g \echo :SQLSTATE
SELECT ARRAY(1, 2) \g \echo :SQLSTATE
SELECT ROW \g \echo :SQLSTATE
SELECT interval \g \echo :SQLSTATE
SELECT interval 'x' foo \g \echo :SQLSTATE
SELECT date \g \echo :SQLSTATE
SELECT user() \g \echo :SQLSTATE
SELECT current_date() \g \echo :SQLSTATE
SELECT select \g \echo :SQLSTATE
SELECT table \g \echo :SQLSTATE
SELECT order FROM emp \g \echo :SQLSTATE
SELECT emp.order FROM emp \g \echo :SQLSTATE
SELECT 1 UNION \g \echo :SQLSTATE
SELECT 1 UNION ALL \g \echo :SQLSTATE
SELECT 1 UNION 2 \g \echo :SQLSTATE
SELECT 1 UNION SELECT 1, 2 \g \echo :SQLSTATE
SELECT 1, 2 UNION SELECT 1 \g \echo :SQLSTATE
SELECT 1 UNION SELECT 'x' \g \echo :SQLSTATE
SELECT 1 UNION SELECT true \g \echo :SQLSTATE
SELECT 'x' UNION SELECT 1 \g \echo :SQLSTATE
SELECT id FROM emp UNION SELECT first_name FROM emp \g \echo :SQLSTATE
SELECT id FROM emp UNION SELECT id FROM dept ORDER BY nothing \g \echo :SQLSTATE
SELECT id FROM emp UNION SELECT id FROM dept ORDER BY emp.id \g \echo :SQLSTATE
SELECT id FROM emp UNION SELECT id FROM dept ORDER BY id + 1 \g \echo :SQLSTATE
SELECT id FROM emp ORDER BY id UNION SELECT id FROM dept \g \echo :SQLSTATE
SELECT id FROM emp LIMIT 1 UNION SELECT id FROM dept \g \echo :SQLSTATE
SELECT id FROM emp INTERSECT SELECT tags FROM emp \g \echo :SQLSTATE
SELECT id FROM emp EXCEPT ALL SELECT active FROM emp \g \echo :SQLSTATE
SELECT 1 UNION SELECT 2 FOR UPDATE \g \echo :SQLSTATE
SELECT count(*) FROM emp FOR UPDATE \g \echo :SQLSTATE
SELECT DISTINCT id FROM emp FOR UPDATE \g \echo :SQLSTATE
SELECT id FROM emp GROUP BY id FOR UPDATE \g \echo :SQLSTATE
SELECT id FROM emp FOR UPDATE OF nothing \g \echo :SQLSTATE
SELECT id FROM emp e FOR UPDATE OF emp \g \echo :SQLSTATE
SELECT 1 FOR UPDATE OF emp \g \echo :SQLSTATE
VALUES \g \echo :SQLSTATE
VALUES (1), (1, 2) \g \echo :SQLSTATE
VALUES (1), ('x') \g \echo :SQLSTATE
VALUES (1), (true) \g \echo :SQLSTATE
VALUES () \g \echo :SQLSTATE
VALUES (DEFAULT) \g \echo :SQLSTATE
TABLE nothing \g \echo :SQLSTATE
WITH SELECT 1 \g \echo :SQLSTATE
WITH a SELECT 1 \g \echo :SQLSTATE
WITH a AS SELECT 1 \g \echo :SQLSTATE
WITH a AS (SELECT 1) \g \echo :SQLSTATE
WITH a AS (SELECT 1) a \g \echo :SQLSTATE
INSERT emp VALUES (1) \g \echo :SQLSTATE
INSERT INTO emp \g \echo :SQLSTATE
INSERT INTO emp id VALUES (1) \g \echo :SQLSTATE
INSERT INTO emp () VALUES (1) \g \echo :SQLSTATE
INSERT INTO emp VALUES 1 \g \echo :SQLSTATE
INSERT INTO emp VALUES (1 \g \echo :SQLSTATE
INSERT INTO emp SET id = 1 \g \echo :SQLSTATE
UPDATE emp \g \echo :SQLSTATE
UPDATE emp SET \g \echo :SQLSTATE
UPDATE emp SET id \g \echo :SQLSTATE
UPDATE emp SET id =  \g \echo :SQLSTATE
UPDATE emp SET id = 1, \g \echo :SQLSTATE
UPDATE emp SET id = 1 WHERE \g \echo :SQLSTATE
UPDATE SET id = 1 \g \echo :SQLSTATE
DELETE \g \echo :SQLSTATE
DELETE FROM \g \echo :SQLSTATE
DELETE FROM emp id = 1 \g \echo :SQLSTATE
DELETE * FROM emp \g \echo :SQLSTATE
CREATE \g \echo :SQLSTATE
CREATE TABLE x \g \echo :SQLSTATE
CREATE TABLE x ( \g \echo :SQLSTATE
CREATE TABLE x (a int \g \echo :SQLSTATE
CREATE TABLE x (a int,) \g \echo :SQLSTATE
CREATE TABLE x (a int,, b int) \g \echo :SQLSTATE
CREATE TABLE x (int) \g \echo :SQLSTATE
CREATE TABLE x (a int PRIMARY) \g \echo :SQLSTATE
CREATE TABLE x (a int DEFAULT) \g \echo :SQLSTATE
CREATE TABLE x (a int CHECK a > 1) \g \echo :SQLSTATE
CREATE TABLE x (a int REFERENCES) \g \echo :SQLSTATE
CREATE TABLE x (PRIMARY KEY a) \g \echo :SQLSTATE
CREATE TABLE (a int) \g \echo :SQLSTATE
CREATE TABLE select (a int) \g \echo :SQLSTATE
CREATE INDEX \g \echo :SQLSTATE
CREATE INDEX ON emp \g \echo :SQLSTATE
CREATE INDEX ON emp () \g \echo :SQLSTATE
CREATE INDEX x emp (id) \g \echo :SQLSTATE
CREATE VIEW x \g \echo :SQLSTATE
CREATE VIEW x AS \g \echo :SQLSTATE
CREATE VIEW x AS 1 \g \echo :SQLSTATE
CREATE nothing x \g \echo :SQLSTATE
DROP emp \g \echo :SQLSTATE
DROP TABLE \g \echo :SQLSTATE
DROP TABLE IF emp \g \echo :SQLSTATE
ALTER emp \g \echo :SQLSTATE
ALTER TABLE emp \g \echo :SQLSTATE
ALTER TABLE emp ADD \g \echo :SQLSTATE
ALTER TABLE emp DROP \g \echo :SQLSTATE
ALTER TABLE emp nothing \g \echo :SQLSTATE
SET \g \echo :SQLSTATE
SET x \g \echo :SQLSTATE
SET work_mem \g \echo :SQLSTATE
SET work_mem =  \g \echo :SQLSTATE
SET work_mem = 'x' \g \echo :SQLSTATE
SET work_mem = 1 \g \echo :SQLSTATE
SET work_mem TO '1 parsec' \g \echo :SQLSTATE
SET enable_seqscan = maybe \g \echo :SQLSTATE
SET nothing = 1 \g \echo :SQLSTATE
SET TIME ZONE 'Nowhere/Land' \g \echo :SQLSTATE
SET max_parallel_workers_per_gather = 5000 \g \echo :SQLSTATE
SET max_parallel_workers_per_gather = 99999999999 \g \echo :SQLSTATE
SET shared_buffers = '1GB' \g \echo :SQLSTATE
SET server_version = '1' \g \echo :SQLSTATE
SET search_path = nowhere \g \echo :SQLSTATE
RESET search_path \g \echo :SQLSTATE
RESET nothing \g \echo :SQLSTATE
SHOW nothing \g \echo :SQLSTATE
BEGIN nothing \g \echo :SQLSTATE
COMMIT 1 \g \echo :SQLSTATE
SAVEPOINT a \g \echo :SQLSTATE
RELEASE a \g \echo :SQLSTATE
ROLLBACK TO a \g \echo :SQLSTATE
PREPARE TRANSACTION \g \echo :SQLSTATE
PREPARE p AS nothing \g \echo :SQLSTATE
PREPARE p AS SELECT nothing \g \echo :SQLSTATE
PREPARE p (int) AS SELECT $2 \g \echo :SQLSTATE
PREPARE p (nothing) AS SELECT $1 \g \echo :SQLSTATE
PREPARE p (int) AS SELECT $1 \g \echo :SQLSTATE
PREPARE p (int) AS SELECT $1 \g \echo :SQLSTATE
EXECUTE p \g \echo :SQLSTATE
EXECUTE p (1, 2) \g \echo :SQLSTATE
EXECUTE p ('x') \g \echo :SQLSTATE
EXECUTE p (true) \g \echo :SQLSTATE
EXECUTE p (nothing) \g \echo :SQLSTATE
EXECUTE p ((SELECT 1)) \g \echo :SQLSTATE
EXECUTE p (max(1)) \g \echo :SQLSTATE
EXECUTE nothing \g \echo :SQLSTATE
DEALLOCATE nothing \g \echo :SQLSTATE
DEALLOCATE p \g \echo :SQLSTATE
DECLARE c CURSOR FOR SELECT 1 \g \echo :SQLSTATE
FETCH c \g \echo :SQLSTATE
CLOSE c \g \echo :SQLSTATE
EXPLAIN \g \echo :SQLSTATE
EXPLAIN nothing \g \echo :SQLSTATE
EXPLAIN (nothing) SELECT 1 \g \echo :SQLSTATE
EXPLAIN (analyze maybe) SELECT 1 \g \echo :SQLSTATE
EXPLAIN (format nothing) SELECT 1 \g \echo :SQLSTATE
EXPLAIN (timing) SELECT 1 \g \echo :SQLSTATE
EXPLAIN (wal) SELECT 1 \g \echo :SQLSTATE
EXPLAIN ANALYZE SELECT 1 / 0 \g \echo :SQLSTATE
EXPLAIN SELECT nothing \g \echo :SQLSTATE
EXPLAIN EXECUTE nothing \g \echo :SQLSTATE
VACUUM nothing \g \echo :SQLSTATE
ANALYZE nothing \g \echo :SQLSTATE
ANALYZE emp (nothing) \g \echo :SQLSTATE
VACUUM (nothing) emp \g \echo :SQLSTATE
LOCK nothing \g \echo :SQLSTATE
LOCK emp IN nothing MODE \g \echo :SQLSTATE
COPY emp FROM '/nowhere/at/all' \g \echo :SQLSTATE
COMMENT ON TABLE nothing IS 'x' \g \echo :SQLSTATE
COMMENT ON COLUMN emp.nothing IS 'x' \g \echo :SQLSTATE
LISTEN \g \echo :SQLSTATE
-- numbers out of range
SELECT 2147483647 + 1 \g \echo :SQLSTATE
SELECT -2147483648 - 1 \g \echo :SQLSTATE
SELECT 2147483647 * 2 \g \echo :SQLSTATE
SELECT 9223372036854775807 + 1 \g \echo :SQLSTATE
SELECT -9223372036854775808 - 1 \g \echo :SQLSTATE
SELECT 9223372036854775807 * 2 \g \echo :SQLSTATE
SELECT 32767::int2 + 1::int2 \g \echo :SQLSTATE
SELECT (-32768)::int2 / (-1)::int2 \g \echo :SQLSTATE
SELECT -((-32768)::int2) \g \echo :SQLSTATE
SELECT 1::int2 - 32767::int2 - 32767::int2 \g \echo :SQLSTATE
SELECT 100000::int2 \g \echo :SQLSTATE
SELECT 1e10::int \g \echo :SQLSTATE
SELECT 1e30::bigint \g \echo :SQLSTATE
SELECT 1e10::float4::int2 \g \echo :SQLSTATE
SELECT 1e40::float4 \g \echo :SQLSTATE
SELECT 1e-50::float4 \g \echo :SQLSTATE
SELECT '1e400'::float8 \g \echo :SQLSTATE
SELECT '1e-400'::float8 \g \echo :SQLSTATE
SELECT 1e300::float8 * 1e300::float8 \g \echo :SQLSTATE
SELECT 1e-300::float8 * 1e-300::float8 \g \echo :SQLSTATE
SELECT 1e300::float8 / 1e-300::float8 \g \echo :SQLSTATE
SELECT 1 / 0 \g \echo :SQLSTATE
SELECT 1 % 0 \g \echo :SQLSTATE
SELECT 1.0 / 0 \g \echo :SQLSTATE
SELECT 1.0 % 0 \g \echo :SQLSTATE
SELECT 1::float8 / 0::float8 \g \echo :SQLSTATE
SELECT div(1, 0) \g \echo :SQLSTATE
SELECT mod(1, 0) \g \echo :SQLSTATE
SELECT 1e131072 \g \echo :SQLSTATE
SELECT 10::numeric ^ 200000 \g \echo :SQLSTATE
SELECT sum(x) FROM (VALUES (9223372036854775807::bigint), (1)) v (x) \g \echo :SQLSTATE
SELECT sum(big + 9223372036854775807) FROM emp \g \echo :SQLSTATE
SELECT avg(x::int) FROM (VALUES ('1'), ('y')) v (x) \g \echo :SQLSTATE
SELECT interval '2147483647 months' + interval '1 month' \g \echo :SQLSTATE
SELECT date '5874897-12-31' + 1 \g \echo :SQLSTATE
SELECT timestamp '294276-12-31' + interval '1 day' \g \echo :SQLSTATE
SELECT '4714-01-01 BC'::date \g \echo :SQLSTATE
SELECT to_char(1e100, '999') \g \echo :SQLSTATE
SELECT repeat('x', 1500000000) \g \echo :SQLSTATE
SELECT 1 << 64 \g \echo :SQLSTATE
SELECT 1::bigint << 100 \g \echo :SQLSTATE
SELECT bit_length(1) \g \echo :SQLSTATE
DROP VIEW staff \g \echo :SQLSTATE
DROP TABLE emp, dept \g \echo :SQLSTATE
DROP SEQUENCE numbers \g \echo :SQLSTATE
