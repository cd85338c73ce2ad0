/*
 * Ends that run no exit handler: _exit, _Exit and quick_exit, exported. The report is written
 * first; the status is the program's unless a gate fails. Runs in the thread that ends the process.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/init.h"
#include "preload/real.h"

#define EXPORT __attribute__((visibility("default"), noreturn))

typedef void exit_fn(int status);

/* The status that quick_exit was called with, for the handler that it runs. */
static atomic_int quick_status;

static void leave(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

/* The next definition in the process may be another tool's, which wants its turn too. */
static void go_on(const char *name, int status)
{
	exit_fn *next = (exit_fn *)gmt_real_next(name);

	if (next)
		next(status);
	leave(status);
}

EXPORT void _exit(int status)
{
	go_on("_exit", gmt_init_end(GMT_ENDED__EXIT, status));
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	go_on("_Exit", gmt_init_end(GMT_ENDED__EXIT, status));
	__builtin_unreachable();
}

EXPORT void quick_exit(int status)
{
	atomic_store(&quick_status, status);
	go_on("quick_exit", status);
	__builtin_unreachable();
}

/* Registered first of all, so run last: after the handlers of at_quick_exit, before the end. */
static void at_quick_end(void *data)
{
	int status = atomic_load(&quick_status);
	int code = gmt_init_end(GMT_ENDED__EXIT, status);

	(void)data;
	if (code != status)
		leave(code);
}

int __cxa_at_quick_exit(void (*handler)(void *), void *dso);

void gmt_endings_start(void)
{
	__cxa_at_quick_exit(at_quick_end, NULL);
}
