/* case: a block belongs to the device it was made on, whichever is current at its free */
#include <cuda_runtime_api.h>

#include "program.h"

static void *allocate_on(int device, size_t bytes)
{
	void *memory;

	MUST(cudaSetDevice(device));
	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

int main(void)
{
	void *first, *second;
	int count = 0;

	MUST(cudaGetDeviceCount(&count));
	if (count < 2)
		return 77;
	first = allocate_on(0, 100000);
	second = allocate_on(1, 200000);
	/* Device 1 is current. */
	MUST(cudaFree(first));
	allocate_on(1, 30000);
	allocate_on(0, 4000);
	/* Device 0 is current. */
	MUST(cudaFree(second));
	return 0;
}
