#!/bin/bash
# tests/interleave/mutants.sh - plants each concurrency bug of base/mutant.h, one at a time, and runs the scenarios until
# one fails: all of its module with a few seeds, then with more, up to BUDGET seeds each.
#
#     [BUILD=build] [MUTANT=name or pattern] [BUDGET=20000] tests/interleave/mutants.sh
#
# A mutant that no scenario finds is a failure of the scenarios. The same seed must pass where nothing is planted.
BUILD=${BUILD:-build} MODE=${MODE:-release} CC=${CC:-gcc} BUDGET=${BUDGET:-20000}
[[ $BUDGET =~ ^[1-9][0-9]{0,7}$ ]] || { echo "BUDGET=$BUDGET: not a whole number from 1 to 99999999" >&2; exit 2; }
export BUILD MODE CC BUDGET
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

rows() { sed -n 's/^ *X(\([A-Z_]*\), *"\([^"]*\)", *"\([^"]*\)", *"\(.*\)").*/\1|\2|\3|\4/p' base/mutant.h; }

try() {                                     # name|file|scenarios|what is broken
    IFS='|' read -r name file scenarios broken <<< "$1"
    program=$BUILD/mutant/$name
    local begun=$SECONDS out=$scratch/$name
    if ! make --no-print-directory -s BUILD="$BUILD" MODE="$MODE" CC="$CC" "$program" > "$out.make" 2>&1; then
        printf 'FAILED  %-24s does not build\n' "$name"; cat "$out.make"; return
    fi
    "$program" SCENARIO="$scenarios" UNTIL=failure N="$BUDGET" PROCESSES=1 > /dev/null 2> "$out.err"
    rm -f "$program" "$program.o"
    local line found=
    line=$(grep -m1 '^FAILED  interleave' "$out.err")
    if [[ $line =~ interleave\ ([a-z_.]+):\ policy\ ([a-z]+)\ seed\ ([0-9]+):\ (.*) ]]; then
        found=1
        local scenario=${BASH_REMATCH[1]} policy=${BASH_REMATCH[2]} seed=${BASH_REMATCH[3]} why=${BASH_REMATCH[4]}
        if ! "$BUILD/tests/interleave/interleave" SCENARIO="$scenario" POLICY="$policy" SEED="$seed" > /dev/null 2>&1; then
            printf 'FAILED  %-24s %s fails with seed %s (%s) without it, too\n' "$name" "$scenario" "$seed" "$policy"; return
        fi
    fi
    if [ -z "$found" ]; then
        printf 'FAILED  %-24s not found with %s seeds of each scenario %s*: %s\n' "$name" "$BUDGET" "$scenarios" "$broken"
    else
        printf 'ok      %-24s %-20s %-10s %5s  %3ss  %-20s %s\n                => %.150s\n' "$name" "$scenario" "$policy" "$seed" $((SECONDS - begun)) "$file" "$broken" "$why"
    fi
}
export -f try
export scratch

printf '        %-24s %-20s %-10s %5s  %4s  %-20s %s\n' mutant 'found by' policy seed time file 'what is broken'
# shellcheck disable=SC2016
rows | grep -E "^(${MUTANT:-.*})\|" | xargs -d '\n' -P 2 -I{} bash -c 'try "$1"' - '{}' | tee "$scratch/all"
passed=$(grep -c '^ok ' "$scratch/all") failed=$(grep -c '^FAILED ' "$scratch/all")
[ $((passed + failed)) -gt 0 ] || { echo "no mutant \"$MUTANT\"; base/mutant.h names them"; exit 2; }
echo "to see one fail, step by step: make $BUILD/mutant/NAME && $BUILD/mutant/NAME SCENARIO=... POLICY=... SEED=..."
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
