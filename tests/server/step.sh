#!/bin/bash
# tests/server/step.sh - crab.step: sessions that stop at page points, and everything that must not hang because of them: who looks,
# cancel, time limits, termination, checkpoint, vacuum of other tables, shutdown, all with the engine latch on too. The printed
# session of btree/README.md is run again and held against what stands there. Last, what pg_stat_activity and pg_locks say.
unset CRAB_SWITCHES                      # which latch one waits for hangs on them; they are turned here
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/step_lib.sh"
here=$(dirname "$0")

# like NAME PATTERN GOT
like() { if [[ $3 == $2 ]]; then ok "$1"; else bad "$1"; say "expected: $2"; say "     got: $3"; fi; }

# ---- the README's session: the same but for pids, and spaces that hang on their width
plain() { sed -E 's/^ +[0-9]+ \|/ PID |/; s/connection [0-9]+/connection PID/g; s/crab_(step|run)\([0-9]+/crab_\1(PID/; s/pid IN \([0-9, ]+\)/pid IN (PIDS)/; s/-+/-/g; s/ +/ /g; s/ $//'; }
"$here/step_session.sh" 2>&1 | plain >"$scratch/session"
sed -n '/^A=# \|^C=# /,/^```$/p' btree/README.md | sed '/^```/d' | plain >"$scratch/readme"
if diff "$scratch/readme" "$scratch/session" >"$scratch/diff"; then ok "step: the session in btree/README.md"; else bad "step: the session in btree/README.md"; head -n 20 "$scratch/diff" | sed 's/^/        | /'; fi

start_server() { server_start step -c autovacuum_naptime=1 -c min_parallel_table_scan_size=0 "$@"; }
start_server || { bad "step: the server does not start"; tail -n 5 "$server_log"; exit 1; }

# ---- what can't be
sql_error() { psql -X -q -At -v VERBOSITY=verbose -c "$1" 2>&1 | sed -n 's/^ERROR:  //p'; }
q -c "CREATE TABLE t (k int, v text); CREATE INDEX t_k ON t (k) WITH (max_entries = 3); CREATE VIEW w AS SELECT 1 AS one; CREATE SEQUENCE s" \
  -c "INSERT INTO t SELECT g * 10, 'row ' || g FROM generate_series(1, 8) g; CREATE TABLE u (k int); INSERT INTO u SELECT generate_series(1, 1000)"
same "step: an unknown relation" '42P01: relation "nosuch" does not exist' "$(sql_error "SET crab.step = 'nosuch'")"
same "step: a catalog" '42501: permission denied: "pg_class" is a system catalog' "$(sql_error "SET crab.step = 'pg_class'")"
same "step: a catalog's index" '42501: permission denied: "pg_class_oid_index" is a system catalog' "$(sql_error "SET crab.step = 'pg_class_oid_index'")"
same "step: a view" '42809: "w" is not a table or index' "$(sql_error "SET crab.step = 'w'")"
same "step: a sequence" '42809: "s" is not a table or index' "$(sql_error "SET crab.step = 's'")"
same "step: nobody with that pid" '22023: PID 987654 is not a backend of this server' "$(sql_error "SELECT crab_step(987654)")"
same "step: a session that runs" '55000' "$(sql_error "SELECT crab_run(pg_backend_pid())" | cut -c1-5)"
same "step: no points" '22023: number of points must be greater than zero' "$(sql_error "SELECT crab_step(1, 0)")"
same "step: null" '' "$(q -c "SELECT crab_step(NULL)")"
same "step: off, and names with a schema" 'public.t_k||off|' "$(q -c "SET crab.step = 'public.t_k'; SHOW crab.step; SET crab.step = ''; SHOW crab.step; SET crab.step = off; SHOW crab.step; RESET crab.step; SHOW crab.step" | paste -sd'|')"
same "step: undone with its transaction" 't|' "$(q -c "BEGIN; SET crab.step = 't'; SHOW crab.step; ROLLBACK; SHOW crab.step" | paste -sd'|')"
same "step: not at the server's start" 1 "$("$SERVER" -D "$scratch/none" -h '' -p 5499 -k "$scratch" -c crab.step=t 2>&1 | grep -c 'crab.step')"

