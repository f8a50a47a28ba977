#!/bin/bash
# tests/server/sessions.sh - sessions interleaved step by step: a script for each anomaly in tests/server/sessions/, and beside it
# what PostgreSQL 15 says to the same steps. ACCEPT=1 writes that file anew (with REFERENCE=1).
. "$(dirname "$0")/../lib.sh"
server_start sessions || { bad "sessions: the server does not start"; tail -n 5 "$server_log"; exit 1; }
client=$BUILD/tests/server/session_client
scripts=("$@")
[ $# -gt 0 ] || scripts=(tests/server/sessions/*.steps)
for steps in "${scripts[@]}"; do
    name=$(basename "$steps" .steps)
    case $REFERENCE:$name in ?*:crab_*) continue ;; esac             # PostgreSQL has no such thing
    timeout --foreground 60 "$client" "$steps" >"$scratch/$name.out" 2>&1
    if [ -n "${ACCEPT:-}" ]; then
        cp "$scratch/$name.out" "${steps%.steps}.out"
    fi
    if diff -u "${steps%.steps}.out" "$scratch/$name.out" >"$scratch/diff" 2>&1; then
        ok "sessions: $name"
    else
        bad "sessions: $name"
        head -n "${TAIL:-20}" "$scratch/diff" | sed 's/^/        | /'
    fi
done
server_stop
verdict $? "sessions: the server ends well"
