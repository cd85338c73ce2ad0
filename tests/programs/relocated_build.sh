#!/bin/bash
# case: the build directory and the installed layout work elsewhere
. "$(dirname "$0")/script.inc"

mkdir copy copy/lib copy/lib/gmtrace copy/bin moved
cp -L "$BUILD"/libgmtrace.so "$BUILD"/gmtrace "$BUILD"/*.so.* moved/
cp -L "$BUILD"/libgmtrace.so "$BUILD"/*.so.* copy/lib/gmtrace/
cp -L "$BUILD"/gmtrace copy/bin/

for TRACER in "$PWD/moved/libgmtrace.so" "$PWD/copy/lib/gmtrace/libgmtrace.so"; do
	traced fail_on=leak "$PROGRAMS/one_block"
	expect_status 23 "$TRACER"
	expect_err make_weights
	expect_err one_block.c
	# Also with libraries of the same names in the way.
	loaded=$(LD_TRACE_LOADED_OBJECTS=1 "$PWD/moved/gmtrace")
	case $loaded in
	*"$PWD"/moved/libdw.so.1*) ;;
	*) fail "gmtrace loads another libdw: $loaded" ;;
	esac
done
