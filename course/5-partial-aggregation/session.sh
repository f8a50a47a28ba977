#!/bin/bash
# course/5-partial-aggregation/session.sh - a sum of floats at 1, 2 and 4 workers, collected and partial, let run and stopped in between: the
# same bits. Only another order of the rows makes another sum.
. "$(dirname "$0")/../session_lib.sh"
lesson_server
lesson_sessions
LOOK="SELECT layer, relation, page, state, point FROM crab_latches WHERE pid = :a ORDER BY page, state;"
run C "CREATE TABLE f AS SELECT g AS k, CASE WHEN g % 3 = 0 THEN 1e10 ELSE 0.1 END * (g % 1000) * CASE WHEN g % 2 = 0 THEN 1 ELSE -1 END::float8 AS x FROM generate_series(1, 60000) g;"
lesson_names
run A "SELECT sum(x) FROM f;"
run A "SELECT sum(x) FROM (SELECT x FROM f ORDER BY k DESC) backwards;"
parallel A 2
for agg in collect partial; do
    run A "SET crab.agg = '$agg';"
    run A "EXPLAIN (COSTS OFF) SELECT sum(x) FROM f;"
    run A "SELECT sum(x) FROM f;"
done
run A "SET max_parallel_workers_per_gather = 4;"
run A "SELECT sum(x) FROM f;"
run A "SET max_parallel_workers_per_gather = 2;"
run A "SET crab.step = 'f';"
start A "SELECT sum(x) FROM f;"
must sees C "$LOOK" 'stopped .*stopped'
run C "SELECT crab_step(:a, 40) IS NOT NULL AS let_go;"
must sees C "$LOOK" 'stopped .*stopped'
run C "SELECT crab_run(:a);"
finish_run A
