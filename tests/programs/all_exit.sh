#!/bin/bash
# case: when many threads end the process at once, there is one whole report all the same
. "$(dirname "$0")/script.inc"
simulator_only # NVIDIA's runtime crashes when it is left by several threads at once

for _ in $(seq 10); do
	traced fail_on=leak timeout 60 "$PROGRAMS/all_exit" together
	expect_status 5 "all at once"
	expect_err "gmtrace: SUMMARY: leak: 3145728 bytes in 1 blocks leaked" 1
done
