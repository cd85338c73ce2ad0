#!/bin/bash
# case: opening libraries that allocate while others allocate never hangs, and all is counted
. "$(dirname "$0")/script.inc"

# A plugin with a static runtime of NVIDIA's (13.0) can be opened only a few times in a process, with
# or without the tracer: it takes thread-local memory of the reserve and never gives it back.
[ -z "${GPU-}" ] || PROGRAMS=$BUILD/tests/shared
traced json=report.json timeout 50 "$PROGRAMS/loader_lock" go
expect_status 0 loader_lock
expect_json report.json 'r["totals"]["leaked_bytes"], r["totals"]["leaked_blocks"]' "(77, 1)"
expect_json report.json 'r["totals"]["allocations"] == r["totals"]["frees"] + 1 > 300' True
expect_json report.json 'r["coverage"]["dropped_events"]' 0
