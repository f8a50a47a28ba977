-- What the planner rewrites: every form of a query gives the same rows.
-- Constants that are never asked for raise no error.
SELECT CASE WHEN false THEN 1/0 END;
SELECT CASE WHEN true THEN 1 ELSE 1/0 END;
SELECT COALESCE(1, 1/0);
SELECT 1 WHERE false AND 1/0 = 1;
SELECT 1 WHERE true OR 1/0 = 1;
SELECT CASE x WHEN 1 THEN 10 ELSE x/0 END FROM (VALUES (1)) v(x);
SELECT 1/0;

CREATE TABLE p_part (id int PRIMARY KEY, kind int, size int, name text, day date);
CREATE TABLE p_item (id int PRIMARY KEY, part int, supplier int, n int);
CREATE TABLE p_supplier (id int PRIMARY KEY, nation int);
INSERT INTO p_part SELECT g, g % 10, g % 37, 'name ' || g % 100, date '2020-01-01' + g % 400 FROM generate_series(1, 3000) g;
INSERT INTO p_item SELECT g, g % 3100, g % 50, g % 7 FROM generate_series(1, 9000) g;
INSERT INTO p_supplier SELECT g, g % 5 FROM generate_series(1, 45) g;
CREATE INDEX p_part_kind ON p_part (kind);
CREATE INDEX p_part_size ON p_part (size);
CREATE INDEX p_part_day ON p_part (day);
CREATE INDEX p_part_name ON p_part (name);
CREATE INDEX p_item_part ON p_item (part);
UPDATE p_part SET size = NULL WHERE id % 100 = 7;
UPDATE p_part SET kind = 99 WHERE id % 100 = 8;
DELETE FROM p_part WHERE id % 100 = 9;
ANALYZE p_part;
ANALYZE p_item;
ANALYZE p_supplier;

-- Several indexes at once: OR, AND, lists, ranges, nulls; and after changes that left old entries behind.
SELECT count(*), sum(id) FROM p_part WHERE kind = 3 OR size = 5;
SELECT count(*), sum(id) FROM p_part WHERE kind = 3 AND size = 5;
SELECT count(*), sum(id) FROM p_part WHERE (kind = 3 AND size < 5) OR (kind = 4 AND size > 30) OR id = 17;
SELECT count(*), sum(id) FROM p_part WHERE kind IN (1, 2, 99, NULL) OR size IS NULL;
SELECT count(*), sum(id) FROM p_part WHERE size IS NULL AND kind = 7;
SELECT count(*), sum(id) FROM p_part WHERE (kind = 99 OR size = 8) AND name LIKE 'name 8%';
SELECT count(*), sum(id) FROM p_part WHERE day >= timestamp '2020-02-01' AND day < timestamp '2020-03-01' + interval '1 day';
SELECT count(*), sum(id) FROM p_part WHERE day = timestamp '2020-02-01 00:00' OR day = timestamp '2020-02-02 12:00';
SELECT count(*) FROM p_part WHERE kind = 3 OR size = NULL;
SELECT id FROM p_part WHERE kind = 3 OR size = 5 ORDER BY id LIMIT 5;
SELECT id, size FROM p_part WHERE size > 30 ORDER BY size DESC, id LIMIT 3;
SELECT min(size), max(size), min(day), max(day), min(name) FROM p_part;
SELECT min(size), max(id) FROM p_part WHERE kind = 99;
SELECT min(size) FROM p_part WHERE kind = 12345;
SELECT id FROM p_part ORDER BY id DESC LIMIT 2;
SELECT size FROM p_part ORDER BY size NULLS FIRST LIMIT 2;
SELECT id FROM p_part WHERE id > 2990 ORDER BY id LIMIT 3 OFFSET 1;

-- What equalities say together: whichever joins come first.
SELECT count(*), sum(i.n) FROM p_part a, p_item i, p_part b WHERE a.id = i.part AND i.part = b.id AND b.kind = 3;
SELECT count(*), sum(i.n) FROM p_part a, p_item i, p_supplier s WHERE a.id = i.part AND a.size = s.id AND i.supplier = s.id AND s.nation = 2;
SELECT count(*), sum(i.n) FROM p_part a JOIN p_item i ON a.id = i.part AND a.size = i.supplier JOIN p_supplier s ON s.id = a.size;
SELECT count(*) FROM p_part a, p_part b, p_item i WHERE a.id = b.id AND b.id = i.part AND i.part = 17;
SELECT count(*) FROM p_part a, p_item i WHERE a.id = i.part AND a.kind = i.n AND a.kind = a.size;
SELECT count(*), count(b.id) FROM p_item i LEFT JOIN p_part b ON b.id = i.part AND b.id = i.supplier WHERE i.part = 3;
SELECT count(*), count(b.id), count(s.id) FROM p_item i LEFT JOIN p_part b ON b.id = i.part LEFT JOIN p_supplier s ON s.id = b.size WHERE i.supplier = 8;
SELECT count(*), count(b.id) FROM p_item i LEFT JOIN p_part b ON b.id = i.part, p_supplier s WHERE s.id = i.supplier AND (b.size = s.id OR b.size IS NULL);
SELECT count(*), count(a.x), count(b.x) FROM (VALUES (1), (2)) a(x) FULL JOIN (VALUES (2), (3)) b(x) ON a.x = b.x;
SELECT count(*), count(a.x), count(b.x) FROM (VALUES (1), (2)) a(x) FULL JOIN (VALUES (2), (3)) b(x) ON false;
SELECT count(*), count(a.x), count(b.x) FROM (VALUES (1), (2)) a(x) FULL JOIN (VALUES (2), (3)) b(x) ON a.x = b.x AND NULL;
SELECT count(*), count(a.x), count(b.x) FROM (VALUES (1), (2)) a(x) FULL JOIN (VALUES (2), (3)) b(x) ON true;

