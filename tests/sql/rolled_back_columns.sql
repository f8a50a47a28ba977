-- ADD COLUMN that is rolled back, and another column in its place: pages made under the first take no rows, and are cleaned up.
CREATE TABLE rb (id int PRIMARY KEY, a int);
INSERT INTO rb SELECT g, g % 10 FROM generate_series(1, 2000) g;
VACUUM ANALYZE rb;
BEGIN;
ALTER TABLE rb ADD COLUMN b int DEFAULT 5;
SELECT count(*) FROM rb WHERE b = 5;
SELECT count(*) FROM rb WHERE b = 5;
ROLLBACK;
ALTER TABLE rb ADD COLUMN b int DEFAULT 7;
SELECT count(*) FROM rb WHERE b = 7;
SELECT count(*) FROM rb WHERE b = 5;
ALTER TABLE rb DROP COLUMN b;
-- a narrow column with rows of its own, rolled back
BEGIN;
ALTER TABLE rb ADD COLUMN c bool;
INSERT INTO rb SELECT g, g, true FROM generate_series(10001, 14000) g;
SELECT count(*), count(c) FROM rb;
ROLLBACK;
SELECT count(*) FROM rb;
-- a wide one in its place
ALTER TABLE rb ADD COLUMN d bigint;
INSERT INTO rb SELECT g, g, g FROM generate_series(20001, 24000) g;
UPDATE rb SET d = id WHERE id <= 2000;
SELECT count(*), sum(id), sum(a), sum(d) FROM rb;
VACUUM rb;
INSERT INTO rb SELECT g, g, g FROM generate_series(30001, 34000) g;
SELECT count(*), sum(id), sum(a), sum(d) FROM rb;
SELECT count(*) FROM rb WHERE id = d;
-- text, long and short, rolled back to a savepoint; then a number
BEGIN;
SAVEPOINT s;
ALTER TABLE rb ADD COLUMN e text;
INSERT INTO rb SELECT g, g, g, repeat('x', g % 300) FROM generate_series(40001, 41000) g;
INSERT INTO rb VALUES (50001, 1, 1, repeat('long ', 20000));
UPDATE rb SET e = 'changed' WHERE id < 500;
SELECT count(*), sum(length(e)) FROM rb;
ROLLBACK TO s;
ALTER TABLE rb ADD COLUMN e smallint NOT NULL DEFAULT 3;
INSERT INTO rb SELECT g, g, g, 4 FROM generate_series(40001, 41000) g;
COMMIT;
SELECT count(*), sum(id), sum(a), sum(d), sum(e) FROM rb;
VACUUM rb;
UPDATE rb SET a = 0 WHERE id % 2 = 0;
VACUUM rb;
SELECT count(*), sum(id), sum(a), sum(d), sum(e) FROM rb;
DROP TABLE rb;
