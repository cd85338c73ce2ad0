#!/bin/bash
# case: a thousand short programs without CUDA print nothing and write nothing
. "$(dirname "$0")/script.inc"

# shellcheck disable=SC2016
traced fail_on=leak:json=report.json sh -c 'i=0; while [ $i -lt 1000 ]; do /bin/true || exit 1; i=$((i+1)); done'
expect_status 0 children
expect_silence children
[ ! -s out ] || fail "stdout"
[ ! -e report.json ] || fail "a report was written"
