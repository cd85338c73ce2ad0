#!/bin/bash
# case: a free that the driver refuses leaves the block live, and it is reported
. "$(dirname "$0")/script.inc"

simulator_only

# The second free is that of the first input: two inputs leak instead of one.
export GMTSIM_FAULT=cuMemFree_v2:2:1
traced json=report.json "$PROGRAMS/error_path"
expect_status 0 "failed free"
expect_err "SUMMARY: leak: 20000 bytes in 2 blocks leaked"
expect_json report.json 'r["totals"]["allocations"], r["totals"]["frees"]' "(6, 4)"
expect_json report.json '[(l["bytes"], l["blocks"]) for l in r["leaks"]]' "[(20000, 2)]"
