#!/bin/bash
# tests/engine/errors.sh - errors, cancels, clients that go away and full disks in parallel queries and in operators that spill.
#
# An error belongs to its row: the first in order is raised, whatever the number of workers, and none where LIMIT or EXISTS was met
# before it. Whatever ends a query, its workers are free afterwards and nothing is left of its temporary files. The server has grains of
# one page and a window of four, so that few rows make many.
. "$(dirname "$0")/../lib.sh"
[ -n "$REFERENCE" ] && { ok "errors: nothing to compare with PostgreSQL, whose workers' errors come in any order"; exit; }
SERVER=${SMALL_SERVER:-$BUILD/small/crabtree}
server_start errors -c shared_buffers=64MB -c max_parallel_workers=9 || { bad "errors: the server does not start"; tail -n 5 "$server_log"; exit 1; }
gate="SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET client_min_messages = error;"
attempt "errors: tables" q -c "CREATE TABLE e (id int, k int, t text, zero int, big int, pad text)" \
    -c "INSERT INTO e SELECT g, g % 97, 'text ' || g % 501, g - 14000, CASE WHEN g = 9000 THEN 2147483647 ELSE 1 END, repeat('x', 100) FROM generate_series(1, 20000) g" \
    -c "CREATE TABLE d (k int, name text)" -c "INSERT INTO d SELECT g, 'name ' || g FROM generate_series(0, 96) g" \
    -c "CREATE TABLE w AS SELECT id, k, t || repeat('y', 60) AS t FROM e" -c "CREATE VIEW broken AS SELECT id + 0 * (1 / (id - 19990)) AS id, k, t FROM w" -c "ANALYZE"
ask() { psql -X -q -At -v VERBOSITY=verbose -c "$gate SET max_parallel_workers_per_gather = $1; ${3:-}" -c "$2" 2>&1; }

# ---- More than a plan has numbers for: 54001, and the session goes on.
many() { awk -v n="$1" -v before="$2" -v each="$3" -v after="$4" 'BEGIN {printf "%s", before; for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? ", " : ""), each; print after}'; }
many 33000 "INSERT INTO d VALUES " "((SELECT max(k) FROM e WHERE id = 1))" ";" >"$scratch/relations.sql"
many 70000 "SELECT 1 WHERE 1 IN (" "(SELECT 1)" ");" >"$scratch/nodes.sql"
many 3000 "SELECT count(*) FROM (VALUES " "((SELECT max(k) FROM d))" ") v;" >"$scratch/fine.sql"
for file in relations nodes; do
    same "errors: too many $file" "ERROR:  54001: statement is too complex" "$(psql -X -q -At -v VERBOSITY=verbose -f "$scratch/$file.sql" 2>&1 | grep -o 'ERROR:.*')"
done
awk 'BEGIN {printf "CREATE TABLE wide (a0 int"; for (i = 1; i < 70000; i++) printf ", a%d int", i; print ");"}' >"$scratch/wide.sql"
same "errors: too many columns" "ERROR:  54011: tables can have at most 1600 columns" "$(psql -X -q -At -v VERBOSITY=verbose -f "$scratch/wide.sql" 2>&1 | grep -o 'ERROR:.*')"
same "errors: many relations, not too many" 3000 "$(psql -X -q -At -f "$scratch/fine.sql" 2>&1)"

# ---- Views over views: columns that become very tall, or twice as large with each (2 to the 40th, if they were put into each other).
q -c "CREATE TABLE v0 AS SELECT 1::numeric AS x, 2 AS y" -c "CREATE TABLE d0 AS SELECT 1::int8 AS x"
q -c "SELECT format('CREATE VIEW v%s AS SELECT x%s AS x, y FROM v%s', i, repeat(' + 1', 1400), i - 1) FROM generate_series(1, 25) i" >"$scratch/views.sql"
q -c "SELECT format('CREATE VIEW d%s AS SELECT x + x AS x FROM d%s', i, i - 1) FROM generate_series(1, 40) i" >>"$scratch/views.sql"
sed 's/$/;/' "$scratch/views.sql" | q
for query in "SELECT x FROM v25" "SELECT x FROM v25 WHERE x > 0" "SELECT x FROM v25 WHERE y > 0 GROUP BY x HAVING x > 1" "SELECT max(x) OVER (PARTITION BY x) FROM v25 WHERE x > 0"; do
    same "errors: tall views: $query" 35001 "$(q -c "$query" 2>&1)"
