-- COPY in and out: formats, escapes, NULLs, errors with their line
CREATE TABLE cp (id int PRIMARY KEY, t text, n numeric(6,2), b bool);
COPY cp FROM STDIN;
1	one	1.50	t
2	\N	\N	f
3	tab\there\nnewline \\ back	0	true
4		-1	0
\.
SELECT * FROM cp ORDER BY id;
COPY cp TO STDOUT;
COPY cp (t, id) TO STDOUT;
COPY (SELECT id, t FROM cp WHERE id < 3 ORDER BY id DESC) TO STDOUT;
COPY cp TO STDOUT WITH (FORMAT csv);
COPY cp TO STDOUT WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'nil', QUOTE '''', FORCE_QUOTE (t));
COPY cp TO STDOUT (DELIMITER '|', NULL '');
COPY cp TO STDOUT CSV HEADER;
COPY cp FROM STDIN WITH (FORMAT csv);
10,"with, comma",2.25,t
11,"a ""quoted"" word",,f
12,,"3",
13,"",4,t
14,"two
lines",5,t
\.
SELECT * FROM cp WHERE id >= 10 ORDER BY id;
COPY cp (id, t) FROM STDIN (FORMAT csv, HEADER);
id,t
20,twenty
\.
COPY cp FROM STDIN;
30	x	1	t
31	y	bad	t
\.
SELECT count(*) FROM cp WHERE id >= 30;
COPY cp FROM STDIN;
30	x	1	t
1	y	1	t
\.
COPY cp FROM STDIN;
30	x	1
\.
COPY cp FROM STDIN;
30	x	1	t	extra
\.
COPY cp FROM STDIN;
\N	x	1	t
\.
COPY cp FROM STDIN;
40	x	123456	t
\.
COPY cp FROM STDIN;
x	x	1	t
\.
COPY cp (id, nope) FROM STDIN;
COPY cp (id, id) FROM STDIN;
COPY cp FROM STDIN (FORMAT xml);
COPY cp FROM STDIN (DELIMITER 'ab');
COPY cp FROM STDIN (NONSENSE);
COPY cp FROM STDIN CSV;
50,"open quote,1,t
\.
COPY cp FROM '/nowhere/at/all';
BEGIN;
COPY cp (id) FROM STDIN;
60
61
\.
SELECT count(*) FROM cp WHERE id >= 60;
ROLLBACK;
SELECT count(*) FROM cp WHERE id >= 60;
CREATE TABLE bytes (b bytea, a int[], d date);
COPY bytes FROM STDIN;
\\x00ff	{1,2,NULL}	2024-01-01
\.
COPY bytes TO STDOUT;
COPY bytes FROM STDIN;
\\x0	{}	2024-01-01
\.
COPY bytes FROM STDIN;
\\x00	{1,	2024-01-01
\.
DROP TABLE cp, bytes;
-- the first line end says what the others are
CREATE TABLE cp (a text, b text);
COPY cp FROM STDIN;
1	2
3	4
\.
SELECT * FROM cp;
DROP TABLE cp;
