-- What the planner may not do to a query: compute volatile expressions together, raise errors of rows that nobody asks for, lose rows.
CREATE TABLE t (id int, name text);
INSERT INTO t VALUES (1, 'b'), (2, 'A'), (3, 'c');
CREATE SEQUENCE s;

-- two equal volatile expressions are two
SELECT count(*) FROM (SELECT gen_random_uuid() a, gen_random_uuid() b FROM t ORDER BY lower(name)) q WHERE a = b;
SELECT nextval('s') <> nextval('s') AS differ FROM t ORDER BY id + 0;
SELECT count(*) FROM (SELECT nextval('s') a, nextval('s') b FROM t ORDER BY id + 0) q WHERE a = b;
SELECT nextval('s');
SELECT DISTINCT nextval('s') a, nextval('s') b FROM t WHERE id = 1;
CREATE TABLE p (a bigint, b bigint);
INSERT INTO p SELECT nextval('s'), nextval('s') FROM t ORDER BY id * 2;
SELECT count(*) FROM p WHERE a = b;
SELECT DISTINCT ON (id) id, nextval('s') <> nextval('s') AS differ FROM t ORDER BY id, lower(name);
SELECT count(DISTINCT x) FROM (SELECT unnest(ARRAY[gen_random_uuid(), gen_random_uuid()]) x FROM t ORDER BY 1) q;
SELECT sum(nextval('s')) FILTER (WHERE nextval('s') > 0) <> sum(nextval('s')) FILTER (WHERE nextval('s') > 0) AS differ FROM t;

-- a subquery's aggregate for groups that nobody asks for
CREATE TABLE i (k int, v int, f float8, s text, n numeric(10,2));
INSERT INTO i VALUES (1, 0, 1e308, 'x', 1.5), (1, 0, 1e308, 'y', 2.5), (2, 5, 1, '7', 3.5), (2, 2, 2, '8', 4.5);
CREATE TABLE o (k int, x int);
INSERT INTO o VALUES (2, 1), (2, 8), (3, 1);
SELECT * FROM o WHERE x < (SELECT sum(10 / v) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(v) FROM i WHERE i.k = o.k AND 10 / v > 1) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(v) FILTER (WHERE 10 / v > 1) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(v) FROM i WHERE i.k = o.k AND i.s || 'y' LIKE 'xy\') ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(v) FROM i WHERE i.k = o.k AND i.s LIKE 'x\') ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(f) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(s::int) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT 10 / min(v) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT max(v)::int4 - 2147483647 + 2147483647 FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(n * 2) / min(v) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(i.v / j.v) FROM i JOIN i j ON i.v / j.v > 0 AND i.k = j.k WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE k > 2 AND x < (SELECT sum(10 / v) FROM i WHERE i.k = o.k);
SELECT * FROM o WHERE x < (SELECT 0.2 * avg(n) FROM i WHERE i.k = o.k) ORDER BY 1, 2;
SELECT * FROM o WHERE x < (SELECT sum(v) FROM i WHERE i.k = o.k AND s > 'a') ORDER BY 1, 2;

-- two local times that are one instant (a clock that jumps over the hour)
SET timezone = 'Europe/Berlin';
CREATE TABLE z (l timestamp, v int);
INSERT INTO z VALUES ('2024-03-31 02:30', 1), ('2024-03-31 03:30', 10);
CREATE TABLE y (at timestamptz, x int);
INSERT INTO y VALUES ('2024-03-31 03:30', 5);
SELECT * FROM y WHERE x < (SELECT sum(v) FROM z WHERE z.l = y.at);
SELECT * FROM y WHERE x > (SELECT sum(v) FROM z WHERE z.l = y.at);
RESET timezone;

