#!/bin/bash
# tests/interleave.sh - every scenario of the seeded scheduler at a modest number of seeds (SEEDS=60): tests/interleave/.
. "$(dirname "$0")/lib.sh"
"$BUILD/tests/interleave/interleave" N="${SEEDS:-60}"
# what is no number, or names nothing, is refused before anything runs
for wrong in N=0 N=-1 N=1x N=99999999999999999999 SEED=0 SEED=-1 SEED=abc SEED=99999999999999999999 PROCESSES=-1 POLICY=nosuch SCENARIO=nosuch nonsense; do
    "$BUILD/tests/interleave/interleave" SCENARIO=workers.sink "$wrong" >"$scratch/wrong" 2>&1
    same "interleave: $wrong is refused" 2 $?
done
