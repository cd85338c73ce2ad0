#!/bin/bash
# case: leaks below min_leak_bytes or min_leak_blocks are reported and pass the gate
. "$(dirname "$0")/script.inc"

check()
{
	traced "fail_on=leak:$1" "$PROGRAMS/$2"
	expect_status "$3" "$1 $2"
	expect_err "gate $([ "$3" = 0 ] && echo passed || echo failed)"
}

# One block of 4,096 bytes.
check min_leak_bytes=4096 one_block 23
check min_leak_bytes=4097 one_block 0
check min_leak_bytes=4K one_block 23
check min_leak_blocks=1 one_block 23
check min_leak_blocks=2 one_block 0
# Ten blocks of 4 MiB.
check min_leak_bytes=40M loop_of_n 23
check min_leak_bytes=41943041 loop_of_n 0
check min_leak_blocks=10 loop_of_n 23
check min_leak_blocks=11 loop_of_n 0
check min_leak_bytes=1G:min_leak_blocks=1 loop_of_n 0
# What is not counted by the gate is still in the report.
traced fail_on=leak:min_leak_bytes=1G:json=report.json "$PROGRAMS/one_block"
expect_json report.json 'r["totals"]["leaked_bytes"]' 4096
expect_json report.json 'r["verdict"]["gate"]' passed
