#!/bin/bash
# case: paths are expanded, directories made, and a file that exists is not overwritten
. "$(dirname "$0")/script.inc"

traced 'report=deep/er/%e.txt:json=%e-%p%%.json' "$PROGRAMS/one_block"
[ "$(wc -l <err)" = 1 ] || fail "more than the summary was printed"
expect_err "SUMMARY: leak: 4096 bytes in 1 blocks leaked"
grep -q make_weights deep/er/one_block.txt || fail "no report in deep/er/one_block.txt"
grep -q '^gmtrace: SUMMARY: ' deep/er/one_block.txt || fail "no SUMMARY in deep/er/one_block.txt"
set -- one_block-*%.json
expect_json "$1" '"one_block-%d%%.json" % r["process"]["pid"]' "$1"

WHERE=there traced 'json=%q{WHERE}-%r.json' env RANK=3 "$PROGRAMS/one_block"
expect_json there-3.json 'r["process"]["rank"]' 3

echo mine >taken.json
traced json=taken.json "$PROGRAMS/one_block"
[ "$(cat taken.json)" = mine ] || fail "a file that existed was overwritten"
set -- taken.json.*
expect_json "$1" '"taken.json.%d" % r["process"]["pid"]' "$1"

traced 'json="a:b.json"' "$PROGRAMS/one_block"
expect_json a:b.json 'r["totals"]["leaked_blocks"]' 1
