#!/bin/bash
# course/grade.sh [N...] - tests the graders themselves (all lessons when none is named): each must accept the solution that is kept in
# solutions/, and reject every planted mistake there, wrong-*.c, in the very trial that its first lines name. With GRADE=N it grades the
# student's exercise.c of that lesson instead, and TRIAL=, SEED=, POLICY= and SEEDS= choose what is run.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
lesson_of() { # N: its folder
    local found
    found=$(echo course/"$1"-*/)
    [ -d "$found" ] || { echo "course/grade.sh: there is no lesson $1" >&2; exit 2; }
    echo "${found%/}"
}

if [ -n "${GRADE:-}" ]; then
    lesson=$(lesson_of "$GRADE")
    exec "$BUILD/$lesson/grade" "NAME=$lesson/exercise.c" "REPLAY=make grade N=$GRADE" "TRIAL=${TRIAL:-}" "SEED=${SEED:-}" "POLICY=${POLICY:-}" "SEEDS=${SEEDS:-}"
fi

[ $# -gt 0 ] || set -- 1 2 3 4 5
output=$(mktemp)
trap 'rm -f "$output"' EXIT
bad=0
for number; do
    lesson=$(lesson_of "$number")
    for source in "$lesson"/solutions/*.c; do
        name=$(basename "$source" .c)
        wanted=$(head -n 3 "$source" | tr '\n' ' ' | sed -n 's/.*(trial:[ *]*\([a-z]*\)).*/\1/p')
        "$BUILD/$lesson/solutions/$name" "SEEDS=${SEEDS:-}" >"$output" 2>&1
        status=$?
        found=$(sed -n 's/^FAILED  \([a-z]*\) .*/\1/p' "$output")
        case $name in
        solution) [ $status = 0 ]; verdict=$? what="accepted" ;;
        *) [ $status = 1 ] && [ -n "$wanted" ] && [ "$found" = "$wanted" ]; verdict=$? what="rejected by \"$wanted\"" ;;
        esac
        if [ $verdict = 0 ]; then
            echo "ok      lesson $number: $name is $what"
        else
            echo "FAILED  lesson $number: $name should be $what"
            tail -n 30 "$output" | sed 's/^/        | /'
            bad=$((bad + 1))
        fi
    done
done
[ $bad = 0 ]
