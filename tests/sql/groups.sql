-- groups by every kind of key, with nulls; DISTINCT inside; wide and narrow, sparse and dense
CREATE TABLE g (id int, k bigint, s text, b bpchar(20), n numeric(8,2), d date, x int, y float8, z bool);
INSERT INTO g SELECT i, CASE WHEN i % 9 = 0 THEN NULL ELSE (i % 5) * 10000000000 - 20000000000 END, CASE WHEN i % 8 = 0 THEN NULL ELSE repeat(chr(97 + i % 4), i % 6 * 4) END,
    CASE i % 3 WHEN 0 THEN 'one' WHEN 1 THEN 'one  ' ELSE 'other' END, i % 4 / 2.0, date '2024-01-30' + i % 3, i % 7, i % 5 / 8.0, i % 2 = 0 FROM generate_series(1, 500) i;
SELECT k, count(*), count(x), sum(x), min(y), max(y) FROM g GROUP BY k ORDER BY k;
SELECT s, count(*), sum(x), avg(x) FROM g GROUP BY s ORDER BY s;
SELECT b, count(*), min(id) FROM g GROUP BY b ORDER BY b;
SELECT n, z, count(*), sum(n), avg(n) FROM g GROUP BY n, z ORDER BY n, z;
SELECT d, s, z, count(*), max(id) FROM g WHERE id < 40 GROUP BY d, s, z ORDER BY d, s, z;
SELECT y, count(*) FROM g GROUP BY y ORDER BY y;
SELECT x % 3, k IS NULL, count(*), sum(id) FILTER (WHERE z), avg(id) FILTER (WHERE x > 3) FROM g GROUP BY x % 3, k IS NULL ORDER BY 1, 2;
SELECT count(DISTINCT k), count(DISTINCT s), count(DISTINCT b), count(DISTINCT n), count(DISTINCT d), count(DISTINCT x), count(DISTINCT y), count(DISTINCT z), count(DISTINCT id) FROM g;
SELECT sum(DISTINCT x), avg(DISTINCT x), sum(DISTINCT k), sum(DISTINCT n), sum(DISTINCT y), min(DISTINCT s), max(DISTINCT x) FROM g;
SELECT x, count(DISTINCT k), count(DISTINCT s) FILTER (WHERE z), sum(DISTINCT id % 10), string_agg(DISTINCT s, ',' ORDER BY s) FROM g GROUP BY x ORDER BY x;
SELECT count(DISTINCT x * 1000000007::bigint), sum(DISTINCT x * 1000000007::bigint), count(DISTINCT id::bigint * 4611686018427387), count(DISTINCT -id) FROM g;
SELECT count(DISTINCT v) FROM (VALUES (9223372036854775807), (-9223372036854775808), (0), (NULL), (9223372036854775807), (-9223372036854775807)) v (v);
SELECT v, count(*) FROM (VALUES (9223372036854775807), (-9223372036854775808), (0), (NULL), (9223372036854775807), (-9223372036854775808), (NULL), (1)) v (v) GROUP BY v ORDER BY v;
SELECT z, x, count(*), count(DISTINCT k) FROM g GROUP BY GROUPING SETS ((z, x), (z), (x), ()) ORDER BY z, x, 3;
SELECT count(*), sum(c), max(c), sum(m) FROM (SELECT (i * 7919 % 30011) AS v, count(*) AS c, max(i % 100) AS m FROM generate_series(1, 60000) i GROUP BY (i * 7919 % 30011)) q;
SELECT count(*), sum(c) FROM (SELECT (i % 20000)::bigint * 123456789123 AS v, count(*) AS c FROM generate_series(1, 60000) i GROUP BY 1) q;
SELECT count(*), sum(c) FROM (SELECT 'key number ' || i % 20000 AS v, count(*) AS c FROM generate_series(1, 60000) i GROUP BY 1) q;
SELECT count(*), sum(c) FROM (SELECT i % 300 AS v, (i % 70)::text AS w, count(*) AS c FROM generate_series(1, 60000) i GROUP BY 1, 2) q;
SELECT count(DISTINCT i % 25000), count(DISTINCT (i % 25000)::bigint * 123456789123), count(DISTINCT (i % 25000)::text), sum(DISTINCT i % 25000) FROM generate_series(1, 60000) i;
SELECT count(*) FROM (SELECT DISTINCT i % 1000, i % 999 FROM generate_series(1, 30000) i) q;
SELECT sum(x) FROM (SELECT 9223372036854775807 AS x, 1 AS k UNION ALL SELECT 1, 1) q GROUP BY k;
SELECT sum(y) FROM (SELECT 1e308::float8 AS y, 1 AS k UNION ALL SELECT 1e308, 1) q GROUP BY k;
SELECT k, sum(y), avg(y) FROM (VALUES (1, 'Infinity'::float8), (1, 1), (2, 'Infinity'), (2, '-Infinity'), (3, 'NaN'), (3, 2)) v (k, y) GROUP BY k ORDER BY k;
-- a key that was cast to a type of the same bytes, where the other type is wanted of it
SELECT CAST(CAST(upper(s) AS varchar) AS text), upper(s)::varchar || '!', count(*) FROM g GROUP BY upper(s)::varchar ORDER BY 1;
SELECT coalesce(s, 'none')::varchar || '!', count(*) FROM g GROUP BY coalesce(s, 'none')::varchar ORDER BY 1;
SELECT nullif(s, '')::varchar || '!', greatest(s, 'b')::varchar || '!', count(*) FROM g GROUP BY nullif(s, '')::varchar, greatest(s, 'b')::varchar ORDER BY 1, 2;
DROP TABLE g;
