#!/bin/bash
# course/1-coarse-latch/session.sh - A is stopped in a table under crab.engine_latch = on, and B, who wants another table, waits for it;
# then the same with the latch off.
. "$(dirname "$0")/../session_lib.sh"
lesson_server
lesson_sessions
run C "CREATE TABLE accounts (id int PRIMARY KEY, balance int);"
run C "INSERT INTO accounts SELECT g, 100 FROM generate_series(1, 10) g;"
run C "CREATE TABLE weather (sky text);"
run C "INSERT INTO weather VALUES ('clear');"
lesson_names

run A "SET crab.engine_latch = on;"
run A "SET crab.step = 'accounts';"
start A "UPDATE accounts SET balance = balance - 1 WHERE id = 7;"
must await_stopped A
start B "SELECT * FROM weather;"
must await_latch B
run C "$LOOK"
run C "$WHO"
run C "SELECT crab_run(:a);"
finish_run A
finish_run B

run A "SET crab.engine_latch = off;"
start A "UPDATE accounts SET balance = balance - 1 WHERE id = 8;"
must await_stopped A
run B "SELECT * FROM weather;"
run B "SELECT sum(balance) FROM accounts;"
run C "$LOOK"
run C "SELECT crab_run(:a);"
finish_run A
run C "SELECT sum(balance) FROM accounts;"
