/*
 * Self-test of the simulated runtime, without kernels; see selftest_kernel.cu for those. Linked to
 * libcudart.so.13 as a program would be. Exit 0, or 1 with the line that failed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#define MIB ((size_t)1 << 20)

#define EXPECT(claim)                                                                              \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			printf("%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #claim,         \
			       cudaGetErrorName(cudaPeekAtLastError()));                           \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define OK(call) EXPECT((call) == cudaSuccess)

/* The twins that nvcc's per-thread mode calls; the header declares them for that mode alone. */
extern __typeof__(cudaMallocAsync) cudaMallocAsync_ptsz;
extern __typeof__(cudaFreeAsync) cudaFreeAsync_ptsz;
extern __typeof__(cudaMemcpy) cudaMemcpy_ptds;

static void *kept; /* until after the driver's end */

static int test_devices(void)
{
	struct cudaDeviceProp prop;
	int version = 0;
	int count = 0;
	int device = -1;
	int major = 0;

	OK(cudaRuntimeGetVersion(&version));
	EXPECT(version == CUDART_VERSION);
	OK(cudaDriverGetVersion(&version));
	EXPECT(version >= 13000);
	OK(cudaGetDeviceCount(&count));
	EXPECT(count >= 1);
	OK(cudaGetDevice(&device));
	EXPECT(device == 0);
	OK(cudaGetDeviceProperties(&prop, 0));
	OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	EXPECT(prop.major == major && prop.totalGlobalMem > 0 && prop.warpSize == 32);
	EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice);
	EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
	EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
	EXPECT(cudaGetLastError() == cudaSuccess);
	EXPECT(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") ==
	       0);
	EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
	return 0;
}

