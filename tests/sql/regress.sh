#!/bin/bash
# tests/sql/regress.sh [NAME...] - SQL scripts through psql. NAME.out is what PostgreSQL 15 prints for NAME.sql, and Crabtree has to
# print the same, error texts and positions included; ACCEPT=1 REFERENCE=1 writes it anew. Where the two differ for a reason,
# NAME.accepted is that difference as a patch of NAME.out, and the script says why. Each script begins and ends without tables.
. "$(dirname "$0")/../lib.sh"
server_start sql || { bad "sql: the server does not start"; tail -n 5 "$server_log"; exit 1; }
names=("$@")
[ $# -gt 0 ] || for script in tests/sql/*.sql; do names+=("$(basename "$script" .sql)"); done
for name in "${names[@]}"; do
    script=tests/sql/$name.sql
    timeout --foreground 120 psql -X -a -q -f - <"$script" >"$scratch/$name.out" 2>&1
    if [ -n "${ACCEPT:-}" ]; then cp "$scratch/$name.out" "tests/sql/$name.out"; fi
    cp "tests/sql/$name.out" "$scratch/expected"
    if [ -e "tests/sql/$name.accepted" ] && [ -z "$REFERENCE" ]; then patch -s "$scratch/expected" <"tests/sql/$name.accepted"; fi
    if diff -U 4 "$scratch/expected" "$scratch/$name.out" >"$scratch/diff" 2>&1; then
        ok "sql: $name"
    else
        bad "sql: $name ($(grep -c '^[-+][^-+]' "$scratch/diff") lines)"
        head -n "${TAIL:-20}" "$scratch/diff" | sed 's/^/        | /'
    fi
done
server_stop
verdict $? "sql: the server ends well"
