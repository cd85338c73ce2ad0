/*
 * Linear and managed memory, and cuMemFree for every kind that it may free.
 *
 * Blocks up to 1 MiB share 2 MiB pages; larger ones take whole pages of their own, as measured on
 * the real driver. Managed memory takes no device memory here, as its pages come on first use.
 */
#include <sys/mman.h>

#include "driver.h"

void *sim_linear_take(struct sim_device *device, size_t bytes, bool low)
{
	struct sim_space *space = low ? &device->low_space : &device->space;
	size_t whole = sim_round(bytes, SIM_PAGE);
	void *addr;

	if (low && !space->base && !sim_space_open(space, 0, true))
		return NULL;
	if (bytes <= SIM_SMALL_MAX)
		return sim_heap_take(low ? &device->low_small : &device->small, bytes);
	if (whole < bytes || !sim_charge(device, whole))
		return NULL;
	addr = sim_space_take(space, whole / SIM_PAGE);
	if (!addr)
		sim_uncharge(device, whole);
	return addr;
}

void sim_linear_give(struct sim_device *device, void *addr, size_t bytes)
{
	bool low = sim_space_holds(&device->low_space, addr);
	size_t whole = sim_round(bytes, SIM_PAGE);

	if (bytes <= SIM_SMALL_MAX) {
		sim_heap_give(low ? &device->low_small : &device->small, addr, bytes);
		return;
	}
	sim_space_give(low ? &device->low_space : &device->space, addr, whole / SIM_PAGE);
	sim_uncharge(device, whole);
}

