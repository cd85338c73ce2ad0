/* case: an array's handle is no address: a kernel that is passed it references no block by it */
#include <cuda_runtime.h>

#include "tests/programs/program.h"

__global__ void keep_handle(unsigned long long *out, void *handle)
{
	*out = (unsigned long long)handle;
}

int main(void)
{
	struct cudaChannelFormatDesc format =
		cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaArray_t array;
	void *out;

	MUST(cudaMallocArray(&array, &format, 1024, 256, cudaArrayDefault));
	MUST(cudaMalloc(&out, 8));
	keep_handle<<<1, 1>>>((unsigned long long *)out, (void *)array);
	MUST(cudaGetLastError());
	MUST(cudaDeviceSynchronize());
	MUST(cudaFree(out));
	MUST(cudaFreeArray(array));
	return 0;
}
