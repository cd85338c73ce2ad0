/*
 * case: NULL where the driver takes or refuses it: the driver's answer is the program's, and
 * nothing is recorded
 */
/* links: cuda */
#include <cuda.h>

#include "program.h"

int main(void)
{
	CUcontext context;
	CUdevice device;
	CUdeviceptr memory;
	size_t bytes;

	EXPECT(cuMemAlloc(NULL, 100) != CUDA_SUCCESS);
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	/* No context is current on this thread yet: what is not written is not read. */
	memory = 0x5150;
	EXPECT(cuMemAlloc(&memory, 100) == CUDA_ERROR_INVALID_CONTEXT);
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	EXPECT(cuMemAlloc(NULL, 100) != CUDA_SUCCESS);
	EXPECT(cuMemAllocPitch(NULL, &bytes, 100, 100, 4) != CUDA_SUCCESS);
	EXPECT(cuMemAllocPitch(&memory, NULL, 100, 100, 4) != CUDA_SUCCESS);
	EXPECT(cuMemAllocManaged(NULL, 100, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS);
	EXPECT(cuMemAllocHost(NULL, 100) != CUDA_SUCCESS);
	EXPECT(cuMemHostAlloc(NULL, 100, 0) != CUDA_SUCCESS);
	EXPECT(cuMemHostRegister(NULL, 100, 0) != CUDA_SUCCESS);
	EXPECT(cuMemAlloc(&memory, 0) != CUDA_SUCCESS);
	MUST(cuMemFree(0));
	return 0;
}
