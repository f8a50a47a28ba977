#!/bin/sh
# server/run.sh - what `make run` does after the build: starts the server on ./data (DATA=dir for another), loads the sample database
# when it isn't there, opens psql on it, and stops the server when psql ends. Without a terminal it prints a scripted tour.
set -eu
BUILD=${BUILD:-build}
DATA=${DATA:-data}
PORT=${PORT:-5433}
SCALE=${SCALE:-0.01}
sockets=$(mktemp -d)
log=$DATA.log
server=
stop() {
    status=$?
    trap - EXIT HUP INT TERM
    if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
        kill -INT "$server" 2>/dev/null || :
        wait "$server" 2>/dev/null || :
    fi
    rm -rf "$sockets"
    exit $status
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# On the first port from PORT on that nobody listens on.
while :; do
    # In a session of its own: Ctrl-C in psql cancels a query, it doesn't reach the server.
    setsid "$BUILD/crabtree" -D "$DATA" -p "$PORT" -k "$sockets" >"$log" 2>&1 &
    server=$!
    tries=0
    until grep -q 'ready to accept connections' "$log" || ! kill -0 "$server" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { echo "crabtree: the server is not ready after two minutes; see $log" >&2; exit 1; }
        sleep 0.1
    done
    kill -0 "$server" 2>/dev/null && break
    server=
    grep -qi 'address already in use' "$log" || { echo "crabtree: the server did not start:" >&2; cat "$log" >&2; exit 1; }
    PORT=$((PORT + 1))
done

export PGHOST="$sockets" PGPORT="$PORT" PGUSER=postgres PGDATABASE=postgres PGCONNECT_TIMEOUT=10
quiet="psql -X -q -v ON_ERROR_STOP=1"
if [ "$($quiet -At -c "SELECT count(*) FROM pg_class WHERE relname = 'lineitem_partkey'")" = 0 ]; then
    echo "crabtree: loading the sample database (TPC-H-shaped, scale $SCALE)"
    tables="region nation supplier part partsupp customer orders lineitem"
    for table in $tables; do $quiet -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS $table"; done
    "$BUILD/bench/generate" schema | $quiet
    for table in $tables; do
        "$BUILD/bench/generate" "$table" "$SCALE" | $quiet -c "COPY $table FROM STDIN"
    done
    "$BUILD/bench/generate" keys | $quiet
    $quiet -c "VACUUM ANALYZE"
fi
if [ -t 0 ] && [ -t 1 ]; then
    echo "crabtree: psql on a live server; in another terminal: psql -h 127.0.0.1 -p $PORT -U postgres"
    trap : INT
    psql -X || :
else
    server/tour.sh
fi
