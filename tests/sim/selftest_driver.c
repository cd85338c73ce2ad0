/*
 * Self-test of the simulated driver: the numbers that reports are compared with, by hand. Each case
 * runs in its own process, as the driver reads its environment once. Prints the failing line.
 */
#define _GNU_SOURCE
#include "driver_selftest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

CUcontext context;

static void *library;

void fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	exit(1);
}

void *entry(const char *name, const char *file, int line)
{
	void *addr = dlsym(library, name);

	if (!addr)
		fail(file, line, name);
	return addr;
}

void open_driver(void)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library)
		fail(__FILE__, __LINE__, dlerror());
}

void start(void)
{
	open_driver();
	OK(cuInit, 0);
	OK(cuDevicePrimaryCtxRetain, &context, 0);
	OK(cuCtxSetCurrent, context);
}

size_t used(void)
{
	size_t bytes_free, total;

	OK(cuMemGetInfo_v2, &bytes_free, &total);
	return total - bytes_free;
}

CUdeviceptr take(size_t bytes)
{
	CUdeviceptr addr = 0;

	OK(cuMemAlloc_v2, &addr, bytes);
	return addr;
}

static void needs_init(void)
{
	CUdeviceptr addr = 77;
	const char *name;
	int count, version;

	open_driver();
	CHECK(CU(cuDeviceGetCount, &count) == CUDA_ERROR_NOT_INITIALIZED);
	OK(cuDriverGetVersion, &version);
	CHECK(version == 13000);
	OK(cuGetErrorName, CUDA_ERROR_OUT_OF_MEMORY, &name);
	CHECK(strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY") == 0);
	OK(cuGetErrorString, CUDA_ERROR_OUT_OF_MEMORY, &name);
	CHECK(strcmp(name, "out of memory") == 0);
	OK(cuInit, 0);
	CHECK(CU(cuMemAlloc_v2, &addr, 1) == CUDA_ERROR_INVALID_CONTEXT);
	CHECK(addr == 0);
	count = 77;
	CHECK(CU(cuCtxGetDevice, &count) == CUDA_ERROR_INVALID_CONTEXT);
	CHECK(count == 77);
	OK(cuMemFree_v2, 0);
}

static void small_blocks_share_pages(void)
{
	CUdeviceptr first, second, big, blocks[8];
	size_t before, size;

	start();
	CHECK(used() == 512 * MIB);
	before = used();
	first = take(1);
	CHECK(used() - before == 2 * MIB);
	second = take(MIB);
	CHECK(second == first + 512);
	CHECK(used() - before == 2 * MIB);
	big = take(MIB + 1);
	CHECK(used() - before == 4 * MIB);
	OK(cuMemGetAddressRange_v2, &blocks[0], &size, big + 5);
	CHECK(blocks[0] == big && size == MIB + 1);
	OK(cuMemFree_v2, big);
	OK(cuMemFree_v2, second);
	CHECK(used() - before == 2 * MIB);
	OK(cuMemFree_v2, first);
	CHECK(used() == before);
	CHECK(take(1) == first);
	CHECK(CU(cuMemFree_v2, first + 1) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2, first);
	CHECK(CU(cuMemFree_v2, first) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2, 0);
}

/* Measured on an H200: small blocks pin their pages, holes of whole pages do not matter. */
static void fragments_like_the_real_one(void)
{
	static CUdeviceptr blocks[8192];
	CUdeviceptr huge[15];
	size_t before;

	start();
	before = used();
	for (int i = 0; i < 8192; i++)
		blocks[i] = take(512 * KIB);
	CHECK(used() - before == 4 * GIB);
	for (int i = 0; i < 8192; i++)
		if (i % 4)
			OK(cuMemFree_v2, blocks[i]);
	CHECK(used() - before == 4 * GIB);
	for (int i = 0; i < 8192; i += 4)
		OK(cuMemFree_v2, blocks[i]);
	CHECK(used() == before);

	for (int i = 0; i < 15; i++)
		huge[i] = take(GIB);
	for (int i = 0; i < 15; i += 2)
		OK(cuMemFree_v2, huge[i]);
	huge[0] = take(8 * GIB);
	CHECK(CU(cuMemAlloc_v2, &huge[2], GIB) == CUDA_ERROR_OUT_OF_MEMORY);
}

static void pools_grow_in_chunks(void)
{
	CUdeviceptr a, b;
	CUmemoryPool pool;
	cuuint64_t bytes, keep = 1 << 30;
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
	CUmemoryPool own;
	size_t before;

	start();
	before = used();
	OK(cuMemAllocAsync, &a, 1000, NULL);
	CHECK(used() - before == 32 * MIB);
	OK(cuMemAllocAsync_ptsz, &b, 33 * MIB, NULL);
	CHECK(b == a + 1024);
	CHECK(used() - before == 64 * MIB);
	OK(cuDeviceGetDefaultMemPool, &pool, 0);
	OK(cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes);
	CHECK(bytes == 64 * MIB);
	OK(cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes);
	CHECK(bytes == 33 * MIB + 1000);
	OK(cuMemFreeAsync, b, NULL);
	CHECK(used() - before == 64 * MIB);
	OK(cuStreamSynchronize, NULL);
	CHECK(used() - before == 32 * MIB);
	OK(cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
	OK(cuMemFree_v2, a);
	OK(cuStreamSynchronize, NULL);
	CHECK(used() - before == 32 * MIB);
	OK(cuMemPoolTrimTo, pool, 0);
	CHECK(used() == before);

	/* A destroyed pool lives on until its last block is freed. */
	OK(cuMemPoolCreate, &own, &props);
	OK(cuMemAllocFromPoolAsync, &a, 5, own, NULL);
	OK(cuMemPoolDestroy, own);
	CHECK(CU(cuMemPoolDestroy, own) == CUDA_ERROR_INVALID_VALUE);
	CHECK(used() - before == 32 * MIB);
	OK(cuMemFreeAsync, a, NULL);
	CHECK(used() == before);
}

static void contexts_free_what_is_theirs(void)
{
	CUcontext own;
	CUdeviceptr linear, pooled, managed;
	CUstream stream;
	CUevent event;
	size_t before, size;
	CUdevice device = 5;
	void *pinned;

	start();
	before = used();
	OK(cuCtxCreate_v4, &own, NULL, 0, 0);
	CHECK(used() - before == 512 * MIB);
	linear = take(10 * MIB);
	OK(cuMemAllocManaged, &managed, MIB, CU_MEM_ATTACH_GLOBAL);
	OK(cuMemHostAlloc, &pinned, MIB, 0);
	OK(cuStreamCreate, &stream, 0);
	CHECK(used() - before == 522 * MIB); /* the first stream is free */
	OK(cuStreamCreate, &stream, 0);
	CHECK(used() - before == 524 * MIB);
	OK(cuEventCreate, &event, 0);
	OK(cuMemAllocAsync, &pooled, MIB, stream);
	OK(cuCtxDestroy_v2, own);
	CHECK(used() - before == 32 * MIB);
	CHECK(CU(cuMemFree_v2, linear) == CUDA_ERROR_INVALID_VALUE);
	CHECK(CU(cuMemFreeHost, pinned) == CUDA_ERROR_INVALID_VALUE);
	CHECK(CU(cuStreamDestroy_v2, stream) == CUDA_ERROR_INVALID_HANDLE);
	CHECK(CU(cuEventDestroy_v2, event) == CUDA_ERROR_INVALID_HANDLE);
	OK(cuMemFree_v2, pooled);
	OK(cuCtxGetDevice, &device);
	CHECK(device == 0);

	linear = take(1);
	OK(cuDevicePrimaryCtxReset, 0);
	CHECK(CU(cuMemAlloc_v2, &linear, 1) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuDevicePrimaryCtxRetain, &own, 0);
	CHECK(own == context);
	OK(cuMemGetInfo_v2, &size, NULL);
}

static void stack_limit_costs_at_the_launch(void)
{
	static const char ptx[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
				  ".visible .entry nothing() { ret; }\n";
	CUmodule module;
	CUfunction function;
	size_t before;

	start();
	OK(cuModuleLoadData, &module, ptx);
	OK(cuModuleGetFunction, &function, module, "nothing");
	before = used();
	OK(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 8 * KIB);
	OK(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	CHECK(used() - before == 1848 * MIB);
	OK(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, KIB);
	CHECK(used() == before);
}

static void events_are_free(void)
{
	CUevent event;
	size_t before;

	start();
	before = used();
	for (int i = 0; i < 100000; i++)
		OK(cuEventCreate, &event, 0);
	CHECK(used() == before);
}

static void check_rows(CUresult (*look_up)(const char *, void **, int, cuuint64_t,
					   CUdriverProcAddressQueryResult *))
{
	FILE *rows = fopen("tests/sim/driver-symbols.tsv", "r");
	char base[100], symbol[100];
	int version, per_thread, count = 0;
	CUdriverProcAddressQueryResult status;
	void *found;

	CHECK(rows);
	while (fscanf(rows, "%99s %d %d %99s", base, &version, &per_thread, symbol) == 4) {
		count++;
		CHECK(look_up(base, &found, version, per_thread ? 2 : 0, &status) == CUDA_SUCCESS);
		CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
		CHECK(found == ENTRY(symbol));
	}
	CHECK(count == 634);
	fclose(rows);
}

static void finds_entries_by_version(void)
{
	CUdriverProcAddressQueryResult status;
	CUresult (*look_up)(const char *, void **, int, cuuint64_t,
			    CUdriverProcAddressQueryResult *);
	void *found = &found;

	open_driver();
	look_up = (__typeof__(look_up))ENTRY("cuGetProcAddress_v2");
	CHECK(look_up("", &found, 0, 0, NULL) == CUDA_SUCCESS && !found);
	check_rows(look_up);
	CHECK(look_up("cuMemAlloc", &found, 13000, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == ENTRY("cuMemAlloc_v2"));
	CHECK(look_up("cuMemAlloc", &found, 3010, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == ENTRY("cuMemAlloc"));
	CHECK(look_up("cuCtxCreate", &found, 11040, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == ENTRY("cuCtxCreate_v3"));
	CHECK(look_up("cuGetProcAddress", &found, 11030, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == ENTRY("cuGetProcAddress"));
	CHECK(look_up("cuGetProcAddress", &found, 12000, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == ENTRY("cuGetProcAddress_v2"));
	CHECK(look_up("cuMemFreeAsync", &found, 13000, 2, NULL) == CUDA_SUCCESS);
	CHECK(found == ENTRY("cuMemFreeAsync_ptsz"));
	CHECK(look_up("cuNoSuch", &found, 13000, 0, &status) == CUDA_SUCCESS);
	CHECK(!found && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	CHECK(look_up("cuMemAllocAsync", &found, 11000, 0, &status) == CUDA_SUCCESS);
	CHECK(!found && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	CHECK(look_up("cuMemAlloc", &found, 13010, 0, &status) == CUDA_ERROR_INVALID_VALUE);
}

static void faults_are_injected(void)
{
	CUdeviceptr addr;

	setenv("GMTSIM_FAULT", "cuMemAlloc_v2:2:2,cuMemFree_v2:2+:999,cuEventCreate:*:801", 1);
	setenv("GMTSIM_OOM_AT", "1M", 1);
	start();
	OK(cuMemAlloc_v2, &addr, 1);
	CHECK(CU(cuMemAlloc_v2, &addr, 1) == CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc_v2, &addr, 1);
	CHECK(CU(cuMemAlloc_v2, &addr, MIB) == CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemFree_v2, addr);
	CHECK(CU(cuMemFree_v2, addr) == CUDA_ERROR_UNKNOWN);
	CHECK(CU(cuMemFree_v2, addr) == CUDA_ERROR_UNKNOWN);
	CHECK(CU(cuEventCreate, (CUevent *)&addr, 0) == CUDA_ERROR_NOT_SUPPORTED);
}

static void children_of_fork_are_refused(void)
{
	CUdeviceptr addr;
	int status;
	pid_t child;

	start();
	child = fork();
	if (!child)
		_exit(CU(cuMemAlloc_v2, &addr, 1) != CUDA_ERROR_NOT_INITIALIZED ||
		      CU(cuInit, 0) != CUDA_ERROR_NOT_INITIALIZED);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	OK(cuMemAlloc_v2, &addr, 1);
}

static CUdeviceptr late;

static void free_late(void)
{
	/* Registered before cuInit, so it runs after the driver's own handler. */
	if (CU(cuMemFree_v2, late) != CUDA_ERROR_DEINITIALIZED)
		_exit(1);
}

static void late_frees_are_refused(void)
{
	char path[] = "/tmp/gmtsim-stats-XXXXXX";

	close(mkstemp(path));
	setenv("GMTSIM_STATS", path, 1);
	unlink(path);
	open_driver();
	atexit(free_late);
	start();
	late = take(1000);
}

static void *worker(void *arg)
{
	CUdeviceptr addr;

	OK(cuCtxSetCurrent, context);
	for (int i = 0; i < 500; i++) {
		OK(cuMemAlloc_v2, &addr, (size_t)(i + 1) * 300);
		OK(cuMemsetD8_v2, addr, 1, 300);
		OK(cuMemFree_v2, addr);
		OK(cuMemAllocAsync, &addr, (size_t)(i + 1) * 300, CU_STREAM_PER_THREAD);
		OK(cuMemFreeAsync, addr, CU_STREAM_PER_THREAD);
	}
	return arg;
}

static void threads_share_the_driver(void)
{
	pthread_t threads[8];
	size_t before;

	start();
	before = used();
	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	OK(cuCtxSynchronize, );
	CHECK(used() == before);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
#define CASE(name)                                                                                 \
	{                                                                                          \
#name, name                                                                        \
	}
	CASE(needs_init),
	CASE(small_blocks_share_pages),
	CASE(fragments_like_the_real_one),
	CASE(pools_grow_in_chunks),
	CASE(contexts_free_what_is_theirs),
	CASE(stack_limit_costs_at_the_launch),
	CASE(events_are_free),
	CASE(finds_entries_by_version),
	CASE(faults_are_injected),
	CASE(copies_and_fills),
	CASE(times_are_simulated),
	CASE(kernels_run_and_are_seen),
	CASE(graph_memory_waits_for_the_trim),
	CASE(captures_become_graphs),
	CASE(handles_count_their_users),
	CASE(shared_memory_is_opened_once),
	CASE(arrays_take_memory),
	CASE(external_buffers_end_with_a_free),
	CASE(pools_can_be_shared),
	CASE(children_of_fork_are_refused),
	CASE(late_frees_are_refused),
	CASE(threads_share_the_driver),
};

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		pid_t child;

		fflush(NULL);
		child = fork();
		if (!child) {
			cases[i].run();
			exit(0);
		}
		if (waitpid(child, &status, 0) == child && status == 0)
			continue;
		fprintf(stderr, "FAILED %s (status 0x%x)\n", cases[i].name, (unsigned int)status);
		failed = 1;
	}
	return failed;
}
