/* case: cudaFree of stream-ordered memory is a free; what nobody freed is a leak of the pool */
#include <cuda_runtime_api.h>

#include "program.h"

static void *scratch(cudaStream_t stream, size_t bytes)
{
	void *memory;

	MUST(cudaMallocAsync(&memory, bytes, stream));
	return memory;
}

int main(void)
{
	cudaStream_t stream;
	void *a, *b;

	MUST(cudaStreamCreate(&stream));
	a = scratch(stream, 1000000);
	b = scratch(stream, 500000);
	scratch(stream, 5000);
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaFree(a));
	MUST(cudaFreeAsync(b, stream));
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaStreamDestroy(stream));
	return 0;
}
