#!/bin/bash
# case: an unknown option and a bad value warn once each, and the defaults hold
. "$(dirname "$0")/script.inc"

traced "colour=blue:min_leak_bytes=lots:exitcode=0:fail_on=leak,nonsense:stacks" \
	"$PROGRAMS/one_block"
expect_status 0 "bad options"
for what in colour min_leak_bytes exitcode fail_on stacks; do
	expect_err "$what" 1
done
expect_err make_weights
expect_err "4,096"

# Good ones beside a bad one still count.
traced "colour=blue:fail_on=leak:exitcode=300" "$PROGRAMS/one_block"
expect_status 23 "a good option beside bad ones"

# Without CUDA nobody is told.
traced "colour=blue" /bin/true
expect_status 0 "no CUDA"
expect_silence "no CUDA"
