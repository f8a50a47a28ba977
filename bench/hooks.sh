#!/bin/sh
# bench/hooks.sh - what the branch of base/hooks.h costs when it is off (make bench-hooks): bench/hooks of two builds, one with
# -DCRAB_NO_HOOKS, where points and latch points are nothing at all.
#
#     COUNT=100000 ROUNDS=40 bench/hooks.sh
#
# The tree is small enough for the processor's caches: there the branch weighs most. Instructions come from valgrind (callgrind): the difference of
# two runs that differ in nothing but 20,000 look-ups.
set -eu
BUILD=${BUILD:-build} COUNT=${COUNT:-100000} ROUNDS=${ROUNDS:-40}
with=$BUILD-hooks/bench/hooks without=$BUILD-nohooks/bench/hooks
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if command -v valgrind >/dev/null 2>&1; then
    instructions() { # PROGRAM LOOKUPS
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" lookups 20000 "$2" 2>&1 | sed -n 's/.*Collected : //p'
    }
    for program in "$with" "$without"; do
        echo "$program: $((($(instructions "$program" 21000) - $(instructions "$program" 1000)) / 20000)) instructions a look-up"
    done
else
    echo "bench: no valgrind: instructions not counted" >&2
fi
"$with" compare "$with" "$without" "$COUNT" "$ROUNDS" 2>"$log" || { cat "$log" >&2; exit 1; }
