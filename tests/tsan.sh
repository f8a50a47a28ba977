#!/bin/bash
# tests/tsan.sh - ThreadSanitizer: the stress programs, then the whole server under eight pgbench clients, sessions of every kind, parallel
# queries, vacuums and index builds. Zero reports are wanted. Needs the build of `make tsan`.
#
#     tsan.sh [all|stress|server|queries]
#     TSAN_SECONDS (60): how long pgbench's scripts run in all; TSAN_STATEMENTS (240): random ones
. "$(dirname "$0")/tsan_lib.sh"
seconds=${TSAN_SECONDS:-60}

# Parallel queries on small grains, with cancels and errors in them.
queries() {
    local cancels status
    sed "s#/crabtree \"#/small/crabtree \"#" "$SERVER" >"$scratch/small_server"
    chmod +x "$scratch/small_server"
    # Random statements on small grains, at 2 to 16 workers, while somebody cancels those; answers are compared all the same.
    SERVER=$scratch/small_server server_start random -c max_parallel_workers=16 || bad "tsan: the server does not start"
    yes "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity, pg_sleep(0.02) WHERE application_name = 'oracle at workers' AND state = 'active'" | head -n 4000 | tr '\n' ';' >"$scratch/cancels.sql"
    psql -X -q -At -f "$scratch/cancels.sql" >"$scratch/cancels.out" 2>&1 &
    cancels=$!
    timeout --foreground 400 $SETARCH "$BUILD/tests/oracle/oracle" N="${TSAN_STATEMENTS:-240}" SEED=3 CHECKS=all PATIENCE=100 >"$scratch/oracle.out" 2>&1
    verdict $? "tsan: random statements: $(tail -n 1 "$scratch/oracle.out")"
    kill $cancels
    wait $cancels 2>/dev/null
    [ "$(awk '{ n += $1 } END { print n + 0 }' "$scratch/cancels.out")" -gt 0 ]
    verdict $? "tsan: $(awk '{ n += $1 } END { print n + 0 }' "$scratch/cancels.out") of them were canceled at more workers than one"
    server_stop
    status=$?
    if [ $status = 0 ] || [ $status = 66 ]; then ok "tsan: that server ends well"; else bad "tsan: that server ended with status $status"; fi
    reports "random statements that are canceled"
    attempt "tsan: errors, cancels and spills in parallel queries" env SMALL_SERVER="$scratch/small_server" tests/engine/errors.sh
    reports "errors, cancels and spills in parallel queries"
}

part=${1:-all}
if [ "$part" = queries ]; then queries; exit; fi
if [ "$part" = all ] || [ "$part" = stress ]; then
    tests/stress.sh
    case $? in 0) ;; *) bad_count=$((bad_count + 1)) ;; esac
    reports "stress programs"
fi
[ "$part" = all ] || [ "$part" = server ] || exit

server_start tsan -c shared_buffers=16MB -c checkpoint_timeout=3 -c autovacuum_naptime=1 -c max_parallel_workers=16 -c min_parallel_table_scan_size=0 || { bad "tsan: the server does not start"; tail -n 5 "$server_log"; reports start; exit 1; }
attempt "tsan: pgbench -i" pgbench -i -q -s 1
each=$((seconds / 5 > 1 ? seconds / 5 : 1))
for run in "tpcb-like simple" "tpcb-like prepared" "simple-update extended" "select-only prepared"; do
    # shellcheck disable=SC2086
    set -- $run
    attempt "tsan: pgbench $1 -M $2, 8 clients, $each s" pgbench -n -M "$2" -b "$1" -c 8 -j 2 -T "$each"
done
q -c "CREATE TABLE big AS SELECT g AS id, g % 100 AS k, g::float8 / 3 AS f, 'text ' || g % 50 AS t FROM generate_series(1, 40000) g" -c "ANALYZE big"
cat >"$scratch/mixed.sql" <<'EOS'
\set a random(1, 40000)
\set w random(0, 9)
SET max_parallel_workers_per_gather = 4;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT k, count(*), sum(f), max(t) FROM big GROUP BY k ORDER BY k LIMIT 5;
SELECT sum(f) FROM big WHERE id % 7 = :w;
SELECT count(*) FROM big x JOIN big y ON x.id = y.id WHERE x.k < 20;
BEGIN;
UPDATE big SET f = f + 1 WHERE id BETWEEN :a AND :a + 5;
SAVEPOINT s;
DELETE FROM big WHERE id = :a;
ROLLBACK TO s;
SELECT * FROM big WHERE id = :a FOR UPDATE;
COMMIT;
EOS
cat >"$scratch/ddl.sql" <<'EOS'
CREATE INDEX big_k ON big (k, id);
SELECT count(*) FROM big WHERE k = 5;
VACUUM big;
ANALYZE big;
DROP INDEX big_k;
CREATE TABLE passing (id serial PRIMARY KEY, v text);
INSERT INTO passing (v) SELECT 'x' FROM generate_series(1, 500);
SELECT count(*) FROM crab_latches;
SELECT count(*) FROM pg_stat_activity;
SELECT count(*) FROM pg_locks;
DROP TABLE passing;
EOS
# An error of a statement among many (a deadlock, say) is no matter here: reports are.
pgbench -n -f "$scratch/mixed.sql" -c 6 -j 2 -T "$each" >"$scratch/mixed.out" 2>&1 &
mixed=$!
for _ in 1 2; do psql -X -q -f "$scratch/ddl.sql" >"$scratch/ddl.out" 2>&1; done
wait $mixed
if grep -q 'PANIC\|server closed the connection' "$scratch/mixed.out" "$scratch/ddl.out"; then bad "tsan: mixed load: the server went down"; else ok "tsan: mixed load"; fi
for steps in deadlock timeouts_and_cancel; do
    $SETARCH "$BUILD/tests/server/session_client" tests/server/sessions/$steps.steps >"$scratch/steps.out" 2>&1
    verdict $? "tsan: sessions: $steps"
done
timeout --foreground 300 $SETARCH "$BUILD/tests/server/mixed_client" 5 40 3 turn >"$scratch/out" 2>"$scratch/err" || tail -n 20 "$scratch/err"
if grep -q ': fine$' "$scratch/out"; then ok "tsan: $(tail -n 1 "$scratch/out")"; else bad "tsan: mixed SQL"; fi
server_stop
status=$?
reports "server"
if [ $status = 0 ] || [ $status = 66 ]; then ok "tsan: the server ends well"; else bad "tsan: the server ended with status $status"; tail -n 5 "$server_log"; fi
attempt "tsan: stopped sessions" env SERVER="$SERVER" tests/server/step.sh
reports "stopped sessions"
queries
