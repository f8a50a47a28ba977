#!/bin/bash
# tests/server/faults.sh - the world misbehaves: malformed input, a damaged page, a full disk, a directory in use or of another version. Each
# is a clear error for whoever it concerns; the server goes on, and what was committed is there.
. "$(dirname "$0")/../lib.sh"
start() { server_start faults -c shared_buffers=16MB "$@"; }
start || { bad "faults: the server does not start"; tail -n 5 "$server_log"; exit 1; }

# ---- what a client may send
says() { # NAME PATTERN COMMAND...
    local name=$1 pattern=$2 out
    shift 2
    out=$("$@" 2>&1)
    if printf '%s\n' "$out" | tr -d '\0' | grep -qE -- "$pattern"; then ok "faults: $name"; else bad "faults: $name"; say "expected /$pattern/, got: $(printf %s "$out" | head -c 300)"; fi
}
sql() { psql -X -q -At -v VERBOSITY=verbose -c "$1"; }
says "unterminated string" '42601: unterminated quoted string' sql "SELECT 'abc"
says "unterminated name" '42601: unterminated quoted identifier' sql 'SELECT "abc'
says "unterminated comment" '42601: unterminated /\* comment' sql 'SELECT 1 /* abc'
says "unterminated dollar quote" '42601: unterminated dollar-quoted string' sql 'SELECT $a$abc'
says "invalid UTF-8 in a statement" '22021: invalid byte sequence for encoding "UTF8": 0xff' sql $'SELECT \'\xff\''
says "cut-off UTF-8 in a statement" '22021: invalid byte sequence for encoding "UTF8": 0xc3 0x27' sql $'SELECT \'\xc3\''
says "overlong UTF-8" '22021: invalid byte sequence' sql $'SELECT \'\xc0\x80\''
says "a surrogate" '22021: invalid byte sequence' sql $'SELECT \'\xed\xa0\x80\''
q -c "CREATE TABLE t (id int PRIMARY KEY, v text)"
says "invalid UTF-8 in COPY" '22021: invalid byte sequence for encoding "UTF8": 0xfe' bash -c "printf '1\t\xfe\n' | psql -X -q -v VERBOSITY=verbose -c 'COPY t FROM STDIN'"
printf '1\ta\0b\n' >"$scratch/nul"
says "a NUL byte in COPY" '22021: invalid byte sequence for encoding "UTF8": 0x00' sql "COPY t FROM '$scratch/nul'"
says "a NUL by escape" '22021: invalid byte sequence for encoding "UTF8": 0x00' sql "SELECT E'a\\000b'"
says "integer out of range" '22003: integer out of range' sql "SELECT 2147483647 + 1"
says "division by zero" '22012: division by zero' sql "SELECT 1 / 0"
says "value too long" '22001: value too long for type character varying\(3\)' sql "CREATE TABLE v3 (v varchar(3)); INSERT INTO v3 VALUES ('abcd')"
says "duplicate key" '23505: duplicate key value violates unique constraint "t_pkey"' sql "INSERT INTO t VALUES (1, 'a'), (1, 'b')"
says "nothing of it stayed" '^0$' sql "SELECT count(*) FROM t"
says "a key too long for an index" '54000: index row' sql "CREATE TABLE k (v text PRIMARY KEY); INSERT INTO k SELECT string_agg(md5(g::text), '') FROM generate_series(1, 3000) g"
printf 'SELECT %s1%s' "$(printf '(%.0s' $(seq 1 20000))" "$(printf ')%.0s' $(seq 1 20000))" >"$scratch/deep.sql"
says "nested too deeply" '54001: |memory exhausted|^1$' psql -X -q -At -v VERBOSITY=verbose -f "$scratch/deep.sql"
{ printf 'SELECT 1'; printf ' + 1%.0s' $(seq 1 20000); } >"$scratch/long.sql"
says "a long sum" '54001: |^20001$' psql -X -q -At -v VERBOSITY=verbose -f "$scratch/long.sql"
{ printf 'SELECT count(*) FROM t WHERE id IN (0'; printf ', %d' $(seq 1 20000); echo ')'; } >"$scratch/in.sql"
says "a long IN list" '^0$' psql -X -q -At -f "$scratch/in.sql"
{ printf 'CREATE TABLE wide (c0 int'; for c in $(seq 1 1700); do printf ', c%d int' "$c"; done; echo ')'; } >"$scratch/wide.sql"
says "too many columns" '54011: tables can have at most 1600 columns' psql -X -q -At -v VERBOSITY=verbose -f "$scratch/wide.sql"
says "a value of many megabytes" '^50000000$' sql "SELECT length(repeat('abcde', 10000000))"
says "a value over a gigabyte" '54000: |22023: |requested length too large|invalid memory alloc' sql "SELECT length(repeat('abcde', 1000000000))"
says "it still answers" '^42$' sql "SELECT 6 * 7"

