/* Linear, host and array memory of the simulated runtime; see runtime_pool.c for pools. */
#include "tests/sim/runtime.h"

#include <string.h>

/* Rows of pitched memory start where any element type may. */
#define PITCH_ELEMENT 4

cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
	if (!ptr)
		return rt_done(cudaErrorInvalidValue);
	if (bytes == 0) {
		*ptr = NULL;
		return RT_CALL(CUDA_SUCCESS);
	}
	return RT_CALL(rt.cuMemAlloc((CUdeviceptr *)ptr, bytes));
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	return RT_CALL(rt.cuMemAllocPitch((CUdeviceptr *)ptr, pitch, width, height, PITCH_ELEMENT));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
	CUdeviceptr ptr = 0;
	size_t pitch = 0;
	cudaError_t err = RT_CALL(rt.cuMemAllocPitch(&ptr, &pitch, extent.width,
						     extent.height * extent.depth, PITCH_ELEMENT));

	if (err == cudaSuccess) {
		out->ptr = (void *)ptr;
		out->pitch = pitch;
		out->xsize = extent.width;
		out->ysize = extent.height;
	}
	return err;
}

cudaError_t cudaMallocManaged(void **ptr, size_t bytes, unsigned int flags)
{
	return RT_CALL(rt.cuMemAllocManaged((CUdeviceptr *)ptr, bytes, flags));
}

cudaError_t cudaFree(void *ptr)
{
	/* Freeing NULL is the usual way to make the context exist. */
	return RT_CALL(ptr ? rt.cuMemFree((CUdeviceptr)ptr) : CUDA_SUCCESS);
}

cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	if (bytes == 0) {
		*ptr = NULL;
		return RT_CALL(CUDA_SUCCESS);
	}
	return RT_CALL(rt.cuMemHostAlloc(ptr, bytes, flags));
}

cudaError_t cudaMallocHost(void **ptr, size_t bytes)
{
	if (bytes == 0) {
		*ptr = NULL;
		return RT_CALL(CUDA_SUCCESS);
	}
	return RT_CALL(rt.cuMemHostAlloc(ptr, bytes, CU_MEMHOSTALLOC_PORTABLE));
}

cudaError_t cudaFreeHost(void *ptr)
{
	return RT_CALL(ptr ? rt.cuMemFreeHost(ptr) : CUDA_SUCCESS);
}

cudaError_t cudaHostRegister(void *ptr, size_t bytes, unsigned int flags)
{
	return RT_CALL(rt.cuMemHostRegister(ptr, bytes, flags));
}

cudaError_t cudaHostUnregister(void *ptr)
{
	return RT_CALL(rt.cuMemHostUnregister(ptr));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	return RT_CALL(rt.cuMemHostGetDevicePointer((CUdeviceptr *)device, host, flags));
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
	return RT_CALL(rt.cuMemHostGetFlags(flags, host));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	return RT_CALL(rt.cuMemGetInfo(free_bytes, total_bytes));
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *ptr)
{
	CUmemorytype type = 0;
	CUdeviceptr device_ptr = 0;
	void *host_ptr = NULL;
	unsigned int managed = 0;
	int ordinal = -2;
	CUpointer_attribute names[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
		CU_POINTER_ATTRIBUTE_HOST_POINTER,   CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	};
	void *values[] = { &type, &device_ptr, &host_ptr, &managed, &ordinal };
	cudaError_t err;

	if (!out)
		return rt_done(cudaErrorInvalidValue);
	err = RT_CALL(rt.cuPointerGetAttributes(sizeof(names) / sizeof(*names), names, values,
						(CUdeviceptr)ptr));
	if (err != cudaSuccess)
		return err;

	memset(out, 0, sizeof(*out));
	if (managed)
		out->type = cudaMemoryTypeManaged;
	else if (type == CU_MEMORYTYPE_HOST)
		out->type = cudaMemoryTypeHost;
	else if (type == CU_MEMORYTYPE_DEVICE)
		out->type = cudaMemoryTypeDevice;
	else
		out->type = cudaMemoryTypeUnregistered;
	out->device = ordinal;
	out->devicePointer = (void *)device_ptr;
	out->hostPointer = type ? host_ptr : (void *)ptr;
	return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
			  struct cudaMemLocation where)
{
	CUmemLocation location = { .type = (CUmemLocationType)where.type, .id = where.id };

