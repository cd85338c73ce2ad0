#!/bin/bash
# Runs a leaky program under the tracer, on the GPU if there is one: demo.sh [BUILD]
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}

has_gpu()
{
	[ -e /dev/nvidiactl ] || nvidia-smi -L >/dev/null 2>&1 || return 1
	# A driver without a device, or a device without its library, is no GPU to run on.
	LD_LIBRARY_PATH=${LD_LIBRARY_PATH-} python3 -c 'import ctypes, sys
driver = ctypes.CDLL("libcuda.so.1")
sys.exit(driver.cuInit(0) != 0)' 2>/dev/null
}

# The one with a kernel where nvcc built it.
program=$build/tests/shared/demo
[ -x "$program" ] || program=$build/tests/shared/loop_of_n
if has_gpu; then
	where="on the GPU"
	simulated=
	static=$build/tests/static/$(basename "$program")
	[ ! -x "$static" ] || program=$static
else
	where="on the simulated CUDA (no GPU here)"
	simulated="LD_LIBRARY_PATH=$build/sim "
fi

source=$(ls tests/programs/"$(basename "$program")".c* | head -1)
echo "== The program, $source:"
sed -n '/^\/\*/d; /^#/d; /./,$p' "$source"
echo
echo "== Run $where:"
export GMTRACE_OPTIONS=${GMTRACE_OPTIONS:-kernels=cupti}
echo "\$ ${simulated}GMTRACE_OPTIONS=$GMTRACE_OPTIONS LD_PRELOAD=$build/libgmtrace.so $program"
echo
[ -z "$simulated" ] || export LD_LIBRARY_PATH=$build/sim
LD_PRELOAD=$build/libgmtrace.so "$program"
status=$?
echo
echo "== Its exit status: $status. For a CI gate: GMTRACE_OPTIONS=fail_on=leak"
exit $status
