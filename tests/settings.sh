# shellcheck shell=bash
# tests/settings.sh - the settings of the latch layers to test under: each off its default, all coarse at once, and seeded mixes. Sourced by
# tests/switches.sh and tests/soak.sh. A setting is what CRAB_SWITCHES takes: tests/switches.h, tests/lib.sh.
single=(crab.engine_latch=on crab.btree_latching=tree crab.btree_latching=crab crab.pool_io=latched crab.pool_partitions=1 crab.pool_partitions=8
    crab.worker_start=spawn crab.group_commit=off crab.agg=collect crab.io_delay=100)
coarse="crab.engine_latch=on crab.btree_latching=tree crab.pool_io=latched crab.pool_partitions=1 crab.worker_start=spawn crab.group_commit=off crab.agg=collect"

# mix SEED: every switch at random; never all at their defaults.
mix() {
    local text=
    RANDOM=$1
    pick() { # NAME VALUE...: the first value is the default
        local name=$1
        shift
        local n=$((RANDOM % $#))
        [ $n = 0 ] || text="$text crab.$name=${*:n+1:1}"
    }
    until [ -n "$text" ]; do
        pick engine_latch off on
        pick btree_latching optimistic crab tree
        pick pool_io outside latched
        pick pool_partitions 128 1 2 16
        pick worker_start pool spawn
        pick group_commit on off
        pick agg partial collect
        pick io_delay 0 20
    done
    echo "${text# }"
}

# whole NAME VALUE [LEAST]: ends the script with an error unless VALUE is a whole number, LEAST (1) or more.
whole() { [[ $2 =~ ^[0-9]{1,9}$ ]] && ((10#$2 >= ${3:-1})) || { echo "$1=$2: not a whole number from ${3:-1}" >&2; exit 2; }; }
# known SETTING...: ends the script with an error unless each is one that some run here tests under.
known() {
    local one
    for one in "$@"; do
        [[ " ${single[*]} $coarse " == *" $one "* || $one =~ ^crab\.(pool_partitions=(1|2|4|8|16|32|64|128)|io_delay=[0-9]{1,7})$ ]] ||
            { echo "\"$one\" is no setting of the latch layers off its default: ${single[*]}" >&2; exit 2; }
    done
}
