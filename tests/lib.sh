# shellcheck shell=bash
# tests/lib.sh - what the test scripts share: counting verdicts, and servers of their own in a scratch directory.
#
# A script says `ok NAME` or `bad NAME` for each thing it tested; tests/run.sh counts those lines. Every server listens on a Unix
# socket in the scratch directory only, so scripts never fight over a port. With REFERENCE=1 the server is the PostgreSQL of this
# machine instead: so a test of SQL behaviour is tested itself. CRAB_SWITCHES="crab.pool_io=latched crab.agg=collect" starts every
# server with these settings (and, by tests/switches.h, every program that reads the latch layers): tests/switches.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
BUILD=${BUILD:-build}
REFERENCE=${REFERENCE:-}
PGBIN=${PGBIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}
[ -n "$PGBIN" ] && PATH=$PATH:$PGBIN
SERVER=${SERVER:-$BUILD/crabtree}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/crab-test.XXXXXX")
chmod 755 "$scratch"
server_pid=
switch_options=()
for switch in ${CRAB_SWITCHES:-}; do switch_options+=(-c "$switch"); done
bad_count=0
unset PGDATABASE PGOPTIONS PGSERVICE PGPASSWORD PGSSLMODE
export PGUSER=postgres PGDATABASE=postgres PGCONNECT_TIMEOUT=20 PGTZ=UTC LC_ALL=C

ok() { echo "ok      $*"; }
bad() { echo "FAILED  $*"; bad_count=$((bad_count + 1)); }
say() { echo "        $*"; }
# verdict STATUS NAME: ok when STATUS is 0.
verdict() { if [ "$1" = 0 ]; then shift; ok "$@"; else shift; bad "$@"; fi; }
# same NAME EXPECTED GOT
same() {
    if [ "$2" = "$3" ]; then ok "$1"; else bad "$1"; say "expected: $(printf %s "$2" | head -c 400)"; say "     got: $(printf %s "$3" | head -c 400)"; fi
}
# attempt NAME COMMAND...: ok when it ends with status 0; its output is shown only when it doesn't.
attempt() {
    local name=$1 status
    shift
    "$@" >"$scratch/attempt" 2>&1
    status=$?
    verdict $status "$name"
    [ $status = 0 ] || tail -n "${TAIL:-25}" "$scratch/attempt" | sed 's/^/        | /'
    return $status
}

q() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# server_start NAME [options...]: a server on the data directory $scratch/NAME, made when it's missing. Sets PGHOST, PGPORT,
# server_pid, server_log and server_data.
server_start() {
    local name=$1
    shift
    server_data=$scratch/$name
    server_log=$scratch/$name.log
    mkdir -p "$scratch/$name.sock"
    export PGHOST=$scratch/$name.sock PGPORT=5432
    if [ -n "$REFERENCE" ]; then
        reference_start "$@"
        return
    fi
    "$SERVER" -D "$server_data" -h '' -p $PGPORT -k "$PGHOST" "${switch_options[@]}" "$@" >>"$server_log" 2>&1 &
    server_pid=$!
    server_await
}
server_await() {
    local tries=0
    until [ -S "$PGHOST/.s.PGSQL.$PGPORT" ] && psql -X -q -At -c 'SELECT 1' >/dev/null 2>&1; do
        kill -0 "$server_pid" 2>/dev/null || return 1
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { echo "server is not ready after two minutes" >&2; return 1; }
        sleep 0.05
    done
}
reference_start() {
    local options= option as=
    [ "$(id -u)" = 0 ] && as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    for option in "$@"; do
        case $option in -c) ;; crab.*) ;; *) options="$options -c $option" ;; esac
    done
    if [ ! -d "$server_data" ]; then
        mkdir "$server_data"
        [ -z "$as" ] || chown postgres "$server_data" "$PGHOST"
        $as "$PGBIN/initdb" -D "$server_data" -E UTF8 --locale=C --lc-ctype=C.UTF-8 -A trust -U postgres >/dev/null || return 1
    fi
    (cd / && exec $as "$PGBIN/postgres" -D "$server_data" -c listen_addresses= -c unix_socket_directories="$PGHOST" -p $PGPORT -c timezone=Etc/UTC $options) >>"$server_log" 2>&1 &
    server_pid=$!
    server_await
}
# Fast shutdown; the status says whether the server ended well.
server_stop() {
    local pid=$server_pid
    [ -n "$pid" ] || return 0
    server_pid=
    kill -INT "$pid" 2>/dev/null
    wait "$pid"
}
server_kill() {
    local pid=$server_pid
    server_pid=
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    rm -f "$PGHOST/.s.PGSQL.$PGPORT" "$PGHOST/.s.PGSQL.$PGPORT.lock"
    return 0
}

finish() {
    local status=$?
    trap - EXIT INT TERM
    [ -z "$server_pid" ] || server_stop 2>/dev/null
    if [ -n "${KEEP:-}" ]; then echo "        kept: $scratch"; else rm -rf "$scratch"; fi
    [ $status = 0 ] && [ $bad_count != 0 ] && status=1
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
