#!/bin/bash
# bench/compare.sh - sourced: two servers (servers.sh), SQLite, and DuckDB where npm has it, for bench/compare.
#
#     . bench/compare.sh          sets on, an array of -s options; data, a folder; out, where figures go
#
# SYSTEMS (crab pg sqlite duckdb) chooses; WORKERS (1) is for all alike, where they have workers. CPU=1: figures are processor times.
SYSTEMS=${SYSTEMS:-crab pg sqlite duckdb} WORKERS=${WORKERS:-1} ROUNDS=${ROUNDS:-3} MEMORY=${MEMORY:-4GB}
for number in WORKERS ROUNDS; do
    [[ ${!number} =~ ^[1-9][0-9]{0,3}$ ]] || { echo "bench: $number=${!number} is not a number" >&2; exit 2; }
done
SERVERS=$SYSTEMS AUTOVACUUM=off
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
    if has pg; then on+=(-s "PostgreSQL=host=$work/s port=6602 user=postgres dbname=postgres|$pg_pid"); fi
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
settings() { # crab|pg: what it runs with, by its own word
    local name
    for name in shared_buffers work_mem maintenance_work_mem fsync synchronous_commit wal_level jit autovacuum max_wal_size checkpoint_timeout; do
        echo "$name $(sql "$1" -c "SHOW $name" 2>/dev/null || echo -)"
    done | paste -sd, | sed 's/,/, /g'
}
versions() {
    echo "Crabtree $(git describe --always --dirty 2>/dev/null || echo '?'), $("$PGBIN/postgres" --version), SQLite $(sqlite3 --version 2>/dev/null | cut -d' ' -f1), DuckDB of npm $(sed -n 's/.*"version": "\(.*\)".*/\1/p' "$BUILD/bench/duckdb/node_modules/@duckdb/node-api/package.json" 2>/dev/null || echo '-')"
    echo "$(nproc) processors ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)), $(awk '/MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo), $(uname -sr); $WORKERS worker(s), $ROUNDS rounds${CPU:+, by processor time}"
    echo "Crabtree: $(settings crab)"
    if has pg; then echo "PostgreSQL: $(settings pg), max_parallel_workers_per_gather $((WORKERS - 1)), max_parallel_maintenance_workers $(sql pg -c "SHOW max_parallel_maintenance_workers")"; fi
    if has sqlite; then echo "SQLite: in the bench's process, WAL, synchronous NORMAL, cache 4 GB, mmap 8 GB, one thread"; fi
    if has duckdb; then echo "DuckDB: threads $WORKERS, memory_limit 8 GB, no keys on TPC-H's tables"; fi
}
