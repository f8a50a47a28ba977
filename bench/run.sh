#!/bin/bash
# bench/run.sh - Crabtree beside the PostgreSQL of this machine, in one interleaved run (A B A B ...), medians, figures as ratios.
#
#     ROUNDS=5 SECONDS_EACH=5 SCALE=10 ROWS=1000000 bench/run.sh [only ...]      only: select tpcb copy scan
#
# Both servers get the same memory and the same client on a Unix socket, with fsync on. Each query's answer must be the same on both, or the run
# fails. Ratios are Crabtree / PostgreSQL of throughput: above 1, Crabtree is faster. Absolute times of a shared machine drift;
# compare ratios only. kernel.sched_autogroup_enabled would give a server of processes a share a backend and a server of threads one
# share in all: where we may, it is switched off for the run and put back.
set -euo pipefail
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5} EACH=${SECONDS_EACH:-5} SCALE=${SCALE:-10} ROWS=${ROWS:-1000000} MEMORY=${MEMORY:-1GB}
ONLY="${*:-select tpcb copy scan}"
PGBIN=${PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
[ -n "$PGBIN" ] || { echo "bench: no PostgreSQL found" >&2; exit 1; }
work=$(mktemp -d)
chmod 755 "$work"
crab_pid='' pg_pid='' autogroup=''
as_pg() { if [ "$(id -u)" = 0 ]; then su postgres -s /bin/sh -c "$*"; else sh -c "$*"; fi; }

stop() {
    status=$?
    trap - EXIT
    [ -n "$crab_pid" ] && { kill -INT "$crab_pid" 2>/dev/null || :; wait "$crab_pid" 2>/dev/null || :; }
    [ -n "$pg_pid" ] && as_pg "$PGBIN/pg_ctl -D $work/pg -m immediate stop" >/dev/null 2>&1 || :
    [ -n "$autogroup" ] && echo "$autogroup" >/proc/sys/kernel/sched_autogroup_enabled
    rm -rf "$work"
    exit $status
}
trap stop EXIT
if [ -w /proc/sys/kernel/sched_autogroup_enabled ]; then
    autogroup=$(cat /proc/sys/kernel/sched_autogroup_enabled)
    echo 0 >/proc/sys/kernel/sched_autogroup_enabled
    echo "bench: kernel.sched_autogroup_enabled set to 0 for the run (was $autogroup)"
fi

mkdir "$work/s" && chmod 777 "$work/s"
"$BUILD/crabtree" -D "$work/crab" -p 6601 -k "$work/s" -c shared_buffers=$MEMORY -c work_mem=256MB -c max_wal_size=4GB -c checkpoint_timeout=1h >"$work/crab.log" 2>&1 &
crab_pid=$!
mkdir "$work/pg" && { [ "$(id -u)" != 0 ] || chown postgres "$work/pg"; }
as_pg "$PGBIN/initdb -D $work/pg -A trust -U postgres --locale=C -E UTF8" >/dev/null
cat >>"$work/pg/postgresql.conf" <<CONF
port = 6602
unix_socket_directories = '$work/s'
listen_addresses = ''
shared_buffers = $MEMORY
work_mem = 256MB
max_wal_size = 4GB
checkpoint_timeout = 1h
jit = off
CONF
as_pg "$PGBIN/pg_ctl -D $work/pg -l $work/pg/log -w start" >/dev/null
pg_pid=1
for _ in $(seq 300); do grep -q ready "$work/crab.log" && break; sleep 0.1; done
grep -q ready "$work/crab.log" || { cat "$work/crab.log"; exit 1; }

port() { [ "$1" = crab ] && echo 6601 || echo 6602; }
sql() { local server=$1; shift; PGHOST=$work/s PGPORT=$(port "$server") PGUSER=postgres PGDATABASE=postgres psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }
bench() { local server=$1; shift; PGHOST=$work/s PGPORT=$(port "$server") PGUSER=postgres "$PGBIN/pgbench" "$@" postgres; }
median() { sort -g | awk '{v[NR]=$1} END {print NR % 2 ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2}'; }
now() { date +%s%N; }
# report LABEL UNIT FILE_CRAB FILE_PG (files hold one figure a round, more is better)
report() { awk -v l="$1" -v u="$2" -v a="$(median <"$3")" -v b="$(median <"$4")" 'BEGIN {printf "%-34s %12.6g %12.6g %-6s %8.2f\n", l, a, b, u, a / b}'; }
printf '%-34s %12s %12s %-6s %8s\n' "(medians of $ROUNDS rounds)" Crabtree PostgreSQL '' ratio

if [[ $ONLY == *select* || $ONLY == *tpcb* ]]; then
    for server in crab pg; do bench $server -i -q -s "$SCALE" >/dev/null 2>&1; done
fi
run_pgbench() { # label options...
    local label=$1; shift
    : >"$work/crab.t"; : >"$work/pg.t"
    for _ in $(seq "$ROUNDS"); do
        for server in crab pg; do
            bench $server -n -M prepared -T "$EACH" "$@" 2>&1 | awk '/^tps/ {print $3}' >>"$work/$server.t"
        done
    done
    report "$label" tps "$work/crab.t" "$work/pg.t"
}
for clients in 1 8 16; do
    [[ $ONLY == *select* ]] && run_pgbench "select-only, $clients clients" -S -c $clients -j 2
done
for clients in 1 8 16; do
    [[ $ONLY == *tpcb* ]] && run_pgbench "tpcb-like, $clients clients" -c $clients -j 2
done

if [[ $ONLY == *copy* || $ONLY == *scan* ]]; then
    scale=$(awk -v r="$ROWS" 'BEGIN {printf "%.6f", r / 5900000}')
    "$BUILD/bench/generate" lineitem "$scale" "$ROWS" >"$work/lineitem"
    rows=$(wc -l <"$work/lineitem")
    : >"$work/crab.t"; : >"$work/pg.t"
    for _ in $(seq $(( ROUNDS < 3 ? ROUNDS : 3 ))); do
        for server in crab pg; do
            sql $server -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS lineitem"
            "$BUILD/bench/generate" schema | grep 'TABLE lineitem' | sql $server
            start=$(now)
            sql $server -c "COPY lineitem FROM STDIN" <"$work/lineitem"
            awk -v t=$(( $(now) - start )) -v n="$rows" 'BEGIN {print n / t * 1e9}' >>"$work/$server.t"
        done
    done
    report "COPY in, $rows rows" rows/s "$work/crab.t" "$work/pg.t"
fi
query() { # label, SQL: one psql each, timed by the server's own \timing
    local label=$1 text=$2
    : >"$work/crab.t"; : >"$work/pg.t"
    for _ in $(seq $((ROUNDS + 1))); do
        for server in crab pg; do
            sql $server -c "$text" >"$work/$server.answer"
            sql $server -c '\timing on' -c "$text" | awk '/^Time:/ {print 1000 / $2}' >>"$work/$server.t"
        done
    done
    cmp -s "$work/crab.answer" "$work/pg.answer" || { echo "bench: $label: the answers differ"; cat "$work/crab.answer" "$work/pg.answer"; exit 1; }
    report "$label" q/s "$work/crab.t" "$work/pg.t"
}
if [[ $ONLY == *scan* ]]; then
    for server in crab pg; do sql $server -c "VACUUM ANALYZE lineitem"; done
    query "count(*)" "SELECT count(*) FROM lineitem"
    query "filtered sum" "SELECT sum(l_extendedprice), count(*) FROM lineitem WHERE l_quantity < 24 AND l_discount BETWEEN 0.05 AND 0.07"
    query "group by" "SELECT l_returnflag, l_linestatus, sum(l_quantity), count(*) FROM lineitem GROUP BY 1, 2 ORDER BY 1, 2"
    for server in crab; do
        for n in 1 2; do
            : >"$work/w$n.t"
        done
        for _ in $(seq $((ROUNDS + 2))); do for n in 1 2; do
            sql $server -c "SET max_parallel_workers_per_gather = $n" -c '\timing on' -c "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_quantity < 24" -c "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_quantity < 24" | awk '/^Time:/ {t=$2} END {print 1000 / t}' >>"$work/w$n.t"
        done; done
    done
    awk -v a="$(median <"$work/w2.t")" -v b="$(median <"$work/w1.t")" 'BEGIN {printf "%-34s %12.6g %12.6g %-6s %8.2f\n", "filtered sum, 2 workers / 1", a, b, "q/s", a / b}'
fi