# ---- stopped at a leaf that it holds EXCLUSIVE
stop_at_leaf() { # NAME KEY: an insert into t stands with parent and leaf latched
    start "$1" "INSERT INTO t VALUES ($2, 'stepped');" >/dev/null
    await_stopped "$1" || return 1
    lead "$1" 'latch.acquired: exclusive NODE level 0 *'
}
session_open A && session_open B || { bad "step: psql"; exit 1; }
run A "SET crab.step = 't_k';" >/dev/null
same "step: an insert is led to its leaf" 'latch.acquired: exclusive NODE level 0 page 5 of t_k' "$(stop_at_leaf A 75)"
same "step: where it stands" 'Extension|crab.step|active|client backend' "$(looks "SELECT wait_event_type, wait_event, state, backend_type FROM pg_stat_activity WHERE pid = $(session_pid A)")"
# a stopped session is passed by: other tables, vacuum, looking
same "step: others work" '1000' "$(looks "SELECT count(*) FROM u")"
attempt "step: vacuum of another table" timeout 20 psql -X -q -c "VACUUM u"
message=$(looks "CHECKPOINT")
same "step: a checkpoint comes back" 'ERROR:  could not complete the checkpoint: a stopped session holds pages that it must write' "$(printf '%s\n' "$message" | head -n 1)"
start B "INSERT INTO t VALUES (78, 'waiting');" >/dev/null
await_latch B
verdict $? "step: a second insert waits for its latch"
same "step: and is seen to wait, for whom" "LWLock|Node|connection $(session_pid A) exclusive" "$(looks "SELECT a.wait_event_type, a.wait_event, l.holders FROM pg_stat_activity a JOIN crab_latches l ON l.pid = a.pid AND l.state = 'awaited' WHERE a.pid = $(session_pid B)")"
same "step: the last of many points is the statement's end" 'the statement is over' "$(looks "SELECT crab_step($(session_pid A), 1000000)")"
same "step: both are done" 'INSERT 0 1|INSERT 0 1' "$( { answer A; answer B; } | paste -sd'|')"
attempt "step: now the checkpoint goes through" timeout 60 psql -X -q -c CHECKPOINT
same "step: the tree is well" ok "$(looks "SELECT crab_btree_check('t_k')")"

# ---- cancel, time limit, Ctrl-C, termination
stop_at_leaf A 76 >/dev/null
looks "SELECT pg_cancel_backend($(session_pid A))" >/dev/null
same "step: canceled" 'ERROR:  canceling statement due to user request' "$(answer A)"
run A "SET statement_timeout = '200ms';" >/dev/null
same "step: past its time limit" "A=# INSERT INTO t VALUES (76, 'late');|ERROR:  canceling statement due to statement timeout" "$(run A "INSERT INTO t VALUES (76, 'late');" | paste -sd'|')"
run A "RESET statement_timeout;" >/dev/null
stop_at_leaf A 76 >/dev/null
kill -INT "${session_process[A]}"
wait "${session_process[A]}" 2>/dev/null
same "step: Ctrl-C" 1 "$(tail -n 1 "$scratch/A.out" | grep -c 'canceling statement due to user request')"
session_close A
session_open A
run A "SET crab.step = 't_k';" >/dev/null
stop_at_leaf A 76 >/dev/null
looks "SELECT pg_terminate_backend($(session_pid A))" >/dev/null
until_true "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $(session_pid A)"
verdict $? "step: terminated"
session_close A
same "step: nothing of them stayed" '0|ok' "$(looks "SELECT count(*), crab_btree_check('t_k') FROM t WHERE k = 76")"

# ---- a table, its workers
session_open A
q -c "CREATE TABLE p (k int, pad text); INSERT INTO p SELECT g, repeat('x', 500) FROM generate_series(1, 20000) g; ANALYZE p"
run A "SET max_parallel_workers_per_gather = 4;" >/dev/null
run A "SET crab.step = 'p';" >/dev/null
start A "SELECT count(*) FROM p;" >/dev/null
until_true "SELECT count(*) >= 2 FROM crab_latches WHERE pid = $(session_pid A) AND state = 'stopped' AND thread_name = 'worker'"
verdict $? "step: workers stop like their session"
same "step: workers are seen" t "$(looks "SELECT count(*) >= 2 FROM pg_stat_activity WHERE leader_pid = $(session_pid A) AND backend_type = 'parallel worker' AND wait_event = 'crab.step'")"
until_true "SELECT crab_step($(session_pid A), 3) LIKE '%HEAP page % of p; %HEAP page % of p%'"
verdict $? "step: all that stand go on"
looks "SELECT pg_cancel_backend($(session_pid A))" >/dev/null
same "step: workers are canceled with it" 'ERROR:  canceling statement due to user request' "$(answer A)"
start A "SELECT count(*) FROM p;" >/dev/null
await_stopped A
looks "SELECT crab_run($(session_pid A))" >/dev/null
same "step: workers run to the end" 'count|20000' "$(answer A | grep -v -- --- | tr -d ' ' | paste -sd'|')"
run A "SET crab.step = off;" >/dev/null

