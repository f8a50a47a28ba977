#!/bin/bash
# tests/server/mixed.sh - everything at once through real connections (mixed_client), with a pool too small for it, while all latch switches
# are turned at random: every answer is the same, the money agrees, tables and indexes are sound.
#
#     MIXED_OPERATIONS (150, a thread), MIXED_THREADS (6), SEED (1)
. "$(dirname "$0")/../lib.sh"
if [ -n "$REFERENCE" ]; then ok "mixed: skipped"; exit 0; fi
server_start mixed -c shared_buffers=2MB -c checkpoint_timeout=2 -c autovacuum_naptime=1 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0 ||
    { bad "mixed: the server does not start"; tail -n 5 "$server_log"; exit 1; }
if timeout --foreground 300 "$BUILD/tests/server/mixed_client" "${MIXED_THREADS:-6}" "${MIXED_OPERATIONS:-150}" "${SEED:-1}" turn >"$scratch/out" 2>"$scratch/err"; then
    ok "$(tail -n 1 "$scratch/out")"
    say "$(tail -n 1 "$scratch/err")"
else
    bad "$(tail -n 1 "$scratch/out") (status $?)"
    tail -n 20 "$scratch/err" | sed 's/^/        | /'
    tail -n 5 "$server_log" | sed 's/^/        | /'
fi
server_stop
verdict $? "mixed: the server ends well"
