/*
 * Owns the answer to "which function is cuMemAlloc?". Runs inside dlsym of any program, before its
 * constructors, under sanitizers, on any thread: freestanding, no lock, no allocation, and calls
 * nothing of libc but dlvsym and the dlsym and dlopen that it returned (a filter that calls strncmp
 * aborts programs built with ASan, whose own strncmp is not ready yet).
 */
#define __CUDA_API_VERSION_INTERNAL
#define _GNU_SOURCE
#include "preload/lookup.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

#include "preload/apis.h"
#include "preload/event.h"
#include "preload/guard.h"
#include "preload/real.h"
#include "preload/self.h"
#include "preload/wrap.h"

/* One hook per way of handing it out, so that each call knows its route. */
#define DECLARE(symbol)							     extern __typeof__(symbol) GMT_HOOKS(symbol);
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, pool) DECLARE(symbol)
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)    DECLARE(symbol)
#define GMT_CUSTOM(symbol, runtime, file)				     DECLARE(symbol)
#define GMT_USED(symbol)
#include "preload/driver_apis.def"
#undef GMT_ALLOC
#undef GMT_FREE
#undef GMT_CUSTOM

struct hooks {
	void *by_dlsym, *by_getproc, *by_runtime;
};

#define HOOKS(symbol)                                                                              \
	[GMT_API_##symbol] = { (void *)gmt_dl_##symbol, (void *)gmt_gp_##symbol,                   \
			       (void *)gmt_rt_##symbol },
static const struct hooks hooks[GMT_NR_APIS] = {
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, pool) HOOKS(symbol)
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)    HOOKS(symbol)
#define GMT_CUSTOM(symbol, runtime, file)				     HOOKS(symbol)
#include "preload/driver_apis.def"
};

#define TABLE_VERSION 13000 /* of driver_versions.def */

#define PASSED_MAX  1024
#define PASSED_NAME 56

/*
 * A CUDA runtime asks for all its entries in one go, on one thread and from one function, and calls
 * cuInit when it has them (libcudart 11.8 to 13.5: make check-matrix). From 12.2 on it begins with
 * the empty name; before that with cuInit, and a line further with cuGetProcAddress. The function
 * has 24 KB up to 13.0, and since 13.1 72 KB whose calls jump back and forth. Nearness alone does
 * not tell: the code of cudaGetDriverEntryPoint, by which the program asks, lies 57 KB on in 13.0.
 */
#define RUNTIMES_MAX	16
#define RUNTIME_EXTENT	0x20000u
#define RUNTIME_VERSION 11030 /* with which it asks for cuGetProcAddress first */
#define NEXT_LINE	0x80u /* 0x32 bytes in 11.8, 0x33 in 12.0 */

static struct {
	atomic_uint nr_passed;
	_Atomic(uint32_t) hashes[PASSED_MAX];
	char names[PASSED_MAX][PASSED_NAME];
	_Atomic(uintptr_t) runtimes[RUNTIMES_MAX];
	atomic_bool keep_deepbind;
} seen;

/* Who asks for entries on this thread: a runtime, if known for one, until it calls cuInit. */
static GMT_TLS struct {
	uintptr_t since; /* the call that was the first, or may have been; 0: none */
	bool is_runtime;
} asking;

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash | 1;
}

/* Keeps a name that was passed through. A race may keep it twice, which the reader sorts out. */
static void note_passed(const char *name)
{
	uint32_t hash = hash_of(name);
	unsigned int count = atomic_load(&seen.nr_passed), index;
	int i = 0;

	for (index = 0; index < count && index < PASSED_MAX; index++)
		if (atomic_load_explicit(&seen.hashes[index], memory_order_relaxed) == hash &&
		    same(seen.names[index], name))
			return;
	index = atomic_fetch_add(&seen.nr_passed, 1);
	if (index >= PASSED_MAX) {
		atomic_store(&seen.nr_passed, PASSED_MAX);
		gmt_count(GMT_COUNT_unnamed_lookups);
		return;
	}
	for (; name[i] && i < PASSED_NAME - 1; i++)
		seen.names[index][i] = name[i];
	seen.names[index][i] = '\0';
	atomic_store_explicit(&seen.hashes[index], hash, memory_order_release);
}

