#!/bin/bash
# tests/engine/window.sh - what a plain SELECT with workers keeps for its client: a window, however long the table is and however slow the client; and
# how soon workers stop when nobody wants more.
#
# The server has grains of one page and a window of four, so that small tables are long ones.
. "$(dirname "$0")/../lib.sh"
[ -z "$REFERENCE" ] || { ok "window: PostgreSQL has none"; exit; }
SERVER=$BUILD/small/crabtree
server_start window -c shared_buffers=256MB -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 -c autovacuum=off || { bad "window: the server does not start"; tail -n 5 "$server_log"; exit 1; }
rows=20000
for factor in 1 10; do
    attempt "window: a table of $((rows * factor)) rows" q -c "CREATE TABLE t$factor AS SELECT g AS id, repeat(md5(g::text), 8) AS t FROM generate_series(1, $((rows * factor))) g" -c "ANALYZE t$factor"
done
same "window: the plan has workers" 4 "$(q -c 'SET max_parallel_workers_per_gather = 4' -c 'EXPLAIN SELECT * FROM t10 WHERE id > 0' | sed -n 's/.*Workers Planned: //p')"

memory() { awk '/^RssAnon/ {print $2}' "/proc/$server_pid/status"; }
waits_for_client() {
    local n
    for n in $(seq 600); do
        [ "$(q -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'slow' AND state = 'active' AND wait_event_type = 'Client'")" = 1 ] && return 0
        sleep 0.05
    done
    return 1
}
# kept FACTOR: kilobytes that the server has taken when the client has seen one row and reads no more; then the client must get all the others.
kept() {
    local before after got
    q -c "SELECT count(*), max(t) FROM t$1" >"$scratch/warm"     # all pages in the pool
    before=$(memory)
    coproc slow { PGOPTIONS="-c max_parallel_workers_per_gather=4" "$BUILD/tests/engine/slow_client" "SELECT * FROM t$1 WHERE id > 0"; }
    local in=${slow[1]} out=${slow[0]} pid=$slow_PID
    read -r -t 120 got <&"$out"
    if [ "$got" != ready ] || ! waits_for_client; then bad "window: the server does not come to wait for its client"; fi
    after=$(memory)
    echo >&"$in"
    read -r -t 120 got <&"$out"
    wait "$pid"
    same "window: the slow client got all of t$1" "$((rows * $1))" "$got"
    kilobytes=$((after - before))
}
kept 1
one=$kilobytes
kept 1                                   # the first run also brings up threads
[ "$kilobytes" -ge "$one" ] || one=$kilobytes
kept 10
ten=$kilobytes
say "kept for a slow client: $one kB of 5 MB, $ten kB of 52 MB"
[ "$ten" -lt $((one + 4096)) ] && [ "$ten" -lt 8192 ]
verdict $? "window: what a slow client leaves waiting does not grow with the table"

# What an aggregate with float sums keeps: workers times groups times the depth of the tree over the grains (4 more for ten times the grains).
aggregate_kb() { q -c "SET max_parallel_workers_per_gather = 4" -c "EXPLAIN ANALYZE SELECT id % 2 = 0, id % 3 = 0, id % 5 = 0, sum(id::float8), stddev(id::float8) FROM t$1 GROUP BY 1, 2, 3" | sed -n 's/.*Memory Usage: \([0-9]*\)kB.*/\1/p' | tail -n 1; }
one=$(aggregate_kb 1) ten=$(aggregate_kb 10)
say "kept by an aggregate of 8 groups with 4 workers: ${one:-no} kB of 5 MB, ${ten:-no} kB of 52 MB"
[ "${ten:-999999}" -lt 4096 ]
verdict $? "window: what an aggregate keeps grows with the depth of that tree only"

for workers in 1 8; do
    # rows that no filter let through: nearly all of them, had the workers gone on
    seen() { q -c "SET max_parallel_workers_per_gather = $workers" -c "EXPLAIN ANALYZE $1" | sed -n 's/.*Rows Removed by Filter: //p' | tail -n 1; }
    limit=$(seen "SELECT id FROM t10 WHERE id % 1000 = 1 LIMIT 3") exists=$(seen "SELECT EXISTS (SELECT 1 FROM t10 WHERE id % 1000 = 500)")
    [ "${limit:-999999}" -lt $((rows)) ]
    verdict $? "window: LIMIT stops $workers worker(s) (${limit:-no} rows of $((rows * 10)) were looked at in vain)"
    [ "${exists:-999999}" -lt $((rows)) ]
    verdict $? "window: EXISTS stops $workers worker(s) (${exists:-no} rows)"
done
# A join that makes so many rows of a page that boxes can't take them: the leader reads such grains itself.
q -c "CREATE TABLE few AS SELECT g AS id, g % 2 AS k FROM generate_series(1, 3000) g" -c "CREATE TABLE many AS SELECT g AS v, g % 2 AS k FROM generate_series(1, 400) g" -c "ANALYZE few" -c "ANALYZE many"
for query in "SELECT few.id, many.v FROM few JOIN many USING (k)" "SELECT few.id, many.v FROM few LEFT JOIN many ON few.k = many.k AND few.id % 50 > many.v" \
    "SELECT few.id, many.v, 1 / (few.id - 2500) FROM few JOIN many USING (k)" "SELECT few.id, 1 / (few.id - 2500) FROM few JOIN many USING (k) OFFSET 200000 LIMIT 10"; do
    for workers in 1 2 8; do
        sum[workers]=$(psql -X -q -A -t -c "SET max_parallel_workers_per_gather = $workers" -c "$query" 2>&1 | md5sum)
    done
    same "window: the same with 2 and 8 workers: $query" "${sum[1]} ${sum[1]}" "${sum[2]} ${sum[8]}"
done
counted() { q -c "SET max_parallel_workers_per_gather = $1" -c "EXPLAIN (ANALYZE, TIMING off) SELECT few.id, many.v FROM few JOIN many USING (k) WHERE few.id % 3 > 0" | grep -o 'actual rows=[0-9]*\|Rows Removed by Filter: [0-9]*' | sort -u | tr '\n' ' '; }
same "window: what is read anew is counted once" "$(counted 1)" "$(counted 8)"
# … and so is what is run for its rows, or judged after a join.
q -c "CREATE INDEX many_v ON many (v)" -c "ANALYZE many"
counts() { q -c "SET max_parallel_workers_per_gather = $1; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET enable_hashjoin = off; SET enable_mergejoin = off" -c "EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) $2" | grep -v 'Gather\|Workers\|Phases\|Reason\|Morsels' | grep -o '[A-Z].*' | sed 's/^Parallel //' | sort; }
for query in "SELECT few.id, many.v FROM few JOIN many ON many.v > few.id % 7 AND many.k + few.k <> 5 AND (many.v + few.id) % 50 > 0" \
    "SELECT few.id, m.v FROM few, LATERAL (SELECT v FROM many WHERE v >= few.id % 5 AND v + few.id > 30 OFFSET 0) m WHERE m.v % 40 > 0" "SELECT few.id, m.v, (SELECT max(v) FROM many WHERE v = few.id + m.v) FROM few, (SELECT v FROM many OFFSET 0) m WHERE m.v > few.id % 4"; do
    counts 1 "$query" >"$scratch/c1"
    counts 8 "$query" >"$scratch/c8"
    same "window: counted alike with 8 workers: $query" "$(cat "$scratch/c1")" "$(cat "$scratch/c8")"
done
server_stop
verdict $? "window: the server ends well"