static CUresult allocate(struct sim_context *ctx, CUdeviceptr *dptr, size_t bytes, bool low)
{
	struct sim_range range = {
		.bytes = bytes, .kind = SIM_KIND_DEVICE, .device = ctx->device, .context = ctx
	};
	CUresult rc = sim_capture_forbids();
	void *addr;

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_oom_injected(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	addr = sim_linear_take(ctx->device, bytes, low);
	if (!addr)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range.base = (uintptr_t)addr;
	if (!sim_range_add(&range)) {
		sim_linear_give(ctx->device, addr, bytes);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_stat_alloc(ctx->device, SIM_KIND_DEVICE, bytes);
	*dptr = range.base;
	return CUDA_SUCCESS;
}

/* A failed allocation leaves 0 behind, as measured. */
static CUresult allocate_or_clear(CUdeviceptr *dptr, size_t bytes, bool low)
{
	struct sim_context *ctx;
	CUresult rc;

	if (!dptr)
		return CUDA_ERROR_INVALID_VALUE;
	*dptr = 0;
	rc = sim_current(&ctx);
	return rc == CUDA_SUCCESS ? allocate(ctx, dptr, bytes, low) : rc;
}

SIM_API(cuMemAlloc_v2, (CUdeviceptr * dptr, size_t bytesize), (dptr, bytesize))
{
	return allocate_or_clear(dptr, bytesize, false);
}

SIM_API(cuMemAlloc, (CUdeviceptr_v1 * dptr, unsigned int bytesize), (dptr, bytesize))
{
	CUdeviceptr addr = 0;
	CUresult rc = allocate_or_clear(dptr ? &addr : NULL, bytesize, true);

	if (dptr)
		*dptr = (CUdeviceptr_v1)addr;
	return rc;
}

static bool element_size_is_valid(unsigned int bytes)
{
	return bytes == 4 || bytes == 8 || bytes == 16;
}

SIM_API(cuMemAllocPitch_v2,
	(CUdeviceptr * dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
	 unsigned int ElementSizeBytes),
	(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes))
{
	size_t pitch = sim_round(WidthInBytes, SIM_PITCH), bytes;
	CUresult rc;

	if (!pPitch || !element_size_is_valid(ElementSizeBytes) ||
	    __builtin_mul_overflow(pitch, Height, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	rc = allocate_or_clear(dptr, bytes, false);
	if (rc == CUDA_SUCCESS)
		*pPitch = pitch;
	return rc;
}

SIM_API(cuMemAllocPitch,
	(CUdeviceptr_v1 * dptr, unsigned int *pPitch, unsigned int WidthInBytes,
	 unsigned int Height, unsigned int ElementSizeBytes),
	(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes))
{
	size_t pitch = sim_round(WidthInBytes, SIM_PITCH);
	CUdeviceptr addr = 0;
	CUresult rc;

	if (!pPitch || !element_size_is_valid(ElementSizeBytes))
		return CUDA_ERROR_INVALID_VALUE;
	rc = allocate_or_clear(dptr ? &addr : NULL, pitch * Height, true);
	if (rc == CUDA_SUCCESS) {
		*dptr = (CUdeviceptr_v1)addr;
		*pPitch = (unsigned int)pitch;
	}
	return rc;
}

SIM_API(cuMemAllocManaged, (CUdeviceptr * dptr, size_t bytesize, unsigned int flags),
	(dptr, bytesize, flags))
{
	struct sim_range range = { .bytes = bytesize, .kind = SIM_KIND_MANAGED, .flags = flags };
	struct sim_context *ctx;
	CUresult rc;
	void *addr;

	if (!dptr)
		return CUDA_ERROR_INVALID_VALUE;
	*dptr = 0;
	rc = sim_current(&ctx);
	if (rc == CUDA_SUCCESS)
		rc = sim_capture_forbids();
	if (rc != CUDA_SUCCESS)
		return rc;
	range.device = ctx->device;
	range.context = ctx;
	if (!bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_oom_injected(bytesize))
		return CUDA_ERROR_OUT_OF_MEMORY;
	addr = mmap(NULL, bytesize, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (addr == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range.base = (uintptr_t)addr;
	if (!sim_range_add(&range)) {
		munmap(addr, bytesize);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_stat_alloc(ctx->device, SIM_KIND_MANAGED, bytesize);
	*dptr = range.base;
	return CUDA_SUCCESS;
}

/* Hands the memory back; the statistics and the tree are the caller's. */
static void give_back(struct sim_range *range)
{
	switch (range->kind) {
	case SIM_KIND_DEVICE:
		sim_linear_give(range->device, (void *)range->base, range->bytes);
		break;
	case SIM_KIND_MANAGED:
	case SIM_KIND_PINNED:
		munmap((void *)range->base, range->bytes);
		break;
	case SIM_KIND_IMPORTED:
		sim_import_unmap(range->import);
		break;
	default: /* registered: the program's own; the rest has a context of its own */
		break;
	}
}

void sim_range_reclaim(struct sim_range *range)
{
	give_back(range);
	sim_stat_reclaim(range->device, range->kind, range->bytes);
	sim_range_remove(range);
}

static CUresult release(CUdeviceptr dptr)
{
	struct sim_range *range = sim_range_find(dptr);
	struct sim_context *ctx;
	CUresult rc = sim_current(&ctx);

	/* A free needs no current context, but a destroyed one is refused. */
	if (rc == CUDA_ERROR_INVALID_CONTEXT)
		rc = CUDA_SUCCESS;
	if (rc == CUDA_SUCCESS)
		rc = sim_capture_forbids();
	if (rc != CUDA_SUCCESS || !dptr)
		return rc;
	if (!range || range->base != dptr)
		return CUDA_ERROR_INVALID_VALUE;
	switch (range->kind) {
	case SIM_KIND_DEVICE:
	case SIM_KIND_MANAGED:
		give_back(range);
		sim_stat_free(range->device, range->kind, range->bytes);
		sim_range_remove(range);
		return CUDA_SUCCESS;
	case SIM_KIND_POOL: {
		struct sim_device *device = range->device;

		/* Not stream-ordered: it waits, and what is idle then goes back. */
		sim_pool_free(range);
		sim_pools_settle(device);
		return CUDA_SUCCESS;
	}
	case SIM_KIND_GRAPH:
		sim_graph_block_free(range);
		return CUDA_SUCCESS;
	case SIM_KIND_IMPORTED:
		return sim_import_free(range, false);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

SIM_API(cuMemFree_v2, (CUdeviceptr dptr), (dptr))
{
	return release(dptr);
}

SIM_API(cuMemFree, (CUdeviceptr_v1 dptr), (dptr))
{
	return release(dptr);
}

SIM_API(cuMemGetInfo_v2, (size_t * free, size_t *total), (free, total))
{
	SIM_CURRENT(ctx);

	if (free)
		*free = ctx->device->total - ctx->device->used;
	if (total)
		*total = ctx->device->total;
	return CUDA_SUCCESS;
}

static unsigned int clipped(size_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (unsigned int)bytes;
}

SIM_API(cuMemGetInfo, (unsigned int *free, unsigned int *total), (free, total))
{
	size_t bytes_free, bytes_total;
	CUresult rc = do_cuMemGetInfo_v2(&bytes_free, &bytes_total);

	if (rc == CUDA_SUCCESS && free)
		*free = clipped(bytes_free);
	if (rc == CUDA_SUCCESS && total)
		*total = clipped(bytes_total);
	return rc;
}
