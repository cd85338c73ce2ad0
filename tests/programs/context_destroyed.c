/* case: what a context owned when it was destroyed is a leak of class reset; pools outlive it */
/* links: cuda */
#include <cuda.h>

#include "program.h"

static CUdeviceptr forget(size_t bytes)
{
	CUdeviceptr memory;

	MUST(cuMemAlloc(&memory, bytes));
	return memory;
}

int main(void)
{
	CUcontext primary, created, popped;
	CUdeviceptr freed;
	CUdevice device;
	void *host;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&primary, device));
	MUST(cuCtxSetCurrent(primary));
	forget(4 * MIB);

	MUST(cuCtxCreate(&created, NULL, 0, device));
	forget(8 * MIB);
	freed = forget(2 * MIB);
	MUST(cuMemFree(freed));
	MUST(cuMemAllocHost(&host, 4096));
	MUST(cuCtxPopCurrent(&popped));
	EXPECT(popped == created);

	/* Of the primary context, although it is made while another exists. */
	forget(6 * MIB);
	MUST(cuCtxDestroy(created));
	return 0;
}
