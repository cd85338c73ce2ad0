/* Texture and surface objects: descriptors that are kept and given back. They take no memory. */
#include "driver.h"

struct texture {
	struct sim_object object;
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC texture;
	CUDA_RESOURCE_VIEW_DESC view;
};

static struct texture *new_texture(enum sim_type type, struct sim_context *ctx,
				   const CUDA_RESOURCE_DESC *resource)
{
	struct texture *texture = sim_object_new(sizeof(*texture), type, ctx);

	if (texture)
		texture->resource = *resource;
	return texture;
}

SIM_API(cuTexObjectCreate,
	(CUtexObject * pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
	 const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc),
	(pTexObject, pResDesc, pTexDesc, pResViewDesc))
{
	SIM_CURRENT(ctx);
	struct texture *texture;

	if (!pTexObject || !pResDesc)
		return CUDA_ERROR_INVALID_VALUE;
	texture = new_texture(SIM_TEXTURE, ctx, pResDesc);
	if (!texture)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (pTexDesc)
		texture->texture = *pTexDesc;
	if (pResViewDesc)
		texture->view = *pResViewDesc;
	*pTexObject = (CUtexObject)(uintptr_t)texture;
	return CUDA_SUCCESS;
}

SIM_API(cuSurfObjectCreate, (CUsurfObject * pSurfObject, const CUDA_RESOURCE_DESC *pResDesc),
	(pSurfObject, pResDesc))
{
	SIM_CURRENT(ctx);
	struct texture *surface;

	if (!pSurfObject || !pResDesc)
		return CUDA_ERROR_INVALID_VALUE;
	surface = new_texture(SIM_SURFACE, ctx, pResDesc);
	if (!surface)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*pSurfObject = (CUsurfObject)(uintptr_t)surface;
	return CUDA_SUCCESS;
}

static CUresult destroy(unsigned long long handle, enum sim_type type)
{
	void *object = sim_object_find((void *)(uintptr_t)handle, type);

	if (!object)
		return CUDA_ERROR_INVALID_VALUE;
	sim_object_free(object);
	return CUDA_SUCCESS;
}

SIM_API(cuTexObjectDestroy, (CUtexObject texObject), (texObject))
{
	return destroy(texObject, SIM_TEXTURE);
}

SIM_API(cuSurfObjectDestroy, (CUsurfObject surfObject), (surfObject))
{
	return destroy(surfObject, SIM_SURFACE);
}

#define DESCRIBE(name, type, object_type, kind, member)                                            \
	SIM_API(name, (type * out, object_type handle), (out, handle))                             \
	{                                                                                          \
		SIM_FIND(found, texture, (void *)(uintptr_t)handle, kind);                         \
		if (!out || !found)                                                                \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		*out = found->member;                                                              \
		return CUDA_SUCCESS;                                                               \
	}

DESCRIBE(cuTexObjectGetResourceDesc, CUDA_RESOURCE_DESC, CUtexObject, SIM_TEXTURE, resource)
DESCRIBE(cuTexObjectGetTextureDesc, CUDA_TEXTURE_DESC, CUtexObject, SIM_TEXTURE, texture)
DESCRIBE(cuTexObjectGetResourceViewDesc, CUDA_RESOURCE_VIEW_DESC, CUtexObject, SIM_TEXTURE, view)
DESCRIBE(cuSurfObjectGetResourceDesc, CUDA_RESOURCE_DESC, CUsurfObject, SIM_SURFACE, resource)