-- a date past every timestamp
CREATE TABLE e (ts timestamp, d date);
INSERT INTO e VALUES ('2024-01-01', '2024-01-01'), ('2025-01-01', '300000-01-01'), ('infinity', 'infinity');
CREATE INDEX ON e (ts);
ANALYZE e;
SET enable_seqscan = off;
SELECT ts FROM e WHERE ts < date '300000-01-01' ORDER BY 1;
SELECT ts FROM e WHERE ts = date '2024-01-01';
SELECT a.ts, b.d FROM e a JOIN e b ON a.ts < b.d ORDER BY 1, 2;
SELECT ts FROM e WHERE ts IN (date '2024-01-01', date '2025-01-01') ORDER BY 1;
RESET enable_seqscan;

-- infinite bounds of a histogram
CREATE TABLE h (f float8, d timestamp);
INSERT INTO h SELECT CASE WHEN g = 1 THEN float8 '-infinity' WHEN g = 1000 THEN float8 'infinity' ELSE g END, CASE WHEN g = 1 THEN '-infinity' ELSE timestamp '2024-01-01' + g * interval '1 hour' END FROM generate_series(1, 1000) g;
ANALYZE h;
SELECT count(*) FROM h WHERE f < 500;
SELECT count(*) FROM h WHERE d < '2024-01-11';
DROP TABLE t, p, i, o, z, y, e, h;
DROP SEQUENCE s;

-- a row compared with a subquery
CREATE TABLE a (id int, x int, y int);
INSERT INTO a VALUES (1, 1, 2), (2, 2, NULL), (3, NULL, 3), (4, 2, 1);
SELECT id, (x, y) = (SELECT 1, 2) eq, (x, y) <> (SELECT 1, 2) ne, (x, y) < (SELECT 2, 0) lt, (x, y) >= (SELECT b.x, b.y FROM a b WHERE b.id = a.id) ge, (x, y) = (SELECT 1, 2 WHERE false) none FROM a ORDER BY 1;
SELECT id FROM a WHERE (x, y) > (SELECT max(x) - 1, min(y) FROM a b WHERE b.id >= a.id) ORDER BY 1;
SELECT x FROM a GROUP BY x HAVING (x, count(*)) = (SELECT 2, 2);
SELECT (x, y) = (SELECT x, y FROM a) FROM a;
SELECT (x, y) = (SELECT x FROM a) FROM a;
SELECT (x, y) = (SELECT 1, 2, 3) FROM a;
SELECT (x, y) = (SELECT 1, 'b') FROM a;
SELECT id, (x, y) <> ANY (SELECT 2, 1) na, (x, y) <> ALL (SELECT x, y FROM a WHERE id > 3) nl, (x, y) < ANY (SELECT x, y FROM a) lt, (x, y) >= ALL (SELECT x, y FROM a b WHERE b.id = a.id) ge, (x, y) = ALL (SELECT 2, 1 WHERE false) al, (x, y) > ALL (SELECT 1, 1) gt FROM a ORDER BY 1;
SELECT id FROM a WHERE NOT (x, y) <> ALL (SELECT x, y FROM a b WHERE b.id <> 2) ORDER BY 1;
UPDATE a SET x = 9 WHERE (x, y) = (SELECT 1, 2) RETURNING *;
CREATE VIEW compared AS SELECT id FROM a WHERE (x, y) >= (SELECT 1, 2) AND (x, y + 1) IN (SELECT x, y + 1 FROM a WHERE (y, 1) NOT IN (SELECT 7, 7));
SELECT pg_get_viewdef('compared');
SELECT * FROM compared ORDER BY 1;
DROP VIEW compared;

-- a subquery without values from outside is run once, whatever is in it
SELECT count(DISTINCT r) FROM (SELECT (SELECT random()) r FROM a) q;
SELECT count(DISTINCT r) FROM (SELECT (SELECT sum(random()) FROM a) r FROM a) q;
SELECT count(DISTINCT r) FROM (SELECT (SELECT random() WHERE a.id > 0) r FROM a) q;
SELECT count(DISTINCT r) FROM a LEFT JOIN (SELECT random() AS r OFFSET 0) q ON true;
SELECT count(*) IN (0, 4) FROM a WHERE EXISTS (SELECT 1 WHERE random() < 0.5);
SELECT count(*) IN (0, 4) FROM a WHERE 1 = ANY (SELECT (random() * 2)::int);

