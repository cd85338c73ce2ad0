/*
 * CUDA arrays and mipmapped arrays, and the texture and surface objects on them. An array is a
 * plain block of rows here, taken from the device like linear memory but with no address to the
 * program.
 */
#include <stdlib.h>

#include "driver.h"

struct sim_mipmap {
	struct sim_object object;
	unsigned int nr_levels;
	struct sim_array *levels[];
};

static size_t element_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0; /* compressed and video formats are not simulated */
	}
}

static bool is_unbacked(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	return desc->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING);
}

static CUresult new_array(struct sim_array **out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	SIM_CURRENT(ctx);
	size_t height = desc->Height ? desc->Height : 1, depth = desc->Depth ? desc->Depth : 1;
	size_t element = element_bytes(desc->Format) * desc->NumChannels;
	struct sim_array *array;
	CUresult rc = sim_capture_forbids();

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!desc->Width || !element || desc->NumChannels == 3 || desc->NumChannels > 4)
		return CUDA_ERROR_INVALID_VALUE;
	array = sim_object_new(sizeof(*array), SIM_ARRAY, ctx);
	if (!array)
		return CUDA_ERROR_OUT_OF_MEMORY;
	array->device = ctx->device;
	array->desc = *desc;
	array->row = desc->Width * element;
	array->slice = array->row * height;
	array->bytes = is_unbacked(desc) ? 0 : array->slice * depth;
	if (array->bytes && !sim_oom_injected(array->bytes))
		array->memory = sim_linear_take(ctx->device, array->bytes, false);
	if (array->bytes && !array->memory) {
		sim_object_free(array);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*out = array;
	return CUDA_SUCCESS;
}

/* Also for the levels of a mipmap, which count as one allocation. */
static void free_array(struct sim_array *array)
{
	if (array->memory)
		sim_linear_give(array->device, array->memory, array->bytes);
	sim_object_free(array);
}

static void count_end(const struct sim_device *device, size_t bytes, bool reclaim)
{
	if (reclaim)
		sim_stat_reclaim(device, SIM_KIND_ARRAY, bytes);
	else
		sim_stat_free(device, SIM_KIND_ARRAY, bytes);
}

void sim_array_destroy(struct sim_array *array, bool reclaim)
{
	count_end(array->device, array->bytes, reclaim);
	free_array(array);
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	struct sim_array *array;
	CUresult rc = out ? new_array(&array, desc) : CUDA_ERROR_INVALID_VALUE;

	if (rc != CUDA_SUCCESS)
		return rc;
	sim_stat_alloc(array->device, SIM_KIND_ARRAY, array->bytes);
	*out = (CUarray)array;
	return CUDA_SUCCESS;
}

#define FLAT(d)                                                                                    \
	(&(CUDA_ARRAY3D_DESCRIPTOR){ .Width = (d)->Width,                                          \
				     .Height = (d)->Height,                                        \
				     .Format = (d)->Format,                                        \
				     .NumChannels = (d)->NumChannels })
#define DEEP(d)                                                                                    \
	(&(CUDA_ARRAY3D_DESCRIPTOR){ (d)->Width, (d)->Height, (d)->Depth, (d)->Format,             \
				     (d)->NumChannels, (d)->Flags })

SIM_API(cuArrayCreate_v2, (CUarray * pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray),
	(pHandle, pAllocateArray))
{
	return pAllocateArray ? create(pHandle, FLAT(pAllocateArray)) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuArrayCreate, (CUarray * pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray),
	(pHandle, pAllocateArray))
{
	return pAllocateArray ? create(pHandle, FLAT(pAllocateArray)) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuArray3DCreate_v2, (CUarray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray),
	(pHandle, pAllocateArray))
{
	return pAllocateArray ? create(pHandle, pAllocateArray) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuArray3DCreate, (CUarray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray),
	(pHandle, pAllocateArray))
{
	return pAllocateArray ? create(pHandle, DEEP(pAllocateArray)) : CUDA_ERROR_INVALID_VALUE;
}

#define DESCRIBE(name, type, ...)                                                                  \
	SIM_API(name, (type * out, CUarray hArray), (out, hArray))                                 \
	{                                                                                          \
		SIM_FIND(array, sim_array, hArray, SIM_ARRAY);                                     \
		if (!out)                                                                          \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		if (!array)                                                                        \
			return CUDA_ERROR_INVALID_HANDLE;                                          \
		*out = (type){ __VA_ARGS__ };                                                      \
		return CUDA_SUCCESS;                                                               \
	}

DESCRIBE(cuArrayGetDescriptor_v2, CUDA_ARRAY_DESCRIPTOR, array->desc.Width, array->desc.Height,
	 array->desc.Format, array->desc.NumChannels)
