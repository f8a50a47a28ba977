#!/bin/bash
# tests/engine/parallel.sh - workers never show in an answer: the same bytes at 1, 2, 4, 8 and 16 of them, float sums included, with
# partial aggregation and with rows gathered first; and what was asked of the gate is what EXPLAIN ANALYZE shows.
#
#     PARALLEL_ROWS (1000000)
. "$(dirname "$0")/../lib.sh"
rows=${PARALLEL_ROWS:-1000000}
server_start parallel -c shared_buffers=1GB -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 || { bad "parallel: the server does not start"; tail -n 5 "$server_log"; exit 1; }
settings="SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
attempt "parallel: tables" q -c "CREATE TABLE big AS SELECT g AS id, (g * 7919::bigint % 1000)::int AS k, g % 7 AS m, ((g * 7919::bigint) % 10007)::numeric / 100 AS n, ((g * 31::bigint) % 1009)::float8 / 7 AS f,
        'row ' || (g % 101) AS t, CASE WHEN g % 11 = 0 THEN NULL ELSE g % 13 END AS nul FROM generate_series(1, $rows) g" \
    -c "CREATE TABLE small AS SELECT * FROM big WHERE id <= 6000" -c "CREATE TABLE dim AS SELECT g AS k, 'dim ' || g AS name FROM generate_series(0, 499) g" -c "ANALYZE"
queries=(
    "SELECT count(*) FROM big" "SELECT count(*) FROM small"
    "SELECT count(*), sum(id), min(id), max(id), avg(id) FROM big" "SELECT sum(n), avg(n), min(n), max(n) FROM big WHERE m = 3"
    "SELECT sum(f), avg(f), min(f), max(f), variance(f), stddev(f) FROM big" "SELECT sum(f), avg(f) FROM big WHERE id % 3 = 0" "SELECT sum(f * n::float8) FROM big WHERE k < 500"
    "SELECT sum(f), avg(f), sum(f) / 3 FROM big WHERE t <> 'row 5'"
    "SELECT m, count(*), sum(id), sum(n), sum(f), avg(f), min(t), max(t) FROM big GROUP BY m" "SELECT k, count(*), sum(f), avg(n) FROM big GROUP BY k" "SELECT t, nul, count(*), sum(f) FROM big GROUP BY t, nul"
    "SELECT k, m, count(*) FROM big GROUP BY k, m HAVING count(*) > $((rows / 7100))"
    "SELECT id, k, t FROM big WHERE id % 9973 = 0" "SELECT id, f, n FROM big WHERE f > 143.9 AND nul IS NOT NULL" "SELECT id FROM big WHERE t = 'row 17'" "SELECT * FROM big WHERE k = 123 LIMIT 50"
    "SELECT id FROM big LIMIT 10" "SELECT id FROM big WHERE m = 6 LIMIT 1000 OFFSET 5000" "SELECT id FROM big WHERE id > $((rows - 20))" "SELECT id FROM big WHERE false"
    "SELECT count(DISTINCT k), count(DISTINCT t) FROM big" "SELECT DISTINCT t FROM big" "SELECT k, t, f FROM big ORDER BY f DESC, k, t LIMIT 20" "SELECT id FROM big WHERE m = 2 ORDER BY n, id LIMIT 100"
    "SELECT name, count(*), sum(f) FROM big JOIN dim USING (k) GROUP BY name" "SELECT count(*), sum(f) FROM big LEFT JOIN dim USING (k) WHERE name IS NULL" "SELECT big.id, name FROM big JOIN dim ON big.k = dim.k WHERE id % 4999 = 0"
    "SELECT count(*), sum(a.f), sum(b.f) FROM big a JOIN big b ON a.id = b.k * 1000 + b.m" "SELECT count(*), sum(s.f), sum(b.f), avg(s.id) FROM big b RIGHT JOIN small s ON b.id = s.id * 3 AND b.m > 2"
    "SELECT count(*), sum(s.f), sum(b.f) FROM big b FULL JOIN small s ON b.id = s.id + 500000 AND b.m < s.m" "SELECT s.id, b.id FROM big b RIGHT JOIN small s ON b.id = s.id * 200 WHERE s.id % 499 = 0"
    "SELECT s.k, s.t, s.f FROM small s WHERE s.id < 300 AND EXISTS (SELECT 1 FROM big b WHERE b.k = s.id AND b.m <> s.m)" "SELECT count(*), sum(s.f) FROM small s WHERE NOT EXISTS (SELECT 1 FROM big b WHERE b.nul = s.id)"
    "SELECT count(*), sum(a.f) FROM big a JOIN small s ON a.t = s.t AND a.nul = s.nul AND s.id < 40" "SELECT sum(a.f), sum(d.k), count(e.k) FROM big a JOIN dim d ON a.k = d.k LEFT JOIN dim e ON a.m + d.k = e.k RIGHT JOIN small s ON s.id = a.id"
    "SELECT m, sum(f) FROM big WHERE k NOT IN (SELECT k FROM dim WHERE k > 100) GROUP BY m"
    "SELECT count(*) FROM big WHERE k IN (SELECT k FROM dim WHERE k % 5 = 0)" "SELECT string_agg(t, ',') FROM big WHERE id % 49999 = 0" "SELECT md5(string_agg(t || n, ',')), md5(array_agg(k)::text) FROM big WHERE m > 3"
    "SELECT count(*), sum(f) FROM small WHERE m < 4" "SELECT m, sum(f) FROM small GROUP BY m")
{ for query in "${queries[@]}"; do printf '\\echo -- %s\n%s;\n' "$query" "$query"; done; } >"$scratch/queries.sql"
answer() { # WORKERS AGG
    psql -X -q -A -t -c "$settings SET max_parallel_workers_per_gather = $1;" ${2:+-c "SET crab.agg = '$2'"} -f "$scratch/queries.sql" 2>&1 | sed 's/^psql:[^ ]* //'
}
if [ -n "$REFERENCE" ]; then # PostgreSQL promises no order and no float bits: one worker only, to see that the queries run
    answer 0 >"$scratch/w1"
    if grep -q ERROR "$scratch/w1"; then bad "parallel: $(grep ERROR "$scratch/w1" | head -n 3)"; else ok "parallel: queries run"; fi
    exit
