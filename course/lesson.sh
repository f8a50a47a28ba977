#!/bin/bash
# course/lesson.sh N [part...] - runs lesson N unattended and checks what it shows; ends in one line that counts.
#
#     graders   the lesson's grader accepts the solution and rejects each planted mistake (grade.sh)
#     exercise  exercise.c is graded, too: its verdict is shown, and either is fine
#     session   session.sh, held against the session that the lesson's README shows (numbers of sessions apart)
#     curve     the load with the switch one way and the other, at 1, 2, 4, 8 and 16: every answer is checked, the figures are only shown
#
# These are all of them when none is named. SECONDS_EACH and ROUNDS make the curve better, SEEDS the grading. Two more are there to be named:
# `show` prints the session as it goes now, `write` puts it into the README.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}
number=${1:-}
lesson=$(echo course/"$number"-*/)
lesson=${lesson%/}
[ -n "$number" ] && [ -d "$lesson" ] || { echo "usage: course/lesson.sh N [graders|exercise|session|curve|show|write]...     N: 1 to 5" >&2; exit 2; }
shift
[ $# -gt 0 ] || set -- graders exercise session curve
declare -A contests=([1]=engine [2]=tree [3]=scan [4]=start [5]=agg)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/crab-lesson.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
ok() { echo "ok      lesson $number: $*"; passed=$((passed + 1)); }
bad() { echo "FAILED  lesson $number: $*"; failed=$((failed + 1)); }

# The block of the README behind the line that names session.sh.
session_shown() { awk '/^<!-- session.sh -->$/ { there = 1; next } there && /^```$/ { if (open) exit; open = 1; next } open' "$lesson/README.md"; }
# Sessions have other numbers another time, and columns other widths.
masked() { sed -E 's/connection [0-9]+/connection N/g; s/^(C=# \\set [ab]) [0-9]+/\1 N/; s/^ *[0-9]+ \|/N |/; s/-+/-/g; s/ +/ /g; s/ $//'; }

part_graders() {
    course/grade.sh "$number" >"$scratch/graders" 2>&1
    cat "$scratch/graders"
    passed=$((passed + $(grep -c '^ok  ' "$scratch/graders"))) failed=$((failed + $(grep -c '^FAILED  ' "$scratch/graders")))
    grep -q '^ok  ' "$scratch/graders" || bad "nothing was graded"
}
part_exercise() {
    "$BUILD/$lesson/grade" "NAME=$lesson/exercise.c" "SEEDS=${SEEDS:-}" "REPLAY=make grade N=$number" >"$scratch/exercise" 2>&1
    local status=$?
    grep -v '^        |  ' "$scratch/exercise" | sed 's/^/        /'
    if [ $status -le 1 ]; then ok "exercise.c is graded"; else bad "the grader ended with status $status"; fi
}
part_session() {
    if ! timeout --foreground 300 "$lesson/session.sh" >"$scratch/session" 2>"$scratch/session.log"; then
        bad "session.sh did not come to its end"
        tail -n 5 "$scratch/session" "$scratch/session.log" | sed 's/^/        | /'
        return
    fi
    session_shown | masked >"$scratch/shown"
    masked <"$scratch/session" >"$scratch/now"
    if [ -s "$scratch/shown" ] && diff "$scratch/shown" "$scratch/now" >"$scratch/difference"; then
        ok "the session goes as the README shows it ($(grep -c '=# ' "$scratch/now") statements)"
    else
        bad "the session does not go as the README shows it"
        head -n 20 "$scratch/difference" | sed 's/^/        | /'
    fi
}
part_curve() {
    SECONDS_EACH=${SECONDS_EACH:-0.05} ROUNDS=${ROUNDS:-1} timeout --foreground 600 bench/latches.sh "${contests[$number]}" >"$scratch/curve" 2>&1
    local status=$? tables rows
    sed 's/^/        /' "$scratch/curve"
    tables=$(grep -cE "^${contests[$number]}-(warm|cold): " "$scratch/curve") rows=$(grep -cE '^ +(1|2|4|8|16) +[0-9]' "$scratch/curve")
    if [ $status = 0 ] && [ "$tables" -gt 0 ] && [ "$rows" = $((tables * 5)) ]; then ok "every answer is right, whichever way the switch stands"; else bad "the curve (status $status)"; fi
    ! command -v gnuplot >/dev/null 2>&1 || if [ -s "$BUILD/bench/curves/${contests[$number]}-warm.svg" ]; then ok "the curve is drawn"; else bad "the curve is not drawn"; fi
}

for part; do
    case $part in
    graders | exercise | session | curve) "part_$part" ;;
    show) exec "$lesson/session.sh" ;;
    write)
        "$lesson/session.sh" >"$scratch/session" || { cat "$scratch/session"; exit 1; }
        awk -v session="$scratch/session" '
            /^<!-- session.sh -->$/ { print; there = 1; next }
            there && /^```$/ { print; if (open) { there = open = 0 } else { open = 1; while ((getline line < session) > 0) print line } next }
            !open' "$lesson/README.md" >"$scratch/README.md" && cp "$scratch/README.md" "$lesson/README.md"
        exit ;;
    *) echo "course/lesson.sh: no part \"$part\"" >&2; exit 2 ;;
    esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
