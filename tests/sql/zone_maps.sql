-- Pages are skipped, or counted whole, by what memory keeps of them: never after they changed. Each question is asked twice, for
-- the first time may only learn.
CREATE TABLE z (id int NOT NULL, day date, n int, f float8, d numeric(12,2), s text);
INSERT INTO z SELECT g, date '2020-01-01' + g / 20, CASE WHEN g % 50 = 0 THEN NULL ELSE g / 100 END, CASE WHEN g > 19000 THEN 'NaN' ELSE -g / 4.0 END, g * 0.25, 'row ' || g FROM generate_series(1, 20000) g;
VACUUM ANALYZE z;
CREATE VIEW asked AS
SELECT (SELECT count(*) FROM z) AS all_rows, (SELECT count(*) FROM z WHERE id < 300) AS below, (SELECT count(*) FROM z WHERE 19900 <= id) AS above,
       (SELECT count(*) FROM z WHERE id BETWEEN 5000 AND 5005) AS between, (SELECT count(*) FROM z WHERE id = 777) AS one, (SELECT count(*) FROM z WHERE id > 1000000) AS none,
       (SELECT count(*) FROM z WHERE n <= 3) AS n_low, (SELECT count(*) FROM z WHERE n >= -5) AS n_known, (SELECT count(*) FROM z WHERE f < -4740) AS f_low, (SELECT count(*) FROM z WHERE f >= 'NaN') AS f_nan,
       (SELECT count(*) FROM z WHERE d < 20.5) AS d_low, (SELECT count(*) FROM z WHERE d > 4990) AS d_high,
       (SELECT count(*) FROM z WHERE day >= date '2022-09-01' AND day < date '2022-09-01' + interval '1 week') AS week, (SELECT count(*) FROM z WHERE day = timestamp '2020-01-05 12:00') AS noon;
SELECT * FROM asked;
SELECT * FROM asked;
SELECT sum(id), min(s), max(f) FROM z WHERE id BETWEEN 10000 AND 10010;
SELECT sum(id), min(s), max(f) FROM z WHERE id BETWEEN 10000 AND 10010;
-- rolled back
BEGIN;
UPDATE z SET id = id + 2000000 WHERE id = 777;
DELETE FROM z WHERE id BETWEEN 5000 AND 5002;
INSERT INTO z VALUES (3000000, NULL, NULL, 0, 1, 'new');
SELECT * FROM asked;
ROLLBACK;
SELECT * FROM asked;
SELECT * FROM asked;
-- a savepoint rolled back, the rest committed
BEGIN;
UPDATE z SET n = 3 WHERE id = 15000;
SAVEPOINT a;
UPDATE z SET f = -9999 WHERE id = 15000;
DELETE FROM z WHERE id < 100;
SELECT * FROM asked;
ROLLBACK TO a;
SELECT * FROM asked;
COMMIT;
SELECT * FROM asked;
VACUUM z;
SELECT * FROM asked;
SELECT * FROM asked;
-- changed for good, before and after vacuum
UPDATE z SET id = id + 2000000, d = 4999 WHERE id % 1000 = 1;
SELECT * FROM asked;
VACUUM z;
SELECT * FROM asked;
DELETE FROM z WHERE id BETWEEN 200 AND 4000;
SELECT * FROM asked;
VACUUM z;
INSERT INTO z SELECT 4000000 + g, NULL, -1, 0, 0, 'again' FROM generate_series(1, 3000) g;
SELECT * FROM asked;
VACUUM z;
SELECT * FROM asked;
SELECT * FROM asked;
-- a cursor keeps its snapshot
BEGIN;
DECLARE c CURSOR FOR SELECT count(*), min(id), max(id) FROM z WHERE id > 19000;
UPDATE z SET id = 1 WHERE id > 4000000;
FETCH c;
SELECT count(*), min(id), max(id) FROM z WHERE id > 19000;
COMMIT;
-- columns that came later; a new file
ALTER TABLE z ADD COLUMN late int DEFAULT 7;
VACUUM z;
SELECT count(*) FROM z WHERE late = 7;
SELECT count(*) FROM z WHERE late = 7;
SELECT count(*) FROM z WHERE late > 7;
UPDATE z SET late = 8 WHERE id = 6000;
VACUUM z;
SELECT count(*) FROM z WHERE late > 7;
SELECT count(*), sum(late) FROM z WHERE late >= 7;
-- what stands before may fail: it does, whatever is known of the pages
SELECT count(*) FROM z WHERE 1 / (id - 6000) > -10 AND id < 0;
SELECT count(*) FROM z WHERE id < 0 AND 1 / (id - 6000) > -10;
-- parameters, nulls
PREPARE p (int, date) AS SELECT count(*) FROM z WHERE id < $1 OR id IS NULL AND day > $2;
PREPARE q (int) AS SELECT count(*) FROM z WHERE id < $1;
EXECUTE q (300);
EXECUTE q (NULL);
EXECUTE q (5000);
EXECUTE p (300, NULL);
TRUNCATE z;
SELECT count(*) FROM z;
INSERT INTO z VALUES (5, NULL, 5, 5, 5, 'five');
SELECT count(*) FROM z WHERE id = 5;
SELECT count(*) FROM z WHERE id > 5;
DROP VIEW asked;
DROP TABLE z;
