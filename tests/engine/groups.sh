#!/bin/bash
# tests/engine/groups.sh - GROUP BY, DISTINCT, aggregates over DISTINCT and ORDER BY, set operations and windows: neither workers nor
# work_mem show in an answer, nor in the order of its rows. Groups by every kind of key, few and many, and more than memory holds.
#
#     GROUPS_ROWS (60000)
. "$(dirname "$0")/../lib.sh"
rows=${GROUPS_ROWS:-60000}
server_start groups -c shared_buffers=1GB -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 || { bad "groups: the server does not start"; tail -n 5 "$server_log"; exit 1; }
settings="SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
attempt "groups: a table" q -c "CREATE TABLE g AS SELECT i AS id, i % 5 AS few, (i * 7919::bigint % ($rows / 4))::int AS many, (i * 7919::bigint % ($rows / 3)) * 1000000007 AS sparse, (i * 31::bigint % 10007)::float8 / 7 AS f,
        'name ' || (i * 31 % 50) AS name, repeat('long ', 4) || (i * 7919::bigint % ($rows / 5)) AS long, (i % 997)::numeric(10,2) / 4 AS n, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 400 END AS nul, i % 3 = 0 AS odd FROM generate_series(1, $rows) i" \
    -c "ANALYZE"
queries=(
    "SELECT few, count(*), sum(id), avg(f), min(n), max(long) FROM g GROUP BY few" "SELECT name, count(*), sum(f), avg(n) FROM g GROUP BY name" "SELECT nul, odd, count(*), sum(f), min(name) FROM g GROUP BY nul, odd"
    "SELECT many, count(*), sum(f), min(id) FROM g GROUP BY many" "SELECT many, count(*), sum(id), max(n) FROM g GROUP BY many" "SELECT sparse, count(*), avg(f) FROM g GROUP BY sparse" "SELECT id % 2500 AS k, count(*), sum(f), avg(f), min(name), stddev(f) FROM g GROUP BY id % 2500" "SELECT id % 2500 AS k, odd, sum(f) FROM g WHERE few <> 1 GROUP BY ROLLUP (id % 2500, odd)"
    "SELECT long, count(*), sum(f), min(name) FROM g GROUP BY long"
    "SELECT many, few, count(*) FILTER (WHERE odd), sum(f) FILTER (WHERE nul > 100) FROM g GROUP BY many, few" "SELECT id % 3000, sum(f), string_agg(name, ',') FROM g WHERE id < 20000 GROUP BY id % 3000"
    "SELECT count(DISTINCT many), count(DISTINCT sparse), count(DISTINCT long), sum(DISTINCT many), count(DISTINCT n), count(DISTINCT f), sum(DISTINCT f) FROM g"
    "SELECT few, count(DISTINCT many), sum(DISTINCT nul), count(DISTINCT sparse), count(DISTINCT long) FILTER (WHERE odd) FROM g GROUP BY few" "SELECT many, count(DISTINCT few), sum(DISTINCT n), count(DISTINCT name) FROM g GROUP BY many"
    "SELECT name, array_agg(DISTINCT few ORDER BY few), count(DISTINCT odd) FROM g GROUP BY name" "SELECT many, string_agg(name, ' ' ORDER BY f DESC, id) FROM g GROUP BY many"
    "SELECT few, odd, count(*), sum(f), count(DISTINCT nul) FROM g GROUP BY GROUPING SETS ((few, odd), (few), ())" "SELECT many, few, count(*), sum(f) FROM g GROUP BY ROLLUP (few, many)"
    "SELECT DISTINCT many FROM g" "SELECT DISTINCT long FROM g" "SELECT DISTINCT few, name, nul FROM g" "SELECT many FROM g UNION SELECT nul FROM g" "SELECT many FROM g WHERE odd INTERSECT SELECT nul FROM g" "SELECT many FROM g EXCEPT ALL SELECT nul FROM g WHERE odd"
    "SELECT long FROM g EXCEPT SELECT long FROM g WHERE few < 2" "SELECT name FROM g WHERE id < 100000 INTERSECT ALL SELECT name FROM g WHERE id % 9 = 0"
    "SELECT id, sum(f) OVER (PARTITION BY many ORDER BY id), row_number() OVER (PARTITION BY many ORDER BY id) FROM g" "SELECT id, avg(f) OVER (ORDER BY id ROWS BETWEEN 900 PRECEDING AND 100 FOLLOWING), rank() OVER (PARTITION BY name ORDER BY n) FROM g"
    "SELECT sum(1 / (few - 7)) OVER (PARTITION BY many ORDER BY id) FROM g" "SELECT sum(1 / (few - 3)) OVER (PARTITION BY many) FROM g" "SELECT sum(1 / (id - $rows)) OVER (PARTITION BY id / 7) FROM g LIMIT 3")
{ for query in "${queries[@]}"; do printf '\\echo -- %s\n%s;\n' "$query" "$query"; done; } >"$scratch/queries.sql"
answer() { psql -X -q -A -t -c "$settings SET max_parallel_workers_per_gather = $1; SET work_mem = '$2'" ${3:+-c "SET crab.agg = '$3'"} -f "$scratch/queries.sql" 2>&1 | sed 's/^psql:[^ ]* //'; }
answer 1 1GB >"$scratch/w1"
same "groups: all queries were asked" "${#queries[@]}" "$(grep -c '^-- SELECT' "$scratch/w1")"
same "groups: one of them fails" "1 ERROR:  division by zero" "$(grep -c ERROR "$scratch/w1") $(grep -h ERROR "$scratch/w1" | head -n 1)"
for run in "1 64kB" "2 1GB" "3 64kB" "4 1GB" "8 1MB" "16 64kB" "4 1GB collect" "2 64kB partial"; do
    # shellcheck disable=SC2086
    answer $run >"$scratch/w"
    if cmp -s "$scratch/w1" "$scratch/w"; then
        ok "groups: ${#queries[@]} queries, the same bytes with (workers, work_mem) = $run ($(md5sum <"$scratch/w" | head -c 8))"
    else
        bad "groups: other bytes with (workers, work_mem) = $run"
        diff "$scratch/w1" "$scratch/w" | head -n 8 | cut -c 1-200 | sed 's/^/        | /'
        for query in "${queries[@]}"; do
            for w in w1 w; do awk -v head="-- $query" '$0 == head { on = 1; next } /^-- SELECT/ { on = 0 } on' "$scratch/$w" >"$scratch/$w.one"; done
            cmp -s "$scratch/w1.one" "$scratch/w.one" || say "differs: $query"
        done
    fi
