/* Self-test of the simulated driver: handles and mappings, sharing, arrays. */
#define _GNU_SOURCE
#include "driver_selftest.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void handles_count_their_users(void)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
	CUmemAccessDesc access = { .location = prop.location,
				   .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle handle, again;
	CUdeviceptr addr;
	size_t granularity, before;

	start();
	before = used();
	OK(cuMemGetAllocationGranularity, &granularity, &prop, 0);
	CHECK(granularity == 2 * MIB);
	CHECK(CU(cuMemCreate, &handle, MIB, &prop, 0) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemCreate, &handle, 4 * MIB, &prop, 0);
	CHECK(used() - before == 4 * MIB);
	OK(cuMemAddressReserve, &addr, 8 * MIB, 0, 0, 0);
	OK(cuMemMap, addr, 4 * MIB, 0, handle, 0);
	OK(cuMemMap, addr + 4 * MIB, 4 * MIB, 0, handle, 0);
	CHECK(CU(cuMemsetD8_v2, addr, 1, 1) != CUDA_SUCCESS);
	OK(cuMemSetAccess, addr, 8 * MIB, &access, 1);
	OK(cuMemsetD8_v2, addr + 3, 9, 4 * MIB);
	CHECK(*(char *)(addr + 4 * MIB + 3) == 9); /* the same memory twice */
	OK(cuMemRetainAllocationHandle, &again, (void *)(addr + 5));
	CHECK(again == handle);
	OK(cuMemRelease, handle);
	OK(cuMemRelease, handle);
	CHECK(CU(cuMemRelease, handle) == CUDA_ERROR_INVALID_VALUE);
	CHECK(used() - before == 4 * MIB); /* mapped */
	CHECK(CU(cuMemAddressFree, addr, 8 * MIB) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap, addr, 8 * MIB);
	CHECK(used() == before);
	OK(cuMemAddressFree, addr, 8 * MIB);
}

void shared_memory_is_opened_once(void)
{
	CUipcMemHandle handle;
	CUdeviceptr addr, first, second;

	start();
	addr = take(1000);
	OK(cuMemsetD8_v2, addr, 3, 1000);
	OK(cuIpcGetMemHandle, &handle, addr);
	OK(cuIpcOpenMemHandle_v2, &first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	OK(cuIpcOpenMemHandle_v2, &second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	CHECK(first == second && first != addr);
	CHECK(*(char *)first == 3);
	CHECK(CU(cuMemFree_v2, first) == CUDA_ERROR_INVALID_VALUE);
	OK(cuIpcCloseMemHandle, first);
	OK(cuIpcCloseMemHandle, first);
	CHECK(CU(cuIpcCloseMemHandle, first) == CUDA_ERROR_INVALID_VALUE);
}

void arrays_take_memory(void)
{
	CUDA_ARRAY3D_DESCRIPTOR desc = {
		.Width = 512, .Height = 512, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4
	};
	CUmipmappedArray mipmap;
	CUarray array, level;
	size_t before;

	start();
	before = used();
	OK(cuArray3DCreate_v2, &array, &desc);
	CHECK(used() - before == 4 * MIB);
	OK(cuMemcpyHtoA_v2, array, 16, "hi", 2);
	OK(cuArrayDestroy, array);
	CHECK(CU(cuArrayDestroy, array) == CUDA_ERROR_INVALID_HANDLE);
	OK(cuMipmappedArrayCreate, &mipmap, &desc, 3);
	OK(cuMipmappedArrayGetLevel, &level, mipmap, 2);
	CHECK(CU(cuArrayDestroy, level) == CUDA_ERROR_INVALID_HANDLE);
	OK(cuMipmappedArrayDestroy, mipmap);
	CHECK(used() == before);
}

void external_buffers_end_with_a_free(void)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = { .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
						  .size = 8192 };
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = { .offset = 100, .size = 5000 };
	CUexternalMemory memory;
	CUdeviceptr addr;

	start();
	desc.handle.fd = memfd_create("external", 0);
	CHECK(ftruncate(desc.handle.fd, 8192) == 0);
	CHECK(pwrite(desc.handle.fd, "x", 1, 100) == 1);
	OK(cuImportExternalMemory, &memory, &desc);
	OK(cuExternalMemoryGetMappedBuffer, &addr, memory, &buffer);
	CHECK(*(char *)addr == 'x');
	OK(cuMemsetD8_v2, addr, 1, 5000);
	CHECK(CU(cuIpcCloseMemHandle, addr) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2, addr);
	CHECK(CU(cuMemFree_v2, addr) == CUDA_ERROR_INVALID_VALUE);
	OK(cuDestroyExternalMemory, memory);
}

void pools_can_be_shared(void)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
				 .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
	CUmemPoolPtrExportData data;
	CUmemoryPool pool, imported;
	CUdeviceptr addr, same;
	int fd;

	start();
	OK(cuMemPoolCreate, &pool, &props);
	OK(cuMemAllocFromPoolAsync, &addr, 100, pool, NULL);
	OK(cuMemsetD8_v2, addr, 6, 100);
	OK(cuMemPoolExportToShareableHandle, &fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	   0);
	OK(cuMemPoolImportFromShareableHandle, &imported, (void *)(intptr_t)fd,
	   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	OK(cuMemPoolExportPointer, &data, addr);
	OK(cuMemPoolImportPointer, &same, imported, &data);
	CHECK(same != addr && *(char *)same == 6);
	OK(cuMemFreeAsync, same, NULL);
	OK(cuMemPoolDestroy, imported);
	OK(cuMemFreeAsync, addr, NULL);
	OK(cuMemPoolDestroy, pool);
}
