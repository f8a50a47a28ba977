#!/bin/bash
# tests/run.sh [part...] - runs the parts of the test suite (all of them when none is named) and ends with one line that counts.
#
#     units stress interleave course sql sessions oracle slt tpch pgbench copy clients parallel groups window memory errors mixed step crash power faults
#
# What a part does stands at the head of its script. Sizes grow by environment variables: PGBENCH_SCALE, PGBENCH_SECONDS, ROWS, ROUNDS,
# CRASHES, MIXED_OPERATIONS, N (of the oracle). REFERENCE=1 runs a part against the PostgreSQL of this machine, KEEP=1 keeps scratch directories.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}
declare -A scripts=(
    [units]=tests/units.sh [stress]=tests/stress.sh [interleave]=tests/interleave.sh [course]=course/grade.sh [sql]=tests/sql/regress.sh [oracle]=tests/oracle/oracle.sh [slt]=tests/sql/slt.sh [tpch]=tests/sql/tpch.sh
    [sessions]=tests/server/sessions.sh [pgbench]=tests/server/pgbench.sh [copy]=tests/server/copy.sh [clients]=tests/clients/clients.sh [parallel]=tests/engine/parallel.sh [groups]=tests/engine/groups.sh [window]=tests/engine/window.sh [memory]=tests/engine/memory.sh [errors]=tests/engine/errors.sh
    [mixed]=tests/server/mixed.sh [step]=tests/server/step.sh [crash]=tests/server/crash.sh [power]=tests/server/power.sh [faults]=tests/server/faults.sh)
[ $# -gt 0 ] || set -- units stress interleave course sql sessions oracle slt tpch pgbench copy clients parallel groups window memory errors mixed step crash power faults
output=$(mktemp)
trap 'rm -f "$output"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0 failed=0
for part; do
    script=${scripts[$part]:-}
    if [ -z "$script" ]; then
        echo "tests/run.sh: no part \"$part\"; there are: ${!scripts[*]}" >&2
        exit 2
    fi
    echo "== $part"
    begun=$SECONDS
    "$script" 2>&1 | tee "$output"
    status=${PIPESTATUS[0]}
    good=$(grep -c '^ok  ' "$output") worse=$(grep -c '^FAILED  ' "$output")
    # A script that counts many tests of one program in one line says so: "ok N NAME".
    many=$(sed -n 's/^ok  *\([0-9][0-9]*\) tests: .*/\1/p' "$output" | awk '{ n += $1 - 1 } END { print n + 0 }')
    good=$((good + many))
    if [ "$status" != 0 ] && [ "$worse" = 0 ]; then
        echo "FAILED  $part: its script ended with status $status"
        worse=1
    elif [ $((good + worse)) = 0 ]; then
        echo "FAILED  $part: nothing was tested"
        worse=1
    fi
    passed=$((passed + good)) failed=$((failed + worse))
    echo "        $part took $((SECONDS - begun)) s"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
