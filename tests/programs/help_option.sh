#!/bin/bash
# case: help=1 lists every key on stderr, and ends
. "$(dirname "$0")/script.inc"

traced help=1 "$PROGRAMS/no_cuda"
expect_status 0 help=1
[ ! -s out ] || fail "the program ran, or help went to stdout"
sed -n 's/^GMT_OPTION([a-z]*, *\([a-z_]*\),.*/\1/p' "$TOP/preload/options.def" |
	while read -r key; do
		grep -q "\\b$key\\b" err || fail "help=1 lacks $key"
	done || exit 1