-- Semi and anti joins, with nulls on either side.
SELECT count(*) FROM p_supplier s WHERE EXISTS (SELECT 1 FROM p_item i WHERE i.supplier = s.id AND i.n > 5);
SELECT count(*) FROM p_supplier s WHERE NOT EXISTS (SELECT 1 FROM p_item i WHERE i.supplier = s.id AND i.part = s.nation);
SELECT count(*) FROM p_part WHERE size IN (SELECT part FROM p_item WHERE n = 3);
SELECT count(*) FROM p_part WHERE size NOT IN (SELECT id FROM p_supplier);
SELECT count(*) FROM p_supplier WHERE id NOT IN (SELECT size FROM p_part);
SELECT count(*) FROM p_supplier WHERE id NOT IN (SELECT size FROM p_part WHERE size IS NOT NULL);
SELECT count(*) FROM p_part a WHERE size = (SELECT max(size) FROM p_part b WHERE b.kind = a.kind);
SELECT count(*) FROM p_item a WHERE n > (SELECT avg(n) FROM p_item b WHERE b.supplier = a.supplier AND b.n > 3);
SELECT count(*) FROM p_part a WHERE kind > ALL (SELECT n FROM p_item b WHERE b.part = a.id);
SELECT count(*) FROM p_supplier s WHERE nation = (SELECT count(*) FROM p_item i WHERE i.supplier = s.id AND i.part = s.id);

-- Conditions on groups and on UNIONs go down, where that changes nothing.
SELECT * FROM (SELECT kind, count(*) c, sum(size) s FROM p_part GROUP BY kind) g WHERE kind = 3;
SELECT * FROM (SELECT kind, count(*) c FROM p_part GROUP BY kind) g WHERE c < 40 ORDER BY 1;
SELECT count(*) FROM (SELECT id, kind FROM p_part UNION ALL SELECT id, n FROM p_item) u WHERE kind = 3;
SELECT count(*) FROM (SELECT kind FROM p_part UNION SELECT n FROM p_item) u WHERE kind < 5;
SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY kind ORDER BY id) r FROM p_part) w WHERE r = 1 ORDER BY id LIMIT 3;
SELECT * FROM (SELECT DISTINCT ON (kind) kind, id FROM p_part ORDER BY kind, id DESC) d WHERE kind > 7 ORDER BY 1;

-- A list of many tables.
SELECT count(*) FROM p_supplier a1, p_supplier a2, p_supplier a3, p_supplier a4, p_supplier a5, p_supplier a6, p_supplier a7, p_supplier a8, p_supplier a9, p_supplier a10,
  p_supplier a11, p_supplier a12, p_supplier a13, p_supplier a14, p_supplier a15, p_supplier a16
WHERE a1.id = a2.id AND a2.id = a3.id AND a3.id = a4.id AND a4.id = a5.id AND a5.id = a6.id AND a6.id = a7.id AND a7.id = a8.id AND a8.id = a9.id AND a9.id = a10.id
  AND a10.id = a11.id AND a11.id = a12.id AND a12.id = a13.id AND a13.id = a14.id AND a14.id = a15.id AND a15.id = a16.id AND a16.nation = 3;

-- With the usual methods off joins give the same.
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT count(*), sum(i.n) FROM p_part a JOIN p_item i ON a.id = i.part;
SELECT count(*), sum(i.n), count(a.id) FROM p_item i LEFT JOIN p_part a ON a.size = i.supplier AND a.kind < i.n;
SELECT count(*), sum(i.n) FROM p_part a JOIN p_item i ON a.id + 1 = i.part * 2 AND a.kind <> i.n;
SELECT count(*), sum(a.id) FROM p_part a WHERE EXISTS (SELECT 1 FROM p_item i WHERE i.supplier = a.size AND i.n > a.kind);
SELECT count(*), sum(a.id) FROM p_part a WHERE NOT EXISTS (SELECT 1 FROM p_item i WHERE i.supplier = a.size AND i.n > a.kind);
SELECT count(*) FROM p_part a JOIN p_part b ON a.size = b.size AND a.kind = b.kind;
SELECT count(*), count(b.name) FROM p_part a LEFT JOIN p_supplier s ON s.id = a.size LEFT JOIN p_part b ON b.id = s.id;
SELECT a.id, s.id FROM p_part a LEFT JOIN p_supplier s ON s.id = a.size WHERE a.id < 9 ORDER BY 1;
RESET enable_hashjoin;
RESET enable_nestloop;

-- EXPLAIN's forms.
EXPLAIN (COSTS off) SELECT name FROM p_part WHERE id = 5;
EXPLAIN (COSTS off, FORMAT json) SELECT name FROM p_part WHERE id = 5;
EXPLAIN (COSTS off, FORMAT json) SELECT 1;
EXPLAIN (COSTS off) SELECT name FROM p_part ORDER BY id DESC LIMIT 2;
EXPLAIN (FORMAT wrong) SELECT 1;
EXPLAIN (nonsense) SELECT 1;
EXPLAIN (TIMING) SELECT 1;

DROP TABLE p_part, p_item, p_supplier;
