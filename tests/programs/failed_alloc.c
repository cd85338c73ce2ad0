/* case: an allocation that the driver refuses fails as it would, is counted, and is no block */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *memory = NULL;
	cudaError_t rc = cudaMalloc(&memory, (size_t)1 << 50);

	printf("%s\n", cudaGetErrorName(rc));
	EXPECT(cudaGetLastError() == rc);
	MUST(cudaMalloc(&memory, 2048));
	MUST(cudaFree(memory));
	return 0;
}
