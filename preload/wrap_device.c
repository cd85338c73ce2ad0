/*
 * What gmtrace asks the driver itself: devices, and figures of the last moment at which it is
 * alive. All calls go to the real entries, on the application's threads, with no lock held.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cuda.h>

#include "preload/clock.h"
#include "preload/context.h"
#include "preload/record.h"
#include "preload/wrap.h"

#define MAX_POOLS 64

int gmt_context_driver_version(void)
{
	int version = 0;

	if (!REAL(cuDriverGetVersion) || REAL(cuDriverGetVersion)(&version) != CUDA_SUCCESS)
		return 0;
	return version;
}

static void note_device(int ordinal)
{
	struct gmt_device_facts facts = { .ordinal = ordinal };
	char name[256] = "";
	size_t total = 0;
	CUdevice device;
	CUuuid uuid;

	if (!REAL(cuDeviceGet) || REAL(cuDeviceGet)(&device, ordinal) != CUDA_SUCCESS)
		return;
	if (REAL(cuDeviceGetName))
		REAL(cuDeviceGetName)(name, sizeof(name), device);
	name[sizeof(name) - 1] = '\0';
	if (REAL(cuDeviceTotalMem_v2) && REAL(cuDeviceTotalMem_v2)(&total, device) == CUDA_SUCCESS)
		facts.total_bytes = total;
	if (REAL(cuDeviceGetUuid) && REAL(cuDeviceGetUuid)(&uuid, device) == CUDA_SUCCESS)
		memcpy(facts.uuid, uuid.bytes, sizeof(facts.uuid));
	facts.mig = strstr(name, " MIG ") != NULL;
	gmt_record_device(&facts, name[0] ? name : NULL);
}

void gmt_context_note_devices(void)
{
	int count = 0;

	if (!REAL(cuDeviceGetCount) || REAL(cuDeviceGetCount)(&count) != CUDA_SUCCESS)
		return;
	gmt_context_set_devices(count);
	for (int ordinal = 0; ordinal < count && ordinal < GMT_MAX_DEVICES; ordinal++)
		note_device(ordinal);
}

static uint64_t pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, bool *valid)
{
	cuuint64_t value = 0;

	if (!REAL(cuMemPoolGetAttribute) ||
	    REAL(cuMemPoolGetAttribute)(pool, attribute, &value) != CUDA_SUCCESS)
		*valid = false;
	return value;
}

static void sample_pool(CUdevice device, int ordinal, uint64_t handle)
{
	CUmemoryPool pool = (CUmemoryPool)(uintptr_t)handle;
	struct gmt_pool_sample sample = { .pool = handle, .device = ordinal };
	bool valid = true;

	/* 0 stands for the device's current pool. Others may have been destroyed: not asked. */
	if (handle || !REAL(cuDeviceGetMemPool) ||
	    REAL(cuDeviceGetMemPool)(&pool, device) != CUDA_SUCCESS)
		return;
	sample.handle = (uintptr_t)pool;
	sample.reserved_bytes = pool_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &valid);
	sample.reserved_peak = pool_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &valid);
	sample.used_bytes = pool_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &valid);
	sample.used_peak = pool_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &valid);
	sample.time_ns = gmt_now_ns();
	sample.valid = valid;
	if (valid)
		gmt_record_pool_sample(&sample);
}

/* cuMemGetInfo needs a context: an active primary one is borrowed, none is ever made. */
static void sample_device(CUdevice device, int ordinal)
{
	struct gmt_device_sample sample = { .ordinal = ordinal };
	size_t free_bytes = 0, total = 0;
	CUcontext context, popped;
	unsigned int flags;
	int active = 0;
	bool pushed;

	if (!REAL(cuDevicePrimaryCtxGetState) || !REAL(cuDevicePrimaryCtxRetain) ||
	    !REAL(cuDevicePrimaryCtxRelease_v2) || !REAL(cuCtxPushCurrent_v2) ||
	    !REAL(cuCtxPopCurrent_v2) || !REAL(cuMemGetInfo_v2))
		return;
	if (REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) != CUDA_SUCCESS || !active ||
	    REAL(cuDevicePrimaryCtxRetain)(&context, device) != CUDA_SUCCESS)
		return;
	pushed = REAL(cuCtxPushCurrent_v2)(context) == CUDA_SUCCESS;
	if (pushed && REAL(cuMemGetInfo_v2)(&free_bytes, &total) == CUDA_SUCCESS) {
		sample.time_ns = gmt_now_ns();
		sample.free_bytes = free_bytes;
		sample.total_bytes = total;
		sample.valid = 1;
		gmt_record_device_sample(&sample);
	}
	if (pushed)
		REAL(cuCtxPopCurrent_v2)(&popped);
	REAL(cuDevicePrimaryCtxRelease_v2)(device);
}

void gmt_context_sample(void)
{
	uint64_t pools[MAX_POOLS];
	int count = gmt_context_devices();

	for (int ordinal = 0; ordinal < count && ordinal < GMT_MAX_DEVICES; ordinal++) {
		uint32_t nr_pools = gmt_record_pools(ordinal, pools, MAX_POOLS);
		CUdevice device;

		if (REAL(cuDeviceGet)(&device, ordinal) != CUDA_SUCCESS)
			continue;
		sample_device(device, ordinal);
		for (uint32_t i = 0; i < nr_pools && i < MAX_POOLS; i++)
			sample_pool(device, ordinal, pools[i]);
	}
}
