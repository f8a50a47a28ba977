#!/bin/bash
# tests/server/copy.sh - lines of a TPC-H-shaped table in and out: the same bytes come back, and the sums are those of the generator's own
# arithmetic; with a pool smaller than the table, and larger.
#
#     ROWS (100000; 1000000 is the full run)
. "$(dirname "$0")/../lib.sh"
rows=${ROWS:-100000}
scale=$(awk "BEGIN { print $rows / 5900000 + 0.01 }")
generate=$BUILD/bench/generate
"$generate" lineitem "$scale" "$rows" >"$scratch/in"
same "copy: the generator makes the rows" "$rows" "$(wc -l <"$scratch/in")"
expected=$("$generate" sums "$scale" "$rows")
for buffers in 8MB 1GB; do
    [ "$rows" -gt 300000 ] && [ $buffers = 8MB ] && buffers=32MB
    server_start copy$buffers -c shared_buffers=$buffers -c max_wal_size=256MB || { bad "copy: the server does not start"; tail -n 5 "$server_log"; exit 1; }
    "$generate" schema | sed 's/ char(/ varchar(/g' | q >/dev/null   # char(n) would come back padded
    begun=$(date +%s%3N)
    attempt "copy: in, $rows rows, shared_buffers $buffers" q -c "COPY lineitem FROM STDIN" <"$scratch/in"
    say "$(($(date +%s%3N) - begun)) ms"
    q -c "COPY lineitem TO STDOUT" >"$scratch/out"
    if cmp -s "$scratch/in" "$scratch/out"; then ok "copy: the same bytes come out, shared_buffers $buffers"; else bad "copy: other bytes come out: $(cmp "$scratch/in" "$scratch/out" 2>&1)"; fi
    same "copy: the sums are right, shared_buffers $buffers" "$expected" "$(q -c "SELECT count(*), sum(l_quantity), sum(l_extendedprice), sum(l_discount), sum(l_tax), sum(l_extendedprice * (1 - l_discount)),
        sum(l_orderkey), sum(l_partkey), count(*) FILTER (WHERE l_quantity < 24 AND l_discount BETWEEN 0.05 AND 0.07), sum(CASE WHEN l_quantity < 24 AND l_discount BETWEEN 0.05 AND 0.07 THEN l_extendedprice ELSE 0 END) FROM lineitem")"
    attempt "copy: keys and indexes" q -c "ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber)" -c "CREATE INDEX lineitem_partkey ON lineitem (l_partkey)"
    server_stop
    verdict $? "copy: the server ends well"
    server_start copy$buffers -c shared_buffers=$buffers
    q -c "COPY (SELECT * FROM lineitem) TO STDOUT" >"$scratch/out"
    if cmp -s "$scratch/in" "$scratch/out"; then ok "copy: the same bytes after a restart"; else bad "copy: other bytes after a restart: $(cmp "$scratch/in" "$scratch/out" 2>&1)"; fi
    q -c "COPY lineitem TO STDOUT (FORMAT csv)" >"$scratch/csv"
    q -c "CREATE TABLE again (LIKE lineitem)" || q -c "CREATE TABLE again AS SELECT * FROM lineitem WHERE false"
    attempt "copy: in again as CSV" q -c "COPY again FROM STDIN (FORMAT csv)" <"$scratch/csv"
    same "copy: CSV lost nothing" 0 "$(q -c "SELECT count(*) FROM (SELECT * FROM again EXCEPT SELECT * FROM lineitem) x")"
    server_stop
    rm -rf "$scratch/copy$buffers"
done