# ---- autovacuum works on others, and keeps out of the stepped table until it's left
q -c "ANALYZE u" -c "ANALYZE t"
run A "SET crab.step = 't_k';" >/dev/null
stop_at_leaf A 79 >/dev/null
q -c "DELETE FROM u WHERE k <= 900"
until_true "SELECT n_dead_tup = 0 AND n_mod_since_analyze = 0 FROM pg_stat_user_tables WHERE relname = 'u'"
verdict $? "step: autovacuum works on"
looks "SELECT crab_run($(session_pid A))" >/dev/null
answer A >/dev/null

# ---- the engine latch, and every other coarse one
q -c "SET crab.engine_latch = on" -c "SET crab.btree_latching = tree" -c "SET crab.pool_io = latched" -c "SET crab.pool_partitions = 1"
start A "INSERT INTO t VALUES (175, 'stepped');" >/dev/null
await_stopped A
verdict $? "step: stopped under the engine latch"
lead A 'latch.acquired: exclusive *' >/dev/null
start B "SELECT count(*) FROM u;" >/dev/null
until_true "SELECT count(*) = 1 FROM crab_latches WHERE pid = $(session_pid B) AND state = 'awaited' AND layer = 'ENGINE' AND holders = 'connection $(session_pid A) exclusive'"
verdict $? "step: others wait for the engine latch"
same "step: who looks doesn't" 'LWLock|Engine' "$(looks "SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = $(session_pid B)")"
same "step: not for locks either" t "$(looks "SELECT count(*) > 0 FROM pg_locks WHERE pid = $(session_pid A) AND mode = 'RowExclusiveLock'")"
same "step: nor for the trace" 0 "$(looks "SELECT count(*) FROM crab_trace")"
echo "SELECT count(*) FROM crab_latches WHERE pid = $(session_pid A);" >"$scratch/look.sql"
for mode in extended prepared; do attempt "step: nor by the extended protocol ($mode)" timeout 20 pgbench -n -M $mode -f "$scratch/look.sql" -t 3 -c 1; done
like "step: it is led on" '*: *t_k' "$(looks "SELECT crab_step($(session_pid A))")"
looks "SELECT pg_cancel_backend($(session_pid A))" >/dev/null
same "step: canceled under the engine latch" 'ERROR:  canceling statement due to user request' "$(answer A)"
same "step: then the other goes on" '100' "$(answer B | sed -n '3s/ //gp')"
start A "INSERT INTO t VALUES (175, 'stepped');" >/dev/null
await_stopped A
attempt "step: the engine latch is switched off meanwhile" timeout 20 psql -X -q -c "SET crab.engine_latch = off" -c "SELECT count(*) FROM u"
q -c "SET crab.btree_latching = optimistic" -c "SET crab.pool_io = outside" -c "SET crab.pool_partitions = 128"
looks "SELECT crab_run($(session_pid A))" >/dev/null
same "step: and it finishes" 'INSERT 0 1' "$(answer A)"

# ---- the extended protocol, and a setting that comes with the connection
echo "INSERT INTO t VALUES (180, 'prepared');" >"$scratch/insert.sql"
PGOPTIONS="-c crab.step=t_k" pgbench -n -M prepared -f "$scratch/insert.sql" -t 1 -c 1 >"$scratch/pgbench.out" 2>&1 &
bench=$!
until_true "SELECT count(*) = 1 FROM crab_latches WHERE state = 'stopped'"
verdict $? "step: a prepared statement stops"
like "step: and runs to its end" 'the statement is over' "$(looks "SELECT crab_run(pid) FROM crab_latches WHERE state = 'stopped'")"
wait $bench
verdict $? "step: pgbench is content"
same "step: a connection's setting is looked at" 'relation "nosuch" does not exist' "$(PGOPTIONS="-c crab.step=nosuch" psql -X -c "SELECT 1" 2>&1 | sed -n 's/.*FATAL:  //p')"

# ---- a crash while a page of a checkpoint that failed is held; what was committed before and after it is there
stop_at_leaf A 200 >/dev/null
q -c "INSERT INTO u SELECT generate_series(2001, 2500)"
looks CHECKPOINT >/dev/null
q -c "INSERT INTO u SELECT generate_series(2501, 3000)" -c "CREATE TABLE after_it AS SELECT generate_series(1, 5000) AS k"
server_kill
session_close A
session_close B
before=13                                # 8, 75, 78, 79, 175, 180
start_server || { bad "step: recovery"; tail -n 5 "$server_log"; exit 1; }
same "step: after a crash" "$before|1100|5000|ok|ok" "$(q -c "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u), (SELECT count(*) FROM after_it), crab_btree_check('t_k'), crab_heap_check('t')")"

