#!/bin/bash
# bench/parallel.sh - workers 1, 2, 4, 8, 16 on the statements of micro.sql and on the queries of TPC-H, Crabtree alone; where the machine has more than
# two processors, once more with the server and its clients on two of them.
#
#     ROWS=5000000 SF=1 ROUNDS=5 bench/parallel.sh [micro] [tpch]      ONLY=sort for some lines, TPCH_DIR=../shared/tpch
set -euo pipefail
ROWS=${ROWS:-5000000} SF=${SF:-1} ROUNDS=${ROUNDS:-5} TPCH_DIR=${TPCH_DIR:-../shared/tpch} MEMORY=${MEMORY:-4GB}
for number in ROWS ROUNDS; do
    [[ ${!number} =~ ^[1-9][0-9]*$ ]] || { echo "bench: $number=${!number} is not a number" >&2; exit 2; }
done
[[ $SF =~ ^[0-9]+(\.[0-9]+)?$ ]] || { echo "bench: SF=$SF is not a number" >&2; exit 2; }
parts="${*:-micro tpch}" SERVERS=crab
. bench/servers.sh
data=$work/data out=$BUILD/bench
mkdir -p "$data" "$out"
load=() scripts=()
if [[ $parts == *micro* ]]; then
    "$BUILD/bench/generate" micro "$ROWS" >"$data/t.tsv"
    load+=(-l bench/micro.sql) scripts+=(bench/micro.sql)
fi
if [[ $parts == *tpch* ]]; then
    if [ -f "$TPCH_DIR/queries/q01.sql" ]; then
        bench/tpch_scripts.sh "$SF" "$TPCH_DIR" "$data"
        load+=(-l "$data/load.sql") scripts+=("$data/queries.sql")
    else
        echo "bench: no TPC-H queries at $TPCH_DIR/queries: left out (TPCH_DIR=...)"
    fi
fi
on=(-v ROWS="$ROWS" -v DATA="$data/t.tsv" -v LAST=$((ROWS - 10)) -v HALF=$((ROWS / 2)) -s "host=$work/s port=6601 user=postgres dbname=postgres|$crab_pid")
echo "Crabtree $(git describe --always --dirty 2>/dev/null || echo '?'), $(nproc) processors, $ROWS rows, scale $SF, shared_buffers $MEMORY, work_mem 256MB, $ROUNDS rounds"
status=0
"$BUILD/bench/parallel" -r "$ROUNDS" -o "$out/parallel" "${on[@]}" "${load[@]}" "${scripts[@]}" || status=$?
if [ "$(nproc)" -gt 2 ]; then
    echo "the same on two processors"
    taskset -acp 0,1 "$crab_pid" >/dev/null
    taskset -c 0,1 "$BUILD/bench/parallel" -r "$ROUNDS" -o "$out/parallel-2" "${on[@]}" "${scripts[@]}" || status=$?
fi
if command -v gnuplot >/dev/null; then
    for kind in svg png; do
        gnuplot <<PLOT || :
set terminal $kind size 1400,600
set output "$out/parallel.$kind"
set style data histograms
set style fill solid 0.8
set grid y
set ylabel "speed-up over one worker"
set xtics rotate by -40
plot "$out/parallel.dat" using 2:xtic(1) title "2 workers", "" using 3 title "4", "" using 4 title "8", "" using 5 title "16", "" using 6 title "ceiling for 2"
PLOT
    done
    echo "plots: $out/parallel.svg, $out/parallel.png"
fi
exit $status
