#!/bin/sh
# bench/btree.sh - runs bench/btree (make bench-btree), which says what it reads from the environment: COUNT, SMALL, ROUNDS, THREADS, PARTS, ENGINES.
#
# Two things distort the figures, and are minded here: kernel.sched_autogroup_enabled (switched off for the run where we may, and put back), and a
# disk: everything lies on tmpfs, where that has room.
set -eu
BUILD=${BUILD:-build}
autogroup='' work=''
restore() {
    [ -z "$autogroup" ] || echo "$autogroup" >/proc/sys/kernel/sched_autogroup_enabled
    [ -z "$work" ] || rm -rf "$work"
}
trap restore EXIT
trap 'exit 130' INT TERM
if [ -w /proc/sys/kernel/sched_autogroup_enabled ]; then
    autogroup=$(cat /proc/sys/kernel/sched_autogroup_enabled)
    echo 0 >/proc/sys/kernel/sched_autogroup_enabled
    echo "bench-btree: kernel.sched_autogroup_enabled set to 0 for the run (was $autogroup)"
fi
[ -n "${DIRECTORY:-}" ] || { [ -w /dev/shm ] && DIRECTORY=/dev/shm || DIRECTORY=${TMPDIR:-/tmp}; }
work=$(mktemp -d "$DIRECTORY/crabtree-bench-XXXXXX")
DIRECTORY=$work "$BUILD/bench/btree"
