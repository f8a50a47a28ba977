#!/bin/bash
# bench/compare.sh - sourced: two servers (servers.sh), SQLite, and DuckDB where npm has it, for bench/compare.
#
#     . bench/compare.sh          sets on, an array of -s options; data, a folder; out, where figures go
#
# SYSTEMS (crab pg sqlite duckdb) chooses; WORKERS (1) is for all alike, where they have workers. CPU=1: figures are processor times.
SYSTEMS=${SYSTEMS:-crab pg sqlite duckdb} WORKERS=${WORKERS:-1} ROUNDS=${ROUNDS:-5} MEMORY=${MEMORY:-4GB}
for number in WORKERS ROUNDS; do
    [[ ${!number} =~ ^[1-9][0-9]{0,3}$ ]] || { echo "bench: $number=${!number} is not a number" >&2; exit 2; }
done
. bench/servers.sh
data=$work/data out=$BUILD/bench
mkdir -p "$data" "$out"
on=()
has() { [[ " $SYSTEMS " == *" $1 "* ]]; }
duckdb_folder() { # npm installs it into a folder of the build, once
    local folder=$BUILD/bench/duckdb
    if [ ! -d "$folder/node_modules/@duckdb/node-api" ]; then
        command -v npm >/dev/null && command -v node >/dev/null || return 1
        mkdir -p "$folder" && (cd "$folder" && npm install --no-audit --no-fund --silent @duckdb/node-api >/dev/null 2>&1) || return 1
    fi
    mkdir "$work/duckdb" && cp bench/compare_duckdb.mjs "$work/duckdb/" && ln -s "$(realpath "$folder")/node_modules" "$work/duckdb/node_modules"
}
# The systems, the folder's databases empty.
systems() {
    on=(-s "Crabtree=host=$work/s port=6601 user=postgres dbname=postgres|$crab_pid")
    if has pg; then on+=(-s "PostgreSQL=host=$work/s port=6602 user=postgres dbname=postgres"); fi
    if has sqlite; then on+=(-s "SQLite=$work/sqlite.db"); fi
    if has duckdb; then
        if duckdb_folder; then on+=(-s "DuckDB=$work/duckdb"); else echo "bench: npm's @duckdb/node-api cannot be installed here: DuckDB is left out"; fi
    fi
    [ -z "${CPU:-}" ] || on+=(-c)
}
# plot NAME TITLE: bars of the ratios in $out/NAME.dat
plot() {
    command -v gnuplot >/dev/null || { echo "bench: no gnuplot, no plot"; return 0; }
    local kind
    for kind in svg png; do
        gnuplot <<PLOT || :
set terminal $kind size 1200,600
set output "$out/$1.$kind"
set title "$2"
set style data histograms
set style fill solid 0.8
set logscale y
set grid y
set ylabel "PostgreSQL's time over the system's"
set xtics rotate by -40
plot "$out/$1.dat" using 2:xtic(1) title "Crabtree", "" using 3 title "at least", "" using 4 title "DuckDB"
PLOT
    done
    echo "plots: $out/$1.svg, $out/$1.png"
}
versions() {
    echo "Crabtree $(git describe --always --dirty 2>/dev/null || echo '?'), $("$PGBIN/postgres" --version), SQLite $(sqlite3 --version 2>/dev/null | cut -d' ' -f1), $(nproc) processors; $WORKERS worker(s), shared_buffers $MEMORY, work_mem 256MB, $ROUNDS rounds${CPU:+, by processor time}"
}
