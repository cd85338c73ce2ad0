#!/bin/bash
# case: each way to end keeps the program's status and output, and gives one report where it can
. "$(dirname "$0")/script.inc"

# ends HOW STATUS EXPECTED ENDED: the report tells how and with what the process ended
ends()
{
	traced "fail_on=leak:json=$1.$2.json" timeout 60 "$PROGRAMS/endings" "$1" "$2"
	expect_status "$3" "$1 $2"
	expect_err "gmtrace: SUMMARY: leak: 4096 bytes in 1 blocks leaked" 1
	expect_json "$1.$2.json" 'r["process"]["ended"], r["process"]["status"]' "('$4', $2)"
}

for how in return exit thread; do
	ends $how 0 23 exit
	[ "$(cat out)" = buffered ] || fail "$how: the program's output is lost"
	ends $how 7 7 exit
	[ "$(cat out)" = buffered ] || fail "$how: the program's output is lost"
done
for how in _exit _Exit quick_exit; do
	ends $how 0 23 _exit
	[ ! -s out ] || fail "$how: output that such an end drops"
	ends $how 7 7 _exit
done
expect_err "quick handler" 1

# The children of a fork without CUDA are silent; a child of vfork has its parent's memory.
ends fork 0 23 exit
expect_no_err "not so"

# While others allocate: what they do after the report was taken is no part of it. NVIDIA's runtime
# (13.0) tears itself down under them and crashes before our turn, with and without us.
plain=0
bash -c '"$0" busy 0; exit $?' "$PROGRAMS/endings" >/dev/null 2>&1 || plain=$?
traced fail_on=leak bash -c 'timeout 60 "$0" busy 0; exit $?' "$PROGRAMS/endings" 2>/dev/null
if [ $plain = 0 ]; then
	expect_status 23 busy
	expect_err "gmtrace: SUMMARY: leak: " 1
else
	expect_status $plain busy
fi

# No handler runs at these ends: no report, and the status is the program's.
traced fail_on=leak timeout 60 "$PROGRAMS/endings" exec 0
expect_status 6 exec
expect_no_err SUMMARY
traced fail_on=leak bash -c '"$0" abort 0 2>err.abort; exit $?' "$PROGRAMS/endings" 2>/dev/null
expect_status 134 abort

# A daemon: the parents go without a word, the grandchild reports. Its own gate is its own.
traced "report=daemon.txt" timeout 60 "$PROGRAMS/endings" daemon 0
expect_status 0 daemon
for _ in $(seq 100); do
	grep -qs SUMMARY daemon.txt && break
	sleep 0.1
done
grep -qs "SUMMARY: leak: 4096 bytes in 1 blocks" daemon.txt || fail "the daemon gave no report"
