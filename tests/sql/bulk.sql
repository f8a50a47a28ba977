-- Many rows at once: which row is the first that fails, by which index, whatever order the entries go in.
CREATE TABLE bulk (id int PRIMARY KEY, a int UNIQUE, s text, CONSTRAINT pair UNIQUE (s, a));
INSERT INTO bulk SELECT g, 1000 - g, 's' || g % 7 FROM generate_series(1, 500) g;
SELECT count(*), sum(id), min(a), max(a) FROM bulk;
INSERT INTO bulk SELECT g, 5000 - g, 'x' FROM generate_series(600, 400, -1) g;
INSERT INTO bulk SELECT 1000 + g, 5000 + CASE g WHEN 70 THEN 30 WHEN 90 THEN 20 ELSE g END, 'x' FROM generate_series(1, 100) g;
INSERT INTO bulk SELECT 1000 + CASE g WHEN 50 THEN 49 ELSE g END, CASE g WHEN 50 THEN 600 WHEN 40 THEN 700 ELSE 5000 + g END, 'x' FROM generate_series(1, 100) g;
INSERT INTO bulk SELECT 1000 + g, NULL, 'n' FROM generate_series(1, 100) g;
INSERT INTO bulk SELECT 1000 + g, NULL, 'n' FROM generate_series(101, 250) g;
SELECT count(*), count(a), sum(id) FROM bulk;
SELECT id FROM bulk WHERE a = 777;
SELECT count(*) FROM bulk WHERE id BETWEEN 1050 AND 1149;
BEGIN;
DELETE FROM bulk WHERE id <= 300;
INSERT INTO bulk SELECT g, 1000 - g, 's' || g % 7 FROM generate_series(300, 1, -1) g;
SELECT count(*), sum(id), sum(a) FROM bulk;
ROLLBACK;
SELECT count(*), sum(id), sum(a) FROM bulk;
CREATE UNIQUE INDEX half ON bulk ((id / 2)) WHERE id > 5000;
INSERT INTO bulk SELECT 5000 + g, 9000 + g, 'h' FROM generate_series(-40, 60, 3) g;
INSERT INTO bulk SELECT 6000 + g, 19000 + g, 'h' FROM generate_series(1, 60, 3) g;
INSERT INTO bulk SELECT 7000 + g, 29000 + g, 'h' FROM generate_series(60, 1, -1) g;
COPY bulk FROM STDIN;
8001	1	a
8002	2	b
8003	\N	c
8004	4	d
8005	5	e
8006	6	f
8007	7	g
8008	8	h
8009	9	i
8010	1	j
8011	11	k
8012	12	l
8013	2	m
8014	14	n
8015	15	o
8001	16	p
8016	17	q
\.
COPY bulk FROM STDIN;
8100	100001	ünïcödé
8102	100002	
8104	100003	back\\slash
8106	\N	\N
8108	100004	tab\there
8110	-5	\x41\102
8112	+6	plus
8114	 7 	spaces
8116	2147483647	end
\.
SELECT id, a, s FROM bulk WHERE id >= 8000 ORDER BY id;
COPY bulk FROM STDIN;
8200	12x	a
\.
COPY bulk FROM STDIN;
8200	99999999999	a
\.
COPY bulk FROM STDIN;
8200	1
\.
COPY bulk FROM STDIN;
8201	1	2	3
\.
COPY bulk (id, s) FROM STDIN (DELIMITER ',', NULL '');
8300,first
8302,
,third
\.
SELECT id, a, s FROM bulk WHERE id >= 8200 ORDER BY id;
CREATE TABLE floats (f float8, v varchar(3), n numeric(6,2));
COPY floats FROM STDIN;
0.1	abc	1.005
-0	ab	-2
123456789012345678	x	99
0.30000000000000004	\N	\N
1e5	é	1
.5	a b	5
5.		0
9007199254740993	1	1
0.8878723495890323	2	2
NaN	3	3
\.
SELECT f, v, n FROM floats;
COPY floats FROM STDIN;
1.2.3	abc	1
\.
COPY floats FROM STDIN;
1	abcd	1
\.
CREATE TABLE odd ("odd name" int, plain int);
INSERT INTO odd VALUES (1, 2), (1, 2);
CREATE UNIQUE INDEX odd_key ON odd (plain, "odd name");
TRUNCATE odd;
CREATE UNIQUE INDEX odd_key ON odd (plain, "odd name");
INSERT INTO odd VALUES (1, 2), (1, 2);
DROP TABLE bulk, floats, odd;
