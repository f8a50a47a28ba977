#!/bin/bash
# tests/clients/clients.sh [NAME...] - the real clients, unmodified, against Crabtree and against the PostgreSQL of this machine; what they
# print has to be the same, byte for byte. Both servers hold the schema of schema.sql. NAMEs:
#
#     psql views complete tools psycopg2 psycopg3 jdbc pgcli dump
#
# A client whose package isn't installed is skipped, with a line that says so. Where the two differ for a reason, NAME.accepted is that
# difference as a patch (see README.md). ACCEPT=1 writes the patches anew.
. "$(dirname "$0")/../lib.sh"
here=$PWD/tests/clients
reference_pid=
# The second server of this script, whatever happens.
both_end() {
    local status=$?
    [ -z "$reference_pid" ] || { kill -INT "$reference_pid" 2>/dev/null; wait "$reference_pid" 2>/dev/null; }
    (exit $status)
    finish
}
trap both_end EXIT

REFERENCE=1
server_start reference -c fsync=off || { bad "clients: PostgreSQL does not start"; tail -n 5 "$server_log"; exit 1; }
REFERENCE=
reference_pid=$server_pid reference_host=$PGHOST server_pid=
server_start crabtree || { bad "clients: the server does not start"; tail -n 5 "$server_log"; exit 1; }
crabtree_host=$PGHOST

on_reference() { PGHOST=$reference_host "$@"; }
# compare NAME COMMAND...: the command's output against both servers; then the difference, less the accepted one.
compare() {
    local name=$1
    shift
    on_reference "$@" >"$scratch/$name.expected" 2>&1
    "$@" >"$scratch/$name.out" 2>&1
    differ "$name" "$scratch/$name.expected" "$scratch/$name.out"
}
differ() {
    local name=$1 expected=$2 got=$3
    if [ -n "${ACCEPT:-}" ]; then
        diff -U 1 --label expected --label got "$expected" "$got" >"$here/$name.accepted" && rm "$here/$name.accepted"
    fi
    cp "$expected" "$scratch/$name.patched"
    [ ! -e "$here/$name.accepted" ] || patch -s "$scratch/$name.patched" <"$here/$name.accepted"
    if diff -U 3 "$scratch/$name.patched" "$got" >"$scratch/$name.diff" 2>&1; then
        ok "clients: $name, $(wc -l <"$got") lines as with PostgreSQL"
    else
        bad "clients: $name ($(grep -c '^[-+][^-+]' "$scratch/$name.diff") lines differ)"
        head -n "${TAIL:-30}" "$scratch/$name.diff" | sed 's/^/        | /'
    fi
}
skip() { say "skipped: $1 ($2 is not installed)"; }

run_psql() { timeout 60 psql -X -a -q -f "${here#"$PWD"/}/psql.sql" 2>&1 | sed 's/^\(.*\) (every 0.1s)/\\watch (every 0.1s)/; /^LOCATION: /d'; }
run_views() { timeout 60 psql -X -A -t -q -f "$here/views.sql"; }
run_tools() { timeout 60 psql -X -a -q -f "$here/tools.sql"; }
run_python() { PYTHONDONTWRITEBYTECODE=1 timeout 120 /usr/bin/python3 "$here/$1"; }
run_jdbc() { timeout 200 java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$driver:$scratch" Jdbc "$PGHOST/.s.PGSQL.$PGPORT"; }
jdbc_client() {
    driver=/usr/share/java/postgresql.jar
    if [ ! -e $driver ]; then skip jdbc libpostgresql-jdbc-java; return; fi
    if ! command -v javac >/dev/null; then skip jdbc default-jdk-headless; return; fi
    attempt "clients: Jdbc.java compiles" javac -encoding UTF-8 -cp $driver -d "$scratch" "$here/Jdbc.java" && compare jdbc run_jdbc
}
. "$here/dump.sh"
. "$here/pgcli.sh"

for host in "$reference_host" "$crabtree_host"; do
    PGHOST=$host psql -X -q -v ON_ERROR_STOP=1 -f "$here/schema.sql" >"$scratch/schema.log" 2>&1
    verdict $? "clients: the schema is made on $(basename "$host" .sock)"
    [ ! -s "$scratch/schema.log" ] || head -n 5 "$scratch/schema.log"
done

[ $# -gt 0 ] || set -- psql views complete tools psycopg2 psycopg3 jdbc pgcli dump
for name; do
    case $name in
    psql) compare psql run_psql ;;
    views) compare views run_views ;;
    tools) compare tools run_tools ;;
    complete) if [ -x /usr/bin/python3 ]; then compare complete run_python complete.py; else skip complete python3; fi ;;
    psycopg2) if /usr/bin/python3 -c 'import psycopg2' 2>/dev/null; then compare psycopg2 run_python drive_psycopg2.py; else skip psycopg2 python3-psycopg2; fi ;;
    psycopg3) if /usr/bin/python3 -c 'import psycopg' 2>/dev/null; then compare psycopg3 run_python drive_psycopg3.py; else skip "psycopg 3" python3-psycopg; fi ;;
    jdbc) jdbc_client ;;
    pgcli) if command -v pgcli >/dev/null; then pgcli_client; else skip pgcli pgcli; fi ;;
    dump) dump_client ;;
    *) bad "clients: no client \"$name\"" ;;
    esac
done
server_stop
verdict $? "clients: the server ends well"
