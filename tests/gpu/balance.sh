#!/bin/bash
# case: the balance of a real device adds up to what its driver says is used
. "$(dirname "$0")/../programs/script.inc"

for program in pins_pages async_freed_by_free loop_of_n demo; do
	[ -x "$PROGRAMS/$program" ] || continue
	rm -f report.json
	traced json=report.json "$PROGRAMS/$program"
	expect_status 0 "$program"
	expect_json report.json 'r["devices"][0]["balance"]["driver_used"] ==
		sum(r["devices"][0]["balance"][k] or 0 for k in ("tracked", "rounding", "pinned_pages",
		"pool_idle", "graph_idle", "context", "other_processes", "unaccounted"))' True
	# A context takes hundreds of MiB; more than all that is ours would be a mistake of sign.
	expect_json report.json '0 < r["devices"][0]["balance"]["unaccounted"] <
		r["devices"][0]["total_bytes"]' True
done
