# shellcheck shell=bash
# course/session_lib.sh - sourced by each lesson's session.sh: a server of its own, and psql sessions A (stopped), B (waits) and C (looks).
#
# What stands behind `A=# ` is sent to that session's psql, every other line is what it printed. Where a session can't answer yet, its
# answer comes below `A:` once it can.
. "$(dirname "${BASH_SOURCE[0]}")/../tests/lib.sh"
. tests/server/step_lib.sh
lesson_server() { # options...
    server_start lesson -c autovacuum=off "$@" >/dev/null && return
    echo "the server does not start"
    tail -n 5 "$server_log"
    exit 1
}
lesson_sessions() { # psql is told to print nulls as nothing, and no row counts
    local name
    for name in A B C; do session_open $name || exit 1; done
    a=$(session_pid A) b=$(session_pid B)
    export a b
}
must() { "$@" || { echo "waited in vain: $*"; exit 1; }; }
LOOK="SELECT pid, layer, relation, page, mode, state, holders, point FROM crab_latches WHERE pid IN (:a, :b) ORDER BY pid, state, layer;"
WHO="SELECT pid, state, wait_event_type, wait_event, query FROM pg_stat_activity WHERE pid IN (:a, :b) ORDER BY pid;"
# C knows the others' pids by these names.
lesson_names() {
    run C "\\set a $a"
    run C "\\set b $b"
}
# sees NAME SQL PATTERN: asks until the answer holds the pattern, and prints that answer; gives up after some hundred times.
sees() {
    local name=$1 sql=$2 pattern=$3 tries=0 text
    while :; do
        text=$(run "$name" "$sql")
        if printf '%s' "$text" | tr '\n' ' ' | grep -qE "$pattern"; then
            printf '%s\n' "$text"
            return
        fi
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { printf '%s\n' "$text"; return 1; }
        sleep 0.02
    done
}
# workers_asleep: the server's worker threads, as the system lists them.
workers_listed() {
    echo '$ ps -T -o comm= -p SERVER | grep -c worker'
    ps -T -o comm= -p "$server_pid" | grep -c worker
}
workers_are() { # N: until there are so many
    local tries=0
    until [ "$(ps -T -o comm= -p "$server_pid" | grep -c worker)" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.05
    done
}
parallel() { # NAME WORKERS: that session's queries shall use so many, however small the table
    local setting
    for setting in "max_parallel_workers_per_gather = $2" "min_parallel_table_scan_size = 0" "parallel_setup_cost = 0" "parallel_tuple_cost = 0"; do run "$1" "SET $setting;"; done
}
