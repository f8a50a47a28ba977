#!/bin/bash
# course/4-parallel-scan/session.sh - A's query has three workers, its own thread among them, which are stopped at their pages: where they stand shows who claimed what.
# Then the switch: what is left of the workers when the query is over.
. "$(dirname "$0")/../session_lib.sh"
lesson_server
lesson_sessions
LOOK="SELECT layer, relation, page, mode, state, point FROM crab_latches WHERE pid = :a ORDER BY page, state;"
run C "CREATE TABLE big AS SELECT g AS k, g % 7 AS r FROM generate_series(1, 600000) g;"
lesson_names
parallel A 3
run A "EXPLAIN (COSTS OFF) SELECT count(*) FROM big WHERE r = 3;"

run A "SET crab.worker_start = 'spawn';"
run A "SET crab.step = 'big';"
start A "SELECT count(*) FROM big WHERE r = 3;"
must sees C "$LOOK" 'stopped .*stopped .*stopped'
workers_listed
run C "SELECT crab_step(:a, 3) IS NOT NULL AS let_go;"
must sees C "$LOOK" 'latch.release .*latch.release .*latch.release'
run C "SELECT leader_pid = :a AS of_a, backend_type, state, wait_event_type, wait_event FROM pg_stat_activity WHERE pid = :a OR leader_pid = :a ORDER BY backend_type;"
run C "SELECT crab_step(:a) IS NOT NULL AS let_go;"
must sees C "$LOOK" 'pool.pin .*pool.pin .*pool.pin'
run C "SELECT crab_run(:a);"
finish_run A
must workers_are 0
workers_listed

run A "SET crab.worker_start = 'pool';"
run A "SET crab.step = '';"
run A "SELECT count(*) FROM big WHERE r = 3;"
workers_listed
run A "SELECT count(*) FROM big WHERE r = 3;"
workers_listed
