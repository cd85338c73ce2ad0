#!/bin/bash
# Applies .clang-format: format.sh, or format.sh --check to name what differs.
set -u
cd "$(dirname "$0")/.." || exit 1
mode=-i
[ "${1-}" != --check ] || mode='--dry-run -Werror'

# shellcheck disable=SC2086
git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cc' '*.cpp' '*.cu' |
	xargs -0 -n 16 -P 2 "${CLANG_FORMAT:-clang-format}" $mode
