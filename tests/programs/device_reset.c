/* case: what is live when the device is reset is a leak of class reset, and the device is empty */
#include <cuda_runtime_api.h>

#include "program.h"

static void *device_memory(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

int main(void)
{
	void *freed, *pinned;

	device_memory(30000);
	freed = device_memory(5000);
	MUST(cudaFree(freed));
	MUST(cudaMallocHost(&pinned, 8192));
	MUST(cudaDeviceReset());

	/* The same addresses may come again, in a new context. */
	freed = device_memory(30000);
	MUST(cudaFree(freed));
	device_memory(70);
	return 0;
}
