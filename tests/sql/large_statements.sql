-- statements that are deep, long and wide; each is made by the server, and kept in a variable
SET client_min_messages = error;
\t on
\a
SELECT 'SELECT ' || repeat('(', 900) || '1' || repeat(')', 900) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('- ', 900) || '1' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('NOT ', 901) || 'true' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('abs(', 900) || '-7' || repeat(')', 900) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('CASE WHEN true THEN ', 800) || '7' || repeat(' END', 800) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('coalesce(NULL, ', 1200) || '7' || repeat(')', 1200) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('(SELECT ', 400) || '7' || repeat(')', 400) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT * FROM ' || repeat('(SELECT * FROM ', 200) || '(SELECT 7) x' || repeat(') x', 200) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1' || repeat(' + 1', 3000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 0 = 1' || repeat(' OR 0 = 1', 5000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT true' || repeat(' AND true', 5000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT length(''a''' || repeat(' || ''b''', 3000) || ')' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1' || repeat(' UNION SELECT 1', 500) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT count(*) FROM (SELECT 1' || repeat(' UNION ALL SELECT 1', 500) || ') x' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 500 IN (' || string_agg(g::text, ', ') || ')' AS q FROM generate_series(1, 1000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT count(*) FROM generate_series(1, 2000) g WHERE g IN (' || string_agg((g * 2)::text, ', ') || ')' AS q FROM generate_series(1, 1000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT count(*) FROM generate_series(1, 2000) g WHERE g NOT IN (' || string_agg((g * 2)::text, ', ') || ', NULL)' AS q FROM generate_series(1, 1000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT count(*) FROM generate_series(1, 2000) g WHERE ''x'' || g IN (' || string_agg('''x' || g || '''', ', ') || ')' AS q FROM generate_series(1, 1000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT count(*) FROM (VALUES ' || string_agg('(' || g || ')', ', ') || ') v' AS q FROM generate_series(1, 5000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT length(''' || repeat('x', 1000000) || ''')' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat(' ', 1000000) || '7' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT /* ' || repeat('x', 1000000) || ' */ 7' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('/* ', 2000) || repeat(' */', 2000) || ' 7' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || string_agg('1', ', ') AS q FROM generate_series(1, 1665) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT nothing' || repeat(' + 1', 2000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1' || repeat(' + 1', 2000) || ' + nothing' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1 IN (' || string_agg(g::text, ', ') || ', ''x'')' AS q FROM generate_series(1, 1000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1 IN (' || string_agg(g::text, ', ') || ', true)' AS q FROM generate_series(1, 1000) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('(', 999) || '1' || repeat(')', 1000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT "' || repeat('n', 100000) || '"' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('9', 100000) || '::int' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('9', 140000) || '::numeric' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT length((' || repeat('9', 100000) || '::numeric)::text)' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT max(' || string_agg(g::text, ', ') || ')' AS q FROM generate_series(1, 101) g \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1 FROM ' || string_agg('(SELECT 1) x' || g, ', ') || ', y' AS q FROM generate_series(1, 60) g \gset
:q;
\echo :SQLSTATE
-- ten thousand deep: PostgreSQL's parser ends at that (42601, memory exhausted), ours says 54001, and takes long chains
\set VERBOSITY sqlstate
SELECT 'SELECT ' || repeat('abs(', 10000) || '-7' || repeat(')', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('(SELECT ', 10000) || '7' || repeat(')', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('CASE WHEN true THEN ', 10000) || '7' || repeat(' END', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('coalesce(NULL, ', 10000) || '7' || repeat(')', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT * FROM ' || repeat('(SELECT * FROM ', 10000) || '(SELECT 7) x' || repeat(') x', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('ARRAY[', 10000) || '7' || repeat(']', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('(', 10000) || '1' || repeat(')', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('NOT ', 10000) || 'true' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ' || repeat('- ', 10000) || '1' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1' || repeat(' + 1', 10000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT count(*) FROM (SELECT 1' || repeat(' UNION ALL SELECT 1', 10000) || ') x' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'all is well';
-- wider than anything may be: more than 16 bits can count
SELECT 'VALUES (1' || repeat(', 1', 70000) || ')' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT ROW(1' || repeat(', 1', 70000) || ') IS NULL' AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT 1' || repeat(', 1', 70000) AS q \gset
:q;
\echo :SQLSTATE
SELECT 'SELECT length(concat(1' || repeat(', 1', 70000) || '))' AS q \gset
:q;
\echo :SQLSTATE