fi
answer 1 >"$scratch/w1"
same "parallel: all queries were asked" "${#queries[@]}" "$(grep -c '^-- SELECT' "$scratch/w1")"
if grep -q ERROR "$scratch/w1"; then
    bad "parallel: errors"
    grep -B 1 ERROR "$scratch/w1" | head -n 12 | sed 's/^/        | /'
fi
for run in 2 3 4 8 16 "1 collect" "4 collect" "4 partial" 2; do
    # shellcheck disable=SC2086
    answer $run >"$scratch/w"
    if cmp -s "$scratch/w1" "$scratch/w"; then
        ok "parallel: ${#queries[@]} queries, the same bytes with $run workers as with 1 ($(md5sum <"$scratch/w" | head -c 8))"
    else
        bad "parallel: other bytes with $run workers"
        diff "$scratch/w1" "$scratch/w" | head -n 8 | sed 's/^/        | /'
    fi
done
q -c "SET crab.agg = 'partial'"

# Arithmetic. Integers and numerics to the last digit; floats within n * epsilon of the exact sum, which awk would not give: bc does.
same "parallel: a million rows count right" "$rows|$((rows * (rows + 1) / 2))" "$(q -c "$settings SET max_parallel_workers_per_gather = 4" -c "SELECT count(*), sum(id) FROM big")"
same "parallel: 6000 rows count right" "6000|18003000" "$(q -c "$settings SET max_parallel_workers_per_gather = 4" -c "SELECT count(*), sum(id) FROM small")"
exact_n=$(awk -v rows="$rows" 'BEGIN { for (g = 1; g <= rows; g++) s += (g * 7919) % 10007; printf "%d.%02d", int(s / 100), s % 100 }')
same "parallel: numeric sum to the last digit" "$exact_n" "$(q -c "$settings SET max_parallel_workers_per_gather = 4" -c "SELECT round(sum(n), 2) FROM big")"
sevenths=$(awk -v rows="$rows" 'BEGIN { for (g = 1; g <= rows; g++) s += (g * 31) % 1009; print s }')
same "parallel: float sum within n epsilon" t "$(q -c "$settings SET max_parallel_workers_per_gather = 8" -c "SELECT abs(sum(f) - $sevenths / 7::float8) <= $rows * 2.3e-16 * $sevenths / 7 FROM big")"

# Ranges of indexes, cut into grains of some leaves: forward, backward, by the index alone or not, in a table that changes between.
attempt "parallel: an indexed table" q -c "CREATE TABLE ix AS SELECT * FROM big WHERE id <= $((rows / 5))" -c "CREATE INDEX ix_k ON ix (k, id)" -c "CREATE INDEX ix_f ON ix (f)" -c "CREATE INDEX ix_t ON ix (t DESC, n)" \
    -c "CREATE INDEX ix_nul ON ix (nul, f)" -c "VACUUM ANALYZE ix"
