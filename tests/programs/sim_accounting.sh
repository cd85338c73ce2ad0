#!/bin/bash
# case: what is counted is what the driver counted, kind by kind
. "$(dirname "$0")/script.inc"

simulator_only

for program in loop_of_n error_path threads_cross_free async_freed_by_free managed_and_pinned \
	pins_pages peak_owners double_free_is_forwarded linked_driver getproc; do
	rm -f stats report.json
	GMTSIM_STATS=$PWD/stats traced json=report.json "$PROGRAMS/$program"
	expect_status 0 "$program"
	[ -s stats ] || fail "$program: the driver wrote no totals"
	# device=0 kind=device allocations=3 frees=2 reclaimed=0 live_blocks=1 live_bytes=2000
	while IFS=' =' read -r _ _ _ kind _ allocations _ frees _ reclaimed _ _ _ live_bytes; do
		kind="r['kinds']['$kind']"
		expect_json report.json "${kind}['allocations'], ${kind}['frees']" \
			"($allocations, $frees)"
		# Reclaimed by the end of the context, after the report's last event.
		[ "$reclaimed" != 0 ] ||
			expect_json report.json "${kind}['live_bytes']" "$live_bytes"
	done <stats
done
