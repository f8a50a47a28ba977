#!/bin/bash
# tests/server/power.sh - power loss: a build whose disk forgets what wasn't synced and tears what it keeps (storage/crash_disk.h) dies
# at a chosen disk call, in recovery too; crash_client says whether the server kept its word. The same with fsync = off must be noticed.
#
#     CRASHES (10; 200 is the full run), SEED (1)
. "$(dirname "$0")/../lib.sh"
crashes=${CRASHES:-10} seed=${SEED:-1}
client=$BUILD/tests/server/crash_client
SERVER=$BUILD/crash/crabtree
if [ -n "$REFERENCE" ]; then ok "power: skipped"; exit 0; fi
if [ ! -x "$SERVER" ]; then bad "power: $SERVER is not built"; exit 1; fi
shopt -s nullglob
RANDOM=$seed
options="-c shared_buffers=4MB -c checkpoint_timeout=1 -c max_wal_size=16MB -c autovacuum_naptime=1"
dead() { tail -n 8 "$server_log" | sed 's/^/        | /'; }

# series NAME CRASHES OPTIONS...: crashes on one data directory; sets faults, lived and recovering.
series() {
    local name=$1 wanted=$2 n after pid status
    shift 2
    faults=0 lived=0 recovering=0
    unset CRAB_CRASH_AFTER CRAB_CRASH_SEED
    server_start "$name" $options "$@" || { bad "power: the server does not start"; dead; return 1; }
    "$client" setup 4 300 >"$scratch/setup" 2>&1 || { bad "power: no tables"; tail -n 3 "$scratch/setup"; return 1; }
    server_stop || { bad "power: the server does not end well"; dead; return 1; }
    for ((n = 1; n <= wanted; n++)); do
        after=$((RANDOM % 3 ? RANDOM % 1200 + 40 : RANDOM % 60 + 1))
        export CRAB_CRASH_AFTER=$after CRAB_CRASH_SEED=$((seed * 1000 + n))
        if server_start "$name" $options "$@" 2>/dev/null; then
            pid=$server_pid
            timeout 20 "$client" run "$scratch/$name.fate$n" 4 6 >"$scratch/run" 2>&1 || { say "crash $n: $(head -n 2 "$scratch/run")"; faults=$((faults + 1)); }
            if kill -0 "$pid" 2>/dev/null; then server_kill; lived=$((lived + 1)); fi
        else
            recovering=$((recovering + 1))
        fi
        [ -z "$server_pid" ] || { wait "$server_pid" 2>/dev/null; server_pid=; }
        rm -f "$PGHOST"/.s.*
        unset CRAB_CRASH_AFTER CRAB_CRASH_SEED
        if ! server_start "$name" $options "$@"; then
            say "crash $n (after $after calls): no recovery"
            dead
            faults=$((faults + 1))
            server_pid=
            return 0
        fi
        if ! "$client" verify "$scratch/$name".fate* >"$scratch/verify" 2>&1; then
            faults=$((faults + 1))
            [ "$name" = nosync ] || { say "crash $n (CRAB_CRASH_AFTER=$after CRAB_CRASH_SEED=$((seed * 1000 + n))):"; head -n 6 "$scratch/verify" | sed 's/^/        | /'; }
            [ "$name" = nosync ] && return 0
        fi
        server_stop || { say "crash $n: the server did not end well afterwards"; dead; faults=$((faults + 1)); }
        [ $faults -lt 5 ] || return 0
    done
}

left=$crashes batch=0
while [ $left -gt 0 ]; do
    now=$((left > 25 ? 25 : left)) left=$((left > 25 ? left - 25 : 0)) batch=$((batch + 1)) seed=$((seed + 1))
    series "power$batch" $now || continue
    if [ $faults = 0 ]; then
        ok "power: $now crashes ($recovering before it was ready, $lived outlived their plan): $(tail -n 1 "$scratch/verify")"
    else
        bad "power: $faults faults in $now crashes"
    fi
done
series nosync 12 -c fsync=off && {
    if [ $faults -gt 0 ]; then ok "power: without fsync the loss is noticed"; else bad "power: without fsync nothing was noticed"; fi
}
if [ -x "$BUILD/crash/storage/crash_stress" ]; then
    attempt "power: storage alone" "$BUILD/crash/storage/crash_stress" 40
    attempt "power: storage alone, without fsync it is noticed" "$BUILD/crash/storage/crash_stress" 40 1 0
fi
if [ -x "$BUILD/crash/storage/heap_crash_stress" ]; then
    attempt "power: heap alone" "$BUILD/crash/storage/heap_crash_stress"
fi