# ---- another server on the directory
if [ -z "$REFERENCE" ]; then
    says "a directory in use" 'lock file|is another server|in use|running' timeout 20 "$SERVER" -D "$server_data" -h '' -p 5499 -k "$PGHOST"
    says "the first goes on" '^42$' sql "SELECT 6 * 7"
fi

# ---- too many connections
server_stop
start -c max_connections=5
holders=
# Each comes again until it is let in: the question below may have had its place.
for _ in 1 2 3 4 5; do { until psql -X -q -c "SELECT pg_sleep(20)" >/dev/null 2>&1; do sleep 0.1; done; } & holders="$holders $!"; done
tries=0
until psql -X -c 'SELECT 1' 2>&1 | grep -q 'too many clients' || [ $tries -gt 100 ]; do tries=$((tries + 1)); sleep 0.05; done
says "too many connections" '(53300|sorry, too many clients already|remaining connection slots)' psql -X -c 'SELECT 1'
# shellcheck disable=SC2086
kill $holders 2>/dev/null
wait $holders 2>/dev/null
server_stop
verdict $? "faults: the server ends well"
if [ -n "$REFERENCE" ]; then exit; fi

# ---- a damaged page
start
q -c "CREATE TABLE damaged AS SELECT g AS id, repeat('x', 100) AS v FROM generate_series(1, 20000) g" -c "CREATE TABLE healthy AS SELECT g AS id FROM generate_series(1, 1000) g" -c "CHECKPOINT"
file=$(q -c "SELECT pg_relation_filepath('damaged')" 2>/dev/null)
server_stop
[ -n "$file" ] && [ -f "$server_data/$file" ] || file=$(cd "$server_data" && find . -type f -size +1500k ! -path '*wal*' | xargs ls -S | head -n 1)
if [ -f "$server_data/$file" ]; then
    size=$(stat -c %s "$server_data/$file")
    printf 'XXXXXXXX' | dd of="$server_data/$file" bs=1 seek=$((size / 2 + 1234)) conv=notrunc 2>/dev/null
    start
    says "a damaged page is noticed" 'XX001|invalid page|checksum' sql "SELECT count(*), sum(length(v)) FROM damaged"
    says "and only whoever needs it is told" '^1000\|500500$' sql "SELECT count(*), sum(id) FROM healthy"
    says "again, the same" 'XX001|invalid page|checksum' sql "SELECT count(*), sum(length(v)) FROM damaged"
    says "a table can be made and dropped" '^$' sql "CREATE TABLE other AS SELECT 1 AS x; DROP TABLE other; DROP TABLE damaged"
    server_stop
    verdict $? "faults: the server ends well after a damaged page"
else
    bad "faults: no file of the table found"
fi

