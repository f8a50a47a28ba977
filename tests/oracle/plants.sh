#!/bin/bash
# tests/oracle/plants.sh [NAME or PATTERN...] - plants each wrong-result bug of base/plant.h, one at a time, and puts random statements to
# that server until one shows it. A bug that none shows is a hole in the oracle. The same seed must pass where nothing is planted
# (tests/oracle/oracle.sh).
#
#     BUDGET (20000): statements at most; SEED (1)
. "$(dirname "$0")/../lib.sh"
budget=${BUDGET:-20000} seed=${SEED:-1} MODE=${MODE:-release} CC=${CC:-gcc}
[[ $budget =~ ^[1-9][0-9]{0,7}$ ]] || { echo "BUDGET=$budget: not a whole number from 1 to 99999999" >&2; exit 2; }
pattern=$(IFS='|'; echo "${*:-.*}")
rows=$(sed -n 's/^ *X(\([A-Z_]*\), *"\([^"]*\)", *"\(.*\)").*/\1|\2|\3/p' base/plant.h | grep -E "^($pattern)\|")
[ -n "$rows" ] || { echo "no plant \"$*\"; base/plant.h names them" >&2; exit 2; }
while IFS='|' read -r name file broken; do
    SERVER=$BUILD/plant/$name
    if ! make --no-print-directory -s BUILD="$BUILD" MODE="$MODE" CC="$CC" "$SERVER" >"$scratch/make" 2>&1; then
        bad "plant $name does not build"
        tail -n 5 "$scratch/make" | sed 's/^/        | /'
        continue
    fi
    begun=$SECONDS
    server_start "plant$name" -c fsync=off -c autovacuum=off || { bad "plant $name: the server does not start"; continue; }
    timeout --foreground 900 "$BUILD/tests/oracle/oracle" SEED="$seed" N="$budget" SHRINK=no >"$scratch/out" 2>&1
    status=$?
    found=$(grep -m 1 -E '^oracle: SEED=|the server is gone' "$scratch/out")
    if [ $status != 0 ] && [ -n "$found" ]; then
        ok "plant $name ($file: $broken) is found in $((SECONDS - begun)) s: ${found#oracle: }"
    else
        bad "plant $name ($file: $broken) is not found in $budget statements: $(tail -n 1 "$scratch/out" | cut -c 1-300)"
    fi
    server_kill
    rm -rf "$server_data" "$SERVER"
done <<<"$rows"