static int test_linear(void)
{
	struct cudaPointerAttributes attr;
	struct cudaPitchedPtr box;
	struct cudaExtent extent = { .width = 100, .height = 10, .depth = 3 };
	size_t before, after, total, pitch;
	char text[8] = "payload";
	char back[8] = "";
	void *ptr;

	OK(cudaFree(NULL));
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaMalloc(&ptr, 4 * MIB));
	OK(cudaMemGetInfo(&after, &total));
	EXPECT(before - after == 4 * MIB);
	OK(cudaPointerGetAttributes(&attr, ptr));
	EXPECT(attr.type == cudaMemoryTypeDevice && attr.device == 0 && attr.devicePointer == ptr);
	OK(cudaMemcpy(ptr, text, sizeof(text), cudaMemcpyHostToDevice));
	OK(cudaMemcpy((char *)ptr + MIB, ptr, sizeof(text), cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy_ptds(back, (char *)ptr + MIB, sizeof(back), cudaMemcpyDefault));
	EXPECT(memcmp(back, text, sizeof(text)) == 0);
	OK(cudaMemset(ptr, 0x5a, 16));
	OK(cudaMemcpy(back, ptr, sizeof(back), cudaMemcpyDeviceToHost));
	EXPECT(back[7] == 0x5a);
	OK(cudaFree(ptr));
	OK(cudaMemGetInfo(&after, &total));
	EXPECT(before == after);
	EXPECT(cudaMalloc(&ptr, 2 * total) == cudaErrorMemoryAllocation);
	EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
	EXPECT(cudaFree((void *)0x1234) == cudaErrorInvalidValue);
	cudaGetLastError();

	OK(cudaMallocPitch(&ptr, &pitch, 100, 10));
	EXPECT(pitch >= 100);
	OK(cudaMemcpy2D(ptr, pitch, text, 4, 4, 2, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(back, (char *)ptr + pitch, 4, cudaMemcpyDeviceToHost));
	EXPECT(memcmp(back, text + 4, 4) == 0);
	OK(cudaFree(ptr));
	OK(cudaMalloc3D(&box, extent));
	EXPECT(box.xsize == 100 && box.ysize == 10 && box.pitch == pitch);
	OK(cudaFree(box.ptr));
	OK(cudaMallocManaged(&ptr, 4096, cudaMemAttachGlobal));
	memset(ptr, 1, 4096);
	OK(cudaPointerGetAttributes(&attr, ptr));
	EXPECT(attr.type == cudaMemoryTypeManaged);
	OK(cudaFree(ptr));
	return 0;
}

static int test_host(void)
{
	static char page[8192];
	struct cudaPointerAttributes attr;
	void *ptr, *device;

	OK(cudaMallocHost(&ptr, 4096));
	OK(cudaPointerGetAttributes(&attr, ptr));
	EXPECT(attr.type == cudaMemoryTypeHost && attr.hostPointer == ptr);
	OK(cudaFreeHost(ptr));
	OK(cudaHostAlloc(&ptr, 4096, cudaHostAllocMapped));
	OK(cudaHostGetDevicePointer(&device, ptr, 0));
	EXPECT(device != NULL);
	OK(cudaFreeHost(ptr));
	OK(cudaHostRegister(page, sizeof(page), cudaHostRegisterDefault));
	EXPECT(cudaHostRegister(page, sizeof(page), cudaHostRegisterDefault) ==
	       cudaErrorHostMemoryAlreadyRegistered);
	cudaGetLastError();
	OK(cudaHostUnregister(page));
	OK(cudaPointerGetAttributes(&attr, page));
	EXPECT(attr.type == cudaMemoryTypeUnregistered);
	return 0;
}

static int test_arrays(void)
{
	struct cudaChannelFormatDesc desc =
		cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	struct cudaExtent extent = { .width = 64, .height = 64, .depth = 0 };
	struct cudaResourceDesc resource = { .resType = cudaResourceTypeArray };
	struct cudaTextureDesc how = { .readMode = cudaReadModeElementType };
	struct cudaExtent found;
	float in[4] = { 1, 2, 3, 4 };
	float out[4] = { 0 };
	cudaTextureObject_t texture;
	cudaSurfaceObject_t surface;
	cudaMipmappedArray_t mipmap;
	cudaArray_t array, level;

	OK(cudaMallocArray(&array, &desc, 64, 64, cudaArraySurfaceLoadStore));
	OK(cudaArrayGetInfo(&desc, &found, NULL, array));
	EXPECT(desc.x == 32 && desc.f == cudaChannelFormatKindFloat && found.height == 64);
	OK(cudaMemcpy2DToArray(array, 0, 0, in, 8, 8, 2, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DFromArray(out, 8, array, 0, 0, 8, 2, cudaMemcpyDeviceToHost));
	EXPECT(memcmp(in, out, sizeof(in)) == 0);
	resource.res.array.array = array;
	OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
	OK(cudaDestroyTextureObject(texture));
	OK(cudaCreateSurfaceObject(&surface, &resource));
	OK(cudaDestroySurfaceObject(surface));
	OK(cudaFreeArray(array));
	OK(cudaMalloc3DArray(&array, &desc, extent, 0));
	OK(cudaFreeArray(array));
	OK(cudaMallocMipmappedArray(&mipmap, &desc, extent, 3, 0));
	OK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
	OK(cudaFreeMipmappedArray(mipmap));
	return 0;
}

static void CUDART_CB count_up(void *data)
{
	++*(int *)data;
}

static int test_streams(void)
{
	struct cudaMemPoolProps props = {
		.allocType = cudaMemAllocationTypePinned,
		.location = { .type = cudaMemLocationTypeDevice, .id = 0 },
	};
	cudaEvent_t start, end;
	cudaMemPool_t pool, found;
	cudaStream_t stream;
	uint64_t used = 0;
	float ms = -1;
	int calls = 0;
	void *ptr;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaEventRecord(start, stream));
	OK(cudaMallocAsync(&ptr, 1000, stream));
	OK(cudaMemsetAsync(ptr, 0, 1000, stream));
	OK(cudaLaunchHostFunc(stream, count_up, &calls));
	OK(cudaFreeAsync(ptr, stream));
	OK(cudaMallocAsync_ptsz(&ptr, 1000, NULL));
	OK(cudaFreeAsync_ptsz(ptr, NULL));
	OK(cudaEventRecord(end, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	EXPECT(calls == 1 && ms >= 0);

	OK(cudaMemPoolCreate(&pool, &props));
	OK(cudaMallocFromPoolAsync(&ptr, 1000, pool, stream));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	EXPECT(used >= 1000);
	OK(cudaFreeAsync(ptr, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemPoolTrimTo(pool, 0));
	OK(cudaDeviceSetMemPool(0, pool));
	OK(cudaDeviceGetMemPool(&found, 0));
	EXPECT(found == pool);
	OK(cudaDeviceGetDefaultMemPool(&found, 0));
	EXPECT(found != pool);
	OK(cudaDeviceSetMemPool(0, found));
	OK(cudaMemPoolDestroy(pool));
	OK(cudaEventDestroy(start));
	OK(cudaEventDestroy(end));
	OK(cudaStreamDestroy(stream));
	return 0;
}

static int test_graphs(void)
{
	struct cudaMemAllocNodeParams alloc = { .bytesize = MIB };
	struct cudaMemsetParams set = { .elementSize = 1, .width = 16, .height = 1, .value = 7 };
	cudaGraphNode_t alloc_node, set_node, free_node;
	cudaGraph_t graph, clone, captured;
	uint64_t reserved = 0;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	size_t nr_nodes = 0;
	void *ptr;

	alloc.poolProps.allocType = cudaMemAllocationTypePinned;
	alloc.poolProps.location.type = cudaMemLocationTypeDevice;
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemAllocNode(&alloc_node, graph, NULL, 0, &alloc));
	EXPECT(alloc.dptr != NULL);
	set.dst = alloc.dptr;
	OK(cudaGraphAddMemsetNode(&set_node, graph, &alloc_node, 1, &set));
	OK(cudaGraphAddMemFreeNode(&free_node, graph, &set_node, 1, alloc.dptr));
	OK(cudaGraphGetNodes(graph, NULL, &nr_nodes));
	EXPECT(nr_nodes == 3);
	OK(cudaStreamCreate(&stream));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
	EXPECT(reserved >= MIB);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaDeviceGraphMemTrim(0));

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddEmptyNode(&set_node, graph, NULL, 0));
	OK(cudaGraphClone(&clone, graph));
	OK(cudaGraphGetNodes(clone, NULL, &nr_nodes));
	EXPECT(nr_nodes == 1);
	OK(cudaGraphDestroy(clone));
	OK(cudaGraphDestroy(graph));

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMallocAsync(&ptr, 4096, stream));
	OK(cudaFreeAsync(ptr, stream));
	OK(cudaStreamEndCapture(stream, &captured));
	OK(cudaGraphInstantiateWithFlags(&exec, captured, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(captured));
	OK(cudaStreamDestroy(stream));
	return 0;
}

static int test_entry_points(void)
{
	enum cudaDriverEntryPointQueryResult status;
	const void *table;
	void *entry = NULL;

	OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault,
					    &status));
	EXPECT(entry != NULL && status == cudaDriverEntryPointSuccess);
	OK(cudaProfilerStart());
	OK(cudaProfilerStop());
	EXPECT(cudaGetExportTable(&table, NULL) != cudaSuccess);
	cudaGetLastError();
	return 0;
}

