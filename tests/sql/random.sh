#!/bin/bash
# tests/sql/random.sh - random statements on a server and on SQLite: their answers have to agree. Then the same program against builds with
# a wrong-result bug planted in each (-DCRAB_PLANT=1, 2, 3): it has to find all three.
#
#     STATEMENTS (6000), SEED (1), SEEDS (1): how many seeds, from SEED on; PLANTS ("1 2 3")
. "$(dirname "$0")/../lib.sh"
statements=${STATEMENTS:-6000} seed=${SEED:-1} seeds=${SEEDS:-1}
client=$BUILD/tests/sql/random_client
server_start random || { bad "random: the server does not start"; tail -n 5 "$server_log"; exit 1; }
for ((s = seed; s < seed + seeds; s++)); do
    if timeout --foreground 900 "$client" "$statements" "$s" >"$scratch/out" 2>&1; then
        ok "random: $(tail -n 1 "$scratch/out")"
    else
        bad "random: seed $s (status $?)"
        head -n "${TAIL:-40}" "$scratch/out" | cut -c 1-2000 | sed 's/^/        | /'
    fi
done
server_stop
verdict $? "random: the server ends well"
[ -z "$REFERENCE" ] || exit
for plant in ${PLANTS-1 2 3}; do
    SERVER=$BUILD/plant-$plant/crabtree
    if [ ! -x "$SERVER" ]; then bad "random: $SERVER is not built"; continue; fi
    server_start plant$plant || { bad "random: planted bug $plant: the server does not start"; continue; }
    if timeout --foreground 300 "$client" "$statements" "$seed" >"$scratch/out" 2>&1; then
        bad "random: planted bug $plant was not found in $statements statements"
    elif grep -q 'the answers differ' "$scratch/out"; then
        ok "random: planted bug $plant is found: $(head -n 1 "$scratch/out")"
    else
        bad "random: planted bug $plant: $(head -n 1 "$scratch/out")"
    fi
    server_stop
done