# ---- a directory without its control file, or not a database at all
cp -r "$server_data" "$scratch/old"
for at in 8 4104; do printf '\377\377\377\177' | dd of="$scratch/old/control" bs=1 seek=$at conv=notrunc 2>/dev/null; done
says "a control file that is damaged twice" 'FATAL: +control file .* is damaged' timeout 20 "$SERVER" -D "$scratch/old" -h '' -p 5432 -k "$scratch"
rm "$scratch/old/control"
files=$(ls "$scratch/old/base" | wc -l)
says "a control file that is lost" 'FATAL: +data directory .* has files but no control file' timeout 20 "$SERVER" -D "$scratch/old" -h '' -p 5432 -k "$scratch"
same "faults: and no file was touched" "$files" "$(ls "$scratch/old/base" | wc -l)"
mkdir "$scratch/strange"
echo hello >"$scratch/strange/file"
says "a directory of something else" 'FATAL' timeout 20 "$SERVER" -D "$scratch/strange" -h '' -p 5432 -k "$scratch"
same "faults: and nothing was put there" "file" "$(ls "$scratch/strange")"
says "an unknown option" 'unrecognized configuration parameter "nonsense"' timeout 20 "$SERVER" -D "$scratch/none" -c nonsense=1
says "a pool too small for one session" '16 8kB is outside the valid range for parameter "shared_buffers" \(128 ' timeout 20 "$SERVER" -D "$scratch/none" -c shared_buffers=128kB

# ---- a full disk: a small file system in a mount namespace of its own
cat >"$scratch/full.sh" <<'EOS'
. tests/lib.sh
rm -rf "$scratch"; scratch=$1/tmp
mount -t tmpfs -o size=96m tmpfs "$1" && mkdir "$scratch" || { echo "no mount"; exit 77; }
server_start full -c shared_buffers=16MB -c max_wal_size=32MB -c checkpoint_timeout=5 || { bad "faults: full disk: the server does not start"; tail -n 5 "$server_log"; exit 1; }
q -c "CREATE TABLE kept (id int PRIMARY KEY, v text)" -c "INSERT INTO kept SELECT g, 'row ' || g FROM generate_series(1, 1000) g"
# 6 MB are left: the table meets the end of the disk long before the WAL needs its next segment, without which a server can't go on.
free=$(df --output=avail -k "$1" | tail -n 1)
head -c $(((free - 6144) * 1024)) /dev/zero >"$1/ballast"
answer=$(psql -X -q -At -v VERBOSITY=verbose -c "CREATE TABLE big (v text)" -c "INSERT INTO big SELECT repeat(md5(g::text), 30) FROM generate_series(1, 200000) g" 2>&1)
if printf %s "$answer" | grep -q '53100'; then ok "faults: a full disk is 53100 for the statement that meets it"; else bad "faults: a full disk: $(printf %s "$answer" | head -c 300)"; fi
kill -0 "$server_pid" 2>/dev/null && alive=yes || alive=no
if [ $alive = no ]; then
    say "the server went down ($(tail -n 2 "$server_log")); it must come back once there is room"
    rm -f "$PGHOST"/.s.*
    rm -f "$1"/ballast
    server_start full -c shared_buffers=16MB || { bad "faults: full disk: no recovery"; tail -n 5 "$server_log"; exit 1; }
fi
same "faults: full disk: what was committed is there" "1000|500500" "$(q -c "SELECT count(*), sum(id) FROM kept" 2>&1)"
same "faults: full disk: what wasn't is gone" "0" "$(q -c "SELECT count(*) FROM big" 2>&1)"
rm -f "$1/ballast"
q -c "DROP TABLE big" -c "CHECKPOINT" >/dev/null 2>&1
answer=$(q -c "INSERT INTO kept SELECT g, 'row ' || g FROM generate_series(1001, 2000) g" -c "SELECT count(*) FROM kept" 2>&1)
same "faults: full disk: with room again there is work again" 2000 "$answer"
server_stop
verdict $? "faults: full disk: the server ends well"
EOS
mkdir "$scratch/disk"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    unshare -m bash "$scratch/full.sh" "$scratch/disk" >"$scratch/full.out" 2>&1
    if grep -q '^no mount' "$scratch/full.out"; then
        say "no tmpfs may be mounted here: the full disk is left out"
    else
        cat "$scratch/full.out"
    fi
else
    say "not root: the full disk is left out"
fi
