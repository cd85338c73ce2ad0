#!/bin/bash
# case: program= traces the programs whose name it fits, and leaves others alone
. "$(dirname "$0")/script.inc"

traced "program=one_*" "$PROGRAMS/one_block"
expect_err SUMMARY
traced "program=one_*:fail_on=leak:json=report.json" "$PROGRAMS/loop_of_n"
expect_status 0 "another program"
expect_silence "another program"
[ ! -e report.json ] || fail "a report was written for another program"
