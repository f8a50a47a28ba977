#!/bin/bash
# tests/sql/slt.sh [FILE...] - files in the sqllogictest format: those in tests/sql/, and with SLT_DIR all files below that folder.
# With WORKERS=2,4 each query is asked with one worker, with 2 and with 4: every byte has to be the same (`make slt-workers`; SERVER=
# build/small/crabtree has small grains, so that small tables have work for many).
. "$(dirname "$0")/../lib.sh"
server_start slt || { bad "slt: the server does not start"; tail -n 5 "$server_log"; exit 1; }
files=("$@")
[ $# -gt 0 ] || files=(tests/sql/*.test)
[ -z "${SLT_DIR:-}" ] || while IFS= read -r file; do files+=("$file"); done < <(find "$SLT_DIR" -name '*.test' | sort)
for file in "${files[@]}"; do
    begun=$SECONDS
    timeout --foreground "${SLT_SECONDS:-600}" "$BUILD/tests/sql/slt_client" ${WORKERS:+-w $WORKERS} "$file" >"$scratch/out" 2>&1
    status=$?
    if [ $status = 0 ]; then
        ok "slt: $(basename "$(dirname "$file")")/$(basename "$file"): $(tail -n 1 "$scratch/out"), $((SECONDS - begun)) s"
    else
        bad "slt: $file (status $status): $(tail -n 1 "$scratch/out")"
        head -n "${TAIL:-12}" "$scratch/out" | cut -c 1-600 | sed 's/^/        | /'
    fi
done
server_stop
verdict $? "slt: the server ends well"
