#!/bin/bash
# case: a process without CUDA behaves as if we were not there: what it prints, how it ends, its
# environment, files, threads and libraries (GM66 a, d)
. "$(dirname "$0")/script.inc"

# The options of a whole CI job, which must move nothing either.
export GMTRACE_OPTIONS=fail_on=leak,peak:max_peak=1:json=$PWD/report-%p.json:report=$PWD/report-%p.txt

# same WHAT COMMAND...: in a directory each, with the same stdout, stderr and status
same()
{
	local what=$1 with=0 without=0

	shift
	rm -rf with without
	mkdir with without
	(cd without && "$@" >../out.without 2>../err.without </dev/null) || without=$?
	(cd with && LD_PRELOAD=$TRACER "$@" >../out 2>../err </dev/null) || with=$?
	[ $with = $without ] || fail "$what: status $with instead of $without"
	cmp -s out out.without || fail "$what: stdout is another: $(diff out.without out)"
	cmp -s err err.without || fail "$what: stderr is another"
	diff -r -x index with without >/dev/null || fail "$what: other files"
	[ -z "$(ls report-* 2>/dev/null)" ] || fail "$what: a report was written"
}

# shellcheck disable=SC2016 # the commands are for the shells below
{
same true /bin/true
same false /bin/false
same bash bash -c 'exit 7'
same "a pipeline" bash -c 'set -o pipefail; echo one two | tr " " "\n" | sort -r | head -1; wait'
same "the pid of a subshell" bash -c '[ "$(grep ^PPid /proc/self/status)" = "PPid:	$$" ] && echo child'
same "a background job" bash -c '(exit 5) & wait $!; echo $?; wait'
same "a trap of SIGCHLD" bash -c 'set -m; n=0; trap "n=\$((n+1))" CHLD; for i in 1 2 3; do /bin/true; done; echo $n'
same "the environment" bash -c 'env -u LD_PRELOAD | sort | grep -v "^\(_\|PWD\|OLDPWD\|SHLVL\)="'
same "an environment of its own" env -i /usr/bin/env
same perl perl -e 'my $pid = fork; exit 3 unless $pid; waitpid $pid, 0; print $? >> 8, "\n"; print `echo sub`; exit 4'
same python3 python3 -c 'import os, subprocess, sys
pid = os.fork()
if pid == 0:
    os._exit(3)
print(os.waitpid(pid, 0)[1], subprocess.run(["sh", "-c", "exit 9"]).returncode)
try:
    os.wait()
except ChildProcessError as error:
    print(error)
sys.exit(6)'
}
cat >Makefile <<'MAKE'
all: one two three
one two three:
	@sleep 0.0$(words $@); echo $@ >$@.txt
fails:
	@exit 3
MAKE
same make make -s -j2 -f ../Makefile all
same "make that fails" make -s -j2 -f ../Makefile fails
if command -v git >/dev/null; then
	export GIT_AUTHOR_DATE=1700000000Z GIT_COMMITTER_DATE=1700000000Z GIT_CONFIG_GLOBAL=/dev/null \
		GIT_CONFIG_NOSYSTEM=1
	same git sh -c 'git init -q -b main r && cd r && echo a >a && git add a &&
		git -c user.name=n -c user.email=e -c gc.auto=0 commit -qm m && git log --format=%H%s && git fsck'
fi
# What uses the library's name without CUDA: a look-up, threads, fork.
same no_cuda "$PROGRAMS/no_cuda"

# One library more in the process, no thread, no descriptor, and none opened later.
# The shell looks itself: in a pipeline it may still hold the ends of the pipe when another looks.
# shellcheck disable=SC2016
look='cat /proc/$$/maps; set -- /proc/$$/task/*; echo $#; set -- /proc/$$/fd/*; echo $#'
LD_PRELOAD=$TRACER bash -c "$look" >maps
bash -c "$look" >maps.without
[ "$(tail -2 maps)" = "$(tail -2 maps.without)" ] || fail "threads or descriptors"
libraries()
{
	sed -n 's,.* \(/.*\.so[.0-9]*\)$,\1,p' "$1" | sort -u
}
[ "$(comm -23 <(libraries maps) <(libraries maps.without))" = "$(realpath "$TRACER")" ] ||
	fail "libraries: $(comm -23 <(libraries maps) <(libraries maps.without))"

# Nobody's interpreter: the loader is told of a library that it cannot use by itself, not by us.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$(command -v id)" set-id && chmod 4755 set-id && chmod 711 .
	same "a setuid program" setpriv --reuid=65534 --clear-groups "$PWD/set-id" -u
fi
if echo 'int main(void) { return 5; }' | ${CC:-cc} -m32 -x c - -o of32 2>/dev/null; then
	LD_PRELOAD=$TRACER ./of32 >out 2>err && status=0 || status=$?
	expect_status 5 "a 32-bit program"
	expect_no_err gmtrace:
fi
