#!/bin/bash
# tests/engine/memory.sh - what queries keep in memory: a plain SELECT a window, whatever a join makes of its rows and however slow the client; a
# GROUP BY, a DISTINCT and a hash join in one worker work_mem and the buffers of their files, at ten times the data as much; and kept rows work_mem, however wide they are.
. "$(dirname "$0")/../lib.sh"
[ -z "$REFERENCE" ] || { ok "memory: PostgreSQL's is its own"; exit; }
case $BUILD in *san*) ok "memory: not of a server with a sanitizer"; exit ;; esac
start() { server_start memory -c shared_buffers=128MB -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c autovacuum=off; }
start || { bad "memory: the server does not start"; tail -n 5 "$server_log"; exit 1; }
memory() { awk '/^RssAnon/ {print $2}' "/proc/$server_pid/status"; }

# ---- a join that makes thousands of rows of each, and a client that reads one of them ----
attempt "memory: tables" q -c "CREATE TABLE t AS SELECT g AS id, 1 AS one FROM generate_series(1, 60000) g" -c "CREATE TABLE d AS SELECT g AS v, 1 AS one FROM generate_series(1, 300) g" \
    -c "ANALYZE t" -c "ANALYZE d" -c "SELECT count(*), (SELECT count(*) FROM d) FROM t"
slow() { q -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'slow' AND state = 'active' $1"; }
comes_to() { local n; for n in $(seq 600); do [ "$(slow "$2")" = "$1" ] && return 0; sleep 0.05; done; return 1; }
# kept WORKERS QUERY [ROWS]: kilobytes that the server has taken when the client has seen so many rows (1), and reads no more.
kept() {
    local before got
    before=$(memory)
    coproc client { PGOPTIONS="-c max_parallel_workers_per_gather=$1" exec "$BUILD/tests/engine/slow_client" "$2" "${3:-1}"; }
    local out=${client[0]} pid=$client_PID
    read -r -t 120 got <&"$out"
    [ "$got" = ready ] && comes_to 1 "AND wait_event_type = 'Client'"
    verdict $? "memory: with $1 worker(s) the server waits for its client: $2"
    kilobytes=$(($(memory) - before))
    kill "$pid"
    wait "$pid" 2>/dev/null
    comes_to 0 ""
    verdict $? "memory: … and goes on when it is gone"
}
fan_out="SELECT t.id, d.v FROM t JOIN d ON t.one = d.one"
q -c "SET max_parallel_workers_per_gather = 8" -c "EXPLAIN $fan_out" >"$scratch/plan"
grep -q "Workers Planned" "$scratch/plan" && grep -q "Hash Join" "$scratch/plan"
verdict $? "memory: the join is a hash join with workers"
for workers in 1 2 8; do
    kept $workers "$fan_out" 4000000      # which are more than a grain gives: workers are at it
    [ "$kilobytes" -lt 81920 ]
    verdict $? "memory: 18 million rows with $workers worker(s): $kilobytes kB"
done
for query in "SELECT t.id, d.v FROM t JOIN d ON t.id > d.v - 300" "SELECT id, generate_series(1, 10000) FROM t"; do
    kept 2 "$query"
    [ "$kilobytes" -lt 81920 ]
    verdict $? "memory: $kilobytes kB for $query"
done

# ---- a partition that lies on disk, and frames that move: each one's state goes before the next ----
kept "1 -c work_mem=1MB" "SELECT string_agg(lpad(id::text, 100, 'x'), ',') OVER (ORDER BY id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) FROM t"
[ "$kilobytes" -lt 81920 ]
verdict $? "memory: $kilobytes kB for 60000 frames"

# ---- what goes to disk: the most that was resident at once, above what was when all pages were in the pool of a new server
attempt "memory: large tables" q -c "CREATE TABLE few AS SELECT g AS id, repeat('x', 100) || g AS t FROM generate_series(1, 30000) g" -c "CREATE TABLE many AS SELECT g AS id, repeat('x', 100) || g AS t FROM generate_series(1, 400000) g" \
    -c "CREATE TABLE wide AS SELECT g AS id, repeat('x', 500) AS t FROM generate_series(1, 3000) g" -c "ANALYZE few" -c "ANALYZE many" -c "ANALYZE wide"
resident() { awk -v name="$1:" '$1 == name {print $2}' "/proc/$server_pid/status"; }
# A new server, all of whose pages are in the pool.
anew() {
    server_stop && start && q -c "SELECT count(t) FROM many" -c "SELECT count(t) FROM few" -c "SELECT count(t) FROM wide" >"$scratch/warm"
    warm=$(resident VmRSS)
}
attempt "memory: a new server" anew
# A partition of rows that are wide lies in a file; that is mapped, so what is resident says little: the server may not have more than 24 MB, and gets no more.
prlimit --pid "$server_pid" --data=$((($(resident VmData) + 24576) * 1024))
query="SELECT count(*), sum(length(l)) FROM (SELECT lag(repeat(t, 80)) OVER () AS l FROM wide) x"
same "memory: 24 MB do for a partition of 120 MB: $query" "3000|119960000" "$(q -c "SET work_mem = '1MB'; SET max_parallel_workers_per_gather = 1" -c "$query" 2>&1)"
attempt "memory: a new server" anew
if ! echo 5 2>/dev/null >"/proc/$server_pid/clear_refs"; then
    say "the peak of a process can't be set back here: what else goes to disk is left out"
    exit
fi
# peak WORKERS QUERY WANTED MOST: no more kilobytes are resident at any time.
peak() {
    local answers kilobytes
    echo 5 >"/proc/$server_pid/clear_refs"
    answers=$(q -c "SET work_mem = '1MB'; SET max_parallel_workers_per_gather = $1" -c "$2")
    kilobytes=$(($(resident VmHWM) - warm))
    [ "$answers" = "$3" ] && [ "$kilobytes" -lt "$4" ]
    verdict $? "memory: $kilobytes kB with $1 worker(s): $2 ($answers)"
}
peak 1 "WITH c AS MATERIALIZED (SELECT id, repeat(t, 80) AS t FROM wide) SELECT count(*), sum(length(c.t)) FROM c, (SELECT count(*) FROM c) d" "3000|120000000" 16384
peak 1 "SELECT count(*), sum(length(b.t)) FROM (SELECT id FROM few WHERE id < 4) a LEFT JOIN (SELECT id, repeat(t, 80) AS t FROM wide) b ON a.id < b.id" "8994|359760000" 16384
for query in "SELECT count(*), max(length(m)) FROM (SELECT id, max(t) AS m FROM @ GROUP BY id) x" "SELECT count(*), sum(id) FROM (SELECT DISTINCT t, id FROM @) x" "SELECT count(DISTINCT t), max(id) FROM @" "SELECT count(*), max(length(a.t || b.t)) FROM @ a JOIN @ b ON a.id = b.id"; do
    attempt "memory: a new server" anew
    small=$(q -c "${query//@/few}") large=$(q -c "SET work_mem = '1GB'" -c "${query//@/many}")
    attempt "memory: a new server" anew
    peak 1 "${query//@/few}" "$small" 32768
    peak 1 "${query//@/many}" "$large" 32768
done
server_stop
verdict $? "memory: the server ends well"
