#!/bin/bash
# Holds gmtrace against the CUDA versions below: `make check-matrix`. For each of them
#   build    libgmtrace.so with its headers: hooks the same entries as the one of the plain build
#   ask      how its runtime asks the driver for entries, which preload/lookup.c relies on
#   program  a program for the GPU (tests/gpu/matrix.sh runs it): build/matrix/run, carried there
# Headers and runtimes are from PyPI, kept in build/matrix/cuda; what cannot be fetched is skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
matrix=$build/matrix
python=${PYTHON:-/usr/bin/python3}
cc=${CC:-cc}
carried_max=$((25 << 20))

# CUDA, the runtime's package, CUPTI's. Static runtimes are in them from 12.9 on.
versions='
11.8 nvidia-cuda-runtime-cu11==11.8.89  nvidia-cuda-cupti-cu11==11.8.87
12.0 nvidia-cuda-runtime-cu12==12.0.146 nvidia-cuda-cupti-cu12==12.0.146
12.2 nvidia-cuda-runtime-cu12==12.2.140 nvidia-cuda-cupti-cu12==12.2.142
12.4 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-cupti-cu12==12.4.127
12.8 nvidia-cuda-runtime-cu12==12.8.90  nvidia-cuda-cupti-cu12==12.8.90
12.9 nvidia-cuda-runtime-cu12==12.9.79  nvidia-cuda-cupti-cu12==12.9.79
13.0 nvidia-cuda-runtime==13.0.96       nvidia-cuda-cupti==13.0.85
13.1 nvidia-cuda-runtime==13.1.80       nvidia-cuda-cupti==13.1.115
13.2 nvidia-cuda-runtime==13.2.86       nvidia-cuda-cupti==13.2.86
13.5 nvidia-cuda-runtime==13.5.37       nvidia-cuda-cupti==13.5.25
'
# cuda_runtime_api.h needs the compiler's crt/host_defines.h; that of 13.0 does for all.
crt=nvidia-cuda-crt==13.0.88

passed=0 failed=0 skipped=0

