#!/bin/bash
# case: programs of CUDA 11.8 to 13.5 run as without the tracer, and their three leaks are named
. "$(dirname "$0")/../programs/script.inc"

# Made by `make check-matrix` where there is a network, and carried.
run=$BUILD/matrix/run
ls "$run"/*/program >/dev/null 2>&1 || exit 77

for program in "$run"/*/program; do
	version=$(basename "$(dirname "$program")")
	rm -f report.json
	plain=0
	"$program" >plain.out 2>plain.err || plain=$?
	[ $plain = 0 ] || fail "$version without the tracer: status $plain; $(cat plain.out)"
	traced json=report.json "$program"
	expect_status 0 "$version"
	cmp -s plain.out out || fail "$version: stdout differs: $(diff plain.out out)"
	# What the program asks the runtime for is the driver's call, not the runtime's.
	expect_json report.json "'$version', sorted((l['bytes'], l['blocks'], l['api']) for l in r['leaks'])" \
		"('$version', [(4096, 1, 'cudaMalloc'), (8192, 1, 'cudaHostAlloc'), (16384, 1, 'cuMemAlloc_v2')])"
done