	return RT_CALL(rt.cuMemAdvise((CUdeviceptr)ptr, bytes, (CUmem_advise)advice, location));
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, enum cudaMemRangeAttribute attribute,
				     const void *ptr, size_t bytes)
{
	return RT_CALL(rt.cuMemRangeGetAttribute(data, size, (CUmem_range_attribute)attribute,
						 (CUdeviceptr)ptr, bytes));
}

RT_TWINS(cudaMemPrefetchAsync, _ptsz,
	 (const void *ptr, size_t bytes, struct cudaMemLocation where, unsigned int flags,
	  cudaStream_t stream),
	 (ptr, bytes, where, flags, stream))
{
	CUmemLocation location = { .type = (CUmemLocationType)where.type, .id = where.id };

	return RT_CALL(drv->cuMemPrefetchAsync((CUdeviceptr)ptr, bytes, location, flags, stream));
}

static int array_format(const struct cudaChannelFormatDesc *desc)
{
	switch (desc->f << 8 | desc->x) {
	case cudaChannelFormatKindSigned << 8 | 8:
		return CU_AD_FORMAT_SIGNED_INT8;
	case cudaChannelFormatKindSigned << 8 | 16:
		return CU_AD_FORMAT_SIGNED_INT16;
	case cudaChannelFormatKindSigned << 8 | 32:
		return CU_AD_FORMAT_SIGNED_INT32;
	case cudaChannelFormatKindUnsigned << 8 | 8:
		return CU_AD_FORMAT_UNSIGNED_INT8;
	case cudaChannelFormatKindUnsigned << 8 | 16:
		return CU_AD_FORMAT_UNSIGNED_INT16;
	case cudaChannelFormatKindUnsigned << 8 | 32:
		return CU_AD_FORMAT_UNSIGNED_INT32;
	case cudaChannelFormatKindFloat << 8 | 16:
		return CU_AD_FORMAT_HALF;
	case cudaChannelFormatKindFloat << 8 | 32:
		return CU_AD_FORMAT_FLOAT;
	}
	return -1;
}

bool rt_array_descriptor(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			 unsigned int flags, CUDA_ARRAY3D_DESCRIPTOR *out)
{
	int format = array_format(desc);
	int channels = !!desc->x + !!desc->y + !!desc->z + !!desc->w;

	if (format < 0 || channels == 3)
		return false;
	*out = (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = extent.width,
		.Height = extent.height,
		.Depth = extent.depth,
		.Format = (CUarray_format)format,
		.NumChannels = (unsigned int)channels,
		.Flags = flags,
	};
	return true;
}

static CUresult create_array(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			     struct cudaExtent extent, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor;

	if (!array || !desc || !rt_array_descriptor(desc, extent, flags, &descriptor))
		return CUDA_ERROR_INVALID_VALUE;
	return rt.cuArray3DCreate((CUarray *)array, &descriptor);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			    size_t width, size_t height, unsigned int flags)
{
	struct cudaExtent extent = { .width = width, .height = height, .depth = 0 };

	return RT_CALL(create_array(array, desc, extent, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			      struct cudaExtent extent, unsigned int flags)
{
	return RT_CALL(create_array(array, desc, extent, flags));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
	return RT_CALL(array ? rt.cuArrayDestroy((CUarray)array) : CUDA_SUCCESS);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
				     const struct cudaChannelFormatDesc *desc,
				     struct cudaExtent extent, unsigned int levels,
				     unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor;

	if (!array || !desc || !rt_array_descriptor(desc, extent, flags, &descriptor))
		return rt_done(cudaErrorInvalidValue);
	return RT_CALL(rt.cuMipmappedArrayCreate((CUmipmappedArray *)array, &descriptor, levels));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level_array, cudaMipmappedArray_const_t array,
				       unsigned int level)
{
	return RT_CALL(rt.cuMipmappedArrayGetLevel((CUarray *)level_array, (CUmipmappedArray)array,
						   level));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
	return RT_CALL(array ? rt.cuMipmappedArrayDestroy((CUmipmappedArray)array) : CUDA_SUCCESS);
}