const char *gmt_lookup_passed(unsigned int index)
{
	if (index >= PASSED_MAX || !atomic_load_explicit(&seen.hashes[index], memory_order_acquire))
		return NULL;
	return seen.names[index];
}

uintptr_t gmt_lookup_runtime(unsigned int index)
{
	return index < RUNTIMES_MAX ? atomic_load(&seen.runtimes[index]) : 0;
}

static void note_runtime(uintptr_t caller)
{
	for (int i = 0; i < RUNTIMES_MAX; i++) {
		uintptr_t expected = 0;

		if (atomic_compare_exchange_strong(&seen.runtimes[i], &expected, caller) ||
		    expected == caller)
			return;
	}
}

static bool is_runtime(uintptr_t caller)
{
	return asking.is_runtime && caller - asking.since < RUNTIME_EXTENT;
}

/* Before the look-up. */
static void note_asking(const char *name, int version, uintptr_t caller)
{
	bool begins = !*name;

	if (is_runtime(caller))
		return;
	if (begins || same(name, "cuInit"))
		asking.since = caller;
	else if (version == RUNTIME_VERSION && same(name, "cuGetProcAddress"))
		begins = caller != asking.since && caller - asking.since < NEXT_LINE;
	asking.is_runtime = begins;
	if (begins)
		note_runtime(asking.since);
}

void gmt_lookup_initialized(void)
{
	asking.is_runtime = false;
	asking.since = 0;
}

static int row_by_name(const char *name)
{
	for (int i = 0; i < GMT_NR_APIS; i++)
		if (same(gmt_real_name((unsigned int)i), name))
			return i;
	return -1;
}

static int row_by_pointer(const void *pointer)
{
	for (int i = 0; i < GMT_NR_APIS; i++)
		if (gmt_real((unsigned int)i) == pointer)
			return i;
	return -1;
}

static bool is_driver_name(const char *name)
{
	return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

void *gmt_lookup_dlsym(void *handle, const char *name, uintptr_t caller)
{
	void *found;
	int row;

	gmt_real_bootstrap();
	if (!is_driver_name(name))
		return NULL;
	/* By RTLD_DEFAULT our exported symbol is found anyway; RTLD_NEXT is somebody's wrapper
	 * chain. */
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT)
		return NULL;
	/* The driver and CUPTI look the driver up: with our hooks they would call us from inside.
	 */
	if (gmt_is_self(caller) || gmt_real_in_driver(caller) || gmt_real_is_vendor_tool(caller))
		return NULL;
	row = row_by_name(name);
	if (row < 0) {
		if (handle == gmt_real_driver(false))
			note_passed(name);
		return NULL;
	}
	/* Another library's symbol of that name (a second driver, somebody's shim) is left alone.
	 */
	found = gmt_real_dlsym(handle, name);
	if (!found || gmt_is_self((uintptr_t)found))
		return found;
	if (!gmt_real_driver(false) || found != gmt_real((unsigned int)row)) {
		gmt_count(GMT_COUNT_foreign_lookups);
		return NULL;
	}
	return hooks[row].by_dlsym;
}

void gmt_lookup_keep_deepbind(bool keep)
{
	atomic_store(&seen.keep_deepbind, keep);
}

/* A library bound deeply finds the driver's and libc's entries before ours, and escapes us. */
int gmt_lookup_dlopen(const char *path, int flags)
{
	gmt_real_bootstrap();
	if (!path || !(flags & RTLD_DEEPBIND))
		return flags;
	if (atomic_load(&seen.keep_deepbind)) {
		gmt_count(GMT_COUNT_kept_deepbind);
		return flags;
	}
	gmt_count(GMT_COUNT_masked_deepbind);
	return flags & ~RTLD_DEEPBIND;
}

