#!/bin/bash
# The table of driver entries against the list of what the driver exports: every row exists, and
# every ABI variant of a row's entry is a row. What cuGetProcAddress answers for them, likewise.
# README's option table against options.def.
set -u
cd "$(dirname "$0")/.." || exit 1
symbols=tests/sim/driver-symbols.tsv
bad=0

complain()
{
	echo "check-apis: $*"
	bad=1
}

rows()
{
	sed -n "s/^GMT_\($1\)(\([A-Za-z0-9_]*\).*/\2/p" preload/driver_apis.def
}

base()
{
	sed 's/_ptsz$//; s/_ptds$//; s/_v[0-9]*$//'
}

exported=$(awk -F'\t' '!/^#/ { print $4 }' $symbols | sort -u)
hooked=$(rows 'ALLOC\|FREE\|CUSTOM')
duplicates=$(rows 'ALLOC\|FREE\|CUSTOM\|USED' | sort | uniq -d)
[ -z "$duplicates" ] || complain "more than one row: $duplicates"

for symbol in $(rows 'ALLOC\|FREE\|CUSTOM\|USED'); do
	grep -qxF "$symbol" <<<"$exported" || complain "$symbol: the driver exports no such entry"
done
bases=$(base <<<"$hooked" | sort -u)
for symbol in $exported; do
	grep -qxF "$(base <<<"$symbol")" <<<"$bases" || continue
	grep -qxF "$symbol" <<<"$hooked" || complain "$symbol: a variant without a row"
done

scripts/versions.sh preload/driver_apis.def $symbols | diff -q - preload/driver_versions.def >/dev/null ||
	complain "driver_versions.def is not of this table: scripts/versions.sh makes it"

# | `key` | or | `key`, `key` |: the first column of the table under "Options".
keys=$(sed -n 's/^GMT_OPTION([a-z]*, *\([a-z_]*\),.*/\1/p' preload/options.def | sort)
listed=$(sed -n '/^#.*[Oo]ptions/,/^#.*[^Oo]ptions$/p' README.md 2>/dev/null |
	sed -n 's/^| *\(`[^|]*`\) *|.*/\1/p' | tr ',' '\n' | sed 's/[` ]//g' | sort)
[ -n "$listed" ] || complain "README.md has no table of options"
for key in $(comm -23 <(echo "$keys") <(echo "$listed")); do
	complain "README.md lacks the option $key"
done
for key in $(comm -13 <(echo "$keys") <(echo "$listed")); do
	complain "README.md has the option $key, which there is not"
done
exit $bad