done
for query in "SELECT x FROM d40" "SELECT x FROM d40 WHERE x > 5" "SELECT x FROM (SELECT x FROM d40 UNION SELECT x FROM d39) u WHERE x % 2 = 0 ORDER BY 1 DESC LIMIT 1"; do
    same "errors: views twice as large: $query" 1099511627776 "$(q -c "$query" 2>&1)"
done

# ---- More relations and conditions than are planned at once.
q -c "CREATE TABLE r (x int, y int)" -c "INSERT INTO r VALUES (1, 2), (2, 3)"
q -c "SELECT 'CREATE VIEW many AS SELECT t1.x, t1.y FROM r t1' || string_agg(format(' JOIN r t%s ON t%s.x = t1.x', i, i), '') FROM generate_series(2, 70) i" | q
same "errors: two views of 70 tables" "1|2
2|3" "$(q -c "SELECT a.x, b.y FROM many a JOIN many b ON a.x = b.x ORDER BY 1" 2>&1)"
asked() { q -c "SELECT '$1' || string_agg(format('$2', i), '') FROM generate_series(1, $3) i" | q 2>&1; }
same "errors: 140 times EXISTS" 2 "$(asked "SELECT count(*) FROM r WHERE true" " AND EXISTS (SELECT 1 FROM r i WHERE i.x = r.x AND i.y > -%s)" 140)"
same "errors: 140 times NOT IN" 2 "$(asked "SELECT count(*) FROM r WHERE true" " AND x NOT IN (SELECT y + %s FROM r)" 140)"
same "errors: 100,000 conditions on two tables" 4 "$(asked "SELECT count(*) FROM r a JOIN r b ON true" " AND a.x < b.x + %s + 1" 100000)"
q -c "SET client_min_messages = error" -c "DROP TABLE v0, d0, r CASCADE"

# ---- The first error in order; row 9000 overflows, row 14000 divides by zero.
overflow='ERROR:  22003: integer out of range' division='ERROR:  22012: division by zero'
cases=(
    "$overflow|SELECT id FROM e WHERE big + 1 > 0 AND 10 / zero < 100"
    "$overflow|SELECT big + 1, 10 / zero FROM e"
    "$division|SELECT id, 10 / zero FROM e WHERE id <> 9000"
    "$overflow|SELECT sum(big + 1), sum(10 / zero) FROM e"
    "$overflow|SELECT k, max(big + 1), min(10 / zero) FROM e GROUP BY k"
    "$division|SELECT count(DISTINCT 10 / zero) FROM e"
    "$division|SELECT DISTINCT 10 / zero FROM e"
    "$overflow|SELECT id FROM e ORDER BY big + 1, 10 / zero"
    "$overflow|SELECT id FROM e ORDER BY big + 1, 10 / zero LIMIT 3"
    "$division|SELECT count(*) FROM e JOIN d ON d.k = 10 / e.zero"
    "$division|SELECT count(*) FROM d JOIN e ON d.k = e.k AND 10 / e.zero >= d.k - 100"
    "$division|SELECT count(*) FROM d LEFT JOIN e ON d.k = 10 / e.zero"
    "$division|SELECT rank() OVER (PARTITION BY k ORDER BY 10 / zero) FROM e"
    "$division|SELECT count(*) FROM (SELECT 10 / zero FROM e INTERSECT SELECT k FROM d) x"
    "$division|SELECT count(*) FROM d WHERE k IN (SELECT 10 / zero FROM e)"
    "$overflow|SELECT id FROM e WHERE big + 1 > 0 LIMIT 9000"
    "$division|SELECT EXISTS (SELECT 1 FROM e WHERE 10 / zero = 99)"
    "$overflow|SELECT id, big + 1 FROM e OFFSET 8990 LIMIT 10")
