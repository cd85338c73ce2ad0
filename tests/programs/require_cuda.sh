#!/bin/bash
# case: require_cuda turns no CUDA activity into status 24, if program= says which program
. "$(dirname "$0")/script.inc"

for gate in require_cuda=1 fail_on=nocuda; do
	traced $gate:program=no_cuda "$PROGRAMS/no_cuda"
	expect_status 24 "$gate"
	expect_err "no CUDA activity"
	expect_err "SUMMARY: no_cuda: "
	expect_err "gate failed"
	[ "$(cat out)" = "no CUDA here" ] || fail "the program's output changed"

	# A shell script's hundred children are not asked.
	traced $gate "$PROGRAMS/no_cuda"
	expect_status 0 "$gate without program="
	expect_silence "$gate without program="

	traced $gate:program=one_block "$PROGRAMS/one_block"
	expect_status 0 "$gate with CUDA"
	expect_err "gate passed"
done
