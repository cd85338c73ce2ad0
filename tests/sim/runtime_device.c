/* Devices, limits, peers and versions of the simulated runtime. */
#include "tests/sim/runtime.h"

#include <string.h>

cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t err = RT_CALL_BARE(rt.cuDeviceGetCount(count));

	if (err == cudaSuccess && *count == 0)
		return rt_done(cudaErrorNoDevice);
	return err;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	return RT_CALL_BARE(rt.cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

/* Fields of cudaDeviceProp that are one attribute each; the rest stays zero. */
static const struct {
	CUdevice_attribute attribute;
	size_t offset;
	size_t size;
} properties[] = {
#define RT_PROPERTY(field, name)                                                                   \
	{ CU_DEVICE_ATTRIBUTE_##name, offsetof(struct cudaDeviceProp, field),                      \
	  sizeof(((struct cudaDeviceProp *)NULL)->field) },
#include "tests/sim/runtime_properties.def"
#undef RT_PROPERTY
};

static CUresult fill_properties(struct cudaDeviceProp *out, CUdevice device)
{
	CUresult rc;

	memset(out, 0, sizeof(*out));
	rc = rt.cuDeviceGetName(out->name, sizeof(out->name), device);
	if (rc != CUDA_SUCCESS)
		return rc;
	rc = rt.cuDeviceTotalMem(&out->totalGlobalMem, device);
	if (rc != CUDA_SUCCESS)
		return rc;
	rt.cuDeviceGetUuid((CUuuid *)&out->uuid, device);

	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
		char *field = (char *)out + properties[i].offset;
		int value = 0;

		if (rt.cuDeviceGetAttribute(&value, properties[i].attribute, device) !=
		    CUDA_SUCCESS)
			continue;
		if (properties[i].size == sizeof(size_t))
			memcpy(field, &(size_t){ (size_t)value }, sizeof(size_t));
		else
			memcpy(field, &value, sizeof(value));
	}
	return CUDA_SUCCESS;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
	return RT_CALL_BARE(fill_properties(out, device));
}

static CUresult reset_current(void)
{
	CUdevice device;

	rt_device(&device);
	return rt_reset_device(device);
}

cudaError_t cudaDeviceReset(void)
{
	return RT_CALL_BARE(reset_current());
}

cudaError_t cudaDeviceSynchronize(void)
{
	return RT_CALL(rt.cuCtxSynchronize());
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	return RT_CALL(rt.cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	return RT_CALL(rt.cuCtxGetLimit(value, (CUlimit)limit));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	return RT_CALL(rt.cuCtxGetCacheConfig((CUfunc_cache *)config));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	return RT_CALL(rt.cuCtxSetCacheConfig((CUfunc_cache)config));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	return RT_CALL(rt.cuCtxGetStreamPriorityRange(least, greatest));
}

static CUresult set_flags_current(unsigned int flags)
{
	CUdevice device;

	rt_device(&device);
	return rt.cuDevicePrimaryCtxSetFlags(device, flags);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	return RT_CALL_BARE(set_flags_current(flags));
}

static CUresult get_flags_current(unsigned int *flags)
{
	CUdevice device;
	int active;

	rt_device(&device);
	return rt.cuDevicePrimaryCtxGetState(device, flags, &active);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
	return RT_CALL_BARE(get_flags_current(flags));
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
	return RT_CALL_BARE(rt.cuDeviceGetPCIBusId(text, length, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	return RT_CALL_BARE(rt.cuDeviceGetByPCIBusId(device, text));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
				      int to)
{
	return RT_CALL_BARE(
		rt.cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, from, to));
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	return RT_CALL_BARE(rt.cuDeviceCanAccessPeer(can, device, peer));
}

/* The driver wants the peer's context, so it has to exist; the caller's binding is put back. */
static CUresult with_peer(int peer, CUresult (*enable)(CUcontext, unsigned int),
			  CUresult (*disable)(CUcontext))
{
	CUcontext here = NULL;
	CUcontext there = NULL;
	CUdevice device;
	cudaError_t err;

	rt.cuCtxGetCurrent(&here);
	rt_device(&device);
	err = rt_bind_device(peer);
	if (err == cudaSuccess)
		err = (cudaError_t)rt.cuCtxGetCurrent(&there);
	if (rt_bind_device(device) == cudaSuccess)
		rt.cuCtxSetCurrent(here);
	if (err != cudaSuccess)
		return (CUresult)err;
	return enable ? enable(there, 0) : disable(there);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
	if (flags != 0)
		return rt_done(cudaErrorInvalidValue);
	return RT_CALL(with_peer(peer, rt.cuCtxEnablePeerAccess, NULL));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	return RT_CALL(with_peer(peer, NULL, rt.cuCtxDisablePeerAccess));
}

cudaError_t cudaDriverGetVersion(int *version)
{
	cudaError_t err = rt_load();

	/* Documented: without a driver this call succeeds with 0. */
	if (err == cudaErrorInsufficientDriver) {
		*version = 0;
		return cudaSuccess;
	}
	return rt_done(err != cudaSuccess ? err : (cudaError_t)rt.cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return rt_done(cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return cudaSuccess;
}
