/* case: physical memory that a thread without a context made is on the device it was made for */
/* links: cuda */
/* threads */
#include <pthread.h>
#include <string.h>

#include <cuda.h>

#include "program.h"

static void *without_context(void *data)
{
	CUmemGenericAllocationHandle kept, released;
	CUcontext context = NULL;
	CUmemAllocationProp prop;

	(void)data;
	MUST(cuCtxGetCurrent(&context));
	EXPECT(context == NULL);
	memset(&prop, 0, sizeof(prop));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = 0;
	MUST(cuMemCreate(&kept, 4 * MIB, &prop, 0));
	MUST(cuMemCreate(&released, 2 * MIB, &prop, 0));
	EXPECT(cuMemCreate(&released, 0, &prop, 0) != CUDA_SUCCESS);
	MUST(cuMemRelease(released));
	return NULL;
}

int main(void)
{
	pthread_t thread;

	MUST(cuInit(0));
	MUST(pthread_create(&thread, NULL, without_context, NULL));
	MUST(pthread_join(thread, NULL));
	return 0;
}