done
q -c "SET crab.agg = 'partial'"
# Arithmetic: what DISTINCT counts, by another way.
same "groups: distinct values counted by grouping" t "$(q -c "SELECT count(DISTINCT many) = (SELECT count(*) FROM (SELECT many FROM g GROUP BY many) q) AND count(DISTINCT sparse) = (SELECT count(*) FROM (SELECT sparse FROM g GROUP BY sparse) q)
    AND sum(DISTINCT many) = (SELECT sum(many) FROM (SELECT DISTINCT many FROM g) q) AND count(DISTINCT long) = (SELECT count(*) FROM (SELECT DISTINCT long FROM g) q) FROM g")"
# With little memory, rows went to disk.
for query in "SELECT many, count(*) FROM g GROUP BY many" "SELECT few, count(DISTINCT long) FROM g GROUP BY few"; do
    spilled=$(q -c "$settings SET max_parallel_workers_per_gather = 1; SET work_mem = '64kB'" -c "EXPLAIN (ANALYZE) $query" | grep -c "Disk Usage")
    same "groups: 64kB are not enough for $query" 1 "$spilled"
done
server_stop
verdict $? "groups: the server ends well"

# Partitions that are themselves too big for memory are dealt out further. This server does that at once.
SERVER=$BUILD/small/crabtree
server_start further -c shared_buffers=256MB -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 || { bad "groups: the server does not start"; tail -n 5 "$server_log"; exit 1; }
attempt "groups: a table of more groups than partitions have room for" q -c "CREATE TABLE g AS SELECT i AS id, i % 5 AS few, (i * 7919::bigint % 45000)::int AS many, (i * 31::bigint % 10007)::float8 / 7 AS f, repeat('long ', 4) || (i * 7919::bigint % 40000) AS long FROM generate_series(1, 50000) i" -c "ANALYZE"
answers() { psql -X -q -A -t -c "$settings SET max_parallel_workers_per_gather = $1; SET work_mem = '$2'" -c "$query" 2>&1 | md5sum; }
for query in "SELECT long, count(*), sum(f) FROM g GROUP BY long" "SELECT few, count(DISTINCT long) FROM g GROUP BY few" "SELECT a.id, b.id, b.few FROM g a FULL JOIN g b ON a.id = b.id + 1000 AND a.long = b.long" \
    "SELECT count(*), sum(b.f) FROM (SELECT * FROM g WHERE id < 100) a JOIN g b ON a.few = b.few"; do      # the last: few keys on the build side, nothing is won by dealing them out
    same "groups: partitions dealt out further: $query" "$(answers 1 1GB)" "$(answers 1 64kB)"
done
server_stop
verdict $? "groups: the server ends well"