static void *allocate_elsewhere(void *unused)
{
	void *ptr = NULL;

	(void)unused;
	return cudaMalloc(&ptr, 512) == cudaSuccess ? ptr : NULL;
}

/* A second thread has no context of its own yet, and after a reset nobody has. */
static int test_threads_and_reset(void)
{
	pthread_t thread;
	void *ptr;

	EXPECT(pthread_create(&thread, NULL, allocate_elsewhere, NULL) == 0);
	pthread_join(thread, &ptr);
	EXPECT(ptr != NULL);
	OK(cudaFree(ptr));
	OK(cudaDeviceReset());
	OK(cudaMalloc(&ptr, 512));
	OK(cudaFree(ptr));
	OK(cudaDeviceReset());
	OK(cudaMalloc(&kept, 512));
	return 0;
}

static int test_peers(void)
{
	int count = 0;
	int can = 0;
	int device = -1;
	void *ptr;

	OK(cudaGetDeviceCount(&count));
	if (count < 2)
		return 0;
	OK(cudaDeviceCanAccessPeer(&can, 0, 1));
	OK(cudaSetDevice(1));
	OK(cudaMalloc(&ptr, 512));
	OK(cudaGetDevice(&device));
	EXPECT(device == 1);
	OK(cudaSetDevice(0));
	if (can)
		OK(cudaDeviceEnablePeerAccess(1, 0));
	OK(cudaGetDevice(&device));
	EXPECT(device == 0);
	OK(cudaFree(ptr));
	return 0;
}

/* Registered before the driver's own handler, so it runs after the driver is gone. */
static void free_too_late(void)
{
	if (cudaFree(kept) != cudaErrorCudartUnloading) {
		printf("%s:%d: a free after the driver's end is no cudaErrorCudartUnloading\n",
		       __FILE__, __LINE__);
		fflush(stdout);
		_exit(1);
	}
}

int main(void)
{
	setenv("GMTSIM_DEINIT", "1", 1);
	atexit(free_too_late);
	return test_devices() || test_linear() || test_host() || test_arrays() || test_streams() ||
	       test_graphs() || test_entry_points() || test_peers() || test_threads_and_reset();
}
