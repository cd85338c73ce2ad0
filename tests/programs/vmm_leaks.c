/* case: a handle never released, one released but still mapped, one retained once too often */
/* links: cuda */
#include <string.h>

#include <cuda.h>

#include "program.h"

static CUdeviceptr space;

static CUmemGenericAllocationHandle create(size_t bytes)
{
	CUmemGenericAllocationHandle handle;
	CUmemAllocationProp prop;

	memset(&prop, 0, sizeof(prop));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = 0;
	MUST(cuMemCreate(&handle, bytes, &prop, 0));
	return handle;
}

static void never_released(void)
{
	create(4 * MIB);
}

static void still_mapped(void)
{
	CUmemGenericAllocationHandle handle = create(6 * MIB);

	MUST(cuMemMap(space, 6 * MIB, 0, handle, 0));
	MUST(cuMemRelease(handle));
}

static void retained_too_often(void)
{
	CUmemGenericAllocationHandle handle = create(2 * MIB), again;
	CUdeviceptr addr = space + 8 * MIB;

	MUST(cuMemMap(addr, 2 * MIB, 0, handle, 0));
	MUST(cuMemRetainAllocationHandle(&again, (void *)(addr + 100)));
	EXPECT(again == handle);
	MUST(cuMemUnmap(addr, 2 * MIB));
	MUST(cuMemRelease(handle));
}

static void clean(void)
{
	CUmemGenericAllocationHandle first = create(2 * MIB), second = create(4 * MIB);
	CUdeviceptr addr;

	MUST(cuMemAddressReserve(&addr, 8 * MIB, 0, 0, 0));
	MUST(cuMemMap(addr, 2 * MIB, 0, first, 0));
	MUST(cuMemMap(addr + 2 * MIB, 4 * MIB, 0, second, 0));
	MUST(cuMemRelease(first));
	EXPECT(cuMemAddressFree(addr, 8 * MIB) != CUDA_SUCCESS);
	MUST(cuMemUnmap(addr, 6 * MIB));
	MUST(cuMemRelease(second));
	MUST(cuMemAddressFree(addr, 8 * MIB));
}

int main(void)
{
	CUcontext context;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuMemAddressReserve(&space, 64 * MIB, 0, 0, 0));
	clean();
	never_released();
	still_mapped();
	retained_too_often();
	return 0;
}
