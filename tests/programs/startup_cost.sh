#!/bin/bash
# case: what a process without CUDA pays for the preload is to load it: a bound on instructions
. "$(dirname "$0")/script.inc"

simulator_only
command -v valgrind >/dev/null || exit 77

# instructions [PRELOAD]: of /bin/true, with what the loader does
instructions()
{
	LD_PRELOAD=${1-} valgrind --tool=callgrind --callgrind-out-file=/dev/null /bin/true 2>&1 |
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

without=$(instructions)
with=$(instructions "$TRACER")
[ -n "$with" ] && [ -n "$without" ] || exit 77
echo "$with $without" >out
# Measured: 104,000 more than 127,000, nearly all of it the loader binding our names.
[ $((with - without)) -lt 150000 ] || fail "$((with - without)) instructions more than $without"
