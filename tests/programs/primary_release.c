/* case: the last release of a primary context takes its memory along: class reset */
/* links: cuda */
#include <cuda.h>

#include "program.h"

int main(void)
{
	CUcontext context;
	CUdeviceptr memory;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuMemAlloc(&memory, 3 * MIB));

	/* The first of two releases takes nothing. */
	MUST(cuDevicePrimaryCtxRelease(device));
	MUST(cuMemFree(memory));
	MUST(cuMemAlloc(&memory, 5 * MIB));
	MUST(cuDevicePrimaryCtxRelease(device));
	return 0;
}
