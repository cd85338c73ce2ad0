/* case: freeing NULL is nothing, and no unknown free */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *memory;

	MUST(cudaFree(NULL));
	MUST(cudaFreeHost(NULL));
	MUST(cudaMalloc(&memory, 2048));
	MUST(cudaFree(memory));
	return 0;
}
