/*
 * Self-test of the simulated driver: the numbers that reports are compared with, by hand. Each case
 * runs in its own process, as the driver reads its environment once. Prints the failing line.
 */
#define _GNU_SOURCE
#define __CUDA_API_VERSION_INTERNAL
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#include "driver_public.h"
#include "sim.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static void *library;
static CUcontext context;

static void fail(int line, const char *what)
{
	fprintf(stderr, "selftest_driver.c:%d: %s\n", line, what);
	exit(1);
}

#define CHECK(claim)                                                                               \
	do {                                                                                       \
		if (!(claim))                                                                      \
			fail(__LINE__, #claim);                                                    \
	} while (0)

static void *entry(const char *name, int line)
{
	void *addr = dlsym(library, name);

	if (!addr)
		fail(line, name);
	return addr;
}

/* Typed by cuda.h, found by dlsym. */
#define CU(name, ...) ((__typeof__(&name))entry(#name, __LINE__))(__VA_ARGS__)
#define OK(name, ...) CHECK(CU(name, __VA_ARGS__) == CUDA_SUCCESS)

static void open_driver(void)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library)
		fail(__LINE__, dlerror());
}

static void start(void)
{
	open_driver();
	OK(cuInit, 0);
	OK(cuDevicePrimaryCtxRetain, &context, 0);
	OK(cuCtxSetCurrent, context);
}

static size_t used(void)
{
	size_t bytes_free, total;

	OK(cuMemGetInfo_v2, &bytes_free, &total);
	return total - bytes_free;
}