# ---- shutdown
gone() { # the server has ended
    local tries=0
    while kill -0 "$server_pid" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || return 1
        sleep 0.05
    done
    wait "$server_pid"
}
session_open A
run A "SET crab.step = 't_k';" >/dev/null
stop_at_leaf A 300 >/dev/null
kill -TERM "$server_pid"
same "step: a smart shutdown lets it go" 'ERROR:  canceling statement due to user request' "$(answer A)"
same "step: the session goes on, and stops no more" "A=# INSERT INTO t VALUES (301, 'last');|INSERT 0 1" "$(run A "INSERT INTO t VALUES (301, 'last');" | paste -sd'|')"
session_close A
gone
verdict $? "step: smart shutdown"
start_server
session_open A
run A "SET crab.step = 't_k';" >/dev/null
stop_at_leaf A 302 >/dev/null
kill -INT "$server_pid"
gone
verdict $? "step: fast shutdown"
session_close A
start_server
same "step: after them" '14|ok' "$(q -c "SELECT count(*), crab_btree_check('t_k') FROM t")"

# ---- what the views say when nobody is stepped
session_open A
session_open B
run A "BEGIN;" >/dev/null
run A "UPDATE t SET v = 'a' WHERE k = 10;" >/dev/null
start B "UPDATE t SET v = 'b' WHERE k = 10;" >/dev/null
until_true "SELECT count(*) > 0 FROM pg_locks WHERE pid = $(session_pid B) AND NOT granted"
same "views: a transaction's own locks" 'relation RowExclusiveLock t|transactionid ExclusiveLock t|virtualxid ExclusiveLock t' \
    "$(looks "SELECT DISTINCT locktype || ' ' || mode || ' ' || granted::text::char FROM pg_locks WHERE pid = $(session_pid A) ORDER BY 1" | paste -sd'|')"
same "views: the wait for it" 'transactionid|ShareLock|f|t|t' "$(looks "SELECT b.locktype, b.mode, b.granted, b.waitstart IS NOT NULL, b.transactionid = a.transactionid FROM pg_locks b, pg_locks a WHERE b.pid = $(session_pid B) AND NOT b.granted AND a.pid = $(session_pid A) AND a.locktype = 'transactionid'")"
same "views: in pg_stat_activity" 'Lock|transactionid|active|t' "$(looks "SELECT wait_event_type, wait_event, state, backend_xid IS NOT NULL OR backend_xmin IS NOT NULL FROM pg_stat_activity WHERE pid = $(session_pid B)")"
same "views: idle in transaction" 'Client|ClientRead|idle in transaction|t' "$(looks "SELECT wait_event_type, wait_event, state, xact_start <= now() AND backend_xid IS NOT NULL FROM pg_stat_activity WHERE pid = $(session_pid A)")"
run A "LOCK TABLE u;" >/dev/null
run A "COMMIT;" >/dev/null
answer B >/dev/null
same "views: the server's own threads" 'autovacuum launcher,background writer,checkpointer,walwriter' "$(looks "SELECT string_agg(backend_type, ',' ORDER BY backend_type) FROM pg_stat_activity WHERE pid IS NULL")"
q -c "CHECKPOINT" -c "SET crab.io_delay = 30000"
# It waits for long in all, so that somebody who looks now and then sees it; the delay ends once it's seen.
for _ in $(seq 300); do echo "INSERT INTO u VALUES (1);"; done >"$scratch/many.sql"
start A "\\i $scratch/many.sql" >/dev/null
until_true "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $(session_pid A) AND (wait_event_type, wait_event) IN (('IO', 'WALWrite'), ('IO', 'WALSync'), ('LWLock', 'WALWrite'))"
verdict $? "views: a commit waits for its log"
q -c "SET crab.io_delay = 0"
answer A >/dev/null
server_stop
start_server
session_close B
session_close A
session_open A
q -c "SET crab.io_delay = 30000"
run A "SET effective_io_concurrency = 0;" >/dev/null
start A "SELECT count(*) FROM p;" >/dev/null
until_true "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'IO' AND wait_event = 'DataFileRead'"
verdict $? "views: a cold scan reads pages"
q -c "SET crab.io_delay = 0"
answer A >/dev/null
q -c "SET crab.trace = on"
run A "SET enable_seqscan = off;" >/dev/null
run A "SELECT v FROM t WHERE k = 20;" >/dev/null
same "views: the trace, from the root down" t "$(looks "SELECT string_agg(level::text, ',' ORDER BY at_us, level DESC) LIKE '2,1,0%' FROM crab_trace WHERE pid = $(session_pid A) AND relation = 't_k' AND layer = 'NODE'")"
q -c "SET crab.trace = off"
session_close A
server_stop
verdict $? "step: the server ends well"
