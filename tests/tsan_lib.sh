# shellcheck shell=bash
# tests/tsan_lib.sh - what tests/tsan.sh and tests/soak.sh share, on top of tests/lib.sh: programs run under ThreadSanitizer, and their reports.
#
# Reports go to files, so that none is lost in a log. clang's ThreadSanitizer knows 28 random bits of an address: where vm.mmap_rnd_bits is
# larger, programs are started through `setarch -R`, which gives them none; nobody has to change the machine.
export BUILD=${BUILD:-build-tsan}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export TSAN_LOG=$scratch/report
export TSAN_OPTIONS="log_path=$TSAN_LOG halt_on_error=0 exitcode=66 second_deadlock_stack=1 history_size=4 ${TSAN_OPTIONS:-}"
SETARCH=
[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -le 28 ] || SETARCH="setarch $(uname -m) -R"
export SETARCH
if [ -n "$SETARCH" ] && ! $SETARCH true 2>/dev/null; then
    echo "vm.mmap_rnd_bits is $(cat /proc/sys/vm/mmap_rnd_bits), and this place doesn't allow setarch -R (a container's seccomp profile?); as root: sysctl vm.mmap_rnd_bits=28" >&2
    exit 1
fi
[ -x "$BUILD/crabtree" ] || { echo "$BUILD/crabtree is not built (make tsan)" >&2; exit 1; }
cat >"$scratch/crabtree" <<EOS
#!/bin/sh
exec $SETARCH $PWD/$BUILD/crabtree "\$@"
EOS
chmod +x "$scratch/crabtree"
SERVER=$scratch/crabtree

report_count=0
reports() { # NAME: ok when no report has been written since the last call
    local found
    found=$(ls "$scratch"/report* 2>/dev/null | wc -l)
    if [ "$found" = 0 ]; then
        [ -n "${QUIET:-}" ] || ok "tsan: no report: $1"
        return 0
    fi
    found=$(cat "$scratch"/report* | grep -c '^WARNING: ThreadSanitizer')
    report_count=$((report_count + found))
    bad "tsan: $1: $found reports"
    cat "$scratch"/report* | grep -v '^=*$' | head -n "${TAIL:-60}" | cut -c 1-200 | sed 's/^/        | /'
    [ -z "${TSAN_KEEP:-}" ] || cat "$scratch"/report* >>"$TSAN_KEEP"
    rm -f "$scratch"/report*
    return 1
}
