#!/bin/bash
# bench/tpch.sh - the 22 queries of TPC-H on data of our own generator: Crabtree beside PostgreSQL, SQLite and DuckDB, interleaved, answers
# compared; then a scan of the largest table from a cold disk.
#
#     SF=1 ROUNDS=3 WORKERS=1 bench/tpch.sh [queries] [cold]     TPCH_DIR=../shared/tpch (its queries/qNN.sql); ONLY=q05, SYSTEMS="crab pg", CPU=1
#
# SQLite counts decimals in binary floating point: a query for which that makes another answer is left out in its column; so is one that takes it more
# than 20 seconds.
set -euo pipefail
SF=${SF:-1} TPCH_DIR=${TPCH_DIR:-../shared/tpch} ROUNDS=${ROUNDS:-3}
[[ $SF =~ ^[0-9]+(\.[0-9]+)?$ ]] || { echo "bench: SF=$SF is not a number" >&2; exit 2; }
parts="${*:-queries cold}"
[ -f "$TPCH_DIR/queries/q01.sql" ] || { echo "bench: no TPC-H queries at $TPCH_DIR/queries: nothing is measured (TPCH_DIR=...)"; exit 0; }
[[ $parts == *queries* ]] || SYSTEMS="crab pg"
. bench/compare.sh
bench/tpch_scripts.sh "$SF" "$TPCH_DIR" "$data"
status=0
systems
versions
echo "scale $SF"
if [[ $parts == *queries* ]]; then
    "$BUILD/bench/compare" -r "$ROUNDS" -w "$WORKERS" -n -o "$out/tpch" "${on[@]}" "$data/load.sql" "$data/queries.sql" || status=$?
    plot tpch "TPC-H, scale $SF, $WORKERS worker(s)"
else
    "$BUILD/bench/compare" "${on[@]}" "$data/load.sql" >/dev/null || status=$?
fi

# A cold scan: both servers stopped, their files out of the kernel's page cache, both started again; then one query that reads all pages.
forget() { # files under a folder
    sync
    if [ -w /proc/sys/vm/drop_caches ]; then echo 1 >/proc/sys/vm/drop_caches; fi
    find "$1" -type f -size +1M -exec dd if={} iflag=nocache count=0 status=none \;
}
scan="SELECT sum(l_extendedprice * l_discount), max(l_comment) FROM lineitem WHERE l_quantity < 25"
if [[ $parts == *cold* ]]; then
    rows=$(wc -l <"$data/lineitem.tsv")
    servers=crab
    if has pg; then servers="crab pg"; fi
    for server in $servers; do : >"$work/$server.t"; done
    for _ in $(seq "$ROUNDS"); do
        for server in $servers; do
            server_stop $server
            forget "$work/$server"
            server_start $server
            sql $server -c "SET max_parallel_workers_per_gather = $(if [ $server = pg ]; then echo $((WORKERS - 1)); else echo "$WORKERS"; fi)" -c '\timing on' -c "$scan" >"$work/$server.said"
            awk -v n="$rows" '/^Time:/ {print n / $2 * 1000}' "$work/$server.said" >>"$work/$server.t"
            grep -v '^Time:' "$work/$server.said" >>"$work/cold.answers"
        done
    done
    [ "$(sort -u "$work/cold.answers" | wc -l)" = 1 ] || { echo "bench: the cold scan's answers differ"; sort -u "$work/cold.answers"; exit 1; }
    if has pg; then
        awk -v a="$(median <"$work/crab.t")" -v b="$(median <"$work/pg.t")" -v n="$rows" 'BEGIN {printf "\nCold scan of %d rows: Crabtree %.0f rows/s, PostgreSQL %.0f rows/s, ratio %.2f (at least 1.5).\n", n, a, b, a / b}' | tee -a "$out/tpch.md"
    fi
fi
exit $status
