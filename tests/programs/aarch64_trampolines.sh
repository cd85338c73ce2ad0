#!/bin/bash
# case: on aarch64, too, dlsym and dlopen keep what they mean for their caller (under qemu)
# CI has the cross compiler (.ci/run installs it); elsewhere the case is skipped without.
. "$(dirname "$0")/script.inc"
simulator_only
command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null || {
	echo "no aarch64-linux-gnu-gcc or no qemu-aarch64"
	exit 77
}
cc="aarch64-linux-gnu-gcc -O1 -fPIC"

# The recorder's look-ups need CUDA's entries; the trampolines only need filters.
cat >filter.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
__attribute__((visibility("hidden"))) void *gmt_next_dlsym, *gmt_next_dlopen;
static int answer(void)
{
	return 42;
}
__attribute__((constructor)) static void start(void)
{
	gmt_next_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	gmt_next_dlopen = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.34");
}
void *gmt_lookup_dlsym(void *handle, const char *name, uintptr_t caller)
{
	(void)handle;
	return caller && name[0] == 'c' && name[1] == 'u' ? (void *)answer : NULL;
}
int gmt_lookup_dlopen(const char *path, int flags)
{
	(void)path;
	return flags & ~RTLD_DEEPBIND;
}
C
echo '{ global: dlsym; dlopen; local: *; };' >filter.map
$cc -shared -o filter.so filter.c "$TOP/preload/lookup_aarch64.S" -Wl,--version-script=filter.map

# The plugin finds its sibling by its own RUNPATH, which needs the true caller of dlopen.
mkdir sub
echo 'int sibling(void) { return 7; }' | $cc -shared -x c -o sub/libsibling.so -
cat >plugin.c <<'C'
#include <dlfcn.h>
int plugin(void)
{
	void *handle = dlopen("libsibling.so", RTLD_NOW);
	int (*sibling)(void) = handle ? (int (*)(void))dlsym(handle, "sibling") : 0;
	return sibling ? sibling() : -1;
}
C
$cc -shared -o sub/libplugin.so plugin.c -Wl,-rpath,'$ORIGIN'
cat >second.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
int puts(const char *text)
{
	/* The next definition after this library, not after the preload. */
	int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
	return next == puts ? -2 : next(text);
}
C
$cc -shared -o libsecond.so second.c
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	int (*hooked)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "cuAnything");
	void *handle = dlopen("sub/libplugin.so", RTLD_NOW);
	int (*plugin)(void) = (int (*)(void))dlsym(handle, "plugin");
	if (puts("through the second library") < 0)
		return 1;
	printf("%d %d\n", hooked(), plugin());
	return 0;
}
C
$cc -o main main.c -L. -lsecond -Wl,-rpath,'$ORIGIN'
got=$(qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_PRELOAD="$PWD/filter.so" ./main 2>err) ||
	fail "the program ended with $?"
[ "$got" = "through the second library
42 7" ] || fail "got: $got"
