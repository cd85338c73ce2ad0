#!/bin/bash
# Applies .clang-format: format.sh, or format.sh --check to name the files that differ.
set -u
cd "$(dirname "$0")/.." || exit 1
export CLANG_FORMAT=${CLANG_FORMAT:-clang-format}

sources()
{
	git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cc' '*.cpp' '*.cu'
}

if [ "${1-}" != --check ]; then
	sources | xargs -0 -n 16 -P 2 "$CLANG_FORMAT" -i
	exit
fi
# shellcheck disable=SC2016
sources | xargs -0 -n 1 -P 2 sh -c '[ ! -e "$1" ] || "$CLANG_FORMAT" --dry-run -Werror "$1" 2>/dev/null || {
	echo "format: $1 (make format)"
	exit 1
}' sh
