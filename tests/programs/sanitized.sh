#!/bin/bash
# case: programs built with AddressSanitizer, LeakSanitizer, ThreadSanitizer and UBSan run under the
# tracer by README's recipe: theirs and ours are both found, and nothing else
. "$(dirname "$0")/script.inc"

simulator_only

# build COMPILER SANITIZER
build()
{
	"$1" -g -O0 -Werror -fsanitize="$2" -isystem "${CUDA_HOME:-/usr/local/cuda}/include" \
		-o "$1.$2" "$TOP/tests/programs/sanitized.c" -L"$BUILD/sim" -lcudart -pthread 2>err.build
}

# sanitized COMPILER SANITIZER HOW: leaves out, err and status
sanitized()
{
	local preload=$TRACER

	case $1.$2 in
	gcc.address) preload="$(gcc -print-file-name=libasan.so) $TRACER" ;;
	esac
	status=0
	what="$1 $2 $3"
	ASAN_OPTIONS=exitcode=${code:-1} LSAN_OPTIONS=exitcode=${code:-1} \
		TSAN_OPTIONS=ignore_noninstrumented_modules=1 \
		GMTRACE_OPTIONS=fail_on=leak LD_PRELOAD=$preload \
		timeout 60 "./$1.$2" "$3" >out 2>err || status=$?
}

ours()
{
	grep -q "^gmtrace: SUMMARY: leak: 4096 bytes in 1 blocks leaked" err || fail "$what: no report"
	grep -q "^      leak_device .*sanitized.c:" err || fail "$what: no stack"
}

theirs()
{
	grep -q "$1" err || fail "$what: $1 was not found"
	! grep -q "libgmtrace\|preload/" err || fail "$what: something was found in the tracer"
}

built=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	if build $compiler address; then
		built=1
		sanitized $compiler address none
		expect_status 23 "$what"
		ours
		sanitized $compiler address overflow
		expect_status 1 "$what"
		theirs "AddressSanitizer: heap-buffer-overflow"
		# Who ends the process at a leak leaves nobody his turn.
		sanitized $compiler address leak
		expect_status 1 "$what"
		theirs "LeakSanitizer: detected memory leaks"
		code=0 sanitized $compiler address leak
		expect_status 23 "$what"
		theirs "LeakSanitizer: detected memory leaks"
		ours
	fi
	if build $compiler leak; then
		sanitized $compiler leak none
		expect_status 23 "$what"
		ours
		code=0 sanitized $compiler leak leak
		expect_status 23 "$what"
		theirs "LeakSanitizer: detected memory leaks"
		ours
	fi
	if build $compiler thread; then
		sanitized $compiler thread none
		expect_status 23 "$what"
		ours
		sanitized $compiler thread race
		expect_status 66 "$what"
		theirs "ThreadSanitizer: data race .*sanitized.c:"
		theirs "ThreadSanitizer: reported 1 warnings"
		ours
	fi
	if build $compiler undefined; then
		sanitized $compiler undefined none
		expect_status 23 "$what"
		ours
	fi
done
[ $built = 1 ] || {
	head -3 err.build
	exit 77
}
