#!/bin/sh
# base/packages.sh run|test|bench|engines|course - installs the Debian/Ubuntu packages that are missing for that purpose, after one line that
# says which. On other systems it names them and stops.
set -eu
build="gcc make libuv1-dev libgmp-dev libssl-dev libutf8proc-dev zlib1g-dev"
optional=
case "${1:-}" in
run)   wanted="$build postgresql-client" ;;
test)  wanted="$build postgresql-client postgresql libpq-dev libcriterion-dev libsqlite3-dev clang util-linux"
       optional="python3-psycopg2 python3-psycopg libpostgresql-jdbc-java pgcli" ;;
bench) wanted="$build postgresql-client postgresql libpq-dev libsqlite3-dev gnuplot-nox valgrind" ;;
engines) wanted="$build libsqlite3-dev" optional="liblmdb-dev libdb5.3-dev libwiredtiger-dev" ;; # make bench-btree leaves out what cannot be had
course) wanted="$build postgresql-client procps gnuplot-nox" ;;
*) echo "usage: base/packages.sh run|test|bench|engines|course" >&2; exit 2 ;;
esac

present() { # also true for what a later major version provides: clang by clang-14, postgresql by postgresql-15
    dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q 'install ok installed'
}

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
    # Not Debian or Ubuntu: what matters is whether the tools and headers are there.
    missing=
    for tool in gcc make psql; do command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"; done
    for header in uv.h gmp.h openssl/ssl.h utf8proc.h zlib.h; do
        echo "#include <$header>" | gcc -E - >/dev/null 2>&1 || missing="$missing $header"
    done
    [ -z "$missing" ] && exit 0
    echo "crabtree: this system has no apt. Please install what these Debian packages hold, then run make again:" >&2
    echo "  $wanted" >&2
    echo "missing:$missing" >&2
    exit 1
fi

missing=
for package in $wanted $optional; do present "$package" || missing="$missing $package"; done
[ -z "$missing" ] && exit 0
echo "crabtree: installing missing packages:$missing"
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "crabtree: neither root nor sudo; as root, run: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A package list may be absent or old: refresh it only when the install does not work without.
# shellcheck disable=SC2086
if ! $as_root apt-get install -y -q --no-install-recommends $missing >"$log" 2>&1; then
    $as_root apt-get update -q >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    if [ -z "$optional" ]; then
        $as_root apt-get install -y -q --no-install-recommends $missing >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    else # one by one
        for package in $missing; do
            $as_root apt-get install -y -q --no-install-recommends "$package" >"$log" 2>&1 && continue
            case " $optional " in
            *" $package "*) echo "crabtree: $package cannot be installed here, and is left out" ;;
            *) cat "$log" >&2; exit 1 ;;
            esac
        done
    fi
fi
