#!/bin/bash
# case: a report that cannot be written is said so, and the program is still reported on
. "$(dirname "$0")/script.inc"

echo occupied >file

traced report=file/report.txt "$PROGRAMS/one_block"
expect_status 0 "unwritable report"
expect_err file/report.txt
expect_err "SUMMARY: leak: 4096 bytes in 1 block"

traced json=file/report.json:fail_on=leak "$PROGRAMS/one_block"
expect_status 23 "unwritable json"
expect_err file/report.json
expect_err make_weights

if [ -e /dev/full ]; then
	traced report=/dev/full:fail_on=leak "$PROGRAMS/one_block"
	expect_status 23 "full disk"
	expect_err /dev/full
fi
[ "$(cat file)" = occupied ] || fail "the file was changed"
