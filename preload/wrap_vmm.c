/*
 * Virtual memory management: handles of physical memory, reserved addresses, mappings. Runs in the
 * application's threads; a failure of ours never reaches the application.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <stdint.h>

#include <cuda.h>

#include "preload/init.h"
#include "preload/record_vmm.h"
#include "preload/wrap.h"

/* Where the properties say, never the current context's: a thread needs none. */
static int32_t device_of(const CUmemAllocationProp *prop)
{
	if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE || prop->location.id < 0 ||
	    prop->location.id >= GMT_MAX_DEVICES)
		return GMT_NO_DEVICE;
	return prop->location.id;
}

GMT_IMPL CUresult impl_cuMemCreate(struct gmt_call call, CUmemGenericAllocationHandle *handle,
				   size_t bytes, const CUmemAllocationProp *prop,
				   unsigned long long flags)
{
	CUresult rc;

	if (!REAL(cuMemCreate))
		return GMT_NO_DRIVER;
	rc = REAL(cuMemCreate)(handle, bytes, prop, flags);
	if (!gmt_init_traced())
		return rc;
	if (rc == CUDA_SUCCESS)
		gmt_record_created(call, *handle, bytes, device_of(prop));
	else
		gmt_record_failed();
	return rc;
}
GMT_DEFINE_HOOKS(cuMemCreate,
		 (CUmemGenericAllocationHandle * handle, size_t bytes,
		  const CUmemAllocationProp *prop, unsigned long long flags),
		 (handle, bytes, prop, flags))

/* Claimed before the call: once it returns, another thread may be given the same handle. */
GMT_IMPL CUresult impl_cuMemRelease(struct gmt_call call, CUmemGenericAllocationHandle handle)
{
	struct gmt_vmm_claim claim;
	CUresult rc;

	if (!REAL(cuMemRelease))
		return GMT_NO_DRIVER;
	if (!gmt_init_traced())
		return REAL(cuMemRelease)(handle);
	gmt_record_release(call, handle, &claim);
	rc = REAL(cuMemRelease)(handle);
	gmt_record_vmm_ended(call, &claim, gmt_outcome_of(rc));
	return rc;
}
GMT_DEFINE_HOOKS(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))

GMT_IMPL CUresult impl_cuMemRetainAllocationHandle(struct gmt_call call,
						   CUmemGenericAllocationHandle *handle, void *addr)
{
	CUresult rc;

	if (!REAL(cuMemRetainAllocationHandle))
		return GMT_NO_DRIVER;
	rc = REAL(cuMemRetainAllocationHandle)(handle, addr);
	if (rc == CUDA_SUCCESS && gmt_init_traced())
		gmt_record_retained(call, *handle);
	return rc;
}
GMT_DEFINE_HOOKS(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *addr),
		 (handle, addr))

GMT_IMPL CUresult impl_cuMemImportFromShareableHandle(struct gmt_call call,
						      CUmemGenericAllocationHandle *handle,
						      void *shared, CUmemAllocationHandleType type)
{
	CUresult rc;

	if (!REAL(cuMemImportFromShareableHandle))
		return GMT_NO_DRIVER;
	rc = REAL(cuMemImportFromShareableHandle)(handle, shared, type);
	if (rc == CUDA_SUCCESS && gmt_init_traced())
		gmt_record_retained(call, *handle);
	return rc;
}
GMT_DEFINE_HOOKS(cuMemImportFromShareableHandle,
		 (CUmemGenericAllocationHandle * handle, void *shared,
		  CUmemAllocationHandleType type),
		 (handle, shared, type))

GMT_IMPL CUresult impl_cuMemMap(struct gmt_call call, CUdeviceptr addr, size_t bytes, size_t offset,
				CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	CUresult rc;

	if (!REAL(cuMemMap))
		return GMT_NO_DRIVER;
	rc = REAL(cuMemMap)(addr, bytes, offset, handle, flags);
	if (rc == CUDA_SUCCESS && gmt_init_traced())
		gmt_record_mapped(call, addr, bytes, offset, handle);
	return rc;
}
GMT_DEFINE_HOOKS(cuMemMap,
		 (CUdeviceptr addr, size_t bytes, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags),
		 (addr, bytes, offset, handle, flags))

GMT_IMPL CUresult impl_cuMemUnmap(struct gmt_call call, CUdeviceptr addr, size_t bytes)
{
	struct gmt_vmm_claim claim;
	CUresult rc;

	if (!REAL(cuMemUnmap))
		return GMT_NO_DRIVER;
	if (!gmt_init_traced())
		return REAL(cuMemUnmap)(addr, bytes);
	gmt_record_unmap(call, addr, bytes, &claim);
	rc = REAL(cuMemUnmap)(addr, bytes);
	gmt_record_vmm_ended(call, &claim, gmt_outcome_of(rc));
	return rc;
}
GMT_DEFINE_HOOKS(cuMemUnmap, (CUdeviceptr addr, size_t bytes), (addr, bytes))

GMT_IMPL CUresult impl_cuMemAddressReserve(struct gmt_call call, CUdeviceptr *addr, size_t bytes,
					   size_t alignment, CUdeviceptr wish,
					   unsigned long long flags)
{
	CUresult rc;

	if (!REAL(cuMemAddressReserve))
		return GMT_NO_DRIVER;
	rc = REAL(cuMemAddressReserve)(addr, bytes, alignment, wish, flags);
	if (rc == CUDA_SUCCESS && gmt_init_traced())
		gmt_record_reserved(call, *addr, bytes);
	return rc;
}
GMT_DEFINE_HOOKS(cuMemAddressReserve,
		 (CUdeviceptr * addr, size_t bytes, size_t alignment, CUdeviceptr wish,
		  unsigned long long flags),
		 (addr, bytes, alignment, wish, flags))

GMT_IMPL CUresult impl_cuMemAddressFree(struct gmt_call call, CUdeviceptr addr, size_t bytes)
{
	struct gmt_vmm_claim claim;
	CUresult rc;

	if (!REAL(cuMemAddressFree))
		return GMT_NO_DRIVER;
	if (!gmt_init_traced())
		return REAL(cuMemAddressFree)(addr, bytes);
	gmt_record_unreserve(call, addr, bytes, &claim);
	rc = REAL(cuMemAddressFree)(addr, bytes);
	gmt_record_vmm_ended(call, &claim, gmt_outcome_of(rc));
	return rc;
}
GMT_DEFINE_HOOKS(cuMemAddressFree, (CUdeviceptr addr, size_t bytes), (addr, bytes))
