/* IPC, textures and surfaces, and the ways round the runtime. */
#include "tests/sim/runtime.h"

#include <string.h>

#include <cuda_profiler_api.h>

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *ptr)
{
	return RT_CALL(rt.cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)ptr));
}

cudaError_t cudaIpcOpenMemHandle(void **ptr, cudaIpcMemHandle_t handle, unsigned int flags)
{
	CUipcMemHandle same;

	memcpy(&same, &handle, sizeof(same));
	return RT_CALL(rt.cuIpcOpenMemHandle((CUdeviceptr *)ptr, same, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
	return RT_CALL(rt.cuIpcCloseMemHandle((CUdeviceptr)ptr));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
	return RT_CALL(rt.cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
	CUipcEventHandle same;

	memcpy(&same, &handle, sizeof(same));
	return RT_CALL(rt.cuIpcOpenEventHandle(event, same));
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, kind };
}

static bool resource(const struct cudaResourceDesc *desc, CUDA_RESOURCE_DESC *out)
{
	CUDA_ARRAY3D_DESCRIPTOR format;
	struct cudaExtent none = { 0 };

	memset(out, 0, sizeof(*out));
	out->resType = (CUresourcetype)desc->resType;
	switch (desc->resType) {
	case cudaResourceTypeArray:
		out->res.array.hArray = (CUarray)desc->res.array.array;
		return true;
	case cudaResourceTypeMipmappedArray:
		out->res.mipmap.hMipmappedArray = (CUmipmappedArray)desc->res.mipmap.mipmap;
		return true;
	case cudaResourceTypeLinear:
		if (!rt_array_descriptor(&desc->res.linear.desc, none, 0, &format))
			return false;
		out->res.linear.devPtr = (CUdeviceptr)desc->res.linear.devPtr;
		out->res.linear.format = format.Format;
		out->res.linear.numChannels = format.NumChannels;
		out->res.linear.sizeInBytes = desc->res.linear.sizeInBytes;
		return true;
	case cudaResourceTypePitch2D:
		if (!rt_array_descriptor(&desc->res.pitch2D.desc, none, 0, &format))
			return false;
		out->res.pitch2D.devPtr = (CUdeviceptr)desc->res.pitch2D.devPtr;
		out->res.pitch2D.format = format.Format;
		out->res.pitch2D.numChannels = format.NumChannels;
		out->res.pitch2D.width = desc->res.pitch2D.width;
		out->res.pitch2D.height = desc->res.pitch2D.height;
		out->res.pitch2D.pitchInBytes = desc->res.pitch2D.pitchInBytes;
		return true;
	default:
		return false;
	}
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
				    const struct cudaResourceDesc *desc,
				    const struct cudaTextureDesc *how,
				    const struct cudaResourceViewDesc *view)
{
	CUDA_RESOURCE_DESC what;
	CUDA_TEXTURE_DESC sampling = { 0 };

	if (!texture || !desc || !how || !resource(desc, &what))
		return rt_done(cudaErrorInvalidValue);
	for (int i = 0; i < 3; i++)
		sampling.addressMode[i] = (CUaddress_mode)how->addressMode[i];
	sampling.filterMode = (CUfilter_mode)how->filterMode;
	if (how->readMode == cudaReadModeElementType)
		sampling.flags |= CU_TRSF_READ_AS_INTEGER;
	if (how->normalizedCoords)
		sampling.flags |= CU_TRSF_NORMALIZED_COORDINATES;
	sampling.maxAnisotropy = how->maxAnisotropy;
	return RT_CALL(rt.cuTexObjectCreate((CUtexObject *)texture, &what, &sampling,
					    (const CUDA_RESOURCE_VIEW_DESC *)view));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
	return RT_CALL(rt.cuTexObjectDestroy(texture));
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface,
				    const struct cudaResourceDesc *desc)
{
	CUDA_RESOURCE_DESC what;

	if (!surface || !desc || !resource(desc, &what))
		return rt_done(cudaErrorInvalidValue);
	return RT_CALL(rt.cuSurfObjectCreate((CUsurfObject *)surface, &what));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
	return RT_CALL(rt.cuSurfObjectDestroy(surface));
}

static CUresult entry_point(const char *symbol, void **entry, unsigned int version,
			    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	return rt.get_proc_address(symbol, entry, (int)version, flags,
				   (CUdriverProcAddressQueryResult *)status);
}

/* The flags where the application gave none depend on how it was compiled. */
static unsigned long long entry_flags(const struct rt_streams *drv, unsigned long long flags)
{
	if (flags == cudaEnableDefault && drv == &rt.per_thread)
		return cudaEnablePerThreadDefaultStream;
	return flags;
}

RT_TWINS(cudaGetDriverEntryPoint, _ptsz,
	 (const char *symbol, void **entry, unsigned long long flags,
	  enum cudaDriverEntryPointQueryResult *status),
	 (symbol, entry, flags, status))
{
	return RT_CALL_BARE(
		entry_point(symbol, entry, CUDART_VERSION, entry_flags(drv, flags), status));
}

RT_TWINS(cudaGetDriverEntryPointByVersion, _ptsz,
	 (const char *symbol, void **entry, unsigned int version, unsigned long long flags,
	  enum cudaDriverEntryPointQueryResult *status),
	 (symbol, entry, version, flags, status))
{
	return RT_CALL_BARE(entry_point(symbol, entry, version, entry_flags(drv, flags), status));
}

/* The vendor's tables are private and stay so. */
cudaError_t cudaGetExportTable(const void **table, const cudaUUID_t *id)
{
	(void)table;
	(void)id;
	return rt_done(cudaErrorNotSupported);
}

/* Without an entry for it there is no profiler to switch, which is no error. */
static CUresult switch_profiler(CUresult (*entry)(void))
{
	CUresult rc = entry();

	return rc == CUDA_ERROR_NOT_SUPPORTED ? CUDA_SUCCESS : rc;
}

cudaError_t cudaProfilerStart(void)
{
	return RT_CALL(switch_profiler(rt.cuProfilerStart));
}

cudaError_t cudaProfilerStop(void)
{
	return RT_CALL(switch_profiler(rt.cuProfilerStop));
}