for case in "${cases[@]}"; do
    wanted=${case%%|*} sql=${case#*|} wrong=
    for workers in 1 2 3 4 8 9; do
        got=$(ask $workers "$sql" | grep -m 1 ERROR)
        [ "$got" = "$wanted" ] || wrong="$wrong $workers workers: ${got:-no error};"
    done
    same "errors: ${wanted#ERROR:  } at 1 to 9 workers: $sql" "" "$wrong"
done

# ---- What is met before the error hides it; the rows before it are the same.
met=(
    "8999|SELECT max(id) FROM (SELECT id FROM e WHERE big + 1 > 0 LIMIT 8999) x"
    "1,2,3|SELECT id FROM e WHERE 10 / zero < 100 LIMIT 3"
    "13999|SELECT id FROM e WHERE 10 / zero < 100 OFFSET 13998 LIMIT 1"
    "t|SELECT EXISTS (SELECT 1 FROM e WHERE 10 / zero < 100)"
    "f|SELECT NOT EXISTS (SELECT 1 FROM e JOIN d ON e.k = d.k WHERE big + 1 = 2)"
    "1|SELECT count(*) FROM (SELECT 1 FROM e WHERE 10 / zero <> -5 LIMIT 1) x"
    "0|SELECT count(*) FROM (SELECT 10 / zero FROM e LIMIT 0) x"
    "97|SELECT count(*) FROM (SELECT d.k FROM d WHERE EXISTS (SELECT 1 FROM w WHERE w.k = d.k)) x"
    "1|SELECT 1 FROM d JOIN e ON d.k = e.k AND 10 / (e.id - 50) > -100 LIMIT 1"
    "49|SELECT e.id FROM d JOIN e ON d.k = e.k AND 10 / (e.id - 50) > -100 OFFSET 48 LIMIT 1"
    "49|SELECT e.id FROM e LEFT JOIN d ON d.k = e.k AND 10 / (e.id - 50) > -100 OFFSET 48 LIMIT 1"
    "49|SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.k = e.k AND 10 / (e.id - 50 + d.k * 0) > -100) OFFSET 48 LIMIT 1"
    "1|SELECT e.id FROM e JOIN d ON d.k >= e.k AND 10 / (e.id - 50) > -100 LIMIT 1"
    "0|SELECT count(*) FROM e JOIN d ON e.t = d.name WHERE 10 / e.zero <> 77 AND d.k < 0"
    "0|SELECT count(*) FROM e JOIN (SELECT name FROM d WHERE k < 0) x ON e.t || '' = x.name JOIN d ON d.k = e.k WHERE 10 / e.zero <> 77"
    "8999 rows|SELECT id FROM e WHERE big + 1 > 0 LIMIT 8999")
for case in "${met[@]}"; do
    wanted=${case%%|*} sql=${case#*|} wrong=
    for workers in 1 2 4 9; do
        got=$(ask $workers "$sql")
        case $wanted in *rows) got="$(wc -l <<<"$got") rows" ;; *) got=$(tr '\n' ',' <<<"$got"); got=${got%,} ;; esac
        [ "$got" = "$wanted" ] || wrong="$wrong $workers workers: $(head -c 200 <<<"$got");"
    done
    same "errors: none where it isn't reached, at 1 to 9 workers: $sql" "" "$wrong"
done
# A join whose rows go to disk hands on what stands before an error, too: whether they do shows in no answer.
for rows in 2 3; do
    sql="SELECT x.id FROM (SELECT id, k FROM e WHERE 10 / (id - 19000) > -100) x LEFT JOIN w ON x.id = w.id AND w.k < 20 OFFSET 18997 LIMIT $rows"
    same "errors: a spilled join and LIMIT $rows" "$(ask 1 "$sql" "SET work_mem = '1GB'")" "$(ask 1 "$sql" "SET work_mem = '64kB'")"
