-- text, varchar, char, bytea, LIKE, functions
SELECT 'it''s', E'tab\there', E'\x41\u00e9';
SELECT 'a' 'b';
SELECT 'a'
'b';
SELECT $$dollar 'quoted'$$, $tag$with $$ inside$tag$;
SELECT 'abc' || 'def', 'n' || 1, 1 || 'n', 'a' || NULL, NULL || 'a';
SELECT length('héllo'), char_length('日本'), octet_length('日本'), upper('héllo'), lower('ÀB'), initcap('hello world');
SELECT substr('abcdef', 2), substr('abcdef', 2, 3), substring('abcdef' FROM 2 FOR 2), substring('abcdef', 0, 3), substr('abc', -1, 3), left('abcdef', 2), right('abcdef', 2), left('abc', -1);
SELECT substr('abc', 1, -1);
SELECT position('c' IN 'abc'), strpos('abc', 'z'), replace('aXbX', 'X', 'yy'), translate('abc', 'ab', 'x'), reverse('abc'), repeat('ab', 3), lpad('5', 3, '0'), rpad('a', 3), lpad('abc', 2);
SELECT trim('  x  ') || '|', ltrim('xxa', 'x'), rtrim('axx', 'x'), btrim('xax', 'x'), trim(both 'x' from 'xax'), trim(leading from '  a');
SELECT split_part('a,b,c', ',', 2), concat('a', NULL, 1), concat_ws(',', 'a', NULL, 'b'), ascii('A'), chr(233), md5('abc'), quote_literal('it''s'), quote_ident('A b'), format('%s-%I-%L', 'a', 'b c', 'd''e');
SELECT 'abc' LIKE 'a%', 'abc' LIKE '_b_', 'abc' LIKE 'A%', 'abc' ILIKE 'A%', 'abc' NOT LIKE 'x%', 'a%c' LIKE 'a\%c', 'abc' LIKE 'a\%c', 'a_c' LIKE 'a#_c' ESCAPE '#', '' LIKE '', 'abc' LIKE '%', 'abc' LIKE '%%c';
SELECT 'abc' LIKE 'abd\';
SELECT 'abc' ~ '^a', 'abc' ~ 'B', 'abc' ~* 'B', 'abc' !~ 'z', 'foobar' ~ 'o{2}b', regexp_replace('abcabc', 'b', 'X'), regexp_replace('abcabc', 'b', 'X', 'g'), substring('foobar' FROM 'o+');
SELECT 'a' < 'b', 'a' < 'B', 'abc' < 'abd', '' < 'a', 'é' > 'z', 'a' = 'a ', 'a'::char(3) = 'a'::char(5);
SELECT 'abc'::varchar(2), 'abc'::char(5) || '|', length('abc'::char(5)), 'abcdef'::char(3), octet_length('ab'::char(4));
SELECT 'x'::text = 'x'::varchar, pg_typeof('x'::text), pg_typeof('a' || 'b');
CREATE TABLE strs (id int, t text, v varchar(5), c char(4), b bytea);
INSERT INTO strs VALUES (1, 'one', 'eins', 'un', '\x01ff'), (2, '', '', '', ''), (3, NULL, NULL, NULL, NULL), (4, repeat('long', 3), 'abcde', 'abcd', 'raw\\bytes');
SELECT *, length(c), octet_length(b) FROM strs ORDER BY id;
INSERT INTO strs VALUES (5, 'x', 'abcdef', 'a', '');
INSERT INTO strs VALUES (5, 'x', 'a', 'abcde', '');
INSERT INTO strs VALUES (5, 'x', 'abcde   ', 'abcd   ', '');
INSERT INTO strs VALUES (6, 'x', 'a', 'a', '\xzz');
INSERT INTO strs VALUES (6, 'x', 'a', 'a', '\x1');
SELECT id, c || '|', v || '|' FROM strs WHERE id = 5;
SELECT min(t), max(t), count(t), string_agg(t, ',' ORDER BY id) FROM strs;
SELECT t FROM strs WHERE c = 'un';
SELECT t FROM strs ORDER BY t NULLS FIRST;
SELECT id FROM strs WHERE t > 'a' ORDER BY t DESC, id;
SELECT id, t FROM strs WHERE t LIKE '%n%' ORDER BY id;
UPDATE strs SET v = v || 'xyz' WHERE id = 1;
SELECT length(repeat('x', 1000000));
SELECT 'abc'::bytea, encode('abc'::bytea, 'hex'), encode('abc', 'base64'), decode('616263', 'hex'), '\x616263'::bytea = 'abc'::bytea, length('\x0001'::bytea);
SELECT convert_from('\xc3a9'::bytea, 'UTF8');
SELECT convert_from('\xe9'::bytea, 'UTF8');
SELECT E'\xe9';
SELECT chr(0);
SELECT overlay('abcdef' placing 'XX' from 2 for 3), starts_with('abc', 'ab');
SELECT string_to_array('a,b,c', ','), array_to_string(ARRAY['a', NULL, 'c'], ',', '*');
SELECT 'abc' COLLATE "C" < 'abd';
SELECT to_char(5, 'FM000'), 5::text, true::text, 1.50::text, '5'::text::int + 1;
SELECT 'a'::name, 'x'::"char", 'long_identifier_over_sixty_three_bytes_long_identifier_over_sixty_three'::name;
SELECT cast('12' AS int), cast(12 AS text), cast('t' AS boolean);
DROP TABLE strs;
SELECT format('100%%');
SELECT format('%s');
-- a length is kept where text is wanted of it, and tells two casts apart
CREATE TABLE cl (x text, ts timestamp);
INSERT INTO cl VALUES ('abcdef', '2024-01-01 00:00:00.6'), ('abcxyz', '2024-01-01 00:00:00.4');
SELECT length(x::varchar(3)), x::varchar(3) || '|', x::varchar(3)::text, upper(x::varchar(2)) FROM cl;
SELECT x FROM cl WHERE x::varchar(3) = 'abc';
SELECT DISTINCT x::char(1) AS a, x::char(4) AS b FROM cl ORDER BY 2;
SELECT ts::timestamp(0) AS a, ts::timestamp(1) AS b FROM cl ORDER BY a;
SELECT min(x::char(1)), min(x::char(5)), max(x::varchar(4)), max(x::varchar(2)) FROM cl;
SELECT v || '.' FROM (SELECT x::varchar(4) AS v FROM cl) s ORDER BY 1;
SELECT x::varchar(3), count(*) FROM cl GROUP BY x::varchar(3);
CREATE INDEX ON cl ((ts::timestamp(0)));
SELECT x FROM cl WHERE ts::timestamp(3) = '2024-01-01 00:00:00.6';
SELECT x FROM cl WHERE ts::timestamp(0) = '2024-01-01 00:00:01';
SELECT x::char(5) FROM cl GROUP BY x::char(1);
SELECT ARRAY[x]::varchar(2)[], ARRAY[x, 'q']::char(3)[], ARRAY[x]::varchar(2)[]::text[], '{abcdef}'::varchar(3)[], ARRAY[1.25, 2]::numeric(5,1)[], ARRAY[1, 2]::numeric(5,1)[], ARRAY[1.25::float8]::numeric(5,1)[] FROM cl;
CREATE TABLE cla (v varchar(2)[]);
INSERT INTO cla SELECT ARRAY[x] FROM cl;
INSERT INTO cla SELECT ARRAY[x]::varchar(2)[] FROM cl;
SELECT * FROM cla;
DROP TABLE cl, cla;
-- many matches in one long text
SELECT length(regexp_replace(repeat('ab', 100000), '(a)(b)', '\2\1', 'g')), (SELECT count(*) FROM regexp_matches(repeat('aéb ', 20000), '(é)(b)', 'g')), '' ~ '', regexp_replace('', '^', 'x'), regexp_replace('abab', '^a', 'x', 'g');
-- long texts, where a match could begin anywhere
SELECT repeat('a', 300000) ~ 'a.*b.*c', repeat('a', 300000) ~ 'a.*a', repeat('a', 30000) || 'b' ~ '^b', repeat('x', 5000) || E'\nb' ~ '^b', repeat('x', 5000) || 'yb' ~ 'yb$', regexp_match(repeat('é', 3000) || 'ab12', '(b)(\d+)'), repeat('x', 5000) ~ '(x)\1';
SELECT repeat('X', 5000) || 'y' ~* 'xY|q', repeat('x', 5000) ~ 'a|', substring(repeat('x', 5000) || 'foobar', 'foo|foobar'), regexp_replace(repeat('x', 5000), 'y*z', '-'), regexp_count(repeat('ab', 5000), 'b.*c'), regexp_match(repeat('x', 5000) || E'\nb', '^b', 'n'), 'b' || repeat('x', 5000) ~ '^b';
-- json is checked, and kept as it was written
\set VERBOSITY verbose
SELECT '{"a": [1, -2.5e+3, "x\u00e9\n", null, true, false, {}], "b": {"c": []}} '::json, '  1'::json, '"x"'::json;
\set VERBOSITY default
SELECT '{bad'::json;
SELECT '{"a" 1}'::json;
SELECT '{"a": 1,}'::json;
SELECT '[1, 2'::json;
SELECT '[1 2]'::json;
SELECT '[01]'::json;
SELECT '1 2'::json;
SELECT '"a'::json;
SELECT '"\x"'::json;
SELECT '"\u12g4"'::json;
SELECT ''::json;
SELECT 'nul'::json;
SELECT '[1.]'::json;
SELECT ']'::json;
SELECT '{1: 2}'::json;
CREATE TABLE js (a int, j json);
INSERT INTO js VALUES (1, 'nope');
INSERT INTO js VALUES (1, '{"k": 1}');
SELECT j, j::text FROM js;
DROP TABLE js;
-- casts that hang on no setting may stand in an index
CREATE TABLE casts (a int, b bigint, c numeric, d float8, e uuid, f date, g text, h text GENERATED ALWAYS AS (a::text) STORED);
CREATE INDEX ON casts ((a::text));
CREATE INDEX ON casts ((b::varchar(5)), (c::text), (d::text), (e::text));
CREATE INDEX ON casts ((g::int), (g::numeric), (g::uuid), (g::bool)) WHERE a::text = '1';
CREATE INDEX ON casts ((f::text));
CREATE INDEX ON casts ((g::date));
INSERT INTO casts (a, b, c, g) VALUES (7, 8, 9.5, NULL);
SELECT h, b::varchar(5), c::text FROM casts WHERE a::text = '7';
DROP TABLE casts;
-- several statements in one message are a transaction
CREATE TABLE several (a int);
INSERT INTO several VALUES (1) \; VACUUM several;
SELECT count(*) FROM several;
VACUUM several;
DROP TABLE several;
\set VERBOSITY sqlstate
SELECT repeat('[', 1000000)::json;
SELECT length((repeat('[', 1000) || repeat(']', 1000))::json::text);
