#!/bin/bash
# bench/servers.sh - sourced: Crabtree and the PostgreSQL of this machine side by side on scratch directories, with the same memory,
# fsync on, one Unix socket directory, and autogroup scheduling off for the run. Whatever way the script ends, they are stopped.
#
#     . bench/servers.sh          sets work, crab_pid, pg_pid; defines port, sql, bench, median
#
# SERVERS=crab: without PostgreSQL. WORKERS (1): PostgreSQL's parallel maintenance gets one less. AUTOVACUUM (on) is for both.
#
# kernel.sched_autogroup_enabled would give a server of processes a share of the processor a backend and a server of threads one share
# in all: where we may, it is switched off, and put back at the end.
BUILD=${BUILD:-build}
MEMORY=${MEMORY:-1GB}
PGBIN=${PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
[ -n "$PGBIN" ] || { echo "bench: no PostgreSQL found" >&2; exit 1; }
work=$(mktemp -d)
chmod 755 "$work"
crab_pid='' pg_pid='' floor_pid='' autogroup=''
as_pg() { if [ "$(id -u)" = 0 ]; then su postgres -s /bin/sh -c "$*"; else sh -c "$*"; fi; }

stop() {
    status=$?
    trap - EXIT
    [ -n "$crab_pid" ] && { kill -INT "$crab_pid" 2>/dev/null || :; wait "$crab_pid" 2>/dev/null || :; }
    [ -n "$floor_pid" ] && { kill "$floor_pid" 2>/dev/null || :; wait "$floor_pid" 2>/dev/null || :; }
    [ -d "$work/pg" ] && as_pg "$PGBIN/pg_ctl -D $work/pg -m immediate stop" >/dev/null 2>&1 || :
    [ -n "$autogroup" ] && echo "$autogroup" >/proc/sys/kernel/sched_autogroup_enabled
    rm -rf "$work"
    exit $status
}
trap stop EXIT
trap 'exit 130' INT TERM HUP
if [ -w /proc/sys/kernel/sched_autogroup_enabled ]; then
    autogroup=$(cat /proc/sys/kernel/sched_autogroup_enabled)
    echo 0 >/proc/sys/kernel/sched_autogroup_enabled
    echo "bench: kernel.sched_autogroup_enabled set to 0 for the run (was $autogroup)"
else
    echo "bench: kernel.sched_autogroup_enabled is $(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null || echo unknown) and may not be changed: with 1, comparisons are unfair"
fi

mkdir "$work/s" && chmod 777 "$work/s"
server_start() { # crab|pg
    if [ "$1" = pg ]; then
        as_pg "$PGBIN/pg_ctl -D $work/pg -l $work/pg/log -w start" >/dev/null
        pg_pid=$(head -n 1 "$work/pg/postmaster.pid")
        return
    fi
    : >"$work/crab.log"
    "$BUILD/crabtree" -D "$work/crab" -p 6601 -k "$work/s" -c shared_buffers=$MEMORY -c work_mem=256MB -c max_wal_size=4GB -c checkpoint_timeout=1h -c autovacuum=${AUTOVACUUM:-on} >"$work/crab.log" 2>&1 &
    crab_pid=$!
    for _ in $(seq 300); do grep -q ready "$work/crab.log" && return; sleep 0.1; done
    cat "$work/crab.log"
    exit 1
}
server_stop() { # crab|pg
    if [ "$1" = pg ]; then as_pg "$PGBIN/pg_ctl -D $work/pg -m fast -w stop" >/dev/null; else kill -INT "$crab_pid" && wait "$crab_pid" || :; fi
}
server_start crab
if [[ " ${SERVERS:-crab pg} " == *" pg "* ]]; then
    mkdir "$work/pg" && { [ "$(id -u)" != 0 ] || chown postgres "$work/pg"; }
    as_pg "$PGBIN/initdb -D $work/pg -A trust -U postgres --locale=C -E UTF8" >/dev/null
    cat >>"$work/pg/postgresql.conf" <<CONF
port = 6602
unix_socket_directories = '$work/s'
listen_addresses = ''
shared_buffers = $MEMORY
work_mem = 256MB
maintenance_work_mem = 256MB
max_parallel_maintenance_workers = $((${WORKERS:-1} - 1))
max_wal_size = 4GB
checkpoint_timeout = 1h
jit = off
autovacuum = ${AUTOVACUUM:-on}
CONF
    server_start pg
fi

port() { case $1 in crab) echo 6601 ;; pg) echo 6602 ;; floor) echo 6603 ;; esac; }
sql() { local server=$1; shift; PGHOST=$work/s PGPORT=$(port "$server") PGUSER=postgres PGDATABASE=postgres psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }
bench() { local server=$1; shift; PGHOST=$work/s PGPORT=$(port "$server") PGUSER=postgres "$PGBIN/pgbench" "$@" postgres; }
median() { sort -g | awk '{v[NR]=$1} END {print NR % 2 ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2}'; }
