#!/bin/sh
# server/tour.sh - a scripted walk through a live server (PGHOST and PGPORT say which): DDL, queries, a plan, and two sessions that show
# that a reader isn't blocked by a writer. Ends with status 0 only if all of it went as told.
set -eu
psql="psql -X -v ON_ERROR_STOP=1"
say() { printf '\n-- %s\n' "$*"; }

say "The sample database"
$psql -e -c "SELECT version()" -c "\dt" -c "SELECT count(*) AS lines, sum(l_quantity) AS pieces, min(l_shipdate), max(l_shipdate) FROM lineitem"

say "Tables of our own: keys, checks, defaults, transactional DDL"
$psql -q -e <<'SQL'
DROP TABLE IF EXISTS tide;
DROP TABLE IF EXISTS crab;
CREATE TABLE crab (id serial PRIMARY KEY, name text NOT NULL UNIQUE, legs int NOT NULL DEFAULT 8 CHECK (legs BETWEEN 0 AND 10));
CREATE TABLE tide (crab int REFERENCES crab, seen timestamp DEFAULT '2026-01-01 12:00', metres numeric(4,2));
INSERT INTO crab (name) VALUES ('fiddler'), ('hermit'), ('horseshoe') RETURNING *;
INSERT INTO tide SELECT id, timestamp '2026-01-01' + id * interval '6 hours', id * 0.75 FROM crab;
BEGIN;
CREATE INDEX tide_seen ON tide (seen);
ALTER TABLE crab ADD COLUMN colour text DEFAULT 'red';
SELECT name, colour, metres FROM crab JOIN tide ON crab = id ORDER BY seen;
ROLLBACK;
\d crab
SQL

say "An error says where"
psql -X -c "SELECT nmae FROM crab WHERE legs > 4" 2>&1 || :

say "A query, its plan, and what running it took"
$psql -e <<'SQL'
SELECT n_name, count(*), round(sum(l_extendedprice * (1 - l_discount)), 2) AS revenue
  FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
 WHERE l_shipdate >= date '1995-01-01' AND l_shipdate < date '1996-01-01'
 GROUP BY n_name ORDER BY revenue DESC LIMIT 5;
EXPLAIN ANALYZE SELECT l_returnflag, sum(l_quantity), avg(l_extendedprice) FROM lineitem WHERE l_quantity < 24 GROUP BY l_returnflag;
EXPLAIN SELECT * FROM orders WHERE o_orderkey = 7;
SQL

say "Two sessions: a writer holds a row, a reader passes by"
steps=$(mktemp -d)
trap 'rm -rf "$steps"' EXIT
mkfifo "$steps/writer"
$psql -q -At -o "$steps/out" <"$steps/writer" &
writer=$!
exec 3>"$steps/writer"
echo "BEGIN; UPDATE crab SET legs = 10 WHERE name = 'hermit' RETURNING 'writer: hermit has ' || legs || ' legs now (not committed)'; \\! touch $steps/updated" >&3
until [ -e "$steps/updated" ]; do kill -0 $writer; sleep 0.05; done
cat "$steps/out" 2>/dev/null || :
seen=$($psql -q -At -c "SET statement_timeout = '5s'" -c "SELECT legs FROM crab WHERE name = 'hermit'")
echo "reader, meanwhile: hermit has $seen legs"
[ "$seen" = 8 ] || exit 1
echo "COMMIT; SELECT 'writer: committed';" >&3
exec 3>&-
wait $writer
cat "$steps/out"
seen=$($psql -q -At -c "SELECT legs FROM crab WHERE name = 'hermit'")
echo "reader, afterwards: hermit has $seen legs"
[ "$seen" = 10 ] || exit 1
$psql -q -c "DROP TABLE tide, crab"

say "End of the tour"
