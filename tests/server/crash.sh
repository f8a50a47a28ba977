#!/bin/bash
# tests/server/crash.sh - kill -9 in the middle of load, again and again on one data directory; after each recovery crash_client says
# whether the server kept its word. A small pool, so that pages are written all the time, and checkpoints every few seconds; in every other
# round the kill comes in the middle of one.
#
#     ROUNDS (3; 20 is the full run), CRASH_CLIENTS (8)
. "$(dirname "$0")/../lib.sh"
rounds=${ROUNDS:-3} clients=${CRASH_CLIENTS:-8}
client=$BUILD/tests/server/crash_client
RANDOM=${SEED:-42}
if [ -n "$REFERENCE" ]; then echo "crash: kill -9 of PostgreSQL's postmaster leaves its children: nothing to do"; ok "crash: skipped"; exit 0; fi
start() { server_start crash -c shared_buffers=16MB -c checkpoint_timeout=2 -c max_wal_size=64MB -c autovacuum_naptime=1 "$@"; }
milliseconds() { date +%s%3N; }
start || { bad "crash: the server does not start"; tail -n 5 "$server_log"; exit 1; }
attempt "crash: tables" "$client" setup 10 20000 || exit 1
slowest=0 acknowledged=0 in_checkpoint=0
for ((round = 1; round <= rounds; round++)); do
    "$client" run "$scratch/fate$round" "$clients" 60 >"$scratch/run$round" 2>&1 &
    worker=$!
    sleep "$((RANDOM % 2 + 1)).$((RANDOM % 10))"
    if ((round % 2)); then                                # in the middle of a checkpoint
        begun=$(grep -c 'checkpoint starting' "$server_log") tries=0
        until [ "$(grep -c 'checkpoint starting' "$server_log")" -gt "$begun" ] || [ $tries -gt 400 ]; do tries=$((tries + 1)); sleep 0.02; done
        sleep "0.0$((RANDOM % 6))"
    fi
    server_kill
    wait $worker || bad "crash: round $round: the client met an error: $(grep -v acknowledged "$scratch/run$round" | head -n 3)"
    acknowledged=$((acknowledged + $(sed -n 's/ transactions acknowledged//p' "$scratch/run$round")))
    case $(grep 'checkpoint starting\|checkpoint complete' "$server_log" | tail -n 1) in *starting*) in_checkpoint=$((in_checkpoint + 1)) ;; esac
    before=$(milliseconds)
    start || { bad "crash: round $round: no recovery"; tail -n 5 "$server_log" | sed 's/^/        | /'; exit 1; }
    took=$(($(milliseconds) - before))
    [ $took -gt $slowest ] && slowest=$took
    if "$client" verify "$scratch"/fate* >"$scratch/verify" 2>&1; then
        ok "crash: round $round: back after $took ms; $(tail -n 1 "$scratch/verify")"
    else
        bad "crash: round $round: the server did not keep its word"
        head -n 12 "$scratch/verify" | sed 's/^/        | /'
    fi
done
say "$acknowledged transactions acknowledged in $rounds rounds; slowest recovery $slowest ms; $in_checkpoint kills in the middle of a checkpoint"
if [ $acknowledged -gt $((rounds * 20)) ]; then ok "crash: there was load"; else bad "crash: only $acknowledged transactions were acknowledged"; fi
if [ "$(grep -c 'checkpoint complete' "$server_log")" -gt 0 ]; then ok "crash: checkpoints were finished"; else bad "crash: no checkpoint was finished"; fi
if [ $in_checkpoint -gt 0 ]; then ok "crash: checkpoints were interrupted"; else bad "crash: no checkpoint was interrupted"; fi
server_stop
verdict $? "crash: the server ends well"