by_index="SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET min_parallel_index_scan_size = 0"
ranges=(
    "SELECT count(*), sum(k), sum(id) FROM ix WHERE k >= 0" "SELECT count(*) FROM ix WHERE k BETWEEN 100 AND 700" "SELECT sum(f), avg(f) FROM ix WHERE k >= 17" "SELECT sum(f), avg(f), stddev(f), count(*) FROM ix WHERE f > 3"
    "SELECT k, count(*), sum(f) + 0.0001 * pi() FROM ix WHERE k > 500 GROUP BY k" "SELECT k, id FROM ix WHERE k < 900 ORDER BY k, id OFFSET 50000 LIMIT 20" "SELECT k, id FROM ix WHERE k < 900 ORDER BY k DESC, id DESC OFFSET 50000 LIMIT 20"
    "SELECT md5(string_agg(id::text, ',')) FROM (SELECT id FROM ix WHERE k > 3 ORDER BY k, id) s" "SELECT md5(string_agg(id::text, ',')) FROM (SELECT id FROM ix WHERE k > 3 ORDER BY k DESC, id DESC) s"
    "SELECT md5(string_agg(t, ',')) FROM (SELECT t FROM ix WHERE t > 'row 2' ORDER BY t DESC, n) s" "SELECT count(t), sum(n) FROM ix WHERE t > 'row 5'" "SELECT sum(f) FROM ix WHERE nul IS NULL" "SELECT sum(f), count(nul) FROM ix WHERE nul > 3 AND nul < 9"
    "SELECT name, sum(f) + 0.0001 * pi() FROM ix JOIN dim USING (k) WHERE k >= 250 GROUP BY name" "SELECT id, 1000 / (id - $((rows / 5 - 9))) FROM ix WHERE k > -1 AND m < 0" "SELECT count(*) FROM ix WHERE k > 5000" "SELECT count(*) FROM ix WHERE k > NULL"
    "SELECT k, id, f FROM ix WHERE k BETWEEN 990 AND 994 ORDER BY k, id")
{ for query in "${ranges[@]}"; do printf '\\echo -- %s\n%s;\n' "$query" "$query"; done; } >"$scratch/ranges.sql"
in_order() { psql -X -q -A -t -c "$settings $by_index; SET max_parallel_workers_per_gather = $1; ${2:-}" -f "$scratch/ranges.sql" 2>&1 | sed 's/^psql:[^ ]* //'; }
for round in "as it was built" "after changes" "after vacuum"; do
    in_order 1 >"$scratch/i1"
    if grep -q ERROR "$scratch/i1"; then bad "parallel: errors in ranges: $(grep -m 1 ERROR "$scratch/i1")"; fi
    for run in 2 3 8 16; do
        in_order $run >"$scratch/i"
        if cmp -s "$scratch/i1" "$scratch/i"; then ok "parallel: ${#ranges[@]} index ranges $round, the same bytes with $run workers as with 1"; else
            bad "parallel: other bytes of index ranges $round with $run workers"; diff "$scratch/i1" "$scratch/i" | head -n 8 | sed 's/^/        | /'
        fi
    done
    in_order 4 "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_sort = on" | grep -v '\.' >"$scratch/i"
    same "parallel: index ranges $round say what the table says" "$(grep -v '[.]' "$scratch/i1" | md5sum)" "$(md5sum <"$scratch/i")"
    [ "$round" != "as it was built" ] || q -c "UPDATE ix SET k = (k + 7) % 1000 WHERE id % 13 = 0" -c "DELETE FROM ix WHERE id % 17 = 3" -c "INSERT INTO ix SELECT * FROM big WHERE id > $((rows - 20000))"
    [ "$round" != "after changes" ] || q -c "VACUUM ix"
done
# A snapshot's sum is one number, though leaves are split between two looks at it.
cat >"$scratch/twice.sql" <<SQL
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sum(f), stddev(f), corr(f, id), sum(sqrt(f)), sum(f / 3), sum(f * f), sum(1 / (f + 1)), sum(ln(f + 1)), sum(f * id / 7) FROM ix WHERE k >= 0;
\! psql -X -q -c "INSERT INTO ix SELECT * FROM ix"
SELECT sum(f), stddev(f), corr(f, id), sum(sqrt(f)), sum(f / 3), sum(f * f), sum(1 / (f + 1)), sum(ln(f + 1)), sum(f * id / 7) FROM ix WHERE k >= 0;
COMMIT;
SQL
for run in 1 4; do
    same "parallel: a snapshot's sum by index is one, with $run workers" "2 1" "$(q -c "$settings $by_index; SET max_parallel_workers_per_gather = $run" -f "$scratch/twice.sql" | tee "$scratch/twice" | grep -c '[.]') $(sort -u "$scratch/twice" | grep -c '[.]')"