-- a condition that reads no row is judged before any is made
UPDATE a SET x = 1 WHERE id = 1;
SELECT 1 FROM (SELECT 1 / (x - 1) AS q FROM a OFFSET 0) s WHERE q > 0 AND (SELECT false);
SELECT count(*), sum(q) FROM (SELECT 1 / (x - 1) AS q FROM a OFFSET 0) s WHERE NOT EXISTS (SELECT 1 FROM a);
SELECT id, (SELECT max(q) FROM (SELECT 1 / (b.x - 1) AS q FROM a b OFFSET 0) s WHERE a.x > 99) FROM a ORDER BY id;
SELECT id, (SELECT count(*) FROM a b, a c WHERE a.x = 2 AND b.x >= a.x) FROM a ORDER BY id;
SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM a) OR (SELECT 1 / (count(*) - count(*)) FROM a) = 1;
SELECT count(*) FROM a WHERE (SELECT count(*) FROM a) < 0 AND (SELECT 1 / (count(*) - count(*)) FROM a) = 1;
SELECT count(*) FROM a WHERE (SELECT 1 / (count(*) - count(*)) FROM a) = 1;
PREPARE gated(bool) AS SELECT count(*) FROM (SELECT 1 / (x - 1) AS q FROM a OFFSET 0) s WHERE $1 AND q > 5;
EXECUTE gated(false);
EXECUTE gated(NULL);
EXECUTE gated(true);
DEALLOCATE gated;
SELECT count(*) FROM a GROUP BY () HAVING (SELECT false);
SELECT count(*) BETWEEN 0 AND 4 FROM a WHERE random() < 0.5;

-- columns that are not grouped, in a subquery
SELECT (SELECT count(*) FROM a b WHERE b.id = a.id) FROM a GROUP BY x;
SELECT x FROM a GROUP BY x HAVING EXISTS (SELECT 1 FROM a b WHERE b.id = a.y);
SELECT y, (SELECT 1) FROM a GROUP BY x;
DROP TABLE a;
-- a subquery that stands in two conditions at once
CREATE TABLE bo (id int, k int, v int);
CREATE TABLE bi (k int, v int);
INSERT INTO bo SELECT i, i % 5, i % 3 FROM generate_series(1, 20) i;
INSERT INTO bi SELECT i % 4, i FROM generate_series(1, 12) i;
SELECT id FROM bo WHERE (SELECT sum(bi.v) FROM bi WHERE bi.k = bo.k) BETWEEN 16 AND 20 ORDER BY id;
SELECT id FROM bo WHERE (SELECT max(bi.v) FROM bi WHERE bi.k = bo.k) BETWEEN bo.v AND bo.id ORDER BY id;
SELECT id FROM bo WHERE bo.id BETWEEN (SELECT min(bi.v) FROM bi WHERE bi.k = bo.k) AND (SELECT max(bi.v) FROM bi WHERE bi.k = bo.k) ORDER BY id;
SELECT id FROM bo WHERE (SELECT bool_and(bi.v > 2) FROM bi WHERE bi.k = bo.k) BETWEEN false AND true ORDER BY id;
SELECT id FROM bo WHERE (SELECT sum(bi.v) FROM bi WHERE bi.k = bo.k) NOT BETWEEN 16 AND 20 ORDER BY id;
SELECT id FROM bo WHERE (SELECT sum(bi.v) FROM bi WHERE bi.k = bo.k) BETWEEN SYMMETRIC 20 AND 16 ORDER BY id;
SELECT id FROM bo WHERE ((SELECT sum(bi.v) FROM bi WHERE bi.k = bo.k), id) > (18, 7) ORDER BY id;
SELECT id, CASE (SELECT count(*) FROM bi WHERE bi.k = bo.k) WHEN 3 THEN 'three' WHEN 0 THEN 'none' END FROM bo WHERE id < 6 ORDER BY id;
DROP TABLE bo, bi;
