#!/bin/bash
# tests/sql/tpch.sh - the 22 queries of TPC-H on data at scale 0.01, against the answers that lie beside them; then at 1, 2, 3, 4, 8 and 16
# workers, with rows collected first, in 64 kB of memory, by merge joins. TPCH_DIR holds queries/, answers-sf0.01/, sf0.01/ and schema.sql; where it
# is missing, this part is skipped.
#
#     TPCH_DIR (../shared/tpch)
#     TPCH_SCALE: that scale of bench/generate's data instead, against PostgreSQL (`make tpch SF=0.1`, `SF=1`); needs TPCH_DIR/queries
. "$(dirname "$0")/../lib.sh"
tpch=${TPCH_DIR:-../shared/tpch} scale=${TPCH_SCALE:-}
if [ ! -d "$tpch/queries" ]; then
    ok "tpch: skipped, there is no $tpch"
    exit
fi
tables=(region nation part supplier partsupp customer orders lineitem)
# Little data makes many grains only where grains are small; from scale 1 on there are enough of the real ones.
case $scale in [1-9]*) ;; *) [ -n "$REFERENCE" ] || [ -n "${TPCH_SERVER:-}" ] || SERVER=$BUILD/small/crabtree ;; esac
memory=(-c shared_buffers=512MB)

# Both load the same files.
section() { sed -n "/^--@ $1/,/^--@ /p" "$tpch/schema.sql" | grep -v '^--'; }
load_given() {
    section tables | q -c "SET client_min_messages = error" -f - || return 1
    for table in "${tables[@]}"; do zcat "$tpch/sf0.01/$table.tbl.gz" | q -c "COPY $table FROM STDIN (DELIMITER '|')" || return 1; done
    { section keys; section indexes; echo 'ANALYZE;'; } | q -f -
}
load_generated() {
    "$BUILD/bench/generate" schema | q -f - || return 1
    for table in "${tables[@]}"; do "$BUILD/bench/generate" "$table" "$scale" | q -c "COPY $table FROM STDIN" || return 1; done
    { "$BUILD/bench/generate" keys; echo 'ANALYZE;'; } | q -f -
}
load() { if [ -n "$scale" ]; then load_generated; else load_given; fi; }
# run NAME SETTINGS: all answers in $scratch/NAME.
run() {
    mkdir -p "$scratch/$1"
    for query in "$tpch"/queries/q*.sql; do
        PGOPTIONS= psql -X -q --csv -v ON_ERROR_STOP=1 -c "$2" -f "$query" >"$scratch/$1/$(basename "$query" .sql).csv" 2>&1
    done
}
# The same lines; where ORDER BY leaves some open, in any order.
compare() { # NAME OF_WHAT A B
    local wrong= number=0
    for query in "$tpch"/queries/q*.sql; do
        local answer; answer=$(basename "$query" .sql).csv
        number=$((number + 1))
        cmp -s "$3/$answer" "$4/$answer" || { [ "$2" = rows ] && [ "$(sort "$3/$answer")" = "$(sort "$4/$answer")" ]; } || wrong="$wrong ${answer%.csv}"
    done
    if [ -z "$wrong" ] && [ $number = 22 ]; then ok "tpch: $1: 22 of 22"; else bad "tpch: $1: $((number - $(wc -w <<<"$wrong"))) of 22, not$wrong"; fi
    for query in $wrong; do diff "$3/$query.csv" "$4/$query.csv" | head -n 6 | sed "s/^/        | $query: /"; done
}

if [ -n "$scale" ]; then
    [ -n "$PGBIN" ] || { bad "tpch: PostgreSQL is not installed here"; exit; }
    crabtree_reference=$REFERENCE
    REFERENCE=1 server_start postgres "${memory[@]}" -c work_mem=64MB || { bad "tpch: PostgreSQL does not start"; exit; }
    REFERENCE=1
    attempt "tpch: scale $scale into PostgreSQL" load
    run expected "SET max_parallel_workers_per_gather = 0"
    server_stop
    REFERENCE=$crabtree_reference
    expected=$scratch/expected
else
    expected=$scratch/expected           # a NULL alone is an empty line for psql, "" there
    mkdir "$expected"
    for answer in "$tpch"/answers-sf0.01/*.csv; do sed 's/^""$//' "$answer" >"$expected/$(basename "$answer")"; done
fi
server_start tpch "${memory[@]}" || { bad "tpch: the server does not start"; tail -n 5 "$server_log"; exit 1; }
attempt "tpch: scale ${scale:-0.01}, the load" load || exit 1
gate="SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
run one "$gate; SET max_parallel_workers_per_gather = 1"
compare "scale ${scale:-0.01}, the answers expected" rows "$expected" "$scratch/one"
if [ -z "$REFERENCE" ]; then
    for workers in 2 3 4 8 16; do
        run workers "$gate; SET max_parallel_workers_per_gather = $workers"
        compare "the same bytes at $workers workers" bytes "$scratch/one" "$scratch/workers"
    done
    run collect "$gate; SET max_parallel_workers_per_gather = 4; SET crab.agg = collect"
    q -c "SET crab.agg = partial"
    compare "the same bytes with rows collected first" bytes "$scratch/one" "$scratch/collect"
    run small "$gate; SET max_parallel_workers_per_gather = 2; SET work_mem = '64kB'"
    compare "the same rows in 64 kB" rows "$scratch/one" "$scratch/small"
    run large "$gate; SET max_parallel_workers_per_gather = 2; SET work_mem = '1GB'"
    compare "the same rows in 1 GB" rows "$scratch/one" "$scratch/large"
    run merged "$gate; SET max_parallel_workers_per_gather = 2; SET enable_hashjoin = off; SET enable_nestloop = off; SET work_mem = '256kB'"
    compare "the same rows by merge joins" rows "$scratch/one" "$scratch/merged"
    same "tpch: nothing is left in pgsql_tmp" 0 "$(find "$server_data" -path '*pgsql_tmp*' -type f | wc -l)"
fi
server_stop
verdict $? "tpch: the server ends well"
