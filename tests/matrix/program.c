/*
 * Built with the headers of each CUDA and linked with its runtime (scripts/check-matrix.sh). Leaks
 * three blocks: by cudaMalloc, by cudaHostAlloc, and by an entry of the driver that it asks the
 * runtime for. Ends with the first error.
 */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

static void check(cudaError_t rc, const char *call)
{
	printf("%s: %s\n", call, cudaGetErrorName(rc));
	if (rc != cudaSuccess)
		exit((int)rc);
}

#define CHECK(call) check(call, #call)

static cudaError_t entry_point(const char *name, void **entry)
{
#if CUDART_VERSION >= 12050
	return cudaGetDriverEntryPointByVersion(name, entry, 12000, cudaEnableDefault, NULL);
#elif CUDART_VERSION >= 12000
	return cudaGetDriverEntryPoint(name, entry, cudaEnableDefault, NULL);
#else
	return cudaGetDriverEntryPoint(name, entry, cudaEnableDefault);
#endif
}

int main(void)
{
	int (*allocate)(unsigned long long *address, size_t bytes);
	unsigned long long address;
	void *kept, *freed, *pinned, *unpinned, *pooled, *entry = NULL;
	cudaStream_t stream;
	int version = 0;

	CHECK(cudaRuntimeGetVersion(&version));
	printf("built with %d, runtime %d\n", CUDART_VERSION, version);

	CHECK(cudaMalloc(&kept, 4096));
	CHECK(cudaMalloc(&freed, 100000));
	CHECK(cudaHostAlloc(&pinned, 8192, cudaHostAllocDefault));
	CHECK(cudaMallocHost(&unpinned, 3000));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMallocAsync(&pooled, 5000, stream));
	CHECK(cudaMemset(kept, 0, 4096));
	CHECK(entry_point("cuMemAlloc", &entry));
	if (!entry)
		return 1;
	*(void **)&allocate = entry;
	printf("cuMemAlloc: %d\n", allocate(&address, 16384));

	CHECK(cudaFreeAsync(pooled, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFreeHost(unpinned));
	CHECK(cudaFree(freed));
	return 0;
}
