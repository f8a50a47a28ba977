#!/bin/bash
# course/2-crabbing/session.sh - A inserts into one leaf of a tiny tree, and B looks up a key in another: under one latch a tree B waits,
# while A crabs B passes as soon as A has let go of the root.
. "$(dirname "$0")/../session_lib.sh"
lesson_server
lesson_sessions
LOOK="SELECT pid, layer, level, relation, page, mode, state, holders, point FROM crab_latches WHERE pid IN (:a, :b) ORDER BY pid, state, layer, level DESC;"
run C "CREATE TABLE t (k int);"
run C "CREATE INDEX t_k ON t (k) WITH (max_entries = 3);"
run C "INSERT INTO t VALUES (10), (20), (30), (40);"
run C "SELECT crab_btree('t_k') \\g (format=unaligned tuples_only=on)"
lesson_names
run B "SET enable_seqscan = off;"

run A "SET crab.btree_latching = 'tree';"
run A "SET crab.step = 't_k';"
start A "INSERT INTO t VALUES (45);"
must await_stopped A
start B "SELECT k FROM t WHERE k = 20;"
must await_latch B
run C "$LOOK"
run C "SELECT crab_run(:a);"
finish_run A
finish_run B

run A "SET crab.btree_latching = 'crab';"
start A "INSERT INTO t VALUES (42);"
must await_stopped A
run C "SELECT crab_step(:a, 9);"
start B "SELECT k FROM t WHERE k = 20;"
must await_latch B
run C "$LOOK"
run C "SELECT crab_step(:a);"
run C "SELECT crab_step(:a);"
finish_run B
run C "$LOOK"
run C "SELECT crab_run(:a);"
finish_run A
run C "SELECT crab_btree('t_k') \\g (format=unaligned tuples_only=on)"
run C "SELECT crab_btree_check('t_k');"
