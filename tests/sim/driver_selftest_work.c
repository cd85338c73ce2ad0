/* Self-test of the simulated driver: copies, time, kernels, graphs and captures. */
#include "driver_selftest.h"

#include <stdlib.h>
#include <string.h>

#include "driver_public.h"
#include "sim.h"

void copies_and_fills(void)
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

void times_are_simulated(void)
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

void kernels_run_and_are_seen(void)
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
	set_tool = (__typeof__(set_tool))ENTRY("gmtsim_set_tool");
	enlist = (__typeof__(enlist))ENTRY("gmtsim_register_kernel");
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

void graph_memory_waits_for_the_trim(void)
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

void captures_become_graphs(void)
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
