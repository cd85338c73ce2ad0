#!/bin/bash
# case: name, UUID and memory of the device are those that nvidia-smi shows
. "$(dirname "$0")/../programs/script.inc"

command -v nvidia-smi >/dev/null || exit 77
line=$(nvidia-smi --query-gpu=name,uuid --format=csv,noheader 2>/dev/null | head -1)
[ -n "$line" ] || exit 77
traced json=report.json "$PROGRAMS/one_block"
expect_json report.json 'r["devices"][0]["name"] + ", " + r["devices"][0]["uuid"]' "$line"
