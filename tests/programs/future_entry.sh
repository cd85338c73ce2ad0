#!/bin/bash
# case: coverage names the entries that were passed through, by whichever way they were got, and
# only those: not what the driver and CUPTI look up for themselves
. "$(dirname "$0")/script.inc"

simulator_only

GMTSIM_FUTURE=1 traced json=report.json "$PROGRAMS/future_entry"
expect_status 0 future_entry
expect_json report.json '"cuMemAlloc" in r["coverage"]["passed_through"]' True
expect_json report.json '"cuDeviceGet" in r["coverage"]["passed_through"]' True
expect_json report.json '"cuInit" in r["coverage"]["passed_through"]' False

# The simulated CUPTI asks for entries that nobody else asks for by these names.
[ -e "$BUILD/sim/libcupti.so.13" ] || exit 0
GMTSIM_SELF=1 traced json=cupti.json:kernels=cupti "$PROGRAMS/loop_of_n"
expect_status 0 loop_of_n
expect_json cupti.json 'r["coverage"]["cupti"]' on
expect_json cupti.json '[n for n in r["coverage"]["passed_through"] if n.startswith("cuStreamGetId_")]' "[]"
expect_json cupti.json 'r["coverage"]["routes"]' \
	"{'symbol': 0, 'dlsym': 0, 'getproc': 10, 'cupti': 0}"