done
same "parallel: it is made in the index's order" 1 "$(q -c "$settings $by_index; SET max_parallel_workers_per_gather = 4" -c "EXPLAIN (ANALYZE) SELECT sum(f) FROM ix WHERE k >= 0" | grep -c 'Serial Reason: sums of floats are made in the order of the index')"
q -c "$settings $by_index; SET max_parallel_workers_per_gather = 3" -c "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM ix WHERE k >= 0" >"$scratch/plan"
same "parallel: an index's range has workers" "1 3" "$(grep -c 'Parallel Index Only Scan using ix_k on ix' "$scratch/plan") $(sed -n 's/.*Workers Planned: //p' "$scratch/plan")"
same "parallel: a look-up has none" 0 "$(q -c "$settings $by_index; RESET min_parallel_index_scan_size" -c "EXPLAIN SELECT count(*) FROM ix WHERE k = 3 AND id = 5" | grep -c Gather)"
same "parallel: nor has what a LIMIT ends" 0 "$(q -c "$settings $by_index" -c "EXPLAIN SELECT id FROM ix WHERE k > 3 ORDER BY k LIMIT 5" | grep -c Gather)"
q -c "DROP TABLE ix"

# The gate.
plan() { q -c "$settings SET max_parallel_workers_per_gather = $1" -c "EXPLAIN (ANALYZE) $2"; }
for workers in 2 4 8; do
    plan $workers "SELECT count(*), sum(f) FROM big WHERE m = 1" >"$scratch/plan"
    same "parallel: EXPLAIN ANALYZE shows $workers workers" "$workers $workers" "$(sed -n 's/.*Workers Planned: //p' "$scratch/plan") $(sed -n 's/.*Workers Launched: //p' "$scratch/plan")"
done
for workers in 0 1; do
    plan $workers "SELECT count(*) FROM big" >"$scratch/plan"
    same "parallel: no Gather at max_parallel_workers_per_gather = $workers" 0 "$(grep -c Gather "$scratch/plan")"
done
plan 4 "INSERT INTO small SELECT * FROM big WHERE id = -1" >"$scratch/plan"
same "parallel: a change has one worker" 0 "$(grep -c 'Workers Planned' "$scratch/plan")"

# What a change touches: pages that it made dirty, and their images in the log after a checkpoint, as many as the log has of them.
q -c "CREATE TABLE touched AS SELECT g AS id, 0 AS n, repeat('x', 100) AS t FROM generate_series(1, 20000) g" -c "VACUUM touched" -c "CHECKPOINT"
images=$(q -c "SELECT images FROM crab_wal")
q -c "EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT YAML) UPDATE touched SET n = 1 WHERE id % 100 = 0" >"$scratch/plan"
images=$(($(q -c "SELECT images FROM crab_wal") - images))
number() { sed -n "s/.*$1: //p" "$scratch/plan" | head -n 1; }
[ "$(number 'Shared Dirtied Blocks')" -gt 100 ] && [ "$(number 'WAL FPI')" -gt 100 ] && [ "$(number 'WAL FPI')" -le "$images" ]
verdict $? "parallel: EXPLAIN counts pages made dirty ($(number 'Shared Dirtied Blocks')) and their images ($(number 'WAL FPI'), of $images)"
q -c "EXPLAIN (ANALYZE, BUFFERS, WAL) UPDATE touched SET n = 2 WHERE id % 100 = 0" >"$scratch/plan"
again=$(sed -n 's/.*WAL: .* fpi=\([0-9]*\) .*/\1/p' "$scratch/plan" | head -n 1)
grep -q 'Buffers: shared hit=' "$scratch/plan" && grep -q 'WAL: records=[1-9]' "$scratch/plan" && [ "${again:-0}" -lt $((images / 4)) ]
verdict $? "parallel: … which are in the log already when it comes again: $(grep -m 1 -o 'WAL: .*' "$scratch/plan")"

# The pool's size may change at any time; a pool that is too small for a statement only makes it slower.
for limit in 0 1 3 16; do
    q -c "SET max_parallel_workers = $limit"
    same "parallel: the same sum with max_parallel_workers = $limit" "$(q -c "SET max_parallel_workers_per_gather = 1" -c "SELECT sum(f), count(*) FROM big WHERE m < 5")" \
        "$(q -c "$settings SET max_parallel_workers_per_gather = 8" -c "SELECT sum(f), count(*) FROM big WHERE m < 5")"
