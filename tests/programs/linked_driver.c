/* case: a program that links the driver itself is told which driver entry it called */
/* links: cuda */
#include <cuda.h>

#include "program.h"

static void start(void)
{
	CUcontext context;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
}

static void fill(void)
{
	CUdeviceptr kept, freed;

	MUST(cuMemAlloc(&kept, 123456));
	MUST(cuMemAlloc(&freed, 654321));
	MUST(cuMemFree(freed));
}

int main(void)
{
	start();
	fill();
	return 0;
}
