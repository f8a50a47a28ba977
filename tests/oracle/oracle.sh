#!/bin/bash
# tests/oracle/oracle.sh - random statements whose answers are known (oracle.c), put to a server with small grains; in JOBS processes, each
# with a seed and a server of its own. Then the same statements to builds in which a wrong-result bug is planted: each has to be found.
#
#     SEED (1), N (2500): statements, all jobs together; JOBS (1), CHECKS (some|all), FAULTS (1); PLANTS: names of base/plant.h (three of them)
. "$(dirname "$0")/../lib.sh"
seed=${SEED:-1} wanted=${N:-2500} jobs=${JOBS:-1}
client=$BUILD/tests/oracle/oracle
[ -n "$REFERENCE" ] || SERVER=$BUILD/small/crabtree

# job NUMBER: leaves its output in $scratch/out.NUMBER, its status at the end.
job() {
    local status
    if server_start "oracle$1" -c autovacuum=off; then    # which gives a table other statistics between two statements, and so another plan
        timeout --foreground "${SECONDS_AT_MOST:-3000}" "$client" SEED=$((seed + $1)) N=$(((wanted + jobs - 1) / jobs)) CHECKS="${CHECKS:-some}" FAULTS="${FAULTS:-1}" ROUND="${ROUND:-0}"
        status=$?
        server_stop || { echo "the server does not end well"; status=1; }
    else
        echo "the server does not start"
        tail -n 5 "$server_log"
        status=2
    fi
    return $status
}
pids=()
for ((i = 0; i < jobs; i++)); do
    (trap server_stop EXIT; job "$i") >"$scratch/out.$i" 2>&1 &
    pids+=($!)
done
for ((i = 0; i < jobs; i++)); do
    if wait "${pids[i]}"; then
        ok "oracle: $(tail -n 1 "$scratch/out.$i" | sed 's/^oracle: //')"
    else
        bad "oracle: seed $((seed + i)) (status $?)"
        head -n "${TAIL:-200}" "$scratch/out.$i" | cut -c 1-2000 | sed 's/^/        | /'
    fi
done
plants=${PLANTS-NOT_IN_AS_ANTI LAST_PAGE_LOST ON_AS_WHERE}
[ -n "$plants" ] && [ -z "$REFERENCE" ] || exit 0
# shellcheck disable=SC2086
SEED=$seed tests/oracle/plants.sh $plants || bad_count=$((bad_count + 1))
