/* case: a first cuInit that fails spoils nothing: what is allocated after a second one is seen */
/* links: cuda */
#include <cuda.h>

#include "program.h"

static void leak(void)
{
	CUdeviceptr memory;

	MUST(cuMemAlloc(&memory, 7000));
}

int main(void)
{
	CUcontext context;
	CUdevice device;

	/* The simulated driver refuses it once (init_retried.env). */
	if (cuInit(0) != CUDA_SUCCESS)
		EXPECT(cuDeviceGet(&device, 0) == CUDA_ERROR_NOT_INITIALIZED);
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	leak();
	return 0;
}
