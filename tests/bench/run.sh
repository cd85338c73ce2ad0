#!/bin/bash
# What gmtrace costs: the same workload without it, with it, and without stacks, in turns, in one
# run; medians and ratios. run.sh [BUILD] [ROUNDS]. On the GPU if there is one, else on the
# simulated CUDA, whose driver costs about half of the real one's.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build} rounds=${2:-9}
pairs=$build/tests/bench/pairs
if ! { [ -e /dev/nvidiactl ] || nvidia-smi -L >/dev/null 2>&1; }; then
	export LD_LIBRARY_PATH=$build/sim
fi

traced()
{
	LD_PRELOAD=$PWD/$build/libgmtrace.so GMTRACE_OPTIONS=report=none:$1 "$pairs" "${@:2}"
}

# WORKLOAD DEPTH COUNT
compare()
{
	local plain=() full=() bare=()

	for ((i = 0; i < rounds; i++)); do
		plain+=("$("$pairs" "$@")")
		full+=("$(traced stacks=1 "$@")")
		bare+=("$(traced stacks=0 "$@")")
	done
	printf '%s\n' "$(median "${plain[@]}") $(median "${full[@]}") $(median "${bare[@]}")" |
		awk -v name="$1, stack of $2" '{
			printf "%-22s %8.0f ns %8.0f ns  %.2fx %8.0f ns  %.2fx\n",
				name, $1, $2, $2 / $1, $3, $3 / $1 }'
}

median()
{
	printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

printf '%-22s %11s %18s %18s\n' "a pair of" "no tool" "gmtrace" "stacks=0"
compare async 10 100000
compare async 64 100000
compare malloc 10 20000
