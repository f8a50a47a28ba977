#!/bin/bash
# bench/pgbench.sh - pgbench on Crabtree, on the PostgreSQL of this machine and on bench/floor, in one interleaved run, medians.
#
#     ROUNDS=5 SECONDS_EACH=4 SCALE=10 bench/pgbench.sh [select] [tpcb]
#
# `-n -M prepared -j 2` over the Unix socket; select-only at 2, 8 and 16 clients, tpcb-like at 8 and 16 (CLIENTS_SELECT, CLIENTS_TPCB).
# A line tells a server's transactions a second, and processor time a transaction: of the server, and of pgbench itself. Then what
# Crabtree's stand to PostgreSQL's in, and where a transaction of Crabtree's spends its time.
#
# Server CPU is utime + stime of /proc/PID/stat, in ticks of 10 ms over a run of seconds. A server of threads is one process, in
# whose figures ended threads stay. PostgreSQL's is the postmaster's own, its reaped children's (cutime + cstime: a backend's time
# moves there when it ends) and that of every child alive (checkpointer, WAL writer, autovacuum). It is read only while
# no backend is alive, so nothing is missed and nothing counted twice.
# At the end all balances must agree, on both servers, with the history.
set -euo pipefail
ROUNDS=${ROUNDS:-5} EACH=${SECONDS_EACH:-4} SCALE=${SCALE:-10}
ONLY="${*:-select tpcb}"
. bench/servers.sh

"$BUILD/bench/floor" "$work/s" 6603 &
floor_pid=$!
for server in crab pg; do
    bench $server -i -q -s "$SCALE" >/dev/null 2>&1
    sql $server -c "VACUUM ANALYZE" -c "CHECKPOINT"
done

ticks() { awk -v pid="$1" '{sub(/.*\) /, ""); print $12 + $13 + (pid == "parent" ? $14 + $15 : 0)}' "/proc/$2/stat"; }
cpu() { # SERVER: ticks used so far
    local sum child
    case $1 in
    crab) ticks alone "$crab_pid" ;;
    floor) ticks alone "$floor_pid" ;;
    pg)
        while [ "$(sql pg -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'")" != 0 ]; do sleep 0.05; done
        sleep 0.1                                   # until psql's own is reaped
        sum=$(ticks parent "$pg_pid")
        for child in $(cat "/proc/$pg_pid/task/$pg_pid/children"); do
            sum=$((sum + $(ticks alone "$child" 2>/dev/null || echo 0)))
        done
        echo "$sum" ;;
    esac
}
# What a server has synced and written of WAL so far: "flushes bytes", of all statistics the one that both have.
wal() {
    case $1 in
    crab) sql crab -F ' ' -c "SELECT flushes, bytes FROM crab_wal" ;;
    pg) sql pg -F ' ' -c "SELECT pg_stat_force_next_flush()" -c "SELECT wal_sync, wal_bytes FROM pg_stat_wal" | tail -n 1 ;;
    floor) echo 0 0 ;;
    esac
}
one() { # SERVER LABEL options...: adds "tps server_us client_us flushes bytes" to a file a server and label
    local server=$1 label=$2 before after spent start finish
    shift 2
    start=$(wal "$server"); before=$(cpu "$server")
    spent=$( { TIMEFORMAT='%U %S'; time bench "$server" -n -M prepared -j 2 -T "$EACH" "$@" >"$work/out" 2>"$work/err"; } 2>&1 ) || { cat "$work/err"; return 1; }
    after=$(cpu "$server"); finish=$(wal "$server")
    awk -v ticks=$((after - before)) -v spent="$spent" -v start="$start" -v finish="$finish" '
        /actually processed/ {n = $6} /^number of failed/ {if ($5 + 0) bad = 1} /^tps/ {tps = $3}
        END {split(spent, c, " "); split(start, s, " "); split(finish, f, " ")
             if (!n || bad) exit 1
             print tps, ticks * 1e4 / n, (c[1] + c[2]) * 1e6 / n, (f[1] - s[1]) / n, (f[2] - s[2]) / n}' "$work/out" >>"$work/$label.$server" ||
        { cat "$work/out" "$work/err"; return 1; }
}
column() { awk -v n="$1" '{print $n}' "$2" | median; }

syncing() { # microseconds that one fdatasync of a WAL block takes here, nothing else running
    dd if=/dev/zero of="$work/sync" bs=4096 count=2000 conv=notrunc,fsync 2>/dev/null
    local begun
    begun=$(date +%s%N)
    dd if=/dev/zero of="$work/sync" bs=4096 count=500 oflag=dsync conv=notrunc 2>/dev/null
    echo $((($(date +%s%N) - begun) / 500000))
}

measure() { # LABEL clients options...
    local label=$1 clients=$2 server
    shift 2
    for _ in $(seq "$ROUNDS"); do
        for server in crab pg floor; do one $server "$label.$clients" -c "$clients" "$@"; done
    done
    for server in crab pg floor; do
        for n in 1 2 3 4 5; do column $n "$work/$label.$clients.$server"; done | tr '\n' ' ' >"$work/median.$server"
    done
    awk -v label="$label" -v clients="$clients" -v sync="$sync_us" '
        {split($0, v, " "); name = FILENAME; sub(/.*\./, "", name); for (i = 1; i <= 5; i++) m[name, i] = v[i]}
        function line(what, name) {
            printf "%-24s %-11s %9.0f %9.1f %9.1f", what, name == "crab" ? "Crabtree" : name == "pg" ? "PostgreSQL" : "floor", m[name, 1], m[name, 2], m[name, 3]
            if (name != "floor" && m[name, 5] >= 1) printf " %9.3f %9.0f", m[name, 4], m[name, 5]
            printf "\n"
        }
        END {
            line(label ", " clients " clients", "crab"); line("", "pg"); line("", "floor")
            printf "%-24s %-11s %9.2f %9.2f\n", "", "to PG", m["crab", 1] / m["pg", 1], m["crab", 2] / m["pg", 2]
            all = 2e6 / m["crab", 1]                  # microseconds of the two processors a transaction
            work = m["crab", 2] - m["floor", 2]
            printf "  of %.0f us of two processors a transaction: %.0f client, %.0f system calls and protocol (the floor server), %.0f what Crabtree adds, %.0f idle", all, m["crab", 3], m["floor", 2], work, all - m["crab", 3] - m["crab", 2]
            if (m["crab", 4] > 0.01) printf "; %.2f syncs a transaction of about %d us each: %.0f us of every %.0f us", m["crab", 4], sync, m["crab", 4] * sync, 1e6 / m["crab", 1]
            printf "\n"
        }' "$work"/median.crab "$work"/median.pg "$work"/median.floor
}

sync_us=$(syncing)
echo "one fdatasync of 4 KiB: $sync_us us"
printf '%-24s %-11s %9s %9s %9s %9s %9s\n' "(medians of $ROUNDS rounds)" '' tps 'server us' 'client us' syncs 'WAL bytes'
if [[ $ONLY == *select* ]]; then
    for clients in ${CLIENTS_SELECT:-2 8 16}; do measure select-only "$clients" -S; done
fi
if [[ $ONLY == *tpcb* ]]; then
    for clients in ${CLIENTS_TPCB:-8 16}; do measure tpcb-like "$clients"; done
fi
for server in crab pg; do
    balances=$(sql $server -c "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches), (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)")
    [ "$(tr '|' '\n' <<<"$balances" | sort -u | wc -l)" = 1 ] || { echo "bench: $server: the balances disagree: $balances"; exit 1; }
    echo "$server: accounts, branches, tellers and history agree: $balances"
done
