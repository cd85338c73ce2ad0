#!/bin/bash
# What libgmtrace.so shows the world: check-exports.sh [BUILD]. Builds it if it is not there.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
library=$build/libgmtrace.so
bad=0

complain()
{
	echo "check-exports: $*"
	bad=1
}

[ -e "$library" ] || make --no-print-directory "BUILD=$build" "$library" >/dev/null || exit 1

for needed in $(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in
	libc.so.6 | ld-linux-*.so.*) ;;
	*) complain "needs $needed" ;;
	esac
done

# name@VERSION of what it defines, and of what it wants from others.
dynamic()
{
	readelf --dyn-syms -W "$library" | awk -v defined="$1" \
		'NR > 3 && $5 != "LOCAL" && $8 != "" && ($7 != "UND") == defined { print $8 }'
}

wanted=$(scripts/exports.sh preload/driver_apis.def | tr -d '\t;' | grep '^cu'; echo dlsym)
for symbol in $(dynamic 1); do
	case $symbol in
	# Beside the rows, what the contract allows, no more.
	gmtrace_* | dlsym | dlopen | _exit | _Exit | quick_exit | cupti[A-Z]*) ;;
	*) grep -qxF "$symbol" <<<"$wanted" || complain "exports $symbol" ;;
	esac
done
for symbol in $wanted; do
	dynamic 1 | grep -qxF "$symbol" || complain "does not export $symbol"
done

# glibc 2.34 is the oldest that we run on.
for symbol in $(dynamic 0); do
	[[ $symbol != *GLIBC_PRIVATE* ]] || complain "needs $symbol"
	version=$(sed -n 's/.*@*GLIBC_\([0-9.]*\).*/\1/p' <<<"$symbol")
	[ -n "$version" ] || continue
	[ "$(printf '%s\n2.34\n' "$version" | sort -V | tail -1)" = 2.34 ] ||
		complain "needs $symbol"
done

# Initial-exec thread-locals come out of a small reserve when the library is opened late.
tls=$(readelf -lW "$library" | awk '$1 == "TLS" { print strtonum($6) }' 2>/dev/null)
[ -n "$tls" ] || tls=$(($(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')))
[ "${tls:-0}" -le 64 ] || complain "has $tls bytes of thread-local memory, 64 at most"
exit $bad
