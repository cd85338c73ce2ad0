/*
 * cuInit, and what gmtrace asks the driver itself: devices and samples. All calls go to the real
 * entries, on the application's threads, with no lock held.
 */
#define __CUDA_API_VERSION_INTERNAL
#include "preload/context.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cuda.h>

#include "preload/clock.h"
#include "preload/guard.h"
#include "preload/init.h"
#include "preload/record.h"
#include "preload/wrap.h"

#define REAL(symbol) ((__typeof__(&symbol))gmt_real(GMT_API_##symbol))
#define MAX_POOLS    64

/* With one device, which is most machines, nobody need be asked which it is. */
static atomic_int device_count;

/* This thread's last context and its device: contexts change seldom, allocations are many. */
static GMT_TLS CUcontext last_context;
static GMT_TLS int last_device;

int32_t gmt_context_device(void)
{
	CUcontext context = NULL;
	CUdevice device = GMT_NO_DEVICE;

	if (atomic_load_explicit(&device_count, memory_order_relaxed) == 1)
		return 0;
	if (!REAL(cuCtxGetCurrent) || REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS || !context)
		return GMT_NO_DEVICE;
	if (context == last_context)
		return last_device;
	/* The unsuffixed entry is the one without a context argument in every version. */
	if (!REAL(cuCtxGetDevice) || REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS)
		return GMT_NO_DEVICE;
	last_context = context;
	last_device = device;
	return device;
}

int32_t gmt_context_device_of(uint64_t addr)
{
	int ordinal = GMT_NO_DEVICE;

	if (atomic_load_explicit(&device_count, memory_order_relaxed) == 1)
		return 0;
	/* The pool may belong to another device than the stream or the current context. */
	if (REAL(cuPointerGetAttribute) &&
	    REAL(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, addr) ==
		    CUDA_SUCCESS)
		return ordinal;
	return gmt_context_device();
}

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
	atomic_store(&device_count, count);
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
	if (handle ||
	    !REAL(cuDeviceGetMemPool) || REAL(cuDeviceGetMemPool)(&pool, device) != CUDA_SUCCESS)
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
	int count = atomic_load(&device_count);

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

GMT_IMPL CUresult impl_cuInit(struct gmt_call call, unsigned int flags)
{
	__typeof__(&cuInit) real = gmt_real(GMT_API_cuInit);
	CUresult rc;

	(void)call;
	if (!real)
		return GMT_NO_DRIVER;
	rc = real(flags);
	if (rc == CUDA_SUCCESS && gmt_init_traced()) {
		gmt_record_used_cuda();
		gmt_init_activate();
	}
	return rc;
}

GMT_DEFINE_HOOKS(cuInit, (unsigned int flags), (flags))
