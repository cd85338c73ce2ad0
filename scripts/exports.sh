#!/bin/sh
# Writes the linker's export map of libgmtrace.so from the table of entries: exports.sh TABLE >MAP
# The map is anonymous: programs ask for cudaMalloc@libcudart.so.13 and the like, and the linker
# would pass a named version by.
set -eu

echo '{ global:'
"${CC:-cc}" -E -P -x c -DGMT_ALLOC\(symbol,...\)='EXPORT symbol;' \
	-DGMT_FREE\(symbol,...\)='EXPORT symbol;' -DGMT_CUSTOM\(symbol,...\)='EXPORT symbol;' \
	-DGMT_USED\(symbol\)= "$1" | tr ';' '\n' | sed -n 's/^ *EXPORT *\([A-Za-z0-9_]*\).*/\t\1;/p'
echo '	dlsym; dlopen; _exit; _Exit; quick_exit; gmtrace_*;'
echo 'local: *; };'