verdict() # VERDICT NAME [TEXT]
{
	case $1 in
	ok) passed=$((passed + 1)) ;;
	FAIL) failed=$((failed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	echo "$1 $2${3:+: $3}"
}

# Unpacks a package's include/ and lib/ into a directory laid out like a toolkit.
fetch() # PACKAGE DIRECTORY
{
	local package=$1 to=$2 tmp platform platforms=() rc=1

	for platform in 1 2014 _2_17 _2_25 _2_27 _2_28; do
		platforms+=(--platform "manylinux${platform}_$(uname -m)")
	done
	tmp=$(mktemp -d) || return 1
	mkdir -p "$to/include" "$to/lib64"
	"$python" -m pip download -q --disable-pip-version-check --no-deps \
		--only-binary=:all: "${platforms[@]}" -d "$tmp" "$package" >"$tmp/log" 2>&1 &&
		"$python" -m zipfile -e "$tmp"/*.whl "$tmp" &&
		cp -r "$tmp"/nvidia/*/include/. "$to/include/" &&
		{ ! ls "$tmp"/nvidia/*/lib/libcudart* >/dev/null 2>&1 ||
			cp "$tmp"/nvidia/*/lib/libcudart* "$to/lib64/"; } && rc=0
	[ $rc = 0 ] || tail -1 "$tmp/log"
	rm -rf "$tmp"
	return $rc
}

fetch_version() # VERSION PACKAGE...
{
	local to=$matrix/cuda/$1 package

	[ ! -e "$to/complete" ] || return 0
	shift
	for package in "$@" "$crt"; do
		fetch "$package" "$to" || return 1
	done
	touch "$to/complete"
}

hooks() # LIBRARY
{
	nm -D --defined-only "$1" | awk '{ print $3 }' | sort
}

check_build() # VERSION
{
	local into=$matrix/build/$1

	if ! make --no-print-directory -s "-j$(nproc)" BUILD="$into" CUDA_HOME="$matrix/cuda/$1" \
		"$into/libgmtrace.so" >"$matrix/log" 2>&1; then
		verdict FAIL "build $1" "$(cat "$matrix/log")"
	elif ! diff <(hooks "$build/libgmtrace.so") <(hooks "$into/libgmtrace.so") \
		>"$matrix/log"; then
		verdict FAIL "build $1" "exports differ: $(cat "$matrix/log")"
	else
		verdict ok "build $1"
	fi
}

# The runtime is told from others by these (preload/lookup.c).
extent=$(($(sed -n 's/^#define RUNTIME_EXTENT[[:space:]]*\(0x[0-9a-f]*\)u.*/\1/p' preload/lookup.c)))
next_line_max=$(($(sed -n 's/^#define NEXT_LINE[[:space:]]*\(0x[0-9a-f]*\)u.*/\1/p' preload/lookup.c)))

check_asking() # NAME PROGRAM
{
	local said first next_line bytes below strangers

	said=$(LD_LIBRARY_PATH=$matrix/driver "$2" 2>&1 >/dev/null | grep first=) || {
		verdict FAIL "ask $1" "it never called cuInit"
		return
	}
	read -r first next_line bytes below strangers < <(sed "s/.*first='\([^']*\)'.*bytes=\(.*\) \
below=\(.*\) next_line=\(.*\) strangers=\(.*\)/'\1' \4 \2 \3 \5/" <<<"$said")
	if [ "$first" != "''" ] && [ "$next_line" -ge "$next_line_max" ]; then
		verdict FAIL "ask $1" "neither the empty name nor cuGetProcAddress after cuInit: $said"
	elif [ "$bytes" -ge "$extent" ] || [ "$below" != 0 ] || [ "$strangers" != 0 ]; then
		verdict FAIL "ask $1" "not in one go: $said"
	else
		verdict ok "ask $1" "$said"
	fi
}

link_program() # NAME LIBRARY...
{
	local into=$matrix/run/$1 version=${1%-static}

	shift
	mkdir -p "$into"
	"$cc" -std=gnu11 -O1 -g -isystem "$matrix/cuda/$version/include" tests/matrix/program.c \
		-o "$into/program" -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN' "$@" \
		>"$matrix/log" 2>&1
}

check_programs() # VERSION
{
	local lib=$matrix/cuda/$1/lib64 shared

	shared=$(echo "$lib"/libcudart.so.*)
	if ! link_program "$1" "$shared" || ! cp "$shared" "$matrix/run/$1/"; then
		verdict FAIL "program $1" "$(cat "$matrix/log")"
		return
	fi
	check_asking "$1" "$matrix/run/$1/program"
	[ -e "$lib/libcudart_static.a" ] || return
	if link_program "$1-static" "$lib/libcudart_static.a" -lpthread -ldl -lrt \
		-static-libgcc -Wl,--as-needed -lstdc++; then
		check_asking "$1-static" "$matrix/run/$1-static/program"
	else
		verdict FAIL "program $1-static" "$(cat "$matrix/log")"
	fi
}

rm -rf "$matrix/run"
mkdir -p "$matrix/driver"
"$cc" -std=gnu11 -O1 -Wall -Wextra -Werror -fPIC -shared tests/matrix/driver.c \
	-o "$matrix/driver/libcuda.so.1" || exit 1
while read -r version packages; do
	[ -n "$version" ] || continue
	# shellcheck disable=SC2086
	if ! why=$(fetch_version "$version" $packages); then
		verdict skip "$version" "cannot be fetched: $why"
		continue
	fi
	check_build "$version"
	check_programs "$version"
done <<<"$versions"

carried=$(du -sb "$matrix/run" 2>/dev/null | cut -f1)
[ "${carried:-0}" -le $carried_max ] ||
	verdict FAIL run "$carried bytes are to be carried to the GPU, more than $carried_max"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
