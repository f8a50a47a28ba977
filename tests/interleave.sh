#!/bin/bash
# tests/interleave.sh - every scenario of the seeded scheduler at a modest number of seeds (SEEDS=60): tests/interleave/.
. "$(dirname "$0")/lib.sh"
"$BUILD/tests/interleave/interleave" N="${SEEDS:-60}"
