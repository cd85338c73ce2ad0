#!/bin/bash
# case: a program ends as it would alone, whatever it, its threads, its libraries and its children
# do meanwhile, and the report is there
. "$(dirname "$0")/script.inc"

simulator_only

# A thread is inside the driver: neither other calls nor the end wait for it.
start=$(date +%s%N)
GMTSIM_SLOW=cuMemAllocManaged:8000000 traced json=slow.json timeout 30 "$PROGRAMS/exits" slow
expect_status 3 slow
expect_json slow.json 'r["totals"]["leaked_bytes"], r["totals"]["frees"]' "(4096, 100)"
[ $((($(date +%s%N) - start) / 1000000)) -lt 6000 ] || fail "slow: the end waited for a call"

# exit from an exit handler, with frees before and after.
traced fail_on=leak:json=handler.json timeout 30 "$PROGRAMS/exits" handler
expect_status 6 handler
expect_err "SUMMARY: leak: 4096 bytes in 1 blocks leaked" 1

# Children of a process with CUDA are silent, and the files are the parent's.
traced fail_on=leak:json=children.json timeout 30 "$PROGRAMS/exits" children
expect_status 23 children
expect_err "gmtrace: " 2
expect_json children.json 'r["totals"]["leaked_bytes"]' 4096
[ "$(ls children.json*)" = children.json ] || fail "children: $(ls children.json*)"

# A child that uses CUDA first has its own report, of its own memory.
traced fail_on=leak:json=first.%p.json timeout 30 "$PROGRAMS/exits" child_first
expect_status 23 child_first
expect_err "SUMMARY: leak: 3000 bytes in 1 blocks" 1
expect_err "SUMMARY: leak: 2000 bytes in 1 blocks" 1
expect_err "SUMMARY: leak: 500 bytes in 1 blocks" 1
[ "$(find . -name 'first.*.json' | wc -l)" = 3 ] || fail "child_first: $(ls)"

# What children inherit is the program's affair.
traced "" "$PROGRAMS/exits" shells
expect_status 0 shells
[ "$(cat out)" = "1: $TRACER
2: none
3: " ] || fail "shells: LD_PRELOAD of the children"

# The program that writes the report is not traced, and sees nothing of the application's.
mkdir alone
cp "$BUILD"/*.so* alone/
cat >alone/gmtrace <<SCRIPT
#!/bin/bash
env >$PWD/env.gmtrace
echo /proc/self/fd/* >$PWD/fd.gmtrace
SCRIPT
chmod +x alone/gmtrace
exec 7</dev/null
SECRET=1 TRACER=$PWD/alone/libgmtrace.so traced "" "$PROGRAMS/loop_of_n"
exec 7<&-
expect_status 0 "a gmtrace that does nothing"
expect_err "SUMMARY: leak: 41943040 bytes in 10 blocks leaked" 1
[ -s env.gmtrace ] || fail "gmtrace was not started"
! grep -q "^\(LD_PRELOAD\|GMTRACE_OPTIONS\|SECRET\|LD_LIBRARY_PATH\)=" env.gmtrace ||
	fail "gmtrace inherits: $(cat env.gmtrace)"
! grep -q "/7\b" fd.gmtrace || fail "gmtrace inherits descriptors: $(cat fd.gmtrace)"

# A library that uses the driver before our constructor and after main, and ends the process there.
# library HOW STATUS STDOUT LEAKED ALLOCATIONS
library()
{
	status=0
	EXITS_BY=$1 GMTRACE_OPTIONS=fail_on=leak:json=library.$1.json timeout 30 \
		env LD_PRELOAD="$TRACER $PROGRAMS/exits.library.plugin.so" "$PROGRAMS/no_cuda" \
		>out 2>err || status=$?
	expect_status "$2" "library $1"
	[ "$(cat out)" = "$3" ] || fail "library $1: stdout"
	expect_json "library.$1.json" 'r["totals"]["leaked_bytes"], r["totals"]["allocations"]' "($4, $5)"
}
library return 23 "no CUDA here" 5000 3
library exit 8 "no CUDA here" 5000 3
library _exit 9 "" 5000 3
# Before main, and before our constructor: no destructor runs.
library constructor 23 "" 3000 2
