# shellcheck shell=bash
# tests/server/step_lib.sh - psql sessions that a script speaks to one line at a time, for step.sh and step_session.sh.
#
#     session_open A; run A 'SELECT 1;'      prints `A=# SELECT 1;` and what psql printed
#     start A 'INSERT ...;'; ...; finish_run A   the same for a statement that can't answer yet
#
# Every wait looks at a view or at psql's output, and gives up after half a minute.
declare -A session_in session_process session_pids
session_open() {
    local name=$1
    mkfifo "$scratch/$name.in"
    psql -X -q <"$scratch/$name.in" >"$scratch/$name.out" 2>&1 &
    session_process[$name]=$!
    exec {session_in[$name]}>"$scratch/$name.in"
    echo 0 >"$scratch/$name.marks"           # in files, since much is called in subshells
    echo 0 >"$scratch/$name.shown"
    send "$name" '\pset footer off'
    send "$name" '\set QUIET off'
    send "$name" 'SELECT pg_backend_pid() AS pid \gset'
    send "$name" '\echo pid: :pid'
    mark "$name" && await_mark "$name" || return 1
    session_pids[$name]=$(sed -n 's/^pid: //p' "$scratch/$name.out")
    wc -l <"$scratch/$name.out" >"$scratch/$name.shown"
}
session_close() {
    local fd=${session_in[$1]}
    # To close it would not be enough: sessions opened later have inherited this end.
    kill -0 "${session_process[$1]}" 2>/dev/null && send "$1" '\q'
    exec {fd}>&-
    wait "${session_process[$1]}" 2>/dev/null
    rm -f "$scratch/$1.in" "$scratch/$1.out"
}
session_pid() { echo "${session_pids[$1]}"; }
send() { printf '%s\n' "$2" >&"${session_in[$1]}"; }
mark() {
    echo $(($(cat "$scratch/$1.marks") + 1)) >"$scratch/$1.marks"
    send "$1" "\\echo mark $(cat "$scratch/$1.marks")"
}
await_mark() {
    local tries=0 mark
    mark=$(cat "$scratch/$1.marks")
    until grep -q "^mark $mark\$" "$scratch/$1.out" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo "session $1 does not answer" >&2; return 1; }
        sleep 0.05
    done
}
# answer NAME: what its psql printed since the last time.
answer() {
    await_mark "$1" || return 1
    tail -n "+$(($(cat "$scratch/$1.shown") + 1))" "$scratch/$1.out" | grep -v '^mark [0-9]*$' | sed '/^$/d'
    wc -l <"$scratch/$1.out" >"$scratch/$1.shown"
}
run() { echo "$1=# $2"; send "$1" "$2"; mark "$1"; answer "$1"; }
start() { echo "$1=# $2"; send "$1" "$2"; mark "$1"; }
finish_run() { echo "$1:"; answer "$1"; }

# looks SQL: asked by one more session that must not be hung by anybody.
looks() { timeout 20 psql -X -q -A -t -c "$1" 2>&1; }
# until_true SQL: false after half a minute.
until_true() {
    local tries=0
    until [ "$(looks "SELECT ($1)::text")" = true ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.05
    done
}
await_stopped() { until_true "SELECT count(*) > 0 FROM crab_latches WHERE pid = $(session_pid "$1") AND state = 'stopped'"; }
# lead NAME PATTERN: lets it go point by point until it stands at one that matches; says where that is.
lead() {
    local tries=0 where=
    until [[ $where == $2 ]]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { echo "never came to $2, but to $where"; return 1; }
        where=$(looks "SELECT crab_step($(session_pid "$1"))")
    done
    echo "$where"
}
await_latch() { until_true "SELECT count(*) > 0 FROM crab_latches WHERE pid = $(session_pid "$1") AND state = 'awaited'"; }
