-- Lines as COPY FROM cuts them: line ends of each kind, the end marker, escapes at the end; and what CONTEXT shows of a bad one.
CREATE TABLE lines (a text, b text);
-- line ends: \n, \r\n and \r, the first decides
\copy lines FROM PROGRAM 'printf "1\tone\n2\ttwo\n"'
\copy lines FROM PROGRAM 'printf "3\tone\r\n4\ttwo\r\n"'
\copy lines FROM PROGRAM 'printf "5\tone\r6\ttwo\r"'
\copy lines FROM PROGRAM 'printf "7\tone\r8\ttwo"'
\copy lines FROM PROGRAM 'printf "9\tone"'
\copy lines FROM PROGRAM 'printf "x\tone\nx\ttwo\r\n"'
\copy lines FROM PROGRAM 'printf "x\tone\nx\ttwo\rx\tthree\n"'
\copy lines FROM PROGRAM 'printf "x\tone\r\nx\ttwo\n"'
\copy lines FROM PROGRAM 'printf "x\tone\r\nx\ttwo\rx\tthree\r\n"'
\copy lines FROM PROGRAM 'printf "x\tone\rx\ttwo\n"'
\copy lines FROM PROGRAM 'printf "10,one\r11,two\r"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "12,\"o\rne\"\r13,\"t\nwo\"\r14\r"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "12,\"o\nne\"\n13,\"t\rwo\"\n14\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "x,one\nx,two\rx\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "x,one\rx,two\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "x,one\r\nx,two\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "a\tb\r20\tone\r21\ttwo\r"' (HEADER)
-- a backslash takes the next byte along, a line end too
\copy lines FROM PROGRAM 'printf "30\tone\\\\\nmore\n"'
\copy lines FROM PROGRAM 'printf "31\tone\\\\\rmore\n"'
\copy lines FROM PROGRAM 'printf "x\tone\r\nx\ttwo\\\\\r\nx\tthree\r\n"'
\copy lines FROM PROGRAM 'printf "32\tone\\\\"'
\copy lines FROM PROGRAM 'printf "33\t\\\\"'
\copy lines FROM PROGRAM 'printf "34\t\\\\\\\\"'
\copy lines FROM PROGRAM 'printf "35\tone\\\\x"'
\copy lines FROM PROGRAM 'printf "36\tone\\\\x4"'
\copy lines FROM PROGRAM 'printf "37\t\\\\N\n38\t\\\\N\\\\N\n"'
-- the end marker
\copy lines FROM PROGRAM 'printf "40\tone\\\\.\n"'
\copy lines FROM PROGRAM 'printf "41\tone\n42\t\\\\.\nx\tthree\n"'
\copy lines FROM PROGRAM 'printf "x\tone\\\\.two\n"'
\copy lines FROM PROGRAM 'printf "x\tone\n\\\\.x\n"'
\copy lines FROM PROGRAM 'printf "x\tone\n\\\\.\rx\n"'
\copy lines FROM PROGRAM 'printf "x\tone\n\\\\."'
\copy lines FROM PROGRAM 'printf "x\tone\r\nx\ttwo\\\\.\n"'
\copy lines FROM PROGRAM 'printf "x\tone\r\nx\ttwo\\\\.x\r\n"'
\copy lines FROM PROGRAM 'printf "43\tone\r\n44\ttwo\\\\.\r\nx\tthree\r\n"'
\copy lines FROM PROGRAM 'printf "45\tone\r\\\\.\rx\ttwo\r"'
\copy lines FROM PROGRAM 'printf "x\tone\r\\\\.\nx\ttwo\r"'
\copy lines FROM PROGRAM 'printf "46,one\\\\.\n47,\\\\.\n48,\"\n\\\\.\n\"\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "49,one\n\\\\.x,two\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "50,one\n\\\\.,two\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "51,one\r\n\\\\.\r\nx,two\r\n"' (FORMAT csv)
\copy lines FROM PROGRAM 'printf "52,one\r\\\\.\rx,two\r"' (FORMAT csv)
SELECT a, b, length(b) FROM lines ORDER BY a, b;
TRUNCATE lines;
-- bytes that aren't UTF-8, in the first line and in a later one
\copy lines FROM PROGRAM 'printf "1\t\377\tb\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\377\tb\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\200abc\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\341\200\n3\tthree\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\360\240\200x\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\303"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\374\200\200\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\\\\377\n"'
\copy lines FROM PROGRAM 'printf "1\tone\n2\t\\\\000\n"'
\copy lines FROM PROGRAM 'printf "1,one\n2,\355\240\200\n"' (FORMAT csv)
-- CONTEXT: at most 100 bytes, whole characters of them
CREATE TABLE numbers (n int CHECK (n < 1000), s text NOT NULL);
\copy numbers FROM PROGRAM 'printf "1\tone\nx\ttwo\n"'
\copy numbers FROM PROGRAM 'printf "1\tone\n%s\ttwo\n" $(head -c 99 /dev/zero | tr "\\0" a)ünïcödé'
\copy numbers FROM PROGRAM 'printf "1\tone\n%s\ttwo\n" $(head -c 120 /dev/zero | tr "\\0" a)'
\copy numbers FROM PROGRAM 'printf "1\tone\n2\t%s\t3\n" $(head -c 97 /dev/zero | tr "\\0" a)ünïcödé'
\copy numbers FROM PROGRAM 'printf "1\tone\n2\n"'
\copy numbers FROM PROGRAM 'printf "1\tone\n2\ttwo\t3\n"'
\copy numbers FROM PROGRAM 'printf "1\tone\n2\t\\\\N\n"'
\copy numbers FROM PROGRAM 'printf "1\tone\n2000\ttwo\n3\tthree\n"'
\copy numbers FROM PROGRAM 'printf "1\tone\n\n2\ttwo\n"'
\copy numbers FROM PROGRAM 'printf "1,one\n2,\"two\n"' (FORMAT csv)
COPY nowhere FROM STDIN;
COPY nowhere TO STDOUT;
COPY lines (a, c) FROM STDIN;
COPY lines (a, a) TO STDOUT;
-- WHERE
\copy numbers FROM PROGRAM 'printf "1\tone\n2\ttwo\n3\tthree\n4\tfour\n2000\tmany\n"' WHERE n % 2 = 1
\copy numbers FROM PROGRAM 'printf "11,one\n12,two\n13,three\n,none\n"' (FORMAT csv) WHERE s <> 'two' AND n IS NOT NULL
\copy numbers (s) FROM PROGRAM 'printf "only\nother\n"' WHERE n IS NULL AND s LIKE 'on%'
\copy numbers FROM PROGRAM 'printf "1\tone\n0\ttwo\n3\tthree\n"' WHERE 10 / n > 1
\copy numbers FROM PROGRAM 'printf "2000\tmany\n"' WHERE n < 1000
SELECT * FROM numbers ORDER BY n, s;
COPY numbers FROM STDIN WHERE n;
COPY numbers FROM STDIN WHERE q = 1;
COPY numbers FROM STDIN WHERE n = (SELECT 1);
COPY numbers FROM STDIN WHERE count(*) > 1;
COPY numbers FROM STDIN WHERE row_number() OVER () = 1;
COPY numbers FROM STDIN WHERE generate_series(1, n) = 1;
COPY numbers TO STDOUT WHERE n = 1;
DROP TABLE lines, numbers;
