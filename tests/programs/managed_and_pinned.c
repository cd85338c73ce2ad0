/* case: managed, pinned and registered memory leaks too, each under its own kind */
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void make_managed(void)
{
	void *memory;

	MUST(cudaMallocManaged(&memory, 1 * MIB, cudaMemAttachGlobal));
}

static void make_pinned(void)
{
	void *by_malloc, *by_alloc, *freed;

	MUST(cudaMallocHost(&by_malloc, 8192));
	MUST(cudaHostAlloc(&by_alloc, 16384, cudaHostAllocDefault));
	MUST(cudaHostAlloc(&freed, 32768, cudaHostAllocDefault));
	MUST(cudaFreeHost(freed));
}

static void register_pages(void)
{
	void *kept = aligned_alloc(4096, 4096), *given_back = aligned_alloc(4096, 8192);

	MUST(cudaHostRegister(kept, 4096, cudaHostRegisterDefault));
	MUST(cudaHostRegister(given_back, 8192, cudaHostRegisterDefault));
	MUST(cudaHostUnregister(given_back));
	free(given_back);
}

int main(void)
{
	make_managed();
	make_pinned();
	register_pages();
	return 0;
}
