-- Cursors are read as far as they are fetched: what their queries see, where they stand, and what ends them.
CREATE TABLE t (id int PRIMARY KEY, b int, c text);
INSERT INTO t SELECT i, i % 7, 'row ' || i FROM generate_series(1, 5000) i;
CREATE INDEX t_b ON t (b);

-- A result that nobody could wait for: the first rows come at once.
BEGIN;
DECLARE big CURSOR FOR SELECT a.id, b.id, c.id FROM t a, t b, t c WHERE a.id <> b.id;
MOVE 2 IN big;
MOVE 100000 IN big;
DECLARE endless CURSOR FOR WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;
FETCH 3 FROM endless;
MOVE 4000 IN endless;
MOVE 1 IN big;
FETCH 2 FROM endless;
COMMIT;

-- It sees what was there when it was declared, however late it is fetched.
BEGIN;
DECLARE a CURSOR FOR SELECT id, b FROM t ORDER BY id;
DECLARE s CURSOR FOR SELECT id, b FROM t WHERE id > 2;
FETCH 2 FROM a;
FETCH 1 FROM s;
UPDATE t SET b = b + 100;
DELETE FROM t WHERE id % 2 = 0;
INSERT INTO t VALUES (-1, 0, 'new');
FETCH 3 FROM a;
FETCH 3 FROM s;
SELECT count(*), min(b), max(b) FROM t;
MOVE ALL IN s;
SAVEPOINT one;
DECLARE inner_one CURSOR FOR SELECT id FROM t ORDER BY id;
FETCH 2 FROM inner_one;
ROLLBACK TO one;
FETCH 1 FROM inner_one;
ROLLBACK TO one;
FETCH 2 FROM a;
ROLLBACK;
SELECT count(*), min(b), max(b) FROM t;

-- Where it stands.
BEGIN;
DECLARE p SCROLL CURSOR FOR SELECT i FROM generate_series(1, 3000) i;
FETCH 0 FROM p;
FETCH NEXT FROM p;
FETCH 0 FROM p;
FETCH BACKWARD 5 FROM p;
FETCH NEXT FROM p;
FETCH RELATIVE 1500 FROM p;
FETCH RELATIVE -1 FROM p;
FETCH BACKWARD 3 FROM p;
FETCH ABSOLUTE -2 FROM p;
FETCH ALL FROM p;
FETCH NEXT FROM p;
FETCH PRIOR FROM p;
FETCH ABSOLUTE 3001 FROM p;
FETCH PRIOR FROM p;
FETCH FIRST FROM p;
FETCH LAST FROM p;
FETCH RELATIVE 5 FROM p;
FETCH BACKWARD 2 FROM p;
MOVE BACKWARD ALL IN p;
FETCH 2 FROM p;
MOVE FORWARD ALL IN p;
FETCH ABSOLUTE 0 FROM p;
FETCH FORWARD 2 FROM p;
FETCH ABSOLUTE -3001 FROM p;
FETCH NEXT FROM p;
DECLARE f NO SCROLL CURSOR FOR SELECT i FROM generate_series(1, 3000) i;
FETCH 2 FROM f;
MOVE 2000 IN f;
FETCH 1 FROM f;
FETCH PRIOR FROM f;
ROLLBACK;
BEGIN;
DECLARE f NO SCROLL CURSOR FOR SELECT i FROM generate_series(1, 3000) i;
MOVE 2000 IN f;
MOVE 0 IN f;
FETCH ABSOLUTE 2001 FROM f;
FETCH RELATIVE 2 FROM f;
MOVE ALL IN f;
FETCH 0 FROM f;
FETCH NEXT FROM f;
ROLLBACK;

BEGIN;
DECLARE f NO SCROLL CURSOR FOR SELECT i FROM generate_series(1, 3000) i;
MOVE 2000 IN f;
FETCH 0 FROM f;
ROLLBACK;
BEGIN;
DECLARE f NO SCROLL CURSOR FOR SELECT i FROM generate_series(1, 3000) i;
MOVE 2000 IN f;
FETCH RELATIVE 0 FROM f;
ROLLBACK;
BEGIN;
DECLARE f NO SCROLL CURSOR FOR SELECT i FROM generate_series(1, 3000) i;
MOVE 2000 IN f;
FETCH ABSOLUTE 2000 FROM f;
ROLLBACK;

-- An error belongs to the row: those before it are fetched.
BEGIN;
DECLARE e CURSOR FOR SELECT 10 / (3000 - i) AS q FROM generate_series(2998, 3002) i;
FETCH 1 FROM e;
SAVEPOINT here;
FETCH 5 FROM e;
ROLLBACK TO here;
FETCH 1 FROM e;
ROLLBACK;

-- One that is held reads on when its transaction commits; if that fails, nothing was committed.
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id, b FROM t ORDER BY id;
FETCH 2 FROM h;
UPDATE t SET b = -1 WHERE id < 10;
COMMIT;
FETCH 2 FROM h;
MOVE ABSOLUTE 4999 IN h;
FETCH 5 FROM h;
CLOSE h;
BEGIN;
INSERT INTO t VALUES (9999, 0, 'lost');
DECLARE h CURSOR WITH HOLD FOR SELECT 1 / (id - 4000) AS q FROM t ORDER BY id;
FETCH 1 FROM h;
COMMIT;
FETCH 1 FROM h;
SELECT count(*) FROM t WHERE id = 9999;

