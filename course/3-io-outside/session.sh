#!/bin/bash
# course/3-io-outside/session.sh - A and B read a table each from a slow disk: with crab.pool_io = latched one reads and the other waits for
# the pool, with I/O outside the latch both read. Here it is the disk that stops them, not crab.step.
. "$(dirname "$0")/../session_lib.sh"
lesson_server
for table in north south; do q -c "CREATE TABLE $table AS SELECT g AS k, repeat('x', 400) AS filler FROM generate_series(1, 8000) g" || exit 1; done
q -c CHECKPOINT
server_stop
lesson_server -c effective_io_concurrency=0 -c max_parallel_workers_per_gather=0   # an empty pool, and no page read ahead of need
lesson_sessions
lesson_names
# Prepared, it reads no page of the pool: so C can look while the pool is latched.
run C "PREPARE sessions AS ${WHO%;};"
run C "EXECUTE sessions;"
run A "EXPLAIN (COSTS OFF) SELECT count(*) FROM north;"
run B "EXPLAIN (COSTS OFF) SELECT count(*) FROM south;"

run C "SET crab.pool_io = 'latched';"
run C "SET crab.io_delay = '500ms';"
start A "SELECT count(*) FROM north;"
must sees C "EXECUTE sessions;" '\| DataFileRead' >/dev/null
start B "SELECT count(*) FROM south;"
must sees C "EXECUTE sessions;" '\| DataFileRead .*\| PoolIo'
run C "SET crab.pool_io = 'outside';"
must sees C "EXECUTE sessions;" '\| DataFileRead .*\| DataFileRead'
must sees C "$LOOK" 'point [-+ ]*$'
run C "SET crab.io_delay = 0;"
finish_run A
finish_run B
