#!/bin/bash
# case: a program without stdin, stdout and stderr is reported on in files
. "$(dirname "$0")/script.inc"

status=0
GMTRACE_OPTIONS=report=report.txt:json=report.json:fail_on=leak LD_PRELOAD=$TRACER \
	"$PROGRAMS/one_block" <&- >&- 2>&- || status=$?
expect_status 23 "closed descriptors"
grep -q make_weights report.txt || fail "no report"
expect_json report.json 'r["totals"]["leaked_bytes"]' 4096

rm report.json
status=0
GMTRACE_OPTIONS=json=report.json LD_PRELOAD=$TRACER "$PROGRAMS/one_block" <&- >&- 2>&- || status=$?
expect_status 0 "report on a closed stderr"
expect_json report.json 'r["totals"]["leaked_bytes"]' 4096
