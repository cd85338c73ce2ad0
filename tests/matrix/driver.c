/*
 * A libcuda.so.1 that answers look-ups and refuses to start. When a runtime that has asked it for
 * its entries calls cuInit, it tells how it asked; preload/lookup.c knows runtimes by that:
 *
 *	first    the first name it asked for
 *	count    look-ups		bytes    from the first one's caller to the last one's
 *	below    look-ups from before the first		strangers    from other threads
 *	next_line    bytes from the look-up of cuInit to that of cuGetProcAddress
 *
 * Takes nothing from cuda.h, so that one build serves runtimes of all versions.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT	__attribute__((visibility("default")))
#define REFUSED 100   /* CUDA_ERROR_NO_DEVICE */
#define VERSION 13990 /* newer than all: a runtime leaves out what is newer than the driver */

static struct {
	const char *entry;
	char first[64];
	uintptr_t since, to, init;
	unsigned int count, below, next_line;
	pthread_t thread;
	int strangers;
} asked;

EXPORT int cuInit(unsigned int flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuGetProcAddress(const char *name, void **pfn, int version, uint64_t flags);
EXPORT int cuGetProcAddress_v2(const char *name, void **pfn, int version, uint64_t flags,
			       int *status);

static int refuse(void)
{
	return REFUSED;
}

/* As lookup.c does: from the empty name on, or from a cuInit that cuGetProcAddress follows. */
static void note(const char *entry, const char *name, int version, uintptr_t caller)
{
	if (!asked.entry) {
		asked.entry = entry;
		asked.thread = pthread_self();
		snprintf(asked.first, sizeof(asked.first), "%s", name);
	}
	if (!asked.init && strcmp(name, "cuInit") == 0)
		asked.init = caller;
	else if (!asked.next_line && asked.init && version == 11030 &&
		 strcmp(name, "cuGetProcAddress") == 0)
		asked.next_line = (unsigned int)(caller - asked.init);
	if (!asked.since && (!*name || asked.init))
		asked.since = caller;
	asked.count++;
	asked.strangers += !pthread_equal(asked.thread, pthread_self());
	if (!asked.since)
		return;
	asked.below += caller < asked.since;
	if (caller > asked.to)
		asked.to = caller;
}

static void *answer(const char *name, int version)
{
	if (!*name)
		return NULL;
	if (strcmp(name, "cuInit") == 0)
		return (void *)cuInit;
	if (strcmp(name, "cuDriverGetVersion") == 0)
		return (void *)cuDriverGetVersion;
	if (strcmp(name, "cuGetProcAddress") == 0)
		return version < 12000 ? (void *)cuGetProcAddress : (void *)cuGetProcAddress_v2;
	return (void *)refuse;
}

int cuGetProcAddress(const char *name, void **pfn, int version, uint64_t flags)
{
	(void)flags;
	note("cuGetProcAddress", name, version, (uintptr_t)__builtin_return_address(0));
	*pfn = answer(name, version);
	return 0;
}

int cuGetProcAddress_v2(const char *name, void **pfn, int version, uint64_t flags, int *status)
{
	(void)flags;
	note("cuGetProcAddress_v2", name, version, (uintptr_t)__builtin_return_address(0));
	*pfn = answer(name, version);
	if (status)
		*status = 0;
	return 0;
}

int cuDriverGetVersion(int *version)
{
	*version = VERSION;
	return 0;
}

int cuInit(unsigned int flags)
{
	(void)flags;
	fprintf(stderr, "%s first='%s' count=%u bytes=%lu below=%u next_line=%u strangers=%d\n",
		asked.entry ? asked.entry : "dlsym", asked.first, asked.count,
		(unsigned long)(asked.to - asked.since), asked.below, asked.next_line,
		asked.strangers);
	return REFUSED;
}
