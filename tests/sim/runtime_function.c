/* Kernels as objects: attributes, occupancy, and libraries that the application loads itself. */
#include "tests/sim/runtime.h"

/* The kernel and the device it is asked about. */
static CUresult find(const void *function, CUkernel *kernel, CUdevice *device)
{
	cudaError_t err = rt_find_kernel(function, kernel);

	return err != cudaSuccess ? (CUresult)err : rt_device(device);
}

static CUresult kernel_attributes(struct cudaFuncAttributes *out, const void *function)
{
	int shared = 0;
	int constant = 0;
	int local = 0;
	const struct {
		CUfunction_attribute attribute;
		int *value;
	} wanted[] = {
		{ CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared },
		{ CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant },
		{ CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local },
		{ CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->maxThreadsPerBlock },
		{ CU_FUNC_ATTRIBUTE_NUM_REGS, &out->numRegs },
		{ CU_FUNC_ATTRIBUTE_PTX_VERSION, &out->ptxVersion },
		{ CU_FUNC_ATTRIBUTE_BINARY_VERSION, &out->binaryVersion },
		{ CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &out->cacheModeCA },
		{ CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		  &out->maxDynamicSharedSizeBytes },
		{ CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
		  &out->preferredShmemCarveout },
	};
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	if (rc != CUDA_SUCCESS)
		return rc;
	*out = (struct cudaFuncAttributes){ 0 };
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		rt.cuKernelGetAttribute(wanted[i].value, wanted[i].attribute, kernel, device);
	out->sharedSizeBytes = (size_t)shared;
	out->constSizeBytes = (size_t)constant;
	out->localSizeBytes = (size_t)local;
	return CUDA_SUCCESS;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
	if (!out)
		return rt_done(cudaErrorInvalidValue);
	return RT_CALL(kernel_attributes(out, function));
}

static CUresult set_attribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	if (rc != CUDA_SUCCESS)
		return rc;
	return rt.cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device);
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	return RT_CALL(set_attribute(function, attribute, value));
}

static CUresult set_cache_config(const void *function, enum cudaFuncCache config)
{
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	if (rc != CUDA_SUCCESS)
		return rc;
	return rt.cuKernelSetCacheConfig(kernel, (CUfunc_cache)config, device);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
	return RT_CALL(set_cache_config(function, config));
}

static CUresult kernel_name(const char **name, const void *function)
{
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	return rc != CUDA_SUCCESS ? rc : rt.cuKernelGetName(name, kernel);
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
	return RT_CALL(kernel_name(name, function));
}

static CUresult parameter(const void *function, size_t index, size_t *offset, size_t *bytes)
{
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	return rc != CUDA_SUCCESS ? rc : rt.cuKernelGetParamInfo(kernel, index, offset, bytes);
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes)
{
	return RT_CALL(parameter(function, index, offset, bytes));
}

static CUresult occupancy(int *blocks, const void *function, int block_size, size_t shared,
			  unsigned int flags)
{
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	if (rc != CUDA_SUCCESS)
		return rc;
	return rt.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (CUfunction)kernel,
								       block_size, shared, flags);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
							  int block_size, size_t shared)
{
	return RT_CALL(occupancy(blocks, function, block_size, shared, CU_OCCUPANCY_DEFAULT));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
								   const void *function,
								   int block_size, size_t shared,
								   unsigned int flags)
{
	return RT_CALL(occupancy(blocks, function, block_size, shared, flags));
}

static CUresult available_shared(size_t *shared, const void *function, int blocks, int block_size)
{
	CUkernel kernel;
	CUdevice device;
	CUresult rc = find(function, &kernel, &device);

	if (rc != CUDA_SUCCESS)
		return rc;
	return rt.cuOccupancyAvailableDynamicSMemPerBlock(shared, (CUfunction)kernel, blocks,
							  block_size);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function,
						      int blocks, int block_size)
{
	return RT_CALL(available_shared(shared, function, blocks, block_size));
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
				enum cudaJitOption *jit_options, void **jit_values,
				unsigned int nr_jit, enum cudaLibraryOption *options, void **values,
				unsigned int nr_options)
{
	return RT_CALL(rt.cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jit_options,
					    jit_values, nr_jit, (CUlibraryOption *)options, values,
					    nr_options));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
				    enum cudaJitOption *jit_options, void **jit_values,
				    unsigned int nr_jit, enum cudaLibraryOption *options,
				    void **values, unsigned int nr_options)
{
	return RT_CALL(rt.cuLibraryLoadFromFile((CUlibrary *)library, path,
						(CUjit_option *)jit_options, jit_values, nr_jit,
						(CUlibraryOption *)options, values, nr_options));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	return RT_CALL(rt.cuLibraryUnload((CUlibrary)library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	cudaError_t err =
		RT_CALL(rt.cuLibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name));

	if (err == cudaSuccess)
		rt_adopt_kernel((CUkernel)*kernel);
	return err;
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library)
{
	return RT_CALL(rt.cuLibraryGetKernelCount(count, (CUlibrary)library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
					cudaLibrary_t library)
{
	cudaError_t err = RT_CALL(
		rt.cuLibraryEnumerateKernels((CUkernel *)kernels, count, (CUlibrary)library));

	for (unsigned int i = 0; err == cudaSuccess && i < count; i++)
		rt_adopt_kernel((CUkernel)kernels[i]);
	return err;
}

cudaError_t cudaLibraryGetGlobal(void **ptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
	return RT_CALL(rt.cuLibraryGetGlobal((CUdeviceptr *)ptr, bytes, (CUlibrary)library, name));
}

cudaError_t cudaLibraryGetManaged(void **ptr, size_t *bytes, cudaLibrary_t library,
				  const char *name)
{
	return RT_CALL(rt.cuLibraryGetManaged((CUdeviceptr *)ptr, bytes, (CUlibrary)library, name));
}