done

# ---- Spills: in little memory, ended by their end, an error, a cancel; nothing is left open or named.
left_over() { # temporary files that the server still has: by name, or open
    local open
    open=$(find /proc/"$server_pid"/fd -lname '*pgsql_tmp*' 2>/dev/null | wc -l)
    echo $((open + $(find "$server_data/pgsql_tmp" -type f 2>/dev/null | wc -l)))
}
declare -A spills=(
    [sort]="SELECT count(*) FROM (SELECT id, t FROM w ORDER BY t, id OFFSET 1) x"
    [join]="SELECT count(*) FROM w a JOIN w b ON a.id = b.id"
    [full_join]="SELECT count(*) FROM w a FULL JOIN w b ON a.id = b.id + 5"
    [aggregate]="SELECT count(*) FROM (SELECT id, max(t) FROM w GROUP BY id) x"
    [distinct]="SELECT count(*) FROM (SELECT DISTINCT t, id FROM w) x"
    [count_distinct]="SELECT count(DISTINCT t || id) FROM w"
    [merge_join]="SELECT count(*) + sum(a.id) FROM w a FULL JOIN w b ON a.k = b.id AND a.id > b.k"
    [nested_loop]="SELECT count(*) FROM (SELECT k FROM d WHERE k < 3 OFFSET 0) a LEFT JOIN (SELECT id, t FROM w) b ON b.id > a.k * 1000 OR b.t IS NULL"
    [window]="SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY k ORDER BY t, id) AS n FROM w) x WHERE n > 0"
    [one_partition]="SELECT count(p) + sum(n) FROM (SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN 900 PRECEDING AND 5 FOLLOWING) AS n, lag(t, 700) OVER (ORDER BY id) AS p FROM w) x"
    [set_operation]="SELECT count(*) FROM (SELECT id, t FROM w EXCEPT SELECT id + 1, t FROM w) x"
    [with]="WITH x AS MATERIALIZED (SELECT id, t FROM w) SELECT count(*) FROM x a, x b WHERE a.id = b.id"
    [array_agg]="SELECT sum(length(x.a::text)) FROM (SELECT k, array_agg(DISTINCT id ORDER BY id DESC) AS a FROM w GROUP BY k) x"
    [string_agg]="SELECT length(string_agg(t, ',' ORDER BY t, id)) FROM w")
declare -A besides=([merge_join]="SET enable_hashjoin = off; SET enable_nestloop = off")
silent=" set_operation count_distinct " # the first doesn't spill; of the second's sets nothing is counted
canceled=0
for name in "${!spills[@]}"; do
    sql=${spills[$name]} wrong= little="SET work_mem = '64kB'; ${besides[$name]:-}"
    large=$(ask 1 "$sql" "SET work_mem = '1GB'; ${besides[$name]:-}")
    if [[ $silent != *" $name "* ]]; then
        ask 1 "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $sql" "$little" | grep -q 'Disk' || wrong=" nothing is said of a disk;"
    fi
    for workers in 1 4; do
        small=$(ask $workers "$sql" "$little")
        [ "$small" = "$large" ] || wrong="$wrong $workers workers in 64 kB: $small, not $large;"
        [ "$(left_over)" = 0 ] || wrong="$wrong files are left after $workers workers;"
        # An error in the last rows, when there is much on disk.
        failing=${sql//FROM w/FROM broken}
        got=$(ask $workers "$failing" "$little" | grep -m 1 ERROR)
        case $got in *22012*) ;; *) wrong="$wrong no error came of $failing but $got;" ;; esac
        [ "$(left_over)" = 0 ] || wrong="$wrong files are left after an error, $workers workers;"
        for time in 5 20 60; do
            answer=$(ask $workers "$sql; $sql; $sql; $sql; $sql" "$little; SET statement_timeout = $time")
            canceled=$((canceled + $(grep -c 57014 <<<"$answer")))
            got=$(grep -v -E '^[0-9]*$' <<<"$answer" | grep -c -v -E '57014|^LOCATION')
            [ "$got" = 0 ] || wrong="$wrong a cancel after $time ms was no cancel;"
            [ "$(left_over)" = 0 ] || wrong="$wrong files are left after a cancel;"
        done
    done
    same "errors: $name spills to the same answer and leaves nothing, ended by its end, an error, a cancel" "" "$wrong"
