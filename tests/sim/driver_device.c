/*
 * The simulated devices: how many, how large, what they say of themselves, and who took what of
 * their memory.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

static struct sim_device devices[SIM_MAX_DEVICE];

bool sim_devices_open(void)
{
	for (unsigned int i = 0; i < sim_config()->devices; i++) {
		struct sim_device *device = &devices[i];

		device->ordinal = (int)i;
		device->total = sim_config()->memory;
		device->physical_fd = -1;
		/* Four times the memory: holes between blocks must never cause a failure. */
		if (!device->space.base &&
		    !sim_space_open(&device->space,
				    sim_round(device->total, SIM_PAGE) * 4 + 64 * SIM_PAGE, false))
			return false;
		device->small = (struct sim_heap){ .device = device, .space = &device->space };
		device->low_small =
			(struct sim_heap){ .device = device, .space = &device->low_space };
		if (!sim_pools_open(device))
			return false;
	}
	return true;
}

struct sim_device *sim_device(CUdevice ordinal)
{
	if (ordinal < 0 || (unsigned int)ordinal >= sim_config()->devices)
		return NULL;
	return &devices[ordinal];
}

bool sim_charge(struct sim_device *device, uint64_t bytes)
{
	if (bytes > device->total - device->used)
		return false;
	device->used += bytes;
	return true;
}

void sim_uncharge(struct sim_device *device, uint64_t bytes)
{
	device->used -= bytes;
}

bool sim_oom_injected(uint64_t bytes)
{
	return sim_config()->oom_at && bytes >= sim_config()->oom_at;
}

SIM_API(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
{
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetCount, (int *count), (count))
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (int)sim_config()->devices;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetName, (char *name, int len, CUdevice dev), (name, len, dev))
{
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "Simulated GPU %d", dev);
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice dev), (uuid, dev))
{
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid->bytes, "gmtrace-sim-dev", sizeof(uuid->bytes));
	uuid->bytes[15] = (char)('0' + dev);
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice dev), (uuid, dev));

SIM_API(cuDeviceGetLuid, (char *luid, unsigned int *deviceNodeMask, CUdevice dev),
	(luid, deviceNodeMask, dev))
{
	/* Windows only. */
	(void)luid;
	(void)deviceNodeMask;
	return sim_device(dev) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
}

SIM_API(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice dev), (bytes, dev))
{
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sim_device(dev)->total;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceTotalMem, (unsigned int *bytes, CUdevice dev), (bytes, dev))
{
	size_t total = 0;
	CUresult rc = do_cuDeviceTotalMem_v2(bytes ? &total : NULL, dev);

	if (rc == CUDA_SUCCESS)
		*bytes = total > UINT32_MAX ? UINT32_MAX : (unsigned int)total;
	return rc;
}

static const struct {
	CUdevice_attribute attribute;
	int value;
} attributes[] = {
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
	{ CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536 },
	{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
	{ CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647 },
	{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
	{ CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000 },
	{ CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512 },
	{ CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32 },
	{ CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512 },
	{ CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1 },
	{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, SIM_MULTIPROCESSORS },
	{ CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1 },
	{ CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000 },
	{ CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144 },
	{ CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560 },
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, SIM_SM_THREADS },
	{ CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
	{ CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
	{ CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
	{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
	{ CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1 },
	{ CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1 },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
	{ CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
	{ CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
	{ CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 1 },
	{ CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1 },
	{ CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1 },
	{ CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072 },
	{ CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072 },
	{ CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536 },
	{ CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384 },
	{ CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384 },
	{ CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384 },
};

SIM_API(cuDeviceGetAttribute, (int *pi, CUdevice_attribute attrib, CUdevice dev), (pi, attrib, dev))
{
	if (!pi || attrib < 1 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pi = 0;
	if (attrib == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*pi = dev + 1;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].attribute == attrib)
			*pi = attributes[i].value;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceComputeCapability, (int *major, int *minor, CUdevice dev), (major, minor, dev))
{
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = 9;
	*minor = 0;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetProperties, (CUdevprop * prop, CUdevice dev), (prop, dev))
{
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*prop = (CUdevprop){ .maxThreadsPerBlock = 1024,
			     .maxThreadsDim = { 1024, 1024, 64 },
			     .maxGridSize = { 2147483647, 65535, 65535 },
			     .sharedMemPerBlock = 49152,
			     .totalConstantMemory = 65536,
			     .SIMDWidth = 32,
			     .memPitch = 2147483647,
			     .regsPerBlock = 65536,
			     .clockRate = 1980000,
			     .textureAlign = 512 };
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetPCIBusId, (char *pciBusId, int len, CUdevice dev), (pciBusId, len, dev))
{
	if (!pciBusId || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", dev + 1);
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetByPCIBusId, (CUdevice * dev, const char *pciBusId), (dev, pciBusId))
{
	unsigned int domain, bus, slot;

	if (!dev || !pciBusId)
		return CUDA_ERROR_INVALID_VALUE;
	if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3 || !bus ||
	    !sim_device((CUdevice)bus - 1))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = (CUdevice)bus - 1;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetTexture1DLinearMaxWidth,
	(size_t * maxWidthInElements, CUarray_format format, unsigned numChannels, CUdevice dev),
	(maxWidthInElements, format, numChannels, dev))
{
	if (!maxWidthInElements || !sim_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	*maxWidthInElements = 268435456;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetExecAffinitySupport, (int *pi, CUexecAffinityType type, CUdevice dev),
	(pi, type, dev))
{
	if (!pi || !sim_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	*pi = 0;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceCanAccessPeer, (int *canAccessPeer, CUdevice dev, CUdevice peerDev),
	(canAccessPeer, dev, peerDev))
{
	if (!canAccessPeer)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(dev) || !sim_device(peerDev))
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetP2PAttribute,
	(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice),
	(value, attrib, srcDevice, dstDevice))
{
	if (!value || srcDevice == dstDevice)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device(srcDevice) || !sim_device(dstDevice))
		return CUDA_ERROR_INVALID_DEVICE;
	*value = attrib != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
	return CUDA_SUCCESS;
}
