#!/bin/bash
# tests/units.sh - every Criterion program there is, one line each.
. "$(dirname "$0")/lib.sh"
export LSAN_OPTIONS=${LSAN_OPTIONS:-} ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} # Criterion's own workers end by _exit
for source in tests/*/*_test.c; do
    program=$BUILD/${source%.c}
    [ -x "$program" ] || { bad "${source%.c}: not built"; continue; }
    timeout --foreground 300 "$program" -j2 >"$scratch/out" 2>&1
    status=$?
    tested=$(sed 's/\x1b\[[0-9;]*m//g' "$scratch/out" | sed -n 's/.*Synthesis: Tested: \([0-9]*\).*/\1/p')
    if [ $status = 0 ] && [ -n "$tested" ]; then
        ok "$tested tests: ${source%.c}"
    else
        bad "${source%.c} (status $status)"
        grep -v ' LOG:  ' "$scratch/out" | tail -n 25 | sed 's/^/        | /'
    fi
done
