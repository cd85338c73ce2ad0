/* case: a thread without a context: its failed allocation is counted, its free is one */
/* links: cuda */
/* threads */
#include <pthread.h>

#include <cuda.h>

#include "program.h"

static CUdeviceptr memory;

static void *without_context(void *data)
{
	CUdeviceptr none = 0;
	CUcontext context = NULL;

	(void)data;
	MUST(cuCtxGetCurrent(&context));
	EXPECT(context == NULL);
	EXPECT(cuMemAlloc(&none, 64) == CUDA_ERROR_INVALID_CONTEXT);
	MUST(cuMemFree(memory));
	return NULL;
}

int main(void)
{
	pthread_t thread;
	CUcontext context;
	CUdeviceptr kept;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuMemAlloc(&memory, 6 * MIB));
	MUST(cuMemAlloc(&kept, 4 * MIB));
	MUST(pthread_create(&thread, NULL, without_context, NULL));
	MUST(pthread_join(thread, NULL));
	return 0;
}
