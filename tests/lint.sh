#!/bin/bash
# tests/lint.sh - the rules of the house that a grep can check; clang-tidy, cppcheck and gcc -fanalyzer where they are installed and LINT_DEEP
# is set.
#
#   1. Includes go down only: server -> engine -> {parser, btree, storage} -> base, and btree -> storage.
#   2. Latches, conditions and threads come from base alone.
#   3. Inside the engine: catalog and types know nothing of plan and exec; plan nothing of exec's operators.
#   4. Atomics are relaxed (statistics, hints that are looked at again), or go through base/atomic.h, where each is a point.
#   5. No file grows past 1500 lines; each .c opens with a comment that says what it is.
cd "$(dirname "$0")/.." || exit 1
bad=0
complain() { echo "FAILED  lint: $1"; printf '%s\n' "$2" | head -n 20 | sed 's/^/        | /'; bad=$((bad + 1)); }
rule() { # NAME FOUND
    if [ -z "$2" ]; then echo "ok      lint: $1"; else complain "$1" "$2"; fi
}
includes() { # FOLDERS, FORBIDDEN
    # shellcheck disable=SC2086
    grep -nE "^#include \"($2)/" -r --include='*.[ch]' $1
}
rule "base stands on nothing" "$(includes base 'storage|btree|parser|engine|server')"
rule "storage stands on base" "$(includes storage 'btree|parser|engine|server')"
rule "btree stands on storage and base" "$(includes btree 'parser|engine|server')"
rule "parser stands on base" "$(includes parser 'storage|btree|engine|server')"
rule "engine knows no server" "$(includes engine 'server')"
rule "server talks to engine and base" "$(includes server 'storage|btree|parser')"
rule "types know no plan and no execution" "$(includes engine/types 'engine/(plan|exec)')"
rule "latches and threads come from base" "$(grep -nE '\b(pthread_(mutex|rwlock|cond|create|spin|key)|uv_(mutex|rwlock|cond|sem|thread)_|mtx_|cnd_|thrd_)' -r --include='*.[ch]' storage btree parser engine server | grep -v '^[^:]*:[0-9]*: *\*')"
rule "atomics that carry meaning go through base/atomic.h" "$(grep -nE '\b(atomic_(load|store|fetch_|exchange|compare_exchange|thread_fence)|__atomic_|__sync_)' -r --include='*.[ch]' storage btree parser engine server | grep -vE 'memory_order_relaxed|ASSERT|_Atomic')"
rule "no pauses but base's" "$(grep -nE '__builtin_ia32_pause|sched_yield|_mm_pause' -r --include='*.[ch]' storage btree parser engine server)"
rule "no file over 1500 lines" "$(git ls-files 'base/*.c' 'storage/*.c' 'btree/*.c' 'parser/*.c' 'engine/*.c' 'server/*.c' | xargs wc -l | awk '$1 > 1500 && $2 != "total" { print $2 ": " $1 }')"
rule "each file says what it is" "$(git ls-files '*.c' | while read -r file; do [ -e "$file" ] && { head -n 1 "$file" | grep -qE '^/\* '"$file"' - ' || echo "$file: $(head -n 1 "$file" | cut -c 1-80)"; }; done)"
rule "no sleeps but base's" "$(grep -nE '\b(usleep|nanosleep|sleep) *\(' -r --include='*.c' storage btree parser engine server | grep -v pg_sleep)"
if command -v shellcheck >/dev/null 2>&1; then
    rule "shell scripts" "$(git ls-files '*.sh' .ci/run | xargs shellcheck -S error 2>&1)"
fi
if [ -n "${LINT_DEEP:-}" ]; then
    if command -v cppcheck >/dev/null 2>&1; then rule "cppcheck" "$(cppcheck -q -I. --error-exitcode=0 --suppress=missingInclude base storage btree parser engine server 2>&1 | grep -E 'error:')"; fi
    if command -v clang >/dev/null 2>&1; then
        rule "clang -Wthread-safety" "$(for file in $(git ls-files 'base/*.c' 'storage/*.c' 'btree/*.c' 'server/*.c'); do clang -std=gnu17 -D_GNU_SOURCE -I. -fsyntax-only -Wthread-safety "$file" 2>&1 | grep warning; done)"
    fi
    rule "gcc -fanalyzer" "$(for file in $(git ls-files 'base/*.c' 'storage/*.c' 'btree/*.c' 'server/*.c'); do gcc -std=gnu17 -D_GNU_SOURCE -I. -fanalyzer -O1 -c "$file" -o /dev/null 2>&1 | grep 'warning:'; done)"
fi
[ $bad = 0 ]
