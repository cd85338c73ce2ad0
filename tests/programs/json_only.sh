#!/bin/bash
# case: report=none prints nothing and still writes the JSON report
. "$(dirname "$0")/script.inc"

traced report=none:json=report.json:fail_on=leak "$PROGRAMS/one_block"
expect_status 23 report=none
expect_silence report=none
expect_json report.json 'r["totals"]["leaked_bytes"], r["verdict"]["gate"]' "(4096, 'failed')"
