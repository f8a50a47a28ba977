#!/bin/bash
# tests/stress.sh - the programs with threads, at modest sizes. Under TSAN_LOG (tests/tsan.sh) at sizes for ThreadSanitizer.
. "$(dirname "$0")/lib.sh"
slow=${TSAN_LOG:+yes}
# Under a slower disk, above all with the pool's latch held meanwhile, a storm is mostly sleep: a quarter of it says as much.
storm=20000
[[ ${CRAB_SWITCHES:-} == *crab.io_delay=* ]] && storm=5000
run() { # NAME ARGUMENTS...
    local name=$1
    shift
    if [ ! -x "$BUILD/tests/$name" ]; then
        bad "$name: not built"
        return
    fi
    attempt "$name $*" timeout --foreground 300 ${SETARCH:-} "$BUILD/tests/$name" "$@"
}
for source in tests/*/*_stress.c; do
    name=${source#tests/}
    name=${name%.c}
    case $name in
    base/latch_stress)       if [ "$slow" ]; then run $name 4 3000; else run $name 8 20000; fi ;;
    btree/btree_stress)      if [ "$slow" ]; then run $name 4 2000; else run $name 6 $storm; fi ;;
    btree/storm_stress)      for storm in split delete; do if [ "$slow" ]; then run $name $storm 5 3000; else run $name $storm 6 10000; fi; done ;;
    storage/heap_stress)     if [ "$slow" ]; then run $name 4 300; else run $name 6; fi ;;
    storage/lock_stress)     if [ "$slow" ]; then for seed in 8 9; do run $name 4 300 $seed; done; else run $name 6; fi ;;
    storage/pool_stress)     if [ "$slow" ]; then run $name 4 300; else run $name 8 2000; fi ;;
    storage/wal_stress)      if [ "$slow" ]; then run $name 4 500; else run $name 8 3000; fi ;;
    server/protocol_stress)  if [ "$slow" ]; then run $name 3 40; else run $name 3 100; fi ;;
    storage/crash_stress)    ;; # wants a build of its own: tests/server/power.sh runs it
    *)                       run $name ;;
    esac
done
