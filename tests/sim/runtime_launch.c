/*
 * Launches of the simulated runtime. The driver gets a CUkernel cast to CUfunction, as it does from
 * NVIDIA's runtime since CUDA 12.
 */
#include "tests/sim/runtime.h"

#include <string.h>

/* <<<>>> pushes; the stub that nvcc generates pops. Argument expressions may launch, so it nests.
 */
#define MAX_PUSHED 16

struct configuration {
	dim3 grid, block;
	size_t shared;
	struct CUstream_st *stream;
};

static __thread struct configuration pushed[MAX_PUSHED];
static __thread unsigned int nr_pushed;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					 struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
			       size_t shared, cudaStream_t stream);

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					 struct CUstream_st *stream)
{
	if (nr_pushed == MAX_PUSHED)
		return 1;
	pushed[nr_pushed++] = (struct configuration){ grid, block, shared, stream };
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	const struct configuration *top;

	if (nr_pushed == 0)
		return rt_done(cudaErrorMissingConfiguration);
	top = &pushed[--nr_pushed];
	*grid = top->grid;
	*block = top->block;
	*shared = top->shared;
	memcpy(stream, &top->stream, sizeof(top->stream));
	return cudaSuccess;
}

static inline __attribute__((always_inline)) CUresult launch(const struct rt_streams *drv,
							     CUkernel kernel, dim3 grid, dim3 block,
							     void **args, size_t shared,
							     cudaStream_t stream)
{
	if (!kernel)
		return (CUresult)cudaErrorInvalidDeviceFunction;
	return drv->cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
				   block.z, (unsigned int)shared, stream, args, NULL);
}

RT_TWINS(__cudaLaunchKernel, _ptsz,
	 (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
	  cudaStream_t stream),
	 (kernel, grid, block, args, shared, stream))
{
	return RT_CALL(launch(drv, (CUkernel)kernel, grid, block, args, shared, stream));
}

RT_TWINS(cudaLaunchKernel, _ptsz,
	 (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
	  cudaStream_t stream),
	 (function, grid, block, args, shared, stream))
{
	CUkernel kernel = NULL;
	cudaError_t err = RT_CALL(rt_find_kernel(function, &kernel));

	if (err != cudaSuccess)
		return err;
	return RT_CALL(launch(drv, kernel, grid, block, args, shared, stream));
}

RT_TWINS(cudaLaunchCooperativeKernel, _ptsz,
	 (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
	  cudaStream_t stream),
	 (function, grid, block, args, shared, stream))
{
	CUkernel kernel = NULL;
	cudaError_t err = RT_CALL(rt_find_kernel(function, &kernel));

	if (err != cudaSuccess)
		return err;
	return RT_CALL(drv->cuLaunchCooperativeKernel((CUfunction)kernel, grid.x, grid.y, grid.z,
						      block.x, block.y, block.z,
						      (unsigned int)shared, stream, args));
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "one layout for both");

RT_TWINS(cudaLaunchKernelExC, _ptsz,
	 (const cudaLaunchConfig_t *config, const void *function, void **args),
	 (config, function, args))
{
	CUkernel kernel = NULL;
	CUlaunchConfig how;
	cudaError_t err = RT_CALL(rt_find_kernel(function, &kernel));

	if (err != cudaSuccess)
		return err;
	how = (CUlaunchConfig){
		.gridDimX = config->gridDim.x,
		.gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y,
		.blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned int)config->dynamicSmemBytes,
		.hStream = config->stream,
		.attrs = (CUlaunchAttribute *)config->attrs,
		.numAttrs = config->numAttrs,
	};
	return RT_CALL(drv->cuLaunchKernelEx(&how, (CUfunction)kernel, args, NULL));
}
