#!/bin/bash
# case: without the program gmtrace every frame is module, offset and build-id
. "$(dirname "$0")/script.inc"

mkdir alone
cp -L "$BUILD"/libgmtrace.so "$BUILD"/*.so.* alone/
TRACER=$PWD/alone/libgmtrace.so

check()
{
	traced fail_on=leak:json=report.json "$PROGRAMS/one_block"
	expect_status 23 "$1"
	expect_err "gmtrace is not beside libgmtrace.so"
	expect_err "SUMMARY: leak: 4096 bytes in 1 block"
	grep -q 'one_block+0x[0-9a-f]' err || fail "no module with an offset"
	expect_no_err '??'
	expect_json report.json 'r["totals"]["leaked_bytes"]' 4096
	expect_json report.json 'all(f["module"] and f["offset"] for f in r["leaks"][0]["stack"])' \
		True
	expect_json report.json \
		'len(next(f["build_id"] for f in r["leaks"][0]["stack"] if "one_block" in f["module"]))' 40
	rm report.json
}

check "no gmtrace"
# One that does not answer is none.
printf '#!/bin/sh\nexit 1\n' >alone/gmtrace
chmod +x alone/gmtrace
check "a gmtrace that fails"
