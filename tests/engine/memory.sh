#!/bin/bash
# tests/engine/memory.sh - what queries keep in memory: a plain SELECT a window, whatever a join makes of its rows and however slow the client; a
# GROUP BY, a DISTINCT and a join about work_mem a worker, however much goes through them: at ten times the data as much.
. "$(dirname "$0")/../lib.sh"
[ -z "$REFERENCE" ] || { ok "memory: PostgreSQL's is its own"; exit; }
case $BUILD in *san*) ok "memory: not of a server with a sanitizer"; exit ;; esac
server_start memory -c shared_buffers=128MB -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c autovacuum=off ||
    { bad "memory: the server does not start"; tail -n 5 "$server_log"; exit 1; }
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
server_stop
verdict $? "memory: the server ends well"
