#!/bin/sh
# Writes preload/driver_versions.def: for every base name with an interposed entry, which ABI symbol
# cuGetProcAddress answers from which version on. Usage: versions.sh TABLE SYMBOLS.tsv >DEF
# scripts/check-apis.sh holds the checked-in file against it.
set -eu

cat <<'HEAD'
/*
 * What cuGetProcAddress answers: GMT_ANSWER(base name, from version, per-thread stream, ABI symbol)
 * for each base name with an interposed entry. Made by scripts/versions.sh; not edited by hand.
 * Used where the driver hands out a pointer that no symbol of its own has.
 */
HEAD
rows=$("${CC:-cc}" -E -P -x c -DGMT_ALLOC\(symbol,...\)='ROW symbol;' \
	-DGMT_FREE\(symbol,...\)='ROW symbol;' -DGMT_CUSTOM\(symbol,...\)='ROW symbol;' \
	-DGMT_USED\(symbol\)= "$1" | tr ';' '\n' | sed -n 's/^ *ROW *\([A-Za-z0-9_]*\).*/\1/p')
awk -F '\t' -v rows="$rows" '
	BEGIN {
		split(rows, list, "\n")
		for (i in list)
			hooked[list[i]] = 1
	}
	{
		line[NR] = sprintf("GMT_ANSWER(%s, %d, %d, %s)", $1, $2, $3, $4)
		base[NR] = $1
		if ($4 in hooked)
			wanted[$1] = 1
	}
	END {
		for (i = 1; i <= NR; i++)
			if (base[i] in wanted)
				print line[i]
	}' "$2"
