/*
 * Pools shared between processes. An exported pool is a file with its device; an importer has a
 * pool handle of its own, and pointers of the exporter that it must free as well.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver_import.h"

#define MAGIC 0x676d7473696d706fu /* "gmtsimpo" */

struct pool_name {
	uint64_t magic;
	int32_t device;
};

struct imported_pool {
	struct sim_object object;
	struct sim_device *device;
};

_Static_assert(sizeof(struct sim_piece) <= sizeof(CUmemPoolPtrExportData), "must fit");

SIM_API(cuMemPoolExportToShareableHandle,
	(void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,
	 unsigned long long flags),
	(handle_out, pool, handleType, flags))
{
	SIM_FIND(found, sim_pool, pool, SIM_POOL);
	struct pool_name name = { .magic = MAGIC };
	int fd;

	if (!handle_out || !found || flags ||
	    handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !(found->props.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		return CUDA_ERROR_INVALID_VALUE;
	name.device = found->device->ordinal;
	fd = memfd_create("gmtsim-pool", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, &name, sizeof(name), 0) != sizeof(name))
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)handle_out = fd;
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolImportFromShareableHandle,
	(CUmemoryPool * pool_out, void *handle, CUmemAllocationHandleType handleType,
	 unsigned long long flags),
	(pool_out, handle, handleType, flags))
{
	struct imported_pool *pool;
	struct pool_name name;

	if (!pool_out || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags ||
	    pread((int)(intptr_t)handle, &name, sizeof(name), 0) != sizeof(name) ||
	    name.magic != MAGIC || !sim_device(name.device))
		return CUDA_ERROR_INVALID_VALUE;
	pool = sim_object_new(sizeof(*pool), SIM_IMPORTED_POOL, NULL);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->device = sim_device(name.device);
	*pool_out = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolExportPointer, (CUmemPoolPtrExportData * shareData_out, CUdeviceptr ptr),
	(shareData_out, ptr))
{
	struct sim_range *range = sim_range_at(ptr, SIM_KIND_POOL);
	struct sim_piece piece;

	if (!shareData_out || !range || !sim_piece_of(range, &piece))
		return CUDA_ERROR_INVALID_VALUE;
	memset(shareData_out, 0, sizeof(*shareData_out));
	memcpy(shareData_out, &piece, sizeof(piece));
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolImportPointer,
	(CUdeviceptr * ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData),
	(ptr_out, pool, shareData))
{
	struct sim_piece piece;

	if (!ptr_out || !shareData || !sim_object_find(pool, SIM_IMPORTED_POOL))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&piece, shareData, sizeof(piece));
	if (!sim_piece_is_valid(&piece))
		return CUDA_ERROR_INVALID_VALUE;
	return sim_import_add(SIM_IMPORT_POOL, &piece, NULL, ptr_out);
}