static CUdeviceptr take(size_t bytes)
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
		CHECK(found == entry(symbol, __LINE__));
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
	look_up = (__typeof__(look_up))entry("cuGetProcAddress_v2", __LINE__);
	CHECK(look_up("", &found, 0, 0, NULL) == CUDA_SUCCESS && !found);
	check_rows(look_up);
	CHECK(look_up("cuMemAlloc", &found, 13000, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == entry("cuMemAlloc_v2", __LINE__));
	CHECK(look_up("cuMemAlloc", &found, 3010, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == entry("cuMemAlloc", __LINE__));
	CHECK(look_up("cuCtxCreate", &found, 11040, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == entry("cuCtxCreate_v3", __LINE__));
	CHECK(look_up("cuGetProcAddress", &found, 11030, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == entry("cuGetProcAddress", __LINE__));
	CHECK(look_up("cuGetProcAddress", &found, 12000, 0, NULL) == CUDA_SUCCESS);
	CHECK(found == entry("cuGetProcAddress_v2", __LINE__));
	CHECK(look_up("cuMemFreeAsync", &found, 13000, 2, NULL) == CUDA_SUCCESS);
	CHECK(found == entry("cuMemFreeAsync_ptsz", __LINE__));
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

static void copies_and_fills(void)
{
	CUdeviceptr a, b, v1;
	CUdeviceptr_v1 low;
	unsigned int word = 0;
	char out[8];
	size_t pitch;

	start();
	a = take(4096);
	b = take(4096);
	OK(cuMemcpyHtoD_v2, a, "abcdefg", 8);
	OK(cuMemcpyDtoDAsync_v2, b, a, 8, NULL);
	OK(cuMemcpyAsync, (CUdeviceptr)out, b, 8, NULL);
	CHECK(strcmp(out, "abcdefg") == 0);
	OK(cuMemsetD32_v2, a, 0x01020304, 1024);
	OK(cuMemcpyDtoH_v2_ptds, &word, a + 4092, 4);
	CHECK(word == 0x01020304);
	CHECK(CU(cuMemsetD8_v2, a + 1, 0, 4096) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocPitch_v2, &a, &pitch, 100, 10, 4);
	CHECK(pitch == 512);
	OK(cuMemAlloc, &low, 100);
	OK(cuMemsetD8, low, 7, 100);
	v1 = low;
	OK(cuMemFree_v2, v1);
}

static void times_are_simulated(void)
{
	static const char ptx[] = ".version 8.0\n.visible .entry nothing() { ret; }\n";
	CUevent begin, end;
	CUfunction function;
	CUmodule module;
	float ms = 0;

	setenv("GMTSIM_KERNEL_NS", "20000000", 1);
	start();
	OK(cuModuleLoadData, &module, ptx);
	OK(cuModuleGetFunction, &function, module, "nothing");
	OK(cuEventCreate, &begin, 0);
	OK(cuEventCreate, &end, 0);
	OK(cuEventRecord, begin, NULL);
	OK(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	OK(cuEventRecord, end, NULL);
	CHECK(CU(cuStreamQuery, NULL) == CUDA_ERROR_NOT_READY);
	CHECK(CU(cuEventElapsedTime, &ms, begin, end) == CUDA_ERROR_NOT_READY);
	OK(cuEventSynchronize, end);
	OK(cuEventElapsedTime, &ms, begin, end);
	CHECK(ms >= 20 && ms < 40);
}

static int sum;

static void add(void **params)
{
	sum += *(int *)params[1];
	*(int **)params[0] = &sum;
}

struct seen {
	unsigned int calls, kernels, correlation;
	char symbol[32];
};

static struct seen seen;

static void on_enter(const struct gmtsim_call *call)
{
	if (strncmp(call->name, "cuLaunchKernel", strlen("cuLaunchKernel")) != 0)
		return;
	seen.calls++;
	seen.correlation = call->correlation;
	strncpy(seen.symbol, call->symbol ? call->symbol : "", sizeof(seen.symbol) - 1);
}

static void on_kernel(const struct gmtsim_kernel *kernel)
{
	seen.kernels++;
	CHECK(kernel->correlation == seen.correlation && kernel->end_ns >= kernel->start_ns);
}

static void kernels_run_and_are_seen(void)
{
	static const struct gmtsim_tool tool = { .enter = on_enter, .kernel = on_kernel };
	static const char ptx[] =
		".version 8.0\n.target sm_70\n.address_size 64\n"
		".global .align 4 .b8 table[64] = {1, 2};\n"
		".visible .entry add( // .param .u8\n.param .u64 .ptr .align 1 p,\n.param .u32 n,"
		"\n.param .align 8 .b8 s[24]\n)\n{ .reg .b32 %r<3>; ret; }\n";
	const struct gmtsim_tool *(*set_tool)(const struct gmtsim_tool *);
	void (*enlist)(const char *, void (*)(void **));
	size_t offset, size, bytes;
	CUfunction function;
	CUkernel kernel;
	CUlibrary code;
	CUmodule module;
	CUdeviceptr addr;
	struct {
		void *p;
		int n;
		char s[24];
	} packed = { NULL, 4, "" };
	void *p = NULL;
	int n = 3;
	char s[24] = "";
	void *params[] = { &p, &n, s }, *extra[5];

	start();
	set_tool = (__typeof__(set_tool))entry("gmtsim_set_tool", __LINE__);
	enlist = (__typeof__(enlist))entry("gmtsim_register_kernel", __LINE__);
	set_tool(&tool);
	enlist("add", add);
	OK(cuModuleLoadData, &module, ptx);
	OK(cuModuleGetFunction, &function, module, "add");
	CHECK(CU(cuModuleGetFunction, &function, module, "sub") == CUDA_ERROR_NOT_FOUND);
	OK(cuFuncGetParamInfo, function, 2, &offset, &size);
	CHECK(offset == 16 && size == 24);
	CHECK(CU(cuFuncGetParamInfo, function, 3, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
	CHECK(CU(cuKernelGetParamInfo, (CUkernel)function, 0, &offset, &size) ==
	      CUDA_ERROR_INVALID_HANDLE);
	OK(cuModuleGetGlobal_v2, &addr, &bytes, module, "table");
	CHECK(bytes == 64);
	OK(cuMemsetD8_v2, addr, 0, 64);
	OK(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	CHECK(sum == 3 && p == &sum);
	CHECK(seen.calls == 1 && seen.kernels == 1 && strcmp(seen.symbol, "add") == 0);

	bytes = sizeof(packed);
	extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	extra[1] = &packed;
	extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	extra[3] = &bytes;
	extra[4] = CU_LAUNCH_PARAM_END;
	OK(cuLibraryLoadData, &code, ptx, NULL, NULL, 0, NULL, NULL, 0);
	OK(cuLibraryGetKernel, &kernel, code, "add");
	CHECK(CU(cuFuncGetParamInfo, (CUfunction)kernel, 0, &offset, &size) ==
	      CUDA_ERROR_INVALID_HANDLE);
	OK(cuLaunchKernel_ptsz, (CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
	CHECK(sum == 7);
	OK(cuLibraryUnload, code);
	OK(cuModuleUnload, module);
}

static void graph_memory_waits_for_the_trim(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = {
		.poolProps = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			       .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } },
		.bytesize = 3 * MIB,
	};
	CUgraphExec exec, second;
	CUgraphNode node;
	cuuint64_t bytes;
	CUgraph graph;
	size_t before;

	start();
	before = used();
	OK(cuGraphCreate, &graph, 0);
	OK(cuGraphAddMemAllocNode, &node, graph, NULL, 0, &params);
	CHECK(params.dptr);
	OK(cuGraphInstantiateWithFlags, &exec, graph, 0);
	CHECK(CU(cuGraphInstantiateWithFlags, &second, graph, 0) != CUDA_SUCCESS);
	CHECK(used() == before);
	CHECK(CU(cuMemFree_v2, params.dptr) == CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphLaunch, exec, NULL);
	CHECK(used() - before == 32 * MIB);
	CHECK(CU(cuGraphLaunch, exec, NULL) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD8_v2, params.dptr, 1, params.bytesize);
	OK(cuMemFree_v2, params.dptr);
	OK(cuDeviceGetGraphMemAttribute, 0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes);
	CHECK(bytes == 32 * MIB);
	OK(cuGraphLaunch, exec, NULL);
	OK(cuGraphExecDestroy, exec);
	OK(cuGraphDestroy, graph);
	OK(cuDeviceGraphMemTrim, 0);
	CHECK(used() - before == 32 * MIB); /* still live */
	OK(cuMemFreeAsync, params.dptr, NULL);
	CHECK(used() - before == 32 * MIB);
	OK(cuDeviceGraphMemTrim, 0);
	CHECK(used() == before);
}

static void captures_become_graphs(void)
{
	CUstreamCaptureStatus status;
	CUdeviceptr addr, other;
	CUstream stream, joined;
	CUevent fork_event, join_event;
	CUgraphExec exec;
	CUgraph graph;
	size_t nodes = 0;

	start();
	other = take(16);
	OK(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	OK(cuStreamCreate, &joined, CU_STREAM_NON_BLOCKING);
	OK(cuEventCreate, &fork_event, 0);
	OK(cuEventCreate, &join_event, 0);
	OK(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	OK(cuMemAllocAsync, &addr, 100, stream);
	OK(cuEventRecord, fork_event, stream);
	OK(cuStreamWaitEvent, joined, fork_event, 0);
	OK(cuStreamIsCapturing, joined, &status);
	CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(cuMemsetD8Async, other, 5, 16, joined);
	OK(cuEventRecord, join_event, joined);
	OK(cuStreamWaitEvent, stream, join_event, 0);
	OK(cuMemFreeAsync, addr, stream);
	OK(cuStreamEndCapture, stream, &graph);
	OK(cuStreamIsCapturing, joined, &status);
	CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuGraphGetNodes, graph, NULL, &nodes);
	CHECK(nodes == 3);
	OK(cuGraphInstantiateWithFlags, &exec, graph, 0);
	OK(cuGraphLaunch, exec, stream);
	OK(cuGraphLaunch, exec, stream);
	CHECK(*(char *)other == 5);

	/* A call that the capture forbids spoils it. */
	OK(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemGetInfo_v2, &nodes, &nodes);
	CHECK(CU(cuMemAlloc_v2, &addr, 1) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	CHECK(CU(cuStreamEndCapture, stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void handles_count_their_users(void)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
	CUmemAccessDesc access = { .location = prop.location,
				   .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle handle, again;
	CUdeviceptr addr;
	size_t granularity, before;

	start();
	before = used();
	OK(cuMemGetAllocationGranularity, &granularity, &prop, 0);
	CHECK(granularity == 2 * MIB);
	CHECK(CU(cuMemCreate, &handle, MIB, &prop, 0) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemCreate, &handle, 4 * MIB, &prop, 0);
	CHECK(used() - before == 4 * MIB);
	OK(cuMemAddressReserve, &addr, 8 * MIB, 0, 0, 0);
	OK(cuMemMap, addr, 4 * MIB, 0, handle, 0);
	OK(cuMemMap, addr + 4 * MIB, 4 * MIB, 0, handle, 0);
	CHECK(CU(cuMemsetD8_v2, addr, 1, 1) != CUDA_SUCCESS);
	OK(cuMemSetAccess, addr, 8 * MIB, &access, 1);
	OK(cuMemsetD8_v2, addr + 3, 9, 4 * MIB);
	CHECK(*(char *)(addr + 4 * MIB + 3) == 9); /* the same memory twice */
	OK(cuMemRetainAllocationHandle, &again, (void *)(addr + 5));
	CHECK(again == handle);
	OK(cuMemRelease, handle);
	OK(cuMemRelease, handle);
	CHECK(CU(cuMemRelease, handle) == CUDA_ERROR_INVALID_VALUE);
	CHECK(used() - before == 4 * MIB); /* mapped */
	CHECK(CU(cuMemAddressFree, addr, 8 * MIB) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap, addr, 8 * MIB);
	CHECK(used() == before);
	OK(cuMemAddressFree, addr, 8 * MIB);
}

static void shared_memory_is_opened_once(void)
{
	CUipcMemHandle handle;
	CUdeviceptr addr, first, second;

	start();
	addr = take(1000);
	OK(cuMemsetD8_v2, addr, 3, 1000);
	OK(cuIpcGetMemHandle, &handle, addr);
	OK(cuIpcOpenMemHandle_v2, &first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	OK(cuIpcOpenMemHandle_v2, &second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	CHECK(first == second && first != addr);
	CHECK(*(char *)first == 3);
	CHECK(CU(cuMemFree_v2, first) == CUDA_ERROR_INVALID_VALUE);
	OK(cuIpcCloseMemHandle, first);
	OK(cuIpcCloseMemHandle, first);
	CHECK(CU(cuIpcCloseMemHandle, first) == CUDA_ERROR_INVALID_VALUE);
}

static void arrays_take_memory(void)
{
	CUDA_ARRAY3D_DESCRIPTOR desc = {
		.Width = 512, .Height = 512, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4
	};
	CUmipmappedArray mipmap;
	CUarray array, level;
	size_t before;

	start();
	before = used();
	OK(cuArray3DCreate_v2, &array, &desc);
	CHECK(used() - before == 4 * MIB);
	OK(cuMemcpyHtoA_v2, array, 16, "hi", 2);
	OK(cuArrayDestroy, array);
	CHECK(CU(cuArrayDestroy, array) == CUDA_ERROR_INVALID_HANDLE);
	OK(cuMipmappedArrayCreate, &mipmap, &desc, 3);
	OK(cuMipmappedArrayGetLevel, &level, mipmap, 2);
	CHECK(CU(cuArrayDestroy, level) == CUDA_ERROR_INVALID_HANDLE);
	OK(cuMipmappedArrayDestroy, mipmap);
	CHECK(used() == before);
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
