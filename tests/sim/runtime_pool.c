/* Stream-ordered allocation and memory pools of the simulated runtime. */
#include "tests/sim/runtime.h"

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "one layout for both");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "one layout for both");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "one layout for both");

RT_TWINS(cudaMallocAsync, _ptsz, (void **ptr, size_t bytes, cudaStream_t stream),
	 (ptr, bytes, stream))
{
	if (!ptr)
		return rt_done(cudaErrorInvalidValue);
	if (bytes == 0) {
		*ptr = NULL;
		return RT_CALL(CUDA_SUCCESS);
	}
	return RT_CALL(drv->cuMemAllocAsync((CUdeviceptr *)ptr, bytes, stream));
}

RT_TWINS(cudaMallocFromPoolAsync, _ptsz,
	 (void **ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	 (ptr, bytes, pool, stream))
{
	if (!ptr)
		return rt_done(cudaErrorInvalidValue);
	if (bytes == 0) {
		*ptr = NULL;
		return RT_CALL(CUDA_SUCCESS);
	}
	return RT_CALL(drv->cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, bytes, pool, stream));
}

RT_TWINS(cudaFreeAsync, _ptsz, (void *ptr, cudaStream_t stream), (ptr, stream))
{
	return RT_CALL(ptr ? drv->cuMemFreeAsync((CUdeviceptr)ptr, stream) : CUDA_SUCCESS);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
	return RT_CALL(rt.cuMemPoolCreate(pool, (const CUmemPoolProps *)props));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	return RT_CALL(rt.cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	return RT_CALL(rt.cuMemPoolTrimTo(pool, keep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	return RT_CALL(rt.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	return RT_CALL(rt.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *desc,
				 size_t count)
{
	return RT_CALL(rt.cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)desc, count));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
				 struct cudaMemLocation *location)
{
	return RT_CALL(
		rt.cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location));
}

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
					       enum cudaMemAllocationHandleType type,
					       unsigned int flags)
{
	return RT_CALL(rt.cuMemPoolExportToShareableHandle(handle, pool,
							   (CUmemAllocationHandleType)type, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
						 enum cudaMemAllocationHandleType type,
						 unsigned int flags)
{
	return RT_CALL(rt.cuMemPoolImportFromShareableHandle(
		pool, handle, (CUmemAllocationHandleType)type, flags));
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data, void *ptr)
{
	return RT_CALL(rt.cuMemPoolExportPointer((CUmemPoolPtrExportData *)data, (CUdeviceptr)ptr));
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t pool,
				     struct cudaMemPoolPtrExportData *data)
{
	return RT_CALL(rt.cuMemPoolImportPointer((CUdeviceptr *)ptr, pool,
						 (CUmemPoolPtrExportData *)data));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	return RT_CALL(rt.cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
	return RT_CALL(rt.cuDeviceGetMemPool(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
	return RT_CALL(rt.cuDeviceSetMemPool(device, pool));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
				     enum cudaMemAllocationType type)
{
	return RT_CALL(rt.cuMemGetDefaultMemPool(pool, (CUmemLocation *)location,
						 (CUmemAllocationType)type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
			      enum cudaMemAllocationType type)
{
	return RT_CALL(
		rt.cuMemGetMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
			      cudaMemPool_t pool)
{
	return RT_CALL(
		rt.cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, pool));
}