done
[ "$canceled" -ge ${#spills[@]} ]
verdict $? "errors: $canceled of those runs were canceled"

# ---- An index range of which no entry is a row any more is walked in vain, but not in the face of a cancel.
q -c "CREATE TABLE gone (k int, t text)" -c "INSERT INTO gone SELECT g, 'x' FROM generate_series(1, 200000) g" -c "CREATE INDEX gone_k ON gone (k)" -c "ANALYZE gone"
vain="SELECT count(*) FROM gone WHERE k > 0 AND t <> ''"
same "errors: the range is read by its index" 1 "$(ask 4 "EXPLAIN $vain" "SET enable_seqscan = off; SET enable_bitmapscan = off" | grep -c 'Index Scan')"
# touched WORKERS: pages that it touched before the time limit ended it; nearly 200,000, if nobody looks.
touched() {
    psql -X -q -At -c "$gate SET enable_seqscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = $1" -c "BEGIN" -c "DELETE FROM gone" -c "SELECT sum(hits) FROM crab_pool" \
        -c "SET LOCAL statement_timeout = 1" -c "$vain" -c "ROLLBACK" -c "SELECT sum(hits) FROM crab_pool" 2>&1 | awk '/statement timeout/ { canceled = 1 } /^[0-9]+$/ { if (!first) first = $1; last = $1 } END { print canceled ? last - first : 999999 }'
}
for workers in 1 4; do
    for _ in 1 2 3 4 5 6 7 8 9 10; do # the time limit itself may come late
        pages=$(touched $workers)
        [ "$pages" -ge 150000 ] || break
    done
    [ "$pages" -lt 150000 ]
    verdict $? "errors: a range without rows is canceled on its way, $workers workers (pages touched: $pages)"
done

# ---- Cancels and clients that go away: the workers are free again.
launched() { # the workers that a query gets now
    q -c "$gate SET max_parallel_workers_per_gather = 8" -c "EXPLAIN (ANALYZE) SELECT count(*) FROM e WHERE k <> 5" | sed -n 's/.*Workers Launched: //p'
}
long="SELECT count(*), sum(length(a.t || b.t)) FROM w a, w b WHERE a.k + b.k <> -1"
PGOPTIONS='' psql -X -q -At -c "$gate SET max_parallel_workers_per_gather = 8; SET application_name = 'goes_away'" -c "$long" >/dev/null 2>&1 &
client=$!
await() { # SQL WANTED: at most ten seconds
    local tries=0
    until [ "$(q -c "$1")" = "$2" ]; do tries=$((tries + 1)); [ $tries -lt 200 ] || return 1; sleep 0.05; done
}
attempt "errors: a long parallel query runs" await "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'goes_away' AND state = 'active' AND query LIKE 'SELECT count%'" t
kill -KILL $client
wait $client 2>/dev/null
attempt "errors: a client that goes away ends its query" await "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'goes_away'" 0
same "errors: and its workers are free" 8 "$(launched)"
PGOPTIONS='' psql -X -q -At -v VERBOSITY=verbose -c "$gate SET max_parallel_workers_per_gather = 8; SET application_name = 'canceled'" -c "$long" >"$scratch/canceled" 2>&1 &
client=$!
attempt "errors: another runs" await "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'canceled' AND state = 'active' AND query LIKE 'SELECT count%'" t
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'canceled'" >/dev/null
wait $client
same "errors: it is canceled" "ERROR:  57014: canceling statement due to user request" "$(head -n 1 "$scratch/canceled")"
same "errors: and its workers are free" 8 "$(launched)"
# A client that stops reading: the window is full, the workers are back in the pool, others get them.
mkfifo "$scratch/pipe"
psql -X -q -At -v FETCH_COUNT=0 -c "$gate SET max_parallel_workers_per_gather = 8; SET application_name = 'slow'" -c "COPY (SELECT a.pad FROM e a, d) TO STDOUT" >"$scratch/pipe" 2>/dev/null &
client=$!
exec 7<"$scratch/pipe"
attempt "errors: a client that doesn't read" await "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'slow' AND wait_event_type = 'Client'" 1
same "errors: holds no worker" 8 "$(launched)"
kill -KILL $client
wait $client 2>/dev/null
exec 7<&-
server_stop
verdict $? "errors: the server ends well"

# ---- A full disk under the temporary files: 53100, and the room is there again.
cat >"$scratch/full.sh" <<'EOS'
. tests/lib.sh
SERVER=${SMALL_SERVER:-$BUILD/small/crabtree}
rm -rf "$scratch"; scratch=$1/tmp
mount -t tmpfs -o size=160m tmpfs "$1" && mkdir "$scratch" || { echo "no mount"; exit 77; }
server_start full -c shared_buffers=64MB -c max_wal_size=32MB || { bad "errors: full disk: the server does not start"; tail -n 5 "$server_log"; exit 1; }
q -c "CREATE TABLE w (id int, k int, t text)" -c "INSERT INTO w SELECT g, g % 97, repeat('text ' || g % 501, 12) FROM generate_series(1, 60000) g" -c "ANALYZE" -c "CHECKPOINT"
free() { df --output=avail -k "$1" | tail -n 1; }
head -c $((($(free "$1") - 1024) * 1024)) /dev/zero >"$1/ballast"
before=$(free "$1")
while IFS='|' read -r name sql; do
    for workers in 1 4; do
        answer=$(psql -X -q -At -v VERBOSITY=verbose -c "SET work_mem = '64kB'; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = $workers" -c "$sql" 2>&1)
        case $answer in *"53100: could not write to temporary file"*) ok "errors: a full disk is 53100 for a $name, $workers workers" ;; *) bad "errors: full disk, $name, $workers workers: $(printf %s "$answer" | head -c 300)" ;; esac
        [ "$(free "$1")" -ge $((before - 64)) ] || bad "errors: full disk: $name left $((before - $(free "$1"))) kB behind"
    done
