/* case: arrays and mipmapped arrays leak with estimated sizes; their levels are no allocations */
#include <cuda_runtime_api.h>

#include "program.h"

static struct cudaChannelFormatDesc one_float(void)
{
	return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
}

static void make_image(void)
{
	struct cudaChannelFormatDesc format = one_float();
	cudaArray_t kept;

	MUST(cudaMallocArray(&kept, &format, 1024, 256, cudaArrayDefault));
}

static cudaArray_t make_volume(void)
{
	struct cudaChannelFormatDesc format = one_float();
	cudaArray_t volume;

	MUST(cudaMalloc3DArray(&volume, &format, (struct cudaExtent){ 64, 32, 16 },
			       cudaArrayDefault));
	return volume;
}

/* 4 x (512 x 512 + 256 x 256 + 128 x 128) bytes */
static void make_pyramid(void)
{
	struct cudaChannelFormatDesc format = one_float();
	cudaMipmappedArray_t kept, freed;
	cudaArray_t level;

	MUST(cudaMallocMipmappedArray(&kept, &format, (struct cudaExtent){ 512, 512, 0 }, 3,
				      cudaArrayDefault));
	MUST(cudaMallocMipmappedArray(&freed, &format, (struct cudaExtent){ 64, 64, 0 }, 2,
				      cudaArrayDefault));
	MUST(cudaGetMipmappedArrayLevel(&level, kept, 1));
	MUST(cudaFreeMipmappedArray(freed));
}

/* 6 layers of one row */
static void make_layers(void)
{
	struct cudaChannelFormatDesc format = one_float();
	cudaArray_t kept;

	MUST(cudaMalloc3DArray(&kept, &format, (struct cudaExtent){ 128, 0, 6 }, cudaArrayLayered));
}

/* Its memory would be mapped into it later. */
static void make_unbacked(void)
{
	struct cudaChannelFormatDesc format = one_float();
	cudaArray_t kept;

	MUST(cudaMallocArray(&kept, &format, 256, 256, cudaArrayDeferredMapping));
}

int main(void)
{
	make_image();
	MUST(cudaFreeArray(make_volume()));
	make_volume();
	make_pyramid();
	make_layers();
	make_unbacked();
	return 0;
}
