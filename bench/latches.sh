#!/bin/bash
# bench/latches.sh - runs bench/latches and draws its curves: each switch of the latch layers, its settings side by side.
#
#     SECONDS_EACH=0.15 ROUNDS=3 bench/latches.sh [contest ...]      contest: sessions scan evict engine tree partitions start commit agg,
#                                                                    or one of them -warm or -cold
#
# The table goes to the standard output; it, the figures and the curves (NAME.dat, NAME.svg, NAME.png) to $BUILD/bench/curves/.
set -euo pipefail
BUILD=${BUILD:-build}
out=$BUILD/bench/curves
mkdir -p "$out"
work=$(mktemp -d)
autogroup=''
stop() {
    status=$?
    trap - EXIT
    [ -n "$autogroup" ] && echo "$autogroup" >/proc/sys/kernel/sched_autogroup_enabled
    rm -rf "$work"
    exit $status
}
trap stop EXIT
if [ -w /proc/sys/kernel/sched_autogroup_enabled ] && [ "$(cat /proc/sys/kernel/sched_autogroup_enabled)" = 1 ]; then
    autogroup=1
    echo 0 >/proc/sys/kernel/sched_autogroup_enabled
    echo "bench: kernel.sched_autogroup_enabled set to 0 for the run (was 1)"
fi

"$BUILD/bench/latches" -d "$work" -o "$out" -s "${SECONDS_EACH:-0.15}" -r "${ROUNDS:-3}" "$@" 2>"$work/log" | tee "$out/table.txt" || {
    grep -v ' LOG: ' "$work/log" >&2 || :
    exit 1
}
if ! command -v gnuplot >/dev/null 2>&1; then
    echo "bench: no gnuplot: no curves drawn" >&2
    exit 0
fi
cd "$out"
shopt -s nullglob                         # "sessions" alone draws none
for script in *.gp; do
    name=${script%.gp}
    gnuplot -e "set terminal svg size 800,520 background 'white'; set output '$name.svg'" "$script"
    gnuplot -e "set terminal png size 800,520; set output '$name.png'" "$script"
done
echo
echo "curves: $out/*.svg and *.png"
