/* Hints and questions about managed memory: checked, and without effect here. */
#include "driver.h"

static CUresult hint(CUdeviceptr addr, size_t count)
{
	struct sim_range *range = sim_range_find(addr);

	if (!range || range->kind != SIM_KIND_MANAGED || !count ||
	    addr + count > range->base + range->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

SIM_API(cuMemAdvise, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),
	(devPtr, count, advice, device))
{
	return hint(devPtr, count);
}

SIM_API(cuMemAdvise_v2,
	(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location),
	(devPtr, count, advice, location))
{
	return hint(devPtr, count);
}

SIM_API_TWIN(cuMemPrefetchAsync, _ptsz,
	     (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),
	     (devPtr, count, dstDevice, hStream))
{
	return hint(devPtr, count);
}

SIM_API_TWIN(cuMemPrefetchAsync_v2, _ptsz,
	     (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
	      CUstream hStream),
	     (devPtr, count, location, flags, hStream))
{
	return hint(devPtr, count);
}

SIM_API_TWIN(cuStreamAttachMemAsync, _ptsz,
	     (CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags),
	     (hStream, dptr, length, flags))
{
	struct sim_range *range = sim_range_find(dptr);

	return range && range->kind == SIM_KIND_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Nobody prefers, prefetched or reads mostly anything. */
static CUresult range_attribute(void *data, size_t bytes, CUmem_range_attribute attr)
{
	if (!data || bytes < sizeof(int) || bytes % sizeof(int))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		*(int *)data = 0;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		for (size_t i = 0; i < bytes / sizeof(int); i++)
			((int *)data)[i] = CU_DEVICE_INVALID;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

SIM_API(cuMemRangeGetAttribute,
	(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
	 size_t count),
	(data, dataSize, attribute, devPtr, count))
{
	CUresult rc = hint(devPtr, count);

	return rc == CUDA_SUCCESS ? range_attribute(data, dataSize, attribute) : rc;
}

SIM_API(cuMemRangeGetAttributes,
	(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes,
	 CUdeviceptr devPtr, size_t count),
	(data, dataSizes, attributes, numAttributes, devPtr, count))
{
	CUresult rc =
		data && dataSizes && attributes ? hint(devPtr, count) : CUDA_ERROR_INVALID_VALUE;

	for (size_t i = 0; rc == CUDA_SUCCESS && i < numAttributes; i++)
		rc = range_attribute(data[i], dataSizes[i], attributes[i]);
	return rc;
}
