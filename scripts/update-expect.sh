#!/bin/bash
# Writes the expected reports anew, from what the programs say now: update-expect.sh [PATTERN...]
# Review the difference line by line: what it says is what users will be told.
set -eu
cd "$(dirname "$0")/.."
make --no-print-directory all
python3 tests/run.py --build "${BUILD:-build}" --update "$@"
git --no-pager diff --stat -- tests/programs
