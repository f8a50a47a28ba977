#!/bin/bash
# tests/switches.sh - the whole test suite (tests/run.sh) under each setting of the latch layers off its default, with all of them coarse at
# once, and under ten seeded mixes: every answer has to be the same. Ends in one line that counts all tests of all settings.
#
#     SEED (1): the mixes are those of SEED .. SEED + 9     MIXES (10)     JOBS (2): settings tested at once
#     PARTS (all but interleave, course and step, which set the switches themselves)     ONLY: a setting as it is printed, instead of all
#
# Left out are only the builds with a planted bug (PLANTS=): they test a test. Each part prints what it prints in tests/run.sh when it fails.
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build} PLANTS=
. tests/settings.sh
seed=${SEED:-1}
whole SEED "$seed"
whole MIXES "${MIXES:-10}" 0
whole JOBS "${JOBS:-2}"
# shellcheck disable=SC2086
known ${ONLY:-}
settings=("${single[@]}" "$coarse")
for ((n = 0; n < ${MIXES:-10}; n++)); do settings+=("$(mix $((seed + n)))"); done
[ -z "${ONLY:-}" ] || settings=("$ONLY")
parts=${PARTS:-$(sed -n 's/^\[ $# -gt 0 \] || set -- //p' tests/run.sh | sed -E 's/\b(interleave|course|step) //g')}
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
trap 'for job in $(jobs -p); do kill -- "-$job"; done 2>/dev/null; wait; exit 130' INT TERM
unset SEED
echo "${#settings[@]} settings, mixes of seed $seed, ${JOBS:-2} at once: $parts"

one() { # NUMBER
    local begun=$SECONDS output=$outputs/$1
    # shellcheck disable=SC2086
    CRAB_SWITCHES=${settings[$1]} tests/run.sh $parts >"$output" 2>&1
    if [ "$(tail -n 1 "$output" | grep -c ' passed, 0 failed$')" = 1 ]; then
        echo "ok      ${settings[$1]}: $(tail -n 1 "$output"), $((SECONDS - begun)) s"
    else
        echo "FAILED  ${settings[$1]}: $(tail -n 1 "$output"), $((SECONDS - begun)) s"
        grep -A 30 '^FAILED' "$output" | grep -v '^ok' | head -n 60
        local part
        for part in $(awk '/^== / { part = $2 } /^FAILED/ && !seen[part]++ { print part }' "$output"); do
            echo "        again: BUILD=$BUILD PLANTS= CRAB_SWITCHES=\"${settings[$1]}\" tests/run.sh $part"
        done
    fi
}
set -m                                    # each job leads a process group: the trap ends all of it
for ((n = 0; n < ${#settings[@]}; n++)); do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-2}" ]; do wait -n; done
    one $n &
done
wait
passed=0 failed=0
for ((n = 0; n < ${#settings[@]}; n++)); do
    read -r good _ bad _ < <(tail -n 1 "$outputs/$n" | grep -E '^[0-9]+ passed, [0-9]+ failed$' || echo "0 passed, 1 failed")
    passed=$((passed + good)) failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
