# shellcheck shell=bash
# tests/clients/dump.sh - pg_dump and pg_restore, sourced by clients.sh. What pg_dump writes of Crabtree is what it writes of PostgreSQL;
# restored, into either of them and by any way, it gives a database whose dump is the same text again (so its rows are equal, too).

# A dump's text without rights, which are not kept, and without what names the versions of server and client or is random.
dump_plain() { pg_dump -x "$@" 2>&1 | grep -v '^-- Dumped \(from\|by\)\|^.restrict \|^.unrestrict '; }
# empty HOST: without any schema of one's own.
dump_empty() {
    PGHOST=$1 psql -X -q -v ON_ERROR_STOP=1 -c 'SET client_min_messages = warning; DROP SCHEMA IF EXISTS shop, "Odd Names", public CASCADE; CREATE SCHEMA public' >/dev/null 2>&1
}
# restored NAME HOST COMMAND...: the command fills the emptied server at HOST; its dump is the first one's text again.
restored() {
    local name=$1 host=$2
    shift 2
    dump_empty "$host"
    PGHOST=$host "$@" >"$scratch/restore.log" 2>&1
    verdict $? "clients: restored: $name"
    if grep -q 'ERROR\|error:' "$scratch/restore.log"; then grep 'ERROR\|error:' "$scratch/restore.log" | head -n 5 | sed 's/^/        | /'; fi
    PGHOST=$host dump_plain >"$scratch/again.sql"
    differ "dump_$name" "$scratch/first.sql" "$scratch/again.sql"
}

dump_client() {
    local kind options
    say "$(pg_dump --version)"
    for host in "$reference_host" "$crabtree_host"; do # whatever clients before left behind
        dump_empty "$host"
        PGHOST=$host psql -X -q -v ON_ERROR_STOP=1 -f "$here/schema.sql" >/dev/null 2>&1
    done
    compare dump_plain dump_plain
    on_reference pg_dump -x >"$scratch/reference.sql"
    for options in --schema-only '--data-only --column-inserts --rows-per-insert=3' '-t shop.line -t shop.ticket --serializable-deferrable' '-n shop -T shop.line --clean --if-exists --no-comments' \
        '--section=post-data' '-t nosuch'; do
        # shellcheck disable=SC2086
        compare "dump_$(echo "$options" | tr -dc 'a-z-')" dump_plain $options
    done
    dump_plain >"$scratch/first.sql"
    pg_dump -x >"$scratch/dump.sql"
    pg_dump -x -Fc -f "$scratch/dump.custom"
    verdict $? "clients: pg_dump --format=custom"
    pg_dump -x -Fd -f "$scratch/dump.directory" 2>"$scratch/dump.log"
    verdict $? "clients: pg_dump --format=directory"
    head -n 5 "$scratch/dump.log"
    pg_dump -x -Ft -f "$scratch/dump.tar"
    verdict $? "clients: pg_dump --format=tar"
    pg_dump -x --inserts >"$scratch/dump.inserts"
    same "clients: pg_restore lists the archive's objects" "$(on_reference pg_dump -x -Fc | pg_restore -l | grep -vc '^;')" "$(pg_restore -l "$scratch/dump.custom" | grep -vc '^;')"
    for kind in crabtree reference; do
        local host=${kind}_host
        host=${!host}
        restored "${kind}_plain" "$host" psql -X -q -v ON_ERROR_STOP=1 -f "$scratch/dump.sql"
        [ $kind = reference ] || restored "${kind}_of_reference" "$host" psql -X -q -v ON_ERROR_STOP=1 -f "$scratch/reference.sql"
        restored "${kind}_inserts" "$host" psql -X -q -v ON_ERROR_STOP=1 -1 -f "$scratch/dump.inserts"
        restored "${kind}_custom" "$host" pg_restore --exit-on-error -d postgres "$scratch/dump.custom"
        restored "${kind}_directory" "$host" pg_restore --exit-on-error -j 3 -d postgres "$scratch/dump.directory"
        restored "${kind}_tar" "$host" pg_restore --exit-on-error --single-transaction -d postgres "$scratch/dump.tar"
        PGHOST=$host pg_restore --exit-on-error --clean --if-exists -d postgres "$scratch/dump.custom" 2>&1 | head -n 5
        verdict "${PIPESTATUS[0]}" "clients: pg_restore --clean over what is there, $kind"
        PGHOST=$host dump_plain >"$scratch/again.sql"
        differ "dump_${kind}_clean" "$scratch/first.sql" "$scratch/again.sql"
    done
    pg_dumpall >"$scratch/dumpall.sql" 2>"$scratch/dumpall.log"
    verdict $? "clients: pg_dumpall"
    head -n 5 "$scratch/dumpall.log"
}