done

# Errors are the first in order, at any number of workers; a LIMIT met before it hides it.
for workers in 1 2 8; do
    same "parallel: the first error in order, $workers workers" "ERROR:  division by zero" "$(psql -X -q -At -c "$settings SET max_parallel_workers_per_gather = $workers" -c "SELECT sum(1 / (id - $((rows / 2)))) FROM big" 2>&1 | head -n 1)"
    same "parallel: LIMIT met before the error, $workers workers" "1 2 3 4 5" "$(echo $(psql -X -q -At -c "$settings SET max_parallel_workers_per_gather = $workers" -c "SELECT id FROM big WHERE 1 / (id - $((rows / 2))) >= -1 LIMIT 5" 2>&1))"
done

# What runs for each row: the right side of a nested loop, subqueries that hang on the row, and those that hang on none.
q -c "CREATE INDEX big_id ON big (id)" -c "CREATE TABLE tenth AS SELECT * FROM big WHERE id <= $((rows / 10)) AND (m < 4 OR id % 100 = 0)" -c "CREATE INDEX tenth_k ON tenth (k)" -c "ANALYZE tenth"
loops="SET enable_hashjoin = off; SET enable_mergejoin = off;"
inner=(
    "SELECT count(*), sum(b.f), sum(s.f) FROM tenth s JOIN big b ON b.id = s.id * 7 WHERE s.m = 3" "SELECT s.id, b.f FROM tenth s LEFT JOIN big b ON b.id = s.id * 20 AND b.m < 4 WHERE s.k = 77"
    "SELECT sum(s.f), count(*) FROM tenth s WHERE NOT EXISTS (SELECT 1 FROM big b WHERE b.id = s.id * 11 AND b.m <> s.m) AND s.m = 1" "SELECT s.id, s.f FROM tenth s WHERE EXISTS (SELECT 1 FROM big b WHERE b.id = s.id + 3 AND b.k < s.k) ORDER BY s.f, s.id LIMIT 30"
    "SELECT s.m, sum(b.f), string_agg(b.t, ',') FILTER (WHERE s.id % 997 = 0) FROM tenth s JOIN tenth b ON b.k = s.k AND b.id < s.id - $((rows * 9 / 100)) GROUP BY s.m"
    "SELECT s.id, (SELECT sum(b.f) FROM tenth b WHERE b.k = s.k + 0 AND b.m = s.m) FROM tenth s WHERE s.id % 211 = 0" "SELECT sum((SELECT b.f FROM big b WHERE b.id = s.id * 3)) FROM tenth s WHERE s.m = 5"
    "SELECT count(*), sum(f) FROM tenth WHERE n > (SELECT avg(n) FROM big WHERE m = 2)" "SELECT m, sum(f) FROM tenth s WHERE f > (SELECT avg(f) + (SELECT min(id) FROM big) FROM tenth b WHERE b.k = s.k + 0) GROUP BY m"
    "SELECT count(*) FILTER (WHERE k > (SELECT avg(k) FROM big)), sum(f) FILTER (WHERE EXISTS (SELECT 1 FROM big b WHERE b.id = s.id * 2 AND b.m = 1)) FROM tenth s"
    "SELECT id FROM tenth s WHERE m < 3 AND k > ALL (SELECT b.m + s.m FROM tenth b WHERE b.k = s.id % 5) LIMIT 200 OFFSET 3000" "SELECT id FROM tenth WHERE k IN (SELECT m * 3 FROM dim JOIN small USING (k)) AND id % 97 = 0"
    "SELECT count(*) FROM tenth s, LATERAL (SELECT b.id FROM tenth b WHERE b.k = s.k ORDER BY b.f DESC, b.id LIMIT 2) l WHERE s.id % 101 = 0 AND l.id > 5000"
    "SELECT s.id FROM tenth s WHERE 1 / (SELECT b.id - $((rows * 6 / 100)) FROM big b WHERE b.id = s.id) < 2 AND s.id > $((rows * 6 / 100 - 1000))" "SELECT s.id FROM tenth s WHERE s.id > $((rows * 6 / 100 - 10)) AND 1 / (SELECT b.id - $((rows * 6 / 100)) FROM big b WHERE b.id = s.id) < 2 LIMIT 3"
    "SELECT count(*) FROM tenth WHERE k < 0 AND f > (SELECT 1 / (min(id) - 1) FROM big)" "SELECT count(*) FROM tenth WHERE k < 5 AND f > (SELECT 1 / (min(id) - 1) FROM big)" "SELECT count(*) FROM tenth WHERE id = (SELECT id FROM small WHERE id < 3)")
