#!/bin/bash
# Which part may include what, what lies at the top, and how long a file may be.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

complain()
{
	echo "check-layers: $*"
	bad=1
}

# The project's own headers that a file includes.
includes()
{
	sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"
}

# report/ is a function of a ledger; the reader of traces knows their format as well.
for file in report/*.[ch] report/*.cc; do
	[ -e "$file" ] || continue
	for header in $(includes "$file"); do
		case $file:$header in
		*:report/* | *:preload/event.h | *:preload/ledger.h | *:preload/arena.h) ;;
		report/read_trace.c:preload/trace.h | report/read_rows.c:preload/trace.h) ;;
		*) complain "$file includes $header" ;;
		esac
	done
done

# The ledger and what it stands on know neither CUDA, locks nor the report.
pure='arena|block|event|ledger|ledger_internal|ledger_vmm|pages'
for file in preload/arena.[ch] preload/ledger*.[ch] preload/pages.[ch] preload/block.h \
	preload/event.h; do
	for header in $(includes "$file"); do
		[[ $header =~ ^preload/($pure)\.h$ ]] || complain "$file includes $header"
	done
done

# One file knows all three.
for file in preload/*.[ch] cupti/*.[ch]; do
	for header in $(includes "$file"); do
		case $file:$header in
		preload/init.c:*) ;;
		preload/*:report/* | cupti/*:report/* | preload/*:cupti/*)
			complain "$file includes $header" ;;
		esac
	done
done

# Who may see the vendor's headers. wrap.h is part of the files that define hooks.
for file in $(grep -lE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(cuda|cupti|nvToolsExt|driver_types)' \
	preload/*.[ch] report/*.[ch]); do
	case $file in
	preload/wrap_*.c | preload/wrap.h | preload/lookup.c | preload/real.c) ;;
	*) complain "$file includes a CUDA header" ;;
	esac
done

# libunwind has one owner, and so has elfutils.
for file in $(grep -lE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<libunwind' \
	preload/*.[ch] cupti/*.[ch] report/*.[ch]); do
	[ "$file" = preload/stack.c ] || complain "$file includes libunwind's header"
done
for file in $(grep -lE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(elfutils|dwarf|libelf|gelf)' \
	preload/*.[ch] cupti/*.[ch] report/*.[ch] report/*.cc 2>/dev/null); do
	[[ $file == report/symbolize* ]] || complain "$file includes elfutils"
done

# In the tracer the public ones are our own filter, or lead to it.
grep -nE '(^|[^_[:alnum:]>.])dl(sym|open|mopen)[[:space:]]*\(' preload/*.c cupti/*.c |
	grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' >/tmp/check-layers.$$ || true
while IFS= read -r line; do
	complain "call gmt_real_dlsym or gmt_real_dlopen: $line"
done </tmp/check-layers.$$
rm -f /tmp/check-layers.$$

for entry in *; do
	case $entry in
	Makefile | preload | cupti | report | tests | scripts | README.md | LICENSE | build) ;;
	*) complain "$entry does not belong at the top level" ;;
	esac
done

for file in preload/*.[chS] cupti/*.[ch] report/*.[ch] report/*.cc; do
	[ -e "$file" ] || continue
	lines=$(wc -l <"$file")
	if [ "$lines" -gt 500 ]; then
		complain "$file has $lines lines"
	elif [ "$lines" -gt 400 ]; then
		echo "check-layers: $file has $lines lines: it wants splitting (a warning)"
	fi
done
exit $bad
