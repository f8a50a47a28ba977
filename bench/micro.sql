-- bench/micro.sql - single-table statements, for bench/compare. $ROWS rows in $DATA (see generate.c); $LAST = $ROWS - 10, $HALF = $ROWS / 2.
-- "At least" and "far mark" are for five million rows and one worker; the far mark is what DuckDB reaches over PostgreSQL. "maps": once pages were read,
-- Crabtree answers from what it noted of them.
CREATE TABLE t (id bigint PRIMARY KEY, a int, b int, f float8, s text);
COPY t FROM '$DATA';
VACUUM ANALYZE t;
-- @ count(*) | 30 | 240 | maps
SELECT count(*) FROM t;
-- @ filter, a % 7 = 3 | 8 | 13
SELECT count(*) FROM t WHERE a % 7 = 3;
-- @ filter, LIKE | 2.5 | 2.8
SELECT count(*) FROM t WHERE s LIKE '%abc%';
-- @ aggregates over a half | 10 | 14
SELECT sum(a), avg(f), min(b), max(b) FROM t WHERE b < $HALF;
-- @ group by, 12, integer | 10 | 12
SELECT a % 12, count(*), sum(b), avg(f) FROM t GROUP BY a % 12 ORDER BY 1;
-- @ group by, 12, text | 6 | 11
SELECT substr(s, 1, 3), count(*), sum(b) FROM t GROUP BY substr(s, 1, 3) ORDER BY 1;
-- @ group by, 100,000 | 10 | 17
SELECT count(*), sum(c), max(x) FROM (SELECT a, count(*) AS c, sum(f) AS x FROM t GROUP BY a) g;
-- @ count(distinct), 100,000 | 10 | 15
SELECT count(DISTINCT a) FROM t;
-- @ count(distinct), most rows | 2 | 1.8
SELECT count(DISTINCT b) FROM t;
-- @ order by limit 10 | 15 | 42
SELECT id, f FROM t ORDER BY f LIMIT 10;
-- @ full sort, 2 columns | 3 | 4.4
SELECT id, f FROM t ORDER BY f LIMIT 10 OFFSET $LAST;
-- @ full sort, all columns | 2 | 2.8
SELECT * FROM t ORDER BY f LIMIT 10 OFFSET $LAST;
-- @ full sort by text | 5 | 7.9
SELECT id, s FROM t ORDER BY s LIMIT 10 OFFSET $LAST;
-- @ self-join | 4 | 5.6
SELECT count(*), sum(x.f) FROM t x JOIN t y ON x.id = y.b;
-- @ self-join, a tenth | 5 | 7.8
SELECT count(*), sum(x.f) FROM t x JOIN t y ON x.id = y.b WHERE x.a < 10000;
-- @ create index | 2 | 0.9
-- @check SELECT count(*), sum(a) FROM t WHERE b BETWEEN 1000 AND 1100
-- @after DROP INDEX t_b
CREATE INDEX t_b ON t (b);
CREATE TABLE c (id bigint PRIMARY KEY, a int, b int, f float8, s text);
-- @ COPY in | 2.5 | 1.5
-- @check SELECT count(*), count(id), sum(id), sum(a), sum(b), sum(f), min(s), max(s), sum(length(s)) FROM c
-- @after TRUNCATE c
COPY c FROM '$DATA';
