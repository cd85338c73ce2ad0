#!/bin/bash
# case: a chain of tools that wrap dlsym, dlopen and _exit, with the tracer first and last: each
# gets its turn, and RTLD_NEXT of those after us means what comes after them
. "$(dirname "$0")/script.inc"

other=$PROGRAMS/other_tool.plugin.so
next=$PROGRAMS/other_tool.next.plugin.so
last=$PROGRAMS/other_tool.last.plugin.so

# in_row PRELOAD: the program's own results, and its leak
in_row()
{
	status=0
	OTHER_TOOL=1 LD_PRELOAD=$1 GMTRACE_OPTIONS=json=${2}.json \
		"$PROGRAMS/other_tool" _exit >out 2>err || status=$?
	expect_status 5 "$2"
	[ "$(cat out)" = last ] || fail "$2: RTLD_NEXT or RTLD_DEFAULT: $(cat out)"
	[[ $1 != *"$other"* ]] || grep -q '^other tool: [1-9][0-9]* look-ups, [1-9][0-9]* opened, 1 ended$' err ||
		fail "$2: the other tool did not see what it sees alone"
}

in_row "$other $last" alone
in_row "$TRACER $next $last" next
expect_json next.json 'r["totals"]["leaked_bytes"]' 9000
in_row "$TRACER $other $last" first
expect_json first.json 'r["totals"]["leaked_bytes"]' 9000
in_row "$other $TRACER $last" second
expect_json second.json 'r["totals"]["leaked_bytes"]' 9000
in_row "$other $last $TRACER" last
expect_json last.json 'r["totals"]["leaked_bytes"]' 9000
