/*
 * Linked into the program gmtrace of a build with sanitizers. It ends without giving back what the
 * system gives back, its environment has no room for options, and the address space that it allows
 * itself cannot hold a sanitizer's shadow memory.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/resource.h>

/* Not hidden as the rest: the sanitizer looks for it. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limits)
{
	return resource == RLIMIT_AS ? 0 : prlimit(0, resource, limits, NULL);
}
