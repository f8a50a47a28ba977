#!/bin/bash
# tests/server/pgbench.sh - an unmodified pgbench: every way of initialising, and its three scripts in every query mode. Nothing may fail,
# and the sums must agree afterwards.
#
#     PGBENCH_SCALE (2), PGBENCH_SECONDS (2), PGBENCH_CLIENTS (8): 10, 20 and 8 are the full run
. "$(dirname "$0")/../lib.sh"
scale=${PGBENCH_SCALE:-2} seconds=${PGBENCH_SECONDS:-2} clients=${PGBENCH_CLIENTS:-8}
server_start pgbench -c shared_buffers=256MB || { bad "pgbench: the server does not start"; tail -n 5 "$server_log"; exit 1; }

# pgbench says "number of failed transactions: 0 (0.000%)" from version 15 on, and "aborted" when a client gave up.
bench() { # NAME ARGUMENTS...
    local name=$1 status
    shift
    pgbench "$@" >"$scratch/bench" 2>&1
    status=$?
    if [ $status = 0 ] && ! grep -qiE 'error|abort|fatal|panic' "$scratch/bench" && ! grep -q 'failed transactions: [1-9]' "$scratch/bench"; then
        ok "$name$(sed -n 's/^tps = \([0-9]*\).*/: \1 a second/p' "$scratch/bench")"
    else
        bad "$name (status $status)"
        tail -n 12 "$scratch/bench" | sed 's/^/        | /'
    fi
}
sums() {
    q -F ' ' -c "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)"
}

bench "pgbench -i -s $scale -I dtGvpf" -i -q -s "$scale" -I dtGvpf
same "pgbench: rows made by the server" "$((scale * 100000)) $((scale * 10)) $scale 0" \
    "$(q -F ' ' -c "SELECT (SELECT count(*) FROM pgbench_accounts), (SELECT count(*) FROM pgbench_tellers), (SELECT count(*) FROM pgbench_branches), (SELECT count(*) FROM pgbench_history)")"
bench "pgbench -i -s 1 -I dtgvpf" -i -q -s 1 -I dtgvpf
bench "pgbench -i -s $scale" -i -q -s "$scale"
same "pgbench: rows sent by the client" "$((scale * 100000))|1|$((scale * 100000))|$scale" "$(q -c "SELECT count(*), min(aid), max(aid), count(DISTINCT bid) FROM pgbench_accounts")"

# tpcb-like first and alone: then all four sums are equal.
for mode in simple extended prepared; do
    bench "pgbench tpcb-like -M $mode -c $clients" -n -M $mode -c "$clients" -j 2 -T "$seconds" -b tpcb-like
done
read -r accounts tellers branches history < <(sums)
same "pgbench: accounts, tellers, branches and history agree" "$history $history $history" "$accounts $tellers $branches"
if [ "$(q -c "SELECT count(*) > 0 FROM pgbench_history")" = t ]; then ok "pgbench: there is a history"; else bad "pgbench: there is no history"; fi
for mode in simple extended prepared; do
    bench "pgbench simple-update -M $mode -c $clients" -n -M $mode -c "$clients" -j 2 -T "$seconds" -b simple-update
    bench "pgbench select-only -M $mode -c $clients" -n -M $mode -c "$clients" -j 2 -T "$seconds" -b select-only
done
read -r accounts tellers branches history < <(sums)
same "pgbench: accounts and history agree, tellers and branches agree" "$history $branches" "$accounts $tellers"

server_stop
verdict $? "pgbench: the server ends well"
server_start pgbench -c shared_buffers=256MB
same "pgbench: the same after a restart" "$accounts $tellers $branches $history" "$(sums)"
