#!/bin/bash
# case: with kernels=cupti we may be first; a program that then asks for CUPTI is told so by CUPTI,
# as README says, and with the default it has it
. "$(dirname "$0")/script.inc"

simulator_only
[ -e "$BUILD/sim/libcupti.so.13" ] || exit 77

traced json=report.json "$PROGRAMS/own_cupti" after
expect_status 0 "kernels=args"
expect_json report.json 'r["coverage"]["cupti"], r["totals"]["leaked_bytes"]' "('off', 2097152)"

traced json=busy.json:kernels=cupti "$PROGRAMS/own_cupti"
expect_status 0 "the program was first"
expect_err "CUPTI is in use by another tool"
expect_json busy.json 'r["coverage"]["cupti"], r["totals"]["leaked_bytes"]' "('busy', 2097152)"

traced json=first.json:kernels=cupti "$PROGRAMS/own_cupti" after
expect_status 40 "we were first"
expect_json first.json 'r["coverage"]["cupti"], r["totals"]["leaked_bytes"]' "('on', 2097152)"
