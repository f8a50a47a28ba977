#!/bin/bash
# tests/server/step_session.sh - three psql sessions and a tiny B+Tree: A is stopped in the middle of an insert, B waits for it, C looks
# and lets A go. Prints the session as btree/README.md shows it; tests/server/step.sh holds the two against each other.
#
# What stands behind `A=# ` is sent to that session's psql; every other line is what it printed. Where a session can't answer yet, its
# answer comes below `A:` once it can.
unset CRAB_SWITCHES                      # which latch one waits for hangs on them; they are turned here
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/step_lib.sh"
server_start step_session -c autovacuum=off >/dev/null || { echo "the server does not start"; tail -n 5 "$server_log"; exit 1; }

for name in A B C; do session_open $name; done

run C "CREATE TABLE t (k int, v text);"
run C "CREATE INDEX t_k ON t (k) WITH (max_entries = 3);"
run C "INSERT INTO t SELECT g * 10, 'row ' || g FROM generate_series(1, 8) g;"
run C "SELECT crab_btree('t_k') \\g (format=unaligned tuples_only=on)"

run A "SET crab.step = 't_k';"
start A "INSERT INTO t VALUES (75, 'seventy-five');"
await_stopped A
pid=$(session_pid A)
run C "\\set look 'SELECT pid, layer, level, relation, page, mode, state, holders, point FROM crab_latches ORDER BY pid, state, level DESC;'"
run C ":look"
run C "SELECT crab_step($pid, 5);"
run C ":look"

start B "INSERT INTO t VALUES (78, 'seventy-eight');"
await_latch B
run C ":look"
run C "SELECT pid, state, wait_event_type, wait_event, query FROM pg_stat_activity WHERE pid IN ($pid, $(session_pid B)) ORDER BY pid;"

run C "SELECT crab_step($pid);"
run C "SELECT crab_step($pid);"
run C ":look"
run C "SELECT crab_run($pid);"
finish_run A
finish_run B
run C "SELECT crab_btree('t_k') \\g (format=unaligned tuples_only=on)"
run C "SELECT crab_btree_check('t_k');"
