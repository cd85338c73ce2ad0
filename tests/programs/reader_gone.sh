#!/bin/bash
# case: when nobody reads standard error any more, the program ends as it would, without SIGPIPE
. "$(dirname "$0")/script.inc"

for options in fail_on=none nonsense=1 "json=report.json"; do
	status=$(
		GMTRACE_OPTIONS=$options LD_PRELOAD=$TRACER bash -c '"$0"; echo $?' "$PROGRAMS/one_block" \
			2> >(exec true)
	)
	[ "$status" = 0 ] || fail "$options: status $status"
done
expect_json report.json 'r["totals"]["leaked_bytes"]' 4096

# The same where the library itself has to write.
mkdir alone
cp "$TRACER" "$(dirname "$TRACER")"/libunwind.so.8 "$(dirname "$TRACER")"/liblzma.so.5 alone
status=$(LD_PRELOAD=$PWD/alone/libgmtrace.so bash -c 'sleep 0.2; "$0"; echo $?' \
	"$PROGRAMS/one_block" 2> >(exec true))
[ "$status" = 0 ] || fail "without gmtrace: status $status"
