#!/bin/bash
# bench/micro.sh - statements on one table (micro.sql): Crabtree beside PostgreSQL, SQLite and DuckDB, interleaved, answers compared.
#
#     ROWS=5000000 ROUNDS=3 WORKERS=1 bench/micro.sh          ONLY=sort for some lines, SYSTEMS="crab pg", MEMORY=4GB, CPU=1
set -euo pipefail
ROWS=${ROWS:-5000000}
[[ $ROWS =~ ^[1-9][0-9]{2,9}$ ]] || { echo "bench: ROWS=$ROWS is not a number above 99" >&2; exit 2; }
. bench/compare.sh
systems
versions
"$BUILD/bench/generate" micro "$ROWS" >"$data/t.tsv"
echo "$ROWS rows"
status=0
"$BUILD/bench/compare" -r "$ROUNDS" -w "$WORKERS" -v ROWS="$ROWS" -v DATA="$data/t.tsv" -v LAST=$((ROWS - 10)) -v HALF=$((ROWS / 2)) -o "$out/micro" "${on[@]}" bench/micro.sql || status=$?
plot micro "One table, $ROWS rows, $WORKERS worker(s)"
exit $status
