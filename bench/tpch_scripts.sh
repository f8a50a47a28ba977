#!/bin/bash
# bench/tpch_scripts.sh SF TPCH_DIR FOLDER - data of TPC-H's tables by our generator in FOLDER, with load.sql and queries.sql as bench/compare reads them.
set -euo pipefail
scale=$1 from=$2 to=$3
tables="region nation supplier part partsupp customer orders lineitem"
for table in $tables; do # char(n) without its blanks: only some systems take them for nothing
    "$BUILD/bench/generate" "$table" "$scale" | sed 's/ *\t/\t/g; s/ *$//' >"$to/$table.tsv"
done
{
    "$BUILD/bench/generate" schema
    for table in $tables; do echo "COPY $table FROM '$to/$table.tsv';"; done
    "$BUILD/bench/generate" keys
    echo "VACUUM ANALYZE;"
} >"$to/load.sql"
for query in "$from"/queries/q??.sql; do
    echo "-- @ $(basename "$query" .sql) | 1 | 0"
    sed '/^--/d' "$query"
done >"$to/queries.sql"