DESCRIBE(cuArrayGetDescriptor, CUDA_ARRAY_DESCRIPTOR_v1, (unsigned int)array->desc.Width,
	 (unsigned int)array->desc.Height, array->desc.Format, array->desc.NumChannels)
DESCRIBE(cuArray3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR, array->desc.Width, array->desc.Height,
	 array->desc.Depth, array->desc.Format, array->desc.NumChannels, array->desc.Flags)
DESCRIBE(cuArray3DGetDescriptor, CUDA_ARRAY3D_DESCRIPTOR_v1, (unsigned int)array->desc.Width,
	 (unsigned int)array->desc.Height, (unsigned int)array->desc.Depth, array->desc.Format,
	 array->desc.NumChannels, array->desc.Flags)

SIM_API(cuArrayDestroy, (CUarray hArray), (hArray))
{
	SIM_FIND(array, sim_array, hArray, SIM_ARRAY);

	if (!array || array->mipmap)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_array_destroy(array, false);
	return CUDA_SUCCESS;
}

SIM_API(cuArrayGetMemoryRequirements,
	(CUDA_ARRAY_MEMORY_REQUIREMENTS * memoryRequirements, CUarray array, CUdevice device),
	(memoryRequirements, array, device))
{
	SIM_FIND(found, sim_array, array, SIM_ARRAY);

	if (!memoryRequirements || !found || !(found->desc.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING))
		return CUDA_ERROR_INVALID_VALUE;
	*memoryRequirements = (CUDA_ARRAY_MEMORY_REQUIREMENTS){
		.size = sim_round(found->slice * (found->desc.Depth ? found->desc.Depth : 1),
				  SIM_PAGE),
		.alignment = SIM_PAGE,
	};
	return CUDA_SUCCESS;
}

static size_t mipmap_bytes(const struct sim_mipmap *mipmap)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < mipmap->nr_levels; i++)
		bytes += mipmap->levels[i]->bytes;
	return bytes;
}

static void free_mipmap(struct sim_mipmap *mipmap)
{
	for (unsigned int i = 0; i < mipmap->nr_levels; i++)
		free_array(mipmap->levels[i]);
	sim_object_free(mipmap);
}

void sim_mipmap_destroy(struct sim_mipmap *mipmap, bool reclaim)
{
	count_end(mipmap->object.context->device, mipmap_bytes(mipmap), reclaim);
	free_mipmap(mipmap);
}

static size_t halved(size_t extent, unsigned int times)
{
	return extent && !(extent >> times) ? 1 : extent >> times;
}

SIM_API(cuMipmappedArrayCreate,
	(CUmipmappedArray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
	 unsigned int numMipmapLevels),
	(pHandle, pMipmappedArrayDesc, numMipmapLevels))
{
	SIM_CURRENT(ctx);
	struct sim_mipmap *mipmap;

	if (!pHandle || !pMipmappedArrayDesc || !numMipmapLevels || numMipmapLevels > 32)
		return CUDA_ERROR_INVALID_VALUE;
	mipmap = sim_object_new(sizeof(*mipmap) + numMipmapLevels * sizeof(mipmap->levels[0]),
				SIM_MIPMAP, ctx);
	if (!mipmap)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (unsigned int i = 0; i < numMipmapLevels; i++) {
		CUDA_ARRAY3D_DESCRIPTOR desc = *pMipmappedArrayDesc;
		CUresult rc;

		desc.Width = halved(desc.Width, i);
		desc.Height = halved(desc.Height, i);
		desc.Depth = halved(desc.Depth, i);
		rc = new_array(&mipmap->levels[i], &desc);
		if (rc != CUDA_SUCCESS) {
			free_mipmap(mipmap);
			return rc;
		}
		mipmap->levels[i]->mipmap = mipmap;
		mipmap->nr_levels++;
	}
	sim_stat_alloc(ctx->device, SIM_KIND_ARRAY, mipmap_bytes(mipmap));
	*pHandle = (CUmipmappedArray)mipmap;
	return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayGetLevel,
	(CUarray * pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level),
	(pLevelArray, hMipmappedArray, level))
{
	SIM_FIND(mipmap, sim_mipmap, hMipmappedArray, SIM_MIPMAP);

	if (!pLevelArray || !mipmap || level >= mipmap->nr_levels)
		return CUDA_ERROR_INVALID_VALUE;
	*pLevelArray = (CUarray)mipmap->levels[level];
	return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayDestroy, (CUmipmappedArray hMipmappedArray), (hMipmappedArray))
{
	SIM_FIND(mipmap, sim_mipmap, hMipmappedArray, SIM_MIPMAP);

	if (!mipmap)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_mipmap_destroy(mipmap, false);
	return CUDA_SUCCESS;
}
