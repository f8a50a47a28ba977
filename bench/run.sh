#!/bin/bash
# bench/run.sh - Crabtree beside the PostgreSQL of this machine, in one interleaved run (A B A B ...), medians, figures as ratios.
#
#     ROUNDS=5 ROWS=1000000 bench/run.sh [copy] [scan]
#
# Both servers get the same memory and the same client on a Unix socket, with fsync on. Each query's answer must be the same on both, or the run
# fails. Ratios are Crabtree / PostgreSQL of throughput: above 1, Crabtree is faster. Absolute times of a shared machine drift;
# compare ratios only. pgbench has a script of its own, pgbench.sh.
set -euo pipefail
ROUNDS=${ROUNDS:-5} ROWS=${ROWS:-1000000}
ONLY="${*:-copy scan}"
. bench/servers.sh
now() { date +%s%N; }
# report LABEL UNIT FILE_CRAB FILE_PG (files hold one figure a round, more is better)
report() { awk -v l="$1" -v u="$2" -v a="$(median <"$3")" -v b="$(median <"$4")" 'BEGIN {printf "%-34s %12.6g %12.6g %-6s %8.2f\n", l, a, b, u, a / b}'; }
printf '%-34s %12s %12s %-6s %8s\n' "(medians of $ROUNDS rounds)" Crabtree PostgreSQL '' ratio

if [[ $ONLY == *copy* || $ONLY == *scan* ]]; then
    scale=$(awk -v r="$ROWS" 'BEGIN {printf "%.6f", r / 5900000}')
    "$BUILD/bench/generate" lineitem "$scale" "$ROWS" >"$work/lineitem"
    rows=$(wc -l <"$work/lineitem")
    : >"$work/crab.t"; : >"$work/pg.t"
    for _ in $(seq $(( ROUNDS < 3 ? ROUNDS : 3 ))); do
        for server in crab pg; do
            sql $server -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS lineitem"
            "$BUILD/bench/generate" schema | grep 'TABLE lineitem' | sql $server
            start=$(now)
            sql $server -c "COPY lineitem FROM STDIN" <"$work/lineitem"
            awk -v t=$(( $(now) - start )) -v n="$rows" 'BEGIN {print n / t * 1e9}' >>"$work/$server.t"
        done
    done
    report "COPY in, $rows rows" rows/s "$work/crab.t" "$work/pg.t"
fi
query() { # label, SQL: one psql each, timed by the server's own \timing
    local label=$1 text=$2
    : >"$work/crab.t"; : >"$work/pg.t"
    for _ in $(seq $((ROUNDS + 1))); do
        for server in crab pg; do
            sql $server -c "$text" >"$work/$server.answer"
            sql $server -c '\timing on' -c "$text" | awk '/^Time:/ {print 1000 / $2}' >>"$work/$server.t"
        done
    done
    cmp -s "$work/crab.answer" "$work/pg.answer" || { echo "bench: $label: the answers differ"; cat "$work/crab.answer" "$work/pg.answer"; exit 1; }
    report "$label" q/s "$work/crab.t" "$work/pg.t"
}
if [[ $ONLY == *scan* ]]; then
    for server in crab pg; do sql $server -c "VACUUM ANALYZE lineitem"; done
    query "count(*)" "SELECT count(*) FROM lineitem"
    query "filtered sum" "SELECT sum(l_extendedprice), count(*) FROM lineitem WHERE l_quantity < 24 AND l_discount BETWEEN 0.05 AND 0.07"
    query "group by" "SELECT l_returnflag, l_linestatus, sum(l_quantity), count(*) FROM lineitem GROUP BY 1, 2 ORDER BY 1, 2"
    for server in crab; do
        for n in 1 2; do
            : >"$work/w$n.t"
        done
        for _ in $(seq $((ROUNDS + 2))); do for n in 1 2; do
            sql $server -c "SET max_parallel_workers_per_gather = $n" -c '\timing on' -c "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_quantity < 24" -c "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_quantity < 24" | awk '/^Time:/ {t=$2} END {print 1000 / t}' >>"$work/w$n.t"
        done; done
    done
    awk -v a="$(median <"$work/w2.t")" -v b="$(median <"$work/w1.t")" 'BEGIN {printf "%-34s %12.6g %12.6g %-6s %8.2f\n", "filtered sum, 2 workers / 1", a, b, "q/s", a / b}'
fi
