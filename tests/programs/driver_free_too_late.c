/* case: a free that the driver refuses because it shuts down is listed, and is no leak */
/* links: cuda */
#include <stdlib.h>

#include <cuda.h>

#include "program.h"

static CUdeviceptr memory;

/* Registered before cuInit, so it runs after the driver's own exit handler. */
static void free_at_exit(void)
{
	if (cuMemFree(memory) != CUDA_ERROR_DEINITIALIZED)
		abort();
}

int main(void)
{
	CUcontext context;
	CUdevice device;

	atexit(free_at_exit);
	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context) || cuMemAlloc(&memory, 5000))
		return 1;
	return 0;
}
