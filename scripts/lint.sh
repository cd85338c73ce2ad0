#!/bin/bash
# All checks that run no test: `make lint`. Names everything that is wrong, not the first alone.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

check()
{
	"$@" || {
		echo "lint: $* failed"
		bad=1
	}
}

check scripts/format.sh --check
check scripts/check-layers.sh
check scripts/check-exports.sh
check scripts/check-apis.sh
if command -v shellcheck >/dev/null; then
	git ls-files -z --cached --others --exclude-standard -- '*.sh' .ci/run |
		check xargs -0 shellcheck -S warning -x -P SCRIPTDIR
else
	echo "lint: no shellcheck, scripts were not checked"
fi
check "${PYTHON:-python3}" -c 'import ast, pathlib, sys
for path in sys.argv[1:]: ast.parse(pathlib.Path(path).read_text(), path)' tests/*.py
exit $bad