# The right side of a nested loop that hangs on no row: kept once, read by all.
first_kept=${#inner[@]}
inner+=("SELECT count(*), sum(s.f), sum(d.k) FROM tenth s JOIN dim d ON d.k > s.m + 400 AND d.k < s.m + 410" "SELECT s.id, d.k FROM tenth s LEFT JOIN dim d ON d.k > s.k + 400 AND d.k < s.m + 490 WHERE s.id % 499 = 0"
    "SELECT count(*), sum(s.f) FROM tenth s WHERE EXISTS (SELECT 1 FROM dim d WHERE d.k > s.k + 10 AND d.k < s.id)" "SELECT sum(s.f), count(*) FROM tenth s WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.k > s.k AND d.name < s.t)"
    "SELECT s.id FROM tenth s JOIN dim d ON d.k > s.k + 480 AND 1 / (s.id - $((rows * 6 / 100))) >= 0 LIMIT 40" "SELECT s.id, d.k FROM tenth s JOIN dim d ON d.k >= s.k + 490 AND 1 / (s.id - $((rows * 6 / 100))) < 5"
    "SELECT count(*) FROM tenth s JOIN (SELECT 1 / (k - 400) AS q, k FROM dim OFFSET 0) d ON d.k > s.k WHERE s.id < 0" "SELECT count(*) FROM tenth s JOIN (SELECT 1 / (k - 400) AS q, k FROM dim OFFSET 0) d ON d.k > s.k + d.q"
    "SELECT count(*), sum(f) FROM tenth WHERE 5 IN (SELECT m FROM small)" "SELECT id FROM tenth WHERE (SELECT count(*) FROM big) > 5 AND NOT EXISTS (SELECT 1 FROM small WHERE k < 0) AND id % 499 = 0" "SELECT sum(f) FROM tenth WHERE 3 > ALL (SELECT m FROM small)"
    "SELECT s.m, count(*), sum(s.f * d.h) FROM tenth s JOIN (SELECT m, max(f) AS h FROM big GROUP BY m) d ON d.h > s.f * 1.01 AND d.m < s.m GROUP BY s.m"
    "SELECT count(*), sum(s.f), min(d.t) FROM tenth s JOIN (SELECT k, t FROM big WHERE id <= 20000 OFFSET 0) d ON d.k > s.k + 480 WHERE s.id % 199 = 0")
# Keys of a hash join that only the leader can work out: it builds alone. And an answer that comes while workers of another pipeline begin.
first_full=${#inner[@]}
inner+=("SELECT * FROM (WITH c AS MATERIALIZED (SELECT k FROM dim WHERE k < 50) SELECT count(*), sum(d.k), sum(s.f) FROM (SELECT * FROM dim WHERE k < 20) d FULL JOIN small s ON d.k = (SELECT c.k FROM c WHERE c.k > s.k - 990 ORDER BY c.k LIMIT 1)) w"
    "SELECT count(*), sum(s.k), sum(u.k) FROM tenth s JOIN dim u ON s.k < u.k AND (s.m + u.k) % 7 = ANY (SELECT m FROM small WHERE k > (SELECT avg(k) FROM small) + 480) WHERE s.id > $((rows / 40)) AND s.id % 97 = 0 AND (SELECT max(v.f) FROM tenth v WHERE v.k = s.k + 0) > 0")
{ for query in "${inner[@]}"; do printf '\\echo -- %s\n%s;\n' "$query" "$query"; done; } >"$scratch/inner.sql"
inside() { psql -X -q -A -t -c "$settings SET max_parallel_workers_per_gather = $1; $2" -f "$scratch/inner.sql" 2>&1 | sed 's/^psql:[^ ]* //'; }
inside 1 "$loops" >"$scratch/n1"
inside 1 "" >"$scratch/n2"
same "parallel: plans for rows: all were asked, five fail" "${#inner[@]} 5" "$(grep -c '^-- SELECT' "$scratch/n1") $(grep -c ERROR "$scratch/n1")"
for run in 2 3 4 8 16; do
    how=$loops of=n1
    [ $((run % 2)) = 0 ] || how='' of=n2
    same "parallel: ${#inner[@]} queries that run plans for rows, the same bytes with $run workers as with 1${how:+, loops only}" "$(md5sum <"$scratch/$of")" "$(inside $run "$how" | tee "$scratch/n" | md5sum)"
    cmp -s "$scratch/$of" "$scratch/n" || diff "$scratch/$of" "$scratch/n" | head -n 8 | sed 's/^/        | /'
done
inside 1 "$loops SET work_mem = '64kB';" >"$scratch/n3"                   # what is kept lies on disk
same "parallel: plans for rows, the same bytes with 4 workers as with 1 in 64 kB, loops only" "$(md5sum <"$scratch/n3")" "$(inside 4 "$loops SET work_mem = '64kB';" | md5sum)"
for n in 0 3 5 6 7 9 $((first_kept + 2)) $((first_kept + 9)) $((first_kept + 11)); do
    plan 2 "${inner[n]}" >"$scratch/plan"
    [ $n = 0 ] && psql -X -q -At -c "$settings $loops SET max_parallel_workers_per_gather = 2" -c "EXPLAIN (ANALYZE) ${inner[n]}" >"$scratch/plan"
    same "parallel: workers run plans for rows, query $n" yes "$(grep -q 'Workers Launched: [1-9]' "$scratch/plan" && echo yes)"     # 1: it was over before another was sent
done
plan 4 "SELECT s.id, a.name, b.name FROM small s JOIN dim a USING (k) JOIN dim b ON b.k = s.m WHERE s.k < 0 AND s.f > (SELECT 1 / (max(m) - 6) FROM big)" >"$scratch/plan"
same "parallel: an answer that fails is asked for once, and by no row" "1 1" "$(grep -c 'Parallel Seq Scan on big .* loops=1)' "$scratch/plan") $(grep -c 'InitPlan 1' "$scratch/plan")"
same "parallel: its plan can be shown: a key that reads an outer row" 1 "$(q -c "$settings" -c "EXPLAIN ${inner[first_full]}" | grep -c 'Hash Cond: (dim.k = (SubPlan 1))')"

# For the eye: what a second worker brings.
time_of() {
    local best= took i
    for i in 1 2 3; do
        took=$(psql -X -q -At -c "$settings SET max_parallel_workers_per_gather = $1" -c '\timing on' -c "SELECT count(*), sum(n), sum(f), max(t) FROM big WHERE k < 900" 2>&1 | sed -n 's/^Time: \([0-9]*\).*/\1/p')
        if [ -z "$best" ] || [ "${took:-99999}" -lt "$best" ]; then best=${took:-99999}; fi
    done
    echo "$best"
}
one=$(time_of 1) two=$(time_of 2)
say "scan and aggregate of $rows rows: $one ms with one worker, $two ms with two"

# Sorts: many equal keys, texts that agree in their first bytes, nulls at either end, numerics of every form, OFFSET and LIMIT anywhere. Runs on disk
# and in memory, merged by one and by many.
q -c "CREATE TABLE middle AS SELECT * FROM big WHERE id <= 150000"
sorts=(
    "SELECT id AS v FROM middle ORDER BY m" "SELECT id AS v FROM middle ORDER BY f DESC, nul NULLS FIRST" "SELECT id || t || k AS v, n, nul FROM middle ORDER BY nul DESC NULLS LAST, k, id DESC"
    "SELECT id AS v, t FROM middle ORDER BY t" "SELECT id AS v FROM middle ORDER BY 'a long beginning that all of them have ' || t DESC, f" "SELECT id AS v FROM middle ORDER BY n * id, m"
    "SELECT id AS v FROM middle ORDER BY (n / 3) DESC, id LIMIT 5000" "SELECT id + n AS v, f FROM middle ORDER BY k, nul OFFSET 50000 LIMIT 90000" "SELECT t AS v, id FROM middle ORDER BY f OFFSET 149990"
    "SELECT t || id AS v FROM middle ORDER BY m, t, n LIMIT 70000 OFFSET 50001" "SELECT id AS v FROM middle ORDER BY nul NULLS FIRST, t LIMIT 30" "SELECT id AS v FROM middle ORDER BY (f - 70)::float4 DESC, k LIMIT 1000"
    "SELECT id AS v FROM middle ORDER BY t DESC, id LIMIT 40 OFFSET 20000" "SELECT id AS v FROM middle ORDER BY nullif(f, f), id % 5 LIMIT 50" "SELECT id AS v FROM middle ORDER BY f DESC, id LIMIT 7")
{ for query in "${sorts[@]}"; do printf "\\\\echo -- %s\nSELECT count(*), md5(string_agg(v::text, ' ')) FROM (%s) q;\n" "$query" "$query"; done; } >"$scratch/sorts.sql"
sorted() { psql -X -q -A -t -c "$settings SET max_parallel_workers_per_gather = $1; SET work_mem = '$2'" -f "$scratch/sorts.sql" 2>&1 | sed 's/^psql:[^ ]* //'; }
sorted 1 1GB >"$scratch/s1"
same "parallel: all sorts were asked" "${#sorts[@]} 0" "$(grep -c '^-- SELECT' "$scratch/s1") $(grep -c ERROR "$scratch/s1")"
for run in "1 64kB" "1 5MB" "2 1GB" "3 1MB" "4 1GB" "8 64kB" "16 4MB"; do
    # shellcheck disable=SC2086
    sorted $run >"$scratch/s"
    if cmp -s "$scratch/s1" "$scratch/s"; then
        ok "parallel: ${#sorts[@]} sorts, the same rows in the same order with (workers, work_mem) = $run ($(md5sum <"$scratch/s" | head -c 8))"
    else
        bad "parallel: other order with (workers, work_mem) = $run"
        diff "$scratch/s1" "$scratch/s" | head -n 8 | sed 's/^/        | /'
    fi
done
# Indexes: the same tree, page by page, however many workers read and whether entries went through files.
indexes() { # WORKERS MEMORY
    q -c "$settings SET client_min_messages = warning; SET max_parallel_workers_per_gather = $1; SET maintenance_work_mem = '$2'" -c "DROP INDEX IF EXISTS middle_id, middle_k, middle_f, middle_t, middle_e" -c "CREATE UNIQUE INDEX middle_id ON middle (id)" \
        -c "CREATE INDEX middle_k ON middle (k DESC, nul)" -c "CREATE INDEX middle_f ON middle (f) WHERE m < 5" -c "CREATE INDEX middle_t ON middle (t, n)" -c "CREATE INDEX middle_e ON middle (('a long beginning that all share ' || t), nul NULLS FIRST)"
    for index in middle_id middle_k middle_f middle_t middle_e; do q -c "SELECT '$index', crab_btree_check('$index'), md5(string_agg(x, ',')) FROM crab_btree('$index') x"; done
}
indexes 1 1GB >"$scratch/i1"
same "parallel: five indexes are whole" 5 "$(grep -c '|ok|' "$scratch/i1")"
for run in "2 1GB" "8 1MB" "1 1MB"; do
    # shellcheck disable=SC2086
    same "parallel: the same trees with (workers, maintenance_work_mem) = $run" "$(cat "$scratch/i1")" "$(indexes $run)"
done
same "parallel: a duplicate is found by many workers" "ERROR:  could not create unique index \"middle_u\"" "$(q -c "$settings SET max_parallel_workers_per_gather = 4" -c "CREATE UNIQUE INDEX middle_u ON middle (k)" 2>&1 | head -n 1)"
same "parallel: the first row's error stops a build" "ERROR:  integer out of range" "$(q -c "$settings SET max_parallel_workers_per_gather = 4" -c "CREATE INDEX middle_z ON middle ((id + 2147413647), (10 / (id - 140000)))" 2>&1)"
# What zone maps have learned shows in no answer, errors included: of the first grain nearly all rows pass the filter of s, which is then left alone, but for its bounds.
attempt "parallel: tables for zone maps" q -c "CREATE TABLE zoned AS SELECT g AS id, CASE WHEN g < 3000 THEN g % 100 ELSE 1000 END AS k, g % 10 AS u, CASE WHEN g < 3000 THEN 1 ELSE 0 END AS b FROM generate_series(1, 60000) g" \
    -c "CREATE TABLE zone_s AS SELECT g AS k FROM generate_series(0, 99) g" -c "CREATE TABLE zone_u AS SELECT g AS id, 5 AS c FROM generate_series(0, 9) g" -c "ANALYZE zoned" -c "ANALYZE zone_s" -c "ANALYZE zone_u"
zoned="SELECT count(*) FROM zoned z JOIN zone_u u ON z.u = u.id AND 10 / z.b > u.c JOIN zone_s s ON z.k = s.k"
for run in 1 2 3; do
    same "parallel: rows that a later join has no use for raise nothing, run $run" 2999 "$(q -c "SET join_collapse_limit = 1; SET max_parallel_workers_per_gather = $run" -c "$zoned" 2>&1)"
done
own="SELECT count(*) FROM zoned z JOIN zone_s s ON z.k = s.k WHERE 10 / z.b > 5"
same "parallel: and those that fail in their own scan always do" "ERROR:  division by zero ERROR:  division by zero" "$(q -c "$own" 2>&1) $(q -c "$own" 2>&1)"
server_stop
verdict $? "parallel: the server ends well"
