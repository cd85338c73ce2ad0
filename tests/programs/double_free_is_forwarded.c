/* case: a second free of a block gets the driver's own error, and the program goes on */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *memory, *other;

	MUST(cudaMalloc(&memory, 2048));
	MUST(cudaMalloc(&other, 64));
	MUST(cudaFree(memory));
	printf("%s\n", cudaGetErrorName(cudaFree(memory)));
	MUST(cudaFree(other));
	return 0;
}