done <<'QUERIES'
sort|SELECT count(*) FROM (SELECT id, t FROM w ORDER BY t, id OFFSET 1) x
join|SELECT count(*) FROM w a JOIN w b ON a.id = b.id AND a.t = b.t
aggregate|SELECT count(*) FROM (SELECT id, max(t) FROM w GROUP BY id) x
distinct|SELECT count(*) FROM (SELECT DISTINCT t, id FROM w) x
window|SELECT sum(n), max(t) FROM (SELECT row_number() OVER () AS n, t FROM w) x
string_agg|SELECT length(string_agg(t, ',' ORDER BY t, id)) FROM w
with|WITH x AS MATERIALIZED (SELECT id, t FROM w) SELECT max(a.t), max(b.t) FROM x a, x b WHERE a.id = b.id
nested_loop|SELECT count(*), max(b.t) FROM (VALUES (1), (2)) v(a) JOIN (SELECT id, t FROM w OFFSET 0) b ON b.id > v.a OR b.t = 'x'
QUERIES
rm -f "$1/ballast"
same "errors: full disk: with room again there is an answer" 60000 "$(q -c "SET work_mem = '64kB'" -c "SELECT count(*) FROM (SELECT id, t FROM w ORDER BY t, id OFFSET 0) x" 2>&1)"
server_stop
verdict $? "errors: full disk: the server ends well"
EOS
mkdir "$scratch/disk"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    unshare -m bash "$scratch/full.sh" "$scratch/disk" >"$scratch/full.out" 2>&1
    if grep -q '^no mount' "$scratch/full.out"; then say "no tmpfs may be mounted here: the full disk is left out"; else cat "$scratch/full.out"; fi
else
    say "not root: the full disk is left out"
fi
