/*
 * Another tool of other_tool.sh, preloaded beside the tracer: it wraps dlsym and dlopen, and goes
 * on to the next definition after its own. It counts, and says so at the end if OTHER_TOOL asks for
 * it.
 */
/* links: none */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif

typedef void *dlsym_fn(void *handle, const char *name);
typedef void *dlopen_fn(const char *path, int flags);

static atomic_int nr_lookups, nr_opened, nr_ended;

/* libc's own is found by its version; the next one may be another tool's, which has none. */
static void *next(const char *name)
{
	dlsym_fn *of_libc;

	*(void **)&of_libc = dlvsym(RTLD_NEXT, "dlsym", OLDEST);
	return of_libc(RTLD_NEXT, name);
}

void *dlsym(void *handle, const char *name)
{
	dlsym_fn *real;

	atomic_fetch_add(&nr_lookups, 1);
	*(void **)&real = next("dlsym");
	return real(handle, name);
}

void *dlopen(const char *path, int flags)
{
	dlopen_fn *real;

	atomic_fetch_add(&nr_opened, 1);
	*(void **)&real = next("dlopen");
	return real(path, flags);
}

void _exit(int status)
{
	void (*real)(int) __attribute__((noreturn));

	atomic_fetch_add(&nr_ended, 1);
	if (getenv("OTHER_TOOL"))
		dprintf(STDERR_FILENO, "other tool: %d look-ups, %d opened, %d ended\n",
			atomic_load(&nr_lookups), atomic_load(&nr_opened), atomic_load(&nr_ended));
	*(void **)&real = next("_exit");
	real(status);
}