/*
 * The row that a look-up means by its name and version, for a driver that hands out pointers which
 * are no symbol's address. A pointer that is some variant's address means that variant, hooked or
 * not. Versions after the table's may mean a variant that it does not know: passed through.
 */
static int row_by_version(const char *name, const void *pointer, int version, bool per_thread)
{
	static const struct {
		const char *base;
		int from;
		bool per_thread;
		const char *symbol;
	} versions[] = {
#define GMT_ANSWER(base, from, per_thread, symbol) { #base, from, per_thread, #symbol },
#include "preload/driver_versions.def"
#undef GMT_ANSWER
	};
	int best = -1;

	if (version > TABLE_VERSION)
		return -1;
	for (unsigned int i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (!same(versions[i].base, name))
			continue;
		if (gmt_real_dlsym(gmt_real_driver(false), versions[i].symbol) == pointer)
			return -1;
		if (versions[i].from > version || (versions[i].per_thread && !per_thread))
			continue;
		/* The newest that the version allows; of two equal ones the per-thread twin. */
		if (best < 0 || versions[i].per_thread > versions[best].per_thread ||
		    (versions[i].per_thread == versions[best].per_thread &&
		     versions[i].from >= versions[best].from))
			best = (int)i;
	}
	return best < 0 ? -1 : row_by_name(versions[best].symbol);
}

/* After the real look-up has succeeded: the hook for what it found, by pointer. */
static void substitute(const char *name, void **pfn, int version, cuuint64_t flags,
		       uintptr_t caller)
{
	int row = row_by_pointer(*pfn);

	if (row < 0)
		row = row_by_version(name, *pfn, version,
				     flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
	if (row < 0)
		note_passed(name);
	else
		*pfn = is_runtime(caller) ? hooks[row].by_runtime : hooks[row].by_getproc;
}

/* The caller's address is read here, so these bodies must be part of the hooks: GMT_IMPL inlines.
 */
GMT_IMPL CUresult impl_cuGetProcAddress(struct gmt_call call, const char *name, void **pfn,
					int version, cuuint64_t flags)
{
	__typeof__(&cuGetProcAddress) real = gmt_real(GMT_API_cuGetProcAddress);
	uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	CUresult rc;

	(void)call;
	if (!real)
		return GMT_NO_DRIVER;
	if (name)
		note_asking(name, version, caller);
	rc = real(name, pfn, version, flags);
	if (rc == CUDA_SUCCESS && pfn && *pfn && name)
		substitute(name, pfn, version, flags, caller);
	return rc;
}

GMT_IMPL CUresult impl_cuGetProcAddress_v2(struct gmt_call call, const char *name, void **pfn,
					   int version, cuuint64_t flags,
					   CUdriverProcAddressQueryResult *status)
{
	__typeof__(&cuGetProcAddress_v2) real = gmt_real(GMT_API_cuGetProcAddress_v2);
	uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	CUresult rc;

	(void)call;
	if (!real)
		return GMT_NO_DRIVER;
	if (name)
		note_asking(name, version, caller);
	rc = real(name, pfn, version, flags, status);
	if (rc == CUDA_SUCCESS && pfn && *pfn && name)
		substitute(name, pfn, version, flags, caller);
	return rc;
}

GMT_DEFINE_HOOKS(cuGetProcAddress, (const char *name, void **pfn, int version, cuuint64_t flags),
		 (name, pfn, version, flags))
GMT_DEFINE_HOOKS(cuGetProcAddress_v2,
		 (const char *name, void **pfn, int version, cuuint64_t flags,
		  CUdriverProcAddressQueryResult *status),
		 (name, pfn, version, flags, status))
