#!/bin/bash
# case: without libunwind the report says so, and still has bytes and blocks
. "$(dirname "$0")/script.inc"

mkdir alone hidden
cp -L "$BUILD"/libgmtrace.so "$BUILD"/gmtrace "$BUILD"/*.so.* alone/
rm alone/libunwind*
# The loader stops at a library that is none.
echo none >hidden/libunwind.so.8
TRACER=$PWD/alone/libgmtrace.so

traced fail_on=leak:json=report.json env LD_LIBRARY_PATH="$PWD/hidden:${LD_LIBRARY_PATH-}" \
	"$PROGRAMS/loop_of_n"
expect_status 23 "no libunwind"
expect_err libunwind.so.8
expect_err "SUMMARY: leak: 41943040 bytes in 10 blocks leaked"
expect_json report.json 'r["totals"]["leaked_blocks"]' 10

# Who asked for none is not told.
traced stacks=0 env LD_LIBRARY_PATH="$PWD/hidden:${LD_LIBRARY_PATH-}" "$PROGRAMS/loop_of_n"
expect_no_err libunwind
expect_err "SUMMARY: leak: 41943040 bytes in 10 blocks leaked"