-- Statements of the same plan, run half-way several times.
PREPARE q(int) AS SELECT id FROM t WHERE id > $1 ORDER BY id LIMIT 2;
BEGIN;
DECLARE one CURSOR FOR SELECT id, (SELECT count(*) FROM t u WHERE u.id <= t.id) FROM t WHERE b = 3 ORDER BY id;
DECLARE two CURSOR FOR SELECT id, (SELECT count(*) FROM t u WHERE u.id <= t.id) FROM t WHERE b = 3 ORDER BY id;
FETCH 1 FROM one;
FETCH 2 FROM two;
EXECUTE q(10);
FETCH 1 FROM one;
ANALYZE t;
EXECUTE q(20);
FETCH 1 FROM two;
FETCH 1 FROM one;
CREATE TABLE beside (a int);
EXECUTE q(30);
FETCH 1 FROM two;
CLOSE two;
FETCH 1 FROM one;
SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors ORDER BY name;
ROLLBACK;
DEALLOCATE q;

-- A table that a cursor still reads is not changed under it; others are.
BEGIN;
DECLARE reads CURSOR FOR SELECT id FROM t;
FETCH 1 FROM reads;
DECLARE endless CURSOR FOR WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;
FETCH 1 FROM endless;
CREATE TABLE beside (a int);
ALTER TABLE beside ADD COLUMN b int;
DROP TABLE beside;
COMMENT ON TABLE t IS 'read';
SAVEPOINT here;
ALTER TABLE t ADD COLUMN d int;
ROLLBACK TO here;
DROP TABLE t;
ROLLBACK TO here;
TRUNCATE t;
ROLLBACK TO here;
FETCH 1 FROM reads;
CLOSE reads;
ALTER TABLE t ADD COLUMN d int;
FETCH 1 FROM endless;
ROLLBACK;

-- A held cursor that fails when its transaction commits undoes it, whatever other cursors are open.
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
BEGIN;
INSERT INTO t VALUES (9999, 0, 'lost');
DECLARE p CURSOR FOR SELECT * FROM t;
MOVE 1 IN p;
DECLARE h CURSOR WITH HOLD FOR SELECT 1 / (id - 4000) FROM t ORDER BY id;
DECLARE q CURSOR FOR SELECT * FROM t;
MOVE 1 IN q;
COMMIT;
SELECT count(*) FROM t WHERE id = 9999;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- What was begun behind a savepoint goes with it.
BEGIN;
SAVEPOINT s;
TRUNCATE t;
INSERT INTO t SELECT i, i, 'new' FROM generate_series(1, 3000) i;
DECLARE inside CURSOR FOR SELECT id FROM t ORDER BY id;
FETCH 1 FROM inside;
ROLLBACK TO s;
SELECT count(*) FROM t;
FETCH 1 FROM inside;
ROLLBACK;

-- The isolation level can't change under a cursor.
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM t ORDER BY id \; BEGIN ISOLATION LEVEL REPEATABLE READ;
FETCH 1 FROM h;
ROLLBACK;

-- What can't be declared, and where the mistake stands.
BEGIN;
SAVEPOINT here;
DECLARE c SCROLL CURSOR FOR SELECT id FROM t FOR UPDATE;
ROLLBACK TO here;
DECLARE c CURSOR WITH HOLD FOR SELECT id FROM t FOR SHARE;
ROLLBACK TO here;
DECLARE c INSENSITIVE CURSOR FOR SELECT id FROM t FOR NO KEY UPDATE;
ROLLBACK TO here;
DECLARE c NO SCROLL CURSOR FOR SELECT id, nosuch FROM t;
ROLLBACK TO here;
DECLARE c CURSOR FOR SELECT id FROM t WHERE id < 4 FOR UPDATE;
FETCH ALL FROM c;
ROLLBACK;

-- Rows before the one that fails.
BEGIN;
DECLARE e CURSOR FOR SELECT 1000 / (id - 3) FROM t;
FETCH 2 FROM e;
SAVEPOINT here;
FETCH 1 FROM e;
ROLLBACK;
BEGIN;
DECLARE f NO SCROLL CURSOR FOR SELECT id FROM t;
FETCH 2 FROM f;
SAVEPOINT here;
FETCH PRIOR FROM f;
ROLLBACK TO here;
FETCH NEXT FROM f;
ROLLBACK;

-- An index can't be made beside a cursor that is half-way.
BEGIN;
DECLARE reads CURSOR FOR SELECT id FROM t;
FETCH 1 FROM reads;
CREATE INDEX t_c ON t (c);
ROLLBACK;

-- BEGIN in a block sets its modes.
BEGIN;
BEGIN READ ONLY;
SHOW transaction_read_only;
DELETE FROM t;
ROLLBACK;
BEGIN;
SELECT 1;
BEGIN ISOLATION LEVEL REPEATABLE READ;
ROLLBACK;
BEGIN;
LOCK TABLE t;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SHOW transaction_isolation;
ROLLBACK;
DROP TABLE t;