# A batch of COPY ends by its bytes, too: rows of 1 MB aren't kept by the thousand.
server_start long -c shared_buffers=8MB -c max_wal_size=256MB
q -c "CREATE TABLE long (n int, s text)"
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$server_pid/status"; }
before=$(peak)
awk 'BEGIN { s = "0123456789abcdef"; while (length(s) < 1000000) s = s s; for (n = 1; n <= 100; n++) print n "\t" s }' >"$scratch/long.in"
attempt "copy: a hundred rows of 1 MB" q -c "COPY long FROM STDIN" <"$scratch/long.in"
grown=$((($(peak) - before) / 1024))
same "copy: they are there" "100|1|100" "$(q -c "SELECT count(*), count(DISTINCT md5(s)), max(n) FROM long WHERE length(s) >= 1000000")"
if [ $grown -lt 80 ]; then ok "copy: they wait in few megabytes ($grown)"; else bad "copy: they wait in $grown MB"; fi
# Many rows go into an index at once: the one that could not is named.
q -c "CREATE TABLE keys (id int PRIMARY KEY)"
coproc HOLDER { psql -X -q -A -t; }
echo "BEGIN; INSERT INTO keys VALUES (12); SELECT 'held';" >&"${HOLDER[1]}"
read -r -t 60 held <&"${HOLDER[0]}"
same "copy: another session has a key" held "$held"
same "copy: a lock timeout names its line" "CONTEXT:  COPY keys, line 12" "$(seq 1 20 | q -c "SET lock_timeout = '100ms'" -c "COPY keys FROM STDIN" 2>&1 | grep "COPY keys" | sed 's/^COPY/CONTEXT:  COPY/')"
echo "ROLLBACK;" >&"${HOLDER[1]}"
exec {HOLDER[1]}>&-
wait "$HOLDER_PID"
# Workers read batches: rows come to stand where one thread puts them, and the same error is the first.
q -c "CREATE TABLE read (id int PRIMARY KEY, n numeric, f float8, s text, d date DEFAULT NULL CHECK (id <= 30000))"
awk 'BEGIN { long = "0123456789"; while (length(long) < 9000) long = long long; for (n = 1; n <= 30000; n++) {
    s = n % 7 == 0 ? "tab\\tand\\\\" : n % 11 == 0 ? "two\\\nlines" : n % 13 == 0 ? "\\N" : n % 17 == 0 ? "h\303\251" : n % 1000 == 0 ? long n : "plain " n
    print n "\t" n / 8 "\t" (n % 5 ? n * 0.1 : "\\N") "\t" s "\\\\" } }' >"$scratch/read"
damage() { # LINE TEXT: that record is another one
    awk -v line="$1" -v text="$2" '{ part = /[^\\](\\\\)*\\$/ } !inside { record++ } record == line { if (!inside) print text; inside = part; next } { inside = part; print }'
}
damage 15000 "77	1	1	twice" <"$scratch/read" >"$scratch/read.twice"
damage 15020 "x	1	1	no number" <"$scratch/read.twice" >"$scratch/read.near"
damage 17500 "x	1	1	no number" <"$scratch/read.twice" >"$scratch/read.far"
damage 20005 $'20005\t1\t1\t\xff' <"$scratch/read" >"$scratch/read.utf8"
damage 12345 "12345	1	1" <"$scratch/read" >"$scratch/read.short"
damage 29999 "29999	1	1	2	3" <"$scratch/read" >"$scratch/read.long"
damage 20000 '\.' <"$scratch/read" | damage 20500 "x" >"$scratch/read.marker"
damage 21000 '21000	1	1	a\.' <"$scratch/read" >"$scratch/read.inside"
damage 20000 '20000	1	1	a\.b' <"$scratch/read" >"$scratch/read.corrupt"
head -c -1 "$scratch/read" >"$scratch/read.open"
damage 23456 "99999	1	1	check" <"$scratch/read" >"$scratch/read.check"
loads() { # WORKERS [OF_ALL]: OF_ALL 1 leaves most of what they are sent to the leader
    for file in "$scratch/read" "$scratch"/read.*; do
        echo "-- ${file#"$scratch/"}"
        q -c "TRUNCATE read" -c "SET max_parallel_workers = ${2:-8}" -c "SET max_parallel_workers_per_gather = $1" -c "COPY read (id, n, f, s) FROM STDIN" <"$file" 2>&1
        q -c "SELECT count(*), md5(string_agg(ctid::text || id || n || coalesce(f, -1) || coalesce(s, 'null'), ',')), md5(string_agg(s, ',' ORDER BY id)) FROM read"
    done
}
loads 1 >"$scratch/loads"
same "copy: lines of many kinds come in, or are refused" "30000 30000 21000 19999 8" "$(sed -n 's/|.*//p' "$scratch/loads" | awk '$1' | sort -rn | tr '\n' ' ')$(grep -c ERROR "$scratch/loads")"
for workers in 2 3 8; do same "copy: the same rows and errors with $workers workers" "$(cat "$scratch/loads")" "$(loads $workers)"; done
same "copy: the same rows and errors with 8 workers of which one may come" "$(cat "$scratch/loads")" "$(loads 8 1)"
server_stop
