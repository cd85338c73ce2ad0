/* case: an array goes with the context that owned it: class reset, and not with another one */
/* links: cuda */
#include <cuda.h>

#include "program.h"

static CUarray make_array(size_t width)
{
	CUDA_ARRAY_DESCRIPTOR shape = {
		.Width = width,
		.Height = 1024,
		.Format = CU_AD_FORMAT_FLOAT,
		.NumChannels = 4,
	};
	CUarray array;

	MUST(cuArrayCreate(&array, &shape));
	return array;
}

static void make_pyramid(void)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {
		.Width = 64,
		.Height = 64,
		.Format = CU_AD_FORMAT_UNSIGNED_INT8,
		.NumChannels = 1,
	};
	CUmipmappedArray pyramid;

	/* Of the 9 levels that are asked for there are 7. */
	MUST(cuMipmappedArrayCreate(&pyramid, &shape, 9));
}

int main(void)
{
	CUcontext primary, created;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&primary, device));
	MUST(cuCtxSetCurrent(primary));
	make_array(64);

	MUST(cuCtxCreate(&created, NULL, 0, device));
	make_array(128);
	MUST(cuArrayDestroy(make_array(256)));
	make_pyramid();
	MUST(cuCtxDestroy(created));
	return 0;
}
