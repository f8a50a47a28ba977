#!/bin/bash
# tests/soak.sh - ThreadSanitizer for as long as wanted: rounds of storms, each under the next setting of the latch layers (tests/settings.sh), and
# after those under one seeded mix after the other. A round: split storm, delete storm, eviction storm, the other programs with threads, then
# a server under mixed SQL through real connections (DDL, vacuum, COPY, cancels, hang-ups). Each program checks its own results and
# says threads, operations, seed and verdict; there must be no report. Needs the build of `make tsan`.
#
#     MINUTES (20)     SEED (1): round n runs by seed SEED + n     ROUND (0): the first round
. "$(dirname "$0")/tsan_lib.sh"
. tests/settings.sh
minutes=${MINUTES:-20} seed=${SEED:-1} round=${ROUND:-0}
whole MINUTES "$minutes"
whole SEED "$seed"
whole ROUND "$round" 0
rotation=("" "${single[@]}" "$coarse")
declare -A operations runs
order=()
passed=0
QUIET=yes

# tally NAME OUTPUT STATUS: reads the program's verdict.
tally() {
    local line number program
    line=$(grep -E ': [0-9]+ threads, [0-9]+ operations, seed [0-9]+, .*: (fine|FAILED)' "$2" | tail -n 1)
    number=$(printf %s "$line" | sed -E 's/.*: [0-9]+ threads, ([0-9]+) operations.*/\1/')
    program=${line%%:*}
    if [ "$3" = 0 ] && [ -n "$line" ]; then
        ok "$line"
        passed=$((passed + 1))
        [ -n "${runs[$program]:-}" ] || order+=("$program")
        operations[$program]=$((${operations[$program]:-0} + number)) runs[$program]=$((${runs[$program]:-0} + 1))
    else
        bad "${line:-$1} (status $3)"
        tail -n 25 "$2" | sed 's/^/        | /'
    fi
    reports "$1" || true
}
program() { # NAME ARGUMENTS...
    [ $SECONDS -lt $end ] || return
    timeout --foreground 600 $SETARCH "$BUILD/tests/$1" "${@:2}" >"$scratch/out" 2>"$scratch/err"
    local status=$?
    cat "$scratch/out" >>"$scratch/err"
    tally "$1" "$scratch/err" $status
}
end=$((SECONDS + minutes * 60))
begun=$round
while [ $SECONDS -lt $end ]; do
    if [ $round -lt ${#rotation[@]} ]; then CRAB_SWITCHES=${rotation[$round]}; else CRAB_SWITCHES=$(mix $((seed + round))); fi
    export CRAB_SWITCHES
    switch_options=()
    for switch in $CRAB_SWITCHES; do switch_options+=(-c "$switch"); done
    s=$((seed + round))
    echo "== round $round: ${CRAB_SWITCHES:-default switches} (again: MINUTES=1 SEED=$seed ROUND=$round)"
    program btree/storm_stress split 5 4000 $s
    program btree/storm_stress delete 5 6000 $s
    program storage/pool_stress 4 800 $s
    program btree/btree_stress 4 600 $s
    program storage/heap_stress 4 150 $s
    program storage/lock_stress 4 300 $s
    program storage/wal_stress 4 400 $s
    program engine/exec_workers_stress 2 5 $s
    if [ $SECONDS -lt $end ]; then
        if server_start "soak$round" -c shared_buffers=2MB -c checkpoint_timeout=2 -c autovacuum_naptime=1 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0; then
            turn=
            [ -n "$CRAB_SWITCHES" ] || turn=turn
            # shellcheck disable=SC2086
            timeout --foreground 600 $SETARCH "$BUILD/tests/server/mixed_client" 5 60 $s $turn >"$scratch/out" 2>"$scratch/err"
            status=$?
            cat "$scratch/out" >>"$scratch/err"
            server_stop
            stopped=$?
            [ $stopped = 66 ] || [ $stopped = 0 ] || { bad "the server ended with status $stopped"; tail -n 8 "$server_log"; }
            tally "mixed SQL" "$scratch/err" $status
        else
            bad "the server does not start"
            tail -n 8 "$server_log"
        fi
        rm -rf "$scratch/soak$round"
    fi
    round=$((round + 1))
done
echo "$((round - begun)) rounds from seed $seed in $((SECONDS - end + minutes * 60)) s"
for program in "${order[@]}"; do printf '        %-28s %4d runs %12d operations\n' "$program" "${runs[$program]}" "${operations[$program]}"; done
echo "$report_count reports of ThreadSanitizer"
echo "$passed passed, $bad_count failed"
